//! `proofload agent`: carries a share of a load for a conductor at the other end of two pipes.
//!
//! Nothing waits for the conductor here. What it says is read by a thread of its own, and what is said to it is written by
//! another, so that a conductor that stands still delays no request, and a load ends that nobody watches.

mod share;

use std::io::{Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};

use agent::{Agent, End, Frames, GREETING, Hello, Leave, Step, ToAgent};
use driver::monotonic_now;
use units::Duration;

use self::share::{Carried, Load};

/// What happens to an agent, under way to it.
const INPUTS_MAX: usize = 256;
/// Messages that wait to be written.
const OUTPUTS_MAX: usize = 64;
/// How soon a message is tried again that found no room.
const WRITE_AGAIN: Duration = Duration::from_millis(10);
/// Bytes read at a time.
const READ_BYTES: usize = 64 * 1024;

/// What happens to an agent.
enum Input {
    Said(ToAgent),
    /// The conductor is gone, or is none.
    Over,
    Load(Carried),
}

/// Serves one conductor, from `input` to `output`, until it is done with us or gone. Nothing goes on after that.
pub fn serve(version: &str, input: impl Read + Send + 'static, output: impl Write + Send + 'static) -> Leave {
    let (inputs, happened) = sync_channel(INPUTS_MAX);
    let said = inputs.clone();
    std::thread::spawn(move || listen(input, &said));
    let (messages, to_write) = sync_channel(OUTPUTS_MAX);
    std::thread::spawn(move || write_all(output, &to_write));
    let mut serving = Serving {
        agent: Agent::new(hello(version), monotonic_now()),
        inputs,
        messages,
        waiting: None,
        load: None,
    };
    serving.agent.attach();
    let leave = serving.run(&happened);
    // Whoever is still about to tell something finds nobody, and does not wait.
    drop(happened);
    drop(serving.load);
    leave
}

/// Who we are.
fn hello(version: &str) -> Hello {
    let node = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
    Hello { version: version.to_owned(), node, cores }
}

struct Serving {
    agent: Agent,
    inputs: SyncSender<Input>,
    messages: SyncSender<Vec<u8>>,
    /// A message that found no room.
    waiting: Option<Vec<u8>>,
    load: Option<Load>,
}

impl Serving {
    fn run(&mut self, happened: &Receiver<Input>) -> Leave {
        loop {
            if self.say_all().is_err() {
                return Leave::Orphaned;
            }
            let now = monotonic_now();
            let mut wait = self.agent.poll_timeout().since(now);
            if self.waiting.is_some() {
                wait = wait.min(WRITE_AGAIN);
            }
            let step = match happened.recv_timeout(wait.into()) {
                Ok(Input::Said(message)) => self.agent.handle(monotonic_now(), message),
                Ok(Input::Over) | Err(RecvTimeoutError::Disconnected) => return Leave::Orphaned,
                Ok(Input::Load(carried)) => {
                    self.carried(carried);
                    Ok(None)
                }
                Err(RecvTimeoutError::Timeout) => Ok(self.agent.handle_timeout(monotonic_now())),
            };
            match step {
                Ok(Some(Step::Prepare(assign))) => {
                    self.load = Some(Load::prepare(*assign, self.inputs_of_load()));
                }
                Ok(Some(Step::Begin(at))) => self.with_load(|load| load.begin(at)),
                Ok(Some(Step::Stop)) => self.with_load(Load::stop),
                Ok(Some(Step::Leave(leave))) => return leave,
                Ok(None) => {}
                Err(_) => return Leave::Orphaned,
            }
        }
    }

    fn inputs_of_load(&self) -> impl Fn(Carried) + Send + use<> {
        let inputs = self.inputs.clone();
        // There is nobody to tell once the agent leaves.
        move |carried| drop(inputs.send(Input::Load(carried)))
    }

    fn with_load(&self, what: impl FnOnce(&Load)) {
        if let Some(load) = &self.load {
            what(load);
        }
    }

    fn carried(&mut self, carried: Carried) {
        match carried {
            Carried::Ready { threads, io, refused } => self.agent.ready(threads, io, refused),
            Carried::Told(told, intended) => self.agent.tell(*told, intended),
            Carried::Ended { threads, interrupted, throttled_ns } => {
                self.agent.end(End { threads, interrupted, throttled_ns, ..End::default() });
            }
            Carried::Failed(why) => self.agent.refuse(&why),
        }
    }

    /// Hands on what there is to say, as far as there is room. An error if nobody writes any more.
    fn say_all(&mut self) -> Result<(), ()> {
        loop {
            let bytes = match self.waiting.take() {
                Some(bytes) => bytes,
                None => match self.agent.poll_message() {
                    Some(message) => agent::encode(&message).map_err(|_| ())?,
                    None => return Ok(()),
                },
            };
            match self.messages.try_send(bytes) {
                Ok(()) => {}
                Err(TrySendError::Full(bytes)) => {
                    self.waiting = Some(bytes);
                    return Ok(());
                }
                Err(TrySendError::Disconnected(_)) => return Err(()),
            }
        }
    }
}

/// Hands on what the conductor says, until its end.
fn listen(mut input: impl Read, said: &SyncSender<Input>) {
    let mut frames = Frames::default();
    let mut bytes = vec![0; READ_BYTES];
    while let Ok(count @ 1..) = input.read(&mut bytes) {
        frames.push(&bytes[..count]);
        loop {
            match frames.next() {
                Ok(Some(message)) => {
                    if said.send(Input::Said(message)).is_err() {
                        return;
                    }
                }
                Ok(None) => break,
                Err(_) => {
                    let _ = said.send(Input::Over);
                    return;
                }
            }
        }
    }
    let _ = said.send(Input::Over);
}

/// Writes messages, the greeting before them, until there are no more or nobody reads.
fn write_all(mut output: impl Write, messages: &Receiver<Vec<u8>>) {
    let mut write = |bytes: &[u8]| output.write_all(bytes).and_then(|()| output.flush()).is_ok();
    if !write(GREETING) {
        return;
    }
    while let Ok(bytes) = messages.recv() {
        if !write(&bytes) {
            return;
        }
    }
}
