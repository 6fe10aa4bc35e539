//! How much a verdict can account for, and what follows for its place and its confidence.
//!
//! A counter that moved proves that something happened, and not that it mattered. What can account for a small part of the
//! rate only is never the answer and never sure, whatever proves it.

use crate::verdict::{Confidence, Verdict, VerdictKind};

/// Share of the rate below which a cause is not the reason: a tenth, the bound from which collections, waits for a disk and
/// other processes count here at all. Nine tenths are something else's then.
const REASON_MIN: f64 = 0.1;
/// The same of requests that fail: they are wrong by themselves and not only slow, so a share counts from the least effect
/// that any comparison here calls a difference.
const FAILED_MIN: f64 = stats::LEAST_EFFECT;
/// Share of the rate from which a cause may be called sure: most of it.
const SURE_MIN: f64 = 0.5;

/// Whether a verdict can be the answer, as far as is known.
pub(crate) fn may_be_the_reason(verdict: &Verdict) -> bool {
    let least = if verdict.kind.fails_requests() { FAILED_MIN } else { REASON_MIN };
    verdict.accounts_for.is_none_or(|share| share >= least)
}

/// Verdicts with the confidence that their shares allow, those that can be the answer first and each kind in its order. One
/// that can't says why.
pub(crate) fn weigh(verdicts: Vec<Verdict>) -> Vec<Verdict> {
    let (mut reasons, others): (Vec<_>, Vec<_>) = verdicts.into_iter().partition(may_be_the_reason);
    for verdict in &mut reasons {
        let is_most = verdict.accounts_for.is_none_or(|share| share >= SURE_MIN);
        if !is_most && !verdict.kind.fails_requests() {
            verdict.confidence = verdict.confidence.max(Confidence::Likely);
        }
    }
    reasons.extend(others.into_iter().map(minor));
    reasons
}

/// Brings a limit of the server's that is sure before those that are not: before what fits and so might something else, and before
/// what is not known to account for half of the rate. What decides before the server does stays where it is.
pub(crate) fn sure_before_unsure(verdicts: &mut [Verdict]) {
    if let Some(sure) = verdicts.iter().position(leads) {
        verdicts[..=sure].sort_by_key(gives_way);
    }
}

/// Whether it leads those that give way. That nothing limits is told last of what was found; and a full queue follows from whoever
/// does not take from it, however surely it was seen to be full.
fn leads(verdict: &Verdict) -> bool {
    let is_limit = verdict.kind.is_limit_of_server() && verdict.kind != VerdictKind::AcceptQueueOverflow;
    is_limit && verdict.confidence == Confidence::Sure
}

/// Who waits for a stream was counted doing so, and gives way to no size that fits.
fn gives_way(verdict: &Verdict) -> bool {
    let is_limit = verdict.kind.is_limit_of_server() && verdict.kind != VerdictKind::StreamLimit;
    let is_unsure = match verdict.confidence {
        Confidence::Sure => false,
        Confidence::Likely => verdict.accounts_for.is_none_or(|share| share < SURE_MIN),
        Confidence::Possible => true,
    };
    is_limit && is_unsure
}

/// A verdict that plays a part too small to be the answer.
pub(crate) fn minor(mut verdict: Verdict) -> Verdict {
    verdict.confidence = Confidence::Possible;
    let percent = most_told(verdict.accounts_for.unwrap_or(0.0) * 100.0);
    let of = if verdict.kind.fails_requests() { "requests" } else { "rate" };
    verdict.and(format!("it can account for {percent:.1} % of the {of} at most"))
}

/// What is more than nothing is not told as nothing *at most*: a tenth of a per cent is the least.
fn most_told(percent: f64) -> f64 {
    if percent > 0.0 { percent.max(0.1) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: VerdictKind, share: Option<f64>) -> Verdict {
        Verdict::new(kind, Confidence::Sure, "a", "b").accounting_for_maybe(share)
    }

    #[test]
    fn a_tenth_of_a_per_cent_is_never_first_and_never_sure() {
        for kind in [VerdictKind::AcceptQueueOverflow, VerdictKind::IncorrectService, VerdictKind::LogBound] {
            let weighed = weigh(vec![of(kind, Some(0.001)), of(VerdictKind::PoolLimit, Some(0.97))]);
            let told: Vec<_> = weighed.iter().map(|it| (it.kind, it.confidence)).collect();
            assert_eq!(told, [(VerdictKind::PoolLimit, Confidence::Sure), (kind, Confidence::Possible)]);
            assert_eq!(weighed[1].evidence.len(), 2, "it says how little it is: {weighed:?}");
        }
    }

    #[test]
    fn sure_takes_most_of_the_rate_and_a_fault_a_share_of_the_requests() {
        let confidence = |kind, share| weigh(vec![of(kind, share)])[0].confidence;
        assert_eq!(confidence(VerdictKind::GarbageCollection, Some(0.6)), Confidence::Sure);
        assert_eq!(confidence(VerdictKind::GarbageCollection, Some(0.2)), Confidence::Likely);
        assert_eq!(confidence(VerdictKind::GarbageCollection, None), Confidence::Sure);
        assert_eq!(confidence(VerdictKind::IncorrectService, Some(0.05)), Confidence::Sure);
        assert_eq!(confidence(VerdictKind::IncorrectService, Some(0.002)), Confidence::Possible);
    }

    #[test]
    fn what_is_sure_leads_what_may_be_and_nothing_of_what_decides_before() {
        let possible = |kind, share| Verdict { confidence: Confidence::Possible, ..of(kind, share) };
        let likely = |kind, share| Verdict { confidence: Confidence::Likely, ..of(kind, share) };
        let kinds = |mut verdicts: Vec<Verdict>| {
            sure_before_unsure(&mut verdicts);
            verdicts.into_iter().map(|it| it.kind).collect::<Vec<_>>()
        };
        let pool = || of(VerdictKind::PoolLimit, Some(0.98));
        for unsure in [
            possible(VerdictKind::LogBound, None),
            likely(VerdictKind::LogBound, None),
            likely(VerdictKind::GarbageCollection, Some(0.12)),
        ] {
            let kind = unsure.kind;
            let told = kinds(vec![likely(VerdictKind::NotSteady, Some(0.2)), unsure, pool()]);
            assert_eq!(told, [VerdictKind::NotSteady, VerdictKind::PoolLimit, kind]);
        }
        for first in [
            likely(VerdictKind::BackendBound, Some(0.97)),
            likely(VerdictKind::StreamLimit, Some(0.4)),
            of(VerdictKind::LogBound, None),
            likely(VerdictKind::NoisyHost, Some(0.3)),
        ] {
            let kind = first.kind;
            assert_eq!(kinds(vec![first, pool()]), [kind, VerdictKind::PoolLimit]);
        }
        // A queue is the consequence of a pool, be that one only possible; and no limit is no answer that leads.
        for last in [VerdictKind::AcceptQueueOverflow, VerdictKind::KeepsRate] {
            let told = kinds(vec![possible(VerdictKind::PoolLimit, Some(0.98)), of(last, Some(0.9))]);
            assert_eq!(told, [VerdictKind::PoolLimit, last]);
        }
    }

    #[test]
    fn a_little_is_not_told_as_nothing_at_most() {
        for (share, told) in [(0.0, "0.0"), (0.000_01, "0.1"), (0.001, "0.1"), (0.012, "1.2")] {
            let told_of = minor(of(VerdictKind::LogBound, Some(share)));
            assert_eq!(told_of.evidence[1], format!("it can account for {told} % of the rate at most"));
        }
    }

    #[test]
    fn what_is_no_share_is_not_known() {
        assert_eq!(of(VerdictKind::PoolLimit, Some(f64::NAN)).accounts_for, None);
        assert_eq!(of(VerdictKind::PoolLimit, Some(1.3)).accounts_for, Some(1.0));
    }
}
