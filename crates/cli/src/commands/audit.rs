//! `proofload audit`: what can't be true or can't be known of anyone's load-test output.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::process::ExitCode;

use record::RunDir;

use crate::arguments::Audit;
use crate::exit::{self, Failure};
use crate::output::{print, print_json};
use crate::progress::Screen;
use crate::recorded;
use crate::text::text_of;

/// The largest file that is read. A JTL of a million requests has 150 MB.
const FILE_BYTES_MAX: u64 = 256 << 20;

/// Runs the command.
pub fn run(arguments: &Audit) -> Result<ExitCode, Failure> {
    // What comes from another program may be waited for, and that one shows what goes on.
    let screen = Screen::new(arguments.files.iter().any(|file| is_standard_input(file)));
    let mut documents = Vec::with_capacity(arguments.files.len());
    for file in &arguments.files {
        screen.now(&format!("reading {}", file.display()), false);
        let (name, text) = read(file)?;
        documents.push(audit::read(&name, &text).map_err(Failure::usage)?);
    }
    let found = audit::audit(&documents);
    screen.clear();
    if arguments.json {
        print_json(&serde_json::to_string_pretty(&found).expect("an audit is plain data"))?;
    } else {
        print(report::audit_text(&found).trim_end())?;
    }
    Ok(ExitCode::from(if found.is_sound() { exit::OK } else { exit::SERVICE }))
}

fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}

/// Name and text of a file, of the trials of a run directory, or of standard input.
fn read(path: &Path) -> Result<(String, String), Failure> {
    if is_standard_input(path) {
        return Ok(("standard input".into(), text("standard input", io::stdin().lock())?));
    }
    if path.is_dir() {
        // Somebody may have sent it: what is in it is read as all records are.
        let file = RunDir::open_trials(path).map_err(|error| recorded::unreadable(path, &error))?;
        let name = path.join("trials.jsonl").display().to_string();
        return Ok((name.clone(), text(&name, file)?));
    }
    let name = path.display().to_string();
    let file = File::open(path).map_err(|error| {
        Failure::usage(format!(
            "{name} can't be read ({error}); give a file, a run directory, or - for standard input"
        ))
    })?;
    let text = text(&name, file)?;
    Ok((name, text))
}

fn text(name: &str, from: impl Read) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    from.take(FILE_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::usage(format!("{name} can't be read ({error})")))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        let mib = FILE_BYTES_MAX >> 20;
        return Err(Failure::usage(format!(
            "{name} has more than {mib} MiB; split it, or cut out the runs in question"
        )));
    }
    // Logs of other systems hold bytes of other encodings; figures are ASCII in all of them but UTF-16.
    Ok(text_of(&bytes))
}
