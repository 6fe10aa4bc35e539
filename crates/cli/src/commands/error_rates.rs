//! `proofload error-rates`: how often a comparison errs, on made-up experiments.

use std::process::ExitCode;

use plan::PlanError;
use report::{
    ErrorRates, RatesOfClaim, claim_rates_table, claim_rates_text, error_rates_table, error_rates_text,
};
use stats::{ClaimSetting, Setting, World, claim_rates, error_rates};

use crate::arguments;
use crate::exit::{self, Failure};
use crate::output::print;
use crate::progress::Screen;

/// The rows of the table in `docs/statistics.md`: what trials are, how many stacks, noise, and by what the first is better.
const TABLE: [(World, usize, f64, f64); 10] = [
    (World::Rates, 2, 0.03, 0.05),
    (World::Rates, 4, 0.02, 0.05),
    (World::Rates, 4, 0.03, 0.05),
    (World::Rates, 4, 0.04, 0.05),
    (World::Rates, 8, 0.03, 0.05),
    (World::Failing(0.1), 4, 0.03, 0.05),
    (World::FirstFails(0.5), 2, 0.03, 0.5),
    (World::Censored(0.15), 4, 0.03, 0.05),
    (World::Queue(0.8), 2, 0.0, 0.1),
    (World::Queue(0.8), 4, 0.0, 0.1),
];

/// The rows of the table of claims there: what trials are, comparisons, noise, and by what the first of each is better.
const CLAIMS: [(World, usize, f64, f64); 7] = [
    (World::Rates, 1, 0.03, 0.05),
    (World::Rates, 1, 0.03, 0.2),
    (World::Rates, 4, 0.03, 0.05),
    (World::Rates, 4, 0.03, 0.2),
    (World::Rates, 12, 0.03, 0.2),
    (World::Failing(0.1), 1, 0.03, 0.2),
    (World::Censored(0.15), 4, 0.03, 0.2),
];

/// Runs the command.
pub fn run(arguments: &arguments::ErrorRates) -> Result<ExitCode, Failure> {
    let asked = asked(arguments)?;
    let screen = Screen::new(false);
    screen.now(&format!("{} experiments of each kind", asked.experiments), false);
    if arguments.table {
        let (mut made, rows) = (0, TABLE.len() + CLAIMS.len());
        let mut next = || {
            made += 1;
            screen.now(&format!("row {made} of {rows}"), false);
        };
        let row = |(world, treatments, noise, effect)| {
            next();
            of(&Setting { world, treatments, noise, effect, ..asked })
        };
        let all = TABLE.map(row);
        let of = |(world, comparisons, noise, effect)| {
            next();
            of_claim(ClaimSetting { world, comparisons, noise, effect, ..claim(&asked, 1) })
        };
        let claims = CLAIMS.map(of);
        screen.clear();
        print(&format!("{}\n{}", error_rates_table(&all), claim_rates_table(&claims).trim_end()))?;
        let is_good = all.iter().all(ErrorRates::is_seldom_wrong);
        return Ok(code(is_good && claims.iter().all(RatesOfClaim::is_seldom_wrong)));
    }
    if let Some(comparisons) = arguments.claim {
        let rates = of_claim(claim(&asked, comparisons.into()));
        screen.clear();
        print(&claim_rates_text(&rates))?;
        return Ok(code(rates.is_seldom_wrong()));
    }
    let rates = of(&asked);
    screen.clear();
    print(&error_rates_text(&rates))?;
    Ok(code(rates.is_seldom_wrong() && rates.finds_enough()))
}

fn code(is_good: bool) -> ExitCode {
    ExitCode::from(if is_good { exit::OK } else { exit::SERVICE })
}

fn of(apart: &Setting) -> ErrorRates {
    let equal = match apart.world {
        // Who fails is not equal; its survivors are.
        World::FirstFails(_) => Setting { world: World::Rates, effect: 0.0, ..*apart },
        _ => Setting { effect: 0.0, ..*apart },
    };
    ErrorRates { apart: *apart, of_equal: error_rates(&equal), of_apart: error_rates(apart) }
}

fn claim(asked: &Setting, comparisons: usize) -> ClaimSetting {
    let Setting { world, noise, effect, experiments, seed, .. } = *asked;
    ClaimSetting { world, comparisons, noise, effect, experiments, seed }
}

fn of_claim(setting: ClaimSetting) -> RatesOfClaim {
    RatesOfClaim { setting, rates: claim_rates(&setting) }
}

fn asked(arguments: &arguments::ErrorRates) -> Result<Setting, PlanError> {
    // As experiments have it: who names a number of blocks means that number.
    let blocks = arguments.blocks.unwrap_or(10);
    let blocks_max = arguments.blocks_max.or(arguments.blocks).unwrap_or(20);
    if blocks_max < blocks {
        let what = format!("{blocks_max} blocks at most are fewer than the {blocks} at any rate");
        return Err(PlanError::new(what, "raise --blocks-max, or lower --blocks"));
    }
    let share = |it: Option<units::Share>| it.map(units::Share::get);
    let world = share(arguments.failing)
        .map(World::Failing)
        .or_else(|| share(arguments.first_fails).map(World::FirstFails))
        .or_else(|| share(arguments.censored).map(World::Censored))
        .or_else(|| share(arguments.queue).map(World::Queue))
        .unwrap_or(World::Rates);
    Ok(Setting {
        world,
        treatments: usize::from(arguments.stacks),
        blocks: usize::from(blocks),
        blocks_max: usize::from(blocks_max),
        precision: arguments.precision.get(),
        noise: arguments.noise.get(),
        effect: arguments.effect.get(),
        experiments: arguments.experiments,
        seed: arguments.seed,
    })
}
