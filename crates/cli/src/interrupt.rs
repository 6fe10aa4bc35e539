//! Ctrl-C and SIGTERM end a load in good order; a second one ends the process at once.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use driver::Control;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::exit::{Failure, INTERRUPTED};

/// A control that the first SIGINT or SIGTERM interrupts. The second exits at once; stacks still end then,
/// because their supervisors see this process go.
pub fn on_signals() -> Result<Arc<Control>, Failure> {
    let control = Arc::new(Control::default());
    let again = Arc::new(AtomicBool::new(false));
    let refused = |error| Failure::system(format!("cannot handle signals ({error}); report this as a bug"));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register_conditional_shutdown(signal, i32::from(INTERRUPTED), Arc::clone(&again))
            .map_err(refused)?;
        signal_hook::flag::register(signal, Arc::clone(&again)).map_err(refused)?;
    }
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(refused)?;
    let for_thread = Arc::clone(&control);
    std::thread::spawn(move || {
        if signals.forever().next().is_some() {
            for_thread.interrupt();
        }
    });
    Ok(control)
}
