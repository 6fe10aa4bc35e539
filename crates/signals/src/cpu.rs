//! Who used how much of the CPU so far: what a view shows while a load goes on.

use record::HostReading;
use units::Instant;

use crate::clock::now;
use crate::process::Process;
use crate::{accounting, machine};

/// CPU time so far, in seconds, each since some start of its own: only what lies between two readings means anything.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CpuReading {
    /// On the clock of the load (CLOCK_MONOTONIC).
    pub at: Instant,
    /// What makes the load.
    pub generator_s: f64,
    /// The stack and what stands behind it; `None` where it is not ours to watch.
    pub servers_s: Option<f64>,
    /// All processes on the cores that are ours to use, outside of interrupts; `None` where that can't be read.
    pub machine_s: Option<f64>,
    /// Interrupts and what follows them, half of a network's work on loopback; `None` likewise.
    pub interrupts_s: Option<f64>,
    /// Whether the kernel says that the times of processes hold the interrupts on their backs: see
    /// [`MachineCores`](crate::MachineCores).
    pub interrupts_within: Option<bool>,
    /// Taken by the hypervisor; `None` likewise.
    pub steal_s: Option<f64>,
}

impl CpuReading {
    /// The machine's part of a reading, at no instant yet.
    pub(crate) fn of_machine(host: &HostReading) -> Self {
        // A machine that was busy for no moment since it started could not have said so.
        let is_known = host.busy_s > 0.0;
        Self {
            at: Instant::ORIGIN,
            generator_s: 0.0,
            servers_s: None,
            machine_s: is_known.then_some(host.busy_s),
            interrupts_s: is_known.then_some(host.interrupts_s),
            interrupts_within: accounting::interrupts_are_within(),
            steal_s: is_known.then_some(host.steal_s),
        }
    }
}

/// This process and the machine, just now: two small files, some ten microseconds. `None` where there is no `/proc`.
pub fn cpu_now() -> Option<CpuReading> {
    let (user, system) = Process::of(std::process::id().cast_signed())?.cpu();
    let mut host = HostReading::default();
    machine::read_times_into(&mut host, &machine::cores_of_this_thread());
    Some(CpuReading {
        at: now(),
        generator_s: user.as_secs_f64() + system.as_secs_f64(),
        ..CpuReading::of_machine(&host)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_and_its_machine_are_read() {
        let begun = now();
        let first = cpu_now().unwrap();
        while now().since(begun).as_secs_f64() < 0.1 {
            std::hint::spin_loop();
        }
        let second = cpu_now().unwrap();
        assert!(second.at > first.at);
        assert!(second.generator_s > first.generator_s);
        assert!(second.machine_s.unwrap() > first.machine_s.unwrap());
        assert_eq!(second.servers_s, None);
    }

    #[test]
    fn what_the_machine_does_not_tell_is_absent() {
        let silent = CpuReading::of_machine(&HostReading::default());
        assert_eq!((silent.machine_s, silent.steal_s), (None, None));
    }
}
