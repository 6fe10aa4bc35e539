//! Shares of shares make exactly the load, whichever number of threads carries each.

use engine::Schedule;
use proptest::prelude::*;
use units::Instant;

use super::*;

fn share(index: usize, of: usize) -> Share {
    Share { index: index as u32, of: NonZeroU32::new(of as u32).unwrap() }
}

/// The configurations of all threads of all machines.
fn nested(plan: &LoadPlan, threads: &[u32]) -> Vec<Config> {
    let request = Request { bytes: [][..].into(), kind: http::RequestKind::Ordinary };
    let of_machine = |(index, count): (usize, &u32)| {
        let count = NonZeroU32::new(*count).unwrap();
        plan.configs_of(share(index, threads.len()), count, &request, &Expect::default())
    };
    threads.iter().enumerate().flat_map(of_machine).collect()
}

fn dues(config: &Config, start: Instant) -> Vec<Instant> {
    let Load::Open { arrivals, .. } = config.load else { panic!("an open load") };
    let mut schedule = Schedule::new(start, arrivals, config.share, config.seed);
    let due = |_| {
        let due = schedule.due();
        schedule.advance();
        due
    };
    (0..config.stop.requests.unwrap().get()).map(due).collect()
}

proptest! {
    #[test]
    fn the_union_of_nested_shares_is_the_schedule_and_nothing_is_lost(
        threads in prop::collection::vec(1u32..8, 1..12),
        rate in prop::sample::select(vec![3.0, 10.0, 997.0, 1234.5, 10_000.0, 99_999.9]),
        start_ns in 0u64..1_000_000_000,
        more in 0u32..500,
    ) {
        let parts: u32 = threads.iter().sum();
        // As many of each as give every thread one, however they are dealt out.
        let enough = threads.len() as u32 * 8 + more;
        let plan = LoadPlan::new(&LoadArguments {
            connections: Some(enough),
            rate: Rate::per_sec(rate),
            requests: Some(enough.into()),
            backlog_max: Some(enough),
            ..LoadArguments::default()
        }).unwrap();
        let configs = nested(&plan, &threads);
        prop_assert_eq!(configs.len() as u32, parts);
        let start = Instant::from_nanos(start_ns);
        let mut union: Vec<Instant> = configs.iter().flat_map(|it| dues(it, start)).collect();
        union.sort_unstable();
        let whole = Config { share: Share::WHOLE, stop: plan.stop, ..configs[0].clone() };
        prop_assert_eq!(union, dues(&whole, start));
        prop_assert_eq!(configs.iter().map(|it| it.connections.get()).sum::<u32>(), enough);
        let backlogs = configs.iter().map(|it| match it.load {
            Load::Open { backlog_max, .. } => backlog_max.get(),
            _ => 0,
        });
        prop_assert_eq!(backlogs.sum::<u32>(), enough);
        // Every user has one turn, and connections are numbered through.
        let mut turns: Vec<u32> = configs.iter()
            .flat_map(|it| (0..it.connections.get()).map(|slot| slot * it.share.of.get() + it.share.index))
            .collect();
        turns.sort_unstable();
        prop_assert!(turns.into_iter().eq(0..enough));
        let last = share(threads.len() - 1, threads.len());
        let held = last.part_of(enough.into()) as u32;
        prop_assert_eq!(plan.connections_before(last) + held, enough);
    }
}

#[test]
fn as_many_shares_as_each_can_have_a_part_of_all() {
    let base = || LoadArguments { connections: Some(20), ..LoadArguments::default() };
    let rate = Rate::per_sec(10.0);
    for (arguments, most) in [
        (base(), 20),
        (LoadArguments { requests: Some(7), ..base() }, 7),
        (LoadArguments { rate, backlog_max: Some(5), ..base() }, 5),
    ] {
        assert_eq!(LoadPlan::new(&arguments).unwrap().shares_max(), most);
    }
}
