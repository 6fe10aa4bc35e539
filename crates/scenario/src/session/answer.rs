//! What an answer comes to: cookies, redirects, what is taken from it, and whether it is good.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::fmt::Write;
use std::sync::Arc;

use serde_json::Value;
use units::Instant;

use super::request::Pending;
use super::walk::{Phase, State};
use super::{Answer, Verdict, check, extract};
use crate::model::{CookiePolicy, Part, RedirectRules, RequestStep};
use crate::prepared::{Prepared, http_url};
use crate::world::World;

/// An answer with what is worked out from it once, if at all.
pub(super) struct Received<'a> {
    pub(super) status: u16,
    reason: &'a str,
    pub(super) headers: &'a [(&'a str, &'a str)],
    pub(super) body: &'a [u8],
    request: &'a Pending,
    text: OnceCell<Cow<'a, str>>,
    json: OnceCell<Option<Value>>,
}

impl<'a> Received<'a> {
    fn new(answer: &Answer<'a>, request: &'a Pending) -> Self {
        let (status, reason, headers, body) = match *answer {
            Answer::Answered { status, reason, headers, body } => (status, reason, headers, body),
            Answer::Failed { .. } => (0, "", [].as_slice(), [].as_slice()),
        };
        Self { status, reason, headers, body, request, text: OnceCell::new(), json: OnceCell::new() }
    }

    /// The body as text; what is not UTF-8 becomes U+FFFD.
    pub(super) fn text(&self) -> &str {
        self.text.get_or_init(|| String::from_utf8_lossy(self.body))
    }

    /// The body as JSON, if it is.
    pub(super) fn json(&self) -> Option<&Value> {
        self.json.get_or_init(|| serde_json::from_slice(self.body).ok()).as_ref()
    }

    /// The values of a field.
    pub(super) fn fields<'s>(&'s self, name: &'s str) -> impl Iterator<Item = &'a str> + 's {
        self.headers
            .iter()
            .filter(move |(other, _)| other.eq_ignore_ascii_case(name))
            .map(|(_, value)| *value)
    }

    /// A part of the answer, or of its request, as text.
    pub(super) fn part<'s>(
        &'s self,
        part: &Part,
        variable: impl Fn(&str) -> Option<&'s str>,
    ) -> Cow<'s, str> {
        match part {
            Part::Body => Cow::Borrowed(self.text()),
            Part::Status if self.status == 0 => Cow::Borrowed(""),
            Part::Status => Cow::Owned(self.status.to_string()),
            Part::Reason => Cow::Borrowed(self.reason),
            Part::Url => Cow::Borrowed(self.request.url.as_str()),
            Part::Headers => {
                let start = format!("HTTP/1.1 {} {}\n", self.status, self.reason);
                Cow::Owned(lines(start, self.headers.iter().copied()))
            }
            Part::RequestHeaders => {
                let headers = self.request.headers.iter().map(|(name, value)| (&**name, &**value));
                Cow::Owned(lines(String::new(), headers))
            }
            Part::Variable(name) => Cow::Borrowed(variable(name).unwrap_or_default()),
        }
    }

    /// The length of the head in bytes, as servers usually write it: with one space and CRLF.
    pub(super) fn head_bytes(&self) -> usize {
        let line = "HTTP/1.1 200 \r\n\r\n".len() + self.reason.len();
        self.headers.iter().fold(line, |sum, (name, value)| sum + name.len() + value.len() + ": \r\n".len())
    }
}

/// Fields as lines.
fn lines<'f>(start: String, fields: impl Iterator<Item = (&'f str, &'f str)>) -> String {
    fields.fold(start, |mut out, (name, value)| {
        // Writing into a String cannot fail.
        let _ = writeln!(out, "{name}: {value}");
        out
    })
}

impl State {
    /// What an answer comes to, given when it was sent and when it was complete.
    pub(super) fn answered(
        &mut self,
        prepared: &Prepared,
        world: &mut World,
        answer: &Answer<'_>,
        (sent, done): (Instant, Instant),
    ) -> Verdict {
        let mut pending = match std::mem::replace(&mut self.phase, Phase::Walking) {
            Phase::Waiting(pending) => pending,
            other => {
                self.phase = other;
                return Verdict { over: true, ok: false, message: Some("no request was out".to_owned()) };
            }
        };
        let began = *pending.sent.get_or_insert(sent);
        self.take_cookies(answer, &pending, prepared, world);
        let rules = prepared.scenario().redirects;
        let outcome = match follow(answer, &mut pending, rules) {
            Ok(true) => {
                self.phase = Phase::Redirecting(pending);
                return Verdict { over: false, ok: true, message: None };
            }
            Ok(false) => Ok(()),
            Err(message) => Err(message),
        };
        let elapsed = done.since(began);
        let received = Received::new(answer, &pending);
        let step = self.current_request(prepared);
        let failure = step.map_or(Ok(()), |step| self.judged(step, &received, elapsed, prepared, world));
        let result = match answer {
            Answer::Failed { name } => Err((*name).to_owned()),
            Answer::Answered { .. } => outcome.and(failure),
        };
        let answered = matches!(answer, Answer::Answered { .. });
        self.sampled((answered, result.is_ok()), done, elapsed);
        if result.is_err() {
            self.failed(prepared, done);
        }
        Verdict { over: true, ok: result.is_ok(), message: result.err() }
    }

    /// Extracts first, as JMeter's post-processors come before its assertions.
    fn judged(
        &mut self,
        step: &RequestStep,
        received: &Received<'_>,
        elapsed: units::Duration,
        prepared: &Prepared,
        world: &mut World,
    ) -> Result<(), String> {
        let mut scope = self.scope(prepared, world);
        let extracted = extract::all(&step.extractions, received, &mut scope);
        let checked = check::all(&step.assertions, received, elapsed, &mut scope);
        checked.and(extracted)
    }

    fn take_cookies(&mut self, answer: &Answer<'_>, pending: &Pending, prepared: &Prepared, world: &World) {
        let group = prepared.group(self.user.group);
        let Some(group) = group.filter(|group| group.cookies != CookiePolicy::Ignore) else { return };
        let Answer::Answered { headers, .. } = answer else { return };
        for (_, value) in headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie")) {
            self.user.cookies.take(value, &pending.url, world.epoch_ms(), &group.own_cookies);
        }
    }
}

/// Turns the request into the one that a redirect asks for; false where the answer is none, or is taken as it is.
fn follow(answer: &Answer<'_>, pending: &mut Pending, rules: RedirectRules) -> Result<bool, String> {
    let Answer::Answered { status, headers, .. } = answer else { return Ok(false) };
    if !is_redirect(*status, &pending.method, rules) {
        return Ok(false);
    }
    let location = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("location"));
    let Some((_, location)) = location else {
        return match rules {
            RedirectRules::Standard => Ok(false),
            // Also where none is followed.
            RedirectRules::GetOnly => Err(format!("the redirect ({status}) has no Location")),
        };
    };
    if pending.redirects_left == 0 {
        // Whoever wants none followed takes them as answers.
        return if pending.followed { Err("too many redirects".to_owned()) } else { Ok(false) };
    }
    let target = pending.url.join(location).map_err(|error| format!("redirect to `{location}`: {error}"))?;
    let target = http_url(target.as_str()).map_err(|error| format!("redirect: {error}"))?;
    pending.redirects_left -= 1;
    pending.followed = true;
    // A host that was not asked for must not learn what was meant for another.
    if target.host() != pending.url.host()
        || target.port_or_known_default() != pending.url.port_or_known_default()
    {
        let private = ["authorization", "cookie", "host"];
        pending.headers.retain(|(name, _)| !private.iter().any(|it| name.eq_ignore_ascii_case(it)));
    }
    // RFC 9110 15.4: 307 and 308 repeat the request; after the others everybody asks with GET.
    let asks_anew = rules == RedirectRules::GetOnly || matches!(status, 301..=303);
    if asks_anew && pending.method != "HEAD" {
        "GET".clone_into(&mut pending.method);
        pending.body = Arc::from([].as_slice());
        pending.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
    }
    pending.url = target;
    Ok(true)
}

/// Whether an answer of this status to a request of this method asks for another one.
fn is_redirect(status: u16, method: &str, rules: RedirectRules) -> bool {
    match (status, rules) {
        (307, RedirectRules::GetOnly) => ["GET", "HEAD"].contains(&method),
        (status, _) => matches!(status, 301 | 302 | 303 | 307 | 308),
    }
}
