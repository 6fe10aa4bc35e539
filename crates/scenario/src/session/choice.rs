//! Which of the steps below a step are done this time.

use std::num::NonZeroU32;

use super::user::{counted, identity, random_below};
use super::walk::{Frame, State, is_request};
use crate::model::{Pick, Portion, Step};
use crate::prepared::Prepared;
use crate::world::World;

impl State {
    /// Which children a step goes into this time that has a part of its own each time: from the first of them up to where it
    /// ends. `None` is no child.
    pub(super) fn part_of(
        &mut self,
        step: &Step,
        prepared: &Prepared,
        world: &mut World,
    ) -> Option<(u32, u32)> {
        let mut scope = self.scope(prepared, world);
        match step {
            Step::Portion { of, by_user, .. } => {
                let takes = scope.takes(step, *of, *by_user);
                if !takes && matches!(of, Portion::First(_)) {
                    self.spend(step);
                }
                takes.then_some((0, u32::MAX))
            }
            Step::Switch { value, names, steps } => {
                let index = scope.named(value, names, steps.len())?;
                Some((index, index.saturating_add(1)))
            }
            _ => None,
        }
    }

    /// The frame of a choice, with what was chosen.
    pub(super) fn picked(
        &mut self,
        frame: Frame,
        step: &Step,
        pick: Pick,
        steps: &[(NonZeroU32, Step)],
    ) -> Frame {
        let count = steps.len() as u64;
        let one = |index: usize| (index as u32, index as u32 + 1);
        let random = &mut self.user.random;
        let (next, end) = match pick {
            _ if steps.is_empty() => (0, 0),
            Pick::Random => {
                let sum = steps.iter().map(|(weight, _)| u64::from(weight.get())).sum();
                let mut left = random_below(random, sum);
                one(steps
                    .iter()
                    .position(|(weight, _)| {
                        let found = left < u64::from(weight.get());
                        left = left.saturating_sub(u64::from(weight.get()));
                        found
                    })
                    .unwrap_or_default())
            }
            Pick::InTurn | Pick::InTurnToTheEnd => {
                let turn = counted(&mut self.user.turns, identity(step));
                let index = (*turn % count) as u32;
                if pick == Pick::InTurn || is_request(steps, Some(index)) {
                    *turn += 1;
                }
                one(index as usize)
            }
            Pick::RandomOrder => {
                let mut order: Box<[u32]> = (0..steps.len() as u32).collect();
                for last in (1..order.len()).rev() {
                    order.swap(last, random_below(random, last as u64 + 1) as usize);
                }
                return Frame { order: Some(order), ..frame };
            }
        };
        Frame { next, end, ..frame }
    }
}
