//! A load that ends before its time, since too many of its requests fail.

use std::collections::VecDeque;

use events::Moment;
use plan::PlanError;
use plan::gate::{Condition, Limit, Metric, can_hold};
use units::Duration;

/// A share is of so much of the load: what goes on now, and not how well it began.
const WINDOW: Duration = Duration::from_secs(5);
/// Requests that a share is of at least: of fewer, one says nothing.
const REQUESTS_MIN: u64 = 100;

/// When a load is to end, and what is known of it so far.
pub struct Stop {
    conditions: Vec<Condition>,
    /// Of the last seconds, by thread: when they began, requests that were due, and those that failed.
    recent: VecDeque<(Duration, u64, u64)>,
    failed: u64,
    why: Option<String>,
}

impl Stop {
    /// `None` where nothing is asked. What can't be known while a load goes on is refused before anything is sent.
    /// So is what can't be of so many requests, where it is known how many there are.
    pub fn open(conditions: &[Condition], requests_max: Option<u64>) -> Result<Option<Self>, PlanError> {
        if let Some(other) = conditions.iter().find(|it| it.metric != Metric::Errors) {
            let help = "write --stop-if 'errors>5%', and hold the whole load to the other one with --fail-if";
            return Err(PlanError::new(format!("`{other}` ends no load: only errors do"), help));
        }
        can_hold(conditions, requests_max)?;
        let stop = Self { conditions: conditions.to_vec(), recent: VecDeque::new(), failed: 0, why: None };
        Ok((!conditions.is_empty()).then_some(stop))
    }

    /// Takes in what a load tells of itself, and says whether it is to end.
    pub fn see(&mut self, moment: &Moment<'_>) -> bool {
        if let Moment::Interval { from, interval, .. } = moment {
            let due = interval.tally.intended;
            let failed = due.saturating_sub(interval.tally.answered_as_expected);
            self.failed += failed;
            self.recent.push_back((*from, due, failed));
            while self.recent.front().is_some_and(|(begun, ..)| *begun + WINDOW <= *from) {
                self.recent.pop_front();
            }
            self.why = self.why.take().or_else(|| self.conditions.iter().find_map(|it| self.holds(it)));
        }
        self.why.is_some()
    }

    /// Whether a condition has held, by which the load is to end.
    pub const fn has_held(&self) -> bool {
        self.why.is_some()
    }

    /// Why the load was ended, where it was.
    pub fn into_why(self) -> Option<String> {
        self.why
    }

    /// What was seen, where the condition holds.
    fn holds(&self, condition: &Condition) -> Option<String> {
        let is_beyond =
            |seen: f64, limit: f64| if condition.spares_limit { seen > limit } else { seen >= limit };
        match condition.limit {
            Limit::Count(limit) => is_beyond(self.failed as f64, limit as f64).then(|| {
                let requests = if self.failed == 1 { "request" } else { "requests" };
                format!("{} {requests} failed ({condition})", self.failed)
            }),
            Limit::Share(limit) => {
                let sum = |of: fn(&(Duration, u64, u64)) -> u64| self.recent.iter().map(of).sum::<u64>();
                let (due, failed) = (sum(|it| it.1), sum(|it| it.2));
                let share = failed as f64 / due.max(1) as f64;
                (due >= REQUESTS_MIN && is_beyond(share, limit.get())).then(|| {
                    let percent = report::percent_of(failed, due, 1);
                    format!("{failed} of the last {due} requests failed, {percent} ({condition})")
                })
            }
            Limit::Time(_) | Limit::Rate(_) | Limit::Bytes(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use stats::Interval;

    use super::*;

    fn stop(condition: &str) -> Stop {
        Stop::open(&[condition.parse().expect("it is one")], None)
            .expect("it is about errors")
            .expect("it is asked")
    }

    /// A second in which of so many requests so many failed.
    fn second(stop: &mut Stop, at_s: u64, due: u64, failed: u64) -> bool {
        let mut interval = Interval::default();
        interval.tally.intended = due;
        interval.tally.answered_as_expected = due - failed;
        let (from, length) = (Duration::from_secs(at_s), Duration::from_secs(1));
        stop.see(&Moment::Interval { from, interval: &interval, length, rates: &[], threads: 1 })
    }

    #[test]
    fn a_share_is_of_the_last_seconds_and_of_enough_requests() {
        let mut of = stop("errors>5%");
        assert!(!second(&mut of, 0, 50, 50), "so few tell nothing");
        for at in 1..20 {
            assert!(!second(&mut of, at, 10_000, 0));
        }
        // A share of all so far would not see for a minute what goes on now.
        assert!(!second(&mut of, 20, 10_000, 1_000));
        assert!(!second(&mut of, 21, 10_000, 1_000));
        assert!(second(&mut of, 22, 10_000, 1_000));
        assert!(second(&mut of, 23, 10_000, 0), "it is not taken back");
        let why = of.into_why().expect("it was ended");
        assert!(why.starts_with("3000 of the last 50000 requests failed, 6.0 %"), "{why}");
    }

    #[test]
    fn a_share_that_ends_a_load_is_not_said_to_be_none() {
        let why = |condition: &str, failed: u64| {
            let mut of = stop(condition);
            assert!(second(&mut of, 0, 70_800, failed));
            of.into_why().expect("it was ended")
        };
        assert_eq!(
            why("errors>0.0001%", 1),
            "1 of the last 70800 requests failed, <0.1 % (errors > 0.0001%)"
        );
        assert_eq!(
            why("errors>1%", 70_799),
            "70799 of the last 70800 requests failed, >99.9 % (errors > 1%)"
        );
    }

    #[test]
    fn a_count_is_of_the_whole_load() {
        let mut of = stop("errors>2");
        assert!(!second(&mut of, 0, 10, 2));
        assert!(!second(&mut of, 30, 10, 0));
        assert!(second(&mut of, 60, 10, 1));
        assert_eq!(of.into_why().as_deref(), Some("3 requests failed (errors > 2)"));
        let mut of = stop("errors>0");
        assert!(second(&mut of, 0, 10, 1));
        assert_eq!(of.into_why().as_deref(), Some("1 request failed (errors > 0)"));
    }

    #[test]
    fn what_a_load_can_t_be_ended_by_is_refused() {
        let told = |condition: &str, requests_max: Option<u64>| {
            Stop::open(&[condition.parse().expect("it is one")], requests_max).err().expect("it is refused")
        };
        let counted = told("errors>100", Some(100)).to_string();
        assert!(counted.contains("`errors > 100` can't hold: there are 100 requests at most"), "{counted}");
        let told = told("p99>50ms", None);
        assert!(
            told.to_string().contains("only errors do") && told.to_string().contains("--fail-if"),
            "{told}"
        );
        assert!(Stop::open(&[], None).expect("nothing is wrong").is_none());
    }
}
