//! What an agent may say at most. Whoever is at the other end of a stream may say anything: what is kept of it, shown, or
//! added up is bounded here, before anything is made of it.

use engine::GO_AWAY_KINDS;

use crate::bounds::COUNT_MAX;
use crate::message::{End, Hello, Ready, ThreadTotals, ToConductor};

/// A span, or those of all its threads together: thirty years.
const SPAN_MAX_NS: u64 = 1_000_000_000_000_000_000;
/// Bytes of a name.
const NAME_BYTES_MAX: usize = 256;
/// Letters of a reason.
const REASON_MAX: usize = 800;
/// Cores of a machine.
const CORES_MAX: u32 = 1 << 20;
/// Bytes that are kept of a wrong answer.
const BODY_BYTES_MAX: usize = 4096;

/// What is wrong with a message that no agent sends; it follows the agent's name.
pub(crate) fn check(message: &ToConductor) -> Result<(), &'static str> {
    let (fits, what) = match message {
        ToConductor::Hello(hello) => (hello_fits(hello), "does not say who it is in a few words"),
        ToConductor::Ready(ready) => (ready_fits(ready), "does not say what carries its load in a few words"),
        ToConductor::End(end) => (end_fits(end), "ended with totals that no load can have"),
        ToConductor::Pong { .. } | ToConductor::Refused { .. } | ToConductor::Interval(_) => (true, ""),
    };
    if fits { Ok(()) } else { Err(what) }
}

/// As much of a reason as is shown.
pub(crate) fn shown(why: &str) -> String {
    why.chars().take(REASON_MAX).collect()
}

fn hello_fits(hello: &Hello) -> bool {
    let Hello { version, node, cores } = hello;
    version.len() <= NAME_BYTES_MAX && node.len() <= NAME_BYTES_MAX && *cores <= CORES_MAX
}

fn ready_fits(ready: &Ready) -> bool {
    let Ready { threads: _, io, refused } = ready;
    io.len() <= NAME_BYTES_MAX && refused.as_ref().is_none_or(|it| it.len() <= REASON_MAX)
}

fn end_fits(end: &End) -> bool {
    let End { last: _, intended, threads, interrupted: _, orphaned: _, throttled_ns, handshakes } = end;
    let all = || threads.iter().map(Parts::of);
    *intended <= COUNT_MAX
        && throttled_ns.is_none_or(|ns| ns <= SPAN_MAX_NS)
        && handshakes.as_ref().is_none_or(|it| it.report().is_some())
        && sums(all().map(|it| it.counts)).into_iter().all(|sum| sum <= COUNT_MAX)
        && sums(all().map(|it| it.go_aways)).into_iter().all(|sum| sum <= COUNT_MAX)
        && sums(all().map(|it| it.spans_ns)).into_iter().all(|sum| sum <= SPAN_MAX_NS)
        && all().all(|it| it.body_bytes <= BODY_BYTES_MAX)
}

/// What a thread told at its end, by what bounds it. Its window is held to the time that went by.
struct Parts {
    counts: [u64; 13],
    go_aways: [u64; GO_AWAY_KINDS],
    spans_ns: [u64; 7],
    body_bytes: usize,
}

impl Parts {
    /// Field by field: one that is added to the totals and not to this does not compile.
    fn of(totals: &ThreadTotals) -> Self {
        let ThreadTotals {
            exchanges: _,
            intended,
            connections_opened,
            connections_opened_in_window,
            opening_failures,
            closed_by_server,
            go_aways,
            unsolicited,
            resent,
            stream_waits,
            stream_wait_ns,
            stream_wait_max_ns,
            window_waits,
            window_wait_ns,
            backlog_overflow,
            backlog_peak,
            first_wrong_answer,
            first_wrong_at_ns,
            window_start_ns: _,
            window_end_ns: _,
            cpu_ns,
            wall_ns,
            late_ns,
            no_buffer,
            completions_held_back,
        } = totals;
        let counts = [
            intended,
            connections_opened,
            connections_opened_in_window,
            opening_failures,
            closed_by_server,
            unsolicited,
            resent,
            stream_waits,
            window_waits,
            backlog_overflow,
            backlog_peak,
            no_buffer,
            completions_held_back,
        ];
        let spans_ns =
            [stream_wait_ns, stream_wait_max_ns, window_wait_ns, first_wrong_at_ns, cpu_ns, wall_ns, late_ns];
        let body = first_wrong_answer.as_ref().and_then(|it| it.1.as_ref());
        Self {
            counts: counts.map(|it| *it),
            go_aways: *go_aways,
            spans_ns: spans_ns.map(|it| *it),
            body_bytes: body.map_or(0, Vec::len),
        }
    }
}

fn sums<const N: usize>(all: impl Iterator<Item = [u64; N]>) -> [u64; N] {
    all.fold([0; N], |sums, more| std::array::from_fn(|at| sums[at].saturating_add(more[at])))
}
