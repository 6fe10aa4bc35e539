//! `proofload history`: a figure over recorded runs.

use std::process::ExitCode;

use explain::{HistoryFilter, HistoryMetric, points_of_run, series_of};
use record::Versions;
use report::history_text;

use crate::arguments::history::{History, Metric};
use crate::exit::Failure;
use crate::kept;
use crate::output::{print, print_json, say};
use crate::recorded::Recorded;

/// Version of the JSON.
const HISTORY_VERSION: u32 = 1;

/// Runs the command.
pub fn run(arguments: &History) -> Result<ExitCode, Failure> {
    let metric = match arguments.metric {
        Metric::Goodput => HistoryMetric::Goodput,
        Metric::Cpu => HistoryMetric::Cpu,
        Metric::P99 => HistoryMetric::P99,
    };
    let filter = HistoryFilter {
        stack: arguments.stack.clone(),
        round: arguments.round.clone(),
        load: arguments.load.clone(),
    };
    let (mut points, mut runs, mut unreadable) = (Vec::new(), 0_usize, 0_usize);
    let folder = kept::folder(arguments.runs.as_deref())?;
    for dir in kept::run_dirs(&folder)? {
        // One at a time: a record has far more than is shown of it here.
        match Recorded::read(&dir).and_then(|run| Ok((run, Versions::of_run(&dir)?))) {
            Ok((run, versions)) => {
                runs += 1;
                points.extend(points_of_run(run.as_run(), versions.as_ref(), metric, &filter));
            }
            Err(why) => {
                unreadable += 1;
                say(format_args!("proofload: left out: {why}"));
            }
        }
    }
    let series = series_of(points, metric);
    if series.is_empty() {
        let dir = folder.display();
        return Err(Failure::usage(match (runs, unreadable) {
            (0, 0) => {
                format!("{dir} holds no recorded run; name the folder that `proofload run --runs` wrote to")
            }
            (0, _) => format!("none of the runs in {dir} can be read; what is wrong with each is said above"),
            _ => format!(
                "none of {runs} runs in {dir} has a trial of such a cell; `proofload report RUN` shows what one has"
            ),
        }));
    }
    if arguments.json {
        let json = serde_json::json!({ "version": HISTORY_VERSION, "series": series });
        print_json(&serde_json::to_string_pretty(&json).expect("it is plain data"))?;
    } else {
        print(history_text(&series).trim_end())?;
    }
    Ok(ExitCode::SUCCESS)
}
