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
        // What was spoken, and by how many at a time on each connection: others would be another load.
        let protocol = match (load.protocol.is_some(), measured.load.tls.is_some()) {
            (false, _) => "http/1.1",
            (true, true) => "h2",
            (true, false) => "h2c",
        };
        let streams = load.streams.map_or_else(String::new, |streams| format!("streams = {streams}\n"));
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
             [load]\nconnections = [{}]\nprotocol = \"{protocol}\"\n{streams}threads = {threads}\nreuse = \"{reuse}\"\nwarm_up = {}\nduration = {}\ntimeout = {}\n{think}\n\
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use plan::Pace;
    use plan::stack::Catalogue;
    use record::{RunDir, TrialResult};

    use super::*;

    /// What was measured with sixteen requests on each connection is put to the test with as many.
    #[test]
    fn another_number_of_users_is_the_same_load_otherwise() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let dir = root.join("docs/samples/records/quick");
        let catalogue = Catalogue::load(&root.join("stacks")).expect("the catalogue is valid");
        let recorded =
            Experiment::read(&RunDir::experiment_path(&dir), &catalogue, Pace::Full).expect("it is one");
        let trials = RunDir::read_trials(&dir).expect("they can be read");
        let measured = trials.iter().find_map(|trial| match &trial.result {
            TrialResult::Measured(measured) => Some(&**measured),
            TrialResult::Failed { .. } => None,
        });
        let mut measured = measured.expect("one was measured").clone();
        let (stacks, users) = (&["undertow-h2-today"][..], &[2, 4, 8][..]);
        let beside = Beside { title: "t", endpoint: "hello", stacks, users, blocks: 2, window_s_max: 8.0 };
        let loads = |measured: &Measured| -> Vec<(u32, u32)> {
            let text = beside.as_toml(measured, &recorded);
            let read = Experiment::parse(Path::new("x.toml"), &text, &catalogue, Pace::Full);
            let read = read.unwrap_or_else(|error| panic!("{error}\n{text}"));
            let cells = read.rounds.iter().flat_map(|round| &round.cells);
            cells.map(|cell| (cell.load.connections.get(), cell.load.exchanges())).collect()
        };
        assert_eq!(loads(&measured), [(2, 2), (4, 4), (8, 8)]);
        measured.load.load.streams = Some(16);
        measured.load.load.protocol = Some("http/2".into());
        measured.load.tls = Some(record::Tls::default());
        assert_eq!(loads(&measured), [(2, 32), (4, 64), (8, 128)]);
    }
}
