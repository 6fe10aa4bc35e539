//! How many requests a share of an open load is to make, whether or not anybody tells of them.

use std::num::NonZeroU32;

use engine::{Config, Expect, Load, Request, Schedule, Share};
use http::RequestKind;
use plan::LoadPlan;
use units::{Duration, Instant};

/// The requests that are due within the window in `share` of `plan`, carried by so many threads, if the load ends `until`
/// after its begin or with its window; `None` in the closed model, where that depends on the server.
pub fn planned(plan: &LoadPlan, share: Share, threads: NonZeroU32, until: Option<Duration>) -> Option<u64> {
    if !matches!(plan.load, Load::Open { .. }) {
        return None;
    }
    let request = Request { bytes: [].into(), kind: RequestKind::Ordinary };
    let configs = plan.configs_of(share, threads, &request, &Expect::default());
    Some(configs.iter().map(|config| of_thread(config, until)).sum())
}

fn of_thread(config: &Config, until: Option<Duration>) -> u64 {
    let Load::Open { arrivals, .. } = config.load else { return 0 };
    let mut schedule = Schedule::new(Instant::ORIGIN, arrivals, config.share, config.seed);
    let start = Instant::ORIGIN + config.warm_up;
    let end = (start + config.stop.duration).min(Instant::ORIGIN + until.unwrap_or(Duration::MAX));
    let mut left = config.stop.requests.map_or(u64::MAX, std::num::NonZeroU64::get);
    let mut count = 0;
    while schedule.due() < end && left > 0 {
        count += u64::from(schedule.due() >= start);
        left -= 1;
        schedule.advance();
    }
    count
}

#[cfg(test)]
mod tests {
    use plan::LoadArguments;
    use units::Rate;

    use super::*;

    fn part(index: u32, of: u32) -> Share {
        Share { index, of: NonZeroU32::new(of).unwrap() }
    }

    #[test]
    fn what_all_shares_plan_is_what_the_whole_does() {
        let base = || LoadArguments {
            connections: Some(100),
            rate: Rate::per_sec(997.0),
            duration: Some(Duration::from_millis(2500)),
            ..LoadArguments::default()
        };
        let warm_up = Some(Duration::from_millis(300));
        for (arguments, whole) in [
            (base(), 2493),
            (LoadArguments { warm_up, ..base() }, 2492),
            (LoadArguments { requests: Some(1000), ..base() }, 1000),
            (LoadArguments { requests: Some(1000), warm_up, ..base() }, 700),
        ] {
            let plan = LoadPlan::new(&arguments).unwrap();
            let planned = |index: u32, of: u32, threads: u32| {
                super::planned(&plan, part(index, of), NonZeroU32::new(threads).unwrap(), None).unwrap()
            };
            assert_eq!(planned(0, 1, 1), whole);
            assert_eq!((0..3).map(|index| planned(index, 3, 1 + index)).sum::<u64>(), whole);
        }
        let closed = LoadPlan::new(&LoadArguments::default()).unwrap();
        assert_eq!(super::planned(&closed, Share::WHOLE, NonZeroU32::MIN, None), None);
        let plan = LoadPlan::new(&base()).unwrap();
        let half = Some(Duration::from_millis(500));
        assert_eq!(super::planned(&plan, Share::WHOLE, NonZeroU32::MIN, half), Some(499));
    }
}
