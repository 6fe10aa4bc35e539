//! From samples to figures: distributions that know what they could not see, tallies, and the statistics behind
//! every comparison: intervals and tests, change points, steadiness, models of scalability.
//!
//! It computes, and judges nothing: what a figure means for a server is `explain`'s to say.
//!
//! Invariants:
//! - merging is associative and commutative, so per-thread and per-interval parts add up to the whole;
//! - a quantile is within [`RELATIVE_ERROR`] of the sorted truth, or says that it is only a lower bound;
//! - nothing here reads a clock, a file or a socket.
#![forbid(unsafe_code)]

mod batches;
mod change_points;
mod comparison;
mod counts;
mod deviation;
mod distribution;
mod interval;
mod little;
mod mean;
mod parts;
mod probability;
mod rank_bounds;
mod rates;
mod scalability;
mod spread;
mod steady;
mod step;
mod summary;
mod tally;

pub use batches::{BATCHES_MIN, Batches, Estimated, Part, mean_of, share_of};
pub use change_points::{ChangePoint, SERIES_MAX, SERIES_MIN, STRETCH_MIN, change_points};
pub use comparison::bounded::{BoundedRatios, Ends};
pub use comparison::earlier::ratio_to_earlier;
pub use comparison::fisher::fisher_p;
pub use comparison::letters::letters;
pub use comparison::looks::{LOOKS, Least, Looked, Told, findable, goes_on};
pub use comparison::looks_simulation::{ClaimRates, ClaimSetting, claim_rates};
pub use comparison::paired::{
    CONFIDENCE, INTERVAL_BLOCKS_MIN, LogRatios, Observation, Ratio, hodges_lehmann, signed_rank_p,
};
pub use comparison::simulation::{
    COVERED_MIN, FALSE_DIFFERENCE_MAX, FOUND_MIN, Rates, Setting, World, error_rates,
};
pub use comparison::unpaired::{TwoSamples, least_rank_sum_p, rank_sum_p, rank_sum_p_above};
pub use comparison::{
    ALPHA, Comparison, LEAST_EFFECT, Pair, Twin, Verdict, blocks_needed, holm, is_precise, pairs_of,
};
pub use counts::{CountsParts, PLACES};
pub use deviation::Deviation;
pub use distribution::{
    Distribution, PERCENTILES, Percentile, Quantile, RELATIVE_ERROR, SAME_WITHIN, samples_needed,
};
pub use interval::{Interval, Times};
pub use little::{LITTLE_TOLERANCE, LittlesLaw};
pub use mean::{MEAN_VALUES_MIN, MeanInterval};
pub use parts::DistributionParts;
pub use rank_bounds::{RankBounds, rank_bounds};
pub use rates::{RateSample, RateSpread};
pub use scalability::law::{LAW_LEVELS_MIN, Law, LawFit, scalability};
pub use scalability::pool::{Knee, POOL_LEVELS_MIN, PoolFit, PoolModel, pool_model};
pub use scalability::{Doubt, Estimate, Explained, LoadPoint, TooFewLevels, explained_by};
pub use spread::{Spread, rank_with_ties};
pub use steady::{
    BurstFigures, STEADY_BURSTS_MIN, STEADY_CHANGE_MAX, STEADY_JIT_SHARE_MAX, STEADY_SWING_MAX, Steadiness,
    steadiness,
};
pub use step::{STEP_MIN, STEP_SECONDS_MIN, Step, step, step_of_times};
pub use summary::{LoadFigures, ThreadUse, figures};
pub use tally::{Statuses, Tally};
