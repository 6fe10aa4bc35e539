//! How the trials of an experiment are made, and how many.

use serde::Deserialize;
use toml::Spanned;
use units::{Duration, Share};

use super::load_table::parsed;
use super::{Cell, Driver, Pace, Role};
use crate::error::PlanError;
use crate::load::span;

/// Blocks at any rate when the file says nothing: what tells rows apart that differ by 5 % on a machine whose trials
/// differ by 2 % within a block (docs/statistics.md).
const BLOCKS_DEFAULT: u32 = 10;
/// Blocks at most, then.
const BLOCKS_MAX_DEFAULT: u32 = 20;
/// Blocks of a coarse run: the fewest that can tell four stacks apart (`stats::blocks_needed`).
const BLOCKS_COARSE: u32 = 8;
/// Blocks that can be asked for: a bound on how long a typing error can keep a machine busy.
const BLOCKS_BOUND: u32 = 1000;
/// What a trial takes beside its loads, how many in so many of the bursts that it may have it takes to be steady, and what a load
/// takes at most that ends by a count of requests: guesses, of which only an estimate depends. In the runs of this repository's
/// records, warm-ups took most of up to a dozen bursts, and seldom more.
const BOOT_GUESS: Duration = Duration::from_secs(4);
const BURSTS_GUESS: (u64, u64) = (5, 6);
const BURSTS_GUESS_MAX: u64 = 12;
const LOAD_GUESS_MAX: Duration = Duration::from_secs(60);
/// From so many connections on, trials leave so many closed ones that the next waits: so long on average, or until they are
/// forgotten.
const REST_FROM_CONNECTIONS: u32 = 256;
const REST_GUESS: Duration = Duration::from_secs(3);
const TIME_WAIT: Duration = Duration::from_secs(60);
/// What JMeter takes until its first request, and from its last one.
const JMETER_GUESS: Duration = Duration::from_secs(4);
/// Half-width of the intervals at which a table is precise.
const PRECISION_DEFAULT: f64 = 2.0;
/// TIME_WAIT lasts a minute; what is left after this is noted with the trial (`lab::cool_down` says what it costs).
const COOL_DOWN_MAX_DEFAULT: Duration = Duration::from_secs(10);
/// How long a warm stack is asked while it is idle: thirty answers of 0.1 s each. And what can be asked for.
const IDLE_LOOK_DEFAULT: Duration = Duration::from_secs(3);
const IDLE_LOOK_LEAST: Duration = Duration::from_millis(1);
const IDLE_LOOK_MOST: Duration = Duration::from_secs(60);
/// How long a burst of a warm-up lasts when the file says nothing.
const BURST_LENGTH_DEFAULT: Duration = Duration::from_secs(5);
/// Bursts of a warm-up that can be asked for.
const BURSTS_BOUND: u32 = 100;

/// How trials are made, and how many.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Procedure {
    /// How often every cell is measured at any rate.
    pub blocks: u32,
    /// How often at most: beyond [`Procedure::blocks`], a table goes on until it is precise.
    pub blocks_max: u32,
    /// Half-width of the 95 % intervals of ratios below which a table is precise. Never whether anything is different:
    /// who stops at that finds differences where there are none.
    pub precision: Share,
    /// When a table has enough blocks.
    pub ends: Ends,
    /// What twins and controls stand beside.
    pub companions: Companions,
    /// Whether a stack of each load runs twice: the first, or where a process lives for longer than a trial, the one that costs
    /// least.
    pub twin: bool,
    /// Whether each load is held against the calibration target.
    pub control: bool,
    /// Where client and servers run.
    pub placement: Placement,
    /// How long a stack's process lives.
    pub processes: Processes,
    /// How a warm-up until steady goes.
    pub bursts: Bursts,
    /// How long a trial waits at most for closed connections of those before it to be forgotten.
    pub cool_down_max: Duration,
    /// How long a warm stack is asked one thing at a time, behind its first load, for what an answer takes while it is idle.
    pub idle_look: Duration,
    /// Whether JVMs record their own events (JFR) and their collections' log while the load goes on.
    pub jvm_events: bool,
}

/// Where client and servers run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// All on the same cores.
    #[default]
    Shared,
    /// The client on half of the cores at most, the servers on the others; threads of a physical core stay together.
    Split,
}

/// When a table has enough blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// When it is precise ([`Procedure::precision`]).
    Precise,
    /// When nothing that is asked of it is open any more, as whoever asks says.
    Decided,
}

/// What twins and controls stand beside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Companions {
    /// Each table: a load of a round.
    OfTables,
    /// Each round: a control at the load with the most stacks, and a twin of a stack that is at most of its loads.
    OfRounds,
}

/// How long a stack's process lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Processes {
    /// For one trial: what lies between two processes of a stack is part of what lies between its trials.
    #[default]
    Fresh,
    /// For one block: it is booted and warmed up once, and measured in all of the block's cells that are of it, one after
    /// another, and so is its twin. Blocks have processes of their own, so intervals are of any.
    Block,
    /// For the whole run, so that it is booted and warmed up once: intervals are of these processes only. The twin is
    /// another process of its stack, and serves the same cells.
    Kept,
}

impl Procedure {
    /// How long a trial of `cell` takes by what is asked for: the rest before it, a boot and a warm-up until it is steady
    /// where the process is new, the load, and the look at the idle stack behind the first. A load that ends by a count of
    /// requests only is taken for a minute and its ramp-up.
    pub fn trial_guess(&self, cell: &Cell, is_new: bool) -> Duration {
        let warm_up = match (cell.until_steady, is_new) {
            (true, true) => self.bursts.guess() + self.bursts.settle,
            (true, false) => self.bursts.settle,
            (false, _) => Duration::ZERO,
        };
        // What a control is held against boots at once, and has given its answers before a look is over.
        let is_stack = cell.role != Role::Control;
        let boot = if is_new && is_stack { BOOT_GUESS } else { Duration::ZERO };
        // One that was warmed up for an earlier trial was looked at then.
        let is_known = cell.until_steady && !is_new;
        let idle_look = if is_stack && !is_known { self.idle_look } else { Duration::ZERO };
        let ramp_up = match cell.load.load {
            engine::Load::Closed { start: engine::UserStart::RampUp { span, .. }, .. } => span,
            engine::Load::Closed { .. } | engine::Load::Open { .. } | engine::Load::Scripted { .. } => {
                Duration::ZERO
            }
        };
        let driver = if cell.driver == Driver::Jmeter { JMETER_GUESS } else { Duration::ZERO };
        let engine::Stop { duration, requests } = cell.load.stop;
        let window = if requests.is_some() { duration.min(LOAD_GUESS_MAX) } else { duration };
        let trial = boot + driver + warm_up + ramp_up + cell.load.warm_up + window + idle_look;
        let is_fresh = cell.load.reuse == engine::Reuse::FreshConnection;
        let has_many = is_fresh || cell.load.connections.get() >= REST_FROM_CONNECTIONS;
        let longest = self.cool_down_max.min(REST_GUESS).min(TIME_WAIT.saturating_sub(trial));
        let rest = if has_many { longest } else { Duration::ZERO };
        rest + trial
    }
}

impl Processes {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Block => "block",
            Self::Kept => "kept",
        }
    }
}

impl Placement {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Shared => "shared",
            Self::Split => "split",
        }
    }
}

/// A warm-up in bursts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bursts {
    /// Load of each.
    pub length: Duration,
    /// Rest behind each, in which a JIT finishes what it began.
    pub pause: Duration,
    /// Bursts at least.
    pub least: u32,
    /// Bursts at most; then the stack is measured as it is, and called not steady.
    pub most: u32,
    /// Load between the bursts and the window, at least; twice an answer's time where that is longer.
    pub settle: Duration,
    /// That at most.
    pub settle_max: Duration,
    /// How long a window is made at most to hold ten answers' times.
    pub window_max: Duration,
}

impl Bursts {
    /// How long they take together, by what they took so far elsewhere.
    fn guess(&self) -> Duration {
        let (made, of) = BURSTS_GUESS;
        let each = self.length + self.pause;
        (each * u64::from(self.most) * made / of)
            .min(each * BURSTS_GUESS_MAX)
            .max(each * u64::from(self.least))
    }
}

/// The keys of an experiment that are about its trials.
#[derive(Debug)]
pub(super) struct ProcedureTable {
    pub(super) blocks: Option<Spanned<u32>>,
    pub(super) blocks_max: Option<Spanned<u32>>,
    pub(super) precision: Option<Share>,
    pub(super) twin: Option<bool>,
    pub(super) control: Option<bool>,
    pub(super) placement: Placement,
    pub(super) processes: Processes,
    pub(super) bursts: BurstsTable,
    pub(super) cool_down_max: Option<Duration>,
    pub(super) idle_look: Option<Spanned<String>>,
    pub(super) jvm_events: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BurstsTable {
    length: Option<Spanned<String>>,
    #[serde(default, deserialize_with = "parsed")]
    pause: Option<Duration>,
    least: Option<Spanned<u32>>,
    most: Option<Spanned<u32>>,
    #[serde(default, deserialize_with = "parsed")]
    settle: Option<Duration>,
    #[serde(default, deserialize_with = "parsed")]
    settle_max: Option<Duration>,
    #[serde(default, deserialize_with = "parsed")]
    window_max: Option<Duration>,
}

/// An error, and the offset of what it is about.
type Misplaced = (PlanError, usize);

impl ProcedureTable {
    pub(super) fn check(&self, pace: Pace) -> Result<Procedure, Misplaced> {
        let named = self.blocks.as_ref().map(|it| *it.get_ref());
        let blocks = named.unwrap_or(BLOCKS_DEFAULT);
        // Who names a number of blocks means that number.
        let most_default = named.unwrap_or(BLOCKS_MAX_DEFAULT);
        let blocks_max = self.blocks_max.as_ref().map_or(most_default, |it| *it.get_ref());
        within(blocks, 1..=BLOCKS_BOUND, "blocks", self.blocks.as_ref())?;
        within(blocks_max, blocks..=BLOCKS_BOUND, "blocks at most", self.blocks_max.as_ref())?;
        let (blocks, blocks_max) = match pace {
            Pace::Full => (blocks, blocks_max),
            Pace::Quick => (1, 1),
            Pace::Coarse => (BLOCKS_COARSE, BLOCKS_COARSE),
        };
        let precision = self.precision.or(Share::percent(PRECISION_DEFAULT)).expect("the default is a share");
        Ok(Procedure {
            blocks,
            blocks_max,
            precision,
            ends: Ends::Precise,
            companions: Companions::OfTables,
            twin: self.twin.unwrap_or(true),
            control: self.control.unwrap_or(true),
            placement: self.placement,
            processes: self.processes,
            bursts: self.bursts.check()?,
            idle_look: idle_look(self.idle_look.as_ref())?,
            jvm_events: self.jvm_events,
            cool_down_max: match pace {
                Pace::Full => self.cool_down_max.unwrap_or(COOL_DOWN_MAX_DEFAULT),
                Pace::Quick | Pace::Coarse => Duration::ZERO,
            },
        })
    }
}

impl BurstsTable {
    fn check(&self) -> Result<Bursts, Misplaced> {
        let least = self.least.as_ref().map_or(3, |it| *it.get_ref());
        let most = self.most.as_ref().map_or(12.max(least), |it| *it.get_ref());
        within(least, 1..=BURSTS_BOUND, "bursts", self.least.as_ref())?;
        within(most, least..=BURSTS_BOUND, "bursts at most", self.most.as_ref())?;
        let length = burst_length(self.length.as_ref())?;
        let pause = self.pause.unwrap_or(Duration::from_secs(3));
        let settle = self.settle.unwrap_or(Duration::from_secs(2));
        // The users spread over it, and what the first of them found goes by.
        let settle_max = self.settle_max.unwrap_or(Duration::from_secs(20));
        // Beyond, the audit says that the window was too short.
        let window_max = self.window_max.unwrap_or(Duration::from_secs(60));
        Ok(Bursts { length, pause, least, most, settle, settle_max, window_max })
    }
}

/// Bursts of no length would load nothing, and no stack would ever be steady.
fn burst_length(given: Option<&Spanned<String>>) -> Result<Duration, Misplaced> {
    let Some(given) = given else { return Ok(BURST_LENGTH_DEFAULT) };
    let text = given.get_ref();
    let length = text
        .parse::<Duration>()
        .map_err(|error| PlanError::new(format!("`{text}`: {error}"), "docs/experiments.md shows every key"));
    length.and_then(|it| span("burst", it)).map_err(|error| (error, given.span().start))
}

fn idle_look(given: Option<&Spanned<String>>) -> Result<Duration, Misplaced> {
    let Some(given) = given else { return Ok(IDLE_LOOK_DEFAULT) };
    let look = given.get_ref().parse().ok();
    look.filter(|it| (IDLE_LOOK_LEAST..=IDLE_LOOK_MOST).contains(it)).ok_or_else(|| {
        let what = format!("an idle look of {:?}", given.get_ref());
        let help = format!("give {IDLE_LOOK_LEAST} to {IDLE_LOOK_MOST}");
        (PlanError::new(what, help), given.span().start)
    })
}

fn within(
    count: u32,
    bounds: std::ops::RangeInclusive<u32>,
    of: &str,
    at: Option<&Spanned<u32>>,
) -> Result<(), Misplaced> {
    if bounds.contains(&count) {
        return Ok(());
    }
    let error =
        PlanError::new(format!("{count} {of}"), format!("give {} to {}", bounds.start(), bounds.end()));
    Err((error, at.map_or(0, |at| at.span().start)))
}
