//! Users of whom each comes and goes at a time of its own: what the thread groups of JMeter's best known plug-ins have in common.

use scenario::{Stay, USERS_MAX};
use units::Duration;

/// The plug-ins count in milliseconds of 32 bits: with more seconds than this they count wrong.
const SECONDS_MAX: i64 = 2_147_483;

/// A number of seconds in the setting `name`.
pub(crate) fn seconds(name: &str, number: i64) -> Result<Duration, String> {
    match u64::try_from(number) {
        Ok(seconds) if number <= SECONDS_MAX => Ok(Duration::from_secs(seconds)),
        _ => Err(format!("{name} has {number}, which is no number of seconds from 0 to {SECONDS_MAX}")),
    }
}

/// A number of users in the setting `name`: no more than a load can have, since each of them has its times.
pub(crate) fn users(name: &str, number: i64) -> Result<u32, String> {
    let users = u32::try_from(number).ok().filter(|users| *users <= USERS_MAX);
    users.ok_or_else(|| format!("{name} has {number}, which is no number of users from 0 to {USERS_MAX}"))
}

/// Makes sure that there are no more users than a load can have, and that each of them has time for something. JMeter looks at the
/// time behind a request, and has each user make one.
pub(crate) fn checked(stays: Vec<Stay>) -> Result<Vec<Stay>, String> {
    let count = stays.len();
    if let Some(first) = stays.iter().position(|stay| stay.from >= stay.to) {
        return Err(format!(
            "user {} of {count} has to go when it comes, and JMeter has it make a request all the same; hold the load for \
             at least a second",
            first + 1
        ));
    }
    Ok(stays)
}
