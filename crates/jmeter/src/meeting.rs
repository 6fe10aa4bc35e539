//! Synchronizing Timers: users who wait for each other.

use std::num::NonZeroU32;
use std::sync::Arc;

use scenario::{Meeting, Pause};
use units::Duration;

use crate::values::Fields;

const SIZE: &str = "groupSize";
const TIMEOUT: &str = "timeoutInMs";

/// The threads that come to such a timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Threads {
    /// So many, of one thread group.
    Fixed(u32),
    /// Those of one group, of which there are more or fewer in the course of time.
    Changing,
    /// Those of several groups.
    OfSeveral,
}

/// What such a timer has users wait for.
pub(crate) fn meeting(fields: Fields<'_>, threads: Threads) -> Result<Meeting, String> {
    let ms = fields.whole_at_start(TIMEOUT, 0)?;
    let timeout = match u64::try_from(ms) {
        Ok(0) => None,
        Ok(ms) => Some(Duration::from_millis(ms)),
        Err(_) => return Err(format!("{TIMEOUT} is {ms}, by which JMeter ends the thread; write 0 or more")),
    };
    let size = fields.whole_at_start(SIZE, 0)?;
    let users = match (size, threads) {
        (0, Threads::Fixed(count)) => count,
        (0, Threads::Changing) => {
            return Err(format!(
                "{SIZE} is 0, which is all threads of the group, and there are not always as many; write a number"
            ));
        }
        (0, Threads::OfSeveral) => {
            return Err(format!(
                "{SIZE} is 0, which is all threads of one of the groups that come to it; write a number, or move it \
                 into that group"
            ));
        }
        (size, Threads::Fixed(count)) if timeout.is_none() && count > 0 && size > i64::from(count) => {
            return Err(format!(
                "{SIZE} is {size}, and its thread group has {count} threads, who would wait for ever; give it a timeout, \
                 or a smaller size"
            ));
        }
        (size, _) => {
            u32::try_from(size).map_err(|_| format!("{SIZE} is {size}, which is no number of users"))?
        }
    };
    // A group without threads comes to nothing.
    Ok(Meeting { users: NonZeroU32::new(users).unwrap_or(NonZeroU32::MIN), timeout })
}

/// Whether users wait for each other and then keep a rate, or the other way round: JMeter asks one timer after the other.
pub(crate) fn meets_at_a_rate(pauses: &[Pause]) -> bool {
    let any = |is: fn(&Pause) -> bool| pauses.iter().any(is);
    any(|it| matches!(it, Pause::Meeting(_)))
        && any(|it| matches!(it, Pause::Throughput { .. } | Pause::Scheduled(_)))
}

/// The pause that it comes to.
pub(crate) fn pause(meeting: Meeting) -> Pause {
    Pause::Meeting(Arc::new(meeting))
}
