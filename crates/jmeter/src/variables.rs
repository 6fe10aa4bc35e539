//! Tables of variables that a plan defines.

use crate::element::Properties;
use crate::values::Values;

/// The property of a test plan that holds its variables.
pub(crate) const PLAN_VARIABLES: &str = "TestPlan.user_defined_variables";

/// Names and values of a table of variables.
pub(crate) fn rows(table: &Properties) -> impl Iterator<Item = (&str, &str)> {
    let enabled = table.rows("Arguments.arguments").filter(|row| row.is_true("Argument.enabled", true));
    let pairs = enabled.map(|row| (row.text("Argument.name").trim(), row.text("Argument.value")));
    pairs.filter(|(name, _)| !name.is_empty())
}

/// Makes sure that every value of a table of variables can be read.
pub(crate) fn check_variables(table: &Properties, values: &Values<'_>) -> Result<(), String> {
    for (name, value) in rows(table) {
        values.template(value).map_err(|error| format!("the variable {name}: {error}"))?;
    }
    Ok(())
}
