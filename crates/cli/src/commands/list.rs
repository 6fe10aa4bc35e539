//! `proofload list`: the stacks.

use std::process::ExitCode;

use plan::stack::{Catalogue, StackManifest};

use crate::arguments::List;
use crate::exit::Failure;
use crate::output::print;

/// Runs the command.
pub fn run(arguments: &List) -> Result<ExitCode, Failure> {
    let catalogue = Catalogue::load(&arguments.stacks.dir)?;
    if arguments.json {
        let all: Vec<_> = catalogue.iter().map(as_json).collect();
        print(&serde_json::to_string_pretty(&all).expect("a list is plain data"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let width = catalogue.iter().map(|stack| stack.id.len()).max().unwrap_or(0);
    for stack in catalogue.iter() {
        let missing = stack::missing_tools(stack);
        let needs: Vec<String> =
            missing.iter().map(|tool| format!("   needs {}: {}", tool.name, tool.install)).collect();
        print(&format!(
            "{:width$}  {} [{}]{}",
            stack.id,
            stack.title,
            endpoints(stack).join(", "),
            needs.concat()
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn endpoints(stack: &StackManifest) -> Vec<&str> {
    stack.endpoints.iter().map(|endpoint| endpoint.name.as_str()).collect()
}

fn as_json(stack: &StackManifest) -> serde_json::Value {
    let missing: Vec<String> = stack::missing_tools(stack).into_iter().map(|tool| tool.name).collect();
    serde_json::json!({
        "id": stack.id,
        "title": stack.title,
        "family": stack.family,
        "endpoints": endpoints(stack),
        "tools": stack.tools,
        "missing_tools": missing,
    })
}
