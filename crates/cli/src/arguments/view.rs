//! `proofload view` as typed.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

/// `proofload view`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  proofload view                            the runs in runs/, in a browser
  proofload view runs/quick-20260101-120000
  proofload view /srv/results --listen 127.0.0.1:8000 --no-open

Only this machine can open the page unless --listen says otherwise. It is served until Ctrl-C. Nothing is changed, and
nothing is loaded from elsewhere. A run that can't be read is listed with the reason.")]
pub struct View {
    /// The folder with the runs, or one run [default: as [runs] of the proofload.toml of this folder says, or runs]
    #[arg(value_name = "RUN_OR_RUNS_DIR")]
    pub runs: Option<PathBuf>,
    /// Address to listen on; with port 0, a free port
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    pub listen: SocketAddr,
    /// Don't open a browser
    #[arg(long)]
    pub no_open: bool,
}
