//! Every sample of a load, for whoever writes them down.
//!
//! A load thread fills blocks of samples and does no more than that; another thread is given them and writes. What is
//! under way is bounded. Where the disk is slower than the load, samples are lost and counted, since to wait for it would
//! delay requests and to keep all would fill the memory. A load without a tap is compiled without a trace of it.

use std::sync::mpsc::{Receiver, Sender, channel};

use engine::{Sample, Sink, Window};
use units::Instant;

use crate::feed::Feed;

/// Samples of a block: some 100 KB.
const BLOCK_SAMPLES: usize = 1024;
/// Blocks of one load thread: some 12 MB, and a second of a fast load. Made only as the writer falls behind.
const BLOCKS_MAX: usize = 128;

/// The load threads' end. Samples end when it is gone.
#[derive(Debug)]
pub struct SampleTap(Sender<Block>);

/// The other end.
#[derive(Debug)]
pub struct Samples(Receiver<Block>);

/// What became of the samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Kept {
    /// Written.
    pub written: u64,
    /// Not written, because the writer was too far behind.
    pub lost: u64,
}

/// Both ends. The samples are those of requests that were due within the load's window, as its outcomes are.
pub fn samples() -> (SampleTap, Samples) {
    // Without a bound of its own: it holds the blocks that there are, and of those there are so many at most.
    let (sender, blocks) = channel();
    (SampleTap(sender), Samples(blocks))
}

/// Samples on their way, and the way back for the memory.
#[derive(Debug)]
struct Block {
    thread: u32,
    samples: Vec<Sample>,
    lost: u64,
    back: Sender<Vec<Sample>>,
}

impl SampleTap {
    pub(crate) fn tap(&self, thread: u32) -> Tap {
        let (back, empty) = channel();
        let current = Vec::with_capacity(BLOCK_SAMPLES);
        Tap { thread, current, blocks: 1, lost: 0, full: self.0.clone(), back, empty }
    }
}

/// Where one load thread puts its samples.
#[derive(Debug)]
pub(crate) struct Tap {
    thread: u32,
    current: Vec<Sample>,
    /// Blocks that were made.
    blocks: usize,
    /// Samples that found no room since the last block went.
    lost: u64,
    full: Sender<Block>,
    back: Sender<Vec<Sample>>,
    empty: Receiver<Vec<Sample>>,
}

impl Tap {
    /// A sink that fills `feed` and this.
    pub(crate) fn beside(self, feed: Feed) -> Tapped {
        Tapped { feed, tap: self }
    }

    fn record(&mut self, sample: &Sample) {
        if self.current.len() == BLOCK_SAMPLES {
            let Some(empty) = self.next_block() else {
                self.lost += 1;
                return;
            };
            self.send(empty);
        }
        self.current.push(*sample);
    }

    /// The same for so many that are alike. Once there is no room, the rest is lost at once: there may be thousands of
    /// millions of them.
    fn record_many(&mut self, sample: &Sample, count: u64) {
        for recorded in 0..count {
            let lost = self.lost;
            self.record(sample);
            if self.lost > lost {
                self.lost += count - recorded - 1;
                return;
            }
        }
    }

    fn next_block(&mut self) -> Option<Vec<Sample>> {
        if let Ok(empty) = self.empty.try_recv() {
            return Some(empty);
        }
        let may_grow = self.blocks < BLOCKS_MAX;
        self.blocks += usize::from(may_grow);
        may_grow.then(|| Vec::with_capacity(BLOCK_SAMPLES))
    }

    /// Sends the block at hand and goes on with `next`.
    fn send(&mut self, next: Vec<Sample>) {
        let samples = std::mem::replace(&mut self.current, next);
        let (thread, lost, back) = (self.thread, std::mem::take(&mut self.lost), self.back.clone());
        // The receiver is gone only if its thread panicked; then there is nobody to tell.
        let _ = self.full.send(Block { thread, samples, lost, back });
    }
}

/// A feed with a tap beside it.
pub(crate) struct Tapped {
    feed: Feed,
    tap: Tap,
}

impl Tapped {
    /// Sends off what is left of the samples, and gives the feed back.
    pub(crate) fn into_feed(mut self) -> Feed {
        self.tap.send(Vec::new());
        self.feed
    }
}

impl Sink for Tapped {
    #[expect(clippy::inline_always, reason = "on the path of every request")]
    #[inline(always)]
    fn record(&mut self, sample: &Sample) {
        self.feed.record(sample);
        if sample.due_in_window {
            self.tap.record(sample);
        }
    }

    fn record_many(&mut self, sample: &Sample, count: u64) {
        self.feed.record_many(sample, count);
        if sample.due_in_window {
            self.tap.record_many(sample, count);
        }
    }

    fn tick(&mut self, now: Instant, window: Window) {
        self.feed.tick(now, window);
    }
}

impl Samples {
    /// Gives each sample, with the number of the load thread that made it, to `write` until the load has ended.
    ///
    /// # Errors
    /// The first of `write`, which is given nothing more after it; the load goes on all the same.
    pub fn keep<E>(self, mut write: impl FnMut(u32, &Sample) -> Result<(), E>) -> Result<Kept, E> {
        let mut kept = Kept::default();
        let mut failed = None;
        while let Ok(Block { thread, mut samples, lost, back }) = self.0.recv() {
            kept.lost += lost;
            for sample in &samples {
                if failed.is_none() {
                    failed = write(thread, sample).err();
                    kept.written += u64::from(failed.is_none());
                }
            }
            samples.clear();
            // A thread that has ended takes nothing back.
            let _ = back.send(samples);
        }
        failed.map_or(Ok(kept), Err)
    }
}

#[cfg(test)]
mod tests {
    use engine::Outcome;
    use units::Duration;

    use super::*;

    fn sample(outcome: Outcome) -> Sample {
        let at_ms = |ms| Instant::ORIGIN + Duration::from_millis(ms);
        Sample {
            intended: at_ms(100),
            ready: at_ms(102),
            sent: None,
            done: at_ms(150),
            first_byte: None,
            arrived: None,
            outcome,
            received_bytes: 120,
            due_in_window: true,
            done_in_window: true,
        }
    }

    fn kept(samples: Samples) -> Kept {
        samples.keep(|_, _| Ok::<(), ()>(())).unwrap()
    }

    #[test]
    fn samples_come_in_order_with_their_thread() {
        let (rows, samples) = samples();
        let mut tap = rows.tap(2);
        let outcomes = [Outcome::TimedOut, Outcome::Reset, Outcome::Unsent];
        for outcome in outcomes {
            tap.record(&sample(outcome));
        }
        tap.send(Vec::new());
        drop((rows, tap));
        let mut came = Vec::new();
        let all = samples.keep(|thread, sample| {
            came.push((thread, sample.outcome));
            Ok::<(), ()>(())
        });
        assert_eq!(all, Ok(Kept { written: 3, lost: 0 }));
        assert_eq!(came, outcomes.map(|outcome| (2, outcome)));
    }

    #[test]
    fn what_the_writer_does_not_keep_up_with_is_counted_and_memory_is_bounded() {
        let (rows, samples) = samples();
        let mut tap = rows.tap(0);
        let room = (BLOCKS_MAX * BLOCK_SAMPLES) as u64;
        let one = sample(Outcome::Answered { status: 200, expected: true });
        for _ in 0..room + 7 {
            tap.record(&one);
        }
        tap.send(Vec::new());
        drop((rows, tap));
        assert_eq!(kept(samples), Kept { written: room, lost: 7 });
    }

    /// One by one, it would take the load thread for minutes.
    #[test]
    fn samples_of_an_overwhelmed_generator_are_lost_at_once() {
        let (rows, samples) = samples();
        let mut tap = rows.tap(0);
        let room = (BLOCKS_MAX * BLOCK_SAMPLES) as u64;
        tap.record_many(&sample(Outcome::Unsent), 3);
        tap.record_many(&sample(Outcome::Unsent), 100_000_000_000);
        tap.send(Vec::new());
        drop((rows, tap));
        assert_eq!(kept(samples), Kept { written: room, lost: 100_000_000_003 - room });
    }

    #[test]
    fn a_failure_to_write_is_told_and_blocks_go_back_all_the_same() {
        let (rows, samples) = samples();
        let mut tap = rows.tap(0);
        let one = sample(Outcome::TimedOut);
        for _ in 0..BLOCK_SAMPLES * 3 {
            tap.record(&one);
        }
        tap.send(Vec::new());
        drop(rows);
        let (empty, back) = (tap.empty, tap.back);
        drop((tap.full, back));
        let mut asked = 0;
        let told = samples.keep(|_, _| {
            asked += 1;
            if asked == 2 { Err("full") } else { Ok(()) }
        });
        assert_eq!((told, asked), (Err("full"), 2), "nothing is written after it");
        assert_eq!(empty.iter().count(), 3);
    }
}
