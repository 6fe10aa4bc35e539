//! Little's law: in a closed model without think time, N = X · R.

use crate::findings::{Finding, Kind, Level, counts};
use outputs::shown;
use outputs::{Figure, Row, TimeoutFrom, Tool};

/// Beyond the printed digits, a smaller gap than this says nothing: connections are set up, the last requests are
/// not counted, and a window cuts some off at both ends.
const GAP_NOTE: f64 = 0.05;
/// From here on the innocent causes do not suffice.
pub(crate) const GAP_BROKEN: f64 = 0.10;
/// Requests that failed or were left out, as a share, from which on the latency can't be held against the users.
const LEFT_OUT_MIN: f64 = 0.001;
/// Requests that a script sends at a time, at most, as far as anybody does.
const AT_A_TIME_MAX: f64 = 64.0;
/// A median of this share of N / X or less is that of requests which were sent one at a time.
const MEDIAN_MAX: f64 = 0.9;
/// How near N / X must be to what wrk takes for it, so that the former holds.
const INTERVAL_MIN: f64 = 0.95;
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
    // Of the others users think, or nobody tells how many there are.
    let is_open = matches!(
        row.tool,
        Tool::Wrk2 | Tool::Vegeta | Tool::K6 | Tool::Locust | Tool::Gatling | Tool::Proofload
    );
    let is_closed = !is_open && row.asked_per_s.is_none();
    let (rate, mean) = (answers_per_s(row)?, row.mean_ms?);
    let users = row.users()?;
    if !is_closed || row.requests == Some(0) || rate.value <= 0.0 || mean.value < 0.0 {
        return None;
    }
    let ratio = rate.value * mean.value / 1e3 / users;
    // sb counts what its users had under way at the end, too, and leaves out how long that took.
    let counted = row.requests.filter(|_| row.tool == Tool::Sb);
    let at_the_end = counted.map_or(0.0, |requests| users / requests as f64);
    let slack = ratio * (rate.slack() + at_the_end) + rate.value * mean.step / 1e3 / users;
    Some(Law { users, rate_per_s: rate.value, mean_ms: mean.value, ratio, slack })
}

/// What the mean is of, a second. oha and hey have all that failed in their count and rate, oha what the end of the run aborted as
/// well, and their mean is of answers alone.
fn answers_per_s(row: &Row) -> Option<Figure> {
    if row.tool == Tool::Bombardier && row.elapsed_s.is_none() {
        // Its rate is a mean of samples, and its last answer came no later than the longest of all after the end.
        let run_s = row.duration_s? + row.max_ms?.value / 1e3;
        let requests = row.requests? as f64;
        return (run_s > 0.0).then(|| Figure::exact(requests / run_s));
    }
    let rate = row.throughput_per_s()?;
    match (row.requests.filter(|it| *it > 0), row.answers()) {
        (Some(requests), Some(answers)) => Some(rate.times(answers as f64 / requests as f64)),
        _ => Some(rate),
    }
}

/// Requests that are not in the latency, but for those that were under way at the end.
fn unseen(row: &Row) -> f64 {
    let errors = &row.errors;
    let timeouts = errors.timeout.unwrap_or(0);
    let out = match row.tool {
        Tool::Sb => timeouts.max(errors.bad_answers.unwrap_or(0)),
        Tool::Oha | Tool::Hey => timeouts.saturating_add(errors.read.unwrap_or(0)),
        // Its latency has them.
        Tool::Bombardier => 0,
        _ => timeouts,
    };
    out.saturating_add(row.failed_unseen()) as f64
}

/// Share of the requests that are not in the latency.
pub(super) fn left_out(row: &Row) -> f64 {
    let made = row.requests.unwrap_or(0).saturating_add(row.failed_unseen());
    (unseen(row) / made.max(1) as f64).min(1.0)
}

/// Users that figures may leave out, at most: one for each request that is not in the latency, which has kept it busy for the
/// whole run at the longest, and one for each connection that never came up.
fn unseen_users(row: &Row) -> f64 {
    unseen(row) + row.errors.connect.unwrap_or(0) as f64
}

/// Share of the users that neither the latency nor what is known to be left out of it accounts for.
fn missing(row: &Row, law: &Law) -> f64 {
    1.0 - law.ratio - law.slack - unseen_users(row) / law.users
}

/// Whether what is left out of the latency may be all that it lacks, so that N / X is the mean with it.
pub(super) fn is_all_left_out(row: &Row) -> bool {
    figures(row).is_some_and(|law| law.ratio < 1.0 && missing(row, &law) <= GAP_NOTE)
}

/// N against X · R. What timeouts and failures explain is told of by their own checks, in one finding; what they can't, here.
pub(super) fn law(row: &Row) -> Option<Finding> {
    let law = figures(row)?;
    let is_short = law.ratio < 1.0;
    // Users of a test plan come and go and think, and those whose requests are counted end at different times: there only too
    // much is impossible.
    let is_counted = matches!(row.tool, Tool::H2load | Tool::Oha | Tool::Sb | Tool::Ab | Tool::Autocannon)
        && row.duration_s.is_none();
    // Those of siege wait by themselves unless they are told not to, and write a line of each answer.
    let may_pause = matches!(row.tool, Tool::Jmeter | Tool::Siege);
    let are_fewer = may_pause || row.tool.waits_at_the_end() || is_counted;
    let gap = (law.ratio - 1.0).abs() - law.slack;
    if gap <= GAP_NOTE || row.is_nan || (are_fewer && is_short) {
        return None;
    }
    let unexplained = if is_short { missing(row, &law) } else { gap };
    if unexplained <= GAP_NOTE {
        let is_told = row.tool == Tool::Wrk && left_out(row) >= LEFT_OUT_MIN
            || row.errors.connect.is_some_and(|it| it > 0);
        let text = words(row, &law, Told::TheRest);
        return (!is_told).then(|| Finding::of(row, Level::Unknown, Kind::LittlesLaw, text));
    }
    let is_censored = is_short && left_out(row) >= LEFT_OUT_MIN;
    let under_way = under_way_ms(row, unexplained, law.implied_ms()).filter(|_| is_short);
    let (level, told) = match under_way {
        _ if row.may_wait || unexplained < GAP_BROKEN => (Level::Note, Told::Innocent),
        Some(_) if is_censored => (Level::Unknown, Told::NotTheRest),
        Some(age_ms) => (Level::Unknown, Told::UnderWay { age_ms }),
        None if is_censored => (Level::Broken, Told::NotTheRest),
        None if may_be_several(row, &law) => (Level::Unknown, Told::AtATime),
        None => (Level::Broken, Told::Contradiction),
    };
    Some(Finding::of(row, level, Kind::LittlesLaw, words(row, &law, told)))
}

/// Whether a script that sends several requests at a time may have made the latency too high, where no command tells whether there
/// was one. wrk counts each of them, and takes the time of all of them together.
///
/// X x R is no whole number of times N then: to each time t of more than twice e = N / X wrk 4 adds t - e, t - 2e and so on, down to
/// e (`stats_correct`). Of d at a time the mean is (d + 2) / 2 times e where all take as long, less where what is added is quicker
/// than the quickest, and more where some take much longer. What remains is this:
/// - a time and what is added to it are t / 2 + e on average at most, and so is the mean: half of the maximum and e;
/// - all that is added is above e, and of d at a time it is so much that less than 1 / d of all times are not. Where half of all
///   are e or less, each was sent alone;
/// - a zero for a percentile is printed where added times are quicker than the quickest, which is above e then: none was sent alone.
fn may_be_several(row: &Row, law: &Law) -> bool {
    let is_told = row.tool != Tool::Wrk || row.timeout_from != TimeoutFrom::Tool;
    if is_told || law.ratio < 1.0 || law.ratio - law.slack > AT_A_TIME_MAX {
        return false;
    }
    row.zero_from.is_some() || interval_ms(row).is_none_or(|interval_ms| !is_refuted(row, law, interval_ms))
}

/// Whether the mean is one that wrk never tells of several at a time, or the median one of requests that were sent alone.
fn is_refuted(row: &Row, law: &Law, interval_ms: f64) -> bool {
    let is_too_high = row.max_ms.zip(row.mean_ms).is_some_and(|(max, mean)| {
        max.value >= 2.0 * interval_ms
            && mean.value - mean.step > f64::midpoint(max.value, max.step) + interval_ms
    });
    let median = row.percentiles_ms.iter().find(|(percent, _)| (*percent - 50.0).abs() < 0.01);
    let is_alone = median.is_some_and(|(_, time)| {
        law.implied_ms() >= INTERVAL_MIN * interval_ms
            && time.value + time.step <= MEDIAN_MAX * law.implied_ms()
    });
    is_too_high || is_alone
}

/// What wrk takes for N / X: the time of the run over the whole number of times that each connection was answered.
fn interval_ms(row: &Row) -> Option<f64> {
    let (requests, connections) = (row.requests?, u64::from(row.connections.filter(|it| *it > 0)?));
    let elapsed = row.elapsed_s.filter(|it| it.value > 0.0)?;
    let rounds = requests / connections;
    (rounds > 0).then(|| (elapsed.value + elapsed.step) * 1e3 / rounds as f64)
}

/// What there is to say of a gap.
#[derive(Clone, Copy)]
enum Told {
    /// Something innocent may make it.
    Innocent,
    /// What is left out may be all of it.
    TheRest,
    /// What is left out can't be all of it.
    NotTheRest,
    /// What was under way at the end may be all of it, so old on average.
    UnderWay { age_ms: f64 },
    /// A script that sends several requests at a time may make it.
    AtATime,
    /// Nothing can make it.
    Contradiction,
}

fn words(row: &Row, law: &Law, told: Told) -> String {
    let sum = format!(
        "{} users, but {} x {} = {} (x{:.2})",
        shown::count(law.users),
        shown::rate(law.rate_per_s),
        shown::time(law.mean_ms),
        shown::count(law.users * law.ratio),
        law.ratio
    );
    let implied = shown::time(law.implied_ms());
    let what = match told {
        Told::Innocent if row.may_wait => {
            "the command has a script, a delay or a connection a request, so users may wait between them or send several".into()
        }
        Told::Innocent => format!(
            "no more than connection set-up{} and the ends of the run may do",
            if row.tool == Tool::Wrk { ", samples that wrk adds after the run," } else { "" }
        ),
        Told::TheRest => format!(
            "{} of their time is not in the latency: {} of the requests failed or came late, and what goes by between \
             requests is the client's; N / X is {implied}",
            shown::percent(1.0 - law.ratio),
            shown::percent(left_out(row))
        ),
        Told::NotTheRest => format!(
            "the {} requests that failed or came late have kept as many users busy at most, and {} of {} are in no figure: \
             their requests were never answered, they had no connection, or the latency is too low; N / X is {implied}",
            shown::count(unseen(row)),
            in_no_figure(row, law),
            shown::count(law.users),
        ),
        Told::UnderWay { age_ms } => {
            format!("{}; by N / X it is {implied}", ended(row, "the requests that were", age_ms))
        }
        Told::AtATime if row.zero_from.is_some() => format!(
            "no command tells of a script, and one sent several requests at a time: not even the quickest answer came within N / \
             X = {implied}. wrk takes the time of all of them together, so that the mean of one is not known"
        ),
        Told::AtATime => format!(
            "nobody tells whether a script ran. One that sends several requests at a time makes it so: wrk takes the time of all \
             of them together. Without one the latency is too high: by Little's law the mean is {implied}"
        ),
        Told::Contradiction if law.ratio < 1.0 => format!(
            "{} of {} users are in no figure: so many were never answered or had no connection, or the latency is too low; if \
             all were served, the mean is N / X = {implied}",
            in_no_figure(row, law),
            shown::count(law.users),
        ),
        Told::Contradiction => format!(
            "the latency is too high for these requests: by Little's law the mean is {implied}{}",
            if row.tool == Tool::Wrk {
                "; wrk adds samples after the run for those it thinks it missed"
            } else {
                ""
            }
        ),
    };
    format!("{sum}: {what}")
}

/// Users that are in no figure.
fn in_no_figure(row: &Row, law: &Law) -> String {
    shown::count(law.users * (1.0 - law.ratio) - unseen_users(row))
}

/// What there is to say of requests that the end of the run may have cut off.
pub(super) fn ended(row: &Row, which: &str, age_ms: f64) -> String {
    format!(
        "{which} under way when the run{} ended are {}; {} each on average would be all of the rest. The mean is of the early \
         ones",
        run_s(row).map_or(String::new(), |run_s| format!(" of {}", shown::seconds(run_s))),
        // oha counts them.
        if row.tool == Tool::Oha { "not in the latency" } else { "in no figure" },
        shown::time(age_ms)
    )
}

/// How old what was under way at the end was on average, ms, if it is all of the share of the users' time that is `missing`;
/// `None` where it can't be, since that is longer than the mean of all. Where all users begin at once and are served in turn,
/// answers that come by the end of k such means have 1 - 1 / 2k of the users' time, and what is under way is half a mean old.
pub(super) fn under_way_ms(row: &Row, missing: f64, implied_ms: f64) -> Option<f64> {
    let age_ms = missing * run_s(row)? * 1e3;
    (age_ms <= implied_ms).then_some(age_ms)
}

/// How long it ran, where it was to run for a time and not for a number of requests.
pub(super) fn run_s(row: &Row) -> Option<f64> {
    let is_timed = matches!(row.tool, Tool::Wrk | Tool::Wrk2) || row.duration_s.is_some();
    row.elapsed_s.map(|it| it.value).or(row.duration_s).filter(|it| is_timed && *it > 0.0)
}

fn is_too_short(row: &Row, response_ms: f64) -> bool {
    run_s(row).is_some_and(|run_s| response_ms / 1e3 > run_s * RESPONSE_SHARE_MAX)
}

/// A run that is shorter than ten response times: of the longer of the mean that is told and the one that follows, where
/// late answers are left out of the former.
pub(super) fn too_short(row: &Row) -> Option<Finding> {
    let told = row.mean_ms.map(|it| it.value).filter(|_| !row.is_nan);
    let law = figures(row).filter(|law| row.tool == Tool::Wrk && !row.may_wait && law.ratio < 1.0);
    let followed = law.map(|law| law.implied_ms()).filter(|_| left_out(row) >= LEFT_OUT_MIN || row.is_nan);
    let (response_ms, of) = match (told, followed) {
        (told, Some(followed)) if told.is_none_or(|told| followed > told) => (followed, ", N / X,"),
        (told, _) => (told?, ""),
    };
    let run_s = run_s(row).filter(|_| is_too_short(row, response_ms))?;
    // Of a load that was not kept, the check of the offered rate says more: there the latency grows with the run.
    let is_overloaded = counts::is_overloaded(row);
    let is_cut_off = row.tool != Tool::Proofload && !row.tool.waits_at_the_end();
    if !is_cut_off || row.requests == Some(0) || is_overloaded {
        return None;
    }
    let text = format!(
        "the run of {} is shorter than ten response times of {}{of} each: what was under way at its end is a large part, and \
         {}",
        shown::seconds(run_s),
        shown::time(response_ms),
        // oha counts them.
        if row.tool == Tool::Oha { "in the rate, not in the latency" } else { "in neither rate nor latency" }
    );
    Some(Finding::of(row, Level::Unknown, Kind::TooShort, text))
}
