//! What is wrong in a file, in the words of somebody who wrote it, and what to write instead.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::nearest;

/// How serde begins to say that a key is not known.
const UNKNOWN_KEY: &str = "unknown field ";
/// How the texts begin by which our own types with several forms say which these are (`#[serde(untagged, expecting = …)]`).
const TAKES: &str = "takes ";
/// A key that no table has: what is said of it names those that a table has.
const NO_KEY: &str = "no-such-key";
/// Tables that a key may belong into which are named at most.
const TABLES_MAX: usize = 3;
/// What serde calls a list and a table.
const LIST: &str = "sequence";
const TABLE: &str = "map";

/// Keys whose text is a duration, in whatever file: what a bare number of them is meant for is advised with a unit.
const DURATIONS: [&str; 17] = [
    "connect_timeout",
    "cool_down_max",
    "delay",
    "drain",
    "duration",
    "idle_look",
    "idle_timeout",
    "length",
    "pause",
    "ramp_up",
    "settle",
    "settle_max",
    "think",
    "timeout",
    "warm_up",
    "window_max",
    "within",
];
/// The same of shares.
const SHARES: [&str; 3] = ["latency", "max_loss", "precision"];

/// What is wrong in a file, and what to write instead.
pub(super) struct Mistake {
    pub(super) what: String,
    pub(super) help: String,
}

impl Mistake {
    /// What serde says of what stands `at` somewhere in `text`. Its sentences are those of its default messages. `refused` is
    /// what it says of another text that is read as the same type.
    pub(super) fn of(
        message: &str,
        text: &str,
        at: &Range<usize>,
        refused: &dyn Fn(&str) -> Option<String>,
    ) -> Self {
        if let Some((given, known)) = named(message, UNKNOWN_KEY) {
            return Self::unknown("key", given, &known, elsewhere(given, refused));
        }
        if let Some((given, known)) = named(message, "unknown variant ") {
            return Self::unknown("value", given, &known, None);
        }
        if let Some(name) = message.strip_prefix("missing field ") {
            return Self { what: format!("the key {name} is missing"), help: "add it".into() };
        }
        let wrong = ["invalid type: ", "invalid value: "].into_iter().find_map(|it| message.strip_prefix(it));
        let wrong = wrong.and_then(|it| it.rsplit_once(", expected "));
        let found = wrong.map_or("", |(found, _)| found);
        let has_forms = message.starts_with(TAKES);
        // Of what has none of several forms it is not said what it is.
        let as_list = || has_forms.then(|| Written::at(text, at, true)).flatten();
        match (wrong, Written::at(text, at, found == LIST).or_else(as_list)) {
            (Some((found, expected)), Some(written)) => written.mismatch(found, expected),
            (_, Some(written)) if has_forms => written.of_no_form(message),
            (_, written) => {
                let with_unit = written.and_then(|it| it.with_unit().map(|value| it.advice(&value)));
                let help = with_unit.unwrap_or_else(|| "mend the line".into());
                Self { what: message.to_owned(), help }
            }
        }
    }

    /// `given` is a name that is not among those that are `known`; a key of it may be known `elsewhere`.
    fn unknown(what: &str, given: &str, known: &[&str], elsewhere: Option<String>) -> Self {
        let or_meant = elsewhere.or_else(|| nearest::did_you_mean(given, known.iter().copied()));
        let help = or_meant.unwrap_or_else(|| match known {
            [] => "take it out".into(),
            known => format!("known here: {}", known.join(", ")),
        });
        Self { what: format!("unknown {what} `{given}`"), help }
    }
}

/// The name that is not known, and those that are: behind `kind`, each in backticks.
fn named<'a>(message: &'a str, kind: &str) -> Option<(&'a str, Vec<&'a str>)> {
    let mut names = message.strip_prefix(kind)?.split('`').skip(1).step_by(2);
    let given = names.next().unwrap_or_default();
    Some((given, names.collect()))
}

/// Where a file of the same type has the key `given`, if it has it anywhere: at its top, or in tables that stand there. The type
/// itself is asked, with a key that it has not.
fn elsewhere(given: &str, refused: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let keys = |probe: &str| -> Vec<String> {
        let said = refused(probe).unwrap_or_default();
        let known = named(&said, UNKNOWN_KEY).map(|(_, known)| known).unwrap_or_default();
        known.into_iter().map(str::to_owned).collect()
    };
    let has_it = |keys: &[String]| keys.iter().any(|key| key == given);
    let top = keys(&format!("{NO_KEY} = 0"));
    if has_it(&top) {
        return Some("it belongs to the top of the file, before the first [table]".into());
    }
    let table_with_it = |name: &String| {
        let is_in = |probe: &str| has_it(&keys(probe));
        if is_in(&format!("{name} = {{ {NO_KEY} = 0 }}")) {
            Some(format!("[{name}]"))
        } else if is_in(&format!("{name} = [{{ {NO_KEY} = 0 }}]")) {
            Some(format!("[[{name}]]"))
        } else {
            None
        }
    };
    let tables: Vec<String> = top.iter().filter_map(table_with_it).take(TABLES_MAX).collect();
    (!tables.is_empty()).then(|| format!("it belongs into {}", tables.join(" or ")))
}

/// A value as it is written in a file.
struct Written<'a> {
    /// The keys of the tables that it is in, and its own.
    path: Vec<String>,
    /// Its key as it is written: where it is dotted, with the tables that it names.
    key: String,
    /// Whether it is an element of that key's list.
    is_element: bool,
    text: &'a str,
}

impl<'a> Written<'a> {
    /// The value `at` somewhere in `text`; where a list begins with what is in it, as one of tables does, which of the two is
    /// meant says `is_list`.
    fn at(text: &'a str, at: &Range<usize>, is_list: bool) -> Option<Self> {
        let file = DeTable::parse(text).ok()?;
        let Way { mut keys, is_element } = Way::through_table(file.get_ref(), at, is_list)?;
        keys.reverse();
        let key = key_before(text, at.start).or(keys.last().map(String::as_str))?.to_owned();
        Some(Self { path: keys, key, is_element, text: text.get(at.clone())? })
    }

    /// It is what serde calls `found`, where serde wants what it calls `expected`.
    fn mismatch(&self, found: &str, expected: &str) -> Mistake {
        let Self { key, text, .. } = self;
        let path = self.path.join(".");
        if found == TABLE && expected == "a sequence" && !text.starts_with('{') {
            let what = format!("`{key}` is one table, and takes a list of them");
            return Mistake { what, help: format!("write [[{path}]]") };
        }
        if found == TABLE && self.is_element && text.starts_with("[[") {
            let what = format!("`{key}` is a list of tables, and takes one table");
            return Mistake { what, help: format!("write [{path}]") };
        }
        let (takes, help) = self.wanted(found, expected);
        let found = match found {
            LIST => "a list",
            TABLE => "a table",
            // Beyond 64 bits it is said in how many.
            other => other.trim_end_matches(" as i128").trim_end_matches(" as u128"),
        };
        let what = if self.is_element {
            format!("`{key}` has {found} in its list, and takes {takes} there")
        } else {
            format!("`{key}` is given {found}, and takes {takes}")
        };
        Mistake { what, help }
    }

    /// It has none of the forms that a value may have of which `takes` tells.
    fn of_no_form(&self, takes: &str) -> Mistake {
        let Self { key, text, .. } = self;
        let given = match text.as_bytes().first() {
            Some(b'[') => "a list",
            Some(b'{') => "a table",
            _ => text.lines().next().unwrap_or_default(),
        };
        Mistake { what: format!("`{key}` is given {given}, and {takes}"), help: "write it so".into() }
    }

    /// What serde calls `expected`, and what to write.
    fn wanted(&self, found: &str, expected: &str) -> (String, String) {
        let key = &self.key;
        let scalar = Some(self.text).filter(|it| !it.starts_with(['[', '{']) && !it.contains('\n'));
        let shown = scalar.unwrap_or("\u{2026}");
        let without_quotes = if found.starts_with("string") { ", without quotes" } else { "" };
        if let Some((least, most)) = bounds(expected) {
            let digits = self.text.trim_matches(['"', '\'']);
            let is_right = digits.parse::<u64>().is_ok_and(|it| it >= u64::from(least) && it <= most);
            let example = if is_right { digits } else { "10" };
            let takes = format!("a whole number from {least} to {most}");
            return (takes, self.advice(example) + without_quotes);
        }
        let (takes, help) = match expected {
            "a sequence" => ("a list", self.advice(&format!("[{shown}]"))),
            "a string" => {
                let value = self.with_unit().unwrap_or_else(|| format!("\"{shown}\""));
                ("text in quotes", self.advice(&value))
            }
            "a boolean" => ("true or false", format!("write {key} = true, or {key} = false")),
            "a map" => ("a table", self.advice("{ \u{2026} }")),
            other if other.starts_with("struct ") => ("a table", self.advice("{ \u{2026} }")),
            "f64" => ("a number", self.advice("1.5") + without_quotes),
            other => (other, "mend the line".into()),
        };
        (takes.to_owned(), help)
    }

    /// A bare number as the quantity that it may be meant for, in quotes and with its unit, where the key takes one.
    fn with_unit(&self) -> Option<String> {
        let number = self.text.replace('_', "");
        let is_plain = number.bytes().all(|it| it.is_ascii_digit() || it == b'.');
        let value = number.parse::<f64>().ok().filter(|_| is_plain)?;
        let key = self.path.last()?.as_str();
        if DURATIONS.contains(&key) {
            return Some(format!("\"{number}s\""));
        }
        // Below one it is a share as such, rounded where its percent would show what binary fractions are.
        let percent = if value < 1.0 { (value * 1e8).round() / 1e6 } else { value };
        let is_share = percent > 0.0 && percent <= 100.0;
        (SHARES.contains(&key) && is_share).then(|| format!("\"{percent}%\""))
    }

    /// To write `value` in its place.
    fn advice(&self, value: &str) -> String {
        if self.is_element { format!("write {value}") } else { format!("write {} = {value}", self.key) }
    }
}

/// The way to a value.
struct Way {
    /// The keys on it, the last one first.
    keys: Vec<String>,
    /// Whether it ends in a list.
    is_element: bool,
}

impl Way {
    fn through_table(table: &DeTable<'_>, at: &Range<usize>, is_list: bool) -> Option<Self> {
        table.iter().find_map(|(key, value)| {
            let mut way = Self::to(value, at, is_list)?;
            way.keys.push(key.get_ref().to_string());
            Some(way)
        })
    }

    fn to(value: &Spanned<DeValue<'_>>, at: &Range<usize>, is_list: bool) -> Option<Self> {
        if value.span() == *at && value.get_ref().is_array() == is_list {
            return Some(Self { keys: Vec::new(), is_element: false });
        }
        match value.get_ref() {
            DeValue::Table(table) => Self::through_table(table, at, is_list),
            DeValue::Array(list) => list.iter().find_map(|element| {
                let way = Self::to(element, at, is_list)?;
                Some(Self { is_element: way.is_element || way.keys.is_empty(), ..way })
            }),
            _ => None,
        }
    }
}

/// The least and the most that a whole number may be which serde calls so.
fn bounds(expected: &str) -> Option<(u8, u64)> {
    let (least, name) = expected.strip_prefix("a nonzero ").map_or((0, expected), |name| (1, name));
    let most: u64 = match name {
        "u8" => u8::MAX.into(),
        "u16" => u16::MAX.into(),
        "u32" => u32::MAX.into(),
        "u64" | "usize" => u64::MAX,
        _ => return None,
    };
    Some((least, most))
}

/// The key whose value begins at `offset`.
fn key_before(text: &str, offset: usize) -> Option<&str> {
    let before = text.get(..offset)?.trim_end().strip_suffix('=')?.trim_end();
    let is_of_key = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let key = before.rsplit(|c| !is_of_key(c)).next()?;
    (!key.is_empty()).then_some(key)
}
