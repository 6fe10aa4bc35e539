//! One load from the pods of a cluster.

use std::process::ExitCode;
use std::sync::Arc;

use driver::monotonic_now;
use kubernetes::{Cluster, Error, Found, Looking, Pods, Streams, Wanted, Watch, Watching};
use lab::agents::{Fleet, Left, Open, Reached};
use plan::{LoadPlan, PlanError};
use record::{IntervalLog, LoadResult, ServerPods};
use units::{Duration, Instant};

use super::agents::{self, Several};
use super::beside::{self, Beside};
use super::resume;
use crate::arguments::Hit;
use crate::arguments::kubernetes::{Server, Watched};
use crate::exit::{self, Failure};
use crate::interrupt;
use crate::output::say;
use crate::pods::{self, For, InPods};

/// Carries it out, or prints what would be created for it. Meanwhile the pods of `server` are watched.
pub fn run(arguments: &Hit, several: &Several<'_>, server: Option<Server<'_>>) -> Result<ExitCode, Failure> {
    let options = &arguments.kubernetes;
    let wanted = pods::wanted(options, For::OneLoad(length(several.plan)))?;
    if server.is_some_and(|it| it.by == Watched::Pods) {
        in_time_to_look(&wanted)?;
    }
    several.asked(None).check(wanted.pods as usize)?;
    if options.manifest {
        return pods::print_manifest(options, &wanted);
    }
    let (beside, log) = (several.beside(arguments)?, beside::log(arguments)?);
    let asked = several.asked(log.as_ref());
    let control = interrupt::on_signals()?;
    let mut tell = |text: &str| {
        if !arguments.quiet {
            say(format_args!("proofload: {text}"));
        }
    };
    let begun = pods::connect(options).and_then(|cluster| {
        let is_interrupted = || control.is_interrupted();
        let found = server.map(|server| ToWatch::find(&cluster, server)).transpose()?;
        let pods = Arc::new(pods::start(&cluster, &wanted, &mut tell, &is_interrupted)?);
        let begin = |found: ToWatch| found.begin(&wanted, asked.port, &mut tell, &is_interrupted);
        let watching = found.map(begin).transpose();
        if watching.is_err() {
            pods::end(&pods);
        }
        Ok((cluster, pods, watching?))
    });
    let (cluster, pods, watching) = match begun {
        Ok(begun) => begun,
        Err(Error::Interrupted) => {
            say(format_args!("proofload: {}", Error::Interrupted));
            return Ok(ExitCode::from(exit::INTERRUPTED));
        }
        Err(why) => return Err(pods::failure(why)),
    };
    let reached = Reached::Pods {
        context: cluster.context().map(str::to_owned),
        namespace: cluster.namespace().to_owned(),
        run: wanted.run.clone(),
        pods: pods.places(),
    };
    let complete = |result| with_server_pods(result, watching);
    let code = agents::conduct(arguments, beside, &asked, fleet(&pods), reached, &control, complete);
    // After an error nobody else may have.
    pods::end(&pods);
    code
}

/// Refuses to wait so long for pods that agents are gone before the server is looked at.
fn in_time_to_look(wanted: &Wanted) -> Result<(), PlanError> {
    let most = std::time::Duration::from(agent::KEPT_FOR).saturating_sub(kubernetes::LOOKED_AT_WITHIN);
    if wanted.ready_within <= most {
        return Ok(());
    }
    let (kept, most_s) = (agent::KEPT_FOR, most.as_secs());
    let what =
        format!("an agent that runs waits for the others, and for who looks at the server, for {kept}");
    Err(PlanError::new(what, format!("give --ready-timeout no more than {most_s}s with --watch pods")))
}

/// The pods of the server, before the load.
enum ToWatch {
    ByMetrics(Watch),
    FromWithin(Found),
}

/// The same, meanwhile.
enum Watches {
    ByMetrics(Watching),
    FromWithin(Box<Looking>),
}

impl ToWatch {
    /// Finds them, before anything is created.
    fn find(cluster: &Cluster, server: Server<'_>) -> Result<Self, Error> {
        let Server { by, labels, namespace, container } = server;
        match by {
            Watched::Metrics => Watch::open(cluster, labels, namespace).map(Self::ByMetrics),
            Watched::Pods => Found::look(cluster, labels, namespace, container).map(Self::FromWithin),
        }
    }

    fn begin(
        self,
        wanted: &Wanted,
        port: u16,
        tell: &mut dyn FnMut(&str),
        is_interrupted: &dyn Fn() -> bool,
    ) -> Result<Watches, Error> {
        match self {
            Self::ByMetrics(watch) => watch.begin().map(Watches::ByMetrics),
            Self::FromWithin(found) => {
                tell("a container that looks is put into each pod of the server");
                let version = (env!("PROOFLOAD_VERSION"), monotonic_now as fn() -> Instant);
                let looking = found.begin(&wanted.run, &wanted.image, port, version, is_interrupted)?;
                Ok(Watches::FromWithin(Box::new(looking)))
            }
        }
    }
}

impl Watches {
    /// What is known of them in a window that began at this instant.
    fn end(self, start: Instant, length: Duration) -> ServerPods {
        match self {
            Self::ByMetrics(watching) => watching.end(monotonic_now().since(start).into(), length.into()),
            Self::FromWithin(looking) => looking.end(start, length.into()),
        }
    }
}

/// The result with what is known of the server's pods, where these were watched.
fn with_server_pods(result: LoadResult, watching: Option<Watches>) -> LoadResult {
    let Some(watching) = watching else { return result };
    let start = Instant::from_nanos(result.window.start_monotonic_ns);
    let length = Duration::from_secs_f64(result.window.duration_s);
    LoadResult { server_pods: Some(watching.end(start, length)), ..result }
}

/// Takes over a load from the pods of a run, whose names and nodes are `pods`.
pub fn resume(
    arguments: &Hit,
    made: (Beside<'_>, Option<&IntervalLog>),
    left: Left,
    (context, namespace): (Option<&str>, &str),
    run: &str,
    pods: &[(String, String)],
) -> Result<ExitCode, Failure> {
    let control = interrupt::on_signals()?;
    let cluster = Cluster::connect(context, Some(namespace)).map_err(pods::failure)?;
    let pods = Arc::new(Pods::adopt(&cluster, run, pods));
    let code = resume::take_over(arguments, made, left, fleet(&pods), &control);
    pods::end(&pods);
    code
}

/// Pods whose only load ends with them.
fn fleet(pods: &Arc<Pods>) -> Arc<dyn Fleet> {
    let at_end = |streams: &Streams, _: &Open| {
        streams.abort();
        streams.pods().end();
    };
    let streams = Streams::new(Arc::clone(pods));
    Arc::new(InPods { names: pods.names(), streams, open: Open::default(), at_end })
}

/// How long a load takes at most once its pods run, and agents wait for whoever takes it over; `None` where only its requests are
/// counted out.
fn length(plan: &LoadPlan) -> Option<Duration> {
    let measured = Some(plan.stop.duration).filter(|it| *it != Duration::MAX)?;
    Some(lab::agents::READY_WITHIN + plan.warm_up + measured + plan.timeouts.drain + agent::KEPT_FOR)
}
