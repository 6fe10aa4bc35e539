//! Physical cores: which of the CPUs that something may run on are threads of one core, and which cores are alike.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use crate::cpus::{Cpus, parse};

const PROCESSORS: &str = "/sys/devices/system/cpu";
const DEVICES: &str = "/sys/devices";
const NODES: &str = "/sys/devices/system/node";
/// Of a file about CPUs; the kernel writes a page at most.
const FILE_BYTES_MAX: u64 = 8192;
/// NUMA nodes that are looked at; no kernel is built for more.
const NODES_MAX: usize = 1024;
/// What the kernel calls the kinds of cores of a hybrid x86 processor, from the slowest on.
const HYBRID: [&str; 3] = ["cpu_lowpower", "cpu_atom", "cpu_core"];
/// Cores are of two kinds where one carries more than so many times what the other does, as a fraction: less than 5 % is nothing to
/// the kernel's own scheduler either.
const FASTER: (u64, u64) = (21, 20);

/// CPUs by the physical core that they are threads of, in the order of each core's first one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhysicalCores(Vec<Core>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Core {
    /// Its threads.
    cpus: Cpus,
    /// Which kind it is of, from 0: the slowest of those there are.
    kind: usize,
    /// The NUMA node whose memory is near to it, where the kernel tells of any.
    node: Option<usize>,
}

/// Cores that are not all alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnlikeCores {
    /// In what they differ: `of 2 kinds`, `on 2 NUMA nodes`.
    pub what: String,
    /// Which of them servers and client have where they are split, in words.
    pub sides: String,
}

impl PhysicalCores {
    /// Those of `cpus` on this machine.
    pub fn of(cpus: &Cpus) -> Self {
        let cores = Self::told(cpus, |cpu| siblings(Path::new(PROCESSORS), cpu));
        cores.differing(&speeds(Path::new(DEVICES), cpus), &nodes(Path::new(NODES)))
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
            cores.push(Core { cpus: core.into_iter().collect(), kind: 0, node: None });
        }
        Self(cores)
    }

    /// The same, where CPUs carry what `speeds` says and lie on the nodes that `nodes` says. Those of which neither says anything are
    /// alike.
    fn differing(mut self, speeds: &BTreeMap<usize, u64>, nodes: &BTreeMap<usize, usize>) -> Self {
        // The threads of a core are alike.
        let first = |core: &Core| core.cpus.numbers().first().copied();
        let speed = |core: &Core| first(core).and_then(|cpu| speeds.get(&cpu)).copied().unwrap_or(0);
        let all: BTreeSet<u64> = self.0.iter().map(speed).collect();
        for core in &mut self.0 {
            core.kind = kind(&all, speed(core));
            core.node = first(core).and_then(|cpu| nodes.get(&cpu)).copied();
        }
        self
    }

    /// How many they are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The CPUs of a client, half of them at most, and those of servers. A core is whole on one side: two threads of one core
    /// slow each other down. The threads of an only core are shared out, for there is nothing else. `None` of fewer than two
    /// CPUs.
    ///
    /// Servers have cores of one kind where there are enough of any, and those of as few NUMA nodes as can be: else what a thread
    /// carries depends on which of them it runs on, and how near its memory is, which is chance and differs from process to
    /// process. A client on other cores only has another ceiling, which its control shows.
    pub fn split(&self) -> Option<(Cpus, Cpus)> {
        let mut all = Cpus::default();
        all.extend(self.0.iter().map(|core| core.cpus.clone()));
        if self.count() < 2 {
            return all.halves();
        }
        // The smallest core of several is half of all CPUs at most, so neither side is left with none.
        let half = all.count() / 2;
        let (mut client, mut servers) = (Cpus::default(), Cpus::default());
        for core in self.clients_first() {
            let fits = client.count() + core.cpus.count() <= half;
            let side = if fits { &mut client } else { &mut servers };
            side.extend([core.cpus.clone()]);
        }
        Some((client, servers))
    }

    /// The cores in the order in which a client takes them, so that what is left for servers is alike: first those of other kinds
    /// than the servers', the slowest before faster ones; of a kind first those of the smaller nodes, a node whole before the next.
    /// The servers' is the fastest kind that has as many CPUs as they get at least; where none has, they get the fastest there are.
    /// Cores that are alike stay in their order.
    fn clients_first(&self) -> Vec<&Core> {
        let all = self.count_of(|_| true);
        let is_enough = |kind: &usize| self.count_of(|core| core.kind == *kind) >= all - all / 2;
        let of_servers = self.0.iter().map(|core| core.kind).filter(is_enough).max();
        let mut cores: Vec<&Core> = self.0.iter().collect();
        cores.sort_by_cached_key(|core| {
            let in_node = self.count_of(|it| (it.kind, it.node) == (core.kind, core.node));
            (of_servers == Some(core.kind), core.kind, in_node, core.node)
        });
        cores
    }

    /// The CPUs of all cores that are as `is_its` says.
    fn count_of(&self, is_its: impl Fn(&Core) -> bool) -> usize {
        self.0.iter().filter(|core| is_its(core)).map(|core| core.cpus.count()).sum()
    }

    /// What is to be known of cores that are not all alike; `None` where they are.
    pub fn unlike(&self) -> Option<UnlikeCores> {
        let (kinds, nodes) = (self.kinds(), self.nodes().count());
        let of_kinds = (kinds > 1).then(|| format!("of {kinds} kinds"));
        let on_nodes = (nodes > 1).then(|| format!("on {nodes} NUMA nodes"));
        let what: Vec<String> = of_kinds.into_iter().chain(on_nodes).collect();
        let (client, servers) = self.split().filter(|_| !what.is_empty())?;
        let [servers, client] = [servers, client].map(|side| self.side_words(&side));
        let sides = format!("servers on {servers}, client on {client}");
        Some(UnlikeCores { what: what.join(" "), sides })
    }

    /// How many kinds there are.
    fn kinds(&self) -> usize {
        self.0.iter().map(|core| core.kind).collect::<BTreeSet<_>>().len()
    }

    /// The NUMA nodes by number, as a set of CPUs is one.
    fn nodes(&self) -> Cpus {
        self.0.iter().filter_map(|core| core.node).collect()
    }

    /// The CPUs of a side, and what its cores are among all: `8-15 (the slowest kind, node 1)`.
    fn side_words(&self, side: &Cpus) -> String {
        let its = Self(self.0.iter().filter(|core| core.cpus.is_within(side)).cloned().collect());
        let kinds = self.kinds();
        let kind = match (its.kinds(), its.0.first().map_or(0, |core| core.kind)) {
            _ if kinds < 2 => None,
            (1, kind) if kind + 1 == kinds => Some("the fastest kind".to_owned()),
            (1, 0) => Some("the slowest kind".to_owned()),
            (1, kind) => Some(format!("kind {} of {kinds} from the slowest on", kind + 1)),
            (several, _) => Some(format!("{several} kinds")),
        };
        let nodes = its.nodes();
        let plural = if nodes.count() == 1 { "" } else { "s" };
        let node = (self.nodes().count() > 1).then(|| format!("node{plural} {nodes}"));
        let words: Vec<String> = kind.into_iter().chain(node).collect();
        format!("{side} ({})", words.join(", "))
    }
}

/// Which kind cores of `speed` are of, from 0, where `all` are the speeds there are.
fn kind(all: &BTreeSet<u64>, speed: u64) -> usize {
    let up_to: Vec<u64> = all.range(..=speed).copied().collect();
    let is_faster = |slow: u64, fast: u64| fast.saturating_mul(FASTER.1) > slow.saturating_mul(FASTER.0);
    up_to.windows(2).filter(|pair| is_faster(pair[0], pair[1])).count()
}

/// The CPUs of one core with `cpu`, itself among them, as the kernel tells in folder `processors`.
fn siblings(processors: &Path, cpu: usize) -> Option<Cpus> {
    list(&processors.join(format!("cpu{cpu}/topology/thread_siblings_list")))
}

/// What CPUs carry among each other, as the kernel tells in folder `devices`: of ARM and RISC-V by a capacity of each, of a hybrid x86
/// processor by the kind that each is of. Empty where it tells neither, as of machines of one kind.
fn speeds(devices: &Path, cpus: &Cpus) -> BTreeMap<usize, u64> {
    let capacity = |cpu: usize| {
        let capacity = text(&devices.join(format!("system/cpu/cpu{cpu}/cpu_capacity")))?;
        Some((cpu, u64::from(capacity.trim().parse::<u32>().ok()?)))
    };
    let told: BTreeMap<usize, u64> = cpus.numbers().into_iter().filter_map(capacity).collect();
    if !told.is_empty() {
        return told;
    }
    let of_kind = |(speed, name): (u64, &str)| {
        let cpus = list(&devices.join(name).join("cpus")).unwrap_or_default();
        cpus.numbers().into_iter().map(move |cpu| (cpu, speed))
    };
    (1_u64..).zip(HYBRID).flat_map(of_kind).collect()
}

/// The NUMA node of each CPU, as the kernel tells in folder `nodes`. Nodes of memory alone have none.
fn nodes(nodes: &Path) -> BTreeMap<usize, usize> {
    let entries = fs::read_dir(nodes).into_iter().flatten().filter_map(Result::ok);
    let found = entries.filter_map(|entry| {
        let number: usize = entry.file_name().to_str()?.strip_prefix("node")?.parse().ok()?;
        Some((number, list(&entry.path().join("cpulist"))?))
    });
    let of_node = |(number, cpus): (usize, Cpus)| cpus.numbers().into_iter().map(move |cpu| (cpu, number));
    found.take(NODES_MAX).flat_map(of_node).collect()
}

/// The CPUs that a file lists.
fn list(file: &Path) -> Option<Cpus> {
    parse(&text(file)?)
}

fn text(file: &Path) -> Option<String> {
    let file = File::open(file).ok()?;
    let mut text = String::new();
    let read = file.take(FILE_BYTES_MAX).read_to_string(&mut text).ok()?;
    // Cut off, the last number may be another one.
    ((read as u64) < FILE_BYTES_MAX).then_some(text)
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

    /// A machine of these cores: their CPUs, what each of them carries, and on which node they are.
    fn machine(cores: &[(&str, u64, usize)]) -> PhysicalCores {
        let (mut all, mut speeds, mut nodes) = (Cpus::default(), BTreeMap::new(), BTreeMap::new());
        for (list, speed, node) in cores {
            let cpus = parse(list).unwrap();
            speeds.extend(cpus.numbers().into_iter().map(|cpu| (cpu, *speed)));
            nodes.extend(cpus.numbers().into_iter().map(|cpu| (cpu, *node)));
            all.extend([cpus]);
        }
        let siblings = |cpu: usize| {
            let mut lists = cores.iter().filter_map(|(list, ..)| parse(list));
            lists.find(|core| core.numbers().contains(&cpu))
        };
        PhysicalCores::told(&all, siblings).differing(&speeds, &nodes)
    }

    /// The client's side of a machine and the servers', and what is told of them.
    fn sides_of(cores: &[(&str, u64, usize)]) -> (String, String, Option<String>) {
        let machine = machine(cores);
        let (client, servers) = machine.split().unwrap();
        let told = machine.unlike().map(|unlike| format!("{}: {}", unlike.what, unlike.sides));
        (client.to_string(), servers.to_string(), told)
    }

    fn told(client: &str, servers: &str, told: &str) -> (String, String, Option<String>) {
        (client.to_owned(), servers.to_owned(), Some(told.to_owned()))
    }

    #[test]
    fn cores_that_are_alike_are_split_by_number_and_nothing_is_told_of_them() {
        let alike = [("0,4", 0, 0), ("1,5", 0, 0), ("2,6", 0, 0), ("3,7", 0, 0)];
        assert_eq!(sides_of(&alike), ("0-1,4-5".to_owned(), "2-3,6-7".to_owned(), None));
        // What one core of a kind may carry more than another, by its clock.
        let favoured = [("0", 1000, 3), ("1", 1024, 3), ("2", 1000, 3), ("3", 1050, 3)];
        assert_eq!(sides_of(&favoured), ("0-1".to_owned(), "2-3".to_owned(), None));
    }

    #[test]
    fn servers_have_a_node_of_their_own_however_cpus_are_numbered() {
        let words = "on 2 NUMA nodes: servers on 1,3,5,7 (node 1), client on 0,2,4,6 (node 0)";
        let interleaved: Vec<(String, usize)> = (0..8).map(|cpu| (cpu.to_string(), cpu % 2)).collect();
        let interleaved: Vec<(&str, u64, usize)> =
            interleaved.iter().map(|(cpu, node)| (cpu.as_str(), 0, *node)).collect();
        assert_eq!(sides_of(&interleaved), told("0,2,4,6", "1,3,5,7", words));
        let usual = [("0,4", 0, 0), ("1,5", 0, 0), ("2,6", 0, 1), ("3,7", 0, 1)];
        let words = "on 2 NUMA nodes: servers on 2-3,6-7 (node 1), client on 0-1,4-5 (node 0)";
        assert_eq!(sides_of(&usual), told("0-1,4-5", "2-3,6-7", words));
    }

    /// The smaller node is the client's, which takes what it lacks of the other one.
    #[test]
    fn servers_are_on_as_few_nodes_as_can_be() {
        let unequal = [("0-3", 0, 0), ("4-5", 0, 0), ("6-7", 0, 0), ("8-9", 0, 1), ("10-11", 0, 1)];
        let words = "on 2 NUMA nodes: servers on 0-3,6-7 (node 0), client on 4-5,8-11 (nodes 0-1)";
        assert_eq!(sides_of(&unequal), told("4-5,8-11", "0-3,6-7", words));
        let four = [("0", 0, 2), ("1", 0, 0), ("2", 0, 3), ("3", 0, 1)];
        let words = "on 4 NUMA nodes: servers on 0,2 (nodes 2-3), client on 1,3 (nodes 0-1)";
        assert_eq!(sides_of(&four), told("1,3", "0,2", words));
    }

    #[test]
    fn servers_have_cores_of_the_fastest_kind_that_is_enough_for_them() {
        let fast = [("0-1", 3, 0), ("2-3", 3, 0), ("4-5", 3, 0), ("6-7", 3, 0)];
        let slow = |from: usize| (from..from + 4).map(|cpu| cpu.to_string()).collect::<Vec<String>>();
        let slow_four = slow(8);
        let with_four: Vec<(&str, u64, usize)> =
            fast.into_iter().chain(slow_four.iter().map(|cpu| (cpu.as_str(), 2, 0))).collect();
        let words = "of 2 kinds: servers on 2-7 (the fastest kind), client on 0-1,8-11 (2 kinds)";
        assert_eq!(sides_of(&with_four), told("0-1,8-11", "2-7", words));
        // Two fast cores would be four CPUs of ten.
        let slow_six = [slow(4), slow(8)].concat();
        let with_six: Vec<(&str, u64, usize)> =
            fast[..2].iter().copied().chain(slow_six[..6].iter().map(|cpu| (cpu.as_str(), 2, 0))).collect();
        let words = "of 2 kinds: servers on 5-9 (the slowest kind), client on 0-4 (2 kinds)";
        assert_eq!(sides_of(&with_six), told("0-4", "5-9", words));
        let alike_sides = [("0", 446, 0), ("1", 446, 0), ("2", 1024, 0), ("3", 1024, 0)];
        let words = "of 2 kinds: servers on 2-3 (the fastest kind), client on 0-1 (the slowest kind)";
        assert_eq!(sides_of(&alike_sides), told("0-1", "2-3", words));
    }

    #[test]
    fn where_no_kind_is_enough_servers_have_the_fastest_cores() {
        let kinds = [("0", 1024, 0), ("1-2", 446, 0), ("3-4", 871, 0)];
        let words = "of 3 kinds: servers on 0,3-4 (2 kinds), client on 1-2 (the slowest kind)";
        assert_eq!(sides_of(&kinds), told("1-2", "0,3-4", words));
    }

    #[test]
    fn kinds_and_nodes_are_read_where_the_kernel_tells_of_them() {
        let folder = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| {
            let file = folder.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        let all = parse("0-3").unwrap();
        let read = || speeds(folder.path(), &all);
        assert_eq!((read(), nodes(folder.path())), (BTreeMap::new(), BTreeMap::new()));
        write("cpu_core/cpus", "0-1\n");
        write("cpu_atom/cpus", "2-3\n");
        assert_eq!(read(), BTreeMap::from([(0, 3), (1, 3), (2, 2), (3, 2)]));
        write("system/cpu/cpu0/cpu_capacity", "1024\n");
        write("system/cpu/cpu3/cpu_capacity", "446\n");
        write("system/cpu/cpu2/cpu_capacity", "much\n");
        assert_eq!(read(), BTreeMap::from([(0, 1024), (3, 446)]));
        write("node0/cpulist", "0,2\n");
        write("node1/cpulist", "1,3\n");
        // Of memory alone.
        write("node2/cpulist", "\n");
        write("nodes/cpulist", "0-3\n");
        assert_eq!(nodes(folder.path()), BTreeMap::from([(0, 0), (1, 1), (2, 0), (3, 1)]));
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
        std::fs::write(&list, "1,".repeat(FILE_BYTES_MAX as usize)).unwrap();
        assert_eq!(siblings(folder.path(), 1), None);
    }
}
