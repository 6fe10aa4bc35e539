//! What stacks are without load.

use record::{CHECK_VERSION, CheckResult, Checked, Contract, EndpointCheck, StackCheck};
use report::{check_details_text, checks_text, same_work_text};

fn check(stack: &str, result: CheckResult) -> StackCheck {
    StackCheck {
        version: CHECK_VERSION,
        stack: stack.into(),
        title: format!("The {stack}"),
        generation: "2019".into(),
        upstream: None,
        result,
    }
}

fn checked(wire_bytes: u64, head: &str, cap: Option<u32>) -> Checked {
    let contract = Contract {
        status: 200,
        head: head.into(),
        framing: "content_length".into(),
        wire_bytes,
        kept_alive: true,
        afterwards: "kept".into(),
        deviations: Vec::new(),
        idle_service_time_us: 1234.5,
        warm_service_time_us: None,
        idle_answers: None,
        tries: 1,
        protocol: None,
    };
    let hello = EndpointCheck { name: "hello".into(), path: "/hello".into(), body: "world".into(), contract };
    Checked {
        not_measured: None,
        boot_s: Some(3.61),
        rss_bytes: Some(310 << 20),
        threads: Some(37),
        endpoints: vec![hello],
        requests_per_connection: cap,
        requests_tried: 1500,
        upstream_connections_max: None,
        deviations: Vec::new(),
        stop_s: Some(0.1),
        stop_forced: false,
    }
}

fn tomcat() -> StackCheck {
    let head = "HTTP/1.1 200 \r\nContent-Length: 5\r\nDate: Sat, 21 Nov 2026 15:00:00 GMT\r\n\r\n";
    check("tomcat-nio", CheckResult::Checked(Box::new(checked(118, head, Some(100)))))
}

#[test]
fn every_kind_of_row() {
    let mut wrong = checked(119, "HTTP/1.1 200 OK\r\n\r\n", None);
    let deviation = "119 bytes on the wire instead of 120".to_owned();
    wrong.deviations = vec![format!("/hello: {deviation}")];
    wrong.endpoints[0].contract.deviations = vec![deviation];
    let mut rude = checked(82, "HTTP/1.1 200 OK\n\n", Some(1));
    rude.endpoints[0].contract.afterwards = "reset unsaid".into();
    rude.stop_forced = true;
    let checks = [
        tomcat(),
        check("jetty", CheckResult::Checked(Box::new(wrong))),
        check("java-socket", CheckResult::Checked(Box::new(rude))),
        check("gin", CheckResult::LeftOut { why: "go is missing: apt-get install golang-go".into() }),
        check("zuul", CheckResult::Failed { error: "it ended with 1\n  | no\tsuch\u{1b}[31m class".into() }),
    ];
    insta::assert_snapshot!(checks_text(&checks));
}

#[test]
fn one_stack_in_full() {
    let mut proxy = tomcat();
    proxy.upstream = Some("go-static".into());
    if let CheckResult::Checked(checked) = &mut proxy.result {
        checked.upstream_connections_max = Some(20);
    }
    insta::assert_snapshot!(check_details_text(&proxy));
}

#[test]
fn the_same_work_or_not() {
    let netty = checked(83, "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n", None);
    let netty = check("webflux-netty", CheckResult::Checked(Box::new(netty)));
    insta::assert_snapshot!(same_work_text(&[tomcat(), netty]));
    assert!(same_work_text(&[tomcat(), tomcat()]).starts_with("The same work"));
}
