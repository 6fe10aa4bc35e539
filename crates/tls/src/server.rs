//! The server's side, for a server whose sockets are its own: bytes in, bytes out.

use std::io::{Read, Write};
use std::sync::Arc;

use rcgen::{Certificate, CertificateParams, DnType, KeyPair};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::PrivateKeyDer;
use rustls::{Error, ServerConfig, ServerConnection};

use crate::error::TlsError;

/// Plain bytes taken out of a session at one time.
const READ_BYTES: usize = 16 * 1024;

/// What all sessions of a server have in common.
#[derive(Debug, Clone)]
pub struct Acceptor {
    config: Arc<ServerConfig>,
    certificate: Arc<str>,
}

/// Whether it is the same one.
impl PartialEq for Acceptor {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.config, &other.config)
    }
}

impl Acceptor {
    /// A server with a certificate made now, for `names` (host names and addresses), and signed by itself.
    ///
    /// It speaks TLS 1.2 and 1.3 and chooses the first of `protocols` that is offered to it (ALPN); whoever offers others
    /// alone is refused. It resumes sessions for those who ask.
    pub fn self_signed(names: &[String], protocols: &[&str]) -> Result<Self, TlsError> {
        let (certificate, key) = made(names)?;
        let der = PrivateKeyDer::try_from(key.serialize_der()).map_err(|why| unmade(why.to_owned()))?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|it| it.with_no_client_auth().with_single_cert(vec![certificate.der().clone()], der))
            .map_err(|error| unmade(error.to_string()))?;
        config.alpn_protocols = protocols.iter().map(|it| it.as_bytes().to_vec()).collect();
        Ok(Self { config: Arc::new(config), certificate: certificate.pem().into() })
    }

    /// Its certificate (PEM), for those who are to trust it.
    pub fn certificate(&self) -> &str {
        &self.certificate
    }

    /// A session for a new connection.
    pub fn session(&self) -> Result<Session, TlsError> {
        let connection = ServerConnection::new(Arc::clone(&self.config)).map_err(|error| {
            TlsError::setting(format!("no session could be begun ({error})"), "check the certificate")
        })?;
        let mut session = Session { connection: Box::new(connection) };
        session.connection.set_buffer_limit(None);
        Ok(session)
    }
}

/// A certificate made now, for `names` (host names and addresses) and signed by itself, and its key (both PEM): for servers of
/// other makes.
pub fn self_signed(names: &[String]) -> Result<[String; 2], TlsError> {
    made(names).map(|(certificate, key)| [certificate.pem(), key.serialize_pem()])
}

fn made(names: &[String]) -> Result<(Certificate, KeyPair), TlsError> {
    let key = KeyPair::generate().map_err(|error| unmade(error.to_string()))?;
    let mut params = CertificateParams::new(names.to_vec()).map_err(|error| unmade(error.to_string()))?;
    params.distinguished_name.push(DnType::CommonName, "proofload target");
    let certificate = params.self_signed(&key).map_err(|error| unmade(error.to_string()))?;
    Ok((certificate, key))
}

#[expect(clippy::needless_pass_by_value, reason = "it is made for this")]
fn unmade(why: String) -> TlsError {
    TlsError::setting(format!("no certificate could be made ({why})"), "check the names")
}

/// A server's side of one connection.
#[derive(Debug)]
pub struct Session {
    connection: Box<ServerConnection>,
}

impl Session {
    /// Takes what was received: plain bytes are appended to `plain`, what is to be sent for it to `out`. Whether more may
    /// come: not after the peer's word that this was all, nor after an error, whose alert is in `out`.
    pub fn receive(&mut self, mut received: &[u8], plain: &mut Vec<u8>, out: &mut Vec<u8>) -> bool {
        let mut goes_on = true;
        while goes_on && !received.is_empty() {
            goes_on = self.connection.read_tls(&mut received).is_ok() && self.process(plain).unwrap_or(false);
        }
        self.flush(out);
        goes_on
    }

    /// Whether more may come.
    fn process(&mut self, plain: &mut Vec<u8>) -> Result<bool, Error> {
        let state = self.connection.process_new_packets()?;
        let mut left = state.plaintext_bytes_to_read();
        while left > 0 {
            let start = plain.len();
            plain.resize(start + left.min(READ_BYTES), 0);
            let read = self.connection.reader().read(&mut plain[start..]).unwrap_or(0);
            plain.truncate(start + read);
            if read == 0 {
                break;
            }
            left -= read;
        }
        Ok(!state.peer_has_closed())
    }

    /// Appends `bytes` as records to `out`. Before the handshake is over, they wait for its end.
    pub fn seal(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        // Into memory without a limit, which can't fail.
        let _ = self.connection.writer().write_all(bytes);
        self.flush(out);
    }

    /// Appends the word that nothing more will come.
    pub fn say_end(&mut self, out: &mut Vec<u8>) {
        self.connection.send_close_notify();
        self.flush(out);
    }

    fn flush(&mut self, out: &mut Vec<u8>) {
        while self.connection.wants_write() && self.connection.write_tls(out).is_ok() {}
    }
}
