//! Which address a connection goes to, and which it comes from.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use rustix::net::SocketAddrAny;
use tls::Peers;

use crate::unix::UnixSocket;

/// Connections from one source address to one target beyond which `connect` slows down sharply: half the
/// default ephemeral port range (measured; see `docs/benchmarks.md`).
pub const CONNECTIONS_PER_SOURCE_MAX: u32 = 14_000;

/// What a connection goes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A port of an address.
    Internet(SocketAddr),
    /// A socket of this machine.
    Local(UnixSocket),
}

impl Target {
    /// Whether it is a socket of this machine.
    pub(crate) const fn is_local(&self) -> bool {
        matches!(self, Self::Local(_))
    }

    /// As the kernel takes it.
    pub(crate) fn address(&self) -> SocketAddrAny {
        match self {
            Self::Internet(address) => (*address).into(),
            Self::Local(socket) => socket.address().into(),
        }
    }
}

/// Where connections of one load go to and come from.
#[derive(Debug, Clone)]
pub struct Route {
    targets: Vec<Target>,
    /// Shift of the slot number where a load is shared among several engines, so that their sources differ.
    first_slot: u32,
    /// By slot: the target that it was aimed at.
    aims: Vec<Option<u32>>,
    /// Which targets are secured, by the numbers that aims have.
    peers: Option<Peers>,
}

impl Route {
    /// A route to `targets`, used in turn; `None` if there are none. `first_slot` is the number of
    /// connections that other engines of the same load hold before this one.
    pub fn new(targets: Vec<SocketAddr>, first_slot: u32) -> Option<Self> {
        let targets: Vec<Target> = targets.into_iter().map(Target::Internet).collect();
        (!targets.is_empty()).then_some(Self { targets, first_slot, aims: Vec::new(), peers: None })
    }

    /// A route to a socket of this machine.
    pub fn local(socket: UnixSocket) -> Self {
        Self { targets: vec![Target::Local(socket)], first_slot: 0, aims: Vec::new(), peers: None }
    }

    /// The same, with connections secured where `peers` says so.
    #[must_use]
    pub fn secured(self, peers: Option<Peers>) -> Self {
        Self { peers, ..self }
    }

    /// Takes out which targets are secured, if any is: who carries bytes on the route knows nothing of it.
    pub(crate) fn take_peers(&mut self) -> Option<Peers> {
        self.peers.take()
    }

    /// All targets, by number.
    pub(crate) fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// Which of the targets connection `slot` goes to.
    pub(crate) fn target_index(&self, slot: u32) -> usize {
        let aim = self.aims.get(slot as usize).copied().flatten();
        aim.unwrap_or(self.first_slot + slot) as usize % self.targets.len()
    }

    /// Has connection `slot` go to the target with this number, modulo how many there are, if one is named.
    pub(crate) fn aim(&mut self, slot: u32, target: Option<u32>) {
        let Some(target) = target else { return };
        if self.aims.len() <= slot as usize {
            self.aims.resize(slot as usize + 1, None);
        }
        self.aims[slot as usize] = Some(target);
    }

    /// The target of connection `slot`.
    pub fn target(&self, slot: u32) -> &Target {
        &self.targets[self.target_index(slot)]
    }

    /// The source address to bind for connection `slot`; `None` leaves it to the kernel. Loopback has
    /// 16 million addresses, so beyond [`CONNECTIONS_PER_SOURCE_MAX`] the next one is used: 127.0.0.2, …
    pub fn source(&self, slot: u32) -> Option<SocketAddr> {
        let Target::Internet(target) = self.target(slot) else { return None };
        let IpAddr::V4(target) = target.ip() else { return None };
        // Aimed connections may all go to one target.
        let of_each = if self.aims.is_empty() { self.targets.len() as u32 } else { 1 };
        let group = (self.first_slot + slot) / of_each / CONNECTIONS_PER_SOURCE_MAX;
        if !target.is_loopback() || group == 0 {
            return None;
        }
        let source = Ipv4Addr::from_bits(Ipv4Addr::LOCALHOST.to_bits() + group);
        Some(SocketAddr::new(IpAddr::V4(source), 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_loopback_connections_come_from_several_addresses() {
        let route = Route::new(vec!["127.0.0.1:80".parse().unwrap()], 0).unwrap();
        assert_eq!(route.source(0), None);
        assert_eq!(route.source(CONNECTIONS_PER_SOURCE_MAX - 1), None);
        assert_eq!(route.source(CONNECTIONS_PER_SOURCE_MAX), Some("127.0.0.2:0".parse().unwrap()));
        assert_eq!(route.source(2 * CONNECTIONS_PER_SOURCE_MAX), Some("127.0.0.3:0".parse().unwrap()));
    }

    #[test]
    fn targets_are_used_in_turn_and_a_public_one_is_never_bound() {
        let targets: Vec<SocketAddr> = ["10.0.0.1:80", "10.0.0.2:80"].map(|it| it.parse().unwrap()).into();
        let route = Route::new(targets.clone(), 1).unwrap();
        assert_eq!(route.target(0), &Target::Internet(targets[1]));
        assert_eq!(route.target(1), &Target::Internet(targets[0]));
        assert_eq!(route.source(20_000), None);
        assert!(Route::new(Vec::new(), 0).is_none());
    }
}
