//! Whose socket listens on a port.

use std::collections::HashSet;
use std::fs;

/// Whether one of `pids` listens on `port`. `None` where that cannot be known, because no listener is visible
/// or a process hides its descriptors from us.
pub(crate) fn is_owned(port: u16, pids: &[i32]) -> Option<bool> {
    let inodes: HashSet<String> = ["/proc/net/tcp", "/proc/net/tcp6"]
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
    const LISTEN: &str = "0A";
    let row = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (_, local_port) = fields.get(1)?.rsplit_once(':')?;
        let matches = u16::from_str_radix(local_port, 16) == Ok(port) && *fields.get(3)? == LISTEN;
        matches.then(|| (*fields.get(9)?).to_owned().into())?
    };
    table.lines().skip(1).filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

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
