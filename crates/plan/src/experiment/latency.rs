//! Rounds in which answer times are compared, at shares of what the slowest stack carries.

use units::{Rate, Share};

use super::{Cell, Role, Round};

/// What stands between a round's name and the share in the name of its answer times, and what behind.
const AT: &str = ", latency at ";
const OF: &str = " of the slowest";

impl Round {
    /// The rounds in which answer times are compared: all stacks at the same rate, a share of what the slowest of them
    /// carries on so many connections (`capacity_per_s`), with arrivals as those of independent users. Without a
    /// capacity there is nothing to compare at.
    pub fn at_shares(&self, capacity_per_s: impl Fn(u32) -> Option<f64>) -> Vec<Self> {
        let at = |share: &Share| {
            let of_share = |cell: &Cell| {
                let capacity = capacity_per_s(cell.load.connections.get())?;
                let load = cell.load.at_rate(Rate::per_sec(rounded(capacity * share.get()))?);
                Some(Cell { load, ..cell.clone() })
            };
            Self {
                name: self.name_at(*share),
                cells: self.cells_at_shares().filter_map(of_share).collect(),
                latency: Vec::new(),
                ..*self
            }
        };
        self.latency.iter().map(at).filter(|round| !round.cells.is_empty()).collect()
    }

    /// The names of those rounds.
    pub fn names_at_shares(&self) -> impl Iterator<Item = String> {
        self.latency.iter().map(|share| self.name_at(*share))
    }

    fn name_at(&self, share: Share) -> String {
        format!("{}{AT}{share}{OF}", self.name)
    }

    /// The cells whose answer times are compared at each share: what a client can do at all is known by then.
    pub(super) fn cells_at_shares(&self) -> impl Iterator<Item = &Cell> {
        self.cells.iter().filter(|cell| cell.role != Role::Control)
    }
}

/// A whole number reads well, and of a slow stack it would be another share: half of three a second is no two.
fn rounded(per_sec: f64) -> f64 {
    if per_sec < 100.0 { (per_sec * 100.0).round() / 100.0 } else { per_sec.round() }
}

/// Of the name of a round in which answer times are compared: the round that they are of, and the share of what its slowest
/// stack carries. `None` of any other name.
pub fn latency_of(name: &str) -> Option<(&str, Share)> {
    let (round, share) = name.strip_suffix(OF)?.rsplit_once(AT)?;
    Some((round, share.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_answer_times_says_whose_and_at_which_share() {
        let of = |name| latency_of(name).map(|(round, share)| (round, share.to_string()));
        assert_eq!(of("hello, latency at 50% of the slowest"), Some(("hello", "50%".into())));
        assert_eq!(
            of("a, latency at b, latency at 2.5% of the slowest"),
            Some(("a, latency at b", "2.5%".into()))
        );
        for other in ["hello", "hello, latency at 50%", "hello, latency at x of the slowest", ""] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
