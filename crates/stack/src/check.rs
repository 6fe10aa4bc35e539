//! The whole of what can be said of a stack without load: that it comes up, what it answers, what becomes of its
//! connections, what it takes, and that it goes.

use std::num::NonZeroU32;
use std::thread;
use std::time::Duration as StdDuration;

use plan::stack::{ConnectionUse, Endpoint, Site, StackManifest};
use signals::listener;
use units::Duration;

use crate::chain::{Chain, ChainOptions};
use crate::client::Client;
use crate::contract::{ConnectionCap, ContractReport, Mismatch, Patience, check_contract, count_requests};
use crate::error::StackError;
use crate::started::{StopReport, Usage};

/// How long one answer may take.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// A connection that has served so many requests counts as unlimited; servers in common use close after 100 or
/// after 1000.
pub const REQUESTS_MAX: u32 = 1500;
/// How long they are tried: a JVM that was never asked before is slow. A service that takes a second for an answer is asked
/// less often, and not called wrong for that.
const REQUESTS_WAIT: Duration = Duration::from_secs(15);
/// Clients that ask at once to see how many connections a proxy opens.
const BURST_CLIENTS: usize = 64;
/// How often each of them asks.
const BURST_REQUESTS: usize = 3;
const BURST_TIMEOUT: Duration = Duration::from_secs(30);
const BURST_LOOK_EVERY: StdDuration = StdDuration::from_millis(5);

/// What was found.
#[derive(Debug)]
pub struct StackReport {
    /// The stack's id.
    pub id: String,
    /// Where it was running already; `None` of what was started.
    pub site: Option<Site>,
    /// From the start of its process to its first right answer; of a proxy, when its upstream was up already. `None` of what
    /// was running already.
    pub boot_took: Option<Duration>,
    /// What it used after the boot, before any other request; `None` of what was running already.
    pub usage: Option<Usage>,
    /// Each endpoint and what it answered.
    pub endpoints: Vec<(Endpoint, ContractReport)>,
    /// After how many requests the server closes a connection, or how many it carried at least.
    pub requests_per_connection: ConnectionCap,
    /// The most connections it held to its upstream with 64 clients, and for which endpoint, where its manifest
    /// sets a bound.
    pub upstream_connections: Option<(String, u32)>,
    /// What is not as the manifest says and belongs to no single answer.
    pub mismatches: Vec<Mismatch>,
    /// How it ended; `None` of what was running already, and goes on.
    pub stopped: Option<StopReport>,
}

impl StackReport {
    /// Everything that is not as the manifest says, with the endpoint it belongs to.
    pub fn all_mismatches(&self) -> Vec<String> {
        let of_endpoints = self.endpoints.iter().flat_map(|(endpoint, report)| {
            let found = report.matches.as_ref().err().into_iter().flatten();
            found.map(|mismatch| format!("{}: {mismatch}", endpoint.path))
        });
        of_endpoints.chain(self.mismatches.iter().map(ToString::to_string)).collect()
    }
}

/// Boots the chain `manifests`, whose last is the one in question, asks each of its endpoints, and stops it. It must
/// have been built.
pub fn check(manifests: &[&StackManifest], options: &ChainOptions<'_>) -> Result<StackReport, StackError> {
    let chain = Chain::boot(manifests, options)?;
    let stack = manifests[manifests.len() - 1];
    let front = chain.front();
    let boot_took = front.boot_took();
    let usage = front.usage()?;
    let mut mismatches = Vec::new();
    let endpoints = stack
        .endpoints
        .iter()
        .map(|endpoint| Ok((endpoint.clone(), check_contract(front, endpoint, ANSWER_TIMEOUT)?)))
        .collect::<Result<Vec<_>, StackError>>()?;
    let requests_per_connection = match cap_endpoint(stack) {
        Some(endpoint) => {
            let patience =
                Patience { requests_max: REQUESTS_MAX, wait: REQUESTS_WAIT, answer_max: ANSWER_TIMEOUT };
            count_requests(front.at(), &endpoint.path, &patience)?
        }
        None => ConnectionCap::After(NonZeroU32::MIN),
    };
    let expected = stack.requests_per_connection;
    if cap_endpoint(stack).is_some() && requests_per_connection.contradicts(expected) {
        let got = requests_per_connection.closed_after();
        mismatches.push(Mismatch::RequestsPerConnection { expected, got });
    }
    let bounded = stack.endpoints.iter().find_map(|it| Some((it, it.upstream_connections_max?)));
    let upstream_connections = bounded.map(|(endpoint, max)| {
        let got = connections_in_burst(&chain, endpoint);
        if got > max {
            mismatches.push(Mismatch::UpstreamConnections { max, got });
        }
        (endpoint.name.clone(), got)
    });
    let beyond = chain.all().iter().flat_map(|it| listener::beyond_loopback(&it.pids()));
    mismatches.extend(beyond.map(Mismatch::ListensBeyondLoopback));
    let site = front.site().cloned();
    let stopped = Some(chain.stop()?).filter(|_| site.is_none());
    Ok(StackReport {
        id: stack.id.clone(),
        site,
        boot_took,
        usage,
        endpoints,
        requests_per_connection,
        upstream_connections,
        mismatches,
        stopped,
    })
}

/// The endpoint that is asked over and over: one that answers at once, on a connection that is kept.
fn cap_endpoint(stack: &StackManifest) -> Option<&Endpoint> {
    let kept = stack.endpoints.iter().filter(|endpoint| endpoint.connection == ConnectionUse::KeepAlive);
    kept.min_by_key(|endpoint| endpoint.delay.unwrap_or(Duration::ZERO))
}

/// The most connections to the upstream while many clients ask for `endpoint` at once.
fn connections_in_burst(chain: &Chain, endpoint: &Endpoint) -> u32 {
    let at = chain.front().at();
    let ask = || {
        let deadline = std::time::Instant::now() + StdDuration::from(BURST_TIMEOUT);
        // Whether all are answered is not the question here.
        let Ok(mut client) = Client::connect(at, deadline) else { return };
        for _ in 0..BURST_REQUESTS {
            let _ = client.get(&endpoint.path, deadline);
        }
    };
    thread::scope(|scope| {
        let clients: Vec<_> = (0..BURST_CLIENTS).map(|_| scope.spawn(ask)).collect();
        let mut most = 0;
        while clients.iter().any(|client| !client.is_finished()) {
            most = most.max(chain.upstream_connections());
            thread::sleep(BURST_LOOK_EVERY);
        }
        most
    })
}
