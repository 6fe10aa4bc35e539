//! What a run ran on.

use std::fs;
use std::net::{IpAddr, UdpSocket};

use record::Machine;

const SYSCTLS: [&str; 6] = [
    "net.core.somaxconn",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_max_syn_backlog",
    "net.ipv4.tcp_tw_reuse",
    "net.ipv4.tcp_congestion_control",
    "kernel.io_uring_disabled",
];

/// Reads what can be read of this machine.
pub(crate) fn machine() -> Machine {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    Machine {
        kernel: read("/proc/sys/kernel/osrelease"),
        cpu: field("/proc/cpuinfo", "model name"),
        cores: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        memory_bytes: field("/proc/meminfo", "MemTotal").and_then(|text| kibibytes(&text)),
        open_files: limit,
        sysctls: SYSCTLS
            .iter()
            .filter_map(|name| {
                let value = read(&format!("/proc/sys/{}", name.replace('.', "/")))?;
                Some(((*name).to_owned(), value))
            })
            .collect(),
    }
}

/// Whether `address` is one of this machine's own.
pub(crate) fn has(address: IpAddr) -> bool {
    // None but its own can be taken.
    UdpSocket::bind((address, 0)).is_ok()
}

fn read(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn field(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn kibibytes(text: &str) -> Option<u64> {
    text.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib * 1024)
}
