//! Measurements that have the machine to themselves, as far as that is ours to say.

use std::fs;
use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// One test at a time.
static TURN: Mutex<()> = Mutex::new(());
/// Share of the machine's CPU time beyond which it was not ours.
const OTHERS_MAX: f64 = 0.05;
/// Measurements of a machine that is not ours before it is given up, and how long others get to end between them.
const VOID_MAX: usize = 5;
const PAUSE: std::time::Duration = std::time::Duration::from_secs(3);

/// Waits until no other test of this binary goes on.
pub fn alone() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Measures with no other test beside. The first word counts, unless others than this test's processes used the machine
/// meanwhile: then a figure that is not as it should be says nothing, and it is measured again. A machine that is never
/// ours fails the test, and says so: what was not tried has not passed. `cargo xtask luck` counts the tries.
pub fn measured_alone(measure: impl Fn() -> Result<(), String>) {
    let _turn = alone();
    let mut void = Vec::new();
    while void.len() < VOID_MAX {
        let before = CpuTime::now();
        let Err(wrong) = measure() else {
            tell_tries("", void.len() + 1);
            return;
        };
        let others = CpuTime::now().others_since(&before);
        assert!(others > OTHERS_MAX, "{wrong}");
        let used = format!("others used {:.0} % of the machine, so this says nothing", others * 100.0);
        eprintln!("VOID {used}: {wrong}");
        void.push(format!("{used}: {wrong}"));
        std::thread::sleep(PAUSE);
    }
    tell_tries("", void.len());
    panic!("not tried; run it again while nothing else uses the machine:\n{}", void.join("\n"));
}

/// Says how often the test of this thread measured, or a part of it, also where it passes and what it prints is not shown.
pub fn tell_tries(part: &str, times: usize) {
    let thread = std::thread::current();
    let line = format!("TRIED {}{part} {times}\n", thread.name().unwrap_or_default());
    // In one piece: others write there, too.
    #[expect(
        clippy::disallowed_methods,
        reason = "what tests print by macros is shown of those that fail alone"
    )]
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// CPU time since the machine started, in ticks.
struct CpuTime {
    /// Of all cores, whether used or not.
    machine: f64,
    /// Used by programs, the kernel for them, and other guests of the host. Interrupts are nobody's.
    used: f64,
    /// Used by this process and its children that have ended.
    ours: f64,
}

impl CpuTime {
    fn now() -> Self {
        let ours = fs::read_to_string("/proc/self/stat").expect("proc is mounted");
        let (_, ours) = ours.rsplit_once(") ").expect("a name in brackets");
        let machine = fs::read_to_string("/proc/stat").expect("proc is mounted");
        let machine = machine.lines().next().expect("the sum of all cores comes first");
        let [ours, machine] = [ours, machine].map(|line| {
            line.split_whitespace().skip(1).map(|word| word.parse().unwrap_or(0.0)).collect::<Vec<f64>>()
        });
        // User, nice, system, idle, waiting, two kinds of interrupts, stolen.
        let [user, nice, system, .., stolen] = machine[..8] else { panic!("{machine:?}") };
        Self {
            machine: machine[..8].iter().sum(),
            used: user + nice + system + stolen,
            ours: ours[10..14].iter().sum(),
        }
    }

    /// The share of the machine that others used.
    fn others_since(&self, before: &Self) -> f64 {
        let others = (self.used - before.used) - (self.ours - before.ours);
        others / (self.machine - before.machine).max(1.0)
    }
}

/// What the rule rests on: what our children use is ours, and idle cores are nobody's.
#[test]
fn a_childs_time_is_not_that_of_others() {
    let _turn = alone();
    let before = CpuTime::now();
    let burn = ["-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"];
    assert!(std::process::Command::new("sh").args(burn).status().unwrap().success());
    let after = CpuTime::now();
    assert!(after.ours > before.ours, "a child's time is counted when it has ended");
    assert!(after.machine > before.machine && after.used >= before.used);
}
