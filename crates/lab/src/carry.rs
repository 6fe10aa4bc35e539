//! Load threads from their start to their end.

use std::sync::mpsc::{Receiver, sync_channel};

use driver::{Backend, Control, DriveError, Finished, Gate, Route, monotonic_now, run_engine};
use engine::{Config, Share, Sink};
use events::Moment;
use h2::H2;
use http::Http1;
use plan::HttpVersion;
use record::LoadResult;
use stack::Cpus;

use crate::books::{Books, ThreadEnd, result};
use crate::crew::{Carried, Crew};
use crate::doctor;
use crate::error::LabError;
use crate::feed::{Feed, Filled, Return};
use crate::job::{Job, Keep};
use crate::tap::{Tap, Tapped};

/// Descriptors beside those of connections.
const FILES_BESIDE: u64 = 64;

/// Runs a load with the crew at hand to its end, or until `control` interrupts it. `observe` is called on the calling
/// thread. With the cores that the load threads might run on.
pub(crate) fn carry_out(
    job: &Job<'_>,
    crew: &Crew,
    control: &Control,
    observe: &mut dyn FnMut(Moment<'_>),
) -> Result<(LoadResult, Cpus), LabError> {
    carry_out_with(job, crew, Vec::new(), control, observe)
}

/// The same with a tap for each load thread, or none at all.
pub(crate) fn carry_out_with(
    job: &Job<'_>,
    crew: &Crew,
    taps: Vec<Option<Tap>>,
    control: &Control,
    observe: &mut dyn FnMut(Moment<'_>),
) -> Result<(LoadResult, Cpus), LabError> {
    let works = works(job, Share::WHOLE, crew, taps, control);
    carry_out_on(job, crew, works, control, observe)
}

/// What the threads do that carry `share` of a load together.
pub(crate) fn works<'a>(
    job: &Job<'a>,
    share: Share,
    crew: &Crew,
    taps: Vec<Option<Tap>>,
    control: &'a Control,
) -> Vec<Work<'a>> {
    let mut first_slot = job.plan.connections_before(share);
    let configs = job.plan.configs_of(share, crew.threads, job.request, job.expect);
    let taps = taps.into_iter().chain(std::iter::repeat_with(|| None));
    let keep_wrong = job.keep.map_or(0, Keep::most);
    let works = configs.into_iter().zip(taps).map(|(config, tap)| -> Work<'a> {
        let config = Config { keep_wrong, ..config };
        let route = route(job, first_slot);
        let exchanges = config.connections.get() * job.plan.http.streams();
        first_slot += config.connections.get();
        let (http, backend) = (job.plan.http, crew.backend);
        Box::new(move |feed, gate: Option<&Gate>| {
            let steering = (control, gate);
            let finished = match tap {
                None => run_over(http, config, route, feed, steering, backend)?,
                Some(tap) => {
                    let finished = run_over(http, config, route, tap.beside(feed), steering, backend)?;
                    finished.map_sink(Tapped::into_feed)
                }
            };
            Ok(end_of(finished, exchanges))
        })
    });
    works.collect()
}

/// Where the connections of a load thread go whose first has this number.
pub(crate) fn route(job: &Job<'_>, first_slot: u32) -> Route {
    let route = match job.socket {
        Some(socket) => Route::local(socket.clone()),
        None => Route::new(job.targets.to_vec(), first_slot).expect("resolved to an address"),
    };
    route.secured(job.tls.cloned())
}

/// Runs one load thread's part over the version that is spoken.
fn run_over<S: Sink>(
    http: HttpVersion,
    config: Config,
    route: Route,
    sink: S,
    (control, gate): (&Control, Option<&Gate>),
    backend: Backend,
) -> Result<Finished<S>, DriveError> {
    match http {
        HttpVersion::Http1 => run_engine::<_, Http1>(config, (), route, sink, control, gate, backend),
        HttpVersion::Http2 { settings, .. } => {
            run_engine::<_, H2>(config, settings, route, sink, control, gate, backend)
        }
    }
}

/// What one load thread does: it waits for the others at the gate, where there are any.
pub(crate) type Work<'a> = Box<dyn FnOnce(Feed, Option<&Gate>) -> Result<ThreadEnd, DriveError> + Send + 'a>;

/// Has each of `works` done by a thread of its own, and keeps the books.
pub(crate) fn carry_out_on(
    job: &Job<'_>,
    crew: &Crew,
    works: Vec<Work<'_>>,
    control: &Control,
    observe: &mut dyn FnMut(Moment<'_>),
) -> Result<(LoadResult, Cpus), LabError> {
    let mut books = Books::default();
    // Alone, a thread has nobody to wait for.
    let gate = (works.len() > 1).then(|| Gate::new(works.len() as u32));
    let mut finished = record::with_interval_log(job.interval_log, |log| {
        on_threads(works, gate.as_ref(), None, |intervals, returns| {
            books.keep(intervals, returns, log, control, observe);
        })
    })?;
    if let Some(keep) = job.keep {
        keep.take(finished.iter_mut().flat_map(|end| std::mem::take(&mut end.part.kept_answers)));
    }
    let mut cpus = Cpus::default();
    cpus.extend(finished.iter().map(|end| end.cpus.clone()));
    // That somebody asked for its end says nothing: it may have been whole by then.
    let interrupted = finished.iter().any(|end| end.part.interrupted);
    Ok((result(job, &Carried::by(crew), &books, &finished, interrupted), cpus))
}

/// Has each of `works` done by a thread of its own. `keep` is given what they sample, on the calling thread; it returns when
/// there is no more. A thread that can't be started ends those that are under `control`, if it is given.
pub(crate) fn on_threads(
    works: Vec<Work<'_>>,
    gate: Option<&Gate>,
    control: Option<&Control>,
    keep: impl FnOnce(&Receiver<Filled>, &[Return]),
) -> Result<Vec<ThreadEnd>, LabError> {
    std::thread::scope(|scope| {
        let (filled, intervals) = sync_channel(Feed::channel_bound(works.len()));
        let mut returns = Vec::new();
        let mut threads = Vec::new();
        for (index, work) in works.into_iter().enumerate() {
            let (feed, back) = Feed::new(index as u32, filled.clone());
            returns.push(back);
            let name = format!("load-{index}");
            let spawned =
                std::thread::Builder::new().name(name).spawn_scoped(scope, move || work(feed, gate));
            if spawned.is_err() {
                if let Some(gate) = gate {
                    gate.excuse();
                }
                if let Some(control) = control {
                    control.interrupt();
                }
            }
            threads.push(spawned);
        }
        drop(filled);
        keep(&intervals, &returns);
        join(threads)
    })
}

/// What a load thread has to tell. Called on the thread itself: takes note of where it may run, and sends off what is left
/// in its feed.
pub(crate) fn end_of(finished: Finished<Feed>, exchanges: u32) -> ThreadEnd {
    let window_end = finished.window.end;
    let part = finished.map_sink(|feed| feed.finish(monotonic_now(), window_end));
    ThreadEnd { cpus: Cpus::of_this_thread(), exchanges, part }
}

type Spawned<'scope> = std::io::Result<std::thread::ScopedJoinHandle<'scope, Result<ThreadEnd, DriveError>>>;

fn join(threads: Vec<Spawned<'_>>) -> Result<Vec<ThreadEnd>, LabError> {
    let mut ends = Vec::new();
    for thread in threads {
        let thread = thread.map_err(|why| LabError::System { what: "start a thread", why })?;
        let end = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        ends.push(end?);
    }
    Ok(ends)
}

/// Raises the soft limit of open files as far as allowed, and says so if that is not enough.
pub(crate) fn enough_files(connections: u32) -> Result<(), LabError> {
    let needed = u64::from(connections) + FILES_BESIDE;
    let (_, limit) = doctor::raise_open_file_limit();
    if limit < needed { Err(LabError::TooFewFiles { connections, needed, limit }) } else { Ok(()) }
}
