//! Brackets and braces of a URL, of which curl makes several.

use plan::PlanError;

use super::refused;

/// The URL without the backslashes by which brackets are its own: browsers write them, and curl takes them out.
pub(super) fn without_globs(url: &str) -> Result<String, PlanError> {
    if let Some(glob) = glob(url) {
        return Err(refused::several_requests(glob));
    }
    let brackets = ["[", "]", "{", "}"];
    Ok(brackets.iter().fold(url.to_owned(), |url, it| url.replace(&format!("\\{it}"), it)))
}

/// What curl makes several URLs of: `[1-9]`, `[a-z]` or `{one,two}`. Words of ours have two braces.
fn glob(url: &str) -> Option<&str> {
    // What begins at a bracket and ends with the next `end`.
    let within = |at: usize, end: char| {
        let is_own = url[..at].ends_with(['\\', '{']) || url[at..].starts_with("{{");
        let length = url[at..].find(end).filter(|_| !is_own)?;
        Some(&url[at..=at + length])
    };
    let is_range = |text: &str| {
        let (from, to) = text[1..text.len() - 1].split_once('-')?;
        let to = to.split_once(':').map_or(to, |(to, _)| to);
        let is_number = |it: &str| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit());
        let is_letter = |it: &str| it.len() == 1 && it.bytes().all(|byte| byte.is_ascii_alphabetic());
        Some((is_number(from) && is_number(to)) || (is_letter(from) && is_letter(to)))
    };
    let mut ranges = url.match_indices('[').filter_map(|(at, _)| within(at, ']'));
    let mut lists = url.match_indices('{').filter_map(|(at, _)| within(at, '}'));
    let range = ranges.find(|it| is_range(it) == Some(true));
    range.or_else(|| lists.find(|it| it.contains(',')))
}
