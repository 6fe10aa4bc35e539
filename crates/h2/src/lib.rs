//! HTTP/2 without sockets, as a client of a load speaks it: frames (RFC 9113) and header compression (RFC 7541).
//!
//! Invariants:
//! - Nothing here panics, whatever a server sends, and every loop and buffer has a named bound.
//! - Cutting the same bytes at other places changes nothing of what comes of them.
//! - A header block that was seen before, in the same state of the table, is not decoded again, and leaves the table as if
//!   it had been.
//! - No allocation a request: what is kept of a stream is kept in its place on the connection.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod connection;
mod frame;
mod head;
pub mod hpack;
mod peer;
mod request;
mod settings;
mod streams;

pub use connection::{H2, H2Shared, IDLE_FRAMES_MAX, UNREAD_BYTES_MAX};
pub use frame::{FRAME_HEAD_BYTES, FrameHead, Kind, PREFACE, flag};
pub use request::{Scheme, check, encode, is_of_http1, named};
pub use settings::{STREAMS_MAX, Settings, WINDOW_BITS_MAX, WINDOW_BITS_MIN};
