//! A project's own files to a first `proofload.toml`: how its service is built and started, where it listens, and what it can
//! be asked.
//!
//! What the files show is taken, what they don't is written down as a question. Nothing is run.

mod aliases;
mod asks;
mod controllers;
mod go;
mod java;
mod listens;
mod node;
mod python;
mod routes;
mod rust;
mod spring;
mod workspace;
mod write;

use std::borrow::Cow;

use plan::PlanError;
use plan::shell::quoted;

/// The files by which a project is known.
pub const KNOWN_BY: [&str; 9] = [
    "go.mod",
    "Cargo.toml",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "pyproject.toml",
    "requirements.txt",
    "Pipfile",
    "package.json",
];

/// The files that tell of workspaces, and of the packages in them.
pub const OF_WORKSPACES: [&str; 3] = [workspace::PACKAGE, workspace::OF_PNPM, rust::MANIFEST];

/// Files of projects that are known, and whose services can't be written down here, with what they are started by in production,
/// and what is for development. What begins with `.` is how a file's name ends.
const OTHERS_BY: [(&str, &str, &str); 7] = [
    (
        "Gemfile",
        "Ruby (Gemfile)",
        "`bundle exec puma` with RAILS_ENV = \"production\", not `rails server` without",
    ),
    ("composer.json", "PHP (composer.json)", "php-fpm behind nginx, not `php -S` or `php artisan serve`"),
    ("mix.exs", "Elixir (mix.exs)", "what `mix release` makes, not `mix phx.server`"),
    ("build.sbt", "Scala (build.sbt)", "what `sbt stage` makes, not `sbt run`"),
    ("deno.json", "Deno (deno.json)", "`deno run`, not `deno task dev`"),
    (".csproj", "C# (.csproj)", "what `dotnet publish -c Release` makes, not `dotnet run` or `dotnet watch`"),
    (".fsproj", "F# (.fsproj)", "what `dotnet publish -c Release` makes, not `dotnet run` or `dotnet watch`"),
];

/// Programs, and folders, that are named of many.
const PROGRAMS_SHOWN_MAX: usize = 8;
const FOLDERS_SHOWN_MAX: usize = 8;
/// What starts a service in a container.
const OF_CONTAINERS: [&str; 6] = [
    "Dockerfile",
    "Containerfile",
    "compose.yaml",
    "compose.yml",
    "docker-compose.yaml",
    "docker-compose.yml",
];

/// A project as far as it was looked at.
#[derive(Debug, Clone, Default)]
pub struct Project {
    /// The name of its folder.
    pub folder: String,
    /// Its files, by their path from the folder on with `/`, in order of their path.
    pub files: Vec<ProjectFile>,
    /// What it is a part of, where that is known.
    pub around: Option<Box<Around>>,
}

/// The folder of a workspace that a project lies in.
#[derive(Debug, Clone)]
pub struct Around {
    /// The way there from the project's folder, as `../..`.
    pub way: String,
    /// The way from there to the project's folder, as `apps/api`.
    pub member: String,
    /// All that lies there. Of its files, what is in manifests is known.
    pub whole: Project,
}

/// A file of a project.
#[derive(Debug, Clone)]
pub struct ProjectFile {
    /// From the project's folder on.
    pub path: String,
    /// What is in it; empty of a file that is there and was not read.
    pub text: String,
}

/// A first `proofload.toml`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// The file.
    pub text: String,
    /// What was seen, a line each.
    pub seen: Vec<String>,
    /// What was not, and is to be checked.
    pub unsure: Vec<String>,
}

/// How a service is built and started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Service {
    /// What it was told by: `Go (go.mod)`.
    kind: String,
    name: String,
    /// The folder that it is in, of a project of several; empty of the whole.
    folder: String,
    /// How the files end that its sources are in.
    sources: &'static [&'static str],
    tools: Vec<String>,
    jdk: Option<u32>,
    build: Option<Build>,
    command: Vec<String>,
    env: Vec<(String, String)>,
    /// Where it always listens.
    port: Option<u16>,
    /// Whether what starts it reads `PORT`, whatever its own sources do.
    reads_port: bool,
    /// What is good to know of how it is started.
    hint: Option<&'static str>,
    unsure: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Build {
    command: Vec<String>,
    inputs: Vec<String>,
    output: String,
}

impl Project {
    fn text(&self, path: &str) -> Option<&str> {
        self.files.iter().find(|it| it.path == path).map(|it| it.text.as_str())
    }

    fn has(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        self.files.iter().any(|it| it.path == path || it.path.starts_with(&folder))
    }

    /// What of it is in a folder, by paths from there on; all of it where that is empty.
    fn within(&self, folder: &str) -> Cow<'_, Self> {
        if folder.is_empty() {
            return Cow::Borrowed(self);
        }
        let beneath = format!("{folder}/");
        let part = |it: &ProjectFile| {
            let path = it.path.strip_prefix(beneath.as_str())?.to_owned();
            Some(ProjectFile { path, text: it.text.clone() })
        };
        let files = self.files.iter().filter_map(part).collect();
        Cow::Owned(Self { folder: self.folder.clone(), files, around: None })
    }

    /// Those of `paths` that there are.
    fn those_of(&self, paths: &[&str]) -> Vec<String> {
        paths.iter().filter(|path| self.has(path)).map(|path| (*path).to_owned()).collect()
    }

    /// Its files whose names end so, tests left out: what they ask is not what users do.
    fn sources<'a>(&'a self, endings: &'a [&str]) -> impl Iterator<Item = &'a ProjectFile> {
        let is_test = |path: &str| {
            path.split('/').any(|part| matches!(part, "test" | "tests" | "__tests__" | "examples"))
                || path.contains("_test.")
                || path.contains(".test.")
                || path.contains(".spec.")
        };
        self.files
            .iter()
            .filter(move |it| endings.iter().any(|end| it.path.ends_with(end)) && !is_test(&it.path))
    }
}

/// A first `proofload.toml` of `project`.
pub fn draft(project: &Project) -> Result<Draft, PlanError> {
    let written_out = aliases::written_out(project);
    let project: &Project = &written_out;
    let kinds: [fn(&Project) -> Option<Service>; 6] =
        [go::found, rust::found, java::maven, java::gradle, python::found, node::found];
    let mut found = kinds.into_iter().filter_map(|kind| kind(project));
    let service = found.next().ok_or_else(|| nothing_found(project))?;
    let other_kinds = of_other_kinds(project).map(|(kind, _)| kind.to_owned());
    let others: Vec<String> = found.map(|it| it.kind).chain(other_kinds).collect();
    let asks = asks::of(&project.within(&service.folder), &service);
    Ok(write::draft(&service, &asks, &others))
}

/// Whether `whole` is a workspace that `project`, in its folder `member`, may be a part of, by the manifests at its top: packages in
/// folders of it are built together.
pub fn is_workspace_of(whole: &Project, member: &str, project: &Project) -> bool {
    let is_there = |manifest: &str| project.text(manifest).is_some();
    is_there(workspace::PACKAGE) && workspace::has_member(whole, member)
        || is_there(rust::MANIFEST) && rust::is_workspace(whole)
}

/// Whether it is of a kind whose services can't be written down here: what else lies there is for its pages.
pub fn is_of_other_kind(project: &Project) -> bool {
    of_other_kinds(project).next().is_some()
}

/// The folders in it that look like services, those first that lie least deep; none within another.
pub fn services_within(project: &Project) -> Vec<&str> {
    let found = project.sources(&KNOWN_BY).filter_map(|it| {
        let (folder, name) = it.path.rsplit_once('/')?;
        KNOWN_BY.contains(&name).then_some(folder)
    });
    let mut folders: Vec<&str> = found.collect();
    folders.sort_by_key(|it| it.matches('/').count());
    let mut outer: Vec<&str> = Vec::new();
    for folder in folders {
        let is_in = |other: &&str| {
            let behind = folder.strip_prefix(*other);
            behind.is_some_and(|it| it.is_empty() || it.starts_with('/'))
        };
        if !outer.iter().any(is_in) {
            outer.push(folder);
        }
    }
    outer
}

/// What else it is by its files, beside what can be written down, and what it is started by in production.
fn of_other_kinds(project: &Project) -> impl Iterator<Item = (&'static str, &'static str)> {
    let is_there = move |by: &str| {
        let is_it = |it: &ProjectFile| it.path == by || by.starts_with('.') && it.path.ends_with(by);
        project.files.iter().any(is_it)
    };
    OTHERS_BY.into_iter().filter(move |(by, ..)| is_there(by)).map(|(_, kind, start)| (kind, start))
}

fn nothing_found(project: &Project) -> PlanError {
    let looked_for = KNOWN_BY.join(", ");
    if let Some((kind, start)) = of_other_kinds(project).next() {
        let help = format!(
            "say in a proofload.toml how it is built and started, by {start}: docs/own-service.md has an \
             example"
        );
        return PlanError::new(
            format!("it is a project in {kind}, and of those nothing is known here"),
            help,
        );
    }
    let within = services_within(project);
    if let Some(first) = within.first() {
        let more = if within.len() > FOLDERS_SHOWN_MAX { ", …" } else { "" };
        let shown = within[..within.len().min(FOLDERS_SHOWN_MAX)].join(", ");
        let what = format!("it is no service itself, and folders in it look like some: {shown}{more}");
        let help = format!("name the folder of yours, as in: proofload init {}", quoted(first));
        return PlanError::new(what, help);
    }
    if let Some(file) = OF_CONTAINERS.into_iter().find(|it| project.has(it)) {
        let what = format!(
            "there is a {file} and nothing else that says how the service is started; processes of a container are not this \
             run's own, and can't be measured"
        );
        let help = "say in a proofload.toml how it is started without one, or start it yourself and give its `url`: \
                    docs/own-service.md has an example of both";
        return PlanError::new(what, help);
    }
    let help = format!(
        "go to the service's folder, where there is one of {looked_for}; or write a proofload.toml by hand: \
         docs/own-service.md has an example"
    );
    PlanError::new("nothing here says what kind of project this is", help)
}

/// A name as an id may be: lower-case letters, digits, `-` and `.`.
fn plain_name(name: &str) -> String {
    let plain = |c: char| match c.to_ascii_lowercase() {
        c if c.is_ascii_lowercase() || c.is_ascii_digit() || c == '.' => c,
        _ => '-',
    };
    let name: String = name.chars().map(plain).collect();
    let name = name.trim_matches(['-', '.']);
    if name.is_empty() { "service".into() } else { name.to_owned() }
}

/// What is to be asked where there are several programs, of which `taken` is written down.
fn which_program(names: &[&str], taken: &str) -> String {
    let shown = names.iter().take(PROGRAMS_SHOWN_MAX).copied().collect::<Vec<_>>().join(", ");
    let more = if names.len() > PROGRAMS_SHOWN_MAX { ", …" } else { "" };
    format!("which program it is: there are {} ({shown}{more}), and {taken} is written down", names.len())
}

/// A path from a folder on, as one from the top on. `None` of one that leads out of that.
fn resolved(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|it| !it.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    (!path.starts_with('/')).then(|| parts.join("/"))
}

fn texts(words: &[&str]) -> Vec<String> {
    words.iter().map(|it| (*it).to_owned()).collect()
}

#[cfg(test)]
mod tests;
