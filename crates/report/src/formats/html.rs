//! One self-contained HTML file.

use crate::page::model::Page;

/// What `web/` is built to; `scripts/web.sh` proves that it is what its source says.
const TEMPLATE: &str = include_str!("../../report.html");
/// Where the document goes.
const SLOT: &str = r#"<script type="application/json" id="proofload-page">null</script>"#;

/// The report of a run: it needs nothing else, and asks the network for nothing.
///
/// # Panics
/// Never: a test holds that the template has its slot.
pub fn html(page: &Page) -> String {
    let json = serde_json::to_string(page).expect("a page is plain data");
    let (before, after) = TEMPLATE.split_once(SLOT).expect("the template has a slot");
    let tag = SLOT.split_once("null").expect("the slot is empty");
    [before, tag.0, &harmless(&json), tag.1, after].concat()
}

/// JSON that is the same to its readers, and in which no browser finds the end of a script, a comment or a line.
fn harmless(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for char in json.chars() {
        match char {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                // Writing into a String cannot fail.
                let _ = std::fmt::Write::write_fmt(&mut text, format_args!("\\u{:04x}", char as u32));
            }
            char => text.push(char),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_has_one_slot_and_loads_nothing() {
        assert_eq!(TEMPLATE.matches(SLOT).count(), 1);
        for outside in ["src=\"http", "href=\"http", "@import", "rel=\"stylesheet"] {
            assert!(!TEMPLATE.contains(outside), "{outside}");
        }
    }

    #[test]
    fn hostile_text_stays_text() {
        let json = serde_json::to_string("</script><!--&\u{2028}").unwrap();
        let text = harmless(&json);
        assert!(!text.contains(['<', '>', '&', '\u{2028}']));
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), "</script><!--&\u{2028}");
    }
}
