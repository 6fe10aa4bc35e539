//! What a part of a claim is tested for, and what becomes of it by its estimate and interval.

use schemars::JsonSchema;
use serde::Serialize;
use stats::{ALPHA, LEAST_EFFECT, Least, Looked, Ratio, Told};

use super::ClaimVerdict;

/// What became of the size that a claim names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SizeVerdict {
    /// The interval holds it, and few others.
    Confirmed,
    /// The interval excludes it.
    Refuted,
    /// The interval holds it, and sizes that are quite different.
    Undecided,
}

impl SizeVerdict {
    /// Of a claimed ratio by the interval of the measured one. The interval holds what is nearer to it than `least_effect`,
    /// since nothing nearer is called another size; and it tells the claimed effect from one half as large and from one half as
    /// large again, or it tells nothing of the size.
    pub(super) fn of(size: f64, (low, high): (f64, f64), least_effect: f64) -> Self {
        let margin = 1.0 + least_effect;
        if low > size * margin || size > high * margin {
            return Self::Refuted;
        }
        let (half, more) = (size.powf(0.5), size.powf(1.5));
        let is_told = low > half.min(more) && high < half.max(more);
        if is_told { Self::Confirmed } else { Self::Undecided }
    }

    /// The same where any of several comparisons refutes the claim: by the interval of all of them together it is refuted, and by
    /// that of this comparison confirmed.
    fn of_several(size: f64, own: (f64, f64), joint: (f64, f64), least_effect: f64) -> Self {
        let by = |ends| Self::of(size, ends, least_effect);
        match (by(own), by(joint)) {
            (_, Self::Refuted) => Self::Refuted,
            (Self::Confirmed, _) => Self::Confirmed,
            _ => Self::Undecided,
        }
    }
}

/// What a part is tested for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rule {
    /// Above 1, or below it.
    Direction { above: bool, size: Option<f64> },
    /// Within so much of 1.
    Equivalence { within: f64 },
}

impl Rule {
    /// Where a ratio points that lies between two ends. `None` where they point to either side.
    pub(super) fn points_the_same_way(self, (least, most): (f64, f64)) -> Option<bool> {
        match self {
            Self::Direction { above, .. } => {
                let is_above = least > 1.0;
                (is_above == (most > 1.0)).then_some(is_above == above)
            }
            Self::Equivalence { within } => {
                let is_near = is_within(least, within) && is_within(most, within);
                let is_off = least > 1.0 + within || most < 1.0 / (1.0 + within);
                (is_near || is_off).then_some(is_near)
            }
        }
    }

    /// The ratios on whose sides it depends what becomes of the claim.
    pub(super) fn edges(self) -> Vec<f64> {
        match self {
            Self::Direction { .. } => vec![1.0],
            Self::Equivalence { within } => vec![1.0 / (1.0 + within), 1.0 + within],
        }
    }

    /// What becomes of the claimed size, where there is one and an interval to hold it against. `joint` holds together with those
    /// of the other comparisons.
    pub(super) fn size(self, ratio: Ratio, joint: (f64, f64), least_effect: f64) -> Option<SizeVerdict> {
        let Self::Direction { size: Some(size), .. } = self else { return None };
        let has_interval = ratio.low.is_some() || ratio.high.is_some();
        let own = (ratio.low.unwrap_or(0.0), ratio.high.unwrap_or(f64::INFINITY));
        has_interval.then(|| SizeVerdict::of_several(size, own, joint, least_effect))
    }

    /// The verdict on an estimate with enough blocks, and why.
    pub(super) fn verdict(
        self,
        ratio: Ratio,
        p: f64,
        least: Least,
        size: Option<SizeVerdict>,
    ) -> (ClaimVerdict, String) {
        match self {
            Self::Direction { above, size: claimed } => {
                let not_as_claimed = if size == Some(SizeVerdict::Refuted) {
                    "; the size is surely not the claimed one"
                } else {
                    ""
                };
                let effect = ratio.value.max(1.0 / ratio.value) - 1.0;
                if p > ALPHA {
                    return (ClaimVerdict::Tied, format!("the difference may be chance{not_as_claimed}"));
                }
                let share = least.effect * 100.0;
                if effect <= least.surely {
                    let beside =
                        if least.effect > LEAST_EFFECT { ", as a stack and its twin are apart" } else { "" };
                    return (ClaimVerdict::Tied, format!("nearer than {share:.1} %{beside}{not_as_claimed}"));
                }
                if effect <= least.effect {
                    let why = format!(
                        "nearer than {share:.1} %, as a stack and its twin were, though they may be nearer{not_as_claimed}"
                    );
                    return (ClaimVerdict::Undecided, why);
                }
                if (ratio.value > 1.0) != above {
                    return (ClaimVerdict::Reversed, "it is the other way round".into());
                }
                match claimed {
                    None => (ClaimVerdict::Confirmed, "it holds".into()),
                    Some(claimed) => of_size(above, claimed, size, ratio.value),
                }
            }
            Self::Equivalence { within } => {
                let (low, high) = (ratio.low.unwrap_or(0.0), ratio.high.unwrap_or(f64::INFINITY));
                let percent = format!("{:.1} %", within * 100.0);
                if is_within(low, within) && is_within(high, within) {
                    return (ClaimVerdict::Confirmed, format!("surely within {percent}"));
                }
                let outside = (low > 1.0 + within) || (high < 1.0 / (1.0 + within));
                if outside && p <= ALPHA {
                    return (ClaimVerdict::Reversed, format!("surely further off than {percent}"));
                }
                (ClaimVerdict::Tied, format!("it may be within {percent} and may not"))
            }
        }
    }
}

/// What looks at a comparison told.
impl Rule {
    /// Whether the comparison is as claimed, with its size where one is claimed: what is of another size by an interval that
    /// holds together with those of the other comparisons is refuted, and what is of this size by its own is confirmed.
    pub(super) fn told(self, looked: &Looked, least: Least) -> (Told, Option<SizeVerdict>) {
        match self {
            Self::Equivalence { within } => (looked.is_near(within), None),
            Self::Direction { above, size } => {
                let claimed = if above { *looked } else { looked.turned_round() };
                let told = claimed.is_above(least);
                let Some(size) = size else { return (told, None) };
                let (own, joint) = (looked.own_ends(), looked.joint_ends());
                let of_size = SizeVerdict::of_several(size, own, joint, least.effect);
                let is_open = told == Told::Yes && of_size == SizeVerdict::Undecided;
                (if is_open { looked.open() } else { told }, Some(of_size))
            }
        }
    }

    /// The verdict on a comparison that was looked at, and why.
    pub(super) fn verdict_of(
        self,
        told: Told,
        size: Option<SizeVerdict>,
        looked: &Looked,
        least: Least,
    ) -> (ClaimVerdict, String) {
        let last = stats::LOOKS[stats::LOOKS.len() - 1];
        let blocks = looked.blocks;
        match (self, told) {
            (Self::Direction { .. }, Told::No) => {
                (ClaimVerdict::Reversed, "it is the other way round".into())
            }
            (Self::Equivalence { within }, Told::No) => {
                (ClaimVerdict::Reversed, format!("surely further off than {:.1} %", within * 100.0))
            }
            (Self::Equivalence { within }, Told::Yes) => {
                (ClaimVerdict::Confirmed, format!("surely within {:.1} %", within * 100.0))
            }
            (Self::Direction { above, size: Some(claimed) }, Told::Yes | Told::Never | Told::NotYet)
                if self.is_in_its_direction(looked, least) =>
            {
                of_size(above, claimed, size, looked.own.value)
            }
            (Self::Direction { .. }, Told::Yes) => (ClaimVerdict::Confirmed, "it holds".into()),
            (_, Told::Neither) => {
                (ClaimVerdict::Tied, format!("the two are surely nearer than {:.1} %", least.surely * 100.0))
            }
            (_, Told::NotYet) => {
                (ClaimVerdict::Undecided, format!("{blocks} blocks do not decide it; it goes on to {last}"))
            }
            (Self::Direction { .. }, Told::Never) => {
                (ClaimVerdict::Tied, format!("{blocks} blocks show no difference that could not be chance"))
            }
            (Self::Equivalence { within }, Told::Never) => {
                (ClaimVerdict::Tied, format!("it may be within {:.1} % and may not", within * 100.0))
            }
        }
    }

    fn is_in_its_direction(self, looked: &Looked, least: Least) -> bool {
        match self {
            Self::Direction { above: true, .. } => looked.is_above(least) == Told::Yes,
            Self::Direction { above: false, .. } => looked.turned_round().is_above(least) == Told::Yes,
            Self::Equivalence { .. } => false,
        }
    }
}

/// Of a ratio whose direction holds.
fn of_size(above: bool, claimed: f64, size: Option<SizeVerdict>, value: f64) -> (ClaimVerdict, String) {
    match size {
        Some(SizeVerdict::Confirmed) => (ClaimVerdict::Confirmed, "the size agrees".into()),
        Some(SizeVerdict::Refuted) => {
            let than = if (value > claimed) == above { "more" } else { "less" };
            (ClaimVerdict::SizeRefuted, format!("the direction holds, and it is surely {than} than claimed"))
        }
        Some(SizeVerdict::Undecided) | None => {
            let why = "the direction holds, and the interval is too wide for the size";
            (ClaimVerdict::SizeUndecided, why.into())
        }
    }
}

/// As far above as below: a ratio and its inverse are equally near to 1.
fn is_within(ratio: f64, within: f64) -> bool {
    (1.0 / (1.0 + within)..=1.0 + within).contains(&ratio)
}
