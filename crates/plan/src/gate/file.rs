//! The table `[gate]` of an experiment.

use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;
use toml::Spanned;

use super::{Against, Condition, Gate, max_loss};
use crate::error::PlanError;
use crate::toml_file;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GateTable {
    #[serde(default)]
    fail_if: Vec<Spanned<String>>,
    baseline: Option<Spanned<String>>,
    last_runs: Option<u32>,
    max_loss: Option<Spanned<String>>,
}

/// All that is looked at of an experiment.
#[derive(Deserialize)]
struct GateOnly {
    gate: Option<Spanned<GateTable>>,
    /// Of services of its own there may be two versions, of which one is the baseline.
    service: Option<IgnoredAny>,
}

impl GateTable {
    /// The gate, and an error with the byte that it is about. `stacks` are those that a baseline may be, where that is known.
    pub(crate) fn check(
        table: &Spanned<Self>,
        stacks: Option<&[&str]>,
    ) -> Result<Option<Gate>, (PlanError, usize)> {
        let Self { fail_if, baseline, last_runs, max_loss: loss } = table.get_ref();
        let condition = |text: &Spanned<String>| {
            text.get_ref().parse::<Condition>().map_err(|error| (error, text.span().start))
        };
        let fail_if = fail_if.iter().map(condition).collect::<Result<_, _>>()?;
        let share =
            |text: &Spanned<String>| max_loss(text.get_ref()).map_err(|error| (error, text.span().start));
        let loss = loss.as_ref().map(share).transpose()?;
        let unknown =
            baseline.as_ref().zip(stacks).filter(|(it, stacks)| !stacks.contains(&it.get_ref().as_str()));
        if let Some((baseline, stacks)) = unknown {
            let what = format!("the baseline `{}` is no stack of this experiment", baseline.get_ref());
            let help = format!("name one of {}", stacks.join(", "));
            return Err((PlanError::new(what, help), baseline.span().start));
        }
        let baseline = baseline.as_ref().map(|it| it.get_ref().clone());
        let against = Against { baseline, last_runs: *last_runs, max_loss: loss };
        Gate::new(fail_if, against).map_err(|error| (error, table.span().start))
    }
}

pub(super) fn of_experiment(path: &Path, text: &str) -> Result<Option<Gate>, PlanError> {
    let GateOnly { gate: table, service } = toml_file::parse(path, text, "docs/experiments.md")?;
    let Some(table) = table else { return Ok(None) };
    let placed = |(error, at): (PlanError, usize)| error.at_offset(path, text, at);
    let gate = GateTable::check(&table, None).map_err(placed)?;
    if let Some(gate) = gate.as_ref().filter(|_| service.is_none()) {
        gate.is_against_some().map_err(|error| placed((error, table.span().start)))?;
    }
    Ok(gate)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Option<Gate>, String> {
        of_experiment(Path::new("x.toml"), text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_gate_is_read_from_an_experiment_and_its_mistakes_have_a_place() {
        let text = "title = \"t\"\n[gate]\nfail_if = [\"p99>50ms\", \"errors>1%\"]\nbaseline = \"main\"\n";
        let gate = of(text).unwrap().unwrap();
        assert_eq!((gate.fail_if.len(), gate.baseline.unwrap().max_loss.to_string()), (2, "10%".to_owned()));
        let gate = of("[gate]\nlast_runs = 10\nmax_loss = \"5%\"\n").unwrap().unwrap().last_runs.unwrap();
        assert_eq!((gate.count, gate.max_loss.to_string()), (10, "5%".to_owned()));
        // Two versions of a service are each other's baseline.
        let gate = of("[gate]\nmax_loss = \"5%\"\n[service.cart.run]\n").unwrap().unwrap();
        assert_eq!((gate.max_loss.unwrap().to_string(), gate.asks_something()), ("5%".to_owned(), false));
        assert_eq!(of("title = \"t\"\n"), Ok(None));
        assert_eq!(of("[gate]\n"), Ok(None));
        for (text, said) in [
            ("[gate]\nfail_if = [\"p99>50ms\", \"p98>1s\"]", "x.toml:2:24: nothing is called `p98`"),
            ("[gate]\nfail_if = \"p99>50ms\"", "`fail_if` is given string"),
            ("[gate]\nmax_loss = \"5%\"", "x.toml:1:1: a loss is allowed, and there is no baseline"),
            ("[gate]\nbaseline = \"a\"\nmax_loss = \"5\"", "x.toml:3:12: `5` is no loss; unknown unit"),
            ("[gate]\nbaseline = \"a\"\nmax_loss = \"100%\"", "x.toml:3:12: `100%` would be kept to"),
            (
                "[gate]\nlast_runs = 2",
                "x.toml:1:1: a run can't be held against the last 2 runs; give 6 to 1000",
            ),
            ("[gate]\nfail_of = []", "did you mean fail_if?"),
        ] {
            let error = of(text).expect_err(text);
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
