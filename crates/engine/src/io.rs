//! The seam between the engine and whatever carries its actions out: real sockets or a simulated network.

use units::Instant;

use crate::connection::{Action, Completion, Event};
use crate::engine::Engine;
use crate::sample::Sink;
use crate::script::{Script, Unscripted};

/// Carries actions out and reports what happened. Implemented by `driver` over io_uring and over
/// epoll, and by `sim` in virtual time; one conformance suite runs against all three.
///
/// Contract:
/// - completions of one connection are reported in the order in which they happened;
/// - after `Close` nothing is reported for that `Conn`;
/// - after [`Event::ConnectFailed`], [`Event::PeerClosed`] or [`Event::Reset`] nothing but a `Close`
///   follows on that `Conn`, and an implementation accepts a `Close` for a connection it has dropped.
pub trait Io {
    /// What can go wrong with the implementation itself (not with a connection).
    type Error;

    /// How many requests in a row may share one stamp: as many as go to the kernel together.
    const SENDS_A_STAMP: u32 = 1;

    /// The clock.
    fn now(&self) -> Instant;

    /// Begins `action`. What is known at once is returned instead of being reported by [`Io::next`].
    /// `Send` sends the request the implementation was made with, or the one it was given by [`ScriptedIo::load`].
    fn submit(&mut self, action: Action) -> Option<Event<'static>>;

    /// Waits until something happened or `until` has come, whichever is first.
    fn wait(&mut self, until: Option<Instant>) -> Result<(), Self::Error>;

    /// The next thing that happened, with the instant at which it was seen.
    fn next(&mut self) -> Option<(Instant, Completion<'_>)>;
}

/// An [`Io`] whose connections need not all send the same to the same server.
pub trait ScriptedIo: Io {
    /// The next [`Action::Connect`] of `slot` goes to the server with this number, counted from 0 and modulo how many
    /// there are.
    fn aim(&mut self, slot: u32, target: u32);

    /// The next [`Action::Send`] of `slot` sends `request`.
    fn load(&mut self, slot: u32, request: &[u8]);
}

/// Runs `engine` over `io` until the load is finished.
///
/// `each_turn` is called once a turn of the loop, before it waits, and says when it wants to be called
/// again at the latest; it may interrupt the engine and look at its sink.
pub fn drive<S: Sink, I: Io>(
    engine: &mut Engine<S>,
    io: &mut I,
    each_turn: impl FnMut(&mut Engine<S>, Instant) -> Option<Instant>,
) -> Result<(), I::Error> {
    drive_prepared::<S, Unscripted, I>(engine, io, each_turn, |_, _, _| {})
}

/// The same for a scripted load.
pub fn drive_scripted<S: Sink, P: Script, I: ScriptedIo>(
    engine: &mut Engine<S, P>,
    io: &mut I,
    each_turn: impl FnMut(&mut Engine<S, P>, Instant) -> Option<Instant>,
) -> Result<(), I::Error> {
    drive_prepared(engine, io, each_turn, |engine, io, action| match action {
        Action::Connect(conn) => io.aim(conn.slot, engine.target(conn)),
        Action::Send(conn) => io.load(conn.slot, engine.request_bytes(conn)),
        Action::Skip(..) | Action::Close(_) => {}
    })
}

/// `prepare` is called before each action is carried out.
fn drive_prepared<S: Sink, P: Script, I: Io>(
    engine: &mut Engine<S, P>,
    io: &mut I,
    mut each_turn: impl FnMut(&mut Engine<S, P>, Instant) -> Option<Instant>,
    prepare: impl Fn(&Engine<S, P>, &mut I, Action),
) -> Result<(), I::Error> {
    loop {
        carry_out(engine, io, &prepare);
        let wanted = each_turn(engine, io.now());
        carry_out(engine, io, &prepare);
        if engine.is_finished() {
            return Ok(());
        }
        io.wait([engine.poll_timeout(), wanted].into_iter().flatten().min())?;
        // First all that has come in, then all that goes out: an answer that waits for the sends before it would be
        // seen late, and its time would be ours. A request is stamped when it goes out, so that its own is not.
        while let Some((now, completion)) = io.next() {
            let is_new = completion.event == Event::Connected;
            engine.handle_completion(now, completion);
            if is_new {
                // What goes out on a new connection goes out at once: there are servers that answer unasked, and
                // their answer would come before its request.
                carry_out(engine, io, &prepare);
            }
            // This one is about the very next bytes.
            if let Some(skip) = engine.poll_skip() {
                io.submit(skip);
            }
        }
        engine.handle_timeout(io.now());
    }
}

/// Does what the engine wants done: first what is to be sent, of which there is most.
#[inline]
fn carry_out<S: Sink, P: Script, I: Io>(
    engine: &mut Engine<S, P>,
    io: &mut I,
    prepare: &impl Fn(&Engine<S, P>, &mut I, Action),
) {
    while engine.has_action() {
        send_all(engine, io, prepare);
        let now = io.now();
        let Some(action) = engine.poll_action(now) else { return };
        prepare(engine, io, action);
        if let Some(event) = io.submit(action) {
            let (Action::Connect(conn) | Action::Send(conn) | Action::Close(conn) | Action::Skip(conn, _)) =
                action;
            engine.handle_completion(now, Completion { conn, event, arrived: None });
        }
    }
}

#[inline]
fn send_all<S: Sink, P: Script, I: Io>(
    engine: &mut Engine<S, P>,
    io: &mut I,
    prepare: &impl Fn(&Engine<S, P>, &mut I, Action),
) {
    while engine.has_send() {
        let now = io.now();
        for _ in 0..I::SENDS_A_STAMP {
            let Some(conn) = engine.poll_send(now) else { break };
            prepare(engine, io, Action::Send(conn));
            match io.submit(Action::Send(conn)) {
                None => {}
                Some(Event::Sent) => engine.handle_sent(conn),
                Some(event) => engine.handle_completion(now, Completion { conn, event, arrived: None }),
            }
        }
    }
}
