//! What a run or a load tells while it goes on: sent by the lab, and turned into pictures and lines by whatever shows it.
//!
//! Invariants: plain data that borrows what it tells of; nothing here says how it came about or how it is shown, so that
//! sender and viewer need not know each other.
#![forbid(unsafe_code)]

use std::num::NonZeroU32;
use std::path::Path;

use plan::{Cell, LoadPlan};
use record::{NamedUse, Trial};
use signals::CpuReading;
use stats::{Interval, Quantile, RateSample, Steadiness};
use units::{Duration, Instant};

/// What is going on in a run.
#[derive(Debug)]
pub enum Event<'a> {
    /// The run has its directory.
    Begun {
        /// Title of the experiment.
        title: &'a str,
        /// The run's directory.
        dir: &'a Path,
    },
    /// Before the first trial, who else used the machine.
    Neighbours {
        /// Cores that all others used together.
        used_cores: f64,
        /// Of so many.
        cores: u32,
        /// Those who used the most, the greatest first, a few of them.
        others: &'a [NamedUse],
        /// Whether that is waited for to end.
        waits: bool,
    },
    /// A block was disturbed, and is made once more.
    Repeating {
        /// Which, from 1.
        block: u32,
        /// By what.
        why: &'a str,
    },
    /// The load of the trial that was started last lost a machine, and the trial is made anew.
    MadeAgain {
        /// The attempt that begins now, from 2.
        attempt: usize,
        /// Attempts at most.
        of: usize,
        /// What became of the one before.
        why: &'a str,
    },
    /// A stack does not take part.
    LeftOut {
        /// Its id.
        stack: &'a str,
        /// Why, and what would mend it.
        why: &'a str,
    },
    /// A stack is being built, if its sources changed.
    Building {
        /// Its id.
        stack: &'a str,
    },
    /// A stack is to be built, and something has to be waited for. When that is over, it is said to be built again.
    Waiting {
        /// Its id.
        stack: &'a str,
        /// For what.
        for_what: &'a str,
    },
    /// A trial starts.
    Starting {
        /// From 1.
        number: u32,
        /// What is still to do, this one included.
        ahead: Ahead,
        /// Which block, from 1.
        block: u32,
        /// Which round.
        round: &'a str,
        /// Which cell.
        cell: &'a Cell,
    },
    /// Something of the trial that was started last.
    During(Moment<'a>),
    /// A table is as precise as was asked for, and goes no further.
    Precise {
        /// Its round.
        round: &'a str,
        /// Its load.
        load: &'a str,
        /// After so many blocks.
        blocks: u32,
    },
    /// Claims were held against the blocks so far, and decide which cells go on.
    Looked {
        /// After so many blocks.
        blocks: u32,
        /// Cells that later blocks have.
        open: usize,
        /// Cells of the run.
        cells: usize,
    },
    /// A trial is written down.
    Finished {
        /// The trial.
        trial: &'a Trial,
    },
}

/// What is still to do. Where tables are precise early, it is less than the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ahead {
    /// Trials to be made at any rate.
    pub trials: u32,
    /// How long they take.
    pub left: Duration,
    /// Trials to be made at most.
    pub trials_max: u32,
    /// How long those take.
    pub left_max: Duration,
}

/// What an observer is told while a load goes on.
#[derive(Debug)]
pub enum Moment<'a> {
    /// At least ten times a second.
    Tick(Instant),
    /// A part of a trial begins that has no load.
    Stage(Stage),
    /// A burst of a stack's warm-up begins.
    Burst {
        /// From 1.
        number: u32,
        /// At most.
        of: u32,
    },
    /// A burst was made and the rest behind it is over.
    Warmed {
        /// What it was like.
        burst: &'a record::Burst,
        /// What it tells together with those before it.
        told: Steadiness,
    },
    /// The load begins that is measured.
    Load(&'a LoadPlan),
    /// A pilot load begins, to see whether so many threads do.
    Pilot(NonZeroU32),
    /// Connections are being opened: so many came up or failed.
    Opening(u64),
    /// Who used how much of the CPU so far; not oftener than a tick, and only where a sampler watches.
    Cpu(CpuReading),
    /// The machines that are to carry a load are waited for: how far they are.
    Gathering(&'a str),
    /// Of a load that several machines carry, how the worst of them do, the worst first; once a second.
    Agents(&'a [AgentNow<'a>]),
    /// Something happened to one of them.
    Agent {
        /// Its number, from 0.
        number: usize,
        /// How many there are.
        of: usize,
        /// As it was named.
        name: &'a str,
        /// What happened to it.
        news: AgentNews<'a>,
    },
    /// An interval of one load thread is over: a second, or what was left at the end.
    Interval {
        /// When it began, from the start of the first on.
        from: Duration,
        /// What happened in it.
        interval: &'a Interval,
        /// How long it was.
        length: Duration,
        /// The rate within it, a tenth of a second at a time.
        rates: &'a [RateSample],
        /// Load threads that tell of that time, this one and those that have not ended.
        threads: u32,
    },
}

/// What may happen to a machine that carries a share of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentNews<'a> {
    /// The stream to it broke; it goes on by itself.
    Broken {
        /// What was seen of it.
        why: &'a str,
        /// For how long it may come back.
        comes_back_within: Duration,
    },
    /// It is heard of again, and what it did meanwhile is told.
    Back,
    /// It is given up, for this reason.
    Lost(&'a str),
}

/// How a machine does that carries a share of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentNow<'a> {
    /// Its number, from 0.
    pub number: usize,
    /// As it was named.
    pub name: &'a str,
    /// How late its requests went out by its own fault in its last second, 99th percentile; `None` of one without any.
    pub generator_lag_p99: Option<Quantile>,
    /// How long it was not heard of.
    pub silent_for: Duration,
    /// Whether it is lost.
    pub is_lost: bool,
}

/// A part of a trial without load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Sockets of the trial before it are waited for.
    CoolingDown,
    /// The stack and what stands behind it are booted.
    Booting,
    /// Its answer is held against the one that is expected.
    Checking,
    /// Its processes are ended.
    Stopping,
}
