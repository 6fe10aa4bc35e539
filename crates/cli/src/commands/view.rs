//! `proofload view`: the recorded runs in a browser.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::Duration;

use serve::{Runs, Server};

use crate::arguments::view::View;
use crate::exit::Failure;
use crate::output::say;
use crate::page::{Sources, html};
use crate::{interrupt, kept};

/// What opens a browser, where there is a desktop.
const OPENER: &str = "xdg-open";
/// How often it is looked whether it is to end.
const POLL: Duration = Duration::from_millis(100);

/// Runs the command.
pub fn run(arguments: &View) -> Result<ExitCode, Failure> {
    let runs_dir = kept::folder(arguments.runs.as_deref())?;
    let (folder, only) = what(&runs_dir)?;
    let control = interrupt::on_signals()?;
    let render =
        Arc::new(|dir: &Path| html(dir, &Sources::of_checkout()).map_err(|failure| failure.to_string()));
    let runs = Arc::new(Runs::new(folder, only, render));
    let server = Server::start(arguments.listen, vec![runs]).map_err(Failure::system)?;
    let url = server.url();
    say(format_args!("proofload: serving {} at {url}; Ctrl-C ends it", runs_dir.display()));
    if !arguments.no_open && !open(&url) {
        say(format_args!(
            "proofload: no browser was opened (no {OPENER}, or no desktop); open the address in one"
        ));
    }
    while !control.is_interrupted() {
        std::thread::sleep(POLL);
    }
    Ok(ExitCode::SUCCESS)
}

/// The folder with runs, and which of them, where one was named.
fn what(path: &Path) -> Result<(PathBuf, Option<String>), Failure> {
    let whole = path.canonicalize().map_err(|error| {
        Failure::usage(format!(
            "{} can't be read ({error}); name the folder that `proofload run --runs` wrote to, or a run in it",
            path.display()
        ))
    })?;
    if !whole.is_dir() {
        return Err(Failure::usage(format!("{} is not a folder; name one with runs in it", path.display())));
    }
    let is_run = whole.join("manifest.json").is_file();
    let name = whole.file_name().and_then(|name| name.to_str());
    Ok(match (is_run, name, whole.parent()) {
        (true, Some(name), Some(folder)) => (folder.to_owned(), Some(name.to_owned())),
        _ => (whole, None),
    })
}

/// Opens `url` in the desktop's browser; false where there is no desktop or nothing that opens one.
fn open(url: &str) -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    // Without a desktop it would start a browser in this terminal.
    if !is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY") {
        return false;
    }
    let mut opener = Command::new(OPENER);
    opener.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // A browser that begins with it is not for the Ctrl-C that ends us.
    opener.process_group(0);
    let Ok(mut child) = opener.spawn() else { return false };
    // It may stay as long as the browser does; only its end is taken note of.
    let waits = std::thread::Builder::new().name("opener".into()).spawn(move || child.wait());
    waits.is_ok()
}
