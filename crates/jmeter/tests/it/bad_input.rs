//! What can't be run is named, all of it, before anything is sent.

use std::collections::BTreeMap;
use std::path::Path;

use jmeter::{PlanNotUnderstood, import};
use proptest::prelude::*;
use scenario::Step;

use crate::{element, plan_text};

fn plan(name: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plans").join(name);
    std::fs::read_to_string(file).unwrap()
}

fn error(name: &str, text: &str) -> PlanNotUnderstood {
    import(Path::new(name), text, &BTreeMap::new()).unwrap_err()
}

#[test]
fn everything_that_is_not_supported_is_named_at_once() {
    let error = error("unsupported.jmx", &plan("unsupported.jmx"));
    insta::assert_snapshot!(error);
    let PlanNotUnderstood::Unsupported { support, .. } = error else { panic!("it is well-formed") };
    assert!(support.supported + support.ignored < support.elements, "{support:?}");
    assert!(support.share() > 0.0 && support.share() < 0.5, "{support:?}");
    let path = "Test Plan > Thread Group 'users' > JSR223 Sampler 'x' (JSR223Sampler)";
    assert!(support.unsupported.iter().any(|it| it.path == path), "{support:?}");
}

#[test]
fn bad_numbers_are_named_with_what_they_are() {
    insta::assert_snapshot!(error("bad-numbers.jmx", &plan("bad-numbers.jmx")));
}

#[test]
fn missing_data_is_named_with_the_element_that_wants_it() {
    let path = Path::new("plans/missing-csv.jmx");
    let plan = import(path, &plan("missing-csv.jmx"), &BTreeMap::new()).unwrap();
    let missing = plan.check_files(path, |file| {
        std::fs::metadata(file).map(|_| ()).map_err(|error| error.kind().to_string())
    });
    insta::assert_snapshot!(missing.unwrap_err());
    assert!(plan.check_files(path, |_| Ok(())).is_ok());
}

#[test]
fn broken_xml_is_one_error_with_its_place() {
    let whole = plan("virtual-threads.jmx");
    let cut = &whole[..whole.find("</hashTree>").unwrap()];
    let crossed = whole.replacen("</TestPlan>", "</Testplan>", 1);
    let entity = whole.replacen("slowAPI", "slow&API;", 1);
    for (text, place, what) in [
        ("", ":1:1: ", "there is no XML element"),
        ("Just text.", ":1:1: ", "text outside of the root"),
        ("<project>\n</project>", ":1:1: ", "its root is <project>"),
        ("<jmeterTestPlan><hashTree/></jmeterTestPlan>", ":1:1: ", "it holds no <TestPlan>"),
        ("<a/>\n<b/>", ":2:1: ", "second root"),
        (cut, ":100:", "the file ends within <hashTree>"),
        (&crossed, ":36:", "TestPlan"),
        (&entity, ":52:", "API"),
    ] {
        let error = error("p.jmx", text).to_string();
        assert!(error.starts_with(&format!("p.jmx{place}")) && error.contains(what), "{error}");
        assert!(!error.contains('\n'), "{error}");
    }
    let deep = "<a>".repeat(100_000);
    assert!(error("p.jmx", &deep).to_string().contains("within each other"));
}

#[test]
fn a_plan_that_makes_no_request_is_an_error() {
    let whole = plan("virtual-threads.jmx");
    let none = whole.replacen("<HTTPSamplerProxy ", "<HTTPSamplerProxy enabled=\"false\" ", 1);
    assert!(error("p.jmx", &none).to_string().contains("no thread group of the plan makes a request"));
    let properties = BTreeMap::from([("users".to_owned(), "0".to_owned())]);
    let error = import(Path::new("p.jmx"), &whole, &properties).unwrap_err().to_string();
    assert!(error.contains("no thread group"), "{error}");
}

#[test]
fn cookies_that_differ_between_requests_are_named() {
    let whole = plan("login.jmx");
    let manager = whole.find("<CookieManager").unwrap();
    let end = whole[manager..].find("<hashTree/>").unwrap() + manager + "<hashTree/>".len();
    let (cookies, mut moved) = (whole[manager..end].to_owned(), whole.clone());
    moved.replace_range(manager..end, "");
    let once =
        moved.find("</OnceOnlyController>").unwrap_or_else(|| moved.find("<OnceOnlyController").unwrap());
    let inside = moved[once..].find("<hashTree>").unwrap() + once + "<hashTree>".len();
    moved.insert_str(inside, &cookies);
    let text = error("p.jmx", &moved).to_string();
    assert!(text.contains("HTTP Cookie Manager (CookieManager): it applies to some requests"), "{text}");
}

/// A file that names its columns itself may name any variable.
#[test]
fn a_server_that_data_may_rename_stays_open() {
    let plan = plan("missing-csv.jmx").replace(">localhost<", ">${which}<");
    let read = |text: &str| import(Path::new("p.jmx"), text, &BTreeMap::new()).unwrap();
    let target = |text: &str| {
        let group = read(text).scenario.groups.remove(0);
        let Step::Request(request) = &group.steps[0] else { panic!("one request") };
        request.url.constant().map(str::to_owned)
    };
    assert_eq!(target(&plan).as_deref(), Some("http://items/"));
    assert_eq!(target(&plan.replace(">which2<", "><")), None);
}

/// JMeter does not start such a group.
#[test]
fn a_scheduler_without_a_duration_is_refused() {
    let whole = plan("login.jmx");
    let duration = "<stringProp name=\"ThreadGroup.duration\">";
    let at = whole.find(duration).unwrap() + duration.len();
    let end = whole[at..].find('<').unwrap() + at;
    let without = [&whole[..at], &whole[end..]].concat();
    let text = error("p.jmx", &without).to_string();
    assert!(text.contains("ThreadGroup.duration is empty or 0 with the scheduler on"), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever is cut out of a plan or put into it: a plan or an error, and never a panic.
    #[test]
    fn no_text_is_too_much(from in 0_usize..20_000, length in 0_usize..400, put in r#"[<>/&;"=${}a-zA-Z ]{0,12}"#) {
        let mut text = plan("login.jmx");
        let from = from.min(text.len() - 1);
        let to = (from + length).min(text.len());
        prop_assume!(text.is_char_boundary(from) && text.is_char_boundary(to));
        text.replace_range(from..to, &put);
        let _ = import(Path::new("p.jmx"), &text, &BTreeMap::new());
    }
}

/// Thirty variables that each have the one before them twice, and a million rows of one name: neither takes the memory or the
/// time that it would come to.
#[test]
fn a_plan_that_grows_beyond_bounds_is_read_within_them() {
    let row = |name: &str, value: &str| {
        format!(
            "<elementProp name=\"x\" elementType=\"Argument\"><stringProp name=\"Argument.name\">{name}</stringProp>\
             <stringProp name=\"Argument.value\">{value}</stringProp></elementProp>"
        )
    };
    let with = |rows: String, threads: &str| {
        format!(
            "<jmeterTestPlan><hashTree><TestPlan testname=\"t\"><elementProp name=\"TestPlan.user_defined_variables\" \
             elementType=\"Arguments\"><collectionProp name=\"Arguments.arguments\">{rows}</collectionProp></elementProp>\
             </TestPlan><hashTree><ThreadGroup testname=\"g\"><stringProp name=\"ThreadGroup.num_threads\">{threads}\
             </stringProp></ThreadGroup></hashTree></hashTree></jmeterTestPlan>"
        )
    };
    let doubling: String = (0..40)
        .map(|place| match place {
            0 => row("v0", &"1".repeat(1000)),
            _ => row(&format!("v{place}"), &format!("${{v{}}}${{v{}}}", place - 1, place - 1)),
        })
        .collect();
    let told = error("p.jmx", &with(doubling, "${v39}")).to_string();
    assert!(told.contains("which is not known before the test starts"), "{told:.300}");
    let begun = std::time::Instant::now();
    let many: String = (0..30_000).map(|place| row(&format!("v{place}"), "1")).collect();
    let _ = import(Path::new("p.jmx"), &with(many, "1"), &BTreeMap::new());
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
    let attributes = (0..100).map(|place| format!(" a{place}=\"\"")).collect::<Vec<_>>().concat();
    assert!(
        error("p.jmx", &format!("<jmeterTestPlan{attributes}/>"))
            .to_string()
            .contains("more than 64 attributes")
    );
}

#[test]
fn a_comparison_that_jmeter_takes_for_text_is_named() {
    let whole = plan("controllers.jmx");
    let at = whole.find("&quot;${n}&quot; == &quot;2&quot;").unwrap();
    let flag = "IfController.useExpression\">false";
    let at = whole[at..].find(flag).unwrap() + at;
    let mut expression = whole.clone();
    expression.replace_range(at..at + flag.len(), "IfController.useExpression\">true");
    let endless = whole.replacen(
        "WhileController.condition\">${more}<",
        "WhileController.condition\">${more} != 0<",
        1,
    );
    for text in [expression, endless] {
        let error = error("p.jmx", &text).to_string();
        assert!(error.contains("JMeter takes for text"), "{error}");
    }
}

const REQUEST: &str = "<HTTPSamplerProxy testname=\"r\"><stringProp name=\"HTTPSampler.domain\">h</stringProp>\
                       </HTTPSamplerProxy><hashTree/>";

/// A plan of one group with this in it.
fn of_group(inside: &str) -> String {
    let group = format!(
        "<ThreadGroup testname=\"users\"><stringProp name=\"ThreadGroup.num_threads\">1</stringProp></ThreadGroup>\
         <hashTree>{inside}</hashTree>"
    );
    plan_text("plan", &group)
}

/// What is wrong with a plan, or nothing.
fn told(text: &str) -> String {
    let read = import(Path::new("p.jmx"), text, &BTreeMap::new());
    read.err().map(|error| error.to_string()).unwrap_or_default()
}

/// JMeter begins such a controller anew where an If Controller's condition does not hold, and the others of a choice go on to
/// the next where it has nothing left.
#[test]
fn what_is_once_below_what_may_be_passed_over_is_refused() {
    let once = element("OnceOnlyController", &[], REQUEST);
    let condition = ("IfController.condition", "1 == 1");
    let style = ("InterleaveControl.style", "1");
    let list = [("ForeachController.inputVal", "a"), ("ForeachController.returnVal", "b")];
    let loops = [("LoopController.loops", "2")];
    let around = |class: &str, below: &str| match class {
        "IfController" => element(class, &[condition], below),
        "ForeachController" => element(class, &list, below),
        "LoopController" => element(class, &loops, below),
        "GenericController" | "TransactionController" | "RandomOrderController" => element(class, &[], below),
        _ => element(class, &[style], &format!("{below}{REQUEST}")),
    };
    let told_of = |classes: &[&str]| {
        let inside = classes.iter().rev().fold(once.clone(), |below, class| around(class, &below));
        told(&of_group(&inside))
    };
    for classes in [
        &[][..],
        &["GenericController"],
        &["TransactionController", "RandomOrderController"],
        &["LoopController"],
        &["ForeachController"],
        &["IfController", "LoopController"],
        &["LoopController", "ForeachController"],
    ] {
        assert_eq!(told_of(classes), "", "{classes:?}");
    }
    for (classes, what) in [
        (&["IfController"][..], "below an If Controller, which begins it anew"),
        (&["IfController", "GenericController"], "below an If Controller"),
        (&["IfController", "ForeachController"], "below an If Controller"),
        (&["RandomController"], "below a controller that may pass it over"),
        (&["InterleaveControl", "TransactionController"], "below a controller that may pass it over"),
        (&["LoopController", "GenericController"], "in a loop, but not right below it"),
    ] {
        let told = told_of(classes);
        assert!(told.contains("OnceOnlyController") && told.contains(what), "{classes:?}: {told}");
    }
}

#[test]
fn a_choice_that_may_come_to_nothing_is_refused() {
    let condition = ("IfController.condition", "1 == 1");
    let maybe = element("IfController", &[condition], REQUEST);
    let sure = element("GenericController", &[], &format!("{maybe}{REQUEST}"));
    for (below, is_refused) in [(maybe, true), (sure, false)] {
        let plan = of_group(&element("InterleaveControl", &[("InterleaveControl.style", "1")], &below));
        assert_eq!(told(&plan).contains("may come to no request"), is_refused, "{}", told(&plan));
    }
}

#[test]
fn lists_whose_turns_would_not_be_jmeters_are_refused() {
    let extractor = |name: &str| {
        let texts = [("RegexExtractor.refname", name), ("RegexExtractor.regex", "x")];
        element("RegexExtractor", &texts, "")
    };
    let list = |more: &[(&str, &str)], below: &str| {
        let texts = [("ForeachController.inputVal", "id"), ("ForeachController.returnVal", "one")];
        let texts: Vec<(&str, &str)> = texts.iter().chain(more).copied().collect();
        told(&of_group(&element("ForeachController", &texts, &format!("{below}{REQUEST}"))))
    };
    assert_eq!(list(&[], &extractor("other")), "");
    for name in ["one", "id", "id_2"] {
        let told = list(&[], &extractor(name));
        assert!(told.contains(&format!("the variable {name} gets another value within its turns")), "{told}");
    }
    let told_of_end = list(&[("ForeachController.endIndex", "many")], "");
    assert!(told_of_end.contains("endIndex is 'many', which is no whole number"), "{told_of_end}");
    let counted = REQUEST.replace(">h<", ">${__jm__Other__idx}<");
    let told_of_turns = told(&of_group(&counted));
    assert!(told_of_turns.contains("only the turns of ForEach Controllers are counted"), "{told_of_turns}");
}

#[test]
fn user_parameters_of_names_that_are_not_known_are_refused() {
    let parameters = |name: &str| {
        let list =
            |name: &str, below: &str| format!("<collectionProp name=\"{name}\">{below}</collectionProp>");
        let text = |text: &str| format!("<stringProp name=\"x\">{text}</stringProp>");
        format!(
            "<UserParameters testname=\"p\">{}{}</UserParameters><hashTree/>",
            list("UserParameters.names", &text(name)),
            list("UserParameters.thread_values", &list("x", &text("1")))
        )
    };
    assert_eq!(told(&of_group(&format!("{}{REQUEST}", parameters("a")))), "");
    let of_name = told(&of_group(&format!("{}{REQUEST}", parameters("a${b}"))));
    assert!(of_name.contains("has 'a${b}', which is known only while the test runs"), "{of_name}");
    let texts = [("ForeachController.inputVal", "id"), ("ForeachController.returnVal", "one")];
    let list = element("ForeachController", &texts, &format!("{}{REQUEST}", parameters("one")));
    let of_list = told(&of_group(&list));
    assert!(of_list.contains("the variable one gets another value within its turns"), "{of_list}");
    // What it sets is known by nobody before the start.
    let server = REQUEST.replace(">h<", ">${a}<");
    let text = of_group(&format!("{}{server}", parameters("a")));
    let read = import(Path::new("p.jmx"), &text, &BTreeMap::new());
    let group = read.unwrap().scenario.groups.remove(0);
    let Step::Request(request) = &group.steps[0] else { panic!("one request") };
    assert_eq!(request.url.constant(), None);
}

#[test]
fn modules_that_lead_nowhere_or_into_themselves_are_refused() {
    let module = |path: &[&str]| {
        let names: Vec<String> =
            path.iter().map(|name| format!("<stringProp name=\"x\">{name}</stringProp>")).collect();
        let names = names.concat();
        format!(
            "<ModuleController testname=\"module\"><collectionProp name=\"ModuleController.node_path\">{names}\
             </collectionProp></ModuleController><hashTree/>"
        )
    };
    let steps = element("GenericController", &[], REQUEST);
    let told_of = |path: &[&str]| told(&of_group(&format!("{}{steps}", module(path))));
    assert_eq!(told_of(&["Root", "plan", "users", "GenericController"]), "");
    for (path, what) in [
        (&[][..], "node_path is empty"),
        (&["Root", "plan", "users", "Nobody"], "nothing in the plan is called 'plan > users > Nobody'"),
        (&["Root", "plan", "users", "module"], "nothing in the plan is called 'plan > users > module'"),
        (&["Root", "plan", "users"], "'plan > users' is no controller and no test fragment"),
        (&["Root", "plan", "users", "GenericController", "r"], "is no controller and no test fragment"),
    ] {
        let told = told_of(path);
        assert!(told.contains(what), "{path:?}: {told}");
    }
    let itself = module(&["Root", "plan", "users", "GenericController"]);
    let told_of_itself = told(&of_group(&element("GenericController", &[], &format!("{REQUEST}{itself}"))));
    assert!(
        told_of_itself.contains("it stands within 'GenericController', which it runs"),
        "{told_of_itself}"
    );
    let below = itself.replace("<hashTree/>", &format!("<hashTree>{REQUEST}</hashTree>"));
    let told_of_below = told(&of_group(&format!("{below}{steps}")));
    assert!(told_of_below.contains("JMeter drops what stands below it"), "{told_of_below}");
}

/// JMeter counts a throughput controller with what is around it, and here it is counted where it is come to.
#[test]
fn a_throughput_controller_that_jmeter_counts_elsewhere_is_refused() {
    let half = element("ThroughputController", &[("ThroughputController.style", "1")], REQUEST);
    let simple = element("GenericController", &[], &half);
    let texts = [("InterleaveControl.style", "1"), ("LoopController.loops", "2")];
    let next = element("TestAction", &[("ActionProcessor.action", "3")], "");
    let around = |class: &str, below: &str| element(class, &texts, &format!("{below}{REQUEST}"));
    for (inside, what) in [
        (half.clone(), ""),
        (around("LoopController", &half), ""),
        (around("RandomOrderController", &half), ""),
        (around("RandomController", &half), "where the controller around it takes another"),
        (around("InterleaveControl", &half), "where the controller around it takes another"),
        (around("SwitchController", &simple), "takes it out of the choices of a Switch Controller"),
        (format!("{next}{half}"), "where an iteration is left before it"),
    ] {
        let told = told(&of_group(&inside));
        assert!(if what.is_empty() { told.is_empty() } else { told.contains(what) }, "{inside}: {told}");
    }
    let by_error = of_group(&half).replace(
        "<ThreadGroup testname=\"users\">",
        "<ThreadGroup testname=\"users\"><stringProp name=\"ThreadGroup.on_sample_error\">startnextloop</stringProp>",
    );
    assert!(told(&by_error).contains("where an iteration is left before it"), "{}", told(&by_error));
    let texts =
        [("ThroughputController.style", "1"), ("ThroughputController.percentThroughput", "half of them")];
    let told = told(&of_group(&element("ThroughputController", &texts, REQUEST)));
    assert!(told.contains("percentThroughput is 'half of them', which is no number"), "{told}");
}

#[test]
fn a_switch_with_a_choice_that_jmeter_takes_out_is_refused() {
    let empty = element("GenericController", &[], "");
    let told_of = |below: &str| told(&of_group(&element("SwitchController", &[], below)));
    assert_eq!(told_of(&element("GenericController", &[], REQUEST)), "");
    let told = told_of(&format!("{REQUEST}{empty}"));
    assert!(told.contains("one of its choices is a controller without a request"), "{told}");
}

#[test]
fn actions_that_a_scenario_has_not_are_refused() {
    let action = |action: &str, target: &str| {
        element("TestAction", &[("ActionProcessor.action", action), ("ActionProcessor.target", target)], "")
    };
    let told_of = |inside: &str| told(&of_group(&format!("{REQUEST}{inside}")));
    for (what, target) in [("0", "0"), ("0", "2"), ("2", "0"), ("2", "2"), ("3", "0"), ("1", "0")] {
        assert_eq!(told_of(&action(what, target)), "", "{what} {target}");
    }
    for what in ["4", "5"] {
        let told = told_of(&action(what, "0"));
        assert!(told.contains("and not what becomes of a loop"), "{told}");
    }
    let within = element("TransactionController", &[], &format!("{REQUEST}{}", action("0", "0")));
    assert!(told_of(&within).contains("it leaves a Transaction Controller"), "{}", told_of(&within));
}

/// Of a group, by its class.
fn group(class: &str, inside: &str) -> String {
    format!(
        "<{class} testname=\"{class}\"><stringProp name=\"ThreadGroup.num_threads\">1</stringProp></{class}>\
         <hashTree>{inside}</hashTree>"
    )
}

/// What goes on from one stage of a test to the next, which begin anew here.
#[test]
fn what_would_go_on_in_the_next_stage_is_refused() {
    let plan = |at_plan: &str, groups: &str| plan_text("plan", &format!("{at_plan}{groups}"));
    let rows = |share: &str| {
        element("CSVDataSet", &[("filename", "a.csv"), ("variableNames", "a"), ("shareMode", share)], "")
    };
    let both = format!("{}{}", group("SetupThreadGroup", REQUEST), group("ThreadGroup", REQUEST));
    for (share, is_refused) in
        [("shareMode.all", true), ("shareMode.group", false), ("shareMode.thread", false)]
    {
        let told = told(&plan(&rows(share), &both));
        assert_eq!(told.contains("its rows go on from one thread group"), is_refused, "{share}: {told}");
        assert_eq!(told.is_empty(), !is_refused, "{share}: {told}");
    }
    assert_eq!(told(&plan(&rows("shareMode.all"), &group("ThreadGroup", REQUEST))), "");
    let stops = [("ActionProcessor.action", "0"), ("ActionProcessor.target", "2")];
    let stop = format!("{REQUEST}{}", element("TestAction", &stops, ""));
    let told =
        told(&plan("", &format!("{}{}", group("ThreadGroup", &stop), group("PostThreadGroup", REQUEST))));
    assert!(told.contains("it ends the test, in which thread groups run one after another"), "{told}");
}

/// JMeter opens a file once for all who share its rows, whichever element they come by.
#[test]
fn a_file_that_two_elements_read_otherwise_is_refused() {
    let rows = |file: &str, share: &str, names: &str| {
        element("CSVDataSet", &[("filename", file), ("variableNames", names), ("shareMode", share)], "")
    };
    let two = |one: &str, other: &str| {
        let groups = [one, other].map(|rows| group("ThreadGroup", &format!("{rows}{REQUEST}"))).concat();
        told(&plan_text("plan", &groups))
    };
    let of_all = rows("a.csv", "shareMode.all", "a");
    let refused = "another such element reads the same file with other settings";
    for (one, other, is_refused) in [
        (&of_all, &of_all, false),
        (&of_all, &rows("a.csv", "", "a"), false),
        (&of_all, &rows("a.csv", "shareMode.all", "b"), true),
        (&of_all, &rows("b.csv", "shareMode.all", "b"), false),
        (&of_all, &rows("a.csv", "shareMode.group", "b"), false),
        (&rows("a.csv", "shareMode.group", "a"), &rows("a.csv", "shareMode.group", "b"), false),
        (&rows("a.csv", "shareMode.thread", "a"), &rows("a.csv", "shareMode.thread", "b"), false),
    ] {
        let told = two(one, other);
        assert_eq!(
            (told.contains(refused), told.is_empty()),
            (is_refused, !is_refused),
            "{one} {other} {told}"
        );
    }
    let of_group = |names: &str| rows("a.csv", "shareMode.group", names);
    assert_eq!(two(&format!("{}{}", of_group("a"), of_group("a")), ""), "");
    assert!(two(&format!("{}{}", of_group("a"), of_group("b")), "").contains(refused));
    let consecutively = |share: &str| {
        let groups = ["SetupThreadGroup", "ThreadGroup"].map(|class| {
            let rows = rows("a.csv", share, "a");
            group(class, &format!("{rows}{REQUEST}"))
        });
        told(&plan_text("plan", &groups.concat()))
    };
    assert!(consecutively("shareMode.all").contains("its rows go on from one thread group"));
    assert_eq!(consecutively("shareMode.group"), "");
}

/// Where JMeter sets variables as a controller begins, and a scenario does not, or not as often.
#[test]
fn variables_that_a_controller_can_not_set_as_it_begins_are_refused() {
    let rows = element("CSVDataSet", &[("filename", "a.csv"), ("variableNames", "a")], "");
    let counter = element("CounterConfig", &[("CounterConfig.name", "c"), ("CounterConfig.incr", "1")], "");
    let simple = element("GenericController", &[], &format!("{rows}{REQUEST}"));
    let list = |item: &str, below: &str| {
        let texts = [("ForeachController.inputVal", "x"), ("ForeachController.returnVal", item)];
        element("ForeachController", &texts, &format!("{below}{REQUEST}"))
    };
    let unnamed = element("CSVDataSet", &[("filename", "a.csv")], "");
    for (inside, what) in [
        (simple.clone(), ""),
        (element("SwitchController", &[], &simple), ""),
        (list("one", &rows), ""),
        (element("WhileController", &[], &simple), ""),
        (element("SwitchController", &[], &format!("{rows}{REQUEST}")), "when JMeter has made its choice"),
        (
            format!("{REQUEST}{}", element("LoopController", &[("LoopController.loops", "2")], &rows)),
            "it holds no request",
        ),
        (list("a", &rows), "the variable a gets another value within its turns"),
        (list("one", &unnamed), "a CSV file below it has the names of its variables"),
        (
            element("WhileController", &[], &format!("{counter}{REQUEST}")),
            "its condition is blank, and a Counter",
        ),
    ] {
        let told = told(&of_group(&inside));
        assert!(if what.is_empty() { told.is_empty() } else { told.contains(what) }, "{inside}: {told}");
    }
}

#[test]
fn choices_whose_parts_jmeter_takes_bit_by_bit_are_refused_where_those_are_not_known() {
    let two = element("GenericController", &[], &format!("{REQUEST}{REQUEST}"));
    let condition = ("IfController.condition", "1 == 1");
    let singly = |class: &str, below: &str| element(class, &[("InterleaveControl.style", "0")], below);
    let looped = element("LoopController", &[("LoopController.loops", "2")], REQUEST);
    let next = element("TestAction", &[("ActionProcessor.action", "3")], "");
    let anew = format!("{REQUEST}{next}{}", singly("InterleaveControl", &two));
    for (inside, what) in [
        (singly("InterleaveControl", &format!("{two}{REQUEST}")), ""),
        (singly("InterleaveControl", &singly("InterleaveControl", &two)), ""),
        (singly("RandomController", &two), "it takes one request at a time"),
        (singly("InterleaveControl", &looped), "Simple and Interleave Controllers of them, only"),
        (
            element("IfController", &[condition], &singly("InterleaveControl", &two)),
            "JMeter begins them anew",
        ),
        (anew, "JMeter begins them anew"),
    ] {
        let told = told(&of_group(&inside));
        assert!(if what.is_empty() { told.is_empty() } else { told.contains(what) }, "{inside}: {told}");
    }
}

/// JMeter takes them for no number, and goes through none of it.
#[test]
fn blanks_around_a_number_of_loops_are_refused() {
    let looped = |times: &str| {
        told(&of_group(&element("LoopController", &[("LoopController.loops", times)], REQUEST)))
    };
    assert_eq!((looped("2"), looped("-1")), (String::new(), String::new()));
    for times in [" 2 ", "2 ", " -1", "x"] {
        let told = looped(times);
        assert!(told.contains(&format!("is '{times}', which is no number of loops")), "{told}");
    }
}

#[test]
fn formats_of_random_numbers_that_would_need_zeros_are_refused() {
    let told_of = |low: &str, format: &str| {
        let texts =
            [("variableName", "r"), ("minimumValue", low), ("maximumValue", "99"), ("outputFormat", format)];
        told(&of_group(&format!("{}{REQUEST}", element("RandomVariableConfig", &texts, ""))))
    };
    for (low, format) in [("10", "user_00"), ("0", "0"), ("1", "u#"), ("-5", "##")] {
        assert_eq!(told_of(low, format), "", "{low} {format}");
    }
    for (low, format) in [("1", "00"), ("-5", "u0"), ("-50", "00")] {
        let told = told_of(low, format);
        assert!(told.contains(&format!("by which {low} gets other digits")), "{told}");
    }
}
