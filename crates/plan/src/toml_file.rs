//! Reads a TOML file into a type, and every mistake in it into a [`PlanError`] with its line.

mod mistake;

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error, SeqAccess, Unexpected, Visitor};

use self::mistake::Mistake;
use crate::error::PlanError;

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
    toml::from_str(text).map_err(|error: toml::de::Error| {
        let span = error.span().unwrap_or_default();
        let said = error.message().trim().replace('\n', " ");
        let refused = |other: &str| toml::from_str::<T>(other).err().map(|error| error.message().to_owned());
        let Mistake { what, help } = Mistake::of(&said, text, &span, &refused);
        let joint = if help.ends_with('?') { " " } else { "; " };
        PlanError::new(what, format!("{help}{joint}{docs} shows every key")).at_offset(path, text, span.start)
    })
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
        f.write_str("a whole number from 0 to 4294967295, or a list of them such as [32, 300]")
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
    use std::num::NonZeroU16;

    use serde::Deserialize;
    use serde::de::IgnoredAny;

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
                "`counts` is given string \"3\", and takes a whole number from 0 to 4294967295, or a list",
            ),
            ("title = \"t\"\ncounts = -3", "integer `-3`"),
        ] {
            let error = error(text);
            assert!(error.contains(said), "{text}: {error}");
        }
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "read for its mistakes alone")]
    struct Plan {
        seed: Option<u64>,
        small: Option<u8>,
        port: Option<NonZeroU16>,
        duration: Option<String>,
        precision: Option<String>,
        #[serde(default)]
        latency: Vec<String>,
        #[serde(default)]
        counts: Numbers,
        #[serde(default)]
        command: Vec<String>,
        #[serde(default)]
        rounds: Vec<Part>,
        part: Option<Part>,
        #[serde(default)]
        anything: IgnoredAny,
    }

    #[test]
    fn what_is_advised_would_be_taken() {
        for (text, said) in [
            // Tables and lists of them.
            (
                "[rounds]\ncount = 1",
                "x.toml:1:1: `rounds` is one table, and takes a list of them; write [[rounds]]; ",
            ),
            ("rounds.count = 1", "write [[rounds]]; "),
            (
                "rounds = { count = 1 }",
                "`rounds` is given a table, and takes a list; write rounds = [\u{2026}]; ",
            ),
            // Whole numbers.
            (
                "seed = -1",
                "`seed` is given integer `-1`, and takes a whole number from 0 to 18446744073709551615; write seed = 10; ",
            ),
            (
                "seed = 99999999999999999999",
                "is given integer `99999999999999999999`, and takes a whole number",
            ),
            ("seed = \"7\"", "write seed = 7, without quotes; "),
            ("\"seed\" = \"x\"", "`seed` is given string \"x\", and takes a whole number"),
            ("small = 300", "`small` is given integer `300`, and takes a whole number from 0 to 255; "),
            ("port = 0", "`port` is given integer `0`, and takes a whole number from 1 to 65535; "),
            (
                "counts = [1, \"2\"]",
                "x.toml:1:14: `counts` has string \"2\" in its list, and takes a whole number from 0 to 4294967295 there; \
                 write 2, without quotes; ",
            ),
            ("counts = [\n  1, # one\n  -2,\n]", "x.toml:3:3: `counts` has integer `-2` in its list"),
            (
                "counts = 99999999999",
                "`counts` is given integer `99999999999`, and takes a whole number from 0 to",
            ),
            ("rounds = [{ count = -1 }]", "`count` is given integer `-1`, and takes a whole number"),
            // Quantities.
            ("duration = 5", "and takes text in quotes; write duration = \"5s\"; "),
            ("duration = 2.5", "write duration = \"2.5s\"; "),
            ("precision = 0.02", "write precision = \"2%\"; "),
            ("precision = 0.07", "write precision = \"7%\"; "),
            ("precision = 3", "write precision = \"3%\"; "),
            (
                "latency = [50]",
                "`latency` has integer `50` in its list, and takes text in quotes there; write \"50%\"; ",
            ),
            // Text, whatever is in it.
            ("command = 'x {port}'", "write command = ['x {port}']; "),
            ("command = 'a,b # c]'  # d", "write command = ['a,b # c]']; "),
            (
                "command = [\"a\", 3]",
                "`command` has integer `3` in its list, and takes text in quotes there; write \"3\"; ",
            ),
            // Keys of other tables.
            ("count = 1", "unknown key `count`; it belongs into [[rounds]] or [part]; "),
            (
                "[part]\nseed = 3",
                "unknown key `seed`; it belongs to the top of the file, before the first [table]; ",
            ),
            ("[part]\nnothing = 3", "unknown key `nothing`; known here: arrivals, count; "),
        ] {
            let error = parse::<Plan>(Path::new("x.toml"), text, "docs/x.md").unwrap_err().to_string();
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
