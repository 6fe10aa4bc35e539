//! Any bytes as what an agent says to its conductor, or a conductor to its agent: they are messages or an error, in bounded
//! memory, and what is made of messages adds up.
//!
//! Run: `cargo +nightly fuzz run agent_stream fuzz/corpus/agent_stream fuzz/seeds/agent_stream -- -max_total_time=60`. A new
//! find goes to `fuzz/artifacts`; make it a named test in `crates/agent/tests/it/garbage.rs`.
#![no_main]

use agent::{Agent, Assign, Conductor, Event, Frames, Hello, Ready, Settings, ToAgent, ToConductor};
use libfuzzer_sys::fuzz_target;
use plan::{LoadArguments, LoadPlan};
use units::{Duration, Instant};

/// As many agents as take part.
const AGENTS: usize = 2;

fuzz_target!(|bytes: &[u8]| {
    let Some((first, bytes)) = bytes.split_first() else { return };
    let cut = usize::from(*first).max(1);
    to_conductor(bytes, cut);
    to_agent(bytes, cut);
});

fn hello() -> Hello {
    Hello { version: "1".into(), node: "n".into(), cores: 1 }
}

fn to_conductor(bytes: &[u8], cut: usize) {
    let plan = LoadPlan::new(&LoadArguments::default()).expect("the default is valid");
    let request = engine::Request { bytes: [1][..].into(), kind: http::RequestKind::Ordinary };
    let expect = engine::Expect::default();
    let assign = Assign::new("http://h/", ("h", 80), &plan, &request, &expect).expect("it can be shared");
    let settings = Settings {
        names: (0..AGENTS).map(|it| it.to_string()).collect(),
        version: "1".into(),
        ready_within: Duration::from_secs(100),
        resumable: true,
    };
    let mut now = Instant::ORIGIN;
    let mut conductor = Conductor::new(settings, assign, now);
    // The other one does as it should, so that the load begins.
    conductor.attach(0, now);
    conductor.attach(1, now);
    conductor.handle(1, now, ToConductor::Hello(hello()));
    let ready = Ready { threads: 1, io: "epoll".into(), refused: None };
    conductor.handle(1, now, ToConductor::Ready(ready));
    let mut frames = Frames::default();
    for piece in bytes.chunks(cut) {
        frames.push(piece);
        while let Ok(Some(message)) = frames.next::<ToConductor>() {
            conductor.handle(0, now, message);
            while let Some(event) = conductor.poll_event() {
                if let Event::Interval { agent, told, interval } = event {
                    let sum: u64 = interval.tally.outcomes().iter().map(|it| it.1).sum();
                    assert_eq!(sum, interval.tally.intended, "the outcomes add up");
                    conductor.booked(agent, told.thread, told.last);
                    conductor.give_back(interval);
                }
            }
        }
        now = now + Duration::from_millis(100);
        conductor.handle_timeout(now);
        while let Some((agent, message)) = conductor.poll_message() {
            if let (1, ToAgent::Ping { number }) = (agent, message) {
                conductor.handle(1, now, ToConductor::Pong { number, clock_ns: now.as_nanos() });
            }
        }
    }
}

fn to_agent(bytes: &[u8], cut: usize) {
    let mut agent = Agent::new(hello(), Instant::ORIGIN);
    agent.attach();
    let mut frames = Frames::default();
    for piece in bytes.chunks(cut) {
        frames.push(piece);
        while let Ok(Some(message)) = frames.next::<ToAgent>() {
            if let Ok(Some(agent::Step::Prepare(assign))) = agent.handle(Instant::ORIGIN, message) {
                let _ = (assign.share(), assign.plan(), assign.request());
                agent.ready(1, "epoll", None);
            }
            while agent.poll_message().is_some() {}
        }
    }
}
