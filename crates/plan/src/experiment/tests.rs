use std::path::{Path, PathBuf};

use super::*;
use crate::stack::Catalogue;

fn catalogue() -> Catalogue {
    let stacks = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../stacks");
    let catalogue = Catalogue::load(&stacks).expect("the folder is there");
    let broken: Vec<String> = catalogue.broken().map(|(_, error)| error.to_string()).collect();
    assert_eq!(broken, [""; 0], "every stack of the repository is valid");
    catalogue
}

fn parse(text: &str) -> Result<Experiment, PlanError> {
    Experiment::parse(Path::new("x.toml"), text, &catalogue(), Pace::Full)
}

const GOOD: &str = r#"
title = "t"
[load]
connections = [4, 8]
duration = "2s"
[[round]]
name = "hello"
endpoint = "hello"
stacks = ["target-pool", "target-single"]
load = { timeout = "5s" }
"#;

#[test]
fn a_round_is_stacks_times_loads() {
    let experiment = parse(GOOD).unwrap();
    let cells = &experiment.rounds[0].cells;
    let names: Vec<(&str, Role, u32)> =
        cells.iter().map(|cell| (cell.stack.as_str(), cell.role, cell.load.connections.get())).collect();
    let of = |connections| {
        [
            ("target-pool", Role::Stack, connections),
            ("target-single", Role::Stack, connections),
            ("target-pool", Role::Twin, connections),
            ("control", Role::Control, connections),
        ]
    };
    assert_eq!(names, [of(4), of(8)].concat());
    assert_eq!(cells[0].load.timeouts.request, Duration::from_secs(5));
    assert_eq!(cells[0].load.stop.duration, Duration::from_secs(2));
    assert_eq!(experiment.stacks(), ["target-pool", "target-single"]);
}

/// The client keeps its connections, and each is good for one answer.
#[test]
fn the_control_of_a_server_that_closes_connections_has_a_new_one_for_each_request() {
    use engine::Reuse::{FreshConnection, KeepAlive};
    let reuse_of = |stack: &str, reuse: &str| {
        let text = GOOD
            .replace("\"target-pool\", \"target-single\"", &format!("\"{stack}\""))
            .replace("timeout = \"5s\"", &format!("reuse = \"{reuse}\""));
        let cells = parse(&text).unwrap().rounds.remove(0).cells;
        let of = |role: Role| cells.iter().find(|cell| cell.role == role).unwrap().load.reuse;
        [of(Role::Stack), of(Role::Control)]
    };
    assert_eq!(reuse_of("java-socket-fixed-pool", "keep-alive"), [KeepAlive, FreshConnection]);
    assert_eq!(reuse_of("java-socket-fixed-pool", "fresh"), [FreshConnection, FreshConnection]);
    assert_eq!(reuse_of("target-pool", "keep-alive"), [KeepAlive, KeepAlive]);
    assert_eq!(reuse_of("target-pool", "fresh"), [FreshConnection, FreshConnection]);
}

#[test]
fn how_many_requests_a_cell_has_at_most_is_known_where_they_are_counted() {
    assert_eq!(parse(GOOD).unwrap().requests_max(), None);
    let counted = GOOD.replace("duration = \"2s\"", "requests = 100");
    assert_eq!(parse(&counted).unwrap().requests_max(), Some(2000), "of twenty blocks");
    let blocks = counted.replace("title = \"t\"", "title = \"t\"\nblocks = 3");
    assert_eq!(parse(&blocks).unwrap().requests_max(), Some(300));
}

#[test]
fn one_number_of_connections_needs_no_brackets() {
    let loads = |connections: &str| {
        let text = GOOD.replace("connections = [4, 8]", &format!("connections = {connections}"));
        let cells = parse(&text).unwrap().rounds.remove(0).cells;
        cells.iter().map(|cell| cell.load.connections.get()).collect::<Vec<_>>()
    };
    assert_eq!(loads("32"), loads("[32]"));
    let error = parse(&GOOD.replace("[4, 8]", "\"4\"")).unwrap_err().to_string();
    assert!(
        error.starts_with("x.toml:4:15: `connections` is given string \"4\", and takes a whole number"),
        "{error}"
    );
}

#[test]
fn a_slip_in_a_key_or_a_value_is_told_with_what_was_meant() {
    for (from, to, said) in [
        ("duration =", "duraton =", "x.toml:5:1: unknown key `duraton`; did you mean duration?"),
        ("timeout =", "time_out =", "unknown key `time_out`; did you mean timeout?"),
        ("endpoint = \"hello\"", "endpoint = \"helo\"", "no endpoint `helo`; did you mean hello?"),
        ("[\"target-pool\", \"target-single\"]", "\"target-pool\"", "write stacks = [\"target-pool\"]"),
        ("timeout = \"5s\"", "arrivals = \"poison\"", "unknown value `poison`; did you mean poisson?"),
        ("timeout = \"5s\"", "rate = 10", "and takes text in quotes; write rate = \"10\""),
        (
            "duration = \"2s\"",
            "duration = 2",
            "x.toml:5:12: `2` is not in quotes, and would be wrong in them, too: unknown unit; write one of ns",
        ),
        ("duration = \"2s\"", "duration = 2", "(as in 250ms, 30s or 1h30m); write duration = \"2s\"; docs/"),
        ("title = \"t\"", "title = \"t\"\nprecision = 0.02", "write precision = \"2%\"; docs/"),
        (
            "title = \"t\"",
            "title = \"t\"\nconnections = 32",
            "x.toml:3:1: unknown key `connections`; it belongs into [load] or [quick]; docs/",
        ),
        (
            "title = \"t\"",
            "title = \"t\"\nstacks = []",
            "unknown key `stacks`; it belongs into [[round]]; docs/",
        ),
        ("[load]", "[[load]]", "`load` is a list of tables, and takes one table; write [load]; docs/"),
        (
            "[[round]]",
            "[round]",
            "x.toml:6:1: `round` is one table, and takes a list of them; write [[round]]; docs/",
        ),
        (
            "timeout = \"5s\"",
            "threads = -1",
            "`threads` is given -1, and takes a number of threads, or \"auto\"; write it so; docs/",
        ),
        ("timeout = \"5s\"", "threads = [2]", "`threads` is given a list, and takes a number of threads"),
        ("duration = \"2s\"", "duration = 2.5", "`2.5` is not in quotes, and would be wrong in them, too"),
        ("duration = \"2s\"", "duration = true", "`true` is not in quotes, and would be wrong in them, too"),
    ] {
        let error = parse(&GOOD.replace(from, to)).unwrap_err().to_string();
        assert!(error.contains(said), "{said}: {error}");
    }
}

#[test]
fn a_round_may_say_how_users_start_and_how_connections_are_used() {
    let keys = r#"ramp_up = "50s", requests_per_user = 1000, reuse = "fresh""#;
    let text = GOOD.replace("duration = \"2s\"\n", "").replace("timeout = \"5s\"", keys);
    let load = &parse(&text).unwrap().rounds[0].cells[0].load;
    assert_eq!(load.label(), "4 users, ramp-up 50s, 1000 requests each, fresh");
    let text = text.replace("\"fresh\"", "\"keep-alive\"");
    assert_eq!(parse(&text).unwrap().rounds[0].cells[0].load.reuse, engine::Reuse::KeepAlive);
}

#[test]
fn every_mistake_names_its_line_and_what_to_do() {
    let with = |from: &str, to: &str| GOOD.replace(from, to);
    for (text, start, part) in [
        (with("duration", "durration"), "x.toml:5:1", "unknown key"),
        (with("\"2s\"", "\"2\""), "x.toml:5:", "unknown unit"),
        (with("[4, 8]", "[0]"), "x.toml:10:", "zero connections"),
        (with("target-pool", "target-pol"), "x.toml:9:", "target-pool"),
        (with("endpoint = \"hello\"", "endpoint = \"helo\""), "x.toml:9:", "helo"),
        (with("\"target-single\"", "\"target-pool\""), "x.toml:7:", "has target-pool twice; name it once"),
        (
            with("[4, 8]", "[4, 8, 4]"),
            "x.toml:7:",
            "has the load of 4 connections twice; write each number of connections once",
        ),
        (with("title = \"t\"", "title = \"t\"\nblocks = 0"), "x.toml:3:", "0 blocks"),
        (with("title = \"t\"", ""), "x.toml:1:1", "title"),
        ("title = \"t\"".into(), "x.toml: ", "no round"),
        ("title = ".into(), "x.toml:1:", ""),
    ] {
        let error = parse(&text).unwrap_err().to_string();
        assert!(error.starts_with(start) && error.contains(part), "{error}\nshould be {start} … {part}");
    }
}

/// Two tables of one name would be one in the record, in which a trial of one stands for both.
#[test]
fn answer_times_are_compared_once_at_each_share_of_what_stacks_can_carry() {
    let shares = |latency: &str, load: &str| {
        let text = GOOD
            .replace("endpoint = \"hello\"", &format!("endpoint = \"hello\"\nlatency = {latency}"))
            .replace("timeout = \"5s\"", load);
        parse(&text).map(|it| it.rounds[0].latency.len()).map_err(|error| error.to_string())
    };
    let plain = "timeout = \"5s\"";
    assert_eq!(shares("[\"50%\", \"5%\"]", plain), Ok(2));
    let twice = shares("[\"50%\", \"50.0 %\"]", plain).unwrap_err();
    assert!(twice.starts_with("x.toml:9:19: latency has 50% twice; write each share once"), "{twice}");
    for (load, by) in [("rate = \"100\"", "a rate"), ("think = \"5ms\"", "a think time")] {
        assert_eq!(shares("[]", load), Ok(0), "{load}");
        let held_back = shares("[\"50%\"]", load).unwrap_err();
        let said = format!("x.toml:9:12: with {by} it is not seen what a stack can carry");
        assert!(held_back.starts_with(&said), "{held_back}");
    }
    let name = "hello, latency at 50% of the slowest";
    let named = GOOD.replace("name = \"hello\"", &format!("name = \"{name}\""));
    let named = parse(&named).unwrap_err().to_string();
    assert!(named.starts_with(&format!("x.toml:7:8: `{name}` is how answer times")), "{named}");
}

#[test]
fn a_quick_run_has_one_block_and_the_loads_of_its_table() {
    let quick = |text: &str| {
        let experiment = Experiment::parse(Path::new("x.toml"), text, &catalogue(), Pace::Quick).unwrap();
        let cells = &experiment.rounds[0].cells;
        let stacks = cells.iter().filter(|cell| cell.role == Role::Stack).count();
        (experiment.procedure.blocks, stacks, cells[0].load.stop.duration, cells[0].load.timeouts.request)
    };
    let five = Duration::from_secs(5);
    assert_eq!(quick(GOOD), (1, 4, file::QUICK_SPAN_DEFAULT, five));
    let table = "[quick]\nconnections = [4]\nduration = \"1s\"\ntimeout = \"9s\"\n[[round]]";
    let text = GOOD.replacen("[[round]]", table, 1);
    assert_eq!(quick(&text), (1, 2, Duration::from_secs(1), Duration::from_secs(9)));
    assert_eq!(parse(&text).unwrap().procedure.blocks, 10);
    let own = text.trim_end().to_owned() + "\nquick = { duration = \"7s\" }\n";
    assert_eq!(quick(&own), (1, 4, Duration::from_secs(7), five), "a round's own table replaces the other");
}

#[test]
fn a_round_with_upstreams_measures_each_alone_once() {
    let text = GOOD.replace(
        "stacks = [\"target-pool\", \"target-single\"]",
        "stacks = [\"nginx-proxy\", \"haproxy\"]\nwith_upstreams = true",
    );
    assert_eq!(parse(&text).unwrap().stacks(), ["tomcat-nio", "nginx-proxy", "haproxy"]);
    let text = text.replace("[\"nginx-proxy\"", "[\"nginx-proxy\", \"tomcat-nio\"");
    assert_eq!(parse(&text).unwrap().stacks(), ["nginx-proxy", "tomcat-nio", "haproxy"]);
}

/// A service may use a backend, a cache that answers the same, and a store that answers nothing of the kind.
#[test]
fn a_round_with_upstreams_measures_each_that_answers_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let stack = |id: &str, endpoint: &str, (upstream, told): (&str, &str)| {
        let text = format!(
            "title = \"{id}\"\nfamily = \"f\"\ngeneration = \"timeless\"\n{upstream}\n[run]\n\
             command = [\"x\", \"{{port}}\"{told}]\n[[endpoint]]\nname = \"{endpoint}\"\npath = \"/\"\nbody = \"hello\"\n"
        );
        std::fs::create_dir_all(folder.path().join(id)).unwrap();
        std::fs::write(folder.path().join(id).join("stack.toml"), text).unwrap();
    };
    let told = ", \"{upstream.db}\", \"{upstream.cache}\", \"{upstream.store}\"";
    stack("front", "hello", ("upstream = [\"db\", \"cache\", \"store\"]", told));
    stack("store", "other", ("", ""));
    let text = GOOD.replace("[\"target-pool\", \"target-single\"]", "[\"front\"]\nwith_upstreams = true");
    let parsed = |of_db: &str, of_cache: &str| {
        stack("db", of_db, ("", ""));
        stack("cache", of_cache, ("", ""));
        let catalogue = Catalogue::load(folder.path()).unwrap();
        Experiment::parse(Path::new("x.toml"), &text, &catalogue, Pace::Full)
    };
    assert_eq!(parsed("hello", "hello").unwrap().stacks(), ["db", "cache", "front"]);
    assert_eq!(parsed("other", "hello").unwrap().stacks(), ["cache", "front"]);
    let error = parsed("other", "other").unwrap_err().to_string();
    assert!(error.contains("stack `db` has no endpoint `hello`"), "{error}");
}

/// The experiments of this repository, whole and quick.
#[test]
fn every_experiment_is_valid() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        for pace in [Pace::Full, Pace::Quick] {
            let experiment = Experiment::read(&path, &catalogue(), pace);
            let experiment = experiment.unwrap_or_else(|error| panic!("{error}"));
            // Claims are of stacks, and not of one process of each.
            let keeps = experiment.procedure.processes == Processes::Kept;
            assert!(!keeps || path.ends_with("quick.toml"), "{} keeps its processes", path.display());
        }
        count += 1;
    }
    assert!(count >= 11, "{count} experiments");
}

#[test]
fn trials_are_made_as_the_file_says() {
    let with = |keys: &str| parse(&GOOD.replace("title = \"t\"", &format!("title = \"t\"\n{keys}")));
    let told = with("").unwrap().procedure;
    assert_eq!((told.blocks, told.blocks_max, told.precision.get()), (10, 20, 0.02));
    assert_eq!((told.twin, told.control, told.placement), (true, true, Placement::Shared));
    assert_eq!((told.bursts.least, told.bursts.most), (3, 12));
    // Who names a number of blocks means that number.
    assert_eq!(with("blocks = 6").unwrap().procedure.blocks_max, 6);
    assert_eq!(with("blocks = 6\nblocks_max = 9").unwrap().procedure.blocks_max, 9);
    let bare = with("twin = false\ncontrol = false\nplacement = \"split\"").unwrap();
    assert_eq!((bare.rounds[0].cells.len(), bare.procedure.placement), (4, Placement::Split));
    assert_eq!((told.processes, told.bursts.settle), (Processes::Fresh, Duration::from_secs(2)));
    let kept = with("processes = \"kept\"\nbursts = { settle = \"300ms\" }").unwrap().procedure;
    assert_eq!((kept.processes, kept.bursts.settle), (Processes::Kept, Duration::from_millis(300)));
    assert_eq!(told.idle_look, Duration::from_secs(3));
    assert_eq!(with("idle_look = \"800ms\"").unwrap().procedure.idle_look, Duration::from_millis(800));
    // A boot and the bursts are of the first trial of a kept process only.
    let cell = &with("").unwrap().rounds[0].cells[0].clone();
    assert!(kept.trial_guess(cell, true) > kept.trial_guess(cell, false));
    // What the trials before have left in TIME_WAIT is waited for where connections are many.
    let mut many = cell.clone();
    many.load.connections = std::num::NonZeroU32::new(1000).unwrap();
    assert!(kept.trial_guess(&many, false) > kept.trial_guess(cell, false));
    for (keys, start, part) in [
        ("processes = \"some\"", "x.toml:3:", "some"),
        ("idle_look = \"2h\"", "x.toml:3:", "give 1.00ms to 60.0s"),
        ("idle_look = \"long\"", "x.toml:3:", "an idle look of"),
        ("blocks = 6\nblocks_max = 5", "x.toml:4:", "5 blocks at most"),
        ("precision = \"2\"", "x.toml:3:", "unknown unit"),
        ("placement = \"apart\"", "x.toml:3:", "apart"),
        ("bursts = { least = 3, most = 2 }", "x.toml:3:", "2 bursts at most"),
        ("bursts = { length = \"5\" }", "x.toml:3:21: ", "unknown unit"),
        ("bursts = { length = \"0s\" }", "x.toml:3:21: ", "a burst of zero; give it a length, as in 2s"),
    ] {
        let error = with(keys).unwrap_err().to_string();
        assert!(error.starts_with(start) && error.contains(part), "{error}\nshould be {start} … {part}");
    }
}

/// The trials of the run whose records are in docs/choose/containers came within 57 min, and its warm-ups took most of them.
#[test]
fn a_run_is_estimated_with_the_bursts_that_warm_ups_take() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../experiments/choose-containers.toml");
    let experiment = Experiment::read(&path, &catalogue(), Pace::Full).unwrap();
    let blocks = experiment.procedure.blocks;
    let ((trials, length), (later_trials, later)) =
        (experiment.block_guess(), experiment.latency_block_guess());
    assert_eq!((trials + later_trials) * blocks, 91);
    let minutes = (length + later).as_secs_f64() / 60.0 * f64::from(blocks);
    assert!((51.0..63.0).contains(&minutes), "{minutes} min");
}

/// No more bursts than there may be, and no fewer than there must; a control has none, and boots at once.
#[test]
fn a_trial_is_estimated_by_what_it_does() {
    let of = |bursts: &str, role: Role, is_new: bool| {
        let keys = format!("title = \"t\"\nidle_look = \"1s\"\nbursts = {{ {bursts} }}");
        let text = GOOD.replace("title = \"t\"", &keys);
        let text = text.replace("duration = \"2s\"", "duration = \"2s\"\nwarm_up = \"steady\"");
        let experiment = parse(&text).unwrap();
        let cell = experiment.rounds[0].cells.iter().find(|cell| cell.role == role).unwrap();
        experiment.procedure.trial_guess(cell, is_new).as_secs_f64()
    };
    // A boot of 4 s, 6 · 5 / 6 bursts of 3 s, 2 s to settle, 2 s of load, a second of looking.
    let usual = "length = \"2s\", pause = \"1s\", least = 3, most = 6";
    assert!((of(usual, Role::Stack, true) - (4.0 + 15.0 + 2.0 + 2.0 + 1.0)).abs() < 1e-6);
    assert!((of(usual, Role::Stack, false) - (2.0 + 2.0)).abs() < 1e-6, "it is warm, and was looked at");
    let all = "length = \"2s\", pause = \"1s\", least = 6, most = 6";
    assert!((of(all, Role::Stack, true) - of(usual, Role::Stack, true) - 3.0).abs() < 1e-6);
    // Who may have many seldom takes them.
    let many = "length = \"2s\", pause = \"1s\", least = 3, most = 40";
    assert!((of(many, Role::Stack, true) - (4.0 + 36.0 + 2.0 + 2.0 + 1.0)).abs() < 1e-6);
    // A third of its two seconds to warm up.
    assert!((of(usual, Role::Control, true) - (2.0 + 2.0 / 3.0)).abs() < 1e-6);
}

#[test]
fn a_load_is_guessed_to_be_as_long_as_it_is() {
    let guess = |keys: &str| {
        let experiment = parse(&GOOD.replace("duration = \"2s\"", keys)).unwrap();
        experiment.procedure.trial_guess(&experiment.rounds[0].cells[0], false)
    };
    let short = guess("duration = \"2s\"");
    assert_eq!(guess("duration = \"10m\"").saturating_sub(short), Duration::from_secs(598));
    // What a count ends may be over much sooner.
    assert_eq!(guess("duration = \"10m\"\nrequests = 100").saturating_sub(short), Duration::from_secs(58));
}

#[test]
fn what_nobody_could_read_back_is_refused() {
    let told = |experiment: &Experiment| experiment.fits_a_record().map_err(|error| error.to_string());
    let good = parse(GOOD).unwrap();
    assert_eq!(told(&good), Ok(()));
    let with = |from: &str, to: &str| GOOD.replace(from, to);
    let named = |length: usize| format!("name = \"{}\"", "r".repeat(length));
    let loads = |count: u32| (1..=count).map(|it| it.to_string()).collect::<Vec<_>>().join(", ");
    let many_blocks = with("title = \"t\"", "title = \"t\"\nblocks_max = 1000");
    for (text, part) in [
        (with("name = \"hello\"", &named(4097)), "the name of the round `rrr"),
        // Of a round in which answer times are compared, more stands behind it.
        (with("name = \"hello\"", &format!("{}\nlatency = [\"50%\"]", named(4090))), "has 4121 bytes"),
        (format!("{GOOD}# {}\n", "x".repeat(1 << 20)), "a run keeps at most 1048576"),
        (with("4, 8", &loads(700)), "would have 2100 cells, and at most 2000"),
        (many_blocks.replace("4, 8", &loads(10)), "would have 48000 trials with those of repeated blocks"),
    ] {
        let error = told(&parse(&text).unwrap()).unwrap_err();
        assert!(error.contains(part), "{part}: {error}");
    }
    let mut wide = good;
    let cell = wide.rounds[0].cells[0].clone();
    wide.rounds[0].cells =
        (0..65).map(|number| Cell { stack: format!("s{number}"), ..cell.clone() }).collect();
    let error = told(&wide).unwrap_err();
    assert!(error.contains("would have 65 stacks in one table with its control, and at most 64"), "{error}");
}

#[test]
fn a_round_may_do_without_a_twin_and_a_control() {
    let with = |keys: &str| parse(&format!("{GOOD}{keys}\n")).unwrap().rounds.pop().unwrap();
    let roles = |round: &Round, role: Role| round.cells.iter().filter(|cell| cell.role == role).count();
    let all = with("");
    assert!(roles(&all, Role::Twin) > 0 && roles(&all, Role::Control) > 0);
    let bare = with("twin = false\ncontrol = false");
    assert_eq!((roles(&bare, Role::Twin), roles(&bare, Role::Control)), (0, 0));
    assert_eq!(roles(&bare, Role::Stack), roles(&all, Role::Stack));
}

#[test]
fn a_warm_up_is_a_time_or_goes_on_until_steady() {
    let cell = |warm_up: &str| {
        let text = GOOD.replace("[load]", &format!("[load]\nwarm_up = \"{warm_up}\""));
        parse(&text).map(|it| it.rounds[0].cells[0].clone()).map_err(|error| error.to_string())
    };
    let lasting = cell("2s").unwrap();
    assert_eq!((lasting.until_steady, lasting.load.warm_up), (false, Duration::from_secs(2)));
    assert!(cell("steady").unwrap().until_steady);
    assert!(cell("warm").unwrap_err().contains("or `steady`"));
}

#[test]
fn a_selection_leaves_cells_with_a_twin_and_a_control_of_their_own() {
    let name = |stack: &str, connections| CellId { round: "hello".into(), stack: stack.into(), connections };
    let mut experiment = parse(GOOD).unwrap();
    experiment.select(&[name("target-single", 8)].into()).unwrap();
    let cells = &experiment.rounds[0].cells;
    let told: Vec<(&str, Role)> = cells.iter().map(|cell| (cell.stack.as_str(), cell.role)).collect();
    let single = "target-single";
    assert_eq!(told, [(single, Role::Stack), (single, Role::Twin), ("control", Role::Control)]);
    assert!(experiment.select(&[name("target-pool", 9)].into()).is_err());
}

/// The cells of an experiment that have a twin.
fn twins_of(experiment: &Experiment) -> Vec<String> {
    let cells = experiment.rounds.iter().flat_map(|round| round.cells.iter().map(move |cell| (round, cell)));
    let twins = cells.filter(|(_, cell)| cell.role == Role::Twin);
    twins.map(|(round, it)| format!("{} {} {}", round.name, it.stack, it.load.connections)).collect()
}

/// Those of two rounds at 4 and 8 connections, whose processes live for a block, or for the run: that makes no difference. What
/// stands behind the stacks of a round are keys of it.
fn twins_of_a_block(one: &str, two: &str) -> Vec<String> {
    let round = |name: &str, stacks: &str| {
        format!("[[round]]\nname = \"{name}\"\nendpoint = \"hello\"\nstacks = {stacks}\n")
    };
    let [of_block, of_run] = ["block", "kept"].map(|processes| {
        let text = format!(
            "title = \"t\"\nprocesses = \"{processes}\"\n[load]\nconnections = [4, 8]\nduration = \"2s\"\n\
             {}{}",
            round("one", one),
            round("two", two)
        );
        twins_of(&parse(&text).unwrap())
    });
    assert_eq!(of_block, of_run);
    of_block
}

/// A process of a block serves all that is of its stack, and one that serves less is no twin of it. So a twin does for every round
/// that its stack is in, and the stack with the fewest cells has one.
#[test]
fn a_twin_of_a_block_has_all_cells_of_its_stack() {
    let both = "[\"target-pool\", \"target-single\"]";
    let of_pool = ["one target-pool 4", "one target-pool 8", "two target-pool 4", "two target-pool 8"];
    assert_eq!(twins_of_a_block(both, both), of_pool);
    assert_eq!(twins_of_a_block(both, "[\"target-pool\"]"), of_pool);
    assert_eq!(twins_of_a_block("[\"target-pool\"]", &format!("{both}\ntwin = false")), of_pool);
    assert_eq!(
        twins_of_a_block(both, "[\"target-pool\", \"target-event-loop\"]"),
        ["one target-single 4", "one target-single 8", "two target-event-loop 4", "two target-event-loop 8"]
    );
    let none: [&str; 0] = [];
    assert_eq!(twins_of_a_block(&format!("{both}\ntwin = false"), &format!("{both}\ntwin = false")), none);
}

/// `make run` keeps its processes. Its twin is of the one stack that is in one round alone, and so costs a trial a block.
#[test]
fn the_quick_look_doubles_the_stack_that_costs_least() {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../experiments/quick.toml");
    let experiment = Experiment::read(&file, &catalogue(), Pace::Full).unwrap();
    assert_eq!(twins_of(&experiment), ["hello gin@quiet 64"]);
    assert_eq!((experiment.block_guess().0, experiment.procedure.blocks), (8, 7), "56 trials in all");
}

/// The stack that is at most of a round's loads, so that its twin stands beside them all.
#[test]
fn claims_are_decided_beside_twins_at_as_many_loads_as_can_be_and_one_control() {
    let name = |stack: &str, connections| CellId { round: "hello".into(), stack: stack.into(), connections };
    let mut experiment = parse(GOOD).unwrap();
    let cells = [name("target-pool", 8), name("target-single", 4), name("target-single", 8)];
    experiment.decide(&cells.into(), &[6, 8]).unwrap();
    let told: Vec<(&str, Role, u32)> = experiment.rounds[0]
        .cells
        .iter()
        .map(|cell| (cell.stack.as_str(), cell.role, cell.load.connections.get()))
        .collect();
    let due = [
        ("target-single", Role::Stack, 4),
        ("target-single", Role::Twin, 4),
        ("target-pool", Role::Stack, 8),
        ("target-single", Role::Stack, 8),
        ("target-single", Role::Twin, 8),
        ("control", Role::Control, 8),
    ];
    assert_eq!(told, due);
    assert_eq!(experiment.block_guess().0, 6);
}

fn driven(text: &str, drivers: &str) -> Result<Experiment, PlanError> {
    let drivers = drivers.parse().unwrap();
    Experiment::parse_driven(Path::new("x.toml"), text, &catalogue(), Pace::Full, Some(&drivers))
}

#[test]
fn every_driver_has_cells_of_its_own_with_a_twin_and_a_control() {
    let experiment = driven(GOOD, "all").unwrap();
    let cells = &experiment.rounds[0].cells;
    let of = |driver: Driver| cells.iter().filter(move |cell| cell.driver == driver);
    for driver in Driver::ALL {
        let roles: Vec<Role> = of(driver).map(|cell| cell.role).collect();
        let one = [Role::Stack, Role::Stack, Role::Twin, Role::Control];
        assert_eq!(roles, [one, one].concat(), "{}", driver.key());
    }
    assert_eq!(experiment.drivers.to_string(), "proofload,wrk,jmeter");
    let text = GOOD.replace("title = \"t\"", "title = \"t\"\ndriver = \"wrk\"");
    assert!(parse(&text).unwrap().rounds[0].cells.iter().all(|cell| cell.driver == Driver::Wrk));
    let over = driven(&text, "jmeter").unwrap();
    assert!(
        over.rounds[0].cells.iter().all(|cell| cell.driver == Driver::Jmeter),
        "the argument goes before"
    );
}

#[test]
fn what_a_driver_cannot_carry_is_named_at_its_round() {
    let open = GOOD.replace("timeout = \"5s\"", "rate = \"100\"");
    let error = driven(&open, "all").unwrap_err().to_string();
    assert!(error.starts_with("x.toml:7:8: wrk keeps no rate: `100/s on 4`"), "{error}");
    let latency = GOOD.replace("endpoint = \"hello\"", "endpoint = \"hello\"\nlatency = [\"70%\"]");
    assert!(driven(&latency, "jmeter").unwrap_err().to_string().contains("`latency`"));
    assert!(driven(&latency, "proofload").is_ok());
    let unknown = GOOD.replace("title = \"t\"", "title = \"t\"\ndriver = \"ab\"");
    let error = parse(&unknown).unwrap_err().to_string();
    assert!(error.starts_with("x.toml:3:") && error.contains("`ab` is no driver"), "{error}");
}

#[test]
fn parts_that_are_named_are_kept_with_what_goes_with_them() {
    let kept = |only: &[&str]| {
        let mut experiment = driven(GOOD, "proofload,wrk").unwrap();
        let only: Vec<Only> = only.iter().map(|text| text.parse().unwrap()).collect();
        experiment.keep_only(&only).map(|()| {
            let cells = experiment.rounds.iter().flat_map(|round| &round.cells);
            let named = cells.filter(|cell| cell.role == Role::Stack);
            named
                .map(|cell| (cell.stack.clone(), cell.load.connections.get(), cell.driver.key()))
                .collect::<Vec<_>>()
        })
    };
    let single = |count, driver| ("target-single".to_owned(), count, driver);
    assert_eq!(
        kept(&["stack=target-single", "connections=8"]).unwrap(),
        [single(8, "proofload"), single(8, "wrk")]
    );
    assert_eq!(kept(&["connections=4", "connections=8"]).unwrap().len(), 8, "either of two of a kind");
    let error = kept(&["stack=gin"]).unwrap_err().to_string();
    assert!(error.contains("no cell of stack `gin`"), "{error}");
    let error = kept(&["stack=target-singel"]).unwrap_err().to_string();
    assert!(error.contains("did you mean target-single? name what"), "{error}");
    let error = kept(&["round=helo"]).unwrap_err().to_string();
    assert!(error.contains("did you mean hello? name what"), "{error}");
    assert!("stacks=gin".parse::<Only>().is_err() && "connections=many".parse::<Only>().is_err());
}

/// What `scripts/drivers.sh` measures.
#[test]
fn the_write_ups_quick_shapes_can_be_asked_of_all_drivers() {
    let catalogue = catalogue();
    let read = |name: &str, drivers: &str| {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
            .join("../../experiments")
            .join(name)
            .with_extension("toml");
        Experiment::read_driven(&path, &catalogue, Pace::Quick, Some(&drivers.parse().unwrap()))
    };
    for name in
        ["servlet-containers", "springmvc-webflux", "gateways", "socket-models", "virtual-threads-constant"]
    {
        let experiment = read(name, "all").unwrap_or_else(|error| panic!("{error}"));
        assert!(experiment.rounds.iter().all(|round| round.cells.len() % 3 == 0), "{name}");
    }
    let error = read("virtual-threads", "all").unwrap_err().to_string();
    assert!(error.contains("wrk knows no ramp-up"), "{error}");
    assert!(read("virtual-threads", "proofload,jmeter").is_ok());
}

#[test]
fn a_load_says_which_protocol_is_spoken_with_stacks_that_offer_several() {
    let spoken = |stacks: &str, protocol: &str| {
        let text = GOOD
            .replace("stacks = [\"target-pool\", \"target-single\"]", &format!("stacks = [{stacks}]"))
            .replace("timeout = \"5s\"", &format!("timeout = \"5s\"{protocol}"));
        let cells = parse(&text).map_err(|error| error.to_string())?.rounds.remove(0).cells;
        let own = cells.iter().filter(|cell| cell.role == Role::Stack);
        Ok::<Vec<bool>, String>(own.map(|cell| cell.load.http == HttpVersion::Http1).collect())
    };
    assert_eq!(spoken("\"go-h2\"", ""), Ok(vec![false; 2]));
    assert_eq!(spoken("\"go-h2\", \"go-tls\"", ", protocol = \"http/1.1\""), Ok(vec![true; 4]));
    let error = spoken("\"go-h2\", \"go-tls\"", ", protocol = \"h2\"").unwrap_err();
    assert!(error.contains("`go-tls` speaks http/1.1, and no h2"), "{error}");
    assert!(error.contains("leave protocol out"), "{error}");
    let error = spoken("\"go-h2\"", ", protocol = \"http/1.1\", streams = 4").unwrap_err();
    assert!(error.contains("4 streams, and `go-h2` speaks HTTP/1.1"), "{error}");
    let error = spoken("\"go-h2\"", ", protocol = \"http/2\"").unwrap_err();
    assert!(error.contains("x.toml:") && error.contains("unknown value `http/2`"), "{error}");
}

#[test]
fn a_slow_stack_is_asked_for_the_share_that_is_named() {
    let text = GOOD.replace("endpoint = \"hello\"", "endpoint = \"hello\"\nlatency = [\"50%\"]");
    let experiment = parse(&text).unwrap();
    let rate = |capacity: f64| {
        let rounds = experiment.rounds[0].at_shares(|_| Some(capacity));
        match &rounds[0].cells[0].load.load {
            engine::Load::Open { arrivals: engine::Arrivals::Poisson(rate), .. } => rate.to_string(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!([3.0, 1.3, 20_001.0].map(rate), ["1.5/s", "0.65/s", "10001/s"]);
}
