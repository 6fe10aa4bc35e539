//! A recording of a browser (HTTP Archive 1.2): its requests in the order in which they were made, with the pauses
//! between them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use plan::PlanError;
use scenario::{Assertion, Check, Field as Compared, Part, Pause, Step, Template, TextRules};
use serde::Deserialize;
use serde_json::Value;
use url::{Url, form_urlencoded};

use crate::along::Along;
use crate::step::{SourceOptions, Sourced, rebased, request};

/// The media type of a form without files.
const FORM: &str = "application/x-www-form-urlencoded";
/// Pauses shorter than this are the browser's own.
const PAUSE_MIN_MS: i64 = 10;
/// Most requests that a recording may have; one of an afternoon has some thousands.
const ENTRIES_MAX: usize = 100_000;
/// How much of a URL is shown of a request that is left out: one that holds a picture has no end.
const SHOWN_MAX: usize = 200;
/// What a good status looks like where nothing else is said of it.
const GOOD_STATUS: &str = "[23]..";
/// Statuses of 400 and more that are not of what was asked for, but of when: a server that was too slow to be told, and one that
/// was asked too often.
const OF_ITS_TIME: [u64; 2] = [408, 429];

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
    response: Option<Response>,
    /// Of what Chrome took from its cache, which one: `memory` or `disk`.
    #[serde(rename = "_fromCache")]
    from_cache: Option<Value>,
}

#[derive(Deserialize)]
struct Response {
    /// 0 where there was no answer.
    status: Option<Value>,
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
    let entries = by_start(har.log.entries);
    let first = entries.iter().filter_map(|(_, it)| sendable(&it.request).ok()).find(is_served);
    let (mut steps, mut left_out, mut along) = (Vec::new(), Vec::new(), Along::of(&options.fields));
    let mut of_http1: BTreeMap<String, u32> = BTreeMap::new();
    let mut ended_ms: Option<i64> = None;
    for (started_ms, entry) in &entries {
        let asked = &entry.request;
        let to_send = where_to(entry, base.as_ref(), first.as_ref());
        let (url, body) = match to_send.and_then(|url| Ok((url, body(asked)?))) {
            Ok(it) => it,
            Err(why) => {
                left_out.push(format!("{}: {why}", shown(asked)));
                continue;
            }
        };
        for field in asked.headers.iter().filter(|it| !options.http.has_place_for(&it.name, &it.value)) {
            *of_http1.entry(field.name.to_ascii_lowercase()).or_default() += 1;
        }
        let mut headers = fields(&asked.headers);
        headers.retain(|(name, value)| options.http.has_place_for(name, value));
        let mut step = request(&asked.method, &url, &headers, &body);
        along.put_on(&mut step, &url);
        step.assertions.extend(refused_again(entry));
        if pauses
            && let (Some(started), Some(ended)) = (*started_ms, ended_ms)
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
    let mut sourced = options.scenario(name.to_owned(), steps, left_out)?;
    along.complete(&mut sourced.scenario)?;
    Ok(sourced)
}

/// The entries in the order in which they were begun, each with when that was: whoever writes a recording need not sort it (HAR 1.2,
/// `entries`). One that does not say when stays behind the one before it.
fn by_start(entries: Vec<Entry>) -> Vec<(Option<i64>, Entry)> {
    let mut latest = i64::MIN;
    let placed = entries.into_iter().map(|entry| {
        let started_ms = entry.started_date_time.as_deref().and_then(milliseconds);
        latest = started_ms.unwrap_or(latest);
        (latest, started_ms, entry)
    });
    let mut placed: Vec<(i64, Option<i64>, Entry)> = placed.collect();
    placed.sort_by_key(|(place, ..)| *place);
    placed.into_iter().map(|(_, started_ms, entry)| (started_ms, entry)).collect()
}

/// What a good answer may be beside a usual one: what was refused when it was recorded, as a picture that a server has not, is
/// refused again, and is no failure of this load. What says that a server was in trouble is one, whenever it is said.
fn refused_again(entry: &Entry) -> Option<Assertion> {
    let status = entry.response.as_ref()?.status.as_ref()?.as_u64()?;
    let is_refusal = (400..500).contains(&status) && !OF_ITS_TIME.contains(&status);
    let patterns = vec![Template::text(GOOD_STATUS), Template::text(status.to_string())];
    let (part, field) = (Part::Status, Compared::Matches);
    let rules = TextRules::Plain;
    let check = Check::Text { part, field, patterns, any: true, ignore_status: true, rules };
    is_refusal.then(|| Assertion { name: String::new(), check, negated: false })
}

fn milliseconds(text: &str) -> Option<i64> {
    text.parse::<Timestamp>().ok().map(Timestamp::as_millisecond)
}

/// A request as it is named where it is left out: without its query, which may hold what opens a session.
fn shown(asked: &Request) -> String {
    let (url, query) = asked.url.split_once('?').map_or((&*asked.url, ""), |(url, _)| (url, "?…"));
    match url.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{} {}…", asked.method, &url[..end]),
        None => format!("{} {url}{query}", asked.method),
    }
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
fn where_to(entry: &Entry, base: Option<&Url>, first: Option<&Url>) -> Result<Url, String> {
    let url = sendable(&entry.request)?;
    if entry.from_cache.as_ref().is_some_and(Value::is_string) {
        return Err("the browser had it in its cache, and asked no server".into());
    }
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
