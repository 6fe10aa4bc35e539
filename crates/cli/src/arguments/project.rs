//! `proofload init`, `completions` and `man` as typed.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// `proofload init`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  proofload init              in the folder of your service; then: proofload run --quick
  proofload init services/cart
  proofload init --print      only show what would be written

It looks at go.mod, Cargo.toml, pom.xml, build.gradle, pyproject.toml or package.json, at the sources beside them, at a
Dockerfile and an OpenAPI document, runs nothing, and writes proofload.toml: how the service is built and started, when it
is ready, what to ask, one experiment and one gate. What it could not see is marked CHECK (docs/own-service.md).")]
pub struct Init {
    /// The folder of the service
    #[arg(default_value = ".", value_name = "FOLDER")]
    pub folder: PathBuf,
    /// Write over a proofload.toml that is there
    #[arg(long)]
    pub force: bool,
    /// Print the file and write nothing
    #[arg(long, conflicts_with = "force")]
    pub print: bool,
}

/// `proofload completions`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  proofload completions bash > ~/.local/share/bash-completion/completions/proofload
  proofload completions zsh > ~/.zfunc/_proofload
  proofload completions fish > ~/.config/fish/completions/proofload.fish")]
pub struct Completions {
    /// Whose
    #[arg(value_enum)]
    pub shell: Shell,
}

/// A shell that completes what is typed.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Shell {
    /// GNU Bash
    Bash,
    /// Zsh
    Zsh,
    /// fish
    Fish,
}

/// `proofload man`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  proofload man ~/.local/share/man/man1       then: man proofload-hit
  sudo proofload man /usr/local/share/man/man1")]
pub struct Man {
    /// The folder to write the pages to, one for each command; it is made if need be
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
}
