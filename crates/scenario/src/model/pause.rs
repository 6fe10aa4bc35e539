//! How long users pause.

use std::num::NonZeroU32;
use std::sync::Arc;

use units::Duration;

use crate::template::Template;

/// A pause.
#[derive(Debug, Clone, PartialEq)]
pub enum Pause {
    /// So many milliseconds.
    Constant {
        /// Milliseconds.
        ms: Template,
    },
    /// `offset_ms` and evenly up to `range_ms` more.
    Uniform {
        /// Milliseconds at least.
        offset_ms: Template,
        /// Milliseconds more at most.
        range_ms: Template,
    },
    /// Normally distributed, and no less than 0.
    Gaussian {
        /// Mean in milliseconds.
        offset_ms: Template,
        /// Standard deviation in milliseconds.
        deviation_ms: Template,
    },
    /// `offset_ms` and a whole number more, by Poisson's distribution.
    Poisson {
        /// Milliseconds at least.
        offset_ms: Template,
        /// Mean of the milliseconds more, which is rounded.
        mean_ms: Template,
    },
    /// So long that requests come at this rate.
    Throughput {
        /// Requests a minute.
        per_minute: Template,
        /// Whose requests.
        of: Pacing,
        /// Which timer it is: of two of one rate, each keeps its own time. 0 where all of a rate are one.
        timer: u32,
    },
    /// Until the next request of a schedule is due. All who come to one and the same take its requests by turns.
    Scheduled(Arc<RateSchedule>),
    /// Until others have come to the same. It goes before all other pauses of a request.
    Meeting(Arc<Meeting>),
}

/// Where users wait for each other (JMeter's Synchronizing Timer).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meeting {
    /// How many go on together: with the last of them all do who wait.
    pub users: NonZeroU32,
    /// How long a user waits at most. With the first whose time is over all go on who wait.
    pub timeout: Option<Duration>,
}

/// Requests a second, one second of the wall clock after another (JMeter's Throughput Shaping Timer). Who comes late within a
/// second makes up for it in that second alone. Behind the last second all users of the group end.
#[derive(Debug, Clone, PartialEq)]
pub struct RateSchedule(pub Vec<RateRow>);

/// A rate that goes from one value to another, a step a second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateRow {
    /// Requests a second in its first second.
    pub from: f64,
    /// Those in the second behind its last, which is the row's as well.
    pub to: f64,
    /// How many seconds it has, at least one.
    pub seconds: u32,
}

impl RateSchedule {
    /// Requests a second in this second, from 0; `None` behind its end. The second behind a row is still one of it.
    pub(crate) fn rate(&self, second: u64) -> Option<f64> {
        let mut left = second;
        for RateRow { from, to, seconds } in &self.0 {
            let seconds = u64::from(*seconds);
            if left <= seconds {
                return Some(from + left as f64 * (to - from) / seconds as f64);
            }
            left -= seconds;
        }
        None
    }
}

/// Who comes to a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pacing {
    /// Each user by itself.
    User,
    /// The users of the group together, of whom each keeps to an equal part, by how many of them there are: who is slow is not
    /// stood in for.
    PartOfGroup,
    /// The same of all users of the load.
    PartOfLoad,
    /// The users of the group together, who take turns: whoever asks first has the next.
    Group,
    /// The same as JMeter has it (*shared*): a user's first is due at once, and of the time until a later one is due, that since its
    /// last one counts as over. All such timers of the group take turns together.
    GroupSinceLast,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the plug-in's own method: the second at the end of a row is the row's.
    #[test]
    fn a_schedule_has_a_rate_for_each_second() {
        let row = |from, to, seconds| RateRow { from, to, seconds };
        let schedule = RateSchedule(vec![row(10.0, 50.0, 180), row(7.0, 7.0, 2), row(0.0, 4.0, 1)]);
        let rates = [0, 90, 180, 181, 182, 183, 184].map(|second| schedule.rate(second));
        let expected = [10.0, 30.0, 50.0, 7.0, 7.0, 4.0].map(Some);
        assert_eq!(rates[..6], expected);
        assert_eq!(rates[6], None);
    }
}
