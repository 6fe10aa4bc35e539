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
    let mut file =
        files::as_it_is(to_append.read(true).append(true).create(true)).open(&path).map_err(failed)?;
    // A last line that was not finished would be read as one with ours.
    let whole = files::each_line(&path, &file, bounds::CONFIRMATIONS, |_, _| Ok(()))?;
    file.set_len(whole).map_err(failed)?;
    file.write_all(&line).and_then(|()| file.sync_data()).map_err(|error| {
        // Best effort: a reader skips an unfinished line, and the next writer cuts it off.
        let _ = file.set_len(whole);
        failed(error)
    })
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
            serde_json::from_slice(text).map_err(|error| RecordError::in_json(&path, line, &error))?;
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
    use crate::confirmation::LevelRate;

    fn record(stack: &str, measured_per_s: f64) -> ConfirmationRecord {
        ConfirmationRecord {
            version: CONFIRMATION_VERSION,
            round: "sleep".into(),
            load: crate::load_of_label("300 connections").id,
            stack: stack.into(),
            variant: Some(format!("{stack}@threads-400")),
            levels: Vec::new(),
            before_per_s: 2000.0,
            predicted_per_s: Some(3000.0),
            measured_per_s,
            outcome: "confirmed".into(),
            why: None,
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
        append_confirmation(dir.path(), &record("c", 4.0)).unwrap();
        let all = [record("b", 2.0), record("a", 3.0), record("c", 4.0)];
        assert_eq!(read_confirmations(dir.path()).unwrap(), all);
    }

    #[test]
    fn users_stand_beside_a_variant_and_version_1_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let rate = |(users, goodput_per_s): (u32, f64)| LevelRate { users, goodput_per_s };
        let by_users = ConfirmationRecord {
            variant: None,
            levels: [(150, 1990.0), (300, 2000.0), (600, 2010.0)].map(rate).to_vec(),
            predicted_per_s: None,
            why: Some("the rate was the same".into()),
            outcome: "could_not_tell".into(),
            ..record("a", 2010.0)
        };
        append_confirmation(dir.path(), &record("a", 1.0)).unwrap();
        append_confirmation(dir.path(), &by_users).unwrap();
        assert_eq!(read_confirmations(dir.path()).unwrap(), [record("a", 1.0), by_users]);
        let path = dir.path().join(FILE);
        let of_version_1 = r#"{"version":1,"round":"sleep","load":"300 connections","stack":"a","variant":"a@b",
            "before_per_s":1.0,"predicted_per_s":2.0,"measured_per_s":2.0,"outcome":"confirmed","run":"runs/1"}"#;
        std::fs::write(&path, of_version_1.replace('\n', "") + "\n").unwrap();
        let read = read_confirmations(dir.path()).unwrap();
        assert_eq!((read[0].variant.as_deref(), read[0].predicted_per_s), (Some("a@b"), Some(2.0)));
    }

    #[test]
    fn what_is_newer_or_broken_names_its_line() {
        let dir = tempfile::tempdir().unwrap();
        append_confirmation(dir.path(), &ConfirmationRecord { version: 9, ..record("a", 1.0) }).unwrap();
        let told = read_confirmations(dir.path()).unwrap_err().to_string();
        assert!(told.contains("version 9"), "{told}");
    }
}
