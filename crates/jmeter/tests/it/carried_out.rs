//! An imported plan in the hands of a session, beside what JMeter 5.6.3 sent when it ran the same plan.

use std::collections::BTreeMap;
use std::path::Path;

use scenario::{Answer, Ended, Next, Prepared, Session, World, WorldSetup};
use units::{Duration, Instant, Seed};

/// The paths of `order.jmx` in the order in which JMeter requested them of a server that always answers the same, and
/// never with the word that two of its assertions want: two iterations of one user.
const BY_JMETER: &str = "once a b first again x again y i1 two fails blank sets t1 t2 t1 t2 \
                         a b first again z again x i2 i3 two fails blank sets t1 t2 t1 t2";

/// The same of `for-each.jmx`.
const LISTS_BY_JMETER: &str = "start each-p-0 again-p each-p-1 again-p each-a-2 again-a each-n-3 again-n after-p-0 part-a-2 after-a-2 \
    after-none-0 after-none-0 once-x v-x v-y px py turn-p-x px py turn-p-x px py turn-p-x px py turn-p-x \
    first-n e-n e-n start each-p-0 again-p each-p-1 again-p each-a-2 again-a each-n-3 again-n after-p-0 \
    part-a-2 after-a-2 after-none-0 after-none-0 v-x v-y px py turn-p-x px py turn-p-x px py turn-p-x px py \
    turn-p-x e-n e-n";

/// The same of `modules.jmx`.
const MODULES_BY_JMETER: &str = "a f1 in-fragment fonce in-fragment off1 below below loop twin2 loop twin2 twin1 twin2 loop twin2 loop \
    twin2 z-x a f1 in-fragment in-fragment off1 below below loop twin2 loop twin2 twin1 twin2 loop twin2 loop \
    twin2 z-x";

#[test]
fn requests_come_in_jmeters_order() {
    assert_eq!(requested("order.jmx"), BY_JMETER);
}

#[test]
fn lists_are_gone_through_as_jmeter_does() {
    assert_eq!(requested("for-each.jmx"), LISTS_BY_JMETER);
}

#[test]
fn what_modules_run_comes_in_jmeters_order() {
    assert_eq!(requested("modules.jmx"), MODULES_BY_JMETER);
}

/// The paths that one user of a plan requests.
fn requested(name: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plans").join(name);
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
    requested.join(" ")
}
