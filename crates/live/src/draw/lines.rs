//! The lines of the picture that are text.

use ratatui::text::{Line, Span};
use report::{per_s, plain_line, time_us};

use crate::draw::{BAD, BOLD, DOUBTFUL, FAINT, GOOD, PLAIN};
use crate::text::{cut, width};
use crate::view::{AgentView, CpuView, StageName, StageView, TrialView, View, Warning, WarningKind};

/// Columns of the word that a line begins with.
const WORD: usize = 9;

/// An agent that is not heard of for so long is shown as silent: it is pinged once a second.
const SILENT_S_MIN: f64 = 3.0;

/// A span in whole seconds, or in minutes where it is long.
pub(super) fn time(seconds: f64) -> String {
    let seconds = seconds.max(0.0) as u64;
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// Title, and on the right how long it has been going on and takes yet.
pub(super) fn head(view: &View, columns: usize) -> Line<'static> {
    let left = view.left.map_or_else(String::new, |left| {
        let (least, most) = (time(left.left_s), time(left.left_s_max));
        if least == most { format!(", {most} left") } else { format!(", {least} to {most} left") }
    });
    let clock = format!("{}{left}", time(view.elapsed_s));
    let room = columns.saturating_sub(width(&clock) + 2);
    let title = cut(&plain_line(&view.title), room);
    let gap = " ".repeat(columns.saturating_sub(width(&title) + width(&clock)));
    Line::from(vec![Span::styled(title, BOLD), Span::raw(gap), Span::styled(clock, FAINT)])
}

/// Which trial.
pub(super) fn trial(it: &TrialView, columns: usize) -> Line<'static> {
    let where_ =
        format!("trial {}, block {}, {}, {}: ", it.count(), it.block, plain_line(&it.round), it.load);
    let who = it.who();
    let where_ = cut(&where_, columns.saturating_sub(width(&who).min(columns / 2)));
    let who = cut(&who, columns.saturating_sub(width(&where_)));
    Line::from(vec![Span::raw(where_), Span::styled(who, BOLD)])
}

/// What is done, for how long.
pub(super) fn stage(it: &StageView) -> String {
    let name = match it.name {
        StageName::Starting => "starting",
        StageName::Building => "building",
        StageName::CoolingDown => "cooling down",
        StageName::Booting => "booting",
        StageName::Checking => "checking its answer",
        StageName::Piloting => "pilot load, threads:",
        StageName::Opening => "opening connections",
        StageName::WarmingUp => "warming up, burst",
        StageName::Settling => "settling",
        StageName::Measuring => "measuring",
        StageName::Draining => "waiting for the last answers",
        StageName::Stopping => "stopping",
        StageName::Over => "over",
    };
    let detail = it.detail.as_ref().map_or_else(String::new, |detail| format!(" {}", plain_line(detail)));
    match it.of_s {
        Some(of_s) => format!("{name}{detail}  {} of {}", time(it.for_s), time(of_s.ceil())),
        None => format!("{name}{detail}  {}", time(it.for_s)),
    }
}

/// A line that begins with a word in a column of its own.
fn named(word: &str, rest: Vec<Span<'static>>) -> Line<'static> {
    let mut spans = vec![Span::styled(format!("{word:<WORD$}"), FAINT)];
    spans.extend(rest);
    Line::from(spans)
}

/// The bursts of the warm-up, the last ones that fit, and what they tell.
pub(super) fn bursts(view: &View, columns: usize) -> Option<Line<'static>> {
    if view.bursts.is_empty() {
        return None;
    }
    let told = view.steadiness.clone().unwrap_or_default();
    let style = if told == "steady" { GOOD } else { DOUBTFUL };
    let mut rates = String::new();
    for burst in view.bursts.iter().rev() {
        let longer = format!("{} {rates}", per_s(burst.goodput_per_s));
        if WORD + width(&longer) + width(&told) + 1 > columns && !rates.is_empty() {
            break;
        }
        rates = longer;
    }
    let told = cut(&told, columns.saturating_sub(WORD + width(&rates) + 1));
    Some(named("warm-up", vec![Span::raw(rates), Span::raw(" "), Span::styled(told, style)]))
}

/// What went wrong with requests of the load at hand.
pub(super) fn errors(view: &View, columns: usize) -> Line<'static> {
    let kinds = &view.outcomes.failures;
    if kinds.is_empty() {
        return named("errors", vec![Span::raw("none")]);
    }
    let all: u64 = kinds.values().sum();
    let share = all as f64 / view.outcomes.intended.max(1) as f64 * 100.0;
    let mut counts: Vec<_> = kinds.iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let list: Vec<String> =
        counts.iter().map(|(kind, count)| format!("{} {count}", kind.replace('_', " "))).collect();
    let text = format!("{} ({share:.1} %)", list.join(", "));
    named("errors", vec![Span::styled(cut(&text, columns.saturating_sub(WORD)), BAD)])
}

/// The machines that do worst, of several that carry the load.
pub(super) fn agents(view: &View, columns: usize) -> Option<Line<'static>> {
    let worst = view.agents.first()?;
    let is_silent = |it: &AgentView| it.silent_s >= SILENT_S_MIN;
    let style = if worst.lost {
        BAD
    } else if is_silent(worst) {
        DOUBTFUL
    } else {
        PLAIN
    };
    let one = |it: &AgentView| {
        let mark = if it.generator_lag_p99_is_lower_bound { ">" } else { "" };
        let how = match it.generator_lag_p99_us {
            _ if it.lost => "lost".to_owned(),
            _ if is_silent(it) => format!("silent for {}", time(it.silent_s)),
            Some(us) => format!("lag {mark}{}", time_us(us)),
            None => "no requests".to_owned(),
        };
        format!("{} ({}) {how}", it.number, plain_line(&it.name))
    };
    let all: Vec<String> = view.agents.iter().map(one).collect();
    let text = cut(&all.join("  "), columns.saturating_sub(WORD));
    Some(named("agents", vec![Span::styled(text, style)]))
}

/// Who uses how many cores.
pub(super) fn cpu(it: &CpuView) -> Line<'static> {
    let part = |name: &str, cores: Option<f64>| cores.map(|cores| format!("{name} {cores:.2}  "));
    let parts = [
        part("servers", it.servers),
        part("generator", Some(it.generator)),
        part("others", it.others),
        part("irq", it.interrupts),
        part("steal", it.steal.filter(|steal| *steal >= 0.005)),
    ];
    let text: String = parts.into_iter().flatten().collect();
    named("CPU", vec![Span::styled(text, PLAIN), Span::styled(format!("of {} cores", it.cores), FAINT)])
}

/// The last warnings, the latest last.
pub(super) fn warnings(view: &View, columns: usize, rows: u16) -> Vec<Line<'static>> {
    let first = view.warnings.len().saturating_sub(rows.into());
    view.warnings[first..].iter().map(|it| warning(it, columns)).collect()
}

fn warning(it: &Warning, columns: usize) -> Line<'static> {
    let (word, style) = match it.kind {
        WarningKind::LeftOut => ("left out", DOUBTFUL),
        WarningKind::Failed => ("failed", BAD),
        WarningKind::Doubt => ("doubt", DOUBTFUL),
        WarningKind::NoisyHost => ("noise", DOUBTFUL),
    };
    let times = if it.times > 1 { format!(" ({} times)", it.times) } else { String::new() };
    let of = if it.of.is_empty() { String::new() } else { format!("{}{times}: ", plain_line(&it.of)) };
    let text = cut(&format!("{of}{}", plain_line(&it.text)), columns.saturating_sub(WORD));
    Line::from(vec![Span::styled(format!("{word:<WORD$}"), style), Span::raw(text)])
}
