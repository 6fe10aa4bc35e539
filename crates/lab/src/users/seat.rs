//! A connection slot, the user on it, and the request that is out.

use engine::{Outcome, Sample};
use http::{AnswerHead, Protocol, Response};
use scenario::{Answer, Outgoing, Session, StepSample, Verdict, World};
use units::{Duration, Instant};

/// Bytes of an answer's body that are kept for a user to look at, at most; what is beyond is not looked at.
const BODY_BYTES_MAX: usize = 16 << 20;

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
    /// Until when the user pauses; for ever where only others end its pause.
    pub(super) pauses_until: Option<Instant>,
    pub(super) out: Option<Box<Out>>,
    /// A sample whose redirect is followed.
    pub(super) so_far: Option<StepSample>,
}

/// A request that is out.
#[derive(Debug)]
pub(super) struct Out {
    pub(super) outgoing: Outgoing,
    /// What stands behind the status of the answer.
    reason: String,
    /// The answer's fields, those that are text.
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    first_byte: Option<Instant>,
    /// Of the request, once it went out.
    sent_bytes: u64,
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
            pauses_until: None,
            out: None,
            so_far: None,
        }
    }

    pub(super) fn begin(&mut self, outgoing: Outgoing) {
        self.out = Some(Box::new(Out::new(outgoing)));
    }

    /// Has `protocol` make the request that is out.
    pub(super) fn ask(&mut self, place: u32, protocol: &mut impl Protocol, wire: &mut Vec<u8>) {
        let Some(out) = &mut self.out else { return };
        out.forget_answer();
        let is_secured = out.outgoing.url.scheme() == "https";
        out.sent_bytes = out.outgoing.with_spec(|spec| protocol.ask_for(place, spec, is_secured, wire));
    }

    /// The first bytes of the answer came.
    pub(super) fn begun(&mut self, now: Instant) {
        if let Some(out) = &mut self.out {
            out.first_byte = Some(now);
        }
    }

    pub(super) fn head(&mut self, head: &AnswerHead<'_>) {
        let Some(out) = &mut self.out else { return };
        head.reason.clone_into(&mut out.reason);
        let text = |(name, value): (&str, &[u8])| {
            Some((name.to_owned(), std::str::from_utf8(value).ok()?.to_owned()))
        };
        out.headers = head.fields().filter_map(text).collect();
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
    fn new(outgoing: Outgoing) -> Self {
        let (reason, headers, body) = (String::new(), Vec::new(), Vec::new());
        Self { outgoing, reason, headers, body, first_byte: None, sent_bytes: 0 }
    }

    /// What came of an answer is of none: the request goes out again.
    fn forget_answer(&mut self) {
        self.reason.clear();
        self.headers.clear();
        self.body.clear();
        self.first_byte = None;
    }

    /// What the user makes of the answer.
    pub(super) fn judge(
        &self,
        session: &mut Session,
        world: &mut World,
        sample: &Sample,
        response: Option<&Response>,
    ) -> Verdict {
        // From when the user wanted it, as in its sample: an assertion and a transaction are of the same time.
        let wanted = sample.intended;
        if sample.outcome == Outcome::InFlight {
            return session.abandoned(wanted, sample.done);
        }
        let Some(response) = response else {
            let answer = Answer::Failed { name: sample.outcome.name() };
            return session.answered(world, &answer, wanted, sample.done);
        };
        let headers: Vec<(&str, &str)> =
            self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let (status, reason) = (response.status, self.reason.as_str());
        let answer = Answer::Answered { status, reason, headers: &headers, body: &self.body };
        session.answered(world, &answer, wanted, sample.done)
    }

    /// The sample as it is reported, together with those before it whose redirects were followed.
    pub(super) fn into_sample(
        self,
        sample: &Sample,
        response: Option<&Response>,
        verdict: Verdict,
        before: Option<StepSample>,
    ) -> StepSample {
        let Self { outgoing, reason, first_byte, sent_bytes, .. } = self;
        let sent = sample.sent.unwrap_or(sample.ready);
        let reason = response.map(|_| reason).unwrap_or_default();
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
            sent_bytes: if sample.sent.is_some() { sent_bytes } else { 0 },
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
