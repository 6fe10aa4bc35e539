//! Stacks as real processes: they come up, are watched, and leave nothing behind, whoever dies first.

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration as StdDuration, Instant};

use http::Framing;
use plan::stack::{ConnectionUse, Endpoint, StackManifest};
use stack::{
    Afterwards, Chain, ChainOptions, Interrupt, Mismatch, Running, StackError, check_contract, missing,
};
use units::{Bytes, Duration};

use crate::bench::{
    Bench, SERVER, Told, boot_and_kill_the_parent, hammer, lives, pid_in, refuses, wait_until,
};
use crate::common::standin;

#[test]
fn a_stack_comes_up_is_watched_and_stops() {
    let bench = Bench::of_script(SERVER, "10s");
    let running = bench.boot().unwrap();
    assert!(running.is_alive() && running.exit_status().is_none());
    assert_eq!(running.id(), "mine");
    assert!(running.boot_took().unwrap() > Duration::ZERO);
    let program = running.effective_command().first().map(String::as_str);
    assert!(program.is_some_and(|path| path.starts_with('/') && path.ends_with("/sh")), "{program:?}");
    let before = running.usage().unwrap().unwrap();
    assert_eq!(before.processes, 1);
    let pool = before.thread_groups.iter().find(|group| group.name == "pool-*").unwrap();
    assert_eq!(pool.threads, 7);
    assert_eq!(before.threads, before.thread_groups.iter().map(|group| group.threads).sum::<u32>());
    assert!(before.rss > Bytes(100_000));
    hammer(running.addr(), 20_000);
    let after = running.usage().unwrap().unwrap();
    let used = (after.cpu_user + after.cpu_system).saturating_sub(before.cpu_user + before.cpu_system);
    assert!(used > Duration::from_millis(20), "{used}");

    let (addr, pids, cgroup) = (running.addr(), running.pids(), running.cgroup_dir().map(PathBuf::from));
    let report = running.stop().unwrap();
    assert!(!report.forced);
    assert!(pids.iter().all(|pid| !lives(*pid)) && refuses(addr));
    assert!(cgroup.is_none_or(|dir| !dir.exists()));
}

#[test]
fn dropping_a_stack_ends_it() {
    let bench = Bench::of_script(SERVER, "10s");
    let running = bench.boot().unwrap();
    let (addr, pids) = (running.addr(), running.pids());
    drop(running);
    assert!(pids.iter().all(|pid| !lives(*pid)) && refuses(addr));
}

/// An id that was given up may be anybody's a moment later, and what is looked for by it would be killed.
#[test]
fn the_id_of_a_stack_that_died_is_kept_until_nothing_of_it_is_left() {
    let bench = Bench::of_script(SERVER, "10s");
    let running = bench.boot().unwrap();
    let leader = running.processes().unwrap().leader;
    let state = || fs::read_to_string(format!("/proc/{leader}/stat")).ok().map(|stat| stat.contains(") Z "));
    for pid in running.pids() {
        rustix::process::kill_process(
            rustix::process::Pid::from_raw(pid).unwrap(),
            rustix::process::Signal::KILL,
        )
        .unwrap();
    }
    wait_until("the stack to be seen ended", StdDuration::from_secs(5), || !running.is_alive());
    let status = running.exit_status().unwrap();
    assert_eq!(status.code(), Some(128 + 9), "{status}");
    assert_eq!(state(), Some(true), "ended, and its id is still its own");
    let report = running.stop().unwrap();
    assert!(!report.forced);
    assert_eq!(state(), None, "and then it is given up");
}

#[test]
fn a_stack_that_other_machines_may_reach_is_told() {
    let open = SERVER.replace("127.0.0.1:", "0.0.0.0:");
    assert_ne!(open, SERVER);
    for (script, is_told) in [(SERVER, false), (open.as_str(), true)] {
        let bench = Bench::of_script(script, "10s");
        let running = bench.boot().unwrap();
        let beyond = signals::listener::beyond_loopback(&running.pids());
        assert_eq!(!beyond.is_empty(), is_told, "{beyond:?}");
        assert!(beyond.iter().all(|it| it.port() == running.addr().port()));
        running.stop().unwrap();
    }
}

#[test]
fn a_stack_that_is_deaf_to_sigterm_is_killed_with_its_daemons() {
    let script = r#"trap "" TERM
        setsid sh -c 'echo $$ > daemon; while :; do sleep 0.1; done' &
        "$2" target --listen 127.0.0.1:$1 & while :; do sleep 0.1; done"#;
    let bench = Bench::of_script(script, "10s");
    let running = bench.boot().unwrap();
    let daemon = pid_in(&bench.folder.path().join("work/daemon"));
    assert!(lives(daemon));
    let report = running.stop().unwrap();
    assert!(report.forced);
    assert!(report.took >= Duration::from_secs(3) && report.took < Duration::from_secs(6), "{}", report.took);
    assert!(!lives(daemon));
}

#[test]
fn grandchildren_are_gone_too_even_in_a_session_of_their_own() {
    let script = r#"
        (sleep 1000 & echo $! > grandchild; sleep 1000) &
        setsid sh -c 'trap "" TERM; echo $$ > daemon; while :; do sleep 0.1; done' &
        exec "$2" target --listen 127.0.0.1:$1"#;
    let bench = Bench::of_script(script, "10s");
    let running = bench.boot().unwrap();
    let work = bench.folder.path().join("work");
    let (grandchild, daemon) = (pid_in(&work.join("grandchild")), pid_in(&work.join("daemon")));
    assert!(lives(grandchild) && lives(daemon));
    assert!(running.usage().unwrap().unwrap().processes >= 4);
    running.stop().unwrap();
    assert!(!lives(grandchild) && !lives(daemon));
}

#[test]
fn a_supervisor_whose_pipe_closes_ends_everything_without_a_control_group() {
    let folder = tempfile::tempdir().unwrap();
    let files = ["server", "daemon"].map(|name| folder.path().join(name));
    let script = r#"
        setsid sh -c 'trap "" TERM; echo $$ > daemon; while :; do sleep 0.1; done' &
        echo $$ > server; while :; do sleep 0.1; done"#;
    let mut supervisor = Command::new(standin())
        .args(["supervise", "--", "sh", "-c", script])
        .current_dir(folder.path())
        .process_group(0)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = supervisor.stdin.take().unwrap();
    std::thread::sleep(StdDuration::from_millis(100));
    assert!(!files[0].exists(), "it waits for the word");
    pipe.write_all(b"g").unwrap();
    let pids = files.each_ref().map(|file| pid_in(file));
    assert!(pids.iter().all(|pid| lives(*pid)));
    drop(pipe);
    supervisor.wait().unwrap();
    assert!(pids.iter().all(|pid| !lives(*pid)));
}

/// `killall -9 proofload` ends what is called so, and what was started by it is to end as well.
#[test]
fn a_supervisor_is_not_called_as_the_binary_is() {
    let mut supervisor = Command::new(standin())
        .args(["supervise", "--", "sleep", "60"])
        .process_group(0)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let name = format!("/proc/{}/comm", supervisor.id());
    wait_until("its name", StdDuration::from_secs(5), || {
        fs::read_to_string(&name).is_ok_and(|name| name == "load-supervisor\n")
    });
    drop(supervisor.stdin.take());
    assert_eq!(supervisor.wait().unwrap().code(), Some(i32::from(stack::EXIT_NO_GO)));
}

#[test]
fn a_supervisor_tells_how_its_command_ended() {
    for (script, code) in [("exit 7", 7), ("kill -9 $$", 137)] {
        let mut supervisor = Command::new(standin())
            .args(["supervise", "--", "sh", "-c", script])
            .process_group(0)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let mut pipe = supervisor.stdin.take().unwrap();
        pipe.write_all(b"g").unwrap();
        assert_eq!(supervisor.wait().unwrap().code(), Some(code));
    }
    let orphan =
        Command::new(standin()).args(["supervise", "--", "true"]).stdin(Stdio::null()).status().unwrap();
    assert_eq!(orphan.code(), Some(i32::from(stack::EXIT_NO_GO)));
}

#[test]
fn a_boot_whose_process_is_killed_leaves_nothing() {
    let name = "life::a_boot_whose_process_is_killed_leaves_nothing";
    let Some(Told { addr, pids, .. }) = boot_and_kill_the_parent(name, || Bench::of_script(SERVER, "10s"))
    else {
        return;
    };
    wait_until("the end", StdDuration::from_secs(6), || refuses(addr) && pids.iter().all(|pid| !lives(*pid)));
}

#[test]
fn a_stack_that_never_comes_up_says_what_it_printed() {
    let bench = Bench::of_script("echo I have no licence >&2; sleep 1000", "400ms");
    let error = bench.boot().unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, StackError::NotReady { .. }), "{text}");
    assert!(text.contains("was not ready within 400ms") && text.contains("| I have no licence"), "{text}");
    assert!(text.contains("nothing listens there, and its processes listen on no port"), "{text}");
}

#[test]
fn a_stack_that_listens_elsewhere_is_told_where() {
    // Below the ports that the kernel gives to whoever asks for any: other tests have many of those.
    let script = r#"echo "$1" > port; exec "$2" target --listen 127.0.0.1:$(($1 % 20000 + 10000))"#;
    let bench = Bench::of_script(script, "2s");
    let text = bench.boot().unwrap_err().to_string();
    let told = pid_in(&bench.folder.path().join("work/port"));
    // Refused, unless the kernel gave the port to a server of another test meanwhile.
    assert!(text.contains(&format!("GET http://127.0.0.1:{told}/hello was ")), "{text}");
    let elsewhere = format!(
        "its processes listen on 127.0.0.1:{}; have it listen on 127.0.0.1:{{port}}",
        told % 20_000 + 10_000
    );
    assert!(text.contains(&elsewhere), "{text}");
}

/// The manifest was read before; what lies there now is another file.
#[test]
fn a_template_that_has_no_end_is_not_read_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("stacks/mine");
    fs::create_dir_all(&dir).unwrap();
    let text = "title = \"Mine\"\nfamily = \"test\"\ngeneration = \"timeless\"\n\
                [run]\ncommand = [\"sleep\", \"10\", \"{port}\"]\n[ready]\ntimeout = \"100ms\"\n\
                [[endpoint]]\nname = \"hello\"\npath = \"/hello\"\n\
                [[file]]\ntemplate = \"app.conf\"\nname = \"app.conf\"\n";
    fs::write(dir.join("stack.toml"), text).unwrap();
    fs::write(dir.join("app.conf"), "port = {port}\n").unwrap();
    let stack = StackManifest::load(&dir).unwrap().swap_remove(0);
    let bench = Bench { folder, stack };
    fs::File::options().write(true).open(dir.join("app.conf")).unwrap().set_len(17 << 20).unwrap();
    let error = bench.boot().unwrap_err();
    assert!(matches!(error, StackError::Template(_)), "{error}");
    assert!(error.to_string().contains("app.conf: is longer than 16 MiB"), "{error}");
}

#[test]
fn what_is_to_be_run_by_hand_can_be_pasted_into_a_shell() {
    let bench = Bench::of_script("echo 'it is' broken; exit 3", "10s");
    let text = bench.boot().unwrap_err().to_string();
    let command = text.split("run it by hand: ").nth(1).unwrap().lines().next().unwrap();
    let again = Command::new("sh").args(["-c", command]).output().unwrap();
    assert_eq!(again.status.code(), Some(3), "{command}");
    assert_eq!(String::from_utf8_lossy(&again.stdout), "it is broken\n", "{command}");
}

#[test]
fn a_stack_that_dies_says_how_and_what_it_printed() {
    let bench = Bench::of_script("echo bad configuration; exit 3", "10s");
    let begun = Instant::now();
    let text = bench.boot().unwrap_err().to_string();
    assert!(begun.elapsed() < StdDuration::from_secs(5));
    assert!(text.contains("exit status: 3") && text.contains("| bad configuration"), "{text}");
    assert!(text.contains("see why below") && !text.contains("foreground"), "{text}");
    let daemon = Bench::of_script("sleep 60 &", "10s");
    let text = daemon.boot().unwrap_err().to_string();
    assert!(text.contains("exit status: 0") && text.contains("stay in the foreground"), "{text}");
    let absent = Bench::new(
        "[run]\ncommand = [\"proofload-no-such-server\", \"{port}\"]\n[[endpoint]]\nname = \"a\"\npath = \"/\"\n",
    );
    let text = absent.boot().unwrap_err().to_string();
    assert!(
        text.contains("exit status: 127") && text.contains("cannot start `proofload-no-such-server"),
        "{text}"
    );
}

#[test]
fn a_port_that_is_lost_is_replaced_by_another() {
    // The first start loses its port to "another program"; its log says so.
    let script = r#"
        if [ ! -e lost ]; then touch lost; echo "bind: Address already in use" >&2; exit 1; fi
        exec "$2" target --listen 127.0.0.1:$1"#;
    let bench = Bench::of_script(script, "10s");
    bench.boot().unwrap().stop().unwrap();
    let always = Bench::of_script("echo EADDRINUSE; exit 1", "10s");
    let text = always.boot().unwrap_err().to_string();
    assert!(text.contains("in use on each of 3 starts") && text.contains("| EADDRINUSE"), "{text}");
}

/// A stack that always listens at `port`.
fn of_port(port: u16) -> Bench {
    Bench::new(&format!(
        "[run]\nport = {port}\ncommand = [\"{{proofload}}\", \"target\", \"--listen\", \"127.0.0.1:{port}\"]\n\
         [ready]\ntimeout = \"10s\"\n[[endpoint]]\nname = \"hello\"\npath = \"/hello\"\nbody = \"hello\"\n"
    ))
}

/// It would be measured in place of the stack, or beside it.
#[test]
fn what_has_the_only_port_of_a_stack_is_waited_for_and_named() {
    // Not one that the kernel gives to whoever asks for any: once it is free, it is to stay so for a moment.
    let first = 20_000 + (std::process::id() % 10_000) as u16;
    let listen = |port: u16| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).ok();
    let other = (first..32_000).find_map(listen).unwrap();
    let port = other.local_addr().unwrap().port();
    let bench = of_port(port);
    let text = bench.boot().unwrap_err().to_string();
    let held = format!("on port {port} only, and another process uses that port; stop it (ss -ltnp");
    assert!(text.contains(&held), "{text}");
    assert!(!bench.log().exists(), "nothing was started");
    let ending = std::thread::spawn(move || {
        std::thread::sleep(StdDuration::from_millis(300));
        drop(other);
    });
    let running = bench.boot().unwrap();
    ending.join().unwrap();
    assert_eq!(running.addr().port(), port);
    running.stop().unwrap();
}

#[test]
fn what_a_stack_leaves_in_the_background_ends_with_it() {
    let script = r#"sleep 1000 & echo $! > left; "$2" target --listen 127.0.0.1:$1 & sleep 1"#;
    let bench = Bench::of_script(script, "10s");
    let running = bench.boot().unwrap();
    wait_until("the command's end", StdDuration::from_secs(8), || !running.is_alive());
    assert!(running.exit_status().unwrap().success());
    assert!(!lives(pid_in(&bench.folder.path().join("work/left"))));
    assert!(refuses(running.addr()));
}

#[test]
fn a_build_runs_only_when_its_inputs_changed() {
    let bench = Bench::new(
        "[build]\ncommand = [\"sh\", \"-c\", \"echo run; cp stack.toml {build_dir}/out; sleep 0.2\"]\n\
        inputs = [\"stack.toml\"]\noutput = \"out\"\n[run]\ncommand = [\"a\", \"{port}\"]\n\
        [[endpoint]]\nname = \"a\"\npath = \"/\"\n",
    );
    let log = bench.log();
    let built = std::thread::scope(|scope| {
        let builders: Vec<_> = (0..3).map(|_| scope.spawn(|| bench.build().unwrap().built)).collect();
        builders.into_iter().filter_map(|builder| builder.join().ok()).filter(|built| *built).count()
    });
    assert_eq!(built, 1);
    assert_eq!(fs::read_to_string(&log).unwrap(), "run\n");
    let manifest = bench.stack.dir.join("stack.toml");
    fs::write(&manifest, fs::read_to_string(&manifest).unwrap() + "# changed\n").unwrap();
    assert!(bench.build().unwrap().built);
    fs::remove_file(bench.stack.build_dir().join("out")).unwrap();
    assert!(bench.build().unwrap().built);
    assert!(!bench.build().unwrap().built);
}

#[test]
fn an_interrupted_build_ends_and_the_next_begins_afresh() {
    let bench = Bench::new(
        "[build]\ncommand = [\"sh\", \"-c\", \"[ -e {build_dir}/half ] && exit 9; echo half > {build_dir}/half; \
        echo $$ > pid; [ -e go ] || sleep 60; touch {build_dir}/out\"]\n\
        inputs = [\"stack.toml\"]\noutput = \"out\"\n[run]\ncommand = [\"a\", \"{port}\"]\n\
        [[endpoint]]\nname = \"a\"\npath = \"/\"\n",
    );
    let pid = bench.stack.dir.join("pid");
    let is_under_way = || fs::read_to_string(&pid).is_ok_and(|pid| pid.ends_with('\n'));
    let (begun, wanted) = (Instant::now(), AtomicBool::new(false));
    let error = std::thread::scope(|scope| {
        scope.spawn(|| {
            wait_until("a build's begin", StdDuration::from_secs(20), is_under_way);
            wanted.store(true, Ordering::Relaxed);
        });
        bench.build_until(Interrupt::when(&wanted)).unwrap_err()
    });
    assert!(matches!(error, StackError::Interrupted { doing: "built", .. }), "{error}");
    assert!(begun.elapsed() < StdDuration::from_secs(20));
    assert!(!lives(fs::read_to_string(&pid).unwrap().trim().parse().unwrap()));
    fs::write(bench.stack.dir.join("go"), "").unwrap();
    assert!(bench.build().unwrap().built);
}

/// The kernel would wait on, whatever signal comes.
#[test]
fn a_build_that_waits_for_another_can_be_interrupted() {
    let bench = Bench::new(
        "[build]\ncommand = [\"sh\", \"-c\", \"touch {build_dir}/out\"]\ninputs = [\"stack.toml\"]\n\
        output = \"out\"\n[run]\ncommand = [\"a\", \"{port}\"]\n[[endpoint]]\nname = \"a\"\npath = \"/\"\n",
    );
    let folder = bench.stack.build_dir();
    fs::create_dir_all(&folder).unwrap();
    let lock = fs::File::create(folder.join(".lock")).unwrap();
    lock.lock().unwrap();
    let wanted = AtomicBool::new(true);
    let error = bench.build_until(Interrupt::when(&wanted)).unwrap_err();
    assert!(matches!(error, StackError::Interrupted { doing: "built", .. }), "{error}");
    drop(lock);
    assert!(bench.build().unwrap().built);
}

#[test]
fn what_is_no_file_or_a_run_wrote_is_nothing_to_build_from() {
    let bench = Bench::new(
        "[build]\ncommand = [\"sh\", \"-c\", \"touch {build_dir}/out\"]\ninputs = [\".\"]\noutput = \"out\"\n\
        [run]\ncommand = [\"a\", \"{port}\"]\n[[endpoint]]\nname = \"a\"\npath = \"/\"\n",
    );
    let dir = &bench.stack.dir;
    assert!(bench.build().unwrap().built);
    // An editor's lock, what a server left, and a pipe, which would keep a reader waiting.
    std::os::unix::fs::symlink("nobody@nowhere.1", dir.join(".#main.go")).unwrap();
    drop(std::os::unix::net::UnixListener::bind(dir.join("app.sock")).unwrap());
    assert!(std::process::Command::new("mkfifo").arg(dir.join("pipe")).status().unwrap().success());
    let run = dir.join("perf/2026");
    fs::create_dir_all(run.join("trials")).unwrap();
    for name in ["experiment.toml", "trials.jsonl"] {
        fs::write(run.join(name), "x").unwrap();
    }
    assert!(!bench.build().unwrap().built);
    fs::write(dir.join("perf/main.go"), "x").unwrap();
    assert!(bench.build().unwrap().built, "what lies beside a run is built from");
}

#[test]
fn a_build_that_was_killed_leaves_nothing_for_the_next() {
    let bench = Bench::new(
        "[build]\ncommand = [\"sh\", \"-c\", \"[ -e {build_dir}/half ] && exit 9; echo half > {build_dir}/half; \
        [ -e go ] || kill -9 $$; touch {build_dir}/out\"]\ninputs = [\"stack.toml\"]\noutput = \"out\"\n\
        [run]\ncommand = [\"a\", \"{port}\"]\n[[endpoint]]\nname = \"a\"\npath = \"/\"\n",
    );
    assert!(bench.build().is_err());
    fs::write(bench.stack.dir.join("go"), "").unwrap();
    assert!(bench.build().unwrap().built);
}

#[test]
fn a_build_that_fails_says_what_to_run_by_hand() {
    let bench = Bench::new(
        "[build]\ncommand = [\"sh\", \"-c\", \"echo no compiler; exit 2\"]\ninputs = [\"stack.toml\"]\n\
        output = \"out\"\n[run]\ncommand = [\"a\", \"{port}\"]\n[[endpoint]]\nname = \"a\"\npath = \"/\"\n",
    );
    let text = bench.build().unwrap_err().to_string();
    let by_hand = "&& sh -c 'echo no compiler; exit 2'";
    for part in ["exit status: 2", "run it by hand: cd ", by_hand, "| no compiler"] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn a_contract_tells_every_difference() {
    let bench = Bench::of_script(SERVER, "10s");
    let running = bench.boot().unwrap();
    let right = bench.stack.endpoint("hello").unwrap();
    let limit = Duration::from_secs(5);
    let report = check_contract(&running, right, limit).unwrap();
    assert_eq!(report.matches, Ok(()));
    assert_eq!((report.status, report.framing, report.wire_bytes), (200, Framing::ContentLength, Bytes(69)));
    assert!(report.afterwards == Afterwards::Kept && report.tries == 1 && report.head.ends_with(b"\r\n\r\n"));
    assert_eq!(report.headers[0], ("Content-Type".to_owned(), "text/plain".to_owned()));

    let wrong = Endpoint {
        status: 201,
        body: Some("world".to_owned()),
        delay: Some(Duration::from_secs(3)),
        connection: ConnectionUse::Close,
        ..right.clone()
    };
    let report = check_contract(&running, &wrong, limit).unwrap();
    let took = report.took;
    let expected = vec![
        Mismatch::Status { expected: 201, got: 200 },
        Mismatch::Body { expected: "world".to_owned(), got: "hello".to_owned() },
        Mismatch::Early { delay: Duration::from_secs(3), took },
        Mismatch::Connection { expected: ConnectionUse::Close },
    ];
    assert_eq!(report.matches, Err(expected));
    let fussy = Endpoint {
        wire_bytes: Some(Bytes(70)),
        framing: Some(Framing::Chunked),
        thread: Some("nobody".to_owned()),
        ..right.clone()
    };
    let found = check_contract(&running, &fussy, limit).unwrap().matches.unwrap_err();
    assert_eq!(
        found[..2],
        [
            Mismatch::WireBytes { expected: Bytes(70), got: Bytes(69) },
            Mismatch::Framing { expected: Framing::Chunked, got: Framing::ContentLength },
        ]
    );
    assert!(matches!(&found[2], Mismatch::Thread { got, .. } if !got.is_empty()), "{found:?}");
    let wrong: Vec<bool> = found.iter().map(Mismatch::is_wrong_answer).collect();
    assert_eq!(wrong, [false, false, true]);
    for pid in running.pids() {
        assert!(Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap().success());
    }
    wait_until("the stack to be gone", StdDuration::from_secs(5), || !running.is_alive());
    let error = check_contract(&running, right, limit).unwrap_err().to_string();
    assert!(error.contains(&format!("GET http://{}/hello was refused", running.addr())), "{error}");
}

#[test]
fn a_taken_port_is_not_mistaken_for_the_stack() {
    // A program that never listens, and a foreign server on the port it was told: not ready, but not ours.
    let script = r#"
        if [ ! -e first ]; then
            touch first
            echo "$1" > port
            sleep 1000
        fi
        exec "$2" target --listen 127.0.0.1:$1"#;
    let bench = Bench::of_script(script, "10s");
    let port_file = bench.folder.path().join("work/port");
    let (addr, foreign) = std::thread::scope(|scope| {
        let foreign = scope.spawn(|| {
            let listener = TcpListener::bind(("127.0.0.1", pid_in(&port_file) as u16)).unwrap();
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 1024]).unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello").unwrap();
            listener
        });
        let running = bench.boot().unwrap();
        let addr = running.addr();
        running.stop().unwrap();
        (addr, foreign.join().unwrap())
    });
    assert_ne!(addr, foreign.local_addr().unwrap());
}

#[test]
fn tools_that_are_missing_are_named_with_their_package() {
    let bench = Bench::new(
        "[needs]\ntools = [\"sh\", \"proofload-no-such-tool\"]\n[run]\ncommand = [\"a\", \"{port}\"]\n\
        [[endpoint]]\nname = \"a\"\npath = \"/\"\n",
    );
    let missing = missing(&bench.stack);
    assert_eq!(missing.len(), 1);
    assert_eq!(missing[0].name, "proofload-no-such-tool");
}

#[test]
fn a_chain_is_booted_from_its_far_end_and_stopped_as_one() {
    let mut back = Bench::of_script(SERVER, "10s");
    back.stack.id = "back".into();
    // It says where its upstream is in the body of its one file, which is all that a proxy need do here.
    let script = r#"echo "$3" > upstream; exec "$2" target --listen 127.0.0.1:$1 --model pool --threads 7"#;
    let front = Bench::new(&format!(
        "upstream = \"back\"\n[run]\ncommand = [\"sh\", \"-c\", '''{script}''', \"sh\", \"{{port}}\", \
        \"{{proofload}}\", \"{{upstream}}\"]\n[[endpoint]]\nname = \"hello\"\npath = \"/hello\"\nbody = \"hello\"\n"
    ));
    let dir = front.folder.path().join("trial");
    let options = ChainOptions {
        proofload_exe: standin(),
        dir: &dir,
        address: Ipv4Addr::LOCALHOST,
        cpus: None,
        interrupt: Interrupt::NEVER,
    };
    let chain = Chain::boot(&[&back.stack, &front.stack], &options).unwrap();
    let upstream = chain.upstreams()[0].addr();
    assert_eq!(fs::read_to_string(dir.join("work/upstream")).unwrap().trim(), upstream.to_string());
    assert!(dir.join("server.log").exists() && dir.join("upstream-back/server.log").exists());
    assert_eq!((chain.all().len(), chain.dead().map(Running::id)), (2, None));
    let clients: Vec<TcpStream> = (0..3).map(|_| TcpStream::connect(upstream).unwrap()).collect();
    assert_eq!(chain.upstream_connections(), 3);
    drop(clients);
    let pids: Vec<i32> = chain.all().iter().flat_map(Running::pids).collect();
    assert!(!chain.stop().unwrap().forced);
    assert!(pids.len() >= 2 && pids.into_iter().all(|pid| !lives(pid)));
}

#[test]
fn what_stands_behind_goes_when_the_front_does_not_come_up() {
    let back = Bench::of_script(&format!("echo $1 > port; {SERVER}"), "10s");
    let front = Bench::of_script("exit 3", "5s");
    let options = ChainOptions {
        proofload_exe: standin(),
        dir: front.folder.path(),
        address: Ipv4Addr::LOCALHOST,
        cpus: None,
        interrupt: Interrupt::NEVER,
    };
    let error = Chain::boot(&[&back.stack, &front.stack], &options).unwrap_err().to_string();
    assert!(error.contains("ended with exit status: 3"), "{error}");
    let port = fs::read_to_string(front.folder.path().join("upstream-mine/work/port")).unwrap();
    assert!(TcpStream::connect(format!("127.0.0.1:{}", port.trim())).is_err());
}
