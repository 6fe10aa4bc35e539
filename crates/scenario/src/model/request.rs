//! A request: what is sent, what is taken from its answer, and what must be true of that.

use std::path::PathBuf;
use std::sync::Arc;

use engine::Waits;
use http::{InvalidRequest, RequestSpec};
use units::Duration;

use super::OnError;
use super::data::UserValues;
use super::multipart::Multipart;
use super::pause::Pause;
use crate::template::Template;

/// Says whether a request can be sent over the protocol that is spoken.
pub type RequestCheck = fn(&RequestSpec<'_>) -> Result<(), InvalidRequest>;

/// A request, what is taken from its answer, and what must be true of it.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestStep {
    /// Its label in results.
    pub name: Template,
    /// The method.
    pub method: Template,
    /// `http://host[:port]/path?query`, whole.
    pub url: Template,
    /// Field names and values.
    pub headers: Vec<(Template, Template)>,
    /// The body.
    pub body: Template,
    /// Fields of a form that are percent-encoded into the query (GET, DELETE, HEAD) or the body (else), after `body`.
    /// The flag says whether name and value still have to be encoded.
    pub form: Vec<(Template, Template, bool)>,
    /// A file whose bytes are the body, read once before the start; then there is no other body and no form.
    pub body_file: Option<PathBuf>,
    /// A body of several parts, whose type takes the place of any that a header field says; then there is no other body and no
    /// form.
    pub multipart: Option<Multipart>,
    /// Whether the connection is kept.
    pub keep_alive: bool,
    /// Redirects followed at most; 0 takes them as answers.
    pub redirects_max: u32,
    /// What its user does where it fails, beside what its group says.
    pub on_error: OnError,
    /// How long it waits for a connection and for its answer; `None` is as long as the scenario says.
    pub waits: Option<Waits>,
    /// Variables that are set before it, and before its pauses. Requests that have the same ones share them, and so the counts of
    /// the counters in them.
    pub sets: Vec<Arc<UserValues>>,
    /// Pauses before it, added up.
    pub pauses: Vec<Pause>,
    /// What is taken from the answer.
    pub extractions: Vec<Extraction>,
    /// What must be true of the answer, besides a status from 200 to 399, which one of them may waive.
    pub assertions: Vec<Assertion>,
}

impl RequestStep {
    /// A request without variables, fields, body, checks and extractions, which takes a redirect as an answer.
    pub fn plain(name: impl Into<String>, method: &str, url: &str) -> Self {
        Self {
            name: Template::text(name),
            method: Template::text(method),
            url: Template::text(url),
            headers: Vec::new(),
            body: Template::default(),
            form: Vec::new(),
            body_file: None,
            multipart: None,
            keep_alive: true,
            redirects_max: 0,
            on_error: OnError::Continue,
            waits: None,
            sets: Vec::new(),
            pauses: Vec::new(),
            extractions: Vec::new(),
            assertions: Vec::new(),
        }
    }
}

/// A variable taken from an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Extraction {
    /// The variable. With `pick` "all", `name_1`, `name_2`, … and `name_matchNr` are set.
    pub name: String,
    /// Where it is looked for.
    pub part: Part,
    /// How it is found there.
    pub how: Extractor,
    /// Which match: 1 is the first, 0 one at random, −1 all.
    pub which: i32,
    /// The value where nothing matches; `None` leaves the variable as it was.
    pub default: Option<String>,
}

/// How a value is found.
#[derive(Debug, Clone, PartialEq)]
pub enum Extractor {
    /// A regular expression and a template such as `$1$`.
    Regex {
        /// The expression, in which variables have the values that they have when the answer comes.
        pattern: Template,
        /// What of the match.
        template: String,
    },
    /// A JSONPath.
    Json {
        /// Such as `$.user.id`.
        path: String,
        /// What counts as found.
        rules: JsonRules,
    },
    /// What stands between two texts.
    Boundary {
        /// Text before it.
        left: String,
        /// Text after it.
        right: String,
    },
    /// The value of a header field.
    Header {
        /// The field.
        name: String,
    },
}

/// What a JSONPath comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum JsonRules {
    /// The values as they are found, as in scenarios.
    #[default]
    AsFound,
    /// A list, as JMeter takes it. In an extraction the only value is taken whatever match is asked for, `null` counts as
    /// nothing found, `name_1`, `name_2`, … go each time, and `name_matchNr` says how many there were unless one at random is
    /// asked for. In an assertion a list fits where it does or one of its values, and values have types.
    AsList,
    /// The same; and an extraction of all matches puts them together into `name_ALL`, with commas between them.
    AsJoinedList,
    /// The value as it is, as JMeter's plug-ins take it. In an extraction `null` is a text, the values of a list go into `name_1`,
    /// `name_2`, … besides, and their number into `name_matchNr`; an empty list counts as nothing found. In an assertion a list fits
    /// where it does or one of its values, values are compared as texts, and a path that may come to several places is there even
    /// where it comes to none.
    AsValue,
}

/// A part of an answer or its request.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// The body.
    Body,
    /// The head's fields.
    Headers,
    /// The status, as text.
    Status,
    /// The reason phrase.
    Reason,
    /// The URL of the request.
    Url,
    /// The head of the request.
    RequestHeaders,
    /// A variable instead of the answer.
    Variable(String),
}

/// What must be true of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Assertion {
    /// Its name, for the failure message.
    pub name: String,
    /// What is held against what.
    pub check: Check,
    /// Whether the opposite must be true; of several texts, of each by itself, as in JMeter.
    pub negated: bool,
}

/// A check.
#[derive(Debug, Clone, PartialEq)]
pub enum Check {
    /// A part against texts or expressions.
    Text {
        /// Which part.
        part: Part,
        /// How it is compared.
        field: Field,
        /// With what.
        patterns: Vec<Template>,
        /// Whether one match is enough; else all must match.
        any: bool,
        /// Whether a status outside 200 to 399 is not itself a failure (JMeter's "ignore status").
        ignore_status: bool,
        /// What an empty text comes to, and what is taken back.
        rules: TextRules,
    },
    /// The answer took no longer.
    DurationAtMost(Duration),
    /// The answer's size in bytes, body and head.
    Size {
        /// Of which part: body, headers, or both.
        part: Option<Part>,
        /// Bytes.
        bytes: Template,
        /// How the size compares with it.
        comparison: SizeComparison,
    },
    /// A JSONPath exists, and its value is as given, if one is.
    Json {
        /// The path.
        path: String,
        /// The value, as text or, with `regex`, as an expression.
        value: Option<Template>,
        /// Whether `value` is a regular expression.
        regex: bool,
        /// Whether `null` will do as well.
        or_null: bool,
        /// How a list is compared.
        rules: JsonRules,
    },
}

/// What a comparison of texts comes to beside them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TextRules {
    /// An empty text is a text, as in scenarios.
    #[default]
    Plain,
    /// As JMeter's Response Assertion has it: an empty text fits nothing, and where the opposite must be true nothing is wrong with
    /// it. One that ignores the status takes back what those before it found wrong.
    NothingFitsEmpty,
}

/// How a size compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeComparison {
    /// Equal.
    Equal,
    /// Not equal.
    NotEqual,
    /// Greater.
    Greater,
    /// Less.
    Less,
    /// Greater or equal.
    AtLeast,
    /// Less or equal.
    AtMost,
}

/// How a text is compared with a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// The regular expression is found in it.
    Contains,
    /// The regular expression matches all of it.
    Matches,
    /// It is the text.
    Equals,
    /// The text is in it.
    Substring,
}
