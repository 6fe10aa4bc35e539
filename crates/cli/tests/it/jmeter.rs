//! `proofload jmeter`: plans as a JMeter user writes them, against the real server.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{Target, link_named, run, texts};

/// Users who log in, wait a little and go on, twice each.
const PLAN: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3">
  <hashTree>
    <TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="Shop">
      <elementProp name="TestPlan.user_defined_variables" elementType="Arguments">
        <collectionProp name="Arguments.arguments">
          <elementProp name="host" elementType="Argument">
            <stringProp name="Argument.name">host</stringProp>
            <stringProp name="Argument.value">127.0.0.1</stringProp>
          </elementProp>
        </collectionProp>
      </elementProp>
    </TestPlan>
    <hashTree>
      <ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="buyers">
        <stringProp name="ThreadGroup.on_sample_error">continue</stringProp>
        <elementProp name="ThreadGroup.main_controller" elementType="LoopController">
          <boolProp name="LoopController.continue_forever">false</boolProp>
          <stringProp name="LoopController.loops">${__P(loops,2)}</stringProp>
        </elementProp>
        <stringProp name="ThreadGroup.num_threads">${__P(users,5)}</stringProp>
        <stringProp name="ThreadGroup.ramp_time">0</stringProp>
      </ThreadGroup>
      <hashTree>
        <HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="first">
          <stringProp name="HTTPSampler.domain">${host}</stringProp>
          <stringProp name="HTTPSampler.port">${__P(port)}</stringProp>
          <stringProp name="HTTPSampler.path">/</stringProp>
          <stringProp name="HTTPSampler.method">GET</stringProp>
          <boolProp name="HTTPSampler.use_keepalive">true</boolProp>
        </HTTPSamplerProxy>
        <hashTree>
          <RegexExtractor guiclass="RegexExtractorGui" testclass="RegexExtractor" testname="word">
            <stringProp name="RegexExtractor.refname">word</stringProp>
            <stringProp name="RegexExtractor.regex">([a-z]+)</stringProp>
            <stringProp name="RegexExtractor.template">$1$</stringProp>
            <stringProp name="RegexExtractor.match_number">1</stringProp>
            <stringProp name="RegexExtractor.default">none</stringProp>
          </RegexExtractor>
          <hashTree/>
        </hashTree>
        <HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="second ${word}">
          <stringProp name="HTTPSampler.domain">${host}</stringProp>
          <stringProp name="HTTPSampler.port">${__P(port)}</stringProp>
          <stringProp name="HTTPSampler.path">/?q=${word}</stringProp>
          <stringProp name="HTTPSampler.method">GET</stringProp>
          <boolProp name="HTTPSampler.use_keepalive">true</boolProp>
        </HTTPSamplerProxy>
        <hashTree>
          <ConstantTimer guiclass="ConstantTimerGui" testclass="ConstantTimer" testname="think">
            <stringProp name="ConstantTimer.delay">10</stringProp>
          </ConstantTimer>
          <hashTree/>
          <ResponseAssertion guiclass="AssertionGui" testclass="ResponseAssertion" testname="has it">
            <collectionProp name="Asserion.test_strings">
              <stringProp name="1">${expected}</stringProp>
            </collectionProp>
            <stringProp name="Assertion.test_field">Assertion.response_data</stringProp>
            <boolProp name="Assertion.assume_success">false</boolProp>
            <intProp name="Assertion.test_type">16</intProp>
          </ResponseAssertion>
          <hashTree/>
        </hashTree>
      </hashTree>
    </hashTree>
  </hashTree>
</jmeterTestPlan>
"#;

fn port(target: &Target) -> String {
    target.url.rsplit(':').next().expect("a port").trim_end_matches('/').to_owned()
}

fn path(dir: &Path, name: &str) -> String {
    dir.join(name).to_str().expect("text").to_owned()
}

#[test]
fn a_plan_is_run_and_its_results_are_jmeters() {
    let target = Target::start(&[]);
    let dir = tempfile::tempdir().expect("a folder");
    let (plan, results, reports) =
        (path(dir.path(), "shop.jmx"), path(dir.path(), "out.jtl"), path(dir.path(), "report"));
    fs::write(&plan, PLAN.replace("${expected}", "hello")).expect("written");
    let port = format!("-Jport={}", port(&target));
    let arguments = ["jmeter", "-n", "-t", &plan, "-l", &results, "-e", "-o", &reports, &port, "-Jusers=7"];
    let output = run(&arguments);
    let (text, errors) = texts(&output);
    assert_eq!(output.status.code(), Some(0), "{text}{errors}");
    for part in
        ["Creating summariser <summary>", "summary =     28 in ", "Err:     0 (0.00%)", "... end of run"]
    {
        assert!(text.contains(part), "{part}: {text}{errors}");
    }
    let jtl = fs::read_to_string(&results).expect("written");
    assert_eq!(jtl.lines().count(), 1 + 7 * 2 * 2, "{jtl}");
    assert!(jtl.starts_with("timeStamp,elapsed,label,responseCode,"), "{jtl}");
    assert_eq!(jtl.matches(",second hello,200,OK,buyers 1-").count(), 14, "{jtl}");
    assert_eq!(jtl.matches("/?q=hello,").count(), 14, "what was extracted is asked for: {jtl}");
    let aggregate = fs::read_to_string(Path::new(&reports).join("aggregate.csv")).expect("written");
    assert!(aggregate.lines().last().is_some_and(|line| line.starts_with("TOTAL,28,")), "{aggregate}");

    let again = run(&arguments);
    assert_eq!(again.status.code(), Some(1), "results are not written over");
    assert!(texts(&again).1.contains("out.jtl holds the results of another run"), "{:?}", texts(&again));
    assert_eq!(fs::read_to_string(&results).expect("still there"), jtl);
}

#[test]
fn what_is_asserted_and_does_not_hold_is_an_error_of_the_sample() {
    let target = Target::start(&[]);
    let dir = tempfile::tempdir().expect("a folder");
    let (plan, results) = (path(dir.path(), "shop.jmx"), path(dir.path(), "out.jtl"));
    fs::write(&plan, PLAN.replace("${expected}", "goodbye")).expect("written");
    let port = format!("-Jport={}", port(&target));
    let output = run(&["jmeter", "-n", "-t", &plan, "-l", &results, &port]);
    let (text, errors) = texts(&output);
    assert_eq!(output.status.code(), Some(0), "as JMeter: the plan was run; {text}{errors}");
    assert!(text.contains("Err:    10 (50.00%)"), "{text}");
    let jtl = fs::read_to_string(&results).expect("written");
    assert_eq!(jtl.matches(",text,false,").count(), 10, "{jtl}");
}

#[test]
fn options_of_jmeters_own_process_are_taken_and_those_that_change_what_is_sent_are_refused() {
    let target = Target::start(&[]);
    let dir = tempfile::tempdir().expect("a folder");
    let (plan, log) = (path(dir.path(), "shop.jmx"), path(dir.path(), "jmeter.log"));
    fs::write(&plan, PLAN.replace("${expected}", "hello")).expect("written");
    let (link, port) = (link_named("jmeter", &dir), format!("-Jport={}", port(&target)));
    // A script's variable that is not set: the plan has five users by itself.
    let plain = ["-n", "-t", &plan, &port, "-Jusers="];
    let jmeter = |more: &[&str]| Command::new(&link).args(plain).args(more).output().expect("it runs");
    let output = jmeter(&["-j", &log, "-LDEBUG", "-Duser.timezone=UTC", "-d", "/opt/jmeter"]);
    let (text, errors) = texts(&output);
    assert!(output.status.code() == Some(0) && text.contains("summary =     20 in "), "{text}{errors}");
    let idle =
        "-j (--jmeterlogfile), -L (--loglevel), -d (--homedir), -D (--systemproperty): without effect: ";
    assert!(errors.contains(idle), "{errors}");
    for (more, part) in [
        (&["-H", "proxy"][..], "-H (--proxyHost) is not supported: requests go through no proxy"),
        (&["-Dhttp.proxyHost=proxy"], "-D (--systemproperty) is not supported"),
        (&["-R", "host"], "-R (--remotestart) is not supported"),
    ] {
        let output = jmeter(more);
        let (text, errors) = texts(&output);
        assert_eq!((output.status.code(), text.as_str()), (Some(1), ""), "{errors}");
        assert!(errors.contains(part), "{errors}");
    }
}

#[test]
fn nothing_is_sent_of_a_plan_that_is_not_understood() {
    let dir = tempfile::tempdir().expect("a folder");
    let plan = path(dir.path(), "shop.jmx");
    let unknown = r#"<JDBCSampler guiclass="TestBeanGUI" testclass="JDBCSampler" testname="orders"/><hashTree/>
        <HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="first">"#;
    let first =
        r#"<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="first">"#;
    fs::write(&plan, PLAN.replace(first, unknown)).expect("written");
    let output = run(&["jmeter", "-n", "-t", &plan, "-Jport=1"]);
    let (text, errors) = texts(&output);
    assert_eq!((output.status.code(), text.as_str()), (Some(1), ""));
    assert!(errors.contains("JDBC Request 'orders'") || errors.contains("'orders'"), "{errors}");
    assert!(errors.contains("nothing is sent"), "{errors}");

    let check = run(&["jmeter", "--check", "-t", &plan]);
    assert_eq!(check.status.code(), Some(1));
    assert!(texts(&check).0.contains("% of 8 elements supported"), "{:?}", texts(&check));

    // One of many that is not supported stops the plan as well, and is not rounded away.
    let timer = r#"<ConstantTimer guiclass="ConstantTimerGui" testclass="ConstantTimer" testname="think">
        <stringProp name="ConstantTimer.delay">1</stringProp></ConstantTimer><hashTree/>"#;
    fs::write(&plan, PLAN.replace(first, &format!("{}{unknown}", timer.repeat(300)))).expect("written");
    let check = run(&["jmeter", "--check", "-t", &plan]);
    assert_eq!(check.status.code(), Some(1));
    assert!(texts(&check).0.starts_with(">99 % of 308 elements supported: "), "{:?}", texts(&check));

    for (arguments, part) in [
        (vec!["jmeter", "-n", "-t", "/nowhere.jmx"], "cannot be read"),
        (vec!["jmeter", "-n", "-t", &plan, "-Jx"], "-Jname=value"),
        (vec!["jmeter", "-n", "-t", &plan, "-q", "/dev/zero"], "/dev/zero: is longer than 16 MiB"),
    ] {
        let output = run(&arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(texts(&output).1.contains(part), "{:?}", texts(&output));
    }
}

#[test]
fn files_that_a_plan_includes_are_read_beside_it() {
    let dir = tempfile::tempdir().expect("a folder");
    let (plan, part) = (path(dir.path(), "shop.jmx"), path(dir.path(), "part.jmx"));
    let of_plan = |elements: &str| {
        format!(
            r#"<jmeterTestPlan><hashTree><TestPlan testname="p"/><hashTree>{elements}</hashTree></hashTree>
            </jmeterTestPlan>"#
        )
    };
    let include = r#"<IncludeController testname="part">
        <stringProp name="IncludeController.includepath">part.jmx</stringProp></IncludeController><hashTree/>"#;
    let users = r#"<stringProp name="ThreadGroup.num_threads">1</stringProp>"#;
    let group = format!(r#"<ThreadGroup testname="g">{users}</ThreadGroup><hashTree>{include}</hashTree>"#);
    fs::write(&plan, of_plan(&group)).expect("written");
    let check = || {
        let output = run(&["jmeter", "--check", "-t", &plan]);
        (output.status.code(), texts(&output).0)
    };
    let (code, text) = check();
    assert!(
        code == Some(1) && text.contains("(IncludeController): there is no file part.jmx and no "),
        "{text}"
    );
    let fragment = |inside: &str| {
        of_plan(&format!(
            r#"<TestFragmentController testname="f"/><hashTree>
            {inside}<hashTree/></hashTree>"#
        ))
    };
    fs::write(&part, fragment(r#"<JSR223Sampler testname="s"/>"#)).expect("written");
    let (code, text) = check();
    assert!(code == Some(1) && text.contains(&format!("  {part}, line 2: Test Plan 'p' > ")), "{text}");
    let request = r#"<HTTPSamplerProxy testname="r"><stringProp name="HTTPSampler.domain">localhost</stringProp>
        </HTTPSamplerProxy>"#;
    fs::write(&part, fragment(request)).expect("written");
    let (code, text) = check();
    assert!(code == Some(0) && text.starts_with("100 % of 4 elements supported: 4 carried out"), "{text}");
}

/// JMeter ends with 1, whatever the matter is.
#[test]
fn more_users_than_a_machine_can_have_are_refused_before_anything_is_made() {
    let dir = tempfile::tempdir().expect("a folder");
    let (plan, results) = (path(dir.path(), "shop.jmx"), path(dir.path(), "out.jtl"));
    fs::write(&plan, PLAN).expect("written");
    let output = run(&["jmeter", "-n", "-t", &plan, "-l", &results, "-Jport=1", "-Jusers=4000000000"]);
    let (text, errors) = texts(&output);
    assert_eq!((output.status.code(), text.as_str()), (Some(1), ""), "{errors}");
    assert!(errors.contains("4000000000 users in all") && errors.contains("more than 1000000"), "{errors}");
    assert!(!Path::new(&results).exists(), "a file of results was made");
    // All of it is supported, and it can't be run all the same.
    let check = run(&["jmeter", "--check", "-t", &plan, "-Jport=1", "-Jusers=4000000000"]);
    let (text, errors) = texts(&check);
    assert_eq!(check.status.code(), Some(1), "{text}{errors}");
    assert!(text.starts_with("100 % of ") && errors.contains("4000000000 users in all"), "{text}{errors}");
    let check = run(&["jmeter", "--check", "-t", &plan, "-Jport=1"]);
    assert_eq!((check.status.code(), texts(&check).1.as_str()), (Some(0), ""), "{:?}", texts(&check));
}

/// A thread group of this class: its name is that of its requests, too.
fn group(class: &str, name: &str, users: u32, path: &str, on_error: &str) -> String {
    format!(
        r#"<{class} testname="{name}"><stringProp name="ThreadGroup.num_threads">{users}</stringProp>
        <stringProp name="ThreadGroup.on_sample_error">{on_error}</stringProp>
        <elementProp name="ThreadGroup.main_controller" elementType="LoopController">
        <boolProp name="LoopController.continue_forever">false</boolProp>
        <stringProp name="LoopController.loops">2</stringProp></elementProp></{class}>
        <hashTree><HTTPSamplerProxy testname="{name}">
        <stringProp name="HTTPSampler.domain">127.0.0.1</stringProp>
        <stringProp name="HTTPSampler.port">${{__P(port)}}</stringProp>
        <stringProp name="HTTPSampler.path">{path}</stringProp></HTTPSamplerProxy><hashTree/></hashTree>"#
    )
}

/// The labels and threads of the results of a plan with these settings and groups, in their order.
fn carried_out(settings: &[(&str, &str)], groups: &str) -> Vec<(String, String)> {
    let target = Target::start(&[]);
    let dir = tempfile::tempdir().expect("a folder");
    let (plan, results) = (path(dir.path(), "stages.jmx"), path(dir.path(), "out.jtl"));
    let setting = |(name, text): &(&str, &str)| format!("<boolProp name=\"{name}\">{text}</boolProp>");
    let settings: String = settings.iter().map(setting).collect();
    let text = format!(
        "<jmeterTestPlan><hashTree><TestPlan testname=\"stages\">{settings}</TestPlan><hashTree>{groups}</hashTree>\
         </hashTree></jmeterTestPlan>"
    );
    fs::write(&plan, text).expect("written");
    let output = run(&["jmeter", "-n", "-t", &plan, "-l", &results, &format!("-Jport={}", port(&target))]);
    assert_eq!(output.status.code(), Some(0), "{:?}", texts(&output));
    let jtl = fs::read_to_string(&results).expect("written");
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        (fields[2].to_owned(), fields[5].to_owned())
    };
    jtl.lines().skip(1).map(row).collect()
}

#[test]
fn groups_run_one_after_another_where_the_plan_says_so() {
    let groups = [
        group("PostThreadGroup", "down", 1, "/", "continue"),
        group("ThreadGroup", "a", 3, "/", "continue"),
        group("ThreadGroup", "b", 2, "/", "continue"),
        group("SetupThreadGroup", "up", 1, "/", "continue"),
    ];
    let rows = carried_out(&[("TestPlan.serialize_threadgroups", "true")], &groups.concat());
    let labels: Vec<&str> = rows.iter().map(|(label, _)| label.as_str()).collect();
    let expected = [vec!["up"; 2], vec!["a"; 6], vec!["b"; 4], vec!["down"; 2]].concat();
    assert_eq!(labels, expected);
    for (label, thread) in &rows {
        // JMeter counts the groups of each phase from 1.
        let number = if label == "b" { 2 } else { 1 };
        assert!(thread.starts_with(&format!("{label} {number}-")), "{label}: {thread}");
    }
}

#[test]
fn a_failure_that_ends_the_test_ends_what_comes_after_it() {
    let labels = |up: &str, main: &str, tears_down: &str| {
        let groups = [
            group("SetupThreadGroup", "up", 1, up, "stoptest"),
            group("ThreadGroup", "main", 1, main, "stoptest"),
            group("PostThreadGroup", "down", 1, "/", "continue"),
        ];
        let rows = carried_out(&[("TestPlan.tearDown_on_shutdown", tears_down)], &groups.concat());
        rows.into_iter().map(|(label, _)| label).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(labels("/", "/", "false"), "up up main main down down");
    assert_eq!(labels("/", "/nowhere", "false"), "up up main");
    assert_eq!(labels("/", "/nowhere", "true"), "up up main down down");
    assert_eq!(labels("/nowhere", "/", "true"), "up");
}
