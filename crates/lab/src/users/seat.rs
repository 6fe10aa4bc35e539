//! A connection slot, the user on it, and the request that is out.

use engine::Sample;
use http::{HEADERS_CAP, Response};
use scenario::{Answer, Outgoing, Session, StepSample, Verdict, World};
use units::{Duration, Instant};

/// Bytes of an answer's body that are kept for a user to look at, at most; what is beyond is not looked at.
const BODY_BYTES_MAX: usize = 16 << 20;
/// Bytes of an answer's heads, interim ones included, that are kept at most.
const HEAD_BYTES_MAX: usize = 64 << 10;

/// One seat.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) group: usize,
    /// Within its group, from 0.
    pub(super) number: u32,
    /// How many users have sat on it.
    pub(super) users: u32,
    /// The number of the user on it, within the group.
    pub(super) user: u32,
    /// When the next user comes, where that is known.
    pub(super) due: Option<Instant>,
    pub(super) session: Option<Session>,
    /// When the user's first request was meant to start.
    pub(super) intended: Option<Instant>,
    pub(super) out: Option<Box<Out>>,
    /// A sample whose redirect is followed.
    pub(super) so_far: Option<StepSample>,
}

/// A request that is out.
#[derive(Debug)]
pub(super) struct Out {
    pub(super) outgoing: Outgoing,
    head: Vec<u8>,
    body: Vec<u8>,
    first_byte: Option<Instant>,
}

impl Seat {
    pub(super) fn new(group: usize, number: u32) -> Self {
        Self {
            group,
            number,
            users: 0,
            user: number,
            due: None,
            session: None,
            intended: None,
            out: None,
            so_far: None,
        }
    }

    pub(super) fn begin(&mut self, outgoing: Outgoing) {
        self.out = Some(Box::new(Out { outgoing, head: Vec::new(), body: Vec::new(), first_byte: None }));
    }

    pub(super) fn received(&mut self, bytes: &[u8], now: Instant) {
        let Some(out) = &mut self.out else { return };
        out.first_byte.get_or_insert(now);
        // Once a body has begun there is nothing of the head in what follows.
        if out.body.is_empty() && out.head.len() < HEAD_BYTES_MAX {
            out.head.extend_from_slice(bytes);
        }
    }

    pub(super) fn body(&mut self, piece: &[u8]) {
        let Some(out) = &mut self.out else { return };
        if out.outgoing.reads_body || out.body.is_empty() {
            let room = BODY_BYTES_MAX - out.body.len().min(BODY_BYTES_MAX);
            out.body.extend_from_slice(&piece[..piece.len().min(room)]);
        }
    }
}

impl Out {
    /// What the user makes of the answer.
    pub(super) fn judge(
        &self,
        session: &mut Session,
        world: &mut World,
        sample: &Sample,
        response: Option<&Response>,
    ) -> Verdict {
        let sent = sample.sent.unwrap_or(sample.ready);
        let mut fields = [httparse::EMPTY_HEADER; HEADERS_CAP as usize];
        let mut parsed = httparse::Response::new(&mut fields);
        let Some(response) = response else {
            let answer = Answer::Failed { name: sample.outcome.name() };
            return session.answered(world, &answer, sent, sample.done);
        };
        // The engine has parsed it before; interim answers may stand before the one that counts.
        let _ = parsed.parse(last_head(&self.head, response));
        let headers: Vec<(&str, &str)> = parsed
            .headers
            .iter()
            .filter_map(|field| Some((field.name, std::str::from_utf8(field.value).ok()?)))
            .collect();
        let reason = parsed.reason.unwrap_or_default();
        let answer =
            Answer::Answered { status: response.status, reason, headers: &headers, body: &self.body };
        session.answered(world, &answer, sent, sample.done)
    }

    /// The sample as it is reported, together with those before it whose redirects were followed.
    pub(super) fn into_sample(
        self,
        sample: &Sample,
        response: Option<&Response>,
        verdict: Verdict,
        before: Option<StepSample>,
    ) -> StepSample {
        let Self { outgoing, head, first_byte, .. } = self;
        let sent = sample.sent.unwrap_or(sample.ready);
        let reason = response.and_then(|_| reason_of(&head)).unwrap_or_default();
        let latency = first_byte.map_or(Duration::ZERO, |at| at.since(sample.intended));
        let mut whole = StepSample {
            label: outgoing.label,
            method: outgoing.method,
            url: outgoing.url,
            intended: sample.intended,
            done: sample.done,
            elapsed: sample.done.since(sample.intended),
            latency,
            connect: sample.ready.since(sample.intended).min(sent.since(sample.intended)),
            outcome: sample.outcome,
            status: response.map(|it| it.status),
            reason,
            ok: verdict.ok,
            message: verdict.message,
            received_bytes: sample.received_bytes,
            sent_bytes: if sample.sent.is_some() { outgoing.bytes.len() as u64 } else { 0 },
            within_parent: outgoing.within_parent,
        };
        if let Some(before) = before {
            whole.label = before.label;
            whole.intended = before.intended;
            whole.elapsed += before.elapsed;
            whole.latency += before.elapsed;
            whole.connect += before.connect;
            whole.received_bytes += before.received_bytes;
            whole.sent_bytes += before.sent_bytes;
        }
        whole
    }
}

/// The last head of `head`, which may hold interim ones (100, 103) before it and some of the body behind.
fn last_head<'a>(head: &'a [u8], response: &Response) -> &'a [u8] {
    let mut rest = head;
    loop {
        let mut fields = [httparse::EMPTY_HEADER; HEADERS_CAP as usize];
        let mut parsed = httparse::Response::new(&mut fields);
        match parsed.parse(rest) {
            Ok(httparse::Status::Complete(length))
                if parsed.code != Some(response.status) && parsed.code.is_some_and(|code| code < 200) =>
            {
                rest = &rest[length..];
            }
            _ => return rest,
        }
    }
}

/// What stands behind the status.
fn reason_of(head: &[u8]) -> Option<String> {
    let line = head.split(|byte| *byte == b'\r').next()?;
    let text = std::str::from_utf8(line).ok()?;
    text.splitn(3, ' ').nth(2).map(str::to_owned)
}
