//! Reads the conditions that plans in common use hold: comparisons joined by *and*, *or* and *not*.

mod tokens;

use self::tokens::{Comparison, Token, tokens};
use crate::model::Condition;
use crate::template::{Piece, Template};

/// Parentheses and negations within each other at most.
const NESTING_MAX: u32 = 32;

/// Why a text is no condition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the condition `{text}` is not understood: {why}; what is: texts, numbers and variables compared with \
     == != < <= > >=, joined by && || ! and parentheses"
)]
pub struct ConditionError {
    /// The whole condition.
    pub text: String,
    /// What is wrong, in a few words.
    pub why: String,
}

/// What reads another language's way to name a value: given the text from a word on, the value and what comes after it;
/// `None` where the word is none of that language's, and an error where it is and can't be read.
pub type Operand<'o> = &'o dyn for<'t> Fn(&'t str) -> Result<Option<(Template, &'t str)>, String>;

impl Condition {
    /// Reads `"${a}" == "b" && ${n} < 3`; a text or variable by itself is true where it says `true`, and `last_ok` where
    /// the user's last request succeeded. Numbers are compared as numbers by `<` and its like, and as texts by `==` and
    /// `!=`.
    ///
    /// # Errors
    /// With the whole text, where it is anything else: no script is carried out.
    pub fn parse(text: &str) -> Result<Self, ConditionError> {
        Self::parse_with(text, &|_| Ok(None))
    }

    /// The same in a language that has ways of its own to name a value, which `operand` reads.
    ///
    /// # Errors
    /// As above, and those of `operand`.
    pub fn parse_with(text: &str, operand: Operand<'_>) -> Result<Self, ConditionError> {
        let error = |why: String| ConditionError { text: text.to_owned(), why };
        let tokens = tokens(text, operand).map_err(error)?;
        let mut parser = Parser { tokens: &tokens, depth: 0 };
        let condition = parser.either().and_then(as_condition).map_err(error)?;
        match parser.tokens.first() {
            None => Ok(condition),
            Some(token) => Err(error(format!("{token} does not belong there"))),
        }
    }
}

/// What an expression comes to.
#[derive(Debug, Clone)]
enum Value {
    Text(Template),
    Truth(Condition),
    Null,
}

struct Parser<'a> {
    tokens: &'a [Token],
    depth: u32,
}

impl Parser<'_> {
    fn take(&mut self) -> Option<&Token> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(first)
    }

    fn take_if(&mut self, wanted: &Token) -> bool {
        let found = self.tokens.first() == Some(wanted);
        if found {
            self.take();
        }
        found
    }

    fn either(&mut self) -> Result<Value, String> {
        let first = self.both()?;
        if self.tokens.first() != Some(&Token::Or) {
            return Ok(first);
        }
        let mut all = vec![as_condition(first)?];
        while self.take_if(&Token::Or) {
            all.push(as_condition(self.both()?)?);
        }
        Ok(Value::Truth(Condition::Or(all)))
    }

    fn both(&mut self) -> Result<Value, String> {
        let first = self.comparison()?;
        if self.tokens.first() != Some(&Token::And) {
            return Ok(first);
        }
        let mut all = vec![as_condition(first)?];
        while self.take_if(&Token::And) {
            all.push(as_condition(self.comparison()?)?);
        }
        Ok(Value::Truth(Condition::And(all)))
    }

    fn comparison(&mut self) -> Result<Value, String> {
        let left = self.value()?;
        let Some(Token::Compare(comparison)) = self.tokens.first() else { return Ok(left) };
        let comparison = *comparison;
        self.take();
        compare(comparison, left, self.value()?).map(Value::Truth)
    }

    fn value(&mut self) -> Result<Value, String> {
        self.depth += 1;
        if self.depth > NESTING_MAX {
            return Err("it is nested more than 32 deep".to_owned());
        }
        let value = match self.take().cloned() {
            Some(Token::Not) => Value::Truth(Condition::Not(Box::new(as_condition(self.value()?)?))),
            Some(Token::Open) => {
                let inside = self.either()?;
                if !self.take_if(&Token::Close) {
                    return Err("a ) is missing".to_owned());
                }
                inside
            }
            Some(Token::Text(template)) => Value::Text(template),
            Some(Token::LastOk) => Value::Truth(Condition::LastOk),
            Some(Token::Null) => Value::Null,
            Some(other) => return Err(format!("{other} does not belong there")),
            None => return Err("something is missing at the end".to_owned()),
        };
        let value = if self.take_if(&Token::Equals) { self.equal_to(value)? } else { value };
        self.depth -= 1;
        Ok(value)
    }

    /// Behind `.equals(`: as deep as what it is compared with.
    fn equal_to(&mut self, value: Value) -> Result<Value, String> {
        let other = self.value()?;
        if !self.take_if(&Token::Close) {
            return Err("a ) is missing".to_owned());
        }
        compare(Comparison::Equal, value, other).map(Value::Truth)
    }
}

fn as_condition(value: Value) -> Result<Condition, String> {
    match value {
        Value::Truth(condition) => Ok(condition),
        Value::Text(template) => Ok(Condition::True(template)),
        Value::Null => Err("null is no condition".to_owned()),
    }
}

fn compare(comparison: Comparison, left: Value, right: Value) -> Result<Condition, String> {
    let (left, right) = match (left, right) {
        (Value::Text(left), Value::Text(right)) => (left, right),
        (Value::Text(variable), Value::Null) | (Value::Null, Value::Text(variable)) => {
            // A variable that has no value is the text that names it.
            let name = variable.variable().ok_or("only a variable can be null")?;
            let unset = Template(vec![Piece::Text(format!("${{{name}}}"))]);
            (variable, unset)
        }
        _ => return Err("only texts, numbers and variables can be compared".to_owned()),
    };
    Ok(match comparison {
        Comparison::Equal => Condition::Equal(left, right),
        Comparison::Differ => Condition::Differ(left, right),
        Comparison::Less => Condition::Less(left, right),
        Comparison::AtMost => Condition::AtMost(left, right),
        Comparison::Greater => Condition::Less(right, left),
        Comparison::AtLeast => Condition::AtMost(right, left),
    })
}

#[cfg(test)]
mod tests;
