//! Checks of counts and rates of one row.

use std::fmt::Write;

use crate::findings::{Finding, Kind, Level};
use outputs::shown;
use outputs::{Row, Tool};

/// Rate × time may differ from the count by so much beyond the printed digits: what ended within the last instants.
const RATE_GAP_MAX: f64 = 0.001;
/// The same where the end of the run is not dated with the last request.
const RATE_GAP_LOOSE_MAX: f64 = 0.01;
/// The mean of sampled rates may differ from count over time by so much before it is worth a word.
const SAMPLED_GAP_MAX: f64 = 0.05;
/// A second of Gatling's run that may have hardly begun is worth a word from this share of all on.
const SECOND_MIN: f64 = 0.05;
/// Share of failures that every long run has.
const FAILED_MIN: f64 = 0.001;
/// From this share on neither rate nor latency is one of answers.
const FAILED_GRAVE: f64 = 0.01;
/// Answers to a failed read up to which a server that closes its connections is worth naming: a cap of a hundred requests, as
/// servers have, is announced.
const ANSWERS_A_CLOSE_MAX: f64 = 10.0;
/// An open model that makes less than this share of what was asked for is overloaded.
const OFFERED_MIN: f64 = 0.95;
/// One that makes more than this share makes what nobody asked for.
const OFFERED_MAX: f64 = 1.05;

/// What was cut off.
pub(super) fn cut_off(row: &Row) -> Option<Finding> {
    if row.missing.is_empty() {
        return None;
    }
    let text = format!("the output is not whole: {} missing", are_missing(&row.missing));
    Some(Finding::of(row, Level::Unknown, Kind::CutOff, text))
}

fn are_missing(what: &[&str]) -> String {
    let joined = what.join(" and ");
    if what.len() > 1 || joined.starts_with("the lines") || joined.starts_with("columns") {
        joined + " are"
    } else {
        joined + " is"
    }
}

/// Numbers that can't be read.
pub(super) fn unreadable(row: &Row) -> Option<Finding> {
    let first = row.unreadable.first()?;
    let text = format!(
        "`{}` is no number that can be read without doubt{}",
        shown::quoted(first),
        match row.unreadable.len() {
            1 => String::new(),
            more => format!(", nor are {} others", more - 1),
        }
    );
    Some(Finding::of(row, Level::Unknown, Kind::Unreadable, text))
}

/// A run without answers.
pub(super) fn empty(row: &Row) -> Option<Finding> {
    if row.requests != Some(0) || row.tool == Tool::Proofload {
        return None;
    }
    let text = match row.tool {
        Tool::Wrk => {
            "0 requests: nothing is known of the latency; wrk has no timer, so a server that never answers \
                      leaves neither a count nor a timeout"
        }
        _ => "0 requests: nothing is known of the latency",
    };
    Some(Finding::of(row, Level::Unknown, Kind::Empty, text.into()))
}

/// Rate × time against the count.
pub(super) fn rate_times_time(row: &Row) -> Option<Finding> {
    let (rate, elapsed) = (row.rate_per_s?, row.elapsed_s.filter(|it| it.value > 0.0)?);
    let requests = row.rated.or(row.requests).filter(|it| *it > 0)? as f64;
    let told = rate.value * elapsed.value;
    let gap = (told - requests) / requests;
    let gap_max = match row.tool {
        Tool::Wrk | Tool::Wrk2 | Tool::Oha => RATE_GAP_MAX,
        Tool::Proofload => return None,
        _ => RATE_GAP_LOOSE_MAX,
    };
    let digits = rate.slack() + elapsed.slack() + at_the_end(row, rate.value, gap) / requests;
    if gap.abs() <= gap_max + digits {
        return None;
    }
    let text = format!(
        "{} x {} = {told:.0}, but {requests:.0} requests were made: the rate is {:.1} % too {}{}; count over time is {}",
        shown::rate(rate.value),
        shown::seconds(elapsed.value),
        gap.abs() * 100.0,
        if gap > 0.0 { "high" } else { "low" },
        if row.tool == Tool::Sb { " (sb takes it after a pause)" } else { "" },
        shown::rate(requests / elapsed.value)
    );
    Some(Finding::of(row, Level::Broken, Kind::RateTimesTime, text))
}

/// Gatling's rate is the count over whole seconds, rounded up.
pub(super) fn whole_seconds(row: &Row) -> Option<Finding> {
    let requests = row.requests.filter(|it| *it > 0 && row.tool == Tool::Gatling)?;
    let rate = row.rate_per_s.filter(|it| it.value > 0.0)?;
    let Some(elapsed) = row.elapsed_s else {
        let text = format!(
            "{requests} requests at {} are {:.2} s, and Gatling divides by whole seconds: the two are not of one run",
            shown::rate(rate.value),
            requests as f64 / rate.value
        );
        return Some(Finding::of(row, Level::Broken, Kind::RateTimesTime, text));
    };
    let share = 1.0 / elapsed.value;
    let text = format!(
        "the rate is the count over {}, rounded up, in which users come and go: it may be {} too low for the former alone",
        shown::seconds(elapsed.value),
        shown::percent(share)
    );
    (share >= SECOND_MIN).then(|| Finding::of(row, Level::Note, Kind::RateTimesTime, text))
}

/// A rate that is the mean of samples, against count over time: a pause of the client and the burst behind it are two samples. A
/// run of which only its planned length is told has ended with its longest answer at the latest.
pub(super) fn sampled_rate(row: &Row) -> Option<Finding> {
    let (told, requests) = (row.sampled_per_s?, row.requests.filter(|it| *it > 0)? as f64);
    let run_s = row.elapsed_s.map(|it| it.value).or(row.duration_s).filter(|it| *it > 0.0)?;
    let answered_s = row.max_ms.filter(|_| row.elapsed_s.is_none()).map_or(0.0, |it| it.value / 1e3);
    let (most, least) = (requests / run_s, requests / (run_s + answered_s));
    let gap = ((told.value - told.step) / most - 1.0).max(1.0 - (told.value + told.step) / least);
    if gap <= SAMPLED_GAP_MAX || !most.is_finite() {
        return None;
    }
    let text = format!(
        "{} is the mean of rates that {} samples during the run, short and long ones alike; {requests:.0} requests in {} are {}",
        shown::rate(told.value),
        row.tool.name(),
        shown::seconds(run_s),
        shown::rate(most)
    );
    Some(Finding::of(row, Level::Note, Kind::RateTimesTime, text))
}

/// By how many requests the end of the run may change the count. sb counts what its users had under way then, too, which makes
/// the rate too low. Where nobody tells how many users there are, there are no more than twice X · R: who has a whole answer
/// within the run has half of its time in it at least. Without R it is not known.
fn at_the_end(row: &Row, rate_per_s: f64, gap: f64) -> f64 {
    if row.tool != Tool::Sb || gap > 0.0 {
        return 1.0;
    }
    let busy = row.mean_ms.map_or(f64::INFINITY, |mean| 2.0 * rate_per_s * mean.value / 1e3);
    row.connections.map_or(busy, f64::from).max(1.0)
}

/// Share of the requests in the rate that the end of the run cut off, where so many are worth a word.
pub(super) fn aborted_share(row: &Row) -> Option<f64> {
    let (aborted, requests) = (row.errors.aborted?, row.requests.filter(|it| *it > 0)?);
    Some(aborted as f64 / requests as f64).filter(|share| *share >= FAILED_GRAVE)
}

/// Failures that count in the rate.
pub(super) fn errors_as_answers(row: &Row) -> Option<Finding> {
    let bad = row.errors.bad_answers.unwrap_or(0);
    let requests = row.requests.filter(|it| *it > 0)?;
    if bad > requests && row.tool != Tool::Proofload {
        let text = format!(
            "{bad} requests brought no good answer, and {requests} were made: no more can fail than there are"
        );
        return Some(Finding::of(row, Level::Broken, Kind::ErrorsAsAnswers, text));
    }
    let share = bad as f64 / requests as f64;
    if share < FAILED_MIN || row.tool == Tool::Proofload {
        return aborted_as_answers(row);
    }
    let exceptions = row.exceptions();
    let level = if share < FAILED_GRAVE {
        Level::Note
    } else if exceptions as f64 / requests as f64 >= FAILED_GRAVE {
        // It calls them answers. Of what else failed it is said, and it counts all the same.
        Level::Broken
    } else {
        Level::Unknown
    };
    let called = "\"Status 303\", which is what sb calls an exception or a timeout,";
    let what = match exceptions {
        0 => " brought no good answer".to_owned(),
        all if all >= bad => format!(" are {called}"),
        some => format!(" brought no good answer, {some} of them {called}"),
    };
    let also = aborted_share(row).and(row.errors.aborted);
    let also = also.map_or(String::new(), |it| format!(", as do {it} that the end of the run aborted"));
    let counts = if row.rated.is_some() { "" } else { " and count in the rate" };
    let text = format!(
        "{bad} of {requests} requests ({}){what}{counts}{also}{}",
        shown::percent(share),
        good_answers(row)
    );
    Some(Finding::of(row, level, Kind::ErrorsAsAnswers, text))
}

/// Requests that the end of the run aborted, and that count in the rate all the same.
fn aborted_as_answers(row: &Row) -> Option<Finding> {
    let (share, aborted, requests) = (aborted_share(row)?, row.errors.aborted?, row.requests?);
    let text = format!(
        "{aborted} of {requests} requests ({}) were aborted by the end of the run and count in the rate{}",
        shown::percent(share),
        good_answers(row)
    );
    Some(Finding::of(row, Level::Note, Kind::ErrorsAsAnswers, text))
}

fn good_answers(row: &Row) -> String {
    row.goodput_per_s().map_or(String::new(), |it| format!(": good answers are {}", shown::rate(it)))
}

/// Requests of wrk that ended without an answer: it counts answers only, so those are in neither its rate nor its latency.
pub(super) fn socket_errors(row: &Row) -> Option<Finding> {
    let failed = row.failed_unseen();
    if failed == 0 {
        return None;
    }
    if row.tool == Tool::Siege {
        return failed_beside(row, failed);
    }
    let kinds = [("read", row.errors.read), ("written", row.errors.write)];
    let named = kinds.iter().filter_map(|(name, count)| Some((name, count.filter(|it| *it > 0)?)));
    let named: Vec<String> = named.map(|(name, count)| format!("{count} could not be {name}")).collect();
    let named = named.join(" and ");
    let Some(answers) = row.requests else {
        let text = format!("of the requests {named}, and how many were answered is not told");
        return Some(Finding::of(row, Level::Unknown, Kind::SocketErrors, text));
    };
    let share = failed as f64 / (failed.saturating_add(answers)) as f64;
    let level = match share {
        it if it < FAILED_MIN => return None,
        it if it < FAILED_GRAVE => Level::Note,
        _ => Level::Unknown,
    };
    let mut text = format!(
        "beside {answers} answers {named} ({} of all requests): they are in neither rate nor latency",
        shown::percent(share)
    );
    let all =
        [row.errors.connect, row.errors.timeout].into_iter().flatten().fold(failed, u64::saturating_add);
    if all > answers {
        let _ = write!(
            text,
            "; with {all} errors in all, more failed than was answered, and the rate is of the rest"
        );
    }
    // Each connection that a server closes unannounced costs wrk a read.
    let each = answers as f64 / failed as f64;
    if answers > 0 && each <= ANSWERS_A_CLOSE_MAX {
        let _ = write!(
            text,
            "; a server that closes its connections without saying so does this, here after {} answers on average",
            shown::count(each)
        );
    }
    Some(Finding::of(row, level, Kind::SocketErrors, text))
}

/// What siege calls failed: of those that were answered, with 408 or 5xx, the time is divided by the number of the others.
fn failed_beside(row: &Row, failed: u64) -> Option<Finding> {
    let answers = row.requests?;
    let all = answers.saturating_add(failed);
    let share = failed as f64 / all as f64;
    let level = match share {
        it if it < FAILED_MIN => return None,
        it if it < FAILED_GRAVE => Level::Note,
        _ => Level::Unknown,
    };
    let mean = row.mean_ms.filter(|_| answers > 0).map_or(String::new(), |mean| {
        format!(
            ". Its mean is the time of all answers, 408 and 5xx among them, divided by the number of the others: it is {} to {}",
            shown::time(mean.value * (1.0 - share)),
            shown::time(mean.value)
        )
    });
    let text = format!(
        "beside {answers} answers {failed} requests failed ({} of all): they are not in the rate{mean}",
        shown::percent(share)
    );
    Some(Finding::of(row, level, Kind::SocketErrors, text))
}

/// Iterations of k6 that were due and never began, since no user was free.
pub(super) fn dropped(row: &Row) -> Option<Finding> {
    let k6 = row.of_k6.filter(|it| it.dropped > 0)?;
    let all = k6.dropped.saturating_add(k6.made);
    let share = k6.dropped as f64 / all as f64;
    let level = match share {
        it if it < FAILED_MIN => return None,
        it if it < FAILED_GRAVE => Level::Note,
        _ => Level::Unknown,
    };
    let text = format!(
        "{} of {all} iterations that were due ({}) never began, since no user was free: less was made than was asked for, and how \
         long they would have waited is in no figure",
        k6.dropped,
        shown::percent(share)
    );
    Some(Finding::of(row, level, Kind::OfferedRate, text))
}

/// Connections that did not come up.
pub(super) fn connect_failures(row: &Row) -> Option<Finding> {
    let failed = row.errors.connect.filter(|it| *it > 0)?;
    let text = match row.connections {
        Some(connections) if failed > u64::from(connections) => format!(
            "{failed} connects failed, of {connections} connections that were tried again and again: the load was less than \
             it says{}",
            row.requests
                .filter(|it| *it < failed)
                .map_or(String::new(), |it| format!(", and only {it} requests were answered"))
        ),
        Some(connections) => {
            format!("{failed} connects failed of {connections} connections: the load was less than it says")
        }
        None => format!("{failed} connects failed: the load was less than it says"),
    };
    Some(Finding::of(row, Level::Unknown, Kind::ConnectFailures, text))
}

/// Whether an open model could not be kept up.
pub(super) fn is_overloaded(row: &Row) -> bool {
    let asked = row.asked_per_s.filter(|it| *it > 0.0);
    let made = row.throughput_per_s().map(|it| it.value);
    row.tool != Tool::Proofload && asked.zip(made).is_some_and(|(asked, made)| made < asked * OFFERED_MIN)
}

/// An open model that could not be kept up, or of which more was made than was asked for.
pub(super) fn offered_rate(row: &Row) -> Option<Finding> {
    let (asked, made) = (row.asked_per_s?, row.throughput_per_s()?.value);
    let figures = format!("{} were asked for and {} made", shown::rate(asked), shown::rate(made));
    let why = if is_overloaded(row) {
        what_became_of_it(row.tool)
    } else if is_beyond(row, asked, made) {
        "an open model makes no more, so the command is not the one that ran"
    } else {
        return None;
    };
    Some(Finding::of(row, Level::Unknown, Kind::OfferedRate, format!("{figures}: {why}")))
}

/// What a tool does with requests that it could not send when they were due.
fn what_became_of_it(tool: Tool) -> &'static str {
    match tool {
        // One user after another, at its own pace.
        Tool::Hey | Tool::Bombardier | Tool::Fortio | Tool::Autocannon => {
            "whoever waits for an answer sends nothing meanwhile, so what was due then was never sent, and how long it would \
             have waited is not known"
        }
        Tool::Vegeta => {
            "what was due was sent late, and its latency begins only then: how long it had waited is in no figure"
        }
        _ => "what was due waits, and the latency is that of the run's length, not of the service",
    }
}

/// Whether more was made than was asked for, and than all users may have made at the begin: one each. The last one of all has no
/// gap behind it, in the time that vegeta tells.
fn is_beyond(row: &Row, asked_per_s: f64, made_per_s: f64) -> bool {
    let run_s = row.elapsed_s.map_or(0.0, |it| it.value);
    let at_the_begin = row.users().unwrap_or(0.0).max(1.0);
    row.tool != Tool::Proofload
        && asked_per_s > 0.0
        && (made_per_s - asked_per_s * OFFERED_MAX) * run_s > at_the_begin
}
