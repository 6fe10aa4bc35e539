//! What is exported, before it takes anyone's form: families of samples with labels.

use std::collections::{BTreeMap, BTreeSet};

/// What every name begins with.
const PREFIX: &str = "proofload";
/// Characters of a label's value that are kept; a longer one ends in a hash of the whole, so that two stay two.
pub const LABEL_CHARS_MAX: usize = 200;

/// What the samples of a family are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A figure that may go either way.
    Gauge,
    /// A count since the load began.
    Counter,
    /// A distribution in buckets.
    Histogram,
    /// What is said in labels; its value is 1.
    Info,
}

/// What a family is measured in. Its name follows from it, as Prometheus has it: base units, spelt out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Bytes.
    Bytes,
    /// Bytes a second.
    BytesPerSecond,
    /// Requests.
    Requests,
    /// Requests a second.
    RequestsPerSecond,
    /// A share, 0 to 1.
    Ratio,
    /// Cores kept busy, or cores.
    Cores,
    /// Connections.
    Connections,
    /// Threads.
    Threads,
    /// None: a yes or no, or an info.
    None,
}

impl Unit {
    /// What Prometheus names end with.
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::Seconds => "_seconds",
            Self::Bytes => "_bytes",
            Self::BytesPerSecond => "_bytes_per_second",
            Self::RequestsPerSecond => "_per_second",
            Self::Ratio => "_ratio",
            Self::Requests | Self::Cores | Self::Connections | Self::Threads | Self::None => "",
        }
    }

    /// The unit's own name, in metadata; empty where the family's name does not end with it.
    pub fn name(self) -> &'static str {
        self.suffix().trim_start_matches('_')
    }

    /// As the Unified Code for Units of Measure has it, which OpenTelemetry asks for.
    pub const fn ucum(self) -> &'static str {
        match self {
            Self::Seconds => "s",
            Self::Bytes => "By",
            Self::BytesPerSecond => "By/s",
            Self::Requests => "{request}",
            Self::RequestsPerSecond => "{request}/s",
            Self::Ratio => "1",
            Self::Cores => "{cpu}",
            Self::Connections => "{connection}",
            Self::Threads => "{thread}",
            Self::None => "",
        }
    }
}

/// Labels by name, each name once, in the order of names. An empty value is as good as none and is left out.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Labels(BTreeMap<&'static str, String>);

impl Labels {
    /// The same with one more; of two with one name the last stays.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        let value = bounded(value.into());
        if !value.is_empty() {
            self.0.insert(name, value);
        }
        self
    }

    /// Each name and value, names in order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.iter().map(|(name, value)| (*name, value.as_str()))
    }
}

/// The value, or the beginning of one that is too long with a hash of all of it.
fn bounded(value: String) -> String {
    match value.char_indices().nth(LABEL_CHARS_MAX) {
        None => value,
        Some((end, _)) => format!("{}…{:016x}", &value[..end], fnv1a(value.as_bytes())),
    }
}

/// FNV-1a: the same on every machine and in every version, as a label must be.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

/// When something was measured, in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Its start.
    pub start_ms: i64,
    /// Its end, not before its start.
    pub end_ms: i64,
}

impl Span {
    /// From an instant as records have it (RFC 3339) on, so many seconds. `None` where it can't be read.
    pub fn from_rfc3339(started: &str, length_s: f64) -> Option<Self> {
        let start_ms = started.parse::<jiff::Timestamp>().ok()?.as_millisecond();
        let length_ms = if length_s.is_finite() { (length_s.max(0.0) * 1e3) as i64 } else { 0 };
        Some(Self { start_ms, end_ms: start_ms.saturating_add(length_ms) })
    }
}

/// A distribution in buckets of fixed bounds.
#[derive(Debug, Clone, PartialEq)]
pub struct Buckets {
    /// The longest time that each bucket but the last holds, seconds, in order.
    pub bounds_s: &'static [f64],
    /// Samples in each bucket, one more than bounds: the last holds what is longer than all of them, and every sample
    /// that is known to be longer than something only.
    pub counts: Vec<u64>,
    /// The sum of all times, seconds; `None` where some are not known, since a mean of it would be too short.
    pub sum_s: Option<f64>,
}

impl Buckets {
    /// Samples in all.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Each bucket's bound, infinite for the last, and the samples up to it.
    pub fn cumulative(&self) -> impl Iterator<Item = (f64, u64)> {
        let bounds = self.bounds_s.iter().copied().chain([f64::INFINITY]);
        bounds.zip(&self.counts).scan(0, |sum, (bound, count)| {
            *sum += count;
            Some((bound, *sum))
        })
    }
}

/// What a sample says.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A figure.
    Number(f64),
    /// A whole number, exact.
    Count(u64),
    /// A distribution.
    Buckets(Buckets),
}

/// One series at one time.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// What it is of.
    pub labels: Labels,
    /// What it says.
    pub value: Value,
    /// When that was measured; `None` where nobody knows.
    pub span: Option<Span>,
}

/// What a family is called and means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metric {
    /// Without prefix and unit: `goodput`.
    pub base: String,
    /// In one sentence.
    pub help: String,
    /// What its samples are.
    pub kind: Kind,
    /// What they are measured in.
    pub unit: Unit,
}

impl Metric {
    /// A gauge.
    pub fn gauge(base: impl Into<String>, unit: Unit, help: impl Into<String>) -> Self {
        Self { base: base.into(), help: help.into(), kind: Kind::Gauge, unit }
    }

    /// A count that only grows.
    pub fn counter(base: impl Into<String>, unit: Unit, help: impl Into<String>) -> Self {
        Self { base: base.into(), help: help.into(), kind: Kind::Counter, unit }
    }

    /// A counter of requests.
    pub fn requests(base: impl Into<String>, help: impl Into<String>) -> Self {
        Self::counter(base, Unit::Requests, help)
    }

    /// What is said in labels.
    pub fn info(base: impl Into<String>, help: impl Into<String>) -> Self {
        Self { base: base.into(), help: help.into(), kind: Kind::Info, unit: Unit::None }
    }

    /// Times in buckets.
    pub fn buckets(base: impl Into<String>, help: impl Into<String>) -> Self {
        Self { base: base.into(), help: help.into(), kind: Kind::Histogram, unit: Unit::Seconds }
    }

    /// Its name in Prometheus without what the kind appends: `proofload_goodput_per_second`.
    pub fn prometheus_name(&self) -> String {
        format!("{PREFIX}_{}{}", self.base, self.unit.suffix())
    }

    /// The name of its samples in Prometheus; a histogram's have more behind it.
    pub fn sample_name(&self) -> String {
        let end = match self.kind {
            Kind::Counter => "_total",
            Kind::Info => "_info",
            Kind::Gauge | Kind::Histogram => "",
        };
        self.prometheus_name() + end
    }

    /// Its name in OpenTelemetry, from which a collector makes [`Metric::sample_name`] again.
    pub fn otel_name(&self) -> String {
        let end = if self.kind == Kind::Info { "_info" } else { "" };
        format!("{PREFIX}.{}{end}", self.base)
    }
}

/// A metric and its samples.
#[derive(Debug, Clone, PartialEq)]
pub struct Family {
    /// What it is called and means.
    pub metric: Metric,
    /// No two of them have the same labels.
    pub samples: Vec<Sample>,
}

/// Families in the order in which they came first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Families {
    all: Vec<Family>,
    places: BTreeMap<String, usize>,
    series: BTreeSet<(usize, Labels)>,
}

impl Families {
    /// Adds a sample. One of a series that is there already is left out: of two the first counts, as in reports.
    pub fn add(&mut self, metric: Metric, sample: Sample) {
        let place = *self.places.entry(metric.base.clone()).or_insert_with(|| {
            self.all.push(Family { metric, samples: Vec::new() });
            self.all.len() - 1
        });
        if self.series.insert((place, sample.labels.clone())) {
            self.all[place].samples.push(sample);
        }
    }

    /// All of them.
    pub fn into_vec(self) -> Vec<Family> {
        self.all
    }
}

/// Dates every sample to one instant, in milliseconds since 1970: for systems that refuse what is old.
pub fn date_all(families: &mut [Family], at_ms: i64) {
    for sample in families.iter_mut().flat_map(|family| &mut family.samples) {
        sample.span = Some(Span { start_ms: at_ms, end_ms: at_ms });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_from_base_unit_and_kind() {
        let goodput = Metric::gauge("goodput", Unit::RequestsPerSecond, "");
        assert_eq!(goodput.sample_name(), "proofload_goodput_per_second");
        assert_eq!(goodput.otel_name(), "proofload.goodput");
        let requests = Metric::requests("requests", "");
        assert_eq!(
            (requests.prometheus_name(), requests.sample_name()),
            ("proofload_requests".to_owned(), "proofload_requests_total".to_owned())
        );
        assert_eq!(Metric::info("run", "").sample_name(), "proofload_run_info");
    }

    #[test]
    fn a_long_value_is_cut_and_two_that_differ_at_the_end_stay_two() {
        let long = |end: &str| Labels::default().with("stack", "ü".repeat(LABEL_CHARS_MAX) + end);
        let (one, other) = (long("a"), long("b"));
        assert_ne!(one, other);
        let (_, value) = one.iter().next().unwrap();
        assert_eq!(value.chars().count(), LABEL_CHARS_MAX + 1 + 16);
        let whole = long("");
        assert_eq!(whole.iter().next().unwrap().1.chars().count(), LABEL_CHARS_MAX);
    }

    #[test]
    fn of_two_samples_of_a_series_the_first_counts_and_an_empty_label_is_none() {
        let mut families = Families::default();
        for (value, label) in [(1.0, "x"), (2.0, "x"), (3.0, "")] {
            let labels = Labels::default().with("stack", label);
            let sample = Sample { labels, value: Value::Number(value), span: None };
            families.add(Metric::gauge("goodput", Unit::RequestsPerSecond, ""), sample);
        }
        let families = families.into_vec();
        assert_eq!(families.len(), 1);
        let told: Vec<&Value> = families[0].samples.iter().map(|it| &it.value).collect();
        assert_eq!(told, [&Value::Number(1.0), &Value::Number(3.0)]);
        assert_eq!(families[0].samples[1].labels, Labels::default());
    }

    #[test]
    fn a_span_begins_when_the_record_says_so() {
        let span = Span::from_rfc3339("2026-01-01T00:00:00Z", 1.5).unwrap();
        assert_eq!((span.start_ms, span.end_ms - span.start_ms), (1_767_225_600_000, 1_500));
        assert_eq!(Span::from_rfc3339("yesterday", 1.0), None);
    }
}
