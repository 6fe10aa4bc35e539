//! How long users pause.

use super::*;

fn paused(run: &Run) -> Vec<u64> {
    run.did.iter().filter_map(|did| if let Did::Paused(ms) = did { Some(*ms) } else { None }).collect()
}

fn request_after(pauses: Vec<Pause>) -> Step {
    Step::Request(Box::new(RequestStep { pauses, ..request_step("a") }))
}

#[test]
fn pauses_before_a_request_add_up() {
    let constant = |ms: &str| Pause::Constant { ms: t(ms) };
    let mut scenario =
        scenario(1, vec![request_after(vec![constant("100"), constant("${more}"), constant("x${none}")])]);
    scenario.variables.push(("more".into(), t("20")));
    assert_eq!(run(scenario, |_| Some(ok(""))).line(), "~120 a");
}

#[test]
fn random_pauses_lie_where_they_should() {
    let uniform = Pause::Uniform { offset_ms: t("100"), range_ms: t("50") };
    let times = paused(&run(scenario(2000, vec![request_after(vec![uniform])]), |_| Some(ok(""))));
    assert!(times.iter().all(|ms| (100..150).contains(ms)), "{times:?}");
    let mean = times.iter().sum::<u64>() as f64 / times.len() as f64;
    // Half a millisecond is cut off; four standard errors of 50/√12/√2000.
    assert!((mean - 124.5).abs() < 1.3, "{mean}");

    let gaussian = Pause::Gaussian { offset_ms: t("300"), deviation_ms: t("100") };
    let times = paused(&run(scenario(4000, vec![request_after(vec![gaussian])]), |_| Some(ok(""))));
    let mean = times.iter().sum::<u64>() as f64 / times.len() as f64;
    let variance = times.iter().map(|ms| (*ms as f64 - mean).powi(2)).sum::<f64>() / times.len() as f64;
    assert!((mean - 299.5).abs() < 7.0, "{mean}");
    assert!((variance.sqrt() - 100.0).abs() < 5.0, "{}", variance.sqrt());

    let poisson = Pause::Poisson { offset_ms: t("300"), mean_ms: t("99.6") };
    let times = paused(&run(scenario(4000, vec![request_after(vec![poisson])]), |_| Some(ok(""))));
    assert!(times.iter().all(|ms| *ms >= 300), "{times:?}");
    let mean = times.iter().sum::<u64>() as f64 / times.len() as f64;
    // Five standard errors of 10/√4000, and a millisecond that a whole number of them may lose in the division.
    assert!((mean - 399.5).abs() < 1.3, "{mean}");
}

#[test]
fn a_normal_pause_is_never_negative() {
    let gaussian = Pause::Gaussian { offset_ms: t("0"), deviation_ms: t("100") };
    let run = run(scenario(200, vec![request_after(vec![gaussian])]), |_| Some(ok("")));
    let times = paused(&run);
    assert!(times.iter().all(|ms| *ms < 1000), "{times:?}");
    // The mean of the half of a normal distribution that is above nothing is 0.8 of its deviation.
    let mean = times.iter().sum::<u64>() as f64 / 200.0;
    assert!((mean - 79.8).abs() < 20.0, "{mean}");
}

/// JMeter's constant throughput timer, "this thread only": the first request at once, and who is late makes up for nothing.
#[test]
fn a_user_keeps_to_its_own_rate() {
    let timer = |timer| Pause::Throughput { per_minute: t("600"), of: Pacing::User, timer };
    let pace = || timer(1);
    // 600 a minute is one in 100 ms, of which the answer takes 10.
    assert_eq!(run(scenario(3, vec![request_after(vec![pace()])]), |_| Some(ok(""))).line(), "a ~90 a ~90 a");
    let late = vec![request_after(vec![pace()]), Step::Once { of: OnceOf::Loop, steps: vec![pause(250)] }];
    // Due at 0 and 100; free at 260, and from then on one in 100 ms.
    assert_eq!(run(scenario(5, late), |_| Some(ok(""))).line(), "a ~250 a ~90 a ~90 a ~90 a");
    let same_rate = vec![request_after(vec![pace()]), request_after(vec![pace()])];
    assert_eq!(
        run(scenario(1, same_rate), |_| Some(ok(""))).line(),
        "a ~90 a",
        "one timer over two requests"
    );
    // The second is due at once when it is first come to, and then 100 ms after that.
    let two_timers = vec![request_after(vec![timer(1)]), request_after(vec![timer(2)])];
    assert_eq!(run(scenario(2, two_timers), |_| Some(ok(""))).line(), "a a ~80 a a");
}

/// "All active threads (shared)": one request of all users in each gap, and what was missed is not made up for.
#[test]
fn users_share_a_rate() {
    let pace = Pause::Throughput { per_minute: t("600"), of: Pacing::Group, timer: 0 };
    let prepared = Prepared::new(scenario(2, vec![request_after(vec![pace])])).unwrap();
    let mut world = world();
    let at = |world: &mut World, session: &mut Session, ms: u64| match session
        .next(world, Instant::ORIGIN + Duration::from_millis(ms))
    {
        Next::Pause(span) => span.as_nanos() / 1_000_000,
        Next::Request(_) => 0,
        other => panic!("{other:?}"),
    };
    let mut users: Vec<Session> = (0..3).map(|user| Session::new(&prepared, 0, user)).collect();
    let first: Vec<u64> = users.iter_mut().map(|user| at(&mut world, user, 0)).collect();
    assert_eq!(first, [0, 100, 200]);
    let mut late = Session::new(&prepared, 0, 3);
    assert_eq!(at(&mut world, &mut late, 1000), 0);
    let mut next = Session::new(&prepared, 0, 4);
    assert_eq!(at(&mut world, &mut next, 1000), 100);
    // A world that is one of four parts has a quarter of the rate.
    let mut quarter = world_of(7, Share { index: 1, of: NonZeroU32::new(4).unwrap() });
    let mut users: Vec<Session> = (0..2).map(|user| Session::new(&prepared, 0, user)).collect();
    assert_eq!(at(&mut quarter, &mut users[0], 0), 0);
    assert_eq!(at(&mut quarter, &mut users[1], 0), 400);
}

/// By JMeter's source (`ConstantThroughputTimer.delay` and `calculateSharedDelay`): whoever comes takes the next turn of all, and
/// waits until as long after its last request as there was until that turn; who had none so far does not wait.
#[test]
fn a_rate_that_is_shared_since_the_last_request_begins_with_all_users_at_once() {
    let pace = |timer| Pause::Throughput { per_minute: t("600"), of: Pacing::GroupSinceLast, timer };
    let prepared = Prepared::new(scenario(3, vec![request_after(vec![pace(1)])])).unwrap();
    let mut world = world();
    let now = |ms| Instant::ORIGIN + Duration::from_millis(ms);
    let mut users: Vec<Session> = (0..3).map(|user| Session::new(&prepared, 0, user)).collect();
    for user in &mut users {
        assert!(matches!(user.next(&mut world, now(0)), Next::Request(_)), "the first is due at once");
    }
    let mut paused = |user: usize, sent: u64, answered: u64| {
        let (user, end) = (&mut users[user], now(answered));
        user.answered(&mut world, &Answer::Failed { name: "timeout" }, now(sent), end);
        let Next::Pause(span) = user.next(&mut world, end) else { panic!("it is not due yet") };
        span.as_nanos() / 1_000_000
    };
    // Turns at 0, 100 and 200 are taken, so that these are at 300 and 400: 290 and 390 ms from then, and so behind 0.
    assert_eq!([paused(0, 0, 10), paused(1, 0, 10)], [280, 380]);
    assert!(matches!(users[0].next(&mut world, now(290)), Next::Request(_)));
    // The turn at 500 is 200 ms from then, and so behind 290.
    users[0].answered(&mut world, &Answer::Failed { name: "timeout" }, now(290), now(300));
    let Next::Pause(span) = users[0].next(&mut world, now(300)) else { panic!("it is not due yet") };
    assert_eq!(span.as_nanos() / 1_000_000, 190);

    // Two timers of one group take turns together, and each has a first request of its own.
    let both = vec![request_after(vec![pace(1)]), request_after(vec![pace(2)])];
    let two = Prepared::new(scenario(2, both)).unwrap();
    let mut run = Run::new(&two, 0);
    run.go(&mut world_of(7, Share::WHOLE), 10, |_| Some(ok("")));
    // Turns at 0 and 100; then at 20 the one at 200, 180 ms from then and so at 180, and at 190 the one at 300, at 120, which is over.
    assert_eq!(run.line(), "a a ~160 a a");
}

/// "All active threads (in current thread group)": each by itself, first at once and then by as many as there are.
#[test]
fn users_keep_to_a_part_of_a_rate_each() {
    let pace = |of| Pause::Throughput { per_minute: t("600"), of, timer: 0 };
    let steps = |of| vec![request_after(vec![pace(of)])];
    let did = |of: Pacing, others: usize, elsewhere: usize| {
        let prepared = Prepared::new(scenario(2, steps(of))).unwrap();
        let mut world = world();
        (0..=others).for_each(|_| world.comes(0));
        (0..elsewhere).for_each(|_| world.comes(1));
        let mut user = Session::new(&prepared, 0, 0);
        let now = |ms| Instant::ORIGIN + Duration::from_millis(ms);
        assert!(matches!(user.next(&mut world, now(0)), Next::Request(_)), "the first is due at once");
        // One goes while its answer is under way.
        if others > 1 {
            world.goes(0);
        }
        user.answered(&mut world, &Answer::Failed { name: "timeout" }, now(0), now(10));
        let Next::Pause(pause) = user.next(&mut world, now(10)) else { panic!("it is not due yet") };
        pause.as_nanos() / 1_000_000
    };
    assert_eq!((did(Pacing::PartOfGroup, 0, 3), did(Pacing::PartOfLoad, 0, 3)), (90, 390));
    assert_eq!((did(Pacing::PartOfGroup, 1, 0), did(Pacing::PartOfGroup, 3, 9)), (190, 290));
    assert_eq!(did(Pacing::User, 3, 9), 90);
    let mut world = world_of(7, Share { index: 1, of: NonZeroU32::new(4).unwrap() });
    world.comes(0);
    assert_eq!(world.there(Some(0)), 4, "a part of a load is one of four alike");
}

fn scheduled(rows: &[(f64, f64, u32)]) -> Step {
    let rows = rows.iter().map(|&(from, to, seconds)| RateRow { from, to, seconds });
    request_after(vec![Pause::Scheduled(Arc::new(RateSchedule(rows.collect())))])
}

/// By the plug-in's source: so many requests in each second of the wall clock, of which late ones are made up for within it alone.
/// The second behind a row is still one of it.
#[test]
fn a_user_keeps_to_a_schedule_until_it_ends_the_group() {
    // Two a second, three, four, and one. An answer takes 10 ms.
    let rows = [(2.0, 4.0, 2), (1.0, 1.0, 1)];
    assert_eq!(
        line(100, vec![scheduled(&rows)]),
        "a ~490 a ~490 a ~324 a ~323 a ~323 a ~240 a ~240 a ~240 a ~240 a ~990 StopGroup"
    );
    assert_eq!(
        line(100, vec![scheduled(&rows), pause(690)]),
        "a ~690 a ~690 a ~690 a ~690 a ~690 a ~690 StopGroup"
    );
    // One that it has but begun is none.
    let steps = vec![Step::Transaction {
        name: t("all"),
        with_pauses: true,
        parent_only: true,
        steps: vec![scheduled(&[(1.0, 1.0, 1)]), request("b")],
    }];
    let ran = run(scenario(9, steps), |_| Some(ok("")));
    assert_eq!((ran.line().as_str(), ran.transactions.len()), ("a b ~980 a b ~980 StopGroup", 2));
}

/// At a rate of 0 one request a second is made, as by the plug-in.
#[test]
fn users_take_the_requests_of_a_schedule_by_turns() {
    let waits = |rows: &[(f64, f64, u32)], mut world: World| {
        let prepared = Prepared::new(scenario(9, vec![scheduled(rows)])).unwrap();
        [0, 1, 2].map(|user| match Session::new(&prepared, 0, user).next(&mut world, Instant::ORIGIN) {
            Next::Pause(span) => span.as_nanos() / 1_000_000,
            Next::Request(_) => 0,
            other => panic!("{other:?}"),
        })
    };
    assert_eq!(waits(&[(4.0, 4.0, 1)], world()), [0, 250, 500]);
    assert_eq!(waits(&[(0.0, 0.0, 1)], world()), [0, 1000, 2000]);
    // A world that is one of four parts has a quarter of the requests.
    let quarter = world_of(7, Share { index: 1, of: NonZeroU32::new(4).unwrap() });
    assert_eq!(waits(&[(8.0, 8.0, 1)], quarter), [125, 625, 1125]);
}

fn meeting(users: u32, timeout: Option<Duration>) -> Pause {
    Pause::Meeting(Arc::new(Meeting { users: NonZeroU32::new(users).unwrap(), timeout }))
}

/// Users who go through one step.
fn users_of<const N: usize>(step: Step) -> [Session; N] {
    let prepared = Prepared::new(scenario(9, vec![step])).unwrap();
    std::array::from_fn(|user| Session::new(&prepared, 0, user as u32))
}

/// By JMeter's `SyncTimer`, a `CyclicBarrier`: whoever is last goes on at once, all others with it, and a new round begins. What other
/// pauses come to is slept behind it.
#[test]
fn users_wait_for_each_other() {
    let pause = Pause::Constant { ms: t("5") };
    let [mut first, mut second, mut third] = users_of(request_after(vec![pause, meeting(2, None)]));
    let (mut world, now) = (world(), Instant::ORIGIN);
    let pauses = Next::Pause(Duration::from_millis(5));
    assert_eq!(first.next(&mut world, now), Next::Wait(None));
    assert_eq!(world.released(), None);
    assert_eq!(second.next(&mut world, now), pauses);
    assert_eq!((world.released(), world.released()), (Some((0, 0)), None));
    assert_eq!(third.next(&mut world, now), Next::Wait(None), "a new round");
    assert_eq!(first.next(&mut world, now), pauses);
    assert!(matches!(first.next(&mut world, now), Next::Request(_)));
    assert_eq!(world.released(), None, "the third still waits");

    world.forgets((0, 2));
    let Next::Request(_) = second.next(&mut world, now) else { panic!("its pause is over") };
    assert_eq!(second.next(&mut world, now), Next::Wait(None), "who has gone is not counted");
}

/// The same: a barrier breaks for all who wait at it when the time of one of them is over.
#[test]
fn with_the_first_whose_time_is_over_all_go_on() {
    let time = Duration::from_millis(100);
    let [mut first, mut second, mut third] = users_of(request_after(vec![meeting(3, Some(time))]));
    let (mut world, now) = (world(), Instant::ORIGIN);
    for user in [&mut first, &mut second] {
        assert_eq!(user.next(&mut world, now), Next::Wait(Some(time)));
    }
    assert!(matches!(first.next(&mut world, now + time), Next::Request(_)));
    assert_eq!((world.released(), world.released()), (Some((0, 1)), None));
    assert!(matches!(second.next(&mut world, now + time), Next::Request(_)));
    assert_eq!(third.next(&mut world, now + time), Next::Wait(Some(time)), "a new round");
}

/// One that stands in the place of a request is waited at, too.
#[test]
fn a_step_may_be_a_meeting() {
    let [mut first, mut second] = users_of(Step::Pause(meeting(2, None)));
    let (mut world, now) = (world(), Instant::ORIGIN);
    assert_eq!(first.next(&mut world, now), Next::Wait(None));
    // The second goes on to its next iteration, and waits there for the first, which comes in its turn.
    assert_eq!(second.next(&mut world, now), Next::Wait(None));
    assert_eq!(world.released(), Some((0, 0)));
    assert_eq!(first.next(&mut world, now), Next::Wait(None));
    assert_eq!(world.released(), Some((0, 1)));
}
