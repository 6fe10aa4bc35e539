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

/// What each user of `shares.jmx` requests: throughput controllers, and what becomes of what is around them once their times
/// are over.
const SHARES_BY_JMETER: &[&str] = &[
    "Percents 1: s all most two two2 hundred turn-four turn turn-half turn-four turn turn-four turn \
     first t if-two if a once s third all half half2 two two2 hundred turn-half turn-four turn turn \
     turn-half turn t x x3 x x3 if-half if-two if b-one b in-outer s all most hundred turn turn-half \
     turn turn quarter t a-half a s all half half2 most hundred turn-half turn turn turn-half turn t x \
     x3 x if b in-both in-outer s third all hundred turn turn-half turn turn t if-half if a s all half \
     half2 most hundred turn-half turn turn turn-half turn t x x if b s all most hundred turn turn-half \
     turn turn quarter t if-half if a-half a in-outer s third all half half2 hundred turn-half turn \
     turn turn-half turn t x x if b",
    "Ends 1: s a a a m w v w v v p e tl tl z s m e tl z s m z s m z",
    "Runs out 1: h i k h i i",
];

/// The same of `choices.jmx`: switch controllers and counters.
const CHOICES_BY_JMETER: &[&str] =
    &["Users 1: 007.u_01_x.-a02.98.001.id (1).010 c0 name1 name1 e0 w1 default k DEFAULT h1 x1 t1 t2 t1 \
     t2 jn0 s0 008.u_06_x.-a01.99.002.id (2).009 c1 n2a n2b e0 w1 default k DEFAULT h1 x2 jn1 \
     once-a-loop sl sl once-a-share pl pl 009.u_11_x.a00.100.003.id (3).008 c2a c2b Default e0 w1 \
     default k DEFAULT h1 x3 l3 l3 jn0 s0 007.u_16_x.a01.101.004.id (4).007 c3 name1 name1 e0 w1 \
     default k DEFAULT h1 x1 t1 t2 t1 t2 jn0 s0 once-a-share pl pl 008.u_21_x.a02.102.005.id (5).006 c0 \
     n2a n2b e0 w1 default k DEFAULT h1 x2 i i jn0 s0 009.u_26_x.a03.103.006.id (6).005 c0 Default e0 \
     w1 default k DEFAULT h1 x3 l3 l3 jn0 s0 once-a-share pl pl 007.u_31_x.a04.104.007.id (7).004 c0 \
     name1 name1 e0 w1 default k DEFAULT h1 x1 t1 t2 t1 t2 jn0 s0 008.u_36_x.a05.105.008.id (8).003 c0 \
     n2a n2b e0 w1 default k DEFAULT h1 x2 i i jn0 s0 once-a-share pl pl"];

/// The same of `errors.jmx`, where the server answers 500 to `fail`.
const ERRORS_BY_JMETER: &[&str] = &[
    "Next 1: o1 fail o1 o2 fail lo l fail lo l l2 l l2 l l2 i1 fail lo l l2 l l2 l l2 i1 i1b x1 to to2 \
     t tt b1 b2 b1 b2 b1 b2 end lo l l2 l l2 l l2 i2 fail lo l l2 l l2 l l2 i2 i2b x7 fail lo l l2 l l2 \
     l l2 i3 q t fail lo l l2 l l2 l l2 i1 i1b q t tt b1 fail lo l l2 l l2 l l2 i2 i2b q t tt b1 b2 b1 \
     b2 b1 b2 end",
    "Actions 1: e-x-0 f-x e-y-1 f-y e-z-2 f-z i1 i1b r r late no n n z-0 e-x-0 f-x e-y-1 e-x-0 f-x \
     e-y-1 f-y e-z-2 f-z i2 e-x-0 f-x e-y-1 f-y e-z-2 f-z i2 i2b q q no n n z-0 e-x-0 f-x e-y-1 f-y \
     e-z-2 f-z i1 i1b q q no n n z-0 e-x-0 f-x e-y-1 f-y e-z-2 f-z i2 i2b q q no n n last",
    "Stops 1: a t1 t2 l t1 t2 l b a t1 fail",
];

/// The same of `groups.jmx`, whose groups run one after another.
const GROUPS_BY_JMETER: &[&str] = &[
    "Up 1: up up",
    "Up again 1: up2",
    "First 1: s five three seven third seven s half five three seven seven s five three third seven \
     seven s half five seven third s five s half third",
    "First 2: s three third s half three s three third s half third s s half third",
    "First 3: s three third s half three s three third s half third s s half third",
    "Second 1: h i h fail",
    "Second 2: h i h fail",
    "Third 1: j k j",
    "Down 1: down down",
    "Down again 1: down2",
];

/// The same of `within.jmx`: rows, counters and random variables within controllers, and interleaving that looks into these.
const WITHIN_BY_JMETER: &[&str] = &[
    "Counters 1: k-1 rv-5 n-1 n-2 z-2 k-2 rv-5 n-3 n-4 z-4 k-3 rv-5 n-5 n-6 z-6 k-4 rv-5 n-7 n-8 z-8",
    "Rows 1: x-a x-b y-b x-c",
    "Interleaved 1: a z b z s1 z i1 z c z a z b z s2 z",
    "Nested 1: s1 c i1 s2 c i2 t1 c i3",
];

/// The same of `users.jmx`: User Parameters beside rows and counters, in loops and below requests, and an included file.
const USERS_BY_JMETER: &[&str] = &[
    "Values 1: x1-ya1 z1a1 x1-ya1 z1a1",
    "Values 2: x2-yb z2b x2-yb z2b",
    "Values 3: x3-y- z3- x3-y- z3-",
    "Values 4: x1-ya1 z1a1 x1-ya1 z1a1",
    "Each iteration 1: x1 z1 x2 z2 x3 z3",
    "Each iteration 2: xb1 zb1 xb2 zb2 xb3 zb3",
    "Each iteration 3: x1 z1 x2 z2 x3 z3",
    "Each request 1: x1 z2 x3 z4 x5 z6",
    "Each request 2: xb1 zb2 xb3 zb4 xb5 zb6",
    "Each request 3: x1 z2 x3 z4 x5 z6",
    "Before 1: x-.--K-.--r1-1 z-.--K-.- xr1.1-Kr1.1-r2-2 zr1.1-Kr1.1 xr2.2-Kr2.2-r3-3 zr2.2-Kr2.2",
    "Behind 1: xr1.1-Kr1.1-r1-1 zr1.1-Kr1.1 xr2.2-Kr2.2-r2-2 zr2.2-Kr2.2 xr3.3-Kr3.3-r3-3 zr3.3-Kr3.3",
    "Within 1: a- x1 z1 x2 z2 x3 z3 e3 a3 x4 z4 x5 z5 x6 z6 e6",
    "Below 1: xq1 zq1 xq2 zq2",
    "Below 2: xq1 zq1 xq2 zq2",
    "Including 1: a in-- twice twice e a in-- twice twice e",
];

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

#[test]
fn shares_are_made_as_jmeter_makes_them() {
    assert_eq!(requested_by_all("shares.jmx"), SHARES_BY_JMETER);
}

#[test]
fn choices_are_made_as_jmeter_makes_them() {
    assert_eq!(requested_by_all("choices.jmx"), CHOICES_BY_JMETER);
}

#[test]
fn iterations_are_left_as_jmeter_leaves_them() {
    assert_eq!(requested_by_all("errors.jmx"), ERRORS_BY_JMETER);
}

#[test]
fn groups_come_and_count_as_in_jmeter() {
    assert_eq!(requested_by_all("groups.jmx"), GROUPS_BY_JMETER);
}

#[test]
fn what_is_within_controllers_is_set_and_chosen_as_in_jmeter() {
    assert_eq!(requested_by_all("within.jmx"), WITHIN_BY_JMETER);
}

#[test]
fn users_have_the_values_and_files_that_jmeter_gives_them() {
    assert_eq!(requested_by_all("users.jmx"), USERS_BY_JMETER);
}

/// The paths that the one user of a plan requests.
fn requested(name: &str) -> String {
    let mut lines = requested_by_all(name);
    assert_eq!(lines.len(), 1, "{lines:?}");
    let line = lines.remove(0);
    line.split_once(": ").unwrap().1.to_owned()
}

/// The paths that each user of a plan requests, one user after another, stage by stage.
fn requested_by_all(name: &str) -> Vec<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plans").join(name);
    let text = std::fs::read_to_string(&file).unwrap();
    let read = |file: &Path| Ok(std::fs::read_to_string(file).ok());
    let plan = jmeter::import_with(&file, &text, &BTreeMap::new(), &read);
    let plan = plan.unwrap_or_else(|error| panic!("{error}"));
    let mut lines = Vec::new();
    for stage in &plan.stages {
        let prepared = Prepared::new(plan.scenario_of(stage)).unwrap();
        let mut world = World::new(WorldSetup { check: |_| Ok(()), ..WorldSetup::new(Seed(1)) });
        for (number, group) in prepared.scenario().groups.iter().enumerate() {
            for user in 0..group.users.seats() {
                let paths = paths(&mut Session::new(&prepared, number, user), &mut world);
                lines.push(format!("{} {}: {}", group.name, user + 1, paths.join(" ")));
            }
        }
    }
    lines
}

/// The paths that a user requests of a server that answers 500 to `fail`, and 200 to all others.
fn paths(session: &mut Session, world: &mut World) -> Vec<String> {
    let mut now = Instant::ORIGIN;
    let mut requested = Vec::new();
    let ended = loop {
        match session.next(world, now) {
            Next::Request(request) => {
                let path = request.url.path().trim_start_matches('/');
                // As the plans have them: a blank is the only character of theirs that is encoded.
                let path = path.replace("%20", " ");
                let status = if path == "fail" { 500 } else { 200 };
                requested.push(path);
                let sent = now;
                now = now + Duration::from_millis(1);
                let answer = Answer::Answered { status, reason: "OK", headers: &[], body: b"p plan" };
                session.answered(world, &answer, sent, now);
            }
            Next::Pause(span) => now = now + span,
            Next::Unsent(unsent) => panic!("{unsent:?}"),
            Next::Wait(time) => panic!("{time:?}"),
            Next::Done(ended) => break ended,
        }
        assert!(requested.len() < 1000, "it has no end: {requested:?}");
    };
    assert_eq!(ended, Ended::Finished);
    requested
}
