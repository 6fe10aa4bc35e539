//! The records of one connection: what comes in becomes plain, what goes out is sealed.

use std::sync::Arc;

use engine::TlsFailure;
use rustls::client::{ClientConnectionData, UnbufferedClientConnection};
use rustls::pki_types::ServerName;
use rustls::unbuffered::{ConnectionState, EncodeError, EncryptError, UnbufferedStatus, WriteTraffic};
use rustls::{ClientConfig, CommonState, Error, HandshakeKind, SupportedCipherSuite};

use crate::PARTIAL_BYTES_MAX;
use crate::client::{agreed, failure};
use crate::report::Agreed;

/// Plain bytes of a record at most (RFC 8446, section 5.1).
const RECORD_BYTES_MAX: usize = 16 * 1024;
/// What sealing adds to a record at most: its head, the nonce of TLS 1.2, the type of TLS 1.3, the tag; rounded up.
const SEALED_EXTRA_BYTES: usize = 64;
/// Of the records that a key may seal, this part is left to what is under way when the others are used up.
const RECORDS_LEFT_PART: u64 = 16;
/// Room for a message of a handshake, before it is known how long it is.
const MESSAGE_BYTES: usize = 1024;

/// One connection's side of TLS.
pub(crate) struct Records {
    session: UnbufferedClientConnection,
    is_up: bool,
    /// So many records may be sealed before the connection is to carry nothing new.
    unworn: u64,
    /// What was received and is not whole.
    pub(crate) partial: Vec<u8>,
}

/// What received bytes have come to.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    /// The handshake is over with them, and what was agreed on in it.
    pub(crate) came_up: Option<(Agreed, bool)>,
    /// The peer has said that it sends no more.
    pub(crate) has_ended: bool,
}

impl Records {
    pub(crate) fn new(config: &Arc<ClientConfig>, name: &ServerName<'static>) -> Result<Self, TlsFailure> {
        let session = UnbufferedClientConnection::new(Arc::clone(config), name.clone());
        let session = session.map_err(|error| failure(&error))?;
        Ok(Self { session, is_up: false, unworn: u64::MAX, partial: Vec::new() })
    }

    /// Takes what is in `received`, which begins with what was partial before: plain bytes go to `plain`, what is to be sent
    /// for it to `out`. Leaves in `received` what is not whole. After a failure there is nothing more to take, and its alert
    /// is in `out`.
    pub(crate) fn take(
        &mut self,
        received: &mut Vec<u8>,
        plain: &mut Vec<u8>,
        out: &mut Vec<u8>,
    ) -> Result<Taken, TlsFailure> {
        let mut taken = Taken::default();
        let mut done = 0;
        let ended = loop {
            match self.step(&mut received[done..], plain, out, &mut taken) {
                Ok(Step::On(bytes)) => done += bytes,
                Ok(Step::Blocked(bytes)) => {
                    done += bytes;
                    break Ok(());
                }
                Err(error) => break Err(error),
            }
        };
        if let Err(error) = ended {
            self.say_why(&mut received[done..], out);
            return Err(failure(&error));
        }
        received.drain(..done);
        if received.len() > PARTIAL_BYTES_MAX {
            return Err(TlsFailure::Protocol);
        }
        Ok(taken)
    }

    /// Goes on by one state. Says how many of the bytes are done with.
    fn step(
        &mut self,
        bytes: &mut [u8],
        plain: &mut Vec<u8>,
        out: &mut Vec<u8>,
        taken: &mut Taken,
    ) -> Result<Step, Error> {
        let UnbufferedStatus { mut discard, state, .. } = self.session.process_tls_records(bytes);
        let came = match state? {
            ConnectionState::ReadTraffic(mut traffic) => {
                while let Some(record) = traffic.next_record() {
                    let record = record?;
                    discard += record.discard;
                    plain.extend_from_slice(record.payload);
                }
                Came::More
            }
            ConnectionState::EncodeTlsData(mut message) => {
                append(out, MESSAGE_BYTES, |room| {
                    message.encode(room).map_err(|it| missing_of_encoding(&it))
                })?;
                Came::More
            }
            ConnectionState::TransmitTlsData(message) => {
                // It is in `out`, and whoever called sends that.
                message.done();
                Came::More
            }
            ConnectionState::PeerClosed => {
                taken.has_ended = true;
                Came::More
            }
            ConnectionState::Closed => {
                taken.has_ended = true;
                Came::All
            }
            ConnectionState::BlockedHandshake => Came::All,
            ConnectionState::WriteTraffic(_) => Came::Writable,
            _ => return Err(Error::General("a state that a client does not come to".into())),
        };
        if matches!(came, Came::Writable) && !self.is_up {
            self.is_up = true;
            self.unworn = unworn(&self.session);
            let is_full = self.session.handshake_kind() != Some(HandshakeKind::Resumed);
            taken.came_up = Some((agreed(&self.session), is_full));
        }
        Ok(if matches!(came, Came::More) { Step::On(discard) } else { Step::Blocked(discard) })
    }

    /// The alert that tells the peer of a failure: the one message that there is, since all before it were taken one by one.
    fn say_why(&mut self, rest: &mut [u8], out: &mut Vec<u8>) {
        let UnbufferedStatus { state, .. } = self.session.process_tls_records(rest);
        if let Ok(ConnectionState::EncodeTlsData(mut message)) = state {
            // Where it can't be said, the connection ends without it.
            let _ = append(out, MESSAGE_BYTES, |room| {
                message.encode(room).map_err(|it| missing_of_encoding(&it))
            });
        }
    }

    /// Appends `bytes` as records. The handshake is over. Whether the keys are worn out with that, which is said once.
    pub(crate) fn seal(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<bool, TlsFailure> {
        let room = bytes.len() + (bytes.len() / RECORD_BYTES_MAX + 1) * SEALED_EXTRA_BYTES;
        self.write(|traffic| {
            append(out, room, |room| traffic.encrypt(bytes, room).map_err(|it| missing_of_encryption(&it)))
        })?;
        let unworn = self.unworn.saturating_sub(bytes.len().div_ceil(RECORD_BYTES_MAX) as u64);
        Ok(std::mem::replace(&mut self.unworn, unworn) > 0 && unworn == 0)
    }

    /// Appends the word that nothing more will come.
    pub(crate) fn say_end(&mut self, out: &mut Vec<u8>) -> Result<(), TlsFailure> {
        self.write(|traffic| {
            append(out, SEALED_EXTRA_BYTES, |room| {
                traffic.queue_close_notify(room).map_err(|it| missing_of_encryption(&it))
            })
        })
    }

    fn write(
        &mut self,
        write: impl FnOnce(&mut WriteTraffic<'_, ClientConnectionData>) -> Result<(), Error>,
    ) -> Result<(), TlsFailure> {
        // It goes by what it has seen of the partial record, so it has to see it each time.
        let UnbufferedStatus { state, .. } = self.session.process_tls_records(&mut self.partial);
        match state {
            Ok(ConnectionState::WriteTraffic(mut traffic)) => {
                write(&mut traffic).map_err(|error| failure(&error))
            }
            Ok(_) => Err(TlsFailure::Protocol),
            Err(error) => Err(failure(&error)),
        }
    }
}

/// How many records of ours the keys of a connection are good for, whose handshake is over, but for those that are left to what
/// is under way then. Those of TLS 1.2 are the only ones that it has, and beyond their bound rustls seals nothing; in TLS 1.3 it
/// goes over to the next keys by itself.
fn unworn(state: &CommonState) -> u64 {
    let Some(SupportedCipherSuite::Tls12(suite)) = state.negotiated_cipher_suite() else { return u64::MAX };
    let bound = suite.common.confidentiality_limit;
    bound - bound / RECORDS_LEFT_PART
}

/// What a state was.
enum Came {
    /// There may be another one.
    More,
    /// There is none before more bytes come, and nothing can be sealed.
    All,
    /// There is none before more bytes come, and the handshake is over.
    Writable,
}

/// How far a state has led.
enum Step {
    /// So many bytes are done with, and there may be more to do.
    On(usize),
    /// So many bytes are done with, and more have to come.
    Blocked(usize),
}

/// Why something was not written: for want of so many bytes of room, or for good.
type Missing = Option<usize>;

/// Appends what `write` writes, which is asked again with the room that it wants.
fn append(
    out: &mut Vec<u8>,
    room: usize,
    mut write: impl FnMut(&mut [u8]) -> Result<usize, Missing>,
) -> Result<(), Error> {
    let start = out.len();
    let mut room = room;
    for _ in 0..2 {
        out.resize(start + room, 0);
        match write(&mut out[start..]) {
            Ok(written) => {
                out.truncate(start + written);
                return Ok(());
            }
            Err(Some(wanted)) => room = wanted,
            Err(None) => break,
        }
    }
    out.truncate(start);
    Err(Error::General("nothing more can be encrypted".into()))
}

fn missing_of_encoding(error: &EncodeError) -> Missing {
    match error {
        EncodeError::InsufficientSize(it) => Some(it.required_size),
        EncodeError::AlreadyEncoded => None,
    }
}

fn missing_of_encryption(error: &EncryptError) -> Missing {
    match error {
        EncryptError::InsufficientSize(it) => Some(it.required_size),
        EncryptError::EncryptExhausted => None,
    }
}
