//! Takes variables from an answer.

use fancy_regex::Captures;

use super::answer::Received;
use super::json;
use super::user::{MATCHES_MAX, Scope, random_below};
use super::variables::Variables;
use crate::model::{Extraction, Extractor, JsonRules, Part};

/// A value that was found, with the groups of an expression, the whole match first.
struct Match {
    value: String,
    groups: Vec<String>,
}

/// Takes all of them; the first thing that was too much to take, if there was one.
pub(super) fn all(
    extractions: &[Extraction],
    received: &Received<'_>,
    scope: &mut Scope<'_>,
) -> Result<(), String> {
    let mut result = Ok(());
    for extraction in extractions {
        let kept = match &extraction.how {
            Extractor::Json { path, rules: JsonRules::AsList | JsonRules::AsJoinedList } => {
                keep_list(extraction, path, received, scope)
            }
            Extractor::Json { path, rules: JsonRules::AsValue } => {
                keep_value(extraction, path, received, scope)
            }
            _ => {
                let matches = matches(extraction, received, scope);
                let kept = at_most_all(&extraction.name, matches.len());
                keep(extraction, matches, scope);
                kept
            }
        };
        result = result.and(kept);
    }
    result
}

/// Says what is wrong where there are more matches than are kept.
fn at_most_all(name: &str, matches: usize) -> Result<(), String> {
    if matches > MATCHES_MAX {
        return Err(format!("{name}: more than {MATCHES_MAX} matches"));
    }
    Ok(())
}

/// As many matches as are needed, and one more than may be kept.
fn matches(extraction: &Extraction, received: &Received<'_>, scope: &mut Scope<'_>) -> Vec<Match> {
    let wanted = usize::try_from(extraction.which).ok().filter(|which| *which > 0).unwrap_or(MATCHES_MAX + 1);
    let plain = |value: String| Match { value, groups: Vec::new() };
    match &extraction.how {
        Extractor::Header { name } => {
            received.fields(name).take(wanted).map(|it| plain(it.to_owned())).collect()
        }
        Extractor::Json { path, .. } => {
            let Some(path) = scope.prepared.path(path) else { return Vec::new() };
            let variable;
            let json = match &extraction.part {
                Part::Variable(name) => {
                    let text = scope.user.variables.get(name).unwrap_or_default();
                    variable = serde_json::from_str(text).ok();
                    variable.as_ref()
                }
                _ => received.json(),
            };
            let Some(json) = json else { return Vec::new() };
            path.query(json).into_iter().take(wanted).map(|value| plain(json_text(value))).collect()
        }
        Extractor::Boundary { left, right } => {
            let text = received.part(&extraction.part, |name| scope.user.variables.get(name));
            between(&text, left, right).take(wanted).map(|it| plain(it.to_owned())).collect()
        }
        Extractor::Regex { pattern, template } => {
            let pattern = scope.text(pattern);
            let text = received.part(&extraction.part, |name| scope.user.variables.get(name));
            let known = scope.prepared.regex(&pattern, false);
            let Some(regex) = known.or_else(|| scope.world.expression(&pattern, false)) else {
                return Vec::new();
            };
            // An expression that takes too many steps fails; what was found before counts.
            let found = regex.captures_iter(&text).take(wanted).map_while(Result::ok);
            found.map(|captures| regex_match(&captures, template)).collect()
        }
    }
}

/// A JSON value as text: a string's own characters, everything else as JSON.
pub(super) fn json_text(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// What stands between two texts, one after another. An empty text before or after is the beginning or the end.
fn between<'t>(text: &'t str, left: &'t str, right: &'t str) -> impl Iterator<Item = &'t str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let all = rest.take()?;
        let after = &all[all.find(left)? + left.len()..];
        if right.is_empty() {
            return Some(after);
        }
        let end = after.find(right)?;
        rest = Some(&after[end + right.len()..]);
        Some(&after[..end])
    })
}

fn regex_match(captures: &Captures<'_>, template: &str) -> Match {
    let group = |index: usize| captures.get(index).map_or("", |found| found.as_str());
    let groups = (0..captures.len()).map(|index| group(index).to_owned()).collect();
    let mut value = String::new();
    let mut rest = template;
    // `$1$` is the first group; what looks different is text.
    while let Some(start) = rest.find('$') {
        let (before, after) = (&rest[..start], &rest[start + 1..]);
        value.push_str(before);
        let number = after.split_once('$').and_then(|(number, after)| Some((number.parse().ok()?, after)));
        rest = if let Some((number, after)) = number {
            value.push_str(group(number));
            after
        } else {
            value.push('$');
            after
        };
    }
    value.push_str(rest);
    Match { value, groups }
}

/// Sets the variables.
fn keep(extraction: &Extraction, mut matches: Vec<Match>, scope: &mut Scope<'_>) {
    let name = extraction.name.as_str();
    let variables = &mut scope.user.variables;
    if extraction.which < 0 {
        matches.truncate(MATCHES_MAX);
        return keep_all(extraction, &matches, variables);
    }
    let chosen = match extraction.which {
        0 => random_below(&mut scope.user.random, matches.len() as u64) as usize,
        which => which as usize - 1,
    };
    let is_regex = matches!(extraction.how, Extractor::Regex { .. });
    if let Some(found) = matches.get(chosen) {
        variables.set(name, found.value.as_str());
        set_groups(name, found, variables);
        return;
    }
    if let Some(default) = &extraction.default {
        variables.set(name, default.as_str());
    }
    if is_regex {
        remove_groups(name, variables);
    }
}

/// Sets the variables of a JSONPath whose values are a list, by the rules of [`JsonRules::AsList`].
fn keep_list(
    extraction: &Extraction,
    path: &str,
    received: &Received<'_>,
    scope: &mut Scope<'_>,
) -> Result<(), String> {
    let parsed;
    let (text, json) = match &extraction.part {
        Part::Variable(name) => {
            let text = scope.user.variables.get(name).unwrap_or_default();
            parsed = serde_json::from_str(text).ok();
            (text, parsed.as_ref())
        }
        _ => (received.text(), received.json()),
    };
    // In other text nothing is found.
    let is_looked_into = json::is_looked_into(text, json);
    let (name, which) = (extraction.name.as_str(), extraction.which);
    let variables = &mut scope.user.variables;
    forget(name, variables);
    let found: Vec<&serde_json::Value> = match (json, scope.prepared.path(path)) {
        (Some(json), Some(path)) => path.query(json).all(),
        _ => Vec::new(),
    };
    let value = |index: usize| {
        let value = found.get(index).filter(|value| !value.is_null()).map(|value| json::text(value));
        value.or_else(|| extraction.default.clone())
    };
    let mut put = |name: &str, index: usize| {
        if let Some(value) = value(index) {
            variables.set(name, value);
        }
    };
    match usize::try_from(which) {
        Err(_) if !found.is_empty() => {
            (0..found.len().min(MATCHES_MAX)).for_each(|index| put(&format!("{name}_{}", index + 1), index));
        }
        Ok(0) => put(name, random_below(&mut scope.user.random, found.len() as u64) as usize),
        Ok(which) if found.len() > 1 => put(name, which - 1),
        Ok(_) | Err(_) => put(name, 0),
    }
    if is_looked_into && (which != 0 || found.is_empty()) {
        variables.set(&format!("{name}_matchNr"), found.len().to_string());
    }
    let is_joined = matches!(extraction.how, Extractor::Json { rules: JsonRules::AsJoinedList, .. });
    if is_looked_into && which < 0 && is_joined {
        let all: Vec<String> = (0..found.len().min(MATCHES_MAX)).filter_map(value).collect();
        variables.set(&format!("{name}_ALL"), all.join(","));
    }
    if which < 0 { at_most_all(name, found.len()) } else { Ok(()) }
}

/// Sets the variables of a JSONPath whose value is taken as it is, by the rules of [`JsonRules::AsValue`].
fn keep_value(
    extraction: &Extraction,
    path: &str,
    received: &Received<'_>,
    scope: &mut Scope<'_>,
) -> Result<(), String> {
    let parsed: Option<serde_json::Value>;
    let json = match &extraction.part {
        Part::Variable(name) => {
            let text = scope.user.variables.get(name).unwrap_or_default();
            parsed = serde_json::from_str(text).ok();
            parsed.as_ref()
        }
        _ => received.json(),
    };
    let found: Vec<&serde_json::Value> = match (json, scope.prepared.path(path)) {
        (Some(json), Some(path)) => path.query(json).all(),
        _ => Vec::new(),
    };
    let value: Option<serde_json::Value> = match found.as_slice() {
        [one] if json::is_one_place(path) => Some((*one).clone()),
        [] => None,
        all => Some(all.iter().copied().cloned().collect()),
    };
    let (name, variables) = (extraction.name.as_str(), &mut scope.user.variables);
    match &value {
        Some(whole @ serde_json::Value::Array(items)) if !items.is_empty() => {
            forget(name, variables);
            variables.set(name, json::text(whole));
            variables.set(&format!("{name}_matchNr"), items.len().to_string());
            for (item, number) in items.iter().take(MATCHES_MAX).zip(1_usize..) {
                variables.set(&format!("{name}_{number}"), json::shown(item));
            }
            at_most_all(name, items.len())
        }
        // Numbered variables of a list before it stay.
        Some(one) if !one.is_array() => {
            variables.set(name, json::shown(one));
            Ok(())
        }
        _ => {
            forget(name, variables);
            variables.set(&format!("{name}_matchNr"), "0");
            if let Some(default) = &extraction.default {
                variables.set(name, default.as_str());
            }
            Ok(())
        }
    }
}

/// Takes `name_matchNr` and `name_1`, `name_2`, … away, as far as they follow each other.
fn forget(name: &str, variables: &mut Variables) {
    variables.remove(&format!("{name}_matchNr"));
    for number in 1_usize.. {
        let numbered = format!("{name}_{number}");
        if variables.get(&numbered).is_none() {
            break;
        }
        variables.remove(&numbered);
    }
}

/// `name_1`, `name_2`, … and `name_matchNr`; those left from before go.
fn keep_all(extraction: &Extraction, matches: &[Match], variables: &mut Variables) {
    let name = extraction.name.as_str();
    let count_name = format!("{name}_matchNr");
    let before = variables.get(&count_name).and_then(|count| count.parse().ok()).unwrap_or(0_usize);
    for number in matches.len() + 1..=before.min(MATCHES_MAX) {
        let numbered = format!("{name}_{number}");
        variables.remove(&numbered);
        remove_groups(&numbered, variables);
    }
    for (index, found) in matches.iter().enumerate() {
        let numbered = format!("{name}_{}", index + 1);
        variables.set(&numbered, found.value.as_str());
        set_groups(&numbered, found, variables);
    }
    variables.set(&count_name, matches.len().to_string());
    if let Some(default) = extraction.default.as_ref().filter(|_| matches.is_empty()) {
        variables.set(name, default.as_str());
    }
}

/// `name_g` says how many groups there are, `name_g0` is the whole match, `name_g1` the first group.
fn set_groups(name: &str, found: &Match, variables: &mut Variables) {
    if found.groups.is_empty() {
        return;
    }
    variables.set(&format!("{name}_g"), (found.groups.len() - 1).to_string());
    for (index, group) in found.groups.iter().enumerate() {
        variables.set(&format!("{name}_g{index}"), group.as_str());
    }
}

fn remove_groups(name: &str, variables: &mut Variables) {
    let count_name = format!("{name}_g");
    let Some(count) = variables.get(&count_name).and_then(|count| count.parse().ok()) else { return };
    for index in 0..=usize::min(count, MATCHES_MAX) {
        variables.remove(&format!("{name}_g{index}"));
    }
    variables.remove(&count_name);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_between_two_texts() {
        for (text, left, right, found) in [
            ("<a>1</a><a>2</a>", "<a>", "</a>", vec!["1", "2"]),
            ("<a>1<a>2</a>", "<a>", "</a>", vec!["1<a>2"]),
            ("<a>1", "<a>", "</a>", vec![]),
            ("x=1&y", "", "&", vec!["x=1"]),
            ("x=1&y", "x=", "", vec!["1&y"]),
            ("all", "", "", vec!["all"]),
        ] {
            assert_eq!(between(text, left, right).collect::<Vec<_>>(), found, "{text}");
        }
    }

    #[test]
    fn templates_of_groups() {
        let regex = crate::prepared::regex("(a)(x)?(b)", false).unwrap();
        let captures = regex.captures("ab").unwrap().unwrap();
        for (template, value) in [
            ("$1$", "a"),
            ("$0$", "ab"),
            ("$3$-$1$", "b-a"),
            ("$2$", ""),
            ("$9$", ""),
            ("$x$1$", "$xa"),
            ("1$", "1$"),
        ] {
            assert_eq!(regex_match(&captures, template).value, value, "{template}");
        }
    }
}
