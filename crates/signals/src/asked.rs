//! Whom servers ask beside each other: the far ends of the TCP connections that they hold and did not accept.
//!
//! A database that nobody declared is one more process of the machine, or none at all. That its server holds connections to it can
//! be seen by the server's own sockets; who listens there belongs to somebody else as a rule, or to another network namespace, and
//! is not looked for.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::SocketAddr;

use record::Asked;

use crate::diag::Diag;
use crate::listener::sockets_of;

/// Descriptors that are looked at, of all processes of a server together.
const SOCKETS_MAX: usize = 16_384;
/// So many far ends are kept apart, and so many are told.
const KEPT_MAX: usize = 64;
const TOLD_MAX: usize = 8;

/// The far ends that were seen, with the most connections that any look saw.
#[derive(Debug, Default)]
pub(crate) struct FarEnds(BTreeMap<SocketAddr, u32>);

impl FarEnds {
    /// Looks at the connections of these processes. Whoever listens on one of the ports `watched` of this machine is no stranger, and
    /// who comes to one of those was accepted, whether or not the socket that listens is among those that are seen.
    pub(crate) fn look(&mut self, pids: &[i32], watched: &BTreeSet<u16>, diag: &mut Diag) -> io::Result<()> {
        let inodes = pids.iter().filter_map(|pid| sockets_of(*pid)).flatten();
        let inodes: BTreeSet<u32> = inodes.take(SOCKETS_MAX).filter_map(|it| it.parse().ok()).collect();
        if inodes.is_empty() {
            return Ok(());
        }
        let seen = diag.asked(&inodes, watched)?;
        self.add(seen.into_iter());
        Ok(())
    }

    fn add(&mut self, seen: impl Iterator<Item = (SocketAddr, u32)>) {
        for (at, count) in seen {
            if let Some(most) = self.0.get_mut(&at) {
                *most = count.max(*most);
            } else if self.0.len() < KEPT_MAX {
                self.0.insert(at, count);
            }
        }
    }

    /// Those with the most connections first.
    pub(crate) fn told(&self) -> Vec<Asked> {
        let mut all: Vec<Asked> =
            self.0.iter().map(|(at, count)| Asked { at: at.to_string(), connections: *count }).collect();
        all.sort_by_key(|it| std::cmp::Reverse(it.connections));
        all.truncate(TOLD_MAX);
        all
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    fn own() -> [i32; 1] {
        [std::process::id().cast_signed()]
    }

    #[test]
    fn the_most_that_a_look_saw_is_kept_and_the_most_connections_come_first() {
        let at = |port: u16| SocketAddr::from(([127, 0, 0, 1], port));
        let mut ends = FarEnds::default();
        ends.add([(at(5432), 7), (at(6379), 8)].into_iter());
        ends.add([(at(5432), 10), (at(6379), 1)].into_iter());
        ends.add((1..200).map(|port| (at(port), 2)));
        let told = ends.told();
        let first: Vec<(&str, u32)> =
            told.iter().take(2).map(|it| (it.at.as_str(), it.connections)).collect();
        assert_eq!(first, [("127.0.0.1:5432", 10), ("127.0.0.1:6379", 8)]);
        assert_eq!((told.len(), ends.0.len()), (TOLD_MAX, KEPT_MAX));
    }

    /// A process that listens, and asks itself: the one that connects is no stranger to the one that accepts. Of one that listens in
    /// another process nothing but its address is known, which is what the port stands for here.
    #[test]
    fn connections_that_were_accepted_or_go_to_ones_own_port_are_none() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        let client = TcpStream::connect(addr).unwrap();
        let (accepted, _) = listener.accept().unwrap();
        let mut ends = FarEnds::default();
        ends.look(&own(), &BTreeSet::new(), &mut Diag::open().unwrap()).unwrap();
        assert!(ends.0.keys().all(|it| it.port() != addr.port()), "{ends:?}");
        // With nobody of its own that listens, it asks somebody.
        drop(listener);
        ends.look(&own(), &BTreeSet::new(), &mut Diag::open().unwrap()).unwrap();
        assert_eq!(ends.0.get(&addr), Some(&1), "{ends:?}");
        let mut watched = FarEnds::default();
        watched.look(&own(), &BTreeSet::from([addr.port()]), &mut Diag::open().unwrap()).unwrap();
        let of_client = client.local_addr().unwrap();
        assert_eq!((watched.0.get(&addr), watched.0.get(&of_client)), (None, None), "{watched:?}");
        drop((client, accepted));
    }
}
