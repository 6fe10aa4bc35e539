//! Tools of the JDK, asked for a moment each.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long one may take: it starts a JVM of its own.
const TIMEOUT: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(20);
/// A thread dump of ten thousand threads has some ten megabytes.
const BYTES_MAX: u64 = 64 << 20;

/// What the command prints; `None` if it fails or takes too long, and then it is ended.
pub(crate) fn output(command: &mut Command) -> Option<String> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let pipe = child.stdout.take()?;
    // Read beside, or a child with more to say than a pipe holds would wait for us.
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        pipe.take(BYTES_MAX).read_to_string(&mut text).map(|_| text)
    });
    let deadline = Instant::now() + TIMEOUT;
    let ended_well = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status.success(),
            Ok(None) if Instant::now() < deadline => std::thread::sleep(POLL),
            Ok(None) | Err(_) => {
                // Ended already is just as well.
                let _ = child.kill();
                let _ = child.wait();
                break false;
            }
        }
    };
    let text = reader.join().ok()?.ok()?;
    ended_well.then_some(text)
}
