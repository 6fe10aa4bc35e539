//! HTTP/1.1 without sockets: bytes in, responses out; a request in, bytes out. Semantics are those of
//! RFC 9110 and RFC 9112; a comment cites the section where one of them decides. And what a [`Protocol`] is, whichever.
//!
//! Invariants:
//! - Nothing here panics, whatever a server sends, and every loop and buffer has a bound in [`Limits`].
//! - Cutting the same bytes at other places changes neither the [`Response`], nor the body, nor the
//!   [`Malformed`] verdict. Tests and the fuzz target `response_parser` hold this.
//! - Body bytes are lent to the caller as slices of its own input. The only copy is of a head that was
//!   split over reads; it is freed when the head is complete, so an idle connection owns no memory.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod chunked;
mod fields;
mod head;
mod http1;
mod known;
mod limits;
mod malformed;
mod parser;
mod protocol;
mod request;
mod response;

pub use fields::{ContentLength, is_token_byte, is_value_byte};
pub use head::AnswerHead;
pub use http1::{Http1, Http1Shared};
pub use httparse::Header as Field;
pub use known::KnownHead;
pub use limits::{HEADERS_CAP, LEADING_EMPTY_BYTES_MAX, Limits};
pub use malformed::Malformed;
pub use parser::ResponseParser;
pub use protocol::{Bodies, Failure, Fed, Listener, Protocol};
pub use request::{InvalidRequest, RequestSpec, USER_AGENT, asks_to_close, check, encode, named, put};
pub use response::{EndOfStream, Framing, Progress, RequestKind, Response};
