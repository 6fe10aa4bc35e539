//! Goes through a plan once, from the test plan down, and builds the scenario's steps on the way.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use scenario::{DataSet, DataSharing, Multipart, OnError, OwnCookie, Pause, Step, Template};

use crate::element::{self, Element};
use crate::flow::{self, Action};
use crate::ledger::{Ledger, Place};
use crate::level::{Cookies, Kept, Level, Login, Scope};
use crate::names::{self, Kind, Scoped};
use crate::request::{self, Timeouts};
use crate::rewriting::Rewriting;
use crate::stages::Order;
use crate::values::{Fields, Values};
use crate::variables::check_variables;
use crate::{assertions, checked, data, extractors, meeting, parameters, sets, timers};

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
    pub readers: Vec<Reader<'a>>,
    pub files: Vec<DataFile>,
    /// Module controllers that were followed.
    pub modules: usize,
    /// Constant throughput timers so far.
    pub paces: u32,
    /// The longest waits of each request.
    pub timeouts: Vec<Timeouts>,
}

/// Where an element goes on in a file of rows.
pub(crate) struct Reader<'a> {
    /// Its data set, by number.
    set: usize,
    file: PathBuf,
    /// Who shares its rows.
    mode: String,
    /// The thread group that it stands in; else it is the test plan.
    group: Option<&'a Element>,
}

impl Reader<'_> {
    /// Whether both take rows from one and the same place in a file: JMeter opens a file once for all, once for each group,
    /// or once for each thread.
    fn is_that_of(&self, other: &Self) -> bool {
        let in_one = self.is_in_group_of(other);
        self.file == other.file && self.mode == other.mode && (in_one || self.mode == data::OF_ALL)
    }

    /// Whether the users of one group come by both.
    fn is_in_group_of(&self, other: &Self) -> bool {
        match (self.group, other.group) {
            (Some(one), Some(other)) => std::ptr::eq(one, other),
            _ => true,
        }
    }
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

    /// What applies to all requests below `parent`.
    pub(crate) fn level(&mut self, parent: &'a Element) -> Level<'a> {
        let mut level = Level::default();
        for child in parent.enabled_children() {
            if let Kind::Scoped(scoped) = names::kind(&child.class, &child.gui) {
                self.trail.push(child);
                match self.scoped(scoped, child, &mut level) {
                    Ok(()) => self.ledger.support(),
                    Err(reason) => self.refuse([reason]),
                }
                if child.enabled_children().next().is_some() {
                    self.branch(child);
                }
                self.trail.pop();
            }
        }
        level
    }

    fn scoped(&mut self, scoped: Scoped, element: &'a Element, level: &mut Level<'a>) -> Result<(), String> {
        let fields = Fields::new(&element.properties, self.values);
        match scoped {
            Scoped::Defaults => level.defaults.push(&element.properties),
            Scoped::Headers => level.headers.push(headers(fields)?),
            Scoped::Auth => {
                let (logins, note) = logins(fields)?;
                level.logins.push(logins);
                if let Some(note) = note {
                    self.ledger.note(note);
                }
            }
            Scoped::Cookies => {
                let (kept, own) = cookies(fields)?;
                level.cookies.push(Cookies { place: self.place_with_class(), kept, own });
            }
            Scoped::Cache => self.ledger.note(
                "HTTP Cache Manager: every request is sent whole, as with an empty cache; JMeter would send \
                 conditional requests, or none, for what may be kept"
                    .into(),
            ),
            // They were defined before anything else, as JMeter does.
            Scoped::Variables => check_variables(&element.properties, self.values)?,
            Scoped::Parameters => {
                let values = Arc::new(parameters::values(fields)?);
                if parameters::is_per_iteration(fields)? {
                    self.at_begin(Step::SetByUser(values));
                } else {
                    level.sets.push(values);
                }
            }
            Scoped::Data => self.data_set(fields)?,
            Scoped::Rewriting => {
                let rewriting = Rewriting::new(fields, element.line)?;
                checked::extraction(rewriting.extraction())?;
                self.rewriting(rewriting.clone());
                level.rewritings.push(rewriting);
            }
            Scoped::Timer(timer) => {
                if timer == names::Timer::Shaping {
                    self.check_shaping()?;
                }
                self.paces += u32::from(timer == names::Timer::Throughput);
                let pause = timers::pause(timer, self.paces, fields, self.groups)?;
                level.pauses.push(checked::pause(pause)?);
            }
            Scoped::Meeting => {
                let meeting = meeting::meeting(fields, self.threads_around()?)?;
                if meeting.timeout.is_none() {
                    self.ledger.note(WAITS_FOR_NOBODY.into());
                }
                level.pauses.push(meeting::pause(meeting));
            }
            Scoped::Assertion(kind) => {
                let assertion = assertions::assertion(kind, &element.name, fields)?;
                level.assertions.extend(assertion.map(checked::assertion).transpose()?);
            }
            Scoped::OnError => level.on_error = flow::on_error(fields)?.max(level.on_error),
            Scoped::Variable(variable) => self.set(variable, fields)?,
            Scoped::Extractor(kind) => {
                for extraction in extractors::extractions(kind, fields)? {
                    level.extractions.push(checked::extraction(extraction)?);
                }
            }
        }
        Ok(())
    }

    fn data_set(&mut self, fields: Fields<'_>) -> Result<(), String> {
        let in_group = self.trail.len() > 2;
        let owner = if in_group && self.groups > 1 { data::Owner::OneGroup } else { data::Owner::All };
        let set = data::data_set(self.plan, fields, owner)?;
        let group = self.trail.get(1).copied().filter(|_| in_group);
        let file = set.file.clone();
        let mut reader = Reader { set: self.data.len(), file, mode: data::mode(fields)?, group };
        let before = self.readers.iter().find(|other| other.is_that_of(&reader));
        if let Some((number, in_one)) = before.map(|other| (other.set, other.is_in_group_of(&reader))) {
            let sharing = if in_one { self.data[number].sharing } else { DataSharing::All };
            let read_alike = DataSet { sharing, ..set };
            if (DataSet { sharing, ..self.data[number].clone() }) != read_alike {
                return Err(
                    "another such element reads the same file with other settings, and in JMeter each takes the next \
                     row from where the other left it; give both the same ones, or each a copy of its own"
                        .into(),
                );
            }
            self.check_stages(sharing)?;
            self.data[number] = read_alike;
            reader.set = number;
        } else {
            self.check_stages(set.sharing)?;
            self.data.push(set);
        }
        self.files.push(DataFile::new(reader.file.clone(), &self.place_with_class()));
        self.at_begin(Step::Row(reader.set));
        self.readers.push(reader);
        Ok(())
    }

    /// Has users look for an id, which they begin without.
    fn rewriting(&mut self, rewriting: Rewriting) {
        let known = [&self.plan_rewritings, &self.group.rewritings];
        if known.into_iter().any(|known| known.contains(&rewriting)) {
            return;
        }
        self.variables.push((rewriting.variable.clone(), Template::default()));
        let in_group = self.trail.len() > 2;
        let all = if in_group { &mut self.group.rewritings } else { &mut self.plan_rewritings };
        all.push(rewriting);
    }

    /// Makes sure that no rows go on from one stage to the next, where users begin anew.
    fn check_stages(&self, sharing: DataSharing) -> Result<(), String> {
        if sharing != DataSharing::All || self.stages <= 1 {
            return Ok(());
        }
        Err("its rows go on from one thread group to those after it (setUp, tearDown, Run Thread Groups \
             consecutively); share them within each group, or move it to one"
            .into())
    }

    /// Makes sure that a schedule of requests is that of one group.
    fn check_shaping(&self) -> Result<(), String> {
        if self.trail.len() == 2 && self.groups > 1 {
            return Err("it stands at the test plan, and stops the thread groups one after another, as their requests come \
                        to it; move it into one of them"
                .into());
        }
        if self.group.controllers.contains(&names::Controller::Module) {
            return Err(
                "it stands in what a Module Controller runs, and may have several schedules; move it to the \
                        thread group"
                    .into(),
            );
        }
        Ok(())
    }

    /// A variable that gets a new value with each iteration, or each time that a controller begins.
    fn set(&mut self, variable: names::Variable, fields: Fields<'_>) -> Result<(), String> {
        let is_module = self.group.controllers.contains(&names::Controller::Module);
        if is_module && variable == names::Variable::Counter {
            return Err(
                "it stands in what a Module Controller runs, and may count in several places; move it to the thread \
                 group"
                    .into(),
            );
        }
        let at_plan = self.trail.len() == 2;
        let step = sets::step(variable, fields, at_plan && self.groups > 1)?;
        self.at_begin(step);
        Ok(())
    }

    /// What the element at hand does each time that the controller around it begins, or an iteration where there is none.
    fn at_begin(&mut self, step: Step) {
        let line = self.trail.last().map_or(0, |element| element.line);
        let begin = match self.group.begins.last_mut() {
            Some(begin) => begin,
            None if self.trail.len() > 2 => &mut self.group.begin,
            None => &mut self.plan_begin,
        };
        begin.push((line, step));
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

/// Why nothing is done after a failure.
const ACTION_IN_PARENT: &str = "a Result Status Action Handler applies to it, which JMeter does not tell of requests for which a \
     Transaction Controller stands (Generate parent sample)";

/// What becomes of users for whom nobody comes.
const WAITS_FOR_NOBODY: &str = "Synchronizing Timer without a timeout: who waits where nobody comes any more ends there; in JMeter \
     it waits for ever, or makes its request at the end of the schedule";

/// Why the first request of a user has no id of a session.
const NO_ANSWER_BEFORE: &str = "an HTTP URL Re-writing Modifier applies to it, and no answer is sure to come before it, without \
     which JMeter adds nothing; put a request before it to which that does not apply";

/// How long a cookie manager keeps cookies, and those of its own.
fn cookies(fields: Fields<'_>) -> Result<(Kept, Vec<OwnCookie>), String> {
    const POLICY: &str = "CookieManager.policy";
    let policy = fields.properties.text(POLICY).trim();
    if policy.eq_ignore_ascii_case("ignorecookies") {
        return Ok((Kept::Never, Vec::new()));
    }
    let rows = fields.properties.rows("CookieManager.cookies");
    let own: Vec<OwnCookie> =
        rows.map(|row| own_cookie(Fields::new(row, fields.values))).collect::<Result<_, _>>()?;
    let is_standard = ["", "standard", "standard-strict"].iter().any(|it| policy.eq_ignore_ascii_case(it));
    if !own.is_empty() && !is_standard {
        return Err(format!(
            "{POLICY} is '{policy}', by which cookies of its own are written otherwise; choose standard"
        ));
    }
    if fields.is_true("CookieManager.controlledByThreadGroup", false)? {
        return Ok((Kept::AsGroupSays, own));
    }
    let clears = fields.is_true("CookieManager.clearEachIteration", false)?;
    Ok((if clears { Kept::ForIteration } else { Kept::ForUser }, own))
}

/// JMeter looks at none of the times at which such a cookie expires.
fn own_cookie(row: Fields<'_>) -> Result<OwnCookie, String> {
    Ok(OwnCookie {
        name: row.template(element::NAME)?,
        value: row.template("Cookie.value")?,
        domain: row.template("Cookie.domain")?,
        with_subdomains: row.is_true("Cookie.domain_specified", false)?,
        path: row.template("Cookie.path")?,
        secure: row.is_true("Cookie.secure", false)?,
    })
}

fn headers(fields: Fields<'_>) -> Result<Vec<(Template, Template)>, String> {
    let mut headers = Vec::new();
    for row in fields.properties.rows("HeaderManager.headers") {
        let row = Fields::new(row, fields.values);
        let name = row.template("Header.name")?;
        if name.constant().is_some_and(|name| name.trim().is_empty()) {
            continue;
        }
        headers.push((name, row.template("Header.value")?));
    }
    Ok(headers)
}

/// The names and passwords of an authorization manager, and what should be known of them.
fn logins(fields: Fields<'_>) -> Result<(Vec<Login>, Option<String>), String> {
    let mut logins = Vec::new();
    let mut note = None;
    for row in fields.properties.rows("AuthManager.auth_list") {
        match row.text("Authorization.mechanism").trim() {
            "BASIC" => {}
            "BASIC_DIGEST" | "" => {
                note = Some(
                    "HTTP Authorization Manager: name and password are sent with every request (Basic), and no \
                     Digest is answered"
                        .to_owned(),
                );
            }
            other => return Err(format!("Authorization.mechanism is {other}; only BASIC is supported")),
        }
        let row = Fields::new(row, fields.values);
        let (user, password) =
            (row.template("Authorization.username")?, row.template("Authorization.password")?);
        let credentials = crate::values::joined([user, Template::text(":"), password]);
        logins.push(Login { url: row.fixed("Authorization.url")?.trim().to_owned(), credentials });
    }
    Ok((logins, note))
}
