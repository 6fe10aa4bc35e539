//! What our generator told beside the truth, for a person and as JSON.
use explain::{CaseOutcome, CaseVerdict, judge_case};
use record::{Calibration, CalibrationCase};
use serde::Serialize;

/// What `proofload calibrate --json` prints: the record, and what is to be said of each case.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CalibrationReport {
    /// The record.
    #[serde(flatten)]
    pub calibration: Calibration,
    /// One for each case.
    pub verdicts: Vec<CaseVerdict>,
}

impl CalibrationReport {
    /// Judges a calibration.
    pub fn new(calibration: Calibration) -> Self {
        let verdicts = calibration.cases.iter().map(judge_case).collect();
        Self { calibration, verdicts }
    }

    /// Whether every case is in bounds, and there is one.
    pub fn all_in_bounds(&self) -> bool {
        let mut outcomes = self.verdicts.iter().map(|verdict| verdict.outcome);
        !self.verdicts.is_empty() && outcomes.all(|outcome| outcome == CaseOutcome::InBounds)
    }

    /// As indented JSON.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a report is plain data")
    }

    /// As text
    pub fn text(&self) -> String {
        String::new()
    }
}

/// A case in a line.
pub fn calibration_line(case: &CalibrationCase) -> String {
    let verdict = judge_case(case);
    format!("{}: {} {}", case.name, verdict.outcome.name(), verdict.reasons.join("; "))
}
