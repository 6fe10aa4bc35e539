//! Whom the server asks who is no stack of the run: nobody watched that one, and on this machine it is one of the others.

use core::net::{IpAddr, SocketAddr};

use record::Asked;

use crate::facts::Facts;

/// So many are told: a server asks few, and most of them little.
const TOLD_MAX: usize = 2;

/// Those that the loaded server held connections to.
fn asked<'a>(facts: &Facts<'a>) -> &'a [Asked] {
    facts.signals().map_or(&[][..], |signals| signals.asks.as_slice())
}

/// Whether an address may be of this machine: by itself, or behind a bridge of a container's.
fn may_be_here(asked: &Asked) -> bool {
    asked.at.parse::<SocketAddr>().is_ok_and(|at| match at.ip() {
        IpAddr::V4(ip) => ip.is_loopback() || ip.is_private() || ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local(),
    })
}

fn held_words(asked: &Asked) -> String {
    let at = plain::line(&asked.at);
    match asked.connections {
        1 => format!("the server held 1 connection to {at}"),
        count => format!("the server held {count} connections to {at}"),
    }
}

/// Whether what the server asks may be among the others who used the machine.
pub(crate) fn may_be_among_others(facts: &Facts<'_>) -> bool {
    asked(facts).iter().any(may_be_here)
}

/// The same in words.
pub(crate) fn among_others_words(facts: &Facts<'_>) -> Vec<String> {
    let near = asked(facts).iter().filter(|it| may_be_here(it)).take(TOLD_MAX);
    let words = |it: &Asked| {
        format!(
            "{}, which is no stack of the run: if that is on this machine, what it used is counted among the others",
            held_words(it)
        )
    };
    near.map(words).collect()
}

/// Of a rate that nothing explains: who may, and was not watched.
pub(crate) fn not_watched_words(facts: &Facts<'_>) -> Option<String> {
    let most = asked(facts).first()?;
    Some(format!(
        "{}, which is no stack of the run and was not watched: declare it (`upstream`) to see whether it waits there",
        held_words(most)
    ))
}

/// Of a server that is seen to let few in at a time by its answers alone: who stands behind it, and may be the one that does.
pub(crate) fn or_behind_words(facts: &Facts<'_>) -> Option<String> {
    if let Some(most) = asked(facts).first() {
        return Some(format!(
            "{}, which is no stack of the run and was not watched: what lets so few in may be there as well (the lock of a row, \
             a thread, a pool)",
            held_words(most)
        ));
    }
    let behind: Vec<String> = facts.trial.upstreams.iter().map(|it| plain::line(&it.stack)).collect();
    (!behind.is_empty()).then(|| {
        format!("{} stands behind it: what lets so few in may be there as well", behind.join(" or "))
    })
}

/// Where the server holds so many connections to anybody of those.
pub(crate) fn as_many_to<'a>(facts: &Facts<'a>, count: u32) -> Option<&'a str> {
    asked(facts).iter().find(|it| it.connections == count).map(|it| it.at.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_and_private_addresses_may_be_of_this_machine() {
        for (at, may_be) in [
            ("127.0.0.1:5432", true),
            ("172.17.0.2:5432", true),
            ("[::1]:6379", true),
            ("[fd00::2]:6379", true),
            ("203.0.113.9:443", false),
            ("[2001:db8::1]:443", false),
            ("nobody", false),
        ] {
            let asked = Asked { at: at.into(), connections: 1 };
            assert_eq!(may_be_here(&asked), may_be, "{at}");
        }
    }
}
