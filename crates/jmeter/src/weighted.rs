//! The Weighted Switch Controller of JMeter's best known plug-ins: each time one of what stands below it, by weights.

use std::num::NonZeroU32;

use scenario::{Pick, Step};

use crate::element::Element;
use crate::names::{self, Controller};
use crate::values::Fields;

/// The table of weights: a row for each that may be chosen, with its name, its weight, and whether it takes part.
const WEIGHTS: &str = "Weights";

/// The choice among these children, each with its steps.
pub(crate) fn choice(fields: Fields<'_>, children: Vec<(&Element, Vec<Step>)>) -> Result<Step, String> {
    let mut choices = Vec::new();
    for (child, steps) in children {
        if names::is_controller(&child.class, &child.gui) && steps.is_empty() {
            return Err("one of its choices is a controller without a request; disable it".into());
        }
        if names::is_choice(&child.class, &child.gui) {
            choices.push(Step::Sequence(steps));
        }
    }
    if !choices.iter().all(is_taken_back) {
        return Err(
            "the plug-in goes on to the beginning of what stands behind its choice and takes that back, which it can \
             do of requests, and of Simple and Transaction Controllers of them, only"
                .into(),
        );
    }
    let rows = fields.properties.lists(WEIGHTS);
    let of_row = |row: &Vec<&str>| match row.as_slice() {
        [_, weight] | [_, weight, "true"] => Some(self::weight(fields, weight)),
        _ => None,
    };
    let weights: Vec<u32> = rows.iter().filter_map(of_row).collect::<Result<_, String>>()?;
    if weights.len() != choices.len() {
        return Err(format!(
            "{WEIGHTS} has {} rows that take part, and {} choices stand below it; open the plan in JMeter and save it \
             again",
            weights.len(),
            choices.len()
        ));
    }
    // One without a weight is never chosen.
    let weighted = choices.into_iter().zip(weights);
    let steps: Vec<(NonZeroU32, Step)> =
        weighted.filter_map(|(step, weight)| Some((NonZeroU32::new(weight)?, step))).collect();
    if steps.is_empty() {
        return Err(format!("{WEIGHTS} are all 0"));
    }
    let pick = if fields.is_true("IsRandomChoice", false)? { Pick::Random } else { Pick::ByShare };
    Ok(Step::OneOf { pick, steps })
}

fn weight(fields: Fields<'_>, text: &str) -> Result<u32, String> {
    let template = fields.values.template(text).map_err(|error| format!("{WEIGHTS}: {error}"))?;
    // Blanks around the number end the thread in JMeter.
    let weight = fields.values.fixed(&template).and_then(|text| text.parse().ok());
    weight.ok_or_else(|| {
        format!(
            "{WEIGHTS} has '{text}', which is no whole number from 0 that stays the same for the whole run"
        )
    })
}

/// Why it can't be below these controllers, if it can't. `may_begin_anew` is whether an iteration may be left for the next one.
pub(crate) fn may_stand_below(around: &[Controller], may_begin_anew: bool) -> Result<(), String> {
    if may_begin_anew {
        return Err(
            "the plug-in keeps a choice that was left before its end, and makes nothing of it the next time (action \
             after an error, Flow Control Action)"
                .into(),
        );
    }
    let is_plain = |around: &Controller| {
        matches!(around, Controller::Simple | Controller::Transaction | Controller::Loop | Controller::Module)
    };
    if around.iter().all(is_plain) {
        return Ok(());
    }
    Err("it stands below a controller that may pass it over, where the plug-in chooses all the same; put it below \
         Simple, Transaction and Loop Controllers only"
        .into())
}

/// Whether nothing is left of a step of which only the beginning was come to, once it is begun anew. Of what stands in a Transaction
/// Controller only that itself is.
fn is_taken_back(step: &Step) -> bool {
    let is_single = |step: &Step| matches!(step, Step::Request(_) | Step::Pause(_) | Step::Leave(_));
    match step {
        Step::Sequence(steps) => steps.iter().all(is_taken_back),
        Step::Transaction { steps, .. } => steps.iter().all(is_single),
        other => is_single(other),
    }
}
