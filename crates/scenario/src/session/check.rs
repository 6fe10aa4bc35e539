//! Whether an answer is as it must be.

use serde_json::Value;
use units::Duration;

use super::answer::Received;
use super::extract::json_text;
use super::json;
use super::user::Scope;
use crate::model::{Assertion, Check, Field, JsonRules, Part, SizeComparison, TextRules};
use crate::prepared::EMPTY_LIST;
use crate::template::Template;

/// Characters of a text that a message shows at most.
const SHOWN_MAX: usize = 100;

/// The first thing about an answer that is not as it must be.
pub(super) fn all(
    assertions: &[Assertion],
    received: &Received<'_>,
    elapsed: Duration,
    scope: &mut Scope<'_>,
) -> Result<(), String> {
    let waived = assertions.iter().any(|it| matches!(it.check, Check::Text { ignore_status: true, .. }));
    if !waived && !(200..400).contains(&received.status) {
        return Err(format!("status {}", received.status));
    }
    let mut found = Ok(());
    for assertion in assertions {
        if takes_back(&assertion.check) {
            found = Ok(());
        }
        if found.is_ok() {
            found = one(assertion, received, elapsed, scope).map_err(|what| {
                if assertion.name.is_empty() { what } else { format!("{}: {what}", assertion.name) }
            });
        }
    }
    found
}

/// Whether what was found wrong before it is none of a failure.
fn takes_back(check: &Check) -> bool {
    matches!(check, Check::Text { ignore_status: true, rules: TextRules::NothingFitsEmpty, .. })
}

fn one(
    assertion: &Assertion,
    received: &Received<'_>,
    elapsed: Duration,
    scope: &mut Scope<'_>,
) -> Result<(), String> {
    let negated = assertion.negated;
    match &assertion.check {
        Check::Text { part, field, patterns, any, rules, .. } => {
            texts((part, *field, patterns, *any, *rules), negated, received, scope)
        }
        Check::DurationAtMost(most) => wanted((elapsed <= *most) != negated, || {
            format!("took {elapsed}, {} {most}", if negated { "not more than" } else { "more than" })
        }),
        Check::Size { part, bytes, comparison } => {
            let size = match part {
                Some(Part::Body) => received.body.len(),
                Some(Part::Headers) => received.head_bytes(),
                Some(part) => received.part(part, |name| scope.user.variables.get(name)).len(),
                None => received.head_bytes() + received.body.len(),
            };
            let bytes = scope.number(bytes).max(0.0) as u64;
            let (holds, sign) = compared(size as u64, bytes, *comparison);
            wanted(holds != negated, || {
                let not = if negated { "not " } else { "" };
                format!("has {size} bytes, and must {not}have {sign} {bytes}")
            })
        }
        Check::Json {
            path, rules: JsonRules::AsList | JsonRules::AsJoinedList | JsonRules::AsValue, ..
        } if received.text().is_empty() => Err(format!("{path}: the answer has no body")),
        Check::Json { path, value, regex, or_null, rules } => {
            let found = json_values(path, received, scope);
            let as_text = *rules == JsonRules::AsValue;
            let is_looked_into = || json::is_looked_into(received.text(), received.json());
            let holds = match value {
                None => !found.is_empty() || (as_text && is_looked_into() && !json::is_one_place(path)),
                Some(value) => {
                    let value = scope.text(value).into_owned();
                    let wanted = Wanted { value: &value, regex: *regex, or_null: *or_null, as_text };
                    match rules {
                        JsonRules::AsFound => wanted.is_one_of(&found, scope)?,
                        JsonRules::AsList | JsonRules::AsJoinedList | JsonRules::AsValue => {
                            is_looked_into() && wanted.is_in_list(path, &found, scope)?
                        }
                    }
                }
            };
            let found: Vec<String> = found.into_iter().map(json_text).collect();
            wanted(holds != negated, || {
                let shown: Vec<String> = found.iter().take(3).map(|text| shortened(text)).collect();
                let is = if negated { "may not be as it is" } else { "is not as it must be" };
                format!(
                    "{path} {is}: {}",
                    if shown.is_empty() { "nothing".to_owned() } else { shown.join(", ") }
                )
            })
        }
    }
}

fn wanted(holds: bool, message: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(message()) }
}

fn texts(
    (part, field, patterns, any, rules): (&Part, Field, &[Template], bool, TextRules),
    negated: bool,
    received: &Received<'_>,
    scope: &mut Scope<'_>,
) -> Result<(), String> {
    let variable = match part {
        Part::Variable(name) => scope.user.variables.get(name).map(str::to_owned),
        _ => None,
    };
    let text = received.part(part, |_| variable.as_deref());
    if rules == TextRules::NothingFitsEmpty && text.is_empty() {
        return wanted(negated, || format!("{} is empty", part_name(part, &text).trim_end()));
    }
    let mut failure = None;
    for pattern in patterns {
        let pattern = scope.text(pattern);
        let holds = fits(&text, field, &pattern, scope)? != negated;
        if holds && any {
            return Ok(());
        }
        if !holds {
            let (not, verb) = match (negated, field) {
                (false, Field::Contains | Field::Substring) => ("does not ", "contain"),
                (true, Field::Contains | Field::Substring) => ("", "contains"),
                (false, Field::Matches) => ("does not ", "match"),
                (true, Field::Matches) => ("", "matches"),
                (false, Field::Equals) => ("is not", ""),
                (true, Field::Equals) => ("is", ""),
            };
            let what = format!("{} {not}{verb} `{}`", part_name(part, &text), shortened(&pattern));
            failure.get_or_insert(what.replace("  ", " "));
            if !any {
                break;
            }
        }
    }
    failure.map_or(Ok(()), Err)
}

/// Whether a text is as a pattern wants it. An error is a pattern of which that can't be said.
fn fits(text: &str, field: Field, pattern: &str, scope: &mut Scope<'_>) -> Result<bool, String> {
    let whole = match field {
        Field::Equals => return Ok(text == pattern),
        Field::Substring => return Ok(text.contains(pattern)),
        Field::Contains => false,
        Field::Matches => true,
    };
    let known = scope.prepared.regex(pattern, whole);
    let regex = known.or_else(|| scope.world.expression(pattern, whole));
    let told = regex.and_then(|regex| regex.is_match(text).ok());
    told.ok_or_else(|| format!("`{}` is no expression, or takes too many steps", shortened(pattern)))
}

fn json_values<'r>(path: &str, received: &'r Received<'_>, scope: &Scope<'_>) -> Vec<&'r Value> {
    let (Some(path), Some(json)) = (scope.prepared.path(path), received.json()) else { return Vec::new() };
    path.query(json).all()
}

/// What a value of an answer must be.
struct Wanted<'a> {
    /// The value, as text.
    value: &'a str,
    /// Whether that is an expression.
    regex: bool,
    /// Whether `null` will do as well.
    or_null: bool,
    /// Whether the values of a list are compared as texts; else by what they are.
    as_text: bool,
}

impl Wanted<'_> {
    /// Whether one of the values is it, compared as text.
    fn is_one_of(&self, found: &[&Value], scope: &mut Scope<'_>) -> Result<bool, String> {
        let field = if self.regex { Field::Matches } else { Field::Equals };
        for value in found {
            if (self.or_null && value.is_null()) || fits(&json_text(value), field, self.value, scope)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the value is it; of a list, also one of its values. Where a path may come to several places, the list is
    /// that of all that were found.
    fn is_in_list(&self, path: &str, found: &[&Value], scope: &mut Scope<'_>) -> Result<bool, String> {
        let whole = match found {
            [one] if json::is_one_place(path) => (*one).clone(),
            [] if json::is_one_place(path) => return Ok(false),
            all => all.iter().copied().cloned().collect(),
        };
        let items = whole.as_array().map(Vec::as_slice).unwrap_or_default();
        if whole.is_array() && items.is_empty() && self.value == EMPTY_LIST {
            return Ok(true);
        }
        for value in items.iter().chain([&whole]) {
            let is_it = if self.regex && self.value == EMPTY_LIST {
                false
            } else if self.regex {
                fits(&json::shown(value), Field::Matches, self.value, scope)?
            } else if self.as_text {
                json::shown(value) == self.value
            } else {
                *value == json::meant(self.value)
            };
            if is_it || (self.or_null && value.is_null()) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn compared(size: u64, bytes: u64, comparison: SizeComparison) -> (bool, &'static str) {
    match comparison {
        SizeComparison::Equal => (size == bytes, "exactly"),
        SizeComparison::NotEqual => (size != bytes, "other than"),
        SizeComparison::Greater => (size > bytes, "more than"),
        SizeComparison::Less => (size < bytes, "less than"),
        SizeComparison::AtLeast => (size >= bytes, "at least"),
        SizeComparison::AtMost => (size <= bytes, "at most"),
    }
}

fn part_name(part: &Part, text: &str) -> String {
    let name = match part {
        Part::Body => "the body",
        Part::Headers => "the head",
        Part::RequestHeaders => "the request's head",
        Part::Variable(name) => return format!("the variable {name}"),
        Part::Status => return format!("the status {text}"),
        Part::Reason => return format!("the reason `{text}`"),
        Part::Url => return format!("the URL {text}"),
    };
    name.to_owned()
}

fn shortened(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN_MAX).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}
