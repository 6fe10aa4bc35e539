//! Ten thousand users at once, each with a request out, fit in well below 100 MB. A test of its own process, since it
//! looks at what the process takes.

use std::path::Path;

use scenario::{Answer, Next, Prepared, Scenario, Session, World, WorldSetup};
use units::{Instant, Seed};

const USERS: u32 = 10_000;

/// Memory of this process, in KiB.
fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches("kB").trim().parse().unwrap()
}

#[test]
fn ten_thousand_users_fit() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/login-and-buy.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    let prepared = Prepared::new(Scenario::from_toml(&path, &text).unwrap()).unwrap();
    let mut world = World::new(WorldSetup::new(Seed(1)));
    let headers = [("Content-Type", "application/json"), ("Set-Cookie", "session=0123456789abcdef; Path=/")];
    let body = br#"{"token": "0123456789abcdef0123456789abcdef", "items": [{"id": 17}]}"#;
    let before_kib = resident_kib();
    let users: Vec<Session> = (0..USERS)
        .map(|user| {
            let mut session = Session::new(&prepared, 0, user);
            assert!(matches!(session.next(&mut world, Instant::ORIGIN), Next::Request(_)));
            let answer = Answer::Answered { status: 200, reason: "OK", headers: &headers, body };
            let verdict = session.answered(&mut world, &answer, Instant::ORIGIN, Instant::ORIGIN);
            assert!(verdict.ok, "{verdict:?}");
            assert!(matches!(session.next(&mut world, Instant::ORIGIN), Next::Request(_)));
            session
        })
        .collect();
    let taken_kib = resident_kib().saturating_sub(before_kib);
    println!("{taken_kib} KiB for {} users", users.len());
    assert!(taken_kib < 40_000, "{taken_kib} KiB for {} users", users.len());
}
