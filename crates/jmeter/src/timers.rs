//! Timers to pauses.

use scenario::{Pacing, Pause};

use crate::names::Timer;
use crate::values::Fields;

/// The pause that a timer makes. `groups` is how many groups of users the plan has.
pub(crate) fn pause(timer: Timer, fields: Fields<'_>, groups: usize) -> Result<Pause, String> {
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
        Timer::Throughput => throughput(fields, groups),
    }
}

fn throughput(fields: Fields<'_>, groups: usize) -> Result<Pause, String> {
    const MODE: &str = "calcMode";
    const ALL_GROUPS: &str = "its rate is shared by all groups; share it within each group (calculate throughput based on all active \
         threads in current thread group (shared))";
    let of = match fields.whole_at_start(MODE, 0)? {
        0 => Pacing::User,
        1 => Pacing::PartOfLoad,
        2 => Pacing::PartOfGroup,
        3 if groups > 1 => return Err(ALL_GROUPS.into()),
        3 | 4 => Pacing::Group,
        other => return Err(format!("{MODE} is {other}, which is none of JMeter's 0 to 4")),
    };
    let per_minute = fields.template("throughput")?;
    let known = fields.values.fixed(&per_minute);
    let usable = known.as_deref().is_none_or(|text| text.trim().parse::<f64>().is_ok_and(|rate| rate > 0.0));
    if !usable {
        return Err(format!("throughput is '{}', which is no rate above 0", known.unwrap_or_default()));
    }
    Ok(Pause::Throughput { per_minute, of })
}
