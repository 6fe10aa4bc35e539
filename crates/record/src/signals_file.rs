//! The readings of a trial, in a file in its folder.

use std::io::Write;
use std::path::Path;

use crate::bounds;
use crate::error::RecordError;
use crate::files;
use crate::signals::{SIGNALS_VERSION, SignalReading};

/// The name of the file.
const FILE: &str = "signals.jsonl";

/// Writes the readings of a trial into its folder.
pub fn write_signals(trial_dir: &Path, readings: &[SignalReading]) -> Result<(), RecordError> {
    let path = trial_dir.join(FILE);
    let mut text = Vec::new();
    for reading in readings {
        serde_json::to_writer(&mut text, reading).expect("a reading is plain data");
        text.push(b'\n');
    }
    let failed = |error| RecordError::io(&path, "writing", error);
    std::fs::File::create(&path).and_then(|mut file| file.write_all(&text)).map_err(failed)
}

/// Reads them again; none where the trial was made by a version that took none.
pub fn read_signals(trial_dir: &Path) -> Result<Vec<SignalReading>, RecordError> {
    let path = trial_dir.join(FILE);
    let Some(file) = files::open(&path)? else { return Ok(Vec::new()) };
    let mut readings = Vec::new();
    files::each_line(&path, &file, bounds::SIGNALS, |line, text| {
        let malformed = |what: String| RecordError::Malformed { path: path.clone(), line, what };
        let reading: SignalReading =
            serde_json::from_slice(text).map_err(|error| RecordError::in_json(&path, line, &error))?;
        if reading.version > SIGNALS_VERSION {
            let what = format!(
                "the reading has version {}, and {SIGNALS_VERSION} is the newest known here",
                reading.version
            );
            return Err(malformed(what));
        }
        bounds::check_reading(readings.len(), &reading).map_err(|what| RecordError::OutOfBounds {
            path: path.clone(),
            line,
            what,
        })?;
        readings.push(reading);
        Ok(())
    })?;
    Ok(readings)
}
