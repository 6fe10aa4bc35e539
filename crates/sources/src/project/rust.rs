//! A project in Rust.

use super::{Build, Project, Service, listens, plain_name, texts, which_program};

const MANIFESTS: [&str; 1] = ["Cargo.toml"];
/// Packages by which another one serves.
const SERVERS: [&str; 9] =
    ["actix-web", "axum", "hyper", "poem", "rocket", "salvo", "tide", "tiny_http", "warp"];

/// What Cargo makes a file to be started of.
#[derive(Clone, Copy)]
struct Program<'a> {
    package: &'a str,
    name: &'a str,
    /// Whether its package is meant where only that is named.
    is_default: bool,
    /// Whether its package takes one that serves.
    serves: bool,
}

pub(super) fn found(project: &Project) -> Option<Service> {
    let root = project.text("Cargo.toml")?;
    let members = project.sources(&MANIFESTS).filter_map(|it| {
        let folder = it.path.strip_suffix("Cargo.toml").filter(|it| !it.is_empty())?;
        Some((folder, it.text.as_str()))
    });
    let packages = [("", root)].into_iter().chain(members);
    let all: Vec<Program<'_>> = packages.flat_map(|(folder, text)| programs(project, folder, text)).collect();
    let Program { package, name, .. } = chosen(&all).or_else(|| {
        let package = value_of(section(root, "[package]")?, "name")?;
        Some(Program { package, name: package, is_default: true, serves: true })
    })?;
    let build = [
        "cargo",
        "build",
        "--release",
        "--package",
        package,
        "--bin",
        name,
        "--target-dir",
        "{build_dir}/target",
    ];
    let mut service = Service {
        kind: "Rust (Cargo.toml)".into(),
        name: plain_name(package),
        sources: &[".rs"],
        tools: texts(&["cargo"]),
        build: Some(Build {
            command: texts(&build),
            inputs: texts(&["."]),
            output: format!("target/release/{name}"),
        }),
        command: vec![format!("{{build_dir}}/target/release/{name}")],
        ..Service::default()
    };
    match all.len() {
        0 => service.unsure.push("which program it is: none is where Cargo looks for one".into()),
        1 => {}
        _ => {
            let names: Vec<&str> = all.iter().map(|it| it.name).collect();
            service.unsure.push(which_program(&names, name));
        }
    }
    listens::tell(&mut service, project);
    Some(service)
}

/// Of the first package that serves, else of the first that has some: its default, else the one that is called as the package is,
/// else the first.
fn chosen<'a>(all: &[Program<'a>]) -> Option<Program<'a>> {
    let first = all.iter().find(|it| it.serves).or_else(|| all.first())?;
    let of_package = || all.iter().filter(|it| it.package == first.package);
    let default = of_package().find(|it| it.is_default);
    default.or_else(|| of_package().find(|it| it.name == it.package)).or(Some(first)).copied()
}

/// The programs of the package in a folder: those that its manifest names, and those that lie where Cargo looks for some.
fn programs<'a>(project: &'a Project, folder: &'a str, manifest: &'a str) -> Vec<Program<'a>> {
    let own = section(manifest, "[package]");
    let Some((own, package)) = own.and_then(|own| Some((own, value_of(own, "name")?))) else {
        return Vec::new();
    };
    let named = manifest.split("[[bin]]").skip(1).filter_map(|it| {
        let own = it.split("\n[").next().unwrap_or(it);
        Some((value_of(own, "name")?, value_of(own, "path")))
    });
    let named: Vec<(&str, Option<&str>)> = named.collect();
    let is_there = |path: &str| project.has(&format!("{folder}{path}"));
    let has_name = |path: &str| named.iter().any(|it| it.1 == Some(path));
    // A single one that says no more is of the usual file.
    let is_main =
        |name: &str| !is_there(&format!("src/bin/{name}.rs")) && !is_there(&format!("src/bin/{name}"));
    let main_has_name = has_name("src/main.rs") || matches!(named[..], [(name, None)] if is_main(name));
    let mut names: Vec<&str> = named.iter().map(|it| it.0).collect();
    if is_there("src/main.rs") && !main_has_name && !names.contains(&package) {
        names.push(package);
    }
    let beneath = format!("{folder}src/bin/");
    let others = project.sources(&[".rs"]).filter_map(|it| {
        let path = it.path.strip_prefix(beneath.as_str())?;
        let name = path.strip_suffix("/main.rs").or_else(|| path.strip_suffix(".rs"))?;
        (!name.contains('/') && !has_name(&format!("src/bin/{path}"))).then_some(name)
    });
    for name in others {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let (default, serves) = (value_of(own, "default-run"), takes_server(manifest));
    let program = |name| Program { package, name, is_default: default == Some(name), serves };
    names.into_iter().map(program).collect()
}

/// Whether a manifest takes a package that serves, in whatever table.
fn takes_server(manifest: &str) -> bool {
    let is_one = |line: &str| SERVERS.contains(&line.split(['=', '.', ' ']).next().unwrap_or(line));
    manifest.lines().any(|line| is_one(line.trim()))
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
