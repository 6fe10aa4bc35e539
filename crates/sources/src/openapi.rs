//! An OpenAPI 3 document, JSON or YAML: each operation whose parameters and body have examples is a request.

use percent_encoding::percent_decode_str;
use plan::PlanError;
use scenario::{Pick, Step};
use serde_json::{Map, Value};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::num::NonZeroU32;
use url::Url;
use url::form_urlencoded::byte_serialize;

use crate::options::{FormField, multipart};
use crate::step::{SourceOptions, Sourced, request};

const METHODS: [&str; 7] = ["get", "put", "post", "delete", "options", "head", "patch"];
/// References within references beyond which a document is taken to refer to itself.
const REFERENCES_MAX: u32 = 32;
/// What all examples of a document may come to: parts that are looked at, and bytes that are copied. A document that refers
/// to itself in several places, or to a long example from many, comes to more than any machine holds.
const EXAMPLES_MAX: u64 = 64 << 20;
/// What looking at a schema takes of it: as much time as copying so many bytes, and more.
const SCHEMA_BYTES: u64 = 256;
/// Parameters of an operation at most, its path's included.
const PARAMETERS_MAX: usize = 500;
/// What is kept of each property of an object, in bytes and no less.
const PROPERTY_BYTES: u64 = 32;
/// What is written around each part of a form, likewise.
const PART_BYTES: u64 = 256;

/// Where the operations of a document go.
enum Goal {
    /// To the first server that it names for each.
    Documented,
    /// All to this one.
    At(Url),
    /// To this host, whose URL says no path: below the path of the server that is named for each.
    OnHost(Url),
}

impl Goal {
    fn of(options: &SourceOptions) -> Result<Self, PlanError> {
        Ok(match options.base_url()? {
            None => Self::Documented,
            Some(base) if options.base_says_path() => Self::At(base),
            Some(base) => Self::OnHost(base),
        })
    }

    /// Where operations go for which these `servers` are named.
    fn server(&self, servers: Option<&Value>) -> Result<Url, PlanError> {
        match self {
            Self::Documented => server(servers),
            Self::At(base) => Ok(base.clone()),
            Self::OnHost(base) => Ok(on_host(base, servers)),
        }
    }
}

/// The operations of the document `text`, one at random at a time. They go to `options.base`, or to the first server that the
/// document names for each. A base without a path is another host, and the server's path stays.
pub fn parse_openapi(name: &str, text: &str, options: &SourceOptions) -> Result<Sourced, PlanError> {
    let document = document(text)?;
    let goal = Goal::of(options)?;
    let base = goal.server(document.get("servers"))?;
    let (mut steps, mut left_out, mut below) = (Vec::new(), Vec::new(), None);
    let room = Cell::new(EXAMPLES_MAX);
    for (path, item) in document.get("paths").and_then(Value::as_object).into_iter().flatten() {
        let item = match found(&document, item) {
            Ok(item) => item,
            Err(why) => {
                left_out.push(format!("{path}: {why}"));
                continue;
            }
        };
        for method in METHODS {
            let Some(described) = item.get(method) else { continue };
            let operation = Operation { document: &document, path, item, described, room: &room };
            let own = operation.own_servers().map(|servers| goal.server(Some(servers))).transpose();
            let step = own.map_err(|error| error.what).and_then(|own| {
                let server = own.as_ref().unwrap_or(&base);
                let step = operation.step(method, server)?;
                below = below.take().or_else(|| (server.path() != "/").then(|| server.path().to_owned()));
                Ok(step)
            });
            if room.get() == 0 {
                let what = format!("the examples of its operations come to more than {EXAMPLES_MAX} bytes");
                return Err(PlanError::new(what, "shorten them, or what refers to itself in several places"));
            }
            match step {
                Ok(step) => steps.push((NonZeroU32::MIN, step)),
                Err(why) => left_out.push(format!("{} {path}: {why}", method.to_ascii_uppercase())),
            }
        }
    }
    let steps = if steps.is_empty() { Vec::new() } else { vec![Step::OneOf { pick: Pick::Random, steps }] };
    let sourced = options.scenario(name.to_owned(), steps, left_out)?;
    let notes = below.filter(|_| matches!(goal, Goal::OnHost(_))).map(|below| {
        format!(
            "requests go below the path of the server that the document names for them, as `{below}`; with a / at the end \
             of --base they do not"
        )
    });
    Ok(Sourced { notes: notes.into_iter().collect(), ..sourced })
}

/// The document, if it is one of OpenAPI 3.
fn document(text: &str) -> Result<Value, PlanError> {
    let help = "give an OpenAPI 3 document, JSON or YAML";
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // All JSON is YAML, whose reader has bounds for what is written by hand: long documents of programs are beyond them.
    let document: Value = serde_json::from_str(text).or_else(|_| {
        serde_saphyr::from_str(text).map_err(|error| {
            // The lines after the first show the place once more.
            let why = error.to_string();
            let why = why.lines().next().unwrap_or_default();
            PlanError::new(format!("it is no OpenAPI document ({why})"), help)
        })
    })?;
    // In YAML a 3.1 without quotes is a number.
    let of = |key: &str| document.get(key).filter(|it| it.is_string() || it.is_number()).map(plain);
    match (of("openapi"), of("swagger")) {
        (Some(version), _) if version.starts_with("3.") => Ok(document),
        (Some(version), _) => Err(PlanError::new(format!("its `openapi` is `{version}` and not 3"), help)),
        (None, Some(version)) => {
            let what = format!("it is a document of Swagger {version} and not 3");
            Err(PlanError::new(what, "convert it to OpenAPI 3, as with Swagger's converter"))
        }
        (None, None) => Err(PlanError::new("its `openapi` is missing, and not 3", help)),
    }
}

/// What `$ref` refers to, where there is one.
fn found<'a>(document: &'a Value, mut value: &'a Value) -> Result<&'a Value, String> {
    for _ in 0..REFERENCES_MAX {
        let Some(reference) = value.get("$ref").and_then(Value::as_str) else { return Ok(value) };
        let pointer = reference.strip_prefix('#').map(|it| percent_decode_str(it).decode_utf8_lossy());
        let target = pointer.and_then(|pointer| document.pointer(&pointer));
        value = target.ok_or_else(|| format!("it refers to `{reference}`, which is not in the document"))?;
    }
    Err("it refers to itself".into())
}

/// The URL of the first of `servers`, as it is written and with its variables by their defaults.
fn first_of(servers: Option<&Value>) -> (&str, String) {
    let first = servers.and_then(|all| all.get(0));
    let written = first.and_then(|it| it.get("url")).and_then(Value::as_str).unwrap_or_default();
    let variables = first.and_then(|it| it.get("variables"));
    let mut url = String::new();
    let mut rest = written;
    while let Some((before, behind)) = rest.split_once('{') {
        let Some((name, after)) = behind.split_once('}') else { break };
        let default = variables.and_then(|all| all.get(name)?.get("default"));
        let Some(default) = default.filter(|_| url.len() as u64 <= EXAMPLES_MAX) else { break };
        url.extend([before, plain(default).as_str()]);
        rest = after;
    }
    url.push_str(rest);
    (written, url)
}

/// `base` with the path of the first of `servers`, which may be written without a host. With a variable that has no default it is
/// not known, and left out.
fn on_host(base: &Url, servers: Option<&Value>) -> Url {
    let (_, url) = first_of(servers);
    let documented = base.join(&url).ok().filter(|it| it.has_host() && !url.contains('{'));
    let mut moved = base.clone();
    moved.set_path(documented.as_ref().map_or("", Url::path));
    moved
}

/// The first of `servers`.
fn server(servers: Option<&Value>) -> Result<Url, PlanError> {
    let (written, url) = first_of(servers);
    match Url::parse(&url) {
        Ok(it) if ["http", "https"].contains(&it.scheme()) && it.has_host() && !url.contains('{') => Ok(it),
        _ => {
            let what = format!("the document's first server `{written}` is none that can be sent to");
            let path = if url.starts_with('/') { url.trim_end_matches('/') } else { "" };
            Err(PlanError::new(what, format!("give --base http://127.0.0.1:8080{path}")))
        }
    }
}

struct Operation<'a> {
    document: &'a Value,
    path: &'a str,
    item: &'a Value,
    described: &'a Value,
    /// What is left of [`EXAMPLES_MAX`]; 0 once it was not enough.
    room: &'a Cell<u64>,
}

/// What parameters come to.
#[derive(Default)]
struct Filled {
    path: String,
    query: Vec<String>,
    headers: Vec<(String, String)>,
    cookies: Vec<String>,
}

/// What an object is put together from.
#[derive(Default)]
struct Parts<'a> {
    object: Map<String, Value>,
    properties: Vec<(&'a String, &'a Value)>,
    required: Vec<&'a str>,
}

impl<'a> Operation<'a> {
    /// The servers of this operation or of its path, where one of them has its own.
    fn own_servers(&self) -> Option<&'a Value> {
        let is_some = |it: &&Value| it.as_array().is_some_and(|all| !all.is_empty());
        [self.described, self.item].into_iter().find_map(|it| it.get("servers").filter(is_some))
    }

    fn step(&self, method: &str, base: &Url) -> Result<Step, String> {
        // Each operation has all of the server's URL in its own, and its parameters' names.
        self.take(base.as_str().len() as u64)?;
        let mut filled = Filled { path: self.path.to_owned(), ..Filled::default() };
        for parameter in self.parameters()? {
            self.fill(parameter, &mut filled)?;
        }
        let Filled { path, query, mut headers, cookies } = filled;
        if path.contains('{') {
            return Err("its path has a parameter that is not described".into());
        }
        if !cookies.is_empty() {
            headers.push(("Cookie".into(), cookies.join("; ")));
        }
        let body = self.body()?;
        if let Some((kind, _)) = &body {
            headers.push(("Content-Type".into(), kind.clone()));
        }
        let mut url = base.clone();
        url.set_path(&format!("{}{path}", base.path().trim_end_matches('/')));
        url.set_query((!query.is_empty()).then(|| query.join("&")).as_deref());
        let body = body.map(|(_, text)| text).unwrap_or_default();
        let step = request(&method.to_ascii_uppercase(), &url, &headers, &body);
        Ok(Step::Request(Box::new(step)))
    }

    /// Puts the example of a parameter to its place.
    fn fill(&self, parameter: &'a Value, filled: &mut Filled) -> Result<(), String> {
        let name = parameter.get("name").and_then(Value::as_str).unwrap_or_default();
        self.take(name.len() as u64)?;
        let is_required = parameter.get("required").and_then(Value::as_bool).unwrap_or(false);
        let Some(value) = self.example_of(parameter) else {
            return if is_required { Err(format!("its parameter `{name}` has no example")) } else { Ok(()) };
        };
        let explodes = parameter.get("explode").and_then(Value::as_bool);
        let style = parameter.get("style").and_then(Value::as_str);
        let strange =
            |style: &str| format!("its parameter `{name}` is of the style {style}, which is not written");
        match parameter.get("in").and_then(Value::as_str) {
            Some("path") => {
                if let Some(style) = style.filter(|it| *it != "simple") {
                    return Err(strange(style));
                }
                let (place, value) = (format!("{{{name}}}"), simple(&value, explodes, encoded));
                let places = filled.path.matches(&place).count() as u64;
                self.take(places.saturating_mul(value.len() as u64))?;
                filled.path = filled.path.replace(&place, &value);
            }
            Some("query") => {
                let style = style.unwrap_or("form");
                self.take((name.len() as u64).saturating_mul(parts(&value)))?;
                let written = of_query(name, &value, style, explodes).ok_or_else(|| strange(style))?;
                filled.query.extend((!written.is_empty()).then_some(written));
            }
            // It follows from the body (OpenAPI 3.1, section 4.8.12).
            Some("header") if name.eq_ignore_ascii_case("content-type") => {}
            Some("header") => filled.headers.push((name.to_owned(), simple(&value, explodes, str::to_owned))),
            Some("cookie") => {
                filled.cookies.push(format!("{name}={}", simple(&value, explodes, str::to_owned)));
            }
            other => return Err(format!("its parameter `{name}` is in {other:?}")),
        }
        Ok(())
    }

    /// Of the operation and of its path; where both have one of a name and place, the operation's.
    fn parameters(&self) -> Result<Vec<&'a Value>, String> {
        let of = |it: &'a Value| it.get("parameters").and_then(Value::as_array).into_iter().flatten();
        let count = of(self.described).count() + of(self.item).count();
        if count > PARAMETERS_MAX {
            return Err(format!("it has {count} parameters, more than {PARAMETERS_MAX}"));
        }
        let mut all: Vec<&Value> =
            of(self.described).map(|it| found(self.document, it)).collect::<Result<_, _>>()?;
        let same = |a: &Value, b: &Value| ["name", "in"].iter().all(|key| a.get(key) == b.get(key));
        for shared in of(self.item).map(|it| found(self.document, it)) {
            let shared = shared?;
            if !all.iter().any(|own| same(own, shared)) {
                all.push(shared);
            }
        }
        Ok(all)
    }

    /// The media type and the example of the body; an error where a body is required and has no example.
    fn body(&self) -> Result<Option<(String, String)>, String> {
        let Some(body) = self.described.get("requestBody") else { return Ok(None) };
        let body = found(self.document, body)?;
        let content = body.get("content").and_then(Value::as_object);
        let with_example = content.into_iter().flatten().find_map(|(kind, media)| {
            let example = self.example_of(media)?;
            // Each part of a form has its name once more.
            let names = |(name, value): (&String, &Value)| {
                (name.len() as u64 + PART_BYTES).saturating_mul(parts(value))
            };
            let fields = example.as_object().filter(|_| kind.contains("form")).into_iter().flatten();
            self.takes(fields.map(names).fold(0, u64::saturating_add)).then_some(())?;
            written(kind, &example)
        });
        let is_required = body.get("required").and_then(Value::as_bool).unwrap_or(false);
        match with_example {
            None if is_required => Err("its body has no example".into()),
            example => Ok(example),
        }
    }

    /// What `$ref` refers to, or what refers to nothing, which has no example.
    fn resolved(&self, value: &'a Value) -> &'a Value {
        found(self.document, value).unwrap_or(value)
    }

    /// `example`, the first of `examples`, or what the schema has of its own.
    fn example_of(&self, holder: &'a Value) -> Option<Value> {
        if let Some(example) = holder.get("example") {
            return self.copied(example);
        }
        let examples = holder.get("examples").and_then(Value::as_object);
        if let Some(first) = examples.and_then(|all| all.values().next()) {
            return self.resolved(first).get("value").and_then(|it| self.copied(it));
        }
        holder.get("schema").and_then(|schema| self.example_of_schema(self.resolved(schema), 0))
    }

    fn example_of_schema(&self, schema: &'a Value, depth: u32) -> Option<Value> {
        if depth > REFERENCES_MAX || !self.takes(SCHEMA_BYTES) {
            return None;
        }
        if let Some(own) = own_example(schema) {
            return self.copied(own);
        }
        let list = move |name: &str| schema.get(name).and_then(Value::as_array).map(Vec::as_slice);
        let deeper = |it: &'a Value| self.example_of_schema(self.resolved(it), depth + 1);
        match (schema.get("properties"), list("allOf")) {
            // So a reference is given a description of its own.
            (None, Some([only])) => return deeper(only),
            (None, None) => {}
            _ => return self.example_of_object(schema, depth),
        }
        if let Some(items) = schema.get("items") {
            return Some(Value::Array(vec![deeper(items)?]));
        }
        if let Some(first) = list("enum").and_then(<[Value]>::first) {
            return self.copied(first);
        }
        ["oneOf", "anyOf"].into_iter().find_map(|name| list(name)?.iter().find_map(deeper))
    }

    /// An example of the document's own, where there is room for it.
    fn copied(&self, example: &Value) -> Option<Value> {
        self.takes(size(example)).then(|| example.clone())
    }

    /// Takes some of the room; false where there is too little, and then there is none any more.
    fn takes(&self, size: u64) -> bool {
        let left = self.room.get().checked_sub(size);
        self.room.set(left.unwrap_or(0));
        left.is_some()
    }

    fn take(&self, size: u64) -> Result<(), String> {
        if self.takes(size) { Ok(()) } else { Err("there is no room for it".into()) }
    }

    /// An object of its properties' examples; none where a required one has none. What only answers have is left out.
    fn example_of_object(&self, schema: &'a Value, depth: u32) -> Option<Value> {
        let mut all = Parts::default();
        self.gather(schema, depth, &mut all)?;
        let Parts { mut object, properties, required } = all;
        let mut of_answers = BTreeSet::new();
        for (name, property) in properties {
            let resolved = self.resolved(property);
            let is_of_answers = |it: &Value| it.get("readOnly").and_then(Value::as_bool) == Some(true);
            if is_of_answers(property) || is_of_answers(resolved) {
                of_answers.insert(name.as_str());
                continue;
            }
            // What a part of it has an example of stays that.
            if object.contains_key(name) {
                continue;
            }
            if let Some(example) = self.example_of_schema(resolved, depth + 1) {
                self.takes(name.len() as u64).then_some(())?;
                object.insert(name.clone(), example);
            }
        }
        let is_there = |name: &&'a str| object.contains_key(*name) || of_answers.contains(name);
        let is_whole = required.iter().all(is_there) && !object.is_empty();
        is_whole.then_some(Value::Object(object))
    }

    /// Adds what a schema says of an object, and what each says that it is all of. None where there is too much of it.
    fn gather(&self, schema: &'a Value, depth: u32, all: &mut Parts<'a>) -> Option<()> {
        if depth > REFERENCES_MAX || !self.takes(SCHEMA_BYTES) {
            return None;
        }
        if let Some(Value::Object(fields)) = own_example(schema) {
            self.takes(fields.iter().map(|(name, value)| name.len() as u64 + size(value)).sum())
                .then_some(())?;
            all.object.extend(fields.iter().map(|(name, value)| (name.clone(), value.clone())));
            return Some(());
        }
        for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.gather(self.resolved(part), depth + 1, all)?;
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        let required = schema.get("required").and_then(Value::as_array);
        let count = properties.map_or(0, Map::len) + required.map_or(0, Vec::len);
        self.takes((count as u64).saturating_mul(PROPERTY_BYTES)).then_some(())?;
        all.properties.extend(properties.into_iter().flatten());
        all.required.extend(required.into_iter().flatten().filter_map(Value::as_str));
        Some(())
    }
}

/// What a schema says of itself: an example, or the only value or the usual one.
fn own_example(schema: &Value) -> Option<&Value> {
    let first = || schema.get("examples").and_then(Value::as_array).and_then(|all| all.first());
    let own = schema.get("example").or_else(first);
    own.or_else(|| schema.get("default")).or_else(|| schema.get("const"))
}

/// About the bytes that a value is written with. Values are nested no deeper than a document may be.
fn size(value: &Value) -> u64 {
    let of_parts: u64 = match value {
        Value::String(text) => text.len() as u64,
        Value::Array(all) => all.iter().map(size).sum(),
        Value::Object(fields) => fields.iter().map(|(name, value)| name.len() as u64 + size(value)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    };
    of_parts + 8
}

/// How often a field of this value is written where lists and objects are written by their parts.
fn parts(value: &Value) -> u64 {
    match value {
        Value::Array(all) => all.len() as u64,
        Value::Object(fields) => fields.len() as u64,
        _ => 1,
    }
}

/// An example as a body of a media type, with the type to say; none where it can't be written as one.
fn written(kind: &str, example: &Value) -> Option<(String, String)> {
    let essence = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_any = essence.contains('*');
    let is_json = ["json", "yaml"].iter().any(|it| essence.contains(it)) || is_any;
    let text = match (essence.as_str(), example) {
        ("application/x-www-form-urlencoded", Value::Object(fields)) => form(fields),
        ("multipart/form-data", Value::Object(fields)) => return of_parts(fields),
        (it, _) if it.starts_with("multipart/") && !kind.contains("boundary=") => return None,
        (it, Value::String(text)) if !it.contains("json") => text.clone(),
        (_, other) if is_json => other.to_string(),
        (_, Value::Object(_) | Value::Array(_)) => return None,
        (_, other) => other.to_string(),
    };
    let said = match example {
        Value::String(_) if is_any => "text/plain",
        _ if is_any => "application/json",
        _ => kind,
    };
    Some((said.to_owned(), text))
}

/// Lists as the field again and again, as forms have them.
fn form(fields: &Map<String, Value>) -> String {
    let pairs = fields.iter().filter_map(|(name, value)| match value {
        Value::Array(_) => of_query(name, value, "form", None),
        other => Some(format!("{}={}", encoded(name), encoded(&plain(other)))),
    });
    pairs.filter(|it| !it.is_empty()).collect::<Vec<_>>().join("&")
}

/// A form in parts: a list is as many, and an object is JSON.
fn of_parts(fields: &Map<String, Value>) -> Option<(String, String)> {
    let mut all = Vec::new();
    for (name, value) in fields {
        if name.is_empty() || name.contains(['"', '\r', '\n']) {
            return None;
        }
        let values = match value {
            Value::Array(values) => values.as_slice(),
            one => std::slice::from_ref(one),
        };
        all.extend(values.iter().map(|value| FormField {
            name: name.clone(),
            file_name: None,
            content_type: value.is_object().then(|| "application/json".to_owned()),
            content: plain(value).into_bytes(),
        }));
    }
    let (header, body) = multipart(&all);
    let (_, kind) = header.split_once(": ")?;
    Some((kind.to_owned(), String::from_utf8(body).ok()?))
}

/// A parameter's value in a path, a header or a cookie, with commas.
fn simple(value: &Value, explodes: Option<bool>, write: impl Fn(&str) -> String) -> String {
    let joint = if explodes == Some(true) { "=" } else { "," };
    match value {
        Value::Array(all) => all.iter().map(|it| write(&plain(it))).collect::<Vec<_>>().join(","),
        Value::Object(fields) => {
            let pairs = fields.iter().map(|(key, it)| format!("{}{joint}{}", write(key), write(&plain(it))));
            pairs.collect::<Vec<_>>().join(",")
        }
        other => write(&plain(other)),
    }
}

/// A parameter of the query. Lists and objects are a pair for each part, unless it says otherwise (OpenAPI 3.1, section
/// 4.8.12.2). None of a style that has no place for such a value.
fn of_query(name: &str, value: &Value, style: &str, explodes: Option<bool>) -> Option<String> {
    let explodes = explodes.unwrap_or(style == "form");
    let name = encoded(name);
    let pairs = |all: Vec<String>| all.join("&");
    let comma = match style {
        "form" => ",",
        "spaceDelimited" => "%20",
        "pipeDelimited" => "%7C",
        _ => "",
    };
    let one = |it: &Value| encoded(&plain(it));
    match (value, style) {
        (Value::Array(_) | Value::Object(_), "form" | "spaceDelimited" | "pipeDelimited") if !explodes => {
            let all: Vec<String> = match value {
                Value::Object(fields) => {
                    fields.iter().flat_map(|(key, it)| [encoded(key), one(it)]).collect()
                }
                Value::Array(all) => all.iter().map(one).collect(),
                _ => Vec::new(),
            };
            Some(format!("{name}={}", all.join(comma)))
        }
        (Value::Array(all), "form" | "spaceDelimited" | "pipeDelimited") => {
            Some(pairs(all.iter().map(|it| format!("{name}={}", one(it))).collect()))
        }
        (Value::Object(fields), "form") => {
            Some(pairs(fields.iter().map(|(key, it)| format!("{}={}", encoded(key), one(it))).collect()))
        }
        (Value::Object(fields), "deepObject") => {
            let pair = |(key, it): (&String, &Value)| format!("{name}%5B{}%5D={}", encoded(key), one(it));
            Some(pairs(fields.iter().map(pair).collect()))
        }
        (Value::Array(_) | Value::Object(_), _) => None,
        (scalar, _) => Some(format!("{name}={}", one(scalar))),
    }
}

/// A value as text: of lists and objects, JSON.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn encoded(text: &str) -> String {
    // A plus is a blank in forms only.
    byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
}
