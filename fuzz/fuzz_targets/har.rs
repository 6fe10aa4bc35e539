//! Any text as a browser's recording: it is refused, or becomes a scenario that can be made ready.
//!
//! Run: `cargo +nightly fuzz run har fuzz/corpus/har fuzz/seeds/har -- -max_total_time=60`. A new find goes to
//! `fuzz/artifacts`; make it a named test in `crates/sources/tests/it/main.rs`.
#![no_main]

use std::num::NonZeroU32;

use libfuzzer_sys::fuzz_target;
use scenario::Prepared;
use sources::{SourceOptions, parse_har};
use units::Duration;

fuzz_target!(|text: &str| {
    for (pauses, base) in [(false, None), (true, Some("http://127.0.0.1:8080".to_owned()))] {
        let options = SourceOptions {
            base,
            users: NonZeroU32::MIN,
            ramp_up: Duration::ZERO,
            iterations: None,
            duration: None,
            timeout: Duration::from_secs(1),
        };
        match parse_har("fuzz.har", text, pauses, &options) {
            Ok(sourced) => drop(Prepared::new(sourced.scenario)),
            Err(error) => assert!(!error.what.is_empty() && !error.help.is_empty()),
        }
    }
});
