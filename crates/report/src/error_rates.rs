//! How often a comparison errs, in words.

use stats::{CONFIDENCE, FALSE_DIFFERENCE_MAX, FOUND_MIN, Rates, Setting, blocks_needed};

use crate::figure::percent as whole_percent;

/// What came of made-up experiments, those of equal treatments and those in which the first is better.
pub fn error_rates_text(apart: &Setting, of_equal: &Rates, of_apart: &Rates) -> String {
    let Setting { treatments, blocks, blocks_max, precision, noise, effect, experiments, .. } = *apart;
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let needed = blocks_needed(treatments * (treatments - 1) / 2);
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
    format!(
        "{} stacks and a twin, {many}, {} of noise within a block;\n\
         {experiments} made-up experiments each, of {:.1} and {:.1} blocks on average\n\n\
         equal stacks called different:        {:>7} of the experiments (at most {})\n\
         a difference of {:<6} found:         {:>7} of the experiments (at least {})\n\
         intervals that hold the true ratio:   {:>7} of them ({} is what they say){few}",
        treatments,
        percent(noise),
        of_equal.blocks,
        of_apart.blocks,
        percent(of_equal.false_difference),
        whole_percent(FALSE_DIFFERENCE_MAX),
        percent(effect),
        percent(of_apart.found),
        whole_percent(FOUND_MIN),
        percent(of_apart.covered),
        whole_percent(CONFIDENCE),
    )
}
