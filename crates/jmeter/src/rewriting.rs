//! HTTP URL Re-writing Modifiers: the id of a session, which answers have in their links and forms, goes into each request.

use scenario::{Call, Extraction, Extractor, Function, Part, Piece, Step, Template};

use crate::values::Fields;

/// What such an element adds to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rewriting {
    /// The parameter that holds the id.
    pub name: String,
    /// The variable that the id is kept in: no text can name it.
    pub variable: String,
    /// Where it goes.
    pub target: Target,
}

/// Where an id goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// Among the parameters. Whether it is still to be encoded.
    Parameter { plain: bool },
    /// Behind the path. Whether a question mark ends it in a page.
    Path { sign: &'static str, ends_at_query: bool },
}

impl Rewriting {
    /// What an element in this line of the plan says.
    pub(crate) fn new(fields: Fields<'_>, line: usize) -> Result<Self, String> {
        const NAME: &str = "argument_name";
        let name = fields.fixed(NAME)?;
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        if name.is_empty() || !name.bytes().all(is_plain) {
            return Err(format!("{NAME} is '{name}'; letters, digits, _, - and . are understood"));
        }
        if !fields.is_true("cache_value", true)? {
            return Err("cache_value is false; an id is kept until a page has another one".into());
        }
        let target = if fields.is_true("path_extension", false)? {
            Target::Path {
                sign: if fields.is_true("path_extension_no_equals", false)? { "" } else { "=" },
                ends_at_query: fields.is_true("path_extension_no_questionmark", false)?,
            }
        } else {
            Target::Parameter { plain: fields.is_true("encode", false)? }
        };
        let variable = format!("}}{line}{name}");
        Ok(Self { name, variable, target })
    }

    /// What is looked for in each answer. An answer without it leaves the id as it is.
    pub(crate) fn extraction(&self) -> Extraction {
        let name = self.name.replace('.', r"\.");
        let pattern = match self.target {
            Target::Path { sign, ends_at_query: false } => format!(r#";{name}{sign}([^"'<>&\s;]+)"#),
            Target::Path { sign, ends_at_query: true } => format!(r#";{name}{sign}([^"'<>&\s;?]+)"#),
            Target::Parameter { .. } => {
                let link = format!(r#"[;?&]{name}=([^"'<>&\s;\\]+)"#);
                let is = |attribute: &str, text: &str| format!(r#"\s(?i:{attribute})\s*=\s*["']{text}["']"#);
                let (called, holds) = (is("name", &name), is("value", r#"([^"']+)"#));
                format!("{link}|{called}[^>]*{holds}|{holds}[^>]*{called}")
            }
        };
        Extraction {
            name: self.variable.clone(),
            part: Part::Body,
            how: Extractor::Regex { pattern: Template::text(pattern), template: "$1$$2$$3$".into() },
            which: 1,
            default: None,
        }
    }

    /// The id, as it goes into a request.
    pub(crate) fn value(&self) -> Template {
        let id = Template(vec![Piece::Variable(self.variable.clone())]);
        match self.target {
            // A page has it encoded, and requests encode their parameters.
            Target::Parameter { plain: false } => {
                Template(vec![Piece::Call(Call { function: Function::UrlDecode, arguments: vec![id] })])
            }
            Target::Parameter { plain: true } | Target::Path { .. } => id,
        }
    }
}

/// Has every request look for ids in its answer.
pub(crate) fn look_for(ids: &[Extraction], steps: &mut [Step]) {
    for step in steps {
        look_for_within(ids, step);
    }
}

fn look_for_within(ids: &[Extraction], step: &mut Step) {
    if let Step::Request(request) = step {
        request.extractions.extend_from_slice(ids);
    }
    step.change_children(&mut |step| look_for_within(ids, step));
}
