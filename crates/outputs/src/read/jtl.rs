//! JMeter's JTL: one line a request. It becomes a row a label, with JMeter's own arithmetic.

use std::collections::BTreeMap;

use crate::number::Figure;
use crate::read::Rows;
use crate::row::{Row, Tool};
use crate::shown::quoted;

/// Most labels that are told apart; a plan has fewer. What is beyond goes into none.
const LABELS_MAX: usize = 1000;
/// Most threads that are told apart, of each label.
const THREADS_MAX: usize = 1 << 16;
/// Percentiles of JMeter's Aggregate Report.
const PERCENTILES: [f64; 4] = [50.0, 90.0, 95.0, 99.0];

/// Most response codes that are told apart, of each label: an exception's name is one, too.
const CODES_MAX: usize = 1000;

/// The requests of one label.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JtlSamples {
    line: usize,
    /// How long each took, ms, sorted.
    pub elapsed_ms: Vec<u32>,
    /// Of those, how long each lasted that brought no answer, ms, sorted: its response code is no number.
    pub unanswered_ms: Vec<u32>,
    /// Those that were no success.
    pub failed: u64,
    /// Requests by response code; of one without an answer it names the exception. Empty where the file has none.
    pub codes: BTreeMap<String, u64>,
    /// Bytes received.
    pub bytes: u64,
    /// When the first began, ms since 1970.
    pub starts_at_ms: u64,
    /// When the last one ended, ms since 1970.
    pub ends_at_ms: u64,
    users: u32,
    /// When the most users had been reached.
    all_users_at_ms: u64,
    /// Samples of each thread.
    threads: BTreeMap<String, u64>,
}

/// The columns that are read.
struct Columns {
    time: usize,
    elapsed: usize,
    label: usize,
    code: Option<usize>,
    success: Option<usize>,
    bytes: Option<usize>,
    all_threads: Option<usize>,
    thread: Option<usize>,
    count: usize,
}

/// The rows if the text is a JTL. An error is one that can't be used.
pub(super) fn read(text: &str) -> Result<Option<Rows>, String> {
    let text = text.trim_start_matches('\u{feff}');
    if !is_jtl(text) {
        return Ok(None);
    }
    let (labels, cut) = labels(text)?;
    let mut rows = Rows::default();
    rows.extend(labels.into_iter().map(|(name, label)| label.row(name, cut)));
    Ok(Some(rows))
}

/// The requests of a JTL by label. An error says why it can't be used.
pub fn jtl_samples(text: &str) -> Result<BTreeMap<String, JtlSamples>, String> {
    if !is_jtl(text) {
        return Err("it does not begin with the header of a JTL".into());
    }
    Ok(labels(text)?.0)
}

fn is_jtl(text: &str) -> bool {
    let header = text.lines().next().unwrap_or_default();
    header.starts_with("timeStamp") && header.contains("elapsed")
}

/// The labels, and whether the last line was cut off.
fn labels(text: &str) -> Result<(BTreeMap<String, JtlSamples>, bool), String> {
    let header = text.lines().next().unwrap_or_default();
    let delimiter =
        [b',', b';', b'\t'].into_iter().find(|it| header.contains(char::from(*it))).unwrap_or(b',');
    let mut reader =
        csv::ReaderBuilder::new().delimiter(delimiter).flexible(true).from_reader(text.as_bytes());
    let columns = columns(reader.headers().map_err(|error| error.to_string())?)?;
    let mut labels: BTreeMap<String, JtlSamples> = BTreeMap::new();
    // Why the first line that can't be read can't be.
    let mut unreadable: Option<String> = None;
    for record in reader.records() {
        let Ok(record) = record else {
            return Err("a line of the JTL is no UTF-8 text".into());
        };
        // Of files that were put together each begins with a header.
        if record.get(columns.time) == Some("timeStamp") {
            continue;
        }
        let line = record.position().map_or(0, csv::Position::line);
        if take(&columns, &record, line, &mut labels).is_none() {
            // A run that was ended leaves half a line, the last one.
            unreadable.get_or_insert_with(|| why_not(&columns, &record, line));
        }
    }
    if labels.is_empty() {
        return Err(unreadable.unwrap_or_else(|| {
            "the JTL has a header and no request: the run made none, or the file was cut off".into()
        }));
    }
    for label in labels.values_mut() {
        label.elapsed_ms.sort_unstable();
        label.unanswered_ms.sort_unstable();
    }
    Ok((labels, unreadable.is_some()))
}

/// Why a line can't be read.
fn why_not(columns: &Columns, record: &csv::StringRecord, line: u64) -> String {
    let time = record.get(columns.time).unwrap_or_default();
    if record.len() < columns.count {
        format!("line {line} of the JTL has fewer columns than its header: the file was cut off")
    } else if time.trim().parse::<u64>().is_err() {
        format!(
            "the time stamp in line {line} of the JTL, `{}`, is no number of milliseconds; JMeter writes one with \
             jmeter.save.saveservice.timestamp_format=ms",
            quoted(time)
        )
    } else {
        format!("line {line} of the JTL has no number of milliseconds in `elapsed`")
    }
}

fn columns(header: &csv::StringRecord) -> Result<Columns, String> {
    let at = |name: &str| header.iter().position(|it| it == name);
    let need = |name: &str| at(name).ok_or_else(|| format!("the JTL has no column `{name}`"));
    Ok(Columns {
        time: need("timeStamp")?,
        elapsed: need("elapsed")?,
        label: need("label")?,
        code: at("responseCode"),
        success: at("success"),
        bytes: at("bytes"),
        all_threads: at("allThreads"),
        thread: at("threadName"),
        count: header.len(),
    })
}

fn take(
    columns: &Columns,
    record: &csv::StringRecord,
    line: u64,
    labels: &mut BTreeMap<String, JtlSamples>,
) -> Option<()> {
    // What is left of a line may look like a whole one with another label.
    if record.len() < columns.count {
        return None;
    }
    let whole = |at: usize| record.get(at)?.trim().parse::<u64>().ok();
    let start = whole(columns.time)?;
    let elapsed = u32::try_from(whole(columns.elapsed)?).ok()?;
    let name = record.get(columns.label)?;
    if labels.len() >= LABELS_MAX && !labels.contains_key(name) {
        return Some(());
    }
    let label = labels.entry(name.to_owned()).or_default();
    if label.elapsed_ms.is_empty() {
        (label.line, label.starts_at_ms) = (usize::try_from(line).unwrap_or(0), start);
    }
    label.elapsed_ms.push(elapsed);
    label.starts_at_ms = label.starts_at_ms.min(start);
    label.ends_at_ms = label.ends_at_ms.max(start.saturating_add(u64::from(elapsed)));
    label.failed += u64::from(columns.success.and_then(|at| record.get(at)) == Some("false"));
    if let Some(code) = columns.code.and_then(|at| record.get(at)) {
        count_up(&mut label.codes, code, CODES_MAX);
        if !is_status(code) {
            label.unanswered_ms.push(elapsed);
        }
    }
    label.bytes = label.bytes.saturating_add(columns.bytes.and_then(whole).unwrap_or(0));
    let users = columns.all_threads.and_then(whole).and_then(|it| u32::try_from(it).ok()).unwrap_or(0);
    if users > label.users {
        (label.users, label.all_users_at_ms) = (users, start);
    }
    if let Some(thread) = columns.thread.and_then(|at| record.get(at)) {
        count_up(&mut label.threads, thread, THREADS_MAX);
    }
    Some(())
}

fn is_status(code: &str) -> bool {
    code.len() == 3 && code.bytes().all(|it| it.is_ascii_digit())
}

/// Counts one more of a name, of which `most` are told apart.
fn count_up(counts: &mut BTreeMap<String, u64>, name: &str, most: usize) {
    // Most are known, and a look-up allocates nothing.
    if let Some(count) = counts.get_mut(name) {
        *count += 1;
    } else if counts.len() < most {
        counts.insert(name.to_owned(), 1);
    }
}

impl JtlSamples {
    /// Whether each of so many users has a thread of its own, and all of these as many samples. Where a time ends the run, who
    /// starts first makes more.
    fn has_same_loops(&self, users: u32) -> bool {
        let mut counts = self.threads.values();
        let first = counts.next();
        u32::try_from(self.threads.len()).is_ok_and(|threads| threads == users)
            && counts.all(|count| Some(count) == first)
    }

    fn row(self, name: String, cut: bool) -> Row {
        let count = self.elapsed_ms.len();
        let sum: f64 = self.elapsed_ms.iter().copied().map(f64::from).sum();
        let at = |percent: f64| {
            let rank = ((count as f64 * percent / 100.0).round() as usize).clamp(1, count);
            Figure { value: f64::from(self.elapsed_ms[rank - 1]), step: 1.0 }
        };
        let elapsed_s = self.ends_at_ms.saturating_sub(self.starts_at_ms) as f64 / 1e3;
        let threads = u32::try_from(self.threads.len()).unwrap_or(0);
        let users = Some(self.users.max(threads)).filter(|it| *it > 0);
        let ramp_s = self.all_users_at_ms.saturating_sub(self.starts_at_ms) as f64 / 1e3;
        let mut row = Row {
            tool: Tool::Jmeter,
            line: self.line,
            // A label names a request of a plan, and no system: those of one run are no contest.
            path: Some(name),
            connections: users,
            users,
            requests: Some(count as u64),
            elapsed_s: Some(Figure { value: elapsed_s, step: 1e-3 }).filter(|it| it.value > 0.0),
            // A thread that has ended is counted no more, so the plan's loops are those of all that ever were.
            loops: users.map(|users| count as f64 / f64::from(users)),
            is_planned: users.is_some_and(|users| self.has_same_loops(users)),
            ramp_s: users.map(|_| ramp_s),
            mean_ms: Some(Figure { value: sum / count as f64, step: 1.0 }),
            min_ms: Some(at(0.0)),
            max_ms: Some(at(100.0)),
            percentiles_ms: PERCENTILES.map(|percent| (percent, at(percent))).to_vec(),
            answer_bytes: Some(Figure::exact(self.bytes as f64 / count as f64)).filter(|it| it.value > 0.0),
            ..Row::default()
        };
        row.rate_per_s = row.throughput_per_s();
        row.errors.bad_answers = Some(self.failed);
        if cut {
            row.missing.push("columns of the last line");
        }
        row
    }
}
