//! The seconds of a window as rates, and whether they went over from one level to another.

use record::{LoadResult, Second};
use stats::{STEP_SECONDS_MIN, Step};

use crate::rates::whole_rate_words;

/// A second shorter than this is the window's end and too short for a rate.
const LENGTH_S_MIN: f64 = 0.5;

/// Whether users come one after another, who make a trend of their own.
pub(crate) fn has_ramp(load: &LoadResult) -> bool {
    load.load.ramp_up_s.is_some() || load.load.requests_per_user.is_some()
}

/// Of good answers: a service that fails more and more, however fast, is none that is steady.
pub(crate) fn rates(seconds: &[Second]) -> Vec<f64> {
    seconds.iter().filter(|it| it.length_s >= LENGTH_S_MIN).map(|it| it.goodput_per_s).collect()
}

/// The step within the window, where there is one.
pub(crate) fn of(load: &LoadResult) -> Option<Step> {
    if has_ramp(load) || load.seconds.len() < STEP_SECONDS_MIN {
        return None;
    }
    let rates = rates(&load.seconds);
    stats::step(&rates).or_else(|| stats::step_of_times(&rates, &medians(&load.seconds)?))
}

/// The median answer of each; `None` where a second had none.
fn medians(seconds: &[Second]) -> Option<Vec<f64>> {
    seconds.iter().filter(|it| it.length_s >= LENGTH_S_MIN).map(|it| it.p50_us).collect()
}

/// In words.
pub(crate) fn words(step: &Step) -> String {
    let Step { at, before_per_s, after_per_s } = step;
    let (before, after) = (whole_rate_words(*before_per_s), whole_rate_words(*after_per_s));
    format!("{before} in the first {at} s of the window and {after} in the rest")
}
