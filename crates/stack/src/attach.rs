//! A stack that is running already: nothing is started, and it is asked whether it answers.

use std::net::{SocketAddr, ToSocketAddrs};
use std::time::{Duration as StdDuration, Instant};

use plan::stack::{Site, StackManifest};

use crate::client::At;
use crate::error::StackError;
use crate::interrupt::Interrupt;
use crate::ready::{ASK_EVERY, asked, try_once};
use crate::running::Running;

/// Whether `stack` is up, where it should be running already; of others nothing is asked.
pub fn reach(stack: &StackManifest, interrupt: Interrupt<'_>) -> Result<(), StackError> {
    match stack.site() {
        Some(site) => attach(stack, site, interrupt).map(drop),
        None => Ok(()),
    }
}

/// Asks at each address of `site` until the answer is right, or the time is up.
pub(crate) fn attach(
    stack: &StackManifest,
    site: &Site,
    interrupt: Interrupt<'_>,
) -> Result<Running, StackError> {
    let ready = &stack.ready;
    let deadline = Instant::now() + StdDuration::from(ready.timeout);
    let all: Vec<At> = resolved(stack, site)?
        .into_iter()
        .map(|addr| At { addr, speaks: stack.spoken.first(), site: Some(site.clone()) })
        .collect();
    loop {
        let mut failed = None;
        for at in &all {
            if interrupt.is_given() {
                return Err(StackError::Interrupted {
                    stack: stack.id.clone(),
                    doing: "asked whether it is up",
                });
            }
            match try_once(&ready.when, at, deadline) {
                Ok(()) => return Ok(Running { id: stack.id.clone(), at: at.clone(), started: None }),
                // Of `localhost`, which is ::1 as well, the first to be tried is the one that is meant.
                Err(why) => failed = failed.or(Some((asked(&ready.when, at), why))),
            }
        }
        if Instant::now() >= deadline {
            let (asked, last) = failed.unwrap_or_default();
            return Err(StackError::NotThere {
                stack: stack.id.clone(),
                url: site.url.clone(),
                timeout: ready.timeout,
                asked,
                last,
            });
        }
        std::thread::sleep(ASK_EVERY);
    }
}

/// The addresses of its host, one at least.
fn resolved(stack: &StackManifest, site: &Site) -> Result<Vec<SocketAddr>, StackError> {
    let no_address =
        |why: String| StackError::NoAddress { stack: stack.id.clone(), host: site.host.clone(), why };
    let all: Vec<SocketAddr> = (site.host.as_str(), site.port)
        .to_socket_addrs()
        .map_err(|error| no_address(error.to_string()))?
        .collect();
    if all.is_empty() { Err(no_address("it has none".to_owned())) } else { Ok(all) }
}
