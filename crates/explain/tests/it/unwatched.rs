//! What can be told of a server that was running already: what the load and the client tell, and nothing of its processes.

use explain::{Confidence, VerdictKind};
use record::{AgentResult, LinkUse, Measured, Server};

use crate::reasons::{explain, first, full, host, kind, watched};

const WHY: &str = "it was running already, at http://127.0.0.1:8080";

/// The trial as it is of a server whose processes were not watched.
fn unwatched(mut trial: Measured) -> Measured {
    trial.server = Server { not_measured: Some(WHY.into()), ..Server::default() };
    trial.surroundings.server_cpus = None;
    host(&mut trial).others_cores = None;
    trial
}

#[test]
fn what_needs_a_look_at_the_server_is_unexplained_with_the_reason() {
    for rate in [100.0, 160.0, 320.0] {
        let seen = watched(rate, &[("pool-*", 16)]);
        let told = explain(&unwatched(seen));
        let verdict = told.first();
        assert_eq!(
            (verdict.kind, verdict.phrase.as_str()),
            (VerdictKind::Unexplained, "unexplained"),
            "{rate}"
        );
        assert!(verdict.evidence[0].ends_with(WHY), "{verdict:?}");
        assert!(told.not_known.iter().any(|it| it.starts_with("the server's CPU") && it.ends_with(WHY)));
        assert!(verdict.confirm.is_none(), "{verdict:?}");
    }
    assert_eq!(kind(&watched(160.0, &[("pool-*", 16)])), VerdictKind::PoolLimit, "watched, it is told");
}

/// CPU, connections and queues of which nothing is known are not taken for what is used up, or for what is free.
#[test]
fn what_is_not_known_is_neither_full_nor_free() {
    let mut busy = unwatched(full(1.5));
    busy.load.connections.opened_in_window = Some(100_000);
    host(&mut busy).network.insert("ListenOverflows".into(), 100_000);
    host(&mut busy).network.insert("DelayedACKs".into(), 10_000_000);
    let told = explain(&busy);
    assert_eq!(told.verdicts.len(), 1, "{told:?}");
    assert_eq!(told.first().kind, VerdictKind::Unexplained);
    let excluded = &told.first().excluded;
    assert!(excluded.iter().all(|it| it.starts_with("the client: ")), "{excluded:?}");
}

#[test]
fn what_the_load_tells_by_itself_is_told() {
    let mut idle = unwatched(watched(640.0, &[("pool-*", 200)]));
    let verdict = first(&idle);
    // 640/s at 100 ms are the 64 users.
    assert_eq!(
        (verdict.kind, verdict.confidence),
        (VerdictKind::IdlePace, Confidence::Likely),
        "{verdict:?}"
    );
    idle.load.generator.busy_share = 0.99;
    let told = explain(&idle);
    assert!(told.verdicts.iter().any(|it| it.kind == VerdictKind::ClientBound), "{told:?}");
    let mut kept = unwatched(watched(300.0, &[("pool-*", 16)]));
    kept.load.load.rate_per_s = Some(300.0);
    assert_eq!(kind(&kept), VerdictKind::KeepsRate);
    let mut wrong = unwatched(watched(300.0, &[("pool-*", 16)]));
    wrong.load.answered_as_expected = wrong.load.outcomes.answered / 2;
    assert_eq!(kind(&wrong), VerdictKind::IncorrectService);
}

/// A link of a gigabit, over which so many bytes went each way.
fn with_link(mut trial: Measured, received: f64, sent: f64) -> Measured {
    host(&mut trial).links = vec![LinkUse {
        name: "eth0".into(),
        bytes_per_s: 125e6,
        received_bytes_per_s: received,
        sent_bytes_per_s: sent,
    }];
    trial.load.received_bytes_per_s = 115e6;
    trial
}

#[test]
fn a_link_that_is_full_of_answers_is_named() {
    let elsewhere = || unwatched(watched(160.0, &[("pool-*", 16)]));
    let told = first(&with_link(elsewhere(), 117e6, 1e6));
    assert_eq!((told.kind, told.confidence), (VerdictKind::NetworkLink, Confidence::Likely), "{told:?}");
    assert_eq!(told.phrase, "network link full (eth0)");
    assert_eq!(
        told.evidence[0],
        "the network link eth0 received 117.0 MB/s, 94 % of its speed (125.0 MB/s); 115.0 MB/s of it were answers"
    );
    // Some of it is left, it carries more than it says, it is full the other way, or of something else.
    let mut of_others = with_link(elsewhere(), 117e6, 1e6);
    of_others.load.received_bytes_per_s = 50e6;
    assert_eq!(kind(&of_others), VerdictKind::Unexplained);
    for (received, sent) in [(110e6, 1e6), (140e6, 1e6), (1e6, 117e6)] {
        assert_eq!(
            kind(&with_link(elsewhere(), received, sent)),
            VerdictKind::Unexplained,
            "{received}, {sent}"
        );
    }
    // Nothing is missed of what was asked for.
    let mut kept = with_link(elsewhere(), 117e6, 1e6);
    kept.load.load.rate_per_s = Some(160.0);
    assert_eq!(kind(&kept), VerdictKind::KeepsRate);
    // A server on this machine is asked over none, unless others ask it.
    let mut here = with_link(watched(160.0, &[("pool-*", 16)]), 117e6, 117e6);
    assert_eq!(kind(&here), VerdictKind::PoolLimit);
    here.load.agents = vec![AgentResult::default()];
    assert!(first(&here).evidence[0].starts_with("the network link eth0 sent 117.0 MB/s"));
}
