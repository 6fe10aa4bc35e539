//! The messages of `opentelemetry/proto` that metrics need, by the numbers of their fields.
//!
//! Spelt out because the crate that has all of them brings the SDK and an RPC stack along; the official decoder reads
//! what they encode (`scripts/exports-compat.sh`).

use prost::{Enumeration, Message, Oneof};

/// The body of a POST to `/v1/metrics`.
#[derive(Clone, PartialEq, Message)]
pub struct ExportMetricsServiceRequest {
    /// One for each resource; what is sent here has a single one.
    #[prost(message, repeated, tag = "1")]
    pub resource_metrics: Vec<ResourceMetrics>,
}

/// The body of a good answer.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct ExportMetricsServiceResponse {
    /// Absent where everything was taken.
    #[prost(message, optional, tag = "1")]
    pub partial_success: Option<ExportMetricsPartialSuccess>,
}

/// What was not taken.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct ExportMetricsPartialSuccess {
    /// Data points that were not taken; 0 with a message is a warning.
    #[prost(int64, tag = "1")]
    pub rejected_data_points: i64,
    /// The receiver's reason, for people.
    #[prost(string, tag = "2")]
    pub error_message: String,
}

/// Metrics of a resource.
#[derive(Clone, PartialEq, Message)]
pub struct ResourceMetrics {
    /// What was measured, by its attributes.
    #[prost(message, optional, tag = "1")]
    pub resource: Option<Resource>,
    /// Its metrics, by the part that measured them.
    #[prost(message, repeated, tag = "2")]
    pub scope_metrics: Vec<ScopeMetrics>,
}

/// What metrics are of: a set of attributes that all of them share.
#[derive(Clone, PartialEq, Message)]
pub struct Resource {
    /// `service.name` and what else identifies it.
    #[prost(message, repeated, tag = "1")]
    pub attributes: Vec<KeyValue>,
}

/// Metrics of a part.
#[derive(Clone, PartialEq, Message)]
pub struct ScopeMetrics {
    /// The part of the program that measured them.
    #[prost(message, optional, tag = "1")]
    pub scope: Option<InstrumentationScope>,
    /// Its metrics.
    #[prost(message, repeated, tag = "2")]
    pub metrics: Vec<Metric>,
}

/// A part that measures.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct InstrumentationScope {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Its version.
    #[prost(string, tag = "2")]
    pub version: String,
}

/// A metric and its points.
#[derive(Clone, PartialEq, Message)]
pub struct Metric {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// What it says.
    #[prost(string, tag = "2")]
    pub description: String,
    /// What it is measured in (UCUM).
    #[prost(string, tag = "3")]
    pub unit: String,
    /// Its points.
    #[prost(oneof = "metric::Data", tags = "5, 7, 9")]
    pub data: Option<metric::Data>,
}

/// See [`Metric`].
pub mod metric {
    use super::{Gauge, Histogram, Oneof, Sum};

    /// Points by kind.
    #[derive(Clone, PartialEq, Oneof)]
    pub enum Data {
        /// Figures.
        #[prost(message, tag = "5")]
        Gauge(Gauge),
        /// Counts.
        #[prost(message, tag = "7")]
        Sum(Sum),
        /// Distributions.
        #[prost(message, tag = "9")]
        Histogram(Histogram),
    }
}

/// Figures.
#[derive(Clone, PartialEq, Message)]
pub struct Gauge {
    /// The points.
    #[prost(message, repeated, tag = "1")]
    pub data_points: Vec<NumberDataPoint>,
}

/// Counts.
#[derive(Clone, PartialEq, Message)]
pub struct Sum {
    /// The points.
    #[prost(message, repeated, tag = "1")]
    pub data_points: Vec<NumberDataPoint>,
    /// Since when they count.
    #[prost(enumeration = "AggregationTemporality", tag = "2")]
    pub aggregation_temporality: i32,
    /// Whether they only grow.
    #[prost(bool, tag = "3")]
    pub is_monotonic: bool,
}

/// Distributions.
#[derive(Clone, PartialEq, Message)]
pub struct Histogram {
    /// The points.
    #[prost(message, repeated, tag = "1")]
    pub data_points: Vec<HistogramDataPoint>,
    /// Since when they count.
    #[prost(enumeration = "AggregationTemporality", tag = "2")]
    pub aggregation_temporality: i32,
}

/// Since when a count counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub enum AggregationTemporality {
    /// Not said.
    Unspecified = 0,
    /// The last point.
    Delta = 1,
    /// A fixed start.
    Cumulative = 2,
}

/// A figure or count.
#[derive(Clone, PartialEq, Message)]
pub struct NumberDataPoint {
    /// The labels that tell this series from others of the metric.
    #[prost(message, repeated, tag = "7")]
    pub attributes: Vec<KeyValue>,
    /// Its start, likewise.
    #[prost(fixed64, tag = "2")]
    pub start_time_unix_nano: u64,
    /// The end of the span that was measured, nanoseconds since 1970.
    #[prost(fixed64, tag = "3")]
    pub time_unix_nano: u64,
    /// Absent only in messages of others: a point without a value says that there is none.
    #[prost(oneof = "number_data_point::Value", tags = "4, 6")]
    pub value: Option<number_data_point::Value>,
}

/// See [`NumberDataPoint`].
pub mod number_data_point {
    use super::Oneof;

    /// A number of either type; a count stays exact beyond 2⁵³ as an integer.
    #[derive(Clone, Copy, PartialEq, Oneof)]
    pub enum Value {
        /// A figure.
        #[prost(double, tag = "4")]
        AsDouble(f64),
        /// A count.
        #[prost(sfixed64, tag = "6")]
        AsInt(i64),
    }
}

/// A distribution.
#[derive(Clone, PartialEq, Message)]
pub struct HistogramDataPoint {
    /// The labels that tell this series from others of the metric.
    #[prost(message, repeated, tag = "9")]
    pub attributes: Vec<KeyValue>,
    /// Its start, likewise.
    #[prost(fixed64, tag = "2")]
    pub start_time_unix_nano: u64,
    /// The end of the span that was measured, nanoseconds since 1970.
    #[prost(fixed64, tag = "3")]
    pub time_unix_nano: u64,
    /// Samples.
    #[prost(fixed64, tag = "4")]
    pub count: u64,
    /// Their sum, where it is known.
    #[prost(double, optional, tag = "5")]
    pub sum: Option<f64>,
    /// Samples in each bucket.
    #[prost(fixed64, repeated, tag = "6")]
    pub bucket_counts: Vec<u64>,
    /// The bounds between them.
    #[prost(double, repeated, tag = "7")]
    pub explicit_bounds: Vec<f64>,
}

/// An attribute.
#[derive(Clone, PartialEq, Message)]
pub struct KeyValue {
    /// Its name.
    #[prost(string, tag = "1")]
    pub key: String,
    /// Its value.
    #[prost(message, optional, tag = "2")]
    pub value: Option<AnyValue>,
}

/// A value of an attribute.
#[derive(Clone, PartialEq, Message)]
pub struct AnyValue {
    /// Of one of these types.
    #[prost(oneof = "any_value::Value", tags = "1, 3")]
    pub value: Option<any_value::Value>,
}

/// See [`AnyValue`].
pub mod any_value {
    use super::Oneof;

    /// A value.
    #[derive(Clone, PartialEq, Eq, Oneof)]
    pub enum Value {
        /// A text.
        #[prost(string, tag = "1")]
        StringValue(String),
        /// A whole number.
        #[prost(int64, tag = "3")]
        IntValue(i64),
    }
}
