//! One measured row, whatever tool printed it.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::number::Figure;
use crate::shown;

/// What made the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tool {
    /// wrk.
    #[default]
    Wrk,
    /// wrk2: open model, latency from when a request was due.
    Wrk2,
    /// SuperBenchmarker.
    Sb,
    /// JMeter.
    Jmeter,
    /// oha.
    Oha,
    /// k6.
    K6,
    /// h2load.
    H2load,
    /// ab, of Apache's server.
    Ab,
    /// hey.
    Hey,
    /// vegeta: open model.
    Vegeta,
    /// bombardier.
    Bombardier,
    /// autocannon.
    Autocannon,
    /// Locust.
    Locust,
    /// Fortio.
    Fortio,
    /// siege.
    Siege,
    /// Gatling.
    Gatling,
    /// Proofload.
    Proofload,
    /// A table that does not say.
    Unnamed,
}

impl Tool {
    /// Its name in texts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Wrk => "wrk",
            Self::Wrk2 => "wrk2",
            Self::Sb => "sb",
            Self::Jmeter => "JMeter",
            Self::Oha => "oha",
            Self::K6 => "k6",
            Self::H2load => "h2load",
            Self::Ab => "ab",
            Self::Hey => "hey",
            Self::Vegeta => "vegeta",
            Self::Bombardier => "bombardier",
            Self::Autocannon => "autocannon",
            Self::Locust => "Locust",
            Self::Fortio => "Fortio",
            Self::Siege => "siege",
            Self::Gatling => "Gatling",
            Self::Proofload => "proofload",
            Self::Unnamed => "the tool",
        }
    }

    /// Whether its run lasts until all that was under way at its end is answered, so that nothing is cut off, and some users
    /// have nothing to do meanwhile.
    pub const fn waits_at_the_end(self) -> bool {
        matches!(self, Self::Hey | Self::Vegeta | Self::Bombardier | Self::Fortio)
    }
}

/// The status that sb gives to exceptions and timeouts. It goes where a server's 303 leads, and tells of none.
pub(crate) const SB_EXCEPTION: u16 = 303;

/// Whether answers with this status are good ones.
pub(crate) fn is_good(status: u16) -> bool {
    (200..400).contains(&status)
}

/// What failed, as far as it was told. `None` is not told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Errors {
    /// Connections that did not come up.
    pub connect: Option<u64>,
    /// Failed reads.
    pub read: Option<u64>,
    /// Failed writes.
    pub write: Option<u64>,
    /// Answers later than the timeout, or requests given up at it.
    pub timeout: Option<u64>,
    /// Requests that count in `requests` and brought no good answer: a status that is none of 2xx and 3xx, or an
    /// exception that was counted as one.
    pub bad_answers: Option<u64>,
    /// Requests that count in `requests` and that the end of the run cut off. None of them is a failure, nor an answer.
    pub aborted: Option<u64>,
}

/// Who says after how long an answer is late.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TimeoutFrom {
    /// Nobody: it is what the tool takes when it is told nothing.
    #[default]
    Tool,
    /// The command above the output, be it by saying nothing.
    Command,
    /// A column of a table, or a record.
    Table,
}

/// What ab alone tells.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct OfAb {
    /// `Concurrency Level`.
    pub level: u32,
    /// `Time per request … (mean)`, ms: by definition level × time / requests, and no time that was measured.
    pub per_request_ms: Option<Figure>,
    /// Answers whose length is not that of the first one and of which nothing else is told: ab counts them as failed.
    pub other_lengths: u64,
    /// Requests that went over a connection which had been kept; `None` where none was to be kept (no `-k`).
    pub keep_alive: Option<u64>,
}

/// What k6 alone tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OfK6 {
    /// `dropped_iterations`: those that were due while no user was free, and that never began.
    pub dropped: u64,
    /// `iterations`: those that ended.
    pub made: u64,
}

/// What the author says beside the raw output.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Summary {
    /// Requests a second.
    pub rate_per_s: Option<Figure>,
    /// Mean latency, ms.
    pub mean_ms: Option<Figure>,
    /// The line in which the first of them stands, from 1.
    pub line: usize,
}

/// One measured row. Every field but the place may be missing; what is missing is not checked.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Row {
    /// What printed it.
    pub tool: Tool,
    /// The line in which it begins, from 1.
    pub line: usize,
    /// The document that it is from, in a table of several.
    pub document: Option<String>,
    /// The part of the document: a round of a comparison. Rows of one round are held against each other.
    pub round: Option<String>,
    /// What was measured, from a heading or a column.
    pub system: Option<String>,
    /// Names what is the same under several names: rows with one set-up, path and load are repeats.
    pub setup: Option<String>,
    /// Path and query of the URL, or what a plan calls a request.
    pub path: Option<String>,
    /// Connections, or users of a closed model.
    pub connections: Option<u32>,
    /// Requests under way on a connection at a time; `None` is not known, and one for HTTP/1.1.
    pub streams: Option<u32>,
    /// Load threads.
    pub threads: Option<u32>,
    /// How long it was to run, s.
    pub duration_s: Option<f64>,
    /// After how long an answer is late, s.
    pub timeout_s: Option<f64>,
    /// Who says so.
    pub timeout_from: TimeoutFrom,
    /// Requests due a second, in the open model.
    pub asked_per_s: Option<f64>,
    /// Whether users may wait between requests, or send several at once: a script may have them do so.
    pub may_wait: bool,
    /// Requests that the tool counts as made.
    pub requests: Option<u64>,
    /// How long it ran, s.
    pub elapsed_s: Option<Figure>,
    /// Requests a second as printed.
    pub rate_per_s: Option<Figure>,
    /// How many requests that rate is of, where those that ended without an answer are not among them, and are in `requests`.
    pub rated: Option<u64>,
    /// The mean of rates that were sampled during the run, where the tool prints that for its rate.
    pub sampled_per_s: Option<Figure>,
    /// Mean latency, ms.
    pub mean_ms: Option<Figure>,
    /// Standard deviation, ms.
    pub stdev_ms: Option<Figure>,
    /// Longest latency, ms.
    pub max_ms: Option<Figure>,
    /// Shortest latency, ms.
    pub min_ms: Option<Figure>,
    /// Percentiles, ms, in the order in which they were printed.
    pub percentiles_ms: Vec<(f64, Figure)>,
    /// The same of the requests that did not fail, where the tool tells both.
    pub good_percentiles_ms: Vec<(f64, Figure)>,
    /// From which percentile on zeros are printed behind times: wrk found no time of that rank.
    pub zero_from: Option<f64>,
    /// Of how many answers percentiles are, where the tool keeps no more of them than that. Those of hey are the first ones, and
    /// so are its extremes; its mean is taken back to all of them here. Those of JMeter's dashboard are the last ones.
    pub kept: Option<u64>,
    /// Whether a figure of the latency is printed as not a number.
    pub is_nan: bool,
    /// What failed.
    pub errors: Errors,
    /// Answers by status.
    pub statuses: BTreeMap<u16, u64>,
    /// Bytes received over all.
    pub received_bytes: Option<Figure>,
    /// Bytes received a request, where the tool tells rates only.
    pub answer_bytes: Option<Figure>,
    /// What ab alone tells.
    pub of_ab: Option<OfAb>,
    /// What k6 alone tells.
    pub of_k6: Option<OfK6>,
    /// `Concurrency` of siege: by definition the time of all answers over that of the run, and not its number of users.
    pub busy: Option<Figure>,
    /// What the author says of it.
    pub summary: Summary,
    /// Users of a test plan that start one after another.
    pub users: Option<u32>,
    /// How long their start takes, s.
    pub ramp_s: Option<f64>,
    /// Requests that each of them makes, or makes on average.
    pub loops: Option<f64>,
    /// Whether each is known to make as many: a plan says so, or every thread has as many samples. That the samples can be
    /// divided by the users says nothing.
    pub is_planned: bool,
    /// How long the service is known to take on an idle server, ms, and where that is said.
    pub service_time_ms: Option<(f64, String)>,
    /// What belongs to the format and is not there: the output was cut off.
    pub missing: Vec<&'static str>,
    /// Numbers that could not be read.
    pub unreadable: Vec<String>,
    /// What our own audit says of our own record: a grave reason or not, and its text.
    pub own_reasons: Vec<(bool, String)>,
}

impl Row {
    /// Notes of these parts of an output which are missing.
    pub(crate) fn note_missing<const N: usize>(&mut self, parts: [(&'static str, bool); N]) {
        self.missing.extend(parts.into_iter().filter(|(_, is_missing)| *is_missing).map(|(name, _)| name));
    }

    /// How many answers have a status for which this holds, as far as statuses are told.
    pub(crate) fn answers_with(&self, is_counted: impl Fn(u16) -> bool) -> u64 {
        let counted = self.statuses.iter().filter(|(status, _)| is_counted(**status));
        counted.fold(0, |sum: u64, (_, count)| sum.saturating_add(*count))
    }

    /// What people call it: `gateways, api: zuul /hello at 300`.
    pub fn label(&self) -> String {
        let heading: Vec<&str> =
            [&self.document, &self.round].into_iter().flatten().map(String::as_str).collect();
        let mut label = heading.join(", ");
        if !label.is_empty() {
            label.push_str(": ");
        }
        let path = self.path.as_deref().filter(|it| *it != "/");
        let name: Vec<&str> = [self.system.as_deref(), path].into_iter().flatten().collect();
        label.push_str(&if name.is_empty() { self.tool.name().to_owned() } else { name.join(" ") });
        match self.connections {
            Some(connections) => shown::quoted(&label) + &format!(" at {connections}"),
            None => shown::quoted(&label),
        }
    }

    /// Its name among rows of the same round: `zuul at 300`.
    pub fn short_label(&self) -> String {
        let name = shown::quoted(self.system.as_deref().or(self.path.as_deref()).unwrap_or(self.tool.name()));
        self.connections.map_or(name.clone(), |connections| format!("{name} at {connections}"))
    }

    /// Requests a second: count over time where both are told, else as printed.
    pub fn throughput_per_s(&self) -> Option<Figure> {
        match (self.requests, self.elapsed_s) {
            (Some(requests), Some(elapsed)) if elapsed.value > 0.0 => {
                let value = requests as f64 / elapsed.value;
                Some(Figure { value, step: value * elapsed.slack() })
            }
            _ => self.rate_per_s,
        }
    }

    /// Requests a second that brought a good answer.
    pub fn goodput_per_s(&self) -> Option<f64> {
        let Errors { bad_answers, aborted, .. } = self.errors;
        let requests = self.requests?;
        let bad = bad_answers.unwrap_or(0).saturating_add(aborted.unwrap_or(0));
        let good = requests.saturating_sub(bad) as f64 / requests.max(1) as f64;
        Some(self.throughput_per_s()?.value * good)
    }

    /// Requests that failed and that neither count nor latency has: wrk's reads and writes, what h2load calls errored, autocannon
    /// errors, and siege failed; of those siege has some in its latency.
    pub fn failed_unseen(&self) -> u64 {
        let Errors { read, write, .. } = self.errors;
        match self.tool {
            Tool::Wrk | Tool::Wrk2 | Tool::H2load | Tool::Autocannon | Tool::Siege => {
                read.unwrap_or(0).saturating_add(write.unwrap_or(0))
            }
            _ => 0,
        }
    }

    /// Requests that brought an answer, of those that count: hey and oha count those that ended without one as well.
    pub fn answers(&self) -> Option<u64> {
        let Errors { read, timeout, aborted, .. } = self.errors;
        let without = match self.tool {
            Tool::Hey | Tool::Oha => [read, timeout, aborted],
            _ => [None; 3],
        };
        Some(without.into_iter().flatten().fold(self.requests?, u64::saturating_sub))
    }

    /// Exceptions and timeouts among the bad answers that sb calls a status.
    pub fn exceptions(&self) -> u64 {
        match self.tool {
            Tool::Sb if self.statuses.is_empty() => self.errors.bad_answers.unwrap_or(0),
            Tool::Sb => self.statuses.get(&SB_EXCEPTION).copied().unwrap_or(0),
            _ => 0,
        }
    }

    /// Requests under way in all, where that is known. wrk gives each thread as many connections and drops the rest.
    pub fn users(&self) -> Option<f64> {
        let connections = self.connections.or(self.users)?;
        let kept = match (self.tool, self.threads) {
            (Tool::Wrk | Tool::Wrk2, Some(threads)) if threads > 0 => connections - connections % threads,
            _ => connections,
        };
        Some(f64::from(kept) * f64::from(self.streams.unwrap_or(1))).filter(|users| *users > 0.0)
    }

    /// Bytes of an answer on the wire, head and all.
    pub fn bytes_per_answer(&self) -> Option<Figure> {
        let requests = self.requests.filter(|it| *it > 0);
        match (self.received_bytes, requests) {
            (Some(bytes), Some(requests)) => Some(bytes.times(1.0 / requests as f64)),
            _ => self.answer_bytes,
        }
    }

    /// What was asked for, without whom.
    pub fn work(&self) -> (Option<&str>, Option<&str>, Option<&str>) {
        // The tables of JMeter stand under headings of their own. Their labels are different requests of one plan, and the URLs of
        // a table of several documents differ by prefix.
        if self.tool == Tool::Jmeter {
            let label = self.path.as_deref().filter(|_| self.document.is_none());
            return (self.document.as_deref(), None, label);
        }
        (self.document.as_deref(), self.round.as_deref(), self.path.as_deref())
    }
}
