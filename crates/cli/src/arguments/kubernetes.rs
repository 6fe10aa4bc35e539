//! The pods that carry a load together, as typed.

use std::num::NonZeroU32;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use plan::{PlanError, THREADS_MAX, Threads, shell};
use units::Duration;

/// Thousandths of a core.
const MILLIS: u32 = 1000;

/// Where a load is carried from, if not from here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Place {
    /// Pods of a cluster.
    Kubernetes,
}

/// Options of a load from pods.
#[derive(Debug, Args)]
#[command(next_help_heading = "Load from pods (docs/cluster.md)")]
pub struct Kubernetes {
    /// Carry the load from pods of a Kubernetes cluster, in equal shares and with one result
    #[arg(long, value_name = "PLACE", conflicts_with = "machines")]
    pub on: Option<Place>,
    /// How many pods: 1 to 200
    #[arg(long, value_name = "N", requires = "on")]
    pub pods: Option<u32>,
    /// Their image: this version of proofload is its entry point (Containerfile)
    #[arg(long, value_name = "REF", requires = "on")]
    pub image: Option<String>,
    /// The context of the kubeconfig [default: the current one]
    #[arg(long, requires = "on")]
    pub context: Option<String>,
    /// The namespace [default: that of the context]
    #[arg(long, requires = "on")]
    pub namespace: Option<String>,
    /// CPU of each pod, requested and its limit; -t is as many threads by default: 2, 500m
    #[arg(long, default_value = "1", requires = "on")]
    pub cpu: Cpu,
    /// Memory of each pod, requested and its limit
    #[arg(long, default_value = "512Mi", requires = "on")]
    pub memory: String,
    /// How long it may take until all pods run, 10m at most [default: 5m]
    #[arg(long, value_name = "DURATION", requires = "on")]
    pub ready_timeout: Option<Duration>,
    /// Print the Job that would be created, as YAML, and end
    #[arg(long, requires = "on")]
    pub manifest: bool,
    /// Print the rights that it takes, for kubectl apply, and end
    #[arg(long, requires = "on")]
    pub rbac: bool,
}

impl Kubernetes {
    /// The options as they were typed, with a blank before each.
    pub fn typed(&self) -> String {
        if self.on.is_none() {
            return String::new();
        }
        let (pods, ready_timeout) =
            (self.pods.map(|it| it.to_string()), self.ready_timeout.map(|it| it.to_string()));
        let all = [
            ("--pods", pods.as_deref()),
            ("--image", self.image.as_deref()),
            ("--context", self.context.as_deref()),
            ("--namespace", self.namespace.as_deref()),
            ("--cpu", Some(self.cpu.text())),
            ("--memory", Some(self.memory.as_str())),
            ("--ready-timeout", ready_timeout.as_deref()),
        ];
        let typed = all
            .into_iter()
            .filter_map(|(option, value)| Some(format!(" {option} {}", shell::quoted(value?))));
        " --on kubernetes".to_owned() + &typed.collect::<String>()
    }

    /// Threads of each pod, where nobody says how many: one for each of its cores.
    pub fn threads(&self, connections: Option<u32>) -> Option<Threads> {
        self.on?;
        let most = connections.unwrap_or(THREADS_MAX).min(THREADS_MAX);
        NonZeroU32::new(self.cpu.cores().min(most)).map(Threads::Fixed)
    }
}

/// CPU as Kubernetes writes it: cores, or thousandths of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cpu {
    text: String,
    millis: u32,
}

impl Cpu {
    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whole cores that it keeps busy.
    const fn cores(&self) -> u32 {
        self.millis.div_ceil(MILLIS)
    }
}

impl FromStr for Cpu {
    type Err = PlanError;

    fn from_str(text: &str) -> Result<Self, PlanError> {
        let millis = match text.strip_suffix('m') {
            Some(millis) => millis.parse::<u32>().ok(),
            None => text.parse::<f64>().ok().filter(|it| it.is_finite()).map(|cores| {
                // A negative number becomes none.
                (cores * f64::from(MILLIS)).round() as u32
            }),
        };
        let is_plain = text.bytes().all(|it| it.is_ascii_digit() || matches!(it, b'.' | b'm'));
        let Some(millis) = millis.filter(|it| is_plain && (1..=THREADS_MAX * MILLIS).contains(it)) else {
            let what = format!("`{text}` is no amount of CPU");
            return Err(PlanError::new(what, "write cores or thousandths of one: 2, 0.5, 500m"));
        };
        Ok(Self { text: text.to_owned(), millis })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_is_in_cores_or_thousandths_of_one() {
        let cores = |text: &str| text.parse::<Cpu>().map(|it| it.cores());
        assert_eq!([cores("2"), cores("0.5"), cores("500m"), cores("1001m")], [Ok(2), Ok(1), Ok(1), Ok(2)]);
        for none in ["", "0", "0m", "-1", "two", "1e3", "inf", "NaN", "m", "2000"] {
            assert!(cores(none).is_err(), "{none}");
        }
    }
}
