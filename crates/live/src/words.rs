//! What goes on in lines of text: where there is no terminal, and above the picture where there is one.

use events::{AgentNews, Ahead};
use plan::{Cell, Role};
use record::{NamedUse, Trial, told_quantile};
use report::{TrialLine, indented, per_s, plain_line};
use stats::Interval;
use units::Duration;

use crate::rate::Rate;
use crate::view::TrialView;

/// Intervals shorter than this say nothing of a rate.
const SHOWN_MIN: Duration = Duration::from_millis(500);

/// An interval of load in a few words, with the rate in it; `None` of the short one at the end.
pub(crate) fn interval_words(interval: &Interval, rate: &Rate) -> Option<String> {
    if rate.length() < SHOWN_MIN {
        return None;
    }
    let tally = &interval.tally;
    let p99 = told_quantile(&interval.times.response, 0.99);
    let p99 = p99.map_or_else(String::new, |it| format!(", p99 {it}"));
    // What is under way when a load is ended has not failed.
    let bad = tally.intended.saturating_sub(tally.answered_as_expected).saturating_sub(tally.in_flight);
    let bad = if bad > 0 { format!(", {bad} failed") } else { String::new() };
    Some(format!("{}{p99}{bad}", per_s(rate.per_s())))
}

/// A trial that starts.
pub fn started(number: u32, ahead: &Ahead, block: u32, round: &str, cell: &Cell) -> TrialView {
    TrialView {
        number,
        of: number - 1 + ahead.trials.max(1),
        of_max: number - 1 + ahead.trials_max.max(1),
        block,
        round: round.to_owned(),
        load: cell.load.label(),
        stack: cell.stack.clone(),
        role: cell.role,
        driver: cell.driver,
    }
}

impl TrialView {
    /// The stack, with what makes its load and what it is measured for where that says something.
    pub(crate) fn who(&self) -> String {
        let twin = if self.role == Role::Twin { ", its twin" } else { "" };
        let by = if self.driver.is_own() { String::new() } else { format!(" by {}", self.driver.name()) };
        format!("{}{by}{twin}", plain_line(&self.stack))
    }

    /// `7/54`, or `7/54 to 90` where it may become more.
    pub(crate) fn count(&self) -> String {
        let Self { number, of, of_max, .. } = self;
        if of_max > of { format!("{number}/{of} to {of_max}") } else { format!("{number}/{of}") }
    }
}

/// Which trial it is.
pub fn trial_words(trial: &TrialView) -> String {
    let TrialView { block, round, load, .. } = trial;
    format!("trial {}, block {block}, {}, {load}: {}", trial.count(), plain_line(round), trial.who())
}

/// How long it takes yet.
pub fn left_words(ahead: &Ahead) -> String {
    let (least, most) = (length_words(ahead.left), length_words(ahead.left_max));
    if least == most || ahead.trials == 0 {
        format!("about {most} left")
    } else {
        format!("about {least} to {most} left")
    }
}

/// How long something takes, rounded up: to the second, or to the minute from two on.
pub fn length_words(length: Duration) -> String {
    let seconds = length.as_nanos().div_ceil(1_000_000_000);
    if seconds < 120 { format!("{seconds} s") } else { format!("{} min", seconds.div_ceil(60)) }
}

/// What happened to one of several machines.
pub fn agent_line(number: usize, of: usize, name: &str, news: AgentNews<'_>) -> String {
    let who = format!("agent {number} of {of} ({})", plain_line(name));
    match news {
        AgentNews::Broken { why, comes_back_within } => {
            let why = plain_line(why);
            format!(
                "{who} is not heard of: {why}; it loads on by itself, and may come back within {comes_back_within}"
            )
        }
        AgentNews::Back => format!("{who} is back"),
        AgentNews::Lost(why) => format!("{who} is lost: {}", plain_line(why)),
    }
}

/// A stack takes no part; the end of a build's log may be part of the reason.
pub fn left_out_line(stack: &str, why: &str) -> String {
    format!("left out: {}: {}", plain_line(stack), indented(why))
}

/// Before a stack is built, something has to be waited for.
pub fn waiting_line(stack: &str, for_what: &str) -> String {
    format!("{} waits for {}", plain_line(stack), plain_line(for_what))
}

/// Claims were held against the blocks so far.
pub fn looked_line(blocks: u32, open: usize, cells: usize) -> String {
    match open {
        0 => format!("after {blocks} blocks: every claim is decided"),
        _ => format!("after {blocks} blocks: claims that are not decided need {open} of {cells} cells"),
    }
}

/// A table goes no further.
pub fn precise_line(round: &str, load: &str, blocks: u32) -> String {
    format!("{}, {}: precise after {blocks} blocks, and goes no further", plain_line(round), plain_line(load))
}

/// Who else used the machine before the first trial.
pub fn neighbours_line(used_cores: f64, cores: u32, others: &[NamedUse], waits: bool) -> String {
    let named: Vec<String> =
        others.iter().map(|it| format!("{} {:.2}", plain_line(&it.name), it.cores)).collect();
    let named = if named.is_empty() { String::new() } else { format!(" ({})", named.join(", ")) };
    let waits = if waits { "; waiting for quiet" } else { "" };
    format!("other processes use {used_cores:.2} of {cores} cores{named}{waits}")
}

/// A block is made once more.
pub fn repeating_line(block: u32, why: &str) -> String {
    format!("block {block} was disturbed and is made once more: {}", plain_line(why))
}

/// A trial is made anew.
pub fn made_again_line(attempt: usize, of: usize, why: &str) -> String {
    format!("attempt {attempt} of {of} at this trial, since {}", plain_line(why))
}

/// A trial is written down; `trial` is which, in words.
pub fn finished_line(trial: &str, recorded: &Trial) -> String {
    format!("{trial}: {}", TrialLine(recorded))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One second of it.
    fn words(interval: &Interval) -> String {
        let mut rate = Rate::default();
        rate.add(interval.tally.done_as_expected, Duration::from_secs(1));
        interval_words(interval, &rate).expect("it is long enough")
    }

    #[test]
    fn what_was_under_way_at_the_end_has_not_failed() {
        let mut interval = Interval::default();
        (interval.tally.intended, interval.tally.answered_as_expected) = (20, 11);
        (interval.tally.timed_out, interval.tally.in_flight) = (1, 8);
        let words = words(&interval);
        assert!(words.ends_with(", 1 failed"), "{words}");
    }

    #[test]
    fn so_few_answers_know_of_a_99th_percentile_only_what_it_exceeds() {
        let of = |answers: u32| {
            let mut interval = Interval::default();
            (0..answers).for_each(|_| interval.times.response.record(Duration::from_millis(2)));
            words(&interval)
        };
        assert!(of(5).contains(", p99 >2.00ms"), "{}", of(5));
        assert!(of(400).contains(", p99 2.00ms"), "{}", of(400));
        assert!(!of(0).contains("p99"), "{}", of(0));
    }
}
