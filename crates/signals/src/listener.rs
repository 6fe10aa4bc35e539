//! The sockets of a port: whose listens on it, and how many are connected to it.

use std::collections::{BTreeSet, HashSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

const TABLES: [&str; 2] = ["/proc/net/tcp", "/proc/net/tcp6"];
const HEADINGS: usize = 1;
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
    let inodes: HashSet<String> =
        TABLES.iter().flat_map(|table| listening_inodes(&listening(table), port)).collect();
    if inodes.is_empty() {
        return None;
    }
    for pid in pids {
        if sockets_of(*pid)?.any(|inode| inodes.contains(&inode)) {
            return Some(true);
        }
    }
    Some(false)
}

/// The ports that somebody listens on, in this network.
pub fn ports() -> BTreeSet<u16> {
    let tables = TABLES.map(listening);
    tables.iter().flat_map(|table| table.lines()).filter_map(|line| Some(Row::of(line)?.local_port)).collect()
}

/// Where `pids` listen, each address once. `None` where that cannot be known, because one hides its descriptors from us.
pub fn addresses_of(pids: &[i32]) -> Option<Vec<SocketAddr>> {
    let mut addresses = BTreeSet::new();
    for pid in pids {
        let inodes: HashSet<String> = sockets_of(*pid)?.collect();
        // Its own tables: a process may live in a network of its own.
        for table in ["tcp", "tcp6"] {
            let text = listening(&format!("/proc/{pid}/net/{table}"));
            let rows = text.lines().filter_map(Row::of).filter(|row| inodes.contains(row.inode));
            addresses.extend(rows.filter_map(|row| row.local()));
        }
    }
    Some(addresses.into_iter().collect())
}

/// Where one of `pids` listens that another machine may reach: not on a loopback address. What hides its descriptors from
/// us has none here.
pub fn beyond_loopback(pids: &[i32]) -> Vec<SocketAddr> {
    let all = pids.iter().filter_map(|pid| addresses_of(&[*pid])).flatten();
    let beyond: BTreeSet<SocketAddr> = all.filter(|local| !local.ip().to_canonical().is_loopback()).collect();
    beyond.into_iter().collect()
}

/// The inodes of the sockets that a process holds; `None` where it hides them.
pub(crate) fn sockets_of(pid: i32) -> Option<impl Iterator<Item = String>> {
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
    let links = descriptors.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    Some(
        links.filter_map(|link| Some(link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())),
    )
}

/// The lines of a table of `/proc/net` whose sockets listen. They come first, and behind them may be a hundred thousand
/// connections that ended a moment ago: those are not read.
fn listening(table: &str) -> String {
    let Ok(file) = File::open(table) else { return String::new() };
    let lines = BufReader::new(file).lines().skip(HEADINGS).map_while(Result::ok);
    lines
        .take_while(|line| Row::of(line).is_some_and(|row| row.state == LISTEN))
        .fold(String::new(), |all, line| all + &line + "\n")
}

/// The inodes of the sockets on `port`, from lines of a table of `/proc/net`.
fn listening_inodes(table: &str, port: u16) -> Vec<String> {
    let rows = table.lines().filter_map(Row::of);
    rows.filter(|row| row.local_port == port).map(|row| row.inode.to_owned()).collect()
}

/// What is of interest in a line of such a table.
struct Row<'a> {
    /// In hexadecimal, as the kernel holds it.
    local_address: &'a str,
    local_port: u16,
    remote_port: u16,
    state: &'a str,
    inode: &'a str,
}

impl<'a> Row<'a> {
    /// `None` for the heading.
    fn of(line: &'a str) -> Option<Self> {
        let mut fields = line.split_whitespace().skip(1);
        let port = |port: &str| u16::from_str_radix(port, 16).ok();
        let (local_address, local_port) = fields.next()?.rsplit_once(':')?;
        let (_, remote_port) = fields.next()?.rsplit_once(':')?;
        Some(Self {
            local_address,
            local_port: port(local_port)?,
            remote_port: port(remote_port)?,
            state: fields.next()?,
            inode: fields.nth(5)?,
        })
    }

    /// Its own address: words of four bytes, each in the byte order of this machine.
    fn local(&self) -> Option<SocketAddr> {
        let word = |index: usize| {
            let digits = self.local_address.get(index * 8..index * 8 + 8)?;
            u32::from_str_radix(digits, 16).ok().map(u32::to_ne_bytes)
        };
        let ip: IpAddr = match self.local_address.len() {
            8 => Ipv4Addr::from(word(0)?).into(),
            32 => {
                let words = [word(0)?, word(1)?, word(2)?, word(3)?];
                let bytes: [u8; 16] = words.concat().try_into().ok()?;
                Ipv6Addr::from(bytes).to_canonical()
            }
            _ => return None,
        };
        Some((ip, self.local_port).into())
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
        assert!(ports().contains(&port));
        drop(listener);
        assert_eq!(is_owned(port, &[ours]), None);
    }

    #[test]
    fn tells_where_a_process_listens() {
        let listeners = ["127.0.0.1:0", "[::1]:0"].map(|address| TcpListener::bind(address).ok());
        let ours = std::process::id().cast_signed();
        let addresses = addresses_of(&[ours]).unwrap();
        for listener in listeners.iter().flatten() {
            assert!(addresses.contains(&listener.local_addr().unwrap()), "{listener:?}: {addresses:?}");
        }
        assert_eq!(addresses_of(&[]), Some(Vec::new()));
        assert_eq!(addresses_of(&[-1]), None);
    }

    #[test]
    fn a_listener_that_others_can_reach_is_told_from_one_on_loopback() {
        let ours = [std::process::id().cast_signed()];
        let inside: Vec<TcpListener> =
            ["127.0.0.1:0", "[::1]:0"].iter().filter_map(|it| TcpListener::bind(it).ok()).collect();
        for wide in ["0.0.0.0:0", "[::]:0"] {
            // A machine may be without IPv6.
            let Ok(listener) = TcpListener::bind(wide) else { continue };
            let addr = listener.local_addr().unwrap();
            assert!(beyond_loopback(&ours).contains(&addr), "{addr}");
            assert!(beyond_loopback(&[]).is_empty());
        }
        let told = beyond_loopback(&ours);
        assert!(inside.iter().all(|it| !told.contains(&it.local_addr().unwrap())), "{told:?}");
        let table = "sl local rem st\n 0: 0100007F:1F90 00000000:0000 0A 0:0 0:0 0 0 0 77\n \
            1: 0000000000000000FFFF00000100007F:1F90 00000000000000000000000000000000:0000 0A 0:0 0:0 0 0 0 78\n";
        if cfg!(target_endian = "little") {
            let locals: Vec<SocketAddr> =
                table.lines().filter_map(Row::of).filter_map(|row| row.local()).collect();
            assert_eq!(locals.len(), 2);
            assert!(locals.iter().all(|it| it.ip().is_loopback()), "{locals:?}");
        }
    }
}
