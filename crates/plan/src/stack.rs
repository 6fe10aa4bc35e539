//! `stacks/<id>/stack.toml`: how one system under test is built, started and recognised as ready.
//!
//! A stack's id is the name of its folder. Folders that begin with `_` hold what several stacks share
//! (`stacks/_builds/<family>`), and folders without a `stack.toml` are no stacks. Paths in a manifest are
//! relative to its folder, those of a build to the build's folder. What a build makes is in the folder
//! `build` there, which git ignores.

mod read;

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use units::Duration;

use crate::error::PlanError;
use crate::toml_file;

const MANIFEST: &str = "stack.toml";

/// Which generation of its family a stack belongs to; figures of different ones are not the same product's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Generation {
    /// The versions of the published write-ups.
    #[serde(rename = "2019")]
    Of2019,
    /// Current versions.
    Today,
    /// Nothing in it has changed with the years.
    Timeless,
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Of2019 => "2019",
            Self::Today => "today",
            Self::Timeless => "timeless",
        })
    }
}

/// A text with placeholders, all of them known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template(String);

/// What the placeholders of a [`Template`] stand for in one trial.
#[derive(Debug, Clone)]
pub struct Placeholders<'a> {
    /// `{port}`: where the stack listens, on 127.0.0.1. `None` for a build, which has none.
    pub port: Option<u16>,
    /// `{proofload}`: the running `proofload` binary.
    pub proofload: &'a Path,
    /// `{stack_dir}`: the manifest's folder.
    pub stack_dir: &'a Path,
    /// `{build_dir}`: the folder `build` in the build's folder, or in the stack's where there is no build.
    pub build_dir: &'a Path,
    /// `{work_dir}`: an empty folder of the trial's own.
    pub work_dir: &'a Path,
}

impl Placeholders<'_> {
    /// `text` with every known placeholder filled in. Other braces, as a configuration file may have, stay.
    pub fn fill(&self, text: &str) -> String {
        let mut filled = text.to_owned();
        let paths = [
            ("{proofload}", self.proofload),
            ("{stack_dir}", self.stack_dir),
            ("{build_dir}", self.build_dir),
            ("{work_dir}", self.work_dir),
        ];
        for (name, path) in paths {
            if filled.contains(name) {
                filled = filled.replace(name, &path.to_string_lossy());
            }
        }
        match self.port {
            Some(port) => filled.replace("{port}", &port.to_string()),
            None => filled,
        }
    }
}

impl Template {
    /// The text with its placeholders filled in.
    pub fn fill(&self, with: &Placeholders<'_>) -> String {
        with.fill(&self.0)
    }

    /// The text as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// How a stack is built. Stacks that share `dir` share the build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Build {
    /// Where `command` runs.
    pub dir: PathBuf,
    /// `dir`/build: where everything it makes goes.
    pub build_dir: PathBuf,
    /// Program and arguments.
    pub command: Vec<Template>,
    /// The files and folders that what it makes depends on; they exist.
    pub inputs: Vec<PathBuf>,
    /// A file or folder that exists once it succeeded.
    pub output: PathBuf,
}

/// How a stack is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Program and arguments, without the JVM flags.
    pub command: Vec<Template>,
    /// Go right after the program, before the class or jar: the JVM hands what follows those to the
    /// application, and applies none of it. Empty for anything but `java`.
    pub jvm_flags: Vec<Template>,
    /// Added to the environment.
    pub env: BTreeMap<String, Template>,
}

/// When a stack counts as up: a GET of `path` was answered whole with `status`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ready {
    /// Asked for with GET.
    pub path: String,
    /// The status expected.
    pub status: u16,
    /// How long it may take from the start of the process.
    pub timeout: Duration,
}

/// What a client may do with a connection of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConnectionUse {
    /// Many requests, one after the other.
    KeepAlive,
    /// One request; the server closes.
    Close,
}

/// Something to ask of a stack. Stacks that have an endpoint of one name are asked for the same work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Unique in its stack.
    pub name: String,
    /// Asked for with GET.
    pub path: String,
    /// The status of a right answer.
    pub status: u16,
    /// The body of a right answer, where it is fixed.
    pub body: Option<String>,
    /// How long the server holds each answer back, where it does so by design.
    pub delay: Option<Duration>,
    /// What a client may do with a connection.
    pub connection: ConnectionUse,
}

/// A file that is written into the trial's `{work_dir}` before the start, placeholders filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFile {
    /// Its text, with placeholders; exists.
    pub template: PathBuf,
    /// Its name in `{work_dir}`.
    pub name: String,
}

/// One system under test, validated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StackManifest {
    /// The name of its folder.
    pub id: String,
    /// Its folder, absolute.
    pub dir: PathBuf,
    /// For people, in a table's first column.
    pub title: String,
    /// What it is a member of, such as `go` or `java-socket`.
    pub family: String,
    /// Which generation of its family.
    pub generation: Generation,
    /// For people, a sentence or two.
    pub description: Option<String>,
    /// The programs that must be on the path to build and run it.
    pub tools: Vec<String>,
    /// How it is built; `None` when there is nothing to build.
    pub build: Option<Build>,
    /// How it is started.
    pub run: Run,
    /// When it counts as up.
    pub ready: Ready,
    /// What to ask of it; at least one.
    pub endpoints: Vec<Endpoint>,
    /// What is written before the start.
    pub files: Vec<ConfigFile>,
}

impl StackManifest {
    /// Reads and validates the manifest in folder `dir`.
    pub fn load(dir: &Path) -> Result<Self, PlanError> {
        let dir = dir.canonicalize().map_err(|error| {
            PlanError::new(format!("is no folder that can be read ({error})"), "check the path").in_file(dir)
        })?;
        let file = dir.join(MANIFEST);
        let text = toml_file::read(&file)?;
        read::manifest(&file, &dir, &text)
    }

    /// The endpoint called `name`.
    pub fn endpoint(&self, name: &str) -> Result<&Endpoint, PlanError> {
        self.endpoints.iter().find(|endpoint| endpoint.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.endpoints.iter().map(|endpoint| endpoint.name.as_str()).collect();
            PlanError::new(
                format!("stack `{}` has no endpoint `{name}`", self.id),
                format!("choose {}, or add an [[endpoint]] to its {MANIFEST}", names.join(" or ")),
            )
        })
    }

    /// What `{build_dir}` stands for.
    pub fn build_dir(&self) -> PathBuf {
        self.build.as_ref().map_or_else(|| self.dir.join("build"), |build| build.build_dir.clone())
    }
}

/// Every stack of a folder, all of them valid, by id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Catalogue {
    dir: PathBuf,
    stacks: BTreeMap<String, StackManifest>,
}

impl Catalogue {
    /// Loads every `<id>/stack.toml` in `dir`.
    pub fn load(dir: &Path) -> Result<Self, PlanError> {
        let unreadable = |error: std::io::Error| {
            let help = "run inside a checkout of proofload, or name its folder `stacks`";
            PlanError::new(format!("cannot be read as a folder of stacks ({error})"), help).in_file(dir)
        };
        let mut stacks = BTreeMap::new();
        for entry in std::fs::read_dir(dir).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let shared = entry.file_name().as_encoded_bytes().starts_with(b"_");
            if !shared && entry.path().join(MANIFEST).is_file() {
                let stack = StackManifest::load(&entry.path())?;
                stacks.insert(stack.id.clone(), stack);
            }
        }
        Ok(Self { dir: dir.to_owned(), stacks })
    }

    /// The stack called `id`.
    pub fn get(&self, id: &str) -> Result<&StackManifest, PlanError> {
        self.stacks.get(id).ok_or_else(|| {
            let mut help = String::from("`proofload list` lists them all");
            let close = self.close_to(id);
            if !close.is_empty() {
                // Writing into a String cannot fail.
                let _ = write!(help, "; did you mean {}?", close.join(", "));
            }
            PlanError::new(format!("there is no stack `{id}` in {}", self.dir.display()), help)
        })
    }

    /// All stacks by id.
    pub fn iter(&self) -> impl Iterator<Item = &StackManifest> {
        self.stacks.values()
    }

    /// At most five ids that `id` may be a slip for, the closest first.
    fn close_to(&self, id: &str) -> Vec<&str> {
        let distance = |known: &str| {
            let contained = id.len() >= 3 && (known.contains(id) || id.contains(known));
            if contained { 1 } else { edit_distance(id, known) }
        };
        let bound = 1 + id.len() / 3;
        let mut close: Vec<(usize, &str)> =
            self.stacks.keys().map(|known| (distance(known), known.as_str())).collect();
        close.retain(|(distance, _)| *distance <= bound);
        close.sort_unstable();
        close.into_iter().take(5).map(|(_, known)| known).collect()
    }
}

/// Levenshtein's distance, over bytes.
fn edit_distance(left: &str, right: &str) -> usize {
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in right.bytes().enumerate() {
            let substituted = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests;
