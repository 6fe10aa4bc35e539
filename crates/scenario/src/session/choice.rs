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
            Pick::ByShare => one(furthest_behind(&mut self.user.turns, steps)),
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

/// Which of the steps is furthest behind its share of the times so far, this one included from now on. The numbers are the plug-in's,
/// fractions and all, so that of steps that are equally far the same one is taken.
fn furthest_behind(turns: &mut Vec<(usize, u64)>, steps: &[(NonZeroU32, Step)]) -> usize {
    /// What Java has for the least number above 0.
    const LEAST: f64 = f64::from_bits(1);
    let weights = steps.iter().map(|(weight, _)| u64::from(weight.get())).sum::<u64>() as f64;
    let done: Vec<u64> = steps.iter().map(|(weight, _)| *counted(turns, identity(weight))).collect();
    let times = done.iter().sum::<u64>();
    let mut chosen = None;
    let mut furthest = LEAST;
    for (place, ((weight, _), done)) in steps.iter().zip(done).enumerate() {
        let share = if times > 0 { done as f64 / times as f64 } else { 0.0 };
        let behind = f64::from(weight.get()) / weights - share;
        if behind > furthest {
            furthest = behind;
            chosen = Some(place);
        }
    }
    // Where none is behind it is the first of the heaviest.
    let heaviest = || steps.iter().enumerate().rev().max_by_key(|(_, (weight, _))| *weight);
    let chosen = chosen.unwrap_or_else(|| heaviest().map_or(0, |(place, _)| place));
    if let Some((weight, _)) = steps.get(chosen) {
        *counted(turns, identity(weight)) += 1;
    }
    chosen
}
