//! Counters and random variables: variables that get a new value with each iteration.

use scenario::{Call, Counter, Function, Piece, Step, Template};

use crate::element::Element;
use crate::names::Variable;
use crate::values::Fields;

/// The variable that an element sets.
pub(crate) fn names(element: &Element) -> Vec<String> {
    let properties = &element.properties;
    let texts = ["CounterConfig.name", "variableName"].map(|name| properties.text(name).trim());
    texts.into_iter().filter(|name| !name.is_empty()).map(str::to_owned).collect()
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

fn plain(fields: Fields<'_>, property: &str) -> Result<(), String> {
    match fields.properties.text(property).trim() {
        "" => Ok(()),
        format => Err(format!("{property} is '{format}'; numbers are not formatted")),
    }
}

fn counter(fields: Fields<'_>, several_groups: bool) -> Result<Step, String> {
    plain(fields, "CounterConfig.format")?;
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
    }))
}

fn random(fields: Fields<'_>) -> Result<Step, String> {
    plain(fields, "outputFormat")?;
    let (low, high) = (fields.whole_at_start("minimumValue", 1)?, fields.whole_at_start("maximumValue", 0)?);
    if low > high {
        return Err(format!("minimumValue {low} is above maximumValue {high}"));
    }
    let bounds = [low, high].map(|bound| Template::text(bound.to_string()));
    Ok(Step::Set { name: name(fields, "variableName")?, value: call(Function::Random, bounds.to_vec()) })
}
