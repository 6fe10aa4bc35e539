//! What wrk and oha print, as figures in microseconds.

use record::Distribution;

use crate::foreign::wrk_times;

/// wrk 4: `Latency` has mean, deviation and maximum; with `--latency` there are four percentiles, too.
pub(super) fn of_wrk(printed: &str) -> Option<Distribution> {
    let row = outputs::wrk_row(printed)?;
    let told = Distribution { count: row.requests?, ..wrk_times(&row) };
    told.mean.is_some().then_some(told)
}

/// oha's JSON; its times are seconds.
pub(super) fn of_oha(printed: &str) -> Option<Distribution> {
    let result: serde_json::Value = serde_json::from_str(printed).ok()?;
    let us = |value: &serde_json::Value| value.as_f64().map(|seconds| seconds * 1e6);
    let percentiles = &result["latencyPercentiles"];
    let statuses = result["statusCodeDistribution"].as_object()?;
    Some(Distribution {
        count: statuses.values().filter_map(serde_json::Value::as_u64).sum(),
        mean: us(&result["summary"]["average"]),
        p50: us(&percentiles["p50"]),
        p75: us(&percentiles["p75"]),
        p90: us(&percentiles["p90"]),
        p95: us(&percentiles["p95"]),
        p99: us(&percentiles["p99"]),
        p99_9: us(&percentiles["p99.9"]),
        p99_99: us(&percentiles["p99.99"]),
        max: us(&result["summary"]["slowest"]),
        ..Distribution::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRK: &str = "\
Running 2s test @ http://127.0.0.1:18080/hello
  1 threads and 10 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   100.87ms  339.77us 102.22ms   68.97%
    Req/Sec    98.86     17.43   110.00     85.71%
  Latency Distribution
     50%  100.83ms
     75%  101.06ms
     90%  101.30ms
     99%    1.02s
  190 requests in 2.00s, 12.80KB read
Requests/sec:     94.93
Transfer/sec:      6.40KB
";

    #[test]
    fn wrk_is_read_with_and_without_its_percentiles() {
        let told = of_wrk(WRK).unwrap();
        assert_eq!((told.count, told.mean, told.max), (190, Some(100_870.0), Some(102_220.0)));
        assert_eq!((told.p50, told.p90, told.p99), (Some(100_830.0), Some(101_300.0), Some(1_020_000.0)));
        assert_eq!((told.p95, told.p99_9), (None, None));
        let plain: Vec<&str> = WRK.lines().filter(|line| !line.contains("%  ")).collect();
        let told = of_wrk(&plain.join("\n")).unwrap();
        assert_eq!((told.p50, told.p99, told.mean), (None, None, Some(100_870.0)));
        assert_eq!(of_wrk("unable to connect to 127.0.0.1:1 Connection refused"), None);
    }

    #[test]
    fn oha_is_read_in_seconds() {
        let json = r#"{"summary":{"average":0.0051,"slowest":0.0102},
            "latencyPercentiles":{"p50":0.005,"p75":0.0055,"p90":0.006,"p95":0.0065,"p99":0.007,"p99.9":0.008,"p99.99":null},
            "statusCodeDistribution":{"200":1990,"503":10}}"#;
        let told = of_oha(json).unwrap();
        assert_eq!((told.count, told.p50, told.max), (2000, Some(5_000.0), Some(10_200.0)));
        assert_eq!((told.p99_9, told.p99_99), (Some(8_000.0), None));
        assert_eq!(of_oha("error: nobody listens"), None);
    }
}
