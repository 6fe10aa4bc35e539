//! Text with `${…}` in it: variables and function calls, as JMeter writes them.

/// Text that is put together anew for each request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Template(pub Vec<Piece>);

/// A part of a [`Template`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// As it stands.
    Text(String),
    /// `${name}`: the variable's value, or the text `${name}` itself where there is none, as in JMeter.
    Variable(String),
    /// `${__name(argument,…)}`.
    Call(Call),
}

/// A function call. Which functions there are is said by the session's `functions`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Without the underscores: `Random`.
    pub function: String,
    /// Its arguments, which may hold variables and calls themselves.
    pub arguments: Vec<Template>,
}

impl Template {
    /// Text without variables.
    pub fn text(text: impl Into<String>) -> Self {
        Self(vec![Piece::Text(text.into())])
    }

    /// The text, if nothing in it depends on variables or functions.
    pub fn constant(&self) -> Option<&str> {
        match self.0.as_slice() {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }
}
