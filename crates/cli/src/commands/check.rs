//! `proofload check`: boot and contract, no load.

use std::path::Path;
use std::process::ExitCode;

use plan::stack::{Catalogue, StackManifest};
use stack::{BootOptions, Running};
use units::Duration;

use crate::arguments::Check;
use crate::commands::run::own_binary;
use crate::exit::{self, Failure};
use crate::interrupt;
use crate::output::print;

const TIMEOUT: Duration = Duration::from_secs(5);

/// Runs the command.
pub fn run(arguments: &Check) -> Result<ExitCode, Failure> {
    let catalogue = Catalogue::load(&arguments.stacks.dir)?;
    let chosen: Vec<&StackManifest> =
        arguments.stack.iter().map(|id| catalogue.get(id)).collect::<Result<_, _>>()?;
    let exe = own_binary()?;
    let control = interrupt::on_signals()?;
    let dir = std::env::temp_dir().join(format!("proofload-check-{}", std::process::id()));
    let mut all_good = true;
    for stack in chosen {
        if control.is_interrupted() {
            break;
        }
        match check(stack, &exe, &dir.join(&stack.id)) {
            Ok(good) => all_good &= good,
            Err(failure) => {
                eprintln!("proofload: {failure}");
                all_good = false;
            }
        }
    }
    let _ = std::fs::remove_dir_all(&dir);
    Ok(ExitCode::from(match (control.is_interrupted(), all_good) {
        (true, _) => exit::INTERRUPTED,
        (false, true) => exit::OK,
        (false, false) => exit::SERVICE,
    }))
}

/// Boots a stack, asks each endpoint, prints what it said; whether all was as expected.
fn check(stack: &StackManifest, exe: &Path, dir: &Path) -> Result<bool, Failure> {
    if let Some(tool) = stack::missing_tools(stack).first() {
        let message = format!("stack `{}` needs {}: {}", stack.id, tool.name, tool.install);
        return Err(Failure::system(message));
    }
    std::fs::create_dir_all(dir).map_err(|error| Failure::system(format!("{}: {error}", dir.display())))?;
    eprintln!("{}: building", stack.id);
    stack::build(stack, &dir.join("build.log"))?;
    let options = BootOptions { proofload_exe: exe, work_dir: dir, log: &dir.join("server.log") };
    let running = stack::boot(stack, &options)?;
    print(&format!("{}: up after {} at {}", stack.id, running.boot_took(), running.addr()))?;
    let good = ask_all(stack, &running)?;
    let usage = running.usage()?;
    print(&format!("  {} resident, {} threads", usage.rss, usage.threads))?;
    let stopped = running.stop()?;
    print(&format!("  stopped after {}{}", stopped.took, if stopped.forced { ", by force" } else { "" }))?;
    Ok(good)
}

fn ask_all(stack: &StackManifest, running: &Running) -> Result<bool, Failure> {
    let mut good = true;
    for endpoint in &stack.endpoints {
        let report = stack::check_contract(running.addr(), endpoint, TIMEOUT)?;
        print(&format!(
            "  {}: {} in {}, {} on the wire, body framing {}, connection {}",
            endpoint.path,
            report.status,
            report.took,
            report.wire_bytes,
            report.framing.name(),
            if report.kept_alive { "kept" } else { "closed" }
        ))?;
        for mismatch in report.matches.err().into_iter().flatten() {
            print(&format!("    not as expected: {mismatch}"))?;
            good = false;
        }
    }
    Ok(good)
}
