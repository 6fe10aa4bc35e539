//! One trial: boot a fresh process, check what it answers, load it, watch it, stop it.

mod under_load;

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::Path;

use driver::Control;
use events::{Moment, Stage};
use plan::stack::{Site, Speaks, StackManifest};
use plan::{Bursts, Cell, Placement, Processes};
use record::{Contract, IdleAnswers, LoadResult, Measured, Server, Surroundings, Upstream, WarmUp};
use signals::{ServerSummary, Summary, WholeNames};
use stack::{Afterwards, Chain, ChainOptions, ContractReport, Cpus, Interrupt, PhysicalCores, Running};
use units::Duration;

use self::under_load::{Loaded, under_load};
use crate::carry;
use crate::cool_down::cool_down;
use crate::error::{LabError, NotMeasured};
use crate::foreign::{self, Programs};
use crate::hosts::Hosts;
use crate::idle::AskedIdle;

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
        let (client, servers) = apart(&all).ok_or(LabError::OneCore)?;
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

/// Those of `all` that a client would have for itself, and those for servers. `None` of too few.
fn apart(all: &Cpus) -> Option<(Cpus, Cpus)> {
    PhysicalCores::of(all).split()
}

/// How the first of these trials that was placed otherwise was, than the next one would be that has cores of its own for client and
/// servers: on other CPUs of the machine, or by a version that shared them out otherwise.
pub(crate) fn placed_otherwise<'a>(mut trials: impl Iterator<Item = &'a Surroundings>) -> Option<String> {
    let (client, servers) = apart(&Cpus::of_this_thread())?;
    trials.find_map(|then| on_other_cores(then, &client, &servers))
}

fn on_other_cores(then: &Surroundings, client: &Cpus, servers: &Cpus) -> Option<String> {
    let listed = |list: Option<&str>| list.and_then(Cpus::listed);
    let was_client = listed(then.client_cpus.as_deref());
    let were_servers = listed(then.server_cpus.as_deref());
    // Where nobody saw it, as of servers that were running already, nothing is known to differ.
    let is_there = |then: Option<&Cpus>, now: &Cpus| then.is_none_or(|it| it.is_within(now));
    if is_there(was_client.as_ref(), client) && is_there(were_servers.as_ref(), servers) {
        return None;
    }
    let words = |it: Option<Cpus>| it.map_or_else(|| "none that are known".to_owned(), |it| it.to_string());
    Some(format!(
        "its client ran on cores {} and its servers on {}, and now they would on {client} and {servers}",
        words(was_client),
        words(were_servers)
    ))
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
    /// Loads that were measured of it.
    loads: u32,
    /// What it took to warm it up, and how long an answer took then, by what was asked of it, and by how many.
    warmed: BTreeMap<(Asked, u32), Warmed>,
}

/// An endpoint, and what is spoken with it.
type Asked = (String, Speaks);

/// A stack that is warm for a load.
#[derive(Clone)]
struct Warmed {
    told: WarmUp,
    /// How many loads had been measured of it before.
    after: u32,
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
        Ok(Self { chain: Chain::boot(setting.chain, &options)?, loads: 0, warmed: BTreeMap::new() })
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
            let response = in_proportion(warmed.response, *there, users);
            Some(Warmed { response, ..warmed.clone() })
        };
        let same = self.warmed.get(&(asked.clone(), users)).cloned();
        let warmed = same.or_else(|| (setting.processes == Processes::Block).then(of_others).flatten())?;
        let told = with_loads_since(warmed.told, warmed.after, self.loads);
        Some(Warmed { told, ..warmed })
    }

    /// Takes note of a load that was measured of it, and of how warm it is for the next.
    fn remember(&mut self, cell: &Cell, loaded: &Loaded, contract: &Contract) {
        let warmed = loaded.warm_up.clone().map(|(told, response)| Warmed {
            after: self.loads.saturating_sub(told.loads_since.unwrap_or(0)),
            told,
            response,
            service_time_us: contract.warm_service_time_us.unwrap_or(contract.idle_service_time_us),
            idle: contract.idle_answers,
            names: loaded.names.clone(),
        });
        self.warmed.extend(warmed.map(|warmed| (warmed_for(cell), warmed)));
        self.loads = self.loads.saturating_add(1);
    }

    /// Ends it.
    pub(crate) fn stop(self) -> Result<(), LabError> {
        Ok(self.chain.stop().map(|_| ())?)
    }
}

/// A warm-up that had so many loads of its process before it, for a trial that has so many.
fn with_loads_since(told: WarmUp, before: u32, by_now: u32) -> WarmUp {
    WarmUp { loads_since: Some(by_now.saturating_sub(before)), ..told }
}

/// What an answer takes `users` that took `there` of them `response`: one after another, whether they are more or fewer.
fn in_proportion(response: Duration, there: u32, users: u32) -> Duration {
    let ns = u128::from(response.as_nanos()) * u128::from(users) / u128::from(there.max(1));
    Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX))
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
        booted.remember(setting.cell, &loaded, &contract);
        booted.chain.shorten_logs();
        *up = Some(booted);
        false
    } else {
        // Whatever lives on would be a load beside every trial behind this one: no record of a stack, and the end of the run.
        booted.chain.stop().map_err(|error| NotMeasured::Lab(error.into()))?.forced
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
        // The last of the chain is the one that was asked.
        let file = setting.chain.last().map_or_else(|| "its file".to_owned(), |stack| stack.written_in());
        let ready = setting.chain.last().and_then(|stack| stack.ready.path());
        let hint = not_up_yet(report.status, ready, &setting.cell.endpoint.path);
        let help = format!("mend the stack, or what {file} expects{hint}");
        return Err(NotMeasured::Stack(format!("its answer is not the expected one: {why}; {help}")));
    }
    Ok(contract_record(&report))
}

/// What else there is to do where a server that is ready answers that it can't serve: another path may have told it too early.
fn not_up_yet(status: u16, ready: Option<&str>, asked: &str) -> String {
    match ready.filter(|path| *path != asked && (500..600).contains(&status)) {
        Some(path) => {
            format!(
                "; if it only is not up yet when GET {path} is answered, have its [ready] ask for {asked}"
            )
        }
        None => String::new(),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Two threads of a core are one beside the other on some machines, and half of all CPUs apart on most.
    #[test]
    fn cores_that_were_shared_out_otherwise_are_told() {
        let cpus = |list: &str| Cpus::listed(list).expect("it is a list");
        let told = |client: Option<&str>, servers: Option<&str>| {
            let then = Surroundings {
                time_wait_at_boot: None,
                client_cpus: client.map(str::to_owned),
                server_cpus: servers.map(str::to_owned),
            };
            on_other_cores(&then, &cpus("0,2"), &cpus("1,3"))
        };
        assert_eq!(
            told(Some("0-1"), Some("2-3")).as_deref(),
            Some("its client ran on cores 0-1 and its servers on 2-3, and now they would on 0,2 and 1,3")
        );
        assert!(told(Some("0,2"), Some("2-3")).is_some());
        assert!(told(Some("4"), None).is_some_and(|it| it.contains("servers on none that are known")));
        // A stack may use fewer than it has, and of some nothing was seen.
        for (client, servers) in
            [(Some("0,2"), Some("1,3")), (Some("0,2"), Some("3")), (Some("0,2"), None), (None, None)]
        {
            assert_eq!(told(client, servers), None, "{client:?} {servers:?}");
        }
    }

    /// Two loads before it was warmed up for this one, and three by now: one in between.
    #[test]
    fn loads_are_counted_from_the_warm_up_on() {
        let told = |before, by_now| with_loads_since(WarmUp::default(), before, by_now).loads_since;
        assert_eq!([told(0, 0), told(2, 3), told(0, 11)], [Some(0), Some(1), Some(11)]);
    }

    /// A window of ten answers of 5000 users would be one of a minute for 300.
    #[test]
    fn an_answer_takes_users_in_proportion_to_their_number() {
        let of = |there, users| in_proportion(Duration::from_millis(1500), there, users);
        assert_eq!(of(300, 300), Duration::from_millis(1500));
        assert_eq!(of(300, 1000), Duration::from_secs(5));
        assert_eq!(of(5000, 300), Duration::from_millis(90));
        assert_eq!(of(0, 1), Duration::from_millis(1500));
        assert_eq!(in_proportion(Duration::MAX, 1, 2), Duration::MAX);
    }

    /// One that says `200` at `/livez` and `503` at all else is still starting.
    #[test]
    fn a_server_that_is_told_up_too_early_is_told_by_what_it_is_to_serve() {
        let told = not_up_yet(503, Some("/livez"), "/items");
        assert!(told.contains("GET /livez") && told.ends_with("ask for /items"), "{told}");
        for (status, ready) in [(404, Some("/livez")), (503, Some("/items")), (503, None)] {
            assert_eq!(not_up_yet(status, ready, "/items"), "");
        }
    }
}
