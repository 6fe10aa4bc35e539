//! One request of which something is another each time: `{{uuid}}`, `{{int 1 100}}`, `{{line FILE}}` in its URL, its headers
//! or its body; or whose redirects are followed. It becomes a scenario of one step.

use std::borrow::Cow;

use plan::{PlanError, RequestArguments};
use scenario::{Assertion, Check, Field, Part, Pause, RequestStep, Step, Template, TextRules};
use units::Duration;

use crate::braces::Reader;
use crate::step::{SourceOptions, Sourced, called};

/// Redirects that are followed at most: as many as browsers and curl do.
const REDIRECTS_MAX: u32 = 20;
/// What a good status looks like where none is named: a redirect that nobody follows is no answer that was asked for.
const GOOD_STATUS: &str = "2[0-9][0-9]";

/// The URL with the next line of a file behind what it has of a query.
///
/// # Errors
/// If the name of the file can't stand in braces.
pub fn with_query_of(url: &str, file: &str) -> Result<String, PlanError> {
    if file.trim().is_empty() || file.contains("}}") {
        let help = "write the path of a file, without }} in it";
        return Err(PlanError::new(format!("`{file}` can't be a file of queries"), help));
    }
    let (before, fragment) = url.find('#').map_or((url, ""), |at| url.split_at(at));
    let mark = match before.split_once('?') {
        None => "?",
        Some((_, query)) if query.is_empty() || query.ends_with('&') => "",
        Some(_) => "&",
    };
    Ok(format!("{before}{mark}{{{{line {file}}}}}{fragment}"))
}

/// All of a request in which words may stand.
fn texts(request: &RequestArguments) -> impl Iterator<Item = Cow<'_, str>> {
    let headers = request.headers.iter().map(|it| Cow::Borrowed(it.as_str()));
    headers.chain([Cow::Borrowed(request.url.as_str()), String::from_utf8_lossy(&request.body)])
}

/// The first file of which lines are sent. A word that can't be filled in is an error.
pub(crate) fn file_of_lines(request: &RequestArguments) -> Result<Option<String>, PlanError> {
    let mut reader = Reader::default();
    texts(request).try_for_each(|text| reader.template(&text).map(drop))?;
    Ok(reader.files.into_iter().next())
}

/// Whether something of the request is another each time. A word that can't be filled in is an error.
pub fn is_varied(request: &RequestArguments) -> Result<bool, PlanError> {
    let mut reader = Reader::default();
    for text in texts(request) {
        if reader.template(&text)?.constant().is_none() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What is said of a request beside what is sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Also {
    /// Whether redirects are followed, or else taken as answers.
    pub follows: bool,
    /// The only good status; `None` is any from 200 to 299, as of requests that are all the same.
    pub status: Option<u16>,
    /// The only good body.
    pub body: Option<String>,
    /// How long a user waits after each answer.
    pub think: Duration,
}

impl Also {
    fn assertions(&self) -> Vec<Assertion> {
        let is = |part: Part, field: Field, text: String, ignore_status| Assertion {
            name: String::new(),
            check: Check::Text {
                part,
                field,
                patterns: vec![Template::text(text)],
                any: false,
                ignore_status,
                rules: TextRules::Plain,
            },
            negated: false,
        };
        let status = match self.status {
            Some(status) => is(Part::Status, Field::Equals, status.to_string(), true),
            None => is(Part::Status, Field::Matches, GOOD_STATUS.to_owned(), true),
        };
        let body = self.body.clone().map(|body| is(Part::Body, Field::Equals, body, false));
        std::iter::once(status).chain(body).collect()
    }

    fn pause(&self) -> Option<Step> {
        let ms = self.think.as_nanos() as f64 / 1e6;
        (ms > 0.0).then(|| Step::Pause(Pause::Constant { ms: Template::text(ms.to_string()) }))
    }
}

/// The scenario of users who make this request again and again.
pub fn varied(
    request: &RequestArguments,
    also: &Also,
    options: &SourceOptions,
) -> Result<Sourced, PlanError> {
    let body = std::str::from_utf8(&request.body).map_err(|_| {
        PlanError::new(
            "the body is no text, so nothing of it can be filled in",
            "leave the braces and --follow out",
        )
    })?;
    let mut reader = Reader::default();
    let method =
        request.method.clone().unwrap_or_else(|| if body.is_empty() { "GET" } else { "POST" }.into());
    let headers = request.headers.iter().map(|line| reader.field(line)).collect::<Result<_, PlanError>>()?;
    // The label is one for all, whatever is filled in.
    let name = called(&method, &request.url);
    let step = RequestStep {
        headers,
        body: reader.template(body)?,
        url: reader.template(&request.url)?,
        keep_alive: !request.close,
        redirects_max: if also.follows { REDIRECTS_MAX } else { 0 },
        assertions: also.assertions(),
        ..RequestStep::plain(name.clone(), &method, "")
    };
    let steps = std::iter::once(Step::Request(Box::new(step))).chain(also.pause()).collect();
    let mut sourced = options.scenario(name, steps, Vec::new())?;
    sourced.scenario.data = reader.into_data();
    Ok(sourced)
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use scenario::Users;
    use units::Rate;

    use super::*;
    use crate::step::Arriving;

    fn request(url: &str, body: &str) -> RequestArguments {
        RequestArguments { url: url.into(), body: body.into(), ..RequestArguments::default() }
    }

    fn options() -> SourceOptions {
        SourceOptions {
            base: None,
            arrivals: None,
            connect_timeout: Duration::from_secs(2),
            users: NonZeroU32::MIN,
            ramp_up: Duration::ZERO,
            iterations: None,
            duration: Some(Duration::from_secs(1)),
            timeout: Duration::from_secs(2),
            http: plan::HttpVersion::Http1,
            fields: crate::Fields::default(),
        }
    }

    fn following() -> Also {
        Also { follows: true, ..Also::default() }
    }

    #[test]
    fn what_is_said_of_a_request_is_said_of_each() {
        let asked = request("http://a/{{uuid}}", "");
        let also = Also {
            status: Some(404),
            body: Some("none".into()),
            think: Duration::from_millis(20),
            ..Also::default()
        };
        let arriving =
            Arriving { rate: Rate::per_sec(50.0).unwrap(), poisson: true, length: Duration::from_secs(10) };
        let ramp_up = Duration::from_secs(4);
        let options = SourceOptions { arrivals: Some(arriving), ramp_up, ..options() };
        let Sourced { scenario, .. } = varied(&asked, &also, &options).unwrap();
        let group = &scenario.groups[0];
        let [Step::Request(step), Step::Pause(_)] = group.steps.as_slice() else {
            panic!("{:?}", group.steps)
        };
        assert_eq!(step.assertions.len(), 2);
        let Users::Open { spans, poisson: true, seats_max } = &group.users else {
            panic!("{:?}", group.users)
        };
        assert_eq!((spans.len(), spans[0].length, spans[1].length), (2, ramp_up, Duration::from_secs(6)));
        assert_eq!((*seats_max, group.users.seats()), (Some(NonZeroU32::MIN), 1));
    }

    #[test]
    fn words_in_braces_become_what_they_say() {
        let asked = RequestArguments {
            headers: vec!["X-Id: {{uuid}}".into()],
            ..request("http://a/{{line users.txt}}?n={{int 1 100}}", "{\"user\":\"{{line users.txt}}\"}")
        };
        assert!(is_varied(&asked).unwrap());
        let Sourced { scenario, .. } = varied(&asked, &Also::default(), &options()).unwrap();
        let [set] = scenario.data.as_slice() else { panic!("{:?}", scenario.data) };
        assert_eq!(
            (set.file.to_str(), set.variables.as_slice()),
            (Some("users.txt"), ["line_1".to_owned()].as_slice())
        );
        let Step::Request(step) = &scenario.groups[0].steps[0] else { panic!("{scenario:?}") };
        assert_eq!(step.method.constant(), Some("POST"));
        let pieces: Vec<String> = step.url.0.iter().map(|it| format!("{it:?}")).collect();
        assert!(pieces[1].contains("line_1") && pieces[3].contains("Random"), "{pieces:?}");
        assert!(format!("{:?}", step.headers[0].1).contains("Uuid"), "{:?}", step.headers);
        assert_eq!(
            (step.redirects_max, step.name.constant().unwrap().starts_with("POST http://a/")),
            (0, true)
        );
    }

    #[test]
    fn a_line_of_a_file_stands_behind_what_there_is_of_a_query() {
        for (url, with) in [
            ("http://a", "http://a?{{line q}}"),
            ("http://a/b?", "http://a/b?{{line q}}"),
            ("http://a/b?c=1", "http://a/b?c=1&{{line q}}"),
            ("http://a/b?c=1&", "http://a/b?c=1&{{line q}}"),
            ("http://a/b?c=1#d?", "http://a/b?c=1&{{line q}}#d?"),
        ] {
            assert_eq!(with_query_of(url, "q").unwrap(), with);
            assert!(is_varied(&request(with, "")).unwrap());
        }
        assert!(with_query_of("http://a", "a}}b").is_err() && with_query_of("http://a", " ").is_err());
    }

    #[test]
    fn braces_of_a_body_are_its_own() {
        let body = "{\"a\":{\"b\":{{}}},\"c\":\"{{name}}\", \"d\": \"{{\"}";
        let asked = request("http://a/", body);
        assert!(!is_varied(&asked).unwrap());
        let Sourced { scenario, .. } = varied(&asked, &following(), &options()).unwrap();
        let Step::Request(step) = &scenario.groups[0].steps[0] else { panic!("{scenario:?}") };
        assert_eq!((step.body.constant(), step.redirects_max), (Some(body), REDIRECTS_MAX));
    }

    #[test]
    fn what_can_t_be_filled_in_is_told() {
        for (url, said) in [
            ("http://a/{{int 5 1}}", "{{int 1 100}}"),
            ("http://a/{{int one two}}", "{{int 1 100}}"),
            ("http://a/{{int 1 2 3}}", "{{int 1 100}}"),
            ("http://a/{{line}}", "{{line users.txt}}"),
            ("http://a/{{uuid 4}}", "{{uuid}}"),
        ] {
            let told = is_varied(&request(url, "")).unwrap_err().to_string();
            assert!(told.contains(said) && told.contains("can't be filled in"), "{url}: {told}");
        }
    }
}
