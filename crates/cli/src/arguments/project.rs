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

It looks at go.mod, Cargo.toml, pom.xml, build.gradle, pyproject.toml or package.json, at the sources beside them, at a
Dockerfile and an OpenAPI document. It runs nothing. It writes proofload.toml: how the service is built and started, when it
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

/// `proofload diff`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  proofload diff main                     the working tree against main
  proofload diff main HEAD --until 2%     until the intervals are within 2 %
  proofload diff v1.4 v1.5 --budget 10m --markdown diff.md
  proofload diff origin/main --max-loss 5% --fail-if 'p99>50ms' --junit diff.xml

For a git repository with a proofload.toml. Each version is checked out into a folder of its own, and built and started there
as its own proofload.toml says. Both are measured in turns, on fresh processes. What is asked of both is what the
proofload.toml of this folder says. Nothing of the working tree is touched, and the folders are removed at the end.

Exit codes are those of a gate: 0 where the version after keeps to it, 4 where it does not, 5 where that could not be told
(docs/own-service.md).")]
pub struct Diff {
    /// The version before: a branch, a tag or a commit
    pub before: String,
    /// The version after; `.` is the working tree as it is [default: .]
    pub after: Option<String>,
    /// Go on until the 95 % interval of what tables are ranked by is within so much
    #[arg(long, value_name = "PERCENT")]
    pub until: Option<Share>,
    /// Take no longer than this, builds included; no trial begins after it
    #[arg(long, value_name = "TIME")]
    pub budget: Option<Duration>,
    /// One block, and the shorter loads of [quick]: whether all of it works, and no claim
    #[arg(long, conflicts_with = "until")]
    pub quick: bool,
    /// Only these cells: round=NAME, stack=SERVICE, connections=NUMBER; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub only: Vec<Only>,
    /// Where run directories are made [default: as [runs] of the project says, or runs]
    #[arg(long, value_name = "DIR")]
    pub runs: Option<PathBuf>,
    #[command(flatten)]
    pub stacks: Stacks,
    /// The loss to the version before that is allowed: of goodput, or of p99 where rates are given [default: as the file says, or 10%]
    #[arg(long, value_name = "PERCENT", help_heading = "Gate", value_parser = plan::gate::max_loss)]
    pub max_loss: Option<Share>,
    #[command(flatten)]
    pub gate: gate::Gate,
    /// Print JSON (version 1; docs/own-service.md) instead of text
    #[arg(long)]
    pub json: bool,
    /// No progress
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
    /// For which shell
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
