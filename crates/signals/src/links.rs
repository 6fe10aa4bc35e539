//! The network links of this machine that are real, how fast they are, and what went over them: `/sys/class/net`.
//!
//! A link that has no device is none: a bridge, a tunnel, one end of a container's pair, loopback. Of many virtual machines' links
//! the speed is not known, and those are left out, too.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use record::LinkReading;

/// Links that are read; a machine has one or two.
const LINKS_MAX: usize = 16;
/// Bytes a second of a megabit a second, the unit of the kernel's speeds.
const BYTES_PER_MEGABIT: f64 = 1e6 / 8.0;

/// A link.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Link {
    pub(crate) name: String,
    pub(crate) dir: PathBuf,
    /// What it carries in one direction.
    pub(crate) bytes_per_s: f64,
}

/// Those of this network namespace whose speed is known.
pub(crate) fn all() -> Vec<Link> {
    within(Path::new("/sys/class/net"))
}

fn within(dir: &Path) -> Vec<Link> {
    let entries = fs::read_dir(dir).into_iter().flatten().filter_map(Result::ok);
    let mut all: Vec<Link> = entries.filter_map(|entry| link(entry.path())).collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all.truncate(LINKS_MAX);
    all
}

/// `None` of what has no device, is down, or does not tell its speed (then it is -1, or can't be read).
fn link(dir: PathBuf) -> Option<Link> {
    let megabits: f64 = fs::read_to_string(dir.join("speed")).ok()?.trim().parse().ok()?;
    let is_known = megabits > 0.0 && megabits.is_finite() && dir.join("device").exists();
    let name = dir.file_name()?.to_str()?.to_owned();
    is_known.then_some(Link { name, dir, bytes_per_s: megabits * BYTES_PER_MEGABIT })
}

/// What went over each so far; without those that can't be read.
pub(crate) fn read(links: &[Link]) -> BTreeMap<String, LinkReading> {
    links.iter().filter_map(|link| Some((link.name.clone(), reading(link)?))).collect()
}

fn reading(link: &Link) -> Option<LinkReading> {
    let count = |what: &str| -> Option<u64> {
        fs::read_to_string(link.dir.join("statistics").join(what)).ok()?.trim().parse().ok()
    };
    Some(LinkReading { received_bytes: count("rx_bytes")?, sent_bytes: count("tx_bytes")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A card at a gigabit, a container's pair that says it has ten, and two that say nothing.
    #[test]
    fn a_link_has_a_device_and_a_speed() {
        let dir = tempfile::tempdir().unwrap();
        for (name, speed, has_device) in
            [("eth0", "1000\n", true), ("veth1", "10000\n", false), ("eth1", "-1\n", true), ("lo", "", false)]
        {
            let of = dir.path().join(name);
            fs::create_dir_all(of.join("statistics")).unwrap();
            fs::write(of.join("speed"), speed).unwrap();
            fs::write(of.join("statistics/rx_bytes"), "700\n").unwrap();
            fs::write(of.join("statistics/tx_bytes"), "30\n").unwrap();
            if has_device {
                fs::create_dir(of.join("device")).unwrap();
            }
        }
        let links = within(dir.path());
        let told: Vec<(&str, f64)> = links.iter().map(|it| (it.name.as_str(), it.bytes_per_s)).collect();
        assert_eq!(told, [("eth0", 125e6)]);
        let expected = LinkReading { received_bytes: 700, sent_bytes: 30 };
        assert_eq!(read(&links), [("eth0".to_owned(), expected)].into());
        fs::remove_file(dir.path().join("eth0/statistics/rx_bytes")).unwrap();
        assert_eq!(read(&links), BTreeMap::new());
    }
}
