//! What was named first, counted: planted × named, and one line for all.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::case::{Case, KINDS, Nature};

/// How a run ended that named nothing: it could not be made, or not be explained.
pub(crate) const NOT_TRIED: &str = "not tried";

/// What one run of a case named first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    /// The name of the case.
    pub(crate) case: &'static str,
    /// A kind, or [`NOT_TRIED`].
    pub(crate) kind: String,
}

/// Whether `kind` is what a run of `case` should name.
pub(crate) fn is_right(case: &Case, kind: &str) -> bool {
    case.expected.contains(&kind)
}

/// The matrix as text: a row for each case, a column for each kind that was named, wrong counts with a `!`.
pub(crate) fn matrix(cases: &[Case], runs: &[Named]) -> String {
    let columns = columns(runs);
    let width = cases.iter().map(|case| case.name.chars().count()).max().unwrap_or(0);
    let mut text = format!("{:width$}", "");
    // Writing into a String cannot fail.
    for number in 1..=columns.len() {
        let _ = write!(text, "{number:>5}");
    }
    for case in cases {
        let _ = write!(text, "\n{:width$}", case.name);
        for kind in &columns {
            let count = runs.iter().filter(|run| run.case == case.name && run.kind == **kind).count();
            let cell = match count {
                0 => ".".to_owned(),
                right if is_right(case, kind) => right.to_string(),
                wrong => format!("{wrong}!"),
            };
            let _ = write!(text, "{cell:>5}");
        }
    }
    text.push('\n');
    for (number, kind) in (1..).zip(&columns) {
        let _ = write!(text, "\n{number:>4}  {kind}");
    }
    text.push('\n');
    text
}

/// The kinds that were named, in the order in which they are listed, what is unknown here behind them.
fn columns(runs: &[Named]) -> Vec<&str> {
    let named: BTreeSet<&str> = runs.iter().map(|run| run.kind.as_str()).collect();
    let known = KINDS.into_iter().filter(|kind| named.contains(kind));
    let others = named.iter().copied().filter(|kind| !KINDS.contains(kind));
    known.chain(others).collect()
}

/// `22 of 22 named first; 0 healthy runs accused`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Summary {
    planted: usize,
    /// Those of which every run named the right kind first.
    named: usize,
    /// Runs of something healthy that named a fault.
    accused: usize,
    not_tried: usize,
}

impl Summary {
    pub(crate) fn of(cases: &[Case], runs: &[Named]) -> Self {
        let of = |case: &Case| runs.iter().filter(|run| run.case == case.name).collect::<Vec<_>>();
        let all_right = |case: &&Case| {
            let runs = of(case);
            !runs.is_empty() && runs.iter().all(|run| is_right(case, &run.kind))
        };
        let accused = |case: &Case| {
            let wrong = |run: &&&Named| !is_right(case, &run.kind) && run.kind != NOT_TRIED;
            of(case).iter().filter(wrong).count()
        };
        let planted = || cases.iter().filter(|case| case.nature == Nature::Planted);
        Self {
            planted: planted().count(),
            named: planted().filter(all_right).count(),
            accused: cases.iter().filter(|case| case.nature == Nature::Healthy).map(accused).sum(),
            not_tried: runs.iter().filter(|run| run.kind == NOT_TRIED).count(),
        }
    }

    pub(crate) fn is_good(self) -> bool {
        self.named == self.planted && self.accused == 0 && self.not_tried == 0
    }
}

impl std::fmt::Display for Summary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { planted, named, accused, not_tried } = self;
        write!(f, "{named} of {planted} named first; {accused} healthy runs accused")?;
        if *not_tried > 0 {
            write!(f, "; {not_tried} runs could not be tried")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(name: &'static str, nature: Nature, expected: &'static [&'static str]) -> Case {
        Case { name, nature, expected, sizes: Vec::new() }
    }

    fn cases() -> Vec<Case> {
        vec![
            case("a pool", Nature::Planted, &["pool_limit"]),
            case("a lock", Nature::Planted, &["serial_section"]),
            case("idle", Nature::Healthy, &["idle_pace"]),
        ]
    }

    fn named(pairs: &[(&'static str, &str)]) -> Vec<Named> {
        pairs.iter().map(|(case, kind)| Named { case, kind: (*kind).to_owned() }).collect()
    }

    #[test]
    fn all_right_is_said_in_one_line() {
        let runs = named(&[("a pool", "pool_limit"), ("a lock", "serial_section"), ("idle", "idle_pace")]);
        let summary = Summary::of(&cases(), &runs);
        assert_eq!(summary.to_string(), "2 of 2 named first; 0 healthy runs accused");
        assert!(summary.is_good());
    }

    #[test]
    fn one_wrong_run_makes_its_case_wrong() {
        let runs = named(&[
            ("a pool", "pool_limit"),
            ("a pool", "pool_limit"),
            ("a lock", "serial_section"),
            ("a lock", "unexplained"),
            ("idle", "noisy_host"),
            ("idle", NOT_TRIED),
        ]);
        let summary = Summary::of(&cases(), &runs);
        assert_eq!(
            summary.to_string(),
            "1 of 2 named first; 1 healthy runs accused; 1 runs could not be tried"
        );
        assert!(!summary.is_good());
        assert_eq!(
            matrix(&cases(), &runs),
            "          1    2    3    4    5\n\
             a pool    2    .    .    .    .\n\
             a lock    .    1    .   1!    .\n\
             idle      .    .   1!    .   1!\n\
             \n   1  pool_limit\n   2  serial_section\n   3  noisy_host\n   4  unexplained\n   5  not tried\n"
        );
    }

    #[test]
    fn what_was_not_run_was_not_named() {
        assert!(!Summary::of(&cases(), &[]).is_good());
    }
}
