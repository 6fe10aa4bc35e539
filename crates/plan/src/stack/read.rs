//! A manifest's text in, a [`StackManifest`] or the line of its first mistake out.

mod endpoints;
mod placeholders;
mod running;
mod started;
mod upstreams;
mod variant;

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};

use toml::Spanned;

use self::running::{RawRunning, put_before};
use super::raw::{Raw, RawCap, RawFile, RawLimits, RawScheme, RawServices};
use super::speaks::{Protocols, Wrong};
use super::{ConfigFile, CpuQuota, Generation, Limits, Needs, Origin, Spoken, StackManifest};
use crate::error::PlanError;
use crate::toml_file;

/// Where a project's services are built, from the project's folder on.
const SERVICE_BUILDS: &str = ".proofload/build";
/// Files that a stack may be left with: fewer are too few for a program to start.
const OPEN_FILES: RangeInclusive<u32> = 16..=1_048_576;

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

const HELP_PLAIN: &str = "rename it: lower-case letters, digits, - and .";

/// Whether `name` can be part of an id. Folders are called so, too, and dots alone would be another folder.
fn is_plain(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
    name.bytes().all(plain) && name.bytes().any(|byte| byte != b'.')
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
        self.no_file_twice(&files)?;
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
        let patience =
            if is_running { running::READY_TIMEOUT_DEFAULT } else { started::READY_TIMEOUT_DEFAULT };
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

    /// What is spoken at a stack's port.
    fn spoken(&self, scheme: RawScheme, protocols: Option<Spanned<Protocols>>) -> Result<Spoken, PlanError> {
        let at = protocols.as_ref().map_or(0..0, Spanned::span);
        let protocols = protocols.map(Spanned::into_inner).unwrap_or_default();
        protocols
            .spoken(scheme == RawScheme::Https)
            .map_err(|Wrong { what, help }| self.error(at, what, help))
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

    /// Of two files of one name the second would be written over the first.
    fn no_file_twice(&self, files: &[ConfigFile]) -> Result<(), PlanError> {
        let mut names = BTreeSet::new();
        match files.iter().find(|file| !names.insert(&file.name)) {
            Some(ConfigFile { name, .. }) => {
                let what = format!("two files are written to `{name}`");
                Err(PlanError::new(what, "give each [[file]] a name of its own").in_file(self.file))
            }
            None => Ok(()),
        }
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
