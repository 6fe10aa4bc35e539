//! `proofload jmeter`: a JMeter test plan, with JMeter's results, console and exit codes.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use driver::{Control, monotonic_now};
use jmeter::{
    Aggregate, JtlWriter, Phase, Plan, PlanNotUnderstood, Stage, Support, UserBooks, end_lines, import_with,
    start_lines,
};
use lab::users::{Results, Servers, Setting, carry_out, tap};
use plan::toml_file;
use scenario::{Group, OnError, Prepared, UserResult, What};

use crate::arguments::jmeter::Jmeter;
use crate::clock::now_ms;
use crate::exit::Failure;
use crate::interrupt;
use crate::output::{Replaced, print, say};

/// The longest plan that is read, bytes.
const PLAN_BYTES_MAX: u64 = 64 << 20;
/// JMeter ends with 1 whatever the matter is.
const FAILED: u8 = 1;

/// Runs the command.
pub fn run(arguments: &Jmeter) -> ExitCode {
    match carry_out_plan(arguments) {
        Ok(code) => code,
        Err(failure) => {
            say(format_args!("proofload: {failure}"));
            ExitCode::from(FAILED)
        }
    }
}

fn carry_out_plan(arguments: &Jmeter) -> Result<ExitCode, Failure> {
    if let Some((name, why)) = arguments.others.refused() {
        return Err(Failure::usage(format!("{name} is not supported: {why}; leave it out")));
    }
    let idle = arguments.others.without_effect();
    if !idle.is_empty() {
        let names = idle.join(", ");
        let why = "JMeter itself does not run, and what there is to say is on standard error";
        say(format_args!("proofload: {names}: without effect: {why}"));
    }
    let properties = properties(arguments)?;
    let text = toml_file::read_up_to(&arguments.plan, PLAN_BYTES_MAX)?;
    let read = import_with(&arguments.plan, &text, &properties, &included).and_then(|plan| {
        plan.check_files(&arguments.plan, |file| {
            // A plan may name a pipe, and opening one waits for its other end.
            let is_file = fs::metadata(file).map_err(|error| error.to_string())?.is_file();
            let opened =
                if is_file { File::open(file).map(drop) } else { Err(ErrorKind::InvalidInput.into()) };
            opened.map_err(|error| error.to_string())
        })?;
        Ok(plan)
    });
    if arguments.check {
        return check(read);
    }
    let plan = read.map_err(Failure::usage)?;
    for note in &plan.notes {
        say(format_args!("proofload: {note}"));
    }
    load(arguments, &plan, &properties)?;
    Ok(ExitCode::SUCCESS)
}

/// The text of a file that a plan includes, if there is one.
fn included(file: &Path) -> Result<Option<String>, String> {
    let Ok(found) = fs::metadata(file) else { return Ok(None) };
    // A plan may name a pipe, and opening one waits for its other end.
    if !found.is_file() {
        return Err("is no regular file".into());
    }
    toml_file::read_up_to(file, PLAN_BYTES_MAX).map(Some).map_err(|error| error.what)
}

/// Says what share of the plan is supported, and what keeps one from being run all of which is.
fn check(read: Result<Plan, PlanNotUnderstood>) -> Result<ExitCode, Failure> {
    let (support, notes, end) = match read {
        Ok(plan) => {
            let prepare = |stage: &Stage| Prepared::new(plan.scenario_of(stage)).map(drop);
            let prepared = plan.stages.iter().try_for_each(prepare);
            (plan.support, plan.notes, prepared.map(|()| ExitCode::SUCCESS))
        }
        Err(PlanNotUnderstood::Unsupported { support, .. }) => {
            (support, Vec::new(), Ok(ExitCode::from(FAILED)))
        }
        Err(broken) => return Err(Failure::usage(broken)),
    };
    let Support { elements, supported, ignored, unsupported } = &support;
    // One of many that is not supported stops the plan, and must not be rounded away.
    let percent = report::percent_of((supported + ignored) as u64, *elements as u64, 0);
    print(&format!(
        "{percent} of {elements} elements supported: {supported} carried out, {ignored} without effect, {} not \
         supported",
        elements - supported - ignored
    ))?;
    for it in unsupported {
        let within = it.within.as_ref().map(|file| format!("{}, ", file.display())).unwrap_or_default();
        print(&format!("  {within}line {}: {}: {}", it.line, it.path, it.why))?;
    }
    for note in notes {
        print(&format!("  note: {note}"))?;
    }
    end.map_err(Failure::from)
}

/// A stage of a plan that is known to be one that can be run.
struct Ready<'p> {
    stage: &'p Stage,
    prepared: Arc<Prepared>,
    setting: Setting<'static>,
    servers: Servers,
}

/// Makes all stages ready, before anything is sent.
fn ready<'p>(
    arguments: &Jmeter,
    plan: &'p Plan,
    properties: &BTreeMap<String, String>,
) -> Result<Vec<Ready<'p>>, Failure> {
    // JMeter takes any certificate.
    let tls = tls::Settings { insecure: true, ..tls::Settings::default() };
    let mut all = Vec::new();
    for (place, stage) in (0_u64..).zip(&plan.stages) {
        let prepared = Prepared::new(plan.scenario_of(stage))?;
        // What is random in one stage is not what was in the one before it.
        let seed = if place == 0 { arguments.seed } else { arguments.seed.derive(place) };
        let (properties, tls) = (properties.clone(), tls.clone());
        let setting = Setting { seed, properties, tls, ..Setting::default() };
        let servers = Servers::resolve(&prepared, &setting, &arguments.hosts)?;
        all.push(Ready { stage, prepared, setting, servers });
    }
    Ok(all)
}

/// Runs the plan and writes what it came to.
fn load(arguments: &Jmeter, plan: &Plan, properties: &BTreeMap<String, String>) -> Result<(), Failure> {
    let stages = ready(arguments, plan, properties)?;
    let writer = results_file(arguments)?;
    if let Some(folder) = &arguments.output {
        empty_folder(folder, arguments.force)?;
    }
    let control = interrupt::on_signals()?;
    for line in start_lines(&arguments.plan.display().to_string(), now_ms()) {
        print(&line)?;
    }
    let mut books = UserBooks::new(Vec::new(), (monotonic_now(), now_ms()), writer);
    let result = carry_out_stages(stages, &mut books, &control);
    let aggregate = close(books, say_line).map_err(|error| {
        Failure::system(format!("the results can't be written ({error}); the disk may be full"))
    })?;
    result?;
    if let Some(folder) = &arguments.output {
        write_reports(folder, &aggregate)?;
    }
    for line in end_lines(now_ms()) {
        print(&line)?;
    }
    Ok(())
}

/// What can't be printed is noticed with the last lines.
fn say_line(line: &str) {
    drop(print(line));
}

/// Carries the stages out, one after another, and writes down what their users hand on.
fn carry_out_stages(
    stages: Vec<Ready<'_>>,
    books: &mut UserBooks<Replaced>,
    control: &Control,
) -> Result<(), Failure> {
    let mut stopped: Option<Phase> = None;
    for Ready { stage, prepared, setting, servers } in stages {
        if control.is_interrupted() || !stage.runs_after(stopped) {
            continue;
        }
        let groups = prepared.scenario().groups.as_slice();
        books.turn_to(groups.iter().map(|group| group.name.clone()).collect(), stage.number);
        let (report, results) = tap();
        let written_to = &mut *books;
        let (result, is_stopped) = std::thread::scope(|scope| {
            let written = scope.spawn(move || {
                let mut is_stopped = false;
                write_down(results, written_to, say_line, |result| is_stopped |= ends_test(groups, result));
                is_stopped
            });
            // The books are closed when the load gives its end of them back, and that is dropped here.
            let result =
                carry_out(&prepared, &setting, servers, report, control, &mut |_| {}).map(|done| done.0);
            (result, written.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
        result?;
        books.begin();
        if is_stopped {
            stopped = Some(stage.phase);
        }
    }
    Ok(())
}

/// Whether a result is a failure that ends the test, by what its group says.
fn ends_test(groups: &[Group], result: &UserResult) -> bool {
    let has_failed = match &result.what {
        What::Sample(sample) => !sample.ok,
        What::Unsent { .. } => true,
        What::Transaction(_) => false,
    };
    let on_error = groups.get(result.crowd.group).map(|group| group.on_error);
    has_failed && matches!(on_error, Some(OnError::StopLoad | OnError::StopNow))
}

/// Writes results down until the load has ended, and gives the books back.
pub fn keep(results: Results, mut books: UserBooks<Replaced>) -> UserBooks<Replaced> {
    write_down(results, &mut books, |_| {}, |_| {});
    books
}

/// Writes results down until the load has ended, and lets each of them be looked at.
fn write_down(
    mut results: Results,
    books: &mut UserBooks<Replaced>,
    say: impl Fn(&str),
    mut look: impl FnMut(&UserResult),
) {
    while let Some(result) = results.wait(|| books.flush()) {
        look(&result);
        books.take(&result).iter().for_each(|line| say(line));
    }
}

fn close(books: UserBooks<Replaced>, say: impl Fn(&str)) -> std::io::Result<Aggregate> {
    let (lines, kept) = books.finish(now_ms());
    for line in &lines {
        say(line);
    }
    kept
}

/// The file of results, which must not be there yet or be empty: JMeter adds to one that is, and mixes two runs.
fn results_file(arguments: &Jmeter) -> Result<Option<JtlWriter<Replaced>>, Failure> {
    let Some(path) = &arguments.results else { return Ok(None) };
    let shown = path.display();
    let is_taken = fs::metadata(path).is_ok_and(|file| file.len() > 0);
    if is_taken && !arguments.force {
        let help = "name another file, or replace it with -f";
        return Err(Failure::usage(format!("{shown} holds the results of another run; {help}")));
    }
    let file = Replaced::open(path);
    let file =
        file.map_err(|error| Failure::system(format!("{shown} can't be written ({error}); check -l")))?;
    Ok(Some(JtlWriter::new(file)))
}

fn empty_folder(folder: &Path, force: bool) -> Result<(), Failure> {
    let shown = folder.display();
    let is_full = fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
    if is_full && !force {
        let what = format!("Cannot write to '{shown}' as folder is not empty");
        return Err(Failure::usage(format!("{what}; name another, or replace what is in it with -f")));
    }
    fs::create_dir_all(folder)
        .map_err(|error| Failure::system(format!("{shown} can't be made ({error}); check -o")))
}

fn write_reports(folder: &Path, aggregate: &Aggregate) -> Result<(), Failure> {
    for (name, text) in
        [("aggregate.csv", aggregate.aggregate_csv()), ("summary.csv", aggregate.summary_csv())]
    {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| {
            Failure::system(format!("{} can't be written ({error}); check -o", path.display()))
        })?;
    }
    Ok(())
}

fn properties(arguments: &Jmeter) -> Result<BTreeMap<String, String>, Failure> {
    let mut properties = BTreeMap::new();
    for path in arguments.property_file.iter().chain(&arguments.property_files) {
        let text = toml_file::read(path)?;
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (name, value) = pair(line).ok_or_else(|| {
                Failure::usage(format!("{}: `{line}` is no property; write name=value", path.display()))
            })?;
            properties.insert(name, value);
        }
    }
    for given in &arguments.properties {
        let (name, value) = pair(given)
            .ok_or_else(|| Failure::usage(format!("-J{given} is no property; write -Jname=value")))?;
        // As with JMeter. So what a script has no value for leaves the plan's own default.
        if value.is_empty() {
            properties.remove(&name);
        } else {
            properties.insert(name, value);
        }
    }
    Ok(properties)
}

fn pair(text: &str) -> Option<(String, String)> {
    let (name, value) = text.split_once('=')?;
    Some((name.trim().to_owned(), value.trim().to_owned()))
}
