//! The limits that `proofload target` is given on purpose.

use std::path::PathBuf;

use clap::Args;
use target::{Burn, Leak, LogWrites, WarmUp};
use units::{Bytes, Duration};

/// Limits that are known beforehand, for what names the reason of a rate to be judged by.
#[derive(Debug, Args)]
#[command(
    next_help_heading = "Limits planted on purpose (times as in 250us, 1ms, 2s; sizes as in 512B, 64KiB, 1GiB)"
)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches of a command line")]
pub struct Planted {
    /// Each request sleeps so long while it holds the one lock of the server: 1/DURATION a second, whatever the model
    #[arg(long, value_name = "DURATION")]
    pub serial: Option<Duration>,
    /// Each request takes so much CPU time of the thread that answers it
    #[arg(long, value_name = "DURATION")]
    pub burn: Option<Duration>,
    /// That CPU time is taken under the lock, one request at a time
    #[arg(long, requires = "burn")]
    pub burn_serial: bool,
    /// Each request makes the loop itself sleep so long; with --model event-loop
    #[arg(long, value_name = "DURATION")]
    pub block_loop: Option<Duration>,
    /// Whoever accepts sleeps so long after each connection; only thread-per-connection has a thread for that alone
    #[arg(long, value_name = "DURATION")]
    pub accept_pause: Option<Duration>,
    /// Each request appends so many bytes to the file of --log-file before its answer, under a lock
    #[arg(long, value_name = "BYTES", requires = "log_file")]
    pub log_bytes: Option<Bytes>,
    /// Where; it begins anew at 256 MiB
    #[arg(long, value_name = "FILE", requires = "log_bytes")]
    pub log_file: Option<PathBuf>,
    /// Wait until it is on the disk (fdatasync), too
    #[arg(long, requires = "log_bytes")]
    pub log_sync: bool,
    /// Requests take more CPU time at first: --warm-up-burn of it, and linearly less until so long after the first
    #[arg(long, value_name = "DURATION", requires = "warm_up_burn")]
    pub warm_up: Option<Duration>,
    /// CPU time that the first request takes beyond --burn
    #[arg(long, value_name = "DURATION", requires = "warm_up")]
    pub warm_up_burn: Option<Duration>,
    /// Each request leaves so much memory behind, every page of it touched; 1KiB at least
    #[arg(long, value_name = "BYTES")]
    pub leak: Option<Bytes>,
    /// All that is left behind at most [default: 1GiB]
    #[arg(long, value_name = "BYTES", requires = "leak")]
    pub leak_max: Option<Bytes>,
    /// The errors of --error-share go out at once: without delay and without any of the above
    #[arg(long)]
    pub fail_fast: bool,
    /// Send head and body by two calls with Nagle's algorithm on: the client's delayed acknowledgement, some 40 ms, is
    /// waited for
    #[arg(long)]
    pub split_answer: bool,
}

impl Planted {
    /// As the server takes them.
    pub fn config(self) -> target::Planted {
        let log_sync = self.log_sync;
        let logged = |(bytes_per_request, file)| LogWrites { bytes_per_request, file, sync: log_sync };
        let burn = |per_request| Burn { per_request, under_lock: self.burn_serial };
        let leak_max = self.leak_max.unwrap_or(Leak::BYTES_MAX_DEFAULT);
        target::Planted {
            serial: self.serial,
            burn: self.burn.map(burn),
            block_loop: self.block_loop,
            accept_pause: self.accept_pause,
            log: self.log_bytes.zip(self.log_file).map(logged),
            warm_up: self
                .warm_up
                .zip(self.warm_up_burn)
                .map(|(over, burn_at_first)| WarmUp { over, burn_at_first }),
            leak: self.leak.map(|bytes_per_request| Leak { bytes_per_request, bytes_max: leak_max }),
            fail_fast: self.fail_fast,
            split_answer: self.split_answer,
        }
    }
}
