//! The table to choose by.

use std::path::Path;

use record::{Manifest, Trial, TrialResult};
use report::page::model::{Choice, Page};
use report::page::{PageOf, TrialDetail, page};
use report::{RunReport, markdown, ranking_text};

use crate::samples::{at, load, manifest, silent_load, times, with};

const BLOCKS: u32 = 7;
/// What each carries, and how long it takes to boot, in seconds.
const STACKS: [(&str, f64, f64); 3] =
    [("tomcat", 8_000.0, 2.0), ("jetty", 10_000.0, 1.5), ("undertow", 14_000.0, 1.0)];

fn noise(stack: usize, block: u32) -> f64 {
    1.0 + 0.004 * f64::from((stack as u32 * 3 + block * 5) % 7)
}

/// A process of a block, which has its boot's time in each trial.
fn booted(mut trial: Trial, boot_s: f64, rss_mib: u64) -> Trial {
    if let TrialResult::Measured(measured) = &mut trial.result {
        measured.server.boot_s = Some(boot_s);
        measured.server.rss_bytes_max = Some(rss_mib << 20);
    }
    trial
}

/// At `percent` of what the slowest carries, `p99_us` long at the 99th percentile.
fn shared(block: u32, stack: &str, percent: u32, p99_us: f64) -> Trial {
    let per_s = 80.0 * f64::from(percent);
    let mut load = load(per_s);
    // Of these times the 99th percentile is five times the least.
    load.response_time_us = times(20_000, p99_us / 5.0);
    load.load.rate_per_s = Some(per_s);
    load.load.model = "open".into();
    load.littles_law = None;
    let mut trial = with(block, stack, load);
    trial.round = format!("hello, latency at {percent}% of the slowest");
    trial.load = record::load_of_label(&format!("{per_s}/s (Poisson) on 64"));
    trial
}

fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (index, (stack, per_s, boot_s)) in STACKS.into_iter().enumerate() {
        for block in 0..BLOCKS {
            let noise = noise(index, block);
            let (first, second) = (boot_s * noise, boot_s * noise * 1.01);
            trials.push(booted(at(block, stack, per_s * noise), first, 300 + 10 * u64::from(block)));
            // One process for both rates.
            trials.push(booted(shared(block, stack, 80, 9_000.0 * noise), second, 400));
            trials.push(booted(shared(block, stack, 50, 2e7 / per_s * noise), second, 350));
        }
    }
    for (index, trial) in trials.iter_mut().enumerate() {
        trial.index = index as u32;
    }
    trials
}

fn run() -> Manifest {
    Manifest { blocks: BLOCKS, blocks_max: BLOCKS, ..manifest(&STACKS.map(|it| it.0), 63) }
}

fn text(trials: &[Trial]) -> String {
    ranking_text(&RunReport { manifest: &run(), trials, dir: "runs/choose-1" })
}

fn document(trials: &[Trial]) -> Page {
    let detail = |_: u32| TrialDetail::default();
    page(&PageOf {
        manifest: &run(),
        trials,
        dir: "runs/choose-1",
        experiment: "",
        write_up: None,
        confirmations: &[],
        detail: &detail,
        version: "0.1.0",
    })
}

fn choice(trials: &[Trial]) -> Choice {
    document(trials).choices.pop().expect("there is what to choose by")
}

#[test]
fn one_table_has_what_one_chooses_by() {
    let text = text(&trials());
    let table = text.split("\nhello, 64 connections\n").next().unwrap();
    insta::assert_snapshot!(table);
    let markdown = markdown(&document(&trials()));
    insta::assert_snapshot!(markdown.split("\n### hello, 64 connections\n").next().unwrap());
}

/// One way to compute a figure: what the rankings below say is what the table says.
#[test]
fn its_figures_are_those_of_the_rankings() {
    let page = document(&trials());
    let [choice] = &page.choices[..] else { panic!("{} tables", page.choices.len()) };
    let ranking = |round: &str| page.tables.iter().find(|it| it.round == round).unwrap();
    for row in &choice.rows {
        let of = |round: &str| ranking(round).rows.iter().find(|it| it.stack == row.stack).unwrap();
        let own = of("hello");
        assert_eq!(
            (row.goodput_per_s, row.to_best, &row.letters),
            (own.goodput_per_s, own.to_best, &own.letters)
        );
        assert_eq!(row.limit, own.limit);
        for (at, percent) in row.at.iter().zip([50, 80]) {
            let at = at.as_ref().unwrap();
            let its = of(&format!("hello, latency at {percent}% of the slowest"));
            assert_eq!((at.p99, at.to_best, &at.letters), (its.p99, its.to_best, &its.letters));
        }
    }
    assert_eq!(choice.rates.iter().map(|it| it.per_s).collect::<Vec<_>>(), [Some(4000.0), Some(6400.0)]);
    let at_most: Vec<f64> = choice.rows[0].at.iter().filter_map(|it| it.as_ref()?.rss_bytes).collect();
    assert_eq!(at_most, [350.0 * 1024.0 * 1024.0, 400.0 * 1024.0 * 1024.0]);
}

#[test]
fn a_process_is_booted_once_and_six_boots_have_an_interval() {
    let boots = |trials: &[Trial]| {
        choice(trials).rows.iter().find(|it| it.stack == "jetty").and_then(|it| it.boot).unwrap()
    };
    let all = trials();
    // A process for what it carries and one for both rates, in each of seven blocks.
    assert_eq!(boots(&all).count, 14);
    let of_blocks = |blocks: u32, round: &str| -> Vec<Trial> {
        let is_kept = |it: &&Trial| it.block < blocks && (it.block < 3 || it.round == round);
        all.iter().filter(is_kept).cloned().collect()
    };
    let five = boots(&of_blocks(2, "hello"));
    assert_eq!((five.count, five.seconds.low, five.seconds.high), (4, None, None));
    let six = boots(&of_blocks(3, "hello"));
    let (low, high) = (six.seconds.low.unwrap(), six.seconds.high.unwrap());
    assert!(six.count == 6 && low < six.seconds.value && six.seconds.value < high, "{six:?}");
}

#[test]
fn a_bound_is_told_as_a_bound_and_what_is_not_known_is_not() {
    let mut all = trials();
    all.retain(|it| (it.stack.as_str(), it.round.contains("50%")) != ("jetty", true));
    for trial in all.iter_mut().filter(|it| it.stack == "tomcat" && it.round.contains("80%")) {
        let TrialResult::Measured(measured) = &mut trial.result else { continue };
        let rate = measured.load.load.rate_per_s;
        measured.load = silent_load();
        measured.load.load.rate_per_s = rate;
        measured.server.rss_bytes_max = None;
    }
    let choice = choice(&all);
    let row = |stack: &str| choice.rows.iter().find(|it| it.stack == stack).unwrap();
    assert_eq!(row("jetty").at[0], None);
    let at = row("tomcat").at[1].as_ref().unwrap();
    assert!(at.p99.is_some_and(|it| it.is_lower_bound) && at.rss_bytes.is_none(), "{at:?}");
    let text = text(&all);
    let lines: Vec<&str> = text.lines().skip_while(|it| !it.starts_with("To choose by")).collect();
    let of = |stack: &str| *lines.iter().find(|it| it.contains(stack)).unwrap();
    assert!(of("tomcat").contains(">2.00s"), "{text}");
    assert!(of("jetty").contains('–'), "{text}");
    assert!(text.contains("at 80 %: over 1 % unanswered in 7 of 7 trials"), "{text}");
    // What is not valid is struck out where there is something to strike through with.
    let markdown = markdown(&document(&all));
    let row = markdown.lines().find(|it| it.contains("| `tomcat` |")).unwrap();
    assert!(row.contains("| ~~&gt;2.00s") && row.contains("| 8096/s"), "{row}");
}

/// A round that somebody called so is none of answer times at a share.
#[test]
fn where_no_rate_was_shared_there_is_no_such_table() {
    let mut closed: Vec<Trial> = trials();
    closed.retain(|it| it.round == "hello");
    assert_eq!(document(&closed).choices, []);
    let mut named = closed.clone();
    for trial in &mut named {
        trial.round = "hello, latency at 50% of the slowest".into();
    }
    closed.extend(named);
    assert_eq!(document(&closed).choices, []);
    assert!(!text(&closed).contains("To choose by"));
}

#[test]
fn too_few_blocks_support_no_claim() {
    let mut few = trials();
    few.retain(|it| it.block < 3);
    let text = text(&few).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("Too few blocks to test: no order here supports a claim."), "{text}");
    assert!(!choice(&few).tested);
}

#[test]
fn one_stack_has_no_order_for_which_there_are_too_few_blocks() {
    let mut one = trials();
    one.retain(|it| it.stack == "jetty");
    let text = text(&one).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("To choose by") && text.contains("In parentheses: the range of trials,"), "{text}");
    assert!(!text.contains("oo few"), "{text}");
}

/// The experiments that are there to choose by name stacks, rates and blocks that this table is made of.
#[test]
fn the_experiments_to_choose_by_can_tell_their_stacks_apart() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let catalogue = plan::stack::Catalogue::load(&root.join("stacks")).unwrap();
    for name in ["containers", "gateways", "threading"] {
        let path = root.join(format!("experiments/choose-{name}.toml"));
        let experiment = plan::Experiment::read(&path, &catalogue, plan::Pace::Full).unwrap();
        let [round] = &experiment.rounds[..] else { panic!("{name} has several rounds") };
        let shares: Vec<String> = round.latency.iter().map(ToString::to_string).collect();
        assert_eq!(shares, ["50%", "80%"], "{name}");
        assert!(round.twin && round.control, "{name}");
        let needed = stats::blocks_needed(stats::pairs_of(experiment.stacks().len()));
        assert!(experiment.procedure.blocks as usize >= needed.max(6), "{name}: {needed}");
        assert_eq!(experiment.procedure.placement, plan::Placement::Split, "{name}");
    }
}
