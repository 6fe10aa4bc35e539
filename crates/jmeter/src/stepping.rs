//! The Stepping Thread Group of JMeter's best known plug-ins: users who come in steps, stay, and go in steps.

use scenario::Stay;
use units::Duration;

use crate::planned;
use crate::values::Fields;

/// What such a group says: numbers of users, and times in milliseconds.
struct Steps {
    /// All of them.
    users: i64,
    /// Before the first step.
    delay_ms: i64,
    /// Users of the first step.
    first: i64,
    /// Users of each step behind it.
    up: i64,
    /// In which the users of a step come.
    ramp_up_ms: i64,
    /// From the last of a step to the next step.
    period_ms: i64,
    /// For which all are there.
    hold_ms: i64,
    /// Users who go at a time.
    down: i64,
    /// From one of these times to the next.
    down_period_ms: i64,
}

/// When users come and go, by their numbers.
pub(crate) fn stays(fields: Fields<'_>) -> Result<Vec<Stay>, String> {
    let number = |name: &str| fields.whole_at_start(name, 0);
    let users = |name: &str| planned::users(name, number(name)?).map(i64::from);
    let ms = |name: &str| planned::seconds(name, number(name)?).map(whole_ms);
    let all = users("ThreadGroup.num_threads")?;
    if all == 0 {
        return Ok(Vec::new());
    }
    // None at a time are all at once.
    let or_all = |count: i64| if count == 0 { all } else { count };
    let up = or_all(users("Start users count")?);
    let first = match users("Start users count burst")?.min(all) {
        0 => up,
        first => first,
    };
    let steps = Steps {
        users: all,
        delay_ms: ms("Threads initial delay")?,
        first,
        up,
        ramp_up_ms: ms("rampUp")?,
        period_ms: ms("Start users period")?,
        hold_ms: ms("flighttime")?,
        down: or_all(users("Stop users count")?),
        down_period_ms: ms("Stop users period")?,
    };
    let goes_ms = steps.first_goes_ms();
    planned::checked((0..all).map(|user| steps.stay(user, goes_ms)).collect())
}

fn whole_ms(span: Duration) -> i64 {
    i64::try_from(span.as_nanos() / 1_000_000).unwrap_or(i64::MAX)
}

impl Steps {
    /// From one step's beginning to the next one's.
    fn step_ms(&self) -> i64 {
        self.period_ms + self.ramp_up_ms
    }

    /// When the first user goes. The plug-in counts the times of as many steps as there are behind the first, and that of the users
    /// of the last one; with fewer users than those of the first step, they are fewer than none.
    fn first_goes_ms(&self) -> i64 {
        let behind = self.users - self.first;
        let steps = if behind < 0 { 1 } else { (behind + self.up - 1) / self.up };
        let in_last = match behind % self.up {
            0 => self.up,
            some => some,
        };
        self.delay_ms + steps * self.step_ms() + self.ramp_up_ms / self.up * in_last + self.hold_ms
    }

    /// When the user of this number comes and goes; the first of all goes at `goes_ms`.
    fn stay(&self, user: i64, goes_ms: i64) -> Stay {
        let behind = user - self.first;
        let (step, place, of) = if behind < 0 {
            (0, user, self.first)
        } else {
            (1 + behind / self.up, behind % self.up, self.up)
        };
        let from_ms = self.delay_ms + step * self.step_ms() + place * (self.ramp_up_ms / of);
        let to_ms = goes_ms + self.down_period_ms * (user / self.down);
        Stay { from: at_ms(from_ms), to: at_ms(to_ms) }
    }
}

/// So long behind the start, and no sooner.
fn at_ms(ms: i64) -> Duration {
    Duration::from_millis(u64::try_from(ms).unwrap_or(0))
}
