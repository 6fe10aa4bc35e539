//! Fields that are given beside a recording or a document, and go out with every request of it.

use std::collections::BTreeSet;

use plan::PlanError;
use scenario::{DataSet, RequestStep, Scenario, Template};
use url::Url;

use crate::braces::Reader;

/// Servers at most that an error names.
const NAMED_MAX: usize = 3;

/// Fields that go out with every request of a source, whatever that says itself.
#[derive(Debug, Clone, Default)]
pub struct Fields {
    /// Names and values as they are written.
    written: Vec<(String, String)>,
    /// The same as they are sent.
    sent: Vec<(Template, Template)>,
    /// The names of those fields of the source that are not sent.
    anew: Vec<String>,
    /// The files that lines are taken of.
    data: Vec<DataSet>,
}

impl Fields {
    /// Those of `lines`, each `Name: value`, in which words in double braces may stand. Of the source's own, those named in
    /// `anew` are not sent: of fields that may be there once, servers read the one or the other.
    ///
    /// # Errors
    /// A line that is no field, or has a word that can't be filled in.
    pub fn new(lines: &[String], anew: Vec<String>) -> Result<Self, PlanError> {
        let mut reader = Reader::default();
        let sent = lines.iter().map(|line| reader.field(line)).collect::<Result<_, PlanError>>()?;
        let written = lines.iter().filter_map(|line| line.split_once(':'));
        let written = written.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()));
        Ok(Self { written: written.collect(), sent, anew, data: reader.into_data() })
    }
}

/// Such fields, and the servers that they go to.
#[derive(Debug)]
pub(crate) struct Along<'a> {
    given: &'a Fields,
    servers: BTreeSet<String>,
}

impl<'a> Along<'a> {
    pub(crate) const fn of(given: &'a Fields) -> Self {
        Self { given, servers: BTreeSet::new() }
    }

    /// Puts them on a request to `url`.
    pub(crate) fn put_on(&mut self, step: &mut RequestStep, url: &Url) {
        self.servers.insert(url.origin().ascii_serialization());
        let is_anew = |name: &Template| {
            let name = name.constant().unwrap_or_default().trim();
            self.given.anew.iter().any(|anew| anew.eq_ignore_ascii_case(name))
        };
        step.headers.retain(|(name, _)| !is_anew(name));
        step.headers.extend(self.given.sent.iter().cloned());
    }

    /// What is sent as the field `name`, as it is written.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        let mut written = self.given.written.iter();
        written.find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Completes the scenario of what they were put on. They may open a door: it is for whoever gives them to say whose.
    pub(crate) fn complete(self, scenario: &mut Scenario) -> Result<(), PlanError> {
        let count = self.servers.len();
        if count > 1 && !self.given.sent.is_empty() {
            let named: Vec<&str> = self.servers.iter().take(NAMED_MAX).map(String::as_str).collect();
            let more = if count > NAMED_MAX { ", …" } else { "" };
            let what = format!(
                "its requests go to {count} servers ({}{more}), and what -H, -u and -b say would be told to all of them",
                named.join(", ")
            );
            let help = "name the one to load by --base URL, or write a scenario (docs/scenarios.md)";
            return Err(PlanError::new(what, help));
        }
        scenario.data.clone_from(&self.given.data);
        Ok(())
    }
}
