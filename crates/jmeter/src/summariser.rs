//! The lines that JMeter prints while it runs.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Seconds between two lines.
const INTERVAL_S: u64 = 30;
/// A line may come so many seconds late, since it is made when a sample ends.
const WINDOW_S: u64 = 5;

/// Users, as the lines count them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ThreadCounts {
    /// Running now.
    pub active: u64,
    /// Started so far.
    pub started: u64,
    /// Ended so far.
    pub finished: u64,
}

/// JMeter's summariser: `summary +` is what came since the last line, `summary =` everything. Clocks are milliseconds
/// since 1970.
#[derive(Debug, Clone)]
pub struct Summariser {
    name: String,
    /// When lines were last made, in whole seconds.
    last_s: u64,
    delta: Totals,
    total: Totals,
}

/// Samples of some time.
#[derive(Debug, Clone, Copy)]
struct Totals {
    count: u64,
    errors: u64,
    sum_ms: u64,
    min_ms: i64,
    max_ms: i64,
    start_ms: u64,
    end_ms: u64,
}

impl Totals {
    fn new(now_ms: u64) -> Self {
        // What JMeter prints where there is no sample.
        let (min_ms, max_ms) = (i64::MAX, i64::MIN);
        Self { count: 0, errors: 0, sum_ms: 0, min_ms, max_ms, start_ms: now_ms, end_ms: now_ms }
    }

    fn sample(&mut self, elapsed_ms: u64, success: bool, now_ms: u64) {
        let elapsed = i64::try_from(elapsed_ms).unwrap_or(i64::MAX);
        self.count += 1;
        self.errors += u64::from(!success);
        self.sum_ms = self.sum_ms.saturating_add(elapsed_ms);
        self.min_ms = self.min_ms.min(elapsed);
        self.max_ms = self.max_ms.max(elapsed);
        self.end_ms = now_ms;
    }

    fn merge(&mut self, other: &Self, now_ms: u64) {
        self.count += other.count;
        self.errors += other.errors;
        self.sum_ms = self.sum_ms.saturating_add(other.sum_ms);
        self.min_ms = self.min_ms.min(other.min_ms);
        self.max_ms = self.max_ms.max(other.max_ms);
        self.end_ms = now_ms;
    }

    fn line(&self, name: &str, sign: char) -> String {
        let span_ms = if self.count == 0 { 0 } else { self.end_ms.saturating_sub(self.start_ms) };
        let seconds = (span_ms + 500) / 1000;
        let (hours, minutes, seconds) = (seconds / 3600, seconds % 3600 / 60, seconds % 60);
        let rate = if span_ms > 0 {
            format!("{:6.1}", self.count as f64 / span_ms as f64 * 1000.0)
        } else {
            "******".to_owned()
        };
        let average = self.sum_ms.checked_div(self.count).unwrap_or(0);
        let share = if self.count == 0 { 0.0 } else { self.errors as f64 / self.count as f64 * 100.0 };
        format!(
            "{name} {sign} {:6} in {hours:02}:{minutes:02}:{seconds:02} = {rate}/s Avg: {average:5} Min: {:5} \
             Max: {:5} Err: {:5} ({share:.2}%)",
            self.count, self.min_ms, self.max_ms, self.errors
        )
    }
}

impl Summariser {
    /// Begins with the test, at `now_ms`. JMeter's name for it is `summary`.
    pub fn new(name: impl Into<String>, now_ms: u64) -> Self {
        let (delta, total) = (Totals::new(now_ms), Totals::new(now_ms));
        Self { name: name.into(), last_s: 0, delta, total }
    }

    /// Takes a sample in that ended now, and gives the lines that are due: every 30 s of the clock, with the first
    /// sample that ends then. Samples of transactions are not given to it, as in JMeter.
    pub fn sample(
        &mut self,
        elapsed_ms: u64,
        success: bool,
        now_ms: u64,
        threads: ThreadCounts,
    ) -> Vec<String> {
        self.delta.sample(elapsed_ms, success, now_ms);
        let now_s = now_ms / 1000;
        if now_s <= self.last_s + WINDOW_S || now_s % INTERVAL_S > WINDOW_S {
            return Vec::new();
        }
        self.last_s = now_s;
        let delta = std::mem::replace(&mut self.delta, Totals::new(now_ms));
        self.total.merge(&delta, now_ms);
        let mut lines = vec![self.plus(&delta, threads)];
        if self.total.count != delta.count {
            lines.push(self.total.line(&self.name, '='));
        }
        lines
    }

    /// The last lines.
    pub fn finish(mut self, now_ms: u64, threads: ThreadCounts) -> Vec<String> {
        self.delta.end_ms = now_ms;
        let mut lines = Vec::new();
        if self.delta.count > 0 && self.total.count > 0 {
            lines.push(self.plus(&self.delta, threads));
        }
        self.total.merge(&self.delta, now_ms);
        lines.push(self.total.line(&self.name, '='));
        lines
    }

    fn plus(&self, delta: &Totals, threads: ThreadCounts) -> String {
        let ThreadCounts { active, started, finished } = threads;
        let line = delta.line(&self.name, '+');
        format!("{line} Active: {active} Started: {started} Finished: {finished}")
    }
}

/// The lines before a test: `plan` is the file's name as it was given, `now_ms` milliseconds since 1970.
pub fn start_lines(plan: &str, now_ms: u64) -> [String; 3] {
    [
        "Creating summariser <summary>".to_owned(),
        format!("Created the tree successfully using {plan}"),
        format!("Starting standalone test @ {}", date(now_ms)),
    ]
}

/// The lines after a test.
pub fn end_lines(now_ms: u64) -> [String; 2] {
    [format!("Tidying up ...    @ {}", date(now_ms)), "... end of run".to_owned()]
}

/// `2026 Nov 22 04:50:00 UTC (1795323000000)`; JMeter prints the time of its own zone.
fn date(now_ms: u64) -> String {
    let instant = i64::try_from(now_ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
    let time = instant.unwrap_or(Timestamp::MAX).to_zoned(TimeZone::UTC);
    format!("{} ({now_ms})", time.strftime("%Y %b %-d %H:%M:%S UTC"))
}

#[cfg(test)]
mod tests;
