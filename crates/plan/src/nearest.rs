//! What a name that is not known may be a slip for.

/// Suggestions at most: more are no help.
const SUGGESTIONS_MAX: usize = 5;
/// A name of at least so many letters is also looked for within longer ones.
const WITHIN_LETTERS_MIN: usize = 3;

/// Those of `known` that `given` may be a slip for, the closest first: a third of its letters and one more may be wrong,
/// or one is a part of the other.
pub fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let is_within = |known: &str| {
        let shorter = given.len().min(known.len());
        shorter >= WITHIN_LETTERS_MIN && (known.contains(given) || given.contains(known))
    };
    // Two letters the wrong way round are one slip.
    let slips = |known: &'a str| (strsim::damerau_levenshtein(given, known), known);
    let bound = 1 + given.len() / 3;
    // As many slips as letters would make any short name of any other.
    let is_near =
        |(slips, known): &(usize, &str)| is_within(known) || *slips <= bound && *slips < known.len();
    let mut near: Vec<(usize, &str)> = known.into_iter().map(slips).collect();
    near.retain(is_near);
    // Beside one that is a slip away, one that takes two is none.
    let fewest = near.iter().map(|(slips, _)| *slips).min();
    near.retain(|(slips, known)| Some(*slips) == fewest || is_within(known));
    near.sort_unstable();
    near.dedup();
    near.into_iter().take(SUGGESTIONS_MAX).map(|(_, known)| known).collect()
}

/// `did you mean a, b?`, where something is near.
pub fn did_you_mean<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let near = nearest(given, known);
    (!near.is_empty()).then(|| format!("did you mean {}?", near.join(", ")))
}

/// `help`, and before it what `given` may be a slip for, where something is near.
pub fn help<'a>(given: &str, known: impl IntoIterator<Item = &'a str>, help: &str) -> String {
    did_you_mean(given, known).map_or_else(|| help.to_owned(), |question| format!("{question} {help}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_what_was_meant_and_nothing_else() {
        let known = ["title", "seed", "blocks", "blocks_max", "round", "load"];
        for (slip, meant) in
            [("titel", "title"), ("sed", "seed"), ("block", "blocks"), ("rounds", "round"), ("lod", "load")]
        {
            assert_eq!(nearest(slip, known).first(), Some(&meant), "{slip}");
        }
        for strange in ["colour", "x", "", "frobnicate"] {
            assert_eq!(nearest(strange, known), [""; 0], "{strange}");
        }
    }

    #[test]
    fn the_closest_is_named_first_and_five_at_most() {
        assert_eq!(nearest("warm_upp", ["warm", "warm_up"]), ["warm_up", "warm"]);
        assert_eq!(nearest("cat", ["cats", "bat", "rat"]), ["bat", "cats", "rat"]);
        let many: Vec<String> = (0..9).map(|number| format!("gin{number}")).collect();
        assert_eq!(nearest("gin", many.iter().map(String::as_str)).len(), SUGGESTIONS_MAX);
        assert_eq!(did_you_mean("xyz", ["abc"]), None);
        assert_eq!(help("gni", ["gin"], "`list` has all"), "did you mean gin? `list` has all");
        assert_eq!(help("xyz", ["gin"], "`list` has all"), "`list` has all");
    }
}
