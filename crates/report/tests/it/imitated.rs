//! Loads as the imitated tools print them.

use report::{
    Books, H2loadRun, HitReport, SbRun, WrkRun, beside_text, given_up_note, h2load_text, late_answers_note,
    sb_progress, sb_text, wrk_text,
};
use stats::RateSample;
use units::Duration;

use crate::samples::{empty_load, load, mixed_load};

const TIMEOUT: Duration = Duration::from_secs(2);

/// So many ms each, all answered with 200 within the window.
fn answered(all_ms: &[u64]) -> Books {
    let mut books = Books::default();
    for ms in all_ms {
        books.response.record(Duration::from_millis(*ms));
    }
    books.tally.done = all_ms.len() as u64;
    books.tally.done_as_expected = books.tally.done;
    books.tally.done_received_bytes = 149 * books.tally.done;
    books
}

fn wrk(books: &Books, result: &record::LoadResult) -> String {
    wrk_text(&WrkRun { books, result, timeout: TIMEOUT, percentiles: true })
}

#[test]
fn a_load_is_printed_as_wrk_prints_it() {
    let mut books = answered(&[100, 100, 101, 110]);
    for answered in [1, 0, 3] {
        books.rates.add(RateSample { answered, span: Duration::from_millis(100) });
    }
    let mut result = load(4.0);
    result.window.duration_s = 1.0;
    // Percentiles and deviation are to the three digits that the distribution keeps.
    let lines = [
        "  Thread Stats   Avg      Stdev     Max   +/- Stdev",
        "    Latency   102.75ms    4.85ms 110.00ms   75.00%",
        "    Req/Sec    13.33     15.28    30.00     66.67%",
        "  Latency Distribution",
        "     50%  100.01ms",
        "     75%  101.06ms",
        "     90%  110.00ms",
        "     99%  110.00ms",
        "  4 requests in 1.00s, 596.00B read",
        "Requests/sec:      4.00",
        "Transfer/sec:     596.00B",
    ];
    assert_eq!(wrk(&books, &result), lines.join("\n"));
    let plain = wrk_text(&WrkRun { books: &books, result: &result, timeout: TIMEOUT, percentiles: false });
    assert_eq!(plain, [&lines[..3], &lines[8..]].concat().join("\n"));
}

#[test]
fn where_nothing_came_there_are_zeros_and_no_nan() {
    let text = wrk(&Books::default(), &empty_load());
    assert!(text.contains("    Latency     0.00us    0.00us   0.00us    0.00%\n"), "{text}");
    assert!(text.contains("  0 requests in 0.00us, 0.00B read\nRequests/sec:      0.00\n"), "{text}");
    assert!(!text.contains("nan") && !text.contains("NaN") && !text.contains("Socket errors"), "{text}");
}

#[test]
fn who_was_never_answered_is_a_timeout_and_in_the_latency() {
    let mut books = Books::default();
    let mut result = empty_load();
    for _ in 0..10 {
        books.response.record_censored(Duration::from_secs(3));
    }
    // What was refused at once is no response time.
    books.response.record_censored(Duration::from_micros(50));
    result.outcomes.in_flight = 10;
    result.outcomes.connect_failed = 1;
    result.window.duration_s = 1.0;
    let text = wrk(&books, &result);
    assert!(text.contains("    Latency     3.00s     0.00us   3.00s   100.00%\n"), "{text}");
    assert!(text.contains("     99%    3.00s \n"), "{text}");
    assert!(text.contains("  Socket errors: connect 1, read 0, write 0, timeout 10\n"), "{text}");
}

#[test]
fn a_late_answer_is_a_timeout_an_answer_and_in_the_latency() {
    let books = answered(&[100, 2500]);
    let result = load(2.0);
    let text = wrk(&books, &result);
    assert!(text.contains("   2.50s  ") && text.contains("read 0, write 0, timeout 1\n"), "{text}");
    assert!(text.contains("  2 requests in 2.00s,"), "{text}");
    let run = WrkRun { books: &books, result: &result, timeout: TIMEOUT, percentiles: false };
    assert!(late_answers_note(&run).unwrap().starts_with("1 answers took longer than 2.00s;"));
}

#[test]
fn of_an_interrupted_load_only_what_was_out_for_long_is_a_timeout() {
    let mut books = answered(&[100; 4]);
    books.response.record_censored(Duration::from_millis(30));
    let mut result = load(2.0);
    (result.outcomes.in_flight, result.interrupted) = (1, true);
    assert!(!wrk(&books, &result).contains("Socket errors"));
}

#[test]
fn answers_from_400_on_are_counted_apart() {
    let mut books = answered(&[100; 20]);
    books.tally.done_as_expected = 13;
    let text = wrk(&books, &load(2.0));
    assert!(text.contains("read\n  Non-2xx or 3xx responses: 7\nRequests/sec:"), "{text}");
}

#[test]
fn a_load_is_printed_as_sb_prints_it() {
    let mut books = answered(&[1, 2, 3, 47]);
    books.tally.done = 2000;
    assert_eq!(sb_progress(143_395, Duration::from_millis(63_816)), "143395\t(RPS: 2247)\t\t\t");
    insta::assert_snapshot!("sb_healthy", sb_text(&SbRun::new(&books, &load(1000.0), TIMEOUT)));
}

#[test]
fn no_percentile_of_sb_is_below_what_its_longest_was() {
    let text = sb_text(&SbRun::single(Ok(200), Duration::from_micros(65_320)));
    assert!(text.contains("\nMax: 65.4ms\n") && text.ends_with("\n99.9%\tbelow 65.4ms"), "{text}");
}

#[test]
fn what_sb_calls_303_has_its_own_name() {
    let mut books = answered(&[1; 90]);
    for _ in 0..10 {
        books.response.record_censored(TIMEOUT);
    }
    insta::assert_snapshot!("sb_mixed", sb_text(&SbRun::new(&books, &mixed_load(), TIMEOUT)));
    let failed = SbRun::single(Err("connect failed (refused)".into()), Duration::ZERO);
    assert_eq!(sb_text(&failed), "connect failed (refused):    1\n\nRPS: 0 (requests/second)");
}

/// What is not known of the times of four requests is not known of the shortest of them either.
#[test]
fn where_no_request_was_answered_every_figure_of_sb_is_a_bound() {
    let mut books = Books::default();
    for _ in 0..4 {
        books.response.record_censored(TIMEOUT);
    }
    let text = sb_text(&SbRun::new(&books, &empty_load(), TIMEOUT));
    assert!(text.contains("\nMax: above 2000ms\nMin: above 2000ms\nAvg: above 2000ms\n"), "{text}");
    assert!(text.contains("\n  50%\tabove 2000ms\n") && !text.contains("below"), "{text}");
}

/// The columns of h2load have room for a number each.
#[test]
fn what_h2load_can_not_say_of_its_times_is_said_beside_them() {
    let mut books = answered(&[100; 4]);
    let mut result = load(4.0);
    let note = |books: &Books, result: &record::LoadResult| {
        given_up_note(&H2loadRun { books, result, is_timed: true, patience: TIMEOUT })
    };
    assert_eq!(note(&books, &result), None);
    // What was refused at once is no response time.
    books.response.record_censored(Duration::from_micros(50));
    assert_eq!(note(&books, &result), None);
    books.response.record_censored(TIMEOUT);
    result.outcomes.in_flight = 1;
    let one = "1 request that was given up is in `time for request` for as long as it was waited for: \
               max and mean are lower bounds, and sd is not known";
    assert_eq!(note(&books, &result).as_deref(), Some(one));
    books.response.record_censored(TIMEOUT);
    assert!(note(&books, &result).unwrap().starts_with("2 requests that were given up are in "));
    let text = h2load_text(&H2loadRun { books: &books, result: &result, is_timed: true, patience: TIMEOUT });
    let times = text.lines().find(|line| line.starts_with("time for request:")).unwrap();
    assert!(times.contains("  100.00ms       2.00s") && !times.contains('>'), "{text}");
}

#[test]
fn what_wrk_would_not_have_said() {
    let healthy = beside_text(&HitReport::new(load(1000.0)), &[]);
    insta::assert_snapshot!("beside_healthy", healthy);
    let note = "3 answers were late".to_owned();
    insta::assert_snapshot!("beside_mixed", beside_text(&HitReport::new(mixed_load()), &[note]));
}

#[test]
fn the_law_of_a_load_of_streams_is_of_requests_and_not_of_connections() {
    let mut result = load(1000.0);
    let told = |result: &record::LoadResult| beside_text(&HitReport::new(result.clone()), &[]);
    assert!(told(&result).contains("requests under way, of 64 connections"), "{}", told(&result));
    result.load.streams = Some(4);
    result.littles_law.as_mut().unwrap().users = 256.0;
    assert!(told(&result).contains("requests under way, of 256 at a time"), "{}", told(&result));
}
