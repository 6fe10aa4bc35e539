//! `stacks/<id>/stack.toml`: how one system under test is built, started and recognised as ready.
//!
//! A stack's id is the name of its folder. Folders that begin with `_` hold what several stacks share
//! (`stacks/_builds/<family>`), and folders without a `stack.toml` are no stacks. Paths in a manifest are
//! relative to its folder, those of a build to the build's folder. What a build makes is in the folder
//! `build` there, which git ignores.
//!
//! A manifest describes the stack as such, with the settings it is known by, and named variants of it that
//! differ in values alone. A variant is a stack of its own with the id `<stack>@<variant>`. A proxy names the
//! stack behind it; see [`Catalogue::chain`].

mod catalogue;
mod intervention;
mod raw;
mod read;
mod site;
mod speaks;
mod template;

use std::collections::BTreeMap;
use std::fmt;
use std::num::{NonZeroU16, NonZeroU32};
use std::path::{Path, PathBuf};

use http::Framing;
use serde::Deserialize;
use units::{Bytes, Duration};

pub use self::catalogue::{CHAIN_MAX, Catalogue};
pub use self::intervention::{Factor, Intervention, InterventionOn, LimitChange};
pub use self::site::Site;
pub(crate) use self::speaks::ProtocolName;
pub use self::speaks::{Speaks, Spoken};
pub use self::template::{Placeholders, Template, Upstreams};
use crate::error::PlanError;
use crate::nearest;
use crate::toml_file;

const MANIFEST: &str = "stack.toml";

/// Which generation of its family a stack belongs to; figures of different ones are not the same product's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Generation {
    /// The versions of the published write-ups.
    #[serde(rename = "2019")]
    Of2019,
    /// The versions of the published write-up on virtual threads.
    #[serde(rename = "2023")]
    Of2023,
    /// Current versions.
    Today,
    /// Nothing in it has changed with the years.
    Timeless,
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Of2019 => "2019",
            Self::Of2023 => "2023",
            Self::Today => "today",
            Self::Timeless => "timeless",
        })
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
    /// Where it runs; `None` for a folder of the trial's own.
    pub dir: Option<PathBuf>,
    /// Where it always listens; `None` for whatever port it is given.
    pub port: Option<NonZeroU16>,
}

/// Where a stack comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// It is started, and ended.
    Started(Run),
    /// It is running already: nothing of it is built, started, placed or ended, and nothing is known of its processes.
    Running(Site),
}

/// Whether the program is `java`, wherever it lies.
fn is_java(program: &Template) -> bool {
    Path::new(program.as_str()).file_name().is_some_and(|name| name == "java")
}

impl Run {
    /// Whether it is a JVM that is started.
    pub fn is_java(&self) -> bool {
        is_java(&self.command[0])
    }

    /// Every text in it that may hold a placeholder.
    pub(crate) fn templates(&self) -> impl Iterator<Item = &Template> {
        self.command.iter().chain(&self.jvm_flags).chain(self.env.values())
    }
}

/// When a stack counts as up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ready {
    /// By what.
    pub when: ReadyWhen,
    /// How long it may take from the start of the process.
    pub timeout: Duration,
}

/// By what a stack counts as up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadyWhen {
    /// A GET of the path was answered whole with the status.
    Answers {
        /// Asked for with GET.
        path: String,
        /// The status expected.
        status: u16,
    },
    /// A connection was accepted: what stands behind a service need not speak HTTP.
    Accepts,
}

impl Ready {
    /// The path that is asked for, where one is.
    pub fn path(&self) -> Option<&str> {
        match &self.when {
            ReadyWhen::Answers { path, .. } => Some(path),
            ReadyWhen::Accepts => None,
        }
    }
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
    /// What the first answer on a connection takes on the wire, where the manifest says.
    pub wire_bytes: Option<Bytes>,
    /// How the end of its body is known, where the manifest says.
    pub framing: Option<Framing>,
    /// How the name of the thread that answers begins, where the manifest says: a thread of that name is there
    /// after an answer. The kernel keeps 15 bytes of a name.
    pub thread: Option<String>,
    /// The most connections that a proxy holds to its upstream for this, however many clients ask.
    pub upstream_connections_max: Option<u32>,
}

/// What must be on the machine to build and run a stack.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Needs {
    /// Programs on the path.
    pub tools: Vec<String>,
    /// The lowest version of the JDK that builds it. The oldest one that satisfies it is taken.
    pub jdk: Option<u32>,
    /// The lowest version of Java that it runs on: a JDK or a runtime alone. Where the manifest does not say, that of the
    /// JDK.
    pub java: Option<u32>,
    /// Shared libraries by file name, such as `libtcnative-1.so.0`.
    pub libraries: Vec<String>,
}

/// A quota of CPU time, in thousandths of a core: 500 is half of one core's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuQuota(NonZeroU32);

impl CpuQuota {
    /// Less is under a millisecond in a period of 100 ms, which the kernel refuses.
    const MILLICORES_MIN: u32 = 10;
    const MILLICORES_MAX: u32 = 1_000_000;

    /// So many cores, to a thousandth; `None` where that is less than 0.01 or more than 1000.
    pub fn from_cores(cores: f64) -> Option<Self> {
        let millicores = (cores * 1e3).round();
        let bounds = f64::from(Self::MILLICORES_MIN)..=f64::from(Self::MILLICORES_MAX);
        // A number that is none is in no range.
        bounds.contains(&millicores).then(|| NonZeroU32::new(millicores as u32).map(Self)).flatten()
    }

    /// In thousandths of a core.
    pub const fn millicores(self) -> u32 {
        self.0.get()
    }

    /// In cores.
    pub fn cores(self) -> f64 {
        f64::from(self.millicores()) / 1e3
    }
}

impl fmt::Display for CpuQuota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.cores())
    }
}

/// What the kernel lets a stack have at most, all of its processes together or each, and nothing behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// CPU time of all of its processes together.
    pub cpu: Option<CpuQuota>,
    /// Open files of each of its processes, soft and hard.
    pub open_files: Option<NonZeroU32>,
}

/// What makes a variant of a stack of the stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    /// The stack's id.
    pub of: String,
    /// What follows the `@` in the variant's id.
    pub name: String,
    /// For people, a sentence.
    pub description: String,
    /// The one limit that it changes, where it is made for that.
    pub intervention: Option<Intervention>,
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
    /// The name of its folder; of a variant, with `@` and the variant's name behind it.
    pub id: String,
    /// What it is a variant of and how; `None` for the stack as such.
    pub variant: Option<Variant>,
    /// Its folder, absolute.
    pub dir: PathBuf,
    /// The file that says all of this, as it was named: of a service, the project's.
    pub file: PathBuf,
    /// For people, in a table's first column.
    pub title: String,
    /// What it is a member of, such as `go` or `java-socket`.
    pub family: String,
    /// Which generation of its family.
    pub generation: Generation,
    /// For people, a sentence or two.
    pub description: Option<String>,
    /// What must be on the machine to build and run it.
    pub needs: Needs,
    /// The stacks that it uses, which are booted before it: ids. The first is the one that requests are forwarded to.
    pub upstreams: Vec<String>,
    /// The values of its own placeholders.
    pub parameters: BTreeMap<String, String>,
    /// What it may have at most.
    pub limits: Limits,
    /// After how many requests the server closes a connection by design; `None` where it does not.
    pub requests_per_connection: Option<NonZeroU32>,
    /// How it is built; `None` when there is nothing to build.
    pub build: Option<Build>,
    /// Where it comes from.
    pub origin: Origin,
    /// What it speaks where it listens.
    pub spoken: Spoken,
    /// When it counts as up.
    pub ready: Ready,
    /// What to ask of it; none of what counts as up by accepting a connection and says nothing else.
    pub endpoints: Vec<Endpoint>,
    /// What is written before the start.
    pub files: Vec<ConfigFile>,
}

impl StackManifest {
    /// Reads and validates the manifest in folder `dir`: the stack as such, and then its variants.
    pub fn load(dir: &Path) -> Result<Vec<Self>, PlanError> {
        let dir = dir.canonicalize().map_err(|error| {
            PlanError::new(format!("is no folder that can be read ({error})"), "check the path").in_file(dir)
        })?;
        let file = dir.join(MANIFEST);
        let text = toml_file::read(&file)?;
        read::manifests(&file, &dir, &text)
    }

    /// Reads and validates the services of a project: those in `text`, the content of `file`, whose paths are relative to
    /// `dir`. None where it has none.
    pub fn services(file: &Path, text: &str, dir: &Path) -> Result<Vec<Self>, PlanError> {
        let dir = dir.canonicalize().map_err(|error| {
            PlanError::new(format!("is no folder that can be read ({error})"), "check the path").in_file(dir)
        })?;
        read::services(file, &dir, text)
    }

    /// The calibration server that a round's control loads. It is part of the product and in no catalogue.
    ///
    /// # Panics
    /// If the manifest compiled into the product is not valid.
    pub fn control() -> Self {
        let all = read::manifests(
            Path::new("control.toml"),
            Path::new("/control"),
            include_str!("stack/control.toml"),
        );
        all.expect("the control's manifest is valid").remove(0)
    }

    /// JMeter, to be built as stacks are, from `_builds/jmeter` in the folder of the stacks. It is no stack: it is started
    /// with [`Run::command`] and arguments of the load's own, it listens nowhere, and it has no endpoint.
    pub fn jmeter(stacks: &Path) -> Result<Self, PlanError> {
        let dir = stacks.join("_builds/jmeter");
        let pom = dir.join("pom.xml");
        // Absolute, since it is started in another folder.
        let dir = dir.canonicalize().ok().filter(|dir| dir.join("pom.xml").is_file()).ok_or_else(|| {
            let help = "name Proofload's own folder of stacks, or link its _builds into yours";
            PlanError::new("JMeter is to be built from this file, and it is not there", help).in_file(&pom)
        })?;
        let texts = |all: &[&str]| all.iter().map(|text| Template((*text).to_owned())).collect();
        let build_dir = dir.join("build");
        Ok(Self {
            id: "jmeter".into(),
            title: "JMeter".into(),
            needs: Needs { tools: vec!["mvn".into()], jdk: Some(17), java: Some(17), libraries: Vec::new() },
            build: Some(Build {
                command: texts(&["sh", "../maven.sh"]),
                inputs: ["pom.xml", ".mvn", "libraries.sha256", "../maven.sh"].map(|it| dir.join(it)).into(),
                output: build_dir.join("bin/ApacheJMeter.jar"),
                build_dir,
                dir: dir.clone(),
            }),
            origin: Origin::Started(Run {
                command: texts(&["java", "-jar", "{build_dir}/bin/ApacheJMeter.jar"]),
                // Those of JMeter's own start script.
                jvm_flags: texts(&[
                    "-Xms1g",
                    "-Xmx1g",
                    "-XX:MaxMetaspaceSize=256m",
                    "-XX:+UseG1GC",
                    "-XX:MaxGCPauseMillis=100",
                    "-XX:G1ReservePercent=20",
                ]),
                env: BTreeMap::new(),
                dir: None,
                port: None,
            }),
            endpoints: Vec::new(),
            dir,
            ..Self::control()
        })
    }

    /// What it is started with, beside what it is built from: its own file without comments, and the texts of its templates. Of a
    /// service, the experiment has the first.
    ///
    /// # Errors
    /// If a file can't be read.
    pub fn settings(&self) -> Result<String, PlanError> {
        let own = self.dir.join(MANIFEST);
        let mut text = String::new();
        if own.is_file() {
            let written = toml_file::read(&own)?;
            text +=
                &written.parse::<toml::Table>().map_or_else(|_| written.clone(), |table| table.to_string());
        }
        for ConfigFile { template, name } in &self.files {
            text.extend(["\n", name, "\n", &toml_file::read(template)?]);
        }
        Ok(text)
    }

    /// How it is started; `None` of what is running already.
    pub const fn run(&self) -> Option<&Run> {
        match &self.origin {
            Origin::Started(run) => Some(run),
            Origin::Running(_) => None,
        }
    }

    /// Where it is running already; `None` of what is started.
    pub const fn site(&self) -> Option<&Site> {
        match &self.origin {
            Origin::Started(_) => None,
            Origin::Running(site) => Some(site),
        }
    }

    /// The endpoint called `name`.
    pub fn endpoint(&self, name: &str) -> Result<&Endpoint, PlanError> {
        self.endpoints.iter().find(|endpoint| endpoint.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.endpoints.iter().map(|endpoint| endpoint.name.as_str()).collect();
            let add = format!("add an [[endpoint]] to {}", self.written_in());
            let choose = match names.as_slice() {
                [] => add,
                names => format!("choose {}, or {add}", names.join(" or ")),
            };
            PlanError::new(
                format!("stack `{}` has no endpoint `{name}`", self.id),
                nearest::help(name, names.iter().copied(), &choose),
            )
        })
    }

    /// Whether it is a service that an experiment brings along, and no stack in a folder of stacks.
    pub fn is_service(&self) -> bool {
        self.file != self.dir.join(MANIFEST)
    }

    /// Where a mistake in it is mended, in a sentence: `its stack.toml`, or the file of the project that it is a service of.
    pub fn written_in(&self) -> String {
        if self.is_service() { self.file.display().to_string() } else { format!("its {MANIFEST}") }
    }

    /// Whether it is told on which address to listen, and not the port alone: then it can be reached from other machines.
    pub fn is_told_its_address(&self) -> bool {
        let is_in = |text: &str| text.contains("{address}");
        // A file that can't be read is told of where it is written for the stack.
        let is_in_file = |file: &ConfigFile| toml_file::read(&file.template).is_ok_and(|text| is_in(&text));
        self.run().is_some_and(|run| run.templates().any(|text| is_in(text.as_str())))
            || self.files.iter().any(is_in_file)
    }

    /// What `{build_dir}` stands for.
    pub fn build_dir(&self) -> PathBuf {
        self.build.as_ref().map_or_else(|| self.dir.join("build"), |build| build.build_dir.clone())
    }
}

#[cfg(test)]
mod tests;
