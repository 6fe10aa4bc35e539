//! What was named first, counted: the table of the cases, and what follows for all of them.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use crate::case::{Case, Nature, Size, UNEXPLAINED};
use crate::record::{Line, Lines, NOT_MADE};

/// How many neighbours a run may have.
pub(crate) const NEIGHBOURS_MAX: u8 = 2;

/// How a run is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judged {
    Right,
    Unexplained,
    /// Another kind was named.
    Wrong,
    /// The same, and it blames something healthy.
    Accused,
    NotMade,
}

/// How what `line` says of `size` of `case` is counted.
pub(crate) fn judged(case: &Case, size: &Size, neighbours: u8, named: &str) -> Judged {
    match named {
        NOT_MADE => Judged::NotMade,
        kind if case.is_right(size, neighbours, kind) => Judged::Right,
        UNEXPLAINED => Judged::Unexplained,
        kind if case.is_accused(size, neighbours, kind) => Judged::Accused,
        _ => Judged::Wrong,
    }
}

/// A run that is on record, of a case that there is.
#[derive(Debug, Clone, Copy)]
struct Run<'a> {
    case: &'a Case,
    line: &'a Line,
    judged: Judged,
}

/// Runs of cases, sorted by them.
#[derive(Debug)]
pub(crate) struct Matrix<'a> {
    cases: &'a [Case],
    runs: Vec<Run<'a>>,
    /// What is on record of no case that there is.
    pub(crate) strangers: Vec<&'a Line>,
}

impl<'a> Matrix<'a> {
    pub(crate) fn of(cases: &'a [Case], lines: &'a Lines) -> Self {
        let (mut runs, mut strangers) = (Vec::new(), Vec::new());
        for line in lines.iter() {
            let case = cases.iter().find(|case| case.name == line.key.case);
            let found = case.and_then(|case| Some((case, case.size(&line.key.size)?)));
            match found {
                Some((case, size)) => {
                    let judged = judged(case, size, line.key.neighbours, &line.named);
                    runs.push(Run { case, line, judged });
                }
                None => strangers.push(line),
            }
        }
        Self { cases, runs, strangers }
    }

    /// Cases without a run.
    pub(crate) fn not_on_record(&self) -> Vec<&'a Case> {
        let has_run = |case: &&Case| self.runs.iter().any(|run| run.case.name == case.name);
        self.cases.iter().filter(|case| !has_run(case)).collect()
    }

    pub(crate) fn summary(&self) -> Summary {
        let counts = |nature, is_of: fn(u8) -> bool| {
            let mut counts = Counts::default();
            let of = |run: &&Run<'_>| run.case.nature == nature && is_of(run.line.key.neighbours);
            self.runs.iter().filter(of).for_each(|run| counts.add(run.judged));
            counts
        };
        Summary {
            planted_quiet: counts(Nature::Planted, |neighbours| neighbours == 0),
            planted_beside: counts(Nature::Planted, |neighbours| neighbours > 0),
            healthy_quiet: counts(Nature::Healthy, |neighbours| neighbours == 0),
            healthy_beside: counts(Nature::Healthy, |neighbours| neighbours > 0),
            not_probed: self.runs.iter().filter(|run| run.line.probe.as_deref() == Some(NOT_MADE)).count(),
        }
    }

    /// Runs of `case` beside so many neighbours: `4 of 4`; a dash where none is on record, and nothing where there is to be none.
    fn cell(&self, case: &Case, neighbours: u8) -> String {
        let mut counts = Counts::default();
        let of = |run: &&Run<'_>| run.case.name == case.name && run.line.key.neighbours == neighbours;
        self.runs.iter().filter(of).for_each(|run| counts.add(run.judged));
        match counts.all() {
            0 if case.sizes.iter().any(|size| size.is_run_beside(neighbours)) => "–".to_owned(),
            0 => String::new(),
            all => format!("{} of {all}", counts.right),
        }
    }

    /// What else was named of `case`, how often, and beside how many: `not_steady`, 2 ×.
    fn otherwise(&self, case: &Case) -> String {
        let mut kinds: BTreeMap<&str, u32> = BTreeMap::new();
        for run in self.runs.iter().filter(|run| run.case.name == case.name && run.judged != Judged::Right) {
            *kinds.entry(run.line.named.as_str()).or_default() += 1;
        }
        let told = kinds.iter().map(|(kind, count)| {
            let kind = if *kind == NOT_MADE { (*kind).to_owned() } else { format!("`{kind}`") };
            if *count == 1 { kind } else { format!("{kind} {count} ×") }
        });
        told.collect::<Vec<_>>().join(", ")
    }

    /// What the probe of other levels said of runs of `case`: `confirmed 2 ×`.
    fn probed(&self, case: &Case) -> String {
        let of = self.runs.iter().filter(|run| run.case.name == case.name);
        told_probes(&probes(of))
    }
}

/// How often each outcome of the probe came.
fn probes<'a>(runs: impl Iterator<Item = &'a Run<'a>>) -> BTreeMap<&'a str, u32> {
    let mut outcomes = BTreeMap::new();
    for outcome in runs.filter_map(|run| run.line.probe.as_deref()) {
        *outcomes.entry(outcome).or_default() += 1;
    }
    outcomes
}

fn told_probes(outcomes: &BTreeMap<&str, u32>) -> String {
    let told = outcomes.iter().map(|(outcome, count)| format!("{outcome} {count} ×"));
    told.collect::<Vec<_>>().join(", ")
}

/// As Markdown: a row for each case, and one for all runs of a kind.
impl fmt::Display for Matrix<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| case | quiet | 1 neighbour | 2 neighbours | named otherwise | probe |")?;
        writeln!(f, "|---|---:|---:|---:|---|---|")?;
        for case in self.cases {
            let mut cells = String::new();
            for neighbours in 0..=NEIGHBOURS_MAX {
                write!(cells, " {} |", self.cell(case, neighbours))?;
            }
            let healthy = if case.nature == Nature::Healthy { "healthy: " } else { "" };
            let (otherwise, probed) = (self.otherwise(case), self.probed(case));
            writeln!(f, "| {healthy}{} |{cells} {otherwise} | {probed} |", case.name)?;
        }
        writeln!(f, "\n{}", self.summary())?;
        for (of, is_right) in [("Right", true), ("Other", false)] {
            let outcomes = probes(self.runs.iter().filter(|run| (run.judged == Judged::Right) == is_right));
            if !outcomes.is_empty() {
                writeln!(f, "\n{of} verdicts that were put to the test: {}.", told_probes(&outcomes))?;
            }
        }
        Ok(())
    }
}

/// How runs of a kind came out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counts {
    right: u32,
    unexplained: u32,
    wrong: u32,
    accused: u32,
    not_made: u32,
}

impl Counts {
    fn add(&mut self, judged: Judged) {
        *match judged {
            Judged::Right => &mut self.right,
            Judged::Unexplained => &mut self.unexplained,
            Judged::Wrong => &mut self.wrong,
            Judged::Accused => &mut self.accused,
            Judged::NotMade => &mut self.not_made,
        } += 1;
    }

    fn all(self) -> u32 {
        self.right + self.unexplained + self.wrong + self.accused + self.not_made
    }

    fn and(self, other: Self) -> Self {
        Self {
            right: self.right + other.right,
            unexplained: self.unexplained + other.unexplained,
            wrong: self.wrong + other.wrong,
            accused: self.accused + other.accused,
            not_made: self.not_made + other.not_made,
        }
    }

    /// A row of the table.
    fn row(self, name: &str) -> String {
        let Self { right, unexplained, wrong, accused, not_made } = self;
        let share = 100.0 * share(right, self.all());
        format!(
            "| {name} | {} | {right} ({share:.1} %) | {unexplained} | {wrong} | {accused} | {not_made} |",
            self.all()
        )
    }
}

/// A part of a whole; of nothing, none.
fn share(part: u32, whole: u32) -> f64 {
    if whole == 0 { 0.0 } else { f64::from(part) / f64::from(whole) }
}

/// All runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Summary {
    planted_quiet: Counts,
    planted_beside: Counts,
    healthy_quiet: Counts,
    healthy_beside: Counts,
    /// Verdicts that were to be put to the test, and were not.
    not_probed: usize,
}

impl Summary {
    /// Of planted limits on a quiet machine at least so many are named first.
    const NAMED_QUIET_MIN: f64 = 0.95;
    /// Beside neighbours.
    const NAMED_BESIDE_MIN: f64 = 0.85;
    /// Of healthy runs at most so many are accused.
    const ACCUSED_MAX: f64 = 0.01;

    /// Whether it is as good as it should be. What was not made is no success, and no run at all is none either.
    pub(crate) fn is_good(self) -> bool {
        let healthy = self.healthy_quiet.and(self.healthy_beside);
        let all = self.planted_quiet.and(self.planted_beside).and(healthy);
        let is_named =
            |counts: Counts, least| counts.all() == 0 || share(counts.right, counts.all()) >= least;
        all.all() > 0
            && all.not_made == 0
            && self.not_probed == 0
            && is_named(self.planted_quiet, Self::NAMED_QUIET_MIN)
            && is_named(self.planted_beside, Self::NAMED_BESIDE_MIN)
            && share(healthy.accused, healthy.all()) <= Self::ACCUSED_MAX
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| runs | all | named first | unexplained | wrong | healthy accused | not made |")?;
        writeln!(f, "|---|---:|---:|---:|---:|---:|---:|")?;
        writeln!(f, "{}", self.planted_quiet.row("planted, quiet"))?;
        writeln!(f, "{}", self.planted_beside.row("planted, beside neighbours"))?;
        writeln!(f, "{}", self.healthy_quiet.row("healthy, quiet"))?;
        write!(f, "{}", self.healthy_beside.row("healthy, beside neighbours"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Around, Endpoint, Load, Server, Target};
    use crate::record::Key;

    fn case(name: &'static str, nature: Nature, expected: &'static [&'static str], computes: bool) -> Case {
        let size = Size {
            label: "one",
            server: Server::Target(Target::new("")),
            load: Load::closed(Endpoint::Hello, 1),
            around: Around::Quiet,
            computes,
        };
        Case { name, nature, expected, sizes: vec![size] }
    }

    fn cases() -> Vec<Case> {
        vec![
            case("a pool", Nature::Planted, &["pool_limit"], false),
            case("a burn", Nature::Planted, &["cpu_bound"], true),
            case("idle", Nature::Healthy, &["idle_pace"], false),
        ]
    }

    fn lines(of: &[(&str, u8, u64, &str)]) -> Lines {
        let mut lines = Lines::default();
        for (case, neighbours, seed, named) in of {
            let key = Key { case: (*case).into(), size: "one".into(), neighbours: *neighbours, seed: *seed };
            lines.add(Line {
                key,
                named: (*named).into(),
                phrase: String::new(),
                probe: (*named == "pool_limit").then(|| "confirmed".to_owned()),
                binary: String::new(),
                planted: None,
                evidence: None,
            });
        }
        lines
    }

    fn lines_of_a_pool() -> Lines {
        lines(&[("a pool", 0, 1, "pool_limit")])
    }

    #[test]
    fn counts_what_was_named_by_case_and_by_neighbours() {
        let lines = lines(&[
            ("a pool", 0, 1, "pool_limit"),
            ("a pool", 0, 2, "unexplained"),
            ("a pool", 2, 1, "noisy_host"),
            ("a burn", 0, 1, "noisy_host"),
            ("a burn", 1, 1, "noisy_host"),
            ("idle", 0, 1, "pool_limit"),
            ("idle", 0, 2, NOT_MADE),
            ("idle", 1, 1, "noisy_host"),
            ("gone", 0, 1, "pool_limit"),
        ]);
        let cases = cases();
        let matrix = Matrix::of(&cases, &lines);
        assert_eq!((matrix.strangers.len(), matrix.not_on_record().len()), (1, 0));
        let missing: Vec<&str> =
            Matrix::of(&cases[..2], &lines_of_a_pool()).not_on_record().iter().map(|it| it.name).collect();
        assert_eq!(missing, ["a burn"]);
        assert_eq!(
            matrix.to_string(),
            "| case | quiet | 1 neighbour | 2 neighbours | named otherwise | probe |\n\
             |---|---:|---:|---:|---|---|\n\
             | a pool | 1 of 2 | – | 0 of 1 | `noisy_host`, `unexplained` | confirmed 1 × |\n\
             | a burn | 0 of 1 | 1 of 1 | – | `noisy_host` |  |\n\
             | healthy: idle | 0 of 2 | 0 of 1 | – | `noisy_host`, not made, `pool_limit` | confirmed 1 × |\n\
             \n\
             | runs | all | named first | unexplained | wrong | healthy accused | not made |\n\
             |---|---:|---:|---:|---:|---:|---:|\n\
             | planted, quiet | 3 | 1 (33.3 %) | 1 | 1 | 0 | 0 |\n\
             | planted, beside neighbours | 2 | 1 (50.0 %) | 0 | 1 | 0 | 0 |\n\
             | healthy, quiet | 2 | 0 (0.0 %) | 0 | 0 | 1 | 1 |\n\
             | healthy, beside neighbours | 1 | 0 (0.0 %) | 0 | 1 | 0 | 0 |\n\
             \n\
             Right verdicts that were put to the test: confirmed 1 ×.\n\
             \n\
             Other verdicts that were put to the test: confirmed 1 ×.\n"
        );
        assert!(!matrix.summary().is_good());
    }

    #[test]
    fn all_must_be_made_most_named_and_hardly_anything_accused() {
        let is_good = |of: &[(&str, u8, u64, &str)]| Matrix::of(&cases(), &lines(of)).summary().is_good();
        let many = |right: u64, all: u64, neighbours, case, kind| -> Vec<(&str, u8, u64, &str)> {
            let named = |seed| if seed < right { kind } else { "pool_limit" };
            (0..all).map(|seed| (case, neighbours, seed, named(seed))).collect()
        };
        assert!(!is_good(&[]));
        assert!(is_good(&many(19, 20, 0, "a burn", "cpu_bound")));
        assert!(!is_good(&many(18, 20, 0, "a burn", "cpu_bound")));
        assert!(is_good(&many(17, 20, 2, "a burn", "cpu_bound")));
        assert!(!is_good(&many(16, 20, 2, "a burn", "cpu_bound")));
        assert!(is_good(&many(99, 100, 0, "idle", "unexplained")));
        assert!(!is_good(&many(98, 100, 0, "idle", "unexplained")));
        assert!(!is_good(&[("a burn", 0, 1, "cpu_bound"), ("idle", 0, 1, NOT_MADE)]));
    }
}
