//! Properties that are JMeter's own: what they would change of what it sends is not done here.

use crate::values::Values;

/// Those that change what is sent, or when: the name, the value that does not, and what another one is for.
const OF_REQUESTS: [(&str, &str, &str); 9] = [
    ("timer.factor", "1", "pauses are as long as their timers say"),
    ("httpsampler.max_redirects", "20", "20 redirects are followed"),
    ("httpclient4.retrycount", "0", "no request is sent again"),
    ("httpclient4.auth.preemptive", "true", "names and passwords are sent without being asked for"),
    ("httpclient.socket.http.cps", "0", "connections are as fast as they are"),
    ("httpclient.socket.https.cps", "0", "connections are as fast as they are"),
    ("CookieManager.save.cookies", "false", "cookies are put into no variables"),
    ("CookieManager.check.cookies", "true", "cookies are taken of their own servers alone"),
    ("CookieManager.allow_variable_cookies", "true", "variables in a manager's cookies are filled in"),
];

/// What the names begin with of those that change what JMeter writes, and what is written.
const OF_RESULTS: [(&str, &str); 2] = [
    ("jmeter.save.saveservice.", "-l has JMeter's default columns, as CSV"),
    ("summariser.", "there is a summary line every 30 s"),
];

/// The properties that say something which is not done, each with what is done in its place.
pub(crate) fn refused(values: &Values<'_>) -> Vec<String> {
    let changed = |(name, usual, instead): &(&str, &str, &str)| {
        let value = values.property(name).filter(|value| !says(value, usual))?;
        Some(format!("the property {name} is {value}, and is not looked at: {instead}; leave it out"))
    };
    OF_REQUESTS.iter().filter_map(changed).collect()
}

/// What should be known of the properties that were given.
pub(crate) fn notes(values: &Values<'_>) -> Vec<String> {
    let given = OF_RESULTS.iter().filter(|(prefix, _)| values.has_property_of(prefix));
    given.map(|(prefix, instead)| format!("properties {prefix}…: without effect: {instead}")).collect()
}

/// Whether a value is the usual one, as JMeter reads it: `1.0f` is 1, and nothing is what there is without it.
fn says(value: &str, usual: &str) -> bool {
    let value = value.trim();
    let number = |text: &str| text.trim_end_matches(['f', 'F']).parse::<f64>().ok();
    let is_number = number(value).zip(number(usual)).is_some_and(|(one, other)| (one - other).abs() < 1e-9);
    value.is_empty() || is_number || value.eq_ignore_ascii_case(usual)
}
