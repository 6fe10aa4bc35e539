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
    /// Each request holds the server's only lock and sleeps this long: at most 1/DURATION requests a second in any model
    #[arg(long, value_name = "DURATION")]
    pub serial: Option<Duration>,
    /// Each request takes this much CPU time of the thread that answers it
    #[arg(long, value_name = "DURATION")]
    pub burn: Option<Duration>,
    /// Take that CPU time under the lock, one request at a time
    #[arg(long, requires = "burn")]
    pub burn_serial: bool,
    /// Each request makes the event loop itself sleep this long; with --model event-loop
    #[arg(long, value_name = "DURATION")]
    pub block_loop: Option<Duration>,
    /// The thread that accepts connections sleeps this long after each; only thread-per-connection has a separate one
    #[arg(long, value_name = "DURATION")]
    pub accept_pause: Option<Duration>,
    /// Each request appends this many bytes to --log-file before it is answered, under a lock
    #[arg(long, value_name = "BYTES", requires = "log_file")]
    pub log_bytes: Option<Bytes>,
    /// The log file; it starts again from the beginning at 256 MiB
    #[arg(long, value_name = "FILE", requires = "log_bytes")]
    pub log_file: Option<PathBuf>,
    /// Also wait until the data is on the disk (fdatasync)
    #[arg(long, requires = "log_bytes")]
    pub log_sync: bool,
    /// Requests take more CPU time at first: --warm-up-burn, and linearly less until this time after the first request
    #[arg(long, value_name = "DURATION", requires = "warm_up_burn")]
    pub warm_up: Option<Duration>,
    /// CPU time that the first request takes in addition to --burn
    #[arg(long, value_name = "DURATION", requires = "warm_up")]
    pub warm_up_burn: Option<Duration>,
    /// Each request leaks this much memory, with every page touched; at least 1KiB
    #[arg(long, value_name = "BYTES")]
    pub leak: Option<Bytes>,
    /// The most memory that is leaked in all [default: 1GiB]
    #[arg(long, value_name = "BYTES", requires = "leak")]
    pub leak_max: Option<Bytes>,
    /// Send the errors of --error-share at once: without delay and without any of the limits above
    #[arg(long)]
    pub fail_fast: bool,
    /// Send head and body in two calls with Nagle's algorithm on, so that the body waits for the client's delayed
    /// acknowledgement, about 40 ms
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
