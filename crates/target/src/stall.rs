//! When the server stands still, as a function of the clock alone.

use units::{Duration, Instant};

use crate::config::Stall;

/// A [`Stall`] counted from an origin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StallClock {
    origin: Instant,
    stall: Stall,
}

impl StallClock {
    pub(crate) fn new(origin: Instant, stall: Stall) -> Self {
        Self { origin, stall }
    }

    /// The end of the stall that `now` lies in; `None` outside of one.
    pub(crate) fn end_of_stall(self, now: Instant) -> Option<Instant> {
        let every = self.stall.every.as_nanos();
        let into_period = Duration::from_nanos(now.since(self.origin).as_nanos() % every);
        let left = self.stall.every.saturating_sub(into_period);
        (left <= self.stall.for_).then(|| now + left)
    }

    /// How many stalls began before `until`, however many that are.
    pub(crate) fn count(self, until: Instant) -> u64 {
        let last_end = until.since(self.origin) + self.stall.for_;
        last_end.as_nanos().saturating_sub(1) / self.stall.every.as_nanos()
    }

    /// The stalls that began before `until`, as (begin, end), oldest first.
    pub(crate) fn windows(self, until: Instant) -> impl Iterator<Item = (Instant, Instant)> {
        let Self { origin, stall } = self;
        (1u64..)
            .map(move |n| origin + stall.every * n)
            .map(move |end| (end - stall.for_, end))
            .take_while(move |(begin, _)| *begin < until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOCK: StallClock = StallClock {
        origin: Instant::from_nanos(1_000),
        stall: Stall { for_: Duration::from_nanos(20), every: Duration::from_nanos(100) },
    };

    #[test]
    fn stands_still_at_the_end_of_each_period() {
        for (now, end) in [
            (1_000, None),
            (1_079, None),
            (1_080, Some(1_100)),
            (1_099, Some(1_100)),
            (1_100, None),
            (1_285, Some(1_300)),
        ] {
            assert_eq!(CLOCK.end_of_stall(Instant::from_nanos(now)), end.map(Instant::from_nanos), "{now}");
        }
    }

    #[test]
    fn counts_as_many_as_it_lists_and_any_number_at_once() {
        for until in 1_000..1_500 {
            let until = Instant::from_nanos(until);
            assert_eq!(CLOCK.count(until), CLOCK.windows(until).count() as u64, "{until:?}");
        }
        let stall = Stall { for_: Duration::from_nanos(1), every: Duration::from_nanos(2) };
        let day = Instant::ORIGIN + Duration::from_secs(86_400);
        assert_eq!(StallClock::new(Instant::ORIGIN, stall).count(day), 43_200_000_000_000);
    }

    #[test]
    fn lists_the_stalls_that_began() {
        let windows: Vec<_> = CLOCK
            .windows(Instant::from_nanos(1_181))
            .map(|(begin, end)| (begin.as_nanos(), end.as_nanos()))
            .collect();
        assert_eq!(windows, [(1_080, 1_100), (1_180, 1_200)]);
    }
}
