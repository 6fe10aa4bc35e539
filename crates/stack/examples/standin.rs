//! Stands in for the `proofload` binary in this crate's tests, with the two subcommands that stacks use:
//! `standin supervise -- CMD…` and `standin target --listen ADDR …`.

use std::process::ExitCode;

use signal_hook::consts::{SIGINT, SIGTERM};
use target::{Burn, Config, TargetError};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["supervise", "--", ..] => stack::supervise(&arguments[2..]),
        ["target", options @ ..] => {
            let serve = |config| target::run_until_signalled(config, &[SIGTERM, SIGINT], |_| ());
            match config(options).and_then(serve) {
                Ok(_) => ExitCode::SUCCESS,
                Err(error) => {
                    eprintln!("{error}");
                    ExitCode::FAILURE
                }
            }
        }
        _ => ExitCode::from(2),
    }
}

fn config(options: &[&str]) -> Result<Config, TargetError> {
    let mut config = Config::default();
    for pair in options.chunks_exact(2) {
        match pair[0] {
            "--listen" => config.listen = pair[1].parse().expect("an address"),
            "--model" => config.model = pair[1].parse()?,
            "--threads" => config.pool_threads = pair[1].parse().expect("a number"),
            "--backlog" => config.backlog = pair[1].parse().expect("a number"),
            "--path" => config.set_path(pair[1].parse()?),
            "--burn" => {
                let per_request = pair[1].parse().expect("a time");
                config.planted.burn = Some(Burn { per_request, under_lock: false });
            }
            other => panic!("{other} is not known here"),
        }
    }
    Ok(config)
}
