//! Checking stacks without load: build, boot, ask, stop.

use plan::stack::StackManifest;
use record::{CHECK_VERSION, CheckResult, Checked, EndpointCheck, StackCheck};
use stack::{BuildOptions, ChainOptions, ConnectionCap, REQUESTS_MAX, Shared, StackError, StackReport};

use units::Duration;

use crate::trial::{contract_record, not_measured_at};

/// Builds, boots, asks and stops the last stack of `chain`, with those before it behind it. What goes wrong is in the
/// record; no process is left. `waits` is told which stack's build waits for what, and with `None` that it waits no more.
pub fn check(
    chain: &[&StackManifest],
    options: &ChainOptions<'_>,
    waits: &mut dyn FnMut(&str, Option<Shared>),
) -> StackCheck {
    let stack = chain[chain.len() - 1];
    StackCheck {
        version: CHECK_VERSION,
        stack: stack.id.clone(),
        title: stack.title.clone(),
        generation: stack.generation.to_string(),
        upstream: (!stack.upstreams.is_empty()).then(|| stack.upstreams.join(", ")),
        result: result(chain, options, waits),
    }
}

fn result(
    chain: &[&StackManifest],
    options: &ChainOptions<'_>,
    waits: &mut dyn FnMut(&str, Option<Shared>),
) -> CheckResult {
    let missing: Vec<String> = chain
        .iter()
        .flat_map(|stack| stack::missing(stack))
        .map(|it| format!("{} is missing: {}", it.name, it.install))
        .collect();
    if !missing.is_empty() {
        return CheckResult::LeftOut { why: missing.join(", ") };
    }
    match built_and_checked(chain, options, waits) {
        Ok(report) => CheckResult::Checked(Box::new(as_record(report))),
        Err(error) => CheckResult::Failed { error: error.to_string() },
    }
}

fn built_and_checked(
    chain: &[&StackManifest],
    options: &ChainOptions<'_>,
    waits: &mut dyn FnMut(&str, Option<Shared>),
) -> Result<StackReport, StackError> {
    let ChainOptions { proofload_exe, dir, interrupt, .. } = *options;
    let log = dir.join("build.log");
    for stack in chain {
        let options = BuildOptions { proofload_exe, log: &log, interrupt };
        stack::build(stack, &options, &mut |shared| waits(&stack.id, shared))?;
    }
    stack::check(chain, options)
}

fn as_record(report: StackReport) -> Checked {
    let deviations = report.all_mismatches();
    let endpoints = report.endpoints.into_iter().map(|(endpoint, answer)| EndpointCheck {
        name: endpoint.name,
        path: endpoint.path,
        body: String::from_utf8_lossy(&answer.body).into_owned(),
        contract: contract_record(&answer),
    });
    Checked {
        not_measured: report.site.as_ref().map(not_measured_at),
        boot_s: report.boot_took.map(Duration::as_secs_f64),
        rss_bytes: report.usage.as_ref().map(|usage| usage.rss.0),
        threads: report.usage.as_ref().map(|usage| usage.threads),
        endpoints: endpoints.collect(),
        requests_per_connection: report.requests_per_connection.closed_after().map(std::num::NonZeroU32::get),
        requests_tried: match report.requests_per_connection {
            ConnectionCap::After(_) => REQUESTS_MAX,
            ConnectionCap::AtLeast(answered) => answered,
        },
        upstream_connections_max: report.upstream_connections.map(|(_, count)| count),
        deviations,
        stop_s: report.stopped.map(|it| it.took.as_secs_f64()),
        stop_forced: report.stopped.is_some_and(|it| it.forced),
    }
}
