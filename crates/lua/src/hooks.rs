//! The hooks of a load thread, as the engine asks them.

use engine::{Due, Next, Sample, Script, Waits};
use http::{AnswerHead, Http1, RequestKind, Response};
use mlua::{Function, LuaString, Table};
use units::{Duration, Instant};

use crate::environment::{Environment, ScriptError};

/// Bytes of a body that a `response` hook is shown at most; a longer one ends the load with an error.
const BODY_BYTES_MAX: usize = 64 << 20;

/// One thread's script. Every connection is a user.
#[derive(Debug)]
pub struct Hooks {
    environment: Environment,
    request: Option<Function>,
    response: Option<Function>,
    delay: Option<Function>,
    constant: Vec<u8>,
    /// The number of the server that this thread's address stands for.
    target: u32,
    users: Vec<User>,
    error: Option<ScriptError>,
}

#[derive(Debug, Default, Clone)]
struct User {
    request: Vec<u8>,
    /// Names and values of the answer's fields.
    headers: Vec<(String, Vec<u8>)>,
    body: Vec<u8>,
    /// Whether the pause before the next request was made.
    has_paused: bool,
}

impl Hooks {
    /// The hooks of a script whose `init` was called, for `users` connections to the server with the number `target`.
    pub fn new(environment: Environment, users: u32, target: u32) -> Result<Self, ScriptError> {
        let constant = environment.request()?;
        Ok(Self {
            request: environment.hook("request"),
            response: environment.hook("response"),
            delay: environment.hook("delay"),
            environment,
            constant,
            target,
            users: vec![User::default(); users as usize],
            error: None,
        })
    }

    /// The state, and what went wrong in it.
    pub fn into_parts(self) -> (Environment, Option<ScriptError>) {
        (self.environment, self.error)
    }

    fn step(&mut self, user: u32, now: Instant) -> Result<Next, ScriptError> {
        let it = &mut self.users[user as usize];
        if let Some(delay) = &self.delay
            && !std::mem::replace(&mut it.has_paused, true)
        {
            // Nothing is no time, as with wrk.
            let ms: Option<f64> = delay.call(()).map_err(|error| ScriptError::within("delay", &error))?;
            if let Some(ms) = ms.filter(|ms| *ms >= 1.0) {
                return Ok(Next::Pause(Duration::from_nanos((ms * 1e6) as u64)));
            }
        }
        it.has_paused = false;
        it.headers.clear();
        it.body.clear();
        let request = match &self.request {
            None => &self.constant,
            Some(request) => {
                let text: LuaString =
                    request.call(()).map_err(|error| ScriptError::within("request", &error))?;
                it.request.clear();
                it.request.extend_from_slice(&text.as_bytes());
                &it.request
            }
        };
        let (kind, waits) = (kind_of(request)?, Waits::OF_LOAD);
        Ok(Next::Send(Due { intended: now, kind, target: self.target, waits }))
    }

    fn tell(&mut self, user: u32, response: &Response) -> Result<(), ScriptError> {
        let Some(hook) = &self.response else { return Ok(()) };
        let it = &self.users[user as usize];
        let headers = self.headers(&it.headers)?;
        let body = self.environment.lua().create_string(&it.body)?;
        hook.call::<()>((response.status, headers, body))
            .map_err(|error| ScriptError::within("response", &error))
    }

    fn headers(&self, fields: &[(String, Vec<u8>)]) -> Result<Table, ScriptError> {
        let table = self.environment.lua().create_table()?;
        for (name, value) in fields {
            table.set(name.as_str(), self.environment.lua().create_string(value)?)?;
        }
        Ok(table)
    }
}

/// Whether the answer to `request` has a body. A script may send one request at a time.
fn kind_of(request: &[u8]) -> Result<RequestKind, ScriptError> {
    let head_ends = request.windows(4).position(|four| four == b"\r\n\r\n");
    let Some(head_ends) = head_ends else { return Err(not_whole()) };
    let (head, rest) = (&request[..head_ends], &request[head_ends + 4..]);
    let behind: &[u8] = match body_of(head) {
        Body::Length(bytes) => rest.get(bytes..).ok_or_else(not_whole)?,
        Body::Chunked => chunks_end(rest).map_or(&[][..], |end| &rest[end..]),
        Body::Unknown => &[],
    };
    // Servers pass over empty lines before a request, and nobody answers them.
    if behind.iter().any(|byte| !b"\r\n".contains(byte)) {
        let what = "request() returned several requests in one text; pipelining is not supported, because the \
                    answers of one batch can't be timed one by one";
        return Err(ScriptError(what.into()));
    }
    Ok(if request.starts_with(b"HEAD ") { RequestKind::Head } else { RequestKind::Ordinary })
}

fn not_whole() -> ScriptError {
    ScriptError("request() returned no whole request; return wrk.format(…)".into())
}

/// How long the body of a request is.
enum Body {
    /// So many bytes.
    Length(usize),
    /// Its chunks say so.
    Chunked,
    /// Its head says something that is no length, which is for the server to refuse.
    Unknown,
}

/// What a head says of the body behind it.
fn body_of(head: &[u8]) -> Body {
    let mut body = Body::Length(0);
    for line in head.split(|byte| *byte == b'\n') {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if name.eq_ignore_ascii_case(b"transfer-encoding") {
            return Body::Chunked;
        }
        if name.eq_ignore_ascii_case(b"content-length") {
            let length = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
            body = length.map_or(Body::Unknown, Body::Length);
        }
    }
    body
}

/// Where a chunked body ends, if it is one and its end is there.
fn chunks_end(body: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        let line = body.get(at..)?.split(|byte| *byte == b'\n').next()?;
        let size = line.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
        let size = usize::from_str_radix(std::str::from_utf8(size).ok()?, 16).ok()?;
        at = at.checked_add(line.len() + 1)?;
        if size == 0 {
            break;
        }
        // The data, and the end of its line.
        at = at.checked_add(size)?.checked_add(2)?;
    }
    // Trailers, up to an empty line.
    loop {
        let line = body.get(at..)?.split(|byte| *byte == b'\n').next()?;
        at = at.checked_add(line.len() + 1)?;
        if line.trim_ascii().is_empty() {
            return (at <= body.len()).then_some(at);
        }
    }
}

impl Script for Hooks {
    fn next(&mut self, user: u32, now: Instant) -> Next {
        if self.error.is_some() {
            return Next::EndNow;
        }
        if self.environment.is_stopped() {
            return Next::EndLoad;
        }
        self.step(user, now).unwrap_or_else(|error| {
            self.error = Some(error);
            Next::EndNow
        })
    }

    /// What the script made of its request is HTTP/1.1, and goes out as it is.
    fn ask(&mut self, user: u32, _: u32, http: &mut Http1, out: &mut Vec<u8>) {
        let whole = if self.request.is_some() { &self.users[user as usize].request } else { &self.constant };
        http.ask_as_written(whole, out);
    }

    fn head(&mut self, user: u32, head: &AnswerHead<'_>, _: Instant) {
        if self.response.is_some() {
            let owned = |(name, value): (&str, &[u8])| (name.to_owned(), value.to_vec());
            self.users[user as usize].headers = head.fields().map(owned).collect();
        }
    }

    fn body(&mut self, user: u32, piece: &[u8]) {
        if self.response.is_none() {
            return;
        }
        let kept = &mut self.users[user as usize].body;
        if kept.len() + piece.len() > BODY_BYTES_MAX {
            let what =
                format!("an answer is longer than the {BODY_BYTES_MAX} bytes that response() is shown");
            self.error.get_or_insert(ScriptError(what));
            return;
        }
        kept.extend_from_slice(piece);
    }

    fn ended(&mut self, user: u32, _: &Sample, response: Option<&Response>) -> bool {
        let Some(response) = response else { return false };
        if self.error.is_none()
            && let Err(error) = self.tell(user, response)
        {
            self.error = Some(error);
        }
        (200..400).contains(&response.status)
    }
}
