//! A recording of a browser (HTTP Archive 1.2): its requests in the order in which they were made, with the pauses
//! between them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use jiff::Timestamp;
use plan::PlanError;
use scenario::{Pause, Step, Template};
use serde::Deserialize;
use url::{Url, form_urlencoded};

use crate::step::{SourceOptions, Sourced, rebased, request};

/// The media type of a form without files.
const FORM: &str = "application/x-www-form-urlencoded";
/// Pauses shorter than this are the browser's own.
const PAUSE_MIN_MS: i64 = 10;
/// Most requests that a recording may have; one of an afternoon has some thousands.
const ENTRIES_MAX: usize = 100_000;

#[derive(Deserialize)]
struct Har {
    log: Log,
}

#[derive(Deserialize)]
struct Log {
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    started_date_time: Option<String>,
    /// Milliseconds.
    #[serde(default)]
    time: f64,
    request: Request,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request {
    method: String,
    url: String,
    #[serde(default)]
    headers: Vec<Field>,
    post_data: Option<PostData>,
}

#[derive(Deserialize)]
struct Field {
    name: String,
    value: String,
}

#[derive(Deserialize)]
struct PostData {
    #[serde(default)]
    text: String,
    /// What some write of a form in place of its text.
    #[serde(default)]
    params: Vec<Param>,
    #[serde(default, rename = "mimeType")]
    mime_type: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Param {
    name: String,
    #[serde(default)]
    value: String,
    file_name: Option<String>,
}

/// The requests of the recording `text`. Those of the server that the first one went to go to `options.base`, where it
/// is given, and those of others are left out; without it all go where they went. With `pauses` users wait as the
/// recorded one did.
pub fn parse_har(
    name: &str,
    text: &str,
    pauses: bool,
    options: &SourceOptions,
) -> Result<Sourced, PlanError> {
    let har: Har = serde_json::from_str(text).map_err(|error| {
        PlanError::new(format!("it is no HAR file ({error})"), "save it from the network panel of a browser")
    })?;
    let count = har.log.entries.len();
    if count > ENTRIES_MAX {
        let what = format!("it has {count} requests, more than {ENTRIES_MAX}");
        return Err(PlanError::new(what, "record a shorter visit"));
    }
    let base = options.base_url()?;
    let first = har.log.entries.iter().find_map(|entry| Url::parse(&entry.request.url).ok());
    let (mut steps, mut left_out) = (Vec::new(), Vec::new());
    let mut of_http1: BTreeMap<String, u32> = BTreeMap::new();
    let mut ended_ms: Option<i64> = None;
    for entry in &har.log.entries {
        let asked = &entry.request;
        let url = match where_to(asked, base.as_ref(), first.as_ref()) {
            Ok(url) => url,
            Err(why) => {
                left_out.push(format!("{} {}: {why}", asked.method, asked.url));
                continue;
            }
        };
        for field in asked.headers.iter().filter(|it| !options.http.has_place_for(&it.name, &it.value)) {
            *of_http1.entry(field.name.to_ascii_lowercase()).or_default() += 1;
        }
        let body = match body(asked) {
            Ok(body) => body,
            Err(why) => {
                left_out.push(format!("{} {}: {why}", asked.method, asked.url));
                continue;
            }
        };
        let mut headers = fields(&asked.headers);
        headers.retain(|(name, value)| options.http.has_place_for(name, value));
        let mut step = request(&asked.method, &url, &headers, &body);
        let started_ms = entry.started_date_time.as_deref().and_then(milliseconds);
        if pauses
            && let (Some(started), Some(ended)) = (started_ms, ended_ms)
            && started.saturating_sub(ended) >= PAUSE_MIN_MS
        {
            let ms = started.saturating_sub(ended).to_string();
            step.pauses.push(Pause::Constant { ms: Template::text(ms) });
        }
        // Requests that a browser made side by side are made one after another, as early as they can.
        ended_ms = ended_ms.max(started_ms.map(|started| started.saturating_add(entry.time.max(0.0) as i64)));
        steps.push(Step::Request(Box::new(step)));
    }
    left_out.extend(of_http1.into_iter().map(|(name, requests)| {
        let unit = if requests == 1 { "request" } else { "requests" };
        format!("the header {name} of {requests} {unit}: it is of HTTP/1.1 alone")
    }));
    options.scenario(name.to_owned(), steps, left_out)
}

fn milliseconds(text: &str) -> Option<i64> {
    text.parse::<Timestamp>().ok().map(Timestamp::as_millisecond)
}

/// The URL to send to, or why there is none.
fn where_to(asked: &Request, base: Option<&Url>, first: Option<&Url>) -> Result<Url, String> {
    let url = Url::parse(&asked.url).map_err(|error| format!("it is no URL ({error})"))?;
    match base {
        Some(base) if first.is_some_and(|first| first.origin() == url.origin()) => Ok(rebased(&url, base)),
        Some(_) => Err("another server than the first".into()),
        None if ["http", "https"].contains(&url.scheme()) => Ok(url),
        None => Err(format!("{} is not spoken; give --base", url.scheme())),
    }
}

/// The fields that a client does not compute itself.
fn fields(recorded: &[Field]) -> Vec<(String, String)> {
    let ours = ["host", "content-length", "connection", "transfer-encoding"];
    recorded
        .iter()
        .filter(|field| !field.name.starts_with(':') && !ours.contains(&&*field.name.to_ascii_lowercase()))
        .map(|field| (field.name.clone(), field.value.clone()))
        .collect()
}

/// What was sent in the body; of a form that was recorded by its fields, these as a browser writes them.
fn body(asked: &Request) -> Result<Cow<'_, str>, String> {
    let Some(data) = &asked.post_data else { return Ok(Cow::Borrowed("")) };
    if !data.text.is_empty() || data.params.is_empty() {
        return Ok(Cow::Borrowed(&data.text));
    }
    let is_form = data.mime_type.starts_with(FORM) && data.params.iter().all(|it| it.file_name.is_none());
    if !is_form {
        return Err("the recording has no text of its body".into());
    }
    let fields = data.params.iter().map(|it| (&it.name, &it.value));
    Ok(Cow::Owned(form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()))
}
