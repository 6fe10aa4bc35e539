//! Rows of data from CSV files, read whole before the start.

use std::path::Path;

use plan::PlanError;

use crate::model::{DataSet, Lacking};

/// Longest file of data that is read, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 28;

/// A file's rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Table {
    /// The variables that a row sets.
    pub(crate) names: Vec<Box<str>>,
    rows: Vec<Box<[Box<str>]>>,
    lacking: Lacking,
}

impl Table {
    /// Reads the file of a data set.
    pub(crate) fn read(set: &DataSet) -> Result<Self, PlanError> {
        // A plan may be anybody's, and name a pipe or a device that has no end.
        if std::fs::metadata(&set.file).is_ok_and(|it| !it.is_file()) {
            return Err(PlanError::new("is no regular file", "name a CSV file").in_file(&set.file));
        }
        Self::parse(set, &plan::toml_file::read_up_to(&set.file, FILE_BYTES_MAX)?)
    }

    /// Reads the content of the file of a data set.
    fn parse(set: &DataSet, text: &str) -> Result<Self, PlanError> {
        let file = set.file.as_path();
        let delimiter = u8::try_from(set.delimiter).map_err(|_| {
            let what = format!("`{}` separates no fields", set.delimiter);
            PlanError::new(what, "take an ASCII character such as , or ;").in_file(file)
        })?;
        let text = text.trim_start_matches('\u{feff}');
        let mut reader = csv::ReaderBuilder::new();
        reader.has_headers(false).flexible(true).delimiter(delimiter).quoting(set.quoted);
        let mut rows = Vec::new();
        for record in reader.from_reader(text.as_bytes()).into_records() {
            let record = record.map_err(|error| unreadable(file, text, &error))?;
            rows.push(record.iter().map(Box::from).collect::<Box<[Box<str>]>>());
        }
        let has_head = set.variables.is_empty() || set.skip_first;
        let head = (has_head && !rows.is_empty()).then(|| rows.remove(0));
        let names: Vec<Box<str>> = match head {
            Some(head) if set.variables.is_empty() => head.iter().map(|name| name.trim().into()).collect(),
            _ => set.variables.iter().map(|name| name.as_str().into()).collect(),
        };
        if rows.is_empty() {
            let help = "give it at least one row of data, below the line of names if it has one";
            return Err(PlanError::new("has no rows", help).in_file(file));
        }
        Ok(Self { names, rows, lacking: set.lacking })
    }

    /// How many rows there are; at least one.
    pub(crate) fn len(&self) -> u64 {
        self.rows.len() as u64
    }

    /// The names and values that a row sets.
    pub(crate) fn row(&self, index: u64) -> impl Iterator<Item = (&str, &str)> {
        let row = usize::try_from(index).ok().and_then(|index| self.rows.get(index));
        let instead = match self.lacking {
            Lacking::Empty => Some(""),
            Lacking::AsBefore => None,
        };
        let value = move |place: usize| row.and_then(|row| row.get(place)).map(|field| &**field).or(instead);
        self.names.iter().enumerate().filter_map(move |(place, name)| Some((&**name, value(place)?)))
    }
}

fn unreadable(file: &Path, text: &str, error: &csv::Error) -> PlanError {
    let error_text = format!("is no CSV ({error})");
    let offset = error.position().map_or(0, |position| position.byte() as usize);
    PlanError::new(error_text, "mend the line").at_offset(file, text, offset)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{DataAtEnd, DataSharing};

    fn set(variables: &[&str]) -> DataSet {
        DataSet {
            file: "users.csv".into(),
            variables: variables.iter().map(ToString::to_string).collect(),
            delimiter: ',',
            quoted: true,
            skip_first: false,
            lacking: Lacking::Empty,
            at_end: DataAtEnd::Recycle,
            sharing: DataSharing::All,
        }
    }

    fn rows(set: &DataSet, text: &str) -> Vec<Vec<(String, String)>> {
        let table = Table::parse(set, text).unwrap();
        let row = |index| table.row(index).map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        (0..table.len()).map(row).collect()
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn names_come_from_the_first_line_or_from_the_plan() {
        let anna = vec![pair("name", "anna"), pair("word", "a,b")];
        let short = vec![pair("name", "ben"), pair("word", "")];
        let text = "name,word\nanna,\"a,b\"\nben\n";
        assert_eq!(rows(&set(&[]), text), [anna.clone(), short.clone()]);
        let skipping = DataSet { skip_first: true, ..set(&["name", "word"]) };
        assert_eq!(rows(&skipping, text), [anna.clone(), short]);
        let as_before = DataSet { lacking: Lacking::AsBefore, ..set(&[]) };
        assert_eq!(rows(&as_before, text), [anna, vec![pair("name", "ben")]]);
        assert_eq!(rows(&set(&["x"]), text).len(), 3);
        let plain = DataSet { delimiter: ';', quoted: false, ..set(&["x", "y"]) };
        assert_eq!(rows(&plain, "\"a\";b"), [vec![pair("x", "\"a\""), pair("y", "b")]]);
    }

    #[test]
    fn no_rows_and_no_file_are_errors_that_name_it() {
        for text in ["", "name,word\n"] {
            let error = Table::parse(&set(&[]), text).unwrap_err().to_string();
            assert!(error.starts_with("users.csv: has no rows"), "{error}");
        }
        for (device, what) in [("/dev/zero", "is no regular file"), ("/dev", "is no regular file")] {
            let error = Table::read(&DataSet { file: device.into(), ..set(&[]) }).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
        let missing = DataSet { file: "no/such.csv".into(), ..set(&[]) };
        assert!(Table::read(&missing).unwrap_err().to_string().starts_with("no/such.csv: cannot be read"));
    }
}
