//! A test plan to a scenario.

use std::collections::BTreeMap;
use std::path::Path;

use engine::Waits;
use scenario::{RedirectRules, Scenario, Step, Template};

use crate::element::{Element, Properties, elements};
use crate::include::{self, Read};
use crate::ledger::{PlanNotUnderstood, Support, Unsupported};
use crate::names::{self, Controller, Kind, Scoped};
use crate::request::{ANSWER_TIMEOUT, Timeouts};
use crate::stages::Stage;
use crate::values::{Changing, Values};
use crate::variables::{PLAN_VARIABLES, rows};
use crate::walk::{DataFile, Walk};
use crate::{data, extractors, for_each, modules, parameters, sets, xml};

/// A test plan that can be run.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// What its users do: all groups, in the order in which they run.
    pub scenario: Scenario,
    /// The files that it reads.
    pub files: Vec<DataFile>,
    /// What is supported of it: everything that takes part.
    pub support: Support,
    /// What runs otherwise than in JMeter, in words.
    pub notes: Vec<String>,
    /// Which of the groups run side by side, one stage after another.
    pub stages: Vec<Stage>,
}

impl Plan {
    /// What the users of one stage do.
    pub fn scenario_of(&self, stage: &Stage) -> Scenario {
        let Scenario { name, variables, data, groups, connect_timeout, request_timeout, redirects } =
            &self.scenario;
        Scenario {
            name: name.clone(),
            variables: variables.clone(),
            data: data.clone(),
            groups: groups.get(stage.groups.clone()).unwrap_or_default().to_vec(),
            connect_timeout: *connect_timeout,
            request_timeout: *request_timeout,
            redirects: *redirects,
        }
    }

    /// Makes sure of the files before anything is sent: `readable` says why one can't be read. All of them are
    /// named, each with the element that reads it.
    pub fn check_files(
        &self,
        path: &Path,
        readable: impl Fn(&Path) -> Result<(), String>,
    ) -> Result<(), PlanNotUnderstood> {
        let unreadable = self.files.iter().filter_map(|file| {
            let error = readable(&file.file).err()?;
            let why = format!("{} can't be read: {error}", file.file.display());
            let DataFile { path, within, line, .. } = file.clone();
            Some(Unsupported { path, within, line, why })
        });
        let unsupported: Vec<Unsupported> = unreadable.collect();
        if unsupported.is_empty() {
            return Ok(());
        }
        let supported = self.support.supported.saturating_sub(unsupported.len());
        let support = Support { supported, unsupported, ..self.support.clone() };
        Err(PlanNotUnderstood::Unsupported { file: path.to_owned(), support })
    }
}

/// Reads a test plan as [`import_with`] does, where no other file can be read.
///
/// # Errors
/// As there; and what includes other files.
pub fn import(
    path: &Path,
    text: &str,
    properties: &BTreeMap<String, String>,
) -> Result<Plan, PlanNotUnderstood> {
    import_with(path, text, properties, &|_| Err("is not read here".into()))
}

/// Reads the test plan `text` of the file `path`, with JMeter's `properties` (`-J`), and what it includes by `read`. CSV files are
/// named relative to the plan and not opened.
///
/// # Errors
/// Text that is no test plan, with its place; or all elements and settings that are not supported, each with its path
/// in the plan and its line.
pub fn import_with(
    path: &Path,
    text: &str,
    properties: &BTreeMap<String, String>,
    read: &Read<'_>,
) -> Result<Plan, PlanNotUnderstood> {
    let broken = |problem: xml::XmlProblem| PlanNotUnderstood::Broken {
        file: path.to_owned(),
        line: problem.line,
        column: problem.column,
        what: format!("{}; open the plan in JMeter and save it again", problem.what),
    };
    let mut elements = xml::parse(text).and_then(elements).map_err(broken)?;
    include::resolve(path, properties, read, &mut elements);
    let mut changing = Changing::default();
    for element in
        elements.iter().filter(|top| top.enabled).flat_map(|top| modules::all_below(&elements, top))
    {
        gather_changing(element, &mut changing);
    }
    let mut values = Values::new(properties, changing);
    let mut variables = define(&elements, &mut values);
    let mut walk = Walk::new(path, &elements, &values);
    let mut name = String::new();
    let mut groups = Vec::new();
    for element in elements.iter().filter(|element| element.enabled) {
        if names::kind(&element.class, &element.gui) == Kind::TestPlan {
            name.clone_from(&element.name);
            groups.extend(walk.test_plan(element));
        } else {
            walk.ledger.ignore();
        }
    }
    let Walk { mut ledger, data, files, order, variables: beside, timeouts, .. } = walk;
    variables.extend(beside);
    if !groups.is_empty()
        && let Some(which) = without_response_timeout(&timeouts)
    {
        ledger.note(format!(
            "{which} that is not answered within {ANSWER_TIMEOUT} fails, and in JMeter never ends"
        ));
    }
    let (support, notes) = ledger.close();
    if !support.unsupported.is_empty() {
        return Err(PlanNotUnderstood::Unsupported { file: path.to_owned(), support });
    }
    if groups.is_empty() {
        let what = "no thread group of the plan makes a request; enable or add one".to_owned();
        return Err(PlanNotUnderstood::Broken { file: path.to_owned(), line: 1, column: 1, what });
    }
    let (mut groups, stages) = order.arranged(groups);
    let waits = timeouts.first().copied().unwrap_or(Timeouts::NONE).waits();
    groups.iter_mut().flat_map(|group| &mut group.steps).for_each(|step| leave_to_all(waits, step));
    let scenario = Scenario {
        name,
        variables,
        data,
        groups,
        connect_timeout: waits.connect,
        request_timeout: waits.request,
        redirects: RedirectRules::GetOnly,
    };
    Ok(Plan { scenario, files, support, notes, stages })
}

/// Which requests have no response timeout, if there are such.
fn without_response_timeout(timeouts: &[Timeouts]) -> Option<&'static str> {
    let count = timeouts.iter().filter(|it| it.answer.is_none()).count();
    match count {
        0 => None,
        _ if count == timeouts.len() => Some("no response timeout is set: a request"),
        _ => Some("some requests have no response timeout: one of them"),
    }
}

/// Has a request that waits as long as the scenario says for all say nothing of its own.
fn leave_to_all(all: Waits, step: &mut Step) {
    if let Step::Request(request) = step {
        request.waits = request.waits.filter(|waits| *waits != all);
    }
    step.change_children(&mut |step| leave_to_all(all, step));
}

/// The variables that the plan defines, in JMeter's order: those of the test plan, then those of all User Defined
/// Variables, wherever they stand; the last definition of a name holds. One that can't be read is left to the walk.
fn define(elements: &[Element], values: &mut Values<'_>) -> Vec<(String, Template)> {
    let mut tables = Vec::new();
    for element in elements {
        gather_tables(elements, element, &mut tables);
    }
    // Each name where it was defined last.
    let mut variables: BTreeMap<&str, (usize, Template)> = BTreeMap::new();
    for (place, (name, value)) in tables.into_iter().flat_map(rows).enumerate() {
        let Ok(value) = values.template(value) else { continue };
        values.define(name, &value);
        variables.insert(name, (place, value));
    }
    let mut variables: Vec<(usize, &str, Template)> =
        variables.into_iter().map(|(name, (place, value))| (place, name, value)).collect();
    variables.sort_unstable_by_key(|(place, ..)| *place);
    variables.into_iter().map(|(_, name, value)| (name.to_owned(), value)).collect()
}

/// Tables of variables, in document order, also those of test fragments: JMeter defines all that are in the plan.
fn gather_tables<'a>(plan: &'a [Element], element: &'a Element, tables: &mut Vec<&'a Properties>) {
    match names::kind(&element.class, &element.gui) {
        _ if !element.enabled => return,
        Kind::NotRun if !names::is_fragment(&element.class, &element.gui) => return,
        Kind::TestPlan => tables.extend(element.properties.object(PLAN_VARIABLES)),
        Kind::Scoped(Scoped::Variables) => tables.push(&element.properties),
        Kind::Controller(Controller::Module) => {
            let run = modules::all_below(plan, element);
            tables.extend(run.into_iter().filter(|it| is_table(it)).map(|it| &it.properties));
            return;
        }
        _ => {}
    }
    for child in &element.children {
        gather_tables(plan, child, tables);
    }
}

fn is_table(element: &Element) -> bool {
    names::kind(&element.class, &element.gui) == Kind::Scoped(Scoped::Variables)
}

/// Variables that get other values while the plan runs.
fn gather_changing(element: &Element, changing: &mut Changing) {
    changing.names.extend(extractors::names(element));
    changing.names.extend(data::names(element));
    changing.names.extend(sets::names(element));
    changing.names.extend(parameters::names(element));
    changing.names.extend(for_each::names(element));
    changing.unknown |= data::names_are_in_file(element);
}
