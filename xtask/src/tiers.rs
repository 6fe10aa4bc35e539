//! Which tests run when: all of them with `make test`, but those that are ignored as slow, which `make test-slow` runs. An
//! ignored test without that reason, an example in documentation, or a test in a library of which cargo compiles no tests
//! (`test = false`), would be run by nobody.

use std::path::Path;

use crate::edges::{Violation, entries, read, rust_files};

/// How the reason of an ignored test begins.
const SLOW: &str = "#[ignore = \"slow: ";
/// Folders whose Rust is ours; of `crates`, each within.
const FOLDERS: [&str; 3] = ["bench", "planted", "xtask"];
/// What cargo builds nothing of, or which is not checked in.
const NOT_OURS: &str = "target";

/// Every test that no tier runs.
pub(crate) fn check(root: &Path) -> Vec<Violation> {
    let violations = collect(root).unwrap_or_else(|unreadable| vec![unreadable]);
    violations.into_iter().map(|violation| violation.relative_to(root)).collect()
}

fn collect(root: &Path) -> Result<Vec<Violation>, Violation> {
    let crates = entries(&root.join("crates"))?;
    let others = FOLDERS.iter().map(|folder| root.join(folder)).filter(|dir| dir.is_dir());
    let mut violations = Vec::new();
    for dir in crates.into_iter().filter(|dir| dir.is_dir()).chain(others) {
        let manifest = dir.join("Cargo.toml");
        let untested = manifest.is_file() && has_untested_library(&read(&manifest)?);
        for part in entries(&dir)?.into_iter().filter(|part| part.is_dir() && !part.ends_with(NOT_OURS)) {
            let untested = untested && part.ends_with("src");
            for file in rust_files(&part)? {
                let text = read(&file)?;
                let broken = rules(&text).into_iter().chain(untested.then(|| untested_rule(&text)).flatten());
                violations.extend(broken.map(|rule| Violation::new(&file, rule)));
            }
        }
    }
    Ok(violations)
}

/// Whether a crate's manifest has cargo compile no tests of its library.
fn has_untested_library(manifest: &str) -> bool {
    let manifest: toml::Table = manifest.parse().unwrap_or_default();
    let says = manifest.get("lib").and_then(|library| library.get("test")).and_then(toml::Value::as_bool);
    says == Some(false)
}

/// What a source breaks that has tests of its own, in a library of which no tests are compiled. One within a macro is of
/// whoever calls that.
fn untested_rule(source: &str) -> Option<String> {
    let number = source.lines().position(|line| line.trim() == "#[cfg(test)]")? + 1;
    Some(format!("line {number}: nothing runs tests here; take `test = false` out of the crate's manifest"))
}

/// The rules that a source breaks.
fn rules(text: &str) -> Vec<String> {
    let broken = |(number, line): (usize, &str)| {
        let (line, place) = (line.trim_start(), number + 1);
        if line.starts_with("#[ignore") && !line.starts_with(SLOW) {
            return Some(format!(
                "line {place}: say `{SLOW}…\"]`; nothing runs a test that is ignored for anything else"
            ));
        }
        let is_documentation = line.starts_with("///") || line.starts_with("//!");
        (is_documentation && line.contains("```")).then(|| {
            format!("line {place}: examples in documentation are not run (`doctest = false`); make it a test")
        })
    };
    text.lines().enumerate().filter_map(broken).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_would_run_is_named_with_its_line() {
        assert!(rules("#[test]\n    #[ignore = \"slow: a JVM\"]\nfn it() {}\n").is_empty());
        for source in
            ["\n#[ignore]\nfn it() {}", "\n  #[ignore = \"flaky\"]", "\n/// ```", "\n    //! ```rust"]
        {
            let [rule] = &rules(source)[..] else { panic!("{source}") };
            assert!(rule.starts_with("line 2: "), "{rule}");
        }
        assert!(rules("let text = \"```\";\n// ```\n").is_empty(), "that is no documentation");
    }

    #[test]
    fn a_test_in_a_library_without_tests_is_named() {
        assert!(has_untested_library("[lib]\nname = \"lua\"\ntest = false"));
        assert!(!has_untested_library("[lib]\nname = \"plan\"\ndoctest = false"));
        assert!(!has_untested_library("[package]"));
        assert!(untested_rule("fn it() {}\n\n#[cfg(test)]\nmod tests {}").unwrap().starts_with("line 3: "));
        assert_eq!(untested_rule("macro_rules! laws { () => {\n    #[test]\n    fn it() {}\n} }"), None);
    }

    #[test]
    fn no_test_of_this_workspace_is_run_by_nobody() {
        let violations = check(&crate::root());
        assert!(violations.is_empty(), "{violations:?}");
    }
}
