//! A terminal for the real binary, and what is to be seen on it.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// How long anything here may take on a machine that does other things as well. Nothing but a test that fails waits for so long.
const PATIENCE: Duration = Duration::from_secs(180);

/// Everything that came, as it came and as a terminal shows it.
struct Seen {
    bytes: Vec<u8>,
    screen: vt100::Parser,
}

/// A process whose standard error, and standard output unless it is taken elsewhere, is a terminal.
pub struct Terminal {
    child: Child,
    seen: Arc<Mutex<Seen>>,
    reader: Option<JoinHandle<()>>,
    ours: OwnedFd,
    columns: u16,
}

impl Terminal {
    /// Starts `command` on a terminal of that size.
    pub fn start(mut command: Command, rows: u16, columns: u16) -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap();
        let theirs = open(&name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).unwrap();
        set_size(&ours, rows, columns);
        command.stdin(Stdio::null()).stdout(theirs.try_clone().unwrap()).stderr(theirs);
        command.env("TERM", "xterm-256color");
        // Whoever runs the tests may have it set; a test that wants it says so.
        if command.get_envs().all(|(name, _)| name != "NO_COLOR") {
            command.env_remove("NO_COLOR");
        }
        let child = command.spawn().unwrap();
        // It holds the other end, and reading ends when nobody does.
        drop(command);
        let screen = vt100::Parser::new(rows, columns, 1000);
        let seen = Arc::new(Mutex::new(Seen { bytes: Vec::new(), screen }));
        let for_thread = Arc::clone(&seen);
        let mut from = File::from(ours.try_clone().unwrap());
        let reader = std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            loop {
                let count = match from.read(&mut bytes) {
                    Ok(count @ 1..) => count,
                    Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                    // Nobody holds the other end any more, and all that was written has come.
                    Ok(_) | Err(_) => break,
                };
                let mut seen = for_thread.lock().unwrap();
                seen.bytes.extend_from_slice(&bytes[..count]);
                seen.screen.process(&bytes[..count]);
            }
        });
        Self { child, seen, reader: Some(reader), ours, columns }
    }

    /// The process.
    pub fn child(&self) -> &Child {
        &self.child
    }

    /// The rows of the screen, without blanks at their ends.
    pub fn rows(&self) -> Vec<String> {
        let seen = self.seen.lock().unwrap();
        seen.screen.screen().rows(0, self.columns).map(|row| row.trim_end().to_owned()).collect()
    }

    /// The screen as a text.
    pub fn text(&self) -> String {
        self.rows().join("\n").trim_end().to_owned()
    }

    /// Everything that came.
    pub fn bytes(&self) -> Vec<u8> {
        self.seen.lock().unwrap().bytes.clone()
    }

    /// Whether the terminal is as it was: on its own screen, the cursor there, lines broken as ever.
    pub fn is_restored(&self) -> bool {
        let seen = self.seen.lock().unwrap();
        let screen = seen.screen.screen();
        !screen.alternate_screen() && !screen.hide_cursor() && screen.cursor_position().1 == 0
    }

    /// Makes the terminal that large.
    pub fn resize(&mut self, rows: u16, columns: u16) {
        set_size(&self.ours, rows, columns);
        self.seen.lock().unwrap().screen.screen_mut().set_size(rows, columns);
        self.columns = columns;
    }

    /// Waits until the screen is as `is_so` wants it.
    pub fn wait_until(&self, what: &str, is_so: impl Fn(&str) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !is_so(&self.text()) {
            assert!(Instant::now() < deadline, "waited in vain until {what}; the screen:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until the process has ended and all that it wrote has come.
    pub fn end(&mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if Instant::now() > deadline {
                let _ = self.child.kill();
                panic!("it does not end; the screen:\n{}", self.text());
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        if let Some(reader) = self.reader.take() {
            reader.join().unwrap();
        }
        status
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn set_size(of: &OwnedFd, rows: u16, columns: u16) {
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(of, size).unwrap();
}
