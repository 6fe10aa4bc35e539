//! Any text as the output of load generators: it is refused, or judged, in bounded time and memory.
//!
//! Run: `cargo +nightly fuzz run audit fuzz/corpus/audit fuzz/seeds/audit -- -max_total_time=60`. A new find goes to
//! `fuzz/artifacts`; make it a named test in `crates/audit/tests/it/bad_input.rs`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| match audit::read("pasted", text) {
    Ok(document) => {
        assert!(document.rows.len() <= audit::ROWS_MAX);
        let found = audit::audit(&[document]);
        let _ = report::audit_text(&found);
        serde_json::to_string(&found).expect("it is plain data");
    }
    Err(error) => assert!(error.to_string().starts_with("pasted: "), "{error}"),
});
