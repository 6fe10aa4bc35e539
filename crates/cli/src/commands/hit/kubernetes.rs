//! One load from the pods of a cluster.

use std::process::ExitCode;
use std::sync::Arc;

use driver::monotonic_now;
use kubernetes::{Cluster, Error, Pods, Streams, Watch, Watching};
use lab::agents::{Fleet, Left, Open, Reached};
use plan::LoadPlan;
use record::{IntervalLog, LoadResult};
use units::{Duration, Instant};

use super::agents::{self, Several};
use super::beside::{self, Beside};
use super::resume;
use crate::arguments::Hit;
use crate::exit::{self, Failure};
use crate::interrupt;
use crate::output::say;
use crate::pods::{self, For, InPods};

/// Carries it out, or prints what would be created for it. Meanwhile the pods with the labels of `server` are watched, in their
/// namespace where that is another one.
pub fn run(
    arguments: &Hit,
    several: &Several<'_>,
    server: Option<(&str, Option<&str>)>,
) -> Result<ExitCode, Failure> {
    let options = &arguments.kubernetes;
    let wanted = pods::wanted(options, For::OneLoad(length(several.plan)))?;
    several.asked(None).check(wanted.pods as usize)?;
    if options.manifest {
        return pods::print_manifest(options, &wanted);
    }
    let (beside, log) = (Beside::open(arguments)?, beside::log(arguments)?);
    let asked = several.asked(log.as_ref());
    let control = interrupt::on_signals()?;
    let mut tell = |text: &str| {
        if !arguments.quiet {
            say(format_args!("proofload: {text}"));
        }
    };
    let begun = pods::connect(options).and_then(|cluster| {
        let watch = server.map(|(labels, namespace)| Watch::open(&cluster, labels, namespace)).transpose()?;
        let pods = Arc::new(pods::start(&cluster, &wanted, &mut tell, &|| control.is_interrupted())?);
        Ok((cluster, pods, watch.map(Watch::begin).transpose()?))
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

/// The result with what is known of the server's pods, where these were watched.
fn with_server_pods(result: LoadResult, watching: Option<Watching>) -> LoadResult {
    let Some(watching) = watching else { return result };
    let begun_ago = monotonic_now().since(Instant::from_nanos(result.window.start_monotonic_ns));
    let length = Duration::from_secs_f64(result.window.duration_s);
    LoadResult { server_pods: Some(watching.end(begun_ago.into(), length.into())), ..result }
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
