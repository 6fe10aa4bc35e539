//! What the fuzzer of streams begins with is a share of a load as agents tell it today: one that is refused at its first interval
//! leads nowhere.

use std::path::Path;

use agent::{
    Conductor, End, Event, Frames, Hello, PeerState, Ready, ThreadTotals, ToAgent, ToConductor, Told, encode,
};
use engine::{Outcome, Sample};
use stats::{Interval, RateSample};
use units::{Duration, Instant};

use crate::garbage::load;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds/agent_stream/share.bin");
/// Set, the file is written.
const WRITE: &str = "PROOFLOAD_WRITE_SEEDS";
/// The fuzzer cuts the stream into pieces of so many bytes, as its first byte says, and lets a tenth of a second pass after each.
const PIECE_BYTES: usize = 64;
const SECOND: Duration = Duration::from_secs(1);

/// A message that fills whole pieces.
fn padded(message: &ToConductor) -> Vec<u8> {
    let mut bytes = encode(message).unwrap();
    bytes.resize(bytes.len().next_multiple_of(PIECE_BYTES), b' ');
    let length = (bytes.len() - 4) as u32;
    bytes[..4].copy_from_slice(&length.to_be_bytes());
    bytes
}

fn second(number: u64) -> ToConductor {
    let at = Instant::ORIGIN + Duration::from_millis(1);
    let answered = Sample {
        intended: at,
        ready: at,
        sent: Some(at),
        done: at + Duration::from_millis(2),
        first_byte: None,
        arrived: None,
        outcome: Outcome::Answered { status: 200, expected: true },
        received_bytes: 9,
        due_in_window: true,
        done_in_window: true,
    };
    let mut interval = Interval::default();
    interval.record(&answered);
    interval.record(&Sample { outcome: Outcome::TimedOut, ..answered });
    let rates = [RateSample { answered: 1, span: SECOND }];
    let mut told =
        Told::new(0, SECOND * (number - 1), SECOND * number, &interval, &rates).ending(number == 2);
    (told.first, told.last) = (number, number);
    ToConductor::Interval(Box::new(told))
}

fn share() -> Vec<u8> {
    let hello = Hello { version: "1".into(), node: "n".into(), cores: 1 };
    let ready = Ready { threads: 1, io: "epoll".into(), refused: None };
    let pong = |number: u64| ToConductor::Pong { number, clock_ns: (number + 1) * 100_000_000 };
    let window_end_ns = (SECOND * 2).as_nanos();
    let totals = ThreadTotals { intended: 4, window_end_ns, ..ThreadTotals::default() };
    let end = End { last: vec![2], intended: 4, threads: vec![totals], ..End::default() };
    let said = [ToConductor::Hello(hello), ToConductor::Ready(ready)];
    let told = [second(1), second(2), ToConductor::End(Box::new(end))];
    let all = said.into_iter().chain((1..=40).map(pong)).chain(told);
    [PIECE_BYTES as u8].into_iter().chain(all.flat_map(|message| padded(&message))).collect()
}

#[test]
fn what_the_fuzzer_begins_with_is_a_share_of_a_load_from_hello_to_end() {
    let bytes = share();
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(FILE, &bytes).unwrap();
    }
    let is_kept = std::fs::read(Path::new(FILE)).unwrap() == bytes;
    assert!(is_kept, "agents tell other messages today; write the seed again: {WRITE}=1");
    let (settings, assign) = load();
    let mut now = Instant::ORIGIN;
    let mut conductor = Conductor::new(settings, assign, now);
    let ready = Ready { threads: 1, io: "epoll".into(), refused: None };
    let hello = Hello { version: "1".into(), node: "n".into(), cores: 1 };
    (0..2).for_each(|agent| conductor.attach(agent, now));
    conductor.handle(1, now, ToConductor::Hello(hello));
    conductor.handle(1, now, ToConductor::Ready(ready));
    let (mut frames, mut intervals) = (Frames::default(), 0);
    for piece in bytes[1..].chunks(PIECE_BYTES) {
        frames.push(piece);
        while let Some(message) = frames.next().unwrap() {
            conductor.handle(0, now, message);
            while let Some(event) = conductor.poll_event() {
                if let Event::Interval { agent, told, interval } = event {
                    assert_eq!((interval.tally.answered, interval.tally.timed_out), (1, 1));
                    conductor.booked(agent, told.thread, told.last);
                    conductor.give_back(interval);
                    intervals += 1;
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
    assert_eq!((intervals, conductor.state(0)), (2, PeerState::Done));
}
