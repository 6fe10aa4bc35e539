//! A stack that is up, under the load of its cell: warmed up, loaded, watched.

use std::collections::{BTreeMap, BTreeSet};

use driver::Control;
use events::Moment;
use plan::{Driver, LoadPlan, Processes};
use record::{HostSignals, IntervalLog, LoadResult, Second, WarmUp};
use signals::{
    JvmEvents, Sampled, Sampler, Subject, Summary, WholeNames, java_thread_names, pauses_by_second, summarise,
};
use stack::{Chain, Cpus, Running};
use units::{Duration, Instant};

use super::{Cores, Setting, Warmed};
use crate::error::{LabError, NotMeasured};
use crate::foreign::{self, Ask, Carried, Foreign};
use crate::hosts::{Hands, forget_generator};
use crate::job::Job;
use crate::machine;
use crate::secured::secure;
use crate::warm_up::{settled, warm_up};

/// What came of a load, and of the bursts before it.
pub(super) struct Loaded {
    pub(super) load: LoadResult,
    /// The bursts, and how long an answer took in the last of them.
    pub(super) warm_up: Option<(WarmUp, Duration)>,
    /// `None` of other machines.
    pub(super) client_cpus: Option<Cpus>,
    /// `None` of what was running already.
    pub(super) server_cpus: Option<Cpus>,
    /// Who is one of the machine's processes, and nobody knows which.
    among_others: Option<&'static str>,
    sampled: Sampled,
    pub(super) names: WholeNames,
    /// What the JVMs of each server recorded.
    jvm_events: Vec<BTreeMap<String, u64>>,
}

impl Loaded {
    /// What was seen within the window of the load.
    pub(super) fn summary(&self, cores: u32) -> Summary {
        let record::Window { start_monotonic_ns, duration_s } = self.load.window;
        let (start, length) = (Instant::from_nanos(start_monotonic_ns), Duration::from_secs_f64(duration_s));
        let mut summary = summarise(&self.sampled, &self.names, start, length, cores);
        for (server, events) in summary.servers.iter_mut().zip(&self.jvm_events) {
            server.signals.jvm_events.clone_from(events);
        }
        let pauses = pauses_by_second(&self.sampled, &self.seconds(start));
        for (server, pauses) in summary.servers.iter_mut().zip(pauses) {
            server.signals.gc_pauses = pauses;
        }
        if let Some(who) = self.among_others {
            forget_others(&mut summary.host, who);
        }
        if !self.load.agents.is_empty() {
            forget_generator(&mut summary.host);
        }
        summary
    }

    /// From when to when each second of the load was whose window began then, on the clock of the sampler.
    fn seconds(&self, start: Instant) -> Vec<(Instant, Instant)> {
        let of = |second: &Second| {
            let from = start + Duration::from_secs_f64(second.from_s);
            (from, from + Duration::from_secs_f64(second.length_s))
        };
        self.load.seconds.iter().map(of).collect()
    }
}

/// Loads a stack that is up with what its cell asks for, and watches it.
pub(super) fn under_load(
    setting: &Setting<'_>,
    chain: &Chain,
    warmed: Option<Warmed>,
    observe: &mut dyn FnMut(Moment<'_>),
) -> Result<Loaded, NotMeasured> {
    let front = chain.front();
    let addr = front.addr();
    let target = setting.cell.target(&front.authority()).map_err(LabError::from)?;
    let peers = secure(&target, setting.cell.load.http, &[addr], &front.trust())?;
    let expect = setting.cell.expect();
    let asked = Job {
        url: &target.url,
        targets: &[addr],
        request: &target.request,
        expect: &expect,
        plan: &setting.cell.load,
        socket: None,
        tls: peers.as_ref(),
        interval_log: None,
        keep: None,
    };
    // Agents that were called off before the begin have nothing to tell.
    let or_called_off = |why: NotMeasured| {
        let is_called_off = setting.hosts.is_some() && setting.interrupt.is_interrupted();
        if is_called_off { NotMeasured::Interrupted } else { why }
    };
    let hands = Hands::choose(setting.hosts, (front, &target), &asked, setting.interrupt, observe);
    let hands = hands.map_err(|why| or_called_off(why.into()))?;
    UnderLoad { setting, chain, hands, asked, warmed }.carry_out(observe).map_err(or_called_off)
}

/// A stack that is up, and who loads it with what its cell asks for.
struct UnderLoad<'a> {
    setting: &'a Setting<'a>,
    chain: &'a Chain,
    hands: Hands<'a>,
    /// The cell's load, without a log.
    asked: Job<'a>,
    /// What warming it up for this load came to, where an earlier trial did.
    warmed: Option<Warmed>,
}

impl UnderLoad<'_> {
    /// Warms the stack up where its cell wants that, and makes the measured load.
    fn carry_out(&self, observe: &mut dyn FnMut(Moment<'_>)) -> Result<Loaded, NotMeasured> {
        let Self { setting, chain, .. } = self;
        let (plan, warm_up) = self.warmed_up(observe)?;
        // Other programs keep none.
        let is_kept = setting.cell.driver == Driver::Proofload;
        let interval_log = is_kept.then(|| IntervalLog::create(setting.dir.join("response_time.hlog")));
        let interval_log = interval_log.transpose().map_err(LabError::from)?;
        let job = Job { plan: &plan, interval_log: interval_log.as_ref(), ..self.asked };
        let recordings: Vec<Vec<JvmEvents>> = chain.all().iter().map(|it| recordings(setting, it)).collect();
        observe(Moment::Load(&plan));
        let Carried { load, cpus: client_cpus, sampled } = match setting.cell.driver {
            Driver::Proofload => self.by_ourselves(&job, observe)?,
            Driver::Wrk => self.by_another(Foreign::Wrk, &job, observe)?,
            Driver::Jmeter => self.by_another(Foreign::Jmeter, &job, observe)?,
        };
        interval_log.as_ref().map_or(Ok(()), IntervalLog::written).map_err(LabError::from)?;
        let jvm_events = recordings.into_iter().map(events).collect();
        // Only now: asking a JVM for them stops it for a moment.
        let names_of = |running: &Running| running.pids().into_iter().flat_map(java_thread_names).collect();
        let names = match &self.warmed {
            // Of as many other users it may have threads that it had not before.
            Some(warmed) if self.setting.processes == Processes::Kept => warmed.names.clone(),
            _ => chain.all().iter().map(names_of).collect(),
        };
        let front = chain.front();
        let server_cpus = front.site().is_none().then(|| chain.cpus());
        let is_here = front.site().is_some() && machine::has(front.addr().ip());
        let among_others =
            is_here.then_some("the server is one of them").or_else(|| self.hands.among_others());
        let client_cpus = (!self.hands.are_elsewhere()).then_some(client_cpus);
        Ok(Loaded { load, warm_up, client_cpus, server_cpus, among_others, sampled, names, jvm_events })
    }

    /// Warms the stack up where its cell wants that, and says what load it is measured with then.
    fn warmed_up(
        &self,
        observe: &mut dyn FnMut(Moment<'_>),
    ) -> Result<(LoadPlan, Option<(WarmUp, Duration)>), NotMeasured> {
        let Self { setting, chain, asked, warmed, .. } = self;
        if !setting.cell.until_steady {
            return Ok((asked.plan.clone(), None));
        }
        if let Some(Warmed { told, response, .. }) = warmed {
            return Ok((settled(asked.plan, *response, setting.bursts), Some((told.clone(), *response))));
        }
        // At full load even where less is measured: what is compiled is the same, and it is compiled sooner.
        let mut full = asked.plan.burst(setting.bursts.length);
        full.load = engine::Load::SATURATING;
        let burst = Job { plan: &full, ..*asked };
        let mut make =
            |observe: &mut dyn FnMut(Moment<'_>)| self.guarded(&burst, observe).map(|(made, _)| made);
        // What compiles them is theirs, and would wait for their own requests: it may use the client's cores until then.
        if let Some(Cores { all, servers, .. }) = setting.cores {
            chain.move_threads(servers, all);
        }
        let (told, response) = warm_up(setting.bursts, chain, setting.interrupt, &mut make, observe)?;
        if let Some(Cores { all, servers, .. }) = setting.cores {
            chain.move_threads(all, servers);
        }
        Ok((settled(asked.plan, response, setting.bursts), Some((told, response))))
    }

    /// The load by our own engine, watched.
    fn by_ourselves(
        &self,
        job: &Job<'_>,
        observe: &mut dyn FnMut(Moment<'_>),
    ) -> Result<Carried, NotMeasured> {
        let sampler = Sampler::start(subjects(self.chain), None, self.cores())
            .map_err(|why| LabError::System { what: "start the sampler", why })?;
        let (load, cpus) = self.guarded(job, &mut |moment| {
            let is_tick = matches!(moment, Moment::Tick(_));
            observe(moment);
            if let Some(reading) = sampler.last().filter(|_| is_tick) {
                observe(Moment::Cpu(reading));
            }
        })?;
        Ok(Carried { load, cpus, sampled: sampler.finish() })
    }

    /// The load by another program, watched; what comes before its window is ours all the same.
    fn by_another(
        &self,
        program: Foreign,
        job: &Job<'_>,
        observe: &mut dyn FnMut(Moment<'_>),
    ) -> Result<Carried, NotMeasured> {
        let Setting { programs, proofload_exe, dir, .. } = *self.setting;
        let mut before = job.plan.burst(job.plan.warm_up);
        before.load = engine::Load::SATURATING;
        if !job.plan.warm_up.is_zero() {
            self.guarded(&Job { plan: &before, interval_log: None, ..*job }, observe)?;
        }
        let ask = Ask { program, programs, job: Job { ..*job }, proofload_exe, dir };
        foreign::carry_out(&ask, (subjects(self.chain), self.cores()), &mut |reading| {
            observe(Moment::Tick(driver::monotonic_now()));
            if let Some(reading) = reading {
                observe(Moment::Cpu(reading));
            }
            !self.is_over()
        })
    }

    /// A load of ours that ends early where the run is interrupted or the stack dies.
    fn guarded(
        &self,
        job: &Job<'_>,
        observe: &mut dyn FnMut(Moment<'_>),
    ) -> Result<(LoadResult, Cpus), LabError> {
        let control = Control::default();
        self.hands.carry_out(job, &control, &mut |moment| {
            if matches!(moment, Moment::Tick(_)) && self.is_over() {
                control.interrupt();
            }
            observe(moment);
        })
    }

    /// Those of client and servers together, where this thread is kept on some of them.
    fn cores(&self) -> Option<BTreeSet<usize>> {
        self.setting.cores.map(|cores| cores.all.numbers())
    }

    /// Whether the user interrupts, or there is nothing left to load.
    fn is_over(&self) -> bool {
        self.setting.interrupt.is_interrupted() || self.chain.dead().is_some()
    }
}

fn subjects(chain: &Chain) -> Vec<Subject> {
    let subject =
        |running: &Running| Some(Subject { processes: running.processes()?, port: running.addr().port() });
    // One that was running already is alone: none stands behind it, and it stands behind none.
    chain.all().iter().filter_map(subject).collect()
}

/// The recordings of the JVMs of a stack, where they are asked for.
fn recordings(setting: &Setting<'_>, running: &Running) -> Vec<JvmEvents> {
    if !setting.jvm_events {
        return Vec::new();
    }
    running.pids().into_iter().filter_map(|pid| JvmEvents::start(pid, setting.dir)).collect()
}

/// How many events of each kind they hold together.
fn events(recordings: Vec<JvmEvents>) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    for (name, count) in recordings.into_iter().flat_map(JvmEvents::finish) {
        *all.entry(name).or_default() += count;
    }
    all
}

/// What other processes used is not known where `who` is among them.
fn forget_others(host: &mut HostSignals, who: &str) {
    host.others_cores = None;
    host.others.clear();
    host.not_known.push(format!("other processes: {who}"));
}
