//! Which load it is, apart from how it is called.
//!
//! A label is for people: `300/s on 50` and `300 connections` begin with the same number and are two loads. What tells loads
//! apart is here, and no label is read to find it out.

use std::fmt;
use std::num::NonZeroU32;

use engine::Arrivals;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use units::Rate;

/// What a label ends with where each request has a connection of its own.
pub const FRESH: &str = ", fresh";

/// How requests of a rate follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArrivalsName {
    /// One gap like the other.
    #[default]
    Constant,
    /// As those of independent users.
    Poisson,
    /// So many at once.
    Bursts(NonZeroU32),
}

impl ArrivalsName {
    /// Arrivals of this kind at `rate`.
    pub const fn at(self, rate: Rate) -> Arrivals {
        match self {
            Self::Constant => Arrivals::Constant(rate),
            Self::Poisson => Arrivals::Poisson(rate),
            Self::Bursts(size) => Arrivals::Bursts { rate, size },
        }
    }

    /// What kind `arrivals` are of.
    pub const fn of(arrivals: Arrivals) -> Self {
        match arrivals {
            Arrivals::Constant(_) => Self::Constant,
            Arrivals::Poisson(_) => Self::Poisson,
            Arrivals::Bursts { size, .. } => Self::Bursts(size),
        }
    }
}

/// As records name it: `constant`, `poisson`, `bursts of 100`.
impl fmt::Display for ArrivalsName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant => f.write_str("constant"),
            Self::Poisson => f.write_str("poisson"),
            Self::Bursts(size) => write!(f, "bursts of {size}"),
        }
    }
}

/// A load of a round, however long it lasts and however its connections are used: what one table of the round is of. Shown,
/// it is the load in a few words: `64 connections`, `2000/s on 300`, `1000 users, ramp-up 50s`.
///
/// The order is that of tables: users from few to many, then rates from low to high.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "model", rename_all = "snake_case")]
pub enum LoadId {
    /// Users who each have a connection and one request at a time: the closed model.
    Closed {
        /// Connections, or users.
        connections: NonZeroU32,
        /// Time over which they come, ns; `None` where all are there at once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ramp_up_ns: Option<u64>,
        /// Requests of each; `None` where time ends the load.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        requests_per_user: Option<NonZeroU32>,
        /// How long each thinks between an answer and the next request, ns; 0 where they do not.
        #[serde(default, skip_serializing_if = "is_zero")]
        think_ns: u64,
    },
    /// Requests that are due at a rate, whoever is free: the open model.
    Open {
        /// Requests a second.
        #[serde(rename = "rate_per_s", serialize_with = "per_s", deserialize_with = "rate")]
        rate: Rate,
        /// How they follow each other.
        arrivals: ArrivalsName,
        /// Connections that they are shared out to.
        connections: NonZeroU32,
    },
    /// Users whose requests a script decides.
    Scripted {
        /// So many.
        users: NonZeroU32,
    },
    /// Of a record that has nothing but a label, which is of no form that is known: it is the same load as those that are
    /// called the same. No plan makes one.
    #[serde(skip)]
    Unknown {
        /// What it is called.
        label: String,
    },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's `skip_serializing_if` takes a reference")]
const fn is_zero(span_ns: &u64) -> bool {
    *span_ns == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's `serialize_with` takes a reference")]
fn per_s<S: Serializer>(rate: &Rate, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(rate.as_per_sec())
}

fn rate<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Rate, D::Error> {
    let per_s = f64::deserialize(deserializer)?;
    let wrong = || {
        let max = Rate::MAX_PER_SEC;
        serde::de::Error::custom(format!("a rate of {per_s}/s is not above 0 and at most {max}/s"))
    };
    Rate::per_sec(per_s).ok_or_else(wrong)
}

impl LoadId {
    /// So many connections with always a request each: the plainest closed load.
    pub const fn connections(connections: NonZeroU32) -> Self {
        Self::Closed { connections, ramp_up_ns: None, requests_per_user: None, think_ns: 0 }
    }

    /// The users of a closed load; `None` of any other, whose connections are no users.
    pub const fn users(&self) -> Option<u32> {
        match self {
            Self::Closed { connections, .. } => Some(connections.get()),
            Self::Open { .. } | Self::Scripted { .. } | Self::Unknown { .. } => None,
        }
    }
}

impl fmt::Display for LoadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed { connections, ramp_up_ns, requests_per_user, think_ns } => {
                // Where all do the same all the time, a user is no more than a connection.
                let is_plain = ramp_up_ns.is_none() && requests_per_user.is_none();
                write!(f, "{connections} {}", if is_plain { "connections" } else { "users" })?;
                if let Some(span_ns) = ramp_up_ns {
                    write!(f, ", ramp-up {}", exact(*span_ns))?;
                }
                if let Some(each) = requests_per_user {
                    write!(f, ", {each} requests each")?;
                }
                if *think_ns > 0 {
                    write!(f, ", think {}", exact(*think_ns))?;
                }
                Ok(())
            }
            Self::Open { rate, arrivals: ArrivalsName::Constant, connections } => {
                write!(f, "{} on {connections}", rate_as_set(*rate))
            }
            Self::Open { rate, arrivals: ArrivalsName::Poisson, connections } => {
                write!(f, "{} (Poisson) on {connections}", rate_as_set(*rate))
            }
            Self::Open { rate, arrivals: arrivals @ ArrivalsName::Bursts(_), connections } => {
                write!(f, "{} ({arrivals}) on {connections}", rate_as_set(*rate))
            }
            Self::Scripted { users } => write!(f, "{users} users"),
            Self::Unknown { label } => f.write_str(label),
        }
    }
}

/// A span as somebody set it: rounded, two loads that differ would be called the same.
fn exact(span_ns: u64) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    let whole = units.into_iter().find(|(unit, _)| span_ns.is_multiple_of(*unit));
    let (unit, name) = whole.unwrap_or((1, "ns"));
    format!("{}{name}", span_ns / unit)
}

/// What a rate is multiplied by to count its digits behind the point: who sets one writes no more than six.
const RATE_DIGITS: f64 = 1e6;

/// A rate as somebody set it: a second's, a minute's or an hour's, of which the first is taken that has few digits and is the
/// same rate. Rounded, two loads that differ would be called the same; so one that is neither keeps all of its digits.
pub fn rate_as_set(rate: Rate) -> String {
    let of_period = |(unit, seconds): (&str, f64)| {
        let shown = (rate.as_per_sec() * seconds * RATE_DIGITS).round() / RATE_DIGITS;
        // Just as it is read.
        let is_same = Rate::per_sec(shown / seconds) == Some(rate);
        is_same.then(|| format!("{shown}/{unit}"))
    };
    let periods = [("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    periods.into_iter().find_map(of_period).unwrap_or_else(|| rate.to_string())
}

/// A load as a trial names it. Shown, it is its label: `64 connections, fresh`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedLoad {
    /// Which load.
    #[serde(flatten)]
    pub id: LoadId,
    /// Whether each request has a connection of its own. To its round it is the same load: a stack that takes one request a
    /// connection is asked for it in no other way.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fresh_connections: bool,
}

impl From<LoadId> for NamedLoad {
    fn from(id: LoadId) -> Self {
        Self { id, fresh_connections: false }
    }
}

impl fmt::Display for NamedLoad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.id, if self.fresh_connections { FRESH } else { "" })
    }
}

/// A load as its label, for documents that name it for people.
pub fn as_label<T: fmt::Display, S: Serializer>(load: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(load)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(count: u32) -> NonZeroU32 {
        NonZeroU32::new(count).unwrap()
    }

    fn at(per_s: f64, arrivals: ArrivalsName, connections: u32) -> LoadId {
        LoadId::Open { rate: Rate::per_sec(per_s).unwrap(), arrivals, connections: count(connections) }
    }

    #[test]
    fn tables_come_by_users_and_then_by_rate() {
        let mut all = [
            at(2000.0, ArrivalsName::Constant, 4),
            LoadId::connections(count(1000)),
            at(300.0, ArrivalsName::Poisson, 50),
            LoadId::connections(count(300)),
        ];
        all.sort();
        let told = all.map(|it| it.to_string());
        assert_eq!(told, ["300 connections", "1000 connections", "300/s (Poisson) on 50", "2000/s on 4"]);
    }

    #[test]
    fn a_rate_is_shown_as_it_was_set_and_never_as_another() {
        for (set, shown) in [
            ("1/m", "1/m"),
            ("7/m", "7/m"),
            ("0.5/m", "0.5/m"),
            ("5/h", "5/h"),
            ("90/m", "1.5/s"),
            ("0.5", "0.5/s"),
            ("12345.678", "12345.678/s"),
            ("20k/s", "20000/s"),
            ("100M", "100000000/s"),
            ("0.123456789", "0.123456789/s"),
        ] {
            let rate: Rate = set.parse().unwrap();
            let label = at(rate.as_per_sec(), ArrivalsName::Constant, 4).to_string();
            assert_eq!(label, format!("{shown} on 4"), "{set}");
            assert_eq!(rate_as_set(rate).parse(), Ok(rate), "{set}");
        }
    }

    #[test]
    fn a_rate_is_no_number_of_users() {
        assert_eq!(LoadId::connections(count(300)).users(), Some(300));
        assert_eq!(at(300.0, ArrivalsName::Constant, 50).users(), None);
    }
}
