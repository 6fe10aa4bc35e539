//! `proofload hit`: one load.

mod agents;
mod beside;
mod files;
#[cfg(feature = "kubernetes")]
mod kubernetes;
#[cfg(not(feature = "kubernetes"))]
#[path = "hit/no_kubernetes.rs"]
mod kubernetes;
mod request;
mod resume;
mod saved;
mod scenario;
mod stop;
mod way;

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use engine::{Expect, GoodStatus};
use events::Moment;
use jmeter::RequestRows;
use lab::load::{Job, run as run_load, run_tapped};
use lab::tap;
use plan::{HttpTarget, HttpVersion, LoadPlan, PlanError, RequestArguments, shell};
use record::LoadResult;
use report::{HitReport, earlier_text, hit_csv, hit_markdown, hit_text};
use sources::is_varied;

use self::agents::Several;
use self::beside::Beside;
use self::saved::Saved;
use self::stop::Stop;
use self::way::Way;
use crate::arguments::Hit;
use crate::arguments::kubernetes::Watched;
use crate::arguments::request::Output;
use crate::exit::{self, Failure};
use crate::gate;
use crate::interrupt;
use crate::output::{print, print_json, say};
use crate::pods;
use crate::progress::{Audience, LoadProgress};

/// The longest body that is sent or expected, bytes.
const BODY_BYTES_MAX: u64 = 256 << 20;

/// Runs the command.
pub fn run(arguments: &Hit) -> Result<ExitCode, Failure> {
    if arguments.kubernetes.rbac {
        return pods::print_rbac(arguments.watch.watched == Some(Watched::Pods));
    }
    files::each_has_its_own(arguments)?;
    if let Some(dir) = &arguments.agents.take_over {
        return resume::run(arguments, dir);
    }
    let Some(asked) = one_request(arguments)? else { return scenario::run(arguments) };
    if arguments.request.follow || is_varied(&asked)? {
        return scenario::run_varied(arguments, &asked);
    }
    let plan = LoadPlan::new(&arguments.load(asked.version)?)?;
    let target = HttpTarget::over(plan.http, &asked)?;
    let expect = expected(arguments)?;
    let settings = tls_settings(arguments, &target, asked.insecure)?;
    let several = || Several::new(arguments, &target, &plan, &expect, &settings);
    if let Some(fleet) = arguments.agents.fleet()? {
        return agents::run(arguments, &several()?, Arc::new(fleet));
    }
    if let Some(fleet) = arguments.agents.listening()? {
        return agents::run_listening(arguments, &several()?, Arc::new(fleet));
    }
    if arguments.kubernetes.on.is_some() {
        return kubernetes::run(arguments, &several()?, arguments.watch.server(&plan)?);
    }
    agents::no_ledger(arguments, "of one machine, whose load ends with it")?;
    let Way { target, targets, socket, peers, words } = Way::open(arguments, target, &plan, &settings)?;
    let (mut beside, log) = (Beside::open(arguments, plan.requests_max())?, beside::log(arguments)?);
    let saved = Saved::open(arguments)?;
    let job = Job {
        url: &target.url,
        targets: &targets,
        request: &target.request,
        expect: &expect,
        plan: &plan,
        socket: socket.as_ref(),
        tls: peers.as_ref(),
        interval_log: log.as_ref(),
        keep: saved.as_ref().map(|it| &it.keep),
    };
    let rows_file = files::jtl_writer(arguments)?;
    let control = interrupt::on_signals()?;
    let mut progress = LoadProgress::new(&target.url, &plan, audience(arguments))?;
    let mut observe = |moment: Moment<'_>| {
        if beside.see(&moment, control.is_interrupted()) {
            control.interrupt();
        }
        progress.observe(&moment);
    };
    let (result, all_rows) = match rows_file {
        None => (run_load(&job, &control, &mut observe), Ok(())),
        Some(writer) => std::thread::scope(|scope| {
            let (tap, samples) = tap::samples();
            let rows = RequestRows::new(files::rows_of(&job, &target), writer);
            let books = scope.spawn(move || files::keep(samples, rows));
            let result = run_tapped(&job, tap, &control, &mut observe);
            let rows = books.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            // A load that was refused has no rows, and takes no others away.
            let all_rows = result.as_ref().map_or(Ok(()), |_| files::all_rows(arguments, rows));
            (result, all_rows)
        }),
    };
    progress.finish(result.as_ref(), &control);
    let result = LoadResult { via: words, ..result? };
    let finished = finish(arguments, result, beside, all_rows.and_then(|()| beside::is_whole(log.as_ref())));
    // What else could not be written takes no answer with it.
    saved.map_or(Ok(()), |it| it.write(arguments.quiet))?;
    let code = finished?;
    progress.linger(&control);
    Ok(code)
}

/// What a good answer looks like.
fn expected(arguments: &Hit) -> Result<Expect, PlanError> {
    let body = arguments.expect_body.as_deref().map(|text| text_or_file(text, "--expect-body"));
    Ok(Expect {
        status: arguments.expect_status.map_or(GoodStatus::Success, GoodStatus::Only),
        body: body.transpose()?.map(Into::into),
    })
}

/// Who watches it.
fn audience(arguments: &Hit) -> Audience {
    Audience { quiet: arguments.quiet, json: arguments.output() != Output::Text, serve: arguments.serve }
}

/// Prints what a load came to, and only then says which of its files is not what was asked for.
fn finish(
    arguments: &Hit,
    result: LoadResult,
    beside: Beside<'_>,
    all_rows: Result<(), Failure>,
) -> Result<ExitCode, Failure> {
    let judged = beside.gate.as_ref().map(|it| it.judge(&result));
    let report = HitReport::new(result).with_gate(judged);
    match arguments.output() {
        Output::Text => print(&hit_text(&report)),
        Output::Json => print_json(&report.json()),
        Output::Csv => print(hit_csv(&report).trim_end()),
        Output::Md => print(hit_markdown(&report).trim_end()),
    }?;
    if let Some((path, earlier)) = arguments.compare_to.as_deref().zip(beside.earlier.as_ref()) {
        print(&format!("\n{}", earlier_text(&path.display().to_string(), earlier, &report.result)))?;
    }
    let lost = report.result.outcomes.lost;
    beside.percentiles.map_or(Ok(()), |it| it.write(lost))?;
    if let Some((gate, judged)) = beside.gate.zip(report.gate.as_ref()) {
        gate.write(&report.result.url, judged)?;
    }
    all_rows?;
    if let Some(why) = beside.stop.and_then(Stop::into_why) {
        // It may have held only when all was made.
        let is_cut = report.result.interrupted;
        let how = if is_cut { "ended early, as" } else { "the load was whole, but at its end" };
        say(format_args!("proofload: {how} --stop-if says: {why}"));
        return Ok(ExitCode::from(exit::SERVICE));
    }
    Ok(ExitCode::from(code(&report)))
}

/// The request that is made again and again; `None` where users have several.
fn one_request(arguments: &Hit) -> Result<Option<RequestArguments>, PlanError> {
    if let Some(command) = &arguments.curl {
        let mut copied = request::of_curl(command)?;
        let http = HttpVersion::asked_for(arguments.http.http2(copied.version)?)?;
        for what in sources::drop_misplaced(&mut copied, http).iter().filter(|_| !arguments.quiet) {
            say(format_args!("proofload: left out: {what}"));
        }
        return with_options(copied, arguments).map(Some);
    }
    let Some(url) = &arguments.url else { return Ok(None) };
    request::typed_url(url)?;
    let request = RequestArguments { url: url.clone(), ..RequestArguments::default() };
    with_options(request, arguments).map(Some)
}

/// The request with what options say of it: they come after what a curl command says.
fn with_options(mut request: RequestArguments, arguments: &Hit) -> Result<RequestArguments, PlanError> {
    request.method = arguments.method.clone().or(request.method);
    request::leave_room(arguments, &mut request);
    if let Some(body) = body(arguments)? {
        request.body = body;
    }
    request.close |= arguments.no_keep_alive;
    request::apply(arguments, &mut request)?;
    Ok(request)
}

/// How the connections are secured; refuses what is said of that where they are not.
fn tls_settings(arguments: &Hit, target: &HttpTarget, insecure: bool) -> Result<tls::Settings, PlanError> {
    match arguments.tls.given() {
        Some(option) if !target.is_secured => {
            let what = format!("{option} is about https, and {} is not", target.url);
            Err(PlanError::new(what, "leave it out, or write https:// for http://"))
        }
        _ => {
            let settings = arguments.tls.settings();
            Ok(tls::Settings { insecure: settings.insecure || insecure, ..settings })
        }
    }
}

/// The body that options name, which may be an empty one.
fn body(arguments: &Hit) -> Result<Option<Vec<u8>>, PlanError> {
    let body = match (&arguments.body, &arguments.body_file) {
        (Some(text), _) => Some(text_or_file(text, "--body")),
        (None, Some(path)) => Some(read_body(path, "check --body-file")),
        (None, None) => None,
    };
    body.transpose()
}

/// A body as an option gives it: `@file` is what is in the file, and `@@text` the text with one `@`, as none else could
/// begin with it.
fn text_or_file(text: &str, option: &str) -> Result<Vec<u8>, PlanError> {
    match text.strip_prefix('@') {
        None => Ok(text.as_bytes().to_vec()),
        Some(escaped) if escaped.starts_with('@') => Ok(escaped.as_bytes().to_vec()),
        Some("") => {
            let help = format!("write the name of a file behind it, or {option} '@@' for the text @");
            Err(PlanError::new(format!("{option} @ names no file"), help))
        }
        Some(path) => {
            let help = format!(
                "check the path; for the text itself write {option} {}",
                shell::quoted(&format!("@{text}"))
            );
            read_body(Path::new(path), &help)
        }
    }
}

/// Reads a body whole, from whatever has an end: a device may have none.
fn read_body(path: &Path, help: &str) -> Result<Vec<u8>, PlanError> {
    let mut body = Vec::new();
    let read = File::open(path).and_then(|file| file.take(BODY_BYTES_MAX + 1).read_to_end(&mut body));
    read.map_err(|error| PlanError::new(format!("the body cannot be read ({error})"), help).in_file(path))?;
    if body.len() as u64 > BODY_BYTES_MAX {
        let what = format!("the body is longer than {} MiB", BODY_BYTES_MAX >> 20);
        return Err(PlanError::new(what, "name a shorter file").in_file(path));
    }
    Ok(body)
}

/// Whoever reads nothing but the code must not take a figure for valid that is called not so, as text or as JSON. A gate has
/// looked at what speaks against its figures, and at failed requests, and answers for all of it.
fn code(report: &HitReport) -> u8 {
    match (report.result.interrupted, &report.gate, report.validity.valid) {
        (true, _, _) => exit::INTERRUPTED,
        (false, Some(gate), _) => gate::code(gate.answer, exit::OK),
        (false, None, false) => exit::SERVICE,
        (false, None, true) => exit::OK,
    }
}
