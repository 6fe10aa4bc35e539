//! The Ultimate Thread Group of JMeter's best known plug-ins: users by a table, of whom each row says when they come and go.

use scenario::Stay;
use units::Duration;

use crate::planned;
use crate::values::Fields;

/// The table: a row is users, and seconds before they come, in which they come, for which all are there, in which they go.
const ROWS: &str = "ultimatethreadgroupdata";
/// The property that replaces the table. Old plans have the table itself under this name.
const SCHEDULE: &str = "threads_schedule";

/// A row of the table.
struct Row {
    users: u32,
    /// Before the first of them can come.
    delay: Duration,
    /// In which they come.
    ramp_up: Duration,
    /// For which all of them are there.
    hold: Duration,
    /// In which they go.
    ramp_down: Duration,
}

/// When users come and go, by their numbers: those of the first row have the lowest.
pub(crate) fn stays(fields: Fields<'_>) -> Result<Vec<Stay>, String> {
    if fields.values.property(SCHEDULE).is_some_and(|schedule| !schedule.is_empty()) {
        return Err(format!("the property {SCHEDULE} replaces its table, and is not read here"));
    }
    if fields.properties.has(SCHEDULE) && !fields.properties.has(ROWS) {
        return Err(format!("its table is called {SCHEDULE}, as by an old plug-in; save the plan again"));
    }
    let rows = fields.properties.lists(ROWS);
    let rows: Vec<Row> = rows.iter().map(|texts| row(fields, texts)).collect::<Result<_, _>>()?;
    let all: i64 = rows.iter().map(|row| i64::from(row.users)).sum();
    planned::users(ROWS, all)?;
    if all > 0 && rows.iter().any(|row| row.users == 0) {
        return Err(format!(
            "{ROWS} has a row of 0 users, whose times the plug-in gives to a user of another row; remove it"
        ));
    }
    planned::checked(rows.iter().flat_map(of_row).collect())
}

fn row(fields: Fields<'_>, texts: &[&str]) -> Result<Row, String> {
    let numbers: Vec<i64> =
        texts.iter().map(|text| fields.values.whole_at_start(ROWS, text)).collect::<Result<_, _>>()?;
    let [users, delay, ramp_up, hold, ramp_down] = numbers[..] else {
        return Err(format!("{ROWS} has a row of {} numbers, and not of 5", numbers.len()));
    };
    let seconds = |number: i64| planned::seconds(ROWS, number);
    Ok(Row {
        users: planned::users(ROWS, users)?,
        delay: seconds(delay)?,
        ramp_up: seconds(ramp_up)?,
        hold: seconds(hold)?,
        ramp_down: seconds(ramp_down)?,
    })
}

/// When the users of a row come and go. Of n, the last comes when the nth part of that time is over, and is the first to go, too.
fn of_row(row: &Row) -> impl Iterator<Item = Stay> {
    let Row { users, delay, ramp_up, hold, ramp_down } = *row;
    let all_are_there = delay + ramp_up;
    (1..=users).rev().map(move |place| Stay {
        from: delay + part(ramp_up, place, users),
        to: all_are_there + hold + part(ramp_down, place, users),
    })
}

/// So many parts of `of` that a time has, in whole milliseconds, as in JMeter.
fn part(span: Duration, parts: u32, of: u32) -> Duration {
    let ms = u128::from(span.as_nanos()) / 1_000_000 * u128::from(parts) / u128::from(of);
    Duration::from_millis(ms as u64)
}
