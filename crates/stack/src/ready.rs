//! Whether a server is ready: what it is asked for, one try at a time.

use std::time::{Duration as StdDuration, Instant};

use plan::stack::ReadyWhen;

use crate::client::{At, Client};

/// One try.
const ASK_TIMEOUT: StdDuration = StdDuration::from_secs(2);
/// Between two tries.
pub(crate) const ASK_EVERY: StdDuration = StdDuration::from_millis(10);

/// Whether it is up, or how the try ended.
pub(crate) fn try_once(when: &ReadyWhen, at: &At, deadline: Instant) -> Result<(), String> {
    let deadline = deadline.min(Instant::now() + ASK_TIMEOUT);
    match when {
        ReadyWhen::Accepts => {
            let connected = Client::connect(&At::plain(at.addr), deadline);
            connected.map(drop).map_err(|failure| failure.to_string())
        }
        ReadyWhen::Answers { path, status } => {
            let answer = Client::connect(at, deadline).and_then(|mut client| client.get(path, deadline));
            match answer.map_err(|failure| failure.to_string())?.status {
                got if got == *status => Ok(()),
                got => Err(format!("was answered with status {got} instead of {status}")),
            }
        }
    }
}

pub(crate) fn asked(when: &ReadyWhen, at: &At) -> String {
    match when {
        ReadyWhen::Answers { path, .. } => format!("GET {}", at.url(path)),
        ReadyWhen::Accepts => format!("a connection to {}", at.addr),
    }
}
