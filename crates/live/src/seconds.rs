//! A line for each second of a load, however many threads and machines make it.

use std::collections::VecDeque;

use stats::Interval;
use units::{Duration, Instant};

use crate::rate::Rate;
use crate::words::interval_words;

/// How long a second that was told of waits for what other threads and machines did in it. What comes later is in the
/// result, and in no line.
const SETTLED_AFTER: Duration = Duration::from_millis(300);
/// Seconds of different threads are one if they begin so near to each other.
const SAME_WITHIN: Duration = Duration::from_millis(500);

/// The seconds at hand, the first to be said first.
#[derive(Debug, Default)]
pub struct SecondLines {
    open: VecDeque<Open>,
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
    rate: Rate,
    interval: Interval,
    /// Load threads that told of it, of those that are to.
    told: u32,
    threads: u32,
    since: Instant,
}

impl SecondLines {
    /// Takes in what one load thread did from `from` on, which `threads` are to tell of.
    pub fn interval(
        &mut self,
        from: Duration,
        length: Duration,
        interval: &Interval,
        threads: u32,
        now: Instant,
    ) {
        if let Some(open) =
            self.open.iter_mut().find(|it| from.max(it.from) < from.min(it.from) + SAME_WITHIN)
        {
            open.length = open.length.max(length);
            open.rate.add(interval.tally.done_as_expected, length);
            open.interval.merge(interval);
            open.told += 1;
            open.threads = open.threads.max(threads);
        } else if from >= self.said_to {
            let mut rate = Rate::default();
            rate.add(interval.tally.done_as_expected, length);
            let open = Open { from, length, rate, interval: interval.clone(), told: 1, threads, since: now };
            let place = self.open.partition_point(|it| it.from < from);
            self.open.insert(place, open);
        }
    }

    /// The next line, if it is time for one: all have told of that second, or those who have not are waited for no longer.
    pub fn line(&mut self, now: Instant) -> Option<SecondLine> {
        self.line_if(|open| open.told >= open.threads || now >= open.since + SETTLED_AFTER)
    }

    /// The next line, when there is no more to be told of.
    pub fn last_line(&mut self) -> Option<SecondLine> {
        self.line_if(|_| true)
    }

    fn line_if(&mut self, is_due: impl Fn(&Open) -> bool) -> Option<SecondLine> {
        while self.open.front().is_some_and(&is_due) {
            let open = self.open.pop_front()?;
            self.said_to = open.from + SAME_WITHIN;
            let line = open.line();
            // Of a moment behind the end of a load there is none.
            if line.is_some() {
                return line;
            }
        }
        None
    }
}

impl Open {
    fn line(&self) -> Option<SecondLine> {
        let Self { from, length, rate, interval, told, threads, .. } = self;
        let words = interval_words(interval, rate)?;
        // A rate of some threads alone is not that of the load.
        let words = if told < threads {
            format!("{words}, of {told} of {threads} load threads; the others did not tell in time")
        } else {
            words
        };
        Some(SecondLine { to: *from + *length, words })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// One of `threads` had so many good answers in a second, or what was left of it. What is said thereupon.
    fn tell(
        lines: &mut SecondLines,
        from_ms: u64,
        length: Duration,
        good: u64,
        threads: u32,
        at_ms: u64,
    ) -> Option<String> {
        let mut interval = Interval::default();
        interval.tally.done_as_expected = good;
        lines.interval(Duration::from_millis(from_ms), length, &interval, threads, at(at_ms));
        said(lines, at_ms)
    }

    fn said(lines: &mut SecondLines, at_ms: u64) -> Option<String> {
        text(lines.line(at(at_ms)))
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
        let mut all = Vec::new();
        for second in 0..3_u64 {
            for thread in 0..4 {
                let at_ms = 1000 * second + 1000 + 20 * thread;
                all.extend(tell(&mut lines, 1000 * second + thread, SECOND, 25, 4, at_ms));
            }
        }
        assert_eq!(all, ["1.00s: 100.0/s", "2.00s: 100.0/s", "3.00s: 100.0/s"]);
        assert_eq!(text(lines.last_line()), None);
    }

    #[test]
    fn who_comes_late_is_in_no_line_and_that_a_line_is_not_of_all_is_said() {
        let mut lines = SecondLines::default();
        assert_eq!(tell(&mut lines, 0, SECOND, 10, 2, 1000), None);
        assert_eq!(said(&mut lines, 1299), None);
        let of_one = ", of 1 of 2 load threads; the others did not tell in time";
        assert_eq!(said(&mut lines, 1300), Some(format!("1.00s: 10.0/s{of_one}")));
        assert_eq!(tell(&mut lines, 0, SECOND, 70, 2, 1400), None);
        assert_eq!(tell(&mut lines, 1000, SECOND, 20, 2, 2000), None);
        assert_eq!(text(lines.last_line()), Some(format!("2.00s: 20.0/s{of_one}")));
        assert_eq!((said(&mut lines, 9000), text(lines.last_line())), (None, None));
    }

    /// Two machines end a load within milliseconds, and each has a moment left behind its last second.
    #[test]
    fn whoever_goes_on_to_what_is_next_cuts_no_second_short() {
        let mut lines = SecondLines::default();
        assert_eq!(tell(&mut lines, 0, SECOND, 10, 2, 1000), None);
        assert_eq!(tell(&mut lines, 1000, Duration::from_millis(3), 0, 2, 1004), None);
        assert_eq!(tell(&mut lines, 1, SECOND, 30, 2, 1030).as_deref(), Some("1.00s: 40.0/s"));
        assert_eq!(tell(&mut lines, 1001, Duration::from_millis(2), 0, 1, 1031), None);
        assert_eq!(text(lines.last_line()), None);
    }

    /// One did 10 in a second; the other was held up for two, and its 40 are 20 in each.
    #[test]
    fn a_thread_that_was_held_up_is_taken_over_its_own_time() {
        let mut lines = SecondLines::default();
        assert_eq!(tell(&mut lines, 0, SECOND * 2, 40, 2, 2000), None);
        assert_eq!(tell(&mut lines, 0, SECOND, 10, 2, 2001).as_deref(), Some("2.00s: 30.0/s"));
    }

    #[test]
    fn a_thread_that_has_ended_is_waited_for_no_more() {
        let mut lines = SecondLines::default();
        assert_eq!(tell(&mut lines, 0, SECOND, 10, 2, 1000), None);
        assert_eq!(tell(&mut lines, 0, SECOND, 10, 2, 1001).as_deref(), Some("1.00s: 20.0/s"));
        assert_eq!(tell(&mut lines, 1000, SECOND, 10, 1, 2000).as_deref(), Some("2.00s: 10.0/s"));
    }
}
