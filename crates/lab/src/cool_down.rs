//! The rest between trials.
//!
//! A closed connection is remembered for a minute by whoever closed it first (TIME_WAIT), with its port. Every trial has
//! a server port of its own, and Linux tells connections apart by both ends, so those of one trial keep none of the next
//! from being made; all that they cost is one more look into a hash table where a port is used again. So the next trial
//! waits until a quarter of the client's ports at most is taken, but not a whole minute for it: Tomcat, which closes every
//! hundredth connection, leaves 30,000. How many were left is noted with the trial.

use std::fs;
use std::time::{Duration as StdDuration, Instant};

use driver::Control;
use units::Duration;

const POLL: StdDuration = StdDuration::from_millis(100);
/// One in so many ports may be in TIME_WAIT.
const PORTS_SHARE: u32 = 4;

/// Waits until TIME_WAIT has drained, for `longest` at most. Gives how many sockets are left in it.
pub(crate) fn cool_down(longest: Duration, interrupt: &Control) -> Option<u32> {
    let deadline = Instant::now() + std::time::Duration::from(longest);
    let bound = stack::ephemeral_range().len() as u32 / PORTS_SHARE;
    loop {
        let left = time_wait()?;
        if left <= bound || Instant::now() >= deadline || interrupt.is_interrupted() {
            return Some(left);
        }
        std::thread::sleep(POLL);
    }
}

/// Sockets in TIME_WAIT, of this network namespace.
fn time_wait() -> Option<u32> {
    parse_time_wait(&fs::read_to_string("/proc/net/sockstat").ok()?)
}

fn parse_time_wait(sockstat: &str) -> Option<u32> {
    let tcp = sockstat.lines().find_map(|line| line.strip_prefix("TCP:"))?;
    let mut words = tcp.split_whitespace();
    words.find(|word| *word == "tw")?;
    words.next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_says_how_many_are_in_time_wait() {
        let sockstat = "sockets: used 50\nTCP: inuse 5 orphan 0 tw 17 alloc 8 mem 1\nUDP: inuse 1 mem 0\n";
        assert_eq!(parse_time_wait(sockstat), Some(17));
        assert_eq!(parse_time_wait("TCP: inuse 5"), None);
        assert!(time_wait().is_some());
    }
}
