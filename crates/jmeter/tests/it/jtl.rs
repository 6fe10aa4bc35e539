//! What is written is read back by the reader that knows JMeter's own files, and both reckon alike.

use jmeter::{Aggregate, Failure, JtlWriter, SampleResult};
use proptest::prelude::*;

fn written(samples: &[SampleResult<'_>]) -> String {
    let mut bytes = Vec::new();
    let mut writer = JtlWriter::new(&mut bytes);
    writer.begin().unwrap();
    for sample in samples {
        writer.write(sample).unwrap();
    }
    writer.flush().unwrap();
    drop(writer);
    String::from_utf8(bytes).unwrap()
}

fn good(start_ms: u64, elapsed_ms: u64, label: &str) -> SampleResult<'_> {
    SampleResult {
        start_ms,
        elapsed_ms,
        label,
        code: "200",
        message: "OK",
        thread: "users 1-1",
        data_type: "text",
        success: true,
        bytes: 1024,
        sent_bytes: 120,
        group_threads: 4,
        all_threads: 4,
        url: Some("http://localhost:8080/?a=1,2"),
        latency_ms: elapsed_ms.saturating_sub(1),
        ..SampleResult::default()
    }
}

#[test]
fn lines_are_those_of_jmeter() {
    let (code, message) = (Failure::ReadTimedOut.code(), Failure::ReadTimedOut.message());
    let late = SampleResult {
        code: &code,
        message: &message,
        success: false,
        bytes: 0,
        latency_ms: 0,
        thread: "users 1-17",
        ..good(1_795_323_010_500, 30_001, "log \"in\"")
    };
    let refused = SampleResult {
        success: false,
        failure_message: "Test failed: text expected to contain /a,b/\nnext",
        connect_ms: 3,
        ..good(1_795_323_010_600, 12, "home")
    };
    let transaction = SampleResult {
        url: None,
        code: "",
        data_type: "",
        message: "Number of samples in transaction : 2, number of failing samples : 0",
        ..good(1_795_323_010_700, 40, "all")
    };
    insta::assert_snapshot!(written(&[good(1_795_323_010_123, 7, "home"), late, refused, transaction]));
}

#[test]
fn a_file_without_samples_has_its_header() {
    assert_eq!(
        written(&[]),
        "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,\
         sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect\n"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The auditor's reader sorts all times of a label; the reports count whole milliseconds.
    #[test]
    fn readers_and_reports_reckon_alike(
        samples in proptest::collection::vec((0_u64..60_000, 1_u64..5000, 0_usize..4, any::<bool>()), 1..200),
    ) {
        const LABELS: [&str; 4] = ["home", "log \"in\", then", "üñî\nline", "a;b\tc"];
        let samples: Vec<SampleResult<'_>> = samples
            .into_iter()
            .map(|(start, elapsed, label, success)| SampleResult {
                success,
                failure_message: if success { "" } else { "no, \"never\"\r\nat all" },
                ..good(1_795_323_000_000 + start, elapsed, LABELS[label])
            })
            .collect();
        let mut reports = Aggregate::default();
        for sample in &samples {
            reports.sample(sample);
        }
        let document = audit::read("out.jtl", &written(&samples)).unwrap();
        let csv = reports.aggregate_csv();
        let mut table = csv::Reader::from_reader(csv.as_bytes());
        let rows: Vec<csv::StringRecord> = table.records().map(Result::unwrap).collect();
        prop_assert_eq!(document.rows.len() + 1, rows.len());
        for row in &document.rows {
            let ours = rows.iter().find(|ours| Some(&ours[0]) == row.path.as_deref()).unwrap();
            let number = |at: usize| ours[at].parse::<f64>().unwrap();
            prop_assert_eq!(Some(number(1) as u64), row.requests);
            for (column, (_, figure)) in (3..7).zip(&row.percentiles_ms) {
                prop_assert!((number(column) - figure.value).abs() < 0.5, "{:?}", ours);
            }
            let failed = row.errors.bad_answers.unwrap() as f64 / row.requests.unwrap() as f64 * 100.0;
            let shown: f64 = ours[9].trim_end_matches('%').parse().unwrap();
            prop_assert!((shown - failed).abs() < 0.001, "{:?}", ours);
        }
    }
}
