//! Certificates and keys in PEM form.

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::error::TlsError;
use crate::settings::Pem;

/// All certificates in it; one at least. `option` named it.
pub(crate) fn certificates(pem: &Pem, option: &str) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let bytes = pem.read(option)?;
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    match all {
        Ok(all) if !all.is_empty() => Ok(all),
        Ok(_) => Err(without(pem, option, "certificate", "BEGIN CERTIFICATE")),
        Err(error) => Err(TlsError::setting(
            format!("{pem} holds no readable certificate ({error})"),
            format!("give {option} a file in PEM form"),
        )),
    }
}

/// The first private key in it.
pub(crate) fn key(pem: &Pem, option: &str) -> Result<PrivateKeyDer<'static>, TlsError> {
    let bytes = pem.read(option)?;
    PrivateKeyDer::from_pem_slice(&bytes)
        .map_err(|_| without(pem, option, "private key", "BEGIN PRIVATE KEY"))
}

fn without(pem: &Pem, option: &str, what: &str, begins: &str) -> TlsError {
    TlsError::setting(
        format!("{pem} holds no {what}"),
        format!("give {option} a file in PEM form, where it begins with -----{begins}-----"),
    )
}
