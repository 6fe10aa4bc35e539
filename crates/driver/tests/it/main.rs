//! Both drivers over real sockets.

mod common;
mod conformance;
mod eager;
mod gate;
mod incidents;
mod late;
mod opening;
mod scripted;
mod surplus;
mod unread;
