//! What goes on as metrics, for somebody who scrapes a run while it lasts.

use exports::{Families, Family, Labels, Metric, Sample, Unit, Value};

use crate::text::GAP;
use crate::view::{Second, View};

/// Figures of a second that ended so long ago, seconds, are of no now: a load is over, or a machine is not heard of.
const STALE_S: f64 = 10.0;

/// The families of a view: figures of the last second, and counts of the loads so far, labelled with the trial that they are of.
/// What is not known is left out.
pub fn metrics(view: &View) -> Vec<Family> {
    let mut to = Adder { families: Families::default(), labels: labels(view) };
    let ago_s = view.last_second_ago_s.filter(|ago_s| *ago_s < STALE_S && view.ended.is_none());
    if let Some((second, ago_s)) = view.seconds.last().zip(ago_s) {
        add_second(&mut to, second, ago_s);
    }
    let unanswered =
        "Requests of the trial's loads so far, its warm-up included, that did not end as expected";
    for (kind, count) in &view.outcomes_so_far.failures {
        let labels = to.labels.clone().with("outcome", *kind);
        to.add(Metric::requests("live_failed_requests", unanswered), labels, Value::Count(*count));
    }
    let expected = "Requests of the trial's loads so far, its warm-up included, answered as expected";
    let labels = to.labels.clone();
    let answered = Value::Count(view.outcomes_so_far.answered_as_expected);
    to.add(Metric::requests("live_expected_requests", expected), labels, answered);
    if let Some(cpu) = &view.cpu {
        let sides = [
            ("generator", Some(cpu.generator)),
            ("servers", cpu.servers),
            ("others", cpu.others),
            ("interrupts", cpu.interrupts),
            ("steal", cpu.steal),
        ];
        for (side, cores) in sides {
            let metric = Metric::gauge("live_cpu_cores", Unit::Cores, "Cores kept busy, by whom");
            let labels = Labels::default().with("side", side);
            to.add_number(metric, labels, cores);
        }
    }
    let made = Metric::gauge("live_trials_made", Unit::None, "Trials that are written down");
    to.add(made, Labels::default(), Value::Count(view.finished_count));
    let left = Metric::gauge("live_left", Unit::Seconds, "How long it takes yet, at least");
    to.add_number(left, Labels::default(), view.left.map(|it| it.left_s));
    to.families.into_vec()
}

struct Adder {
    families: Families,
    labels: Labels,
}

impl Adder {
    fn add(&mut self, metric: Metric, labels: Labels, value: Value) {
        self.families.add(metric, Sample { labels, value, span: None });
    }

    fn add_number(&mut self, metric: Metric, labels: Labels, value: Option<f64>) {
        if let Some(value) = value.filter(|value| value.is_finite()) {
            self.add(metric, labels, Value::Number(value));
        }
    }
}

fn add_second(to: &mut Adder, second: &Second, ago_s: f64) {
    let labels = to.labels.clone();
    let help = "How long ago the second ended that goodput and response times are of";
    to.add_number(Metric::gauge("live_last_second_age", Unit::Seconds, help), labels.clone(), Some(ago_s));
    let goodput =
        Metric::gauge("live_goodput", Unit::RequestsPerSecond, "Expected answers in the last second");
    to.add_number(goodput, labels.clone(), Some(second.goodput_per_s));
    let time = |quantile: &'static str, us: Option<f64>, is_bound: bool, to: &mut Adder| {
        // A bound is in no family of those that are exact.
        let (name, help) = if is_bound {
            (
                "live_response_time_lower_bound",
                "Response time of the last second, known to be longer than this",
            )
        } else {
            ("live_response_time", "Response time of the last second")
        };
        let labels = labels.clone().with("quantile", quantile);
        to.add_number(Metric::gauge(name, Unit::Seconds, help), labels, us.map(|us| us / 1e6));
    };
    time("0.5", second.p50_us, second.p50_is_lower_bound, to);
    time("0.99", second.p99_us, second.p99_is_lower_bound, to);
}

/// The labels of an exported trial: a twin is told from its stack, and blocks are counted from 0.
fn labels(view: &View) -> Labels {
    let Some(trial) = &view.trial else { return Labels::default().with("load", without_query(&view.title)) };
    Labels::default()
        .with("round", trial.round.clone())
        .with("load", trial.load.clone())
        .with("stack", trial.stack.clone())
        .with("driver", trial.driver.name())
        .with("block", trial.block.saturating_sub(1).to_string())
        .with("role", exports::json_name(&trial.role))
}

/// The title of a load; its URL, if it has one, without what may be secret or another each time, as in exports.
fn without_query(title: &str) -> String {
    let (url, behind) = title.split_at(title.find(GAP).unwrap_or(title.len()));
    let end = url.find(['?', '#']).filter(|_| url.contains("://"));
    format!("{}{behind}", &url[..end.unwrap_or(url.len())])
}

#[cfg(test)]
mod tests {
    use plan::{LoadArguments, LoadPlan};
    use units::Instant;

    use super::*;
    use record::Role;

    use crate::state::State;
    use crate::view::TrialView;

    /// As `docs/exports.md` has them.
    #[test]
    fn a_twin_is_a_series_of_its_own_and_blocks_are_counted_as_in_exports() {
        let of = |role| {
            let mut view = State::of_experiment(2, Instant::ORIGIN).view(Instant::ORIGIN);
            view.trial = Some(TrialView {
                number: 7,
                of: 54,
                of_max: 54,
                block: 2,
                round: "hello".into(),
                load: "64 connections".into(),
                stack: "nginx".into(),
                role,
                driver: record::Driver::Proofload,
            });
            let text = exports::text(&metrics(&view));
            let line = text.lines().find(|line| line.starts_with("proofload_live_expected_requests_total{"));
            line.expect("it is told").to_owned()
        };
        let labels = "block=\"1\",driver=\"proofload\",load=\"64 connections\",role=\"stack\"";
        assert!(of(Role::Stack).contains(labels), "{}", of(Role::Stack));
        assert_eq!(of(Role::Twin), of(Role::Stack).replace("role=\"stack\"", "role=\"twin\""));
    }

    /// Whoever scrapes it keeps it, and a query may hold a key.
    #[test]
    fn a_load_is_called_by_its_url_without_the_query() {
        let plan = LoadPlan::new(&LoadArguments::default()).unwrap();
        let label = plan.label();
        for (title, shown) in [
            ("http://a/{{int 1 9}}?key=secret#part", "http://a/{{int 1 9}}"),
            ("http://a/b#c?d", "http://a/b"),
            ("which shop?.toml", "which shop?.toml"),
        ] {
            let state = State::of_load(title, &plan, 2, Instant::ORIGIN);
            let text = exports::text(&metrics(&state.view(Instant::ORIGIN)));
            let due = format!("proofload_live_expected_requests_total{{load=\"{shown}{GAP}{label}\"}} 0");
            assert!(text.lines().any(|line| line == due), "{due}\n{text}");
        }
    }

    #[test]
    fn a_second_with_a_bound_is_told_as_one() {
        let mut view = State::of_experiment(2, Instant::ORIGIN).view(Instant::ORIGIN);
        view.seconds.push(Second {
            burst: None,
            from_s: 0.0,
            goodput_per_s: 12.5,
            p50_us: Some(1500.0),
            p50_is_lower_bound: false,
            p99_us: Some(2e6),
            p99_is_lower_bound: true,
            failures: std::collections::BTreeMap::new(),
        });
        view.last_second_ago_s = Some(0.5);
        view.outcomes_so_far.failures.insert("reset", 3);
        let text = exports::text(&metrics(&view));
        for line in [
            "proofload_live_goodput_per_second 12.5",
            "proofload_live_last_second_age_seconds 0.5",
            "proofload_live_response_time_seconds{quantile=\"0.5\"} 0.0015",
            "proofload_live_response_time_lower_bound_seconds{quantile=\"0.99\"} 2",
            "proofload_live_failed_requests_total{outcome=\"reset\"} 3",
        ] {
            assert!(text.lines().any(|it| it == line), "{line}\n{text}");
        }
        view.seconds[0].p50_is_lower_bound = true;
        let text = exports::text(&metrics(&view));
        assert!(!text.contains("proofload_live_response_time_seconds"), "{text}");
        assert!(text.contains("proofload_live_response_time_lower_bound_seconds{quantile=\"0.5\"} 0.0015"));
    }

    /// Whoever scrapes takes what is there for what is.
    #[test]
    fn a_second_long_ago_is_no_figure_of_now() {
        let mut view = State::of_experiment(2, Instant::ORIGIN).view(Instant::ORIGIN);
        view.seconds.push(Second {
            burst: None,
            from_s: 0.0,
            goodput_per_s: 12.5,
            p50_us: None,
            p50_is_lower_bound: false,
            p99_us: None,
            p99_is_lower_bound: false,
            failures: std::collections::BTreeMap::new(),
        });
        let tells = |view: &View| exports::text(&metrics(view)).contains("proofload_live_goodput_per_second");
        assert!(!tells(&view), "it is of an earlier load");
        view.last_second_ago_s = Some(9.9);
        assert!(tells(&view));
        view.last_second_ago_s = Some(STALE_S);
        assert!(!tells(&view));
        view.last_second_ago_s = Some(0.1);
        view.ended = Some(crate::view::EndedView { interrupted: false, error: None });
        assert!(!tells(&view));
    }
}
