//! A load held against loads before it.

use record::{GateAnswer, GateCheck, GateUnit, Load, LoadResult, RankedBy, RequestSummary};
use units::Share;

use super::answer::without_figure;
use super::loss::{Beside, held_against_earlier, name_of};
use crate::audit::{Reason, ReasonKind, audit};

/// What is kept of a load that others are held against.
#[derive(Debug, Clone, PartialEq)]
struct LoadBefore {
    asked: Asked,
    /// `None` where the service itself was at fault: that of one who fails fast is no measure of one who answers.
    goodput_per_s: Option<f64>,
    /// With whether it is only a lower bound.
    p99_us: Option<(f64, bool)>,
}

/// What makes two loads ones of the same: what was asked for, by which way it went there, and from how many machines. These have
/// other names each time where they are pods.
#[derive(Debug, Clone, PartialEq)]
struct Asked {
    url: String,
    load: Load,
    request: Option<RequestSummary>,
    via: Option<String>,
    machines: usize,
}

/// Loads that one after them is held against.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadsBefore {
    name: String,
    max_loss: Share,
    loads: Vec<LoadBefore>,
    /// How many were told of that are none of them.
    not_valid: usize,
}

impl LoadsBefore {
    /// None yet. `name` is theirs as the user knows it; `max_loss` is the loss that is allowed.
    pub const fn new(name: String, max_loss: Share) -> Self {
        Self { name, max_loss, loads: Vec::new(), not_valid: 0 }
    }

    /// Takes in a load. One whose figures do not stand is no measure for others. That a 99th percentile is longer than could be seen
    /// is the service's doing, and such a load is kept: without it only those would be left that went well.
    pub fn add(&mut self, result: &LoadResult) {
        let (p99_us, validity) = (result.response_time_us.figure("p99"), audit(result));
        let is_bound = p99_us.is_some_and(|it| it.1);
        let is_kept =
            validity.valid || is_bound && validity.reasons.iter().all(|it| comes_of_service(it.kind));
        if is_kept && result.driver.is_none() {
            self.loads.push(LoadBefore {
                asked: Asked::of(result),
                goodput_per_s: validity.valid.then_some(result.goodput_per_s),
                p99_us,
            });
        } else {
            self.not_valid += 1;
        }
    }

    /// Why those can't be compared of which `alike` can: whoever sees the files lie there would look for a mistake.
    fn passed_over(&self, alike: usize) -> String {
        let others = [
            (self.loads.len().saturating_sub(alike), "asked for something else"),
            (self.not_valid, "not valid"),
        ];
        let told = others.into_iter().filter(|(count, _)| *count > 0);
        let told: Vec<String> = told.map(|(count, what)| format!("{count} {what}")).collect();
        if told.is_empty() { String::new() } else { format!("; of the others, {}", told.join(", ")) }
    }

    /// The check of a load, which had those before it made in the same way.
    pub(super) fn check(&self, result: &LoadResult, tail: f64, doubts: &[Reason]) -> GateCheck {
        let asked = Asked::of(result);
        let ranked_by =
            if asked.load.rate_per_s.is_some() { RankedBy::ResponseP99 } else { RankedBy::Goodput };
        let fails_if =
            format!("loss of {} to the loads in {} > {}", name_of(ranked_by), self.name, self.max_loss);
        let unknown = without_figure(fails_if, self.max_loss.get(), GateUnit::Loss);
        let alike: Vec<&LoadBefore> = self.loads.iter().filter(|it| it.asked.is_as(&asked)).collect();
        let passed_over = self.passed_over(alike.len());
        let earlier = alike.into_iter().filter_map(|it| match ranked_by {
            RankedBy::Goodput => it.goodput_per_s.map(|per_s| (per_s, false)),
            RankedBy::ResponseP99 => it.p99_us,
        });
        // With whether it is only a bound.
        let (beyond, earlier): (Vec<_>, Vec<_>) =
            earlier.filter(|it| it.0 > 0.0).partition(|(_, is_lower_bound)| *is_lower_bound);
        let own = match ranked_by {
            RankedBy::Goodput => Some((result.goodput_per_s, false)),
            RankedBy::ResponseP99 => result.response_time_us.figure("p99"),
        };
        let is_lower_bound = own.is_some_and(|it| it.1);
        let own = own.map(|it| it.0).filter(|it| *it > 0.0);
        let beside = Beside {
            of: "loads",
            ranked_by,
            own: own.ok_or_else(|| without_answers(result, unknown.clone())),
            is_lower_bound,
            earlier: earlier.into_iter().map(|it| it.0).collect(),
            beyond: beyond.len(),
            passed_over,
            tail,
            doubts,
        };
        held_against_earlier(beside, unknown)
    }
}

/// Of a load that has no figure, beside those that have one.
fn without_answers(result: &LoadResult, unknown: GateCheck) -> GateCheck {
    if result.intended > 0 && result.answered_as_expected == 0 {
        let why = Some("nothing was answered as expected".into());
        return GateCheck { answer: GateAnswer::Failed, why, ..unknown };
    }
    let (why, would_decide) = (Some("so few requests do not know it".into()), Some("a longer load".into()));
    GateCheck { why, would_decide, ..unknown }
}

/// Whether a service that is too slow, or does not answer, brings it about by itself.
const fn comes_of_service(kind: ReasonKind) -> bool {
    kind.is_services_fault() || matches!(kind, ReasonKind::LittlesLaw | ReasonKind::TooShort)
}

impl Asked {
    /// Without what may be another thing each time.
    fn of(result: &LoadResult) -> Self {
        Self {
            url: result.url.clone(),
            load: Load { seed: 0, threads_why: None, backend_refused: None, ..result.load.clone() },
            request: result.request.clone(),
            via: result.via.clone(),
            machines: result.agents.len(),
        }
    }

    /// Whether both are of the same, as far as that is known: records of versions that did not say the request may be of any.
    fn is_as(&self, other: &Self) -> bool {
        let Self { url, load, request, via, machines } = self;
        let requests = request.as_ref().zip(other.request.as_ref());
        requests.is_none_or(|(own, other)| own == other)
            && (url, load, via, machines) == (&other.url, &other.load, &other.via, &other.machines)
    }
}
