//! What a manifest's `[limits]` say holds for all that a stack starts, and goes with it.

use std::fs;
use std::net::TcpStream;
use std::time::{Duration as StdDuration, Instant};

use stack::{Running, StackError};

use crate::bench::{
    Bench, ROLE, SERVER, Told, boot_and_kill_the_parent, groups_of, hammer, lives, wait_until,
};

/// A target whose requests take 5 ms of CPU time, with `limits`.
fn limited(limits: &str) -> Bench {
    let script = r#"sleep 1000 & exec "$2" target --listen 127.0.0.1:$1 --model pool --threads 7 --burn 5ms"#;
    Bench::new(&format!(
        "[limits]\n{limits}\n[run]\ncommand = [\"sh\", \"-c\", '''{script}''', \"sh\", \"{{port}}\", \
        \"{{proofload}}\"]\n[[endpoint]]\nname = \"hello\"\npath = \"/hello\"\nbody = \"hello\"\n"
    ))
}

/// Boots, where quotas can be set; elsewhere the refusal must say so.
fn boot_with_quota(bench: &Bench) -> Option<Running> {
    let error = match bench.boot() {
        Ok(running) => return Some(running),
        Err(error) => error,
    };
    let text = error.to_string();
    assert!(matches!(error, StackError::Limit { .. }), "{text}");
    assert!(
        text.contains("cannot give stack `mine` a CPU quota of") && text.contains("run as root"),
        "{text}"
    );
    println!("NOT TRIED: {text}");
    None
}

#[test]
fn a_bound_of_open_files_holds_for_all_that_a_stack_starts() {
    let bench = limited("open_files = 64");
    let running = bench.boot().unwrap();
    let pids = running.pids();
    assert_eq!(pids.len(), 2);
    for pid in pids {
        let limits = fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
        let line = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
        assert_eq!(line.split_whitespace().take(2).collect::<Vec<_>>(), ["64", "64"]);
    }
    // The target has some files of its own, and the others wait to be accepted. What it was handed down may have numbers
    // beyond the bound, so that it has a few more.
    let clients: Vec<TcpStream> = (0..80).map(|_| TcpStream::connect(running.addr()).unwrap()).collect();
    let files = |pid: &i32| fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count);
    wait_until("all of its files are open", StdDuration::from_secs(5), || {
        running.pids().iter().map(files).max().is_some_and(|most| (62..72).contains(&most))
    });
    drop(clients);
    running.stop().unwrap();
    let error = limited("open_files = 1048576").boot();
    assert!(
        error.as_ref().err().is_none_or(|error| error.to_string().contains("a bound of 1048576 open files")),
        "{error:?}"
    );
}

#[test]
fn a_cpu_quota_holds_and_its_group_goes_with_the_stack() {
    let bench = limited("cpu = 0.2");
    let Some(running) = boot_with_quota(&bench) else { return };
    let groups = groups_of(running.pids()[0]);
    assert!(!groups.is_empty());
    let cpu = || {
        let usage = running.usage().unwrap().unwrap();
        (usage.cpu_user + usage.cpu_system).as_secs_f64()
    };
    let (before, begun) = (cpu(), Instant::now());
    // 400 ms of CPU time, which is 2 s at this quota.
    hammer(running.addr(), 80);
    let (used, took) = (cpu() - before, begun.elapsed().as_secs_f64());
    assert!(took > 1.5, "{took} s");
    assert!((0.1..0.25).contains(&(used / took)), "{} cores", used / took);
    running.stop().unwrap();
    assert!(groups.iter().all(|dir| !dir.exists()), "{groups:?}");
}

#[test]
fn a_quota_whose_process_was_killed_goes_with_the_next_boot() {
    let name = "limits::a_quota_whose_process_was_killed_goes_with_the_next_boot";
    let is_child = std::env::var_os(ROLE).is_some();
    if !is_child && boot_with_quota(&limited("cpu = 0.5")).is_none() {
        return;
    }
    let Some(Told { pids, groups, .. }) = boot_and_kill_the_parent(name, || limited("cpu = 0.5")) else {
        return;
    };
    assert!(!groups.is_empty());
    wait_until("the end", StdDuration::from_secs(6), || pids.iter().all(|pid| !lives(*pid)));
    // The kernel holds on to a group for a moment after its last process: then it goes with the boot after that.
    wait_until("the groups to go with a boot", StdDuration::from_secs(6), || {
        Bench::of_script(SERVER, "10s").boot().unwrap().stop().unwrap();
        groups.iter().all(|dir| !dir.exists())
    });
}
