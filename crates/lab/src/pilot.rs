//! Who is to carry a load: what its plan says, and what short loads before it show.

use std::num::NonZeroU32;
use std::thread::available_parallelism;

use driver::{Backend, Control, UringRefused};
use events::Moment;
use plan::{IoChoice, LoadPlan, Threads};
use units::Duration;

use crate::carry::carry_out;
use crate::crew::Crew;
use crate::error::LabError;
use crate::job::Job;

/// How busy a load thread may be: at 70 % a random arrival waits a good two services long on average (M/M/1:
/// ρ / (1 − ρ)), and there is room for a burst. The audit calls a load client-bound from 80 % on.
const BUSY_SHARE_MAX: f64 = 0.7;
/// How long a pilot load is measured, and how long what is under way at its end may take.
const PILOT: Duration = Duration::from_secs(1);

/// Follows the plan, and finds out what it leaves open.
pub(crate) fn choose_crew(
    job: &Job<'_>,
    control: &Control,
    observe: &mut dyn FnMut(Moment<'_>),
) -> Result<Crew, LabError> {
    let least = match job.plan.threads {
        Threads::Fixed(count) => count,
        Threads::Auto => NonZeroU32::MIN,
    };
    let (backend, refused) = backend(job.plan, job.plan.connections.get().div_ceil(least.get()))?;
    let mut crew = Crew { backend, refused, threads: least, threads_why: None };
    if job.plan.threads == Threads::Auto {
        add_threads(&mut crew, job, control, observe)?;
    }
    Ok(crew)
}

/// Adds threads until a short pilot load keeps each of them below [`BUSY_SHARE_MAX`], or there are no more cores.
fn add_threads(
    crew: &mut Crew,
    job: &Job<'_>,
    control: &Control,
    observe: &mut dyn FnMut(Moment<'_>),
) -> Result<(), LabError> {
    let plan = pilot(job.plan);
    let pilot = Job { plan: &plan, interval_log: None, keep: None, ..*job };
    let cores = available_parallelism().map_or(1, |cores| cores.get() as u32);
    let most = cores.min(plan.shares_max());
    let mut tried = Vec::new();
    loop {
        observe(Moment::Pilot(crew.threads));
        let busy = carry_out(&pilot, crew, control, &mut |_| {})?.0.generator.busy_share;
        tried.push(format!("{} to {:.0} %", crew.threads, busy * 100.0));
        let too_busy = busy > BUSY_SHARE_MAX;
        if !too_busy || crew.threads.get() >= most || control.is_interrupted() {
            let enough = if too_busy { "there are no more cores" } else { "below 70 %" };
            crew.threads_why =
                Some(format!("pilots of {PILOT} kept the busiest of {}: {enough}", tried.join(", of ")));
            return Ok(());
        }
        // As many as would do if the work stayed the same; one more at least.
        let would_do = (f64::from(crew.threads.get()) * busy / BUSY_SHARE_MAX).ceil() as u32;
        let next = would_do.max(crew.threads.get() + 1).min(most);
        crew.threads = NonZeroU32::new(next).unwrap_or(crew.threads);
    }
}

/// What carries a load whose threads have so many connections at most, and why it is not io_uring where that was wanted.
pub(crate) fn backend(
    plan: &LoadPlan,
    connections_of_a_thread: u32,
) -> Result<(Backend, Option<UringRefused>), LabError> {
    if plan.io == IoChoice::Epoll {
        return Ok((Backend::Epoll, None));
    }
    match (driver::probe_uring(connections_of_a_thread), plan.io) {
        (Ok(()), _) => Ok((Backend::Uring, None)),
        (Err(refused), IoChoice::Uring) => Err(LabError::NoUring(refused)),
        (Err(refused), _) => Ok((Backend::Epoll, Some(refused))),
    }
}

/// The same load for a second, all of its users at once.
fn pilot(plan: &LoadPlan) -> LoadPlan {
    let mut pilot = plan.burst(PILOT);
    pilot.timeouts.drain = PILOT;
    pilot
}
