//! One trial: boot a fresh process, check what it answers, load it, watch it, stop it.

use std::collections::BTreeMap;
use std::path::Path;

use driver::{Control, monotonic_now};
use plan::stack::StackManifest;
use plan::{Bursts, Cell, LoadPlan, Placement};
use record::{Contract, LoadResult, Measured, Server, Surroundings, Upstream, UsageSample, WarmUp};
use stack::{Afterwards, Chain, ChainOptions, ContractReport, Cpus, Interrupt, Running, Usage};
use units::Duration;

use crate::cool_down::cool_down;
use crate::crew::Crew;
use crate::error::LabError;
use crate::load::{self, Job, Moment};
use crate::warm_up::{settled, warm_up};

/// How long one answer of the contract check may take.
const CONTRACT_TIMEOUT: Duration = Duration::from_secs(5);
/// Lines of a stack's log that are shown when it fails.
const LOG_LINES: usize = 20;

/// Why there is no measurement.
pub(crate) enum NotMeasured {
    /// The stack failed; others may do better.
    Stack(String),
    /// The user interrupted.
    Interrupted,
    /// Nothing can be measured here.
    Lab(LabError),
}

impl<E: Into<LabError>> From<E> for NotMeasured {
    fn from(error: E) -> Self {
        match error.into() {
            LabError::Stack(error) => Self::Stack(error.to_string()),
            error => Self::Lab(error),
        }
    }
}

/// What a trial needs.
pub(crate) struct Setting<'a> {
    pub(crate) cell: &'a Cell,
    /// The stack and what stands behind it, in the order in which they are booted.
    pub(crate) chain: &'a [&'a StackManifest],
    pub(crate) proofload_exe: &'a Path,
    /// The trial's own directory.
    pub(crate) dir: &'a Path,
    pub(crate) bursts: &'a Bursts,
    pub(crate) cool_down_max: Duration,
    /// Where what runs; `None` where client and servers share all cores.
    pub(crate) cores: Option<&'a Cores>,
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

impl Drop for Cores {
    fn drop(&mut self) {
        // The calling thread's own business goes on where it may; nothing is measured any more.
        let _ = self.all.keep_this_thread();
    }
}

/// Makes one trial. Whatever happens, no process of the stack is left when it returns.
pub(crate) fn measure(
    setting: &Setting<'_>,
    observe: &mut dyn FnMut(Moment<'_>),
) -> Result<Measured, NotMeasured> {
    let is_interrupted = || setting.interrupt.is_interrupted();
    let interrupt = Interrupt::when(&is_interrupted);
    load::enough_files(setting.cell.load.connections.get())?;
    let time_wait_at_boot = cool_down(setting.cool_down_max, setting.interrupt);
    let cpus = setting.cores.map(|cores| &cores.servers);
    let options = ChainOptions { proofload_exe: setting.proofload_exe, dir: setting.dir, cpus, interrupt };
    let chain = Chain::boot(setting.chain, &options)?;
    let contract = agreed_contract(setting, chain.front())?;
    let mut servers: Vec<Server> = chain.all().iter().map(booted).collect();
    let load = under_load(setting, &chain, &mut servers, observe);
    if let Some(dead) = chain.dead() {
        let (id, tail) = (dead.id(), dead.log_tail(LOG_LINES));
        return Err(NotMeasured::Stack(format!("{id} died under load; the end of its log:\n{tail}")));
    }
    let Loaded { load, warm_up, client_cpus, server_cpus } = load?;
    let ids: Vec<String> = chain.upstreams().iter().map(|running| running.id().to_owned()).collect();
    servers[0].stop_forced = chain.stop()?.forced;
    if load.interrupted || setting.interrupt.is_interrupted() {
        return Err(NotMeasured::Interrupted);
    }
    on_their_cores(setting.cores, &client_cpus, &server_cpus)?;
    for server in &mut servers {
        charge(server, &load);
    }
    let mut servers = servers.into_iter();
    let server = servers.next().unwrap_or_default();
    let upstreams = ids.into_iter().zip(servers).map(|(stack, server)| Upstream { stack, server }).collect();
    let surroundings = Surroundings {
        time_wait_at_boot,
        client_cpus: Some(client_cpus.to_string()),
        server_cpus: Some(server_cpus.to_string()),
    };
    Ok(Measured { load, server, upstreams, contract, warm_up, surroundings })
}

/// Whether client and servers were where they belong; a figure of other cores is none of this placement.
fn on_their_cores(cores: Option<&Cores>, client: &Cpus, servers: &Cpus) -> Result<(), NotMeasured> {
    let Some(cores) = cores else { return Ok(()) };
    if client.is_within(&cores.client) && servers.is_within(&cores.servers) {
        return Ok(());
    }
    let Cores { client: client_own, servers: servers_own, .. } = cores;
    Err(NotMeasured::Stack(format!(
        "the client ran on cores {client} instead of {client_own}, the servers on {servers} instead of {servers_own}; \
         a stack that chooses its cores itself can't be placed: give it none to choose, or share them"
    )))
}

fn booted(running: &Running) -> Server {
    Server {
        command: running.effective_command().to_vec(),
        jvm_flags: running.effective_jvm_flags().to_vec(),
        boot_s: running.boot_took().as_secs_f64(),
        ..Server::default()
    }
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
        tries: report.tries,
    }
}

/// What came of a load, and of the bursts before it.
struct Loaded {
    load: LoadResult,
    warm_up: Option<WarmUp>,
    client_cpus: Cpus,
    server_cpus: Cpus,
}

fn under_load(
    setting: &Setting<'_>,
    chain: &Chain,
    servers: &mut [Server],
    observe: &mut dyn FnMut(Moment<'_>),
) -> Result<Loaded, NotMeasured> {
    let addr = chain.front().addr();
    let target = setting.cell.target(&addr.to_string()).map_err(LabError::from)?;
    let expect = setting.cell.expect();
    let interval_log = setting.dir.join("response_time.hlog");
    let asked = Job {
        url: &target.url,
        targets: &[addr],
        request: &target.request,
        expect: &expect,
        plan: &setting.cell.load,
        interval_log: None,
    };
    let crew = Crew::choose(&asked, setting.interrupt, observe)?;
    let (plan, warm_up) = warmed_up(setting, chain, &crew, &asked, observe)?;
    let job = Job { plan: &plan, interval_log: Some(&interval_log), ..asked };
    let control = Control::default();
    read_usage(chain, servers);
    let (load, client_cpus) = load::carry_out(&job, &crew, &control, &mut |moment| {
        if let Moment::Tick(_) = moment {
            read_usage(chain, servers);
            end_if_over(setting, chain, &control);
        }
        observe(moment);
    })?;
    read_usage(chain, servers);
    Ok(Loaded { load, warm_up, client_cpus, server_cpus: chain.cpus() })
}

/// Warms the stack up where its cell wants that, and says what load it is measured with then.
fn warmed_up(
    setting: &Setting<'_>,
    chain: &Chain,
    crew: &Crew,
    asked: &Job<'_>,
    observe: &mut dyn FnMut(Moment<'_>),
) -> Result<(LoadPlan, Option<WarmUp>), NotMeasured> {
    if !setting.cell.until_steady {
        return Ok((asked.plan.clone(), None));
    }
    // At full load even where less is measured: what is compiled is the same, and it is compiled sooner.
    let mut full = asked.plan.burst(setting.bursts.length);
    full.load = engine::Load::SATURATING;
    let burst = Job { plan: &full, ..*asked };
    let (told, response) = warm_up(setting.bursts, chain, setting.interrupt, &mut |number| {
        observe(Moment::Burst(number));
        let control = Control::default();
        let made = load::carry_out(&burst, crew, &control, &mut |moment| {
            if let Moment::Tick(_) = moment {
                end_if_over(setting, chain, &control);
            }
            observe(moment);
        })?;
        Ok(made.0)
    })?;
    Ok((settled(asked.plan, response), Some(told)))
}

/// Ends a load when the user interrupts, or when there is nothing left to load.
fn end_if_over(setting: &Setting<'_>, chain: &Chain, control: &Control) {
    if setting.interrupt.is_interrupted() || chain.dead().is_some() {
        control.interrupt();
    }
}

/// Takes one reading of each stack.
fn read_usage(chain: &Chain, servers: &mut [Server]) {
    for (running, server) in chain.all().iter().zip(servers) {
        read_usage_of(running, server);
    }
}

/// One that fails (a process that just ended) is left out.
fn read_usage_of(running: &Running, server: &mut Server) {
    let at = monotonic_now();
    let Ok(usage) = running.usage() else { return };
    let Usage { cpu_user, cpu_system, rss, threads, thread_groups, .. } = usage;
    server.usage.push(UsageSample {
        at_monotonic_ns: at.as_nanos(),
        cpu_user_s: cpu_user.as_secs_f64(),
        cpu_system_s: cpu_system.as_secs_f64(),
        rss_bytes: rss.0,
        threads,
    });
    server.rss_bytes_max = server.rss_bytes_max.max(rss.0);
    server.threads_max = server.threads_max.max(threads);
    server.thread_groups =
        thread_groups.into_iter().map(|group| (group.name, group.threads)).collect::<BTreeMap<_, _>>();
}

/// Charges the stack's CPU time within the window to the requests done in it.
fn charge(server: &mut Server, load: &LoadResult) {
    let start_s = load.window.start_monotonic_ns as f64 / 1e9;
    let length_s = load.window.duration_s;
    let at = |at_s: f64| cpu_at(&server.usage, at_s);
    let (Some(from), Some(to)) = (at(start_s), at(start_s + length_s)) else { return };
    let done = load.throughput_per_s * length_s;
    server.cpu_cores = (length_s > 0.0).then(|| (to - from) / length_s);
    server.cpu_us_per_request = (done > 0.0).then(|| (to - from) * 1e6 / done);
}

/// CPU seconds used until `at_s`, interpolated between the readings around it.
fn cpu_at(usage: &[UsageSample], at_s: f64) -> Option<f64> {
    let time = |sample: &UsageSample| sample.at_monotonic_ns as f64 / 1e9;
    let cpu = |sample: &UsageSample| sample.cpu_user_s + sample.cpu_system_s;
    let after = usage.iter().position(|sample| time(sample) >= at_s)?;
    let (Some(before), after) = (after.checked_sub(1).map(|index| &usage[index]), &usage[after]) else {
        return None;
    };
    let span = time(after) - time(before);
    let share = if span > 0.0 { (at_s - time(before)) / span } else { 0.0 };
    Some(cpu(before) + share * (cpu(after) - cpu(before)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(at_s: f64, cpu_user_s: f64) -> UsageSample {
        let at_monotonic_ns = (at_s * 1e9) as u64;
        UsageSample { at_monotonic_ns, cpu_user_s, cpu_system_s: 0.0, rss_bytes: 0, threads: 1 }
    }

    #[test]
    fn cpu_time_is_interpolated_and_never_extrapolated() {
        let usage = [reading(1.0, 10.0), reading(2.0, 12.0), reading(3.0, 12.0)];
        assert_eq!(cpu_at(&usage, 1.5), Some(11.0));
        assert_eq!(cpu_at(&usage, 3.0), Some(12.0));
        assert_eq!(cpu_at(&usage, 0.5), None);
        assert_eq!(cpu_at(&usage, 3.5), None);
    }
}
