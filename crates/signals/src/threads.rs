//! Threads one by one: who they are, what they ran, and what they waited for.

use std::fs;

use units::Duration;

/// One thread at an instant. Times and counts are sums since it started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Thread {
    pub(crate) id: i32,
    /// As the kernel keeps it: 15 bytes.
    pub(crate) name: String,
    /// Runs, or wants to.
    pub(crate) runnable: bool,
    pub(crate) cpu: Duration,
    /// Runnable, and not on a CPU.
    pub(crate) waited: Duration,
    /// How often it was given a CPU.
    pub(crate) switches: u64,
}

/// The threads of process `pid` that are alive; one that ends meanwhile is left out.
pub(crate) fn of_process(pid: i32) -> Vec<Thread> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().filter_map(Result::ok);
    tasks
        .filter_map(|task| {
            let id = task.file_name().to_str()?.parse().ok()?;
            let path = task.path();
            let stat = fs::read(path.join("stat")).ok()?;
            let (name, state) = name_and_state(&stat)?;
            let runnable = state == b'R';
            let schedule = fs::read_to_string(path.join("schedstat")).ok();
            // A kernel without schedstat has the CPU time in ticks only.
            let (cpu, waited, switches) =
                schedule.as_deref().and_then(schedule_of).unwrap_or((ticks(&stat)?, Duration::ZERO, 0));
            Some(Thread { id, name, runnable, cpu, waited, switches })
        })
        .collect()
}

/// The name may hold anything, parentheses included, so it ends with the last one.
fn name_and_state(stat: &[u8]) -> Option<(String, u8)> {
    let open = stat.iter().position(|byte| *byte == b'(')?;
    let close = stat.iter().rposition(|byte| *byte == b')')?;
    let name = String::from_utf8_lossy(stat.get(open + 1..close)?).into_owned();
    Some((name, *stat.get(close + 2)?))
}

/// Nanoseconds on a CPU, nanoseconds waiting for one, and how often it was given one.
fn schedule_of(text: &str) -> Option<(Duration, Duration, u64)> {
    let mut fields = text.split_ascii_whitespace().map(|field| field.parse::<u64>().ok());
    let (ran, waited, times) = (fields.next()??, fields.next()??, fields.next()??);
    Some((Duration::from_nanos(ran), Duration::from_nanos(waited), times))
}

fn ticks(stat: &[u8]) -> Option<Duration> {
    let close = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(stat.get(close + 2..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace().skip(11).map(|field| field.parse::<u64>().ok());
    let ticks = fields.next()?? + fields.next()??;
    Some(Duration::from_secs(ticks) / rustix::param::clock_ticks_per_second())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_anything() {
        let stat = b"42 (a) b (c)) R 7 9 9 0 -1 4194560 1 2 3 4 100 20 3 1 20 0 1 0 5 6 7";
        assert_eq!(name_and_state(stat), Some(("a) b (c)".into(), b'R')));
        assert_eq!(ticks(stat), Some(Duration::from_secs(120) / rustix::param::clock_ticks_per_second()));
        assert_eq!(name_and_state(b"42 (cut off"), None);
    }

    #[test]
    fn a_schedule_has_three_numbers() {
        let ns = Duration::from_nanos;
        assert_eq!(schedule_of("12 34 5\n"), Some((ns(12), ns(34), 5)));
        assert_eq!(schedule_of("12 34"), None);
    }

    #[test]
    fn this_thread_is_among_our_own() {
        let ours = of_process(std::process::id().cast_signed());
        let me = rustix::thread::gettid().as_raw_pid();
        assert!(ours.iter().any(|thread| thread.id == me && thread.runnable), "{ours:?}");
    }
}
