//! Loads through a proxy.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use crate::common::{NOBODY, ends_with, json, run, text};
use crate::loads::service_did_well;

/// What a proxy was asked first of each kind: `CONNECT`, `GET`.
type Asked = Arc<Mutex<Vec<String>>>;

/// A proxy that opens tunnels, and answers everything else itself; with a password, only to who has it.
struct Proxy {
    address: SocketAddr,
    asked: Asked,
}

impl Proxy {
    fn start(password: Option<&'static str>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Asked::default();
        let kept = Arc::clone(&asked);
        // Ends with the test process: it blocks in `accept` and holds nothing of value.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let kept = Arc::clone(&kept);
                std::thread::spawn(move || serve(stream, password, &kept));
            }
        });
        Self { address, asked }
    }

    fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All heads that it was sent.
    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn serve(mut stream: TcpStream, password: Option<&str>, asked: &Asked) {
    while let Some(head) = head_of(&mut stream) {
        asked.lock().unwrap_or_else(PoisonError::into_inner).push(head.clone());
        let may = password.is_none_or(|it| head.contains(&format!("Proxy-Authorization: Basic {it}\r\n")));
        if !may {
            let _ = stream.write_all(
                b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            );
            return;
        }
        if let Some(rest) = head.strip_prefix("CONNECT ") {
            let server = TcpStream::connect(rest.split(' ').next().unwrap()).unwrap();
            stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").unwrap();
            return splice(&stream, &server);
        }
        if stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello").is_err() {
            return;
        }
    }
}

/// One head, up to its empty line and no further.
pub fn head_of(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte).ok()? == 0 {
            return None;
        }
        head.push(byte[0]);
    }
    String::from_utf8(head).ok()
}

pub fn splice(client: &TcpStream, server: &TcpStream) {
    let copy = |from: &TcpStream, to: &TcpStream| {
        let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
        let _ = std::io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Write);
    };
    std::thread::scope(|scope| {
        scope.spawn(|| copy(server, client));
        copy(client, server);
    });
}

#[test]
fn a_proxy_is_asked_for_plain_http_by_the_whole_url() {
    let proxy = Proxy::start(Some("bWU6c2VjcmV0"));
    let with_user = ["--proxy", &proxy.url(), "--proxy-user", "me:secret"];
    let load = ["hit", "http://shop.test/items?all=1", "-n", "40", "-c", "2", "-q"];
    let output = run(&[&load[..], &with_user, &["--json"]].concat());
    let result = json(&output);
    assert!(service_did_well(&result), "{result:#}");
    assert_eq!(result["outcomes"]["answered"], 40, "{result:#}");
    let first = &proxy.asked()[0];
    assert!(first.starts_with("GET http://shop.test/items?all=1 HTTP/1.1\r\nHost: shop.test\r\n"), "{first}");
    let shown = text(&run(&[&load[..], &with_user].concat()));
    let words = format!("by way of   the proxy {}, whose times are part of these figures", proxy.url());
    assert!(shown.contains(&words) && !shown.contains("secret"), "{shown}");
    // Who is not let through gets answers, and no good ones.
    let said = ends_with(4, &[&load[..], &["--proxy", &proxy.url()]].concat());
    assert!(said.contains("407"), "{said}");
}

#[cfg(feature = "tls")]
#[test]
fn a_tunnel_leads_to_a_server_of_https_over_both_drivers() {
    use crate::common::Target;

    for (target, more) in
        [(Target::start(&["--tls"]), None), (Target::start(&["--tls", "--http2"]), Some("--http2"))]
    {
        for io in ["epoll", "auto"] {
            let proxy = Proxy::start(None);
            let url = proxy.url();
            let load =
                ["hit", &target.url, "-k", "-n", "60", "-c", "3", "-q", "--json", "--io", io, "-x", &url];
            let output = run(&[&load[..], more.as_slice()].concat());
            let result = json(&output);
            assert!(service_did_well(&result), "{result:#}");
            assert_eq!(result["outcomes"]["answered"], 60, "{result:#}");
            assert_eq!(result["tls"]["full_handshakes"], 3, "{result:#}");
            // One before the load, and one for each connection.
            let asked = proxy.asked();
            let server = target.url.trim_start_matches("https://").trim_end_matches('/');
            assert!(
                asked.iter().all(|it| it.starts_with(&format!("CONNECT {server} HTTP/1.1\r\n"))),
                "{asked:?}"
            );
            assert_eq!(asked.len(), 4, "{asked:?}");
        }
    }
}

/// A proxy that opens one tunnel, the one before the load, and then none.
#[cfg(feature = "tls")]
#[test]
fn a_tunnel_that_is_refused_has_an_outcome_of_its_own() {
    use crate::common::Target;

    let target = Target::start(&["--tls"]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().flatten().enumerate() {
            // Before the one that is tried it is seen whether the proxy is there.
            let password = (number > 1).then_some("nobody knows");
            std::thread::spawn(move || serve(stream, password, &Asked::default()));
        }
    });
    let output = run(&["hit", &target.url, "-k", "-n", "4", "-c", "2", "-q", "--json", "-x", &url]);
    let result = json(&output);
    assert_eq!(output.status.code(), Some(4), "{result:#}");
    assert_eq!(
        result["connect_failures"]["proxy_refused"], result["outcomes"]["connect_failed"],
        "{result:#}"
    );
    assert!(result["outcomes"]["connect_failed"].as_u64().unwrap() > 0, "{result:#}");

    let proxy = Proxy::start(Some("nobody knows"));
    let said = ends_with(3, &["hit", &target.url, "-k", "-n", "4", "-q", "-x", &proxy.url()]);
    assert!(said.contains("the proxy refused the tunnel: HTTP/1.1 407"), "{said}");
}

#[test]
fn what_can_be_no_proxy_is_told_in_one_error() {
    let said = ends_with(2, &["hit", "http://x/", "-q", "--proxy", "socks4://127.0.0.1:1"]);
    assert!(said.contains("only plain http, socks5 and socks5h are"), "{said}");
    let said = ends_with(2, &["hit", "http://x/", "-q", "--proxy", "127.0.0.1:1", "--unix-socket", "/x"]);
    assert!(said.contains("--proxy") && said.contains("--unix-socket"), "{said}");
    let said = ends_with(2, &["hit", "http://x/", "-q", "--proxy", "127.0.0.1:1", "--http2-prior-knowledge"]);
    assert!(said.contains("a proxy is asked for plain http in HTTP/1.1"), "{said}");
    let said = ends_with(2, &["hit", "http://x/", "-q", "--proxy-user", "me:secret"]);
    assert!(said.contains("--proxy"), "{said}");
    let said = ends_with(3, &["hit", "http://x/", "-q", "--proxy", NOBODY]);
    assert!(said.contains(&format!("cannot connect to {NOBODY}, the proxy")), "{said}");
    assert!(said.contains("check --proxy"), "{said}");
}
