//! TLS around a load: one handshake before it, and what became of all of them after it.

use std::net::SocketAddr;

use plan::HttpTarget;
use tls::{Client, Peers, Report, Settings};

use crate::error::LabError;

/// Whom the connections of a load to `target` are secured to; `None` where its URL asks for no TLS.
///
/// One connection is made before the load, so that a server that would refuse each of them, or that is not to be trusted, is
/// told of once and in words.
///
/// # Errors
/// If `settings` can't be, or client and server don't come together.
pub fn secure(
    target: &HttpTarget,
    addresses: &[SocketAddr],
    settings: &Settings,
) -> Result<Option<Peers>, LabError> {
    if !target.is_secured {
        return Ok(None);
    }
    let peers = Client::new(settings)?.peer(&target.host)?;
    if let Some(address) = addresses.first() {
        peers.try_handshake(0, *address)?;
    }
    Ok(Some(peers))
}

/// What handshakes of all threads came to.
pub(crate) fn result<'a>(peers: &Peers, reports: impl Iterator<Item = &'a Report>) -> record::Tls {
    let mut all = Report::default();
    reports.for_each(|report| all.merge(report));
    let named = |counts: &std::collections::BTreeMap<&'static str, u64>| {
        counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    };
    record::Tls {
        agreed: all.first().map(|it| record::Agreed {
            version: it.version.to_owned(),
            cipher: it.cipher.to_owned(),
            group: it.group.map(ToOwned::to_owned),
            alpn: it.protocol.clone(),
        }),
        agreed_otherwise: all.others(),
        verified: peers.verifies(),
        full_handshakes: all.full,
        resumed_handshakes: all.resumed,
        failed_handshakes: named(&all.failed),
        broken: named(&all.broken),
        connect_us: (&all.connect).into(),
        handshake_us: (&all.handshake).into(),
    }
}
