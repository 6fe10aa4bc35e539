//! Which of the samples that were told count to a load, and what is said of those that are missing.

use std::collections::{BTreeMap, BTreeSet};

use record::{PodSample, ServerPod, ServerPods};

use crate::metrics::{PodMetrics, Reading};
use crate::reasons::short;

/// Pods of a server.
pub(crate) const PODS_MAX: usize = 200;
/// Samples of all of them together: of 200 pods those of an hour.
const SAMPLES_MAX: usize = 50_000;
/// How far a sample's window stays away from both ends of the load's, seconds. Its end is told in whole seconds, and the clocks of
/// nodes are not ours.
const MARGIN_S: f64 = 1.0;

/// A load's window, in seconds since 1970 by the clock of this machine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    pub(crate) begin_s: f64,
    pub(crate) end_s: f64,
}

impl Span {
    /// Whether all of a sample's window lies within.
    fn holds(&self, reading: &Reading) -> bool {
        let begin_s = reading.end_s - reading.window_s;
        begin_s >= self.begin_s + MARGIN_S && reading.end_s <= self.end_s - MARGIN_S
    }

    fn length_s(&self) -> f64 {
        self.end_s - self.begin_s
    }

    /// Whether it is too short for anything to be known of it. What is asked for may be met a little early.
    fn is_too_short(&self) -> bool {
        self.length_s().round() < ServerPods::WINDOW_S_MIN
    }
}

/// All that was told.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    /// Of each pod, in the order of time.
    by_pod: BTreeMap<String, Vec<Reading>>,
    kept: usize,
    /// Of more pods, or more, than are kept.
    left_out: u64,
    /// In no figures.
    unreadable: u64,
    /// By how much the clock of a node was ahead of ours at least, seconds.
    ahead_s: f64,
    asked: u64,
    unanswered: u64,
    /// Why the last question that was not answered was not.
    why: String,
}

impl Samples {
    /// Takes in an answer that was there at `now_s`.
    pub(crate) fn take(&mut self, told: &[PodMetrics], now_s: f64) {
        self.asked += 1;
        for pod in told {
            match pod.reading() {
                Some(reading) => self.keep(reading, now_s),
                None => self.unreadable += 1,
            }
        }
    }

    /// A question was not answered.
    pub(crate) fn unanswered(&mut self, why: &str) {
        self.asked += 1;
        self.unanswered += 1;
        self.why = short(why);
    }

    fn keep(&mut self, reading: Reading, now_s: f64) {
        self.ahead_s = self.ahead_s.max(reading.end_s - now_s);
        let known = self.by_pod.get(&reading.pod);
        // A sample is told again until the next one takes its place.
        let last_s = known.and_then(|it| Some(it.last()?.end_s));
        if last_s.is_some_and(|it| it >= reading.end_s) {
            return;
        }
        let is_one_more = known.is_none() && self.by_pod.len() >= PODS_MAX;
        if is_one_more || self.kept >= SAMPLES_MAX {
            self.left_out += 1;
            return;
        }
        self.kept += 1;
        self.by_pod.entry(reading.pod.clone()).or_default().push(reading);
    }

    /// The pods that there were before the load, with their limits, and those that came later, each with the samples that count.
    pub(crate) fn pods(&self, limits: &BTreeMap<String, Option<f64>>, window: &Span) -> Vec<ServerPod> {
        let names: BTreeSet<&String> = limits.keys().chain(self.by_pod.keys()).collect();
        let is_known = !window.is_too_short() && !self.is_ahead();
        let pod = |name: &String| {
            let all = self.by_pod.get(name).into_iter().flatten();
            let counted = all.filter(|it| is_known && window.holds(it));
            let samples = counted.map(|it| PodSample {
                at_s: it.end_s - window.begin_s,
                window_s: it.window_s,
                cpu_cores: it.cpu_cores,
                memory_bytes: it.memory_bytes,
            });
            ServerPod {
                name: name.clone(),
                cpu_limit_cores: limits.get(name).copied().flatten(),
                samples: samples.collect(),
                within: None,
            }
        };
        names.into_iter().map(pod).collect()
    }

    /// What is not known, and why, in words; `None` where nothing is missing of what `pods` tell.
    pub(crate) fn not_known(&self, pods: &[ServerPod], window: &Span) -> Option<String> {
        let (least, length_s) = (ServerPods::WINDOW_S_MIN, window.length_s());
        if window.is_too_short() {
            return Some(format!(
                "the window was {length_s:.1} s long, and averages of metrics-server tell nothing of less than \
                 {least} s"
            ));
        }
        if self.is_ahead() {
            return Some(format!(
                "the clock of a node is {:.0} s ahead of this machine's, or more: which samples are of the load is not \
                 known",
                self.ahead_s
            ));
        }
        let mut parts = Vec::new();
        if pods.iter().all(|it| it.samples.is_empty()) {
            parts.push("no sample of metrics-server lay wholly within the window".to_owned());
        }
        if self.unanswered > 0 {
            let (unanswered, asked, why) = (self.unanswered, self.asked, &self.why);
            parts.push(format!("{unanswered} of {asked} questions had no answer, the last one: {why}"));
        }
        if self.unreadable > 0 {
            parts.push(format!("samples that could not be read: {}", self.unreadable));
        }
        if self.left_out > 0 {
            let left_out = self.left_out;
            parts.push(format!(
                "samples left out beyond {PODS_MAX} pods, or {SAMPLES_MAX} in all: {left_out}"
            ));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// Whether the clock of a node is so far ahead that samples can't be told from those before or after the load. Of one that is
    /// behind nothing is seen.
    fn is_ahead(&self) -> bool {
        self.ahead_s > MARGIN_S
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The first of January 2026.
    const BEGIN_S: f64 = 1_767_225_600.0;

    fn of_length(length_s: f64) -> Span {
        Span { begin_s: BEGIN_S, end_s: BEGIN_S + length_s }
    }

    /// What is told of a pod that used so many thousandths of a core in the 15 s before a time of that day.
    fn told(pod: &str, at: &str, millis: u32) -> PodMetrics {
        let usage = json!({"cpu": format!("{millis}m"), "memory": "412Mi"});
        let told = json!({
            "metadata": {"name": pod}, "timestamp": format!("2026-01-01T{at}Z"), "window": "15s",
            "containers": [{"name": "c", "usage": usage}],
        });
        serde_json::from_value(told).unwrap()
    }

    /// All that was told, long after the load.
    fn samples(told: &[PodMetrics]) -> Samples {
        let mut samples = Samples::default();
        samples.take(told, BEGIN_S + 1e6);
        samples
    }

    fn limits() -> BTreeMap<String, Option<f64>> {
        [("shop-a".to_owned(), Some(2.0)), ("shop-b".to_owned(), None)].into()
    }

    fn ends(pod: &ServerPod) -> Vec<i64> {
        pod.samples.iter().map(|it| it.at_s.round() as i64).collect()
    }

    #[test]
    fn only_samples_whose_window_lies_within_the_load_s_count_and_each_once() {
        let at = ["00:00:15", "00:00:16", "00:00:16", "00:00:31", "00:00:59", "00:01:00", "00:01:15"];
        let told: Vec<PodMetrics> = at.iter().map(|at| told("shop-a", at, 1960)).collect();
        let (samples, window) = (samples(&told), of_length(60.0));
        let pods = samples.pods(&limits(), &window);
        let names: Vec<&str> = pods.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["shop-a", "shop-b"], "also the one that nothing is told of");
        assert_eq!(ends(&pods[0]), [16, 31, 59]);
        assert_eq!((pods[0].cpu_limit_cores, pods[1].cpu_limit_cores), (Some(2.0), None));
        let sample = pods[0].samples[0];
        assert!((sample.cpu_cores - 1.96).abs() < 1e-9 && (sample.window_s - 15.0).abs() < 1e-9);
        assert_eq!(sample.memory_bytes, 412 << 20);
        assert_eq!(samples.not_known(&pods, &window), None);
    }

    #[test]
    fn a_pod_that_came_later_is_told_of_without_a_limit() {
        let pods = samples(&[told("shop-c", "00:00:40", 500)]).pods(&limits(), &of_length(60.0));
        assert_eq!((pods[2].name.as_str(), pods[2].cpu_limit_cores), ("shop-c", None));
        assert_eq!(ends(&pods[2]), [40]);
    }

    #[test]
    fn what_is_missing_is_told_in_words() {
        let told_at = |at: &str| samples(&[told("shop-a", at, 1)]);
        let words = |samples: &Samples, length_s: f64| {
            let window = of_length(length_s);
            let pods = samples.pods(&limits(), &window);
            let count: usize = pods.iter().map(|it| it.samples.len()).sum();
            (count, samples.not_known(&pods, &window).unwrap_or_default())
        };
        let (count, short) = words(&told_at("00:00:20"), 30.0);
        assert!(count == 0 && short.contains("30.0 s long") && short.contains("less than 60 s"), "{short}");
        assert_eq!(words(&told_at("00:00:20"), 59.9999), (1, String::new()));
        let (_, none) = words(&told_at("00:00:05"), 60.0);
        assert_eq!(none, "no sample of metrics-server lay wholly within the window");
        let mut partly = told_at("00:00:20");
        partly.unanswered("the cluster cannot\nbe reached");
        let (count, said) = words(&partly, 60.0);
        let due = "1 of 2 questions had no answer, the last one: the cluster cannot be reached";
        assert_eq!((count, said.as_str()), (1, due));
        let unreadable =
            json!({"metadata": {"name": "x"}, "timestamp": "2026-01-01T00:00:20Z", "window": "15s"});
        let mut partly = told_at("00:00:20");
        partly.take(&[serde_json::from_value(unreadable).unwrap()], BEGIN_S + 1e6);
        assert_eq!(words(&partly, 60.0), (1, "samples that could not be read: 1".to_owned()));
    }

    #[test]
    fn samples_of_a_clock_that_is_ahead_are_of_nobody_knows_when() {
        let mut samples = Samples::default();
        samples.take(&[told("shop-a", "00:00:20", 1)], BEGIN_S + 19.5);
        let window = of_length(60.0);
        let pods = samples.pods(&limits(), &window);
        assert_eq!(samples.not_known(&pods, &window), None, "half a second is none");
        samples.take(&[told("shop-a", "00:00:40", 1)], BEGIN_S + 30.0);
        let pods = samples.pods(&limits(), &window);
        assert!(pods.iter().all(|it| it.samples.is_empty()), "{pods:?}");
        let said = samples.not_known(&pods, &window).unwrap();
        assert!(said.contains("10 s ahead"), "{said}");
    }

    #[test]
    fn pods_and_samples_are_bounded_and_what_is_left_out_is_counted() {
        let all: Vec<PodMetrics> =
            (0..PODS_MAX + 3).map(|it| told(&format!("shop-{it:03}"), "00:00:40", 1)).collect();
        let mut samples = samples(&all);
        let window = of_length(60.0);
        let pods = samples.pods(&BTreeMap::new(), &window);
        assert_eq!(pods.len(), PODS_MAX);
        let said = samples.not_known(&pods, &window).unwrap();
        assert!(said.starts_with("samples left out beyond 200 pods") && said.ends_with(": 3"), "{said}");
        samples.kept = SAMPLES_MAX;
        samples.take(&[told("shop-000", "00:00:55", 1)], BEGIN_S + 1e6);
        assert_eq!((samples.left_out, samples.kept), (4, SAMPLES_MAX));
    }
}
