//! `proofload sb`: a load by SuperBenchmarker's command line, with its output.

use std::io::{IsTerminal, Read};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use driver::Control;
use engine::{Expect, GoodStatus};
use events::Moment;
use jiff::Zoned;
use lab::load::{Job, resolve, run as run_load};
use lab::secured::secure;
use plan::{HttpTarget, LoadArguments, LoadPlan, PlanError, RequestArguments, SbTemplate, toml_file};
use report::{Books, HitReport, SbRun, beside_text, sb_progress, sb_text};
use units::Duration;

use crate::arguments::sb::Sb;
use crate::environment;
use crate::exit::Failure;
use crate::interrupt;
use crate::output::{is_terminal, print, rewrite, say, to_start_of_line};

/// How long sb's HTTP client waits for an answer.
const TIMEOUT: Duration = Duration::from_secs(100);
/// How long requests that are under way at the end of -N may still be answered; sb forgets them at once.
const DRAIN: Duration = plan::load::TIMEOUT_DEFAULT;
/// Methods with which sb sends a template's body.
const WITH_BODY: [&str; 3] = ["POST", "PUT", "DELETE"];
/// The longest template that is read, bytes: as long as a body may be.
const TEMPLATE_BYTES_MAX: u64 = 256 << 20;

/// Any status from 200 to 399 is a good one: the figures that are sb's own count answers, whatever their status.
const EXPECT: Expect = Expect { status: GoodStatus::NoError, body: None };

/// Runs the command.
pub fn run(sb: &Sb) -> Result<ExitCode, Failure> {
    let target = target(sb)?;
    let plan = plan(sb)?;
    let targets = resolve(&target.host, target.port)?;
    let peers = secure(&target, plan.http, &targets, &tls::Settings::default())
        .map_err(|error| Failure::told_by("sb", error))?;
    environment::note_proxy(false, [(target.is_secured, target.host.as_str(), target.port)]);
    let control = interrupt::on_signals()?;
    print(&format!("Starting at {}\n[Press C to stop the test]", date_time(&Zoned::now())))?;
    if sb.dry_run {
        let began = Instant::now();
        let run = dry_run(sb, &target, targets[0])?;
        print(&format!("{}\n{}", finished(began.elapsed().into()), sb_text(&run)))?;
        return Ok(ExitCode::SUCCESS);
    }
    stop_on_c(&control);
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
    let mut progress = Progress::new(&plan);
    let result = run_load(&job, &control, &mut |moment| progress.observe(&moment));
    let books = progress.finish();
    let report = HitReport::new(result?);
    let length = Duration::from_secs_f64(report.result.window.duration_s);
    let last = sb_progress(books.tally.done_answered(), length);
    let figures = sb_text(&SbRun::new(&books, &report.result, DRAIN));
    // Without the warm-up, and without what was waited for at the end: the rate is of just that time.
    let mut text = format!("{last}\n{}\n{figures}", finished(length));
    if sb.verdict || is_terminal() {
        text.push_str("\n\n");
        text.push_str(&beside_text(&report, &[]));
    }
    to_start_of_line();
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The two lines at the end of a test.
fn finished(took: Duration) -> String {
    // The clock of .NET counts tenths of microseconds.
    let ticks = took.as_nanos() / 100;
    let (seconds, ticks) = (ticks / 10_000_000, ticks % 10_000_000);
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!(
        "---------------Finished!----------------\nFinished at {} (took {hours:02}:{minutes:02}:{seconds:02}.{ticks:07})",
        date_time(&Zoned::now())
    )
}

/// As in the published outputs: 2021/7/19 13:02:16.
fn date_time(time: &Zoned) -> String {
    time.strftime("%Y/%-m/%-d %H:%M:%S").to_string()
}

/// The request; whatever of the command line is not supported is refused here, before anything is sent.
fn target(sb: &Sb) -> Result<HttpTarget, PlanError> {
    if let Some((name, why)) = sb.unsupported.given() {
        return Err(PlanError::new(format!("{name} is not supported: {why}"), "leave it out"));
    }
    if (sb.headers || sb.verbose) && !sb.dry_run {
        let name = if sb.headers { "-h (--headers)" } else { "-v (--verbose)" };
        let what = format!("{name} prints something of every request, which a load would have to wait for");
        return Err(PlanError::new(what, "try it with -d, or leave it out"));
    }
    // A scheme is the same in capitals.
    let is_secured = sb.url.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"));
    if sb.dry_run && is_secured {
        let what = "-d (--dryRun) makes its one request without TLS";
        return Err(PlanError::new(what, "leave it out, or give the plain http port of the service"));
    }
    SbTemplate::check_url(&sb.url)?;
    let template = match &sb.template {
        Some(path) => SbTemplate::parse(&read(path)?, path)?,
        None => SbTemplate::default(),
    };
    let has_body = WITH_BODY.iter().any(|method| sb.method.eq_ignore_ascii_case(method));
    if !has_body && !template.body.is_empty() {
        say(format_args!("sb: the template's body is not sent with {}, as sb does it", sb.method));
    }
    HttpTarget::new(&RequestArguments {
        url: sb.url.clone(),
        method: Some(sb.method.clone()),
        headers: template.headers,
        body: if has_body { template.body.into_bytes() } else { Vec::new() },
        ..RequestArguments::default()
    })
}

fn read(path: &Path) -> Result<String, PlanError> {
    let text = toml_file::read_up_to(path, TEMPLATE_BYTES_MAX)?;
    // Editors of Windows put a byte order mark before a text, and .NET takes it off.
    Ok(text.trim_start_matches('\u{feff}').to_owned())
}

fn plan(sb: &Sb) -> Result<LoadPlan, PlanError> {
    let ms = Duration::from_millis(sb.delay_ms);
    // sb takes 0 for its own default, by which -n counts.
    let seconds = sb.seconds.filter(|it| *it > 0);
    let mut plan = LoadPlan::new(&LoadArguments {
        connections: Some(sb.concurrency),
        duration: seconds.map(Duration::from_secs),
        requests: seconds.is_none().then_some(sb.requests),
        think: (sb.delay_ms > 0).then_some(ms),
        warm_up: Some(Duration::from_secs(sb.warm_up_s)),
        timeout: Some(TIMEOUT),
        ..LoadArguments::default()
    })?;
    plan.timeouts.drain = DRAIN;
    Ok(plan)
}

/// The C key, behind which a terminal wants Enter; Ctrl-C does it, too.
fn stop_on_c(control: &Arc<Control>) {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        return;
    }
    let control = Arc::clone(control);
    // Never joined: it waits for a key until the process ends.
    std::thread::spawn(move || {
        if stdin.lock().bytes().map_while(Result::ok).any(|byte| byte.eq_ignore_ascii_case(&b'c')) {
            control.interrupt();
        }
    });
}

/// One request, shown as far as it was asked for.
fn dry_run(sb: &Sb, target: &HttpTarget, addr: std::net::SocketAddr) -> Result<SbRun, Failure> {
    let request = String::from_utf8_lossy(&target.request.bytes);
    let (head, body) = request.split_once("\r\n\r\n").unwrap_or((&request, ""));
    if sb.verbose {
        print(&format!("{} {}", sb.method, target.url))?;
    }
    if sb.headers {
        print(&format!("{}\n", head.split_once("\r\n").map_or(head, |(_, fields)| fields)))?;
    }
    if sb.only_request {
        print(body)?;
    }
    let start = Instant::now();
    let answer = stack::ask_once(addr, &target.request.bytes, target.request.kind, TIMEOUT.into());
    let took = start.elapsed().into();
    let answer = match answer {
        Ok(answer) => answer,
        Err(failure) => {
            print(&format!("the request {failure}"))?;
            return Ok(SbRun::single(Err(failure), took));
        }
    };
    if sb.headers {
        print(String::from_utf8_lossy(&answer.head).trim_end())?;
        print("")?;
    }
    if !sb.only_request {
        print(&String::from_utf8_lossy(&answer.body))?;
    }
    Ok(SbRun::single(Ok(answer.status), took))
}

/// The line that a terminal sees rewritten.
struct Progress {
    books: Books,
    shown: bool,
    connections: u32,
    /// When the warm-up is over, as far as we know before the load has begun.
    starts: Instant,
}

impl Progress {
    fn new(plan: &LoadPlan) -> Self {
        let starts = Instant::now() + std::time::Duration::from(plan.warm_up);
        let shown = is_terminal();
        Self { books: Books::default(), shown, connections: plan.connections.get(), starts }
    }

    fn observe(&mut self, moment: &Moment<'_>) {
        match moment {
            Moment::Interval { interval, rates, .. } => {
                self.books.add(interval, rates);
                self.show(&sb_progress(self.books.tally.done_answered(), self.starts.elapsed().into()));
            }
            Moment::Tick(_) if Instant::now() < self.starts => {
                self.show(&format!("Warmup [Users {}]", self.connections));
            }
            _ => {}
        }
    }

    fn show(&self, line: &str) {
        if self.shown {
            // What can't be shown is not missed: the last line is printed with the result.
            rewrite(line);
        }
    }

    fn finish(self) -> Books {
        self.books
    }
}
