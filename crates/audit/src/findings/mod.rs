//! What can't be true or can't be known: one small function a check.

mod ab;
mod between;
mod counts;
mod idle;
mod latency;
mod little;
mod pool;
mod ramp;
mod siege;
mod text;
mod times;

pub(crate) use little::GAP_BROKEN;
use serde::Serialize;

use outputs::Document;
use outputs::Row;
use outputs::shown;

/// Version of [`Audit`]'s JSON.
pub const AUDIT_VERSION: u32 = 1;

/// How grave a finding is, the gravest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// The figures contradict each other: not all of them can be true.
    Broken,
    /// What is asked of the figure can't be known from it.
    Unknown,
    /// True, and worth knowing before one draws conclusions.
    Note,
}

impl Level {
    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Broken => "broken",
            Self::Unknown => "unknown",
            Self::Note => "note",
        }
    }
}

/// Kinds of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// N ≠ X · R.
    LittlesLaw,
    /// A figure of the latency is not a number.
    NotANumber,
    /// Rate × time ≠ count.
    RateTimesTime,
    /// Failures count in the rate.
    ErrorsAsAnswers,
    /// A percentile is above a higher one, or beyond the maximum.
    OutOfOrder,
    /// Each figure of the latency may be true, and no times have them all.
    NoSuchTimes,
    /// The author's summary is not what the raw output says.
    Summary,
    /// An order that the author gives has a figure that was not measured.
    Comparison,
    /// The order by rate is not the order by good answers.
    Ranking,
    /// The output is cut off.
    CutOff,
    /// A number can't be read.
    Unreadable,
    /// No request was answered.
    Empty,
    /// Late answers are left out of the latency.
    Censored,
    /// The longest latency is the timeout.
    MaxAtTimeout,
    /// The longest latency is beyond the timeout.
    BeyondTimeout,
    /// Requests ended without an answer, and are in no figure.
    SocketErrors,
    /// Connections stood idle in a run that was to keep them busy.
    IdleConnections,
    /// Not all connections came up.
    ConnectFailures,
    /// The run is shorter than ten of its response times.
    TooShort,
    /// The rate is that of a ramp-up.
    RampUp,
    /// The rate that was asked for is not the one that was made.
    OfferedRate,
    /// Nothing was measured twice.
    NoRepeats,
    /// What `explain` says of our own record.
    OwnAudit,
    /// The longest latency is a retry of a dropped handshake.
    SynRetry,
    /// The rate looks like a pool's.
    Pool,
    /// Answers differ in size.
    Bytes,
    /// A lead is within the spread of repeats.
    Lead,
    /// The same output stands there twice.
    Twice,
    /// All latencies are the same.
    NoVariance,
    /// JVM options that do nothing.
    JvmOptions,
    /// A time that is computed from rate and users, and not measured.
    ByDefinition,
    /// Answers differ in length from the first one, and count as failed.
    OtherLengths,
    /// The latency is that of the first answers alone.
    FirstAnswers,
    /// Percentiles are none of the times that were measured, or estimates that differ.
    Percentiles,
    /// Rows were left out.
    TooMany,
}

impl Kind {
    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LittlesLaw => "Little's law",
            Self::NotANumber => "not a number",
            Self::RateTimesTime => "rate x time",
            Self::ErrorsAsAnswers => "errors as answers",
            Self::OutOfOrder => "out of order",
            Self::NoSuchTimes => "no such times",
            Self::Summary => "summary",
            Self::Comparison => "comparison",
            Self::Ranking => "ranking",
            Self::CutOff => "cut off",
            Self::Unreadable => "unreadable",
            Self::Empty => "no answers",
            Self::Censored => "censored",
            Self::MaxAtTimeout => "max at timeout",
            Self::BeyondTimeout => "beyond timeout",
            Self::SocketErrors => "socket errors",
            Self::IdleConnections => "idle connections",
            Self::ConnectFailures => "connect failures",
            Self::TooShort => "too short",
            Self::RampUp => "ramp-up",
            Self::OfferedRate => "offered rate",
            Self::NoRepeats => "no repeats",
            Self::OwnAudit => "own audit",
            Self::SynRetry => "SYN retries",
            Self::Pool => "pool",
            Self::Bytes => "not the same work",
            Self::Lead => "lead within spread",
            Self::Twice => "twice",
            Self::NoVariance => "no variance",
            Self::JvmOptions => "JVM options",
            Self::ByDefinition => "by definition",
            Self::OtherLengths => "other lengths",
            Self::FirstAnswers => "first answers",
            Self::Percentiles => "percentiles",
            Self::TooMany => "too many rows",
        }
    }
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// Decides the exit code: all but a note end the command with 4.
    pub level: Level,
    /// The check that found it, one function each.
    pub kind: Kind,
    /// The line in which its row or its statement begins, from 1.
    pub line: usize,
    /// Which row or rows, in words.
    pub row: String,
    /// The figures, and what follows from them.
    pub text: String,
}

impl Finding {
    fn of(row: &Row, level: Level, kind: Kind, text: String) -> Self {
        Self { level, kind, line: row.line, row: row.label(), text }
    }
}

/// What was found in one file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FileAudit {
    /// Its name.
    pub file: String,
    /// Rows that were read.
    pub rows: usize,
    /// What printed them, by name, in the order of their rows.
    pub tools: Vec<&'static str>,
    /// By row, the row with the gravest finding first, the gravest of a row first.
    pub findings: Vec<Finding>,
}

/// Numbers of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Counts {
    /// Rows that were read.
    pub rows: usize,
    /// Findings that say that something can't be true.
    pub broken: usize,
    /// That something can't be known.
    pub unknown: usize,
    /// That something is worth knowing.
    pub notes: usize,
}

/// What was found in all files.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Audit {
    /// [`AUDIT_VERSION`].
    pub version: u32,
    /// In the order given.
    pub files: Vec<FileAudit>,
    /// Over all.
    pub counts: Counts,
}

impl Audit {
    /// Whether nothing is broken or unknown.
    pub fn is_sound(&self) -> bool {
        self.counts.broken == 0 && self.counts.unknown == 0
    }
}

/// Holds every row against itself and against the others.
pub fn audit(documents: &[Document]) -> Audit {
    let spread = between::spread(documents);
    let mut counts = Counts::default();
    let mut files = Vec::with_capacity(documents.len());
    for document in documents {
        let mut findings: Vec<Finding> = document.rows.iter().flat_map(own).collect();
        findings.extend(between::all(document, &spread));
        findings.extend(pool::ceilings(document));
        findings.extend(ramp::orders(document));
        findings.extend(text::all(document));
        sort(&mut findings);
        counts.rows += document.rows.len();
        for finding in &findings {
            match finding.level {
                Level::Broken => counts.broken += 1,
                Level::Unknown => counts.unknown += 1,
                Level::Note => counts.notes += 1,
            }
        }
        let (rows, tools) = (document.rows.len(), tools(document));
        files.push(FileAudit { file: shown::quoted(&document.name), rows, tools, findings });
    }
    Audit { version: AUDIT_VERSION, files, counts }
}

/// The names of what printed the rows, each once.
fn tools(document: &Document) -> Vec<&'static str> {
    let mut tools = Vec::new();
    for name in document.rows.iter().map(|row| row.tool.name()) {
        if !tools.contains(&name) {
            tools.push(name);
        }
    }
    tools
}

/// The checks of a row against itself.
fn own(row: &Row) -> Vec<Finding> {
    let mut findings: Vec<Finding> = [
        little::law(row),
        counts::cut_off(row),
        counts::unreadable(row),
        counts::empty(row),
        counts::rate_times_time(row),
        counts::sampled_rate(row),
        counts::whole_seconds(row),
        counts::errors_as_answers(row),
        counts::socket_errors(row),
        counts::connect_failures(row),
        idle::connections(row),
        little::too_short(row),
        counts::offered_rate(row),
        counts::dropped(row),
        latency::not_a_number(row),
        latency::censored(row),
        latency::max_at_timeout(row),
        latency::beyond_timeout(row),
        latency::first_answers(row),
        latency::last_samples(row),
        latency::zeros(row),
        latency::estimates(row),
        latency::out_of_order(row),
        times::no_such_times(row),
        latency::syn_retry(row),
        latency::no_variance(row),
        ramp::up(row),
        ab::by_definition(row),
        siege::by_definition(row),
        ab::other_lengths(row),
    ]
    .into_iter()
    .flatten()
    .collect();
    for (is_broken, reason) in &row.own_reasons {
        let level = if *is_broken { Level::Broken } else { Level::Unknown };
        findings.push(Finding::of(row, level, Kind::OwnAudit, reason.clone()));
    }
    findings
}

/// By row, the row with the gravest finding first.
fn sort(findings: &mut [Finding]) {
    let gravest: std::collections::BTreeMap<(usize, String), Level> =
        findings.iter().fold(std::collections::BTreeMap::new(), |mut map, it| {
            let level = map.entry((it.line, it.row.clone())).or_insert(it.level);
            *level = (*level).min(it.level);
            map
        });
    findings.sort_by(|a, b| {
        let of = |it: &Finding| gravest.get(&(it.line, it.row.clone())).copied();
        (of(a), a.line, &a.row, a.level, a.kind).cmp(&(of(b), b.line, &b.row, b.level, b.kind))
    });
}
