use super::*;

/// 2026-11-22 04:50:10 UTC.
const START_MS: u64 = 1_795_323_010_000;
const THREADS: ThreadCounts = ThreadCounts { active: 3, started: 5, finished: 2 };

fn after(seconds: f64) -> u64 {
    START_MS + (seconds * 1000.0) as u64
}

#[test]
fn lines_come_at_half_minutes_of_the_clock() {
    let mut summariser = Summariser::new("summary", START_MS);
    assert!(summariser.sample(12, true, after(1.0), THREADS).is_empty());
    assert!(summariser.sample(15, true, after(19.999), THREADS).is_empty());
    // 04:50:30; the first line has no sum, which would say the same.
    assert_eq!(
        summariser.sample(18, false, after(20.0), THREADS),
        [
            "summary +      3 in 00:00:20 =    0.1/s Avg:    15 Min:    12 Max:    18 Err:     1 (33.33%) Active: 3 \
          Started: 5 Finished: 2"
        ]
    );
    assert!(summariser.sample(10, true, after(20.5), THREADS).is_empty());
    // Nothing ended within the window after 04:51:00, so the next lines are those of 04:51:30.
    assert!(summariser.sample(10, true, after(56.5), THREADS).is_empty());
    let lines = summariser.sample(10, true, after(84.0), THREADS);
    assert_eq!(
        lines,
        [
            "summary +      3 in 00:01:04 =    0.0/s Avg:    10 Min:    10 Max:    10 Err:     0 (0.00%) Active: 3 \
             Started: 5 Finished: 2",
            "summary =      6 in 00:01:24 =    0.1/s Avg:    12 Min:    10 Max:    18 Err:     1 (16.67%)",
        ]
    );
}

#[test]
fn the_end_has_what_is_left_and_the_sum() {
    let mut summariser = Summariser::new("summary", START_MS);
    summariser.sample(7, true, after(1.0), THREADS);
    let lines = summariser.clone().finish(after(2.0), THREADS);
    assert_eq!(
        lines,
        ["summary =      1 in 00:00:02 =    0.5/s Avg:     7 Min:     7 Max:     7 Err:     0 (0.00%)"]
    );
    summariser.sample(9, true, after(20.0), THREADS);
    summariser.sample(11, true, after(22.0), THREADS);
    let lines = summariser.finish(after(24.0), THREADS);
    assert_eq!(lines.len(), 2);
    assert!(lines[0].starts_with("summary +      1 in 00:00:04 =    0.2/s Avg:    11"), "{}", lines[0]);
    assert!(lines[1].starts_with("summary =      3 in 00:00:24 =    0.1/s Avg:     9"), "{}", lines[1]);
}

#[test]
fn a_test_without_samples_has_jmeters_own_odd_line() {
    assert_eq!(
        Summariser::new("summary", START_MS).finish(after(1.0), THREADS),
        [
            "summary =      0 in 00:00:00 = ******/s Avg:     0 Min: 9223372036854775807 Max: -9223372036854775808 Err:     \
          0 (0.00%)"
        ]
    );
}

#[test]
fn the_lines_around_a_test() {
    assert_eq!(
        start_lines("plan.jmx", START_MS)[2],
        "Starting standalone test @ 2026 Nov 22 04:50:10 UTC (1795323010000)"
    );
    let [tidying, end] = end_lines(START_MS);
    assert_eq!(tidying, "Tidying up ...    @ 2026 Nov 22 04:50:10 UTC (1795323010000)");
    assert_eq!(end, "... end of run");
}
