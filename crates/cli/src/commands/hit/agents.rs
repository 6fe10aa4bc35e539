//! One load on several machines.

use std::process::ExitCode;
use std::sync::Arc;

use driver::Control;
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

/// What several machines are to carry together.
pub struct Several<'a> {
    /// What is loaded.
    pub target: &'a HttpTarget,
    /// How.
    pub plan: &'a LoadPlan,
    /// What a good answer looks like.
    pub expect: &'a Expect,
    host: String,
    port: u16,
}

impl<'a> Several<'a> {
    /// Refuses what is for one machine alone.
    pub fn new(
        arguments: &Hit,
        target: &'a HttpTarget,
        plan: &'a LoadPlan,
        expect: &'a Expect,
    ) -> Result<Self, Failure> {
        if target.is_secured {
            let what = format!("{} is https, and a load on several machines is plain http", target.url);
            return Err(PlanError::new(what, "write http://, or leave --hosts and --on out").into());
        }
        let (host, port) = request::where_to(&arguments.request, &target.host, target.port)?;
        Ok(Self { target, plan, expect, host, port })
    }

    /// The load, in words of the lab.
    pub fn asked<'s>(&'s self, arguments: &'s Hit) -> Asked<'s> {
        Asked {
            url: &self.target.url,
            host: &self.host,
            port: self.port,
            request: &self.target.request,
            expect: self.expect,
            plan: self.plan,
            interval_log: arguments.hlog.as_deref(),
            version: env!("PROOFLOAD_VERSION"),
        }
    }
}

/// Carries it out on machines that are reached by commands.
pub fn run(arguments: &Hit, several: &Several<'_>, fleet: Arc<dyn Fleet>) -> Result<ExitCode, Failure> {
    let control = interrupt::on_signals()?;
    carry(arguments, &several.asked(arguments), fleet, &control)
}

/// Carries it out.
pub fn carry(
    arguments: &Hit,
    asked: &Asked<'_>,
    fleet: Arc<dyn Fleet>,
    control: &Arc<Control>,
) -> Result<ExitCode, Failure> {
    let mut beside = Beside::open(arguments)?;
    let mut progress = LoadProgress::new(asked.url, asked.plan, audience(arguments))?;
    let mut observe = |moment: Moment<'_>| {
        if beside.see(&moment) {
            control.interrupt();
        }
        progress.observe(&moment);
    };
    let result = lab::agents::run(asked, fleet, control, &mut observe);
    progress.finish(result.as_ref().err(), control);
    if let (Err(why), true) = (&result, control.is_interrupted()) {
        say(format_args!("proofload: {why}"));
        return Ok(ExitCode::from(exit::INTERRUPTED));
    }
    let code = finish(arguments, result?, beside, Ok(()))?;
    progress.linger(control);
    Ok(code)
}
