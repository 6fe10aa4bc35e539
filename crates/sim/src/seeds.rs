//! Which seeds a law is tried on.
//!
//! A failing seed is printed with the command that replays it alone. `PROOFLOAD_SEED` replays one seed,
//! `PROOFLOAD_SEEDS` changes how many are tried.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use units::Seed;

/// Seeds that are tried with every change, where a law does not say otherwise.
pub const FEW: u64 = 250;
/// Seeds of the slow tier, likewise.
pub const ALL: u64 = 10_000;

fn number_from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is not a number")))
}

/// The first `count` seeds, unless the environment names others.
pub fn seeds(count: u64) -> Range<u64> {
    match number_from_environment("PROOFLOAD_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number_from_environment("PROOFLOAD_SEEDS").unwrap_or(count),
    }
}

/// Tries a law on the first `count` seeds, unless the environment names others.
pub fn for_each_seed(count: u64, law: impl Fn(Seed)) {
    for seed in seeds(count) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| law(Seed(seed)))) {
            eprintln!("seed {seed} breaks a law; replay it with: make replay SEED={seed}");
            std::panic::resume_unwind(panic);
        }
    }
}

/// Makes two tests of each law: on a few seeds with every change, on all of them in the slow tier. Where a seed takes long,
/// how many that are comes first: `laws! { few: 150, all: 2_000; a_law, }`.
#[macro_export]
macro_rules! laws {
    (few: $few:expr, all: $all:expr; $($law:ident,)*) => { $(
        mod $law {
            #[test]
            fn on_the_first_seeds() {
                $crate::seeds::for_each_seed($few, super::$law);
            }

            #[test]
            #[ignore = "slow: thousands of seeds"]
            fn on_all_seeds() {
                $crate::seeds::for_each_seed($all, super::$law);
            }
        }
    )* };
    ($($law:ident,)*) => {
        $crate::laws! { few: $crate::seeds::FEW, all: $crate::seeds::ALL; $($law,)* }
    };
}
