//! How long users pause.

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
    },
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
}
