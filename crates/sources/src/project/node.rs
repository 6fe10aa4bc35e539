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
const BUN: &str = "bun";
/// What no command has that takes no shell.
const OF_SHELL: [char; 7] = ['&', '|', ';', '$', '"', '\'', '>'];
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
    if started.is_none() && (is_of_other_kind(project) || is_workspace(project, &package)) {
        // What builds the pages of a program in Ruby or PHP, or what packages have in common of which one is the service.
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
    let manager = manager(project);
    let (set, started) = started.unzip();
    service.command =
        started.unwrap_or_else(|| not_as_in_production(&mut service.unsure, &package, &starts, &manager));
    if service.command[0] == BUN {
        service.kind = "Bun (package.json)".into();
        service.tools = texts(&[BUN]);
    }
    install(&mut service, project, &package, &manager);
    listens::tell(&mut service, project);
    for (name, value) in set.unwrap_or_default() {
        // Where it listens is for each trial to say.
        if service.env.iter().all(|(known, _)| *known != name) {
            service.env.push((name, value));
        }
    }
    if service.env.iter().any(|(name, _)| name == "NODE_ENV") {
        service.hint = None;
    }
    Some(service)
}

/// Variables of the environment, and their values.
type Variables = Vec<(String, String)>;

/// Has it installed and built, where there is something to be.
fn install(service: &mut Service, project: &Project, package: &Value, manager: &Manager) {
    let packages = package.get("dependencies").and_then(Value::as_object);
    let is_built = script(package, "build").is_some();
    if !is_built && packages.is_none_or(serde_json::Map::is_empty) {
        return;
    }
    if service.tools.iter().all(|it| it != manager.tool) {
        service.tools.push(manager.tool.into());
    }
    service.build = Some(build(project, manager, is_built));
    if project.has(".yarnrc.yml") {
        service.unsure.push("how its packages are installed: there is a .yarnrc.yml".into());
    }
    if takes_of_workspace(package) {
        service.unsure.push(
            "how its packages are installed: some lie beside it, in a workspace; have the build go to the folder of that, \
             install and build there, and list it in `inputs`"
                .into(),
        );
    }
    if is_built && made_of(project).is_empty() {
        service.unsure.push(
            "what it is built from: no file looks like a source; list its sources in `inputs`, or it is not built again"
                .into(),
        );
    }
}

/// The program itself where the script is one, with what is set for it: npm and a shell between would be measured, too.
fn command(
    project: &Project,
    starts: &[Option<&str>; 3],
    main: Option<&str>,
) -> Option<(Variables, Vec<String>)> {
    if let Some((set, program)) = starts.iter().flatten().find_map(|it| plain(it)) {
        return Some((set, program.split_whitespace().map(str::to_owned).collect()));
    }
    if let Some((script, _)) = STARTS.into_iter().zip(starts).find(|(_, start)| start.is_some()) {
        return Some((Variables::new(), manager(project).run(script)));
    }
    let usual = ["server.js", "index.js", "app.js", "server.mjs", "index.mjs"];
    let file = main.or_else(|| usual.into_iter().find(|it| project.has(it)))?;
    Some((Variables::new(), texts(&["node", file])))
}

/// A program behind what is set for it, as in `NODE_ENV=production node a.js`, where no other word of a script is a shell's.
fn plain(script: &str) -> Option<(Variables, &str)> {
    let mut program = script.trim_start();
    program = program.strip_prefix("cross-env ").unwrap_or(program).trim_start();
    let mut set = Variables::new();
    while let Some((name, value, behind)) = assignment(program) {
        set.push((name.to_owned(), value.to_owned()));
        program = behind;
    }
    (is_plain(program) && !script.contains(OF_SHELL)).then_some((set, program))
}

/// The variable that the first word of a script sets, its value, and what stands behind it.
fn assignment(script: &str) -> Option<(&str, &str, &str)> {
    let (word, behind) = script.split_once(' ')?;
    let (name, value) = word.split_once('=')?;
    let is_name = !name.is_empty() && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_');
    // In the file they are placeholders.
    (is_name && !value.contains(['{', '}'])).then_some((name, value, behind.trim_start()))
}

/// A command without a shell's own words in it.
fn is_plain(script: &str) -> bool {
    let is_program = script.starts_with("node ") || is_of_bun(script);
    is_program && !script.contains(OF_SHELL)
}

/// Whether Bun runs a file, and not another script by its name.
fn is_of_bun(script: &str) -> bool {
    let mut words = script.split_whitespace();
    let is_bun = words.next() == Some("bun");
    let what = words.find(|it| *it != "run" && !it.starts_with('-'));
    is_bun && what.is_some_and(|it| [".ts", ".tsx", ".js", ".mjs"].iter().any(|end| it.ends_with(end)))
}

/// Whether it is of several packages that lie in folders of it.
fn is_workspace(project: &Project, package: &Value) -> bool {
    let says_so = package.get("workspaces").is_some() || project.has("pnpm-workspace.yaml");
    says_so && project.files.iter().any(|it| it.path.ends_with("/package.json"))
}

/// Whether it takes packages that lie beside it.
fn takes_of_workspace(package: &Value) -> bool {
    let all = package.get("dependencies").and_then(Value::as_object).into_iter().flatten();
    all.filter_map(|(_, version)| version.as_str()).any(|it| it.starts_with("workspace:"))
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
        let is_option = word.starts_with("--watch") || *word == "--hot";
        let is_tool = WATCHERS.contains(word) || is_bundler || is_option;
        if is_server { Some(format!("{word} {next}")) } else { is_tool.then(|| (*word).to_owned()) }
    })
}

/// The script that another one runs: of `npm run dev`, `yarn dev`.
fn run_by<'a>(package: &'a Value, text: &str) -> Option<&'a str> {
    let mut words = text.split_whitespace();
    if !["npm", "pnpm", "yarn", BUN].contains(&words.next()?) {
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
    manager: &Manager,
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
    manager.run(name)
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

impl Manager {
    /// How it runs a script of package.json.
    fn run(&self, script: &str) -> Vec<String> {
        match self.tool {
            // Else it says first what it runs.
            "npm" => texts(&["npm", "run", "--silent", script]),
            tool => texts(&[tool, "run", script]),
        }
    }
}

fn manager(project: &Project) -> Manager {
    let of = |lock, tool, install| Manager { tool, install, lock };
    if project.has("pnpm-lock.yaml") {
        of("pnpm-lock.yaml", "pnpm", "pnpm install --frozen-lockfile")
    } else if project.has("yarn.lock") && project.has(".yarnrc.yml") {
        of("yarn.lock", "yarn", "yarn install --immutable")
    } else if project.has("yarn.lock") {
        of("yarn.lock", "yarn", "yarn install --frozen-lockfile")
    } else if let Some(lock) = ["bun.lock", "bun.lockb"].into_iter().find(|it| project.has(it)) {
        of(lock, BUN, "bun install --frozen-lockfile")
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
