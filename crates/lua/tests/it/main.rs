//! Scripts as they are written for wrk: what their hooks are asked, told and able to do.

use std::path::Path;

use engine::{Next, Outcome, Sample, Script};
use http::{AnswerHead, Fed, Http1, Limits, Listener, Protocol, RequestKind};
use lua::{Environment, Errors, Hooks, Latency, Main, ScriptError, Summary, Url};
use units::{Duration, Instant};

fn url() -> Url {
    Url {
        scheme: "http".into(),
        host: "127.0.0.1".into(),
        port: "8080".into(),
        path: "/index?a=1".into(),
        authority: "127.0.0.1:8080".into(),
        headers: vec![("X-Given".into(), "yes".into())],
    }
}

fn environment(script: &str) -> Result<Environment, ScriptError> {
    Environment::new(Path::new("test.lua"), script, &url())
}

fn hooks(script: &str) -> Hooks {
    let environment = environment(script).unwrap();
    environment.init(&["one".into(), "two".into()]).unwrap();
    Hooks::new(environment, 2, 0).unwrap()
}

fn ask(hooks: &mut Hooks) -> Next {
    hooks.next(0, Instant::ORIGIN)
}

/// The text of the next request.
fn sent(hooks: &mut Hooks) -> String {
    let next = ask(hooks);
    assert!(matches!(next, Next::Send(_)), "{next:?}");
    let mut out = Vec::new();
    hooks.ask(0, 0, &mut Http1::new(&Http1::shared(Limits::default(), RequestKind::Ordinary, ())), &mut out);
    String::from_utf8(out).unwrap()
}

/// Hands what is in an answer on to the hooks, as the engine does.
struct Told<'a>(&'a mut Hooks);

impl Listener for Told<'_> {
    const HEADS: bool = true;

    fn head(&mut self, _: u32, head: &AnswerHead<'_>) {
        self.0.head(0, head, Instant::ORIGIN);
    }

    fn body(&mut self, _: u32, piece: &[u8]) {
        self.0.body(0, piece);
    }
}

fn answer(hooks: &mut Hooks, bytes: &[u8]) -> bool {
    let now = Instant::ORIGIN;
    let mut common = Http1::shared(Limits::default(), RequestKind::Ordinary, ());
    let mut http = Http1::new(&common);
    http.expect(0, RequestKind::Ordinary);
    let fed = http.feed(&mut common, &mut &bytes[..], &mut Told(hooks), &mut Vec::new());
    let Ok(Fed::Ended { response, .. }) = fed else { panic!("no answer: {fed:?}") };
    let status = response.status;
    let sample = Sample {
        intended: now,
        ready: now,
        sent: Some(now),
        done: now,
        first_byte: None,
        arrived: None,
        outcome: Outcome::Answered { status, expected: false },
        received_bytes: bytes.len() as u64,
        due_in_window: true,
        done_in_window: true,
    };
    hooks.ended(0, &sample, Some(&response))
}

#[test]
fn without_hooks_the_request_is_the_one_of_the_command_line() {
    let environment = environment("wrk.method = 'POST'\nwrk.body = 'foo=bar'\nwrk.headers['X'] = 1").unwrap();
    environment.init(&[]).unwrap();
    assert!(environment.is_constant());
    let text = String::from_utf8(environment.request().unwrap()).unwrap();
    assert!(text.starts_with("POST /index?a=1 HTTP/1.1\r\n"), "{text}");
    for part in
        ["\r\nHost: 127.0.0.1:8080\r\n", "\r\nX-Given: yes\r\n", "\r\nX: 1\r\n", "\r\nContent-Length: 7\r\n"]
    {
        assert!(text.contains(part), "{text}");
    }
    assert!(text.ends_with("\r\n\r\nfoo=bar"), "{text}");
}

#[test]
fn a_request_hook_says_what_each_request_is() {
    let script = "local n = 0
        function init(args) first = args[0] or args[1] end
        function request()
            n = n + 1
            return wrk.format(nil, '/' .. first .. '/' .. n)
        end";
    let mut hooks = hooks(script);
    assert!(sent(&mut hooks).starts_with("GET /one/1 HTTP/1.1\r\n"));
    assert!(sent(&mut hooks).starts_with("GET /one/2 HTTP/1.1\r\n"));
}

#[test]
fn a_response_hook_sees_status_headers_and_body() {
    let script = "function response(status, headers, body)
            seen = status .. ' ' .. headers['X-Token'] .. ' ' .. body
            wrk.headers['X-Token'] = headers['X-Token']
        end
        function request() return wrk.format() end";
    let mut hooks = hooks(script);
    assert!(!sent(&mut hooks).contains("X-Token"));
    let good = answer(&mut hooks, b"HTTP/1.1 200 OK\r\nX-Token: t1\r\nContent-Length: 2\r\n\r\nhi");
    assert!(good);
    assert!(sent(&mut hooks).contains("\r\nX-Token: t1\r\n"), "what was learnt is sent");
    assert!(!answer(&mut hooks, b"HTTP/1.1 404 N\r\nX-Token: t2\r\nContent-Length: 0\r\n\r\n"));
}

#[test]
fn a_delay_comes_before_each_request_and_stop_ends_the_load() {
    let mut waits = hooks("function delay() return 20 end");
    assert_eq!(ask(&mut waits), Next::Pause(Duration::from_millis(20)));
    assert!(matches!(ask(&mut waits), Next::Send(_)));
    assert_eq!(ask(&mut waits), Next::Pause(Duration::from_millis(20)));

    let mut stops = hooks("function response() wrk.thread:stop() end");
    let _ = sent(&mut stops);
    answer(&mut stops, b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(ask(&mut stops), Next::EndLoad);
}

#[test]
fn setup_and_done_speak_with_the_threads() {
    let script = "local threads = {}
        function setup(thread)
            thread:set('id', #threads + 1)
            thread:set('deep', { list = { 1, 'two', true } })
            table.insert(threads, thread)
        end
        function init(args) started = id * 10 + #deep.list end
        function done(summary, latency, requests)
            local sum = 0
            for _, thread in ipairs(threads) do sum = sum + thread:get('started') end
            local value, count = latency(2)
            result = string.format('%d %d %d %.1f %d %d/%d %d', sum, summary.requests, summary.errors.timeout,
                latency.mean, latency:percentile(50), value, count, #latency)
            error(result)
        end";
    let main = Main::new(Path::new("test.lua"), script, &url()).unwrap();
    for _ in 0..2 {
        let thread = environment(script).unwrap();
        main.setup(&thread).unwrap();
        thread.init(&[]).unwrap();
    }
    let summary =
        Summary { duration_us: 1, requests: 7, bytes: 9, errors: Errors { timeout: 3, ..Errors::default() } };
    let latency = Latency { min: 1.0, max: 9.0, mean: 2.5, stdev: 0.5, counts: vec![(1, 10), (9, 1)] };
    assert!(main.has_done());
    // What the script found comes out as its error.
    let error = main.done(&summary, latency, Latency::default()).unwrap_err().to_string();
    assert!(error.contains("36 7 3 2.5 1 9/1 2"), "{error}");
}

#[test]
fn an_address_that_setup_chooses_is_the_threads() {
    let script = "function setup(thread)
            for _, address in ipairs(wrk.lookup('127.0.0.1', '8081')) do thread.addr = address end
        end";
    let main = Main::new(Path::new("test.lua"), script, &url()).unwrap();
    let thread = environment(script).unwrap();
    assert_eq!(thread.address().unwrap(), None);
    main.setup(&thread).unwrap();
    assert_eq!(thread.address().unwrap(), Some("127.0.0.1:8081".parse().unwrap()));
}

#[test]
fn what_is_wrong_is_one_line_with_its_place() {
    for (script, part) in [
        ("function x(", "test.lua:1"),
        ("\nerror('no data')", "test.lua:2: no data"),
        ("require 'cjson'", "cjson"),
    ] {
        let error = environment(script).unwrap_err().to_string();
        assert!(error.contains(part) && error.lines().count() == 1, "{error}");
    }
    for (script, part) in [
        ("function request() return nothing.x end", "test.lua:1"),
        ("function request() return 'GET / HTTP/1.1' end", "no whole request"),
        ("function request() local r = wrk.format() return r .. r end", "pipelining"),
        ("function request() end", "request"),
        ("function delay() return {} end", "delay"),
    ] {
        let mut hooks = hooks(script);
        assert_eq!(ask(&mut hooks), Next::EndNow, "{script}");
        let error = hooks.into_parts().1.expect("it says why").to_string();
        assert!(error.contains(part) && error.lines().count() == 1, "{script}: {error}");
    }
    let failing = environment("function init() error('x') end").unwrap();
    assert!(failing.init(&[]).unwrap_err().to_string().contains("in init()"));
}
