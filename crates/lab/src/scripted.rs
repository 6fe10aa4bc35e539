//! A load whose users do what scripts say, from plan to result.

use std::sync::Mutex;

use driver::{Control, Gate, run_scripted};
use engine::{Load, Script};
use events::Moment;
use plan::Threads;
use record::LoadResult;

use crate::carry::{Work, carry_out_on, end_of, enough_files, route};
use crate::crew::Crew;
use crate::error::LabError;
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
    let Threads::Fixed(threads) = job.plan.threads else { panic!("a scripted load has so many threads") };
    assert!(
        job.plan.load == Load::Scripted && threads.get() as usize == scripts.len(),
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
            let exchanges = config.connections.get();
            first_slot += config.connections.get();
            Box::new(move |feed, gate: Option<&Gate>| {
                let (finished, script) = run_scripted(config, route, feed, script, control, gate, backend)?;
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
