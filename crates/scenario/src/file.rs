//! A scenario written in TOML. Every mistake is an error with its line.

mod keys;
mod request;
mod step;

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::Path;

use plan::PlanError;
use toml::Spanned;
use units::Duration;

use self::keys::{ArrivalsName, CookiesName, DataTable, File, GroupTable, LoadTable, StepTable};
use crate::model::{
    Children, CookiePolicy, DataAtEnd, DataSet, DataSharing, Group, Lacking, RateSpan, RedirectRules,
    Scenario, Step, Users,
};
use crate::template::Template;

impl Scenario {
    /// Reads a scenario from `text`, the content of `path`. Files of data are found from the folder of `path`, and not
    /// read yet. The format is described in `docs/scenarios.md`.
    ///
    /// # Errors
    /// The first mistake, with line and column.
    pub fn from_toml(path: &Path, text: &str) -> Result<Self, PlanError> {
        let file: File = plan::toml_file::parse(path, text, "docs/scenarios.md")?;
        let reader = Reader {
            path,
            text,
            base: file.base.as_ref().map_or("", |base| base.trim_end_matches('/')).to_owned(),
            headers: file.headers,
            redirects_max: file.redirects.unwrap_or(REDIRECTS_DEFAULT),
        };
        let variables = in_order(&file.variables)
            .map(|(name, value)| Ok((name.to_owned(), reader.template(value)?)))
            .collect::<Result<_, PlanError>>()?;
        let timeout = file.timeout.unwrap_or(plan::load::TIMEOUT_DEFAULT);
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        Ok(Self {
            name: file.name.unwrap_or_else(|| stem.into_owned()),
            variables,
            data: file.data.into_iter().map(|table| reader.data(table)).collect::<Result<_, _>>()?,
            groups: reader.groups(file.group, file.groups)?,
            connect_timeout: file.connect_timeout.unwrap_or(timeout),
            request_timeout: timeout,
            redirects: RedirectRules::Standard,
        })
    }
}

/// Redirects followed at most where the file does not say.
const REDIRECTS_DEFAULT: u32 = 10;

/// What holds for the whole file.
struct Reader<'a> {
    path: &'a Path,
    text: &'a str,
    /// What a path is appended to.
    base: String,
    /// Fields of every request.
    headers: BTreeMap<String, Spanned<String>>,
    redirects_max: u32,
}

/// The entries of a table in the order in which they were written.
fn in_order<T>(table: &BTreeMap<String, Spanned<T>>) -> impl Iterator<Item = (&str, &Spanned<T>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(_, value)| value.span().start);
    entries.into_iter().map(|(name, value)| (name.as_str(), value))
}

impl Reader<'_> {
    /// An error about something that was written at `span`.
    fn error<T>(&self, at: &Spanned<T>, what: impl Into<String>, help: impl Into<String>) -> PlanError {
        PlanError::new(what, help).at_offset(self.path, self.text, at.span().start)
    }

    fn template(&self, text: &Spanned<String>) -> Result<Template, PlanError> {
        self.template_of(text, text.get_ref())
    }

    /// The template of a text that was made from what was written at `at`.
    fn template_of<T>(&self, at: &Spanned<T>, text: &str) -> Result<Template, PlanError> {
        Template::parse(text)
            .map_err(|error| self.error(at, error.to_string(), "docs/scenarios.md lists the functions"))
    }

    /// The groups of a file; keys of a group that stand at the top make the only one.
    fn groups(&self, top: GroupTable, groups: Vec<Spanned<GroupTable>>) -> Result<Vec<Group>, PlanError> {
        if groups.is_empty() {
            if top.steps.is_empty() {
                let error = PlanError::new("has no steps", "add a [[steps]] with a request");
                return Err(error.in_file(self.path));
            }
            return Ok(vec![self.group(top, "users")?]);
        }
        if let Some(step) = top.steps.first() {
            let help = "move it into one of the groups";
            return Err(self.error(step, "a step stands outside the groups", help));
        }
        if let Some(load) = &top.load {
            return Err(self.error(load, "a load stands outside the groups", "give each group its own"));
        }
        let number = |(index, group): (usize, Spanned<GroupTable>)| {
            if group.get_ref().steps.is_empty() {
                return Err(self.error(
                    &group,
                    "the group has no steps",
                    "add a [[groups.steps]] with a request",
                ));
            }
            let mut group = group.into_inner();
            // What is said at the top holds for groups that say nothing of it.
            group.cookies = group.cookies.or(top.cookies);
            group.on_error = group.on_error.or(top.on_error);
            self.group(group, &format!("group {}", index + 1))
        };
        groups.into_iter().enumerate().map(number).collect()
    }

    fn group(&self, table: GroupTable, name: &str) -> Result<Group, PlanError> {
        let steps = self.steps(&table.steps)?;
        if !makes_requests(Children::Steps(&steps)) {
            let at = table.steps.first();
            let what = "no step makes a request";
            let help = "add one with request = \"GET /path\"";
            return Err(at.map_or_else(
                || PlanError::new(what, help).in_file(self.path),
                |at| self.error(at, what, help),
            ));
        }
        Ok(Group {
            name: table.name.unwrap_or_else(|| name.to_owned()),
            users: self.users(table.load.as_ref())?,
            on_error: table.on_error.unwrap_or_default(),
            cookies: match table.cookies.unwrap_or_default() {
                CookiesName::Ignore => CookiePolicy::Ignore,
                CookiesName::User => CookiePolicy::Keep,
                CookiesName::Iteration => CookiePolicy::KeepForIteration,
            },
            own_cookies: Vec::new(),
            rows: None,
            steps,
        })
    }

    fn steps(&self, tables: &[Spanned<StepTable>]) -> Result<Vec<Step>, PlanError> {
        let mut steps = Vec::new();
        for table in tables {
            if let Some(weight) = &table.get_ref().weight {
                let help = "put the step into one with pick = \"random\"";
                return Err(self.error(weight, "a weight means something within a random pick only", help));
            }
            steps.extend(self.step(table)?);
        }
        Ok(steps)
    }

    fn users(&self, load: Option<&Spanned<LoadTable>>) -> Result<Users, PlanError> {
        let none = LoadTable::default();
        let table = load.map_or(&none, Spanned::get_ref);
        let wrong = |what: &str, help: &str| match load {
            Some(load) => Err(self.error(load, what, help)),
            None => Err(PlanError::new(what, help).in_file(self.path)),
        };
        if table.duration.is_some_and(Duration::is_zero) {
            return wrong("a duration of zero", "give it a length, as in \"2s\"");
        }
        let ramp_up = table.ramp_up.unwrap_or(Duration::ZERO);
        let Some(rate) = table.rate else {
            if table.arrivals.is_some() {
                return wrong("arrivals are those of a rate", "add rate = \"50/s\", or take arrivals out");
            }
            let Some(count) = NonZeroU32::new(table.users.unwrap_or(1)) else {
                return wrong("a load of 0 users", "write how many there are");
            };
            let iterations = match table.iterations.map(NonZeroU64::new) {
                Some(None) => return wrong("0 iterations", "write how many each user makes"),
                Some(some) => some,
                None if table.duration.is_none() => Some(NonZeroU64::MIN),
                None => None,
            };
            // They come one after another, in even parts of the ramp-up.
            let last = u128::from(ramp_up.as_nanos()) * u128::from(count.get() - 1) / u128::from(count.get());
            if table.duration.is_some_and(|duration| last >= u128::from(duration.as_nanos())) {
                return wrong(
                    "the duration is over before the ramp-up, and the last users would never come",
                    "make the duration longer, or the ramp-up shorter",
                );
            }
            let delay = table.delay.unwrap_or(Duration::ZERO);
            return Ok(Users::Closed { count, ramp_up, delay, iterations, duration: table.duration });
        };
        if table.users.is_some() || table.iterations.is_some() || table.delay.is_some() {
            let what = "a rate makes a new user for each arrival, who makes one iteration";
            return wrong(what, "take users, iterations and delay out, or the rate");
        }
        let duration = table.duration.unwrap_or(plan::load::DURATION_DEFAULT);
        if ramp_up > duration {
            return wrong(
                "the ramp-up is longer than the duration, which it is part of",
                "make the duration longer",
            );
        }
        let spans = [
            RateSpan { from: None, to: Some(rate), length: ramp_up },
            RateSpan { from: Some(rate), to: Some(rate), length: duration.saturating_sub(ramp_up) },
        ];
        let spans = spans.into_iter().filter(|span| !span.length.is_zero()).collect();
        Ok(Users::Open { spans, poisson: table.arrivals == Some(ArrivalsName::Poisson), seats_max: None })
    }

    fn data(&self, table: Spanned<DataTable>) -> Result<DataSet, PlanError> {
        let delimiter = table.get_ref().delimiter.unwrap_or(',');
        if !delimiter.is_ascii() {
            return Err(self.error(
                &table,
                "the delimiter is no ASCII character",
                "write one such as \",\" or \";\"",
            ));
        }
        if table.get_ref().skip_first && table.get_ref().columns.is_empty() {
            let help = "name the columns, or take skip_first out: without names the first line has them";
            return Err(self.error(&table, "skip_first wants columns", help));
        }
        let table = table.into_inner();
        let folder = self.path.parent().unwrap_or(Path::new(""));
        Ok(DataSet {
            file: folder.join(table.file),
            variables: table.columns,
            delimiter,
            quoted: table.quoted,
            skip_first: table.skip_first,
            lacking: Lacking::Empty,
            at_end: table.at_end.map_or(DataAtEnd::Recycle, Into::into),
            sharing: table.sharing.map_or(DataSharing::All, Into::into),
        })
    }
}

fn makes_requests(steps: Children<'_>) -> bool {
    steps.iter().any(|step| matches!(step, Step::Request(_)) || makes_requests(step.children()))
}

#[cfg(test)]
mod tests;
