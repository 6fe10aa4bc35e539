//! The server's pods while a load went on: as metrics-server told of them, or as was seen from within.

use serde::{Deserialize, Serialize};

use crate::signals::ServerSignals;

/// What is known of them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ServerPods {
    /// The namespace that they are in.
    pub namespace: String,
    /// The labels that they were chosen by: `app=shop`.
    pub labels: String,
    /// What could not be known, and why, in words. Absent where nothing is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_known: Option<String>,
    /// The container of ours that each of them keeps, ended, until it is deleted. Absent where none was put into them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep: Option<String>,
    /// Each of them, by name.
    pub pods: Vec<ServerPod>,
}

impl ServerPods {
    /// Of a shorter window nothing is known, seconds: metrics-server averages over fifteen and more.
    pub const WINDOW_S_MIN: f64 = 60.0;
}

/// A pod of the server.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ServerPod {
    /// As the cluster calls it.
    pub name: String,
    /// CPU that its containers may use together, cores. Absent where one of them has no limit, and of a pod that was not there
    /// before the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_limit_cores: Option<f64>,
    /// Averages whose whole window lay within the measured one, in the order of time. None where metrics-server was not asked.
    pub samples: Vec<PodSample>,
    /// What was seen from within. Absent where nobody looked, or nothing came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Box<PodWithin>>,
}

/// A container of the server, as it was seen from within its pod.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct PodWithin {
    /// As the pod calls it.
    pub container: String,
    /// How far the window that was looked at may lie from the measured one, either way, seconds: the clocks of two machines.
    pub bound_s: f64,
    /// What it did.
    pub seen: ContainerUse,
}

/// What the processes of a container did in a window; the most that was seen of memory and threads is of all the time that they
/// were looked at.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ContainerUse {
    /// CPU time a second: 1 is one core kept busy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_cores: Option<f64>,
    /// Most resident memory seen, bytes.
    pub rss_bytes_max: u64,
    /// Most threads seen.
    pub threads_max: u32,
    /// The port whose accept queue and connections are told. Absent where it is not known which is the server's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// The rest.
    pub signals: ServerSignals,
    /// What could not be read, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_known: Vec<String>,
}

/// What a pod used on average over a window of metrics-server.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct PodSample {
    /// From the start of the measured window to the end of this one, seconds.
    pub at_s: f64,
    /// How long this one is, seconds.
    pub window_s: f64,
    /// CPU time a second of all its containers together: 1 is one core kept busy.
    pub cpu_cores: f64,
    /// Memory of all its containers together, bytes: their working sets, which may hold pages of files.
    pub memory_bytes: u64,
}
