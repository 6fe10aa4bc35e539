//! What must hold of any scenario and any answers.

use proptest::prelude::*;

use super::*;

/// What a request that looks at everything may have left.
fn list(skip: i64, last: Option<i64>) -> List {
    List { prefix: "l_".into(), skip, last, item: "x".into(), index: "turn".into() }
}

fn step() -> impl Strategy<Value = Step> {
    let leaf = prop_oneof![
        (0..5_u32).prop_map(|n| request(&format!("r{n}-${{__Random(1,9)}}"))),
        (0..5_i32).prop_map(any_request),
        (0..20_u64).prop_map(pause),
        Just(set("x", "${__Random(0,3)}")),
        on_errors().prop_map(Step::Leave),
        Just(Step::Pause(Pause::Uniform { offset_ms: t("1"), range_ms: t("9") })),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let steps = proptest::collection::vec(inner.clone(), 0..4);
        let weighted = proptest::collection::vec((1..4_u32, inner), 0..4);
        let picks = prop_oneof![Just(Pick::Random), Just(Pick::RandomOrder), Just(Pick::InTurn)];
        prop_oneof![
            (0..4_u32, steps.clone())
                .prop_map(|(n, steps)| Step::Loop { times: Times::Count(t(&n.to_string())), steps }),
            (any::<bool>(), steps.clone()).prop_map(|(of_user, steps)| {
                Step::Once { of: if of_user { OnceOf::User } else { OnceOf::Loop }, steps }
            }),
            (-1..2_i64, proptest::option::of(0..4_i64), steps.clone())
                .prop_map(|(skip, last, steps)| Step::ForEach { list: list(skip, last), steps }),
            steps.clone().prop_map(Step::Sequence),
            (0..120_u32, steps.clone()).prop_map(|(percent, steps)| Step::Portion {
                of: Portion::Percent(percent.into()),
                by_user: true,
                steps,
            }),
            steps.clone().prop_map(|steps| Step::Switch {
                value: t("${x}"),
                names: vec![t("r"); steps.len()],
                steps,
            }),
            steps
                .clone()
                .prop_map(|steps| Step::If { condition: Condition::parse("${x} < 2").unwrap(), steps }),
            steps.clone().prop_map(|steps| Step::While { condition: Condition::LastOk, steps }),
            (any::<bool>(), any::<bool>(), steps).prop_map(|(with_pauses, parent_only, steps)| {
                Step::Transaction { name: t("t"), with_pauses, parent_only, steps }
            }),
            (picks, weighted).prop_map(|(pick, steps)| Step::OneOf {
                pick,
                steps: steps
                    .into_iter()
                    .map(|(weight, step)| (NonZeroU32::new(weight).unwrap(), step))
                    .collect(),
            }),
        ]
    })
}

/// A request that looks at everything.
fn any_request(which: i32) -> Step {
    let of = |name: &str, how| Extraction {
        name: name.into(),
        part: Part::Body,
        how,
        which: which - 1,
        default: None,
    };
    let check = |check| Assertion { name: "c".into(), check, negated: which == 1 };
    let mut step = request_step("all");
    step.url = t("http://server/${x}/${r}");
    step.extractions = vec![
        of("r", Extractor::Regex { pattern: Template::text(r"(\w)(\d)?"), template: "$1$$2$".into() }),
        of("v", Extractor::Regex { pattern: t("(${r})"), template: "$1$".into() }),
        of("j", Extractor::Json { path: "$..*".into(), rules: JsonRules::AsFound }),
        of("l", Extractor::Json { path: "$..*".into(), rules: JsonRules::AsJoinedList }),
        of("b", Extractor::Boundary { left: "a".into(), right: "b".into() }),
        of("h", Extractor::Header { name: "Location".into() }),
    ];
    step.assertions = vec![
        check(Check::Json {
            path: "$.a".into(),
            value: Some(t("${x}")),
            regex: which != 2,
            or_null: which == 3,
            rules: if which == 1 { JsonRules::AsFound } else { JsonRules::AsList },
        }),
        check(Check::Text {
            part: Part::Headers,
            field: Field::Contains,
            patterns: vec![t("${r}"), t("(?=.)x?")],
            any: which == 2,
            ignore_status: which == 3,
            rules: if which == 4 { TextRules::NothingFitsEmpty } else { TextRules::Plain },
        }),
        check(Check::Size { part: None, bytes: t("${x}"), comparison: SizeComparison::AtLeast }),
    ];
    Step::Request(Box::new(step))
}

fn reply() -> impl Strategy<Value = Option<Reply>> {
    let header = prop_oneof![
        Just(("Location", "/next".to_owned())),
        r"\PC{0,12}".prop_map(|value| ("Location", value)),
        r"[a-c]=[0-9]{0,3}(; ?(Path=/|Max-Age=-?[0-9]{1,20}|Domain=\PC{0,5})){0,2}"
            .prop_map(|it| ("Set-Cookie", it)),
        r"\PC{0,12}".prop_map(|value| ("Set-Cookie", value)),
    ];
    let body = prop_oneof![r"[ab1-3]{0,20}", r#"\{"a":[0-9]\}"#, r"\[{0,200}", r"\PC{0,20}"];
    let status = prop_oneof![Just(200_u16), Just(302), Just(500), any::<u16>()];
    let reply = (status, proptest::collection::vec(header, 0..3), body);
    prop_oneof![
        1 => Just(None),
        9 => reply.prop_map(|(status, headers, body)| Some(Reply { status, headers, body })),
    ]
}

fn on_errors() -> impl Strategy<Value = OnError> {
    prop_oneof![4 => Just(OnError::Continue), 2 => Just(OnError::NextIteration), 1 => Just(OnError::StopLoad)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Whatever the answers are nothing panics, and the same seed and answers make the same requests, whatever another
    /// user does in between.
    #[test]
    fn same_seed_and_answers_same_requests(
        steps in proptest::collection::vec(step(), 0..4),
        replies in proptest::collection::vec(reply(), 1..8),
        on_error in on_errors(),
        seed in any::<u64>(),
    ) {
        let mut scenario = scenario(5, steps);
        scenario.groups[0].on_error = on_error;
        let prepared = Prepared::new(scenario).unwrap();
        let carried_out = |other: bool| {
            let mut world = world_of(seed, Share::WHOLE);
            let mut run = Run::new(&prepared, 3);
            let mut beside = Run::new(&prepared, 4);
            let mut turn = 0;
            for _ in 0..60 {
                if other {
                    beside.go(&mut world, 1, |_| Some(ok("1")));
                }
                run.go(&mut world, 1, |_| {
                    turn += 1;
                    replies[turn % replies.len()].clone()
                });
            }
            (run.did, run.verdicts, run.transactions)
        };
        let alone = carried_out(false);
        prop_assert_eq!(&alone, &carried_out(false));
        prop_assert_eq!(&alone, &carried_out(true));
    }
}

/// Ten thousand users fit in well below 100 MB.
#[test]
fn a_user_is_small() {
    assert!(size_of::<Session>() < 512, "{} bytes", size_of::<Session>());
    assert!(size_of::<Outgoing>() < 256, "{} bytes", size_of::<Outgoing>());
}

/// A load thread takes its users and its world along.
#[test]
fn users_and_worlds_go_from_thread_to_thread() {
    fn sent<T: Send>(value: T) -> T {
        std::thread::scope(|scope| scope.spawn(move || value).join()).unwrap()
    }
    let prepared = sent(Prepared::new(scenario(1, requests(&["a"]))).unwrap());
    let mut world = sent(world());
    let mut session = sent(Session::new(&prepared, 0, 0));
    assert!(matches!(session.next(&mut world, Instant::ORIGIN), Next::Request(_)));
}

/// What a body of brackets would do to a parser that recurses.
#[test]
fn no_answer_is_too_deep() {
    let Step::Request(all) = any_request(2) else { unreachable!() };
    let deep = "[".repeat(100_000);
    let run = run(scenario(1, vec![Step::Request(all)]), |_| Some(ok(&deep)));
    assert_eq!(run.verdicts.len(), 1);
}

#[test]
fn being_asked_out_of_turn_harms_nothing() {
    let prepared = Prepared::new(scenario(2, requests(&["a"]))).unwrap();
    let mut world = world();
    let mut session = Session::new(&prepared, 0, 0);
    let none = Answer::Failed { name: "reset" };
    let verdict = session.answered(&mut world, &none, Instant::ORIGIN, Instant::ORIGIN);
    assert_eq!(verdict.message.as_deref(), Some("no request was out"));
    assert!(matches!(session.next(&mut world, Instant::ORIGIN), Next::Request(_)));
    assert!(matches!(session.next(&mut world, Instant::ORIGIN), Next::Request(_)));
    assert_eq!(session.next(&mut world, Instant::ORIGIN), Next::Done(Ended::Finished));
    assert_eq!(session.next(&mut world, Instant::ORIGIN), Next::Done(Ended::Finished));
    let mut stranger = Session::new(&prepared, 9, 0);
    assert_eq!(stranger.next(&mut world, Instant::ORIGIN), Next::Done(Ended::Finished));
}
