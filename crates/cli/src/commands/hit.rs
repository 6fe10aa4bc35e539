//! `proofload hit`: one load.

use std::path::Path;
use std::process::ExitCode;

use engine::Expect;
use lab::load::{Job, resolve, run as run_load};
use plan::{HttpTarget, LoadPlan, PlanError, RequestArguments};
use report::{HitReport, hit_text};

use crate::arguments::Hit;
use crate::exit::{self, Failure};
use crate::interrupt;
use crate::output::print;
use crate::progress::LoadProgress;

/// Runs the command.
pub fn run(arguments: &Hit) -> Result<ExitCode, Failure> {
    let plan = LoadPlan::new(&arguments.load())?;
    let target = HttpTarget::new(&RequestArguments {
        url: arguments.url.clone(),
        method: arguments.method.clone(),
        headers: arguments.headers.clone(),
        body: body(arguments)?,
        close: arguments.no_keep_alive,
    })?;
    let expect = Expect {
        status: arguments.expect_status,
        body: arguments.expect_body.as_ref().map(|body| body.as_bytes().into()),
    };
    let targets = resolve(&target.host, target.port)?;
    let job = Job {
        url: &target.url,
        targets: &targets,
        request: &target.request,
        expect: &expect,
        plan: &plan,
        interval_log: arguments.hlog.as_deref(),
    };
    let control = interrupt::on_signals()?;
    let mut progress = LoadProgress::new(&plan, arguments.quiet, arguments.json);
    let result = run_load(&job, &control, &mut |moment| progress.observe(&moment));
    progress.finish();
    let report = HitReport::new(result?);
    print(&if arguments.json { report.json() } else { hit_text(&report) })?;
    Ok(ExitCode::from(code(&report)))
}

fn body(arguments: &Hit) -> Result<Vec<u8>, PlanError> {
    match (&arguments.body, &arguments.body_file) {
        (Some(text), _) => Ok(text.as_bytes().to_vec()),
        (None, Some(path)) => read_body(path),
        (None, None) => Ok(Vec::new()),
    }
}

fn read_body(path: &Path) -> Result<Vec<u8>, PlanError> {
    std::fs::read(path).map_err(|error| {
        PlanError::new(format!("the body cannot be read ({error})"), "check --body-file").in_file(path)
    })
}

fn code(report: &HitReport) -> u8 {
    let service_failed = report.validity.reasons.iter().any(|reason| reason.kind.is_services_fault());
    match (report.result.interrupted, service_failed) {
        (true, _) => exit::INTERRUPTED,
        (false, true) => exit::SERVICE,
        (false, false) => exit::OK,
    }
}
