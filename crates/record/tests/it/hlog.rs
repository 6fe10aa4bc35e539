//! The interval log, read back with the reader of the `hdrhistogram` crate.

use std::path::Path;
use std::time::Duration as StdDuration;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use record::{IntervalLog, LoggedInterval, RecordError, read_interval_log, with_interval_log};
use units::Duration;

struct Interval {
    tag: Option<String>,
    start: StdDuration,
    length: StdDuration,
    histogram: Histogram<u64>,
}

/// Every interval of the log, decoded from base64 as any reader does.
fn read(path: &Path) -> Vec<Interval> {
    let bytes = std::fs::read(path).unwrap();
    IntervalLogIterator::new(&bytes)
        .filter_map(|entry| match entry.unwrap() {
            LogEntry::Interval(it) => Some(Interval {
                tag: it.tag().map(|tag| tag.as_str().to_owned()),
                start: it.start_timestamp(),
                length: it.duration(),
                histogram: Deserializer::new()
                    .deserialize(&mut decode_base64(it.encoded_histogram()).as_slice())
                    .unwrap(),
            }),
            LogEntry::StartTime(_) | LogEntry::BaseTime(_) => None,
        })
        .collect()
}

fn decode_base64(text: &str) -> Vec<u8> {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = text.bytes().filter(|byte| *byte != b'=');
    let bits = |byte| ALPHABET.iter().position(|it| *it == byte).expect("a base64 digit") as u32;
    let (mut bytes, mut held, mut held_bits) = (Vec::new(), 0u32, 0);
    for digit in digits {
        held = held << 6 | bits(digit);
        held_bits += 6;
        if held_bits >= 8 {
            held_bits -= 8;
            bytes.push((held >> held_bits) as u8);
            held &= (1 << held_bits) - 1;
        }
    }
    bytes
}

fn times(exact_ns: &[u64], censored_ns: &[u64]) -> stats::Distribution {
    let mut times = stats::Distribution::default();
    for ns in exact_ns {
        times.record(Duration::from_nanos(*ns));
    }
    for ns in censored_ns {
        times.record_censored(Duration::from_nanos(*ns));
    }
    times
}

#[test]
fn what_was_logged_is_read_back_in_nanoseconds_under_its_tag() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("response_time.hlog");
    let logged = [
        (0, 0, 1000, times(&[1_000, 1_000, 250_000_000], &[])),
        (1, 0, 1000, times(&[7], &[2_000_000_000, 2_000_000_000])),
        (0, 1000, 250, times(&[3_600_000_000_000], &[5])),
    ];
    let told = with_interval_log(Some(&IntervalLog::create(&path).unwrap()), |log| {
        for (thread, start_ms, length_ms, times) in &logged {
            log(*thread, Duration::from_millis(*start_ms), Duration::from_millis(*length_ms), times);
        }
        "what the body told"
    });
    assert_eq!(told, "what the body told");

    let intervals = read(&path);
    let tags: Vec<_> = intervals.iter().map(|it| it.tag.as_deref()).collect();
    // Thread 0 goes without a tag, as readers that know no tags expect.
    assert_eq!(tags, [None, Some("thread-1"), Some("censored-1"), None, Some("censored-0")]);
    let spans: Vec<_> = intervals.iter().map(|it| (it.start.as_millis(), it.length.as_millis())).collect();
    assert_eq!(spans, [(0, 1000), (0, 1000), (0, 1000), (1000, 250), (1000, 250)]);
    let expected = [
        logged[0].3.exact(),
        logged[1].3.exact(),
        logged[1].3.censored().unwrap(),
        logged[2].3.exact(),
        logged[2].3.censored().unwrap(),
    ];
    for (interval, expected) in intervals.iter().zip(expected) {
        let same = interval.histogram.iter_recorded().zip(expected.iter_recorded()).all(|(ours, theirs)| {
            ours.value_iterated_to() == theirs.value_iterated_to()
                && ours.count_at_value() == theirs.count_at_value()
        });
        assert!(same && interval.histogram.len() == expected.len(), "{:?}", interval.tag);
    }
    assert_eq!(intervals[2].histogram.count_at(2_000_000_000), 2);
}

#[test]
fn a_log_is_read_as_one_distribution_and_what_is_no_log_is_told_with_its_line() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("response_time.hlog");
    let parts = [times(&[1_000, 250_000_000], &[]), times(&[7], &[2_000_000_000]), times(&[9], &[5])];
    with_interval_log(Some(&IntervalLog::create(&path).unwrap()), |log| {
        for (index, part) in parts.iter().enumerate() {
            log(index as u32 % 2, Duration::from_secs(index as u64), Duration::from_secs(1), part);
        }
    });
    let whole = LoggedInterval::whole(&read_interval_log(dir.path()).unwrap());
    let expected = times(&[1_000, 250_000_000, 7, 9], &[2_000_000_000, 5]);
    assert_eq!((whole.exact(), whole.censored()), (expected.exact(), expected.censored()));

    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let broken = [
        (text.replace("thread-1", "other-1"), "the tag `other-1` is none of ours"),
        (text.replace("HISTF", "HIST!"), "not base64"),
        (format!("{}\n{}", lines[0], lines[1].replace("HISTFAAA", "HISTAAAA") + "\n"), "can't be read"),
        (text.clone() + "half a li\n", "no line of an interval log"),
    ];
    for (text, what) in broken {
        std::fs::write(&path, &text).unwrap();
        let told = read_interval_log(dir.path()).unwrap_err().to_string();
        assert!(told.contains(what) && told.contains("response_time.hlog:"), "{told}");
    }
    // A log that was being written when its writer was killed ends before its last line.
    std::fs::write(&path, text.clone() + "half a li").unwrap();
    assert_eq!(LoggedInterval::whole(&read_interval_log(dir.path()).unwrap()), whole);
    assert_eq!(read_interval_log(&dir.path().join("none")).unwrap(), []);
}

/// Each line tells of times from a nanosecond to an hour, which take half a megabyte in memory and some hundred bytes in the log.
#[test]
fn a_log_of_wide_intervals_is_read_with_neighbours_put_together() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("response_time.hlog");
    let (second, seconds) = (Duration::from_secs(1), 300);
    let wide: Vec<u64> = (0..41).flat_map(|power| [1_u64 << power, 3 << power]).collect();
    let wide = times(&wide, &wide);
    with_interval_log(Some(&IntervalLog::create(&path).unwrap()), |log| {
        (0..seconds).for_each(|number| log(0, second * number, second, &wide));
    });
    let read = read_interval_log(dir.path()).unwrap();
    assert!((32..150).contains(&read.len()), "{} intervals", read.len());
    assert_eq!(LoggedInterval::whole(&read).count(), seconds * wide.count());
    let mut end = Duration::ZERO;
    for interval in &read {
        assert_eq!(interval.start, end, "they are side by side");
        end += interval.length;
    }
    assert_eq!(end, second * seconds);
}

#[test]
fn without_a_path_the_body_runs_and_nothing_is_written() {
    let counted = with_interval_log(None, |log| {
        log(0, Duration::ZERO, Duration::from_secs(1), &times(&[1], &[1]));
        1
    });
    assert_eq!(counted, 1);
}

#[test]
fn a_log_of_nothing_is_a_log() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("empty.hlog");
    with_interval_log(Some(&IntervalLog::create(&path).unwrap()), |_| ());
    assert!(read(&path).is_empty());
}

#[test]
fn a_full_disk_is_told_after_the_body_has_ended() {
    let mut reached_the_end = false;
    let to_full = IntervalLog::create("/dev/full").unwrap();
    with_interval_log(Some(&to_full), |log| {
        // Enough to fill every buffer on the way.
        for second in 0..2000 {
            let all: Vec<u64> = (1..60).map(|it| it * 1_000 * (second + 1)).collect();
            log(0, Duration::from_secs(second), Duration::from_secs(1), &times(&all, &[]));
        }
        reached_the_end = true;
    });
    assert!(reached_the_end, "the log is lost, and not the load");
    let error: RecordError = to_full.written().unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("/dev/full: writing the interval log failed: "), "{text}");
    assert!(text.ends_with("free some space, then resume the run"), "{text}");
}

#[test]
fn a_path_that_cannot_be_made_is_told_before_there_is_a_load() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("missing/response_time.hlog");
    assert!(IntervalLog::create(path).unwrap_err().to_string().ends_with("check the path"));
}
