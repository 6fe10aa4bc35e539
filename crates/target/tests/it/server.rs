//! The server over real sockets: what it promises is what a client sees, and what its truth file says.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::num::{NonZeroU64, NonZeroUsize};
use std::thread;
use std::time::{Duration, Instant};

use target::{Config, Model, PathRule, Stall, start};
use units::Bytes;

use crate::common::{Client, each_model, time_load};

fn has_thread(name: &str) -> bool {
    fs::read_dir("/proc/self/task")
        .unwrap()
        .filter_map(|task| fs::read_to_string(task.ok()?.path().join("comm")).ok())
        .any(|comm| comm.trim_end() == name)
}

/// Whether within ten seconds a thread of this name is there, or is not. A thread takes its name after it has
/// begun, and its entry in /proc goes after it was joined: neither is there at once.
fn soon_has_thread(name: &str, is: bool) -> bool {
    let begun = Instant::now();
    while has_thread(name) != is {
        if begun.elapsed() > Duration::from_secs(10) {
            return false;
        }
        thread::sleep(Duration::from_millis(1));
    }
    true
}

#[test]
fn every_model_answers_and_keeps_the_connection() {
    each_model(&Config::default(), |server| {
        let mut client = Client::connect(server.addr());
        for _ in 0..3 {
            let answer = client.get("/hello?x=1");
            assert_eq!((answer.status, answer.body.as_slice()), (200, b"hello".as_slice()));
            assert_eq!(
                answer.head,
                "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\n"
            );
        }
        assert_eq!(client.get("/nowhere").status, 404);
        client.send("POST / HTTP/1.1\r\nContent-Length: 20000\r\n\r\n");
        client.send(&"x".repeat(20_000));
        assert_eq!(client.read().status, 200);
        let summary = server.stop().unwrap();
        assert_eq!((summary.requests, summary.connections, summary.unanswered), (5, 1, 0));
        assert_eq!(summary.answers, BTreeMap::from([(200, 4), (404, 1)]));
    });
}

#[test]
fn pipelined_requests_and_heads_in_pieces_are_answered_in_order() {
    each_model(&Config::default(), |server| {
        let mut client = Client::connect(server.addr());
        client.send("GET /nowhere HTTP/1.1\r\n\r\nGET /hello HTTP/1.1\r\n\r\nGET /hel");
        assert_eq!((client.read().status, client.read().status), (404, 200));
        client.send("lo HTTP/1.1\r\nConnection: close\r\n\r\n");
        assert_eq!(client.read().status, 200);
        assert!(client.is_closed());
        server.stop().unwrap();
    });
}

#[test]
fn what_is_not_http_is_refused_and_closed() {
    each_model(&Config::default(), |server| {
        let mut client = Client::connect(server.addr());
        client.send("\x16\x03 hello?\r\n\r\nmore");
        let answer = client.read();
        assert_eq!(answer.status, 400);
        assert!(answer.head.contains("Connection: close"));
        assert!(client.is_closed());
        assert_eq!(server.stop().unwrap().answers, BTreeMap::from([(400, 1)]));
    });
}

#[test]
fn delays_are_kept_and_not_overdone() {
    let mut config = Config::default();
    config.set_path(PathRule::new("/sleep", units::Duration::from_millis(40)));
    each_model(&config, |server| {
        let mut client = Client::connect(server.addr());
        let took = (0..3).map(|_| {
            let begun = Instant::now();
            assert_eq!(client.get("/sleep").status, 200);
            begun.elapsed()
        });
        // A busy machine may hold one of them up, and hardly all three.
        let shortest = took.min().unwrap();
        assert!(
            shortest >= Duration::from_millis(40) && shortest < Duration::from_millis(400),
            "{shortest:?}"
        );
        server.stop().unwrap();
    });
}

#[test]
fn delays_that_vary_follow_from_the_seed_whatever_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let truth = folder.path().join("truth.csv");
    let mut config = Config { seed: units::Seed(7), truth: Some(truth.clone()), ..Config::default() };
    config.set_path("/two=bimodal:1ms,60ms,0.5".parse().unwrap());
    let patterns = std::cell::RefCell::new(Vec::new());
    each_model(&config, |server| {
        let mut client = Client::connect(server.addr());
        (0..16).for_each(|_| assert_eq!(client.get("/two").status, 200));
        server.stop().unwrap();
        let text = fs::read_to_string(&truth).unwrap();
        let times = text.lines().skip(1).map(|line| {
            let mut times = line.split(',').map(|field| field.parse::<u64>().unwrap());
            (times.next().unwrap(), times.next().unwrap())
        });
        let mut times: Vec<(u64, u64)> = times.collect();
        // Each worker of a pool writes its lines by itself.
        times.sort_unstable();
        let slow = times.iter().map(|(arrived, answered)| answered - arrived >= 60_000_000);
        patterns.borrow_mut().push(slow.collect::<Vec<bool>>());
    });
    let patterns = patterns.into_inner();
    assert!(patterns.iter().all(|pattern| *pattern == patterns[0]), "{patterns:?}");
    assert!((1..16).contains(&patterns[0].iter().filter(|slow| **slow).count()), "{patterns:?}");
}

#[test]
fn each_model_has_its_ceiling() {
    let mut config = Config { pool_threads: NonZeroUsize::new(4).unwrap(), ..Config::default() };
    config.set_path(PathRule::new("/sleep", units::Duration::from_millis(20)));
    // 8 connections, 4 requests each, 20 ms: what is left of the concurrency is what the model allows.
    for (model, least_ms, most_ms) in [
        (Model::Single, 640, 1500),
        (Model::Pool, 160, 480),
        (Model::ThreadPerConnection, 80, 400),
        (Model::EventLoop, 80, 400),
    ] {
        let server = start(Config { model, ..config.clone() }).unwrap();
        let took = time_load(server.addr(), "/sleep", 8, 4).as_millis();
        server.stop().unwrap();
        assert!((least_ms..most_ms).contains(&took), "{model}: {took} ms");
    }
}

#[test]
fn every_kth_answer_closes_its_connection() {
    let config = Config { close_every: NonZeroU64::new(3), ..Config::default() };
    each_model(&config, |server| {
        for _ in 0..2 {
            let mut client = Client::connect(server.addr());
            for n in 1..=3 {
                let closes = client.get("/hello").head.contains("Connection: close");
                assert_eq!(closes, n == 3);
            }
            assert!(client.is_closed());
        }
        assert_eq!(server.stop().unwrap().connections, 2);
    });
}

/// Over HTTP/2: what its client gave up has no answer, and counts as none.
#[test]
fn a_request_that_was_given_up_does_not_end_its_connection() {
    const DATA: u8 = 0;
    const HEADERS: u8 = 1;
    const RESET_STREAM: u8 = 3;
    const SETTINGS: u8 = 4;
    const PING: u8 = 6;
    const GO_AWAY: u8 = 7;
    let paths = vec![
        PathRule::new("/", units::Duration::ZERO),
        PathRule::new("/slow", units::Duration::from_millis(100)),
    ];
    let close_every = NonZeroU64::new(5);
    let server = start(Config { http2: true, close_every, paths, ..Config::default() }).unwrap();
    let mut client = Client::connect(server.addr());
    let frame = |kind: u8, flags: u8, stream: u8, payload: &[u8]| {
        [&[0, 0, payload.len() as u8, kind, flags, 0, 0, 0, stream][..], payload].concat()
    };
    let send = |client: &mut Client, frames: &[Vec<u8>]| {
        client.stream.get_mut().write_all(&frames.concat()).unwrap();
    };
    let read_to = |client: &mut Client, kind: u8, stream: u8| loop {
        let mut head = [0_u8; 9];
        client.stream.read_exact(&mut head).unwrap();
        let mut payload = vec![0; usize::from(head[1]) << 8 | usize::from(head[2])];
        client.stream.read_exact(&mut payload).unwrap();
        assert_ne!(head[3], GO_AWAY);
        if (head[3], head[8]) == (kind, stream) {
            break;
        }
    };
    client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    // GET, http, the path and an authority.
    let slow = frame(HEADERS, 5, 1, b"\x82\x86\x04\x05/slow\x01\x01a");
    send(&mut client, &[frame(SETTINGS, 0, 0, b""), slow, frame(PING, 0, 0, &[0; 8])]);
    // It has read what was before that.
    read_to(&mut client, PING, 0);
    send(&mut client, &[frame(RESET_STREAM, 0, 1, &[0, 0, 0, 8])]);
    thread::sleep(Duration::from_millis(150));
    send(&mut client, &[frame(HEADERS, 5, 3, b"\x82\x86\x84\x01\x01a")]);
    read_to(&mut client, DATA, 3);
    let summary = server.stop().unwrap();
    assert_eq!((summary.requests, summary.connections), (2, 1));
}

#[test]
fn the_share_of_errors_repeats() {
    let config = Config { error_share: 0.25, seed: units::Seed(7), ..Config::default() };
    let mut counts = Vec::new();
    for (_, model) in Model::ALL {
        let server = start(Config { model, ..config.clone() }).unwrap();
        let mut client = Client::connect(server.addr());
        let errors = (0..400).filter(|_| client.get("/hello").status == 500).count();
        assert_eq!(server.stop().unwrap().answers[&500], errors as u64);
        counts.push(errors);
    }
    assert!((70..130).contains(&counts[0]), "{counts:?}");
    assert!(counts.iter().all(|count| *count == counts[0]), "{counts:?}");
}

#[test]
fn a_silent_server_reads_and_says_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let truth = folder.path().join("truth.csv");
    let config = Config { never_answer: true, truth: Some(truth.clone()), ..Config::default() };
    each_model(&config, |server| {
        let mut client = Client::connect(server.addr());
        client.send("GET /hello HTTP/1.1\r\n\r\nGET /sleep HTTP/1.1\r\n\r\n");
        client.stream.get_ref().set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        let error = client.stream.fill_buf().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
        let summary = server.stop().unwrap();
        assert_eq!((summary.requests, summary.unanswered), (2, 2));
        let text = fs::read_to_string(&truth).unwrap();
        let lines: Vec<_> = text.lines().skip(1).collect();
        assert_eq!(lines.len(), 2);
        assert!(lines.iter().all(|line| line.ends_with(",,1,")), "{text}");
    });
}

#[test]
fn large_bodies_arrive_whole() {
    let config = Config { body_bytes: Some(Bytes(3 << 20)), ..Config::default() };
    each_model(&config, |server| {
        let mut client = Client::connect(server.addr());
        for _ in 0..2 {
            let answer = client.get("/");
            assert_eq!(answer.body.len(), 3 << 20);
            assert!(answer.body.starts_with(b"hellohello"));
        }
        server.stop().unwrap();
    });
}

#[test]
fn nothing_is_read_or_answered_within_a_stall() {
    let folder = tempfile::tempdir().unwrap();
    let truth = folder.path().join("truth.csv");
    let (for_, every) = (units::Duration::from_millis(100), units::Duration::from_millis(250));
    let config =
        Config { stall: Some(Stall { for_, every }), truth: Some(truth.clone()), ..Config::default() };
    each_model(&config, |server| {
        let addr = server.addr();
        let mut slowest = Duration::ZERO;
        let mut client = Client::connect(addr);
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(600) {
            let sent = Instant::now();
            assert_eq!(client.get("/hello").status, 200);
            slowest = slowest.max(sent.elapsed());
            thread::sleep(Duration::from_millis(1));
        }
        assert!(slowest >= Duration::from_millis(80), "{slowest:?}");
        let summary = server.stop().unwrap();
        assert!(summary.stalls.len() >= 2);
        for line in fs::read_to_string(&truth).unwrap().lines().skip(1) {
            let times: Vec<u64> = line.split(',').take(2).map(|field| field.parse().unwrap()).collect();
            for (begin, end) in &summary.stalls {
                // The check before a read or write and its own time stamp lie a little apart.
                let within = begin.as_nanos() + 20_000_000..end.as_nanos();
                assert!(!times.iter().any(|time| within.contains(time)), "{line} {begin:?} {end:?}");
            }
        }
    });
}

#[test]
fn the_truth_has_a_line_for_each_request() {
    let folder = tempfile::tempdir().unwrap();
    let truth = folder.path().join("truth.csv");
    let mut config = Config { truth: Some(truth.clone()), ..Config::default() };
    config.set_path(PathRule::new("/sleep", units::Duration::from_secs(30)));
    each_model(&config, |server| {
        let addr = server.addr();
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(move || {
                    let mut client = Client::connect(addr);
                    (0..500).for_each(|_| assert_eq!(client.get("/hello").status, 200));
                });
            }
        });
        // One more that is read meanwhile, and that the stop cuts off in its delay.
        let mut late = Client::connect(addr);
        late.send("GET /sleep HTTP/1.1\r\n\r\n");
        thread::sleep(Duration::from_millis(300));
        let summary = server.stop().unwrap();
        assert_eq!((summary.requests, summary.answers[&200]), (2001, 2000));
        let text = fs::read_to_string(&truth).unwrap();
        assert!(text.starts_with("arrived_ns,answered_ns,connection,status\n"));
        assert_eq!(text.lines().count(), 2002);
        let answered: Vec<(u64, u64)> = text
            .lines()
            .skip(1)
            .filter_map(|line| {
                let mut fields = line.split(',');
                Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
            })
            .collect();
        assert_eq!(answered.len(), 2000);
        assert!(answered.iter().all(|(arrived, answered)| {
            arrived <= answered && *arrived >= summary.started.as_nanos() && *answered > 0
        }));
        let json = fs::read_to_string(folder.path().join("truth.csv.summary.json")).unwrap();
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!((&json["requests"], &json["answers"]["200"]), (&2001.into(), &2000.into()));
    });
}

#[test]
fn stopping_joins_all_threads_and_frees_the_port() {
    // No other test of this process has as many connections or workers, so the names are this one's.
    for (model, last_thread) in [(Model::Pool, "pool-37"), (Model::ThreadPerConnection, "conn-20")] {
        let config = Config { model, pool_threads: NonZeroUsize::new(37).unwrap(), ..Config::default() };
        let server = start(config).unwrap();
        let addr = server.addr();
        let mut clients: Vec<Client> = (0..20).map(|_| Client::connect(addr)).collect();
        for client in &mut clients {
            assert_eq!(client.get("/hello").status, 200);
        }
        assert!(soon_has_thread(last_thread, true));
        let begun = Instant::now();
        server.stop().unwrap();
        assert!(begun.elapsed() < Duration::from_secs(5));
        assert!(soon_has_thread(last_thread, false));
        assert!(TcpStream::connect(addr).is_err());
    }
}

#[test]
fn errors_say_what_to_do() {
    let server = start(Config::default()).unwrap();
    let taken = Config { listen: server.addr(), ..Config::default() };
    let error = start(taken).unwrap_err().to_string();
    assert!(error.contains(&server.addr().to_string()) && error.contains("choose a free port"), "{error}");
    let nowhere = Config { truth: Some("/nonexistent/truth.csv".into()), ..Config::default() };
    let error = start(nowhere).unwrap_err().to_string();
    assert!(error.contains("/nonexistent/truth.csv"), "{error}");
}
