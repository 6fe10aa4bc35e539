//! The parts of a page that belong to the benchmark: what stands between its markers, and nothing else.

use std::fs;
use std::path::Path;

use crate::process::Failure;

/// Puts `text` between the markers of `name` in the file at `path`; behind the end where it has none yet.
pub(crate) fn replace_in(path: &Path, name: &str, text: &str) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::Because(format!("{}: {error}", path.display()));
    let page = fs::read_to_string(path).map_err(failed)?;
    let page = replace(&page, name, text)
        .ok_or_else(|| format!("{}: the end marker of {name} is missing", path.display()))?;
    // In one step, so that an interruption leaves the old page or the new one.
    let beside = path.with_extension("md.new");
    fs::write(&beside, page).and_then(|()| fs::rename(&beside, path)).map_err(failed)
}

/// `None` where a begin has no end.
fn replace(page: &str, name: &str, text: &str) -> Option<String> {
    let (begin, end) = (format!("<!-- bench:begin {name} -->"), format!("<!-- bench:end {name} -->"));
    let block = format!("{begin}\n{}\n{end}", text.trim_end());
    let Some((before, rest)) = page.split_once(&begin) else {
        return Some(format!("{}\n\n{block}\n", page.trim_end()));
    };
    let (_, after) = rest.split_once(&end)?;
    Some(format!("{before}{block}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn touches_nothing_outside_its_own_markers() {
        let page = "# A\n\n<!-- bench:begin a -->\nold\n<!-- bench:end a -->\nword\n<!-- bench:begin ab -->\nx\n<!-- bench:end ab -->\n";
        let new = replace(page, "a", "new\nlines\n").unwrap();
        assert_eq!(
            new,
            "# A\n\n<!-- bench:begin a -->\nnew\nlines\n<!-- bench:end a -->\nword\n<!-- bench:begin ab -->\nx\n<!-- bench:end ab -->\n"
        );
        assert_eq!(replace(&new, "a", "new\nlines").unwrap(), new, "twice is once");
    }

    #[test]
    fn a_new_one_goes_to_the_end_and_a_broken_one_is_refused() {
        assert_eq!(
            replace("# A\n", "b", "x").unwrap(),
            "# A\n\n<!-- bench:begin b -->\nx\n<!-- bench:end b -->\n"
        );
        assert_eq!(replace("<!-- bench:begin b -->\nx\n", "b", "y"), None);
    }
}
