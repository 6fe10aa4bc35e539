//! A connection, with TLS or without. TLS is rustls as it comes, with its own buffers; no certificate is looked at, since that
//! is done once a connection and before anything is measured.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, SignatureScheme};

#[derive(Debug)]
pub(crate) struct Wire {
    fd: OwnedFd,
    session: Option<Box<ClientConnection>>,
    /// What goes out, and what came in; used again and again.
    sealed: Vec<u8>,
    plain: Vec<u8>,
}

impl Wire {
    /// Shakes hands first, where there is a `config`.
    pub(crate) fn new(socket: TcpStream, config: Option<&Arc<ClientConfig>>) -> io::Result<Self> {
        let mut socket = socket;
        let mut session = None;
        if let Some(config) = config {
            let name = ServerName::from(socket.peer_addr()?.ip());
            let mut connection = ClientConnection::new(Arc::clone(config), name).map_err(io::Error::other)?;
            while connection.is_handshaking() {
                connection.complete_io(&mut socket)?;
            }
            session = Some(Box::new(connection));
        }
        Ok(Self { fd: socket.into(), session, sealed: Vec::new(), plain: Vec::new() })
    }

    /// Whether bytes on it are what was sent, so that the kernel may throw them away.
    pub(crate) fn is_plain(&self) -> bool {
        self.session.is_none()
    }

    /// Sends all of `bytes` in one call.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let out = match &mut self.session {
            None => bytes,
            Some(session) => {
                session.writer().write_all(bytes)?;
                self.sealed.clear();
                while session.wants_write() {
                    session.write_tls(&mut self.sealed)?;
                }
                &self.sealed
            }
        };
        let sent = send(&self.fd, out, SendFlags::NOSIGNAL | SendFlags::DONTWAIT)?;
        if sent == out.len() {
            Ok(())
        } else {
            Err(io::Error::other("the kernel took half of what was to be sent"))
        }
    }

    /// Reads until less comes than asked for, since an edge is told once, and hands on how many plain bytes came and, where
    /// they were copied, which.
    pub(crate) fn receive(
        &mut self,
        buffer: &mut [u8],
        flags: RecvFlags,
        mut take: impl FnMut(usize, &[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        loop {
            let (copied, came) = match recv(&self.fd, &mut *buffer, RecvFlags::DONTWAIT | flags) {
                Ok((_, 0)) => return Err(io::Error::other("the server closed a connection")),
                Ok(both) => both,
                Err(Errno::AGAIN) => return Ok(()),
                Err(errno) => return Err(errno.into()),
            };
            let copied = &buffer[..copied.min(buffer.len())];
            match &mut self.session {
                None => take(came, copied)?,
                Some(session) => open(session, copied, &mut self.plain, &mut take)?,
            }
            if came < buffer.len() {
                return Ok(());
            }
        }
    }
}

impl AsFd for Wire {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

fn open(
    session: &mut ClientConnection,
    mut sealed: &[u8],
    plain: &mut Vec<u8>,
    take: &mut impl FnMut(usize, &[u8]) -> io::Result<()>,
) -> io::Result<()> {
    while !sealed.is_empty() {
        session.read_tls(&mut sealed)?;
        let state = session.process_new_packets().map_err(io::Error::other)?;
        let bytes = state.plaintext_bytes_to_read();
        if bytes > 0 {
            plain.resize(bytes, 0);
            session.reader().read_exact(plain)?;
            take(bytes, plain)?;
        }
    }
    Ok(())
}

/// A client that offers `protocol` and trusts everybody.
pub(crate) fn config(protocol: &str) -> io::Result<Arc<ClientConfig>> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let mut config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(TrustsAll(provider)))
        .with_no_client_auth();
    config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
    Ok(Arc::new(config))
}

#[derive(Debug)]
struct TrustsAll(Arc<CryptoProvider>);

impl ServerCertVerifier for TrustsAll {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
