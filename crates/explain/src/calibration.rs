//! Is what the generator told of a load within bounds of what the server logged of it?

use record::{CalibrationCase, CalibrationTry, Distribution, ResponseFrom};
use serde::Serialize;

use crate::audit::{ReasonKind, Validity, audit};

/// The percentiles that are held against the truth.
pub const CALIBRATED_PERCENTILES: [&str; 5] = ["p50", "p90", "p99", "p99_9", "p99_99"];
/// Share of the truth that a figure may be off by: ten times what its histogram rounds.
const ERROR_SHARE_MAX: f64 = 0.01;
/// What a figure may be off by however small the truth is, µs: two or three system calls.
const ERROR_US_MAX: f64 = 20.0;
/// Wake-ups between the truth of a response time and what the generator tells: its own, for the answer.
const RESPONSE_WAKE_UPS: f64 = 1.0;
/// The same of a service time: the server's as well, for the request.
const SERVICE_WAKE_UPS: f64 = 2.0;
/// Share of the requests of a closed load that may be on one side of the window's ends for the generator and on
/// the other for the server: each end is dated by an answer, which the two see some microseconds apart.
const COUNTS_DIFFER_SHARE_MAX: f64 = 0.001;

/// What is to be said of a case.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CaseVerdict {
    /// In a word.
    pub outcome: CaseOutcome,
    /// Why it is not in bounds; empty where it is.
    pub reasons: Vec<String>,
    /// What the audit says of the last try.
    pub validity: Option<Validity>,
    /// Response times against the truth, one for each percentile.
    pub response: Vec<Deviation>,
    /// Service times, where the server's log holds their truth; else empty.
    pub service: Vec<Deviation>,
}

/// What came of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CaseOutcome {
    /// Every figure that has a truth is as close to it as allowed.
    InBounds,
    /// Some is not, or the two sides did not see the same requests.
    OutOfBounds,
    /// The generator's own audit says that the figures are not the server's: nothing is claimed.
    Withheld,
    /// There is nothing to compare.
    Failed,
}

impl CaseOutcome {
    /// In reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::InBounds => "in bounds",
            Self::OutOfBounds => "OUT OF BOUNDS",
            Self::Withheld => "withheld",
            Self::Failed => "FAILED",
        }
    }
}

/// A percentile against its truth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Deviation {
    /// Which: `p99_9`.
    pub percentile: &'static str,
    /// From the server's log.
    pub truth_us: f64,
    /// What the generator told.
    pub told_us: f64,
    /// told − truth.
    pub off_us: f64,
    /// How far it may be off.
    pub allowed_us: f64,
    /// By which of the three bounds: the largest.
    pub allowed_by: AllowedBy,
    /// Whether it is off by no more than that, and no mere lower bound.
    pub in_bounds: bool,
}

/// The bound that applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AllowedBy {
    /// 1 % of the truth.
    Share,
    /// 20 µs.
    Floor,
    /// The machine's own scheduling delay at the same percentile, once for each wake-up in between.
    SchedulingDelay,
}

/// Judges a case by its last try.
pub fn judge_case(case: &CalibrationCase) -> CaseVerdict {
    let Some(last) = case.tries.last().filter(|_| case.failed.is_none()) else {
        let why = case.failed.clone().unwrap_or_else(|| "it was not tried".into());
        return CaseVerdict {
            outcome: CaseOutcome::Failed,
            reasons: vec![why],
            validity: None,
            response: Vec::new(),
            service: Vec::new(),
        };
    };
    let validity = audit(&last.load);
    let (load, truth) = (&last.load, &last.truth);
    let compare = |told: &Distribution, truth: &Distribution, wake_ups: f64| {
        deviations(told, truth, &last.scheduling_delay_us, wake_ups)
    };
    let response = compare(&load.response_time_us, &truth.response_time_us, RESPONSE_WAKE_UPS);
    let service = match case.service_not_logged {
        Some(_) => Vec::new(),
        None => compare(&load.service_time_us, &truth.service_time_us, SERVICE_WAKE_UPS),
    };
    let client_bound = validity.reasons.iter().find(|reason| reason.kind == ReasonKind::ClientBound);
    let mut reasons = not_the_same_requests(last);
    reasons.extend(out_of_bounds("response", &response));
    reasons.extend(out_of_bounds("service", &service));
    let outcome = match (client_bound, reasons.is_empty()) {
        (Some(_), _) => CaseOutcome::Withheld,
        (None, true) => CaseOutcome::InBounds,
        (None, false) => CaseOutcome::OutOfBounds,
    };
    if let Some(client_bound) = client_bound {
        reasons = vec![format!("client-bound: {}", client_bound.text)];
    }
    CaseVerdict { outcome, reasons, validity: Some(validity), response, service }
}

/// Figures of other requests are no truth, however close they are.
fn not_the_same_requests(one: &CalibrationTry) -> Vec<String> {
    let CalibrationTry { load, truth, .. } = one;
    let (told, logged) = (load.response_time_us.count, truth.response_time_us.count);
    let differ_max = match truth.response_from {
        ResponseFrom::Due => 0,
        ResponseFrom::PreviousAnswer => (told as f64 * COUNTS_DIFFER_SHARE_MAX).ceil() as u64,
    };
    let mut reasons = Vec::new();
    if logged == 0 {
        reasons.push("the server logged no request of the window".into());
    }
    if told.abs_diff(logged) > differ_max {
        reasons.push(format!("the generator told of {told} requests and the server logged {logged}"));
    }
    if truth.arrived_early > 0 {
        reasons.push(format!(
            "{} requests arrived before they were due: they are not those that they were taken for",
            truth.arrived_early
        ));
    }
    if truth.unanswered > 0 {
        reasons.push(format!("the server never answered {} requests", truth.unanswered));
    }
    reasons
}

fn out_of_bounds(what: &str, deviations: &[Deviation]) -> Vec<String> {
    let mut reasons = Vec::new();
    if deviations.iter().any(|it| !it.in_bounds) {
        let names: Vec<String> =
            deviations.iter().filter(|it| !it.in_bounds).map(|it| it.percentile.replace('_', ".")).collect();
        reasons.push(format!("{what} time at {}", names.join(", ")));
    }
    reasons
}

/// A percentile that one side has none of, as where nothing was answered, is left out; the counts tell.
fn deviations(
    told: &Distribution,
    truth: &Distribution,
    delay: &Distribution,
    wake_ups: f64,
) -> Vec<Deviation> {
    let one = |percentile: &'static str| {
        let (truth_us, _) = truth.figure(percentile)?;
        let (told_us, is_lower_bound) = told.figure(percentile)?;
        let delay_us = delay.figure(percentile).map_or(0.0, |(us, _)| us) * wake_ups;
        let (allowed_us, allowed_by) = allowed(truth_us, delay_us);
        let off_us = told_us - truth_us;
        let in_bounds = off_us.abs() <= allowed_us && !is_lower_bound;
        Some(Deviation { percentile, truth_us, told_us, off_us, allowed_us, allowed_by, in_bounds })
    };
    CALIBRATED_PERCENTILES.into_iter().filter_map(one).collect()
}

fn allowed(truth_us: f64, delay_us: f64) -> (f64, AllowedBy) {
    let share_us = truth_us * ERROR_SHARE_MAX;
    if delay_us > share_us.max(ERROR_US_MAX) {
        (delay_us, AllowedBy::SchedulingDelay)
    } else if share_us >= ERROR_US_MAX {
        (share_us, AllowedBy::Share)
    } else {
        (ERROR_US_MAX, AllowedBy::Floor)
    }
}
