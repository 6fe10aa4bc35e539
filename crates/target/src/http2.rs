//! HTTP/2 on a connection of the event loop: requests that come and are answered beside each other.
//!
//! The protocol is the `h2` crate's, which wants to be awaited. Here it reads and writes memory and is polled whenever
//! something has changed, so that the loop alone waits, sends and knows when an answer was handed to the kernel.

mod frames;
mod pipe;

use std::collections::{BTreeMap, HashMap};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use bytes::Bytes;
use http_types::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use http_types::{Method, Request as Head, Response};
use http2_server::RecvStream;
use http2_server::server::{Builder, Connection as Protocol, Handshake, SendResponse};
use rustix::io::Errno;
use units::Instant;

use self::pipe::End;
use crate::clock;
use crate::connection::Connection;
use crate::request::{Fill, HEAD_BYTES_MAX, Request};
use crate::shared::{Owed, Shared, Worker};

/// What a connection begins with that speaks it (RFC 9113 3.4): no method of HTTP/1.1 looks like it.
pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Windows for what clients send, which is thrown away as it comes.
const WINDOW_BYTES: u32 = (1 << 30) - 1;
/// What waits for the protocol at most, and a read.
const RECEIVED_BYTES_MAX: usize = 256 * 1024;
/// Handed to the kernel at one time.
const SEND_BYTES_MAX: usize = 64 * 1024;

/// One connection.
pub(crate) struct Http2 {
    protocol: Life,
    end: End,
    woken: Arc<Woken>,
    /// Requests whose body is still coming.
    uploads: Vec<Upload>,
    /// Answers that are not due, the next one first; numbered, since several may be due at one instant.
    delayed: BTreeMap<(Instant, u64), Answer>,
    /// Numbers so far.
    answers: u64,
    /// Requests that are never answered: whoever forgets one resets its stream.
    silent: Vec<SendResponse<Bytes>>,
    /// Answers whose last byte is not the kernel's, by stream.
    sending: HashMap<u32, Owed>,
    /// Bytes that the kernel has taken.
    taken: u64,
    /// Bytes that it was offered last and has not taken: under TLS these same ones have to be offered again.
    offered: usize,
}

enum Life {
    Begins(Box<Handshake<End, Bytes>>),
    GoesOn(Box<Protocol<End, Bytes>>),
    IsOver,
}

/// A request without its end.
struct Upload {
    request: Request,
    body: RecvStream,
    respond: SendResponse<Bytes>,
}

/// An answer that is owed.
struct Answer {
    owed: Owed,
    head_only: bool,
    respond: SendResponse<Bytes>,
}

/// Whether the protocol wants to be polled again.
#[derive(Debug, Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Nothing more is to be done on the connection.
struct Closed;

impl Http2 {
    pub(crate) fn new(shared: &Shared) -> Self {
        let end = End::default();
        let mut builder = Builder::new();
        builder
            .initial_window_size(WINDOW_BYTES)
            .initial_connection_window_size(WINDOW_BYTES)
            .max_header_list_size(HEAD_BYTES_MAX as u32);
        if let Some(most) = shared.config.streams_max {
            builder.max_concurrent_streams(most.get());
        }
        Self {
            protocol: Life::Begins(Box::new(builder.handshake(end.clone()))),
            end,
            woken: Arc::default(),
            uploads: Vec::new(),
            delayed: BTreeMap::new(),
            answers: 0,
            silent: Vec::new(),
            sending: HashMap::new(),
            taken: 0,
            offered: 0,
        }
    }

    /// Moves the connection on as far as it goes without waiting. `readable` is whether its socket may hold bytes, `hung_up`
    /// whether its peer has closed its side; `wait` is told when an answer will be due. Whether it stays open.
    pub(crate) fn turn(
        &mut self,
        worker: &mut Worker<'_>,
        connection: &mut Connection,
        (readable, hung_up): (&mut bool, bool),
        wait: &mut impl FnMut(Instant),
    ) -> bool {
        let ended = loop {
            worker.shared.stand_still();
            match self.step(worker, connection, (&mut *readable, hung_up), wait) {
                Ok(true) => {}
                Ok(false) => break false,
                Err(Closed) => break true,
            }
        };
        if ended {
            self.abandon_all(worker, connection);
        }
        !ended
    }

    /// Does all that can be done once. Whether there may be more.
    fn step(
        &mut self,
        worker: &mut Worker<'_>,
        connection: &mut Connection,
        (readable, hung_up): (&mut bool, bool),
        wait: &mut impl FnMut(Instant),
    ) -> Result<bool, Closed> {
        self.answer_due(worker, connection);
        self.poll(worker, connection, wait);
        let sent = self.send(worker, connection)?;
        let is_over = matches!(self.protocol, Life::IsOver);
        if is_over && self.end.0.borrow().out.is_empty() {
            connection.finish();
            return Err(Closed);
        }
        // A protocol that can't write reads nothing either: the kernel's next word is that there is room.
        if is_over || !*readable || self.end.0.borrow().received.len() >= RECEIVED_BYTES_MAX {
            return Ok(sent);
        }
        match connection.fill() {
            Fill::Closed => return Err(Closed),
            Fill::Empty => *readable = false,
            Fill::Data { drained } => *readable = !drained || hung_up,
        }
        self.receive(connection);
        Ok(true)
    }

    /// Takes what the connection has read.
    pub(crate) fn receive(&mut self, connection: &mut Connection) {
        connection.inbox.move_to(&mut self.end.0.borrow_mut().received);
    }

    /// Notes every answer that is owed and will not come.
    pub(crate) fn abandon_all(&mut self, worker: &mut Worker<'_>, connection: &Connection) {
        let delayed = std::mem::take(&mut self.delayed).into_values().map(|answer| answer.owed);
        for owed in delayed.chain(self.sending.drain().map(|(_, owed)| owed)) {
            worker.abandoned(connection, owed);
        }
    }

    /// Lets the protocol work until it waits for something.
    fn poll(&mut self, worker: &mut Worker<'_>, connection: &Connection, wait: &mut impl FnMut(Instant)) {
        let waker = Waker::from(Arc::clone(&self.woken));
        let mut context = Context::from_waker(&waker);
        loop {
            self.woken.0.store(false, Ordering::Relaxed);
            while let Some((head, respond)) = self.next_request(&mut context) {
                self.take(worker, connection, head, respond, wait);
            }
            self.read_bodies(&mut context, worker, connection, wait);
            if !self.woken.0.load(Ordering::Relaxed) {
                return;
            }
        }
    }

    fn next_request(&mut self, context: &mut Context<'_>) -> Option<(Head<RecvStream>, SendResponse<Bytes>)> {
        if let Life::Begins(handshake) = &mut self.protocol {
            match Pin::new(&mut **handshake).poll(context) {
                Poll::Pending => return None,
                Poll::Ready(Ok(protocol)) => self.protocol = Life::GoesOn(Box::new(protocol)),
                Poll::Ready(Err(_)) => self.protocol = Life::IsOver,
            }
        }
        let Life::GoesOn(protocol) = &mut self.protocol else { return None };
        match protocol.poll_accept(context) {
            Poll::Pending => None,
            Poll::Ready(Some(Ok(request))) => Some(request),
            // Of what the peer did wrong it was told by the protocol itself.
            Poll::Ready(Some(Err(_)) | None) => {
                self.protocol = Life::IsOver;
                None
            }
        }
    }

    /// A request's head has come.
    fn take(
        &mut self,
        worker: &mut Worker<'_>,
        connection: &Connection,
        head: Head<RecvStream>,
        respond: SendResponse<Bytes>,
        wait: &mut impl FnMut(Instant),
    ) {
        let request = Request {
            arrived: clock::now(),
            route: worker.shared.route(head.uri().path()),
            head_only: head.method() == Method::HEAD,
            close: false,
        };
        let body = head.into_body();
        if body.is_end_stream() {
            self.owe(worker, connection, request, respond, wait);
        } else {
            self.uploads.push(Upload { request, body, respond });
        }
    }

    /// A request is there to its last byte.
    fn owe(
        &mut self,
        worker: &mut Worker<'_>,
        connection: &Connection,
        request: Request,
        respond: SendResponse<Bytes>,
        wait: &mut impl FnMut(Instant),
    ) {
        let Some(owed) = worker.take(connection.id, &request) else { return self.silent.push(respond) };
        let answer = Answer { owed, head_only: request.head_only, respond };
        // What is due at the very arrival costs no look at the clock.
        if owed.due == owed.arrived || owed.due <= clock::now() {
            return self.answer(worker, connection, answer);
        }
        self.answers += 1;
        self.delayed.insert((owed.due, self.answers), answer);
        wait(owed.due);
    }

    /// Drops what came of requests' bodies, and answers those that are whole.
    fn read_bodies(
        &mut self,
        context: &mut Context<'_>,
        worker: &mut Worker<'_>,
        connection: &Connection,
        wait: &mut impl FnMut(Instant),
    ) {
        if !self.silent.is_empty() {
            self.silent.retain_mut(|respond| respond.poll_reset(context).is_pending());
        }
        let mut at = 0;
        while at < self.uploads.len() {
            let body = &mut self.uploads[at].body;
            match body.poll_data(context) {
                Poll::Pending => at += 1,
                Poll::Ready(Some(Ok(piece))) => {
                    // It fails for a stream that is over, whose end comes next.
                    let _ = body.flow_control().release_capacity(piece.len());
                }
                Poll::Ready(Some(Err(_))) => drop(self.uploads.swap_remove(at)),
                Poll::Ready(None) => {
                    let Upload { request, respond, .. } = self.uploads.swap_remove(at);
                    self.owe(worker, connection, request, respond, wait);
                }
            }
        }
    }

    fn answer_due(&mut self, worker: &mut Worker<'_>, connection: &Connection) {
        if self.delayed.is_empty() {
            return;
        }
        let now = clock::now();
        while let Some(first) = self.delayed.first_entry().filter(|first| first.key().0 <= now) {
            let answer = first.remove();
            self.answer(worker, connection, answer);
        }
    }

    /// Hands an answer to the protocol.
    fn answer(&mut self, worker: &mut Worker<'_>, connection: &Connection, answer: Answer) {
        let Answer { owed, head_only, mut respond } = answer;
        let body = worker.shared.answers.body(owed.status);
        let has_body = !head_only && !body.is_empty();
        let stream = respond.stream_id().as_u32();
        let sent = respond
            .send_response(head(owed, body.len()), !has_body)
            .and_then(|mut to| if has_body { to.send_data(body, true) } else { Ok(()) });
        if sent.is_err() {
            // Nobody waits for it any more: the stream was reset. It is none of the answers that end a connection.
            return worker.abandoned(connection, owed);
        }
        self.sending.insert(stream, owed);
        let answers = connection.answers + self.sending.len() as u64;
        let is_last =
            worker.shared.config.close_every.is_some_and(|every| answers.is_multiple_of(every.get()));
        if let (true, Life::GoesOn(protocol)) = (is_last, &mut self.protocol) {
            protocol.graceful_shutdown();
        }
    }

    /// Hands on what is written, and notes which answers end in it. Whether the kernel took any.
    fn send(&mut self, worker: &mut Worker<'_>, connection: &mut Connection) -> Result<bool, Closed> {
        let before = self.taken;
        loop {
            let mut pipe = self.end.0.borrow_mut();
            if pipe.out.is_empty() {
                return Ok(self.taken > before);
            }
            if self.offered == 0 {
                self.offered = pipe.out.len().min(SEND_BYTES_MAX);
            }
            match connection.send(&pipe.out[..self.offered]) {
                Ok(count) => {
                    pipe.out.drain(..count);
                    self.offered -= count;
                    self.taken += count as u64;
                }
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => return Ok(self.taken > before),
                Err(_) => return Err(Closed),
            }
            while let Some(stream) = pipe.next_ended(self.taken) {
                if let Some(owed) = self.sending.remove(&stream) {
                    worker.answered(connection, owed);
                }
            }
        }
    }
}

/// The head of an answer with a body of `body_bytes`.
fn head(owed: Owed, body_bytes: usize) -> Response<()> {
    let mut head = Response::new(());
    *head.status_mut() =
        http_types::StatusCode::from_u16(owed.status.code()).expect("every status of ours is one");
    head.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    head.headers_mut().insert(CONTENT_LENGTH, body_bytes.into());
    head
}
