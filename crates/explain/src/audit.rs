//! Can the figures of a load be believed, and are they the server's?

use record::{Burst, LoadResult, Measured, Outcomes, WarmUp};
use stats::{BurstFigures, STEADY_JIT_SHARE_MAX, Steadiness, steadiness};
use units::Duration;

use crate::agents;
use crate::facts::{Context, Facts};
use crate::steps;
use crate::trend::{BOUNDS, is_trend, thirds, thirds_words};
pub(crate) use crate::validity::BUSY_SHARE_MAX;
use crate::validity::GENERATOR_LAG_P99_MAX;
pub use crate::validity::{Reason, ReasonKind, Validity};

/// Share of requests that may fail before the service counts as incorrect: one in a thousand. Fewer are lost
/// to the ends of a window and to a restart of anything; more are seen by users, and a server that fails fast
/// would win by failing.
pub(crate) const FAILED_SHARE_MAX: f64 = 0.001;
/// Share of the control's rate above which a rate is not the server's alone.
pub(crate) const CEILING_SHARE_MAX: f64 = 0.7;
/// Share of the CPU time in use that a JVM's compilers may take where there is no more of it: the rate would be so much higher without
/// them, which is how far bursts of a warm-up may lie apart that are called alike.
const COMPILING_SHARE_MAX: f64 = stats::STEADY_SWING_MAX;
/// How long answers may lie in the generator's own socket, at the median and at the 99th percentile: a
/// millisecond, which is what a slice of the scheduler costs now and then, or where the answers take longer than ten of them, this share of their time.
const RECEIVE_LAG_MAX: Duration = Duration::from_millis(1);
const RECEIVE_LAG_SHARE_MAX: f64 = 0.1;
/// |N − X·R| / N above which latency figures are not those of the requests made. The ends
/// of a window cancel out on average, so a steady load stays well within this; samples left out, counted
/// twice or dated wrongly do not.
const LITTLE_GAP_MAX: f64 = 0.05;
/// A window shorter than so many response times measures its own ends: with ten, what is under way at them
/// is a tenth of all requests at most.
const WINDOW_RESPONSE_TIMES_MIN: f64 = 10.0;
/// Share of the good answers of a window that had been due before it, from which its rate and its outcomes seem to contradict each
/// other.
const DUE_BEFORE_MIN: f64 = 0.1;
/// The name, in `connect_failures`, of `EADDRNOTAVAIL`: no port left, of the client.
pub(crate) const NO_PORT: &str = "no_free_port";
/// The same of `EMFILE` and `ENFILE`: no file descriptor left, of the client.
pub(crate) const NO_DESCRIPTOR: &str = "no_free_descriptor";
/// Percentiles that must not fall among censored samples. Those above are of so few requests that some lost
/// to the end of the window make them bounds; they print with their `>` and need no verdict.
const SEEN_PERCENTILES: [&str; 5] = ["p50", "p75", "p90", "p95", "p99"];

/// Audits a result.
pub fn audit(load: &LoadResult) -> Validity {
    let mut reasons: Vec<Reason> = [
        empty(load),
        interrupted(load),
        incorrect(load),
        unsent(load),
        censored(load),
        littles_law(load),
        too_short(load),
        ramp_not_over(load),
        client_bound(load),
        out_of_ports(load),
        out_of_descriptors(load),
        late_generator(load),
        late_receiver(load),
    ]
    .into_iter()
    .flatten()
    .chain(agents::reasons(load))
    .collect();
    reasons.sort_by_key(|reason| reason.kind);
    let verdict = reasons.first().map_or("valid", |reason| reason.kind.name());
    Validity { valid: reasons.is_empty(), verdict, reasons }
}

/// Audits a trial: its load, its warm-up, and its rate against `ceiling`, what the same client reached of the calibration
/// target in the control of its table, where that was asked as it was ([`crate::ceiling_of`]).
pub fn audit_trial(trial: &Measured, ceiling_per_s: Option<f64>) -> Validity {
    let Validity { mut reasons, .. } = audit(&trial.load);
    let is_client_bound = reasons.iter().any(|reason| is_short_of_cpu(reason, &trial.load));
    reasons.extend(near_the_ceiling(&trial.load, ceiling_per_s).filter(|_| !is_client_bound));
    reasons.extend(compiling(trial).or_else(|| not_steady(trial)));
    reasons.extend(two_levels(&trial.load));
    reasons.sort_by_key(|reason| reason.kind);
    let verdict = reasons.first().map_or("valid", |reason| reason.kind.name());
    Validity { valid: reasons.is_empty(), verdict, reasons }
}

/// What share a rate of this load is of what the client reached of the calibration target. The control asks over HTTP/1.1 without
/// TLS: of a load that speaks otherwise it says nothing, since TLS costs the client more a request, and streams what the server makes
/// them cost by how many answers it writes at once. Why there is no control of those: docs/decisions/0161-no-ceiling-over-tls-and-http2.md.
pub(crate) fn of_ceiling(load: &LoadResult, per_s: f64, ceiling_per_s: Option<f64>) -> Option<f64> {
    let ceiling = ceiling_per_s.filter(|it| load.is_plain_http1() && it.is_finite() && *it > 0.0)?;
    Some(per_s / ceiling)
}

fn near_the_ceiling(load: &LoadResult, ceiling_per_s: Option<f64>) -> Option<Reason> {
    let share = of_ceiling(load, load.goodput_per_s, ceiling_per_s)?;
    let ceiling = ceiling_per_s?;
    (share > CEILING_SHARE_MAX).then(|| {
        let text = format!(
            "{:.0} % of the {ceiling:.0}/s that the client reached of the calibration target: near its own limit a rate \
             is the client's as much as the server's; give the client cores of its own",
            share * 100.0
        );
        Reason { kind: ReasonKind::ClientBound, text }
    })
}

/// Compilers that take more than a small part of a CPU which is used up take it from the answers, of which code that is not yet compiled
/// needs more in addition. Of servers whose own cores are the fuller ones, it is a part of what these used: the client's are no use to
/// them.
fn compiling(trial: &Measured) -> Option<Reason> {
    // Without the cores that there are, nobody knows whether any were left.
    let context = Context { cores: trial.host.as_ref()?.cores as usize, ..Context::default() };
    let facts = Facts::of(trial, &context);
    let seen = compilers_cores(trial);
    let compilers = seen.or_else(|| last_compiled(trial))?;
    let (used, who) = match facts.fuller_own_cores() {
        Some(_) => (facts.servers_cores?, "the servers"),
        None => (facts.used_cores()?, "client and servers"),
    };
    (facts.is_short_of_cores() && compilers > COMPILING_SHARE_MAX * used).then(|| {
        let took = if seen.is_some() {
            format!("{compilers:.2} s a second, and {who} used {used:.2} cores, which is all there was")
        } else {
            format!("{compilers:.2} s a second in the last burst of the warm-up, and nobody looked later")
        };
        let text = format!(
            "the JVM's compilers were busy for {took}: once they are done, answers have them, and faster code; allow more bursts, or a \
             longer warm-up"
        );
        Reason { kind: ReasonKind::Compiling, text }
    })
}

/// Time a second that the compilers of all servers were busy, as far as anybody looked.
fn compilers_cores(trial: &Measured) -> Option<f64> {
    let behind = trial.upstreams.iter().map(|upstream| &upstream.server);
    let all = std::iter::once(&trial.server).chain(behind).filter_map(record::Server::compilers_cores);
    all.reduce(|sum, it| sum + it)
}

/// CPU time a second of compilers in the last burst of a warm-up that ended without being steady, for records that don't say what they
/// took later: they may have gone on.
fn last_compiled(trial: &Measured) -> Option<f64> {
    let warm_up = trial.warm_up.as_ref().filter(|warm_up| !warm_up.steady)?;
    warm_up.bursts.last()?.jit_share
}

/// A warm-up tells of the trial behind it. Of one that other loads came before, its own compilers and seconds tell.
fn not_steady(trial: &Measured) -> Option<Reason> {
    let warm_up = trial.warm_up.as_ref().filter(|warm_up| !warm_up.steady)?;
    let found = match (warm_up.loads_since.unwrap_or(0), compilers_cores(trial)) {
        // What kept it from being steady is over.
        (0, Some(compilers)) if compilers < STEADY_JIT_SHARE_MAX && is_for_compilers(warm_up) => return None,
        (0, _) => by_warm_up(warm_up),
        (loads, Some(compilers)) if compilers >= STEADY_JIT_SHARE_MAX => format!(
            "the JVM's compilers were still busy for {compilers:.2} s a second after {loads} more loads; allow more bursts, or \
             longer ones"
        ),
        (loads, None) if warm_up.bursts.iter().any(|burst| burst.jit_share.is_some()) => format!(
            "{}; {loads} more loads came before this one, and whether compilers were done by then nobody looked",
            by_warm_up(warm_up)
        ),
        (loads, _) => {
            format!("{}, after {loads} more loads; allow more bursts, or longer ones", trend(&trial.load)?)
        }
    };
    Some(Reason { kind: ReasonKind::NotSteady, text: found })
}

fn by_warm_up(warm_up: &WarmUp) -> String {
    let why = warm_up.unsteady_why.as_deref().unwrap_or("no reason was recorded");
    format!("after {} bursts: {why}; allow more bursts, or longer ones", warm_up.bursts.len())
}

/// Whether its bursts were alike, and compilers alone kept it from being steady.
fn is_for_compilers(warm_up: &WarmUp) -> bool {
    let figures =
        |burst: &Burst| BurstFigures { rate_per_s: burst.goodput_per_s, jit_share: burst.jit_share };
    let bursts: Vec<BurstFigures> = warm_up.bursts.iter().map(figures).collect();
    matches!(steadiness(&bursts), Steadiness::Compiling(_))
}

/// The trend of the rate over the window, where it has one.
fn trend(load: &LoadResult) -> Option<String> {
    let rates = steps::rates(&load.seconds);
    let (first, last) = thirds(&rates).filter(|_| !steps::has_ramp(load))?;
    is_trend(&rates, last / first - 1.0, &BOUNDS).then(|| thirds_words(first, last))
}

fn two_levels(load: &LoadResult) -> Option<Reason> {
    let text =
        format!("{}; warm up for longer, or measure each level by itself", steps::words(&steps::of(load)?));
    Some(Reason { kind: ReasonKind::TwoLevels, text })
}

fn empty(load: &LoadResult) -> Option<Reason> {
    if load.intended > 0 {
        return None;
    }
    // A count of requests holds for the warm-up as well, and a longer window brings no more of them.
    let is_counted = load.load.requests.is_some() || load.load.requests_per_user.is_some();
    let text = if load.interrupted {
        "no request was due within the window: it was ended before; run it again to its end"
    } else if is_counted && load.load.warm_up_s > 0.0 {
        "no request was due within the window: as many as were asked for were made in the warm-up; ask for more, or leave \
         the warm-up out"
    } else {
        "no request was due within the window; measure longer"
    };
    Some(Reason { kind: ReasonKind::Empty, text: text.into() })
}

fn interrupted(load: &LoadResult) -> Option<Reason> {
    if !load.interrupted {
        return None;
    }
    let text = match load.window.duration_s {
        seconds if seconds.is_finite() => format!(
            "it was ended after {seconds:.2} s of its window, and the figures are of that part alone; for those of the \
             whole, run it again to its end"
        ),
        _ => "it was ended before its time; run it again to its end".into(),
    };
    Some(Reason { kind: ReasonKind::Interrupted, text })
}

/// Whether a status, as a record has it, names another place to go to. Not all from 300 on do: 304 says that nothing is new.
pub fn leads_elsewhere(status: &str) -> bool {
    matches!(status, "301" | "302" | "303" | "307" | "308")
}

/// Requests for which the client could not connect by itself: the service was never asked.
pub(crate) fn unconnected_by_client(load: &LoadResult) -> u64 {
    let counts = [NO_PORT, NO_DESCRIPTOR].into_iter().filter_map(|name| load.connect_failures.get(name));
    counts.copied().fold(0, u64::saturating_add).min(load.outcomes.connect_failed)
}

fn out_of_ports(load: &LoadResult) -> Option<Reason> {
    let found = "no port to connect from (EADDRNOTAVAIL)";
    out_of(load, NO_PORT, found, "keep connections, or widen net.ipv4.ip_local_port_range")
}

fn out_of_descriptors(load: &LoadResult) -> Option<Reason> {
    let found = "the client without a file descriptor to connect with (EMFILE)";
    out_of(load, NO_DESCRIPTOR, found, "raise the client's limit of open files (ulimit -n)")
}

/// Requests that found no connection for want of what a client has so many of, and what to do.
fn out_of(load: &LoadResult, name: &str, found: &str, advice: &str) -> Option<Reason> {
    let count = *load.connect_failures.get(name)?;
    let share = count as f64 / load.intended.max(1) as f64;
    (share > FAILED_SHARE_MAX).then(|| {
        let text =
            format!("{count} of {} requests ({:.1} %) found {found}; {advice}", load.intended, share * 100.0);
        Reason { kind: ReasonKind::ClientBound, text }
    })
}

/// Whether a reason says that the client had no CPU left, and not that it had nothing to connect with.
pub(crate) fn is_short_of_cpu(reason: &Reason, load: &LoadResult) -> bool {
    let mut others = [out_of_ports(load), out_of_descriptors(load)].into_iter().flatten();
    reason.kind == ReasonKind::ClientBound && !others.any(|it| it == *reason)
}

fn incorrect(load: &LoadResult) -> Option<Reason> {
    // What never reached the service is no fault of its answers, nor is what nobody knows of, since a machine fell silent or
    // the load ended before; see `unsent`, `out_of`, `agents`, `interrupted` and `censored`.
    let outcomes = &load.outcomes;
    let unknown = outcomes.never_sent() + outcomes.lost + outcomes.in_flight;
    let of_client = unconnected_by_client(load);
    let asked = load.intended.saturating_sub(unknown + of_client);
    let bad = asked.saturating_sub(load.answered_as_expected);
    let share = bad as f64 / asked.max(1) as f64;
    if share <= FAILED_SHARE_MAX {
        return None;
    }
    let mut kinds: Vec<String> = outcomes
        .failures()
        .into_iter()
        .map(|(name, count)| (name, if name == "connect_failed" { count - of_client } else { count }))
        .filter(|(name, count)| {
            *count > 0 && !["unsent", "backlog_overflow", "lost", "in_flight"].contains(name)
        })
        .map(|(name, count)| format!("{count} {}", name.replace('_', " ")))
        .collect();
    let unexpected = outcomes.answered.saturating_sub(load.answered_as_expected);
    if unexpected > 0 {
        let elsewhere = load.statuses.iter().filter(|(code, _)| leads_elsewhere(code));
        let redirects = elsewhere.map(|(_, count)| *count).fold(0, u64::saturating_add);
        // Where redirects were expected, they are not among these, and users who have steps go where they lead.
        let followed_by_nobody = load.steps.is_empty() && (1..=unexpected).contains(&redirects);
        let which = if followed_by_nobody {
            format!(" ({redirects} redirects, which are not followed)")
        } else {
            String::new()
        };
        kinds.push(format!("{unexpected} answered otherwise than expected{which}"));
    }
    let text = format!(
        "{:.2} % of {asked} requests brought no good answer: {}; mend the request or the service, or load it less",
        share * 100.0,
        kinds.join(", ")
    );
    Some(Reason { kind: ReasonKind::IncorrectService, text })
}

/// Requests that were due and found no connection until the deadline, or not even room to wait for one: the rate asked
/// for was not kept, be it for the server's slowness or, if it is client-bound too, for the generator's.
fn unsent(load: &LoadResult) -> Option<Reason> {
    let Outcomes { unsent, backlog_overflow: dropped, .. } = load.outcomes;
    let of_all = |count: u64| 100.0 * count as f64 / load.intended.max(1) as f64;
    if of_all(load.outcomes.never_sent()) <= 100.0 * FAILED_SHARE_MAX {
        return None;
    }
    let all = load.intended;
    let late = format!(
        "{unsent} of {all} requests that were due ({:.2} %) found no connection until the deadline",
        of_all(unsent)
    );
    let overflow = format!(
        "{dropped} of {all} requests that were due ({:.2} %) were dropped, since as many as may wait for a connection were \
         waiting",
        of_all(dropped)
    );
    let found = match (unsent, dropped) {
        (_, 0) => late,
        (0, _) => overflow,
        _ => format!("{late}; {overflow}"),
    };
    // In the closed model more connections are more users.
    let advice = if load.load.rate_per_s.is_some() {
        "lower the rate, or give it more connections"
    } else {
        "load it with fewer users"
    };
    let text = format!("{found}; {advice}");
    Some(Reason { kind: ReasonKind::Unsent, text })
}

fn censored(load: &LoadResult) -> Option<Reason> {
    let bounds = &load.response_time_us.lower_bounds;
    let first = SEEN_PERCENTILES.into_iter().find(|name| bounds.iter().any(|it| it == name))?;
    let due_before = due_before_words(load).map_or_else(String::new, |words| format!("; {words}"));
    let text = format!(
        "{} of {} requests ended without an answer, so response times from {first} up are lower bounds{due_before}; mend \
         what keeps answers away, load it less, or wait longer for them",
        load.response_time_us.censored, load.response_time_us.count
    );
    Some(Reason { kind: ReasonKind::Censored, text })
}

/// Of a server that was behind with its load: that its rate is of other requests than its outcomes.
fn due_before_words(load: &LoadResult) -> Option<String> {
    let done = load.goodput_per_s * load.window.duration_s;
    let before = done - load.answered_as_expected as f64;
    (done.is_finite() && before >= (DUE_BEFORE_MIN * done).max(1.0)).then(|| {
        format!(
            "the rate is of what was done in the window: {done:.0} good answers, of which at most {} had been due in it",
            load.answered_as_expected
        )
    })
}

fn littles_law(load: &LoadResult) -> Option<Reason> {
    let law = load.littles_law.filter(|law| law.gap.is_finite())?;
    // In our own load a request is done and the next is due at one instant, so that only the ends of the window can break it; and
    // of these more is under way than is done where it has few response times.
    if load.driver.is_none() && fewer_than_response_times(load).is_some() {
        return None;
    }
    let under_way = law.throughput_per_s * law.mean_response_s;
    let unseen =
        if under_way < law.users { without_requests_share(load) + behind_the_end_share(load) } else { 0.0 };
    let most = LITTLE_GAP_MAX + unseen;
    if law.gap <= most {
        return None;
    }
    let why = match &load.driver {
        None if under_way < law.users => {
            "the others waited: for requests that were not done within the window, or to connect again; measure longer, or \
             let connections be kept"
                .to_owned()
        }
        None => {
            "the latency is not that of these requests; the rate stands, and for the times measure longer"
                .to_owned()
        }
        Some(driver) if under_way < law.users => {
            format!(
                "the others were busy in {0} itself, or with requests that it does not tell of; give {0} more cores, or \
                 make the load with Proofload",
                driver.name
            )
        }
        Some(driver) => format!(
            "the latency that {} tells is not that of these requests; the rate stands, and for the times make the load \
             with Proofload",
            driver.name
        ),
    };
    let text = format!(
        "{:.0} users, but {:.1}/s × {:.4} s = {under_way:.1}: {why}",
        law.users, law.throughput_per_s, law.mean_response_s
    );
    Some(Reason { kind: ReasonKind::LittlesLaw, text })
}

/// Share of the requests that were due in the window and done behind its end, one of each user at most: they have times, and the
/// rate within the window leaves them out. Of ten requests a user that is a tenth, of a thousand it is nothing.
fn behind_the_end_share(load: &LoadResult) -> f64 {
    let due = load.intended as f64;
    let behind = due - load.throughput_per_s * load.window.duration_s;
    // What another program leaves out is for it to say.
    if load.driver.is_none() && behind.is_finite() && behind > 0.0 {
        behind.min(f64::from(load.load.exchanges())) / due
    } else {
        0.0
    }
}

/// Share of the window in which users may have had nothing to ask: where all requests of a load that is bounded by their number
/// were made, users wait for the last answers, which takes no longer than the longest did.
fn without_requests_share(load: &LoadResult) -> f64 {
    let is_spent = load.load.requests.is_some_and(|asked| load.intended >= asked);
    let longest_us = load.response_time_us.max.filter(|it| is_spent && it.is_finite());
    let length_s = load.window.duration_s.max(f64::MIN_POSITIVE);
    let after_s = after_the_last_s(load).unwrap_or(f64::INFINITY);
    longest_us.map_or(0.0, |us| (us / 1e6).min(after_s) / length_s).min(1.0)
}

/// For how long at most nothing was left to be asked. When the last request is made, no more are under way than there are users:
/// so it was made no earlier than in the last second from which on more were done than that. `None` where the record can't tell:
/// of several threads each has requests of its own, as each user has who was given a number of them.
fn after_the_last_s(load: &LoadResult) -> Option<f64> {
    let is_of_one = load.load.threads == 1 && load.load.requests_per_user.is_none() && load.agents.is_empty();
    let (seconds, length_s) = (&load.seconds, load.window.duration_s);
    // Of a very long load not all seconds are kept.
    let last = seconds.last().filter(|it| is_of_one && it.from_s + it.length_s + 1.0 > length_s)?;
    let users = f64::from(load.load.exchanges());
    let mut done = 0.0;
    let before_the_last = seconds.iter().rev().find(|it| {
        done += (it.goodput_per_s + it.failures_per_s) * it.length_s;
        // Counts that were made rates are counts again to far less than one.
        done > users + 0.5
    });
    let from_s = before_the_last.map_or(0.0, |it| it.from_s);
    Some((length_s.max(last.from_s + last.length_s) - from_s).max(0.0))
}

fn too_short(load: &LoadResult) -> Option<Reason> {
    let text = fewer_than_response_times(load).or_else(|| fewer_than_a_turn(load))?;
    Some(Reason { kind: ReasonKind::TooShort, text })
}

/// What was due at the beginning of a window in which nothing else was due makes no rate.
fn fewer_than_a_turn(load: &LoadResult) -> Option<String> {
    let rate = load.load.rate_per_s.filter(|it| it.is_finite() && *it > 0.0)?;
    let at_once: u32 = match load.load.arrivals.as_deref()? {
        "constant" => 1,
        // Of those by chance nobody knows when the next is.
        other => other.strip_prefix("bursts of ")?.parse().ok()?,
    };
    let turn_s = f64::from(at_once) / rate;
    let length_s = Some(load.window.duration_s).filter(|length| length.is_finite())?;
    let is_counted = load.load.requests.is_some() || load.load.duration_s.is_none();
    let what = if at_once == 1 { "a request" } else { "a burst" };
    (length_s < turn_s && !is_counted).then(|| {
        format!("{length_s:.1} s, and at this rate {what} is due each {turn_s:.1} s; measure longer")
    })
}

fn fewer_than_response_times(load: &LoadResult) -> Option<String> {
    // Of the two, another driver tells the latter only; in a closed model they are much the same.
    let mean_us = load.response_time_us.mean.or(load.service_time_us.mean);
    let mean_s = mean_us.filter(|mean| mean.is_finite())? / 1e6;
    let length_s = Some(load.window.duration_s).filter(|length| length.is_finite())?;
    let short = length_s < WINDOW_RESPONSE_TIMES_MIN * mean_s;
    // A load that is bounded by a count of requests or iterations has no window to be cut by.
    if !short || load.load.requests.is_some() || load.load.duration_s.is_none() {
        return None;
    }
    Some(format!(
        "{length_s:.1} s are fewer than {WINDOW_RESPONSE_TIMES_MIN} response times of {mean_s:.2} s; measure longer"
    ))
}

fn ramp_not_over(load: &LoadResult) -> Option<Reason> {
    let ramp_s = load.load.ramp_up_s?;
    let users = f64::from(load.load.exchanges());
    // The last user starts one step before the ramp's end.
    let last_starts_s = ramp_s * (users - 1.0) / users;
    let ended_s = load.load.warm_up_s + load.window.duration_s;
    (ended_s < last_starts_s).then(|| {
        let text = format!(
            "it ended after {ended_s:.1} s, and the last user would have started after {last_starts_s:.1} s; \
             measure longer, or shorten the ramp-up"
        );
        Reason { kind: ReasonKind::RampNotOver, text }
    })
}

fn client_bound(load: &LoadResult) -> Option<Reason> {
    if !load.agents.is_empty() {
        // Which of them was, is said of each.
        return None;
    }
    let busy = Some(load.generator.busy_share).filter(|busy| *busy > BUSY_SHARE_MAX && busy.is_finite())?;
    let percent = busy * 100.0;
    let text = match &load.driver {
        None => format!(
            "a load thread was busy {percent:.0} % of the time: the rate may be the generator's limit and not the \
             server's; try more --threads on free cores"
        ),
        Some(driver) => format!(
            "{} was busy {percent:.0} % of what its load threads or its {} cores give, and used {:.2} cores: the rate \
             may be its limit and not the server's; give it more cores and threads for them, or make the load with Proofload",
            driver.name,
            driver.cores,
            driver.cpu_cores.unwrap_or(0.0)
        ),
    };
    Some(Reason { kind: ReasonKind::ClientBound, text })
}

fn late_generator(load: &LoadResult) -> Option<Reason> {
    // Of few samples what it surely exceeds, and not the slowest of them.
    let (p99_us, _) = load.generator_lag_us.told("p99")?;
    if p99_us <= GENERATOR_LAG_P99_MAX.as_micros_f64() {
        return None;
    }
    let p99 = Duration::from_nanos((p99_us * 1e3) as u64);
    let text = format!(
        "one request in a hundred went out more than {p99} late by the generator's own fault; load less, or give it free \
         cores and threads for them"
    );
    Some(Reason { kind: ReasonKind::LateGenerator, text })
}

fn late_receiver(load: &LoadResult) -> Option<Reason> {
    let (lag, service) = (&load.receive_lag_us, &load.service_time_us);
    let (name, lag_us, service_us) = [("p50", service.p50), ("p99", service.p99)]
        .into_iter()
        // Of few samples what the lag surely exceeds, and not the slowest of them.
        .filter_map(|(name, service_us)| Some((name, lag.told(name)?.0, service_us?)))
        .find(|(_, lag_us, service_us)| {
            *lag_us > RECEIVE_LAG_MAX.as_micros_f64().max(service_us * RECEIVE_LAG_SHARE_MAX)
        })?;
    let shown = |us: f64| Duration::from_nanos((us * 1e3) as u64);
    let text = format!(
        "answers lay in the generator's own socket for {} at {name}, of a service time of {} there; the times are \
         the generator's as much as the server's: load less, or give it more cores",
        shown(lag_us),
        shown(service_us)
    );
    Some(Reason { kind: ReasonKind::LateReceiver, text })
}
