//! One run: its files, `proofload run` in its surroundings, and what `proofload explain` names first.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::case::{Case, Server, Size};
use crate::evidence::Evidence;
use crate::process::{Failure, Finished, Interrupt};
use crate::surroundings::{Surroundings, command};
use crate::verdict::{self, Verdict};
use crate::{experiment, process, record};

/// `proofload run` ends so when all was measured, and when a load failed in part, which some of these do.
const RUN_GOOD: [i32; 2] = [0, 4];
/// Reading a run takes no longer.
const EXPLAIN_LIMIT: Duration = Duration::from_secs(60);
/// A probe takes no more trials.
const PROBE_TRIALS_MAX: u64 = 12;
/// Lines of what went wrong that are shown.
const SAID_LINES: usize = 8;

/// What every run needs.
#[derive(Debug)]
pub(crate) struct Bench<'a> {
    pub(crate) proofload: &'a Path,
    /// Which build of it that is.
    pub(crate) binary: &'a str,
    pub(crate) own_exe: &'a Path,
    /// The repository's stacks.
    pub(crate) stacks: &'a Path,
    /// Programs of one file each, absolute.
    pub(crate) servers: &'a Path,
    pub(crate) interrupt: &'a Interrupt,
}

/// Which run is made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run<'a> {
    pub(crate) case: &'a Case,
    pub(crate) size: &'a Size,
    /// How many processes burn CPU time beside it, on any core.
    pub(crate) neighbours: u8,
    pub(crate) seed: u64,
    /// Its first verdict is put to the test.
    pub(crate) is_probed: bool,
}

/// What was named first, and what it rests on.
#[derive(Debug)]
pub(crate) struct Explained {
    pub(crate) verdict: Verdict,
    pub(crate) evidence: Evidence,
}

/// What came of a run: a verdict, or why there is none.
pub(crate) type Outcome = Result<Explained, String>;

impl Bench<'_> {
    /// Measures `size` of `case` in folder `dir`, which is made.
    pub(crate) fn measure(&self, run: Run<'_>, dir: &Path) -> Result<Outcome, Failure> {
        let Run { size, neighbours, .. } = run;
        let stacks = self.write_files(run, dir)?;
        let limit = Duration::from_secs(size.load.limit_s());
        let surroundings = Surroundings::make(size.around, neighbours, self.own_exe, limit)?;
        let mut command = command(size.around, self.proofload);
        command.arg("run").arg(dir.join("planted.toml")).arg("--stacks").arg(stacks);
        let ran =
            process::run(command.arg("--runs").arg(dir.join("runs")).arg("--quiet"), limit, self.interrupt)?;
        drop(surroundings);
        let ran = match ran {
            Some(finished) if finished.status.code().is_some_and(|code| RUN_GOOD.contains(&code)) => finished,
            other => return Ok(Err(failed("proofload run", other))),
        };
        let Some(recorded) = only_entry(&dir.join("runs")) else {
            return Ok(Err(failed("proofload run", Some(ran))));
        };
        self.explain(&recorded, experiment::stack_id(&size.server))
    }

    /// Writes the experiment, and the stack where it is not the repository's. The folder of the stacks.
    fn write_files(&self, run: Run<'_>, dir: &Path) -> Result<PathBuf, Failure> {
        let Run { case, size, seed, .. } = run;
        fs::create_dir_all(dir)?;
        fs::write(dir.join("planted.toml"), experiment::experiment(case, size, seed))?;
        let Some(manifest) = experiment::own_manifest(&size.server, self.servers, seed) else {
            return Ok(self.stacks.to_owned());
        };
        let stacks = dir.join("stacks");
        let own = stacks.join(experiment::stack_id(&size.server));
        fs::create_dir_all(&own)?;
        fs::write(own.join("stack.toml"), manifest)?;
        Ok(stacks)
    }

    /// A digest of what `run` plants and how it loads it: its experiment, its manifest, the source of its server, and what
    /// else goes on. What was measured of another is no measurement of this one.
    pub(crate) fn planted(&self, run: Run<'_>) -> Result<String, Failure> {
        let Run { case, size, seed, .. } = run;
        let source = match &size.server {
            Server::Target(_) => None,
            Server::Stack(id) => {
                let folder = id.split_once('@').map_or(*id, |(stack, _)| stack);
                Some(self.stacks.join(folder).join("stack.toml"))
            }
            Server::Program(program) => Some(program.source(self.servers)),
        };
        let source = source.map(|file| {
            fs::read(&file).map_err(|error| Failure::Usage(format!("{}: {error}", file.display())))
        });
        // Where the servers are says nothing of them.
        let manifest = experiment::own_manifest(&size.server, Path::new(""), seed).unwrap_or_default();
        let texts = [experiment::experiment(case, size, seed), manifest, format!("{:?}", size.around)];
        Ok(record::digest(texts.map(String::into_bytes).into_iter().chain(source.transpose()?)))
    }

    /// Has the first verdict of what was measured in folder `dir` put to the test; what came of it, or why nothing did.
    pub(crate) fn probe(&self, run: Run<'_>, dir: &Path) -> Result<Result<String, String>, Failure> {
        let what = "proofload explain --confirm";
        let Some(recorded) = only_entry(&dir.join("runs")) else {
            return Ok(Err("nothing was measured".into()));
        };
        let own = dir.join("stacks");
        let stacks = if own.is_dir() { &own } else { self.stacks };
        let mut command = command(run.size.around, self.proofload);
        command.arg("explain").arg(recorded).args(["--confirm", "--json", "--quiet", "--stacks"]);
        command.arg(stacks).arg("--runs").arg(dir.join("probes"));
        let limit = Duration::from_secs(PROBE_TRIALS_MAX * run.size.load.limit_s());
        let Some(probed) = process::run(&mut command, limit, self.interrupt)? else {
            return Ok(Err(failed(what, None)));
        };
        // A refuted verdict is told by its exit code, too.
        let outcome = verdict::outcome(&probed.stdout, experiment::stack_id(&run.size.server));
        Ok(outcome.map_err(|why| format!("{why}\n{}", failed(what, Some(probed)))))
    }

    fn explain(&self, recorded: &Path, stack: &str) -> Result<Outcome, Failure> {
        let mut command = std::process::Command::new(self.proofload);
        command.arg("explain").arg(recorded).arg("--json");
        let Some(explained) = process::run(&mut command, EXPLAIN_LIMIT, self.interrupt)? else {
            return Ok(Err(failed("proofload explain", None)));
        };
        // Its exit code may say of the run what the verdict says, too.
        let verdict = verdict::first(&explained.stdout, stack);
        let outcome =
            verdict.and_then(|verdict| Ok(Explained { verdict, evidence: Evidence::read(recorded)? }));
        Ok(outcome.map_err(|why| format!("{why}\n{}", failed("proofload explain", Some(explained)))))
    }
}

/// What is said of a command that gave no result.
fn failed(what: &str, finished: Option<Finished>) -> String {
    let Some(Finished { status, stderr, .. }) = finished else { return format!("{what} took too long") };
    let lines: Vec<&str> = stderr.lines().collect();
    let last = &lines[lines.len().saturating_sub(SAID_LINES)..];
    format!("{what} ended with {status}\n  | {}", last.join("\n  | "))
}

/// What is in folder `dir`, where that is one thing.
fn only_entry(dir: &Path) -> Option<PathBuf> {
    let mut entries = fs::read_dir(dir).ok()?.filter_map(Result::ok);
    let first = entries.next()?.path();
    entries.next().is_none().then_some(first)
}
