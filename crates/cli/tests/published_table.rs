//! The error rates of `docs/statistics.md`. They take a core for a quarter of a minute, so they are worked out apart from the
//! tests that measure.

use std::process::Command;

/// The table of `docs/statistics.md` is what the command prints, and nothing in it is worse than it promises.
#[test]
fn the_published_table_is_that_of_the_code() {
    let output = Command::new(env!("CARGO_BIN_EXE_proofload"))
        .args(["error-rates", "--table"])
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/statistics.md");
    let docs = std::fs::read_to_string(docs).expect("the page is there");
    let (_, rest) = docs.split_once("<!-- error-rates: begin -->\n").expect("the table has a beginning");
    let (table, _) = rest.split_once("<!-- error-rates: end -->").expect("and an end");
    assert_eq!(table.trim(), String::from_utf8_lossy(&output.stdout).trim());
}
