//! What a load is asked to do.

use std::net::SocketAddr;
use std::path::Path;

use driver::UnixSocket;
use engine::{Expect, Request};
use plan::LoadPlan;
use tls::Peers;

/// What is sent where.
#[derive(Debug)]
pub struct Job<'a> {
    /// The URL, for the record.
    pub url: &'a str,
    /// Addresses of the server, used in turn.
    pub targets: &'a [SocketAddr],
    /// What is sent.
    pub request: &'a Request,
    /// What a good answer looks like.
    pub expect: &'a Expect,
    /// How.
    pub plan: &'a LoadPlan,
    /// The socket of this machine that all connections go to, whatever the targets are.
    pub socket: Option<&'a UnixSocket>,
    /// Which of the servers are secured, if any is.
    pub tls: Option<&'a Peers>,
    /// Where the response times go as an HdrHistogram interval log.
    pub interval_log: Option<&'a Path>,
}
