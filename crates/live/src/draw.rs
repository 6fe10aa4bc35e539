//! A view as a picture of a few lines: what goes on, what is left, rate and times now, what goes wrong, who uses the CPU.
//!
//! Every line stands for itself, so that on a small terminal the least important are left out and nothing is squeezed.

mod lines;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Bar, BarChart, BarGroup, LineGauge, Sparkline, Widget};
use report::{per_s, time_us};

use self::lines::{agents, bursts, cpu, errors, head, stage, time, trial, warnings};
use crate::series::UNEXPECTED;
use crate::text::cut;
use crate::view::{Bucket, Kind, Second, View};

/// A terminal smaller than this gets lines of text and no picture.
pub const COLUMNS_MIN: u16 = 40;
/// The same in rows.
pub const ROWS_MIN: u16 = 10;

/// Rows of a curve, at least and at most.
const CURVE_ROWS_MIN: u16 = 2;
const CURVE_ROWS_MAX: u16 = 5;
/// Rows of the histogram, its heading and its labels included.
const HISTOGRAM_ROWS_MIN: u16 = 4;
const HISTOGRAM_ROWS_MAX: u16 = 8;
/// Columns of a bar of the histogram, as wide as its label, and the gap to the next.
const BAR_COLUMNS: u16 = 5;
const BAR_GAP: u16 = 1;
/// Warnings shown.
const WARNINGS_MAX: usize = 3;
/// A last second that ended so long ago is told with how long that is: a load is over, or some threads have not told.
const LATE_S_MIN: f64 = 3.0;
/// Columns between two curves.
const GAP: u16 = 2;

pub(crate) const PLAIN: Style = Style::new();
pub(crate) const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);
pub(crate) const FAINT: Style = Style::new().fg(Color::DarkGray);
pub(crate) const GOOD: Style = Style::new().fg(Color::Green);
pub(crate) const TIMES: Style = Style::new().fg(Color::Cyan);
pub(crate) const BAD: Style = Style::new().fg(Color::Red);
pub(crate) const DOUBTFUL: Style = Style::new().fg(Color::Yellow);

/// A part of the picture.
enum Part<'a> {
    Line(Line<'a>),
    /// A share that is done, with what it is of.
    Gauge(String, f64),
    /// The curves of rate and times.
    Curves,
    /// Response times by length.
    Histogram,
}

/// How many rows a picture of `view` takes where there are `rows`.
pub fn rows_wanted(view: &View, rows: u16) -> u16 {
    // As many as on any terminal: no line is broken into two.
    layout(view, COLUMNS_MIN, rows).iter().map(|(_, rows)| rows).sum()
}

/// Draws `view` into `area`.
pub fn draw(view: &View, area: Rect, buffer: &mut Buffer) {
    let mut top = area.top();
    for (part, rows) in layout(view, area.width, area.height) {
        let place = Rect { y: top, height: rows, ..area };
        top += rows;
        match part {
            Part::Line(line) => line.render(place, buffer),
            Part::Gauge(label, share) => LineGauge::default()
                .label(label)
                .ratio(share.clamp(0.0, 1.0))
                .filled_symbol("━")
                .unfilled_symbol("─")
                .filled_style(GOOD)
                .unfilled_style(FAINT)
                .render(place, buffer),
            Part::Curves => curves(view, place, buffer),
            Part::Histogram => histogram(&view.histogram, histogram_heading(view), place, buffer),
        }
    }
}

/// The parts with their rows, together no more than `rows`: curves get what is left, warnings give way first.
fn layout(view: &View, columns: u16, rows: u16) -> Vec<(Part<'_>, u16)> {
    let columns = usize::from(columns);
    let mut before = vec![Part::Line(head(view, columns))];
    if let Some(it) = &view.trial {
        before.push(Part::Line(trial(it, columns)));
        let done = f64::from(it.number - 1) / f64::from(it.of.max(1));
        before.push(Part::Gauge(format!("{} of {} trials done", it.number - 1, it.of), done));
    }
    before.push(match view.stage.of_s.filter(|of_s| *of_s > 0.0) {
        Some(of_s) => Part::Gauge(stage(&view.stage), view.stage.for_s / of_s),
        None => Part::Line(Line::raw(stage(&view.stage))),
    });
    before.extend(bursts(view, columns).map(Part::Line));
    let mut after = vec![Part::Line(errors(view, columns))];
    after.extend(agents(view, columns).map(Part::Line));
    after.extend(view.cpu.as_ref().map(|it| Part::Line(cpu(it))));
    let fixed = (before.len() + after.len()) as u16;
    let mut left = rows.saturating_sub(fixed);
    let mut take = |least: u16, most: u16| {
        let taken = if left < least { 0 } else { left.min(most) };
        left -= taken;
        taken
    };
    // A heading above each curve.
    let mut curve_rows = take(1 + CURVE_ROWS_MIN, 1 + CURVE_ROWS_MIN);
    let has_histogram = view.kind == Kind::Load && !view.histogram.is_empty();
    let histogram_rows = if has_histogram { take(HISTOGRAM_ROWS_MIN, HISTOGRAM_ROWS_MAX) } else { 0 };
    let warnings = warnings(view, columns, take(0, WARNINGS_MAX.min(view.warnings.len()) as u16));
    if curve_rows > 0 {
        curve_rows += take(0, CURVE_ROWS_MAX - CURVE_ROWS_MIN);
    }
    let big = [(Part::Curves, curve_rows), (Part::Histogram, histogram_rows)];
    let line = |part| (part, 1);
    let all = before.into_iter().map(line).chain(big).chain(after.into_iter().map(line));
    let all: Vec<_> = all.chain(warnings.into_iter().map(Part::Line).map(line)).collect();
    let mut room = rows;
    all.into_iter()
        .map_while(|(part, rows)| {
            room = room.checked_sub(rows)?;
            Some((part, rows))
        })
        .filter(|(_, rows)| *rows > 0)
        .collect()
}

/// Rate on the left, times on the right, the latest second at the right edge of each.
fn curves(view: &View, area: Rect, buffer: &mut Buffer) {
    let seconds = &view.seconds;
    let width = area.width.saturating_sub(GAP) / 2;
    let last = seconds.last();
    let late = view.last_second_ago_s.filter(|ago_s| *ago_s >= LATE_S_MIN);
    let late = late.map_or_else(String::new, |ago_s| format!(", {} ago", time(ago_s)));
    let rate = last.map_or_else(|| "–".to_owned(), |it| format!("{}{late}", per_s(it.goodput_per_s)));
    let us = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), time_us);
    let mark = |is_bound: fn(&Second) -> bool| if last.is_some_and(is_bound) { ">" } else { "" };
    let times = format!(
        "p50 {}{}  p99 {}{}",
        mark(|it| it.p50_is_lower_bound),
        us(last.and_then(|it| it.p50_us)),
        mark(|it| it.p99_is_lower_bound),
        us(last.and_then(|it| it.p99_us))
    );
    let sides = [
        ("goodput ", rate, GOOD, values(seconds, width, |it| Some(it.goodput_per_s))),
        ("", times, TIMES, values(seconds, width, |it| it.p99_us)),
    ];
    for (index, (name, figures, style, values)) in sides.into_iter().enumerate() {
        let x = area.x + index as u16 * (width + GAP);
        let heading = cut(&format!("{name}{figures}"), width.into());
        buffer.set_stringn(x, area.y, heading, width.into(), BOLD);
        let place = Rect { x, y: area.y + 1, width, height: area.height.saturating_sub(1) };
        // The first is the latest where it goes from right to left.
        let curve = Sparkline::default().data(values.into_iter().rev().collect::<Vec<u64>>());
        curve.direction(ratatui::widgets::RenderDirection::RightToLeft).style(style).render(place, buffer);
    }
}

/// The last values that fit, in hundredths, so that a rate below one is seen, too.
fn values(seconds: &[Second], width: u16, of: impl Fn(&Second) -> Option<f64>) -> Vec<u64> {
    let first = seconds.len().saturating_sub(width.into());
    seconds[first..].iter().map(|it| (of(it).unwrap_or(0.0) * 100.0) as u64).collect()
}

/// What the bars are of: a request without an answer has no response time.
fn histogram_heading(view: &View) -> &'static str {
    if view.outcomes.failures.keys().any(|kind| *kind != UNEXPECTED) {
        "response times; of requests without an answer, how long they were waited for"
    } else {
        "response times"
    }
}

/// A bar for each bucket; those for which there is no room are in the first that is shown.
fn histogram(buckets: &[Bucket], heading: &str, area: Rect, buffer: &mut Buffer) {
    buffer.set_stringn(area.x, area.y, cut(heading, area.width.into()), area.width.into(), BOLD);
    let area = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    let room = usize::from((area.width + BAR_GAP) / (BAR_COLUMNS + BAR_GAP)).max(1);
    let hidden = buckets.len().saturating_sub(room);
    let (before, shown) = buckets.split_at(hidden);
    let total: u64 = buckets.iter().map(|it| it.count).sum();
    let mut more: u64 = before.iter().map(|it| it.count).sum();
    let bars: Vec<Bar<'_>> = shown
        .iter()
        .map(|bucket| {
            let count = bucket.count + std::mem::take(&mut more);
            let percent = count as f64 / total.max(1) as f64 * 100.0;
            let value = if percent < 0.5 { String::new() } else { format!("{percent:.0} %") };
            Bar::with_label(end(bucket), count).text_value(value)
        })
        .collect();
    BarChart::default()
        .data(BarGroup::new(bars))
        .bar_width(BAR_COLUMNS)
        .bar_gap(BAR_GAP)
        .bar_style(TIMES)
        .value_style(TIMES.add_modifier(Modifier::REVERSED))
        .label_style(FAINT)
        .render(area, buffer);
}

/// The end of a bucket in at most five columns: `500us`, `20ms`, `1s`.
fn end(bucket: &Bucket) -> String {
    match bucket.up_to_us {
        None => "more".into(),
        Some(us) if us < 1e3 => format!("{us:.0}us"),
        Some(us) if us < 1e6 => format!("{:.0}ms", us / 1e3),
        Some(us) => format!("{:.0}s", us / 1e6),
    }
}

#[cfg(test)]
mod tests;
