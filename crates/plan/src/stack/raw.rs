//! A manifest as written: its form, before anything is checked.

use std::collections::BTreeMap;
use std::num::NonZeroU16;
use std::path::PathBuf;

use serde::Deserialize;
use toml::Spanned;

use super::speaks::Protocols;
use super::{ConnectionUse, Generation, InterventionOn};

/// The services of a project's file; what else is in it is an experiment.
#[derive(Deserialize)]
pub(super) struct RawServices {
    #[serde(default, rename = "service")]
    pub(super) services: BTreeMap<Spanned<String>, Raw>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Raw {
    pub(super) title: Option<Spanned<String>>,
    pub(super) family: Option<Spanned<String>>,
    pub(super) generation: Option<Generation>,
    pub(super) description: Option<String>,
    pub(super) upstream: Option<Spanned<RawUpstreams>>,
    pub(super) requests_per_connection: Option<Spanned<RawCap>>,
    #[serde(default)]
    pub(super) needs: RawNeeds,
    #[serde(default)]
    pub(super) parameters: BTreeMap<Spanned<String>, Spanned<String>>,
    #[serde(default)]
    pub(super) limits: RawLimits,
    pub(super) build: Option<RawBuild>,
    pub(super) run: Option<Spanned<RawRun>>,
    pub(super) url: Option<Spanned<String>>,
    pub(super) protocol: Option<Spanned<Protocols>>,
    pub(super) insecure: Option<Spanned<bool>>,
    pub(super) cacert: Option<Spanned<PathBuf>>,
    #[serde(default)]
    pub(super) ready: RawReady,
    #[serde(default, rename = "endpoint")]
    pub(super) endpoints: Vec<RawEndpoint>,
    #[serde(default, rename = "file")]
    pub(super) files: Vec<RawFile>,
    #[serde(default, rename = "variant")]
    pub(super) variants: Vec<RawVariant>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct RawNeeds {
    #[serde(default)]
    pub(super) tools: Vec<String>,
    pub(super) jdk: Option<u32>,
    pub(super) java: Option<u32>,
    #[serde(default)]
    pub(super) libraries: Vec<String>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct RawLimits {
    pub(super) cpu: Option<Spanned<f64>>,
    pub(super) open_files: Option<Spanned<u32>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawBuild {
    pub(super) dir: Option<Spanned<PathBuf>>,
    pub(super) command: Spanned<Vec<Spanned<String>>>,
    pub(super) inputs: Spanned<Vec<Spanned<PathBuf>>>,
    pub(super) output: Spanned<PathBuf>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawRun {
    pub(super) command: Spanned<Vec<Spanned<String>>>,
    #[serde(default)]
    pub(super) jvm_flags: Vec<Spanned<String>>,
    #[serde(default)]
    pub(super) env: BTreeMap<String, Spanned<String>>,
    pub(super) dir: Option<Spanned<PathBuf>>,
    pub(super) port: Option<NonZeroU16>,
    #[serde(default)]
    pub(super) scheme: RawScheme,
    pub(super) protocol: Option<Spanned<Protocols>>,
}

/// What URLs of a stack begin with.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "lowercase")]
pub(super) enum RawScheme {
    #[default]
    Http,
    Https,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct RawReady {
    pub(super) path: Option<Spanned<String>>,
    pub(super) status: Option<Spanned<u16>>,
    pub(super) timeout: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) accepts_connections: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawEndpoint {
    pub(super) name: Spanned<String>,
    pub(super) path: Spanned<String>,
    pub(super) status: Option<Spanned<u16>>,
    pub(super) body: Option<String>,
    pub(super) delay: Option<Spanned<String>>,
    pub(super) connection: Option<ConnectionUse>,
    pub(super) wire_bytes: Option<u64>,
    pub(super) framing: Option<RawFraming>,
    pub(super) thread: Option<Spanned<String>>,
    pub(super) upstream_connections_max: Option<Spanned<u32>>,
}

/// [`http::Framing`] as manifests name it.
#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
pub(super) enum RawFraming {
    None,
    ContentLength,
    Chunked,
    CloseDelimited,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawFile {
    pub(super) template: Spanned<PathBuf>,
    pub(super) name: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawVariant {
    pub(super) name: Spanned<String>,
    pub(super) description: Spanned<String>,
    #[serde(default)]
    pub(super) parameters: BTreeMap<Spanned<String>, Spanned<String>>,
    #[serde(default)]
    pub(super) limits: RawLimits,
    pub(super) jvm_flags: Option<Vec<Spanned<String>>>,
    pub(super) upstream: Option<Spanned<RawUpstreams>>,
    pub(super) requests_per_connection: Option<Spanned<RawCap>>,
    pub(super) intervention: Option<Spanned<RawIntervention>>,
    #[serde(default, rename = "endpoint")]
    pub(super) endpoints: Vec<RawEndpoint>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawIntervention {
    pub(super) on: InterventionOn,
    pub(super) factor: Option<Spanned<f64>>,
    pub(super) to: Option<Spanned<RawSize>>,
    pub(super) threads: Option<Spanned<String>>,
}

/// `400`, or `"256MiB"` of a heap.
#[derive(Deserialize)]
#[serde(untagged, expecting = "takes a whole number, or of a heap a size in quotes such as \"256MiB\"")]
pub(super) enum RawSize {
    Count(i64),
    Fraction(#[expect(dead_code, reason = "kept apart to be refused with its place")] f64),
    Amount(String),
}

/// `"db"`, or `["db", "cache"]`.
#[derive(Deserialize)]
#[serde(untagged, expecting = "takes the name of a stack, or several in brackets: [\"db\", \"cache\"]")]
pub(super) enum RawUpstreams {
    One(String),
    Several(Vec<String>),
}

impl RawUpstreams {
    pub(super) fn names(&self) -> &[String] {
        match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::Several(names) => names,
        }
    }
}

/// `100` or `"unlimited"`.
#[derive(Deserialize)]
#[serde(untagged, expecting = "takes a number of requests, or \"unlimited\"")]
pub(super) enum RawCap {
    Requests(u32),
    Word(String),
}
