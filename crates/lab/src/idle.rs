//! What a stack takes for an answer while nothing else is asked of it, before its load and behind it.

use driver::Control;
use plan::stack::Endpoint;
use stack::{IdleAsking, Running};
use units::Duration;

/// How long one answer may take.
const ANSWER_MAX: Duration = Duration::from_secs(5);
/// What is asked of a stack that was not loaded yet: its first answer loads classes and opens connections, so it is not alone.
const COLD: IdleAsking = IdleAsking {
    most: 5,
    least: 1,
    wait: Duration::from_secs(1),
    wait_max: Duration::from_secs(1),
    answer_max: ANSWER_MAX,
};
/// What is asked of a warm stack that is idle again: a hundred answers tell the mean of exponential times to a fifth. A slow
/// one gives fewer, thirty at 0.1 s each, and a very slow one five.
const WARM: IdleAsking = IdleAsking {
    most: 100,
    least: 5,
    wait: Duration::from_secs(3),
    wait_max: Duration::from_secs(15),
    answer_max: ANSWER_MAX,
};
/// A stack that is up and idle.
pub(crate) struct AskedIdle<'a> {
    pub(crate) running: &'a Running,
    pub(crate) endpoint: &'a Endpoint,
    pub(crate) interrupt: &'a Control,
}

impl AskedIdle<'_> {
    /// What an answer takes before the load: the shortest of a few, of which `first_us` is one.
    pub(crate) fn shortest_cold_us(&self, first_us: f64) -> f64 {
        self.answers(&COLD).iter().map(|it| it.as_micros_f64()).fold(first_us, f64::min)
    }

    /// What answers take once the stack is warm, and idle again.
    pub(crate) fn warm(&self) -> Vec<Duration> {
        // The first may have waited for what the load left behind.
        self.answers(&IdleAsking { most: 1, ..WARM });
        self.answers(&WARM)
    }

    fn answers(&self, asking: &IdleAsking) -> Vec<Duration> {
        let Self { running, endpoint, interrupt } = self;
        stack::idle_answers(running.addr(), endpoint, asking, &|| interrupt.is_interrupted())
    }
}
