//! Any bytes as the interval log of a trial: it is refused with its line, or read in bounded memory, and nothing that is
//! made of it panics.
//!
//! The first byte says whether what follows is the log itself or the inside of its histograms, which no mutation reaches
//! through base64 and zlib. Run: `cargo +nightly fuzz run hlog fuzz/corpus/hlog fuzz/seeds/hlog -- -max_total_time=60`. A
//! new find goes to `fuzz/artifacts`; make it a named test in `crates/record/tests/it/hostile.rs`.
#![no_main]

use std::fs;
use std::io::Write;
use std::sync::LazyLock;

use base64::Engine as _;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use libfuzzer_sys::fuzz_target;
use record::{LoggedInterval, read_interval_log};
use tempfile::TempDir;

static DIR: LazyLock<TempDir> = LazyLock::new(|| tempfile::tempdir().expect("there is room for a directory"));

fuzz_target!(|input: &[u8]| {
    let Some((first, rest)) = input.split_first() else { return };
    let log = if first % 2 == 0 { rest.to_vec() } else { of_histograms(rest) };
    fs::write(DIR.path().join("response_time.hlog"), log).expect("there is room for a file");
    match read_interval_log(DIR.path()) {
        Ok(intervals) => check(&intervals),
        Err(error) => assert!(error.to_string().contains("response_time.hlog:"), "{error}"),
    }
});

/// A log of the histograms that stand between bytes 255.
fn of_histograms(bytes: &[u8]) -> Vec<u8> {
    let mut log = Vec::new();
    for (second, inside) in bytes.split(|byte| *byte == 0xff).enumerate() {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(inside).expect("it is written to memory");
        let deflated = encoder.finish().expect("it is written to memory");
        let mut whole = vec![0x1c, 0x84, 0x93, 0x14];
        whole.extend((deflated.len() as u32).to_be_bytes());
        whole.extend(deflated);
        let tag = if second % 3 == 0 { "Tag=censored-0," } else { "" };
        let encoded = base64::engine::general_purpose::STANDARD.encode(whole);
        writeln!(log, "{tag}{second}.000,1.000,1.000,{encoded}").expect("it is written to memory");
    }
    log
}

fn check(intervals: &[LoggedInterval]) {
    assert!(intervals.is_sorted_by_key(|it| it.start));
    let whole = LoggedInterval::whole(intervals);
    let count: u64 = intervals.iter().map(|it| it.times.count()).sum();
    assert_eq!(whole.count(), count);
    if let Some([median, last]) = whole.quantiles([0.5, 1.0]) {
        assert!(median.value <= last.value);
        assert!(whole.mean().is_some() && whole.max().is_some());
        let _ = whole.deviation();
        let _ = exports::hgrm(&whole);
    }
}
