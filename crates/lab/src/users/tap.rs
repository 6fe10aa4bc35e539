//! Users' results on their way from the load thread to whoever writes them down.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use scenario::{Crowd, Report, StepSample, Transaction, Unsent, UserResult, What};
use units::Instant;

/// Results that are under way between the threads. When the other end falls behind by as many, the load thread waits for
/// it, and its users are late: that is seen as the generator's lag.
const UNDER_WAY_MAX: usize = 1 << 16;

/// The load thread's end. Results end when it is gone.
#[derive(Debug)]
pub struct ResultTap(SyncSender<UserResult>);

/// The other end.
#[derive(Debug)]
pub struct Results(Receiver<UserResult>);

/// Both ends.
pub fn tap() -> (ResultTap, Results) {
    let (sender, receiver) = sync_channel(UNDER_WAY_MAX);
    (ResultTap(sender), Results(receiver))
}

impl ResultTap {
    fn send(&self, crowd: &Crowd, user: u32, what: What) {
        // The other end is closed only where its thread has panicked; then there is nobody to tell.
        let _ = self.0.send(UserResult { crowd: *crowd, user, what });
    }
}

impl Report for ResultTap {
    fn sample(&mut self, crowd: &Crowd, user: u32, sample: &StepSample) {
        self.send(crowd, user, What::Sample(Box::new(sample.clone())));
    }

    fn unsent(&mut self, crowd: &Crowd, user: u32, unsent: &Unsent, now: Instant) {
        self.send(crowd, user, What::Unsent { unsent: unsent.clone(), at: now });
    }

    fn transaction(&mut self, crowd: &Crowd, user: u32, transaction: &Transaction) {
        self.send(crowd, user, What::Transaction(transaction.clone()));
    }
}

impl Results {
    /// The next result, in the order in which they came; `None` once the load has ended. Where it has to be waited for,
    /// `caught_up` is called before.
    pub fn wait(&mut self, caught_up: impl FnOnce()) -> Option<UserResult> {
        if let Ok(result) = self.0.try_recv() {
            return Some(result);
        }
        caught_up();
        self.0.recv().ok()
    }
}
