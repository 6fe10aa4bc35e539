//! How often a comparison errs, in words.

use stats::{Rates, Setting, blocks_needed};

/// What came of made-up experiments, those of equal treatments and those in which the first is better.
pub fn error_rates_text(apart: &Setting, of_equal: &Rates, of_apart: &Rates) -> String {
    let Setting { treatments, blocks, noise, effect, experiments, .. } = *apart;
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let needed = blocks_needed(treatments * (treatments - 1) / 2);
    let few = if blocks < needed {
        format!(
            "\nSo few blocks can't tell {treatments} rows apart, however they come out: it takes {needed}."
        )
    } else {
        String::new()
    };
    format!(
        "{} stacks and a twin, {blocks} blocks, {} of noise within a block; {experiments} made-up experiments each\n\n\
         equal stacks called different:        {:>7} of the experiments (at most 5 %)\n\
         a difference of {:<6} found:         {:>7} of the experiments (at least 95 %)\n\
         intervals that hold the true ratio:   {:>7} of them (95 % is what they say){few}",
        treatments,
        percent(noise),
        percent(of_equal.false_difference),
        percent(effect),
        percent(of_apart.found),
        percent(of_apart.covered),
    )
}
