//! Post-processors to extractions.

use scenario::{Extraction, Extractor, JsonRules, Part};

use crate::element::Element;
use crate::values::Fields;
use crate::{names, perl};

/// The variable that a plug-in's extractor sets.
const VARIABLE: &str = "VAR";

/// What a post-processor takes from each answer.
pub(crate) fn extractions(kind: names::Extractor, fields: Fields<'_>) -> Result<Vec<Extraction>, String> {
    match kind {
        names::Extractor::Regex => regex(fields).map(|it| vec![it]),
        names::Extractor::Boundary => boundary(fields).map(|it| vec![it]),
        names::Extractor::Json => json(fields),
        names::Extractor::JsonOfPlugin => json_of_plugin(fields).map(|it| vec![it]),
    }
}

/// The variables that an extractor may set, as far as its settings say.
pub(crate) fn names(element: &Element) -> Vec<String> {
    let properties = &element.properties;
    let texts =
        ["RegexExtractor.refname", "BoundaryExtractor.refname", "JSONPostProcessor.referenceNames", VARIABLE];
    let all = texts.iter().flat_map(|name| properties.text(name).split(';'));
    all.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

/// The variable that is looked at instead of the answer. `property` says what of an answer is looked at.
pub(crate) fn scope_variable(fields: Fields<'_>, property: &str) -> Result<Option<String>, String> {
    match fields.properties.text(property).trim() {
        // The answers to redirected requests and pages' parts are no samples of their own.
        "" | "parent" | "all" => Ok(None),
        "variable" => fields.fixed("Scope.variable").map(Some),
        other => Err(format!("it applies to '{other}'; answers have no samples within them")),
    }
}

fn part(fields: Fields<'_>, property: &str) -> Result<Part, String> {
    if let Some(variable) = scope_variable(fields, "Sample.scope")? {
        return Ok(Part::Variable(variable));
    }
    match fields.properties.text(property).trim() {
        "" | "false" => Ok(Part::Body),
        "true" => Ok(Part::Headers),
        "request_headers" => Ok(Part::RequestHeaders),
        "URL" => Ok(Part::Url),
        "code" => Ok(Part::Status),
        "message" => Ok(Part::Reason),
        other => Err(format!("{property} is '{other}', which is not looked into")),
    }
}

fn reference(fields: Fields<'_>, property: &str) -> Result<String, String> {
    match fields.fixed(property)?.trim() {
        "" => Err(format!("{property} is empty; name the variable")),
        name => Ok(name.to_owned()),
    }
}

fn which(fields: Fields<'_>, property: &str) -> Result<i32, String> {
    match_number(property, fields.whole(property, 0)?)
}

/// JMeter's match numbers: 1 is the first, 0 one at random, any below all.
fn match_number(property: &str, number: i64) -> Result<i32, String> {
    i32::try_from(number.max(-1)).map_err(|_| format!("{property} is {number}, which is too large"))
}

/// The default, if there is one: an empty text is one only where the plan says so.
fn default(fields: Fields<'_>, property: &str, empty: &str) -> Result<Option<String>, String> {
    let text = fields.fixed(property)?;
    Ok((!text.is_empty() || fields.is_true(empty, false)?).then_some(text))
}

fn regex(fields: Fields<'_>) -> Result<Extraction, String> {
    let pattern = perl::searched(fields.values.settled(&fields.template("RegexExtractor.regex")?));
    let template = fields.fixed("RegexExtractor.template")?;
    Ok(Extraction {
        name: reference(fields, "RegexExtractor.refname")?,
        part: part(fields, "RegexExtractor.useHeaders")?,
        how: Extractor::Regex { pattern, template },
        which: which(fields, "RegexExtractor.match_number")?,
        default: default(fields, "RegexExtractor.default", "RegexExtractor.default_empty_value")?,
    })
}

fn boundary(fields: Fields<'_>) -> Result<Extraction, String> {
    Ok(Extraction {
        name: reference(fields, "BoundaryExtractor.refname")?,
        part: part(fields, "BoundaryExtractor.useHeaders")?,
        how: Extractor::Boundary {
            left: fields.fixed("BoundaryExtractor.lboundary")?,
            right: fields.fixed("BoundaryExtractor.rboundary")?,
        },
        which: which(fields, "BoundaryExtractor.match_number")?,
        default: default(fields, "BoundaryExtractor.default", "BoundaryExtractor.default_empty_value")?,
    })
}

/// One extractor of JMeter's may take several values, separated by semicolons.
fn json(fields: Fields<'_>) -> Result<Vec<Extraction>, String> {
    const NUMBERS: &str = "JSONPostProcessor.match_numbers";
    let is_joined = fields.is_true("JSONPostProcessor.compute_concat", false)?;
    let rules = if is_joined { JsonRules::AsJoinedList } else { JsonRules::AsList };
    let part = scope_variable(fields, "Sample.scope")?.map_or(Part::Body, Part::Variable);
    let names = fields.fixed("JSONPostProcessor.referenceNames")?;
    let paths = fields.fixed("JSONPostProcessor.jsonPathExprs")?;
    let numbers = fields.fixed(NUMBERS)?;
    let defaults = fields.fixed("JSONPostProcessor.defaultValues")?;
    let names = list(&names);
    let paths = list(&paths);
    // A single empty text stands for as many empty defaults as there are names.
    let defaults: Vec<&str> =
        if defaults.is_empty() { vec![""; names.len()] } else { defaults.split(';').collect() };
    let numbers = if numbers.trim().is_empty() { vec!["0"; names.len()] } else { list(&numbers) };
    if names.is_empty() || [paths.len(), defaults.len(), numbers.len()] != [names.len(); 3] {
        return Err(format!(
            "it has {} names, {} paths, {} defaults and {} match numbers; give as many of each",
            names.len(),
            paths.len(),
            defaults.len(),
            numbers.len()
        ));
    }
    let one = |at: usize| {
        let number = numbers[at]
            .parse()
            .map_err(|_| format!("{NUMBERS} has '{}', which is no number", numbers[at]))?;
        Ok(Extraction {
            name: names[at].to_owned(),
            part: part.clone(),
            how: Extractor::Json { path: json_path(paths[at]), rules },
            which: match_number(NUMBERS, number)?,
            default: Some(defaults[at].to_owned()),
        })
    };
    (0..names.len()).map(one).collect()
}

/// A plug-in's extractor takes one value, whatever it is.
fn json_of_plugin(fields: Fields<'_>) -> Result<Extraction, String> {
    const PATH: &str = "JSONPATH";
    reads_json(fields)?;
    let part = match fields.properties.text("SUBJECT").trim() {
        "VAR" => Part::Variable(reference(fields, "VARIABLE")?),
        _ => Part::Body,
    };
    let path = fields.fixed(PATH)?;
    if path.trim().is_empty() {
        return Err(format!("{PATH} is empty"));
    }
    let how = Extractor::Json { path: json_path(&path), rules: JsonRules::AsValue };
    let default = Some(fields.fixed("DEFAULT")?);
    Ok(Extraction { name: reference(fields, VARIABLE)?, part, how, which: 1, default })
}

/// Makes sure that an element of a plug-in, which may read YAML, reads JSON.
pub(crate) fn reads_json(fields: Fields<'_>) -> Result<(), String> {
    const FORMAT: &str = "INPUT_FORMAT";
    match fields.at_start(FORMAT)?.trim() {
        "" | "JSON" => Ok(()),
        other => Err(format!("{FORMAT} is '{other}'; only JSON is read")),
    }
}

/// A JSONPath as JMeter takes it: what begins with a name is meant from the root.
pub(crate) fn json_path(text: &str) -> String {
    let text = text.trim();
    if text.starts_with(['$', '@']) { text.to_owned() } else { format!("$.{text}") }
}

fn list(text: &str) -> Vec<&str> {
    text.split(';').map(str::trim).filter(|part| !part.is_empty()).collect()
}
