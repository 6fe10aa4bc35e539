//! Threading models.

use std::fmt;
use std::str::FromStr;

use crate::error::TargetError;

/// How connections and requests are shared out among threads. With C connections that always have a
/// request waiting, and a path delayed by d, the rate is known beforehand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Model {
    /// One thread, which blocks during a delay: 1/d whatever C.
    Single,
    /// A blocking thread a connection: C/d.
    ThreadPerConnection,
    /// A poller hands ready requests to K workers, which block during a delay: min(C, K)/d.
    Pool,
    /// One thread, which never blocks; delays are timers: C/d.
    EventLoop,
}

impl Model {
    /// Every model with its name.
    pub const ALL: [(&'static str, Self); 4] = [
        ("single", Self::Single),
        ("thread-per-connection", Self::ThreadPerConnection),
        ("pool", Self::Pool),
        ("event-loop", Self::EventLoop),
    ];
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::ALL.iter().find(|(_, model)| model == self).map_or("", |(name, _)| name);
        f.pad(name)
    }
}

impl FromStr for Model {
    type Err = TargetError;
    fn from_str(text: &str) -> Result<Self, TargetError> {
        Self::ALL.iter().find(|(name, _)| *name == text).map(|(_, model)| *model).ok_or_else(|| {
            TargetError::setting(
                format!("`{text}` is not a threading model"),
                "write single, thread-per-connection, pool or event-loop",
            )
        })
    }
}
