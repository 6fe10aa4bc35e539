//! What the kernel counts of its network: `/proc/net/netstat` and `/proc/net/snmp`, of our network namespace.

use std::collections::BTreeMap;
use std::fs;

/// What is kept, by the kernel's own names.
///
/// `ListenOverflows`: handshakes that found the accept queue full; `ListenDrops`: those and others that were dropped;
/// `TCPReqQFullDrop`: dropped because too many handshakes were under way; `TCPSynRetrans`: SYNs sent again;
/// `RetransSegs`: all segments sent again; `OutRsts`, `EstabResets`: resets sent, connections reset; `AttemptFails`:
/// connections that never came up; `DelayedACKs`: acknowledgements that waited for their timer.
const KEPT: [&str; 9] = [
    "ListenOverflows",
    "ListenDrops",
    "TCPReqQFullDrop",
    "TCPSynRetrans",
    "DelayedACKs",
    "RetransSegs",
    "OutRsts",
    "EstabResets",
    "AttemptFails",
];
const FILES: [&str; 2] = ["/proc/net/netstat", "/proc/net/snmp"];

/// The counts so far; empty where they can't be read.
pub(crate) fn read() -> BTreeMap<String, u64> {
    FILES.into_iter().flat_map(|file| counts(&fs::read_to_string(file).unwrap_or_default())).collect()
}

/// Two lines a protocol: the names, then the numbers.
fn counts(text: &str) -> BTreeMap<String, u64> {
    let lines: Vec<&str> = text.lines().collect();
    let pairs = lines.chunks_exact(2).flat_map(|pair| {
        let (names, numbers) = (pair[0].split_ascii_whitespace(), pair[1].split_ascii_whitespace());
        names.zip(numbers)
    });
    pairs
        .filter(|(name, _)| KEPT.contains(name))
        .filter_map(|(name, number)| Some((name.to_owned(), number.parse().ok()?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_below_their_names() {
        let text =
            "TcpExt: SyncookiesSent ListenOverflows ListenDrops\nTcpExt: 1 22 333\nIpExt: A B\nIpExt: 1 2\n";
        let kept = counts(text);
        assert_eq!(kept, [("ListenOverflows".to_owned(), 22), ("ListenDrops".to_owned(), 333)].into());
        assert_eq!(counts("TcpExt: ListenDrops\n"), BTreeMap::new());
    }

    #[test]
    fn this_machine_counts_its_resets() {
        assert!(read().contains_key("OutRsts"));
    }
}
