//! What all users of a load share: the seed, properties, the wall clock, and where shared data, rates and counters stand.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::num::NonZeroU32;

use engine::Share;
use fancy_regex::Regex;
use units::{Duration, Instant, Seed};

use crate::data::Table;
use crate::model::{DataAtEnd, DataSet, RateSchedule, RequestCheck};
use crate::prepared;

/// Milliseconds of a second.
const SECOND_MS: i64 = 1000;
/// Expressions with variables in them that are kept compiled at most.
const EXPRESSIONS_MAX: usize = 1000;

/// What a [`World`] begins with.
#[derive(Debug, Clone)]
pub struct WorldSetup {
    /// Seed of every random choice.
    pub seed: Seed,
    /// What `__P` and `__property` read.
    pub properties: BTreeMap<String, String>,
    /// Some instant of the load's clock…
    pub clock: Instant,
    /// …and what the wall clock said then, in milliseconds since 1970.
    pub epoch_ms: i64,
    /// Which part of the load this world is for: rows, counts and rates are dealt out among the parts.
    pub share: Share,
    /// What a request must pass to be sent, by the protocol that is spoken.
    pub check: RequestCheck,
}

impl WorldSetup {
    /// That of a whole load over HTTP/1.1 with this seed, without properties, whose clocks begin at their origin.
    pub fn new(seed: Seed) -> Self {
        Self {
            seed,
            properties: BTreeMap::new(),
            clock: Instant::ORIGIN,
            epoch_ms: 0,
            share: Share::WHOLE,
            check: http::check,
        }
    }
}

/// What all users of a load share, or those of one thread of it.
#[derive(Debug)]
pub struct World {
    setup: WorldSetup,
    /// The instant of the call under way.
    pub(crate) now: Instant,
    /// Rows taken of a data set, by the group that shares them if one does.
    taken: HashMap<(usize, Option<usize>), u64>,
    /// When the last request of a shared rate was due, by rate and group.
    paced: HashMap<(usize, usize), Instant>,
    /// Where schedules of requests stand, by their identity.
    scheduled: HashMap<usize, Scheduled>,
    /// Calls of shared counters.
    counts: HashMap<usize, u64>,
    /// Users who are there, by group.
    there: BTreeMap<usize, u64>,
    /// Users who wait for each other, by the identity of where they do: each with its group and its number.
    meetings: BTreeMap<usize, Vec<(usize, u32)>>,
    /// Those of them who need not wait any longer, and were not told so far.
    released: VecDeque<(usize, u32)>,
    /// Expressions that depend on variables; `None` is one that can't be compiled.
    expressions: HashMap<(String, bool), Option<Regex>>,
}

/// Where a schedule of requests stands, in seconds since 1970.
#[derive(Debug, Clone, Copy)]
struct Scheduled {
    /// The second in which it began.
    begun: i64,
    /// The second of the last request.
    second: i64,
    /// Requests of that second so far.
    made: u64,
}

/// A request of a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slot {
    /// It is due then, which may have passed.
    At(Instant),
    /// There is none left. The schedule is over then.
    Over(Instant),
}

/// A row that a user is to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Row {
    /// This one.
    At(u64),
    /// None: the data have come to their end.
    Eof,
    /// None, and the user ends.
    Stop,
}

impl World {
    /// The state before the first user starts.
    pub fn new(setup: WorldSetup) -> Self {
        Self {
            now: setup.clock,
            setup,
            taken: HashMap::new(),
            paced: HashMap::new(),
            scheduled: HashMap::new(),
            counts: HashMap::new(),
            there: BTreeMap::new(),
            meetings: BTreeMap::new(),
            released: VecDeque::new(),
            expressions: HashMap::new(),
        }
    }

    /// A seed for one user, whatever the others do.
    pub(crate) fn seed(&self, group: usize, user: u32) -> Seed {
        self.setup.seed.derive(group as u64).derive(u64::from(user))
    }

    /// A seed for the arrivals of the users of a group.
    pub fn arrivals_seed(&self, group: usize) -> Seed {
        self.seed(group, u32::MAX)
    }

    /// What a request must pass to be sent.
    pub(crate) fn check(&self) -> RequestCheck {
        self.setup.check
    }

    pub(crate) fn property(&self, name: &str) -> Option<&str> {
        self.setup.properties.get(name).map(String::as_str)
    }

    /// The wall clock in milliseconds since 1970.
    pub(crate) fn epoch_ms(&self) -> i64 {
        let signed = |span: Duration| i64::try_from(span.as_nanos() / 1_000_000).unwrap_or(i64::MAX);
        let since = signed(self.now.since(self.setup.clock));
        let before = signed(self.setup.clock.since(self.now));
        self.setup.epoch_ms.saturating_add(since).saturating_sub(before)
    }

    /// The next row of the data set of this number for a group, or for all where that is `None`.
    pub(crate) fn row(&mut self, set: (usize, &DataSet), table: &Table, group: Option<usize>) -> Row {
        let taken = self.taken.entry((set.0, group)).or_default();
        let index = taken.saturating_mul(u64::from(self.setup.share.of.get()));
        let row = row_at(set.1, table, index.saturating_add(u64::from(self.setup.share.index)));
        *taken += 1;
        row
    }

    /// The next number of the shared counter with this identity, from 1.
    pub(crate) fn count(&mut self, identity: usize) -> u64 {
        let count = self.counts.entry(identity).or_default();
        let before = count.saturating_mul(u64::from(self.setup.share.of.get()));
        *count += 1;
        before.saturating_add(u64::from(self.setup.share.index)).saturating_add(1)
    }

    /// One less than the next number of it.
    pub(crate) fn counted_so_far(&self, identity: usize) -> u64 {
        let count = self.counts.get(&identity).copied().unwrap_or_default();
        count
            .saturating_mul(u64::from(self.setup.share.of.get()))
            .saturating_add(u64::from(self.setup.share.index))
    }

    /// When the next request of a rate that a group shares is due. Time that passed without requests is not made up for.
    pub(crate) fn due(&mut self, rate: (usize, usize), gap: Duration) -> Instant {
        let now = self.now;
        let gap = gap * u64::from(self.setup.share.of.get());
        let due = self.paced.get(&rate).map_or(now, |last| (*last + gap).max(now));
        self.paced.insert(rate, due);
        due
    }

    /// The next request of the schedule with this identity, for which somebody asks now. Seconds that nobody asked in are lost.
    pub(crate) fn slot(&mut self, identity: usize, schedule: &RateSchedule) -> Slot {
        let now = self.epoch_ms().div_euclid(SECOND_MS);
        let share = self.setup.share;
        let mut it =
            self.scheduled.get(&identity).copied().unwrap_or(Scheduled { begun: now, second: now, made: 0 });
        if now > it.second {
            (it.second, it.made) = (now, 0);
        }
        let slot = loop {
            let begins_ms = it.second.saturating_mul(SECOND_MS);
            let Some(rate) = schedule.rate(it.second.abs_diff(it.begun)) else {
                break Slot::Over(self.at_epoch_ms(begins_ms));
            };
            let number = it.made.saturating_mul(u64::from(share.of.get())).saturating_add(share.index.into());
            if let Some(after_ms) = due_within_second(rate, number) {
                it.made += 1;
                break Slot::At(self.at_epoch_ms(begins_ms.saturating_add(after_ms)));
            }
            (it.second, it.made) = (it.second + 1, 0);
        };
        self.scheduled.insert(identity, it);
        slot
    }

    /// The instant at which the wall clock says this, in milliseconds since 1970; none is before all instants.
    fn at_epoch_ms(&self, epoch_ms: i64) -> Instant {
        let WorldSetup { clock, epoch_ms: at_clock, .. } = self.setup;
        let span = Duration::from_millis(epoch_ms.abs_diff(at_clock));
        if epoch_ms < at_clock { clock - span } else { clock + span }
    }

    /// A user comes to where so many wait for each other. Whether it has to wait, too; else all of them go on.
    pub(crate) fn meet(&mut self, place: usize, users: NonZeroU32, user: (usize, u32)) -> bool {
        let waiting = self.meetings.entry(place).or_default();
        if waiting.len() as u64 + 1 < u64::from(users.get()) {
            waiting.push(user);
            return true;
        }
        self.released.extend(waiting.drain(..));
        false
    }

    /// A user who came there goes on. If nobody has released it, it has waited for too long, and with it all go on who wait there, as
    /// in JMeter.
    pub(crate) fn goes_on(&mut self, place: usize, user: (usize, u32)) {
        let Some(waiting) = self.meetings.get_mut(&place) else { return };
        if waiting.contains(&user) {
            self.released.extend(waiting.drain(..).filter(|other| *other != user));
        }
    }

    /// A user who waited for others and is to be asked again: its group and its number. The first who came is the first.
    pub fn released(&mut self) -> Option<(usize, u32)> {
        self.released.pop_front()
    }

    /// A user has gone: nobody waits for it any more, nor it for others.
    pub fn forgets(&mut self, user: (usize, u32)) {
        self.meetings.values_mut().for_each(|waiting| waiting.retain(|other| *other != user));
        self.released.retain(|other| *other != user);
    }

    /// A user of this group comes.
    pub fn comes(&mut self, group: usize) {
        *self.there.entry(group).or_default() += 1;
    }

    /// One of this group goes.
    pub fn goes(&mut self, group: usize) {
        let there = self.there.entry(group).or_default();
        *there = there.saturating_sub(1);
    }

    /// How many users are there, of a group or in all: whoever asks at least, and as many in every other part of the load.
    pub(crate) fn there(&self, group: Option<usize>) -> u64 {
        let is_meant = |of: usize| group.is_none_or(|group| group == of);
        let here: u64 = self.there.iter().filter(|(of, _)| is_meant(**of)).map(|(_, count)| *count).sum();
        here.max(1).saturating_mul(u64::from(self.setup.share.of.get()))
    }

    /// An expression that is known only now, compiled; `None` where it can't be.
    pub(crate) fn expression(&mut self, pattern: &str, whole: bool) -> Option<&Regex> {
        if self.expressions.len() >= EXPRESSIONS_MAX {
            self.expressions.clear();
        }
        let compile = || prepared::regex(pattern, whole).ok();
        self.expressions.entry((pattern.to_owned(), whole)).or_insert_with(compile).as_ref()
    }
}

/// In which millisecond of a second the request of this number is due, from 0; `None` in none of it. As in JMeter's plug-in, the
/// first one is due whatever the rate.
fn due_within_second(rate: f64, number: u64) -> Option<i64> {
    let after_ms = if number == 0 { 0.0 } else { (number as f64 * (SECOND_MS as f64 / rate)).ceil() };
    (after_ms < SECOND_MS as f64).then_some(after_ms as i64)
}

/// The row of this number, or what the data set says of those after the last.
pub(crate) fn row_at(set: &DataSet, table: &Table, index: u64) -> Row {
    match set.at_end {
        _ if index < table.len() => Row::At(index),
        DataAtEnd::Recycle => Row::At(index % table.len()),
        DataAtEnd::Eof => Row::Eof,
        DataAtEnd::StopUser => Row::Stop,
    }
}
