//! The streams to the agents, each on threads of its own, so that none waits for another.

use std::io::{Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration as StdDuration;

use agent::{Frames, ToAgent, ToConductor};
use driver::monotonic_now;
use units::Instant;

use super::fleet::{Broken, Fleet, Line};

/// What was heard, under way to whom it is told: few, since one may take as much memory as a message can have. Who finds no
/// place waits, and with it its agent alone.
const HEARD_MAX: usize = 16;
/// Messages that wait to be written to one agent.
const SAID_MAX: usize = 1024;
/// Bytes read at a time.
const READ_BYTES: usize = 16 * 1024;
/// Between a stream that broke and the next try to open one.
const OPEN_AGAIN: StdDuration = StdDuration::from_millis(250);

/// What an agent, or the stream to it, did.
pub(super) enum Input {
    /// There is a stream, which takes messages here.
    Open(SyncSender<Vec<u8>>),
    Said(ToConductor),
    /// There is none any more.
    Over(Broken),
}

pub(super) struct Heard {
    pub(super) agent: usize,
    /// When it came.
    pub(super) at: Instant,
    pub(super) input: Input,
}

/// The streams to all agents of a fleet, which ends with them.
pub(super) struct Lines {
    fleet: Arc<dyn Fleet>,
    to_write: Vec<Option<SyncSender<Vec<u8>>>>,
    /// None once it is over.
    heard: Option<Receiver<Heard>>,
}

impl Lines {
    /// Begins to open them.
    pub(super) fn open(fleet: Arc<dyn Fleet>) -> Self {
        let (tell, heard) = sync_channel(HEARD_MAX);
        let turn = Arc::<Turn>::default();
        let agents = fleet.names().len();
        for agent in 0..agents {
            let (fleet, turn, tell) = (Arc::clone(&fleet), Arc::clone(&turn), tell.clone());
            std::thread::spawn(move || converse(agent, &*fleet, &turn, &tell));
        }
        Self { fleet, to_write: vec![None; agents], heard: Some(heard) }
    }

    /// The next thing that was heard within `wait`.
    pub(super) fn heard(&self, wait: StdDuration) -> Result<Heard, RecvTimeoutError> {
        self.heard.as_ref().ok_or(RecvTimeoutError::Disconnected)?.recv_timeout(wait)
    }

    /// From now on an agent is told here what is said to it.
    pub(super) fn attach(&mut self, agent: usize, to_write: SyncSender<Vec<u8>>) {
        self.to_write[agent] = Some(to_write);
    }

    /// Says something to an agent; an error if it takes nothing any more.
    pub(super) fn say(&mut self, agent: usize, message: &ToAgent) -> Result<(), String> {
        let bytes = agent::encode(message).map_err(|why| why.to_string())?;
        let Some(to_write) = &self.to_write[agent] else { return Ok(()) };
        match to_write.try_send(bytes) {
            // That it is over is told by whoever reads from it, who knows more.
            Ok(()) | Err(TrySendError::Disconnected(_)) => Ok(()),
            Err(TrySendError::Full(_)) => {
                self.to_write[agent] = None;
                Err("does not read what it is told".to_owned())
            }
        }
    }

    /// Ends them, and the fleet.
    pub(super) fn end(mut self) {
        self.end_all();
    }

    fn end_all(&mut self) {
        // Agents end with their streams, and who is still telling finds nobody.
        self.to_write.clear();
        if self.heard.take().is_some() {
            self.fleet.end();
        }
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.end_all();
    }
}

/// One agent, over as many streams as it takes.
fn converse(agent: usize, fleet: &dyn Fleet, turn: &Turn, tell: &SyncSender<Heard>) {
    let tell = |at: Instant, input: Input| tell.send(Heard { agent, at, input }).is_ok();
    loop {
        let broken = match fleet.open(agent) {
            Ok(Line { input, output }) => {
                let (to_write, messages) = sync_channel(SAID_MAX);
                std::thread::spawn(move || write_all(input, &messages));
                if !tell(monotonic_now(), Input::Open(to_write)) {
                    return;
                }
                match listen(output, turn, &tell) {
                    Some(Over::Ended(why)) => fleet.ended(agent, why),
                    // Who speaks another language would do so again.
                    Some(Over::Garbage(why)) => match fleet.ended(agent, why) {
                        Broken::ForNow(why) | Broken::ForGood(why) => Broken::ForGood(why),
                    },
                    None => return,
                }
            }
            Err(broken) => broken,
        };
        let is_for_good = matches!(broken, Broken::ForGood(_));
        if !tell(monotonic_now(), Input::Over(broken)) || is_for_good {
            return;
        }
        std::thread::sleep(OPEN_AGAIN);
    }
}

fn write_all(mut input: Box<dyn Write + Send>, messages: &Receiver<Vec<u8>>) {
    while let Ok(bytes) = messages.recv() {
        if input.write_all(&bytes).and_then(|()| input.flush()).is_err() {
            return;
        }
    }
}

/// Why a stream says no more.
enum Over {
    Ended(String),
    Garbage(String),
}

/// Whose turn it is to make messages of bytes: all agents tell of a second at once, and what they tell takes more memory than its
/// bytes until it is in the books.
type Turn = Mutex<()>;

/// Hands on what an agent says, to the end of its stream; `None` if nobody hears it any more.
fn listen(
    mut output: Box<dyn Read + Send>,
    turn: &Turn,
    tell: &dyn Fn(Instant, Input) -> bool,
) -> Option<Over> {
    let mut frames = Frames::greeted();
    let mut bytes = vec![0; READ_BYTES];
    loop {
        let count = match output.read(&mut bytes) {
            Ok(0) => return Some(Over::Ended("ended".to_owned())),
            Ok(count) => count,
            Err(why) => return Some(Over::Ended(format!("cannot be read ({why})"))),
        };
        // An answer came when it was read, whatever stands before it.
        let at = monotonic_now();
        frames.push(&bytes[..count]);
        loop {
            let is_heard = {
                let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
                match frames.next() {
                    Ok(Some(message)) => tell(at, Input::Said(message)),
                    Ok(None) => break,
                    Err(why) => return Some(Over::Garbage(why.to_string())),
                }
            };
            if !is_heard {
                // It is told to leave, and its stream ends with that.
                let _ = std::io::copy(&mut output, &mut std::io::sink());
                return None;
            }
        }
    }
}
