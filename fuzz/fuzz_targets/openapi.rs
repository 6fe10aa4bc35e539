//! Any text as an OpenAPI document, and as a curl command: it is refused, or becomes requests that can be made ready.
//!
//! Run: `cargo +nightly fuzz run openapi fuzz/corpus/openapi fuzz/seeds/openapi -- -max_total_time=60`. A new find goes to
//! `fuzz/artifacts`; make it a named test in `crates/sources/tests/it/main.rs`.
#![no_main]

use std::num::NonZeroU32;

use libfuzzer_sys::fuzz_target;
use plan::HttpVersion;
use scenario::Prepared;
use sources::{Fields, SourceOptions, parse_curl, parse_openapi};
use units::Duration;

fuzz_target!(|text: &str| {
    let options = SourceOptions {
        base: Some("http://127.0.0.1:8080".to_owned()),
        users: NonZeroU32::MIN,
        arrivals: None,
        connect_timeout: Duration::from_secs(1),
        ramp_up: Duration::ZERO,
        iterations: None,
        duration: None,
        timeout: Duration::from_secs(1),
        http: HttpVersion::Http1,
        fields: Fields::new(&["X-Key: k".to_owned()], vec!["x-key".to_owned()]).unwrap_or_default(),
    };
    match parse_openapi("fuzz.yaml", text, &options) {
        Ok(sourced) => drop(Prepared::new(sourced.scenario)),
        Err(error) => assert!(!error.what.is_empty() && !error.help.is_empty()),
    }
    match parse_curl(text) {
        Ok(request) => assert!(request.url.contains("://")),
        Err(error) => assert!(!error.what.is_empty() && !error.help.is_empty()),
    }
});
