//! Agents in the pods of a cluster, for whatever has loads to be carried.

use std::process::ExitCode;

use kubernetes::{Cluster, Error, Pods, Streams, Wanted};
use lab::agents::{Broken, Fleet, Line, Open, check_count};
use plan::PlanError;
use units::Duration;

use crate::arguments::kubernetes::Kubernetes;
use crate::exit::{self, Failure};
use crate::output::{print, say};

/// How long it may take until all pods run, where nobody says.
const RUN_WITHIN: Duration = Duration::from_secs(300);

/// Prints who may do this, or look at a server from within its pods.
pub fn print_rbac(watches_pods: bool) -> Result<ExitCode, Failure> {
    let roles = if watches_pods { kubernetes::RBAC_WATCH_PODS } else { kubernetes::RBAC };
    print(roles.trim_end())?;
    Ok(ExitCode::from(exit::OK))
}

/// Prints what would be created.
pub fn print_manifest(options: &Kubernetes, wanted: &Wanted) -> Result<ExitCode, Failure> {
    print(wanted.manifest(options.namespace.as_deref()).trim_end())?;
    Ok(ExitCode::from(exit::OK))
}

/// How many loads pods are for.
#[derive(Debug, Clone, Copy)]
pub enum For {
    /// One, which takes so long at most, where that is known.
    OneLoad(Option<Duration>),
    /// One after the other, for nobody knows how long.
    Loads,
}

/// What is to be created.
pub fn wanted(options: &Kubernetes, loads: For) -> Result<Wanted, PlanError> {
    let Some(pods) = options.pods else {
        return Err(PlanError::new("nobody says how many pods", "give --pods, 1 to 200"));
    };
    let Some(image) = options.image.clone() else {
        let help = format!("give --image one of proofload {} (docs/cluster.md)", env!("PROOFLOAD_VERSION"));
        return Err(PlanError::new("the image of the pods is not known", help));
    };
    check_count(pods as usize)?;
    let ready_within = options.ready_timeout.unwrap_or(RUN_WITHIN);
    if ready_within > agent::KEPT_FOR {
        let what = format!("an agent that runs waits for the others for {}", agent::KEPT_FOR);
        return Err(PlanError::new(what, "give --ready-timeout no more than that"));
    }
    let (load, again) = match loads {
        For::OneLoad(length) => (length.map(Into::into), false),
        For::Loads => (None, true),
    };
    Ok(Wanted {
        run: Wanted::random_run(),
        pods,
        image,
        cpu: options.cpu.text().to_owned(),
        memory: options.memory.clone(),
        ready_within: ready_within.into(),
        load,
        again,
    })
}

/// The cluster that the options name.
pub fn connect(options: &Kubernetes) -> Result<Cluster, Error> {
    Cluster::connect(options.context.as_deref(), options.namespace.as_deref())
}

/// Creates what is wanted, and waits until all of it runs. `tell` is told how far that is; what could not be deleted after an
/// error is said, however quiet it is to be.
pub fn start(
    cluster: &Cluster,
    wanted: &Wanted,
    tell: &mut dyn FnMut(&str),
    is_interrupted: &dyn Fn() -> bool,
) -> Result<Pods, Error> {
    let Wanted { pods, image, cpu, memory, .. } = wanted;
    let (place, namespace) = (cluster.place(), cluster.namespace());
    tell(&format!(
        "{place}, namespace {namespace}: {pods} pods of {image}, each with cpu {cpu}, memory {memory}"
    ));
    Pods::start(cluster, wanted, tell, &mut say_left, is_interrupted)
}

/// What keeps a cluster from carrying a load, as the end of a command.
pub fn failure(why: Error) -> Failure {
    if why.is_usage() { Failure::usage(why) } else { Failure::unreachable(why) }
}

/// Leaves nothing behind, or says what is.
pub fn end(pods: &Pods) {
    pods.end();
    if let Some(left) = pods.left() {
        say_left(&left);
    }
}

fn say_left(left: &str) {
    say(format_args!("proofload: {left}"));
}

/// Pods as machines of one load, which are called so, and what its end means for them.
pub struct InPods<E> {
    /// The ways to them.
    pub streams: Streams,
    /// What they are called.
    pub names: Vec<String>,
    /// The streams that agents have not ended.
    pub open: Open,
    /// What there is to do at the end of the load.
    pub at_end: E,
}

impl<E: Fn(&Streams, &Open) + Send + Sync> Fleet for InPods<E> {
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    fn open(&self, agent: usize) -> Result<Line, Broken> {
        let (output, input) = self.streams.open(agent).map_err(broken)?;
        Ok(Line { input: Box::new(input), output: Box::new(self.open.counted(output)) })
    }

    fn ended(&self, agent: usize, why: String) -> Broken {
        broken(self.streams.ended(agent, why))
    }

    fn end(&self) {
        (self.at_end)(&self.streams, &self.open);
    }
}

fn broken(why: kubernetes::Broken) -> Broken {
    match why {
        kubernetes::Broken::ForNow(why) => Broken::ForNow(why),
        kubernetes::Broken::ForGood(why) => Broken::ForGood(why),
    }
}
