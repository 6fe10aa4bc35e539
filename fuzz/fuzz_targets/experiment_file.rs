//! Any text as an experiment file, against the real stacks: reading it does not panic, a refusal names the
//! file, and what is accepted is a plan that can be carried out.
//!
//! Run: `cargo +nightly fuzz run experiment_file fuzz/corpus/experiment_file fuzz/seeds/experiment_file --
//! -max_total_time=60`. A new find goes to `fuzz/artifacts`; make it a named test in `crates/plan`.
#![no_main]

use std::num::NonZeroU32;
use std::path::Path;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use plan::stack::Catalogue;
use plan::{Experiment, Pace, Role, Round, Threads};

const FILE: &str = "experiments/fuzz.toml";
/// Plans of more threads are not dealt out: a million configurations are slow and teach nothing.
const THREADS_MAX: u32 = 64;

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| {
    let stacks = Path::new(env!("CARGO_MANIFEST_DIR")).join("../stacks");
    Catalogue::load(&stacks).expect("the stacks of this checkout are valid")
});

fuzz_target!(|text: &str| {
    for pace in [Pace::Full, Pace::Quick, Pace::Coarse] {
        read(text, pace);
    }
});

fn read(text: &str, pace: Pace) {
    match Experiment::parse(Path::new(FILE), text, &CATALOGUE, pace) {
        Ok(experiment) => check(&experiment, text),
        Err(error) => {
            let told = error.to_string();
            assert!(told.starts_with(FILE), "{told}");
            assert!(!error.what.is_empty() && !error.help.is_empty(), "{told}");
            let lines = text.split('\n').count();
            let line = error.place.and_then(|place| place.line_column).map_or(1, |(line, _)| line);
            assert!((1..=lines).contains(&line), "line {line} of {lines}: {told}");
        }
    }
}

/// What later stages take for granted of a plan.
fn check(experiment: &Experiment, text: &str) {
    assert_eq!(experiment.source, text);
    let procedure = &experiment.procedure;
    assert!(procedure.blocks >= 1 && procedure.blocks_max >= procedure.blocks && procedure.bursts.least >= 1);
    assert!(!experiment.rounds.is_empty() && !experiment.stacks().is_empty());
    let latency: Vec<Round> = experiment.rounds.iter().flat_map(|round| round.at_shares(|_| Some(1e4))).collect();
    for cell in experiment.rounds.iter().chain(&latency).flat_map(|round| &round.cells) {
        assert!(cell.role == Role::Control || CATALOGUE.get(&cell.stack).is_ok(), "its stacks are known");
        let threads = match cell.load.threads {
            Threads::Fixed(count) if count.get() > THREADS_MAX => continue,
            Threads::Fixed(count) => count,
            Threads::Auto => NonZeroU32::MIN,
        };
        let target = cell.target("127.0.0.1:8080").expect("its request can be sent");
        let configs = cell.load.configs(threads, &target.request, &cell.expect());
        let connections: u32 = configs.iter().map(|config| config.connections.get()).sum();
        // Threads without a request of their own are left out, and their connections with them.
        assert!(connections <= cell.load.connections.get() && !configs.is_empty());
    }
}
