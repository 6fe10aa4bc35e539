//! What became of the handshakes of a load.

use std::borrow::Cow;
use std::collections::BTreeMap;

use stats::Distribution;

/// The kind of connections whose keys are worn out, among those of [`Report::broken`]. All others are named as failures are.
pub const RECORD_LIMIT: &str = "record_limit";

/// What client and server agreed on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Agreed {
    /// `TLS 1.3` or `TLS 1.2`.
    pub version: Cow<'static, str>,
    /// The cipher suite by its name at IANA.
    pub cipher: Cow<'static, str>,
    /// The group in which keys were exchanged, if they were.
    pub group: Option<Cow<'static, str>>,
    /// The protocol that the server chose, if it did.
    pub protocol: Option<String>,
}

/// Counts and times over a whole load, what came before its window included.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Report {
    /// What connections agreed on, that of the first one first, and how many of them did. There are no more kinds than what
    /// was offered allows.
    pub agreed: Vec<(Agreed, u64)>,
    /// Handshakes with keys of their own.
    pub full: u64,
    /// Handshakes that went on with the keys of an earlier connection.
    pub resumed: u64,
    /// Handshakes that failed, by kind; those that were given up are not among them.
    pub failed: BTreeMap<&'static str, u64>,
    /// Connections that TLS ended after their handshake, by kind: fatal alerts, records that are not authentic; and those that we
    /// ended ourselves since keys of TLS 1.2 are good for so many records and no more ([`RECORD_LIMIT`]).
    pub broken: BTreeMap<&'static str, u64>,
    /// From the first packet until the connection was there.
    pub connect: Distribution,
    /// From there until data might be sent.
    pub handshake: Distribution,
}

impl Report {
    /// What the first connection agreed on.
    pub fn first(&self) -> Option<&Agreed> {
        self.agreed.first().map(|(first, _)| first)
    }

    /// How many connections agreed on something else than the first.
    pub fn others(&self) -> u64 {
        self.agreed.iter().skip(1).map(|(_, count)| count).sum()
    }

    /// So many connections agreed on this.
    pub fn add_agreed(&mut self, agreed: Agreed, count: u64) {
        match self.agreed.iter_mut().find(|(known, _)| *known == agreed) {
            Some((_, so_far)) => *so_far += count,
            None => self.agreed.push((agreed, count)),
        }
    }

    /// Adds what another thread of the same load saw.
    pub fn merge(&mut self, other: &Self) {
        for (agreed, count) in &other.agreed {
            self.add_agreed(agreed.clone(), *count);
        }
        self.full += other.full;
        self.resumed += other.resumed;
        add(&mut self.failed, &other.failed);
        add(&mut self.broken, &other.broken);
        self.connect.merge(&other.connect);
        self.handshake.merge(&other.handshake);
    }
}

fn add(to: &mut BTreeMap<&'static str, u64>, from: &BTreeMap<&'static str, u64>) {
    for (name, count) in from {
        *to.entry(name).or_default() += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_agreed_on_different_things_first_are_counted_together() {
        let one = Agreed { version: "TLS 1.3".into(), ..Agreed::default() };
        let other = Agreed { version: "TLS 1.2".into(), ..Agreed::default() };
        let of = |agreed: &[(&Agreed, u64)]| {
            let mut report = Report::default();
            for (it, count) in agreed {
                report.add_agreed((*it).clone(), *count);
            }
            report
        };
        let mut all = of(&[(&one, 3)]);
        all.merge(&of(&[(&other, 2), (&one, 5)]));
        assert_eq!((all.first(), all.others()), (Some(&one), 2));
    }
}
