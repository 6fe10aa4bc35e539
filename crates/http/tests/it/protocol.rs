//! HTTP/1.1 as a protocol: what a listener is told, wherever the input is cut, and what is nobody's.

use http::{AnswerHead, Bodies, Fed, Http1, Limits, Listener, Malformed, Protocol, RequestKind, Response};

const INTERIM: &[u8] = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n";
const FINAL: &[u8] = b"HTTP/1.1 404 Not Here\r\nX-Twice: 1\r\nContent-Length: 4\r\nX-Twice: \xff\r\n\r\ngone";

/// Names and values.
type Fields = Vec<(String, Vec<u8>)>;

/// Takes note of all that it is told.
#[derive(Debug, Default, PartialEq, Eq)]
struct Told {
    heads: Vec<(u16, String, Fields)>,
    body: Vec<u8>,
}

impl Listener for Told {
    const HEADS: bool = true;

    fn head(&mut self, place: u32, head: &AnswerHead<'_>) {
        assert_eq!((place, self.body.len()), (0, 0), "a head comes before its body");
        let fields = head.fields().map(|(name, value)| (name.to_owned(), value.to_vec())).collect();
        self.heads.push((head.status, head.reason.to_owned(), fields));
    }

    fn body(&mut self, place: u32, piece: &[u8]) {
        assert_eq!((place, self.heads.len()), (0, 1), "a body comes after its head");
        self.body.extend_from_slice(piece);
    }
}

/// A connection on which an answer is expected.
fn expecting() -> (Http1, <Http1 as Protocol>::Shared) {
    let shared = Http1::shared(Limits::default(), RequestKind::Ordinary, ());
    let mut http = Http1::new(&shared);
    http.expect(0, RequestKind::Ordinary);
    (http, shared)
}

/// What `pieces`, one after another, come to. Nothing is ever sent because of them.
fn feed(pieces: &[&[u8]], listener: &mut impl Listener) -> Result<Vec<(Response, bool)>, Malformed> {
    let (mut http, mut shared) = expecting();
    let mut ended = Vec::new();
    let mut out = Vec::new();
    for piece in pieces {
        let mut rest = *piece;
        while !rest.is_empty() {
            if let Fed::Ended { place: 0, response, surplus } =
                http.feed(&mut shared, &mut rest, listener, &mut out)?
            {
                ended.push((response, surplus));
            }
        }
    }
    assert!(out.is_empty());
    Ok(ended)
}

#[test]
fn a_head_is_told_once_and_an_interim_one_never_wherever_the_input_is_cut() {
    let wire = [INTERIM, FINAL].concat();
    let text = |name: &str, value: &[u8]| (name.to_owned(), value.to_vec());
    let fields = vec![text("X-Twice", b"1"), text("Content-Length", b"4"), text("X-Twice", b"\xff")];
    let expected = Told { heads: vec![(404, "Not Here".into(), fields)], body: b"gone".to_vec() };
    for at in 0..wire.len() {
        let mut told = Told::default();
        let ended = feed(&[&wire[..at], &wire[at..]], &mut told).expect("an answer");
        assert_eq!(told, expected, "cut at {at}");
        let [(response, surplus)] = ended[..] else { panic!("cut at {at}: {ended:?}") };
        assert_eq!((response.status, response.body_bytes, surplus), (404, 4, false), "cut at {at}");
    }
    let bytes: Vec<&[u8]> = wire.chunks(1).collect();
    let mut told = Told::default();
    assert!(feed(&bytes, &mut told).is_ok());
    assert_eq!(told, expected, "byte by byte");
}

#[test]
fn bytes_behind_an_answer_are_surplus_and_bytes_that_nobody_asked_for_a_fault() {
    let mut nobody = Bodies(|_, _: &[u8]| {});
    let ended = feed(&[&[FINAL, b"more"].concat()], &mut nobody).expect("an answer");
    assert!(matches!(ended[..], [(Response { status: 404, .. }, true)]), "{ended:?}");
    assert_eq!(feed(&[FINAL, b"more"], &mut nobody), Err(Malformed::Unsolicited));

    let (_, mut shared) = expecting();
    let fed = Http1::new(&shared).feed(&mut shared, &mut &b"x"[..], &mut nobody, &mut Vec::new());
    assert_eq!(fed, Err(Malformed::Unsolicited), "of a connection on which nothing was sent");
}

#[test]
fn more_than_is_to_come_can_be_skipped_and_is_surplus() {
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n";
    for (skipped, surplus) in [(100, false), (101, true)] {
        let (mut http, mut shared) = expecting();
        let mut nobody = Bodies(|_, _: &[u8]| {});
        let fed = http.feed(&mut shared, &mut &head[..], &mut nobody, &mut Vec::new());
        assert_eq!((fed, http.body_bytes_to_come()), (Ok(Fed::NeedMore), 100));
        let ended = http.skip(skipped).expect("they may be skipped");
        assert!(
            matches!(ended, Fed::Ended { response, surplus: is, .. } if response.body_bytes == 100 && is == surplus)
        );
        assert_eq!(http.skip(1), Err(Malformed::Unsolicited), "nothing is to come");
    }
}

#[test]
fn an_exchange_that_nobody_waits_for_leaves_its_connection_useless() {
    let (mut http, _) = expecting();
    let mut out = Vec::new();
    assert!(!http.cancel(0, &mut out) && out.is_empty());
    http.ask(0, &b"GET / HTTP/1.1\r\n\r\n"[..].into(), &mut out);
    assert_eq!(out, b"GET / HTTP/1.1\r\n\r\n", "a request is its bytes");
}

#[test]
fn a_request_as_somebody_has_written_it_is_the_last_where_it_says_so() {
    let mut http = Http1::new(&Http1::shared(Limits::default(), RequestKind::Ordinary, ()));
    for (request, is_last) in [
        (&b"GET / HTTP/1.1\r\nHost: x\r\nconnection: Close\r\n\r\n"[..], true),
        (&b"GET / HTTP/1.1\r\nHost: x\r\n\r\nConnection: close"[..], false),
    ] {
        let mut out = Vec::new();
        http.ask_as_written(request, &mut out);
        assert_eq!((&out[..], http.is_over()), (request, is_last));
    }
}
