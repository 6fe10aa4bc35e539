//! HTTP samplers to requests.

mod body;

use std::path::{Path, PathBuf};

use engine::Waits;
use scenario::{Call, Check, Function, Part, Pause, Piece, RequestStep, Template};
use units::Duration;

use crate::data::beside;
use crate::element::{Element, Properties, Property};
use crate::level::{Scope, same_field};
use crate::rewriting::{Rewriting, Target};
use crate::values::{Fields, Values, joined};
use crate::{meeting, timers};

/// Redirects that JMeter follows (`httpsampler.max_redirects`).
const REDIRECTS_MAX: u32 = 20;
/// Whether they are followed by JMeter's HTTP library (*Redirect Automatically*).
const AUTOMATICALLY: &str = "HTTPSampler.auto_redirects";

/// After so long Linux gives up a connection of its own accord; JMeter without a timeout waits as long.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(127);
/// JMeter without a timeout waits for ever. A bound, so that a server that never answers is seen in the results.
pub(crate) const ANSWER_TIMEOUT: Duration = Duration::from_secs(600);

/// Longest waits; `None` is JMeter's own: for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Timeouts {
    pub connect: Option<Duration>,
    pub answer: Option<Duration>,
}

impl Timeouts {
    /// None at all.
    pub(crate) const NONE: Self = Self { connect: None, answer: None };

    /// How long a request waits here.
    pub(crate) fn waits(self) -> Waits {
        Waits {
            connect: self.connect.unwrap_or(CONNECT_TIMEOUT),
            request: self.answer.unwrap_or(ANSWER_TIMEOUT),
        }
    }
}

/// A sampler with the defaults that it falls back to.
struct Sampler<'a> {
    /// Its own settings, then those of defaults, the nearest first.
    layers: Vec<&'a Properties>,
    values: &'a Values<'a>,
    rewritings: Vec<Rewriting>,
}

/// A row of a sampler's table of parameters.
#[derive(Clone)]
pub(super) struct Argument {
    name: Template,
    value: Template,
    encode: bool,
    /// Its type, where it is a part of a body.
    kind: Template,
}

/// A row of a sampler's table of files.
pub(super) struct SentFile {
    path: PathBuf,
    name: Template,
    kind: Template,
}

/// What a sampler sends besides its head.
pub(super) struct Contents {
    /// The plan's word that the parameters' values are the body.
    raw: bool,
    arguments: Vec<Argument>,
    files: Vec<SentFile>,
    /// Whether it is a body of several parts, also without a file.
    in_parts: bool,
    /// Whether those parts are written as browsers write them.
    as_browsers: bool,
}

/// The request that a sampler makes in its scope, or all that stands in the way.
pub(crate) fn request<'a>(
    plan: &Path,
    element: &'a Element,
    scope: Scope<'_, 'a>,
    values: &'a Values<'a>,
) -> Result<(RequestStep, Timeouts), Vec<String>> {
    let layers = std::iter::once(&element.properties).chain(scope.defaults()).collect();
    let sampler = Sampler { layers, values, rewritings: scope.rewritings() };
    let mut reasons = sampler.refused();
    if looks_at_body(scope) {
        reasons.extend(sampler.keeps_no_body());
    }
    let pauses = scope.pauses();
    reasons.extend(at_odds(&pauses));
    let name =
        keep(values.template(&element.name).map_err(|error| format!("its name: {error}")), &mut reasons);
    let method = keep(sampler.method(), &mut reasons);
    let url = keep(sampler.url(), &mut reasons);
    let arguments = keep(sampler.arguments(), &mut reasons);
    let timeouts = keep(sampler.timeouts(), &mut reasons);
    let keep_alive = keep(sampler.is_true("HTTPSampler.use_keepalive"), &mut reasons);
    let redirects = keep(sampler.follows_redirects(), &mut reasons);
    let (Some(name), Some(method), Some((url, is_whole)), Some(arguments)) = (name, method, url, arguments)
    else {
        return Err(reasons);
    };
    let contents = sampler.contents(plan, arguments);
    let payload = contents.and_then(|contents| body::payload(method.constant(), is_whole, contents));
    let payload = keep(payload, &mut reasons);
    let authorization = keep(authorization(&url, scope, values), &mut reasons);
    let (Some(payload), Some(authorization), Some(timeouts), Some(keep_alive), Some(redirects)) =
        (payload, authorization, timeouts, keep_alive, redirects)
    else {
        return Err(reasons);
    };
    if !reasons.is_empty() {
        return Err(reasons);
    }
    let mut headers = scope.headers();
    // The length is that of the body, whatever a manager says.
    headers.retain(|(name, _)| !same_field(name, &Template::text("Content-Length")));
    let defaults = payload.content_type.map(|it| ("Content-Type", it));
    for (field, value) in defaults.into_iter().chain(authorization.map(|it| ("Authorization", it))) {
        let field = Template::text(field);
        if !headers.iter().any(|(known, _)| same_field(known, &field)) {
            headers.push((field, value));
        }
    }
    let step = RequestStep {
        name,
        method,
        url: payload.query.map_or_else(|| url.clone(), |query| with_query(&url, query)),
        headers,
        body: payload.body,
        form: payload.form,
        body_file: payload.body_file,
        multipart: payload.multipart,
        keep_alive,
        redirects_max: if redirects { REDIRECTS_MAX } else { 0 },
        on_error: scope.on_error(),
        waits: Some(timeouts.waits()),
        sets: scope.sets(),
        pauses,
        extractions: scope.extractions(),
        assertions: scope.assertions(),
    };
    Ok((step, timeouts))
}

/// Whether JMeter leaves redirects to its HTTP library, and sees the last answer alone.
pub(crate) fn redirects_automatically<'a>(
    element: &'a Element,
    scope: Scope<'_, 'a>,
    values: &'a Values<'a>,
) -> bool {
    let layers = std::iter::once(&element.properties).chain(scope.defaults()).collect();
    let sampler = Sampler { layers, values, rewritings: Vec::new() };
    sampler.is_true(AUTOMATICALLY).unwrap_or(false)
}

/// Why the timers that apply to a request can't do so together, if they can't.
fn at_odds(pauses: &[Pause]) -> Vec<String> {
    const TWO_RATES: &str =
        "a Throughput Shaping Timer and another timer that keeps a rate apply to it; leave one of them";
    const MEETING: &str = "a Synchronizing Timer and a timer that keeps a rate apply to it, of which JMeter asks one after the \
         other; leave one of them";
    let all = [(timers::keep_two_rates(pauses), TWO_RATES), (meeting::meets_at_a_rate(pauses), MEETING)];
    all.into_iter().filter(|(is_so, _)| *is_so).map(|(_, why)| why.to_owned()).collect()
}

/// Whether something looks at the text of an answer's body.
fn looks_at_body(scope: Scope<'_, '_>) -> bool {
    let extractions = scope.extractions();
    let assertions = scope.assertions();
    extractions.iter().any(|it| it.part == Part::Body)
        || assertions.iter().any(|it| match &it.check {
            Check::Text { part, .. } => *part == Part::Body,
            Check::Json { .. } => true,
            // The size is that of what came.
            Check::Size { .. } | Check::DurationAtMost(_) => false,
        })
}

/// The value, or its error among the others.
fn keep<T>(result: Result<T, String>, reasons: &mut Vec<String>) -> Option<T> {
    result.map_err(|reason| reasons.push(reason)).ok()
}

impl Sampler<'_> {
    /// The settings that have `name`: the nearest that is not empty.
    fn layer(&self, name: &str) -> Fields<'_> {
        let found = self.layers.iter().find(|layer| !layer.text(name).is_empty());
        Fields::new(found.unwrap_or(&self.layers[0]), self.values)
    }

    fn is_true(&self, name: &str) -> Result<bool, String> {
        self.layer(name).is_true(name, false)
    }

    fn template(&self, name: &str) -> Result<Template, String> {
        self.layer(name).template(name)
    }

    /// Why an answer's body is not there to be looked at, if it is not.
    fn keeps_no_body(&self) -> Option<String> {
        const HASHED: &str = "HTTPSampler.md5";
        match self.is_true(HASHED) {
            Ok(false) => None,
            Ok(true) => Some(format!(
                "{HASHED}: JMeter has an MD5 hash in the place of the body that an assertion or extractor looks at (Save \
                 response as MD5 hash)"
            )),
            Err(reason) => Some(reason),
        }
    }

    /// Settings that change what is sent and that nothing here carries out.
    fn refused(&self) -> Vec<String> {
        const ENCODING: &str = "HTTPSampler.contentEncoding";
        const EMBEDDED: &str = "HTTPSampler.image_parser";
        let mut reasons = Vec::new();
        match self.is_true(EMBEDDED) {
            Ok(false) => {}
            Ok(true) => reasons.push(format!(
                "{EMBEDDED}: what pages embed is not retrieved (Retrieve All Embedded Resources)"
            )),
            Err(reason) => reasons.push(reason),
        }
        for (name, why) in [
            ("HTTPSampler.proxyHost", "requests go through no proxy"),
            ("HTTPSampler.ipSource", "requests come from the system's own address"),
        ] {
            if !self.layer(name).properties.text(name).trim().is_empty() {
                reasons.push(format!("{name}: {why}"));
            }
        }
        match self.layer(ENCODING).fixed(ENCODING) {
            Ok(text) if ["", "utf-8", "utf8"].contains(&text.trim().to_ascii_lowercase().as_str()) => {}
            Ok(text) => reasons.push(format!("{ENCODING} is '{text}'; texts are sent as UTF-8")),
            Err(reason) => reasons.push(reason),
        }
        reasons
    }

    /// What is sent besides the head.
    fn contents(&self, plan: &Path, arguments: Vec<Argument>) -> Result<Contents, String> {
        Ok(Contents {
            raw: self.is_true("HTTPSampler.postBodyRaw")?,
            arguments,
            files: self.files(plan)?,
            in_parts: self.is_true("HTTPSampler.DO_MULTIPART_POST")?,
            as_browsers: self.is_true("HTTPSampler.BROWSER_COMPATIBLE_MULTIPART")?,
        })
    }

    /// The files that are sent.
    fn files(&self, plan: &Path) -> Result<Vec<SentFile>, String> {
        let Some((own, defaults)) = self.layers.split_first() else { return Ok(Vec::new()) };
        if has_old_file(own) || defaults.iter().any(|layer| sends_files(layer)) {
            return Err(format!("{FILES}: a file has to stand in the table of the request itself"));
        }
        if !sends_files(own) {
            return Ok(Vec::new());
        }
        let rows = own.object(FILES).into_iter().flat_map(|table| table.rows("HTTPFileArgs.files"));
        rows.map(|row| self.file(plan, Fields::new(row, self.values))).collect()
    }

    fn file(&self, plan: &Path, row: Fields<'_>) -> Result<SentFile, String> {
        let path = row.fixed("File.path")?;
        if path.trim().is_empty() {
            return Err(format!("{FILES}: a row of its table names no file; remove it"));
        }
        Ok(SentFile {
            path: beside(plan, path.trim()),
            name: row.template("File.paramname")?,
            kind: self.values.settled(&row.template("File.mimetype")?),
        })
    }

    fn follows_redirects(&self) -> Result<bool, String> {
        Ok(self.is_true("HTTPSampler.follow_redirects")? || self.is_true(AUTOMATICALLY)?)
    }

    fn method(&self) -> Result<Template, String> {
        let method = self.values.settled(&self.template("HTTPSampler.method")?);
        match method.constant().map(str::trim) {
            Some("") => Ok(Template::text("GET")),
            Some(text) if text.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-') => {
                Ok(Template::text(text))
            }
            Some(text) => Err(format!("HTTPSampler.method is '{text}', which is no method")),
            None => Ok(method),
        }
    }

    fn timeouts(&self) -> Result<Timeouts, String> {
        let timeout = |name: &str| match self.layer(name).whole_at_start(name, 0)? {
            0 => Ok(None),
            ms => match u64::try_from(ms) {
                Ok(ms) => Ok(Some(Duration::from_millis(ms))),
                Err(_) => Err(format!("{name} is {ms}, and must not be negative")),
            },
        };
        let answer = timeout("HTTPSampler.response_timeout")?;
        Ok(Timeouts { connect: timeout("HTTPSampler.connect_timeout")?, answer })
    }

    /// The parameters, then those of defaults, and ids of sessions in the place of those with their names.
    fn arguments(&self) -> Result<Vec<Argument>, String> {
        let tables = self.layers.iter().filter_map(|layer| layer.object("HTTPsampler.Arguments"));
        let rows = tables.flat_map(|table| table.rows("Arguments.arguments"));
        let enabled = rows.filter(|row| row.is_true("Argument.enabled", true));
        let mut arguments: Vec<Argument> = enabled.map(|row| self.argument(row)).collect::<Result<_, _>>()?;
        for it in self.rewritings.iter().filter(|it| matches!(it.target, Target::Parameter { .. })) {
            let name = Template::text(it.name.as_str());
            arguments.retain(|argument| argument.name != name);
            arguments.push(Argument { name, value: it.value(), encode: true, kind: Template::default() });
        }
        Ok(arguments)
    }

    fn argument(&self, row: &Properties) -> Result<Argument, String> {
        let fields = Fields::new(row, self.values);
        let (name, value) = (fields.template("Argument.name")?, fields.template("Argument.value")?);
        let equals = row.get("Argument.metadata").is_none_or(|_| row.text("Argument.metadata") == "=");
        if !equals && !name.0.is_empty() {
            let name = row.text("Argument.name");
            return Err(format!("the parameter '{name}' is to be sent without '=' (Include Equals?)"));
        }
        let encode = row.is_true("HTTPArgument.always_encode", false);
        let kind = self.values.settled(&fields.template("HTTPArgument.content_type")?);
        Ok(Argument { name, value, encode, kind })
    }

    /// `http://host[:port]/path`, with what stays the same for the run filled in up to the path; and whether the plan
    /// has it whole in the path.
    fn url(&self) -> Result<(Template, bool), String> {
        let path = self.with_ids(without_spaces(self.template("HTTPSampler.path")?))?;
        let settled = self.values.settled(&path);
        let (beginning, is_open) = match settled.0.first() {
            Some(Piece::Text(text)) => (text.as_str(), false),
            Some(_) => ("", true),
            None => ("", false),
        };
        if let Some((scheme, _)) = beginning.split_once("://")
            && ["http", "https"].contains(&scheme)
        {
            return Ok((path, true));
        }
        let protocol = self.template("HTTPSampler.protocol")?;
        let protocol = self.values.fixed(&protocol).map(|text| text.trim().to_ascii_lowercase());
        let (scheme, usual_port) = match protocol.as_deref() {
            Some("" | "http") => ("http://", "80"),
            Some("https") => ("https://", "443"),
            Some(other) => {
                return Err(format!("HTTPSampler.protocol is '{other}'; only http and https are supported"));
            }
            None => return Err("HTTPSampler.protocol may differ from request to request".into()),
        };
        // A path that begins with what an answer gave is taken to begin with its own slash.
        let has_slash = is_open || beginning.starts_with('/');
        let slash = Template::text(if has_slash { "" } else { "/" });
        let url = joined([Template::text(scheme), self.domain()?, self.port(usual_port)?, slash, path]);
        Ok((url, false))
    }

    /// The path with the ids of sessions that go behind it.
    fn with_ids(&self, mut path: Template) -> Result<Template, String> {
        for it in &self.rewritings {
            let Target::Path { sign, .. } = it.target else { continue };
            let id = format!(";{}", it.name);
            let has = |piece: &Piece| matches!(piece, Piece::Text(text) if text.contains('?') || text.contains(&id));
            if path.0.iter().any(has) {
                return Err(format!(
                    "HTTPSampler.path has a query or '{id}' before what an HTTP URL Re-writing Modifier adds; make \
                     parameters of it"
                ));
            }
            path = joined([path, Template::text(format!("{id}{sign}")), it.value()]);
        }
        Ok(path)
    }

    fn domain(&self) -> Result<Template, String> {
        const DOMAIN: &str = "HTTPSampler.domain";
        let domain = self.values.settled(&self.template(DOMAIN)?);
        match domain.constant().map(str::trim) {
            Some("") => {
                Err(format!("{DOMAIN} is empty, and no HTTP Request Defaults that apply to it name a server"))
            }
            Some(text) if text.contains(['/', ' ', '?', '#', '@']) => {
                Err(format!("{DOMAIN} is '{text}'; write the host alone, without http:// and path"))
            }
            Some(text) => Ok(Template::text(text)),
            None => Ok(domain),
        }
    }

    /// `:port`, or nothing for the usual one.
    fn port(&self, usual: &str) -> Result<Template, String> {
        const PORT: &str = "HTTPSampler.port";
        let port = self.values.settled(&self.template(PORT)?);
        match port.constant().map(str::trim) {
            Some("" | "0") => Ok(Template::default()),
            Some(text) if text == usual => Ok(Template::default()),
            Some(text) => match text.parse::<u16>() {
                Ok(number) => Ok(Template::text(format!(":{number}"))),
                Err(_) => Err(format!("{PORT} is '{text}', which is no port")),
            },
            None => Ok(joined([Template::text(":"), port])),
        }
    }
}

/// The table of files.
const FILES: &str = "HTTPsampler.Files";

/// Whether a file is to be uploaded, by the table or by the fields of old plans.
fn sends_files(properties: &Properties) -> bool {
    let table = properties.object(FILES);
    let in_table = table
        .is_some_and(|table| table.rows("HTTPFileArgs.files").any(|row| !row.text("File.path").is_empty()));
    in_table || has_old_file(properties)
}

fn has_old_file(properties: &Properties) -> bool {
    matches!(properties.get("HTTPSampler.FILE_NAME"), Some(Property::Text(name)) if !name.trim().is_empty())
}

fn without_spaces(path: Template) -> Template {
    let piece = |piece| match piece {
        Piece::Text(text) => Piece::Text(text.replace(' ', "%20")),
        other => other,
    };
    Template(path.0.into_iter().map(piece).collect())
}

fn with_query(url: &Template, query: Template) -> Template {
    let asked = url.0.iter().any(|piece| matches!(piece, Piece::Text(text) if text.contains('?')));
    joined([url.clone(), Template::text(if asked { "&" } else { "?" }), query])
}

/// The beginning of a URL with its scheme's usual port where none is written, and without one where that is: what a login is
/// looked up by, too. `None` where another port is written, or the server is not known yet.
fn with_other_port(url: &str, is_whole: bool) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let usual = match scheme {
        "http" => ":80",
        "https" => ":443",
        _ => return None,
    };
    let end = rest.find(['/', '?', '#']).or(is_whole.then_some(rest.len()))?;
    let (server, path) = rest.split_at(end);
    let path = path.split(['?', '#']).next().unwrap_or_default();
    // An address in brackets has colons of its own.
    let has_port = server.rsplit(']').next().is_some_and(|after| after.contains(':'));
    match server.strip_suffix(usual) {
        Some(host) => Some(format!("{scheme}://{host}{path}")),
        None if has_port => None,
        None => Some(format!("{scheme}://{server}{usual}{path}")),
    }
}

/// The field that carries name and password where a login is meant for this URL.
fn authorization(
    url: &Template,
    scope: Scope<'_, '_>,
    values: &Values<'_>,
) -> Result<Option<Template>, String> {
    let settled = values.settled(url);
    let known = match settled.0.first() {
        Some(Piece::Text(text)) => text.as_str(),
        _ => "",
    };
    let is_whole = settled.constant().is_some();
    let other = with_other_port(known, is_whole);
    for login in scope.logins() {
        let forms = || [Some(known), other.as_deref()].into_iter().flatten();
        let is_meant = forms().any(|known| known.starts_with(&login.url));
        // What a server's port comes to may be the usual one, which need not be written.
        let may_be_meant = |known: &str| match known.strip_suffix(':') {
            Some(server) => {
                login.url.strip_prefix(server).is_some_and(|it| it.is_empty() || it.starts_with([':', '/']))
            }
            None => login.url.starts_with(known),
        };
        if !is_meant && !is_whole && forms().any(may_be_meant) {
            let url = &login.url;
            return Err(format!("whether the authorization for '{url}' is meant for it is known only later"));
        }
        if is_meant {
            let call = Call { function: Function::Base64Encode, arguments: vec![login.credentials.clone()] };
            return Ok(Some(Template(vec![Piece::Text("Basic ".into()), Piece::Call(call)])));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_port_may_be_written_or_not() {
        for (url, is_whole, expected) in [
            ("http://h/a?b", true, Some("http://h:80/a")),
            ("http://h:80/a", true, Some("http://h/a")),
            ("https://h/", true, Some("https://h:443/")),
            ("https://h:443/x", false, Some("https://h/x")),
            ("http://h", true, Some("http://h:80")),
            ("http://[::1]/", true, Some("http://[::1]:80/")),
            ("http://h:8080/", true, None),
            ("http://h:443/", true, None),
            ("http://h", false, None),
            ("ftp://h/", true, None),
            ("", false, None),
        ] {
            assert_eq!(with_other_port(url, is_whole).as_deref(), expected, "{url}");
        }
    }
}
