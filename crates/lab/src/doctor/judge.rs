//! From readings to findings. Pure: the same machine and load, the same findings.

use super::{Finding, Level, Machine};
use crate::tools::State;

/// Files that a process holds open beside its connections: logs, records, pollers, pipes.
const FILES_BESIDE_CONNECTIONS: u64 = 64;
/// Ports enough for what one source address is given (see `driver`), and as many closing ones.
const PORTS_MIN: u32 = 28_000;
/// With fewer, the load generator and the server share them.
const CORES_MIN: u32 = 4;
/// Clocks that are read without a system call.
const FAST_CLOCKS: [&str; 4] = ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"];
/// A minute's load for each core from which the machine counts as busy.
const LOAD_PER_CORE_MAX: f64 = 0.5;
const CPU_PRESSURE_PCT_MAX: f64 = 10.0;
const STEAL_PCT_MAX: f64 = 1.0;
/// Left-overs of an idle desktop; above it memory is short.
const SWAP_KIB_MAX: u64 = 256 * 1024;

/// What of `machine` helps or spoils a load of `connections`, in a fixed order. Whatever is at least a
/// [`Level::Warn`] has its mend.
pub fn judge(machine: &Machine, connections: u32) -> Vec<Finding> {
    let mut findings = vec![
        open_files(machine, connections),
        ports(machine, connections),
        accept_queue(machine, connections),
        syn_queue(machine, connections),
        time_wait(machine),
        cores(machine),
        governor(machine),
        io_uring(machine),
        cgroup(machine),
        pressure(machine),
        steal(machine),
        clock(machine),
        swap(machine),
        load(machine),
        others(machine),
    ];
    findings.extend(machine.tools.iter().map(tool));
    findings
}

fn good(topic: &'static str, found: impl Into<String>) -> Finding {
    Finding { topic, level: Level::Good, found: found.into(), mend: None }
}

/// A finding above [`Level::Good`], with its mend.
fn poor(topic: &'static str, level: Level, found: impl Into<String>, mend: impl Into<String>) -> Finding {
    Finding { topic, level, found: found.into(), mend: Some(mend.into()) }
}

fn not_known(topic: &'static str) -> Finding {
    Finding { topic, level: Level::Note, found: "not known".to_owned(), mend: None }
}

fn open_files(machine: &Machine, connections: u32) -> Finding {
    const TOPIC: &str = "open files";
    let Some(limit) = machine.open_files else { return not_known(TOPIC) };
    let needed = u64::from(connections) + FILES_BESIDE_CONNECTIONS;
    if limit.soft >= needed {
        return good(TOPIC, format!("limit {}; {connections} connections need {needed}", files(limit.soft)));
    }
    let found = format!(
        "limit {} (hard {}), and {connections} connections need {needed}",
        files(limit.soft),
        files(limit.hard)
    );
    if limit.hard >= needed {
        return poor(
            TOPIC,
            Level::Note,
            found,
            format!("proofload raises its own; elsewhere raise with ulimit -n {needed}"),
        );
    }
    poor(
        TOPIC,
        Level::Bad,
        found,
        format!("raise with ulimit -n {needed} as root, or with `nofile` in /etc/security/limits.conf"),
    )
}

fn files(limit: u64) -> String {
    if limit == u64::MAX { "none".to_owned() } else { limit.to_string() }
}

fn ports(machine: &Machine, connections: u32) -> Finding {
    const TOPIC: &str = "ports";
    const MEND: &str = "sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\"";
    let Some(range) = machine.ports else { return not_known(TOPIC) };
    let ports = u32::from(range.last.saturating_sub(range.first)) + 1;
    let found = format!("{ports} to connect from ({} to {})", range.first, range.last);
    if connections > ports {
        let level = Level::Warn;
        return poor(TOPIC, level, format!("{found}: too few for {connections} to one remote address"), MEND);
    }
    if ports < PORTS_MIN {
        return poor(TOPIC, Level::Warn, format!("{found}: a fresh connection a request uses them up"), MEND);
    }
    good(TOPIC, found)
}

fn accept_queue(machine: &Machine, connections: u32) -> Finding {
    queue("accept queue", "net.core.somaxconn", machine.accept_queue_max, connections)
}

/// Its bound drops connections only where cookies are off; the accept queue's holds for both.
fn syn_queue(machine: &Machine, connections: u32) -> Finding {
    const TOPIC: &str = "SYN queue";
    if machine.syn_cookies.is_some_and(|value| value > 0) {
        return good(TOPIC, "net.ipv4.tcp_syncookies is on: it does not overflow");
    }
    queue(TOPIC, "net.ipv4.tcp_max_syn_backlog", machine.syn_queue_max, connections)
}

/// Room for connections that arrive all at once and are not yet accepted, or not yet established.
fn queue(topic: &'static str, sysctl: &str, bound: Option<u64>, connections: u32) -> Finding {
    let Some(bound) = bound else { return not_known(topic) };
    if bound >= u64::from(connections) {
        return good(topic, format!("{sysctl} = {bound}"));
    }
    let found = format!("{sysctl} = {bound}: {connections} connections at once may overflow it");
    poor(topic, Level::Warn, found, format!("sysctl -w {sysctl}={connections}"))
}

fn time_wait(machine: &Machine) -> Finding {
    const TOPIC: &str = "TIME_WAIT";
    match machine.time_wait_reuse {
        None => not_known(TOPIC),
        Some(0) => poor(
            TOPIC,
            Level::Warn,
            "net.ipv4.tcp_tw_reuse = 0: ports of closed connections are locked for a minute",
            "sysctl -w net.ipv4.tcp_tw_reuse=1",
        ),
        Some(2) => good(TOPIC, "net.ipv4.tcp_tw_reuse = 2: ports are used again, on loopback only"),
        Some(value) => good(TOPIC, format!("net.ipv4.tcp_tw_reuse = {value}: ports are used again")),
    }
}

fn cores(machine: &Machine) -> Finding {
    const TOPIC: &str = "cores";
    match machine.cores {
        None => not_known(TOPIC),
        Some(cores @ 0..=1) => poor(
            TOPIC,
            Level::Warn,
            format!("{cores}: the load generator takes turns with the server"),
            "use a machine with more cores, or allow more than one with taskset or the container's CPU limit",
        ),
        Some(threads) if machine.physical_cores == Some(1) => poor(
            TOPIC,
            Level::Note,
            format!(
                "{threads}, threads of one physical core: the load generator and the server slow each other down, with \
                 placement = \"split\", too"
            ),
            "use a machine with more physical cores, or run the server on another",
        ),
        Some(cores @ 2..CORES_MIN) => poor(
            TOPIC,
            Level::Note,
            format!("{cores}: the load generator and the server share them"),
            format!("use a machine with {CORES_MIN} or more, or run the server on another"),
        ),
        Some(cores) => match &machine.unlike_cores {
            None => good(TOPIC, cores.to_string()),
            Some(unlike) => poor(
                TOPIC,
                Level::Note,
                format!(
                    "{cores}, {}: on shared cores what a thread carries depends on which of them it runs on",
                    unlike.what
                ),
                format!("write placement = \"split\" in experiments; then there are {}", unlike.sides),
            ),
        },
    }
}

fn governor(machine: &Machine) -> Finding {
    const TOPIC: &str = "CPU governor";
    match &machine.governors[..] {
        // So it is in most virtual machines.
        [] => not_known(TOPIC),
        [only] if only == "performance" => good(TOPIC, only.as_str()),
        others => poor(
            TOPIC,
            Level::Warn,
            format!("{}: the clock rate follows the load", others.join(", ")),
            "cpupower frequency-set -g performance",
        ),
    }
}

fn io_uring(machine: &Machine) -> Finding {
    const TOPIC: &str = "io_uring";
    const MEND: &str =
        "a kernel from 6.1 on, sysctl -w kernel.io_uring_disabled=0, and no filter that forbids it";
    match machine.io_uring_refused {
        None => good(TOPIC, "can be used"),
        Some(refused) => poor(TOPIC, Level::Note, format!("{refused}; epoll is used"), MEND),
    }
}

fn cgroup(machine: &Machine) -> Finding {
    const TOPIC: &str = "cgroup v2";
    const MEND: &str = "run as root, or under `systemd-run --user --scope -p Delegate=yes`";
    const FALLBACK: &str = "CPU time is then added up from /proc and misses what ends between two looks";
    match &machine.cgroup {
        None => {
            poor(TOPIC, Level::Note, format!("not mounted; {FALLBACK}"), "mount cgroup2, or boot with it")
        }
        Some(group) if group.writable => {
            good(TOPIC, format!("{} is writable: exact CPU time for each stack", group.dir.display()))
        }
        Some(group) => {
            poor(TOPIC, Level::Note, format!("{} is not writable; {FALLBACK}", group.dir.display()), MEND)
        }
    }
}

fn pressure(machine: &Machine) -> Finding {
    const TOPIC: &str = "pressure";
    let Some(share) = machine.cpu_pressure_pct else {
        let found = "/proc/pressure can't be read: stalls of the host go unseen";
        return poor(TOPIC, Level::Note, found, "boot with psi=1");
    };
    let found = format!("something waited for a processor in {share:.1} % of the last 10 s");
    if share > CPU_PRESSURE_PCT_MAX {
        return poor(TOPIC, Level::Warn, found, "stop what else runs (see `top`), and wait ten seconds");
    }
    good(TOPIC, found)
}

fn steal(machine: &Machine) -> Finding {
    const TOPIC: &str = "steal";
    const MEND: &str = "use a machine with processors of its own; compare only within one run";
    let Some(share) = machine.steal_pct else { return not_known(TOPIC) };
    if share <= 0.0 {
        return good(TOPIC, "none since boot");
    }
    let level = if share > STEAL_PCT_MAX { Level::Warn } else { Level::Note };
    poor(TOPIC, level, format!("the host gave {share:.2} % of the time since boot to others"), MEND)
}

fn clock(machine: &Machine) -> Finding {
    const TOPIC: &str = "clock";
    let Some(source) = machine.clock_source.as_deref() else { return not_known(TOPIC) };
    if FAST_CLOCKS.contains(&source) {
        return good(TOPIC, source);
    }
    let found = format!("{source}: every look at it is a system call");
    let mend =
        "boot with clocksource=tsc tsc=reliable where the processor's is steady, or use another machine";
    poor(TOPIC, Level::Warn, found, mend)
}

fn swap(machine: &Machine) -> Finding {
    const TOPIC: &str = "swap";
    let Some(used) = machine.swap_used_kib else { return not_known(TOPIC) };
    if used == 0 {
        return good(TOPIC, "none in use");
    }
    let level = if used > SWAP_KIB_MAX { Level::Warn } else { Level::Note };
    poor(TOPIC, level, format!("{} MiB in use", used.div_ceil(1024)), "free memory, then swapoff -a")
}

fn load(machine: &Machine) -> Finding {
    const TOPIC: &str = "load";
    let (Some(load), Some(cores)) = (machine.load_average, machine.cores) else { return not_known(TOPIC) };
    let found = format!("{load:.2} over the last minute on {cores} cores");
    if load > LOAD_PER_CORE_MAX * f64::from(cores) {
        let mend = "stop what else runs (see `top`), and wait a minute";
        return poor(TOPIC, Level::Warn, format!("{found}: busy before the start"), mend);
    }
    good(TOPIC, found)
}

/// Who else runs just now, by name.
fn others(machine: &Machine) -> Finding {
    const TOPIC: &str = "other processes";
    let Some(others) = &machine.others else { return not_known(TOPIC) };
    let used: f64 = others.iter().map(|it| it.cores).sum();
    let Some(who) = explain::who(others) else { return good(TOPIC, "none used the CPU just now") };
    let found = format!("used {used:.2} cores just now ({who})");
    if used > explain::OTHERS_SHARE_MAX * f64::from(machine.cores.unwrap_or(1)) {
        return poor(TOPIC, Level::Warn, found, "stop them, or wait until they are done");
    }
    good(TOPIC, found)
}

fn tool((name, state): &(&'static str, State)) -> Finding {
    let install = stack::install_hint(name);
    match state {
        State::Present { version } => good(name, version.as_str()),
        State::Missing => poor(name, Level::Note, "not there; what needs it is left out", install),
        State::Broken { reason } => poor(name, Level::Warn, reason.as_str(), install),
    }
}

#[cfg(test)]
mod tests {
    use record::NamedUse;
    use stack::UnlikeCores;

    use super::super::{Cgroup, Limit, PortRange};
    use super::*;

    fn of(name: &str, cores: f64) -> NamedUse {
        NamedUse { name: name.to_owned(), cores }
    }

    /// Nothing to complain about, for 1,000 connections.
    fn fine() -> Machine {
        Machine {
            open_files: Some(Limit { soft: 20_000, hard: 20_000 }),
            ports: Some(PortRange { first: 32_768, last: 60_999 }),
            accept_queue_max: Some(4096),
            syn_queue_max: Some(2048),
            syn_cookies: Some(0),
            time_wait_reuse: Some(2),
            cores: Some(8),
            physical_cores: Some(4),
            unlike_cores: None,
            governors: vec!["performance".to_owned()],
            io_uring_refused: None,
            cgroup: Some(Cgroup { dir: "/sys/fs/cgroup/a".into(), writable: true }),
            cpu_pressure_pct: Some(0.3),
            steal_pct: Some(0.0),
            clock_source: Some("tsc".to_owned()),
            swap_used_kib: Some(0),
            load_average: Some(0.2),
            others: Some(vec![of("rustc", 0.1)]),
            tools: vec![("wrk", State::Present { version: "wrk 4.1.0".to_owned() })],
        }
    }

    /// The only finding of `machine` that is not good.
    fn complaint(machine: &Machine, connections: u32) -> (&'static str, Level, String) {
        let mut poor: Vec<_> =
            judge(machine, connections).into_iter().filter(|f| f.level > Level::Good).collect();
        assert_eq!(poor.len(), 1, "{poor:#?}");
        let finding = poor.remove(0);
        (finding.topic, finding.level, finding.mend.unwrap_or_default())
    }

    #[test]
    fn a_fine_machine_has_only_good_findings() {
        for finding in judge(&fine(), 1000) {
            assert_eq!((finding.level, &finding.mend), (Level::Good, &None), "{finding:?}");
        }
    }

    #[test]
    fn nothing_known_is_noted_not_warned_of() {
        let findings = judge(&Machine::default(), 1000);
        // Whether io_uring can be used is tried, so that is always known.
        let mut read = findings.iter().filter(|finding| finding.topic != "io_uring");
        assert!(read.all(|finding| finding.level == Level::Note), "{findings:#?}");
    }

    #[test]
    fn open_files_are_bad_only_beyond_the_hard_limit() {
        let limited = |soft, hard| Machine { open_files: Some(Limit { soft, hard }), ..fine() };
        assert_eq!(complaint(&limited(1063, 1064), 1000).1, Level::Note);
        let (topic, level, mend) = complaint(&limited(256, 1063), 1000);
        assert_eq!((topic, level), ("open files", Level::Bad));
        assert!(mend.starts_with("raise with ulimit -n 1064"), "{mend}");
        assert!(judge(&limited(1064, 1064), 1000).iter().all(|finding| finding.level == Level::Good));
        assert!(judge(&limited(u64::MAX, u64::MAX), 1000).iter().all(|finding| finding.level == Level::Good));
    }

    #[test]
    fn connections_are_held_against_ports_and_queues() {
        let few = Machine { ports: Some(PortRange { first: 60_000, last: 60_999 }), ..fine() };
        assert_eq!(complaint(&few, 1000).0, "ports");
        let deep = Machine { accept_queue_max: Some(128), ..fine() };
        let (topic, level, mend) = complaint(&deep, 300);
        assert_eq!(
            (topic, level, mend.as_str()),
            ("accept queue", Level::Warn, "sysctl -w net.core.somaxconn=300")
        );
        assert_eq!(complaint(&fine(), 3000).0, "SYN queue");
        let cookies = Machine { syn_cookies: Some(1), ..fine() };
        assert!(judge(&cookies, 3000).iter().all(|finding| finding.level == Level::Good));
        // Beyond the ports there are, whatever the rest.
        let many = judge(&fine(), 30_000);
        assert!(many.iter().any(|finding| finding.topic == "ports" && finding.level == Level::Warn));
    }

    #[test]
    fn each_setting_has_its_complaint() {
        let refused = driver::UringRefused(rustix::io::Errno::PERM);
        let cases = [
            (Machine { time_wait_reuse: Some(0), ..fine() }, ("TIME_WAIT", Level::Warn)),
            (Machine { cores: Some(2), ..fine() }, ("cores", Level::Note)),
            (Machine { cores: Some(1), ..fine() }, ("cores", Level::Warn)),
            (Machine { physical_cores: Some(1), ..fine() }, ("cores", Level::Note)),
            (Machine { governors: vec!["powersave".to_owned()], ..fine() }, ("CPU governor", Level::Warn)),
            (Machine { io_uring_refused: Some(refused), ..fine() }, ("io_uring", Level::Note)),
            (Machine { cgroup: None, ..fine() }, ("cgroup v2", Level::Note)),
            (Machine { cpu_pressure_pct: Some(10.1), ..fine() }, ("pressure", Level::Warn)),
            (Machine { steal_pct: Some(0.5), ..fine() }, ("steal", Level::Note)),
            (Machine { steal_pct: Some(1.5), ..fine() }, ("steal", Level::Warn)),
            (Machine { clock_source: Some("hpet".to_owned()), ..fine() }, ("clock", Level::Warn)),
            (Machine { swap_used_kib: Some(1), ..fine() }, ("swap", Level::Note)),
            (Machine { swap_used_kib: Some(SWAP_KIB_MAX + 1), ..fine() }, ("swap", Level::Warn)),
            (Machine { load_average: Some(4.1), ..fine() }, ("load", Level::Warn)),
            (
                Machine { others: Some(vec![of("java", 0.81), of("rustc", 0.2)]), ..fine() },
                ("other processes", Level::Warn),
            ),
        ];
        for (machine, expected) in cases {
            let (topic, level, mend) = complaint(&machine, 1000);
            assert_eq!((topic, level), expected);
            assert!(!mend.is_empty(), "{topic} has no mend");
        }
        let locked = Cgroup { dir: "/sys/fs/cgroup/a".into(), writable: false };
        assert_eq!(complaint(&Machine { cgroup: Some(locked), ..fine() }, 1000).1, Level::Note);
    }

    #[test]
    fn cores_that_are_not_alike_are_noted_with_what_a_split_makes_of_them() {
        let sides = "servers on 4-7 (node 1), client on 0-3 (node 0)";
        let unlike = UnlikeCores { what: "on 2 NUMA nodes".to_owned(), sides: sides.to_owned() };
        let machine = Machine { unlike_cores: Some(unlike), ..fine() };
        let (topic, level, mend) = complaint(&machine, 1000);
        assert_eq!((topic, level), ("cores", Level::Note));
        assert_eq!(mend, format!("write placement = \"split\" in experiments; then there are {sides}"));
        let found = &judge(&machine, 1000).into_iter().find(|it| it.topic == "cores").unwrap().found;
        assert!(found.starts_with("8, on 2 NUMA nodes: "), "{found}");
    }

    #[test]
    fn who_else_runs_is_named_and_steers_no_terminal() {
        let machine = Machine { others: Some(vec![of("ja\u{1b}va", 0.81), of("rustc", 0.2)]), ..fine() };
        let findings = judge(&machine, 100);
        let found = &findings.iter().find(|it| it.topic == "other processes").unwrap().found;
        assert_eq!(found, "used 1.01 cores just now (ja\\u{1b}va 0.81, rustc 0.20)");
    }

    #[test]
    fn a_missing_tool_is_noted_and_a_broken_one_warned_of() {
        let with = |state| {
            let mut machine = fine();
            machine.tools[0].1 = state;
            complaint(&machine, 1000)
        };
        assert_eq!(with(State::Missing), ("wrk", Level::Note, "apt-get install wrk".to_owned()));
        assert_eq!(with(State::Broken { reason: "no".to_owned() }).1, Level::Warn);
    }
}
