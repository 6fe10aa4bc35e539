//! Threads by group: what those with one name did, and which of them did it.

use std::collections::{BTreeMap, BTreeSet};

use record::{GroupReading, Runtime, ThreadBand, ThreadGroupUse};
use units::Duration;

use crate::group_name::{KEPT_BYTES, group_name};
use crate::sampler::ThreadReading;

/// Bands of a group that are kept; the rest is added to the last.
const BANDS_MAX: usize = 8;
/// How much more often than the next a thread was given a CPU where a band ends: twice as often, and by more than counts of a
/// few differ by chance.
const BAND_RATIO: u64 = 2;
const BAND_COUNTS: u64 = 4;

/// What is known of threads and their processes beside what they do.
#[derive(Default)]
pub(crate) struct Names<'a> {
    /// As the kernel keeps them.
    pub(crate) kernel: Option<&'a BTreeMap<i32, String>>,
    pub(crate) whole: Option<&'a BTreeMap<i32, String>>,
    /// By process.
    pub(crate) runtimes: Option<&'a BTreeMap<i32, Runtime>>,
}

impl Names<'_> {
    /// The group of a thread, and whether its name may be cut off.
    fn group(&self, id: i32) -> (String, bool) {
        let whole = self.whole.and_then(|names| names.get(&id));
        let kernel = self.kernel.and_then(|names| names.get(&id));
        match (whole, kernel) {
            (Some(name), _) => (group_name(name), false),
            (None, Some(name)) => (group_name(name), name.len() >= KEPT_BYTES),
            (None, None) => ("?".into(), false),
        }
    }

    fn runtime(&self, process: i32) -> Option<Runtime> {
        self.runtimes?.get(&process).copied()
    }
}

/// What one thread did between two looks.
#[derive(Clone, Copy)]
struct Did {
    process: i32,
    /// Whether it was there at the last look at its group.
    stayed: bool,
    cpu_cores: f64,
    wait_cores: f64,
    switches: u64,
}

impl Did {
    const fn is_active(&self) -> bool {
        self.switches > 0 || self.cpu_cores > 0.0
    }
}

/// What groups of threads did from the first to the last of some looks at them, the one with the most CPU time first. A
/// thread that was not there at first began at nothing, and of one that has ended the last look counts.
pub(crate) fn uses(looks: &[&[ThreadReading]], between: Duration, names: &Names<'_>) -> Vec<ThreadGroupUse> {
    let between_s = between.as_secs_f64();
    if between_s <= 0.0 {
        return Vec::new();
    }
    let by_id = |look: &'_ [ThreadReading]| -> BTreeMap<i32, ThreadReading> {
        look.iter().map(|thread| (thread.id, *thread)).collect()
    };
    let before = looks.first().map(|look| by_id(look)).unwrap_or_default();
    let mut last = BTreeMap::new();
    for look in looks {
        last.append(&mut by_id(look));
    }
    let mut members: BTreeMap<String, (bool, Vec<Did>)> = BTreeMap::new();
    let at_the_end = at_the_end(looks, names);
    for thread in last.values() {
        let (name, cut) = names.group(thread.id);
        let then = before.get(&thread.id);
        let since = |now: Duration, then: Option<Duration>| {
            now.saturating_sub(then.unwrap_or(Duration::ZERO)).as_secs_f64() / between_s
        };
        let did = Did {
            process: thread.process,
            stayed: at_the_end.get(&name).is_some_and(|ids| ids.contains(&thread.id)),
            cpu_cores: since(thread.cpu, then.map(|it| it.cpu)),
            wait_cores: since(thread.waited, then.map(|it| it.waited)),
            switches: thread.switches.saturating_sub(then.map_or(0, |it| it.switches)),
        };
        let (is_cut, all) = members.entry(name).or_default();
        *is_cut |= cut;
        all.push(did);
    }
    let used = |(name, (cut, all)): (String, (bool, Vec<Did>))| {
        let threads = at_the_end.get(&name).map_or(0, BTreeSet::len) as u32;
        ThreadGroupUse { name, cut, threads, ..use_of(&all, between_s, names) }
    };
    let mut groups: Vec<ThreadGroupUse> = members.into_iter().map(used).collect();
    groups.sort_by(|a, b| b.cpu_cores.total_cmp(&a.cpu_cores).then_with(|| a.name.cmp(&b.name)));
    groups
}

/// The threads of each group at the last look at which it had any: load threads are gone when the load is.
fn at_the_end(looks: &[&[ThreadReading]], names: &Names<'_>) -> BTreeMap<String, BTreeSet<i32>> {
    let mut ids: BTreeMap<String, BTreeSet<i32>> = BTreeMap::new();
    for look in looks.iter().rev() {
        let mut of_look: BTreeMap<String, BTreeSet<i32>> = BTreeMap::new();
        for thread in *look {
            of_look.entry(names.group(thread.id).0).or_default().insert(thread.id);
        }
        for (name, there) in of_look {
            ids.entry(name).or_insert(there);
        }
    }
    ids
}

/// What threads did together, and which of them.
fn use_of(all: &[Did], between_s: f64, names: &Names<'_>) -> ThreadGroupUse {
    let busiest = all.iter().max_by(|a, b| a.cpu_cores.total_cmp(&b.cpu_cores));
    let runtimes: Vec<Option<Runtime>> = all.iter().map(|it| names.runtime(it.process)).collect();
    let is_one = runtimes.windows(2).all(|pair| pair[0] == pair[1]);
    ThreadGroupUse {
        cpu_cores: all.iter().map(|it| it.cpu_cores).sum(),
        busiest_cores: busiest.map_or(0.0, |it| it.cpu_cores),
        busiest_wait_cores: busiest.map(|it| it.wait_cores),
        wait_cores: all.iter().map(|it| it.wait_cores).sum(),
        switches_per_s: all.iter().map(|it| it.switches).sum::<u64>() as f64 / between_s,
        active: all.iter().filter(|it| it.is_active()).count() as u32,
        bands: bands(all, between_s),
        runtime: runtimes.first().copied().flatten().filter(|_| is_one),
        ..ThreadGroupUse::default()
    }
}

/// Threads that stayed and did anything, in bands of those that were given a CPU about equally often.
fn bands(all: &[Did], between_s: f64) -> Vec<ThreadBand> {
    let mut active: Vec<&Did> = all.iter().filter(|it| it.stayed && it.is_active()).collect();
    active.sort_by_key(|it| std::cmp::Reverse(it.switches));
    let mut bands: Vec<Vec<&Did>> = Vec::new();
    for did in active {
        let is_full = bands.len() >= BANDS_MAX;
        match bands.last_mut() {
            Some(band) if is_full || band.last().is_none_or(|last| is_alike(last, did)) => band.push(did),
            _ => bands.push(vec![did]),
        }
    }
    let band = |band: Vec<&Did>| ThreadBand {
        threads: band.len() as u32,
        processes: band.iter().map(|it| it.process).collect::<BTreeSet<i32>>().len() as u32,
        cpu_cores: band.iter().map(|it| it.cpu_cores).sum(),
        switches_per_s: band.iter().map(|it| it.switches).sum::<u64>() as f64 / between_s,
    };
    bands.into_iter().map(band).collect()
}

const fn is_alike(more: &Did, less: &Did) -> bool {
    more.switches <= BAND_RATIO * less.switches + BAND_COUNTS
}

/// What is kept of threads at an instant: sums, by group.
pub(crate) fn groups_of(threads: &[ThreadReading], names: &Names<'_>) -> BTreeMap<String, GroupReading> {
    let mut groups: BTreeMap<String, GroupReading> = BTreeMap::new();
    for thread in threads {
        let group = groups.entry(names.group(thread.id).0).or_default();
        group.threads += 1;
        group.runnable += u32::from(thread.runnable);
        group.cpu_s += thread.cpu.as_secs_f64();
        group.wait_s += thread.waited.as_secs_f64();
        group.switches += thread.switches;
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    fn thread(id: i32, cpu_s: f64, switches: u64) -> ThreadReading {
        let cpu = Duration::from_secs_f64(cpu_s);
        ThreadReading { id, process: id / 10, runnable: false, cpu, waited: cpu / 2, switches }
    }

    /// What threads did in a second, from nothing on.
    fn after_a_second(threads: &[ThreadReading], names: &Names<'_>) -> ThreadGroupUse {
        uses(&[&[], threads], Duration::from_secs(1), names).remove(0)
    }

    fn sizes(group: &ThreadGroupUse) -> Vec<(u32, u32)> {
        group.bands.iter().map(|it| (it.threads, it.processes)).collect()
    }

    #[test]
    fn a_thread_that_is_new_began_at_nothing_and_one_that_ended_counts_until_then() {
        let names = Names::default();
        let second = Duration::from_secs(1);
        let looks: [&[ThreadReading]; 3] =
            [&[thread(1, 1.0, 10)], &[thread(1, 3.0, 20), thread(2, 1.0, 4)], &[thread(2, 1.5, 5)]];
        let groups = uses(&looks, second, &names);
        assert!(close(groups[0].cpu_cores, 3.5) && close(groups[0].busiest_cores, 2.0), "{groups:?}");
        assert!(close(groups[0].switches_per_s, 15.0) && groups[0].threads == 1, "{groups:?}");
        // All have ended.
        let groups = uses(&[looks[0], looks[1], &[]], second, &names);
        assert_eq!((groups[0].threads, groups[0].active), (2, 2), "{groups:?}");
        assert!(uses(&[&[], &[thread(1, 1.0, 1)]], Duration::ZERO, &names).is_empty());
    }

    /// Seven threads of one name, of which one works.
    #[test]
    fn one_busy_thread_is_a_band_of_its_own_whoever_its_siblings_are() {
        let mut threads = vec![thread(10, 0.9, 2_000)];
        threads.extend((11..15).map(|id| thread(id, 0.004, 30)));
        threads.extend([thread(15, 0.0, 0), thread(16, 0.0, 0)]);
        let runtimes = [(1, Runtime::JavaScript)].into();
        let names = Names { runtimes: Some(&runtimes), ..Names::default() };
        let group = after_a_second(&threads, &names);
        assert_eq!((group.threads, group.active, group.runtime), (7, 5, Some(Runtime::JavaScript)));
        assert_eq!(sizes(&group), [(1, 1), (4, 1)]);
        assert!(close(group.bands[0].cpu_cores, 0.9) && close(group.bands[1].switches_per_s, 120.0));
        assert!(close(group.busiest_wait_cores.unwrap(), 0.45), "{group:?}");
    }

    #[test]
    fn workers_in_processes_are_told_from_the_parent_beside_them() {
        for workers in [3, 12] {
            let mut threads: Vec<ThreadReading> =
                (1..=workers).map(|it| thread(it * 10, 0.1, 40 + it as u64)).collect();
            threads.push(thread(1_000, 0.0, 1));
            let group = after_a_second(&threads, &Names::default());
            assert_eq!(sizes(&group), [(workers as u32, workers as u32), (1, 1)], "{group:?}");
        }
    }

    #[test]
    fn counts_of_a_few_differ_by_chance_and_bands_are_few() {
        let threads: Vec<ThreadReading> =
            [(1, 6), (2, 4), (3, 5), (4, 3)].map(|(id, switches)| thread(id, 0.0, switches)).into();
        assert_eq!(sizes(&after_a_second(&threads, &Names::default())), [(4, 1)]);
        let all_different: Vec<ThreadReading> =
            (0..30).map(|id| thread(id, 0.0, 5 * 3_u64.pow(id as u32))).collect();
        let group = after_a_second(&all_different, &Names::default());
        assert_eq!(group.bands.len(), BANDS_MAX);
        assert_eq!(group.bands.iter().map(|it| it.threads).sum::<u32>(), 30);
    }

    #[test]
    fn threads_that_end_before_the_end_are_in_no_band() {
        let (first, last) = ([thread(1, 0.1, 50), thread(2, 0.1, 50)], [thread(2, 0.2, 100)]);
        let group = uses(&[&first, &last], Duration::from_secs(1), &Names::default()).remove(0);
        assert_eq!((group.threads, sizes(&group)), (1, vec![(1, 1)]), "{group:?}");
    }
}
