//! The machine as a whole: `/proc/stat` and pressure.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use record::HostReading;
use rustix::thread::{CpuSet, sched_getaffinity};

const PRESSURES: [&str; 3] = ["cpu", "io", "memory"];

/// The cores that the calling thread may run on; all that there are where it can't be asked.
pub(crate) fn cores_of_this_thread() -> BTreeSet<usize> {
    let set = sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new());
    (0..CpuSet::MAX_CPU).filter(|core| set.is_set(*core)).collect()
}

/// Adds what these cores did so far to `reading`, and what the machine waited for. Gives what could not be read.
pub(crate) fn read_into(reading: &mut HostReading, cores: &BTreeSet<usize>) -> Vec<&'static str> {
    let mut unknown = Vec::new();
    if !read_times_into(reading, cores) {
        unknown.push("CPU time of the machine: /proc/stat");
    }
    reading.pressure_s = pressures(|name| fs::read_to_string(format!("/proc/pressure/{name}")).ok());
    if reading.pressure_s.is_empty() {
        unknown.push("pressure: /proc/pressure (the kernel was built or started without it)");
    }
    unknown
}

/// Adds the CPU time of these cores to `reading`; false where that can't be read.
pub(crate) fn read_times_into(reading: &mut HostReading, cores: &BTreeSet<usize>) -> bool {
    let stat = fs::read_to_string("/proc/stat").ok();
    let times = stat.as_deref().and_then(|stat| times(stat, cores));
    let is_known = times.is_some();
    if let Some(times) = times {
        *reading = HostReading { network: std::mem::take(&mut reading.network), ..times };
    }
    is_known
}

/// The lines of `/proc/stat` that are of these cores: user, nice, system, idle, iowait, irq, softirq, steal, in ticks. What goes on
/// on others is none of ours, in a container or under `taskset` that keeps us from them. Without any of these the first
/// line, which is of all. `None` where the machine was busy for no moment since it started: it could not have said so.
fn times(stat: &str, cores: &BTreeSet<usize>) -> Option<HostReading> {
    let mut lines = stat.lines();
    let all = ticks(lines.next()?.strip_prefix("cpu ")?);
    let of_core = |line: &str| {
        let (number, rest) = line.strip_prefix("cpu")?.split_once(' ')?;
        Some((number.parse().ok()?, ticks(rest)))
    };
    let each: Vec<(usize, Vec<u64>)> = lines.map_while(of_core).collect();
    let ours = each.iter().filter(|(core, _)| cores.contains(core)).map(|(_, ticks)| ticks.clone());
    let sum = |a: Vec<u64>, b: Vec<u64>| a.iter().zip(&b).map(|(a, b)| a + b).collect();
    let fields = ours.reduce(sum).unwrap_or(all);
    let seconds = |indices: &[usize]| -> Option<f64> {
        let ticks: u64 = indices.iter().map(|index| fields.get(*index).copied()).sum::<Option<u64>>()?;
        Some(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
    };
    let reading = HostReading {
        busy_s: seconds(&[0, 1, 2])?,
        io_wait_s: seconds(&[4])?,
        interrupts_s: seconds(&[5, 6])?,
        steal_s: seconds(&[7])?,
        ..HostReading::default()
    };
    Some(reading).filter(|it| it.busy_s > 0.0)
}

fn ticks(fields: &str) -> Vec<u64> {
    fields.split_ascii_whitespace().map_while(|field| field.parse().ok()).collect()
}

/// `some avg10=… avg60=… avg300=… total=<µs>` of each.
fn pressures(read: impl Fn(&str) -> Option<String>) -> BTreeMap<String, f64> {
    PRESSURES.into_iter().filter_map(|name| Some((name.to_owned(), total_s(&read(name)?)?))).collect()
}

/// Time in which some task waited, seconds, of a file of pressure: the machine's, or a control group's.
pub(crate) fn total_s(pressure: &str) -> Option<f64> {
    let some = pressure.lines().find(|line| line.starts_with("some "))?;
    let micros: f64 = some.rsplit_once("total=")?.1.trim().parse().ok()?;
    Some(micros / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_summed_by_kind() {
        let per_second = rustix::param::clock_ticks_per_second() as f64;
        let reading = times("cpu  10 20 30 40 50 60 70 80 0 0\nintr 7\n", &[0].into()).unwrap();
        let expected = HostReading {
            busy_s: 60.0 / per_second,
            io_wait_s: 50.0 / per_second,
            interrupts_s: 130.0 / per_second,
            steal_s: 80.0 / per_second,
            ..HostReading::default()
        };
        assert_eq!(reading, expected);
        assert_eq!(times("cpu  1 2 3", &BTreeSet::new()), None);
        assert_eq!(times("cpu  0 0 0 0 0 0 0 0", &BTreeSet::new()), None, "nobody is busy for no moment");
    }

    /// A machine of three cores, on the last of which others work, and we may not.
    #[test]
    fn only_cores_that_we_may_run_on_count() {
        let stat = "cpu  111 0 0 0 0 0 0 9\ncpu0 10 0 0 0 0 0 0 1\ncpu1 1 0 0 0 0 0 0 0\ncpu2 100 0 0 0 0 0 0 8\nintr 5\n";
        let per_second = rustix::param::clock_ticks_per_second() as f64;
        let of = |cores: &[usize]| {
            let reading = times(stat, &cores.iter().copied().collect()).unwrap();
            ((reading.busy_s * per_second).round(), (reading.steal_s * per_second).round())
        };
        assert_eq!((of(&[0, 1]), of(&[2]), of(&[0, 1, 2])), ((11.0, 1.0), (100.0, 8.0), (111.0, 9.0)));
        assert_eq!(of(&[]), (111.0, 9.0), "of all where nobody says which");
    }

    #[test]
    fn pressure_is_the_time_in_which_something_waited() {
        let text = "some avg10=0.00 avg60=0.00 avg300=0.00 total=1500000\nfull avg10=0.00 total=7\n";
        let read = |name: &str| (name == "io").then(|| text.to_owned());
        assert_eq!(pressures(read), [("io".to_owned(), 1.5)].into());
        assert_eq!(pressures(|_| Some("nothing".into())), BTreeMap::new());
    }
}
