//! The published cells and outputs: what is known to be wrong in them is found without being told where, and nothing
//! else is called broken.

use std::collections::BTreeSet;

use audit::{Audit, Finding, Kind, Level, audit};

use crate::{all, file};

const OUTPUTS: [&str; 5] =
    ["springmvc-webflux", "servlet-containers", "gateways", "socket-models", "virtual-threads"];

fn cells() -> Audit {
    crate::found(&file("published/figures.csv"))
}

fn outputs() -> Audit {
    let documents: Vec<_> = OUTPUTS
        .iter()
        .map(|name| {
            let path = format!("published/outputs/{name}.txt");
            audit::read(&path, &file(&path)).unwrap_or_else(|error| panic!("{error}"))
        })
        .collect();
    audit(&documents)
}

fn has(audit: &Audit, row: &str, kind: Kind, level: Level, text: &str) {
    let is_it =
        |it: &&&Finding| it.row == row && it.kind == kind && it.level == level && it.text.contains(text);
    let all = all(audit);
    let of_row: Vec<_> = all.iter().filter(|it| it.row == row).collect();
    assert!(all.iter().filter(is_it).count() == 1, "{row}: {kind:?} with {text:?} is not among {of_row:#?}");
}

/// What the list of known errors names, row by row.
#[test]
fn the_known_errors_are_found_in_the_cells() {
    use {Kind::*, Level::*};
    let audit = cells();
    assert_eq!(audit.counts.rows, 75);
    let sleep = "springmvc-webflux, sleep";
    let vt = "virtual-threads, slow-api-150ms";
    for (row, kind, level, text) in [
        // 1: late answers are left out of the latency.
        (&*format!("{sleep}: springmvc-tomcat /sleep at 5000"), Censored, Unknown, "the mean is 2.51 s"),
        (&format!("{sleep}: webflux-tomcat /sleep at 300"), NotANumber, Broken, "1065 of 1065"),
        (&format!("{sleep}: webflux-tomcat /sleep at 1000"), Censored, Unknown, "1116 of 1192"),
        (&format!("{sleep}: webflux-tomcat /sleep at 3000"), Censored, Unknown, "1124 of 1184"),
        (&format!("{sleep}: webflux-tomcat /sleep at 3000"), LittlesLaw, Unknown, "76.27 s"),
        (&format!("{sleep}: webflux-tomcat /sleep at 5000"), Censored, Unknown, "1132 of 1187"),
        (&format!("{sleep}: webflux-tomcat /sleep at 5000"), LittlesLaw, Unknown, "126.79 s"),
        ("springmvc-webflux, hello: webflux-netty /hello at 5000", MaxAtTimeout, Unknown, "1.98 s"),
        // 2: Little's law without any timeout.
        ("gateways, api: nginx /hello at 300", LittlesLaw, Broken, "(x10.66)"),
        ("gateways, api: nginx /hello at 1000", LittlesLaw, Broken, "(x5.76)"),
        ("gateways, api: nginx /hello at 3000", LittlesLaw, Broken, "(x2.84)"),
        ("gateways, api: nginx /hello at 5000", LittlesLaw, Broken, "(x2.52)"),
        ("gateways, api: zuul /hello at 300", LittlesLaw, Broken, "(x1.48)"),
        ("gateways, static: zuul /output.txt at 300", LittlesLaw, Broken, "(x1.43)"),
        // Of a run of two and of one response time, what was under way at its end may be the rest.
        ("gateways, slow-api: zuul /sleep at 3000", LittlesLaw, Unknown, "7.92 s each on average"),
        ("gateways, slow-api: zuul /sleep at 3000", TooShort, Unknown, "response times of 11.15 s"),
        ("gateways, slow-api: zuul /sleep at 5000", LittlesLaw, Unknown, "by N / X it is 25.17 s"),
        (
            "gateways, slow-api: zuul /sleep at 5000",
            TooShort,
            Unknown,
            "shorter than ten response times of 14.30 s",
        ),
        ("springmvc-webflux, sleep-elastic: webflux-tomcat /sleep2 at 5000", LittlesLaw, Broken, "(x0.82)"),
        // 3: summaries that are copied from another row.
        (&format!("{sleep}: webflux-tomcat /sleep at 1000"), Summary, Broken, "it repeats"),
        ("gateways, api: zuul /hello at 3000", Summary, Broken, "zuul /hello at 300"),
        ("servlet-containers, hello: undertow /hello at 400", Summary, Broken, "18.46 ms"),
        // 4: not the same work.
        ("servlet-containers, hello: all systems /hello", Bytes, Note, "jetty 120, undertow 144"),
        ("springmvc-webflux, hello: all systems /hello", Bytes, Note, "webflux-netty 83"),
        // 6: SYN retries.
        ("gateways, api: nginx /hello at 300", SynRetry, Note, "3.03 s"),
        ("gateways, api: nginx /hello at 1000", SynRetry, Note, "7.03 s"),
        ("gateways, api: nginx /hello at 3000", SynRetry, Note, "15.09 s"),
        ("gateways, api: nginx /hello at 5000", SynRetry, Note, "15.10 s"),
        // 7: pools.
        ("gateways, slow-api: zuul /sleep at 300", Pool, Note, "a pool of 20?"),
        (&format!("{sleep}: springmvc-tomcat /sleep at 300"), Pool, Note, "a pool of 200?"),
        (&format!("{sleep}: webflux-tomcat /sleep at 1000"), Pool, Note, "a pool of 4?"),
        // 8: errors counted as answers.
        ("socket-models, hello: single-thread at 40", ErrorsAsAnswers, Broken, "good answers are 1337/s"),
        (
            "socket-models, hello: thread-per-request at 40",
            ErrorsAsAnswers,
            Broken,
            "good answers are 1442/s",
        ),
        ("socket-models, hello: fixed-pool at 40", ErrorsAsAnswers, Broken, "good answers are 1142/s"),
        ("socket-models, hello: single-thread at 40", Ranking, Broken, "by good answers thread-per-request"),
        ("socket-models, hello: single-thread at 40", RateTimesTime, Broken, "4.6 % too high"),
        // 9: a ramp-up is no steady state.
        (&format!("{vt}: springmvc-threads /slowAPI?timeSlowness=150 at 1000"), RampUp, Unknown, "1295/s"),
        (&format!("{vt}: webflux /webflux/slowAPI?timeSlowness=150 at 1000"), RampUp, Unknown, "3413/s"),
        (&format!("{vt}: gin /slowAPI?timeSlowness=150 at 1000"), RampUp, Unknown, "3817/s"),
        (
            &format!("{vt}: springmvc-virtual-threads /slowAPI?timeSlowness=150 at 1000"),
            RampUp,
            Unknown,
            "4.6 times",
        ),
        // 10: a lead within what the same set-up differs from itself.
        ("gateways, api: spring-cloud-gateway /hello at 300", Lead, Note, "by 3.6 %"),
    ] {
        has(&audit, row, kind, level, text);
    }
}

/// What the cells don't tell, and the text does.
#[test]
fn the_known_errors_are_found_in_the_outputs() {
    use {Kind::*, Level::*};
    let audit = outputs();
    assert_eq!(audit.counts.rows, 75);
    for (row, kind, level, text) in [
        // 1, 2 and 7 by their text: the delay is read, too.
        (
            "Round 2: blocks on the parallel scheduler: WebFlux on Tomcat /sleep at 300",
            NotANumber,
            Broken,
            "8.47 s",
        ),
        ("Round 3: a slow API: Zuul at 300", Pool, Note, "a pool of 20?"),
        (
            "Round 2: blocks on the parallel scheduler: Spring MVC on Tomcat /sleep at 300",
            Pool,
            Note,
            "of 200?",
        ),
        // 3
        (
            "Round 2: blocks on the parallel scheduler: WebFlux on Tomcat /sleep at 1000",
            Summary,
            Broken,
            "35.43/s",
        ),
        (
            "Round 1: an API: Zuul at 3000",
            Summary,
            Broken,
            "has 352.07 ms; it repeats Round 1: an API: Zuul at 300",
        ),
        ("Round 1: an API: Zuul at 3000", Comparison, Broken, "the raw output in line 1"),
        (
            "Round 2: a static server: Spring Cloud Gateway at 3000",
            Comparison,
            Broken,
            "has 9411.28/s; it repeats Round 1",
        ),
        ("Undertow /hello at 400", Summary, Broken, "18.46 ms where the raw output has 10.09 ms"),
        // 5
        ("lab-05-jetty-apr-1.0-SNAPSHOT.jar", JvmOptions, Note, "-Xmx2g"),
        ("lab-07-zuul-1.0.0.jar", JvmOptions, Note, "never applied"),
        // 8 and 9
        (
            "single thread at 40",
            Ranking,
            Broken,
            "a thread a request at 40 (1442/s) > single thread at 40 (1337/s)",
        ),
        ("Slow API: Spring MVC, virtual threads at 1000", RampUp, Unknown, "3.4 times"),
    ] {
        has(&audit, row, kind, level, text);
    }
    // 10: one run each.
    assert_eq!(all(&audit).iter().filter(|it| it.kind == NoRepeats).count(), 5);
}

/// Rows in which something is known to be wrong; all others are sound.
const WRONG: [&str; 15] = [
    "sleep: webflux-tomcat /sleep at 300",
    "sleep: webflux-tomcat /sleep at 1000",
    "sleep-elastic: webflux-tomcat /sleep2 at 5000",
    "hello: undertow /hello at 400",
    "api: zuul /hello at 300",
    "api: zuul /hello at 3000",
    "api: nginx /hello at 300",
    "api: nginx /hello at 1000",
    "api: nginx /hello at 3000",
    "api: nginx /hello at 5000",
    "static: zuul /output.txt at 300",
    "hello: single-thread at 40",
    "hello: thread-per-request at 40",
    "hello: fixed-pool at 40",
    "static: spring-cloud-gateway /output.txt at 3000",
];

#[test]
fn nothing_sound_is_called_broken() {
    let cells = cells();
    for finding in all(&cells).iter().filter(|it| it.level == Level::Broken) {
        assert!(WRONG.iter().any(|it| finding.row.ends_with(it)), "{finding:#?}");
    }
    // The same rows by their line in the outputs: as many as are wrong, and none more.
    let outputs = outputs();
    let broken: BTreeSet<(&str, &str)> = outputs
        .files
        .iter()
        .flat_map(|file| file.findings.iter().map(|it| (file.file.as_str(), it)))
        .filter(|(_, it)| it.level == Level::Broken)
        .map(|(file, it)| (file, it.row.as_str()))
        .collect();
    assert_eq!(broken.len(), WRONG.len(), "{broken:#?}");
}

#[test]
fn maxima_that_are_no_retries_are_not_called_so() {
    let audit = cells();
    let rows: Vec<_> =
        all(&audit).into_iter().filter(|it| it.kind == Kind::SynRetry).map(|it| &it.row).collect();
    assert!(rows.len() == 4 && rows.iter().all(|it| it.contains("nginx")), "{rows:?}");
}
