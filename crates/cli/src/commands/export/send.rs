//! Messages to a receiver over plain http, one after the other.

use std::time::Duration;

use exports::{Answered, NextTry, PartlyRefused, TRIES_MAX, next_try};
use plan::{without_user, without_value};
use ureq::Agent;
use url::{Position, Url};

use crate::exit::Failure;
use crate::output::say;

/// How long a connection attempt may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a try may take in all: what Prometheus itself allows a receiver.
const TRY_TIMEOUT: Duration = Duration::from_secs(30);
/// Bytes of an answer that are looked at.
const ANSWER_BYTES_MAX: u64 = 64 << 10;
/// Characters of an answer that are shown.
const SHOWN_CHARS_MAX: usize = 300;
/// What a transport that broke counts as: a receiver in trouble.
const IN_TROUBLE: u16 = 503;

/// Where messages go, and with what.
pub struct Receiver {
    option: &'static str,
    url: Url,
    headers: Vec<(String, String)>,
}

/// What a good answer says of a message.
pub enum Taken {
    /// All of it was taken.
    Whole,
    /// Not all of it was.
    Partly(PartlyRefused),
}

/// How a try ended.
enum Tried {
    Answered(Answered, Vec<u8>),
    /// Nobody is there.
    Nobody(String),
    /// It began, and broke off.
    Broke(String),
}

impl Receiver {
    /// Checks what was typed for `option`. A URL without a path is that of `path`.
    pub fn new(option: &'static str, text: &str, path: &str, headers: &[String]) -> Result<Self, Failure> {
        let shown = without_user(text);
        let usage = |what: &str, help: &str| Failure::usage(format!("{option}: `{shown}` {what}; {help}"));
        let example = "write it like http://127.0.0.1:9090/path";
        let mut url = Url::parse(text).map_err(|error| usage(&format!("is no URL ({error})"), example))?;
        match url.scheme() {
            "http" => {}
            "https" => {
                let help = "send to a collector or agent nearby, which does";
                return Err(usage("needs TLS, which `export` does not speak", help));
            }
            scheme => return Err(usage(&format!("has the scheme `{scheme}`"), example)),
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(usage("carries a user name or password", "send them as -H 'Authorization: Basic …'"));
        }
        if url.path() == "/" {
            url.set_path(path);
        }
        let headers = headers.iter().map(|line| header(line)).collect::<Result<_, _>>()?;
        Ok(Self { option, url, headers })
    }

    /// With what the form of the messages asks for.
    #[must_use]
    pub fn with_headers(mut self, headers: &[(&str, &str)]) -> Self {
        let owned = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        self.headers.extend(owned);
        self
    }

    /// Sends all messages in order, each again where that may help, and stops at the first that is not taken.
    pub fn send_all(&self, messages: &[Vec<u8>], judge: impl Fn(&[u8]) -> Taken) -> Result<(), Failure> {
        let agent = agent();
        let mut was_there = false;
        for (sent, message) in messages.iter().enumerate() {
            let so_far = format!("{sent} of {} messages were taken before", messages.len());
            let body = self.send(&agent, message, &so_far, &mut was_there)?;
            if let Taken::Partly(PartlyRefused { points, why }) = judge(&body) {
                let why = shown(why.as_bytes());
                return Err(
                    self.refused(&format!("took the message but {points} data points of it: {why}"), &so_far)
                );
            }
        }
        Ok(())
    }

    /// Sends one message until it is taken, and gives back what was answered. Where nobody is there who `was_there` before, it
    /// is being started anew, and is waited for as one in trouble is.
    fn send(
        &self,
        agent: &Agent,
        message: &[u8],
        so_far: &str,
        was_there: &mut bool,
    ) -> Result<Vec<u8>, Failure> {
        let mut tries = 0;
        loop {
            tries += 1;
            let (answered, body, broke) = match self.try_once(agent, message) {
                Tried::Nobody(why) if !*was_there => return Err(self.unreachable(&why, so_far)),
                Tried::Nobody(why) | Tried::Broke(why) => {
                    (Answered { status: IN_TROUBLE, retry_after_s: None }, Vec::new(), Some(why))
                }
                Tried::Answered(answered, body) => (answered, body, None),
            };
            *was_there = true;
            match (next_try(answered, tries), broke) {
                (NextTry::Done, _) => return Ok(body),
                (NextTry::After(pause_ms), _) => {
                    if tries == 1 {
                        self.say_that_it_waits();
                    }
                    std::thread::sleep(Duration::from_millis(pause_ms));
                }
                (NextTry::GiveUp, Some(why)) => return Err(self.unreachable(&why, so_far)),
                (NextTry::GiveUp, None) => {
                    let what = format!("answered {} to try {tries}: {}", answered.status, shown(&body));
                    return Err(self.refused(&what, so_far));
                }
            }
        }
    }

    fn try_once(&self, agent: &Agent, message: &[u8]) -> Tried {
        let mut request = agent.post(self.url.as_str());
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let mut response = match request.send(message) {
            Ok(response) => response,
            Err(error) if is_nobody(&error) => return Tried::Nobody(error.to_string()),
            Err(error) => return Tried::Broke(error.to_string()),
        };
        let retry_after =
            response.headers().get("retry-after").and_then(|it| it.to_str().ok()?.trim().parse().ok());
        let answered = Answered { status: response.status().as_u16(), retry_after_s: retry_after };
        // What stands behind the bound or is cut off says nothing more of whether it was taken.
        let body =
            response.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_vec().unwrap_or_default();
        Tried::Answered(answered, body)
    }

    /// What goes on now may take a while, and nothing else shows it.
    fn say_that_it_waits(&self) {
        let (option, place) = (self.option, self.place());
        say(format_args!(
            "proofload: {option}: {place} did not take a message; it is tried up to {TRIES_MAX} times"
        ));
    }

    /// Where it is, without the query: that may be a key.
    fn place(&self) -> &str {
        &self.url[..Position::AfterPath]
    }

    fn unreachable(&self, why: &str, so_far: &str) -> Failure {
        let (option, place) = (self.option, self.place());
        Failure::unreachable(format!(
            "{option}: nobody answers at {place} ({why}); {so_far}. Check the address, and export again: the record is as it \
             was"
        ))
    }

    fn refused(&self, what: &str, so_far: &str) -> Failure {
        let (option, place) = (self.option, self.place());
        Failure::system(format!("{option}: {place} {what}; {so_far}. The record is as it was"))
    }
}

fn agent() -> Agent {
    Agent::config_builder()
        .timeout_connect(Some(CONNECT_TIMEOUT))
        .timeout_global(Some(TRY_TIMEOUT))
        .http_status_as_error(false)
        // What is sent is for whom was named.
        .max_redirects(0)
        .proxy(None)
        .user_agent(concat!("proofload/", env!("CARGO_PKG_VERSION")))
        .build()
        .into()
}

/// Whether there is nobody, or no way to anybody: what will be so the next second, too.
fn is_nobody(error: &ureq::Error) -> bool {
    use std::io::ErrorKind;
    match error {
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => true,
        ureq::Error::Io(error) => matches!(
            error.kind(),
            ErrorKind::ConnectionRefused | ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable
        ),
        ureq::Error::Timeout(which) => matches!(which, ureq::Timeout::Connect | ureq::Timeout::Resolve),
        _ => false,
    }
}

fn header(line: &str) -> Result<(String, String), Failure> {
    let no_header = || {
        let shown = without_value(line);
        Failure::usage(format!("the header `{shown}` is none; write it like 'Name: value'"))
    };
    let (name, value) = line.split_once(':').ok_or_else(no_header)?;
    let (name, value) = (name.trim(), value.trim());
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    // Of what is beyond ASCII nobody knows in which letters it would be read.
    let is_shown = |byte: u8| byte == b'\t' || byte == b' ' || byte.is_ascii_graphic();
    let is_good = !name.is_empty() && name.bytes().all(is_token) && value.bytes().all(is_shown);
    if is_good { Ok((name.to_owned(), value.to_owned())) } else { Err(no_header()) }
}

/// The beginning of an answer on one line, without what would steer a terminal.
fn shown(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let plain = text.trim().chars().map(|char| if char.is_control() { ' ' } else { char });
    let text: String = plain.take(SHOWN_CHARS_MAX).collect();
    if text.is_empty() { "no reason given".to_owned() } else { text }
}
