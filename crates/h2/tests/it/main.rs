//! HTTP/2 without sockets.

mod blocks;
mod connection;
mod floods;
mod hpack;
mod requests;
mod support;
mod usual;
