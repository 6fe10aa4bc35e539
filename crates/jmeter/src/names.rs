//! JMeter's elements by class: what its forms call them, and what becomes of them here.

use crate::stages::Phase;

/// What becomes of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The test plan itself.
    TestPlan,
    /// Users in a closed model, in this part of the test.
    ThreadGroup(Phase),
    /// Users by a table of when they come and go, of a plug-in.
    Ultimate,
    /// Users who come and go in steps, of the same.
    Stepping,
    /// Users who come evenly or in steps, of another plug-in.
    Concurrency,
    /// Users who arrive at a rate.
    OpenModel,
    /// An HTTP request.
    Request,
    /// A pause, or the end of something, in the place of a request.
    FlowAction,
    /// A request that sends nothing and only shows variables.
    DebugSampler,
    /// Steps within steps.
    Controller(Controller),
    /// What applies to all requests below its parent.
    Scoped(Scoped),
    /// Settings that change nothing of what is sent: listeners.
    NoEffect,
    /// JMeter does not carry it out either, nor what is below it.
    NotRun,
    /// Known, and not supported; the text says why.
    Refused(&'static str),
}

/// Steps within steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Controller {
    Simple,
    Loop,
    If,
    While,
    OnceOnly,
    Random,
    RandomOrder,
    Interleave,
    Transaction,
    ForEach,
    Throughput,
    Switch,
    /// Of a plug-in.
    Weighted,
    Runtime,
    Module,
}

/// What applies to all requests below its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scoped {
    Defaults,
    Headers,
    Cookies,
    Cache,
    Auth,
    /// How names of servers are looked up.
    Lookups,
    Variables,
    Parameters,
    Data,
    Rewriting,
    Timer(Timer),
    Meeting,
    Assertion(Assertion),
    Extractor(Extractor),
    OnError,
    Variable(Variable),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Variable {
    Counter,
    Random,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Timer {
    Constant,
    Uniform,
    Gaussian,
    Poisson,
    Throughput,
    Shaping,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Assertion {
    Response,
    Duration,
    Size,
    Json,
    /// Of a plug-in, which JMeter's own was made from.
    JsonOfPlugin,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extractor {
    Regex,
    Json,
    /// Of a plug-in.
    JsonOfPlugin,
    Boundary,
}

const SCRIPT: &str = "scripts are not carried out";
const NO_HTTP: &str = "only HTTP requests are made";
const PLUGIN: &str = "elements of plug-ins are not supported";

/// Why no users come by an Arrivals Thread Group.
const ARRIVALS: &str = "whoever arrives goes on as one of those who were through before, and all end in their midst with the \
     schedule; use an Open Model Thread Group for a rate";
/// Why no request is made as BlazeMeter's HTTP/2 plug-in makes it.
const HTTP2: &str = "the plug-in agrees with each server on HTTP/2 or HTTP/1.1, and a plan's requests are made over HTTP/1.1; \
     write a scenario, which speaks HTTP/2 (hit --scenario FILE --http2)";

const FRAGMENT: &str = "Test Fragment";
/// The elements of plug-ins that are known.
const OF_PLUGINS: [(&str, Kind); 17] = [
    ("kg.apc.jmeter.threads.UltimateThreadGroup", Kind::Ultimate),
    ("kg.apc.jmeter.threads.SteppingThreadGroup", Kind::Stepping),
    ("com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroup", Kind::Concurrency),
    ("kg.apc.jmeter.timers.VariableThroughputTimer", Kind::Scoped(Scoped::Timer(Timer::Shaping))),
    ("com.blazemeter.jmeter.control.WeightedSwitchController", Kind::Controller(Controller::Weighted)),
    (
        "com.atlantbh.jmeter.plugins.jsonutils.jsonpathextractor.JSONPathExtractor",
        Kind::Scoped(Scoped::Extractor(Extractor::JsonOfPlugin)),
    ),
    (
        "com.atlantbh.jmeter.plugins.jsonutils.jsonpathassertion.JSONPathAssertion",
        Kind::Scoped(Scoped::Assertion(Assertion::JsonOfPlugin)),
    ),
    ("com.blazemeter.jmeter.threads.arrivals.ArrivalsThreadGroup", Kind::Refused(ARRIVALS)),
    ("com.blazemeter.jmeter.threads.arrivals.FreeFormArrivalsThreadGroup", Kind::Refused(ARRIVALS)),
    ("com.blazemeter.jmeter.http2.sampler.HTTP2Sampler", Kind::Refused(HTTP2)),
    ("com.blazemeter.jmeter.http2.control.HTTP2Controller", Kind::Refused(HTTP2)),
    // They only look at results, or at servers.
    ("kg.apc.jmeter.perfmon.PerfMonCollector", Kind::NoEffect),
    ("kg.apc.jmeter.jmxmon.JMXMonCollector", Kind::NoEffect),
    ("kg.apc.jmeter.dbmon.DbMonCollector", Kind::NoEffect),
    ("kg.apc.jmeter.reporters.FlexibleFileWriter", Kind::NoEffect),
    ("kg.apc.jmeter.reporters.ConsoleStatusLogger", Kind::NoEffect),
    ("kg.apc.jmeter.reporters.LoadosophiaUploader", Kind::NoEffect),
];

/// The listener that sends results to another system.
pub(crate) const BACKEND_LISTENER: &str = "BackendListener";

/// Class, the form's name, and what becomes of it.
const ELEMENTS: &[(&str, &str, Kind)] = &[
    ("TestPlan", "Test Plan", Kind::TestPlan),
    ("ThreadGroup", "Thread Group", Kind::ThreadGroup(Phase::Main)),
    ("OpenModelThreadGroup", "Open Model Thread Group", Kind::OpenModel),
    ("SetupThreadGroup", "setUp Thread Group", Kind::ThreadGroup(Phase::SetUp)),
    ("PostThreadGroup", "tearDown Thread Group", Kind::ThreadGroup(Phase::TearDown)),
    ("HTTPSamplerProxy", "HTTP Request", Kind::Request),
    ("HTTPSampler", "HTTP Request", Kind::Request),
    ("HTTPSampler2", "HTTP Request", Kind::Request),
    ("TestAction", "Flow Control Action", Kind::FlowAction),
    ("DebugSampler", "Debug Sampler", Kind::DebugSampler),
    ("GenericController", "Simple Controller", Kind::Controller(Controller::Simple)),
    ("RecordingController", "Recording Controller", Kind::Controller(Controller::Simple)),
    ("LoopController", "Loop Controller", Kind::Controller(Controller::Loop)),
    ("IfController", "If Controller", Kind::Controller(Controller::If)),
    ("WhileController", "While Controller", Kind::Controller(Controller::While)),
    ("OnceOnlyController", "Once Only Controller", Kind::Controller(Controller::OnceOnly)),
    ("RandomController", "Random Controller", Kind::Controller(Controller::Random)),
    ("RandomOrderController", "Random Order Controller", Kind::Controller(Controller::RandomOrder)),
    ("InterleaveControl", "Interleave Controller", Kind::Controller(Controller::Interleave)),
    ("TransactionController", "Transaction Controller", Kind::Controller(Controller::Transaction)),
    ("ForeachController", "ForEach Controller", Kind::Controller(Controller::ForEach)),
    ("ThroughputController", "Throughput Controller", Kind::Controller(Controller::Throughput)),
    ("SwitchController", "Switch Controller", Kind::Controller(Controller::Switch)),
    ("ModuleController", "Module Controller", Kind::Controller(Controller::Module)),
    ("HeaderManager", "HTTP Header Manager", Kind::Scoped(Scoped::Headers)),
    ("CookieManager", "HTTP Cookie Manager", Kind::Scoped(Scoped::Cookies)),
    ("CacheManager", "HTTP Cache Manager", Kind::Scoped(Scoped::Cache)),
    ("AuthManager", "HTTP Authorization Manager", Kind::Scoped(Scoped::Auth)),
    ("Arguments", "User Defined Variables", Kind::Scoped(Scoped::Variables)),
    ("CSVDataSet", "CSV Data Set Config", Kind::Scoped(Scoped::Data)),
    ("ConstantTimer", "Constant Timer", Kind::Scoped(Scoped::Timer(Timer::Constant))),
    ("UniformRandomTimer", "Uniform Random Timer", Kind::Scoped(Scoped::Timer(Timer::Uniform))),
    ("GaussianRandomTimer", "Gaussian Random Timer", Kind::Scoped(Scoped::Timer(Timer::Gaussian))),
    ("PoissonRandomTimer", "Poisson Random Timer", Kind::Scoped(Scoped::Timer(Timer::Poisson))),
    ("ConstantThroughputTimer", "Constant Throughput Timer", Kind::Scoped(Scoped::Timer(Timer::Throughput))),
    ("ResponseAssertion", "Response Assertion", Kind::Scoped(Scoped::Assertion(Assertion::Response))),
    ("DurationAssertion", "Duration Assertion", Kind::Scoped(Scoped::Assertion(Assertion::Duration))),
    ("SizeAssertion", "Size Assertion", Kind::Scoped(Scoped::Assertion(Assertion::Size))),
    ("JSONPathAssertion", "JSON Assertion", Kind::Scoped(Scoped::Assertion(Assertion::Json))),
    ("RegexExtractor", "Regular Expression Extractor", Kind::Scoped(Scoped::Extractor(Extractor::Regex))),
    ("JSONPostProcessor", "JSON Extractor", Kind::Scoped(Scoped::Extractor(Extractor::Json))),
    ("BoundaryExtractor", "Boundary Extractor", Kind::Scoped(Scoped::Extractor(Extractor::Boundary))),
    ("CounterConfig", "Counter", Kind::Scoped(Scoped::Variable(Variable::Counter))),
    ("RandomVariableConfig", "Random Variable", Kind::Scoped(Scoped::Variable(Variable::Random))),
    ("ResultCollector", "Listener", Kind::NoEffect),
    ("Summariser", "Generate Summary Results", Kind::NoEffect),
    ("ResultSaver", "Save Responses to a file", Kind::NoEffect),
    ("MailerResultCollector", "Mailer Visualizer", Kind::NoEffect),
    ("WorkBench", "WorkBench", Kind::NotRun),
    ("ProxyControl", "HTTP(S) Test Script Recorder", Kind::NotRun),
    ("HttpMirrorControl", "HTTP Mirror Server", Kind::NotRun),
    ("ConfigTestElement", "Defaults", Kind::Refused(NO_HTTP)),
    ("SyncTimer", "Synchronizing Timer", Kind::Scoped(Scoped::Meeting)),
    (
        "PreciseThroughputTimer",
        "Precise Throughput Timer",
        Kind::Refused("use an Open Model Thread Group for a rate"),
    ),
    ("JSR223Timer", "JSR223 Timer", Kind::Refused(SCRIPT)),
    ("BeanShellTimer", "BeanShell Timer", Kind::Refused(SCRIPT)),
    ("RunTime", "Runtime Controller", Kind::Controller(Controller::Runtime)),
    (
        "CriticalSectionController",
        "Critical Section Controller",
        Kind::Refused("nobody is kept from being in it beside others"),
    ),
    // What it includes stands below it by then.
    ("IncludeController", "Include Controller", Kind::Controller(Controller::Simple)),
    ("JSR223Sampler", "JSR223 Sampler", Kind::Refused(SCRIPT)),
    ("JSR223PreProcessor", "JSR223 PreProcessor", Kind::Refused(SCRIPT)),
    ("JSR223PostProcessor", "JSR223 PostProcessor", Kind::Refused(SCRIPT)),
    ("JSR223Assertion", "JSR223 Assertion", Kind::Refused(SCRIPT)),
    ("JSR223Listener", "JSR223 Listener", Kind::Refused(SCRIPT)),
    ("BeanShellSampler", "BeanShell Sampler", Kind::Refused(SCRIPT)),
    ("BeanShellPreProcessor", "BeanShell PreProcessor", Kind::Refused(SCRIPT)),
    ("BeanShellPostProcessor", "BeanShell PostProcessor", Kind::Refused(SCRIPT)),
    ("BeanShellAssertion", "BeanShell Assertion", Kind::Refused(SCRIPT)),
    ("BeanShellListener", "BeanShell Listener", Kind::Refused(SCRIPT)),
    ("BSFSampler", "BSF Sampler", Kind::Refused(SCRIPT)),
    ("JDBCSampler", "JDBC Request", Kind::Refused(NO_HTTP)),
    ("JDBCDataSource", "JDBC Connection Configuration", Kind::Refused(NO_HTTP)),
    ("JavaSampler", "Java Request", Kind::Refused(NO_HTTP)),
    ("FTPSampler", "FTP Request", Kind::Refused(NO_HTTP)),
    ("LDAPSampler", "LDAP Request", Kind::Refused(NO_HTTP)),
    ("LDAPExtSampler", "LDAP Extended Request", Kind::Refused(NO_HTTP)),
    ("TCPSampler", "TCP Sampler", Kind::Refused(NO_HTTP)),
    ("SmtpSampler", "SMTP Sampler", Kind::Refused(NO_HTTP)),
    ("SystemSampler", "OS Process Sampler", Kind::Refused(NO_HTTP)),
    ("JUnitSampler", "JUnit Request", Kind::Refused(NO_HTTP)),
    ("AjpSampler", "AJP/1.3 Sampler", Kind::Refused(NO_HTTP)),
    ("AccessLogSampler", "Access Log Sampler", Kind::Refused("requests are not taken from access logs")),
    ("SoapSampler", "SOAP/XML-RPC Request", Kind::Refused("JMeter has it no longer; use an HTTP Request")),
    (BACKEND_LISTENER, "Backend Listener", Kind::NoEffect),
    ("ResultAction", "Result Status Action Handler", Kind::Scoped(Scoped::OnError)),
    ("DNSCacheManager", "DNS Cache Manager", Kind::Scoped(Scoped::Lookups)),
    (
        "KeystoreConfig",
        "Keystore Configuration",
        Kind::Refused("client certificates are not taken from key stores"),
    ),
    ("BoltConnectionElement", "Bolt Connection Configuration", Kind::Refused(NO_HTTP)),
    ("UserParameters", "User Parameters", Kind::Scoped(Scoped::Parameters)),
    ("RegExUserParameters", "RegEx User Parameters", Kind::Refused("it is not supported")),
    ("AnchorModifier", "HTML Link Parser", Kind::Refused("links are not taken from pages")),
    ("URLRewritingModifier", "HTTP URL Re-writing Modifier", Kind::Scoped(Scoped::Rewriting)),
    ("SampleTimeout", "Sample Timeout", Kind::Refused("give the HTTP Request a response timeout")),
    ("XPathAssertion", "XPath Assertion", Kind::Refused("XPath is not supported")),
    ("XPath2Assertion", "XPath2 Assertion", Kind::Refused("XPath is not supported")),
    ("XPathExtractor", "XPath Extractor", Kind::Refused("XPath is not supported")),
    ("XPath2Extractor", "XPath2 Extractor", Kind::Refused("XPath is not supported")),
    ("HtmlExtractor", "CSS Selector Extractor", Kind::Refused("CSS selectors are not supported")),
    (
        "JMESPathExtractor",
        "JSON JMESPath Extractor",
        Kind::Refused("JMESPath is not supported; use JSONPath"),
    ),
    (
        "JMESPathAssertion",
        "JSON JMESPath Assertion",
        Kind::Refused("JMESPath is not supported; use JSONPath"),
    ),
    ("XMLAssertion", "XML Assertion", Kind::Refused("it is not supported")),
    ("XMLSchemaAssertion", "XML Schema Assertion", Kind::Refused("it is not supported")),
    ("HTMLAssertion", "HTML Assertion", Kind::Refused("it is not supported")),
    ("MD5HexAssertion", "MD5Hex Assertion", Kind::Refused("it is not supported")),
    ("CompareAssertion", "Compare Assertion", Kind::Refused("it is not supported")),
    ("DebugPostProcessor", "Debug PostProcessor", Kind::NoEffect),
];

/// Forms that tell elements of one class apart.
const FORMS: &[(&str, &str, &str)] = &[
    ("ConfigTestElement", "HttpDefaultsGui", "HTTP Request Defaults"),
    ("GenericController", "TestFragmentControllerGui", FRAGMENT),
    ("TestFragmentController", "", FRAGMENT),
];

/// What JMeter's menu calls it; `None` for what is unknown.
pub(crate) fn form_name(class: &str, gui: &str) -> Option<&'static str> {
    let (class, gui) = (own(class)?, own(gui).unwrap_or_default());
    let form = FORMS.iter().find(|(of, form, _)| *of == class && (*form == gui || form.is_empty()));
    form.map(|(_, _, name)| *name)
        .or_else(|| ELEMENTS.iter().find(|(known, ..)| *known == class).map(|(_, name, _)| *name))
}

/// What becomes of an element of this class and form.
pub(crate) fn kind(class: &str, gui: &str) -> Kind {
    if let Some((_, kind)) = OF_PLUGINS.iter().find(|(known, _)| *known == class) {
        return *kind;
    }
    let Some(own_class) = own(class) else {
        // The listeners of JMeter's best known plug-ins are result collectors of their own.
        let is_known = class.starts_with("kg.apc.") || class.starts_with("com.blazemeter.");
        let is_listener = is_known && class.ends_with("ResultCollector");
        return if is_listener { Kind::NoEffect } else { Kind::Refused(PLUGIN) };
    };
    match (own_class, own(gui).unwrap_or_default()) {
        ("ConfigTestElement", "HttpDefaultsGui") => Kind::Scoped(Scoped::Defaults),
        ("TestFragmentController", _) | (_, "TestFragmentControllerGui") => Kind::NotRun,
        _ => {
            let known = ELEMENTS.iter().find(|(known, ..)| *known == own_class).map(|(_, _, kind)| *kind);
            known.unwrap_or(Kind::Refused("it is not known"))
        }
    }
}

/// Whether it is a test fragment, which is run by module controllers alone.
pub(crate) fn is_fragment(class: &str, gui: &str) -> bool {
    form_name(class, gui) == Some(FRAGMENT)
}

/// Whether JMeter counts it among the controllers.
pub(crate) fn is_controller(class: &str, gui: &str) -> bool {
    is_fragment(class, gui) || matches!(kind(class, gui), Kind::Controller(_))
}

/// Whether it is a controller, or stands in the place of a request: JMeter counts those that a controller may choose from.
pub(crate) fn is_choice(class: &str, gui: &str) -> bool {
    let is_sampler = matches!(kind(class, gui), Kind::Request | Kind::FlowAction | Kind::DebugSampler);
    is_sampler || is_controller(class, gui)
}

/// Whether it is JMeter's own class of this name.
pub(crate) fn is_own(class: &str, name: &str) -> bool {
    own(class) == Some(name)
}

/// JMeter's own class without its package; `None` for one of another package, whatever JMeter has of the same name.
fn own(class: &str) -> Option<&str> {
    match class.rsplit_once('.') {
        None => Some(class),
        Some((package, name)) => {
            let is_own = package == "org.apache.jmeter" || package.starts_with("org.apache.jmeter.");
            is_own.then_some(name)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plug_ins_element_is_not_jmeters_of_the_same_name() {
        let [own, shaping] =
            [Timer::Throughput, Timer::Shaping].map(|timer| Kind::Scoped(Scoped::Timer(timer)));
        for (class, expected, name) in [
            ("ConstantThroughputTimer", own, Some("Constant Throughput Timer")),
            ("org.apache.jmeter.timers.ConstantThroughputTimer", own, Some("Constant Throughput Timer")),
            ("kg.apc.jmeter.timers.ConstantThroughputTimer", Kind::Refused(PLUGIN), None),
            ("kg.apc.jmeter.timers.VariableThroughputTimer", shaping, None),
            ("com.blazemeter.jmeter.ThreadGroup", Kind::Refused(PLUGIN), None),
            ("kg.apc.jmeter.threads.UltimateThreadGroup", Kind::Ultimate, None),
            ("kg.apc.jmeter.threads.SteppingThreadGroup", Kind::Stepping, None),
            ("com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroup", Kind::Concurrency, None),
            ("com.example.UltimateThreadGroup", Kind::Refused(PLUGIN), None),
            ("org.apache.jmeterplugins.ThreadGroup", Kind::Refused(PLUGIN), None),
            ("com.example.ResultCollector", Kind::Refused(PLUGIN), None),
            ("kg.apc.jmeter.vizualizers.CorrectedResultCollector", Kind::NoEffect, None),
            ("kg.apc.jmeter.perfmon.PerfMonCollector", Kind::NoEffect, None),
            ("kg.apc.jmeter.reporters.FlexibleFileWriter", Kind::NoEffect, None),
            // It ends the test.
            ("kg.apc.jmeter.reporters.AutoStop", Kind::Refused(PLUGIN), None),
            ("com.blazemeter.jmeter.threads.arrivals.ArrivalsThreadGroup", Kind::Refused(ARRIVALS), None),
            ("com.blazemeter.jmeter.http2.sampler.HTTP2Sampler", Kind::Refused(HTTP2), None),
            ("NoSuchElement", Kind::Refused("it is not known"), None),
        ] {
            assert_eq!((kind(class, "TestBeanGUI"), form_name(class, "")), (expected, name), "{class}");
        }
        let defaults = |gui: &str| kind("ConfigTestElement", gui);
        let path = "org.apache.jmeter.protocol.http.config.gui.HttpDefaultsGui";
        assert_eq!([defaults("HttpDefaultsGui"), defaults(path)], [Kind::Scoped(Scoped::Defaults); 2]);
        assert_eq!(defaults("com.example.HttpDefaultsGui"), Kind::Refused(NO_HTTP));
    }
}
