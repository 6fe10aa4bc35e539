//! The state machine: completions and timeouts in, actions and samples out.
//!
//! A load goes through five stages. *Opening*: connections are opened, nothing is due (so that the
//! generator's own set-up burst is not charged to the server); users with a ramp-up skip it and connect when
//! their turn comes. *Ready*, where the load begins when it is told to: connections are held open, nothing is due.
//! *Running*: the schedule is kept. *Draining*: nothing new is begun, what is in flight may still be answered.
//! *Finished*.

mod answers;
mod connections;
mod gate;
mod output;
mod requests;
mod scripted;
mod stages;
mod wrong;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::num::NonZeroU64;

use http::{Http1, Protocol};
use units::{Duration, Instant};

use crate::config::{Config, Load, Reuse, UserStart};
use crate::connection::{Action, Completion, Conn, Event, Outgoing};
use crate::go_away::GoAways;
use crate::places::{Answer, Places, State};
use crate::queue::Queues;
use crate::rounds::Takers;
use crate::sample::{Sink, Window};
use crate::schedule::Schedule;
use crate::script::{Script, Unscripted};
use crate::timers::Timers;

use self::output::Output;
use self::scripted::{Crowd, End};
use self::wrong::WrongAnswers;
pub use self::wrong::{KEPT_ANSWER_BYTES_MAX, KeptAnswer, WrongAnswer};

/// How long a closed-model user waits after a failed connection before trying again: without it, users of
/// a dead server would spin.
pub const RETRY_PAUSE: Duration = Duration::from_millis(100);

/// Connections that are being opened at one time before the load begins: no more than the accept queue of a server
/// in common use holds (Tomcat's is 100), since what overflows it is tried again only after a second.
const OPENING_AT_ONCE_MAX: u32 = 64;
/// So many of them are opened at once when the opening begins, and so many more with each millisecond. The kernel opens a
/// connection before the server accepts it, so that those being opened say nothing of the queue: what fills it is too quick.
const OPENING_FIRST: u32 = 32;
const OPENING_PER_MS: u32 = 8;

/// The rest of a body that nobody looks at is skipped from so many bytes on: fewer are read as quickly.
const SKIPPED_BYTES_MIN: u64 = 16 * 1024;

/// Due requests handled in one call of [`Engine::handle_timeout`]; the rest are handled in the next, after
/// completions had their turn.
const DUE_PER_TURN_MAX: u32 = 1024;

/// The states in which a closed-model user waits for the clock alone.
const USERS_WAIT: [State; 3] = [State::Thinking, State::Pausing, State::Ramping];

/// Where a load stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Connections are being opened.
    Opening,
    /// They are open and nothing is due, until [`Engine::begin`] says when. One that the server closes is opened again.
    Ready,
    /// Requests are due.
    Running,
    /// Only what is in flight is awaited, and what has its connection opened or is a user's that waits for room on one, until the
    /// instant given.
    Draining(Instant),
    /// Everything has its outcome.
    Finished,
}

/// What is counted beside samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Requests that were due, those of the warm-up included.
    pub intended: u64,
    /// Connections that came up.
    pub connections_opened: u64,
    /// Those of them that came up within the measured window.
    pub connections_opened_in_window: u64,
    /// Connection attempts that failed and carried no request: those of the opening, and over HTTP/2 those that were to bring a
    /// lost one back.
    pub opening_failures: u64,
    /// Connections the server closed or announced to close.
    pub connections_closed_by_server: u64,
    /// Those that it ended with a GOAWAY (HTTP/2), by the code that it gave.
    pub go_aways: GoAways,
    /// Connections dropped because bytes came that nobody had asked for.
    pub unsolicited: u64,
    /// Requests that a server had not looked at when it ended their connection, and that went out again on the next.
    pub resent: u64,
    /// Requests that waited for a stream: their connection carried as many exchanges as its server allows. What one that goes
    /// out again waits for its second is not looked at.
    pub stream_waits: u64,
    /// How long those of them waited that went out, in all and at most: also where their connection ended meanwhile.
    pub stream_wait: Duration,
    /// See `stream_wait`.
    pub stream_wait_max: Duration,
    /// Requests whose body waited for the server's windows.
    pub window_waits: u64,
    /// How long, all of them together.
    pub window_wait: Duration,
    /// Requests due beyond the bound of the backlog, those of the warm-up included.
    pub backlog_overflow: u64,
    /// The most requests that waited for a connection at one time.
    pub backlog_peak: u64,
}

/// One load in progress. See the crate's documentation for the protocol.
#[derive(Debug)]
pub struct Engine<S, P = Unscripted, H: Protocol = Http1> {
    config: Config,
    sink: S,
    /// Of a scripted load.
    script: Option<P>,
    /// How scripted users share connections.
    crowd: Crowd,
    /// Scripted users who have not left.
    users: u32,
    /// How their script ends the load, where that waits for the end of the turn.
    ends: Option<End>,
    /// When scripted users who pause are asked again.
    wakes: Timers,
    /// When it is looked whether connections are open that are a scripted user's own: kept as `timers` are.
    openings: Timers,
    stage: Stage,
    window: Window,
    /// When it was told to begin.
    begin_at: Option<Instant>,
    places: Places<H>,
    /// Of each exchange.
    answers: Box<[Answer]>,
    /// Of each connection.
    protocols: Box<[H]>,
    /// What these have in common.
    common: H::Shared,
    queues: Queues,
    /// In the open model, where connections have room for several.
    takers: Option<Takers>,
    timers: Timers,
    actions: VecDeque<Action>,
    /// Exchanges whose request is to be sent, from `sent_to` on. May name some whose request has gone out or was given up.
    to_send: Vec<u32>,
    sent_to: usize,
    output: Output,
    /// Exchanges that have just lost their connection, where that had room for several.
    loose: Vec<u32>,
    schedule: Option<Schedule>,
    backlog: VecDeque<Instant>,
    /// Requests that may be due in all, whatever bounds them; `u64::MAX` if nothing does.
    requests_max: u64,
    outstanding: u64,
    counters: Counters,
    /// When the opening began.
    begun: Instant,
    /// When the next connection may be opened again that was lost at the gate.
    opens_again_at: Instant,
    /// Connections that the opening has yet to begin with: those from this number on.
    opened_to: u32,
    wrong_answers: WrongAnswers,
    skip: Option<(Conn, u64)>,
    /// When the kernel had the bytes that are handled now.
    arrived: Option<Instant>,
}

impl<S: Sink> Engine<S> {
    /// Starts a load over HTTP/1.1 at `now`. The first actions are ready to be polled.
    ///
    /// # Panics
    /// If the load is a scripted one: that takes [`Engine::scripted`].
    pub fn new(config: Config, sink: S, now: Instant) -> Self {
        Self::over(config, (), sink, now)
    }
}

impl<S: Sink, H: Protocol> Engine<S, Unscripted, H> {
    /// The same over another protocol, whose connections are to be as `settings` say. The closed model has as many users as
    /// they have room for exchanges.
    ///
    /// # Panics
    /// If the load is a scripted one, or has more exchanges than can be numbered.
    pub fn over(config: Config, settings: H::Settings, sink: S, now: Instant) -> Self {
        assert!(!matches!(config.load, Load::Scripted { .. }), "a scripted load has a script");
        Self::start(config, settings, sink, None, now)
    }
}

impl<S: Sink, P: Script> Engine<S, P> {
    /// Starts a load over HTTP/1.1 at `now` whose users do what `script` says. It has as many users as connections, no warm-up, and
    /// ends when all of them have left, if nothing else ends it.
    pub fn scripted(config: Config, sink: S, script: P, now: Instant) -> Self {
        let config = Config { load: Load::Scripted { users: config.connections }, ..config };
        Self::scripted_over(config, (), sink, script, now)
    }
}

impl<S: Sink, P: Script<H>, H: Protocol> Engine<S, P, H> {
    /// The same over another protocol, whose connections are to be as `settings` say, with as many users as the load says.
    /// Where they share connections, they go to as many servers as there are connections for.
    ///
    /// # Panics
    /// If the load is none of scripted users, if its servers would not have equally many connections, or if there are more
    /// exchanges than can be numbered.
    pub fn scripted_over(config: Config, settings: H::Settings, sink: S, script: P, now: Instant) -> Self {
        assert!(matches!(config.load, Load::Scripted { .. }), "a script is for a scripted load");
        let config = Config { warm_up: Duration::ZERO, ..config };
        let mut engine = Self::start(config, settings, sink, Some(script), now);
        // There may be no user who has anything to do.
        engine.finish_if_done(now);
        engine
    }
}

impl<S: Sink, P: Script<H>, H: Protocol> Engine<S, P, H> {
    fn start(mut config: Config, settings: H::Settings, sink: S, script: Option<P>, now: Instant) -> Self {
        // A connection that its server is asked to close is good for one request, whether the answer says so or not.
        if !H::MULTIPLEXED && http::asks_to_close(&config.request.bytes) {
            config.reuse = Reuse::FreshConnection;
        }
        let connections = config.connections.get();
        let common = H::shared(config.limits, config.request.kind, settings);
        let places = Places::<H>::new(connections, H::room(&common));
        let count = places.exchanges();
        let crowd = Crowd::new(config.load, connections, count / connections);
        let go_round = H::MULTIPLEXED && matches!(config.load, Load::Open { .. });
        let mut engine = Self {
            stage: Stage::Opening,
            window: Window { start: Instant::FAR_FUTURE, end: Instant::FAR_FUTURE },
            begin_at: None,
            places,
            answers: (0..count).map(|_| Answer::new()).collect(),
            protocols: (0..connections).map(|_| H::new(&common)).collect(),
            common,
            queues: Queues::new(),
            takers: go_round.then(|| Takers::new(connections, count / connections)),
            timers: Timers::default(),
            actions: VecDeque::new(),
            to_send: Vec::new(),
            sent_to: 0,
            output: Output::new::<H>(connections),
            loose: Vec::new(),
            schedule: None,
            backlog: VecDeque::new(),
            requests_max: requests_max(&config, count),
            outstanding: 0,
            counters: Counters::default(),
            begun: now,
            opens_again_at: now,
            opened_to: 0,
            wrong_answers: WrongAnswers::new(if P::SCRIPTED { 0 } else { config.keep_wrong }, count),
            script,
            crowd,
            users: crowd.users,
            ends: None,
            wakes: Timers::default(),
            openings: Timers::default(),
            skip: None,
            arrived: None,
            config,
            sink,
        };
        let ramps_up = matches!(
            engine.config.load,
            Load::Closed { start: UserStart::RampUp { .. }, .. } | Load::Scripted { .. }
        );
        for index in 0..count {
            engine.enter(index, State::Down, now);
        }
        if engine.config.reuse == Reuse::FreshConnection || ramps_up {
            engine.opened_to = connections;
        }
        engine.go_on_to_running(now);
        engine
    }

    /// What [`Action::Send`] sends on the connection that was polled last. Where it has room for one exchange, its request:
    /// without a script the same for every connection.
    #[inline]
    pub fn outgoing(&self) -> Outgoing<'_> {
        if H::MULTIPLEXED || P::SCRIPTED {
            return Outgoing::Own(self.output.polled());
        }
        Outgoing::Shared(&self.config.request.bytes)
    }

    /// Which server `conn` goes to, by its number; without a script it is nobody's choice.
    pub fn target(&self, conn: Conn) -> Option<u32> {
        P::SCRIPTED.then(|| {
            if H::MULTIPLEXED {
                self.crowd.target_of(conn.slot)
            } else {
                self.answers[conn.slot as usize].target
            }
        })
    }

    /// Where the load stands.
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// The measured window; both ends are [`Instant::FAR_FUTURE`] before the load begins.
    pub fn window(&self) -> Window {
        self.window
    }

    /// What was counted so far.
    pub fn counters(&self) -> Counters {
        if !H::MULTIPLEXED {
            return self.counters;
        }
        let window_waits = self.protocols.iter().map(Protocol::window_waits).sum();
        Counters { window_waits, ..self.counters }
    }

    /// The first answer that was not the expected one, if there was one. Of a scripted load none is kept: what is expected
    /// of its answers, its script says.
    pub fn first_wrong_answer(&self) -> Option<&WrongAnswer> {
        self.wrong_answers.first()
    }

    /// The first of the answers that were no good ones as they came, as many as [`Config::keep_wrong`] says.
    pub fn kept_answers(&self) -> &[KeptAnswer] {
        self.wrong_answers.kept()
    }

    /// Requests that are due and have no outcome yet.
    pub fn outstanding(&self) -> u64 {
        self.outstanding
    }

    /// Whether every intended request has its outcome and every connection its `Close`.
    pub fn is_finished(&self) -> bool {
        self.stage == Stage::Finished && !self.has_action()
    }

    /// Where the samples went.
    pub fn sink(&self) -> &S {
        &self.sink
    }

    /// Where the samples went, to be told of time passing.
    pub fn sink_mut(&mut self) -> &mut S {
        &mut self.sink
    }

    /// Ends the load and gives the sink back.
    pub fn into_sink(self) -> S {
        self.sink
    }

    /// Ends a scripted load and gives back its script as well.
    pub fn into_sink_and_script(self) -> (S, Option<P>) {
        (self.sink, self.script)
    }

    /// The next connection to send on, at `now`, which is the `sent` instant of its requests: to be read right before the
    /// bytes go to the kernel. The caller sends them before it polls again, and says so if they are not written at once:
    /// [`Engine::handle_under_way`].
    #[inline]
    pub fn poll_send(&mut self, now: Instant) -> Option<Conn> {
        if H::MULTIPLEXED {
            // Who waited is before who comes now.
            if self.output.has_room_again() {
                self.admit_waiting(now);
            }
        }
        while let Some(&index) = self.to_send.get(self.sent_to) {
            self.sent_to += 1;
            // Unless it was given up before it went out.
            if H::MULTIPLEXED {
                if self.places.exchange(index).to_be_sent {
                    self.put_out(index, now);
                }
                continue;
            }
            let (exchange, connection) = self.places.both_mut(index);
            if exchange.to_be_sent {
                exchange.to_be_sent = false;
                exchange.since = now;
                exchange.answer_begun = false;
                connection.written = true;
                let conn = Conn { slot: index, generation: connection.generation };
                if P::SCRIPTED {
                    self.ask_alone(index);
                }
                return Some(conn);
            }
        }
        self.to_send.clear();
        self.sent_to = 0;
        if H::MULTIPLEXED { self.poll_output(now) } else { None }
    }

    /// The next thing to do: first what is to be sent, then the rest. The caller does it before it polls again; `now`
    /// is as for [`Engine::poll_send`].
    #[inline]
    pub fn poll_action(&mut self, now: Instant) -> Option<Action> {
        self.poll_send(now).map(Action::Send).or_else(|| self.actions.pop_front())
    }

    /// How many of the next bytes of a connection, the one that the last completion was of, are of no interest: to be
    /// given to the IO before it reports another.
    #[inline]
    pub fn poll_skip(&mut self) -> Option<(Conn, u64)> {
        self.skip.take()
    }

    /// Whether there is something to do: lets the caller skip reading the clock.
    #[inline]
    pub fn has_action(&self) -> bool {
        self.has_send() || !self.actions.is_empty()
    }

    /// Whether something is to be sent.
    #[inline]
    pub fn has_send(&self) -> bool {
        !self.to_send.is_empty() || (H::MULTIPLEXED && self.output.is_due())
    }

    /// When [`Engine::handle_timeout`] wants to be called at the latest; `None` when nothing is pending.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let stage_end = match self.stage {
            Stage::Opening => self.next_opening(),
            Stage::Ready => return self.timeout_at_gate(),
            Stage::Running => Some(self.window.end),
            Stage::Draining(until) => Some(until),
            Stage::Finished => return None,
        };
        let due = match (&self.schedule, self.may_intend()) {
            (Some(schedule), true) => Some(schedule.due()),
            _ => None,
        };
        [State::Connecting, State::Free]
            .into_iter()
            .chain(USERS_WAIT)
            .filter_map(|state| self.next_expiry(state).map(|(_, at)| at))
            .chain(self.timers.next())
            .chain(self.wakes.next())
            .chain(if P::SCRIPTED { self.openings.next() } else { None })
            .chain(stage_end)
            .chain(due)
            .min()
    }

    /// Whether somebody who waits for an answer is given up at `now`, unless it has come by then.
    #[inline]
    pub fn is_given_up_by(&self, now: Instant) -> bool {
        let drained = matches!(self.stage, Stage::Draining(until) if until <= now);
        drained || self.timers.next().is_some_and(|at| at <= now)
    }

    /// Takes note of time passing: what is overdue expires, what is due is sent. All that came by `now` has been handed in.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.handle_timeout_heard(now, now);
    }

    /// The same where only what came by `heard` is sure to have been handed in: nobody is given up by what may have come since.
    pub fn handle_timeout_heard(&mut self, now: Instant, heard: Instant) {
        self.expire(State::Connecting, now);
        if P::SCRIPTED {
            self.expire_openings(now);
        }
        self.expire_in_flight(now, heard);
        self.go_on_to_running(now);
        if self.stage == Stage::Running {
            // What was due before the deadline is dealt with even when we wake after it.
            for state in USERS_WAIT {
                self.expire(state, now);
            }
            self.wake_users(now);
            self.send_due(now);
            if H::MULTIPLEXED && self.ends == Some(End::AtOnce) {
                return self.interrupt(now);
            }
            if now >= self.window.end {
                self.start_draining(now);
            }
        }
        self.expire(State::Free, now);
        if let Stage::Draining(until) = self.stage
            && heard >= until
        {
            self.abandon_in_flight(now, heard);
        }
        self.finish_if_done(now);
    }

    /// Takes note of something that happened at `now` (for received bytes: when they were seen).
    #[inline]
    pub fn handle_completion(&mut self, now: Instant, completion: Completion<'_>) {
        if self.timers.is_any_late(now) && self.is_too_late(&completion, now) {
            return;
        }
        let Completion { conn, event, arrived } = completion;
        let Some(line) = self.places.line(conn) else { return };
        self.arrived = arrived;
        match event {
            Event::Received(bytes) => match self.known_answer(&line.exchange, bytes, now) {
                Some((response, came)) => self.on_answer(conn.slot, conn.slot, &response, came, now),
                None => self.on_bytes(conn.slot, bytes, now),
            },
            event => self.on_event(conn.slot, event, now),
        }
        if self.outstanding == 0 || self.stage == Stage::Opening {
            self.go_on_to_running(now);
            self.finish_if_done(now);
        }
    }

    /// What was polled of `conn` is not written yet: [`Event::Sent`] will say so. Nothing more is sent on it before.
    pub fn handle_under_way(&mut self, conn: Conn) {
        if let Some(connection) = self.places.connection_of_life(conn) {
            connection.written = false;
        }
    }

    /// What is under way on `conn` is written.
    #[inline]
    pub fn handle_sent(&mut self, conn: Conn) {
        if let Some(connection) = self.places.connection_of_life(conn) {
            connection.written = true;
            if H::MULTIPLEXED {
                self.send_output(conn.slot);
            }
        }
    }

    /// Ends the load at once: what waits is `unsent`, what is out is `in_flight`.
    pub fn interrupt(&mut self, now: Instant) {
        if self.stage == Stage::Finished {
            return;
        }
        self.window.start = self.window.start.min(now);
        self.window.end = self.window.end.min(now);
        self.start_draining(now);
        self.abandon_in_flight(now, now);
        self.finish_if_done(now);
    }

    /// How many connections there are.
    pub(crate) fn connections(&self) -> u32 {
        self.places.connections()
    }

    fn conn(&self, number: u32) -> Conn {
        Conn { slot: number, generation: self.places.connection(number).generation }
    }

    /// Puts an exchange that is in no queue into a state other than [`State::InFlight`].
    fn enter(&mut self, index: u32, state: State, now: Instant) {
        let exchange = self.places.exchange_mut(index);
        exchange.state = state;
        exchange.since = now;
        self.queues.push(&mut self.places, index);
        if H::MULTIPLEXED
            && let Some(takers) = self.takers.as_mut().and_then(|takers| takers.of(state))
        {
            takers.add(index);
        }
    }

    fn leave(&mut self, index: u32) {
        let state = self.places.exchange(index).state;
        if H::MULTIPLEXED
            && let Some(takers) = self.takers.as_mut().and_then(|takers| takers.of(state))
        {
            takers.remove(index);
        }
        self.queues.remove(&mut self.places, index);
    }
}

/// The bound on requests in all: the load's own, or what its `users` make together; `u64::MAX` if there is none.
fn requests_max(config: &Config, users: u32) -> u64 {
    let of_users = match config.load {
        Load::Closed { requests_per_user, .. } => {
            requests_per_user.map(|each| u64::from(users) * u64::from(each.get()))
        }
        Load::Open { .. } | Load::Scripted { .. } => None,
    };
    config.stop.requests.map(NonZeroU64::get).into_iter().chain(of_users).min().unwrap_or(u64::MAX)
}
