//! Prometheus' text format, version 0.0.4, and its successor OpenMetrics 1.0.

use std::fmt::Write;

use crate::model::{Buckets, Family, Kind, Labels, Metric, Sample, Value};

/// The media type of [`text()`].
pub const TEXT_CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";
/// The media type of [`open_metrics`].
pub const OPEN_METRICS_CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Prometheus,
    OpenMetrics,
}

/// Families as a Prometheus scrapes them, or reads them from a file. Without times: a scraper dates what it reads, and
/// the node exporter's folder of text files refuses dated samples.
pub fn text(families: &[Family]) -> String {
    let mut text = String::new();
    for family in families {
        write_family(&mut text, family, Format::Prometheus);
    }
    text
}

/// Families in OpenMetrics 1.0, with times where they are known.
pub fn open_metrics(families: &[Family]) -> String {
    let mut text = String::new();
    for family in families {
        write_family(&mut text, family, Format::OpenMetrics);
    }
    text.push_str("# EOF\n");
    text
}

fn write_family(text: &mut String, family: &Family, format: Format) {
    if family.samples.is_empty() {
        return;
    }
    let metric = &family.metric;
    let (name, kind, help) = match format {
        Format::Prometheus => (metric.sample_name(), kind_of_old(metric.kind), escaped(&metric.help, false)),
        Format::OpenMetrics => {
            (metric.prometheus_name(), kind_of_new(metric.kind), escaped(&metric.help, true))
        }
    };
    // Writing into a String cannot fail.
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
    if format == Format::OpenMetrics && !metric.unit.name().is_empty() {
        let _ = writeln!(text, "# UNIT {name} {}", metric.unit.name());
    }
    for sample in &family.samples {
        write_sample(text, metric, sample, format);
    }
}

/// The old format knows no infos: they are gauges.
const fn kind_of_old(kind: Kind) -> &'static str {
    match kind {
        Kind::Gauge | Kind::Info => "gauge",
        Kind::Counter => "counter",
        Kind::Histogram => "histogram",
    }
}

const fn kind_of_new(kind: Kind) -> &'static str {
    match kind {
        Kind::Info => "info",
        Kind::Gauge | Kind::Counter | Kind::Histogram => kind_of_old(kind),
    }
}

fn write_sample(text: &mut String, metric: &Metric, sample: &Sample, format: Format) {
    let name = metric.sample_name();
    let labels = labels_text(&sample.labels);
    let time = match (format, sample.span) {
        (Format::OpenMetrics, Some(span)) => format!(" {}", span.end_ms as f64 / 1e3),
        _ => String::new(),
    };
    match &sample.value {
        Value::Number(number) => line(text, &name, &labels, &number_text(*number), &time),
        Value::Count(count) => line(text, &name, &labels, &count.to_string(), &time),
        Value::Buckets(buckets) => write_buckets(text, &name, &labels, buckets, &time, format),
    }
}

fn write_buckets(text: &mut String, name: &str, labels: &str, buckets: &Buckets, time: &str, format: Format) {
    for (bound, count) in buckets.cumulative() {
        let separator = if labels.is_empty() { "" } else { "," };
        let labels = format!("{labels}{separator}le=\"{}\"", bound_text(bound, format));
        line(text, &format!("{name}_bucket"), &labels, &count.to_string(), time);
    }
    if let Some(sum) = buckets.sum_s {
        line(text, &format!("{name}_sum"), labels, &number_text(sum), time);
    }
    // OpenMetrics wants both or none of these two.
    if buckets.sum_s.is_some() || format == Format::Prometheus {
        line(text, &format!("{name}_count"), labels, &buckets.count().to_string(), time);
    }
}

fn line(text: &mut String, name: &str, labels: &str, value: &str, time: &str) {
    let labels = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
    let _ = writeln!(text, "{name}{labels} {value}{time}");
}

fn labels_text(labels: &Labels) -> String {
    let all: Vec<String> =
        labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value, true))).collect();
    all.join(",")
}

/// OpenMetrics writes bounds as floats, always: `1.0`.
fn bound_text(bound: f64, format: Format) -> String {
    match format {
        Format::OpenMetrics if bound.is_finite() => format!("{bound:?}"),
        _ => number_text(bound),
    }
}

/// A number as Go and OpenMetrics read it.
pub(crate) fn number_text(number: f64) -> String {
    if number.is_nan() {
        "NaN".into()
    } else if number.is_infinite() {
        if number > 0.0 { "+Inf".into() } else { "-Inf".into() }
    } else {
        number.to_string()
    }
}

/// Without what would end a line or a value. Quotes stand as they are in the help texts of the old format.
fn escaped(value: &str, quotes: bool) -> String {
    let mut text = String::with_capacity(value.len());
    for char in value.chars() {
        match char {
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '"' if quotes => text.push_str("\\\""),
            other => text.push(other),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Span, Unit};

    fn family(metric: Metric, labels: Labels, value: Value) -> Family {
        Family {
            metric,
            samples: vec![Sample { labels, value, span: Some(Span { start_ms: 0, end_ms: 1500 }) }],
        }
    }

    #[test]
    fn what_would_end_a_value_or_a_line_is_escaped_and_labels_are_in_order() {
        let labels = Labels::default().with("stack", "a\"b\\c\nd").with("round", "é {x=\"1\"}");
        let help = "the \"help\"\nin two lines\\";
        let goodput = Metric::gauge("goodput", Unit::RequestsPerSecond, help);
        assert_eq!(
            text(&[family(goodput, labels, Value::Number(1.5))]),
            "# HELP proofload_goodput_per_second the \"help\"\\nin two lines\\\\\n\
             # TYPE proofload_goodput_per_second gauge\n\
             proofload_goodput_per_second{round=\"é {x=\\\"1\\\"}\",stack=\"a\\\"b\\\\c\\nd\"} 1.5\n"
        );
    }

    #[test]
    fn numbers_that_are_none_are_spelt_as_prometheus_does() {
        let told = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.000_001, 1e15, -0.5].map(number_text);
        assert_eq!(told, ["NaN", "+Inf", "-Inf", "0.000001", "1000000000000000", "-0.5"]);
    }

    #[test]
    fn nothing_is_an_empty_text_and_a_family_without_samples_no_family() {
        let empty = Family { metric: Metric::info("run", ""), samples: Vec::new() };
        assert_eq!((text(std::slice::from_ref(&empty)).as_str(), text(&[]).as_str()), ("", ""));
        assert_eq!(open_metrics(&[empty]), "# EOF\n");
    }

    #[test]
    fn open_metrics_has_units_infos_floats_and_times() {
        let info = family(Metric::info("run", "a"), Labels::default().with("version", "1"), Value::Count(1));
        let counts = vec![1, 2, 3];
        let buckets =
            |sum_s| Value::Buckets(Buckets { bounds_s: &[0.001, 1.0], counts: counts.clone(), sum_s });
        let times = Metric::buckets("response_time", "b");
        let told = family(times.clone(), Labels::default(), buckets(Some(2.5)));
        assert_eq!(
            open_metrics(&[info, told]),
            "# HELP proofload_run a\n# TYPE proofload_run info\nproofload_run_info{version=\"1\"} 1 1.5\n\
             # HELP proofload_response_time_seconds b\n# TYPE proofload_response_time_seconds histogram\n\
             # UNIT proofload_response_time_seconds seconds\n\
             proofload_response_time_seconds_bucket{le=\"0.001\"} 1 1.5\n\
             proofload_response_time_seconds_bucket{le=\"1.0\"} 3 1.5\n\
             proofload_response_time_seconds_bucket{le=\"+Inf\"} 6 1.5\n\
             proofload_response_time_seconds_sum 2.5 1.5\nproofload_response_time_seconds_count 6 1.5\n# EOF\n"
        );
        let without_sum = family(times, Labels::default(), buckets(None));
        assert!(!open_metrics(std::slice::from_ref(&without_sum)).contains("_count"));
        assert!(text(&[without_sum]).contains("le=\"1\"} 3\n"));
    }
}
