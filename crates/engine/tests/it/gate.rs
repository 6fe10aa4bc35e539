//! A load that begins when it is told to.

use engine::{Action, Arrivals, Begin, Completion, Config, Conn, Engine, Event, Load, Sample, Stage};
use units::{Duration, Instant, Rate};

use crate::common::{self, actions, at_ms};

type Samples = Vec<Sample>;

fn open() -> Load {
    let rate = Rate::per_sec(1000.0).unwrap();
    Load::Open { arrivals: Arrivals::Constant(rate), backlog_max: Load::BACKLOG_MAX_DEFAULT }
}

fn held(connections: u32, load: Load) -> Config {
    Config { begin: Begin::WhenTold, ..common::config(connections, load, Duration::from_secs(1)) }
}

fn connected(conn: Conn) -> Completion<'static> {
    Completion { conn, event: Event::Connected, arrived: None }
}

fn closed(conn: Conn) -> Completion<'static> {
    Completion { conn, event: Event::PeerClosed, arrived: None }
}

/// An engine at the gate, with its connections.
fn at_gate(connections: u32, load: Load, samples: &mut Samples) -> (Engine<impl FnMut(&Sample)>, Vec<Conn>) {
    let sink = |sample: &Sample| samples.push(*sample);
    let mut engine = Engine::new(held(connections, load), sink, at_ms(0));
    let mut conns = Vec::new();
    for action in actions(&mut engine, at_ms(0)) {
        let Action::Connect(conn) = action else { panic!("{action:?} before connections are open") };
        engine.handle_completion(at_ms(1), connected(conn));
        conns.push(conn);
    }
    assert_eq!(engine.stage(), Stage::Ready);
    (engine, conns)
}

#[test]
fn nothing_is_due_at_the_gate_and_the_schedule_starts_at_the_begin_however_late_the_wake_up() {
    let mut samples = Samples::new();
    let (mut engine, _) = at_gate(4, open(), &mut samples);
    assert_eq!((engine.poll_timeout(), engine.window().start), (None, Instant::FAR_FUTURE));
    engine.handle_timeout(at_ms(900));
    assert_eq!(actions(&mut engine, at_ms(900)), []);
    engine.begin(at_ms(1000));
    engine.begin(at_ms(5000));
    assert_eq!(engine.poll_timeout(), Some(at_ms(1000)), "the first word counts");
    // Three and a half milliseconds late: four requests are due.
    let late = at_ms(1003) + Duration::from_micros(500);
    engine.handle_timeout(late);
    assert_eq!((engine.stage(), engine.window().start), (Stage::Running, at_ms(1000)));
    let sends = actions(&mut engine, late);
    assert!(sends.iter().all(|it| matches!(it, Action::Send(_))), "{sends:?}");
    assert_eq!(sends.len(), 4);
    engine.interrupt(late);
    drop(engine);
    let mut intended: Vec<Instant> = samples.iter().map(|it| it.intended).collect();
    intended.sort_unstable();
    assert_eq!(intended, [1000, 1001, 1002, 1003].map(at_ms));
}

#[test]
fn a_connection_that_the_server_closes_at_the_gate_is_opened_again_after_a_pause() {
    let mut samples = Samples::new();
    let (mut engine, conns) = at_gate(2, open(), &mut samples);
    engine.handle_completion(at_ms(50), closed(conns[1]));
    assert_eq!(actions(&mut engine, at_ms(50)), [Action::Close(conns[1])]);
    let again = at_ms(50) + engine::RETRY_PAUSE;
    assert_eq!((engine.stage(), engine.poll_timeout()), (Stage::Ready, Some(again)));
    engine.handle_timeout(again);
    let all = actions(&mut engine, again);
    let [Action::Connect(conn)] = all[..] else { panic!("{all:?}") };
    assert_eq!(conn.slot, conns[1].slot);
    engine.handle_completion(at_ms(151), connected(conn));
    engine.begin(at_ms(200));
    engine.handle_timeout(at_ms(201));
    let sends = actions(&mut engine, at_ms(201));
    assert_eq!(sends, [Action::Send(conns[0]), Action::Send(conn)]);
}

#[test]
fn users_whose_connection_is_away_at_the_begin_open_one_as_part_of_their_first_request() {
    for is_connecting in [false, true] {
        let mut samples = Samples::new();
        let (mut engine, conns) = at_gate(2, Load::SATURATING, &mut samples);
        engine.handle_completion(at_ms(50), closed(conns[0]));
        if is_connecting {
            engine.handle_timeout(at_ms(150));
        }
        actions(&mut engine, at_ms(150));
        engine.begin(at_ms(160));
        engine.handle_timeout(at_ms(160));
        let all = actions(&mut engine, at_ms(160));
        let connects = all.iter().filter(|it| matches!(it, Action::Connect(_))).count();
        let closes = all.iter().filter(|it| matches!(it, Action::Close(_))).count();
        assert_eq!((connects, closes), (1, usize::from(is_connecting)), "{all:?}");
        assert!(all.contains(&Action::Send(conns[1])), "{all:?}");
        assert_eq!((engine.counters().intended, engine.outstanding()), (2, 2));
        engine.interrupt(at_ms(170));
        actions(&mut engine, at_ms(170));
        assert!(engine.is_finished());
        drop(engine);
        assert_eq!(samples.len(), 2);
        assert!(samples.iter().all(|it| it.intended == at_ms(160)));
    }
}

#[test]
fn nobody_is_idle_at_the_gate() {
    let idle = Duration::from_millis(10);
    let mut config = held(3, open());
    config.timeouts.idle = idle;
    let mut engine = Engine::new(config, |_: &Sample| {}, at_ms(0));
    for action in actions(&mut engine, at_ms(0)) {
        let Action::Connect(conn) = action else { panic!("{action:?}") };
        engine.handle_completion(at_ms(0), connected(conn));
    }
    for ms in (0..500).step_by(7) {
        engine.handle_timeout(at_ms(ms));
        assert_eq!(actions(&mut engine, at_ms(ms)), []);
    }
    engine.begin(at_ms(500));
    engine.handle_timeout(at_ms(500));
    let all = actions(&mut engine, at_ms(500));
    assert!(matches!(all[..], [Action::Send(_)]), "{all:?}");
}

#[test]
fn a_load_that_is_interrupted_at_the_gate_sent_nothing() {
    let mut samples = Samples::new();
    let (mut engine, conns) = at_gate(2, open(), &mut samples);
    engine.begin(at_ms(1000));
    engine.interrupt(at_ms(500));
    assert_eq!(actions(&mut engine, at_ms(500)).len(), conns.len(), "closes");
    assert!(engine.is_finished());
    assert_eq!((engine.counters().intended, engine.window().start), (0, at_ms(500)));
}
