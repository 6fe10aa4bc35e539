//! The Throughput Shaping Timer of JMeter's best known plug-ins: requests a second by a table, for all users of a group together.

use scenario::{Pause, RateRow, RateSchedule};

use crate::planned;
use crate::values::Fields;

/// The table, whose rows are requests a second at the beginning and at the end, and seconds. A property of this name replaces it.
const ROWS: &str = "load_profile";

/// The pause before each request that the timer applies to.
pub(crate) fn pause(fields: Fields<'_>) -> Result<Pause, String> {
    if fields.values.property(ROWS).is_some_and(|profile| !profile.is_empty()) {
        return Err(format!("the property {ROWS} replaces its table, and is not read here"));
    }
    let rows = fields.properties.lists(ROWS);
    if rows.is_empty() {
        return Err(format!("{ROWS} has no row, and so the group would be stopped at once; add one"));
    }
    let rows = rows.iter().map(|texts| row(fields, texts)).collect::<Result<_, _>>()?;
    Ok(Pause::Scheduled(RateSchedule(rows).into()))
}

fn row(fields: Fields<'_>, texts: &[&str]) -> Result<RateRow, String> {
    let [from, to, seconds] = texts else {
        return Err(format!("{ROWS} has a row of {} numbers, and not of 3", texts.len()));
    };
    let number = fields.values.whole_at_start(ROWS, seconds)?;
    planned::seconds(ROWS, number)?;
    // The check has left numbers alone that fit.
    let seconds = u32::try_from(number).unwrap_or_default();
    if seconds == 0 {
        return Err(format!("{ROWS} has a row of 0 seconds; remove it"));
    }
    Ok(RateRow { from: rate(fields, from)?, to: rate(fields, to)?, seconds })
}

fn rate(fields: Fields<'_>, text: &str) -> Result<f64, String> {
    let value = fields.values.text_at_start(ROWS, text)?;
    let rate = value.trim().parse().ok().filter(|rate: &f64| *rate >= 0.0 && rate.is_finite());
    rate.ok_or_else(|| format!("{ROWS} has '{value}', which is no number of requests a second"))
}
