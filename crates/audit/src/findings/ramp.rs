//! A ramp-up that is mistaken for a steady state.

use crate::findings::{Finding, Kind, Level};
use outputs::Document;
use outputs::Row;
use outputs::shown;

/// How near the arithmetic must come to the printed rate: the users' ends are not as regular as their starts.
const NEAR: f64 = 0.06;
/// A shorter ramp, as a share of the whole, does not matter.
const RAMP_SHARE_MIN: f64 = 0.05;

/// What a plan makes of its users.
struct Plan {
    users: f64,
    loops: f64,
    is_planned: bool,
    ramp_s: f64,
    mean_s: f64,
    rate_per_s: f64,
    /// Users over the median: what all of them at once make.
    steady_per_s: f64,
}

fn plan(row: &Row) -> Option<Plan> {
    let positive = |it: &f64| *it > 0.0 && it.is_finite();
    let median = row.percentiles_ms.iter().find(|(percent, _)| (*percent - 50.0).abs() < 0.01);
    let typical_ms = median.map_or(row.mean_ms?.value, |(_, time)| time.value);
    let users = f64::from(row.users?);
    Some(Plan {
        users,
        loops: row.loops.filter(positive)?,
        is_planned: row.is_planned,
        ramp_s: row.ramp_s.filter(positive)?,
        mean_s: Some(row.mean_ms?.value / 1e3).filter(positive)?,
        rate_per_s: row.rate_per_s.map(|it| it.value).filter(positive)?,
        steady_per_s: Some(users / typical_ms * 1e3).filter(positive)?,
    })
}

impl Plan {
    /// users × loops / (ramp + loops × R).
    fn predicted_per_s(&self) -> f64 {
        self.users * self.loops / (self.ramp_s + self.loops * self.mean_s)
    }

    fn is_ramp(&self) -> bool {
        let predicted = self.predicted_per_s();
        let share = self.ramp_s / (self.ramp_s + self.loops * self.mean_s);
        let is_near = (self.rate_per_s / predicted - 1.0).abs() <= NEAR;
        // The loops of a JTL are its requests over its users. Of a run that was bounded by time each user makes as many as it
        // can, and the arithmetic is near whatever the ramp does.
        let is_lower = self.steady_per_s > self.rate_per_s * (1.0 + NEAR);
        is_near && share >= RAMP_SHARE_MIN && (self.is_planned || is_lower)
    }
}

/// A rate that follows from the plan.
pub(super) fn up(row: &Row) -> Option<Finding> {
    let plan = plan(row).filter(Plan::is_ramp)?;
    let text = format!(
        "{} users x {} requests / ({} ramp-up + {} x {}) = {}, and {} is told: the rate is the plan's arithmetic; all \
         users at once make about {} (users / median)",
        shown::count(plan.users),
        shown::count(plan.loops),
        shown::seconds(plan.ramp_s),
        shown::count(plan.loops),
        shown::time(plan.mean_s * 1e3),
        shown::rate(plan.predicted_per_s()),
        shown::rate(plan.rate_per_s),
        shown::rate(plan.steady_per_s)
    );
    Some(Finding::of(row, Level::Unknown, Kind::RampUp, text))
}

/// How much the fastest leads by rate and in the steady state.
pub(super) fn orders(document: &Document) -> Option<Finding> {
    let mut plans: Vec<(&Row, Plan)> =
        document.rows.iter().filter_map(|row| Some((row, plan(row).filter(Plan::is_ramp)?))).collect();
    plans.sort_by(|a, b| b.1.rate_per_s.total_cmp(&a.1.rate_per_s));
    let [(fast, best), .., (slow, worst)] = &plans[..] else { return None };
    let (told, steady) = (best.rate_per_s / worst.rate_per_s, best.steady_per_s / worst.steady_per_s);
    if fast.work() != slow.work() || (told / steady - 1.0).abs() < NEAR {
        return None;
    }
    let text = format!(
        "by the rates it is {told:.1} times {}, by the medians {steady:.1} times: the ramp-up hides the rest",
        slow.short_label()
    );
    Some(Finding::of(fast, Level::Unknown, Kind::RampUp, text))
}
