//! What holds whatever goes wrong, over many seeds.

use std::num::NonZeroU32;

use agent::{ORPHANED_AFTER, planned};
use engine::{Arrivals, Load, Share};
use sim::laws;
use stats::Interval;
use units::{Duration, Seed};

use crate::world::{Chance, Troubles, World};

// A world of several machines takes some ten milliseconds. `make test-all` tries ten thousand.
laws! {
    few: 75, all: 2_000;
    the_books_hold_what_was_told_once_and_all_of_it,
    what_an_agent_took_with_it_is_counted_as_lost_exactly,
    a_load_that_nobody_watches_ends,
}

/// The latest that an agent may go on alone: its clock may go slow, and a second of load is told when it is over.
const ALONE_MAX: Duration = Duration::from_millis(30_100);
/// A way takes up to 0.94 ms in these worlds, and clocks go apart until the begin.
const BOUND_MAX: Duration = Duration::from_millis(2);

/// Whether all machines began when they should, as far as was promised.
fn begins_are_within_their_bounds(world: &World) {
    for (off, half) in &world.begins {
        assert!(*off <= *half + Duration::from_nanos(2), "off by {off}, and the bound is {half}");
        assert!(*half <= BOUND_MAX, "a bound of {half}");
    }
}

/// The books are what one sink of all samples would hold that were told, bit for bit.
fn books_are_those_of_one_sink(world: &World) {
    let mut one_sink = Interval::default();
    for (index, booked) in world.books.told.iter().enumerate() {
        let seconds: Vec<u64> = booked.seen.iter().map(|it| it.told_to.as_nanos() / 1_000_000_000).collect();
        one_sink.merge(&world.one_sink(index, &seconds));
    }
    assert_eq!(world.books.whole, one_sink);
}

fn share(world: &World, index: usize) -> Share {
    Share { index: index as u32, of: NonZeroU32::new(world.agents() as u32).unwrap() }
}

fn planned_by(world: &World, index: usize) -> u64 {
    planned(&world.plan, share(world, index), world.threads[index], None).expect("an open load")
}

/// What all shares plan together; of constant arrivals it is what one machine would.
fn planned_in_all(world: &World) -> u64 {
    let all = (0..world.agents()).map(|index| planned_by(world, index)).sum();
    if let Load::Open { arrivals: Arrivals::Constant(_), .. } = world.plan.load {
        assert_eq!(planned(&world.plan, Share::WHOLE, NonZeroU32::MIN, None), Some(all));
    }
    all
}

fn the_books_hold_what_was_told_once_and_all_of_it(seed: Seed) {
    let mut chance = Chance::new(seed.derive(99));
    let at = Duration::from_millis(chance.below(9_000));
    let away = Duration::from_millis(chance.below(20_000));
    let troubles = match chance.below(4) {
        0 => Troubles::default(),
        1 | 2 => Troubles { breaks_every_s: Some(1 + chance.below(4)), ..Troubles::default() },
        _ => Troubles { restarts: Some((at, away)), breaks_every_s: Some(5), ..Troubles::default() },
    };
    let mut world = World::new(seed, 1 + chance.below(4) as usize, troubles);
    world.run();
    assert!(world.books.finished, "{troubles:?}: {:?}", world.books.failed);
    assert_eq!(world.books.lost, []);
    assert!(world.books.told.iter().all(|booked| booked.done));
    begins_are_within_their_bounds(&world);
    books_are_those_of_one_sink(&world);
    assert_eq!(world.books.whole.tally.intended, planned_in_all(&world), "all that was due was told");
}

fn what_an_agent_took_with_it_is_counted_as_lost_exactly(seed: Seed) {
    let mut chance = Chance::new(seed.derive(98));
    let agents = 1 + chance.below(4) as usize;
    let dies_at = (chance.below(agents as u64) as usize, Duration::from_millis(chance.below(12_000)));
    let breaks_every_s = (chance.below(2) == 0).then_some(4);
    let troubles = Troubles { dies_at: Some(dies_at), breaks_every_s, ..Troubles::default() };
    let mut world = World::new(seed, agents, troubles);
    world.run();
    if let Some(why) = &world.books.failed {
        assert!(why.ends_with("nothing was sent"), "{why}");
        assert_eq!(world.books.whole, Interval::default());
        assert!(world.begins.is_empty());
        return;
    }
    books_are_those_of_one_sink(&world);
    let lost = &world.books.lost;
    assert!(lost.iter().all(|it| it.agent == dies_at.0) && lost.len() <= 1, "{lost:?}");
    let mut whole = world.books.whole.clone();
    for lost in lost {
        let told = world.books.told[lost.agent].intended;
        whole.record_lost(planned_by(&world, lost.agent).checked_sub(told).expect("no more than planned"));
    }
    let outcomes: u64 = whole.tally.outcomes().iter().map(|it| it.1).sum();
    assert_eq!((outcomes, whole.tally.intended), (planned_in_all(&world), planned_in_all(&world)));
    assert_eq!(whole.times.response.count(), whole.tally.intended);
    for (index, booked) in world.books.told.iter().enumerate() {
        assert_eq!(booked.done, !lost.iter().any(|it| it.agent == index));
    }
}

fn a_load_that_nobody_watches_ends(seed: Seed) {
    let mut chance = Chance::new(seed.derive(97));
    let at = Duration::from_millis(chance.below(4_000));
    let troubles = Troubles { conductor_dies_at: Some(at), ..Troubles::default() };
    let mut world = World::new(seed, 1 + chance.below(3) as usize, troubles);
    world.goes_on_for(Duration::from_secs(60));
    world.run();
    begins_are_within_their_bounds(&world);
    assert!(world.alone <= ALONE_MAX, "for {}, and {ORPHANED_AFTER} is the bound", world.alone);
}

/// The load is longer than agents go on alone, and whoever takes it over comes when they have ended it.
#[test]
fn what_agents_kept_while_nobody_conducted_is_told_once() {
    for number in 0..6 {
        let seed = Seed(number).derive(96);
        let mut chance = Chance::new(seed);
        let at = Duration::from_millis(chance.below(5_000));
        let away = Duration::from_millis(31_000 + chance.below(30_000));
        let troubles =
            Troubles { restarts: Some((at, away)), breaks_every_s: Some(5), ..Troubles::default() };
        let mut world = World::new(seed, 1 + chance.below(2) as usize, troubles);
        world.lasts(Duration::from_secs(60));
        world.run();
        assert!(world.books.finished, "{troubles:?}: {:?}", world.books.failed);
        assert_eq!(world.books.lost, []);
        assert!(world.books.told.iter().all(|booked| booked.done));
        books_are_those_of_one_sink(&world);
        assert!(world.books.whole.tally.intended < planned_in_all(&world), "it was ended before its time");
        assert!(world.alone <= ALONE_MAX, "for {}", world.alone);
    }
}
