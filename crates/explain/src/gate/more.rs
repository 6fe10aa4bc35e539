//! What would decide a check that could not be told.

use plan::gate::Condition;
use stats::Estimated;

use super::answer::limit_of;

/// So many times as much is nothing to recommend: the figure is at its limit.
const TIMES_MAX: f64 = 100.0;
/// As much again as it would take by the interval alone, since the figure may come out nearer the next time.
const RESERVE: f64 = 1.5;

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum More {
    /// So many times as much of the same.
    Times(f64),
    /// More of it, nobody knows how much.
    Some,
    /// No length decides it.
    Nothing,
}

/// How much more of the same would put an interval on one side of the limit, if the figure stays where it is: an interval
/// becomes half as wide with four times as much.
pub(super) fn more(condition: &Condition, estimated: &Estimated) -> More {
    let (limit, _) = limit_of(condition.limit);
    let towards = if estimated.value > limit { estimated.low } else { estimated.high };
    until_apart(estimated.value, towards.filter(|_| !estimated.is_lower_bound), limit)
}

/// The same of a figure whose interval ends at `end` on the limit's side.
pub(super) fn until_apart(value: f64, end: Option<f64>, limit: f64) -> More {
    let Some(end) = end else { return More::Some };
    let times = ((end - value) / (limit - value)).powi(2) * RESERVE;
    if times.is_finite() && times <= TIMES_MAX { More::Times(times.max(RESERVE)) } else { More::Nothing }
}

/// In words, of a load that took so long.
pub(super) fn of_load(more: More, load_s: f64) -> String {
    match more {
        More::Times(times) => format!("{} of this load", rounded_s(load_s * times)),
        More::Some => "a longer load".into(),
        More::Nothing => "no longer load: the figure is at its limit; move the limit".into(),
    }
}

/// The same of a run of so many blocks.
pub(super) fn of_run(more: More, blocks: usize) -> String {
    match more {
        More::Times(times) => format!("some {:.0} blocks", (blocks as f64 * times).ceil()),
        More::Some => "more blocks".into(),
        More::Nothing => "no longer run: the figure is at its limit; move the limit".into(),
    }
}

/// To one digit or two.
fn rounded_s(seconds: f64) -> String {
    match seconds {
        s if s < 100.0 => format!("some {:.0} s", (s / 5.0).ceil() * 5.0),
        s => format!("some {:.0} min", (s / 60.0).ceil()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(value: f64, low: f64, high: f64) -> More {
        let condition = "p99>50ms".parse().expect("it is one");
        more(&condition, &Estimated { value, is_lower_bound: false, low: Some(low), high: Some(high) })
    }

    #[test]
    fn twice_as_far_out_takes_four_times_as_much() {
        assert_eq!(of(45_000.0, 35_000.0, 55_000.0), More::Times(4.0 * RESERVE));
        assert_eq!(of(55_000.0, 45_000.0, 65_000.0), More::Times(4.0 * RESERVE));
        assert_eq!(of(49_999.0, 35_000.0, 65_000.0), More::Nothing);
        assert_eq!(of(50_000.0, 45_000.0, 55_000.0), More::Nothing);
        assert_eq!(of_load(More::Times(6.0), 10.0), "some 60 s of this load");
        assert_eq!(of_load(More::Times(6.0), 60.0), "some 6 min of this load");
        assert_eq!(of_run(More::Times(1.5), 10), "some 15 blocks");
    }
}
