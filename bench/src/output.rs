//! What each client says it did. A client that says nothing of the kind gives `None`, and its run does not count.

use serde_json::Value;

use crate::scenario::Contestant;

/// From a client's own output.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Said {
    /// Requests that were answered.
    pub(crate) requests: u64,
    /// Requests that were not answered, or not with a success.
    pub(crate) failed: u64,
    /// CPU time while it sent, without its set-up, where it reads that clock itself.
    pub(crate) sending_cpu_us: Option<f64>,
    /// Median and 99th percentile of response times, in µs, where it is asked for them.
    pub(crate) latency_us: Option<(f64, f64)>,
    /// How late it sent, by its own word: sent − due, the 99th percentile.
    pub(crate) lag_p99_us: Option<f64>,
}

impl Said {
    fn counted(requests: u64, failed: u64) -> Self {
        Self { requests, failed, sending_cpu_us: None, latency_us: None, lag_p99_us: None }
    }
}

pub(crate) fn read(contestant: Contestant, output: &str) -> Option<Said> {
    match contestant {
        Contestant::NullEpoll | Contestant::NullUring => null_client(output),
        Contestant::Epoll | Contestant::Uring | Contestant::Drawn | Contestant::Served => proofload(output),
        Contestant::Wrk => wrk(output),
        Contestant::Ab => ab(output),
        Contestant::H2load => h2load(output),
        Contestant::Hey => hey(output),
        Contestant::Oha => oha(output),
    }
}

fn null_client(output: &str) -> Option<Said> {
    let value = |name: &str| output.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
    let sending_cpu_us: f64 = value("window_cpu_us ")?;
    Some(Said { sending_cpu_us: Some(sending_cpu_us), ..Said::counted(value("requests ")? as u64, 0) })
}

fn proofload(output: &str) -> Option<Said> {
    let result: Value = serde_json::from_str(output).ok()?;
    let answered = result["outcomes"]["answered"].as_u64()?;
    let time = |name: &str| result["response_time_us"][name].as_f64();
    let per_request = result["cpu_us_per_request"].as_f64();
    Some(Said {
        sending_cpu_us: per_request.map(|us| us * answered as f64),
        latency_us: time("p50").zip(time("p99")),
        lag_p99_us: result["lag_us"]["p99"].as_f64(),
        ..Said::counted(answered, result["intended"].as_u64()?.saturating_sub(answered))
    })
}

/// `30756 requests in 1.08s, 2.02MB read`, and `Socket errors: connect 0, read 0, write 0, timeout 3`.
fn wrk(output: &str) -> Option<Said> {
    let requests = output.lines().find_map(|line| line.trim().split_once(" requests in ")?.0.parse().ok())?;
    let errors = output.lines().find_map(|line| line.trim().strip_prefix("Socket errors:"));
    let failed = errors.into_iter().flat_map(|it| it.split(',')).filter_map(last_number).sum::<u64>();
    let wrong = output.lines().find_map(|line| line.trim().strip_prefix("Non-2xx or 3xx responses:"));
    Some(Said::counted(requests, failed + wrong.and_then(last_number).unwrap_or(0)))
}

fn last_number(text: &str) -> Option<u64> {
    text.rsplit(' ').next()?.trim().parse().ok()
}

fn ab(output: &str) -> Option<Said> {
    let value = |name: &str| output.lines().find_map(|line| line.strip_prefix(name).and_then(last_number));
    Some(Said::counted(value("Complete requests:")?, value("Failed requests:").unwrap_or(0)))
}

/// `requests: 13634 total, 13698 started, 13634 done, 13634 succeeded, 0 failed, 0 errored, 0 timeout`.
fn h2load(output: &str) -> Option<Said> {
    let line = output.lines().find_map(|line| line.strip_prefix("requests: "))?;
    let value = |name: &str| {
        line.split(", ").find_map(|part| part.trim().strip_suffix(name)?.trim().parse::<u64>().ok())
    };
    Some(Said::counted(value("succeeded")?, value("failed")? + value("timeout").unwrap_or(0)))
}

/// `[200] 31787 responses`, one line a status; below `Error distribution:` lines such as `[3] Get "http://…": EOF`.
fn hey(output: &str) -> Option<Said> {
    let (answers, errors) = output.split_once("Error distribution:").unwrap_or((output, ""));
    let (_, statuses) = answers.split_once("Status code distribution:")?;
    let count = |line: &str| -> Option<(u64, u64)> {
        let (status, rest) = line.trim().strip_prefix('[')?.split_once(']')?;
        Some((status.parse().ok()?, rest.trim().split(' ').next()?.parse().unwrap_or(0)))
    };
    let statuses: Vec<(u64, u64)> = statuses.lines().filter_map(count).collect();
    let good =
        statuses.iter().filter(|(status, _)| (200..400).contains(status)).map(|(_, count)| count).sum();
    let bad: u64 = statuses.iter().filter(|(status, _)| !(200..400).contains(status)).map(|(_, it)| it).sum();
    // There the number in brackets is the count.
    let unanswered: u64 = errors.lines().filter_map(count).map(|(count, _)| count).sum();
    Some(Said::counted(good, bad + unanswered))
}

fn oha(output: &str) -> Option<Said> {
    let result: Value = serde_json::from_str(output).ok()?;
    let sum = |name: &str, keep: &dyn Fn(&str) -> bool| -> u64 {
        let counts = result[name].as_object().into_iter().flatten();
        counts.filter(|(key, _)| keep(key)).filter_map(|(_, count)| count.as_u64()).sum()
    };
    let is_good = |status: &str| status.starts_with(['2', '3']);
    let good = sum("statusCodeDistribution", &is_good);
    let bad = sum("statusCodeDistribution", &|status| !is_good(status));
    // What was under way at the end is told as an error of this name.
    let unanswered = sum("errorDistribution", &|error| error != "aborted due to deadline");
    let time_us = |name: &str| result["latencyPercentiles"][name].as_f64().map(|seconds| seconds * 1e6);
    Some(Said { latency_us: time_us("p50").zip(time_us("p99")), ..Said::counted(good, bad + unanswered) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_sample(contestant: Contestant, sample: &str) -> (u64, u64) {
        let said = read(contestant, sample).unwrap();
        (said.requests, said.failed)
    }

    #[test]
    fn reads_what_each_client_printed_on_this_target() {
        // Captured from the versions that docs/benchmarks.md names.
        let sample = |contestant, text| read_sample(contestant, text);
        assert_eq!(sample(Contestant::Wrk, include_str!("samples/wrk.txt")), (70_578, 0));
        assert_eq!(sample(Contestant::Ab, include_str!("samples/ab.txt")), (2_000, 0));
        assert_eq!(sample(Contestant::H2load, include_str!("samples/h2load.txt")), (50_685, 0));
        assert_eq!(sample(Contestant::Hey, include_str!("samples/hey.txt")), (18_471, 0));
        assert_eq!(sample(Contestant::Oha, include_str!("samples/oha.json")), (96_679, 0));
        assert_eq!(sample(Contestant::Epoll, include_str!("samples/proofload.json")), (67_655, 0));
    }

    #[test]
    fn failures_are_counted() {
        let wrk = "  10 requests in 1.00s, 1MB read\n  Socket errors: connect 1, read 20, write 0, timeout 3\n  Non-2xx or 3xx responses: 4\n";
        assert_eq!(read_sample(Contestant::Wrk, wrk), (10, 28));
        let hey = "Status code distribution:\n  [200]\t7 responses\n  [500]\t2 responses\n\nError distribution:\n  [3]\tGet \"http://127.0.0.1/\": EOF\n";
        assert_eq!(read_sample(Contestant::Hey, hey), (7, 5));
        let oha = r#"{"statusCodeDistribution":{"200":5,"503":1},"errorDistribution":{"aborted due to deadline":300,"connection closed":2},
            "latencyPercentiles":{"p50":0.0005,"p99":0.002}}"#;
        assert_eq!(read_sample(Contestant::Oha, oha), (5, 3));
        assert_eq!(read(Contestant::Oha, oha).unwrap().latency_us, Some((500.0, 2000.0)));
        assert_eq!(
            read_sample(Contestant::Ab, "Complete requests:      9\nFailed requests:        2\n"),
            (9, 2)
        );
    }

    #[test]
    fn times_of_our_own_are_read_with_the_counts() {
        let said = read(Contestant::Epoll, include_str!("samples/proofload.json")).unwrap();
        assert_eq!(said.latency_us, Some((521.215, 5505.023)));
        assert!((said.sending_cpu_us.unwrap() / 67_655.0 - 3.709_037).abs() < 1e-6);
        let null = read(Contestant::NullUring, "requests 99838\nwindow_cpu_us 306332\n").unwrap();
        assert_eq!((null.requests, null.sending_cpu_us), (99_838, Some(306_332.0)));
    }

    #[test]
    fn a_client_that_failed_says_nothing() {
        for contestant in [
            Contestant::Wrk,
            Contestant::Ab,
            Contestant::H2load,
            Contestant::Hey,
            Contestant::Oha,
            Contestant::Epoll,
            Contestant::NullEpoll,
        ] {
            assert_eq!(read(contestant, "unable to connect to 127.0.0.1:1 Connection refused\n"), None);
        }
    }
}
