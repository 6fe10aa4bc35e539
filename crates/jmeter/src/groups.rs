//! Thread groups to groups of users.

use std::num::{NonZeroU32, NonZeroU64};

use scenario::{CookiePolicy, Group, OnError, OwnCookie, Stay, Step, Users};
use units::Duration;

use crate::controllers::begun;
use crate::element::{Element, Properties};
use crate::level::{Cookies, Kept};
use crate::meeting::Threads;
use crate::names::{self, Kind};
use crate::rewriting::{self, Rewriting};
use crate::stages::{Order, Phase};
use crate::values::Fields;
use crate::variables::{PLAN_VARIABLES, check_variables};
use crate::walk::{GroupState, Walk};
use crate::{concurrency, flow, modules, own, schedule, stepping, ultimate};

/// How many threads a thread group has.
const THREADS: &str = "ThreadGroup.num_threads";
/// What goes through its iterations.
const MAIN_CONTROLLER: &str = "ThreadGroup.main_controller";
/// How many these are.
const LOOPS: &str = "LoopController.loops";
/// Whether they are made again behind the last.
const CONTINUE_FOREVER: &str = "LoopController.continue_forever";

/// What a group says of itself.
struct Settings {
    users: Users,
    on_error: OnError,
    /// Whether each iteration is another user.
    new_user: bool,
}

impl<'a> Walk<'a> {
    /// What stands at the test plan: groups, and what applies to all of them.
    pub(crate) fn test_plan(&mut self, plan: &'a Element) -> Vec<(Phase, Group)> {
        self.trail.push(plan);
        let phases: Vec<Phase> = plan.enabled_children().filter_map(phase).collect();
        self.groups = phases.len();
        match self.plan_settings(plan) {
            Ok(()) => self.ledger.support(),
            Err(reasons) => self.refuse(reasons),
        }
        self.stages = self.order.stages(&phases);
        let level = self.level(plan);
        self.levels.push(level);
        let mut groups = Vec::new();
        for child in plan.enabled_children() {
            self.trail.push(child);
            if let Some(phase) = phase(child) {
                groups.extend(self.group(child).map(|group| (phase, group)));
            } else {
                self.step(child);
            }
            self.trail.pop();
        }
        self.levels.pop();
        self.trail.pop();
        groups
    }

    fn plan_settings(&mut self, plan: &Element) -> Result<(), Vec<String>> {
        let fields = Fields::new(&plan.properties, self.values);
        let mut reasons = Vec::new();
        let mut is_true =
            |name: &str| fields.is_true(name, false).map_err(|reason| reasons.push(reason)).unwrap_or(false);
        let consecutively = is_true("TestPlan.serialize_threadgroups");
        let tears_down = is_true("TestPlan.tearDown_on_shutdown");
        self.order = Order { consecutively, tears_down };
        let variables = plan.properties.object(PLAN_VARIABLES);
        reasons.extend(variables.and_then(|table| check_variables(table, self.values).err()));
        reasons.extend(own::refused(self.values));
        for note in own::notes(self.values) {
            self.ledger.note(note);
        }
        if reasons.is_empty() { Ok(()) } else { Err(reasons) }
    }

    fn group(&mut self, element: &'a Element) -> Option<Group> {
        self.group = GroupState::default();
        let fields = Fields::new(&element.properties, self.values);
        let settings = match names::kind(&element.class, &element.gui) {
            Kind::OpenModel => open_model(fields),
            Kind::Ultimate => planned_model(ultimate::stays(fields), loops(fields), fields),
            Kind::Stepping => planned_model(stepping::stays(fields), loops(fields), fields),
            Kind::Concurrency => planned_model(concurrency::stays(fields), Ok(Loops::Forever), fields),
            _ => closed_model(fields),
        };
        let by_error = matches!(&settings, Ok(Some(it)) if it.on_error == OnError::NextIteration);
        let below = modules::all_below(self.elements, element);
        let beside = self.trail.first().into_iter().flat_map(|plan| plan.enabled_children());
        self.group.may_begin_anew = by_error || below.into_iter().chain(beside).any(flow::may_begin_anew);
        let steps = self.branch(element);
        let settings = match settings {
            Ok(settings) => settings,
            Err(reasons) => {
                self.refuse(reasons);
                return None;
            }
        };
        self.ledger.support();
        let title = element.title();
        if settings.is_none() {
            self.ledger
                .note(format!("{title}: it makes no iteration (no threads, or no loops), and is left out"));
        } else if steps.is_empty() {
            self.ledger.note(format!("{title}: it makes no request, and is left out"));
        }
        let settings = settings.filter(|_| !steps.is_empty())?;
        if goes_on_unsaid(&element.properties) {
            self.ledger.note(format!(
                "{title}: {CONTINUE_FOREVER} is not there, by which JMeter goes on without end, whatever {LOOPS} says; \
                 write false where it is to end"
            ));
        }
        if settings.new_user {
            self.ledger.note(format!(
                "{title}: each iteration is another user, who takes the connection over from the one before; \
                 JMeter opens a new one"
            ));
        }
        let (cookies, own_cookies) = self.cookies(settings.new_user);
        let Settings { users, on_error, .. } = settings;
        let (rows, mut steps) = self.begin_of_group(steps);
        let ids = self.plan_rewritings.iter().chain(&self.group.rewritings);
        rewriting::look_for(&ids.map(Rewriting::extraction).collect::<Vec<_>>(), &mut steps);
        let (name, rows) = (element.name.clone(), Some(rows));
        Some(Group { name, users, on_error, cookies, own_cookies, rows, steps })
    }

    /// The threads that come to a Synchronizing Timer at hand.
    pub(crate) fn threads_around(&self) -> Result<Threads, String> {
        if self.group.controllers.contains(&names::Controller::Module) {
            return Err(
                "it stands in what a Module Controller runs, where there may be several of it; move it to the thread \
                 group"
                    .into(),
            );
        }
        let group = match self.trail.as_slice() {
            [_, group, _, ..] => Some(*group),
            [plan, ..] if self.groups == 1 => plan.enabled_children().find(|it| phase(it).is_some()),
            _ => return Ok(Threads::OfSeveral),
        };
        let closed = group.filter(|it| matches!(names::kind(&it.class, &it.gui), Kind::ThreadGroup(_)));
        let Some(closed) = closed else { return Ok(Threads::Changing) };
        let count = Fields::new(&closed.properties, self.values).whole_at_start(THREADS, 0)?;
        Ok(Threads::Fixed(u32::try_from(count).unwrap_or(0)))
    }

    /// The steps behind what users do as they begin an iteration: what the plan says and then what the group says, the last of it
    /// first, as JMeter has it, so that of several that set one variable the first one does. The data sets of which they take a
    /// row before all else are by themselves.
    fn begin_of_group(&mut self, steps: Vec<Step>) -> (Vec<usize>, Vec<Step>) {
        let of_group = std::mem::take(&mut self.group.begin);
        let mut steps = begun(self.plan_begin.clone(), begun(of_group, steps)).into_iter().peekable();
        let mut rows = Vec::new();
        while let Some(Step::Row(set)) = steps.next_if(|step| matches!(step, Step::Row(_))) {
            rows.push(set);
        }
        (rows, steps.collect())
    }

    /// What becomes of a group's cookies, and which its users have from the start: one and the same for all of its requests.
    fn cookies(&mut self, new_user: bool) -> (CookiePolicy, Vec<OwnCookie>) {
        let policy = |cookies: &Cookies| match cookies.kept {
            Kept::Never => CookiePolicy::Ignore,
            Kept::ForIteration => CookiePolicy::KeepForIteration,
            Kept::AsGroupSays if new_user => CookiePolicy::KeepForIteration,
            Kept::ForUser | Kept::AsGroupSays => CookiePolicy::Keep,
        };
        let all = std::mem::take(&mut self.group.cookies);
        let meant = |one: Option<&Cookies>| {
            one.map_or((CookiePolicy::Ignore, Vec::new()), |it| (policy(it), it.own.clone()))
        };
        let first = meant(all.first().and_then(Option::as_ref));
        if all.iter().any(|one| meant(one.as_ref()) != first)
            && let Some(manager) = all.iter().flatten().next()
        {
            let why = "it applies to some requests of its thread group only; move it to the thread group";
            self.ledger.refuse_after_all(&manager.place, why.into());
        }
        first
    }
}

/// When a thread group runs; `None` for what is none.
fn phase(element: &Element) -> Option<Phase> {
    match names::kind(&element.class, &element.gui) {
        Kind::ThreadGroup(phase) => Some(phase),
        Kind::OpenModel | Kind::Ultimate | Kind::Stepping | Kind::Concurrency => Some(Phase::Main),
        _ => None,
    }
}

/// The settings of a group in the open model.
fn open_model(fields: Fields<'_>) -> Result<Option<Settings>, Vec<String>> {
    const SCHEDULE: &str = "OpenModelThreadGroup.schedule";
    let schedule = fields
        .at_start(SCHEDULE)
        .and_then(|text| schedule::parse(&text).map_err(|error| format!("{SCHEDULE}: {error}")));
    match (schedule, on_error(fields)) {
        (Ok(schedule), Ok(on_error)) => {
            let users = Users::Open { spans: schedule.spans, poisson: schedule.poisson, seats_max: None };
            Ok(Some(Settings { users, on_error, new_user: false }))
        }
        (schedule, on_error) => Err(schedule.err().into_iter().chain(on_error.err()).collect()),
    }
}

/// The settings of a plug-in's group whose users come and go at these times. Since the plug-in says nothing of it, each of their
/// iterations is another user in JMeter.
fn planned_model(
    stays: Result<Vec<Stay>, String>,
    loops: Result<Loops, String>,
    fields: Fields<'_>,
) -> Result<Option<Settings>, Vec<String>> {
    match (stays, loops, on_error(fields)) {
        (Ok(stays), Ok(loops), Ok(on_error)) => {
            let iterations = loops.iterations().filter(|_| !stays.is_empty());
            Ok(iterations.map(|iterations| Settings {
                users: Users::Planned { stays, iterations },
                on_error,
                new_user: true,
            }))
        }
        (stays, loops, on_error) => {
            Err(stays.err().into_iter().chain(loops.err()).chain(on_error.err()).collect())
        }
    }
}

/// The settings of a thread group; none where it makes no iteration. An error is all that is wrong.
fn closed_model(fields: Fields<'_>) -> Result<Option<Settings>, Vec<String>> {
    let mut reasons = Vec::new();
    let mut keep = |reason: String| reasons.push(reason);
    let count = fields.whole_at_start(THREADS, 0).and_then(|count| {
        u32::try_from(count).map_err(|_| format!("{THREADS} is {count}, which is no number of users"))
    });
    let count = count.map_err(&mut keep).ok();
    let ramp_up = fields.seconds_at_start("ThreadGroup.ramp_time").map_err(&mut keep).ok();
    let loops = loops(fields).map_err(&mut keep).ok();
    let scheduled = fields.is_true("ThreadGroup.scheduler", false).map_err(&mut keep).unwrap_or(false);
    // Without the scheduler JMeter keeps its times and does not look at them.
    let second = |name: &str| if scheduled { fields.seconds_at_start(name) } else { Ok(Duration::ZERO) };
    let duration = second("ThreadGroup.duration").map_err(&mut keep).ok();
    let delay = second("ThreadGroup.delay").map_err(&mut keep).ok();
    let on_error = on_error(fields).map_err(&mut keep).ok();
    let same_user = fields.is_true("ThreadGroup.same_user_on_next_iteration", true).map_err(&mut keep).ok();
    let (
        Some(count),
        Some(ramp_up),
        Some(loops),
        Some(duration),
        Some(delay),
        Some(on_error),
        Some(same_user),
    ) = (count, ramp_up, loops, duration, delay, on_error, same_user)
    else {
        return Err(reasons);
    };
    if scheduled && duration.is_zero() {
        let what =
            "ThreadGroup.duration is empty or 0 with the scheduler on, which JMeter refuses; give it one";
        reasons.push(what.into());
    }
    if !reasons.is_empty() {
        return Err(reasons);
    }
    let (Some(count), Some(iterations)) = (NonZeroU32::new(count), loops.iterations()) else {
        return Ok(None);
    };
    let duration = (!duration.is_zero()).then_some(duration);
    let users = Users::Closed { count, ramp_up, delay, iterations, duration };
    Ok(Some(Settings { users, on_error, new_user: !same_user }))
}

/// How often a group goes through its steps.
enum Loops {
    Forever,
    Count(u64),
}

impl Loops {
    /// The scenario's word for it; `None` where there is no iteration at all.
    #[expect(clippy::option_option, reason = "the inner one is the scenario's own")]
    fn iterations(&self) -> Option<Option<NonZeroU64>> {
        match self {
            Self::Forever => Some(None),
            Self::Count(count) => NonZeroU64::new(*count).map(Some),
        }
    }
}

fn loops(fields: Fields<'_>) -> Result<Loops, String> {
    let Some(controller) = fields.properties.object(MAIN_CONTROLLER) else { return Ok(Loops::Count(1)) };
    let fields = Fields::new(controller, fields.values);
    // JMeter counts what is no number as 0.
    let count = fields.whole_at_start(LOOPS, 0)?;
    if count == -1 {
        return Ok(Loops::Forever);
    }
    // It begins its iterations anew behind the last of them, unless the plan says that it does not. An empty value is no.
    if fields.is_true(CONTINUE_FOREVER, !controller.has(CONTINUE_FOREVER))? {
        if count == 0 {
            return Err(format!(
                "{LOOPS} is 0 and {CONTINUE_FOREVER} is not false, by which JMeter makes no request and never ends"
            ));
        }
        return Ok(Loops::Forever);
    }
    match u64::try_from(count) {
        Ok(count) => Ok(Loops::Count(count)),
        Err(_) => Err(format!("{LOOPS} is {count}, which is no number of iterations")),
    }
}

/// Whether a group with a number of iterations makes them again and again only since its plan does not say that it ends.
fn goes_on_unsaid(group: &Properties) -> bool {
    let is_unsaid =
        |it: &Properties| !it.has(CONTINUE_FOREVER) && it.has(LOOPS) && it.text(LOOPS).trim() != "-1";
    group.object(MAIN_CONTROLLER).is_some_and(is_unsaid)
}

fn on_error(fields: Fields<'_>) -> Result<OnError, String> {
    const ACTION: &str = "ThreadGroup.on_sample_error";
    match fields.at_start(ACTION)?.trim() {
        "" | "continue" => Ok(OnError::Continue),
        "startnextloop" => Ok(OnError::NextIteration),
        "stopthread" => Ok(OnError::StopUser),
        "stoptest" => Ok(OnError::StopLoad),
        "stoptestnow" => Ok(OnError::StopNow),
        other => Err(format!("{ACTION} is '{other}', which is none of JMeter's actions")),
    }
}
