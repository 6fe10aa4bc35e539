//! Goes through a plan once, from the test plan down, and builds the scenario's steps on the way.

mod scoped;

use std::path::{Path, PathBuf};

use scenario::{DataSet, Multipart, OnError, Pause, Step, Template};

use self::scoped::Reader;
use crate::element::Element;
use crate::flow::{self, Action};
use crate::ledger::{Ledger, Place};
use crate::level::{Cookies, Level, Scope};
use crate::names::{self, Kind};
use crate::request::{self, Timeouts};
use crate::rewriting::Rewriting;
use crate::stages::Order;
use crate::values::{Fields, Values};
use crate::{checked, sets};

/// A file that a plan reads, and which element names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataFile {
    /// The file: relative ones are those beside the plan.
    pub file: PathBuf,
    /// The element's path in the plan.
    pub path: String,
    /// The file that the element stands in, where it is one that the plan includes.
    pub within: Option<PathBuf>,
    /// Its line in its file, from 1.
    pub line: usize,
}

impl DataFile {
    /// A file that the element at this place reads.
    fn new(file: PathBuf, place: &Place) -> Self {
        let within = place.within.as_deref().map(Path::to_owned);
        Self { file, path: place.path.clone(), within, line: place.line }
    }
}

/// The state of going through a plan.
pub(crate) struct Walk<'a> {
    pub plan: &'a Path,
    /// What the plan's file holds at its top.
    pub elements: &'a [Element],
    pub values: &'a Values<'a>,
    pub ledger: Ledger,
    /// From the test plan to the element at hand.
    pub trail: Vec<&'a Element>,
    /// What applies, from the test plan's level to the one at hand.
    pub levels: Vec<Level<'a>>,
    /// How many groups of users there are.
    pub groups: usize,
    /// In how many stages they run, one after another.
    pub stages: usize,
    pub order: Order,
    /// What is done as each iteration of every group begins, each with its element's line.
    pub plan_begin: Vec<(usize, Step)>,
    /// Ids that the users of every group look for in their answers.
    pub plan_rewritings: Vec<Rewriting>,
    /// Variables that users begin with beside those that the plan names.
    pub variables: Vec<(String, Template)>,
    /// Of the group at hand.
    pub group: GroupState,
    pub data: Vec<DataSet>,
    /// Who goes on where in a file of rows.
    readers: Vec<Reader<'a>>,
    pub files: Vec<DataFile>,
    /// Module controllers that were followed.
    pub modules: usize,
    /// Constant throughput timers so far.
    pub paces: u32,
    /// The longest waits of each request.
    pub timeouts: Vec<Timeouts>,
}

/// What is gathered while going through a group.
#[derive(Default)]
pub(crate) struct GroupState {
    /// What becomes of the cookies of each of its requests.
    pub cookies: Vec<Option<Cookies>>,
    /// What is done as each iteration begins, each with its element's line.
    pub begin: Vec<(usize, Step)>,
    /// What is done each time that a controller begins, of those around the element at hand, each with its element's line.
    pub begins: Vec<Vec<(usize, Step)>>,
    /// The loops and other controllers around the element at hand; the group is none.
    pub controllers: Vec<names::Controller>,
    /// Whether an iteration may be left for the next one.
    pub may_begin_anew: bool,
    /// Ids that its users look for in their answers.
    pub rewritings: Vec<Rewriting>,
    /// Whether each of its users has made a request by now.
    pub has_asked: bool,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(plan: &'a Path, elements: &'a [Element], values: &'a Values<'a>) -> Self {
        Self {
            plan,
            elements,
            values,
            ledger: Ledger::default(),
            trail: Vec::new(),
            levels: Vec::new(),
            groups: 0,
            stages: 0,
            order: Order::default(),
            plan_begin: Vec::new(),
            plan_rewritings: Vec::new(),
            variables: Vec::new(),
            group: GroupState::default(),
            data: Vec::new(),
            readers: Vec::new(),
            files: Vec::new(),
            modules: 0,
            paces: 0,
            timeouts: Vec::new(),
        }
    }

    /// The place of the element at hand.
    pub(crate) fn place(&self) -> Place {
        let titles: Vec<String> = self.trail.iter().map(|element| element.title()).collect();
        let last = self.trail.last();
        Place {
            path: titles.join(" > "),
            within: last.and_then(|element| element.within.clone()),
            line: last.map_or(0, |element| element.line),
        }
    }

    /// The place of the element at hand with its class, for what can't be run.
    pub(crate) fn place_with_class(&self) -> Place {
        let mut place = self.place();
        if let Some(element) = self.trail.last() {
            place.path = format!("{} ({})", place.path, element.class);
        }
        place
    }

    /// The element at hand is not supported.
    pub(crate) fn refuse(&mut self, reasons: impl IntoIterator<Item = String>) {
        let place = self.place_with_class();
        self.ledger.refuse(&place, reasons);
    }

    /// Goes through what is below `parent`: first all that applies there, then the steps.
    pub(crate) fn branch(&mut self, parent: &'a Element) -> Vec<Step> {
        self.children(parent).into_iter().flat_map(|(_, steps)| steps).collect()
    }

    /// The same, with the steps of each element by themselves.
    pub(crate) fn children(&mut self, parent: &'a Element) -> Vec<(&'a Element, Vec<Step>)> {
        let level = self.level(parent);
        self.levels.push(level);
        let mut children = Vec::new();
        for child in parent.enabled_children() {
            self.trail.push(child);
            children.push((child, self.step(child)));
            self.trail.pop();
        }
        self.levels.pop();
        children
    }

    /// What one element below the test plan or a group comes to.
    pub(crate) fn step(&mut self, element: &'a Element) -> Vec<Step> {
        if let Some(problem) = &element.problem {
            self.refuse([problem.clone()]);
            return Vec::new();
        }
        match names::kind(&element.class, &element.gui) {
            // They were read with their level.
            Kind::Scoped(_) => Vec::new(),
            Kind::NoEffect => {
                self.without_effect(element);
                self.branch(element)
            }
            // JMeter does not carry it out: nothing of it is even looked at.
            Kind::NotRun => {
                self.ledger.ignore();
                Vec::new()
            }
            Kind::Refused(why) => {
                self.refuse([why.to_owned()]);
                self.branch(element)
            }
            // JMeter takes it into every group, but nothing of what is below it.
            Kind::Controller(names::Controller::Simple) if self.trail.len() == 2 => {
                self.ledger.ignore();
                let title = element.title();
                self.ledger.note(format!(
                    "{title}: it stands outside of a thread group, and is not run, by JMeter neither"
                ));
                Vec::new()
            }
            _ if self.trail.len() == 2 => {
                self.refuse(["it stands outside of a thread group".to_owned()]);
                self.branch(element)
            }
            Kind::TestPlan
            | Kind::ThreadGroup(_)
            | Kind::OpenModel
            | Kind::Ultimate
            | Kind::Stepping
            | Kind::Concurrency => {
                self.refuse(["it does not belong there".to_owned()]);
                self.branch(element)
            }
            Kind::Request => self.request(element),
            Kind::FlowAction => self.flow_action(element),
            Kind::DebugSampler => {
                self.ledger.ignore();
                self.ledger
                    .note("Debug Sampler: it makes no sample, but the pauses before it are made".into());
                self.without_request(element, None)
            }
            Kind::Controller(names::Controller::Module) => self.module(element),
            Kind::Controller(controller) => self.controller(controller, element),
        }
    }

    fn request(&mut self, element: &'a Element) -> Vec<Step> {
        let level = self.level(element);
        self.levels.push(level);
        let result = request::request(self.plan, element, Scope(&self.levels), self.values).and_then(
            |(step, timeouts)| {
                checked::request(&step).map(|()| (step, timeouts)).map_err(|reason| vec![reason])
            },
        );
        let cookies = Scope(&self.levels).cookies().cloned();
        let is_rewritten = !Scope(&self.levels).rewritings().is_empty();
        let has_action = Scope(&self.levels).on_error() != OnError::Continue;
        let is_automatic =
            cookies.is_some() && request::redirects_automatically(element, Scope(&self.levels), self.values);
        self.below_request(element);
        self.levels.pop();
        let result = match result {
            Ok(_) if is_rewritten && !self.group.has_asked => Err(vec![NO_ANSWER_BEFORE.into()]),
            Ok(_) if has_action && self.is_in_parent_sample() => Err(vec![ACTION_IN_PARENT.into()]),
            other => other,
        };
        let is_sure = |around: &names::Controller| {
            use names::Controller::{Module, OnceOnly, Simple, Transaction};
            matches!(around, Simple | Module | OnceOnly | Transaction)
        };
        self.group.has_asked |= self.group.controllers.iter().all(is_sure);
        match result {
            Ok((step, timeouts)) => {
                self.ledger.support();
                if is_automatic {
                    self.ledger.note(KEEPS_ALL_COOKIES.into());
                }
                self.group.cookies.push(cookies);
                let place = self.place_with_class();
                let of_parts = step.multipart.iter().flat_map(Multipart::files);
                let sent = step.body_file.as_deref().into_iter().chain(of_parts);
                self.files.extend(sent.map(|file| DataFile::new(file.to_owned(), &place)));
                self.timeouts.push(timeouts);
                vec![Step::Request(Box::new(step))]
            }
            Err(reasons) => {
                self.refuse(reasons);
                Vec::new()
            }
        }
    }

    /// Whether the element at hand lies in a Transaction Controller that stands for its requests.
    fn is_in_parent_sample(&self) -> bool {
        self.trail.iter().any(|around| {
            let is_transaction =
                names::kind(&around.class, &around.gui) == Kind::Controller(names::Controller::Transaction);
            let fields = Fields::new(&around.properties, self.values);
            is_transaction && fields.is_true("TransactionController.parent", false) != Ok(false)
        })
    }

    /// What changes nothing of what is sent.
    fn without_effect(&mut self, element: &Element) {
        self.ledger.ignore();
        if names::is_own(&element.class, names::BACKEND_LISTENER) {
            self.ledger
                .note("Backend Listener: results go to no other system; -l writes them to a file".into());
        }
    }

    /// What stands below a request and does not apply to it.
    fn below_request(&mut self, element: &'a Element) {
        for child in element.enabled_children() {
            self.trail.push(child);
            match names::kind(&child.class, &child.gui) {
                Kind::Scoped(_) => {}
                Kind::NoEffect => self.without_effect(child),
                Kind::NotRun => self.ledger.ignore(),
                Kind::Refused(why) => self.refuse([why.to_owned()]),
                _ => self.refuse(["it does not belong below a request".to_owned()]),
            }
            self.trail.pop();
        }
    }

    /// A flow control action: JMeter has it in the place of a request, so pauses come before it, too.
    fn flow_action(&mut self, element: &'a Element) -> Vec<Step> {
        let fields = Fields::new(&element.properties, self.values);
        match self.action(fields) {
            Ok(own) => {
                self.ledger.support();
                self.without_request(element, Some(own))
            }
            Err(reason) => {
                self.refuse([reason]);
                self.without_request(element, None)
            }
        }
    }

    fn action(&self, fields: Fields<'_>) -> Result<Step, String> {
        let what_then = match flow::action(fields)? {
            Action::Pause(ms) => return Ok(Step::Pause(Pause::Constant { ms })),
            Action::Leave(what_then) => what_then,
        };
        if self.group.controllers.contains(&names::Controller::Transaction) {
            return Err(
                "it leaves a Transaction Controller, of which JMeter makes a sample by what it has".into()
            );
        }
        if self.stages > 1 && matches!(what_then, OnError::StopLoad | OnError::StopNow) {
            return Err("it ends the test, in which thread groups run one after another (setUp, tearDown, Run Thread \
                        Groups consecutively)"
                .into());
        }
        Ok(Step::Leave(what_then))
    }

    /// What is done before an element that stands in the place of a request, and what that does itself.
    fn without_request(&mut self, element: &'a Element, own: Option<Step>) -> Vec<Step> {
        let level = self.level(element);
        self.levels.push(level);
        let (sets, pauses) = (Scope(&self.levels).sets(), Scope(&self.levels).pauses());
        self.below_request(element);
        self.levels.pop();
        let is_nothing = |pause: &Pause| matches!(pause, Pause::Constant { ms } if ["", "0"].contains(&ms.constant().unwrap_or("?").trim()));
        let before = sets.into_iter().map(Step::SetByUser).chain(pauses.into_iter().map(Step::Pause));
        let steps = before.chain(own);
        let steps = steps.filter(|step| !matches!(step, Step::Pause(pause) if is_nothing(pause)));
        let steps: Vec<Step> = steps.collect();
        // What is set stays with what it is set for, whatever is around them.
        let is_set_first = steps.first().is_some_and(sets::is_set);
        if is_set_first && steps.len() > 1 { vec![Step::Sequence(steps)] } else { steps }
    }
}

/// What is otherwise where JMeter does not see redirects (`saveConnectionCookies` of `HTTPHC4Impl` has the last answer alone).
const KEEPS_ALL_COOKIES: &str = "Redirect Automatically: redirects are followed as by Follow Redirects, and all of the answers set \
     cookies; in JMeter the last one alone does";

/// Why nothing is done after a failure.
const ACTION_IN_PARENT: &str = "a Result Status Action Handler applies to it, which JMeter does not tell of requests for which a \
     Transaction Controller stands (Generate parent sample)";

/// Why the first request of a user has no id of a session.
const NO_ANSWER_BEFORE: &str = "an HTTP URL Re-writing Modifier applies to it, and no answer is sure to come before it, without \
     which JMeter adds nothing; put a request before it to which that does not apply";
