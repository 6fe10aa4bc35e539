//! From a load's own thread to the thread that keeps the books.
//!
//! The load thread only ever fills the interval at hand; once a second it swaps it for an empty one and
//! sends it off. Merging, serialising and showing cost the load nothing but the memory bus.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use engine::{Sample, Sink, Window};
use stats::Interval;
use units::{Duration, Instant};

/// Length of an interval.
pub(crate) const INTERVAL: Duration = Duration::from_secs(1);
/// Intervals that are under way between the threads. When the books fall behind by as many, the load
/// thread goes on filling the one it has: an interval gets longer, no sample is lost.
const INTERVALS_UNDER_WAY: usize = 3;

/// A full interval of one thread.
pub(crate) struct Filled {
    pub(crate) thread: u32,
    pub(crate) from: Instant,
    pub(crate) to: Instant,
    pub(crate) interval: Box<Interval>,
}

/// The load thread's end.
pub(crate) struct Feed {
    thread: u32,
    current: Box<Interval>,
    from: Instant,
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
        (Self { thread, current: Box::default(), from: never, boundary: never, filled, empty }, back)
    }

    /// How many filled intervals `threads` feeds may have under way.
    pub(crate) fn channel_bound(threads: usize) -> usize {
        threads * INTERVALS_UNDER_WAY
    }

    /// Sends off what is left at the end of the load.
    pub(crate) fn finish(mut self, now: Instant) {
        let interval = std::mem::take(&mut self.current);
        let from = self.from.min(now);
        // The receiver is gone only if its thread panicked; then there is nobody to tell.
        let _ = self.filled.send(Filled { thread: self.thread, from, to: now, interval });
    }
}

impl Sink for Feed {
    #[expect(clippy::inline_always, reason = "on the path of every request")]
    #[inline(always)]
    fn record(&mut self, sample: &Sample) {
        self.current.record(sample);
    }

    fn tick(&mut self, now: Instant, window: Window) {
        if self.boundary == Instant::FAR_FUTURE && window.start != Instant::FAR_FUTURE {
            self.from = window.start;
            self.boundary = window.start + INTERVAL;
        }
        if now < self.boundary {
            return;
        }
        if let Ok(empty) = self.empty.try_recv() {
            let interval = std::mem::replace(&mut self.current, empty);
            let (from, to) = (self.from, self.boundary);
            self.from = self.boundary;
            // Never blocks: the channel has room for every interval there is.
            let _ = self.filled.send(Filled { thread: self.thread, from, to, interval });
        }
        while self.boundary <= now {
            self.boundary = self.boundary + INTERVAL;
        }
    }
}
