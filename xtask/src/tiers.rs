//! Which tests run when: all of them with `make test`, but those that are ignored as slow, which `make test-slow` runs. An
//! ignored test without that reason, or an example in documentation, would be run by nobody.

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
        for part in entries(&dir)?.into_iter().filter(|part| part.is_dir() && !part.ends_with(NOT_OURS)) {
            for file in rust_files(&part)? {
                let text = read(&file)?;
                violations.extend(rules(&text).into_iter().map(|rule| Violation::new(&file, rule)));
            }
        }
    }
    Ok(violations)
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
    fn no_test_of_this_workspace_is_run_by_nobody() {
        let violations = check(&crate::root());
        assert!(violations.is_empty(), "{violations:?}");
    }
}
