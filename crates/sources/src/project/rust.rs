//! A project in Rust.

use super::{Build, Project, Service, listens, plain_name, texts};

pub(super) fn found(project: &Project) -> Option<Service> {
    let manifest = project.text("Cargo.toml")?;
    let package = if section(manifest, "[package]").is_some() {
        manifest
    } else {
        // Of a workspace, the first member that is a program.
        let is_program = |path: &str| {
            path.strip_suffix("Cargo.toml").is_some_and(|folder| project.has(&format!("{folder}src/main.rs")))
        };
        &project.files.iter().find(|it| is_program(&it.path))?.text
    };
    let name = value_of(section(package, "[package]")?, "name")?;
    let bin = section(package, "[[bin]]").and_then(|it| value_of(it, "name")).unwrap_or(name);
    let build = [
        "cargo",
        "build",
        "--release",
        "--package",
        name,
        "--bin",
        bin,
        "--target-dir",
        "{build_dir}/target",
    ];
    let mut service = Service {
        kind: "Rust (Cargo.toml)".into(),
        name: plain_name(name),
        sources: &[".rs"],
        tools: texts(&["cargo"]),
        build: Some(Build {
            command: texts(&build),
            inputs: texts(&["."]),
            output: format!("target/release/{bin}"),
        }),
        command: vec![format!("{{build_dir}}/target/release/{bin}")],
        ..Service::default()
    };
    listens::tell(&mut service, project);
    Some(service)
}

/// What is between a heading of a TOML file and the next one.
fn section<'a>(text: &'a str, heading: &str) -> Option<&'a str> {
    let (_, behind) = text.split_once(heading)?;
    Some(behind.split("\n[").next().unwrap_or(behind))
}

/// The text that a key is given in a section.
fn value_of<'a>(section: &'a str, key: &str) -> Option<&'a str> {
    section.lines().find_map(|line| {
        let value = line.trim().strip_prefix(key)?.trim_start().strip_prefix('=')?;
        value.split('"').nth(1)
    })
}
