//! Text with `${…}` in it: variables and function calls, as JMeter writes them.

mod parse;

use std::collections::BTreeMap;

pub use self::parse::{TemplateError, call_arguments};
use crate::function::Function;

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
    /// Whether the user's last request succeeded: `true` or `false`. No text stands for it; whoever reads another tool's
    /// plan puts it in the place of what that calls it.
    LastOk,
}

/// A function call with a number of arguments that the function takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The function that is called.
    pub function: Function,
    /// Its arguments, which may hold variables and calls themselves.
    pub arguments: Vec<Template>,
}

impl Template {
    /// Text without variables.
    pub fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        Self(if text.is_empty() { Vec::new() } else { vec![Piece::Text(text)] })
    }

    /// The text, if nothing in it depends on variables or functions.
    pub fn constant(&self) -> Option<&str> {
        match self.0.as_slice() {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Whether it is nothing but the variable `${name}`; then its name.
    pub fn variable(&self) -> Option<&str> {
        match self.0.as_slice() {
            [Piece::Variable(name)] => Some(name),
            _ => None,
        }
    }

    /// The same with what is known before the start filled in: these variables, and `__P` and `__property` of these
    /// properties. What a plan's numbers of users are worked out with: [`Template::constant`] then says whether
    /// anything was left open, as every value is that `room_bytes` has no room for. What is filled in is taken from it.
    #[must_use]
    pub fn resolved(
        &self,
        variables: &BTreeMap<String, String>,
        properties: &BTreeMap<String, String>,
        room_bytes: &mut usize,
    ) -> Self {
        let mut pieces = Vec::new();
        for piece in &self.0 {
            let piece = match piece {
                Piece::Text(_) | Piece::LastOk => piece.clone(),
                Piece::Variable(name) => {
                    let value = variables.get(name).filter(|value| takes(room_bytes, value.len()));
                    value.map_or_else(|| piece.clone(), |value| Piece::Text(value.clone()))
                }
                Piece::Call(call) => {
                    let filled =
                        call.arguments.iter().map(|it| it.resolved(variables, properties, room_bytes));
                    let call = Call { function: call.function, arguments: filled.collect() };
                    let value = call.property(properties).filter(|value| takes(room_bytes, value.len()));
                    value.map_or(Piece::Call(call), Piece::Text)
                }
            };
            append(&mut pieces, piece);
        }
        Self(pieces)
    }
}

impl Call {
    /// The value, where it is one of a property that is known before the start.
    fn property(&self, properties: &BTreeMap<String, String>) -> Option<String> {
        // A second argument of __property names a variable to set, which only a user has.
        let sets_variable = self.arguments.get(1).is_some_and(|it| it.constant() != Some(""));
        let default_at = match self.function {
            Function::P => 1,
            Function::Property if !sets_variable => 2,
            _ => return None,
        };
        let name = self.arguments.first()?.constant()?.trim();
        if let Some(value) = properties.get(name) {
            return Some(value.clone());
        }
        match self.arguments.get(default_at) {
            Some(default) => default.constant().map(str::to_owned),
            None => Some(self.function.without_property(name)),
        }
    }
}

/// Takes some of what room there is; false where it is too little.
fn takes(room: &mut usize, bytes: usize) -> bool {
    let left = room.checked_sub(bytes);
    *room = left.unwrap_or(*room);
    left.is_some()
}

/// Adds a piece; text joins the text before it.
fn append(pieces: &mut Vec<Piece>, piece: Piece) {
    match (pieces.last_mut(), piece) {
        (_, Piece::Text(text)) if text.is_empty() => {}
        (Some(Piece::Text(before)), Piece::Text(text)) => before.push_str(&text),
        (_, piece) => pieces.push(piece),
    }
}

#[cfg(test)]
mod tests;
