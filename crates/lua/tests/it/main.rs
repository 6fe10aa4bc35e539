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
        port: Some("8080".into()),
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
        function init(args) first = args[0] end
        function request()
            n = n + 1
            return wrk.format(nil, '/' .. first .. '/' .. n)
        end";
    let mut hooks = hooks(script);
    assert!(sent(&mut hooks).starts_with("GET /one/1 HTTP/1.1\r\n"));
    assert!(sent(&mut hooks).starts_with("GET /one/2 HTTP/1.1\r\n"));
}

/// As wrk has it: the URL is number 0, and what stands behind it has the numbers from 1 on.
#[test]
fn init_is_told_the_url_and_what_stands_behind_it() {
    let script = "function init(args) wrk.path = '/' .. args[0] .. '/' .. args[1] .. '/' .. #args end";
    let mut hooks = hooks(script);
    assert!(sent(&mut hooks).starts_with("GET /one/two/1 HTTP/1.1\r\n"));
}

#[test]
fn the_parts_of_the_url_are_those_that_were_given() {
    let secured = Url { scheme: "https".into(), port: None, ..url() };
    let script = "local address = wrk.lookup('127.0.0.1', wrk.scheme)[1]
        error(wrk.scheme .. ' ' .. tostring(wrk.port) .. ' ' .. address)";
    let error = Environment::new(Path::new("test.lua"), script, &secured).unwrap_err().to_string();
    assert!(error.ends_with("https nil 127.0.0.1:443"), "{error}");
    let error = environment("error(wrk.scheme .. ' ' .. wrk.port)").unwrap_err().to_string();
    assert!(error.ends_with("http 8080"), "{error}");
}

#[test]
fn the_host_is_there_before_init_and_in_requests_with_fields_of_their_own() {
    let mut asks = hooks("function init() wrk.path = '/' .. wrk.headers['Host'] end");
    assert!(sent(&mut asks).starts_with("GET /127.0.0.1:8080 HTTP/1.1\r\n"));
    let mut named = hooks(
        "wrk.headers['Host'] = 'shop.test'
        function request() return wrk.format('GET', '/', { ['X'] = 1 }) end",
    );
    let text = sent(&mut named);
    assert!(text.contains("\r\nHost: shop.test\r\n") && !text.contains("127.0.0.1"), "{text}");
}

/// Else threads of one script would send different requests.
#[test]
fn fields_have_one_order_in_all_states() {
    let script = "for _, name in ipairs { 'X-D', 'X-B', 'X-A', 'X-C' } do wrk.headers[name] = 1 end";
    let mut all = (0..8).map(|_| sent(&mut hooks(script)));
    let first = all.next().unwrap();
    assert!(first.contains("X-A: 1\r\nX-B: 1\r\nX-C: 1\r\nX-D: 1\r\n"), "{first}");
    assert!(all.all(|other| other == first));
}

/// Nobody sends the bytes that it speaks of.
#[test]
fn a_length_without_a_body_is_not_sent() {
    let mut hooks = hooks("wrk.headers['Content-Length'] = 10");
    let text = sent(&mut hooks);
    assert!(!text.contains("Content-Length"), "{text}");
}

#[test]
fn a_request_that_asks_to_close_is_the_last_on_its_connection() {
    let script = "local n = 0
        function request()
            n = n + 1
            return wrk.format('GET', '/', { ['Connection'] = n == 1 and 'close' or 'keep-alive' })
        end";
    let mut hooks = hooks(script);
    let mut http = Http1::new(&Http1::shared(Limits::default(), RequestKind::Ordinary, ()));
    let mut is_last = || {
        assert!(matches!(ask(&mut hooks), Next::Send(_)));
        hooks.ask(0, 0, &mut http, &mut Vec::new());
        http.is_over()
    };
    assert_eq!([is_last(), is_last()], [true, false]);
}

#[test]
fn one_request_may_have_a_body_and_empty_lines_behind_it_and_no_more() {
    let whole = [
        "'POST / HTTP/1.1\\r\\nContent-Length: 3\\r\\n\\r\\nabc'",
        "'POST / HTTP/1.1\\r\\nContent-Length: 3\\r\\n\\r\\nabc\\r\\n'",
        "'GET / HTTP/1.1\\r\\n\\r\\n\\r\\n'",
        "'POST / HTTP/1.1\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n3;x\\r\\nabc\\r\\n0\\r\\nA: b\\r\\n\\r\\n'",
    ];
    for text in whole {
        let mut hooks = hooks(&format!("function request() return {text} end"));
        assert!(matches!(ask(&mut hooks), Next::Send(_)), "{text}");
        // Twice in one text: the answers of two requests would be taken for one another's.
        let mut twice = self::hooks(&format!("function request() return {text} .. {text} end"));
        assert_eq!(ask(&mut twice), Next::EndNow, "{text}");
        let error = twice.into_parts().1.expect("it says why").to_string();
        assert!(error.contains("pipelining"), "{text}: {error}");
    }
    let cut = "'POST / HTTP/1.1\\r\\nContent-Length: 3\\r\\n\\r\\nab'";
    let mut cut = hooks(&format!("function request() return {cut} end"));
    assert_eq!(ask(&mut cut), Next::EndNow);
    assert!(cut.into_parts().1.expect("it says why").to_string().contains("no whole request"));
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

    let mut seldom = hooks("local n = 0 function delay() n = n + 1 if n == 2 then return 20 end end");
    assert!(matches!(ask(&mut seldom), Next::Send(_)), "nothing is no time");
    assert_eq!(ask(&mut seldom), Next::Pause(Duration::from_millis(20)));

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

/// The 99th percentile of 60 is the longest of them, and the 99.9th of 1000 is not.
#[test]
fn percentiles_are_by_nearest_rank_as_those_that_are_printed() {
    let told = |counts: Vec<(u64, u64)>, percents: &str| {
        let script = format!(
            "function done(s, latency)
                local t = {{}}
                for _, p in ipairs {{ {percents} }} do t[#t + 1] = latency:percentile(p) end
                error(table.concat(t, ' '))
            end"
        );
        let main = Main::new(Path::new("test.lua"), &script, &url()).unwrap();
        let summary = Summary { duration_us: 1, requests: 1, bytes: 1, errors: Errors::default() };
        let latency = Latency { counts, ..Latency::default() };
        main.done(&summary, latency, Latency::default()).unwrap_err().to_string()
    };
    let few = told(vec![(1, 59), (1000, 1)], "50, 98, 99, 100");
    assert!(few.contains(" 1 1 1000 1000"), "{few}");
    let many = told(vec![(1, 999), (1000, 1)], "99.9, 99.91");
    assert!(many.contains(" 1 1000"), "{many}");
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
