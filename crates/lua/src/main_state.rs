//! The main state: `setup` before the load, `done` after it.

use std::path::Path;

use mlua::{MetaMethod, UserData, UserDataFields, UserDataMethods};

use crate::environment::{Environment, ScriptError, Url};

/// A script's main state.
#[derive(Debug)]
pub struct Main(Environment);

/// What `done` is told of the whole load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// Length of the load in microseconds.
    pub duration_us: u64,
    /// Answers.
    pub requests: u64,
    /// Bytes received.
    pub bytes: u64,
    /// By kind; a status above 399 counts among the answers as well, as with wrk.
    pub errors: Errors,
}

/// Counts of what went wrong, under wrk's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Errors {
    /// Connections that did not come up.
    pub connect: u64,
    /// Reads that failed.
    pub read: u64,
    /// Writes that failed.
    pub write: u64,
    /// Statuses above 399.
    pub status: u64,
    /// Requests that were not answered in time.
    pub timeout: u64,
}

/// Figures of a distribution, as `done` may ask for them: of latency in microseconds, or of requests a second.
#[derive(Debug, Clone, Default)]
pub struct Latency {
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub stdev: f64,
    /// Values and how often each occurred, in rising order.
    pub counts: Vec<(u64, u64)>,
}

impl Latency {
    /// The smallest value that so many percent of all do not exceed, by nearest rank as in what is printed; 0 where there is
    /// none.
    fn percentile(&self, percent: f64) -> u64 {
        /// What a product may be off by must not make a whole rank the next one.
        const ROUNDING: f64 = 1e-12;
        let total: u64 = self.counts.iter().map(|(_, count)| count).sum();
        let rank = (percent * total as f64 / 100.0 * (1.0 - ROUNDING)).ceil().max(1.0) as u64;
        let mut so_far = 0;
        for (value, count) in &self.counts {
            so_far += count;
            if so_far >= rank {
                return *value;
            }
        }
        self.counts.last().map_or(0, |(value, _)| *value)
    }
}

impl UserData for Latency {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("min", |_, this| Ok(this.min));
        fields.add_field_method_get("max", |_, this| Ok(this.max));
        fields.add_field_method_get("mean", |_, this| Ok(this.mean));
        fields.add_field_method_get("stdev", |_, this| Ok(this.stdev));
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("percentile", |_, this, percent: f64| Ok(this.percentile(percent)));
        methods.add_meta_method(MetaMethod::Len, |_, this, ()| Ok(this.counts.len()));
        methods.add_meta_method(MetaMethod::Call, |_, this, index: usize| {
            let at = index.checked_sub(1).and_then(|index| this.counts.get(index));
            Ok(at.copied().unwrap_or((0, 0)))
        });
    }
}

impl Main {
    /// Runs the script in a state of its own.
    pub fn new(file: &Path, script: &str, url: &Url) -> Result<Self, ScriptError> {
        Environment::new(file, script, url).map(Self)
    }

    /// Calls the script's `setup` for a load thread.
    pub fn setup(&self, thread: &Environment) -> Result<(), ScriptError> {
        let Some(setup) = self.0.hook("setup") else { return Ok(()) };
        setup.call::<()>(thread.thread()).map_err(|error| ScriptError::within("setup", &error))?;
        self.0.flush()
    }

    /// Writes out what the script has printed in any state.
    pub fn flush(&self) -> Result<(), ScriptError> {
        self.0.flush()
    }

    /// Whether the script wants to hear how the load went.
    pub fn has_done(&self) -> bool {
        self.0.hook("done").is_some()
    }

    /// Calls the script's `done`.
    pub fn done(&self, summary: &Summary, latency: Latency, requests: Latency) -> Result<(), ScriptError> {
        let Some(done) = self.0.hook("done") else { return Ok(()) };
        let lua = self.0.lua();
        let Errors { connect, read, write, status, timeout } = summary.errors;
        let errors = lua.create_table()?;
        for (name, count) in
            [("connect", connect), ("read", read), ("write", write), ("status", status), ("timeout", timeout)]
        {
            errors.set(name, count)?;
        }
        let table = lua.create_table()?;
        for (name, figure) in
            [("duration", summary.duration_us), ("requests", summary.requests), ("bytes", summary.bytes)]
        {
            table.set(name, figure)?;
        }
        table.set("errors", errors)?;
        done.call::<()>((table, latency, requests)).map_err(|error| ScriptError::within("done", &error))
    }
}
