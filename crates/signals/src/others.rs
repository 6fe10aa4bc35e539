//! Who else uses the CPU: every process there is, by name.
//!
//! A look at all of them costs some microseconds for each, so the sampler takes one as seldom as its budget demands. What
//! begins and ends between two looks is seen by neither; the machine's total has it, and no name.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

use record::NamedUse;
use units::{Duration, Instant};

use crate::clock::now;

/// So many names are kept apart; what others use beyond that has none.
const NAMES_MAX: usize = 256;
/// So many are told.
const TOLD_MAX: usize = 3;
/// CPU time a second from which a name is worth telling: of less than a hundredth of a core the ticks say nothing.
const TOLD_CORES_MIN: f64 = 0.01;

/// CPU time by name, growing from look to look.
#[derive(Debug, Default)]
pub(crate) struct Others {
    last: HashMap<i32, Seen>,
    used: BTreeMap<String, Duration>,
    has_looked: bool,
}

/// A process at a look. Its start tells it from another that was given the same number.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    started: u64,
    name: String,
    cpu: Duration,
}

impl Others {
    /// Looks at every process but `ours`, and gives what those of each name used since the first look.
    pub(crate) fn look(&mut self, ours: impl Fn(i32) -> bool) -> BTreeMap<String, Duration> {
        let entries = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        let now = pids.filter(|pid| !ours(*pid)).filter_map(|pid| Some((pid, seen(pid)?))).collect();
        self.add(now);
        self.used.clone()
    }

    fn add(&mut self, now: HashMap<i32, Seen>) {
        for (pid, seen) in &now {
            let before = self.last.get(pid).filter(|before| before.started == seen.started);
            // One that is new began at nothing since the last look; at the first look nothing is known of the time before.
            let then = before.map_or(Duration::ZERO, |before| before.cpu);
            let grown = seen.cpu.saturating_sub(then);
            if !self.has_looked || grown == Duration::ZERO {
                continue;
            }
            if let Some(used) = self.used.get_mut(&seen.name) {
                *used += grown;
            } else if self.used.len() < NAMES_MAX {
                self.used.insert(seen.name.clone(), grown);
            }
        }
        self.last = now;
        self.has_looked = true;
    }
}

/// The names that used the most between two looks, the greatest first.
pub(crate) fn most(
    before: &BTreeMap<String, Duration>,
    after: &BTreeMap<String, Duration>,
    between: Duration,
) -> Vec<NamedUse> {
    let between_s = between.as_secs_f64();
    if between_s <= 0.0 {
        return Vec::new();
    }
    let cores = |name: &String, used: &Duration| {
        used.saturating_sub(before.get(name).copied().unwrap_or(Duration::ZERO)).as_secs_f64() / between_s
    };
    let mut all: Vec<NamedUse> = after
        .iter()
        .map(|(name, used)| NamedUse { name: name.clone(), cores: cores(name, used) })
        .filter(|used| used.cores >= TOLD_CORES_MIN)
        .collect();
    all.sort_by(|a, b| b.cores.total_cmp(&a.cores).then_with(|| a.name.cmp(&b.name)));
    all.truncate(TOLD_MAX);
    all
}

/// Who used the CPU between two instants, this process apart.
#[derive(Debug)]
pub struct OtherProcesses {
    others: Others,
    begun: Instant,
}

impl OtherProcesses {
    /// Takes a first look.
    pub fn look() -> Self {
        let mut others = Others::default();
        others.look(is_own);
        Self { others, begun: now() }
    }

    /// Takes a second one, and names those that used the most meanwhile.
    pub fn most(self) -> Vec<NamedUse> {
        self.all_and_most().1
    }

    /// The same, behind the cores that all of them used together.
    pub fn all_and_most(mut self) -> (f64, Vec<NamedUse>) {
        let used = self.others.look(is_own);
        let between = now().since(self.begun);
        (cores_of_all(&used, between), most(&BTreeMap::new(), &used, between))
    }
}

fn cores_of_all(used: &BTreeMap<String, Duration>, between: Duration) -> f64 {
    let all = used.values().fold(Duration::ZERO, |sum, it| sum + *it);
    all.as_secs_f64() / between.as_secs_f64().max(f64::MIN_POSITIVE)
}

fn is_own(pid: i32) -> bool {
    pid == std::process::id().cast_signed()
}

fn seen(pid: i32) -> Option<Seen> {
    parse(&fs::read(Path::new("/proc").join(pid.to_string()).join("stat")).ok()?)
}

/// Its own time only: that of children it has waited for was theirs while they lived.
fn parse(stat: &[u8]) -> Option<Seen> {
    let open = stat.iter().position(|byte| *byte == b'(')?;
    let close = stat.iter().rposition(|byte| *byte == b')')?;
    let name = String::from_utf8_lossy(stat.get(open + 1..close)?).into_owned();
    let fields: Vec<&str> =
        std::str::from_utf8(stat.get(close + 1..)?).ok()?.split_ascii_whitespace().take(20).collect();
    let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
    let ticks = number(11)? + number(12)?;
    let cpu = Duration::from_secs(ticks) / rustix::param::clock_ticks_per_second();
    Some(Seen { started: number(19)?, name, cpu })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, started: u64, secs: u64) -> Seen {
        Seen { started, name: name.to_owned(), cpu: Duration::from_secs(secs) }
    }

    #[test]
    fn time_is_added_by_name_and_what_was_before_is_nobodys() {
        let mut others = Others::default();
        others.add([(1, of("java", 1, 100)), (2, of("idle", 1, 3))].into());
        assert!(others.used.is_empty());
        // Another java that is new; the number 2 was given to somebody else, who began at nothing.
        others.add([(1, of("java", 1, 104)), (3, of("java", 9, 2)), (2, of("rustc", 8, 1))].into());
        let secs = Duration::from_secs;
        assert_eq!(others.used, [("java".to_owned(), secs(6)), ("rustc".to_owned(), secs(1))].into());
        // What has ended keeps what it used.
        others.add(HashMap::new());
        let told = most(&BTreeMap::new(), &others.used, secs(10));
        let told: Vec<(&str, f64)> = told.iter().map(|it| (it.name.as_str(), it.cores)).collect();
        assert_eq!(told, [("java", 0.6), ("rustc", 0.1)]);
    }

    #[test]
    fn three_are_told_and_none_for_a_tick() {
        let used = |names: &[(&str, u64)]| -> BTreeMap<String, Duration> {
            names.iter().map(|(name, millis)| ((*name).to_owned(), Duration::from_millis(*millis))).collect()
        };
        let after = used(&[("a", 400), ("b", 900), ("c", 300), ("d", 200), ("e", 5)]);
        let told = most(&used(&[("b", 850)]), &after, Duration::from_secs(1));
        let names: Vec<&str> = told.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["a", "c", "d"]);
        assert!(most(&BTreeMap::new(), &after, Duration::ZERO).is_empty());
        assert!(most(&BTreeMap::new(), &used(&[("e", 5)]), Duration::from_secs(1)).is_empty());
    }

    #[test]
    fn where_nobody_used_anything_it_is_nothing_without_a_sign() {
        assert!(cores_of_all(&BTreeMap::new(), Duration::from_secs(1)).is_sign_positive());
    }

    #[test]
    fn names_have_a_bound() {
        let mut others = Others::default();
        others.add(HashMap::new());
        let many = (0..1000).map(|pid| (pid, of(&format!("p{pid}"), 1, 1))).collect();
        others.add(many);
        assert_eq!(others.used.len(), NAMES_MAX);
    }

    #[test]
    fn a_name_may_hold_anything_and_children_count_for_themselves() {
        let stat = b"42 (a) b (c)) S 7 9 9 0 -1 4194560 1 2 3 4 100 20 3 1 20 0 1 0 555 6 7";
        let seen = parse(stat).unwrap();
        assert_eq!((seen.name.as_str(), seen.started), ("a) b (c)", 555));
        assert_eq!(seen.cpu, Duration::from_secs(120) / rustix::param::clock_ticks_per_second());
        assert_eq!(parse(b"42 (cut off"), None);
    }

    #[test]
    fn a_process_that_computes_is_named_and_this_one_is_not() {
        let mut child = std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        let pid = child.id().cast_signed();
        let mut others = Others::default();
        others.look(is_own);
        std::thread::sleep(std::time::Duration::from_millis(300));
        let used = others.look(is_own);
        // Killing and reaping what this test started.
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(others.last.contains_key(&pid), "it was looked at");
        assert!(used.get("sh").is_some_and(|cpu| *cpu > Duration::ZERO), "{used:?}");
        assert!(!others.last.contains_key(&std::process::id().cast_signed()));
    }
}
