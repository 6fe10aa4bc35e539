//! Checks of the latency figures of one row.

use crate::findings::little::{self, left_out};
use crate::findings::{Finding, Kind, Level};
use outputs::Figure;
use outputs::shown;
use outputs::{Row, TimeoutFrom, Tool};

/// Share of late answers up to which mean and p99 stay what they are; only the tail above is cut.
const CENSORED_NOTE_MAX: f64 = 0.001;
/// An average of other times that is further off than this is none.
const AVERAGE_GAP_MAX: f64 = 0.05;
/// Estimates of one percentile that are further apart than this tell nothing of it.
const ESTIMATES_GAP_MAX: f64 = 0.05;
/// From this share of the timeout on, a maximum beside timeouts is the timeout.
const AT_TIMEOUT: f64 = 0.95;
/// When Linux sends a handshake again that was dropped, ms after the first try: after 1, 2, 4, 8 and 16 s more.
const SYN_RETRIES_MS: [f64; 5] = [1e3, 3e3, 7e3, 15e3, 31e3];
/// How much longer such a connect with its first answer takes, ms.
const SYN_RETRY_SLACK_MS: f64 = 150.0;
/// How far beyond the mean and beyond the spread a maximum must be to be another thing than a slow answer: latencies
/// of a busy server reach some standard deviations, and a second is a length that they reach by themselves, so the
/// first retry needs more.
const SYN_MEANS_MIN: f64 = 5.0;
const SYN_STDEVS_MIN: f64 = 5.0;
const SYN_FIRST_MEANS_MIN: f64 = 20.0;
/// Fewer requests may well take the same time.
const VARIANCE_REQUESTS_MIN: u64 = 100;

/// `0.00us` and `-nan%`.
pub(super) fn not_a_number(row: &Row) -> Option<Finding> {
    if !row.is_nan || row.requests == Some(0) {
        return None;
    }
    let timeouts = row.errors.timeout.unwrap_or(0);
    let why = match (row.requests, row.timeout_s) {
        (Some(requests), Some(_)) if timeouts > 0 => format!(
            ": {timeouts} of {requests} answers came after the timeout{} and none is in the latency{}",
            timeout(row),
            implied(row)
        ),
        _ => ": no latency was kept".into(),
    };
    let text =
        format!("the latency is printed as {} and -nan %{why}", row.mean_ms.map_or("none".into(), printed));
    Some(Finding::of(row, Level::Broken, Kind::NotANumber, text))
}

fn printed(figure: Figure) -> String {
    shown::time(figure.value)
}

/// The timeout, and where it is not known for sure that it is the tool's own.
fn timeout(row: &Row) -> String {
    let Some(timeout_s) = row.timeout_s.map(shown::seconds) else { return String::new() };
    match row.timeout_from {
        TimeoutFrom::Tool => format!(" ({timeout_s}, if {} was told no other)", row.tool.name()),
        TimeoutFrom::Command | TimeoutFrom::Table => format!(" of {timeout_s}"),
    }
}

/// What the mean must be, if Little's law tells.
fn implied(row: &Row) -> String {
    let law = little::figures(row).filter(|law| law.ratio < 1.0);
    law.map_or(String::new(), |law| {
        let (users, rate) = (shown::count(law.users), shown::rate(law.rate_per_s));
        format!("; by Little's law the mean is {} ({users} users / {rate})", shown::time(law.implied_ms()))
    })
}

/// Late answers that are left out of the latency. oha, h2load, hey and autocannon give a late request up; it is left out as well.
pub(super) fn censored(row: &Row) -> Option<Finding> {
    let timeouts = row.errors.timeout.filter(|it| *it > 0)?;
    let leaves_out = matches!(row.tool, Tool::Wrk | Tool::H2load | Tool::Oha | Tool::Hey | Tool::Autocannon);
    if row.is_nan || !leaves_out {
        return None;
    }
    let requests = row.requests.unwrap_or(0);
    let (level, what) = match left_out(row) {
        share if share < CENSORED_NOTE_MAX => (Level::Note, "the tail is cut there".to_owned()),
        _ => {
            let mean = row
                .mean_ms
                .map_or(String::new(), |mean| format!(": {} is the mean of the rest", printed(mean)));
            // Where the late ones can't be all that the mean lacks, the check of the law says so.
            let implied = if little::is_all_left_out(row) { implied(row) } else { String::new() };
            (Level::Unknown, format!("mean and percentiles are of the others{mean}{implied}"))
        }
    };
    let mut text = if timeouts > requests {
        format!(
            "{timeouts} timeouts{} and {requests} answers: more were late than were answered, so the latency is of a few; {what}",
            timeout(row)
        )
    } else {
        format!(
            "{timeouts} of {requests} requests ({}) came after the timeout{} and are left out of the latency; {what}",
            shown::percent(timeouts as f64 / requests.max(1) as f64),
            timeout(row)
        )
    };
    let contradiction = longer_than_the_run(row, timeouts);
    let level = if contradiction.is_some() { Level::Broken } else { level };
    text.push_str(&contradiction.unwrap_or_default());
    Some(Finding::of(row, level, Kind::Censored, text))
}

/// How long, seconds, lies between two looks of wrk at who is late, in versions that look.
const WRK_LOOKS_S: f64 = 2.0;

/// What there is to say of more timeouts than the users can have waited for, one after another. The last one of each may have
/// been under way when the run ended.
fn longer_than_the_run(row: &Row, timeouts: u64) -> Option<String> {
    let (users, run_s) = (row.users()?, little::run_s(row)?);
    let (least_s, by) = match (row.timeout_from, row.tool) {
        // It counts those that it never sent, too.
        (_, Tool::H2load) => return None,
        (TimeoutFrom::Command | TimeoutFrom::Table, _) => (row.timeout_s?, ""),
        // Nobody tells the timeout, and what was in time took no longer than it.
        (TimeoutFrom::Tool, Tool::Wrk) => {
            let max = row.max_ms?;
            ((max.value - max.step) / 1e3, " by the maximum")
        }
        (TimeoutFrom::Tool, _) => return None,
    };
    // Older versions of wrk, and wrk2, look every two seconds and count whoever has waited for too long once more.
    let each_s = if matches!(row.tool, Tool::Wrk | Tool::Wrk2) { least_s.min(WRK_LOOKS_S) } else { least_s };
    let late_s = timeouts as f64 * each_s;
    (!row.may_wait && late_s > users * (run_s + least_s)).then(|| {
        format!(
            "; but{by} {timeouts} x {} = {}, and {} users have {} in a run of {}: so many were not so late",
            shown::seconds(each_s),
            shown::seconds(late_s),
            shown::count(users),
            shown::seconds(users * run_s),
            shown::seconds(run_s)
        )
    })
}

/// A maximum at the timeout where requests did time out. Without timeouts a maximum just below it is an answer that
/// was in time, and no accusation.
pub(super) fn max_at_timeout(row: &Row) -> Option<Finding> {
    let timeouts = row.errors.timeout.filter(|it| *it > 0)?;
    let (max, timeout_ms) = (row.max_ms?, row.timeout_s? * 1e3);
    if row.is_nan || max.value < timeout_ms * AT_TIMEOUT || max.value > timeout_ms + max.step {
        return None;
    }
    let text = format!(
        "the maximum of {} is what the timeout{} lets through: {timeouts} answers took longer, and how much longer \
         is not known",
        printed(max),
        timeout(row)
    );
    Some(Finding::of(row, Level::Unknown, Kind::MaxAtTimeout, text))
}

/// wrk keeps no latency beyond its timeout. Where nobody tells a timeout, the run was simply given one.
pub(super) fn beyond_timeout(row: &Row) -> Option<Finding> {
    let (max, timeout_s) = (row.max_ms?, row.timeout_s?);
    if row.tool != Tool::Wrk || max.value - max.step <= timeout_s * 1e3 {
        return None;
    }
    let (by, so) = match row.timeout_from {
        TimeoutFrom::Tool => return None,
        TimeoutFrom::Command => ("the command", "so the command is not the one that ran"),
        TimeoutFrom::Table => ("the table", "so one of the two figures is of another run"),
    };
    let text = format!(
        "a maximum of {}, but wrk keeps no latency beyond the timeout, which by {by} is {}: the run had another one, {so}",
        printed(max),
        shown::seconds(timeout_s)
    );
    Some(Finding::of(row, Level::Unknown, Kind::BeyondTimeout, text))
}

/// Percentiles that are of the first answers alone, and an average that divides the time of all by their number, as hey does.
pub(super) fn first_answers(row: &Row) -> Option<Finding> {
    let kept = row.kept.filter(|it| *it > 0 && row.tool != Tool::Jmeter)?;
    let answers = row.answers()?;
    let times = answers as f64 / kept as f64;
    let average = row.mean_ms.map_or(String::new(), |mean| {
        format!(
            "; the average is the time of all divided by the number of these: it is told as {}, and is {}",
            shown::time(mean.value * times),
            printed(mean)
        )
    });
    let is_off = row.mean_ms.is_some() && times > 1.0 + AVERAGE_GAP_MAX;
    let text = format!(
        "{} keeps the times of the first {kept} of {answers} answers: percentiles and extremes are of these{average}",
        row.tool.name()
    );
    let level = if is_off { Level::Broken } else { Level::Unknown };
    Some(Finding::of(row, level, Kind::FirstAnswers, text))
}

/// Percentiles that are of the last samples alone, as those of JMeter's dashboard.
pub(super) fn last_samples(row: &Row) -> Option<Finding> {
    let kept = row.kept.filter(|_| row.tool == Tool::Jmeter)?;
    let text = format!(
        "the dashboard takes percentiles of the last {kept} of {} samples, unless jmeter.reportgenerator.statistic_window says \
         otherwise: they are of the end of the run, and mean and extremes are of all",
        row.requests?
    );
    Some(Finding::of(row, Level::Unknown, Kind::Percentiles, text))
}

/// Zeros in the place of the highest percentiles. wrk adds times after the run that are quicker than the quickest answer; they
/// count in the number of all, and neither in their sum nor where it looks for a rank.
pub(super) fn zeros(row: &Row) -> Option<Finding> {
    let from = row.zero_from?;
    let text = format!(
        "from p{from} on the percentiles are printed as 0: wrk adds times below the shortest answer, and leaves them out of all but \
         their number. The mean is too low, and what it calls p50 is of a higher rank"
    );
    Some(Finding::of(row, Level::Unknown, Kind::Percentiles, text))
}

/// Percentiles of the same times that differ: of all requests, and of those that did not fail, where none failed. Gatling reckons
/// each by a digest of its own.
pub(super) fn estimates(row: &Row) -> Option<Finding> {
    if row.errors.bad_answers != Some(0) {
        return None;
    }
    let of_good = |percent: f64| {
        let found = row.good_percentiles_ms.iter().find(|it| (it.0 - percent).abs() < 1e-9);
        found.map(|it| it.1)
    };
    let pairs =
        row.percentiles_ms.iter().filter_map(|(percent, all)| Some((percent, all, of_good(*percent)?)));
    let apart = |all: Figure, good: Figure| (all.value - good.value).abs() / all.value.max(good.value);
    let (percent, all, good) = pairs
        .filter(|(_, all, good)| !all.agrees(*good))
        .max_by(|a, b| apart(*a.1, a.2).total_cmp(&apart(*b.1, b.2)))?;
    let level = if apart(*all, good) > ESTIMATES_GAP_MAX { Level::Unknown } else { Level::Note };
    let text = format!(
        "p{percent} is {} of all requests and {} of those that did not fail, and none failed: both are of the same times, so they \
         are estimates, and one is off by half of that gap at least",
        printed(*all),
        printed(good)
    );
    Some(Finding::of(row, level, Kind::Percentiles, text))
}

/// Percentiles that fall, or are beyond the extremes; a mean beyond them.
pub(super) fn out_of_order(row: &Row) -> Option<Finding> {
    let mut ranks: Vec<(String, f64, Figure)> =
        row.percentiles_ms.iter().map(|(percent, time)| (format!("p{percent}"), *percent, *time)).collect();
    ranks.sort_by(|a, b| a.1.total_cmp(&b.1));
    let min = row.min_ms.map(|it| ("min".to_owned(), 0.0, it));
    let max = row.max_ms.map(|it| ("max".to_owned(), 100.0, it));
    let ranks: Vec<_> = min.into_iter().chain(ranks).chain(max).collect();
    let falls = ranks.windows(2).find(|pair| above(pair[0].2, pair[1].2));
    let mean = row.mean_ms.filter(|_| !row.is_nan && row.kept.is_none());
    let mean_beyond = mean.zip(row.max_ms).filter(|(mean, max)| above(*mean, *max));
    let mean_below = mean.zip(row.min_ms).filter(|(mean, min)| above(*min, *mean));
    let text = match (falls, mean_beyond, mean_below) {
        (Some([a, b]), ..) => format!("{} of {} is above {} of {}", a.0, printed(a.2), b.0, printed(b.2)),
        (_, Some((mean, max)), _) => {
            format!("the mean of {} is above the maximum of {}", printed(mean), printed(max))
        }
        (_, _, Some((mean, min))) => {
            format!("the mean of {} is below the minimum of {}", printed(mean), printed(min))
        }
        _ => return None,
    };
    Some(Finding::of(row, Level::Broken, Kind::OutOfOrder, text))
}

/// Whether `a` is above `b` beyond what the digits and a histogram's three places allow.
fn above(a: Figure, b: Figure) -> bool {
    a.value - a.step > (b.value + b.step) * 1.001
}

/// A maximum that is a retry of a dropped handshake.
pub(super) fn syn_retry(row: &Row) -> Option<Finding> {
    let (max, mean) = (row.max_ms?.value, row.mean_ms?.value);
    let retry = SYN_RETRIES_MS.into_iter().position(|at| max >= at && max <= at + SYN_RETRY_SLACK_MS)?;
    let means_min = if retry == 0 { SYN_FIRST_MEANS_MIN } else { SYN_MEANS_MIN };
    let stdevs = row.stdev_ms.map_or(f64::INFINITY, |stdev| (max - mean) / stdev.value);
    // At its timeout a maximum is that of the timeout.
    let is_timeout = max_at_timeout(row).is_some();
    if is_timeout || mean <= 0.0 || max < means_min * mean || stdevs < SYN_STDEVS_MIN {
        return None;
    }
    let text = format!(
        "the maximum of {} is {:.0} times the mean and just beyond {} s, when the {} retry of a dropped handshake goes \
         out (1, 3, 7, 15, 31 s): an accept queue may have overflowed",
        shown::time(max),
        max / mean,
        SYN_RETRIES_MS[retry] / 1e3,
        ["first", "second", "third", "fourth", "fifth"][retry]
    );
    Some(Finding::of(row, Level::Note, Kind::SynRetry, text))
}

/// All latencies the same: the clock is coarser than they are, or they are not measured.
pub(super) fn no_variance(row: &Row) -> Option<Finding> {
    let (mean, max) = (row.mean_ms?, row.max_ms?);
    let is_flat =
        row.stdev_ms.or(row.min_ms.map(|min| Figure { value: max.value - min.value, ..max }))?.value == 0.0;
    let many = row.requests.is_some_and(|it| it >= VARIANCE_REQUESTS_MIN);
    if !is_flat || !many || row.is_nan || (max.value - mean.value).abs() > max.step + mean.step {
        return None;
    }
    let text = format!(
        "{} requests all took {} to the printed digit: the clock is coarser than the latency",
        row.requests.unwrap_or(0),
        printed(max)
    );
    Some(Finding::of(row, Level::Note, Kind::NoVariance, text))
}
