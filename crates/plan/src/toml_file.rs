//! Reads a TOML file into a type, and every mistake in it into a [`PlanError`] with its line.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error, SeqAccess, Unexpected, Visitor};

use crate::error::PlanError;
use crate::nearest;

/// The longest file that is written by hand, bytes.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// `text` as a string of a TOML file.
pub fn string(text: &str) -> String {
    toml::Value::from(text).to_string()
}

/// Reads `path` whole, if it is no longer than anybody writes.
pub fn read(path: &Path) -> Result<String, PlanError> {
    read_up_to(path, FILE_BYTES_MAX)
}

/// Reads `path` whole, if it has at most `bytes_max` bytes: a file may be anybody's, and without end.
pub fn read_up_to(path: &Path, bytes_max: u64) -> Result<String, PlanError> {
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(bytes_max + 1).read_to_string(&mut text));
    read.map_err(|error| {
        PlanError::new(format!("cannot be read ({error})"), "check the path and its permissions")
            .in_file(path)
    })?;
    if text.len() as u64 > bytes_max {
        let what = format!("is longer than {} MiB", bytes_max >> 20);
        return Err(PlanError::new(what, "cut out what is needed").in_file(path));
    }
    Ok(text)
}

/// Parses `text`, the content of `path`, into `T`. Unknown keys are errors where `T` denies them. `docs` is the page that
/// shows every key.
pub fn parse<T: DeserializeOwned>(path: &Path, text: &str, docs: &str) -> Result<T, PlanError> {
    toml::from_str(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        let Mistake { what, help } = Mistake::of(&error.message().trim().replace('\n', " "), text, offset);
        let joint = if help.ends_with('?') { " " } else { "; " };
        PlanError::new(what, format!("{help}{joint}{docs} shows every key")).at_offset(path, text, offset)
    })
}

/// What is wrong in a file, and what to write instead.
struct Mistake {
    what: String,
    help: String,
}

impl Mistake {
    /// What serde says, in the words of somebody who wrote the file. Its sentences are those of its default messages.
    fn of(message: &str, text: &str, offset: usize) -> Self {
        if let Some(named) = message.strip_prefix("unknown field ") {
            return Self::unknown("key", named);
        }
        if let Some(named) = message.strip_prefix("unknown variant ") {
            return Self::unknown("value", named);
        }
        if let Some(name) = message.strip_prefix("missing field ") {
            return Self { what: format!("the key {name} is missing"), help: "add it".into() };
        }
        let mismatch = message.strip_prefix("invalid type: ").and_then(|it| it.split_once(", expected "));
        match (mismatch, key_before(text, offset)) {
            (Some((found, expected)), Some(key)) => Self::mismatch(key, found, expected, text, offset),
            _ => Self { what: message.to_owned(), help: "mend the line".into() },
        }
    }

    /// `named` is the unknown name, and behind it those that are known, each in backticks.
    fn unknown(what: &str, named: &str) -> Self {
        let mut names = named.split('`').skip(1).step_by(2);
        let given = names.next().unwrap_or_default();
        let known: Vec<&str> = names.collect();
        let help = match (nearest::did_you_mean(given, known.iter().copied()), known.as_slice()) {
            (Some(question), _) => question,
            (None, []) => "take it out".into(),
            (None, known) => format!("known here: {}", known.join(", ")),
        };
        Self { what: format!("unknown {what} `{given}`"), help }
    }

    /// `key` was given what serde calls `found`, and takes what serde calls `expected`.
    fn mismatch(key: &str, found: &str, expected: &str, text: &str, offset: usize) -> Self {
        let value = text.get(offset..).unwrap_or_default().lines().next().unwrap_or_default();
        let value = value.split([',', '}', ']', '#']).next().unwrap_or_default().trim();
        let is_scalar = !value.is_empty() && !value.starts_with(['[', '{']);
        let (takes, help) = match expected {
            "a sequence" if is_scalar => ("a list", format!("write {key} = [{value}]")),
            "a sequence" => ("a list", format!("write {key} = [\u{2026}]")),
            "a string" if is_scalar => ("text in quotes", format!("write {key} = \"{value}\"")),
            "a string" => ("text in quotes", format!("write {key} = \"\u{2026}\"")),
            "a boolean" => ("true or false", format!("write {key} = true, or {key} = false")),
            "a map" => ("a table", format!("write {key} = {{ \u{2026} }}")),
            other if other.starts_with("struct ") => ("a table", format!("write {key} = {{ \u{2026} }}")),
            "u8" | "u16" | "u32" | "u64" | "usize" => {
                ("a whole number", format!("write {key} = 10, without quotes"))
            }
            "f64" => ("a number", format!("write {key} = 1.5, without quotes")),
            other => (other, "mend the line".into()),
        };
        let found = found.replace("sequence", "a list").replace("map", "a table");
        Self { what: format!("`{key}` is given {found}, and takes {takes}"), help }
    }
}

/// The key whose value begins at `offset`.
fn key_before(text: &str, offset: usize) -> Option<&str> {
    let before = text.get(..offset)?.trim_end().strip_suffix('=')?.trim_end();
    let is_of_key = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let key = before.rsplit(|c| !is_of_key(c)).next()?;
    (!key.is_empty()).then_some(key)
}

/// One number, or a list of them: `32` or `[32, 300]`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Numbers(pub Vec<u32>);

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumbersVisitor)
    }
}

struct NumbersVisitor;

impl<'de> Visitor<'de> for NumbersVisitor {
    type Value = Numbers;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number from 0, or a list of them such as [32, 300]")
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Numbers, E> {
        let number =
            u32::try_from(number).map_err(|_| E::invalid_value(Unexpected::Signed(number), &self))?;
        Ok(Numbers(vec![number]))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Numbers, E> {
        let number =
            u32::try_from(number).map_err(|_| E::invalid_value(Unexpected::Unsigned(number), &self))?;
        Ok(Numbers(vec![number]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Numbers, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list)).map(Numbers)
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "read for its mistakes alone")]
    struct File {
        title: String,
        #[serde(default)]
        counts: Numbers,
        #[serde(default)]
        names: Vec<String>,
        #[serde(default)]
        is_on: bool,
        #[serde(default)]
        part: Part,
    }

    #[derive(Debug, Default, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "read for its mistakes alone")]
    struct Part {
        arrivals: Option<Arrivals>,
        count: Option<u32>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Arrivals {
        Constant,
        Poisson,
    }

    fn error(text: &str) -> String {
        parse::<File>(Path::new("x.toml"), text, "docs/x.md").unwrap_err().to_string()
    }

    #[test]
    fn a_string_is_read_as_it_was() {
        for text in ["", "plain", "it's \"quoted\"", "C:\\path", "two\nlines", "\u{7f}\t\u{1b}[2J"] {
            let read: toml::Table =
                toml::from_str(&format!("text = {}\nlist = [{}]", string(text), string(text)))
                    .unwrap_or_else(|error| panic!("{text:?}: {error}"));
            assert_eq!((read["text"].as_str(), read["list"][0].as_str()), (Some(text), Some(text)));
        }
    }

    #[test]
    fn a_mistake_is_told_with_its_line_and_what_to_write() {
        for (text, said) in [
            (
                "titel = \"t\"",
                "x.toml:1:1: unknown key `titel`; did you mean title? docs/x.md shows every key",
            ),
            (
                "title = \"t\"\ncolour = 1",
                "x.toml:2:1: unknown key `colour`; known here: title, counts, names, is_on, part",
            ),
            ("counts = 3", "the key `title` is missing; add it"),
            (
                "title = \"t\"\nnames = \"gin\"",
                "2:9: `names` is given string \"gin\", and takes a list; write names = [\"gin\"]",
            ),
            ("title = 7", "1:9: `title` is given integer `7`, and takes text in quotes; write title = \"7\""),
            ("title = \"t\"\nis_on = 1", "`is_on` is given integer `1`, and takes true or false"),
            ("title = \"t\"\npart = 1", "`part` is given integer `1`, and takes a table"),
            ("title = \"t\"\npart = { cuont = 1 }", "2:10: unknown key `cuont`; did you mean count?"),
            (
                "title = \"t\"\npart = { count = \"1\" }",
                "`count` is given string \"1\", and takes a whole number",
            ),
            (
                "title = \"t\"\npart = { arrivals = \"poison\" }",
                "unknown value `poison`; did you mean poisson?",
            ),
            (
                "title = \"t\"\npart = { arrivals = \"x\" }",
                "unknown value `x`; known here: constant, poisson",
            ),
            (
                "title = \"t\"\ncounts = \"3\"",
                "`counts` is given string \"3\", and takes a whole number from 0, or a list",
            ),
            ("title = \"t\"\ncounts = -3", "integer `-3`"),
        ] {
            let error = error(text);
            assert!(error.contains(said), "{text}: {error}");
        }
    }

    #[test]
    fn one_number_is_as_good_as_a_list_of_one() {
        let counts = |value: &str| {
            let text = format!("title = \"t\"\ncounts = {value}");
            parse::<File>(Path::new("x.toml"), &text, "docs/x.md").unwrap().counts.0
        };
        assert_eq!((counts("32"), counts("[32]"), counts("[1, 2]")), (vec![32], vec![32], vec![1, 2]));
    }
}
