//! What users make of answers, and what they send after them.

use super::*;

fn extraction(name: &str, part: Part, how: Extractor, which: i32, default: Option<&str>) -> Extraction {
    Extraction { name: name.into(), part, how, which, default: default.map(str::to_owned) }
}

fn regex(name: &str, pattern: &str, which: i32, default: Option<&str>) -> Extraction {
    let how = Extractor::Regex { pattern: Template::text(pattern), template: "$1$".into() };
    extraction(name, Part::Body, how, which, default)
}

fn json(name: &str, path: &str, which: i32, default: Option<&str>) -> Extraction {
    let how = Extractor::Json { path: path.into(), rules: JsonRules::AsFound };
    extraction(name, Part::Body, how, which, default)
}

fn extracting(extractions: Vec<Extraction>) -> Vec<Step> {
    vec![Step::Request(Box::new(RequestStep { extractions, ..request_step("a") }))]
}

/// The variables that one answer leaves.
fn extracted<const N: usize>(extractions: Vec<Extraction>, reply: &Reply, names: [&str; N]) -> [String; N] {
    let run = run(scenario(1, extracting(extractions)), |_| Some(reply.clone()));
    names.map(|name| run.session.variable(name).unwrap_or("-").to_owned())
}

#[test]
fn a_regular_expression_takes_the_match_that_is_asked_for() {
    let reply = ok("id=1 id=2 id=3");
    for (which, default, expected) in
        [(1, None, "1"), (3, None, "3"), (4, Some("none"), "none"), (4, None, "-"), (2, Some("none"), "2")]
    {
        assert_eq!(
            extracted(vec![regex("x", r"id=(\d)", which, default)], &reply, ["x"]),
            [expected],
            "{which}"
        );
    }
    let groups =
        extracted(vec![regex("x", r"(i)d=(\d)", 2, None)], &reply, ["x", "x_g", "x_g0", "x_g1", "x_g2"]);
    assert_eq!(groups, ["i", "2", "id=2", "i", "2"]);
}

#[test]
fn match_0_is_one_at_random() {
    let mut seen = std::collections::BTreeSet::new();
    let mut world = world();
    for user in 0..30 {
        let steps = extracting(vec![regex("x", r"id=(\d)", 0, None)]);
        let mut run = Run::new(&Prepared::new(scenario(1, steps)).unwrap(), user);
        run.go(&mut world, 10, |_| Some(ok("id=1 id=2 id=3")));
        seen.insert(run.session.variable("x").unwrap().to_owned());
    }
    assert_eq!(seen.len(), 3, "{seen:?}");
}

#[test]
fn match_minus_1_is_all_and_forgets_those_from_before() {
    let mut bodies = ["id=1 id=2 id=3", "id=4"].into_iter();
    let steps = extracting(vec![regex("x", r"id=(\d)", -1, Some("none"))]);
    let run = run(scenario(2, steps), |_| bodies.next().map(ok));
    let names = ["x_matchNr", "x_1", "x_1_g1", "x_2", "x_3_g1", "x"];
    let values = names.map(|name| run.session.variable(name).unwrap_or("-"));
    assert_eq!(values, ["1", "4", "4", "-", "-", "-"]);
    let none = extracted(vec![regex("x", "nothing(.)", -1, Some("none"))], &ok("id=1"), ["x", "x_matchNr"]);
    assert_eq!(none, ["none", "0"]);
}

#[test]
fn json_paths_boundaries_headers_and_other_parts() {
    let reply = with(
        with(ok(r#"{"user":{"id":7,"name":"anna"},"items":[{"n":1},{"n":2}],"none":null}"#), "X-Id", "h1"),
        "X-ID",
        "h2",
    );
    let boundary = Extractor::Boundary { left: r#""name":""#.into(), right: "\"".into() };
    let header = Extractor::Header { name: "x-id".into() };
    let of = |part: Part, pattern: &str| {
        let how = Extractor::Regex { pattern: Template::text(pattern), template: "<$1$>".into() };
        extraction("x", part, how, 1, None)
    };
    for (it, expected) in [
        (json("x", "$.user.id", 1, None), "7"),
        (json("x", "$.user.name", 1, None), "anna"),
        (json("x", "$.user", 1, None), r#"{"id":7,"name":"anna"}"#),
        (json("x", "$..n", 2, None), "2"),
        (json("x", "$.items[?@.n > 1].n", 1, None), "2"),
        (json("x", "$.none", 1, None), "null"),
        (json("x", "$.nothing", 1, Some("d")), "d"),
        (extraction("x", Part::Body, boundary, 1, None), "anna"),
        (extraction("x", Part::Headers, header, 2, None), "h2"),
        (of(Part::Headers, "X-Id: (.*)"), "<h1>"),
        (of(Part::Status, "(.*)"), "<200>"),
        (of(Part::Reason, "(.*)"), "<X>"),
        (of(Part::Url, "//(.*)/"), "<server>"),
        (of(Part::Variable("word".into()), "(.)$"), "<d>"),
    ] {
        let mut scenario = scenario(1, extracting(vec![it.clone()]));
        scenario.variables.push(("word".into(), t("word")));
        let run = run(scenario, |_| Some(reply.clone()));
        assert_eq!(run.session.variable("x").unwrap_or("-"), expected, "{it:?}");
    }
    let all = extracted(vec![json("x", "$..n", -1, None)], &reply, ["x_1", "x_2", "x_matchNr", "x_1_g"]);
    assert_eq!(all, ["1", "2", "2", "-"]);
}

/// JMeter's JSON Extractor, by its source (JSONPostProcessor 5.6.3).
#[test]
fn what_is_found_is_a_list() {
    let listed = |which: i32, path: &str, body: &str| {
        let how = Extractor::Json { path: path.into(), rules: JsonRules::AsList };
        let step = RequestStep {
            extractions: vec![extraction("x", Part::Body, how, which, Some("d"))],
            ..request_step("a")
        };
        let mut scenario = scenario(1, vec![Step::Request(Box::new(step))]);
        // Of an extraction before this one.
        for name in ["x_1", "x_2", "x_matchNr"] {
            scenario.variables.push((name.into(), t("old")));
        }
        scenario.variables.push(("x_4".into(), t("behind a gap")));
        let run = run(scenario, |_| Some(ok(body)));
        ["x", "x_1", "x_2", "x_3", "x_4", "x_matchNr"]
            .map(|name| run.session.variable(name).unwrap_or("-").to_owned())
            .join(" ")
    };
    let body = r#"{"one":7,"none":null,"all":[1,null,"c/d"],"few":[2.50]}"#;
    for (which, path, expected) in [
        (1, "$.all[*]", "1 - - - behind a gap 3"),
        (2, "$.all[*]", "d - - - behind a gap 3"),
        (4, "$.all[*]", "d - - - behind a gap 3"),
        (-1, "$.all[*]", "- 1 d c/d behind a gap 3"),
        (1, "$.all", r#"[1,null,"c\/d"] - - - behind a gap 1"#),
        // The only value is taken whatever is asked for.
        (5, "$.one", "7 - - - behind a gap 1"),
        (0, "$.one", "7 - - - behind a gap -"),
        (-1, "$.one", "- 7 - - behind a gap 1"),
        (3, "$.few[*]", "2.5 - - - behind a gap 1"),
        (1, "$.none", "d - - - behind a gap 1"),
        (-1, "$.none", "- d - - behind a gap 1"),
        (0, "$.nothing", "d - - - behind a gap 0"),
        (1, "$..nothing", "d - - - behind a gap 0"),
        (-1, "$.nothing", "d - - - behind a gap 0"),
    ] {
        assert_eq!(listed(which, path, body), expected, "{which} {path}");
    }
    for (body, expected) in [
        ("<html>", "d - - - behind a gap 0"),
        ("", "d - - - behind a gap -"),
        (" ", "d - - - behind a gap -"),
        ("{\"a\":", "d - - - behind a gap -"),
    ] {
        assert_eq!(listed(1, "$.one", body), expected, "{body}");
    }
    assert!(["1", "d", "c/d"].contains(&listed(0, "$.all[*]", body).split(' ').next().unwrap()));
}

/// The JSON Path Extractor of JMeter's plug-ins, by its source (jpgc-json).
#[test]
fn what_is_found_is_taken_as_it_is() {
    let taken = |path: &str, body: &str| {
        let how = Extractor::Json { path: path.into(), rules: JsonRules::AsValue };
        let extractions = vec![extraction("x", Part::Body, how, 1, Some("d"))];
        let mut scenario = scenario(1, extracting(extractions));
        let names = ["x", "x_1", "x_2", "x_3", "x_matchNr"];
        // Of an extraction before this one.
        for name in names {
            scenario.variables.push((name.into(), t("old")));
        }
        let run = run(scenario, |_| Some(ok(body)));
        names.map(|name| run.session.variable(name).unwrap_or("-").to_owned()).join(" ")
    };
    let body = r#"{"one":7,"none":null,"size":1e7,"o":{"k":"v/w"},"all":[1,null,"c/d"],"few":[2.50],
        "lists":[[1],[]],"empty":[]}"#;
    for (path, expected) in [
        ("$.one", "7 old old old old"),
        ("$.none", "null old old old old"),
        ("$.size", "10000000.0 old old old old"),
        ("$.o", r#"{"k":"v\/w"} old old old old"#),
        ("$.all", r#"[1,null,"c\/d"] 1 null c/d 3"#),
        ("$.all[*]", r#"[1,null,"c\/d"] 1 null c/d 3"#),
        ("$.few", "[2.5] 2.5 - - 1"),
        ("$.lists", "[[1],[]] [1] [] - 2"),
        ("$.empty", "d - - - 0"),
        ("$.nothing", "d - - - 0"),
        ("$..nothing", "d - - - 0"),
    ] {
        assert_eq!(taken(path, body), expected, "{path}");
    }
    for body in ["<html>", "", "{\"one\":"] {
        assert_eq!(taken("$.one", body), "d - - - 0", "{body}");
    }
}

/// By the same source: of all values alone, and not where there is nothing to look into.
#[test]
fn all_that_is_found_is_put_together() {
    let all = |which: i32, path: &str, body: &str| {
        let how = Extractor::Json { path: path.into(), rules: JsonRules::AsJoinedList };
        let [all] = extracted(vec![extraction("x", Part::Body, how, which, Some("d"))], &ok(body), ["x_ALL"]);
        all
    };
    let body = r#"{"one":7,"none":null,"all":[1,null,"c/d"]}"#;
    for (which, path, expected) in [
        (-1, "$.all[*]", "1,d,c/d"),
        (-1, "$.one", "7"),
        (-1, "$.none", "d"),
        (-1, "$.nothing", ""),
        (1, "$.all[*]", "-"),
        (0, "$.all[*]", "-"),
    ] {
        assert_eq!(all(which, path, body), expected, "{which} {path}");
    }
    assert_eq!(all(-1, "$.one", " "), "-");
}

/// What an expression says with the variables that there are when the answer comes, those of extractions before it included.
#[test]
fn an_expression_may_have_variables() {
    let how = Extractor::Regex { pattern: t("${key}=(${kind}+)"), template: "$1$".into() };
    let with_variables = extraction("x", Part::Body, how, 1, Some("none"));
    let of = |kind: &str| {
        let extractions = vec![regex("key", "key:(.)", 1, None), with_variables.clone()];
        let mut scenario = scenario(1, extracting(extractions));
        scenario.variables.push(("kind".into(), Template::text(kind)));
        let ran = run(scenario, |_| Some(ok("key:b a=1 b=22 c=3")));
        ran.session.variable("x").unwrap_or("-").to_owned()
    };
    assert_eq!([r"\d", "2", "3", "("].map(of), ["22", "22", "none", "none"]);
}

fn json_check(path: &str, value: Option<&str>, regex: bool, or_null: bool, rules: JsonRules) -> Check {
    Check::Json { path: path.into(), value: value.map(Template::text), regex, or_null, rules }
}

/// Whether a check of JSON holds, which it does where its contrary does not. Without a body neither does.
fn holds_in_json(body: &Reply, check: Check) -> bool {
    let holds = verdict(check.clone(), false, body).is_none();
    assert_eq!(verdict(check.clone(), true, body).is_none(), !holds, "{check:?}");
    assert!(verdict(check, true, &ok("")).is_some());
    holds
}

/// JMeter's JSON Assertion, by its source (JSONPathAssertion 5.6.3).
#[test]
fn a_list_fits_where_it_or_one_of_its_values_does() {
    let body = ok(r#"{"a":[1,"22",null],"b":"x","n":7,"f":2.50,"none":null,"empty":[],"o":{"k":"v/w"}}"#);
    let holds = |path: &str, value: Option<&str>, regex: bool, or_null: bool| {
        holds_in_json(&body, json_check(path, value, regex, or_null, JsonRules::AsList))
    };
    for (path, value, regex, expected) in [
        ("$.a", None, true, true),
        ("$.empty", None, true, true),
        ("$.empty[*]", None, true, false),
        ("$.nothing", None, true, false),
        ("$.none", None, true, true),
        ("$.n", Some("7"), false, true),
        ("$.n", Some("\"7\""), false, false),
        ("$.n", Some("7.0"), false, false),
        ("$.n", Some("7"), true, true),
        ("$.f", Some("2.5"), false, true),
        ("$.f", Some(r"2\.5"), true, true),
        ("$.b", Some("x"), false, true),
        ("$.a", Some("1"), false, true),
        ("$.a", Some("22"), false, false),
        ("$.a", Some("\"22\""), false, true),
        ("$.a", Some("[1,\"22\",null]"), false, true),
        ("$.a", Some(r"\d\d"), true, true),
        ("$.a", Some(r"\[1,.*"), true, true),
        ("$.a[*]", Some("22"), true, true),
        ("$.a[*]", Some("null"), true, true),
        ("$..k", Some("v/w"), false, true),
        ("$.o", Some(r#"{"k":"v/w"}"#), false, true),
        ("$.empty", Some("[]"), true, true),
        ("$.empty[*]", Some("[]"), false, true),
        ("$.empty", Some("x"), false, false),
        ("$.a", Some("[]"), true, false),
        ("$.none", Some("null"), false, true),
        ("$.none", Some(""), false, false),
    ] {
        assert_eq!(holds(path, value, regex, false), expected, "{path} {value:?} {regex}");
    }
    for (path, expected) in
        [("$.none", true), ("$.a", true), ("$.a[*]", true), ("$.n", false), ("$.nothing", false)]
    {
        assert_eq!(holds(path, Some("zz"), true, true), expected, "null at {path}");
    }
}

/// The JSON Path Assertion of JMeter's plug-ins, by its source (jpgc-json).
#[test]
fn a_list_of_texts_fits_where_it_or_one_of_its_values_does() {
    let body = ok(r#"{"a":[1,"22",null],"n":7,"f":2.50,"none":null,"empty":[]}"#);
    let holds = |path: &str, value: Option<&str>, regex: bool, or_null: bool| {
        holds_in_json(&body, json_check(path, value, regex, or_null, JsonRules::AsValue))
    };
    for (path, value, regex, expected) in [
        ("$.a", None, true, true),
        ("$.empty[*]", None, true, true),
        ("$..nothing", None, true, true),
        ("$.nothing", None, true, false),
        ("$.n", Some("7"), false, true),
        ("$.n", Some("\"7\""), false, false),
        ("$.f", Some("2.5"), false, true),
        ("$.f", Some(r"2\.\d"), true, true),
        ("$.a", Some("22"), false, true),
        ("$.a", Some("\"22\""), false, false),
        ("$.a", Some("[1,\"22\",null]"), false, true),
        ("$.a", Some(r"\d\d"), true, true),
        ("$.a[*]", Some("null"), false, true),
        ("$.empty", Some("[]"), true, true),
        ("$..nothing", Some("[]"), false, true),
        ("$.empty", Some("x"), false, false),
        ("$.none", Some("null"), false, true),
        ("$.nothing", Some("null"), false, false),
    ] {
        assert_eq!(holds(path, value, regex, false), expected, "{path} {value:?} {regex}");
    }
    for (path, expected) in [("$.none", true), ("$.a", true), ("$.n", false), ("$.nothing", false)] {
        assert_eq!(holds(path, Some("zz"), true, true), expected, "null at {path}");
    }
    // In JSON that breaks off nothing is looked for, not even by a path that may come to nothing.
    let broken = ok("{\"n\":");
    for rules in [JsonRules::AsList, JsonRules::AsValue] {
        let of_broken =
            |value: Option<&str>| verdict(json_check("$..n", value, false, false, rules), false, &broken);
        assert!(of_broken(None).is_some() && of_broken(Some("[]")).is_some(), "{rules:?}");
    }
}

#[test]
fn a_request_that_failed_leaves_the_default() {
    let run = run(scenario(1, extracting(vec![regex("x", "(.)", 1, Some("none"))])), |_| None);
    assert_eq!(run.session.variable("x"), Some("none"));
    assert_eq!(run.verdicts, [Verdict { over: true, ok: false, message: Some("timeout".into()) }]);
}

fn text(part: Part, field: Field, pattern: &str) -> Check {
    let patterns = vec![t(pattern)];
    Check::Text { part, field, patterns, any: false, ignore_status: false, rules: TextRules::Plain }
}

/// What an assertion makes of an answer: nothing, or its message.
fn verdict(check: Check, negated: bool, reply: &Reply) -> Option<String> {
    let assertions = vec![Assertion { name: String::new(), check, negated }];
    let steps = vec![Step::Request(Box::new(RequestStep { assertions, ..request_step("a") }))];
    let run = run(scenario(1, steps), |_| Some(reply.clone()));
    assert_eq!(run.verdicts[0].ok, run.verdicts[0].message.is_none());
    run.verdicts[0].message.clone()
}

#[test]
fn texts_are_compared_in_four_ways() {
    let reply = ok("hello 42");
    for (field, pattern, holds) in [
        (Field::Contains, r"\d+", true),
        (Field::Contains, "x", false),
        (Field::Matches, r"hello \d+", true),
        (Field::Matches, r"\d+", false),
        (Field::Matches, "hello|hello 42", true),
        (Field::Equals, "hello 42", true),
        (Field::Equals, "hello", false),
        (Field::Substring, "o 4", true),
        (Field::Substring, r"\d", false),
        (Field::Contains, "(?=4)42(?!x)", true),
        (Field::Contains, "${host}", false),
    ] {
        let check = text(Part::Body, field, pattern);
        assert_eq!(verdict(check.clone(), false, &reply).is_none(), holds, "{field:?} {pattern}");
        assert_eq!(verdict(check, true, &reply).is_none(), !holds, "not {field:?} {pattern}");
    }
    let message = verdict(text(Part::Body, Field::Contains, "x"), false, &reply);
    assert_eq!(message.unwrap(), "the body does not contain `x`");
    let message = verdict(text(Part::Status, Field::Equals, "201"), false, &reply);
    assert_eq!(message.unwrap(), "the status 200 is not `201`");
}

#[test]
fn several_texts_hold_all_or_any_and_not_means_each() {
    let several = |any: bool| Check::Text {
        part: Part::Body,
        field: Field::Substring,
        patterns: vec![t("a"), t("b")],
        any,
        ignore_status: false,
        rules: TextRules::Plain,
    };
    for (body, any, negated, holds) in [
        ("a", false, false, false),
        ("ab", false, false, true),
        ("b", true, false, true),
        ("c", true, false, false),
        ("c", false, true, true),
        ("a", false, true, false),
        ("a", true, true, true),
        ("ab", true, true, false),
    ] {
        assert_eq!(
            verdict(several(any), negated, &ok(body)).is_none(),
            holds,
            "{body} any {any} not {negated}"
        );
    }
}

#[test]
fn a_status_is_good_from_200_to_399_unless_that_is_waived() {
    for (code, good) in
        [(200, true), (204, true), (304, true), (399, true), (400, false), (503, false), (199, false)]
    {
        let run = run(scenario(1, requests(&["a"])), |_| Some(status(code)));
        let message = (!good).then(|| format!("status {code}"));
        assert_eq!(run.verdicts, [Verdict { over: true, ok: good, message }]);
    }
    let mut wanted = text(Part::Status, Field::Equals, "404");
    assert_eq!(verdict(wanted.clone(), false, &status(404)).unwrap(), "status 404");
    if let Check::Text { ignore_status, .. } = &mut wanted {
        *ignore_status = true;
    }
    assert_eq!(verdict(wanted.clone(), false, &status(404)), None);
    assert_eq!(verdict(wanted, false, &status(500)).unwrap(), "the status 500 is not `404`");
}

/// `ResponseAssertion.evaluateResponse`: what is empty is not looked at, which is a failure unless the opposite must be true.
#[test]
fn an_empty_text_fits_nothing_by_those_rules() {
    for (field, pattern) in [
        (Field::Equals, ""),
        (Field::Substring, ""),
        (Field::Contains, ".*"),
        (Field::Matches, ".*"),
        (Field::Matches, "x"),
    ] {
        let check = by_those_rules(text(Part::Body, field, pattern), false);
        let message = verdict(check.clone(), false, &ok(""));
        assert_eq!(message.as_deref(), Some("the body is empty"), "{field:?} {pattern}");
        assert_eq!(verdict(check, true, &ok("")), None, "not {field:?} {pattern}");
    }
    let anything = by_those_rules(text(Part::Body, Field::Contains, "."), false);
    assert_eq!(verdict(anything.clone(), false, &ok("x")), None);
    assert_eq!(verdict(anything, true, &ok("x")).unwrap(), "the body contains `.`");
}

/// The same: it takes the sample for a success before it looks, whatever was said of that before it.
#[test]
fn who_ignores_the_status_takes_back_what_was_found_before() {
    let wanted = |check| Assertion { name: String::new(), check, negated: false };
    let fails = wanted(text(Part::Body, Field::Equals, "other"));
    let forgives = |pattern: &str| wanted(by_those_rules(text(Part::Body, Field::Equals, pattern), true));
    for (assertions, message) in [
        (vec![fails.clone(), forgives("body")], None),
        (vec![forgives("body"), fails.clone()], Some("the body is not `other`")),
        (vec![fails.clone(), forgives("no")], Some("the body is not `no`")),
        (vec![fails.clone(), forgives("body"), fails.clone()], Some("the body is not `other`")),
        (vec![fails, forgives("no"), forgives("body")], None),
    ] {
        let steps = vec![Step::Request(Box::new(RequestStep { assertions, ..request_step("a") }))];
        let run = run(scenario(1, steps), |_| Some(ok("body")));
        assert_eq!(run.verdicts[0].message.as_deref(), message);
    }
}

/// The same check where nothing fits an empty text.
fn by_those_rules(check: Check, ignores: bool) -> Check {
    match check {
        Check::Text { part, field, patterns, any, .. } => Check::Text {
            part,
            field,
            patterns,
            any,
            ignore_status: ignores,
            rules: TextRules::NothingFitsEmpty,
        },
        other => other,
    }
}

#[test]
fn durations_sizes_and_json() {
    let reply = with(ok(r#"{"a":[1,22],"b":"x"}"#), "Name", "value");
    let size =
        |part: Option<Part>, bytes: &str, comparison| Check::Size { part, bytes: t(bytes), comparison };
    let path = |path: &str, value: Option<&str>, regex| Check::Json {
        path: path.into(),
        value: value.map(t),
        regex,
        or_null: false,
        rules: JsonRules::AsFound,
    };
    // "HTTP/1.1 200 X\r\n" + "Name: value\r\n" + "\r\n"
    for (check, holds) in [
        (Check::DurationAtMost(ANSWER), true),
        (Check::DurationAtMost(Duration::from_millis(9)), false),
        (size(Some(Part::Body), "20", SizeComparison::Equal), true),
        (size(Some(Part::Body), "20", SizeComparison::NotEqual), false),
        (size(Some(Part::Headers), "31", SizeComparison::Equal), true),
        (size(None, "51", SizeComparison::AtLeast), true),
        (size(None, "51", SizeComparison::Greater), false),
        (size(None, "51", SizeComparison::Less), false),
        (size(None, "51", SizeComparison::AtMost), true),
        (path("$.a", None, false), true),
        (path("$.c", None, false), false),
        (path("$.b", Some("x"), false), true),
        (path("$.b", Some("y"), false), false),
        (path("$.a[*]", Some("22"), false), true),
        (path("$.a[*]", Some(r"\d\d"), true), true),
        (path("$.a[*]", Some("[a-z]"), true), false),
    ] {
        assert_eq!(verdict(check.clone(), false, &reply).is_none(), holds, "{check:?}");
        assert_eq!(verdict(check.clone(), true, &reply).is_none(), !holds, "not {check:?}");
    }
    assert!(verdict(path("$.a", None, false), false, &ok("no json")).is_some());
}

#[test]
fn redirects_are_part_of_the_sample() {
    let steps = vec![Step::Request(Box::new(RequestStep {
        method: t("POST"),
        body: t("data"),
        headers: vec![(t("Content-Type"), t("text/plain")), (t("Authorization"), t("secret"))],
        assertions: vec![Assertion {
            name: "slow".into(),
            check: Check::DurationAtMost(Duration::from_millis(25)),
            negated: false,
        }],
        ..request_step("a")
    }))];
    let answer = |outgoing: &Outgoing| {
        Some(match outgoing.url.as_str() {
            "http://server/a" => with(status(307), "Location", "/b?x=1"),
            "http://server/b?x=1" => with(status(302), "Location", "http://other:81/c"),
            _ => ok(""),
        })
    };
    let run = run(scenario(1, steps), answer);
    let lines: Vec<String> = run
        .sent()
        .iter()
        .map(|it| format!("{} {} {} {} {}", it.label, it.method, it.url, it.continues, it.headers.len()))
        .collect();
    assert_eq!(
        lines,
        [
            "a POST http://server/a false 2",
            "a POST http://server/b?x=1 true 2",
            "a GET http://other:81/c true 0"
        ]
    );
    let bodies: Vec<usize> = run.sent().iter().map(|it| it.body.len()).collect();
    assert_eq!(bodies, [4, 4, 0]);
    let over: Vec<bool> = run.verdicts.iter().map(|it| it.over).collect();
    assert_eq!(over, [false, false, true]);
    assert_eq!(run.verdicts[2].message.as_deref(), Some("slow: took 30.0ms, more than 25.0ms"));
}

#[test]
fn redirects_have_an_end() {
    let to = |location: &'static str| move |_: &Outgoing| Some(with(status(302), "Location", location));
    let round = run(scenario(1, requests(&["a"])), to("/a"));
    assert_eq!(round.line(), "a a a a");
    assert_eq!(round.verdicts[3].message.as_deref(), Some("too many redirects"));
    let secure = run(scenario(1, requests(&["a"])), to("ftp://server/"));
    assert!(secure.verdicts[0].message.as_deref().unwrap().contains("neither http"), "{:?}", secure.verdicts);
    let mut taken = request_step("a");
    taken.redirects_max = 0;
    let taken = run(scenario(1, vec![Step::Request(Box::new(taken))]), to("/b"));
    assert_eq!((taken.line().as_str(), taken.verdicts[0].ok), ("a", true));
}

/// By JMeter's source (`HTTPSampleResult.isRedirect`, `HTTPSamplerBase.computeMethodForRedirect`, `HTTPHC4Impl.sample`).
#[test]
fn redirects_ask_with_get_only_where_the_scenario_says_so() {
    let followed = |redirects, method: &str, code: u16, location: Option<&'static str>| {
        let step = RequestStep { method: t(method), body: t("data"), ..request_step("a") };
        let scenario = Scenario { redirects, ..scenario(1, vec![Step::Request(Box::new(step))]) };
        let run = run(scenario, |outgoing| {
            let answer = if outgoing.continues { ok("") } else { status(code) };
            Some(match location.filter(|_| !outgoing.continues) {
                Some(location) => with(answer, "Location", location),
                None => answer,
            })
        });
        let sent: Vec<String> =
            run.sent().iter().map(|it| format!("{} {}", it.method, it.body.len())).collect();
        (sent.join(", "), run.verdicts.last().unwrap().ok)
    };
    let (standard, get_only) = (RedirectRules::Standard, RedirectRules::GetOnly);
    for (method, code, by_standard, by_get_only) in [
        ("POST", 302, "POST 4, GET 0", "POST 4, GET 0"),
        ("POST", 307, "POST 4, POST 4", "POST 4"),
        ("POST", 308, "POST 4, POST 4", "POST 4, GET 0"),
        ("GET", 307, "GET 4, GET 4", "GET 4, GET 0"),
        ("HEAD", 301, "HEAD 4, HEAD 4", "HEAD 4, HEAD 4"),
    ] {
        for (rules, expected) in [(standard, by_standard), (get_only, by_get_only)] {
            let is = followed(rules, method, code, Some("/b"));
            assert_eq!(is, (expected.to_owned(), true), "{method} {code} {rules:?}");
        }
    }
    // `Missing location header in redirect`, whether redirects are followed or not.
    assert_eq!(followed(standard, "GET", 302, None), ("GET 4".to_owned(), true));
    assert_eq!(followed(get_only, "GET", 302, None), ("GET 4".to_owned(), false));
    assert_eq!(followed(get_only, "POST", 307, None), ("POST 4".to_owned(), true));
}

#[test]
fn cookies_come_back_as_the_group_wants_it() {
    for (policy, expected) in [
        (CookiePolicy::Keep, [false, true, true, true]),
        (CookiePolicy::KeepForIteration, [false, true, false, true]),
        (CookiePolicy::Ignore, [false; 4]),
    ] {
        let mut scenario = scenario(2, requests(&["a", "b"]));
        scenario.groups[0].cookies = policy;
        let run = run(scenario, |_| Some(with(ok(""), "Set-Cookie", "s=1; Path=/")));
        let has = |it: &&Outgoing| it.headers.contains(&("Cookie".into(), "s=1".into()));
        assert_eq!(run.sent().iter().map(has).collect::<Vec<_>>(), expected, "{policy:?}");
    }
}

#[test]
fn cookies_of_ones_own_are_sent_until_a_server_replaces_them() {
    let own = |name: &str, value: &str, domain: &str| OwnCookie {
        name: t(name),
        value: t(value),
        domain: t(domain),
        with_subdomains: true,
        path: t("/"),
        secure: false,
    };
    for (policy, expected) in [
        (CookiePolicy::Keep, ["s=own; v=1", "v=2; s=1", "v=2; s=1", "v=2; s=1"]),
        (CookiePolicy::KeepForIteration, ["s=own; v=1", "v=2; s=1", "s=own; v=2", "v=2; s=1"]),
        (CookiePolicy::Ignore, [""; 4]),
    ] {
        let steps = vec![request("a"), set("v", "2"), request("b")];
        let mut scenario = scenario(2, steps);
        scenario.variables.push(("v".into(), t("1")));
        scenario.groups[0].cookies = policy;
        scenario.groups[0].own_cookies =
            vec![own("s", "own", "server"), own("v", "${v}", "server"), own("x", "1", "other")];
        let run = run(scenario, |_| Some(with(ok(""), "Set-Cookie", "s=1; Path=/")));
        let cookies = |it: &&Outgoing| {
            let found = it.headers.iter().find(|(name, _)| name == "Cookie");
            found.map_or(String::new(), |(_, value)| value.clone())
        };
        assert_eq!(run.sent().iter().map(cookies).collect::<Vec<_>>(), expected, "{policy:?}");
    }
}

#[test]
fn an_expression_that_is_none_fails_also_where_it_must_not_match() {
    for (field, negated) in
        [(Field::Contains, false), (Field::Contains, true), (Field::Matches, false), (Field::Matches, true)]
    {
        let check = text(Part::Body, field, "${bad}");
        let assertions = vec![Assertion { name: String::new(), check, negated }];
        let steps = vec![Step::Request(Box::new(RequestStep { assertions, ..request_step("a") }))];
        let mut scenario = scenario(1, steps);
        scenario.variables.push(("bad".into(), t("(")));
        let run = run(scenario, |_| Some(ok("x")));
        assert!(!run.verdicts[0].ok, "{field:?}, not {negated}");
    }
}
