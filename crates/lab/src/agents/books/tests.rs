use std::collections::BTreeMap;

use agent::{Ready, ThreadTotals};
use engine::{GO_AWAY_KINDS, Outcome, Sample};
use plan::LoadArguments;
use units::Rate;

use super::*;
use crate::books::{ThreadEnd, go_aways};

fn names(count: usize) -> Vec<String> {
    (0..count).map(|it| format!("h{it}")).collect()
}

/// What a load thread did in the second with this number.
fn second(thread: u32, number: u64) -> (Box<Told>, Interval) {
    let mut interval = Interval::default();
    interval.tally.done = 1;
    let at = Duration::from_secs(number);
    (Box::new(Told::new(thread, at, at + Duration::from_secs(1), &interval, &[])), interval)
}

/// The same with an answer in it.
fn answered(number: u64) -> (Box<Told>, Interval) {
    let mut interval = Interval::default();
    let from = Duration::from_secs(number);
    let at = Instant::ORIGIN + from;
    interval.record(&Sample {
        intended: at,
        ready: at,
        sent: Some(at),
        done: at + Duration::from_millis(2),
        first_byte: None,
        arrived: None,
        outcome: Outcome::Answered { status: 200, expected: true },
        received_bytes: 1,
        due_in_window: true,
        done_in_window: true,
    });
    (Box::new(Told::new(0, from, from + Duration::from_secs(1), &interval, &[])), interval)
}

fn books(plan: &LoadPlan, agents: usize) -> SharedBooks<'_> {
    let mut books = SharedBooks::new(plan, names(agents));
    books.begin(Instant::ORIGIN, vec![joined(1); agents]);
    books
}

fn joined(threads: u32) -> Joined {
    Joined { ready: Ready { threads, io: "epoll".into(), refused: None }, ..Joined::default() }
}

fn take(books: &mut SharedBooks<'_>, agent: usize, number: u64) -> u64 {
    tell(books, agent, second(0, number))
}

fn tell(books: &mut SharedBooks<'_>, agent: usize, (told, interval): (Box<Told>, Interval)) -> u64 {
    books.take(agent, told, &interval, &mut |_, _, _, _| {}, &mut |_| {});
    books.whole.whole.tally.done
}

fn lose(books: &mut SharedBooks<'_>, agent: usize) {
    let told_to = books.agents[agent].told_to();
    let lost = Lost { agent, told_to, why: "ended".into() };
    books.lost(lost, &mut |_, _, _, _| {}, &mut |_| {});
}

#[test]
fn of_users_nothing_is_merged_of_a_time_that_not_all_have_told_of() {
    let plan = LoadPlan::new(&LoadArguments::default()).unwrap();
    let mut books = books(&plan, 3);
    let merged = [(0, 0), (0, 1), (1, 0), (2, 0), (1, 1), (0, 2), (2, 1), (1, 2)]
        .map(|(agent, number)| take(&mut books, agent, number));
    assert_eq!(merged, [0, 0, 0, 3, 3, 3, 6, 6]);
    // The third told of two seconds: what the others did in the third is compared with nothing.
    lose(&mut books, 2);
    assert_eq!((books.whole.whole.tally.done, books.cut), (6, Some(Duration::from_secs(2))));
    assert_eq!(take(&mut books, 0, 3), 6);
    assert!(books.held.is_empty());
    // Another that is lost later, and told of more, changes nothing.
    lose(&mut books, 1);
    assert_eq!(books.cut, Some(Duration::from_secs(2)));
}

/// One falls silent after a second, and the other had told of two by then.
#[test]
fn of_users_what_is_behind_the_end_of_the_window_counts_for_no_agent() {
    let plan = LoadPlan::new(&LoadArguments::default()).unwrap();
    let mut books = books(&plan, 2);
    for (agent, number) in [(0, 0), (0, 1), (1, 0)] {
        tell(&mut books, agent, answered(number));
    }
    lose(&mut books, 1);
    let of_each = |what: fn(&AgentBooks) -> u64| books.agents.iter().map(what).collect::<Vec<_>>();
    assert_eq!(of_each(|it| it.merged), [1, 1]);
    assert_eq!(of_each(|it| it.generator_lag.count()), [1, 1]);
    assert_eq!(books.whole.whole.tally.intended, 2);
    assert_eq!(of_each(|it| it.intended), [2, 1], "who takes over knows of all that was told");
}

/// One of ten requests goes out a millisecond late: of ten that tells next to nothing of the 99th percentile, of 300 all.
#[test]
fn the_longest_of_few_lags_is_no_99th_percentile() {
    let plan = LoadPlan::new(&LoadArguments::default()).unwrap();
    let last_lag = |requests: u64| {
        let mut interval = Interval::default();
        for number in 0..requests {
            let due = Instant::ORIGIN + Duration::from_millis(number);
            let late = Duration::from_millis(u64::from(number.is_multiple_of(10)));
            interval.record(&Sample {
                intended: due,
                ready: due,
                sent: Some(due + late),
                done: due + Duration::from_millis(2),
                first_byte: None,
                arrived: None,
                outcome: Outcome::Answered { status: 200, expected: true },
                received_bytes: 1,
                due_in_window: true,
                done_in_window: true,
            });
        }
        let (from, to) = (Duration::ZERO, Duration::from_secs(1));
        let mut books = books(&plan, 1);
        tell(&mut books, 0, (Box::new(Told::new(0, from, to, &interval, &[])), interval));
        books.agents[0].last_lag_p99
    };
    assert_eq!(last_lag(0), None);
    let of_few = last_lag(10).unwrap();
    assert!(of_few.is_lower_bound && of_few.value < Duration::from_micros(500), "{of_few}");
    let of_enough = last_lag(300).unwrap();
    assert!(!of_enough.is_lower_bound && of_enough.value > Duration::from_micros(900), "{of_enough}");
}

#[test]
fn of_a_rate_everything_is_merged_as_it_comes() {
    let rate = Rate::per_sec(10.0);
    let plan = LoadPlan::new(&LoadArguments { rate, ..LoadArguments::default() }).unwrap();
    let mut books = books(&plan, 2);
    assert_eq!([(0, 0), (0, 1), (1, 0)].map(|(agent, number)| take(&mut books, agent, number)), [1, 2, 3]);
    lose(&mut books, 0);
    assert_eq!(take(&mut books, 1, 1), 4);
    assert_eq!(books.lost_by(0, &[], false) + books.lost_by(1, &[], false), 50, "half of ten seconds");
}

/// Ten requests a second on two machines, one of which falls silent after a second; the load is ended after four.
#[test]
fn the_window_of_a_lost_agent_ends_where_those_of_the_others_do() {
    let rate = Rate::per_sec(10.0);
    let plan = LoadPlan::new(&LoadArguments { rate, ..LoadArguments::default() }).unwrap();
    let mut books = books(&plan, 2);
    take(&mut books, 1, 0);
    lose(&mut books, 1);
    let window_end_ns = Duration::from_secs(4).as_nanos();
    let threads = vec![ThreadTotals { window_end_ns, ..ThreadTotals::default() }];
    let end = End { last: vec![4], intended: 20, threads, interrupted: true, ..End::default() };
    books.ended(0, end, false, &mut |_, _, _, _| {}, &mut |_| {});
    let ends = books.thread_ends(None);
    let of_window = |it: &ThreadEnd| it.part.window.end.since(Instant::ORIGIN);
    assert_eq!(ends.iter().map(of_window).collect::<Vec<_>>(), [Duration::from_secs(4); 2]);
    assert_eq!(books.lost_by(1, &ends, true), 20, "half of four seconds");
}

/// Nobody tells its end where the load is ended while no machine can be reached: nothing was due after that.
#[test]
fn a_load_that_is_ended_while_no_machine_is_heard_of_is_over_then() {
    let rate = Rate::per_sec(10.0);
    let plan = LoadPlan::new(&LoadArguments { rate, ..LoadArguments::default() }).unwrap();
    let mut books = books(&plan, 1);
    take(&mut books, 0, 0);
    lose(&mut books, 0);
    let (stopped, of_window) =
        (Duration::from_secs(4), |it: &ThreadEnd| it.part.window.end.since(Instant::ORIGIN));
    let ends = books.thread_ends(Some(stopped));
    assert_eq!(ends.iter().map(of_window).collect::<Vec<_>>(), [stopped]);
    let told = books.lost_by(0, &ends, true);
    let whole = books.lost_by(0, &books.thread_ends(None), true);
    assert!(told > 0 && told < whole, "{told} of {whole}");
}

/// Of a load that a count ends, threads end one after another.
#[test]
fn of_users_a_thread_that_has_ended_holds_nothing_back() {
    let plan = LoadPlan::new(&LoadArguments::default()).unwrap();
    let mut books = SharedBooks::new(&plan, names(2));
    books.begin(Instant::ORIGIN, vec![joined(2); 2]);
    let ending = |thread: u32, number: u64, ends: bool| {
        let (told, interval) = second(thread, number);
        (Box::new(told.ending(ends)), interval)
    };
    assert_eq!(tell(&mut books, 0, ending(0, 0, true)), 0);
    assert_eq!(tell(&mut books, 0, ending(1, 0, false)), 0);
    assert_eq!(tell(&mut books, 1, ending(0, 0, false)), 0);
    assert_eq!(tell(&mut books, 1, ending(1, 0, true)), 4);
    for number in 1..100 {
        tell(&mut books, 0, ending(1, number, false));
        assert!(books.held.len() <= 1, "one thread of each goes on");
        assert_eq!(tell(&mut books, 1, ending(0, number, false)), 4 + 2 * number);
    }
    assert_eq!((books.held.len(), books.held_bytes, books.too_far_behind()), (0, 0, None));
}

/// One tells of a second and then of no other; what the other tells meanwhile can't be held for ever.
#[test]
fn of_users_who_keeps_too_much_from_being_merged_is_named() {
    let plan = LoadPlan::new(&LoadArguments::default()).unwrap();
    let mut books = books(&plan, 3);
    take(&mut books, 1, 0);
    take(&mut books, 2, 1);
    take(&mut books, 0, 1);
    let held_bytes = books.held_bytes;
    assert!(held_bytes > 0 && books.too_far_behind().is_none());
    books.held_bytes = HELD_BYTES_MAX + 1;
    assert_eq!(books.too_far_behind(), Some(1));
    lose(&mut books, 1);
    assert_eq!((books.held_bytes, books.too_far_behind()), (0, None), "what is behind the cut is dropped");
}

/// Two machines that were not watched any more ended their loads after three seconds.
#[test]
fn an_agent_that_ended_its_load_by_itself_says_when() {
    let plan = LoadPlan::new(&LoadArguments::default()).unwrap();
    let mut books = books(&plan, 2);
    let window_end_ns = Duration::from_secs(3).as_nanos();
    let threads = vec![ThreadTotals { window_end_ns, ..ThreadTotals::default() }];
    let end = End { last: vec![0], threads, interrupted: true, orphaned: true, ..End::default() };
    books.ended(1, end.clone(), true, &mut |_, _, _, _| {}, &mut |_| {});
    books.ended(0, end, false, &mut |_, _, _, _| {}, &mut |_| {});
    let early = |agent: usize| books.ended_early(&books.agents[agent]);
    assert_eq!((early(0), early(1)), (None, Some(Duration::from_secs(3))));
}

/// Each counts from the agreed begin, whatever its own clock shows.
#[test]
fn of_wrong_answers_on_two_machines_it_is_known_which_came_first() {
    let plan = LoadPlan::new(&LoadArguments::default()).unwrap();
    let mut books = books(&plan, 2);
    let came = [Duration::from_millis(700), Duration::from_millis(200)];
    for (agent, at) in came.into_iter().enumerate() {
        let threads = vec![ThreadTotals {
            first_wrong_answer: Some((500, None)),
            first_wrong_at_ns: at.as_nanos(),
            ..ThreadTotals::default()
        }];
        let end = End { last: vec![0], threads, ..End::default() };
        books.ended(agent, end, false, &mut |_, _, _, _| {}, &mut |_| {});
    }
    let ends = books.thread_ends(None);
    let wrong = ends.iter().filter_map(|it| it.part.first_wrong_answer.as_ref());
    let told: Vec<Duration> = wrong.map(|it| it.at.since(books.begin)).collect();
    assert_eq!(told, came);
}

/// Each machine tells it of its own connections.
#[test]
fn of_connections_that_the_server_ended_it_is_known_why() {
    let plan = LoadPlan::new(&LoadArguments::default()).unwrap();
    let mut books = books(&plan, 2);
    for (agent, code) in [(0, 2), (1, 11)] {
        let mut go_aways = [0; GO_AWAY_KINDS];
        (go_aways[0], go_aways[code]) = (1, 3);
        let threads = vec![ThreadTotals { go_aways, ..ThreadTotals::default() }];
        let end = End { last: vec![0], threads, ..End::default() };
        books.ended(agent, end, false, &mut |_, _, _, _| {}, &mut |_| {});
    }
    let due = [("enhance_your_calm", 3), ("internal_error", 3), ("no_error", 2)];
    let due = due.map(|(code, count)| (code.to_owned(), count));
    assert_eq!(go_aways(&books.thread_ends(None)), BTreeMap::from(due));
}

/// Somebody asked for the end when all was told, or nearly.
#[test]
fn a_load_that_was_whole_when_it_was_to_end_is_not_interrupted() {
    let plan = LoadPlan::new(&LoadArguments::default()).unwrap();
    let of = |first: bool, second: Option<bool>| {
        let mut books = books(&plan, 2);
        let end = |interrupted| End { interrupted, ..End::default() };
        books.ended(0, end(first), false, &mut |_, _, _, _| {}, &mut |_| {});
        match second {
            Some(second) => books.ended(1, end(second), false, &mut |_, _, _, _| {}, &mut |_| {}),
            None => lose(&mut books, 1),
        }
        [true, false].map(|asked| books.was_interrupted(asked))
    };
    assert_eq!(of(false, Some(false)), [false, false]);
    assert_eq!(of(true, Some(false)), [true, false]);
    // What became of the one that is lost is not known.
    assert_eq!(of(false, None), [true, false]);
}
