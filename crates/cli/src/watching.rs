//! The view of something that goes on: on a terminal as a picture, in a browser as a page.
//!
//! Events are folded into one state on the thread that they come on, which is that of the books and never one that makes
//! load. A thread of its own looks at the state four times a second, draws it and hands it to the server. Neither a slow
//! terminal nor a slow browser holds up anybody else.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use driver::{Control, monotonic_now};
use live::{COLUMNS_MIN, Inline, ROWS_MIN, State, draw, rows_wanted};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serve::{Latest, Live, Server, Site};

use crate::exit::Failure;
use crate::output::{complains_to_terminal, say, show, terminal_size};
use crate::page::{Sources, html};

/// How often the picture is drawn.
const FRAME: Duration = Duration::from_millis(250);
/// Of which every so manieth is handed to browsers, and the CPU looked at: twice and once a second.
const FRAMES_A_PAGE: u32 = 2;
const FRAMES_A_READING: u32 = 4;
/// Lines of a terminal that are longer than this are hard to read.
const COLUMNS_MAX: u16 = 120;
/// Rows of the picture at most: more would only be larger.
const ROWS_MAX: u16 = 24;
/// How often it is looked whether a browser is still there, at the end.
const POLL: Duration = Duration::from_millis(100);

/// Whether standard error can show a picture.
pub fn has_terminal() -> bool {
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    // The last column and row stay free: a terminal does as it likes with what reaches its corner.
    complains_to_terminal()
        && !is_dumb
        && terminal_size().is_some_and(|(columns, rows)| columns > COLUMNS_MIN && rows > ROWS_MIN)
}

/// Cores that this process may use.
pub fn cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32)
}

/// A server for browsers, and the page that it serves.
struct Served {
    server: Server,
    pages: Pages,
}

/// What it serves of the state.
#[derive(Clone)]
struct Pages {
    live: Arc<Live>,
    /// For whoever scrapes it.
    metrics: Arc<Latest>,
}

/// What is shown, until it is dropped.
pub struct Watching {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    served: Option<Served>,
}

/// What the threads share.
struct Shared {
    state: Mutex<State>,
    terminal: Mutex<Option<Terminal>>,
    pages: Option<Pages>,
    /// Whether this process makes the only load that there is, and nobody else tells of the CPU.
    reads_cpu: bool,
    is_over: Mutex<bool>,
    wake: Condvar,
}

/// The picture on the terminal.
struct Terminal {
    inline: Inline,
    /// Lines of the state that were shown.
    seen: u64,
}

impl Watching {
    /// Shows `state` on the terminal where `on_terminal`, and in browsers where there is an address to serve at.
    pub fn start(
        state: State,
        on_terminal: bool,
        serve: Option<SocketAddr>,
        reads_cpu: bool,
    ) -> Result<Self, Failure> {
        let served = serve.map(serve_at).transpose()?;
        let colour = std::env::var_os("NO_COLOR").is_none_or(|it| it.is_empty());
        let terminal = on_terminal.then(|| Terminal { inline: Inline::new(colour), seen: 0 });
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            terminal: Mutex::new(terminal),
            pages: served.as_ref().map(|it| it.pages.clone()),
            reads_cpu,
            is_over: Mutex::new(false),
            wake: Condvar::new(),
        });
        if on_terminal {
            make_room_for_panics(&shared);
        }
        let for_thread = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("view".into())
            .spawn(move || for_thread.show_until_over())
            .map_err(|error| {
                Failure::system(format!("cannot start a thread ({error}); end other processes"))
            })?;
        Ok(Self { shared, thread: Some(thread), served })
    }

    /// Changes the state.
    pub fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut lock(&self.shared.state));
    }

    /// It is over: the picture goes, what was finished stays, and browsers are told.
    pub fn end(&self, interrupted: bool, error: Option<&str>) {
        self.change(|state| state.end(interrupted, error, monotonic_now()));
        self.shared.clear();
        self.shared.publish();
    }

    /// Serves the report in `dir` for as long as a browser has the page open, or until Ctrl-C.
    pub fn linger(&self, dir: Option<PathBuf>, control: &Control) {
        let Some(Served { server, pages: Pages { live: page, .. } }) = &self.served else { return };
        if let Some(dir) = dir {
            page.has_report(dir);
        }
        if page.watchers() == 0 || control.is_interrupted() {
            return;
        }
        say(format_args!(
            "proofload: {} is there as long as it is open in a browser; Ctrl-C ends it",
            server.url()
        ));
        while page.watchers() > 0 && !control.is_interrupted() {
            std::thread::sleep(POLL);
        }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        *lock(&self.shared.is_over) = true;
        self.shared.wake.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic in it was printed by it.
            let _ = thread.join();
        }
        self.shared.clear();
    }
}

impl Shared {
    fn show_until_over(&self) {
        for frame in 0_u32.. {
            if self.reads_cpu && frame.is_multiple_of(FRAMES_A_READING) {
                self.read_cpu();
            }
            // What fails at once shows no picture.
            if frame > 0 {
                self.draw();
            }
            if frame.is_multiple_of(FRAMES_A_PAGE) {
                self.publish();
            }
            let over = lock(&self.is_over);
            let waited = self.wake.wait_timeout_while(over, FRAME, |over| !*over);
            if *waited.unwrap_or_else(PoisonError::into_inner).0 {
                return;
            }
        }
    }

    fn read_cpu(&self) {
        if let Some(reading) = signals::cpu_now() {
            lock(&self.state).cpu(reading);
        }
    }

    /// Draws the state as it is now, below what was finished since the last time.
    fn draw(&self) {
        let mut terminal = lock(&self.terminal);
        let Some(terminal) = terminal.as_mut() else { return };
        let (view, lines) = self.look(&mut terminal.seen);
        let (columns, rows) = terminal_size().unwrap_or((0, 0));
        let height = if columns > COLUMNS_MIN && rows > ROWS_MIN {
            rows_wanted(&view, (rows - 1).min(ROWS_MAX))
        } else {
            // Somebody made it that small.
            0
        };
        let area = Rect::new(0, 0, columns.saturating_sub(1).min(COLUMNS_MAX), height);
        let mut picture = Buffer::empty(area);
        draw(&view, area, &mut picture);
        show(&terminal.inline.update(&lines, &picture, columns));
    }

    /// Takes the picture away for good. Where a panic came while it was drawn, it stays.
    fn clear(&self) {
        let Ok(mut held) = self.terminal.try_lock().or_else(|error| match error {
            std::sync::TryLockError::Poisoned(held) => Ok(held.into_inner()),
            std::sync::TryLockError::WouldBlock if std::thread::panicking() => Err(()),
            std::sync::TryLockError::WouldBlock => Ok(lock(&self.terminal)),
        }) else {
            return;
        };
        if let Some(mut terminal) = held.take() {
            let (_, lines) = self.look(&mut terminal.seen);
            show(&terminal.inline.erase(&lines, terminal_size().map_or(0, |(columns, _)| columns)));
        }
    }

    /// What is to be seen now, and the lines that came since `seen`.
    fn look(&self, seen: &mut u64) -> (live::View, Vec<String>) {
        let state = lock(&self.state);
        let lines;
        (lines, *seen) = state.lines_after(*seen);
        (state.view(monotonic_now()), lines)
    }

    fn publish(&self) {
        let Some(pages) = &self.pages else { return };
        let view = lock(&self.state).view(monotonic_now());
        pages.live.publish(serde_json::to_string(&view).expect("a view is plain data"));
        pages.metrics.publish(exports::text(&live::metrics(&view)));
    }
}

/// Serves the page of a run, and says where.
fn serve_at(address: SocketAddr) -> Result<Served, Failure> {
    let render =
        Arc::new(|dir: &Path| html(dir, &Sources::of_checkout()).map_err(|failure| failure.to_string()));
    let pages =
        Pages { live: Live::new(render), metrics: Latest::new("/metrics", exports::TEXT_CONTENT_TYPE) };
    let sites: Vec<Arc<dyn Site>> = vec![Arc::clone(&pages.live) as _, Arc::clone(&pages.metrics) as _];
    let server = Server::start(address, sites).map_err(Failure::system)?;
    say(format_args!("proofload: watch it at {}", server.url()));
    Ok(Served { server, pages })
}

/// A panic's message comes where the picture was, and nothing is drawn over it.
fn make_room_for_panics(shared: &Arc<Shared>) {
    let shared = Arc::downgrade(shared);
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if let Some(shared) = shared.upgrade() {
            shared.clear();
        }
        before(info);
    }));
}

/// A state is whole between any two of its changes, also after a panic.
fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
