//! One trial: boot a fresh process, check what it answers, load it, watch it, stop it.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::path::Path;

use driver::Control;
use events::{Moment, Stage};
use plan::stack::{Site, Speaks, StackManifest};
use plan::{Bursts, Cell, Driver, LoadPlan, Placement, Processes};
use record::{
    Contract, HostSignals, IdleAnswers, IntervalLog, LoadResult, Measured, Server, Surroundings, Upstream,
    WarmUp,
};
use signals::{
    JvmEvents, Sampled, Sampler, ServerSummary, Subject, Summary, WholeNames, java_thread_names, summarise,
};
use stack::{Afterwards, Chain, ChainOptions, ContractReport, Cpus, Interrupt, Running};
use units::{Duration, Instant};

use crate::carry;
use crate::cool_down::cool_down;
use crate::error::{LabError, NotMeasured};
use crate::foreign::{self, Ask, Carried, Foreign, Programs};
use crate::hosts::{Hands, Hosts, forget_generator};
use crate::idle::AskedIdle;
use crate::job::Job;
use crate::machine;
use crate::secured::secure;
use crate::warm_up::{settled, warm_up};

/// How long one answer of the contract check may take.
const CONTRACT_TIMEOUT: Duration = Duration::from_secs(5);
/// Lines of a stack's log that are shown when it fails.
const LOG_LINES: usize = 20;

/// What a trial needs.
pub(crate) struct Setting<'a> {
    pub(crate) cell: &'a Cell,
    /// The stack and what stands behind it, in the order in which they are booted.
    pub(crate) chain: &'a [&'a StackManifest],
    pub(crate) proofload_exe: &'a Path,
    /// The trial's own directory.
    pub(crate) dir: &'a Path,
    pub(crate) bursts: &'a Bursts,
    /// Whether the stack stays up after the trial.
    pub(crate) processes: Processes,
    pub(crate) cool_down_max: Duration,
    /// How long a warm stack is asked while it is idle.
    pub(crate) idle_look: Duration,
    /// Whether JVMs record their own events.
    pub(crate) jvm_events: bool,
    /// Where what runs; `None` where client and servers share all cores.
    pub(crate) cores: Option<&'a Cores>,
    /// What makes loads in our place.
    pub(crate) programs: &'a Programs,
    /// The machines that our own loads come from, where that is not this one.
    pub(crate) hosts: Option<&'a Hosts>,
    pub(crate) interrupt: &'a Control,
}

/// Cores of their own for client and servers.
#[derive(Debug)]
pub(crate) struct Cores {
    all: Cpus,
    client: Cpus,
    servers: Cpus,
}

impl Cores {
    /// As `placement` has it, of the cores that this process may run on. The calling thread, and all load threads that
    /// it starts, are kept on the client's.
    pub(crate) fn take(placement: Placement) -> Result<Option<Self>, LabError> {
        if placement == Placement::Shared {
            return Ok(None);
        }
        let all = Cpus::of_this_thread();
        let (client, servers) = all.split().ok_or(LabError::OneCore)?;
        client
            .keep_this_thread()
            .map_err(|why| LabError::System { what: "keep to some of the cores", why })?;
        Ok(Some(Self { all, client, servers }))
    }
}

impl Cores {
    /// How many there are, of client and servers together.
    pub(crate) fn count(cores: Option<&Self>) -> u32 {
        // This thread may be kept on some of them.
        let all = cores.map_or_else(|| Cpus::of_this_thread().count(), |cores| cores.all.count());
        all.max(1) as u32
    }
}

impl Drop for Cores {
    fn drop(&mut self) {
        // The calling thread's own business goes on where it may; nothing is measured any more.
        let _ = self.all.keep_this_thread();
    }
}

/// A stack that is up.
pub(crate) struct Up {
    chain: Chain,
    /// What it took to warm it up, and how long an answer took then, by what was asked of it, and by how many.
    warmed: BTreeMap<(Asked, u32), Warmed>,
}

/// An endpoint, and what is spoken with it.
type Asked = (String, Speaks);

/// A stack that is warm for a load.
#[derive(Clone)]
struct Warmed {
    told: WarmUp,
    /// A mean answer of the last burst.
    response: Duration,
    /// The shortest answer behind that trial's load, while nothing else was asked.
    service_time_us: f64,
    /// All of them.
    idle: Option<IdleAnswers>,
    /// The names of its threads then: asking a JVM for them stops it for a moment.
    names: WholeNames,
}

impl Up {
    fn boot(setting: &Setting<'_>, observe: &mut dyn FnMut(Moment<'_>)) -> Result<Self, NotMeasured> {
        observe(Moment::Stage(Stage::Booting));
        let interrupt = Interrupt::when(setting.interrupt.flag());
        let cpus = setting.cores.map(|cores| &cores.servers);
        let Setting { proofload_exe, dir, .. } = *setting;
        let address = setting.hosts.map_or(Ipv4Addr::LOCALHOST, |hosts| hosts.address);
        let options = ChainOptions { proofload_exe, dir, address, cpus, interrupt };
        Ok(Self { chain: Chain::boot(setting.chain, &options)?, warmed: BTreeMap::new() })
    }

    /// Whether it was warmed up for the load of `cell`.
    pub(crate) fn is_warm(&self, cell: &Cell) -> bool {
        self.warmed.contains_key(&warmed_for(cell))
    }

    /// What warming it up for the load of a trial came to. What lives for a block is warm for as many other users as well: what
    /// is compiled is the same. An answer takes them longer in proportion.
    fn warmed(&self, setting: &Setting<'_>) -> Option<Warmed> {
        let (asked, users) = warmed_for(setting.cell);
        let of_others = || {
            let of_asked = |it: &(&(Asked, u32), &Warmed)| it.0.0 == asked;
            let ((_, there), warmed) = self.warmed.iter().find(of_asked)?;
            let response = warmed.response * u64::from(users.div_ceil((*there).max(1)));
            Some(Warmed { response, ..warmed.clone() })
        };
        let same = self.warmed.get(&(asked.clone(), users)).cloned();
        same.or_else(|| (setting.processes == Processes::Block).then(of_others).flatten())
    }

    /// Ends it.
    pub(crate) fn stop(self) -> Result<(), LabError> {
        Ok(self.chain.stop().map(|_| ())?)
    }
}

fn warmed_for(cell: &Cell) -> (Asked, u32) {
    ((cell.endpoint.name.clone(), cell.speaks), cell.load.connections.get())
}

/// Makes one trial, on what is `up` from an earlier one where that is still alive. Whatever happens, no process of the
/// stack is left when it returns but what is `up` then: after a trial that went well and left nothing to do, where stacks are
/// to stay.
pub(crate) fn measure(
    setting: &Setting<'_>,
    up: &mut Option<Up>,
    observe: &mut dyn FnMut(Moment<'_>),
) -> Result<Measured, NotMeasured> {
    enough_files(setting)?;
    observe(Moment::Stage(Stage::CoolingDown));
    let time_wait_at_boot = cool_down(setting.cool_down_max, setting.interrupt);
    let mut booted = match up.take().filter(|up| up.chain.dead().is_none()) {
        Some(up) => up,
        None => Up::boot(setting, observe)?,
    };
    booted.chain.speak(setting.cell.speaks);
    let (chain, warmed) = (&booted.chain, booted.warmed(setting));
    let warm_us = warmed.as_ref().map(|it| it.service_time_us);
    observe(Moment::Stage(Stage::Checking));
    let mut contract = agreed_contract(setting, chain.front())?;
    let asked_idle = AskedIdle {
        running: chain.front(),
        endpoint: &setting.cell.endpoint,
        interrupt: setting.interrupt,
        look: setting.idle_look,
    };
    contract.idle_service_time_us =
        warm_us.unwrap_or_else(|| asked_idle.shortest_cold_us(contract.idle_service_time_us));
    contract.warm_service_time_us = warm_us;
    contract.idle_answers = warmed.as_ref().and_then(|it| it.idle);
    let servers: Vec<Server> = chain.all().iter().map(server).collect();
    let loaded = under_load(setting, chain, warmed, observe);
    observe(Moment::Stage(Stage::Stopping));
    if let Some(dead) = chain.dead() {
        let (id, tail) = (dead.id(), dead.log_tail(LOG_LINES));
        return Err(NotMeasured::Stack(format!("{id} died under load; the end of its log:\n{tail}")));
    }
    let loaded = loaded?;
    let is_over = loaded.load.interrupted || setting.interrupt.is_interrupted();
    if !is_over && warm_us.is_none() {
        let warm = asked_idle.warm(&loaded.load);
        contract.warm_service_time_us = warm.shortest_us;
        contract.idle_answers = warm.all;
    }
    let ids: Vec<String> = chain.upstreams().iter().map(|running| running.id().to_owned()).collect();
    let is_over = is_over || setting.interrupt.is_interrupted();
    let stays = setting.processes != Processes::Fresh && !is_over && is_at_rest(&loaded.load);
    let stop_forced = if stays {
        let service_time_us = contract.warm_service_time_us.unwrap_or(contract.idle_service_time_us);
        let names = loaded.names.clone();
        let warmed = loaded.warm_up.clone();
        let idle = contract.idle_answers;
        let warmed = warmed.map(|(told, response)| Warmed { told, response, service_time_us, idle, names });
        booted.warmed.extend(warmed.map(|warmed| (warmed_for(setting.cell), warmed)));
        *up = Some(booted);
        false
    } else {
        booted.chain.stop()?.forced
    };
    if is_over {
        return Err(NotMeasured::Interrupted);
    }
    on_their_cores(setting.cores, loaded.client_cpus.as_ref(), loaded.server_cpus.as_ref())?;
    let Summary { servers: seen, host, generator, readings } = loaded.summary(Cores::count(setting.cores));
    record::write_signals(setting.dir, &readings).map_err(LabError::from)?;
    let Loaded { mut load, warm_up, client_cpus, server_cpus, .. } = loaded;
    let warm_up = warm_up.map(|(told, _)| told);
    foreign::charge(&mut load, generator);
    let mut servers = with_what_was_seen(servers, seen, &load);
    let server = Server { stop_forced, ..servers.next().unwrap_or_default() };
    let upstreams = ids.into_iter().zip(servers).map(|(stack, server)| Upstream { stack, server }).collect();
    let surroundings = Surroundings {
        time_wait_at_boot,
        client_cpus: client_cpus.map(|it| it.to_string()),
        server_cpus: server_cpus.map(|it| it.to_string()),
    };
    Ok(Measured { load, server, upstreams, contract, warm_up, surroundings, host: Some(host) })
}

/// Whether the server has nothing left to do for this load. What its users gave up on it may still work on, and that would be a
/// load beside the next trial's.
fn is_at_rest(load: &LoadResult) -> bool {
    load.outcomes.timed_out + load.outcomes.in_flight == 0
}

/// Of connections of this process.
fn enough_files(setting: &Setting<'_>) -> Result<(), LabError> {
    let connections = setting.cell.load.connections.get();
    setting.hosts.map_or_else(|| carry::enough_files(connections), |_| Ok(()))
}

/// What other processes used is not known where `who` is among them.
fn forget_others(host: &mut HostSignals, who: &str) {
    host.others_cores = None;
    host.others.clear();
    host.not_known.push(format!("other processes: {who}"));
}

/// Whether client and servers were where they belong; a figure of other cores is none of this placement. Those that were
/// running already are where they are.
fn on_their_cores(
    cores: Option<&Cores>,
    client: Option<&Cpus>,
    servers: Option<&Cpus>,
) -> Result<(), NotMeasured> {
    let Some(cores) = cores else { return Ok(()) };
    if client.is_none_or(|it| it.is_within(&cores.client))
        && servers.is_none_or(|it| it.is_within(&cores.servers))
    {
        return Ok(());
    }
    let Cores { client: client_own, servers: servers_own, .. } = cores;
    let [client, servers] = [client, servers].map(|it| it.map_or_else(String::new, ToString::to_string));
    Err(NotMeasured::Stack(format!(
        "the client ran on cores {client} instead of {client_own}, the servers on {servers} instead of {servers_own}; \
         a stack that chooses its cores itself can't be placed: give it none to choose, or share them"
    )))
}

fn server(running: &Running) -> Server {
    Server {
        command: running.effective_command().to_vec(),
        jvm_flags: running.effective_jvm_flags().to_vec(),
        boot_s: running.boot_took().map(Duration::as_secs_f64),
        not_measured: running.site().map(not_measured_at),
        ..Server::default()
    }
}

/// Why nothing is known of a server but its answers.
pub(crate) fn not_measured_at(site: &Site) -> String {
    format!("it was running already, at {}", site.url)
}

/// The answer before load, which must be the expected one: a benchmark of wrong answers is none.
fn agreed_contract(setting: &Setting<'_>, running: &Running) -> Result<Contract, NotMeasured> {
    let report = stack::check_contract(running, &setting.cell.endpoint, CONTRACT_TIMEOUT)?;
    let mismatches = report.matches.as_ref().err().map_or(&[][..], Vec::as_slice);
    let wrong: Vec<String> =
        mismatches.iter().filter(|it| it.is_wrong_answer()).map(ToString::to_string).collect();
    if !wrong.is_empty() {
        let why = wrong.join("; ");
        let help = "mend the stack, or what its stack.toml expects";
        return Err(NotMeasured::Stack(format!("its answer is not the expected one: {why}; {help}")));
    }
    Ok(contract_record(&report))
}

/// What is kept of an answer.
pub(crate) fn contract_record(report: &ContractReport) -> Contract {
    let mismatches = report.matches.as_ref().err().into_iter().flatten();
    Contract {
        status: report.status,
        head: String::from_utf8_lossy(&report.head).into_owned(),
        framing: report.framing.name().into(),
        wire_bytes: report.wire_bytes.0,
        kept_alive: report.afterwards == Afterwards::Kept,
        afterwards: report.afterwards.name().into(),
        deviations: mismatches.map(ToString::to_string).collect(),
        idle_service_time_us: report.took.as_micros_f64(),
        warm_service_time_us: None,
        idle_answers: None,
        tries: report.tries,
        protocol: protocol_name(report.speaks),
    }
}

/// What a server spoke, where it is worth a word.
fn protocol_name(speaks: Speaks) -> Option<String> {
    let name = match speaks {
        Speaks { is_secured: false, http2: false } => return None,
        Speaks { is_secured: false, http2: true } => "h2c",
        Speaks { is_secured: true, http2: false } => "https, http/1.1",
        Speaks { is_secured: true, http2: true } => "https, h2",
    };
    Some(name.to_owned())
}

/// What came of a load, and of the bursts before it.
struct Loaded {
    load: LoadResult,
    /// The bursts, and how long an answer took in the last of them.
    warm_up: Option<(WarmUp, Duration)>,
    /// `None` of other machines.
    client_cpus: Option<Cpus>,
    /// `None` of what was running already.
    server_cpus: Option<Cpus>,
    /// Who is one of the machine's processes, and nobody knows which.
    among_others: Option<&'static str>,
    sampled: Sampled,
    names: WholeNames,
    /// What the JVMs of each server recorded.
    jvm_events: Vec<BTreeMap<String, u64>>,
}

impl Loaded {
    /// What was seen within the window of the load.
    fn summary(&self, cores: u32) -> Summary {
        let record::Window { start_monotonic_ns, duration_s } = self.load.window;
        let (start, length) = (Instant::from_nanos(start_monotonic_ns), Duration::from_secs_f64(duration_s));
        let mut summary = summarise(&self.sampled, &self.names, start, length, cores);
        for (server, events) in summary.servers.iter_mut().zip(&self.jvm_events) {
            server.signals.jvm_events.clone_from(events);
        }
        if let Some(who) = self.among_others {
            forget_others(&mut summary.host, who);
        }
        if !self.load.agents.is_empty() {
            forget_generator(&mut summary.host);
        }
        summary
    }
}

fn under_load(
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

/// Servers with what was seen of each; of what was running already nothing was.
fn with_what_was_seen(
    servers: Vec<Server>,
    seen: Vec<ServerSummary>,
    load: &LoadResult,
) -> impl Iterator<Item = Server> {
    let seen = seen.into_iter().map(Some).chain(std::iter::repeat_with(|| None));
    servers.into_iter().zip(seen).map(move |(server, seen)| match seen {
        Some(seen) => observed(server, seen, load),
        None => server,
    })
}

/// A server with what was seen of it, its CPU time charged to the requests done in the window.
fn observed(server: Server, seen: ServerSummary, load: &LoadResult) -> Server {
    let ServerSummary { cpu_cores, rss_bytes_max, threads_max, thread_groups, signals } = seen;
    let throughput = load.throughput_per_s;
    Server {
        cpu_cores,
        cpu_us_per_request: cpu_cores.filter(|_| throughput > 0.0).map(|cores| cores * 1e6 / throughput),
        rss_bytes_max: Some(rss_bytes_max),
        threads_max: Some(threads_max),
        thread_groups,
        signals: Some(signals),
        ..server
    }
}
