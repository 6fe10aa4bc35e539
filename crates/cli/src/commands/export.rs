//! `proofload export`: a record in the forms of other systems.

mod send;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use exports::{
    ExportedLoad, ExportedRun, Family, OTLP_CONTENT_TYPE, REMOTE_WRITE_HEADERS, date_all, hgrm, load_labels,
    of_load, of_run, open_metrics, otlp, remote_write, text,
};
use record::{
    LoadResult, LoggedInterval, Manifest, RecordError, RunDir, Trial, TrialResult, read_interval_log,
};

use self::send::{Receiver, Taken};
use crate::arguments::export::{At, Export};
use crate::clock::now_ms;
use crate::exit::Failure;
use crate::output::{print_quoted, write_into_run, write_whole};
use crate::recorded;

/// The largest result that is read; one has some 20 KB.
const RESULT_BYTES_MAX: u64 = 64 << 20;
/// What is read, for errors.
const RECORDS: &str = "give a run's directory, a file that hit --json printed, or -";

/// Runs the command.
pub fn run(arguments: &Export) -> Result<ExitCode, Failure> {
    // What is typed is looked at before anything is read, and everything is written before anything is sent.
    let remote = receiver("--remote-write", arguments.remote_write.as_deref(), "/api/v1/write", arguments)?;
    let collector = receiver("--otlp", arguments.otlp.as_deref(), "/v1/metrics", arguments)?;
    let source = Source::read(&arguments.record)?;
    let mut families = source.families()?;
    let now_ms = i64::try_from(now_ms()).unwrap_or(i64::MAX);
    if arguments.at == At::Now {
        date_all(&mut families, now_ms);
    }
    if let Some(path) = &arguments.prometheus {
        write_or_print(path, &text(&families))?;
    }
    if let Some(path) = &arguments.open_metrics {
        write_or_print(path, &open_metrics(&families))?;
    }
    if let Some(dir) = &arguments.hgrm {
        source.write_percentiles(dir)?;
    }
    if let Some(receiver) = remote {
        receiver
            .with_headers(&REMOTE_WRITE_HEADERS)
            .send_all(&remote_write(&families, now_ms), |_| Taken::Whole)?;
    }
    if let Some(receiver) = collector {
        let messages = otlp(&families, env!("CARGO_PKG_VERSION"), now_ms);
        let judge = |body: &[u8]| exports::partly_refused(body).map_or(Taken::Whole, Taken::Partly);
        receiver.with_headers(&[("Content-Type", OTLP_CONTENT_TYPE)]).send_all(&messages, judge)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn receiver(
    option: &'static str,
    url: Option<&str>,
    path: &str,
    arguments: &Export,
) -> Result<Option<Receiver>, Failure> {
    url.map(|url| Receiver::new(option, url, path, &arguments.headers)).transpose()
}

/// What is exported.
enum Source {
    Run { dir: PathBuf, manifest: Box<Manifest>, trials: Vec<Trial> },
    Load(Box<LoadResult>),
}

impl Source {
    fn read(path: &Path) -> Result<Self, Failure> {
        let unreadable = |error: RecordError| Failure::usage(error);
        if path.is_dir() {
            let (manifest, trials) = recorded::read(path)?;
            return Ok(Self::Run { dir: path.to_owned(), manifest: Box::new(manifest), trials });
        }
        let (name, text) = if path == Path::new("-") {
            (Path::new("standard input"), read_text("standard input", std::io::stdin().lock())?)
        } else {
            let name = path.display().to_string();
            let file = std::fs::File::open(path)
                .map_err(|error| Failure::usage(format!("{name} can't be read ({error}); {RECORDS}")))?;
            (path, read_text(&name, file)?)
        };
        LoadResult::from_json(name, &text).map(|result| Self::Load(Box::new(result))).map_err(unreadable)
    }

    fn families(&self) -> Result<Vec<Family>, Failure> {
        let (dir, manifest, trials) = match self {
            Self::Load(result) => return Ok(families_of_load(result)),
            Self::Run { dir, manifest, trials } => (dir, manifest, trials),
        };
        let mut broken = None;
        let families = of_run(&ExportedRun { manifest, trials }, &mut |trial| {
            times_of(dir, trial).unwrap_or_else(|error| {
                broken.get_or_insert(error);
                None
            })
        });
        broken.map_or(Ok(families), Err)
    }

    /// Writes a file for each measured trial that has its times in full.
    fn write_percentiles(&self, folder: &Path) -> Result<(), Failure> {
        let Self::Run { dir, trials, .. } = self else {
            return Err(Failure::usage(
                "a result has no more than some percentiles; measure again with: proofload hit --hgrm FILE",
            ));
        };
        std::fs::create_dir_all(folder).map_err(|error| {
            Failure::system(format!("{} can't be made ({error}); check --hgrm", folder.display()))
        })?;
        let mut written = 0;
        for trial in trials {
            if let Some(times) = times_of(dir, trial)? {
                write_into_run(&folder.join(format!("{:04}.hgrm", trial.index)), hgrm(&times).as_bytes())?;
                written += 1;
            }
        }
        if written == 0 {
            let dir = dir.display();
            let what = "has no measured trial with an interval log, from which percentiles are made";
            return Err(Failure::usage(format!("{dir} {what}; other drivers than proofload keep none")));
        }
        Ok(())
    }
}

/// The response times of a measured trial in full. `None` where its driver kept none.
fn times_of(dir: &Path, trial: &Trial) -> Result<Option<stats::Distribution>, Failure> {
    let TrialResult::Measured(measured) = &trial.result else { return Ok(None) };
    let trial_dir = RunDir::trial_path(dir, trial.index);
    let intervals = read_interval_log(&trial_dir).map_err(Failure::usage)?;
    if intervals.is_empty() {
        return Ok(None);
    }
    let (times, told) = (LoggedInterval::whole(&intervals), measured.load.response_time_us.count);
    if times.count() != told {
        return Err(Failure::usage(format!(
            "the interval log in {} has {} response times of {told}: it was cut short, so copy the run anew",
            trial_dir.display(),
            times.count()
        )));
    }
    Ok(Some(times))
}

fn families_of_load(result: &LoadResult) -> Vec<Family> {
    let (validity, labels) = (explain::audit(result), load_labels(result));
    of_load(&ExportedLoad { result, validity: &validity, response_times: None, labels: &labels, span: None })
}

fn read_text(name: &str, from: impl Read) -> Result<String, Failure> {
    let mut text = String::new();
    from.take(RESULT_BYTES_MAX + 1)
        .read_to_string(&mut text)
        .map_err(|error| Failure::usage(format!("{name} can't be read ({error}); {RECORDS}")))?;
    if text.len() as u64 > RESULT_BYTES_MAX {
        return Err(Failure::usage(format!(
            "{name} has more than {} MiB: it is no result",
            RESULT_BYTES_MAX >> 20
        )));
    }
    Ok(text)
}

fn write_or_print(path: &Path, text: &str) -> Result<(), Failure> {
    // The line end of the last line is the printer's.
    if path == Path::new("-") {
        print_quoted(text.trim_end_matches('\n'))
    } else {
        write_whole(path, text.as_bytes())
    }
}
