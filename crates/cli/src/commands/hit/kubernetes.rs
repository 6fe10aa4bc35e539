//! One load from the pods of a cluster.

use std::process::ExitCode;
use std::sync::Arc;

use kubernetes::{Cluster, Error, Pods, Wanted};
use lab::agents::{Asked, Broken, Fleet, Left, Line, Reached};
use plan::{LoadPlan, PlanError};
use units::Duration;

use super::agents::{self, Several};
use super::beside::Beside;
use super::resume;
use crate::arguments::Hit;
use crate::exit::{self, Failure};
use crate::interrupt;
use crate::output::{print, say};

/// How long it may take until all pods run, where nobody says.
const READY_WITHIN: Duration = Duration::from_secs(300);

/// Prints who may do this.
pub fn print_rbac() -> Result<ExitCode, Failure> {
    print(kubernetes::RBAC.trim_end())?;
    Ok(ExitCode::from(exit::OK))
}

/// Carries it out, or prints what would be created for it.
pub fn run(arguments: &Hit, several: &Several<'_>) -> Result<ExitCode, Failure> {
    let asked = several.asked(arguments);
    let wanted = wanted(arguments, &asked)?;
    let options = &arguments.kubernetes;
    if options.manifest {
        print(wanted.manifest(options.namespace.as_deref()).trim_end())?;
        return Ok(ExitCode::from(exit::OK));
    }
    let beside = Beside::open(arguments)?;
    let control = interrupt::on_signals()?;
    let tell = |text: &str| {
        if !arguments.quiet {
            say(format_args!("proofload: {text}"));
        }
    };
    let begun =
        Cluster::connect(options.context.as_deref(), options.namespace.as_deref()).and_then(|cluster| {
            let Wanted { pods, image, cpu, memory, .. } = &wanted;
            let (place, namespace) = (cluster.place(), cluster.namespace());
            tell(&format!(
                "{place}, namespace {namespace}: {pods} pods of {image}, each with cpu {cpu}, memory {memory}"
            ));
            let pods =
                Pods::start(&cluster, &wanted, &mut |state| tell(state), &|| control.is_interrupted())?;
            Ok((cluster, Arc::new(pods)))
        });
    let (cluster, pods) = match begun {
        Ok(begun) => begun,
        Err(Error::Interrupted) => {
            say(format_args!("proofload: {}", Error::Interrupted));
            return Ok(ExitCode::from(exit::INTERRUPTED));
        }
        Err(why) => return Err(failure(why)),
    };
    let reached = Reached::Pods {
        context: cluster.context().map(str::to_owned),
        namespace: cluster.namespace().to_owned(),
        run: wanted.run.clone(),
        pods: pods.places(),
    };
    let fleet = Arc::new(InPods(Arc::clone(&pods)));
    let code = agents::conduct(arguments, beside, &asked, fleet, reached, &control);
    ended(&pods);
    code
}

/// Takes over a load from the pods of a run, whose names and nodes are `pods`.
pub fn resume(
    arguments: &Hit,
    beside: Beside<'_>,
    left: Left,
    (context, namespace): (Option<&str>, &str),
    run: &str,
    pods: &[(String, String)],
) -> Result<ExitCode, Failure> {
    let control = interrupt::on_signals()?;
    let cluster = Cluster::connect(context, Some(namespace)).map_err(failure)?;
    let pods = Arc::new(Pods::adopt(&cluster, run, pods));
    let code = resume::take_over(arguments, beside, left, Arc::new(InPods(Arc::clone(&pods))), &control);
    ended(&pods);
    code
}

fn failure(why: Error) -> Failure {
    if why.is_usage() { Failure::usage(why) } else { Failure::unreachable(why) }
}

/// Leaves nothing behind, or says what is.
fn ended(pods: &Pods) {
    // After an error nobody else may have.
    pods.end();
    if let Some(left) = pods.left() {
        say(format_args!("proofload: {left}"));
    }
}

/// What is to be created.
fn wanted(arguments: &Hit, asked: &Asked<'_>) -> Result<Wanted, PlanError> {
    let options = &arguments.kubernetes;
    let Some(pods) = options.pods else {
        return Err(PlanError::new("nobody says how many pods", "give --pods, 1 to 200"));
    };
    let Some(image) = options.image.clone() else {
        let help = format!("give --image one of proofload {} (docs/cluster.md)", asked.version);
        return Err(PlanError::new("the image of the pods is not known", help));
    };
    asked.check(pods as usize)?;
    let ready_within = options.ready_timeout.unwrap_or(READY_WITHIN);
    if ready_within > agent::KEPT_FOR {
        let what = format!("an agent that runs waits for the others for {}", agent::KEPT_FOR);
        return Err(PlanError::new(what, "give --ready-timeout no more than that"));
    }
    Ok(Wanted {
        run: Wanted::random_run(),
        pods,
        image,
        cpu: options.cpu.text().to_owned(),
        memory: options.memory.clone(),
        ready_within: ready_within.into(),
        load: length(asked.plan).map(Into::into),
    })
}

/// How long a load takes at most once its pods run, and agents wait for whoever takes it over; `None` where only its requests are
/// counted out.
fn length(plan: &LoadPlan) -> Option<Duration> {
    let measured = Some(plan.stop.duration).filter(|it| *it != Duration::MAX)?;
    Some(lab::agents::READY_WITHIN + plan.warm_up + measured + plan.timeouts.drain + agent::KEPT_FOR)
}

/// Pods as machines of a load.
struct InPods(Arc<Pods>);

impl Fleet for InPods {
    fn names(&self) -> Vec<String> {
        self.0.names()
    }

    fn open(&self, agent: usize) -> Result<Line, Broken> {
        let (output, input) = self.0.open(agent).map_err(broken)?;
        Ok(Line { input: Box::new(input), output: Box::new(output) })
    }

    fn ended(&self, agent: usize, why: String) -> Broken {
        broken(self.0.ended(agent, why))
    }

    fn end(&self) {
        self.0.end();
    }
}

fn broken(why: kubernetes::Broken) -> Broken {
    match why {
        kubernetes::Broken::ForNow(why) => Broken::ForNow(why),
        kubernetes::Broken::ForGood(why) => Broken::ForGood(why),
    }
}
