//! A trial on one clock: what the load saw by the second, and what the sampler read.

use std::collections::BTreeMap;

use record::{GroupReading, Measured, ProcessReading, SignalReading};

use super::details::rounded;
use super::model::{Panel, Signal, Timeline};

/// Readings that are drawn at most; of more, every n-th.
const READINGS_MAX: usize = 150;
/// Groups of threads that are drawn: those with the most CPU time.
const GROUPS_MAX: usize = 8;

/// A trial on a machine of `cores` cores. `None` where neither seconds nor readings were kept.
pub(super) fn timeline(trial: &Measured, readings: &[SignalReading], cores: usize) -> Option<Timeline> {
    let seconds = &trial.load.seconds;
    if seconds.is_empty() && readings.len() < 2 {
        return None;
    }
    let window = trial.load.window;
    let kept: Vec<&SignalReading> =
        readings.iter().step_by(readings.len().div_ceil(READINGS_MAX).max(1)).collect();
    let since_start = |at_ns: u64| (at_ns as f64 - window.start_monotonic_ns as f64) / 1e9;
    let of_all = |value: fn(&record::Second) -> f64| seconds.iter().map(|it| rounded(value(it))).collect();
    let of_some =
        |value: fn(&record::Second) -> Option<f64>| seconds.iter().map(|it| value(it).map(rounded)).collect();
    Some(Timeline {
        window_s: rounded(window.duration_s),
        seconds: of_all(|it| it.from_s + it.length_s / 2.0),
        goodput_per_s: of_all(|it| it.goodput_per_s),
        failures_per_s: of_all(|it| it.failures_per_s),
        p50_us: of_some(|it| it.p50_us),
        p50_is_lower_bound: seconds.iter().map(|it| it.p50_is_lower_bound).collect(),
        p99_us: of_some(|it| it.p99_us),
        p99_is_lower_bound: seconds.iter().map(|it| it.p99_is_lower_bound).collect(),
        // A reading says what happened since the one before it.
        readings: kept
            .iter()
            .skip(1)
            .map(|it| (since_start(it.at_monotonic_ns) * 1e3).round() / 1e3)
            .collect(),
        signals: signals(&kept, cores, interrupts_name(trial)),
    })
}

/// What changes, as a rate between readings, or what is so at a reading.
type OfServer = fn(&ProcessReading) -> Option<f64>;

/// Interrupts beside the CPU time of processes, or a part of it.
fn interrupts_name(trial: &Measured) -> &'static str {
    let within = trial.host.as_ref().and_then(|host| host.interrupts_within);
    if within == Some(true) { "interrupts_within" } else { "interrupts" }
}

fn signals(readings: &[&SignalReading], cores: usize, interrupts: &'static str) -> Vec<Signal> {
    let rate = |value: &dyn Fn(&SignalReading) -> Option<f64>| rates(readings, value);
    let now = |value: &dyn Fn(&SignalReading) -> Option<f64>| -> Vec<Option<f64>> {
        readings.iter().skip(1).map(|it| value(it).map(rounded)).collect()
    };
    let server = |value: OfServer| move |it: &SignalReading| it.servers.first().and_then(value);
    // The JVM counts a pause, and what a compilation took, when it ends.
    let counted_at_the_end = |value: OfServer, most: f64| spread_back(rate(&server(value)), readings, most);
    let behind = |it: &SignalReading| {
        let behind = it.servers.get(1..).filter(|all| !all.is_empty())?;
        Some(behind.iter().map(|it| it.cpu_user_s + it.cpu_system_s).sum())
    };
    let mut all = vec![
        (Panel::Cpu, "server_user", rate(&server(|it| Some(it.cpu_user_s)))),
        (Panel::Cpu, "server_system", rate(&server(|it| Some(it.cpu_system_s)))),
        (Panel::Cpu, "upstream", rate(&behind)),
        (Panel::Cpu, "client", rate(&|it| Some(it.generator.cpu_user_s + it.generator.cpu_system_s))),
        (Panel::Cpu, interrupts, rate(&|it| Some(it.host.interrupts_s))),
        (Panel::Cpu, "steal", rate(&|it| Some(it.host.steal_s))),
        (
            Panel::Sockets,
            "established",
            now(&server(|it| it.sockets.as_ref()?.get("established").map(|n| f64::from(*n)))),
        ),
        (Panel::Sockets, "accept_queue", now(&server(|it| it.accept_queue.map(f64::from)))),
        (Panel::Sockets, "accept_queue_limit", now(&server(|it| it.accept_queue_limit.map(f64::from)))),
        (Panel::Jvm, "gc", counted_at_the_end(|it| it.jvm.map(|jvm| jvm.gc_s), 1.0)),
        (Panel::Jvm, "safepoint", counted_at_the_end(|it| it.jvm.map(|jvm| jvm.safepoint_s), 1.0)),
        (Panel::Jvm, "jit", counted_at_the_end(|it| it.jvm.map(|jvm| jvm.jit_s), cores.max(1) as f64)),
        (Panel::Jvm, "throttled", rate(&server(|it| it.throttled_s))),
        (Panel::Memory, "heap_used", now(&server(|it| it.jvm.map(|jvm| jvm.heap_used_bytes as f64)))),
        (Panel::Memory, "rss", now(&server(|it| Some(it.rss_bytes as f64)))),
        (Panel::Threads, "threads", now(&server(|it| Some(f64::from(it.threads))))),
    ];
    all.retain(|(_, _, values)| values.iter().any(Option::is_some));
    let fixed = all.into_iter().map(|(panel, name, values)| Signal {
        panel,
        name: name.to_owned(),
        is_given: false,
        values,
    });
    fixed.chain(groups(readings)).collect()
}

/// Cores kept busy by group of the loaded server's threads.
fn groups(readings: &[&SignalReading]) -> Vec<Signal> {
    let of = |it: &SignalReading, name: &str| {
        it.servers.first()?.groups.as_ref()?.get(name).map(|group: &GroupReading| group.cpu_s)
    };
    let mut most: BTreeMap<&str, f64> = BTreeMap::new();
    for reading in readings {
        let Some(groups) = reading.servers.first().and_then(|it| it.groups.as_ref()) else { continue };
        for (name, group) in groups {
            let seen = most.entry(name.as_str()).or_default();
            *seen = seen.max(group.cpu_s);
        }
    }
    let mut names: Vec<(&str, f64)> = most.into_iter().filter(|(_, cpu_s)| *cpu_s > 0.0).collect();
    names.sort_by(|a, b| b.1.total_cmp(&a.1));
    let drawn = names.into_iter().take(GROUPS_MAX);
    drawn
        .map(|(name, _)| Signal {
            panel: Panel::ThreadGroups,
            name: name.to_owned(),
            is_given: true,
            values: rates(readings, &|it| of(it, name)),
        })
        .collect()
}

/// What a sum grew by a second, from the last reading that has it to each that does; nothing where one does not.
fn rates(readings: &[&SignalReading], value: &dyn Fn(&SignalReading) -> Option<f64>) -> Vec<Option<f64>> {
    let mut last: Option<(u64, f64)> = None;
    let all = readings.iter().map(|reading| {
        let (at, sum) = (reading.at_monotonic_ns, value(reading)?);
        let before = last.replace((at, sum));
        let (then, was) = before.filter(|(then, _)| *then < at)?;
        // A thread that ended takes its time with it; a group does not run backwards.
        Some(rounded(((sum - was) / ((at - then) as f64 / 1e9)).max(0.0)))
    });
    let mut all: Vec<Option<f64>> = all.collect();
    if !all.is_empty() {
        all.remove(0);
    }
    all
}

/// What is more than can have been within a reading's time belongs to the time before it. `values` are rates between
/// readings, one fewer than those.
fn spread_back(mut values: Vec<Option<f64>>, readings: &[&SignalReading], most: f64) -> Vec<Option<f64>> {
    let length_s = |place: usize| {
        let (from, to) = (readings[place].at_monotonic_ns, readings[place + 1].at_monotonic_ns);
        to.saturating_sub(from) as f64 / 1e9
    };
    let mut left_s = 0.0;
    for place in (0..values.len()).rev() {
        let (Some(value), length_s) = (&mut values[place], length_s(place)) else { continue };
        if length_s > 0.0 {
            let whole_s = *value * length_s + left_s;
            let within_s = whole_s.min(most * length_s);
            left_s = whole_s - within_s;
            *value = rounded(within_s / length_s);
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use record::{HostReading, SIGNALS_VERSION};

    use super::*;

    fn reading(at_s: u64, cpu_s: f64, looked: bool) -> SignalReading {
        let group = GroupReading { cpu_s: 2.0 * cpu_s, ..GroupReading::default() };
        let server = ProcessReading {
            cpu_user_s: cpu_s,
            groups: looked.then(|| [("pool-*".to_owned(), group)].into()),
            ..ProcessReading::default()
        };
        SignalReading {
            version: SIGNALS_VERSION,
            at_monotonic_ns: at_s * 1_000_000_000,
            host: HostReading::default(),
            generator: ProcessReading::default(),
            servers: vec![server],
        }
    }

    #[test]
    fn sums_become_rates_across_readings_that_did_not_look() {
        let readings = [reading(1, 0.0, true), reading(2, 0.5, false), reading(4, 2.5, true)];
        let readings: Vec<&SignalReading> = readings.iter().collect();
        let all = signals(&readings, 2, "interrupts");
        let of = |name: &str| all.iter().find(|it| it.name == name).unwrap().values.clone();
        assert_eq!(of("server_user"), [Some(0.5), Some(1.0)]);
        assert_eq!(
            of("pool-*"),
            [None, Some(1.67)].map(|it: Option<f64>| it.map(|_| 5.0 / 3.0)).map(|it| it.map(rounded))
        );
        assert!(all.iter().all(|it| it.name != "gc"), "what nothing was read of is not drawn");
    }

    #[test]
    fn what_is_counted_at_its_end_is_spread_over_the_time_before() {
        let readings: Vec<SignalReading> = (0..5).map(|second| reading(second, 0.0, false)).collect();
        let readings: Vec<&SignalReading> = readings.iter().collect();
        let spread = spread_back(vec![Some(0.5), Some(0.0), Some(5.0), Some(1.0)], &readings, 2.0);
        assert_eq!(spread, [Some(1.5), Some(2.0), Some(2.0), Some(1.0)]);
        let unseen = spread_back(vec![Some(0.0), None, Some(3.0), Some(0.0)], &readings, 2.0);
        assert_eq!(unseen, [Some(1.0), None, Some(2.0), Some(0.0)]);
    }
}
