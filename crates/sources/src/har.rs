//! A recording of a browser (HTTP Archive 1.2): its requests in the order in which they were made, with the pauses
//! between them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
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
/// How much of a URL is shown of a request that is left out: one that holds a picture has no end.
const SHOWN_MAX: usize = 200;

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
    time: Option<f64>,
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
    /// Bytes; below zero where it is not known.
    body_size: Option<f64>,
}

#[derive(Deserialize)]
struct Field {
    name: String,
    value: String,
}

#[derive(Deserialize)]
struct PostData {
    text: Option<String>,
    /// What some write of a form in place of its text.
    params: Option<Vec<Param>>,
    /// Of the text: `base64` of what is none.
    encoding: Option<String>,
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
    // A recording may begin with a mark of its bytes' order.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let har: Har = serde_json::from_str(text).map_err(|error| {
        PlanError::new(format!("it is no HAR file ({error})"), "save it from the network panel of a browser")
    })?;
    let count = har.log.entries.len();
    if count > ENTRIES_MAX {
        let what = format!("it has {count} requests, more than {ENTRIES_MAX}");
        return Err(PlanError::new(what, "record a shorter visit"));
    }
    let base = options.base_url()?;
    let is_served = |url: &Url| url.origin().is_tuple();
    let mut served = har.log.entries.iter().filter_map(|it| sendable(&it.request).ok());
    let first = served.find(is_served);
    let (mut steps, mut left_out) = (Vec::new(), Vec::new());
    let mut of_http1: BTreeMap<String, u32> = BTreeMap::new();
    let mut ended_ms: Option<i64> = None;
    for entry in &har.log.entries {
        let asked = &entry.request;
        let url = match where_to(asked, base.as_ref(), first.as_ref()) {
            Ok(url) => url,
            Err(why) => {
                left_out.push(format!("{}: {why}", shown(asked)));
                continue;
            }
        };
        for field in asked.headers.iter().filter(|it| !options.http.has_place_for(&it.name, &it.value)) {
            *of_http1.entry(field.name.to_ascii_lowercase()).or_default() += 1;
        }
        let body = match body(asked) {
            Ok(body) => body,
            Err(why) => {
                left_out.push(format!("{}: {why}", shown(asked)));
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
        let took_ms = entry.time.unwrap_or(0.0).max(0.0) as i64;
        ended_ms = ended_ms.max(started_ms.map(|started| started.saturating_add(took_ms)));
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

/// A request as it is named where it is left out.
fn shown(asked: &Request) -> String {
    let mut rest = asked.url.chars();
    let url: String = rest.by_ref().take(SHOWN_MAX).collect();
    let more = if rest.next().is_some() { "…" } else { "" };
    format!("{} {url}{more}", asked.method)
}

/// The URL of a request that a client of HTTP makes of a server, or why it is none.
fn sendable(asked: &Request) -> Result<Url, String> {
    let url = Url::parse(&asked.url).map_err(|error| format!("it is no URL ({error})"))?;
    let upgrades =
        |it: &Field| it.name.eq_ignore_ascii_case("upgrade") && it.value.eq_ignore_ascii_case("websocket");
    if ["ws", "wss"].contains(&url.scheme()) || asked.headers.iter().any(upgrades) {
        return Err("WebSocket is not spoken".into());
    }
    if asked.method.eq_ignore_ascii_case("connect") {
        return Err("it opens a tunnel through a proxy".into());
    }
    if !url.has_host() {
        return Err("no server is asked for it".into());
    }
    Ok(url)
}

/// The URL to send to, or why there is none.
fn where_to(asked: &Request, base: Option<&Url>, first: Option<&Url>) -> Result<Url, String> {
    let url = sendable(asked)?;
    match base {
        Some(base) if first.is_some_and(|first| is_same_server(first, &url)) => Ok(rebased(&url, base)),
        Some(_) => Err("another server than the first".into()),
        None if ["http", "https"].contains(&url.scheme()) => Ok(url),
        None => Err(format!("{} is not spoken; give --base", url.scheme())),
    }
}

/// Whoever types a name alone is sent from http to https, and goes on with the same server.
fn is_same_server(first: &Url, url: &Url) -> bool {
    let is_usual = |it: &Url| it.port().is_none() && ["http", "https"].contains(&it.scheme());
    first.origin() == url.origin() || (first.host() == url.host() && is_usual(first) && is_usual(url))
}

/// The fields that a client does not compute itself.
fn fields(recorded: &[Field]) -> Vec<(String, String)> {
    let ours = ["host", "content-length", "connection", "transfer-encoding"];
    let is_cookie = |name: &str| name.eq_ignore_ascii_case("cookie");
    let mut all: Vec<(String, String)> = Vec::new();
    for field in recorded {
        if field.name.starts_with(':') || ours.contains(&&*field.name.to_ascii_lowercase()) {
            continue;
        }
        // HTTP/2 may have several, which are one in HTTP/1.1 (RFC 9113, section 8.2.3).
        match all.iter_mut().find(|(name, _)| is_cookie(name) && is_cookie(&field.name)) {
            Some((_, value)) => {
                value.push_str("; ");
                value.push_str(&field.value);
            }
            None => all.push((field.name.clone(), field.value.clone())),
        }
    }
    all
}

/// What was sent in the body; of a form that was recorded by its fields, these as a browser writes them.
fn body(asked: &Request) -> Result<Cow<'_, str>, String> {
    let no_text = || Err("the recording has no text of its body".to_owned());
    let nothing = || if has_body(asked) { no_text() } else { Ok(Cow::Borrowed("")) };
    let Some(data) = &asked.post_data else { return nothing() };
    let text = data.text.as_deref().unwrap_or_default();
    if !text.is_empty() && data.encoding.as_deref() == Some("base64") {
        let decoded = STANDARD.decode(text).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        return decoded.map_or_else(no_text, |text| Ok(Cow::Owned(text)));
    }
    let params = data.params.as_deref().unwrap_or_default();
    if !text.is_empty() {
        return Ok(Cow::Borrowed(text));
    }
    if params.is_empty() {
        return nothing();
    }
    let is_form = data.mime_type.starts_with(FORM) && params.iter().all(|it| it.file_name.is_none());
    if !is_form {
        return no_text();
    }
    let fields = params.iter().map(|it| (&it.name, &it.value));
    Ok(Cow::Owned(form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()))
}

/// Whether the recording says that there was a body: some leave its text out, of files for one.
fn has_body(asked: &Request) -> bool {
    let is_length = |it: &Field| it.name.eq_ignore_ascii_case("content-length");
    let is_long = |it: &Field| it.value.trim().parse::<u64>().is_ok_and(|bytes| bytes > 0);
    // Of others some programs count the head.
    let may_have = !["GET", "HEAD"].contains(&asked.method.as_str());
    (may_have && asked.body_size.is_some_and(|bytes| bytes > 0.0))
        || asked.headers.iter().filter(|it| is_length(it)).any(is_long)
}
