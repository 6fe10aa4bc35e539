//! The load that tests of drivers start from.

use engine::{Config, Expect};
use sim::{Scenario, ServerPlan};
use units::Duration;

/// What is sent.
pub const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// A closed load of `connections` users for two seconds at most.
pub fn config(connections: u32) -> Config {
    let server = ServerPlan::healthy(1, Duration::ZERO);
    let mut config = Scenario::closed(connections, Duration::from_secs(2), server).config;
    config.request.bytes = REQUEST.into();
    config.expect = Expect::default();
    config
}
