//! Signals that reach the processes they are meant for.
//!
//! A process id that was read a moment ago may be another process's by now, for its own was waited for meanwhile. A
//! descriptor of a process (pidfd) never changes hands: what is still found after it was opened is what it stands for.

use std::os::fd::OwnedFd;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// Sends `signal` to each process that `find` finds, and finds again once it is held. What has ended meanwhile is just as
/// well.
pub(crate) fn signal_all(find: impl Fn() -> Vec<i32>, signal: Signal) {
    let hold = |pid: i32| Some((pid, pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()?));
    let held: Vec<(i32, OwnedFd)> = find().into_iter().filter_map(hold).collect();
    let still = find();
    for (_, process) in held.iter().filter(|(pid, _)| still.contains(pid)) {
        let _ = pidfd_send_signal(process, signal);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::process::Command;

    use super::*;

    #[test]
    fn only_what_is_found_again_once_it_is_held_is_signalled() {
        let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
        let pid = child.id().cast_signed();
        let looks = Cell::new(0);
        // At the second look the id is no longer one of ours: another process may have it.
        let once = || {
            looks.set(looks.get() + 1);
            if looks.get() == 1 { vec![pid] } else { Vec::new() }
        };
        signal_all(once, Signal::KILL);
        assert_eq!(looks.get(), 2);
        std::thread::sleep(std::time::Duration::from_millis(50));
        assert!(child.try_wait().unwrap().is_none(), "it lives");
        signal_all(|| vec![pid, i32::MAX], Signal::KILL);
        assert!(!child.wait().unwrap().success());
    }
}
