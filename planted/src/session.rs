//! All runs of a session, one after the other, each recorded as it is made.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::arguments::Arguments;
use crate::case::Case;
use crate::matrix::{Judged, judged};
use crate::process::Failure;
use crate::record::{Key, Line, Lines, NOT_MADE, Writer};
use crate::trial::{Bench, Explained, Outcome, Run};

/// How often a run is made in which the hypervisor took the CPU time that it needed.
const TRIES_MAX: u32 = 3;

impl Run<'_> {
    fn key(&self) -> Key {
        let Self { case, size, neighbours, seed, .. } = *self;
        Key { case: case.name.to_owned(), size: size.label.to_owned(), neighbours, seed }
    }

    /// Whether `made` has all that is asked for, of what is `planted` today.
    fn is_in(&self, made: &Lines, planted: &str) -> bool {
        let is_whole =
            |line: &Line| !self.is_probed || line.probe.as_deref().is_some_and(|it| it != NOT_MADE);
        made.get(&self.key()).is_some_and(|line| line.planted.as_deref() == Some(planted) && is_whole(line))
    }

    fn judged(&self, outcome: &Outcome) -> Judged {
        let named = outcome.as_ref().map_or(NOT_MADE, |it| it.verdict.kind.as_str());
        judged(self.case, self.size, self.neighbours, named)
    }

    /// What came of it in a line; what is not right, with what would be.
    fn told(&self, outcome: &Outcome) -> String {
        let expected = self.case.expected.join(" or ");
        let verdict = outcome.as_ref().map(|it| &it.verdict);
        match (self.judged(outcome), verdict) {
            (Judged::Right, Ok(verdict)) => format!("{} ({})", verdict.kind, verdict.phrase),
            (Judged::Unexplained, Ok(_)) => format!("UNEXPLAINED instead of {expected}"),
            (_, Ok(verdict)) => format!("WRONG: {} ({}) instead of {expected}", verdict.kind, verdict.phrase),
            (_, Err(why)) => format!("NOT MADE: {why}"),
        }
    }
}

/// Every run that `arguments` ask for.
pub(crate) fn runs<'a>(arguments: &Arguments, cases: &'a [Case]) -> Vec<Run<'a>> {
    let mut runs = Vec::new();
    for case in cases {
        for neighbours in arguments.neighbours().iter().copied() {
            for size in case.sizes_beside(neighbours) {
                let is_probed = arguments.probe && neighbours == 0 && case.is_probed(size);
                let run = |seed| Run { case, size, neighbours, seed, is_probed: is_probed && seed == 1 };
                runs.extend(arguments.seeds().map(run));
            }
        }
    }
    runs
}

/// What is on record already of `arguments`, made by this `binary`.
pub(crate) fn made(arguments: &Arguments, binary: &str) -> Result<Lines, Failure> {
    let mut made = Lines::default();
    let Some(file) = arguments.record.as_deref().filter(|file| file.exists()) else { return Ok(made) };
    if !arguments.resume {
        let why = format!("{} is there: --resume goes on from it, or name another file", file.display());
        return Err(Failure::Usage(why));
    }
    let is_made = |line: &&Line| line.named != NOT_MADE && line.binary == binary;
    Lines::read(file)?.iter().filter(is_made).for_each(|line| made.add(line.clone()));
    Ok(made)
}

/// Makes all of `runs` that are not in `made`, and adds them to it.
pub(crate) fn make_all(
    runs: &[Run<'_>],
    bench: &Bench<'_>,
    folder: &Path,
    writer: &mut Writer,
    made: &mut Lines,
) -> Result<(), Failure> {
    let mut left = Vec::new();
    for run in runs {
        let planted = bench.planted(*run)?;
        if !run.is_in(made, &planted) {
            left.push((run, planted));
        }
    }
    if left.len() < runs.len() {
        eprintln!("{} of {} runs are on record", runs.len() - left.len(), runs.len());
    }
    let begun = Instant::now();
    for (number, (run, planted)) in (1..).zip(&left) {
        let at = format!("[{number}/{}]", left.len());
        let (outcome, measured) = make(run, bench, &folder.join(number.to_string()), &at)?;
        let probe = if run.is_probed { Some(probe(run, bench, &measured, &at)?) } else { None };
        let key = run.key();
        let probed = probe.as_ref().map(|outcome| format!(" [{outcome}]")).unwrap_or_default();
        eprintln!(
            "{at} {}, {}, {} neighbours, seed {}: {}{probed}; {}",
            key.case,
            key.size,
            key.neighbours,
            key.seed,
            run.told(&outcome),
            time_left(begun.elapsed(), number, left.len())
        );
        let (named, phrase, evidence) = match outcome {
            Ok(Explained { verdict, evidence }) => (verdict.kind, verdict.phrase, Some(evidence)),
            Err(why) => (NOT_MADE.to_owned(), why, None),
        };
        let line = Line {
            key,
            named,
            phrase,
            probe,
            binary: bench.binary.to_owned(),
            planted: Some(planted.clone()),
            evidence,
        };
        writer.write(&line)?;
        made.add(line);
    }
    Ok(())
}

/// Makes one run, and says in which folder; again where the hypervisor took what was needed, and what was said is not what is
/// right.
fn make(run: &Run<'_>, bench: &Bench<'_>, folder: &Path, at: &str) -> Result<(Outcome, PathBuf), Failure> {
    let mut outcome = bench.measure(*run, folder)?;
    let mut measured = folder.to_owned();
    for again in 2..=TRIES_MAX {
        let taken = outcome.as_ref().is_ok_and(|it| it.verdict.is_of_the_hypervisor());
        if !taken || run.judged(&outcome) == Judged::Right {
            break;
        }
        eprintln!("{at} the hypervisor took part of the CPU; once more");
        measured = folder.with_extension(again.to_string());
        outcome = bench.measure(*run, &measured)?;
    }
    Ok((outcome, measured))
}

/// What came of the first verdict of what is in `measured` when it was put to the test.
fn probe(run: &Run<'_>, bench: &Bench<'_>, measured: &Path, at: &str) -> Result<String, Failure> {
    Ok(bench.probe(*run, measured)?.unwrap_or_else(|why| {
        eprintln!("{at} no probe: {why}");
        NOT_MADE.to_owned()
    }))
}

/// How long the rest takes, if its runs take as long as those that were made.
fn time_left(spent: Duration, made: usize, all: usize) -> String {
    let left = spent.as_secs_f64() / made as f64 * (all - made) as f64;
    format!("{:.0} min left", left / 60.0)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::case::Server;
    use crate::process::Interrupt;
    use crate::table;

    #[test]
    fn what_was_measured_of_another_server_is_no_measurement_of_this_one() {
        let cases = table::cases();
        let of_a_program = |case: &&Case| matches!(case.sizes[0].server, Server::Program(_));
        let case = cases.iter().find(of_a_program).unwrap();
        let size = &case.sizes[0];
        let Server::Program(program) = size.server else { unreachable!("it was looked for") };
        let run = Run { case, size, neighbours: 0, seed: 1, is_probed: false };
        let folder = tempfile::tempdir().unwrap();
        let source = program.source(folder.path());
        std::fs::create_dir_all(source.parent().unwrap()).unwrap();
        let interrupt = Interrupt::on_signals().unwrap();
        let nowhere = Path::new("nowhere");
        let bench = Bench {
            proofload: nowhere,
            binary: "0",
            own_exe: nowhere,
            stacks: nowhere,
            servers: folder.path(),
            interrupt: &interrupt,
        };
        let of_source = |text: &str| {
            std::fs::write(&source, text).unwrap();
            bench.planted(run).unwrap()
        };
        let (before, after) = (of_source("answers after 1 ms"), of_source("answers after 2 ms"));
        let phrase = String::new();
        let (named, planted) = ("pool_limit".to_owned(), Some(before.clone()));
        let line =
            Line { key: run.key(), named, phrase, probe: None, binary: "0".into(), planted, evidence: None };
        let mut made = Lines::default();
        made.add(line);
        assert!(run.is_in(&made, &before));
        assert!(!run.is_in(&made, &after));
        let other_load = Run { seed: 2, ..run };
        assert_ne!(bench.planted(other_load).unwrap(), after);
        std::fs::remove_file(&source).unwrap();
        assert!(matches!(bench.planted(run), Err(Failure::Usage(_))));
    }

    #[test]
    fn each_size_is_run_quiet_and_beside_one_neighbour_or_two() {
        let cases = table::cases();
        let count = |words: &[&str]| {
            let arguments = Arguments::parse_from(std::iter::once("planted").chain(words.iter().copied()));
            runs(&arguments, &cases).len()
        };
        let sizes: usize = cases.iter().map(|case| case.sizes.len()).sum();
        let [quiet, one, two] = ["0", "1", "2"].map(|neighbours| count(&["--neighbours", neighbours]));
        assert_eq!((quiet, count(&[])), (sizes, quiet + one + two));
        assert!(one <= sizes && two <= sizes && one + two >= sizes * 3 / 4, "{one}, {two} of {sizes}");
        for case in &cases {
            let labels =
                |neighbours| case.sizes_beside(neighbours).map(|size| size.label).collect::<Vec<_>>();
            if case.sizes.len() > 1 {
                assert!(labels(1).iter().all(|label| !labels(2).contains(label)), "{}", case.name);
            }
        }
    }
}
