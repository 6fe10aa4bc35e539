//! The texts of a run: an experiment of one cell, and the manifest of a calibration server.

use std::path::Path;

use units::Seed;

use crate::case::{Case, Load, Server, Size, Target};

/// The id of the stack that is made for a case.
const OWN_ID: &str = "planted";
/// Requests that a boot and the check of the answer make before the load, and some more: if one of them were an error,
/// nothing would be measured.
const REQUESTS_BEFORE_LOAD: u64 = 8;
/// How many seeds of the target belong to one of ours: of as many, one is good.
const SEEDS_APART: u64 = 1_000_000;

/// The id of what is loaded.
pub(crate) fn stack_id(server: &Server) -> &str {
    match server {
        Server::Target(_) | Server::Program(_) => OWN_ID,
        Server::Stack(id) => id,
    }
}

/// The experiment that measures `size` of `case` once.
pub(crate) fn experiment(case: &Case, size: &Size, seed: u64) -> String {
    let Load { endpoint, connections, streams, rate, fresh, .. } = size.load;
    let Load { warm_up_s, window_s, timeout_s, split, with_upstreams, .. } = size.load;
    let streams = streams.map(|streams| format!("streams = {streams}\n")).unwrap_or_default();
    let rate = rate.map(|rate| format!("rate = \"{rate}\"\n")).unwrap_or_default();
    // Said in any case: where a server closes by design, a client that keeps connections is what is asked for.
    let reuse = if fresh { "fresh" } else { "keep-alive" };
    let placement = if split { "split" } else { "shared" };
    format!(
        r#"title = "Planted: {name}, {label}"
seed = {seed}
blocks = 1
twin = false
control = false
placement = "{placement}"
cool_down_max = "0s"

[load]
connections = [{connections}]
{streams}{rate}reuse = "{reuse}"
warm_up = "{warm_up_s}s"
duration = "{window_s}s"
timeout = "{timeout_s}s"

[[round]]
name = "planted"
endpoint = "{endpoint}"
stacks = ["{id}"]
with_upstreams = {with_upstreams}
"#,
        name = case.name,
        label = size.label,
        endpoint = endpoint.name(),
        id = stack_id(&size.server),
    )
}

/// The manifest of what is no stack of the repository, which has its own; programs are in `servers`.
pub(crate) fn own_manifest(server: &Server, servers: &Path, seed: u64) -> Option<String> {
    match server {
        Server::Target(target) => Some(manifest(target, seed)),
        Server::Program(program) => Some(program.manifest(servers)),
        Server::Stack(_) => None,
    }
}

/// The manifest of a calibration server.
fn manifest(target: &Target, seed: u64) -> String {
    let Target { options, limits, error_share, closes, speaks } = *target;
    let target_seed = seed_with_good_start(seed, error_share);
    let more = format!("--error-share {error_share} --seed {target_seed}");
    // It brings paths of its own: /hello, and /sleep with its 100 ms.
    let words = options.split_whitespace().chain(more.split_whitespace());
    let options: Vec<String> = words.map(|word| format!("\"{word}\"")).collect();
    let connection = if closes { "close" } else { "keep-alive" };
    format!(
        r#"title = "Planted"
family = "planted"
generation = "timeless"

[limits]
{limits}

[run]
command = ["{{proofload}}", "target", "--listen", "127.0.0.1:{{port}}", {options}]
{speaks}
[ready]
timeout = "20s"

[[endpoint]]
name = "hello"
path = "/hello"
body = "hello"
connection = "{connection}"

[[endpoint]]
name = "sleep"
path = "/sleep"
body = "hello"
delay = "100ms"
connection = "{connection}"
"#,
        options = options.join(", "),
        speaks = speaks.lines(),
    )
}

/// A seed of the target, found from `seed`, with which none of its first requests is among its errors.
fn seed_with_good_start(seed: u64, error_share: f64) -> u64 {
    // As the target draws them: the upper 53 bits as a fraction of one.
    let is_error = |target_seed: u64, request: u64| {
        ((Seed(target_seed).derive(request).0 >> 11) as f64 / (1u64 << 53) as f64) < error_share
    };
    let all_good =
        |target_seed: &u64| !(0..REQUESTS_BEFORE_LOAD).any(|request| is_error(*target_seed, request));
    let first = seed * SEEDS_APART;
    (first..first + SEEDS_APART).find(all_good).unwrap_or(first)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use plan::stack::Catalogue;
    use plan::{Experiment, Pace};

    use super::*;
    use crate::table::cases;

    /// Whether a case's texts are valid, those that name a stack of the repository with its catalogue.
    #[test]
    fn every_size_of_every_case_is_an_experiment() {
        let own = Path::new(env!("CARGO_MANIFEST_DIR"));
        let of_repository = Catalogue::load(&own.join("../stacks")).unwrap();
        let mut stacks = BTreeSet::new();
        for case in cases() {
            for size in &case.sizes {
                let folder = tempfile::tempdir().unwrap();
                let catalogue = match own_manifest(&size.server, &own.join("servers"), 1) {
                    None => of_repository.clone(),
                    Some(manifest) => {
                        let dir = folder.path().join(OWN_ID);
                        std::fs::create_dir(&dir).unwrap();
                        std::fs::write(dir.join("stack.toml"), manifest).unwrap();
                        Catalogue::load(folder.path()).unwrap()
                    }
                };
                let text = experiment(&case, size, 1);
                let read = Experiment::parse(Path::new("planted.toml"), &text, &catalogue, Pace::Full);
                let read = read.unwrap_or_else(|error| panic!("{}, {}: {error}", case.name, size.label));
                let cells = &read.rounds[0].cells;
                assert_eq!(cells.len(), if size.load.with_upstreams { 2 } else { 1 });
                assert!(cells.iter().any(|cell| cell.stack == stack_id(&size.server)));
                stacks.insert(stack_id(&size.server).to_owned());
            }
        }
        assert!(stacks.len() > 5, "{stacks:?}");
    }

    #[test]
    fn a_seed_gives_no_error_before_the_load_and_seeds_differ() {
        let seeds: BTreeSet<u64> = (1..=5).map(|seed| seed_with_good_start(seed, 0.3)).collect();
        assert_eq!(seeds.len(), 5);
        for seed in seeds {
            for request in 0..REQUESTS_BEFORE_LOAD {
                assert!(((Seed(seed).derive(request).0 >> 11) as f64 / (1u64 << 53) as f64) >= 0.3);
            }
        }
    }
}
