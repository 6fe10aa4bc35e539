//! TLS around a load, and tunnels below it: one of each before it, and what became of all handshakes after it.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use driver::UnixSocket;
use plan::{HttpTarget, HttpVersion};
use tls::{Agreed, Client, HTTP_1_1, HTTP_2, Peers, Report, Settings, TlsError, Tunnel, open_tunnel};

use crate::error::LabError;

/// How long the tunnel before a load may take.
const TUNNEL_TIMEOUT: Duration = Duration::from_secs(5);

/// Whom the connections of a load to `target` are secured to; `None` where its URL asks for no TLS.
///
/// One connection is made before the load, so that a server that would refuse each of them, or that is not to be trusted, is
/// told of once and in words. Nothing but `version` is offered to it: what was not asked for is never agreed on.
///
/// # Errors
/// If `settings` can't be, or client and server don't come together.
pub fn secure(
    target: &HttpTarget,
    version: HttpVersion,
    addresses: &[SocketAddr],
    settings: &Settings,
) -> Result<Option<Peers>, LabError> {
    Ok(secure_and_tell(target, version, addresses, settings)?.map(|(peers, _)| peers))
}

/// The same, with what was agreed on in that handshake.
///
/// # Errors
/// As [`secure`].
pub fn secure_and_tell(
    target: &HttpTarget,
    version: HttpVersion,
    addresses: &[SocketAddr],
    settings: &Settings,
) -> Result<Option<(Peers, record::Agreed)>, LabError> {
    target.is_secured.then(|| secure_host(&target.host, version, addresses, settings)).transpose()
}

/// The same where the URL has `host` and asks for TLS.
pub(crate) fn secure_host(
    host: &str,
    version: HttpVersion,
    addresses: &[SocketAddr],
    settings: &Settings,
) -> Result<(Peers, record::Agreed), LabError> {
    let peers = peers_of(host, version, settings)?;
    let agreed = match addresses.first() {
        Some(address) => peers.try_handshake(0, *address)?,
        None => Agreed::default(),
    };
    Ok((peers, recorded(&agreed)))
}

/// The same over a socket of this machine.
///
/// # Errors
/// As [`secure`].
pub fn secure_through(
    target: &HttpTarget,
    version: HttpVersion,
    socket: &UnixSocket,
    settings: &Settings,
) -> Result<Option<Peers>, LabError> {
    let Some(peers) = peers(target, version, settings)? else { return Ok(None) };
    peers.try_handshake_over(0, &socket.path().display().to_string(), |most| socket.connect(most))?;
    Ok(Some(peers))
}

/// The same through a proxy at `proxy`, by a tunnel; `shown` is what the proxy is called.
///
/// # Errors
/// As [`secure`].
pub fn secure_behind(
    target: &HttpTarget,
    version: HttpVersion,
    (proxy, shown): (SocketAddr, &str),
    tunnel: Tunnel,
    settings: &Settings,
) -> Result<Option<Peers>, LabError> {
    let Some(peers) = peers(target, version, settings)? else { return Ok(None) };
    peers.try_handshake_over(0, shown, |most| through(&proxy, &tunnel, most))?;
    Ok(Some(peers.through(tunnel)))
}

/// Has connections that are not secured lead through a tunnel to `host`; else it is as [`secure_behind`].
///
/// # Errors
/// If there is no tunnel.
pub fn tunnel_behind(
    host: &str,
    (proxy, shown): (SocketAddr, &str),
    tunnel: Tunnel,
) -> Result<Peers, LabError> {
    // Nobody's certificate is looked at.
    let settings = Settings { insecure: true, ..Settings::default() };
    let peers = Client::new(&settings)?.peers(&[None])?;
    through(&proxy, &tunnel, TUNNEL_TIMEOUT).map_err(|error| {
        let what = format!("no connection to `{host}` ({shown}): {error}");
        TlsError::server(what, "check the address, and that proxy and server are up")
    })?;
    Ok(peers.through(tunnel))
}

/// A connection to a proxy that leads through a tunnel.
fn through(proxy: &SocketAddr, tunnel: &Tunnel, most: Duration) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect_timeout(proxy, most)?;
    open_tunnel(&mut stream, tunnel, most).map_err(|error| match error.kind() {
        // What a socket says whose time is up tells neither of the proxy nor of the time.
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            io::Error::other(format!("the proxy gave no answer within {} s", most.as_secs_f64()))
        }
        _ => error,
    })?;
    Ok(stream)
}

/// Whom connections to `target` are secured to; `None` where its URL asks for no TLS.
fn peers(target: &HttpTarget, version: HttpVersion, settings: &Settings) -> Result<Option<Peers>, LabError> {
    target.is_secured.then(|| peers_of(&target.host, version, settings)).transpose()
}

/// The same where the URL has `host` and asks for TLS.
pub(crate) fn peers_of(host: &str, version: HttpVersion, settings: &Settings) -> Result<Peers, LabError> {
    let protocol = match version {
        HttpVersion::Http1 => HTTP_1_1,
        HttpVersion::Http2 { .. } => HTTP_2,
    };
    let settings = Settings { protocols: vec![protocol.to_owned()], ..settings.clone() };
    Ok(Client::new(&settings)?.peer(host)?)
}

/// What was agreed on, as records have it.
fn recorded(agreed: &Agreed) -> record::Agreed {
    record::Agreed {
        version: agreed.version.to_string(),
        cipher: agreed.cipher.to_string(),
        group: agreed.group.as_ref().map(ToString::to_string),
        alpn: agreed.protocol.clone(),
    }
}

/// What handshakes of all threads came to.
pub(crate) fn result<'a>(peers: &Peers, reports: impl Iterator<Item = &'a Report>) -> record::Tls {
    let mut all = Report::default();
    reports.for_each(|report| all.merge(report));
    let named = |counts: &std::collections::BTreeMap<&'static str, u64>| {
        counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    };
    record::Tls {
        agreed: all.first().map(recorded),
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
