//! What half and twice the users say of a verdict.
//!
//! From one number of users a limit, the CPU and a server that has none can look alike. From three they don't:
//!
//! - So many at a time (a pool, a semaphore, a lock, one thread): the rate stays from K users on, and follows them below.
//! - So many a second (a limiter): the rate stays, however many ask.
//! - The CPU: the rate stays, and it is used up.
//! - No limit: the rate follows the users.
//!
//! What lets K in at a time and what lets K/S₀ through in a second give the same rates. So a verdict that names one of the two
//! without another witness, such as K threads that work or a core that is used up, can be refuted here and not confirmed.

use crate::confirmation::{Confirmation, NEAR, Outcome};
use crate::kind::{Predicts, VerdictKind};
use crate::level::Level;
use crate::rates::rate_words_with_tenths;

/// Twice the users, and so much more of the rate: it follows them. Half of what it would rise by if they were all there is.
const FOLLOWS_MIN: f64 = 1.5;
/// With half of them, so much of the rate is left where it follows: three quarters lie in the middle between that and one that
/// stays.
const STAYS_MIN: f64 = 0.75;
/// How far a half may lie from a half. With so many of a rate's users waiting for nobody, a tenth of it is none.
const HALF: std::ops::RangeInclusive<f64> = 0.45..=0.55;

/// Whether other numbers of users could confirm or refute a verdict, or tell what no verdict did.
pub const fn is_told_by_users(kind: VerdictKind) -> bool {
    kind.predicts().is_some()
}

/// What half and twice the users say of a verdict that was found with `users`. `None` where that is nothing, or where the rate
/// with `users` or with more of them is missing.
pub fn confirmed_by_levels(kind: VerdictKind, users: u32, mut levels: Vec<Level>) -> Option<Confirmation> {
    levels.sort_by_key(|level| level.users);
    let predicts = kind.predicts()?;
    let seen = Seen {
        fewer: levels.iter().rfind(|level| level.users < users),
        same: levels.iter().find(|level| level.users == users)?,
        more: levels.iter().find(|level| level.users > users)?,
    };
    let before_per_s = seen.same.goodput_per_s;
    let predicted_per_s = match predicts {
        Predicts::Stays | Predicts::StaysWithCpuLeft | Predicts::StaysAndIsFull => Some(before_per_s),
        Predicts::Follows => Some(before_per_s * f64::from(seen.more.users) / f64::from(users)),
        Predicts::Nothing => None,
    };
    let (outcome, why) = match seen.judged(predicts) {
        (Outcome::Confirmed, why) => match other_with_these_rates(kind, seen.same) {
            Some(other) => (Outcome::CouldNotTell, format!("{why}; {other}")),
            None => (Outcome::Confirmed, why),
        },
        other => other,
    };
    Some(Confirmation {
        variant: None,
        before_per_s,
        predicted_per_s,
        measured_per_s: seen.more.goodput_per_s,
        outcome,
        why: Some(why),
        levels,
    })
}

/// What else would give the rates that a verdict of this kind predicts, where only the rates speak for it.
const fn other_with_these_rates(kind: VerdictKind, same: &Level) -> Option<&'static str> {
    match kind {
        VerdictKind::RateLimiter => Some("what lets so many in at a time would keep it as well"),
        VerdictKind::LimitInside => Some("what lets so many through in a second would keep it as well"),
        // Whoever computes one at a time uses a core up, which no limiter does.
        VerdictKind::SerialSection if !same.is_short_of_cores => {
            Some("what lets so many through in a second would keep it as well")
        }
        _ => None,
    }
}

/// Rates at three numbers of users.
struct Seen<'a> {
    /// Absent where one user can't be halved.
    fewer: Option<&'a Level>,
    same: &'a Level,
    more: &'a Level,
}

type Judged = (Outcome, String);

impl Seen<'_> {
    fn judged(&self, predicts: Predicts) -> Judged {
        let all = self.fewer.into_iter().chain([self.same, self.more]);
        if let Some(level) = all.into_iter().find(|level| !level.is_one_rate()) {
            let Level { users, low_per_s, high_per_s, .. } = level;
            let [low, high] = [*low_per_s, *high_per_s].map(rate_words_with_tenths);
            let why = format!("with {users} users it was {low} once and {high} another time");
            return (Outcome::CouldNotTell, why);
        }
        if predicts == Predicts::StaysWithCpuLeft && self.same.is_short_of_cores {
            return (Outcome::CouldNotTell, "the cores were used up, which keeps a rate as well".into());
        }
        match predicts {
            Predicts::Stays | Predicts::StaysWithCpuLeft => self.stays(),
            Predicts::StaysAndIsFull => self.stays_and_is_full(),
            Predicts::Follows => self.follows(),
            Predicts::Nothing => (Outcome::CouldNotTell, self.shape()),
        }
    }

    /// The rate with more users over the rate with as many.
    fn up(&self) -> f64 {
        self.more.goodput_per_s / self.same.goodput_per_s
    }

    /// The rate with fewer users over the rate with as many.
    fn down(&self) -> Option<f64> {
        Some(self.fewer?.goodput_per_s / self.same.goodput_per_s)
    }

    /// What is left of the rate with fewer users, where K at a time keep it: all of it, or as many of K as there are users.
    fn down_of_limit(&self) -> Option<f64> {
        let at_a_time = self.same.under_way.unwrap_or(1.0).max(1.0);
        Some((f64::from(self.fewer?.users) / at_a_time).min(1.0))
    }

    fn stays(&self) -> Judged {
        let (up, more) = (self.up(), self.more.users);
        if up >= FOLLOWS_MIN {
            return (
                Outcome::Refuted,
                format!("with {more} users it was {up:.2} times the rate: it follows the users"),
            );
        }
        if (up - 1.0).abs() > NEAR {
            let why = format!("with {more} users it was {up:.2} times the rate, neither the same nor twice");
            return (Outcome::CouldNotTell, why);
        }
        let Some(((down, of_limit), fewer)) = self.down().zip(self.down_of_limit()).zip(self.fewer) else {
            return (Outcome::Confirmed, format!("the rate was the same with {more} users"));
        };
        let off = down / of_limit;
        let users = fewer.users;
        if (1.0 - NEAR..=1.0 + NEAR).contains(&off) {
            let below = if of_limit < 1.0 {
                format!("with {users} it was {down:.2} of it, as of so many that have their turn at once")
            } else {
                format!("and with {users}")
            };
            return (Outcome::Confirmed, format!("the rate was the same with {more} users, {below}"));
        }
        let why = format!(
            "the rate was the same with {more} users, but {down:.2} of it with {users}, where the limit would leave {of_limit:.2}"
        );
        let is_near = (STAYS_MIN..=1.0 / STAYS_MIN).contains(&off);
        (if is_near { Outcome::CouldNotTell } else { Outcome::Refuted }, why)
    }

    fn stays_and_is_full(&self) -> Judged {
        let (up, more) = (self.up(), self.more.users);
        let share =
            self.more.cpu_share.map_or_else(String::new, |share| format!(" ({:.0} %)", share * 100.0));
        if up >= FOLLOWS_MIN {
            return (
                Outcome::Refuted,
                format!("with {more} users it was {up:.2} times the rate: there were cores for them"),
            );
        }
        // More threads that share the cores cost some of them, so it may fall.
        if !(STAYS_MIN..=1.0 + NEAR).contains(&up) {
            let why = format!("with {more} users it was {up:.2} times the rate, neither the same nor twice");
            return (Outcome::CouldNotTell, why);
        }
        if self.more.is_short_of_cores {
            let why =
                format!("with {more} users it was {up:.2} times the rate, and the cores were used up{share}");
            return (Outcome::Confirmed, why);
        }
        let is_left = !self.same.is_short_of_cores && self.more.cpu_share.is_some();
        let outcome = if is_left { Outcome::Refuted } else { Outcome::CouldNotTell };
        (outcome, format!("the rate was the same with {more} users, and cores were left{share}"))
    }

    fn follows(&self) -> Judged {
        let (up, more) = (self.up(), self.more.users);
        let twice = f64::from(more) / f64::from(self.same.users);
        let Some((down, fewer)) = self.down().zip(self.fewer) else {
            let is_twice = (up / twice - 1.0).abs() <= NEAR;
            let outcome = if is_twice { Outcome::Confirmed } else { Outcome::CouldNotTell };
            return (outcome, format!("with {more} users it was {up:.2} times the rate"));
        };
        let half = f64::from(fewer.users) / f64::from(self.same.users);
        let off = down / half / 2.0;
        let words =
            format!("with {} users it was {down:.2} of the rate, and with {more} {up:.2} times", fewer.users);
        if HALF.contains(&off) {
            let outcome = if (up / twice - 1.0).abs() <= NEAR { Outcome::Confirmed } else { Outcome::Partly };
            return (outcome, words);
        }
        // Fewer users had as much: the others waited for their turn.
        let outcome = if down >= STAYS_MIN { Outcome::Refuted } else { Outcome::CouldNotTell };
        (outcome, words)
    }

    /// What the rates say by themselves.
    fn shape(&self) -> String {
        let (same, more) = (self.same.users, self.more.users);
        match (self.up(), self.down()) {
            (up, _) if up >= FOLLOWS_MIN => {
                format!("the rate followed the users, to {up:.2} times with {more}: nothing held it with {same}")
            }
            (up, Some(down)) if (up - 1.0).abs() <= NEAR && (down - 1.0).abs() <= NEAR => {
                "the rate was the same whatever the users: something lets so many requests through in a second, or few in at a time"
                    .to_owned()
            }
            (up, _) if (up - 1.0).abs() <= NEAR => {
                format!("the rate was the same with {more} users and less with fewer: something holds it from about {same} users on")
            }
            (up, _) => format!("with {more} users it was {up:.2} times the rate, neither the same nor twice"),
        }
    }
}
