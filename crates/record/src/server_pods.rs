//! The server's pods while a load went on, as metrics-server told of them.

use serde::{Deserialize, Serialize};

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
    /// Averages whose whole window lay within the measured one, in the order of time.
    pub samples: Vec<PodSample>,
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
