//! Whatever comes on a stream, it is an error at most.

use agent::{
    Agent, Assign, Booked, Conductor, End, Event, FRAME_BYTES_MAX, Frames, GREETING, Hello, Leave, Ready,
    Seen, Settings, Step, TELLS_WITHIN, ThreadTotals, ToAgent, ToConductor, Told,
};
use engine::{Expect, GO_AWAY_KINDS, Request};
use http::RequestKind;
use plan::{LoadArguments, LoadPlan};
use proptest::prelude::*;
use stats::Interval;
use units::{Duration, Instant};

fn conductor() -> Conductor {
    let (settings, assign) = load();
    Conductor::new(settings, assign, Instant::ORIGIN)
}

pub(crate) fn load() -> (Settings, Assign) {
    let plan = LoadPlan::new(&LoadArguments::default()).unwrap();
    let request = Request { bytes: [1][..].into(), kind: RequestKind::Ordinary };
    let assign = Assign::new("http://h/", ("h", 80), &plan, &request, &Expect::default()).unwrap();
    let settings = Settings {
        names: vec!["a".into(), "b".into()],
        version: "1".into(),
        ready_within: Duration::from_secs(1),
        resumable: false,
    };
    (settings, assign)
}

fn hello(version: &str) -> Hello {
    Hello { version: version.into(), node: "n".into(), cores: 1 }
}

fn failed(conductor: &mut Conductor) -> String {
    loop {
        if let Event::Failed(why) = conductor.poll_event().expect("it failed") {
            return why;
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_are_messages_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..2000), cut in 1usize..50) {
        let mut frames = if bytes.len() % 2 == 0 { Frames::greeted() } else { Frames::default() };
        let mut conductor = conductor();
        let mut agent = Agent::new(hello("1"), Instant::ORIGIN);
        for piece in bytes.chunks(cut) {
            frames.push(piece);
            while let Ok(Some(message)) = frames.next::<ToConductor>() {
                conductor.handle(0, Instant::ORIGIN, message);
            }
            while let Ok(Some(message)) = frames.next::<ToAgent>() {
                let _ = agent.handle(Instant::ORIGIN, message);
            }
        }
    }
}

#[test]
fn messages_at_the_wrong_time_are_survived() {
    let stray = [
        r#"{"pong":{"number":7,"clock_ns":18446744073709551615}}"#,
        r#"{"end":{"last":[],"intended":0,"threads":[],"interrupted":false,"orphaned":false,"throttled_ns":null}}"#,
        r#"{"ready":{"threads":3,"io":"epoll","refused":null}}"#,
    ];
    let mut conductor = conductor();
    for text in stray {
        let message: ToConductor = serde_json::from_str(text).unwrap();
        conductor.handle(0, Instant::ORIGIN, message.clone());
        conductor.handle(0, Instant::ORIGIN, ToConductor::Hello(hello("1")));
        conductor.handle(0, Instant::ORIGIN, message);
    }
    let mut agent = Agent::new(hello("1"), Instant::ORIGIN);
    assert!(agent.handle(Instant::ORIGIN, ToAgent::Begin { at_ns: 1 }).is_err());
    assert!(agent.handle(Instant::ORIGIN, ToAgent::Ack { thread: 9, seq: 1 }).is_err());
}

#[test]
fn an_agent_of_another_version_or_with_too_many_threads_ends_it_before_anything_is_sent() {
    let mut other = conductor();
    other.handle(1, Instant::ORIGIN, ToConductor::Hello(hello("0.3.0")));
    assert_eq!(failed(&mut other), "agent 1 (b) is 0.3.0, and this is 1; nothing was sent");
    for threads in [0, u32::MAX] {
        let mut odd = conductor();
        odd.handle(0, Instant::ORIGIN, ToConductor::Hello(hello("1")));
        let ready = Ready { threads, io: "epoll".into(), refused: None };
        odd.handle(0, Instant::ORIGIN, ToConductor::Ready(ready));
        assert!(failed(&mut odd).contains("threads, which no machine does"));
    }
}

/// It answers every ping, and tells of its load for ever.
#[test]
fn an_agent_that_never_ends_is_given_up_some_time_after_the_load_is_over() {
    let (_, assign) = load();
    let plan = assign.plan().unwrap();
    let over = Instant::ORIGIN + plan.warm_up + plan.stop.duration + plan.timeouts.drain;
    let (mut stopped, mut lost) = (None, None);
    goes_on(true, |now, conductor| {
        while let Some((agent, message)) = conductor.poll_message() {
            if agent == 0 && matches!(message, ToAgent::Stop) {
                stopped.get_or_insert(now);
            }
        }
        if let Some(why) = lost_for(conductor) {
            lost.get_or_insert((now, why));
        }
    });
    let after = |at: Instant| at.since(over).as_secs_f64();
    let (lost_at, why) = lost.expect("it is given up");
    assert!((20.0..=21.0).contains(&after(stopped.expect("it is stopped"))), "{stopped:?}");
    assert!((50.0..=51.0).contains(&after(lost_at)) && why.contains("last intervals"), "{lost_at:?} {why}");
}

/// It answers every ping, and tells nothing.
#[test]
fn an_agent_that_tells_nothing_of_its_load_is_given_up() {
    let mut lost = None;
    goes_on(false, |now, conductor| {
        if let Some(why) = lost_for(conductor) {
            lost.get_or_insert((now, why));
        }
    });
    let (at, why) = lost.expect("it is given up");
    assert_eq!(at, Instant::ORIGIN + TELLS_WITHIN);
    assert!(why.contains("tells nothing of its load for 20.0s"), "{why}");
}

/// A tunnel takes connections and ends them; or an agent that was started anew says who it is, and knows of no load.
#[test]
fn an_agent_that_never_has_the_load_again_does_not_come_back() {
    for says_hello in [false, true] {
        let (settings, assign) = load();
        let settings = Settings { resumable: true, ..settings };
        let books = || Booked { seen: vec![Seen::default()], ..Booked::default() };
        let begin = Instant::ORIGIN;
        let mut conductor = Conductor::restarted(settings, assign, begin, vec![books(), books()], begin);
        conductor.attach(0, begin);
        let mut lost = None;
        for quarter in 1..400 {
            let now = Instant::ORIGIN + Duration::from_millis(250 * quarter);
            conductor.detach(0, "ended");
            conductor.attach(0, now);
            if says_hello {
                conductor.handle(0, now, ToConductor::Hello(hello("1")));
            }
            conductor.handle_timeout(now);
            let events: Vec<Event> = std::iter::from_fn(|| conductor.poll_event()).collect();
            assert!(!events.iter().any(|it| matches!(it, Event::Back { .. })), "{events:?}");
            let own = events.into_iter().find_map(|it| match it {
                Event::Lost(it) if it.agent == 0 => Some(it.why),
                _ => None,
            });
            if let Some(why) = own {
                lost.get_or_insert((now, why));
            }
        }
        let (at, why) = lost.expect("it is lost");
        assert!(at <= Instant::ORIGIN + Duration::from_secs(21), "{at:?}");
        assert!(why.contains("did not come back"), "{why}");
    }
}

/// Two hundred seconds with an agent that answers, and tells of each of them if `tells`.
fn goes_on(tells: bool, mut each_second: impl FnMut(Instant, &mut Conductor)) {
    let mut conductor = running(1);
    for second in 1..200 {
        let now = Instant::ORIGIN + Duration::from_secs(second);
        conductor.handle(0, now, ToConductor::Pong { number: 1, clock_ns: now.as_nanos() });
        if tells {
            conductor.handle(0, now, told(second, Duration::from_secs(second), &Interval::default()));
        }
        conductor.handle_timeout(now);
        each_second(now, &mut conductor);
    }
}

/// Two agents of a load that runs, of so many threads each; the first has a stream.
fn running(threads: usize) -> Conductor {
    let (settings, assign) = load();
    let books = || Booked { seen: vec![Seen::default(); threads], ..Booked::default() };
    let begin = Instant::ORIGIN;
    let mut conductor = Conductor::restarted(settings, assign, begin, vec![books(), books()], begin);
    conductor.attach(0, Instant::ORIGIN);
    conductor
}

fn told(number: u64, to: Duration, interval: &Interval) -> ToConductor {
    let from = Duration::from_secs(number - 1).min(to);
    let mut told = Told::new(0, from, to, interval, &[]);
    (told.first, told.last) = (number, number);
    ToConductor::Interval(Box::new(told))
}

fn lost_for(conductor: &mut Conductor) -> Option<String> {
    std::iter::from_fn(|| conductor.poll_event()).find_map(|event| match event {
        Event::Lost(lost) if lost.agent == 0 => Some(lost.why),
        _ => None,
    })
}

fn ended(threads: Vec<ThreadTotals>) -> ToConductor {
    ToConductor::End(Box::new(End { last: vec![0], threads, ..End::default() }))
}

#[test]
fn an_agent_that_tells_what_no_load_can_be_is_given_up_with_the_reason() {
    let second = Duration::from_secs(1);
    let half = Duration::from_millis(300);
    let nothing = Interval::default();
    let mut much = Interval::default();
    much.tally.done = 600_000_000_000_000;
    let thread_7 = ToConductor::Interval(Box::new(Told::new(7, second, second, &nothing, &[])));
    let window = |from: Duration, to: Duration| {
        let (window_start_ns, window_end_ns) = (from.as_nanos(), to.as_nanos());
        ended(vec![ThreadTotals { window_start_ns, window_end_ns, ..ThreadTotals::default() }])
    };
    // All that the others did would be divided by the longest window.
    let (longer, shorter) = (window(Duration::ZERO, half * 55), window(second, second * 10));
    let many = ThreadTotals { connections_opened: u64::MAX, ..ThreadTotals::default() };
    let many_ended = ThreadTotals { go_aways: [u64::MAX; GO_AWAY_KINDS], ..ThreadTotals::default() };
    for (messages, part) in [
        (vec![thread_7], "a thread that it does not have"),
        (vec![told(2, second, &nothing)], "out of order"),
        (vec![told(1, second * 3600, &nothing)], "a time that is still to come"),
        (
            vec![told(1, half, &nothing), told(2, half * 2, &nothing)],
            "more intervals than there were seconds",
        ),
        (vec![told(1, second, &much), told(2, second * 2, &much)], "more than any load can come to"),
        (vec![window(Duration::ZERO, Duration::MAX)], "what it told is not all of it"),
        (vec![longer], "what it told is not all of it"),
        (vec![shorter], "what it told is not all of it"),
        (vec![ended(vec![many])], "totals that no load can have"),
        (vec![ended(vec![many_ended])], "totals that no load can have"),
        (vec![ended(Vec::new())], "what it told is not all of it"),
    ] {
        let mut conductor = running(1);
        for message in messages {
            // The load is one of ten seconds.
            conductor.handle(0, Instant::ORIGIN + second * 12, message);
        }
        let why = lost_for(&mut conductor).unwrap_or_else(|| panic!("it is not lost: {part}"));
        assert!(why.contains(part), "{why} and not {part}");
        let said: Vec<_> = std::iter::from_fn(|| conductor.poll_message()).collect();
        assert!(said.contains(&(0, ToAgent::Stop)) && said.contains(&(0, ToAgent::Bye)), "{said:?}");
    }
}

#[test]
fn an_agent_that_tells_of_a_load_before_it_begins_ends_it() {
    let second = Duration::from_secs(1);
    let long = Hello { node: "n".repeat(1 << 20), ..hello("1") };
    for (messages, part) in [
        (
            vec![told(1, second, &Interval::default())],
            "agent 0 (a) tells of a load that does not run; nothing",
        ),
        (vec![ended(Vec::new())], "agent 0 (a) tells of a load that does not run; nothing"),
        (vec![ToConductor::Hello(hello("1")), ToConductor::Hello(hello("1"))], "(a) says twice who it is"),
        (vec![ToConductor::Hello(long)], "(a) does not say who it is in a few words"),
        (vec![ToConductor::Refused { why: "é".repeat(1 << 20) }], "(a): éé"),
    ] {
        let mut conductor = conductor();
        for message in messages {
            conductor.handle(0, Instant::ORIGIN, message);
        }
        conductor.handle_timeout(Instant::ORIGIN + Duration::from_secs(3));
        let why = failed(&mut conductor);
        assert!(why.contains(part) && why.len() < 3000, "{why}");
    }
}

/// What the others would do after that is not the load that was asked for.
#[test]
fn an_agent_that_ends_its_load_by_itself_ends_it_for_all() {
    let mut conductor = running(1);
    let end =
        End { last: vec![0], threads: vec![ThreadTotals::default()], interrupted: true, ..End::default() };
    conductor.handle(0, Instant::ORIGIN, ToConductor::End(Box::new(end)));
    let by_itself = std::iter::from_fn(|| conductor.poll_event()).find_map(|event| match event {
        Event::Ended { agent: 0, by_itself, .. } => Some(by_itself),
        _ => None,
    });
    assert_eq!(by_itself, Some(true));
    let said: Vec<_> = std::iter::from_fn(|| conductor.poll_message()).collect();
    assert!(said.contains(&(1, ToAgent::Stop)), "{said:?}");
}

const OUR_LOAD: u64 = 7;

fn resume(load: u64, seen: &[u64]) -> ToAgent {
    ToAgent::Resume { load, seen: seen.to_vec() }
}

/// An agent that is ready, on a clock that begins a hundred seconds before.
fn ready() -> (Agent, Instant) {
    let now = Instant::ORIGIN + Duration::from_secs(100);
    let mut agent = Agent::new(hello("1"), now);
    agent.attach();
    let (_, assign) = load();
    for message in [resume(OUR_LOAD, &[]), ToAgent::Assign(Box::new(assign.numbered(OUR_LOAD)))] {
        agent.handle(now, message).unwrap();
    }
    agent.ready(1, "epoll", None);
    while agent.poll_message().is_some() {}
    (agent, now)
}

/// Another conductor comes to an agent that is ready, or loads, and to that of the first it is as if nobody had come.
#[test]
fn an_agent_that_carries_a_load_turns_down_another_and_goes_on() {
    for begins in [false, true] {
        let (mut agent, now) = ready();
        let second = Duration::from_secs(1);
        if begins {
            agent.handle(now, ToAgent::Begin { at_ns: now.as_nanos() }).unwrap();
            agent.tell(Told::new(0, Duration::ZERO, second, &Interval::default(), &[]), 0);
        }
        let orphaned_at = agent.poll_timeout();
        agent.attach();
        let (_, assign) = load();
        // One of another version says the last of it at once.
        for message in [
            ToAgent::Stop,
            ToAgent::Bye,
            ToAgent::Ping { number: 1 },
            resume(8, &[]),
            ToAgent::Assign(Box::new(assign.numbered(8))),
            ToAgent::Begin { at_ns: now.as_nanos() },
            ToAgent::Ack { thread: 0, seq: 1 },
            ToAgent::Stop,
            ToAgent::Bye,
        ] {
            assert_eq!(agent.handle(now + second, message.clone()), Ok(None), "{message:?}");
        }
        let said: Vec<_> = std::iter::from_fn(|| agent.poll_message()).collect();
        let refused = ToConductor::Refused { why: "carries another load".into() };
        assert_eq!(said, [ToConductor::Hello(hello("1")), refused]);
        assert_eq!(agent.poll_timeout(), orphaned_at, "nobody watches it by that");

        agent.attach();
        assert_eq!(agent.handle(now + second, resume(OUR_LOAD, &[])), Ok(None));
        let said: Vec<_> = std::iter::from_fn(|| agent.poll_message()).collect();
        assert!(matches!(said[..2], [ToConductor::Hello(_), ToConductor::Ready(_)]), "{said:?}");
        assert_eq!(
            said[2..].iter().filter(|it| matches!(it, ToConductor::Interval(_))).count(),
            usize::from(begins)
        );
        let stop = agent.handle(now + second, ToAgent::Stop).unwrap();
        assert_eq!(stop, Some(if begins { Step::Stop } else { Step::Leave(Leave::Done) }));
    }
}

/// The first that speaks of its load has it, and whoever leaves before it told it leaves nothing.
#[test]
fn an_agent_is_whose_conductor_spoke_first_and_told_a_load() {
    let now = Instant::ORIGIN;
    let mut agent = Agent::new(hello("1"), now);
    agent.attach();
    agent.handle(now, resume(OUR_LOAD, &[])).unwrap();
    assert!(agent.turned_down(8).is_some() && agent.turned_down(OUR_LOAD).is_none());
    let (_, assign) = load();
    let other = ToAgent::Assign(Box::new(assign.clone().numbered(8)));
    assert!(agent.handle(now, other.clone()).is_err(), "it spoke of another");
    agent.detach();
    agent.attach();
    assert_eq!(agent.handle(now, resume(8, &[])), Ok(None));
    assert!(matches!(agent.handle(now, other), Ok(Some(Step::Prepare(_)))));
    agent.detach();
    assert!(agent.turned_down(OUR_LOAD).is_some());
}

/// It was given up meanwhile. It hears of whose load it is, since otherwise it would not listen.
#[test]
fn an_agent_that_comes_back_late_is_told_to_end_the_load_of_this_conductor() {
    let (settings, assign) = load();
    let assign = assign.numbered(OUR_LOAD);
    let mut conductor = Conductor::new(settings, assign, Instant::ORIGIN);
    conductor.gone(1, "ended");
    while conductor.poll_message().is_some() {}
    conductor.handle(0, Instant::ORIGIN, ToConductor::Hello(hello("1")));
    let said: Vec<_> = std::iter::from_fn(|| conductor.poll_message()).collect();
    assert_eq!(said, [(0, resume(OUR_LOAD, &[])), (0, ToAgent::Stop), (0, ToAgent::Bye)]);
}

#[test]
fn an_agent_that_fails_tells_at_once_and_first_what_it_did() {
    let (mut agent, now) = ready();
    let began = agent.handle(now, ToAgent::Begin { at_ns: now.as_nanos() }).unwrap();
    assert_eq!(began, Some(Step::Begin(now)));
    let second = Duration::from_secs(1);
    agent.tell(Told::new(0, Duration::ZERO, second, &Interval::default(), &[]), 0);
    agent.refuse("the kernel refused a socket");
    assert!(matches!(agent.poll_message(), Some(ToConductor::Interval(_))));
    let refused = ToConductor::Refused { why: "the kernel refused a socket".into() };
    assert_eq!((agent.poll_message(), agent.poll_message()), (Some(refused), None));
}

#[test]
fn a_conductor_that_asks_on_and_does_not_listen_takes_no_memory() {
    let (mut agent, now) = ready();
    for number in 0..10_000 {
        agent.handle(now, ToAgent::Ping { number }).unwrap();
        agent.handle(now, resume(OUR_LOAD, &[0])).unwrap();
    }
    assert!(std::iter::from_fn(|| agent.poll_message()).count() <= 64);
}

/// What was due by then would go out at once, and be another load.
#[test]
fn an_agent_that_hears_too_late_of_the_begin_sends_nothing() {
    let (mut agent, now) = ready();
    let late = now + Duration::from_secs(2);
    assert_eq!(agent.handle(late, ToAgent::Begin { at_ns: now.as_nanos() }), Ok(None));
    let Some(ToConductor::Refused { why }) = agent.poll_message() else { panic!("it says nothing") };
    assert_eq!(why, "heard of the begin 2.00s too late, and sent nothing");
}

#[test]
fn what_is_wrong_with_several_agents_is_said_once_and_of_all_of_them() {
    let mut conductor = conductor();
    for agent in 0..2 {
        conductor.handle(agent, Instant::ORIGIN, ToConductor::Hello(hello("1")));
        conductor.handle(agent, Instant::ORIGIN, ToConductor::Refused { why: "cannot connect".into() });
    }
    assert_eq!(failed(&mut conductor), "agents 0 (a), 1 (b): cannot connect; nothing was sent");
    // Who says nothing is named after its time.
    let mut late = self::conductor();
    late.handle(0, Instant::ORIGIN, ToConductor::Hello(hello("1")));
    late.handle_timeout(Instant::ORIGIN + Duration::from_secs(2));
    let why = failed(&mut late);
    assert!(why.contains("agent 0 (a) opens its connections, agent 1 (b) says nothing"), "{why}");
}

/// Whose clocks are compared is ready; and nobody is waited for without end who does not tell what its clock shows.
#[test]
fn agents_that_are_ready_in_time_are_not_late_while_their_clocks_are_compared() {
    let mut conductor = conductor();
    let at_ms = |ms| Instant::ORIGIN + Duration::from_millis(ms);
    let ready = Ready { threads: 1, io: "epoll".into(), refused: None };
    for agent in 0..2 {
        conductor.attach(agent, at_ms(0));
        conductor.handle(agent, at_ms(0), ToConductor::Hello(hello("1")));
        conductor.handle(agent, at_ms(999), ToConductor::Ready(ready.clone()));
    }
    let mut failed_at = None;
    // They say something, and it is no answer.
    for second in 1..200 {
        let now = at_ms(1000 * second);
        for agent in 0..2 {
            conductor.handle(agent, now, ToConductor::Pong { number: u64::MAX, clock_ns: 0 });
        }
        conductor.handle_timeout(now);
        if let Some(Event::Failed(why)) = conductor.poll_event() {
            failed_at.get_or_insert((second, why));
        }
    }
    let (second, why) = failed_at.expect("it ends");
    assert_eq!(second, 61, "{why}");
    let told = "not all clocks were compared within 60.0s: agent 0 (a) does not say what its clock shows, agent 1 (b) does";
    assert!(why.starts_with(told), "{why}");
}

#[test]
fn a_length_that_no_message_has_takes_no_memory() {
    let mut frames = Frames::greeted();
    frames.push(GREETING);
    frames.push(&(FRAME_BYTES_MAX as u32 + 1).to_be_bytes());
    assert!(frames.next::<ToConductor>().is_err());
    frames.push(&[0; 1000]);
    assert!(frames.next::<ToConductor>().is_err());
}
