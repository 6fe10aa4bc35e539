//! Users who carry out a scenario: a [`scenario::Session`] each, asked by the engine what to send.
//!
//! A connection slot is a *seat*. In a closed or planned group each user has a seat of its own for as long as it lives; in an open
//! group a user takes a free one when it arrives and leaves it when it has gone through its steps. A user who arrives
//! and finds no seat takes the next that is left, and its first request keeps the instant of its arrival.

mod arrivals;
mod counts;
mod load;
mod seat;
mod servers;
mod steps;
mod tap;

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use engine::{Due, Next, Outcome, Sample, Script};
use http::{AnswerHead, Protocol, RequestKind, Response};
use scenario::{
    Crowd, Ended, Prepared, Report, Session, StepSample, Users as Comings, World, WorldSetup, server_of,
};
use units::{Duration, Instant};

use self::arrivals::Arrivals;
pub use self::counts::Counts;
pub use self::load::{Setting, carry_out, plan};
use self::seat::Seat;
pub use self::servers::Servers;
pub use self::steps::Steps;
pub use self::tap::{ResultTap, Results, tap};

/// Users of a load of the scenario at one time, at most: what was prepared has no more than a load can have connections.
pub fn seats(prepared: &Prepared) -> NonZeroU32 {
    let all = prepared.scenario().groups.iter().map(|group| group.users.seats()).sum();
    NonZeroU32::new(all).unwrap_or(NonZeroU32::MIN)
}

/// How long a load of the scenario lasts at most, from its start to its last request; `None` where nothing bounds it.
pub fn length(prepared: &Prepared) -> Option<Duration> {
    let of = |comings: &Comings| match comings {
        Comings::Closed { delay, duration, .. } => duration.map(|duration| *delay + duration),
        Comings::Planned { stays, .. } => stays.iter().map(|stay| stay.to).max(),
        Comings::Open { .. } => None,
    };
    let all: Option<Vec<Duration>> =
        prepared.scenario().groups.iter().map(|group| of(&group.users)).collect();
    all?.into_iter().max()
}

/// The users of one load thread.
#[derive(Debug)]
pub struct Users<R> {
    prepared: Arc<Prepared>,
    world: World,
    servers: Servers,
    seats: Vec<Seat>,
    /// Of open groups, by group.
    arrivals: Vec<Option<Arrivals>>,
    /// Users of each group so far, by group.
    arrived: Vec<u32>,
    /// Whether a group has ended, by group: by a schedule, or since its users wait for nobody any more.
    over: Vec<bool>,
    /// The seats of users who wait for others, by group and number of the user.
    waiting: BTreeMap<(usize, u32), usize>,
    /// How many of them wait for as long as it takes.
    staying: usize,
    /// Seats that nobody will sit on any more.
    left: usize,
    /// Whether some may wait whose group has ended.
    some_may_go: bool,
    counts: Counts,
    /// When the load began: when the first user was asked.
    begun: Option<Instant>,
    report: R,
    error: Option<String>,
}

impl<R: Report> Users<R> {
    /// The users of `prepared`, who send to `servers` and whose samples go to `report`.
    pub fn new(prepared: &Arc<Prepared>, setup: WorldSetup, servers: Servers, report: R) -> Self {
        let groups = &prepared.scenario().groups;
        let seats = groups
            .iter()
            .enumerate()
            .flat_map(|(group, it)| (0..it.users.seats()).map(move |number| Seat::new(group, number)));
        Self {
            seats: seats.collect(),
            arrivals: groups.iter().map(|_| None).collect(),
            arrived: vec![0; groups.len()],
            over: vec![false; groups.len()],
            waiting: BTreeMap::new(),
            staying: 0,
            left: 0,
            some_may_go: false,
            counts: Counts::new(groups.len()),
            prepared: Arc::clone(prepared),
            world: World::new(setup),
            servers,
            begun: None,
            report,
            error: None,
        }
    }

    /// The load ended at `at`: what its users are in the midst of is cut off.
    pub fn end(&mut self, at: Instant) {
        let Self { seats, report, counts, .. } = self;
        for seat in seats {
            cut_off(seat, counts, report, at);
        }
    }

    /// Where the samples went, how many users there were, and why the load was ended before its time.
    pub fn into_parts(self) -> (R, Counts, Option<String>) {
        (self.report, self.counts, self.error)
    }

    /// When the seat's user, who is not there yet, comes; `None` if nobody does any more.
    fn comes_at(&mut self, seat: usize, begun: Instant) -> Option<Instant> {
        let Seat { group, number, users, .. } = self.seats[seat];
        match &self.prepared.scenario().groups[group].users {
            Comings::Closed { .. } | Comings::Planned { .. } if users > 0 => None,
            Comings::Closed { count, ramp_up, delay, .. } => {
                let share = u128::from(ramp_up.as_nanos()) * u128::from(number) / u128::from(count.get());
                Some(begun + *delay + Duration::from_nanos(share as u64))
            }
            Comings::Planned { stays, .. } => stays.get(number as usize).map(|stay| begun + stay.from),
            Comings::Open { spans, poisson, .. } => {
                let seed = self.world.arrivals_seed(group);
                self.arrivals[group].get_or_insert_with(|| Arrivals::new(begun, spans, *poisson, seed)).next()
            }
        }
    }

    /// When whoever is on the seat has to go.
    fn leaves_at(&self, seat: usize, begun: Instant) -> Instant {
        let Seat { group, number, .. } = self.seats[seat];
        match &self.prepared.scenario().groups[group].users {
            _ if self.over[group] => Instant::ORIGIN,
            Comings::Closed { delay, duration: Some(duration), .. } => begun + *delay + *duration,
            Comings::Planned { stays, .. } => {
                stays.get(number as usize).map_or(Instant::FAR_FUTURE, |stay| begun + stay.to)
            }
            Comings::Closed { duration: None, .. } | Comings::Open { .. } => Instant::FAR_FUTURE,
        }
    }

    /// What the user on `seat` does at `now`, who is there if `comes_at` has come.
    fn step(&mut self, seat: usize, now: Instant) -> Next {
        let begun = *self.begun.get_or_insert(now);
        let leaves_at = self.leaves_at(seat, begun);
        if self.seats[seat].session.is_none() {
            let due = match self.seats[seat].due.take().or_else(|| self.comes_at(seat, begun)) {
                Some(due) if due < leaves_at => due,
                _ => {
                    self.left += 1;
                    return Next::Leave;
                }
            };
            if due > now {
                self.seats[seat].due = Some(due);
                return Next::Pause(due.since(now));
            }
            self.sit_down(seat, due);
        }
        self.go_on(seat, leaves_at, now)
    }

    /// A user takes its seat. It was to come at `due`.
    fn sit_down(&mut self, seat: usize, due: Instant) {
        let it = &mut self.seats[seat];
        let number = self.arrived[it.group];
        let user = match self.prepared.scenario().groups[it.group].users {
            // Who has a seat of its own has its number, whenever it comes.
            Comings::Closed { .. } | Comings::Planned { .. } => it.number,
            Comings::Open { .. } => number,
        };
        self.arrived[it.group] += 1;
        it.users += 1;
        it.user = user;
        it.intended = Some(due);
        it.session = Some(Session::new(&self.prepared, it.group, user));
        self.counts.started(it.group);
        self.world.comes(it.group);
    }

    fn go_on(&mut self, seat: usize, leaves_at: Instant, now: Instant) -> Next {
        loop {
            if now >= leaves_at {
                return self.stand_up(seat, None, now);
            }
            if let Some(until) = self.seats[seat].pauses_until.filter(|until| now < *until) {
                // It was asked for the end of a pause that others have ended since.
                return pausing(until, now);
            }
            self.no_longer_pauses(seat);
            let it = &mut self.seats[seat];
            let Some(session) = &mut it.session else { return self.step(seat, now) };
            let next = session.next(&mut self.world, now);
            tell_of(session, &self.counts.of(it.group), it.user, &mut self.report);
            match next {
                scenario::Next::Request(outgoing) => {
                    if let Some(target) = self.servers.number(&outgoing.url) {
                        return self.send(seat, outgoing, target, now);
                    }
                    // With its scheme and port, as it has to be named.
                    let host =
                        server_of(&outgoing.url).unwrap_or_else(|| outgoing.url.authority().to_owned());
                    let name = outgoing.label;
                    self.error.get_or_insert(format!(
                        "the request `{name}` goes to {host}, which was not known before the load; name it with --host \
                         {host}"
                    ));
                    return Next::EndNow;
                }
                scenario::Next::Unsent(unsent) => {
                    // It may have been the request that a redirect asks for.
                    it.so_far = None;
                    self.report.unsent(&self.counts.of(it.group), it.user, &unsent, now);
                }
                scenario::Next::Pause(pause) => {
                    // A pause delays the next request; it does not date it back to the arrival.
                    it.intended = None;
                    let until = (now + pause).min(leaves_at);
                    it.pauses_until = Some(until);
                    return Next::Pause(until.since(now));
                }
                scenario::Next::Wait(time) => return self.wait(seat, time, leaves_at, now),
                scenario::Next::Done(ended) => return self.stand_up(seat, Some(ended), now),
            }
        }
    }

    /// The user on this seat waits for others. Who has no time set for that stays beyond its own time, too.
    fn wait(&mut self, seat: usize, time: Option<Duration>, leaves_at: Instant, now: Instant) -> Next {
        let it = &mut self.seats[seat];
        it.intended = None;
        let until = time.map_or(Instant::FAR_FUTURE, |time| (now + time).min(leaves_at));
        it.pauses_until = Some(until);
        self.waiting.insert((it.group, it.user), seat);
        self.staying += usize::from(until == Instant::FAR_FUTURE);
        pausing(until, now)
    }

    /// Whoever is on this seat pauses no longer; whether it waited for others.
    fn no_longer_pauses(&mut self, seat: usize) -> bool {
        let it = &mut self.seats[seat];
        let Some(until) = it.pauses_until.take() else { return false };
        let waited = self.waiting.remove(&(it.group, it.user)).is_some();
        self.staying -= usize::from(waited && until == Instant::FAR_FUTURE);
        waited
    }

    /// The seat of a user who need not wait for others any longer.
    fn next_released(&mut self) -> Option<usize> {
        while let Some(user) = self.world.released() {
            if let Some(seat) = self.waiting.get(&user).copied() {
                self.no_longer_pauses(seat);
                return Some(seat);
            }
        }
        if self.staying > 0 && self.staying + self.left == self.seats.len() {
            // In JMeter they wait for ever.
            self.over.fill(true);
            self.some_may_go = true;
        }
        if !self.some_may_go {
            return None;
        }
        let seat = self.waiting.iter().find(|((group, _), _)| self.over[*group]).map(|(_, seat)| *seat);
        self.some_may_go = seat.is_some();
        seat.filter(|seat| self.no_longer_pauses(*seat))
    }

    fn send(&mut self, seat: usize, outgoing: scenario::Outgoing, target: u32, now: Instant) -> Next {
        let it = &mut self.seats[seat];
        let kind = if outgoing.method == "HEAD" { RequestKind::Head } else { RequestKind::Ordinary };
        let intended = it.intended.take().unwrap_or(now);
        let waits = outgoing.waits;
        it.begin(outgoing);
        Next::Send(Due { intended, kind, target, waits })
    }

    /// The user leaves its seat.
    fn stand_up(&mut self, seat: usize, ended: Option<Ended>, now: Instant) -> Next {
        self.no_longer_pauses(seat);
        let it = &mut self.seats[seat];
        let group = it.group;
        cut_off(it, &self.counts, &mut self.report, now);
        self.counts.ended(group);
        self.world.goes(group);
        self.world.forgets((group, it.user));
        match ended {
            Some(Ended::StopGroup) => {
                self.over[group] = true;
                self.some_may_go = true;
                Next::Pause(Duration::ZERO)
            }
            Some(Ended::StopLoad) => Next::EndLoad,
            Some(Ended::StopNow) => Next::EndNow,
            Some(ended @ Ended::Endless) => {
                let name = &self.prepared.scenario().groups[group].name;
                self.error.get_or_insert(format!("the users of `{name}` have {}", ended.name()));
                Next::EndNow
            }
            // It is asked again at once, for who comes next; no deeper into the stack.
            Some(Ended::Finished) | None => Next::Pause(Duration::ZERO),
        }
    }
}

/// The user on a seat goes no further from `at` on.
fn cut_off(seat: &mut Seat, counts: &Counts, report: &mut impl Report, at: Instant) {
    let Some(mut session) = seat.session.take() else { return };
    // A redirect that nobody follows any more.
    if let Some(so_far) = seat.so_far.take() {
        let so_far =
            StepSample { outcome: Outcome::InFlight, status: None, ok: false, message: None, ..so_far };
        report.sample(&counts.of(seat.group), seat.user, &so_far);
    }
    session.cut_off(at);
    tell_of(&mut session, &counts.of(seat.group), seat.user, report);
}

/// Tells of the transactions that are over.
fn tell_of(session: &mut Session, crowd: &Crowd, user: u32, report: &mut impl Report) {
    for transaction in session.transactions() {
        report.transaction(crowd, user, &transaction);
    }
}

/// A pause until then, which may be for ever.
fn pausing(until: Instant, now: Instant) -> Next {
    if until == Instant::FAR_FUTURE { Next::Wait } else { Next::Pause(until.since(now)) }
}

impl<R: Report, H: Protocol> Script<H> for Users<R> {
    fn next(&mut self, user: u32, now: Instant) -> Next {
        if self.error.is_some() {
            return Next::EndNow;
        }
        self.step(user as usize, now)
    }

    fn released(&mut self) -> Option<u32> {
        self.next_released().map(|seat| seat as u32)
    }

    fn ask(&mut self, user: u32, place: u32, protocol: &mut H, out: &mut Vec<u8>) {
        self.seats[user as usize].ask(place, protocol, out);
    }

    fn begun(&mut self, user: u32, now: Instant) {
        self.seats[user as usize].begun(now);
    }

    fn head(&mut self, user: u32, head: &AnswerHead<'_>, _: Instant) {
        self.seats[user as usize].head(head);
    }

    fn body(&mut self, user: u32, piece: &[u8]) {
        self.seats[user as usize].body(piece);
    }

    fn ended(&mut self, user: u32, sample: &Sample, response: Option<&Response>) -> bool {
        let Self { seats, world, report, counts, .. } = self;
        let it = &mut seats[user as usize];
        let (Some(session), Some(out)) = (&mut it.session, it.out.take()) else { return false };
        let verdict = out.judge(session, world, sample, response);
        let ok = verdict.ok;
        let over = verdict.over;
        let whole = out.into_sample(sample, response, verdict, it.so_far.take());
        if over {
            session.came_to(&whole.sums());
            report.sample(&counts.of(it.group), it.user, &whole);
        } else {
            it.so_far = Some(whole);
        }
        ok
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;

    use scenario::{Meeting, Pause, RateRow, RateSchedule, RequestStep, Scenario, Stay, Step, Template};
    use units::Seed;

    use super::*;

    fn setup() -> WorldSetup {
        WorldSetup::new(Seed(1))
    }

    /// Two requests, one a second, and then nobody of the group stays or comes any more.
    #[test]
    fn a_schedule_that_is_over_ends_its_group() {
        let s = Duration::from_secs;
        let stays = [0, 0, 3].map(|from| Stay { from: s(from), to: s(9) }).to_vec();
        let users = Comings::Planned { stays, iterations: None };
        let schedule = RateSchedule(vec![RateRow { from: 1.0, to: 1.0, seconds: 1 }]);
        let pause = Step::Pause(Pause::Scheduled(schedule.into()));
        let prepared = Prepared::new(Scenario::of_steps("scheduled", users, vec![pause], s(1))).unwrap();
        let mut users = Users::new(&prepared, setup(), Servers::default(), None::<Steps>);
        for (user, now_s, expected) in [
            (0, 0, Next::Pause(s(1))),
            (1, 0, Next::Pause(s(2))),
            (2, 0, Next::Pause(s(3))),
            (0, 1, Next::Pause(s(1))),
            (1, 2, Next::Pause(s(0))),
            (1, 2, Next::Leave),
            (0, 2, Next::Pause(s(0))),
            (0, 2, Next::Leave),
            (2, 3, Next::Leave),
        ] {
            let next = users.step(user, Instant::ORIGIN + s(now_s));
            assert_eq!(next, expected, "{user} at {now_s} s");
        }
    }

    /// Users of these times who each go once through a meeting of two and a pause.
    fn meeting(stays_s: &[(u64, u64)], time: Option<Duration>, pause_ms: &str) -> Users<Option<Steps>> {
        let s = Duration::from_secs;
        let stays = stays_s.iter().map(|(from, to)| Stay { from: s(*from), to: s(*to) }).collect();
        let users = Comings::Planned { stays, iterations: NonZeroU64::new(1) };
        let meeting = Meeting { users: NonZeroU32::new(2).unwrap(), timeout: time };
        let pauses = [Pause::Meeting(meeting.into()), Pause::Constant { ms: Template::text(pause_ms) }];
        let steps = pauses.map(Step::Pause).to_vec();
        let prepared = Prepared::new(Scenario::of_steps("meeting", users, steps, s(1))).unwrap();
        Users::new(&prepared, setup(), Servers::default(), None::<Steps>)
    }

    /// Of three users two go on together, and the third has nobody to wait for once they have left.
    #[test]
    fn who_waits_for_nobody_any_more_goes() {
        let s = Duration::from_secs;
        let mut users = meeting(&[(0, 9), (0, 9), (1, 9)], None, "1000");
        for (user, now_s, expected, released) in [
            (0, 0, Next::Wait, None),
            (1, 0, Next::Pause(s(1)), Some(0)),
            (0, 0, Next::Pause(s(1)), None),
            (2, 0, Next::Pause(s(1)), None),
            (2, 1, Next::Wait, None),
            (0, 1, Next::Pause(s(0)), None),
            (0, 1, Next::Leave, None),
            (1, 1, Next::Pause(s(0)), None),
            (1, 1, Next::Leave, Some(2)),
            (2, 1, Next::Pause(s(0)), None),
            (2, 1, Next::Leave, None),
        ] {
            let next = users.step(user, Instant::ORIGIN + s(now_s));
            assert_eq!((next, users.next_released()), (expected, released), "{user} at {now_s} s");
        }
    }

    /// The end of a pause that was cut short does not cut the next one short; who has a time set waits no longer than that or its own.
    #[test]
    fn waiting_for_others_ends_by_itself_where_it_has_a_time() {
        let s = Duration::from_secs;
        let mut users = meeting(&[(0, 9), (0, 9), (5, 7)], Some(s(5)), "6000");
        for (user, now_s, expected, released) in [
            (0, 0, Next::Pause(s(5)), None),
            (1, 0, Next::Pause(s(6)), Some(0)),
            (0, 0, Next::Pause(s(6)), None),
            (2, 0, Next::Pause(s(5)), None),
            (0, 5, Next::Pause(s(1)), None),
            (2, 5, Next::Pause(s(2)), None),
            (2, 7, Next::Pause(s(0)), None),
            (2, 7, Next::Leave, None),
        ] {
            let next = users.step(user, Instant::ORIGIN + s(now_s));
            assert_eq!((next, users.next_released()), (expected, released), "{user} at {now_s} s");
        }
    }

    /// Whoever has the lowest number need not be the first to come, nor the last to go.
    #[test]
    fn planned_users_come_and_go_at_their_times() {
        let s = Duration::from_secs;
        let stays = vec![Stay { from: s(2), to: s(5) }, Stay { from: s(0), to: s(3) }];
        let users = Comings::Planned { stays, iterations: None };
        let pause = Step::Pause(Pause::Constant { ms: Template::text("1000") });
        let prepared = Prepared::new(Scenario::of_steps("planned", users, vec![pause], s(1))).unwrap();
        assert_eq!((seats(&prepared).get(), length(&prepared)), (2, Some(s(5))));
        let mut users = Users::new(&prepared, setup(), Servers::default(), None::<Steps>);
        let ms = Duration::from_millis;
        for (user, now_ms, expected) in [
            (0, 0, Next::Pause(s(2))),
            (1, 0, Next::Pause(s(1))),
            (1, 1000, Next::Pause(s(1))),
            (0, 2000, Next::Pause(s(1))),
            (1, 2500, Next::Pause(ms(500))),
            (1, 3000, Next::Pause(Duration::ZERO)),
            (1, 3000, Next::Leave),
            (0, 4500, Next::Pause(ms(500))),
            (0, 5000, Next::Pause(Duration::ZERO)),
            (0, 5000, Next::Leave),
        ] {
            let next = users.step(user, Instant::ORIGIN + ms(now_ms));
            assert_eq!(next, expected, "{user} at {now_ms} ms");
        }
        assert_eq!(users.into_parts().1.all(), 2);
    }

    /// Whoever is in the midst of something as its time is over, or the load, knows only that it would have taken longer.
    #[test]
    fn what_users_are_in_the_midst_of_at_the_end_is_cut_off() {
        let s = Duration::from_secs;
        let at = |second| Instant::ORIGIN + s(second);
        let stays = [2, 9].map(|to| Stay { from: s(0), to: s(to) }).to_vec();
        let steps = vec![Step::Pause(Pause::Constant { ms: Template::text("5000") })];
        let name = Template::text("whole");
        let whole = Step::Transaction { name, with_pauses: true, parent_only: false, steps };
        let comings = Comings::Planned { stays, iterations: None };
        let prepared = Prepared::new(Scenario::of_steps("cut", comings, vec![whole], s(1))).unwrap();
        let mut users = Users::new(&prepared, setup(), Servers::default(), Steps::default());
        assert_eq!(users.step(0, at(0)), Next::Pause(s(2)));
        assert_eq!(users.step(1, at(0)), Next::Pause(s(5)));
        assert_eq!(users.step(0, at(2)), Next::Pause(Duration::ZERO));
        users.end(at(3));
        let told = users.into_parts().0.into_results();
        let times = &told[0].response_time_us;
        assert_eq!((told.len(), told[0].label.as_str(), told[0].failed, told[0].cut_off), (1, "whole", 0, 2));
        assert_eq!((times.count, times.censored), (2, 2));
    }

    #[test]
    fn a_redirect_that_nobody_follows_any_more_is_cut_off() {
        let s = Duration::from_secs;
        let comings = Comings::Planned { stays: vec![Stay { from: s(0), to: s(9) }], iterations: None };
        let steps = vec![Step::Pause(Pause::Constant { ms: Template::text("5000") })];
        let prepared = Prepared::new(Scenario::of_steps("moved", comings, steps, s(1))).unwrap();
        let mut users = Users::new(&prepared, setup(), Servers::default(), Steps::default());
        assert_eq!(users.step(0, Instant::ORIGIN), Next::Pause(s(5)));
        users.seats[0].so_far = Some(StepSample {
            label: "moved".into(),
            method: "GET".into(),
            url: "http://h/".parse().unwrap(),
            intended: Instant::ORIGIN,
            done: Instant::ORIGIN,
            elapsed: s(1),
            latency: s(1),
            connect: s(0),
            outcome: Outcome::Answered { status: 302, expected: true },
            status: Some(302),
            reason: String::new(),
            ok: true,
            message: None,
            received_bytes: 0,
            sent_bytes: 0,
            within_parent: false,
        });
        users.end(Instant::ORIGIN + s(2));
        assert!(users.seats[0].so_far.is_none(), "it is nothing of who sits down there next");
        let told = users.into_parts().0.into_results();
        let told: Vec<(&str, u64, u64, u64)> = told
            .iter()
            .map(|it| (it.label.as_str(), it.failed, it.cut_off, it.response_time_us.censored))
            .collect();
        assert_eq!(told, [("moved", 0, 1, 1)]);
    }

    /// An engine is told the shortest, and what is out at the end has the longest.
    #[test]
    fn requests_may_wait_for_different_times() {
        let s = Duration::from_secs;
        let waits = |connect, request| Some(engine::Waits { connect: s(connect), request: s(request) });
        let request = |waits| {
            Step::Request(Box::new(RequestStep { waits, ..RequestStep::plain("a", "GET", "http://h/") }))
        };
        let users = Comings::Planned { stays: vec![Stay { from: s(0), to: s(9) }], iterations: None };
        let steps = vec![request(waits(7, 1)), request(None), request(waits(3, 60))];
        let prepared = Prepared::new(Scenario::of_steps("waits", users, steps, s(5))).unwrap();
        let timeouts = plan(&prepared, &Setting::default(), &Servers::default()).unwrap().timeouts;
        assert_eq!((timeouts.connect, timeouts.request, timeouts.drain), (s(3), s(1), s(60)));
    }
}
