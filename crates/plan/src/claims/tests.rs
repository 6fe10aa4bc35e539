use std::path::PathBuf;

use proptest::prelude::*;
use units::Duration;

use super::*;

fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn catalogue() -> Catalogue {
    Catalogue::load(&repository().join("stacks")).expect("the catalogue is valid")
}

const EXPERIMENT: &str = r#"
title = "t"
[load]
connections = [4, 8]
[[round]]
name = "hello"
endpoint = "hello"
stacks = ["target-pool", "target-single", "target-event-loop"]
[[round]]
name = "sleep"
endpoint = "sleep"
stacks = ["target-pool"]
"#;

const HEAD: &str = r#"title = "t"
source = "s"
when = "w"
driver = "d"
experiment = "e.toml"
[machine]
cores = 4
description = "m"
[[claim]]
id = "c"
sentence = "S"
"#;

const ORDER: &str = r#"kind = "order"
round = "hello"
stacks = ["target-pool", "target-single", "target-event-loop"]
connections = [4, 8]
published = { target-pool = [30, 40], target-single = [20, 25] }
"#;

fn parse(claim: &str) -> Result<WriteUp, PlanError> {
    let experiment = Experiment::parse(Path::new("e.toml"), EXPERIMENT, &catalogue(), Pace::Full).unwrap();
    WriteUp::parse(Path::new("c.toml"), &format!("{HEAD}{claim}"), &experiment)
}

fn statement(claim: &str) -> Statement {
    let mut read = parse(claim).unwrap_or_else(|error| panic!("{error}"));
    read.claims.remove(0).statement
}

#[test]
fn some_of_its_claims_are_chosen_by_their_names() {
    let more =
        format!("{ORDER}[[claim]]\nid = \"d\"\nsentence = \"S\"\nkind = \"not-testable\"\nwhy = \"w\"\n");
    let write_up = parse(&more).unwrap();
    let chosen = |ids: &[&str]| {
        let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
        let of = |it: WriteUp| it.claims.into_iter().map(|claim| claim.id).collect::<Vec<_>>().join(",");
        write_up.with_claims(&ids).map(of).map_err(|error| error.to_string())
    };
    assert_eq!(chosen(&[]).as_deref(), Ok("c,d"));
    assert_eq!(chosen(&["d"]).as_deref(), Ok("d"));
    assert_eq!(chosen(&["d", "c"]).as_deref(), Ok("c,d"));
    let told = chosen(&["c", "ordre"]).unwrap_err();
    assert!(told.contains("there is no claim `ordre` in `t`") && told.contains("choose c, d"), "{told}");
}

fn cell(stack: &str, connections: u32) -> CellId {
    CellId { round: "hello".into(), stack: stack.into(), connections }
}

#[test]
fn an_order_is_each_stack_over_the_next_at_every_load() {
    let Statement::Order(pairs) = statement(ORDER) else { panic!("it is an order") };
    assert_eq!(pairs.len(), 4);
    assert_eq!((&pairs[1].a, &pairs[1].b), (&cell("target-pool", 8), &cell("target-single", 8)));
    assert_eq!(pairs[1].published, Some((40.0, 25.0)));
    assert_eq!(pairs[2].published, None, "one of the two has no figures");
    assert_eq!(parse(ORDER).unwrap().claims[0].cells().len(), 6);
}

#[test]
fn an_order_of_one_stack_is_of_its_loads_and_times_are_microseconds() {
    let text = "kind = \"order\"\nmetric = \"response-mean\"\nround = \"hello\"\nstacks = [\"target-pool\"]\n\
                connections = [8, 4]\npublished = { target-pool = [2.5, 1] }\n";
    let pair =
        CellPair { a: cell("target-pool", 8), b: cell("target-pool", 4), published: Some((2500.0, 1000.0)) };
    assert_eq!(statement(text), Statement::Order(vec![pair]));
}

#[test]
fn a_stack_may_name_its_own_round() {
    let text = "kind = \"ratio\"\nratio = 2\nstacks = [\"hello/target-pool\", \"sleep/target-pool\"]\nconnections = [4]\n";
    let Statement::Ratio { pairs, .. } = statement(text) else { panic!("it is a ratio") };
    assert_eq!((pairs[0].a.round.as_str(), pairs[0].b.round.as_str()), ("hello", "sleep"));
}

#[test]
fn same_means_as_near_as_the_published_figures() {
    let text = |rest: &str| {
        format!(
            "kind = \"invariance\"\nround = \"hello\"\nstacks = [\"target-pool\"]\nconnections = [4, 8]\n{rest}"
        )
    };
    let within = |rest: &str| match statement(&text(rest)) {
        Statement::Invariance { within, .. } => within,
        other => panic!("{other:?}"),
    };
    assert!((within("") - WITHIN_DEFAULT).abs() < 1e-12);
    assert!((within("published = { target-pool = [100, 101] }") - WITHIN_DEFAULT).abs() < 1e-12);
    assert!((within("published = { target-pool = [100, 120] }") - 0.2).abs() < 1e-12);
    assert!((within("within_percent = 1") - 0.01).abs() < 1e-12);
}

#[test]
fn a_ceiling_may_grow_with_the_connections() {
    let text = "kind = \"ceiling\"\nper_s_per_connection = 10\nround = \"hello\"\nstacks = [\"target-pool\"]\n\
                connections = [4, 8]\ncores_published = 4\n";
    let Statement::Ceiling { levels, cores_published, .. } = statement(text) else {
        panic!("it is a ceiling")
    };
    assert_eq!(levels.iter().map(|it| it.value).collect::<Vec<_>>(), [40.0, 80.0]);
    assert_eq!(cores_published, Some(4));
}

#[test]
fn every_mistake_names_its_line_and_what_to_do() {
    let with = |from: &str, to: &str| ORDER.replace(from, to);
    let ceiling = "kind = \"ceiling\"\nround = \"hello\"\nstacks = [\"target-pool\"]\nconnections = [4]\n";
    for (text, start, part) in [
        (with("\"order\"", "\"odor\""), "c.toml:12:", "unknown value `odor`; did you mean order?"),
        (with("round", "rond"), "c.toml:13:", "unknown key `rond`; did you mean round?"),
        (with("\"hello\"", "\"helo\""), "c.toml:13:", "did you mean hello? the experiment has hello, sleep"),
        (with("target-single\",", "gin\","), "c.toml:14:", "it has target-event-loop"),
        (with("target-single\",", "target-pool\","), "c.toml:14:", "twice"),
        (with("[4, 8]", "[4, 9]"), "c.toml:15:", "no load of 9"),
        (with("connections = [4, 8]", ""), "c.toml:12:", "needs `connections`"),
        (with("[30, 40]", "[30]"), "c.toml:16:", "1 figures for 2 loads"),
        (with("[30, 40]", "[30, 0]"), "c.toml:16:", "no figure of a server"),
        (with("target-single = ", "gin = "), "c.toml:16:", "none of the claim's stacks"),
        (with("kind", "ratio = 2\nkind"), "c.toml:12:", "no `ratio`"),
        (with("\"order\"", "\"ratio\""), "c.toml:12:", "needs `ratio`"),
        (with("\"order\"", "\"ratio\"\nratio = 2"), "c.toml:12:", "two stacks"),
        (with("\"order\"", "\"ratio\"\nratio = 1"), "c.toml:13:", "no direction"),
        (with("\"order\"", "\"invariance\""), "c.toml:12:", "one stack"),
        (format!("{ceiling}per_s = 5\nwithin_percent = 0\n"), "c.toml:17:", "above 0"),
        (format!("{ceiling}per_s = 5\nwithin_percent = 500\n"), "c.toml:17:", "no nearness"),
        (with("\"order\"", "\"not-testable\"\nwhy = \"w\""), "c.toml:14:", "no `round`"),
        ("kind = \"not-testable\"\n".into(), "c.toml:12:", "needs `why`"),
        (ceiling.into(), "c.toml:12:", "exactly one level"),
        (format!("{ceiling}time_ms = 5\n"), "c.toml:12:", "exactly one level"),
        (format!("{ceiling}per_s = 5\ncores_published = 0\n"), "c.toml:17:", "0 cores"),
        (ceiling.replace("ceiling", "order"), "c.toml:12:", "compared with nothing"),
        (
            format!("{ORDER}[[claim]]\nid = \"c\"\nsentence = \"S\"\nkind = \"order\"\n"),
            "c.toml:18:",
            "two claims",
        ),
    ] {
        let error = parse(&text).unwrap_err().to_string();
        assert!(error.starts_with(start) && error.contains(part), "{error}\nshould be {start} … {part}");
    }
    let none = HEAD.split("[[claim]]").next().unwrap();
    let experiment = Experiment::parse(Path::new("e.toml"), EXPERIMENT, &catalogue(), Pace::Full).unwrap();
    let error = WriteUp::parse(Path::new("c.toml"), none, &experiment).unwrap_err().to_string();
    assert!(error.contains("claims nothing"), "{error}");
}

/// The write-ups of this repository.
#[test]
fn every_write_up_is_valid() {
    let catalogue = catalogue();
    let mut kinds = [0; 6];
    let mut count = 0;
    for entry in std::fs::read_dir(repository().join("published")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|it| it != "toml") {
            continue;
        }
        let write_up = WriteUp::read(&path, &catalogue).unwrap_or_else(|error| panic!("{error}"));
        for claim in &write_up.claims {
            let (kind, testable) = match claim.statement {
                Statement::Order(_) => (0, true),
                Statement::Ratio { .. } => (1, true),
                Statement::Ceiling { .. } => (2, true),
                Statement::Invariance { .. } => (3, true),
                Statement::Equal { .. } => (4, true),
                Statement::NotTestable { .. } => (5, false),
            };
            kinds[kind] += 1;
            assert_eq!(claim.cells().is_empty(), !testable, "{}", claim.id);
        }
        count += 1;
    }
    assert_eq!(count, 5, "write-ups");
    assert!(kinds.iter().all(|it| *it > 0), "{kinds:?}");
}

/// What was published of each pair bears out the order that is claimed, except where the write-up's own figures deny it.
#[test]
fn published_figures_bear_the_claims_out() {
    let catalogue = catalogue();
    for name in ["springmvc-webflux", "servlet-containers", "gateways", "socket-models", "virtual-threads"] {
        let path = repository().join("published").join(format!("{name}.toml"));
        for claim in WriteUp::read(&path, &catalogue).unwrap().claims {
            let deny = claim.id == "threads-beat-one-in-theory";
            match claim.statement {
                Statement::Order(pairs) => {
                    for (a, b) in pairs.iter().filter_map(|it| it.published) {
                        assert_eq!(a > b, !deny, "{name}: {}", claim.id);
                    }
                }
                Statement::Ratio { pairs, ratio } => {
                    for (a, b) in pairs.iter().filter_map(|it| it.published) {
                        assert!((a / b / ratio - 1.0).abs() < 0.02, "{name}: {} is {}", claim.id, a / b);
                    }
                }
                _ => {}
            }
        }
    }
}

/// A setting that nobody reads would be missed beside a verdict, and nobody would see it.
#[test]
fn a_setting_is_of_stacks_that_there_are_and_says_its_value_once() {
    let with = |setting: &str| {
        let text = format!("{ORDER}[[setting]]\nwhat = \"threads\"\n{setting}\n");
        parse(&text).map(|it| it.settings.len()).map_err(|error| error.to_string())
    };
    assert_eq!(with("stacks = [\"target-pool\"]\nper_core = 8"), Ok(1));
    assert_eq!(with("stacks = [\"target-pool\"]\nthere = \"9\"\nhere = \"8\""), Ok(1));
    let of_a_slip = with("stacks = [\"target-pol\"]\nper_core = 8").unwrap_err();
    assert!(
        of_a_slip.contains("the setting `threads` is of `target-pol`, which is no stack of the experiment"),
        "{of_a_slip}"
    );
    assert!(of_a_slip.contains("did you mean target-pool? the experiment has target-pool"), "{of_a_slip}");
    assert!(with("stacks = []\nper_core = 8").unwrap_err().contains("is of no stack"));
    for value in ["", "there = \"9\"", "per_core = 0", "there = \"9\"\nhere = \"8\"\nper_core = 8"] {
        let told = with(&format!("stacks = [\"target-pool\"]\n{value}")).unwrap_err();
        assert!(told.contains("setting `threads`, there and here, is not said once"), "{told}");
    }
}

#[test]
fn a_machine_has_cores_and_memory_where_it_says_so() {
    let experiment = Experiment::parse(Path::new("e.toml"), EXPERIMENT, &catalogue(), Pace::Full).unwrap();
    let with = |machine: &str| {
        let text = format!("{HEAD}{ORDER}").replace("cores = 4", machine);
        WriteUp::parse(Path::new("c.toml"), &text, &experiment).map_err(|error| error.to_string())
    };
    assert!(with("cores = 4\nmemory_gb = 8").is_ok() && with("").is_ok());
    for (machine, said) in [
        ("cores = 0", "c.toml:6:1: no machine has 0 cores; give what the write-up says"),
        ("memory_gb = -8", "no machine has -8 GB of memory"),
        ("memory_gb = nan", "no machine has NaN GB of memory"),
    ] {
        let told = with(machine).unwrap_err();
        assert!(told.contains(said), "{machine}: {told}");
    }
    let per_core = "[[setting]]\nwhat = \"w\"\nstacks = [\"target-pool\"]\nper_core = 8\n";
    let text = format!("{HEAD}{ORDER}{per_core}").replace("cores = 4", "");
    let told = WriteUp::parse(Path::new("c.toml"), &text, &experiment).unwrap_err().to_string();
    assert!(told.contains("or `per_core` from 1, and [machine] its `cores`"), "{told}");
}

fn claim_on(connections: &[u32]) -> Claim {
    let level = |count: &u32| Level { cell: cell("target-pool", *count), value: 1.0, published: None };
    let levels = connections.iter().map(level).collect();
    let statement = Statement::Ceiling { levels, cores_published: None, within: WITHIN_DEFAULT };
    Claim { id: "c".into(), sentence: String::new(), is_derived: false, metric: Metric::Goodput, statement }
}

#[test]
fn a_claim_can_be_taken_load_by_load() {
    let order = parse(ORDER).unwrap().claims.remove(0);
    let parts = order.by_load();
    assert_eq!(parts.iter().map(|it| it.id.as_str()).collect::<Vec<_>>(), ["c/4", "c/8"]);
    assert_eq!(parts[1].sentence, "S (here: at 8 connections)");
    assert_eq!(parts[1].cells().len(), 3);
    let all: BTreeSet<CellId> = parts.iter().flat_map(Claim::cells).collect();
    assert_eq!(all.len(), order.cells().len());
    let levels = claim_on(&[1, 2]);
    assert_eq!(levels.by_load().len(), 2);
    let pair = |a, b| CellPair { a: cell("target-pool", a), b: cell("target-pool", b), published: None };
    let flat = Statement::Invariance { pairs: vec![pair(8, 4)], within: 0.05 };
    let flat = Claim { statement: flat, ..levels };
    assert_eq!(flat.by_load(), std::slice::from_ref(&flat), "it is about the difference between loads");
}

/// What was published of goodput at so many connections, in a claim.
fn published_goodputs(claim: &Claim) -> Vec<(u32, f64)> {
    if claim.metric != Metric::Goodput {
        return Vec::new();
    }
    match &claim.statement {
        Statement::Order(pairs)
        | Statement::Ratio { pairs, .. }
        | Statement::Invariance { pairs, .. }
        | Statement::Equal { pairs, .. } => {
            let of = |it: &CellPair| Some([(it.a.clone(), it.published?.0), (it.b.clone(), it.published?.1)]);
            let all = pairs.iter().filter_map(of).flatten();
            all.map(|(cell, figure)| (cell.connections, figure)).collect()
        }
        Statement::Ceiling { levels, .. } => {
            let of = |it: &Level| Some((it.cell.connections, it.published?));
            levels.iter().filter_map(of).collect()
        }
        Statement::NotTestable { .. } => Vec::new(),
    }
}

/// Each of the 75 published figures is one of a claim, or of a line that says why nothing here can test it.
#[test]
fn every_published_figure_belongs_to_a_claim() {
    let catalogue = catalogue();
    let text = std::fs::read_to_string(repository().join("published/figures.csv")).unwrap();
    let (mut figures, mut without) = (0, Vec::new());
    let mut known: std::collections::BTreeMap<String, Vec<(u32, f64)>> = std::collections::BTreeMap::new();
    for row in text.lines().skip(1) {
        let fields: Vec<&str> = row.split(',').collect();
        let (document, connections) = (fields[0], fields[7].parse::<u32>().unwrap());
        let figure: f64 = fields[12].parse().unwrap();
        let claimed = known.entry(document.to_owned()).or_insert_with(|| {
            let path = repository().join(format!("published/{document}.toml"));
            let write_up = WriteUp::read(&path, &catalogue).unwrap();
            write_up.claims.iter().flat_map(published_goodputs).collect()
        });
        let is_it = |it: &&(u32, f64)| it.0 == connections && (it.1 / figure - 1.0).abs() < 1e-9;
        if claimed.iter().find(is_it).is_none() {
            without.push(row.to_owned());
        }
        figures += 1;
    }
    assert_eq!(figures, 75);
    assert!(without.is_empty(), "figures of no claim:\n{}", without.join("\n"));
}

#[test]
fn the_cells_that_decide_most_come_first() {
    // One second a connection: 9 decides two claims in 10 s, 3 and 4 one each.
    let claims = [claim_on(&[3]), claim_on(&[1, 9]), claim_on(&[9, 1]), claim_on(&[4, 9])];
    let cost = |cell: &CellId| Duration::from_secs(u64::from(cell.connections));
    let told = |budget_s: u64| cheapest(&claims, cost, Duration::from_secs(budget_s)).claims;
    assert_eq!(told(2), [0_usize; 0]);
    assert_eq!(told(3), [0]);
    assert_eq!(told(13), [0, 1, 2]);
    assert_eq!(told(17), [0, 1, 2, 3]);
}

#[test]
fn a_claim_that_nothing_can_test_costs_nothing() {
    let statement = Statement::NotTestable { why: "w".into() };
    let claim = Claim { statement, ..claim_on(&[]) };
    let told = cheapest(&[claim], |_| Duration::from_secs(1), Duration::ZERO);
    assert_eq!((told.claims, told.cells.len(), told.cost), (vec![0], 0, Duration::ZERO));
}

proptest! {
    #[test]
    fn a_selection_keeps_its_budget_and_takes_all_it_can(
        claims in prop::collection::vec(prop::collection::vec(1..12_u32, 1..5), 0..8),
        budget_s in 0..80_u64,
    ) {
        let claims: Vec<Claim> = claims.iter().map(|it| claim_on(it)).collect();
        let cost = |cell: &CellId| Duration::from_secs(u64::from(cell.connections % 5) * 3);
        let sum = |cells: &BTreeSet<CellId>| cells.iter().map(|it| cost(it).as_nanos()).sum::<u64>();
        let budget = Duration::from_secs(budget_s);
        let told = cheapest(&claims, cost, budget);
        let cells: BTreeSet<CellId> = told.cells.iter().cloned().collect();
        prop_assert_eq!(cells.len(), told.cells.len());
        prop_assert_eq!(sum(&cells), told.cost.as_nanos());
        prop_assert!(told.cost <= budget);
        for (index, claim) in claims.iter().enumerate() {
            let own: BTreeSet<CellId> = claim.cells().into_iter().collect();
            prop_assert_eq!(told.claims.contains(&index), own.is_subset(&cells));
            // Whatever was left out did not fit.
            let with: BTreeSet<CellId> = cells.union(&own).cloned().collect();
            prop_assert!(told.claims.contains(&index) || sum(&with) > budget.as_nanos());
        }
        let all: BTreeSet<CellId> = claims.iter().flat_map(Claim::cells).collect();
        if sum(&all) <= budget.as_nanos() {
            prop_assert_eq!(cells, all);
        }
    }
}
