//! The keys of a load in an experiment's file, and which of several tables has the say.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use serde::Deserialize;
use serde::de::{Deserializer, Error, Unexpected, Visitor};
use units::{Duration, Rate};

use crate::load::{IoChoice, LoadArguments, Threads};
use crate::load_id::ArrivalsName;
use crate::stack::ProtocolName;
use crate::toml_file::Numbers;

/// The keys of `[load]`, `[quick]` and a round's `load`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LoadTable {
    pub(super) connections: Option<Numbers>,
    /// Of stacks that speak HTTP/2.
    streams: Option<u32>,
    /// Of stacks that speak several.
    protocol: Option<ProtocolName>,
    #[serde(default, deserialize_with = "number_or_word")]
    threads: Option<Threads>,
    #[serde(default, deserialize_with = "parsed")]
    rate: Option<Rate>,
    arrivals: Option<ArrivalsName>,
    backlog_max: Option<u32>,
    #[serde(default, deserialize_with = "parsed")]
    think: Option<Duration>,
    #[serde(default, deserialize_with = "parsed")]
    ramp_up: Option<Duration>,
    requests_per_user: Option<u32>,
    /// As the endpoint's `connection` says, if not given.
    reuse: Option<ReuseName>,
    #[serde(default, deserialize_with = "parsed")]
    duration: Option<Duration>,
    requests: Option<u64>,
    #[serde(default, deserialize_with = "parsed")]
    warm_up: Option<WarmUpKey>,
    #[serde(default, deserialize_with = "parsed")]
    timeout: Option<Duration>,
    #[serde(default, deserialize_with = "parsed")]
    connect_timeout: Option<Duration>,
    #[serde(default, deserialize_with = "parsed")]
    idle_timeout: Option<Duration>,
    #[serde(default, deserialize_with = "parsed")]
    drain: Option<Duration>,
    #[serde(default, deserialize_with = "parsed")]
    io: Option<IoChoice>,
}

/// How a stack is warmed up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WarmUpKey {
    /// By the load itself, for so long.
    Lasting(Duration),
    /// In bursts until it is steady.
    Steady,
}

impl FromStr for WarmUpKey {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "steady" {
            return Ok(Self::Steady);
        }
        text.parse().map(Self::Lasting).map_err(|error| format!("{error}, or `steady`"))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ReuseName {
    KeepAlive,
    Fresh,
}

/// A quantity with its unit, as text.
pub(super) fn parsed<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: fmt::Display>,
{
    deserializer.deserialize_str(Quantity(PhantomData)).map(Some)
}

struct Quantity<T>(PhantomData<T>);

/// Of what has no quotes, `given`, which is `text`: to write these alone helps only where it is right in them.
fn without_quotes<T: FromStr<Err: fmt::Display>, E: Error>(given: Unexpected<'_>, text: &str) -> E {
    match text.parse::<T>() {
        Ok(_) => E::invalid_type(given, &"a string"),
        Err(error) => {
            E::custom(format!("`{text}` is not in quotes, and would be wrong in them, too: {error}"))
        }
    }
}

impl<T: FromStr<Err: fmt::Display>> Visitor<'_> for Quantity<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(|error| E::custom(format!("`{text}`: {error}")))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        Err(without_quotes::<T, E>(Unexpected::Signed(number), &number.to_string()))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<T, E> {
        Err(without_quotes::<T, E>(Unexpected::Float(number), &number.to_string()))
    }

    fn visit_bool<E: Error>(self, given: bool) -> Result<T, E> {
        Err(without_quotes::<T, E>(Unexpected::Bool(given), &given.to_string()))
    }
}

/// `2`, or a word.
fn number_or_word<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Threads>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "takes a number of threads, or \"auto\"")]
    enum Raw {
        Number(u32),
        Word(String),
    }
    let text = match Raw::deserialize(deserializer)? {
        Raw::Number(number) => number.to_string(),
        Raw::Word(word) => word,
    };
    text.parse().map(Some).map_err(D::Error::custom)
}

impl LoadTable {
    /// A warm-up and a window of so long, and nothing else.
    pub(super) fn lasting(span: Duration) -> Self {
        Self { warm_up: Some(WarmUpKey::Lasting(span)), duration: Some(span), ..Self::default() }
    }
}

/// Tables of which an earlier one's keys go before a later one's.
pub(super) struct Layers<'a>(pub(super) [&'a LoadTable; 3]);

impl Layers<'_> {
    fn first<T>(&self, key: impl Fn(&LoadTable) -> Option<T>) -> Option<T> {
        self.0.iter().find_map(|table| key(table))
    }

    /// How many connections, one load for each: at every load as the tables behind the first say.
    pub(super) fn connections(&self, at_every_load: bool) -> Option<Vec<u32>> {
        let tables = &self.0[usize::from(at_every_load)..];
        tables.iter().find_map(|table| table.connections.clone()).map(|Numbers(all)| all)
    }

    /// Requests that share a connection at one time, where a table says so.
    pub(super) fn streams(&self) -> Option<u32> {
        self.first(|table| table.streams)
    }

    /// What is spoken, where a table says so.
    pub(super) fn protocol(&self) -> Option<ProtocolName> {
        self.first(|table| table.protocol)
    }

    /// Whether connections are fresh, where a table says so.
    pub(super) fn fresh_connections(&self) -> Option<bool> {
        self.first(|table| table.reuse).map(|reuse| reuse == ReuseName::Fresh)
    }

    /// Whether a stack is warmed up in bursts.
    pub(super) fn until_steady(&self) -> bool {
        self.first(|table| table.warm_up) == Some(WarmUpKey::Steady)
    }

    /// The load of `connections` to an endpoint whose connections are fresh, or are not. When its requests are due is not
    /// drawn yet: that is each trial's own.
    pub(super) fn arguments(&self, connections: u32, fresh_connections: bool) -> LoadArguments {
        LoadArguments {
            connections: Some(connections),
            threads: self.first(|table| table.threads),
            rate: self.first(|table| table.rate),
            arrivals: self.first(|table| table.arrivals).unwrap_or_default(),
            backlog_max: self.first(|table| table.backlog_max),
            think: self.first(|table| table.think),
            ramp_up: self.first(|table| table.ramp_up),
            requests_per_user: self.first(|table| table.requests_per_user),
            duration: self.first(|table| table.duration),
            requests: self.first(|table| table.requests),
            warm_up: match self.first(|table| table.warm_up) {
                Some(WarmUpKey::Lasting(span)) => Some(span),
                Some(WarmUpKey::Steady) | None => None,
            },
            timeout: self.first(|table| table.timeout),
            connect_timeout: self.first(|table| table.connect_timeout),
            idle_timeout: self.first(|table| table.idle_timeout),
            drain: self.first(|table| table.drain),
            fresh_connections,
            seed: None,
            io: self.first(|table| table.io).unwrap_or_default(),
            http2: None,
        }
    }
}
