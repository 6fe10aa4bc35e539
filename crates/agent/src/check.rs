//! What an agent may say at most. Whoever is at the other end of a stream may say anything: what is kept of it, shown, or
//! added up is bounded here, before anything is made of it.

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
    let End { last: _, intended, threads, interrupted: _, orphaned: _, throttled_ns } = end;
    let of_all =
        |what: fn(&ThreadTotals) -> u64| threads.iter().fold(0_u64, |sum, it| sum.saturating_add(what(it)));
    let counts: [fn(&ThreadTotals) -> u64; 13] = [
        |it| it.intended,
        |it| it.connections_opened,
        |it| it.connections_opened_in_window,
        |it| it.opening_failures,
        |it| it.closed_by_server,
        |it| it.unsolicited,
        |it| it.resent,
        |it| it.stream_waits,
        |it| it.window_waits,
        |it| it.backlog_overflow,
        |it| it.backlog_peak,
        |it| it.no_buffer,
        |it| it.completions_held_back,
    ];
    let spans_ns: [fn(&ThreadTotals) -> u64; 5] = [
        |it| it.stream_wait_ns,
        |it| it.stream_wait_max_ns,
        |it| it.cpu_ns,
        |it| it.wall_ns,
        |it| it.late_ns,
    ];
    let body =
        |it: &ThreadTotals| it.first_wrong_answer.as_ref().and_then(|it| it.1.as_ref()).map_or(0, Vec::len);
    *intended <= COUNT_MAX
        && throttled_ns.is_none_or(|ns| ns <= SPAN_MAX_NS)
        && counts.into_iter().all(|what| of_all(what) <= COUNT_MAX)
        && spans_ns.into_iter().all(|what| of_all(what) <= SPAN_MAX_NS)
        && threads.iter().all(|it| body(it) <= BODY_BYTES_MAX)
}
