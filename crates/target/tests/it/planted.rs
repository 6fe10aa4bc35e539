//! The planted limits: each has the effect that a diagnosis is judged by.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use target::{Burn, Config, Leak, LogWrites, Model, PathRule, Planted, Server, WarmUp, start};
use units::Bytes;

use crate::common::{Client, each_model, time_load};

const MS: units::Duration = units::Duration::from_millis(1);

fn planted(planted: Planted) -> Config {
    Config { planted, ..Config::default() }
}

/// How long one request takes.
fn time_get(client: &mut Client, path: &str) -> Duration {
    let begun = Instant::now();
    client.get(path);
    begun.elapsed()
}

fn took_within(server: Server, (connections, each): (usize, usize), least_ms: u128, most_ms: u128) {
    let took = time_load(server.addr(), "/hello", connections, each).as_millis();
    server.stop().unwrap();
    assert!((least_ms..most_ms).contains(&took), "{took} ms");
}

#[test]
fn a_serial_section_takes_its_time_for_each_request_whatever_the_model() {
    let config = planted(Planted { serial: Some(MS * 10), ..Planted::default() });
    each_model(&config, |server| took_within(server, (8, 3), 240, 1000));
}

#[test]
fn the_delay_comes_after_the_section_and_not_under_it() {
    let mut config = planted(Planted { serial: Some(MS * 5), ..Planted::default() });
    config.model = Model::ThreadPerConnection;
    config.set_path(PathRule::new("/hello", MS * 100));
    // One after the other they would take 840 ms.
    took_within(start(config).unwrap(), (8, 1), 105, 800);
}

#[test]
fn other_paths_cost_nothing() {
    let config = planted(Planted { serial: Some(MS * 5000), ..Planted::default() });
    each_model(&config, |server| {
        let mut client = Client::connect(server.addr());
        assert!(time_get(&mut client, "/nowhere") < Duration::from_secs(4));
        server.stop().unwrap();
    });
}

#[test]
fn a_burn_takes_cpu_time_and_under_the_lock_one_request_at_a_time() {
    let burn = |under_lock| Some(Burn { per_request: MS * 10, under_lock });
    each_model(&planted(Planted { burn: burn(true), ..Planted::default() }), |server| {
        took_within(server, (6, 3), 180, 2000);
    });
    each_model(&planted(Planted { burn: burn(false), ..Planted::default() }), |server| {
        took_within(server, (1, 5), 50, 1000);
    });
}

#[test]
fn a_blocked_loop_answers_one_request_at_a_time() {
    let config = planted(Planted { block_loop: Some(MS * 10), ..Planted::default() });
    took_within(start(config.clone()).unwrap(), (8, 3), 240, 1000);
    let error = start(Config { model: Model::Pool, ..config }).unwrap_err().to_string();
    assert!(error.contains("the model pool has no event loop"), "{error}");
}

#[test]
fn connections_are_accepted_at_the_pace_of_the_pause() {
    let config = planted(Planted { accept_pause: Some(MS * 30), ..Planted::default() });
    // The sixth is accepted after five pauses, whoever answers it.
    each_model(&config, |server| took_within(server, (6, 1), 150, 1500));
}

#[test]
fn each_request_is_in_the_log_before_its_answer() {
    let folder = tempfile::tempdir().unwrap();
    for sync in [false, true] {
        let file = folder.path().join("requests.log");
        let log = LogWrites { bytes_per_request: Bytes(100), file: file.clone(), sync };
        each_model(&planted(Planted { log: Some(log), ..Planted::default() }), |server| {
            let mut client = Client::connect(server.addr());
            for count in 1..=3 {
                client.get("/hello");
                assert_eq!(fs::metadata(&file).unwrap().len(), count * 100);
            }
            server.stop().unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap().lines().count(), 3);
        });
    }
    let nowhere = LogWrites { bytes_per_request: Bytes(1), file: "/nonexistent/log".into(), sync: false };
    let error = start(planted(Planted { log: Some(nowhere), ..Planted::default() })).unwrap_err().to_string();
    assert!(error.contains("/nonexistent/log") && error.contains("a writable place for the log"), "{error}");
}

#[test]
fn a_server_that_warms_up_gets_faster() {
    let warm_up = WarmUp { over: MS * 400, burn_at_first: MS * 40 };
    each_model(&planted(Planted { warm_up: Some(warm_up), ..Planted::default() }), |server| {
        let mut client = Client::connect(server.addr());
        let cold = time_get(&mut client, "/hello");
        thread::sleep(Duration::from_millis(400));
        let warm = (0..20).map(|_| time_get(&mut client, "/hello")).min().unwrap();
        assert!(cold >= Duration::from_millis(39) && warm < Duration::from_millis(20), "{cold:?} {warm:?}");
        server.stop().unwrap();
    });
}

#[test]
fn what_leaks_stays_in_memory() {
    let rss_pages = || -> u64 {
        let statm = fs::read_to_string("/proc/self/statm").unwrap();
        statm.split(' ').nth(1).unwrap().parse().unwrap()
    };
    let leak = Leak { bytes_per_request: Bytes(4 << 20), bytes_max: Bytes(128 << 20) };
    let server = start(planted(Planted { leak: Some(leak), ..Planted::default() })).unwrap();
    let mut client = Client::connect(server.addr());
    let before = rss_pages();
    (0..64).for_each(|_| assert_eq!(client.get("/hello").status, 200));
    // 128 MiB of pages of at most 64 KiB; other tests of this process may give some of theirs back meanwhile.
    let grown = rss_pages().saturating_sub(before);
    assert!(grown > 96 << 4, "{grown} pages");
    server.stop().unwrap();
}

#[test]
fn fast_failures_wait_for_nothing() {
    let serial = Some(MS * 5000);
    let mut config = planted(Planted { fail_fast: true, serial, ..Planted::default() });
    config.error_share = 1.0;
    config.set_path(PathRule::new("/sleep", MS * 5000));
    each_model(&config, |server| {
        let mut client = Client::connect(server.addr());
        let begun = Instant::now();
        assert_eq!(client.get("/sleep").status, 500);
        assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
        server.stop().unwrap();
    });
}

#[test]
fn a_split_answer_waits_for_the_clients_acknowledgement() {
    each_model(&planted(Planted { split_answer: true, ..Planted::default() }), |server| {
        let mut client = Client::connect(server.addr());
        // The kernel acknowledges the first packets of a connection at once.
        let times: Vec<Duration> = (0..20).map(|_| time_get(&mut client, "/hello")).collect();
        let slow = times.iter().filter(|took| **took >= Duration::from_millis(30)).count();
        assert!(slow >= 3, "{times:?}");
        assert_eq!(client.get("/hello").body, b"hello");
        server.stop().unwrap();
    });
}
