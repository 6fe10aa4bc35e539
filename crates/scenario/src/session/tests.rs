//! Users carried out against answers made up here: what they send, in which order, and what they make of it.

mod answers;
mod data;
mod flow;
mod laws;
mod parts;
mod pauses;
mod sent;

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroU64};
use std::sync::Arc;

use engine::Share;
use units::{Duration, Instant, Seed};

use super::{Answer, Ended, Next, Outgoing, Session, Sums, Transaction, Verdict};
use crate::model::{
    Assertion, Check, Condition, CookiePolicy, DataAtEnd, DataSet, DataSharing, Extraction, Extractor, Field,
    FormContent, FormPart, Group, JsonRules, Lacking, List, Meeting, Multipart, OnError, OnceOf, OwnCookie,
    Pacing, Part, Pause, Pick, Portion, RateRow, RateSchedule, RedirectRules, RequestStep, Scenario,
    SizeComparison, Step, TextRules, Times, UserValues, Users,
};
use crate::prepared::Prepared;
use crate::template::{Piece, Template};
use crate::world::{World, WorldSetup};

/// How long an answer takes here.
const ANSWER: Duration = Duration::from_millis(10);
const EPOCH_MS: i64 = 1_700_000_000_000;

fn t(text: &str) -> Template {
    Template::parse(text).unwrap()
}

fn request_step(name: &str) -> RequestStep {
    RequestStep {
        name: t(name),
        method: t("GET"),
        url: t(&format!("http://server/{name}")),
        headers: Vec::new(),
        body: Template::default(),
        form: Vec::new(),
        body_file: None,
        multipart: None,
        keep_alive: true,
        redirects_max: 3,
        on_error: OnError::Continue,
        waits: None,
        sets: Vec::new(),
        pauses: Vec::new(),
        extractions: Vec::new(),
        assertions: Vec::new(),
    }
}

fn request(name: &str) -> Step {
    Step::Request(Box::new(request_step(name)))
}

fn requests(names: &[&str]) -> Vec<Step> {
    names.iter().map(|name| request(name)).collect()
}

fn pause(ms: u64) -> Step {
    Step::Pause(Pause::Constant { ms: Template::text(ms.to_string()) })
}

fn set(name: &str, value: &str) -> Step {
    Step::Set { name: name.into(), value: t(value) }
}

/// One group of users who make so many iterations of these steps.
fn scenario(iterations: u64, steps: Vec<Step>) -> Scenario {
    let users = Users::Closed {
        count: NonZeroU32::MIN,
        ramp_up: Duration::ZERO,
        delay: Duration::ZERO,
        iterations: NonZeroU64::new(iterations),
        duration: None,
    };
    let group = Group {
        name: "buyers".into(),
        users,
        on_error: OnError::Continue,
        cookies: CookiePolicy::Keep,
        own_cookies: Vec::new(),
        rows: None,
        steps,
    };
    Scenario {
        name: "shop".into(),
        variables: Vec::new(),
        data: Vec::new(),
        groups: vec![group],
        connect_timeout: Duration::from_secs(1),
        request_timeout: Duration::from_secs(1),
        redirects: RedirectRules::Standard,
    }
}

fn world_of(seed: u64, share: Share) -> World {
    World::new(WorldSetup {
        properties: BTreeMap::from([("host".to_owned(), "server".to_owned())]),
        epoch_ms: EPOCH_MS,
        share,
        ..WorldSetup::new(Seed(seed))
    })
}

fn world() -> World {
    world_of(7, Share::WHOLE)
}

/// An answer that can be kept.
#[derive(Debug, Clone)]
struct Reply {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: String,
}

fn ok(body: &str) -> Reply {
    Reply { status: 200, headers: Vec::new(), body: body.into() }
}

fn status(status: u16) -> Reply {
    Reply { status, headers: Vec::new(), body: String::new() }
}

fn with(mut reply: Reply, name: &'static str, value: &str) -> Reply {
    reply.headers.push((name, value.into()));
    reply
}

/// What a user did.
#[derive(Debug, PartialEq)]
enum Did {
    Sent(Box<Outgoing>),
    Unsent(String),
    Paused(u64),
    Ended(Ended),
}

/// One user and what it did so far.
struct Run {
    session: Session,
    now: Instant,
    did: Vec<Did>,
    verdicts: Vec<Verdict>,
    transactions: Vec<Transaction>,
}

impl Run {
    fn new(prepared: &Arc<Prepared>, user: u32) -> Self {
        Self {
            session: Session::new(prepared, 0, user),
            now: Instant::ORIGIN,
            did: Vec::new(),
            verdicts: Vec::new(),
            transactions: Vec::new(),
        }
    }

    /// Takes the user through at most so many turns; `None` is a timeout.
    fn go(&mut self, world: &mut World, turns: u32, mut answer: impl FnMut(&Outgoing) -> Option<Reply>) {
        for _ in 0..turns {
            let next = self.session.next(world, self.now);
            self.transactions.extend(self.session.transactions());
            match next {
                Next::Request(outgoing) => {
                    let sent = self.now;
                    self.now = self.now + ANSWER;
                    self.hand_over(world, answer(&outgoing).as_ref(), sent);
                    self.did.push(Did::Sent(Box::new(outgoing)));
                }
                Next::Unsent(unsent) => self.did.push(Did::Unsent(unsent.message)),
                Next::Pause(span) => {
                    self.now = self.now + span;
                    self.did.push(Did::Paused(span.as_nanos() / 1_000_000));
                }
                Next::Wait(timeout) => {
                    let timeout = timeout.expect("nobody else comes");
                    self.now = self.now + timeout;
                    self.did.push(Did::Paused(timeout.as_nanos() / 1_000_000));
                }
                Next::Done(ended) => return self.did.push(Did::Ended(ended)),
            }
        }
    }

    fn hand_over(&mut self, world: &mut World, reply: Option<&Reply>, sent: Instant) {
        let verdict = match reply {
            Some(Reply { status, headers, body }) => {
                let headers: Vec<(&str, &str)> =
                    headers.iter().map(|(name, value)| (*name, &**value)).collect();
                let answer = Answer::Answered {
                    status: *status,
                    reason: "X",
                    headers: &headers,
                    body: body.as_bytes(),
                };
                self.session.answered(world, &answer, sent, self.now)
            }
            None => self.session.answered(world, &Answer::Failed { name: "timeout" }, sent, self.now),
        };
        // Nobody looks at these but those who add them up.
        if verdict.over {
            let (latency, connect) = (ANSWER / 2, Duration::from_millis(1));
            self.session.came_to(&Sums { received_bytes: 100, sent_bytes: 10, latency, connect });
        }
        self.verdicts.push(verdict);
    }

    /// Labels of requests, `~ms` for pauses, `!` for a request that could not be sent, and the end unless it is the
    /// usual one.
    fn line(&self) -> String {
        let word = |did: &Did| match did {
            Did::Sent(outgoing) => Some(outgoing.label.clone()),
            Did::Unsent(_) => Some("!".into()),
            Did::Paused(ms) => Some(format!("~{ms}")),
            Did::Ended(Ended::Finished) => None,
            Did::Ended(ended) => Some(format!("{ended:?}")),
        };
        self.did.iter().filter_map(word).collect::<Vec<_>>().join(" ")
    }

    fn sent(&self) -> Vec<&Outgoing> {
        let sent = self.did.iter().filter_map(|did| if let Did::Sent(it) = did { Some(&**it) } else { None });
        sent.collect()
    }
}

/// A user of a scenario, to its end.
fn run(scenario: Scenario, answer: impl FnMut(&Outgoing) -> Option<Reply>) -> Run {
    let mut run = Run::new(&Prepared::new(scenario).unwrap(), 0);
    run.go(&mut world(), 10_000, answer);
    run
}

/// What a user does in so many iterations where all is well.
fn line(iterations: u64, steps: Vec<Step>) -> String {
    run(scenario(iterations, steps), |_| Some(ok(""))).line()
}
