//! Counts by kind on their way.

use std::collections::BTreeMap;

use engine::{ConnectFailure, TlsFailure};
use http::Malformed;
use tls::RECORD_LIMIT;

use crate::bounds::COUNT_MAX;

/// Kinds of one failure, or statuses.
pub(crate) const KINDS_MAX: usize = 1000;
/// Under what a kind is counted that this version does not know.
const OTHER: &str = "other";

pub(crate) type Kinds = Vec<(String, u64)>;

/// As they are told.
pub(crate) fn kinds(from: &BTreeMap<&'static str, u64>) -> Kinds {
    from.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
}

/// The sum of these, or as much as there can be.
pub(crate) fn sum(counts: impl IntoIterator<Item = u64>) -> u64 {
    counts.into_iter().fold(0, u64::saturating_add)
}

/// Kinds by the names that this version has for them; `None` of more, or more of all together, than an agent counts.
pub(crate) fn known(
    kinds: &[(String, u64)],
    name: impl Fn(&str) -> Option<&'static str>,
) -> Option<BTreeMap<&'static str, u64>> {
    let mut all = BTreeMap::new();
    if kinds.len() > KINDS_MAX || sum(kinds.iter().map(|it| it.1)) > COUNT_MAX {
        return None;
    }
    for (kind, count) in kinds {
        *all.entry(name(kind).unwrap_or(OTHER)).or_default() += count;
    }
    Some(all)
}

pub(crate) fn connect_failure(kind: &str) -> Option<&'static str> {
    ConnectFailure::PLAIN.iter().map(|it| it.name()).find(|name| *name == kind)
}

pub(crate) fn tls_failure(kind: &str) -> Option<&'static str> {
    let plain = [
        TlsFailure::Certificate,
        TlsFailure::Alpn,
        TlsFailure::Closed,
        TlsFailure::TimedOut,
        TlsFailure::Protocol,
    ];
    let alerts = (0..=u8::MAX).map(TlsFailure::Alert);
    plain.into_iter().chain(alerts).map(TlsFailure::name).find(|name| *name == kind)
}

/// Why TLS ended a connection that was up.
pub(crate) fn tls_end(kind: &str) -> Option<&'static str> {
    if kind == RECORD_LIMIT { Some(RECORD_LIMIT) } else { tls_failure(kind) }
}

pub(crate) fn malformation(kind: &str) -> Option<&'static str> {
    Malformed::ALL.iter().map(|it| it.name()).find(|name| *name == kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_of_a_later_version_is_another() {
        let kinds = vec![("refused".to_owned(), 2), ("gone_fishing".to_owned(), 3)];
        let known = known(&kinds, connect_failure).unwrap();
        assert_eq!(known, BTreeMap::from([("refused", 2), ("other", 3)]));
    }
}
