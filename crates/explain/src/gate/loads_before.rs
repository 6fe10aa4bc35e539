//! A load held against loads before it.

use record::{GateAnswer, GateCheck, GateUnit, Load, LoadResult, RankedBy};
use units::Share;

use super::answer::without_figure;
use super::loss::{Beside, held_against_earlier, name_of};
use crate::audit::{Reason, audit};

/// What is kept of a load that others are held against.
#[derive(Debug, Clone, PartialEq)]
struct LoadBefore {
    url: String,
    load: Load,
    goodput_per_s: f64,
    p99_us: Option<f64>,
}

/// Loads that one after them is held against.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadsBefore {
    name: String,
    max_loss: Share,
    loads: Vec<LoadBefore>,
}

impl LoadsBefore {
    /// None yet. `name` is theirs as the user knows it; `max_loss` is the loss that is allowed.
    pub const fn new(name: String, max_loss: Share) -> Self {
        Self { name, max_loss, loads: Vec::new() }
    }

    /// Takes in a load. One whose figures do not stand is no measure for others.
    pub fn add(&mut self, result: &LoadResult) {
        if audit(result).valid && result.driver.is_none() {
            let p99 = result.response_time_us.figure("p99");
            self.loads.push(LoadBefore {
                url: result.url.clone(),
                load: asked(&result.load),
                goodput_per_s: result.goodput_per_s,
                p99_us: p99.and_then(|(us, is_lower_bound)| (!is_lower_bound).then_some(us)),
            });
        }
    }

    /// The check of a load, which had those before it made in the same way.
    pub(super) fn check(&self, result: &LoadResult, tail: f64, doubts: &[Reason]) -> GateCheck {
        let load = asked(&result.load);
        let ranked_by = if load.rate_per_s.is_some() { RankedBy::ResponseP99 } else { RankedBy::Goodput };
        let fails_if =
            format!("loss of {} to the loads in {} > {}", name_of(ranked_by), self.name, self.max_loss);
        let unknown = without_figure(fails_if, self.max_loss.get(), GateUnit::Loss);
        let alike = self.loads.iter().filter(|it| it.url == result.url && it.load == load);
        let earlier = alike.filter_map(|it| match ranked_by {
            RankedBy::Goodput => Some(it.goodput_per_s),
            RankedBy::ResponseP99 => it.p99_us,
        });
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
            earlier: earlier.filter(|it| *it > 0.0).collect(),
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

/// What was asked for, without what may be another thing each time.
fn asked(load: &Load) -> Load {
    Load { seed: 0, threads_why: None, backend_refused: None, ..load.clone() }
}
