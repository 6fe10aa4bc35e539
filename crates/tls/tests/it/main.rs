//! TLS under a load: over real sockets, and over a connection in memory whose bytes come in any pieces.
#![cfg(feature = "rustls")]

mod common;
mod conformance;
mod cuts;
mod handshakes;
mod nginx;
mod openssl;
mod tunnel;
