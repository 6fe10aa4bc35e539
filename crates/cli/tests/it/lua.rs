//! `proofload wrk -s`: Lua scripts, against the real server.

use std::fs;
use std::process::Output;

use crate::common::{Target, run, text};

fn with_script(target: &Target, script: &str, arguments: &[&str]) -> Output {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("script.lua");
    fs::write(&file, script).expect("written");
    let file = file.to_str().expect("text");
    let mut all = vec!["wrk", "-t2", "-c4", "-d1s", "-s", file];
    all.push(&target.url);
    all.extend(arguments);
    run(&all)
}

#[test]
fn a_script_says_what_is_sent_and_hears_what_came() {
    let target = Target::start(&[]);
    let script = "local threads = {}
        function setup(thread) table.insert(threads, thread) end
        function init(args) asked, heard, word = 0, 0, args[1] end
        function request()
            asked = asked + 1
            return wrk.format('POST', '/?' .. word .. asked, { ['X-N'] = asked }, 'n=' .. asked)
        end
        function response(status, headers, body)
            if status == 200 and body == 'hello' and headers['Content-Length'] then heard = heard + 1 end
        end
        function done(summary, latency, requests)
            local asked, heard = 0, 0
            for _, thread in ipairs(threads) do
                asked, heard = asked + thread:get('asked'), heard + thread:get('heard')
            end
            print(string.format('script: %s %s %s', asked - heard, summary.requests > 0 and heard >= summary.requests,
                latency:percentile(50) > 0 and latency.max >= latency.min))
        end";
    let output = with_script(&target, script, &["order"]);
    let text = text(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("Requests/sec:"), "{text}");
    // All that was sent was answered, also what was still out at the end.
    assert!(text.contains("script: 0 true true"), "{text}");
}

/// As wrk's do, also where standard output is no terminal and C keeps back what a script prints.
#[test]
fn what_setup_and_init_print_comes_first() {
    let target = Target::start(&["--path", "/=2ms"]);
    let script = "function setup(thread) print('made') end function init(args) print('begun') end";
    let said = text(&with_script(&target, script, &[]));
    let at = |word: &str| said.find(word).unwrap_or_else(|| panic!("no {word} in {said}"));
    assert!(at("made") < at("Running") && at("begun") < at("Running"), "{said}");
}

/// What reads the figures by their lines from the end finds them there.
#[test]
fn what_is_printed_while_it_goes_on_comes_before_the_figures() {
    let target = Target::start(&["--path", "/=2ms"]);
    let script = "function response() if not heard then heard = true print('heard it') end end";
    let said = text(&with_script(&target, script, &[]));
    let at = |word: &str| said.find(word).unwrap_or_else(|| panic!("no {word} in {said}"));
    assert!(at("Running") < at("heard it") && at("heard it") < at("Thread Stats"), "{said}");
}

#[test]
fn a_script_that_only_says_what_the_request_is_runs_at_full_speed() {
    let target = Target::start(&[]);
    let script = "wrk.method = 'POST'\nwrk.body = 'a=1'\nwrk.headers['Content-Type'] = 'text/plain'";
    let output = with_script(&target, script, &["--json"]);
    let text = text(&output);
    let io: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{text}"));
    assert_eq!(io["load"]["model"], "closed", "it is not asked during the load: {text}");
    assert!(io["outcomes"]["answered"].as_u64() > Some(0), "{text}");
}

#[test]
fn an_error_in_a_script_ends_the_load_with_its_line() {
    let target = Target::start(&[]);
    for (script, part) in [
        (
            "local n = 0\nfunction request()\n  n = n + 1\n  if n > 20 then error('no more data') end\n  return wrk.format()\nend",
            "script.lua:4: no more data, in request()",
        ),
        ("function response() undefined() end", "in response()"),
        ("x =", "script.lua:1"),
        ("function request() return wrk.format() .. wrk.format() end", "pipelining"),
    ] {
        let output = with_script(&target, script, &[]);
        assert_eq!(output.status.code(), Some(1), "{script}");
        assert!(text(&output).contains(part), "{script}: {}", text(&output));
        assert!(!text(&output).contains("Requests/sec"), "no figures of half a load: {}", text(&output));
    }
    let missing = run(&["wrk", "-s", "/nowhere.lua", &target.url]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(text(&missing).contains("cannot be read"), "{}", text(&missing));
    let endless = run(&["wrk", "-s", "/dev/zero", &target.url]);
    assert_eq!(endless.status.code(), Some(1));
    assert!(text(&endless).contains("wrk: /dev/zero: is longer than 16 MiB"), "{}", text(&endless));
}
