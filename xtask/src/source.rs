//! Rust source as text: enough to see what it names. Literals are not understood: what follows `//` in one is
//! taken for a comment, and a name in one for a use.

/// `source` without what follows `//` on each line, documentation included. Block comments count as code.
pub(crate) fn without_comments(source: &str) -> String {
    let lines = source.lines().map(|line| line.split_once("//").map_or(line, |(code, _)| code));
    lines.collect::<Vec<_>>().join("\n")
}

/// The modules of `std` that `code` names, in paths (`std::net::TcpStream`) and in groups
/// (`use std::{fmt, net::TcpStream}`).
pub(crate) fn std_modules(code: &str) -> Vec<&str> {
    const PREFIX: &str = "std::";
    let mut modules = Vec::new();
    for (at, _) in code.match_indices(PREFIX) {
        // Not `my_std::`.
        if code[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_') {
            continue;
        }
        let named = code[at + PREFIX.len()..].trim_start();
        match named.strip_prefix('{') {
            Some(group) => modules.extend(first_names(group)),
            None => modules.push(leading_name(named)),
        }
    }
    modules
}

/// The files that `code` includes and that lie above the folder `folders` above its own. Those of unit tests, which stand at the
/// end, are left out.
pub(crate) fn included_from_outside(code: &str, folders: usize) -> Vec<&str> {
    let code = code.split_once("#[cfg(test)]\nmod ").map_or(code, |(code, _)| code);
    let included = ["include_str!(\"", "include_bytes!(\""].into_iter().flat_map(|start| {
        code.match_indices(start).filter_map(move |(at, _)| code[at + start.len()..].split('"').next())
    });
    included.filter(|path| path.matches("../").count() > folders).collect()
}

/// The first name of each path of a group whose opening brace was taken off.
fn first_names(group: &str) -> Vec<&str> {
    let mut depth = 0_u32;
    let mut starts = vec![0];
    for (at, sign) in group.char_indices() {
        match sign {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => starts.push(at + 1),
            _ => {}
        }
    }
    starts.into_iter().map(|start| leading_name(group[start..].trim_start())).collect()
}

fn leading_name(path: &str) -> &str {
    let end = path.find(|sign: char| !sign.is_alphanumeric() && sign != '_');
    &path[..end.unwrap_or(path.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_outside_of_a_crate_is_found() {
        let code = "a(include_str!(\"../x\")); b(include_bytes!(\"../../y\"), include_str!(\"z\"));\n\
                    #[cfg(test)]\nmod tests { include_str!(\"../../../t\") }";
        assert_eq!(included_from_outside(code, 1), ["../../y"]);
        assert_eq!(included_from_outside(code, 2), [] as [&str; 0]);
    }

    #[test]
    fn comments_are_no_code() {
        let source = "//! No `std::net` here.\nlet half = 1 / 2; // std::time\nlet x = 0;\n/// end";
        assert_eq!(without_comments(source), "\nlet half = 1 / 2; \nlet x = 0;\n");
    }

    #[test]
    fn finds_modules_in_paths_and_in_groups() {
        assert_eq!(std_modules("use std::net::TcpStream; x: ::std::time::Instant"), ["net", "time"]);
        let group =
            "use std::{\n    collections::{BTreeMap, BTreeSet},\n    fmt, time::Instant,\n};\nlet net = 0;";
        assert_eq!(std_modules(group), ["collections", "fmt", "time", ""]);
        assert!(std_modules("use my_std::net; use core::time::Duration;").is_empty());
    }
}
