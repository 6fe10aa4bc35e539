//! Certificates and keys from files.

use std::path::Path;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::error::TlsError;

/// The longest file of certificates or keys that is read, bytes: a system's whole store is some 250 kB.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// All certificates in a file; one at least. `option` named it.
pub(crate) fn certificates(path: &Path, option: &str) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let bytes = read(path, option)?;
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    match all {
        Ok(all) if !all.is_empty() => Ok(all),
        Ok(_) => Err(without(path, option, "certificate", "BEGIN CERTIFICATE")),
        Err(error) => Err(TlsError::setting(
            format!("{} holds no readable certificate ({error})", path.display()),
            format!("give {option} a file in PEM form"),
        )),
    }
}

/// The first private key in a file.
pub(crate) fn key(path: &Path, option: &str) -> Result<PrivateKeyDer<'static>, TlsError> {
    let bytes = read(path, option)?;
    PrivateKeyDer::from_pem_slice(&bytes)
        .map_err(|_| without(path, option, "private key", "BEGIN PRIVATE KEY"))
}

fn without(path: &Path, option: &str, what: &str, begins: &str) -> TlsError {
    TlsError::setting(
        format!("{} holds no {what}", path.display()),
        format!("give {option} a file in PEM form, where it begins with -----{begins}-----"),
    )
}

fn read(path: &Path, option: &str) -> Result<Vec<u8>, TlsError> {
    let unreadable = |why: String| {
        TlsError::setting(format!("{} can't be read ({why})", path.display()), format!("check {option}"))
    };
    let length = std::fs::metadata(path).map_err(|error| unreadable(error.to_string()))?.len();
    if length > FILE_BYTES_MAX {
        return Err(unreadable(format!("it is longer than {FILE_BYTES_MAX} bytes")));
    }
    std::fs::read(path).map_err(|error| unreadable(error.to_string()))
}
