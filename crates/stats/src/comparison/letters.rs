//! Ties in one line: the compact letter display.

/// Gives each of `count` items, from the best down, letters such that two share one exactly if they do not `differ`.
///
/// By insertion and absorption (Piepho, 2004, "An Algorithm for a Letter-Based Representation of All-Pairwise
/// Comparisons"): begin with one letter for all, split it wherever two that differ share it, and drop a letter whose
/// holders all hold another. Letters are named in the order of their first holders.
pub fn letters(count: usize, differ: impl Fn(usize, usize) -> bool) -> Vec<String> {
    let mut groups = vec![vec![true; count]];
    for a in 0..count {
        for b in a + 1..count {
            if differ(a, b) {
                groups = split(groups, a, b);
            }
        }
    }
    groups.sort_by_key(|group| group.iter().map(|held| !held).collect::<Vec<_>>());
    (0..count)
        .map(|item| {
            groups.iter().enumerate().filter(|(_, group)| group[item]).map(|(it, _)| name(it)).collect()
        })
        .collect()
}

/// Parts `a` and `b` wherever they are together.
fn split(groups: Vec<Vec<bool>>, a: usize, b: usize) -> Vec<Vec<bool>> {
    let without = |group: &[bool], item: usize| {
        let mut rest = group.to_vec();
        rest[item] = false;
        rest
    };
    let (together, mut kept): (Vec<_>, Vec<_>) = groups.into_iter().partition(|group| group[a] && group[b]);
    for group in together {
        for part in [without(&group, a), without(&group, b)] {
            if !kept.iter().any(|other| holds_all_of(other, &part)) {
                kept.retain(|other| !holds_all_of(&part, other));
                kept.push(part);
            }
        }
    }
    kept
}

fn holds_all_of(group: &[bool], part: &[bool]) -> bool {
    group.iter().zip(part).all(|(held, needed)| *held || !needed)
}

/// a to z, A to Z, and numbers in parentheses beyond.
fn name(index: usize) -> String {
    match (index as u8, index) {
        (letter, 0..26) => char::from(b'a' + letter).to_string(),
        (letter, 26..52) => char::from(b'A' + letter - 26).to_string(),
        _ => format!("({})", index + 1),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn neighbours_that_tie_share_letters_in_a_chain() {
        // Each differs from all but its neighbours.
        assert_eq!(letters(4, |a, b| a.abs_diff(b) > 1), ["a", "ab", "bc", "c"]);
        assert_eq!(letters(3, |_, _| false), ["a", "a", "a"]);
        assert_eq!(letters(3, |_, _| true), ["a", "b", "c"]);
        assert!(letters(0, |_, _| true).is_empty());
    }

    #[test]
    fn a_tie_over_a_gap_needs_no_neighbour() {
        // The first ties with the last, and the second with neither.
        assert_eq!(letters(3, |a, b| (a, b) != (0, 2)), ["a", "b", "a"]);
    }

    proptest! {
        #[test]
        fn two_share_a_letter_exactly_if_they_do_not_differ(
            count in 1..9_usize,
            bits in prop::collection::vec(any::<bool>(), 81),
        ) {
            let differ = |a: usize, b: usize| bits[a.min(b) * 9 + a.max(b)];
            let told = letters(count, differ);
            for a in 0..count {
                for b in a + 1..count {
                    let share = told[a].chars().any(|letter| told[b].contains(letter));
                    prop_assert_eq!(share, !differ(a, b), "{} {}: {:?}", a, b, told);
                }
            }
        }
    }
}
