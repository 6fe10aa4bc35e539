//! The Ultimate Thread Group of JMeter's best known plug-ins: users by a table, of whom each row says when they come and go.

use std::num::{NonZeroU32, NonZeroU64};

use scenario::Users;
use units::Duration;

use crate::values::Fields;

/// The table: a row is users, and seconds before they come, in which they come, for which all are there, in which they go.
const ROWS: &str = "ultimatethreadgroupdata";
/// The property that replaces the table.
const SCHEDULE: &str = "threads_schedule";

/// When the users of such a group come and go.
pub(crate) struct Lives {
    count: NonZeroU32,
    ramp_up: Duration,
    /// Before the first comes.
    delay: Duration,
    /// From the first one's coming until all go.
    duration: Duration,
}

impl Lives {
    /// Users who make so many iterations at most.
    pub(crate) fn users(self, iterations: Option<NonZeroU64>) -> Users {
        let Self { count, ramp_up, delay, duration } = self;
        Users::Closed { count, ramp_up, delay, iterations, duration: Some(duration) }
    }
}

/// What the table says; `None` where nobody comes, or goes at once.
pub(crate) fn lives(fields: Fields<'_>) -> Result<Option<Lives>, String> {
    if fields.values.property(SCHEDULE).is_some_and(|schedule| !schedule.is_empty()) {
        return Err(format!("the property {SCHEDULE} replaces its table, and is not read here"));
    }
    let rows = fields.properties.lists(ROWS);
    let [row] = rows.as_slice() else {
        let count = rows.len();
        return Err(format!("its table has {count} rows; make a Thread Group of each, or leave one of them"));
    };
    let mut numbers = Vec::new();
    for text in row {
        let number = fields.values.whole_at_start(ROWS, text)?;
        let number = u32::try_from(number);
        numbers.push(
            number.map_err(|_| format!("{ROWS} has '{text}', which is no number of users or seconds"))?,
        );
    }
    let [count, delay, ramp_up, hold, ramp_down] = numbers[..] else {
        return Err(format!("{ROWS} has a row of {} numbers, and not of 5", numbers.len()));
    };
    if ramp_down > 0 && count > 1 {
        return Err(format!(
            "its users go one after another within {ramp_down} s, and here they all go at once; let them go within 0"
        ));
    }
    let seconds = |number: u32| Duration::from_secs(number.into());
    let Some(count) = NonZeroU32::new(count) else { return Ok(None) };
    // The first of n comes when the nth part of that time is over, and the last at its end.
    let first = Duration::from_nanos(seconds(ramp_up).as_nanos() / u64::from(count.get()));
    let duration = (seconds(ramp_up) + seconds(hold) + seconds(ramp_down)).saturating_sub(first);
    if duration.is_zero() {
        return Ok(None);
    }
    Ok(Some(Lives { count, ramp_up: seconds(ramp_up), delay: seconds(delay) + first, duration }))
}
