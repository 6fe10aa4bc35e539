//! Controllers to steps.

use std::num::NonZeroU32;

use scenario::{Condition, OnceOf, Pick, Portion, Step, Times};

use crate::element::Element;
use crate::names::{self, Controller, Kind};
use crate::values::Fields;
use crate::walk::Walk;
use crate::{dialect, for_each, modules};

impl<'a> Walk<'a> {
    /// What a controller and what is below it come to.
    pub(crate) fn controller(&mut self, controller: Controller, element: &'a Element) -> Vec<Step> {
        let placed = self.may_stand_here(controller);
        self.group.controllers.push(controller);
        let children = self.children(element);
        self.group.controllers.pop();
        let is_empty = children.iter().all(|(_, steps)| steps.is_empty());
        let fields = Fields::new(&element.properties, self.values);
        let step = match controller {
            _ if placed.is_err() => placed.map(|()| Step::Sequence(Vec::new())),
            Controller::Switch => switch(fields, children),
            Controller::ForEach => {
                let below: Vec<&Element> =
                    modules::all_below(self.elements, element).into_iter().skip(1).collect();
                for_each::step(element, fields, &below, all(children))
            }
            Controller::OnceOnly => Ok(Step::Once { of: self.once_of(), steps: all(children) }),
            other => built(other, element, fields, all(children)),
        };
        match step {
            Ok(step) => {
                self.ledger.support();
                // A loop without a request would never end; JMeter leaves it out.
                if is_empty { Vec::new() } else { vec![step] }
            }
            Err(reason) => {
                self.refuse([reason]);
                Vec::new()
            }
        }
    }

    /// What a module controller runs in its place, as if it stood below it.
    pub(crate) fn module(&mut self, element: &'a Element) -> Vec<Step> {
        let target = match self.module_target(element) {
            Ok(target) => target,
            Err(reason) => {
                self.refuse([reason]);
                return Vec::new();
            }
        };
        self.modules += 1;
        self.ledger.support();
        self.group.controllers.push(Controller::Module);
        self.trail.push(target);
        let steps = if names::is_fragment(&target.class, &target.gui) {
            self.controller(Controller::Simple, target)
        } else {
            self.step(target)
        };
        self.trail.pop();
        self.group.controllers.pop();
        if steps.is_empty() { steps } else { vec![Step::Sequence(steps)] }
    }

    fn module_target(&self, element: &'a Element) -> Result<&'a Element, String> {
        if element.enabled_children().next().is_some() {
            return Err("JMeter drops what stands below it; move that into what it runs".into());
        }
        let target = modules::target(self.elements, element)?;
        if self.trail.iter().any(|around| std::ptr::eq(*around, target)) {
            return Err(format!("it stands within '{}', which it runs, and so without end", target.name));
        }
        if self.modules >= MODULES_MAX {
            return Err(format!("more than {MODULES_MAX} parts of the plan are run by such controllers"));
        }
        Ok(target)
    }

    /// JMeter looks at the controller right around a once-only controller: what it holds is run again where a loop begins
    /// anew, and never again below any other.
    fn once_of(&self) -> OnceOf {
        match self.group.controllers.last() {
            Some(Controller::Loop | Controller::While) => OnceOf::Loop,
            _ => OnceOf::User,
        }
    }

    /// Whether a controller has a meaning here that a scenario has, too.
    fn may_stand_here(&self, controller: Controller) -> Result<(), String> {
        match controller {
            Controller::OnceOnly => self.once_may_stand_here(),
            Controller::Throughput => self.throughput_may_stand_here(),
            _ => Ok(()),
        }
    }

    /// JMeter counts the times that what is around such a controller begins, and here those count that it is come to.
    fn throughput_may_stand_here(&self) -> Result<(), String> {
        let around = &self.group.controllers;
        if matches!(around.last(), Some(Controller::Random | Controller::Interleave)) {
            return Err(
                "JMeter counts it also where the controller around it takes another; put it into a Simple \
                        Controller"
                    .into(),
            );
        }
        if around.contains(&Controller::Switch) {
            return Err("JMeter takes it out of the choices of a Switch Controller once it has been done often enough"
                .into());
        }
        if self.group.may_begin_anew {
            return Err("JMeter counts it also where an iteration is left before it for the next one (action after an \
                        error, Flow Control Action)"
                .into());
        }
        Ok(())
    }

    fn once_may_stand_here(&self) -> Result<(), String> {
        let is_loop = |around: &Controller| {
            matches!(around, Controller::Loop | Controller::While | Controller::ForEach)
        };
        let around = &self.group.controllers;
        if around.last().is_some_and(|last| !is_loop(last)) && around.iter().any(is_loop) {
            return Err("it stands in a loop, but not right below it; move it there".into());
        }
        // Whatever lies around a loop, the loop's first turn is its own; but not so of a list's, where there is none.
        let anew = matches!(around.last(), Some(Controller::Loop | Controller::While));
        let passing = |around: &&Controller| {
            matches!(
                around,
                Controller::If
                    | Controller::Random
                    | Controller::Interleave
                    | Controller::Throughput
                    | Controller::Switch
            )
        };
        if let Some(passing) = around.iter().rev().find(passing).filter(|_| !anew) {
            let name = match passing {
                Controller::If => {
                    "an If Controller, which begins it anew each time its condition does not hold"
                }
                _ => "a controller that may pass it over, also the first time",
            };
            return Err(format!("it stands below {name}; put it right below a loop, or the other within it"));
        }
        Ok(())
    }
}

/// Parts of a plan that module controllers run, at most: each may run several that run several.
const MODULES_MAX: usize = 1000;

fn built(
    controller: Controller,
    element: &Element,
    fields: Fields<'_>,
    steps: Vec<Step>,
) -> Result<Step, String> {
    Ok(match controller {
        // The others are made where they stand.
        Controller::Simple
        | Controller::Module
        | Controller::ForEach
        | Controller::OnceOnly
        | Controller::Switch => Step::Sequence(steps),
        Controller::Loop => Step::Loop { times: times(fields)?, steps },
        Controller::If => if_controller(element, fields, steps)?,
        Controller::While => while_controller(fields, steps)?,
        Controller::Throughput => throughput(fields, steps)?,
        Controller::Random => Step::OneOf { pick: Pick::Random, steps: choices(element, fields, steps)? },
        Controller::RandomOrder => Step::OneOf { pick: Pick::RandomOrder, steps: with_weights(steps) },
        Controller::Interleave => {
            Step::OneOf { pick: Pick::InTurnToTheEnd, steps: choices(element, fields, steps)? }
        }
        Controller::Transaction => Step::Transaction {
            name: fields.values.template(&element.name)?,
            with_pauses: fields.is_true("TransactionController.includeTimers", true)?,
            parent_only: fields.is_true("TransactionController.parent", false)?,
            steps,
        },
    })
}

fn times(fields: Fields<'_>) -> Result<Times, String> {
    const LOOPS: &str = "LoopController.loops";
    if !fields.is_true("LoopController.continue_forever", true)? {
        return Err(
            "LoopController.continue_forever is false, which ends it for good after its first time".into()
        );
    }
    let loops = fields.template(LOOPS)?;
    // JMeter does not go through it at all where there are blanks around the number.
    match fields.values.fixed(&loops).as_deref() {
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
    fields.values.check_turns(text)?;
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
    fields.values.check_turns(text)?;
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

fn throughput(fields: Fields<'_>, steps: Vec<Step>) -> Result<Step, String> {
    const STYLE: &str = "ThroughputController.style";
    const TIMES: &str = "ThroughputController.maxThroughput";
    const PERCENT: &str = "ThroughputController.percentThroughput";
    let of = match fields.whole_at_start(STYLE, 0)? {
        0 => {
            let times = fields.whole(TIMES, 1)?;
            Portion::First(u64::try_from(times).unwrap_or(0))
        }
        1 => {
            let percent = fields.fixed(PERCENT)?;
            match percent.trim() {
                "" => Portion::Percent(100.0),
                // A number with the digits of a `float`, as in JMeter.
                text => match text.parse::<f32>() {
                    Ok(percent) => Portion::Percent(percent.into()),
                    Err(_) => return Err(format!("{PERCENT} is '{text}', which is no number")),
                },
            }
        }
        other => return Err(format!("{STYLE} is {other}, which is neither 0 nor 1")),
    };
    Ok(Step::Portion { of, by_user: fields.is_true("ThroughputController.perThread", true)?, steps })
}

/// JMeter counts the controllers and samplers right below it, and compares their names.
fn switch(fields: Fields<'_>, children: Vec<(&Element, Vec<Step>)>) -> Result<Step, String> {
    let value = fields.template("SwitchController.value")?;
    let (mut titles, mut choices) = (Vec::new(), Vec::new());
    for (child, steps) in children {
        let kind = names::kind(&child.class, &child.gui);
        let is_fragment = names::is_fragment(&child.class, &child.gui);
        let is_controller = is_fragment || matches!(kind, Kind::Controller(_));
        if is_controller && steps.is_empty() {
            return Err("one of its choices is a controller without a request, which JMeter takes out when it comes to \
                        it, so that the others have other numbers; disable it"
                .into());
        }
        if is_controller || matches!(kind, Kind::Request | Kind::FlowAction | Kind::DebugSampler) {
            titles.push(fields.values.template(&child.name).map_err(|error| format!("its name: {error}"))?);
            choices.push(Step::Sequence(steps));
        }
    }
    Ok(Step::Switch { value, names: titles, steps: choices })
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
    if steps.iter().any(may_be_nothing) {
        return Err(
            "one of its choices may come to no request (If, While, ForEach, a loop of 0 turns), and JMeter then takes \
             another; put a request beside it into a Simple Controller"
                .into(),
        );
    }
    Ok(with_weights(steps))
}

/// Whether a step may be gone through without a request or a pause, which stands in the place of one.
fn may_be_nothing(step: &Step) -> bool {
    match step {
        // JMeter has the last one in the place of a request, too.
        Step::Request(_) | Step::Pause(_) | Step::Leave(_) => false,
        Step::Sequence(steps) | Step::Transaction { steps, .. } => steps.iter().all(may_be_nothing),
        Step::OneOf { steps, .. } => steps.iter().any(|(_, step)| may_be_nothing(step)),
        Step::Loop { times, steps } => {
            let turns = match times {
                Times::Forever => 1,
                Times::Count(count) => {
                    count.constant().and_then(|it| it.trim().parse().ok()).unwrap_or(0_u64)
                }
            };
            turns == 0 || steps.iter().all(may_be_nothing)
        }
        Step::Set { .. }
        | Step::Count(_)
        | Step::If { .. }
        | Step::While { .. }
        | Step::ForEach { .. }
        | Step::Portion { .. }
        | Step::Switch { .. }
        | Step::Once { .. } => true,
    }
}

/// All steps, one element's behind the other's.
fn all(children: Vec<(&Element, Vec<Step>)>) -> Vec<Step> {
    children.into_iter().flat_map(|(_, steps)| steps).collect()
}

fn with_weights(steps: Vec<Step>) -> Vec<(NonZeroU32, Step)> {
    steps.into_iter().map(|step| (NonZeroU32::MIN, step)).collect()
}
