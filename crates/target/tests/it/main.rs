//! The server over real sockets.

mod common;
mod planted;
mod server;
