//! Timers to pauses.

use scenario::{Pacing, Pause};

use crate::names::Timer;
use crate::shaping;
use crate::values::Fields;

/// The pause that a timer makes, which is the plan's with this number. `groups` is how many groups of users that has.
pub(crate) fn pause(timer: Timer, number: u32, fields: Fields<'_>, groups: usize) -> Result<Pause, String> {
    const DELAY: &str = "ConstantTimer.delay";
    const RANGE: &str = "RandomTimer.range";
    match timer {
        Timer::Constant => Ok(Pause::Constant { ms: fields.template(DELAY)? }),
        Timer::Uniform => {
            Ok(Pause::Uniform { offset_ms: fields.template(DELAY)?, range_ms: fields.template(RANGE)? })
        }
        Timer::Gaussian => {
            Ok(Pause::Gaussian { offset_ms: fields.template(DELAY)?, deviation_ms: fields.template(RANGE)? })
        }
        Timer::Poisson => {
            Ok(Pause::Poisson { offset_ms: fields.template(DELAY)?, mean_ms: fields.template(RANGE)? })
        }
        Timer::Throughput => throughput(number, fields, groups),
        Timer::Shaping => shaping::pause(fields),
    }
}

/// Whether two timers keep a rate of which one has a schedule: the plug-in's has its request wait, and the other one works out
/// what is left, before it or behind it.
pub(crate) fn keep_two_rates(pauses: &[Pause]) -> bool {
    let scheduled = pauses.iter().filter(|it| matches!(it, Pause::Scheduled(_))).count();
    let paced = pauses.iter().filter(|it| matches!(it, Pause::Throughput { .. })).count();
    scheduled > 1 || (scheduled == 1 && paced > 0)
}

/// What plans of old JMeters have in the place of a mode's number: its name, at the number's place.
const MODE_NAMES: [&str; 5] = [
    "this thread only",
    "all active threads",
    "all active threads in current thread group",
    "all active threads (shared)",
    "all active threads in current thread group (shared)",
];

fn throughput(number: u32, fields: Fields<'_>, groups: usize) -> Result<Pause, String> {
    const MODE: &str = "calcMode";
    const ALL_GROUPS: &str = "its rate is shared by all groups; share it within each group (calculate throughput based on all active \
         threads in current thread group (shared))";
    let named = fields.properties.text(MODE);
    let mode = match (0..).zip(MODE_NAMES).find(|(_, name)| *name == named) {
        Some((mode, _)) => mode,
        None => fields.whole_at_start(MODE, 0)?,
    };
    let of = match mode {
        0 => Pacing::User,
        1 => Pacing::PartOfLoad,
        2 => Pacing::PartOfGroup,
        3 if groups > 1 => return Err(ALL_GROUPS.into()),
        3 | 4 => Pacing::GroupSinceLast,
        other => return Err(format!("{MODE} is {other}, which is none of JMeter's 0 to 4")),
    };
    let per_minute = fields.template("throughput")?;
    let known = fields.values.fixed(&per_minute);
    let usable = known.as_deref().is_none_or(|text| text.trim().parse::<f64>().is_ok_and(|rate| rate > 0.0));
    if !usable {
        return Err(format!("throughput is '{}', which is no rate above 0", known.unwrap_or_default()));
    }
    // In JMeter each user has the time of each timer, also of those that share a rate.
    Ok(Pause::Throughput { per_minute, of, timer: number })
}
