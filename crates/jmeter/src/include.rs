//! Include controllers: what stands in the test fragments of other files, in the place of what stands below them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::data::beside;
use crate::element::{Element, tops};
use crate::names;
use crate::xml::{self, DEPTH_MAX, XmlProblem};

/// Reads the text of a file; `None` where there is none. An error says of the file what is wrong: `is longer than 1 MiB`.
pub type Read<'r> = dyn Fn(&Path) -> Result<Option<String>, String> + 'r;

/// The file that is included.
const PATH: &str = "IncludeController.includepath";
/// The property that JMeter puts before it.
const PREFIX: &str = "includecontroller.prefix";
/// Files that a plan includes at most; one that it includes twice is two.
const FILES_MAX: usize = 1000;
/// What they come to at most, bytes.
const BYTES_MAX: usize = 16 << 20;

/// Puts what is included below the elements that include it, and there says why it can't be.
pub(crate) fn resolve(
    plan: &Path,
    properties: &BTreeMap<String, String>,
    read: &Read<'_>,
    elements: &mut [Element],
) {
    let prefix = properties.get(PREFIX).map_or("", String::as_str);
    let open = vec![plan.to_owned()];
    Includes { plan, prefix, read, files: 0, bytes: 0, open }.all(elements, 0);
}

/// The state of going through a plan's files.
struct Includes<'i> {
    plan: &'i Path,
    prefix: &'i str,
    read: &'i Read<'i>,
    /// Files so far.
    files: usize,
    /// What they come to.
    bytes: usize,
    /// The files around the element at hand, from the plan on.
    open: Vec<PathBuf>,
}

impl Includes<'_> {
    /// Does so among these elements and what is below them; `above` is how many are around them.
    fn all(&mut self, elements: &mut [Element], above: usize) {
        for element in elements {
            if names::is_own(&element.class, "IncludeController") {
                let included = self.included(element, above + 1);
                element.problem = included.as_ref().err().cloned();
                element.children = included.unwrap_or_default();
            } else {
                self.all(&mut element.children, above + 1);
            }
        }
    }

    /// What an element includes.
    fn included(&mut self, element: &Element, above: usize) -> Result<Vec<Element>, String> {
        if element.enabled_children().next().is_some() {
            return Err("JMeter drops what stands below it; move that into what it includes".into());
        }
        let (file, text) = self.found(element.properties.text(PATH))?;
        let shown = file.display();
        if self.open.contains(&file) {
            return Err(format!("it stands in {shown}, which it includes, and so without end"));
        }
        self.files += 1;
        self.bytes = self.bytes.saturating_add(text.len());
        if self.files > FILES_MAX || self.bytes > BYTES_MAX {
            let mib = BYTES_MAX >> 20;
            return Err(format!("the plan includes more than {FILES_MAX} files, or {mib} MiB of them"));
        }
        let elements = xml::parse(&text).and_then(tops).map_err(|problem| {
            let XmlProblem { line, column, what } = problem;
            format!("{shown}:{line}:{column}: {what}")
        })?;
        let Some(mut fragment) = fragment(elements) else {
            return Err(format!(
                "{shown} has no Test Fragment right below its test plan, where JMeter looks for one"
            ));
        };
        if above + depth(&fragment) > DEPTH_MAX {
            return Err(format!("with {shown} more than {DEPTH_MAX} elements are within each other"));
        }
        mark(&mut fragment, &Rc::from(file.as_path()));
        self.open.push(file);
        self.all(&mut fragment, above);
        self.open.pop();
        Ok(fragment)
    }

    /// The file that a plan names, and its text. JMeter looks where it was started, behind the prefix, and then beside the plan,
    /// without it. It fills in no variables.
    fn found(&self, path: &str) -> Result<(PathBuf, String), String> {
        if path.is_empty() {
            return Err(format!("{PATH} is empty; name the file"));
        }
        let first = PathBuf::from(format!("{}{path}", self.prefix).trim());
        let beside = (!first.is_absolute()).then(|| beside(self.plan, path));
        let mut looked = Vec::new();
        for file in std::iter::once(first).chain(beside) {
            let shown = file.display().to_string();
            match (self.read)(&file) {
                Ok(Some(text)) => return Ok((file, text)),
                Ok(None) => looked.push(shown),
                Err(error) => return Err(format!("{shown} {error}")),
            }
        }
        looked.dedup();
        Err(format!("there is no file {}", looked.join(" and no ")))
    }
}

/// What stands below the first test fragment, at the top of a file or right below its test plan, whether it is off or not.
fn fragment(level: Vec<Element>) -> Option<Vec<Element>> {
    let is_plan = |it: &Element| names::is_own(&it.class, "TestPlan");
    let is_fragment = |it: &Element| names::is_own(&it.class, "TestFragmentController");
    let first = level.into_iter().find(|it| is_plan(it) || is_fragment(it))?;
    if is_plan(&first) { fragment(first.children) } else { Some(first.children) }
}

/// How many elements are within each other.
fn depth(elements: &[Element]) -> usize {
    elements.iter().map(|element| 1 + depth(&element.children)).max().unwrap_or(0)
}

/// Says of all of these elements which file they stand in.
fn mark(elements: &mut [Element], file: &Rc<Path>) {
    for element in elements {
        element.within = Some(Rc::clone(file));
        mark(&mut element.children, file);
    }
}
