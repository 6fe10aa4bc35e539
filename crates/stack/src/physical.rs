//! Physical cores: which of the CPUs that something may run on are threads of one core.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::cpus::{Cpus, parse};

const PROCESSORS: &str = "/sys/devices/system/cpu";
/// Of a list of siblings; the kernel writes a page at most.
const LIST_BYTES_MAX: u64 = 8192;

/// CPUs by the physical core that they are threads of, in the order of each core's first one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhysicalCores(Vec<Cpus>);

impl PhysicalCores {
    /// Those of `cpus` on this machine.
    pub fn of(cpus: &Cpus) -> Self {
        Self::told(cpus, |cpu| siblings(Path::new(PROCESSORS), cpu))
    }

    /// Those of `cpus`, where `siblings` says which CPUs are of one core with one of them. One of which nothing is known is a
    /// core of its own, as all are in many virtual machines.
    fn told(cpus: &Cpus, siblings: impl Fn(usize) -> Option<Cpus>) -> Self {
        let mut left = cpus.numbers();
        let mut cores = Vec::new();
        while let Some(first) = left.pop_first() {
            let mut core = BTreeSet::from([first]);
            // Of those that it may not run on, nothing is to be placed.
            core.extend(siblings(first).unwrap_or_default().numbers().intersection(&left).copied());
            left.retain(|cpu| !core.contains(cpu));
            cores.push(core.into_iter().collect());
        }
        Self(cores)
    }

    /// How many they are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The CPUs of a client, half of them at most, and those of servers. A core is whole on one side: two threads of one core
    /// slow each other down. The threads of an only core are shared out, for there is nothing else. `None` of fewer than two
    /// CPUs.
    pub fn split(&self) -> Option<(Cpus, Cpus)> {
        let mut all = Cpus::default();
        all.extend(self.0.iter().cloned());
        if self.count() < 2 {
            return all.halves();
        }
        // The smallest core of several is half of all CPUs at most, so neither side is left with none.
        let half = all.count() / 2;
        let (mut client, mut servers) = (Cpus::default(), Cpus::default());
        for core in &self.0 {
            let fits = client.count() + core.count() <= half;
            let side = if fits { &mut client } else { &mut servers };
            side.extend([core.clone()]);
        }
        Some((client, servers))
    }
}

/// The CPUs of one core with `cpu`, itself among them, as the kernel tells in folder `processors`.
fn siblings(processors: &Path, cpu: usize) -> Option<Cpus> {
    let file = File::open(processors.join(format!("cpu{cpu}/topology/thread_siblings_list"))).ok()?;
    let mut list = String::new();
    let read = file.take(LIST_BYTES_MAX).read_to_string(&mut list).ok()?;
    // Cut off, the last number may be another one.
    if (read as u64) < LIST_BYTES_MAX { parse(&list) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sides of `cpus` where every CPU's core has those that `siblings` lists, and how many cores those are.
    fn split(cpus: &str, siblings: impl Fn(usize) -> String) -> (String, String, usize) {
        let cores = PhysicalCores::told(&parse(cpus).unwrap(), |cpu| parse(&siblings(cpu)));
        let (client, servers) = cores.split().unwrap();
        (client.to_string(), servers.to_string(), cores.count())
    }

    /// Distinct cores first, and then the second thread of each.
    fn usual(cores: usize) -> impl Fn(usize) -> String {
        move |cpu| format!("{},{}", cpu % cores, cpu % cores + cores)
    }

    /// The threads of a core beside each other.
    fn interleaved(cpu: usize) -> String {
        format!("{}-{}", cpu / 2 * 2, cpu / 2 * 2 + 1)
    }

    fn sides(client: &str, servers: &str, cores: usize) -> (String, String, usize) {
        (client.to_owned(), servers.to_owned(), cores)
    }

    #[test]
    fn threads_of_a_core_stay_on_one_side_however_they_are_numbered() {
        assert_eq!(split("0-7", usual(4)), sides("0-1,4-5", "2-3,6-7", 4));
        assert_eq!(split("0-7", interleaved), sides("0-3", "4-7", 4));
        assert_eq!(split("0-3", usual(2)), sides("0,2", "1,3", 2));
    }

    #[test]
    fn of_an_odd_number_of_cores_the_servers_get_the_more() {
        assert_eq!(split("0-5", usual(3)), sides("0,3", "1-2,4-5", 3));
        assert_eq!(split("0-5", interleaved), sides("0-1", "2-5", 3));
    }

    #[test]
    fn an_only_core_s_threads_are_shared_out() {
        assert_eq!(split("0-1", usual(1)), sides("0", "1", 1));
        // Both may run on one core of four.
        assert_eq!(split("2,6", usual(4)), sides("2", "6", 1));
        let one = PhysicalCores::told(&parse("3").unwrap(), |_| None);
        assert_eq!((one.split(), one.count()), (None, 1));
        assert_eq!(PhysicalCores::told(&Cpus::default(), |_| None).split(), None);
    }

    #[test]
    fn only_cpus_that_may_be_used_are_placed() {
        assert_eq!(split("0-3", usual(4)), sides("0-1", "2-3", 4));
        // A whole core would be more than half, so the client has the other one.
        assert_eq!(split("0-1,4", usual(4)), sides("1", "0,4", 2));
    }

    #[test]
    fn what_is_not_known_is_a_core_of_its_own() {
        for nothing in ["", "a", "9"] {
            assert_eq!(split("0-2", |_| nothing.to_owned()), sides("0", "1-2", 3), "{nothing}");
        }
    }

    #[test]
    fn siblings_are_read_where_the_kernel_tells_of_them() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("cpu1/topology");
        std::fs::create_dir_all(&list).unwrap();
        let list = list.join("thread_siblings_list");
        std::fs::write(&list, "1,5\n").unwrap();
        assert_eq!(siblings(folder.path(), 1), parse("1,5"));
        assert_eq!(siblings(folder.path(), 0), None);
        std::fs::write(&list, "1,".repeat(LIST_BYTES_MAX as usize)).unwrap();
        assert_eq!(siblings(folder.path(), 1), None);
    }
}
