//! What a stack takes for an answer while nothing else is asked of it, before its load and behind it.

use driver::Control;
use plan::stack::Endpoint;
use record::IdleAnswers;
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
    pause: Duration::ZERO,
    answer_max: ANSWER_MAX,
};
/// What is asked of a warm stack that is idle again: a hundred answers tell the mean of exponential times to a fifth. A slow
/// one gives fewer, thirty at 0.1 s each, and a very slow one five.
const WARM: IdleAsking = IdleAsking {
    most: 100,
    least: 5,
    wait: Duration::from_secs(3),
    wait_max: Duration::from_secs(15),
    pause: Duration::ZERO,
    answer_max: ANSWER_MAX,
};
/// What is asked of it then, with a rest before each: a few, since they are told from the others only where they take a part
/// of their time.
const RESTED: IdleAsking = IdleAsking { most: 5, wait: Duration::from_secs(2), ..COLD };
/// A rest, in mean answers: what lets one through in each of them has two to give away by then.
const REST_ANSWERS: f64 = 2.0;
/// The longest rest. Of what takes longer, requests that come by themselves are none that anybody waits between.
const REST_MAX: Duration = Duration::from_millis(300);

/// A stack that is up and idle.
pub(crate) struct AskedIdle<'a> {
    pub(crate) running: &'a Running,
    pub(crate) endpoint: &'a Endpoint,
    pub(crate) interrupt: &'a Control,
}

/// What answers of a warm stack took.
pub(crate) struct Warm {
    pub(crate) shortest_us: Option<f64>,
    pub(crate) all: Option<IdleAnswers>,
}

impl AskedIdle<'_> {
    /// What an answer takes before the load: the shortest of a few, of which `first_us` is one.
    pub(crate) fn shortest_cold_us(&self, first_us: f64) -> f64 {
        self.answers(&COLD).iter().map(|it| it.as_micros_f64()).fold(first_us, f64::min)
    }

    /// What answers take once the stack is warm, and idle again: one right behind the other, and some of them rested.
    pub(crate) fn warm(&self) -> Warm {
        // The first may have waited for what the load left behind.
        self.answers(&IdleAsking { most: 1, ..WARM });
        let times = self.answers(&WARM);
        let rested = rest(&times).map(|pause| self.answers(&IdleAsking { pause, ..RESTED }));
        Warm {
            shortest_us: times.iter().min().map(|it| it.as_micros_f64()),
            all: IdleAnswers::of(&times, &rested.unwrap_or_default()),
        }
    }

    fn answers(&self, asking: &IdleAsking) -> Vec<Duration> {
        let Self { running, endpoint, interrupt } = self;
        stack::idle_answers(running.addr(), endpoint, asking, &|| interrupt.is_interrupted())
    }
}

/// How long to rest before an answer of a stack that took these times; `None` where it is too slow for that, or did not answer.
fn rest(times: &[Duration]) -> Option<Duration> {
    let mean_s = times.iter().map(|it| it.as_secs_f64()).sum::<f64>() / times.len() as f64;
    let pause_s = Some(REST_ANSWERS * mean_s).filter(|it| it.is_finite() && *it <= REST_MAX.as_secs_f64())?;
    Some(Duration::from_secs_f64(pause_s))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rest_is_twice_the_mean_answer_where_that_is_short() {
        let of = |ms: &[u64]| rest(&ms.iter().copied().map(Duration::from_millis).collect::<Vec<_>>());
        assert_eq!(of(&[1, 2, 3]), Some(Duration::from_millis(4)));
        assert_eq!(of(&[150]), Some(Duration::from_millis(300)));
        assert_eq!(of(&[200, 400]), None);
        assert_eq!(of(&[]), None);
    }
}
