//! Controllers to steps.

use std::cmp::Reverse;
use std::num::NonZeroU32;

use scenario::{Children, Condition, OnceOf, Pick, Portion, Step, Times};
use units::Duration;

use crate::element::Element;
use crate::names::{self, Controller, Kind};
use crate::values::Fields;
use crate::walk::Walk;
use crate::{dialect, for_each, modules, sets, weighted};

impl<'a> Walk<'a> {
    /// What a controller and what is below it come to.
    pub(crate) fn controller(&mut self, controller: Controller, element: &'a Element) -> Vec<Step> {
        let placed = self.may_stand_here(controller);
        let refusals = self.ledger.refusals();
        self.group.controllers.push(controller);
        self.group.begins.push(Vec::new());
        let children = self.children(element);
        let begin = self.group.begins.pop().unwrap_or_default();
        self.group.controllers.pop();
        let is_empty = children.iter().all(|(_, steps)| steps.is_empty());
        let is_known = refusals == self.ledger.refusals();
        let fields = Fields::new(&element.properties, self.values);
        let step = match controller {
            _ if placed.is_err() => placed.map(|()| Step::Sequence(Vec::new())),
            _ if is_empty && is_known && !begin.is_empty() => Err(BEGINS_FOR_NOTHING.into()),
            Controller::Switch | Controller::Weighted if !begin.is_empty() => {
                Err(BEGINS_BEHIND_A_CHOICE.into())
            }
            Controller::Switch => switch(fields, children),
            Controller::Weighted => weighted::choice(fields, children),
            Controller::Runtime => runtime(fields, begin, children),
            Controller::ForEach => {
                let below: Vec<&Element> =
                    modules::all_below(self.elements, element).into_iter().skip(1).collect();
                for_each::step(element, fields, &below, begun(begin, all(children)))
            }
            Controller::OnceOnly => Ok(Step::Once { of: self.once_of(), steps: begun(begin, all(children)) }),
            Controller::Random | Controller::RandomOrder | Controller::Interleave => {
                let singly = self.may_go_on_within();
                let chosen = choice(controller, element, fields, all(children), singly);
                // It begins before it chooses, and what is done then is none of its choices.
                let is_plain = begin.is_empty();
                chosen.map(|step| if is_plain { step } else { Step::Sequence(begun(begin, vec![step])) })
            }
            other => built(other, element, fields, begun(begin, all(children))),
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
        if element.within.is_some() {
            let why = "it stands in a file that is included, where JMeter finds nothing for it to run";
            return Err(why.into());
        }
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

    /// Whether what is left of a controller below a choice is gone on with when it is come to the next time, and not begun anew.
    fn may_go_on_within(&self) -> Result<(), String> {
        if self.group.may_begin_anew || self.group.controllers.contains(&Controller::If) {
            return Err(format!(
                "{SINGLY}, and JMeter begins them anew where an iteration is left for the next one, or where the \
                 condition of an If Controller around it does not hold"
            ));
        }
        Ok(())
    }

    /// Whether a controller has a meaning here that a scenario has, too.
    fn may_stand_here(&self, controller: Controller) -> Result<(), String> {
        match controller {
            Controller::OnceOnly => self.once_may_stand_here(),
            Controller::Throughput => self.throughput_may_stand_here(),
            Controller::Weighted => {
                weighted::may_stand_below(&self.group.controllers, self.group.may_begin_anew)
            }
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

/// Why variables can't be set as a controller begins.
const BEGINS_FOR_NOTHING: &str = "it holds no request, and a CSV file, a counter, a random variable or User Parameters in it \
     set their variables once in JMeter; move that to where they are used";
const BEGINS_BEHIND_A_CHOICE: &str = "a CSV file, a counter, a random variable or User Parameters right below it set their \
     variables when JMeter has made its choice; put this into a Simple Controller, and that beside it";

/// Why there can be no controllers in one that goes by time.
const RUNS_OTHERS: &str = "a controller stands in it, which JMeter leaves in its midst when the time is over, and goes on with \
     there the next time; put requests right below it";

/// What "Ignore sub-controller blocks" means.
const SINGLY: &str =
    "it takes one request at a time of the controllers below it (Ignore sub-controller blocks)";

/// The steps behind what is done each time that their controller begins: JMeter does the last of that first.
pub(crate) fn begun(mut begin: Vec<(usize, Step)>, steps: Vec<Step>) -> Vec<Step> {
    // Those of one line keep the order that they have then.
    begin.reverse();
    begin.sort_by_key(|(line, _)| Reverse(*line));
    begin.into_iter().map(|(_, step)| step).chain(steps).collect()
}

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
        | Controller::Random
        | Controller::RandomOrder
        | Controller::Interleave
        | Controller::Switch
        | Controller::Weighted
        | Controller::Runtime => Step::Sequence(steps),
        Controller::Loop => Step::Loop { times: times(fields)?, steps },
        Controller::If => if_controller(element, fields, steps)?,
        Controller::While => while_controller(fields, steps)?,
        Controller::Throughput => throughput(fields, steps)?,
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
    let children = steps.iter().filter(|step| !sets::is_set(step)).count();
    if fields.is_true("IfController.evaluateAll", false)? && children > 1 {
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
    if text.is_empty() && counts(Children::Steps(&steps)) {
        return Err(
            "its condition is blank, and a Counter stands in it; write ${JMeterThread.last_sample_ok} there"
                .into(),
        );
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

/// Whether there is a counter among steps, of which a copy would count by itself.
fn counts(steps: Children<'_>) -> bool {
    steps.iter().any(|step| matches!(step, Step::Count(_)) || counts(step.children()))
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

/// JMeter looks at the time before each request.
fn runtime(
    fields: Fields<'_>,
    begin: Vec<(usize, Step)>,
    children: Vec<(&Element, Vec<Step>)>,
) -> Result<Step, String> {
    const SECONDS: &str = "RunTime.seconds";
    let is_controller =
        |child: &Element| matches!(names::kind(&child.class, &child.gui), Kind::Controller(_));
    if children.iter().any(|(child, _)| is_controller(child)) {
        return Err(RUNS_OTHERS.into());
    }
    let seconds = fields.fixed(SECONDS)?;
    // Blanks around the number make JMeter take it out, and so does 0.
    let Some(length) = seconds.parse().ok().filter(|seconds: &u32| *seconds > 0) else {
        return Err(format!("{SECONDS} is '{seconds}', which is no whole number of seconds above 0"));
    };
    let children_are_none = children.is_empty();
    // What an element comes to is one step, before which the time is looked at, as it is in JMeter.
    let steps = children
        .into_iter()
        .filter_map(|(_, mut steps)| if steps.len() > 1 { Some(Step::Sequence(steps)) } else { steps.pop() });
    let steps: Vec<Step> = steps.collect();
    if !children_are_none && steps.iter().all(may_be_nothing) {
        return Err("it makes no request and no pause, and would only turn until its time is over".into());
    }
    Ok(Step::For { length: Duration::from_secs(length.into()), steps: begun(begin, steps) })
}

/// JMeter counts the controllers and samplers right below it, and compares their names.
fn switch(fields: Fields<'_>, children: Vec<(&Element, Vec<Step>)>) -> Result<Step, String> {
    let value = fields.template("SwitchController.value")?;
    let (mut titles, mut choices) = (Vec::new(), Vec::new());
    for (child, steps) in children {
        if names::is_controller(&child.class, &child.gui) && steps.is_empty() {
            return Err("one of its choices is a controller without a request, which JMeter takes out when it comes to \
                        it, so that the others have other numbers; disable it"
                .into());
        }
        if names::is_choice(&child.class, &child.gui) {
            titles.push(fields.values.template(&child.name).map_err(|error| format!("its name: {error}"))?);
            choices.push(Step::Sequence(steps));
        }
    }
    Ok(Step::Switch { value, names: titles, steps: choices })
}

/// A controller that chooses among its children. `singly` is whether it may take what is below one bit by bit.
fn choice(
    controller: Controller,
    element: &Element,
    fields: Fields<'_>,
    steps: Vec<Step>,
    singly: Result<(), String>,
) -> Result<Step, String> {
    if controller == Controller::RandomOrder {
        return Ok(Step::OneOf { pick: Pick::RandomOrder, steps: with_weights(steps) });
    }
    let choices = choices(element, fields, steps)?;
    let mut children = element.enabled_children().map(|child| names::kind(&child.class, &child.gui));
    let has_controllers = children.any(|kind| matches!(kind, Kind::Controller(_)));
    let takes_singly = has_controllers && fields.whole_at_start("InterleaveControl.style", 0)? == 0;
    match controller {
        Controller::Interleave if takes_singly => {
            singly?;
            let steps = choices.into_iter().map(|(_, step)| one_by_one(step)).collect::<Option<_>>();
            let steps: Vec<Step> = steps.ok_or_else(|| {
                format!(
                    "{SINGLY}, which may hold requests, and Simple and Interleave Controllers of them, only"
                )
            })?;
            Ok(Step::OneOf { pick: Pick::InTurn, steps: with_weights(steps) })
        }
        Controller::Interleave => Ok(Step::OneOf { pick: Pick::InTurnToTheEnd, steps: choices }),
        _ if takes_singly => Err(SINGLY.into()),
        _ => Ok(Step::OneOf { pick: Pick::Random, steps: choices }),
    }
}

/// What makes one request of a step each time that it is come to, and the next one the next time; `None` where it is not known
/// beforehand which that is.
fn one_by_one(step: Step) -> Option<Step> {
    let requests = match step {
        Step::Request(_) | Step::OneOf { pick: Pick::InTurn, .. } => return Some(step),
        Step::OneOf { pick: Pick::InTurnToTheEnd, steps } => {
            in_order(steps.into_iter().map(|(_, step)| step).collect())?
        }
        other => in_order(vec![other])?,
    };
    Some(Step::OneOf { pick: Pick::InTurn, steps: with_weights(requests) })
}

/// The requests of steps that make the same ones in the same order each time.
fn in_order(steps: Vec<Step>) -> Option<Vec<Step>> {
    let mut requests = Vec::new();
    for step in steps {
        match step {
            Step::Request(_) => requests.push(step),
            Step::Sequence(steps) => requests.extend(in_order(steps)?),
            _ => return None,
        }
    }
    Some(requests)
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
        Step::Sequence(steps) | Step::Transaction { steps, .. } | Step::For { steps, .. } => {
            steps.iter().all(may_be_nothing)
        }
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
        | Step::SetByUser(_)
        | Step::Count(_)
        | Step::Row(_)
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
