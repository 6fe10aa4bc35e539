//! Prometheus remote write 1.0: a snappy block of protobuf.

use prost::Message;

use crate::model::{Family, Kind, Labels, Metric, Sample, Value};
use crate::text::number_text;

use self::proto::{Label, MetricMetadata, MetricType, TimeSeries, WriteRequest};

/// What a message is sent with.
pub const REMOTE_WRITE_HEADERS: [(&str, &str); 3] = [
    ("Content-Type", "application/x-protobuf"),
    ("Content-Encoding", "snappy"),
    ("X-Prometheus-Remote-Write-Version", "0.1.0"),
];
/// Series of one message at most: what Prometheus itself sends (`max_samples_per_send`). A message then has some 500 KB
/// before it is compressed, below what receivers take.
const SERIES_MAX: usize = 2000;

/// The messages that carry all samples, to be sent in order. A sample without a time is of `now_ms`.
pub fn remote_write(families: &[Family], now_ms: i64) -> Vec<Vec<u8>> {
    let mut messages = Vec::new();
    let mut at_hand = WriteRequest::default();
    for family in families.iter().filter(|family| !family.samples.is_empty()) {
        at_hand.metadata.push(metadata(&family.metric));
        for sample in &family.samples {
            let series = series(&family.metric, sample, now_ms);
            if at_hand.timeseries.len() + series.len() > SERIES_MAX && !at_hand.timeseries.is_empty() {
                messages.push(compressed(&std::mem::take(&mut at_hand)));
            }
            at_hand.timeseries.extend(series);
        }
    }
    if !at_hand.timeseries.is_empty() {
        messages.push(compressed(&at_hand));
    }
    messages
}

fn compressed(message: &WriteRequest) -> Vec<u8> {
    snap::raw::Encoder::new()
        .compress_vec(&message.encode_to_vec())
        .expect("a message of some thousand series is far below snappy's 4 GiB")
}

fn metadata(metric: &Metric) -> MetricMetadata {
    let kind = match metric.kind {
        Kind::Gauge => MetricType::Gauge,
        Kind::Counter => MetricType::Counter,
        Kind::Histogram => MetricType::Histogram,
        Kind::Info => MetricType::Info,
    };
    MetricMetadata {
        r#type: kind.into(),
        metric_family_name: metric.sample_name(),
        help: metric.help.clone(),
        unit: metric.unit.name().to_owned(),
    }
}

/// The series of a sample: one, or of a distribution one a bucket and two.
fn series(metric: &Metric, sample: &Sample, now_ms: i64) -> Vec<TimeSeries> {
    let name = metric.sample_name();
    let timestamp = sample.span.map_or(now_ms, |span| span.end_ms);
    let one = |end: &str, labels: &Labels, value: f64| TimeSeries {
        labels: labels_of(&format!("{name}{end}"), labels),
        samples: vec![proto::Sample { value, timestamp }],
    };
    match &sample.value {
        Value::Number(number) => vec![one("", &sample.labels, *number)],
        Value::Count(count) => vec![one("", &sample.labels, *count as f64)],
        Value::Buckets(buckets) => {
            let of_bucket = |(bound, count): (f64, u64)| {
                let labels = sample.labels.clone().with("le", number_text(bound));
                one("_bucket", &labels, count as f64)
            };
            let sum = buckets.sum_s.map(|sum| one("_sum", &sample.labels, sum));
            let count = one("_count", &sample.labels, buckets.count() as f64);
            buckets.cumulative().map(of_bucket).chain(sum).chain([count]).collect()
        }
    }
}

/// Labels in the order of names, the metric's among them: `__name__` is before every letter.
fn labels_of(name: &str, labels: &Labels) -> Vec<Label> {
    let metric = Label { name: "__name__".into(), value: name.to_owned() };
    let others = labels.iter().map(|(name, value)| Label { name: name.to_owned(), value: value.to_owned() });
    [metric].into_iter().chain(others).collect()
}

/// The messages of `prometheus/prompb` that remote write 1.0 needs, by the numbers of their fields.
pub mod proto {
    /// The body of a POST, before it is compressed with snappy.
    #[derive(Clone, PartialEq, prost::Message)]
    pub struct WriteRequest {
        /// Series.
        #[prost(message, repeated, tag = "1")]
        pub timeseries: Vec<TimeSeries>,
        /// Kind, help and unit of each metric; receivers may ignore it.
        #[prost(message, repeated, tag = "3")]
        pub metadata: Vec<MetricMetadata>,
    }

    /// One series.
    #[derive(Clone, PartialEq, prost::Message)]
    pub struct TimeSeries {
        /// In the order of names.
        #[prost(message, repeated, tag = "1")]
        pub labels: Vec<Label>,
        /// In the order of time.
        #[prost(message, repeated, tag = "2")]
        pub samples: Vec<Sample>,
    }

    /// A label.
    #[derive(Clone, PartialEq, Eq, prost::Message)]
    pub struct Label {
        /// Its name.
        #[prost(string, tag = "1")]
        pub name: String,
        /// Its value.
        #[prost(string, tag = "2")]
        pub value: String,
    }

    /// A value at a time.
    #[derive(Clone, Copy, PartialEq, prost::Message)]
    pub struct Sample {
        /// The value.
        #[prost(double, tag = "1")]
        pub value: f64,
        /// Milliseconds since 1970.
        #[prost(int64, tag = "2")]
        pub timestamp: i64,
    }

    /// What a metric is.
    #[derive(Clone, PartialEq, Eq, prost::Message)]
    pub struct MetricMetadata {
        /// Its kind.
        #[prost(enumeration = "MetricType", tag = "1")]
        pub r#type: i32,
        /// Its name.
        #[prost(string, tag = "2")]
        pub metric_family_name: String,
        /// What it says.
        #[prost(string, tag = "4")]
        pub help: String,
        /// What it is measured in.
        #[prost(string, tag = "5")]
        pub unit: String,
    }

    /// Kinds of metrics.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
    #[repr(i32)]
    pub enum MetricType {
        /// Not said.
        Unknown = 0,
        /// A count.
        Counter = 1,
        /// A figure.
        Gauge = 2,
        /// A distribution.
        Histogram = 3,
        /// Labels.
        Info = 6,
    }
}
