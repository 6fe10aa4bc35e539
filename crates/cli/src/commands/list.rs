//! `proofload list`: the stacks.

use std::process::ExitCode;

use plan::stack::{Catalogue, StackManifest, Variant};

use crate::arguments::List;
use crate::commands::stacks::name_broken;
use crate::exit::Failure;
use crate::output::{print, print_json};
use crate::workbench::catalogue;

/// Runs the command.
pub fn run(arguments: &List) -> Result<ExitCode, Failure> {
    let catalogue = catalogue(&arguments.stacks.dir)?;
    if arguments.json {
        name_broken(&catalogue);
        let all: Vec<_> = catalogue.iter().map(|stack| as_json(&catalogue, stack)).collect();
        print_json(&serde_json::to_string_pretty(&all).expect("a list is plain data"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let ids = catalogue.iter().map(|stack| stack.id.as_str()).chain(catalogue.broken().map(|(id, _)| id));
    let width = ids.map(str::len).max().unwrap_or(0);
    for stack in catalogue.iter() {
        let missing = stack::missing(stack);
        let needs: Vec<String> =
            missing.iter().map(|it| format!("   needs {}: {}", it.name, it.install)).collect();
        let behind = match &*stack.upstreams {
            [] => String::new(),
            upstreams => format!(" in front of {}", upstreams.join(", ")),
        };
        let endpoints = endpoints(stack).join(", ");
        let (id, generation, title) = (&stack.id, stack.generation, &stack.title);
        print(&format!("{id:width$}  {generation:8}  {title}{behind} [{endpoints}]{}", needs.concat()))?;
        if arguments.variants {
            for variant in variants(&catalogue, &stack.id) {
                print(&format!("  {id}@{}: {}", variant.name, variant.description))?;
            }
        }
    }
    for (id, error) in catalogue.broken() {
        print(&format!("{id:width$}  broken    {error}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn endpoints(stack: &StackManifest) -> Vec<&str> {
    stack.endpoints.iter().map(|endpoint| endpoint.name.as_str()).collect()
}

fn variants<'a>(catalogue: &'a Catalogue, id: &str) -> Vec<&'a Variant> {
    let all = catalogue.iter_with_variants().filter_map(|stack| stack.variant.as_ref());
    all.filter(|variant| variant.of == id).collect()
}

fn as_json(catalogue: &Catalogue, stack: &StackManifest) -> serde_json::Value {
    let missing: Vec<String> = stack::missing(stack).into_iter().map(|it| it.name).collect();
    let variants = variants(catalogue, &stack.id)
        .into_iter()
        .map(|variant| serde_json::json!({ "name": variant.name, "description": variant.description }));
    serde_json::json!({
        "id": stack.id,
        "title": stack.title,
        "family": stack.family,
        "generation": stack.generation.to_string(),
        "description": stack.description,
        "upstream": stack.upstreams.first(),
        "upstreams": stack.upstreams,
        "endpoints": endpoints(stack),
        "parameters": stack.parameters,
        "variants": variants.collect::<Vec<_>>(),
        "tools": stack.needs.tools,
        "jdk": stack.needs.jdk,
        "java": stack.needs.java,
        "libraries": stack.needs.libraries,
        "missing": missing,
    })
}
