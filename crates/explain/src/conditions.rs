//! Under what a cell was measured: all that bears on its figures and is not the stack. Where two runs differ in it, no change
//! of a figure is the stack's alone.

use std::collections::{BTreeMap, BTreeSet};

use record::{
    CellName, LoadResult, Manifest, Measured, RequestSummary, Trial, TrialResult, measured_by_block,
};
use serde::Serialize;

use crate::agents::LoadedFrom;

/// Stands for what one of two has not.
pub(crate) const NONE: &str = "not there";

/// Which machines loads came from; of a run without a measured trial nobody knows.
pub(crate) const LOADS_MADE_BY: &str = "loads made by";
const KERNEL: &str = "kernel";
const MEMORY: &str = "memory, bytes";
const THREADS: &str = "load threads";
/// Behind a number of load threads that was left to Proofload.
const CHOSEN: &str = ", chosen by itself";

/// Memory that is nearer, as a share, is that of one kind of machine: how much a kernel keeps for itself differs.
const MEMORY_SAME_WITHIN: f64 = 0.05;

/// Facts by name, to be compared with others.
pub(crate) type Facts = BTreeMap<String, String>;

/// Something in which two runs are not of the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunDifference {
    /// What: `cores`, `inputs of jetty`.
    pub what: String,
    /// In the first run.
    pub a: String,
    /// In the second.
    pub b: String,
}

/// Under what a cell of a run was measured.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Conditions(Facts);

impl Conditions {
    /// Those of a cell; of one that was never measured, those of its run.
    pub(crate) fn of(manifest: &Manifest, trials: &[Trial], cell: &CellName) -> Self {
        let mut facts = of_run(manifest, trials);
        let measured = measured_by_block(trials, |trial| CellName::of(trial) == *cell);
        facts.extend(measured.into_iter().flatten().next().map(of_load).unwrap_or_default());
        Self(facts)
    }

    /// In what the two are not the same, as far as both say it and it bears on figures.
    pub(crate) fn differences(&self, other: &Self) -> Vec<RunDifference> {
        let all = differing(&self.0, &other.0).into_iter();
        all.filter(|it| it.a != NONE && it.b != NONE && bears_on_figures(it)).collect()
    }
}

/// All facts that differ, with those that only one of the two has.
pub(crate) fn differing(a: &Facts, b: &Facts) -> Vec<RunDifference> {
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let of = |facts: &Facts, name: &String| facts.get(name).cloned().unwrap_or_else(|| NONE.into());
    names
        .into_iter()
        .filter(|name| a.get(*name) != b.get(*name))
        .map(|name| RunDifference { what: name.clone(), a: of(a, name), b: of(b, name) })
        .collect()
}

/// What a whole run was measured under.
pub(crate) fn of_run(manifest: &Manifest, trials: &[Trial]) -> Facts {
    let machine = &manifest.machine;
    let said = |it: &str| Some(it.to_owned()).filter(|it| !it.is_empty());
    let mut facts = named([
        ("version of Proofload", said(&manifest.proofload)),
        ("pace", Some(pace(manifest))),
        ("client and servers on cores", said(&manifest.placement)),
        ("cores of each side", manifest.sides.clone()),
        ("processes of stacks", said(&manifest.processes).or_else(|| said("fresh"))),
        (LOADS_MADE_BY, load_machines(trials)),
        ("CPU", machine.cpu.clone()),
        ("cores", (machine.cores > 0).then(|| machine.cores.to_string())),
        (KERNEL, machine.kernel.clone()),
        (MEMORY, machine.memory_bytes.map(|it| it.to_string())),
    ]);
    facts.extend(machine.sysctls.clone());
    facts
}

/// What a load was, beside what it is called.
pub(crate) fn of_load(measured: &Measured) -> Facts {
    let LoadResult { load, request, via, url, .. } = &measured.load;
    let chosen = if load.threads_why.is_some() { CHOSEN } else { "" };
    // How long a stack rests after bursts follows from how long it takes to answer.
    let warm_up = if measured.warm_up.is_some() { "bursts".to_owned() } else { load.warm_up_s.to_string() };
    let window = load.duration_s.map_or_else(|| "until all is sent".to_owned(), |it| it.to_string());
    named([
        ("warm-up, s", Some(warm_up)),
        ("window, s", Some(window)),
        ("requests at most", load.requests.map(|it| it.to_string())),
        ("timeout, s", Some(load.timeout_s.to_string())),
        ("longest timeout, s", load.timeout_max_s.map(|it| it.to_string())),
        (THREADS, Some(format!("{}{chosen}", load.threads))),
        ("connections used again", Some(load.keep_alive.to_string())),
        ("load carried by", Some(load.io.clone())),
        ("protocol", Some(load.protocol.clone().unwrap_or_else(|| "http/1.1".to_owned()))),
        ("exchanges on a connection", Some(load.streams.unwrap_or(1).to_string())),
        ("request", request.as_ref().map(request_words)),
        ("path", path_of(url)),
        ("by way of", Some(via.clone().unwrap_or_else(|| "no other".to_owned()))),
    ])
}

/// `full`, `quick` or `coarse`, of records of versions that knew two of them as well.
pub(crate) fn pace(manifest: &Manifest) -> String {
    match (manifest.pace.as_str(), manifest.quick) {
        ("", true) => "quick".into(),
        ("", false) => "full".into(),
        (pace, _) => pace.into(),
    }
}

fn named<const N: usize>(facts: [(&str, Option<String>); N]) -> Facts {
    facts.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// The machines that made the loads, without their names: pods have others each time.
fn load_machines(trials: &[Trial]) -> Option<String> {
    let Some(from) = LoadedFrom::of(trials) else {
        let was_measured = trials.iter().any(|it| matches!(it.result, TrialResult::Measured(_)));
        return was_measured.then(|| "the machine of the servers".to_owned());
    };
    let kinds: BTreeSet<String> =
        from.agents.iter().map(|it| format!("{} cores over {}", it.cores, it.io)).collect();
    let kinds: Vec<String> = kinds.into_iter().collect();
    let place = if from.is_elsewhere { "other machines" } else { "agents beside the servers" };
    Some(format!("{} {place} ({})", from.agents.len(), kinds.join("; ")))
}

fn request_words(request: &RequestSummary) -> String {
    let RequestSummary { method, header_names, body_bytes } = request;
    format!("{method}, {body_bytes} bytes of body, header fields [{}]", header_names.join(" "))
}

/// The path of a URL, without its query: that may be another for each request.
fn path_of(url: &str) -> Option<String> {
    let behind = url.split_once("://")?.1;
    let path = behind.find('/').map_or("/", |at| &behind[at..]);
    Some(path.split(['?', '#']).next().unwrap_or(path).to_owned())
}

/// Whether figures may differ by it.
fn bears_on_figures(difference: &RunDifference) -> bool {
    let RunDifference { what, a, b } = difference;
    match what.as_str() {
        KERNEL => release(a) != release(b),
        MEMORY => !is_near(a, b),
        // Who chooses takes as many as are not the limit.
        THREADS => {
            let of = |it: &str| it.strip_suffix(CHOSEN).unwrap_or(it).to_owned();
            of(a) != of(b) && !(a.ends_with(CHOSEN) && b.ends_with(CHOSEN))
        }
        _ => true,
    }
}

/// The kernel's version as far as it names a release: what follows is a fix, or whoever built it.
fn release(kernel: &str) -> Vec<&str> {
    kernel.split(['.', '-']).take(2).collect()
}

fn is_near(a: &str, b: &str) -> bool {
    match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => a.max(b) <= a.min(b) * (1.0 + MEMORY_SAME_WITHIN),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(facts: &[(&str, &str)]) -> Conditions {
        Conditions(facts.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    fn differ(what: &str, a: &str, b: &str) -> bool {
        !of(&[(what, a)]).differences(&of(&[(what, b)])).is_empty()
    }

    #[test]
    fn what_is_no_other_condition_is_none() {
        assert!(differ("CPU", "this", "that") && !differ("CPU", "this", "this"));
        for (a, b, is_other) in [
            ("6.8.0-1017-azure", "6.8.0-1018-azure", false),
            ("6.1.102", "6.1.119", false),
            ("6.1.102", "6.12.3", true),
            ("6.8", "6.8-rc1", false),
        ] {
            assert_eq!(differ(KERNEL, a, b), is_other, "{a} {b}");
        }
        assert!(!differ(MEMORY, "16700000000", "16500000000") && differ(MEMORY, "16700000000", "8300000000"));
        assert!(differ(THREADS, "1", "2") && differ(THREADS, "1", "2, chosen by itself"));
        assert!(!differ(THREADS, "2", "2, chosen by itself"));
        assert!(!differ(THREADS, "1, chosen by itself", "2, chosen by itself"));
    }

    /// A record of an earlier version that says nothing of it may be of the same.
    #[test]
    fn what_only_one_says_is_unknown() {
        assert!(of(&[("CPU", "this")]).differences(&of(&[])).is_empty());
        assert_eq!(differing(&of(&[("CPU", "this")]).0, &of(&[]).0).len(), 1);
    }

    #[test]
    fn a_path_has_no_host_and_no_query() {
        for (url, path) in [
            ("http://127.0.0.1:8080/hello", Some("/hello")),
            ("https://a.example/a/b?key=1", Some("/a/b")),
            ("http://a.example", Some("/")),
            ("nothing", None),
        ] {
            assert_eq!(path_of(url).as_deref(), path, "{url}");
        }
    }
}
