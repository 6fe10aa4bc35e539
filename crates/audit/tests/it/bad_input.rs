//! Every bad input has a defined answer, and none panics or hangs.

use audit::{Kind, Level};
use proptest::prelude::*;

use crate::{format, kinds, read};

fn error(text: &str) -> String {
    audit::read("x.txt", text).expect_err("nothing is there to read").to_string()
}

#[test]
fn what_holds_no_output_is_one_clear_error() {
    assert!(error("").starts_with("x.txt: the file is empty; expected is the output of wrk"));
    assert!(error("\u{feff} \n").contains("empty"));
    assert!(error("We tested it, and it was fast.\n").contains("no load-test output was found"));
    assert!(error("{\"a\": 1}").contains(
        "is not one that oha, k6, vegeta, bombardier, autocannon, Fortio, siege, Gatling, JMeter or Proofload prints"
    ));
    assert!(error("{\"summary\": {\"requestsPerSec\": 1.0,").contains("was cut off"));
    let long = format!("{{\"a\": \"{}\"}}", "0".repeat(9 << 20));
    assert!(error(&long).contains("the JSON that begins in line 1 is longer than 8 MiB"));
    assert!(error("timeStamp,elapsed,label\n").contains("no request"));
    assert!(error("timeStamp,elapsed,success\n1,2,true\n").contains("no column `label`"));
    let dated = error("timeStamp,elapsed,label\n2026/01/01 12:00:00.123,45,GET /\n");
    let due = "the time stamp in line 2 of the JTL, `2026/01/01 12:00:00.123`, is no number of milliseconds";
    assert!(dated.contains(due) && dated.contains("timestamp_format=ms"), "{dated}");
    assert!(error("timeStamp,elapsed,label\n17000").contains("line 2 of the JTL has fewer columns"));
    assert!(error("timeStamp,elapsed,label\n1,x,a\n").contains("no number of milliseconds in `elapsed`"));
    assert!(error("system,requests_per_s,latency_avg_ms\n").contains("no row"));
}

/// What is known and not read has a name, and mostly something to give instead.
#[test]
fn what_is_known_and_not_read_is_named() {
    for (text, what) in [
        ("<?xml version=\"1.0\"?>\n<testResults version=\"1.2\">\n<httpSample t=\"45\"/>\n", "a JTL as XML"),
        ("1767268800000,45,GET /,200,OK,true\n", "a JTL without its header"),
        ("RUN\tSim\tsim\t1767268800000\t \t3.9.5\nUSER\ts\tSTART\t1\n", "Gatling's simulation.log"),
        ("Timestamp,User Count,Type,Name,Requests/s\n1767268800,5,,Aggregated,1.0\n", "give …_stats.csv"),
        (
            "{\"type\":\"Metric\",\"data\":{\"name\":\"http_reqs\"},\"metric\":\"http_reqs\"}\n\
             {\"metric\":\"http_reqs\",\"type\":\"Point\",\"data\":{\"value\":1}}\n",
            "single points of k6",
        ),
        (
            "Bucket           #     %        Histogram\n[0s,     10ms]  50    100.00%  ####\n",
            "a histogram of vegeta",
        ),
        (
            "{\"attack\":\"\",\"seq\":0,\"code\":200,\"latency\":4600000,\"bytes_in\":13}\n",
            "single results of vegeta; give its report",
        ),
        ("response-time,DNS+dialup,DNS,Request-write\n0.0012,0.0001,0.0000,0.0000\n", "hey (-o csv)"),
        (
            "Ended after 5.0s : 40 calls. qps=7.9\nAggregated Function Time : count 40 avg 0.0012 +/- 0.0003 min 0.0008 max \
             0.0021 sum 0.048\n# target 50% 0.00115\nCode 200 : 40 (100.0 %)\n",
            "the text of Fortio, which is not read; give what -json writes",
        ),
        (
            "\nSummary:\n  Count:\t200\n  Total:\t181.57 ms\n  Slowest:\t69.60 ms\n  Requests/sec:\t1101.53\n\nResponse \
             time histogram:\n  8.6 [5]\t|∎∎\n",
            "a summary of ghz",
        ),
        ("http.response_time:\n  min: ......... 1\n  max: ......... 9\n", "a report of Artillery"),
        ("<!DOCTYPE html>\n<html><body>Report</body></html>\n", "a web page"),
    ] {
        let error = error(text);
        assert!(error.starts_with("x.txt: ") && error.contains(what), "{error}");
    }
    // A text that names one is none.
    assert!(error("We tried Nighthawk and Artillery.\n").contains("no load-test output was found in it"));
}

/// A service may write its log as JSON, or nearly so, beside what a tool prints.
#[test]
fn lines_of_json_around_an_output_do_not_hide_it() {
    let log = "{\"level\":\"info\",\"msg\":\"request\"}\n{level=info msg=request}\n".repeat(100);
    let rows = read(&format!("{log}{}{log}", format("oha.json"))).rows;
    assert_eq!((rows.len(), rows[0].line), (1, 201));
    // What costs the rest of the file to refuse is tried so often only.
    let open = "{\"level\":[\n".repeat(50);
    assert!(error(&open).contains("was cut off"));
}

#[test]
fn what_is_cut_off_says_what_is_missing() {
    let text = format("wrk-latency.txt");
    for lines in 3..text.lines().count() {
        let cut: String = text.split_inclusive('\n').take(lines).collect();
        let is_whole = cut.contains("Requests/sec");
        assert_eq!(kinds(&cut).contains(&(Level::Unknown, Kind::CutOff)), !is_whole, "{cut}");
    }
    let text = format("h2load.txt");
    let cut: String = text.split_inclusive('\n').take(12).collect();
    assert_eq!(kinds(&cut), [(Level::Unknown, Kind::CutOff)]);
    // The next output begins before the last has ended.
    let wrk = format("wrk-latency.txt");
    let twice = format!("{}\n{wrk}", wrk.lines().take(6).collect::<Vec<_>>().join("\n"));
    let rows = read(&twice).rows;
    assert_eq!((rows.len(), rows[0].missing.len(), rows[1].missing.len()), (2, 2, 0));
    // A run of JMeter that was killed leaves half a line.
    let jtl = format("requests.jtl");
    let cut = &jtl[..jtl.len() - 90];
    assert_eq!(read(cut).rows[0].requests, Some(79));
    assert!(kinds(cut).contains(&(Level::Unknown, Kind::CutOff)));
    // Of two files that were put together each has a header.
    let both = read(&format!("{jtl}{jtl}"));
    assert_eq!((both.rows[0].requests, both.rows[0].missing.len()), (Some(160), 0));
}

/// Where an output ends early, what is missing is named, and where it is whole nothing is.
#[test]
fn summaries_that_are_cut_off_say_so() {
    for (name, lines, is_cut) in [
        ("siege.txt", 10, true),
        ("siege.txt", 18, false),
        ("gatling.txt", 9, true),
        ("gatling.txt", 18, false),
        ("gatling-later.txt", 4, true),
        ("k6.txt", 23, true),
        ("k6.txt", 24, false),
        ("k6-legacy.txt", 11, true),
        ("oha.txt", 6, true),
        ("oha.txt", 41, false),
    ] {
        let cut: String = format(name).split_inclusive('\n').take(lines).collect();
        let found = kinds(&cut).contains(&(Level::Unknown, Kind::CutOff));
        assert_eq!(found, is_cut, "{name} to line {lines}: {:?}", read(&cut).rows);
    }
    let json = format("bombardier.json");
    let without = json.replace("\"req3xx\":0,", "").replace("\"latency\":", "\"later\":");
    assert_eq!(read(&without).rows[0].missing, ["`req2xx` or another of the counts", "`latency`"]);
    assert!(error(&json[..json.len() - 4]).contains("was cut off"));
}

#[test]
fn an_empty_run_is_known_to_tell_nothing() {
    let text = "Running 2s test @ http://h/\n  1 threads and 10 connections\n  Thread Stats   Avg      Stdev     Max   \
                +/- Stdev\n    Latency     0.00us    0.00us   0.00us    -nan%\n    Req/Sec     0.00      0.00     0.00     \
                -nan%\n  0 requests in 2.00s, 0.00B read\nRequests/sec:      0.00\nTransfer/sec:       0.00B\n";
    assert_eq!(kinds(text), [(Level::Unknown, Kind::Empty)]);
    let oha = r#"{"summary":{"successRate":0.0,"total":2.0,"slowest":null,"fastest":null,"average":null,
        "requestsPerSec":0.0},"latencyPercentiles":{},"statusCodeDistribution":{},"errorDistribution":{}}"#;
    assert_eq!(kinds(oha), [(Level::Unknown, Kind::Empty)]);
}

#[test]
fn one_row_is_compared_with_none() {
    let audit = crate::found(&format("oha.json"));
    assert_eq!((audit.counts.rows, audit.is_sound()), (1, true), "{audit:?}");
}

#[test]
fn no_variance_is_a_clock_too_coarse() {
    let row = |requests: u64| {
        format!(
            "Label,# Samples,Average,Min,Max,Std. Dev.,Error %,Throughput\nx,{requests},5,5,5,0.00,0.00%,1000.0\n"
        )
    };
    assert_eq!(kinds(&row(5000)), [(Level::Note, Kind::NoVariance)]);
    assert_eq!(kinds(&row(2)), [], "two may well take the same time");
}

#[test]
fn numbers_that_can_be_read_in_two_ways_are_told() {
    let with = |rate: &str| {
        format("wrk-latency.txt")
            .replace("50088.82", rate)
            .replace("  Non-2xx or 3xx responses: 120000\n", "")
    };
    assert_eq!(kinds(&with("50088,82")), [], "a decimal comma");
    assert_eq!(kinds(&with("50.088,82")), [], "with groups");
    assert_eq!(kinds(&with("50,088.82")), []);
    let kinds = kinds(&with("50,08,8"));
    assert!(kinds.contains(&(Level::Unknown, Kind::Unreadable)), "{kinds:?}");
    // An author's grouping comma is no other figure.
    assert_eq!(crate::kinds(&(with("50088.82") + "\n- 50,089 QPS\n- 1.27ms avg\n")), []);
}

#[test]
fn a_line_of_a_table_may_be_short() {
    let text = crate::file("published/figures.csv");
    let cut = &text[..text.len() - 40];
    assert!(kinds(cut).contains(&(Level::Unknown, Kind::CutOff)));
}

#[test]
fn many_rows_are_bounded() {
    let wrk = "Running 1s test @ http://h/\n1 threads and 1 connections\n".repeat(audit::ROWS_MAX + 7);
    let jmeter = format!("Label,# Samples,Average\n{}", "x,1,2\n".repeat(audit::ROWS_MAX + 7));
    for text in [wrk, jmeter] {
        let document = read(&text);
        assert_eq!((document.rows.len(), document.rows_left_out), (audit::ROWS_MAX, 7));
        assert!(kinds(&text).contains(&(Level::Unknown, Kind::TooMany)));
    }
}

#[test]
fn what_is_too_long_is_refused() {
    assert!(error(&"\n".repeat(2_100_000).replacen('\n', "x\n", 1)).contains("2000000 lines"));
    assert!(error(&"x".repeat(33 << 20)).contains("32 MiB"));
}

#[test]
fn nested_json_is_refused() {
    assert!(error(&"{\"a\":".repeat(100_000)).contains("JSON"));
}

/// Outputs of all tools, of which a test makes others.
fn outputs() -> Vec<String> {
    let mut outputs: Vec<String> = [
        "wrk-latency.txt",
        "wrk2.txt",
        "h2load.txt",
        "oha.json",
        "k6-export.json",
        "aggregate-de.csv",
        "requests.jtl",
        "ab.txt",
        "hey.txt",
        "vegeta.txt",
        "vegeta.json",
        "bombardier.txt",
        "autocannon.txt",
        "autocannon.json",
        "locust_stats.csv",
        "fortio.json",
        "bombardier.json",
        "siege.txt",
        "siege.json",
        "gatling.txt",
        "gatling-later.txt",
        "gatling.json",
        "k6.txt",
        "k6-legacy.txt",
        "oha.txt",
        "jmeter.txt",
        "statistics.json",
        "locust.txt",
    ]
    .map(format)
    .to_vec();
    outputs.push(crate::file("published/figures.csv"));
    outputs.push(crate::file("published/outputs/socket-models.txt"));
    outputs
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever is in a file, it is read or refused.
    #[test]
    fn garbage_is_read_or_refused(text in "(?s).{0,400}") {
        if let Ok(document) = audit::read("x", &text) {
            let _ = audit::audit(&[document]);
        }
    }

    /// Outputs of which pieces are lost, doubled or replaced.
    #[test]
    fn damaged_outputs_are_read_or_refused(
        which in 0usize..30,
        from in 0.0f64..1.0,
        length in 0usize..200,
        with in prop_oneof![
            Just(String::new()), Just("-nan".to_owned()), Just("18446744073709551615".to_owned()),
            Just("-1".to_owned()), Just("9e999".to_owned()), Just("0".to_owned()), "[0-9.,%:{}|a-z\n -]{0,20}",
        ],
    ) {
        let mut text = outputs()[which].clone();
        let mut start = (text.len() as f64 * from) as usize;
        while !text.is_char_boundary(start) { start -= 1; }
        let mut end = (start + length).min(text.len());
        while !text.is_char_boundary(end) { end -= 1; }
        text.replace_range(start..end.max(start), &with);
        if let Ok(document) = audit::read("x", &text) {
            for finding in &audit::audit(&[document]).files[0].findings {
                prop_assert!(!finding.text.contains("NaN") && !finding.text.contains("inf"), "{}", finding.text);
            }
        }
    }
}
