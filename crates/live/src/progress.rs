//! Where a trial or a load is: its stage, and how long that has taken and takes.

use engine::{Load, Reuse, UserStart};
use plan::LoadPlan;
use units::{Duration, Instant};

use crate::view::{StageName, StageView};

/// How long a load takes, and whether its connections are opened before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    connections: u64,
    opens_first: bool,
    warm_up: Duration,
    /// `None` where a number of requests ends it.
    duration: Option<Duration>,
}

impl Span {
    pub(crate) fn of(plan: &LoadPlan) -> Self {
        // Users with a ramp-up or a script connect in their turn, and fresh connections are part of each request.
        let ramps =
            matches!(plan.load, Load::Closed { start: UserStart::RampUp { .. }, .. } | Load::Scripted { .. });
        Self {
            connections: plan.connections.get().into(),
            opens_first: plan.reuse == Reuse::KeepAlive && !ramps,
            warm_up: plan.warm_up,
            duration: (plan.stop.duration != Duration::MAX).then_some(plan.stop.duration),
        }
    }

    /// Warm-up and window; `None` where a number of requests ends it.
    pub(crate) fn whole(&self) -> Option<Duration> {
        Some(self.warm_up + self.duration?)
    }
}

/// What is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Doing {
    /// Something that takes as long as it takes.
    Plain(StageName, Option<String>),
    /// A burst of a warm-up.
    Burst { number: u32, of: u32 },
    /// A load that is measured.
    Load(Span),
}

/// What is done, and since when.
#[derive(Debug, Clone)]
pub(crate) struct Progress {
    doing: Doing,
    since: Instant,
    /// Connections that came up or failed, while they are opened.
    opening: Option<u64>,
    /// When the window of the load began, or is to begin.
    window: Option<Instant>,
}

impl Progress {
    pub(crate) fn new(at: Instant) -> Self {
        Self { doing: Doing::Plain(StageName::Starting, None), since: at, opening: None, window: None }
    }

    /// Something else begins.
    pub(crate) fn begin(&mut self, doing: Doing, at: Instant) {
        let window = match &doing {
            Doing::Load(span) if !span.opens_first => Some(at + span.warm_up),
            Doing::Load(_) | Doing::Burst { .. } | Doing::Plain(..) => None,
        };
        *self = Self { doing, since: at, opening: None, window };
    }

    /// So many connections came up or failed.
    pub(crate) fn opening(&mut self, tried: u64, at: Instant) {
        let Doing::Load(span) = &self.doing else { return };
        if self.window.is_some() {
            return;
        }
        if tried < span.connections {
            self.opening = Some(tried);
        } else {
            self.opening = None;
            self.window = Some(at + span.warm_up);
        }
    }

    /// An interval is over that began `from` after the start of the window and was `length` long.
    pub(crate) fn interval(&mut self, from: Duration, length: Duration, at: Instant) {
        if matches!(self.doing, Doing::Load(_)) {
            self.opening = None;
            self.window = Some(at - (from + length));
        }
    }

    /// Whether a load is under way, or a burst.
    pub(crate) fn is_loading(&self) -> bool {
        matches!(self.doing, Doing::Load(_) | Doing::Burst { .. })
    }

    /// How long the load at hand takes yet, if that is known.
    pub(crate) fn left(&self, at: Instant) -> Option<Duration> {
        let Doing::Load(span) = &self.doing else { return None };
        let spent = self.window.map_or(Duration::ZERO, |window| (at + span.warm_up).since(window));
        Some(span.whole()?.saturating_sub(spent))
    }

    pub(crate) fn view(&self, at: Instant) -> StageView {
        let stage = |name, detail, since: Instant, of: Option<Duration>| StageView {
            name,
            detail,
            for_s: at.since(since).as_secs_f64(),
            of_s: of.map(Duration::as_secs_f64),
        };
        match &self.doing {
            Doing::Plain(name, detail) => stage(*name, detail.clone(), self.since, None),
            Doing::Burst { number, of } => {
                stage(StageName::WarmingUp, Some(format!("{number} of {of}")), self.since, None)
            }
            Doing::Load(span) => {
                let Some(window) = self.window else {
                    let detail = format!("{} of {}", self.opening.unwrap_or(0), span.connections);
                    return stage(StageName::Opening, Some(detail), self.since, None);
                };
                if at < window {
                    return stage(StageName::Settling, None, window - span.warm_up, Some(span.warm_up));
                }
                match span.duration {
                    Some(duration) if at.since(window) >= duration => {
                        stage(StageName::Draining, None, window + duration, None)
                    }
                    duration => stage(StageName::Measuring, None, window, duration),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ORIGIN + Duration::from_millis(ms)
    }

    fn span(opens_first: bool, duration: Option<Duration>) -> Span {
        Span { connections: 300, opens_first, warm_up: Duration::from_secs(2), duration }
    }

    fn seen(progress: &Progress, ms: u64) -> (StageName, Option<String>, f64, Option<f64>) {
        let StageView { name, detail, for_s, of_s } = progress.view(at(ms));
        (name, detail, for_s, of_s)
    }

    #[test]
    fn a_load_opens_settles_measures_and_drains() {
        let mut progress = Progress::new(at(0));
        assert_eq!(seen(&progress, 500), (StageName::Starting, None, 0.5, None));
        progress.begin(Doing::Load(span(true, Some(Duration::from_secs(10)))), at(1000));
        progress.opening(31, at(1100));
        assert_eq!(seen(&progress, 1200), (StageName::Opening, Some("31 of 300".into()), 0.2, None));
        progress.opening(300, at(1500));
        assert_eq!(seen(&progress, 2000), (StageName::Settling, None, 0.5, Some(2.0)));
        assert_eq!(seen(&progress, 4500), (StageName::Measuring, None, 1.0, Some(10.0)));
        // What an interval says of its window is more exact than when connections were seen to be open.
        progress.interval(Duration::ZERO, Duration::from_secs(1), at(4700));
        assert_eq!(seen(&progress, 4700), (StageName::Measuring, None, 1.0, Some(10.0)));
        assert_eq!(progress.left(at(4700)), Some(Duration::from_secs(9)));
        assert_eq!(seen(&progress, 14_000), (StageName::Draining, None, 0.3, None));
        assert_eq!(progress.left(at(14_000)), Some(Duration::ZERO));
    }

    #[test]
    fn users_who_connect_in_their_turn_are_loading_from_the_start() {
        let mut progress = Progress::new(at(0));
        progress.begin(Doing::Load(span(false, None)), at(0));
        progress.opening(3, at(100));
        assert_eq!(seen(&progress, 100).0, StageName::Settling);
        assert_eq!(seen(&progress, 100_000), (StageName::Measuring, None, 98.0, None));
        assert_eq!(progress.left(at(100)), None);
    }

    #[test]
    fn what_is_no_load_opens_nothing() {
        let mut progress = Progress::new(at(0));
        progress.begin(Doing::Burst { number: 2, of: 12 }, at(0));
        progress.opening(3, at(100));
        progress.interval(Duration::ZERO, Duration::from_secs(1), at(1000));
        assert_eq!(seen(&progress, 1000), (StageName::WarmingUp, Some("2 of 12".into()), 1.0, None));
    }
}
