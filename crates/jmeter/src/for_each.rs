//! ForEach controllers: lists in numbered variables.

use scenario::{List, Step};

use crate::element::Element;
use crate::values::{Fields, TURNS};
use crate::{data, extractors, parameters, sets};

const INPUT: &str = "ForeachController.inputVal";
const OUTPUT: &str = "ForeachController.returnVal";

/// The variables that the controller sets, as far as its settings say.
pub(crate) fn names(element: &Element) -> Vec<String> {
    if !element.properties.has(INPUT) && !element.properties.has(OUTPUT) {
        return Vec::new();
    }
    vec![element.properties.text(OUTPUT).to_owned(), index(element)]
}

/// The variable that JMeter counts the turns in.
fn index(element: &Element) -> String {
    format!("{}{}{}", TURNS.0, element.name, TURNS.1)
}

/// The loop over a list; `below` is all that takes part below the controller.
pub(crate) fn step(
    element: &Element,
    fields: Fields<'_>,
    below: &[&Element],
    steps: Vec<Step>,
) -> Result<Step, String> {
    let separator = if fields.is_true("ForeachController.useSeparator", true)? { "_" } else { "" };
    let (input, item) = (fields.fixed(INPUT)?, fields.fixed(OUTPUT)?);
    let list = List {
        prefix: format!("{input}{separator}"),
        skip: bound(fields, "ForeachController.startIndex")?.unwrap_or(0),
        last: bound(fields, "ForeachController.endIndex")?,
        item,
        index: index(element),
    };
    // JMeter gives the variable its value again before each request of a turn.
    if below.iter().any(|it| data::names_are_in_file(it)) {
        return Err(
            "a CSV file below it has the names of its variables, which may be this one's; name them in the plan"
                .into(),
        );
    }
    let set = |it: &&Element| {
        let taken = extractors::names(it).into_iter().chain(data::names(it)).chain(sets::names(it));
        taken.chain(parameters::names(it)).chain(names(it)).collect::<Vec<_>>()
    };
    let mut set_below = below.iter().flat_map(set);
    if let Some(name) = set_below.find(|name| changes(name, &list)) {
        return Err(format!(
            "the variable {name} gets another value within its turns; let what is below it set a variable of another name"
        ));
    }
    Ok(Step::ForEach { list, steps })
}

/// Whether what sets a variable changes what the turn at hand is about.
fn changes(name: &str, list: &List) -> bool {
    let number = name.strip_prefix(&list.prefix);
    name == list.item
        || name == list.index
        || format!("{name}_") == list.prefix
        || number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A number that is there and empty is 0, as JMeter takes it.
fn bound(fields: Fields<'_>, name: &str) -> Result<Option<i64>, String> {
    if fields.properties.has(name) { fields.whole(name, 0).map(Some) } else { Ok(None) }
}
