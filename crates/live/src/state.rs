//! The state that a view shows: events go in, views come out.

use std::collections::VecDeque;

use events::{Ahead, Event, Moment, Stage};
use plan::LoadPlan;
use record::{Trial, TrialResult};
use signals::CpuReading;
use stats::{Interval, Steadiness};
use units::{Duration, Instant};

use crate::cpu::Cpu;
use crate::finished::{self, Finished};
use crate::progress::{Doing, Progress, Span};
use crate::series::Series;
use crate::text::{GAP, bounded};
use crate::view::{
    AgentView, BurstView, EndedView, Kind, LeftView, StageName, TrialView, VIEW_VERSION, View, WarningKind,
};
use crate::warnings::Warnings;
use crate::words::{
    finished_line, left_out_line, looked_line, made_again_line, neighbours_line, precise_line,
    repeating_line, started, trial_words, waiting_line,
};

/// Lines kept for whoever shows them one after another; who comes by less often than after so many misses some.
const LINES_MAX: usize = 500;
/// Bursts kept: far more than any warm-up has.
const BURSTS_MAX: usize = 100;
/// Characters kept of a title or a name.
const NAME_MAX: usize = 200;

/// A run or a load so far. Bounded, however long it goes on.
#[derive(Debug, Clone)]
pub struct State {
    kind: Kind,
    title: String,
    dir: Option<String>,
    cores: u32,
    begun: Instant,
    progress: Progress,
    trial: Option<TrialView>,
    bursts: Vec<BurstView>,
    steadiness: Option<String>,
    ahead: Option<(Ahead, Instant)>,
    finished: Finished,
    series: Series,
    /// When the window of the load at hand began, as far as is known: no interval can have been told of before it was over.
    window: Option<Instant>,
    cpu: Cpu,
    warnings: Warnings,
    lines: VecDeque<String>,
    lines_dropped: u64,
    agents: Vec<AgentView>,
    ended: Option<EndedView>,
}

impl State {
    /// An experiment that begins at `at`, on a machine with so many cores.
    pub fn of_experiment(cores: u32, at: Instant) -> Self {
        Self::new(Kind::Experiment, "", cores, at)
    }

    /// One load of `plan` on `title` that begins at `at`.
    pub fn of_load(title: &str, plan: &LoadPlan, cores: u32, at: Instant) -> Self {
        let mut state = Self::new(Kind::Load, &format!("{title}{GAP}{}", plan.label()), cores, at);
        state.begin_load(None, Doing::Load(Span::of(plan)), at);
        state
    }

    fn new(kind: Kind, title: &str, cores: u32, at: Instant) -> Self {
        Self {
            kind,
            title: bounded(title, NAME_MAX),
            dir: None,
            cores,
            begun: at,
            progress: Progress::new(at),
            trial: None,
            bursts: Vec::new(),
            steadiness: None,
            ahead: None,
            finished: Finished::default(),
            series: Series::default(),
            window: None,
            cpu: Cpu::default(),
            warnings: Warnings::default(),
            lines: VecDeque::new(),
            lines_dropped: 0,
            agents: Vec::new(),
            ended: None,
        }
    }

    /// Takes in what happened at `at`.
    pub fn observe(&mut self, event: &Event<'_>, at: Instant) {
        match event {
            Event::Begun { title, dir } => {
                self.title = bounded(title, NAME_MAX);
                self.dir = Some(dir.display().to_string());
            }
            Event::LeftOut { stack, why } => {
                self.warnings.add(WarningKind::LeftOut, stack, why);
                self.line(left_out_line(stack, why));
            }
            Event::Building { stack } => self.plain(StageName::Building, Some((*stack).to_owned()), at),
            Event::Waiting { stack, for_what } => {
                self.plain(StageName::Building, Some(waiting_line(stack, for_what)), at);
            }
            Event::Starting { number, ahead, block, round, cell } => {
                self.trial = Some(started(*number, ahead, *block, round, cell));
                self.ahead = Some((*ahead, at));
                self.bursts.clear();
                self.steadiness = None;
                (self.series, self.window) = (Series::default(), None);
                self.cpu.clear();
                self.agents.clear();
            }
            Event::During(moment) => self.during(moment, at),
            Event::Neighbours { used_cores, cores, others, waits } => {
                self.line(neighbours_line(*used_cores, *cores, others, *waits));
            }
            Event::Repeating { block, why } => self.line(repeating_line(*block, why)),
            Event::MadeAgain { attempt, of, why } => self.line(made_again_line(*attempt, *of, why)),
            Event::Precise { round, load, blocks } => self.line(precise_line(round, load, *blocks)),
            Event::Looked { blocks, open, cells } => self.line(looked_line(*blocks, *open, *cells)),
            Event::Finished { trial } => self.finish_trial(trial),
        }
    }

    /// Takes in a moment of a trial, or of the one load that there is.
    pub fn during(&mut self, moment: &Moment<'_>, at: Instant) {
        match moment {
            // How each does is shown once a second.
            Moment::Tick(_) | Moment::Agent { .. } => {}
            Moment::Stage(stage) => self.plain(name(*stage), None, at),
            Moment::Burst { number, of } => {
                self.begin_load(Some(*number), Doing::Burst { number: *number, of: *of }, at);
            }
            Moment::Warmed { burst, told } => {
                let record::Burst { goodput_per_s, jit_share } = **burst;
                if self.bursts.len() < BURSTS_MAX {
                    self.bursts.push(BurstView { goodput_per_s, jit_share });
                }
                self.steadiness = Some(told_in_words(*told));
            }
            Moment::Load(plan) => self.begin_load(None, Doing::Load(Span::of(plan)), at),
            Moment::Pilot(threads) => self.plain(StageName::Piloting, Some(threads.to_string()), at),
            Moment::Gathering(state) => self.plain(StageName::Starting, Some((*state).to_owned()), at),
            Moment::Opening(tried) => self.progress.opening(*tried, at),
            Moment::Agents(agents) => self.agents = agents.iter().map(AgentView::from).collect(),
            Moment::Cpu(reading) => self.cpu(*reading),
            Moment::Interval { from, interval, length, .. } => self.interval(*from, *length, interval, at),
        }
    }

    /// Takes in who used how much of the CPU.
    pub fn cpu(&mut self, reading: CpuReading) {
        if let Some(noise) = self.cpu.add(reading, self.cores) {
            self.warnings.add(WarningKind::NoisyHost, "", &noise);
        }
    }

    /// It is over. What went wrong is an `error`.
    pub fn end(&mut self, interrupted: bool, error: Option<&str>, at: Instant) {
        self.plain(StageName::Over, None, at);
        self.ended = Some(EndedView { interrupted, error: error.map(|it| bounded(it, NAME_MAX)) });
    }

    /// What is shown at `at`.
    pub fn view(&self, at: Instant) -> View {
        View {
            version: VIEW_VERSION,
            kind: self.kind,
            title: self.title.clone(),
            dir: self.dir.clone(),
            elapsed_s: at.since(self.begun).as_secs_f64(),
            stage: self.progress.view(at),
            trial: self.trial.clone(),
            bursts: self.bursts.clone(),
            steadiness: self.steadiness.clone(),
            left: if self.ended.is_some() { None } else { self.left(at) },
            finished: self.finished.view(),
            finished_count: self.finished.count,
            seconds: self.series.seconds(),
            last_second_ago_s: self.last_second_ago(at).map(Duration::as_secs_f64),
            outcomes: self.series.outcomes(),
            outcomes_so_far: self.series.outcomes_so_far(),
            histogram: self.series.histogram(),
            cpu: self.cpu.view(at, self.cores),
            warnings: self.warnings.view(),
            agents: self.agents.clone(),
            ended: self.ended.clone(),
        }
    }

    /// The lines that came after the first `seen`: what was finished, and what takes no part. With the count of all.
    pub fn lines_after(&self, seen: u64) -> (Vec<String>, u64) {
        let skip = seen.saturating_sub(self.lines_dropped) as usize;
        (self.lines.iter().skip(skip).cloned().collect(), self.lines_dropped + self.lines.len() as u64)
    }

    fn plain(&mut self, name: StageName, detail: Option<String>, at: Instant) {
        self.progress.begin(Doing::Plain(name, detail.map(|it| bounded(&it, NAME_MAX))), at);
    }

    fn begin_load(&mut self, burst: Option<u32>, doing: Doing, at: Instant) {
        self.series.begin(burst);
        self.window = None;
        self.progress.begin(doing, at);
    }

    fn interval(&mut self, from: Duration, length: Duration, interval: &Interval, at: Instant) {
        if self.progress.is_loading() {
            self.progress.interval(from, length, at);
            self.series.add(from, length, interval);
            let began = at - (from + length);
            self.window = Some(self.window.map_or(began, |window| window.min(began)));
        }
    }

    fn last_second_ago(&self, at: Instant) -> Option<Duration> {
        let (to, window) = self.series.shown_to().zip(self.window)?;
        Some(at.since(window + to))
    }

    fn finish_trial(&mut self, recorded: &Trial) {
        let Some(trial) = self.trial.clone() else { return };
        self.line(finished_line(&trial_words(&trial), recorded));
        let (finished, doubt) = finished::of(trial, recorded);
        if let Some(doubt) = doubt {
            let is_failed = matches!(recorded.result, TrialResult::Failed { .. });
            let kind = if is_failed { WarningKind::Failed } else { WarningKind::Doubt };
            self.warnings.add(kind, &recorded.stack, &doubt);
        }
        self.finished.add(finished);
    }

    fn line(&mut self, line: String) {
        self.lines.push_back(line);
        if self.lines.len() > LINES_MAX {
            self.lines.pop_front();
            self.lines_dropped += 1;
        }
    }

    /// What was said to be left when the trial began, less what has passed since; or what is left of the one load.
    fn left(&self, at: Instant) -> Option<LeftView> {
        if self.kind == Kind::Load {
            let left_s = self.progress.left(at)?.as_secs_f64();
            return Some(LeftView { trials: 0, trials_max: 0, left_s, left_s_max: left_s });
        }
        let (ahead, told) = self.ahead?;
        let yet = |left: Duration| left.saturating_sub(at.since(told)).as_secs_f64();
        let Ahead { trials, trials_max, left, left_max } = ahead;
        Some(LeftView { trials, trials_max, left_s: yet(left), left_s_max: yet(left_max) })
    }
}

const fn name(stage: Stage) -> StageName {
    match stage {
        Stage::CoolingDown => StageName::CoolingDown,
        Stage::Booting => StageName::Booting,
        Stage::Checking => StageName::Checking,
        Stage::Stopping => StageName::Stopping,
    }
}

fn told_in_words(told: Steadiness) -> String {
    if told == Steadiness::Steady { "steady".into() } else { told.unsteady_why() }
}

#[cfg(test)]
mod tests;
