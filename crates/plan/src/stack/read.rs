//! A manifest's text in, a [`StackManifest`] or the line of its first mistake out.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;
use units::Duration;

use super::{Build, ConfigFile, ConnectionUse, Endpoint, Generation, Ready, Run, StackManifest, Template};
use crate::error::PlanError;
use crate::toml_file;

/// The placeholders of a run.
const ALL: [&str; 5] = ["port", "proofload", "stack_dir", "build_dir", "work_dir"];
const READY_TIMEOUT_DEFAULT: Duration = Duration::from_secs(30);
const HELP_PLACEHOLDER: &str = "use {port}, {proofload}, {stack_dir}, {build_dir} or {work_dir}";

/// Validates `text`, the manifest `file` in folder `dir`.
pub(super) fn manifest(file: &Path, dir: &Path, text: &str) -> Result<StackManifest, PlanError> {
    let raw: Raw = toml_file::parse(file, text)?;
    Source { file, dir, text }.manifest(raw)
}

/// The manifest as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    title: Spanned<String>,
    family: Spanned<String>,
    generation: Generation,
    description: Option<String>,
    #[serde(default)]
    needs: RawNeeds,
    build: Option<RawBuild>,
    run: Spanned<RawRun>,
    #[serde(default)]
    ready: RawReady,
    #[serde(default, rename = "endpoint")]
    endpoints: Vec<RawEndpoint>,
    #[serde(default, rename = "file")]
    files: Vec<RawFile>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct RawNeeds {
    #[serde(default)]
    tools: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawBuild {
    dir: Option<Spanned<PathBuf>>,
    command: Spanned<Vec<Spanned<String>>>,
    inputs: Spanned<Vec<Spanned<PathBuf>>>,
    output: Spanned<PathBuf>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRun {
    command: Spanned<Vec<Spanned<String>>>,
    #[serde(default)]
    jvm_flags: Vec<Spanned<String>>,
    #[serde(default)]
    env: BTreeMap<String, Spanned<String>>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct RawReady {
    path: Option<Spanned<String>>,
    status: Option<Spanned<u16>>,
    timeout: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawEndpoint {
    name: Spanned<String>,
    path: Spanned<String>,
    status: Option<Spanned<u16>>,
    body: Option<String>,
    delay: Option<Spanned<String>>,
    connection: Option<ConnectionUse>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFile {
    template: Spanned<PathBuf>,
    name: Option<Spanned<String>>,
}

/// A manifest's text, which errors point into.
struct Source<'a> {
    file: &'a Path,
    dir: &'a Path,
    text: &'a str,
}

impl Source<'_> {
    fn error(&self, at: Range<usize>, what: impl Into<String>, help: impl Into<String>) -> PlanError {
        PlanError::new(what, help).at_offset(self.file, self.text, at.start)
    }

    fn manifest(&self, raw: Raw) -> Result<StackManifest, PlanError> {
        let at_run = raw.run.span();
        let files =
            raw.files.into_iter().map(|file| self.config_file(file)).collect::<Result<Vec<_>, _>>()?;
        let run = self.run(raw.run.into_inner())?;
        let says_port = |template: &Template| template.0.contains("{port}");
        if files.is_empty() && !run.command.iter().chain(run.env.values()).any(says_port) {
            let help = "put {port} into its command, its env, or a [[file]] that it reads";
            return Err(self.error(at_run, "the stack is not told where to listen", help));
        }
        let endpoints = self.endpoints(raw.endpoints)?;
        let ready = self.ready(raw.ready, &endpoints[0])?;
        Ok(StackManifest {
            id: self.id()?,
            dir: self.dir.to_owned(),
            title: self.not_empty(raw.title)?,
            family: self.not_empty(raw.family)?,
            generation: raw.generation,
            description: raw.description,
            tools: raw.needs.tools,
            build: raw.build.map(|build| self.build(build)).transpose()?,
            run,
            ready,
            endpoints,
            files,
        })
    }

    fn id(&self) -> Result<String, PlanError> {
        let name = self.dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let plain =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
        if !name.is_empty() && name.bytes().all(plain) {
            return Ok(name);
        }
        let help = "rename the folder: lower-case letters, digits, - and .";
        Err(PlanError::new(format!("`{name}` cannot be the id of a stack"), help).in_file(self.dir))
    }

    fn not_empty(&self, text: Spanned<String>) -> Result<String, PlanError> {
        if text.get_ref().trim().is_empty() {
            return Err(self.error(text.span(), "this is empty", "write a name for people to read"));
        }
        Ok(text.into_inner())
    }

    fn build(&self, raw: RawBuild) -> Result<Build, PlanError> {
        let (relative, at_dir) = match raw.dir {
            Some(dir) => (dir.get_ref().clone(), dir.span()),
            None => (PathBuf::from("."), raw.command.span()),
        };
        let dir = self.dir.join(&relative).canonicalize().map_err(|error| {
            let what = format!("the build's folder `{}` cannot be read ({error})", relative.display());
            self.error(at_dir, what, "name an existing folder, relative to the manifest's")
        })?;
        if raw.inputs.get_ref().is_empty() {
            let help = "list the files and folders that the build reads, or it is never built again";
            return Err(self.error(raw.inputs.span(), "the build has no inputs", help));
        }
        let inputs = raw.inputs.into_inner().into_iter().map(|input| {
            let path = dir.join(input.get_ref());
            if path.exists() {
                return Ok(path);
            }
            let what = format!("there is no `{}` in {}", input.get_ref().display(), dir.display());
            Err(self.error(input.span(), what, "name an existing file or folder, relative to the build's"))
        });
        let build_dir = dir.join("build");
        Ok(Build {
            inputs: inputs.collect::<Result<_, _>>()?,
            command: self.command(raw.command, &["build_dir", "stack_dir"])?,
            output: build_dir.join(raw.output.get_ref()),
            dir,
            build_dir,
        })
    }

    fn run(&self, raw: RawRun) -> Result<Run, PlanError> {
        let at_command = raw.command.span();
        let misplaced =
            raw.command.get_ref().iter().find(|argument| argument.get_ref().starts_with("-X")).cloned();
        let command = self.command(raw.command, &ALL)?;
        let is_java = Path::new(command[0].as_str()).file_name().is_some_and(|name| name == "java");
        if let Some(flag) = misplaced.filter(|_| is_java) {
            let what = format!("`{}` is a JVM flag", flag.get_ref());
            return Err(self.error(
                flag.span(),
                what,
                "move it to jvm_flags, which go before the class or jar",
            ));
        }
        if !raw.jvm_flags.is_empty() && !is_java {
            let what = format!("`{}` takes no JVM flags", command[0].as_str());
            return Err(self.error(at_command, what, "start it with java, or leave jvm_flags out"));
        }
        let jvm_flags = raw.jvm_flags.into_iter().map(|flag| self.template(flag, &ALL));
        let env = raw.env.into_iter().map(|(name, value)| Ok((name, self.template(value, &ALL)?)));
        Ok(Run {
            command,
            jvm_flags: jvm_flags.collect::<Result<_, _>>()?,
            env: env.collect::<Result<_, _>>()?,
        })
    }

    fn command(
        &self,
        raw: Spanned<Vec<Spanned<String>>>,
        placeholders: &[&str],
    ) -> Result<Vec<Template>, PlanError> {
        let at = raw.span();
        if raw.get_ref().first().is_none_or(|program| program.get_ref().is_empty()) {
            let help = "write the program and its arguments, each as its own text";
            return Err(self.error(at, "the command has no program", help));
        }
        raw.into_inner().into_iter().map(|text| self.template(text, placeholders)).collect()
    }

    fn template(&self, text: Spanned<String>, placeholders: &[&str]) -> Result<Template, PlanError> {
        let mut rest = text.get_ref().as_str();
        while let Some((_, after)) = rest.split_once('{') {
            let (name, after) = after.split_once('}').unwrap_or((after, ""));
            if !placeholders.contains(&name) {
                let known = ALL.contains(&name);
                let what = if known {
                    format!("`{{{name}}}` is not known when a stack is built")
                } else {
                    format!("`{{{name}}}` is no placeholder")
                };
                let help = if known { "use {build_dir} or {stack_dir}" } else { HELP_PLACEHOLDER };
                return Err(self.error(text.span(), what, help));
            }
            rest = after;
        }
        Ok(Template(text.into_inner()))
    }

    fn ready(&self, raw: RawReady, first: &Endpoint) -> Result<Ready, PlanError> {
        Ok(Ready {
            path: raw.path.map_or_else(|| Ok(first.path.clone()), |path| self.path(path))?,
            status: raw.status.map_or(Ok(first.status), |status| self.status(status))?,
            timeout: raw.timeout.map_or(Ok(READY_TIMEOUT_DEFAULT), |timeout| self.duration(&timeout))?,
        })
    }

    fn endpoints(&self, raw: Vec<RawEndpoint>) -> Result<Vec<Endpoint>, PlanError> {
        if raw.is_empty() {
            let help = "add an [[endpoint]] with a name and a path";
            return Err(PlanError::new("the stack has no endpoint", help).in_file(self.file));
        }
        let mut endpoints: Vec<Endpoint> = Vec::new();
        for raw in raw {
            if endpoints.iter().any(|earlier| earlier.name == *raw.name.get_ref()) {
                let what = format!("a second endpoint is called `{}`", raw.name.get_ref());
                return Err(self.error(raw.name.span(), what, "give it a name of its own"));
            }
            endpoints.push(Endpoint {
                name: self.not_empty(raw.name)?,
                path: self.path(raw.path)?,
                status: raw.status.map_or(Ok(200), |status| self.status(status))?,
                body: raw.body,
                delay: raw.delay.map(|delay| self.duration(&delay)).transpose()?,
                connection: raw.connection.unwrap_or(ConnectionUse::KeepAlive),
            });
        }
        Ok(endpoints)
    }

    fn path(&self, path: Spanned<String>) -> Result<String, PlanError> {
        if path.get_ref().starts_with('/') && path.get_ref().bytes().all(|byte| byte.is_ascii_graphic()) {
            return Ok(path.into_inner());
        }
        let what = format!("`{}` is not the path of a request", path.get_ref());
        Err(self.error(path.span(), what, "begin it with / and write no spaces"))
    }

    fn status(&self, status: Spanned<u16>) -> Result<u16, PlanError> {
        if (200..600).contains(status.get_ref()) {
            return Ok(status.into_inner());
        }
        let what = format!("{} is not the status of an answer", status.get_ref());
        Err(self.error(status.span(), what, "write one from 200 to 599"))
    }

    fn duration(&self, text: &Spanned<String>) -> Result<Duration, PlanError> {
        text.get_ref().parse().map_err(|error| {
            let what = format!("`{}` is not a time", text.get_ref());
            self.error(text.span(), what, format!("{error}"))
        })
    }

    fn config_file(&self, raw: RawFile) -> Result<ConfigFile, PlanError> {
        let template = self.dir.join(raw.template.get_ref());
        if !template.is_file() {
            let what = format!("there is no file `{}`", raw.template.get_ref().display());
            return Err(self.error(
                raw.template.span(),
                what,
                "name a file, relative to the manifest's folder",
            ));
        }
        let at = raw.name.as_ref().map_or_else(|| raw.template.span(), Spanned::span);
        let own_name = || template.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let name = raw.name.map_or_else(own_name, Spanned::into_inner);
        if name.is_empty() || name.contains('/') || name == ".." {
            let what = format!("`{name}` is no file name");
            return Err(self.error(at, what, "write a plain name; the file goes into {work_dir}"));
        }
        Ok(ConfigFile { template, name })
    }
}
