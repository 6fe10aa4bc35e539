//! The result of one load: what `proofload hit --json` prints and what a trial holds.

use std::collections::BTreeMap;

use plan::experiment::bounds::NAME_BYTES_MAX;
use serde::{Deserialize, Serialize};

use crate::agents::AgentResult;
use crate::distribution::{Distribution, FastTimes};
use crate::server_pods::ServerPods;
use crate::tls::Tls;

/// Version of [`LoadResult`]. It grows when a field changes its meaning or goes; added fields keep it.
pub const LOAD_VERSION: u32 = 1;

/// Header fields that any request has, or that follow from the rest of it.
const FIELDS_OF_ALL: [&str; 3] = ["content-length", "host", "user-agent"];
/// Names of header fields of a request that are kept.
pub(crate) const HEADER_NAMES_MAX: usize = 1_000;

/// The result of one load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadResult {
    /// [`LOAD_VERSION`] of the writer.
    pub version: u32,
    /// Where the load went.
    pub url: String,
    /// What was asked for.
    pub load: Load,
    /// What was sent again and again. Absent where users sent several requests, and in records of versions that did not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<RequestSummary>,
    /// What made it, where it was not our own engine: then figures that it can't know are absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<ForeignDriver>,
    /// When it was measured.
    pub window: Window,
    /// Whether the run was ended before its time.
    pub interrupted: bool,
    /// Requests intended within the window: the sum of the outcomes.
    pub intended: u64,
    /// What became of them.
    pub outcomes: Outcomes,
    /// Answered with the expected status and body; part of `outcomes.answered`.
    pub answered_as_expected: u64,
    /// The first answer that was not the expected one. Absent where there was none, of scenarios, whose steps say why they
    /// failed, and of other load generators.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_wrong_answer: Option<WrongAnswer>,
    /// Answers by status.
    pub statuses: BTreeMap<String, u64>,
    /// `outcomes.connect_failed` by kind.
    pub connect_failures: BTreeMap<String, u64>,
    /// `outcomes.tls_failed` by kind.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tls_failures: BTreeMap<String, u64>,
    /// `outcomes.malformed` by kind.
    pub malformations: BTreeMap<String, u64>,
    /// Connections that the server ended with a GOAWAY (HTTP/2), by the code that it gave: over the whole load, warm-up included.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub go_aways: BTreeMap<String, u64>,
    /// Expected answers done within the window, a second.
    pub goodput_per_s: f64,
    /// Requests done within the window, a second, whatever their outcome.
    pub throughput_per_s: f64,
    /// Bytes received a second.
    pub received_bytes_per_s: f64,
    /// done − sent. Another program's own clock may begin earlier, as when it connects.
    pub service_time_us: Distribution,
    /// Service times of the faster requests. Absent where there were none, where another program made the load, and in records
    /// of versions that kept none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fast_service_time_us: Option<FastTimes>,
    /// First byte of the answer − sent; over HTTP/2 its head. Absent where another program made the load, and in records of versions that
    /// did not note it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte_us: Option<Distribution>,
    /// done − intended.
    pub response_time_us: Distribution,
    /// sent − intended.
    pub lag_us: Distribution,
    /// sent − (due and a connection free): the generator's own part of the lag.
    pub generator_lag_us: Distribution,
    /// done − arrived: how long answers lay in the generator's own socket before it read them, of a sample of the
    /// connections; part of the service time, and not the server's. Empty in records of versions that did not ask.
    #[serde(default)]
    pub receive_lag_us: Distribution,
    /// CPU time of the load threads a request done, µs.
    pub cpu_us_per_request: Option<f64>,
    /// The generator's own load.
    pub generator: Generator,
    /// What became of connections.
    pub connections: Connections,
    /// By which way connections went, where that is not to an address of the URL's host: `the socket /run/app.sock`. Absent of
    /// others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
    /// How connections were secured; absent where none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
    /// Closed model without think time only.
    pub littles_law: Option<LittlesLaw>,
    /// The window second by second. Empty in records of versions that did not keep it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seconds: Vec<Second>,
    /// Of a scenario, its steps in the order in which they came first. Empty where every request is the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepResult>,
    /// The machines that carried it in shares, by number. Empty where one did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<AgentResult>,
    /// The pods of the server meanwhile, of a load from pods that watched them. Absent of others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_pods: Option<ServerPods>,
}

/// A connection that brings fewer answers than these is as good as one for each request.
const ANSWERS_OF_FRESH_MAX: u64 = 2;

impl LoadResult {
    /// Whether it was HTTP/1.1 without TLS, which is what a control is asked over.
    pub fn is_plain_http1(&self) -> bool {
        self.tls.is_none() && self.load.streams.is_none()
    }

    /// Whether it was asked as the control `control` was, so that the rate of that one is a ceiling of its own: over HTTP/1.1 without
    /// TLS, and with connections used alike. A connection for each request costs the client several times as much.
    pub fn is_asked_as(&self, control: &Self) -> bool {
        self.is_plain_http1() && self.has_fresh_connections() == control.has_fresh_connections()
    }

    /// Whether a connection was good for hardly more than an answer: closed by the client as it was asked to, or by the server whatever
    /// the client was asked to.
    pub fn has_fresh_connections(&self) -> bool {
        let beyond_the_first = self.connections.opened.saturating_sub(u64::from(self.load.connections));
        let opened = self.connections.opened_in_window.unwrap_or(beyond_the_first);
        let answers_most = opened.saturating_mul(ANSWERS_OF_FRESH_MAX);
        !self.load.keep_alive || (opened > 0 && self.outcomes.answered < answers_most)
    }

    /// How long first bytes took, where that tells more than the service times do: not where all answers came at once.
    pub fn first_byte_apart(&self) -> Option<&Distribution> {
        self.first_byte_us.as_ref().filter(|it| **it != self.service_time_us)
    }

    /// Response times, or service times where another driver told no others: what is shown of a load where one is.
    pub const fn times(&self) -> &Distribution {
        if self.driver.is_some() { &self.service_time_us } else { &self.response_time_us }
    }

    /// Requests under way when somebody ended the load: nobody knows what would have become of them.
    pub const fn cut_off(&self) -> u64 {
        if self.interrupted { self.outcomes.in_flight } else { 0 }
    }

    /// Requests that were due and not answered as expected, but for what was cut off.
    pub const fn failed(&self) -> u64 {
        self.intended.saturating_sub(self.answered_as_expected).saturating_sub(self.cut_off())
    }
}

/// What a request was, without what it said: values of header fields and bodies may be secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestSummary {
    /// Its method.
    pub method: String,
    /// Names of its header fields, in lower case and sorted, each as often as it was sent. Without those that any request has, or
    /// that follow from the rest: `Host`, `User-Agent` and `Content-Length`.
    pub header_names: Vec<String>,
    /// How long its body was.
    pub body_bytes: u64,
}

impl RequestSummary {
    /// Of a request with fields of these names. No more of it is kept than is read back.
    pub fn new<'a>(method: &[u8], names: impl IntoIterator<Item = &'a [u8]>, body_bytes: u64) -> Self {
        let text = |bytes: &[u8]| {
            String::from_utf8_lossy(&bytes[..bytes.len().min(NAME_BYTES_MAX as usize)]).into_owned()
        };
        let names = names.into_iter().map(|name| text(&name.to_ascii_lowercase()));
        let mut header_names: Vec<String> =
            names.filter(|name| !FIELDS_OF_ALL.contains(&name.as_str())).collect();
        header_names.sort_unstable();
        header_names.truncate(HEADER_NAMES_MAX);
        Self { method: text(method), header_names, body_bytes }
    }
}

/// An answer that was not the expected one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrongAnswer {
    /// Its status.
    pub status: u16,
    /// The beginning of its body, at most 256 bytes of it; what is not UTF-8 is replaced. Absent where nobody looked at the
    /// body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_start: Option<String>,
}

/// What a step of a scenario came to, from the load's start to its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepResult {
    /// Its label.
    pub label: String,
    /// Whether it is not a request but a group of steps that is reported as one.
    pub transaction: bool,
    /// How many failed: were not answered, or not as was asserted. Those that could not be sent have no time.
    pub failed: u64,
    /// How many were under way when the load ended or their user could not go on, and had not failed until then: of their times
    /// only a lower bound is known.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cut_off: u64,
    /// Why the first of them did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_failure: Option<String>,
    /// done − intended, of redirects all of them; of transactions with or without pauses, as the scenario says.
    pub response_time_us: Distribution,
}

/// A program that made a load in place of our own engine.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ForeignDriver {
    /// `wrk` or `JMeter`.
    pub name: String,
    /// As it tells it itself.
    pub version: String,
    /// The command that ran.
    pub command: Vec<String>,
    /// What it can't know, in words. A figure of it is empty, absent or 0 in this record.
    pub cannot_know: Vec<String>,
    /// CPU time a second of its processes within the window; absent where it was not seen.
    pub cpu_cores: Option<f64>,
    /// Cores that it might run on.
    pub cores: u32,
}

/// A second of the window, or what was left at its end: all load threads together.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Second {
    /// From the window's start to its own, seconds.
    pub from_s: f64,
    /// How long it was, seconds.
    pub length_s: f64,
    /// Answers as expected that were done in it, a second.
    pub goodput_per_s: f64,
    /// Requests done in it that brought no such answer, a second.
    pub failures_per_s: f64,
    /// Median and 99th percentile of the response times of what was done in it, µs; absent where nothing was. Where so few requests
    /// know no 99th percentile, it is what that exceeds in 95 of 100 cases, and a lower bound; in records of older versions it is the
    /// figure of these requests.
    pub p50_us: Option<f64>,
    /// Whether the median is only known to be longer than that. Records of older versions do not say.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub p50_is_lower_bound: bool,
    /// See `p50_us`.
    pub p99_us: Option<f64>,
    /// See `p50_is_lower_bound`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub p99_is_lower_bound: bool,
    /// The longest response time of what was done in it, µs; absent where nothing was, and in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_us: Option<f64>,
    /// See `p50_is_lower_bound`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub max_is_lower_bound: bool,
}

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// In words: `64 connections`.
    pub label: String,
    /// `closed` or `open`.
    pub model: String,
    /// `constant`, `poisson` or `bursts of 100`, in the open model.
    pub arrivals: Option<String>,
    /// Requests due a second, in the open model.
    pub rate_per_s: Option<f64>,
    /// Think time, in the closed model.
    pub think_us: Option<f64>,
    /// Users start one after another over so long, seconds; `None` where all start with the warm-up.
    #[serde(default)]
    pub ramp_up_s: Option<f64>,
    /// Requests each user makes, in the closed model; `None` where they go on until the end.
    #[serde(default)]
    pub requests_per_user: Option<u32>,
    /// Connections.
    pub connections: u32,
    /// Exchanges that share a connection at most, where they do: with HTTP/2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams: Option<u32>,
    /// What was spoken: `http/2`; absent where it was HTTP/1.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// Load threads.
    pub threads: u32,
    /// Why so many, where that was left to Proofload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads_why: Option<String>,
    /// Whether connections are used again.
    pub keep_alive: bool,
    /// Warm-up before the window, seconds.
    pub warm_up_s: f64,
    /// Length asked for, seconds; absent where only a request count bounds the load.
    pub duration_s: Option<f64>,
    /// Requests asked for.
    pub requests: Option<u64>,
    /// Request timeout, seconds.
    pub timeout_s: f64,
    /// The longest that any request may take, seconds, where they have different timeouts; `timeout_s` is then the shortest. Absent
    /// of others, and in records of versions that did not note it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_max_s: Option<f64>,
    /// Seed of the arrivals.
    pub seed: u64,
    /// What carried it: `io_uring` or `epoll`, or the name of another driver.
    pub io: String,
    /// Why it was not the one that was wanted; records used to name it `io_uring_refused`.
    #[serde(default, alias = "io_uring_refused", skip_serializing_if = "Option::is_none")]
    pub backend_refused: Option<String>,
}

/// The measured window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// Its start on CLOCK_MONOTONIC of the generator's machine, ns. In the open model without warm-up the
    /// first request of a constant schedule is due at it.
    pub start_monotonic_ns: u64,
    /// Its length, seconds.
    pub duration_s: f64,
}

/// One count for each outcome; their sum is `intended`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Outcomes {
    /// With any status.
    pub answered: u64,
    /// Not within the request timeout.
    pub timed_out: u64,
    /// No connection to send it on.
    pub connect_failed: u64,
    /// A connection whose TLS handshake came to nothing. Absent in records of versions without TLS.
    #[serde(default)]
    pub tls_failed: u64,
    /// Connection reset.
    pub reset: u64,
    /// Connection closed before the answer was whole.
    pub closed_early: u64,
    /// What came was not an HTTP answer.
    pub malformed: u64,
    /// Refused by a server that did nothing for it: of HTTP/2, as the two that follow.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub refused_stream: u64,
    /// Broken off by the server, on a connection that went on.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stream_reset: u64,
    /// Not looked at by a server that ended the connection, twice or before they were sent.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub gone_away: u64,
    /// Due and not sent before the deadline.
    pub unsent: u64,
    /// Due, and dropped since as many as may wait for a connection were waiting. Records of before it was an outcome
    /// count these as `unsent`.
    #[serde(default)]
    pub backlog_overflow: u64,
    /// Sent and neither answered nor timed out when the run ended.
    pub in_flight: u64,
    /// Due in the share of an agent that fell silent, so that it is not known whether they were sent, nor what became of
    /// them. In the closed model: one for each user, who may have been waiting when its agent was last heard of.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lost: u64,
}

impl Load {
    /// Exchanges that can be under way at one time, each of which is a user of the closed model: HTTP/1.1 has one a
    /// connection.
    pub fn exchanges(&self) -> u32 {
        self.connections.saturating_mul(self.streams.unwrap_or(1))
    }

    /// The longest that any request may take, seconds.
    pub fn longest_timeout_s(&self) -> f64 {
        self.timeout_max_s.unwrap_or(self.timeout_s)
    }
}

impl Outcomes {
    /// Requests that were not answered, by name; those that HTTP/2 alone has, or several machines, where there are any.
    pub fn failures(&self) -> Vec<(&'static str, u64)> {
        let seldom = [
            ("refused_stream", self.refused_stream),
            ("stream_reset", self.stream_reset),
            ("gone_away", self.gone_away),
            ("lost", self.lost),
        ];
        let mut all = vec![
            ("timed_out", self.timed_out),
            ("connect_failed", self.connect_failed),
            ("tls_failed", self.tls_failed),
            ("reset", self.reset),
            ("closed_early", self.closed_early),
            ("malformed", self.malformed),
            ("unsent", self.unsent),
            ("backlog_overflow", self.backlog_overflow),
            ("in_flight", self.in_flight),
        ];
        all.extend(seldom.into_iter().filter(|(_, count)| *count > 0));
        all
    }

    /// Requests that were due and never reached the server.
    pub fn never_sent(&self) -> u64 {
        self.unsent.saturating_add(self.backlog_overflow)
    }
}

/// What the generator used.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Generator {
    /// Share of the window that the busiest load thread was on a CPU, 0 to 1.
    pub busy_share: f64,
    /// CPU time of all load threads within the window, seconds.
    pub cpu_s: f64,
    /// Receives that io_uring stopped for want of a free buffer, and that were started again; each was late by it.
    #[serde(default)]
    pub no_buffer: u64,
    /// Turns of a load thread in which io_uring held completions back for want of room; each was late by it.
    #[serde(default)]
    pub completions_held_back: u64,
}

/// Connections over the whole load, warm-up included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Connections {
    /// That came up.
    pub opened: u64,
    /// That came up within the window; absent in older records, and where another driver does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opened_in_window: Option<u64>,
    /// Attempts that failed before the load began; they carried no request.
    pub opening_failures: u64,
    /// Closed by the server, announced or not.
    pub closed_by_server: u64,
    /// Requests that a server had not looked at when it ended their connection, and that went out again on the next: of
    /// HTTP/2.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub resent: u64,
    /// Requests that waited for a stream of HTTP/2: their connection carried as many as its server allows.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stream_waits: u64,
    /// How long those of them waited that went out, µs in all.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stream_wait_us: u64,
    /// The longest of these waits, µs.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stream_wait_max_us: u64,
    /// Requests whose body waited for the server's windows, of HTTP/2.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub window_waits: u64,
    /// How long, µs in all; absent in older records.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub window_wait_us: u64,
    /// Dropped because unasked-for bytes came.
    pub unsolicited: u64,
    /// Most requests that waited for a connection at one time.
    pub backlog_peak: u64,
    /// Requests due beyond the bound of the backlog, those of the warm-up included.
    pub backlog_overflow: u64,
}

/// N against X · R.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LittlesLaw {
    /// N.
    pub users: f64,
    /// X.
    pub throughput_per_s: f64,
    /// R, in seconds, censored times at their bounds.
    pub mean_response_s: f64,
    /// |N − X·R| / N.
    pub gap: f64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl From<stats::LittlesLaw> for LittlesLaw {
    fn from(law: stats::LittlesLaw) -> Self {
        Self {
            users: law.users,
            throughput_per_s: law.throughput_per_s,
            mean_response_s: law.mean_response_s,
            gap: law.gap(),
        }
    }
}

impl From<&stats::Tally> for Outcomes {
    fn from(tally: &stats::Tally) -> Self {
        Self {
            answered: tally.answered,
            timed_out: tally.timed_out,
            connect_failed: tally.connect_failed,
            tls_failed: tally.tls_failed,
            reset: tally.reset,
            closed_early: tally.closed_early,
            malformed: tally.malformed,
            refused_stream: tally.refused_stream,
            stream_reset: tally.stream_reset,
            gone_away: tally.gone_away,
            unsent: tally.unsent,
            backlog_overflow: tally.backlog_overflow,
            in_flight: tally.in_flight,
            lost: tally.lost,
        }
    }
}
