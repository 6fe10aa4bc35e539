//! What is known and not read, and what to give instead. It is looked for where nothing was found.

/// So much of the beginning of a text is looked at, bytes.
const BEGINNING_BYTES_MAX: usize = 64 << 10;
/// Digits of a time in milliseconds since 1970.
const TIME_DIGITS: usize = 13;

const GHZ: &str = "it is a summary of ghz, which is not read";
const ARTILLERY: &str = "it is a report of Artillery, which is not read";
const GOOSE: &str = "it is a report of Goose, which is not read";
const NIGHTHAWK: &str = "it is of Nighthawk, which is not read; give what --output-format fortio writes";
const K6_POINTS: &str = "these are single points of k6; give its summary, or what --summary-export writes";
const PAGE: &str = "it is a web page; give the text, the CSV or the JSON that the tool writes";

/// What stands in it, all of it, with one blank between words; and what it is.
type Known = (&'static [&'static str], &'static str);
const KNOWN: [Known; 24] = [
    (&["<testResults"], "it is a JTL as XML; give it as CSV (jmeter.save.saveservice.output_format=csv)"),
    (&["<jmeterTestPlan"], "it is a test plan of JMeter; give what a run of it wrote"),
    (&["Timestamp,User Count,"], "it is the history of a run of Locust; give …_stats.csv"),
    (&["Method,Name,Error,Occurrences"], "it is the list of what failed in Locust; give …_stats.csv"),
    (&["\"type\":\"Point\"", "\"metric\":\""], K6_POINTS),
    (&["metric_name,timestamp,metric_value"], K6_POINTS),
    (&["\"attack\":", "\"seq\":", "\"latency\":"], "these are single results of vegeta; give its report"),
    (&["Bucket # % Histogram"], "it is a histogram of vegeta; give its report, as text or as JSON"),
    (&["response-time,DNS+dialup"], "these are single requests of hey (-o csv); give its summary"),
    (&["request-start,DNS,DNS+dialup"], "these are single requests of oha; give its text or its JSON"),
    (&["Aggregated Function Time"], "it is the text of Fortio, which is not read; give what -json writes"),
    (&["Nighthawk - A layer 7 protocol benchmarking tool"], NIGHTHAWK),
    (&["benchmark_http_client."], NIGHTHAWK),
    (&["Summary: Count:", "Response time histogram:"], GHZ),
    (&["\"latencyDistribution\":", "\"endReason\":"], GHZ),
    (&["http.response_time: min"], ARTILLERY),
    (&["\"aggregate\":", "\"http.response_time\":"], ARTILLERY),
    (&["Statistics Min Mean StdDev Max"], "it is a summary of plow, which is not read"),
    (&["Time taken for tests", "Median time per request"], "it is a summary of drill, which is not read"),
    (&["=== PER SCENARIO METRICS ==="], GOOSE),
    (&["=== PER REQUEST METRICS ==="], GOOSE),
    (&["# stats: dump at "], "it is a log of tsung, which is not read"),
    (&["Reply time [ms]:", "Request rate:"], "it is an output of httperf, which is not read"),
    (&["Samples count:", "Average times: total"], "it is of Taurus; give what the tool that it runs wrote"),
];

/// What a text is in which no output was found.
pub(super) fn told(text: &str) -> Option<&'static str> {
    let most = text.len().min(BEGINNING_BYTES_MAX);
    let end = (0..=most).rev().find(|it| text.is_char_boundary(*it)).unwrap_or(0);
    let beginning = text[..end].trim_start_matches('\u{feff}').trim_start();
    if is_headless_jtl(beginning) {
        return Some("it is a JTL without its header (jmeter.save.saveservice.print_field_names=true)");
    }
    if beginning.starts_with("RUN\t") || beginning.starts_with("ASSERTION\t") {
        return Some("it is Gatling's simulation.log; give js/stats.json of its report, or what it printed");
    }
    let small = beginning.get(..16).unwrap_or_default().to_lowercase();
    if small.starts_with("<!doctype html") || small.starts_with("<html") {
        return Some(PAGE);
    }
    let words: Vec<&str> = beginning.split_whitespace().collect();
    let words = words.join(" ");
    let found = KNOWN.iter().find(|(parts, _)| parts.iter().all(|it| words.contains(it)));
    found.map(|(_, what)| *what)
}

/// `1767268800000,45,GET /,200,…`.
fn is_headless_jtl(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    let mut cells = first.split([',', ';', '\t']);
    let is_number = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    let is_time = cells.next().is_some_and(|it| it.len() == TIME_DIGITS && is_number(it));
    is_time && cells.next().is_some_and(is_number) && cells.count() >= 2
}
