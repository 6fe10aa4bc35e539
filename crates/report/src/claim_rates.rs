//! How often a claim that is looked at while it is measured comes out wrong, in words.

use std::fmt::Write;

use stats::{ALPHA, COVERED_MIN, ClaimRates, ClaimSetting, LOOKS};

use crate::error_rates::{percent, world};
use crate::figure::percent as whole_percent;

/// A kind of made-up runs, and how often their claim came to what.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatesOfClaim {
    /// What was made up.
    pub setting: ClaimSetting,
    /// What came of it.
    pub rates: ClaimRates,
}

impl RatesOfClaim {
    /// Whether claims are as seldom decided wrongly as is promised, but for what chance adds to so few runs (three standard
    /// errors), and intervals hold what they say.
    pub fn is_seldom_wrong(&self) -> bool {
        let ClaimRates { falsely_confirmed, falsely_decided, covered, .. } = self.rates;
        let chance = 3.0 * (ALPHA * (1.0 - ALPHA) / f64::from(self.setting.experiments.max(1))).sqrt();
        falsely_confirmed.max(falsely_decided) <= ALPHA + chance && covered >= COVERED_MIN
    }
}

/// What came of made-up runs.
pub fn claim_rates_text(of: &RatesOfClaim) -> String {
    let RatesOfClaim { setting, rates } = of;
    let looks = LOOKS.map(|look| look.to_string()).join(", ");
    format!(
        "a claim of {} comparison{}, {}, looked at after {looks} blocks, {} of noise within a block;\n\
         {} made-up runs each\n\n\
         all equal, and yet decided:           {:>7} of the runs (at most {})\n\
         one equal, and yet confirmed:         {:>7} of the runs (at most {})\n\
         {:<37} {:>7} of the runs, by {:.1} blocks on average\n\
         the other way round, reversed:        {:>7} of the runs\n\
         intervals that hold the true ratio:   {:>7} of them ({} is what they say)",
        setting.comparisons,
        if setting.comparisons == 1 { "" } else { "s" },
        world(setting.world),
        percent(setting.noise),
        setting.experiments,
        percent(rates.falsely_decided),
        whole_percent(ALPHA),
        percent(rates.falsely_confirmed),
        whole_percent(ALPHA),
        format!("apart by {}, confirmed:", percent(setting.effect)),
        percent(rates.confirmed),
        rates.blocks,
        percent(rates.reversed),
        percent(rates.covered),
        whole_percent(1.0 - ALPHA),
    )
}

/// The same of many kinds, as a table in Markdown.
pub fn claim_rates_table(all: &[RatesOfClaim]) -> String {
    let mut text = String::from(
        "| trials | comparisons of the claim | noise within a block | all equal, and yet decided (at most 5 %) | \
         one equal, and yet confirmed (at most 5 %) | all apart by | confirmed | blocks, on average | \
         reversed, the other way round | intervals that hold the truth (at least 94 %) |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for RatesOfClaim { setting, rates } in all {
        // Writing into a String cannot fail.
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {:.1} | {} | {} |",
            world(setting.world),
            setting.comparisons,
            whole_percent(setting.noise),
            percent(rates.falsely_decided),
            percent(rates.falsely_confirmed),
            whole_percent(setting.effect),
            percent(rates.confirmed),
            rates.blocks,
            percent(rates.reversed),
            percent(rates.covered),
        );
    }
    text
}
