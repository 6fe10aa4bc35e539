//! What the sources have in common: requests without variables become the steps of a scenario.

use std::num::{NonZeroU32, NonZeroU64};

use plan::experiment::bounds::NAME_BYTES_MAX;
use plan::{HttpVersion, PlanError, without_user};
use scenario::{RateSpan, RequestStep, Scenario, Step, Template, Users};
use units::{Duration, Rate};
use url::Url;

use crate::along::Fields;

/// What stands for the rest of a name.
const CUT: &str = "…";

/// How requests found elsewhere are to be sent here.
#[derive(Debug, Clone)]
pub struct SourceOptions {
    /// `http://host[:port]` that takes the place of the recorded or documented server.
    pub base: Option<String>,
    /// Users; where they arrive, how many there are at one time at most.
    pub users: NonZeroU32,
    /// How new users arrive, each for one iteration; `None` of those who go through their steps again and again.
    pub arrivals: Option<Arriving>,
    /// Time over which they start.
    pub ramp_up: Duration,
    /// Iterations of each; `None` until the duration is over.
    pub iterations: Option<NonZeroU64>,
    /// Length of the load.
    pub duration: Option<Duration>,
    /// Longest wait for an answer.
    pub timeout: Duration,
    /// Longest wait for a connection.
    pub connect_timeout: Duration,
    /// What they are sent over.
    pub http: HttpVersion,
    /// What is sent with every request of a recording or a document.
    pub fields: Fields,
}

/// How users arrive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Arriving {
    /// How many a second, once the ramp-up is over.
    pub rate: Rate,
    /// Whether the gaps between them are exponential, and not even.
    pub poisson: bool,
    /// For how long, the ramp-up included.
    pub length: Duration,
}

impl Arriving {
    /// The rate rises evenly from nothing for `ramp_up`, which is part of the length.
    fn spans(&self, ramp_up: Duration) -> Vec<RateSpan> {
        let ramp_up = ramp_up.min(self.length);
        let (rate, rest) = (Some(self.rate), self.length.saturating_sub(ramp_up));
        let spans = [
            RateSpan { from: None, to: rate, length: ramp_up },
            RateSpan { from: rate, to: rate, length: rest },
        ];
        spans.into_iter().filter(|span| !span.length.is_zero()).collect()
    }
}

/// A scenario, and what of the source is not in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Sourced {
    /// The scenario.
    pub scenario: Scenario,
    /// What was left out, and why, a sentence each.
    pub left_out: Vec<String>,
    /// What else of it is not as it may be expected, likewise.
    pub notes: Vec<String>,
}

impl SourceOptions {
    /// A scenario of `steps`, if there are any.
    pub(crate) fn scenario(
        &self,
        name: String,
        steps: Vec<Step>,
        left_out: Vec<String>,
    ) -> Result<Sourced, PlanError> {
        if steps.is_empty() {
            let why = left_out.first().map_or("it names no request", String::as_str);
            return Err(PlanError::new(format!("nothing of it can be sent: {why}"), "see docs/sources.md"));
        }
        let users = match &self.arrivals {
            Some(arriving) => Users::Open {
                spans: arriving.spans(self.ramp_up),
                poisson: arriving.poisson,
                seats_max: Some(self.users),
            },
            None => Users::Closed {
                count: self.users,
                ramp_up: self.ramp_up,
                delay: Duration::ZERO,
                iterations: self.iterations,
                duration: self.duration,
            },
        };
        let scenario = Scenario::of_steps(name, users, steps, self.timeout);
        let scenario = Scenario { connect_timeout: self.connect_timeout, ..scenario };
        Ok(Sourced { scenario, left_out, notes: Vec::new() })
    }

    /// `base` as a URL.
    pub(crate) fn base_url(&self) -> Result<Option<Url>, PlanError> {
        let Some(base) = &self.base else { return Ok(None) };
        let help = "write it like http://127.0.0.1:8080";
        let shown = without_user(base);
        let url = Url::parse(base)
            .map_err(|error| PlanError::new(format!("--base `{shown}` is not a URL ({error})"), help))?;
        if !["http", "https"].contains(&url.scheme()) || !url.has_host() {
            return Err(PlanError::new(format!("--base `{shown}` is no http or https server"), help));
        }
        Ok(Some(url))
    }

    /// Whether `base` says a path, were it only a slash. As a URL it has one in any case.
    pub(crate) fn base_says_path(&self) -> bool {
        let behind = self.base.as_deref().and_then(|base| base.split_once("://"));
        behind.is_some_and(|(_, behind)| behind.contains('/'))
    }
}

/// What a request is called that nobody gave a name: as much of it as a record has room for.
pub(crate) fn called(method: &str, url: &str) -> String {
    let mut name = format!("{method} {url}");
    let most = NAME_BYTES_MAX as usize;
    if name.len() > most {
        let end = (0..=most - CUT.len()).rev().find(|at| name.is_char_boundary(*at)).unwrap_or(0);
        name.truncate(end);
        name.push_str(CUT);
    }
    name
}

/// A request without variables, checks or extractions.
pub(crate) fn request(method: &str, url: &Url, headers: &[(String, String)], body: &str) -> RequestStep {
    let headers = headers.iter().map(|(name, value)| (Template::text(name), Template::text(value)));
    let (headers, body) = (headers.collect(), Template::text(body));
    RequestStep { headers, body, ..RequestStep::plain(called(method, url.path()), method, url.as_str()) }
}

/// `url` on the server `base`, with its path below that of `base`.
pub(crate) fn rebased(url: &Url, base: &Url) -> Url {
    let mut moved = base.clone();
    moved.set_path(&format!("{}{}", base.path().trim_end_matches('/'), url.path()));
    moved.set_query(url.query());
    moved
}
