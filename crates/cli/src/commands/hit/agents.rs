//! One load on several machines.

use std::process::ExitCode;

use engine::Expect;
use events::Moment;
use lab::agents::{Asked, Fleet};
use plan::{HttpTarget, LoadPlan, PlanError};

use super::beside::Beside;
use super::{audience, finish, request};
use crate::arguments::Hit;
use crate::exit::{self, Failure};
use crate::interrupt;
use crate::output::say;
use crate::progress::LoadProgress;

/// Carries it out.
pub fn run(
    arguments: &Hit,
    fleet: &Fleet,
    target: &HttpTarget,
    plan: &LoadPlan,
    expect: &Expect,
) -> Result<ExitCode, Failure> {
    if target.is_secured {
        let what = format!("{} is https, and a load on several machines is plain http", target.url);
        return Err(PlanError::new(what, "write http://, or leave --hosts out").into());
    }
    let (host, port) = request::where_to(&arguments.request, &target.host, target.port)?;
    let asked = Asked {
        url: &target.url,
        host: &host,
        port,
        request: &target.request,
        expect,
        plan,
        interval_log: arguments.hlog.as_deref(),
        version: env!("PROOFLOAD_VERSION"),
    };
    let mut beside = Beside::open(arguments)?;
    let control = interrupt::on_signals()?;
    let mut progress = LoadProgress::new(&target.url, plan, audience(arguments))?;
    let mut observe = |moment: Moment<'_>| {
        if beside.see(&moment) {
            control.interrupt();
        }
        progress.observe(&moment);
    };
    let result = lab::agents::run(&asked, fleet, &control, &mut observe);
    progress.finish(result.as_ref().err(), &control);
    if let (Err(why), true) = (&result, control.is_interrupted()) {
        say(format_args!("proofload: {why}"));
        return Ok(ExitCode::from(exit::INTERRUPTED));
    }
    let code = finish(arguments, result?, beside, Ok(()))?;
    progress.linger(&control);
    Ok(code)
}
