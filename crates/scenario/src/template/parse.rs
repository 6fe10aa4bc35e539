//! Reads `${…}` by JMeter's rules.

use super::{Call, Piece, Template, append};
use crate::function::{Function, UnknownFunction};
use crate::time_format;

/// Calls within calls at most.
const NESTING_MAX: u32 = 32;

/// Why a text is no template. `Display` says what is wrong and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// `${` without `}`.
    #[error("`{0}` has no closing }}; close it, or write \\${{ for the characters themselves")]
    Unclosed(String),
    /// `${}`.
    #[error("`${{}}` names no variable; name one, or write \\${{}} for the characters themselves")]
    NoName,
    /// A variable within a variable's name.
    #[error("`${{{0}` has a variable within a name; write ${{__V(…)}} for a name that is put together")]
    NameOfPieces(String),
    /// No such function.
    #[error(transparent)]
    Unknown(#[from] UnknownFunction),
    /// Text between the arguments and `}`.
    #[error("`}}` is wanted right after the arguments of __{0}")]
    AfterArguments(&'static str),
    /// Too few or too many arguments.
    #[error("__{name} takes {takes} arguments and has {has}")]
    Arguments {
        /// The function.
        name: &'static str,
        /// How many it takes, as text.
        takes: String,
        /// How many there are.
        has: usize,
    },
    /// A date format with a letter that isn't known.
    #[error("__time does not know `{letter}` in `{format}`; it knows y M d H h m s S a E D u Z X and 'text'")]
    TimeFormat {
        /// The letter.
        letter: char,
        /// The whole format.
        format: String,
    },
    /// A shift of the time that can't be made.
    #[error("__timeShift {0}")]
    TimeShift(String),
    /// Text where a number is wanted.
    #[error("__{name} wants a whole number and has `{text}`")]
    NotANumber {
        /// The function.
        name: &'static str,
        /// What it has instead.
        text: String,
    },
    /// Calls within calls without end.
    #[error("more than 32 calls within each other")]
    TooDeep,
}

impl Template {
    /// Reads a text by JMeter's rules: `${name}`, `${__Function(a,b)}` and calls within arguments. In a text that has
    /// `${` in it, `\$`, `\,` and `\\` stand for the character itself; in any other text a backslash is a backslash.
    ///
    /// # Errors
    /// What is not closed, a function that is not known (its name, and the names of those that are), or one with
    /// too few or too many arguments.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        if text.contains("${") { pieces(text, 0) } else { Ok(Self::text(text)) }
    }
}

/// Reads a text in which backslashes escape.
fn pieces(text: &str, depth: u32) -> Result<Template, TemplateError> {
    let mut found = Vec::new();
    let mut literal = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if let Some(inside) = rest.strip_prefix("${") {
            append(&mut found, Piece::Text(std::mem::take(&mut literal)));
            let (piece, after) = expression(inside, depth)?;
            append(&mut found, piece);
            rest = after;
            continue;
        }
        rest = &rest[first.len_utf8()..];
        let escaped = rest.chars().next().filter(|next| first == '\\' && ['$', ',', '\\'].contains(next));
        literal.push(escaped.unwrap_or(first));
        rest = &rest[escaped.map_or(0, char::len_utf8)..];
    }
    append(&mut found, Piece::Text(literal));
    Ok(Template(found))
}

/// What stands behind `${`, and the text after its `}`.
fn expression(inside: &str, depth: u32) -> Result<(Piece, &str), TemplateError> {
    if depth >= NESTING_MAX {
        return Err(TemplateError::TooDeep);
    }
    let is_call = inside.starts_with("__");
    let end = inside.find(|c| c == '}' || (is_call && c == '('));
    let end = end.ok_or_else(|| TemplateError::Unclosed(format!("${{{}", shortened(inside))))?;
    let (name, after) = (&inside[..end], &inside[end + 1..]);
    // A variable that counts turns is named in such a way, too.
    let is_call = is_call && !(name.ends_with("__idx") && inside[end..].starts_with('}'));
    if name.contains("${") {
        return Err(TemplateError::NameOfPieces(name.to_owned()));
    }
    if !is_call {
        let missing = name.trim().is_empty();
        return if missing {
            Err(TemplateError::NoName)
        } else {
            Ok((Piece::Variable(name.to_owned()), after))
        };
    }
    let function: Function = name.trim_start_matches('_').parse()?;
    if inside[end..].starts_with('}') {
        return Ok((checked(function, Vec::new())?, after));
    }
    let (arguments, after) =
        call_arguments(after).ok_or_else(|| TemplateError::Unclosed(format!("${{{}", shortened(inside))))?;
    let after = after.strip_prefix('}').ok_or_else(|| TemplateError::AfterArguments(function.name()))?;
    let arguments = arguments.into_iter().map(|it| pieces(it, depth + 1)).collect::<Result<_, _>>()?;
    Ok((checked(function, arguments)?, after))
}

/// The texts between the commas of a call whose `(` stands before `text`, and what comes after its `)`; `None` where it
/// has none. Commas and parentheses within `${…}` and behind a backslash are the arguments' own.
pub fn call_arguments(text: &str) -> Option<(Vec<&str>, &str)> {
    let mut found = Vec::new();
    let (mut start, mut braces, mut parentheses) = (0, 0_u32, 0_u32);
    let mut before = ' ';
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => {
                chars.next();
            }
            '{' if before == '$' => braces += 1,
            '}' if braces > 0 => braces -= 1,
            _ if braces > 0 => {}
            ')' if parentheses == 0 => {
                found.push(&text[start..at]);
                let none = found == [""];
                return Some((if none { Vec::new() } else { found }, &text[at + 1..]));
            }
            ',' => {
                found.push(&text[start..at]);
                start = at + 1;
            }
            '(' => parentheses += 1,
            ')' => parentheses -= 1,
            _ => {}
        }
        before = c;
    }
    None
}

/// The call, if the function takes so many arguments of this kind.
fn checked(function: Function, arguments: Vec<Template>) -> Result<Piece, TemplateError> {
    let (least, most) = function.takes();
    if arguments.len() < least || arguments.len() > most {
        let takes = match (least, most) {
            (least, usize::MAX) => format!("{least} or more"),
            (least, most) if least == most => least.to_string(),
            (least, most) => format!("{least} to {most}"),
        };
        return Err(TemplateError::Arguments { name: function.name(), takes, has: arguments.len() });
    }
    if let (Function::Time, Some(format)) = (function, arguments.first().and_then(Template::constant)) {
        let unknown = time_format::unknown_letter(format);
        if let Some(letter) = unknown {
            return Err(TemplateError::TimeFormat { letter, format: format.to_owned() });
        }
    }
    if function == Function::TimeShift
        && let Some(why_not) = why_not_shifted(&arguments)
    {
        return Err(TemplateError::TimeShift(why_not));
    }
    let numbers = match function {
        Function::Random => 2,
        Function::RandomString => 1,
        Function::IntSum | Function::LongSum => arguments.len() - 1,
        _ => 0,
    };
    let constants = arguments.iter().take(numbers).filter_map(Template::constant);
    if let Some(text) = constants.into_iter().find(|text| text.trim().parse::<i64>().is_err()) {
        return Err(TemplateError::NotANumber { name: function.name(), text: text.to_owned() });
    }
    Ok(Piece::Call(Call { function, arguments }))
}

/// Why no time is shifted by these arguments (a format, a date, a span, maybe a locale, and a name), if none is.
fn why_not_shifted(arguments: &[Template]) -> Option<String> {
    let constant = |place: usize| arguments.get(place).map_or(Some(""), Template::constant).map(str::trim);
    let Some(format) = constant(0) else { return Some("wants a format without variables".to_owned()) };
    if let Some(sign) = time_format::unknown_in_shift(format) {
        return Some(format!(
            "does not know `{sign}` as it stands in `{format}`; it knows yyyy MM d HH h mm ss SSS a E z Z X and 'text'"
        ));
    }
    if !format.is_empty() && constant(1) != Some("") {
        return Some("takes a date without a format alone, in milliseconds since 1970".to_owned());
    }
    let locale = if arguments.len() > 4 { constant(3) } else { Some("") };
    if locale.is_none_or(|locale| !locale.is_empty() && !locale.starts_with("en")) {
        return Some("writes dates in English alone; leave the locale out".to_owned());
    }
    None
}

/// The beginning of a text, for a message.
fn shortened(text: &str) -> String {
    text.chars().take(40).collect()
}
