//! The Concurrency Thread Group of BlazeMeter's plug-ins: users who come evenly or in steps, and who all go at one time.

use scenario::Stay;
use units::Duration;

use crate::planned;
use crate::values::Fields;

const TARGET: &str = "TargetLevel";
const STEPS: &str = "Steps";
const ITERATIONS: &str = "Iterations";
/// The property that has the users come later than the group says.
const SHIFT: &str = "dynamic_tg.shift_rampup_start";

/// When users come and go, by their numbers. The plug-in looks at its plan once a second, and may have a user come that much later.
pub(crate) fn stays(fields: Fields<'_>) -> Result<Vec<Stay>, String> {
    if fields.values.property(SHIFT).is_some_and(|shift| !["", "0"].contains(&shift.trim())) {
        return Err(format!("the property {SHIFT} moves its beginning, and is not read here"));
    }
    let iterations = fields.whole_at_start(ITERATIONS, 0)?;
    if iterations > 0 {
        return Err(format!(
            "{ITERATIONS} is {iterations}: JMeter has another thread come for one that has made them; leave it empty"
        ));
    }
    // Without the setting it is one user; an empty one is none.
    let without = i64::from(!fields.properties.has(TARGET));
    let users = planned::users(TARGET, fields.whole_at_start(TARGET, without)?)?;
    let ramp_up = time(fields, "RampUp", 0.0)?;
    let hold = time(fields, "Hold", 1.0)?;
    // Less than none are none.
    let steps = u64::try_from(fields.whole_at_start(STEPS, 0)?).unwrap_or(0);
    let to = ramp_up + hold;
    planned::checked((0..users).map(|user| Stay { from: comes(user, users, steps, ramp_up), to }).collect())
}

/// A time in the group's unit, to the whole second, as the plug-in has it. `without` is what it is where the setting is not there.
fn time(fields: Fields<'_>, name: &str, without: f64) -> Result<Duration, String> {
    let unit_s = if fields.at_start("Unit")? == "M" { 60.0 } else { 1.0 };
    let number = match fields.at_start(name)?.trim() {
        "" if fields.properties.has(name) => 0.0,
        "" => without,
        text => {
            let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
            number.ok_or_else(|| format!("{name} is '{text}', which is no number"))?
        }
    };
    // What is beyond the numbers of seconds is refused as such.
    planned::seconds(name, (number * unit_s).round() as i64)
}

/// When the user of this number comes: as soon as the number of users that the group plans, which is rounded, has room for it.
fn comes(user: u32, users: u32, steps: u64, ramp_up: Duration) -> Duration {
    let (user, users, ramp_up_ms) =
        (u128::from(user), u128::from(users), u128::from(ramp_up.as_nanos()) / 1_000_000);
    let ms = match u128::from(steps) {
        // The planned number grows evenly, and has room from half a user on.
        0 => ramp_up_ms * (2 * user + 1) / (2 * users),
        // The first step is there from the start.
        steps => {
            let step = (steps * (2 * user + 1)).div_ceil(2 * users);
            ramp_up_ms * (step - 1) / steps
        }
    };
    Duration::from_millis(ms as u64)
}
