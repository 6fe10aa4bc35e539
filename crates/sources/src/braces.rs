//! Words in double braces, which stand for something else each time.

use std::path::PathBuf;

use plan::{PlanError, without_value};
use scenario::{Call, DataAtEnd, DataSet, DataSharing, Function, Lacking, Piece, Template};

/// Between fields of a line that is one field: no text has it.
const NO_DELIMITER: char = '\0';

/// A word in double braces.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Word<'a> {
    Uuid,
    /// A whole number, both ends included.
    Int(i64, i64),
    /// The next line of a file, the first again after the last.
    Line(&'a str),
}

impl<'a> Word<'a> {
    /// What stands between braces; `None` of what is none of ours, and stays as it stands: braces are in many bodies.
    fn parse(text: &'a str) -> Result<Option<Self>, PlanError> {
        let (name, rest) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
        let rest = rest.trim();
        let wrong = |help: &str| PlanError::new(format!("`{{{{{text}}}}}` can't be filled in"), help);
        match name {
            "uuid" if rest.is_empty() => Ok(Some(Self::Uuid)),
            "uuid" => Err(wrong("write {{uuid}}")),
            "int" => {
                let numbers: Vec<i64> = rest.split_whitespace().filter_map(|it| it.parse().ok()).collect();
                match numbers.as_slice() {
                    [low, high] if low <= high && rest.split_whitespace().count() == 2 => {
                        Ok(Some(Self::Int(*low, *high)))
                    }
                    _ => Err(wrong("write two whole numbers, the smaller one first, as in {{int 1 100}}")),
                }
            }
            "line" if rest.is_empty() => Err(wrong("name a file, as in {{line users.txt}}")),
            "line" => Ok(Some(Self::Line(rest))),
            _ => Ok(None),
        }
    }
}

/// A text as the pieces of a template, and the files that it takes lines of.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    /// The files, each once.
    pub(crate) files: Vec<String>,
}

impl Reader {
    /// A text with its words.
    pub(crate) fn template(&mut self, text: &str) -> Result<Template, PlanError> {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            plain.push_str(before);
            let word = after.split_once("}}").map(|(word, behind)| (Word::parse(word), behind));
            match word {
                Some((Ok(Some(word)), behind)) => {
                    let text = std::mem::take(&mut plain);
                    pieces.extend((!text.is_empty()).then_some(Piece::Text(text)));
                    pieces.push(self.piece(&word));
                    rest = behind;
                }
                Some((Err(error), _)) => return Err(error),
                Some((Ok(None), _)) | None => {
                    plain.push_str("{{");
                    rest = after;
                }
            }
        }
        plain.push_str(rest);
        pieces.extend((!plain.is_empty()).then_some(Piece::Text(plain)));
        Ok(Template(pieces))
    }

    /// Name and value of a field that is written `Name: value`.
    pub(crate) fn field(&mut self, line: &str) -> Result<(Template, Template), PlanError> {
        let (name, value) = line.split_once(':').ok_or_else(|| {
            let what = format!("`{}` is no header", without_value(line));
            PlanError::new(what, "write it like 'Name: value'")
        })?;
        Ok((Template::text(name.trim()), self.template(value.trim())?))
    }

    /// The files, each of which has a line for every turn of a user.
    pub(crate) fn into_data(self) -> Vec<DataSet> {
        let set = |(at, file): (usize, String)| DataSet {
            file: PathBuf::from(file),
            variables: vec![variable(at)],
            delimiter: NO_DELIMITER,
            quoted: false,
            skip_first: false,
            lacking: Lacking::Empty,
            at_end: DataAtEnd::Recycle,
            sharing: DataSharing::All,
        };
        self.files.into_iter().enumerate().map(set).collect()
    }

    fn piece(&mut self, word: &Word<'_>) -> Piece {
        match word {
            Word::Uuid => Piece::Call(Call { function: Function::Uuid, arguments: Vec::new() }),
            Word::Int(low, high) => {
                let arguments = [low, high].map(|it| Template::text(it.to_string())).to_vec();
                Piece::Call(Call { function: Function::Random, arguments })
            }
            Word::Line(file) => {
                // One file is read once, and a request has one line of it wherever it names it.
                let known = self.files.iter().position(|it| it == file);
                let at = known.unwrap_or_else(|| {
                    self.files.push((*file).to_owned());
                    self.files.len() - 1
                });
                Piece::Variable(variable(at))
            }
        }
    }
}

fn variable(at: usize) -> String {
    format!("line_{}", at + 1)
}
