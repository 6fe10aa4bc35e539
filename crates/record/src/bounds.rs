//! What a run can have at most, asked where a record is read.
//!
//! A record is untrusted: somebody may have sent the directory. What is made of it, such as a place for every block or an
//! interval for every pair of stacks, takes memory and time that follow from its figures; so those that no run has are
//! refused here, once, and nothing behind this has to ask again.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

use plan::experiment::bounds::{
    CELLS_MAX, FILE_BYTES_MAX, NAME_BYTES_MAX, STACKS_OF_A_TABLE_MAX, TRIALS_MAX,
};
use plan::{Driver, LoadId};

use crate::agents::AgentResult;
use crate::confirmation::ConfirmationRecord;
use crate::distribution::Distribution;
use crate::files::LinesBound;
use crate::load::{HEADER_NAMES_MAX, LoadResult, RequestSummary};
use crate::manifest::{Machine, Manifest, StackManifest};
use crate::server_pods::{ContainerUse, ServerPods};
use crate::signals::{Held, HostSignals, ServerSignals, SignalReading};
use crate::tls::Tls;
use crate::trial::{Contract, Measured, Server, Trial, TrialResult};

const MIB: u64 = 1 << 20;
/// The longest `manifest.json`, bytes; each has some kilobytes.
pub(crate) const MANIFEST_BYTES_MAX: u64 = 4 * MIB;
/// The longest `experiment.toml`, bytes.
pub(crate) const EXPERIMENT_BYTES_MAX: u64 = FILE_BYTES_MAX;
/// Names of two versions and of some services.
pub(crate) const VERSIONS_BYTES_MAX: u64 = MIB;
/// `trials.jsonl`: a trial takes 16 KiB, and up to a MiB where it has an hour of seconds.
pub(crate) const TRIALS: LinesBound = LinesBound { file_bytes_max: 256 * MIB, line_bytes_max: 4 * MIB };
/// `signals.jsonl`: a reading takes some kilobytes.
pub(crate) const SIGNALS: LinesBound = LinesBound { file_bytes_max: 128 * MIB, line_bytes_max: MIB };
/// `response_time.hlog`: an interval of a thread takes up to some 400 KiB.
pub(crate) const INTERVAL_LOG: LinesBound = LinesBound { file_bytes_max: 256 * MIB, line_bytes_max: MIB };
/// `confirmations.jsonl`.
pub(crate) const CONFIRMATIONS: LinesBound =
    LinesBound { file_bytes_max: 16 * MIB, line_bytes_max: MIB / 16 };

/// Blocks of a run; a plan has 1000 at most.
const BLOCKS_MAX: u64 = 10_000;
/// Readings of the signals of a trial.
const READINGS_MAX: u64 = 200_000;
/// Confirmations of a run.
const CONFIRMATIONS_MAX: u64 = 1_000;
/// Numbers of users in one of them.
const LEVELS_MAX: u64 = 100;
/// Machines that carry one load.
const AGENTS_MAX: u64 = 10_000;
/// Pods of a server.
const SERVER_PODS_MAX: u64 = 10_000;
/// Attempts at a trial that came to nothing; a run makes three of them at most.
const LOST_ATTEMPTS_MAX: u64 = 100;
/// Things in a list or a map of one trial.
const LIST_MAX: u64 = 100_000;
/// Requests, connections or samples that anything counts: at a million a second it takes thirty years.
pub(crate) const COUNT_MAX: u64 = 1_000_000_000_000_000;
/// Connections, users, threads or cores at a time.
const AT_A_TIME_MAX: u64 = 1 << 24;
/// Bytes of memory, of an answer, or towards a disk.
const BYTES_MAX: u64 = 1 << 60;

type Checked = Result<(), String>;

fn within(what: &str, value: u64, most: u64) -> Checked {
    if value <= most { Ok(()) } else { Err(format!("{what} is {value}, and at most {most} are read")) }
}

fn all_within(most: u64, values: &[(&str, u64)]) -> Checked {
    values.iter().try_for_each(|(what, value)| within(what, *value, most))
}

fn length(what: &str, length: usize) -> Checked {
    within(&format!("the length of {what}"), length as u64, LIST_MAX)
}

fn names(all: &[(&str, &str)]) -> Checked {
    all.iter().try_for_each(|(what, text)| {
        within(&format!("the length of {what}"), text.len() as u64, NAME_BYTES_MAX)
    })
}

fn figure(what: &str, value: f64, most: f64) -> Checked {
    if (0.0..=most).contains(&value) {
        Ok(())
    } else {
        Err(format!("{what} is {value:e}, and 0 to {most} is read"))
    }
}

/// A map of counts, all of them together within the bound, since they are added up.
fn counts<'a>(what: &str, most: u64, counts: impl ExactSizeIterator<Item = &'a u64>) -> Checked {
    length(what, counts.len())?;
    within(&format!("the sum of {what}"), counts.fold(0, |sum, count| sum.saturating_add(*count)), most)
}

fn small_counts(what: &str, of: &BTreeMap<String, u32>) -> Checked {
    let all: Vec<u64> = of.values().map(|count| u64::from(*count)).collect();
    counts(what, AT_A_TIME_MAX, all.iter())
}

/// The cells of a run, counted as its trials are read.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    trials: u64,
    stacks_by_table: BTreeMap<(String, LoadId, Driver), BTreeSet<String>>,
    count: u64,
}

impl Cells {
    /// Counts another trial.
    pub(crate) fn add(&mut self, trial: &Trial) -> Checked {
        self.trials += 1;
        within("the number of trials", self.trials, TRIALS_MAX)?;
        let table = (trial.round.clone(), trial.load.id.clone(), trial.driver);
        let stacks = self.stacks_by_table.entry(table).or_default();
        self.count += u64::from(stacks.insert(trial.stack.clone()));
        within("the number of stacks of a table", stacks.len() as u64, STACKS_OF_A_TABLE_MAX)?;
        within("the number of cells", self.count, CELLS_MAX)
    }
}

/// Whether a trial is one that a run can have.
pub(crate) fn check_trial(trial: &Trial) -> Checked {
    within("`block`", trial.block.into(), BLOCKS_MAX)?;
    within("`index`", trial.index.into(), BLOCKS_MAX * CELLS_MAX)?;
    let Trial { round, stack, load, started, .. } = trial;
    names(&[("`round`", round), ("`stack`", stack), ("`started`", started)])?;
    check_load_id(&load.id)?;
    check_attempts(&trial.lost_attempts)?;
    match &trial.result {
        TrialResult::Measured(measured) => check_measured(measured),
        TrialResult::Failed { .. } => Ok(()),
    }
}

/// Each names a machine and why it was lost, with words around them.
fn check_attempts(lost: &[String]) -> Checked {
    within("the number of `lost_attempts`", lost.len() as u64, LOST_ATTEMPTS_MAX)?;
    let what = "the length of why an attempt was lost";
    lost.iter().try_for_each(|why| within(what, why.len() as u64, 3 * NAME_BYTES_MAX))
}

/// Spans are any number of nanoseconds, since nothing is made of them, and a rate is one that can be by its type.
fn check_load_id(load: &LoadId) -> Checked {
    let at_a_time =
        |count: NonZeroU32| within("the connections of `load_id`", count.get().into(), AT_A_TIME_MAX);
    match load {
        LoadId::Closed { connections, requests_per_user, .. } => {
            let each = requests_per_user.map_or(0, NonZeroU32::get);
            at_a_time(*connections)?;
            within("the `requests_per_user` of `load_id`", each.into(), COUNT_MAX)
        }
        LoadId::Open { connections, .. } => at_a_time(*connections),
        LoadId::Scripted { users } => at_a_time(*users),
        LoadId::Unknown { label } => names(&[("`load`", label)]),
    }
}

fn check_measured(measured: &Measured) -> Checked {
    let Measured { load, server, upstreams, contract, warm_up, surroundings, host } = measured;
    check_load(load)?;
    check_server(server)?;
    length("`upstreams`", upstreams.len())?;
    for upstream in upstreams {
        names(&[("an upstream's `stack`", &upstream.stack)])?;
        check_server(&upstream.server)?;
    }
    check_contract(contract)?;
    length("`bursts`", warm_up.as_ref().map_or(0, |it| it.bursts.len()))?;
    within("`time_wait_at_boot`", surroundings.time_wait_at_boot.unwrap_or(0).into(), AT_A_TIME_MAX)?;
    host.as_ref().map_or(Ok(()), check_host)
}

fn check_contract(contract: &Contract) -> Checked {
    length("`deviations`", contract.deviations.len())?;
    names(&[("`protocol`", contract.protocol.as_deref().unwrap_or_default())])?;
    within("`wire_bytes`", contract.wire_bytes, BYTES_MAX)
}

/// Whether the result of a load is one that a load can have.
pub(crate) fn check_load(result: &LoadResult) -> Checked {
    let LoadResult { load, outcomes, connections, generator, .. } = result;
    names(&[("`label`", &load.label), ("`io`", &load.io), ("`model`", &load.model)])?;
    all_within(
        AT_A_TIME_MAX,
        &[
            ("`connections`", load.connections.into()),
            ("`threads`", load.threads.into()),
            ("the driver's `cores`", result.driver.as_ref().map_or(0, |it| it.cores).into()),
        ],
    )?;
    all_within(
        COUNT_MAX,
        &[
            ("`intended`", result.intended),
            ("`answered`", outcomes.answered),
            ("`answered_as_expected`", result.answered_as_expected),
            ("`requests`", load.requests.unwrap_or(0)),
            ("`no_buffer`", generator.no_buffer),
            ("`completions_held_back`", generator.completions_held_back),
            ("`opened`", connections.opened),
            ("`opened_in_window`", connections.opened_in_window.unwrap_or(0)),
            ("`opening_failures`", connections.opening_failures),
            ("`closed_by_server`", connections.closed_by_server),
            ("`resent`", connections.resent),
            ("`unsolicited`", connections.unsolicited),
            ("`backlog_peak`", connections.backlog_peak),
            ("`backlog_overflow`", connections.backlog_overflow),
        ],
    )?;
    all_within(COUNT_MAX, &outcomes.failures())?;
    counts("`statuses`", COUNT_MAX, result.statuses.values())?;
    counts("`connect_failures`", COUNT_MAX, result.connect_failures.values())?;
    counts("`tls_failures`", COUNT_MAX, result.tls_failures.values())?;
    counts("`malformations`", COUNT_MAX, result.malformations.values())?;
    counts("`go_aways`", COUNT_MAX, result.go_aways.values())?;
    result.request.as_ref().map_or(Ok(()), check_request)?;
    result.tls.as_ref().map_or(Ok(()), check_tls)?;
    for times in [
        &result.service_time_us,
        &result.response_time_us,
        &result.lag_us,
        &result.generator_lag_us,
        &result.receive_lag_us,
    ] {
        check_distribution(times)?;
    }
    result.first_byte_us.as_ref().map_or(Ok(()), check_distribution)?;
    length("`seconds`", result.seconds.len())?;
    check_agents(&result.agents)?;
    result.server_pods.as_ref().map_or(Ok(()), check_server_pods)?;
    length("`steps`", result.steps.len())?;
    for step in &result.steps {
        names(&[("a step's `label`", &step.label)])?;
        within("a step's `failed`", step.failed, COUNT_MAX)?;
        within("a step's `cut_off`", step.cut_off, COUNT_MAX)?;
        check_distribution(&step.response_time_us)?;
    }
    let Some(driver) = &result.driver else { return Ok(()) };
    length("the driver's `command`", driver.command.len())?;
    length("`cannot_know`", driver.cannot_know.len())
}

fn check_request(request: &RequestSummary) -> Checked {
    let RequestSummary { method, header_names, body_bytes } = request;
    names(&[("`method`", method)])?;
    within("the number of `header_names`", header_names.len() as u64, HEADER_NAMES_MAX as u64)?;
    header_names.iter().try_for_each(|name| names(&[("the name of a header field", name)]))?;
    within("`body_bytes`", *body_bytes, BYTES_MAX)
}

fn check_agents(agents: &[AgentResult]) -> Checked {
    within("the number of `agents`", agents.len() as u64, AGENTS_MAX)?;
    for agent in agents {
        names(&[("an agent's `name`", &agent.name), ("its `node`", &agent.node), ("its `io`", &agent.io)])?;
        all_within(
            AT_A_TIME_MAX,
            &[
                ("an agent's `cores`", agent.cores.into()),
                ("its `threads`", agent.threads.into()),
                ("its `connections`", agent.connections.into()),
            ],
        )?;
        let lost = agent.lost.as_ref();
        names(&[("why an agent was lost", lost.map_or("", |it| it.why.as_str()))])?;
        let requests = lost.map_or(0, |it| it.requests);
        all_within(COUNT_MAX, &[("an agent's `intended`", agent.intended), ("its `requests`", requests)])?;
    }
    Ok(())
}

fn check_server_pods(server: &ServerPods) -> Checked {
    let ServerPods { namespace, labels, not_known, keep, pods } = server;
    let (not_known, keep) = (not_known.as_deref().unwrap_or_default(), keep.as_deref().unwrap_or_default());
    names(&[("`namespace`", namespace), ("`labels`", labels), ("`not_known`", not_known), ("`keep`", keep)])?;
    within("the number of `server_pods`", pods.len() as u64, SERVER_PODS_MAX)?;
    length("the samples of `server_pods`", pods.iter().map(|it| it.samples.len()).sum())?;
    for pod in pods {
        names(&[("the `name` of a pod", &pod.name)])?;
        let cores = pod.samples.iter().map(|it| it.cpu_cores).chain(pod.cpu_limit_cores);
        within("the number of cores of a pod", cores.fold(0.0, f64::max) as u64, AT_A_TIME_MAX)?;
        let bytes = pod.samples.iter().map(|it| it.memory_bytes).max().unwrap_or(0);
        within("the `memory_bytes` of a pod", bytes, BYTES_MAX)?;
        if let Some(inside) = &pod.within {
            names(&[("the `container` of a pod", &inside.container)])?;
            check_container(&inside.seen)?;
        }
    }
    Ok(())
}

/// Whether it is what a container can have come to: somebody in a pod told it.
///
/// # Errors
/// If a figure or a list is beyond what a record may hold, with which.
pub fn check_container(seen: &ContainerUse) -> Result<(), String> {
    let signals = &seen.signals;
    let groups = signals.groups.iter().flat_map(|it| [it.cpu_cores, it.busiest_cores]);
    let throttled = signals.quota.map(|it| it.throttled_cores);
    for cores in seen.cpu_cores.into_iter().chain(groups).chain(throttled) {
        figure("a number of cores of a container", cores, AT_A_TIME_MAX as f64)?;
    }
    figure("`full_share`", signals.accept_queue.map_or(0.0, |it| it.full_share), 1.0)?;
    within("`threads_max`", seen.threads_max.into(), AT_A_TIME_MAX)?;
    within("`rss_bytes_max`", seen.rss_bytes_max, BYTES_MAX)?;
    length("`not_known`", seen.not_known.len())?;
    seen.not_known.iter().try_for_each(|it| names(&[("a line of `not_known`", it)]))?;
    seen.signals.groups.iter().try_for_each(|it| names(&[("the name of a group of threads", &it.name)]))?;
    check_signals(&seen.signals)
}

fn check_tls(tls: &Tls) -> Checked {
    all_within(
        COUNT_MAX,
        &[
            ("`agreed_otherwise`", tls.agreed_otherwise),
            ("`full_handshakes`", tls.full_handshakes),
            ("`resumed_handshakes`", tls.resumed_handshakes),
        ],
    )?;
    counts("`failed_handshakes`", COUNT_MAX, tls.failed_handshakes.values())?;
    counts("`broken`", COUNT_MAX, tls.broken.values())?;
    check_distribution(&tls.connect_us)?;
    check_distribution(&tls.handshake_us)
}

fn check_distribution(times: &Distribution) -> Checked {
    all_within(COUNT_MAX, &[("`count`", times.count), ("`censored`", times.censored)])?;
    length("`lower_bounds`", times.lower_bounds.len())?;
    length("`too_few_samples`", times.too_few_samples.len())
}

fn check_server(server: &Server) -> Checked {
    for (what, long) in [
        ("`command`", server.command.len()),
        ("`jvm_flags`", server.jvm_flags.len()),
        ("`usage`", server.usage.len()),
    ] {
        length(what, long)?;
    }
    small_counts("`thread_groups`", &server.thread_groups)?;
    within("`threads_max`", server.threads_max.unwrap_or(0).into(), AT_A_TIME_MAX)?;
    within("`rss_bytes_max`", server.rss_bytes_max.unwrap_or(0), BYTES_MAX)?;
    server.signals.as_ref().map_or(Ok(()), check_signals)
}

fn check_signals(signals: &ServerSignals) -> Checked {
    length("`groups`", signals.groups.len())?;
    let threads: Vec<u64> = signals.groups.iter().map(|it| it.threads.max(it.active).into()).collect();
    counts("the threads of `groups`", AT_A_TIME_MAX, threads.iter())?;
    let bands = || signals.groups.iter().flat_map(|it| &it.bands);
    signals.groups.iter().try_for_each(|it| length("`bands`", it.bands.len()))?;
    let threads: Vec<u64> = bands().map(|it| it.threads.max(it.processes).into()).collect();
    counts("the threads of `bands`", AT_A_TIME_MAX, threads.iter())?;
    counts("`jvm_events`", COUNT_MAX, signals.jvm_events.values())?;
    if let Some(pauses) = &signals.gc_pauses {
        within("the `seconds` of `gc_pauses`", pauses.seconds.into(), LIST_MAX)?;
        length("`ended` of `gc_pauses`", pauses.ended.len())?;
    }
    length("`asks`", signals.asks.len())?;
    signals.asks.iter().try_for_each(|it| {
        within("the connections of `asks`", it.connections.into(), AT_A_TIME_MAX)?;
        names(&[("an address of `asks`", &it.at)])
    })?;
    let queue = signals.accept_queue.map_or((0, 0), |it| (it.limit, it.max));
    let held = signals.connections.map_or((0, 0), |it| (it.max, it.readings));
    let most = |held: Option<Held>| held.map_or(0, |it| it.max.max(it.readings));
    let rss_bytes = signals.rss_bytes.unwrap_or_default();
    let anonymous_bytes = signals.anonymous_bytes.unwrap_or_default();
    let threads = signals.threads.unwrap_or_default();
    within("`threads`", threads.into_iter().max().unwrap_or(0).into(), AT_A_TIME_MAX)?;
    let jvm = signals.jvm.map_or((0, 0), |it| (it.heap_used_bytes_max, it.heap_max_bytes));
    all_within(
        BYTES_MAX,
        &[
            ("`rss_bytes`", rss_bytes.into_iter().max().unwrap_or(0)),
            ("`anonymous_bytes`", anonymous_bytes.into_iter().max().unwrap_or(0)),
            ("a heap", jvm.0.max(jvm.1)),
        ],
    )?;
    all_within(
        COUNT_MAX,
        &[
            ("`open_files_max`", signals.open_files_max.unwrap_or(0)),
            ("the connections that waited", u64::from(queue.1)),
            ("`accept_queue.limit`", u64::from(queue.0)),
            ("the connections held", u64::from(held.0)),
            ("`connections.readings`", u64::from(held.1)),
            ("`unread`", u64::from(most(signals.unread))),
            ("`unacknowledged`", u64::from(most(signals.unacknowledged))),
        ],
    )
}

fn check_host(host: &HostSignals) -> Checked {
    within("`cores`", host.cores.into(), AT_A_TIME_MAX)?;
    length("`pressure`", host.pressure.len())?;
    length("`others`", host.others.len())?;
    host.others.iter().try_for_each(|used| names(&[("the name of a process", &used.name)]))?;
    length("`not_known`", host.not_known.len())?;
    length("`links`", host.links.len())?;
    host.links.iter().try_for_each(|link| names(&[("the name of a link", &link.name)]))?;
    counts("`network`", u64::MAX - 1, host.network.values())?;
    counts("`network_before`", u64::MAX - 1, host.network_before.values())
}

/// Whether a manifest is one that a run can have.
pub(crate) fn check_manifest(manifest: &Manifest) -> Checked {
    all_within(
        BLOCKS_MAX,
        &[("`blocks`", manifest.blocks.into()), ("`blocks_max`", manifest.blocks_max.into())],
    )?;
    within("`trials`", manifest.trials.into(), BLOCKS_MAX * CELLS_MAX)?;
    check_machine(&manifest.machine)?;
    for (what, long) in [
        ("`stacks`", manifest.stacks.len()),
        ("`left_out`", manifest.left_out.len()),
        ("`drivers`", manifest.drivers.len()),
        ("`selection`", manifest.selection.as_ref().map_or(0, Vec::len)),
    ] {
        within(&format!("the length of {what}"), long as u64, CELLS_MAX)?;
    }
    manifest
        .stacks
        .iter()
        .try_for_each(|(id, stack)| names(&[("a stack's id", id)]).and_then(|()| check_stack(stack)))
}

fn check_stack(stack: &StackManifest) -> Checked {
    within("the number of stacks behind a stack", stack.upstreams.len() as u64, STACKS_OF_A_TABLE_MAX)?;
    stack.upstreams.values().try_for_each(check_stack)
}

/// Whether there can be such a machine.
pub(crate) fn check_machine(machine: &Machine) -> Checked {
    within("`cores`", machine.cores as u64, AT_A_TIME_MAX)?;
    within("`memory_bytes`", machine.memory_bytes.unwrap_or(0), BYTES_MAX)
}

/// Whether there can be another reading after so many.
pub(crate) fn check_reading(before: usize, reading: &SignalReading) -> Checked {
    within("the number of readings", before as u64 + 1, READINGS_MAX)?;
    within("the number of servers", reading.servers.len() as u64, STACKS_OF_A_TABLE_MAX)
}

/// Whether there can be another confirmation after so many.
pub(crate) fn check_confirmation(before: usize, record: &ConfirmationRecord) -> Checked {
    within("the number of confirmations", before as u64 + 1, CONFIRMATIONS_MAX)?;
    within("the numbers of users of a confirmation", record.levels.len() as u64, LEVELS_MAX)?;
    let ConfirmationRecord { round, load, stack, outcome, run, .. } = record;
    let (variant, why) = (record.variant.as_deref(), record.why.as_deref());
    check_load_id(load)?;
    names(&[
        ("`round`", round),
        ("`stack`", stack),
        ("`variant`", variant.unwrap_or_default()),
        ("`outcome`", outcome),
        ("`why`", why.unwrap_or_default()),
        ("`run`", run),
    ])
}
