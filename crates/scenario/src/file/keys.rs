//! The keys of a scenario's file.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;

use serde::Deserialize;
use serde::de::{Deserializer, Error};
use toml::{Spanned, Value};
use units::{Duration, Rate};

use crate::model::{DataAtEnd, DataSharing, OnError, Pick};

type Texts = BTreeMap<String, Spanned<String>>;

/// A whole file.
#[derive(Debug, Default)]
pub(super) struct File {
    pub(super) name: Option<String>,
    pub(super) base: Option<String>,
    pub(super) timeout: Option<Duration>,
    pub(super) connect_timeout: Option<Duration>,
    pub(super) redirects: Option<u32>,
    pub(super) headers: Texts,
    pub(super) variables: Texts,
    pub(super) data: Vec<Spanned<DataTable>>,
    pub(super) groups: Vec<Spanned<GroupTable>>,
    /// The keys of a group, where there is one only.
    pub(super) group: GroupTable,
}

/// A file as it is read: the keys of the only group stand among its own.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FlatFile {
    name: Option<String>,
    base: Option<String>,
    #[serde(default, deserialize_with = "parsed")]
    timeout: Option<Duration>,
    #[serde(default, deserialize_with = "parsed")]
    connect_timeout: Option<Duration>,
    redirects: Option<u32>,
    #[serde(default)]
    headers: Texts,
    #[serde(default)]
    variables: Texts,
    #[serde(default)]
    data: Vec<Spanned<DataTable>>,
    #[serde(default)]
    groups: Vec<Spanned<GroupTable>>,
    load: Option<Spanned<LoadTable>>,
    on_error: Option<OnError>,
    cookies: Option<CookiesName>,
    #[serde(default)]
    steps: Vec<Spanned<StepTable>>,
}

impl<'de> Deserialize<'de> for File {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let flat = FlatFile::deserialize(deserializer)?;
        let group = GroupTable {
            name: None,
            load: flat.load,
            on_error: flat.on_error,
            cookies: flat.cookies,
            steps: flat.steps,
        };
        Ok(Self {
            name: flat.name,
            base: flat.base,
            timeout: flat.timeout,
            connect_timeout: flat.connect_timeout,
            redirects: flat.redirects,
            headers: flat.headers,
            variables: flat.variables,
            data: flat.data,
            groups: flat.groups,
            group,
        })
    }
}

/// Users who do the same.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GroupTable {
    pub(super) name: Option<String>,
    pub(super) load: Option<Spanned<LoadTable>>,
    pub(super) on_error: Option<OnError>,
    pub(super) cookies: Option<CookiesName>,
    #[serde(default)]
    pub(super) steps: Vec<Spanned<StepTable>>,
}

/// How users come and go.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LoadTable {
    pub(super) users: Option<u32>,
    #[serde(default, deserialize_with = "parsed")]
    pub(super) ramp_up: Option<Duration>,
    #[serde(default, deserialize_with = "parsed")]
    pub(super) delay: Option<Duration>,
    pub(super) iterations: Option<u64>,
    #[serde(default, deserialize_with = "parsed")]
    pub(super) duration: Option<Duration>,
    #[serde(default, deserialize_with = "parsed")]
    pub(super) rate: Option<Rate>,
    pub(super) arrivals: Option<ArrivalsName>,
}

/// One step: one of `request`, `set`, `count`, `steps` or a `think` by itself, and perhaps one of the keys that say when and how
/// often.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StepTable {
    pub(super) request: Option<Spanned<String>>,
    pub(super) set: Option<Texts>,
    pub(super) count: Option<Spanned<CountTable>>,
    pub(super) steps: Option<Vec<Spanned<StepTable>>>,
    pub(super) think: Option<Spanned<String>>,

    #[serde(rename = "loop")]
    pub(super) turns: Option<Spanned<Value>>,
    #[serde(rename = "if")]
    pub(super) condition: Option<Spanned<String>>,
    #[serde(rename = "while")]
    pub(super) as_long_as: Option<Spanned<String>>,
    pub(super) once: Option<Spanned<bool>>,
    pub(super) pick: Option<Spanned<Pick>>,
    pub(super) transaction: Option<Spanned<String>>,
    pub(super) with_pauses: Option<Spanned<bool>>,
    pub(super) alone: Option<Spanned<bool>>,
    pub(super) weight: Option<Spanned<u32>>,

    pub(super) name: Option<Spanned<String>>,
    pub(super) headers: Option<Texts>,
    pub(super) body: Option<Spanned<String>>,
    pub(super) json: Option<Spanned<Value>>,
    pub(super) form: Option<Texts>,
    pub(super) extract: Option<BTreeMap<String, Spanned<ExtractTable>>>,
    pub(super) expect: Option<Spanned<ExpectTable>>,
    pub(super) pace: Option<Spanned<PaceTable>>,
    pub(super) redirects: Option<u32>,
    pub(super) keep_alive: Option<bool>,
}

/// A variable that counts.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CountTable {
    pub(super) name: String,
    pub(super) from: Option<i64>,
    pub(super) by: Option<i64>,
    pub(super) to: Option<i64>,
    #[serde(default)]
    pub(super) each: CountEach,
}

/// Who counts by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum CountEach {
    /// All users count together.
    #[default]
    Load,
    /// Each user does.
    User,
}

/// Where a variable is taken from.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExtractTable {
    pub(super) json: Option<Spanned<String>>,
    pub(super) regex: Option<Spanned<String>>,
    pub(super) between: Option<[String; 2]>,
    pub(super) header: Option<String>,
    pub(super) template: Option<Spanned<String>>,
    pub(super) from: Option<PartName>,
    #[serde(rename = "match")]
    pub(super) which: Option<Spanned<Value>>,
    pub(super) default: Option<String>,
}

/// What must be true of an answer.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExpectTable {
    pub(super) status: Option<Spanned<Value>>,
    pub(super) contains: Option<Spanned<Value>>,
    pub(super) lacks: Option<Spanned<Value>>,
    pub(super) matches: Option<Spanned<Value>>,
    #[serde(default)]
    pub(super) json: BTreeMap<String, Spanned<Value>>,
    pub(super) has: Option<Spanned<Value>>,
    #[serde(default, deserialize_with = "parsed")]
    pub(super) within: Option<Duration>,
}

/// A rate that requests keep to.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PaceTable {
    #[serde(deserialize_with = "quantity")]
    pub(super) rate: Rate,
    #[serde(default)]
    pub(super) of: PaceOf,
}

/// A file of data.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DataTable {
    pub(super) file: PathBuf,
    #[serde(default)]
    pub(super) columns: Vec<String>,
    pub(super) delimiter: Option<char>,
    #[serde(default = "yes")]
    pub(super) quoted: bool,
    #[serde(default)]
    pub(super) skip_first: bool,
    pub(super) at_end: Option<AtEndName>,
    pub(super) sharing: Option<SharingName>,
}

fn yes() -> bool {
    true
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum CookiesName {
    Ignore,
    #[default]
    User,
    Iteration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ArrivalsName {
    Constant,
    Poisson,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum PartName {
    Body,
    Headers,
    Status,
    Reason,
    Url,
    RequestHeaders,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum PaceOf {
    #[default]
    User,
    Group,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum AtEndName {
    Recycle,
    StopUser,
    Eof,
}

impl From<AtEndName> for DataAtEnd {
    fn from(name: AtEndName) -> Self {
        match name {
            AtEndName::Recycle => Self::Recycle,
            AtEndName::StopUser => Self::StopUser,
            AtEndName::Eof => Self::Eof,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum SharingName {
    All,
    Group,
    User,
}

impl From<SharingName> for DataSharing {
    fn from(name: SharingName) -> Self {
        match name {
            SharingName::All => Self::All,
            SharingName::Group => Self::Group,
            SharingName::User => Self::User,
        }
    }
}

/// A quantity with its unit, as text.
fn quantity<'de, D: Deserializer<'de>, T>(deserializer: D) -> Result<T, D::Error>
where
    T: FromStr<Err: std::fmt::Display>,
{
    let text = String::deserialize(deserializer)?;
    text.parse().map_err(|error| D::Error::custom(format!("`{text}`: {error}")))
}

/// A quantity with its unit, as text, of a key that may be missing.
fn parsed<'de, D: Deserializer<'de>, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: FromStr<Err: std::fmt::Display>,
{
    quantity(deserializer).map(Some)
}
