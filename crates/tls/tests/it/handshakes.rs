//! Handshakes that succeed and that fail, over real sockets.

use std::io::{Read, Write};
use std::sync::Arc;
use std::time::Duration as StdDuration;

use engine::{Outcome, TlsFailure};
use rustix::net::sockopt::set_socket_linger;
use rustls::crypto::aws_lc_rs::{default_provider, sign::any_supported_type};
use rustls::pki_types::PrivateKeyDer;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{ServerConfig, ServerConnection};
use tls::{Client, Settings, Version};
use units::Duration;

use crate::common::{
    ANSWER, REQUEST, acceptor, all_answered, answering, config, fresh, insecure, listen, load, peers,
};

#[test]
fn what_was_agreed_on_and_how_many_handshakes_were_full_is_told() {
    let address = answering(acceptor());
    for (version_max, version) in [(Version::Tls12, "TLS 1.2"), (Version::Tls13, "TLS 1.3")] {
        let settings = Settings { version_max, groups: Some("P-256".into()), ..insecure() };
        let finished = load(address, &peers(&settings), config(4, 40));
        assert!(all_answered(&finished.sink, 40));
        let report = finished.tls.expect("connections were secured");
        let first = report.first().expect("there was one");
        assert_eq!((&*first.version, first.group.as_deref()), (version, Some("secp256r1")));
        assert_eq!(first.protocol.as_deref(), Some("http/1.1"));
        assert!(first.cipher.starts_with("TLS_"), "{first:?}");
        assert_eq!((report.full, report.resumed, report.others()), (4, 0, 0));
        assert_eq!((report.handshake.count(), report.connect.count()), (4, 4));
        let tried = peers(&settings).try_handshake(0, address).expect("it is a good one");
        assert_eq!(&tried, first);
    }
}

#[test]
fn sessions_are_resumed_only_if_that_is_asked_for() {
    let address = answering(acceptor());
    for version_max in [Version::Tls12, Version::Tls13] {
        for resume in [false, true] {
            let settings = Settings { version_max, resume, ..insecure() };
            let finished = load(address, &peers(&settings), fresh(1, 10));
            assert!(all_answered(&finished.sink, 10));
            let report = finished.tls.expect("connections were secured");
            assert_eq!(report.full + report.resumed, 10);
            assert_eq!(report.resumed > 0, resume, "{version_max:?}: {report:?}");
        }
    }
}

#[test]
fn a_share_of_the_connections_shakes_hands_in_full_where_others_resume() {
    let address = answering(acceptor());
    for version_max in [Version::Tls12, Version::Tls13] {
        let full_handshakes = units::Share::percent(20.0);
        let settings = Settings { version_max, resume: true, full_handshakes, ..insecure() };
        let finished = load(address, &peers(&settings), fresh(1, 20));
        assert!(all_answered(&finished.sink, 20));
        let report = finished.tls.expect("connections were secured");
        // The first has nothing to go on with.
        assert_eq!((report.full, report.resumed), (5, 15), "{version_max:?}");
    }
}

#[test]
fn a_certificate_that_nobody_vouches_for_is_one_clear_error() {
    let acceptor = acceptor();
    let address = answering(acceptor.clone());
    let folder = tempfile::tempdir().expect("a folder");
    let own = folder.path().join("own.pem");
    std::fs::write(&own, acceptor.certificate()).expect("it is written");
    let other = folder.path().join("other.pem");
    std::fs::write(&other, crate::common::acceptor().certificate()).expect("it is written");
    let trusting =
        |file: &std::path::Path| Settings { trusted: Some(file.to_owned().into()), ..Settings::default() };
    let tried = |settings: &Settings, host: &str| {
        let client = Client::new(settings).expect("the settings are good");
        client.peer(host).and_then(|peers| peers.try_handshake(0, address))
    };

    let unknown = tried(&trusting(&other), "localhost").expect_err("it is another one");
    let text = unknown.to_string();
    assert!(
        unknown.is_of_server() && text.contains("--cacert FILE") && text.contains("--insecure"),
        "{text}"
    );
    tried(&trusting(&own), "localhost").expect("it is the very one");
    tried(&trusting(&own), "127.0.0.1").expect("it is for that address, too");
    let misnamed = tried(&trusting(&own), "example.com").expect_err("it is for another name").to_string();
    assert!(misnamed.contains("not for `example.com`") && misnamed.contains("--sni"), "{misnamed}");
    let renamed = Settings { name: Some("localhost".into()), ..trusting(&own) };
    tried(&renamed, "example.com").expect("it is asked for its own name");
    tried(&insecure(), "example.com").expect("nobody looks");

    // Nobody who goes on all the same is answered.
    let finished = load(address, &peers(&trusting(&other)), fresh(2, 4));
    assert_eq!(finished.sink.0, [Outcome::TlsFailed(TlsFailure::Certificate); 4]);
    assert_eq!(finished.tls.expect("it was tried").failed["certificate"], 4);
}

/// A server that has a certificate and not its key.
#[derive(Debug)]
struct Thief(Arc<CertifiedKey>);

impl ResolvesServerCert for Thief {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.0))
    }
}

#[test]
fn whoever_lacks_the_key_of_the_certificate_is_refused_also_by_those_who_take_any() {
    let [shown, own] = [(); 2].map(|()| {
        let key = rcgen::KeyPair::generate().expect("a key");
        let params = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).expect("a name");
        (params.self_signed(&key).expect("a certificate"), key)
    });
    let key = PrivateKeyDer::try_from(own.1.serialize_der()).expect("a key");
    let key = any_supported_type(&key).expect("of a known kind");
    let thief = Thief(Arc::new(CertifiedKey::new(vec![shown.0.der().clone()], key)));
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .expect("there are versions")
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(thief));
    let config = Arc::new(config);
    let address = listen(move |mut socket| {
        let mut connection = ServerConnection::new(Arc::clone(&config)).expect("a session begins");
        while connection.is_handshaking() && connection.complete_io(&mut socket).is_ok() {}
        let _ = socket.read(&mut [0; 1]);
    });
    for version_max in [Version::Tls12, Version::Tls13] {
        let settings = Settings { version_max, ..insecure() };
        let error = peers(&settings).try_handshake(0, address).expect_err("it has no key");
        assert!(error.to_string().contains("signature"), "{error}");
        let finished = load(address, &peers(&settings), fresh(1, 2));
        assert_eq!(finished.sink.0, [Outcome::TlsFailed(TlsFailure::Certificate); 2]);
    }
}

#[test]
fn whoever_speaks_no_tls_is_told_from_whoever_hangs_up() {
    let plain = listen(|mut socket| {
        let _ = socket.read(&mut [0; 1024]);
        let _ = socket.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
        let _ = socket.read(&mut [0; 1024]);
    });
    let closing = listen(|mut socket| drop(socket.read(&mut [0; 1024])));
    // As the kernel does for a server that closes without having read all.
    let resetting = listen(|mut socket| {
        let _ = socket.read(&mut [0; 1024]);
        set_socket_linger(&socket, Some(StdDuration::ZERO)).expect("a socket takes a linger time");
    });
    for (address, outcome, part) in [
        (plain, TlsFailure::Protocol, "is not TLS"),
        (closing, TlsFailure::Closed, "closed the connection"),
        (resetting, TlsFailure::Closed, "closed the connection"),
    ] {
        let error = peers(&insecure()).try_handshake(0, address).expect_err("it can't succeed").to_string();
        assert!(error.contains(part), "{error}");
        let finished = load(address, &peers(&insecure()), fresh(1, 3));
        assert_eq!(finished.sink.0, [Outcome::TlsFailed(outcome); 3], "{part}");
        assert_eq!(finished.tls.expect("it was tried").failed[outcome.name()], 3, "{part}");
    }
}

#[test]
fn a_server_that_never_shakes_hands_ends_at_the_connect_timeout() {
    let silent = listen(|mut socket| while let Ok(1..) = socket.read(&mut [0; 1024]) {});
    let mut config = fresh(2, 4);
    config.timeouts.connect = Duration::from_millis(50);
    let finished = load(silent, &peers(&insecure()), config);
    assert_eq!(finished.sink.0, [Outcome::TlsFailed(TlsFailure::TimedOut); 4]);
}

#[test]
fn a_server_without_the_protocol_asked_for_is_no_server() {
    let address = answering(acceptor());
    let settings = Settings { protocols: vec!["h2".into()], ..insecure() };
    let error = peers(&settings).try_handshake(0, address).expect_err("it speaks http/1.1").to_string();
    assert!(error.contains("version of HTTP"), "{error}");
    let finished = load(address, &peers(&settings), fresh(1, 2));
    assert_eq!(finished.sink.0, [Outcome::TlsFailed(TlsFailure::Alpn); 2]);
}

/// A server's end without a word of it may be anybody's doing: an answer that only the end makes whole is none.
#[test]
fn an_answer_that_was_cut_off_is_not_whole() {
    let acceptor = acceptor();
    let address = listen(move |socket| {
        let mut stream = crate::common::Stream::new(socket, &acceptor);
        let _ = stream.read(&mut [0; 1024]);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nall of i");
        std::thread::sleep(StdDuration::from_millis(5));
    });
    let finished = load(address, &peers(&insecure()), fresh(1, 2));
    assert_eq!(finished.sink.0, [Outcome::ClosedEarly; 2]);
}

/// It has us change ours with that (RFC 8446, section 4.6.3).
#[test]
fn a_server_may_change_its_keys_behind_each_answer() {
    let key = rcgen::KeyPair::generate().expect("a key");
    let params = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).expect("a name");
    let certificate = params.self_signed(&key).expect("a certificate");
    let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a key");
    let server = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|it| it.with_no_client_auth().with_single_cert(vec![certificate.der().clone()], key))
        .expect("a certificate and its key");
    let server = Arc::new(server);
    let address = listen(move |mut socket| {
        socket.set_nodelay(true).expect("a socket takes it");
        let mut session = ServerConnection::new(Arc::clone(&server)).expect("a session begins");
        let mut request = vec![0; REQUEST.len()];
        loop {
            let mut stream = rustls::Stream::new(&mut session, &mut socket);
            if stream.read_exact(&mut request).is_err() || stream.write_all(ANSWER).is_err() {
                return;
            }
            session.refresh_traffic_keys().expect("TLS 1.3 is spoken");
        }
    });
    let finished = load(address, &peers(&insecure()), config(2, 20));
    assert!(all_answered(&finished.sink, 20), "{:?}", finished.sink.0);
    let report = finished.tls.expect("connections were secured");
    assert_eq!((report.full, report.broken.len()), (2, 0), "{report:?}");
}

/// Servers may wait for it, and take an end without it for one that somebody else has made.
#[test]
fn a_server_that_says_its_end_hears_ours() {
    let acceptor = acceptor();
    let (told, heard) = std::sync::mpsc::channel();
    let address = listen(move |socket| {
        let mut stream = crate::common::Stream::new(socket, &acceptor);
        let _ = stream.read(&mut [0; 1024]);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nall of it");
        let _ = told.send(stream.end_and_hear());
    });
    for version_max in [Version::Tls12, Version::Tls13] {
        let finished = load(address, &peers(&Settings { version_max, ..insecure() }), fresh(1, 1));
        assert!(all_answered(&finished.sink, 1), "{version_max}: {:?}", finished.sink.0);
        assert_eq!(heard.recv_timeout(StdDuration::from_secs(10)), Ok(true), "{version_max}");
    }
}

#[test]
fn settings_that_can_t_be_say_what_would_be_right() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name);
    let (empty, long) = (file("empty.pem"), file("long.pem"));
    std::fs::write(&empty, "").expect("it is written");
    std::fs::write(&long, vec![b'x'; (1 << 20) + 1]).expect("it is written");
    let missing = file("missing.pem");
    let told =
        Settings { key: Some(long.into()), ..insecure() }.with_files_read().expect_err("it is too long");
    assert!(told.to_string().contains("that other machines are told; give --key"), "{told}");
    for (settings, part) in [
        (Settings { trusted: Some(missing.into()), ..Settings::default() }, "can't be read"),
        (Settings { trusted: Some(empty.clone().into()), ..Settings::default() }, "holds no certificate"),
        (Settings { certificate: Some(empty.clone().into()), ..insecure() }, "holds no certificate"),
        (Settings { key: Some(empty.into()), ..insecure() }, "--cert FILE"),
        (Settings { ciphers: Some("NULL".into()), ..insecure() }, "`NULL`"),
        (
            Settings { version_min: Version::Tls13, version_max: Version::Tls12, ..insecure() },
            "no version of TLS is left",
        ),
    ] {
        let error = Client::new(&settings).expect_err("it can't be");
        assert!(!error.is_of_server() && error.to_string().contains(part), "{error}");
    }
}
