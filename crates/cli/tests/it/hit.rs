//! `proofload hit` against the calibration server, whose behaviour and truth are known.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use crate::common::{Target, ends_with, json, proofload, run, signal, stdout, text};
use crate::loads::{hit, outcome, outcomes_add_up, service_did_well};
use crate::proxy::head_of;

#[test]
fn a_healthy_server_is_answered_and_the_outcomes_add_up() {
    let target = Target::start(&[]);
    let (result, code) =
        hit(&format!("{}/hello", target.url), &["-c", "8", "-n", "500", "--expect-body", "hello"]);
    assert!(service_did_well(&result), "{code}: {result:#}");
    outcomes_add_up(&result);
    assert_eq!(outcome(&result, "answered"), 500);
    assert_eq!(result["version"], 1);
    assert_eq!(result["statuses"]["200"], 500);
    assert_eq!(result["response_time_us"]["count"], 500);
}

#[test]
fn failures_have_names_and_a_failing_service_has_an_exit_code() {
    let target = Target::start(&["--error-share", "0.5"]);
    let (result, code) = hit(&target.url, &["-c", "4", "-n", "400"]);
    assert_eq!((code, result["validity"]["verdict"].as_str()), (4, Some("incorrect service")));
    let errors = result["statuses"]["500"].as_u64().unwrap();
    assert!((120..280).contains(&errors), "{errors} of 400 at a share of one half");
    outcomes_add_up(&result);
    let (result, _) =
        hit(&format!("{}/nowhere", target.url), &["-n", "10", "-c", "2", "--expect-status", "404"]);
    assert_eq!(result["answered_as_expected"], 10);
}

/// Its head comes at once, and its body 60 ms later.
#[test]
fn a_server_that_takes_its_time_for_the_body_has_begun_to_answer_before() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                stream.set_nodelay(true).unwrap();
                while head_of(&mut stream).is_some() {
                    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n").unwrap();
                    std::thread::sleep(Duration::from_millis(60));
                    stream.write_all(b"hello").unwrap();
                }
            });
        }
    });
    for io in ["epoll", "auto"] {
        let (result, _) = hit(&url, &["-n", "20", "-c", "2", "--io", io]);
        let median = |times: &str| result[times]["p50"].as_f64().unwrap();
        assert!(median("service_time_us") >= 60_000.0, "{result:#}");
        assert!(median("first_byte_us") < 30_000.0, "{result:#}");
        assert_eq!(result["first_byte_us"]["count"], 20);
    }
    let told = stdout(&run(&["hit", &url, "-n", "4", "-c", "2", "-q"]));
    assert!(told.lines().any(|line| line.trim_start().starts_with("first byte ")), "{told}");
    // Where all come at once, it is what the server takes.
    let target = Target::start(&[]);
    let (result, _) = hit(&target.url, &["-n", "20", "-c", "2"]);
    assert_eq!(result["first_byte_us"], result["service_time_us"]);
}

#[test]
fn connections_can_be_fresh_and_the_server_may_close_them() {
    let target = Target::start(&["--close-every", "10"]);
    let (result, _) = hit(&target.url, &["-c", "2", "-n", "100"]);
    assert!(service_did_well(&result) && outcome(&result, "answered") == 100, "{result:#}");
    let opened = result["connections"]["opened"].as_u64().unwrap();
    assert!((10..=12).contains(&opened), "{opened} connections for 100 answers, ten on each");
    let (result, _) = hit(&target.url, &["-c", "2", "-n", "50", "--no-keep-alive"]);
    assert!(service_did_well(&result), "{result:#}");
    assert_eq!(result["connections"]["opened"], 50);
}

/// Answers as if the connection went on, whatever it was asked, and counts the requests of each.
fn answers_as_ever(listener: &TcpListener, asked: &Arc<Mutex<Vec<usize>>>) {
    for stream in listener.incoming().map(Result::unwrap) {
        let number = {
            let mut asked = asked.lock().unwrap();
            asked.push(0);
            asked.len() - 1
        };
        let asked = Arc::clone(asked);
        std::thread::spawn(move || {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|bytes| bytes > 0) {
                if line.trim().is_empty() {
                    asked.lock().unwrap()[number] += 1;
                    let _ = (&stream).write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
                }
                line.clear();
            }
        });
    }
}

#[test]
fn a_request_that_asks_for_the_connection_to_be_closed_is_the_last_on_it() {
    let of = |more: &[&str]| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let counts = Arc::clone(&asked);
        std::thread::spawn(move || answers_as_ever(&listener, &counts));
        hit(&url, &[&["-c", "2", "-n", "20", "-H", "Connection: Close"], more].concat());
        let asked = asked.lock().unwrap().clone();
        assert_eq!(asked.iter().sum::<usize>(), 20);
        assert!(asked.iter().all(|count| *count <= 1), "{more:?}: {asked:?}");
    };
    of(&[]);
    // A scenario's requests are each their own.
    of(&["-H", "X-Id: {{uuid}}"]);
}

#[test]
fn several_threads_make_exactly_the_load_of_one() {
    let target = Target::start(&[]);
    let (result, _) = hit(&target.url, &["-c", "5", "-t", "2", "-n", "301"]);
    assert_eq!(outcome(&result, "answered"), 301);
    let (result, _) = hit(&target.url, &["-c", "6", "-t", "2", "--rate", "500", "-d", "1s"]);
    assert_eq!(result["intended"], 500);
}

/// The last of three requests has its gap, as the others have.
#[test]
fn as_many_requests_as_end_a_load_have_the_rate_that_was_asked_for() {
    let target = Target::start(&[]);
    for threads in ["1", "2"] {
        let load = ["-c", "2", "-t", threads, "-n", "3", "--rate", "10"];
        let (result, _) = hit(&target.url, &load);
        let of = |figure: &Value| figure.as_f64().unwrap();
        let seen = [
            (of(&result["window"]["duration_s"]), 0.3),
            (of(&result["goodput_per_s"]), 10.0),
            (of(&result["throughput_per_s"]), 10.0),
        ];
        // Unless a busy machine has the last answer come even later.
        assert!(seen.iter().all(|(is, due)| (is / due - 1.0).abs() < 0.01), "{seen:?}");
        let seconds = result["seconds"].as_array().unwrap();
        assert!(seconds.iter().all(|it| of(&it["goodput_per_s"]) < 11.0), "{seconds:?}");
    }
}

/// Fifty at once, twice a second, on two threads and ten connections: whoever of a burst has no connection waits, and that counts.
#[test]
fn bursts_are_due_at_once_and_wait_for_each_other() {
    let target = Target::start(&[]);
    let url = format!("{}/hello", target.url);
    let (result, _) = hit(&url, &["-c", "10", "-t", "2", "--rate", "100", "--burst", "50", "-d", "2s"]);
    assert_eq!(result["load"]["arrivals"], "bursts of 50");
    assert_eq!(result["load"]["label"], "100/s (bursts of 50) on 10");
    assert_eq!((&result["intended"], &result["outcomes"]["answered"]), (&200.into(), &200.into()));
    let mean = |times: &str| result[times]["mean"].as_f64().unwrap();
    assert!(mean("response_time_us") > 1.2 * mean("service_time_us"), "those behind have waited: {result}");
}

#[test]
fn users_come_one_after_another_and_make_their_requests() {
    let target = Target::start(&[]);
    for threads in ["1", "3"] {
        let arguments = ["--ramp-up", "1s", "--requests-per-user", "5", "-c", "20", "-t", threads];
        let (result, _) = hit(&format!("{}/hello", target.url), &arguments);
        assert!(service_did_well(&result), "{result:#}");
        outcomes_add_up(&result);
        assert_eq!((outcome(&result, "answered"), result["intended"].as_u64()), (100, Some(100)));
        assert_eq!(result["connections"]["opened"], 20);
        assert_eq!(result["load"]["label"], "20 users, ramp-up 1s, 5 requests each");
        // The last user starts 1/20 before the end of the ramp.
        let seconds = result["window"]["duration_s"].as_f64().unwrap();
        assert!((0.95..3.0).contains(&seconds), "{seconds} s");
    }
}

#[test]
fn an_interval_log_is_written() {
    let target = Target::start(&[]);
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("times.hlog");
    let (result, _) =
        hit(&target.url, &["-c", "2", "--rate", "200", "-d", "1500ms", "--hlog", log.to_str().unwrap()]);
    let text = std::fs::read_to_string(log).unwrap();
    outcomes_add_up(&result);
    assert!(text.lines().filter(|line| !line.starts_with('#')).count() >= 2, "{text}");
}

#[test]
fn ctrl_c_ends_a_load_and_keeps_what_was_measured() {
    let target = Target::start(&[]);
    let child = proofload()
        .args(["hit", &target.url, "-c", "2", "-d", "60s", "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(700));
    signal(&child, Signal::INT);
    let output = child.wait_with_output().unwrap();
    let result = json(&output);
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(result["interrupted"], true);
    assert!(outcome(&result, "answered") > 0);
    outcomes_add_up(&result);
}

/// The binary, to which SIGHUP is what `how` says, whatever it is to these tests.
fn with_hang_ups(how: &str) -> Command {
    let mut command = Command::new("env");
    command.arg(format!("--{how}-signal=HUP")).arg(env!("CARGO_BIN_EXE_proofload")).stdin(Stdio::null());
    command
}

/// `timeout` tells a process and its group of one end, and so do terminals and their shells.
#[test]
fn a_terminal_that_is_closed_and_a_signal_that_comes_twice_keep_what_was_measured() {
    let target = Target::start(&[]);
    for end in [Signal::TERM, Signal::HUP] {
        let mut command = with_hang_ups("default");
        command.args(["hit", &target.url, "-c", "2", "-d", "60s", "--json"]).stdout(Stdio::piped());
        let child = command.spawn().unwrap();
        std::thread::sleep(Duration::from_millis(700));
        signal(&child, end);
        std::thread::sleep(Duration::from_millis(3));
        signal(&child, end);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{end:?}");
        let result = json(&output);
        assert_eq!(result["interrupted"], true, "{end:?}");
        outcomes_add_up(&result);
    }
}

/// Its log is the truth, and the summary beside it is written last.
#[test]
fn a_calibration_server_whose_terminal_is_closed_completes_its_truth() {
    let folder = tempfile::tempdir().unwrap();
    let truth = folder.path().join("truth.csv");
    let mut command = with_hang_ups("default");
    command.args(["target", "--listen", "127.0.0.1:0", "--truth"]).arg(&truth).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    // It takes connections once it says where.
    said.read_line(&mut String::new()).unwrap();
    signal(&child, Signal::HUP);
    assert!(child.wait().unwrap().success());
    assert!(folder.path().join("truth.csv.summary.json").is_file());
}

#[test]
fn a_load_that_is_to_outlive_its_terminal_does() {
    let target = Target::start(&[]);
    let mut command = with_hang_ups("ignore");
    command.args(["hit", &target.url, "-c", "2", "-d", "1500ms", "--json"]).stdout(Stdio::piped());
    let child = command.spawn().unwrap();
    std::thread::sleep(Duration::from_millis(700));
    signal(&child, Signal::HUP);
    assert_eq!(json(&child.wait_with_output().unwrap())["interrupted"], false);
}

#[test]
fn the_number_of_threads_is_found_and_explained() {
    let target = Target::start(&[]);
    let arguments = ["-c", "60", "-d", "300ms", "--rate", "200", "--threads", "auto"];
    let (result, _) = hit(&target.url, &arguments);
    target.stop();
    // So little keeps no thread busy, on whatever machine.
    assert_eq!(result["load"]["threads"], 1);
    let why = result["load"]["threads_why"].as_str().unwrap();
    assert!(
        why.starts_with("pilots of 1.00s kept the busiest of 1 to ") && why.ends_with(": below 70 %"),
        "{why}"
    );
    // The pilot's requests are not the load's.
    assert_eq!(outcome(&result, "answered"), 60);
}

#[test]
fn each_interface_carries_a_load_and_is_named() {
    let target = Target::start(&[]);
    let (result, _) = hit(&target.url, &["-c", "4", "-n", "40", "--io", "epoll"]);
    assert_eq!((&result["load"]["io"], outcome(&result, "answered")), (&"epoll".into(), 40));
    let (result, _) = hit(&target.url, &["-c", "4", "-n", "40"]);
    target.stop();
    // Where io_uring is refused, the record says why.
    match result["load"]["io"].as_str().unwrap() {
        "io_uring" => assert!(result["load"].get("backend_refused").is_none()),
        "epoll" => assert!(!result["load"]["backend_refused"].as_str().unwrap().is_empty()),
        other => panic!("{other}"),
    }
    assert_eq!(outcome(&result, "answered"), 40);
    assert!(result["receive_lag_us"]["count"].as_u64().unwrap() <= 40);
}

/// A server that sends everybody elsewhere does none of the work; nobody goes there, and nobody is told that it was goodput.
#[test]
fn redirects_are_no_goodput_unless_they_are_asked_for() {
    let server = Redirects::start();
    let (result, code) = hit(&server.url, &["-c", "1", "-n", "20"]);
    assert_eq!(
        (code, result["answered_as_expected"].as_u64(), outcome(&result, "answered")),
        (4, Some(0), 20)
    );
    assert_eq!(result["validity"]["verdict"], "incorrect service");
    let text = run(&["hit", &server.url, "-c", "1", "-n", "20", "-q"]);
    let text = String::from_utf8_lossy(&text.stdout);
    assert!(text.contains("redirects are not followed") && text.contains("--expect-status 302"), "{text}");
    let (result, _) = hit(&server.url, &["-c", "1", "-n", "20", "--expect-status", "302"]);
    assert_eq!(result["answered_as_expected"], 20);
    // wrk takes them for good answers, and so does what imitates it.
    let wrk = run(&["wrk", "-c1", "-t1", "-d1", &server.url]);
    assert!(!String::from_utf8_lossy(&wrk.stdout).contains("Non-2xx"), "{wrk:?}");
}

/// Three requests know no percentile, and a closed model without a rate names no option that is not there.
#[test]
fn three_requests_know_no_percentile() {
    let target = Target::start(&["--path", "/slow=5ms"]);
    let url = format!("{}/slow", target.url);
    let (result, _) = hit(&url, &["-c", "1", "-n", "3"]);
    let too_few = result["response_time_us"]["too_few_samples"].as_object().unwrap();
    assert!(too_few["p99_99"].is_f64() && too_few["p50"].is_null(), "{result:#}");
    let text = run(&["hit", &url, "-c", "1", "-n", "3", "-q"]);
    let text = String::from_utf8_lossy(&text.stdout);
    assert!(text.contains("p99.99 takes 29956") && text.contains("give a --rate"), "{text}");
    let wrk = run(&["wrk", "-c1", "-t1", "-d1", "--verdict", &url]);
    let wrk = String::from_utf8_lossy(&wrk.stdout);
    assert!(wrk.contains("closed model") && !wrk.contains("give a --rate"), "{wrk}");
}

/// A load whose generator is the limit is not valid, and the code says so as well.
#[test]
fn a_load_that_is_not_valid_has_an_exit_code_in_every_form() {
    let target = Target::start(&["--path", "/slow=300ms"]);
    let url = format!("{}/slow", target.url);
    // One second is fewer than ten response times.
    let arguments = ["-c", "2", "-d", "1s"];
    let (result, code) = hit(&url, &arguments);
    assert_eq!((code, result["validity"]["valid"].as_bool()), (4, Some(false)), "{result:#}");
    assert!(service_did_well(&result), "{result:#}");
    assert_eq!(run(&[&["hit", &url, "-q"], &arguments[..]].concat()).status.code(), Some(4));
}

/// Answers every request with a redirect, on a thread of its own until the test ends.
struct Redirects {
    url: String,
}

impl Redirects {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                let Ok(connection) = connection else { return };
                std::thread::spawn(move || Self::serve(connection));
            }
        });
        Self { url }
    }

    fn serve(connection: TcpStream) {
        let Ok(mut writer) = connection.try_clone() else { return };
        // A request ends with its empty line; none has a body.
        for line in BufReader::new(connection).lines().map_while(Result::ok) {
            let answer = b"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n";
            if line.is_empty() && writer.write_all(answer).is_err() {
                return;
            }
        }
    }
}

#[test]
fn a_wrong_answer_is_shown() {
    let target = Target::start(&[]);
    let output = run(&["hit", &target.url, "-c", "2", "-n", "20", "-q", "--expect-body", "something else"]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(4), "{text}");
    assert!(text.contains("the first wrong answer: status 200, body \u{201c}hello\u{201d}"), "{text}");
    let output = run(&["hit", &target.url, "-c", "2", "-n", "20", "--json", "--expect-status", "404"]);
    assert_eq!(
        json(&output)["first_wrong_answer"],
        serde_json::json!({"status": 200, "body_start": "hello"})
    );
    let output = run(&["hit", &target.url, "-c", "2", "-n", "20", "--json"]);
    assert_eq!(json(&output)["first_wrong_answer"], serde_json::Value::Null);
}

#[test]
fn a_body_may_be_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let (file, raw) = (folder.path().join("body"), folder.path().join("@raw"));
    std::fs::write(&file, "hello").unwrap();
    std::fs::write(&raw, "@hello").unwrap();
    let target = Target::start(&[]);
    let at = |path: &std::path::Path| format!("@{}", path.display());
    let outcome = |arguments: &[&str]| {
        let output = run(&[&["hit", &target.url, "-c", "1", "-n", "5", "--json"], arguments].concat());
        json(&output)["answered_as_expected"].as_u64()
    };
    assert_eq!(outcome(&["--expect-body", &at(&file)]), Some(5));
    assert_eq!(outcome(&["--expect-body", "@@hello"]), Some(0));
    assert_eq!(outcome(&["--body", &at(&file), "--expect-body", "hello"]), Some(5));
    let sent =
        |body: &str| crate::common::sent_by(&["hit", "{url}", "-c", "1", "-n", "1", "-q", "--body", body]);
    assert!(sent(&at(&file)).ends_with("\r\n\r\nhello"));
    assert!(sent("@@hello").ends_with("\r\n\r\n@hello"));
}

#[test]
fn a_proxy_of_the_environment_is_not_used_and_that_is_said() {
    let target = Target::start(&[]);
    let hit = |environment: &[(&str, &str)], further: &[&str]| {
        let mut command = crate::common::proofload();
        for name in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"] {
            command.env_remove(name);
        }
        command.envs(environment.iter().copied());
        command.args([&["hit", &target.url, "-c", "1", "-n", "5"], further].concat());
        let output = command.output().unwrap();
        assert_ne!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    let proxy = ("http_proxy", "http://user:secret@127.0.0.1:1");
    let said = hit(&[proxy], &[]);
    assert_eq!(said.matches("http_proxy is set and not used").count(), 1, "{said}");
    assert!(!said.contains("secret"), "{said}");
    for quiet in
        [hit(&[], &[]), hit(&[proxy], &["-q"]), hit(&[proxy, ("NO_PROXY", "localhost,127.0.0.1")], &[])]
    {
        assert!(!quiet.contains("proxy"), "{quiet}");
    }
}

#[test]
fn a_load_ends_when_too_much_of_it_fails() {
    let target = Target::start(&["--error-share", "0.5", "--path", "/hello=5ms"]);
    let url = format!("{}/hello", target.url);
    let hit = |condition: &str, code: i32| {
        ends_with(code, &["hit", &url, "-c", "4", "-d", "60s", "-q", "--stop-if", condition])
    };
    let told = hit("errors>20%", 4);
    assert!(
        told.contains("ended early, as --stop-if says: ") && told.contains(" % (errors > 20%)"),
        "{told}"
    );
    let told = hit("p99>1ms", 2);
    assert!(told.contains("`p99 > 1.00ms` ends no load: only errors do"), "{told}");
}

/// All of its requests were made by then.
#[test]
fn a_condition_that_holds_only_at_the_end_of_a_whole_load_interrupts_nothing() {
    let target = Target::start(&["--error-share", "1"]);
    let load = ["hit", &target.url, "-c", "2", "-n", "20", "-q", "--json", "--stop-if", "errors>0"];
    let output = run(&load);
    let told = text(&output);
    assert_eq!(output.status.code(), Some(4), "{told}");
    assert!(told.contains("the load was whole, but at its end --stop-if says: "), "{told}");
    let result = json(&output);
    assert_eq!((&result["interrupted"], &result["intended"]), (&Value::from(false), &Value::from(20)));
}

#[test]
fn an_earlier_load_is_shown_beside_a_new_one() {
    let target = Target::start(&[]);
    let url = format!("{}/hello", target.url);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("before.json");
    let before = run(&["hit", &url, "-c", "2", "-n", "500", "-q", "--json"]);
    std::fs::write(&file, &before.stdout).unwrap();
    let file = file.to_str().unwrap();
    // So short a load is not valid for its times, which its code says.
    let told = text(&run(&["hit", &url, "-c", "3", "-n", "500", "-q", "--compare-to", file]));
    assert!(told.contains("not the same load: 2 connections → 3 connections"), "{told}");
    assert!(told.contains("goodput") && told.contains("may be chance"), "{told}");
    let told = ends_with(2, &["hit", &url, "--compare-to", "no-such.json"]);
    assert!(told.contains("no-such.json: cannot be read"), "{told}");
    std::fs::write(folder.path().join("other.json"), "{}").unwrap();
    let other = folder.path().join("other.json");
    ends_with(2, &["hit", &url, "--compare-to", other.to_str().unwrap()]);
}

/// What a command that is refused was to replace is still there.
#[test]
fn a_load_that_is_refused_empties_no_file_of_an_earlier_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    let kept = dir.path().join("kept");
    std::fs::create_dir(&kept).unwrap();
    for file in ["times.hgrm", "times.hlog", "kept/0001.http"] {
        std::fs::write(dir.path().join(file), "of an earlier load").unwrap();
    }
    let (hgrm, hlog) = (path("times.hgrm"), path("times.hlog"));
    let files = ["--hgrm", &hgrm, "--hlog", &hlog];
    let target = Target::start(&[]);
    let load = ["hit", &target.url, "-q", "-n", "20", "-c", "2"];
    let saved = ["--save-responses", "10", "--save-responses-dir", kept.to_str().unwrap()];
    ends_with(2, &[&load[..], &files, &saved].concat());
    for file in [&hgrm, &hlog] {
        assert_eq!(std::fs::read_to_string(file).unwrap(), "of an earlier load");
    }
    run(&[&load[..], &files].concat());
    let told = std::fs::read_to_string(&hgrm).unwrap();
    assert!(told.contains("Value") && !told.contains("earlier"), "{told}");
}

/// What refuses a load last is a page that can't be served, and too few descriptors.
#[test]
fn a_load_that_is_refused_late_takes_no_rows_away() {
    let dir = tempfile::tempdir().unwrap();
    let rows = dir.path().join("rows.jtl");
    std::fs::write(&rows, "of an earlier load").unwrap();
    let is_kept = || std::fs::read_to_string(&rows).unwrap() == "of an earlier load";
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let serve = format!("--serve={}", taken.local_addr().unwrap());
    let target = Target::start(&[]);
    // The first has samples, and the second users.
    for way in [&[][..], &["--follow"]] {
        let load = [&["hit", &target.url, "-q", "--jtl", rows.to_str().unwrap()][..], way].concat();
        let told = ends_with(1, &[&load[..], &["-d", "1s", &serve]].concat());
        assert!(told.contains("cannot listen on") && is_kept(), "{way:?}: {told}");
        let few = "ulimit -n 200 && exec \"$0\" \"$@\"";
        let mut command = Command::new("sh");
        command.args(["-c", few, env!("CARGO_BIN_EXE_proofload")]).args(&load);
        let output = command.args(["-c", "500", "-d", "1s"]).output().unwrap();
        let told = text(&output);
        assert!(told.contains("need 564 open files") && is_kept(), "{way:?}: {told}");
    }
    run(&["hit", &target.url, "-q", "-c", "2", "-n", "20", "--jtl", rows.to_str().unwrap()]);
    let told = std::fs::read_to_string(&rows).unwrap();
    assert!(told.starts_with("timeStamp,elapsed,") && told.lines().count() == 21, "{told}");
}

/// What was under way when somebody pressed Ctrl-C did not fail by itself.
#[test]
fn an_interrupted_load_is_not_ended_by_its_own_condition() {
    let target = Target::start(&["--path", "/slow=1s"]);
    let url = format!("{}/slow", target.url);
    let mut child = proofload()
        .args(["hit", &url, "-c", "50", "-d", "30s", "--stop-if", "errors>10", "--json", "-q"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(2500));
    signal(&child, Signal::INT);
    let code = child.wait().unwrap().code();
    let output = child.wait_with_output().unwrap();
    assert_eq!(code, Some(130), "{}", text(&output));
    assert!(!text(&output).contains("--stop-if says"), "{}", text(&output));
}

/// A device has no end, and would fill the memory.
#[test]
fn a_body_without_an_end_is_refused() {
    for given in [["--body", "@/dev/zero"], ["--body-file", "/dev/zero"], ["--expect-body", "@/dev/zero"]] {
        let told = ends_with(2, &[&["hit", "http://127.0.0.1:9/", "-q"][..], &given].concat());
        assert!(told.contains("/dev/zero: the body is longer than 256 MiB; name a shorter file"), "{told}");
    }
}
