//! A load whose users do what scripts say, from plan to result.

use std::sync::Mutex;

use driver::{Backend, Control, DriveError, Finished, Gate, Route, run_scripted};
use engine::{Config, Load, Script};
use events::Moment;
use h2::H2;
use http::Http1;
use plan::{HttpVersion, Threads};
use record::LoadResult;

use crate::carry::{Work, carry_out_on, end_of, enough_files, route};
use crate::crew::Crew;
use crate::error::LabError;
use crate::feed::Feed;
use crate::job::Job;
use crate::pilot::backend;

/// Runs the load of `job`, whose plan is a scripted one of as many threads as there are `scripts`, to its end, or until
/// `control` interrupts it. Gives the scripts back in the same order. `job.targets` are the servers that scripts name by
/// number.
///
/// # Panics
/// If the plan is not scripted, or of another number of threads: the caller made it for its scripts.
pub fn run<P: Script + Send>(
    job: &Job<'_>,
    scripts: Vec<P>,
    control: &Control,
    observe: &mut dyn FnMut(Moment<'_>),
) -> Result<(LoadResult, Vec<P>), LabError> {
    run_with(job, scripts, control, observe, |part, steering, backend| {
        let Part { config, route, feed, script } = part;
        run_scripted::<_, _, Http1>(config, (), route, feed, script, steering, backend)
    })
}

/// The same over the version that the plan says, for scripts that can be of either.
///
/// # Panics
/// As [`run`].
pub fn run_over<P: Script<Http1> + Script<H2> + Send>(
    job: &Job<'_>,
    scripts: Vec<P>,
    control: &Control,
    observe: &mut dyn FnMut(Moment<'_>),
) -> Result<(LoadResult, Vec<P>), LabError> {
    let HttpVersion::Http2 { settings, .. } = job.plan.http else {
        return run(job, scripts, control, observe);
    };
    run_with(job, scripts, control, observe, move |part, steering, backend| {
        let Part { config, route, feed, script } = part;
        run_scripted::<_, _, H2>(config, settings, route, feed, script, steering, backend)
    })
}

/// What a load thread begins with.
struct Part<P> {
    config: Config,
    route: Route,
    feed: Feed,
    script: P,
}

type Steering<'a> = (&'a Control, Option<&'a Gate>);

fn run_with<P: Send>(
    job: &Job<'_>,
    scripts: Vec<P>,
    control: &Control,
    observe: &mut dyn FnMut(Moment<'_>),
    carry: impl Fn(Part<P>, Steering<'_>, Backend) -> Result<(Finished<Feed>, P), DriveError> + Copy + Send,
) -> Result<(LoadResult, Vec<P>), LabError> {
    let Threads::Fixed(threads) = job.plan.threads else { panic!("a scripted load has so many threads") };
    assert!(
        matches!(job.plan.load, Load::Scripted { .. }) && threads.get() as usize == scripts.len(),
        "a plan for its scripts"
    );
    enough_files(job.plan.connections.get())?;
    let (backend, refused) = backend(job.plan, job.plan.connections.get().div_ceil(threads.get()))?;
    let crew = Crew { backend, refused, threads, threads_why: None };
    let given_back: Vec<Mutex<Option<P>>> = scripts.iter().map(|_| Mutex::new(None)).collect();
    let configs = job.plan.configs(threads, job.request, job.expect);
    let mut first_slot = 0;
    let works =
        configs.into_iter().zip(scripts).zip(&given_back).map(|((config, script), back)| -> Work<'_> {
            let route = route(job, first_slot);
            let exchanges = config.connections.get() * job.plan.http.streams();
            first_slot += config.connections.get();
            Box::new(move |feed, gate: Option<&Gate>| {
                let part = Part { config, route, feed, script };
                let (finished, script) = carry(part, (control, gate), backend)?;
                *back.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(script);
                Ok(end_of(finished, exchanges))
            })
        });
    let works = works.collect();
    let (result, _) = carry_out_on(job, &crew, works, control, observe)?;
    let scripts = given_back
        .into_iter()
        .filter_map(|script| script.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner));
    Ok((result, scripts.collect()))
}
