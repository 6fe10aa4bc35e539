//! How long an idle stack takes for an answer: asked one thing at a time, while nobody else asks.

use std::net::SocketAddr;
use std::time::Instant;

use plan::stack::Endpoint;
use units::Duration;

use crate::contract::ask;

/// How often an endpoint is asked, and how long that may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdleAsking {
    /// Answers at most.
    pub most: u32,
    /// Answers that are worth a longer wait.
    pub least: u32,
    /// No answer is begun later than this, once there are `least`.
    pub wait: Duration,
    /// No answer is begun later than this.
    pub wait_max: Duration,
    /// How long to rest before each.
    pub pause: Duration,
    /// How long one answer may take.
    pub answer_max: Duration,
}

impl IdleAsking {
    /// Whether another answer is worth asking for.
    const fn goes_on(&self, answers: usize, elapsed: Duration) -> bool {
        let is_in_time = elapsed.as_nanos() < self.wait.as_nanos()
            || (answers < self.least as usize && elapsed.as_nanos() < self.wait_max.as_nanos());
        answers < self.most as usize && is_in_time
    }
}

/// The times of answers one after the other, each on a connection of its own, in their order. Ends where one is not the
/// expected status or is none at all, and when `is_over`.
pub fn idle_answers(
    addr: SocketAddr,
    endpoint: &Endpoint,
    asking: &IdleAsking,
    is_over: &dyn Fn() -> bool,
) -> Vec<Duration> {
    let begun = Instant::now();
    let mut times = Vec::new();
    while asking.goes_on(times.len(), begun.elapsed().into()) && !is_over() {
        std::thread::sleep(asking.pause.into());
        match ask(addr, &endpoint.path, asking.answer_max) {
            Ok((_, answer, took)) if answer.status == endpoint.status => times.push(took),
            _ => break,
        }
    }
    times
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKING: IdleAsking = IdleAsking {
        most: 100,
        least: 5,
        wait: Duration::from_secs(3),
        wait_max: Duration::from_secs(15),
        pause: Duration::ZERO,
        answer_max: Duration::from_secs(5),
    };

    #[test]
    fn a_slow_server_gives_fewer_and_a_very_slow_one_a_few() {
        let given = |took_ms: u64| {
            let mut answers = 0;
            while ASKING.goes_on(answers, Duration::from_millis(took_ms * answers as u64)) {
                answers += 1;
            }
            answers
        };
        let all = [1, 30, 100, 1_000, 4_000, 20_000].map(given);
        assert_eq!(all, [100, 100, 30, 5, 4, 1]);
    }
}
