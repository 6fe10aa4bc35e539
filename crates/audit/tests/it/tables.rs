//! What JMeter and Locust sum up, in every shape and language.

use audit::{Kind, Level, Row, Tool};

use crate::{all, format, found, kinds, read};

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= b.abs() * 1e-6
}

fn percents(row: &Row) -> Vec<f64> {
    row.percentiles_ms.iter().map(|it| it.0).collect()
}

/// A table of one request under a heading.
fn table(label: &str, failed: &str, rate: &str) -> String {
    let header = "Label,# Samples,Average,Min,Max,Error %,Throughput";
    format!("{header}\n{label},1000,20,5,90,{failed}%,{rate}\nTOTAL,1000,20,5,90,{failed}%,{rate}\n")
}

/// What a plan asks for one after another is no contest, and needs no repeats.
#[test]
fn labels_of_a_plan_are_no_systems() {
    let text = "Label,# Samples,Average,Min,Max,Error %,Throughput\nlogin,1000,20,5,90,5.000%,100.20000\n\
        browse,1000,30,6,120,0.000%,100.10000\nTOTAL,2000,25,5,120,2.500%,200.10000\n";
    let rows = read(text).rows;
    assert_eq!((rows.len(), rows[0].system.as_deref(), rows[0].path.as_deref()), (2, None, Some("login")));
    let audit = found(text);
    let findings: Vec<_> = all(&audit).iter().map(|it| (it.level, it.kind, it.row.clone())).collect();
    assert_eq!(findings, [(Level::Unknown, Kind::ErrorsAsAnswers, "login".to_owned())]);
    // By 100.2/s a is first, by good answers b is. Of two requests there is no order.
    let headed = |b: &str| {
        let (a, b) = (table("login", "5.000", "100.20000"), table(b, "0.000", "100.10000"));
        kinds(&format!("## a\n\n{a}\n## b\n\n{b}"))
    };
    assert!(headed("login").contains(&(Level::Broken, Kind::Ranking)), "{:?}", headed("login"));
    assert_eq!(headed("browse"), [(Level::Unknown, Kind::ErrorsAsAnswers)]);
    // So it is in a JTL.
    let jtl = "timeStamp,elapsed,label,success,allThreads\n1,20,login,false,1\n21,30,browse,true,1\n51,20,login,true,1\n\
        71,30,browse,true,1\n";
    let audit = found(jtl);
    let kinds: Vec<_> = all(&audit).iter().map(|it| it.kind).collect();
    assert!(!kinds.contains(&Kind::NoRepeats) && !kinds.contains(&Kind::Ranking), "{kinds:?}");
    assert_eq!(audit.counts.rows, 2);
}

/// As its user interface and its command line name them.
#[test]
fn columns_have_names_in_several_languages() {
    let chinese = "Label,# 样本,平均值,中位数,90% 百分位,95% 百分位,99% 百分位,最小值,最大值,异常 %,吞吐量,接收 KB/sec,标准偏差\n\
        HTTP请求,20000,48,45,80,96,140,3,912,2.500%,1041.55818,170.88,31.20\n\
        总体,20000,48,45,80,96,140,3,912,2.500%,1041.55818,170.88,31.20\n";
    let french = "Libellé,# Echantillons,Moyenne,Médiane,90% centile,95% centile,99% centile,Min,Max,% Erreur,Débit,Ko/sec reçus,Ecart type\n\
        Requête HTTP,20000,48,45,80,96,140,3,912,\"2,500%\",\"1041,55818\",\"170,88\",\"31,20\"\n";
    let keys = "sampler_label,aggregate_report_count,average,aggregate_report_median,aggregate_report_90%_line,\
        aggregate_report_95%_line,aggregate_report_99%_line,aggregate_report_min,aggregate_report_max,aggregate_report_error%,\
        aggregate_report_rate,aggregate_report_bandwidth,aggregate_report_stddev\n\
        HTTP Request,20000,48,45,80,96,140,3,912,\"2,50%\",\"1041,55818\",\"170,88\",\"31,20\"\n";
    for text in [chinese, french, keys] {
        let document = read(text);
        let [row] = &document.rows[..] else { panic!("the total is no row: {document:?}") };
        assert_eq!((row.tool, row.path.as_deref(), row.requests), (Tool::Jmeter, None, Some(20_000)));
        assert!(close(row.rate_per_s.unwrap().value, 1041.55818) && close(row.stdev_ms.unwrap().value, 31.2));
        assert_eq!(percents(row), [50.0, 90.0, 95.0, 99.0]);
        assert_eq!((row.errors.bad_answers, row.missing.len()), (Some(500), 0));
        assert!(row.answer_bytes.is_some() && row.unreadable.is_empty(), "{row:?}");
        assert_eq!(kinds(text), [(Level::Unknown, Kind::ErrorsAsAnswers)]);
    }
    // Which percentiles there are can be set, and a rate below one has no zero before its mark.
    let other = keys.replace("90%_line", "99.9%_line").replace("1041,55818", ",6");
    let row = &read(&other).rows[0];
    assert_eq!(percents(row), [50.0, 99.9, 95.0, 99.0]);
    assert!(close(row.rate_per_s.unwrap().value, 0.6) && row.unreadable.is_empty(), "{row:?}");
}

#[test]
fn a_summariser_tells_a_run_in_its_last_line() {
    let text = format("jmeter.txt");
    let document = read(&text);
    let [row] = &document.rows[..] else { panic!("{document:?}") };
    assert_eq!((row.tool, row.line, row.requests), (Tool::Jmeter, 10, Some(6001)));
    assert!(close(row.rate_per_s.unwrap().value, 512.9) && close(row.elapsed_s.unwrap().value, 12.0));
    let times = [row.mean_ms, row.min_ms, row.max_ms].map(|it| it.unwrap().value);
    assert!(times.iter().zip([5.0, 0.0, 272.0]).all(|(a, b)| close(*a, b)), "{row:?}");
    assert_eq!((row.errors.bad_answers, row.missing.len(), row.users()), (Some(90), 0, None));
    assert_eq!(kinds(&text), [(Level::Unknown, Kind::ErrorsAsAnswers)]);
    // In `jmeter.log` there is more before it, and elsewhere a comma in it.
    let logged = text
        .replace("summary ", "2026-01-01 12:00:06,000 INFO o.a.j.r.Summariser: summary ")
        .replace("512.9/s", "512,9/s");
    assert_eq!(read(&logged).rows, document.rows);
    // Of a run that was killed before its first total there is an interval.
    let killed: String = text.split_inclusive('\n').take(7).collect();
    assert_eq!(read(&killed).rows[0].requests, Some(1));
    assert_eq!(kinds(&killed), [(Level::Unknown, Kind::CutOff)]);
}

#[test]
fn summarisers_of_several_runs_are_told_apart() {
    let requests = |text: &str| read(text).rows.iter().map(|it| it.requests).collect::<Vec<_>>();
    // Two runs of which nothing but the end was copied, and then the second is longer in all.
    let apart = "**A**\n\nGenerate Summary Results =  10000 in 00:00:34 =  295.9/s Avg: 13443 Min:   142 Max: 24886 Err:     0 (0.00%)\n\n\
        **B**\n\nGenerate Summary Results =  10000 in 00:01:15 =  132.7/s Avg: 34014 Min:  1013 Max: 67137 Err:     0 (0.00%)\n";
    assert_eq!((requests(apart), kinds(apart)), (vec![Some(10_000); 2], vec![]));
    assert_eq!(requests(&apart.replace("1013", "   1")), [Some(10_000); 2]);
    // Of one run nothing but the totals.
    let totals: Vec<&str> = apart.lines().filter(|it| it.contains("/s Avg:")).collect();
    let totals = totals
        .join("\n")
        .replace("1013", " 142")
        .replace("10000 in 00:01:15 =  132.7", "19950 in 00:01:15 =  266.0");
    assert_eq!(requests(&totals), [Some(19_950)]);
    let text = format("jmeter.txt");
    assert_eq!(requests(&format!("{text}{text}")), [Some(6001); 2]);
    // Early versions have a decimal.
    let early = "summary =    206 in  52.5s =    3.9/s Avg:  1827 Min:   229 Max:  6974 Err:     0 (0.00%)\n";
    assert!(close(read(early).rows[0].elapsed_s.unwrap().value, 52.5));
    assert_eq!(kinds(early), []);
}

/// It takes percentiles of the last 20,000 samples.
#[test]
fn the_dashboard_of_jmeter_as_json() {
    let text = format("statistics.json");
    let document = read(&text);
    let named = |name: &str| document.rows.iter().find(|it| it.path.as_deref() == Some(name)).unwrap();
    let (login, order) = (named("login"), named("order"));
    assert_eq!((document.rows.len(), login.tool, login.requests), (2, Tool::Jmeter, Some(30_000)));
    assert!(close(login.mean_ms.unwrap().value, 16.341_590_476) && close(order.max_ms.unwrap().value, 812.0));
    assert_eq!((percents(order), order.errors.bad_answers), (vec![50.0, 90.0, 95.0, 99.0], Some(37)));
    assert!(close(order.answer_bytes.unwrap().value, 3.593 * 1024.0 / 16.678_035_57), "{order:?}");
    assert_eq!((login.kept, order.kept), (Some(20_000), None));
    assert_eq!(kinds(&text), [(Level::Unknown, Kind::Percentiles), (Level::Unknown, Kind::ErrorsAsAnswers)]);
    let audit = found(&text);
    let told = &all(&audit)[0].text;
    assert!(told.starts_with("the dashboard takes percentiles of the last 20000 of 30000 samples"), "{told}");
    // A mean of all is no mean of these, and contradicts none of them.
    assert_eq!(kinds(&text.replace("16.341590476190635", "90.5")), kinds(&text));
    let alone = r#"{"Total":{"sampleCount":1744,"errorCount":0,"meanResTime":21.9,"maxResTime":49.0,"throughput":175.3}}"#;
    let rows = read(alone).rows;
    assert_eq!((rows.len(), rows[0].requests, rows[0].path.as_deref()), (1, Some(1744), None));
}

#[test]
fn locust_shows_a_run_in_its_last_table() {
    let text = format("locust.txt");
    let document = read(&text);
    let [get, post] = &document.rows[..] else {
        panic!("tables on the way are none of their own: {document:?}")
    };
    assert_eq!((get.tool, get.path.as_deref(), get.requests), (Tool::Locust, Some("GET /hello"), Some(4000)));
    assert!(
        close(get.mean_ms.unwrap().value, 13.0) && close(get.rate_per_s.unwrap().value, 66.71),
        "{get:?}"
    );
    assert_eq!((post.min_ms.unwrap().value, post.max_ms.unwrap().value), (40.0, 812.0));
    assert_eq!((post.errors.bad_answers, post.missing.len()), (Some(37), 0));
    assert_eq!(percents(post), [50.0, 66.0, 75.0, 80.0, 90.0, 95.0, 98.0, 99.0, 99.9, 99.99]);
    assert!(close(post.percentiles_ms[4].1.value, 160.0) && close(post.percentiles_ms[4].1.step, 10.0));
    assert_eq!(kinds(&text), [(Level::Unknown, Kind::ErrorsAsAnswers)]);
    // What follows stands under no heading of its.
    let then = format!("{text}{}", format("wrk-latency.txt"));
    assert_eq!(read(&then).rows[2].system, None, "the number of errors is no heading");
    // Of a run that was killed there is a table on the way, with a rate of the last seconds.
    let killed: String = text.split_inclusive('\n').take(7).collect();
    let rows = read(&killed).rows;
    assert_eq!((rows.len(), rows[0].requests, rows[0].rate_per_s), (1, Some(3000), None));
    assert_eq!(kinds(&killed), [(Level::Unknown, Kind::CutOff)]);
    let requests: Vec<_> = read(&format!("{killed}{text}")).rows.iter().map(|it| it.requests).collect();
    assert_eq!(requests, [Some(3000), Some(4000), Some(1000)]);
}

/// With another order, and a type before the name of all.
#[test]
fn locust_of_earlier_versions() {
    let text = " Name                                 # reqs      # fails  |     Avg     Min     Max  Median  |   req/s failures/s\n\
        ----------------------------------------------------------------------------------------------------------------\n \
        POST /events/                           4698     0(0.00%)  |       9       3     116       8  |   97.35    0.00\n\
        ----------------------------------------------------------------------------------------------------------------\n \
        Aggregated                              4698     0(0.00%)  |       9       3     116       8  |   97.35    0.00\n\n\
        Response time percentiles (approximated)\n \
        Type     Name                           50%    66%    75%    80%    90%    95%    98%    99%  99.9% 99.99%   100% # reqs\n\
        --------|------------------------------|---------|------|------|------|------|------|------|------|------|------|------|------|\n \
        POST     /events/                         8      9     11     12     16     21     33     45     95    120    120   4698\n\
        --------|------------------------------|---------|------|------|------|------|------|------|------|------|------|------|------|\n \
        None     Aggregated                       8      9     11     12     16     21     33     45     95    120    120   4698\n";
    let document = read(text);
    let [row] = &document.rows[..] else { panic!("{document:?}") };
    assert_eq!((row.path.as_deref(), row.requests), (Some("POST /events/"), Some(4698)));
    assert_eq!((row.percentiles_ms.len(), row.errors.bad_answers), (10, Some(0)));
    assert_eq!(kinds(text), []);
    // Where nothing has a name, the total is told.
    let total: Vec<&str> = text.lines().filter(|it| !it.contains("POST")).collect();
    let rows = read(&total.join("\n")).rows;
    assert_eq!((rows.len(), rows[0].path.as_deref(), rows[0].percentiles_ms.len()), (1, None, 10));
}
