//! Texts from outside in the room that there is for them.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// In a title, between what is loaded and by how many.
pub(crate) const GAP: &str = "   ";

/// Columns that a text takes.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// `text` in at most `columns`, with an ellipsis where something was cut off.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let room = columns.saturating_sub(1);
    let mut taken = 0;
    let fits = |char: &char| {
        taken += char.width().unwrap_or(0);
        taken <= room
    };
    let kept: String = text.chars().take_while(fits).collect();
    if columns == 0 { String::new() } else { kept + "…" }
}

/// The beginning of a text of any length, so that a state stays bounded.
pub(crate) fn bounded(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_by_columns_and_not_by_characters() {
        assert_eq!(cut("名前名前", 8), "名前名前");
        assert_eq!(cut("名前名前", 7), "名前名…");
        assert_eq!(cut("名前名前", 6), "名前…");
        assert_eq!(cut("abc", 0), "");
        assert!((0..12).all(|columns| width(&cut("a名b前c🙂d", columns)) <= columns));
    }

    #[test]
    fn a_long_text_is_bounded() {
        assert_eq!(bounded("名前x", 3), "名前x");
        assert_eq!(bounded("名前xy", 3), "名前x…");
    }
}
