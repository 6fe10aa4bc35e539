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

use std::num::NonZeroU32;
use std::sync::Arc;

use engine::{Due, Next, Sample, Script};
use http::{AnswerHead, Protocol, RequestKind, Response};
use scenario::{Ended, Prepared, Report, Session, Users as Comings, World, WorldSetup, server_of};
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
    /// Whether a schedule has ended a group, by group.
    over: Vec<bool>,
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
            counts: Counts::new(groups.len()),
            prepared: Arc::clone(prepared),
            world: World::new(setup),
            servers,
            begun: None,
            report,
            error: None,
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
                _ => return Next::Leave,
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
            let it = &mut self.seats[seat];
            if now >= leaves_at {
                return self.stand_up(seat, None);
            }
            let Some(session) = &mut it.session else { return self.step(seat, now) };
            let next = session.next(&mut self.world, now);
            for transaction in session.transactions() {
                self.report.transaction(&self.counts.of(it.group), it.user, &transaction);
            }
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
                    self.report.unsent(&self.counts.of(it.group), it.user, &unsent, now);
                }
                scenario::Next::Pause(pause) => {
                    // A pause delays the next request; it does not date it back to the arrival.
                    it.intended = None;
                    let left = leaves_at.since(now);
                    return Next::Pause(pause.min(left));
                }
                scenario::Next::Done(ended) => return self.stand_up(seat, Some(ended)),
            }
        }
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
    fn stand_up(&mut self, seat: usize, ended: Option<Ended>) -> Next {
        let it = &mut self.seats[seat];
        let group = it.group;
        it.session = None;
        self.counts.ended(group);
        self.world.goes(group);
        match ended {
            Some(Ended::StopGroup) => {
                self.over[group] = true;
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

impl<R: Report, H: Protocol> Script<H> for Users<R> {
    fn next(&mut self, user: u32, now: Instant) -> Next {
        if self.error.is_some() {
            return Next::EndNow;
        }
        self.step(user as usize, now)
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
    use std::collections::BTreeMap;

    use engine::Share;
    use scenario::{Pause, RateRow, RateSchedule, RequestStep, Scenario, Stay, Step, Template};
    use units::Seed;

    use super::*;

    fn setup() -> WorldSetup {
        WorldSetup {
            seed: Seed(1),
            properties: BTreeMap::new(),
            clock: Instant::ORIGIN,
            epoch_ms: 0,
            share: Share::WHOLE,
            check: http::check,
        }
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
