//! Settings as values: `${…}` in them is kept for the run, or resolved where JMeter resolves it before.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use scenario::{Piece, Template};
use units::Duration;

use crate::dialect;
use crate::element::Properties;

/// What the values that are filled in before the first request may come to, all of a plan together, bytes. Values are made
/// of values: thirty variables that each have the one before them twice would come to gigabytes. What there is no room for
/// is left open.
const FILLED_BYTES_MAX: usize = 64 << 20;

/// What the names of the variables begin and end with in which JMeter counts a controller's turns.
pub(crate) const TURNS: (&str, &str) = ("__jm__", "__idx");

/// What is known before the first request.
pub(crate) struct Values<'a> {
    /// JMeter's properties, from `-J`.
    properties: &'a BTreeMap<String, String>,
    /// Variables of the plan whose values are known at the start.
    at_start: BTreeMap<String, String>,
    /// Those of them that keep their values.
    lasting: BTreeMap<String, String>,
    /// Variables that requests or data give other values later.
    changing: Changing,
    /// What is left of [`FILLED_BYTES_MAX`].
    room_bytes: Cell<usize>,
}

/// Variables that get other values while the plan runs.
#[derive(Debug, Default)]
pub(crate) struct Changing {
    /// By name.
    pub names: BTreeSet<String>,
    /// Whether there are some whose names only a CSV file knows, so that any variable may be one.
    pub unknown: bool,
}

impl Changing {
    fn contains(&self, name: &str) -> bool {
        self.unknown || self.names.contains(name)
    }
}

impl<'a> Values<'a> {
    pub(crate) fn new(properties: &'a BTreeMap<String, String>, changing: Changing) -> Self {
        let room_bytes = Cell::new(FILLED_BYTES_MAX);
        Self { properties, at_start: BTreeMap::new(), lasting: BTreeMap::new(), changing, room_bytes }
    }

    /// Takes a variable of the plan in, after those that are defined before it.
    pub(crate) fn define(&mut self, name: &str, value: &Template) {
        let Some(value) = self.at_start(value) else {
            self.at_start.remove(name);
            self.lasting.remove(name);
            return;
        };
        if !self.changing.contains(name) {
            self.lasting.insert(name.to_owned(), value.clone());
        }
        self.at_start.insert(name.to_owned(), value);
    }

    /// Text with `${…}` in it; properties are filled in, since they are the same for the whole run.
    pub(crate) fn template(&self, text: &str) -> Result<Template, String> {
        self.check_turns(text)?;
        let template = dialect::template(text)?;
        Ok(self.resolved(&template, &BTreeMap::new()))
    }

    /// Makes sure that variables in which JMeter counts the turns of a controller are those of controllers whose turns are
    /// counted here.
    pub(crate) fn check_turns(&self, text: &str) -> Result<(), String> {
        let (start, end) = TURNS;
        for (at, _) in text.match_indices(start) {
            let Some(length) = text[at..].find(end) else { continue };
            let name = &text[at..at + length + end.len()];
            if !self.changing.names.contains(name) {
                return Err(format!(
                    "the variable {name}: only the turns of ForEach Controllers are counted"
                ));
            }
        }
        Ok(())
    }

    /// A property of JMeter's.
    pub(crate) fn property(&self, name: &str) -> Option<&str> {
        self.properties.get(name).map(String::as_str)
    }

    /// Whether there is a property of JMeter's whose name begins with this.
    pub(crate) fn has_property_of(&self, prefix: &str) -> bool {
        self.properties.keys().any(|name| name.starts_with(prefix))
    }

    /// A value that is known before the first request, written as `text` in the setting `name`.
    pub(crate) fn text_at_start(&self, name: &str, text: &str) -> Result<String, String> {
        let template = self.template(text).map_err(|error| format!("{name}: {error}"))?;
        self.at_start(&template)
            .ok_or_else(|| format!("{name} has '{text}', which is not known before the test starts"))
    }

    /// The same as a whole number; 0 for nothing.
    pub(crate) fn whole_at_start(&self, name: &str, text: &str) -> Result<i64, String> {
        whole(name, &self.text_at_start(name, text)?, 0)
    }

    fn resolved(&self, template: &Template, variables: &BTreeMap<String, String>) -> Template {
        let mut room_bytes = self.room_bytes.get();
        let resolved = template.resolved(variables, self.properties, &mut room_bytes);
        self.room_bytes.set(room_bytes);
        resolved
    }

    /// The text before the first request, if it is known: for what is set once, such as the number of users.
    fn at_start(&self, template: &Template) -> Option<String> {
        self.resolved(template, &self.at_start).constant().map(str::to_owned)
    }

    /// The text for the whole run, if it stays the same.
    pub(crate) fn fixed(&self, template: &Template) -> Option<String> {
        self.settled(template).constant().map(str::to_owned)
    }

    /// The template with what stays the same for the whole run filled in.
    pub(crate) fn settled(&self, template: &Template) -> Template {
        self.resolved(template, &self.lasting)
    }
}

/// Texts one after another.
pub(crate) fn joined(parts: impl IntoIterator<Item = Template>) -> Template {
    let mut pieces: Vec<Piece> = Vec::new();
    for piece in parts.into_iter().flat_map(|part| part.0) {
        match (pieces.last_mut(), piece) {
            (Some(Piece::Text(before)), Piece::Text(text)) => before.push_str(&text),
            (_, piece) => pieces.push(piece),
        }
    }
    Template(pieces)
}

/// Settings of one element, read as what they mean.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a> {
    pub properties: &'a Properties,
    pub values: &'a Values<'a>,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(properties: &'a Properties, values: &'a Values<'a>) -> Self {
        Self { properties, values }
    }

    /// A text that is put together for each request.
    pub(crate) fn template(self, name: &str) -> Result<Template, String> {
        self.values.template(self.properties.text(name)).map_err(|error| format!("{name}: {error}"))
    }

    /// A text that stays the same for the whole run.
    pub(crate) fn fixed(self, name: &str) -> Result<String, String> {
        let template = self.template(name)?;
        self.values.fixed(&template).ok_or_else(|| {
            format!("{name} is '{}', which may differ from request to request", self.properties.text(name))
        })
    }

    /// A text that is known before the first request.
    pub(crate) fn at_start(self, name: &str) -> Result<String, String> {
        let template = self.template(name)?;
        self.values.at_start(&template).ok_or_else(|| {
            format!("{name} is '{}', which is not known before the test starts", self.properties.text(name))
        })
    }

    /// A whole number that is known before the first request; `default` where there is none.
    pub(crate) fn whole_at_start(self, name: &str, default: i64) -> Result<i64, String> {
        whole(name, &self.at_start(name)?, default)
    }

    /// A whole number that stays the same for the whole run; `default` where there is none.
    pub(crate) fn whole(self, name: &str, default: i64) -> Result<i64, String> {
        whole(name, &self.fixed(name)?, default)
    }

    /// Whole seconds, known before the first request; 0 where there are none.
    pub(crate) fn seconds_at_start(self, name: &str) -> Result<Duration, String> {
        let seconds = self.whole_at_start(name, 0)?;
        u64::try_from(seconds)
            .map(Duration::from_secs)
            .map_err(|_| format!("{name} is {seconds}, and must not be negative"))
    }

    /// Whether a setting that the plan knows from the start is `true`.
    pub(crate) fn is_true(self, name: &str, default: bool) -> Result<bool, String> {
        match self.at_start(name)?.trim() {
            "" => Ok(default),
            text => Ok(text.eq_ignore_ascii_case("true")),
        }
    }
}

fn whole(name: &str, text: &str, default: i64) -> Result<i64, String> {
    match text.trim() {
        "" => Ok(default),
        text => text.parse().map_err(|_| format!("{name} is '{text}', which is no whole number")),
    }
}
