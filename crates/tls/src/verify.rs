//! Whether a server's certificate is to be trusted.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};

/// What a certificate is held against.
#[derive(Debug)]
pub(crate) enum Trust {
    /// Authorities, and certificates of servers that were named themselves: those need not be fit to be an authority's, or
    /// fit to be none, and their dates are not looked at. Their name is.
    Chain { authorities: Arc<WebPkiServerVerifier>, named: Vec<CertificateDer<'static>> },
    /// Nothing: any will do.
    Nothing,
}

/// A signature that is not that of the authority of that name is one of another. It is told from that of a server which lacks
/// the key of its own certificate.
fn not_of_theirs(error: Error) -> Error {
    match error {
        Error::InvalidCertificate(CertificateError::BadSignature) => CertificateError::UnknownIssuer.into(),
        error => error,
    }
}

/// Checks certificates as is asked, and always that the server holds the key of its own.
#[derive(Debug)]
pub(crate) struct Verifier {
    pub(crate) trust: Trust,
    pub(crate) algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        own: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match &self.trust {
            Trust::Nothing => Ok(ServerCertVerified::assertion()),
            Trust::Chain { named, .. } if named.iter().any(|it| it.as_ref() == own.as_ref()) => {
                verify_server_name(&ParsedCertificate::try_from(own)?, name)?;
                Ok(ServerCertVerified::assertion())
            }
            Trust::Chain { authorities, .. } => {
                authorities.verify_server_cert(own, between, name, ocsp, now).map_err(not_of_theirs)
            }
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        own: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, own, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        own: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, own, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
