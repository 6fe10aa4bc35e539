//! The null client against the target's own count: a yardstick that miscounts would flatter or slander everything.

use std::process::{Command, Output};

use target::{Config, start};
use tls::Acceptor;
use units::Bytes;

const CONNECTIONS: u64 = 50;

/// What `mode` says of a third of a second, and what the target counted.
fn counts(mode: &str, body: Option<Bytes>) -> Result<(u64, u64), Output> {
    counts_of(&[mode], Config { body_bytes: body, ..Config::default() })
}

fn counts_of(mode: &[&str], config: Config) -> Result<(u64, u64), Output> {
    let server = start(config).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_null-client"))
        .args(mode)
        .args(["--connect", &server.addr().to_string(), "-s", "0.3", "-c", &CONNECTIONS.to_string()])
        .output()
        .unwrap();
    let served = server.stop().unwrap().requests;
    if !output.status.success() {
        return Err(output);
    }
    let text = String::from_utf8(output.stdout).unwrap();
    let said = text.lines().find_map(|line| line.strip_prefix("requests ")?.parse().ok());
    Ok((said.unwrap(), served))
}

fn acceptor(protocol: &str) -> Acceptor {
    Acceptor::self_signed(&["127.0.0.1".to_owned()], &[protocol]).unwrap()
}

fn agree((said, served): (u64, u64)) {
    assert!(said > CONNECTIONS, "{said}");
    // One is asked for to learn its length; one a connection may be under way at the end.
    assert!(said < served && served <= said + CONNECTIONS + 1, "said {said}, served {served}");
}

#[test]
fn over_epoll_it_counts_what_the_target_counts() {
    agree(counts("epoll", None).unwrap());
    agree(counts("epoll", Some(Bytes(100_000))).unwrap());
}

#[test]
#[ignore = "slow: keeps the cores busy for a second"]
fn over_io_uring_it_counts_what_the_target_counts() {
    for body in [None, Some(Bytes(100_000))] {
        match counts("uring", body) {
            Ok(both) => agree(both),
            Err(output) => {
                let why = String::from_utf8_lossy(&output.stderr).into_owned();
                // Containers often forbid it, and old kernels lack it.
                let is_forbidden = ["os error 1)", "os error 38)", "os error 22)"];
                assert!(is_forbidden.iter().any(|errno| why.contains(errno)), "{why}");
                eprintln!("passed over: no io_uring here: {why}");
            }
        }
    }
}

#[test]
#[ignore = "slow: keeps the cores busy for a second"]
fn over_http_2_it_counts_what_the_target_counts() {
    for (body, tls) in
        [(None, false), (Some(Bytes(20_000)), false), (None, true), (Some(Bytes(20_000)), true)]
    {
        let tls = tls.then(|| acceptor("h2"));
        let mut mode = vec!["streams", "--streams", "4"];
        mode.extend(tls.is_some().then_some("--tls"));
        let config = Config { http2: true, tls, body_bytes: body, ..Config::default() };
        let (said, served) = counts_of(&mode, config).unwrap();
        assert!(said > CONNECTIONS * 4, "{said}");
        assert!(said <= served && served <= said + CONNECTIONS * 4, "said {said}, served {served}");
    }
}

#[test]
#[ignore = "slow: keeps the cores busy for a second"]
fn over_tls_it_counts_what_the_target_counts() {
    for body in [None, Some(Bytes(100_000))] {
        let config = Config { tls: Some(acceptor("http/1.1")), body_bytes: body, ..Config::default() };
        agree(counts_of(&["epoll", "--tls"], config).unwrap());
    }
}
