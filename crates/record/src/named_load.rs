//! A load in a line of a record: its label for people, and what tells it from other loads.
//!
//! `load` is the label, `load_id` says which load it is and has the say. Records of versions before have the label only, and
//! here alone is it read.

use std::num::NonZeroU32;

use plan::load_id::FRESH;
use plan::{ArrivalsName, LoadId, NamedLoad};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use units::Rate;

/// The fields of a line.
#[derive(Serialize, Deserialize)]
struct Written {
    load: String,
    /// Absent in records of versions before, and of what has nothing but a label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    load_id: Option<NamedLoad>,
}

impl From<&NamedLoad> for Written {
    fn from(load: &NamedLoad) -> Self {
        let is_known = !matches!(load.id, LoadId::Unknown { .. });
        Self { load: load.to_string(), load_id: is_known.then(|| load.clone()) }
    }
}

impl From<Written> for NamedLoad {
    fn from(Written { load, load_id }: Written) -> Self {
        load_id.unwrap_or_else(|| load_of_label(&load))
    }
}

/// For a field that is flattened into its line.
pub(crate) mod written {
    use super::{Deserialize, Deserializer, NamedLoad, Serialize, Serializer, Written};

    pub(crate) fn serialize<S: Serializer>(load: &NamedLoad, serializer: S) -> Result<S::Ok, S::Error> {
        Written::from(load).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<NamedLoad, D::Error> {
        Written::deserialize(deserializer).map(NamedLoad::from)
    }
}

/// The same, where how connections are used is not said.
pub(crate) mod written_id {
    use super::{Deserializer, LoadId, NamedLoad, Serializer, written};

    pub(crate) fn serialize<S: Serializer>(load: &LoadId, serializer: S) -> Result<S::Ok, S::Error> {
        written::serialize(&NamedLoad::from(load.clone()), serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<LoadId, D::Error> {
        written::deserialize(deserializer).map(|load| load.id)
    }
}

/// The load that a record without more calls so. A label that is not exactly as a load is shown is of none that is known:
/// then all that are called so are one load.
pub fn load_of_label(label: &str) -> NamedLoad {
    let base = label.strip_suffix(FRESH);
    let fresh_connections = base.is_some();
    let base = base.unwrap_or(label);
    let known = open(base).or_else(|| users(base)).filter(|id| id.to_string() == base);
    let id = known.unwrap_or_else(|| LoadId::Unknown { label: base.to_owned() });
    NamedLoad { id, fresh_connections }
}

/// `2000/s on 300`, `2000/s (Poisson) on 300`, `2000/s (bursts of 100) on 300`.
fn open(label: &str) -> Option<LoadId> {
    let (rate, connections) = label.split_once(" on ")?;
    let (rate, arrivals) = match rate.strip_suffix(')').and_then(|it| it.split_once(" (")) {
        None => (rate, ArrivalsName::Constant),
        Some((rate, "Poisson")) => (rate, ArrivalsName::Poisson),
        Some((rate, other)) => (rate, ArrivalsName::Bursts(other.strip_prefix("bursts of ")?.parse().ok()?)),
    };
    let (rate, connections) = (rate.parse::<Rate>().ok()?, connections.parse().ok()?);
    Some(LoadId::Open { rate, arrivals, connections })
}

/// `64 connections, think 5ms`, `1000 users, ramp-up 50s, 30 requests each`, and `20 users` of a script.
fn users(label: &str) -> Option<LoadId> {
    let mut parts = label.split(", ");
    let (count, what) = parts.next()?.split_once(' ')?;
    let connections: NonZeroU32 = count.parse().ok()?;
    let (mut ramp_up_ns, mut requests_per_user, mut think_ns) = (None, None, 0);
    for part in parts {
        if let Some(span) = part.strip_prefix("ramp-up ") {
            ramp_up_ns = Some(nanos(span)?);
        } else if let Some(each) = part.strip_suffix(" requests each") {
            requests_per_user = Some(each.parse().ok()?);
        } else {
            think_ns = nanos(part.strip_prefix("think ")?)?;
        }
    }
    if what == "users" && ramp_up_ns.is_none() && requests_per_user.is_none() {
        return Some(LoadId::Scripted { users: connections });
    }
    Some(LoadId::Closed { connections, ramp_up_ns, requests_per_user, think_ns })
}

/// A span in whole units, as labels have it.
fn nanos(span: &str) -> Option<u64> {
    let unit_at = span.find(|char: char| !char.is_ascii_digit())?;
    let (count, unit) = span.split_at(unit_at);
    let unit_ns: u64 = match unit {
        "s" => 1_000_000_000,
        "ms" => 1_000_000,
        "us" => 1_000,
        "ns" => 1,
        _ => return None,
    };
    count.parse::<u64>().ok()?.checked_mul(unit_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every form that a plan makes, in records and reports of this repository and beyond.
    const LABELS: [&str; 16] = [
        "1 connections",
        "64 connections",
        "64 connections, fresh",
        "300 connections",
        "5000 connections",
        "20 connections, think 5ms",
        "20 connections, think 1500us, fresh",
        "1000 users, ramp-up 3s, 30 requests each",
        "1000 users, ramp-up 50s, 1000 requests each",
        "20 users, ramp-up 90001ms",
        "20 users, 5 requests each",
        "20 users, ramp-up 5ms, think 5ms, fresh",
        "2000/s on 300",
        "0.5/s on 4, fresh",
        "12345.678/s (Poisson) on 50",
        "20 users",
    ];

    #[test]
    fn every_label_of_a_plan_is_understood_and_shown_as_it_was() {
        for label in LABELS {
            let load = load_of_label(label);
            assert!(!matches!(load.id, LoadId::Unknown { .. }), "{label}: {load:?}");
            assert_eq!(load.to_string(), label);
        }
    }

    #[test]
    fn what_is_no_label_of_a_plan_is_the_load_that_is_called_so() {
        for label in [
            "",
            "fast",
            ", fresh",
            "300",
            "0 connections",
            "00300 connections",
            "300 connections, think 0s",
            "300 connections, think 1.5ms",
            "300 connections, hurried",
            "300 users, ramp-up 60000ms",
            "4294967296 connections",
            "1 connections, think 99999999999999999999s",
            "2k/s on 300",
            "0/s on 300",
            "NaN/s on 300",
            "300/s on many",
        ] {
            let load = load_of_label(label);
            assert!(matches!(load.id, LoadId::Unknown { .. }), "{label}: {load:?}");
            assert_eq!(load.to_string(), label);
        }
    }

    /// The confusion that labels allowed: all of them begin with the same number.
    #[test]
    fn loads_that_begin_with_the_same_number_are_told_apart() {
        let labels = ["300 connections", "300 users, 5 requests each", "300 users", "300/s on 50"];
        let users = labels.map(|label| load_of_label(label).id.users());
        assert_eq!(users, [Some(300), Some(300), None, None]);
        let mut ids: Vec<LoadId> = labels.iter().map(|label| load_of_label(label).id).collect();
        ids.dedup();
        assert_eq!(ids.len(), labels.len());
    }

    #[test]
    fn a_written_load_comes_back_whatever_its_label_says() {
        for label in LABELS.into_iter().chain(["no such load"]) {
            let load = load_of_label(label);
            let mut line = serde_json::to_value(Written::from(&load)).unwrap();
            assert_eq!(line["load"], label);
            assert_eq!(NamedLoad::from(serde_json::from_value::<Written>(line.clone()).unwrap()), load);
            if line.get("load_id").is_some() {
                line["load"] = "otherwise".into();
                assert_eq!(NamedLoad::from(serde_json::from_value::<Written>(line).unwrap()), load);
            }
        }
    }
}
