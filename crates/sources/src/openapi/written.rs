//! How values are written: as bodies of a media type, and as parameters by their style.

use serde::de::IgnoredAny;
use serde_json::{Map, Value};
use url::form_urlencoded::byte_serialize;

use crate::options::{FormField, multipart};

/// An example as a body of a media type, with the type to say; none where it can't be written as one. `is_text` is whether the
/// body is to be a text, whatever that looks like.
pub(super) fn written(kind: &str, example: &Value, is_text: bool) -> Option<(String, String)> {
    let essence = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_range = essence.contains('*');
    let is_any = matches!(essence.as_str(), "*/*" | "application/*");
    let is_json = is_any || ["json", "yaml"].iter().any(|it| essence.contains(it));
    let is_texts = essence == "text/*";
    if is_range && !is_json && !is_texts {
        return None;
    }
    // Some write the body itself into the example, as a text.
    let is_json_text = is_json && !is_text && example.as_str().is_some_and(is_object_or_list);
    let text = match (essence.as_str(), example) {
        ("application/x-www-form-urlencoded", Value::Object(fields)) => form(fields),
        ("multipart/form-data", Value::Object(fields)) => return of_parts(fields),
        (it, _) if it.starts_with("multipart/") && !kind.contains("boundary=") => return None,
        (it, Value::String(text)) if is_json_text || !it.contains("json") => text.clone(),
        (_, other) if is_json => other.to_string(),
        (_, Value::Object(_) | Value::Array(_)) => return None,
        (_, other) => other.to_string(),
    };
    // Of a range, a type is said that is in it.
    let said = match example {
        _ if !is_range => kind,
        _ if is_texts => "text/plain",
        Value::String(_) if is_any && !is_json_text => "text/plain",
        _ => "application/json",
    };
    Some((said.to_owned(), text))
}

/// Whether a text is an object or a list of JSON.
fn is_object_or_list(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[']) && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Lists as the field again and again, as forms have them.
fn form(fields: &Map<String, Value>) -> String {
    let pairs = fields.iter().filter_map(|(name, value)| match value {
        // A field without a value is one that is not filled in.
        Value::Null => None,
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
        all.extend(values.iter().filter(|it| !it.is_null()).map(|value| FormField {
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
pub(super) fn simple(value: &Value, explodes: Option<bool>, write: impl Fn(&str) -> String) -> String {
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
pub(super) fn of_query(name: &str, value: &Value, style: &str, explodes: Option<bool>) -> Option<String> {
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
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

pub(super) fn encoded(text: &str) -> String {
    // A plus is a blank in forms only.
    byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
}
