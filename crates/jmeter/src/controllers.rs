//! Controllers to steps.

use std::num::NonZeroU32;

use scenario::{Condition, Pick, Step, Times};

use crate::dialect;
use crate::element::Element;
use crate::names::{self, Controller, Kind};
use crate::values::Fields;
use crate::walk::Walk;

impl<'a> Walk<'a> {
    /// What a controller and what is below it come to.
    pub(crate) fn controller(&mut self, controller: Controller, element: &'a Element) -> Vec<Step> {
        let placed = self.may_stand_here(controller);
        self.group.controllers.push(controller);
        let steps = self.branch(element);
        self.group.controllers.pop();
        let fields = Fields::new(&element.properties, self.values);
        match placed.and_then(|()| built(controller, element, fields, steps)) {
            Ok(step) => {
                self.ledger.support();
                step.into_iter().collect()
            }
            Err(reason) => {
                self.refuse([reason]);
                Vec::new()
            }
        }
    }

    /// JMeter counts the turns of the controller right around a once-only controller; a scenario those of the loop.
    fn may_stand_here(&self, controller: Controller) -> Result<(), String> {
        let is_loop = |around: &Controller| matches!(around, Controller::Loop | Controller::While);
        let around = &self.group.controllers;
        let hidden = around.last().is_some_and(|last| !is_loop(last)) && around.iter().any(is_loop);
        if controller == Controller::OnceOnly && hidden {
            return Err("it stands in a loop, but not right below it; move it there".into());
        }
        Ok(())
    }
}

fn built(
    controller: Controller,
    element: &Element,
    fields: Fields<'_>,
    steps: Vec<Step>,
) -> Result<Option<Step>, String> {
    // A loop without a request would never end; JMeter leaves it out.
    let is_empty = steps.is_empty();
    let step = match controller {
        Controller::Simple => Step::Sequence(steps),
        Controller::Loop => Step::Loop { times: times(fields)?, steps },
        Controller::If => if_controller(element, fields, steps)?,
        Controller::While => while_controller(fields, steps)?,
        Controller::OnceOnly => Step::Once(steps),
        Controller::Random => Step::OneOf { pick: Pick::Random, steps: choices(element, fields, steps)? },
        Controller::RandomOrder => Step::OneOf { pick: Pick::RandomOrder, steps: with_weights(steps) },
        Controller::Interleave => Step::OneOf { pick: Pick::InTurn, steps: choices(element, fields, steps)? },
        Controller::Transaction => Step::Transaction {
            name: fields.values.template(&element.name)?,
            with_pauses: fields.is_true("TransactionController.includeTimers", true)?,
            parent_only: fields.is_true("TransactionController.parent", false)?,
            steps,
        },
    };
    Ok((!is_empty).then_some(step))
}

fn times(fields: Fields<'_>) -> Result<Times, String> {
    const LOOPS: &str = "LoopController.loops";
    if !fields.is_true("LoopController.continue_forever", true)? {
        return Err(
            "LoopController.continue_forever is false, which ends it for good after its first time".into()
        );
    }
    let loops = fields.template(LOOPS)?;
    match fields.values.fixed(&loops).as_deref().map(str::trim) {
        Some("-1") => Ok(Times::Forever),
        Some(text) if text.parse::<u32>().is_err() => {
            Err(format!("{LOOPS} is '{text}', which is no number of loops"))
        }
        Some(_) | None => Ok(Times::Count(loops)),
    }
}

fn if_controller(element: &Element, fields: Fields<'_>, steps: Vec<Step>) -> Result<Step, String> {
    if fields.is_true("IfController.evaluateAll", false)? && steps.len() > 1 {
        return Err("its condition is evaluated for all children, and is looked at once here".into());
    }
    let text = fields.properties.text("IfController.condition").trim();
    if text.is_empty() {
        let name = &element.name;
        // JMeter's form once kept the condition in the name only.
        return Err(format!("IfController.condition is empty (its name is '{name}')"));
    }
    let condition = dialect::condition(text).map_err(|error| error.to_string())?;
    if fields.is_true("IfController.useExpression", false)? && is_bare(text, &condition) {
        return Err(bare("IfController.condition", "never is `true`"));
    }
    Ok(Step::If { condition, steps })
}

/// A comparison outside of a function, which JMeter does not carry out.
fn is_bare(text: &str, condition: &Condition) -> bool {
    !matches!(condition, Condition::True(_) | Condition::LastOk) && !dialect::is_script(text)
}

fn bare(property: &str, what: &str) -> String {
    format!(
        "{property} is a comparison that JMeter takes for text, which {what}; put it into ${{__jexl3(…)}}"
    )
}

/// JMeter goes on unless the condition comes to `false`.
fn while_controller(fields: Fields<'_>, steps: Vec<Step>) -> Result<Step, String> {
    let text = fields.properties.text("WhileController.condition").trim();
    if text.eq_ignore_ascii_case("LAST") {
        return Ok(Step::While { condition: Condition::LastOk, steps });
    }
    if text.is_empty() {
        // The first turn is made in any case.
        let again = Step::While { condition: Condition::LastOk, steps: steps.clone() };
        return Ok(Step::Sequence(steps.into_iter().chain([again]).collect()));
    }
    let condition = match dialect::condition(text).map_err(|error| error.to_string())? {
        Condition::True(text) => {
            let is_false = Condition::Equal(text, scenario::Template::text("false"));
            Condition::Not(Box::new(is_false))
        }
        other if is_bare(text, &other) => {
            return Err(bare("WhileController.condition", "never is `false`, so that it would not end"));
        }
        other => other,
    };
    Ok(Step::While { condition, steps })
}

/// The children of a random or interleave controller.
fn choices(
    element: &Element,
    fields: Fields<'_>,
    steps: Vec<Step>,
) -> Result<Vec<(NonZeroU32, Step)>, String> {
    if fields.is_true("InterleaveControl.accrossThreads", false)? {
        return Err(
            "all threads take turns together (Interleave across threads), which is not supported".into()
        );
    }
    let mut children = element.enabled_children().map(|child| names::kind(&child.class, &child.gui));
    let has_controllers = children.any(|kind| matches!(kind, Kind::Controller(_)));
    if has_controllers && fields.whole_at_start("InterleaveControl.style", 0)? == 0 {
        return Err(
            "it takes one request of the controllers below it at a time (Ignore sub-controller blocks)"
                .into(),
        );
    }
    let samplers = element.enabled_children().filter(|child| {
        matches!(names::kind(&child.class, &child.gui), Kind::FlowAction | Kind::DebugSampler)
    });
    if samplers.count() > 0 {
        return Err(
            "one of its choices is a pause or a debug sampler; put it into a Simple Controller".into()
        );
    }
    Ok(with_weights(steps))
}

fn with_weights(steps: Vec<Step>) -> Vec<(NonZeroU32, Step)> {
    steps.into_iter().map(|step| (NonZeroU32::MIN, step)).collect()
}
