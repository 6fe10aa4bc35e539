//! What speaks against something, as it comes up.

use std::collections::VecDeque;

use crate::finished::WORDS_MAX;
use crate::text::bounded;
use crate::view::{Warning, WarningKind};

/// Warnings kept.
const WARNINGS_MAX: usize = 50;

/// The last warnings. What is said of the same again, in every block, is one warning with a count.
#[derive(Debug, Clone, Default)]
pub(crate) struct Warnings(VecDeque<Warning>);

impl Warnings {
    pub(crate) fn add(&mut self, kind: WarningKind, of: &str, text: &str) {
        let (of, text) = (bounded(of, WORDS_MAX), bounded(text.trim(), WORDS_MAX));
        let before = self.0.iter().position(|it| it.kind == kind && it.of == of && is_like(&it.text, &text));
        let times = before.and_then(|at| self.0.remove(at)).map_or(0, |it| it.times);
        self.0.push_back(Warning { kind, of, text, times: times + 1 });
        if self.0.len() > WARNINGS_MAX {
            self.0.pop_front();
        }
    }

    pub(crate) fn view(&self) -> Vec<Warning> {
        self.0.iter().cloned().collect()
    }
}

/// Whether two texts say the same of other figures: they begin alike, up to a colon or a digit.
fn is_like(one: &str, other: &str) -> bool {
    let begin =
        |text: &str| text.split(|it: char| it == ':' || it.is_ascii_digit()).next().map(str::to_owned);
    begin(one) == begin(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_again_is_counted_and_the_latest_words_stay() {
        let mut warnings = Warnings::default();
        warnings.add(WarningKind::Doubt, "gin", "late generator: lag p99 3.1ms");
        warnings.add(WarningKind::Doubt, "nginx", "late generator: lag p99 2.0ms");
        warnings.add(WarningKind::Doubt, "gin", "late generator: lag p99 9.9ms");
        warnings.add(WarningKind::Doubt, "gin", "censored: p99");
        let all = warnings.view();
        let told: Vec<_> = all.iter().map(|it| (it.of.as_str(), it.text.as_str(), it.times)).collect();
        assert_eq!(
            told,
            [
                ("nginx", "late generator: lag p99 2.0ms", 1),
                ("gin", "late generator: lag p99 9.9ms", 2),
                ("gin", "censored: p99", 1)
            ]
        );
    }

    #[test]
    fn there_are_never_more_than_so_many() {
        let mut warnings = Warnings::default();
        for stack in 0..1000 {
            warnings.add(WarningKind::Failed, &format!("stack-{stack}"), &"x".repeat(10_000));
        }
        assert_eq!(warnings.view().len(), WARNINGS_MAX);
        assert!(warnings.view().iter().all(|it| it.text.chars().count() <= WORDS_MAX + 1));
    }
}
