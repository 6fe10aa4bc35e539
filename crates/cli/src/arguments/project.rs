//! `proofload init`, `completions` and `man` as typed.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use plan::Only;
use units::{Duration, Share};

use super::{Stacks, gate};

/// `proofload init`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  proofload init              in the folder of your service; then: proofload run --quick
  proofload init services/cart
  proofload init --print      only show what would be written

It reads go.mod, Cargo.toml, pom.xml, build.gradle, pyproject.toml or package.json, the sources beside them, a Dockerfile and
an OpenAPI document. It runs nothing. It writes proofload.toml: how to build and start the service, when it is ready, what to
request, one experiment and one gate. What it could not find out is marked CHECK (docs/own-service.md).")]
pub struct Init {
    /// The folder of the service
    #[arg(default_value = ".", value_name = "FOLDER")]
    pub folder: PathBuf,
    /// Overwrite an existing proofload.toml
    #[arg(long)]
    pub force: bool,
    /// Print the file and write nothing
    #[arg(long, conflicts_with = "force")]
    pub print: bool,
}

/// `proofload diff`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  proofload diff main                     compare the working tree with main
  proofload diff main HEAD --until 2%     until the intervals are within 2 %
  proofload diff v1.4 v1.5 --budget 10m --markdown diff.md
  proofload diff origin/main --max-loss 5% --fail-if 'p99>50ms' --junit diff.xml

Needs a git repository with a proofload.toml. Each version is checked out into a temporary folder, and built and started as
its own proofload.toml says. Both are measured in turns, on fresh processes, with the rounds, loads and gate of the
proofload.toml in this folder. The working tree is not touched, and the temporary folders are removed at the end.

Exit codes are those of a gate: 0 if the version after passes, 4 if it fails, 5 if that could not be told
(docs/own-service.md).")]
pub struct Diff {
    /// The version before: a branch, a tag or a commit
    pub before: String,
    /// The version after; `.` is the working tree with its changes [default: .]
    pub after: Option<String>,
    /// Go on until the 95 % interval of the figure that ranks the table is within this
    #[arg(long, value_name = "PERCENT")]
    pub until: Option<Share>,
    /// Stop after this time, builds included; no trial begins after it
    #[arg(long, value_name = "TIME")]
    pub budget: Option<Duration>,
    /// One block, with the shorter loads of [quick]: shows whether everything works, no evidence
    #[arg(long, conflicts_with = "until")]
    pub quick: bool,
    /// Measure only these cells: round=NAME, stack=SERVICE, connections=NUMBER; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub only: Vec<Only>,
    /// Where run directories are made [default: as [runs] of the project says, or runs]
    #[arg(long, value_name = "DIR")]
    pub runs: Option<PathBuf>,
    #[command(flatten)]
    pub stacks: Stacks,
    /// How much loss against the version before is allowed: of goodput, or of p99 where rates are given [default: as the file says, or 10%]
    #[arg(long, value_name = "PERCENT", help_heading = "Gate", value_parser = plan::gate::max_loss)]
    pub max_loss: Option<Share>,
    #[command(flatten)]
    pub gate: gate::Gate,
    /// Print JSON (version 1; docs/own-service.md) instead of text
    #[arg(long)]
    pub json: bool,
    /// Show no progress
    #[arg(short, long)]
    pub quiet: bool,
}

/// `proofload completions`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  proofload completions bash > ~/.local/share/bash-completion/completions/proofload
  proofload completions zsh > ~/.zfunc/_proofload
  proofload completions fish > ~/.config/fish/completions/proofload.fish")]
pub struct Completions {
    /// The shell
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
