//! An experiment on two versions of a project's services: each in the place of the service itself.

use std::collections::{BTreeMap, BTreeSet};

use units::Share;

use super::companions::add_companions;
use super::{Cell, Experiment, Pace, Processes, Role};
use crate::error::PlanError;
use crate::stack::Catalogue;
use crate::version::Version;

/// Blocks at most where it goes on until it is precise or its time is over: a hundred tell a difference of a hundredth on a
/// machine whose trials differ by three.
const BLOCKS_UNTIL_MAX: u32 = 100;

/// When there are enough blocks, where it is not for the file to say.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Until {
    /// When the interval of every ratio is within ± so much.
    pub precision: Option<Share>,
    /// Whether somebody else looks at the clock.
    pub has_budget: bool,
}

/// What of an experiment is not compared.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NotCompared {
    /// Stacks that the project does not build and start, of which there is one version.
    pub others: BTreeSet<String>,
    /// What a version does not have, such as a round's endpoint, and why: nothing can be told of it.
    pub missing: BTreeMap<String, String>,
}

impl NotCompared {
    /// In a sentence each.
    pub fn words(&self) -> impl Iterator<Item = String> {
        let others = self.others.iter();
        let others = others.map(|stack| {
            format!("{stack} is nothing that this project builds and starts, and takes no part")
        });
        others.chain(self.missing.iter().map(|(what, why)| format!("without {what}: {why}")))
    }
}

impl Until {
    const fn is_asked(&self) -> bool {
        self.precision.is_some() || self.has_budget
    }
}

impl Experiment {
    /// Puts both versions of each service in its place, each trial on a fresh process, and the first of each table once more
    /// beside them. `catalogue` has the versions. Gives what is left out.
    pub fn compare_versions(
        &mut self,
        catalogue: &Catalogue,
        is_service: impl Fn(&str) -> bool,
    ) -> Result<NotCompared, PlanError> {
        let mut left_out = NotCompared::default();
        for round in &mut self.rounds {
            let cells = std::mem::take(&mut round.cells);
            for cell in cells.into_iter().filter(|it| it.role == Role::Stack) {
                if !is_service(&cell.stack) {
                    left_out.others.insert(cell.stack);
                    continue;
                }
                match both(&cell, catalogue) {
                    Ok(versions) => round.cells.extend(versions),
                    Err(why) => {
                        let what = format!("{} in round `{}`", cell.stack, round.name);
                        left_out.missing.insert(what, why.to_string());
                    }
                }
            }
            round.twin = true;
        }
        self.rounds.retain(|round| !round.cells.is_empty());
        self.procedure.processes = Processes::Fresh;
        add_companions(&mut self.rounds, &self.procedure);
        if self.rounds.is_empty() {
            let words: Vec<String> = left_out.words().collect();
            let what = format!("no round has a service that both versions have: {}", words.join("; "));
            return Err(PlanError::new(
                what,
                "name a [service.NAME] of this project in `stacks` of a [[round]]",
            ));
        }
        Ok(left_out)
    }

    /// Has it go on as `until` says, and for `least` blocks at any rate: fewer tell nothing. A quick look stays one.
    pub fn go_on(&mut self, until: Until, least: u32) {
        if self.pace != Pace::Full {
            return;
        }
        let procedure = &mut self.procedure;
        if until.is_asked() {
            procedure.blocks = least;
            procedure.blocks_max = BLOCKS_UNTIL_MAX.max(least);
        } else {
            procedure.blocks = procedure.blocks.max(least);
            procedure.blocks_max = procedure.blocks_max.max(procedure.blocks);
        }
        procedure.precision = until.precision.unwrap_or(procedure.precision);
    }
}

/// A cell of each version, at the same load.
fn both(cell: &Cell, catalogue: &Catalogue) -> Result<[Cell; 2], PlanError> {
    let of = |version: Version| -> Result<Cell, PlanError> {
        let stack = catalogue.get(&version.id_of(&cell.stack))?;
        let endpoint = stack.endpoint(&cell.endpoint.name)?.clone();
        Ok(Cell { stack: stack.id.clone(), endpoint, ..cell.clone() })
    };
    Ok([of(Version::Before)?, of(Version::After)?])
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::stack::StackManifest;

    fn services(endpoints: &[&str]) -> (String, Vec<StackManifest>) {
        let endpoints: Vec<String> = endpoints
            .iter()
            .map(|name| format!("[[service.cart.endpoint]]\nname = \"{name}\"\npath = \"/{name}\"\n"))
            .collect();
        let text = format!(
            "[service.cart.run]\ncommand = [\"x\", \"{{port}}\"]\n[service.cart.ready]\n{}",
            endpoints.concat()
        );
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let all = StackManifest::services(Path::new("x.toml"), &text, here).expect("they are valid");
        (text, all)
    }

    /// An experiment on the service as it is here, and the catalogue of its versions, the first of which has no `new`.
    fn experiment() -> (Experiment, Catalogue) {
        let nowhere = Path::new("no-such-folder");
        let (service, here) = services(&["main", "new"]);
        let (_, older) = services(&["main"]);
        let text = format!(
            "title = \"t\"\nblocks = 5\ntwin = false\ncontrol = false\nprocesses = \"kept\"\n{service}\n\
             [load]\nconnections = [4, 8]\nduration = \"1s\"\n\
             [[round]]\nname = \"one\"\nendpoint = \"main\"\nstacks = [\"cart\"]\n\
             [[round]]\nname = \"two\"\nendpoint = \"new\"\nstacks = [\"cart\"]\n"
        );
        let own = Catalogue::with_services(nowhere, here.clone()).expect("it is one");
        let path = Path::new("proofload.toml");
        let experiment = Experiment::parse(path, &text, &own, Pace::Full).expect("it is valid");
        let mut both = Version::Before.of_services(older, "main");
        both.extend(Version::After.of_services(here, "the working tree"));
        (experiment, Catalogue::with_services(nowhere, both).expect("it is one"))
    }

    #[test]
    fn both_versions_take_the_place_of_the_service_and_the_first_is_there_twice() {
        let (mut experiment, versions) = experiment();
        let left_out = experiment.compare_versions(&versions, |id| id == "cart").expect("one round is left");
        assert!(left_out.others.is_empty(), "{left_out:?}");
        let words: Vec<String> = left_out.words().collect();
        assert_eq!(words.len(), 1, "of both loads");
        assert!(
            words[0].starts_with("without cart in round `two`: ") && words[0].contains("`new`"),
            "{words:?}"
        );
        assert_eq!(experiment.procedure.processes, Processes::Fresh);
        let cells: Vec<(&str, Role, u32)> = experiment.rounds[0]
            .cells
            .iter()
            .map(|it| (it.stack.as_str(), it.role, it.load.connections.get()))
            .collect();
        let at = |connections: u32| {
            [
                ("cart-before", Role::Stack, connections),
                ("cart-after", Role::Stack, connections),
                ("cart-before", Role::Twin, connections),
            ]
        };
        assert_eq!(cells, [at(4), at(8)].concat());
    }

    #[test]
    fn what_is_no_service_leaves_nothing_to_compare() {
        let (mut experiment, versions) = experiment();
        let told = experiment.compare_versions(&versions, |_| false).unwrap_err().to_string();
        assert!(told.contains("cart is nothing that this project builds and starts"), "{told}");
    }

    #[test]
    fn it_goes_on_for_as_long_as_was_asked_and_never_for_less_than_tells() {
        let blocks = |until: Until| {
            let (mut experiment, _) = experiment();
            experiment.go_on(until, 8);
            let procedure = experiment.procedure;
            (procedure.blocks, procedure.blocks_max, procedure.precision.get())
        };
        assert_eq!(blocks(Until::default()), (8, 8, 0.02));
        let precision = Share::percent(1.0);
        assert_eq!(blocks(Until { precision, has_budget: false }), (8, BLOCKS_UNTIL_MAX, 0.01));
        assert_eq!(blocks(Until { precision: None, has_budget: true }), (8, BLOCKS_UNTIL_MAX, 0.02));
    }
}
