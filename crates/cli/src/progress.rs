//! What is shown while something takes longer than two seconds: on a terminal a picture of a run or a load, and of
//! other things a line that is rewritten; plain lines elsewhere; nothing when quiet. All of it goes to standard error.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration as StdDuration;

use driver::{Control, monotonic_now};
use engine::Load;
use events::{Event, Moment};
use indicatif::{ProgressBar, ProgressStyle};
use lab::LabError;
use lab::calibrate;
use lab::experiment::Ended;
use live::{
    SecondLine, SecondLines, State, agent_line, finished_line, left_out_line, left_words, looked_line,
    made_again_line, neighbours_line, precise_line, repeating_line, started, trial_words, waiting_line,
};
use plan::LoadPlan;
use record::LoadResult;
use units::Duration;

use crate::exit::Failure;
use crate::output::{complains_to_terminal, say};
use crate::watching::{Watching, cores, has_terminal};

/// Where progress goes.
pub enum Screen {
    Nothing,
    Lines,
    Bar(ProgressBar),
}

impl Screen {
    /// To standard error, unless `quiet`.
    pub fn new(quiet: bool) -> Self {
        if quiet {
            return Self::Nothing;
        }
        if !complains_to_terminal() {
            return Self::Lines;
        }
        let bar = ProgressBar::new_spinner();
        let style = ProgressStyle::with_template("{spinner} {wide_msg}").expect("the template is valid");
        bar.set_style(style);
        bar.enable_steady_tick(StdDuration::from_millis(200));
        Self::Bar(bar)
    }

    /// Plain lines, unless `quiet`.
    pub fn plain(quiet: bool) -> Self {
        if quiet { Self::Nothing } else { Self::Lines }
    }

    /// Shows what goes on now; elsewhere than on a terminal only if `lasting`.
    pub fn now(&self, text: &str, lasting: bool) {
        match self {
            Self::Bar(bar) => bar.set_message(plain::line(text)),
            Self::Lines if lasting => say(format_args!("{text}")),
            Self::Lines | Self::Nothing => {}
        }
    }

    /// Leaves a line behind.
    fn done(&self, text: &str) {
        match self {
            Self::Bar(bar) => bar.println(plain::text(text)),
            Self::Lines => say(format_args!("{text}")),
            Self::Nothing => {}
        }
    }

    /// Removes the line that is rewritten.
    pub fn clear(&self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

/// Who watches a load.
#[derive(Debug, Clone, Copy)]
pub struct Audience {
    /// Nobody at a terminal.
    pub quiet: bool,
    /// Standard output is for a program, which may well read standard error, too: progress is for a person at a terminal
    /// only.
    pub json: bool,
    /// Where browsers are served.
    pub serve: Option<SocketAddr>,
}

/// Progress of one load.
pub struct LoadProgress {
    screen: Screen,
    watching: Option<Watching>,
    seconds: SecondLines,
    warm_up: Duration,
    /// With the warm-up.
    length: Option<Duration>,
    connections: u64,
}

impl LoadProgress {
    /// For a load of `plan` on what is called `title`.
    pub fn new(title: &str, plan: &LoadPlan, audience: Audience) -> Result<Self, Failure> {
        let on_terminal = !audience.quiet && has_terminal();
        let quiet = audience.quiet || (audience.json && !complains_to_terminal());
        let screen = Screen::plain(quiet || on_terminal);
        let whole = plan.warm_up + plan.stop.duration;
        let length = (plan.stop.duration != Duration::MAX).then_some(whole);
        let model = match plan.load {
            Load::Closed { .. } => "closed",
            Load::Open { .. } => "open",
            // Its users come and go as their groups say, at a rate or one after another.
            Load::Scripted { .. } => "scripted",
        };
        screen.now(&format!("{}, {model} model", plan.label()), true);
        let state = || State::of_load(title, plan, cores(), monotonic_now());
        let watching = watching(state, on_terminal, audience.serve, true)?;
        let connections = plan.connections.get().into();
        Ok(Self {
            screen,
            watching,
            seconds: SecondLines::default(),
            warm_up: plan.warm_up,
            length,
            connections,
        })
    }

    /// Shows a moment.
    pub fn observe(&mut self, moment: &Moment<'_>) {
        // Ten a second, of which nothing is to be seen.
        if let (Some(watching), false) = (&self.watching, matches!(moment, Moment::Tick(_))) {
            watching.change(|state| state.during(moment, monotonic_now()));
        }
        if let Moment::Pilot(threads) = moment {
            self.screen.now(&format!("pilot load with {threads} threads"), true);
        }
        if let Moment::Opening(tried) = moment
            && *tried < self.connections
        {
            self.screen.now(&format!("opening connections: {tried} of {}", self.connections), false);
        }
        if matches!(self.screen, Screen::Nothing) {
            return;
        }
        if let Moment::Agent { number, of, name, news } = moment {
            self.screen.done(&agent_line(*number, *of, name, *news));
        }
        if let Moment::Interval { from, interval, length, threads, .. } = moment {
            self.seconds.interval(*from, *length, interval, *threads, monotonic_now());
        }
        // A tick follows upon each interval.
        if let Moment::Tick(now) = moment {
            while let Some(line) = self.seconds.line(*now) {
                self.say_second(&line);
            }
        }
    }

    fn say_second(&self, SecondLine { to, words }: &SecondLine) {
        let second = (self.warm_up + *to).as_secs_f64().round();
        let of = self.length.map_or_else(String::new, |length| format!(" of {length}"));
        self.screen.now(&format!("{second} s{of}: {words}"), true);
    }

    /// It is over, with an error or without. What somebody asked for when it was whole interrupted nothing.
    pub fn finish(&mut self, ended: Result<&LoadResult, &LabError>, control: &Control) {
        while let Some(line) = self.seconds.last_line() {
            self.say_second(&line);
        }
        let Some(watching) = &self.watching else { return };
        match ended {
            Ok(result) => watching.end(result.interrupted, None),
            Err(error) => watching.end(control.is_interrupted(), Some(&error.to_string())),
        }
    }

    /// Has a browser that is open see the end.
    pub fn linger(&self, control: &Control) {
        if let Some(watching) = &self.watching {
            watching.linger(None, control);
        }
    }
}

/// Progress of an experiment.
pub struct RunProgress {
    screen: Screen,
    watching: Option<Watching>,
    trial: String,
}

impl RunProgress {
    /// Nothing has happened yet. Browsers are served at an address, if one is given.
    pub fn new(quiet: bool, serve: Option<SocketAddr>) -> Result<Self, Failure> {
        let on_terminal = !quiet && has_terminal();
        let state = || State::of_experiment(cores(), monotonic_now());
        let watching = watching(state, on_terminal, serve, false)?;
        Ok(Self { screen: Screen::plain(quiet || on_terminal), watching, trial: String::new() })
    }

    /// Shows an event.
    pub fn observe(&mut self, event: &Event<'_>) {
        // Ten a second, of which nothing is to be seen.
        if let (Some(watching), false) = (&self.watching, matches!(event, Event::During(Moment::Tick(_)))) {
            watching.change(|state| state.observe(event, monotonic_now()));
        }
        match event {
            Event::LeftOut { stack, why } => self.screen.done(&left_out_line(stack, why)),
            Event::Building { stack } => self.screen.now(&format!("building {stack}"), true),
            Event::Waiting { stack, for_what } => self.screen.now(&waiting_line(stack, for_what), true),
            Event::Starting { number, ahead, block, round, cell } => {
                self.trial = trial_words(&started(*number, ahead, *block, round, cell));
                self.screen.now(&format!("{}, {}", self.trial, left_words(ahead)), true);
            }
            Event::Neighbours { used_cores, cores, others, waits } => {
                let line = neighbours_line(*used_cores, *cores, others, *waits);
                if *waits { self.screen.now(&line, true) } else { self.screen.done(&line) }
            }
            Event::Repeating { block, why } => self.screen.done(&repeating_line(*block, why)),
            Event::MadeAgain { attempt, of, why } => {
                self.screen.done(&made_again_line(*attempt, *of, why));
            }
            Event::Precise { round, load, blocks } => self.screen.done(&precise_line(round, load, *blocks)),
            Event::Looked { blocks, open, cells } => self.screen.done(&looked_line(*blocks, *open, *cells)),
            Event::Finished { trial } => self.screen.done(&finished_line(&self.trial, trial)),
            Event::During(Moment::Agent { number, of, name, news }) => {
                self.screen.done(&agent_line(*number, *of, name, *news));
            }
            Event::During(Moment::Gathering(state)) => self.screen.now(state, true),
            Event::Begun { .. } | Event::During(_) => {}
        }
    }

    /// It is over, in one way or the other.
    pub fn finish(&self, ended: &Result<Ended, LabError>) {
        let Some(watching) = &self.watching else { return };
        match ended {
            Ok(ended) => watching.end(ended.interrupted, None),
            Err(LabError::InterruptedEarly) => watching.end(true, None),
            Err(error) => watching.end(false, Some(&error.to_string())),
        }
    }

    /// Has a browser that is open see the report of the run in `dir`.
    pub fn linger(&self, dir: PathBuf, control: &Control) {
        if let Some(watching) = &self.watching {
            watching.linger(Some(dir), control);
        }
    }
}

/// What shows a state, where there is anybody to show it to.
fn watching(
    state: impl FnOnce() -> State,
    on_terminal: bool,
    serve: Option<SocketAddr>,
    reads_cpu: bool,
) -> Result<Option<Watching>, Failure> {
    if !on_terminal && serve.is_none() {
        return Ok(None);
    }
    Watching::start(state(), on_terminal, serve, reads_cpu).map(Some)
}

/// Progress of a calibration.
pub struct CalibrationProgress {
    screen: Screen,
    case: String,
}

impl CalibrationProgress {
    /// Nothing has happened yet.
    pub fn new(quiet: bool) -> Self {
        Self { screen: Screen::new(quiet), case: String::new() }
    }

    /// Shows an event.
    pub fn observe(&mut self, event: &calibrate::Event<'_>) {
        match event {
            calibrate::Event::Idle => {
                self.screen.now("the machine's own scheduling delay, while nothing else goes on", true);
            }
            calibrate::Event::Trying { number, of, case, attempt } => {
                self.case = format!("{number}/{of}: {}: {}", case.name, case.server);
                let again = if *attempt > 1 { format!(", try {attempt}") } else { String::new() };
                self.screen.now(&format!("{}, {} s{again}", self.case, case.seconds), true);
            }
            calibrate::Event::Peer { name, .. } => self.screen.now(&format!("{}: {name}", self.case), true),
            calibrate::Event::Finished { case } => {
                self.screen.done(&report::calibration_line(case));
            }
        }
    }

    /// Clears the line.
    pub fn finish(&self) {
        self.screen.clear();
    }
}
