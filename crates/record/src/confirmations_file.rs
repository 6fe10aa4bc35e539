//! Predictions that were put to the test, in a file beside the run that they are of.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use crate::bounds;
use crate::confirmation::{CONFIRMATION_VERSION, ConfirmationRecord};
use crate::error::RecordError;
use crate::files;

/// The name of the file, in the run's directory.
const FILE: &str = "confirmations.jsonl";

/// Appends one to those of the run in `dir`.
pub fn append_confirmation(dir: &Path, record: &ConfirmationRecord) -> Result<(), RecordError> {
    let path = dir.join(FILE);
    let mut line = serde_json::to_vec(record).expect("a confirmation is plain data");
    line.push(b'\n');
    let failed = |error| RecordError::io(&path, "writing a confirmation", error);
    let mut to_append = OpenOptions::new();
    let mut file = files::as_it_is(to_append.append(true).create(true)).open(&path).map_err(failed)?;
    file.write_all(&line).and_then(|()| file.sync_data()).map_err(failed)
}

/// Those of the run in `dir`, in the order in which they were made; of one cell and variant the last counts. None where
/// there is no file. A last line that was not finished is none.
pub fn read_confirmations(dir: &Path) -> Result<Vec<ConfirmationRecord>, RecordError> {
    let path = dir.join(FILE);
    let Some(file) = files::open(&path)? else { return Ok(Vec::new()) };
    let mut all: Vec<ConfirmationRecord> = Vec::new();
    files::each_line(&path, &file, bounds::CONFIRMATIONS, |line, text| {
        let malformed = |what: String| RecordError::Malformed { path: path.clone(), line, what };
        let record: ConfirmationRecord =
            serde_json::from_slice(text).map_err(|error| malformed(error.to_string()))?;
        if record.version > CONFIRMATION_VERSION {
            return Err(malformed(format!(
                "the confirmation has version {}, and {CONFIRMATION_VERSION} is the newest known here",
                record.version
            )));
        }
        bounds::check_confirmation(all.len(), &record).map_err(|what| RecordError::OutOfBounds {
            path: path.clone(),
            line,
            what,
        })?;
        let same = |it: &ConfirmationRecord| {
            (&it.round, &it.load, &it.stack, &it.variant)
                == (&record.round, &record.load, &record.stack, &record.variant)
        };
        all.retain(|it| !same(it));
        all.push(record);
        Ok(())
    })?;
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(stack: &str, measured_per_s: f64) -> ConfirmationRecord {
        ConfirmationRecord {
            version: CONFIRMATION_VERSION,
            round: "sleep".into(),
            load: crate::load_of_label("300 connections").id,
            stack: stack.into(),
            variant: format!("{stack}@threads-400"),
            before_per_s: 2000.0,
            predicted_per_s: 3000.0,
            measured_per_s,
            outcome: "confirmed".into(),
            run: "runs/confirm-1".into(),
        }
    }

    #[test]
    fn of_one_cell_and_variant_the_last_counts() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(read_confirmations(dir.path()).unwrap(), []);
        for one in [record("a", 1.0), record("b", 2.0), record("a", 3.0)] {
            append_confirmation(dir.path(), &one).unwrap();
        }
        let path = dir.path().join(FILE);
        let mut cut = std::fs::read_to_string(&path).unwrap();
        cut.push_str("{\"version\":1,\"rou");
        std::fs::write(&path, cut).unwrap();
        assert_eq!(read_confirmations(dir.path()).unwrap(), [record("b", 2.0), record("a", 3.0)]);
    }

    #[test]
    fn what_is_newer_or_broken_names_its_line() {
        let dir = tempfile::tempdir().unwrap();
        append_confirmation(dir.path(), &ConfirmationRecord { version: 9, ..record("a", 1.0) }).unwrap();
        let told = read_confirmations(dir.path()).unwrap_err().to_string();
        assert!(told.contains("version 9"), "{told}");
    }
}
