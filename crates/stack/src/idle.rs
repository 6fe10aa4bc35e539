//! How long an idle stack takes for an answer: asked one thing at a time, while nobody else asks.

use std::sync::RwLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Instant;

use plan::stack::Endpoint;
use units::Duration;

use crate::client::{At, Client};
use crate::contract::ask;
use crate::running::Running;

/// Requests of a burst at most: a thread each.
pub const BURST_MAX: u32 = 64;
/// How long connecting may take: who has no room for so many connections at once is none to send a burst to.
const CONNECT_MAX: std::time::Duration = std::time::Duration::from_secs(1);
/// Between two looks at whether all are connected.
const CONNECTING: std::time::Duration = std::time::Duration::from_micros(200);

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
    running: &Running,
    endpoint: &Endpoint,
    asking: &IdleAsking,
    is_over: &dyn Fn() -> bool,
) -> Vec<Duration> {
    answers(asking, is_over, || {
        let (_, answer, took) = ask(running.at(), &endpoint.path, asking.answer_max).ok()?;
        (answer.status == endpoint.status).then_some(took)
    })
}

/// The same of one connection that is kept, without the answer that opens it.
pub fn kept_answers(
    running: &Running,
    endpoint: &Endpoint,
    asking: &IdleAsking,
    is_over: &dyn Fn() -> bool,
) -> Vec<Duration> {
    kept_at(running.at(), endpoint, asking, is_over)
}

fn kept_at(at: &At, endpoint: &Endpoint, asking: &IdleAsking, is_over: &dyn Fn() -> bool) -> Vec<Duration> {
    let Ok((mut client, _, _)) = ask(at, &endpoint.path, asking.answer_max) else { return Vec::new() };
    answers(asking, is_over, || {
        let begun = Instant::now();
        let answer = client.get(&endpoint.path, begun + std::time::Duration::from(asking.answer_max)).ok()?;
        (answer.status == endpoint.status).then(|| begun.elapsed().into())
    })
}

/// The times that `one` tells, until it tells none.
fn answers(
    asking: &IdleAsking,
    is_over: &dyn Fn() -> bool,
    mut one: impl FnMut() -> Option<Duration>,
) -> Vec<Duration> {
    let begun = Instant::now();
    let mut times = Vec::new();
    while asking.goes_on(times.len(), begun.elapsed().into()) && !is_over() {
        thread::sleep(asking.pause.into());
        let Some(took) = one() else { break };
        times.push(took);
    }
    times
}

/// When each of `count` requests ([`BURST_MAX`] at most) was answered that are sent at once, each on a connection of its own that
/// is open by then. Those that failed are missing; all are, and nothing was asked, where connecting took longer than a second.
pub fn burst_answers(
    running: &Running,
    endpoint: &Endpoint,
    count: u32,
    answer_max: Duration,
) -> Vec<Duration> {
    burst_at(running.at(), endpoint, count, answer_max)
}

fn burst_at(at: &At, endpoint: &Endpoint, count: u32, answer_max: Duration) -> Vec<Duration> {
    let count = count.min(BURST_MAX);
    let connect_by = Instant::now() + CONNECT_MAX;
    let deadline = connect_by + std::time::Duration::from(answer_max);
    let (gate, connected, tried) = (RwLock::new(()), AtomicU32::new(0), AtomicU32::new(0));
    let are_all = || connected.load(Ordering::Relaxed) == count;
    let answered_at = || {
        let client = Client::connect(at, connect_by);
        connected.fetch_add(u32::from(client.is_ok()), Ordering::Relaxed);
        tried.fetch_add(1, Ordering::Relaxed);
        // Opened for all of them together. That it is poisoned can't be: nobody panics who holds it.
        drop(gate.read());
        let mut client = client.ok().filter(|_| are_all())?;
        let answer = client.get(&endpoint.path, deadline).ok()?;
        (answer.status == endpoint.status).then(Instant::now)
    };
    thread::scope(|scope| {
        let closed = gate.write();
        let one = |_| thread::Builder::new().spawn_scoped(scope, answered_at).ok();
        let asking: Vec<_> = (0..count).filter_map(one).collect();
        while (tried.load(Ordering::Relaxed) as usize) < asking.len() {
            thread::sleep(CONNECTING);
        }
        let begun = Instant::now();
        drop(closed);
        let answers = asking.into_iter().filter_map(|one| one.join().ok().flatten());
        answers.map(|at| at.saturating_duration_since(begun).into()).collect()
    })
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use plan::stack::ConnectionUse;

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

    fn endpoint() -> Endpoint {
        Endpoint {
            name: "hello".into(),
            path: "/".into(),
            status: 200,
            body: None,
            delay: None,
            connection: ConnectionUse::KeepAlive,
            wire_bytes: None,
            framing: None,
            thread: None,
            upstream_connections_max: None,
        }
    }

    /// A server that answers every connection on a thread of its own, after `held`, so many of them.
    fn answering(connections: usize, held: std::time::Duration) -> At {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        thread::spawn(move || {
            for stream in listener.incoming().take(connections).flatten() {
                thread::spawn(move || {
                    let mut stream = stream;
                    let mut head = [0; 1024];
                    if stream.read(&mut head)? == 0 {
                        return Ok(());
                    }
                    thread::sleep(held);
                    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
                });
            }
        });
        At::plain(addr)
    }

    /// A server that answers at once on a new connection, and after `held` on one that it knows.
    fn holding_the_known(held: std::time::Duration) -> At {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept()?;
            let mut head = [0; 1024];
            for answered in 0.. {
                if stream.read(&mut head)? == 0 {
                    break;
                }
                thread::sleep(if answered == 0 { std::time::Duration::ZERO } else { held });
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")?;
            }
            std::io::Result::Ok(())
        });
        At::plain(addr)
    }

    #[test]
    fn a_connection_that_is_kept_is_asked_without_its_first_answer() {
        let held = std::time::Duration::from_millis(10);
        let asking = IdleAsking { most: 6, ..ASKING };
        let times = kept_at(&holding_the_known(held), &endpoint(), &asking, &|| false);
        assert_eq!(times.len(), 6);
        assert!(times.iter().all(|it| *it >= Duration::from(held)), "{times:?}");
        // Who closes behind each answer keeps none.
        let none = kept_at(&answering(1, held), &endpoint(), &asking, &|| false);
        assert!(none.is_empty(), "{none:?}");
    }

    #[test]
    fn a_burst_is_answered_as_soon_as_the_server_lets_it() {
        let held = std::time::Duration::from_millis(30);
        let endpoint = endpoint();
        let times = burst_at(&answering(8, held), &endpoint, 8, Duration::from_secs(5));
        assert_eq!(times.len(), 8);
        let is_held = |it: &Duration| *it >= Duration::from(held) && *it < Duration::from_secs(3);
        assert!(times.iter().all(is_held), "{times:?}");
        let none = burst_at(&answering(0, held), &endpoint, 3, Duration::from_millis(200));
        assert!(none.is_empty(), "nobody answers: {none:?}");
    }
}
