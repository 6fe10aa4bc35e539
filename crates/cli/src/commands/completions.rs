//! `proofload completions` and `proofload man`: what a shell and `man` know of the command line.

use std::process::ExitCode;

use clap::Command;

use crate::arguments::project::{Completions, Man, Shell};
use crate::exit::Failure;
use crate::output::print;

const NAME: &str = "proofload";

/// Prints what a shell is to be told. `command` is the whole command line.
pub fn completions(arguments: &Completions, command: &Command) -> Result<ExitCode, Failure> {
    // What is hidden is for nobody to type.
    let visible = command.get_subcommands().filter(|it| !it.is_hide_set()).cloned();
    let mut command = Command::new(NAME).args(command.get_arguments().cloned()).subcommands(visible);
    let mut script = Vec::new();
    let shell = match arguments.shell {
        Shell::Bash => clap_complete::Shell::Bash,
        Shell::Zsh => clap_complete::Shell::Zsh,
        Shell::Fish => clap_complete::Shell::Fish,
    };
    clap_complete::generate(shell, &mut command, NAME, &mut script);
    print(String::from_utf8_lossy(&script).trim_end())?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a page for each command.
pub fn man(arguments: &Man, command: Command) -> Result<ExitCode, Failure> {
    let folder = &arguments.folder;
    let written = std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(command, folder));
    written.map_err(|error| {
        Failure::system(format!(
            "the pages can't be written to {} ({error}); check the folder",
            folder.display()
        ))
    })?;
    Ok(ExitCode::SUCCESS)
}
