//! Whether what an element comes to can be carried out, by the check that every scenario goes through before its start.

use std::num::NonZeroU32;

use scenario::{Assertion, Extraction, Pause, Prepared, RequestStep, Scenario, Step, Template, Users};
use units::Duration;

/// The name of the step that stands in for any other; the check puts it before what it finds.
const NAME: &str = "element";

/// The request by itself, without what is checked at the element that it comes from.
pub(crate) fn request(request: &RequestStep) -> Result<(), String> {
    let (pauses, extractions, assertions) = (Vec::new(), Vec::new(), Vec::new());
    // Files are looked at before the start, and not here.
    let (body_file, multipart) = (None, None);
    check(RequestStep { pauses, extractions, assertions, body_file, multipart, ..request.clone() })
}

pub(crate) fn pause(pause: Pause) -> Result<Pause, String> {
    check(RequestStep { pauses: vec![pause.clone()], ..any_request() }).map(|()| pause)
}

pub(crate) fn assertion(assertion: Assertion) -> Result<Assertion, String> {
    check(RequestStep { assertions: vec![assertion.clone()], ..any_request() }).map(|()| assertion)
}

pub(crate) fn extraction(extraction: Extraction) -> Result<Extraction, String> {
    check(RequestStep { extractions: vec![extraction.clone()], ..any_request() }).map(|()| extraction)
}

fn any_request() -> RequestStep {
    RequestStep::plain(NAME, "GET", "http://localhost/")
}

fn check(request: RequestStep) -> Result<(), String> {
    let request = RequestStep { name: Template::text(NAME), ..request };
    let users = Users::Closed {
        count: NonZeroU32::MIN,
        ramp_up: Duration::ZERO,
        delay: Duration::ZERO,
        iterations: None,
        duration: None,
    };
    let steps = vec![Step::Request(Box::new(request))];
    let scenario = Scenario::of_steps(NAME, users, steps, Duration::from_secs(1));
    Prepared::new(scenario).map(drop).map_err(|error| {
        let text = error.to_string();
        text.strip_prefix(&format!("step `{NAME}`: ")).unwrap_or(&text).to_owned()
    })
}
