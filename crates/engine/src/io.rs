//! The seam between the engine and whatever carries its actions out: real sockets or a simulated network.

use http::Protocol;
use units::Instant;

use crate::connection::{Action, Completion, Conn, Event, Outgoing, Sending};
use crate::engine::Engine;
use crate::sample::Sink;
use crate::script::Script;

/// Carries actions out and reports what happened. Implemented by `driver` over io_uring and over
/// epoll, and by `sim` in virtual time; one conformance suite runs against all three.
///
/// Contract:
/// - completions of one connection are reported in the order in which they happened;
/// - after [`Io::close`] nothing is reported for that `Conn`;
/// - after [`Event::ConnectFailed`], [`Event::PeerClosed`], [`Event::CutOff`] or [`Event::Reset`] nothing but a `close`
///   follows on that `Conn`, and an implementation accepts a `close` for a connection it has dropped.
pub trait Io {
    /// What can go wrong with the implementation itself (not with a connection).
    type Error;

    /// How many requests in a row may share one stamp: as many as go to the kernel together.
    const SENDS_A_STAMP: u32 = 1;

    /// The clock.
    fn now(&self) -> Instant;

    /// Opens a connection to the server with the number `target`, counted from 0 and modulo how many there are; without
    /// one, to the next in turn. What is known at once is returned instead of being reported by [`Io::next`]:
    /// [`Event::Connected`], [`Event::Securing`], [`Event::ConnectFailed`] or [`Event::Reset`].
    fn connect(&mut self, conn: Conn, target: Option<u32>) -> Option<Event<'static>>;

    /// Sends `bytes`, all of them, once all that the connection sent before is [`Event::Sent`]. They are lent for the call: an
    /// implementation that is not done with them then keeps them until it is.
    fn send(&mut self, conn: Conn, bytes: Outgoing<'_>) -> Sending;

    /// The next so many bytes of this connection are of no interest. They may be thrown away unread and reported as
    /// [`Event::Skipped`], or reported as if this had not been said.
    fn skip(&mut self, conn: Conn, bytes: u64) {
        let _ = (conn, bytes);
    }

    /// Closes and forgets.
    fn close(&mut self, conn: Conn);

    /// Waits until something happened or `until` has come, whichever is first.
    fn wait(&mut self, until: Option<Instant>) -> Result<(), Self::Error>;

    /// The next thing that happened, with the instant at which it was seen.
    fn next(&mut self) -> Option<(Instant, Completion<'_>)>;

    /// Whether the last [`Io::wait`], of which all was taken, may have left something that had happened before it: one that takes
    /// so much at a time, and no more, says so.
    fn has_more(&self) -> bool {
        false
    }
}

/// Before somebody is given up there is one look, and at most one more for so many connections each. One finds what came on more
/// than these; but a ring that had no buffer left for some of it has to look for that again.
const CONNECTIONS_A_LOOK: u32 = 64;

/// Runs `engine` over `io` until the load is finished.
///
/// `each_turn` is called once a turn of the loop, before it waits, and says when it wants to be called
/// again at the latest; it may interrupt the engine and look at its sink.
pub fn drive<S: Sink, P: Script<H>, H: Protocol, I: Io>(
    engine: &mut Engine<S, P, H>,
    io: &mut I,
    mut each_turn: impl FnMut(&mut Engine<S, P, H>, Instant) -> Option<Instant>,
) -> Result<(), I::Error> {
    loop {
        carry_out(engine, io);
        let wanted = each_turn(engine, io.now());
        carry_out(engine, io);
        if engine.is_finished() {
            return Ok(());
        }
        io.wait([engine.poll_timeout(), wanted].into_iter().flatten().min())?;
        hear(engine, io);
        let heard = io.now();
        if engine.is_given_up_by(heard) {
            look_again(engine, io, heard)?;
            engine.handle_timeout_heard(io.now(), heard);
        } else {
            engine.handle_timeout(heard);
        }
    }
}

/// Takes all that has come in, before anything goes out: an answer that waits for the sends before it would be seen late, and its
/// time would be ours. A request is stamped when it goes out, so that its own is not.
#[inline]
fn hear<S: Sink, P: Script<H>, H: Protocol, I: Io>(engine: &mut Engine<S, P, H>, io: &mut I) {
    while let Some((now, completion)) = io.next() {
        let is_new = matches!(completion.event, Event::Connected);
        engine.handle_completion(now, completion);
        if is_new {
            // What goes out on a new connection goes out at once: there are servers that answer unasked, and
            // their answer would come before its request.
            carry_out(engine, io);
        }
        // This one is about the very next bytes.
        if let Some((conn, bytes)) = engine.poll_skip() {
            io.skip(conn, bytes);
        }
    }
}

/// Takes in all that came before `heard`, also where this thread was held up in the wait or behind it: that is found by looks that
/// begin after it, so nobody is given up whose answer lies there, stamped in time. One look does not find it all where many
/// connections have something.
#[cold]
#[inline(never)]
fn look_again<S: Sink, P: Script<H>, H: Protocol, I: Io>(
    engine: &mut Engine<S, P, H>,
    io: &mut I,
    heard: Instant,
) -> Result<(), I::Error> {
    for _ in 0..=engine.connections() / CONNECTIONS_A_LOOK {
        io.wait(Some(heard))?;
        hear(engine, io);
        if !io.has_more() {
            break;
        }
    }
    Ok(())
}

/// Does what the engine wants done: first what is to be sent, of which there is most.
#[inline]
fn carry_out<S: Sink, P: Script<H>, H: Protocol, I: Io>(engine: &mut Engine<S, P, H>, io: &mut I) {
    while engine.has_action() {
        send_all(engine, io);
        let now = io.now();
        let Some(action) = engine.poll_action(now) else { return };
        match action {
            Action::Connect(conn) => {
                if let Some(event) = io.connect(conn, engine.target(conn)) {
                    engine.handle_completion(now, Completion { conn, event, arrived: None });
                }
            }
            Action::Send(conn) => send(engine, io, conn, now),
            Action::Close(conn) => io.close(conn),
        }
    }
}

#[inline]
fn send_all<S: Sink, P: Script<H>, H: Protocol, I: Io>(engine: &mut Engine<S, P, H>, io: &mut I) {
    while engine.has_send() {
        let now = io.now();
        for _ in 0..I::SENDS_A_STAMP {
            let Some(conn) = engine.poll_send(now) else { break };
            send(engine, io, conn, now);
        }
    }
}

#[inline]
fn send<S: Sink, P: Script<H>, H: Protocol, I: Io>(
    engine: &mut Engine<S, P, H>,
    io: &mut I,
    conn: Conn,
    now: Instant,
) {
    match io.send(conn, engine.outgoing()) {
        Sending::Done => {}
        Sending::UnderWay => engine.handle_under_way(conn),
        Sending::Broken => {
            engine.handle_completion(now, Completion { conn, event: Event::Reset, arrived: None });
        }
    }
}
