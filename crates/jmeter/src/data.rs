//! CSV data sets.

use std::path::{Path, PathBuf};

use scenario::{DataAtEnd, DataSet, DataSharing, Lacking};

use crate::element::Element;
use crate::names::{self, Kind, Scoped};
use crate::values::Fields;

/// The variables that a data set names; those of a header line are not known here.
pub(crate) fn names(element: &Element) -> Vec<String> {
    let names = element.properties.text("variableNames").split(',').map(str::trim);
    names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Whether it takes the variables' names from its file, which is not opened here.
pub(crate) fn names_are_in_file(element: &Element) -> bool {
    let is_data = names::kind(&element.class, &element.gui) == Kind::Scoped(Scoped::Data);
    is_data && names(element).is_empty()
}

/// The mode in which all threads share a file's rows.
pub(crate) const OF_ALL: &str = "shareMode.all";

/// Who shares a file's rows, in JMeter's words.
pub(crate) fn mode(fields: Fields<'_>) -> Result<String, String> {
    let mode = fields.at_start("shareMode")?;
    Ok(if mode.trim().is_empty() { OF_ALL.to_owned() } else { mode.trim().to_owned() })
}

/// A data set that belongs to one group of several, or to all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// It stands at the test plan, or there is one group only.
    All,
    /// It stands within one group, and there are others, which do not take its rows.
    OneGroup,
}

/// What a CSV Data Set Config says; `plan` is the file of the plan, beside which relative files lie.
pub(crate) fn data_set(plan: &Path, fields: Fields<'_>, owner: Owner) -> Result<DataSet, String> {
    let file = fields.at_start("filename")?;
    if file.trim().is_empty() {
        return Err("filename is empty; name the CSV file".into());
    }
    check_encoding(&fields.at_start("fileEncoding")?)?;
    let sharing = match (mode(fields)?.as_str(), owner) {
        (OF_ALL, Owner::All) => DataSharing::All,
        // Nobody but the users of its group takes rows of it, unless another element reads the same file.
        (OF_ALL | "shareMode.group", _) => DataSharing::Group,
        ("shareMode.thread", _) => DataSharing::User,
        (other, _) => {
            return Err(format!("shareMode is '{other}'; rows are shared by all, a group or a thread"));
        }
    };
    let variables = names_of(&fields.at_start("variableNames")?);
    Ok(DataSet {
        file: beside(plan, file.trim()),
        variables,
        delimiter: delimiter(&fields.at_start("delimiter")?)?,
        quoted: fields.is_true("quotedData", false)?,
        skip_first: fields.is_true("ignoreFirstLine", false)?,
        lacking: Lacking::AsBefore,
        at_end: at_end(fields)?,
        sharing,
    })
}

fn names_of(text: &str) -> Vec<String> {
    if text.trim().is_empty() {
        Vec::new()
    } else {
        text.split(',').map(|name| name.trim().to_owned()).collect()
    }
}

fn at_end(fields: Fields<'_>) -> Result<DataAtEnd, String> {
    Ok(match (fields.is_true("recycle", true)?, fields.is_true("stopThread", false)?) {
        (true, _) => DataAtEnd::Recycle,
        (false, true) => DataAtEnd::StopUser,
        (false, false) => DataAtEnd::Eof,
    })
}

fn check_encoding(encoding: &str) -> Result<(), String> {
    match encoding.trim().to_ascii_uppercase().as_str() {
        "" | "UTF-8" | "UTF8" | "US-ASCII" | "ASCII" => Ok(()),
        _ => Err(format!("fileEncoding is '{}'; save the file as UTF-8", encoding.trim())),
    }
}

fn delimiter(text: &str) -> Result<char, String> {
    match text {
        "" => Ok(','),
        "\\t" => Ok('\t'),
        _ => {
            let mut characters = text.chars();
            match (characters.next(), characters.next()) {
                (Some(one), None) if one.is_ascii() => Ok(one),
                _ => Err(format!("delimiter is '{text}'; one ASCII character, or \\t, separates fields")),
            }
        }
    }
}

/// A file as JMeter finds it: relative to the plan.
pub(crate) fn beside(plan: &Path, file: &str) -> PathBuf {
    plan.parent().unwrap_or(Path::new("")).join(file)
}
