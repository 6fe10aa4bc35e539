//! Bad input gets one clear error, a documented exit code, and leaves nothing behind.

use std::ffi::OsStr;
use std::fs;
use std::net::TcpListener;
use std::os::unix::ffi::OsStrExt;

use crate::common::{NOBODY, ends_with, proofload, run, text};
use crate::recorded::Runs;

/// Arguments, exit code, and what the one error has to say.
fn refused(arguments: &[&str], code: i32, says: &[&str]) {
    let output = run(arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
    for part in says {
        assert!(stderr.contains(part), "{arguments:?} should say {part:?}: {stderr}");
    }
    assert!(output.stdout.is_empty(), "{arguments:?} prints a result");
    assert!(!stderr.contains("panicked"), "{stderr}");
}

#[test]
fn arguments_that_make_no_sense() {
    let url = "http://127.0.0.1:1/";
    refused(&["hit", url, "-c", "0"], 2, &["zero connections", "at least one"]);
    refused(&["hit", url, "-d", "30"], 2, &["unknown unit", "30s"]);
    for option in ["-d", "--duration", "--think", "--warm-up", "--timeout", "--ramp-up"] {
        refused(
            &["hit", url, option, "-5s"],
            2,
            &["'-5s' for '", "a duration can't be negative", "250ms or 30s"],
        );
    }
    refused(&["hit", url, "--rate", "-20"], 2, &["a rate can't be negative"]);
    refused(&["hit", url, "-c", "-5"], 2, &["invalid value '-5' for '--connections"]);
    refused(&["error-rates", "--noise", "-3%"], 2, &["a share can't be negative"]);
    refused(&["target", "--body-bytes", "-1KiB"], 2, &["a size can't be negative"]);
    refused(&["hit", url, "--rate", "0"], 2, &["above 0"]);
    refused(&["hit", url, "--poisson"], 2, &["need a rate"]);
    refused(&["hit", url, "--rate", "5", "--think", "1s"], 2, &["exclude each other"]);
    refused(&["hit", url, "--burst", "5"], 2, &["bursts need a rate"]);
    refused(&["hit", url, "--rate", "5", "--ramp-up", "1s"], 2, &["exclude each other", "leave one"]);
    refused(&["hit", url, "-n", "5", "--requests-per-user", "1"], 2, &["exclude each other", "leave one"]);
    for status in ["99", "100", "1000"] {
        refused(&["hit", url, "--expect-status", status], 2, &["--expect-status", "is not in 200..=999"]);
    }
    refused(&["hit", url, "-H", "no colon"], 2, &["no colon", "Accept: text/html"]);
    refused(&["hit", url, "-H", "A: b\nC: d"], 2, &["not valid"]);
    refused(&["hit", url, "--body-file", "/no/such/file"], 2, &["/no/such/file"]);
    refused(
        &["hit", url, "--body", "@/no/such/file"],
        2,
        &["/no/such/file: the body", "check the path", "--body @@/no/such/file"],
    );
    refused(&["hit", url, "--body", "@"], 2, &["--body @ names no file", "'@@'"]);
    refused(
        &["hit", url, "--expect-body", "@/no/such/file"],
        2,
        &["/no/such/file", "--expect-body @@/no/such/file"],
    );
    refused(
        &["hit", url, "--hgrm", "/no/such/file", "--jtl", "/no/such/file"],
        2,
        &["/no/such/file: --hgrm and --jtl name one file", "name a file for each"],
    );
    refused(&["hit", url, "--hlog", "no-such-file", "--jtl", "./no-such-file"], 2, &["name one file"]);
    refused(&["diff", "main", "--junit", "/no/such/folder/gate.xml"], 1, &["its folder is not there"]);
    refused(&["explain", "no-such-run", "--runs", "elsewhere"], 2, &["--confirm"]);
    refused(&["hit", "127.0.0.1:8080"], 2, &["not a URL", "http://"]);
    refused(&["hit", "ftp://127.0.0.1/"], 2, &["scheme"]);
    refused(&["hit", url, "--frobnicate"], 2, &["--frobnicate"]);
    refused(&["run"], 2, &["EXPERIMENT"]);
    refused(&["target", "--stall", "2s/1s"], 2, &["stall"]);
    refused(&["target", "--model", "magic"], 2, &["event-loop"]);
    refused(&["target", "--path", "/x=gauss:1ms"], 2, &["no distribution `gauss`", "exp:5ms"]);
    refused(&["target", "--block-loop", "1ms", "--model", "pool"], 2, &["no event loop", "--serial"]);
    refused(&["target", "--burn-serial"], 2, &["--burn <DURATION>"]);
    refused(&["target", "--log-bytes", "1KiB"], 2, &["--log-file"]);
    refused(&["target", "--error-share", "some"], 2, &["--error-share", "0.1 or 10%"]);
    refused(&["target", "--threads", "4"], 2, &["the model event-loop has none", "--model pool"]);
    refused(&["target", "--fail-fast"], 2, &["no errors", "--error-share"]);
    refused(&["error-rates", "--noise", "3"], 2, &["unknown unit", "%"]);
    refused(&["error-rates", "--stacks", "1"], 2, &["2..=50"]);
    for blocks in [&["--blocks-max", "5"][..], &["--blocks", "10", "--blocks-max", "5"]] {
        let arguments = [&["error-rates"][..], blocks].concat();
        refused(&arguments, 2, &["5 blocks at most are fewer than the 10 at any rate", "raise --blocks-max"]);
    }
    refused(&["calibrate", "--case", "fixed"], 2, &["no case `fixed`", "fixed-5ms"]);
    refused(&["calibrate", "--quick", "--case", "freeze"], 2, &["among the quick ones", "stall"]);
}

/// Clap would take it for an option that there is not, and advise to write `--` before it, which makes a free argument of it.
#[test]
fn what_begins_with_a_minus_sign_is_told_what_it_should_be() {
    let url = "http://127.0.0.1:1/";
    for arguments in [
        &["hit", url, "-c"][..],
        &["hit", url, "-n"],
        &["hit", url, "--burst"],
        &["hit", url, "--backlog"],
        &["hit", url, "--requests-per-user"],
        &["hit", url, "--expect-status"],
        &["hit", url, "--save-responses"],
        &["hit", url, "--streams"],
        &["hit", url, "--window-bits"],
        &["hit", url, "--seed"],
        &["hit", url, "--pods"],
        &["run", "x.toml", "--last-runs"],
        &["sb", "-u", url, "-n"],
        &["sb", "-u", url, "-c"],
        &["sb", "-u", url, "-N"],
        &["target", "--threads"],
        &["target", "--backlog"],
        &["target", "--close-every"],
        &["calibrate", "--agents"],
        &["error-rates", "--blocks"],
        &["doctor", "-c"],
    ] {
        let arguments = [arguments, &["-5"]].concat();
        refused(&arguments, 2, &["invalid value '-5' for '--", "can't be negative; write it like 100"]);
    }
    for (option, value, says) in [
        ("--fail-if", "-5", "`-5` compares nothing; write it like"),
        ("--stop-if", "-5", "`-5` compares nothing; write it like"),
        ("--cpu", "-5", "`-5` is no amount of CPU; write cores"),
        ("--memory", "-5", "`-5` is no amount of memory; write bytes"),
        ("--tls-max", "-1", "`-1` is no version of TLS"),
        ("--http-version", "-1", "invalid value '-1' for '--http-version"),
        // Text is whatever it is.
        ("--body", "-5", "cannot connect"),
        ("--expect-body", "-5", "cannot connect"),
    ] {
        let code = if says == "cannot connect" { 3 } else { 2 };
        refused(&["hit", url, option, value], code, &[says]);
    }
    for arguments in [
        &["hit", url, "-z", "5"][..],
        &["hit", url, "-H", "-5"],
        &["run", "--blocks", "-5", "x.toml"],
        &["report", "R", "--baseline", "x"],
    ] {
        refused(arguments, 2, &["error: unexpected argument '-", "Usage: "]);
        let stderr = String::from_utf8_lossy(&run(arguments).stderr).into_owned();
        assert!(!stderr.contains("tip:"), "{arguments:?}: {stderr}");
    }
    // What helps is said all the same.
    refused(&["hit", url, "--connectoins", "5"], 2, &["tip: a similar argument exists: '--connections'"]);
}

/// Else the server would be blamed for requests that nobody could have answered.
#[test]
fn a_load_of_users_has_a_length_and_gives_answers_time() {
    let url = "http://127.0.0.1:1/{{uuid}}";
    for (option, says) in [
        ("--timeout", "a timeout of zero"),
        ("--connect-timeout", "a connect timeout of zero"),
        ("-d", "a duration of zero"),
    ] {
        refused(&["hit", url, option, "0"], 2, &[says, "give it a length"]);
    }
    refused(&["hit", url, "--rate", "5", "-d", "0s"], 2, &["a duration of zero"]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("users.toml");
    fs::write(&file, "timeout = \"0\"\n[[steps]]\nrequest = \"GET http://127.0.0.1:1/\"\n").unwrap();
    let file = file.to_str().unwrap();
    refused(&["hit", "--scenario", file], 2, &[file, "a timeout of zero"]);
}

#[test]
fn a_password_in_a_url_of_wrk_is_not_shown() {
    let told = ends_with(1, &["wrk", "http://me:secret@127.0.0.1:1/"]);
    assert!(told.contains("carries a user name or password; send it as a header"), "{told}");
    assert!(!told.contains("secret"), "{told}");
}

#[test]
fn what_is_no_whole_number_is_told_so() {
    let url = "http://127.0.0.1:1/";
    for (arguments, says) in [
        (&["hit", url, "-n", "many"][..], "not a whole number; write it like 100"),
        (&["hit", url, "-c", "2.5"], "not a whole number; write it like 100"),
        (&["hit", url, "-c", "99999999999"], "it must be at most 4294967295"),
        (&["hit", url, "--burst", "0"], "it must be at least 1"),
        (&["hit", url, "--save-responses", "5000"], "5000 is not in 1..=1000"),
        (&["error-rates", "--blocks", "300"], "300 is not in 1..=100"),
        (&["calibrate", "--agents", "x"], "not a whole number; write it like 100"),
    ] {
        refused(arguments, 2, &[says]);
    }
}

/// Clap does not ask for what an option requires where another one excludes that.
#[test]
fn an_option_is_refused_without_the_one_that_it_is_about() {
    let url = "http://127.0.0.1:1/";
    for (arguments, option, needed) in [
        (&["hit", url, "--no-pauses"][..], "--no-pauses", "--har"),
        (&["hit", "--scenario", "x.toml", "--no-pauses"], "--no-pauses", "--har"),
        (&["hit", url, "--host", "shop.test:80"], "--host", "--scenario"),
        (&["hit", "--scenario", "x.toml", "--pods", "3", "--image", "x"], "--pods", "--on"),
        (&["hit", "--scenario", "x.toml", "--manifest"], "--manifest", "--on"),
        (
            &["hit", "--scenario", "x.toml", "--watch", "metrics", "--watch-pods", "app=shop"],
            "--watch",
            "--on",
        ),
        (&["hit", "--har", "x.har", "--agent-command", "x"], "--agent-command", "--hosts"),
        (&["hit", url, "--agents", "127.0.0.1:1", "--cpu", "2"], "--cpu", "--on"),
        (&["hit", url, "--unix-socket", "x.sock", "--proxy-user", "a:b"], "--proxy-user", "--proxy"),
        (&["run", "--hosts", "a", "--pods", "3"], "--pods", "--on"),
        (&["check", "gin", "--variants"], "--variants", "--all"),
        (&["build", "gin", "--variants"], "--variants", "--all"),
    ] {
        let said = format!("{option} only works with {needed}; add {needed}, or leave {option} out");
        refused(arguments, 2, &[said.as_str()]);
    }
}

#[test]
fn counts_beyond_what_a_machine_can_do_are_refused_before_anything_is_made() {
    let url = "http://127.0.0.1:1/";
    refused(&["hit", url, "--rate", "1000M"], 2, &["1000000000/s is more than 100000000/s", "packet"]);
    refused(&["hit", url, "--rate", "9", "--backlog", "4294967295"], 2, &["more than 16777216"]);
    refused(&["hit", url, "-c", "9000", "-t", "9000"], 2, &["9000 threads are more than 1024"]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("many.toml");
    // Each group alone is within what 32 bits count, and their sum is not.
    let group = |users: &str, number: u32| {
        format!("[[groups]]\nname = \"g{number}\"\n{users}\n[[groups.steps]]\nrequest = \"GET /\"\n")
    };
    for (count, users, sum) in [
        (1, "load.users = 4000000000", "4000000000 users"),
        (2, "load.users = 4000000000", "8000000000 users"),
        (2, "load.users = 600000", "1200000 users"),
        (101, "load.rate = \"9000/s\"\nload.duration = \"60s\"", "1010000 users"),
        (1, "load.rate = \"1000M/s\"", "1000000000/s is more than"),
    ] {
        let groups: String = (0..count).map(|number| group(users, number)).collect();
        fs::write(&file, format!("base = \"http://127.0.0.1:1\"\n{groups}")).unwrap();
        let more = if sum.contains("users") { "more than 1000000" } else { "packet" };
        refused(&["hit", "--scenario", file.to_str().unwrap()], 2, &[sum, more]);
    }
}

/// A port that nobody said would be looked for in vain.
#[test]
fn a_server_that_is_named_without_its_port_is_told_so() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("one.toml");
    let text = "base = \"http://127.0.0.1:1\"\nload = { users = 1, iterations = 1 }\n[[steps]]\nrequest = \"GET /\"\n";
    fs::write(&file, text).unwrap();
    let scenario = ["hit", "--scenario", file.to_str().unwrap(), "--host", "shop.test"];
    refused(&scenario, 2, &["`shop.test` in --host has no port", "as in shop.test:80"]);
}

#[test]
fn nobody_there() {
    refused(&["hit", &format!("http://{NOBODY}/")], 3, &["cannot connect", "start the server"]);
    refused(&["hit", "http://no-such-host.invalid/"], 3, &["does not resolve"]);
}

#[test]
fn a_port_in_use() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    refused(&["target", "--listen", &address], 1, &[&address]);
}

#[test]
fn experiments_with_mistakes_name_file_and_line_and_write_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("x.toml");
    let runs = dir.path().join("runs");
    let good = "title = \"t\"\n[[round]]\nname = \"r\"\nendpoint = \"hello\"\nstacks = [\"target-pool\"]\n";
    for (text, says) in [
        (good.replace("title", "titel"), "x.toml:1:"),
        (good.replace("stacks =", "stack ="), "unknown key `stack`; did you mean stacks?"),
        (
            format!("{good}load = {{ connections = \"5\" }}\n"),
            "`connections` is given string \"5\", and takes a whole number",
        ),
        (format!("connections = 32\n{good}"), "unknown key `connections`; it belongs into [load]"),
        (
            good.replace("[[round]]", "[round]"),
            "`round` is one table, and takes a list of them; write [[round]]",
        ),
        (good.replace("target-pool", "target-pol"), "did you mean target-pool"),
        (good.replace("\"hello\"", "\"helo\""), "no endpoint `helo`"),
        (format!("{good}load = {{ duration = \"5\" }}\n"), "x.toml:6:"),
        (format!("{good}load = {{ connections = [0] }}\n"), "zero connections"),
        (format!("{good}load = {{ connections = [1], colour = 1 }}\n"), "colour"),
    ] {
        fs::write(&file, &text).unwrap();
        let arguments = ["run", file.to_str().unwrap(), "--runs", runs.to_str().unwrap()];
        refused(&arguments, 2, &["x.toml:", says]);
        assert!(!runs.exists(), "something was written for {text}");
    }
    refused(&["run", "/no/such/experiment.toml"], 2, &["/no/such/experiment.toml", "check the path"]);
    // The file that is not there goes before the stacks that are not.
    let outside = ["run", "nope.toml", "--stacks", "/no/such/folder"];
    let output = run(&outside);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        stderr.starts_with("proofload: nope.toml: cannot be read") && !stderr.contains("/no/such/folder"),
        "{stderr}"
    );
    refused(&outside, 2, &["check the path"]);
    refused(&["check", "no-such-stack"], 2, &["no-such-stack"]);
    refused(&["list", "--stacks", "/no/such/folder"], 2, &["/no/such/folder"]);
}

#[test]
fn a_path_need_not_be_text() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(OsStr::from_bytes(b"quick-\xff.toml"));
    let good = "title = \"t\"\n[[round]]\nname = \"r\"\nendpoint = \"hello\"\nstacks = [\"target-pool\"]\n";
    fs::write(&file, good).unwrap();
    let output = proofload().args(["run", "--dry-run"]).arg(&file).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
}

#[test]
fn a_dry_run_refuses_what_the_run_would() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("x.toml");
    let good = "title = \"t\"\n[[round]]\nname = \"r\"\nendpoint = \"hello\"\nstacks = [\"target-pool\"]\n";
    let long = format!("# {}\n", "x".repeat(1 << 20));
    for (more, options, says) in [
        ("", &["--baseline", "no-such-stack"][..], "the baseline `no-such-stack` takes no part in this run"),
        ("", &["--baseline", "target-pool"], "the baseline `target-pool` is the only stack of this run"),
        (
            "[gate]\nbaseline = \"target-pool\"\n",
            &[],
            "have another stack take part, or leave the baseline out",
        ),
        ("", &["--last-runs", "3"], "give 6 to 1000"),
        ("", &["--junit", "gate.xml"], "there is none"),
        ("[runs]\nkeep = 0\n", &[], "x.toml:7:8: 0 is no number of runs"),
        (long.as_str(), &[], "a run keeps at most 1048576"),
        ("", &["--servers-address", "10.0.0.1"], "and the loads come from this one"),
        ("", &["--hosts", "load1"], "of this machine, which load1 does not reach"),
        (
            "",
            &["--fail-if", "p99>1s", "--junit", "no-such-file", "--markdown", "./no-such-file"],
            "--junit and --markdown name one file",
        ),
    ] {
        fs::write(&file, format!("{good}{more}")).unwrap();
        let arguments = [&["run", file.to_str().unwrap(), "--dry-run"][..], options].concat();
        refused(&arguments, 2, &[says]);
    }
}

#[test]
fn what_is_no_recorded_run_is_refused_alike_by_every_command() {
    let run = "/no/such/run";
    let dir = tempfile::tempdir().unwrap();
    let empty = dir.path().to_str().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("notes.txt");
    fs::write(&file, "no run").unwrap();
    let file = file.to_str().unwrap();
    for no_run in [run, empty, file] {
        for arguments in [
            &["report", no_run][..],
            &["report", no_run, "--json"],
            &["report", no_run, "--format", "html"],
            &["explain", no_run],
            &["compare", no_run, no_run],
            &["run", "--resume", no_run],
        ] {
            refused(arguments, 2, &[no_run, "is not a recorded run", "name a directory"]);
        }
    }
    refused(&["compare", file, file], 2, &["The result of one load", "`hit --compare-to`"]);
    refused(&["export", empty, "--prometheus", "-"], 2, &[empty, "not a recorded run", "name a directory"]);
    refused(&["export", run, "--prometheus", "-"], 2, &[run, "give a run's directory"]);
    refused(&["view", run], 2, &[run]);
    refused(&["history", run], 2, &[run]);
}

/// The system has nothing to do with it: it was not one to name.
#[test]
fn a_record_of_a_newer_version_is_a_mistake_of_whoever_named_it() {
    let runs = Runs::new();
    let dir = runs.of_rate("newer", 1000.0);
    fs::write(runs.path("newer").join("versions.json"), "{\"version\": 9}").unwrap();
    for arguments in [&["report", dir.as_str()][..], &["run", "--resume", dir.as_str()]] {
        let says = ["versions.json:1: not a record of this version", "9, and 1 is the newest known here"];
        refused(arguments, 2, &says);
    }
}

#[test]
fn a_place_that_cannot_be_written_to() {
    // A file where a directory should be is refused to root as well.
    let dir = tempfile::tempdir().unwrap();
    let runs = dir.path().join("runs");
    fs::write(&runs, "in the way").unwrap();
    let arguments = ["run", "experiments/quick.toml", "--runs", runs.to_str().unwrap()];
    refused(&arguments, 1, &["making the directory", runs.to_str().unwrap()]);
}

#[test]
fn a_full_disk_loses_the_log_and_says_so() {
    let target = crate::common::Target::start(&[]);
    let output = run(&["hit", &target.url, "-c", "1", "-n", "50", "--hlog", "/dev/full", "-q"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("/dev/full") && stderr.contains("free some space"), "{stderr}");
}
