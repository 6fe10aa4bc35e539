//! `proofload h2load`: a load by h2load's command line, with h2load's output, errors and exit codes.

use std::io::Read;
use std::net::SocketAddr;
use std::process::ExitCode;

use driver::Control;
use engine::{Expect, GoodStatus};
use events::Moment;
use lab::LabError;
use lab::load::{Job, resolve, run as run_load, speaks_no_http2};
use lab::secured::secure_and_tell;
use plan::load::TIMEOUT_DEFAULT;
use plan::{Http2Arguments, HttpTarget, LoadArguments, LoadPlan, PlanError, RequestArguments, Threads};
use report::{
    Books, H2loadRun, H2loadSpan, H2loadThread, HitReport, beside_text, given_up_note, h2load_head,
    h2load_protocols, h2load_text,
};
use units::{Duration, Rate};
use url::Url;

use crate::arguments::h2load::{Asked, H2load, HELP, parse};
use crate::exit::told_by;
use crate::interrupt;
use crate::output::{begin, is_terminal, print, print_json, say};

/// h2load ends with 1 whatever is the matter.
const FAILED: u8 = 1;
/// The version of h2load whose command line and output these are, and whose they are not.
const VERSION: &str = concat!(
    "h2load nghttp2/1.52.0 [proofload ",
    env!("CARGO_PKG_VERSION"),
    "] stands in for h2load, which is nghttp2's"
);
/// Any status from 200 to 399 is a good one, as h2load has it.
const EXPECT: Expect = Expect { status: GoodStatus::NoError, body: None };
/// How long an answer or a connection is waited for where nobody says how long: h2load waits for ever.
const PATIENCE: Duration = Duration::from_secs(3600);
/// The longest file of URIs, or a body.
const FILE_BYTES_MAX: u64 = 256 << 20;

/// Runs the command with what follows its name.
pub fn run(arguments: &[String]) -> ExitCode {
    let ended = match parse(arguments) {
        Ok(Asked::Load(load)) => carry_out(&load),
        Ok(Asked::Help) => print(HELP).map_err(End::from),
        Ok(Asked::Version) => print(VERSION).map_err(End::from),
        Err(message) => Err(End(message)),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(End(message)) => {
            say(message);
            ExitCode::from(FAILED)
        }
    }
}

/// Why there is no load.
struct End(String);

/// An error that h2load has no words for keeps ours.
impl<E: std::fmt::Display> From<E> for End {
    fn from(error: E) -> Self {
        Self(format!("h2load: {error}"))
    }
}

/// An error about TLS, with h2load's own option where it has one for what helps.
fn unsecured(error: &LabError, is_http1: bool) -> End {
    const OF_HIT: &str = "ask for another with --http-version";
    let of_h2load = if is_http1 { "leave out what asks for HTTP/1.1" } else { "ask for HTTP/1.1 with --h1" };
    let text = error.to_string();
    if text.contains(OF_HIT) {
        return End::from(text.replace(OF_HIT, of_h2load));
    }
    End::from(told_by("h2load", error))
}

fn carry_out(load: &H2load) -> Result<(), End> {
    let url = uri(load)?;
    let is_http1 = if url.scheme() == "https" { load.secured_is_http1 } else { load.plain_is_http1 };
    if is_http1 && load.streams > 1 {
        let what = "-m over HTTP/1.1 is pipelining, whose answers can't be timed one by one";
        return Err(PlanError::new(what, "leave -m out, or take more connections").into());
    }
    let plan = plan(load, is_http1)?;
    let target = HttpTarget::over(plan.http, &request(load, &url)?)?;
    let (host, port) = match &load.connect_to {
        Some((host, port)) => (host.as_str(), port.unwrap_or(target.port)),
        None => (target.host.as_str(), target.port),
    };
    let targets = resolve(host, port)?;
    let secured = secure_and_tell(&target, plan.http, &targets, &tls_settings(load))
        .map_err(|error| unsecured(&error, is_http1))?;
    if !is_http1 && !target.is_secured {
        speaks_http2(&targets)?;
    }
    let (peers, agreed) = secured.unzip();
    let control = interrupt::on_signals()?;
    let protocol = match (is_http1, target.is_secured) {
        (true, _) => "http/1.1",
        (false, true) => "h2",
        (false, false) => "h2c",
    };
    let mut progress = Progress::new(load);
    progress.begin(&h2load_protocols(agreed.as_ref(), protocol));
    let job = Job {
        url: &target.url,
        targets: &targets,
        request: &target.request,
        expect: &EXPECT,
        plan: &plan,
        socket: None,
        tls: peers.as_ref(),
        interval_log: None,
        keep: None,
    };
    let (books, report) = books_of(&job, &control, &mut progress)?;
    progress.end();
    show(load, &books, &report)
}

/// Refuses a server that speaks no HTTP/2: without TLS it shows in the load alone, of which each request would fail.
fn speaks_http2(targets: &[SocketAddr]) -> Result<(), PlanError> {
    match targets.first().filter(|address| speaks_no_http2(**address)) {
        Some(address) => {
            let what = format!("the server at {address} speaks no HTTP/2 without TLS");
            Err(PlanError::new(what, "ask for HTTP/1.1 with --h1, or check the port"))
        }
        None => Ok(()),
    }
}

fn books_of(
    job: &Job<'_>,
    control: &Control,
    progress: &mut Progress<'_>,
) -> Result<(Books, HitReport), LabError> {
    let mut books = Books::default();
    let result = run_load(job, control, &mut |moment| {
        if let Moment::Interval { interval, rates, .. } = moment {
            books.add(interval, rates);
            progress.see(books.tally.intended);
        }
    })?;
    Ok((books, HitReport::new(result)))
}

fn show(load: &H2load, books: &Books, report: &HitReport) -> Result<(), End> {
    if load.json {
        return Ok(print_json(&report.json())?);
    }
    let is_timed = load.duration.is_some();
    let run = H2loadRun { books, result: &report.result, is_timed, patience: patience(load) };
    let mut text = h2load_text(&run);
    if load.verdict || is_terminal() {
        let notes: Vec<String> = given_up_note(&run).into_iter().collect();
        text.push_str("\n\n");
        text.push_str(&beside_text(report, &notes));
    }
    Ok(print(&text)?)
}

/// What h2load says while it goes on.
struct Progress<'a> {
    load: &'a H2load,
    /// Tenths of the requests that were told to be done.
    tenths: u64,
    /// Whether the measured part was told to have begun.
    is_begun: bool,
}

impl<'a> Progress<'a> {
    fn new(load: &'a H2load) -> Self {
        Self { load, tenths: 0, is_begun: false }
    }

    /// A line for each load thread.
    fn of_threads(&self, line: impl Fn(u32) -> String) {
        self.tell(&(0..self.load.threads).map(|index| line(index) + "\n").collect::<String>());
    }

    fn tell(&self, text: &str) {
        if !self.load.json {
            begin(text);
        }
    }

    fn begin(&self, protocols: &str) {
        let H2load { requests, clients, threads, warm_up, duration, .. } = *self.load;
        let part = |all: u64, index: u32| {
            let of = u64::from(threads);
            all / of + u64::from(u64::from(index) < all % of)
        };
        let each: Vec<H2loadThread> = (0..threads)
            .map(|index| H2loadThread {
                clients: part(u64::from(clients), index) as u32,
                requests: duration.is_none().then(|| part(requests, index)),
            })
            .collect();
        self.tell(&h2load_head(&each, duration.map(|main| H2loadSpan { warm_up, main })));
        if duration.is_some() {
            self.of_threads(|index| format!("Warm-up started for thread #{index}."));
        }
        self.tell(protocols);
    }

    /// So many requests are done.
    fn see(&mut self, done: u64) {
        if self.load.duration.is_none() {
            let tenths = (done.saturating_mul(10) / self.load.requests).min(10);
            for tenth in (self.tenths + 1)..=tenths {
                self.tell(&format!("progress: {}% done\n", tenth * 10));
            }
            self.tenths = self.tenths.max(tenths);
        } else if !self.is_begun {
            self.is_begun = true;
            self.of_threads(|index| format!("Warm-up phase is over for thread #{index}."));
            self.of_threads(|index| format!("Main benchmark duration is started for thread #{index}."));
        }
    }

    fn end(&self) {
        if self.load.duration.is_some() {
            self.of_threads(|index| {
                format!("Main benchmark duration is over for thread #{index}. Stopping all clients.")
            });
            self.of_threads(|index| format!("Stopped all clients for thread #{index}"));
        }
    }
}

/// The URI that is asked for: scheme, host and port from the base, where there is one.
fn uri(load: &H2load) -> Result<Url, PlanError> {
    let listed = match &load.input_file {
        Some(file) => listed(file)?,
        None => load.uris.clone(),
    };
    let Some(first) = listed.first() else {
        return Err(PlanError::new("no URI given", "name one"));
    };
    if listed.iter().any(|uri| uri != first) {
        let what = "several URIs: every request of a load is the same here";
        return Err(PlanError::new(what, "give one, or make a scenario of them (docs/scenarios.md)"));
    }
    let invalid = |text: &str, error: url::ParseError| {
        PlanError::new(
            format!("`{text}` is not a URI ({error})"),
            "write it like https://127.0.0.1:8443/path",
        )
    };
    let Some(base) = &load.base_uri else {
        return Url::parse(first).map_err(|error| invalid(first, error));
    };
    if base.starts_with("unix:") {
        return Err(PlanError::new("--base-uri: sockets of Unix are not spoken to", "give a URI"));
    }
    let mut base = Url::parse(base).map_err(|error| invalid(base, error))?;
    let asked = base.join(first).map_err(|error| invalid(first, error))?;
    base.set_path(asked.path());
    base.set_query(asked.query());
    Ok(base)
}

/// The URIs in a file, one a line.
fn listed(file: &str) -> Result<Vec<String>, PlanError> {
    let text = String::from_utf8(read(file, "cannot read input file")?)
        .map_err(|_| PlanError::new(format!("{file} is no text"), "write a URI a line"))?;
    Ok(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(ToOwned::to_owned).collect())
}

/// What is in a file; `-` is standard input.
fn read(file: &str, what: &str) -> Result<Vec<u8>, PlanError> {
    let mut bytes = Vec::new();
    // One more than may be read tells a file that is too long from one that is just as long.
    let read = if file == "-" {
        std::io::stdin().lock().take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(file).and_then(|it| it.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes))
    };
    let size = read.map_err(|error| PlanError::new(format!("{what}: {file} ({error})"), "check the path"))?;
    if size as u64 > FILE_BYTES_MAX {
        let too_long = format!("{what}: {file} has more than {FILE_BYTES_MAX} bytes");
        return Err(PlanError::new(too_long, "give a shorter one"));
    }
    Ok(bytes)
}

fn request(load: &H2load, url: &Url) -> Result<RequestArguments, PlanError> {
    let mut request = RequestArguments { url: url.to_string(), ..RequestArguments::default() };
    for (name, value) in &load.headers {
        match name.as_str() {
            ":method" => request.method = Some(value.clone()),
            ":authority" | ":host" => request.headers.push(format!("Host: {value}")),
            _ if name.starts_with(':') => {
                let what = format!("the header `{name}` is the URI's to say");
                return Err(PlanError::new(what, "leave it out"));
            }
            _ => request.headers.push(format!("{name}: {value}")),
        }
    }
    if let Some(file) = &load.data {
        request.body = read(file, "-d: Could not open file")?;
        request.method.get_or_insert_with(|| "POST".to_owned());
    }
    Ok(request)
}

/// h2load takes any certificate.
fn tls_settings(load: &H2load) -> tls::Settings {
    tls::Settings {
        insecure: true,
        ciphers: load.ciphers.clone(),
        tls13_ciphers: load.tls13_ciphers.clone(),
        groups: load.groups.clone(),
        ..tls::Settings::default()
    }
}

fn plan(load: &H2load, is_http1: bool) -> Result<LoadPlan, PlanError> {
    let threads = std::num::NonZeroU32::new(load.threads);
    let rate = match load.rps {
        None => None,
        Some(rps) => {
            let unusable = || PlanError::new(format!("--rps: Invalid value {rps}"), "give a rate above zero");
            Some(Rate::per_sec(rps * f64::from(load.clients)).ok_or_else(unusable)?)
        }
    };
    let ramp_up = load.rate.map(|rate| {
        let periods = f64::from(load.clients) / f64::from(rate);
        Duration::from_secs_f64(load.rate_period.as_secs_f64() * periods)
    });
    let mut plan = LoadPlan::new(&LoadArguments {
        connections: Some(load.clients),
        threads: threads.map(Threads::Fixed),
        rate,
        ramp_up,
        requests: load.duration.is_none().then_some(load.requests),
        duration: load.duration,
        warm_up: load.duration.map(|_| load.warm_up),
        http2: (!is_http1).then_some(Http2Arguments {
            streams: Some(load.streams),
            window_bits: Some(load.window_bits),
            connection_window_bits: Some(load.connection_window_bits),
            prior_knowledge: true,
        }),
        ..LoadArguments::default()
    })?;
    plan.timeouts.request = answer_timeout(load).unwrap_or(PATIENCE);
    plan.timeouts.connect = load.inactivity_timeout.unwrap_or(PATIENCE);
    Ok(plan)
}

/// How long an answer may take, if that is said. h2load counts `-T` from a connection's last request, and so does not where
/// a duration ends the load; here each answer has that long.
fn answer_timeout(load: &H2load) -> Option<Duration> {
    let at_the_end = load.active_timeout.filter(|_| load.duration.is_none());
    load.inactivity_timeout.into_iter().chain(at_the_end).min()
}

/// How long whoever was given up was waited for at least: as long as an answer may take, or, of a load that a duration ends, as
/// long as what is under way then may still be answered.
fn patience(load: &H2load) -> Duration {
    let after_the_end = load.duration.map(|_| TIMEOUT_DEFAULT);
    answer_timeout(load).into_iter().chain(after_the_end).min().unwrap_or(PATIENCE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(line: &str) -> LoadPlan {
        let arguments: Vec<String> = line.split(' ').map(Into::into).collect();
        match parse(&arguments) {
            Ok(Asked::Load(load)) => plan(&load, false).expect("a plan"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_bounds_an_answer_bounds_no_load() {
        let second = Duration::from_secs(1);
        for (line, duration, request, connect) in [
            ("-n 9 http://x/", Duration::MAX, PATIENCE, PATIENCE),
            ("-n 9 -T 1 http://x/", Duration::MAX, second, PATIENCE),
            ("-n 9 -N 1 -T 5 http://x/", Duration::MAX, second, second),
            ("-n 9 -N 0 -T 0 http://x/", Duration::MAX, PATIENCE, PATIENCE),
            ("-D 7 -T 1 http://x/", Duration::from_secs(7), PATIENCE, PATIENCE),
        ] {
            let plan = planned(line);
            let timeouts = (plan.timeouts.request, plan.timeouts.connect);
            assert_eq!((plan.stop.duration, timeouts), (duration, (request, connect)), "{line}");
        }
    }

    /// Else what a server had under way when it fell silent would be in no figure.
    #[test]
    fn who_is_given_up_at_the_end_was_waited_for() {
        let seconds = Duration::from_secs;
        for (line, waited) in [
            ("-n 9 http://x/", PATIENCE),
            ("-n 9 -N 3 http://x/", seconds(3)),
            ("-D 10 http://x/", seconds(2)),
            ("-D 10 -N 30 http://x/", seconds(2)),
            ("-D 10 -N 1 http://x/", seconds(1)),
        ] {
            let arguments: Vec<String> = line.split(' ').map(Into::into).collect();
            let Ok(Asked::Load(load)) = parse(&arguments) else { panic!("{line}") };
            assert_eq!(patience(&load), waited, "{line}");
        }
    }
}
