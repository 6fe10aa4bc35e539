//! User Parameters: variables whose values go by the number of the user.

use scenario::{Template, UserValues};

use crate::element::Element;
use crate::values::Fields;

const NAMES: &str = "UserParameters.names";
/// A list of values for each user.
const VALUES: &str = "UserParameters.thread_values";

/// The variables that an element sets.
pub(crate) fn names(element: &Element) -> Vec<String> {
    element.properties.texts(NAMES).into_iter().map(str::to_owned).collect()
}

/// What such an element sets.
pub(crate) fn values(fields: Fields<'_>) -> Result<UserValues, String> {
    let names = fields.properties.texts(NAMES);
    if let Some(name) = names.iter().find(|name| name.contains("${")) {
        return Err(format!(
            "{NAMES} has '{name}', which is known only while the test runs; write the name out"
        ));
    }
    let rows = fields.properties.lists(VALUES).into_iter().map(|texts| row(fields, texts));
    Ok(UserValues {
        names: names.into_iter().map(str::to_owned).collect(),
        rows: rows.collect::<Result<_, _>>()?,
    })
}

/// Whether it sets them each time that the controller around it begins; else before each request.
pub(crate) fn is_per_iteration(fields: Fields<'_>) -> Result<bool, String> {
    fields.is_true("UserParameters.per_iteration", false)
}

fn row(fields: Fields<'_>, texts: Vec<&str>) -> Result<Vec<Template>, String> {
    let template = |text| fields.values.template(text).map_err(|error| format!("{VALUES}: {error}"));
    texts.into_iter().map(template).collect()
}
