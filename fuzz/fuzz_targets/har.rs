//! Any text as a browser's recording: it is refused, or becomes a scenario that can be made ready.
//!
//! Run: `cargo +nightly fuzz run har fuzz/corpus/har fuzz/seeds/har -- -max_total_time=60`. A new find goes to
//! `fuzz/artifacts`; make it a named test in `crates/sources/tests/it/main.rs`.
#![no_main]

use std::num::NonZeroU32;

use libfuzzer_sys::fuzz_target;
use plan::HttpVersion;
use scenario::Prepared;
use sources::{Fields, SourceOptions, parse_har};
use units::Duration;

fuzz_target!(|text: &str| {
    let http2 = HttpVersion::Http2 { settings: h2::Settings::default(), prior_knowledge: true };
    let here = Some("http://127.0.0.1:8080".to_owned());
    for (pauses, base, http) in [(false, None, HttpVersion::Http1), (true, here, http2)] {
        let options = SourceOptions {
            base,
            users: NonZeroU32::MIN,
            arrivals: None,
            connect_timeout: Duration::from_secs(1),
            ramp_up: Duration::ZERO,
            iterations: None,
            duration: None,
            timeout: Duration::from_secs(1),
            http,
            fields: Fields::default(),
        };
        match parse_har("fuzz.har", text, pauses, &options) {
            Ok(sourced) => {
                let Ok(prepared) = Prepared::new(sourced.scenario) else { continue };
                // What HTTP/2 has no place for was left out.
                assert!(http == HttpVersion::Http1 || prepared.check_for_sharing(h2::check).is_ok());
            }
            Err(error) => assert!(!error.what.is_empty() && !error.help.is_empty()),
        }
    }
});
