//! Which cells failed and are tried no more, and which trials were made a second time.

use std::collections::BTreeSet;

/// By the places of trials. The same cell would cost its time-outs in every block; what fails at one load, or with one driver, may do
/// well with others.
///
/// It follows from the trials that are written down alone, so that a run that is resumed goes on as it would have.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    failed: BTreeSet<u32>,
    /// The places whose trials were made a second time.
    again: BTreeSet<u32>,
}

impl Failures {
    /// Takes note of a trial that is written down. One that was made again stands for the one before.
    pub(crate) fn add(&mut self, place: u32, is_repeat: bool, failed: bool) {
        if is_repeat {
            self.again.insert(place);
            self.failed.remove(&place);
        }
        if failed {
            self.failed.insert(place);
        }
    }

    /// These trials are made again: whether one of them fails is found anew, but for those of which it is known already.
    pub(crate) fn begin_again(&mut self, of: &[u32]) {
        self.failed.retain(|place| !of.contains(place) || self.again.contains(place));
    }

    /// Whether the trial at a place was made a second time.
    pub(crate) fn was_made_again(&self, place: u32) -> bool {
        self.again.contains(&place)
    }

    /// Whether one of these failed.
    pub(crate) fn any(&self, mut places: impl Iterator<Item = u32>) -> bool {
        !self.failed.is_empty() && places.any(|place| self.failed.contains(&place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(failures: &Failures) -> Vec<u32> {
        (0..9).filter(|place| failures.any([*place].into_iter())).collect()
    }

    /// Block 0 has the places 0, 1 and 2. The second failed at first and not when it was made again, the third the other way
    /// round; then the process is killed, and all of it is read from the trials.
    #[test]
    fn a_run_that_is_resumed_knows_of_the_same_failures() {
        let trials = [
            (0, false, false),
            (1, false, true),
            (2, false, false),
            (0, true, false),
            (1, true, false),
            (2, true, true),
        ];
        let mut made = Failures::default();
        for (number, (place, is_repeat, has_failed)) in trials.into_iter().enumerate() {
            if number == 3 {
                made.begin_again(&[0, 1, 2]);
                assert_eq!(failed(&made), [] as [u32; 0]);
            }
            made.add(place, is_repeat, has_failed);
        }
        let mut resumed = Failures::default();
        for (place, is_repeat, has_failed) in trials {
            resumed.add(place, is_repeat, has_failed);
        }
        resumed.begin_again(&[0, 1, 2]);
        assert_eq!((failed(&made), failed(&resumed)), (vec![2], vec![2]));
        assert!(resumed.was_made_again(1) && !resumed.was_made_again(3));
    }
}
