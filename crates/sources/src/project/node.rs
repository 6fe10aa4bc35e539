//! A project in JavaScript or TypeScript that runs in Node.

use serde_json::Value;

use super::{Build, Project, Service, is_of_other_kind, listens, plain_name, texts};

/// How the files end that compilers and bundlers read.
const BUILT_FROM: [&str; 11] =
    [".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".vue", ".svelte", ".css", ".scss", ".html"];
/// Folders that they, and tests, write, beside those that nobody looks into.
const MADE: [&str; 2] = ["out", "coverage"];
/// Scripts that start it: the usual one, and those for production, where the usual one builds anew or watches its sources.
const STARTS: [&str; 3] = ["start", "start:prod", "start:production"];
/// The last is where Express's generator has the program itself.
const SOURCES: [&str; 5] = [".js", ".mjs", ".cjs", ".ts", "bin/www"];

pub(super) fn found(project: &Project) -> Option<Service> {
    let package: Value = serde_json::from_str(project.text("package.json")?).ok()?;
    let text = |pointer: &str| package.pointer(pointer).and_then(Value::as_str);
    let starts = STARTS.map(|script| text(&format!("/scripts/{script}")));
    let started = command(project, &starts, text("/main"));
    if started.is_none() && is_of_other_kind(project) {
        // What builds the pages of a program in Ruby or PHP.
        return None;
    }
    let mut service = Service {
        kind: "Node (package.json)".into(),
        name: plain_name(text("/name").unwrap_or(&project.folder)),
        sources: &SOURCES,
        tools: texts(&["node"]),
        ..Service::default()
    };
    service.command = started.unwrap_or_else(|| {
        service.unsure.push("how it is started: package.json has no script `start` and no `main`".into());
        texts(&["node", "index.js"])
    });
    let depends = |key: &str| package.get(key).and_then(Value::as_object).is_some_and(|it| !it.is_empty());
    let is_built = text("/scripts/build").is_some();
    if depends("dependencies") || is_built {
        let manager = manager(project);
        service.tools.push(manager.tool.into());
        service.build = Some(build(project, &manager, is_built));
        if let Some(other) = ["bun.lock", "bun.lockb", ".yarnrc.yml"].into_iter().find(|it| project.has(it)) {
            service.unsure.push(format!("how its packages are installed: there is a {other}"));
        }
        if is_built && made_of(project).is_empty() {
            service.unsure.push(
                "what it is built from: no file looks like a source; list its sources in `inputs`, or it is not built again"
                    .into(),
            );
        }
    }
    listens::tell(&mut service, project);
    Some(service)
}

/// The program itself where the script is one: npm and a shell between would be measured, too.
fn command(project: &Project, starts: &[Option<&str>; 3], main: Option<&str>) -> Option<Vec<String>> {
    let is_plain = |it: &&str| it.starts_with("node ") && !it.contains(['&', '|', ';', '$', '"', '\'', '>']);
    if let Some(plain) = starts.iter().flatten().copied().find(is_plain) {
        return Some(plain.split_whitespace().map(str::to_owned).collect());
    }
    if let Some((script, _)) = STARTS.into_iter().zip(starts).find(|(_, start)| start.is_some()) {
        return Some(texts(&["npm", "run", "--silent", script]));
    }
    let usual = ["server.js", "index.js", "app.js", "server.mjs", "index.mjs"];
    let file = main.or_else(|| usual.into_iter().find(|it| project.has(it)))?;
    Some(texts(&["node", file]))
}

/// What installs packages.
struct Manager {
    tool: &'static str,
    /// As its lock file says, where there is one.
    install: &'static str,
    lock: &'static str,
}

fn manager(project: &Project) -> Manager {
    let of = |lock, tool, install| Manager { tool, install, lock };
    if project.has("pnpm-lock.yaml") {
        of("pnpm-lock.yaml", "pnpm", "pnpm install --frozen-lockfile")
    } else if project.has("yarn.lock") && project.has(".yarnrc.yml") {
        of("yarn.lock", "yarn", "yarn install --immutable")
    } else if project.has("yarn.lock") {
        of("yarn.lock", "yarn", "yarn install --frozen-lockfile")
    } else if project.has("package-lock.json") {
        of("package-lock.json", "npm", "npm ci --no-audit --no-fund")
    } else {
        of("package-lock.json", "npm", "npm install --no-audit --no-fund")
    }
}

fn build(project: &Project, Manager { tool, install, lock }: &Manager, is_built: bool) -> Build {
    let then = if is_built { format!(" && {tool} run build") } else { String::new() };
    let inputs = ["package.json", lock, "tsconfig.json"];
    let sources = if is_built { made_of(project) } else { Vec::new() };
    Build {
        command: vec![
            "sh".into(),
            "-c".into(),
            // The folder is an argument of its own: whatever its name holds, none of it is a command.
            format!("{install}{then} && touch \"$1/installed\""),
            "sh".into(),
            "{build_dir}".into(),
        ],
        inputs: [project.those_of(&inputs), sources].concat(),
        output: "installed".into(),
    }
}

/// What a build is made of: each source at the top, and each folder there that holds some, however a framework calls it.
fn made_of(project: &Project) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for file in project.sources(&BUILT_FROM) {
        let top = file.path.split('/').next().unwrap_or_default();
        if !MADE.contains(&top) && all.iter().all(|it| it != top) {
            all.push(top.to_owned());
        }
    }
    all
}
