//! One load on several machines.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use driver::Control;
use engine::Expect;
use events::Moment;
use lab::LabError;
use lab::agents::{Asked, Fleet, Ledger, Listening, Reached, Secured};
use plan::{HttpTarget, LoadPlan, PlanError};
use record::{IntervalLog, LoadResult};

use super::beside::{self, Beside};
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
    /// Connections or rate, times, bounds.
    pub plan: &'a LoadPlan,
    /// What a good answer looks like.
    pub expect: &'a Expect,
    /// How its connections are secured, if they are.
    tls: Option<Secured>,
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
        settings: &tls::Settings,
    ) -> Result<Self, Failure> {
        if let Some(option) = arguments.request.way() {
            let what = format!("{option} is for a load of one machine");
            return Err(PlanError::new(what, "leave it out, or leave --hosts, --agents and --on out").into());
        }
        if arguments.save_responses.is_some() {
            let what = "--save-responses is for a load of one machine";
            return Err(PlanError::new(what, "leave it out, or leave --hosts, --agents and --on out").into());
        }
        let (host, port) = request::where_to(&arguments.request, &target.host, target.port)?;
        let tls = Secured::new(target, plan.http, settings)?;
        Ok(Self { target, plan, expect, tls, host, port })
    }

    /// What is made of it beside its result.
    pub fn beside<'s>(&self, arguments: &'s Hit) -> Result<Beside<'s>, Failure> {
        Beside::open(arguments, self.plan.requests_max())
    }

    /// The load, in words of the lab.
    pub fn asked<'s>(&'s self, log: Option<&'s IntervalLog>) -> Asked<'s> {
        Asked {
            url: &self.target.url,
            host: &self.host,
            port: self.port,
            request: &self.target.request,
            expect: self.expect,
            plan: self.plan,
            tls: self.tls.as_ref(),
            interval_log: log,
            version: env!("PROOFLOAD_VERSION"),
        }
    }
}

/// Refuses to keep a ledger of a load that nobody could take over.
pub fn no_ledger(arguments: &Hit, of: &str) -> Result<(), PlanError> {
    if arguments.agents.ledger.is_none() {
        return Ok(());
    }
    let what = format!("--ledger is for loads that outlive who conducts them, and not for one {of}");
    let help = "start `proofload agent --listen` on each machine and name them with --agents, or use --on kubernetes";
    Err(PlanError::new(what, help))
}

/// Carries it out on machines that are reached by commands.
pub fn run(arguments: &Hit, several: &Several<'_>, fleet: Arc<dyn Fleet>) -> Result<ExitCode, Failure> {
    no_ledger(arguments, "of --hosts, whose agents end with their streams")?;
    several.asked(None).check(fleet.names().len())?;
    let (beside, log) = (several.beside(arguments)?, beside::log(arguments)?);
    let control = interrupt::on_signals()?;
    let asked = several.asked(log.as_ref());
    carry(arguments, (beside, log.as_ref()), (asked.url, asked.plan), &control, |observe| {
        lab::agents::run(&asked, fleet, None, &control, observe)
    })
}

/// Carries it out by agents that listen.
pub fn run_listening(
    arguments: &Hit,
    several: &Several<'_>,
    fleet: Arc<Listening>,
) -> Result<ExitCode, Failure> {
    several.asked(None).check(fleet.names().len())?;
    let (beside, log) = (several.beside(arguments)?, beside::log(arguments)?);
    let control = interrupt::on_signals()?;
    let reached = Reached::Listening(arguments.agents.listening.clone());
    let asked = several.asked(log.as_ref());
    conduct(arguments, beside, &asked, fleet, reached, &control, std::convert::identity)
}

/// Carries it out by agents that outlive us, with a ledger where one is asked for. What it came to is completed before it is shown.
pub fn conduct(
    arguments: &Hit,
    beside: Beside<'_>,
    asked: &Asked<'_>,
    fleet: Arc<dyn Fleet>,
    reached: Reached,
    control: &Arc<Control>,
    complete: impl FnOnce(LoadResult) -> LoadResult,
) -> Result<ExitCode, Failure> {
    let names = fleet.names();
    asked.check(names.len())?;
    let create = |dir: &PathBuf| Ledger::create(dir, asked, names, reached);
    let mut ledger = arguments.agents.ledger.as_ref().map(create).transpose()?;
    let code = carry(arguments, (beside, asked.interval_log), (asked.url, asked.plan), control, |observe| {
        lab::agents::run(asked, fleet, ledger.as_mut(), control, observe).map(complete)
    });
    if let Some(why) = ledger.as_ref().and_then(Ledger::trouble) {
        say(format_args!("proofload: {why}; from there on the load could not have been taken over"));
    }
    code
}

/// Shows a load of a plan on a URL, which `load` carries out, and what it came to. What is made of it beside, and its log, were
/// opened before anything is reached: a mistake in them must cost nobody a load.
pub fn carry(
    arguments: &Hit,
    (mut beside, log): (Beside<'_>, Option<&IntervalLog>),
    (url, plan): (&str, &LoadPlan),
    control: &Arc<Control>,
    load: impl FnOnce(&mut dyn FnMut(Moment<'_>)) -> Result<LoadResult, LabError>,
) -> Result<ExitCode, Failure> {
    let mut progress = LoadProgress::new(url, plan, audience(arguments))?;
    let mut observe = |moment: Moment<'_>| {
        if beside.see(&moment, control.is_interrupted()) {
            control.interrupt();
        }
        progress.observe(&moment);
    };
    let result = load(&mut observe);
    progress.finish(result.as_ref(), control);
    if let (Err(why), true) = (&result, control.is_interrupted()) {
        say(format_args!("proofload: {why}"));
        return Ok(ExitCode::from(exit::INTERRUPTED));
    }
    let code = finish(arguments, result?, beside, beside::is_whole(log))?;
    progress.linger(control);
    Ok(code)
}
