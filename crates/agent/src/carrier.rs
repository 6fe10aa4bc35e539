//! An agent's side: it carries a share when it is told to, and tells of it until all is acknowledged.

use std::collections::VecDeque;

use units::{Duration, Instant};

use crate::assign::Assign;
use crate::message::{End, Hello, Ready, ToAgent, ToConductor};
use crate::outbox::Outbox;
use crate::told::Told;

/// A load that nobody watches ends: without a word from the conductor for so long.
pub const ORPHANED_AFTER: Duration = Duration::from_secs(30);
/// A begin that is heard of later than that is none: what was due by then would go out at once.
const BEGIN_HEARD_WITHIN: Duration = Duration::from_secs(1);
/// How long what was measured waits for a conductor that comes back, and an agent for one that comes at all.
pub const KEPT_FOR: Duration = Duration::from_secs(600);

/// What a conductor is told that comes with another load; it follows the agent's name.
const CARRIES_ANOTHER: &str = "carries another load";
/// Answers that wait until they can be written. A conductor that asks on and does not listen asks again.
const ANSWERS_MAX: usize = 64;

/// What whoever runs an agent has to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Open the connections of a share, and say [`Agent::ready`] or [`Agent::refuse`].
    Prepare(Box<Assign>),
    /// Begin at an instant, and tell each interval ([`Agent::tell`]), and the end ([`Agent::end`]).
    Begin(Instant),
    /// End the load now.
    Stop,
    /// End the process.
    Leave(Leave),
}

/// Why it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leave {
    /// All is in the books, or there is nothing to tell.
    Done,
    /// Nobody asked for what is left.
    Orphaned,
}

/// What the conductor said has no place here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the conductor said what it can't say now: {0}")]
pub struct Misplaced(&'static str);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Idle,
    Preparing,
    Ready,
    Begun,
    /// What was measured is to be told.
    Ended,
    Left,
}

/// An agent's side of the conversation.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a question of its own, and none excludes another")]
pub struct Agent {
    hello: Hello,
    stage: Stage,
    /// The load that it carries, or is about to: the one whose conductor spoke to it first.
    load: Option<u64>,
    /// When the conductor was last heard.
    heard: Instant,
    /// Whether there is a stream, and the conductor of our load has said on it where it stands.
    attached: bool,
    resumed: bool,
    stopped: bool,
    outbox: Outbox,
    intended: u64,
    /// Whether it was stopped because nobody watched it.
    orphaned: bool,
    end: Option<End>,
    /// Why the share can't be carried, or not to its end.
    refusal: Option<String>,
    /// Whether the end, or the refusal, was told on the stream at hand.
    end_is_told: bool,
    to_send: VecDeque<ToConductor>,
    /// What is said once, again on the next stream.
    ready: Option<Ready>,
}

impl Agent {
    /// One that nobody has spoken to.
    pub fn new(hello: Hello, now: Instant) -> Self {
        Self {
            hello,
            stage: Stage::Idle,
            load: None,
            heard: now,
            attached: false,
            resumed: false,
            stopped: false,
            outbox: Outbox::default(),
            intended: 0,
            orphaned: false,
            end: None,
            refusal: None,
            end_is_told: false,
            to_send: VecDeque::new(),
            ready: None,
        }
    }

    /// There is a stream, in place of any other.
    pub fn attach(&mut self) {
        self.attach_greeted();
        self.to_send.push_back(self.greeting());
    }

    /// The same of one on which [`Agent::greeting`] was said.
    pub fn attach_greeted(&mut self) {
        self.detach();
        (self.attached, self.end_is_told) = (true, false);
    }

    /// There is none any more.
    pub fn detach(&mut self) {
        (self.attached, self.resumed) = (false, false);
        self.to_send.clear();
        // Whoever spoke of a load and did not tell it has left nothing.
        if self.stage == Stage::Idle {
            self.load = None;
        }
    }

    /// Whether the conductor of our load has said on the stream at hand where it stands. Until then it may be that of another.
    pub fn is_resumed(&self) -> bool {
        self.resumed
    }

    /// What is said first on each stream.
    pub fn greeting(&self) -> ToConductor {
        ToConductor::Hello(self.hello.clone())
    }

    /// What a conductor is told whose load is this, where we carry another; `None` where we may carry it. Nothing it says
    /// does anything to the one that we carry.
    pub fn turned_down(&self, load: u64) -> Option<ToConductor> {
        let carries_another = self.load.is_some_and(|own| own != load);
        carries_another.then(|| ToConductor::Refused { why: CARRIES_ANOTHER.to_owned() })
    }

    /// Takes in what the conductor says.
    ///
    /// # Errors
    /// If it can't say that now: then it is none, and the stream is to be closed.
    pub fn handle(&mut self, now: Instant, message: ToAgent) -> Result<Option<Step>, Misplaced> {
        // Whoever has not said that it is about the load that we carry does nothing to it, and does not watch it.
        let is_about_ours = self.load.is_none() || self.resumed;
        if is_about_ours {
            self.heard = now;
        }
        match message {
            ToAgent::Resume { load, seen } => self.resume(now, load, &seen)?,
            _ if !is_about_ours => {}
            ToAgent::Ping { number } => {
                self.answer(ToConductor::Pong { number, clock_ns: now.as_nanos() });
            }
            ToAgent::Assign(assign) => {
                if self.load.is_some_and(|load| load != assign.load()) {
                    return Err(Misplaced("another load than it spoke of"));
                }
                // On a stream after the first it may be said again.
                if self.stage == Stage::Idle {
                    (self.stage, self.load) = (Stage::Preparing, Some(assign.load()));
                    return Ok(Some(Step::Prepare(assign)));
                }
            }
            ToAgent::Begin { at_ns } => match self.stage {
                Stage::Ready => {
                    let at = Instant::from_nanos(at_ns);
                    if now.since(at) > BEGIN_HEARD_WITHIN {
                        self.refuse(&format!(
                            "heard of the begin {} too late, and sent nothing",
                            now.since(at)
                        ));
                        return Ok(None);
                    }
                    self.stage = Stage::Begun;
                    return Ok(Some(Step::Begin(at)));
                }
                Stage::Idle | Stage::Preparing => return Err(Misplaced("a begin before all was ready")),
                Stage::Begun | Stage::Ended | Stage::Left => {}
            },
            ToAgent::Ack { thread, seq } => {
                if !self.outbox.ack(thread, seq) {
                    return Err(Misplaced("it has what was never told"));
                }
            }
            ToAgent::Stop => return Ok(self.stop()),
            ToAgent::Bye => return Ok(self.leave(Leave::Done)),
        }
        Ok(None)
    }

    fn resume(&mut self, now: Instant, load: u64, seen: &[u64]) -> Result<(), Misplaced> {
        if let Some(why) = self.turned_down(load) {
            self.answer(why);
            return Ok(());
        }
        self.heard = now;
        if self.stage >= Stage::Ready && !self.outbox.resume(seen) {
            return Err(Misplaced("it has what was never told"));
        }
        (self.load, self.resumed) = (Some(load), true);
        if let Some(ready) = self.ready.clone() {
            self.answer(ToConductor::Ready(ready));
        }
        Ok(())
    }

    /// Connections are open: so many load threads hold them, over this interface of the kernel.
    pub fn ready(&mut self, threads: u32, io: &str, refused: Option<String>) {
        if self.stage == Stage::Preparing {
            self.stage = Stage::Ready;
            self.outbox = Outbox::new(threads as usize);
            let ready = Ready { threads, io: io.to_owned(), refused };
            if self.attached && self.resumed {
                self.to_send.push_back(ToConductor::Ready(ready.clone()));
            }
            self.ready = Some(ready);
        }
    }

    /// The share can't be carried, or not to its end. It is told after what was measured.
    pub fn refuse(&mut self, why: &str) {
        self.refusal = Some(why.to_owned());
    }

    /// Keeps what a load thread did, to be told.
    pub fn tell(&mut self, told: Told, intended: u64) {
        self.intended += intended;
        self.outbox.push(told);
    }

    /// The share is over, and all intervals are told.
    pub fn end(&mut self, end: End) {
        self.stage = self.stage.max(Stage::Ended);
        let (last, intended, orphaned) = (self.outbox.last(), self.intended, self.orphaned);
        self.end = Some(End { last, intended, orphaned, ..end });
    }

    /// Time passes.
    pub fn handle_timeout(&mut self, now: Instant) -> Option<Step> {
        if now < self.poll_timeout() {
            return None;
        }
        match self.stage {
            Stage::Begun if !self.stopped => {
                self.orphaned = true;
                self.stop()
            }
            _ => self.leave(Leave::Orphaned),
        }
    }

    /// When [`Agent::handle_timeout`] wants to be called.
    pub fn poll_timeout(&self) -> Instant {
        match self.stage {
            Stage::Left => Instant::FAR_FUTURE,
            Stage::Preparing | Stage::Ready => self.heard + ORPHANED_AFTER,
            Stage::Begun if !self.stopped => self.heard + ORPHANED_AFTER,
            // One that nobody has spoken to may wait for others that take long to come.
            Stage::Idle | Stage::Begun | Stage::Ended => self.heard + KEPT_FOR,
        }
    }

    /// The next thing to say on the stream at hand.
    pub fn poll_message(&mut self) -> Option<ToConductor> {
        if !self.attached {
            return None;
        }
        if let Some(message) = self.to_send.pop_front() {
            return Some(message);
        }
        if !self.resumed {
            return None;
        }
        if let Some(told) = self.outbox.next_to_send() {
            return Some(ToConductor::Interval(Box::new(told)));
        }
        if self.end_is_told || !self.outbox.is_sent() {
            return None;
        }
        let refusal = self.refusal.clone().map(|why| ToConductor::Refused { why });
        let end = || self.end.clone().map(|end| ToConductor::End(Box::new(end)));
        let last = refusal.or_else(end)?;
        self.end_is_told = true;
        Some(last)
    }

    /// Whether nothing is left that the conductor might ask for.
    pub fn is_over(&self) -> bool {
        self.stage == Stage::Left
    }

    fn answer(&mut self, message: ToConductor) {
        if self.to_send.len() < ANSWERS_MAX {
            self.to_send.push_back(message);
        }
    }

    fn stop(&mut self) -> Option<Step> {
        match self.stage {
            Stage::Begun if !self.stopped => {
                self.stopped = true;
                Some(Step::Stop)
            }
            Stage::Idle | Stage::Preparing | Stage::Ready => self.leave(Leave::Done),
            Stage::Begun | Stage::Ended | Stage::Left => None,
        }
    }

    fn leave(&mut self, leave: Leave) -> Option<Step> {
        if self.stage == Stage::Left {
            return None;
        }
        self.stage = Stage::Left;
        Some(Step::Leave(leave))
    }
}
