//! JMeter's Aggregate and Summary reports, from samples one by one.

use std::collections::BTreeMap;

/// Most labels that are told apart; a plan has fewer, unless it puts values into them.
pub const LABELS_MAX: usize = 10_000;
/// What is counted under no label of its own.
pub const OTHER_LABELS: &str = "(other labels)";
/// Longest time that percentiles tell apart, in milliseconds: an hour. Mean, minimum and maximum are exact beyond it.
pub const ELAPSED_MAX_MS: u64 = 3_600_000;

const AGGREGATE: [&str; 13] = [
    "Label",
    "# Samples",
    "Average",
    "Median",
    "90% Line",
    "95% Line",
    "99% Line",
    "Min",
    "Max",
    "Error %",
    "Throughput",
    "Received KB/sec",
    "Sent KB/sec",
];
const SUMMARY: [&str; 11] = [
    "Label",
    "# Samples",
    "Average",
    "Min",
    "Max",
    "Std. Dev.",
    "Error %",
    "Throughput",
    "Received KB/sec",
    "Sent KB/sec",
    "Avg. Bytes",
];

/// Samples by label. Memory grows with labels and with different whole milliseconds, up to [`LABELS_MAX`] and
/// [`ELAPSED_MAX_MS`], never with samples.
#[derive(Debug, Clone, Default)]
pub struct Aggregate {
    /// In the order in which they first came, as in JMeter.
    labels: Vec<(String, Row)>,
    places: BTreeMap<String, usize>,
    total: Row,
}

/// Samples of one label.
#[derive(Debug, Clone, Default)]
struct Row {
    count: u64,
    errors: u64,
    sum_ms: u128,
    sum_of_squares_ms: u128,
    min_ms: Option<u64>,
    max_ms: u64,
    bytes: u64,
    sent_bytes: u64,
    first_start_ms: Option<u64>,
    last_end_ms: u64,
    counts: BTreeMap<u64, u64>,
}

impl Aggregate {
    /// Takes a sample in.
    pub fn sample(&mut self, sample: &crate::SampleResult<'_>) {
        self.row(sample.label).sample(sample);
        self.total.sample(sample);
    }

    fn row(&mut self, label: &str) -> &mut Row {
        let known = self.places.get(label).copied();
        let label = if known.is_none() && self.labels.len() >= LABELS_MAX { OTHER_LABELS } else { label };
        let known = known.or_else(|| self.places.get(label).copied());
        let place = known.unwrap_or_else(|| {
            self.places.insert(label.to_owned(), self.labels.len());
            self.labels.push((label.to_owned(), Row::default()));
            self.labels.len() - 1
        });
        &mut self.labels[place].1
    }

    /// The Aggregate Report as JMeter saves it: CSV with a header, and TOTAL as its last row.
    pub fn aggregate_csv(&self) -> String {
        self.csv(&AGGREGATE, |row| {
            let percentile = |share: f64| row.percentile(share).to_string();
            vec![
                row.count.to_string(),
                row.average().to_string(),
                percentile(0.5),
                percentile(0.9),
                percentile(0.95),
                percentile(0.99),
                row.min_ms.unwrap_or(0).to_string(),
                row.max_ms.to_string(),
                row.error_share(),
                bare(row.per_second(row.count as f64), 5),
                decimal(row.per_second(row.bytes as f64 / 1024.0), 2),
                decimal(row.per_second(row.sent_bytes as f64 / 1024.0), 2),
            ]
        })
    }

    /// The Summary Report as JMeter saves it.
    pub fn summary_csv(&self) -> String {
        self.csv(&SUMMARY, |row| {
            let bytes = if row.count == 0 { 0.0 } else { row.bytes as f64 / row.count as f64 };
            vec![
                row.count.to_string(),
                row.average().to_string(),
                row.min_ms.unwrap_or(0).to_string(),
                row.max_ms.to_string(),
                decimal(row.deviation_ms(), 2),
                row.error_share(),
                bare(row.per_second(row.count as f64), 5),
                decimal(row.per_second(row.bytes as f64 / 1024.0), 2),
                decimal(row.per_second(row.sent_bytes as f64 / 1024.0), 2),
                bare(bytes, 1),
            ]
        })
    }

    fn csv(&self, header: &[&str], cells: impl Fn(&Row) -> Vec<String>) -> String {
        let mut text = String::new();
        line(&mut text, header.iter().copied());
        let labels = self.labels.iter().map(|(label, row)| (label.as_str(), row));
        for (label, row) in labels.chain([("TOTAL", &self.total)]) {
            let cells = cells(row);
            line(&mut text, std::iter::once(label).chain(cells.iter().map(String::as_str)));
        }
        text
    }
}

/// Adds a line of CSV; a cell is quoted where it has to be.
fn line<'a>(text: &mut String, cells: impl Iterator<Item = &'a str>) {
    for (at, cell) in cells.enumerate() {
        if at > 0 {
            text.push(',');
        }
        if cell.contains([',', '"', '\r', '\n']) {
            text.push('"');
            text.push_str(&cell.replace('"', "\"\""));
            text.push('"');
        } else {
            text.push_str(cell);
        }
    }
    text.push('\n');
}

impl Row {
    fn sample(&mut self, sample: &crate::SampleResult<'_>) {
        let elapsed = u128::from(sample.elapsed_ms);
        self.count += 1;
        self.errors += u64::from(!sample.success);
        self.sum_ms += elapsed;
        self.sum_of_squares_ms = self.sum_of_squares_ms.saturating_add(elapsed.saturating_mul(elapsed));
        self.min_ms = Some(self.min_ms.map_or(sample.elapsed_ms, |min| min.min(sample.elapsed_ms)));
        self.max_ms = self.max_ms.max(sample.elapsed_ms);
        self.bytes = self.bytes.saturating_add(sample.bytes);
        self.sent_bytes = self.sent_bytes.saturating_add(sample.sent_bytes);
        self.first_start_ms =
            Some(self.first_start_ms.map_or(sample.start_ms, |first| first.min(sample.start_ms)));
        self.last_end_ms = self.last_end_ms.max(sample.start_ms.saturating_add(sample.elapsed_ms));
        *self.counts.entry(sample.elapsed_ms.min(ELAPSED_MAX_MS)).or_default() += 1;
    }

    /// Truncated to a whole millisecond, as JMeter shows it.
    fn average(&self) -> u128 {
        self.sum_ms.checked_div(u128::from(self.count)).unwrap_or(0)
    }

    /// The first whole millisecond by which round(count × share) samples had ended.
    fn percentile(&self, share: f64) -> u64 {
        let target = (self.count as f64 * share).round() as u64;
        let mut ended = 0;
        let reached = self.counts.iter().find(|(_, count)| {
            ended += **count;
            ended >= target
        });
        reached.map_or(0, |(ms, _)| *ms)
    }

    /// Of all samples, not of a sample of them.
    fn deviation_ms(&self) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        let count = self.count as f64;
        let mean = self.sum_ms as f64 / count;
        // Rounding may leave a little less than nothing.
        (self.sum_of_squares_ms as f64 / count - mean * mean).max(0.0).sqrt()
    }

    fn error_share(&self) -> String {
        let share = if self.count == 0 { 0.0 } else { self.errors as f64 / self.count as f64 };
        format!("{:.3}%", share * 100.0)
    }

    /// Over the span from the first start to the last end. 0 where that is no time, as in JMeter's Summary Report;
    /// its Aggregate Report has an infinity there.
    fn per_second(&self, amount: f64) -> f64 {
        let span_ms = self.last_end_ms.saturating_sub(self.first_start_ms.unwrap_or(0));
        if span_ms == 0 { 0.0 } else { amount / (span_ms as f64 / 1000.0) }
    }
}

/// `#0.00`.
fn decimal(value: f64, places: usize) -> String {
    format!("{value:.places$}")
}

/// `#.00`: without a 0 before the point, as JMeter's formats leave it out.
fn bare(value: f64, places: usize) -> String {
    let text = decimal(value, places);
    match text.strip_prefix("0.") {
        Some(fraction) => format!(".{fraction}"),
        None => text,
    }
}

#[cfg(test)]
mod tests;
