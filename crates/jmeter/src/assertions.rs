//! Assertions to checks.

use scenario::{Assertion, Check, Field, JsonRules, Part, SizeComparison, TextRules};
use units::Duration;

use crate::extractors::{json_path, reads_json, scope_variable};
use crate::values::Fields;
use crate::{names, perl};

/// What an assertion demands; `None` where it demands nothing.
pub(crate) fn assertion(
    kind: names::Assertion,
    name: &str,
    fields: Fields<'_>,
) -> Result<Option<Assertion>, String> {
    let (check, negated) = match kind {
        names::Assertion::Response => response(fields)?,
        names::Assertion::Duration => {
            let ms = fields.whole("DurationAssertion.duration", 0)?;
            match u64::try_from(ms) {
                Ok(0) => return Ok(None),
                Ok(ms) => (Check::DurationAtMost(Duration::from_millis(ms)), false),
                Err(_) => {
                    return Err(format!("DurationAssertion.duration is {ms}, and must not be negative"));
                }
            }
        }
        names::Assertion::Size => (size(fields)?, false),
        names::Assertion::Json => json(fields, JsonRules::AsList)?,
        names::Assertion::JsonOfPlugin => {
            reads_json(fields)?;
            json(fields, JsonRules::AsValue)?
        }
    };
    Ok(Some(Assertion { name: name.to_owned(), check, negated }))
}

/// Bits of `Assertion.test_type`.
mod test_type {
    pub(super) const MATCHES: i64 = 1;
    pub(super) const CONTAINS: i64 = 2;
    pub(super) const NOT: i64 = 4;
    pub(super) const EQUALS: i64 = 8;
    pub(super) const SUBSTRING: i64 = 16;
    pub(super) const OR: i64 = 32;
}

fn response(fields: Fields<'_>) -> Result<(Check, bool), String> {
    const FIELD: &str = "Assertion.test_field";
    const TYPE: &str = "Assertion.test_type";
    let part = match (scope_variable(fields, "Assertion.scope")?, fields.properties.text(FIELD).trim()) {
        (Some(variable), _) => Part::Variable(variable),
        (None, "Assertion.response_data" | "") => Part::Body,
        (None, "Assertion.response_code") => Part::Status,
        (None, "Assertion.response_message") => Part::Reason,
        (None, "Assertion.response_headers") => Part::Headers,
        (None, "Assertion.request_headers") => Part::RequestHeaders,
        (None, "Assertion.sample_label") => Part::Url,
        (None, other) => return Err(format!("{FIELD} is {other}, which is not looked into")),
    };
    let bits = fields.whole_at_start(TYPE, test_type::CONTAINS)?;
    let field = match bits & !(test_type::NOT | test_type::OR) {
        test_type::MATCHES => Field::Matches,
        test_type::CONTAINS => Field::Contains,
        test_type::EQUALS => Field::Equals,
        test_type::SUBSTRING => Field::Substring,
        _ => return Err(format!("{TYPE} is {bits}, which says not one way to compare")),
    };
    // JMeter writes the first of the two names, with its slip.
    let mut texts = fields.properties.texts("Asserion.test_strings");
    texts.extend(fields.properties.texts("Assertion.test_strings"));
    let pattern = |text: &str| {
        let text = fields.values.template(text)?;
        Ok(if field == Field::Contains { perl::searched(text) } else { text })
    };
    let patterns = texts.into_iter().map(pattern).collect::<Result<_, String>>()?;
    let check = Check::Text {
        part,
        field,
        patterns,
        any: bits & test_type::OR != 0,
        ignore_status: fields.is_true("Assertion.assume_success", false)?,
        rules: TextRules::NothingFitsEmpty,
    };
    Ok((check, bits & test_type::NOT != 0))
}

fn size(fields: Fields<'_>) -> Result<Check, String> {
    const FIELD: &str = "Assertion.test_field";
    const OPERATOR: &str = "SizeAssertion.operator";
    if scope_variable(fields, "Assertion.scope")?.is_some() {
        return Err("the size of a variable is not looked at".into());
    }
    let part = match fields.properties.text(FIELD).trim() {
        "SizeAssertion.response_network_size" | "" => None,
        "SizeAssertion.response_headers" => Some(Part::Headers),
        "SizeAssertion.response_data" => Some(Part::Body),
        other => return Err(format!("{FIELD} is {other}, whose size is not looked at")),
    };
    let comparison = match fields.whole_at_start(OPERATOR, 1)? {
        1 => SizeComparison::Equal,
        2 => SizeComparison::NotEqual,
        3 => SizeComparison::Greater,
        4 => SizeComparison::Less,
        5 => SizeComparison::AtLeast,
        6 => SizeComparison::AtMost,
        other => return Err(format!("{OPERATOR} is {other}, which is none of JMeter's 1 to 6")),
    };
    let bytes = fields.template("SizeAssertion.size")?;
    if let Some(known) = fields.values.fixed(&bytes)
        && known.trim().parse::<u64>().is_err()
    {
        return Err(format!("SizeAssertion.size is '{known}', which is no number of bytes"));
    }
    Ok(Check::Size { part, bytes, comparison })
}

fn json(fields: Fields<'_>, rules: JsonRules) -> Result<(Check, bool), String> {
    let path = fields.fixed("JSON_PATH")?;
    if path.trim().is_empty() {
        return Err("JSON_PATH is empty".into());
    }
    let value =
        fields.is_true("JSONVALIDATION", false)?.then(|| fields.template("EXPECTED_VALUE")).transpose()?;
    let path = json_path(&path);
    let regex = fields.is_true("ISREGEX", true)?;
    let or_null = fields.is_true("EXPECT_NULL", false)?;
    let check = Check::Json { path, value, regex, or_null, rules };
    Ok((check, fields.is_true("INVERT", false)?))
}
