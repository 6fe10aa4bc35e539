//! The server's pods while a load went on.

use std::fmt::Write;

use record::{ContainerUse, LoadResult, PodSample, PodWithin, ServerPod};

use crate::figure::plain_line;

/// Of many, those that used the most.
const SHOWN_MAX: usize = 5;

/// The lines that `hit` shows of them: what they used of what they may, the busiest first, and what is not known. None where they
/// were not watched.
pub(crate) fn server_pods_text(result: &LoadResult) -> String {
    let Some(server) = &result.server_pods else { return String::new() };
    let (labels, namespace) = (plain_line(&server.labels), plain_line(&server.namespace));
    let mut text = format!("server pods {} of {labels} in {namespace}\n", server.pods.len());
    match &server.keep {
        Some(container) => text += &seen_from_within(&server.pods, container),
        None => text += &by_metrics(&server.pods),
    }
    if let Some(why) = &server.not_known {
        let _ = writeln!(text, "            not known: {}", plain_line(why));
    }
    text
}

/// By what metrics-server told.
fn by_metrics(pods: &[ServerPod]) -> String {
    let mut text = String::new();
    let mut known: Vec<(f64, &ServerPod)> =
        pods.iter().filter_map(|pod| Some((cpu_cores(&pod.samples)?, pod))).collect();
    known.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    for (cores, pod) in known.iter().take(SHOWN_MAX) {
        // Writing into a String cannot fail.
        let _ = writeln!(text, "            {}", line(*cores, pod));
    }
    if known.len() > SHOWN_MAX {
        let _ = writeln!(text, "            and {} more", known.len() - SHOWN_MAX);
    }
    let unknown = pods.len() - known.len();
    if unknown > 0 && !known.is_empty() {
        let _ = writeln!(text, "            no sample of {unknown} of them");
    }
    text
}

/// By what a container of ours in each of them saw.
fn seen_from_within(pods: &[ServerPod], keep: &str) -> String {
    let mut text = String::new();
    let mut seen: Vec<(&ServerPod, &PodWithin)> =
        pods.iter().filter_map(|pod| Some((pod, pod.within.as_deref()?))).collect();
    let cores = |within: &PodWithin| within.seen.cpu_cores.unwrap_or(0.0);
    seen.sort_by(|(_, a), (_, b)| cores(b).total_cmp(&cores(a)));
    for (pod, within) in seen.iter().take(SHOWN_MAX) {
        // Writing into a String cannot fail.
        let _ = writeln!(text, "            {}: {}", plain_line(&pod.name), use_of(pod, &within.seen));
        for line in details(&within.seen) {
            let _ = writeln!(text, "              {line}");
        }
    }
    if seen.len() > SHOWN_MAX {
        let _ = writeln!(text, "            and {} more", seen.len() - SHOWN_MAX);
    }
    let _ = writeln!(text, "            each keeps {}, ended, until it is deleted", plain_line(keep));
    text
}

fn use_of(pod: &ServerPod, seen: &ContainerUse) -> String {
    let limit = pod.cpu_limit_cores.map_or_else(String::new, |limit| format!(" of {limit}"));
    let cores = seen.cpu_cores.map_or_else(|| "–".to_owned(), |cores| format!("{cores:.2}"));
    let threads = if seen.threads_max == 1 { "thread" } else { "threads" };
    format!(
        "{cores}{limit} cores, {} at most, {} {threads} at most",
        units::Bytes(seen.rss_bytes_max),
        seen.threads_max
    )
}

/// A line for each of what says most: the group of threads that worked most, who waits at the port, a quota; and for what is not
/// known.
fn details(seen: &ContainerUse) -> Vec<String> {
    let signals = &seen.signals;
    let mut lines = Vec::new();
    if let Some(group) = signals.groups.first() {
        lines.push(format!(
            "busiest threads: {}, {} of them, {:.2} cores, one of them {:.2}",
            plain_line(&group.name),
            group.threads,
            group.cpu_cores,
            group.busiest_cores
        ));
    }
    if let (Some(port), Some(queue)) = (seen.port, &signals.accept_queue) {
        let full = if queue.full_share > 0.0 {
            format!(", full {:.0} % of the time", 100.0 * queue.full_share)
        } else {
            String::new()
        };
        let held = signals.connections.map_or_else(String::new, |it| format!("; {} held at most", it.max));
        lines.push(format!(
            "connections at port {port}: {} of {} waited to be accepted at most{full}{held}",
            queue.max, queue.limit
        ));
    }
    if let Some(quota) = signals.quota.filter(|it| it.throttled_cores > 0.0) {
        lines.push(format!(
            "CPU quota: kept from running for {:.2} thread-seconds a second",
            quota.throttled_cores
        ));
    }
    if !seen.not_known.is_empty() {
        let mut all: Vec<String> = seen.not_known.iter().take(SHOWN_MAX).map(|it| plain_line(it)).collect();
        if seen.not_known.len() > SHOWN_MAX {
            all.push(format!("and {} more", seen.not_known.len() - SHOWN_MAX));
        }
        lines.push(format!("not known: {}", all.join("; ")));
    }
    lines
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
