//! A project in JavaScript or TypeScript that runs in Node.

use plan::shell::quoted;
use serde_json::Value;

use super::workspace::{self, PACKAGE, Workspace, script};
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
/// Files by which packages are locked, and what does it. What is declared by name is one of these.
const LOCKED_BY: [(&str, &str); 6] = [
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lock", BUN),
    ("bun.lockb", BUN),
    ("package-lock.json", "npm"),
    ("npm-shrinkwrap.json", "npm"),
];
/// The settings of Yarn from version 2 on.
const OF_YARN: &str = ".yarnrc.yml";
/// Those of TypeScript's compiler.
const OF_COMPILER: &str = "tsconfig.json";
/// How versions begin that are folders.
const OF_FOLDERS: [&str; 3] = ["file:", "link:", "portal:"];
/// What in a script reads `PORT` of itself.
const READ_PORT: [&str; 7] = [
    "next start",
    ".next/standalone/server.js",
    "nuxt start",
    ".output/server/index.mjs",
    "react-router-serve",
    "remix-serve",
    "fastify start",
];
/// How many scripts may run one another.
const SCRIPTS_MAX: usize = 4;
/// The last is where Express's generator has the program itself.
const SOURCES: [&str; 5] = [".js", ".mjs", ".cjs", ".ts", "bin/www"];

pub(super) fn found(project: &Project) -> Option<Service> {
    let package = package(project)?;
    let text = |pointer: &str| package.pointer(pointer).and_then(Value::as_str);
    let starts = STARTS.map(|name| script(&package, name));
    // What watches its sources is for those who write them.
    let of_production = starts.map(|it| it.filter(|script| for_development(&package, script).is_none()));
    let is_watched = starts.iter().any(Option::is_some) && of_production.iter().all(Option::is_none);
    let workspace = Workspace::of(project, &package);
    let manager = manager(project, &package, workspace.as_ref());
    let started = if is_watched { None } else { command(project, &of_production, text("/main"), &manager) };
    if started.is_none() && (is_of_other_kind(project) || has_members(project, &package)) {
        // What builds the pages of a program in Ruby or PHP, or what packages have in common of which one is the service.
        return None;
    }
    let mut service = Service {
        kind: "Node (package.json)".into(),
        name: plain_name(text("/name").unwrap_or(&project.folder)),
        sources: &SOURCES,
        tools: texts(&["node"]),
        reads_port: of_production.iter().flatten().any(|it| reads_port(it)),
        hint: Some(
            "In production Express and React are served with NODE_ENV = \"production\" in env. See what else that \
             switches, such as a database.",
        ),
        ..Service::default()
    };
    let (set, started) = started.unzip();
    service.command =
        started.unwrap_or_else(|| not_as_in_production(&mut service.unsure, &package, &starts, &manager));
    if service.command[0] == BUN {
        service.kind = "Bun (package.json)".into();
        service.tools = texts(&[BUN]);
    }
    install(&mut service, project, &package, &Installed { manager, workspace });
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

/// What is said in the package.json of a folder.
fn package(project: &Project) -> Option<Value> {
    serde_json::from_str(project.text(PACKAGE)?).ok()
}

/// Whether what a script starts reads `PORT`: not where the script itself says the port.
fn reads_port(script: &str) -> bool {
    let has = |says_so: fn(&str) -> bool| script.split_whitespace().any(says_so);
    let is_told = has(|it| it.starts_with("-p") || it.starts_with("--port")) && !script.contains("PORT");
    // Of a program by itself it is left out.
    let is_set = has(|it| it.starts_with("PORT=")) && plain(script).is_none();
    !is_told && !is_set && READ_PORT.iter().any(|words| script.contains(words))
}

/// How and where a package's packages are installed.
struct Installed<'a> {
    manager: Manager,
    /// That of which it is a member, where it is one.
    workspace: Option<Workspace<'a>>,
}

impl Installed<'_> {
    /// Whether there is such a file where they are installed.
    fn has(&self, project: &Project, file: &str) -> bool {
        self.workspace.as_ref().map_or(project, |it| &it.around.whole).has(file)
    }
}

/// Has it installed and built, where there is something to be.
fn install(service: &mut Service, project: &Project, package: &Value, installed: &Installed<'_>) {
    let Installed { manager, workspace } = installed;
    let packages = package.get("dependencies").and_then(Value::as_object);
    let is_built = script(package, "build").is_some();
    if !is_built && packages.is_none_or(serde_json::Map::is_empty) {
        return;
    }
    if service.tools.iter().all(|it| it != manager.tool) {
        service.tools.push(manager.tool.into());
    }
    service.build = Some(match workspace {
        Some(workspace) => build_in(workspace, project, manager, is_built),
        None => build(project, manager, is_built),
    });
    if installed.has(project, OF_YARN) {
        service.unsure.push(format!("how its packages are installed: there is a {OF_YARN}"));
    }
    let is_known = match workspace {
        Some(workspace) => workspace.has_all_of(package),
        None => workspace::of_workspace(package).next().is_none(),
    };
    if !is_known {
        service.unsure.push(
            "how its packages are installed: some lie beside it, in a workspace; have the build go to the folder of that, \
             install and build there, and list it in `inputs`"
                .into(),
        );
    }
    let copied = of_folders(package);
    if !copied.is_empty() {
        service.unsure.push(format!(
            "what it is built from: it takes {} from beside it; list that in `inputs`, or it is not built again when that \
             changes",
            copied.join(", ")
        ));
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
    manager: &Manager,
) -> Option<(Variables, Vec<String>)> {
    if let Some((set, program)) = starts.iter().flatten().find_map(|it| plain(it)) {
        return Some((set, program.split_whitespace().map(str::to_owned).collect()));
    }
    if let Some((script, _)) = STARTS.into_iter().zip(starts).find(|(_, start)| start.is_some()) {
        return Some((Variables::new(), manager.run(script)));
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
fn has_members(project: &Project, package: &Value) -> bool {
    let is_member = |path: &str| path.strip_suffix(PACKAGE).is_some_and(|it| it.ends_with('/'));
    workspace::is_workspace(project, package) && project.files.iter().any(|it| is_member(&it.path))
}

/// The folders beside it that it takes packages from by their path.
fn of_folders(package: &Value) -> Vec<&str> {
    let all = package.get("dependencies").and_then(Value::as_object).into_iter().flatten();
    let versions = all.filter_map(|(_, version)| version.as_str());
    let folders = versions.filter_map(|it| OF_FOLDERS.iter().find_map(|kind| it.strip_prefix(*kind)));
    folders.filter(|it| it.starts_with("..")).collect()
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
    lock: Option<&'static str>,
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

    /// Of `place`, where packages are installed: the one that is declared, else the one that has locked them.
    fn of(place: &Project, declared: Option<&str>) -> Self {
        let (name, version) = declared.map_or(("", ""), |it| it.split_once('@').unwrap_or((it, "")));
        let declared = LOCKED_BY.into_iter().map(|(_, tool)| tool).find(|tool| *tool == name);
        let is_its = |tool: &str| declared.is_none_or(|it| it == tool);
        let locked = LOCKED_BY.into_iter().find(|(lock, tool)| place.has(lock) && is_its(tool));
        let tool = declared.or(locked.map(|(_, tool)| tool)).unwrap_or("npm");
        // Version 1 has other settings, and nobody need say that it is that.
        let major = version.split('.').next().unwrap_or_default();
        let is_of_now = place.has(OF_YARN) || !["", "1"].contains(&major);
        let install = match (tool, locked.is_some()) {
            ("pnpm", true) => "pnpm install --frozen-lockfile",
            ("pnpm", false) => "pnpm install",
            ("yarn", true) if is_of_now => "yarn install --immutable",
            ("yarn", true) => "yarn install --frozen-lockfile",
            ("yarn", false) => "yarn install",
            (BUN, true) => "bun install --frozen-lockfile",
            (BUN, false) => "bun install",
            (_, true) => "npm ci --no-audit --no-fund",
            (_, false) => "npm install --no-audit --no-fund",
        };
        Self { tool, install, lock: locked.map(|(lock, _)| lock) }
    }
}

/// The one that a package's packages are installed by, where that is done.
fn manager(project: &Project, package: &Value, workspace: Option<&Workspace<'_>>) -> Manager {
    let declared = |package: &Value| Some(package.get("packageManager")?.as_str()?.to_owned());
    let own = declared(package);
    let Some(workspace) = workspace else { return Manager::of(project, own.as_deref()) };
    Manager::of(&workspace.around.whole, declared(&workspace.package).or(own).as_deref())
}

/// A build by a shell that says last that it is done. The folder is an argument of its own: whatever its name holds, none of it is
/// a command.
fn by_shell(script: &str, inputs: Vec<String>) -> Build {
    let script = format!("{script} && touch \"$1/installed\"");
    Build { command: texts(&["sh", "-c", &script, "sh", "{build_dir}"]), inputs, output: "installed".into() }
}

fn build(project: &Project, Manager { tool, install, lock }: &Manager, is_built: bool) -> Build {
    let then = if is_built { format!(" && {tool} run build") } else { String::new() };
    let inputs = [Some(PACKAGE), *lock, Some(OF_COMPILER)].into_iter().flatten();
    let inputs = project.those_of(&inputs.collect::<Vec<_>>());
    let sources = if is_built { made_of(project) } else { Vec::new() };
    by_shell(&format!("{install}{then}"), [inputs, sources].concat())
}

/// The same of a member of a workspace, where all of that is installed and those are built that it takes.
fn build_in(workspace: &Workspace<'_>, project: &Project, manager: &Manager, is_built: bool) -> Build {
    let Workspace { around, beside, .. } = workspace;
    let Manager { tool, install, lock } = manager;
    let built = beside.iter().filter(|it| it.is_built()).map(|it| it.folder.as_str());
    let built = built.chain(is_built.then_some(around.member.as_str()));
    let in_folder = |folder: &str| format!(" && (cd {} && {tool} run build)", quoted(&format!("./{folder}")));
    let built: Vec<String> = built.map(in_folder).collect();
    let of_all = [PACKAGE, workspace::OF_PNPM, OF_COMPILER, "tsconfig.base.json"];
    let of_all: Vec<&str> = of_all.into_iter().chain(*lock).collect();
    let mut others = around.whole.those_of(&of_all);
    for folder in beside.iter().map(|it| &it.folder) {
        let member = around.whole.within(folder);
        let made = [member.those_of(&[PACKAGE, OF_COMPILER]), made_of(&member)].concat();
        others.extend(made.into_iter().map(|path| format!("{folder}/{path}")));
    }
    let others: Vec<String> = others.into_iter().map(|path| format!("{}/{path}", around.way)).collect();
    let own = project.those_of(&[PACKAGE, OF_COMPILER]);
    let sources = if is_built { made_of(project) } else { Vec::new() };
    by_shell(&format!("cd {} && {install}{}", around.way, built.concat()), [own, sources, others].concat())
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
