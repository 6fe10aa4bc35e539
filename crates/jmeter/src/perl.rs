//! JMeter's regular expressions, which are those of Perl 5.

use scenario::{Piece, Template};

/// What `$` is in Perl: the end of a text, or a line feed that is its last character. It takes that in, which nobody sees but who
/// asks for all of the match.
const END: &str = r"(?:\n?\z)";

/// An expression that is looked for within a text, with the end of the text as Perl has it. What a variable holds stays as it is, and
/// so does an expression whose ends are those of lines.
pub(crate) fn searched(pattern: Template) -> Template {
    if pattern.0.iter().any(|piece| matches!(piece, Piece::Text(text) if goes_by_lines(text))) {
        return pattern;
    }
    let mut place = Place::default();
    let pieces = pattern.0.into_iter().map(|piece| match piece {
        Piece::Text(text) => Piece::Text(with_ends(&text, &mut place)),
        other => other,
    });
    Template(pieces.collect())
}

/// Whether it has the flag `m`, as in `(?m)` and `(?im:…)`.
fn goes_by_lines(text: &str) -> bool {
    text.match_indices("(?").any(|(at, begin)| {
        let mut flags = text[at + begin.len()..].bytes().take_while(u8::is_ascii_alphabetic);
        flags.any(|flag| flag == b'm')
    })
}

/// Where in an expression a character stands.
#[derive(Debug, Default)]
struct Place {
    /// Right behind a backslash.
    is_escaped: bool,
    /// Within a class of characters, behind so many of it.
    of_class: Option<usize>,
}

impl Place {
    /// Whether the character is the sign of an end; the place is behind it then.
    fn is_end(&mut self, character: char) -> bool {
        if std::mem::take(&mut self.is_escaped) {
            self.of_class = self.of_class.map(|count| count + 1);
            return false;
        }
        match (character, self.of_class) {
            ('\\', _) => self.is_escaped = true,
            ('[', None) => self.of_class = Some(0),
            // What a class begins with is of it, or takes it for what is not of it.
            ('^', Some(0)) | (_, None) => {}
            (']', Some(1..)) => self.of_class = None,
            (_, Some(count)) => self.of_class = Some(count + 1),
        }
        character == '$' && self.of_class.is_none()
    }
}

fn with_ends(text: &str, place: &mut Place) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if place.is_end(character) {
            out.push_str(END);
        } else {
            out.push(character);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By `Perl5Matcher` of Oro: without the flag for lines `$` holds where at most one character is left, and that is a line feed.
    #[test]
    fn the_end_of_a_text_may_have_a_line_feed() {
        for (pattern, expected) in [
            ("^ok$", r"^ok(?:\n?\z)"),
            ("a$|b$", r"a(?:\n?\z)|b(?:\n?\z)"),
            (r"5\$", r"5\$"),
            (r"5\\$", r"5\\(?:\n?\z)"),
            ("[$]", "[$]"),
            ("[]$]x$", r"[]$]x(?:\n?\z)"),
            ("[^]$]", "[^]$]"),
            (r"[\]$]", r"[\]$]"),
            ("(?m)^ok$", "(?m)^ok$"),
            ("(?im:ok$)", "(?im:ok$)"),
            ("(?s)ok$", r"(?s)ok(?:\n?\z)"),
            ("plain", "plain"),
        ] {
            assert_eq!(searched(Template::text(pattern)), Template::text(expected), "{pattern}");
        }
    }

    #[test]
    fn variables_stay_as_they_are() {
        let of = |first: &str, last: &str| {
            let [first, last] = [first, last].map(|text| Piece::Text(text.into()));
            Template(vec![first, Piece::Variable("v".into()), last])
        };
        assert_eq!(searched(of("[$", "$]$")), of("[$", r"$](?:\n?\z)"));
    }
}
