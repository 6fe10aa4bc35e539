//! How connections are opened before a load: no quicker than a server that is busy accepts them.

use std::convert::Infallible;

use engine::{Completion, Conn, Event, Io, Outgoing, Sending};
use sim::{Scenario, ServerPlan, SimIo, run_over};
use units::{Duration, Instant, Seed};

/// Tomcat's accept queue.
const QUEUE: u64 = 100;
/// What the server accepts a millisecond where something else uses its core half of the time.
const ACCEPTED_PER_MS: u64 = 10;

/// A network whose kernel opens connections by itself, as loopback does, and the accept queue behind it.
struct Loopback {
    io: SimIo,
    /// When what waits in the queue is accepted, all of it.
    empty_at: Instant,
    opened: u32,
    longest: u64,
}

impl Io for Loopback {
    type Error = Infallible;

    fn now(&self) -> Instant {
        self.io.now()
    }

    fn connect(&mut self, conn: Conn, target: Option<u32>) -> Option<Event<'static>> {
        let each = Duration::from_nanos(1_000_000 / ACCEPTED_PER_MS);
        self.empty_at = self.empty_at.max(self.now()) + each;
        self.longest = self.longest.max(self.empty_at.since(self.now()).as_nanos() / each.as_nanos());
        self.opened += 1;
        self.io.connect(conn, target)
    }

    fn send(&mut self, conn: Conn, bytes: Outgoing<'_>) -> Sending {
        self.io.send(conn, bytes)
    }

    fn close(&mut self, conn: Conn) {
        self.io.close(conn);
    }

    fn wait(&mut self, until: Option<Instant>) -> Result<(), Infallible> {
        self.io.wait(until)
    }

    fn next(&mut self) -> Option<(Instant, Completion<'_>)> {
        self.io.next()
    }
}

#[test]
fn the_accept_queue_of_a_busy_server_does_not_overflow() {
    const CONNECTIONS: u32 = 2_000;
    let mut plan = ServerPlan::healthy(50, Duration::from_millis(1));
    plan.network = Duration::from_micros(1);
    let scenario = Scenario::closed(CONNECTIONS, Duration::from_millis(100), plan.clone());
    let io = SimIo::new(plan, Seed(1));
    let mut loopback = Loopback { io, empty_at: Instant::ORIGIN, opened: 0, longest: 0 };
    let outcome = run_over(&scenario, &mut loopback, |it| &it.io);
    assert_eq!(loopback.opened, CONNECTIONS, "all of them, and each once");
    assert!(loopback.longest < QUEUE, "{} waited to be accepted", loopback.longest);
    let opening = outcome.window.start.since(Instant::ORIGIN);
    assert!(opening <= Duration::from_millis(260), "2000 connections take a quarter of a second: {opening}");
}
