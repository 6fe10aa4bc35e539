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
/// Scripts that those run who write it.
const OF_DEVELOPERS: [&str; 5] = ["dev", "start:dev", "develop", "serve", "watch"];
/// What builds anew when a source changes, or serves sources as they are.
const WATCHERS: [&str; 6] =
    ["nodemon", "ts-node-dev", "tsnd", "webpack-dev-server", "live-server", "browser-sync"];
/// The same, with what they are told to do.
const SERVERS: [(&str, &str); 15] = [
    ("next", "dev"),
    ("nuxt", "dev"),
    ("nuxi", "dev"),
    ("astro", "dev"),
    ("remix", "dev"),
    ("react-router", "dev"),
    ("svelte-kit", "dev"),
    ("gatsby", "develop"),
    ("strapi", "develop"),
    ("ng", "serve"),
    ("webpack", "serve"),
    ("vue-cli-service", "serve"),
    ("ember", "serve"),
    ("react-scripts", "start"),
    ("tsx", "watch"),
];
/// How many scripts may run one another.
const SCRIPTS_MAX: usize = 4;
/// The last is where Express's generator has the program itself.
const SOURCES: [&str; 5] = [".js", ".mjs", ".cjs", ".ts", "bin/www"];

pub(super) fn found(project: &Project) -> Option<Service> {
    let package: Value = serde_json::from_str(project.text("package.json")?).ok()?;
    let text = |pointer: &str| package.pointer(pointer).and_then(Value::as_str);
    let starts = STARTS.map(|name| script(&package, name));
    // What watches its sources is for those who write them.
    let of_production = starts.map(|it| it.filter(|script| for_development(&package, script).is_none()));
    let is_watched = starts.iter().any(Option::is_some) && of_production.iter().all(Option::is_none);
    let started = if is_watched { None } else { command(project, &of_production, text("/main")) };
    if started.is_none() && is_of_other_kind(project) {
        // What builds the pages of a program in Ruby or PHP.
        return None;
    }
    let mut service = Service {
        kind: "Node (package.json)".into(),
        name: plain_name(text("/name").unwrap_or(&project.folder)),
        sources: &SOURCES,
        tools: texts(&["node"]),
        hint: Some(
            "In production Express and React are served with NODE_ENV = \"production\" in env. See what else that \
             switches, such as a database.",
        ),
        ..Service::default()
    };
    service.command = started.unwrap_or_else(|| not_as_in_production(&mut service.unsure, &package, &starts));
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
    if let Some(plain) = starts.iter().flatten().copied().find(|it| is_plain(it)) {
        return Some(plain.split_whitespace().map(str::to_owned).collect());
    }
    if let Some((script, _)) = STARTS.into_iter().zip(starts).find(|(_, start)| start.is_some()) {
        return Some(texts(&["npm", "run", "--silent", script]));
    }
    let usual = ["server.js", "index.js", "app.js", "server.mjs", "index.mjs"];
    let file = main.or_else(|| usual.into_iter().find(|it| project.has(it)))?;
    Some(texts(&["node", file]))
}

/// A command without a shell's own words in it.
fn is_plain(script: &str) -> bool {
    script.starts_with("node ") && !script.contains(['&', '|', ';', '$', '"', '\'', '>'])
}

/// What stands in package.json under the name of a script.
fn script<'a>(package: &'a Value, name: &str) -> Option<&'a str> {
    package.get("scripts")?.get(name)?.as_str()
}

/// What of a script, or of one that it runs, is for those who write the service.
fn for_development(package: &Value, text: &str) -> Option<String> {
    let mut text = text;
    for _ in 0..SCRIPTS_MAX {
        if let Some(tool) = watcher(text) {
            return Some(tool);
        }
        text = run_by(package, text)?;
    }
    None
}

/// The tool in a script that watches its sources.
fn watcher(text: &str) -> Option<String> {
    let is_between = |it: char| it.is_whitespace() || "&|;\"'()".contains(it);
    let words: Vec<&str> = text.split(is_between).filter(|it| !it.is_empty()).collect();
    words.iter().enumerate().find_map(|(at, word)| {
        let next = words.get(at + 1).copied().unwrap_or_default();
        let is_server = SERVERS.contains(&(*word, next));
        // Told nothing, these serve.
        let is_bundler = ["vite", "parcel"].contains(word) && next != "build";
        let is_tool = WATCHERS.contains(word) || is_bundler || word.starts_with("--watch");
        if is_server { Some(format!("{word} {next}")) } else { is_tool.then(|| (*word).to_owned()) }
    })
}

/// The script that another one runs: of `npm run dev`, `yarn dev`.
fn run_by<'a>(package: &'a Value, text: &str) -> Option<&'a str> {
    let mut words = text.split_whitespace();
    if !["npm", "pnpm", "yarn"].contains(&words.next()?) {
        return None;
    }
    let name = words.find(|it| *it != "run" && !it.starts_with('-'))?;
    script(package, name)
}

/// What is written down of a project that says nothing of production.
fn not_as_in_production(
    unsure: &mut Vec<String>,
    package: &Value,
    starts: &[Option<&str>; 3],
) -> Vec<String> {
    let tool_of = |text: &str| for_development(package, text);
    let Some((name, text)) = STARTS.into_iter().zip(starts).find_map(|(name, it)| Some((name, (*it)?)))
    else {
        let runs = OF_DEVELOPERS.into_iter().find_map(|it| Some((it, tool_of(script(package, it)?)?)));
        let more = runs.map_or_else(String::new, |(name, tool)| {
            format!("; `{name}` runs `{tool}`, for development, whose figures say nothing of production")
        });
        unsure.push(format!("how it is started: package.json has no script `start` and no `main`{more}"));
        return texts(&["node", "index.js"]);
    };
    let tool = tool_of(text).unwrap_or_default();
    if let Some(command) = unwatched(text) {
        let command_line = command.join(" ");
        unsure.push(format!(
            "whether it is started so: `{name}` runs `{tool}`, which is for development, and `{command_line}` is written down \
             in its place"
        ));
        return command;
    }
    unsure.push(format!(
        "whether that is what you want to know: `{name}` runs `{tool}`, for development, whose figures say nothing of \
         production; write a script `start:prod` that starts what is built and run `proofload init --force`, or write its \
         command here"
    ));
    texts(&["npm", "run", "--silent", name])
}

/// The program itself, of what only watches its file; `None` where more is said.
fn unwatched(text: &str) -> Option<Vec<String>> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words[..] {
        ["nodemon", file] if [".js", ".mjs", ".cjs"].iter().any(|it| file.ends_with(it)) => {
            Some(texts(&["node", file]))
        }
        ["node", ..] if is_plain(text) && !words.contains(&"--watch-path") => {
            Some(words.iter().filter(|it| !it.starts_with("--watch")).map(|it| (*it).to_owned()).collect())
        }
        _ => None,
    }
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
