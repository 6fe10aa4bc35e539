//! Plans as users write them, and what they become.

use std::collections::BTreeMap;
use std::path::Path;

use jmeter::{Phase, Plan, PlanNotUnderstood, Stage, import};
use scenario::{OnError, Portion, Stay, Step, Template, Users};
use units::Duration;

fn read(name: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plans").join(name);
    std::fs::read_to_string(file).unwrap()
}

fn imported(name: &str, properties: &[(&str, &str)]) -> Plan {
    let properties: BTreeMap<String, String> =
        properties.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    match import(Path::new(&format!("plans/{name}")), &read(name), &properties) {
        Ok(plan) => plan,
        Err(error) => panic!("{error}"),
    }
}

fn users(plan: &Plan) -> (u32, Duration, Option<u64>) {
    match &plan.scenario.groups[0].users {
        Users::Closed { count, ramp_up, iterations, .. } => {
            (count.get(), *ramp_up, iterations.map(Into::into))
        }
        Users::Planned { .. } | Users::Open { .. } => panic!("it is closed"),
    }
}

/// The write-up's load: 1000 users who start over 50 s and make 1000 requests each.
#[test]
fn the_virtual_threads_write_up() {
    let plan = imported("virtual-threads.jmx", &[]);
    assert_eq!(users(&plan), (1000, Duration::from_secs(50), Some(1000)));
    insta::assert_debug_snapshot!(plan);
}

#[test]
fn properties_of_the_command_line_reach_every_number() {
    let properties = [("users", "20"), ("ramp", "2"), ("loops", "30"), ("host", "far.test"), ("port", "80")];
    let plan = imported("virtual-threads.jmx", &properties);
    assert_eq!(users(&plan), (20, Duration::from_secs(2), Some(30)));
    let [Step::Request(request)] = plan.scenario.groups[0].steps.as_slice() else { panic!("one request") };
    assert_eq!(request.url.constant(), Some("http://far.test/slowAPI"));
    assert_eq!(request.form.len(), 1);
}

#[test]
fn a_login_with_what_its_answers_give() {
    insta::assert_debug_snapshot!(imported("login.jmx", &[]));
}

#[test]
fn every_controller() {
    insta::assert_debug_snapshot!(imported("controllers.jmx", &[]));
}

/// What applies to a request is what stands below it, beside it, beside its parent, and so on up.
#[test]
fn scopes_are_jmeters() {
    insta::assert_debug_snapshot!(imported("scopes.jmx", &[]));
}

/// By JMeter's numbers: each for itself, a part for each of the plan's or of the group's, and by turns.
#[test]
fn a_throughput_timer_is_of_whom_it_says() {
    let with = |mode: u32| {
        let (was, is) = ("name=\"calcMode\">2<", format!("name=\"calcMode\">{mode}<"));
        let text = read("scopes.jmx").replacen(was, &is, 1);
        let plan = import(Path::new("plans/scopes.jmx"), &text, &BTreeMap::new());
        plan.map(|plan| format!("{:?}", plan.scenario)).map_err(|error| error.to_string())
    };
    for (mode, of) in [(1, "PartOfLoad"), (2, "PartOfGroup"), (4, "GroupSinceLast")] {
        assert!(with(mode).unwrap().contains(&format!("of: {of}, timer: ")), "{mode}");
    }
    let refused = with(3).unwrap_err();
    assert!(refused.contains("its rate is shared by all groups"), "{refused}");
}

#[test]
fn arrivals_by_a_schedule() {
    insta::assert_debug_snapshot!(imported("open-model.jmx", &[("warmup", "45")]));
}

#[test]
fn every_assertion_and_extractor() {
    insta::assert_debug_snapshot!(imported("checks.jmx", &[]));
}

#[test]
fn a_plan_of_an_old_jmeter() {
    insta::assert_debug_snapshot!(imported("old.jmx", &[]));
}

#[test]
fn what_has_no_effect_is_counted_and_what_is_off_is_not() {
    let support = imported("scopes.jmx", &[]).support;
    assert_eq!(support.elements, support.supported + support.ignored);
    assert!((support.share() - 1.0).abs() < f64::EPSILON);
    assert_eq!(support.ignored, 1, "the test fragment");
}

/// Of a login and of a request to it: JMeter looks at both forms of a URL.
#[test]
fn a_login_is_sent_whether_the_usual_port_is_written_or_not() {
    let plan = |server: &str, port: &str, path: &str, login: &str| {
        format!(
            "<jmeterTestPlan><hashTree><TestPlan testname=\"p\"/><hashTree><AuthManager testname=\"a\">\
             <collectionProp name=\"AuthManager.auth_list\"><elementProp name=\"\" elementType=\"Authorization\">\
             <stringProp name=\"Authorization.url\">{login}</stringProp>\
             <stringProp name=\"Authorization.username\">u</stringProp>\
             <stringProp name=\"Authorization.mechanism\">BASIC</stringProp></elementProp></collectionProp>\
             </AuthManager><hashTree/><ThreadGroup testname=\"g\">\
             <stringProp name=\"ThreadGroup.num_threads\">1</stringProp></ThreadGroup><hashTree>\
             <HTTPSamplerProxy testname=\"r\"><stringProp name=\"HTTPSampler.domain\">{server}</stringProp>\
             <stringProp name=\"HTTPSampler.port\">{port}</stringProp>\
             <stringProp name=\"HTTPSampler.path\">{path}</stringProp></HTTPSamplerProxy><hashTree/></hashTree>\
             </hashTree></hashTree></jmeterTestPlan>"
        )
    };
    let is_sent = |port: &str, path: &str, login: &str| {
        let plan = import(Path::new("p.jmx"), &plan("h", port, path, login), &BTreeMap::new());
        let group = plan.unwrap_or_else(|error| panic!("{error}")).scenario.groups.remove(0);
        let Step::Request(request) = &group.steps[0] else { panic!("one request") };
        request.headers.iter().any(|(name, _)| name.constant() == Some("Authorization"))
    };
    for (port, path, login, expected) in [
        ("", "/a", "http://h:80/", true),
        ("80", "/a", "http://h:80/", true),
        ("80", "/a", "http://h/", true),
        ("", "http://h:80/a", "http://h/a", true),
        ("", "https://h/a", "https://h:443/", true),
        ("", "https://h/a", "https://h:80/", false),
        ("8080", "/a", "http://h:80/", false),
        ("", "/a?b", "http://h:80/a", true),
        ("", "/b", "http://h:80/a", false),
    ] {
        assert_eq!(is_sent(port, path, login), expected, "{port} {path} {login}");
    }
    // What the server's port comes to may be the usual one.
    let open = plan("h", "${__Random(80,81)}", "/", "http://h/");
    let error = import(Path::new("p.jmx"), &open, &BTreeMap::new()).unwrap_err().to_string();
    assert!(error.contains("is known only later"), "{error}");
}

/// A plan with these settings of its own, and these elements.
fn plan_of(settings: &[(&str, &str)], elements: &str) -> Plan {
    let setting = |(name, text): &(&str, &str)| format!("<boolProp name=\"{name}\">{text}</boolProp>");
    let settings: String = settings.iter().map(setting).collect();
    let text = format!(
        "<jmeterTestPlan><hashTree><TestPlan testname=\"p\">{settings}</TestPlan><hashTree>{elements}</hashTree>\
         </hashTree></jmeterTestPlan>"
    );
    import(Path::new("p.jmx"), &text, &BTreeMap::new()).unwrap_or_else(|error| panic!("{error}"))
}

/// Thread groups by class and name, each with a request.
fn groups(groups: &[(&str, &str)]) -> String {
    let group = |(class, name): &(&str, &str)| {
        format!(
            "<{class} testname=\"{name}\"><stringProp name=\"ThreadGroup.num_threads\">1</stringProp></{class}>\
             <hashTree>{REQUEST}</hashTree>"
        )
    };
    groups.iter().map(group).collect()
}

const REQUEST: &str = "<HTTPSamplerProxy testname=\"r\"><stringProp name=\"HTTPSampler.domain\">h</stringProp>\
                       </HTTPSamplerProxy><hashTree/>";

/// Wherever they stand in the plan.
#[test]
fn groups_run_before_and_after_each_other() {
    let elements = groups(&[
        ("PostThreadGroup", "down"),
        ("ThreadGroup", "a"),
        ("SetupThreadGroup", "up"),
        ("ThreadGroup", "b"),
    ]);
    let consecutively = ("TestPlan.serialize_threadgroups", "true");
    let tears_down = ("TestPlan.tearDown_on_shutdown", "true");
    let stages = |settings: &[(&str, &str)]| {
        let plan = plan_of(settings, &elements);
        let names = |stage: &Stage| {
            let scenario = plan.scenario_of(stage);
            scenario.groups.into_iter().map(|group| group.name).collect::<Vec<_>>().join(" ")
        };
        let stage = |stage: &Stage| (stage.phase, names(stage), stage.number, stage.even_if_stopped);
        plan.stages.iter().map(stage).collect::<Vec<_>>()
    };
    let of = |phase: Phase, names: &str, number: usize, even_if_stopped: bool| {
        (phase, names.to_owned(), number, even_if_stopped)
    };
    let side_by_side = [
        of(Phase::SetUp, "up", 1, false),
        of(Phase::Main, "a b", 1, false),
        of(Phase::TearDown, "down", 1, true),
    ];
    assert_eq!(stages(&[tears_down]), side_by_side);
    let one_by_one = [
        of(Phase::SetUp, "up", 1, false),
        of(Phase::Main, "a", 1, false),
        of(Phase::Main, "b", 2, false),
        of(Phase::TearDown, "down", 1, false),
    ];
    assert_eq!(stages(&[consecutively]), one_by_one);
}

/// By JMeter's rules of what is still begun once a failure has ended the test.
#[test]
fn what_runs_after_a_failure_that_ended_the_test() {
    let elements = groups(&[("SetupThreadGroup", "up"), ("ThreadGroup", "a"), ("PostThreadGroup", "down")]);
    for (text, of_main) in [("true", true), ("false", false)] {
        let plan = plan_of(&[("TestPlan.tearDown_on_shutdown", text)], &elements);
        let [up, main, down] = plan.stages.as_slice() else { panic!("{:?}", plan.stages) };
        assert!([up, main, down].into_iter().all(|stage| stage.runs_after(None)));
        assert!(!main.runs_after(Some(Phase::SetUp)) && !down.runs_after(Some(Phase::SetUp)));
        assert_eq!(down.runs_after(Some(Phase::Main)), of_main);
        assert!(!main.runs_after(Some(Phase::Main)) && !down.runs_after(Some(Phase::TearDown)));
    }
}

#[test]
fn a_controller_outside_of_a_group_is_not_run() {
    let outside = format!("<GenericController testname=\"nowhere\"/><hashTree>{REQUEST}</hashTree>");
    let plan = plan_of(&[], &format!("{outside}{}", groups(&[("ThreadGroup", "a")])));
    assert_eq!((plan.scenario.groups[0].steps.len(), plan.support.ignored), (1, 1));
    assert!(plan.notes.iter().any(|note| note.contains("'nowhere': it stands outside")), "{:?}", plan.notes);
}

/// A plan of one thread group of a plug-in's, with these settings and a request, whose users go on until they have to go.
fn of_plugin(class: &str, settings: &str) -> Result<Plan, PlanNotUnderstood> {
    let forever = "<elementProp name=\"ThreadGroup.main_controller\" elementType=\"LoopController\">\
                   <intProp name=\"LoopController.loops\">-1</intProp></elementProp>";
    of_class(&format!("kg.apc.jmeter.threads.{class}"), &format!("{settings}{forever}"))
}

/// A plan of one thread group of this class, with these settings and a request.
fn of_class(class: &str, settings: &str) -> Result<Plan, PlanNotUnderstood> {
    let text = format!(
        "<jmeterTestPlan><hashTree><TestPlan testname=\"p\"/><hashTree><{class} testname=\"u\">{settings}</{class}>\
         <hashTree>{REQUEST}</hashTree></hashTree></hashTree></jmeterTestPlan>"
    );
    import(Path::new("p.jmx"), &text, &BTreeMap::new())
}

/// By JMeter's source: `LoopController` begins anew behind its last time unless its plan says `false`, and a thread group goes on
/// until it does not (`nextIsNull`, `LoopControllerSchema`). What is no number of times counts as 0.
#[test]
fn a_group_ends_where_its_plan_says_that_it_does() {
    let read = |inside: &str| {
        let settings = format!(
            "<stringProp name=\"ThreadGroup.num_threads\">1</stringProp><elementProp \
             name=\"ThreadGroup.main_controller\" elementType=\"LoopController\">{inside}</elementProp>"
        );
        of_class("ThreadGroup", &settings)
    };
    let loops = |times: &str| format!("<stringProp name=\"LoopController.loops\">{times}</stringProp>");
    let again = |text: &str| format!("<boolProp name=\"LoopController.continue_forever\">{text}</boolProp>");
    let iterations = |inside: &str| {
        let plan = read(inside).unwrap_or_else(|error| panic!("{error}"));
        let is_said = plan.notes.iter().any(|note| note.contains("continue_forever is not there"));
        (users(&plan).2, is_said)
    };
    assert_eq!(iterations(&format!("{}{}", again("false"), loops("3"))), (Some(3), false));
    assert_eq!(iterations(&format!("{}{}", again("true"), loops("3"))), (None, false));
    assert_eq!(iterations(&format!("{}{}", again(""), loops("3"))), (Some(3), false));
    assert_eq!(iterations(&loops("3")), (None, true));
    assert_eq!(iterations(&loops("-1")), (None, false));
    let none = read(&format!("{}{}", again("false"), loops(""))).unwrap_err().to_string();
    assert!(none.contains("no thread group of the plan makes a request"), "{none}");
    let endless = read(&again("true")).unwrap_err().to_string();
    assert!(endless.contains("by which JMeter makes no request and never ends"), "{endless}");
}

/// When the users of such a plan come and go, in milliseconds.
fn stays(plan: Result<Plan, PlanNotUnderstood>) -> Vec<(u64, u64)> {
    let group = plan.unwrap_or_else(|error| panic!("{error}")).scenario.groups.remove(0);
    let Users::Planned { stays, iterations: None } = &group.users else { panic!("{:?}", group.users) };
    let ms = |span: Duration| span.as_nanos() / 1_000_000;
    stays.iter().map(|Stay { from, to }| (ms(*from), ms(*to))).collect()
}

/// By the plug-in's source (4e7cf81): of the n users of a row the last comes with the nth part of the start-up time, and goes with
/// the nth part of the shutdown time.
#[test]
fn an_ultimate_thread_group_goes_by_its_table() {
    let of = |rows: &[&str]| {
        let row = |row: &&str| {
            let texts = row.replace(' ', "</stringProp><stringProp name=\"0\">");
            format!("<collectionProp name=\"1\"><stringProp name=\"0\">{texts}</stringProp></collectionProp>")
        };
        let rows: String = rows.iter().map(row).collect();
        let table = format!("<collectionProp name=\"ultimatethreadgroupdata\">{rows}</collectionProp>");
        of_plugin("UltimateThreadGroup", &table)
    };
    assert_eq!(stays(of(&["1 0 0 300 30"])), [(0, 330_000)]);
    assert_eq!(stays(of(&["1 2 3 4 5"])), [(5000, 14_000)]);
    let of_three = [(20_000, 90_000), (16_666, 86_666), (13_333, 83_333)];
    assert_eq!(stays(of(&["3 10 10 60 10"])), of_three);
    let of_both = [(1000, 4000), (500, 4000), (10_000, 12_000)];
    assert_eq!(stays(of(&["2 0 1 3 0", "1 10 0 2 0"])), of_both);
    for (rows, what) in [
        (&["1 0 0 1"][..], "has a row of 4 numbers, and not of 5"),
        (&["1 -1 0 1 0"], "has -1, which is no number of seconds from 0 to 2147483"),
        (&["x 0 0 1 0"], "is 'x', which is no whole number"),
        (&["999999 0 0 1 0", "2 0 0 1 0"], "has 1000001, which is no number of users from 0 to 1000000"),
        (&["1 0 0 1 0", "0 0 0 1 0"], "has a row of 0 users"),
        (&["2 0 1 0 0"], "user 1 of 2 has to go when it comes"),
    ] {
        let error = of(rows).unwrap_err().to_string();
        assert!(error.contains(what), "{rows:?}: {error}");
    }
    let none = of(&["0 0 0 1 0"]).unwrap_err().to_string();
    assert!(none.contains("no thread group of the plan makes a request"), "{none}");
}

/// By the same source, and the times that its own test expects.
#[test]
fn a_stepping_thread_group_goes_by_its_steps() {
    let of = |settings: &[(&str, &str)]| {
        let setting = |(name, it): &(&str, &str)| format!("<stringProp name=\"{name}\">{it}</stringProp>");
        of_plugin("SteppingThreadGroup", &settings.iter().map(setting).collect::<String>())
    };
    let users = |all: &'static str| ("ThreadGroup.num_threads", all);
    let up = |count: &'static str, period_s: &'static str, ramp_up_s: &'static str| {
        [("Start users count", count), ("Start users period", period_s), ("rampUp", ramp_up_s)]
    };
    let down = |count: &'static str, period_s: &'static str| {
        [("Stop users count", count), ("Stop users period", period_s), ("flighttime", "60")]
    };
    let with = |all: &'static str, first: &'static str, up: [(&'static str, &'static str); 3]| {
        let rest = [users(all), ("Start users count burst", first), ("Threads initial delay", "5")];
        stays(of(&[&rest[..], &up, &down("5", "1")].concat()))
    };
    let in_two_steps = with("15", "10", up("5", "30", "10"));
    let comes: Vec<u64> = in_two_steps.iter().map(|(from, _)| *from).collect();
    let first = (0..10).map(|user| 5000 + 1000 * user);
    assert_eq!(comes, first.chain((0..5).map(|user| 45_000 + 2000 * user)).collect::<Vec<u64>>());
    let goes: Vec<u64> = in_two_steps.iter().map(|(_, to)| *to).collect();
    assert_eq!(goes, (0..15).map(|user| 115_000 + 1000 * (user / 5)).collect::<Vec<u64>>());
    // The last step is of fewer users, and so is the first where it is of more than there are.
    let uneven = [(5000, 90_000), (10_000, 90_000), (25_000, 90_000)];
    assert_eq!(with("3", "0", up("2", "10", "10")), uneven);
    let few = [(5000, 71_000), (6000, 71_000), (7000, 71_000)];
    assert_eq!(with("3", "0", up("10", "3", "10")), few);
    // None at a time are all at once.
    let at_once = stays(of(&[&[users("2"), ("flighttime", "7")][..], &up("0", "0", "1")].concat()));
    assert_eq!(at_once, [(0, 8000), (500, 8000)]);
    let told = |settings: &[(&str, &str)]| of(settings).unwrap_err().to_string();
    let endless = told(&[users("1"), ("flighttime", "x")]);
    assert!(endless.contains("flighttime is 'x', which is no whole number"), "{endless}");
    assert!(told(&[users("1")]).contains("user 1 of 1 has to go when it comes"));
    assert!(told(&[users("1000001")]).contains("which is no number of users from 0 to 1000000"));
    assert!(told(&[users("0")]).contains("no thread group of the plan makes a request"));
}

/// By the plug-in's source: the number of users that it plans is a line or a stair, and rounded.
#[test]
fn a_concurrency_thread_group_goes_by_the_number_that_it_plans() {
    let of = |settings: &[(&str, &str)]| {
        let setting = |(name, it): &(&str, &str)| format!("<stringProp name=\"{name}\">{it}</stringProp>");
        let controller = "<elementProp name=\"ThreadGroup.main_controller\" \
                          elementType=\"com.blazemeter.jmeter.control.VirtualUserController\"/>";
        let settings: String = settings.iter().map(setting).collect();
        let class = "com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroup";
        of_class(class, &format!("{controller}{settings}"))
    };
    let with = |target: &str, ramp_up: &str, steps: &str, hold: &str, unit: &str| {
        let settings = [("TargetLevel", target), ("RampUp", ramp_up), ("Steps", steps), ("Hold", hold)];
        of(&[&settings[..], &[("Unit", unit), ("Iterations", ""), ("LogFilename", "")]].concat())
    };
    // On a line of one user a second each comes in the middle of its second.
    let evenly = [(500, 63_000), (1500, 63_000), (2500, 63_000)];
    assert_eq!(stays(with("3", "3", "0", "60", "S")), evenly);
    let in_minutes = [(10_000, 90_000), (30_000, 90_000), (50_000, 90_000)];
    assert_eq!(stays(with("3", "1", "", "0.5", "M")), in_minutes);
    // Of three steps of 4/3 users the first has room for one, the second for three.
    let in_steps = [(0, 40_000), (10_000, 40_000), (10_000, 40_000), (20_000, 40_000)];
    assert_eq!(stays(with("4", "30", "3", "10", "S")), in_steps);
    // More steps than users, and no time to come in.
    assert_eq!(stays(with("2", "8", "4", "1", "S")), [(0, 9000), (4000, 9000)]);
    assert_eq!(stays(with("2", "", "5", "1.4", "")), [(0, 1000), (0, 1000)]);
    // What is not there is one user for one second.
    assert_eq!(stays(of(&[])), [(0, 1000)]);
    let told = |settings: &[(&str, &str)]| of(settings).unwrap_err().to_string();
    for (settings, what) in [
        (&[("Iterations", "5")][..], "Iterations is 5: JMeter has another thread come"),
        (&[("TargetLevel", "${__tstFeedback(t,1,9,2)}")], "TargetLevel"),
        (&[("TargetLevel", "1000001")], "which is no number of users from 0 to 1000000"),
        (&[("TargetLevel", "")], "no thread group of the plan makes a request"),
        (&[("Hold", "")], "user 1 of 1 has to go when it comes"),
        (&[("Hold", "x")], "Hold is 'x', which is no number"),
        (&[("Hold", "-1")], "which is no number of seconds from 0 to 2147483"),
        (&[("RampUp", "1e300")], "which is no number of seconds from 0 to 2147483"),
        (&[("RampUp", "NaN")], "RampUp is 'NaN', which is no number"),
    ] {
        let error = told(settings);
        assert!(error.contains(what), "{settings:?}: {error}");
    }
}

#[test]
fn shares_switches_and_ends_become_steps() {
    let element = |class: &str, texts: &str, below: &str| {
        format!("<{class} testname=\"{class}\">{texts}</{class}><hashTree>{below}</hashTree>")
    };
    let percent = "<intProp name=\"ThroughputController.style\">1</intProp>\
                   <boolProp name=\"ThroughputController.perThread\">false</boolProp>\
                   <FloatProperty><name>ThroughputController.percentThroughput</name><value>12.5</value>\
                   <savedValue>0.0</savedValue></FloatProperty>";
    let inside = [
        element("ThroughputController", "", REQUEST),
        element("ThroughputController", percent, REQUEST),
        element(
            "SwitchController",
            "<stringProp name=\"SwitchController.value\">${x}</stringProp>",
            &format!(
                "{}{REQUEST}{}",
                element("HeaderManager", "", ""),
                element("GenericController", "", REQUEST)
            ),
        ),
        element("TestAction", "<intProp name=\"ActionProcessor.action\">3</intProp>", ""),
    ];
    let with = |inside: &str| {
        let group = format!(
            "<ThreadGroup testname=\"g\"><stringProp name=\"ThreadGroup.num_threads\">1</stringProp>\
                             </ThreadGroup><hashTree>{inside}</hashTree>"
        );
        plan_of(&[], &group).scenario.groups.remove(0).steps
    };
    let steps = with(&inside[..2].concat());
    let [Step::Portion { of: first, by_user: true, .. }, Step::Portion { of: percent, by_user: false, .. }] =
        steps.as_slice()
    else {
        panic!("{steps:?}")
    };
    assert_eq!((*first, *percent), (Portion::First(1), Portion::Percent(12.5)));
    let steps = with(&inside[2..].concat());
    let [Step::Switch { names, steps: choices, .. }, Step::Leave(OnError::NextIteration)] = steps.as_slice()
    else {
        panic!("{steps:?}")
    };
    let names: Vec<Option<&str>> = names.iter().map(Template::constant).collect();
    assert_eq!((names, choices.len()), (vec![Some("r"), Some("GenericController")], 2));
}

#[test]
fn a_file_without_a_parameter_name_is_the_body() {
    let with = |method: &str, name: &str, kind: &str| {
        let text = format!(
            "<jmeterTestPlan><hashTree><TestPlan testname=\"p\"/><hashTree><ThreadGroup testname=\"g\">\
             <stringProp name=\"ThreadGroup.num_threads\">1</stringProp></ThreadGroup><hashTree>\
             <HTTPSamplerProxy testname=\"r\"><stringProp name=\"HTTPSampler.domain\">h</stringProp>\
             <stringProp name=\"HTTPSampler.method\">{method}</stringProp>\
             <elementProp name=\"HTTPsampler.Files\" elementType=\"HTTPFileArgs\">\
             <collectionProp name=\"HTTPFileArgs.files\"><elementProp name=\"x\" elementType=\"HTTPFileArg\">\
             <stringProp name=\"File.path\">up.json</stringProp>\
             <stringProp name=\"File.paramname\">{name}</stringProp>\
             <stringProp name=\"File.mimetype\">{kind}</stringProp></elementProp></collectionProp></elementProp>\
             </HTTPSamplerProxy><hashTree/></hashTree></hashTree></hashTree></jmeterTestPlan>"
        );
        import(Path::new("plans/p.jmx"), &text, &BTreeMap::new()).map_err(|error| error.to_string())
    };
    for (kind, fields) in [("application/json", 1), ("", 0)] {
        let plan = with("POST", "", kind).unwrap();
        let [Step::Request(request)] = plan.scenario.groups[0].steps.as_slice() else {
            panic!("one request")
        };
        assert_eq!(request.body_file.as_deref(), Some(Path::new("plans/up.json")));
        // Without a type of the file JMeter sends none.
        assert_eq!(request.headers.len(), fields, "{:?}", request.headers);
        assert_eq!(plan.files[0].file, Path::new("plans/up.json"));
        let told = plan.check_files(Path::new("p.jmx"), |_| Err("it is not there".into())).unwrap_err();
        assert!(
            told.to_string().contains("HTTP Request 'r' (HTTPSamplerProxy): plans/up.json can't be read"),
            "{told}"
        );
    }
    for (method, name, what) in [
        ("POST", "file", "plans/up.json has no parameter name or no MIME type"),
        ("GET", "", "by POST, PUT and PATCH only"),
    ] {
        let told = with(method, name, "").unwrap_err();
        assert!(told.contains(what), "{told}");
    }
}
