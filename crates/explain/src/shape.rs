//! Whether answers under load took as long as an idle server's, rank by rank: what is left to be said where times differ so
//! much that a hundred of them do not tell their mean.
//!
//! Where requests wait for each other, it shows at either end. If all wait, nobody is as fast as without waiting: of two
//! distributions with the same spread the fast ends are the further apart, by what they are of. If some wait, for what only they
//! need, the slow end is longer. So the quantiles of both ends are held against where those of the idle server lie
//! ([`record::QuantileBounds`]), and what is slower than all that an idle server showed may not be most of the time.

use record::{Bounds, IdleAnswers, LoadResult};

/// How far beyond its bounds a quantile may lie: a tenth, which timers and the threads of a busy server add to what nobody waits
/// for, and which is no queue.
const OFF_MAX: f64 = 0.1;
/// What everybody may have waited, as far as these answers tell, as a share of the mean answer under load, up to which nobody
/// waits for anybody: a fifth more users than are served, at most.
const WAITED_SHARE_MAX: f64 = 0.2;
/// Share of all time that may go to what is slower than nearly all answers. Beyond a half, what those few do decides the rate,
/// and a hundred answers of an idle server do not show them. Of a Pareto distribution whose mean is just known (exponent 1.5) it
/// is 37 %, of an exponential one 20 %.
const SLOWEST_SHARE_MAX: f64 = 0.5;
/// How sure it is that the longest of some answers lies above a quantile, for the load's to be held against it.
const LONGEST_ABOVE: f64 = 0.95;

/// What is left to be said of a load whose answers took as long as an idle server's.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Alike {
    /// What everybody may have waited at most, as a share of the mean answer.
    pub(crate) waited_share_max: f64,
}

/// Whether they took as long; `None` where they did not, or where nobody knows.
pub(crate) fn alike(idle: &IdleAnswers, load: &LoadResult) -> Option<Alike> {
    let (bounds, loaded) = (idle.bounds?, Loaded::of(load)?);
    let quantiles = [
        (loaded.p10, bounds.p10_us),
        (loaded.p25, bounds.p25_us),
        (loaded.p50, bounds.p50_us),
        (loaded.p75, bounds.p75_us),
        (loaded.p90, bounds.p90_us),
        (loaded.p95, bounds.p95_us),
    ];
    let is_as_slow = loaded.nearly_all(idle.count)? <= idle.longest_us * (1.0 + OFF_MAX);
    let waited_us = quantiles.iter().map(|(us, (low, _))| us - low.unwrap_or(0.0)).fold(f64::MAX, f64::min);
    let waited_share_max = (waited_us / loaded.mean).max(0.0);
    let is_alike = quantiles.into_iter().all(is_within)
        && is_as_slow
        && waited_share_max <= WAITED_SHARE_MAX
        && loaded.slowest_share() <= SLOWEST_SHARE_MAX;
    is_alike.then_some(Alike { waited_share_max })
}

fn is_within((us, (low, high)): (f64, Bounds)) -> bool {
    low.is_none_or(|low| us >= low * (1.0 - OFF_MAX)) && high.is_none_or(|high| us <= high * (1.0 + OFF_MAX))
}

/// Service times of a load, µs.
struct Loaded {
    p10: f64,
    p25: f64,
    p50: f64,
    p75: f64,
    p90: f64,
    p95: f64,
    mean: f64,
}

impl Loaded {
    /// `None` where one of them is not known.
    fn of(load: &LoadResult) -> Option<Self> {
        let (fast, times) = (load.fast_service_time_us?, &load.service_time_us);
        let known = |name: &str, figure: Option<f64>| {
            figure.filter(|us| us.is_finite() && !times.lower_bounds.iter().any(|bound| bound == name))
        };
        Some(Self {
            p10: fast.p10,
            p25: fast.p25,
            p50: known("p50", times.p50)?,
            p75: known("p75", times.p75)?,
            p90: known("p90", times.p90)?,
            p95: known("p95", times.p95)?,
            mean: known("mean", times.mean).filter(|mean| *mean > 0.0)?,
        })
    }

    /// The quantile that the longest of `count` answers lies above.
    fn nearly_all(&self, count: u32) -> Option<f64> {
        let is_above = |quantile: f64| quantile.powf(f64::from(count)) <= 1.0 - LONGEST_ABOVE;
        [(0.95, self.p95), (0.9, self.p90), (0.75, self.p75)]
            .into_iter()
            .find_map(|(quantile, us)| is_above(quantile).then_some(us))
    }

    /// Share of all time that the slowest twentieth took: what the others did not, each as long as in the middle between the
    /// quantiles around it.
    fn slowest_share(&self) -> f64 {
        let middle = |from: f64, to: f64| f64::midpoint(from, to);
        let others = 0.1 * self.p10
            + 0.15 * middle(self.p10, self.p25)
            + 0.25 * middle(self.p25, self.p50)
            + 0.25 * middle(self.p50, self.p75)
            + 0.15 * middle(self.p75, self.p90)
            + 0.05 * middle(self.p90, self.p95);
        1.0 - others / self.mean
    }
}
