//! The steps within a step: the one place that knows which kinds of steps have some.

use std::num::NonZeroU32;

use super::Step;

/// The steps within a step.
#[derive(Debug, Clone, Copy)]
pub enum Children<'a> {
    /// As they are.
    Steps(&'a [Step]),
    /// With their weights.
    Weighted(&'a [(NonZeroU32, Step)]),
}

impl<'a> Children<'a> {
    /// The one at this place.
    pub fn get(self, index: u32) -> Option<&'a Step> {
        match self {
            Self::Steps(steps) => steps.get(index as usize),
            Self::Weighted(steps) => steps.get(index as usize).map(|(_, step)| step),
        }
    }

    /// All of them, in their order.
    pub fn iter(self) -> impl Iterator<Item = &'a Step> {
        let (steps, weighted) = match self {
            Self::Steps(steps) => (steps, &[][..]),
            Self::Weighted(weighted) => (&[][..], weighted),
        };
        steps.iter().chain(weighted.iter().map(|(_, step)| step))
    }
}

impl Step {
    /// The steps right within it; none of a step that holds none.
    pub fn children(&self) -> Children<'_> {
        match self {
            Self::Loop { steps, .. }
            | Self::For { steps, .. }
            | Self::If { steps, .. }
            | Self::While { steps, .. }
            | Self::ForEach { steps, .. }
            | Self::Once { steps, .. }
            | Self::Portion { steps, .. }
            | Self::Switch { steps, .. }
            | Self::Sequence(steps)
            | Self::Transaction { steps, .. } => Children::Steps(steps),
            Self::OneOf { steps, .. } => Children::Weighted(steps),
            Self::Request(_)
            | Self::Pause(_)
            | Self::Set { .. }
            | Self::SetByUser(_)
            | Self::Count(_)
            | Self::Row(_)
            | Self::Leave(_) => Children::Steps(&[]),
        }
    }

    /// Hands each of the same to `change`.
    pub fn change_children(&mut self, change: &mut impl FnMut(&mut Self)) {
        match self {
            Self::Loop { steps, .. }
            | Self::For { steps, .. }
            | Self::If { steps, .. }
            | Self::While { steps, .. }
            | Self::ForEach { steps, .. }
            | Self::Once { steps, .. }
            | Self::Portion { steps, .. }
            | Self::Switch { steps, .. }
            | Self::Sequence(steps)
            | Self::Transaction { steps, .. } => steps.iter_mut().for_each(change),
            Self::OneOf { steps, .. } => steps.iter_mut().for_each(|(_, step)| change(step)),
            Self::Request(_)
            | Self::Pause(_)
            | Self::Set { .. }
            | Self::SetByUser(_)
            | Self::Count(_)
            | Self::Row(_)
            | Self::Leave(_) => {}
        }
    }
}
