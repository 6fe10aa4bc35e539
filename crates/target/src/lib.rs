//! The calibration server behind `proofload target`: a real HTTP server whose behaviour is known beforehand, to
//! check a load generator's figures against.
//!
//! Four threading models serve the same paths. Delays, stalls, errors, closes and silence happen where the
//! [`Config`] says, and limits are planted in it ([`Planted`]). The truth file says when each request really arrived
//! and was answered, on the clock (`CLOCK_MONOTONIC`) that the load generator stamps its own log with.
//!
//! With [`Config::http2`] a connection that begins with the preface of HTTP/2 speaks that, and others HTTP/1.1 as ever.
//!
//! Over TLS ([`Config::tls`]) a connection that begins with plain HTTP is served in plain all the same.
//!
//! Contract of all models: keep-alive; pipelined requests are answered in order; the query of a target is
//! ignored; request bodies (`Content-Length`) are read and dropped; chunked request bodies are refused with
//! 501, heads beyond [`HEAD_BYTES_MAX`] with 431, what is not HTTP with 400, each followed by a close.
//! An HTTP/1.0 request is answered and its connection closed.
#![forbid(unsafe_code)]

mod accept;
mod answer;
mod clock;
mod config;
mod connection;
mod delay;
mod error;
mod event_loop;
mod http2;
mod model;
mod multiplex;
mod planted;
mod pool;
mod request;
mod secured;
mod server;
mod shared;
mod single;
mod stall;
mod summary;
mod threads;
mod truth;
mod work;

pub use config::{BODY_BYTES_MAX, Config, PathRule, Stall};
pub use delay::Delay;
pub use error::TargetError;
pub use model::Model;
pub use planted::{Burn, Leak, LogWrites, Planted, WarmUp};
pub use request::HEAD_BYTES_MAX;
pub use server::{Server, run_until_signalled, start};
pub use summary::Summary;
