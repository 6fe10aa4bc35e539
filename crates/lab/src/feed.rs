//! From a load's own thread to the thread that keeps the books.
//!
//! The load thread only ever fills the interval at hand; once a second it swaps it for an empty one and
//! sends it off. Merging, serialising and showing cost the load nothing but the memory bus.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use engine::{Sample, Sink, Window};
use stats::{Interval, RateSample};
use units::{Duration, Instant};

/// Length of an interval.
pub(crate) const INTERVAL: Duration = Duration::from_secs(1);
/// How often a thread notes how many answers have come: wrk's period, since its `Req/Sec` is made of that.
const RATE_SPAN: Duration = Duration::from_millis(100);
/// Samples of the rate that go with an interval: all of it. Where it gets longer, its last sample does.
const RATE_SAMPLES_MAX: usize = (INTERVAL.as_nanos() / RATE_SPAN.as_nanos()) as usize;
/// Intervals that are under way between the threads. When the books fall behind by as many, the load
/// thread goes on filling the one it has: an interval gets longer, no sample is lost.
const INTERVALS_UNDER_WAY: usize = 3;

/// A full interval of one thread.
pub(crate) struct Filled {
    pub(crate) thread: u32,
    pub(crate) from: Instant,
    pub(crate) to: Instant,
    pub(crate) interval: Box<Interval>,
    pub(crate) rates: RateSamples,
    /// Whether the thread has ended with it.
    pub(crate) ends: bool,
}

/// The rate within an interval, a tenth of a second at a time.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RateSamples {
    samples: [RateSample; RATE_SAMPLES_MAX],
    count: usize,
}

impl RateSamples {
    pub(crate) fn as_slice(&self) -> &[RateSample] {
        &self.samples[..self.count]
    }

    fn add(&mut self, sample: RateSample) {
        if let Some(place) = self.samples.get_mut(self.count) {
            *place = sample;
            self.count += 1;
        } else {
            let last = &mut self.samples[RATE_SAMPLES_MAX - 1];
            last.answered += sample.answered;
            last.span += sample.span;
        }
    }
}

/// The load thread's end.
pub(crate) struct Feed {
    thread: u32,
    current: Box<Interval>,
    from: Instant,
    /// When the interval at hand is over.
    interval_end: Instant,
    rates: RateSamples,
    /// Up to when the rate has been sampled, and how many answers the interval at hand held then.
    sampled_to: Instant,
    sampled: u64,
    /// When the rate is to be sampled next; every end of an interval is such an instant.
    boundary: Instant,
    filled: SyncSender<Filled>,
    empty: Receiver<Box<Interval>>,
}

/// The way back for one thread's emptied intervals.
pub(crate) type Return = SyncSender<Box<Interval>>;

impl Feed {
    /// A feed for `thread` into `filled`, and the way back for its intervals.
    pub(crate) fn new(thread: u32, filled: SyncSender<Filled>) -> (Self, Return) {
        let (back, empty) = sync_channel(INTERVALS_UNDER_WAY);
        for _ in 0..INTERVALS_UNDER_WAY - 1 {
            back.send(Box::default()).expect("the channel has room for all");
        }
        let never = Instant::FAR_FUTURE;
        let feed = Self {
            thread,
            current: Box::default(),
            from: never,
            interval_end: never,
            rates: RateSamples::default(),
            sampled_to: never,
            sampled: 0,
            boundary: never,
            filled,
            empty,
        };
        (feed, back)
    }

    /// How many filled intervals `threads` feeds may have under way.
    pub(crate) fn channel_bound(threads: usize) -> usize {
        threads * INTERVALS_UNDER_WAY
    }

    /// Sends off what is left at the end of the load, whose measured window ended at `window_end`.
    pub(crate) fn finish(mut self, now: Instant, window_end: Instant) {
        let until = now.min(window_end);
        // A stub of a sample says nothing of a rate.
        if until.since(self.sampled_to) >= RATE_SPAN / 2 {
            self.sample_rate(until);
        }
        let interval = std::mem::take(&mut self.current);
        let from = self.from.min(now);
        let (thread, rates) = (self.thread, self.rates);
        // The receiver is gone only if its thread panicked; then there is nobody to tell.
        let _ = self.filled.send(Filled { thread, from, to: now, interval, rates, ends: true });
    }

    fn sample_rate(&mut self, until: Instant) {
        let span = until.since(self.sampled_to);
        // Beyond the end of the window there is no rate.
        if span.is_zero() {
            return;
        }
        let answered = self.current.tally.answered;
        self.rates.add(RateSample { answered: answered - self.sampled, span });
        (self.sampled_to, self.sampled) = (until, answered);
    }

    /// Swaps the interval at hand, which goes up to `to`, for an empty one, if one is there.
    fn hand_over(&mut self, to: Instant) {
        let Ok(empty) = self.empty.try_recv() else { return };
        let interval = std::mem::replace(&mut self.current, empty);
        let rates = std::mem::take(&mut self.rates);
        let (thread, from) = (self.thread, self.from);
        self.from = to;
        self.sampled = 0;
        // Never blocks: the channel has room for every interval there is.
        let _ = self.filled.send(Filled { thread, from, to, interval, rates, ends: false });
    }

    /// Ten times a second.
    #[cold]
    fn at_boundary(&mut self, now: Instant, window: Window) {
        self.sample_rate(now.min(window.end));
        while self.boundary <= now {
            self.boundary = self.boundary + RATE_SPAN;
        }
        if now < self.interval_end {
            return;
        }
        // A thread that was held up has passed several, and the interval at hand goes up to the last of them: as the first alone
        // it would be too short for what is in it, and the next one too long.
        let mut to = self.interval_end;
        while to + INTERVAL <= now {
            to = to + INTERVAL;
        }
        self.hand_over(to);
        self.interval_end = to + INTERVAL;
    }
}

impl Sink for Feed {
    #[expect(clippy::inline_always, reason = "on the path of every request")]
    #[inline(always)]
    fn record(&mut self, sample: &Sample) {
        self.current.record(sample);
    }

    fn record_many(&mut self, sample: &Sample, count: u64) {
        self.current.record_many(sample, count);
    }

    fn tick(&mut self, now: Instant, window: Window) {
        if self.boundary == Instant::FAR_FUTURE && window.start != Instant::FAR_FUTURE {
            (self.from, self.sampled_to) = (window.start, window.start);
            self.interval_end = window.start + INTERVAL;
            self.boundary = window.start + RATE_SPAN;
        }
        if now >= self.boundary {
            self.at_boundary(now, window);
        }
    }
}

#[cfg(test)]
mod tests {
    use engine::Outcome;

    use super::*;

    fn at_ms(ms: u64) -> Instant {
        Instant::ORIGIN + Duration::from_millis(ms)
    }

    fn answer(feed: &mut Feed, ms: u64) {
        feed.record(&Sample {
            intended: at_ms(ms),
            ready: at_ms(ms),
            sent: Some(at_ms(ms)),
            done: at_ms(ms),
            first_byte: None,
            arrived: None,
            outcome: Outcome::Answered { status: 200, expected: true },
            received_bytes: 1,
            due_in_window: true,
            done_in_window: true,
        });
    }

    /// Answers, and over how many milliseconds.
    fn shown(filled: &Filled) -> Vec<(u64, u64)> {
        let samples = filled.rates.as_slice().iter();
        samples.map(|it| (it.answered, it.span.as_nanos() / 1_000_000)).collect()
    }

    #[test]
    fn every_tenth_of_a_second_is_a_sample_also_without_an_answer_and_none_is_behind_the_window() {
        let (filled, intervals) = sync_channel(Feed::channel_bound(1));
        let (mut feed, _back) = Feed::new(0, filled);
        let window = Window { start: at_ms(0), end: at_ms(1250) };
        for ms in (0..=1400).step_by(50) {
            if !(100..1000).contains(&ms) {
                answer(&mut feed, ms);
            }
            feed.tick(at_ms(ms), window);
        }
        feed.finish(at_ms(1400), window.end);
        let [second, rest] = [intervals.recv().unwrap(), intervals.recv().unwrap()];
        // What comes with the turn that ends a stretch is in it.
        let mut expected = [(0, 100); 10];
        (expected[0], expected[9]) = ((2, 100), (1, 100));
        assert_eq!(shown(&second), expected);
        assert_eq!(shown(&rest), [(2, 100), (2, 100), (2, 50)]);
        assert_eq!(second.interval.tally.answered + rest.interval.tally.answered, 11);
    }

    #[test]
    fn what_a_thread_did_that_was_held_up_is_of_all_that_time() {
        let (filled, intervals) = sync_channel(Feed::channel_bound(1));
        let (mut feed, _back) = Feed::new(0, filled);
        let window = Window { start: at_ms(0), end: Instant::FAR_FUTURE };
        for ms in (0..=1200).step_by(100).chain([4700, 4800, 4900]) {
            answer(&mut feed, ms);
            feed.tick(at_ms(ms), window);
        }
        feed.finish(at_ms(4900), at_ms(4900));
        let ms = |at: Instant| at.since(Instant::ORIGIN).as_nanos() / 1_000_000;
        let all = intervals.iter().map(|it| (ms(it.from), ms(it.to), it.interval.tally.answered));
        assert_eq!(all.collect::<Vec<_>>(), [(0, 1000, 11), (1000, 4000, 3), (4000, 4900, 2)]);
    }

    #[test]
    fn where_the_books_fall_behind_the_last_sample_gets_longer() {
        let (filled, intervals) = sync_channel(Feed::channel_bound(1));
        let (mut feed, _back) = Feed::new(0, filled);
        let window = Window { start: at_ms(0), end: Instant::FAR_FUTURE };
        // Nobody gives intervals back: after those at hand, one goes on.
        for ms in (0..=4000).step_by(100) {
            answer(&mut feed, ms);
            feed.tick(at_ms(ms), window);
        }
        feed.finish(at_ms(4000), at_ms(4000));
        let all: Vec<Filled> = intervals.iter().collect();
        assert_eq!(all.len(), INTERVALS_UNDER_WAY);
        let last = shown(&all[INTERVALS_UNDER_WAY - 1]);
        assert_eq!((last.len(), last[9]), (RATE_SAMPLES_MAX, (11, 1100)));
        let sum: u64 = all.iter().flat_map(shown).map(|(answered, _)| answered).sum();
        assert_eq!(sum, 41);
    }
}
