//! Whether the slow seconds of a load are those in which pauses of a JVM's collections ended.
//!
//! An answer is counted in the second in which it is done, and one that a pause held up is done behind it. So a pause is laid beside
//! the second in which it ended, the whole of it.
//!
//! That two things come in the same seconds makes neither of them the cause of the other. More than the figures is said only where
//! chance does as much in one of a hundred windows at most; and then that the two go together, whether the pauses are long enough
//! for it, and what would tell.

use std::collections::BTreeMap;
use std::fmt;

use record::{GcPauses, Measured, PausedSecond, Second};
use units::Duration;

use crate::facts::SECOND_S_MIN;
use crate::usable::median;

/// A second longer than this is several of which a load thread told at once: it has more pauses by itself, and a client that was late.
const SECOND_S_MAX: f64 = 1.5;
/// Seconds on either side of one that say what is usual around it, at most.
const AROUND_MAX: usize = 5;
/// The fewest seconds with pauses, and without, of which a typical one can be told: one in the middle.
const SIDE_MIN: usize = 3;
/// How often chance may do what is called no chance: in one window of a hundred, as of trends and steps.
const CHANCE_MAX: f64 = 0.01;
/// By how much a second with pauses is slower at least to be called so: a tenth, from which on a cause counts here at all.
const SLOWER_MIN: f64 = 0.1;
/// How many times as long as its pauses a second's times may be longer than others'. Nobody waits for a pause for longer than it
/// takes; but threads take a moment to come to a stop, which no collector counts, and what piled up meanwhile is not served in order.
const HELD_UP_MAX: f64 = 2.0;
/// Share of the seconds that are called the slowest, and how many are at least.
const SLOWEST_SHARE: f64 = 0.1;
const SLOWEST_MIN: usize = 3;

/// How the response times of a load and the pauses for collections of each JVM among its servers go together, second by second, in
/// sentences. None where no pause was seen to end, and of records of versions that did not look.
pub fn beside_pauses(trial: &Measured) -> Vec<String> {
    let behind = trial.upstreams.iter().map(|it| (Some(it.stack.as_str()), &it.server));
    let servers = std::iter::once((None, &trial.server)).chain(behind);
    let told = servers.filter_map(|(of, server)| {
        let pauses = server.signals.as_ref()?.gc_pauses.as_ref()?;
        told(&laid_beside(&trial.load.seconds, pauses), of)
    });
    told.flatten().collect()
}

/// A second of the load, and the pauses that ended in it.
#[derive(Debug, Clone, Copy)]
struct Beside<'a> {
    second: &'a Second,
    pauses: PausedSecond,
}

impl Beside<'_> {
    fn has_pause(&self) -> bool {
        self.pauses.least_s > 0.0
    }

    /// Whether it is not known if a pause ended in it or in the one next to it.
    fn is_open(&self) -> bool {
        !self.has_pause() && self.pauses.most_s > 0.0
    }
}

/// Those of the seconds that were watched and can be held against each other.
fn laid_beside<'a>(seconds: &'a [Second], pauses: &GcPauses) -> Vec<Beside<'a>> {
    let ended: BTreeMap<u32, PausedSecond> = pauses.ended.iter().map(|it| (it.second, *it)).collect();
    let watched = (0..pauses.seconds).zip(seconds).filter(|(_, second)| is_comparable(second));
    let of = |(at, second): (u32, &'a Second)| {
        let pauses = ended.get(&at).copied().unwrap_or_default();
        Beside { second, pauses }
    };
    watched.map(of).collect()
}

fn is_comparable(second: &Second) -> bool {
    let is_one = (SECOND_S_MIN..=SECOND_S_MAX).contains(&second.length_s);
    is_one && second.p99_us.is_some_and(|us| us.is_finite() && us > 0.0)
}

/// How long something took, or took at least.
#[derive(Debug, Clone, Copy)]
struct Time {
    us: f64,
    is_lower_bound: bool,
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.is_lower_bound { ">" } else { "" };
        write!(f, "{mark}{}", Duration::from_nanos((self.us * 1e3) as u64))
    }
}

/// A figure of a second. Where few of all requests are under way at a time, as of few users who are answered soon, a pause shows in
/// the longest answer alone.
struct Figure {
    name: &'static str,
    of: fn(&Second) -> Option<Time>,
}

const FIGURES: &[Figure] =
    &[Figure { name: "99th percentile", of: ninety_ninth }, Figure { name: "longest answer", of: longest }];

fn ninety_ninth(second: &Second) -> Option<Time> {
    second.p99_us.map(|us| Time { us, is_lower_bound: second.p99_is_lower_bound })
}

fn longest(second: &Second) -> Option<Time> {
    second.max_us.map(|us| Time { us, is_lower_bound: second.max_is_lower_bound })
}

/// A figure of typical seconds without pauses, and with them.
struct Look {
    figure: &'static Figure,
    without: Time,
    with: Time,
}

impl Look {
    /// `None` where there are no such seconds, or where the figure is not known of all.
    fn at(figure: &'static Figure, all: &[Beside<'_>]) -> Option<Self> {
        let typical = |has_pause: bool| {
            let of_kind = all.iter().filter(|it| it.has_pause() == has_pause);
            let mut times = of_kind.map(|it| (figure.of)(it.second)).collect::<Option<Vec<Time>>>()?;
            times.sort_by(|a, b| a.us.total_cmp(&b.us));
            times.get(times.len() / 2).copied()
        };
        Some(Self { figure, without: typical(false)?, with: typical(true)? })
    }

    /// How often chance alone would make seconds with pauses as slow, each held against those around it.
    fn chance(&self, all: &[Beside<'_>]) -> f64 {
        let times: Vec<f64> =
            all.iter().filter_map(|it| (self.figure.of)(it.second)).map(|it| it.us).collect();
        let apart = from_usual(&times);
        let of_kind = |has_pause: bool| -> Vec<f64> {
            let both = all.iter().zip(&apart).filter(|(it, _)| it.has_pause() == has_pause);
            both.filter_map(|(_, apart)| *apart).collect()
        };
        stats::rank_sum_p_above(&of_kind(false), &of_kind(true))
    }

    fn words(&self) -> String {
        let Self { figure, without, with } = self;
        let name = figure.name;
        format!("{name} of a second without pauses {without}, of one with {with} (medians)")
    }

    /// What follows, where chance does as much so often and pauses take so long of a second that has any.
    fn outcome(&self, chance: f64, paused: Duration) -> String {
        let p = if chance < 0.001 { "< 0.001".to_owned() } else { format!("= {chance:.3}") };
        let together = format!("slow seconds and pauses go together (p {p})");
        let longer_us = self.with.us - self.without.us;
        if chance > CHANCE_MAX {
            format!("nothing shows that {together}")
        } else if longer_us < SLOWER_MIN * self.without.us {
            format!("{together}, but such a second hardly differs from others")
        } else if longer_us > HELD_UP_MAX * paused.as_micros_f64() {
            format!(
                "{together}, but pauses took {paused} of such a second and it is slower by more than twice that: look for \
                 what comes with them"
            )
        } else {
            format!(
                "{together}, and pauses are long enough for that; a larger heap or another collector would tell whether \
                 they are why"
            )
        }
    }
}

/// How far each time is from the median of those around it, as a logarithm: a load that becomes faster or slower as a whole makes no
/// second of it slow. As many count on either side, so of the first and of the last there is none.
fn from_usual(times: &[f64]) -> Vec<Option<f64>> {
    let logarithms: Vec<f64> = times.iter().map(|us| us.max(f64::MIN_POSITIVE).ln()).collect();
    let last = logarithms.len().saturating_sub(1);
    let apart = |at: usize| {
        let reach = AROUND_MAX.min(at).min(last - at);
        let (before, after) = (&logarithms[at - reach..at], &logarithms[at + 1..=at + reach]);
        Some(logarithms[at] - median(&[before, after].concat())?)
    };
    (0..logarithms.len()).map(apart).collect()
}

fn told(all: &[Beside<'_>], of: Option<&str>) -> Option<Vec<String>> {
    let (open, all): (Vec<Beside<'_>>, Vec<Beside<'_>>) = all.iter().copied().partition(Beside::is_open);
    let paused: Vec<f64> = all.iter().filter(|it| it.has_pause()).map(|it| it.pauses.most_s).collect();
    let paused = Duration::from_secs_f64(median(&paused)?);
    let mut lines = vec![where_they_ended(&all, of)];
    if !open.is_empty() {
        let count = open.len();
        lines.push(format!("not compared: {count} s at an end of which a pause may lie on either side"));
    }
    let looks: Vec<Look> = FIGURES.iter().filter_map(|figure| Look::at(figure, &all)).collect();
    if let Some(why) = too_few(&all, looks.len()) {
        lines.extend(looks.iter().map(Look::words));
        lines.push(why.to_owned());
    } else {
        let chances: Vec<f64> = looks.iter().map(|look| look.chance(&all)).collect();
        let outcomes = looks.iter().zip(stats::holm(&chances));
        lines.extend(outcomes.map(|(look, p)| format!("{}; {}", look.words(), look.outcome(p, paused))));
    }
    Some(lines)
}

/// In how many seconds pauses ended, and in how many of the slowest.
fn where_they_ended(all: &[Beside<'_>], of: Option<&str>) -> String {
    let has_pause = |part: &[Beside<'_>]| part.iter().filter(|it| it.has_pause()).count();
    let took =
        |part: &[Beside<'_>]| Duration::from_secs_f64(part.iter().map(|it| it.pauses.least_s).sum::<f64>());
    let whose = of.map_or_else(String::new, |stack| format!(" of {stack}"));
    let (with, count, sum) = (has_pause(all), all.len(), took(all));
    let begins = format!("pauses of collections{whose} ended in {with} of {count} s, {sum} in all");
    let slowest = slowest(all);
    let most = slowest.len();
    match has_pause(&slowest) {
        0 => format!("{begins}, and in none of the {most} slowest"),
        some => format!("{begins}, and in {some} of the {most} slowest, {} of it", took(&slowest)),
    }
}

fn slowest<'a>(all: &[Beside<'a>]) -> Vec<Beside<'a>> {
    let mut slowest = all.to_vec();
    let p99 = |it: &Beside<'_>| it.second.p99_us.unwrap_or(0.0);
    slowest.sort_by(|a, b| p99(b).total_cmp(&p99(a)));
    slowest.truncate(SLOWEST_MIN.max((SLOWEST_SHARE * all.len() as f64).ceil() as usize));
    slowest
}

/// Why so few seconds can't show that pauses make them slow, however they came out; so many figures are looked at.
fn too_few(all: &[Beside<'_>], figures: usize) -> Option<&'static str> {
    // The first and the last have nothing on one side: see `from_usual`.
    let held = all.get(1..all.len().saturating_sub(1)).unwrap_or_default();
    let with = held.iter().filter(|it| it.has_pause()).count();
    let without = held.len() - with;
    // One-sided: half of what both sides come to.
    let least = figures as f64 * stats::least_rank_sum_p(with, without) / 2.0;
    let is_enough = with.min(without) >= SIDE_MIN && least <= CHANCE_MAX;
    let why = if with <= without {
        "could not tell whether slow seconds and pauses go together: too few seconds have a pause"
    } else {
        "could not tell whether slow seconds and pauses go together: too few seconds have none"
    };
    (!is_enough).then_some(why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_usual_is_the_middle_of_as_many_on_either_side() {
        // What is twice as fast each second has no slow one; the first and the last are held against nobody.
        let apart = from_usual(&[8.0, 4.0, 2.0, 1.0]);
        assert!(apart[0].is_none() && apart[3].is_none());
        assert!(apart[1..3].iter().flatten().all(|it| it.abs() < 1e-9), "{apart:?}");
        let one_slow = from_usual(&[2.0, 2.0, 6.0, 2.0, 2.0]);
        let slow = one_slow[2].unwrap();
        assert!((slow - 3.0_f64.ln()).abs() < 1e-9, "{one_slow:?}");
        assert_eq!(from_usual(&[1.0]), [None]);
        assert!(from_usual(&[]).is_empty());
    }
}
