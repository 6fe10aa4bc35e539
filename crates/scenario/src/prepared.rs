//! A scenario that is ready to be carried out: checked, its expressions compiled, its data read.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use engine::Waits;
use fancy_regex::{Regex, RegexBuilder};
use plan::experiment::bounds::short_name;
use plan::load::{CONNECTIONS_MAX, check_rate, span};
use plan::{PlanError, without_user};
use serde_json_path::JsonPath;
use url::Url;

use crate::data::Table;
use crate::model::{
    Check, Children, Extraction, Extractor, Field, Group, JsonRules, Multipart, Pause, RequestCheck,
    RequestStep, Scenario, Step, Times, Users,
};
use crate::multipart::{Files, Whole};
use crate::template::{Piece, Template};

/// A list without values, which is no expression.
pub(crate) const EMPTY_LIST: &str = "[]";
/// The longest file that is sent as a body, and what all of a body's come to at most, bytes.
const BODY_BYTES_MAX: u64 = 16 << 20;
/// All files that are bodies or parts, and the bodies that are made of them beforehand.
const BODIES_BYTES_MAX: u64 = 256 << 20;
/// Users of a scenario at one time, at most: each has a connection.
pub const USERS_MAX: u32 = CONNECTIONS_MAX;
/// Steps within steps at most.
const NESTING_MAX: u32 = 64;
/// Steps of an expression that needs them (look-around, back-references) at one place of a text at most; an answer that
/// takes more does not match.
const BACKTRACKS_MAX: usize = 1_000_000;

/// A scenario that is ready to be carried out, shared by all users: expressions are compiled and data are read once.
#[derive(Debug)]
pub struct Prepared {
    scenario: Scenario,
    pub(crate) tables: Vec<Table>,
    /// Expressions that are searched for.
    found: HashMap<String, Regex>,
    /// Expressions that match a whole text.
    whole: HashMap<String, Regex>,
    paths: HashMap<String, JsonPath>,
    bodies: Files,
    bodies_bytes: u64,
    /// Bodies of several parts that are the same for all requests, each once.
    wholes: Vec<(Multipart, Whole)>,
    /// The timers that keep requests to a rate, each once.
    paces: Vec<Pause>,
    /// How long requests wait, each pair of times once.
    waits: Vec<Waits>,
}

impl Prepared {
    /// Checks a scenario, compiles its expressions and reads its data.
    ///
    /// # Errors
    /// What can't be sent or carried out, with the step's name; a file of data that can't be read.
    pub fn new(scenario: Scenario) -> Result<Arc<Self>, PlanError> {
        check_users(&scenario.groups)?;
        // Whoever is given no time is given up at once, which no server could help.
        span("timeout", scenario.request_timeout)?;
        span("connect timeout", scenario.connect_timeout)?;
        let tables = scenario.data.iter().map(Table::read).collect::<Result<_, _>>()?;
        let mut prepared = Self {
            scenario: Scenario { groups: Vec::new(), ..scenario.clone() },
            tables,
            found: HashMap::new(),
            whole: HashMap::new(),
            paths: HashMap::new(),
            bodies: Files::new(),
            bodies_bytes: 0,
            wholes: Vec::new(),
            paces: Vec::new(),
            waits: Vec::new(),
        };
        for group in &scenario.groups {
            group.rows.iter().flatten().try_for_each(|set| prepared.data_set(*set))?;
            prepared.steps(&group.steps, 0)?;
        }
        prepared.scenario = scenario;
        Ok(Arc::new(prepared))
    }

    /// The scenario.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// How long its requests wait, each pair of times once.
    pub fn waits(&self) -> &[Waits] {
        &self.waits
    }

    /// Whether users can go through it whose connections carry other users' requests too, as far as that is known before they
    /// begin.
    ///
    /// # Errors
    /// Requests that `check` does not let pass, or that want their connection closed, with the step's name.
    pub fn check_for_sharing(&self, check: RequestCheck) -> Result<(), PlanError> {
        let of_request = |request: &RequestStep| {
            if !request.keep_alive {
                let what = "it closes its connection, which others share";
                return Err(PlanError::new(what, "leave keep_alive = false out, or speak HTTP/1.1"));
            }
            constant_parts(request, check)
        };
        self.scenario.groups.iter().try_for_each(|group| {
            for_each_request(Children::Steps(&group.steps), &mut |request| {
                of_request(request).map_err(|error| of_step(request, error))
            })
        })
    }

    pub(crate) fn group(&self, index: usize) -> Option<&Group> {
        self.scenario.groups.get(index)
    }

    /// The expression, if it was known before the start.
    pub(crate) fn regex(&self, pattern: &str, whole: bool) -> Option<&Regex> {
        if whole { self.whole.get(pattern) } else { self.found.get(pattern) }
    }

    pub(crate) fn path(&self, path: &str) -> Option<&JsonPath> {
        self.paths.get(path)
    }

    /// What bodies and parts of them are in.
    pub(crate) const fn files(&self) -> &Files {
        &self.bodies
    }

    /// A body of several parts that is the same for all requests.
    pub(crate) fn whole(&self, multipart: &Multipart) -> Option<&Whole> {
        self.wholes.iter().find(|(other, _)| other == multipart).map(|(_, whole)| whole)
    }

    /// The number of a timer that keeps requests to a rate.
    pub(crate) fn pace(&self, pause: &Pause) -> usize {
        self.paces.iter().position(|other| other == pause).unwrap_or_default()
    }

    fn steps(&mut self, steps: &[Step], depth: u32) -> Result<(), PlanError> {
        steps.iter().try_for_each(|step| self.step(step, depth))
    }

    fn step(&mut self, step: &Step, depth: u32) -> Result<(), PlanError> {
        if depth > NESTING_MAX {
            return Err(PlanError::new("steps are nested more than 64 deep", "take some of the levels out"));
        }
        match step {
            Step::Request(request) => {
                label(&request.name)?;
                self.request(request).map_err(|error| of_step(request, error))
            }
            Step::Transaction { name, .. } => label(name),
            Step::Pause(pause) => self.pause(pause),
            Step::Row(set) => self.data_set(*set),
            Step::Loop { times: Times::Count(count), .. } => number(count, "a count of turns").map(drop),
            _ => Ok(()),
        }?;
        step.children().iter().try_for_each(|step| self.step(step, depth + 1))
    }

    /// Makes sure that there is a data set of this number.
    fn data_set(&self, number: usize) -> Result<(), PlanError> {
        if number < self.tables.len() {
            return Ok(());
        }
        Err(PlanError::new(format!("there is no data set of number {number}"), "add one"))
    }

    fn pause(&mut self, pause: &Pause) -> Result<(), PlanError> {
        match pause {
            Pause::Scheduled(_) | Pause::Meeting(_) => Ok(()),
            Pause::Constant { ms } => number(ms, "a pause in milliseconds"),
            Pause::Uniform { offset_ms: a, range_ms: b }
            | Pause::Gaussian { offset_ms: a, deviation_ms: b }
            | Pause::Poisson { offset_ms: a, mean_ms: b } => {
                number(a, "a pause in milliseconds")?;
                number(b, "a pause in milliseconds")
            }
            Pause::Throughput { per_minute, .. } => {
                if !self.paces.contains(pause) {
                    self.paces.push(pause.clone());
                }
                let rate = per_minute.constant().map(|text| text.trim().parse::<f64>());
                match rate {
                    Some(rate) if !rate.as_ref().is_ok_and(|rate| *rate > 0.0 && rate.is_finite()) => {
                        let what = format!("`{}` is no rate of requests a minute", shown(per_minute));
                        Err(PlanError::new(what, "write a number above 0"))
                    }
                    _ => Ok(()),
                }
            }
        }
    }

    fn request(&mut self, request: &RequestStep) -> Result<(), PlanError> {
        constant_parts(request, http::check)?;
        let waits = request.waits.unwrap_or_else(|| self.scenario.waits());
        span("timeout", waits.request)?;
        span("connect timeout", waits.connect)?;
        if !self.waits.contains(&waits) {
            self.waits.push(waits);
        }
        let of_parts = request.multipart.iter().flat_map(Multipart::files);
        for file in request.body_file.as_deref().into_iter().chain(of_parts) {
            if !self.bodies.contains_key(file) {
                let body = read_body(file)?;
                self.keep(body.len())?;
                self.bodies.insert(file.to_owned(), body);
            }
        }
        if let Some(multipart) = &request.multipart {
            self.multipart(multipart)?;
        }
        request.pauses.iter().try_for_each(|pause| self.pause(pause))?;
        request.extractions.iter().try_for_each(|extraction| self.extraction(extraction))?;
        for assertion in &request.assertions {
            match &assertion.check {
                Check::Text { field: field @ (Field::Contains | Field::Matches), patterns, .. } => {
                    for pattern in patterns.iter().filter_map(Template::constant) {
                        self.compile(pattern, *field == Field::Matches)?;
                    }
                }
                Check::Json { path, value, regex, rules, .. } => {
                    self.compile_path(path)?;
                    match (value.as_ref().and_then(Template::constant), rules) {
                        (
                            Some(EMPTY_LIST),
                            JsonRules::AsList | JsonRules::AsJoinedList | JsonRules::AsValue,
                        ) => {}
                        (Some(pattern), _) if *regex => self.compile(pattern, true)?,
                        (Some(text), JsonRules::AsList | JsonRules::AsJoinedList) => json_value(text)?,
                        _ => {}
                    }
                }
                Check::Size { bytes, .. } => number(bytes, "a size in bytes")?,
                Check::Text { .. } | Check::DurationAtMost(_) => {}
            }
        }
        Ok(())
    }

    /// Bounds a body of several parts, and puts it together if it is the same for all requests.
    fn multipart(&mut self, multipart: &Multipart) -> Result<(), PlanError> {
        let bytes: u64 =
            multipart.files().filter_map(|file| self.bodies.get(file)).map(|file| file.len() as u64).sum();
        if bytes > BODY_BYTES_MAX {
            let what = format!("its files come to more than {} MiB", BODY_BYTES_MAX >> 20);
            return Err(PlanError::new(what, "send fewer of them, or smaller ones"));
        }
        if self.whole(multipart).is_none()
            && let Some(whole) = Whole::of_constants(multipart, &self.bodies)
        {
            self.keep(whole.body.len())?;
            self.wholes.push((multipart.clone(), whole));
        }
        Ok(())
    }

    /// So many more bytes are held for bodies.
    fn keep(&mut self, bytes: usize) -> Result<(), PlanError> {
        self.bodies_bytes = self.bodies_bytes.saturating_add(bytes as u64);
        if self.bodies_bytes <= BODIES_BYTES_MAX {
            return Ok(());
        }
        let what = format!("the bodies of all requests come to more than {} MiB", BODIES_BYTES_MAX >> 20);
        Err(PlanError::new(what, "send smaller files, or fewer different ones"))
    }

    fn extraction(&mut self, extraction: &Extraction) -> Result<(), PlanError> {
        match &extraction.how {
            // What is known only with an answer is compiled then.
            Extractor::Regex { pattern, .. } => {
                pattern.constant().map_or(Ok(()), |pattern| self.compile(pattern, false))
            }
            Extractor::Json { path, .. } => self.compile_path(path),
            Extractor::Boundary { .. } | Extractor::Header { .. } => Ok(()),
        }
    }

    fn compile(&mut self, pattern: &str, whole: bool) -> Result<(), PlanError> {
        let compiled = regex(pattern, whole).map_err(|why| {
            PlanError::new(format!("the expression `{pattern}` can't be used ({why})"), "mend the expression")
        })?;
        let kept = if whole { &mut self.whole } else { &mut self.found };
        kept.insert(pattern.to_owned(), compiled);
        Ok(())
    }

    fn compile_path(&mut self, path: &str) -> Result<(), PlanError> {
        let compiled = JsonPath::parse(path).map_err(|error| {
            let what = format!("the JSONPath `{path}` can't be used ({error})");
            PlanError::new(what, "write it as RFC 9535 has it, like $.user.id or $..id")
        })?;
        self.paths.insert(path.to_owned(), compiled);
        Ok(())
    }
}

/// Reads a file that is a body.
fn read_body(path: &Path) -> Result<Arc<[u8]>, PlanError> {
    let unreadable = |what: String| PlanError::new(what, "name a file that can be sent").in_file(path);
    let failed = |error: std::io::Error| unreadable(format!("cannot be read ({error})"));
    // A plan may be anybody's, and name a pipe or a device that has no end.
    if !fs::metadata(path).map_err(failed)?.is_file() {
        return Err(unreadable("is no regular file".to_owned()));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(BODY_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > BODY_BYTES_MAX {
        return Err(unreadable(format!("has more than {} MiB", BODY_BYTES_MAX >> 20)));
    }
    Ok(bytes.into())
}

/// Compiles an expression; one for whole texts is bound to both ends.
pub(crate) fn regex(pattern: &str, whole: bool) -> Result<Regex, String> {
    let bound = if whole { format!(r"\A(?:{pattern})\z") } else { pattern.to_owned() };
    let built = RegexBuilder::new(&bound).backtrack_limit(BACKTRACKS_MAX).build();
    built.map_err(|error| error.to_string().replace('\n', " "))
}

/// Reads the URL of a request.
pub(crate) fn http_url(text: &str) -> Result<Url, String> {
    let shown = without_user(text);
    let url = Url::parse(text.trim()).map_err(|error| format!("`{shown}` is not a URL ({error})"))?;
    match url.scheme() {
        "http" | "https" if !url.username().is_empty() || url.password().is_some() => {
            Err(format!("`{shown}` carries a user name or password"))
        }
        "http" | "https" if url.host_str().is_none_or(str::is_empty) || lacks_host(text) => {
            Err(format!("`{shown}` names no host"))
        }
        "http" | "https" => Ok(url),
        scheme => Err(format!("`{shown}` has the scheme `{scheme}`, which is neither http nor https")),
    }
}

/// Whether there is nothing where the host of a URL has to be, as where a variable that stands for it is empty. URLs are read as
/// browsers read them: any number of slashes stands before a host, and so the path's first part would be taken for one.
fn lacks_host(text: &str) -> bool {
    let behind = text.split_once("//").map_or("", |(_, behind)| behind);
    // What reads URLs passes over the first three, wherever they stand.
    behind.trim_start_matches(['\t', '\n', '\r']).starts_with(['/', '\\'])
}

/// Refuses more users than a load can have, before anything is made for any of them.
fn check_users(groups: &[Group]) -> Result<(), PlanError> {
    let seats = groups.iter().map(|group| u64::from(group.users.seats())).sum::<u64>();
    if seats > u64::from(USERS_MAX) {
        let what = format!("{seats} users in all, a connection each, are more than {USERS_MAX}");
        return Err(PlanError::new(what, "let there be fewer, or share them among several machines"));
    }
    for span in groups.iter().flat_map(|group| match &group.users {
        Users::Open { spans, .. } => spans.as_slice(),
        Users::Closed { .. } | Users::Planned { .. } => &[],
    }) {
        [span.from, span.to].into_iter().flatten().try_for_each(check_rate)?;
    }
    Ok(())
}

/// The error with the step's name.
fn of_step(request: &RequestStep, error: PlanError) -> PlanError {
    PlanError { what: format!("step `{}`: {}", shown(&request.name), error.what), ..error }
}

/// Looks at all requests among the steps, which are not nested too deep, up to the first that is refused.
fn for_each_request(
    steps: Children<'_>,
    look: &mut impl FnMut(&RequestStep) -> Result<(), PlanError>,
) -> Result<(), PlanError> {
    steps.iter().try_for_each(|step| match step {
        Step::Request(request) => look(request),
        _ => for_each_request(step.children(), look),
    })
}

/// Whether what is known of a request before the start can be sent; what is not known is taken to be good.
fn constant_parts(request: &RequestStep, check: RequestCheck) -> Result<(), PlanError> {
    let help = "write it like http://127.0.0.1:8080/path";
    if let Some(url) = request.url.constant() {
        http_url(url).map_err(|what| PlanError::new(what, help))?;
    }
    let headers: Vec<(&str, &str)> = request
        .headers
        .iter()
        .map(|(name, value)| (name.constant().unwrap_or("X-Unknown"), value.constant().unwrap_or("x")))
        .collect();
    let method = request.method.constant().map_or("GET", str::trim);
    let spec = http::RequestSpec {
        method,
        target: "/",
        host: "localhost",
        headers: &headers,
        body: b"",
        close: !request.keep_alive,
    };
    check(&spec).map_err(|error| PlanError::of_request(&error))
}

/// Refuses what begins as JSON and breaks off. Any other text that is no JSON means itself.
fn json_value(text: &str) -> Result<(), PlanError> {
    let begins = text.trim_start().starts_with(['{', '[']);
    if begins && serde_json::from_str::<serde_json::Value>(text).is_err() {
        let what = format!("`{text}` begins as JSON and is none");
        return Err(PlanError::new(what, "write it as JSON, with names and texts in double quotes"));
    }
    Ok(())
}

/// Refuses a name that is too long before anything is filled in.
fn label(name: &Template) -> Result<(), PlanError> {
    let texts = name.0.iter().filter_map(|piece| match piece {
        Piece::Text(text) => Some(text.as_str()),
        Piece::Variable(_) | Piece::Call(_) | Piece::LastOk => None,
    });
    short_name("step", &texts.collect::<String>())
}

/// A text that must be a number, from 0, where it is known; nothing counts as 0.
fn number(template: &Template, what: &str) -> Result<(), PlanError> {
    let Some(text) = template.constant().map(str::trim).filter(|text| !text.is_empty()) else {
        return Ok(());
    };
    match text.parse::<f64>() {
        Ok(number) if number >= 0.0 && number.is_finite() => Ok(()),
        _ => Err(PlanError::new(format!("`{text}` is not {what}"), "write a number from 0")),
    }
}

/// A template as it was written, or nearly so.
pub(crate) fn shown(template: &Template) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Variable(name) => format!("${{{name}}}"),
        Piece::LastOk => "last_ok".to_owned(),
        Piece::Call(call) => {
            let arguments: Vec<String> = call.arguments.iter().map(shown).collect();
            format!("${{__{}({})}}", call.function.name(), arguments.join(","))
        }
    };
    template.0.iter().map(piece).collect()
}
