//! Against OpenSSL's own server, where it is installed.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use engine::Outcome;
use tempfile::TempDir;
use tls::{Settings, Version};

use crate::common::{all_answered, fresh, insecure, load, peers};

/// `openssl s_server`; ends when dropped.
struct OpenSsl {
    child: Child,
    address: SocketAddr,
}

impl Drop for OpenSsl {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A certificate for localhost, signed by itself, and its key, as most people make them; `None` without OpenSSL.
pub fn certificate(folder: &TempDir) -> Option<[PathBuf; 2]> {
    let [certificate, key] = ["cert.pem", "key.pem"].map(|name| folder.path().join(name));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"])
        .args(["-addext", "subjectAltName=DNS:localhost", "-keyout"])
        .args([&key, Path::new("-out"), &certificate])
        .stderr(Stdio::null())
        .status();
    match made {
        Ok(status) if status.success() => Some([certificate, key]),
        _ => {
            eprintln!("not tried: there is no openssl");
            None
        }
    }
}

fn serve([certificate, key]: &[PathBuf; 2], arguments: &[&str]) -> OpenSsl {
    let free = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a free port");
    let child = Command::new("openssl")
        .args(["s_server", "-quiet", "-www", "-accept", &free.to_string(), "-cert"])
        .args([certificate, Path::new("-key"), key])
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("openssl starts");
    let server = OpenSsl { child, address: free };
    let begun = Instant::now();
    while TcpStream::connect(free).is_err() {
        assert!(begun.elapsed() < Duration::from_secs(20), "openssl listens");
        std::thread::sleep(Duration::from_millis(20));
    }
    server
}

#[test]
fn openssls_server_is_understood_in_both_versions() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(pair) = certificate(&folder) else { return };
    for (version, told) in [("-tls1_2", "TLS 1.2"), ("-tls1_3", "TLS 1.3")] {
        let server = serve(&pair, &[version]);
        // A certificate as `openssl req -x509` makes it says that it is an authority's, and is a server's all the same.
        let settings = Settings { trusted: Some(pair[0].clone().into()), ..Settings::default() };
        let agreed = peers(&settings).try_handshake(0, server.address).expect("it is trusted");
        assert_eq!(agreed.version, told);
        let finished = load(server.address, &peers(&settings), fresh(1, 5));
        assert!(all_answered(&finished.sink, 5), "{version}: {:?}", finished.sink.0);
    }
    let server = serve(&pair, &["-tls1_3"]);
    let old = Settings { version_max: Version::Tls12, ..insecure() };
    let error = peers(&old).try_handshake(0, server.address).expect_err("it speaks no 1.2").to_string();
    assert!(error.contains("ProtocolVersion") && error.contains("--tls-max"), "{error}");
}

#[test]
fn a_client_has_a_certificate_where_it_is_wanted() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(pair) = certificate(&folder) else { return };
    let [certificate, key] = &pair;
    for version in ["-tls1_2", "-tls1_3"] {
        let file = certificate.display().to_string();
        let server = serve(&pair, &[version, "-Verify", "1", "-verify_return_error", "-CAfile", &file]);
        let own = (certificate.clone().into(), key.clone().into());
        let with = Settings { certificate: Some(own.0), key: Some(own.1), ..insecure() };
        let without_files = with.with_files_read().expect("they can be read");
        for with in [with, without_files] {
            let finished = load(server.address, &peers(&with), fresh(1, 3));
            assert!(all_answered(&finished.sink, 3), "{version}: {:?}", finished.sink.0);
        }
        let without = load(server.address, &peers(&insecure()), fresh(1, 3));
        let report = without.tls.expect("it was tried");
        let told = report.failed.keys().chain(report.broken.keys()).any(|name| name.starts_with("alert_"));
        assert!(told, "{version}: {report:?}");
        assert!(
            without.sink.0.iter().all(|it| !matches!(it, Outcome::Answered { .. })),
            "{:?}",
            without.sink.0
        );
    }
}
