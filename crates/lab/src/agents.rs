//! One load that several machines carry in shares: their agents are started, begin together, and what they tell becomes one
//! result, as if one machine had carried it.

mod books;
mod fleet;
mod ledger;
mod lines;
mod listening;
mod processes;
mod secured;

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration as StdDuration;

use agent::{
    AGENTS_MAX, Assign, COMES_BACK_WITHIN, Conductor, Event, Lost, NotALoad, PeerState, Settings, ToAgent,
};
use driver::{Control, monotonic_now};
use engine::{Expect, Load, Request, Share};
use events::{AgentNews, AgentNow, Moment};
use plan::{LoadPlan, PlanError, Threads, random};
use record::{IntervalLog, LoadResult};
use units::{Duration, Instant};

use self::books::SharedBooks;
pub use self::fleet::{Broken, Fleet, Line, Open};
use self::ledger::Replayed;
pub use self::ledger::{Ledger, Left, Reached};
use self::lines::{Heard, Input, Lines};
pub use self::listening::Listening;
pub use self::processes::{Member, Processes};
pub use self::secured::Secured;
use crate::books::Log;
use crate::error::LabError;

/// Messages that are heard in one turn at most: then they are answered.
const HEARD_MAX: u32 = 32;
/// Turns in a row that hear so many, at most: then it is looked who is silent, whatever others have to say.
const FULL_TURNS_MAX: u32 = 30;
/// Bytes of the request, and of the body expected of its answer, that fit into a message.
const REQUEST_MB_MAX: u32 = 12;
/// How often an observer is called at least.
const TICK: StdDuration = StdDuration::from_millis(100);
/// How often it is told how the agents do.
const SHOWN_EVERY: Duration = Duration::from_secs(1);
/// Of the agents, the worst are shown.
const SHOWN_MAX: usize = 5;
/// How long it may take until all are ready.
pub const READY_WITHIN: Duration = Duration::from_secs(300);

/// What is to be carried.
#[derive(Debug)]
pub struct Asked<'a> {
    /// The URL, for the record.
    pub url: &'a str,
    /// The server's name or address, which each agent resolves.
    pub host: &'a str,
    /// Its port.
    pub port: u16,
    /// What is sent.
    pub request: &'a Request,
    /// What a good answer looks like.
    pub expect: &'a Expect,
    /// How; its threads are those of each agent.
    pub plan: &'a LoadPlan,
    /// How its connections are secured, if they are.
    pub tls: Option<&'a Secured>,
    /// Where the response times go as an HdrHistogram interval log.
    pub interval_log: Option<&'a IntervalLog>,
    /// The version of this program, which every agent must have.
    pub version: &'a str,
}

impl Asked<'_> {
    /// Whether so many agents can share it.
    ///
    /// # Errors
    /// If they can't.
    pub fn check(&self, agents: usize) -> Result<(), PlanError> {
        check_count(agents)?;
        if self.plan.threads == Threads::Auto {
            let what = "the number of threads of several machines is not found out";
            return Err(PlanError::new(what, "give the --threads of each"));
        }
        let most = self.plan.shares_max();
        if agents > most as usize {
            let what = format!("{agents} agents cannot share this load: it has {most} parts at most");
            return Err(PlanError::new(
                what,
                "each has a connection, a request to make, and with --rate room for one that waits: give more of them, or \
                 fewer agents",
            ));
        }
        // No number is longer.
        self.assign(agents, u64::MAX).map(drop)
    }

    /// The load as agents are told it, which has this number.
    fn assign(&self, agents: usize, load: u64) -> Result<Assign, PlanError> {
        let target = (self.host, self.port);
        let not_told = |why: NotALoad| PlanError::new(why.to_string(), "carry it on one machine");
        let assign = Assign::new(self.url, target, self.plan, self.request, self.expect).map_err(not_told)?;
        let assign = assign.numbered(load);
        let assign = match self.tls.map(Secured::settings) {
            Some((host, settings)) => assign.over_tls(host, settings).map_err(not_told)?,
            None => assign,
        };
        let of = NonZeroU32::new(agents as u32).unwrap_or(NonZeroU32::MIN);
        let last = assign.share_of(Share { index: of.get() - 1, of });
        if agent::encode(&ToAgent::Assign(Box::new(last))).is_err() {
            let what = format!("a request of more than {REQUEST_MB_MAX} MB is not told to several machines");
            return Err(PlanError::new(what, "make its body shorter, or carry the load on one machine"));
        }
        Ok(assign)
    }
}

/// Whether a load can have so many agents at all.
///
/// # Errors
/// If there are none, or too many.
pub fn check_count(agents: usize) -> Result<(), PlanError> {
    if agents == 0 {
        return Err(PlanError::new("a load on 0 machines is none", "give it one at least"));
    }
    if agents > AGENTS_MAX as usize {
        let what = format!("{agents} agents are more than {AGENTS_MAX}");
        return Err(PlanError::new(what, "take fewer, and give each more --threads"));
    }
    Ok(())
}

/// Carries out a load on the machines of `fleet`, until its end or until `control` interrupts it. `observe` is called on the
/// calling thread. No agent is left behind; what it takes for another to go on, should we be killed, is in `ledger`.
pub fn run(
    asked: &Asked<'_>,
    fleet: Arc<dyn Fleet>,
    ledger: Option<&mut Ledger>,
    control: &Control,
    observe: &mut dyn FnMut(Moment<'_>),
) -> Result<LoadResult, LabError> {
    let names = fleet.names();
    asked.check(names.len())?;
    let load = ledger.as_deref().map_or_else(random::number, Ledger::load);
    let assign = asked.assign(names.len(), load)?;
    record::with_interval_log(asked.interval_log, |log| {
        let conductor = Conductor::new(settings(asked, names.clone()), assign, monotonic_now());
        let books = SharedBooks::new(asked.plan, names);
        Conducting::new(fleet, conductor, books, ledger).run(asked, control, log, observe)
    })
}

/// Takes over a load whose conductor is gone: what it had written down counts, and the agents, which are those of `fleet`, tell
/// the rest.
pub fn resume(
    left: Left,
    interval_log: Option<&IntervalLog>,
    fleet: Arc<dyn Fleet>,
    control: &Control,
    observe: &mut dyn FnMut(Moment<'_>),
) -> Result<LoadResult, LabError> {
    let Left { load, mut ledger } = left;
    let asked = load.asked(interval_log);
    record::with_interval_log(interval_log, |log| {
        let mut books = SharedBooks::new(&load.plan, load.names());
        let replayed = ledger.replay(&load, &mut books, log, observe)?;
        let Some(Replayed { begin, is_stopped, is_interrupted }) = replayed else {
            fleet.end();
            // It may have, on a disk that was full.
            let why = "its ledger has no beginning: nothing was sent, or what was is not known";
            return Err(LabError::Agents(why.to_owned()));
        };
        let (now, booked) = (monotonic_now(), books.booked());
        let settings = settings(&asked, load.names());
        let mut conductor = Conductor::restarted(settings, load.assign(), begin, booked, now);
        if is_stopped {
            conductor.stop(now);
        }
        let mut conducting = Conducting::new(fleet, conductor, books, Some(&mut ledger));
        conducting.is_interrupted = is_interrupted;
        conducting.run(&asked, control, log, observe)
    })
}

fn settings(asked: &Asked<'_>, names: Vec<String>) -> Settings {
    Settings {
        names,
        version: asked.version.to_owned(),
        ready_within: READY_WITHIN,
        // Which streams are not is known where they end.
        resumable: true,
    }
}

struct Conducting<'a> {
    lines: Lines,
    conductor: Conductor,
    books: SharedBooks<'a>,
    ledger: Option<&'a mut Ledger>,
    /// Whether somebody ended it before its time.
    is_interrupted: bool,
    /// How it ended, once it has.
    over: Option<Result<(), LabError>>,
    shown_at: Instant,
}

impl<'a> Conducting<'a> {
    fn new(
        fleet: Arc<dyn Fleet>,
        conductor: Conductor,
        books: SharedBooks<'a>,
        ledger: Option<&'a mut Ledger>,
    ) -> Self {
        let lines = Lines::open(fleet);
        let (is_interrupted, shown_at) = (false, Instant::ORIGIN);
        Self { lines, conductor, books, ledger, is_interrupted, over: None, shown_at }
    }

    fn run(
        mut self,
        asked: &Asked<'_>,
        control: &Control,
        log: Log<'_>,
        observe: &mut dyn FnMut(Moment<'_>),
    ) -> Result<LoadResult, LabError> {
        observe(Moment::Load(asked.plan));
        if self.books.has_begun() {
            self.are_open(observe);
        }
        let mut full_turns = 0;
        loop {
            self.take_events(log, observe);
            // Also that it comes to nothing is said to those who are there.
            self.say_all();
            if let Some(over) = self.over.take() {
                over?;
                break;
            }
            if control.is_interrupted() && !self.is_interrupted {
                self.is_interrupted = true;
                self.write(Ledger::interrupted);
            }
            if self.is_interrupted {
                self.conductor.stop(monotonic_now());
            }
            let is_all = self.hear_some(log, observe);
            let now = monotonic_now();
            // What is there already is heard before anybody is called silent: this thread may have been held up for as long.
            full_turns = if is_all { 0 } else { full_turns + 1 };
            if is_all || u32::is_multiple_of(full_turns, FULL_TURNS_MAX) {
                self.conductor.handle_timeout(now);
            }
            observe(Moment::Tick(now));
            self.show(now, observe);
        }
        let Self { lines, conductor, books, is_interrupted, .. } = self;
        lines.end();
        // Whoever interrupts while agents are seen off cuts nothing.
        Ok(books.result(asked, &conductor, is_interrupted))
    }

    /// Hears what agents say, as much as is answered at once. Whether that is all that there is.
    fn hear_some(&mut self, log: Log<'_>, observe: &mut dyn FnMut(Moment<'_>)) -> bool {
        let now = monotonic_now();
        let until = self.conductor.poll_timeout().map_or(TICK, |at| StdDuration::from(at.since(now)));
        let mut wait = until.min(TICK);
        for _ in 0..HEARD_MAX {
            let Ok(input) = self.lines.heard(wait) else { return true };
            self.hear(input);
            // One interval takes a megabyte until it is in the books.
            self.take_events(log, observe);
            wait = StdDuration::ZERO;
        }
        false
    }

    fn hear(&mut self, Heard { agent, at, input }: Heard) {
        match input {
            Input::Said(message) => self.conductor.handle(agent, at, message),
            Input::Open(to_write) => {
                self.lines.attach(agent, to_write);
                self.conductor.attach(agent, at);
            }
            Input::Over(Broken::ForNow(why)) => self.conductor.detach(agent, &why),
            Input::Over(Broken::ForGood(why)) => self.conductor.gone(agent, &why),
        }
    }

    fn say_all(&mut self) {
        while let Some((agent, message)) = self.conductor.poll_message() {
            if let Err(why) = self.lines.say(agent, &message) {
                self.conductor.gone(agent, &why);
            }
        }
    }

    /// Takes in what happened.
    fn take_events(&mut self, log: Log<'_>, observe: &mut dyn FnMut(Moment<'_>)) {
        while let Some(event) = self.conductor.poll_event() {
            match event {
                Event::Begin { at, agents } => {
                    self.write(|ledger| ledger.begin(at, &agents));
                    self.books.begin(at, agents);
                    self.are_open(observe);
                }
                Event::Interval { agent, told, interval } => {
                    let (thread, seq) = (told.thread, told.last);
                    self.write(|ledger| ledger.told(agent, &told));
                    self.books.take(agent, told, &interval, log, observe);
                    self.conductor.give_back(interval);
                    self.conductor.booked(agent, thread, seq);
                    self.give_up_who_is_too_far_behind();
                }
                Event::Ended { agent, end, by_itself } => {
                    self.write(|ledger| ledger.ended(agent, &end, by_itself));
                    self.books.ended(agent, *end, by_itself, log, observe);
                }
                Event::Broken { agent, why } => {
                    let comes_back_within = COMES_BACK_WITHIN;
                    self.tell(agent, AgentNews::Broken { why: &why, comes_back_within }, observe);
                }
                Event::Back { agent } => self.tell(agent, AgentNews::Back, observe),
                Event::Lost(lost) => {
                    self.tell(lost.agent, AgentNews::Lost(&lost.why), observe);
                    self.write(|ledger| ledger.lost(&lost));
                    self.lost(lost, log, observe);
                }
                Event::Failed(why) => self.over = Some(Err(LabError::Agents(why))),
                Event::Finished => self.over = Some(Ok(())),
            }
        }
    }

    /// Agents begin once all connections are open; how far each was before, it does not tell.
    fn are_open(&self, observe: &mut dyn FnMut(Moment<'_>)) {
        observe(Moment::Opening(self.books.connections()));
    }

    fn tell(&self, number: usize, news: AgentNews<'_>, observe: &mut dyn FnMut(Moment<'_>)) {
        let mut agents = self.books.agents();
        let of = agents.len();
        let Some(it) = agents.nth(number) else { return };
        observe(Moment::Agent { number, of, name: &it.name, news });
    }

    fn write(&mut self, what: impl FnOnce(&mut Ledger)) {
        if let Some(ledger) = &mut self.ledger {
            what(ledger);
        }
    }

    fn give_up_who_is_too_far_behind(&mut self) {
        if let Some(agent) = self.books.too_far_behind() {
            self.conductor
                .gone(agent, "is so far behind the others that what they told can't be held any longer");
        }
    }

    fn lost(&mut self, lost: Lost, log: Log<'_>, observe: &mut dyn FnMut(Moment<'_>)) {
        self.books.lost(lost, log, observe);
        // What the others do from now on is compared with nothing: the window has ended.
        if self.books.is_closed_model() {
            self.conductor.stop(monotonic_now());
        }
    }

    /// What is seen of clocks here is not seen by whoever takes over.
    fn note_clocks(&mut self) {
        for agent in 0..self.books.agents().count() {
            let has_begun = self.conductor.bounds_at_begin(agent).is_some();
            let jumped = has_begun && self.conductor.clock(agent).jumped();
            if jumped && self.books.clock_jumped(agent) {
                self.write(|ledger| ledger.jumped(agent));
            }
        }
    }

    fn show(&mut self, now: Instant, observe: &mut dyn FnMut(Moment<'_>)) {
        if now < self.shown_at + SHOWN_EVERY {
            return;
        }
        self.shown_at = now;
        self.note_clocks();
        let conductor = &self.conductor;
        let mut all: Vec<AgentNow<'_>> = self
            .books
            .agents()
            .enumerate()
            .map(|(number, it)| AgentNow {
                number,
                name: &it.name,
                generator_lag_p99: it.last_lag_p99,
                silent_for: match conductor.state(number) {
                    PeerState::Done | PeerState::Lost => Duration::ZERO,
                    _ => now.since(conductor.heard(number)),
                },
                is_lost: conductor.state(number) == PeerState::Lost,
            })
            .collect();
        // A second without a word is usual between two pings.
        let silent_s = |it: &AgentNow<'_>| it.silent_for.as_secs_f64() as u64 / 3;
        let lag = |it: &AgentNow<'_>| it.generator_lag_p99.map(|lag| lag.value);
        all.sort_by_key(|it| std::cmp::Reverse((it.is_lost, silent_s(it), lag(it))));
        all.truncate(SHOWN_MAX);
        observe(Moment::Agents(&all));
    }
}

/// Load threads of each machine, at most.
fn threads_of(plan: &LoadPlan) -> NonZeroU32 {
    match plan.threads {
        Threads::Fixed(count) => count,
        Threads::Auto => NonZeroU32::MIN,
    }
}

/// Whether the server sets the pace.
fn is_closed(plan: &LoadPlan) -> bool {
    matches!(plan.load, Load::Closed { .. })
}
