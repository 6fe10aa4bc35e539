//! One load of a scenario, from what was prepared to the result.

use std::num::{NonZeroU32, NonZeroU64};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use driver::{Control, monotonic_now};
use engine::{Expect, GoodStatus, Load, Request, Reuse, Share, Stop, Timeouts};
use events::Moment;
use http::RequestKind;
use plan::load::{CONNECTIONS_MAX, EXCHANGES_MAX};
use plan::{HttpVersion, IoChoice, LoadPlan, PlanError, Threads};
use record::{IntervalLog, LoadResult};
use scenario::{Prepared, Report, RequestCheck, WorldSetup};
use std::collections::BTreeMap;
use units::{Duration, Instant, Seed};

use super::{Counts, Servers, Users, length, seats};
use crate::error::LabError;
use crate::job::Job;
use crate::scripted;

/// What a load of a scenario depends on beside it.
#[derive(Debug, Clone, Default)]
pub struct Setting<'a> {
    /// Seed of every random choice.
    pub seed: Seed,
    /// What `${__P(…)}` reads.
    pub properties: BTreeMap<String, String>,
    /// Requests in all, after which the load ends.
    pub requests: Option<NonZeroU64>,
    /// What carries the load.
    pub io: IoChoice,
    /// How servers are secured that are named with https.
    pub tls: tls::Settings,
    /// Which version of HTTP users speak.
    pub http: HttpVersion,
    /// Whether each request has a connection of its own.
    pub fresh_connections: bool,
    /// Where the response times go as an HdrHistogram interval log.
    pub interval_log: Option<&'a IntervalLog>,
}

impl Setting<'_> {
    /// Refuses steps that can't be carried out over the version that is spoken.
    pub(super) fn check_steps(&self, prepared: &Prepared) -> Result<(), PlanError> {
        match self.http {
            HttpVersion::Http1 => Ok(()),
            HttpVersion::Http2 { .. } => prepared.check_for_sharing(h2::check),
        }
    }

    /// What a request must pass to be sent over the version that is spoken.
    fn check(&self) -> RequestCheck {
        match self.http {
            HttpVersion::Http1 => http::check,
            HttpVersion::Http2 { .. } => h2::check,
        }
    }

    /// What users begin with, if they began now.
    pub(super) fn world(&self) -> WorldSetup {
        WorldSetup {
            seed: self.seed,
            properties: self.properties.clone(),
            clock: monotonic_now(),
            epoch_ms: epoch_ms(),
            share: Share::WHOLE,
            check: self.check(),
        }
    }
}

/// The scenario as a load. It ends when its users have left, at the end of its length, or after `requests`. Over HTTP/1.1 each
/// user has a connection. Over HTTP/2 as many share one as there are streams, and each server has connections of its own.
///
/// # Errors
/// More connections or exchanges than a load may have.
pub fn plan(prepared: &Prepared, setting: &Setting<'_>, servers: &Servers) -> Result<LoadPlan, LabError> {
    let users = seats(prepared);
    let http = match setting.http {
        HttpVersion::Http1 => HttpVersion::Http1,
        HttpVersion::Http2 { settings, prior_knowledge } => {
            // Nobody would be on those beyond.
            let streams = settings.streams.min(users.get());
            HttpVersion::Http2 { settings: h2::Settings { streams, ..settings }, prior_knowledge }
        }
    };
    Ok(LoadPlan {
        connections: connections(users, http, servers)?,
        threads: Threads::ONE,
        load: Load::Scripted { users },
        stop: Stop { duration: length(prepared).unwrap_or(Duration::MAX), requests: setting.requests },
        warm_up: Duration::ZERO,
        timeouts: timeouts(prepared),
        reuse: if setting.fresh_connections { Reuse::FreshConnection } else { Reuse::KeepAlive },
        seed: setting.seed,
        io: setting.io,
        http,
    })
}

/// The shortest that any request waits; what is out at the end may be answered for as long as any may take.
fn timeouts(prepared: &Prepared) -> Timeouts {
    let (scenario, all) = (prepared.scenario(), prepared.waits());
    Timeouts {
        connect: all.iter().map(|it| it.connect).min().unwrap_or(scenario.connect_timeout),
        request: all.iter().map(|it| it.request).min().unwrap_or(scenario.request_timeout),
        idle: Duration::MAX,
        drain: all.iter().map(|it| it.request).max().unwrap_or(scenario.request_timeout),
    }
}

/// Connections of so many users, to all servers together.
fn connections(users: NonZeroU32, http: HttpVersion, servers: &Servers) -> Result<NonZeroU32, LabError> {
    if http == HttpVersion::Http1 {
        return Ok(users);
    }
    let to_each = users.get().div_ceil(http.streams());
    let servers = servers.addresses().len().max(1) as u64;
    let all = u64::from(to_each) * servers;
    let is_too_many = all > CONNECTIONS_MAX.into() || all * u64::from(http.streams()) > EXCHANGES_MAX.into();
    let all = u32::try_from(all).ok().and_then(NonZeroU32::new).filter(|_| !is_too_many);
    all.ok_or_else(|| {
        let what =
            format!("{users} users with a stream to each of {servers} servers are more than a load can have");
        PlanError::new(what, "let there be fewer users, or name fewer servers").into()
    })
}

/// Carries the scenario out. What each request came to goes to `report`, which is given back.
///
/// # Errors
/// Beside what any load may fail at: users whose steps do not end, or that send to a server nobody named.
pub fn carry_out<R: Report + Send>(
    prepared: &Arc<Prepared>,
    setting: &Setting<'_>,
    servers: Servers,
    report: R,
    control: &Control,
    observe: &mut dyn FnMut(Moment<'_>),
) -> Result<(LoadResult, R, Counts), LabError> {
    let plan = plan(prepared, setting, &servers)?;
    let (targets, peers) = (servers.addresses().to_vec(), servers.peers().cloned());
    // What users send is theirs to say, and so is what a good answer is.
    let request = Request { bytes: [].into(), kind: RequestKind::Ordinary };
    let job = Job {
        url: &prepared.scenario().name,
        targets: &targets,
        request: &request,
        expect: &Expect { status: GoodStatus::NoError, body: None },
        plan: &plan,
        socket: None,
        tls: peers.as_ref(),
        interval_log: setting.interval_log,
        keep: None,
    };
    let users = Users::new(prepared, setting.world(), servers, report);
    let (result, mut users) = scripted::run_over(&job, vec![users], control, observe)?;
    let mut users = users.pop().expect("as many scripts come back as went in");
    users.end(end_of(&result));
    let (report, counts, error) = users.into_parts();
    match error {
        Some(why) => Err(LabError::Scenario(why)),
        None => Ok((result, report, counts)),
    }
}

/// When the window of a load ended, from which on none of its users was asked what it does.
fn end_of(result: &LoadResult) -> Instant {
    let record::Window { start_monotonic_ns, duration_s } = result.window;
    Instant::from_nanos(start_monotonic_ns) + Duration::from_secs_f64(duration_s)
}

fn epoch_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
