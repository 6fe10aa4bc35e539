//! The server's pods while a load went on.

use std::fmt::Write;

use record::{LoadResult, PodSample, ServerPod};

use crate::figure::plain_line;

/// Of many, those that used the most.
const SHOWN_MAX: usize = 5;

/// The lines that `hit` shows of them: what they used of what they may, the busiest first, and what is not known. None where they
/// were not watched.
pub(crate) fn server_pods_text(result: &LoadResult) -> String {
    let Some(server) = &result.server_pods else { return String::new() };
    let (labels, namespace) = (plain_line(&server.labels), plain_line(&server.namespace));
    let mut text = format!("server pods {} of {labels} in {namespace}\n", server.pods.len());
    let mut known: Vec<(f64, &ServerPod)> =
        server.pods.iter().filter_map(|pod| Some((cpu_cores(&pod.samples)?, pod))).collect();
    known.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    for (cores, pod) in known.iter().take(SHOWN_MAX) {
        // Writing into a String cannot fail.
        let _ = writeln!(text, "            {}", line(*cores, pod));
    }
    if known.len() > SHOWN_MAX {
        let _ = writeln!(text, "            and {} more", known.len() - SHOWN_MAX);
    }
    let unknown = server.pods.len() - known.len();
    if unknown > 0 && !known.is_empty() {
        let _ = writeln!(text, "            no sample of {unknown} of them");
    }
    if let Some(why) = &server.not_known {
        let _ = writeln!(text, "            not known: {}", plain_line(why));
    }
    text
}

fn line(cores: f64, pod: &ServerPod) -> String {
    let limit = pod.cpu_limit_cores.map_or_else(String::new, |limit| format!(" of {limit}"));
    let memory = pod.samples.iter().map(|it| it.memory_bytes).max().unwrap_or(0);
    let count = pod.samples.len();
    let samples = if count == 1 { "sample" } else { "samples" };
    format!(
        "{}: {cores:.2}{limit} cores on average, {} at most; {count} {samples}",
        plain_line(&pod.name),
        units::Bytes(memory)
    )
}

/// What it used on average over all its samples; `None` where there are none.
fn cpu_cores(samples: &[PodSample]) -> Option<f64> {
    let length_s: f64 = samples.iter().map(|it| it.window_s).sum();
    let cpu_s: f64 = samples.iter().map(|it| it.cpu_cores * it.window_s).sum();
    Some(cpu_s / length_s).filter(|it| it.is_finite())
}
