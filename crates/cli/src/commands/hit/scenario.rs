//! `proofload hit` where users do more than one thing: a scenario, a recording, an OpenAPI document.

use std::num::{NonZeroU32, NonZeroU64};
use std::path::Path;
use std::process::ExitCode;

use driver::monotonic_now;
use jmeter::UserBooks;
use lab::LabError;
use lab::users::{Servers, Setting, Steps, carry_out, plan, tap};
use plan::load::span;
use plan::load_id::rate_as_set;
use plan::{HttpVersion, PlanError, RequestArguments, toml_file};
use record::Load;
use scenario::{Prepared, Scenario, arrivals_at_most};
use sources::{Also, Arriving, Fields, SourceOptions, Sourced, varied};
use units::{Duration, Rate};

use crate::arguments::Hit;
use crate::clock::now_ms;
use crate::commands::hit::beside::{self, Beside};
use crate::commands::hit::files;
use crate::commands::hit::request;
use crate::commands::hit::{audience, finish, text_or_file};
use crate::commands::jmeter::keep;
use crate::environment;
use crate::exit::Failure;
use crate::interrupt;
use crate::output::say;
use crate::progress::LoadProgress;

const SECOND: Duration = Duration::from_secs(1);

/// The longest recording that is read, bytes: browsers keep what was answered in it.
const HAR_BYTES_MAX: u64 = 256 << 20;

/// Runs the command for one of these.
pub fn run(arguments: &Hit) -> Result<ExitCode, Failure> {
    only_one_request_has(arguments)?;
    let http = HttpVersion::asked_for(arguments.http.http2(None)?)?;
    carry(arguments, http, arguments.tls.settings(), sourced(arguments, http)?)
}

/// Runs the command for one request of which something is another each time, or whose redirects are followed.
pub fn run_varied(arguments: &Hit, asked: &RequestArguments) -> Result<ExitCode, Failure> {
    only_the_same_request_has(arguments)?;
    goes_no_further(arguments)?;
    let http = HttpVersion::asked_for(arguments.http.http2(asked.version)?)?;
    let settings = arguments.tls.settings();
    // A copied command may say it, too.
    let settings = tls::Settings { insecure: settings.insecure || asked.insecure, ..settings };
    let body =
        arguments.expect_body.as_deref().map(|text| text_or_file(text, "--expect-body")).transpose()?;
    let no_text =
        |_| PlanError::new("the expected body is no text", "leave --expect-body out, or the words in {{…}}");
    let also = Also {
        follows: arguments.request.follow,
        status: arguments.expect_status,
        body: body.map(String::from_utf8).transpose().map_err(no_text)?,
        think: arguments.think.unwrap_or(Duration::ZERO),
    };
    carry(arguments, http, settings, varied(asked, &also, &options(arguments, http)?)?)
}

fn carry(
    arguments: &Hit,
    http: HttpVersion,
    settings: tls::Settings,
    sourced: Sourced,
) -> Result<ExitCode, Failure> {
    if !arguments.quiet {
        say_of_source(&sourced);
    }
    let prepared = Prepared::new(sourced.scenario).map_err(|error| match &arguments.scenario {
        Some(path) => error.or_in_file(path),
        None => error,
    })?;
    let setting = Setting {
        seed: arguments.seed,
        requests: at_least_one("requests", arguments.requests)?,
        io: arguments.io,
        fresh_connections: arguments.no_keep_alive,
        tls: settings,
        http,
        ..Setting::default()
    };
    let servers = Servers::resolve(&prepared, &setting, &arguments.hosts)
        .map_err(|error| no_server(arguments, error))?;
    if let (Some(option), None) = (arguments.tls.given(), servers.peers()) {
        let what = format!("{option} is about https, and no server is named with it");
        return Err(PlanError::new(what, "leave it out, or write https:// for http://").into());
    }
    environment::note_proxy(arguments.quiet, servers.hosts());
    let mut beside = Beside::open(arguments, setting.requests.map(NonZeroU64::get))?;
    let plan = plan(&prepared, &setting, &servers)?;
    // What empties a file comes behind all that may refuse the load.
    let log = beside::log(arguments)?;
    let setting = Setting { interval_log: log.as_ref(), ..setting };
    let groups = || prepared.scenario().groups.iter().map(|group| group.name.clone()).collect();
    let books = files::jtl_writer(arguments)?
        .map(|writer| UserBooks::new(groups(), (monotonic_now(), now_ms()), Some(writer)));
    let (report, books) = books
        .map(|books| {
            let (report, results) = tap();
            (report, (results, books))
        })
        .unzip();
    let control = interrupt::on_signals()?;
    let mut progress = LoadProgress::new(&title(arguments), &plan, audience(arguments))?;
    let (done, kept) = std::thread::scope(|scope| {
        let books = books.map(|(results, books)| scope.spawn(move || keep(results, books)));
        let report = (Steps::default(), report);
        let done = carry_out(&prepared, &setting, servers, report, &control, &mut |moment| {
            if beside.see(&moment, control.is_interrupted()) {
                control.interrupt();
            }
            progress.observe(&moment);
        });
        // The books are closed when the load's end of them is gone: here.
        let done = done.map(|(result, (steps, _), _)| (result, steps));
        let kept = books.map(|it| it.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        (done, kept)
    });
    progress.finish(done.as_ref().map(|(result, _)| result), &control);
    let (mut result, steps) = done?;
    if arguments.scenario.is_none() {
        say_what_was_asked(arguments, &mut result.load);
    }
    result.steps = steps.into_results();
    let path = arguments.jtl.as_deref().unwrap_or(Path::new(""));
    let all_rows = kept.map_or(Ok(()), |mut books| {
        books.begin();
        books.finish(now_ms()).1.map(drop)
    });
    let all_rows = all_rows.map_err(|error| files::unwritable(path, &error, "--jtl"));
    let code = finish(arguments, result, beside, all_rows.and_then(|()| beside::is_whole(log.as_ref())))?;
    progress.linger(&control);
    Ok(code)
}

fn say_of_source(sourced: &Sourced) {
    for what in &sourced.left_out {
        say(format_args!("proofload: left out: {what}"));
    }
    for note in &sourced.notes {
        say(format_args!("proofload: {note}"));
    }
}

/// A load whose users come from options is recorded with what these say, as one of the same request again and again is: gates and
/// comparisons go by it.
fn say_what_was_asked(arguments: &Hit, load: &mut Load) {
    let rate = arguments.rate;
    load.rate_per_s = rate.map(Rate::as_per_sec);
    load.arrivals = rate.map(|_| if arguments.poisson { "poisson" } else { "constant" }.to_owned());
    load.think_us = arguments.think.map(Duration::as_micros_f64);
    load.duration_s = load.duration_s.or(rate.and(arguments.duration).map(Duration::as_secs_f64));
    load.ramp_up_s = arguments.ramp_up.map(Duration::as_secs_f64);
    load.requests_per_user = arguments.requests_per_user;
    load.keep_alive = !arguments.no_keep_alive;
    if let Some(rate) = rate {
        load.label = format!("{}, {}", rate_as_set(rate), load.label);
    }
}

/// What is loaded, by the file that says so.
fn title(arguments: &Hit) -> String {
    let files = [&arguments.scenario, &arguments.har, &arguments.openapi];
    let file = files.into_iter().flatten().next().map(|file| file.display().to_string());
    file.or_else(|| arguments.url.clone()).unwrap_or_default()
}

/// What only a load of the same request again and again can be told.
fn of_same_requests(arguments: &Hit) -> Option<&'static str> {
    let given = [
        ("--burst", arguments.burst.is_some()),
        ("--backlog", arguments.backlog.is_some()),
        ("--warm-up", arguments.warm_up.is_some()),
        ("--idle-timeout", arguments.idle_timeout.is_some()),
        ("--threads", arguments.threads.is_some_and(|it| it != plan::Threads::ONE)),
        ("--save-responses", arguments.save_responses.is_some()),
        ("--hosts", !arguments.agents.machines.machines.is_empty()),
        ("--agents", !arguments.agents.listening.is_empty()),
        ("--ledger", arguments.agents.ledger.is_some()),
        ("--on", arguments.kubernetes.on.is_some()),
    ];
    given.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
}

/// Refuses a redirect for the good answer where redirects are followed: the answer is what they lead to.
fn goes_no_further(arguments: &Hit) -> Result<(), PlanError> {
    let status = arguments.expect_status.map(|it| it.to_string());
    match status.filter(|it| arguments.request.follow && explain::leads_elsewhere(it)) {
        Some(status) => {
            let what = format!("--follow goes where {status} leads, and --expect-status {status} stays");
            Err(PlanError::new(what, "leave one of them out"))
        }
        None => Ok(()),
    }
}

/// Of a recording, also servers that nobody means to load.
fn no_server(arguments: &Hit, error: LabError) -> Failure {
    let is_away = matches!(error, LabError::NoAddress { .. } | LabError::Unreachable { .. });
    if is_away && arguments.har.is_some() && arguments.base.is_none() {
        let help = "with --base URL what the recording asked of other servers is left out";
        return Failure::unreachable(format!("{error}; {help}"));
    }
    error.into()
}

/// Refuses what is said of requests that are all the same.
fn only_the_same_request_has(arguments: &Hit) -> Result<(), PlanError> {
    let options = &arguments.request;
    let elsewhere =
        [("--connect-to", !options.connect_to.is_empty()), ("--resolve", !options.resolve.is_empty())];
    let elsewhere = elsewhere.into_iter().find(|(_, given)| *given).map(|(name, _)| name);
    match of_same_requests(arguments).or(options.way()).or(elsewhere) {
        Some(name) => {
            let what = format!("{name} is about requests that are all the same, without redirects");
            let help = "leave it out, or leave --follow and the words in {{…}} out";
            Err(PlanError::new(what, help))
        }
        None => Ok(()),
    }
}

/// Refuses what is said of the one request that there is not.
fn only_one_request_has(arguments: &Hit) -> Result<(), PlanError> {
    let given = [
        ("--method", arguments.method.is_some()),
        ("--body", arguments.body.is_some() || arguments.body_file.is_some()),
        ("--follow", arguments.request.follow),
        ("--think", arguments.think.is_some()),
        ("--no-keep-alive", arguments.no_keep_alive),
        ("--expect-status", arguments.expect_status.is_some()),
        ("--expect-body", arguments.expect_body.is_some()),
    ];
    // A scenario has them in its file.
    let of_file = [
        ("--header", !arguments.headers.is_empty()),
        ("--rate", arguments.rate.is_some()),
        ("--poisson", arguments.poisson),
        ("--connect-timeout", arguments.connect_timeout.is_some()),
    ];
    let of_file = of_file.into_iter().chain(arguments.request.of_fields());
    let of_file = of_file.filter(|_| arguments.scenario.is_some());
    let given = given.into_iter().chain(of_file).find(|(_, given)| *given).map(|(name, _)| name);
    match of_same_requests(arguments).or(given).or_else(|| arguments.request.beyond_fields()) {
        Some(name) => {
            let what = format!("{name} is about one request, and these users have several");
            Err(PlanError::new(what, "leave it out, or write a scenario (docs/scenarios.md)"))
        }
        None => Ok(()),
    }
}

fn sourced(arguments: &Hit, http: HttpVersion) -> Result<Sourced, PlanError> {
    let named = |path: &Path| path.display().to_string();
    if let Some(path) = &arguments.scenario {
        let scenario = Scenario::from_toml(path, &toml_file::read(path)?)?;
        return Ok(Sourced { scenario, left_out: Vec::new(), notes: Vec::new() });
    }
    let options = SourceOptions { fields: request::along(arguments)?, ..options(arguments, http)? };
    let (path, parsed) = match (&arguments.har, &arguments.openapi) {
        (Some(path), _) => (
            path,
            sources::parse_har(
                &named(path),
                &toml_file::read_up_to(path, HAR_BYTES_MAX)?,
                !arguments.no_pauses,
                &options,
            ),
        ),
        (None, Some(path)) => (path, sources::parse_openapi(&named(path), &toml_file::read(path)?, &options)),
        (None, None) => {
            return Err(PlanError::new("nothing is said of what to load", "give a URL, or see hit --help"));
        }
    };
    parsed.map_err(|error| error.or_in_file(path))
}

fn options(arguments: &Hit, http: HttpVersion) -> Result<SourceOptions, PlanError> {
    let users = NonZeroU32::new(arguments.connections.unwrap_or(50))
        .ok_or_else(|| PlanError::new("0 connections are none", "give at least one, such as -c 50"))?;
    let iterations = at_least_one("requests per user", arguments.requests_per_user.map(u64::from))?;
    let unbounded = iterations.is_none() && arguments.requests.is_none();
    let duration = arguments.duration.map(|it| span("duration", it)).transpose()?;
    let timeout = arguments.timeout.unwrap_or(plan::load::TIMEOUT_DEFAULT);
    Ok(SourceOptions {
        base: arguments.base.clone(),
        users,
        arrivals: arriving(arguments)?,
        ramp_up: arguments.ramp_up.unwrap_or(Duration::ZERO),
        iterations,
        duration: duration.or(unbounded.then_some(plan::load::DURATION_DEFAULT)),
        timeout,
        connect_timeout: arguments.connect_timeout.unwrap_or(timeout),
        http,
        // Of one request they are in that itself.
        fields: Fields::default(),
    })
}

/// How users arrive, where they come at a rate.
fn arriving(arguments: &Hit) -> Result<Option<Arriving>, PlanError> {
    let Some(rate) = arguments.rate else {
        if arguments.poisson {
            return Err(PlanError::new(
                "Poisson arrivals have a rate",
                "give --rate, or leave --poisson out",
            ));
        }
        return Ok(None);
    };
    if arguments.requests_per_user.is_some() || arguments.think.is_some() {
        let what = "with --rate a new user comes for each request, and makes one";
        return Err(PlanError::new(what, "leave --requests-per-user and --think out, or --rate"));
    }
    // As long as it takes for so many to come, whatever chance does: the count ends the load.
    let by_count = arguments.requests.map(|count| {
        let count = count as f64;
        let most = if arguments.poisson { arrivals_at_most(count) } else { count };
        Duration::from_secs_f64(most / rate.as_per_sec())
            + arguments.ramp_up.unwrap_or(Duration::ZERO)
            + SECOND
    });
    let length = arguments.duration.or(by_count).unwrap_or(plan::load::DURATION_DEFAULT);
    if arguments.ramp_up.is_some_and(|it| it > length) {
        let what = "the ramp-up is longer than the load";
        return Err(PlanError::new(what, "give a shorter --ramp-up, or a longer -d"));
    }
    Ok(Some(Arriving { rate, poisson: arguments.poisson, length }))
}

/// A count that bounds the load, if one was given.
fn at_least_one(what: &str, count: Option<u64>) -> Result<Option<NonZeroU64>, PlanError> {
    count
        .map(|count| {
            NonZeroU64::new(count).ok_or_else(|| {
                PlanError::new(format!("0 {what} are none"), "give at least 1, or leave it out")
            })
        })
        .transpose()
}
