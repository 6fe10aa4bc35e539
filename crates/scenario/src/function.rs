//! The functions of `${__name(…)}` that are known, and how many arguments each takes.

use std::str::FromStr;

/// A function, by its JMeter name. What each gives is said at [`Function::ALL`]'s rows in `docs/scenarios.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    /// A property, or a default (`1` without one).
    P,
    /// A property, or a default (its name without one).
    Property,
    /// A whole number between two, both included.
    Random,
    /// Random characters.
    RandomString,
    /// The time, in milliseconds since 1970 or in a format, in UTC.
    Time,
    /// The user's number in its group, from 1.
    ThreadNum,
    /// The group's name.
    ThreadGroupName,
    /// The scenario's name.
    TestPlanName,
    /// Counts its own calls from 1: those of each user (`TRUE`), or those of all (`FALSE`).
    Counter,
    /// A random UUID.
    Uuid,
    /// The variable whose name is put together.
    V,
    /// A sum of whole numbers.
    IntSum,
    /// A sum of whole numbers.
    LongSum,
    /// Percent-encoding, as of forms.
    UrlEncode,
    /// Percent-decoding, as of forms.
    UrlDecode,
    /// Base 64.
    Base64Encode,
    /// Text from base 64.
    Base64Decode,
    /// Splits a text into `name_1`, `name_2`, … and `name_n`.
    Split,
    /// Whether there is a variable: `true` or `false`.
    IsVarDefined,
    /// Whether there is a property: `true` or `false`.
    IsPropDefined,
    /// One of two texts, by whether two others are equal.
    If,
    /// Upper or lower case.
    ChangeCase,
    /// Lower case.
    LowerCase,
    /// Upper case.
    UpperCase,
    /// Characters by their numbers.
    Char,
    /// Its first argument. No log is written.
    Log,
    /// Nothing. No log is written.
    Logn,
    /// One of the values of several variables.
    RandomFromMultipleVars,
    /// A time, and so much before or after it.
    TimeShift,
}

/// A function that is not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no function __{name} here; known are {}", known())]
pub struct UnknownFunction {
    /// Its name, without underscores.
    pub name: String,
}

impl Function {
    /// All of them with their names, and the fewest and most arguments that they take.
    pub const ALL: [(Self, &'static str, usize, usize); 29] = [
        (Self::P, "P", 1, 2),
        (Self::Property, "property", 1, 3),
        (Self::Random, "Random", 2, 3),
        (Self::RandomString, "RandomString", 1, 3),
        (Self::Time, "time", 0, 2),
        (Self::ThreadNum, "threadNum", 0, 0),
        (Self::ThreadGroupName, "threadGroupName", 0, 0),
        (Self::TestPlanName, "TestPlanName", 0, 0),
        (Self::Counter, "counter", 1, 2),
        (Self::Uuid, "UUID", 0, 0),
        (Self::V, "V", 1, 2),
        (Self::IntSum, "intSum", 2, usize::MAX),
        (Self::LongSum, "longSum", 2, usize::MAX),
        (Self::UrlEncode, "urlencode", 1, 1),
        (Self::UrlDecode, "urldecode", 1, 1),
        (Self::Base64Encode, "base64Encode", 1, 2),
        (Self::Base64Decode, "base64Decode", 1, 2),
        (Self::Split, "split", 2, 3),
        (Self::IsVarDefined, "isVarDefined", 1, 1),
        (Self::IsPropDefined, "isPropDefined", 1, 1),
        (Self::If, "if", 4, 5),
        (Self::ChangeCase, "changeCase", 1, 3),
        (Self::LowerCase, "lowercase", 1, usize::MAX),
        (Self::UpperCase, "uppercase", 1, usize::MAX),
        (Self::Char, "char", 1, usize::MAX),
        (Self::Log, "log", 1, 4),
        (Self::Logn, "logn", 1, 3),
        (Self::RandomFromMultipleVars, "RandomFromMultipleVars", 1, 2),
        (Self::TimeShift, "timeShift", 4, 5),
    ];

    /// Its name, without underscores.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// The fewest and the most arguments that it takes.
    pub(crate) fn takes(self) -> (usize, usize) {
        (self.row().2, self.row().3)
    }

    fn row(self) -> &'static (Self, &'static str, usize, usize) {
        // The table has every function (a test holds it against the enumeration's own count).
        Self::ALL.iter().find(|(function, ..)| *function == self).unwrap_or(&Self::ALL[0])
    }

    /// What a function that reads a property gives where there is neither the property nor a default.
    pub(crate) fn without_property(self, name: &str) -> String {
        if self == Self::P { "1".to_owned() } else { name.to_owned() }
    }
}

impl FromStr for Function {
    type Err = UnknownFunction;

    fn from_str(name: &str) -> Result<Self, UnknownFunction> {
        let found = Self::ALL.iter().find(|(_, known, ..)| *known == name);
        found.map(|(function, ..)| *function).ok_or_else(|| UnknownFunction { name: name.to_owned() })
    }
}

fn known() -> String {
    let mut names: Vec<String> = Function::ALL.iter().map(|(_, name, ..)| format!("__{name}")).collect();
    names.sort_by_key(|name| name.to_lowercase());
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_has_its_own_row() {
        for (place, (function, name, least, most)) in Function::ALL.into_iter().enumerate() {
            assert_eq!(function as usize, place, "{name}");
            assert_eq!(name.parse(), Ok(function));
            assert_eq!((function.name(), function.takes()), (name, (least, most)));
        }
        assert_eq!(Function::TimeShift as usize + 1, Function::ALL.len());
    }

    #[test]
    fn an_unknown_one_is_named_with_those_that_are_known() {
        let error = "script".parse::<Function>().unwrap_err().to_string();
        assert!(
            error.starts_with("there is no function __script here; known are __base64Decode, "),
            "{error}"
        );
        assert!(error.contains("__UUID") && error.ends_with("__V"), "{error}");
    }
}
