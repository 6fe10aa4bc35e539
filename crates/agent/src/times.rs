//! Distributions on their way. What is made of one there is the very same.

use serde::{Deserialize, Serialize};
use stats::{CountsParts, DistributionParts};

/// The higher and the lower half of a sum.
pub(crate) type Wide = (u64, u64);

pub(crate) const fn split(sum: u128) -> Wide {
    ((sum >> 64) as u64, sum as u64)
}

pub(crate) fn joined((high, low): Wide) -> u128 {
    (u128::from(high) << 64) | u128::from(low)
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CountsForm {
    min_ns: u64,
    max_ns: u64,
    #[serde(with = "crate::places")]
    pub(crate) filled: Vec<(u32, u64)>,
}

impl CountsForm {
    fn count(&self) -> u64 {
        self.filled.iter().fold(0, |sum, it| sum.saturating_add(it.1))
    }
}

impl From<CountsParts<'_>> for CountsForm {
    fn from(CountsParts { min_ns, max_ns, filled }: CountsParts<'_>) -> Self {
        Self { min_ns, max_ns, filled: filled.into_owned() }
    }
}

impl<'a> From<&'a CountsForm> for CountsParts<'a> {
    fn from(form: &'a CountsForm) -> Self {
        Self { min_ns: form.min_ns, max_ns: form.max_ns, filled: (&form.filled).into() }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DistributionForm {
    pub(crate) exact: CountsForm,
    pub(crate) exact_sum_ns: Wide,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    censored: Option<CountsForm>,
    censored_sum_ns: Wide,
}

impl DistributionForm {
    pub(crate) fn count(&self) -> u64 {
        self.censored.as_ref().map_or(0, CountsForm::count).saturating_add(self.exact.count())
    }

    /// Places that anything is counted at.
    pub(crate) fn places(&self) -> usize {
        self.exact.filled.len() + self.censored.as_ref().map_or(0, |it| it.filled.len())
    }

    /// Whether the sums are of no longer times than there are, so that those of all agents can be added up.
    pub(crate) fn sums_fit(&self) -> bool {
        let fits = |sum: Wide, count: u64| joined(sum) <= longest(count);
        fits(self.exact_sum_ns, self.exact.count())
            && fits(self.censored_sum_ns, self.censored.as_ref().map_or(0, CountsForm::count))
    }
}

/// The most that so many times can be together, ns.
pub(crate) fn longest(count: u64) -> u128 {
    u128::from(count) * u128::from(u64::MAX)
}

impl From<DistributionParts<'_>> for DistributionForm {
    fn from(parts: DistributionParts<'_>) -> Self {
        Self {
            exact: parts.exact.into(),
            exact_sum_ns: split(parts.exact_sum_ns),
            censored: parts.censored.map(Into::into),
            censored_sum_ns: split(parts.censored_sum_ns),
        }
    }
}

impl<'a> From<&'a DistributionForm> for DistributionParts<'a> {
    fn from(form: &'a DistributionForm) -> Self {
        Self {
            exact: (&form.exact).into(),
            exact_sum_ns: joined(form.exact_sum_ns),
            censored: form.censored.as_ref().map(Into::into),
            censored_sum_ns: joined(form.censored_sum_ns),
        }
    }
}
