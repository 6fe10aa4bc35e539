//! A load: how many connections, when requests are due, for how long.

use std::num::{NonZeroU32, NonZeroU64};
use std::str::FromStr;

use engine::{Arrivals, Begin, Config, Expect, Load, Request, Reuse, Share, Stop, Timeouts, UserStart};
use http::Limits;
use units::{Duration, Rate, Seed};

use crate::error::PlanError;
use crate::http_version::{Http2Arguments, HttpVersion};
use crate::load_id::{ArrivalsName, LoadId, NamedLoad};

/// Most connections of one load; more need more processes for want of descriptors.
pub const CONNECTIONS_MAX: u32 = 1_000_000;
/// Most exchanges of one load at one time, over all connections and their streams: a gigabyte is kept of so many.
pub const EXCHANGES_MAX: u32 = 4_000_000;
/// Most load threads: more than any machine has cores.
pub const THREADS_MAX: u32 = 1024;
/// Most requests that may wait for a connection: 128 MiB of instants.
pub const BACKLOG_MAX: u32 = 1 << 24;
/// Highest rate of a load: a link of 100 Gbit/s carries 149 million packets a second, of which a request takes one at the
/// least.
pub const RATE_MAX_PER_S: f64 = 1e8;
/// Length of a load that is bounded by neither duration nor request count.
pub const DURATION_DEFAULT: Duration = Duration::from_secs(10);
/// Default request timeout, as wrk's.
pub const TIMEOUT_DEFAULT: Duration = Duration::from_secs(2);

/// A load as the user describes it, on the command line or in an experiment.
#[derive(Debug, Clone, Default)]
pub struct LoadArguments {
    /// Connections.
    pub connections: Option<u32>,
    /// Load threads.
    pub threads: Option<Threads>,
    /// Requests a second; makes it an open model.
    pub rate: Option<Rate>,
    /// How the requests of a rate follow each other.
    pub arrivals: ArrivalsName,
    /// Most requests that may wait for a connection in the open model.
    pub backlog_max: Option<u32>,
    /// Think time in the closed model.
    pub think: Option<Duration>,
    /// Time over which the users of the closed model start, one after another.
    pub ramp_up: Option<Duration>,
    /// Requests of each user in the closed model.
    pub requests_per_user: Option<u32>,
    /// Length of the measured window.
    pub duration: Option<Duration>,
    /// Requests in all.
    pub requests: Option<u64>,
    /// Load before the window.
    pub warm_up: Option<Duration>,
    /// Request timeout.
    pub timeout: Option<Duration>,
    /// Connect timeout; the request timeout if not given.
    pub connect_timeout: Option<Duration>,
    /// Idle timeout; none if not given.
    pub idle_timeout: Option<Duration>,
    /// How long answers are waited for behind the end; the request timeout if not given.
    pub drain: Option<Duration>,
    /// A new connection for each request.
    pub fresh_connections: bool,
    /// Seed of the arrivals.
    pub seed: Option<Seed>,
    /// What carries it.
    pub io: IoChoice,
    /// HTTP/2 in place of HTTP/1.1.
    pub http2: Option<Http2Arguments>,
}

/// How many load threads carry a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Threads {
    /// So many.
    Fixed(NonZeroU32),
    /// The fewest of which none is too busy, found by short pilot loads.
    Auto,
}

impl Threads {
    /// One.
    pub const ONE: Self = Self::Fixed(NonZeroU32::MIN);
}

impl FromStr for Threads {
    type Err = PlanError;

    fn from_str(text: &str) -> Result<Self, PlanError> {
        match text.parse() {
            _ if text == "auto" => Ok(Self::Auto),
            Ok(count) => Ok(Self::Fixed(positive("threads", count, "1")?)),
            Err(_) => {
                let what = format!("`{text}` is no number of threads");
                Err(PlanError::new(what, "write a number from 1, or auto"))
            }
        }
    }
}

/// Which of the kernel's interfaces carries a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IoChoice {
    /// io_uring where the kernel allows it, else epoll.
    #[default]
    Auto,
    /// io_uring or nothing.
    Uring,
    /// epoll.
    Epoll,
}

impl FromStr for IoChoice {
    type Err = PlanError;

    fn from_str(text: &str) -> Result<Self, PlanError> {
        match text {
            "auto" => Ok(Self::Auto),
            "uring" => Ok(Self::Uring),
            "epoll" => Ok(Self::Epoll),
            _ => Err(PlanError::new(format!("`{text}` is no such interface"), "write auto, uring or epoll")),
        }
    }
}

/// A valid load.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadPlan {
    /// Connections of all threads together.
    pub connections: NonZeroU32,
    /// Load threads.
    pub threads: Threads,
    /// When requests are due.
    pub load: Load,
    /// When it ends; the request count is that of all threads together, and where users make so many each,
    /// that of all users together.
    pub stop: Stop,
    /// Load before the window.
    pub warm_up: Duration,
    /// Bounds on waiting.
    pub timeouts: Timeouts,
    /// Whether connections are kept.
    pub reuse: Reuse,
    /// Seed of the arrivals.
    pub seed: Seed,
    /// What carries it.
    pub io: IoChoice,
    /// What is spoken.
    pub http: HttpVersion,
}

impl LoadPlan {
    /// Checks a load.
    pub fn new(arguments: &LoadArguments) -> Result<Self, PlanError> {
        let connections = positive("connections", arguments.connections.unwrap_or(50), "64")?;
        let threads = arguments.threads.unwrap_or(Threads::ONE);
        at_most(connections.get(), CONNECTIONS_MAX, "connections", "share the load among several machines")?;
        match threads {
            Threads::Fixed(count) if count.get() > THREADS_MAX => {
                at_most(count.get(), THREADS_MAX, "threads", "give as many as there are cores, or auto")?;
            }
            Threads::Fixed(count) if count > connections => {
                let what = format!("{count} threads cannot share {connections} connections");
                return Err(PlanError::new(what, "give each thread at least one connection"));
            }
            Threads::Auto if arguments.requests.is_some() || arguments.requests_per_user.is_some() => {
                let what = "finding the number of threads takes requests beyond those that were counted out";
                return Err(PlanError::new(
                    what,
                    "give the number of threads, or bound the load by a duration",
                ));
            }
            Threads::Fixed(_) | Threads::Auto => {}
        }
        let timeout = span("timeout", arguments.timeout.unwrap_or(TIMEOUT_DEFAULT))?;
        let http = http_version(arguments)?;
        let users = users_of(connections, http)?;
        let load = load_model(arguments, users)?;
        if let (Threads::Fixed(count), Load::Open { backlog_max, .. }) = (threads, load)
            && count > backlog_max
        {
            let what = format!("{count} threads cannot share a backlog of {backlog_max}");
            return Err(PlanError::new(what, "let one request wait for each thread at least"));
        }
        let requests = requests_in_all(arguments, users)?;
        let duration = match (arguments.duration, requests) {
            (Some(duration), _) => span("duration", duration)?,
            (None, None) => DURATION_DEFAULT,
            (None, Some(_)) => Duration::MAX,
        };
        Ok(Self {
            connections,
            threads,
            load,
            stop: Stop { duration, requests },
            warm_up: arguments.warm_up.unwrap_or(Duration::ZERO),
            timeouts: Timeouts {
                connect: span("connect timeout", arguments.connect_timeout.unwrap_or(timeout))?,
                request: timeout,
                idle: span("idle timeout", arguments.idle_timeout.unwrap_or(Duration::MAX))?,
                drain: drain(arguments.drain, timeout)?,
            },
            reuse: if arguments.fresh_connections { Reuse::FreshConnection } else { Reuse::KeepAlive },
            seed: arguments.seed.unwrap_or_default(),
            io: arguments.io,
            http,
        })
    }

    /// The same load for so long, with all of its users at once and no count of requests that ends it.
    #[must_use]
    pub fn burst(&self, length: Duration) -> Self {
        let mut burst = self.clone();
        burst.stop = Stop { duration: length, requests: None };
        burst.warm_up = Duration::ZERO;
        if let Load::Closed { start, requests_per_user, .. } = &mut burst.load {
            *start = UserStart::WithWarmUp;
            *requests_per_user = None;
        }
        burst
    }

    /// Requests that are due at a rate, as those of independent users are, on the same connections.
    #[must_use]
    pub fn at_rate(&self, rate: Rate) -> Self {
        let load = Load::Open { arrivals: Arrivals::Poisson(rate), backlog_max: Load::BACKLOG_MAX_DEFAULT };
        let unbounded = self.stop.duration == Duration::MAX;
        let duration = if unbounded { DURATION_DEFAULT } else { self.stop.duration };
        Self { load, stop: Stop { duration, requests: None }, ..self.clone() }
    }

    /// Exchanges that can be under way at one time; in the closed model each is a user.
    pub fn exchanges(&self) -> u32 {
        self.connections.get().saturating_mul(self.http.streams())
    }

    /// How many requests it makes at most, where that is known beforehand.
    pub fn requests_max(&self) -> Option<u64> {
        let due = match self.load {
            Load::Open { arrivals, .. } => due_max(arrivals, self.stop.duration),
            Load::Closed { .. } | Load::Scripted { .. } => None,
        };
        self.stop.requests.map(NonZeroU64::get).into_iter().chain(due).min()
    }

    /// Among how many threads or machines it can be shared at most: each has a connection, room for a request that waits,
    /// and a request to make.
    pub fn shares_max(&self) -> u32 {
        let backlog_max = match self.load {
            Load::Open { backlog_max, .. } => backlog_max.get(),
            Load::Closed { .. } | Load::Scripted { .. } => u32::MAX,
        };
        let requests = self.stop.requests.map_or(u64::MAX, NonZeroU64::get);
        self.connections.get().min(backlog_max).min(u32::try_from(requests).unwrap_or(u32::MAX))
    }

    /// How many of `threads` have something to do in one share of the load.
    pub fn threads_of(&self, share: Share, threads: NonZeroU32) -> NonZeroU32 {
        let backlog_max = match self.load {
            Load::Open { backlog_max, .. } => backlog_max.get(),
            Load::Closed { .. } | Load::Scripted { .. } => u32::MAX,
        };
        let of_requests = self.stop.requests.map_or(u64::MAX, |all| share.part_of(all.get()));
        let parts =
            [share.part_of(self.connections.get().into()), share.part_of(backlog_max.into()), of_requests];
        let most = parts.into_iter().min().and_then(|most| u32::try_from(most).ok());
        threads.min(most.and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN))
    }

    /// Connections that the shares before this one have together: from that number on this one's are numbered.
    pub fn connections_before(&self, share: Share) -> u32 {
        let before = (0..share.index).map(|index| Share { index, ..share });
        before.map(|it| it.part_of(self.connections.get().into()) as u32).sum()
    }

    /// The number of users, where requests are always under way for all of them: closed model, no think
    /// time, nobody who comes later or leaves earlier. Then Little's law must hold.
    pub fn saturating_users(&self) -> Option<u32> {
        (self.load == Load::SATURATING).then_some(self.exchanges())
    }

    /// One configuration for each of `of` threads; together they make exactly this load.
    pub fn configs(&self, of: NonZeroU32, request: &Request, expect: &Expect) -> Vec<Config> {
        self.configs_of(Share::WHOLE, of, request, expect)
    }

    /// The same for the threads that carry one share of the load together. Those of all shares make exactly this load,
    /// whichever number of threads each has.
    pub fn configs_of(
        &self,
        share: Share,
        threads: NonZeroU32,
        request: &Request,
        expect: &Expect,
    ) -> Vec<Config> {
        (0..threads.get())
            .filter_map(|index| {
                let thread = Share { index, of: threads };
                let part_of = |total: u64| thread.part_of(share.part_of(total));
                let requests = match (self.load, self.stop.requests) {
                    // Each user's own count bounds them; users are dealt out, not requests.
                    (Load::Closed { requests_per_user: Some(_), .. }, _) | (_, None) => None,
                    (_, Some(total)) => Some(NonZeroU64::new(part_of(total.get()))?),
                };
                Some(Config {
                    connections: NonZeroU32::new(part_of(self.connections.get().into()) as u32)?,
                    load: match self.load {
                        Load::Open { arrivals, backlog_max } => Load::Open {
                            arrivals,
                            backlog_max: NonZeroU32::new(part_of(backlog_max.get().into()) as u32)?,
                        },
                        Load::Scripted { users } => {
                            Load::Scripted { users: NonZeroU32::new(part_of(users.get().into()) as u32)? }
                        }
                        load @ Load::Closed { .. } => load,
                    },
                    stop: Stop { duration: self.stop.duration, requests },
                    warm_up: self.warm_up,
                    begin: Begin::WhenOpen,
                    timeouts: self.timeouts,
                    reuse: self.reuse,
                    request: request.clone(),
                    expect: expect.clone(),
                    keep_wrong: 0,
                    limits: Limits::default(),
                    seed: self.seed,
                    share: thread.within(share),
                    requests_of_all: self.stop.requests,
                })
            })
            .collect()
    }

    /// Which load it is, whatever else of it is asked for.
    pub fn named(&self) -> NamedLoad {
        let connections = self.connections;
        let id = match self.load {
            Load::Closed { think, start, requests_per_user } => LoadId::Closed {
                connections,
                ramp_up_ns: match start {
                    UserStart::RampUp { span, .. } => Some(span.as_nanos()),
                    UserStart::WithWarmUp => None,
                },
                requests_per_user,
                think_ns: think.as_nanos(),
            },
            Load::Open { arrivals, .. } => {
                LoadId::Open { rate: arrivals.rate(), arrivals: ArrivalsName::of(arrivals), connections }
            }
            Load::Scripted { users } => LoadId::Scripted { users },
        };
        NamedLoad { id, fresh_connections: self.reuse == Reuse::FreshConnection }
    }

    /// The load in a few words: `64 connections`, `2000/s on 300`, `1000 users, ramp-up 50s`.
    pub fn label(&self) -> String {
        match self.http {
            HttpVersion::Http1 => self.named().to_string(),
            HttpVersion::Http2 { settings: h2::Settings { streams, .. }, .. } => {
                let of = if matches!(self.load, Load::Scripted { .. }) { "a connection" } else { "each" };
                let unit = if streams == 1 { "stream" } else { "streams" };
                format!("{}, HTTP/2, {streams} {unit} {of}", self.named())
            }
        }
    }
}

/// How many requests are due at most in any span of this length; of random arrivals nobody knows.
fn due_max(arrivals: Arrivals, span: Duration) -> Option<u64> {
    let (rate, size) = match arrivals {
        Arrivals::Constant(rate) => (rate, 1),
        Arrivals::Bursts { rate, size } => (rate, size.get()),
        Arrivals::Poisson(_) => return None,
    };
    let size = f64::from(size);
    let due = (rate.as_per_sec() * span.as_secs_f64() / size).ceil() * size;
    (span != Duration::MAX).then_some(due as u64)
}

fn http_version(arguments: &LoadArguments) -> Result<HttpVersion, PlanError> {
    let http = HttpVersion::asked_for(arguments.http2)?;
    if arguments.fresh_connections && http.streams() > 1 {
        let what = "a fresh connection for each request has no use for streams";
        return Err(PlanError::new(what, "leave one of them out"));
    }
    Ok(http)
}

/// As many users as connections have room for exchanges.
fn users_of(connections: NonZeroU32, http: HttpVersion) -> Result<NonZeroU32, PlanError> {
    let streams = http.streams();
    let users = connections.get().checked_mul(streams).filter(|users| *users <= EXCHANGES_MAX);
    users.and_then(NonZeroU32::new).ok_or_else(|| {
        let what =
            format!("{connections} connections of {streams} streams are more than {EXCHANGES_MAX} exchanges");
        PlanError::new(what, "share the load among several machines")
    })
}

fn load_model(arguments: &LoadArguments, connections: NonZeroU32) -> Result<Load, PlanError> {
    let Some(rate) = arguments.rate else {
        let what = match arguments.arrivals {
            ArrivalsName::Constant => None,
            ArrivalsName::Poisson => Some("Poisson arrivals need a rate"),
            ArrivalsName::Bursts(_) => Some("bursts need a rate"),
        };
        if let Some(what) = what {
            return Err(PlanError::new(what, "add one, such as 2000 a second"));
        }
        if arguments.backlog_max.is_some() {
            let what = "a bound of the backlog needs a rate: the closed model has no backlog";
            return Err(PlanError::new(what, "add a rate, or leave the bound out"));
        }
        return users(arguments, connections);
    };
    no_users(arguments)?;
    check_rate(rate)?;
    if let ArrivalsName::Bursts(size) = arguments.arrivals {
        at_most(size.get(), BACKLOG_MAX, "requests at once", "make the bursts smaller")?;
    }
    let arrivals = arguments.arrivals.at(rate);
    let backlog_max = match arguments.backlog_max {
        Some(bound) => {
            at_most(bound, BACKLOG_MAX, "waiting requests", "they are only dropped later; let fewer wait")?;
            positive("the bound of the backlog", bound, "100000")?
        }
        None => Load::BACKLOG_MAX_DEFAULT,
    };
    Ok(Load::Open { arrivals, backlog_max })
}

fn users(arguments: &LoadArguments, users: NonZeroU32) -> Result<Load, PlanError> {
    let start = match arguments.ramp_up {
        Some(ramp_up) => UserStart::RampUp { span: span("ramp-up", ramp_up)?, users },
        None => UserStart::WithWarmUp,
    };
    let requests_per_user = match arguments.requests_per_user {
        Some(each) => Some(positive("requests per user", each, "1000")?),
        None => None,
    };
    Ok(Load::Closed { think: arguments.think.unwrap_or(Duration::ZERO), start, requests_per_user })
}

/// Refuses beside a rate what only users of a closed model do.
fn no_users(arguments: &LoadArguments) -> Result<(), PlanError> {
    let what = if arguments.think.is_some() {
        "a rate and a think time exclude each other: with a rate, requests are due whoever thinks"
    } else if arguments.ramp_up.is_some() {
        "a rate and a ramp-up exclude each other: with a rate, no users start, requests are due"
    } else if arguments.requests_per_user.is_some() {
        "a rate and requests per user exclude each other: with a rate, whoever is free makes a request"
    } else {
        return Ok(());
    };
    Err(PlanError::new(what, "leave one of them out"))
}

/// The request count of all threads together, given as such or by what each user makes.
fn requests_in_all(arguments: &LoadArguments, users: NonZeroU32) -> Result<Option<NonZeroU64>, PlanError> {
    match (arguments.requests, arguments.requests_per_user) {
        (Some(_), Some(_)) => {
            let what = "requests in all and requests per user exclude each other: each gives the other";
            Err(PlanError::new(what, "leave one of them out"))
        }
        (Some(count), None) => Ok(Some(positive_requests(count)?)),
        (None, each) => Ok(each.and_then(|each| NonZeroU64::new(u64::from(users.get()) * u64::from(each)))),
    }
}

/// Refuses a rate that nothing can keep.
///
/// # Errors
/// If it is above [`RATE_MAX_PER_S`].
pub fn check_rate(rate: Rate) -> Result<(), PlanError> {
    if rate.as_per_sec() <= RATE_MAX_PER_S {
        return Ok(());
    }
    let what = format!(
        "a rate of {rate} is more than {RATE_MAX_PER_S}/s: each request takes a packet at least, and a link of 100 Gbit/s \
         carries 149 million a second"
    );
    Err(PlanError::new(what, "give a rate that the machine and its network can carry"))
}

fn at_most(count: u32, most: u32, of: &str, help: &str) -> Result<(), PlanError> {
    if count <= most {
        return Ok(());
    }
    Err(PlanError::new(format!("{count} {of} are more than {most}"), help))
}

fn positive(name: &str, value: u32, example: &str) -> Result<NonZeroU32, PlanError> {
    NonZeroU32::new(value)
        .ok_or_else(|| PlanError::new(format!("zero {name}"), format!("give at least one, as in {example}")))
}

fn positive_requests(count: u64) -> Result<NonZeroU64, PlanError> {
    NonZeroU64::new(count).ok_or_else(|| PlanError::new("zero requests", "give at least one, as in 1000"))
}

/// How long answers that are out when the load ends are waited for: no longer than any of them may take.
fn drain(asked: Option<Duration>, timeout: Duration) -> Result<Duration, PlanError> {
    match asked {
        Some(drain) if drain > timeout => {
            let what = format!(
                "a drain of {drain}, and no answer is waited for longer than the timeout of {timeout}"
            );
            Err(PlanError::new(what, "give a shorter drain, or a longer timeout"))
        }
        asked => Ok(asked.unwrap_or(timeout)),
    }
}

/// Refuses a span of a load, which is called `name`, that has no length.
///
/// # Errors
/// If it is zero.
pub fn span(name: &str, span: Duration) -> Result<Duration, PlanError> {
    if span.is_zero() {
        let article = if name.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        return Err(PlanError::new(format!("{article} {name} of zero"), "give it a length, as in 2s"));
    }
    Ok(span)
}

#[cfg(test)]
mod shares;

#[cfg(test)]
mod tests;
