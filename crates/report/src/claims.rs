//! What became of a write-up's claims, for a person and for a program.

use std::fmt::Write;

use comfy_table::{CellAlignment, Table};
use explain::{ClaimPart, ClaimVerdict, JudgedClaim, PartUnit, judge_claim, other_settings};
use plan::claims::PublishedMachine;
use plan::{CellId, Claim, Metric, WriteUp};
use record::{CellName, Machine, Manifest, Trial};
use schemars::JsonSchema;
use serde::Serialize;

use crate::figure::{NONE, interval, per_s, plain_line, time_us};

/// Version of [`ClaimsReport`] as JSON.
const CLAIMS_VERSION: u32 = 2;
/// In the order in which they are counted.
const VERDICTS: [ClaimVerdict; 8] = [
    ClaimVerdict::Confirmed,
    ClaimVerdict::SizeUndecided,
    ClaimVerdict::SizeRefuted,
    ClaimVerdict::Reversed,
    ClaimVerdict::Tied,
    ClaimVerdict::Undecided,
    ClaimVerdict::NotMeasured,
    ClaimVerdict::NotTestable,
];
/// Parts of a claim that are shown.
const PARTS_MAX: usize = 24;

/// A write-up's claims held against a run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ClaimsReport {
    /// Version of this form.
    pub version: u32,
    /// The write-up's title.
    pub title: String,
    /// Where it was published, as far as it says.
    pub source: String,
    /// When, as far as it says.
    pub when: String,
    /// What made its load.
    pub driver: String,
    /// What it measured on.
    pub published_machine: PublishedMachine,
    /// What this run measured on.
    pub machine: Machine,
    /// The run's directory, as the user would name it.
    pub run: String,
    /// The commit that it was measured at, where that was written down; with `+` where files differed from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Blocks of which there are trials.
    pub blocks: u32,
    /// Blocks after which claims were held against it, where it went on until they were decided.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub looks: Vec<u32>,
    /// Whether it was to be a quick look.
    pub quick: bool,
    /// The runs that other claims are judged by, where a write-up was measured in parts; the oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_runs: Vec<OtherRun>,
    /// How many claims came to each verdict.
    pub counts: VerdictCounts,
    /// The claims, in the write-up's order.
    pub claims: Vec<JudgedClaim>,
}

/// A run that some claims are judged by, beside the last one.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct OtherRun {
    /// Its directory, as the user would name it.
    pub run: String,
    /// What it measured on.
    pub machine: Machine,
    /// The commit that it was measured at, where that was written down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Blocks of which there are trials.
    pub blocks: u32,
    /// Whether it was to be a quick look; absent where not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub quick: bool,
    /// The claims that it decides upon, by their names.
    pub claims: Vec<String>,
}

/// A run that claims may be judged by.
#[derive(Debug, Clone, Copy)]
pub struct MeasuredRun<'a> {
    /// What it was begun with.
    pub manifest: &'a Manifest,
    /// What was measured.
    pub trials: &'a [Trial],
    /// Its directory, as the user would name it.
    pub dir: &'a str,
}

impl MeasuredRun<'_> {
    fn has(&self, cell: &CellId) -> bool {
        let is_it = |trial: &Trial| trial.stack == cell.stack && CellName::of(trial).is_beside(cell);
        record::trials_of(self.trials, is_it).next().is_some()
    }

    fn blocks(&self) -> u32 {
        self.trials.iter().map(|trial| trial.block.saturating_add(1)).max().unwrap_or(0)
    }

    /// A claim by its trials. What was set otherwise is told of what was measured.
    fn judge(&self, write_up: &WriteUp, claim: &Claim) -> JudgedClaim {
        let judged = judge_claim(claim, self.trials, self.manifest);
        let is_measured = judged.parts.iter().any(|part| part.blocks > 0);
        let settings = if is_measured { other_settings(write_up, claim, self.manifest) } else { Vec::new() };
        JudgedClaim { settings, ..judged }
    }
}

/// Which of `runs`, the oldest first, judges a claim: the last that measured all of its cells. Where none did it is the last one,
/// and that says what it lacks.
fn judge_of(claim: &Claim, runs: &[MeasuredRun<'_>]) -> usize {
    let cells = claim.cells();
    let has_all = |run: &MeasuredRun<'_>| !cells.is_empty() && cells.iter().all(|cell| run.has(cell));
    runs.iter().rposition(has_all).unwrap_or(runs.len().saturating_sub(1))
}

/// How many claims came to each verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct VerdictCounts {
    /// Borne out.
    pub confirmed: usize,
    /// Borne out in direction, the size left open.
    pub size_undecided: usize,
    /// Borne out in direction, and surely of another size.
    pub size_refuted: usize,
    /// Refuted.
    pub reversed: usize,
    /// Neither, though it might have been shown.
    pub tied: usize,
    /// Measured, in too few blocks to show either.
    pub undecided: usize,
    /// Without a figure: not run, or no trial is usable.
    pub not_measured: usize,
    /// Neither could be shown here.
    pub not_testable: usize,
}

impl VerdictCounts {
    fn of(claims: &[JudgedClaim]) -> Self {
        let mut counts = Self::default();
        for claim in claims {
            *counts.place(claim.verdict) += 1;
        }
        counts
    }

    const fn place(&mut self, verdict: ClaimVerdict) -> &mut usize {
        match verdict {
            ClaimVerdict::Confirmed => &mut self.confirmed,
            ClaimVerdict::SizeUndecided => &mut self.size_undecided,
            ClaimVerdict::SizeRefuted => &mut self.size_refuted,
            ClaimVerdict::Reversed => &mut self.reversed,
            ClaimVerdict::Tied => &mut self.tied,
            ClaimVerdict::Undecided => &mut self.undecided,
            ClaimVerdict::NotMeasured => &mut self.not_measured,
            ClaimVerdict::NotTestable => &mut self.not_testable,
        }
    }

    /// `3 confirmed, 1 reversed`: every verdict that there is.
    fn words(mut self) -> String {
        let told = VERDICTS.into_iter().filter_map(|verdict| {
            let count = *self.place(verdict);
            (count > 0).then(|| format!("{count} {}", verdict.name()))
        });
        told.collect::<Vec<_>>().join("; ")
    }
}

impl ClaimsReport {
    /// Judges every claim of `write_up` by the trials of a run.
    pub fn of(write_up: &WriteUp, manifest: &Manifest, trials: &[Trial], run: &str) -> Self {
        Self::of_runs(write_up, &[MeasuredRun { manifest, trials, dir: run }])
    }

    /// Judges each claim of `write_up` by one of `runs`, the oldest first: the last that measured all of its cells. Blocks of two
    /// runs are never put together: what was otherwise between them would be in the figures.
    ///
    /// # Panics
    /// Where there are no runs at all.
    pub fn of_runs(write_up: &WriteUp, runs: &[MeasuredRun<'_>]) -> Self {
        let (last, earlier) = runs.split_last().expect("claims are judged by a run");
        let by: Vec<(usize, &Claim)> =
            write_up.claims.iter().map(|claim| (judge_of(claim, runs), claim)).collect();
        let claims: Vec<JudgedClaim> =
            by.iter().map(|(run, claim)| runs[*run].judge(write_up, claim)).collect();
        let other = |(index, run): (usize, &MeasuredRun<'_>)| OtherRun {
            run: run.dir.to_owned(),
            machine: run.manifest.machine.clone(),
            commit: run.manifest.commit.clone(),
            blocks: run.blocks(),
            quick: run.manifest.quick,
            claims: by.iter().filter(|(by, _)| *by == index).map(|(_, claim)| claim.id.clone()).collect(),
        };
        let other_runs = earlier.iter().enumerate().map(other).filter(|run| !run.claims.is_empty()).collect();
        let (manifest, counts) = (last.manifest, VerdictCounts::of(&claims));
        Self {
            version: CLAIMS_VERSION,
            title: write_up.title.clone(),
            source: write_up.source.clone(),
            when: write_up.when.clone(),
            driver: write_up.driver.clone(),
            published_machine: write_up.machine.clone(),
            machine: manifest.machine.clone(),
            run: last.dir.to_owned(),
            commit: manifest.commit.clone(),
            looks: manifest.looks.clone(),
            blocks: last.blocks(),
            quick: manifest.quick,
            other_runs,
            counts,
            claims,
        }
    }

    /// As JSON, on several lines.
    ///
    /// # Panics
    /// Never: it is plain data.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a report is plain data")
    }
}

/// The claims with what was published, what was measured and what became of them.
pub fn claims_text(report: &ClaimsReport) -> String {
    let there = &report.published_machine;
    let cores = there.cores.map_or_else(String::new, |cores| format!("{cores} cores, "));
    let here = measured_on(&report.machine, report.blocks, report.quick);
    let mut text = format!(
        "{}\n{}; {}\nthere: {cores}{}; {}\nhere:  {here}\n",
        plain_line(&report.title),
        plain_line(&report.source),
        plain_line(&report.when),
        plain_line(&there.description),
        plain_line(&report.driver),
    );
    for run in &report.other_runs {
        let here = measured_on(&run.machine, run.blocks, run.quick);
        // Writing into a String cannot fail.
        let _ = writeln!(text, "       {here}, of {}", run.claims.join(", "));
    }
    for claim in &report.claims {
        claim_text(&mut text, claim);
    }
    let by = if report.looks.is_empty() {
        "By the signed-rank test within\nblocks at 5 %, Holm's method over the comparisons of a claim, and nothing nearer \
         than 2 % or than a stack and its twin\n(docs/claims.md)."
            .to_owned()
    } else {
        let looks: Vec<String> = report.looks.iter().map(ToString::to_string).collect();
        format!(
            "They hold\nat all looks together, after {} blocks; a claim that was decided went no further. Nothing nearer than \
             2 % or than\na stack and its twin is a difference (docs/claims.md).",
            looks.join(", ")
        )
    };
    // Writing into a String cannot fail.
    let _ = write!(
        text,
        "\n{} claims: {}.\n\
         Figures of goodput are expected answers a second; those in parentheses are 95 % intervals. {by}\n\
         Full record: {}{}\n",
        report.claims.len(),
        report.counts.words(),
        plain_line(&report.run),
        at_commit(report.commit.as_deref()),
    );
    for run in &report.other_runs {
        let _ = writeln!(
            text,
            "of {}: {}{}",
            run.claims.join(", "),
            plain_line(&run.run),
            at_commit(run.commit.as_deref())
        );
    }
    text
}

fn measured_on(machine: &Machine, blocks: u32, quick: bool) -> String {
    if blocks == 0 {
        return "nothing was measured".to_owned();
    }
    format!(
        "{} cores, {}; {blocks} block{}{}",
        machine.cores,
        plain_line(machine.cpu.as_deref().unwrap_or("unknown CPU")),
        if blocks == 1 { "" } else { "s" },
        if quick { ", a quick look" } else { "" },
    )
}

fn at_commit(commit: Option<&str>) -> String {
    commit.map_or_else(String::new, |it| format!(", measured at commit {}", plain_line(it)))
}

fn claim_text(text: &mut String, claim: &JudgedClaim) {
    let (id, sentence, why) = (plain_line(&claim.id), plain_line(&claim.sentence), plain_line(&claim.why));
    let of = match claim.metric {
        Metric::Goodput => String::new(),
        metric => format!(" ({})", metric.name()),
    };
    let because = if claim.verdict == ClaimVerdict::NotTestable { "because " } else { "" };
    let derived = if claim.is_derived { " (by its figures; not in its words)" } else { "" };
    let _ = writeln!(
        text,
        "\n{}: {sentence}{derived} [{id}]\n  {because}{why}",
        claim.verdict.name().to_uppercase()
    );
    if !claim.parts.is_empty() {
        let mut table = Table::new();
        table.load_style(comfy_table::presets::NOTHING);
        table.set_header(vec![
            format!("  {}{of}", claim.kind),
            "published".into(),
            "expected".into(),
            "measured".into(),
            "blocks".into(),
            String::new(),
        ]);
        for part in claim.parts.iter().take(PARTS_MAX) {
            table.add_row(row(part));
        }
        for index in 1..5 {
            if let Some(column) = table.column_mut(index) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let _ = writeln!(text, "{}", table.trim_fmt());
    }
    if let Some(more) = claim.parts.len().checked_sub(PARTS_MAX).filter(|more| *more > 0) {
        let _ = writeln!(text, "  and {more} more");
    }
    for setting in &claim.settings {
        let _ = writeln!(text, "  ({})", plain_line(setting));
    }
    for note in &claim.notes {
        let _ = writeln!(text, "  ({})", plain_line(note));
    }
}

fn row(part: &ClaimPart) -> Vec<String> {
    let shown = |value: f64| match part.unit {
        PartUnit::Ratio => format!("×{value:.2}"),
        PartUnit::PerS => per_s(value),
        PartUnit::Micros => time_us(value),
    };
    let or_none = |value: Option<f64>| value.map_or_else(|| NONE.into(), shown);
    let ends = part.measured.map_or_else(String::new, |_| interval(part.low, part.high, shown));
    let measured = format!("{}{ends}", or_none(part.measured));
    let told = match (part.verdict, part.points_the_same_way) {
        (verdict, Some(true)) if verdict.is_open() => "points the same way",
        (verdict, Some(false)) if verdict.is_open() => "points the other way",
        (verdict, _) => verdict.name(),
    };
    vec![
        format!("  {}", plain_line(&part.what)),
        or_none(part.published),
        or_none(part.expected),
        measured,
        part.blocks.to_string(),
        told.to_owned(),
    ]
}
