//! Nobody is given up before all is looked at that came in time, however many looks that takes.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::num::NonZeroU64;

use engine::{Completion, Conn, Engine, Event, Io, Load, Outgoing, Sample, Sending, drive};
use units::{Duration, Instant};

use crate::common;

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const CONNECTIONS: u32 = 100;
/// Connections that one wait finds: a third of them.
const A_WAIT: usize = 34;
/// `common::config` gives up after a second.
const HELD_UP: Duration = Duration::from_millis(1500);
/// How long the answers lie in the kernel, which had them in time.
const LAY: Duration = Duration::from_millis(1100);

/// A thread that is held up in its first wait for answers, and a kernel that had all of them long before the timeout. A wait finds
/// those of some connections.
#[derive(Default)]
struct HeldUp {
    now: Instant,
    has_been: bool,
    /// Connections whose answer lies in the kernel, and those that the last wait found.
    unseen: VecDeque<Conn>,
    found: VecDeque<Conn>,
    /// Waits for answers.
    waits: u32,
}

impl Io for HeldUp {
    type Error = Infallible;

    fn now(&self) -> Instant {
        self.now
    }

    fn connect(&mut self, _: Conn, _: Option<u32>) -> Option<Event<'static>> {
        Some(Event::Connected)
    }

    fn send(&mut self, conn: Conn, _: Outgoing<'_>) -> Sending {
        self.unseen.push_back(conn);
        Sending::Done
    }

    fn close(&mut self, conn: Conn) {
        self.unseen.retain(|other| *other != conn);
    }

    fn wait(&mut self, until: Option<Instant>) -> Result<(), Infallible> {
        if self.unseen.is_empty() {
            self.now = self.now.max(until.expect("the engine waits for nothing"));
            return Ok(());
        }
        self.waits += 1;
        if !std::mem::replace(&mut self.has_been, true) {
            self.now = self.now + HELD_UP;
        }
        let batch = self.unseen.len().min(A_WAIT);
        self.found.extend(self.unseen.drain(..batch));
        Ok(())
    }

    fn next(&mut self) -> Option<(Instant, Completion<'_>)> {
        let conn = self.found.pop_front()?;
        let (event, arrived) = (Event::Received(ANSWER), Some(self.now - LAY));
        Some((self.now, Completion { conn, event, arrived }))
    }

    fn has_more(&self) -> bool {
        !self.unseen.is_empty()
    }
}

#[test]
fn what_one_look_does_not_find_the_next_one_does() {
    let mut config = common::config(CONNECTIONS, Load::SATURATING, Duration::from_secs(60));
    config.stop.requests = NonZeroU64::new(u64::from(CONNECTIONS));
    let mut samples = Vec::new();
    let sink = |sample: &Sample| samples.push(*sample);
    let mut engine = Engine::new(config, sink, Instant::ORIGIN);
    let mut io = HeldUp::default();
    let Ok(()) = drive(&mut engine, &mut io, |_, _| None);
    drop(engine);
    assert_eq!(samples.len(), CONNECTIONS as usize);
    assert!(samples.iter().all(|sample| sample.outcome.is_answered()), "{samples:?}");
    assert!(samples.iter().all(|sample| sample.receive_lag() == Some(LAY)), "{samples:?}");
    assert_eq!(io.waits, 3, "the one that was held up, and no more looks than find something");
}
