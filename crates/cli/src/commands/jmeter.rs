//! `proofload jmeter`: a JMeter test plan, with JMeter's results, console and exit codes.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;
use std::process::ExitCode;

use driver::monotonic_now;
use jmeter::{
    Aggregate, JtlWriter, Plan, PlanNotUnderstood, Support, UserBooks, end_lines, import, start_lines,
};
use lab::users::{Results, Servers, Setting, carry_out, tap};
use plan::toml_file;
use scenario::Prepared;

use crate::arguments::jmeter::Jmeter;
use crate::clock::now_ms;
use crate::exit::Failure;
use crate::interrupt;
use crate::output::{print, say};

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
    let properties = properties(arguments)?;
    let text = toml_file::read_up_to(&arguments.plan, PLAN_BYTES_MAX)?;
    let read = import(&arguments.plan, &text, &properties).and_then(|plan| {
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
    load(arguments, plan, properties)?;
    Ok(ExitCode::SUCCESS)
}

/// Says what share of the plan is supported.
fn check(read: Result<Plan, PlanNotUnderstood>) -> Result<ExitCode, Failure> {
    let (support, notes, code) = match read {
        Ok(plan) => (plan.support, plan.notes, ExitCode::SUCCESS),
        Err(PlanNotUnderstood::Unsupported { support, .. }) => (support, Vec::new(), ExitCode::from(FAILED)),
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
        print(&format!("  line {}: {}: {}", it.line, it.path, it.why))?;
    }
    for note in notes {
        print(&format!("  note: {note}"))?;
    }
    Ok(code)
}

/// Runs the plan and writes what it came to.
fn load(arguments: &Jmeter, plan: Plan, properties: BTreeMap<String, String>) -> Result<(), Failure> {
    let prepared = Prepared::new(plan.scenario)?;
    // JMeter takes any certificate.
    let tls = tls::Settings { insecure: true, ..tls::Settings::default() };
    let setting = Setting { seed: arguments.seed, properties, tls, ..Setting::default() };
    let servers = Servers::resolve(&prepared, &setting, &arguments.hosts)?;
    let writer = results_file(arguments)?;
    if let Some(folder) = &arguments.output {
        empty_folder(folder, arguments.force)?;
    }
    let control = interrupt::on_signals()?;
    for line in start_lines(&arguments.plan.display().to_string(), now_ms()) {
        print(&line)?;
    }
    let groups = prepared.scenario().groups.iter().map(|group| group.name.clone()).collect();
    let books = UserBooks::new(groups, (monotonic_now(), now_ms()), writer);
    let (report, results) = tap();
    let (result, aggregate) = std::thread::scope(|scope| {
        // What can't be printed is noticed with the last lines.
        let books = scope.spawn(move || keep(results, books, |line| drop(print(line))));
        // The books are closed when the load gives its end of them back, and that is dropped here.
        let result =
            carry_out(&prepared, &setting, servers, report, &control, &mut |_| {}).map(|done| done.0);
        (result, books.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    let aggregate = aggregate.map_err(|error| {
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

/// Writes results down until the load has ended; `say` is given the summary lines as they are due.
pub fn keep(
    mut results: Results,
    mut books: UserBooks<File>,
    say: impl Fn(&str),
) -> std::io::Result<Aggregate> {
    let say_all = |lines: Vec<String>| lines.iter().for_each(|line| say(line));
    while let Some(result) = results.wait(|| books.flush()) {
        say_all(books.take(&result));
    }
    let (lines, kept) = books.finish(now_ms());
    say_all(lines);
    kept
}

/// The file of results, which must not be there yet or be empty: JMeter adds to one that is, and mixes two runs.
fn results_file(arguments: &Jmeter) -> Result<Option<JtlWriter<File>>, Failure> {
    let Some(path) = &arguments.results else { return Ok(None) };
    let shown = path.display();
    let is_taken = fs::metadata(path).is_ok_and(|file| file.len() > 0);
    if is_taken && !arguments.force {
        let help = "name another file, or replace it with -f";
        return Err(Failure::usage(format!("{shown} holds the results of another run; {help}")));
    }
    let file = File::create(path);
    let writer = file.and_then(JtlWriter::new);
    writer.map(Some).map_err(|error| Failure::system(format!("{shown} can't be written ({error}); check -l")))
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
    for path in &arguments.property_files {
        let text = fs::read_to_string(path).map_err(|error| {
            Failure::usage(format!("{}: cannot be read ({error}); check -q", path.display()))
        })?;
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
        properties.insert(name, value);
    }
    Ok(properties)
}

fn pair(text: &str) -> Option<(String, String)> {
    let (name, value) = text.split_once('=')?;
    Some((name.trim().to_owned(), value.trim().to_owned()))
}
