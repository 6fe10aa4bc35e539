//! What of a load is a metric.

use explain::{ReasonKind, Validity};
use record::{Distribution, LoadResult, StepResult};
use serde::Serialize;
use url::Url;

use crate::model::{Families, Family, Labels, Metric, Sample, Span, Unit, Value};
use crate::times::{Timed, add_times, buckets};

/// A load and what is known of it.
#[derive(Debug, Clone, Copy)]
pub struct ExportedLoad<'a> {
    /// What it came to.
    pub result: &'a LoadResult,
    /// Its audit.
    pub validity: &'a Validity,
    /// Its response times in full, where they were kept.
    pub response_times: Option<&'a stats::Distribution>,
    /// What is said of it in labels.
    pub labels: &'a Labels,
    /// When it was measured, where that is known.
    pub span: Option<Span>,
}

/// The labels of a load by itself: where it went, what was asked for, and what made it.
pub fn load_labels(result: &LoadResult) -> Labels {
    let driver = result.driver.as_ref().map_or("proofload", |driver| &driver.name);
    Labels::default()
        .with("target", target(&result.url))
        .with("load", &*result.load.label)
        .with("driver", driver.to_lowercase())
}

/// A URL without what may be secret or another each time. What is no URL, as the name of a scenario, stays as it is.
fn target(url: &str) -> String {
    // One with a colon in it looks like one.
    let Some(mut parsed) = Url::parse(url).ok().filter(Url::has_host) else { return url.to_owned() };
    parsed.set_query(None);
    parsed.set_fragment(None);
    // Only a URL without a host has no place for them.
    let _ = (parsed.set_username(""), parsed.set_password(None));
    parsed.into()
}

/// Everything that is a metric of a load by itself.
pub fn of_load(load: &ExportedLoad<'_>) -> Vec<Family> {
    let mut families = Families::default();
    add_load(&mut families, load);
    families.into_vec()
}

/// Adds what is a metric of a load.
pub(crate) fn add_load(families: &mut Families, load: &ExportedLoad<'_>) {
    let to = &mut Adder { families, labels: load.labels, span: load.span };
    add_validity(to, load.validity);
    add_rates(to, load.result);
    add_counts(to, load.result);
    add_connections(to, load.result);
    add_generator(to, load.result);
    let result = load.result;
    for (base, what, times) in [
        ("response_time", "From when a request was due until it was done", &result.response_time_us),
        ("service_time", "From when a request was sent until it was done", &result.service_time_us),
        ("lag", "From when a request was due until it was sent", &result.lag_us),
        (
            "generator_lag",
            "From when a request was due and had a connection until it was sent",
            &result.generator_lag_us,
        ),
        (
            "receive_lag",
            "How long answers lay in the generator's own socket before it read them",
            &result.receive_lag_us,
        ),
    ] {
        to.times(Timed { base, what, of: Unit::Requests }, times);
    }
    if let Some(times) = &result.first_byte_us {
        let what = "From when a request was sent until the first byte of its answer was read";
        to.times(Timed { base: "time_to_first_byte", what, of: Unit::Requests }, times);
    }
    if let Some(times) = load.response_times {
        let help = "Response times in buckets; requests that were not answered are in +Inf alone";
        to.add(Metric::buckets("response_time", help), Value::Buckets(buckets(times)));
    }
    add_steps(to, &result.steps);
}

/// Where samples of one load go.
pub(crate) struct Adder<'a> {
    pub(crate) families: &'a mut Families,
    pub(crate) labels: &'a Labels,
    pub(crate) span: Option<Span>,
}

impl Adder<'_> {
    pub(crate) fn add(&mut self, metric: Metric, value: Value) {
        self.families.add(metric, Sample { labels: self.labels.clone(), value, span: self.span });
    }

    /// A gauge, where there is a figure.
    pub(crate) fn gauge(&mut self, base: &str, unit: Unit, figure: impl Into<Option<f64>>, help: &str) {
        if let Some(figure) = figure.into() {
            self.add(Metric::gauge(base, unit, help), Value::Number(figure));
        }
    }

    /// The same for a whole number.
    pub(crate) fn count(&mut self, base: &str, unit: Unit, count: impl Into<u64>, help: &str) {
        self.add(Metric::gauge(base, unit, help), Value::Count(count.into()));
    }

    /// What a record says of times.
    fn times(&mut self, timed: Timed<'_>, times: &Distribution) {
        add_times(self.families, timed, times, self.labels, self.span);
    }

    /// One sample with a label more.
    pub(crate) fn labelled(&mut self, metric: Metric, label: &'static str, name: &str, value: Value) {
        let labels = self.labels.clone().with(label, name);
        self.families.add(metric, Sample { labels, value, span: self.span });
    }
}

fn add_validity(to: &mut Adder<'_>, validity: &Validity) {
    let help = "1 where nothing speaks against the figures, 0 where something does: see proofload_doubt";
    to.count("valid", Unit::None, validity.valid, help);
    for reason in &validity.reasons {
        let doubt =
            Metric::gauge("doubt", Unit::None, "1 for each kind of thing that speaks against the figures");
        to.labelled(doubt, "kind", &kind_name(reason.kind), Value::Count(1));
    }
}

/// The name of a kind as in JSON: `late_receiver`.
fn kind_name(kind: ReasonKind) -> String {
    json_name(&kind)
}

/// What a unit variant is called in records.
pub fn json_name(it: &impl Serialize) -> String {
    serde_json::to_value(it).ok().and_then(|name| Some(name.as_str()?.to_owned())).unwrap_or_default()
}

fn add_rates(to: &mut Adder<'_>, result: &LoadResult) {
    to.gauge(
        "goodput",
        Unit::RequestsPerSecond,
        result.goodput_per_s,
        "Answers with the expected status and body that were done within the window",
    );
    to.gauge(
        "throughput",
        Unit::RequestsPerSecond,
        result.throughput_per_s,
        "Requests done within the window, whatever became of them",
    );
    to.gauge("received", Unit::BytesPerSecond, result.received_bytes_per_s, "Received within the window");
    to.gauge(
        "offered",
        Unit::RequestsPerSecond,
        result.load.rate_per_s,
        "Requests due, where that was asked for (open model)",
    );
    to.gauge("window", Unit::Seconds, result.window.duration_s, "Length of the measured window");
    to.count("connections", Unit::Connections, result.load.connections, "Connections of the load");
}

fn add_counts(to: &mut Adder<'_>, result: &LoadResult) {
    let outcomes = [("answered", result.outcomes.answered)].into_iter().chain(result.outcomes.failures());
    for (outcome, count) in outcomes {
        let help = "Requests due within the window, by what became of them; each has exactly one outcome";
        to.labelled(Metric::requests("requests", help), "outcome", outcome, Value::Count(count));
    }
    let help = "Requests due within the window that were answered with the expected status and body";
    to.add(Metric::requests("requests_as_expected", help), Value::Count(result.answered_as_expected));
    for (base, label, counts, help) in [
        ("answers", "status", &result.statuses, "Answers by status"),
        (
            "connect_failures",
            "kind",
            &result.connect_failures,
            "Requests that got no connection, by the reason",
        ),
        (
            "tls_failures",
            "kind",
            &result.tls_failures,
            "Requests whose connection's TLS handshake came to nothing, by the reason",
        ),
        ("malformed_answers", "kind", &result.malformations, "Answers that were no HTTP, by what was wrong"),
    ] {
        for (name, count) in counts {
            to.labelled(Metric::requests(base, help), label, name, Value::Count(*count));
        }
    }
}

/// What connections of the whole load did, its warm-up included, and how they were secured.
fn add_connections(to: &mut Adder<'_>, result: &LoadResult) {
    // Other programs don't tell.
    if result.driver.is_some() {
        return;
    }
    let all = &result.connections;
    let counts = [
        ("connections_opened", Unit::Connections, all.opened, "Connections that came up, in the whole load"),
        (
            "connections_closed_by_server",
            Unit::Connections,
            all.closed_by_server,
            "Connections that the server closed, announced or not, in the whole load",
        ),
        (
            "stream_waits",
            Unit::Requests,
            all.stream_waits,
            "Requests that waited for a stream of HTTP/2, in the whole load",
        ),
        (
            "window_waits",
            Unit::Requests,
            all.window_waits,
            "Requests whose body waited for the server's windows of HTTP/2, in the whole load",
        ),
    ];
    for (base, unit, count, help) in counts {
        to.add(Metric::counter(base, unit, help), Value::Count(count));
    }
    let waits = [
        ("stream_wait", all.stream_wait_us, "How long requests waited for a stream of HTTP/2, in all"),
        (
            "window_wait",
            all.window_wait_us,
            "How long bodies waited for the server's windows of HTTP/2, in all",
        ),
    ];
    for (base, us, help) in waits {
        to.add(Metric::counter(base, Unit::Seconds, help), Value::Number(us as f64 / 1e6));
    }
    let Some(tls) = &result.tls else { return };
    for (kind, count) in [("full", tls.full_handshakes), ("resumed", tls.resumed_handshakes)] {
        let help = "TLS handshakes that succeeded, in the whole load";
        let metric = Metric::counter("tls_handshakes", Unit::Connections, help);
        to.labelled(metric, "kind", kind, Value::Count(count));
    }
    for (kind, count) in &tls.failed_handshakes {
        let help = "TLS handshakes that failed, in the whole load, by the reason";
        let metric = Metric::counter("tls_failed_handshakes", Unit::Connections, help);
        to.labelled(metric, "kind", kind, Value::Count(*count));
    }
    for (base, what, times) in [
        ("tls_connect", "From the first packet of a connection until it was there", &tls.connect_us),
        ("tls_handshake", "From when a connection was there until it was secured", &tls.handshake_us),
    ] {
        to.times(Timed { base, what, of: Unit::Connections }, times);
    }
}

fn add_generator(to: &mut Adder<'_>, result: &LoadResult) {
    let seconds = |us: Option<f64>| us.map(|us| us / 1e6);
    to.gauge(
        "client_cpu_per_request",
        Unit::Seconds,
        seconds(result.cpu_us_per_request),
        "CPU time of the load's own threads a request done",
    );
    let window_s = result.window.duration_s;
    let own = (window_s > 0.0).then(|| result.generator.cpu_s / window_s);
    let cores = result.driver.as_ref().map_or(own, |foreign| foreign.cpu_cores);
    to.gauge("client_cpu_cores", Unit::Cores, cores, "Cores that what made the load kept busy");
    if result.driver.is_none() {
        let help = "Share of the window that the busiest load thread was on a CPU";
        to.gauge("client_busy", Unit::Ratio, result.generator.busy_share, help);
    }
    if let Some(law) = &result.littles_law {
        let help = "How far users and throughput times response time are apart, closed model";
        to.gauge("littles_law_gap", Unit::Ratio, law.gap, help);
    }
}

/// A scenario's steps, of which a record has some hundred at most. A transaction may be called as a request is.
fn add_steps(to: &mut Adder<'_>, steps: &[StepResult]) {
    for step in steps {
        let labels = to.labels.clone().with("step", &*step.label);
        let labels = if step.transaction { labels.with("transaction", "true") } else { labels };
        let mut of_step = Adder { families: &mut *to.families, labels: &labels, span: to.span };
        let failed = Metric::requests("step_failures", "Requests of a step that failed, or its transactions");
        of_step.add(failed, Value::Count(step.failed));
        let help =
            "Requests of a step, or its transactions, that were under way at the end and had not failed";
        of_step.add(Metric::requests("step_cut_off", help), Value::Count(step.cut_off));
        let what = "From when a request of a step was due until it was done; a transaction's whole length";
        let timed = Timed { base: "step_response_time", what, of: Unit::Requests };
        of_step.times(timed, &step.response_time_us);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_tells_no_secret_and_a_scenario_keeps_its_name() {
        let told = target("http://me:word@127.0.0.1:8080/a?token=1#x");
        assert_eq!(told, "http://127.0.0.1:8080/a");
        assert_eq!(target("shop, mixed"), "shop, mixed");
        assert_eq!(target("Shop: basket #1"), "Shop: basket #1");
    }
}
