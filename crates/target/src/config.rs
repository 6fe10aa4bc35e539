//! What the server is asked to do.

use std::net::{Ipv4Addr, SocketAddr};
use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::str::FromStr;

use tls::Acceptor;
use units::{Bytes, Duration, Seed};

use crate::delay::Delay;
use crate::error::TargetError;
use crate::model::Model;
use crate::planted::Planted;

/// The largest answer body. Each status keeps two prebuilt answers in memory for the server's life.
pub const BODY_BYTES_MAX: Bytes = Bytes(256 << 20);
const PATHS_MAX: usize = 1_000;
const POOL_THREADS_MAX: usize = 10_000;

/// A path and how long its answers are held back.
#[derive(Debug, Clone, PartialEq)]
pub struct PathRule {
    /// Compared byte by byte with the request's path, without its query.
    pub path: String,
    /// Drawn anew for each answer, where it is a distribution.
    pub delay: Delay,
}

impl PathRule {
    /// `path` delayed by `delay`.
    pub fn new(path: &str, delay: impl Into<Delay>) -> Self {
        Self { path: path.to_owned(), delay: delay.into() }
    }
}

/// `/sleep=100ms`, `/sleep=exp:5ms`, `/sleep=bimodal:1ms,50ms,0.1`, or `/hello` for no delay.
impl FromStr for PathRule {
    type Err = TargetError;
    fn from_str(text: &str) -> Result<Self, TargetError> {
        let (path, delay) = match text.rsplit_once('=') {
            None => (text, Delay::Fixed(Duration::ZERO)),
            Some((path, delay)) => (path, delay.parse()?),
        };
        let rule = Self::new(path, delay);
        rule.check()?;
        Ok(rule)
    }
}

impl PathRule {
    fn check(&self) -> Result<(), TargetError> {
        self.delay.check()?;
        let printable = self.path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'?' && byte != b'#');
        if self.path.starts_with('/') && printable {
            return Ok(());
        }
        Err(TargetError::setting(
            format!("`{}` is not the path of a request", self.path),
            "begin it with / and leave out spaces, ? and #",
        ))
    }
}

/// When every thread of the server stands still: during the last `for_` of each period `every`, counted from
/// the server's start. Nothing is accepted, read or answered then; a delay that ends within the stall is
/// answered at the stall's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stall {
    /// How long it stands still; above zero and below `every`.
    pub for_: Duration,
    /// From the end of one stall to the end of the next.
    pub every: Duration,
}

/// `1s/10s`: stand still for one second in every ten.
impl FromStr for Stall {
    type Err = TargetError;
    fn from_str(text: &str) -> Result<Self, TargetError> {
        const HELP: &str = "write how long and how often as in 1s/10s";
        let wrong = |why: String| TargetError::setting(format!("`{text}` is not a stall ({why})"), HELP);
        let (for_, every) = text.split_once('/').ok_or_else(|| wrong("there is no /".to_owned()))?;
        let duration =
            |part: &str| part.parse::<Duration>().map_err(|error| wrong(format!("`{part}`: {error}")));
        let stall = Self { for_: duration(for_)?, every: duration(every)? };
        stall.check()?;
        Ok(stall)
    }
}

impl Stall {
    fn check(self) -> Result<(), TargetError> {
        if !self.for_.is_zero() && self.for_ < self.every {
            return Ok(());
        }
        Err(TargetError::setting(
            format!("a stall of {} in every {} leaves nothing of one of them", self.for_, self.every),
            "make the stall longer than zero and shorter than its period",
        ))
    }
}

/// What the server is asked to do. [`Config::default`] is a plain server on a free port.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Where to listen; port 0 means any free one.
    pub listen: SocketAddr,
    /// How requests are shared out among threads.
    pub model: Model,
    /// K of [`Model::Pool`].
    pub pool_threads: NonZeroUsize,
    /// Length of the accept queue asked for; the kernel cuts it to `net.core.somaxconn`.
    pub backlog: u32,
    /// The paths that are answered; any other is answered 404 at once.
    pub paths: Vec<PathRule>,
    /// Size of a 200 answer's body: `hello` over and over. `None` is one `hello`, 5 bytes.
    pub body_bytes: Option<Bytes>,
    /// When every thread stands still.
    pub stall: Option<Stall>,
    /// Say `Connection: close` and close on every k-th answer of a connection.
    pub close_every: Option<NonZeroU64>,
    /// Share of the requests to known paths that is answered 500, from 0 to 1. Which ones follows from `seed`
    /// and the request's number (by arrival, over all connections), so the count of a run repeats.
    pub error_share: f64,
    /// Read every request and answer none.
    pub never_answer: bool,
    /// Chooses the requests that are answered 500, and draws delays that vary.
    pub seed: Seed,
    /// Where to log every request; see [`crate::Server::stop`] for the summary beside it.
    pub truth: Option<PathBuf>,
    /// What limits it on purpose.
    pub planted: Planted,
    /// How connections are secured, if they are.
    pub tls: Option<Acceptor>,
    /// Speak HTTP/2 with those who begin with it. Only [`Model::EventLoop`] does.
    pub http2: bool,
    /// Requests that a connection of HTTP/2 may carry at one time; `None` is no limit.
    pub streams_max: Option<NonZeroU32>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            model: Model::EventLoop,
            pool_threads: const { NonZeroUsize::new(16).unwrap() },
            backlog: 4096,
            paths: vec![
                PathRule::new("/", Duration::ZERO),
                PathRule::new("/hello", Duration::ZERO),
                PathRule::new("/sleep", Duration::from_millis(100)),
            ],
            body_bytes: None,
            stall: None,
            close_every: None,
            error_share: 0.0,
            never_answer: false,
            seed: Seed(0),
            truth: None,
            planted: Planted::default(),
            tls: None,
            http2: false,
            streams_max: None,
        }
    }
}

impl Config {
    /// Adds `rule`, in place of the one with the same path where there is one.
    pub fn set_path(&mut self, rule: PathRule) {
        self.paths.retain(|old| old.path != rule.path);
        self.paths.push(rule);
    }

    pub(crate) fn check(&self) -> Result<(), TargetError> {
        self.paths.iter().try_for_each(PathRule::check)?;
        if let Some(stall) = self.stall {
            stall.check()?;
        }
        if let Some((_, rule)) = self
            .paths
            .iter()
            .enumerate()
            .find(|(index, rule)| self.paths[..*index].iter().any(|earlier| earlier.path == rule.path))
        {
            return Err(TargetError::setting(
                format!("`{}` is given twice", rule.path),
                "give each path once",
            ));
        }
        if !(0.0..=1.0).contains(&self.error_share) {
            let what = format!("an error share of {} is no share", self.error_share);
            return Err(TargetError::setting(what, "write a number from 0 to 1"));
        }
        self.planted.check(self.model, self.error_share)?;
        self.check_http2()?;
        if self.body_bytes.is_some_and(|bytes| bytes > BODY_BYTES_MAX) {
            let what = format!("a body of {} is too large", self.body_bytes.unwrap_or_default());
            return Err(TargetError::setting(what, "ask for at most 256MiB"));
        }
        if self.paths.len() > PATHS_MAX || self.pool_threads.get() > POOL_THREADS_MAX {
            return Err(TargetError::setting(
                "too many paths or pool threads",
                "ask for at most 1000 paths and 10000 threads",
            ));
        }
        Ok(())
    }

    fn check_http2(&self) -> Result<(), TargetError> {
        if !self.http2 {
            return Ok(());
        }
        if self.model != Model::EventLoop {
            return Err(TargetError::setting(
                format!(
                    "the model {} serves a request at a time on each connection, and HTTP/2 several",
                    self.model
                ),
                "take --model event-loop, or leave --http2 out",
            ));
        }
        if self.planted.split_answer {
            return Err(TargetError::setting(
                "answers of HTTP/2 are not sent by two calls",
                "leave --split-answer or --http2 out",
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_command_line_writes() {
        let sleep: PathRule = "/sleep=100ms".parse().unwrap();
        assert_eq!(sleep, PathRule::new("/sleep", Duration::from_millis(100)));
        assert_eq!("/hello".parse::<PathRule>().unwrap().delay, Delay::Fixed(Duration::ZERO));
        let exponential: PathRule = "/exp=exp:5ms".parse().unwrap();
        assert_eq!(exponential, PathRule::new("/exp", Delay::Exponential { mean: Duration::from_millis(5) }));
        let stall: Stall = "1s/10s".parse().unwrap();
        assert_eq!(stall, Stall { for_: Duration::from_secs(1), every: Duration::from_secs(10) });
        for (name, model) in Model::ALL {
            assert_eq!(name.parse::<Model>().unwrap(), model);
            assert_eq!(model.to_string(), name);
        }
    }

    #[test]
    fn says_what_is_wrong_and_what_would_be_right() {
        for (text, part) in [
            ("sleep=100ms", "`sleep` is not the path of a request; begin it with /"),
            ("/sleep=100", "`100` is not a delay (unknown unit"),
            ("/a b", "leave out spaces"),
        ] {
            let error = text.parse::<PathRule>().unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        for (text, part) in [
            ("1s", "`1s` is not a stall (there is no /); write how long and how often as in 1s/10s"),
            ("1s/ten", "`ten`: not a number"),
            ("10s/1s", "shorter than its period"),
        ] {
            let error = text.parse::<Stall>().unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        assert!("threads".parse::<Model>().unwrap_err().to_string().contains("event-loop"));
    }

    #[test]
    fn refuses_what_no_server_can_keep() {
        let bad = [
            Config { error_share: 1.5, ..Config::default() },
            Config { error_share: f64::NAN, ..Config::default() },
            Config { body_bytes: Some(Bytes(1 << 40)), ..Config::default() },
            Config { paths: vec![PathRule::new("/a", Duration::ZERO); 2], ..Config::default() },
            Config { http2: true, model: Model::Pool, ..Config::default() },
        ];
        for config in bad {
            assert!(config.check().is_err(), "{config:?}");
        }
        assert!(Config::default().check().is_ok());
    }

    #[test]
    fn a_path_set_again_replaces_the_first() {
        let mut config = Config::default();
        config.set_path(PathRule::new("/sleep", Duration::from_millis(5)));
        assert_eq!(config.paths.len(), 3);
        assert!(config.check().is_ok());
    }
}
