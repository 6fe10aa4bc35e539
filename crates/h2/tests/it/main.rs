//! HTTP/2 without sockets.

mod blocks;
mod connection;
mod floods;
mod hpack;
mod others;
mod requests;
mod support;
mod usual;
