use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream as StdStream;
use std::time::Instant;

use crate::live::Live;

use super::*;

/// Longer than anything here takes on a machine that does other things as well.
const PATIENCE: Duration = Duration::from_secs(30);

fn live() -> (Arc<Live>, Server) {
    let live = Live::new(Arc::new(|dir| Ok(format!("<p>report of {}</p>", dir.display()))));
    let server = Server::start("127.0.0.1:0".parse().unwrap(), vec![Arc::clone(&live) as Arc<dyn Site>]);
    (live, server.unwrap())
}

fn connect(server: &Server) -> StdStream {
    let stream = StdStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// The whole answer to a request with these lines.
fn ask(server: &Server, head: &str) -> String {
    let mut stream = connect(server);
    stream.write_all(format!("{head}\r\nConnection: close\r\n\r\n").as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

fn get(server: &Server, path: &str) -> String {
    ask(server, &format!("GET {path} HTTP/1.1\r\nHost: {}", server.address()))
}

/// A client of the events that has read the head of the answer.
fn listen(server: &Server) -> BufReader<StdStream> {
    let mut stream = connect(server);
    stream.write_all(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    while line != "\r\n" {
        line.clear();
        assert_ne!(reader.read_line(&mut line).unwrap(), 0, "the head comes");
    }
    reader
}

/// The next event's JSON.
fn event(reader: &mut BufReader<StdStream>) -> String {
    let mut line = String::new();
    loop {
        line.clear();
        assert_ne!(reader.read_line(&mut line).unwrap(), 0, "an event comes");
        if let Some(json) = line.strip_prefix("data: ") {
            return json.trim_end().to_owned();
        }
    }
}

fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn the_page_its_files_and_the_state_are_served_and_may_load_nothing_from_elsewhere() {
    let (live, server) = live();
    assert!(get(&server, "/state.json").ends_with("null"));
    live.publish("{\"title\":\"<script>\"}".into());
    let state = get(&server, "/state.json");
    assert!(state.ends_with("{\"title\":\"<script>\"}"), "{state}");
    for (path, kind) in [
        ("/", "text/html"),
        ("/style.css", "text/css"),
        ("/live.js", "text/javascript"),
        ("/state.json", "application/json"),
    ] {
        let answer = get(&server, path);
        assert!(answer.starts_with("HTTP/1.1 200 "), "{path}: {answer}");
        assert!(answer.contains(&format!("content-type: {kind}")), "{path}: {answer}");
        assert!(answer.contains("content-security-policy: default-src 'none'; script-src 'self';"), "{path}");
        assert!(answer.contains("x-content-type-options: nosniff"), "{path}");
    }
    assert!(get(&server, "/nothing").starts_with("HTTP/1.1 404 "));
    assert!(get(&server, "/../Cargo.toml").starts_with("HTTP/1.1 404 "));
}

#[test]
fn a_report_is_there_once_the_run_is_over() {
    let (live, server) = live();
    assert!(get(&server, "/report").starts_with("HTTP/1.1 404 "));
    live.has_report("runs/one".into());
    let report = get(&server, "/report");
    assert!(report.ends_with("<p>report of runs/one</p>"), "{report}");
    assert!(
        report.contains("content-security-policy: default-src 'none'; script-src 'unsafe-inline'"),
        "{report}"
    );
}

#[test]
fn names_that_somebody_else_resolves_and_what_would_change_something_are_refused() {
    let (_live, server) = live();
    for head in [
        "GET /state.json HTTP/1.1\r\nHost: evil.example",
        "GET /state.json HTTP/1.1\r\nHost: evil.example:80",
        "GET /state.json HTTP/1.0",
        "GET http://evil.example/state.json HTTP/1.1\r\nHost: localhost",
        "GET /events HTTP/1.1\r\nHost: evil.example",
    ] {
        assert!(
            ask(&server, head).starts_with("HTTP/1.1 403 ")
                || ask(&server, head).starts_with("HTTP/1.0 403 "),
            "{head}"
        );
    }
    let posted = ask(&server, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0");
    assert!(posted.starts_with("HTTP/1.1 405 ") && posted.contains("allow: GET, HEAD"), "{posted}");
    assert!(ask(&server, "nonsense").starts_with("HTTP/1.1 400 "));
}

#[test]
fn events_bring_what_is_there_and_then_each_change() {
    let (live, server) = live();
    live.publish("1".into());
    let mut reader = listen(&server);
    assert_eq!(event(&mut reader), "1");
    assert_eq!(live.watchers(), 1);
    for change in ["2", "3"] {
        live.publish(change.into());
        assert_eq!(event(&mut reader), change);
    }
    drop(reader);
    live.publish("4".into());
    wait_until("it is seen to have left", || {
        live.publish("5".into());
        live.watchers() == 0
    });
}

#[test]
#[ignore = "slow: waits the ten seconds that a client is given"]
fn a_client_that_takes_nothing_holds_nobody_up_and_is_dropped() {
    let (live, server) = live();
    let stuck = listen(&server);
    let mut reader = listen(&server);
    let state = |number: usize| format!("\"{}{number}\"", "x".repeat(200_000));
    let begun = Instant::now();
    for number in 0..50 {
        live.publish(state(number));
    }
    assert!(begun.elapsed() < PATIENCE, "publishing waits for nobody");
    wait_until("the other one has the latest", || event(&mut reader) == state(49));
    wait_until("the one that takes nothing is dropped", || {
        live.publish(state(50));
        event(&mut reader);
        live.watchers() == 1
    });
    drop(stuck);
}

#[test]
fn no_more_clients_than_the_bound_are_held() {
    let (_live, server) = live();
    let clients: Vec<StdStream> = (0..CONNECTIONS_MAX).map(|_| connect(&server)).collect();
    let mut beyond = connect(&server);
    let mut byte = [0];
    // Closed, or reset where it had said something.
    assert!(matches!(beyond.read(&mut byte), Ok(0) | Err(_)));
    drop(clients);
    wait_until("there is room again", || {
        let mut stream = connect(&server);
        let _ = stream.write_all(b"GET /state.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer.starts_with("HTTP/1.1 200 ")
    });
}

#[test]
fn an_address_that_is_taken_is_an_error_that_says_what_to_do() {
    let (_live, server) = live();
    let error = Server::start(server.address(), Vec::new()).unwrap_err().to_string();
    assert!(error.contains(&server.address().to_string()) && error.contains("port 0"), "{error}");
}

/// A page that can't be made, for whatever reason, is that page's trouble alone.
#[test]
fn a_page_that_panics_is_one_answer_and_the_server_goes_on() {
    struct Panics;
    impl Site for Panics {
        fn page(&self, path: &str, _: &str) -> Option<Page> {
            assert_ne!(path, "/wild", "as a hostile record might have it");
            Some(Page::new("text/plain", "fine"))
        }
    }
    let server = Server::start("127.0.0.1:0".parse().unwrap(), vec![Arc::new(Panics)]).unwrap();
    for _ in 0..2 * MAKING_MAX {
        assert!(get(&server, "/wild").starts_with("HTTP/1.1 500 "));
    }
    assert!(get(&server, "/").ends_with("fine"));
}
