//! From CPU time so far to cores kept busy just now.

use std::collections::VecDeque;

use explain::{OTHERS_SHARE_MAX, STEAL_SHARE_MAX};
use signals::{CpuReading, MachineCores};
use units::{Duration, Instant};

use crate::view::CpuView;

/// What *now* is: the last so long, of which the kernel's clock ticks a hundred times.
const SPAN: Duration = Duration::from_secs(1);
/// Readings closer together say little: the kernel counts in hundredths of a second.
const SPAN_MIN: Duration = Duration::from_millis(300);
/// A reading that is older than this is of something that is over.
const STALE: Duration = Duration::from_secs(3);
/// Readings kept: a sampler takes ten a second.
const READINGS_MAX: usize = 16;
/// Noise that lasts shorter than this is a cron job and no warning.
const NOISE_MIN: Duration = Duration::from_secs(3);

/// The readings of the last moments.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cpu {
    readings: VecDeque<CpuReading>,
    noisy_since: Option<Instant>,
}

impl Cpu {
    /// Forgets everything: other processes are looked at.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Takes a reading in. Says what is wrong where others have been using the machine for a while.
    pub(crate) fn add(&mut self, reading: CpuReading, cores: u32) -> Option<String> {
        // The sampler's last one again.
        if self.readings.back().is_some_and(|last| last.at >= reading.at) {
            return None;
        }
        self.readings.push_back(reading);
        let is_old = |it: &CpuReading| reading.at.since(it.at) > SPAN;
        while self.readings.len() > READINGS_MAX || self.readings.get(1).is_some_and(is_old) {
            self.readings.pop_front();
        }
        let noise = self.view(reading.at, cores).and_then(|view| noise(&view));
        if noise.is_none() {
            self.noisy_since = None;
        }
        let since = *self.noisy_since.get_or_insert(reading.at);
        noise.filter(|_| reading.at.since(since) >= NOISE_MIN)
    }

    /// Who used how much over the last second; `None` where that is not known at `at`.
    pub(crate) fn view(&self, at: Instant, cores: u32) -> Option<CpuView> {
        let (first, last) = (self.readings.front()?, self.readings.back()?);
        let span = last.at.since(first.at);
        if span < SPAN_MIN || at.since(last.at) > STALE {
            return None;
        }
        let used = |from: f64, to: f64| ((to - from) / span.as_secs_f64()).max(0.0);
        let both = |of: fn(&CpuReading) -> Option<f64>| Some(used(of(first)?, of(last)?));
        let generator = used(first.generator_s, last.generator_s);
        let servers = both(|it| it.servers_s);
        let ours = generator + servers.unwrap_or(0.0);
        let machine = both(|it| it.machine_s).zip(both(|it| it.interrupts_s)).map(|(busy, interrupts)| {
            MachineCores { cores, busy, interrupts, configured_within: last.interrupts_within }
        });
        let others = machine.map(|it| it.others(ours));
        let apart = machine.filter(|it| it.interrupts_within(ours) != Some(true));
        let (interrupts, steal) = (apart.map(|it| it.interrupts), both(|it| it.steal_s));
        Some(CpuView { cores, generator, servers, others, interrupts, steal })
    }
}

/// What others take, where it is too much. Where the servers are among the others, that is not known of these.
fn noise(view: &CpuView) -> Option<String> {
    let cores = f64::from(view.cores.max(1));
    if let Some(steal) = view.steal.filter(|steal| steal / cores > STEAL_SHARE_MAX) {
        return Some(format!("the hypervisor takes {:.0} % of the CPU", steal / cores * 100.0));
    }
    let others = view.others.filter(|others| view.servers.is_some() && others / cores > OTHERS_SHARE_MAX)?;
    Some(format!("other processes use {others:.2} of {} cores", view.cores))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(
        ms: u64,
        generator_s: f64,
        servers_s: Option<f64>,
        machine_s: f64,
        steal_s: f64,
    ) -> CpuReading {
        let at = Instant::ORIGIN + Duration::from_millis(ms);
        let (machine_s, steal_s) = (Some(machine_s), Some(steal_s));
        let (interrupts_s, interrupts_within) = (Some(0.0), None);
        CpuReading { at, generator_s, servers_s, machine_s, interrupts_s, interrupts_within, steal_s }
    }

    #[test]
    fn cores_are_those_of_the_last_second() {
        let mut cpu = Cpu::default();
        assert_eq!(cpu.view(Instant::ORIGIN, 2), None);
        for tenth in 0..=50_u64 {
            // From the third second on twice as much.
            let busy = tenth as f64 * 0.1 * if tenth > 30 { 2.0 } else { 1.0 };
            cpu.add(reading(tenth * 100, busy * 0.2, Some(busy * 0.5), busy, 0.0), 2);
        }
        let view = cpu.view(Instant::from_nanos(5_000_000_000), 2).unwrap();
        assert!((view.generator - 0.4).abs() < 1e-9, "{view:?}");
        assert!((view.servers.unwrap() - 1.0).abs() < 1e-9, "{view:?}");
        assert!((view.others.unwrap() - 0.6).abs() < 1e-9, "{view:?}");
        assert!(cpu.readings.len() <= READINGS_MAX);
        assert_eq!(cpu.view(Instant::from_nanos(9_000_000_000), 2), None, "it is over");
    }

    #[test]
    fn noise_is_a_warning_once_it_lasts_and_only_where_servers_are_told_from_others() {
        let told = |servers: fn(f64) -> Option<f64>, steal: f64| {
            let mut cpu = Cpu::default();
            (0..=50_u64).find(|tenth| {
                let s = *tenth as f64 * 0.1;
                cpu.add(reading(tenth * 100, s * 0.1, servers(s), s, s * steal), 2).is_some()
            })
        };
        assert!(told(|s| Some(s * 0.4), 0.0).is_some_and(|tenth| tenth >= 30));
        assert_eq!(told(|s| Some(s * 0.85), 0.0), None);
        assert_eq!(told(|_| None, 0.0), None);
        assert!(told(|_| None, 0.5).is_some());
    }
}
