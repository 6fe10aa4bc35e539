//! In whose CPU time the kernel books interrupts.
//!
//! On loopback half of a network's work is done in software interrupts, on the back of the thread that sends. A kernel that was
//! built with `IRQ_TIME_ACCOUNTING` takes that time out of the thread's own; any other leaves it there, and `/proc/stat` counts
//! it once more under `softirq`. Whoever adds the two gets more cores than the machine has.
//!
//! What the kernel does on threads of its own (`ksoftirqd`) or while a core is idle is in no process's time. On loopback that
//! was 1 % of all interrupts, and it counts among the others.

use std::fs::File;
use std::io::Read;
use std::sync::OnceLock;

use flate2::read::GzDecoder;

/// Cores of each core by which processes may exceed what the kernel's ticks have seen of them before that is more than the
/// ticks' grain: a hundredth of a second in a fifth of one.
const TICKS_GRAIN: f64 = 0.05;
/// A kernel's configuration has some 300 kB.
const CONFIG_BYTES_MAX: u64 = 4 << 20;

/// What the machine did over a while, cores kept busy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MachineCores {
    /// Cores that there are.
    pub cores: u32,
    /// In user mode and in the kernel on behalf of processes, without interrupts, by the kernel's ticks.
    pub busy: f64,
    /// In interrupts and what follows them, by the kernel's ticks.
    pub interrupts: f64,
    /// What the kernel's configuration says of [`MachineCores::interrupts_within`]; `None` where it can't be read.
    pub configured_within: Option<bool>,
}

impl MachineCores {
    /// Whether the CPU time of processes holds the interrupts that were served on their backs, given what those that are known
    /// used. `None` where that is not known; then `ours` and the interrupts together are no more than the machine used.
    pub fn interrupts_within(&self, ours: f64) -> Option<bool> {
        let exceeds = ours > self.busy + TICKS_GRAIN * f64::from(self.cores.max(1));
        if exceeds { Some(true) } else { self.configured_within }
    }

    /// What all processes but `ours` used.
    pub fn others(&self, ours: f64) -> f64 {
        let within = if self.interrupts_within(ours) == Some(true) { self.interrupts } else { 0.0 };
        (self.busy + within - ours).max(0.0)
    }
}

/// Whether this kernel books interrupts in the time of the process that they interrupt; `None` where its configuration can't be
/// read. Read once.
pub(crate) fn interrupts_are_within() -> Option<bool> {
    static WITHIN: OnceLock<Option<bool>> = OnceLock::new();
    *WITHIN.get_or_init(|| kernel_config().as_deref().and_then(are_within))
}

/// `/proc/config.gz`, or what a distribution puts beside its kernel.
fn kernel_config() -> Option<String> {
    let mut text = String::new();
    if let Ok(file) = File::open("/proc/config.gz") {
        GzDecoder::new(file).take(CONFIG_BYTES_MAX).read_to_string(&mut text).ok()?;
        return Some(text);
    }
    let release = rustix::system::uname();
    let file = File::open(format!("/boot/config-{}", release.release().to_str().ok()?)).ok()?;
    file.take(CONFIG_BYTES_MAX).read_to_string(&mut text).ok()?;
    Some(text)
}

/// What a configuration says; `None` where it is none, or that of an architecture without the choice.
fn are_within(config: &str) -> Option<bool> {
    const OPTION: &str = "CONFIG_IRQ_TIME_ACCOUNTING";
    config.lines().find_map(|line| {
        let line = line.trim();
        if line == format!("{OPTION}=y") {
            return Some(false);
        }
        (line == format!("# {OPTION} is not set")).then_some(true)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(busy: f64, interrupts: f64, configured_within: Option<bool>) -> MachineCores {
        MachineCores { cores: 2, busy, interrupts, configured_within }
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    /// nginx and its client on loopback, as measured on a kernel without IRQ_TIME_ACCOUNTING: 1.87 cores of their own, of which
    /// the ticks saw 1.22 outside of interrupts.
    #[test]
    fn interrupts_that_are_within_are_not_taken_for_a_lack_of_others() {
        let full = machine(1.22, 0.67, Some(true));
        assert_eq!(full.interrupts_within(1.87), Some(true));
        assert!(close(full.others(1.87), 0.02));
        // A neighbour with half a core, hidden behind as much in interrupts.
        assert!(close(machine(1.30, 0.40, Some(true)).others(1.2), 0.5));
    }

    #[test]
    fn interrupts_that_are_apart_are_nobodys() {
        let apart = machine(1.22, 0.67, Some(false));
        assert_eq!(apart.interrupts_within(1.2), Some(false));
        assert!(close(apart.others(1.2), 0.02));
    }

    #[test]
    fn figures_say_it_where_the_configuration_does_not() {
        assert_eq!(machine(1.22, 0.67, None).interrupts_within(1.87), Some(true));
        assert_eq!(machine(1.22, 0.67, None).interrupts_within(1.2), None);
        // Or contradicts them: a kernel may leave it off that has it.
        assert_eq!(machine(1.22, 0.67, Some(false)).interrupts_within(1.87), Some(true));
        // Within the ticks' grain nothing is said.
        assert_eq!(machine(1.22, 0.67, None).interrupts_within(1.3), None);
    }

    #[test]
    fn a_configuration_is_read_by_its_own_words() {
        assert_eq!(are_within("CONFIG_HZ=250\n# CONFIG_IRQ_TIME_ACCOUNTING is not set\n"), Some(true));
        assert_eq!(
            are_within("CONFIG_HAVE_IRQ_TIME_ACCOUNTING=y\nCONFIG_IRQ_TIME_ACCOUNTING=y\n"),
            Some(false)
        );
        assert_eq!(are_within("CONFIG_HAVE_IRQ_TIME_ACCOUNTING=y\n"), None);
        assert_eq!(are_within(""), None);
    }
}
