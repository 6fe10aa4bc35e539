//! A project in Rust.

use std::path::Path;

use plan::toml_file;
use serde_json::{Map, Value};

use super::{
    Around, Build, Project, ProjectFile, Service, listens, plain_name, resolved, texts, which_program,
};

pub(super) const MANIFEST: &str = "Cargo.toml";
const MANIFESTS: [&str; 1] = [MANIFEST];
/// Packages by which another one serves.
const SERVERS: [&str; 9] =
    ["actix-web", "axum", "hyper", "poem", "rocket", "salvo", "tide", "tiny_http", "warp"];
/// The table of what a program takes, and all of what it is built with.
const TAKEN: [&str; 1] = ["dependencies"];
const BUILT_WITH: [&str; 2] = ["dependencies", "build-dependencies"];
/// What a workspace says of all that is built in it.
const OF_ALL: [&str; 4] = [MANIFEST, "Cargo.lock", "rust-toolchain", "rust-toolchain.toml"];
/// Packages beside one that are followed: what goes on is no project.
const BESIDE_MAX: usize = 1_000;

/// What Cargo makes a file to be started of.
#[derive(Clone, Copy)]
struct Program<'a> {
    package: &'a str,
    name: &'a str,
    /// Whether its package is meant where only that is named.
    is_default: bool,
    /// Whether its package takes one that serves.
    serves: bool,
    /// Features without which it is not built.
    features: &'a [Value],
}

/// What Cargo reads in a folder, which ends with `/` where it is none at the top.
struct Manifest<'a> {
    folder: &'a str,
    toml: Value,
}

impl<'a> Manifest<'a> {
    /// That in a file, where it is one and can be read.
    fn read(file: &'a ProjectFile) -> Option<Self> {
        let folder = file.path.strip_suffix(MANIFEST).filter(|it| it.is_empty() || it.ends_with('/'))?;
        Some(Self { folder, toml: parsed(&file.text)? })
    }
}

/// Whether a manifest at the top is of several packages.
pub(super) fn is_workspace(project: &Project) -> bool {
    project.text(MANIFEST).and_then(parsed).is_some_and(|it| it.get("workspace").is_some())
}

pub(super) fn found(project: &Project) -> Option<Service> {
    let manifests = manifests(project);
    let root = top(&manifests)?;
    let all: Vec<Program<'_>> = manifests.iter().flat_map(|it| programs(project, it)).collect();
    let Program { package, name, features, .. } = chosen(&all).or_else(|| {
        let package = name_of(root)?;
        Some(Program { package, name: package, is_default: true, serves: true, features: &[] })
    })?;
    let features: Vec<&str> = features.iter().filter_map(Value::as_str).collect();
    let (inputs, is_all) = inputs(project, &manifests);
    let mut service = Service {
        kind: "Rust (Cargo.toml)".into(),
        name: plain_name(package),
        sources: &[".rs"],
        tools: texts(&["cargo"]),
        build: Some(Build {
            command: build_command(package, name, &features.join(",")),
            inputs,
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
    if !is_all {
        service.unsure.push(
            "what it is built from: it takes packages that lie beside it; list their folders in `inputs`, or it is not built \
             again when they change"
                .into(),
        );
    }
    listens::tell(&mut service, project);
    Some(service)
}

fn build_command(package: &str, name: &str, features: &str) -> Vec<String> {
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
    let with = if features.is_empty() { Vec::new() } else { texts(&["--features", features]) };
    [texts(&build), with].concat()
}

/// Of the first package that serves, else of the first that has some: its default, else the one that is called as the package is,
/// else the first.
fn chosen<'a>(all: &[Program<'a>]) -> Option<Program<'a>> {
    let first = all.iter().find(|it| it.serves).or_else(|| all.first())?;
    let of_package = || all.iter().filter(|it| it.package == first.package);
    let default = of_package().find(|it| it.is_default);
    default.or_else(|| of_package().find(|it| it.name == it.package)).or(Some(first)).copied()
}

/// A program as a manifest names it.
#[derive(Clone, Copy)]
struct Bin<'a> {
    name: &'a str,
    path: Option<&'a str>,
    features: &'a [Value],
}

impl<'a> Bin<'a> {
    fn read(it: &'a Value) -> Option<Self> {
        let text = |key: &str| it.get(key).and_then(Value::as_str);
        let features = it.get("required-features").and_then(Value::as_array);
        Some(Self {
            name: text("name")?,
            path: text("path"),
            features: features.map_or(&[][..], Vec::as_slice),
        })
    }

    /// One that lies where Cargo looks for it.
    const fn found(name: &'a str) -> Self {
        Self { name, path: None, features: &[] }
    }
}

/// The programs of a package: those that its manifest names, and those that lie where Cargo looks for some.
fn programs<'a>(project: &'a Project, manifest: &'a Manifest<'_>) -> Vec<Program<'a>> {
    let Manifest { folder, toml } = manifest;
    let Some(package) = name_of(toml) else { return Vec::new() };
    let listed = toml.get("bin").and_then(Value::as_array).into_iter().flatten();
    let named: Vec<Bin<'_>> = listed.filter_map(Bin::read).collect();
    let is_there = |path: &str| project.has(&format!("{folder}{path}"));
    let has_name = |path: &str| named.iter().any(|it| it.path == Some(path));
    // A single one that says no more is of the usual file.
    let is_main =
        |name: &str| !is_there(&format!("src/bin/{name}.rs")) && !is_there(&format!("src/bin/{name}"));
    let main_has_name =
        has_name("src/main.rs") || matches!(named[..], [Bin { name, path: None, .. }] if is_main(name));
    let looks_for_some = toml.pointer("/package/autobins").and_then(Value::as_bool) != Some(false);
    let main = (is_there("src/main.rs") && !main_has_name).then_some(package);
    let beneath = format!("{folder}src/bin/");
    let others = project.sources(&[".rs"]).filter_map(|it| {
        let path = it.path.strip_prefix(beneath.as_str())?;
        let name = path.strip_suffix("/main.rs").or_else(|| path.strip_suffix(".rs"))?;
        (!name.contains('/') && !has_name(&format!("src/bin/{path}"))).then_some(name)
    });
    let mut all = named.clone();
    for name in main.into_iter().chain(others).filter(|_| looks_for_some) {
        if all.iter().all(|it| it.name != name) {
            all.push(Bin::found(name));
        }
    }
    let default = toml.pointer("/package/default-run").and_then(Value::as_str);
    let serves = takes_server(toml);
    let program = |Bin { name, features, .. }: Bin<'a>| Program {
        package,
        name,
        is_default: default == Some(name),
        serves,
        features,
    };
    all.into_iter().map(program).collect()
}

/// Those of a project that can be read, that of the whole first.
fn manifests(project: &Project) -> Vec<Manifest<'_>> {
    let mut all: Vec<Manifest<'_>> = project.sources(&MANIFESTS).filter_map(Manifest::read).collect();
    all.sort_by_key(|it| !it.folder.is_empty());
    all
}

fn parsed(text: &str) -> Option<Value> {
    toml_file::parse(Path::new(MANIFEST), text, "Cargo's manual").ok()
}

fn name_of(manifest: &Value) -> Option<&str> {
    manifest.pointer("/package/name")?.as_str()
}

/// Whether a program of a manifest takes a package that serves, under whatever name.
fn takes_server(manifest: &Value) -> bool {
    let mut taken = packages(manifest, &TAKEN);
    taken.any(|(name, it)| {
        let package = it.get("package").and_then(Value::as_str).unwrap_or(name);
        SERVERS.contains(&package)
    })
}

/// The packages in these tables of a manifest, and in the same of each system that it says something of.
fn packages<'a>(manifest: &'a Value, tables: &'a [&'a str]) -> impl Iterator<Item = (&'a String, &'a Value)> {
    let systems = manifest.get("target").and_then(Value::as_object).into_iter().flat_map(Map::values);
    [manifest]
        .into_iter()
        .chain(systems)
        .flat_map(move |it| tables.iter().filter_map(move |table| it.get(*table)?.as_object()).flatten())
}

/// The folders that the packages lie in that a manifest is built with, from the top on. `None` of one that leads out of that, or
/// is named by a workspace that is not known. `of_all` is what the manifest at the top says.
fn folders_taken<'a>(
    manifest: &'a Manifest<'_>,
    of_all: Option<&'a Value>,
) -> impl Iterator<Item = Option<String>> {
    packages(&manifest.toml, &BUILT_WITH).filter_map(move |(name, it)| {
        if it.get("workspace").and_then(Value::as_bool) != Some(true) {
            return Some(resolved(manifest.folder, it.get("path")?.as_str()?));
        }
        let Some(known) = of_all.and_then(|it| it.pointer("/workspace/dependencies")) else {
            // What lies deeper may be of another workspace.
            return manifest.folder.is_empty().then_some(None);
        };
        Some(resolved("", known.get(name)?.get("path")?.as_str()?))
    })
}

/// The manifest at the top.
fn top<'a>(manifests: &'a [Manifest<'_>]) -> Option<&'a Value> {
    manifests.iter().find(|it| it.folder.is_empty()).map(|it| &it.toml)
}

/// What its build is made of, and whether that is all: its own folder, and the packages beside it that it takes, with what these
/// take.
fn inputs(project: &Project, manifests: &[Manifest<'_>]) -> (Vec<String>, bool) {
    let own = texts(&["."]);
    let is_by_itself = is_workspace(project);
    let around = project.around.as_deref().filter(|it| !is_by_itself && is_workspace(&it.whole));
    let Some(around) = around else {
        let root = top(manifests);
        let leads_out = |it: &Manifest<'_>| folders_taken(it, root).any(|folder| folder.is_none());
        return (own, !manifests.iter().any(leads_out));
    };
    let (beside, is_all) = beside(around, manifests);
    let of_all = texts(&OF_ALL).into_iter().filter(|it| around.whole.has(it));
    let others = of_all.chain(beside).map(|path| format!("{}/{path}", around.way));
    (own.into_iter().chain(others).collect(), is_all)
}

/// The folders beside a member of a workspace that it takes packages from, and whether that is all of them. `manifests` are its own.
fn beside(Around { member, whole, .. }: &Around, manifests: &[Manifest<'_>]) -> (Vec<String>, bool) {
    // One that it takes may lie among tests or examples.
    let all: Vec<Manifest<'_>> = whole.files.iter().filter_map(Manifest::read).collect();
    let root = top(&all);
    let beneath = format!("{member}/");
    let is_own = |it: &&Manifest<'_>| {
        let folder = it.folder.strip_prefix(beneath.as_str());
        folder.is_some_and(|folder| manifests.iter().any(|own| own.folder == folder))
    };
    let mut looked_at: Vec<&Manifest<'_>> = all.iter().filter(is_own).collect();
    let (mut beside, mut is_all) = (Vec::new(), !looked_at.is_empty());
    let mut at = 0;
    while let Some(manifest) = looked_at.get(at).copied() {
        at += 1;
        for taken in folders_taken(manifest, root) {
            let Some(taken) = taken.filter(|_| beside.len() < BESIDE_MAX) else {
                is_all = false;
                continue;
            };
            let folder = format!("{taken}/");
            if folder.starts_with(&beneath) || beside.contains(&taken) {
                continue;
            }
            let of_taken = all.iter().find(|it| it.folder == folder);
            // Of all that there is, whatever it takes is a part.
            is_all &= of_taken.is_some() || taken.is_empty();
            looked_at.extend(of_taken);
            beside.push(taken);
        }
    }
    (beside, is_all)
}
