//! Each format is read whole, and sound output is not accused.

use std::fmt::Write;

use audit::{Kind, Level, Tool};

use crate::{format, kinds, read};

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= b.abs() * 1e-6
}

#[test]
fn wrk_with_latency() {
    let text = format("wrk-latency.txt");
    let document = read(&text);
    let [row] = &document.rows[..] else { panic!("{document:?}") };
    assert_eq!((row.tool, row.connections, row.threads), (Tool::Wrk, Some(64), Some(2)));
    assert_eq!(row.path.as_deref(), Some("/hello"));
    assert_eq!(row.percentiles_ms.iter().map(|it| it.0).collect::<Vec<_>>(), [50.0, 75.0, 90.0, 99.0]);
    assert_eq!((row.requests, row.errors.bad_answers), (Some(501_890), Some(120_000)));
    assert_eq!(kinds(&text), [(Level::Unknown, Kind::ErrorsAsAnswers)]);
}

#[test]
fn wrk2_is_an_open_model() {
    let text = format("wrk2.txt");
    let document = read(&text);
    let [kept, missed] = &document.rows[..] else { panic!("{document:?}") };
    assert_eq!((kept.tool, kept.asked_per_s), (Tool::Wrk2, Some(2000.0)));
    assert_eq!(kept.percentiles_ms.len(), 8, "the uncorrected ones are another distribution");
    assert_eq!(missed.asked_per_s, Some(8000.0));
    // 2998/s × 10.97 s is not the number of connections, and need not be.
    assert_eq!(kinds(&text), [(Level::Unknown, Kind::OfferedRate)]);
}

#[test]
fn h2load_by_time_and_by_count() {
    let text = format("h2load.txt");
    let document = read(&text);
    let [timed, counted] = &document.rows[..] else { panic!("{document:?}") };
    assert_eq!((timed.connections, timed.requests, timed.streams), (Some(64), Some(50_685), Some(1)));
    assert!(close(timed.received_bytes.unwrap().value, 3_497_265.0));
    assert!(close(timed.mean_ms.unwrap().value, 1.26) && close(timed.min_ms.unwrap().value, 0.217));
    assert_eq!(counted.errors.bad_answers, Some(10_000));
    assert_eq!(kinds(&text), [(Level::Unknown, Kind::ErrorsAsAnswers)]);
}

/// nginx ends a connection after 1000 requests, and h2load then waits for the end of the run.
#[test]
fn h2load_that_waits_for_nothing_is_told() {
    let idle = "starting benchmark...\n\
        spawning thread #0: 1 total client(s). Timing-based test with 0s of warm-up time and 2s of main duration for measurements.\n\
        Application protocol: h2c\n\n\
        finished in 2.00s, 500.00 req/s, 20.60KB/s\n\
        requests: 1000 total, 1010 started, 1000 done, 1000 succeeded, 0 failed, 0 errored, 0 timeout\n\
        status codes: 1000 2xx, 0 3xx, 0 4xx, 0 5xx\n\
        traffic: 41.21KB (42200) total, 21.00KB (21504) headers (space savings 80.00%), 4.88KB (5000) data\n\
        \u{20}                    min         max         mean         sd        +/- sd\n\
        time for request:      110us      1.20ms       230us        80us    90.00%\n\
        time for connect:       80us        80us        80us         0us   100.00%\n\
        time to 1st byte:      400us       400us       400us         0us   100.00%\n\
        req/s           :     500.00      500.00      500.00        0.00   100.00%\n";
    assert_eq!(kinds(idle), [(Level::Broken, Kind::IdleConnections)]);
    // One that kept them busy, whatever the number of streams.
    let busy =
        idle.replace("       230us        80us", "      2.10ms        80us").replace("1.20ms", "5.00ms");
    assert_eq!(kinds(&busy), []);
}

/// Five thousand connections to a server of 200/s: those that are answered waited for five seconds, and those that are not
/// waited for all ten.
#[test]
fn connections_of_h2load_that_wait_are_not_called_idle() {
    let text = "starting benchmark...\n\
        spawning thread #0: 5000 total client(s). Timing-based test with 0s of warm-up time and 10s of main duration for measurements.\n\
        Application protocol: h2\n\n\
        finished in 10.00s, 200.00 req/s, 20.60KB/s\n\
        requests: 2000 total, 7000 started, 2000 done, 2000 succeeded, 0 failed, 0 errored, 0 timeout\n\
        status codes: 2000 2xx, 0 3xx, 0 4xx, 0 5xx\n\
        traffic: 41.21KB (42200) total, 21.00KB (21504) headers (space savings 80.00%), 4.88KB (5000) data\n\
        time for request:     5.00ms     10.00s     5.00s     2.89s    57.00%\n";
    assert_eq!(kinds(text), [(Level::Unknown, Kind::IdleConnections), (Level::Unknown, Kind::TooShort)]);
    let audit = crate::found(text);
    let idle = &crate::all(&audit)[0].text;
    assert!(
        idle.contains("the run of 10 s ended are in no figure; 8 s each") && !idle.contains("idle"),
        "{idle}"
    );
    assert!(idle.ends_with("by connections / X it is 25 s at least"), "{idle}");
    // Of a minute it can't be: 48 s each is longer than the 25 s that one takes.
    let long = text
        .replace("10s of main", "60s of main")
        .replace("finished in 10.00s", "finished in 60.00s")
        .replace("2000 ", "12000 ");
    assert!(kinds(&long).contains(&(Level::Broken, Kind::IdleConnections)), "{:?}", kinds(&long));
}

/// What ended without an answer is in `done` and not in the rate.
#[test]
fn what_h2load_calls_errored_is_no_answer() {
    let text = "starting benchmark...\n\
        spawning thread #0: 2 total client(s). 1000 total requests\n\
        Application protocol: h2c\n\n\
        finished in 1.00s, 800.00 req/s, 20.60KB/s\n\
        requests: 1000 total, 900 started, 900 done, 780 succeeded, 220 failed, 200 errored, 0 timeout\n\
        status codes: 780 2xx, 0 3xx, 20 4xx, 0 5xx\n\
        traffic: 41.21KB (42200) total, 21.00KB (21504) headers (space savings 80.00%), 4.88KB (5000) data\n\
        \u{20}                    min         max         mean         sd        +/- sd\n\
        time for request:      110us      1.20ms       230us        80us    90.00%\n";
    let document = read(text);
    let [row] = &document.rows[..] else { panic!("{document:?}") };
    assert_eq!((row.requests, row.errors.bad_answers, row.errors.read), (Some(800), Some(20), Some(200)));
    assert_eq!(kinds(text), [(Level::Unknown, Kind::ErrorsAsAnswers), (Level::Unknown, Kind::SocketErrors)]);
}

#[test]
fn oha_counts_what_its_deadline_aborted() {
    let text = format("oha.json");
    let document = read(&text);
    let [row] = &document.rows[..] else { panic!("{document:?}") };
    assert_eq!((row.tool, row.errors.bad_answers), (Tool::Oha, Some(0)));
    assert!(close(row.max_ms.unwrap().value, 6.250_588));
    assert_eq!(row.percentiles_ms.len(), 9);
    assert_eq!(kinds(&text), []);
    // Pasted below its command, the number of connections is known.
    let pasted =
        format!("We ran\n\n$ oha -c 50 -z 1s --output-format json http://h/hello\n{text}\nand were glad.\n");
    let rows = read(&pasted).rows;
    assert_eq!((rows[0].connections, rows[0].path.as_deref()), (Some(50), Some("/hello")));
    assert_eq!(kinds(&pasted), []);
}

/// An output of oha with so many answers, each after `mean_s`, and what it lists as errors.
fn oha(command: &str, total_s: f64, answers: u64, mean_s: f64, errors: &[(&str, u64)]) -> String {
    let made = answers + errors.iter().map(|it| it.1).sum::<u64>();
    let listed: Vec<String> = errors.iter().map(|(name, count)| format!("\"{name}\": {count}")).collect();
    format!(
        "$ {command} --output-format json http://h/x\n{{\"summary\": {{\"successRate\": 1.0, \"total\": {total_s}, \
         \"slowest\": {}, \"fastest\": {}, \"average\": {mean_s}, \"requestsPerSec\": {}}}, \"latencyPercentiles\": {{}}, \
         \"statusCodeDistribution\": {{\"200\": {answers}}}, \"errorDistribution\": {{{}}}}}\n",
        mean_s * 1.2,
        mean_s * 0.8,
        made as f64 / total_s,
        listed.join(", ")
    )
}

/// Its count and rate have all that ended without an answer, and its mean is of answers.
#[test]
fn the_mean_of_oha_is_held_against_its_answers() {
    const ABORTED: &str = "aborted due to deadline";
    const REFUSED: &str = "connection error: Connection refused (os error 111)";
    // Three rounds of ten seconds, and a fourth that the end aborted after five: nothing is too high.
    let slow = oha("oha -c 100 -z 35s", 35.0, 300, 10.0, &[(ABORTED, 100)]);
    assert_eq!(
        kinds(&slow),
        [
            (Level::Unknown, Kind::LittlesLaw),
            (Level::Unknown, Kind::TooShort),
            (Level::Note, Kind::ErrorsAsAnswers)
        ]
    );
    let audit = crate::found(&slow);
    let law = &crate::all(&audit)[0].text;
    assert!(law.starts_with("100 users, but 8.57/s x 10 s = 85.7 (x0.86)"), "{law}");
    assert!(law.contains("the run of 35 s ended are not in the latency; 5 s each on average"), "{law}");
    // Each second request is refused at once, and the answers take 10 ms.
    let refused = |mean_s, failed| {
        kinds(&oha("oha -c 50 -z 30s", 30.0, 150_000, mean_s, &[(REFUSED, failed), (ABORTED, 50)]))
    };
    assert_eq!(refused(0.01, 150_000), [(Level::Unknown, Kind::ErrorsAsAnswers)]);
    let document = read(&oha("oha -c 50 -z 30s", 30.0, 10, 0.01, &[(REFUSED, 7), ("timeout", 2)]));
    let errors = document.rows[0].errors;
    assert_eq!((errors.read, errors.timeout, errors.bad_answers), (Some(7), Some(2), Some(9)));
    // A latency that no count can have.
    assert!(refused(0.02, 150_000).contains(&(Level::Broken, Kind::LittlesLaw)));
    // What failed may have kept users busy, and what was aborted is no older than the mean of all.
    assert!(refused(0.005, 150_000).contains(&(Level::Unknown, Kind::LittlesLaw)));
    assert_eq!(refused(0.005, 0), [(Level::Broken, Kind::LittlesLaw)]);
}

/// Users of oha that send in bursts wait between them.
#[test]
fn users_of_oha_wait_between_bursts() {
    let with = |more: &str| kinds(&oha(&format!("oha -c 50 -z 30s {more}"), 30.0, 150_000, 0.005, &[]));
    assert_eq!(with(""), [(Level::Broken, Kind::LittlesLaw)]);
    assert_eq!(with("--burst-delay 1s --burst-rate 5"), [(Level::Note, Kind::LittlesLaw)]);
    let text = format("oha.txt").replace("-c 50", "-c 500");
    assert!(kinds(&text).contains(&(Level::Broken, Kind::LittlesLaw)), "{:?}", kinds(&text));
    let waits = text.replace("-c 500", "--burst-delay=1s -c 500");
    assert!(kinds(&waits).contains(&(Level::Note, Kind::LittlesLaw)), "{:?}", kinds(&waits));
}

/// `requestsPerSec` of oha has what the end of the run aborted. Nothing was answered there.
#[test]
fn what_oha_aborted_is_no_answer() {
    const ABORTED: &str = "aborted due to deadline";
    let good_per_s = |text: &str| read(text).rows[0].goodput_per_s().unwrap();
    let slow = oha("oha -c 100 -z 35s", 35.0, 300, 10.0, &[(ABORTED, 100)]);
    assert!(close(good_per_s(&slow), 300.0 / 35.0), "{}", good_per_s(&slow));
    let refused = oha("oha -c 100 -z 35s", 35.0, 300, 10.0, &[(ABORTED, 100), ("connection reset", 50)]);
    assert!(close(good_per_s(&refused), 300.0 / 35.0), "{}", good_per_s(&refused));
    let texts = |text: &str| {
        let audit = crate::found(text);
        crate::all(&audit).iter().map(|it| it.text.clone()).collect::<Vec<_>>()
    };
    let has = |text: &str, what: &str| {
        assert!(texts(text).iter().any(|it| it.contains(what)), "{what}: {:?}", texts(text));
    };
    has(&slow, "100 of 400 requests (25.0 %) were aborted by the end of the run and count in the rate");
    has(&slow, "in the rate, not in the latency");
    has(&refused, "in the rate, as do 100 that the end of the run aborted: good answers are 8.57/s");
    // Where few were aborted there is nothing to say.
    assert_eq!(kinds(&oha("oha -c 50 -z 30s", 30.0, 150_000, 0.01, &[(ABORTED, 50)])), []);
    // By its rate the slow one is first, by answers it is second.
    let fast = oha("oha -c 100 -z 35s", 35.0, 350, 9.9, &[]);
    let both = format!("## slow\n{slow}## fast\n{fast}");
    assert!(kinds(&both).contains(&(Level::Broken, Kind::Ranking)), "{:?}", kinds(&both));
    has(&both, "by good answers fast at 100 (10.0/s) > slow at 100 (8.57/s)");
}

#[test]
fn k6_in_both_shapes() {
    let text = format("k6-export.json");
    let rows = read(&text).rows;
    assert_eq!((rows[0].tool, rows[0].requests, rows[0].connections), (Tool::K6, Some(1234), Some(5)));
    assert_eq!(kinds(&text), [(Level::Unknown, Kind::ErrorsAsAnswers)], "37 of 1234 failed");
    let text = format("k6-summary.json");
    assert!(close(read(&text).rows[0].elapsed_s.unwrap().value, 30.0105));
    assert_eq!(kinds(&text), [(Level::Broken, Kind::OutOfOrder)], "p(90) above p(95)");
}

#[test]
fn k6_as_text() {
    let text = format("k6.txt");
    let document = read(&text);
    let [row] = &document.rows[..] else { panic!("a group is no other run: {document:?}") };
    assert_eq!((row.tool, row.requests, row.connections), (Tool::K6, Some(5961), Some(20)));
    assert!(close(row.rate_per_s.unwrap().value, 84.807_262) && close(row.mean_ms.unwrap().value, 2.43));
    assert!(close(row.min_ms.unwrap().value, 0.8821) && close(row.max_ms.unwrap().value, 54.87), "{row:?}");
    assert_eq!(row.percentiles_ms.iter().map(|it| it.0).collect::<Vec<_>>(), [50.0, 90.0, 95.0]);
    assert!(close(row.received_bytes.unwrap().value, 1.9e6) && row.of_k6.is_none(), "{row:?}");
    assert_eq!((row.errors.bad_answers, row.missing.len()), (Some(0), 0));
    assert_eq!(kinds(&text), []);
    let failed = text.replace("0.00%  0 out of 5961", "10.06% 600 out of 5961");
    assert_eq!(kinds(&failed), [(Level::Unknown, Kind::ErrorsAsAnswers)]);

    let text = format("k6-legacy.txt");
    let row = &read(&text).rows[0];
    assert_eq!((row.requests, row.connections, row.errors.bad_answers), (Some(52_939), Some(1000), Some(8)));
    assert!(close(row.max_ms.unwrap().value, 2240.0) && close(row.received_bytes.unwrap().value, 264e6));
    let k6 = row.of_k6.unwrap();
    assert_eq!((k6.dropped, k6.made), (2061, 52_939));
    // 2061 of 55,000 that were due never began.
    assert_eq!(kinds(&text), [(Level::Unknown, Kind::OfferedRate)]);
    let twice = format!("{text}\n{}", text.replace("52939 ", "52000 ").replace("✓ 8 ", "✓ 9 "));
    let requests: Vec<_> = read(&twice).rows.iter().map(|it| it.requests).collect();
    assert_eq!(requests, [Some(52_939), Some(52_000)]);
    assert!(read(&twice).rows.iter().all(|it| it.of_k6.is_some() && it.received_bytes.is_some()));
}

/// From 1.5 on there is a list of metrics, and a counter has no rate.
#[test]
fn k6_as_json_for_machines() {
    let json = r#"{"version":"1.0.0","metadata":{"k6Version":"1.5.0","generatedAt":"2026-01-01T00:00:00Z"},
        "config":{"duration":30.0,"execution":"local","script":"load.js"},"results":{"checks":{},"metrics":[
        {"name":"http_req_duration{expected_response:true}","type":"trend","contains":"time","values":{"avg":1.0}},
        {"name":"http_req_duration","type":"trend","contains":"time","values":{"avg":120.5,"max":640.9,"med":110.2,
        "min":80.1,"p(90)":180.3,"p(95)":300.7}},
        {"name":"http_req_failed","type":"rate","contains":"default","values":{"matches":37,"rate":0.03,"total":1234}},
        {"name":"http_reqs","type":"counter","contains":"default","values":{"count":1234}},
        {"name":"dropped_iterations","type":"counter","contains":"default","values":{"count":6}},
        {"name":"iterations","type":"counter","contains":"default","values":{"count":1234}},
        {"name":"vus_max","type":"gauge","contains":"default","values":{"max":5,"min":5,"value":5}}]}}"#;
    let rows = read(json).rows;
    let [row] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!((row.tool, row.requests, row.connections), (Tool::K6, Some(1234), Some(5)));
    assert!(close(row.rate_per_s.unwrap().value, 1234.0 / 30.0) && close(row.mean_ms.unwrap().value, 120.5));
    assert_eq!(row.percentiles_ms.iter().map(|it| it.0).collect::<Vec<_>>(), [50.0, 90.0, 95.0]);
    assert!(row.missing.is_empty(), "{row:?}");
    // Six of 1240 never began.
    assert_eq!(kinds(json), [(Level::Unknown, Kind::ErrorsAsAnswers), (Level::Note, Kind::OfferedRate)]);
}

#[test]
fn jmeter_tables_of_any_country() {
    let english = read(&format("aggregate.csv")).rows;
    let german = read(&format("aggregate-de.csv")).rows;
    assert_eq!((english.len(), german.len()), (1, 1), "the total is no row");
    assert_eq!((english[0].requests, german[0].requests), (Some(20_000), Some(20_000)));
    for rows in [&english, &german] {
        assert!(close(rows[0].rate_per_s.unwrap().value, 1041.55818));
        assert_eq!((rows[0].errors.bad_answers, &rows[0].unreadable), (Some(500), &Vec::new()));
    }
    assert_eq!(kinds(&format("aggregate.csv")), [(Level::Unknown, Kind::ErrorsAsAnswers)]);
    let text = format("summary-report.csv");
    assert!(close(read(&text).rows[0].stdev_ms.unwrap().value, 2.11));
    assert_eq!(kinds(&text), [(Level::Broken, Kind::OutOfOrder)], "a minimum above the mean");
}

#[test]
fn a_jtl_is_summed_up_as_jmeter_does() {
    let text = format("requests.jtl");
    let rows = read(&text).rows;
    let [row] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!((row.requests, row.users, row.errors.bad_answers), (Some(80), Some(4), Some(1)));
    assert!(close(row.elapsed_s.unwrap().value, 8.0) && close(row.rate_per_s.unwrap().value, 10.0));
    assert!(close(row.ramp_s.unwrap(), 3.0) && close(row.answer_bytes.unwrap().value, 168.0));
    let kinds = kinds(&text);
    assert!(kinds.contains(&(Level::Unknown, Kind::RampUp)), "{kinds:?}");
    assert!(kinds.contains(&(Level::Unknown, Kind::ErrorsAsAnswers)), "{kinds:?}");
}

/// A JTL of threads that begin at so many ms and send so many requests of 100 ms, one after another.
fn jtl(threads: &[(u64, u64)]) -> String {
    let mut text = "timeStamp,elapsed,label,threadName,success,bytes,allThreads\n".to_owned();
    for (index, (begin, samples)) in threads.iter().enumerate() {
        for sample in 0..*samples {
            let at = begin + sample * 100;
            let users = threads.iter().filter(|it| it.0 <= at).count();
            writeln!(text, "{at},100,GET /x,Users 1-{},true,168,{users}", index + 1).unwrap();
        }
    }
    text
}

/// A run of ten seconds makes 190 requests of two users. That two divides them is no plan's doing.
#[test]
fn loops_of_a_jtl_want_threads_that_made_as_many() {
    let is_ramp = |text: &str| kinds(text).iter().any(|it| it.1 == Kind::RampUp);
    let timed = jtl(&[(0, 100), (1000, 90)]);
    let rows = read(&timed).rows;
    assert_eq!((rows[0].requests, rows[0].users, rows[0].loops), (Some(190), Some(2), Some(95.0)));
    assert!(!is_ramp(&timed) && !rows[0].is_planned, "{rows:?}");
    // A plan of 95 each is one.
    let planned = jtl(&[(0, 95), (1000, 95)]);
    assert!(is_ramp(&planned) && read(&planned).rows[0].is_planned);
    // Without threads, or with fewer of them than users, it is not known.
    let nameless = planned.replace("threadName", "thread");
    assert!(!read(&nameless).rows[0].is_planned);
    assert!(!read(&planned.replace(",168,2", ",168,3")).rows[0].is_planned);
}

#[test]
fn one_text_may_hold_outputs_of_several_tools() {
    let mixed =
        ["wrk-latency.txt", "oha.json", "h2load.txt", "aggregate.csv"].map(format).join("\nand then\n");
    let tools: Vec<_> = read(&mixed).rows.iter().map(|row| row.tool).collect();
    assert_eq!(tools, [Tool::Wrk, Tool::Oha, Tool::H2load, Tool::H2load, Tool::Jmeter]);
    let names = [
        "hey.txt",
        "bombardier.txt",
        "ab.txt",
        "autocannon.txt",
        "vegeta.txt",
        "wrk-latency.txt",
        "vegeta.json",
    ];
    let mixed = names.map(format).join("\nand then\n");
    let rows = read(&mixed).rows;
    let tools: Vec<_> = rows.iter().map(|row| row.tool).collect();
    let due =
        [Tool::Hey, Tool::Bombardier, Tool::Ab, Tool::Autocannon, Tool::Vegeta, Tool::Wrk, Tool::Vegeta];
    assert_eq!(tools, due);
    let told = &crate::found(&mixed).files[0].tools;
    assert_eq!(told, &["hey", "bombardier", "ab", "autocannon", "vegeta", "wrk"]);
    // None has a figure of another one.
    for (row, name) in rows.iter().zip(names) {
        let alone = &read(&format(name)).rows[0];
        let figures = |row: &audit::Row| {
            (row.requests, row.rate_per_s, row.mean_ms, row.max_ms, row.percentiles_ms.clone())
        };
        assert_eq!(figures(row), figures(alone), "{name}");
        assert!(row.missing.is_empty(), "{row:?}");
    }
}

#[test]
fn our_own_records_are_judged_by_explain() {
    let text = crate::file("bench/src/samples/proofload.json");
    let rows = read(&text).rows;
    assert_eq!((rows.len(), rows[0].tool), (1, Tool::Proofload));
    let reasons: Vec<_> = kinds(&text);
    assert!(reasons.iter().all(|(_, kind)| *kind == Kind::OwnAudit), "{reasons:?}");
}

/// nghttp2 1.69 has more columns, and shorter names.
#[test]
fn h2load_of_later_versions() {
    let text = "starting benchmark...\n\
        spawning thread #0: 10 total client(s). 1000 total requests\n\
        Application protocol: http/1.1\n\n\
        finished in 1.00s, 1000.00 req/s, 40.00KB/s\n\
        requests: 1000 total, 1000 started, 1000 done, 1000 succeeded, 0 failed, 0 errored, 0 timeout\n\
        status codes: 1000 2xx, 0 3xx, 0 4xx, 0 5xx\n\
        traffic: 40.00KB (40960) total, 21.00KB (21504) headers (space savings 0.00%), 4.88KB (5000) data\n\
        \u{20}                min         max         median      p95         p99         mean        sd         +/- sd\n\
        request     :     1.00ms     30.00ms      8.00ms     20.00ms     25.00ms      9.00ms      3.00ms   74.42%\n\
        connect     :      100us       200us       150us       190us       200us       150us        20us   70.00%\n\
        req/s       :      90.00      110.00      100.00      109.00      110.00      100.00        5.00   70.00%\n";
    for text in [text.to_owned(), text.replace("request     :", "time for request:")] {
        let document = read(&text);
        let [row] = &document.rows[..] else { panic!("{document:?}") };
        assert!(close(row.mean_ms.unwrap().value, 9.0) && close(row.stdev_ms.unwrap().value, 3.0), "{row:?}");
        assert_eq!(row.percentiles_ms.len(), 3);
        assert_eq!(kinds(&text), []);
    }
}

#[test]
fn h2load_at_a_rate_is_an_open_model() {
    let text = "$ h2load --h1 -c 100 -D 2 --rps=10 http://h/hello\n\
        starting benchmark...\n\
        spawning thread #0: 100 total client(s). Timing-based test with 0s of warm-up time and 2s of main duration for measurements.\n\
        Application protocol: http/1.1\n\n\
        finished in 2.00s, 1000.00 req/s, 40.00KB/s\n\
        requests: 2000 total, 2000 started, 2000 done, 2000 succeeded, 0 failed, 0 errored, 0 timeout\n\
        time for request:      110us      5.20ms      1.00ms       80us    90.00%\n\
        req/s           :      10.00       10.00       10.00       0.00   100.00%\n";
    assert_eq!(read(text).rows[0].asked_per_s, Some(1000.0));
    assert_eq!(kinds(text), []);
}

#[test]
fn h2load_sends_several_requests_behind_one_another() {
    let text = "$ h2load --h1 -c 10 -m 10 -D 2 http://h/hello\n\
        starting benchmark...\n\
        spawning thread #0: 10 total client(s). Timing-based test with 0s of warm-up time and 2s of main duration for measurements.\n\
        Application protocol: http/1.1\n\n\
        finished in 2.00s, 10000.00 req/s, 400.00KB/s\n\
        requests: 20000 total, 20000 started, 20000 done, 20000 succeeded, 0 failed, 0 errored, 0 timeout\n\
        time for request:      110us     15.20ms     10.00ms       80us    90.00%\n\
        req/s           :    1000.00     1000.00     1000.00       0.00   100.00%\n";
    assert_eq!(read(text).rows[0].users(), Some(100.0));
    assert_eq!(kinds(text), []);
}

/// `-m 1` is h2load's own.
#[test]
fn h2load_without_m_has_a_stream_a_connection() {
    let with = |command: &str| {
        format!(
            "$ {command}\nstarting benchmark...\n\
             spawning thread #0: 10 total client(s). Timing-based test with 0s of warm-up time and 2s of main duration for measurements.\n\
             Application protocol: h2c\n\n\
             finished in 2.00s, 1000.00 req/s, 40.00KB/s\n\
             requests: 2000 total, 2010 started, 2000 done, 2000 succeeded, 0 failed, 0 errored, 0 timeout\n\
             time for request:      110us     35.20ms     20.00ms       80us    90.00%\n\
             req/s           :     100.00      100.00      100.00       0.00   100.00%\n"
        )
    };
    let users = |text: &str| read(text).rows[0].users();
    // 1000/s of 20 ms are 20 users.
    let plain = with("h2load -c 10 -D 2 http://h/hello");
    assert_eq!(users(&plain), Some(10.0));
    assert_eq!(kinds(&plain), [(Level::Broken, Kind::LittlesLaw)]);
    let two = with("h2load -c 10 -m 2 -D 2 http://h/hello");
    assert_eq!((users(&two), kinds(&two)), (Some(20.0), vec![]));
    // A value that can't be read, and a command that is not whole, say nothing.
    for unknown in ["h2load -c 10 -m $STREAMS -D 2 http://h/hello", "h2load -c 10 and more options"] {
        let text = with(unknown);
        assert_eq!((users(&text), kinds(&text)), (None, vec![]), "{unknown}");
    }
}

#[test]
fn wrk2_is_known_by_its_histogram() {
    let text = format("wrk2.txt");
    let (kept, _) = text.split_once("\n$ wrk2 ").unwrap();
    let lines: Vec<&str> =
        kept.lines().filter(|line| !line.contains("calibration") && !line.starts_with("$ ")).collect();
    let line = "       0.917     0.000000            1         1.00\n";
    let pasted = (lines.join("\n") + "\n").replace(line, &line.repeat(20));
    let document = read(&pasted);
    let [row] = &document.rows[..] else { panic!("{document:?}") };
    assert_eq!((row.tool, row.requests), (Tool::Wrk2, Some(60_018)));
    assert_eq!(kinds(&pasted), []);
}

#[test]
fn oha_has_several_requests_on_a_connection() {
    let text = format("oha.json");
    let pasted = format!("$ oha --http2 -c 25 -p 2 -z 1s --output-format json http://h/hello\n{text}");
    assert_eq!(read(&pasted).rows[0].users(), Some(50.0));
    assert_eq!(kinds(&pasted), []);
}

#[test]
fn a_jmeter_table_may_have_decimal_commas_in_quotes() {
    let text = "Label,# Samples,Average,Median,90% Line,95% Line,99% Line,Min,Max,Error %,Throughput,Received KB/sec,Sent KB/sec\n\
        HTTP Request,20000,48,45,80,96,140,3,912,\"2,500%\",\"1041,55818\",\"170,88\",\"123,07\"\n";
    let rows = read(text).rows;
    assert!(close(rows[0].rate_per_s.unwrap().value, 1041.55818));
    assert_eq!((rows[0].errors.bad_answers, &rows[0].unreadable), (Some(500), &Vec::new()));
}

/// An output of sb as a file has it: 100/s of 100 ms for a minute.
fn sb(command: &str, statuses: &str) -> String {
    format!(
        "$ {command}\nStarting at 2026/1/1 12:00:00\n[Press C to stop the test]\n\r5999\t(RPS: 100)\t\t\t\r6000\t(RPS: \
         100)\t\t\t\n---------------Finished!----------------\nFinished at 2026/1/1 12:01:00 (took 00:01:00.0000000)\n\
         {statuses}\nRPS: 100 (requests/second)\nMax: 900ms\nMin: 1ms\nAvg: 100ms\n\n  50%\tbelow 90ms\n99.9%\tbelow 800ms\n"
    )
}

#[test]
fn what_sb_calls_303_is_no_other_status() {
    let found = |statuses: &str| {
        let audit = crate::found(&sb("sb -u http://h/x -c 10 -N 60", statuses));
        let all = crate::all(&audit).into_iter().filter(|it| it.kind != Kind::NoRepeats);
        all.map(|it| (it.level, it.kind, it.text.clone())).collect::<Vec<_>>()
    };
    assert_eq!(found("Status 200:    6000\n"), []);
    assert_eq!(found("Status 200:    5000\nStatus 304:    1000\n"), [], "3xx is no failure");
    let failed = "Status 200:    5000\nStatus 500:    1000\n";
    let [(Level::Unknown, Kind::ErrorsAsAnswers, text)] = &found(failed)[..] else {
        panic!("answers that are told for what they are")
    };
    assert!(text.starts_with("1000 of 6000 requests (16.7 %) brought no good answer and"), "{text}");
    let thrown = "Status 200:    5000\nStatus 303:    1000\n";
    let [(Level::Broken, Kind::ErrorsAsAnswers, text)] = &found(thrown)[..] else {
        panic!("exceptions that are called answers")
    };
    assert!(text.contains("are \"Status 303\", which is what sb calls an exception"), "{text}");
    let both = "Status 200:    5000\nStatus 303:    600\nStatus 500:    400\n";
    let [(Level::Broken, Kind::ErrorsAsAnswers, text)] = &found(both)[..] else { panic!("some of each") };
    assert!(text.contains("brought no good answer, 600 of them \"Status 303\""), "{text}");
}

#[test]
fn users_of_sb_wait_and_begin_where_its_command_says_so() {
    const GOOD: &str = "Status 200:    6000\n";
    let of = |command: &str| kinds(&sb(command, GOOD));
    assert_eq!(of("sb -u http://h/x -c 100 -N 60 -y 0"), [(Level::Broken, Kind::LittlesLaw)]);
    for command in [
        "sb -u http://h/x -c 100 -N 60 -y 900",
        "sbcore --url=http://h/x --concurrency 100 --numberOfSeconds=60 --delayInMillisecond 900",
    ] {
        assert_eq!(of(command), [(Level::Note, Kind::LittlesLaw)], "{command}");
    }
    // A warm-up of ten seconds is in the time that it took, and in nothing else.
    let warmed = |command: &str| sb(command, GOOD).replace("(took 00:01:00", "(took 00:01:10");
    let untold = warmed("sb -u http://h/x -c 10 -N 60");
    assert!(kinds(&untold).contains(&(Level::Broken, Kind::RateTimesTime)), "{:?}", kinds(&untold));
    assert_eq!(kinds(&warmed("sb -u http://h/x -c 10 -N 60 -W 10")), []);
    assert_eq!(kinds(&untold.replace("\r5999", "\rWarmup [Users 10]: 990\r5999")), []);
    // Of a run that was killed there is the last state of a line that a terminal would have rewritten.
    let (cut, _) = untold.split_once("Status").unwrap();
    assert_eq!(read(cut).rows[0].requests, Some(6000));
}

/// As in the log of a build server.
#[test]
fn colours_and_the_line_ends_of_other_systems_change_nothing() {
    for name in ["wrk-latency.txt", "wrk2.txt", "h2load.txt", "ab.txt", "hey.txt", "autocannon.txt"] {
        let (plain, mut coloured) = (format(name), String::new());
        for line in plain.lines() {
            write!(coloured, "\u{1b}[36;1m{line}\u{1b}(B\u{1b}[m\r\n").unwrap();
        }
        assert_eq!(read(&coloured).rows, read(&plain).rows, "{name}");
    }
    let cut = read(&format("h2load.txt").replace("requests:", "\u{1b}[31\nrequests:"));
    assert_eq!(cut.rows[0].requests, read(&format("h2load.txt")).rows[0].requests);
}

/// Ours says of a mean no more than what it is above, where requests were given up.
#[test]
fn a_mean_of_sb_that_is_a_bound_is_neither_a_mean_nor_missing() {
    let text = "[Press C to stop the test]\n9\t(RPS: 9)\t\t\t\n---------------Finished!----------------\n\
        Finished at 2026/1/1 12:00:00 (took 00:00:03.0000000)\nStatus 200:    9\nin flight:    1\n\n\
        RPS: 9 (requests/second)\nMax: above 2000ms\nMin: 1ms\nAvg: above 200.9ms\n\n  50%\tbelow 1ms\n\
        99.9%\tabove 2000ms\n";
    let document = read(text);
    let [row] = &document.rows[..] else { panic!("{document:?}") };
    assert_eq!((row.tool, row.requests, row.mean_ms, row.max_ms), (Tool::Sb, Some(9), None, None));
    assert!(row.missing.is_empty(), "{row:?}");
    let cut = read(&text.replace("Avg: above 200.9ms\n", ""));
    assert_eq!(cut.rows[0].missing, ["the line `Avg`"]);
}

/// As logs of containers, of pods and of build servers have it.
#[test]
fn what_a_log_writes_before_each_line_is_passed_over() {
    let others = [
        "ab.txt",
        "hey.txt",
        "vegeta.txt",
        "bombardier.txt",
        "autocannon.txt",
        "fortio.json",
        "siege.txt",
        "gatling.txt",
        "gatling-later.txt",
        "k6.txt",
        "oha.txt",
    ];
    for name in
        ["wrk-latency.txt", "wrk2.txt", "h2load.txt", "oha.json", "k6-export.json"].into_iter().chain(others)
    {
        let plain = format(name);
        for prefix in [
            "2026-01-01T12:00:00.123456789Z ",
            "[2026-01-01 12:00:00,123] ",
            "12:00:00 ",
            "load-1  | ",
            "load-1  | 2026-01-01T12:00:00Z ",
            "[pod/load-x2k/main] ",
            "load\trun it\t2026-01-01T12:00:00.1234567Z ",
        ] {
            let mut logged = String::new();
            for line in plain.lines() {
                writeln!(logged, "{prefix}{line}").unwrap();
            }
            assert_eq!(read(&logged).rows, read(&plain).rows, "{prefix}{name}");
        }
    }
}

/// Two containers at a time print two outputs, and neither has a figure of the other.
#[test]
fn each_container_has_an_output_of_its_own() {
    let one = format("wrk-latency.txt");
    let other = one.replace("501890", "480000").replace("50088.82", "47904.19");
    let mut logged = "Attaching to a-1, b-1\n".to_owned();
    for (a, b) in one.lines().zip(other.lines()) {
        writeln!(logged, "a-1  | {a}\nb-1  | {b}").unwrap();
    }
    logged.push_str("a-1 exited with code 0\n");
    let requests: Vec<_> = read(&logged).rows.iter().map(|row| row.requests).collect();
    assert_eq!(requests, [Some(501_890), Some(480_000)]);
    // The first column of a table is no name of a container.
    let table = read("Label | # Samples | Average\nhome | 10 | 5\n");
    assert_eq!((table.rows.len(), table.rows[0].requests), (1, Some(10)));
}

/// autocannon begins its output with a line of wrk's.
#[test]
fn an_output_of_autocannon_is_no_output_of_wrk_that_is_cut_off() {
    let text = "Running 10s test @ http://localhost:3000\n10 connections\n\n\
        | Stat    | 2.5% | 50%  | 97.5% | 99%  | Avg     | Stdev   | Max   |\n\
        | Latency | 0 ms | 0 ms | 0 ms  | 1 ms | 0.01 ms | 0.09 ms | 12 ms |\n\n\
        | Stat    | 1%   | 2.5% | 50%  | 97.5% | Avg   | Stdev | Min  |\n\
        | Req/Sec | 9999 | 9999 | 9999 | 9999  | 11390 | 50.1  | 9999 |\n\n\
        Req/Bytes counts sampled once per second.\n# of samples: 10\n\n114k requests in 10.01s, 20.4 MB read\n";
    let tools = |text: &str| read(text).rows.iter().map(|row| row.tool).collect::<Vec<_>>();
    assert_eq!(tools(text), [Tool::Autocannon]);
    let both = format!("{text}{}", format("wrk-latency.txt"));
    assert_eq!(tools(&both), [Tool::Autocannon, Tool::Wrk]);
    assert_eq!(read(&both).rows[1].system, None, "the number of samples is no heading");
}

#[test]
fn ab_prints_a_time_that_is_none_and_measures_another() {
    let text = format("ab.txt");
    let document = read(&text);
    let [row] = &document.rows[..] else { panic!("{document:?}") };
    assert_eq!((row.tool, row.connections, row.requests), (Tool::Ab, Some(50), Some(20_000)));
    assert_eq!(row.path.as_deref(), Some("/hello"));
    assert!(close(row.elapsed_s.unwrap().value, 4.0) && close(row.rate_per_s.unwrap().value, 5000.0));
    assert!(close(row.mean_ms.unwrap().value, 10.0) && close(row.stdev_ms.unwrap().value, 4.2), "{row:?}");
    assert_eq!((row.min_ms.unwrap().value, row.max_ms.unwrap().value), (1.0, 43.0));
    assert_eq!(row.percentiles_ms.len(), 8, "the maximum is no percentile");
    assert!(close(row.bytes_per_answer().unwrap().value, 155.0), "heads and all");
    let ab = row.of_ab.unwrap();
    assert_eq!((ab.keep_alive, ab.other_lengths), (Some(20_000), 0));
    assert!(close(ab.per_request_ms.unwrap().value, 10.0), "{ab:?}");
    assert!(row.missing.is_empty() && row.unreadable.is_empty(), "{row:?}");
    assert_eq!(kinds(&text), [(Level::Note, Kind::ByDefinition)]);
}

/// `-d` leaves percentiles out, `-S` deviations; without the head there is no server.
#[test]
fn ab_prints_less_if_it_is_told_to() {
    let whole = format("ab.txt");
    let (without_percentiles, _) = whole.split_once("Percentage of").unwrap();
    assert_eq!(kinds(without_percentiles), [(Level::Note, Kind::ByDefinition)]);
    let short = whole.replace("Total:          1   10   4.2      9      43", "Total:          1    10   43");
    let row = &read(&short).rows[0];
    assert_eq!((row.mean_ms.unwrap().value, row.max_ms.unwrap().value, row.stdev_ms), (10.0, 43.0, None));
    let (_, headless) = whole.split_once("Concurrency").unwrap();
    let twice = format!("Concurrency{headless}\nConcurrency{headless}");
    assert_eq!(read(&twice).rows.len(), 2);
    // What comes behind the last line is no part of it.
    let more = format!("{whole}\nTotal: 7 7 7.0 7 7\nComplete requests: 3\n");
    assert_eq!(read(&more).rows[0], read(&whole).rows[0]);
}

/// It prints no figures where a socket fails.
#[test]
fn ab_that_gave_up_is_cut_off() {
    let text = "Benchmarking 127.0.0.1 (be patient)\napr_socket_recv: Connection reset by peer (104)\n\
        Total of 123 requests completed\n";
    let document = read(text);
    let [row] = &document.rows[..] else { panic!("{document:?}") };
    assert_eq!((row.tool, row.requests, row.missing.len()), (Tool::Ab, Some(123), 2));
    assert_eq!(kinds(text), [(Level::Unknown, Kind::CutOff)]);
    let empty = "Server Software:        \nServer Hostname:        127.0.0.1\nConcurrency Level:      5\n\
        Time taken for tests:   3.001 seconds\nComplete requests:      0\nFailed requests:        0\n";
    assert_eq!(kinds(empty), [(Level::Unknown, Kind::Empty)]);
}

#[test]
fn hey_by_time() {
    let text = format("hey.txt");
    let document = read(&text);
    let [row] = &document.rows[..] else { panic!("{document:?}") };
    assert_eq!((row.tool, row.connections, row.requests), (Tool::Hey, Some(50), Some(49_952)));
    assert_eq!((row.line, row.duration_s, row.path.as_deref()), (3, Some(10.0), Some("/hello")));
    assert!(close(row.mean_ms.unwrap().value, 10.0) && close(row.max_ms.unwrap().value, 81.2), "{row:?}");
    assert_eq!(
        row.percentiles_ms.iter().map(|it| it.0).collect::<Vec<_>>(),
        [10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0]
    );
    assert!(close(row.answer_bytes.unwrap().value, 13.0) && row.kept.is_none());
    assert!(row.missing.is_empty(), "{row:?}");
    assert_eq!(kinds(&text), []);
    // Later versions print two signs, and zeros in the place of percentiles that they have none of.
    let signs = text.replace("% in", "%% in").replace("  99%% in 0.0267", "  0%% in 0.0000");
    assert_eq!(read(&signs).rows[0].percentiles_ms.len(), 6);
    // Without a command nobody tells how many workers there were.
    let bare = text.split_once('\n').unwrap().1;
    assert_eq!((read(bare).rows[0].connections, kinds(bare)), (None, vec![]));
    // It has fifty of itself.
    let asked = |how: &str| read(&text.replace("-z 10s -c 50", how)).rows[0].connections;
    assert_eq!((asked("-n 49952"), asked("-n 100 -c 7")), (Some(50), Some(7)));
}

#[test]
fn hey_counts_errors_in_its_rate() {
    let text = format("hey.txt").replace(
        "  [200]\t49952 responses\n\n",
        "  [200]\t39000 responses\n  [503]\t952 responses\n\nError distribution:\n  [9990]\tGet \"http://h/timeout\": dial tcp \
         127.0.0.1:8080: connect: connection refused\n  [10]\tGet \"http://h/x\": context deadline exceeded (Client.Timeout \
         exceeded while awaiting headers)\n\n[7] is a footnote\n",
    );
    let document = read(&text);
    let [row] = &document.rows[..] else { panic!("{document:?}") };
    let errors = row.errors;
    assert_eq!((row.requests, errors.bad_answers), (Some(49_952), Some(10_952)));
    assert_eq!((errors.read, errors.timeout, row.answers()), (Some(9990), Some(10), Some(39_952)));
    assert!(kinds(&text).contains(&(Level::Unknown, Kind::ErrorsAsAnswers)), "{:?}", kinds(&text));
    // The rate of earlier versions is one of answers, and is not called wrong for that.
    let early = text.replace("4990.0104", "3991.0493");
    assert_eq!((read(&early).rows[0].rated, read(&early).rows[0].requests), (Some(39_952), Some(49_952)));
    let audit = crate::found(&early);
    let found = crate::all(&audit);
    assert!(found.iter().all(|it| it.level != Level::Broken), "{found:?}");
    let failed = found.iter().find(|it| it.kind == Kind::ErrorsAsAnswers).unwrap();
    assert!(failed.text.contains("brought no good answer: good answers are"), "{failed:?}");
    // Without any answer there is no average, and none is missed.
    let none = "\nSummary:\n  Total:\t2.0010 secs\n  Slowest:\t0.0000 secs\n  Fastest:\t0.0000 secs\n  Average:\tNaN secs\n  \
        Requests/sec:\t99.9500\n\n\nResponse time histogram:\n\n\nLatency distribution:\n\nStatus code distribution:\n\n\
        Error distribution:\n  [200]\tGet \"http://h/\": dial tcp 127.0.0.1:1: connect: connection refused\n";
    let row = &read(none).rows[0];
    assert_eq!((row.requests, row.mean_ms, row.max_ms), (Some(200), None, None));
    assert!(row.missing.is_empty(), "{row:?}");
    assert_eq!(kinds(none), [(Level::Unknown, Kind::ErrorsAsAnswers)]);
}

/// oha's text goes on as hey's summary does, and has a unit of its own.
#[test]
fn text_of_oha_is_none_of_hey() {
    let text = format("oha.txt");
    let document = read(&text);
    let [row] = &document.rows[..] else { panic!("{document:?}") };
    assert_eq!((row.tool, row.connections, row.requests), (Tool::Oha, Some(50), Some(79_656)));
    assert_eq!((row.duration_s, row.path.as_deref()), (Some(2.0), Some("/hello")));
    assert!(close(row.elapsed_s.unwrap().value, 2.001_572_1) && close(row.mean_ms.unwrap().value, 1.2557));
    assert!(close(row.min_ms.unwrap().value, 0.1002) && close(row.max_ms.unwrap().value, 8.9115), "{row:?}");
    assert_eq!((row.percentiles_ms.len(), row.errors.aborted, row.errors.read), (9, Some(50), Some(0)));
    assert!(row.missing.is_empty() && row.unreadable.is_empty(), "{row:?}");
    assert_eq!(kinds(&text), []);
    // A second distribution is one of some answers.
    let more = text.replace(
        "\n\nDetails",
        "\nResponse time distribution (2xx only):\n  50.00% in 9.0000 ms\n\n\nDetails",
    );
    assert_eq!(read(&more).rows[0].percentiles_ms, row.percentiles_ms);
    // Versions before 1.0 have seconds, and a longest time of ten seconds or more makes them tens of seconds.
    let old = "Summary:\n  Success rate:\t1.0000\n  Total:\t2.0016 secs\n  Slowest:\t0.0089 secs\n  Fastest:\t0.0001 secs\n  \
        Average:\t0.0012 secs\n  Requests/sec:\t39772.2\n\nStatus code distribution:\n  [200] 79609 responses\n";
    let rows = read(old).rows;
    assert_eq!((rows.len(), rows[0].tool, rows[0].requests), (1, Tool::Oha, Some(79_609)));
    assert!(close(rows[0].mean_ms.unwrap().value, 1.2) && close(rows[0].mean_ms.unwrap().step, 0.1));
    // What hey and oha say of their own runs is no summary of one of wrk above them.
    for name in ["hey.txt", "oha.txt"] {
        let both = format!("{}\n{}", format("wrk-latency.txt"), format(name).split_once('\n').unwrap().1);
        let rows = read(&both).rows;
        assert_eq!((rows.len(), rows[0].summary.rate_per_s), (2, None), "{name}");
    }
}

#[test]
fn bombardier_as_json() {
    let json = format("bombardier.json");
    let document = read(&json);
    let [row] = &document.rows[..] else { panic!("{document:?}") };
    assert_eq!((row.tool, row.connections, row.requests), (Tool::Bombardier, Some(125), Some(312_480)));
    assert_eq!((row.duration_s, row.timeout_s, row.path.as_deref()), (Some(10.0), Some(2.0), Some("/hello")));
    assert!(close(row.elapsed_s.unwrap().value, 10.0042) && close(row.mean_ms.unwrap().value, 3.991_207));
    assert!(close(row.rate_per_s.unwrap().value, 312_480.0 / 10.0042), "it is told as a mean of samples");
    assert!(close(row.sampled_per_s.unwrap().value, 31_250.4) && row.stdev_ms.is_none(), "{row:?}");
    assert_eq!(row.percentiles_ms.iter().map(|it| it.0).collect::<Vec<_>>(), [50.0, 75.0, 90.0, 95.0, 99.0]);
    assert_eq!((row.errors.bad_answers, row.errors.timeout), (Some(2000), Some(9)));
    assert_eq!(kinds(&json), [(Level::Note, Kind::ErrorsAsAnswers)], "2000 of 312,480");
    // Below its head, with no figures of its own, it is one run.
    let headed = format!(
        "$ bombardier -c 125 -d 10s -o json http://127.0.0.1:8080/hello\nBombarding http://127.0.0.1:8080/hello for 10s using \
         125 connection(s)\n[====] 10s\nDone!\n{json}\n"
    );
    let rows = read(&headed).rows;
    assert_eq!((rows.len(), rows[0].requests, rows[0].line), (1, Some(312_480), 5));
    // Its users were in no more requests at a time than there are.
    let many = json.replace("\"numberOfConnections\":125", "\"numberOfConnections\":60");
    assert!(kinds(&many).contains(&(Level::Broken, Kind::LittlesLaw)), "{:?}", kinds(&many));
    let asked = json.replace("\"client\":\"fasthttp\"", "\"client\":\"fasthttp\",\"rate\":40000");
    assert!(kinds(&asked).contains(&(Level::Unknown, Kind::OfferedRate)), "{:?}", kinds(&asked));
}

#[test]
fn siege_as_text_and_as_json() {
    let text = format("siege.txt");
    let document = read(&text);
    let [row] = &document.rows[..] else { panic!("{document:?}") };
    assert_eq!((row.tool, row.connections, row.requests), (Tool::Siege, Some(25), Some(36_520)));
    assert_eq!((row.duration_s, row.path.as_deref(), row.line), (Some(30.0), Some("/hello"), 6));
    // 0.02 s is told, and 24.61 x 29.82 s of 36,520 answers are more exact.
    let mean = row.mean_ms.unwrap();
    assert!(close(mean.value, 24.61 * 29.82 / 36_520.0 * 1e3) && mean.step < 0.06, "{mean:?}");
    assert!(close(row.max_ms.unwrap().value, 120.0) && close(row.max_ms.unwrap().step, 10.0));
    assert_eq!((row.errors.bad_answers, row.errors.read), (Some(0), Some(0)));
    assert!(row.missing.is_empty() && row.unreadable.is_empty(), "{row:?}");
    assert_eq!(kinds(&text), []);
    // From 4.1.6 on times are milliseconds.
    let later = text
        .replace("       36520 hits", "    36520    hits")
        .replace("        0.02 secs\nTransaction", "       20.10 ms\nTransaction")
        .replace("0.12\n", "120.00 ms\n")
        .replace("0.00\n \n", "0.00 ms\n \n");
    let row = &read(&later).rows[0];
    assert!(close(row.mean_ms.unwrap().value, 20.1) && close(row.max_ms.unwrap().value, 120.0), "{row:?}");
    assert_eq!(kinds(&later), []);
    // Without a head the command tells the users.
    let bare: Vec<&str> = text.lines().filter(|it| !it.starts_with("** ")).collect();
    assert_eq!(read(&bare.join("\n")).rows[0].connections, Some(25));

    let json = format("siege.json");
    let row = &read(&json).rows[0];
    assert_eq!((row.tool, row.requests, row.connections), (Tool::Siege, Some(36_520), None));
    assert_eq!((row.errors.bad_answers, row.errors.read), (Some(500), Some(200)));
    assert!(close(row.mean_ms.unwrap().value, mean.value), "{row:?}");
    assert_eq!(kinds(&json), [(Level::Unknown, Kind::ErrorsAsAnswers), (Level::Note, Kind::SocketErrors)]);
    let pasted = format!("$ siege -j -c 25 -t30S http://h/x\n{json}");
    assert_eq!((read(&pasted).rows[0].connections, read(&pasted).rows[0].duration_s), (Some(25), Some(30.0)));
}

#[test]
fn gatling_in_both_layouts() {
    let text = format("gatling.txt");
    let document = read(&text);
    let [row] = &document.rows[..] else { panic!("{document:?}") };
    assert_eq!((row.tool, row.requests, row.errors.bad_answers), (Tool::Gatling, Some(12_034), Some(34)));
    // 12,034 / 501.417 are 24 seconds, of which the last one may have hardly begun.
    let elapsed = row.elapsed_s.unwrap();
    assert!(close(elapsed.value, 24.0) && elapsed.step >= 1.0 && elapsed.step < 1.01, "{elapsed:?}");
    assert!(close(row.mean_ms.unwrap().value, 23.0) && close(row.stdev_ms.unwrap().value, 45.0), "{row:?}");
    assert_eq!((row.min_ms.unwrap().value, row.max_ms.unwrap().value), (1.0, 1234.0));
    assert_eq!(row.percentiles_ms.iter().map(|it| it.0).collect::<Vec<_>>(), [50.0, 75.0, 95.0, 99.0]);
    assert!(row.missing.is_empty() && row.users().is_none(), "{row:?}");
    assert_eq!(kinds(&text), [(Level::Note, Kind::ErrorsAsAnswers)]);

    let text = format("gatling-later.txt");
    let row = &read(&text).rows[0];
    assert_eq!((row.requests, row.errors.bad_answers), (Some(307_780), Some(0)));
    assert_eq!((row.max_ms.unwrap().value, row.rate_per_s.unwrap().value), (4187.0, 12_311.2));
    // None failed, and p99 is another of all than of those that did not fail.
    assert_eq!(kinds(&text), [(Level::Note, Kind::Percentiles)]);
    let failed = text.replace("|   307,780 |         -", "|   306,780 |     1,000");
    assert_eq!(read(&failed).rows[0].errors.bad_answers, Some(1000));
}

#[test]
fn gatling_as_json() {
    let json = format("gatling.json");
    let document = read(&json);
    let [row] = &document.rows[..] else { panic!("{document:?}") };
    assert_eq!((row.tool, row.requests, row.errors.bad_answers), (Tool::Gatling, Some(1800), Some(20)));
    assert!(close(row.elapsed_s.unwrap().value, 30.0) && close(row.mean_ms.unwrap().value, 10.0), "{row:?}");
    assert_eq!((row.percentiles_ms.len(), row.good_percentiles_ms.len()), (4, 4));
    assert_eq!(kinds(&json), [(Level::Unknown, Kind::ErrorsAsAnswers)]);
    // `global_stats.json` has what is `stats` here, and some versions have strings.
    let (_, stats) = json.split_once("\"stats\": ").unwrap();
    let (stats, _) = stats.split_once(",\n    \"contents\"").unwrap();
    assert_eq!(read(stats).rows, std::slice::from_ref(row));
    let strings = stats.replace("1800", "\"1800\"").replace("60.0,", "\"60\",");
    assert_eq!(read(&strings).rows[0].requests, Some(1800));
    assert!(close(read(&strings).rows[0].elapsed_s.unwrap().value, 30.0));
}

#[test]
fn vegeta_is_an_open_model() {
    let text = format("vegeta.txt");
    let document = read(&text);
    let [row] = &document.rows[..] else { panic!("{document:?}") };
    assert_eq!((row.tool, row.requests, row.asked_per_s), (Tool::Vegeta, Some(5000), Some(500.0)));
    assert!(close(row.elapsed_s.unwrap().value, 9.998) && close(row.rate_per_s.unwrap().value, 500.1));
    assert!(close(row.mean_ms.unwrap().value, 1.62) && close(row.min_ms.unwrap().value, 0.3041), "{row:?}");
    assert_eq!(
        (row.percentiles_ms.len(), row.errors.bad_answers, row.path.as_deref()),
        (4, Some(0), Some("/hello"))
    );
    assert!(row.missing.is_empty() && row.users().is_none(), "{row:?}");
    assert_eq!(kinds(&text), []);
    // Earlier versions have other labels.
    let old = text
        .replace("[total, rate, throughput]         5000, 500.10, 500.02", "[total, rate]    5000, 500.10")
        .replace(
            "[min, mean, 50, 90, 95, 99, max]  304.1µs, 1.62ms, 1.402ms, 2.511ms,",
            "[mean, 50, 95, 99, max]  1.62ms, 1.402ms,",
        );
    let row = &read(&old).rows[0];
    assert!(close(row.mean_ms.unwrap().value, 1.62) && close(row.max_ms.unwrap().value, 31.87), "{row:?}");
    assert_eq!((row.percentiles_ms.len(), kinds(&old)), (3, vec![]));
    let cut: String = text.split_inclusive('\n').take(3).collect();
    assert_eq!(kinds(&cut), [(Level::Unknown, Kind::CutOff)]);
}

#[test]
fn vegeta_as_json_tells_what_failed() {
    let json = format("vegeta.json");
    let text = format!(
        "$ echo \"GET http://h/x\" | vegeta attack -rate=30000/1m -duration=10s >results.bin\n$ vegeta report -type=json \
         results.bin\n{json}"
    );
    let document = read(&text);
    let [row] = &document.rows[..] else { panic!("{document:?}") };
    assert_eq!((row.tool, row.asked_per_s, row.path.as_deref()), (Tool::Vegeta, Some(500.0), Some("/x")));
    assert_eq!(
        (row.requests, row.errors.bad_answers),
        (Some(5000), Some(500)),
        "200 of them without an answer"
    );
    assert!(close(row.mean_ms.unwrap().value, 1.62) && close(row.elapsed_s.unwrap().value, 9.998), "{row:?}");
    assert_eq!(kinds(&text), [(Level::Unknown, Kind::ErrorsAsAnswers)]);
    assert_eq!(read(&json).rows[0].asked_per_s, None, "without a command nobody tells it");
}

#[test]
fn bombardier_by_time() {
    let text = format("bombardier.txt");
    let document = read(&text);
    let [row] = &document.rows[..] else { panic!("{document:?}") };
    assert_eq!((row.tool, row.connections, row.requests), (Tool::Bombardier, Some(125), Some(312_480)));
    assert_eq!((row.duration_s, row.elapsed_s, row.path.as_deref()), (Some(10.0), None, Some("/hello")));
    assert!(close(row.mean_ms.unwrap().value, 4.0) && close(row.max_ms.unwrap().value, 24.1), "{row:?}");
    assert_eq!(row.stdev_ms, None, "what it calls one is none");
    assert_eq!((row.percentiles_ms.len(), row.errors.bad_answers), (5, Some(0)));
    assert!(row.missing.is_empty(), "{row:?}");
    assert_eq!(kinds(&text), []);
    // Later versions have a second distribution, of good answers alone.
    let later = text.replace("Latency Distribution", "Latency Distribution (Total)").replace(
        "  HTTP codes:",
        "  Latency Distribution (2xx)\n     50%     9.00ms\n     99%     9.90ms\n  HTTP codes:",
    );
    assert_eq!(read(&later).rows[0].percentiles_ms, row.percentiles_ms);
    let failed = text.replace(
        "2xx - 312480, 3xx - 0, 4xx - 0, 5xx - 0\n    others - 0",
        "2xx - 300000, 3xx - 480, 4xx - 7, 5xx - 1993\n    others - 10000\n  Errors:\n      timeout - 9000\n    dial tcp: \
         refused - 1000",
    );
    let errors = read(&failed).rows[0].errors;
    assert_eq!((errors.bad_answers, errors.timeout), (Some(12_000), Some(9000)));
    assert!(kinds(&failed).contains(&(Level::Unknown, Kind::ErrorsAsAnswers)), "{:?}", kinds(&failed));
    // Only its result was printed, and older versions name no path.
    let bare = text[text.find("Statistics").unwrap()..].to_owned();
    assert_eq!((read(&bare).rows[0].connections, kinds(&bare)), (None, vec![]));
    let old = text.replace("Bombarding http://127.0.0.1:8080/hello", "Bombarding http://127.0.0.1:8080");
    assert_eq!(read(&old).rows[0].path.as_deref(), Some("/hello"));
}

#[test]
fn autocannon_in_tables_and_as_json() {
    let text = format("autocannon.txt");
    let document = read(&text);
    let [row] = &document.rows[..] else { panic!("{document:?}") };
    assert_eq!((row.tool, row.connections, row.streams), (Tool::Autocannon, Some(100), Some(1)));
    assert_eq!((row.requests, row.path.as_deref()), (None, Some("/hello")), "thousands are no count");
    // 100k in 10.03 s, and 9.52 ms that were cut off to whole ones before.
    let rate = row.rate_per_s.unwrap();
    assert!(close(rate.value, 100_000.0 / 10.03) && rate.step > 99.0 && rate.step < 120.0, "{rate:?}");
    assert!(close(row.mean_ms.unwrap().value, 9.52) && close(row.mean_ms.unwrap().step, 1.0), "{row:?}");
    assert_eq!(row.percentiles_ms.iter().map(|it| it.0).collect::<Vec<_>>(), [2.5, 50.0, 97.5, 99.0]);
    assert!(row.missing.is_empty(), "{row:?}");
    assert_eq!(kinds(&text), []);
    let failed = "97628 2xx responses, 2500 non 2xx responses\n100k requests in 10.03s, 15.5 MB read\n12 errors (4 timeouts)\n";
    let failed = text.replace("100k requests in 10.03s, 15.5 MB read\n", failed);
    let row = &read(&failed).rows[0];
    assert_eq!((row.requests, row.errors.bad_answers), (Some(100_128), Some(2500)));
    assert_eq!((row.errors.timeout, row.errors.read), (Some(4), Some(8)));
    let piped = text.replace("100 connections", "50 connections with 2 pipelining factor");
    assert_eq!(read(&piped).rows[0].users(), Some(100.0));

    let json = format("autocannon.json");
    let row = &read(&json).rows[0];
    assert_eq!((row.tool, row.connections, row.requests), (Tool::Autocannon, Some(100), Some(100_128)));
    assert_eq!((row.errors.bad_answers, row.errors.timeout, row.errors.read), (Some(2000), Some(4), Some(8)));
    assert_eq!(kinds(&json), [(Level::Unknown, Kind::ErrorsAsAnswers), (Level::Note, Kind::Censored)]);
}

#[test]
fn locust_has_a_row_a_name() {
    let text = format("locust_stats.csv");
    let rows = read(&text).rows;
    let [get, post] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!((get.tool, get.path.as_deref(), get.line), (Tool::Locust, Some("GET /hello"), 2));
    assert!(close(get.mean_ms.unwrap().value, 13.482_917_5) && get.percentiles_ms.len() == 10, "{get:?}");
    assert_eq!((post.requests, post.errors.bad_answers), (Some(1000), Some(37)));
    // It keeps 147 as 150, which is beyond no maximum.
    assert_eq!(kinds(&text), [(Level::Unknown, Kind::ErrorsAsAnswers)]);
    let mut lines = text.lines();
    let (header, total) = (lines.next().unwrap(), lines.next_back().unwrap());
    let rows = read(&format!("{header}\n{total}\n")).rows;
    assert_eq!((rows.len(), rows[0].requests, rows[0].path.as_deref()), (1, Some(5000), None));
    let error = audit::read("x", &format!("{header}\n")).expect_err("no row").to_string();
    assert!(error.contains("Locust's file has a header and no row"), "{error}");
}

#[test]
fn fortio_as_json() {
    let text = format("fortio.json");
    let row = &read(&text).rows[0];
    assert_eq!((row.tool, row.connections, row.requests), (Tool::Fortio, Some(8), Some(20_000)));
    assert_eq!((row.asked_per_s, row.duration_s, row.errors.bad_answers), (None, Some(10.0), Some(5)));
    assert!(
        close(row.mean_ms.unwrap().value, 3.99) && close(row.elapsed_s.unwrap().value, 10.0005),
        "{row:?}"
    );
    assert_eq!(row.percentiles_ms.iter().map(|it| it.0).collect::<Vec<_>>(), [50.0, 99.0]);
    assert_eq!(kinds(&text), []);
    let asked = text.replace("\"max\"", "\"4000\"");
    assert_eq!(kinds(&asked), [(Level::Unknown, Kind::OfferedRate)]);
}
