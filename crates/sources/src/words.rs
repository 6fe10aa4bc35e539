//! A command line cut into words as a POSIX shell does it, with the `$'…'` that browsers write.

use plan::PlanError;

/// The words of `line`, without expanding anything: a `$` of the shell's stays as it is.
pub(crate) fn split(line: &str) -> Result<Vec<String>, PlanError> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = line.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            // `^` continues a line where the command was copied for another shell, and is no mistake of this one's.
            '\\' => match rest.next() {
                Some('\n') => {}
                Some('\r') => drop(rest.next_if_eq(&'\n')),
                Some(escaped) => word.get_or_insert_default().push(escaped),
                None => return Err(unfinished("a backslash")),
            },
            '\'' => word.get_or_insert_default().push_str(&single_quoted(&mut rest)?),
            '"' => word.get_or_insert_default().push_str(&double_quoted(&mut rest)?),
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
        match rest.next() {
            Some('"') => return Ok(text),
            Some('\\') => match rest.next() {
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

/// After `$'`: C's escapes.
fn ansi_quoted(rest: &mut Rest<'_>) -> Result<String, PlanError> {
    let mut text = String::new();
    loop {
        match rest.next() {
            Some('\'') => return Ok(text),
            Some('\\') => match rest.next() {
                Some('n') => text.push('\n'),
                Some('r') => text.push('\r'),
                Some('t') => text.push('\t'),
                Some('u') => text.push(code_point(rest, 4)),
                Some('U') => text.push(code_point(rest, 8)),
                Some('x') => text.push(code_point(rest, 2)),
                Some(other) => text.push(other),
                None => return Err(unfinished("$'…'")),
            },
            Some(other) => text.push(other),
            None => return Err(unfinished("$'…'")),
        }
    }
}

fn code_point(rest: &mut Rest<'_>, digits_max: usize) -> char {
    let mut value = 0;
    for _ in 0..digits_max {
        let Some(digit) = rest.peek().and_then(|it| it.to_digit(16)) else { break };
        value = value * 16 + digit;
        rest.next();
    }
    char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER)
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
            ("a\\ b $c", &["a b", "$c"]),
        ] {
            assert_eq!(split(line).unwrap(), words, "{line}");
        }
        for line in ["'a", "\"a", "$'a", "a\\"] {
            assert!(split(line).unwrap_err().to_string().contains("ends within"), "{line}");
        }
    }
}
