//! Which modules of a crate use which, read from its sources: enough to see circles.
//!
//! A module is one at the top of its crate with all that is below it, so that a parent and its children may know each
//! other. It uses another where its code names it by `crate::…` or `super::…`, or names by `crate::…` what the root hands
//! on of it. Unit tests are left out: they may look at anything.

use std::collections::{BTreeMap, BTreeSet};

/// One source of a crate.
pub(crate) struct Source {
    /// Its module from the root on; none for the root itself.
    pub module: Vec<String>,
    /// What it says, without comments.
    pub code: String,
}

/// The modules in circles, each circle with one use for each step in it: `` `a` uses crate::b::C ``.
pub(crate) fn circles(sources: &[Source]) -> Vec<String> {
    let uses = uses(sources);
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        uses.keys().map(|(from, _)| (from.as_str(), reached_from(from, &uses))).collect();
    let mut told: BTreeSet<&str> = BTreeSet::new();
    let mut circles = Vec::new();
    for (module, others) in &reached {
        if told.contains(module) || !others.contains(module) {
            continue;
        }
        let is_back = |other: &&&str| reached.get(**other).is_some_and(|back| back.contains(module));
        let circle: BTreeSet<&str> = others.iter().filter(is_back).copied().collect();
        let steps = uses
            .iter()
            .filter(|((from, to), _)| circle.contains(from.as_str()) && circle.contains(to.as_str()));
        let steps: Vec<String> = steps.map(|((from, _), path)| format!("`{from}` uses {path}")).collect();
        circles.push(steps.join(", "));
        told.extend(circle);
    }
    circles
}

/// One path for each pair of modules of which the first uses the second.
fn uses(sources: &[Source]) -> BTreeMap<(String, String), String> {
    let modules: BTreeSet<&str> =
        sources.iter().filter_map(|source| source.module.first()).map(String::as_str).collect();
    let root = sources.iter().filter(|source| source.module.is_empty());
    let handed_on: BTreeMap<String, String> = root
        .flat_map(|root| imports(without_tests(&root.code)))
        .filter_map(|path| handed_on(&path, &modules))
        .collect();
    let mut uses = BTreeMap::new();
    for Source { module, code } in sources {
        let Some(from) = module.first() else { continue };
        if module.iter().any(|part| part == "tests") {
            continue;
        }
        for path in paths(without_tests(code)) {
            let Some(to) = target(&path, module, &modules, &handed_on) else { continue };
            if to != *from {
                uses.entry((from.clone(), to)).or_insert_with(|| path.join("::"));
            }
        }
    }
    uses
}

fn reached_from<'a>(from: &str, uses: &'a BTreeMap<(String, String), String>) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut next = vec![from];
    while let Some(module) = next.pop() {
        for (_, to) in uses.keys().filter(|(user, _)| user == module) {
            if reached.insert(to.as_str()) {
                next.push(to);
            }
        }
    }
    reached
}

/// What comes before the tests, which stand at the end.
fn without_tests(code: &str) -> &str {
    code.split_once("#[cfg(test)]\nmod ").map_or(code, |(code, _)| code)
}

/// The module at the top that `path` of the module `from` leads to.
fn target(
    path: &[String],
    from: &[String],
    modules: &BTreeSet<&str>,
    handed_on: &BTreeMap<String, String>,
) -> Option<String> {
    let ups = path.iter().take_while(|part| *part == "super").count();
    let base = if ups == 0 { &[] } else { &from[..from.len().checked_sub(ups)?] };
    let below = if ups == 0 { &path[1..] } else { &path[ups..] };
    let first = base.iter().chain(below).next()?;
    let top = modules.get(first.as_str()).map(|module| (*module).to_owned());
    // Of `super::Name`, where it stands within a module of the file, nobody can tell here whose it is.
    top.or_else(|| handed_on.get(first).filter(|_| ups == 0).cloned())
}

/// The name that the root hands on by one of its imports, and the module that it is of.
fn handed_on(path: &[String], modules: &BTreeSet<&str>) -> Option<(String, String)> {
    let path = if ["crate", "self"].contains(&path.first()?.as_str()) { &path[1..] } else { path };
    let module = modules.get(path.first()?.as_str())?;
    (path.len() > 1).then(|| (path[path.len() - 1].clone(), (*module).to_owned()))
}

/// The paths of all `use`s.
fn imports(code: &str) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    for (at, word) in code.match_indices("use ") {
        if !ends_with_name(&code[..at]) {
            tree(&code[at + word.len()..], &[], &mut all);
        }
    }
    all
}

/// All paths that begin with `crate::` or `super::`.
fn paths(code: &str) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    for word in ["crate::", "super::"] {
        for (at, _) in code.match_indices(word) {
            // Not `super::super::` again, nor the `$crate` of a macro.
            let before = &code[..at];
            if !ends_with_name(before) && !before.ends_with(['$', ':']) {
                tree(&code[at..], &[], &mut all);
            }
        }
    }
    all
}

fn ends_with_name(before: &str) -> bool {
    before.ends_with(|sign: char| sign.is_alphanumeric() || sign == '_')
}

/// Adds the paths of the tree at the beginning of `text`, each behind `prefix`, and gives what comes after it.
fn tree<'a>(text: &'a str, prefix: &[String], all: &mut Vec<Vec<String>>) -> &'a str {
    let mut path = prefix.to_vec();
    let mut rest = text.trim_start();
    loop {
        if let Some(mut group) = rest.strip_prefix('{') {
            loop {
                group = group.trim_start_matches(|sign: char| sign.is_whitespace() || sign == ',');
                if group.is_empty() || group.starts_with('}') {
                    return group.strip_prefix('}').unwrap_or_default();
                }
                let after = tree(group, &path, all);
                if after.len() == group.len() {
                    // No tree: whatever it is, it is not stood still at.
                    return "";
                }
                group = after;
            }
        }
        let end = rest.find(|sign: char| !(sign.is_alphanumeric() || sign == '_')).unwrap_or(rest.len());
        if end == 0 {
            // `*`, or a path that ends in `::`.
            rest = rest.strip_prefix('*').unwrap_or(rest);
            break;
        }
        path.push(rest[..end].to_owned());
        rest = &rest[end..];
        match rest.strip_prefix("::") {
            Some(after) => rest = after,
            None => break,
        }
    }
    if let Some(renamed) = rest.strip_prefix(" as ") {
        let end =
            renamed.find(|sign: char| !(sign.is_alphanumeric() || sign == '_')).unwrap_or(renamed.len());
        path.pop();
        path.push(renamed[..end].to_owned());
        rest = &renamed[end..];
    }
    all.push(path);
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(module: &str, code: &str) -> Source {
        let module = module.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect();
        Source { module, code: code.to_owned() }
    }

    fn of(sources: &[(&str, &str)]) -> Vec<String> {
        circles(&sources.iter().map(|(module, code)| source(module, code)).collect::<Vec<_>>())
    }

    #[test]
    fn two_modules_that_use_each_other_are_a_circle_whichever_way_it_is_written() {
        for back in [
            "use crate::a::Thing;",
            "use crate::{c, a::{self, Other}};",
            "use super::a;",
            "fn f() { crate::a::f(super::c::g()) }",
            "use crate::Thing;",
            "use crate::{\n    c::X as Y, Thing,\n};",
        ] {
            let told = of(&[
                ("", "mod a; mod b; mod c; pub use a::Thing;"),
                ("a", "use crate::b::Other;"),
                ("b", back),
                ("c", ""),
            ]);
            assert_eq!(told.len(), 1, "{back}");
            assert!(told[0].starts_with("`a` uses crate::b::Other, `b` uses "), "{told:?}");
        }
    }

    #[test]
    fn a_longer_way_around_is_one_circle_and_two_are_two() {
        let told = of(&[
            ("", ""),
            ("a", "use crate::b;"),
            ("b::deep", "use super::super::c::X;"),
            ("c", "use crate::a::Y;"),
            ("d", "use crate::{a, e};"),
            ("e", "use crate::d;"),
        ]);
        assert_eq!(
            told,
            [
                "`a` uses crate::b, `b` uses super::super::c::X, `c` uses crate::a::Y",
                "`d` uses crate::e, `e` uses crate::d",
            ]
        );
    }

    #[test]
    fn parents_children_tests_and_the_way_down_are_none() {
        let told = of(&[
            ("", "mod a; mod b; pub use b::{Below, deep::Deep}; use std::fmt;"),
            (
                "a",
                "use crate::{Below, fmt}; use crate::a::child::X; pub use self::child::X; pub(crate) fn f() {}",
            ),
            ("a::child", "use super::f; use super::super::b; pub(super) fn g() {}"),
            ("a::tests", "use crate::c;"),
            (
                "b",
                "macro_rules! m { () => { $crate::a::f() } }\n#[cfg(test)]\nmod tests {\n    use crate::a;\n}",
            ),
            ("c", "use crate::a::f;"),
        ]);
        assert_eq!(told, Vec::<String>::new());
    }
}
