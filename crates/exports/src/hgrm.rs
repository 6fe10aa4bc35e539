//! Percentile files (`.hgrm`), to the byte as HdrHistogram's own library writes them.

use std::fmt::Write;

use hdrhistogram::Histogram;
use stats::Distribution;

/// Steps of each half of the way to 100 %, as HdrHistogram's tools take by default.
const TICKS_PER_HALF: u64 = 5;
/// Times are in nanoseconds, and percentile files in milliseconds.
const NS_PER_MS: f64 = 1e6;
/// Digits of a time behind the point: the significant digits of the histogram, as the library has it.
const DIGITS: usize = 3;

/// The percentiles of `times` in milliseconds.
///
/// Where all samples were seen to their end this is what `HistogramLogProcessor` makes of the interval log. Requests that
/// were not answered take part in the ranks, at the bounds that they are known to exceed; a percentile that is not known
/// within 1 % has no row, and a last comment says how many requests there were whose times nobody knows. Readers pass
/// over comments and see a curve that ends where all that is longer is unknown. What failed sooner than anything was
/// answered takes the shortest time away, and no more than that.
pub fn hgrm(times: &Distribution) -> String {
    let mut all = times.exact();
    if let Some(censored) = times.censored() {
        // Of one layout, since both are made by one type.
        let _ = all.add(&censored);
    }
    let mut text =
        format!("{:>12} {:>14} {:>10} {:>14}\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)");
    let is_known = |row: &Row| {
        times.censored_count() == 0
            || times.quantile(row.percent / 100.0).is_some_and(|it| !it.is_lower_bound)
    };
    for row in rows(&all).into_iter().filter(is_known) {
        write_row(&mut text, &row);
    }
    write_footer(&mut text, &all);
    if times.censored_count() > 0 {
        let bound = times.censored().map_or(0, |it| it.min());
        let _ = writeln!(
            text,
            "#[Censored = {:>11}, Shortest bound = {:>12}] requests without an answer: percentiles that are not known \
             have no row, Mean and Max are lower bounds",
            times.censored_count(),
            half_up(bound as f64 / NS_PER_MS, DIGITS)
        );
    }
    text
}

/// One line.
struct Row {
    ns: u64,
    percent: f64,
    count: u64,
}

/// The rows of a histogram: for each step on the way to 100 % the time that so many samples do not exceed.
fn rows(histogram: &Histogram<u64>) -> Vec<Row> {
    let total = histogram.len();
    let mut rows = Vec::new();
    let mut percent = 0.0;
    let mut count = 0;
    for step in histogram.iter_recorded() {
        count += step.count_at_value();
        let ns = step.value_iterated_to();
        while 100.0 * count as f64 / total as f64 >= percent {
            rows.push(Row { ns, percent, count });
            percent += 100.0 / ticks_at(percent);
            // The last sample has one row by its rank, and then the one of 100 %.
            if count == total {
                rows.push(Row { ns, percent: 100.0, count });
                return rows;
            }
        }
    }
    rows
}

/// Steps of the whole way at the scale of `percent`: each half of what is left has as many.
fn ticks_at(percent: f64) -> f64 {
    let halvings = ((100.0 / (100.0 - percent)).ln() / 2_f64.ln()) as u32 + 1;
    TICKS_PER_HALF as f64 * f64::from(2_u32.saturating_pow(halvings))
}

fn write_row(text: &mut String, row: &Row) {
    let Row { ns, percent, count } = row;
    let share = percent / 100.0;
    // Writing into a String cannot fail.
    let _ =
        write!(text, "{:>12} {} {count:>10}", half_up(*ns as f64 / NS_PER_MS, DIGITS), half_up(share, 12));
    let _ = if *percent < 100.0 {
        writeln!(text, " {:>14}", half_up(1.0 / (1.0 - share), 2))
    } else {
        writeln!(text)
    };
}

fn write_footer(text: &mut String, all: &Histogram<u64>) {
    let ms = |ns: f64| half_up(ns / NS_PER_MS, DIGITS);
    let (mean, deviation) = if all.is_empty() { (0.0, 0.0) } else { (all.mean(), all.stdev()) };
    // So many digits ask for so many places within a power of two.
    let places = (2 * 10_u32.pow(u32::from(all.sigfig()))).next_power_of_two();
    let _ = writeln!(text, "#[Mean    = {:>12}, StdDeviation   = {:>12}]", ms(mean), ms(deviation));
    let max = if all.is_empty() { 0 } else { all.max() };
    let _ = writeln!(text, "#[Max     = {:>12}, Total count    = {:>12}]", ms(max as f64), all.len());
    let _ = writeln!(text, "#[Buckets = {:>12}, SubBuckets     = {places:>12}]", all.buckets());
}

/// A number of at least 0 with so many digits behind the point, halves rounded up as Java does: by the shortest digits that
/// stand for the number.
fn half_up(number: f64, digits: usize) -> String {
    let shortest = number.to_string();
    let (whole, fraction) = shortest.split_once('.').unwrap_or((&shortest, ""));
    let is_up = fraction.as_bytes().get(digits).is_some_and(|digit| *digit >= b'5');
    let kept: String = fraction.chars().chain(std::iter::repeat('0')).take(digits).collect();
    let units: u128 = format!("{whole}{kept}").parse().unwrap_or(u128::MAX - 1);
    let scale = 10_u128.pow(digits as u32);
    let units = units + u128::from(is_up);
    format!("{}.{:0digits$}", units / scale, units % scale)
}

#[cfg(test)]
mod tests {
    use units::Duration;

    use super::*;

    fn of_ms(exact: &[u64], censored: &[u64]) -> Distribution {
        let mut times = Distribution::default();
        for ms in exact {
            times.record(Duration::from_millis(*ms));
        }
        for ms in censored {
            times.record_censored(Duration::from_millis(*ms));
        }
        times
    }

    /// The rows as numbers: time, share, count.
    fn read(text: &str) -> Vec<(f64, f64, u64)> {
        text.lines()
            .filter(|line| !line.starts_with('#') && !line.contains("Value") && !line.is_empty())
            .map(|line| {
                let fields: Vec<&str> = line.split_whitespace().collect();
                (fields[0].parse().unwrap(), fields[1].parse().unwrap(), fields[2].parse().unwrap())
            })
            .collect()
    }

    #[test]
    fn halves_are_rounded_up_as_they_are_read() {
        let told = [0.0005, 1.0005, 0.0004, 12.0, 0.999_877_929_687_5].map(|it| half_up(it, 3));
        assert_eq!(told, ["0.001", "1.001", "0.000", "12.000", "1.000"]);
        assert_eq!(half_up(0.999_877_929_687_5, 12), "0.999877929688");
        assert_eq!(half_up(f64::INFINITY, 2).parse::<f64>().ok().map(|it| it > 1e30), Some(true));
    }

    #[test]
    fn nothing_has_a_head_and_a_foot() {
        assert_eq!(
            hgrm(&Distribution::default()),
            "       Value     Percentile TotalCount 1/(1-Percentile)\n\n\
             #[Mean    =        0.000, StdDeviation   =        0.000]\n\
             #[Max     =        0.000, Total count    =            0]\n\
             #[Buckets =           32, SubBuckets     =         2048]\n"
        );
    }

    #[test]
    fn percentiles_reach_the_longest_at_100_percent() {
        let rows = read(&hgrm(&of_ms(&(1..=1000).collect::<Vec<_>>(), &[])));
        let (last, before) = (rows[rows.len() - 1], rows[rows.len() - 2]);
        assert_eq!((last.1.to_string().as_str(), last.2), ("1", 1000));
        assert!(last.0 >= 1000.0 && before.1 > 0.999, "{before:?}");
        assert!(rows.windows(2).all(|pair| pair[0].1 < pair[1].1 && pair[0].0 <= pair[1].0));
        let median = rows.iter().find(|row| row.1 >= 0.5).unwrap();
        assert!((median.0 - 500.0).abs() <= 1.0, "{median:?}");
    }

    /// One that was refused at once among thousands takes the shortest time away, and not all others.
    #[test]
    fn what_failed_early_takes_no_percentile_away_that_is_known() {
        let answered: Vec<u64> = (1..=2000).map(|at| 100 + at / 100).collect();
        let rows = read(&hgrm(&of_ms(&answered, &[1])));
        let (first, last) = (rows[0], rows[rows.len() - 1]);
        assert!(first.1 > 0.0 && first.1 <= 0.1, "the shortest is not known: {first:?}");
        assert!(last.1 > 0.99 && last.1 < 1.0, "the longest is not known: {last:?}");
        let median = rows.iter().find(|row| row.1 >= 0.5).unwrap();
        assert!((median.0 - 110.0).abs() <= 1.2, "{median:?}");
    }

    #[test]
    fn rows_end_where_nobody_knows_and_a_comment_says_so() {
        let text = hgrm(&of_ms(&(1..=90).collect::<Vec<_>>(), &[2000; 10]));
        let rows = read(&text);
        assert!(rows.iter().all(|row| row.1 <= 0.9 && row.0 <= 91.0), "{text}");
        assert!(rows.last().unwrap().1 > 0.85, "{text}");
        let comment = text.lines().last().unwrap();
        assert!(comment.starts_with("#[Censored =          10, Shortest bound ="), "{comment}");
        assert!(text.contains("Total count    =          100]"), "{text}");
        let none = hgrm(&of_ms(&[], &[2000]));
        assert!(read(&none).is_empty(), "{none}");
    }
}
