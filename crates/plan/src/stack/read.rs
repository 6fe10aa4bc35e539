//! A manifest's text in, a [`StackManifest`] or the line of its first mistake out.

mod running;
mod upstreams;

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroU64};
use std::ops::Range;
use std::path::{Path, PathBuf};

use http::Framing;
use toml::Spanned;
use units::{Bytes, Duration};

use self::running::{RawRunning, put_before};
use self::upstreams::NAMED_UPSTREAM;
use super::raw::{
    Raw, RawBuild, RawCap, RawEndpoint, RawFile, RawFraming, RawIntervention, RawLimits, RawReady, RawRun,
    RawScheme, RawServices, RawSize, RawUpstreams, RawVariant,
};
use super::speaks::{Protocols, Wrong};
use super::{
    Build, ConfigFile, ConnectionUse, CpuQuota, Endpoint, Factor, Generation, Intervention, InterventionOn,
    LimitChange, Limits, Needs, Origin, Ready, ReadyWhen, Run, Spoken, StackManifest, Template, Variant,
};
use crate::error::PlanError;
use crate::nearest;
use crate::toml_file;

/// The placeholders that every stack has; `{upstream}` is empty where none is named.
const BUILT_IN: [&str; 7] =
    ["port", "address", "upstream", "proofload", "stack_dir", "build_dir", "work_dir"];
/// Those that are known when it is built.
const AT_BUILD: [&str; 2] = ["build_dir", "stack_dir"];
/// Where a project's services are built, from the project's folder on.
const SERVICE_BUILDS: &str = ".proofload/build";
const READY_TIMEOUT_DEFAULT: Duration = Duration::from_secs(30);
/// Files that a stack may be left with: fewer are too few for a program to start.
const OPEN_FILES: std::ops::RangeInclusive<u32> = 16..=1_048_576;

/// Validates `text`, the manifest `file` in folder `dir`: the stack as such, and then its variants.
pub(super) fn manifests(file: &Path, dir: &Path, text: &str) -> Result<Vec<StackManifest>, PlanError> {
    let raw: Raw = toml_file::parse(file, text, "docs/experiments.md")?;
    let id = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let source = Source { file, dir, text, id, own_build_dir: None, parameters: names_of(&raw) };
    source.with_variants(raw)
}

/// Validates the services in `text`, the project's file `file` in folder `dir`, each with its variants.
pub(super) fn services(file: &Path, dir: &Path, text: &str) -> Result<Vec<StackManifest>, PlanError> {
    let RawServices { services } = toml_file::parse(file, text, "docs/experiments.md")?;
    let mut all = Vec::new();
    for (id, raw) in services {
        let parameters = names_of(&raw);
        // Beside what the project's own build makes, which often goes to a folder `build`.
        let own_build_dir = Some(dir.join(SERVICE_BUILDS).join(id.get_ref()));
        let source = Source { file, dir, text, id: id.into_inner(), own_build_dir, parameters };
        all.extend(source.with_variants(raw)?);
    }
    Ok(all)
}

fn names_of(raw: &Raw) -> Vec<String> {
    raw.parameters.keys().map(name_of).collect()
}

fn name_of(key: &Spanned<String>) -> String {
    key.get_ref().clone()
}

/// When a template is filled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    AtBuild,
    AtRun,
}

const HELP_PLAIN: &str = "rename it: lower-case letters, digits, - and .";

/// Whether `name` can be part of an id. Folders are called so, too, and dots alone would be another folder.
fn is_plain(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
    name.bytes().all(plain) && name.bytes().any(|byte| byte != b'.')
}

fn framing(raw: RawFraming) -> Framing {
    match raw {
        RawFraming::None => Framing::None,
        RawFraming::ContentLength => Framing::ContentLength,
        RawFraming::Chunked => Framing::Chunked,
        RawFraming::CloseDelimited => Framing::CloseDelimited,
    }
}

/// A manifest's text, which errors point into.
struct Source<'a> {
    file: &'a Path,
    dir: &'a Path,
    text: &'a str,
    id: String,
    /// Where its build makes what it makes, if not in a folder `build` in the build's own.
    own_build_dir: Option<PathBuf>,
    /// The names of the stack's own placeholders.
    parameters: Vec<String>,
}

impl Source<'_> {
    fn error(&self, at: Range<usize>, what: impl Into<String>, help: impl Into<String>) -> PlanError {
        PlanError::new(what, help).at_offset(self.file, self.text, at.start)
    }

    /// The stack as such, and then its variants.
    fn with_variants(&self, mut raw: Raw) -> Result<Vec<StackManifest>, PlanError> {
        self.is_of_one_origin(&raw)?;
        let variants = std::mem::take(&mut raw.variants);
        let mut all = vec![self.manifest(raw)?];
        for raw in variants {
            let variant = self.variant(raw, &all)?;
            all.push(variant);
        }
        Ok(all)
    }

    fn manifest(&self, raw: Raw) -> Result<StackManifest, PlanError> {
        let files =
            raw.files.into_iter().map(|file| self.config_file(file)).collect::<Result<Vec<_>, _>>()?;
        let parameters = self.parameters(raw.parameters)?;
        let upstreams = self.upstreams(raw.upstream.as_ref())?;
        let (origin, spoken) = match raw.url {
            Some(url) => self.running(RawRunning {
                url,
                protocol: raw.protocol,
                insecure: raw.insecure,
                cacert: raw.cacert,
            })?,
            None => self.started(raw.run, &files, raw.upstream.as_ref())?,
        };
        let is_running = matches!(origin, Origin::Running(_));
        let patience = if is_running { running::READY_TIMEOUT_DEFAULT } else { READY_TIMEOUT_DEFAULT };
        let asks_nothing = raw.ready.accepts_connections && raw.endpoints.is_empty();
        let mut endpoints = if asks_nothing { Vec::new() } else { self.endpoints(raw.endpoints)? };
        let mut ready = self.ready(raw.ready, endpoints.first(), patience)?;
        if let Origin::Running(site) = &origin {
            put_before(&site.base, &mut ready, &mut endpoints);
        }
        Ok(StackManifest {
            id: self.id()?,
            variant: None,
            dir: self.dir.to_owned(),
            file: self.file.to_owned(),
            title: raw.title.map_or_else(|| Ok(self.id.clone()), |it| self.not_empty(it))?,
            family: raw.family.map_or_else(|| Ok(self.id.clone()), |it| self.not_empty(it))?,
            generation: raw.generation.unwrap_or(Generation::Timeless),
            description: raw.description,
            needs: Needs {
                tools: raw.needs.tools,
                jdk: raw.needs.jdk,
                java: raw.needs.java.or(raw.needs.jdk),
                libraries: raw.needs.libraries,
            },
            upstreams,
            parameters,
            limits: self.limits(raw.limits, Limits::default())?,
            requests_per_connection: self.cap(raw.requests_per_connection)?,
            build: raw.build.map(|build| self.build(build)).transpose()?,
            origin,
            spoken,
            ready,
            endpoints,
            files,
        })
    }

    /// What is started, and told where to listen.
    fn started(
        &self,
        raw: Option<Spanned<RawRun>>,
        files: &[ConfigFile],
        upstream: Option<&Spanned<RawUpstreams>>,
    ) -> Result<(Origin, Spoken), PlanError> {
        let Some(raw) = raw else {
            let help = "add [run] with the command that starts it, or url = \"http://…\" where it is running already";
            return Err(PlanError::new(format!("`{}` has no [run]", self.id), help).in_file(self.file));
        };
        let at_run = raw.span();
        let mut raw = raw.into_inner();
        let spoken = self.spoken(raw.scheme, raw.protocol.take())?;
        let run = self.run(raw)?;
        let says_port = |template: &Template| template.0.contains("{port}");
        let is_told = run.port.is_some() || run.command.iter().chain(run.env.values()).any(says_port);
        if files.is_empty() && !is_told {
            let help = "put {port} into its command, its env, or a [[file]] that it reads; or say port = 8080 in [run] \
                        where it always listens at the same";
            return Err(self.error(at_run, "the stack is not told where to listen", help));
        }
        self.uses(&run, files, upstream)?;
        Ok((Origin::Started(run), spoken))
    }

    fn id(&self) -> Result<String, PlanError> {
        if is_plain(&self.id) {
            return Ok(self.id.clone());
        }
        let place = if self.own_build_dir.is_some() { self.file } else { self.dir };
        Err(PlanError::new(format!("`{}` cannot be the id of a stack", self.id), HELP_PLAIN).in_file(place))
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
        let build_dir = self.own_build_dir.clone().unwrap_or_else(|| dir.join("build"));
        Ok(Build {
            inputs: inputs.collect::<Result<_, _>>()?,
            command: self.command(raw.command, Known::AtBuild)?,
            output: build_dir.join(raw.output.get_ref()),
            dir,
            build_dir,
        })
    }

    fn run(&self, raw: RawRun) -> Result<Run, PlanError> {
        let at_command = raw.command.span();
        let misplaced =
            raw.command.get_ref().iter().find(|argument| argument.get_ref().starts_with("-X")).cloned();
        let command = self.command(raw.command, Known::AtRun)?;
        let is_java = super::is_java(&command[0]);
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
        let dir = raw.dir.map(|dir| {
            self.dir.join(dir.get_ref()).canonicalize().map_err(|error| {
                let what = format!("the folder `{}` cannot be read ({error})", dir.get_ref().display());
                self.error(dir.span(), what, "name an existing folder, relative to the manifest's")
            })
        });
        let jvm_flags = raw.jvm_flags.into_iter().map(|flag| self.template(flag, Known::AtRun));
        let env = raw.env.into_iter().map(|(name, value)| Ok((name, self.template(value, Known::AtRun)?)));
        Ok(Run {
            command,
            jvm_flags: jvm_flags.collect::<Result<_, _>>()?,
            env: env.collect::<Result<_, _>>()?,
            dir: dir.transpose()?,
            port: raw.port,
        })
    }

    /// What is spoken at a stack's port.
    fn spoken(&self, scheme: RawScheme, protocols: Option<Spanned<Protocols>>) -> Result<Spoken, PlanError> {
        let at = protocols.as_ref().map_or(0..0, Spanned::span);
        let protocols = protocols.map(Spanned::into_inner).unwrap_or_default();
        protocols
            .spoken(scheme == RawScheme::Https)
            .map_err(|Wrong { what, help }| self.error(at, what, help))
    }

    fn command(&self, raw: Spanned<Vec<Spanned<String>>>, known: Known) -> Result<Vec<Template>, PlanError> {
        let at = raw.span();
        if raw.get_ref().first().is_none_or(|program| program.get_ref().is_empty()) {
            let help = "write the program and its arguments, each as its own text";
            return Err(self.error(at, "the command has no program", help));
        }
        raw.into_inner().into_iter().map(|text| self.template(text, known)).collect()
    }

    fn template(&self, text: Spanned<String>, known: Known) -> Result<Template, PlanError> {
        let mut rest = text.get_ref().as_str();
        while let Some((_, after)) = rest.split_once('{') {
            let (name, after) = after.split_once('}').unwrap_or((after, ""));
            let at_run = BUILT_IN.contains(&name)
                || name.starts_with(NAMED_UPSTREAM)
                || self.parameters.iter().any(|own| own == name);
            if !at_run {
                let what = format!("`{{{name}}}` is no placeholder");
                let own = self.parameters.iter().map(String::as_str);
                let all: Vec<String> =
                    BUILT_IN.into_iter().chain(own).map(|name| format!("{{{name}}}")).collect();
                let help = format!("use {}, or declare it in [parameters]", all.join(", "));
                return Err(self.error(text.span(), what, help));
            }
            if known == Known::AtBuild && !AT_BUILD.contains(&name) {
                let what = format!("`{{{name}}}` is not known when a stack is built");
                return Err(self.error(text.span(), what, "use {build_dir} or {stack_dir}"));
            }
            rest = after;
        }
        Ok(Template(text.into_inner()))
    }

    fn parameters(
        &self,
        raw: BTreeMap<Spanned<String>, Spanned<String>>,
    ) -> Result<BTreeMap<String, String>, PlanError> {
        raw.into_iter()
            .map(|(name, value)| {
                let word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
                let is_word = !name.get_ref().is_empty() && name.get_ref().bytes().all(word);
                if !is_word || BUILT_IN.contains(&name.get_ref().as_str()) {
                    let what = format!("`{}` cannot be the name of a parameter", name.get_ref());
                    let help = "use lower-case letters, digits and _, and no built-in placeholder's name";
                    return Err(self.error(name.span(), what, help));
                }
                if value.get_ref().contains(['{', '}']) {
                    let help = "write the value itself; parameters are filled in once";
                    return Err(self.error(value.span(), "a parameter holds a placeholder", help));
                }
                Ok((name.into_inner(), value.into_inner()))
            })
            .collect()
    }

    /// What is declared is used: a parameter that nothing reads would be varied without effect.
    fn uses(
        &self,
        run: &Run,
        files: &[ConfigFile],
        upstream: Option<&Spanned<RawUpstreams>>,
    ) -> Result<(), PlanError> {
        let mut texts: Vec<String> = run.templates().map(|template| template.0.clone()).collect();
        for file in files {
            texts.push(toml_file::read(&file.template)?);
        }
        let used = |name: &str| texts.iter().any(|text| text.contains(&format!("{{{name}}}")));
        if let Some(unused) = self.parameters.iter().find(|name| !used(name)) {
            let what = format!("the parameter `{unused}` is used nowhere");
            let help = format!("write {{{unused}}} in the command, in env or in a [[file]], or remove it");
            return Err(PlanError::new(what, help).in_file(self.file));
        }
        self.tells_upstreams(upstream, &texts)
    }

    /// `raw`, where a key that is not given is as `before`.
    fn limits(&self, raw: RawLimits, before: Limits) -> Result<Limits, PlanError> {
        let cpu = raw.cpu.map(|cores| {
            let help = "write how many cores' worth of time it may have, from 0.01 to 1000, as in 0.5";
            let what = format!("{} is no quota of CPU time", cores.get_ref());
            CpuQuota::from_cores(*cores.get_ref()).ok_or_else(|| self.error(cores.span(), what, help))
        });
        let open_files = raw.open_files.map(|files| {
            let count = NonZeroU32::new(*files.get_ref()).filter(|count| OPEN_FILES.contains(&count.get()));
            let what = format!("{} is no bound of open files", files.get_ref());
            let help = format!("write a number from {} to {}", OPEN_FILES.start(), OPEN_FILES.end());
            count.ok_or_else(|| self.error(files.span(), what, help))
        });
        Ok(Limits {
            cpu: cpu.transpose()?.or(before.cpu),
            open_files: open_files.transpose()?.or(before.open_files),
        })
    }

    fn cap(&self, raw: Option<Spanned<RawCap>>) -> Result<Option<NonZeroU32>, PlanError> {
        let Some(raw) = raw else { return Ok(None) };
        let at = raw.span();
        let cap = match raw.into_inner() {
            RawCap::Word(word) if word == "unlimited" => return Ok(None),
            RawCap::Word(_) => None,
            RawCap::Requests(count) => NonZeroU32::new(count),
        };
        let help = "write how many requests a connection serves, or \"unlimited\"";
        cap.map(Some).ok_or_else(|| self.error(at, "this is no number of requests", help))
    }

    /// The variant `raw` of the stack that `all` begins with.
    fn variant(&self, raw: RawVariant, all: &[StackManifest]) -> Result<StackManifest, PlanError> {
        let stack = &all[0];
        let at = raw.name.span();
        let name = self.not_empty(raw.name)?;
        let id = format!("{}@{name}", stack.id);
        if !is_plain(&name) {
            return Err(self.error(at, format!("`{name}` cannot be the name of a variant"), HELP_PLAIN));
        }
        if all.iter().any(|earlier| earlier.id == id) {
            let what = format!("a second variant is called `{name}`");
            return Err(self.error(at, what, "give it a name of its own"));
        }
        if let Some(unknown) = raw.parameters.keys().find(|key| !self.parameters.contains(key.get_ref())) {
            let what = format!("the stack has no parameter `{}`", unknown.get_ref());
            let known = self.parameters.iter().map(String::as_str);
            let help = nearest::help(unknown.get_ref(), known, "declare it in [parameters]");
            return Err(self.error(unknown.span(), what, help));
        }
        if let Some(upstream) = raw.upstream.as_ref().filter(|_| stack.upstreams.is_empty()) {
            let what = "the stack has no upstream that a variant could change";
            return Err(self.error(upstream.span(), what, "name one for the stack, too"));
        }
        let mut variant = stack.clone();
        variant.parameters.extend(self.parameters(raw.parameters)?);
        variant.limits = self.limits(raw.limits, stack.limits)?;
        if let (Some(flags), Origin::Started(run)) = (raw.jvm_flags, &mut variant.origin) {
            let flags = flags.into_iter().map(|flag| self.template(flag, Known::AtRun));
            run.jvm_flags = flags.collect::<Result<_, _>>()?;
        }
        if let Some(upstream) = raw.upstream {
            variant.upstreams = self.other_upstreams(&upstream, &stack.upstreams)?;
        }
        if raw.requests_per_connection.is_some() {
            variant.requests_per_connection = self.cap(raw.requests_per_connection)?;
        }
        if !raw.endpoints.is_empty() {
            variant.endpoints = self.endpoints(raw.endpoints)?;
            // A stack that names another path for that is asked for it, whatever its endpoints are.
            let first = stack.endpoints.first().map(|it| it.path.as_str());
            if let ReadyWhen::Answers { path, status } = &mut variant.ready.when
                && first == Some(path.as_str())
            {
                path.clone_from(&variant.endpoints[0].path);
                *status = variant.endpoints[0].status;
            }
        }
        if Self::runs_like(&variant, stack) {
            let what = format!("the variant `{name}` runs as the stack itself does");
            return Err(self.error(at, what, "change a parameter, the JVM flags, a limit or the upstream"));
        }
        let description = self.not_empty(raw.description)?;
        let intervention = raw.intervention.map(|raw| self.intervention(raw)).transpose()?;
        variant.variant = Some(Variant { of: stack.id.clone(), name, description, intervention });
        variant.id = id;
        Ok(variant)
    }

    fn intervention(&self, raw: Spanned<RawIntervention>) -> Result<Intervention, PlanError> {
        let at = raw.span();
        let RawIntervention { on, factor, to, threads } = raw.into_inner();
        if let Some(threads) = threads.as_ref().filter(|_| on != InterventionOn::Pool) {
            let help = "only those of a pool have a name of their own; leave it out";
            return Err(self.error(threads.span(), format!("`{on}` has no threads"), help));
        }
        let at_size = factor.as_ref().map(Spanned::span).or_else(|| to.as_ref().map(Spanned::span));
        if let Some(at) = at_size.filter(|_| on == InterventionOn::Collector) {
            return Err(self.error(at, "a collector has no size", "leave `factor` and `to` out"));
        }
        let change = match (factor, to) {
            (Some(_), Some(to)) => {
                let help = "keep `to` where the variant sets a size of its own, and `factor` otherwise";
                return Err(self.error(to.span(), "by how much it is changed is said twice", help));
            }
            (Some(factor), None) => self.factor(&factor)?,
            (None, Some(to)) => self.size(on, &to)?,
            (None, None) if on.may_lack_size() => LimitChange::Unsized,
            (None, None) => {
                let what = format!("by how much `{on}` is changed is not said");
                return Err(self.error(at, what, "add `to`, the size it has then, or `factor`"));
            }
        };
        let threads = threads.map(|names| self.not_empty(names)).transpose()?;
        Ok(Intervention { on, change, threads })
    }

    fn factor(&self, factor: &Spanned<f64>) -> Result<LimitChange, PlanError> {
        let what = || format!("{} times as much is no change of a limit", factor.get_ref());
        let help = "write a number above 0, other than 1";
        let valid = Factor::new(*factor.get_ref()).map(LimitChange::Factor);
        valid.ok_or_else(|| self.error(factor.span(), what(), help))
    }

    fn size(&self, on: InterventionOn, to: &Spanned<RawSize>) -> Result<LimitChange, PlanError> {
        let size = match (on, to.get_ref()) {
            (InterventionOn::Heap, RawSize::Amount(text)) => {
                text.parse().ok().filter(|it| *it > Bytes(0)).map(LimitChange::ToBytes)
            }
            (InterventionOn::Heap, RawSize::Count(_)) | (_, RawSize::Fraction(_) | RawSize::Amount(_)) => {
                None
            }
            (_, RawSize::Count(count)) => {
                u64::try_from(*count).ok().and_then(NonZeroU64::new).map(LimitChange::To)
            }
        };
        let help = match on {
            InterventionOn::Heap => "write it with its unit, such as \"256MiB\"",
            _ => "write a whole number from 1",
        };
        size.ok_or_else(|| self.error(to.span(), format!("this is no size of `{on}`"), help))
    }

    fn runs_like(one: &StackManifest, other: &StackManifest) -> bool {
        (&one.parameters, &one.origin, &one.upstreams, one.limits)
            == (&other.parameters, &other.origin, &other.upstreams, other.limits)
    }

    /// There is a first endpoint wherever something is asked for.
    fn ready(&self, raw: RawReady, first: Option<&Endpoint>, patience: Duration) -> Result<Ready, PlanError> {
        if let Some(path) = raw.path.as_ref().filter(|_| raw.accepts_connections) {
            let what = "a stack that is up when it accepts a connection is asked for nothing";
            return Err(self.error(path.span(), what, "leave `path` or `accepts_connections` out"));
        }
        let when = match first.filter(|_| !raw.accepts_connections) {
            Some(first) => ReadyWhen::Answers {
                path: raw.path.map_or_else(|| Ok(first.path.clone()), |path| self.path(path))?,
                status: raw.status.map_or(Ok(first.status), |status| self.status(status))?,
            },
            None => ReadyWhen::Accepts,
        };
        let timeout = raw.timeout.map_or(Ok(patience), |timeout| self.duration(&timeout))?;
        Ok(Ready { when, timeout })
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
                wire_bytes: raw.wire_bytes.map(Bytes),
                framing: raw.framing.map(framing),
                thread: raw.thread.map(|name| self.not_empty(name)).transpose()?,
                upstream_connections_max: raw.upstream_connections_max.map(Spanned::into_inner),
            });
        }
        Ok(endpoints)
    }

    fn path(&self, path: Spanned<String>) -> Result<String, PlanError> {
        // What is behind a # is never sent: a load would leave it out, and a check would not.
        let is_sent = |byte: u8| byte.is_ascii_graphic() && byte != b'#';
        if path.get_ref().starts_with('/') && path.get_ref().bytes().all(is_sent) {
            return Ok(path.into_inner());
        }
        let what = format!("`{}` is not the path of a request", path.get_ref());
        Err(self.error(path.span(), what, "begin it with / and write no spaces and no #"))
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
        if matches!(name.as_str(), "" | "." | "..") || name.contains('/') {
            let what = format!("`{name}` is no file name");
            return Err(self.error(at, what, "write a plain name; the file goes into {work_dir}"));
        }
        Ok(ConfigFile { template, name })
    }
}
