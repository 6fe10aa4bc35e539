//! A machine that others use: who does before the first trial, and which blocks they disturbed.
//!
//! Which block is repeated follows from the machine's counters alone, and never from what was measured: blocks that are
//! chosen by their results bias what is made of them (`crates/stats/src/comparison/repeated.rs`).

use std::time::{Duration, Instant};

use driver::Control;
use events::Event;
use plan::Cell;
use plan::experiment::bounds::REPEATED_ONE_IN;
use record::{Trial, TrialResult};
use signals::OtherProcesses;

/// How long a look takes at most, and no longer than the window of the trial it is for.
const LOOK_MAX: Duration = Duration::from_secs(5);
/// The same where a load has no length but a number of requests.
const LOOK_OF_REQUESTS: Duration = Duration::from_secs(1);
/// How often a look sees whether it was interrupted.
const POLL: Duration = Duration::from_millis(50);
/// Share of the cores from which what others use disturbs a block: beyond a quarter they may be the answer to why a rate was
/// what it was.
const DISTURBED_SHARE_MIN: f64 = 0.25;
/// A window shorter than this tells little of others: their CPU time is counted in hundredths of a second.
const WINDOW_S_MIN: f64 = 1.0;

/// How many blocks of a phase may be repeated, each once.
pub(crate) const fn repeats_max(blocks: u32) -> u32 {
    blocks / REPEATED_ONE_IN
}

/// Looks who else uses the machine, for `longest` again and again until hardly anybody does, and says what it saw.
pub(crate) fn look(
    cell: &Cell,
    cores: u32,
    longest: Duration,
    interrupt: &Control,
    observe: &mut dyn FnMut(Event<'_>),
) {
    let begun = Instant::now();
    let window = Duration::from(cell.load.stop.duration);
    let length = if cell.load.stop.requests.is_some() { LOOK_OF_REQUESTS } else { LOOK_MAX };
    loop {
        let before = OtherProcesses::look();
        let end = Instant::now() + length.min(window);
        while Instant::now() < end && !interrupt.is_interrupted() {
            std::thread::sleep(POLL.min(end.saturating_duration_since(Instant::now())));
        }
        let (used_cores, others) = before.all_and_most();
        let is_quiet = used_cores <= explain::OTHERS_SHARE_MAX * f64::from(cores);
        let waits = !is_quiet && begun.elapsed() < longest && !interrupt.is_interrupted();
        observe(Event::Neighbours { used_cores, cores, others: &others, waits });
        if !waits {
            return;
        }
    }
}

/// What disturbed a trial, by what the machine counted within its window.
pub(crate) fn disturbance(trial: &Trial) -> Option<String> {
    let TrialResult::Measured(measured) = &trial.result else { return None };
    let host = measured.host.as_ref().filter(|_| measured.load.window.duration_s >= WINDOW_S_MIN)?;
    let cores = f64::from(host.cores.max(1));
    if let Some(used) = host.others_cores.filter(|used| *used > DISTURBED_SHARE_MIN * cores) {
        let named = explain::who(&host.others).map_or_else(String::new, |who| format!(" ({who})"));
        return Some(format!("other processes used {used:.2} of {cores} cores{named}"));
    }
    let steal = host.steal_share.filter(|share| *share > explain::STEAL_SHARE_MAX)?;
    Some(format!("the hypervisor took {:.0} % of the CPU", steal * 100.0))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// A trial as a record has it, on two cores.
    fn trial(window_s: f64, others_cores: f64, steal_share: f64, goodput_per_s: f64) -> Trial {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/samples/records/quick/trials.jsonl");
        let text = std::fs::read_to_string(path).expect("the sample is there");
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("it is JSON"));
        let mut trial =
            lines.into_iter().find(|it| it["measured"]["host"].is_object()).expect("one was watched");
        trial["measured"]["load"]["window"]["duration_s"] = json!(window_s);
        trial["measured"]["load"]["goodput_per_s"] = json!(goodput_per_s);
        let host = &mut trial["measured"]["host"];
        host["cores"] = json!(2);
        host["others_cores"] = json!(others_cores);
        host["steal_share"] = json!(steal_share);
        host["others"] = json!([{ "name": "java", "cores": others_cores }]);
        serde_json::from_value(trial).expect("it is a trial")
    }

    #[test]
    fn a_block_is_disturbed_by_others_and_by_nothing_that_was_measured() {
        for goodput_per_s in [0.0, 100.0, 1e6] {
            let told = |window_s, others, steal| disturbance(&trial(window_s, others, steal, goodput_per_s));
            assert_eq!(told(15.0, 0.49, 0.01), None);
            assert_eq!(told(15.0, 0.8, 0.01).unwrap(), "other processes used 0.80 of 2 cores (java 0.80)");
            assert_eq!(told(15.0, 0.1, 0.2).unwrap(), "the hypervisor took 20 % of the CPU");
            // Of so short a window the ticks say little.
            assert_eq!(told(0.6, 0.8, 0.2), None);
        }
    }

    #[test]
    fn one_block_in_five_may_be_repeated() {
        assert_eq!([1, 4, 5, 8, 10, 20].map(repeats_max), [0, 0, 1, 1, 2, 4]);
    }
}
