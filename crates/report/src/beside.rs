//! What an imitated tool would not have said of a load.

use std::fmt::Write;

use crate::figure::{micros, per_s, percent, plain_line, share, time_us};
use crate::load::{CLOSED_MODEL_NOTE, HitReport};

/// The imitated tools know no rate at which requests are due.
const OPEN_MODEL_ELSEWHERE: &str =
    "No option here shows what a steady stream of requests\nmeets; proofload hit does, with its --rate.";

/// How far the figures above can be believed: what was not answered, Little's law, the generator's own load, and what the
/// audit says. `notes` are lines of the imitated tool's own.
pub fn beside_text(report: &HitReport, notes: &[String]) -> String {
    let result = &report.result;
    let times = &result.response_time_us;
    let mut text = format!("verdict       {}", report.validity.verdict);
    // Writing into a String cannot fail.
    for reason in &report.validity.reasons {
        let _ = write!(text, "\n              {}: {}", reason.kind.name(), reason.text);
    }
    let censored = share(times.censored, times.count);
    let _ = write!(text, "\ncensored      {} of {} requests ({censored})", times.censored, times.count);
    for note in notes {
        let _ = write!(text, "\n              {note}");
    }
    if let Some(law) = &result.littles_law {
        // Each stream of HTTP/2 has one under way.
        let of = if result.load.streams.is_some_and(|it| it > 1) { "at a time" } else { "connections" };
        let _ = write!(
            text,
            "\nLittle's law  {} × {} = {:.1} requests under way, of {:.0} {of}",
            per_s(law.throughput_per_s),
            time_us(law.mean_response_s * 1e6),
            law.throughput_per_s * law.mean_response_s,
            law.users
        );
    }
    let _ = write!(
        text,
        "\ngenerator     {} of CPU a request, busiest thread {} of a core, {}",
        micros(result.cpu_us_per_request),
        percent(result.generator.busy_share),
        plain_line(&result.load.io)
    );
    let _ = write!(text, "\n{CLOSED_MODEL_NOTE} {OPEN_MODEL_ELSEWHERE}");
    text
}
