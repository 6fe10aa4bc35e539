//! Where a user stands in the tree of its steps, and how it goes on from there.

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use units::Instant;

use super::request::Pending;
use super::transaction::{Left, Open};
use super::user::{Scope, User, counted, identity};
use super::{Ended, Next, Transaction};
use crate::model::{
    Children, CookiePolicy, Group, List, OnError, OnceOf, Pause, Pick, Portion, RequestStep, Step, Times,
    Users,
};
use crate::prepared::Prepared;
use crate::world::World;

/// Steps taken in one go at most; a user who takes more has steps without end.
const STEPS_MAX: u32 = 100_000;
/// Turns of a loop that has no end.
const FOREVER: u64 = u64::MAX;

/// Where one user stands, and what it carries along.
#[derive(Debug)]
pub(super) struct State {
    pub(super) user: User,
    /// From the whole iteration down to the step at hand; empty between two iterations.
    pub(super) frames: Vec<Frame>,
    pub(super) phase: Phase,
    /// Iterations begun.
    iteration: u64,
    pub(super) open: Vec<Open>,
    pub(super) finished: Vec<Transaction>,
    /// Requests in a row that could not be sent.
    pub(super) unsent: u32,
    /// When a schedule is over that it was to wait for, and that has no request left for it.
    pub(super) over: Option<Instant>,
    /// Where it waits for others, by its identity.
    pub(super) waits_at: Option<usize>,
}

/// What a user is doing.
#[derive(Debug)]
pub(super) enum Phase {
    /// Nothing yet.
    New,
    /// Going from step to step.
    Walking,
    /// It waits for others before a request, or has; of the request's pauses those from this place on are still to come.
    Met(usize),
    /// The pauses before a request are over.
    Due,
    /// The schedule of its requests is over, without one for it.
    Over,
    /// A request is out.
    Waiting(Box<Pending>),
    /// A redirect is to be followed.
    Redirecting(Box<Pending>),
    /// A request could not be sent, and what comes of that is still to be done.
    Unsent,
    /// No more.
    Ended(Ended),
}

/// A step that holds others, and how far it is.
#[derive(Debug)]
pub(super) struct Frame {
    /// Which child of the frame above it is.
    pub(super) at: u32,
    /// The next child; an index into `order`, if there is one.
    pub(super) next: u32,
    /// Where it ends before its last child; the number of children, or more, if it does not.
    pub(super) end: u32,
    /// Turns that are over.
    pub(super) turns: u64,
    /// Turns that remain, this one included; 1 unless it is a loop.
    pub(super) left: u64,
    /// From here on it has no turn and no step any more.
    pub(super) until: Instant,
    pub(super) order: Option<Box<[u32]>>,
}

impl Frame {
    fn new(at: u32) -> Self {
        Self { at, next: 0, end: u32::MAX, turns: 0, left: 1, until: Instant::FAR_FUTURE, order: None }
    }

    /// The child to go to next; `None` where all have been gone through.
    pub(super) fn child(&self) -> Option<u32> {
        match &self.order {
            _ if self.next >= self.end => None,
            Some(order) => order.get(self.next as usize).copied(),
            None => Some(self.next),
        }
    }

    /// The child that was gone to last.
    fn last_child(&self) -> Option<u32> {
        let last = self.next.checked_sub(1)?;
        self.order.as_ref().map_or(Some(last), |order| order.get(last as usize).copied())
    }
}

/// Whether the one of these steps that was chosen is a request.
pub(super) fn is_request(steps: &[(std::num::NonZeroU32, Step)], chosen: Option<u32>) -> bool {
    let chosen = chosen.and_then(|index| steps.get(index as usize));
    matches!(chosen, Some((_, Step::Request(_))))
}

impl State {
    pub(super) fn new(group: usize, number: u32) -> Self {
        let user = User {
            group,
            number,
            variables: super::variables::Variables::default(),
            cookies: super::cookies::Jar::default(),
            random: Xoshiro256PlusPlus::seed_from_u64(0),
            last_ok: true,
            counts: Vec::new(),
            turns: Vec::new(),
            done: Vec::new(),
            paced: Vec::new(),
            taken: Vec::new(),
            overlong: false,
        };
        Self {
            user,
            frames: Vec::new(),
            phase: Phase::New,
            iteration: 0,
            open: Vec::new(),
            finished: Vec::new(),
            unsent: 0,
            over: None,
            waits_at: None,
        }
    }

    pub(super) fn next(&mut self, prepared: &Prepared, world: &mut World) -> Next {
        if let Some(place) = self.waits_at.take() {
            world.goes_on(place, (self.user.group, self.user.number));
        }
        match std::mem::replace(&mut self.phase, Phase::Walking) {
            Phase::Ended(ended) => return self.end(ended),
            Phase::Redirecting(pending) => return self.redirect(pending, prepared, world),
            Phase::Over => return self.end(Ended::StopGroup),
            Phase::New => self.start(prepared, world),
            Phase::Met(from) => {
                if let Some(step) = self.current_request(prepared) {
                    return self.pause_before(step, from, prepared, world);
                }
            }
            Phase::Due => {
                if let Some(step) = self.current_request(prepared) {
                    return self.send(step, prepared, world);
                }
            }
            Phase::Waiting(_) => self.user.last_ok = false,
            Phase::Unsent => {
                self.failed(prepared, world.now);
                if let Phase::Ended(ended) = self.phase {
                    return self.end(ended);
                }
            }
            Phase::Walking => {}
        }
        self.walk(prepared, world)
    }

    /// The user has ended, and says so from now on.
    pub(super) fn end(&mut self, ended: Ended) -> Next {
        self.phase = Phase::Ended(ended);
        Next::Done(ended)
    }

    /// Does what the group and the request want done after a failure.
    pub(super) fn failed(&mut self, prepared: &Prepared, now: Instant) {
        let of_group = prepared.group(self.user.group).map_or(OnError::StopUser, |group| group.on_error);
        let of_request = self.current_request(prepared).map_or(OnError::Continue, |step| step.on_error);
        self.leave(of_group.max(of_request), now);
    }

    /// Leaves the iteration, unless it goes on, and maybe for good.
    fn leave(&mut self, what_then: OnError, now: Instant) {
        let ended = match what_then {
            OnError::Continue => return,
            OnError::NextIteration => None,
            OnError::StopUser => Some(Ended::Finished),
            OnError::StopLoad => Some(Ended::StopLoad),
            OnError::StopNow => Some(Ended::StopNow),
        };
        let left = if ended.is_some() { Left::ForGood } else { Left::Early };
        while self.close_transaction(now, left) {}
        self.frames.clear();
        if let Some(ended) = ended {
            self.phase = Phase::Ended(ended);
        }
    }

    pub(super) fn scope<'a>(&'a mut self, prepared: &'a Prepared, world: &'a mut World) -> Scope<'a> {
        Scope { prepared, world, user: &mut self.user }
    }

    /// Gives the user the variables and the row of data that it begins with, and no more.
    pub(super) fn begin_for_servers(&mut self, prepared: &Prepared, world: &mut World) {
        self.start(prepared, world);
        if let Some(group) = prepared.group(self.user.group) {
            self.take_rows(group, prepared, world);
        }
    }

    fn start(&mut self, prepared: &Prepared, world: &mut World) {
        let seed = world.seed(self.user.group, self.user.number);
        self.user.random = Xoshiro256PlusPlus::seed_from_u64(seed.0);
        for (name, value) in &prepared.scenario().variables {
            let value = self.scope(prepared, world).text(value);
            self.user.variables.set(name, &*value);
        }
    }

    fn walk(&mut self, prepared: &Prepared, world: &mut World) -> Next {
        let Some(group) = prepared.group(self.user.group) else { return self.end(Ended::Finished) };
        for _ in 0..STEPS_MAX {
            if self.frames.is_empty() {
                if self.begin_iteration(group, prepared, world) {
                    continue;
                }
                return self.end(Ended::Finished);
            }
            let top = self.frames.len() - 1;
            if world.now >= self.frames[top].until {
                self.frames.pop();
                continue;
            }
            let children = self.children(group);
            let child = self.frames[top].child();
            let Some((index, step)) = child.and_then(|index| Some((index, children.get(index)?))) else {
                self.turn_over(group, prepared, world);
                continue;
            };
            self.frames[top].next += 1;
            if let Some(next) = self.enter(index, step, prepared, world) {
                return next;
            }
        }
        self.end(Ended::Endless)
    }

    /// Starts an iteration, if there is one more and data for it.
    fn begin_iteration(&mut self, group: &Group, prepared: &Prepared, world: &mut World) -> bool {
        let iterations_max = match &group.users {
            Users::Closed { iterations, .. } | Users::Planned { iterations, .. } => {
                iterations.map_or(u64::MAX, std::num::NonZeroU64::get)
            }
            Users::Open { .. } => 1,
        };
        if self.iteration >= iterations_max || group.steps.is_empty() || self.are_spent(&group.steps) {
            return false;
        }
        if group.cookies == CookiePolicy::KeepForIteration {
            self.user.cookies.clear();
        }
        if !self.take_rows(group, prepared, world) {
            return false;
        }
        self.frames.push(Frame { turns: self.iteration, ..Frame::new(0) });
        self.iteration += 1;
        true
    }

    /// The steps within the innermost frame.
    pub(super) fn children<'a>(&self, group: &'a Group) -> Children<'a> {
        self.frames.iter().skip(1).fold(Children::Steps(&group.steps), |children, frame| {
            children.get(frame.at).map_or(Children::Steps(&[]), Step::children)
        })
    }

    /// The step that the innermost frame stands for; `None` for the whole iteration.
    pub(super) fn holder<'a>(&self, group: &'a Group) -> Option<&'a Step> {
        let mut holder = None;
        let mut children = Children::Steps(&group.steps);
        for frame in self.frames.iter().skip(1) {
            holder = children.get(frame.at);
            children = holder.map_or(Children::Steps(&[]), Step::children);
        }
        holder
    }

    /// The request that was come to last.
    pub(super) fn current_request<'a>(&self, prepared: &'a Prepared) -> Option<&'a RequestStep> {
        let group = prepared.group(self.user.group)?;
        let index = self.frames.last()?.last_child()?;
        match self.children(group).get(index)? {
            Step::Request(request) => Some(request),
            _ => None,
        }
    }

    /// The innermost step has been gone through: again, or on behind it.
    fn turn_over(&mut self, group: &Group, prepared: &Prepared, world: &mut World) {
        let holder = self.holder(group);
        let again = match holder {
            Some(step @ (Step::Loop { .. } | Step::While { .. })) if self.is_spent(step) => false,
            Some(Step::Loop { .. }) => self.frames.last().is_some_and(|frame| frame.left > 1),
            // Its time is looked at before the first step of the turn.
            Some(Step::For { .. }) => true,
            Some(Step::While { condition, .. }) => self.scope(prepared, world).holds(condition),
            Some(Step::ForEach { list, .. }) => {
                let turns = self.frames.last().map_or(0, |frame| frame.turns);
                let again = self.take_item(list, turns.saturating_add(1));
                if !again {
                    self.take_item(list, 0);
                }
                again
            }
            Some(step @ Step::Once { of: OnceOf::User, .. }) => {
                self.user.done.push(identity(step));
                false
            }
            Some(step @ Step::Portion { of: Portion::First(times), by_user, .. }) => {
                if self.scope(prepared, world).counted_so_far(step, *by_user) >= *times {
                    self.spend(step);
                }
                false
            }
            Some(step @ Step::OneOf { pick: Pick::InTurnToTheEnd, steps }) => {
                let chosen = self.frames.last().and_then(Frame::last_child);
                if !is_request(steps, chosen) {
                    *counted(&mut self.user.turns, identity(step)) += 1;
                }
                false
            }
            Some(Step::Transaction { .. }) => {
                self.close_transaction(world.now, Left::AtItsEnd);
                false
            }
            _ => false,
        };
        if again && let Some(frame) = self.frames.last_mut() {
            frame.turns = frame.turns.saturating_add(1);
            frame.next = 0;
            if frame.left != FOREVER {
                frame.left -= 1;
            }
        } else {
            self.frames.pop();
        }
    }

    /// Does a step, or goes into it; what comes of it, if the user has to wait.
    fn enter(&mut self, at: u32, step: &Step, prepared: &Prepared, world: &mut World) -> Option<Next> {
        let frame = Frame::new(at);
        match step {
            // JMeter takes them out.
            Step::Loop { .. } | Step::While { .. } | Step::Transaction { .. } if self.is_spent(step) => {}
            Step::Request(request) => return Some(self.come_to(request, prepared, world)),
            Step::Pause(Pause::Meeting(meeting)) => return self.meet(meeting, world),
            Step::Pause(pause) => {
                let pause = self.pause(pause, prepared, world);
                if let Some(at) = self.over.take() {
                    return Some(self.wait_for_the_end(at, world.now));
                }
                if !pause.is_zero() {
                    self.unsent = 0;
                    return Some(Next::Pause(pause));
                }
            }
            Step::Set { name, value } => {
                let value = self.scope(prepared, world).text(value);
                self.user.variables.set(name, &*value);
            }
            Step::SetByUser(values) => self.scope(prepared, world).set_values(values),
            Step::Count(counter) => self.scope(prepared, world).count_on(counter),
            Step::Row(set) => return self.row_or_end(*set, prepared, world),
            Step::Loop { times, .. } => {
                let left = match times {
                    Times::Forever => FOREVER,
                    Times::Count(count) => self.scope(prepared, world).number(count) as u64,
                };
                if left > 0 {
                    self.frames.push(Frame { left, ..frame });
                }
            }
            Step::For { length, .. } => {
                self.frames.push(Frame { left: FOREVER, until: world.now + *length, ..frame });
            }
            Step::If { condition, .. } | Step::While { condition, .. } => {
                if self.scope(prepared, world).holds(condition) {
                    let left = if matches!(step, Step::While { .. }) { FOREVER } else { 1 };
                    self.frames.push(Frame { left, ..frame });
                }
            }
            Step::ForEach { list, .. } => {
                if self.take_item(list, 0) {
                    self.frames.push(Frame { left: FOREVER, ..frame });
                }
            }
            Step::Once { of, .. } => {
                if self.is_due(*of, step, prepared) {
                    self.frames.push(frame);
                }
            }
            Step::OneOf { pick, steps } => {
                let frame = self.picked(frame, step, *pick, steps);
                self.frames.push(frame);
            }
            Step::Portion { .. } | Step::Switch { .. } => {
                if let Some((next, end)) = self.part_of(step, prepared, world) {
                    self.frames.push(Frame { next, end, ..frame });
                }
            }
            Step::Leave(what_then) => return self.left(*what_then, world.now),
            Step::Sequence(_) => self.frames.push(frame),
            Step::Transaction { name, with_pauses, parent_only, .. } => {
                let label = self.scope(prepared, world).text(name).into_owned();
                let (with_pauses, parent_only) = (*with_pauses, *parent_only);
                self.open.push(Open::new(label, world.now, with_pauses, parent_only));
                self.frames.push(frame);
            }
        }
        None
    }

    /// Sets what is set before a request, and then pauses before it, or sends it where there is no pause.
    fn come_to(&mut self, request: &RequestStep, prepared: &Prepared, world: &mut World) -> Next {
        for values in &request.sets {
            self.scope(prepared, world).set_values(values);
        }
        self.pause_before(request, 0, prepared, world)
    }

    /// Leaves the iteration; what comes of it, if it was the last.
    fn left(&mut self, what_then: OnError, now: Instant) -> Option<Next> {
        self.leave(what_then, now);
        match self.phase {
            Phase::Ended(ended) => Some(self.end(ended)),
            _ => None,
        }
    }

    /// Puts the value of a turn, counted from 0, into the list's variable, and the turn into that of its count. False where
    /// there is no such value, which leaves the first variable as it is.
    fn take_item(&mut self, list: &List, turn: u64) -> bool {
        let number = list.skip.saturating_add(i64::try_from(turn).unwrap_or(i64::MAX));
        let variables = &mut self.user.variables;
        variables.set(&list.index, number.to_string());
        let is_within = list.last.is_none_or(|last| number < last);
        let name = format!("{}{}", list.prefix, number.saturating_add(1));
        let Some(value) = variables.get(&name).filter(|_| is_within).map(str::to_owned) else { return false };
        variables.set(&list.item, value);
        true
    }

    /// Whether what is done once is to be done now.
    fn is_due(&self, of: OnceOf, step: &Step, prepared: &Prepared) -> bool {
        match of {
            OnceOf::Loop => self.is_first_turn(prepared),
            OnceOf::User => !self.user.done.contains(&identity(step)),
        }
    }

    /// Whether the innermost loop is in its first turn; without a loop, the user in its first iteration.
    fn is_first_turn(&self, prepared: &Prepared) -> bool {
        let Some(group) = prepared.group(self.user.group) else { return false };
        let mut turns = self.frames.first().map_or(0, |frame| frame.turns);
        let mut children = Children::Steps(&group.steps);
        for frame in self.frames.iter().skip(1) {
            let Some(holder) = children.get(frame.at) else { break };
            let is_loop = matches!(
                holder,
                Step::Loop { .. } | Step::For { .. } | Step::While { .. } | Step::ForEach { .. }
            );
            if is_loop {
                turns = frame.turns;
            }
            children = holder.children();
        }
        turns == 0
    }
}
