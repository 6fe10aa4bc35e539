//! Keys are good for so many records and no more. Those of AES-GCM are for 2^24 of them, which no test makes: here they are for
//! [`LIMIT`].

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;

use engine::{Completion, Conn, Event, Io, Outgoing, Sending};
use rustls::crypto::{CipherSuiteCommon, aws_lc_rs};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, SupportedCipherSuite, Tls12CipherSuite, Tls13CipherSuite, version};
use units::Instant;

use crate::records::Records;
use crate::verify::{Trust, Verifier};
use crate::{Acceptor, Client, HTTP_1_1, RECORD_LIMIT, Session, Settings, TlsIo, Version};

/// So many records a key may seal. Of those of TLS 1.2 the end of the handshake is one, and two are left to what is under way.
const LIMIT: u64 = 32;
/// With this record of data the keys of TLS 1.2 are worn out, and with the one behind it used up.
const LAST_NEW: u64 = 30;

/// As `suite`, with keys that are good for less.
fn limited(suite: SupportedCipherSuite) -> SupportedCipherSuite {
    let common = |it: &CipherSuiteCommon| CipherSuiteCommon {
        suite: it.suite,
        hash_provider: it.hash_provider,
        confidentiality_limit: LIMIT,
    };
    match suite {
        SupportedCipherSuite::Tls12(it) => {
            let (prf_provider, kx, sign, aead_alg) = (it.prf_provider, it.kx, it.sign, it.aead_alg);
            let it = Tls12CipherSuite { common: common(&it.common), prf_provider, kx, sign, aead_alg };
            SupportedCipherSuite::Tls12(Box::leak(Box::new(it)))
        }
        SupportedCipherSuite::Tls13(it) => {
            let (hkdf_provider, aead_alg) = (it.hkdf_provider, it.aead_alg);
            let it = Tls13CipherSuite { common: common(&it.common), hkdf_provider, aead_alg, quic: None };
            SupportedCipherSuite::Tls13(Box::leak(Box::new(it)))
        }
    }
}

/// What connections of this version are made with. Takes any certificate.
fn config(version: Version) -> Arc<ClientConfig> {
    let mut provider = aws_lc_rs::default_provider();
    provider.cipher_suites = provider.cipher_suites.into_iter().map(limited).collect();
    let algorithms = provider.signature_verification_algorithms;
    let version = if version == Version::Tls12 { &version::TLS12 } else { &version::TLS13 };
    let mut config = ClientConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[version])
        .expect("there are suites for it")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Verifier { trust: Trust::Nothing, algorithms }))
        .with_no_client_auth();
    config.alpn_protocols = vec![HTTP_1_1.as_bytes().to_vec()];
    Arc::new(config)
}

fn session() -> Session {
    let acceptor = Acceptor::self_signed(&["localhost".to_owned()], &[HTTP_1_1]);
    acceptor.and_then(|it| it.session()).expect("a session begins")
}

/// A connection whose handshake is over.
struct Pair {
    records: Records,
    session: Session,
    plain: Vec<u8>,
}

impl Pair {
    fn new(version: Version) -> Self {
        let name = ServerName::try_from("localhost").expect("it is a name");
        let records = Records::new(&config(version), &name).expect("a connection begins");
        let mut pair = Self { records, session: session(), plain: Vec::new() };
        let mut came_up = pair.hear(Vec::new());
        for _ in 0..3 {
            came_up |= pair.hear(Vec::new());
        }
        assert!(came_up, "the handshake is over");
        pair
    }

    /// The server takes in what was sealed, and the client what it says to that. Whether the handshake is over with that.
    fn hear(&mut self, sealed: Vec<u8>) -> bool {
        let (mut said, mut mine, mut out) = (Vec::new(), Vec::new(), sealed);
        if !out.is_empty() {
            assert!(self.session.receive(&out, &mut self.plain, &mut said), "the server goes on");
            out.clear();
        }
        let mut received = std::mem::take(&mut self.records.partial);
        received.append(&mut said);
        let taken = self.records.take(&mut received, &mut mine, &mut out).expect("it is TLS");
        self.records.partial = received;
        if !out.is_empty() {
            assert!(self.session.receive(&out, &mut self.plain, &mut said), "the server goes on");
            self.records.partial.append(&mut said);
        }
        taken.came_up.is_some()
    }
}

#[test]
fn keys_of_tls_1_2_say_when_they_are_worn_out_and_some_records_are_left_then() {
    let mut pair = Pair::new(Version::Tls12);
    for number in 1..=LAST_NEW + 1 {
        let mut sealed = Vec::new();
        let is_worn_out = pair.records.seal(b"x", &mut sealed).expect("it may be sealed");
        assert_eq!(is_worn_out, number == LAST_NEW, "record {number}");
        pair.hear(sealed);
    }
    assert_eq!(pair.plain.len() as u64, LAST_NEW + 1);
    assert!(pair.records.seal(b"x", &mut Vec::new()).is_err(), "rustls seals no more");
}

/// A long request is many records.
#[test]
fn each_record_of_a_long_request_counts() {
    let mut pair = Pair::new(Version::Tls12);
    let long = vec![b'x'; 28 * 16 * 1024 + 1];
    assert!(!pair.records.seal(&long, &mut Vec::new()).expect("it may be sealed"), "29 records");
    assert!(pair.records.seal(b"x", &mut Vec::new()).expect("it may be sealed"), "the 30th");
}

#[test]
fn tls_1_3_goes_over_to_the_next_keys() {
    let mut pair = Pair::new(Version::Tls13);
    for number in 1..=10 * LIMIT {
        let mut sealed = Vec::new();
        assert!(!pair.records.seal(b"x", &mut sealed).expect("there is no end"), "record {number}");
        pair.hear(sealed);
    }
    assert_eq!(pair.plain.len() as u64, 10 * LIMIT, "the server could read all of them");
}

/// A connection in memory to a server that says nothing by itself.
struct Memory {
    session: Session,
    said: VecDeque<Vec<u8>>,
    lent: Vec<u8>,
}

impl Io for Memory {
    type Error = Infallible;

    fn now(&self) -> Instant {
        Instant::ORIGIN
    }

    fn connect(&mut self, _: Conn, _: Option<u32>) -> Option<Event<'static>> {
        Some(Event::Connected)
    }

    fn send(&mut self, _: Conn, bytes: Outgoing<'_>) -> Sending {
        let mut said = Vec::new();
        // At the end it hears that this was all.
        let _ = self.session.receive(bytes.bytes(), &mut Vec::new(), &mut said);
        if !said.is_empty() {
            self.said.push_back(said);
        }
        Sending::Done
    }

    fn close(&mut self, _: Conn) {}

    fn wait(&mut self, _: Option<Instant>) -> Result<(), Infallible> {
        Ok(())
    }

    fn next(&mut self) -> Option<(Instant, Completion<'_>)> {
        self.lent = self.said.pop_front()?;
        let conn = Conn { slot: 0, generation: 1 };
        let completion = Completion { conn, event: Event::Received(&self.lent), arrived: None };
        Some((Instant::ORIGIN, completion))
    }
}

#[test]
fn the_engine_is_told_once_and_it_is_counted() {
    let conn = Conn { slot: 0, generation: 1 };
    let settings = Settings { insecure: true, ..Settings::default() };
    let mut client = Client::new(&settings).expect("the settings are good");
    client.config = config(Version::Tls12);
    let peers = client.peer("localhost").expect("it is a name");
    let memory = Memory { session: session(), said: VecDeque::new(), lent: Vec::new() };
    let mut io = TlsIo::new(memory, peers, 1);
    assert_eq!(io.connect(conn, None), Some(Event::Securing));
    let mut told = Vec::new();
    while let Some((_, completion)) = io.next() {
        told.push(completion.event == Event::Connected);
    }
    assert_eq!(told, [true], "its handshake is over, and nothing else is told");
    for number in 1..=LAST_NEW + 1 {
        assert_eq!(io.send(conn, Outgoing::Own(b"x")), Sending::Done);
        let is_told = io.next().map(|(_, completion)| completion.event == Event::WornOut);
        assert_eq!(is_told, (number == LAST_NEW).then_some(true), "record {number}");
    }
    io.close(conn);
    let (_, report) = io.into_parts();
    assert_eq!(report.broken.into_iter().collect::<Vec<_>>(), [(RECORD_LIMIT, 1)]);
}
