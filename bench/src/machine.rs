//! What the figures were taken on.

use crate::peers::Peers;

/// For each table, since they are made one by one: without names of machines.
pub(crate) fn describe(peers: &Peers) -> String {
    let kernel = read("/proc/sys/kernel/osrelease");
    let cpu = read("/proc/cpuinfo");
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let cores = cpu.lines().filter(|line| line.starts_with("processor")).count().max(cores);
    format!(
        "{}, {cores} cores, kernel {}. {}.",
        model.map_or("An unnamed processor", |(_, name)| name.trim()),
        kernel.trim(),
        peers.versions().join(", "),
    )
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}
