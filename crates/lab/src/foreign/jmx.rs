//! A test plan for JMeter: one thread group of users who ask one URL.

use units::Duration;

/// What becomes a test plan.
#[derive(Debug, Clone)]
pub(super) struct TestPlan<'a> {
    pub(super) host: &'a str,
    pub(super) port: u16,
    /// Path and query.
    pub(super) path: &'a str,
    pub(super) method: &'a str,
    pub(super) keep_alive: bool,
    pub(super) users: u32,
    pub(super) ramp_up_s: u64,
    /// How long users go on; `None` where only their requests end them.
    pub(super) duration_s: Option<u64>,
    /// Requests that each user makes; `None` where they go on until the end.
    pub(super) requests_per_user: Option<u32>,
    pub(super) think: Duration,
    pub(super) connect_timeout: Duration,
    pub(super) timeout: Duration,
}

/// The label of all requests in the JTL.
pub(super) const LABEL: &str = "request";

impl TestPlan<'_> {
    /// As JMeter saves one.
    pub(super) fn xml(&self) -> String {
        let mut xml = Xml::default();
        xml.line(r#"<?xml version="1.0" encoding="UTF-8"?>"#);
        xml.open(r#"jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3""#);
        xml.open("hashTree");
        xml.open(r#"TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="proofload""#);
        xml.arguments("TestPlan.user_defined_variables");
        xml.close();
        xml.open("hashTree");
        self.thread_group(&mut xml);
        xml.open("hashTree");
        self.sampler(&mut xml);
        if self.think.is_zero() {
            xml.line("<hashTree/>");
        } else {
            xml.open("hashTree");
            self.timer(&mut xml);
            xml.line("<hashTree/>");
            xml.close();
        }
        xml.close_all();
        xml.text
    }

    fn thread_group(&self, xml: &mut Xml) {
        xml.open(r#"ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="users""#);
        xml.string("ThreadGroup.on_sample_error", "continue");
        xml.string("ThreadGroup.num_threads", &self.users.to_string());
        xml.string("ThreadGroup.ramp_time", &self.ramp_up_s.to_string());
        // A connection is kept from one request to the next.
        xml.bool("ThreadGroup.same_user_on_next_iteration", true);
        xml.bool("ThreadGroup.scheduler", self.duration_s.is_some());
        xml.string("ThreadGroup.duration", &self.duration_s.unwrap_or(0).to_string());
        xml.string("ThreadGroup.delay", "0");
        xml.open(
            r#"elementProp name="ThreadGroup.main_controller" elementType="LoopController" guiclass="LoopControlPanel" testclass="LoopController" testname="loops""#,
        );
        xml.bool("LoopController.continue_forever", false);
        let loops = self.requests_per_user.map_or_else(|| "-1".into(), |each| each.to_string());
        xml.string("LoopController.loops", &loops);
        xml.close();
        xml.close();
    }

    fn sampler(&self, xml: &mut Xml) {
        xml.open(&format!(
            r#"HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="{LABEL}""#
        ));
        xml.string("HTTPSampler.protocol", "http");
        xml.string("HTTPSampler.domain", self.host);
        xml.string("HTTPSampler.port", &self.port.to_string());
        xml.string("HTTPSampler.path", self.path);
        xml.string("HTTPSampler.method", self.method);
        xml.bool("HTTPSampler.use_keepalive", self.keep_alive);
        xml.bool("HTTPSampler.follow_redirects", false);
        xml.bool("HTTPSampler.auto_redirects", false);
        xml.string("HTTPSampler.connect_timeout", &millis(self.connect_timeout));
        xml.string("HTTPSampler.response_timeout", &millis(self.timeout));
        xml.arguments("HTTPsampler.Arguments");
        xml.close();
    }

    fn timer(&self, xml: &mut Xml) {
        xml.open(r#"ConstantTimer guiclass="ConstantTimerGui" testclass="ConstantTimer" testname="think""#);
        xml.string("ConstantTimer.delay", &millis(self.think));
        xml.close();
    }
}

fn millis(span: Duration) -> String {
    (span.as_nanos() / 1_000_000).to_string()
}

/// XML with an element a line.
#[derive(Default)]
struct Xml {
    text: String,
    open: Vec<String>,
}

impl Xml {
    fn line(&mut self, line: &str) {
        self.text.push_str(&"  ".repeat(self.open.len()));
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Opens an element, given with its attributes.
    fn open(&mut self, element: &str) {
        self.line(&format!("<{element}>"));
        self.open.push(element.split(' ').next().unwrap_or_default().to_owned());
    }

    fn close(&mut self) {
        if let Some(name) = self.open.pop() {
            self.line(&format!("</{name}>"));
        }
    }

    fn close_all(&mut self) {
        while !self.open.is_empty() {
            self.close();
        }
    }

    fn string(&mut self, name: &str, value: &str) {
        self.line(&format!(r#"<stringProp name="{name}">{}</stringProp>"#, escaped(value)));
    }

    fn bool(&mut self, name: &str, value: bool) {
        self.line(&format!(r#"<boolProp name="{name}">{value}</boolProp>"#));
    }

    /// An empty list of arguments.
    fn arguments(&mut self, name: &str) {
        self.open(&format!(
            r#"elementProp name="{name}" elementType="Arguments" guiclass="ArgumentsPanel" testclass="Arguments" testname="none""#
        ));
        self.line(r#"<collectionProp name="Arguments.arguments"/>"#);
        self.close();
    }
}

fn escaped(text: &str) -> String {
    // JMeter reads `${…}` as a variable of its own, unless its dollar is escaped.
    text.replace("${", "\\${").replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> TestPlan<'static> {
        TestPlan {
            host: "127.0.0.1",
            port: 8080,
            path: "/slow?a=1&b=<2>",
            method: "GET",
            keep_alive: true,
            users: 1000,
            ramp_up_s: 50,
            duration_s: None,
            requests_per_user: Some(1000),
            think: Duration::ZERO,
            connect_timeout: Duration::from_secs(2),
            timeout: Duration::from_secs(30),
        }
    }

    #[test]
    fn a_load_of_users_becomes_a_thread_group() {
        insta::assert_snapshot!(plan().xml());
    }

    #[test]
    fn users_who_think_have_a_timer_and_a_duration_ends_them() {
        let think = Duration::from_millis(250);
        let duration_s = Some(4);
        insta::assert_snapshot!(
            TestPlan {
                think,
                duration_s,
                requests_per_user: None,
                ramp_up_s: 0,
                keep_alive: false,
                ..plan()
            }
            .xml()
        );
    }
}
