//! `proofload agent`: carries a share of a load for a conductor at the other end of two pipes, or of a connection.
//!
//! Nothing waits for the conductor here. What it says is read by a thread of its own, and what is said to it is written by
//! another, so that a conductor that stands still delays no request, and a load ends that nobody watches.

mod share;

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::time::Duration as StdDuration;

use agent::{Agent, End, Frames, GREETING, Hello, Leave, Misplaced, Step, ToAgent, ToConductor};
use driver::monotonic_now;
use units::Duration;

use self::share::{Carried, Load};

/// What happens to an agent, under way to it.
const INPUTS_MAX: usize = 256;
/// Messages that wait to be written.
const OUTPUTS_MAX: usize = 64;
/// How soon a message is tried again that found no room.
const WRITE_AGAIN: Duration = Duration::from_millis(10);
/// How soon another connection is taken where one could not be.
const ACCEPT_AGAIN: StdDuration = StdDuration::from_millis(50);
/// Bytes read at a time.
const READ_BYTES: usize = 64 * 1024;
/// Streams beside the one at hand, on which nobody has said yet that it conducts our load, or that are about another.
const ASIDE_MAX: usize = 8;

/// What happens to an agent.
enum Input {
    /// There is a stream, beside any other.
    Stream(Stream),
    /// The conductor said something, on the stream of this number.
    Said(u64, ToAgent),
    /// The conductor is gone from that stream, or is none.
    Over(u64),
    Load(Carried),
}

/// Where a conductor is told something.
struct Stream {
    number: u64,
    messages: SyncSender<Vec<u8>>,
    /// Ends it for whoever reads from it.
    close: Box<dyn Fn() + Send>,
}

impl Stream {
    /// Says something if there is room for it, and whether there was.
    fn say(&self, message: &ToConductor) -> bool {
        agent::encode(message).is_ok_and(|bytes| self.messages.try_send(bytes).is_ok())
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        (self.close)();
    }
}

/// Serves one conductor, from `input` to `output`, until it is done with us or gone. Nothing goes on after that.
pub fn serve(
    version: &str,
    node: Option<String>,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
) -> Leave {
    let (mut serving, happened) = Serving::new(version, node, false);
    let stream = Stream { number: 0, messages: writer(output), close: Box::new(|| {}) };
    serving.attach(stream);
    let said = serving.inputs.clone();
    std::thread::spawn(move || listen(0, input, &said));
    serving.serve(happened)
}

/// Serves one conductor that comes over connections to `listener`, one at a time: a new one takes the place of the one
/// before once it says that it is about the same load. The load goes on while there is none, for as long as an agent does that
/// nobody watches.
pub fn serve_connections(version: &str, node: Option<String>, listener: TcpListener) -> Leave {
    let (serving, happened) = Serving::new(version, node, true);
    let inputs = serving.inputs.clone();
    std::thread::spawn(move || accept(&listener, &inputs));
    serving.serve(happened)
}

/// Who we are.
fn hello(version: &str, node: Option<String>) -> Hello {
    let own_name = || rustix::system::uname().nodename().to_string_lossy().into_owned();
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
    Hello { version: version.to_owned(), node: node.unwrap_or_else(own_name), cores }
}

struct Serving {
    agent: Agent,
    inputs: SyncSender<Input>,
    stream: Option<Stream>,
    /// Others, the last that came first.
    aside: VecDeque<Stream>,
    /// Whether another stream may come.
    comes_back: bool,
    /// A message that found no room.
    waiting: Option<Vec<u8>>,
    load: Option<Load>,
}

impl Serving {
    fn new(version: &str, node: Option<String>, comes_back: bool) -> (Self, Receiver<Input>) {
        let (inputs, happened) = sync_channel(INPUTS_MAX);
        let agent = Agent::new(hello(version, node), monotonic_now());
        let serving = Self {
            agent,
            inputs,
            stream: None,
            aside: VecDeque::new(),
            comes_back,
            waiting: None,
            load: None,
        };
        (serving, happened)
    }

    fn serve(mut self, happened: Receiver<Input>) -> Leave {
        let leave = self.run(&happened);
        // Whoever is still about to tell something finds nobody, and does not wait.
        drop(happened);
        leave
    }

    fn run(&mut self, happened: &Receiver<Input>) -> Leave {
        loop {
            if self.say_all().is_err()
                && let Some(leave) = self.detach()
            {
                return leave;
            }
            let now = monotonic_now();
            let mut wait = self.agent.poll_timeout().since(now);
            if self.waiting.is_some() {
                wait = wait.min(WRITE_AGAIN);
            }
            let step = match happened.recv_timeout(wait.into()) {
                Ok(Input::Stream(stream)) => {
                    self.come(stream);
                    Ok(None)
                }
                Ok(Input::Said(number, message)) if self.is_current(number) => {
                    self.agent.handle(monotonic_now(), message)
                }
                Ok(Input::Over(number)) if self.is_current(number) => match self.detach() {
                    Some(leave) => return leave,
                    None => Ok(None),
                },
                Ok(Input::Said(number, message)) => self.said_aside(number, message),
                Ok(Input::Over(number)) => {
                    self.aside.retain(|it| it.number != number);
                    Ok(None)
                }
                Ok(Input::Load(carried)) => {
                    self.carried(carried);
                    Ok(None)
                }
                Err(RecvTimeoutError::Disconnected) => return Leave::Orphaned,
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
                Err(_) => {
                    if let Some(leave) = self.detach() {
                        return leave;
                    }
                }
            }
        }
    }

    fn is_current(&self, number: u64) -> bool {
        self.stream.as_ref().is_some_and(|stream| stream.number == number)
    }

    /// There is a stream. Whoever has one keeps it until it is known what the new one is about: it may be another load's.
    fn come(&mut self, stream: Stream) {
        if self.stream.is_none() {
            return self.attach(stream);
        }
        if stream.say(&self.agent.greeting()) {
            self.put_aside(stream);
        }
    }

    fn put_aside(&mut self, stream: Stream) {
        self.aside.truncate(ASIDE_MAX - 1);
        self.aside.push_front(stream);
    }

    /// Something was said on a stream beside the one at hand. It takes that one's place if it is about the same load.
    fn said_aside(&mut self, number: u64, message: ToAgent) -> Result<Option<Step>, Misplaced> {
        let Some(place) = self.aside.iter().position(|it| it.number == number) else { return Ok(None) };
        let ToAgent::Resume { load, .. } = &message else { return Ok(None) };
        if let Some(why) = self.agent.turned_down(*load) {
            // It is closed by whoever hears that.
            if !self.aside[place].say(&why) {
                self.aside.remove(place);
            }
            return Ok(None);
        }
        let before = std::mem::replace(&mut self.stream, self.aside.remove(place));
        self.waiting = None;
        // Whoever has not said yet what it is about may come with another load, and is to hear that we carry this one.
        if let Some(before) = before.filter(|_| !self.agent.is_resumed()) {
            self.put_aside(before);
        }
        self.agent.attach_greeted();
        self.agent.handle(monotonic_now(), message)
    }

    fn attach(&mut self, stream: Stream) {
        (self.stream, self.waiting) = (Some(stream), None);
        self.agent.attach();
    }

    /// The stream is over. The end of us, if no other comes.
    fn detach(&mut self) -> Option<Leave> {
        (self.stream, self.waiting) = (None, None);
        self.agent.detach();
        (!self.comes_back).then_some(Leave::Orphaned)
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
            Carried::Ended { threads, interrupted, throttled_ns, handshakes } => {
                self.agent.end(End { threads, interrupted, throttled_ns, handshakes, ..End::default() });
            }
            Carried::Failed(why) => self.agent.refuse(&why),
        }
    }

    /// Hands on what there is to say, as far as there is room. An error if nobody writes any more.
    fn say_all(&mut self) -> Result<(), ()> {
        let Some(stream) = &self.stream else { return Ok(()) };
        loop {
            let bytes = match self.waiting.take() {
                Some(bytes) => bytes,
                None => match self.agent.poll_message() {
                    Some(message) => agent::encode(&message).map_err(|_| ())?,
                    None => return Ok(()),
                },
            };
            match stream.messages.try_send(bytes) {
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

/// Takes connections, each in place of the one before.
fn accept(listener: &TcpListener, inputs: &SyncSender<Input>) {
    for number in 1.. {
        let Ok((stream, _)) = listener.accept() else {
            std::thread::sleep(ACCEPT_AGAIN);
            continue;
        };
        // Small answers to pings are what clocks are compared by.
        let _ = stream.set_nodelay(true);
        let (Ok(input), Ok(output)) = (stream.try_clone(), stream.try_clone()) else { continue };
        let close = move || drop(stream.shutdown(Shutdown::Both));
        let stream = Stream { number, messages: writer(output), close: Box::new(close) };
        if inputs.send(Input::Stream(stream)).is_err() {
            return;
        }
        let said = inputs.clone();
        std::thread::spawn(move || listen(number, input, &said));
    }
}

/// Hands on what the conductor says, until its end.
fn listen(number: u64, mut input: impl Read, said: &SyncSender<Input>) {
    let mut frames = Frames::default();
    let mut bytes = vec![0; READ_BYTES];
    while let Ok(count @ 1..) = input.read(&mut bytes) {
        frames.push(&bytes[..count]);
        loop {
            match frames.next() {
                Ok(Some(message)) => {
                    if said.send(Input::Said(number, message)).is_err() {
                        return;
                    }
                }
                Ok(None) => break,
                Err(_) => {
                    let _ = said.send(Input::Over(number));
                    return;
                }
            }
        }
    }
    let _ = said.send(Input::Over(number));
}

/// Takes messages for a stream, on a thread of its own.
fn writer(output: impl Write + Send + 'static) -> SyncSender<Vec<u8>> {
    let (messages, to_write) = sync_channel(OUTPUTS_MAX);
    std::thread::spawn(move || write_all(output, &to_write));
    messages
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream to a conductor, and what is said to it.
    fn stream(number: u64) -> (Stream, Receiver<Vec<u8>>) {
        let (messages, told) = sync_channel(OUTPUTS_MAX);
        (Stream { number, messages, close: Box::new(|| {}) }, told)
    }

    fn said(told: &Receiver<Vec<u8>>) -> Vec<ToConductor> {
        let mut frames = Frames::default();
        let message = |bytes: Vec<u8>| {
            frames.push(&bytes);
            frames.next().unwrap().unwrap()
        };
        told.try_iter().map(message).collect()
    }

    fn resume(load: u64) -> ToAgent {
        ToAgent::Resume { load, seen: Vec::new() }
    }

    /// Both came before either said what it is about, and the one that came last spoke first.
    #[test]
    fn of_two_conductors_at_once_one_has_the_agent_and_the_other_is_told_why_not() {
        let (mut serving, _happened) = Serving::new("1", None, true);
        let ((first, of_first), (second, of_second)) = (stream(1), stream(2));
        serving.come(first);
        assert!(serving.say_all().is_ok());
        serving.come(second);
        assert!(matches!(serving.said_aside(2, resume(2)), Ok(None)));
        assert!(serving.is_current(2) && serving.say_all().is_ok());
        assert!(matches!(serving.said_aside(1, resume(1)), Ok(None)));
        let refused = ToConductor::Refused { why: "carries another load".into() };
        assert_eq!(said(&of_first), [serving.agent.greeting(), refused]);
        assert_eq!(said(&of_second), [serving.agent.greeting()]);
    }

    #[test]
    fn another_stream_of_the_same_load_ends_the_one_before() {
        let (mut serving, _happened) = Serving::new("1", None, true);
        let ((first, _of_first), (second, _of_second)) = (stream(1), stream(2));
        serving.come(first);
        assert!(matches!(serving.agent.handle(monotonic_now(), resume(1)), Ok(None)));
        serving.come(second);
        assert!(matches!(serving.said_aside(2, resume(1)), Ok(None)));
        assert!(serving.is_current(2) && serving.aside.is_empty());
    }
}
