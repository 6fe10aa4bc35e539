//! What a run costs, before it begins.

use lab::experiment::ahead;
use live::length_words;
use plan::Experiment;
use report::plain_line;

/// Trials, and about how long they take, at any rate and at most.
pub(super) fn text(experiment: &Experiment) -> String {
    let ahead = ahead(experiment);
    let of =
        |trials: u32, length| format!("{trials} trials, about {} beside the builds", length_words(length));
    let mut lines = vec![
        format!("{}: {}", plain_line(&experiment.title), experiment.stacks().join(", ")),
        of(ahead.trials, ahead.left),
    ];
    if (ahead.trials_max, ahead.left_max) != (ahead.trials, ahead.left) {
        lines.push(format!("at most {}", of(ahead.trials_max, ahead.left_max)));
    }
    lines.push(
        "An estimate, by the experiment alone: boots and warm-ups of this machine may be longer or shorter."
            .into(),
    );
    lines.join("\n")
}
