//! Module controllers: which part of the plan each of them runs in its place.

use crate::element::Element;
use crate::names::{self, Controller, Kind};

/// The names on the way to what the controller runs, from JMeter's root on, which has none of the plan.
const PATH: &str = "ModuleController.node_path";

/// Whether the element is a module controller.
pub(crate) fn is_module(element: &Element) -> bool {
    names::kind(&element.class, &element.gui) == Kind::Controller(Controller::Module)
}

/// What a module controller runs: a controller or a test fragment anywhere in the plan, also one that is disabled. Of
/// several with these names JMeter takes the last.
pub(crate) fn target<'a>(plan: &'a [Element], module: &Element) -> Result<&'a Element, String> {
    let path = module.properties.texts(PATH);
    let names = path.get(1..).unwrap_or_default();
    let shown = names.join(" > ");
    let found = last_at(plan, names).ok_or_else(|| {
        if names.is_empty() {
            format!("{PATH} is empty; choose what it runs")
        } else {
            format!("nothing in the plan is called '{shown}'; choose again what it runs")
        }
    })?;
    let can_be_run = names::is_fragment(&found.class, &found.gui)
        || matches!(names::kind(&found.class, &found.gui), Kind::Controller(_) | Kind::Refused(_));
    if can_be_run { Ok(found) } else { Err(format!("'{shown}' is no controller and no test fragment")) }
}

fn last_at<'a>(level: &'a [Element], names: &[&str]) -> Option<&'a Element> {
    let (name, below) = names.split_first()?;
    let mut found = None;
    // JMeter looks before anything is included.
    for element in level.iter().filter(|it| it.name == *name && it.within.is_none() && !is_module(it)) {
        let here = if below.is_empty() { Some(element) } else { last_at(&element.children, below) };
        found = here.or(found);
    }
    found
}

/// The element and all below it that take part, and what module controllers among them run; each once, in the order of
/// the plan.
pub(crate) fn all_below<'a>(plan: &'a [Element], element: &'a Element) -> Vec<&'a Element> {
    let mut all: Vec<&Element> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    let mut open = vec![element];
    while let Some(next) = open.pop() {
        if !seen.insert(std::ptr::from_ref(next)) {
            continue;
        }
        all.push(next);
        if is_module(next) {
            open.extend(target(plan, next).ok());
        } else {
            let children: Vec<&Element> = next.enabled_children().collect();
            open.extend(children.into_iter().rev());
        }
    }
    all
}
