//! The words of a condition.

use std::fmt;

use super::Operand;
use crate::template::Template;

/// Read from left to right.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Or,
    And,
    Not,
    Open,
    Close,
    /// `.equals(`.
    Equals,
    Compare(Comparison),
    /// A text in quotes, a number, a variable, a call.
    Text(Template),
    /// Whether the user's last request succeeded.
    LastOk,
    Null,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    Differ,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Or => "||",
            Self::And => "&&",
            Self::Not => "!",
            Self::Open => "(",
            Self::Close => ")",
            Self::Equals => ".equals(",
            Self::Compare(_) => "a comparison",
            Self::Text(_) => "a text",
            Self::LastOk => "last_ok",
            Self::Null => "null",
        };
        f.write_str(text)
    }
}

/// Symbols, longer ones before those that they begin with.
static SYMBOLS: [(&str, Token); 14] = [
    ("===", Token::Compare(Comparison::Equal)),
    ("!==", Token::Compare(Comparison::Differ)),
    ("==", Token::Compare(Comparison::Equal)),
    ("!=", Token::Compare(Comparison::Differ)),
    ("<=", Token::Compare(Comparison::AtMost)),
    (">=", Token::Compare(Comparison::AtLeast)),
    ("<", Token::Compare(Comparison::Less)),
    (">", Token::Compare(Comparison::Greater)),
    ("&&", Token::And),
    ("||", Token::Or),
    ("!", Token::Not),
    ("(", Token::Open),
    (")", Token::Close),
    (".equals(", Token::Equals),
];

/// Words: some for symbols, as JEXL has them.
static WORDS: [(&str, Token); 11] = [
    ("eq", Token::Compare(Comparison::Equal)),
    ("ne", Token::Compare(Comparison::Differ)),
    ("lt", Token::Compare(Comparison::Less)),
    ("le", Token::Compare(Comparison::AtMost)),
    ("gt", Token::Compare(Comparison::Greater)),
    ("ge", Token::Compare(Comparison::AtLeast)),
    ("and", Token::And),
    ("or", Token::Or),
    ("not", Token::Not),
    ("last_ok", Token::LastOk),
    ("null", Token::Null),
];

/// The words of `text`, or what in it is none. `operand` is asked first at each that begins with a letter.
pub(super) fn tokens(text: &str, operand: Operand<'_>) -> Result<Vec<Token>, String> {
    let mut found = Vec::new();
    let mut rest = text.trim();
    while let Some(first) = rest.chars().next() {
        let (token, after) = match first {
            '"' | '\'' => quoted(rest)?,
            '$' if rest.starts_with("${") => {
                let end = braced(rest).ok_or("a } is missing")?;
                (template(&rest[..end])?, &rest[end..])
            }
            '0'..='9' | '-' => number(rest)?,
            c if c.is_alphabetic() || c == '_' => match operand(rest)? {
                Some((template, after)) => (Token::Text(template), after),
                None => word(rest)?,
            },
            _ => symbol(rest)?,
        };
        found.push(token);
        rest = after.trim_start();
    }
    Ok(found)
}

fn template(text: &str) -> Result<Token, String> {
    Template::parse(text).map(Token::Text).map_err(|error| error.to_string())
}

fn symbol(text: &str) -> Result<(Token, &str), String> {
    let found = SYMBOLS.iter().find_map(|(symbol, token)| Some((token.clone(), text.strip_prefix(symbol)?)));
    found.ok_or_else(|| format!("`{}` has no meaning here", text.chars().take(20).collect::<String>()))
}

/// The byte behind the `}` that closes the `${` at the beginning.
fn braced(text: &str) -> Option<usize> {
    let mut depth = 0_u32;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => continue,
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

/// A text in quotes; quotes within `${…}` do not end it.
fn quoted(text: &str) -> Result<(Token, &str), String> {
    let quote = text.chars().next().unwrap_or('"');
    let mut inside = String::new();
    let mut rest = &text[1..];
    while let Some(first) = rest.chars().next() {
        if first == quote {
            return Ok((template(&inside)?, &rest[1..]));
        }
        let length = if rest.starts_with("${") {
            braced(rest).ok_or("a } is missing")?
        } else if first == '\\' && rest[1..].starts_with(['"', '\'']) {
            rest = &rest[1..];
            1
        } else {
            first.len_utf8()
        };
        inside.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    Err(format!("a {quote} is missing"))
}

fn number(text: &str) -> Result<(Token, &str), String> {
    let is_part = |c: char| c.is_ascii_digit() || c == '.';
    let end = 1 + text[1..].find(|c| !is_part(c)).unwrap_or(text.len() - 1);
    let (number, after) = text.split_at(end);
    if number.parse::<f64>().is_err() {
        return Err(format!("`{number}` is no number"));
    }
    // Groovy's and Java's marks of a type.
    let after = after.strip_prefix(['L', 'l', 'd', 'f']).unwrap_or(after);
    Ok((Token::Text(Template::text(number)), after))
}

fn word(text: &str) -> Result<(Token, &str), String> {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    let (word, after) = text.split_at(end);
    if let "true" | "false" = word {
        return Ok((Token::Text(Template::text(word)), after));
    }
    let known = WORDS.iter().find(|(known, _)| *known == word);
    known.map(|(_, token)| (token.clone(), after)).ok_or_else(|| format!("`{word}` has no meaning here"))
}
