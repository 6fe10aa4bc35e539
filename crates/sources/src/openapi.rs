//! An OpenAPI 3 document, JSON or YAML: each operation whose parameters and body have examples is a request.

use plan::PlanError;
use scenario::{Pick, Step};
use serde_json::{Map, Value};
use std::cell::Cell;
use std::num::NonZeroU32;
use url::Url;
use url::form_urlencoded::byte_serialize;

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

/// The operations of the document `text`, one at random at a time. They go to `options.base`, or to the document's
/// first server.
pub fn parse_openapi(name: &str, text: &str, options: &SourceOptions) -> Result<Sourced, PlanError> {
    let help = "give an OpenAPI 3 document, JSON or YAML";
    let document: Value = serde_saphyr::from_str(text).map_err(|error| {
        // The lines after the first show the place once more.
        let why = error.to_string();
        let why = why.lines().next().unwrap_or_default();
        PlanError::new(format!("it is no OpenAPI document ({why})"), help)
    })?;
    let version = document.get("openapi").and_then(Value::as_str).unwrap_or_default();
    if !version.starts_with("3.") {
        return Err(PlanError::new(format!("its `openapi` is `{version}` and not 3"), help));
    }
    let base = match options.base_url()? {
        Some(base) => base,
        None => first_server(&document)?,
    };
    let (mut steps, mut left_out) = (Vec::new(), Vec::new());
    let room = Cell::new(EXAMPLES_MAX);
    for (path, item) in document.get("paths").and_then(Value::as_object).into_iter().flatten() {
        for method in METHODS {
            let Some(described) = item.get(method) else { continue };
            let operation = Operation { document: &document, path, item, described, room: &room };
            let step = operation.step(method, &base);
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
    options.scenario(name.to_owned(), steps, left_out)
}

fn first_server(document: &Value) -> Result<Url, PlanError> {
    let url = document.pointer("/servers/0/url").and_then(Value::as_str).unwrap_or_default();
    match Url::parse(url) {
        Ok(url) if ["http", "https"].contains(&url.scheme()) && url.has_host() => Ok(url),
        _ => {
            let what = format!("the document's first server `{url}` is none that can be sent to");
            Err(PlanError::new(what, "give --base http://127.0.0.1:8080"))
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

impl<'a> Operation<'a> {
    fn step(&self, method: &str, base: &Url) -> Result<Step, String> {
        // Each operation has all of the server's URL in its own, and its parameters' names.
        let too_much = || "there is no room for it".to_owned();
        if !self.takes(base.as_str().len() as u64) {
            return Err(too_much());
        }
        let mut path = self.path.to_owned();
        let (mut query, mut headers, mut cookies) = (Vec::new(), Vec::new(), Vec::new());
        for parameter in self.parameters()? {
            let name = parameter.get("name").and_then(Value::as_str).unwrap_or_default();
            if !self.takes(name.len() as u64) {
                return Err(too_much());
            }
            let is_required = parameter.get("required").and_then(Value::as_bool).unwrap_or(false);
            let Some(value) = self.example_of(parameter) else {
                if is_required {
                    return Err(format!("its parameter `{name}` has no example"));
                }
                continue;
            };
            let value = plain(&value);
            match parameter.get("in").and_then(Value::as_str) {
                Some("path") => {
                    let (place, value) = (format!("{{{name}}}"), encoded(&value));
                    let places = path.matches(&place).count() as u64;
                    if !self.takes(places.saturating_mul(value.len() as u64)) {
                        return Err(too_much());
                    }
                    path = path.replace(&place, &value);
                }
                Some("query") => query.push(format!("{}={}", encoded(name), encoded(&value))),
                Some("header") => headers.push((name.to_owned(), value)),
                Some("cookie") => cookies.push(format!("{name}={value}")),
                other => return Err(format!("its parameter `{name}` is in {other:?}")),
            }
        }
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

    /// Of the operation and of its path; where both have one of a name and place, the operation's.
    fn parameters(&self) -> Result<Vec<&'a Value>, String> {
        let of = |it: &'a Value| it.get("parameters").and_then(Value::as_array).into_iter().flatten();
        let count = of(self.described).count() + of(self.item).count();
        if count > PARAMETERS_MAX {
            return Err(format!("it has {count} parameters, more than {PARAMETERS_MAX}"));
        }
        let mut all: Vec<&Value> = of(self.described).map(|it| self.resolved(it)).collect();
        let same = |a: &Value, b: &Value| ["name", "in"].iter().all(|key| a.get(key) == b.get(key));
        for shared in of(self.item).map(|it| self.resolved(it)) {
            if !all.iter().any(|own| same(own, shared)) {
                all.push(shared);
            }
        }
        Ok(all)
    }

    /// The media type and the example of the body; an error where a body is required and has no example.
    fn body(&self) -> Result<Option<(String, String)>, String> {
        let Some(body) = self.described.get("requestBody").map(|it| self.resolved(it)) else {
            return Ok(None);
        };
        let content = body.get("content").and_then(Value::as_object);
        let with_example = content.into_iter().flatten().find_map(|(kind, media)| {
            let example = self.example_of(media)?;
            Some((kind.clone(), written(kind, &example)))
        });
        let is_required = body.get("required").and_then(Value::as_bool).unwrap_or(false);
        match with_example {
            None if is_required => Err("its body has no example".into()),
            found => Ok(found),
        }
    }

    /// What `$ref` refers to, within the document.
    fn resolved(&self, mut value: &'a Value) -> &'a Value {
        for _ in 0..REFERENCES_MAX {
            let target = value.get("$ref").and_then(Value::as_str).and_then(|it| it.strip_prefix('#'));
            match target.and_then(|pointer| self.document.pointer(pointer)) {
                Some(found) => value = found,
                None => break,
            }
        }
        value
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
        let first = |name: &str| schema.get(name).and_then(Value::as_array).and_then(|all| all.first());
        let own = schema.get("example").or_else(|| first("examples"));
        if let Some(own) = own.or_else(|| schema.get("default")).or_else(|| schema.get("const")) {
            return self.copied(own);
        }
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            return self.example_of_object(schema, properties, depth);
        }
        if let Some(items) = schema.get("items") {
            let item = self.example_of_schema(self.resolved(items), depth + 1)?;
            return Some(Value::Array(vec![item]));
        }
        first("enum").and_then(|it| self.copied(it))
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

    /// An object of its properties' examples; none where a required one has none.
    fn example_of_object(
        &self,
        schema: &'a Value,
        properties: &'a Map<String, Value>,
        depth: u32,
    ) -> Option<Value> {
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let mut object = Map::new();
        for (name, property) in properties {
            match self.example_of_schema(self.resolved(property), depth + 1) {
                Some(example) => drop(object.insert(name.clone(), example)),
                None if required.contains(&name.as_str()) => return None,
                None => {}
            }
        }
        (!object.is_empty()).then_some(Value::Object(object))
    }
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

/// An example as a body of that media type.
fn written(kind: &str, example: &Value) -> String {
    match example {
        Value::Object(fields) if kind == "application/x-www-form-urlencoded" => fields
            .iter()
            .map(|(name, value)| format!("{}={}", encoded(name), encoded(&plain(value))))
            .collect::<Vec<_>>()
            .join("&"),
        Value::String(text) if !kind.contains("json") => text.clone(),
        other => other.to_string(),
    }
}

/// A parameter's value as text: lists with commas, as `simple` and `form` have them.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(all) => all.iter().map(plain).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

fn encoded(text: &str) -> String {
    // A plus is a blank in forms only.
    byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
}
