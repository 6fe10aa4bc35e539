//! Loads through a proxy of SOCKS 5.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use crate::common::{NOBODY, Target, ends_with, json, run, text, wait_until};
use crate::loads::service_did_well;
use crate::proxy::{head_of, splice};

/// Whom a proxy was asked to connect to, in its words.
type Asked = Arc<Mutex<Vec<String>>>;

/// A proxy that connects to this machine whatever host it is told; with a password, only for `me` who has it. It says each byte
/// by itself.
struct Proxy {
    address: SocketAddr,
    asked: Asked,
}

impl Proxy {
    fn start(password: Option<&'static str>) -> Self {
        Self::of(move |_| password)
    }

    /// The same with a password of each connection, by its number.
    fn of(password: impl Fn(usize) -> Option<&'static str> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Asked::default();
        let kept = Arc::clone(&asked);
        // Ends with the test process: it blocks in `accept` and holds nothing of value.
        std::thread::spawn(move || {
            for (number, stream) in listener.incoming().flatten().enumerate() {
                let (kept, password) = (Arc::clone(&kept), password(number));
                std::thread::spawn(move || serve(stream, password, &kept));
            }
        });
        Self { address, asked }
    }

    fn url(&self, scheme: &str) -> String {
        format!("{scheme}://{}", self.address)
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// One connection, as far as its client goes: one that only tries whether somebody is there says nothing.
fn serve(mut client: TcpStream, password: Option<&str>, asked: &Asked) -> Option<()> {
    client.set_nodelay(true).ok()?;
    let [5, ways] = take(&mut client)? else { panic!("no greeting") };
    let ways = take_some(&mut client, ways)?;
    let way = if password.is_some() { 2 } else { 0 };
    if !ways.contains(&way) {
        return say(&mut client, &[5, 0xff]);
    }
    say(&mut client, &[5, way])?;
    if let Some(password) = password {
        let [1, length] = take(&mut client)? else { panic!("no login") };
        let name = take_some(&mut client, length)?;
        let [length] = take(&mut client)?;
        let is_known =
            (name, take_some(&mut client, length)?) == (b"me".to_vec(), password.as_bytes().to_vec());
        say(&mut client, &[1, u8::from(!is_known)])?;
        if !is_known {
            return None;
        }
    }
    let [5, 1, 0, kind] = take(&mut client)? else { panic!("no request") };
    let length = match kind {
        1 => 4,
        3 => take::<1>(&mut client)?[0],
        _ => 16,
    };
    let host = take_some(&mut client, length)?;
    let host = if kind == 3 { String::from_utf8(host).unwrap() } else { format!("{host:?}") };
    let port = u16::from_be_bytes(take(&mut client)?);
    asked.lock().unwrap_or_else(PoisonError::into_inner).push(format!("{host}:{port}"));
    let Ok(server) = TcpStream::connect(("127.0.0.1", port)) else {
        return say(&mut client, &[5, 5, 0, 1, 0, 0, 0, 0, 0, 0]);
    };
    // By a name, as it may.
    say(&mut client, b"\x05\x00\x00\x03\x04test\x00\x50")?;
    splice(&client, &server);
    Some(())
}

fn take<const BYTES: usize>(stream: &mut TcpStream) -> Option<[u8; BYTES]> {
    let mut bytes = [0; BYTES];
    stream.read_exact(&mut bytes).ok()?;
    Some(bytes)
}

fn take_some(stream: &mut TcpStream, length: u8) -> Option<Vec<u8>> {
    let mut bytes = vec![0; usize::from(length)];
    stream.read_exact(&mut bytes).ok()?;
    Some(bytes)
}

fn say(stream: &mut TcpStream, bytes: &[u8]) -> Option<()> {
    bytes.iter().try_for_each(|byte| stream.write_all(&[*byte])).ok()
}

/// The port of a target on this machine.
fn port_of(target: &Target) -> &str {
    target.url.trim_end_matches('/').rsplit(':').next().unwrap()
}

#[test]
fn plain_http_goes_through_a_tunnel_of_socks_over_both_drivers() {
    let target = Target::start(&["--http2"]);
    for io in ["epoll", "auto"] {
        let versions: [&[&str]; 2] = [&[], &["--http2-prior-knowledge", "--streams", "4"]];
        for more in versions {
            let proxy = Proxy::start(Some("secret"));
            let (port, by) = (port_of(&target), proxy.url("socks5h"));
            let url = format!("http://shop.test:{port}/");
            let load = ["hit", &url, "-n", "60", "-c", "3", "-q", "--io", io, "-x", &by];
            let load = [&load[..], &["--proxy-user", "me:secret"], more].concat();
            let result = json(&run(&[&load[..], &["--json"]].concat()));
            assert!(service_did_well(&result), "{result:#}");
            assert_eq!(result["outcomes"]["answered"], 60, "{result:#}");
            assert!(result["tls"].is_null(), "nothing is secured: {result:#}");
            // One before the load, and one for each connection.
            assert_eq!(proxy.asked(), vec![format!("shop.test:{port}"); 4]);
            let shown = text(&run(&load));
            let words = format!("the proxy {by}, whose times are part of these figures");
            assert!(shown.contains(&words) && !shown.contains("secret"), "{shown}");
        }
    }
}

#[test]
fn https_goes_through_a_tunnel_of_socks_by_an_address() {
    let target = Target::start(&["--tls", "--http2"]);
    let url = format!("https://localhost:{}/", port_of(&target));
    let versions: [&[&str]; 2] = [&[], &["--http2"]];
    for more in versions {
        let proxy = Proxy::start(None);
        let by = proxy.url("socks5");
        let load = ["hit", &url, "-k", "-n", "60", "-c", "3", "-q", "--json", "-x", &by];
        let result = json(&run(&[&load[..], more].concat()));
        assert!(service_did_well(&result), "{result:#}");
        assert_eq!(result["outcomes"]["answered"], 60, "{result:#}");
        assert_eq!(result["tls"]["full_handshakes"], 3, "{result:#}");
        // The name was looked up here.
        assert_eq!(proxy.asked(), vec![format!("[127, 0, 0, 1]:{}", port_of(&target)); 4]);
    }
}

/// A server whose answers end with their connection: the end comes through the tunnel as one, and is no loss.
#[test]
fn the_end_of_a_connection_comes_through_the_tunnel() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                if head_of(&mut stream).is_some() {
                    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nhello");
                }
            });
        }
    });
    for io in ["epoll", "auto"] {
        let proxy = Proxy::start(None);
        let by = proxy.url("socks5");
        let load = ["hit", &url, "-n", "20", "-c", "2", "-q", "--json", "--io", io, "-x", &by];
        let result = json(&run(&[&load[..], &["--expect-body", "hello"]].concat()));
        assert_eq!(result["answered_as_expected"], 20, "{result:#}");
    }
}

#[test]
fn what_keeps_socks_from_opening_a_tunnel_is_told_before_the_load() {
    let target = Target::start(&[]);
    let load = ["hit", &target.url, "-n", "4", "-q", "-x"];
    let with_password = Proxy::start(Some("nobody knows")).url("socks5h");
    let said = ends_with(3, &[&load[..], &[&with_password]].concat());
    assert!(said.contains("it wants to know who asks (--proxy-user)"), "{said}");
    let said = ends_with(3, &[&load[..], &[&with_password, "--proxy-user", "me:secret"]].concat());
    assert!(said.contains("it does not take this user and password"), "{said}");
    assert!(!said.contains("secret"), "{said}");
    // A proxy of something else.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let other = format!("socks5://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            // What is left unread would reset the connection.
            let _ = stream.read(&mut [0; 16]);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    let said = ends_with(3, &[&load[..], &[&other]].concat());
    assert!(said.contains("the proxy answered with something else than SOCKS 5"), "{said}");

    // One that says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let other = format!("socks5://{}", silent.local_addr().unwrap());
    let said = ends_with(3, &[&load[..], &[&other]].concat());
    assert!(said.contains("the proxy gave no answer within 5 s"), "{said}");

    let by = Proxy::start(None).url("socks5");
    let said = ends_with(3, &["hit", &format!("http://{NOBODY}/"), "-n", "4", "-q", "-x", &by]);
    assert!(said.contains("the server refused the connection (SOCKS reply 5)"), "{said}");
    let long = "x".repeat(256);
    let said = ends_with(2, &[&load[..], &[&by, "--proxy-user", &long]].concat());
    assert!(said.contains("no room for more than 255 bytes") && !said.contains(&long), "{said}");
}

#[test]
fn a_tunnel_that_socks_refuses_has_an_outcome_of_its_own() {
    let target = Target::start(&[]);
    // Before the one that is tried it is seen whether the proxy is there.
    let proxy = Proxy::of(|number| (number > 1).then_some("nobody knows"));
    let output = run(&["hit", &target.url, "-n", "4", "-c", "2", "-q", "--json", "-x", &proxy.url("socks5")]);
    let result = json(&output);
    assert_eq!(output.status.code(), Some(4), "{result:#}");
    assert_eq!(
        result["connect_failures"]["proxy_refused"], result["outcomes"]["connect_failed"],
        "{result:#}"
    );
    assert!(result["outcomes"]["connect_failed"].as_u64().unwrap() > 0, "{result:#}");
}

/// Ends when dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn microsocks_lets_through_who_has_its_password() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let mut command = Command::new("microsocks");
    command.args(["-i", "127.0.0.1", "-p", &port, "-u", "me", "-P", "secret"]);
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let _proxy = Running(child.expect("it is installed: `make setup` does that"));
    let address = format!("127.0.0.1:{port}");
    wait_until("it listens", || TcpStream::connect(&address).is_ok());

    let (plain, secured) = (Target::start(&[]), Target::start(&["--tls", "--http2"]));
    let loads: [(&str, &[&str]); 3] =
        [(&plain.url, &[]), (&secured.url, &["-k"]), (&secured.url, &["-k", "--http2"])];
    for (url, more) in loads {
        for (io, scheme) in [("epoll", "socks5"), ("auto", "socks5h")] {
            let by = format!("{scheme}://me:secret@{address}");
            let load = ["hit", url, "-n", "500", "-c", "5", "-q", "--json", "--io", io, "-x", &by];
            let result = json(&run(&[&load[..], more].concat()));
            assert!(service_did_well(&result), "{result:#}");
            assert_eq!(result["outcomes"]["answered"], 500, "{result:#}");
        }
    }
    let said = ends_with(3, &["hit", &plain.url, "-q", "-x", &format!("socks5://{address}")]);
    assert!(said.contains("it wants to know who asks"), "{said}");
    let wrong = format!("socks5://me:wrong@{address}");
    let said = ends_with(3, &["hit", &plain.url, "-q", "-x", &wrong]);
    assert!(said.contains("it does not take this user and password"), "{said}");
}
