//! Text from outside, made harmless for a terminal.
//!
//! A record, a recording of a browser, a test plan, a server's log: whoever wrote one decides what is in it, and a terminal
//! does what it is told by control characters. It sets titles, hides and moves what was printed, turns the reading
//! direction so that one name passes for another, and some of them answer as if the user had typed. So what would steer a
//! terminal is shown by its number, wherever text goes to one; our own colours are put around it afterwards.
//!
//! Invariants: pure; what is plain already comes back as it is, so that doing it twice is doing it once.
#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::fmt::Write;

/// Characters that turn the direction of what follows: a name with one could pass for another.
const DIRECTIONS: [char; 12] = [
    '\u{61c}', '\u{200e}', '\u{200f}', '\u{202a}', '\u{202b}', '\u{202c}', '\u{202d}', '\u{202e}',
    '\u{2066}', '\u{2067}', '\u{2068}', '\u{2069}',
];

/// Whether a terminal does something for it beside showing it: control characters of seven and of eight bits, the ends of
/// lines among them, and marks of direction.
fn steers(char: char) -> bool {
    char.is_control() || DIRECTIONS.contains(&char)
}

/// Text of several lines as it may be written to a terminal: line ends, those of HTTP as well, and tabs stay, and whatever
/// else would steer is shown by its number.
pub fn text(text: &str) -> Cow<'_, str> {
    let stays = |char: char| matches!(char, '\n' | '\t') || !steers(char);
    if text.chars().all(stays) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(char) = rest.next() {
        match char {
            '\r' if rest.peek() == Some(&'\n') => plain.push(char),
            char if stays(char) => plain.push(char),
            char => plain.extend(char.escape_default()),
        }
    }
    Cow::Owned(plain)
}

/// Text on one line: line ends and tabs are spaces, and what would steer is shown by its number.
pub fn line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for char in text.trim().chars() {
        match char {
            '\n' | '\t' => line.push(' '),
            '\r' => {}
            char if steers(char) => line.extend(char.escape_default()),
            char => line.push(char),
        }
    }
    line
}

/// Text of a format in which a backslash in quotes is written twice, as Prometheus' is, as it may be written to a terminal: what
/// would steer can only be within its quotes, and is shown by its number, so that whoever reads the format takes it.
pub fn quoted(text: &str) -> Cow<'_, str> {
    let put = |plain: &mut String, char: char| {
        plain.push('\\');
        plain.extend(char.escape_default());
    };
    without(text, |char| char == '\n' || !steers(char), put)
}

/// JSON as it may be written to a terminal: what would steer can only be within its strings, and is written as JSON writes
/// such characters, so that it reads as the same values. JSON itself does so for those below 32 alone.
pub fn json(text: &str) -> Cow<'_, str> {
    let put = |plain: &mut String, char: char| {
        // All of them are in the first plane, so one unit of UTF-16 says each.
        // Writing into a String cannot fail.
        let _ = write!(plain, "\\u{:04x}", u32::from(char));
    };
    without(text, |char| matches!(char, '\n' | '\t' | '\r') || !steers(char), put)
}

/// The text in which each character that does not stay is as `put` writes it.
fn without(text: &str, stays: impl Fn(char) -> bool, put: impl Fn(&mut String, char)) -> Cow<'_, str> {
    if text.chars().all(&stays) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    for char in text.chars() {
        if stays(char) {
            plain.push(char);
        } else {
            put(&mut plain, char);
        }
    }
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_shown_by_its_number() {
        for (hostile, plain) in [
            ("a\u{1b}]0;title\u{7}b", "a\\u{1b}]0;title\\u{7}b"),
            ("\u{9b}2J", "\\u{9b}2J"),
            ("evil\u{202e}txt", "evil\\u{202e}txt"),
            ("over\rwritten", "over\\rwritten"),
            ("back\u{8}\u{7f}", "back\\u{8}\\u{7f}"),
            ("\u{0}", "\\u{0}"),
        ] {
            assert_eq!(text(hostile), plain);
            assert_eq!(text(plain), plain, "twice is once");
        }
        assert_eq!(line("over\rwritten \u{1b}[8m"), "overwritten \\u{1b}[8m");
    }

    #[test]
    fn text_of_any_language_and_its_layout_stay() {
        let lines = "名前 зміна 🙂 é\n\tindented\n\n  last";
        assert!(matches!(text(lines), Cow::Borrowed(same) if same == lines));
        assert_eq!(text("a\r\nb\r"), "a\r\nb\\r");
        assert_eq!(line(" a\r\nb\tc "), "a b c");
    }

    /// The parser of the format undoes one of the two.
    #[test]
    fn what_steers_within_quotes_has_its_backslash_twice() {
        assert_eq!(quoted("a{b=\"\u{202e}\u{1b}\\\\\"} 1\n"), "a{b=\"\\\\u{202e}\\\\u{1b}\\\\\"} 1\n");
        assert!(matches!(quoted("a{b=\"é\"} 1\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn json_keeps_its_values() {
        assert_eq!(json("{\"a\": \"\u{9b}2J\u{202e}\u{7f}é\"}\n"), "{\"a\": \"\\u009b2J\\u202e\\u007fé\"}\n");
        assert!(matches!(json("{\n  \"a\": 1\n}"), Cow::Borrowed(_)));
    }
}
