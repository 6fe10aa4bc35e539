//! Puts a request together.

use std::sync::Arc;

use engine::Waits;
use units::{Duration, Instant};
use url::{Url, form_urlencoded};

use super::cookies::Own;
use super::user::{Scope, TEXT_BYTES_MAX};
use super::walk::{Phase, State};
use super::{Ended, Next, Outgoing, Unsent};
use crate::model::{Check, CookiePolicy, Extractor, Group, Multipart, OwnCookie, Part, RequestStep};
use crate::multipart::{self, Whole};
use crate::prepared::{Prepared, http_url};
use crate::template::Template;
use crate::world::World;

/// Requests in a row at most that can't be sent, without a pause.
const UNSENT_MAX: u32 = 1_000;

/// A request that is out, and what is needed to follow a redirect.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) label: String,
    pub(super) method: String,
    pub(super) url: Url,
    /// Without cookies.
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Arc<[u8]>,
    pub(super) keep_alive: bool,
    pub(super) waits: Waits,
    pub(super) reads_body: bool,
    pub(super) redirects_left: u32,
    /// Whether a redirect was followed.
    pub(super) followed: bool,
    /// When the first request of the sample was sent, once one was answered.
    pub(super) sent: Option<Instant>,
}

impl State {
    /// Puts the request of a step together and sends it.
    pub(super) fn send(&mut self, step: &RequestStep, prepared: &Prepared, world: &mut World) -> Next {
        let mut scope = self.scope(prepared, world);
        let method = scope.text(&step.method).trim().to_owned();
        let url_text = scope.text(&step.url).into_owned();
        let is_query = matches!(method.as_str(), "GET" | "DELETE" | "HEAD");
        let query = (is_query && !step.form.is_empty()).then(|| form(&step.form, &mut scope));
        // As in JMeter it has the values that were drawn for the address.
        let label = scope.text(&step.name).into_owned();
        match put_together(step, (method.clone(), &url_text, query), label.clone(), &mut scope) {
            Ok(pending) => self.put_out(Box::new(pending), false, prepared, world),
            Err(message) => {
                let unsent = Unsent { label, method, url: url_text, message, within_parent: false };
                self.unsent(unsent, world.now)
            }
        }
    }

    /// Follows a redirect.
    pub(super) fn redirect(&mut self, pending: Box<Pending>, prepared: &Prepared, world: &mut World) -> Next {
        self.put_out(pending, true, prepared, world)
    }

    fn put_out(
        &mut self,
        pending: Box<Pending>,
        continues: bool,
        prepared: &Prepared,
        world: &mut World,
    ) -> Next {
        let mut headers = pending.headers.clone();
        let group = prepared.group(self.user.group);
        if let Some(group) = group.filter(|group| group.cookies != CookiePolicy::Ignore) {
            let own = self.own_cookies(group, prepared, world);
            let cookies = self.user.cookies.header(&pending.url, world.epoch_ms(), &own);
            if let Some(cookies) = cookies {
                add_cookies(&mut headers, &cookies);
            }
        }
        let outgoing = Outgoing {
            label: pending.label.clone(),
            method: pending.method.clone(),
            url: pending.url.clone(),
            headers,
            body: Arc::clone(&pending.body),
            keep_alive: pending.keep_alive,
            waits: pending.waits,
            reads_body: pending.reads_body,
            continues,
            within_parent: self.within_parent(),
        };
        // Cookies are texts, too.
        let fits = self.user.take_overflow();
        let fits = fits.and_then(|()| outgoing.with_spec(world.check()).map_err(|error| error.to_string()));
        match fits {
            Ok(()) => {
                self.unsent = 0;
                self.phase = Phase::Waiting(pending);
                Next::Request(outgoing)
            }
            Err(message) => {
                let Outgoing { label, method, url, .. } = outgoing;
                let unsent = Unsent { label, method, url: url.into(), message, within_parent: false };
                self.unsent(unsent, world.now)
            }
        }
    }

    /// The cookies of the group's own that no server has replaced, put together.
    fn own_cookies(&mut self, group: &Group, prepared: &Prepared, world: &mut World) -> Vec<Own> {
        let left = group.own_cookies.iter().enumerate();
        let left: Vec<&OwnCookie> =
            left.filter(|(place, _)| !self.user.cookies.is_replaced(*place)).map(|(_, own)| own).collect();
        let mut scope = self.scope(prepared, world);
        let mut room = TEXT_BYTES_MAX;
        let mut text = |template: &Template| scope.text_within(template, &mut room).into_owned();
        let put_together = |own: &OwnCookie| Own {
            name: text(&own.name),
            value: text(&own.value),
            domain: text(&own.domain),
            with_subdomains: own.with_subdomains,
            path: text(&own.path),
            secure: own.secure,
        };
        left.into_iter().map(put_together).collect()
    }

    fn unsent(&mut self, unsent: Unsent, now: Instant) -> Next {
        let within_parent = self.within_parent();
        self.unsent += 1;
        self.sampled((false, false), now, Duration::ZERO);
        if self.unsent > UNSENT_MAX {
            return self.end(Ended::Endless);
        }
        self.phase = Phase::Unsent;
        Next::Unsent(Unsent { within_parent, ..unsent })
    }

    fn within_parent(&self) -> bool {
        self.open.iter().any(|open| open.parent_only)
    }

    /// Takes note of a sample that is over, of whether it was answered, and of whether by a good answer.
    pub(super) fn sampled(&mut self, (answered, ok): (bool, bool), done: Instant, elapsed: Duration) {
        self.user.last_ok = ok;
        for open in &mut self.open {
            open.samples = open.samples.saturating_add(1);
            open.failed = open.failed.saturating_add(u32::from(!ok));
            open.is_answered &= answered;
            open.elapsed += elapsed;
            open.last = done;
        }
    }
}

fn put_together(
    step: &RequestStep,
    (method, url_text, query): (String, &str, Option<String>),
    label: String,
    scope: &mut Scope<'_>,
) -> Result<Pending, String> {
    // First of what went before and of its address, then of the rest.
    scope.user.take_overflow()?;
    let mut url = http_url(url_text)?;
    if let Some(query) = &query {
        let before = url.query().filter(|before| !before.is_empty());
        let query = before.map_or_else(|| query.clone(), |before| format!("{before}&{query}"));
        url.set_query(Some(&query));
    }
    let mut headers: Vec<(String, String)> = step
        .headers
        .iter()
        .map(|(name, value)| (scope.text(name).trim().to_owned(), scope.text(value).trim().to_owned()))
        .collect();
    let mut body = scope.text(&step.body).into_owned().into_bytes();
    if query.is_none() && !step.form.is_empty() {
        if !body.is_empty() {
            body.push(b'&');
        }
        body.extend_from_slice(form(&step.form, scope).as_bytes());
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
            headers.push(("Content-Type".to_owned(), "application/x-www-form-urlencoded".to_owned()));
        }
    }
    let whole = step.multipart.as_ref().map(|it| in_parts(it, &mut headers, scope));
    scope.user.take_overflow()?;
    let of_file = step.body_file.as_deref().and_then(|file| scope.prepared.files().get(file).cloned());
    Ok(Pending {
        label,
        method,
        url,
        headers,
        body: whole.or(of_file).unwrap_or_else(|| body.into()),
        keep_alive: step.keep_alive,
        waits: step.waits.unwrap_or_else(|| scope.prepared.scenario().waits()),
        reads_body: reads_body(step),
        redirects_left: step.redirects_max,
        followed: false,
        sent: None,
    })
}

/// A body of several parts, whose type becomes that of the request.
fn in_parts(multipart: &Multipart, headers: &mut Vec<(String, String)>, scope: &mut Scope<'_>) -> Arc<[u8]> {
    let prepared = scope.prepared;
    let Whole { kind, body } = prepared.whole(multipart).cloned().unwrap_or_else(|| {
        let boundary = multipart::boundary(&mut scope.user.random);
        let mut room = TEXT_BYTES_MAX;
        Whole::filled(multipart, prepared.files(), &boundary, |text| scope.text_within(text, &mut room))
    });
    headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
    headers.push(("Content-Type".to_owned(), kind));
    body
}

fn form(fields: &[(Template, Template, bool)], scope: &mut Scope<'_>) -> String {
    let mut out = String::new();
    for (name, value, encode) in fields {
        let (name, value) = (scope.text(name), scope.text(value));
        if !out.is_empty() {
            out.push('&');
        }
        if *encode {
            out.extend(form_urlencoded::byte_serialize(name.as_bytes()));
            out.push('=');
            out.extend(form_urlencoded::byte_serialize(value.as_bytes()));
        } else {
            out.push_str(&name);
            out.push('=');
            out.push_str(&value);
        }
    }
    out
}

/// Whether anything looks at the answer's body.
fn reads_body(step: &RequestStep) -> bool {
    let of_part = |part: &Part| *part == Part::Body;
    step.extractions.iter().any(|it| of_part(&it.part) && !matches!(it.how, Extractor::Header { .. }))
        || step.assertions.iter().any(|it| match &it.check {
            Check::Text { part, .. } => of_part(part),
            Check::Size { part, .. } => part.as_ref().is_none_or(of_part),
            Check::Json { .. } => true,
            Check::DurationAtMost(_) => false,
        })
}

fn add_cookies(headers: &mut Vec<(String, String)>, cookies: &str) {
    match headers.iter_mut().find(|(name, _)| name.eq_ignore_ascii_case("cookie")) {
        Some((_, value)) => {
            value.push_str("; ");
            value.push_str(cookies);
        }
        None => headers.push(("Cookie".to_owned(), cookies.to_owned())),
    }
}
