//! The page that has the matrix, between two markers.

use std::path::Path;

use crate::again::{Again, again};
use crate::case::Case;
use crate::matrix::Matrix;
use crate::process::Failure;
use crate::record::Lines;

const BEGIN: &str = "<!-- matrix: made by `planted --again` -->\n";
const END: &str = "<!-- end of the matrix -->\n";

/// `page` with the matrix of what today's rules say of `recorded` runs of `cases`, in the place of the one that it has.
pub(crate) fn with_matrix(page: &str, cases: &[Case], recorded: &Lines) -> Result<String, String> {
    let Again { lines, origin, .. } = again(recorded, cases)?;
    let matrix = Matrix::of(cases, &lines);
    if let Some(line) = matrix.strangers.first() {
        return Err(format!("the record has runs of no case: {}, {}", line.key.case, line.key.size));
    }
    let parts = page.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let (before, after) = parts.ok_or_else(|| format!("the page has no {}", BEGIN.trim()))?;
    Ok(format!("{before}{BEGIN}\n{origin}\n\n{matrix}\n{END}{after}"))
}

/// Writes the matrix of `record` into `page`.
pub(crate) fn write(page: &Path, cases: &[Case], record: &Path) -> Result<(), Failure> {
    let of_page = |why: String| Failure::Usage(format!("{}: {why}", page.display()));
    let text = std::fs::read_to_string(page).map_err(|error| of_page(error.to_string()))?;
    let made = with_matrix(&text, cases, &Lines::read(record)?).map_err(of_page)?;
    Ok(std::fs::write(page, made)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table;

    #[test]
    fn the_page_has_the_matrix_of_the_record() {
        let own = Path::new(env!("CARGO_MANIFEST_DIR"));
        let lines = Lines::read(&own.join("record.jsonl")).unwrap();
        let page = std::fs::read_to_string(own.join("../docs/planted.md")).unwrap();
        let made = with_matrix(&page, &table::cases(), &lines).unwrap();
        assert!(page == made, "planted --again planted/record.jsonl --matrix docs/planted.md");
    }

    #[test]
    fn a_page_without_markers_is_left_alone() {
        assert!(with_matrix("no matrix", &[], &Lines::default()).unwrap_err().contains("has no <!-- matrix"));
    }
}
