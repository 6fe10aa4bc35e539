//! What a stack is asked, and what shows that it is up.

use http::Framing;
use toml::Spanned;
use units::{Bytes, Duration};

use super::super::raw::{RawEndpoint, RawFraming, RawReady};
use super::super::{ConnectionUse, Endpoint, Ready, ReadyWhen};
use super::Source;
use crate::error::PlanError;

fn framing(raw: RawFraming) -> Framing {
    match raw {
        RawFraming::None => Framing::None,
        RawFraming::ContentLength => Framing::ContentLength,
        RawFraming::Chunked => Framing::Chunked,
        RawFraming::CloseDelimited => Framing::CloseDelimited,
    }
}

impl Source<'_> {
    /// There is a first endpoint wherever something is asked for.
    pub(super) fn ready(
        &self,
        raw: RawReady,
        first: Option<&Endpoint>,
        patience: Duration,
    ) -> Result<Ready, PlanError> {
        let of_an_answer = [
            ("path", raw.path.as_ref().map(Spanned::span)),
            ("status", raw.status.as_ref().map(Spanned::span)),
        ];
        let of_an_answer = of_an_answer.into_iter().find_map(|(key, at)| Some((key, at?)));
        if let Some((key, at)) = of_an_answer.filter(|_| raw.accepts_connections) {
            let what = "a stack that is up when it accepts a connection is asked for nothing";
            return Err(self.error(at, what, format!("leave `{key}` or `accepts_connections` out")));
        }
        let when = match first.filter(|_| !raw.accepts_connections) {
            Some(first) => ReadyWhen::Answers {
                path: raw.path.map_or_else(|| Ok(first.path.clone()), |path| self.path(path))?,
                status: raw.status.map_or(Ok(first.status), |status| self.status(status))?,
            },
            None => ReadyWhen::Accepts,
        };
        let timeout = raw.timeout.map_or(Ok(patience), |timeout| self.patience(&timeout))?;
        Ok(Ready { when, timeout })
    }

    pub(super) fn endpoints(&self, raw: Vec<RawEndpoint>) -> Result<Vec<Endpoint>, PlanError> {
        if raw.is_empty() {
            let help = "add an [[endpoint]] with a name and a path";
            return Err(PlanError::new("the stack has no endpoint", help).in_file(self.file));
        }
        let mut endpoints: Vec<Endpoint> = Vec::new();
        for raw in raw {
            if endpoints.iter().any(|earlier| earlier.name == *raw.name.get_ref()) {
                let what = format!("a second endpoint is called `{}`", raw.name.get_ref());
                return Err(self.error(raw.name.span(), what, "give it a name of its own"));
            }
            endpoints.push(Endpoint {
                name: self.not_empty(raw.name)?,
                path: self.path(raw.path)?,
                status: raw.status.map_or(Ok(200), |status| self.status(status))?,
                body: raw.body,
                delay: raw.delay.map(|delay| self.duration(&delay)).transpose()?,
                connection: raw.connection.unwrap_or(ConnectionUse::KeepAlive),
                wire_bytes: raw.wire_bytes.map(Bytes),
                framing: raw.framing.map(framing),
                thread: raw.thread.map(|name| self.not_empty(name)).transpose()?,
                upstream_connections_max: raw
                    .upstream_connections_max
                    .map(|most| self.at_least_one(&most))
                    .transpose()?,
            });
        }
        Ok(endpoints)
    }

    fn path(&self, path: Spanned<String>) -> Result<String, PlanError> {
        // What is behind a # is never sent: a load would leave it out, and a check would not.
        let is_sent = |byte: u8| byte.is_ascii_graphic() && byte != b'#';
        if path.get_ref().starts_with('/') && path.get_ref().bytes().all(is_sent) {
            return Ok(path.into_inner());
        }
        let what = format!("`{}` is not the path of a request", path.get_ref());
        Err(self.error(path.span(), what, "begin it with / and write no spaces and no #"))
    }

    fn status(&self, status: Spanned<u16>) -> Result<u16, PlanError> {
        if (200..600).contains(status.get_ref()) {
            return Ok(status.into_inner());
        }
        let what = format!("{} is not the status of an answer", status.get_ref());
        Err(self.error(status.span(), what, "write one from 200 to 599"))
    }

    /// How many connections are held at most: a pool of none would be full whatever is seen.
    fn at_least_one(&self, most: &Spanned<u32>) -> Result<u32, PlanError> {
        if *most.get_ref() > 0 {
            return Ok(*most.get_ref());
        }
        let what = "a proxy that holds no connection forwards nothing";
        Err(self.error(most.span(), what, "write how many it holds at most, or leave it out"))
    }

    /// How long a stack may take: in no time none is up.
    fn patience(&self, text: &Spanned<String>) -> Result<Duration, PlanError> {
        let span = self.duration(text)?;
        if span.is_zero() {
            return Err(self.error(text.span(), "a timeout of zero", "give it a length, as in 30s"));
        }
        Ok(span)
    }

    fn duration(&self, text: &Spanned<String>) -> Result<Duration, PlanError> {
        text.get_ref().parse().map_err(|error| {
            let what = format!("`{}` is not a time", text.get_ref());
            self.error(text.span(), what, format!("{error}"))
        })
    }
}
