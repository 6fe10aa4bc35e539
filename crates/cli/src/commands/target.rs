//! `proofload target`: the calibration server.

use std::process::ExitCode;

use target::{Config, run_until_signalled};

use crate::arguments::Target;
use crate::exit::Failure;
use crate::output::say;

/// Serves until SIGINT or SIGTERM.
pub fn run(arguments: Target) -> Result<ExitCode, Failure> {
    let mut config = Config {
        listen: arguments.listen,
        model: arguments.model,
        pool_threads: arguments.threads,
        backlog: arguments.backlog,
        body_bytes: arguments.body_bytes,
        stall: arguments.stall,
        close_every: arguments.close_every,
        error_share: arguments.error_share,
        never_answer: arguments.never_answer,
        seed: arguments.seed,
        truth: arguments.truth,
        planted: arguments.planted.config(),
        ..Config::default()
    };
    for rule in arguments.paths {
        config.set_path(rule);
    }
    let model = config.model;
    let summary = run_until_signalled(config, |addr| {
        say(format_args!("serving http://{addr} ({model}); Ctrl-C ends it"));
    })?;
    say(format_args!("served {} requests on {} connections", summary.requests, summary.connections));
    Ok(ExitCode::SUCCESS)
}
