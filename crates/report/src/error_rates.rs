//! How often a comparison errs, in words.

use std::fmt::Write;

use stats::{
    CONFIDENCE, COVERED_MIN, FALSE_DIFFERENCE_MAX, FOUND_MIN, Rates, Setting, World, blocks_needed, pairs_of,
};

use crate::figure::{NONE, percent as whole_percent};

/// A kind of made-up experiments, and how often the comparison said what.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ErrorRates {
    /// The experiments in which the first stack is better.
    pub apart: Setting,
    /// What came of those in which all are equal.
    pub of_equal: Rates,
    /// What came of those in which the first is better.
    pub of_apart: Rates,
}

impl ErrorRates {
    /// Whether what the comparison says is as seldom wrong as it promises: equal stacks called different, a failing one
    /// called better, intervals that miss the truth.
    pub fn is_seldom_wrong(&self) -> bool {
        let Self { apart, of_equal, of_apart } = self;
        let is_better = !matches!(apart.world, World::FirstFails(_));
        of_equal.false_difference <= FALSE_DIFFERENCE_MAX
            && (is_better || of_apart.found <= FALSE_DIFFERENCE_MAX)
            && of_apart.covered.is_none_or(|it| it >= COVERED_MIN)
    }

    /// Whether it finds what it should, where that is promised: of rates.
    pub fn finds_enough(&self) -> bool {
        self.apart.world != World::Rates || self.of_apart.found >= FOUND_MIN
    }
}

/// What came of made-up experiments.
pub fn error_rates_text(rates: &ErrorRates) -> String {
    let ErrorRates { apart, of_equal, of_apart } = rates;
    let Setting { treatments, blocks, blocks_max, precision, noise, effect, experiments, .. } = *apart;
    let needed = blocks_needed(pairs_of(treatments));
    let few = if blocks_max < needed {
        format!(
            "\nSo few blocks can't tell {treatments} rows apart, however they come out: it takes {needed}."
        )
    } else {
        String::new()
    };
    let many = if blocks == blocks_max {
        format!("{blocks} blocks")
    } else {
        format!("{blocks} to {blocks_max} blocks until intervals are within ±{}", percent(precision))
    };
    let held = match of_apart.covered {
        Some(share) => {
            format!("{:>7} of them ({} is what they say)", percent(share), whole_percent(CONFIDENCE))
        }
        None => "no interval is told of so few blocks".into(),
    };
    let bound = match apart.world {
        World::FirstFails(_) => format!(" (at most {})", whole_percent(FALSE_DIFFERENCE_MAX)),
        World::Rates => format!(" (at least {})", whole_percent(FOUND_MIN)),
        World::Failing(_) | World::Censored(_) | World::Queue(_) => String::new(),
    };
    format!(
        "{treatments} stacks and a twin, {}, {many}, {} of noise within a block;\n\
         {experiments} made-up experiments each, of {:.1} and {:.1} blocks on average\n\n\
         equal stacks called different:        {:>7} of the experiments (at most {})\n\
         {:<37} {:>7} of the experiments{bound}\n\
         intervals that hold the true ratio:   {held}{few}",
        world(apart.world),
        percent(noise),
        of_equal.blocks,
        of_apart.blocks,
        percent(of_equal.false_difference),
        whole_percent(FALSE_DIFFERENCE_MAX),
        match apart.world {
            World::FirstFails(_) => format!("{} better, but failing, called so:", percent(effect)),
            _ => format!("a difference of {:<6} found:", percent(effect)),
        },
        percent(of_apart.found),
    )
}

/// The same of many kinds, as a table in Markdown.
pub fn error_rates_table(all: &[ErrorRates]) -> String {
    let mut text = String::from(
        "| trials | stacks | noise within a block | blocks, on average | equal ones called different (at most 5 %) | \
         the first is better by | and called better | intervals that hold the truth (at least 94 %) |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for ErrorRates { apart, of_equal, of_apart } in all {
        // Writing into a String cannot fail.
        let _ = writeln!(
            text,
            "| {} | {} | {} | {:.1} | {} | {} | {} | {} |",
            world(apart.world),
            apart.treatments,
            whole_percent(apart.noise),
            of_equal.blocks,
            percent(of_equal.false_difference),
            whole_percent(apart.effect),
            percent(of_apart.found),
            of_apart.covered.map_or_else(|| NONE.into(), percent),
        );
    }
    text
}

pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

pub(crate) fn world(world: World) -> String {
    match world {
        World::Rates => "rates".into(),
        World::Failing(share) => {
            format!("rates; every stack fails in {} of its trials", whole_percent(share))
        }
        World::FirstFails(share) => {
            format!("rates; the first fails in {} of its trials", whole_percent(share))
        }
        World::Censored(share) => {
            format!("p99; in {} of the trials only a lower bound", whole_percent(share))
        }
        World::Queue(busy) => {
            format!("p99 behind a queue, Poisson arrivals, server {} busy", whole_percent(busy))
        }
    }
}
