//! JSON values as JMeter's extractors and assertions see them: as texts, and compared with what was written.

use std::fmt::Write;

use serde_json::Value;

/// From here on, and below [`PLAIN_FROM`], a number with a fraction is written with an exponent.
const PLAIN_BELOW: f64 = 1e7;
const PLAIN_FROM: f64 = 1e-3;

/// A value as a variable gets it: a string's own characters, numbers with a fraction as Java writes them.
pub(super) fn text(value: &Value) -> String {
    if let Value::String(text) = value {
        return text.clone();
    }
    let mut out = String::new();
    write_value(value, &mut out);
    out
}

/// A value as an expression sees it: a number with a fraction never has an exponent.
pub(super) fn shown(value: &Value) -> String {
    match fraction(value) {
        Some(number) => with_point(number.to_string()),
        None => text(value),
    }
}

/// What was written as a value: JSON, or else the text itself.
pub(super) fn meant(written: &str) -> Value {
    let written = written.trim();
    if let Ok(value) = serde_json::from_str(written) {
        return value;
    }
    // Zeros may lead a number, and single quotes stand around a text.
    let is_number = !written.is_empty() && written.bytes().all(|byte| byte.is_ascii_digit());
    if let Some(number) = is_number.then(|| written.parse::<u64>().ok()).flatten() {
        return Value::from(number);
    }
    let quoted = written.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
    Value::from(quoted.filter(|text| !text.contains('\'')).unwrap_or(written))
}

/// Whether JMeter reads a text as JSON, if `json` is what it is as such. What does not begin like JSON is a string to it; no text,
/// and JSON that breaks off, aren't looked into.
pub(super) fn is_looked_into(text: &str, json: Option<&Value>) -> bool {
    json.is_some() || !(text.trim().is_empty() || text.trim_start().starts_with(['{', '[']))
}

/// Whether a JSONPath comes to one place at most, so that its value is looked at and not the list of all.
pub(super) fn is_one_place(path: &str) -> bool {
    let mut quote = None;
    let mut before = ' ';
    for c in path.chars() {
        match (quote, c) {
            (Some(open), _) if c == open && before != '\\' => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, '*' | '?' | ',' | ':') => return false,
            (None, '.') if before == '.' => return false,
            (Some(_) | None, _) => {}
        }
        before = c;
    }
    true
}

/// The number, if it is one with a fraction or an exponent.
fn fraction(value: &Value) -> Option<f64> {
    value.as_number().filter(|number| number.is_f64()).and_then(serde_json::Number::as_f64)
}

fn write_value(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => write_quoted(text, out),
        Value::Array(values) => {
            out.push('[');
            for (place, value) in values.iter().enumerate() {
                out.push_str(if place == 0 { "" } else { "," });
                write_value(value, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            for (place, (name, value)) in members.iter().enumerate() {
                out.push_str(if place == 0 { "" } else { "," });
                write_quoted(name, out);
                out.push(':');
                write_value(value, out);
            }
            out.push('}');
        }
        other => match fraction(other) {
            Some(number) => out.push_str(&as_java_has_it(number)),
            None => out.push_str(&other.to_string()),
        },
    }
}

/// A string with its quotes; a slash is escaped, and so is what has no shape.
fn write_quoted(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' | '/' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{2000}'..='\u{20ff}' => {
                // Writing into a String cannot fail.
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            _ => out.push(c),
        }
    }
    out.push('"');
}

fn as_java_has_it(number: f64) -> String {
    let size = number.abs();
    if size == 0.0 || (PLAIN_FROM..PLAIN_BELOW).contains(&size) {
        return with_point(number.to_string());
    }
    let text = format!("{number:e}");
    match text.split_once('e') {
        Some((digits, exponent)) => format!("{}E{exponent}", with_point(digits.to_owned())),
        None => text,
    }
}

fn with_point(digits: String) -> String {
    if digits.contains('.') { digits } else { digits + ".0" }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What json-smart 2.5.0 made of the same text, which JMeter 5.6.3 reads and writes JSON with.
    #[test]
    fn values_are_written_as_json_smart_does() {
        let json = r#"{"a":12345678.5,"b":"http://x/é\n\u0001<\u2028","c":1.50,"e":1e3,"n":null}"#;
        let value: Value = serde_json::from_str(json).unwrap();
        let written = r#"{"a":1.23456785E7,"b":"http:\/\/x\/é\n\u0001<\u2028","c":1.5,"e":1000.0,"n":null}"#;
        assert_eq!(text(&value), written);
        for (json, as_text, as_shown) in [
            ("0.0001", "1.0E-4", "0.0001"),
            ("1.5e3", "1500.0", "1500.0"),
            ("12345678.5", "1.23456785E7", "12345678.5"),
            ("12345678901234567890", "12345678901234567890", "12345678901234567890"),
            (r#"[1,[2,"x/y"],null]"#, r#"[1,[2,"x\/y"],null]"#, r#"[1,[2,"x\/y"],null]"#),
            (r#""x/y""#, "x/y", "x/y"),
            ("0.0", "0.0", "0.0"),
            ("true", "true", "true"),
        ] {
            let value: Value = serde_json::from_str(json).unwrap();
            assert_eq!((text(&value).as_str(), shown(&value).as_str()), (as_text, as_shown), "{json}");
        }
    }

    #[test]
    fn what_is_written_is_json_or_a_text() {
        for (written, json) in [
            ("", r#""""#),
            ("007", "7"),
            ("'x'", r#""x""#),
            (" a b ", r#""a b""#),
            ("12abc", r#""12abc""#),
            ("1.50", "1.5"),
            (r#""1""#, r#""1""#),
            ("null", "null"),
            ("[1, 2]", "[1,2]"),
        ] {
            assert_eq!(meant(written), serde_json::from_str::<Value>(json).unwrap(), "{written}");
        }
    }

    #[test]
    fn a_path_without_choices_comes_to_one_place() {
        for path in ["$", "$.a.b", "$['a,b*'][0]", "$[\"a..b\"]", "$.a[-1]"] {
            assert!(is_one_place(path), "{path}");
        }
        for path in ["$..a", "$.*", "$.a[*]", "$.a[0,1]", "$.a[1:]", "$.a[?@.n > 1]", "$['a','b']"] {
            assert!(!is_one_place(path), "{path}");
        }
    }
}
