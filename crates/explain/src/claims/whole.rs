//! What becomes of a claim by what became of its parts.

use super::{ClaimPart, ClaimVerdict};

/// A claim holds if all of its parts do, and is refuted by any one.
/// Where one was surely no difference, those that are open would change nothing: `is_surely_tied`.
pub(super) fn whole(parts: &[ClaimPart], is_surely_tied: bool) -> (ClaimVerdict, String) {
    let are = |verdict: ClaimVerdict| parts.iter().filter(move |it| it.verdict == verdict);
    let decided_by = [
        ClaimVerdict::Reversed,
        if is_surely_tied { ClaimVerdict::Tied } else { ClaimVerdict::Reversed },
        ClaimVerdict::NotTestable,
        ClaimVerdict::NotMeasured,
        ClaimVerdict::Undecided,
        ClaimVerdict::Tied,
        ClaimVerdict::SizeRefuted,
        ClaimVerdict::SizeUndecided,
    ];
    let verdict =
        decided_by.into_iter().find(|it| are(*it).next().is_some()).unwrap_or(ClaimVerdict::Confirmed);
    let Some(first) = are(verdict).next() else { return (verdict, "it has no part".into()) };
    let way = way(verdict, parts);
    if parts.len() == 1 {
        return (verdict, format!("{}{way}", first.why));
    }
    let count = are(verdict).count();
    let why = match are(verdict).all(|it| it.why == first.why) {
        true if count == parts.len() => first.why.clone(),
        true => format!("in {count} of {} comparisons: {}", parts.len(), first.why),
        false => {
            format!("in {count} of {} comparisons, the first: {}, {}", parts.len(), first.what, first.why)
        }
    };
    let why = format!("{why}{way}");
    (verdict, why)
}

/// Where figures point that support nothing.
fn way(verdict: ClaimVerdict, parts: &[ClaimPart]) -> String {
    let pointing: Vec<bool> = parts.iter().filter_map(|it| it.points_the_same_way).collect();
    let same = pointing.iter().filter(|same| **same).count();
    match &pointing[..] {
        _ if !verdict.is_open() => String::new(),
        [] => String::new(),
        [true] if parts.len() == 1 => "; it points the same way".into(),
        [false] if parts.len() == 1 => "; it points the other way".into(),
        _ => format!("; {same} of {} measured comparisons point the same way", pointing.len()),
    }
}
