//! Counters and random variables: variables that get a new value with each iteration, or each time that a controller begins.

use scenario::{Call, Counter, Function, NumberFormat, Piece, Step, Template};

use crate::element::Element;
use crate::names::Variable;
use crate::values::{Fields, joined};

/// Zeros of a number's pattern at most.
const DIGITS_MAX: usize = 100;

/// The variable that an element sets.
pub(crate) fn names(element: &Element) -> Vec<String> {
    let properties = &element.properties;
    let texts = ["CounterConfig.name", "variableName"].map(|name| properties.text(name).trim());
    texts.into_iter().filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Whether a step is none of JMeter's, whose controllers set variables as they begin.
pub(crate) fn is_set(step: &Step) -> bool {
    matches!(step, Step::Set { .. } | Step::SetByUser(_) | Step::Count(_) | Step::Row(_))
}

/// The step that gives the variable its next value. `several_groups` is whether other groups go by the same element.
pub(crate) fn step(variable: Variable, fields: Fields<'_>, several_groups: bool) -> Result<Step, String> {
    match variable {
        Variable::Counter => counter(fields, several_groups),
        Variable::Random => random(fields),
    }
}

fn call(function: Function, arguments: Vec<Template>) -> Template {
    Template(vec![Piece::Call(Call { function, arguments })])
}

fn name(fields: Fields<'_>, property: &str) -> Result<String, String> {
    match fields.at_start(property)?.trim() {
        "" => Err(format!("{property} is empty; name the variable")),
        name => Ok(name.to_owned()),
    }
}

/// A pattern of JMeter's numbers (Java's `DecimalFormat`) as far as it is a text, zeros, and a text.
fn number_format(fields: Fields<'_>, property: &str) -> Result<NumberFormat, String> {
    let pattern = fields.fixed(property)?;
    let refused =
        || format!("{property} is '{pattern}'; only zeros are understood, with letters around them");
    let is_digit = |character: char| ['0', '#'].contains(&character);
    let Some(start) = pattern.find(is_digit) else {
        return if pattern.is_empty() { Ok(NumberFormat::default()) } else { Err(refused()) };
    };
    let (before, rest) = pattern.split_at(start);
    let (digits, after) =
        rest.split_at(rest.find(|character: char| !is_digit(character)).unwrap_or(rest.len()));
    let zeros = digits.trim_start_matches('#');
    // Behind the digits an E begins an exponent.
    let is_plain = |text: &str| text.chars().all(|it| it.is_ascii_alphanumeric() || "_- :/()".contains(it));
    let is_known = is_plain(before) && is_plain(after) && !zeros.contains('#');
    if !is_known || after.starts_with('E') || after.contains(is_digit) || zeros.len() > DIGITS_MAX {
        return Err(refused());
    }
    Ok(NumberFormat { before: before.to_owned(), digits: zeros.len() as u8, after: after.to_owned() })
}

fn counter(fields: Fields<'_>, several_groups: bool) -> Result<Step, String> {
    let format = number_format(fields, "CounterConfig.format")?;
    let per_user = fields.is_true("CounterConfig.per_user", false)?;
    if per_user && fields.is_true("CounterConfig.reset_on_tg_iteration", false)? {
        return Err("it starts again with each iteration; use a User Defined Variable".into());
    }
    if !per_user && several_groups {
        return Err("the users of several groups count together; move it into one thread group".into());
    }
    let (first, step) =
        (fields.whole_at_start("CounterConfig.start", 0)?, fields.whole_at_start("CounterConfig.incr", 0)?);
    let last = fields.whole_at_start("CounterConfig.end", i64::MAX)?;
    if step < 0 && last < first {
        return Err(format!(
            "CounterConfig.end is {last}, and it counts down from {first}; there is no upper end"
        ));
    }
    Ok(Step::Count(Counter {
        name: name(fields, "CounterConfig.name")?,
        first,
        step,
        last,
        by_user: per_user,
        format,
    }))
}

fn random(fields: Fields<'_>) -> Result<Step, String> {
    const FORMAT: &str = "outputFormat";
    let NumberFormat { before, digits, after } = number_format(fields, FORMAT)?;
    let (low, high) = (fields.whole_at_start("minimumValue", 1)?, fields.whole_at_start("maximumValue", 0)?);
    if low > high {
        return Err(format!("minimumValue {low} is above maximumValue {high}"));
    }
    // The shortest number, unless there are some below 0, whose signs stand before all.
    let is_as_drawn = if low >= 0 {
        usize::from(digits) <= low.to_string().len()
    } else {
        digits <= 1 && before.is_empty()
    };
    if !is_as_drawn {
        let format = fields.properties.text(FORMAT);
        return Err(format!(
            "{FORMAT} is '{format}', by which {low} gets other digits; only a Counter's numbers do here"
        ));
    }
    let bounds = [low, high].map(|bound| Template::text(bound.to_string()));
    let number = call(Function::Random, bounds.to_vec());
    let is_bare = before.is_empty() && after.is_empty();
    let value =
        if is_bare { number } else { joined([Template::text(before), number, Template::text(after)]) };
    Ok(Step::Set { name: name(fields, "variableName")?, value })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::element::elements;
    use crate::values::{Changing, Values};
    use crate::xml;

    #[test]
    fn patterns_of_numbers_are_javas() {
        let written = |pattern: &str| {
            let text = format!(
                "<jmeterTestPlan><hashTree><TestPlan><stringProp name=\"f\">{pattern}</stringProp></TestPlan>\
                 </hashTree></jmeterTestPlan>"
            );
            let plan = elements(xml::parse(&text).unwrap()).unwrap();
            let none = BTreeMap::new();
            let values = Values::new(&none, Changing::default());
            number_format(Fields::new(&plan[0].properties, &values), "f").map(|format| format.written(7))
        };
        for (pattern, expected) in [
            ("", "7"),
            ("0", "7"),
            ("000", "007"),
            ("##", "7"),
            ("#00", "07"),
            ("USER_000", "USER_007"),
            ("a-00 b1", "a-07 b1"),
        ] {
            assert_eq!(written(pattern).as_deref(), Ok(expected), "{pattern}");
        }
        for pattern in ["x", "0.0", "#,##0", "00E0", "0E", "0#", "00%", "'0'0", "0;0", "0a0", "\u{a4}0"] {
            assert!(written(pattern).unwrap_err().contains("only zeros are understood"), "{pattern}");
        }
    }
}
