//! What is shown while something takes longer than two seconds: a line that is rewritten on a terminal,
//! plain lines elsewhere, nothing when quiet. All of it goes to standard error.

use std::io::IsTerminal;
use std::time::{Duration as StdDuration, Instant};

use engine::Load;
use indicatif::{ProgressBar, ProgressStyle};
use lab::calibrate;
use lab::experiment::{Ahead, Event};
use lab::load::Moment;
use plan::{Driver, LoadPlan, Role};
use report::{TrialLine, per_s};
use stats::Interval;
use units::Duration;

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
        if !std::io::stderr().is_terminal() {
            return Self::Lines;
        }
        let bar = ProgressBar::new_spinner();
        let style = ProgressStyle::with_template("{spinner} {wide_msg}").expect("the template is valid");
        bar.set_style(style);
        bar.enable_steady_tick(StdDuration::from_millis(200));
        Self::Bar(bar)
    }

    /// Shows what goes on now; elsewhere than on a terminal only if `lasting`.
    pub fn now(&self, text: &str, lasting: bool) {
        match self {
            Self::Bar(bar) => bar.set_message(text.to_owned()),
            Self::Lines if lasting => eprintln!("{text}"),
            Self::Lines | Self::Nothing => {}
        }
    }

    /// Leaves a line behind.
    fn done(&self, text: &str) {
        match self {
            Self::Bar(bar) => bar.println(text),
            Self::Lines => eprintln!("{text}"),
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

/// Intervals shorter than this say nothing of a rate.
const SHOWN_MIN: Duration = Duration::from_millis(500);

/// An interval of load in a few words; `None` of the short one at the end.
fn in_words(interval: &Interval, length: Duration) -> Option<String> {
    if length < SHOWN_MIN {
        return None;
    }
    let tally = &interval.tally;
    let p99 = interval.times.response.quantile(0.99).map_or_else(String::new, |it| format!(", p99 {it}"));
    let bad = tally.intended - tally.answered_as_expected;
    let bad = if bad > 0 { format!(", {bad} failed") } else { String::new() };
    Some(format!("{}{p99}{bad}", per_s(tally.done_as_expected as f64 / length.as_secs_f64())))
}

/// Progress of one load.
pub struct LoadProgress {
    screen: Screen,
    begun: Instant,
    length: Option<Duration>,
    connections: u64,
}

impl LoadProgress {
    /// For a load of `plan`. Beside JSON, progress is for a person at a terminal only: a program that
    /// reads one may well read standard error, too.
    pub fn new(plan: &LoadPlan, quiet: bool, json: bool) -> Self {
        let quiet = quiet || (json && !std::io::stderr().is_terminal());
        let whole = plan.warm_up + plan.stop.duration;
        let length = (plan.stop.duration != Duration::MAX).then_some(whole);
        let screen = Screen::new(quiet);
        let model = if matches!(plan.load, Load::Open { .. }) { "open model" } else { "closed model" };
        screen.now(&format!("{}, {model}", plan.label()), true);
        Self { screen, begun: Instant::now(), length, connections: plan.connections.get().into() }
    }

    /// Shows a moment.
    pub fn observe(&mut self, moment: &Moment<'_>) {
        if let Moment::Pilot(threads) = moment {
            self.screen.now(&format!("pilot load with {threads} threads"), true);
        }
        if let Moment::Opening(tried) = moment
            && *tried < self.connections
        {
            self.screen.now(&format!("opening connections: {tried} of {}", self.connections), false);
        }
        if let Moment::Interval { interval, length, .. } = moment
            && let Some(words) = in_words(interval, *length)
        {
            let elapsed = self.begun.elapsed().as_secs();
            let of = self.length.map_or_else(String::new, |length| format!(" of {length}"));
            self.screen.now(&format!("{elapsed} s{of}: {words}"), true);
        }
    }

    /// Clears the line.
    pub fn finish(&self) {
        self.screen.clear();
    }
}

/// Progress of an experiment.
pub struct RunProgress {
    screen: Screen,
    trial: String,
}

impl RunProgress {
    /// Nothing has happened yet.
    pub fn new(quiet: bool) -> Self {
        Self { screen: Screen::new(quiet), trial: String::new() }
    }

    /// Shows an event.
    pub fn observe(&mut self, event: &Event<'_>) {
        match event {
            Event::LeftOut { stack, why } => self.screen.done(&format!("left out: {stack}: {why}")),
            Event::Building { stack } => self.screen.now(&format!("building {stack}"), true),
            Event::Starting { number, ahead, block, round, cell } => {
                let of = number - 1 + ahead.trials.max(1);
                let of_max = number - 1 + ahead.trials_max;
                let of = if of_max > of { format!("{of} to {of_max}") } else { of.to_string() };
                let (stack, load) = (&cell.stack, cell.load.label());
                let twin = if cell.role == Role::Twin { ", its twin" } else { "" };
                let by = match cell.driver {
                    Driver::Proofload => "",
                    Driver::Wrk => " by wrk",
                    Driver::Jmeter => " by JMeter",
                };
                self.trial =
                    format!("trial {number}/{of}, block {block}, {round}, {load}: {stack}{by}{twin}");
                self.screen.now(&format!("{}, {}", self.trial, left(ahead)), true);
            }
            Event::WarmingUp { burst, of } => {
                self.screen.now(&format!("{}: warming up, burst {burst} of at most {of}", self.trial), false);
            }
            Event::Precise { round, load, blocks } => {
                let text = format!("{round}, {load}: precise after {blocks} blocks, and goes no further");
                self.screen.done(&text);
            }
            Event::Interval { interval, length } => {
                if let Some(words) = in_words(interval, *length) {
                    self.screen.now(&format!("{}: {words}", self.trial), false);
                }
            }
            Event::Finished { trial } => {
                self.screen.done(&format!("{}: {}", self.trial, TrialLine(trial)));
            }
        }
    }

    /// Clears the line.
    pub fn finish(&self) {
        self.screen.clear();
    }
}

/// How long it takes yet, in words.
fn left(ahead: &Ahead) -> String {
    let in_words = |left: units::Duration| {
        let seconds = left.as_nanos().div_ceil(1_000_000_000);
        if seconds < 120 { format!("{seconds} s") } else { format!("{} min", seconds.div_ceil(60)) }
    };
    let (least, most) = (in_words(ahead.left), in_words(ahead.left_max));
    if least == most || ahead.trials == 0 {
        format!("about {most} left")
    } else {
        format!("about {least} to {most} left")
    }
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
