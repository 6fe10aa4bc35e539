//! Which groups of a plan run side by side, and which of them one after another.

use std::ops::Range;

use scenario::Group;

/// The part of a test in which a group runs. None begins before all users of the one before it have left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// setUp Thread Groups.
    SetUp,
    /// All others.
    Main,
    /// tearDown Thread Groups.
    TearDown,
}

/// Groups that run side by side, after all users of the stage before have left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stage {
    /// What part of the test it belongs to.
    pub phase: Phase,
    /// Which of the scenario's groups they are.
    pub groups: Range<usize>,
    /// JMeter's number of the first of them, which begins with 1 in each phase.
    pub number: usize,
    /// Whether it runs also where a failure ended the test in its main phase.
    pub even_if_stopped: bool,
}

impl Stage {
    /// Whether it runs; `stopped` is the phase in which a failure ended the test, if one did.
    pub fn runs_after(&self, stopped: Option<Phase>) -> bool {
        stopped.is_none_or(|stopped| stopped == Phase::Main && self.even_if_stopped)
    }
}

/// What a test plan says of the order of its groups.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Order {
    /// Whether each group waits for the one before it.
    pub consecutively: bool,
    /// Whether tearDown groups run also where a failure ended the main ones.
    pub tears_down: bool,
}

impl Order {
    /// How many stages groups of these phases come to.
    pub(crate) fn stages(self, phases: &[Phase]) -> usize {
        if self.consecutively {
            return phases.len();
        }
        let all = [Phase::SetUp, Phase::Main, Phase::TearDown];
        all.iter().filter(|phase| phases.contains(phase)).count()
    }

    /// The groups in the order in which they run, and the stages that they run in.
    pub(crate) fn arranged(self, mut groups: Vec<(Phase, Group)>) -> (Vec<Group>, Vec<Stage>) {
        // Those of one phase stay in the plan's order.
        groups.sort_by_key(|(phase, _)| *phase);
        let mut stages: Vec<Stage> = Vec::new();
        for (place, (phase, _)) in groups.iter().enumerate() {
            let before = stages.last_mut().filter(|last| last.phase == *phase);
            let number = match before {
                Some(last) if !self.consecutively => {
                    last.groups.end = place + 1;
                    continue;
                }
                Some(last) => last.number + 1,
                None => 1,
            };
            stages.push(Stage {
                phase: *phase,
                groups: place..place + 1,
                number,
                even_if_stopped: *phase == Phase::TearDown && self.tears_down,
            });
        }
        (groups.into_iter().map(|(_, group)| group).collect(), stages)
    }
}
