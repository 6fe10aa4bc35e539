//! OpenTelemetry's metrics (OTLP 1.x) as protobuf over HTTP.

use prost::Message;

use crate::model::{Family, Kind, Labels, Metric, Sample, Value};

use self::proto::{
    AggregationTemporality, AnyValue, ExportMetricsServiceRequest, ExportMetricsServiceResponse, Gauge,
    Histogram, HistogramDataPoint, InstrumentationScope, KeyValue, NumberDataPoint, Resource,
    ResourceMetrics, ScopeMetrics, Sum, any_value, metric, number_data_point,
};

pub mod proto;

/// The media type of a message.
pub const OTLP_CONTENT_TYPE: &str = "application/x-protobuf";
/// Data points of one message at most: some 600 KB, below the 4 MB that a collector takes by default.
const POINTS_MAX: usize = 2000;
/// Who says so: the resource and the scope.
const SERVICE: &str = "proofload";

/// The messages that carry all samples of this `version` of Proofload, to be sent in order. A sample without a time is of
/// `now_ms`.
pub fn otlp(families: &[Family], version: &str, now_ms: i64) -> Vec<Vec<u8>> {
    let mut messages = Vec::new();
    let (mut at_hand, mut points) = (Vec::new(), 0);
    for family in families {
        let mut rest = family.samples.as_slice();
        while !rest.is_empty() {
            if points == POINTS_MAX {
                messages.push(message(std::mem::take(&mut at_hand), version));
                points = 0;
            }
            let (now, later) = rest.split_at(rest.len().min(POINTS_MAX - points));
            at_hand.push(metric_of(&family.metric, now, now_ms));
            points += now.len();
            rest = later;
        }
    }
    if !at_hand.is_empty() {
        messages.push(message(at_hand, version));
    }
    messages
}

fn message(metrics: Vec<proto::Metric>, version: &str) -> Vec<u8> {
    let text = |key: &str, value: &str| attribute(key, any_value::Value::StringValue(value.to_owned()));
    let resource =
        Resource { attributes: vec![text("service.name", SERVICE), text("service.version", version)] };
    let scope = InstrumentationScope { name: SERVICE.to_owned(), version: version.to_owned() };
    let scope_metrics = vec![ScopeMetrics { scope: Some(scope), metrics }];
    let all = ResourceMetrics { resource: Some(resource), scope_metrics };
    ExportMetricsServiceRequest { resource_metrics: vec![all] }.encode_to_vec()
}

fn metric_of(metric: &Metric, samples: &[Sample], now_ms: i64) -> proto::Metric {
    let numbers = || samples.iter().filter_map(|sample| number_point(sample, now_ms)).collect();
    let temporality = AggregationTemporality::Cumulative.into();
    let data = match metric.kind {
        Kind::Gauge | Kind::Info => metric::Data::Gauge(Gauge { data_points: numbers() }),
        Kind::Counter => metric::Data::Sum(Sum {
            data_points: numbers(),
            aggregation_temporality: temporality,
            is_monotonic: true,
        }),
        Kind::Histogram => metric::Data::Histogram(Histogram {
            data_points: samples.iter().filter_map(|sample| histogram_point(sample, now_ms)).collect(),
            aggregation_temporality: temporality,
        }),
    };
    proto::Metric {
        name: metric.otel_name(),
        description: metric.help.clone(),
        unit: metric.unit.ucum().to_owned(),
        data: Some(data),
    }
}

fn number_point(sample: &Sample, now_ms: i64) -> Option<NumberDataPoint> {
    let value = match &sample.value {
        Value::Number(number) => number_data_point::Value::AsDouble(*number),
        Value::Count(count) => number_data_point::Value::AsInt(i64::try_from(*count).unwrap_or(i64::MAX)),
        Value::Buckets(_) => return None,
    };
    let (start_time_unix_nano, time_unix_nano) = times(sample, now_ms);
    let attributes = attributes(&sample.labels);
    Some(NumberDataPoint { attributes, start_time_unix_nano, time_unix_nano, value: Some(value) })
}

fn histogram_point(sample: &Sample, now_ms: i64) -> Option<HistogramDataPoint> {
    let Value::Buckets(buckets) = &sample.value else { return None };
    let (start_time_unix_nano, time_unix_nano) = times(sample, now_ms);
    Some(HistogramDataPoint {
        attributes: attributes(&sample.labels),
        start_time_unix_nano,
        time_unix_nano,
        count: buckets.count(),
        sum: buckets.sum_s,
        bucket_counts: buckets.counts.clone(),
        explicit_bounds: buckets.bounds_s.to_vec(),
    })
}

/// Start and end of a sample, nanoseconds since 1970.
fn times(sample: &Sample, now_ms: i64) -> (u64, u64) {
    let ns = |ms: i64| u64::try_from(ms).unwrap_or(0).saturating_mul(1_000_000);
    sample.span.map_or((ns(now_ms), ns(now_ms)), |span| (ns(span.start_ms), ns(span.end_ms)))
}

/// Labels as attributes: under the names of the semantic conventions where they have one, and ours otherwise.
fn attributes(labels: &Labels) -> Vec<KeyValue> {
    labels
        .iter()
        .map(|(name, value)| match (name, value.parse::<i64>()) {
            ("status", Ok(status)) => {
                attribute("http.response.status_code", any_value::Value::IntValue(status))
            }
            // That of a scenario is a name.
            ("target", _) if value.contains("://") => {
                attribute("url.full", any_value::Value::StringValue(value.to_owned()))
            }
            ("quantile", _) => attribute("quantile", any_value::Value::StringValue(value.to_owned())),
            _ => attribute(&format!("{SERVICE}.{name}"), any_value::Value::StringValue(value.to_owned())),
        })
        .collect()
}

fn attribute(key: &str, value: any_value::Value) -> KeyValue {
    KeyValue { key: key.to_owned(), value: Some(AnyValue { value: Some(value) }) }
}

/// What a receiver did not take of a message that it took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartlyRefused {
    /// Data points.
    pub points: i64,
    /// The receiver's own words; empty where it gave none.
    pub why: String,
}

/// What the body of a good answer says was left out. A body that is none of OTLP's says nothing.
pub fn partly_refused(body: &[u8]) -> Option<PartlyRefused> {
    let partial = ExportMetricsServiceResponse::decode(body).ok()?.partial_success?;
    (partial.rejected_data_points > 0)
        .then_some(PartlyRefused { points: partial.rejected_data_points, why: partial.error_message })
}
