//! `proofload wrk`: a load by wrk's command line, with wrk's output, errors and exit codes.

#[cfg(feature = "lua")]
mod script;
#[cfg(not(feature = "lua"))]
#[path = "wrk/no_script.rs"]
mod script;

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::process::ExitCode;

use driver::Control;
use engine::{Expect, GoodStatus, Request};
use events::Moment;
use lab::LabError;
use lab::load::{Job, resolve, run as run_load};
use lab::secured::secure;
use plan::{HttpTarget, LoadArguments, LoadPlan, PlanError, RequestArguments, Threads, without_user};
use report::{Books, HitReport, WrkRun, beside_text, late_answers_note, wrk_head, wrk_text};
use units::Duration;

use self::script::Script;
use crate::arguments::wrk::{Refused, USAGE, Wrk, parse};
use crate::exit::told_by;
use crate::interrupt;
use crate::output::{begin, is_terminal, print, print_json, say};

/// wrk ends with 1 whatever is the matter.
const FAILED: u8 = 1;
/// The version of wrk whose command line and output these are, and whose they are not.
const VERSION: &str = concat!(
    "wrk 4.1.0 [proofload ",
    env!("CARGO_PKG_VERSION"),
    "] stands in for wrk, which is Copyright (C) 2012 Will Glozer"
);

/// Runs the command with what follows its name.
pub fn run(arguments: &[String]) -> ExitCode {
    let ended = match parse(arguments) {
        Ok(wrk) => carry_out(&wrk),
        Err(Refused { version, message }) => {
            if version {
                let _ = print(VERSION);
            }
            Err(End { message, usage: true })
        }
    };
    let Err(End { message, usage }) = ended else { return ExitCode::SUCCESS };
    if let Some(message) = message {
        say(format_args!("{message}"));
    }
    if usage {
        let _ = print(USAGE);
    }
    ExitCode::from(FAILED)
}

/// Why there is no load.
struct End {
    message: Option<String>,
    /// Whether wrk shows its usage below.
    usage: bool,
}

impl End {
    fn with_usage(message: String) -> Self {
        Self { message: Some(message), usage: true }
    }
}

/// An error that wrk has no words for keeps ours.
impl<E: std::fmt::Display> From<E> for End {
    fn from(error: E) -> Self {
        Self { message: Some(format!("wrk: {error}")), usage: false }
    }
}

fn carry_out(wrk: &Wrk) -> Result<(), End> {
    if wrk.version {
        print(VERSION)?;
    }
    let target = target(wrk)?;
    if wrk.connections < wrk.threads {
        return Err(End::with_usage("number of connections must be >= threads".into()));
    }
    let script = Script::prepare(wrk, &target)?;
    let plan = plan(wrk)?;
    let targets =
        resolve(&target.host, target.port).map_err(|error| unreachable(&wrk.url, &target, error))?;
    let peers = secure(&target, plan.http, &targets, &tls_settings())
        .map_err(|error| End::from(told_by("wrk", &error)))?;
    let control = interrupt::on_signals()?;
    if !wrk.json {
        let duration = Duration::from_secs(wrk.duration_s);
        begin(&wrk_head(duration, &wrk.url, wrk.threads, wrk.connections));
    }
    let load =
        Load { wrk, target: &target, targets: &targets, peers: peers.as_ref(), plan, control: &control };
    match script {
        None => show(wrk, &load.constant(&target.request)?),
        Some(script) => script.run(&load),
    }
}

/// A load that is about to begin.
struct Load<'a> {
    #[cfg_attr(not(feature = "lua"), expect(dead_code, reason = "only a script looks at it"))]
    wrk: &'a Wrk,
    target: &'a HttpTarget,
    targets: &'a [SocketAddr],
    peers: Option<&'a tls::Peers>,
    plan: LoadPlan,
    control: &'a Control,
}

/// What it came to.
struct Done {
    books: Books,
    report: HitReport,
}

impl Load<'_> {
    /// The same request again and again.
    fn constant(&self, request: &Request) -> Result<Done, LabError> {
        let mut books = Books::default();
        let job = self.job(request, self.targets, &self.plan);
        let result = run_load(&job, self.control, &mut |moment| add(&mut books, &moment))?;
        Ok(Done { books, report: HitReport::new(result) })
    }

    fn job<'a>(&'a self, request: &'a Request, targets: &'a [SocketAddr], plan: &'a LoadPlan) -> Job<'a> {
        let tls = self.peers;
        Job {
            url: &self.target.url,
            targets,
            request,
            expect: &EXPECT,
            plan,
            socket: None,
            tls,
            interval_log: None,
            keep: None,
        }
    }
}

/// Any status from 200 to 399 is a good one, as wrk has it.
const EXPECT: Expect = Expect { status: GoodStatus::NoError, body: None };

fn add(books: &mut Books, moment: &Moment<'_>) {
    if let Moment::Interval { interval, rates, .. } = moment {
        books.add(interval, rates);
    }
}

fn show(wrk: &Wrk, Done { books, report }: &Done) -> Result<(), End> {
    if wrk.json {
        return Ok(print_json(&report.json())?);
    }
    let run = wrk_run(wrk, books, report);
    let mut text = wrk_text(&run);
    if wrk.verdict || is_terminal() {
        let notes: Vec<String> = late_answers_note(&run).into_iter().collect();
        text.push_str("\n\n");
        text.push_str(&beside_text(report, &notes));
    }
    Ok(print(&text)?)
}

fn wrk_run<'a>(wrk: &Wrk, books: &'a Books, report: &'a HitReport) -> WrkRun<'a> {
    let timeout = Duration::from_secs(wrk.timeout_s);
    WrkRun { books, result: &report.result, timeout, percentiles: wrk.latency }
}

fn target(wrk: &Wrk) -> Result<HttpTarget, End> {
    let arguments = RequestArguments { url: wrk.url.clone(), ..RequestArguments::default() };
    // The URL first and alone: about it wrk has words of its own. Where they would show what may be a password, ours are said.
    let refused = |error: PlanError| match without_user(&wrk.url) {
        shown if shown == wrk.url => End::with_usage(format!("invalid URL: {shown}")),
        _ => End::from(error),
    };
    HttpTarget::new(&arguments).map_err(refused)?;
    Ok(HttpTarget::new(&RequestArguments { headers: last_of_each(&wrk.headers), ..arguments })?)
}

/// wrk takes any certificate. It resumes sessions as well, which is not done here: each connection is another user's.
fn tls_settings() -> tls::Settings {
    tls::Settings { insecure: true, ..tls::Settings::default() }
}

/// Headers as wrk sends them: of several with one name the last.
fn last_of_each(headers: &[String]) -> Vec<String> {
    let name = |header: &String| header.split(':').next().unwrap_or_default().to_owned();
    let is_last = |at: usize| !headers[at + 1..].iter().any(|later| name(later) == name(&headers[at]));
    (0..headers.len()).filter(|at| is_last(*at)).map(|at| headers[at].clone()).collect()
}

/// As many threads as asked for, and the same number of connections each; a remainder is dropped, as by wrk. No request
/// is given up within the load, and after it each still gets the timeout to be answered.
fn plan(wrk: &Wrk) -> Result<LoadPlan, End> {
    let count = |name: &str, value: u64| {
        u32::try_from(value).map_err(|_| End::from(format!("{value} {name} are too many; use fewer")))
    };
    let threads = NonZeroU32::new(count("threads", wrk.threads)?).ok_or_else(|| End::from("zero threads"))?;
    let connections = count("connections", wrk.connections - wrk.connections % wrk.threads)?;
    let (duration, timeout) = (Duration::from_secs(wrk.duration_s), Duration::from_secs(wrk.timeout_s));
    let mut plan = LoadPlan::new(&LoadArguments {
        connections: Some(connections),
        threads: Some(Threads::Fixed(threads)),
        duration: Some(duration),
        timeout: Some(timeout),
        ..LoadArguments::default()
    })?;
    plan.timeouts.request = duration + timeout;
    Ok(plan)
}

fn unreachable(url: &str, target: &HttpTarget, error: LabError) -> End {
    // wrk names the port as it was written, or the scheme that stands for it.
    let authority = url.split("://").nth(1).and_then(|rest| rest.split(['/', '?', '#']).next());
    let port = authority.and_then(|it| it.rsplit(':').next()).filter(|it| it.parse::<u16>().is_ok());
    let service = port.unwrap_or(if target.is_secured { "https" } else { "http" });
    let host = &target.host;
    let message = match error {
        LabError::Unreachable { why, .. } => {
            format!("unable to connect to {host}:{service} {}", reason(&why))
        }
        LabError::NoAddress { why, .. } => {
            let why = why.trim_start_matches("failed to lookup address information: ");
            format!("unable to resolve {host}:{service} {why}")
        }
        other => return End::from(other),
    };
    End { message: Some(message), usage: false }
}

/// What the C library says of an error, without the number that Rust's adds.
fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error ").next().unwrap_or_default().to_owned()
}
