//! The test binaries. Cargo builds them and would run one after another; most of what they do is waiting for other
//! processes, so that here several run at a time, and by themselves those that measure.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

/// What they are built by.
const BUILD: [&str; 6] =
    ["test", "--workspace", "--locked", "--no-run", "--quiet", "--message-format=json-render-diagnostics"];
/// The binary whose tests measure, and so have the machine to themselves.
const ALONE: &str = "alone";
/// The package whose tests wait for other processes: they take longest, and so begin first.
const WAITING: &str = "cli";
/// How many of its tests run at a time, for each core. All others compute: one has a core.
const WAITING_PER_CORE: usize = 6;

/// A test binary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Binary {
    /// The folder of its package, where it runs.
    folder: PathBuf,
    /// `lib`, `it` or another target's name.
    target: String,
    program: PathBuf,
}

/// How one ended.
pub(crate) struct Ended {
    pub(crate) name: String,
    pub(crate) passed: bool,
    /// All that it said.
    pub(crate) said: String,
    took: Duration,
}

impl Binary {
    /// As in `cli it`.
    pub(crate) fn name(&self) -> String {
        let package = self.folder.file_name().unwrap_or_default().to_string_lossy();
        format!("{package} {}", self.target)
    }

    pub(crate) fn is_alone(&self) -> bool {
        self.target == ALONE
    }

    fn is_waiting(&self) -> bool {
        self.folder.ends_with(WAITING)
    }

    /// Runs it to its end.
    fn run(&self, arguments: &[String], cores: usize) -> Ended {
        let begun = Instant::now();
        let threads = crate::threads(if self.is_waiting() { cores * WAITING_PER_CORE } else { cores });
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder);
        command.env(crate::THREADS, threads).stdin(Stdio::null());
        let (passed, said) = finished(&mut command).unwrap_or_else(|error| (false, error.to_string()));
        Ended { name: self.name(), passed, said, took: begun.elapsed() }
    }
}

/// Whether a command passed, and what it said on both of its outputs, in the order in which it did.
fn finished(command: &mut Command) -> std::io::Result<(bool, String)> {
    // A file and no pipe: what a failed test left running would keep a pipe from ending.
    let mut file = tempfile::tempfile()?;
    let passed = command.stdout(file.try_clone()?).stderr(file.try_clone()?).status()?.success();
    let mut said = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut said)?;
    Ok((passed, String::from_utf8_lossy(&said).into_owned()))
}

/// Builds them all, as `cargo test` does. `None` where something does not compile, which cargo has said.
pub(crate) fn build(root: &Path) -> Option<Vec<Binary>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    eprintln!("--- cargo {}", BUILD.join(" "));
    let begun = Instant::now();
    let mut child = Command::new(cargo).args(BUILD).current_dir(root).stdout(Stdio::piped()).spawn().ok()?;
    let lines = BufReader::new(child.stdout.take()?).lines();
    let binaries: Vec<Binary> = lines.map_while(Result::ok).filter_map(|line| binary(&line)).collect();
    let compiled = child.wait().is_ok_and(|status| status.success());
    eprintln!("--- {} test binaries: {} s", binaries.len(), begun.elapsed().as_secs());
    compiled.then_some(binaries)
}

/// The test binary that a line of cargo's tells of.
fn binary(line: &str) -> Option<Binary> {
    let told: Value = serde_json::from_str(line).ok()?;
    if told["reason"] != "compiler-artifact" || told["profile"]["test"] != true {
        return None;
    }
    let kind = told["target"]["kind"][0].as_str()?;
    let target = if kind == "test" { told["target"]["name"].as_str()? } else { kind };
    Some(Binary {
        folder: Path::new(told["manifest_path"].as_str()?).parent()?.to_path_buf(),
        target: target.to_owned(),
        program: told["executable"].as_str()?.into(),
    })
}

/// Runs them, one more at a time than there are cores, for most of what they do is waiting, and then one after another
/// those that measure. `tell` has each as it ends.
pub(crate) fn run(binaries: Vec<Binary>, arguments: &[String], cores: usize, tell: &(dyn Fn(Ended) + Sync)) {
    let (beside, alone) = in_order(binaries);
    let queue = Mutex::new(VecDeque::from(beside));
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    std::thread::scope(|scope| {
        for _ in 0..=cores {
            scope.spawn(|| {
                while let Some(binary) = next() {
                    tell(binary.run(arguments, cores));
                }
            });
        }
    });
    for binary in alone {
        tell(binary.run(arguments, cores));
    }
}

/// Those that run beside others, in the order in which they begin, and those that measure.
fn in_order(binaries: Vec<Binary>) -> (Vec<Binary>, Vec<Binary>) {
    let (alone, mut beside): (Vec<_>, Vec<_>) = binaries.into_iter().partition(Binary::is_alone);
    beside.sort_by_key(|binary| !binary.is_waiting());
    (beside, alone)
}

/// Builds and runs them, and says how each ended: of one that failed, all that it said.
pub(crate) fn pass(root: &Path, cores: usize) -> bool {
    let Some(binaries) = build(root) else { return false };
    let begun = Instant::now();
    let failed = Mutex::new(Vec::new());
    run(binaries, &[], cores, &|ended| {
        eprintln!("{}", summary(&ended));
        if !ended.passed {
            eprint!("{}", ended.said);
            failed.lock().unwrap_or_else(PoisonError::into_inner).push(ended.name);
        }
    });
    eprintln!("--- tests: {} s", begun.elapsed().as_secs());
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    if !failed.is_empty() {
        eprintln!("failed: {}", failed.join(", "));
    }
    failed.is_empty()
}

/// One line about a binary that has ended.
fn summary(ended: &Ended) -> String {
    let results = ended.said.lines().rev().find_map(|line| line.strip_prefix("test result: "));
    let counts = results.and_then(|it| it.split_once(". ")).map_or("no result", |(_, counts)| counts);
    let counts: Vec<&str> = counts.split("; ").take(3).collect();
    let word = if ended.passed { "ok" } else { "FAILED" };
    format!("{word:<6} {:>5.1} s  {}: {}", ended.took.as_secs_f64(), ended.name, counts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_tells_of_test_binaries_among_others() {
        let line = |kind: &str, test: bool| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"/w/crates/cli/Cargo.toml",
                "target":{{"kind":["{kind}"],"name":"it"}},"profile":{{"test":{test}}},"executable":"/w/target/it-1"}}"#
            )
        };
        let it = binary(&line("test", true)).unwrap();
        assert_eq!((it.name().as_str(), it.program.to_str()), ("cli it", Some("/w/target/it-1")));
        assert_eq!(binary(&line("lib", true)).unwrap().name(), "cli lib");
        assert_eq!(binary(&line("bin", false)), None, "that is no test");
        assert_eq!(binary("warning: not JSON"), None);
    }

    #[test]
    fn what_a_binary_said_on_both_outputs_is_kept_and_its_code_decides() {
        let shell =
            |script: &str| finished(Command::new("sh").args(["-c", script])).expect("there is a shell");
        assert_eq!(shell("echo one; echo two >&2; echo three"), (true, "one\ntwo\nthree\n".into()));
        assert_eq!(shell("exit 101"), (false, String::new()));
    }

    #[test]
    fn a_line_says_how_it_ended() {
        let said = "running 2 tests\n\ntest result: FAILED. 1 passed; 1 failed; 3 ignored; 0 measured; 0 filtered out\n";
        let ended =
            Ended { name: "cli it".into(), passed: false, said: said.into(), took: Duration::from_secs(2) };
        assert_eq!(summary(&ended), "FAILED   2.0 s  cli it: 1 passed, 1 failed, 3 ignored");
        let ended = Ended { said: "no such file".into(), ..ended };
        assert_eq!(summary(&ended), "FAILED   2.0 s  cli it: no result");
    }

    #[test]
    fn those_that_measure_come_last_and_those_that_wait_first() {
        let of = |folder: &str, target: &str| Binary {
            folder: std::env::temp_dir().join(folder),
            target: target.into(),
            program: "/nonexistent".into(),
        };
        let names = |all: &[Binary]| all.iter().map(Binary::name).collect::<Vec<_>>();
        let all = vec![of("cli", "alone"), of("agent", "lib"), of("cli", "it")];
        let (beside, alone) = in_order(all.clone());
        assert_eq!(
            (names(&beside), names(&alone)),
            (vec!["cli it".into(), "agent lib".into()], vec!["cli alone".into()])
        );
        let ended = Mutex::new(Vec::new());
        run(all, &[], 1, &|it| {
            assert!(!it.passed, "there is no such program");
            ended.lock().unwrap().push(it.name);
        });
        assert_eq!(ended.lock().unwrap().last().map(String::as_str), Some("cli alone"));
    }
}
