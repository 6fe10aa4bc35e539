//! The same samples in every form: with names that are out to break it, and with many.

use std::collections::BTreeMap;

use exports::otlp_proto::{ExportMetricsServiceRequest, metric, number_data_point};
use exports::remote_write_proto::WriteRequest;
use exports::{Family, Labels, Metric, Sample, Value, open_metrics, otlp, remote_write, text};
use proptest::prelude::*;
use prost::Message;

use crate::made_up::{failed, families, measured};

/// Name and labels to value, as remote write has them.
type SeriesByLabels = BTreeMap<Vec<(String, String)>, f64>;

fn sent(messages: &[Vec<u8>]) -> SeriesByLabels {
    let mut all = SeriesByLabels::new();
    for message in messages {
        let plain = snap::raw::Decoder::new().decompress_vec(message).unwrap();
        let request = WriteRequest::decode(plain.as_slice()).unwrap();
        assert!(request.timeseries.len() <= 2000, "{}", request.timeseries.len());
        for series in request.timeseries {
            let labels: Vec<(String, String)> =
                series.labels.into_iter().map(|label| (label.name, label.value)).collect();
            assert!(labels.windows(2).all(|pair| pair[0].0 < pair[1].0), "{labels:?}");
            assert_eq!(labels[0].0, "__name__");
            assert!(all.insert(labels, series.samples[0].value).is_none(), "a series twice");
        }
    }
    all
}

/// Reads the text format by its grammar, one character after the other.
fn scraped(text: &str) -> SeriesByLabels {
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    samples
        .map(|line| {
            let (name, mut rest) = line.split_at(line.find(['{', ' ']).unwrap());
            let mut labels = vec![("__name__".to_owned(), name.to_owned())];
            if let Some(inside) = rest.strip_prefix('{') {
                let (read, behind) = labels_of(inside);
                labels.extend(read);
                rest = behind;
            }
            // The bound of a bucket stands last.
            labels.sort();
            (labels, rest.trim_start().replace("+Inf", "inf").parse().unwrap())
        })
        .collect()
}

fn labels_of(mut rest: &str) -> (Vec<(String, String)>, &str) {
    let mut labels = Vec::new();
    loop {
        let (name, behind) = rest.split_once("=\"").unwrap();
        let (mut value, mut chars) = (String::new(), behind.char_indices());
        let end = loop {
            match chars.next().unwrap() {
                (at, '"') => break at + 1,
                (_, '\\') => value.push(match chars.next().unwrap().1 {
                    'n' => '\n',
                    other => other,
                }),
                (_, other) => value.push(other),
            }
        };
        labels.push((name.to_owned(), value));
        match behind[end..].strip_prefix(',') {
            Some(next) => rest = next,
            None => return (labels, behind[end..].strip_prefix('}').unwrap()),
        }
    }
}

/// The first series that is not the same in both: all of them fill many screens.
fn differ<'a>(a: &'a SeriesByLabels, b: &'a SeriesByLabels) -> Option<&'a [(String, String)]> {
    a.keys().chain(b.keys()).find(|key| a.get(*key) != b.get(*key)).map(Vec::as_slice)
}

fn samples_of(families: &[Family]) -> usize {
    families.iter().map(|family| family.samples.len()).sum()
}

/// Data points of all messages, none of which is too large.
fn points(messages: &[Vec<u8>]) -> usize {
    let mut all = 0;
    for message in messages {
        let request = ExportMetricsServiceRequest::decode(message.as_slice()).unwrap();
        let metrics = &request.resource_metrics[0].scope_metrics[0].metrics;
        let of_message: usize = metrics
            .iter()
            .map(|it| match it.data.as_ref().unwrap() {
                metric::Data::Gauge(gauge) => gauge.data_points.len(),
                metric::Data::Sum(sum) => sum.data_points.len(),
                metric::Data::Histogram(histogram) => histogram.data_points.len(),
            })
            .sum();
        assert!((1..=2000).contains(&of_message), "{of_message}");
        all += of_message;
    }
    all
}

#[test]
#[ignore = "slow: the series of two hundred stacks"]
fn two_hundred_stacks_go_in_messages_of_bounded_size_and_none_is_lost() {
    let trials: Vec<_> = (0..200).map(|it| measured(0, &format!("stack-{it}"), "stack", it % 3)).collect();
    let families = families("many", &trials);
    let messages = remote_write(&families, 0);
    let series = sent(&messages);
    assert_eq!(differ(&scraped(&text(&families)), &series), None);
    // The series of one distribution are never parted, so a message may be that much short of full.
    let fewest = series.len().div_ceil(2000);
    assert!(
        fewest > 5 && (fewest..=series.len().div_ceil(1980)).contains(&messages.len()),
        "{}",
        messages.len()
    );
    assert_eq!(points(&otlp(&families, "0.1.0", 0)), samples_of(&families));
}

#[test]
fn nothing_is_no_message() {
    assert!(remote_write(&[], 0).is_empty() && otlp(&[], "0.1.0", 0).is_empty());
}

#[test]
fn a_count_is_whole_and_a_time_is_the_windows_end() {
    let families = families("t", &[measured(0, "gin", "stack", 0)]);
    let message = &otlp(&families, "0.1.0", 7)[0];
    let request = ExportMetricsServiceRequest::decode(message.as_slice()).unwrap();
    let metrics = &request.resource_metrics[0].scope_metrics[0].metrics;
    let requests = metrics.iter().find(|it| it.name == "proofload.requests").unwrap();
    assert_eq!(requests.unit, "{request}");
    let Some(metric::Data::Sum(sum)) = &requests.data else { panic!("{requests:?}") };
    let point = &sum.data_points[0];
    assert_eq!(point.value, Some(number_data_point::Value::AsInt(1000)));
    assert_eq!(point.time_unix_nano - point.start_time_unix_nano, 30_000_000_000);
    assert!(sum.is_monotonic);
}

/// The name of a scenario is no URL, and not called one.
#[test]
fn a_target_is_a_url_where_it_is_one() {
    let called = |target: &str| {
        let labels = Labels::default().with("target", target);
        let sample = Sample { labels, value: Value::Count(1), span: None };
        let family = Family { metric: Metric::requests("requests", ""), samples: vec![sample] };
        let message = &otlp(&[family], "0.1.0", 7)[0];
        let request = ExportMetricsServiceRequest::decode(message.as_slice()).unwrap();
        let requests = &request.resource_metrics[0].scope_metrics[0].metrics[0];
        let Some(metric::Data::Sum(sum)) = &requests.data else { panic!("{requests:?}") };
        sum.data_points[0].attributes[0].key.clone()
    };
    assert_eq!(called("http://127.0.0.1:1/hello"), "url.full");
    assert_eq!(called("shop: basket #1"), "proofload.target");
}

#[test]
fn a_collectors_answer_tells_what_it_left_out() {
    // partial_success { rejected_data_points: 3, error_message: "no" }
    let told = exports::partly_refused(&[0x0a, 0x06, 0x08, 0x03, 0x12, 0x02, b'n', b'o']).unwrap();
    assert_eq!((told.points, told.why.as_str()), (3, "no"));
    assert_eq!(exports::partly_refused(&[]), None);
    assert_eq!(exports::partly_refused(&[0x0a, 0x00]), None, "nothing was rejected");
    assert_eq!(exports::partly_refused(b"<html>"), None);
}

/// What a stack may be called that is out to break a form.
const HOSTILE: &str = "(?s).{0,12}[\"\\\\\n\r{},= #]{0,5}.{0,300}";

proptest! {
    // Each case takes three names through all forms.
    #![proptest_config(ProptestConfig::with_cases(90))]
    /// Whatever stacks, rounds and titles are called, every form says it, and each sample is on a line of its own.
    #[test]
    fn hostile_names_break_no_form(title in any::<String>(), stacks in prop::array::uniform3(HOSTILE)) {
        let [one, other, third] = &stacks;
        prop_assume!(one != other && other != third && one != third);
        let trials = [measured(0, one, "stack", 1), failed(1, other), measured(0, third, "stack", 0)];
        let families = families(&title, &trials);
        let scraped = scraped(&text(&families));
        let sent = sent(&remote_write(&families, 0));
        prop_assert_eq!(differ(&scraped, &sent), None);
        prop_assert_eq!(points(&otlp(&families, "0.1.0", 0)), samples_of(&families));
        let open = open_metrics(&families);
        prop_assert!(open.ends_with("# EOF\n") && !open.contains("\n\n"));
        let buckets = families.iter().flat_map(|family| &family.samples);
        let buckets = buckets.filter(|sample| matches!(sample.value, Value::Buckets(_))).count();
        prop_assert_eq!(scraped.len(), samples_of(&families) + buckets * 19);
    }
}
