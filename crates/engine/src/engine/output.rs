//! What goes out where a connection has room for several exchanges: all that there is for it in one send, and the next
//! once that is written.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use http::Protocol;

use super::Engine;
use crate::connection::Conn;
use crate::places::Places;
use crate::sample::Sink;
use crate::script::Script;

/// Bytes on their way out.
#[derive(Debug)]
pub(super) struct Output {
    /// Of each connection; of all together where each has room for one exchange, whose protocol writes none.
    pending: Box<[Vec<u8>]>,
    /// Connections that have some, and nothing under way.
    due: VecDeque<u32>,
    /// Those of the connection that was polled last.
    polled: Vec<u8>,
}

impl Output {
    pub(super) fn new<H: Protocol>(connections: u32) -> Self {
        let count = if H::ROOM == 1 { 1 } else { connections };
        Self { pending: (0..count).map(|_| Vec::new()).collect(), due: VecDeque::new(), polled: Vec::new() }
    }

    /// Where the protocol of connection `number` writes to.
    pub(super) fn of<H: Protocol>(&mut self, number: u32) -> &mut Vec<u8> {
        &mut self.pending[if H::ROOM == 1 { 0 } else { number as usize }]
    }

    pub(super) fn polled(&self) -> &[u8] {
        &self.polled
    }

    pub(super) fn is_due(&self) -> bool {
        !self.due.is_empty()
    }
}

impl<S: Sink, P: Script, H: Protocol> Engine<S, P, H> {
    /// Has the exchange's request go out with what else there is for its connection.
    pub(super) fn put_out(&mut self, index: u32) {
        let (number, place) = (Places::<H>::connection_of(index), Places::<H>::place_of(index));
        let protocol = &mut self.protocols[number as usize];
        protocol.ask(place, &self.config.request.bytes, self.output.of::<H>(number));
        protocol.expect(place, self.config.request.kind);
        self.answers[index as usize].begin();
        self.send_output(number);
    }

    /// Has what there is for a connection sent, once nothing else is under way on it.
    pub(super) fn send_output(&mut self, number: u32) {
        let connection = self.places.connection_mut(number);
        let has_some = !self.output.of::<H>(number).is_empty();
        if has_some && connection.is_up() && connection.written && !connection.queued {
            connection.queued = true;
            self.output.due.push_back(number);
        }
    }

    /// The next connection that has something to send.
    pub(super) fn poll_output(&mut self) -> Option<Conn> {
        while let Some(number) = self.output.due.pop_front() {
            let connection = self.places.connection_mut(number);
            connection.queued = false;
            let Output { pending, polled, .. } = &mut self.output;
            let pending = &mut pending[number as usize];
            // It may have been closed meanwhile, and opened again.
            if connection.is_up() && !pending.is_empty() {
                connection.written = true;
                core::mem::swap(pending, polled);
                pending.clear();
                return Some(self.conn(number));
            }
        }
        None
    }
}
