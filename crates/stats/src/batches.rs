//! What is known of a service from one load: figures with intervals that count on requests being alike for a while.
//!
//! Requests of a load are no independent draws: a collection, a stall or a neighbour is met by many at once. So a load is cut
//! into batches, stretches of some seconds, and what differs between them says how much a figure would differ from load
//! to load (batch means; Schmeiser 1982, "Batch Size Effects in the Analysis of Simulation Output"). What neighbours
//! have in common is taken into account. How often such intervals miss the truth is simulated (`batches/simulation.rs`).

mod series;
mod share;
#[cfg(test)]
mod simulation;

use units::Duration;

use self::series::Series;
pub use self::share::{BATCHES_MIN, Part};
use self::share::{independent_count, shares_around};
use crate::distribution::{Distribution, samples_needed};
use crate::interval::Interval;
use crate::probability::student_above;
use crate::rank_bounds::{RankBounds, rank_bounds};

/// Batches at most: more of them know hardly more, and cost memory.
const BATCHES_MAX: usize = 40;
/// The shortest batch.
const SECOND: Duration = Duration::from_secs(1);
/// A last batch with less than this share of what others have goes to the one before it: it is a rest.
const REST_MAX: f64 = 0.5;

/// A time so many times as long as all that were seen, or as short, is not taken for one of the service's.
const FAR: u64 = 2;

/// A figure of a load, and between what the service's own lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimated {
    /// As it was in this load.
    pub value: f64,
    /// Whether it is only a lower bound, since it falls among requests that nobody saw the end of.
    pub is_lower_bound: bool,
    /// The lower end; `None` where so little was measured that none is known.
    pub low: Option<f64>,
    /// The upper end, likewise.
    pub high: Option<f64>,
}

impl Estimated {
    /// A figure that is what it is: of this load, and no estimate of anything else.
    pub const fn exactly(value: f64) -> Self {
        Self { value, is_lower_bound: false, low: Some(value), high: Some(value) }
    }
}

/// A load in stretches of time, of whole seconds and at most [`BATCHES_MAX`]: they grow with the load.
#[derive(Debug, Clone, PartialEq)]
pub struct Batches {
    seconds_each: u64,
    batches: Vec<Batch>,
}

#[derive(Debug, Clone, PartialEq, Default)]
struct Batch {
    response: Distribution,
    failed: u64,
    /// Of those, the ones that waited for a connection when the load ended: they are told of all at once, whenever they were due.
    never_sent: u64,
}

impl Default for Batches {
    fn default() -> Self {
        Self { seconds_each: 1, batches: Vec::new() }
    }
}

impl Batches {
    /// Adds what happened in an interval that began `from` after the load's start.
    pub fn add(&mut self, from: Duration, interval: &Interval) {
        let second = (from + SECOND / 2).as_nanos() / SECOND.as_nanos();
        while second / self.seconds_each >= BATCHES_MAX as u64 {
            self.halve();
        }
        let place = (second / self.seconds_each) as usize;
        if place >= self.batches.len() {
            self.batches.resize_with(place + 1, Batch::default);
        }
        let batch = &mut self.batches[place];
        batch.response.merge(&interval.times.response);
        batch.failed += interval.tally.intended.saturating_sub(interval.tally.answered_as_expected);
        batch.never_sent += interval.tally.unsent;
    }

    /// Makes one of every two.
    fn halve(&mut self) {
        self.seconds_each *= 2;
        let mut halved: Vec<Batch> = Vec::with_capacity(BATCHES_MAX);
        for (place, batch) in std::mem::take(&mut self.batches).into_iter().enumerate() {
            match halved.get_mut(place / 2) {
                Some(into) => into.add(&batch),
                None => halved.push(batch),
            }
        }
        self.batches = halved;
    }

    /// As they are judged: without empty ones, and a rest with those before it.
    fn whole_ones(&self) -> Vec<Batch> {
        let mut whole: Vec<Batch> = self.batches.iter().filter(|it| it.requests() > 0).cloned().collect();
        let all: u64 = whole.iter().map(Batch::requests).sum();
        let rest_max = REST_MAX * all as f64 / whole.len().max(1) as f64;
        while whole.len() > 1 && whole.last().is_some_and(|last| (last.requests() as f64) < rest_max) {
            let rest = whole.pop().unwrap_or_default();
            if let Some(last) = whole.last_mut() {
                last.add(&rest);
            }
        }
        whole
    }

    /// How many there are that hold requests.
    pub fn count(&self) -> usize {
        self.whole_ones().len()
    }

    /// A percentile of response time, µs: between order statistics of as many requests as would tell as much if each came by
    /// itself (Woodruff 1952, "Confidence Intervals for Medians and Other Position Measures"). Beyond each end lies the
    /// service's own with a probability of `tail` at most. What was seen in one batch alone is no evidence that it comes again:
    /// the lower end is no higher than the figure of the others. `None` without requests.
    pub fn percentile(&self, quantile: f64, tail: f64) -> Option<Estimated> {
        let batches = self.whole_ones();
        let whole = merged(&batches);
        let seen = whole.quantile(quantile)?;
        let parts: Vec<Part> = batches.iter().map(|it| it.longer_than(seen.value)).collect();
        let (low, high) = match independent_count(&parts, tail) {
            None => (None, None),
            Some(independent) => {
                let independent = (independent as u64).max(1);
                let RankBounds { low, high } = rank_bounds(quantile, independent, tail);
                let of_whole = |rank: u64| rank as f64 / independent as f64 * whole.count() as f64;
                let of_others = without_worst(&batches, &parts, quantile);
                let at_most = |low: Duration| of_others.map_or(low, |others| low.min(others));
                (
                    low.map(|it| at_most(whole.between(of_whole(it - 1) as u64 + 1).0)),
                    high.and_then(|it| whole.between((of_whole(it).ceil() as u64).min(whole.count())).1),
                )
            }
        };
        let us = |time: Duration| time.as_micros_f64();
        Some(Estimated {
            value: us(seen.value),
            is_lower_bound: seen.is_lower_bound,
            low: low.into_iter().chain(far_below(&batches, &whole, quantile)).max().map(us),
            high: high.into_iter().chain(far_above(&batches, &whole, quantile)).min().map(us),
        })
    }

    /// The mean response time, µs; as [`Batches::percentile`]. Without an upper end where one was not seen to its end.
    pub fn mean(&self, tail: f64) -> Option<Estimated> {
        let batches = self.whole_ones();
        let seen = merged(&batches).mean()?;
        let value = seen.value.as_micros_f64();
        let count = batches.iter().map(Batch::requests).sum::<u64>() as f64;
        let of_batch = |it: &Batch| {
            let mean = it.response.mean().map_or(0.0, |mean| mean.value.as_micros_f64());
            (mean - value) * it.requests() as f64
        };
        let within = (batches.len() >= BATCHES_MIN).then(|| {
            let series = Series::of(&batches.iter().map(of_batch).collect::<Vec<f64>>());
            student_above(tail, series.freedom()) * libm::sqrt(series.variance_of_sum()) / count
        });
        Some(Estimated {
            value,
            is_lower_bound: seen.is_lower_bound,
            low: within.map(|it| (value - it).max(0.0)),
            high: within.filter(|_| !seen.is_lower_bound).map(|it| value + it),
        })
    }

    /// The share of requests that were not answered as expected; as [`Batches::percentile`].
    pub fn failed_share(&self, tail: f64) -> Option<Estimated> {
        share_of(&self.failed_parts(), tail)
    }

    /// The requests of each batch, and those of them that failed. What waits for a connection when the load ends is given up in one
    /// instant, and became more for as long as less was done than was due: of it each batch up to there has as much as it falls
    /// short of the mean of all. What was done later is a rest.
    fn failed_parts(&self) -> Vec<Part> {
        let end = (0..self.batches.len()).max_by_key(|place| self.batches[*place].never_sent);
        let (within, later) = self.batches.split_at(end.map_or(0, |place| place + 1));
        let never_sent: u64 = within.iter().map(|it| it.never_sent).sum();
        if never_sent == 0 {
            let part = |it: &Batch| Part { found: it.failed, all: it.requests() };
            return self.whole_ones().iter().map(part).collect();
        }
        let sent = |it: &Batch| it.requests().saturating_sub(it.never_sent);
        let all: u64 = within.iter().map(Batch::requests).sum();
        let mean = all as f64 / within.len() as f64;
        let short: Vec<f64> = within.iter().map(|it| (mean - sent(it) as f64).max(0.0)).collect();
        let short_in_all = short.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let (mut up_to_here, mut given): (f64, u64) = (0.0, 0);
        let part = |(batch, short): (&Batch, &f64)| {
            up_to_here += short / short_in_all;
            // Whole requests, of which none is lost.
            let with_this = ((up_to_here * never_sent as f64).round() as u64).clamp(given, never_sent);
            let own = with_this - given;
            given = with_this;
            Part { found: batch.failed.saturating_sub(batch.never_sent) + own, all: sent(batch) + own }
        };
        let mut parts: Vec<Part> = within.iter().zip(&short).map(part).collect();
        if let Some(last) = parts.last_mut() {
            for batch in later {
                last.found += batch.failed;
                last.all += batch.requests();
            }
        }
        parts
    }
}

impl Batch {
    fn add(&mut self, other: &Self) {
        self.response.merge(&other.response);
        self.failed += other.failed;
        self.never_sent += other.never_sent;
    }

    fn requests(&self) -> u64 {
        self.response.count()
    }

    fn longer_than(&self, bound: Duration) -> Part {
        Part { found: self.response.at_bounds_longer_than(bound), all: self.requests() }
    }
}

/// Where a quantile is taken to lie below: far beyond the longest of as many as tell of it. This is an assumption and no
/// theorem. Without it a service whose seconds differ by microseconds could be told from nothing: its requests seem to be so
/// much alike that there are hardly more independent ones than seconds.
fn far_above(batches: &[Batch], whole: &Distribution, quantile: f64) -> Option<Duration> {
    let are_enough = batches.len() >= BATCHES_MIN && whole.count() >= samples_needed(quantile);
    whole.max().filter(|it| are_enough && !it.is_lower_bound).map(|it| it.value * FAR)
}

/// Where it is taken to lie above, likewise.
fn far_below(batches: &[Batch], whole: &Distribution, quantile: f64) -> Option<Duration> {
    let are_enough = batches.len() >= BATCHES_MIN && whole.count() >= samples_needed(1.0 - quantile);
    whole.min().filter(|_| are_enough).map(|shortest| shortest / FAR)
}

/// A quantile of all batches but the one with the largest share of `parts`. `None` where nothing is left.
fn without_worst(batches: &[Batch], parts: &[Part], quantile: f64) -> Option<Duration> {
    let share = |place: &usize| parts[*place].share();
    let worst = (0..parts.len()).max_by(|a, b| share(a).total_cmp(&share(b)))?;
    let others: Vec<Batch> =
        batches.iter().enumerate().filter(|(place, _)| *place != worst).map(|(_, it)| it.clone()).collect();
    Some(merged(&others).quantile(quantile)?.value)
}

fn merged(batches: &[Batch]) -> Distribution {
    let mut whole = Distribution::default();
    for batch in batches {
        whole.merge(&batch.response);
    }
    whole
}

/// The share of requests that are of a kind, from parts of a load, or of a run, that may differ. Beyond each end lies the
/// true one with a probability of `tail` at most; without ends of fewer parts than [`BATCHES_MIN`]. `None` without requests.
pub fn share_of(parts: &[Part], tail: f64) -> Option<Estimated> {
    let whole = Part::sum(parts);
    if whole.all == 0 {
        return None;
    }
    let value = whole.share();
    let ends = independent_count(parts, tail).map(|count| shares_around(value * count, count, tail));
    let (low, high) = ends.unzip();
    Some(Estimated { value, is_lower_bound: false, low, high })
}

/// The mean of values of stretches of time of equal length, such as rates; as [`share_of`].
pub fn mean_of(values: &[f64], tail: f64) -> Option<Estimated> {
    let count = values.len();
    if count == 0 {
        return None;
    }
    let value = values.iter().sum::<f64>() / count as f64;
    // As few as batches are: long stretches have less in common with their neighbours. Each value is in one, the last ones too.
    let stretches = count / count.div_ceil(BATCHES_MAX);
    let edge = |index: usize| index * count / stretches;
    let off = |index: usize| values[edge(index)..edge(index + 1)].iter().map(|it| it - value).sum::<f64>();
    let within = (stretches >= BATCHES_MIN).then(|| {
        let series = Series::of(&(0..stretches).map(off).collect::<Vec<f64>>());
        student_above(tail, series.freedom()) * libm::sqrt(series.variance_of_sum()) / count as f64
    });
    let (low, high) = (within.map(|it| value - it), within.map(|it| value + it));
    Some(Estimated { value, is_lower_bound: false, low, high })
}
