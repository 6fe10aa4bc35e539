use std::path::PathBuf;

use units::Rate;

use super::*;
use crate::model::{
    Assertion, Check, Counter, Extraction, Extractor, Field, JsonRules, NumberFormat, OnceOf, Pacing, Part,
    Pause, Pick, RequestStep, TextRules, Times,
};
use crate::prepared::Prepared;
use crate::template::Template;

fn read(text: &str) -> Result<Scenario, PlanError> {
    Scenario::from_toml(Path::new("dir/test.toml"), text)
}

/// The steps of a file that consists of these, below a base.
fn steps(text: &str) -> Vec<Step> {
    let scenario = read(&format!("base = \"http://h\"\n{text}")).unwrap();
    scenario.groups.into_iter().next().unwrap().steps
}

/// The only request of such a file.
fn request(keys: &str) -> RequestStep {
    match steps(&format!("[[steps]]\n{keys}")).remove(0) {
        Step::Request(request) => *request,
        other => panic!("{other:?}"),
    }
}

fn t(text: &str) -> Template {
    Template::parse(text).unwrap()
}

#[test]
fn the_examples_can_be_carried_out() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let text = std::fs::read_to_string(&path).unwrap();
            let scenario = Scenario::from_toml(&path, &text).unwrap_or_else(|error| panic!("{error}"));
            names.push(scenario.name.clone());
            Prepared::new(scenario).unwrap_or_else(|error| panic!("{error}"));
        }
    }
    names.sort();
    assert_eq!(names, ["login and buy", "shop mix"]);
}

#[test]
fn the_documented_example_is_read() {
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scenarios.md")).unwrap();
    let blocks: Vec<&str> =
        page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(blocks.len() >= 2, "{} examples", blocks.len());
    for block in blocks {
        let whole = if block.contains("[[steps]]") || block.contains("[[groups.steps]]") {
            block.to_owned()
        } else {
            format!("{block}\n[[steps]]\nrequest = \"http://h/\"\n")
        };
        let whole = if whole.contains("base =") { whole } else { format!("base = \"http://h\"\n{whole}") };
        if let Err(error) = read(&whole) {
            panic!("{error}\n{whole}");
        }
    }
}

#[test]
fn a_load_is_of_users_or_of_arrivals() {
    let users = |load: &str| {
        let text = format!("[load]\n{load}\n[[steps]]\nrequest = \"http://h/\"\n");
        read(&text).map(|scenario| scenario.groups[0].users.clone())
    };
    let closed = |count, ramp_up_s, iterations, duration_s: Option<u64>| Users::Closed {
        count: NonZeroU32::new(count).unwrap(),
        ramp_up: Duration::from_secs(ramp_up_s),
        delay: Duration::ZERO,
        iterations: NonZeroU64::new(iterations),
        duration: duration_s.map(Duration::from_secs),
    };
    assert_eq!(users(""), Ok(closed(1, 0, 1, None)));
    assert_eq!(users("users = 5\nduration = \"10s\""), Ok(closed(5, 0, 0, Some(10))));
    assert_eq!(users("users = 5\niterations = 3\nramp_up = \"2s\""), Ok(closed(5, 2, 3, None)));
    // The second of two comes in the middle of the ramp-up.
    assert_eq!(users("users = 2\nramp_up = \"19s\"\nduration = \"10s\""), Ok(closed(2, 19, 0, Some(10))));
    let rate = Rate::per_sec(50.0);
    let span = |from, to, secs| RateSpan { from, to, length: Duration::from_secs(secs) };
    let open = |spans, poisson| Ok(Users::Open { spans, poisson, seats_max: None });
    assert_eq!(users("rate = \"50/s\""), open(vec![span(rate, rate, 10)], false));
    assert_eq!(
        users("rate = \"50/s\"\nramp_up = \"2s\"\nduration = \"5s\"\narrivals = \"poisson\""),
        open(vec![span(None, rate, 2), span(rate, rate, 3)], true)
    );
    for (load, part) in [
        ("users = 0", "a load of 0 users"),
        ("duration = \"0\"", "a duration of zero"),
        ("rate = \"5\"\nduration = \"0s\"", "a duration of zero"),
        ("iterations = 0", "0 iterations"),
        ("arrivals = \"poisson\"", "arrivals are those of a rate"),
        ("rate = \"5\"\nusers = 3", "a rate makes a new user"),
        ("rate = \"5\"\nramp_up = \"1m\"", "longer than the duration"),
        ("users = 50\nramp_up = \"2m\"\nduration = \"1m\"", "the last users would never come"),
        ("users = 2\nramp_up = \"20s\"\nduration = \"10s\"", "the last users would never come"),
    ] {
        let error = users(load).unwrap_err().to_string();
        assert!(error.starts_with("dir/test.toml:") && error.contains(part), "{error}");
    }
}

#[test]
fn a_request_is_written_in_one_line() {
    for (line, method, url, name) in [
        ("GET /a", "GET", "http://h/a", "GET /a"),
        ("/a", "GET", "http://h/a", "GET /a"),
        ("DELETE http://other:81/a?b", "DELETE", "http://other:81/a?b", "DELETE http://other:81/a?b"),
        ("/a/${x y}", "GET", "http://h/a/${x y}", "GET /a/${x y}"),
    ] {
        let request = request(&format!("request = '{line}'"));
        assert_eq!((request.method, request.url), (t(method), t(url)));
        // As it is written, whatever its variables are.
        assert_eq!(request.name, Template::text(name));
        assert_eq!((request.redirects_max, request.keep_alive), (10, true));
    }
    assert_eq!(request("request = '/a'\nbody = 'x'").method, t("POST"));
    assert_eq!(
        request("request = '/a'\nform = { b = '1', a = '2' }").form,
        [(t("b"), t("1"), true), (t("a"), t("2"), true)]
    );
    assert_eq!(request("request = '/a'\nname = 'x'\nredirects = 0").redirects_max, 0);
}

#[test]
fn json_is_sent_as_such() {
    let it = request(
        r#"request = '/a'
json = { name = "${n}", say = "\"hi\\", n = 3, list = [true] }"#,
    );
    assert_eq!(it.headers, [(t("Content-Type"), t("application/json"))]);
    // What goes out once the variable is filled in.
    let sent: String = it
        .body
        .0
        .iter()
        .map(|piece| match piece {
            crate::template::Piece::Text(text) => text.clone(),
            _ => "anna".to_owned(),
        })
        .collect();
    let value: serde_json::Value = serde_json::from_str(&sent).unwrap();
    assert_eq!(value, serde_json::json!({"name": "anna", "say": "\"hi\\", "n": 3, "list": [true]}));
    let own = request("request = '/a'\njson = 1\nheaders = { content-type = 'x' }");
    assert_eq!(own.headers, [(t("content-type"), t("x"))]);
}

#[test]
fn fields_of_the_file_give_way_to_those_of_a_step() {
    let text = "[headers]\nB = \"1\"\nA = \"2\"\n[[steps]]\nrequest = \"/\"\nheaders = { b = \"3\" }";
    let Step::Request(request) = &steps(text)[0] else { panic!() };
    assert_eq!(request.headers, [(t("A"), t("2")), (t("b"), t("3"))]);
}

#[test]
fn what_is_taken_from_an_answer() {
    let it = request(
        r#"request = "/"
[steps.extract]
z = { json = "$.a" }
y = { regex = "a(b)", match = "all", default = "none" }
x = { regex = "ab", from = "headers", match = 2 }
w = { between = ["<", ">"], from = "url", match = "random" }
v = { header = "Location" }
u = { regex = "(a)(b)", template = "$2$" }"#,
    );
    let of = |name: &str, part, how, which, default: Option<&str>| Extraction {
        name: name.into(),
        part,
        how,
        which,
        default: default.map(str::to_owned),
    };
    let regex = |pattern: &str, template: &str| Extractor::Regex {
        pattern: Template::text(pattern),
        template: template.into(),
    };
    let between = Extractor::Boundary { left: "<".into(), right: ">".into() };
    assert_eq!(
        it.extractions,
        [
            of("z", Part::Body, Extractor::Json { path: "$.a".into(), rules: JsonRules::AsFound }, 1, None),
            of("y", Part::Body, regex("a(b)", "$1$"), -1, Some("none")),
            of("x", Part::Headers, regex("ab", "$0$"), 2, None),
            of("w", Part::Url, between, 0, None),
            of("v", Part::Headers, Extractor::Header { name: "Location".into() }, 1, None),
            of("u", Part::Body, regex("(a)(b)", "$2$"), 1, None),
        ]
    );
}

#[test]
fn what_must_be_true_of_an_answer() {
    let it = request(
        r#"request = "/"
[steps.expect]
status = [200, "4xx"]
contains = "a"
lacks = ["b", "c"]
matches = 'd\d'
json = { "$.e" = "f", "$.g" = 3 }
has = ["$.h"]
within = "5ms""#,
    );
    let text = |field, patterns: &[&str]| Check::Text {
        part: Part::Body,
        field,
        patterns: patterns.iter().map(|it| t(it)).collect(),
        any: false,
        ignore_status: false,
        rules: TextRules::Plain,
    };
    let json = |path: &str, value: Option<&str>| Check::Json {
        path: path.into(),
        value: value.map(t),
        regex: false,
        or_null: false,
        rules: JsonRules::AsFound,
    };
    let status = Check::Text {
        part: Part::Status,
        field: Field::Matches,
        patterns: vec![t("200"), t("4..")],
        any: true,
        ignore_status: true,
        rules: TextRules::Plain,
    };
    let of = |check, negated| Assertion { name: String::new(), check, negated };
    assert_eq!(
        it.assertions,
        [
            of(status, false),
            of(text(Field::Substring, &["a"]), false),
            of(text(Field::Substring, &["b", "c"]), true),
            of(text(Field::Contains, &[r"d\d"]), false),
            of(json("$.e", Some("f")), false),
            of(json("$.g", Some("3")), false),
            of(json("$.h", None), false),
            of(Check::DurationAtMost(Duration::from_millis(5)), false),
        ]
    );
}

#[test]
fn counters_have_an_end_or_none() {
    let found = steps(
        "[[steps]]\ncount = { name = \"n\" }\n[[steps]]\ncount = { name = \"m\", from = 10, by = 5, to = 22, \
         each = \"user\" }\n[[steps]]\nrequest = \"/a\"\n",
    );
    let counter = |name: &str, first, step, last, by_user| {
        let format = NumberFormat::default();
        Step::Count(Counter { name: name.into(), first, step, last, by_user, format })
    };
    assert_eq!(found[0], counter("n", 1, 1, i64::MAX, false));
    assert_eq!(found[1], counter("m", 10, 5, 22, true));
}

#[test]
fn steps_say_when_and_how_often() {
    let found = steps(
        r#"[[steps]]
request = "/a"
once = true
think = "1s"
[[steps]]
loop = 3
steps = [{ request = "/b" }]
[[steps]]
while = "${n} < 3"
set = { n = "${__intSum(${n},1)}" }
[[steps]]
think = "1s..3s"
[[steps]]
think = "2s+-500ms"
[[steps]]
pick = "in-turn"
think = "1.5ms"
steps = [{ request = "/c", think = "1s" }, { loop = "forever", request = "/d" }]
[[steps]]
transaction = "t"
with_pauses = true
alone = true
request = "/e"
pace = { rate = "10/s", of = "group" }
"#,
    );
    let constant = |ms: &str| Step::Pause(Pause::Constant { ms: t(ms) });
    let get = |path: &str| match steps(&format!("[[steps]]\nrequest = \"{path}\"")).remove(0) {
        Step::Request(request) => Step::Request(request),
        other => panic!("{other:?}"),
    };
    assert_eq!(found[0], Step::Once { of: OnceOf::Loop, steps: vec![get("/a"), constant("1000")] });
    assert_eq!(found[1], Step::Loop { times: Times::Count(t("3")), steps: vec![get("/b")] });
    assert!(matches!(&found[2], Step::While { steps, .. } if matches!(steps[0], Step::Set { .. })));
    assert_eq!(found[3], Step::Pause(Pause::Uniform { offset_ms: t("1000"), range_ms: t("2000") }));
    assert_eq!(found[4], Step::Pause(Pause::Gaussian { offset_ms: t("2000"), deviation_ms: t("500") }));
    let one = NonZeroU32::MIN;
    let forever = Step::Loop { times: Times::Forever, steps: vec![get("/d")] };
    let picked = vec![(one, Step::Sequence(vec![get("/c"), constant("1000")])), (one, forever)];
    assert_eq!(found[5], Step::OneOf { pick: Pick::InTurn, steps: picked });
    assert_eq!(found[6], constant("1.5"));
    let Step::Transaction { with_pauses, parent_only, steps, .. } = &found[7] else {
        panic!("{:?}", found[7])
    };
    assert!(*with_pauses && *parent_only);
    let Step::Request(request) = &steps[0] else { panic!("{steps:?}") };
    assert_eq!(request.pauses, [Pause::Throughput { per_minute: t("600"), of: Pacing::Group, timer: 0 }]);
}

#[test]
fn groups_take_over_what_is_said_at_the_top() {
    let scenario = read(
        r#"
base = "http://h"
cookies = "ignore"
on_error = "stop-user"
[variables]
b = "1"
a = "${b}"
[[data]]
file = "x.csv"
at_end = "stop-user"
[[groups]]
name = "readers"
load = { users = 3 }
steps = [{ request = "/" }]
[[groups]]
cookies = "iteration"
[[groups.steps]]
request = "/"
"#,
    )
    .unwrap();
    let names: Vec<&str> = scenario.groups.iter().map(|group| group.name.as_str()).collect();
    assert_eq!(names, ["readers", "group 2"]);
    let cookies: Vec<CookiePolicy> = scenario.groups.iter().map(|group| group.cookies).collect();
    assert_eq!(cookies, [CookiePolicy::Ignore, CookiePolicy::KeepForIteration]);
    assert!(scenario.groups.iter().all(|group| group.on_error == crate::OnError::StopUser));
    let order: Vec<&str> = scenario.variables.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(order, ["b", "a"]);
    assert_eq!(scenario.data[0].file, Path::new("dir/x.csv"));
    assert_eq!((scenario.name.as_str(), scenario.data[0].at_end), ("test", DataAtEnd::StopUser));
}

#[test]
fn a_mistake_is_named_with_its_line() {
    for (text, line, part) in [
        ("nam = \"x\"", 1, "unknown key `nam`"),
        ("[[steps]]\nrequest = \"/\"", 2, "`/` is a path, and there is no base"),
        ("[[steps]]\nrequest = \"ftp://h/\"", 2, "neither http nor https"),
        ("[[steps]]\nrequest = \"http://h/${__x()}\"", 2, "no function __x"),
        ("[[steps]]\nrequst = \"http://h/\"", 2, "unknown key `requst`; did you mean request?"),
        ("[[steps]]\nname = \"a\"", 1, "the step does nothing"),
        ("[[steps]]\nthink = \"1s\"", 1, "no step makes a request"),
        ("[[steps]]\nthink = \"5\"", 2, "`5` is no pause"),
        ("[[steps]]\nthink = \"3s..1s\"", 2, "`3s..1s` is no pause"),
        ("[[steps]]\nset = { a = \"1\" }\nbody = \"x\"", 1, "body says something of a request"),
        ("[[steps]]\nset = { a = \"1\" }\nsteps = []", 1, "the step has set and steps"),
        ("[[steps]]\ncount = { name = \"n\", from = 3, to = 1 }", 2, "from 3 by 1 to 1 never counts on"),
        ("[[steps]]\ncount = { name = \"n\", upto = 1 }", 2, "unknown key `upto`"),
        ("[[steps]]\nloop = 1\nif = \"1\"\nsteps = []", 1, "loop and if; they exclude each other"),
        ("[[steps]]\nloop = -1\nrequest = \"http://h/\"", 2, "-1 is no number of turns"),
        (
            "[[steps]]\nif = \"${a} ~ 1\"\nrequest = \"http://h/\"",
            2,
            "the condition `${a} ~ 1` is not understood",
        ),
        ("[[steps]]\npick = \"random\"\nrequest = \"http://h/\"", 2, "nothing to pick from"),
        (
            "[[steps]]\nweight = 2\nrequest = \"http://h/\"",
            2,
            "a weight means something within a random pick",
        ),
        ("[[steps]]\nalone = true\nrequest = \"http://h/\"", 2, "said of a transaction"),
        ("[[steps]]\nrequest = \"http://h/\"\nbody = \"\"\njson = 1", 4, "the step has body and json"),
        (
            "[[steps]]\nrequest = \"http://h/\"\nextract.a = { json = \"a\" }",
            3,
            "the JSONPath `a` can't be used",
        ),
        (
            "[[steps]]\nrequest = \"http://h/\"\nextract.a = { regex = \"(\" }",
            3,
            "the expression `(` can't be used",
        ),
        ("[[steps]]\nrequest = \"http://h/\"\nextract.a = {}", 3, "how `a` is found is not said once"),
        ("[[steps]]\nrequest = \"http://h/\"\nextract.a = { header = \"b\", match = 0 }", 3, "0 is no match"),
        ("[[steps]]\nrequest = \"http://h/\"\nexpect.status = 20", 3, "20 is no status"),
        ("[[steps]]\nrequest = \"http://h/\"\nexpect.within = \"5\"", 3, "`5`: unknown unit"),
        ("[[steps]]\nrequest = \"http://h/\"\nexpect.contains = 5", 3, "5 is no text"),
        (
            "[[data]]\nfile = \"a\"\nskip_first = true\n[[steps]]\nrequest = \"http://h/\"",
            1,
            "skip_first wants columns",
        ),
        ("[[groups]]\nname = \"a\"", 1, "the group has no steps"),
        (
            "[load]\nusers = 1\n[[groups]]\nsteps = [{ request = \"http://h/\" }]",
            1,
            "stands outside the groups",
        ),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.starts_with(&format!("dir/test.toml:{line}:")), "{text}: {error}");
        assert!(error.contains(part), "{text}: {error}");
    }
    assert_eq!(
        read("").unwrap_err().to_string(),
        "dir/test.toml: has no steps; add a [[steps]] with a request"
    );
}

proptest::proptest! {
    /// A file that was cut into or typed wrongly is an error, whatever is left of it.
    #[test]
    fn no_file_is_too_broken(at in 0_usize..2000, length in 0_usize..60, typed in r"[\[\]{}=\x22'.a-z$0-9 \n]{0,6}") {
        let text = include_str!("../../../../scenarios/login-and-buy.toml");
        let place = |at: usize| (0..=at).rev().find(|index| text.is_char_boundary(*index)).unwrap_or_default();
        let start = place(at % text.len());
        let end = place((start + length).min(text.len()));
        let _ = read(&format!("{}{typed}{}", &text[..start], &text[end..]));
    }
}
