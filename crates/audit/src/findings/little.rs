//! Little's law: in a closed model without think time, N = X · R.

use crate::findings::{Finding, Kind, Level};
use outputs::shown;
use outputs::{Row, Tool};

/// Beyond the printed digits, a smaller gap than this says nothing: connections are set up, the last requests are
/// not counted, and a window cuts some off at both ends.
const GAP_NOTE: f64 = 0.05;
/// From here on the innocent causes do not suffice.
pub(crate) const GAP_BROKEN: f64 = 0.10;
/// Requests that failed or were left out, as a share, from which on the latency can't be held against the users.
const LEFT_OUT_MIN: f64 = 0.001;
/// A run shorter than ten response times misses what is under way at its end.
const RESPONSE_SHARE_MAX: f64 = 0.1;

/// N, X and R of a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Law {
    /// N.
    pub users: f64,
    /// X, a second.
    pub rate_per_s: f64,
    /// R, ms.
    pub mean_ms: f64,
    /// X · R / N.
    pub ratio: f64,
    /// How far the printed digits allow the ratio to be off.
    slack: f64,
}

impl Law {
    /// What the mean of all must be: N / X, ms.
    pub fn implied_ms(&self) -> f64 {
        self.users / self.rate_per_s * 1e3
    }
}

/// The law's three figures, where all are told and the law holds for such a load.
pub(super) fn figures(row: &Row) -> Option<Law> {
    let is_closed =
        matches!(row.tool, Tool::Wrk | Tool::Sb | Tool::H2load | Tool::Oha | Tool::Jmeter | Tool::Unnamed)
            && row.asked_per_s.is_none();
    let (rate, mean) = (row.throughput_per_s()?, row.mean_ms?);
    let users = row.users()?;
    if !is_closed || row.requests == Some(0) || rate.value <= 0.0 || mean.value < 0.0 {
        return None;
    }
    let ratio = rate.value * mean.value / 1e3 / users;
    let slack = ratio * rate.slack() + rate.value * mean.step / 1e3 / users;
    Some(Law { users, rate_per_s: rate.value, mean_ms: mean.value, ratio, slack })
}

/// Share of the requests that are not in the latency.
pub(super) fn left_out(row: &Row) -> f64 {
    let errors = &row.errors;
    let failed = if row.tool == Tool::Sb { errors.bad_answers } else { None };
    let out = errors.timeout.unwrap_or(0).max(failed.unwrap_or(0));
    out as f64 / row.requests.unwrap_or(0).max(1) as f64
}

/// N against X · R. What timeouts explain is told of by the check of censored latency, in one finding.
pub(super) fn law(row: &Row) -> Option<Finding> {
    let law = figures(row)?;
    let gap = (law.ratio - 1.0).abs() - law.slack;
    let is_short = law.ratio < 1.0;
    // Users of a test plan come and go and think, h2load's end at different times where a count bounds them, and those
    // of connections that failed never were: there only too much is impossible.
    let are_fewer = row.tool == Tool::Jmeter
        || (row.tool == Tool::H2load && row.duration_s.is_none())
        || row.errors.connect.is_some_and(|it| it > 0);
    if gap <= GAP_NOTE || row.is_nan || (are_fewer && is_short) {
        return None;
    }
    if is_short && row.tool == Tool::Wrk && left_out(row) >= LEFT_OUT_MIN {
        return None;
    }
    let level = match gap {
        _ if is_short && left_out(row) >= LEFT_OUT_MIN => Level::Unknown,
        it if it >= GAP_BROKEN && !row.may_wait => Level::Broken,
        _ => Level::Note,
    };
    Some(Finding::of(row, level, Kind::LittlesLaw, words(row, &law, level)))
}

fn words(row: &Row, law: &Law, level: Level) -> String {
    let sum = format!(
        "{} users, but {} x {} = {} (x{:.2})",
        shown::count(law.users),
        shown::rate(law.rate_per_s),
        shown::time(law.mean_ms),
        shown::count(law.users * law.ratio),
        law.ratio
    );
    let implied = shown::time(law.implied_ms());
    let what = match (level, law.ratio < 1.0) {
        (Level::Note, _) if row.may_wait => {
            "the command has a script or a connection a request, so users may wait between requests or send several".into()
        }
        (Level::Note, _) => format!(
            "no more than connection set-up{} and the ends of the run may do",
            if row.tool == Tool::Wrk { ", samples that wrk adds after the run," } else { "" }
        ),
        (Level::Unknown, _) => format!(
            "{} of their time is not in the latency: {} of the requests failed, and what goes by between requests is \
             the client's; N / X is {implied}",
            shown::percent(1.0 - law.ratio),
            shown::percent(left_out(row))
        ),
        (Level::Broken, true) => {
            format!("the latency is too low for these requests: by Little's law the mean is {implied}")
        }
        (Level::Broken, false) => format!(
            "the latency is too high for these requests: by Little's law the mean is {implied}{}",
            if row.tool == Tool::Wrk {
                "; wrk adds samples after the run for those it thinks it missed"
            } else {
                ""
            }
        ),
    };
    format!("{sum}: {what}{}", too_short(row, law))
}

fn too_short(row: &Row, law: &Law) -> String {
    let run_s = row.elapsed_s.map(|it| it.value).or(row.duration_s);
    match run_s.filter(|run_s| law.mean_ms / 1e3 > run_s * RESPONSE_SHARE_MAX) {
        Some(run_s) => format!(
            "; the run of {} is shorter than ten response times, and what was under way at its end is not in it",
            shown::seconds(run_s)
        ),
        None => String::new(),
    }
}
