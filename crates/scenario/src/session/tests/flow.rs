//! The order of steps.

use super::*;

fn count(times: &str, steps: Vec<Step>) -> Step {
    Step::Loop { times: Times::Count(t(times)), steps }
}

fn when(condition: &str, steps: Vec<Step>) -> Step {
    Step::If { condition: Condition::parse(condition).unwrap(), steps }
}

fn one_of(pick: Pick, steps: &[(u32, Step)]) -> Step {
    let weighted = |(weight, step): &(u32, Step)| (NonZeroU32::new(*weight).unwrap(), step.clone());
    Step::OneOf { pick, steps: steps.iter().map(weighted).collect() }
}

fn once(steps: Vec<Step>) -> Step {
    Step::Once { of: OnceOf::Loop, steps }
}

#[test]
fn steps_loops_and_conditions_in_order() {
    for (expected, iterations, steps) in [
        ("a b a b", 2, requests(&["a", "b"])),
        ("a ~5 b", 1, vec![request("a"), pause(5), pause(0), request("b")]),
        ("a a a b", 1, vec![count("3", requests(&["a"])), request("b")]),
        ("b", 1, vec![count("0", requests(&["a"])), count("${x}", requests(&["a"])), request("b")]),
        ("a a b a a b", 1, vec![count("2", vec![count("2", requests(&["a"])), request("b")])]),
        ("b", 1, vec![when("1 == 2", requests(&["a"])), when("'1' == '1'", requests(&["b"]))]),
        ("a b c", 1, vec![Step::Sequence(vec![Step::Sequence(requests(&["a", "b"]))]), request("c")]),
        ("", 3, vec![]),
        ("", 3, vec![when("1 == 2", requests(&["a"]))]),
    ] {
        assert_eq!(line(iterations, steps), expected);
    }
}

#[test]
fn a_while_loop_looks_before_each_turn() {
    let body = vec![request("a"), set("n", "${__intSum(${n},1)}")];
    let condition = Condition::parse("${n} < 3").unwrap();
    let mut scenario = scenario(1, vec![Step::While { condition, steps: body }, request("z")]);
    scenario.variables.push(("n".into(), t("0")));
    assert_eq!(run(scenario, |_| Some(ok(""))).line(), "a a a z");
}

/// JMeter: once a thread under the thread group, and in the first turn of a loop each time that begins.
#[test]
fn once_only_is_once_a_user_or_once_a_loop() {
    assert_eq!(line(3, vec![once(requests(&["login"])), request("a")]), "login a a a");
    let looped = count("2", vec![once(requests(&["login"])), request("a")]);
    assert_eq!(line(2, vec![looped]), "login a a login a a");
    let within = count("2", vec![Step::Sequence(vec![once(requests(&["x"]))]), request("a")]);
    assert_eq!(line(1, vec![within]), "x a a");
}

/// JMeter below anything but a loop: until it was gone through, also where an error cuts it off.
#[test]
fn once_a_user_is_until_it_was_gone_through() {
    let once = || Step::Once { of: OnceOf::User, steps: requests(&["in", "out"]) };
    let mut scenario = scenario(4, vec![request("a"), once()]);
    scenario.groups[0].on_error = OnError::NextIteration;
    let mut asked = 0;
    let run = run(scenario, |_| {
        asked += 1;
        // The first is cut off before it, the second within it.
        Some(if [1, 4].contains(&asked) { status(500) } else { ok("") })
    });
    assert_eq!(run.line(), "a a in out a in out a");
    let looped = count("2", vec![once(), request("a")]);
    assert_eq!(line(2, vec![looped]), "in out a a a a");
}

/// JMeter's ForEach controller.
#[test]
fn a_list_is_gone_through_as_far_as_its_numbers_follow_each_other() {
    let looped = |skip: i64, last: Option<i64>| {
        let (prefix, item, index) = ("id_".to_owned(), "id".to_owned(), "turn".to_owned());
        let list = List { prefix, skip, last, item, index };
        let steps = vec![Step::ForEach { list, steps: requests(&["${turn}${id}"]) }, request("${turn}${id}")];
        let mut scenario = scenario(1, steps);
        for (name, value) in [("id_0", "z"), ("id_1", "a"), ("id_2", "b"), ("id_3", "c"), ("id_5", "e")] {
            scenario.variables.push((name.into(), t(value)));
        }
        run(scenario, |_| Some(ok(""))).line()
    };
    for (skip, last, expected) in [
        (0, None, "0a 1b 2c 0a"),
        (1, None, "1b 2c 1b"),
        (0, Some(2), "0a 1b 0a"),
        (1, Some(9), "1b 2c 1b"),
        (-1, Some(1), "-1z 0a -1z"),
        (0, Some(0), "0${id}"),
        (3, None, "3${id}"),
        (2, Some(1), "2${id}"),
    ] {
        assert_eq!(looped(skip, last), expected, "{skip} {last:?}");
    }
}

/// JMeter's runtime controller: before each step right within it its time is looked at, and nowhere else. An answer takes 10 ms.
#[test]
fn steps_are_done_for_so_long() {
    let so_long = |ms: u64, steps: Vec<Step>| Step::For { length: Duration::from_millis(ms), steps };
    for (ms, expected) in [(5, "a z"), (10, "a z"), (15, "a b z"), (25, "a b a z"), (41, "a b a b a z")] {
        assert_eq!(line(1, vec![so_long(ms, requests(&["a", "b"])), request("z")]), expected, "{ms} ms");
    }
    let both = Step::Sequence(requests(&["a", "b"]));
    assert_eq!(line(2, vec![so_long(5, vec![both, request("c")]), request("z")]), "a b z a b z");
}

/// JMeter's interleave controller goes on to the next of its children each time.
#[test]
fn in_turn_goes_on_from_where_it_was() {
    let steps = [(1, request("a")), (1, Step::Sequence(requests(&["b", "c"]))), (1, request("d"))];
    assert_eq!(line(4, vec![one_of(Pick::InTurn, &steps), request("z")]), "a z b c z d z a z");
    let two = vec![one_of(Pick::InTurn, &steps[..1]), one_of(Pick::InTurn, &steps)];
    assert_eq!(line(2, two), "a a a b c", "each step that takes turns has its own");
    assert_eq!(line(2, vec![one_of(Pick::InTurn, &[]), request("z")]), "z z");
}

/// JMeter's interleave controller after an error: it has gone on from a request, and not from a controller that was left.
#[test]
fn in_turn_to_the_end_comes_back_to_what_was_left() {
    let steps = [(1, Step::Sequence(requests(&["a", "bad", "b"]))), (1, request("bad")), (1, request("c"))];
    for (pick, expected) in [
        (Pick::InTurnToTheEnd, "a bad a bad b z bad c z a bad b z"),
        (Pick::InTurn, "a bad bad z c z a bad bad z"),
    ] {
        let mut scenario = scenario(5, vec![one_of(pick, &steps), request("z")]);
        scenario.groups[0].on_error = OnError::NextIteration;
        let mut bad = 0;
        let run = run(scenario, |outgoing| {
            bad += u32::from(outgoing.label == "bad");
            let fails = outgoing.label == "bad" && [1, 3].contains(&bad);
            Some(if fails { status(500) } else { ok("") })
        });
        assert_eq!(run.line(), expected, "{pick:?}");
    }
}

#[test]
fn a_random_choice_keeps_to_the_weights() {
    let steps = [(7, request("a")), (2, request("b")), (1, request("c"))];
    let line = line(2000, vec![one_of(Pick::Random, &steps)]);
    let share = |label: &str| line.split(' ').filter(|word| *word == label).count();
    assert_eq!(share("a") + share("b") + share("c"), 2000);
    // Four standard deviations of a binomial count.
    for (label, expected, slack) in [("a", 1400, 82), ("b", 400, 72), ("c", 200, 54)] {
        assert!(share(label).abs_diff(expected) <= slack, "{label}: {}", share(label));
    }
}

/// The weighted switch controller of JMeter's plug-ins, by the arithmetic of its source: 1/3, 1/6 and 1/2 less the shares so far.
#[test]
fn by_share_takes_what_is_furthest_behind() {
    let steps = [(2, request("a")), (1, Step::Sequence(requests(&["b", "d"]))), (3, request("c"))];
    let expected = "c a b d c a c c a b d c a c";
    assert_eq!(line(12, vec![one_of(Pick::ByShare, &steps)]), expected);
    let alike = [(5, request("a")), (5, request("b"))];
    assert_eq!(line(4, vec![one_of(Pick::ByShare, &alike), request("z")]), "a z b z a z b z");
    let two = vec![one_of(Pick::ByShare, &alike), one_of(Pick::ByShare, &alike)];
    assert_eq!(line(2, two), "a a b b", "each counts by itself");
}

/// JMeter's random order controller goes through all of its children, each once.
#[test]
fn random_order_takes_each_once_an_iteration() {
    let steps: Vec<(u32, Step)> = ["a", "b", "c", "d"].into_iter().map(|name| (1, request(name))).collect();
    let line = line(20, vec![one_of(Pick::RandomOrder, &steps)]);
    let words: Vec<&str> = line.split(' ').collect();
    for iteration in words.chunks(4) {
        let mut sorted = iteration.to_vec();
        sorted.sort_unstable();
        assert_eq!(sorted, ["a", "b", "c", "d"]);
    }
    assert!(words.chunks(4).any(|iteration| iteration != &words[..4]), "always the same order: {line}");
}

#[test]
fn what_follows_a_failure() {
    for (on_error, expected) in [
        (OnError::Continue, "a bad c a bad c"),
        (OnError::NextIteration, "a bad a bad"),
        (OnError::StopUser, "a bad"),
        (OnError::StopLoad, "a bad StopLoad"),
        (OnError::StopNow, "a bad StopNow"),
    ] {
        let steps = vec![count("1", requests(&["a", "bad", "c"]))];
        let mut scenario = scenario(2, steps);
        scenario.groups[0].on_error = on_error;
        let bad = |outgoing: &Outgoing| Some(if outgoing.label == "bad" { status(500) } else { ok("") });
        assert_eq!(run(scenario.clone(), bad).line(), expected, "{on_error:?}");
        let lost = |outgoing: &Outgoing| (outgoing.label != "bad").then(|| ok(""));
        assert_eq!(run(scenario, lost).line(), expected, "{on_error:?}");
    }
}

/// What the group and the request say: the one that goes further.
#[test]
fn a_request_may_say_what_follows_its_own_failure() {
    for (of_group, of_request, expected) in [
        (OnError::Continue, OnError::Continue, "a bad c a bad c"),
        (OnError::Continue, OnError::NextIteration, "a bad a bad"),
        (OnError::Continue, OnError::StopUser, "a bad"),
        (OnError::StopUser, OnError::NextIteration, "a bad"),
        (OnError::NextIteration, OnError::StopLoad, "a bad StopLoad"),
        (OnError::StopLoad, OnError::StopNow, "a bad StopNow"),
    ] {
        let own = RequestStep { on_error: of_request, ..request_step("bad") };
        let steps = vec![request("a"), Step::Request(Box::new(own)), request("c")];
        let mut scenario = scenario(2, steps);
        scenario.groups[0].on_error = of_group;
        let bad = |outgoing: &Outgoing| Some(if outgoing.label == "bad" { status(500) } else { ok("") });
        assert_eq!(run(scenario, bad).line(), expected, "{of_group:?} {of_request:?}");
    }
}

#[test]
fn steps_without_end_end_under_a_name() {
    let empty = Step::Loop { times: Times::Forever, steps: vec![set("a", "1")] };
    assert_eq!(line(1, vec![request("a"), empty]), "a Endless");
    let never = when("1 == 2", requests(&["a"]));
    let mut idle = scenario(1, vec![never]);
    idle.groups[0].users = Users::Closed {
        count: NonZeroU32::MIN,
        ramp_up: Duration::ZERO,
        delay: Duration::ZERO,
        iterations: None,
        duration: Some(Duration::from_secs(1)),
    };
    assert_eq!(run(idle, |_| Some(ok(""))).line(), "Endless");
    let mut unsendable = request_step("a");
    unsendable.url = t("${nowhere}");
    let all = Step::Loop { times: Times::Forever, steps: vec![Step::Request(Box::new(unsendable))] };
    let run = run(scenario(1, vec![all]), |_| Some(ok("")));
    assert_eq!(run.did.len(), 1001);
    assert_eq!(run.did.last(), Some(&Did::Ended(Ended::Endless)));
    assert_eq!(run.did[0], Did::Unsent("`${nowhere}` is not a URL (relative URL without a base)".into()));
}

/// Browsers take the path's first part for the host there, and the request would go to a server that nobody named.
#[test]
fn a_server_that_comes_to_nothing_is_none() {
    for (server, path, expected) in [
        ("", "/news/today", "`http:///news/today` names no host"),
        ("\n", "/news", "`http://\n/news` names no host"),
        ("/", "news", "`http:///news` names no host"),
        ("\\", "news", "`http://\\news` names no host"),
    ] {
        let asked = RequestStep { url: t("http://${server}${path}"), ..request_step("a") };
        let mut scenario = scenario(1, vec![Step::Request(Box::new(asked))]);
        for (name, value) in [("server", server), ("path", path)] {
            scenario.variables.push((name.into(), Template::text(value)));
        }
        let run = run(scenario, |_| Some(ok("")));
        assert_eq!(run.did[0], Did::Unsent(expected.into()), "{server:?}");
    }
    let asked = RequestStep { url: t("http://server//a"), ..request_step("a") };
    assert_eq!(line(1, vec![Step::Request(Box::new(asked))]), "a", "slashes behind it are the path's");
}

/// A plan may be anybody's, and have each value twice the one before it.
#[test]
fn values_that_grow_without_end_cost_requests_and_no_memory() {
    let doubling = Step::Loop { times: Times::Count(t("60")), steps: vec![set("a", "${a}${a}")] };
    let run = run(scenario(1, vec![set("a", "0123456789"), doubling, request("x"), request("y")]), |_| {
        Some(ok(""))
    });
    assert_eq!(run.did[0], Did::Unsent("a text came to more than 16 MiB".into()), "{:?}", run.line());
    assert!(run.line().contains('y'), "what does not depend on it is sent: {}", run.line());
}

#[test]
fn the_last_answer_decides_a_condition() {
    let as_text = Condition::Equal(Template(vec![Piece::LastOk]), t("true"));
    let steps = vec![
        request("a"),
        when("last_ok", requests(&["good"])),
        when("!last_ok", requests(&["bad"])),
        Step::If { condition: as_text, steps: requests(&["again"]) },
    ];
    assert_eq!(line(1, steps.clone()), "a good again");
    let first_fails = |outgoing: &Outgoing| Some(if outgoing.label == "a" { status(404) } else { ok("") });
    assert_eq!(run(scenario(1, steps), first_fails).line(), "a bad again");
}

#[test]
fn one_iteration_of_a_user_who_arrives() {
    let mut arriving = scenario(5, requests(&["a", "b"]));
    arriving.groups[0].users = Users::Open { spans: Vec::new(), poisson: false, seats_max: None };
    assert_eq!(run(arriving, |_| Some(ok(""))).line(), "a b");
}

fn transaction(with_pauses: bool, parent_only: bool, steps: Vec<Step>) -> Step {
    Step::Transaction { name: t("buy ${__threadNum}"), with_pauses, parent_only, steps }
}

/// No record has room for it.
#[test]
fn a_step_with_too_long_a_name_is_refused() {
    let named = |bytes: usize| "a".repeat(bytes);
    let name = t(&format!("{}${{__threadNum}}", named(4097)));
    let whole =
        Step::Transaction { name, with_pauses: false, parent_only: false, steps: requests(&["a", "b"]) };
    for step in [request(&named(4097)), whole] {
        let error = Prepared::new(scenario(1, vec![step])).unwrap_err().to_string();
        let says = "has 4097 bytes, and none has more than 4096; give it a shorter one";
        assert!(error.starts_with("the name of the step `aaa") && error.ends_with(says), "{error}");
    }
    Prepared::new(scenario(1, vec![request(&named(4096))])).unwrap();
}

/// JMeter's transaction controller, with and without "include duration of timer".
#[test]
fn a_transaction_takes_its_requests_time_and_its_pauses_if_so_wished() {
    for (with_pauses, elapsed_ms, to_ms) in [(false, 20, 120), (true, 130, 130)] {
        let steps = vec![request("a"), pause(100), request("b"), pause(10)];
        let run =
            run(scenario(1, vec![transaction(with_pauses, false, steps), request("z")]), |_| Some(ok("")));
        let [it] = run.transactions.as_slice() else { panic!("{:?}", run.transactions) };
        assert_eq!((it.label.as_str(), it.samples, it.failed, it.ok), ("buy 1", 2, 0, true));
        assert_eq!(it.from, Instant::ORIGIN);
        assert_eq!(it.elapsed, Duration::from_millis(elapsed_ms));
        assert_eq!(it.to.since(it.from), Duration::from_millis(to_ms));
        assert!(run.sent().iter().all(|outgoing| !outgoing.within_parent));
    }
}

#[test]
fn a_transaction_fails_with_its_requests_and_with_being_left() {
    let steps = vec![transaction(
        false,
        true,
        vec![request("a"), transaction(false, false, requests(&["bad", "c"]))],
    )];
    let bad = |outgoing: &Outgoing| Some(if outgoing.label == "bad" { status(500) } else { ok("") });
    let mut scenario = scenario(1, steps);
    let through = run(scenario.clone(), bad);
    let found = |run: &Run| -> Vec<(u32, u32, bool, bool, bool)> {
        run.transactions
            .iter()
            .map(|it| (it.samples, it.failed, it.ok, it.parent_only, it.within_parent))
            .collect()
    };
    assert_eq!(found(&through), [(2, 1, false, false, true), (3, 1, false, true, false)]);
    assert!(through.transactions.iter().all(|it| it.is_whole), "a bad answer is one");
    assert!(through.sent().iter().all(|outgoing| outgoing.within_parent));
    scenario.groups[0].on_error = OnError::NextIteration;
    let left = run(scenario.clone(), bad);
    assert_eq!(left.line(), "a bad");
    assert_eq!(found(&left), [(1, 1, false, false, true), (2, 1, false, true, false)]);
    assert!(left.transactions.iter().all(|it| !it.broken_off && !it.is_whole));
    scenario.groups[0].on_error = OnError::StopUser;
    let broken_off = run(scenario, bad);
    assert_eq!(found(&broken_off), found(&left));
    // The request that ends a transaction is of it, too.
    for run in [&through, &left, &broken_off] {
        let ms = |count: u32| Duration::from_millis(count.into());
        assert!(run.transactions.iter().all(|it| {
            let count = u64::from(it.samples);
            let bytes = (it.sums.received_bytes, it.sums.sent_bytes) == (100 * count, 10 * count);
            bytes && it.sums.latency == ms(5 * it.samples) && it.sums.connect == ms(it.samples)
        }));
    }
    assert!(broken_off.transactions.iter().all(|it| it.broken_off && !it.is_whole));
}

/// What a request without an answer would have taken is not known, and so it is not of what holds it.
#[test]
fn a_transaction_is_whole_where_each_of_its_requests_was_answered() {
    let mut unsendable = request_step("c");
    unsendable.url = t("${nowhere}");
    let steps = vec![
        transaction(false, false, vec![request("a"), transaction(true, false, vec![request("lost")])]),
        transaction(false, false, vec![request("b")]),
        transaction(false, false, vec![Step::Request(Box::new(unsendable))]),
    ];
    let run = run(scenario(1, steps), |outgoing| (outgoing.label != "lost").then(|| ok("")));
    let found: Vec<(u32, bool)> = run.transactions.iter().map(|it| (it.samples, it.is_whole)).collect();
    assert_eq!(found, [(1, false), (2, false), (1, true), (1, false)]);
}

/// Of what a user is in the midst of when its load ends, it is only known that it would have taken longer.
#[test]
fn a_transaction_is_cut_off_with_its_load_unless_it_was_gone_through() {
    let ms = Duration::from_millis;
    let whole = transaction(true, false, vec![request("a"), pause(100), request("b")]);
    let found = |session: &mut Session| -> Vec<(u32, bool, bool, bool, Duration)> {
        let all = session.transactions();
        all.iter().map(|it| (it.samples, it.ok, it.is_whole, it.cut_off, it.elapsed)).collect()
    };
    let prepared = Prepared::new(scenario(1, vec![whole, request("z")])).unwrap();
    for (turns, expected) in [
        (1, (1, false, false, true, ms(10))),
        (2, (1, false, false, true, ms(110))),
        (3, (2, true, true, false, ms(120))),
    ] {
        let (mut run, mut world) = (Run::new(&prepared, 0), world());
        run.go(&mut world, turns, |_| Some(ok("")));
        assert_eq!(run.transactions, [], "{turns}");
        run.session.cut_off(run.now);
        assert_eq!(found(&mut run.session), [expected], "{turns}");
        run.session.cut_off(run.now);
        assert_eq!(found(&mut run.session), [], "each is told of once");
    }
    // A request that is out has not failed.
    let (mut session, mut world) = (Session::new(&prepared, 0, 0), world());
    assert!(matches!(session.next(&mut world, Instant::ORIGIN), Next::Request(_)));
    let end = Instant::ORIGIN + ms(50);
    let verdict = session.abandoned(Instant::ORIGIN, end);
    assert!(verdict.over && !verdict.ok, "{verdict:?}");
    session.cut_off(end);
    let told = session.transactions();
    assert_eq!((told.len(), told[0].samples, told[0].failed, told[0].cut_off), (1, 1, 0, true));
    assert_eq!(told[0].elapsed, ms(50));
    assert_eq!(session.next(&mut world, end), Next::Done(Ended::Finished));
}

/// A loop that has a turn left, and one that would have looked whether it has, are no end.
#[test]
fn a_transaction_that_a_loop_may_go_on_with_is_cut_off() {
    let cut_off = |inside: Step, turns: u32| {
        let prepared = Prepared::new(scenario(1, vec![transaction(false, false, vec![inside])])).unwrap();
        let (mut run, mut world) = (Run::new(&prepared, 0), world());
        run.go(&mut world, turns, |_| Some(ok("")));
        run.session.cut_off(run.now);
        run.session.transactions().iter().map(|it| it.cut_off).collect::<Vec<bool>>()
    };
    assert_eq!(cut_off(count("2", requests(&["a"])), 1), [true]);
    assert_eq!(cut_off(count("2", requests(&["a"])), 2), [false]);
    assert_eq!(cut_off(Step::While { condition: Condition::LastOk, steps: requests(&["a"]) }, 1), [true]);
}

/// Whoever adds up what lies within a transaction has all of it when that is over.
#[test]
fn what_could_not_be_sent_is_told_before_the_transaction_that_it_ends() {
    let mut unsendable = request_step("a");
    unsendable.url = t("${nowhere}");
    let steps = vec![transaction(false, true, vec![Step::Request(Box::new(unsendable)), request("b")])];
    let mut scenario = scenario(1, steps);
    scenario.groups[0].on_error = OnError::NextIteration;
    let prepared = Prepared::new(scenario).unwrap();
    let (mut run, mut world) = (Run::new(&prepared, 0), world());
    run.go(&mut world, 1, |_| None);
    assert_eq!((run.line().as_str(), run.transactions.len()), ("!", 0));
    run.go(&mut world, 1, |_| None);
    assert_eq!((run.line().as_str(), run.transactions.len()), ("!", 1));
    assert_eq!((run.transactions[0].samples, run.transactions[0].failed), (1, 1));
}

/// JMeter's throughput controller: by percent as evenly as it goes, or so often and no more.
#[test]
fn a_portion_is_done_in_a_part_of_the_times() {
    let portion = |of: Portion, by_user: bool| {
        let some = Step::Portion { of, by_user, steps: requests(&["x", "y"]) };
        line(5, vec![some, request("z")])
    };
    assert_eq!(portion(Portion::Percent(50.0), true), "z x y z z x y z z");
    assert_eq!(portion(Portion::Percent(100.0), false), "x y z x y z x y z x y z x y z");
    assert_eq!(portion(Portion::Percent(0.0), true), "z z z z z");
    assert_eq!(portion(Portion::First(2), true), "x y z x y z z z z");
    // Two users: what both count together, and what each counts by itself.
    let of_two = |by_user: bool| {
        let some = Step::Portion { of: Portion::First(1), by_user, steps: requests(&["x"]) };
        let prepared = Prepared::new(scenario(1, vec![some, request("z")])).unwrap();
        let mut world = world();
        [0, 1].map(|user| {
            let mut run = Run::new(&prepared, user);
            run.go(&mut world, 100, |_| Some(ok("")));
            run.line()
        })
    };
    assert_eq!(of_two(false), ["x z", "z"]);
    assert_eq!(of_two(true), ["x z", "x z"]);
}

/// JMeter takes out what was done often enough, and what holds nothing else with it.
#[test]
fn what_was_done_often_enough_is_not_come_to_again() {
    let first = |times: u64, by_user: bool, label: &str| Step::Portion {
        of: Portion::First(times),
        by_user,
        steps: requests(&[label]),
    };
    let two_of = |label: &str| first(2, true, label);
    let forever = Step::Loop { times: Times::Forever, steps: vec![two_of("a")] };
    assert_eq!(line(2, vec![forever, request("z")]), "a a z z");
    let steps = vec![two_of("a"), Step::Sequence(vec![first(3, true, "b")])];
    let always = Step::While { condition: Condition::parse("'1' == '1'").unwrap(), steps };
    assert_eq!(line(2, vec![always, request("z")]), "a b a b b z z");
    let mut endless = scenario(1, vec![set("n", "1"), two_of("a")]);
    endless.groups[0].users = Users::Closed {
        count: NonZeroU32::MIN,
        ramp_up: Duration::ZERO,
        delay: Duration::ZERO,
        iterations: None,
        duration: None,
    };
    assert_eq!(run(endless, |_| Some(ok(""))).line(), "a a");
    // The second user comes to it once, and finds nothing left.
    let whole = transaction(false, false, vec![first(1, false, "a")]);
    let prepared = Prepared::new(scenario(3, vec![whole, request("z")])).unwrap();
    let mut world = world();
    let of_both = [0, 1].map(|user| {
        let mut run = Run::new(&prepared, user);
        run.go(&mut world, 100, |_| Some(ok("")));
        (run.line(), run.transactions.iter().map(|it| it.samples).collect::<Vec<_>>())
    });
    assert_eq!(of_both, [("a z z z".to_owned(), vec![1]), ("z z z".to_owned(), vec![0])]);
}

/// JMeter's switch controller.
#[test]
fn a_switch_takes_the_step_with_the_number_or_the_name() {
    let chosen = |value: &str, last: &str| {
        let names = vec![t("first"), t("${n}"), t(last)];
        let steps = vec![request("a"), Step::Sequence(requests(&["b", "c"])), request("d")];
        let mut scenario = scenario(1, vec![Step::Switch { value: t(value), names, steps }, request("z")]);
        scenario.variables.push(("n".into(), t("second")));
        run(scenario, |_| Some(ok(""))).line()
    };
    for (value, expected) in [
        ("", "a z"),
        ("0", "a z"),
        (" 1 ", "b c z"),
        ("02", "d z"),
        ("3", "a z"),
        ("-1", "z"),
        ("99999999999", "z"),
        ("first", "a z"),
        ("First", "z"),
        ("${n}", "b c z"),
        ("${nothing}", "z"),
    ] {
        assert_eq!(chosen(value, "third"), expected, "{value:?}");
    }
    assert_eq!(chosen("else", "DEFAULT"), "d z");
}

#[test]
fn a_user_leaves_where_it_is_told_to() {
    for (what_then, expected) in [
        (OnError::Continue, "a c z a c z"),
        (OnError::NextIteration, "a a"),
        (OnError::StopUser, "a"),
        (OnError::StopLoad, "a StopLoad"),
        (OnError::StopNow, "a StopNow"),
    ] {
        let inside = vec![request("a"), Step::Leave(what_then), request("c")];
        assert_eq!(line(2, vec![count("1", inside), request("z")]), expected, "{what_then:?}");
    }
    let mut forever = scenario(1, vec![Step::Leave(OnError::NextIteration), request("a")]);
    forever.groups[0].users = Users::Closed {
        count: NonZeroU32::MIN,
        ramp_up: Duration::ZERO,
        delay: Duration::ZERO,
        iterations: None,
        duration: None,
    };
    assert_eq!(run(forever, |_| Some(ok(""))).line(), "Endless");
}

#[test]
fn a_file_that_is_the_body_is_sent_byte_by_byte() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("body.bin");
    std::fs::write(&file, [0, 255, 10]).unwrap();
    let step = RequestStep { method: t("POST"), body_file: Some(file.clone()), ..request_step("a") };
    let steps = vec![Step::Request(Box::new(step))];
    let run = run(scenario(1, steps.clone()), |_| Some(ok("")));
    assert_eq!(run.sent()[0].body.to_vec(), [0, 255, 10]);
    std::fs::remove_file(&file).unwrap();
    let error = Prepared::new(scenario(1, steps)).unwrap_err().to_string();
    assert!(error.contains("body.bin") && error.contains("cannot be read"), "{error}");
}
