//! wrk: how it is asked for a load, and what it prints as a record.

use std::path::{Path, PathBuf};

use engine::Request;
use outputs::{Figure, Row};
use plan::{LoadPlan, Threads};
use record::{Distribution, LoadResult, Outcomes};
use stack::search_path;
use units::{Duration, Instant};

use super::{Ask, Foreign, NO_CONNECTIONS, NO_DUE_TIMES, NO_SECONDS, Prepared, Told, whole_seconds};
use crate::job::Job;

/// What it can't know, in words.
const CANNOT_KNOW: [&str; 7] = [
    NO_DUE_TIMES,
    "requests that were never answered, or not yet when it ended: it leaves them out",
    "how late a late answer was: it is left out of the times",
    "percentiles other than 50, 75, 90 and 99",
    "statuses beside how many were above 399, and whether bodies were the expected ones",
    NO_SECONDS,
    NO_CONNECTIONS,
];
/// Share of what lies above a percentile that may be missing of the times before it is only a lower bound: that moves it
/// by as little as a percentile is known to anyway.
const MISSING_SHARE_MAX: f64 = 0.01;

pub(super) fn prepare(ask: &Ask<'_>, dir: &Path) -> Prepared {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
    Prepared {
        command: command(&ask.job, cores),
        env: vec![("PATH", search_path())],
        version: ask.programs.wrk.clone().unwrap_or_default(),
        cannot_know: CANNOT_KNOW.map(str::to_owned).to_vec(),
        files: ["wrk.out", "wrk.err"].map(|name| dir.join(name)),
    }
}

/// wrk's command line for a load that it can carry, on a machine of `cores`.
fn command(job: &Job<'_>, cores: u32) -> Vec<String> {
    let plan = job.plan;
    let mut words = vec![
        "wrk".to_owned(),
        format!("-t{}", threads(plan, cores)),
        format!("-c{}", plan.connections),
        format!("-d{}s", whole_seconds(plan.stop.duration)),
        "--latency".into(),
        "--timeout".into(),
        format!("{}s", whole_seconds(plan.timeouts.request)),
    ];
    for header in headers(job.request) {
        words.extend(["-H".to_owned(), header]);
    }
    words.push(job.url.to_owned());
    words
}

/// As the plan says; else the most that share the connections evenly, up to the cores.
fn threads(plan: &LoadPlan, cores: u32) -> u32 {
    match plan.threads {
        Threads::Fixed(count) => count.get(),
        Threads::Auto => {
            let connections = plan.connections.get();
            let even = |count: &u32| connections.is_multiple_of(*count);
            (1..=cores.min(connections)).rev().find(even).unwrap_or(1)
        }
    }
}

/// The headers of a request, without those that a client sends in its own name.
fn headers(request: &Request) -> Vec<String> {
    let text = String::from_utf8_lossy(&request.bytes);
    let head = text.split("\r\n").skip(1).take_while(|line| !line.is_empty());
    let is_own = |line: &str| {
        let name = line.split(':').next().unwrap_or_default();
        name.eq_ignore_ascii_case("host") || name.eq_ignore_ascii_case("user-agent")
    };
    head.filter(|line| !is_own(line)).map(str::to_owned).collect()
}

/// Reads what it printed into `out`, having ended at `ended`.
pub(super) fn read(out: &PathBuf, ended: Instant, job: &Job<'_>) -> Result<LoadResult, String> {
    let printed = std::fs::read(out).map_err(|error| format!("left no output that can be read ({error})"))?;
    record(&String::from_utf8_lossy(&printed), ended, job)
}

fn record(printed: &str, ended: Instant, job: &Job<'_>) -> Result<LoadResult, String> {
    let row = outputs::wrk_row(printed).ok_or("printed what is not understood")?;
    if let Some(missing) = row.missing.first() {
        return Err(format!("printed no {missing}"));
    }
    let unknown = || "printed what is not understood".to_owned();
    let requests = row.requests.ok_or_else(unknown)?;
    let elapsed = elapsed_s(requests, row.elapsed_s.ok_or_else(unknown)?, row.rate_per_s);
    let errors = &row.errors;
    let late = errors.timeout.unwrap_or(0).min(requests);
    let bad = errors.bad_answers.unwrap_or(0);
    let outcomes = Outcomes {
        // It counts a late answer as one, too.
        answered: requests - late,
        timed_out: late,
        connect_failed: errors.connect.unwrap_or(0),
        // Its errors of reading and writing are of requests that were lost with their connection.
        reset: errors.read.unwrap_or(0) + errors.write.unwrap_or(0),
        ..Outcomes::default()
    };
    let length = Duration::from_secs_f64(elapsed);
    let told = Told {
        start: Instant::from_nanos(ended.as_nanos().saturating_sub(length.as_nanos())),
        length_s: elapsed,
        outcomes,
        as_expected: outcomes.answered.saturating_sub(bad),
        received_bytes: row.received_bytes.map_or(0.0, |bytes| bytes.value),
        // Where answers are missing of the mean, the law would be asked of others than those that were made.
        mean_s: row.mean_ms.filter(|_| late == 0).map(|ms| ms.value / 1e3),
        service: service(&row, requests, late),
        statuses: [].into(),
        connect_failures: [].into(),
        malformations: [].into(),
    };
    let threads = row.threads.unwrap_or(1);
    Ok(told.record(job, Foreign::Wrk, threads))
}

/// How long it ran. From a minute on it prints that in hundredths of one, and its rate is more exact.
fn elapsed_s(requests: u64, printed: Figure, rate_per_s: Option<Figure>) -> f64 {
    let by_rate = rate_per_s.filter(|rate| rate.value > 0.0).map(|rate| requests as f64 / rate.value);
    by_rate.filter(|it| (it - printed.value).abs() <= printed.step).unwrap_or(printed.value)
}

/// Its times, of which those of late answers are missing.
fn service(row: &Row, requests: u64, late: u64) -> Distribution {
    let mut told = times(row);
    (told.count, told.censored) = (requests, late);
    let missing = late as f64 / requests.max(1) as f64;
    for (name, above) in
        [("mean", 0.0), ("p50", 0.5), ("p75", 0.25), ("p90", 0.1), ("p99", 0.01), ("max", 0.0)]
    {
        if missing > MISSING_SHARE_MAX * above && told.figure(name).is_some() {
            told.lower_bounds.push(name.to_owned());
        }
    }
    told
}

/// The times that it printed, without a count.
pub(crate) fn times(row: &Row) -> Distribution {
    // Whole nanoseconds: the printed digits, and not what binary fractions make of them.
    let us = |figure: Figure| (figure.value * 1e6).round() / 1e3;
    let percentile = |percent: f64| {
        let at = row.percentiles_ms.iter().find(|(it, _)| (it - percent).abs() < 1e-9);
        at.map(|(_, figure)| us(*figure))
    };
    Distribution {
        mean: row.mean_ms.map(us),
        p50: percentile(50.0),
        p75: percentile(75.0),
        p90: percentile(90.0),
        p99: percentile(99.0),
        max: row.max_ms.map(us),
        ..Distribution::default()
    }
}

#[cfg(test)]
mod tests {
    use plan::LoadArguments;

    use super::*;
    use crate::foreign::tests::with_job;

    const PRINTED: &str = "\
Running 4s test @ http://127.0.0.1:8080/hello
  2 threads and 300 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency    30.00ms    3.99ms 102.22ms   68.97%
    Req/Sec     4.90k    17.43     5.10k    85.71%
  Latency Distribution
     50%   29.83ms
     75%   31.06ms
     90%   41.30ms
     99%   92.50ms
  40000 requests in 4.00s, 4.50MB read
  Socket errors: connect 1, read 20, write 3, timeout 60
  Non-2xx or 3xx responses: 7
Requests/sec:  10000.00
Transfer/sec:      1.13MB
";

    #[test]
    fn it_is_asked_for_the_load_with_as_many_threads_as_share_it() {
        let line =
            |change: fn(&mut LoadArguments), cores| with_job(change, |job| command(job, cores).join(" "));
        assert_eq!(
            line(|it| it.threads = "2".parse().ok(), 8),
            "wrk -t2 -c300 -d4s --latency --timeout 10s http://127.0.0.1:8080/hello?a=b"
        );
        assert!(line(|it| it.threads = Some(Threads::Auto), 7).starts_with("wrk -t6 -c300"));
        assert!(line(|it| it.fresh_connections = true, 1).contains(" -H Connection: close http"));
    }

    #[test]
    fn what_it_prints_becomes_a_record_without_what_it_cannot_know() {
        let told = with_job(|_| {}, |job| record(PRINTED, Instant::from_nanos(9_000_000_000), job).unwrap());
        assert_eq!(told.window.start_monotonic_ns, 5_000_000_000);
        let Outcomes { answered, timed_out, connect_failed, reset, .. } = told.outcomes;
        assert_eq!((answered, timed_out, connect_failed, reset), (39_940, 60, 1, 23));
        assert_eq!((told.intended, told.answered_as_expected), (40_024, 39_933));
        assert!((told.goodput_per_s - 39_933.0 / 4.0).abs() < 1e-9);
        let service = &told.service_time_us;
        assert_eq!((service.p50, service.p99, service.p99_9), (Some(29_830.0), Some(92_500.0), None));
        assert_eq!(service.lower_bounds, ["mean", "p90", "p99", "max"], "0.15 % of the times are missing");
        assert_eq!((told.response_time_us.count, told.littles_law, &told.load.io[..]), (0, None, "wrk"));
    }

    #[test]
    fn the_law_is_asked_where_nothing_is_missing() {
        let whole = PRINTED
            .replace("timeout 60", "timeout 0")
            .replace("connect 1, read 20, write 3", "connect 0, read 0, write 0");
        let told = with_job(|_| {}, |job| record(&whole, Instant::from_nanos(9_000_000_000), job).unwrap());
        let law = told.littles_law.unwrap();
        assert!((law.users - 300.0).abs() < 1e-9 && law.gap < 1e-9, "{law:?}");
        assert!(told.service_time_us.lower_bounds.is_empty());
    }

    #[test]
    fn long_runs_are_dated_by_their_rate() {
        let printed = Figure { value: 90.0, step: 0.6 };
        let at_rate = |rate| elapsed_s(901_000, printed, Some(Figure { value: rate, step: 0.01 }));
        assert!((at_rate(10_000.0) - 90.1).abs() < 1e-9);
        assert!((at_rate(5_000.0) - 90.0).abs() < 1e-9, "what contradicts it counts for nothing");
        assert!((elapsed_s(0, printed, None) - 90.0).abs() < 1e-9);
    }

    #[test]
    fn half_of_an_output_is_no_result() {
        let cut = &PRINTED[..PRINTED.find("40000").unwrap()];
        let error = |text: &str| with_job(|_| {}, |job| record(text, Instant::ORIGIN, job).unwrap_err());
        assert!(error(cut).contains("requests in"), "{}", error(cut));
        assert!(error("unable to connect").contains("not understood"));
    }
}
