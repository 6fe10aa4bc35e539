//! The machine as a whole: `/proc/stat` and pressure.

use std::collections::BTreeMap;
use std::fs;

use record::HostReading;

const PRESSURES: [&str; 3] = ["cpu", "io", "memory"];

/// Adds what the machine did so far to `reading`. Gives what could not be read.
pub(crate) fn read_into(reading: &mut HostReading) -> Vec<&'static str> {
    let mut unknown = Vec::new();
    if !read_times_into(reading) {
        unknown.push("CPU time of the machine: /proc/stat");
    }
    reading.pressure_s = pressures(|name| fs::read_to_string(format!("/proc/pressure/{name}")).ok());
    if reading.pressure_s.is_empty() {
        unknown.push("pressure: /proc/pressure (the kernel was built or started without it)");
    }
    unknown
}

/// Adds the CPU time of all cores to `reading`; false where that can't be read.
pub(crate) fn read_times_into(reading: &mut HostReading) -> bool {
    let times = fs::read_to_string("/proc/stat").ok().as_deref().and_then(times);
    let is_known = times.is_some();
    if let Some(times) = times {
        *reading = HostReading { network: std::mem::take(&mut reading.network), ..times };
    }
    is_known
}

/// The first line of `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, steal, in ticks.
fn times(stat: &str) -> Option<HostReading> {
    let fields: Vec<u64> =
        stat.lines().next()?.split_ascii_whitespace().skip(1).map_while(|field| field.parse().ok()).collect();
    let seconds = |indices: &[usize]| -> Option<f64> {
        let ticks: u64 = indices.iter().map(|index| fields.get(*index).copied()).sum::<Option<u64>>()?;
        Some(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
    };
    Some(HostReading {
        busy_s: seconds(&[0, 1, 2])?,
        io_wait_s: seconds(&[4])?,
        interrupts_s: seconds(&[5, 6])?,
        steal_s: seconds(&[7])?,
        ..HostReading::default()
    })
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
        let reading = times("cpu  10 20 30 40 50 60 70 80 0 0\ncpu0 1 2\n").unwrap();
        let expected = HostReading {
            busy_s: 60.0 / per_second,
            io_wait_s: 50.0 / per_second,
            interrupts_s: 130.0 / per_second,
            steal_s: 80.0 / per_second,
            ..HostReading::default()
        };
        assert_eq!(reading, expected);
        assert_eq!(times("cpu 1 2 3"), None);
    }

    #[test]
    fn pressure_is_the_time_in_which_something_waited() {
        let text = "some avg10=0.00 avg60=0.00 avg300=0.00 total=1500000\nfull avg10=0.00 total=7\n";
        let read = |name: &str| (name == "io").then(|| text.to_owned());
        assert_eq!(pressures(read), [("io".to_owned(), 1.5)].into());
        assert_eq!(pressures(|_| Some("nothing".into())), BTreeMap::new());
    }
}
