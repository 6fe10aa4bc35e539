//! `proofload target`: the calibration server.

use std::path::Path;
use std::process::ExitCode;

use plan::PlanError;
use target::{Config, Model, run_until_signalled};
use tls::{Acceptor, HTTP_1_1, HTTP_2};

use crate::arguments::Target;
use crate::exit::Failure;
use crate::interrupt::ending_signals;
use crate::output::say;

/// Serves until SIGINT, SIGTERM or the end of its terminal.
pub fn run(arguments: Target) -> Result<ExitCode, Failure> {
    if arguments.threads.is_some() && arguments.model != Model::Pool {
        let what = format!("--threads are those of a pool, and the model {} has none", arguments.model);
        return Err(PlanError::new(what, "take --model pool, or leave --threads out").into());
    }
    let tls = secured(&arguments)?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    let certificate = arguments.certificate.clone();
    let by_default = Config::default();
    let mut config = Config {
        listen: arguments.listen,
        model: arguments.model,
        pool_threads: arguments.threads.unwrap_or(by_default.pool_threads),
        backlog: arguments.backlog,
        body_bytes: arguments.body_bytes,
        stall: arguments.stall,
        close_every: arguments.close_every,
        error_share: arguments.error_share,
        never_answer: arguments.never_answer,
        seed: arguments.seed,
        truth: arguments.truth,
        planted: arguments.planted.config(),
        tls,
        http2: arguments.http2,
        streams_max: arguments.max_concurrent_streams,
        ..by_default
    };
    for rule in arguments.paths {
        config.set_path(rule);
    }
    let model = config.model;
    let spoken = if config.http2 { "HTTP/2 and HTTP/1.1; " } else { "" };
    let summary = run_until_signalled(config, &ending_signals(), |addr| {
        say(format_args!("serving {scheme}://{addr} ({spoken}{model}); Ctrl-C ends it"));
        if scheme == "https" {
            how_to_trust(certificate.as_deref());
        }
    })?;
    say(format_args!("served {} requests on {} connections", summary.requests, summary.connections));
    Ok(ExitCode::SUCCESS)
}

/// How connections are secured, with a certificate for whoever is to trust it.
fn secured(arguments: &Target) -> Result<Option<Acceptor>, Failure> {
    if !arguments.tls {
        return Ok(None);
    }
    let mut names = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()];
    let own = arguments.listen.ip().to_string();
    if !names.contains(&own) {
        names.push(own);
    }
    // The one that was asked for first: it is chosen where a client offers both.
    let protocols: &[&str] = if arguments.http2 { &[HTTP_2, HTTP_1_1] } else { &[HTTP_1_1] };
    let acceptor = Acceptor::self_signed(&names, protocols).map_err(Failure::usage)?;
    if let Some(file) = &arguments.certificate {
        std::fs::write(file, acceptor.certificate()).map_err(|error| {
            Failure::system(format!("{} can't be written ({error}); check --certificate", file.display()))
        })?;
    }
    Ok(Some(acceptor))
}

/// What its clients have to know of its certificate.
fn how_to_trust(certificate: Option<&Path>) {
    match certificate {
        Some(file) => say(format_args!("clients trust its certificate with --cacert {}", file.display())),
        None => say(
            "clients take its certificate with --insecure, or trust the one that --certificate FILE writes",
        ),
    }
}
