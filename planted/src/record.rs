//! What came of each run, a line of JSON each, written as it is made: the matrix is made of it, and a session goes on from it.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::evidence::Evidence;
use crate::process::Failure;

/// In the place of a kind: the run could not be made, or not be explained.
pub(crate) const NOT_MADE: &str = "not made";
/// A record of more lines is none of ours.
const LINES_MAX: usize = 1_000_000;
/// No line is as long: two trials of servers with dozens of groups of threads take a tenth of that.
const LINE_BYTES_MAX: u64 = 1 << 20;

/// Which run it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Key {
    pub(crate) case: String,
    pub(crate) size: String,
    /// How many processes burnt CPU time beside it.
    pub(crate) neighbours: u8,
    pub(crate) seed: u64,
}

/// A run and what was named first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Line {
    #[serde(flatten)]
    pub(crate) key: Key,
    /// A kind, or [`NOT_MADE`].
    pub(crate) named: String,
    /// The verdict in words, or why there is none.
    pub(crate) phrase: String,
    /// What the probe of other levels said of it, where it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) probe: Option<String>,
    /// Which build of `proofload` measured and explained it.
    pub(crate) binary: String,
    /// What was planted and how it was loaded: a digest of [`Bench::planted`](crate::trial::Bench::planted). Absent in records of
    /// versions that did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) planted: Option<String>,
    /// What was measured; absent where nothing was, and in records of versions that did not keep it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) evidence: Option<Evidence>,
}

/// The lines of a record, of each run the last one.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Lines(BTreeMap<Key, Line>);

impl Lines {
    pub(crate) fn read(file: &Path) -> Result<Self, Failure> {
        let because = |why: String| Failure::Usage(format!("{}: {why}", file.display()));
        let mut from = BufReader::new(File::open(file).map_err(|error| because(error.to_string()))?);
        let mut all = Self::default();
        for number in 1..=LINES_MAX {
            let mut text = String::new();
            from.by_ref()
                .take(LINE_BYTES_MAX)
                .read_line(&mut text)
                .map_err(|error| because(format!("line {number}: {error}")))?;
            // Whoever is killed leaves half a line, and that run is made again.
            if !text.ends_with('\n') {
                return if text.len() as u64 == LINE_BYTES_MAX {
                    Err(because(format!("line {number} is longer than {LINE_BYTES_MAX} bytes")))
                } else {
                    Ok(all)
                };
            }
            let line = serde_json::from_str(&text).map_err(|error| {
                because(format!(
                    "line {number} is no line of a record ({error}); remove the file or name another"
                ))
            })?;
            all.add(line);
        }
        Err(because(format!("has more than {LINES_MAX} lines")))
    }

    pub(crate) fn add(&mut self, line: Line) {
        self.0.insert(line.key.clone(), line);
    }

    pub(crate) fn get(&self, key: &Key) -> Option<&Line> {
        self.0.get(key)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Line> {
        self.0.values()
    }
}

/// Where lines are written to, if anywhere.
#[derive(Debug)]
pub(crate) struct Writer(Option<File>);

impl Writer {
    /// Appends to `file`. One that ends within a line goes on with the next.
    pub(crate) fn append(file: Option<&Path>) -> io::Result<Self> {
        let Some(file) = file else { return Ok(Self(None)) };
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let whole = std::fs::read(file).unwrap_or_default();
        let kept = whole.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let to = OpenOptions::new().create(true).append(true).open(file)?;
        to.set_len(kept as u64)?;
        Ok(Self(Some(to)))
    }

    pub(crate) fn write(&mut self, line: &Line) -> io::Result<()> {
        let Some(file) = &mut self.0 else { return Ok(()) };
        let mut text = serde_json::to_string(line)?;
        text.push('\n');
        file.write_all(text.as_bytes())
    }
}

/// What tells one build of a program from another.
pub(crate) fn binary(program: &Path) -> io::Result<String> {
    Ok(digest([std::fs::read(program)?]))
}

/// What tells these texts from others, in the same build of this program.
pub(crate) fn digest(texts: impl IntoIterator<Item = Vec<u8>>) -> String {
    let mut hasher = DefaultHasher::new();
    for text in texts {
        hasher.write_usize(text.len());
        hasher.write(&text);
    }
    format!("{:016x}", hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(seed: u64, named: &str) -> Line {
        let key = Key { case: "pool of K".into(), size: "K = 16".into(), neighbours: 1, seed };
        let (phrase, binary) = ("pool of 16".into(), "0".into());
        Line { key, named: named.into(), phrase, probe: None, binary, planted: None, evidence: None }
    }

    #[test]
    fn the_last_line_of_a_run_stands_and_half_a_line_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("deeper/record.jsonl");
        let mut writer = Writer::append(Some(&file)).unwrap();
        for line in [line(1, NOT_MADE), line(2, "pool_limit"), line(1, "pool_limit")] {
            writer.write(&line).unwrap();
        }
        let mut text = std::fs::read_to_string(&file).unwrap();
        text.push_str("{\"case\":\"pool");
        std::fs::write(&file, text).unwrap();
        assert_eq!(
            Lines::read(&file).unwrap().iter().cloned().collect::<Vec<_>>(),
            [line(1, "pool_limit"), line(2, "pool_limit")]
        );

        Writer::append(Some(&file)).unwrap().write(&line(3, "unexplained")).unwrap();
        let lines = Lines::read(&file).unwrap();
        assert_eq!(lines.iter().count(), 3);
        assert_eq!(lines.get(&line(3, "").key).unwrap().named, "unexplained");
    }

    #[test]
    fn what_is_no_record_is_told_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("record.jsonl");
        std::fs::write(&file, "{}\n").unwrap();
        let Err(Failure::Usage(why)) = Lines::read(&file) else { panic!("it is none") };
        assert!(why.contains("record.jsonl: line 1 is no line of a record"), "{why}");
        assert!(matches!(Lines::read(&folder.path().join("none")), Err(Failure::Usage(_))));
    }
}
