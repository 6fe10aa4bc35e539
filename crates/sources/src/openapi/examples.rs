//! Examples: those that a document gives, and those that are put together of what it says of schemas.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{Operation, REFERENCES_MAX};

/// What looking at a schema takes of it: as much time as copying so many bytes, and more.
const SCHEMA_BYTES: u64 = 256;
/// What is kept of each property of an object, in bytes and no less.
const PROPERTY_BYTES: u64 = 32;

/// What an object is put together from.
#[derive(Default)]
struct Parts<'a> {
    object: Map<String, Value>,
    properties: Vec<(&'a String, &'a Value)>,
    required: Vec<&'a str>,
}

impl<'a> Operation<'a> {
    /// `example`, the first of `examples`, or what the schema has of its own.
    pub(super) fn example_of(&self, holder: &'a Value) -> Option<Value> {
        if let Some(example) = holder.get("example") {
            return self.copied(example);
        }
        let examples = holder.get("examples").and_then(Value::as_object);
        if let Some(first) = examples.and_then(|all| all.values().next()) {
            return self.resolved(first).get("value").and_then(|it| self.copied(it));
        }
        holder.get("schema").and_then(|schema| self.example_of_schema(schema))
    }

    /// The example of a schema, or of the one that it refers to: what is said beside a `$ref` is said of this place. None within
    /// an example of that same schema, which would have no end.
    fn example_of_schema(&self, schema: &'a Value) -> Option<Value> {
        self.takes(SCHEMA_BYTES).then_some(())?;
        let resolved = self.resolved(schema);
        if let Some(own) = own_example(schema).or_else(|| own_example(resolved)) {
            return self.copied(own);
        }
        if self.is_open(resolved) || self.open.borrow().len() > REFERENCES_MAX as usize {
            return None;
        }
        self.open.borrow_mut().push(resolved);
        let example = self.put_together(resolved);
        self.open.borrow_mut().pop();
        example
    }

    /// Whether an example of this very schema is being put together.
    fn is_open(&self, schema: &Value) -> bool {
        self.open.borrow().iter().any(|it| std::ptr::eq(*it, schema))
    }

    /// The example of a schema that has none of its own.
    fn put_together(&self, schema: &'a Value) -> Option<Value> {
        let list = move |name: &str| schema.get(name).and_then(Value::as_array).map(Vec::as_slice);
        let of_part = |it: &'a Value| self.example_of_schema(it);
        match (schema.get("properties"), list("allOf")) {
            // So a reference is given a description of its own.
            (None, Some([only])) => return of_part(only),
            (None, None) => {}
            _ => return self.example_of_object(schema),
        }
        if let Some(items) = schema.get("items") {
            let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
            // A tree ends where a part of it has no parts.
            let is_end = least == 0 && self.is_open(self.resolved(items));
            return Some(Value::Array(if is_end { Vec::new() } else { vec![of_part(items)?] }));
        }
        if let Some(first) = list("enum").and_then(<[Value]>::first) {
            return self.copied(first);
        }
        ["oneOf", "anyOf"].into_iter().find_map(|name| list(name)?.iter().find_map(of_part))
    }

    /// An example of the document's own, where there is room for it.
    fn copied(&self, example: &Value) -> Option<Value> {
        self.takes(size(example)).then(|| example.clone())
    }

    /// An object of its properties' examples; none where a required one has none. What only answers have is left out.
    fn example_of_object(&self, schema: &'a Value) -> Option<Value> {
        let mut all = Parts::default();
        self.gather(schema, 0, &mut all)?;
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
            if let Some(example) = self.example_of_schema(property) {
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
