//! Steps of a scenario's file: what they do, when and how often.

use std::num::NonZeroU32;

use plan::PlanError;
use toml::{Spanned, Value};
use units::Duration;

use super::keys::{CountEach, CountTable, StepTable};
use super::{Reader, in_order};
use crate::model::{Condition, Counter, NumberFormat, OnceOf, Pause, Pick, Step, Times};
use crate::template::Template;

impl Reader<'_> {
    /// The step of a table, and the pause after it.
    pub(super) fn step(&self, table: &Spanned<StepTable>) -> Result<Vec<Step>, PlanError> {
        let step = table.get_ref();
        self.one_of(table, WHAT, &what_it_does(step))?;
        let how = how_it_is_done(step);
        if how.len() > 1 {
            let what = format!("the step has {}; they exclude each other", how.join(" and "));
            return Err(self.error(table, what, "put the step into another one's steps"));
        }
        if step.request.is_none() {
            self.only_of_requests(table)?;
        }
        let think = step.think.as_ref().map(|think| self.think(think)).transpose()?.map(Step::Pause);
        if let Some(pick) = &step.pick {
            return Ok([self.pick(table, pick)?].into_iter().chain(think).collect());
        }
        let mut inside = self.content(table)?;
        inside.extend(think);
        self.wrapped(step, inside)
    }

    /// What the step does once.
    fn content(&self, table: &Spanned<StepTable>) -> Result<Vec<Step>, PlanError> {
        let step = table.get_ref();
        if let Some(line) = &step.request {
            return Ok(vec![Step::Request(Box::new(self.request(line, step)?))]);
        }
        if let Some(set) = &step.set {
            let set = in_order(set)
                .map(|(name, value)| Ok(Step::Set { name: name.to_owned(), value: self.template(value)? }));
            return set.collect();
        }
        if let Some(count) = &step.count {
            return Ok(vec![Step::Count(self.counter(count)?)]);
        }
        step.steps.as_ref().map_or(Ok(Vec::new()), |steps| self.steps(steps))
    }

    fn counter(&self, table: &Spanned<CountTable>) -> Result<Counter, PlanError> {
        let CountTable { name, from, by, to, each } = table.get_ref();
        let (first, step, last) = (from.unwrap_or(1), by.unwrap_or(1), to.unwrap_or(i64::MAX));
        if step < 1 || last < first {
            let what = format!("a counter from {first} by {step} to {last} never counts on");
            return Err(self.error(table, what, "write by from 1, and to that is not below from"));
        }
        let (by_user, format) = (*each == CountEach::User, NumberFormat::default());
        Ok(Counter { name: name.clone(), first, step, last, by_user, format })
    }

    /// The steps in what says when and how often.
    fn wrapped(&self, step: &StepTable, steps: Vec<Step>) -> Result<Vec<Step>, PlanError> {
        if step.transaction.is_none()
            && let Some(key) = step.with_pauses.as_ref().or(step.alone.as_ref())
        {
            let what = "with_pauses and alone are said of a transaction";
            return Err(self.error(key, what, "add transaction = \"its name\", or take the key out"));
        }
        let step = if let Some(turns) = &step.turns {
            Step::Loop { times: self.turns(turns)?, steps }
        } else if let Some(condition) = &step.condition {
            Step::If { condition: self.condition(condition)?, steps }
        } else if let Some(condition) = &step.as_long_as {
            Step::While { condition: self.condition(condition)?, steps }
        } else if step.once.as_ref().is_some_and(|once| *once.get_ref()) {
            Step::Once { of: OnceOf::Loop, steps }
        } else if let Some(name) = &step.transaction {
            Step::Transaction {
                name: self.template(name)?,
                with_pauses: step.with_pauses.as_ref().is_some_and(|key| *key.get_ref()),
                parent_only: step.alone.as_ref().is_some_and(|key| *key.get_ref()),
                steps,
            }
        } else {
            return Ok(steps);
        };
        Ok(vec![step])
    }

    fn pick(&self, table: &Spanned<StepTable>, pick: &Spanned<Pick>) -> Result<Step, PlanError> {
        let Some(steps) = &table.get_ref().steps else {
            return Err(self.error(pick, "there is nothing to pick from", "give the step steps of its own"));
        };
        let pick = *pick.get_ref();
        let weighted = steps.iter().map(|table| {
            let weight = match &table.get_ref().weight {
                Some(weight) if pick != Pick::Random => {
                    let what = "a weight means something within a random pick only";
                    return Err(self.error(weight, what, "take it out, or pick at random"));
                }
                Some(weight) => NonZeroU32::new(*weight.get_ref())
                    .ok_or_else(|| self.error(weight, "a weight of 0 is never picked", "write one from 1"))?,
                None => NonZeroU32::MIN,
            };
            let mut steps = self.step(table)?;
            let step = if steps.len() == 1 { steps.remove(0) } else { Step::Sequence(steps) };
            Ok((weight, step))
        });
        Ok(Step::OneOf { pick, steps: weighted.collect::<Result<_, _>>()? })
    }

    fn turns(&self, turns: &Spanned<Value>) -> Result<Times, PlanError> {
        match turns.get_ref() {
            Value::Integer(count) if *count >= 0 => Ok(Times::Count(Template::text(count.to_string()))),
            Value::String(word) if word == "forever" => Ok(Times::Forever),
            Value::String(text) if text.contains("${") => Ok(Times::Count(self.template_of(turns, text)?)),
            other => {
                let what = format!("{other} is no number of turns");
                Err(self.error(turns, what, "write a number, \"forever\", or a variable such as \"${n}\""))
            }
        }
    }

    fn condition(&self, text: &Spanned<String>) -> Result<Condition, PlanError> {
        Condition::parse(text.get_ref()).map_err(|error| {
            let what = format!("the condition `{}` is not understood: {}", error.text, error.why);
            self.error(text, what, "write it like \"${status}\" == \"open\" && ${n} < 3")
        })
    }

    /// `1s`, `1s..3s`, or `2s+-500ms`.
    fn think(&self, text: &Spanned<String>) -> Result<Pause, PlanError> {
        let spans = |a: &str, b: &str| Some((a.parse::<Duration>().ok()?, b.parse::<Duration>().ok()?));
        let given = text.get_ref().as_str();
        let pause = if let Some((least, most)) = given.split_once("..") {
            spans(least, most).filter(|(least, most)| least <= most).map(|(least, most)| Pause::Uniform {
                offset_ms: ms(least),
                range_ms: ms(most.saturating_sub(least)),
            })
        } else if let Some((mean, deviation)) = given.split_once("+-") {
            spans(mean, deviation)
                .map(|(mean, deviation)| Pause::Gaussian { offset_ms: ms(mean), deviation_ms: ms(deviation) })
        } else {
            given.parse().ok().map(|span| Pause::Constant { ms: ms(span) })
        };
        pause.ok_or_else(|| {
            let what = format!("`{given}` is no pause");
            self.error(
                text,
                what,
                "write it like 1s, 1s..3s (evenly between) or 2s+-500ms (normally distributed)",
            )
        })
    }

    fn one_of(&self, table: &Spanned<StepTable>, all: &str, given: &[&str]) -> Result<(), PlanError> {
        match given {
            [_] => Ok(()),
            [] => Err(self.error(table, "the step does nothing", format!("give it one of {all}"))),
            several => {
                let what = format!("the step has {}", several.join(" and "));
                Err(self.error(table, what, format!("give it only one of {all}; make several steps of it")))
            }
        }
    }

    /// Refuses what says something of a request where there is none.
    fn only_of_requests(&self, table: &Spanned<StepTable>) -> Result<(), PlanError> {
        let step = table.get_ref();
        let given = [
            ("name", step.name.is_some()),
            ("headers", step.headers.is_some()),
            ("body", step.body.is_some()),
            ("json", step.json.is_some()),
            ("form", step.form.is_some()),
            ("extract", step.extract.is_some()),
            ("expect", step.expect.is_some()),
            ("pace", step.pace.is_some()),
            ("redirects", step.redirects.is_some()),
            ("keep_alive", step.keep_alive.is_some()),
        ];
        match given.into_iter().find(|(_, is_given)| *is_given) {
            Some((key, _)) => {
                let what = format!("{key} says something of a request, and the step has none");
                Err(self.error(table, what, "add request = \"GET /path\", or take the key out"))
            }
            None => Ok(()),
        }
    }
}

/// What a step may do.
const WHAT: &str = "request, set, count, steps or think";

/// The keys of a table that say what it does. A pause beside something else belongs to that.
fn what_it_does(step: &StepTable) -> Vec<&'static str> {
    let given = [
        ("request", step.request.is_some()),
        ("set", step.set.is_some()),
        ("count", step.count.is_some()),
        ("steps", step.steps.is_some()),
    ];
    let mut keys: Vec<&str> =
        given.into_iter().filter(|(_, is_given)| *is_given).map(|(key, _)| key).collect();
    if keys.is_empty() && step.think.is_some() {
        keys.push("think");
    }
    keys
}

/// The keys of a table that say when and how often.
fn how_it_is_done(step: &StepTable) -> Vec<&'static str> {
    let given = [
        ("loop", step.turns.is_some()),
        ("if", step.condition.is_some()),
        ("while", step.as_long_as.is_some()),
        ("once", step.once.is_some()),
        ("pick", step.pick.is_some()),
        ("transaction", step.transaction.is_some()),
    ];
    given.into_iter().filter(|(_, is_given)| *is_given).map(|(key, _)| key).collect()
}

/// A span in milliseconds, with their fraction.
fn ms(span: Duration) -> Template {
    Template::text((span.as_nanos() as f64 / 1e6).to_string())
}
