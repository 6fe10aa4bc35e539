//! Whatever comes on a stream, it is an error at most.

use agent::{
    Agent, Assign, Booked, Conductor, Event, FRAME_BYTES_MAX, Frames, GREETING, Hello, Settings, ToAgent,
    ToConductor,
};
use engine::{Expect, Request};
use http::RequestKind;
use plan::{LoadArguments, LoadPlan};
use proptest::prelude::*;
use units::{Duration, Instant};

fn conductor() -> Conductor {
    let (settings, assign) = load();
    Conductor::new(settings, assign, Instant::ORIGIN)
}

fn load() -> (Settings, Assign) {
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
        r#"{"end":{"last":[],"intended":0,"threads":[],"interrupted":false,"throttled_ns":null}}"#,
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
        odd.handle(0, Instant::ORIGIN, ToConductor::Ready { threads, io: "epoll".into(), refused: None });
        assert!(failed(&mut odd).contains("threads, which no machine does"));
    }
}

/// It answers every ping, and tells nothing for ever.
#[test]
fn an_agent_that_never_ends_is_given_up_some_time_after_the_load_is_over() {
    let (settings, assign) = load();
    let books = vec![
        Booked { seen: vec![(0, Duration::ZERO)], ..Booked::default() },
        Booked { done: true, ..Booked::default() },
    ];
    let plan = assign.plan().unwrap();
    let over = Instant::ORIGIN + plan.warm_up + plan.stop.duration + plan.timeouts.drain;
    let mut conductor = Conductor::restarted(settings, assign, Instant::ORIGIN, books, Instant::ORIGIN);
    conductor.attach(0, Instant::ORIGIN);
    let (mut stopped, mut lost) = (None, None);
    for second in 1..200 {
        let now = Instant::ORIGIN + Duration::from_secs(second);
        conductor.handle(0, now, ToConductor::Pong { number: 1, clock_ns: now.as_nanos() });
        conductor.handle_timeout(now);
        while let Some((agent, message)) = conductor.poll_message() {
            if agent == 0 && matches!(message, ToAgent::Stop) {
                stopped.get_or_insert(now);
            }
        }
        while let Some(event) = conductor.poll_event() {
            if let Event::Lost(_) = event {
                lost.get_or_insert(now);
            }
        }
    }
    let after = |at: Option<Instant>| at.expect("it came to that").since(over).as_secs_f64();
    assert!(
        (10.0..=11.0).contains(&after(stopped)) && (15.0..=16.0).contains(&after(lost)),
        "{stopped:?} {lost:?}"
    );
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

#[test]
fn a_length_that_no_message_has_takes_no_memory() {
    let mut frames = Frames::greeted();
    frames.push(GREETING);
    frames.push(&(FRAME_BYTES_MAX as u32 + 1).to_be_bytes());
    assert!(frames.next::<ToConductor>().is_err());
    frames.push(&[0; 1000]);
    assert!(frames.next::<ToConductor>().is_err());
}
