//! SuperBenchmarker's template file: headers a line each, and behind an empty line the body.

use std::path::Path;

use crate::error::PlanError;

/// What a placeholder begins with.
const PLACEHOLDER: &str = "{{{";

/// A template without placeholders.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SbTemplate {
    /// Headers as `Name: value`.
    pub headers: Vec<String>,
    /// The body; may be empty.
    pub body: String,
}

impl SbTemplate {
    /// Reads the `text` of `file`. Lines end with CR LF or with LF alone.
    pub fn parse(text: &str, file: &Path) -> Result<Self, PlanError> {
        if let Some(offset) = text.find(PLACEHOLDER) {
            return Err(placeholder().at_offset(file, text, offset));
        }
        let (mut headers, mut offset) = (Vec::new(), 0);
        for line in text.split_inclusive('\n') {
            let header = line.trim_end_matches(['\r', '\n']);
            if header.is_empty() {
                let body = text[offset + line.len()..].to_owned();
                return Ok(Self { headers, body });
            }
            if !header.contains(':') {
                let what = format!("`{header}` has no colon, and a template begins with headers");
                let help = "write one like `Accept: text/html`; a request line does not belong there: the method is -m";
                return Err(PlanError::new(what, help).at_offset(file, text, offset));
            }
            headers.push(header.to_owned());
            offset += line.len();
        }
        Ok(Self { headers, body: String::new() })
    }

    /// Refuses a `url` with placeholders.
    pub fn check_url(url: &str) -> Result<(), PlanError> {
        if url.contains(PLACEHOLDER) { Err(placeholder()) } else { Ok(()) }
    }
}

fn placeholder() -> PlanError {
    PlanError::new(
        "placeholders ({{{…}}}) are not supported: every request is the same",
        "write the value itself",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<SbTemplate, String> {
        SbTemplate::parse(text, Path::new("t.txt")).map_err(|error| error.to_string())
    }

    #[test]
    fn headers_and_behind_an_empty_line_the_body() {
        for text in ["A: b\r\nC: d\r\n\r\n{\"x\": 1}\r\n\r\ny", "A: b\nC: d\n\n{\"x\": 1}\r\n\r\ny"] {
            let template = parse(text).unwrap();
            assert_eq!(template.headers, ["A: b", "C: d"]);
            assert_eq!(template.body, "{\"x\": 1}\r\n\r\ny");
        }
        assert_eq!(parse("A: b").unwrap(), SbTemplate { headers: vec!["A: b".into()], body: String::new() });
        assert_eq!(parse("").unwrap(), SbTemplate::default());
        assert_eq!(parse("\nbody").unwrap().body, "body");
    }

    #[test]
    fn what_cannot_be_sent_is_named_with_its_place() {
        let line = parse("POST /x HTTP/1.1\r\nA: b\r\n").unwrap_err();
        assert!(line.starts_with("t.txt:1:1: `POST /x HTTP/1.1` has no colon"), "{line}");
        let placeholder = parse("A: b\n\nid={{{ID}}}").unwrap_err();
        assert!(placeholder.starts_with("t.txt:3:4: placeholders"), "{placeholder}");
        assert!(
            SbTemplate::check_url("http://x/{{{ID}}}").is_err()
                && SbTemplate::check_url("http://x/{").is_ok()
        );
    }
}
