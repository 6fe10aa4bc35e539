//! The pods that carry a load together, as typed.

use std::num::NonZeroU32;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use plan::{LoadPlan, PlanError, THREADS_MAX, Threads, shell};
use record::ServerPods;
use units::{Duration, whole};

/// Thousandths of a core.
const MILLIS: u32 = 1000;
/// Bytes of the labels that pods are chosen by.
const LABELS_BYTES_MAX: usize = 1024;
/// Bytes of the name of a label, with its prefix, and of its value: as many as Kubernetes allows.
const LABEL_BYTES_MAX: usize = 253 + 1 + 63;
const LABEL_VALUE_BYTES_MAX: usize = 63;

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
    /// Number of pods: 1 to 200
    #[arg(long, value_name = "N", requires = "on", value_parser = whole::<u32>)]
    pub pods: Option<u32>,
    /// Image of the pods: proofload of this version must be its entry point (Containerfile)
    #[arg(long, value_name = "REF", requires = "on")]
    pub image: Option<String>,
    /// Context of the kubeconfig [default: the current one]
    #[arg(long, requires = "on")]
    pub context: Option<String>,
    /// Namespace of the pods [default: that of the context]
    #[arg(long, requires = "on")]
    pub namespace: Option<String>,
    /// CPU request and limit of each pod: 2, 500m; sets the default of -t
    #[arg(long, default_value = "1", requires = "on")]
    pub cpu: Cpu,
    /// Memory request and limit of each pod
    #[arg(long, default_value = "512Mi", requires = "on", allow_hyphen_values = true, value_parser = memory)]
    pub memory: String,
    /// How long to wait until all pods run, at most 10m [default: 5m]
    #[arg(long, value_name = "DURATION", requires = "on")]
    pub ready_timeout: Option<Duration>,
    /// Print the Job that would be created as YAML, and exit
    #[arg(long, requires = "on")]
    pub manifest: bool,
    /// Print the RBAC rules that are needed, for kubectl apply, and exit
    #[arg(long, requires = "on")]
    pub rbac: bool,
}

/// What can be watched of a server in a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Watched {
    /// CPU and memory of its pods, as metrics-server reports them.
    Metrics,
    /// What its processes do, seen from within each pod: a container of --image is added to the pod, and stays there,
    /// ended, until the pod is deleted.
    Pods,
}

/// Options of watching the server meanwhile.
#[derive(Debug, Args)]
#[command(next_help_heading = "Load from pods (docs/cluster.md)")]
pub struct Watch {
    /// Also report what the server's pods did: by metrics-server (windows of 60s or more), or from within the pods
    #[arg(long = "watch", value_name = "WHAT", requires_all = ["on", "labels"])]
    pub watched: Option<Watched>,
    /// Labels that select the server's pods, separated by commas
    #[arg(long = "watch-pods", value_name = "LABEL=VALUE,…", requires = "watched")]
    pub labels: Option<Labels>,
    /// Namespace of the server's pods [default: that of the load]
    #[arg(long = "watch-namespace", value_name = "NAMESPACE", requires = "watched")]
    pub namespace_of_server: Option<String>,
    /// With --watch pods: the server's container in them [default: the only one, or the pod's own default]
    #[arg(long = "watch-container", value_name = "NAME", requires = "watched")]
    pub container: Option<String>,
}

/// The pods of the server, and how they are watched.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(
    not(feature = "kubernetes"),
    expect(dead_code, reason = "only a client of Kubernetes looks at them")
)]
pub struct Server<'a> {
    /// How.
    pub by: Watched,
    /// Labels that all of them have.
    pub labels: &'a str,
    /// Theirs, where that is not the load's.
    pub namespace: Option<&'a str>,
    /// Which of their containers.
    pub container: Option<&'a str>,
}

impl Watch {
    /// The pods that are to be watched during a load, if any are.
    ///
    /// # Errors
    /// If the load is so short that nothing would be known, or it is said which container where all are told of together.
    pub fn server(&self, plan: &LoadPlan) -> Result<Option<Server<'_>>, PlanError> {
        let (Some(by), Some(labels)) = (self.watched, &self.labels) else { return Ok(None) };
        let server = Server {
            by,
            labels: labels.text.as_str(),
            namespace: self.namespace_of_server.as_deref(),
            container: self.container.as_deref(),
        };
        match by {
            Watched::Metrics => self.of_metrics(plan).map(|()| Some(server)),
            Watched::Pods => from_within(plan).map(|()| Some(server)),
        }
    }

    fn of_metrics(&self, plan: &LoadPlan) -> Result<(), PlanError> {
        if self.container.is_some() {
            let what =
                "--watch-container is for --watch pods: of metrics-server all containers count together";
            return Err(PlanError::new(what, "leave it out, or give --watch pods"));
        }
        let (least_s, asked) = (ServerPods::WINDOW_S_MIN, plan.stop.duration);
        if asked < Duration::from_secs_f64(least_s) {
            let what = format!(
                "--watch metrics says nothing of a load of {asked}: metrics-server averages over 15 s or more"
            );
            let help =
                format!("measure for {least_s} s or longer (-d), give --watch pods, or leave --watch out");
            return Err(PlanError::new(what, help));
        }
        Ok(())
    }
}

/// Refuses a load of which a part would not be seen.
fn from_within(plan: &LoadPlan) -> Result<(), PlanError> {
    let (most, asked) = (signals::watcher::LOOKS_MAX, plan.stop.duration);
    if asked != Duration::MAX && plan.warm_up + asked > most {
        let what = format!("--watch pods looks for {most} at most, and the load takes {asked}");
        return Err(PlanError::new(what, "measure for less (-d), or give --watch metrics"));
    }
    Ok(())
}

/// Labels that pods have, each with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labels {
    text: String,
}

impl FromStr for Labels {
    type Err = PlanError;

    fn from_str(text: &str) -> Result<Self, PlanError> {
        let is_label = |label: &str| {
            label.split_once('=').is_some_and(|(name, value)| {
                is_of_label(name, "-_./", LABEL_BYTES_MAX) && is_of_label(value, "-_.", LABEL_VALUE_BYTES_MAX)
            })
        };
        if text.len() > LABELS_BYTES_MAX || !text.split(',').all(is_label) {
            let what = format!("`{text}` are no labels of pods with their values");
            let help = "write LABEL=VALUE, with commas between several: app=shop,tier=web";
            return Err(PlanError::new(what, help));
        }
        Ok(Self { text: text.to_owned() })
    }
}

/// Whether it can be a part of a label, in which these signs may stand between letters and digits.
fn is_of_label(text: &str, signs: &str, bytes_max: usize) -> bool {
    let is_letter = |it: char| it.is_ascii_alphanumeric();
    text.len() <= bytes_max
        && text.starts_with(is_letter)
        && text.ends_with(is_letter)
        && text.chars().all(|it| is_letter(it) || signs.contains(it))
}

impl Kubernetes {
    /// The options as they were typed, with a blank before each.
    pub fn typed(&self) -> String {
        if self.on.is_none() {
            return String::new();
        }
        let (pods, ready_timeout) =
            (self.pods.map(|it| it.to_string()), self.ready_timeout.map(|it| it.in_full().to_string()));
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

/// Memory as Kubernetes writes it; what the unit may be, the cluster says.
fn memory(text: &str) -> Result<String, PlanError> {
    if text.starts_with(|it: char| it.is_ascii_digit() || it == '.') {
        return Ok(text.to_owned());
    }
    Err(PlanError::new(format!("`{text}` is no amount of memory"), "write bytes with their unit: 512Mi, 2Gi"))
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

    #[test]
    fn labels_have_values_and_nothing_else() {
        for text in ["app=shop", "app=shop,tier=web", "app.kubernetes.io/name=shop-2_a.b"] {
            assert_eq!(text.parse::<Labels>().map(|it| it.text), Ok(text.to_owned()));
        }
        let long = format!("app={}", "x".repeat(64));
        let many = ["a=b"; 300].join(",");
        let none = ["", "app", "app=", "=shop", "app==shop", "app!=shop", "app=shop,", "app in a", "app=-a"];
        for none in none.into_iter().chain([long.as_str(), many.as_str()]) {
            assert!(none.parse::<Labels>().is_err(), "{none}");
        }
    }
}
