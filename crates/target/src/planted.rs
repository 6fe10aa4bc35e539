//! Limits that are put into the server on purpose: whoever names the reason of a rate is judged by them, because it is
//! known beforehand.

use std::path::PathBuf;

use units::{Bytes, Duration};

use crate::error::TargetError;
use crate::model::Model;

/// The longest span of any planted limit: a typing error shall not hold a server for an hour.
const SPAN_MAX: Duration = Duration::from_secs(60);
/// The longest line that is logged for a request.
const LOG_BYTES_MAX: Bytes = Bytes(16 << 20);
/// Less would be lost among what the allocator keeps beside it.
const LEAK_BYTES_MIN: Bytes = Bytes(1 << 10);

/// What each request to a known path costs beyond its path's delay, and what else stands in its way. The work is done
/// on the thread that answers, before the delay begins. [`Planted::default`] is nothing at all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Planted {
    /// Each request sleeps so long while it holds the one lock of the server: 1/serial, whatever the model.
    pub serial: Option<Duration>,
    /// Each request computes.
    pub burn: Option<Burn>,
    /// Each request makes the loop of [`Model::EventLoop`] sleep so long.
    pub block_loop: Option<Duration>,
    /// The thread that accepts sleeps so long after each connection.
    pub accept_pause: Option<Duration>,
    /// Each request is written to a log.
    pub log: Option<LogWrites>,
    /// The first requests cost more than the later ones.
    pub warm_up: Option<WarmUp>,
    /// Each request leaves memory behind.
    pub leak: Option<Leak>,
    /// The answers of the error share go out at once: no delay, and none of the above.
    pub fail_fast: bool,
    /// Head and body are sent by two calls with Nagle's algorithm on, so that the body waits for the client's
    /// acknowledgement of the head, which the client delays by some 40 ms.
    pub split_answer: bool,
}

/// CPU time of each request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Burn {
    /// By the clock of the thread that answers.
    pub per_request: Duration,
    /// One request at a time: it holds the lock of [`Planted::serial`] meanwhile.
    pub under_lock: bool,
}

/// A log that is written before each answer, under a lock, as loggers do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogWrites {
    /// How much of it a request is.
    pub bytes_per_request: Bytes,
    /// Where; begun anew at 256 MiB.
    pub file: PathBuf,
    /// Whether each line is on the disk (`fdatasync`) before its answer.
    pub sync: bool,
}

/// CPU time that declines with time, as while a server compiles and fills its caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WarmUp {
    /// From the first request to where nothing is left of it.
    pub over: Duration,
    /// What the first request costs; it declines linearly.
    pub burn_at_first: Duration,
}

impl WarmUp {
    /// What a request costs so long after the first.
    pub(crate) fn burn_after(self, since_first: Duration) -> Duration {
        let left = self.over.saturating_sub(since_first).as_secs_f64() / self.over.as_secs_f64();
        Duration::from_secs_f64(self.burn_at_first.as_secs_f64() * left)
    }
}

/// Memory that is never given back while the server runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leak {
    /// Every page of it is touched.
    pub bytes_per_request: Bytes,
    /// From there on nothing more is kept, so that a leak does not take the machine with it.
    pub bytes_max: Bytes,
}

impl Leak {
    /// The bound when nothing is said: a machine that measures has as much to spare.
    pub const BYTES_MAX_DEFAULT: Bytes = Bytes(1 << 30);
}

impl Planted {
    pub(crate) fn check(&self, model: Model, error_share: f64) -> Result<(), TargetError> {
        let spans = [
            ("the serial section", self.serial),
            ("the CPU time of a request", self.burn.map(|burn| burn.per_request)),
            ("the time that the loop blocks", self.block_loop),
            ("the pause after an accepted connection", self.accept_pause),
            ("the warm-up", self.warm_up.map(|warm_up| warm_up.over)),
            ("the CPU time of the warm-up", self.warm_up.map(|warm_up| warm_up.burn_at_first)),
        ];
        let bad = |span: Duration| span.is_zero() || span > SPAN_MAX;
        if let Some((what, span)) =
            spans.iter().find_map(|(what, span)| Some((what, span.filter(|it| bad(*it))?)))
        {
            let what = format!("{what} is {span}");
            return Err(TargetError::setting(
                what,
                "make it longer than zero and at most 60s, or leave it out",
            ));
        }
        if self.block_loop.is_some() && model != Model::EventLoop {
            let what = format!("the model {model} has no event loop that could block");
            return Err(TargetError::setting(what, "add --model event-loop, or use --serial"));
        }
        if self.fail_fast && error_share <= 0.0 {
            return Err(TargetError::setting(
                "there are no errors that could be fast",
                "add --error-share, such as 0.1",
            ));
        }
        self.check_sizes()
    }

    fn check_sizes(&self) -> Result<(), TargetError> {
        if let Some(LogWrites { bytes_per_request, .. }) = &self.log
            && !(Bytes(1)..=LOG_BYTES_MAX).contains(bytes_per_request)
        {
            let what = format!("a request cannot be {bytes_per_request} of a log");
            return Err(TargetError::setting(what, "log from 1B to 16MiB of each request"));
        }
        if let Some(Leak { bytes_per_request, bytes_max }) = self.leak
            && !(LEAK_BYTES_MIN..=bytes_max).contains(&bytes_per_request)
        {
            let what = format!("a request cannot leak {bytes_per_request} of at most {bytes_max}");
            return Err(TargetError::setting(
                what,
                "leak 1KiB of each request at least, and no more than --leak-max",
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn nothing_is_planted_unless_asked_for() {
        for (_, model) in Model::ALL {
            assert!(Planted::default().check(model, 0.0).is_ok());
        }
    }

    #[test]
    fn refuses_what_would_do_nothing_or_never_end() {
        let none = Planted::default;
        let burn = |per_request| Some(Burn { per_request, under_lock: true });
        let log = |bytes| {
            let bytes_per_request = Bytes(bytes);
            Some(LogWrites { bytes_per_request, file: "log".into(), sync: false })
        };
        let leak = |bytes, max| Some(Leak { bytes_per_request: Bytes(bytes), bytes_max: Bytes(max) });
        for (planted, part) in [
            (Planted { serial: Some(Duration::ZERO), ..none() }, "the serial section is 0"),
            (Planted { burn: burn(Duration::from_secs(61)), ..none() }, "at most 60s"),
            (Planted { block_loop: Some(MS), ..none() }, "the model pool has no event loop"),
            (Planted { fail_fast: true, ..none() }, "no errors that could be fast; add --error-share"),
            (Planted { log: log(0), ..none() }, "a request cannot be 0B of a log"),
            (Planted { log: log(17 << 20), ..none() }, "log from 1B to 16MiB"),
            (Planted { leak: leak(10, 1 << 20), ..none() }, "a request cannot leak 10B of at most 1.0MiB"),
            (Planted { leak: leak(4096, 2048), ..none() }, "no more than --leak-max"),
        ] {
            let error = planted.check(Model::Pool, 0.0).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        assert!(Planted { block_loop: Some(MS), ..none() }.check(Model::EventLoop, 0.0).is_ok());
        assert!(Planted { fail_fast: true, ..none() }.check(Model::Pool, 0.1).is_ok());
    }

    #[test]
    fn a_warm_up_declines_to_nothing() {
        let warm_up = WarmUp { over: MS * 100, burn_at_first: MS * 10 };
        for (at_ms, left_ms) in [(0, 10), (25, 7), (50, 5), (100, 0), (200, 0)] {
            let left = warm_up.burn_after(MS * at_ms).as_secs_f64() * 1e3;
            assert!((left - f64::from(left_ms)).abs() < 0.51, "{at_ms} ms: {left} ms");
        }
    }
}
