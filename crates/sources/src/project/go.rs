//! A project in Go.

use super::{Build, Project, Service, listens, plain_name, texts};

pub(super) fn found(project: &Project) -> Option<Service> {
    let module = project.text("go.mod")?;
    let path = module.lines().find_map(|line| line.trim().strip_prefix("module "))?;
    // Without a comment, and without the quotes that it may have.
    let path = path.split_whitespace().next()?.trim_matches('"');
    let mains: Vec<&str> = project
        .sources(&[".go"])
        .filter(|it| it.text.contains("package main") && it.text.contains("func main()"))
        .map(|it| it.path.rsplit_once('/').map_or("", |(folder, _)| folder))
        .collect();
    let main = mains.iter().find(|it| it.is_empty()).or_else(|| mains.first()).copied().unwrap_or("");
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
        service.unsure.push(format!("which program it is: there are {}", mains.len()));
    }
    listens::tell(&mut service, project);
    Some(service)
}

/// Whether a part of a module's path is its major version: `v2`.
fn is_major(part: &str) -> bool {
    part.strip_prefix('v').is_some_and(|it| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit()))
}
