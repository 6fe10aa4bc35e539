//! Why cells stopped where they did, in words.

use explain::explain_cells;
use record::{GcPauses, PausedSecond, Second, ServerSignals, TrialResult};
use report::explanations_text;

use crate::samples::{load, measured_of, trial};

#[test]
fn pauses_are_told_behind_the_verdicts_of_a_cell_and_nothing_where_nobody_looked() {
    let second =
        |at: u32| Second { from_s: f64::from(at), length_s: 1.0, p99_us: Some(2_000.0), ..Second::default() };
    let mut measured = measured_of(load(1000.0));
    measured.load.seconds = (0..5).map(second).collect();
    let text = |measured: &record::Measured| {
        let trials = [trial(0, "a", TrialResult::Measured(Box::new(measured.clone())))];
        explanations_text(&explain_cells(&trials, 2))
    };
    measured.server.signals = Some(ServerSignals::default());
    assert!(!text(&measured).contains("by the second"), "{}", text(&measured));
    let ended = vec![PausedSecond { second: 4, least_s: 0.012, most_s: 0.012 }];
    let gc_pauses = Some(GcPauses { seconds: 5, ended });
    measured.server.signals = Some(ServerSignals { gc_pauses, ..ServerSignals::default() });
    let told = text(&measured);
    let due = "    by the second: pauses of collections ended in 1 of 5 s, 12.0ms in all, and in none of the \
               3 slowest\n";
    assert!(told.contains(due), "{told}");
}
