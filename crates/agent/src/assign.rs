//! The load as it is told to an agent, which checks it as if its own user had asked for it.

use std::num::NonZeroU32;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use engine::{Expect, GoodStatus, Load, Request, Reuse, Share, UserStart};
use http::RequestKind;
use plan::{ArrivalsName, Http2Arguments, HttpVersion, IoChoice, LoadArguments, LoadPlan, Threads};
use serde::{Deserialize, Serialize};
use tls::Settings;
use units::{Duration, Rate, Seed};

use crate::AGENTS_MAX;
use crate::error::NotALoad;
use crate::secured::SettingsForm;

/// One share of a load, and the whole that it is of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assign {
    load: u64,
    index: u32,
    of: u32,
    /// Where it goes, for errors.
    pub url: String,
    /// The name or address that the agent resolves.
    pub host: String,
    /// The port there.
    pub port: u16,
    plan: PlanForm,
    request: String,
    head: bool,
    expect_status: StatusForm,
    expect_body: Option<String>,
    tls: Option<SettingsForm>,
}

impl Assign {
    /// The whole of a load on `host`.
    ///
    /// # Errors
    /// If it is none that an agent can carry: the users of a script.
    pub fn new(
        url: &str,
        (host, port): (&str, u16),
        plan: &LoadPlan,
        request: &Request,
        expect: &Expect,
    ) -> Result<Self, NotALoad> {
        Ok(Self {
            load: 0,
            index: 0,
            of: 1,
            url: url.to_owned(),
            host: host.to_owned(),
            port,
            plan: PlanForm::of(plan)?,
            request: STANDARD.encode(&request.bytes),
            head: request.kind == RequestKind::Head,
            expect_status: expect.status.into(),
            expect_body: expect.body.as_ref().map(|body| STANDARD.encode(body)),
            tls: None,
        })
    }

    /// The same with a number that tells it from all other loads: an agent that carries one takes no word about another.
    #[must_use]
    pub fn numbered(self, load: u64) -> Self {
        Self { load, ..self }
    }

    /// The number of the load, which all shares of it have.
    pub const fn load(&self) -> u64 {
        self.load
    }

    /// The same over TLS, where the URL has this host. What `settings` have in files has to be read by now.
    ///
    /// # Errors
    /// If it has not been.
    pub fn over_tls(self, host: &str, settings: &Settings) -> Result<Self, NotALoad> {
        Ok(Self { tls: Some(SettingsForm::of(host, settings)?), ..self })
    }

    /// How connections are secured: the URL's host, and what is asked for; `None` where they are not.
    ///
    /// # Errors
    /// If that is nothing that could be asked for.
    pub fn tls(&self) -> Result<Option<(&str, Settings)>, NotALoad> {
        self.tls.as_ref().map(|tls| Ok((tls.host(), tls.settings()?))).transpose()
    }

    /// One share of it.
    #[must_use]
    pub fn share_of(&self, share: Share) -> Self {
        Self { index: share.index, of: share.of.get(), ..self.clone() }
    }

    /// Which share it is.
    ///
    /// # Errors
    /// If it is none.
    pub fn share(&self) -> Result<Share, NotALoad> {
        let of = NonZeroU32::new(self.of).filter(|of| self.index < of.get() && of.get() <= AGENTS_MAX);
        let of = of.ok_or_else(|| NotALoad(format!("share {} of {} is none", self.index, self.of)))?;
        Ok(Share { index: self.index, of })
    }

    /// The whole load.
    ///
    /// # Errors
    /// If it is none.
    pub fn plan(&self) -> Result<LoadPlan, NotALoad> {
        LoadPlan::new(&self.plan.arguments()?).map_err(NotALoad::new)
    }

    /// What is sent, and what a good answer looks like.
    ///
    /// # Errors
    /// If it is not encoded as it should be.
    pub fn request(&self) -> Result<(Request, Expect), NotALoad> {
        let bytes = |text: &String| STANDARD.decode(text).map_err(NotALoad::new);
        let kind = if self.head { RequestKind::Head } else { RequestKind::Ordinary };
        let body = self.expect_body.as_ref().map(bytes).transpose()?;
        let expect = Expect { status: self.expect_status.into(), body: body.map(Into::into) };
        Ok((Request { bytes: bytes(&self.request)?.into(), kind }, expect))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StatusForm {
    Success,
    NoError,
    Only(u16),
}

impl From<GoodStatus> for StatusForm {
    fn from(status: GoodStatus) -> Self {
        match status {
            GoodStatus::Success => Self::Success,
            GoodStatus::NoError => Self::NoError,
            GoodStatus::Only(code) => Self::Only(code),
        }
    }
}

impl From<StatusForm> for GoodStatus {
    fn from(form: StatusForm) -> Self {
        match form {
            StatusForm::Success => Self::Success,
            StatusForm::NoError => Self::NoError,
            StatusForm::Only(code) => Self::Only(code),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum ModelForm {
    Closed {
        think_ns: u64,
        ramp_up_ns: Option<u64>,
        requests_per_user: Option<u32>,
    },
    Open {
        /// All of its bits: every share has to be of the same schedule.
        rate_bits: u64,
        arrivals: ArrivalsName,
        backlog_max: u32,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum IoForm {
    Auto,
    Uring,
    Epoll,
}

/// A load plan, in figures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanForm {
    connections: u32,
    /// Of each agent.
    threads: u32,
    model: ModelForm,
    duration_ns: u64,
    requests: Option<u64>,
    warm_up_ns: u64,
    connect_ns: u64,
    request_ns: u64,
    idle_ns: u64,
    drain_ns: u64,
    fresh: bool,
    seed: u64,
    io: IoForm,
    /// Streams, the bits of the two windows, and whether it is spoken without asking.
    http2: Option<(u32, u32, u32, bool)>,
}

impl PlanForm {
    fn of(plan: &LoadPlan) -> Result<Self, NotALoad> {
        let Threads::Fixed(threads) = plan.threads else {
            return Err(NotALoad::new("a load on several machines has a fixed number of threads on each"));
        };
        let model = match plan.load {
            Load::Closed { think, start, requests_per_user } => ModelForm::Closed {
                think_ns: think.as_nanos(),
                ramp_up_ns: match start {
                    UserStart::WithWarmUp => None,
                    UserStart::RampUp { span, .. } => Some(span.as_nanos()),
                },
                requests_per_user: requests_per_user.map(NonZeroU32::get),
            },
            Load::Open { arrivals, backlog_max } => {
                let rate_bits = arrivals.rate().as_per_sec().to_bits();
                let arrivals = ArrivalsName::of(arrivals);
                ModelForm::Open { rate_bits, arrivals, backlog_max: backlog_max.get() }
            }
            Load::Scripted { .. } => return Err(NotALoad::new("a scenario is carried by one machine")),
        };
        Ok(Self {
            connections: plan.connections.get(),
            threads: threads.get(),
            model,
            duration_ns: plan.stop.duration.as_nanos(),
            requests: plan.stop.requests.map(std::num::NonZeroU64::get),
            warm_up_ns: plan.warm_up.as_nanos(),
            connect_ns: plan.timeouts.connect.as_nanos(),
            request_ns: plan.timeouts.request.as_nanos(),
            idle_ns: plan.timeouts.idle.as_nanos(),
            drain_ns: plan.timeouts.drain.as_nanos(),
            fresh: plan.reuse == Reuse::FreshConnection,
            seed: plan.seed.0,
            io: match plan.io {
                IoChoice::Auto => IoForm::Auto,
                IoChoice::Uring => IoForm::Uring,
                IoChoice::Epoll => IoForm::Epoll,
            },
            http2: match plan.http {
                HttpVersion::Http1 => None,
                HttpVersion::Http2 { settings: it, prior_knowledge } => {
                    Some((it.streams, it.window_bits, it.connection_window_bits, prior_knowledge))
                }
            },
        })
    }

    /// What a user would have asked for.
    fn arguments(&self) -> Result<LoadArguments, NotALoad> {
        let none = || NotALoad::new("a figure of the load is none");
        let base = LoadArguments {
            connections: Some(self.connections),
            threads: Some(Threads::Fixed(NonZeroU32::new(self.threads).ok_or_else(none)?)),
            duration: (self.duration_ns != u64::MAX).then(|| Duration::from_nanos(self.duration_ns)),
            warm_up: Some(Duration::from_nanos(self.warm_up_ns)),
            timeout: Some(Duration::from_nanos(self.request_ns)),
            connect_timeout: Some(Duration::from_nanos(self.connect_ns)),
            idle_timeout: Some(Duration::from_nanos(self.idle_ns)),
            drain: Some(Duration::from_nanos(self.drain_ns)),
            fresh_connections: self.fresh,
            seed: Some(Seed(self.seed)),
            io: match self.io {
                IoForm::Auto => IoChoice::Auto,
                IoForm::Uring => IoChoice::Uring,
                IoForm::Epoll => IoChoice::Epoll,
            },
            http2: self.http2.map(|(streams, window_bits, connection_window_bits, prior_knowledge)| {
                Http2Arguments {
                    streams: Some(streams),
                    window_bits: Some(window_bits),
                    connection_window_bits: Some(connection_window_bits),
                    prior_knowledge,
                }
            }),
            ..LoadArguments::default()
        };
        Ok(match self.model {
            ModelForm::Closed { think_ns, ramp_up_ns, requests_per_user } => LoadArguments {
                think: Some(Duration::from_nanos(think_ns)),
                ramp_up: ramp_up_ns.map(Duration::from_nanos),
                requests_per_user,
                // Each user's own are all of them.
                requests: if requests_per_user.is_some() { None } else { self.requests },
                ..base
            },
            ModelForm::Open { rate_bits, arrivals, backlog_max } => LoadArguments {
                rate: Some(Rate::per_sec(f64::from_bits(rate_bits)).ok_or_else(none)?),
                arrivals,
                backlog_max: Some(backlog_max),
                requests: self.requests,
                ..base
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assign(arguments: &LoadArguments) -> (LoadPlan, Assign) {
        let plan = LoadPlan::new(arguments).unwrap();
        let request = Request { bytes: b"GET / HTTP/1.1\r\n\r\n\xff"[..].into(), kind: RequestKind::Head };
        let expect = Expect { status: GoodStatus::Only(204), body: Some(b"\x00x"[..].into()) };
        let whole = Assign::new("http://h:81/", ("h", 81), &plan, &request, &expect).unwrap();
        let whole = whole.numbered(u64::MAX);
        let bytes = serde_json::to_vec(&whole).unwrap();
        let again: Assign = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(again, whole);
        assert_eq!((again.request().unwrap(), again.load()), ((request, expect), u64::MAX));
        (plan, again)
    }

    #[test]
    fn the_plan_that_arrives_is_the_one_that_was_sent() {
        let base = LoadArguments::default;
        let ms = |ms| Some(Duration::from_millis(ms));
        let open = || LoadArguments { rate: Rate::per_sec(1e6 / 3.0), ..base() };
        for arguments in [
            base(),
            LoadArguments { think: ms(3), warm_up: ms(70), ..base() },
            LoadArguments { requests: Some(77), duration: ms(900), ..base() },
            LoadArguments { ramp_up: ms(50), requests_per_user: Some(9), ..base() },
            LoadArguments { fresh_connections: true, connect_timeout: ms(9), idle_timeout: ms(8), ..base() },
            LoadArguments { drain: ms(7), ..base() },
            LoadArguments { arrivals: ArrivalsName::Bursts(NonZeroU32::MIN), ..open() },
            LoadArguments {
                arrivals: ArrivalsName::Poisson,
                seed: Some(Seed(u64::MAX)),
                backlog_max: Some(300),
                ..open()
            },
            LoadArguments { requests: Some(1000), io: IoChoice::Epoll, ..open() },
            LoadArguments {
                http2: Some(Http2Arguments { streams: Some(8), ..Http2Arguments::default() }),
                ..base()
            },
        ] {
            let (plan, assign) = assign(&arguments);
            assert_eq!(assign.plan().unwrap(), plan);
        }
    }

    #[test]
    fn shares_are_numbered_and_others_are_none() {
        let (_, whole) = assign(&LoadArguments::default());
        assert_eq!(whole.share(), Ok(Share::WHOLE));
        let third = Share { index: 2, of: NonZeroU32::new(3).unwrap() };
        assert_eq!(whole.share_of(third).share(), Ok(third));
        for (index, of) in [(0, 0), (3, 3), (0, AGENTS_MAX + 1)] {
            assert!(Assign { index, of, ..whole.clone() }.share().is_err());
        }
        let mut wrong = whole.clone();
        wrong.plan.threads = 0;
        assert!(wrong.plan().is_err());
        wrong = whole;
        wrong.plan.connections = 0;
        assert!(wrong.plan().unwrap_err().to_string().contains("zero connections"));
    }
}
