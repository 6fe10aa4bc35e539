//! What a sampler saw while a load went on: readings in the order in which they were taken, and what they come to
//! within the measured window.
//!
//! The readings are a file of their own, `trials/NNNN/signals.jsonl`, one line a reading, on the clock of
//! [`crate::Window`]; what they come to is part of the trial. A signal that could not be read is absent, and
//! [`HostSignals::not_known`] says why.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Version of [`SignalReading`].
pub const SIGNALS_VERSION: u32 = 1;

/// One reading: counters since some start, and what is so just now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SignalReading {
    /// [`SIGNALS_VERSION`] of the writer.
    pub version: u32,
    /// When, ns on CLOCK_MONOTONIC.
    pub at_monotonic_ns: u64,
    /// The machine.
    pub host: HostReading,
    /// The process that makes the load.
    pub generator: ProcessReading,
    /// The stack that is loaded, and then those behind it.
    pub servers: Vec<ProcessReading>,
}

/// The machine at an instant. Times are sums over all cores since it started.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct HostReading {
    /// In user mode and in the kernel on behalf of processes, seconds.
    pub busy_s: f64,
    /// In interrupts and what follows them: half of a network's work on loopback, seconds.
    pub interrupts_s: f64,
    /// Taken by the hypervisor, seconds.
    pub steal_s: f64,
    /// Idle while something waited for a disk, seconds.
    pub io_wait_s: f64,
    /// Time in which some task waited for a CPU, a disk or memory, seconds; keys `cpu`, `io`, `memory`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pressure_s: BTreeMap<String, f64>,
    /// The kernel's own counts of its network: `ListenOverflows`, `TCPSynRetrans` and others.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub network: BTreeMap<String, u64>,
    /// What went over its network links whose speed is known, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub links: BTreeMap<String, LinkReading>,
}

/// What went over a network link since it came up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LinkReading {
    /// Bytes that it received.
    pub received_bytes: u64,
    /// Bytes that it sent.
    pub sent_bytes: u64,
}

/// A process tree at an instant. Times and counts are sums since it started.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ProcessReading {
    /// CPU time in user mode, seconds.
    pub cpu_user_s: f64,
    /// CPU time in the kernel, seconds.
    pub cpu_system_s: f64,
    /// Resident memory, bytes.
    pub rss_bytes: u64,
    /// What of it no file stands behind: heap and stacks. Absent in readings of versions that did not look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anonymous_bytes: Option<u64>,
    /// Threads.
    pub threads: u32,
    /// Open file descriptors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_files: Option<u64>,
    /// Bytes that went towards a disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_write_bytes: Option<u64>,
    /// Bytes that came from a disk, those that were swapped in among them. Absent in readings of versions that did not look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_read_bytes: Option<u64>,
    /// Time in which one of its threads waited for a disk, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_wait_s: Option<f64>,
    /// Connections that wait to be accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accept_queue: Option<u32>,
    /// How many of those there may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accept_queue_limit: Option<u32>,
    /// Sockets at its port by state, in readings that looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sockets: Option<BTreeMap<String, u32>>,
    /// How many of the established ones hold bytes that the server has not read, in readings that looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<u32>,
    /// How many of the established ones hold bytes of an answer that were not sent, or not acknowledged, in readings that looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unacknowledged: Option<u32>,
    /// Time in which a quota kept it from running, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_s: Option<f64>,
    /// Its JVM's own counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jvm: Option<JvmReading>,
    /// Its threads by group, in readings that looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<BTreeMap<String, GroupReading>>,
}

/// A JVM's own counts.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct JvmReading {
    /// Time in collections that stopped it, seconds.
    pub gc_s: f64,
    /// How many there were.
    pub gc_count: u64,
    /// Time that its compilers were busy, all threads together, seconds.
    pub jit_s: f64,
    /// Time in safepoints, seconds.
    pub safepoint_s: f64,
    /// Heap in use, bytes.
    pub heap_used_bytes: u64,
    /// Heap that it may grow to, bytes.
    pub heap_max_bytes: u64,
}

/// A group of threads at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct GroupReading {
    /// Threads that were alive in this reading.
    pub threads: u32,
    /// How many of them ran or wanted to.
    pub runnable: u32,
    /// CPU time of those alive, seconds.
    pub cpu_s: f64,
    /// Time that those waited for a CPU, seconds.
    pub wait_s: f64,
    /// How often those were given one.
    pub switches: u64,
}

/// What one stack did within the window.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ServerSignals {
    /// CPU time a second in user mode: 1 is one core kept busy.
    pub cpu_user_cores: Option<f64>,
    /// CPU time a second in the kernel.
    pub cpu_system_cores: Option<f64>,
    /// Its groups of threads, the one with the most CPU time first.
    #[serde(default)]
    pub groups: Vec<ThreadGroupUse>,
    /// Resident memory at the window's start, middle and end, bytes.
    pub rss_bytes: Option<[u64; 3]>,
    /// What of it no file stands behind, at the same instants: heap and stacks, without what is mapped from files or shared under a
    /// name. Absent in records of versions that did not look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anonymous_bytes: Option<[u64; 3]>,
    /// Its threads at the same instants. Absent in records of versions that did not keep them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<[u32; 3]>,
    /// Most open file descriptors seen.
    pub open_files_max: Option<u64>,
    /// How many it may have.
    pub open_files_limit: Option<u64>,
    /// Bytes a second towards a disk.
    pub disk_write_bytes_per_s: Option<f64>,
    /// Bytes a second from a disk, those that were swapped in among them. Absent in records of versions that did not look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_read_bytes_per_s: Option<f64>,
    /// Share of the time in which one of its threads waited for a disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_wait_share: Option<f64>,
    /// Its accept queue.
    pub accept_queue: Option<AcceptQueue>,
    /// Established connections at its port, those that wait to be accepted not among them.
    pub connections: Option<Held>,
    /// Connections that hold a request which the server has not read, those that wait to be accepted among them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<Held>,
    /// Connections that hold bytes of an answer which were not sent, or which the client has not acknowledged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unacknowledged: Option<Held>,
    /// Its CPU quota, where it has one.
    pub quota: Option<Quota>,
    /// Its JVM.
    pub jvm: Option<JvmUse>,
    /// In which seconds of the load the pauses of its JVM's collections ended. Absent where there is no JVM that counts them, of a
    /// collector that works beside the program, of loads that were not kept second by second, and in records of versions that did
    /// not look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gc_pauses: Option<GcPauses>,
    /// How many events of each kind its JVM recorded during the load, warm-up included, where that was asked for: JFR's
    /// names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub jvm_events: BTreeMap<String, u64>,
    /// Whom it asked who was not watched, as far as its TCP connections tell: those with the most connections first, a few of them.
    /// Empty in records of versions that did not look.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<Asked>,
}

/// Connections that a server held to somebody.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Asked {
    /// Where that one listens: an address and a port.
    pub at: String,
    /// The most connections that any look saw.
    pub connections: u32,
}

/// What a group of threads did within the window.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ThreadGroupUse {
    /// What its threads' names have in common: `http-nio-*-exec-*`.
    pub name: String,
    /// Whether the kernel's 15 bytes cut the names off, so that several groups may be in it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// Threads at the end.
    pub threads: u32,
    /// CPU time a second.
    pub cpu_cores: f64,
    /// CPU time a second of the busiest of them.
    pub busiest_cores: f64,
    /// Time a second that they waited for a CPU, together.
    pub wait_cores: f64,
    /// How often they were given one, a second.
    pub switches_per_s: f64,
    /// How many of them did anything at all.
    pub active: u32,
    /// Time a second that the busiest of them waited for a CPU. Absent in records of versions that did not look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busiest_wait_cores: Option<f64>,
    /// Those that did anything, the ones that were given a CPU most often first: a group of equal names is not a group of
    /// equal workers. Empty in records of versions that did not look.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bands: Vec<ThreadBand>,
    /// What runs the program of their processes, where that is one that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<Runtime>,
}

/// Threads of a group that were given a CPU about equally often.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct ThreadBand {
    /// How many.
    pub threads: u32,
    /// In how many processes they are.
    pub processes: u32,
    /// CPU time a second, together.
    pub cpu_cores: f64,
    /// How often they were given a CPU, a second, together.
    pub switches_per_s: f64,
}

/// What runs a program, where that says who may work at a time and who collects garbage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Runtime {
    /// Go: its threads carry goroutines, however many requests those serve.
    Go,
    /// Node.js and others of its kind: JavaScript on one thread of a process.
    JavaScript,
    /// Python: one thread of a process runs its code at a time.
    Python,
    /// Ruby: the same.
    Ruby,
    /// .NET.
    DotNet,
    /// The JVM.
    Jvm,
    /// Erlang and Elixir: a few schedulers carry any number of processes.
    Erlang,
    /// One that a later version knows.
    #[serde(other)]
    Other,
}

/// An accept queue over the window.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct AcceptQueue {
    /// How many connections may wait.
    pub limit: u32,
    /// Most that did.
    pub max: u32,
    /// How many did on average.
    pub mean: f64,
    /// Share of the readings in which it was full.
    pub full_share: f64,
}

/// Connections held over the window.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Held {
    /// On average.
    pub mean: f64,
    /// The most that any reading saw; between two readings there may have been more.
    pub max: u32,
    /// Readings.
    pub readings: u32,
}

/// A CPU quota over the window.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Quota {
    /// CPU time a second that is allowed.
    pub cores: Option<f64>,
    /// Thread-seconds a second in which it kept something from running.
    pub throttled_cores: f64,
}

/// A JVM over the window.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct JvmUse {
    /// Share of the time in collections that stopped it.
    pub gc_share: f64,
    /// Collections a second.
    pub gc_per_s: f64,
    /// Time a second that its compilers were busy, together: no less than their CPU time, and more where they wait for a core.
    pub jit_cores: f64,
    /// Share of the time in safepoints, collections included.
    pub safepoint_share: f64,
    /// Most heap in use seen, bytes.
    pub heap_used_bytes_max: u64,
    /// Heap that it may grow to, bytes.
    pub heap_max_bytes: u64,
}

/// Pauses of a JVM's collections by the seconds of a load, those of [`crate::LoadResult::seconds`] in their order.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct GcPauses {
    /// How many of these seconds, from the first on, were watched: of later ones nothing is known.
    pub seconds: u32,
    /// Those of them in which a pause ended, or may have; in no other one did.
    pub ended: Vec<PausedSecond>,
}

/// A second of a load in which a pause ended, or may have: what a JVM counted between two readings on either side of an end of
/// the second may have ended within it or beyond.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct PausedSecond {
    /// Which one, from 0.
    pub second: u32,
    /// How long the pauses took that surely ended in it, seconds.
    pub least_s: f64,
    /// The same with those that may have.
    pub most_s: f64,
}

/// What all processes of a name used.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct NamedUse {
    /// As the kernel keeps it: 15 bytes, which the process chooses.
    pub name: String,
    /// CPU time a second.
    pub cores: f64,
}

/// What went over a network link of the machine.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct LinkUse {
    /// As the kernel calls it: `eth0`.
    pub name: String,
    /// Bytes a second that it carries in each direction.
    pub bytes_per_s: f64,
    /// Bytes a second that it received, whatever for.
    pub received_bytes_per_s: f64,
    /// The same of those that it sent.
    pub sent_bytes_per_s: f64,
}

/// The machine and the generator within the window, and how they were watched.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct HostSignals {
    /// Cores.
    pub cores: u32,
    /// CPU time a second of processes that are neither the stacks nor the generator.
    pub others_cores: Option<f64>,
    /// Which of those used the most, the greatest first, a few of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<NamedUse>,
    /// The same for interrupts, in which half of a network's work on loopback is done.
    pub interrupts_cores: Option<f64>,
    /// Whether the CPU time of processes holds the interrupts that were served on their backs, so that the two are not to be
    /// added. `None` where that is not known, and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupts_within: Option<bool>,
    /// Share of all cores that the hypervisor took.
    pub steal_share: Option<f64>,
    /// Share of the time in which some task waited for a CPU, a disk or memory; keys `cpu`, `io`, `memory`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pressure: BTreeMap<String, f64>,
    /// What the kernel counted of its network within the window.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub network: BTreeMap<String, u64>,
    /// The same from the first connection on, until the window began.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub network_before: BTreeMap<String, u64>,
    /// Its network links whose speed is known. Empty in records of versions that did not look.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LinkUse>,
    /// CPU time a second of the load threads.
    pub generator_cores: Option<f64>,
    /// Time a second that they waited for a CPU, together.
    pub generator_wait_cores: Option<f64>,
    /// How often they were given one, a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator_switches_per_s: Option<f64>,
    /// Thread-seconds a second in which a quota kept the generator from running.
    pub generator_throttled_cores: Option<f64>,
    /// What watching cost, CPU time a second.
    pub sampler_cores: f64,
    /// Readings within the window.
    pub readings: u32,
    /// Signals that could not be read, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_known: Vec<String>,
}
