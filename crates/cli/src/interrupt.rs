//! Ctrl-C, SIGTERM and a terminal that is closed end a load in good order; who asks again ends the process at once.

use std::sync::Arc;
use std::time::{Duration, Instant};

use driver::Control;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level;

use crate::exit::{Failure, INTERRUPTED};

/// What comes so soon after the first signal is of the same wish: `timeout` and shells tell a process and its group, and npm
/// passes on a Ctrl-C that the terminal has told us of already.
const SAME_WISH: Duration = Duration::from_millis(500);

/// A control that the first SIGINT, SIGTERM or SIGHUP interrupts. A later one exits at once; stacks still end then, because
/// their supervisors see this process go.
pub fn on_signals() -> Result<Arc<Control>, Failure> {
    let control = Arc::new(Control::default());
    let refused = |error| Failure::system(format!("cannot handle signals ({error}); report this as a bug"));
    let mut signals = Signals::new(ending_signals()).map_err(refused)?;
    let for_thread = Arc::clone(&control);
    let watch = move || {
        let mut first: Option<Instant> = None;
        for _ in signals.forever() {
            if first.is_some_and(|first| first.elapsed() >= SAME_WISH) {
                low_level::exit(i32::from(INTERRUPTED));
            }
            first.get_or_insert_with(Instant::now);
            for_thread.interrupt();
        }
    };
    let no_room = |error| Failure::system(format!("cannot start a thread ({error}); end other processes"));
    std::thread::Builder::new().name("signals".into()).spawn(watch).map_err(no_room)?;
    Ok(control)
}

/// The signals that end what goes on in good order.
pub fn ending_signals() -> Vec<i32> {
    // `nohup` has its command ignore the end of its terminal, and that is to stay so.
    let hang_up = (!is_ignored(SIGHUP)).then_some(SIGHUP);
    [SIGINT, SIGTERM].into_iter().chain(hang_up).collect()
}

/// Whether this process was started so that it ignores `signal`; also where that can't be known.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    ignored(&status).is_none_or(|signals| signals & (1_u64 << (signal - 1)) != 0)
}

/// The signals that a process ignores, one a bit, of what the kernel tells of it.
fn ignored(status: &str) -> Option<u64> {
    let bits = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(bits.trim(), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ignored_is_read_from_what_the_kernel_tells() {
        let status = "Name:\tproofload\nSigBlk:\t0000000000000002\nSigIgn:\t0000000000001001\nSigCgt:\t0\n";
        // SIGPIPE, which is 13, and SIGHUP.
        assert_eq!(ignored(status), Some(0x1001));
        assert_eq!(ignored("SigIgn:\tmuch\n"), None);
        assert_eq!(ignored(""), None);
    }
}
