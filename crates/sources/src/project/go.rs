//! A project in Go.

use super::{Build, Project, ProjectFile, Service, listens, plain_name, texts, which_program};

/// What stands in the sources of a program that serves.
const SERVES: [&str; 8] = [
    "ListenAndServe",
    "http.Server{",
    "http.HandleFunc(",
    "net.Listen(",
    "gin.New(",
    "gin.Default(",
    "echo.New(",
    "fiber.New(",
];
/// How the folders of such programs are called, where all of that is in another package.
const USUAL: [&str; 8] = ["api", "app", "backend", "http", "serve", "server", "service", "web"];

pub(super) fn found(project: &Project) -> Option<Service> {
    let module = project.text("go.mod")?;
    let path = module.lines().find_map(|line| line.trim().strip_prefix("module "))?;
    // Without a comment, and without the quotes that it may have.
    let path = path.split_whitespace().next()?.trim_matches('"');
    let mut mains: Vec<&str> = project
        .sources(&[".go"])
        .filter(|it| it.text.contains("package main") && it.text.contains("func main()"))
        .map(|it| folder_of(&it.path))
        .collect();
    // A program may have a main for each system.
    mains.sort_unstable();
    mains.dedup();
    // Of those that are as likely the first, which is that of the module's own folder.
    let main = mains.iter().rev().copied().max_by_key(|it| likelihood(project, it)).unwrap_or("");
    let package = if main.is_empty() { ".".to_owned() } else { format!("./{main}") };
    let mut service = Service {
        kind: "Go (go.mod)".into(),
        name: plain_name(path.rsplit('/').find(|part| !is_major(part)).unwrap_or(path)),
        sources: &[".go"],
        tools: texts(&["go"]),
        build: Some(Build {
            command: [texts(&["go", "build", "-o", "{build_dir}/service"]), vec![package]].concat(),
            inputs: texts(&["."]),
            output: "service".into(),
        }),
        command: texts(&["{build_dir}/service"]),
        ..Service::default()
    };
    if mains.len() > 1 {
        let names: Vec<&str> = mains.iter().map(|it| shown(it)).collect();
        service.unsure.push(which_program(&names, shown(main)));
    }
    if takes_from_beside(module) {
        service.unsure.push(
            "what it is built from: go.mod takes modules that lie beside it; list their folders in `inputs`, or it is not \
             built again when they change"
                .into(),
        );
    }
    listens::tell(&mut service, project);
    Some(service)
}

/// Whether go.mod puts a folder beside its own in the place of a module.
fn takes_from_beside(module: &str) -> bool {
    let mut put = module.lines().filter_map(|line| Some(line.split_once("=>")?.1));
    put.any(|it| it.trim_start().starts_with("../"))
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// A folder as it is named, also that of the module itself.
fn shown(folder: &str) -> &str {
    if folder.is_empty() { "." } else { folder }
}

/// How likely the program in a folder is the service, beside others: what is at the top of the module is what it is for.
fn likelihood(project: &Project, folder: &str) -> u8 {
    let is_its = |it: &&ProjectFile| folder_of(&it.path) == folder;
    let serves = |it: &ProjectFile| SERVES.iter().any(|words| it.text.contains(words));
    let name = folder.rsplit('/').next().unwrap_or(folder);
    if folder.is_empty() {
        3
    } else if project.sources(&[".go"]).filter(is_its).any(serves) {
        2
    } else {
        u8::from(USUAL.contains(&name))
    }
}

/// Whether a part of a module's path is its major version: `v2`.
fn is_major(part: &str) -> bool {
    part.strip_prefix('v').is_some_and(|it| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit()))
}
