//! Whether an answer is as it must be.

use units::Duration;

use super::answer::Received;
use super::extract::json_text;
use super::user::Scope;
use crate::model::{Assertion, Check, Field, Part, SizeComparison};
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
    for assertion in assertions {
        one(assertion, received, elapsed, scope).map_err(|what| {
            if assertion.name.is_empty() { what } else { format!("{}: {what}", assertion.name) }
        })?;
    }
    Ok(())
}

fn one(
    assertion: &Assertion,
    received: &Received<'_>,
    elapsed: Duration,
    scope: &mut Scope<'_>,
) -> Result<(), String> {
    let negated = assertion.negated;
    match &assertion.check {
        Check::Text { part, field, patterns, any, .. } => {
            texts((part, *field, patterns, *any), negated, received, scope)
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
        Check::Json { path, value, regex } => {
            let found = json_values(path, received, scope);
            let holds = match value {
                None => !found.is_empty(),
                Some(value) => {
                    let field = if *regex { Field::Matches } else { Field::Equals };
                    let value = scope.text(value).into_owned();
                    let mut any = false;
                    for text in &found {
                        any = any || fits(text, field, &value, scope)?;
                    }
                    any
                }
            };
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
    (part, field, patterns, any): (&Part, Field, &[Template], bool),
    negated: bool,
    received: &Received<'_>,
    scope: &mut Scope<'_>,
) -> Result<(), String> {
    let variable = match part {
        Part::Variable(name) => scope.user.variables.get(name).map(str::to_owned),
        _ => None,
    };
    let text = received.part(part, |_| variable.as_deref());
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

fn json_values(path: &str, received: &Received<'_>, scope: &Scope<'_>) -> Vec<String> {
    let (Some(path), Some(json)) = (scope.prepared.path(path), received.json()) else { return Vec::new() };
    path.query(json).into_iter().map(json_text).collect()
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
