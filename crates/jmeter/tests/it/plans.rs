//! Plans as users write them, and what they become.

use std::collections::BTreeMap;
use std::path::Path;

use jmeter::{Plan, import};
use scenario::{Step, Users};
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
        Users::Open { .. } => panic!("it is closed"),
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
    for (mode, of) in [(1, "PartOfLoad"), (2, "PartOfGroup"), (4, "Group")] {
        assert!(with(mode).unwrap().contains(&format!("of: {of} }}")), "{mode}");
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
