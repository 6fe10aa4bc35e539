//! A command line cut into words as a POSIX shell does it, with the `$'…'` that browsers write.

use plan::PlanError;

/// The words of `line`. What a shell would fill in, or carry out next, is an error: none is asked here, and without it the request
/// is another one.
pub(crate) fn split(line: &str) -> Result<Vec<String>, PlanError> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = line.chars().peekable();
    while let Some(character) = rest.next() {
        if is_of_the_shell(character, rest.peek().copied()) {
            return Err(goes_on(character));
        }
        if let Some(what) = filled_in(character, &rest) {
            return Err(to_be_filled_in(&what));
        }
        match character {
            // No shell of ours has a use for it there: the words would be others than those that were sent.
            '^' if matches!(rest.peek(), Some('"' | '\r' | '\n')) => return Err(for_cmd()),
            '\\' => match rest.next() {
                Some('\n') => {}
                Some('\r') => drop(rest.next_if_eq(&'\n')),
                Some(escaped) => word.get_or_insert_default().push(escaped),
                None => return Err(unfinished("a backslash")),
            },
            '\'' => word.get_or_insert_default().push_str(&single_quoted(&mut rest)?),
            '"' => {
                word.get_or_insert_default().push_str(&double_quoted(&mut rest)?);
                // Within quotes that is how cmd.exe writes one. Elsewhere nobody has two texts side by side.
                if rest.peek() == Some(&'"') {
                    return Err(for_cmd());
                }
            }
            '$' if rest.next_if_eq(&'\'').is_some() => {
                word.get_or_insert_default().push_str(&ansi_quoted(&mut rest)?);
            }
            blank if blank.is_whitespace() => words.extend(word.take()),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    Ok(words)
}

type Rest<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn unfinished(what: &str) -> PlanError {
    PlanError::new(format!("the curl command ends within {what}"), "copy all of it")
}

fn for_cmd() -> PlanError {
    let what = "the curl command is written for cmd.exe, whose quotes and line ends are others";
    PlanError::new(what, "copy it anew, as cURL (bash)")
}

/// Whether a shell ends the command there, or leads its output elsewhere. A `&` within a word is one of a query, and a `;` one of a
/// path, that nobody quoted.
fn is_of_the_shell(character: char, next: Option<char>) -> bool {
    match character {
        '|' | '<' | '>' => true,
        ';' | '&' => next.is_none_or(|it| it.is_whitespace() || it == character),
        _ => false,
    }
}

fn goes_on(character: char) -> PlanError {
    let what = format!("the curl command goes on with `{character}`, which is for a shell");
    PlanError::new(what, "copy the one request alone, without what stands there and behind it")
}

/// What a shell puts something else in place of, outside of single quotes: `$NAME`, `${…}`, `$(…)` or what is between backticks.
fn filled_in(character: char, behind: &Rest<'_>) -> Option<String> {
    match character {
        '`' => Some("`".to_owned()),
        '$' => {
            let mut behind = behind.clone();
            let is_of_name = |it: &char| it.is_ascii_alphanumeric() || *it == '_';
            let first = behind.next().filter(|it| is_of_name(it) || matches!(it, '{' | '('))?;
            let name: String = behind.take_while(is_of_name).collect();
            Some(if is_of_name(&first) { format!("${first}{name}") } else { format!("${first}") })
        }
        _ => None,
    }
}

fn to_be_filled_in(what: &str) -> PlanError {
    let what = format!("the curl command has a `{what}`, which a shell fills in, and none is asked here");
    PlanError::new(what, "write what it stands for; what is meant as it stands is put between single quotes")
}

fn single_quoted(rest: &mut Rest<'_>) -> Result<String, PlanError> {
    let mut text = String::new();
    loop {
        match rest.next() {
            Some('\'') => return Ok(text),
            Some(other) => text.push(other),
            None => return Err(unfinished("single quotes")),
        }
    }
}

fn double_quoted(rest: &mut Rest<'_>) -> Result<String, PlanError> {
    let mut text = String::new();
    loop {
        let next = rest.next();
        if let Some(what) = next.and_then(|it| filled_in(it, rest)) {
            return Err(to_be_filled_in(&what));
        }
        match next {
            Some('"') => return Ok(text),
            Some('\\') => match rest.next() {
                // A quote of cmd.exe's within its quotes.
                Some('^') if rest.peek() == Some(&'"') => return Err(for_cmd()),
                Some('\n') => {}
                Some(escaped @ ('"' | '\\' | '$' | '`')) => text.push(escaped),
                Some(other) => text.extend(['\\', other]),
                None => return Err(unfinished("double quotes")),
            },
            Some(other) => text.push(other),
            None => return Err(unfinished("double quotes")),
        }
    }
}

/// After `$'`: C's escapes, as bash reads them.
fn ansi_quoted(rest: &mut Rest<'_>) -> Result<String, PlanError> {
    let mut text = Ansi::default();
    loop {
        match rest.next() {
            Some('\'') => return Ok(text.finish()),
            Some('\\') => match rest.next() {
                Some('n') => text.push('\n'),
                Some('r') => text.push('\r'),
                Some('t') => text.push('\t'),
                Some('a') => text.push('\u{7}'),
                Some('b') => text.push('\u{8}'),
                Some('e' | 'E') => text.push('\u{1b}'),
                Some('f') => text.push('\u{c}'),
                Some('v') => text.push('\u{b}'),
                Some('u') => text.push(code_point(rest, 4)),
                Some('U') => text.push(code_point(rest, 8)),
                Some('x') => text.bytes.push(number(rest, 16, 2, 0) as u8),
                Some(digit @ '0'..='7') => {
                    text.bytes.push(number(rest, 8, 2, digit.to_digit(8).unwrap_or(0)) as u8);
                }
                Some(itself @ ('\\' | '\'' | '"' | '?')) => text.push(itself),
                Some(other) => {
                    text.push('\\');
                    text.push(other);
                }
                None => return Err(unfinished("$'…'")),
            },
            Some(other) => text.push(other),
            None => return Err(unfinished("$'…'")),
        }
    }
}

/// What escapes come to.
#[derive(Default)]
struct Ansi {
    text: String,
    /// Of `\x` and of octal numbers one after the other, which may be those of one letter.
    bytes: Vec<u8>,
}

impl Ansi {
    fn push(&mut self, character: char) {
        self.flush();
        self.text.push(character);
    }

    /// Bytes that are no UTF-8 are letters: a browser writes `\xe9` for an é, and has sent that in UTF-8.
    fn flush(&mut self) {
        match str::from_utf8(&self.bytes) {
            Ok(text) => self.text.push_str(text),
            Err(_) => self.text.extend(self.bytes.iter().map(|byte| char::from(*byte))),
        }
        self.bytes.clear();
    }

    fn finish(mut self) -> String {
        self.flush();
        self.text
    }
}

/// What `\u` or `\U` means. Two halves of a UTF-16 pair are one letter: so browsers write what is beyond the first 65,536.
fn code_point(rest: &mut Rest<'_>, digits_max: usize) -> char {
    let first = number(rest, 16, digits_max, 0);
    if (0xd800..0xdc00).contains(&first) {
        let mut ahead = rest.clone();
        if ahead.next_if_eq(&'\\').is_some() && ahead.next_if_eq(&'u').is_some() {
            let second = number(&mut ahead, 16, 4, 0);
            if (0xdc00..0xe000).contains(&second) {
                *rest = ahead;
                let both = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return char::from_u32(both).unwrap_or(char::REPLACEMENT_CHARACTER);
            }
        }
    }
    char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Goes on with the number `value` by so many digits at most.
fn number(rest: &mut Rest<'_>, radix: u32, digits_max: usize, mut value: u32) -> u32 {
    for _ in 0..digits_max {
        let Some(digit) = rest.peek().and_then(|it| it.to_digit(radix)) else { break };
        value = value * radix + digit;
        rest.next();
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_cut_as_a_shell_does() {
        for (line, words) in [
            ("curl  'a b'\tc", &["curl", "a b", "c"][..]),
            ("a\\\n b", &["a", "b"]),
            (r#""x \"y\" \n" 'it'\''s'"#, &[r#"x "y" \n"#, "it's"]),
            (r"$'a\'b\u0021\x41\n'", &["a'b!A\n"]),
            ("'' a''b", &["", "ab"]),
            ("a\\ b \\$c 'd`$e'", &["a b", "$c", "d`$e"]),
            ("\"5 $\" a$ \"\\$b \\`\"", &["5 $", "a$", "$b `"]),
            ("a^b ^c d^", &["a^b", "^c", "d^"]),
            ("x?a=1&b=2;c", &["x?a=1&b=2;c"]),
        ] {
            assert_eq!(split(line).unwrap(), words, "{line}");
        }
        for line in ["'a", "\"a", "$'a", "a\\"] {
            assert!(split(line).unwrap_err().to_string().contains("ends within"), "{line}");
        }
    }

    /// Firefox writes what is not ASCII by its UTF-16, and shells their bytes: both are the letter that was sent.
    #[test]
    fn letters_that_are_written_by_numbers_are_those_letters() {
        for (line, word) in [
            (r"$'\ud83d\ude00!'", "\u{1f600}!"),
            (r"$'\U0001f600'", "\u{1f600}"),
            (r"$'\ud83d-\ude00'", "\u{fffd}-\u{fffd}"),
            (r"$'caf\xe9'", "café"),
            (r"$'caf\xc3\xa9 \303\251'", "café é"),
            (r"$'\101\0'", "A\0"),
            (r"$'\d+\.\a\\'", "\\d+\\.\u{7}\\"),
        ] {
            assert_eq!(split(line).unwrap(), [word], "{line}");
        }
    }

    #[test]
    fn a_command_for_another_shell_is_told_apart() {
        for line in [
            "curl ^\"http://a/^\"",
            "curl \"http://a/\" ^\n  -X POST",
            "curl x ^\r\n -I",
            // On one line: with two headers at most browsers break none.
            r#"curl "http://a/" --data-raw "^{^\^"a^\^":1^}""#,
            r#"curl "http://a/" --data-raw "{""a"":1}""#,
        ] {
            let error = split(line).unwrap_err().to_string();
            assert!(error.contains("cmd.exe") && error.contains("(bash)"), "{line:?}: {error}");
        }
        assert_eq!(split("curl 'a^\"b'").unwrap(), ["curl", "a^\"b"]);
    }

    /// `Bearer $TOKEN` sent as it stands is refused by each answer of a whole load.
    #[test]
    fn what_a_shell_would_do_more_is_told() {
        for (line, part) in [
            ("curl $URL/a", "a `$URL`,"),
            ("curl x -H \"Authorization: Bearer $MY_TOKEN1.x\"", "a `$MY_TOKEN1`,"),
            ("curl \"${URL}/a\"", "a `${`,"),
            ("curl x -d $(cat body)", "a `$(`,"),
            ("curl x -d \"`cat body`\"", "a ```,"),
            ("curl x `cat url`", "a ```,"),
            ("curl x | jq .", "goes on with `|`"),
            ("curl x >out", "goes on with `>`"),
            ("curl 'a' ;\ncurl 'b'", "goes on with `;`"),
            ("curl a; curl b", "goes on with `;`"),
            ("curl a && curl b", "goes on with `&`"),
            ("curl a &", "goes on with `&`"),
        ] {
            let error = split(line).unwrap_err().to_string();
            assert!(error.contains(part), "{line}: {error}");
        }
    }
}
