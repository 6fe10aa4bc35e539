//! TLS under a load: an [`engine::Io`] around an [`engine::Io`].
//!
//! [`TlsIo`] secures the connections of whatever carries a load. The engine hears that a connection is there when data may
//! be sent on it, sends plain bytes and is lent plain bytes. [`Client`] is what all connections have in common, [`Peers`]
//! says which servers are to be secured and under which name, [`Report`] what was agreed on and how long it took.
//! [`Tunnel`] is the way through a proxy (CONNECT or SOCKS5) before any of that. [`Acceptor`] and [`Session`] are the other
//! side, for the calibration server.
//!
//! This is the only crate that names rustls. Without its feature `rustls` it has the same interface, and asking for TLS is
//! an error that says so.
//!
//! Bounds: a connection keeps at most [`PARTIAL_BYTES_MAX`] of what was received and is not whole, in a buffer that goes back
//! to a pool of at most [`SPARE_MAX`] when it is empty; of what is to be sent, one send of the engine and what the handshake
//! or a new key adds to it.
#![forbid(unsafe_code)]

#[cfg(feature = "rustls")]
mod attempt;
#[cfg(feature = "rustls")]
mod client;
mod error;
#[cfg(feature = "rustls")]
mod io;
#[cfg(feature = "rustls")]
mod names;
#[cfg(not(feature = "rustls"))]
mod no_tls;
#[cfg(feature = "rustls")]
mod pem;
#[cfg(feature = "rustls")]
mod records;
mod report;
#[cfg(feature = "rustls")]
mod server;
mod settings;
#[cfg(feature = "rustls")]
mod stream;
mod tunnel;
#[cfg(feature = "rustls")]
mod verify;
mod waits;
#[cfg(all(test, feature = "rustls"))]
mod worn_out;

pub use error::TlsError;
pub use report::{Agreed, RECORD_LIMIT, Report};
pub use settings::{HTTP_1_1, HTTP_2, Pem, Settings, Version};
pub use tunnel::{Tunnel, open_tunnel};
pub use waits::Waits;

#[cfg(feature = "rustls")]
pub use self::{
    client::{Client, Peers},
    io::TlsIo,
    server::{Acceptor, Session, self_signed},
    stream::Stream,
};
#[cfg(not(feature = "rustls"))]
pub use no_tls::{Acceptor, Client, Peers, Session, Stream, TlsIo, self_signed};

/// Most bytes that are kept of what a connection received and is not whole: the longest handshake message that is taken,
/// and the longest record (RFC 8446, section 5.2) behind it.
pub const PARTIAL_BYTES_MAX: usize = 0xffff + 4 + 5 + 16 * 1024 + 2048;

/// Buffers kept for the next connection that needs one.
pub const SPARE_MAX: usize = 64;
