//! An experiment of a load that was recorded, beside others: what a verdict is put to the test by.

use plan::toml_file::string;
use plan::{Experiment, Placement};
use record::{Load, Measured};

/// What is measured side by side.
pub(crate) struct Beside<'a> {
    pub(crate) title: &'a str,
    pub(crate) endpoint: &'a str,
    pub(crate) stacks: &'a [&'a str],
    /// Numbers of users: of connections.
    pub(crate) users: &'a [u32],
    pub(crate) blocks: u32,
    /// How long the measured part of a load may be, seconds; longer ones are cut.
    pub(crate) window_s_max: f64,
}

impl Beside<'_> {
    /// The experiment, as TOML: each stack with each number of users, measured as `measured` was, a closed load of users who stay,
    /// in random blocks. `recorded` is what `measured` is of.
    pub(crate) fn as_toml(&self, measured: &Measured, recorded: &Experiment) -> String {
        let Self { title, endpoint, stacks, users, blocks, window_s_max } = self;
        let load = &measured.load.load;
        // What is warmed up until it is steady is warmed up once for all numbers of users.
        let (warm_up, processes) = match &measured.warm_up {
            Some(_) if users.len() > 1 => ("steady".to_owned(), "block"),
            Some(_) => ("steady".to_owned(), "fresh"),
            None => (seconds(load.warm_up_s), "fresh"),
        };
        let duration_s = load.duration_s.unwrap_or(measured.load.window.duration_s).min(*window_s_max);
        let think = load
            .think_us
            .filter(|us| *us > 0.0)
            .map_or_else(String::new, |us| format!("think = {}\n", string(&seconds(us / 1e6))));
        let reuse = if load.keep_alive { "keep-alive" } else { "fresh" };
        let placement = match recorded.procedure.placement {
            Placement::Shared => "shared",
            Placement::Split => "split",
        };
        let cool_down_max = seconds(recorded.procedure.cool_down_max.as_secs_f64());
        let stacks: Vec<String> = stacks.iter().map(|stack| string(stack)).collect();
        let users: Vec<String> = users.iter().map(u32::to_string).collect();
        let Load { threads, timeout_s, .. } = load;
        format!(
            "title = {}\nblocks = {blocks}\nblocks_max = {blocks}\ntwin = false\ncontrol = false\n\
             placement = \"{placement}\"\nprocesses = \"{processes}\"\ncool_down_max = {}\n\n\
             [load]\nconnections = [{}]\nthreads = {threads}\nreuse = \"{reuse}\"\nwarm_up = {}\nduration = {}\ntimeout = {}\n{think}\n\
             [[round]]\nname = \"confirm\"\nendpoint = {}\nstacks = [{}]\n",
            string(title),
            string(&cool_down_max),
            users.join(", "),
            string(&warm_up),
            string(&seconds(duration_s)),
            string(&seconds(*timeout_s)),
            string(endpoint),
            stacks.join(", "),
        )
    }
}

/// Milliseconds are as exact as such times are written.
fn seconds(seconds: f64) -> String {
    format!("{:.0}ms", seconds * 1e3)
}
