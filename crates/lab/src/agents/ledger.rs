//! What is written down of a load while it goes on, so that another conductor can take it over.
//!
//! What an agent told is acknowledged when it is written; so what is in the ledger counts, what is not is still with its agent,
//! and nothing is both. It outlives us and not the machine, whose clock a load begins on: nothing waits for the disk.

use std::net::SocketAddr;
use std::path::Path;

use agent::{Assign, End, Joined, Lost, Told};
use engine::{Expect, Request};
use events::Moment;
use plan::LoadPlan;
use record::{Appended, IntervalLog, RecordError};
use serde::{Deserialize, Serialize};
use units::{Duration, Instant};

use super::books::SharedBooks;
use super::{Asked, Secured, is_closed};
use crate::books::Log;
use crate::error::LabError;

/// Says which start of the machine this is: its monotonic clock begins anew with each.
const BOOT: &str = "/proc/sys/kernel/random/boot_id";

/// How the agents of a load are reached, by whoever takes it over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Reached {
    /// They listen at these addresses.
    Listening(Vec<SocketAddr>),
    /// They are in the pods of a Job.
    Pods {
        /// Of the kubeconfig; none in a pod.
        context: Option<String>,
        /// Where the Job is.
        namespace: String,
        /// What tells it from others.
        run: String,
        /// The name of each pod, and its node.
        pods: Vec<(String, String)>,
    },
}

/// A load, and who conducted it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Begun {
    /// The version of the program.
    program: String,
    boot: String,
    names: Vec<String>,
    reached: Reached,
    assign: Assign,
}

/// A line of what happened.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Line {
    /// The load began, at an instant of this machine's clock, on these machines.
    Begin { at_ns: u64, agents: Vec<Joined> },
    /// An agent told this.
    Told { agent: usize, told: Box<Told> },
    /// It told everything.
    Ended { agent: usize, end: Box<End>, by_itself: bool },
    /// It is lost.
    Lost { agent: usize, told_to_ns: u64, why: String },
    /// Its clock went otherwise than a clock may.
    Jumped { agent: usize },
    /// Somebody ended the load before its time.
    Interrupted,
}

/// The ledger of a load that goes on.
#[derive(Debug)]
pub struct Ledger {
    file: record::Ledger,
    /// The number of its load.
    load: u64,
    /// Why nothing is written any more.
    trouble: Option<String>,
}

impl Ledger {
    /// Makes one in `dir`, of a load on machines that are called and reached so.
    ///
    /// # Errors
    /// If it can't be written, or there is one.
    pub fn create(
        dir: &Path,
        asked: &Asked<'_>,
        names: Vec<String>,
        reached: Reached,
    ) -> Result<Self, LabError> {
        let load = plan::random::number();
        let assign = asked.assign(names.len(), load)?;
        let begun = Begun { program: asked.version.to_owned(), boot: boot(), names, reached, assign };
        Ok(Self { file: record::Ledger::create(dir, &begun)?, load, trouble: None })
    }

    /// The number of its load: whoever takes it over is known to the agents by that.
    pub(super) const fn load(&self) -> u64 {
        self.load
    }

    /// Why it can't be taken over from here on: the load goes on, and what is written is less than what was told.
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    pub(super) fn begin(&mut self, at: Instant, agents: &[Joined]) {
        self.append(&Line::Begin { at_ns: at.as_nanos(), agents: agents.to_vec() });
    }

    pub(super) fn told(&mut self, agent: usize, told: &Told) {
        self.append(&Line::Told { agent, told: Box::new(told.clone()) });
    }

    pub(super) fn ended(&mut self, agent: usize, end: &End, by_itself: bool) {
        self.append(&Line::Ended { agent, end: Box::new(end.clone()), by_itself });
    }

    pub(super) fn lost(&mut self, lost: &Lost) {
        let Lost { agent, told_to, why } = lost;
        self.append(&Line::Lost { agent: *agent, told_to_ns: told_to.as_nanos(), why: why.clone() });
    }

    pub(super) fn jumped(&mut self, agent: usize) {
        self.append(&Line::Jumped { agent });
    }

    pub(super) fn interrupted(&mut self) {
        self.append(&Line::Interrupted);
    }

    fn append(&mut self, line: &Line) {
        if self.trouble.is_none() {
            let appended = self.file.append(line);
            self.note(appended);
        }
    }

    fn note(&mut self, appended: Result<Appended, RecordError>) {
        self.trouble = match appended {
            Ok(Appended::Written) => None,
            Ok(Appended::Full) => Some("the ledger is full".to_owned()),
            Err(why) => Some(why.to_string()),
        };
    }
}

/// A load whose conductor is gone.
#[derive(Debug)]
pub struct Left {
    pub(super) load: LeftLoad,
    pub(super) ledger: Ledger,
}

/// What the load is.
#[derive(Debug)]
pub(super) struct LeftLoad {
    begun: Begun,
    pub(super) plan: LoadPlan,
    request: Request,
    expect: Expect,
    tls: Option<Secured>,
}

impl Left {
    /// The one whose ledger is in `dir`; `version` is ours.
    ///
    /// # Errors
    /// If it can't be read, is still conducted, or is none that can be taken over from here.
    pub fn open(dir: &Path, version: &str) -> Result<Self, LabError> {
        let (file, begun) = record::Ledger::open::<Begun>(dir)?;
        let refused = |why: String| LabError::NotTakenOver { dir: dir.display().to_string(), why };
        if begun.program != version {
            return Err(refused(format!("{} began it, and this is {version}", begun.program)));
        }
        if begun.boot != boot() {
            let why = "it was begun on another machine, or before this one was started anew";
            return Err(refused(why.to_owned()));
        }
        let plan = begun.assign.plan().map_err(|why| refused(why.to_string()))?;
        let (request, expect) = begun.assign.request().map_err(|why| refused(why.to_string()))?;
        let tls = Secured::told(&begun.assign, plan.http)?;
        let ledger = Ledger { file, load: begun.assign.load(), trouble: None };
        Ok(Self { load: LeftLoad { begun, plan, request, expect, tls }, ledger })
    }

    /// How its agents are reached.
    pub fn reached(&self) -> &Reached {
        &self.load.begun.reached
    }

    /// Where the load goes.
    pub fn url(&self) -> &str {
        &self.load.begun.assign.url
    }

    /// Its connections or rate, times and bounds.
    pub fn plan(&self) -> &LoadPlan {
        &self.load.plan
    }
}

impl LeftLoad {
    pub(super) fn asked<'a>(&'a self, interval_log: Option<&'a IntervalLog>) -> Asked<'a> {
        let Assign { url, host, port, .. } = &self.begun.assign;
        Asked {
            url,
            host,
            port: *port,
            request: &self.request,
            expect: &self.expect,
            plan: &self.plan,
            tls: self.tls.as_ref(),
            interval_log,
            version: &self.begun.program,
        }
    }

    /// What its agents are called.
    pub(super) fn names(&self) -> Vec<String> {
        self.begun.names.clone()
    }

    /// As agents are told it.
    pub(super) fn assign(&self) -> Assign {
        self.begun.assign.clone()
    }
}

impl Ledger {
    /// Enters into `books` what is written of `load`. How far it was, if it had begun.
    pub(super) fn replay(
        &mut self,
        load: &LeftLoad,
        books: &mut SharedBooks<'_>,
        log: Log<'_>,
        observe: &mut dyn FnMut(Moment<'_>),
    ) -> Result<Option<Replayed>, LabError> {
        let (agents, is_closed) = (load.begun.names.len(), is_closed(&load.plan));
        let mut replayed: Option<Replayed> = None;
        self.file.replay(|line: Line| {
            let is_begun = replayed.is_some();
            let known = |agent: usize| {
                let is_known = is_begun && agent < agents;
                is_known.then_some(agent).ok_or_else(|| "it is of no agent of this load".to_owned())
            };
            match line {
                Line::Begin { at_ns, agents: joined } => {
                    if is_begun || joined.len() != agents {
                        return Err("the load begins as none does".to_owned());
                    }
                    let begin = Instant::from_nanos(at_ns);
                    books.begin(begin, joined);
                    replayed = Some(Replayed { begin, is_stopped: false, is_interrupted: false });
                }
                Line::Told { agent, told } => {
                    let agent = known(agent)?;
                    let interval = told.interval().map_err(|why| why.to_string())?;
                    books.take(agent, told, &interval, log, observe);
                }
                Line::Ended { agent, end, by_itself } => {
                    books.ended(known(agent)?, *end, by_itself, log, observe);
                    stop_if(&mut replayed, by_itself);
                }
                Line::Lost { agent, told_to_ns, why } => {
                    let told_to = Duration::from_nanos(told_to_ns);
                    books.lost(Lost { agent: known(agent)?, told_to, why }, log, observe);
                    stop_if(&mut replayed, is_closed);
                }
                Line::Jumped { agent } => {
                    books.clock_jumped(known(agent)?);
                }
                Line::Interrupted => {
                    if let Some(replayed) = &mut replayed {
                        replayed.is_interrupted = true;
                    }
                }
            }
            Ok(())
        })?;
        Ok(replayed)
    }
}

/// How far a load was.
#[derive(Debug, Clone, Copy)]
pub(super) struct Replayed {
    pub(super) begin: Instant,
    /// Whether something happened for which all agents are told to stop.
    pub(super) is_stopped: bool,
    /// Whether somebody ended it.
    pub(super) is_interrupted: bool,
}

fn stop_if(replayed: &mut Option<Replayed>, stops: bool) {
    if let Some(replayed) = replayed {
        replayed.is_stopped |= stops;
    }
}

fn boot() -> String {
    std::fs::read_to_string(BOOT).map_or_else(|_| String::new(), |text| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use agent::{Booked, Bounds, Ready, Seen};
    use http::RequestKind;
    use plan::LoadArguments;
    use stats::Interval;
    use units::Rate;

    use super::*;

    const BEGIN: Instant = Instant::from_nanos(7_000_000_000);
    const BOUNDS: Bounds = Bounds { low_ns: -3_600_000_000_000, high_ns: 18_000_000_000_000_000_000 };

    /// A ledger of a load at a rate on two machines that began, in `dir`.
    fn begun(dir: &Path) -> Ledger {
        let arguments = LoadArguments { rate: Rate::per_sec(10.0), ..LoadArguments::default() };
        let plan = LoadPlan::new(&arguments).unwrap();
        let request = Request { bytes: b"GET / HTTP/1.1\r\n\r\n"[..].into(), kind: RequestKind::Ordinary };
        let asked = Asked {
            url: "http://h/",
            host: "h",
            port: 80,
            request: &request,
            expect: &Expect::default(),
            plan: &plan,
            tls: None,
            interval_log: None,
            version: "1",
        };
        let mut ledger = Ledger::create(dir, &asked, vec!["a".into(), "b".into()], reached()).unwrap();
        let ready = Ready { threads: 1, io: "epoll".into(), refused: None };
        let joined = Joined { ready, bounds: Some(BOUNDS), ..Joined::default() };
        ledger.begin(BEGIN, &[joined.clone(), joined]);
        ledger
    }

    fn reached() -> Reached {
        Reached::Listening(vec!["127.0.0.1:7".parse().unwrap(), "[::1]:8".parse().unwrap()])
    }

    fn told(number: u64) -> Told {
        let mut interval = Interval::default();
        interval.tally.done = 1;
        let second = Duration::from_secs(1);
        let mut told = Told::new(0, second * (number - 1), second * number, &interval, &[]);
        (told.first, told.last) = (number, number);
        told
    }

    fn replay(dir: &Path) -> Result<(Option<Replayed>, Vec<Booked>), LabError> {
        let Left { load, mut ledger } = Left::open(dir, "1")?;
        let mut books = SharedBooks::new(&load.plan, load.names());
        let replayed = ledger.replay(&load, &mut books, &mut |_, _, _, _| {}, &mut |_| {})?;
        Ok((replayed, books.booked()))
    }

    #[test]
    fn what_was_written_is_in_the_books_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut ledger = begun(folder.path());
        (1..=3).for_each(|number| ledger.told(0, &told(number)));
        ledger.told(1, &told(1));
        ledger.ended(0, &End { last: vec![3], ..End::default() }, false);
        assert_eq!(ledger.trouble(), None);
        drop(ledger);
        let left = Left::open(folder.path(), "1").unwrap();
        assert_eq!((left.reached(), left.url()), (&reached(), "http://h/"));
        drop(left);
        let (replayed, booked) = replay(folder.path()).unwrap();
        let replayed = replayed.expect("it had begun");
        assert_eq!((replayed.begin, replayed.is_stopped, replayed.is_interrupted), (BEGIN, false, false));
        let of = |last: u64, done: bool| {
            let told_to = Duration::from_secs(last);
            let seen = vec![Seen { last, told_to, ended: false }];
            Booked { seen, intended: 0, done, bounds: Some(BOUNDS) }
        };
        assert_eq!(booked, [of(3, true), of(1, false)]);
    }

    #[test]
    fn whoever_is_lost_or_ended_by_itself_stays_so() {
        let folder = tempfile::tempdir().unwrap();
        let mut ledger = begun(folder.path());
        ledger.lost(&Lost { agent: 1, told_to: Duration::ZERO, why: "ended".into() });
        ledger.ended(0, &End { interrupted: true, ..End::default() }, true);
        ledger.interrupted();
        ledger.jumped(1);
        drop(ledger);
        let (replayed, booked) = replay(folder.path()).unwrap();
        let replayed = replayed.expect("it had begun");
        assert!(replayed.is_stopped && replayed.is_interrupted);
        assert!(booked.iter().all(|it| it.done));
    }

    #[test]
    fn what_is_no_line_of_this_load_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut ledger = begun(folder.path());
        ledger.told(2, &told(1));
        drop(ledger);
        let why = replay(folder.path()).unwrap_err().to_string();
        assert!(why.contains("told.jsonl:2: ") && why.contains("of no agent of this load"), "{why}");
        let why = Left::open(folder.path(), "2").unwrap_err().to_string();
        assert!(why.contains("cannot be taken over: 1 began it, and this is 2"), "{why}");
    }
}
