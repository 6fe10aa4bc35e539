//! HTTP/2 over a simulated server that does whatever a server may, and some things that it may not.

mod alike;
mod kept;
mod laws;
mod link;
mod resent;
mod server;
mod unread;
mod users;
