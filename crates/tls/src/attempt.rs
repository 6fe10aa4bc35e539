//! The one handshake before a load, and in words why there is none.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::client::ClientConnection;
use rustls::pki_types::ServerName;
use rustls::{AlertDescription, CertificateError, Error, PeerMisbehaved};

use crate::client::{Client, Peers, agreed};
use crate::error::TlsError;
use crate::report::Agreed;
use crate::waits::Waits;

/// How long it may take, from the first packet to the last.
const TRY_TIMEOUT: Duration = Duration::from_secs(5);

impl Peers {
    /// Makes one connection to the server of this number, which is secured, and says what was agreed on: whoever would be
    /// refused by each of many connections hears it before them.
    pub fn try_handshake(&self, target: u32, address: SocketAddr) -> Result<Agreed, TlsError> {
        let connect = |most| TcpStream::connect_timeout(&address, most);
        self.try_handshake_over(target, &address.to_string(), connect)
    }

    /// The same over what `connect` makes, in the time that it is told, and that is shown as `address`.
    pub fn try_handshake_over<S: Waits>(
        &self,
        target: u32,
        address: &str,
        connect: impl FnOnce(Duration) -> io::Result<S>,
    ) -> Result<Agreed, TlsError> {
        match self.name(Some(target)) {
            None => Ok(Agreed::default()),
            Some(name) => handshake(&self.client, name, address, connect, TRY_TIMEOUT),
        }
    }
}

/// Makes one connection to `address`, which is secured under `name`, and says what was agreed on. All of it takes `most` at
/// most.
fn handshake<S: Waits>(
    client: &Client,
    name: &ServerName<'static>,
    address: &str,
    connect: impl FnOnce(Duration) -> io::Result<S>,
    most: Duration,
) -> Result<Agreed, TlsError> {
    let host = name.to_str();
    let offered = client.offered();
    let refused = |why: &Error| refused(&host, &offered, why);
    let broken = |error: io::Error| match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(why) => refused(why),
        None => broken_off(&host, address, most, &error),
    };
    let until = Instant::now() + most;
    let socket = connect(most).map_err(|error| unreachable(&host, address, most, &error))?;
    let mut socket = Bounded { socket, until };
    let mut connection =
        ClientConnection::new(Arc::clone(&client.config), name.clone()).map_err(|why| refused(&why))?;
    while connection.is_handshaking() {
        connection.complete_io(&mut socket).map_err(broken)?;
    }
    connection.send_close_notify();
    // The load begins with connections of its own, whatever becomes of this one.
    let _ = connection.complete_io(&mut socket);
    if connection.alpn_protocol().is_none() && !client.takes_silence {
        return Err(refused(&Error::NoApplicationProtocol));
    }
    Ok(agreed(&connection))
}

/// A socket that nobody waits for beyond an instant, however many reads that takes.
struct Bounded<S> {
    socket: S,
    until: Instant,
}

impl<S: Waits> Bounded<S> {
    fn wait_for_what_is_left(&self) -> io::Result<()> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { self.socket.wait_at_most(left) }
    }
}

impl<S: Waits> Read for Bounded<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.wait_for_what_is_left()?;
        self.socket.read(buffer)
    }
}

impl<S: Waits> Write for Bounded<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.wait_for_what_is_left()?;
        self.socket.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.flush()
    }
}

/// Whether a wait for a socket was too long: the kernel calls it by either name.
fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock)
}

/// There is no connection that could be secured.
fn unreachable(host: &str, address: &str, most: Duration, error: &io::Error) -> TlsError {
    if is_timeout(error) {
        return TlsError::server(
            format!("no connection to `{host}` ({address}) within {} s", most.as_secs_f64()),
            "check the address, and what stands between it and this machine",
        );
    }
    TlsError::server(
        format!("no connection to `{host}` ({address}): {error}"),
        "check the address, and that the server is up",
    )
}

/// The connection did not last as long as the handshake.
fn broken_off(host: &str, address: &str, most: Duration, error: &io::Error) -> TlsError {
    match error.kind() {
        _ if is_timeout(error) => TlsError::server(
            format!(
                "the TLS handshake with `{host}` ({address}) was not over within {} s",
                most.as_secs_f64()
            ),
            "check that the port speaks TLS, and whether the server has too much to do",
        ),
        ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => TlsError::server(
            format!("`{host}` closed the connection within the TLS handshake"),
            "check that the port speaks TLS, and whether it wants a client certificate (--cert, --key)",
        ),
        _ => TlsError::server(
            format!("the TLS handshake with `{host}` ({address}) failed ({error})"),
            "check that the port speaks TLS",
        ),
    }
}

/// A failed handshake in words, with what to do about it. `offered` are the protocols that the server could choose from.
fn refused(host: &str, offered: &str, error: &Error) -> TlsError {
    const TRUST: &str = "trust it with --cacert FILE, or skip the check with --insecure";
    match error {
        Error::InvalidCertificate(CertificateError::UnknownIssuer) => TlsError::server(
            format!(
                "the certificate of `{host}` is signed by itself or by an authority that is unknown here"
            ),
            TRUST,
        ),
        Error::InvalidCertificate(
            why @ (CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. }),
        ) => TlsError::server(
            format!("the certificate is not for `{host}` ({why})"),
            "name the server that it is for with --sni NAME, or skip the check with --insecure",
        ),
        Error::InvalidCertificate(CertificateError::BadSignature) => TlsError::server(
            format!("`{host}` has not shown that it holds the key of its certificate (a bad signature)"),
            "check who answers there: this check is never skipped",
        ),
        Error::InvalidCertificate(why) => {
            TlsError::server(format!("the certificate of `{host}` is not valid ({why})"), TRUST)
        }
        Error::NoApplicationProtocol
        | Error::AlertReceived(AlertDescription::NoApplicationProtocol)
        | Error::PeerMisbehaved(PeerMisbehaved::SelectedUnofferedApplicationProtocol) => TlsError::server(
            format!("`{host}` does not agree to speak {offered}: TLS is there, that version of HTTP is not"),
            "turn it on at the server, or ask for another with --http-version",
        ),
        Error::AlertReceived(alert) => TlsError::server(
            format!("`{host}` ended the TLS handshake with the alert {alert:?}"),
            alert_help(*alert),
        ),
        Error::InvalidMessage(_) => TlsError::server(
            format!("what answers at `{host}` is not TLS ({error})"),
            "if the port speaks plain HTTP, write http:// for https://",
        ),
        _ => TlsError::server(
            format!("the TLS handshake with `{host}` failed ({error})"),
            "check that the port speaks TLS 1.2 or 1.3",
        ),
    }
}

/// What to do about an alert that ended a handshake.
const fn alert_help(alert: AlertDescription) -> &'static str {
    use AlertDescription as Alert;
    match alert {
        Alert::CertificateRequired
        | Alert::NoCertificate
        | Alert::BadCertificate
        | Alert::UnsupportedCertificate
        | Alert::CertificateRevoked
        | Alert::CertificateExpired
        | Alert::CertificateUnknown
        | Alert::UnknownCA
        | Alert::AccessDenied => "give a client certificate that it takes: --cert FILE --key FILE",
        Alert::ProtocolVersion => "it speaks no version that is asked for: see --tls-max, --tlsv1.3",
        Alert::UnrecognisedName => "it knows no server of that name: give one with --sni NAME",
        Alert::HandshakeFailure | Alert::InsufficientSecurity => {
            "it shares no cipher or group with what is asked for, or wants a client certificate (--cert)"
        }
        _ => "its own log may say why",
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use crate::settings::Settings;

    /// What a load to `address` would be told before it, within 300 ms.
    fn told(address: SocketAddr) -> String {
        let client = Client::new(&Settings { insecure: true, ..Settings::default() }).expect("good settings");
        let name = ServerName::try_from("localhost").expect("a name");
        let most = Duration::from_millis(300);
        let connect = |most| TcpStream::connect_timeout(&address, most);
        handshake(&client, &name, &address.to_string(), connect, most)
            .expect_err("it is no server of TLS")
            .to_string()
    }

    #[test]
    fn a_server_that_drips_its_handshake_is_given_up_in_time() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it has one");
        let begun = Instant::now();
        let dripping = std::thread::spawn(move || {
            let (mut socket, _) = listener.accept().expect("it comes");
            // A record of 16 KB, a byte at a time: no read of it waits for long.
            let mut bytes = [22, 3, 3, 64, 0].into_iter().chain(std::iter::repeat(0));
            while bytes.next().is_some_and(|byte| socket.write_all(&[byte]).is_ok()) {
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let text = told(address);
        assert!(text.contains("was not over within 0.3 s"), "{text}");
        assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
        dripping.join().expect("it ends with the connection");
    }

    #[test]
    fn what_helps_against_an_alert_is_of_what_it_is_about() {
        let told = |alert| refused("shop.test", "http/1.1", &Error::AlertReceived(alert)).to_string();
        for (alert, part, other) in [
            (AlertDescription::UnknownCA, "--cert FILE --key FILE", "cipher"),
            (AlertDescription::CertificateExpired, "--cert FILE --key FILE", "cipher"),
            (AlertDescription::AccessDenied, "--cert FILE --key FILE", "cipher"),
            (AlertDescription::HandshakeFailure, "no cipher or group", "log"),
            (AlertDescription::InternalError, "its own log", "cipher"),
            (AlertDescription::ProtocolVersion, "--tls-max", "cipher"),
        ] {
            let text = told(alert);
            assert!(text.contains(part) && !text.contains(other), "{text}");
            assert!(text.contains(&format!("the alert {alert:?}")), "{text}");
        }
    }

    /// Such servers are there, and no other word of theirs is wrong.
    #[test]
    fn who_chooses_a_protocol_that_was_not_offered_does_not_agree() {
        let chosen = Error::PeerMisbehaved(PeerMisbehaved::SelectedUnofferedApplicationProtocol);
        assert_eq!(crate::client::failure(&chosen), engine::TlsFailure::Alpn);
        let text = refused("shop.test", "h2", &chosen).to_string();
        assert!(text.contains("does not agree to speak h2") && text.contains("--http-version"), "{text}");
    }

    #[test]
    fn where_nobody_listens_nothing_is_said_of_tls() {
        // Nobody is given this port who asks for any.
        let text = told(std::net::SocketAddr::from(([127, 0, 0, 1], 1)));
        assert!(
            text.contains("no connection to `localhost`") && text.contains("that the server is up"),
            "{text}"
        );
        assert!(!text.contains("speaks TLS"), "{text}");
    }
}
