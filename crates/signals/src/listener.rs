//! The sockets of a port: whose listens on it, and how many are connected to it.

use std::collections::HashSet;
use std::fs;

const TABLES: [&str; 2] = ["/proc/net/tcp", "/proc/net/tcp6"];
const ESTABLISHED: &str = "01";
const LISTEN: &str = "0A";

/// How many connections to `port` are established, seen from the side that opened them.
pub fn connections_to(port: u16) -> u32 {
    let count = |table: &str| {
        let text = fs::read_to_string(table).unwrap_or_default();
        let to_it =
            |row: &&str| Row::of(row).is_some_and(|row| row.remote_port == port && row.state == ESTABLISHED);
        text.lines().filter(to_it).count() as u32
    };
    TABLES.into_iter().map(count).sum()
}

/// Whether one of `pids` listens on `port`. `None` where that cannot be known, because no listener is visible
/// or a process hides its descriptors from us.
pub fn is_owned(port: u16, pids: &[i32]) -> Option<bool> {
    let inodes: HashSet<String> = TABLES
        .iter()
        .flat_map(|table| listening_inodes(&fs::read_to_string(table).unwrap_or_default(), port))
        .collect();
    if inodes.is_empty() {
        return None;
    }
    for pid in pids {
        let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
        let mut links = descriptors.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
        let holds = links.any(|link| {
            let inode = link.to_str().and_then(|link| link.strip_prefix("socket:[")?.strip_suffix(']'));
            inode.is_some_and(|inode| inodes.contains(inode))
        });
        if holds {
            return Some(true);
        }
    }
    Some(false)
}

/// The inodes of the sockets in state LISTEN on `port`, from a table of `/proc/net`.
fn listening_inodes(table: &str, port: u16) -> Vec<String> {
    let rows = table.lines().filter_map(Row::of);
    rows.filter(|row| row.local_port == port && row.state == LISTEN).map(|row| row.inode.to_owned()).collect()
}

/// What is of interest in a line of such a table.
struct Row<'a> {
    local_port: u16,
    remote_port: u16,
    state: &'a str,
    inode: &'a str,
}

impl<'a> Row<'a> {
    /// `None` for the heading.
    fn of(line: &'a str) -> Option<Self> {
        let mut fields = line.split_whitespace().skip(1);
        let port = |address: &str| u16::from_str_radix(address.rsplit_once(':')?.1, 16).ok();
        let (local_port, remote_port) = (port(fields.next()?)?, port(fields.next()?)?);
        Some(Self { local_port, remote_port, state: fields.next()?, inode: fields.nth(5)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn counts_the_connections_to_a_port_once_each() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        assert_eq!(connections_to(addr.port()), 0);
        let clients: Vec<TcpStream> = (0..3).map(|_| TcpStream::connect(addr).unwrap()).collect();
        assert_eq!(connections_to(addr.port()), 3);
        drop(clients);
    }

    #[test]
    fn knows_its_own_listener_from_that_of_others() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let ours = std::process::id().cast_signed();
        assert_eq!(is_owned(port, &[ours]), Some(true));
        assert_eq!(is_owned(port, &[]), Some(false));
        drop(listener);
        assert_eq!(is_owned(port, &[ours]), None);
    }
}
