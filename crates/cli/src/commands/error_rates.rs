//! `proofload error-rates`: how often a comparison errs, on made-up experiments.

use std::process::ExitCode;

use report::error_rates_text;
use stats::{FALSE_DIFFERENCE_MAX, FOUND_MIN, Setting, error_rates};

use crate::arguments::ErrorRates;
use crate::exit::{self, Failure};
use crate::output::print;

/// Runs the command.
pub fn run(arguments: &ErrorRates) -> Result<ExitCode, Failure> {
    // As experiments have it: who names a number of blocks means that number.
    let blocks = arguments.blocks.unwrap_or(10);
    let blocks_max = arguments.blocks_max.or(arguments.blocks).unwrap_or(20);
    let equal = Setting {
        treatments: usize::from(arguments.stacks),
        blocks: usize::from(blocks),
        blocks_max: usize::from(blocks_max.max(blocks)),
        precision: arguments.precision.get(),
        noise: arguments.noise.get(),
        effect: 0.0,
        experiments: arguments.experiments,
        seed: arguments.seed,
    };
    let apart = Setting { effect: arguments.effect.get(), ..equal };
    let (of_equal, of_apart) = (error_rates(&equal), error_rates(&apart));
    print(&error_rates_text(&apart, &of_equal, &of_apart))?;
    let good = of_equal.false_difference <= FALSE_DIFFERENCE_MAX && of_apart.found >= FOUND_MIN;
    Ok(ExitCode::from(if good { exit::OK } else { exit::SERVICE }))
}
