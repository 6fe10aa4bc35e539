//! The paths that a project's sources answer to a GET: each route with what it is put beneath.
//!
//! What a route is put beneath is often named elsewhere: `app.use("/items", itemsRouter)` in one file, `router.get("/")` in
//! another. It is followed by names, from the variable or function that a route is put on, to the file and the variable that it
//! is taken over from.

use std::sync::LazyLock;

use fancy_regex::{Captures, Regex};

use super::Project;

/// How often something may be put beneath something else; what goes on is a circle.
const DEPTH_MAX: usize = 6;
/// What is looked at of a call's arguments, and before it for a name that it is put on, in bytes: whole handlers are there.
const ARGUMENTS_MAX: usize = 4_096;
const BEFORE_MAX: usize = 4_096;
/// What is taken of all sources, and the words of one mount: one path is asked for, and nobody waits for a look at more.
const ROUTES_MAX: usize = 1_000;
const MOUNTS_MAX: usize = 200;
const WORDS_MAX: usize = 64;
/// Lines of a file that import something.
const IMPORTS_MAX: usize = 200;
/// What asks others by the same names as what answers.
const CLIENTS: [&str; 7] = ["axios", "client", "http", "https", "request", "requests", "httpx"];

/// Where routes are named in Go, Rust, JavaScript and Python.
static ROUTE: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"(?x)
        (?: (?<on>\w+)? \s* \. (?<verb> HandleFunc | Handle | GET | Get | get | route )
          | @ (?<by>\w+) \. (?: get | route ) | \b HandleFunc | \b Handle | \#\[get )
        \(\s* (?:path\s*=\s*)? ["'`](?:GET\ )?(?<route>/[^"'`\s]*)["'`]
        | (?: @ (?<bare_by>\w+) \.get | (?<bare_on>\w+) \.GET ) \(\s* (?<bare>)(?:""|'')
        | (?: \burl | \.path | pathname ) \s* ={2,3} \s* ["'](?<equal>/[^"'\s]*)["']
        "#,
    )
});
/// A part of a program whose routes all begin alike, by a name: `v1 := r.Group("/v1")`, `router = APIRouter(prefix="/items")`.
static GROUP: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"(?x)
        (?<name>\w+) \s* :?= \s* (?<of>\w+) \. (?:Group|group) \(\s* ["'`](?<go>[^"'`]*)["'`]
        | (?<router>\w+) \s* = \s* (?:APIRouter|Blueprint) \( [^)]*? \b(?:prefix|url_prefix) \s* = \s* ["'](?<python>[^"']*)["']
        "#,
    )
});
/// What is made to be put beneath something else.
static PART: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"(?x)
        (?<made>\w+) \s* = \s* (?:new\s+)? (?: APIRouter | Blueprint | (?:[\w.]+ | require\(["'][\w-]+["']\)) \.Router | Router ) \(
        | (?<given>\w+) \s+ \*? (?: gin\.RouterGroup | gin\.IRouter | gin\.IRoutes | echo\.Group | chi\.Router | fiber\.Router ) \b
        "#,
    )
});
/// What puts the routes of something else beneath a path, up to what follows its bracket.
static MOUNT: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?x)
        (?<on>\w+)? \s* \. (?<how> use | route | nest | nest_service ) \(\s*
        | (?<in>\w+) \. (?: include_router | register_blueprint | register ) \(\s*
        ",
    )
});
static TEXT: LazyLock<Regex> = LazyLock::new(|| regex(r#"["'`](/[^"'`]*)["'`]"#));
/// How the text begins beneath which Python and Fastify put something.
static PREFIX: LazyLock<Regex> = LazyLock::new(|| regex(r"\b(?:url_)?prefix\s*[:=]\s*"));
/// A name that something is given in Rust: a chain of calls has it as what it is put on.
static RUST_NAME: LazyLock<Regex> = LazyLock::new(|| regex(r"\b(?:let\s+(?:mut\s+)?|fn\s+)(?<name>\w+)"));
static WORD: LazyLock<Regex> = LazyLock::new(|| regex(r"[A-Za-z_]\w*(?:-\w+)*"));

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is a constant that is tried by tests")
}

/// A path that is put on something.
struct Route {
    file: usize,
    on: String,
    path: String,
}

/// What is put on `of` beneath `prefix`, under a name of its own.
struct Group {
    file: usize,
    name: String,
    of: String,
    prefix: String,
}

/// What is put on `on` beneath `prefix`, and is what `words` name.
#[derive(Clone)]
struct Mount {
    file: usize,
    on: String,
    /// `None` where it is not written down as a text.
    prefix: Option<String>,
    words: Vec<String>,
    /// The file that it takes routes from, and whether its words name one of those that they are put on.
    target: Option<usize>,
    names_one: bool,
}

/// A path that is asked with GET.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Path {
    pub(super) text: String,
    /// False where it is put beneath something that could not be followed.
    pub(super) is_whole: bool,
}

/// What the sources of a project say about its paths.
#[derive(Default)]
struct Sources<'a> {
    /// Path and text.
    files: Vec<(&'a str, &'a str)>,
    routes: Vec<Route>,
    groups: Vec<Group>,
    mounts: Vec<Mount>,
    /// File and name of what is made to be mounted.
    parts: Vec<(usize, String)>,
    /// The words of each file's lines that import something.
    imports: Vec<Vec<Vec<String>>>,
    /// Whether a file has routes or mounts.
    has_paths: Vec<bool>,
}

/// Paths in files of `project` that end so, in the order in which they are named.
pub(super) fn of(project: &Project, endings: &[&str]) -> Vec<Path> {
    let mut sources = Sources::default();
    for (number, file) in project.sources(endings).enumerate() {
        sources.files.push((&file.path, &file.text));
        sources.read(number);
    }
    sources.follow();
    let paths = sources.routes.iter().map(|route| {
        let beneath = sources.beneath(route.file, &route.on, DEPTH_MAX);
        Path { text: sources.joined(route.file, &beneath.text, &route.path), ..beneath }
    });
    paths.collect()
}

impl Sources<'_> {
    fn read(&mut self, file: usize) {
        let (path, text) = self.files[file];
        let is_rust = ending(path) == "rs";
        let on = |found: &Captures<'_>, names: &[&str]| {
            if is_rust { rust_name(before(text, start(found))) } else { text_of(found, names) }
        };
        for found in ROUTE.captures_iter(text).flatten().take(ROUTES_MAX - self.routes.len()) {
            let on = on(&found, &["on", "by", "bare_by", "bare_on"]);
            let is_client =
                text_of(&found, &["verb"]).eq_ignore_ascii_case("get") && CLIENTS.contains(&on.as_str());
            let is_of_get = ending(path) != "py" || is_of_get(arguments(&text[end(&found)..]));
            if !is_client && is_of_get {
                self.routes.push(Route { file, on, path: text_of(&found, &["route", "bare", "equal"]) });
            }
        }
        for found in GROUP.captures_iter(text).flatten().take(MOUNTS_MAX - self.groups.len()) {
            let (name, of) = (text_of(&found, &["name", "router"]), text_of(&found, &["of"]));
            self.groups.push(Group { file, name, of, prefix: text_of(&found, &["go", "python"]) });
        }
        for found in PART.captures_iter(text).flatten().take(MOUNTS_MAX - self.parts.len()) {
            self.parts.push((file, text_of(&found, &["made", "given"])));
        }
        for found in MOUNT.captures_iter(text).flatten().take(MOUNTS_MAX - self.mounts.len()) {
            // A route of axum's is none, whatever it is answered by.
            let is_route = is_rust && found.name("how").is_some_and(|it| it.as_str() == "route");
            let arguments = arguments(&text[end(&found)..]);
            let is_named = found.name("in").is_some();
            if is_route || !(is_named || arguments.starts_with(['"', '\'', '`'])) {
                continue;
            }
            let (prefix, what) = if is_named {
                (prefix_named(arguments), arguments.split(',').next().unwrap_or(arguments))
            } else {
                (text_in(arguments), arguments.split_once(',').map_or("", |(_, what)| what))
            };
            let (on, words) = (on(&found, &["on", "in"]), words(what));
            self.mounts.push(Mount { file, on, prefix, words, target: None, names_one: false });
        }
    }

    /// Finds what each mount takes its routes from, when all is read.
    fn follow(&mut self) {
        let has_paths = |file: usize| {
            self.routes.iter().any(|it| it.file == file) || self.mounts.iter().any(|it| it.file == file)
        };
        self.imports = self.files.iter().map(|(_, text)| imports(text)).collect();
        self.has_paths = (0..self.files.len()).map(has_paths).collect();
        for number in 0..self.mounts.len() {
            let mount = &self.mounts[number];
            let target = self.target(mount);
            let is_named = |it: &Route| Some(it.file) == target && mount.words.contains(&it.on);
            let names_one = self.routes.iter().any(is_named);
            self.mounts[number] = Mount { target, names_one, ..self.mounts[number].clone() };
        }
    }

    /// What is before the path of whatever is put on `on` in `file`.
    fn beneath(&self, file: usize, on: &str, depth: usize) -> Path {
        if depth == 0 {
            return Path { text: String::new(), is_whole: false };
        }
        let own = self.groups.iter().find(|it| it.file == file && it.name == on && it.name != it.of);
        let own_prefix = own.map_or("", |it| it.prefix.as_str());
        // What is a part of something else is put where that is.
        let before = if let Some(group) = own.filter(|it| !it.of.is_empty()) {
            self.beneath(file, &group.of, depth - 1)
        } else if let Some(mount) = self.mounts.iter().find(|it| Self::is_of(it, file, on)) {
            let beneath = self.beneath(mount.file, &mount.on, depth - 1);
            let prefix = mount.prefix.as_deref();
            Path {
                text: joined(&beneath.text, prefix.unwrap_or_default()),
                is_whole: beneath.is_whole && prefix.is_some(),
            }
        } else {
            let is_part = self.parts.iter().any(|(its_file, name)| *its_file == file && name == on);
            Path { text: String::new(), is_whole: !is_part }
        };
        Path { text: joined(&before.text, own_prefix), ..before }
    }

    /// Whether a mount is of what is put on `on` in `file`.
    fn is_of(mount: &Mount, file: usize, on: &str) -> bool {
        let is_named = mount.words.iter().any(|it| it == on);
        if mount.file == file {
            return mount.on != on && is_named;
        }
        mount.target == Some(file) && (is_named || !mount.names_one)
    }

    /// The file that a mount takes routes from: the one that its words name; else the one that a line names which brings one of
    /// its words, as an import does.
    fn target(&self, mount: &Mount) -> Option<usize> {
        self.named_by(mount, &mount.words).or_else(|| {
            let brings = |line: &&Vec<String>| line.iter().any(|it| mount.words.contains(it));
            self.imports[mount.file].iter().filter(brings).find_map(|line| self.named_by(mount, line))
        })
    }

    fn named_by(&self, mount: &Mount, words: &[String]) -> Option<usize> {
        words.iter().rev().find_map(|word| {
            let is_it = |file: &usize| {
                *file != mount.file && module(self.files[*file].0) == word && self.has_paths[*file]
            };
            (0..self.files.len()).find(is_it)
        })
    }

    /// A path beneath another one, as the framework has it: to Express and axum a route `/` beneath `/items` is `/items`.
    fn joined(&self, file: usize, beneath: &str, path: &str) -> String {
        let is_strict = ["go", "py"].contains(&ending(self.files[file].0));
        let is_itself = path == "/" && !is_strict && beneath.len() > 1;
        joined(beneath, if is_itself { "" } else { path })
    }
}

/// How a file's name ends.
fn ending(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(_, ending)| ending)
}

/// One behind the other, with one `/` between.
pub(super) fn joined(beneath: &str, path: &str) -> String {
    [beneath.trim_end_matches('/'), path].concat()
}

/// What a file is called by those that take something from it.
fn module(path: &str) -> &str {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    match name.split('.').next().unwrap_or(name) {
        "index" | "mod" | "__init__" => folder.rsplit('/').next().unwrap_or(folder),
        name => name,
    }
}

/// As much of what is before a place as is looked at.
fn before(text: &str, end: usize) -> &str {
    let mut start = end.saturating_sub(BEFORE_MAX);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..end]
}

/// What a chain of calls behind `before` is called: a variable of the same statement, or the function that it is in.
fn rust_name(before: &str) -> String {
    let is_open = |found: &Captures<'_>| {
        let is_function = found.get(0).is_some_and(|it| it.as_str().starts_with("fn"));
        is_function || !before[end(found)..].contains(';')
    };
    let found = RUST_NAME.captures_iter(before).flatten().filter(is_open).last();
    found.map_or_else(String::new, |it| text_of(&it, &["name"]))
}

/// The rest of what is between brackets, where one of them is open already.
fn arguments(text: &str) -> &str {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate().take(ARGUMENTS_MAX) {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 0 => return &text[..at],
            b')' => depth -= 1,
            _ => {}
        }
    }
    ""
}

/// Whether a route whose other arguments are these answers GET: Flask names its methods.
fn is_of_get(arguments: &str) -> bool {
    !arguments.contains("methods") || arguments.contains("GET")
}

/// The prefix by its name: none at all is an empty one.
fn prefix_named(arguments: &str) -> Option<String> {
    let Some(found) = PREFIX.find(arguments).ok().flatten() else { return Some(String::new()) };
    let behind = &arguments[found.end()..];
    behind.starts_with(['"', '\'', '`']).then(|| text_in(behind))?
}

/// The first text that begins as a path.
fn text_in(arguments: &str) -> Option<String> {
    Some(TEXT.captures(arguments).ok()??.get(1)?.as_str().to_owned())
}

fn start(found: &Captures<'_>) -> usize {
    found.get(0).map_or(0, |it| it.start())
}

fn end(found: &Captures<'_>) -> usize {
    found.get(0).map_or(0, |it| it.end())
}

fn text_of(found: &Captures<'_>, names: &[&str]) -> String {
    names.iter().find_map(|name| found.name(name)).map_or_else(String::new, |it| it.as_str().to_owned())
}

/// The words of each line that imports something.
fn imports(text: &str) -> Vec<Vec<String>> {
    let is_import = |line: &&str| ["import ", "require(", "use "].iter().any(|it| line.contains(it));
    text.lines().filter(is_import).take(IMPORTS_MAX).map(words).collect()
}

fn words(text: &str) -> Vec<String> {
    WORD.find_iter(text).flatten().take(WORDS_MAX).map(|it| it.as_str().to_owned()).collect()
}

#[cfg(test)]
mod tests;
