//! Steps in which nothing is left to do for a user, ever.

use super::user::identity;
use super::walk::State;
use crate::model::{Pick, Portion, Step};

impl State {
    /// Takes note that a step has been done as often as it is to be done.
    pub(super) fn spend(&mut self, step: &Step) {
        let step = identity(step);
        if !self.user.done.contains(&step) {
            self.user.done.push(step);
        }
    }

    /// Whether nothing is done in a step any more, since all that is in it has been done as often as it is to be done. JMeter
    /// takes such a controller out, and the one around it with the last that it holds.
    pub(super) fn is_spent(&self, step: &Step) -> bool {
        match step {
            Step::Portion { of, steps, .. } => {
                let is_over = matches!(of, Portion::First(_)) && self.user.done.contains(&identity(step));
                is_over || self.are_spent(steps)
            }
            Step::Loop { steps, .. }
            | Step::While { steps, .. }
            | Step::Once { steps, .. }
            | Step::Sequence(steps)
            | Step::Transaction { steps, .. } => self.are_spent(steps),
            Step::OneOf { pick: Pick::RandomOrder, steps } => {
                !steps.is_empty() && steps.iter().all(|(_, step)| self.is_spent(step))
            }
            _ => false,
        }
    }

    /// The same of all of these steps, some of which there have to be.
    pub(super) fn are_spent(&self, steps: &[Step]) -> bool {
        // Those are none of JMeter's, whose iterations and controllers set variables as they begin.
        let sets_variables = |step: &Step| {
            matches!(step, Step::Set { .. } | Step::SetByUser(_) | Step::Count(_) | Step::Row(_))
        };
        let mut own = steps.iter().filter(|step| !sets_variables(step)).peekable();
        !self.user.done.is_empty() && own.peek().is_some() && own.all(|step| self.is_spent(step))
    }
}
