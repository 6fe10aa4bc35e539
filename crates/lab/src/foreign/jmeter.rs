//! JMeter: the test plan and the command for a load, and its JTL as a record.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use driver::monotonic_now;
use engine::{Expect, Load, Reuse, UserStart};
use outputs::JtlSamples;
use record::{Distribution, LoadResult, Outcomes};
use stack::command_of;
use units::{Duration, Instant};

use super::jmx::{LABEL, TestPlan};
use super::{Ask, Foreign, NO_CONNECTIONS, NO_DUE_TIMES, NO_SECONDS, Prepared, Told, whole_seconds};
use crate::error::{LabError, NotMeasured};
use crate::job::Job;

/// The one that `stacks/_builds/jmeter` assembles.
pub(super) const VERSION: &str = "Apache JMeter 5.6.3";
const PLAN: &str = "jmeter.jmx";
const JTL: &str = "jmeter.jtl";
const LOG: &str = "jmeter.log";
/// What it can't know, in words.
const CANNOT_KNOW: [&str; 6] = [
    NO_DUE_TIMES,
    "times below a millisecond: it dates and counts whole ones",
    "service times apart from connecting: on a new connection that is part of them",
    "whether bodies were the expected ones: its plan has no assertion, which would cost it time",
    NO_SECONDS,
    NO_CONNECTIONS,
];
/// What a line of the JTL need not say. It is written while the load goes on, so what is not read costs for nothing.
const NOT_SAVED: [&str; 12] = [
    "assertion_results_failure_message",
    "assertions",
    "connect_time",
    "data_type",
    "idle_time",
    "latency",
    "response_message",
    "sent_bytes",
    "subresults",
    "thread_counts",
    "thread_name",
    "url",
];

/// Writes the test plan, and says how JMeter is started on it.
pub(super) fn prepare(ask: &Ask<'_>, dir: &Path) -> Result<Prepared, NotMeasured> {
    let failed = |what: &'static str| move |why| NotMeasured::Lab(LabError::System { what, why });
    let jmeter = ask.programs.jmeter.as_ref().expect("it was looked for with the experiment's drivers");
    std::fs::write(dir.join(PLAN), plan(&ask.job)).map_err(failed("write JMeter's test plan"))?;
    // JMeter writes behind what is there, as of a trial that was cut short.
    match std::fs::remove_file(dir.join(JTL)) {
        Err(why) if why.kind() != std::io::ErrorKind::NotFound => {
            return Err(failed("remove an old JTL")(why));
        }
        _ => {}
    }
    let (mut command, env) = command_of(jmeter, ask.proofload_exe, dir);
    command.extend(["-n", "-t", PLAN, "-l", JTL, "-j", LOG].map(str::to_owned));
    let save = |what: &str, value: &str| format!("-Jjmeter.save.saveservice.{what}={value}");
    command.extend([save("output_format", "csv"), save("print_field_names", "true")]);
    command.extend(NOT_SAVED.map(|what| save(what, "false")));
    command.push("-Jsampleresult.timestamp.start=true".into());
    Ok(Prepared {
        command,
        env,
        version: VERSION.into(),
        cannot_know: CANNOT_KNOW.map(str::to_owned).to_vec(),
        files: ["jmeter.out", "jmeter.err"].map(|name| dir.join(name)),
    })
}

/// The test plan of a load that it can carry.
fn plan(job: &Job<'_>) -> String {
    let load = job.plan;
    let (think, ramp_up, each) = match load.load {
        Load::Closed { think, start, requests_per_user } => {
            let ramp_up = match start {
                UserStart::RampUp { span, .. } => span,
                UserStart::WithWarmUp => Duration::ZERO,
            };
            (think, ramp_up, requests_per_user)
        }
        Load::Open { .. } | Load::Scripted { .. } => (Duration::ZERO, Duration::ZERO, None),
    };
    let (authority, path) = parts(job.url);
    let (host, port) = authority.rsplit_once(':').unwrap_or((authority, "80"));
    let first_line = String::from_utf8_lossy(&job.request.bytes);
    let duration = Some(load.stop.duration).filter(|it| *it != Duration::MAX);
    TestPlan {
        host,
        port: port.parse().unwrap_or(80),
        path,
        method: first_line.split(' ').next().unwrap_or("GET"),
        keep_alive: load.reuse == Reuse::KeepAlive,
        users: load.connections.get(),
        ramp_up_s: whole_seconds(ramp_up),
        duration_s: duration.map(whole_seconds),
        requests_per_user: each.map(std::num::NonZeroU32::get),
        think,
        connect_timeout: load.timeouts.connect,
        timeout: load.timeouts.request,
    }
    .xml()
}

/// `host:port` and path of an http URL.
fn parts(url: &str) -> (&str, &str) {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.find('/').map_or((rest, "/"), |at| rest.split_at(at))
}

/// Reads the JTL in `dir`.
pub(super) fn read(dir: &Path, job: &Job<'_>) -> Result<LoadResult, String> {
    let bytes =
        std::fs::read(dir.join(JTL)).map_err(|error| format!("left no JTL that can be read ({error})"))?;
    let text = String::from_utf8_lossy(&bytes);
    let samples =
        outputs::jtl_samples(&text).map_err(|why| format!("left a JTL that can't be used: {why}"))?;
    let samples = samples.get(LABEL).ok_or("left a JTL without its requests")?;
    let now_ns = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
    // What the machine's clock is ahead of the one that signals are dated by.
    let ahead_ns = now_ns.saturating_sub(monotonic_now().as_nanos());
    Ok(record(samples, ahead_ns, job))
}

fn record(samples: &JtlSamples, ahead_ns: u64, job: &Job<'_>) -> LoadResult {
    let count = samples.elapsed_ms.len();
    let sum_ms: f64 = samples.elapsed_ms.iter().copied().map(f64::from).sum();
    let mut told = Told {
        start: Instant::from_nanos((samples.starts_at_ms * 1_000_000).saturating_sub(ahead_ns)),
        length_s: samples.ends_at_ms.saturating_sub(samples.starts_at_ms) as f64 / 1e3,
        outcomes: Outcomes::default(),
        as_expected: 0,
        received_bytes: samples.bytes as f64,
        service: service(samples),
        mean_s: (count > 0).then(|| sum_ms / 1e3 / count as f64),
        statuses: BTreeMap::new(),
        connect_failures: BTreeMap::new(),
        malformations: BTreeMap::new(),
    };
    for (code, count) in &samples.codes {
        add(&mut told, code, *count, job.expect);
    }
    told.record(job, Foreign::Jmeter, job.plan.connections.get())
}

/// Adds requests that ended with a response code: a status, or the class of an exception.
fn add(told: &mut Told, code: &str, count: u64, expect: &Expect) {
    if let Ok(status) = code.parse::<u16>() {
        told.outcomes.answered += count;
        told.as_expected += if expect.takes_status(status) { count } else { 0 };
        *told.statuses.entry(code.to_owned()).or_default() += count;
        return;
    }
    let class = code.rsplit(['.', ' ']).next().unwrap_or(code);
    let outcomes = &mut told.outcomes;
    match class {
        "SocketTimeoutException" => outcomes.timed_out += count,
        "ConnectException"
        | "ConnectTimeoutException"
        | "HttpHostConnectException"
        | "BindException"
        | "NoRouteToHostException"
        | "UnknownHostException" => {
            outcomes.connect_failed += count;
            *told.connect_failures.entry(class.to_owned()).or_default() += count;
        }
        "SocketException" => outcomes.reset += count,
        "NoHttpResponseException"
        | "ConnectionClosedException"
        | "TruncatedChunkException"
        | "EOFException" => {
            outcomes.closed_early += count;
        }
        _ => {
            outcomes.malformed += count;
            *told.malformations.entry(class.to_owned()).or_default() += count;
        }
    }
}

/// Its times, those of requests without an answer as bounds.
fn service(samples: &JtlSamples) -> Distribution {
    let mut times = stats::Distribution::default();
    let mut unanswered = samples.unanswered_ms.iter().peekable();
    for elapsed in &samples.elapsed_ms {
        let time = Duration::from_millis(u64::from(*elapsed));
        // Both are sorted, and each of the one is among the other.
        if unanswered.next_if_eq(&elapsed).is_some() {
            times.record_censored(time);
        } else {
            times.record(time);
        }
    }
    (&times).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::foreign::tests::with_job;

    const HEAD: &str = "timeStamp,elapsed,label,responseCode,success,bytes\n";
    const TIMEOUT: &str = "Non HTTP response code: java.net.SocketTimeoutException";

    fn told(lines: &[(u64, u32, &str)]) -> LoadResult {
        let line = |(start, elapsed, code): &(u64, u32, &str)| {
            format!("{start},{elapsed},request,{code},true,120\n")
        };
        let text: String = std::iter::once(HEAD.to_owned()).chain(lines.iter().map(line)).collect();
        let samples = outputs::jtl_samples(&text).unwrap();
        with_job(|_| {}, |job| record(&samples[LABEL], 1_000_000_000, job))
    }

    #[test]
    fn a_jtl_becomes_a_record_with_every_outcome_under_its_name() {
        let refused = "Non HTTP response code: org.apache.http.conn.HttpHostConnectException";
        let reset = "Non HTTP response code: java.net.SocketException";
        let closed = "Non HTTP response code: org.apache.http.NoHttpResponseException";
        let load = told(&[
            (5000, 100, "200"),
            (5100, 120, "200"),
            (6000, 1000, "503"),
            (5000, 4000, TIMEOUT),
            (5000, 2, refused),
            (5000, 3, reset),
            (5000, 4, closed),
            (5000, 5, "Non HTTP response code: java.lang.IllegalStateException"),
        ]);
        let Outcomes { answered, timed_out, connect_failed, reset, closed_early, malformed, .. } =
            load.outcomes;
        assert_eq!((answered, timed_out, connect_failed, reset), (3, 1, 1, 1));
        assert_eq!((closed_early, malformed, load.intended, load.answered_as_expected), (1, 1, 8, 2));
        assert_eq!((load.window.start_monotonic_ns, load.statuses["503"]), (4_000_000_000, 1));
        assert!((load.goodput_per_s - 0.5).abs() < 1e-9 && (load.window.duration_s - 4.0).abs() < 1e-9);
        assert_eq!(load.connect_failures["HttpHostConnectException"], 1);
        assert_eq!((load.service_time_us.count, load.service_time_us.censored), (8, 5));
        assert_eq!((load.response_time_us.count, load.load.threads), (0, 300));
    }

    #[test]
    fn an_answer_and_a_timeout_of_one_length_are_told_apart() {
        let load = told(&[(0, 7, "200"), (0, 7, TIMEOUT), (0, 7, "200"), (0, 9, "200")]);
        assert_eq!((load.service_time_us.count, load.service_time_us.censored), (4, 1));
    }

    #[test]
    fn a_url_has_its_parts_in_the_plan() {
        assert_eq!(parts("http://127.0.0.1:8080/a?b=c"), ("127.0.0.1:8080", "/a?b=c"));
        assert_eq!(parts("http://h"), ("h", "/"));
        let xml = with_job(|it| it.ramp_up = Some(Duration::from_secs(3)), plan);
        for part in [
            "ramp_time\">3<",
            "domain\">127.0.0.1<",
            "port\">8080<",
            "path\">/hello?a=b<",
            "response_timeout\">10000<",
        ] {
            assert!(xml.contains(part), "{part} in {xml}");
        }
    }
}
