//! A line for each second of a load, however many threads and machines make it.

use stats::Interval;
use units::{Duration, Instant};

use crate::words::interval_words;

/// How long a second that was told of waits for what other threads and machines did in it. What comes later is in the
/// result, and in no line.
const SETTLED_AFTER: Duration = Duration::from_millis(300);
/// Seconds of different threads are one if they begin so near to each other.
const SAME_WITHIN: Duration = Duration::from_millis(500);

/// The second at hand.
#[derive(Debug, Default)]
pub struct SecondLines {
    open: Option<Open>,
    /// From when on nothing was said yet.
    said_to: Duration,
}

/// What a second came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecondLine {
    /// When it was over, from the start of the first on.
    pub to: Duration,
    /// In a few words.
    pub words: String,
}

#[derive(Debug)]
struct Open {
    from: Duration,
    length: Duration,
    interval: Interval,
    since: Instant,
}

impl SecondLines {
    /// Takes in what one load thread did from `from` on. Gives the line about the second before, if this is of a later one.
    pub fn interval(
        &mut self,
        from: Duration,
        length: Duration,
        interval: &Interval,
        now: Instant,
    ) -> Option<SecondLine> {
        if let Some(open) = &mut self.open
            && open.from.max(from).saturating_sub(open.from.min(from)) < SAME_WITHIN
        {
            open.length = open.length.max(length);
            open.interval.merge(interval);
            return None;
        }
        if from < self.said_to || self.open.as_ref().is_some_and(|open| from < open.from) {
            return None;
        }
        let said = self.end();
        self.open = Some(Open { from, length, interval: interval.clone(), since: now });
        said
    }

    /// Time passes.
    pub fn tick(&mut self, now: Instant) -> Option<SecondLine> {
        let is_settled = self.open.as_ref().is_some_and(|open| now >= open.since + SETTLED_AFTER);
        if is_settled { self.end() } else { None }
    }

    /// There is no more.
    pub fn end(&mut self) -> Option<SecondLine> {
        let Open { from, length, interval, .. } = self.open.take()?;
        self.said_to = from + SAME_WITHIN;
        interval_words(&interval, length).map(|words| SecondLine { to: from + length, words })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// A thread had so many good answers in a second. What is said of the one before, with its end.
    fn tell(lines: &mut SecondLines, from_ms: u64, good: u64, at_ms: u64) -> Option<String> {
        let mut interval = Interval::default();
        interval.tally.done_as_expected = good;
        text(lines.interval(Duration::from_millis(from_ms), SECOND, &interval, at(at_ms)))
    }

    fn tick(lines: &mut SecondLines, at_ms: u64) -> Option<String> {
        text(lines.tick(at(at_ms)))
    }

    fn text(line: Option<SecondLine>) -> Option<String> {
        line.map(|line| format!("{}: {}", line.to, line.words))
    }

    fn at(ms: u64) -> Instant {
        Instant::ORIGIN + Duration::from_millis(ms)
    }

    #[test]
    fn threads_and_machines_make_one_line_a_second() {
        let mut lines = SecondLines::default();
        let mut said = Vec::new();
        for second in 0..3_u64 {
            for thread in 0..4 {
                let at_ms = 1000 * second + 1000 + 20 * thread;
                said.extend(tell(&mut lines, 1000 * second + thread, 25, at_ms));
                said.extend(tick(&mut lines, at_ms + 10));
            }
            said.extend(tick(&mut lines, 1000 * second + 1300));
        }
        said.extend(text(lines.end()));
        assert_eq!(said, ["1.00s: 100.0/s", "2.00s: 100.0/s", "3.00s: 100.0/s"]);
    }

    #[test]
    fn who_tells_of_the_next_second_has_the_one_before_said_and_who_comes_late_is_in_no_line() {
        let mut lines = SecondLines::default();
        assert_eq!(tell(&mut lines, 0, 10, 1000), None);
        assert_eq!(tell(&mut lines, 1000, 20, 1100).as_deref(), Some("1.00s: 10.0/s"));
        assert_eq!(tell(&mut lines, 0, 70, 1200), None);
        assert_eq!(tick(&mut lines, 1400).as_deref(), Some("2.00s: 20.0/s"));
        assert_eq!(tell(&mut lines, 1000, 70, 1500), None);
        assert_eq!((lines.end(), lines.tick(at(9000))), (None, None));
    }
}
