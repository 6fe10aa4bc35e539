//! What is made of a load beside its result, while it goes on.

use std::path::Path;

use events::Moment;
use explain::LoadsBefore;
use plan::gate::Baseline;
use plan::{PlanError, toml_file};
use record::{GateAnswer, GateResult, IntervalLog, LoadResult};
use serde::Deserialize;
use units::Share;

use super::files::Percentiles;
use super::stop::Stop;
use crate::arguments::Hit;
use crate::exit::Failure;
use crate::gate::LoadGate;

/// The longest result of a load that is read, bytes: one of a day has some 30 MB of seconds.
const EARLIER_BYTES_MAX: u64 = 64 << 20;

/// Results that are read of a folder: who keeps more makes another one for each year.
const LOADS_MAX: usize = 1_000;

/// A percentile file, a gate, a reason to end and an earlier load, where they were asked for.
pub struct Beside<'a> {
    pub percentiles: Option<Percentiles<'a>>,
    pub gate: Option<LoadGate<'a>>,
    pub stop: Option<Stop>,
    pub earlier: Option<LoadResult>,
}

impl<'a> Beside<'a> {
    /// Before the load, so that nothing is measured for what can't be. It makes so many requests at most, where that is known.
    pub fn open(arguments: &'a Hit, requests_max: Option<u64>) -> Result<Self, Failure> {
        let earlier = arguments.compare_to.as_deref().map(|path| {
            let text = toml_file::read_up_to(path, EARLIER_BYTES_MAX)?;
            LoadResult::from_json(path, &text).map_err(Failure::usage)
        });
        let before = arguments.against.baseline.as_deref();
        let before = before.map(|folder| loads_in(folder, arguments.against.max_loss)).transpose()?;
        Ok(Self {
            gate: LoadGate::open(&arguments.gate, before, requests_max)?,
            stop: Stop::open(&arguments.stop_if, requests_max)?,
            earlier: earlier.transpose()?,
            percentiles: Percentiles::open(arguments)?,
        })
    }

    /// Takes in what a load tells of itself, and says whether it is to end now.
    #[must_use]
    pub fn see(&mut self, moment: &Moment<'_>, is_interrupted: bool) -> bool {
        if let Some(it) = &mut self.percentiles {
            it.see(moment);
        }
        if let Some(it) = &mut self.gate {
            it.see(moment);
        }
        // What was under way when somebody ended it failed by that.
        self.stop.as_mut().is_some_and(|it| it.has_held() || !is_interrupted && it.see(moment))
    }
}

/// The interval log, if one is asked for: before the load, as all that is made of it.
pub fn log(arguments: &Hit) -> Result<Option<IntervalLog>, Failure> {
    let made = arguments.hlog.as_ref().map(IntervalLog::create).transpose();
    made.map_err(|why| Failure::system(format!("--hlog: {why}")))
}

/// Whether all of it was written.
pub fn is_whole(log: Option<&IntervalLog>) -> Result<(), Failure> {
    log.map_or(Ok(()), IntervalLog::written).map_err(|why| Failure::system(format!("--hlog: {why}")))
}

/// What lies beside a load's result where it was held against a gate.
#[derive(Deserialize)]
struct Gated {
    gate: Option<GateResult>,
}

/// The loads whose results lie in `folder`. One that failed its own gate is no measure for others, and what is no result is passed
/// over.
fn loads_in(folder: &Path, max_loss: Option<Share>) -> Result<LoadsBefore, Failure> {
    let name = folder.display();
    let unreadable = |error: std::io::Error| {
        let help = "name the folder in which results lie, as --json prints them";
        Failure::usage(format!("{name} can't be read as a folder ({error}); {help}"))
    };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        // A pipe would keep the load waiting, and a folder is no result.
        if path.extension().is_some_and(|it| it == "json") && path.is_file() {
            paths.push(path);
        }
    }
    if paths.len() > LOADS_MAX {
        let what = format!("{name} has {} results, and at most {LOADS_MAX} are read", paths.len());
        return Err(PlanError::new(what, "name a folder with the newest of them").into());
    }
    let mut before = LoadsBefore::new(name.to_string(), max_loss.unwrap_or_else(Baseline::max_loss_default));
    for path in paths {
        let text = toml_file::read_up_to(&path, EARLIER_BYTES_MAX)?;
        let Ok(result) = LoadResult::from_json(&path, &text) else { continue };
        let gate = serde_json::from_str::<Gated>(&text).ok().and_then(|it| it.gate);
        if gate.is_none_or(|it| it.answer != GateAnswer::Failed) {
            before.add(&result);
        }
    }
    Ok(before)
}
