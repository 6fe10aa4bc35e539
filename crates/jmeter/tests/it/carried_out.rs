//! An imported plan in the hands of a session, beside what JMeter 5.6.3 sent when it ran the same plan.

use std::collections::BTreeMap;
use std::path::Path;

use scenario::{Answer, Ended, Next, Prepared, Session, World, WorldSetup};
use units::{Duration, Instant, Seed};

/// The paths of `order.jmx` in the order in which JMeter requested them of a server that always answers the same, and
/// never with the word that two of its assertions want: two iterations of one user.
const BY_JMETER: &str = "once a b first again x again y i1 two fails blank sets t1 t2 t1 t2 \
                         a b first again z again x i2 i3 two fails blank sets t1 t2 t1 t2";

#[test]
fn requests_come_in_jmeters_order() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plans/order.jmx");
    let text = std::fs::read_to_string(&file).unwrap();
    let plan = jmeter::import(&file, &text, &BTreeMap::new()).unwrap_or_else(|error| panic!("{error}"));
    let prepared = Prepared::new(plan.scenario).unwrap();
    let mut world = World::new(WorldSetup {
        seed: Seed(1),
        properties: BTreeMap::new(),
        clock: Instant::ORIGIN,
        epoch_ms: 0,
        share: engine::Share::WHOLE,
        check: |_| Ok(()),
    });
    let mut session = Session::new(&prepared, 0, 0);
    let mut now = Instant::ORIGIN;
    let mut requested = Vec::new();
    let ended = loop {
        match session.next(&mut world, now) {
            Next::Request(request) => {
                requested.push(request.url.path().trim_start_matches('/').to_owned());
                let sent = now;
                now = now + Duration::from_millis(1);
                let answer = Answer::Answered { status: 200, reason: "OK", headers: &[], body: b"p plan" };
                session.answered(&mut world, &answer, sent, now);
            }
            Next::Pause(span) => now = now + span,
            Next::Unsent(unsent) => panic!("{unsent:?}"),
            Next::Done(ended) => break ended,
        }
        assert!(requested.len() < 100, "it has no end: {requested:?}");
    };
    assert_eq!(ended, Ended::Finished);
    assert_eq!(requested.join(" "), BY_JMETER);
}
