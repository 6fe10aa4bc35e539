//! What the tests of the engine start from.

use std::num::NonZeroU32;

use engine::{Begin, Config, Expect, Load, Request, Reuse, Share, Stop, Timeouts};
use http::{Limits, RequestKind};
use units::{Duration, Seed};

/// `load` on so many connections that are kept, without a warm-up and for `duration` at most; nothing may take longer
/// than a second, and nothing is awaited after the end.
pub fn config(connections: u32, load: Load, duration: Duration) -> Config {
    let second = Duration::from_secs(1);
    Config {
        connections: NonZeroU32::new(connections).expect("one connection at least"),
        load,
        stop: Stop { duration, requests: None },
        warm_up: Duration::ZERO,
        begin: Begin::WhenOpen,
        timeouts: Timeouts { connect: second, request: second, idle: Duration::MAX, drain: Duration::ZERO },
        reuse: Reuse::KeepAlive,
        request: Request { bytes: b"GET / HTTP/1.1\r\n\r\n"[..].into(), kind: RequestKind::Ordinary },
        expect: Expect::default(),
        keep_wrong: 0,
        limits: Limits::default(),
        seed: Seed(0),
        share: Share::WHOLE,
        requests_of_all: None,
    }
}
