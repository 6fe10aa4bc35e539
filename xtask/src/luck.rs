//! How often tests need luck: which fail, and which measure more than once.
//!
//! A test that may measure again says `TRIED name times` on standard error when it is through; how often it is, is counted
//! here.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::binaries;

/// What a test that may measure again says.
const TRIED: &str = "TRIED ";

/// What became of one test over all runs.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    runs: u32,
    failed: u32,
    /// Runs by how often they measured; empty where a test measures once.
    tries: BTreeMap<u32, u32>,
}

type Tallies = BTreeMap<String, Tally>;

/// Runs the tests `times`; `binary` and `arguments` choose among them. Says of each that failed, or may measure again, how
/// often it did. False where one failed.
pub(crate) fn luck(
    root: &Path,
    times: u32,
    binary: Option<&str>,
    arguments: &[String],
    cores: usize,
) -> bool {
    let Some(mut all) = binaries::build(root) else { return false };
    all.retain(|it| binary.is_none_or(|binary| it.name() == binary));
    let tallies = Mutex::new(Tallies::new());
    for run in 1..=times {
        binaries::run(all.clone(), arguments, cores, &|ended| {
            if !ended.passed {
                eprintln!("run {run}: {} failed\n{}", ended.name, ended.said);
            }
            count(&ended.name, &ended.said, &mut tallies.lock().unwrap_or_else(PoisonError::into_inner));
        });
        eprintln!("--- run {run} of {times}");
    }
    let tallies = tallies.into_inner().unwrap_or_else(PoisonError::into_inner);
    print!("{}", table(&tallies));
    !tallies.is_empty() && tallies.values().all(|it| it.failed == 0)
}

/// Adds what a binary said.
fn count(binary: &str, said: &str, tallies: &mut Tallies) {
    for line in said.lines() {
        if let Some(tried) = line.strip_prefix(TRIED)
            && let Some((test, times)) = tried.rsplit_once(' ')
            && let Ok(times) = times.parse()
        {
            let tally = tallies.entry(format!("{binary} {test}")).or_default();
            *tally.tries.entry(times).or_default() += 1;
        } else if let Some((test, result)) = line.strip_prefix("test ").and_then(|it| it.split_once(" ... "))
            && !result.starts_with("ignored")
        {
            let tally = tallies.entry(format!("{binary} {test}")).or_default();
            tally.runs += 1;
            tally.failed += u32::from(result == "FAILED");
        }
    }
}

fn table(tallies: &Tallies) -> String {
    let mut text = String::new();
    for (test, tally) in tallies.iter().filter(|(_, it)| it.failed > 0 || !it.tries.is_empty()) {
        let tries: Vec<String> =
            tally.tries.iter().map(|(times, runs)| format!(", {runs} with {times} tries")).collect();
        let _ = writeln!(text, "{test}: {} of {} runs failed{}", tally.failed, tally.runs, tries.concat());
    }
    let (runs, failed) = tallies.values().fold((0, 0), |sum, it| (sum.0 + it.runs, sum.1 + it.failed));
    text + &format!("{} tests, {runs} runs of one, {failed} failed\n", tallies.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_and_tries_are_counted_by_test() {
        let mut tallies = Tallies::new();
        count(
            "cli it",
            "running 3 tests\ntest a::b ... ok\ntest c ... FAILED\ntest d ... ignored, slow: x\n",
            &mut tallies,
        );
        count("cli it", "TRIED a::b 2\ntest a::b ... ok\ntest c ... ok\n", &mut tallies);
        count("cli alone", "TRIED e 1\ntest e ... ok\n", &mut tallies);
        assert_eq!(
            table(&tallies),
            "cli alone e: 0 of 1 runs failed, 1 with 1 tries\n\
             cli it a::b: 0 of 2 runs failed, 1 with 2 tries\n\
             cli it c: 1 of 2 runs failed\n3 tests, 5 runs of one, 1 failed\n"
        );
    }
}
