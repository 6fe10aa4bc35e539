//! What users send because of elements that stand beside requests or around them, by JMeter's rules for those.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jmeter::{Plan, PlanNotUnderstood, import, import_with};
use scenario::{
    Answer, Ended, Next, Outgoing, Pause, Prepared, RateRow, Session, Step, Template, World, WorldSetup,
};
use units::{Duration, Instant, Seed};

use crate::{element, plan_text};

/// A folder for the files of a test.
fn folder(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("plans-of-{name}"));
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

/// A request of this path.
fn request(path: &str) -> String {
    element("HTTPSamplerProxy", &[("HTTPSampler.domain", "h"), ("HTTPSampler.path", path)], "")
}

/// A thread group of one user who goes through this so many times.
fn group(name: &str, iterations: u32, inside: &str) -> String {
    format!(
        "<ThreadGroup testname=\"{name}\"><stringProp name=\"ThreadGroup.num_threads\">1</stringProp>\
         <elementProp name=\"ThreadGroup.main_controller\" elementType=\"LoopController\">\
         <boolProp name=\"LoopController.continue_forever\">false</boolProp>\
         <stringProp name=\"LoopController.loops\">{iterations}</stringProp></elementProp></ThreadGroup>\
         <hashTree>{inside}</hashTree>"
    )
}

/// The plan beside which its files lie.
fn plan(dir: &Path, elements: &str) -> Plan {
    let text = plan_text("p", elements);
    import(&dir.join("p.jmx"), &text, &BTreeMap::new()).unwrap_or_else(|error| panic!("{error}"))
}

fn world() -> World {
    World::new(WorldSetup { check: |_| Ok(()), ..WorldSetup::new(Seed(1)) })
}

/// What the users of a plan send, one after another, each by its group's name, if `answer` is what requests of a path are
/// answered with.
fn sent(plan: &Plan, answer: impl Fn(&str) -> &'static str) -> Vec<(String, Vec<Outgoing>)> {
    let prepared = Prepared::new(plan.scenario.clone()).unwrap();
    let mut world = world();
    let groups = prepared.scenario().groups.iter().enumerate();
    let of_group = |(number, group): (usize, &scenario::Group)| {
        let mut session = Session::new(&prepared, number, 0);
        (group.name.clone(), of_user(&mut session, &mut world, &answer))
    };
    groups.map(of_group).collect()
}

fn of_user(
    session: &mut Session,
    world: &mut World,
    answer: &impl Fn(&str) -> &'static str,
) -> Vec<Outgoing> {
    let mut now = Instant::ORIGIN;
    let mut sent = Vec::new();
    loop {
        match session.next(world, now) {
            Next::Request(request) => {
                let at = now;
                now = now + Duration::from_millis(1);
                let body = answer(request.url.path()).as_bytes();
                let answer = Answer::Answered { status: 200, reason: "OK", headers: &[], body };
                session.answered(world, &answer, at, now);
                sent.push(request);
            }
            Next::Pause(span) => now = now + span,
            Next::Unsent(unsent) => panic!("{unsent:?}"),
            Next::Wait(time) => panic!("{time:?}"),
            Next::Done(ended) => {
                assert_eq!(ended, Ended::Finished);
                return sent;
            }
        }
        assert!(sent.len() < 1000, "it has no end");
    }
}

/// The same of a plan with one group.
fn sent_by_one(plan: &Plan, answer: impl Fn(&str) -> &'static str) -> Vec<Outgoing> {
    let mut all = sent(plan, answer);
    assert_eq!(all.len(), 1);
    all.remove(0).1
}

/// The paths that each user of a plan requests, in order.
fn paths(plan: &Plan) -> Vec<String> {
    let line = |(name, sent): (String, Vec<Outgoing>)| {
        let paths: Vec<&str> = sent.iter().map(|it| it.url.path().trim_start_matches('/')).collect();
        format!("{name}: {}", paths.join(" "))
    };
    sent(plan, |_| "").into_iter().map(line).collect()
}

/// The paths that the user of this number requests in a plan's first group.
fn paths_of_user(plan: &Plan, user: u32) -> String {
    let mut session = Session::new(&Prepared::new(plan.scenario.clone()).unwrap(), 0, user);
    let sent = of_user(&mut session, &mut world(), &|_: &str| "");
    sent.iter().map(|it| it.url.path().trim_start_matches('/')).collect::<Vec<_>>().join(" ")
}

/// Makes a file of rows beside the plan, and the element that reads it.
fn rows(dir: &Path, file: &str, names: &str, text: &str, settings: &[(&str, &str)]) -> String {
    std::fs::write(dir.join(file), text).unwrap();
    let texts = [("filename", file), ("variableNames", names)];
    let texts: Vec<(&str, &str)> = texts.iter().chain(settings).copied().collect();
    element("CSVDataSet", &texts, "")
}

/// Each time that the controller begins around which it stands, if only around the request that it stands below.
#[test]
fn a_row_is_taken_each_time_that_its_controller_begins() {
    let dir = folder("rows");
    let letters = rows(&dir, "l.csv", "l", "a\nb\nc\n", &[]);
    let numbers = rows(&dir, "n.csv", "n", "1\n2\n3\n4\n5\n6\n7\n", &[]);
    let below =
        element("HTTPSamplerProxy", &[("HTTPSampler.domain", "h"), ("HTTPSampler.path", "/n${n}")], &numbers);
    let looped = element(
        "LoopController",
        &[("LoopController.loops", "2")],
        &format!("{}{letters}{below}", request("/l${l}")),
    );
    let counter = element("CounterConfig", &[("CounterConfig.name", "c"), ("CounterConfig.incr", "1")], "");
    let counted = element("TransactionController", &[], &format!("{counter}{}", request("/c${c}")));
    let inside = format!("{looped}{counted}{}", request("/end${l}"));
    let plan = plan(&dir, &group("g", 2, &inside));
    assert_eq!(paths(&plan), ["g: la n1 lb n2 c0 endb lc n3 la n4 c1 enda"]);
}

/// As users of JMeter write it: until the file is over, of which the end is a row, too.
#[test]
fn a_while_controller_goes_through_a_file() {
    let dir = folder("while");
    let rows = rows(&dir, "r.csv", "r", "1\n2\n", &[("recycle", "false")]);
    let condition = ("WhileController.condition", "${__jexl3(&quot;${r}&quot; != &quot;&lt;EOF&gt;&quot;)}");
    let looped = element("WhileController", &[condition], &format!("{rows}{}", request("/${r}")));
    let plan = plan(&dir, &group("g", 1, &format!("{looped}{}", request("/end"))));
    assert_eq!(paths(&plan), ["g: 1 2 %3CEOF%3E end"]);
}

#[test]
fn a_user_ends_where_its_file_does() {
    let dir = folder("ends");
    let ends = [("recycle", "false"), ("stopThread", "true")];
    let rows = rows(&dir, "r.csv", "r", "1\n2\n3\n", &ends);
    let simple = element("GenericController", &[], &format!("{rows}{}", request("/${r}")));
    let inside = format!("{}{simple}{}", request("/a"), request("/z"));
    let plan = plan(&dir, &group("g", 9, &inside));
    assert_eq!(paths(&plan), ["g: a 1 z a 2 z a 3 z a"]);
}

/// Each has its own variables; a file that both read has one place for both where they share it.
#[test]
fn groups_take_rows_of_their_own_files_and_share_one_file() {
    let dir = folder("groups");
    let file = |name: &str, text: &str, share: &str| rows(&dir, name, "v", text, &[("shareMode", share)]);
    let paths_of = |one: &str, other: &str| {
        let inside = |rows: &str| format!("{rows}{}", request("/${v}"));
        paths(&plan(&dir, &format!("{}{}", group("one", 2, &inside(one)), group("two", 2, &inside(other)))))
    };
    let (a, b) = (file("a.csv", "1\n2\n3\n4\n", "shareMode.all"), file("b.csv", "x\ny\n", "shareMode.all"));
    assert_eq!(paths_of(&a, &b), ["one: 1 2", "two: x y"]);
    assert_eq!(paths_of(&a, &a), ["one: 1 2", "two: 3 4"]);
    let of_group = file("a.csv", "1\n2\n3\n4\n", "shareMode.group");
    assert_eq!(paths_of(&of_group, &of_group), ["one: 1 2", "two: 1 2"]);
}

/// JMeter does the last of them first, so that the first one's value stays.
#[test]
fn of_two_files_with_one_variable_the_first_counts() {
    let dir = folder("one-variable");
    let first = rows(&dir, "first.csv", "v", "1\n2\n", &[]);
    let second = rows(&dir, "second.csv", "v,w", "x,y\n", &[]);
    // JMeter has its elements in lines of their own.
    let both = format!("{first}\n{second}\n");
    let inside = format!("{both}{}", request("/${v}${w}"));
    assert_eq!(paths(&plan(&dir, &group("g", 2, &inside))), ["g: 1y 2y"]);
    let simple = element("GenericController", &[], &inside);
    assert_eq!(paths(&plan(&dir, &group("g", 2, &simple))), ["g: 1y 2y"]);
}

/// By the algorithm of JMeter's controller: one request of a child each time, which goes on from there the next time, and with
/// its first request behind its last.
#[test]
fn an_interleave_controller_takes_requests_one_at_a_time() {
    let dir = folder("interleave");
    let control =
        |style: &str, below: &str| element("InterleaveControl", &[("InterleaveControl.style", style)], below);
    let simple = |below: &str| element("GenericController", &[], below);
    let all = |paths: &[&str]| paths.iter().map(|path| request(path)).collect::<String>();
    for (inside, iterations, expected) in [
        (format!("{}{}", simple(&all(&["a", "b", "c"])), request("z")), 7, "a z b z c z a"),
        (format!("{}{}", control("0", &all(&["a", "b"])), control("0", &all(&["x", "y"]))), 6, "a x b y a x"),
        (
            format!(
                "{}{}",
                control("1", &format!("{}{}", simple(&all(&["a", "b"])), request("c"))),
                request("z")
            ),
            8,
            "a z b z c z a z",
        ),
        (simple(&format!("{}{}", request("a"), simple(&all(&["b", "c"])))), 4, "a b c a"),
    ] {
        let plan = plan(&dir, &group("g", iterations, &control("0", &inside)));
        assert_eq!(paths(&plan), [format!("g: {expected}")]);
    }
}

#[test]
fn cookies_of_a_managers_own_are_sent() {
    let dir = folder("cookies");
    let cookie = |name: &str, texts: &[(&str, &str)]| {
        let text =
            |(name, text): &(&str, &str)| format!("<stringProp name=\"Cookie.{name}\">{text}</stringProp>");
        let texts: String = texts.iter().map(text).collect();
        format!("<elementProp name=\"x\" elementType=\"Cookie\" testname=\"{name}\">{texts}</elementProp>")
    };
    let manager = |policy: &str, cookies: &str| {
        format!(
            "<CookieManager testname=\"m\"><collectionProp name=\"CookieManager.cookies\">{cookies}</collectionProp>\
             <boolProp name=\"CookieManager.clearEachIteration\">true</boolProp>\
             <stringProp name=\"CookieManager.policy\">{policy}</stringProp></CookieManager><hashTree/>"
        )
    };
    let here = [("domain", "h"), ("path", "/"), ("domain_specified", "true")];
    let with =
        |value: &'static str, more: &[(&'static str, &'static str)]| -> Vec<(&'static str, &'static str)> {
            here.iter().chain(&[("value", value)]).chain(more).copied().collect()
        };
    let cookies = [
        cookie("one", &with("1", &[])),
        cookie("of", &with("user ${__threadNum}", &[])),
        cookie("secret", &with("2", &[("secure", "true")])),
        cookie("other", &[("domain", "other"), ("path", "/"), ("value", "3")]),
    ]
    .concat();
    let of_policy =
        |policy: &str| plan(&dir, &group("g", 1, &format!("{}{}", manager(policy, &cookies), request("/a"))));
    let header = |plan: &Plan| {
        let sent = sent_by_one(plan, |_| "");
        let found = sent[0].headers.iter().find(|(name, _)| name == "Cookie");
        found.map(|(_, value)| value.clone())
    };
    for policy in ["standard", "standard-strict", ""] {
        assert_eq!(header(&of_policy(policy)).as_deref(), Some("one=1; of=\"user 1\""), "{policy}");
    }
    assert_eq!(header(&of_policy("ignoreCookies")), None);
    let told = told(&group("g", 1, &format!("{}{}", manager("netscape", &cookies), request("/a"))), &[]);
    assert!(told.contains("CookieManager.policy is 'netscape', by which cookies of its own"), "{told}");
}

/// An HTTP Request with parameters and files.
fn upload(
    method: &str,
    settings: &[(&str, &str)],
    arguments: &[(&str, &str, &str)],
    files: &[(&str, &str, &str)],
) -> String {
    let text = |name: &str, text: &str| format!("<stringProp name=\"{name}\">{text}</stringProp>");
    let argument = |(name, value, kind): &(&str, &str, &str)| {
        let kind = if kind.is_empty() { String::new() } else { text("HTTPArgument.content_type", kind) };
        let (name, value) = (text("Argument.name", name), text("Argument.value", value));
        format!("<elementProp name=\"x\" elementType=\"HTTPArgument\">{name}{value}{kind}</elementProp>")
    };
    let file = |(path, name, kind): &(&str, &str, &str)| {
        let texts =
            [text("File.path", path), text("File.paramname", name), text("File.mimetype", kind)].concat();
        format!("<elementProp name=\"x\" elementType=\"HTTPFileArg\">{texts}</elementProp>")
    };
    let own: String = settings.iter().map(|(name, it)| text(&format!("HTTPSampler.{name}"), it)).collect();
    format!(
        "<HTTPSamplerProxy testname=\"r\">{}{}{own}<elementProp name=\"HTTPsampler.Arguments\" elementType=\"Arguments\">\
         <collectionProp name=\"Arguments.arguments\">{}</collectionProp></elementProp>\
         <elementProp name=\"HTTPsampler.Files\" elementType=\"HTTPFileArgs\"><collectionProp name=\"HTTPFileArgs.files\">{}\
         </collectionProp></elementProp></HTTPSamplerProxy><hashTree/>",
        text("HTTPSampler.domain", "h"),
        text("HTTPSampler.method", method),
        arguments.iter().map(argument).collect::<String>(),
        files.iter().map(file).collect::<String>()
    )
}

/// By JMeter 5.6.3's own test of what it sends, and the client that it sends it by.
#[test]
fn a_request_with_files_is_sent_in_parts() {
    let dir = folder("parts");
    std::fs::write(dir.join("up.txt"), "of a file").unwrap();
    let of = |settings: &[(&str, &str)]| {
        let arguments = [("a", "1 &amp; 2", ""), ("j", "{}", "Application/JSON"), ("", "left out", "")];
        let request = upload("POST", settings, &arguments, &[("up.txt", "f", "text/plain")]);
        let plan = plan(&dir, &group("g", 1, &request));
        assert_eq!(plan.files[0].file, dir.join("up.txt"));
        let sent = sent_by_one(&plan, |_| "");
        let [(name, kind)] = sent[0].headers.as_slice() else { panic!("{:?}", sent[0].headers) };
        let boundary = kind.split("boundary=").nth(1).unwrap().split(';').next().unwrap();
        assert_eq!(
            (name.as_str(), kind.replace(boundary, "B").as_str()),
            ("Content-Type", "multipart/form-data; boundary=B; charset=UTF-8")
        );
        String::from_utf8(sent[0].body.to_vec()).unwrap().replace(boundary, "B")
    };
    assert_eq!(
        of(&[]),
        "--B\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Type: text/plain; charset=UTF-8\r\n\
         Content-Transfer-Encoding: 8bit\r\n\r\n1 & 2\r\n\
         --B\r\nContent-Disposition: form-data; name=\"j\"\r\nContent-Type: application/json; charset=UTF-8\r\n\
         Content-Transfer-Encoding: 8bit\r\n\r\n{}\r\n\
         --B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"up.txt\"\r\nContent-Type: text/plain\r\n\
         Content-Transfer-Encoding: binary\r\n\r\nof a file\r\n--B--\r\n"
    );
    assert_eq!(
        of(&[("BROWSER_COMPATIBLE_MULTIPART", "true")]),
        "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1 & 2\r\n\
         --B\r\nContent-Disposition: form-data; name=\"j\"\r\n\r\n{}\r\n\
         --B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"up.txt\"\r\nContent-Type: text/plain\r\n\r\n\
         of a file\r\n--B--\r\n"
    );
}

#[test]
fn what_jmeter_sends_in_no_parts_is_refused() {
    let told = |request: &str| told(&group("g", 1, request), &[]);
    let in_parts = ("DO_MULTIPART_POST", "true");
    let file = ("up.txt", "f", "text/plain");
    for (request, what) in [
        (upload("POST", &[in_parts], &[("a", "1", "")], &[]), ""),
        (upload("PUT", &[], &[], &[file, file]), ""),
        (upload("GET", &[in_parts], &[("a", "1", "")], &[]), "sent by POST, PUT and PATCH only"),
        (
            upload("POST", &[in_parts, ("postBodyRaw", "true")], &[("", "x", "")], &[]),
            "HTTPSampler.postBodyRaw",
        ),
        (upload("POST", &[], &[], &[file, ("up.txt", "", "text/plain")]), "has no parameter name"),
        (upload("POST", &[], &[], &[file, ("", "f", "text/plain")]), "a row of its table names no file"),
        (
            upload("POST", &[in_parts], &[("a", "1", "${__RandomString(2,a/)}")], &[]),
            "content_type may differ",
        ),
    ] {
        let told = told(&request);
        assert!(if what.is_empty() { told.is_empty() } else { told.contains(what) }, "{request}: {told}");
    }
}

/// The id is what the page before had of it, in a link or a form, and stays what it was where a page has none.
#[test]
fn an_id_of_a_session_goes_from_a_page_into_requests() {
    let dir = folder("ids");
    let modifier = |texts: &[(&str, &str)]| {
        let texts: Vec<(&str, &str)> = [("argument_name", "SID")].iter().chain(texts).copied().collect();
        element("URLRewritingModifier", &texts, "")
    };
    let answer = |path: &str| match path.trim_start_matches('/').split(';').next() {
        Some("start") => "<a href='/x?SID=a%2Fb&y'>",
        Some("form") => "<input  Name=\"SID\" type='hidden'\n VALUE=\"from a form\">",
        Some("path") => "<a href=\"/x;SID=of-path?q\">",
        _ => "nothing",
    };
    let urls = |texts: &[(&str, &str)], paths: &[&str]| {
        let below: String = paths.iter().map(|path| request(path)).collect();
        let simple = element("GenericController", &[], &format!("{}{below}", modifier(texts)));
        let plan = plan(&dir, &group("g", 1, &format!("{}{simple}", request("/start"))));
        let sent = sent_by_one(&plan, answer);
        let urls = sent.iter().skip(1).map(|it| it.url.as_str().trim_start_matches("http://h/").to_owned());
        urls.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        urls(&[], &["/a", "/form", "/b?c=d", "/e"]),
        "a?SID=a%2Fb form?SID=a%2Fb b?c=d&SID=from+a+form e?SID=from+a+form"
    );
    let (in_path, to_question) = (("path_extension", "true"), ("path_extension_no_questionmark", "true"));
    assert_eq!(urls(&[in_path], &["/path", "/a"]), "path;SID= a;SID=of-path?q");
    assert_eq!(urls(&[in_path, to_question], &["/path", "/a"]), "path;SID= a;SID=of-path");
    let told = |inside: &str| told(&group("g", 1, inside), &[]);
    for (inside, what) in [
        (format!("{}{}", modifier(&[]), request("/a")), "no answer is sure to come before it"),
        (format!("{}{}", modifier(&[("cache_value", "false")]), request("/a")), "cache_value is false"),
        (format!("{}{}", modifier(&[in_path]), request("/a?b")), "HTTPSampler.path has a query"),
    ] {
        let told = told(&inside);
        assert!(told.contains(what), "{told}");
    }
}

/// A list of texts.
fn texts(name: &str, texts: &[&str]) -> String {
    let text = |text: &&str| format!("<stringProp name=\"x\">{text}</stringProp>");
    let texts: String = texts.iter().map(text).collect();
    format!("<collectionProp name=\"{name}\">{texts}</collectionProp>")
}

/// User Parameters of these names, with a list of values for each user.
fn parameters(per_iteration: bool, names: &[&str], users: &[&[&str]]) -> String {
    let names = texts("UserParameters.names", names);
    let lists: String = users.iter().map(|values| texts("x", values)).collect();
    format!(
        "<UserParameters testname=\"p\">{names}\
         <collectionProp name=\"UserParameters.thread_values\">{lists}</collectionProp>\
         <boolProp name=\"UserParameters.per_iteration\">{per_iteration}</boolProp></UserParameters><hashTree/>"
    )
}

/// By JMeter 5.6.3's source: the thread's number from 0, by how many lists there are.
#[test]
fn users_have_the_parameters_of_their_numbers() {
    for per_iteration in [true, false] {
        let users: [&[&str]; 3] = [&["a", "${u}"], &["b", "x", "y"], &["c", "z"]];
        let of_three = parameters(per_iteration, &["u", "v"], &users);
        let plan = plan(Path::new(""), &group("g", 2, &format!("{of_three}{}", request("/${u}${v}"))));
        let of = [0, 1, 2, 3, 4].map(|user| paths_of_user(&plan, user));
        assert_eq!(of, ["aa aa", "bx bx", "cz cz", "aa aa", "bx bx"], "{per_iteration}");
    }
}

/// Of those that apply the outermost first; what has fewer values than names leaves the others as they are.
#[test]
fn user_parameters_are_set_before_each_request_that_they_apply_to() {
    let outer = parameters(false, &["v"], &[&["out"]]);
    let inner = parameters(false, &["v", "w", "n"], &[&["in", "${v}"]]);
    let simple = element("GenericController", &[], &format!("{}{inner}", request("/a-${v}-${w}")));
    let inside = format!("{simple}{}{outer}", request("/b-${v}-${w}"));
    let plan_of = |inside: &str| plan(Path::new(""), &group("g", 1, inside));
    assert_eq!(paths(&plan_of(&inside)), ["g: a-in-in b-out-in"]);
    let counted = |per_iteration: bool| {
        let parameters = parameters(per_iteration, &["n"], &[&["${__counter(TRUE)}"]]);
        let below = format!("{}{parameters}{}", request("/a${n}"), request("/b${n}"));
        paths(&plan_of(&element("LoopController", &[("LoopController.loops", "2")], &below)))
    };
    assert_eq!(counted(false), ["g: a1 b2 a3 b4"]);
    assert_eq!(counted(true), ["g: a1 b1 a2 b2"]);
    // As in JMeter's own test of its loops.
    let pause = [("ActionProcessor.action", "1"), ("ActionProcessor.duration", "0")];
    let set = |value: &str| element("TestAction", &pause, &parameters(false, &["go"], &[&[value]]));
    let condition = [("WhileController.condition", "${go}")];
    let looped = element("WhileController", &condition, &format!("{}{}", request("/in"), set("false")));
    assert_eq!(paths(&plan_of(&format!("{}{looped}{}", set("true"), request("/out")))), ["g: in out"]);
}

/// JMeter begins with the last of what stands below a controller, also where that takes rows.
#[test]
fn user_parameters_of_an_iteration_come_before_the_rows_that_stand_before_them() {
    let dir = folder("parameters");
    let rows = rows(&dir, "r.csv", "r", "1\n2\n", &[]);
    let of_row = parameters(true, &["v"], &[&["of-${r}"]]);
    let counter = element("CounterConfig", &[("CounterConfig.name", "c"), ("CounterConfig.incr", "1")], "");
    for (elements, expected) in [
        ([&of_row, &rows, &counter], "0-1-of-1 1-2-of-2"),
        ([&counter, &rows, &of_row], "0-1-of-$%7Br%7D 1-2-of-1"),
    ] {
        let lines = elements.map(String::as_str).join("\n");
        let inside = format!("{lines}\n{}", request("/${c}-${r}-${v}"));
        assert_eq!(paths(&plan(&dir, &group("g", 2, &inside))), [format!("g: {expected}")]);
        let simple = element("GenericController", &[], &inside);
        assert_eq!(paths(&plan(&dir, &group("g", 2, &simple))), [format!("g: {expected}")]);
    }
}

/// By JMeter 5.6.3's source: the time is looked at before each of what stands right below, with its pauses and its variables.
#[test]
fn a_runtime_controller_goes_on_for_its_time() {
    let wait = [("ActionProcessor.action", "1"), ("ActionProcessor.duration", "700")];
    let waits =
        element("TestAction", &wait, &element("ConstantTimer", &[("ConstantTimer.delay", "100")], ""));
    let counter = element("CounterConfig", &[("CounterConfig.name", "n"), ("CounterConfig.incr", "1")], "");
    let below = format!("{counter}{}{waits}{}", request("/a${n}"), request("/b${n}"));
    let of = |seconds: &str, below: &str| element("RunTime", &[("RunTime.seconds", seconds)], below);
    let plan_of = |inside: &str| plan(Path::new(""), &group("g", 2, &format!("{inside}{}", request("/z"))));
    // An answer takes a millisecond, and so a turn 802.
    assert_eq!(paths(&plan_of(&of("1", &below))), ["g: a0 b0 a1 z a2 b2 a3 z"]);
    let first = plan_of(&of("2", &below)).scenario.groups[0].steps[0].clone();
    let Step::For { length, steps } = &first else { panic!("{first:?}") };
    let [Step::Count(_), Step::Request(_), Step::Sequence(pauses), Step::Request(_)] = steps.as_slice()
    else {
        panic!("{steps:?}")
    };
    assert_eq!((*length, pauses.len()), (Duration::from_secs(2), 2));
}

#[test]
fn a_runtime_controller_that_jmeter_leaves_in_its_midst_is_refused() {
    let told = |seconds: &str, below: &str| {
        let inside = element("RunTime", &[("RunTime.seconds", seconds)], below);
        told(&group("g", 1, &format!("{inside}{}", request("/z"))), &[])
    };
    assert_eq!(told("1", &request("/a")), "");
    assert_eq!(told("1", ""), "");
    let simple = element("GenericController", &[], &request("/a"));
    let parameters = parameters(false, &["v"], &[&["1"]]);
    for (seconds, below, what) in [
        ("1", simple.as_str(), "a controller stands in it"),
        ("0", &request("/a"), "RunTime.seconds is '0', which is no whole number of seconds above 0"),
        (" 1", &request("/a"), "is ' 1', which is no whole number"),
        ("${__Random(1,2)}", &request("/a"), "which may differ from request to request"),
        ("1", &element("DebugSampler", &[], &parameters), "it makes no request and no pause"),
        ("1", &element("DebugSampler", &[], ""), "it makes no request and no pause"),
    ] {
        let told = told(seconds, below);
        assert!(told.contains(what), "{seconds} {below}: {told}");
    }
}

/// A file with a test fragment, and elements around that, which JMeter does not look at.
fn fragment(inside: &str) -> String {
    let enabled = "enabled=\"false\"";
    format!(
        "<jmeterTestPlan><hashTree><TestPlan testname=\"other\"/><hashTree>{}\
         <TestFragmentController testname=\"f\" {enabled}/><hashTree>{inside}</hashTree>\
         <TestFragmentController testname=\"g\"/><hashTree>{}</hashTree></hashTree></hashTree></jmeterTestPlan>",
        element("JSR223Sampler", &[], ""),
        request("/second")
    )
}

/// An Include Controller of this file.
fn include(file: &str) -> String {
    element("IncludeController", &[("IncludeController.includepath", file)], "")
}

/// A plan in the folder `plans` that has this in its group, where these files are.
fn including(
    inside: &str,
    properties: &[(&str, &str)],
    files: &[(&str, &str)],
) -> Result<Plan, PlanNotUnderstood> {
    let text = plan_text("p", &group("g", 1, inside));
    let properties = properties.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let read = |file: &Path| {
        if file == Path::new("plans/locked.jmx") {
            return Err("is locked".to_owned());
        }
        let found = files.iter().find(|(name, _)| Path::new(name) == file);
        Ok(found.map(|(_, text)| (*text).to_owned()))
    };
    import_with(Path::new("plans/p.jmx"), &text, &properties.collect(), &read)
}

/// By JMeter 5.6.3's source: below the controller stands what stands below the first test fragment of the file, which is looked for
/// where JMeter was started, and then beside the plan.
#[test]
fn an_include_controller_has_another_files_fragment_below_it() {
    let header = "<HeaderManager testname=\"m\"><collectionProp name=\"HeaderManager.headers\"><elementProp name=\"x\" \
                  elementType=\"Header\"><stringProp name=\"Header.name\">X</stringProp>\
                  <stringProp name=\"Header.value\">${__V(v,none)}</stringProp></elementProp></collectionProp>\
                  </HeaderManager><hashTree/>";
    let variables = "<Arguments testname=\"a\"><collectionProp name=\"Arguments.arguments\"><elementProp name=\"v\" \
                     elementType=\"Argument\"><stringProp name=\"Argument.name\">v</stringProp>\
                     <stringProp name=\"Argument.value\">1</stringProp></elementProp></collectionProp></Arguments>\
                     <hashTree/>";
    let off = request("/off").replace("testname", "enabled=\"false\" testname");
    let login = fragment(&format!("{header}{variables}{}{off}{}", request("/in"), include("deep/more.jmx")));
    let top = format!(
        "<jmeterTestPlan><hashTree><TestFragmentController testname=\"f\"/><hashTree>{}</hashTree></hashTree>\
         </jmeterTestPlan>",
        request("/top")
    );
    let more = fragment(&request("/more"));
    let files =
        [("plans/login.jmx", login.as_str()), ("shared/top.jmx", &top), ("plans/deep/more.jmx", &more)];
    let of_login = include("login.jmx");
    let inside = format!("{of_login}{}{}{of_login}", request("/a"), include("top.jmx"));
    let plan = including(&inside, &[("includecontroller.prefix", "shared/")], &files);
    let plan = plan.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(paths(&plan), ["g: in more a top in more"]);
    let of_header: Vec<Option<String>> = sent_by_one(&plan, |_| "")
        .into_iter()
        .map(|it| it.headers.into_iter().find(|(name, _)| name == "X").map(|(_, value)| value))
        .collect();
    let one = Some("1".to_owned());
    assert_eq!(of_header, [one.clone(), one.clone(), None, None, one.clone(), one]);
}

#[test]
fn what_can_not_be_included_is_named_with_its_file() {
    let script = element("JSR223Sampler", &[], "");
    let bad = fragment(&format!("\n\n{script}"));
    let without =
        "<jmeterTestPlan><hashTree><TestPlan testname=\"t\"/><hashTree/></hashTree></jmeterTestPlan>";
    let (own, other) = (fragment(&include("own.jmx")), fragment(&include("p.jmx")));
    let module = fragment(&element("ModuleController", &[], ""));
    let nested = |inside: &str, times: usize| {
        let (start, end) = ("<GenericController testname=\"d\"/><hashTree>", "</hashTree>");
        format!("{}{inside}{}", start.repeat(times), end.repeat(times))
    };
    let deep = fragment(&nested(&request("/b"), 190));
    let files = [
        ("plans/p.jmx", ""),
        ("plans/bad.jmx", bad.as_str()),
        ("plans/without.jmx", without),
        ("plans/broken.jmx", "<jmeterTestPlan>"),
        ("plans/own.jmx", &own),
        ("plans/other.jmx", &other),
        ("plans/module.jmx", &module),
        ("plans/deep.jmx", &deep),
    ];
    let told = |inside: &str| {
        let read = including(&format!("{}{inside}", request("/a")), &[], &files);
        read.err().map(|error| error.to_string()).unwrap_or_default()
    };
    for (file, what) in [
        ("bad.jmx", "\n  plans/bad.jmx:3: Test Plan 'p' > Thread Group 'g' > Include Controller 'Include"),
        ("without.jmx", "plans/without.jmx has no Test Fragment right below its test plan"),
        ("broken.jmx", "plans/broken.jmx:1:17: the file ends within <jmeterTestPlan>"),
        ("own.jmx", "it stands in plans/own.jmx, which it includes, and so without end"),
        ("other.jmx", "it stands in plans/p.jmx, which it includes, and so without end"),
        ("module.jmx", "it stands in a file that is included"),
        ("missing.jmx", "there is no file missing.jmx and no plans/missing.jmx"),
        ("/missing.jmx", "there is no file /missing.jmx"),
        ("locked.jmx", "plans/locked.jmx is locked"),
        ("", "IncludeController.includepath is empty; name the file"),
    ] {
        let told = told(&include(file));
        assert!(told.contains(what), "{file}: {told}");
    }
    let twice = element("IncludeController", &[("IncludeController.includepath", "bad.jmx")], &request("/b"));
    assert!(told(&twice).contains("JMeter drops what stands below it"), "{}", told(&twice));
    let told_of_depth = told(&nested(&include("deep.jmx"), 10));
    assert!(told_of_depth.contains("with plans/deep.jmx more than 200 elements"), "{told_of_depth}");
    // What is off is not looked at.
    assert_eq!(told(&include("missing.jmx").replace("testname", "enabled=\"false\" testname")), "");
}

#[test]
fn a_poisson_timer_is_a_pause_of_that_distribution() {
    let timer =
        element("PoissonRandomTimer", &[("ConstantTimer.delay", "300"), ("RandomTimer.range", "100.0")], "");
    let plan = plan(Path::new(""), &group("g", 1, &format!("{timer}{}", request("/a"))));
    let [Step::Request(request)] = plan.scenario.groups[0].steps.as_slice() else { panic!("one request") };
    let (offset_ms, mean_ms) = (Template::text("300"), Template::text("100.0"));
    assert_eq!(request.pauses, [Pause::Poisson { offset_ms, mean_ms }]);
}

/// What the first one has is left to the scenario. A request without a timeout has JMeter's, or what stands for it.
#[test]
fn requests_keep_their_own_timeouts() {
    let timed = |path: &str, connect_ms: &str, answer_ms: &str| {
        let timeouts =
            [("HTTPSampler.connect_timeout", connect_ms), ("HTTPSampler.response_timeout", answer_ms)];
        let texts = [("HTTPSampler.domain", "h"), ("HTTPSampler.path", path), timeouts[0], timeouts[1]];
        element("HTTPSamplerProxy", &texts, "")
    };
    let looped = |below: &str| element("LoopController", &[("LoopController.loops", "1")], below);
    let (a, b, c) = (timed("/a", "20000", "1000"), timed("/b", "", ""), timed("/c", "20000", "1000"));
    let plan_of = |inside: &str| plan(Path::new(""), &group("g", 1, inside));
    let s = Duration::from_secs;
    let waits = |plan: &Plan| -> Vec<(Duration, Duration)> {
        sent_by_one(plan, |_| "").iter().map(|it| (it.waits.connect, it.waits.request)).collect()
    };
    let differing = plan_of(&format!("{a}{}", looped(&format!("{b}{c}"))));
    assert_eq!(waits(&differing), [(s(20), s(1)), (s(127), s(600)), (s(20), s(1))]);
    let some = "some requests have no response timeout: one of them that is not answered within 600s fails, and in \
                JMeter never ends";
    assert_eq!(differing.notes, [some]);
    let alike = plan_of(&format!("{a}{}", looped(&c)));
    assert_eq!(waits(&alike), [(s(20), s(1)); 2]);
    assert_eq!((alike.scenario.connect_timeout, alike.scenario.request_timeout), (s(20), s(1)));
    assert!(!format!("{:?}", alike.scenario).contains("waits: Some"), "{alike:?}");
}

/// What is wrong with a plan that has this at its test plan, or nothing.
fn told(elements: &str, properties: &[(&str, &str)]) -> String {
    let text = plan_text("p", elements);
    let properties = properties.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let read = import(Path::new("p.jmx"), &text, &properties.collect());
    read.err().map(|error| error.to_string()).unwrap_or_default()
}

/// A Throughput Shaping Timer with these rows.
fn shaping(rows: &[&[&str]]) -> String {
    let rows: String = rows.iter().map(|row| texts("x", row)).collect();
    let class = "kg.apc.jmeter.timers.VariableThroughputTimer";
    format!(
        "<{class} testname=\"shaping\"><collectionProp name=\"load_profile\">{rows}</collectionProp></{class}><hashTree/>"
    )
}

/// By JMeter's source each user has a time of each timer, whatever the rate of others, also of those that share a rate. Old plans
/// have the modes by their names (`ConstantThroughputTimer.setProperty`).
#[test]
fn each_constant_throughput_timer_keeps_its_own_time() {
    let is_one = |mode: &str, is_above: bool| {
        let timer = element("ConstantThroughputTimer", &[("throughput", "60"), ("calcMode", mode)], "");
        let (above, below) = if is_above { (timer.as_str(), "") } else { ("", timer.as_str()) };
        let asked = |path: &str| {
            element("HTTPSamplerProxy", &[("HTTPSampler.domain", "h"), ("HTTPSampler.path", path)], below)
        };
        let plan = plan(Path::new(""), &group("g", 9, &format!("{above}{}{}", asked("/a"), asked("/b"))));
        let [Step::Request(a), Step::Request(b)] = plan.scenario.groups[0].steps.as_slice() else {
            panic!("{plan:?}")
        };
        assert_eq!((a.pauses.len(), b.pauses.len()), (1, 1), "{plan:?}");
        a.pauses == b.pauses
    };
    for mode in ["0", "1", "2", "4", "all active threads"] {
        assert_eq!((is_one(mode, true), is_one(mode, false)), (true, false), "{mode}");
    }
    let of = |mode: &str| {
        let timer = element("ConstantThroughputTimer", &[("throughput", "60"), ("calcMode", mode)], "");
        format!("{:?}", plan(Path::new(""), &group("g", 1, &format!("{timer}{}", request("/a")))).scenario)
    };
    assert!(of("all active threads").contains("of: PartOfLoad, "));
    assert!(of("all active threads in current thread group (shared)").contains("of: GroupSinceLast, "));
}

#[test]
fn a_throughput_shaping_timer_is_one_schedule_for_its_group() {
    let timer = shaping(&[&["10", " 50.5", "180"], &["${__P(rate,7)}", "7", "2"]]);
    let inside = format!("{timer}{}{}", request("/a"), element("GenericController", &[], &request("/b")));
    let plan = plan(Path::new(""), &group("g", 9, &inside));
    let [Step::Request(a), Step::Sequence(below)] = plan.scenario.groups[0].steps.as_slice() else {
        panic!("{plan:?}")
    };
    let [Step::Request(b)] = below.as_slice() else { panic!("{below:?}") };
    let ([Pause::Scheduled(of_a)], [Pause::Scheduled(of_b)]) = (a.pauses.as_slice(), b.pauses.as_slice())
    else {
        panic!("{plan:?}")
    };
    assert!(Arc::ptr_eq(of_a, of_b), "both take its requests by turns");
    let row = |from, to, seconds| RateRow { from, to, seconds };
    assert_eq!(of_a.0, [row(10.0, 50.5, 180), row(7.0, 7.0, 2)]);
}

#[test]
fn a_throughput_shaping_timer_that_does_something_else_in_jmeter_is_refused() {
    let good = shaping(&[&["1", "2", "3"]]);
    let with = |timer: &str| group("g", 1, &format!("{timer}{}", request("/a")));
    assert_eq!(told(&with(&good), &[]), "");
    assert_eq!(told(&format!("{good}{}", with("")), &[]), "", "there is one group");
    let pace = element("ConstantThroughputTimer", &[("throughput", "60")], "");
    for (elements, properties, what) in [
        (with(&shaping(&[])), &[][..], "load_profile has no row"),
        (with(&shaping(&[&["1", "2"]])), &[], "has a row of 2 numbers, and not of 3"),
        (with(&shaping(&[&["x", "2", "3"]])), &[], "has 'x', which is no number of requests a second"),
        (with(&shaping(&[&["1", "-2", "3"]])), &[], "has '-2', which is no number of requests"),
        (with(&shaping(&[&["1", "2", "0"]])), &[], "a row of 0 seconds"),
        (with(&shaping(&[&["1", "2", "2.5"]])), &[], "is '2.5', which is no whole number"),
        (with(&good), &[("load_profile", "const(1,10s)")], "the property load_profile replaces its table"),
        (with(&format!("{good}{pace}")), &[], "another timer that keeps a rate apply to it"),
        (with(&format!("{good}{good}")), &[], "another timer that keeps a rate apply to it"),
        (format!("{good}{}{}", with(""), with("")), &[], "stops the thread groups one after another"),
    ] {
        let told = told(&elements, properties);
        assert!(told.contains(what), "{elements}: {told}");
    }
}

/// An expression has the values that its variables have by then, and a list may be put together.
#[test]
fn extractors_look_for_what_variables_say_and_put_lists_together() {
    let asks = |path: &str, extractor: &str| {
        element("HTTPSamplerProxy", &[("HTTPSampler.domain", "h"), ("HTTPSampler.path", path)], extractor)
    };
    let regex = |name: &str, regex: &str| {
        let texts = [
            ("RegexExtractor.refname", name),
            ("RegexExtractor.regex", regex),
            ("RegexExtractor.template", "$1$"),
            ("RegexExtractor.match_number", "1"),
        ];
        element("RegexExtractor", &texts, "")
    };
    let list = [
        ("JSONPostProcessor.referenceNames", "x"),
        ("JSONPostProcessor.jsonPathExprs", "$.a[*]"),
        ("JSONPostProcessor.match_numbers", "-1"),
        ("JSONPostProcessor.compute_concat", "true"),
    ];
    let inside = [
        asks("/a", &regex("key", "key:(.)")),
        asks("/b", &regex("v", r"${key}=(\d+)")),
        request("/c${v}"),
        asks("/d", &element("JSONPostProcessor", &list, "")),
        request("/e${x_ALL}"),
    ];
    let plan = plan(Path::new(""), &group("g", 1, &inside.concat()));
    let answer = |path: &str| match path {
        "/a" => "key:b",
        "/b" => "a=1 b=22",
        "/d" => "{\"a\":[1,2]}",
        _ => "",
    };
    let sent = sent_by_one(&plan, answer);
    let paths: Vec<&str> = sent.iter().map(|it| it.url.path()).collect();
    assert_eq!(paths, ["/a", "/b", "/c22", "/d", "/e1,2"]);
}

/// By the sources of a plug-in (jpgc-json): of a list its values go into variables of their own.
#[test]
fn a_plug_ins_json_elements_take_values_as_they_are() {
    const EXTRACTOR: &str = "com.atlantbh.jmeter.plugins.jsonutils.jsonpathextractor.JSONPathExtractor";
    const ASSERTION: &str = "com.atlantbh.jmeter.plugins.jsonutils.jsonpathassertion.JSONPathAssertion";
    let extractor = |path: &str, more: &[(&str, &str)]| {
        let texts = [("VAR", "v"), ("JSONPATH", path), ("DEFAULT", "none")];
        let texts: Vec<(&str, &str)> = texts.iter().chain(more).copied().collect();
        element(EXTRACTOR, &texts, "")
    };
    let asks = |path: &str, below: &str| {
        element("HTTPSamplerProxy", &[("HTTPSampler.domain", "h"), ("HTTPSampler.path", path)], below)
    };
    let assertion =
        [("JSON_PATH", "$.n"), ("EXPECTED_VALUE", "7"), ("JSONVALIDATION", "true"), ("ISREGEX", "false")];
    let inside = [
        asks("/list", &extractor("a.b", &[("SUBJECT", "BODY"), ("INPUT_FORMAT", "JSON")])),
        request("/${v_1}/${v_matchNr}"),
        asks("/in", &extractor("$.c", &[("SUBJECT", "VAR"), ("VARIABLE", "v_2")])),
        request("/${v}"),
        asks("/n", &element(ASSERTION, &assertion, "")),
        request("/${JMeterThread.last_sample_ok}"),
    ];
    let plan = plan(Path::new(""), &group("g", 1, &inside.concat()));
    let answer = |path: &str| match path {
        "/list" => "{\"a\":{\"b\":[1,{\"c\":\"d\"}]}}",
        "/n" => "{\"n\":[6,\"8\"]}",
        _ => "",
    };
    let sent = sent_by_one(&plan, answer);
    let paths: Vec<&str> = sent.iter().map(|it| it.url.path()).collect();
    assert_eq!(paths, ["/list", "/1/2", "/in", "/d", "/n", "/false"]);

    for (extractor, what) in [
        (extractor("$.a", &[("INPUT_FORMAT", "YAML")]), "INPUT_FORMAT is 'YAML'; only JSON is read"),
        (extractor("", &[]), "JSONPATH is empty"),
        (extractor("$.", &[]), "the JSONPath `$.` can't be used"),
    ] {
        let told = told(&group("g", 1, &asks("/a", &extractor)), &[]);
        assert!(told.contains(what), "{extractor}: {told}");
    }
}

/// A Weighted Switch Controller with these rows.
fn weighted(rows: &[&[&str]], is_random: bool, below: &str) -> String {
    let rows: String = rows.iter().map(|row| texts("x", row)).collect();
    let class = "com.blazemeter.jmeter.control.WeightedSwitchController";
    format!(
        "<{class} testname=\"w\"><collectionProp name=\"Weights\">{rows}</collectionProp>\
         <boolProp name=\"IsRandomChoice\">{is_random}</boolProp></{class}><hashTree>{below}</hashTree>"
    )
}

/// By `WeightedSwitchController.choose`: what is furthest behind its share, of the rows that take part. A listener is no choice, and
/// what has no weight is never chosen.
#[test]
fn a_weighted_switch_controller_keeps_to_its_weights() {
    let simple = element("GenericController", &[], &format!("{}{}", request("/b"), request("/c")));
    let listener = element("ResultCollector", &[], "");
    let below = format!("{}{listener}{simple}{}{}", request("/a"), request("/d"), request("/e"));
    let rows: [&[&str]; 5] = [
        &["/a", "1", "true"],
        &["GenericController", "3"],
        &["was", "9", "false"],
        &["/d", "0", "true"],
        &["/e", "0", "true"],
    ];
    let of = |is_random: bool| {
        let inside = format!("{}{}", weighted(&rows, is_random, &below), request("/z"));
        plan(Path::new(""), &group("g", 4, &inside))
    };
    assert_eq!(paths(&of(false)), ["g: b c z a z b c z b c z"]);
    let by_chance = of(true);
    let Step::OneOf { pick: scenario::Pick::Random, steps } = &by_chance.scenario.groups[0].steps[0] else {
        panic!("{by_chance:?}")
    };
    assert_eq!(steps.iter().map(|(weight, _)| weight.get()).collect::<Vec<_>>(), [1, 3]);
}

#[test]
fn a_weighted_switch_controller_that_is_not_sure_is_refused() {
    let a = request("/a");
    let one = |weight: &str, below: &str| weighted(&[&["x", weight]], false, below);
    let of = |class: &str, below: &str| element(class, &[], below);
    let counter = element("CounterConfig", &[("CounterConfig.name", "c")], "");
    let looped = element("LoopController", &[("LoopController.loops", "2")], &a);
    let within = of("TransactionController", &of("GenericController", &a));
    let next = element("TestAction", &[("ActionProcessor.action", "3"), ("ActionProcessor.target", "0")], "");
    let good = one("1", &a);
    for (inside, what) in [
        (good.clone(), ""),
        (one("1", &of("TransactionController", &a)), ""),
        (one("1", &of("GenericController", &of("TransactionController", &a))), ""),
        (element("LoopController", &[("LoopController.loops", "2")], &good), ""),
        (one("0", &a), "Weights are all 0"),
        (one("-1", &a), "Weights has '-1', which is no whole number from 0"),
        (one("${v}", &a), "Weights has '${v}', which is no whole number from 0"),
        (one("1", &format!("{a}{a}")), "Weights has 1 rows that take part, and 2 choices stand below it"),
        (one("1", &of("GenericController", "")), "a controller without a request"),
        (one("1", &looped), "of requests, and of Simple and Transaction Controllers of them, only"),
        (one("1", &within), "of requests, and of Simple and Transaction Controllers of them, only"),
        (one("1", &format!("{counter}{a}")), "a counter, a random variable"),
        (of("RandomController", &format!("{good}{a}")), "below a controller that may pass it over"),
        (format!("{good}{next}"), "keeps a choice that was left before its end"),
    ] {
        let told = told(&group("g", 1, &inside), &[]);
        assert!(if what.is_empty() { told.is_empty() } else { told.contains(what) }, "{inside}: {told}");
    }
}

/// A Synchronizing Timer.
fn synchronizing(size: &str, timeout_ms: &str) -> String {
    element("SyncTimer", &[("groupSize", size), ("timeoutInMs", timeout_ms)], "")
}

/// A thread group of four.
fn four(inside: &str) -> String {
    group("g", 1, inside).replace("num_threads\">1<", "num_threads\">4<")
}

/// By `SyncTimer` and `JMeterThread.delay`: without a size it waits for all threads of the group, and what the timers before it say is
/// slept behind it. All that it applies to share it.
#[test]
fn users_meet_where_a_synchronizing_timer_says() {
    let delay = element("ConstantTimer", &[("ConstantTimer.delay", "7")], "");
    let (a, b) = (request("/a"), request("/b"));
    let plan = plan(Path::new(""), &four(&format!("{delay}{}{a}{b}", synchronizing("0", "0"))));
    let [Step::Request(a), Step::Request(b)] = plan.scenario.groups[0].steps.as_slice() else {
        panic!("{plan:?}")
    };
    let ([Pause::Meeting(of_a), then], [Pause::Meeting(of_b), _]) =
        (a.pauses.as_slice(), b.pauses.as_slice())
    else {
        panic!("{plan:?}")
    };
    assert!(Arc::ptr_eq(of_a, of_b), "whoever waits before one is counted before the other");
    assert_eq!((of_a.users.get(), of_a.timeout), (4, None));
    assert_eq!(*then, Pause::Constant { ms: Template::text("7") });
    assert!(plan.notes.iter().any(|note| note.starts_with("Synchronizing Timer without a timeout")));
}

#[test]
fn a_synchronizing_timer_that_nobody_can_be_sure_of_is_refused() {
    let with = |timer: &str| four(&format!("{timer}{}", request("/a")));
    let timer = synchronizing;
    let arrivals = element(
        "OpenModelThreadGroup",
        &[("OpenModelThreadGroup.schedule", "rate(1/sec) even_arrivals(1 sec)")],
        &format!("{}{}", timer("0", "1"), request("/a")),
    );
    let paced = element("ConstantThroughputTimer", &[("throughput", "60")], "");
    let of_two = |size: &str| format!("{}{}{}", timer(size, "0"), with(""), with(""));
    for (elements, what) in [
        (with(&timer("4", "0")), ""),
        (with(&timer("5", "100")), ""),
        (format!("{}{}", timer("0", "0"), with("")), ""),
        (of_two("9"), ""),
        (with(&timer("5", "0")), "groupSize is 5, and its thread group has 4 threads, who would wait"),
        (with(&timer("-1", "0")), "groupSize is -1, which is no number of users"),
        (with(&timer("0", "-1")), "timeoutInMs is -1, by which JMeter ends the thread"),
        (of_two("0"), "groupSize is 0, which is all threads of one of the groups that come to it"),
        (arrivals, "groupSize is 0, which is all threads of the group, and there are not always as many"),
        (with(&format!("{}{paced}", timer("0", "0"))), "a Synchronizing Timer and a timer that keeps a rate"),
    ] {
        let told = told(&elements, &[]);
        assert!(if what.is_empty() { told.is_empty() } else { told.contains(what) }, "{elements}: {told}");
    }
}

/// A Response Assertion on the body with the bits of its type: 1 matches, 2 contains, 4 not, 8 equals, 16 substring.
fn response_assertion(bits: u32, pattern: &str) -> String {
    let patterns = texts("Asserion.test_strings", &[pattern]);
    format!(
        "<ResponseAssertion testname=\"body\"><stringProp name=\"Assertion.test_field\">Assertion.response_data</stringProp>\
         <intProp name=\"Assertion.test_type\">{bits}</intProp>{patterns}</ResponseAssertion><hashTree/>"
    )
}

/// By `ResponseAssertion.evaluateResponse`, which does not look at what is empty, and by Oro's `Perl5Matcher`, to which a line feed at
/// the end of a text is behind its `$`.
#[test]
fn response_assertions_are_jmeters_where_texts_end_and_where_there_is_none() {
    for (bits, pattern, body, holds) in [
        (2, "^ok$", "ok\n", true),
        (2, "^ok$", "ok\nno", false),
        (1, "^ok$", "ok\n", false),
        (1, "^ok$", "ok", true),
        (2, ".*", "", false),
        (8, "", "", false),
        (16, "", "", false),
        (6, ".*", "", true),
        (6, ".*", "ok", false),
        (12, "", "", true),
    ] {
        let asserted = element(
            "HTTPSamplerProxy",
            &[("HTTPSampler.domain", "h"), ("HTTPSampler.path", "/a")],
            &response_assertion(bits, pattern),
        );
        let inside = format!("{asserted}{}", request("/${JMeterThread.last_sample_ok}"));
        let sent = sent_by_one(&plan(Path::new(""), &group("g", 1, &inside)), |_| body);
        assert_eq!(sent[1].url.path(), format!("/{holds}"), "{bits} `{pattern}` of `{body}`");
    }
}

/// The same end of a text.
#[test]
fn what_is_taken_up_to_the_end_of_a_text_is_found_before_a_line_feed() {
    let texts = [
        ("RegexExtractor.refname", "v"),
        ("RegexExtractor.regex", "^id=(.+)$"),
        ("RegexExtractor.template", "$1$"),
        ("RegexExtractor.match_number", "1"),
    ];
    let extractor = element("RegexExtractor", &texts, "");
    let inside = format!("{extractor}{}{}", request("/a"), request("/b${v}"));
    let sent = sent_by_one(&plan(Path::new(""), &group("g", 1, &inside)), |_| "id=7\n");
    assert_eq!(sent[1].url.path(), "/b7");
}

/// By `HTTPSamplerBase.readResponse`: what extractors and assertions find there is the hash.
#[test]
fn a_body_that_is_kept_as_its_hash_is_not_looked_at() {
    let asked = |below: &str| {
        let texts = [("HTTPSampler.domain", "h"), ("HTTPSampler.md5", "true")];
        group("g", 1, &element("HTTPSamplerProxy", &texts, below))
    };
    let size = element("SizeAssertion", &[("SizeAssertion.size", "9")], "");
    assert_eq!(told(&asked(&size), &[]), "", "the size is that of what came");
    let told = told(&asked(&response_assertion(2, "ok")), &[]);
    assert!(told.contains("HTTPSampler.md5: JMeter has an MD5 hash in the place of the body"), "{told}");
}

/// What only looks at results changes nothing of what is sent; what a plug-in does otherwise is named with what does it here.
#[test]
fn listeners_have_no_effect_and_plug_ins_are_named() {
    let classes = ["BackendListener", "kg.apc.jmeter.perfmon.PerfMonCollector"];
    let listeners: String = classes.iter().map(|class| element(class, &[], "")).collect();
    let plan = plan(Path::new(""), &format!("{listeners}{}", group("g", 1, &request("/a"))));
    assert_eq!((plan.support.ignored, plan.support.unsupported.len()), (2, 0));
    assert!(plan.notes.iter().any(|note| note.starts_with("Backend Listener: results go to no other")));

    let sampler = element("com.blazemeter.jmeter.http2.sampler.HTTP2Sampler", &[], "");
    let told_of_sampler = told(&group("g", 1, &sampler), &[]);
    assert!(told_of_sampler.contains("hit --scenario FILE --http2"), "{told_of_sampler}");
    let arrivals = element("com.blazemeter.jmeter.threads.arrivals.ArrivalsThreadGroup", &[], &request("/a"));
    let told_of_arrivals = told(&arrivals, &[]);
    assert!(told_of_arrivals.contains("use an Open Model Thread Group for a rate"), "{told_of_arrivals}");
}

/// By `ResultAction` and `OnErrorTestElement`: 0 goes on, 1 ends the thread, 2 and 3 the test, 4 begins the next iteration.
#[test]
fn a_result_status_action_handler_says_what_follows_a_failure() {
    let action = |action: &str| element("ResultAction", &[("OnError.action", action)], "");
    let failing = |below: &str| {
        let below = format!("{below}{}", response_assertion(2, "x"));
        element("HTTPSamplerProxy", &[("HTTPSampler.domain", "h"), ("HTTPSampler.path", "/f")], &below)
    };
    let of = |beside: &str, below: &str| {
        let inside = format!("{beside}{}{}{}", request("/a"), failing(below), request("/b"));
        paths(&plan(Path::new(""), &group("g", 2, &inside))).remove(0)
    };
    assert_eq!(of("", &action("0")), "g: a f b a f b");
    assert_eq!(of("", &action("1")), "g: a f");
    assert_eq!(of(&action("4"), ""), "g: a f a f");
    assert_eq!(of(&action("4"), &action("1")), "g: a f");
    let of_stop = plan(Path::new(""), &format!("{}{}", action("2"), group("g", 1, &request("/a"))));
    let [Step::Request(asked)] = of_stop.scenario.groups[0].steps.as_slice() else { panic!("{of_stop:?}") };
    assert_eq!(asked.on_error, scenario::OnError::StopLoad);

    let parent = [("TransactionController.parent", "true")];
    let within = element("TransactionController", &parent, &format!("{}{}", action("1"), request("/a")));
    let share = [("ThroughputController.style", "0"), ("ThroughputController.maxThroughput", "1")];
    let share = element("ThroughputController", &share, &request("/a"));
    let with = |number: &str| group("g", 1, &format!("{}{}", action(number), request("/a")));
    for (elements, what) in [
        (with("5"), "what becomes of a loop after an error is not supported"),
        (with("7"), "OnError.action is 7, which is none of JMeter's 0 to 6"),
        (group("g", 1, &within), "does not tell of requests for which a Transaction Controller stands"),
        (format!("{}{}", action("4"), group("g", 1, &share)), "where an iteration is left before it"),
    ] {
        let told = told(&elements, &[]);
        assert!(told.contains(what), "{elements}: {told}");
    }
}

/// By `DNSCacheManager.resolve`: without addresses of its own, and without servers that it is to ask, it has the system look names
/// up. Addresses of its own count whatever else it says.
#[test]
fn a_dns_cache_manager_that_asks_the_system_is_none() {
    let manager = |inside: &str| {
        let dns = format!("<DNSCacheManager testname=\"dns\">{inside}</DNSCacheManager><hashTree/>");
        format!("{dns}{}", group("g", 1, &request("/a")))
    };
    let is_true = |name: &str| format!("<boolProp name=\"DNSCacheManager.{name}\">true</boolProp>");
    let servers = texts("DNSCacheManager.servers", &["8.8.8.8"]);
    let hosts = "<collectionProp name=\"DNSCacheManager.hosts\"><elementProp name=\"h\" elementType=\"StaticHost\">\
                 <stringProp name=\"StaticHost.Address\">127.0.0.1</stringProp></elementProp></collectionProp>";
    for inside in [String::new(), servers.clone(), is_true("isCustomResolver")] {
        assert_eq!(plan(Path::new(""), &manager(&inside)).notes.len(), 1, "the timeout's alone: {inside}");
    }
    let each = plan(Path::new(""), &manager(&is_true("clearEachIteration")));
    assert!(each.notes.iter().any(|note| note.contains("names are looked up once")), "{:?}", each.notes);
    for (inside, what) in [
        (hosts.to_owned(), "DNSCacheManager.hosts has addresses of its own"),
        (format!("{servers}{}", is_true("isCustomResolver")), "DNSCacheManager.servers are asked for names"),
    ] {
        let told = told(&manager(&inside), &[]);
        assert!(told.contains(what), "{inside}: {told}");
    }
}

/// `TIMER_FACTOR` of `JMeterThread`, `MAX_REDIRECTS` of `HTTPSamplerBase`, `RETRY_COUNT` of `HTTPHC4Impl`, and `CookieManager`.
#[test]
fn properties_that_change_what_jmeter_sends_are_refused() {
    let elements = group("g", 1, &request("/a"));
    for (name, value, is_refused) in [
        ("timer.factor", "0.5", true),
        ("timer.factor", "1.0f", false),
        ("timer.factor", "", false),
        ("httpsampler.max_redirects", "5", true),
        ("httpsampler.max_redirects", "20", false),
        ("httpclient4.retrycount", "3", true),
        ("CookieManager.save.cookies", "true", true),
        ("CookieManager.save.cookies", "FALSE", false),
        ("users", "7", false),
    ] {
        let told = told(&elements, &[(name, value)]);
        let is_told = told.contains(&format!("the property {name} is {value}, and is not looked at"));
        assert_eq!((is_told, told.is_empty()), (is_refused, !is_refused), "{name}={value}: {told}");
    }
    let format = ("jmeter.save.saveservice.output_format".to_owned(), "xml".to_owned());
    let plan = import(Path::new("p.jmx"), &plan_text("p", &elements), &BTreeMap::from([format])).unwrap();
    assert!(plan.notes.iter().any(|note| note.contains("-l has JMeter's default")), "{:?}", plan.notes);
}

/// By `HTTPHC4Impl.sample`, whose `saveConnectionCookies` has the answer that its library hands it.
#[test]
fn cookies_of_redirects_that_jmeter_does_not_see_are_told() {
    let asked = |how: &str| element("HTTPSamplerProxy", &[("HTTPSampler.domain", "h"), (how, "true")], "");
    let cookies = element("CookieManager", &[], "");
    let is_told = |inside: &str| {
        let plan = plan(Path::new(""), &group("g", 1, inside));
        assert_eq!(plan.scenario.redirects, scenario::RedirectRules::GetOnly);
        plan.notes.iter().any(|note| note.starts_with("Redirect Automatically: "))
    };
    let automatically = asked("HTTPSampler.auto_redirects");
    assert!(is_told(&format!("{cookies}{automatically}")) && !is_told(&automatically));
    assert!(!is_told(&format!("{cookies}{}", asked("HTTPSampler.follow_redirects"))));
}
