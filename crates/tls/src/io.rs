//! An IO whose connections are secured or lead through a tunnel, around one whose do not.

use std::collections::VecDeque;

use engine::{Completion, Conn, ConnectFailure, Event, Io, Outgoing, Sending, TlsFailure};
use units::Instant;

use crate::client::Peers;
use crate::records::{Records, Taken};
use crate::report::{Agreed, RECORD_LIMIT, Report};
use crate::tunnel::{Answer, Step};
use crate::{PARTIAL_BYTES_MAX, SPARE_MAX};

/// Secures the connections of `I` to the servers that [`Peers`] names, and leaves others alone.
///
/// What the engine is told of a secured connection is told once it is so of the plain bytes: connected when data may be
/// sent, sent when the last byte of what is sealed is written. Behind a proxy a tunnel is opened before that, as a part of
/// connecting; through it go plain bytes, too, where a server is not secured. All records of a read become one piece. A
/// secured server's end without a word of it ([`Event::CutOff`]) is told from one that was announced.
pub struct TlsIo<I> {
    io: I,
    peers: Peers,
    /// By slot; none where there is no connection, or one that is neither secured nor tunnelled.
    links: Box<[Option<Box<Link>>]>,
    /// What was received, while it is worked on.
    received: Vec<u8>,
    /// What came of it: lent to the caller until the IO is used again.
    plain: Vec<u8>,
    /// What is about to be sent.
    sealed: Vec<u8>,
    /// What is still to be told of the last completion: at most its connection's coming up, its bytes and its end. And once of each
    /// connection that its keys are worn out.
    told: VecDeque<Told>,
    /// Empty buffers for what is received in part, at most [`SPARE_MAX`].
    spare: Vec<Vec<u8>>,
    /// Secured connections so far.
    begun: u64,
    report: Report,
}

/// A connection that is secured, or leads through a tunnel.
struct Link {
    generation: u32,
    /// None where it is not secured.
    records: Option<Records>,
    stage: Stage,
    /// When its stage began; that of a tunnel, with the connecting before it.
    since: Instant,
    /// What a proxy was told last, and what it has answered to that so far.
    step: Step,
    answer: Vec<u8>,
    /// What follows the send that is under way.
    outgoing: Vec<u8>,
    is_sending: bool,
    /// Whether the engine waits to hear that its bytes are written.
    owes_sent: bool,
    /// Whether the server has said that it sends no more, and waits for the same word.
    owes_end: bool,
}

impl Link {
    fn new(generation: u32, records: Option<Records>, since: Instant) -> Self {
        Self {
            generation,
            records,
            stage: Stage::Connecting,
            since,
            step: Step::First,
            answer: Vec::new(),
            outgoing: Vec::new(),
            is_sending: false,
            owes_sent: false,
            owes_end: false,
        }
    }

    fn partial(&mut self) -> Option<&mut Vec<u8>> {
        self.records.as_mut().map(|records| &mut records.partial)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Connecting,
    /// Through a proxy.
    Tunnelling,
    Securing,
    Up,
    /// The engine was told of the end.
    Over,
}

/// Something to tell.
struct Told {
    conn: Conn,
    at: Instant,
    arrived: Option<Instant>,
    what: What,
}

enum What {
    Event(Event<'static>),
    /// What is in [`TlsIo::plain`].
    Plain,
}

/// A completion of the inner IO, without what it lends.
enum Came {
    /// In [`TlsIo::received`].
    Bytes,
    Event(Event<'static>),
}

impl<I: Io> TlsIo<I> {
    /// Secures the `connections` connections of `io`.
    pub fn new(io: I, peers: Peers, connections: u32) -> Self {
        Self {
            io,
            peers,
            links: (0..connections).map(|_| None).collect(),
            received: Vec::new(),
            plain: Vec::new(),
            sealed: Vec::new(),
            told: VecDeque::new(),
            spare: Vec::new(),
            begun: 0,
            report: Report::default(),
        }
    }

    /// What is inside, and what became of its connections.
    pub fn into_parts(self) -> (I, Report) {
        (self.io, self.report)
    }

    fn tell(&mut self, conn: Conn, at: Instant, event: Event<'static>) {
        self.told.push_back(Told { conn, at, arrived: None, what: What::Event(event) });
    }

    /// Sends what is sealed, behind what is under way.
    fn transmit(&mut self, conn: Conn) -> Sending {
        let Some(link) = link(&mut self.links, conn) else { return Sending::UnderWay };
        if self.sealed.is_empty() {
            return Sending::Done;
        }
        if link.is_sending {
            link.outgoing.append(&mut self.sealed);
            return Sending::UnderWay;
        }
        let sending = self.io.send(conn, Outgoing::Own(&self.sealed));
        self.sealed.clear();
        link.is_sending = sending == Sending::UnderWay;
        sending
    }

    /// The keys of a connection are worn out: the engine is told, so that it goes on with another before nothing more is sealed.
    #[cold]
    fn wear_out(&mut self, conn: Conn) {
        *self.report.broken.entry(RECORD_LIMIT).or_default() += 1;
        let now = self.io.now();
        self.tell(conn, now, Event::WornOut);
    }

    /// Sends what is sealed and was asked for, and sees to it that the engine hears when it is written.
    #[inline]
    fn send_sealed(&mut self, conn: Conn) -> Sending {
        let sending = self.transmit(conn);
        if sending == Sending::UnderWay {
            link_of(&mut self.links, conn, |link| link.owes_sent = true);
        }
        sending
    }

    /// The connection is there: begins its tunnel, or its handshake.
    fn begin(&mut self, conn: Conn, now: Instant) -> Option<Event<'static>> {
        if self.peers.tunnel.is_none() {
            return Some(self.secure(conn, now));
        }
        let Some(link) = link(&mut self.links, conn) else { return Some(Event::Connected) };
        link.stage = Stage::Tunnelling;
        self.ask_proxy(conn, Step::First)
    }

    /// Tells the proxy what it is told in `step`.
    fn ask_proxy(&mut self, conn: Conn, step: Step) -> Option<Event<'static>> {
        self.sealed.clear();
        if let Some((link, tunnel)) = link(&mut self.links, conn).zip(self.peers.tunnel.as_ref()) {
            link.step = step;
            self.sealed.extend_from_slice(tunnel.says(step));
        }
        (self.transmit(conn) == Sending::Broken).then(|| self.give_up(conn, ConnectFailure::Reset))
    }

    /// There is no tunnel, and the connection to the proxy goes.
    fn give_up(&mut self, conn: Conn, failure: ConnectFailure) -> Event<'static> {
        self.forget(conn);
        self.io.close(conn);
        Event::ConnectFailed(failure)
    }

    /// Works on what a proxy has said: it is in `self.received`.
    fn on_answer(&mut self, conn: Conn, now: Instant) {
        let of_it = link(&mut self.links, conn).zip(self.peers.tunnel.as_ref());
        let Some((link, tunnel)) = of_it else { return };
        link.answer.append(&mut self.received);
        let event = match tunnel.answer(link.step, &link.answer) {
            Answer::NeedMore => return,
            Answer::Next(step) => {
                link.answer.clear();
                match self.ask_proxy(conn, step) {
                    Some(failed) => failed,
                    None => return,
                }
            }
            Answer::Open(bytes) => {
                self.received = std::mem::take(&mut link.answer);
                self.received.drain(..bytes);
                return self.on_open(conn, now);
            }
            Answer::Refused => self.give_up(conn, ConnectFailure::ProxyRefused),
            Answer::Malformed => self.give_up(conn, ConnectFailure::ProxyMalformed),
        };
        self.tell(conn, now, event);
    }

    /// The tunnel leads to the server, of which the first bytes may be in `self.received`.
    fn on_open(&mut self, conn: Conn, now: Instant) {
        let first = std::mem::take(&mut self.received);
        let event = self.secure(conn, now);
        self.tell(conn, now, event);
        if !first.is_empty() && link(&mut self.links, conn).is_some() {
            self.received = first;
            self.on_bytes(conn, now, None);
        }
    }

    /// The connection is there: begins its handshake, if it is to be secured.
    fn secure(&mut self, conn: Conn, now: Instant) -> Event<'static> {
        let Some(link) = link(&mut self.links, conn) else { return Event::Connected };
        let Some(records) = &mut link.records else {
            link.stage = Stage::Up;
            return Event::Connected;
        };
        self.report.connect.record(now.since(link.since));
        (link.stage, link.since) = (Stage::Securing, now);
        self.sealed.clear();
        self.received.clear();
        let begun = records.take(&mut self.received, &mut self.plain, &mut self.sealed);
        match begun {
            Err(failure) => self.fail(conn, failure),
            Ok(_) if self.transmit(conn) == Sending::Broken => self.end(conn),
            Ok(_) => Event::Securing,
        }
    }

    /// The handshake has come to nothing, and the connection goes with it.
    fn fail(&mut self, conn: Conn, failure: TlsFailure) -> Event<'static> {
        *self.report.failed.entry(failure.name()).or_default() += 1;
        self.forget(conn);
        self.io.close(conn);
        Event::ConnectFailed(ConnectFailure::Tls(failure))
    }

    /// Drops what is kept of a connection.
    fn forget(&mut self, conn: Conn) {
        let slot = &mut self.links[conn.slot as usize];
        if let Some(link) = slot.take_if(|link| link.generation == conn.generation)
            && let Some(records) = link.records
        {
            give_back(&mut self.spare, records.partial);
        }
    }

    /// Works on what the inner IO has told of a connection.
    fn on_event(&mut self, conn: Conn, event: Event<'static>, now: Instant) {
        let Some(link) = link(&mut self.links, conn) else { return self.tell(conn, now, event) };
        let told = match (event, link.stage) {
            (_, Stage::Over) => return,
            (Event::Connected, _) => match self.begin(conn, now) {
                Some(told) => told,
                None => return,
            },
            (Event::Sent, _) => return self.on_sent(conn, now),
            (Event::PeerClosed | Event::CutOff, Stage::Tunnelling) => {
                self.give_up(conn, ConnectFailure::Closed)
            }
            (Event::Reset, Stage::Tunnelling) => self.give_up(conn, ConnectFailure::Reset),
            (Event::PeerClosed | Event::CutOff, Stage::Securing) => self.fail(conn, TlsFailure::Closed),
            (Event::ConnectFailed(_), _) => {
                self.forget(conn);
                event
            }
            (Event::PeerClosed, _) if link.records.is_none() => {
                link.stage = Stage::Over;
                event
            }
            (Event::PeerClosed, _) => {
                link.stage = Stage::Over;
                // It did not say that this is the end, so that anybody may have cut it off.
                Event::CutOff
            }
            (Event::Reset, _) => self.end(conn),
            (event, _) => event,
        };
        self.tell(conn, now, told);
    }

    /// What was under way is written: sends what follows it, and tells the engine if its own bytes were the last.
    fn on_sent(&mut self, conn: Conn, now: Instant) {
        let Some(link) = link(&mut self.links, conn) else { return };
        link.is_sending = false;
        self.sealed.clear();
        self.sealed.extend_from_slice(&link.outgoing);
        // It may have been a large request's: its memory is not kept for every connection.
        link.outgoing = Vec::new();
        match self.transmit(conn) {
            Sending::UnderWay => {}
            Sending::Broken => self.break_off(conn, now),
            Sending::Done => {
                let owes = link_of(&mut self.links, conn, |link| std::mem::take(&mut link.owes_sent));
                if owes == Some(true) {
                    self.tell(conn, now, Event::Sent);
                }
            }
        }
    }

    fn break_off(&mut self, conn: Conn, now: Instant) {
        let event = self.end(conn);
        self.tell(conn, now, event);
    }

    /// The connection was broken off: what that is depends on whether its handshake was over. A server that closes it without
    /// having read all resets it.
    fn end(&mut self, conn: Conn) -> Event<'static> {
        let stage = link_of(&mut self.links, conn, |link| std::mem::replace(&mut link.stage, Stage::Over));
        if stage == Some(Stage::Securing) { self.fail(conn, TlsFailure::Closed) } else { Event::Reset }
    }

    /// Works on what was received: it is in `self.received`.
    fn on_bytes(&mut self, conn: Conn, now: Instant, arrived: Option<Instant>) {
        self.plain.clear();
        let link = link(&mut self.links, conn);
        let stage = link.as_ref().map(|link| link.stage);
        match stage {
            Some(Stage::Over) => return,
            Some(Stage::Tunnelling) => return self.on_answer(conn, now),
            Some(Stage::Connecting | Stage::Securing | Stage::Up) | None => {}
        }
        let Some(records) = link.and_then(|link| link.records.as_mut()) else {
            std::mem::swap(&mut self.plain, &mut self.received);
            return self.told.push_back(Told { conn, at: now, arrived, what: What::Plain });
        };
        self.sealed.clear();
        let was_up = stage == Some(Stage::Up);
        let taken = records.take(&mut self.received, &mut self.plain, &mut self.sealed);
        if !self.received.is_empty() && taken.is_ok() {
            let mut partial = self.spare.pop().unwrap_or_default();
            partial.append(&mut self.received);
            records.partial = partial;
        }
        let sending = self.transmit(conn);
        match taken {
            Ok(taken) => self.on_taken(conn, taken, (now, arrived), sending),
            Err(failure) if was_up => {
                *self.report.broken.entry(failure.name()).or_default() += 1;
                self.tell_plain(conn, now, arrived);
                self.break_off(conn, now);
            }
            Err(failure) => {
                let event = self.fail(conn, failure);
                self.tell(conn, now, event);
            }
        }
    }

    fn on_taken(
        &mut self,
        conn: Conn,
        taken: Taken,
        (now, arrived): (Instant, Option<Instant>),
        sent: Sending,
    ) {
        if let Some((agreed, is_full)) = taken.came_up {
            if agreed.protocol.is_none() && !self.peers.client.takes_silence {
                let event = self.fail(conn, TlsFailure::Alpn);
                return self.tell(conn, now, event);
            }
            self.come_up(conn, agreed, is_full, now);
            self.tell(conn, now, Event::Connected);
        }
        self.tell_plain(conn, now, arrived);
        let is_up = link_of(&mut self.links, conn, |link| link.stage == Stage::Up) == Some(true);
        if sent == Sending::Broken {
            self.break_off(conn, now);
        } else if taken.has_ended && is_up {
            link_of(&mut self.links, conn, |link| (link.stage, link.owes_end) = (Stage::Over, true));
            self.tell(conn, now, Event::PeerClosed);
        } else if taken.has_ended {
            let event = self.fail(conn, TlsFailure::Closed);
            self.tell(conn, now, event);
        }
    }

    fn tell_plain(&mut self, conn: Conn, at: Instant, arrived: Option<Instant>) {
        if !self.plain.is_empty() {
            self.told.push_back(Told { conn, at, arrived, what: What::Plain });
        }
    }

    fn come_up(&mut self, conn: Conn, agreed: Agreed, is_full: bool, now: Instant) {
        let Some(link) = link(&mut self.links, conn) else { return };
        self.report.handshake.record(now.since(link.since));
        link.stage = Stage::Up;
        self.report.add_agreed(agreed, 1);
        self.report.full += u64::from(is_full);
        self.report.resumed += u64::from(!is_full);
    }
}

impl<I: Io> Io for TlsIo<I> {
    type Error = I::Error;

    const SENDS_A_STAMP: u32 = I::SENDS_A_STAMP;

    fn now(&self) -> Instant {
        self.io.now()
    }

    fn connect(&mut self, conn: Conn, target: Option<u32>) -> Option<Event<'static>> {
        let number = self.begun;
        let records = match self.peers.name(target) {
            None => None,
            Some(name) => match Records::new(self.peers.client.config_of(number), name) {
                Ok(records) => Some(records),
                Err(failure) => {
                    *self.report.failed.entry(failure.name()).or_default() += 1;
                    return Some(Event::ConnectFailed(ConnectFailure::Tls(failure)));
                }
            },
        };
        self.begun += u64::from(records.is_some());
        let has_link = records.is_some() || self.peers.tunnel.is_some();
        self.links[conn.slot as usize] =
            has_link.then(|| Box::new(Link::new(conn.generation, records, self.io.now())));
        match self.io.connect(conn, target) {
            Some(Event::Connected) => {
                let now = self.io.now();
                self.begin(conn, now)
            }
            Some(event) => {
                self.forget(conn);
                Some(event)
            }
            None => None,
        }
    }

    #[inline]
    fn send(&mut self, conn: Conn, bytes: Outgoing<'_>) -> Sending {
        let Some(link) = link(&mut self.links, conn) else { return self.io.send(conn, bytes) };
        self.sealed.clear();
        let Some(records) = &mut link.records else {
            self.sealed.extend_from_slice(bytes.bytes());
            return self.send_sealed(conn);
        };
        let Ok(is_worn_out) = records.seal(bytes.bytes(), &mut self.sealed) else {
            link.stage = Stage::Over;
            return Sending::Broken;
        };
        if is_worn_out {
            self.wear_out(conn);
        }
        self.send_sealed(conn)
    }

    // No `skip`: each byte has to be read to be known for authentic.

    fn close(&mut self, conn: Conn) {
        self.told.retain(|told| told.conn != conn);
        self.sealed.clear();
        // Whoever closes says so, also where the other has said it before (RFC 8446, section 6.1).
        if let Some(link) = link(&mut self.links, conn)
            && (link.stage == Stage::Up || link.owes_end)
            && !link.is_sending
            && let Some(records) = &mut link.records
            && records.say_end(&mut self.sealed).is_ok()
        {
            // Where it can't be sent, nobody is there to hear it.
            let _ = self.io.send(conn, Outgoing::Own(&self.sealed));
        }
        self.forget(conn);
        self.io.close(conn);
    }

    fn wait(&mut self, until: Option<Instant>) -> Result<(), Self::Error> {
        self.io.wait(until)
    }

    #[inline]
    fn next(&mut self) -> Option<(Instant, Completion<'_>)> {
        let told = loop {
            if let Some(told) = self.told.pop_front() {
                break told;
            }
            let (now, Completion { conn, event, arrived }) = self.io.next()?;
            let came = match event {
                Event::Received(bytes) => {
                    self.received.clear();
                    if let Some(partial) = link(&mut self.links, conn).and_then(Link::partial)
                        && !partial.is_empty()
                    {
                        self.received.append(partial);
                        give_back(&mut self.spare, std::mem::take(partial));
                    }
                    self.received.extend_from_slice(bytes);
                    Came::Bytes
                }
                Event::Connected => Came::Event(Event::Connected),
                Event::ConnectFailed(failure) => Came::Event(Event::ConnectFailed(failure)),
                Event::Securing => Came::Event(Event::Securing),
                Event::Sent => Came::Event(Event::Sent),
                Event::WornOut => Came::Event(Event::WornOut),
                Event::Skipped(bytes) => Came::Event(Event::Skipped(bytes)),
                Event::PeerClosed => Came::Event(Event::PeerClosed),
                Event::CutOff => Came::Event(Event::CutOff),
                Event::Reset => Came::Event(Event::Reset),
            };
            match came {
                Came::Bytes => self.on_bytes(conn, now, arrived),
                Came::Event(event) => self.on_event(conn, event, now),
            }
        };
        let event = match told.what {
            What::Event(event) => event,
            What::Plain => Event::Received(&self.plain),
        };
        Some((told.at, Completion { conn: told.conn, event, arrived: told.arrived }))
    }

    fn has_more(&self) -> bool {
        self.io.has_more()
    }
}

/// The secured connection of this life.
#[inline]
fn link(links: &mut [Option<Box<Link>>], conn: Conn) -> Option<&mut Link> {
    links[conn.slot as usize].as_deref_mut().filter(|link| link.generation == conn.generation)
}

fn link_of<T>(links: &mut [Option<Box<Link>>], conn: Conn, look: impl FnOnce(&mut Link) -> T) -> Option<T> {
    link(links, conn).map(look)
}

/// Keeps an emptied buffer for the next connection that needs one.
fn give_back(spare: &mut Vec<Vec<u8>>, mut buffer: Vec<u8>) {
    if buffer.capacity() > 0 && buffer.capacity() <= 2 * PARTIAL_BYTES_MAX && spare.len() < SPARE_MAX {
        buffer.clear();
        spare.push(buffer);
    }
}
