//! How a user pauses: for a time that is drawn, until a request of a rate is due, or until others are there.

use units::{Duration, Instant};

use super::poisson::poisson;
use super::user::{identity, random_unit};
use super::walk::{Phase, State};
use super::{Ended, Next};
use crate::model::{Meeting, Pacing, Pause, RateSchedule, RequestStep};
use crate::prepared::Prepared;
use crate::world::{Slot, World};

/// The number of the rate that all timers of a group keep together, which none of them has by itself.
const OF_ALL_TIMERS: usize = usize::MAX;
/// Longest pause, in milliseconds: a hundred days.
const PAUSE_MS_MAX: f64 = 8_640_000_000.0;

impl State {
    /// Waits for others before a request, where its pauses from this place on say so. Then it pauses, or sends it where there is no
    /// pause.
    pub(super) fn pause_before(
        &mut self,
        request: &RequestStep,
        from: usize,
        prepared: &Prepared,
        world: &mut World,
    ) -> Next {
        for (place, pause) in request.pauses.iter().enumerate().skip(from) {
            if let Pause::Meeting(meeting) = pause
                && let Some(next) = self.meet(meeting, world)
            {
                self.phase = Phase::Met(place + 1);
                return next;
            }
        }
        let pause = request.pauses.iter().map(|it| self.pause(it, prepared, world));
        let pause = pause.fold(Duration::ZERO, |sum, pause| sum + pause);
        if let Some(at) = self.over.take() {
            return self.wait_for_the_end(at, world.now);
        }
        if pause.is_zero() {
            return self.send(request, prepared, world);
        }
        self.phase = Phase::Due;
        self.unsent = 0;
        Next::Pause(pause)
    }

    /// There is nothing left for it to do, and its group ends at this instant. What it is in the midst of is cut off, as where its
    /// time is over.
    pub(super) fn wait_for_the_end(&mut self, at: Instant, now: Instant) -> Next {
        self.break_off(now);
        if at <= now {
            return self.end(Ended::StopGroup);
        }
        self.phase = Phase::Over;
        Next::Pause(at.since(now))
    }

    /// How long a pause is now.
    pub(super) fn pause(&mut self, pause: &Pause, prepared: &Prepared, world: &mut World) -> Duration {
        let mut scope = self.scope(prepared, world);
        let ms = match pause {
            Pause::Scheduled(schedule) => return self.until_slot(schedule, world),
            // That is over by then.
            Pause::Meeting(_) => return Duration::ZERO,
            Pause::Constant { ms } => scope.number(ms),
            Pause::Uniform { offset_ms, range_ms } => {
                let (offset, range) = (scope.number(offset_ms), scope.number(range_ms));
                offset + range * random_unit(&mut scope.user.random)
            }
            Pause::Gaussian { offset_ms, deviation_ms } => {
                let (mean, deviation) = (scope.number(offset_ms), scope.number(deviation_ms));
                // Box and Muller; 1 − u is never 0, so that the logarithm is finite.
                let radius = libm::sqrt(-2.0 * libm::log(1.0 - random_unit(&mut scope.user.random)));
                let angle = std::f64::consts::TAU * random_unit(&mut scope.user.random);
                // What is below nothing counts as much above it, as in JMeter.
                (mean + deviation * radius * libm::cos(angle)).abs()
            }
            Pause::Poisson { offset_ms, mean_ms } => {
                let (offset, mean) = (scope.number(offset_ms), scope.number(mean_ms));
                let mean = mean.round().clamp(0.0, PAUSE_MS_MAX);
                (offset + poisson(&mut scope.user.random, mean)).abs()
            }
            Pause::Throughput { per_minute, of, .. } => {
                let per_minute = scope.number(per_minute);
                if per_minute <= 0.0 {
                    return Duration::ZERO;
                }
                let gap = Duration::from_secs_f64(60.0 / per_minute);
                return self.until_due((prepared.pace(pause), gap), *of, world);
            }
        };
        Duration::from_secs_f64(ms.clamp(0.0, PAUSE_MS_MAX) / 1e3)
    }

    /// Waits for others, unless it is the last for whom they wait.
    pub(super) fn meet(&mut self, meeting: &Meeting, world: &mut World) -> Option<Next> {
        let place = identity(meeting);
        if !world.meet(place, meeting.users, (self.user.group, self.user.number)) {
            return None;
        }
        self.waits_at = Some(place);
        self.unsent = 0;
        Some(Next::Wait(meeting.timeout))
    }

    /// How long it is until a request of a schedule is due, or until the schedule is over, which is kept in mind.
    fn until_slot(&mut self, schedule: &RateSchedule, world: &mut World) -> Duration {
        match world.slot(identity(schedule), schedule) {
            Slot::At(at) => at.since(world.now),
            Slot::Over(at) => {
                self.over = Some(at);
                at.since(world.now)
            }
        }
    }

    /// How long it is until a request of a rate is due. The first is due at once.
    fn until_due(&mut self, (rate, gap): (usize, Duration), of: Pacing, world: &mut World) -> Duration {
        let group = self.user.group;
        let gap = match of {
            Pacing::Group => return world.due((rate, group), gap).since(world.now),
            // JMeter counts what is left until its turn from its last one, and not from now.
            Pacing::GroupSinceLast => world.due((OF_ALL_TIMERS, group), gap).since(world.now),
            Pacing::User => gap,
            Pacing::PartOfGroup => gap * world.there(Some(group)),
            Pacing::PartOfLoad => gap * world.there(None),
        };
        let due = if let Some((_, last)) = self.user.paced.iter_mut().find(|(other, _)| *other == rate) {
            // Who is late does not make up for it, as in JMeter.
            *last = (*last + gap).max(world.now);
            *last
        } else {
            self.user.paced.push((rate, world.now));
            world.now
        };
        due.since(world.now)
    }
}
