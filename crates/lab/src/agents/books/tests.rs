use agent::ThreadTotals;
use plan::LoadArguments;
use units::Rate;

use super::*;
use crate::books::ThreadEnd;

fn names(count: usize) -> Vec<String> {
    (0..count).map(|it| format!("h{it}")).collect()
}

fn second(agent: usize, number: u64) -> Part {
    let mut interval = Interval::default();
    interval.tally.done = 1;
    let at = Duration::from_secs(number);
    let to = at + Duration::from_secs(1);
    Part { agent, thread: 0, from: at, to, interval: Box::new(interval), rates: Vec::new() }
}

fn books(plan: &LoadPlan, agents: usize) -> SharedBooks<'_> {
    let mut books = SharedBooks::new(plan, names(agents));
    for agent in 0..agents {
        let ready = ToConductor::Ready { threads: 1, io: "epoll".into(), refused: None };
        books.hear(agent, &ready);
    }
    books
}

fn take(books: &mut SharedBooks<'_>, agent: usize, number: u64) -> u64 {
    books.take(second(agent, number), &mut |_, _, _, _| {}, &mut |_| {});
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

#[test]
fn of_a_rate_everything_is_merged_as_it_comes() {
    let rate = Rate::per_sec(10.0);
    let plan = LoadPlan::new(&LoadArguments { rate, ..LoadArguments::default() }).unwrap();
    let mut books = books(&plan, 2);
    assert_eq!(
        [(0, 0), (0, 1), (1, 0)].map(|(agent, number)| take(&mut books, agent, number)),
        [1, 2, 3]
    );
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
    let end = End { last: vec![4], intended: 20, threads, interrupted: true, throttled_ns: None };
    books.ended(0, end, &mut |_, _, _, _| {}, &mut |_| {});
    let ends = books.thread_ends();
    let of_window = |it: &ThreadEnd| it.window.end.since(Instant::ORIGIN);
    assert_eq!(ends.iter().map(of_window).collect::<Vec<_>>(), [Duration::from_secs(4); 2]);
    assert_eq!(books.lost_by(1, &ends, true), 20, "half of four seconds");
}
