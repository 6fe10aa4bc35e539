//! Claims held against made-up runs.

use explain::{ClaimVerdict, JudgedClaim, PartUnit, SizeVerdict, judge_claim, other_settings};
use plan::claims::{OtherSetting, PublishedMachine};
use plan::{CellId, CellPair, Claim, Level, Metric, Statement, WriteUp};
use record::{MANIFEST_VERSION, Machine, Manifest, Trial, TrialResult, load_of_label};

use crate::samples::{measured_in, times, trial};

pub(crate) fn manifest(cores: usize) -> Manifest {
    Manifest {
        version: MANIFEST_VERSION,
        proofload: "0.1.0".into(),
        argv: Vec::new(),
        title: "t".into(),
        started: "2026-01-01T00:00:00Z".into(),
        seed: 5,
        blocks: 10,
        quick: false,
        trials: 0,
        stacks: std::collections::BTreeMap::new(),
        left_out: [("absent".to_owned(), "needs go".to_owned())].into(),
        tools: std::collections::BTreeMap::new(),
        machine: Machine { cores, ..Machine::default() },
        ..Manifest::default()
    }
}

/// A trial at a rate, of which every request takes as long as that leaves its 64 users.
fn at(block: u32, stack: &str, per_s: f64, connections: u32) -> Trial {
    let mut measured = trial();
    let load = &mut measured.load;
    load.goodput_per_s = per_s;
    load.load.connections = connections;
    load.response_time_us = times(load.intended, f64::from(connections) / per_s * 1e6);
    let load = load_of_label(&format!("{connections} connections"));
    Trial { index: 0, load, ..measured_in(block, stack, measured) }
}

/// So many blocks of a stack, on a machine that is faster in some than in others and which all stacks share.
pub(crate) fn blocks(count: u32, stack: &str, per_s: f64, connections: u32) -> Vec<Trial> {
    let machine = |block: u32| 1.0 + 0.1 * f64::from(block * 7 % 5);
    let noise = |block: u32| 1.0 + 0.002 * f64::from((block * 5 + stack.len() as u32 * 3) % 7);
    (0..count).map(|block| at(block, stack, per_s * machine(block) * noise(block), connections)).collect()
}

pub(crate) fn cell(stack: &str, connections: u32) -> CellId {
    CellId { round: "hello".into(), stack: stack.into(), connections }
}

pub(crate) fn pair(a: &str, b: &str) -> CellPair {
    CellPair { a: cell(a, 64), b: cell(b, 64), published: Some((120.0, 100.0)) }
}

fn judged(statement: Statement, trials: &[Trial]) -> JudgedClaim {
    of_metric(Metric::Goodput, statement, trials)
}

fn of_metric(metric: Metric, statement: Statement, trials: &[Trial]) -> JudgedClaim {
    let claim = Claim { id: "c".into(), sentence: "S".into(), is_derived: false, metric, statement };
    judge_claim(&claim, trials, &manifest(2))
}

/// Two stacks, the first faster by so much.
fn two(count: u32, ratio: f64) -> Vec<Trial> {
    [blocks(count, "jetty", 1000.0 * ratio, 64), blocks(count, "tomcat", 1000.0, 64)].concat()
}

fn order() -> Statement {
    Statement::Order(vec![pair("jetty", "tomcat")])
}

#[test]
fn what_grows_with_the_cores_is_so_many_a_core_however_many_these_are() {
    let statement = order();
    let claim =
        Claim { id: "c".into(), sentence: "S".into(), is_derived: false, metric: Metric::Goodput, statement };
    let setting = OtherSetting {
        stacks: vec!["jetty".into()],
        what: "threads".into(),
        there: None,
        here: None,
        per_core: Some(u32::MAX),
    };
    let write_up = WriteUp {
        title: "t".into(),
        source: "s".into(),
        when: "w".into(),
        machine: PublishedMachine { cores: Some(4), memory_gb: None, jdk: None, description: "m".into() },
        driver: "d".into(),
        settings: vec![setting],
        experiment: "e.toml".into(),
        claims: vec![claim.clone()],
    };
    let told = other_settings(&write_up, &claim, &manifest(2));
    assert_eq!(told, ["cores: there 4, here 2", "threads of jetty: there 17179869180, here 8589934590"]);
}

#[test]
fn an_order_is_confirmed_reversed_or_tied() {
    for (ratio, verdict) in [
        (1.2, ClaimVerdict::Confirmed),
        (1.0 / 1.2, ClaimVerdict::Reversed),
        (1.0, ClaimVerdict::Tied),
        (1.015, ClaimVerdict::Tied),
    ] {
        let told = judged(order(), &two(10, ratio));
        assert_eq!(told.verdict, verdict, "{ratio}: {told:?}");
        assert!((told.parts[0].measured.unwrap() / ratio - 1.0).abs() < 0.01, "{told:?}");
        assert!((told.parts[0].published.unwrap() - 1.2).abs() < 1e-12);
    }
}

/// Ten per cent apart, and so are a stack and its twin.
#[test]
fn what_is_nearer_than_a_stack_and_its_twin_is_no_difference() {
    let mut trials = two(10, 1.1);
    assert_eq!(judged(order(), &trials).verdict, ClaimVerdict::Confirmed);
    let twins = blocks(10, "tomcat", 880.0, 64).into_iter();
    trials.extend(twins.map(|twin| Trial { role: record::Role::Twin, ..twin }));
    let told = judged(order(), &trials);
    assert_eq!(told.verdict, ClaimVerdict::Tied);
    assert_eq!(told.why, "nearer than 13.6 %, as a stack and its twin are apart");
}

/// Of tables of a round without a twin of their own, the twin at the nearest load counts, whichever was measured first.
#[test]
fn the_twin_at_the_nearest_load_stands_for_a_table_without_one() {
    let doubled = |twin_per_s: f64, connections: u32| {
        let twins = blocks(10, "tomcat", twin_per_s, connections).into_iter();
        let twins = twins.map(|twin| Trial { role: record::Role::Twin, ..twin });
        twins.chain(blocks(10, "tomcat", 1000.0, connections)).collect::<Vec<_>>()
    };
    let (near, far) = (doubled(880.0, 100), doubled(1000.0, 300));
    for others in [[far.clone(), near.clone()], [near, far]] {
        let told = judged(order(), &[two(10, 1.1), others.concat()].concat());
        assert_eq!(told.verdict, ClaimVerdict::Tied, "{told:?}");
        assert_eq!(told.why, "nearer than 13.6 %, as a stack and its twin are apart");
    }
}

/// Near what the client can do at all, a rate is the client's as much as the stack's.
#[test]
fn a_rate_near_the_control_s_is_not_the_stack_s() {
    let mut trials = two(10, 1.2);
    let control = |per_s: f64| {
        let controls = blocks(10, record::CONTROL, per_s, 64).into_iter();
        controls.map(|control| Trial { role: record::Role::Control, ..control })
    };
    trials.extend(control(5000.0));
    assert_eq!(judged(order(), &trials).verdict, ClaimVerdict::Confirmed);
    trials.retain(|trial| trial.role.is_stack());
    trials.extend(control(1300.0));
    let told = judged(order(), &trials);
    assert_eq!(told.verdict, ClaimVerdict::Undecided, "{told:?}");
    assert_eq!(told.why, "the client was the limit of both, and bounds don't decide it");
    assert_eq!(told.notes[0], "10 of 10 trials of jetty, 64 connections only a bound: client-bound");
}

#[test]
fn few_blocks_support_no_claim_and_show_where_they_point() {
    let one = judged(order(), &two(1, 1.2));
    assert_eq!(one.verdict, ClaimVerdict::Undecided);
    assert_eq!(one.why, "one block supports no claim; it points the same way");
    assert!(one.parts[0].measured.is_some() && one.parts[0].low.is_none());
    let other = judged(order(), &two(1, 0.8));
    assert_eq!(other.why, "one block supports no claim; it points the other way");
    let five = judged(order(), &two(5, 1.2));
    assert_eq!((five.verdict, five.parts[0].blocks), (ClaimVerdict::Undecided, 5));
    assert_eq!(five.why, "5 blocks are too few, it takes 6; it points the same way");
}

#[test]
fn an_order_of_many_holds_if_all_its_pairs_do_and_falls_with_any() {
    let chain = || Statement::Order(vec![pair("jetty", "undertow"), pair("undertow", "tomcat")]);
    let run = |undertow: f64| [two(10, 1.4), blocks(10, "undertow", undertow, 64)].concat();
    assert_eq!(judged(chain(), &run(1200.0)).verdict, ClaimVerdict::Confirmed);
    let tied = judged(chain(), &run(1000.0));
    assert_eq!(tied.verdict, ClaimVerdict::Tied);
    assert!(tied.why.starts_with("in 1 of 2 comparisons: "), "{}", tied.why);
    let reversed = judged(chain(), &run(1600.0));
    assert_eq!(reversed.verdict, ClaimVerdict::Reversed);
    // A pair that was not measured leaves the claim open, unless another one refutes it.
    let open = judged(chain(), &two(10, 1.2));
    assert_eq!(open.verdict, ClaimVerdict::NotMeasured);
    assert!(open.parts[0].why.contains("the run has no trial of undertow, 64 connections"), "{open:?}");
    // Six blocks do for the one comparison that was measured; the claim stays open.
    let one = [blocks(6, "jetty", 1400.0, 64), blocks(6, "undertow", 1200.0, 64)].concat();
    let open = judged(chain(), &one);
    assert_eq!((open.parts[0].verdict, open.verdict), (ClaimVerdict::Confirmed, ClaimVerdict::NotMeasured));
    let with_missing = Statement::Order(vec![pair("tomcat", "jetty"), pair("jetty", "undertow")]);
    assert_eq!(judged(with_missing, &two(10, 1.2)).verdict, ClaimVerdict::Reversed);
    // Two pairs take seven blocks.
    assert_eq!(
        judged(chain(), &[two(6, 1.4), blocks(6, "undertow", 1200.0, 64)].concat()).verdict,
        ClaimVerdict::Undecided
    );
}

/// Ten blocks whose ratios lie about so far from the middle one.
fn scattered(ratio: f64, by: f64) -> Vec<Trial> {
    let off = |block: u32| 1.0 + by * (f64::from(block) - 4.5) / 4.5;
    let jetty = (0..10).map(|block| at(block, "jetty", 1000.0 * ratio * off(block), 64)).collect();
    [jetty, (0..10).map(|block| at(block, "tomcat", 1000.0, 64)).collect::<Vec<_>>()].concat()
}

#[test]
fn a_claim_with_a_size_has_two_answers() {
    let ratio = |ratio: f64| Statement::Ratio { pairs: vec![pair("jetty", "tomcat")], ratio };
    let told = |claimed: f64, trials: &[Trial]| {
        let told = judged(ratio(claimed), trials);
        (told.verdict, told.parts[0].size, told.why)
    };
    let (verdict, size, why) = told(1.2, &two(10, 1.2));
    assert_eq!((verdict, size), (ClaimVerdict::Confirmed, Some(SizeVerdict::Confirmed)));
    assert_eq!(why, "the size agrees");
    // 1.18 of 1.12 to 1.24 is more, and not 43 % more.
    let (verdict, size, why) = told(1.43, &scattered(1.18, 0.1));
    assert_eq!((verdict, size), (ClaimVerdict::SizeRefuted, Some(SizeVerdict::Refuted)));
    assert_eq!(why, "the direction holds, and it is surely less than claimed");
    let (verdict, _, why) = told(1.05, &two(10, 1.2));
    assert_eq!((verdict, why.ends_with("surely more than claimed")), (ClaimVerdict::SizeRefuted, true));
    let (verdict, _, why) = told(0.5, &two(10, 0.8));
    assert_eq!((verdict, why.ends_with("surely less than claimed")), (ClaimVerdict::SizeRefuted, true));
    // An interval that also holds half of the effect says nothing of its size.
    let (verdict, size, _) = told(1.43, &scattered(1.4, 0.5));
    assert_eq!((verdict, size), (ClaimVerdict::SizeUndecided, Some(SizeVerdict::Undecided)));
    // What is nearer than the least effect is no other size.
    assert_eq!(told(1.215, &two(10, 1.2)).0, ClaimVerdict::Confirmed);
    assert_eq!(told(1.25, &two(10, 1.2)).0, ClaimVerdict::SizeRefuted);
    // Without a direction the size is told beside it, and the other way round it is no question.
    let (verdict, size, why) = told(1.43, &two(10, 1.0));
    assert_eq!((verdict, size), (ClaimVerdict::Tied, Some(SizeVerdict::Refuted)));
    assert!(why.ends_with("the size is surely not the claimed one"), "{why}");
    assert_eq!(told(0.8, &two(10, 1.2)).0, ClaimVerdict::Reversed);
    // Too few blocks decide neither.
    let (verdict, size, _) = told(1.43, &two(5, 1.2));
    assert_eq!((verdict, size), (ClaimVerdict::Undecided, None));
    // A claim without a size has one answer.
    let plain = judged(order(), &two(10, 1.2));
    assert_eq!((plain.verdict, plain.parts[0].size), (ClaimVerdict::Confirmed, None));
}

/// Any of several comparisons refutes a claimed size, so that each is to be as sure of it as all of them together are to be.
#[test]
fn a_size_is_refuted_by_what_holds_for_all_comparisons() {
    let of_loads = |loads: &[u32]| {
        let off = |block: u32| 1.0 + 0.1 * (f64::from(block) - 4.5) / 4.5;
        let of_load = |load: &u32| {
            let jetty = (0..10).map(|block| at(block, "jetty", 1180.0 * off(block), *load));
            let tomcat = (0..10).map(|block| at(block, "tomcat", 1000.0, *load));
            jetty.chain(tomcat).collect::<Vec<Trial>>()
        };
        let trials: Vec<Trial> = loads.iter().flat_map(of_load).collect();
        let pair =
            |load: &u32| CellPair { a: cell("jetty", *load), b: cell("tomcat", *load), published: None };
        judged(Statement::Ratio { pairs: loads.iter().map(pair).collect(), ratio: 1.276 }, &trials)
    };
    // By itself an interval ends at 1.244, and 2 % above that is 1.269; together with another one at 1.258, and that is 1.283.
    let one = of_loads(&[64]);
    assert_eq!((one.verdict, one.parts[0].size), (ClaimVerdict::SizeRefuted, Some(SizeVerdict::Refuted)));
    let both = of_loads(&[64, 1000]);
    assert_eq!(
        (both.verdict, both.parts[0].size),
        (ClaimVerdict::SizeUndecided, Some(SizeVerdict::Undecided)),
        "{both:?}"
    );
}

/// What is no less than a ratio below 1 may be above it: no figure, and no way to point.
#[test]
fn a_bound_that_says_nothing_points_nowhere() {
    let mut trials = two(10, 0.8);
    spoil(&mut trials, "jetty", |load| load.generator.busy_share = 0.95);
    let told = judged(order(), &trials);
    assert_eq!((told.verdict, told.parts[0].blocks), (ClaimVerdict::Undecided, 10), "{told:?}");
    assert_eq!((told.parts[0].measured, told.parts[0].points_the_same_way), (None, None));
    assert!(told.why.ends_with("so that the ratio is a lower bound, which leaves it open"), "{}", told.why);
    // Of two comparisons it is not the one that points.
    let chain = Statement::Order(vec![pair("jetty", "tomcat"), pair("tomcat", "undertow")]);
    let told = judged(chain, &[trials, blocks(10, "undertow", 800.0, 64)].concat());
    assert!(told.why.ends_with("; 1 of 1 measured comparisons point the same way"), "{}", told.why);
}

/// What was not measured is neither refuted nor impossible to test.
#[test]
fn what_was_not_run_is_not_measured() {
    for statement in [order(), Statement::Ratio { pairs: vec![pair("jetty", "tomcat")], ratio: 1.43 }] {
        let told = judged(statement, &blocks(10, "tomcat", 1000.0, 64));
        assert_eq!((told.verdict, told.parts[0].size), (ClaimVerdict::NotMeasured, None));
        assert!(told.why.contains("the run has no trial of jetty"), "{}", told.why);
    }
    let apart = [blocks(4, "jetty", 1000.0, 64), blocks(8, "tomcat", 1000.0, 64).split_off(4)].concat();
    assert_eq!(judged(order(), &apart).verdict, ClaimVerdict::NotMeasured);
    assert_eq!(judged(ceiling(40.0, None), &[]).verdict, ClaimVerdict::NotMeasured);
}

fn ceiling(value: f64, cores_published: Option<u32>) -> Statement {
    let level = Level { cell: cell("zuul", 64), value, published: Some(39.4) };
    Statement::Ceiling { levels: vec![level], cores_published, within: 0.05 }
}

/// Blocks without the machine's share: a ceiling does not move with the machine.
fn steady(count: u32, per_s: f64) -> Vec<Trial> {
    (0..count).map(|block| at(block, "zuul", per_s * (1.0 + 0.002 * f64::from(block % 4)), 64)).collect()
}

#[test]
fn a_ceiling_scales_with_the_cores_and_says_so() {
    let told = judged(ceiling(40.0, Some(4)), &steady(10, 19.8));
    assert_eq!(told.verdict, ClaimVerdict::Confirmed, "{told:?}");
    assert_eq!((told.parts[0].expected, told.parts[0].unit), (Some(20.0), PartUnit::PerS));
    assert!((told.parts[0].measured.unwrap() - 19.85).abs() < 0.05);
    assert_eq!(told.notes[0], "the level grows with the cores: 4 there, 2 here");
    assert_eq!(judged(ceiling(40.0, None), &steady(10, 19.8)).verdict, ClaimVerdict::Reversed);
    assert_eq!(judged(ceiling(20.85, None), &steady(10, 19.8)).verdict, ClaimVerdict::Tied);
    let claim = Claim {
        id: "c".into(),
        sentence: "S".into(),
        is_derived: false,
        metric: Metric::Goodput,
        statement: ceiling(40.0, Some(4)),
    };
    let unknown = judge_claim(&claim, &steady(10, 19.8), &manifest(0));
    assert_eq!(unknown.verdict, ClaimVerdict::NotTestable);
    assert!(unknown.why.contains("cores"), "{unknown:?}");
}

#[test]
fn the_same_means_surely_near() {
    let equal = |within: f64| Statement::Equal { pairs: vec![pair("jetty", "tomcat")], within };
    assert_eq!(judged(equal(0.05), &two(10, 1.02)).verdict, ClaimVerdict::Confirmed);
    assert_eq!(judged(equal(0.05), &two(10, 1.2)).verdict, ClaimVerdict::Reversed);
    assert_eq!(judged(equal(0.05), &two(10, 1.05)).verdict, ClaimVerdict::Tied);
    assert_eq!(judged(equal(0.3), &two(10, 1.0 / 1.2)).verdict, ClaimVerdict::Confirmed);
    let loads = CellPair { a: cell("jetty", 1000), b: cell("jetty", 64), published: None };
    let flat = Statement::Invariance { pairs: vec![loads], within: 0.05 };
    let trials = [blocks(10, "jetty", 1000.0, 64), blocks(10, "jetty", 1010.0, 1000)].concat();
    let told = judged(flat, &trials);
    assert_eq!(
        (told.verdict, told.parts[0].what.as_str()),
        (ClaimVerdict::Confirmed, "jetty, 1000 / 64 connections")
    );
}

#[test]
fn latency_is_judged_from_response_times() {
    let level = Level { cell: cell("zuul", 64), value: 64.0 / 19.8 * 1e6, published: None };
    let statement = Statement::Ceiling { levels: vec![level], cores_published: None, within: 0.05 };
    let told = of_metric(Metric::ResponseMean, statement, &steady(10, 19.8));
    // A mean of 3.2 s wants a window of 32 s, and this one has 15.
    assert_eq!(told.verdict, ClaimVerdict::NotMeasured);
    assert!(told.why.contains("too short"), "{told:?}");
    let slower = of_metric(Metric::ResponseMax, order(), &two(10, 0.5));
    assert_eq!(slower.verdict, ClaimVerdict::Confirmed, "{slower:?}");
}

/// In a closed load the slower one has the fewer requests, and the longest of few is no 99th percentile.
#[test]
fn a_percentile_that_so_few_requests_do_not_know_decides_nothing() {
    let few_in = |every: u32| {
        let mut trials = two(10, 1.2);
        for trial in trials.iter_mut().filter(|it| it.block.is_multiple_of(every)) {
            spoil(std::slice::from_mut(trial), "tomcat", |load| load.response_time_us.count = 200);
        }
        trials
    };
    let slower = || Statement::Order(vec![pair("tomcat", "jetty")]);
    let told = of_metric(Metric::ResponseP99, slower(), &few_in(5));
    assert_eq!(told.verdict, ClaimVerdict::Undecided, "{told:?}");
    let two_of_ten = "2 of 10 trials of tomcat, 64 connections";
    assert!(told.why.contains(&format!("{two_of_ten} failed or have no figure")), "{told:?}");
    assert_eq!(told.notes, [format!("{two_of_ten} not used: so few requests do not know it")]);
    assert_eq!(of_metric(Metric::ResponseP90, slower(), &few_in(5)).verdict, ClaimVerdict::Confirmed);
    let told = of_metric(Metric::ResponseP99, slower(), &few_in(1));
    assert_eq!(told.verdict, ClaimVerdict::NotMeasured, "{told:?}");
}

/// Whoever makes ten times as many requests and fails in none of them fails no less than who fails in none of few.
#[test]
fn where_nothing_failed_no_share_is_the_smaller_one() {
    let with = |failed_of_many: u64| {
        let mut trials = two(10, 1.2);
        spoil(&mut trials, "jetty", |load| {
            load.intended = 960_000;
            load.answered_as_expected = load.intended - failed_of_many;
        });
        trials
    };
    let fails_more = |more: &str, less: &str, failed: u64| {
        of_metric(Metric::FailedShare, Statement::Order(vec![pair(more, less)]), &with(failed))
    };
    let none = fails_more("tomcat", "jetty", 0);
    assert_eq!((none.verdict, none.parts[0].measured), (ClaimVerdict::Tied, Some(1.0)), "{none:?}");
    // Three of many are more than none.
    let some = fails_more("jetty", "tomcat", 3);
    assert_eq!(some.verdict, ClaimVerdict::Confirmed, "{some:?}");
}

fn spoil(trials: &mut [Trial], stack: &str, mut how: impl FnMut(&mut record::LoadResult)) {
    for trial in trials.iter_mut().filter(|it| it.stack == stack) {
        if let TrialResult::Measured(measured) = &mut trial.result {
            how(&mut measured.load);
        }
    }
}

#[test]
fn what_the_generator_limited_is_not_used_and_what_the_service_did_wrong_is() {
    let mut trials = two(10, 1.2);
    spoil(&mut trials, "jetty", |load| load.generator.busy_share = 0.95);
    let told = of_metric(Metric::ResponseMean, order(), &trials);
    assert_eq!(told.verdict, ClaimVerdict::NotMeasured);
    assert_eq!(told.why, "no usable trial of jetty, 64 connections: client-bound");

    let mut trials = two(10, 1.2);
    spoil(&mut trials, "jetty", |load| load.answered_as_expected /= 2);
    let told = judged(order(), &trials);
    assert_eq!(told.verdict, ClaimVerdict::Confirmed);
    assert_eq!(told.notes, ["10 of 10 trials of jetty, 64 connections: incorrect service"]);

    let mut trials = two(10, 1.2);
    spoil(&mut trials, "tomcat", |load| load.response_time_us.lower_bounds = vec!["max".into()]);
    let told = of_metric(Metric::ResponseMax, order(), &trials);
    assert!(told.why.contains("only a lower bound"), "{told:?}");
}

/// A stack that the client could not push to its limit carries no less than was seen of it: enough to be ahead of another, and
/// never enough to be behind it, near it, or ahead by so much.
#[test]
fn what_the_client_limited_is_a_bound_that_decides_to_one_side() {
    let limited = |stack: &str, ratio: f64| {
        let mut trials = two(10, ratio);
        spoil(&mut trials, stack, |load| load.generator.busy_share = 0.95);
        trials
    };
    for (stack, ratio, verdict) in [
        ("jetty", 1.2, ClaimVerdict::Confirmed),
        ("jetty", 1.0, ClaimVerdict::Undecided),
        ("jetty", 1.0 / 1.2, ClaimVerdict::Undecided),
        ("tomcat", 1.2, ClaimVerdict::Undecided),
        ("tomcat", 1.0, ClaimVerdict::Undecided),
        ("tomcat", 1.0 / 1.2, ClaimVerdict::Reversed),
    ] {
        let told = judged(order(), &limited(stack, ratio));
        assert_eq!(told.verdict, verdict, "{stack}, {ratio}: {told:?}");
        assert!(told.why.contains("the client was the limit of the "), "{}", told.why);
    }
    let ratio = Statement::Ratio { pairs: vec![pair("jetty", "tomcat")], ratio: 1.2 };
    let told = judged(ratio, &limited("jetty", 1.2));
    assert_eq!((told.verdict, told.parts[0].size), (ClaimVerdict::SizeUndecided, None), "{told:?}");
}

/// So many blocks, in the first of which the client was the limit of one of the two.
fn limited_at_first(count: u32, ratio: f64, limited: u32) -> Vec<Trial> {
    let mut trials = two(count, ratio);
    for trial in trials.iter_mut().filter(|it| it.stack == "jetty" && it.block < limited) {
        spoil(std::slice::from_mut(trial), "jetty", |load| load.generator.busy_share = 0.95);
    }
    trials
}

/// Where the client is the limit of the fastest trials, the others are not the whole: a few bounds stay among them, for what they
/// are. They count where they decide, and beside them others decide to the other side only where they outweigh them.
#[test]
fn a_few_bounds_are_not_left_out() {
    for (ratio, count, limited, verdict) in [
        (1.2, 6, 1, ClaimVerdict::Confirmed),
        (1.2, 10, 3, ClaimVerdict::Confirmed),
        (1.0 / 1.2, 10, 0, ClaimVerdict::Reversed),
        (1.0 / 1.2, 10, 3, ClaimVerdict::Undecided),
        // The test of 12 blocks can do with one that may be the largest gain, and of 20 with two.
        (1.0 / 1.2, 12, 1, ClaimVerdict::Reversed),
        (1.0 / 1.2, 20, 2, ClaimVerdict::Reversed),
        (1.0 / 1.2, 20, 3, ClaimVerdict::Undecided),
        // What bounds might have decided is no tie.
        (1.0, 10, 0, ClaimVerdict::Tied),
        (1.0, 10, 3, ClaimVerdict::Undecided),
    ] {
        let told = judged(order(), &limited_at_first(count, ratio, limited));
        assert_eq!(told.verdict, verdict, "{ratio}, {limited} of {count}: {told:?}");
        assert_eq!(told.parts[0].blocks, count as usize, "{told:?}");
        let says_so = told.why.contains("in some trials the client was the limit of the first");
        assert_eq!(says_so, limited > 0, "{}", told.why);
    }
    // The rest shows how far it is ahead, if there is enough of it.
    let ratio = |ratio: f64| Statement::Ratio { pairs: vec![pair("jetty", "tomcat")], ratio };
    for (claimed, count, limited, verdict, size) in [
        (1.2, 10, 1, ClaimVerdict::SizeUndecided, Some(SizeVerdict::Undecided)),
        (1.2, 12, 1, ClaimVerdict::Confirmed, Some(SizeVerdict::Confirmed)),
        (1.43, 12, 1, ClaimVerdict::SizeRefuted, Some(SizeVerdict::Refuted)),
        (1.2, 12, 6, ClaimVerdict::SizeUndecided, None),
        // It is more than claimed, by how much whatsoever.
        (1.05, 12, 12, ClaimVerdict::SizeRefuted, Some(SizeVerdict::Refuted)),
    ] {
        let told = judged(ratio(claimed), &limited_at_first(count, 1.2, limited));
        let is_so = (told.verdict, told.parts[0].size) == (verdict, size);
        assert!(is_so, "{claimed}, {limited} of {count}: {told:?}");
    }
    let equal = Statement::Equal { pairs: vec![pair("jetty", "tomcat")], within: 0.05 };
    for (ratio, limited, verdict) in [
        (1.0, 1, ClaimVerdict::Confirmed),
        (1.0, 3, ClaimVerdict::Undecided),
        (1.0, 12, ClaimVerdict::Undecided),
        (1.2, 12, ClaimVerdict::Reversed),
        (1.0 / 1.2, 12, ClaimVerdict::Undecided),
    ] {
        let told = judged(equal.clone(), &limited_at_first(12, ratio, limited));
        assert_eq!(told.verdict, verdict, "{ratio}, {limited}: {told:?}");
    }
    // One of twelve hardly moves what it is at least and at most, and such a figure is known.
    let told = judged(equal, &limited_at_first(12, 1.0, 1));
    assert!((told.parts[0].measured.unwrap() - 1.0).abs() < 0.01, "{told:?}");
}

/// A service that carried more than a level is not at it, whoever was the limit; one that carried less may be.
#[test]
fn a_bound_above_a_level_refutes_it() {
    let limited = |per_s: f64, limited: u32| {
        let mut trials = steady(12, per_s);
        for trial in trials.iter_mut().filter(|it| it.block < limited) {
            spoil(std::slice::from_mut(trial), "zuul", |load| load.generator.busy_share = 0.95);
        }
        judged(ceiling(40.0, None), &trials)
    };
    for (per_s, bounded, verdict) in [
        (50.0, 12, ClaimVerdict::Reversed),
        (39.9, 12, ClaimVerdict::Undecided),
        (20.0, 12, ClaimVerdict::Undecided),
        (39.9, 1, ClaimVerdict::Confirmed),
        (20.0, 1, ClaimVerdict::Reversed),
        (20.0, 3, ClaimVerdict::Undecided),
    ] {
        let told = limited(per_s, bounded);
        assert_eq!(told.verdict, verdict, "{per_s}, {bounded}: {told:?}");
    }
    let told = limited(20.0, 12);
    assert_eq!(
        told.why,
        "the client was the limit of it, so that the figure is a lower bound, which leaves it open"
    );
    assert_eq!(told.parts[0].measured, None, "{told:?}");
}

/// A stack whose compilers took CPU time that its answers had no more of carries no less once they are done, and nobody knows how much
/// more.
#[test]
fn a_rate_beside_compilers_is_a_bound_that_decides_to_one_side() {
    let compiling = |stack: &str, ratio: f64, jit_cores: f64, cpu_cores: f64| {
        let mut trials = two(10, ratio);
        for trial in trials.iter_mut().filter(|it| it.stack == stack) {
            let TrialResult::Measured(measured) = &mut trial.result else { unreachable!("all are measured") };
            measured.server.cpu_cores = Some(cpu_cores);
            measured.server.jit_cores = Some(jit_cores);
            measured.host = Some(record::HostSignals { cores: 2, ..record::HostSignals::default() });
        }
        trials
    };
    // Beside 0.1 of a core of the client's.
    for (stack, ratio, jit_cores, cpu_cores, verdict) in [
        ("jetty", 1.2, 0.5, 1.8, ClaimVerdict::Confirmed),
        ("jetty", 1.0 / 1.2, 0.5, 1.8, ClaimVerdict::Undecided),
        ("tomcat", 1.2, 0.5, 1.8, ClaimVerdict::Undecided),
        ("tomcat", 1.0 / 1.2, 0.5, 1.8, ClaimVerdict::Reversed),
        // A tenth of what was used is how far bursts may be apart that are called alike.
        ("jetty", 1.0 / 1.2, 0.2, 1.8, ClaimVerdict::Undecided),
        ("jetty", 1.0 / 1.2, 0.18, 1.8, ClaimVerdict::Reversed),
        // There is CPU left for the answers.
        ("jetty", 1.0 / 1.2, 0.5, 1.2, ClaimVerdict::Reversed),
    ] {
        let told = judged(order(), &compiling(stack, ratio, jit_cores, cpu_cores));
        assert_eq!(told.verdict, verdict, "{stack}, {ratio}, {jit_cores} of {cpu_cores}: {told:?}");
    }
    let trials = compiling("jetty", 1.2, 0.5, 1.8);
    let told = judged(order(), &trials);
    assert!(told.why.contains("compilers were at work beside the first"), "{}", told.why);
    assert_eq!(told.notes, ["10 of 10 trials of jetty, 64 connections only a bound: compiling"]);
    // How long its answers take once they are done is not known at all.
    let told = of_metric(Metric::ResponseMean, order(), &trials);
    assert_eq!(told.verdict, ClaimVerdict::NotMeasured, "{told:?}");
    // Signals tell the same as what is kept without them.
    let TrialResult::Measured(mut measured) = trials[0].result.clone() else {
        unreachable!("it is measured")
    };
    measured.server.jit_cores = None;
    let kinds = |measured: &record::Measured| -> Vec<explain::ReasonKind> {
        explain::audit_trial(measured, None).reasons.into_iter().map(|reason| reason.kind).collect()
    };
    assert!(kinds(&measured).is_empty());
    let jvm = record::JvmUse { jit_cores: 0.5, ..record::JvmUse::default() };
    measured.server.signals =
        Some(record::ServerSignals { jvm: Some(jvm), ..record::ServerSignals::default() });
    assert_eq!(kinds(&measured), [explain::ReasonKind::Compiling]);
    // What nobody looked at later may have gone on as it was.
    let signals = measured.server.signals.take();
    let burst = record::Burst { goodput_per_s: 1000.0, jit_share: Some(0.5) };
    measured.warm_up = Some(record::WarmUp { bursts: vec![burst], ..record::WarmUp::default() });
    assert_eq!(kinds(&measured), [explain::ReasonKind::Compiling]);
    measured.server.jit_cores = Some(0.0);
    assert_eq!(kinds(&measured), [explain::ReasonKind::NotSteady]);
    (measured.server.signals, measured.server.jit_cores) = (signals, None);
    // It is the better reason for what was not steady.
    measured.warm_up = Some(record::WarmUp { steady: false, ..record::WarmUp::default() });
    assert_eq!(kinds(&measured), [explain::ReasonKind::Compiling]);
    measured.warm_up = None;
    // Of servers that fill a core of their own it is more than a tenth of that, and less of all that was used.
    (measured.server.signals, measured.server.jit_cores, measured.server.cpu_cores) =
        (None, Some(0.1), Some(0.95));
    assert!(kinds(&measured).is_empty());
    (measured.surroundings.client_cpus, measured.surroundings.server_cpus) =
        (Some("0".into()), Some("1".into()));
    assert_eq!(kinds(&measured), [explain::ReasonKind::Compiling]);
    // How many cores there are is not known.
    measured.host = None;
    assert!(kinds(&measured).is_empty());
}

/// In a container of a core and a half, compilers take of that what answers have no more of, however many cores the machine has.
#[test]
fn what_compilers_take_of_a_quota_they_take_from_the_answers() {
    let TrialResult::Measured(measured) = at(0, "jetty", 1000.0, 64).result else {
        unreachable!("it is measured")
    };
    let is_compiling = |cpu_cores: f64, jit_cores: f64, of_client: f64| {
        let mut measured = measured.clone();
        (measured.server.cpu_cores, measured.server.jit_cores) = (Some(cpu_cores), Some(jit_cores));
        let quota = Some(record::Quota { cores: Some(1.5), throttled_cores: 2.0 });
        measured.server.signals = Some(record::ServerSignals { quota, ..record::ServerSignals::default() });
        measured.host = Some(record::HostSignals {
            cores: 16,
            generator_throttled_cores: Some(of_client),
            ..record::HostSignals::default()
        });
        let reasons = explain::audit_trial(&measured, None).reasons;
        reasons.iter().any(|reason| reason.kind == explain::ReasonKind::Compiling)
    };
    // Beside 0.1 of a core of the client's.
    assert!(is_compiling(1.38, 0.5, 1.99), "1.48 of the 1.5 cores that both have");
    assert!(!is_compiling(1.38, 0.1, 1.99), "compilers took less than a tenth of that");
    assert!(!is_compiling(0.5, 0.5, 1.99), "most of it is left");
    // Of a quota of the servers' own the client takes nothing.
    assert!(is_compiling(1.38, 0.5, 0.0) && !is_compiling(1.2, 0.5, 0.0));
}

/// Where answers lay in the client's socket, a mean time lies between what was read and that less what they lay there. That is
/// enough for a direction, where the two ranges are apart, and never for a size or for *the same*.
#[test]
fn answers_that_the_client_read_late_leave_a_range_that_decides_a_direction() {
    // Shares of the mean for which answers lay in the socket.
    let late = |ratio: f64, of_jetty: f64, of_tomcat: f64| {
        // A stack that is faster answers sooner: the ratio of times is the inverse of that of rates.
        let mut trials = two(10, 1.0 / ratio);
        for (stack, share) in [("jetty", of_jetty), ("tomcat", of_tomcat)] {
            spoil(&mut trials, stack, |load| {
                let mean_us = load.response_time_us.mean.unwrap();
                load.receive_lag_us = times(load.intended / 16, mean_us * share);
                load.service_time_us = load.response_time_us.clone();
            });
        }
        trials
    };
    for (ratio, of_jetty, of_tomcat, verdict) in [
        // 0.6 of 3 is above 1, and 0.3 of it is not.
        (3.0, 0.4, 0.0, ClaimVerdict::Confirmed),
        (3.0, 0.7, 0.0, ClaimVerdict::Undecided),
        (3.0, 0.4, 0.9, ClaimVerdict::Confirmed),
        // A third is below 1 by whatever is taken off it, and above a tenth of it that may be left of the other.
        (1.0 / 3.0, 0.9, 0.0, ClaimVerdict::Reversed),
        (1.0 / 3.0, 0.0, 0.4, ClaimVerdict::Reversed),
        (1.0 / 3.0, 0.0, 0.9, ClaimVerdict::Undecided),
        (1.0, 0.3, 0.3, ClaimVerdict::Undecided),
    ] {
        let told = of_metric(Metric::ResponseMean, order(), &late(ratio, of_jetty, of_tomcat));
        assert_eq!(told.verdict, verdict, "{ratio}, {of_jetty}, {of_tomcat}: {told:?}");
        assert!(told.why.contains("the client was late"), "{}", told.why);
    }
    // What may be on either side is no figure.
    let told = of_metric(Metric::ResponseMean, order(), &late(1.0, 0.3, 0.3));
    assert_eq!((told.parts[0].measured, told.parts[0].points_the_same_way), (None, None), "{told:?}");
    let told = of_metric(Metric::ResponseMean, order(), &late(3.0, 0.4, 0.0));
    assert!((told.parts[0].measured.unwrap() / 1.8 - 1.0).abs() < 0.01, "{told:?}");
    assert_eq!(told.notes, ["10 of 10 trials of jetty, 64 connections only a bound: late receiver"]);
    // Of a percentile there is no such range: the slowest answers need not be those that lay longest.
    let told = of_metric(Metric::ResponseP99, order(), &late(3.0, 0.4, 0.0));
    assert_eq!(told.verdict, ClaimVerdict::NotMeasured, "{told:?}");
    let ratio = Statement::Ratio { pairs: vec![pair("jetty", "tomcat")], ratio: 1.8 };
    let told = of_metric(Metric::ResponseMean, ratio, &late(3.0, 0.4, 0.0));
    assert_eq!((told.verdict, told.parts[0].size), (ClaimVerdict::SizeUndecided, None), "{told:?}");
    let equal = Statement::Equal { pairs: vec![pair("jetty", "tomcat")], within: 0.05 };
    let told = of_metric(Metric::ResponseMean, equal, &late(1.0, 0.4, 0.4));
    assert_eq!(told.verdict, ClaimVerdict::Undecided, "{told:?}");
}

/// A service that used four fifths of the machine beside its client would have answered at most a quarter more alone, so that its
/// users would have waited four fifths of what they did at least, however late the client was, and with what.
#[test]
fn the_share_of_the_machine_that_a_service_used_bounds_its_mean() {
    // Ways of being late that say nothing of by how much.
    let late: [fn(&mut record::LoadResult); 3] = [
        |load| load.receive_lag_us = times(load.intended / 16, load.response_time_us.mean.unwrap() * 0.9),
        |load| load.generator_lag_us = times(load.intended, 2_000.0),
        |load| load.generator.busy_share = 0.95,
    ];
    let of = |how: fn(&mut record::LoadResult), ratio: f64, server_cores: f64, compiling: f64| {
        let mut trials = two(10, 1.0 / ratio);
        for trial in trials.iter_mut().filter(|it| it.stack == "jetty") {
            let TrialResult::Measured(measured) = &mut trial.result else { unreachable!("all are measured") };
            measured.server.cpu_cores = Some(server_cores);
            let jvm = Some(record::JvmUse { jit_cores: compiling, ..record::JvmUse::default() });
            measured.server.signals = Some(record::ServerSignals { jvm, ..record::ServerSignals::default() });
            measured.host = Some(record::HostSignals { cores: 2, ..record::HostSignals::default() });
        }
        spoil(&mut trials, "jetty", |load| {
            load.service_time_us = load.response_time_us.clone();
            how(load);
        });
        trials
    };
    for how in late {
        for (ratio, server_cores, compiling, verdict) in [
            (1.5, 1.6, 0.0, ClaimVerdict::Confirmed),
            (1.5, 1.6, 0.4, ClaimVerdict::Undecided),
            (1.5, 1.2, 0.0, ClaimVerdict::Undecided),
            (1.0 / 1.2, 0.1, 0.0, ClaimVerdict::Reversed),
            (1.0, 1.9, 0.0, ClaimVerdict::Undecided),
        ] {
            let trials = of(how, ratio, server_cores, compiling);
            let told = of_metric(Metric::ResponseMean, order(), &trials);
            assert_eq!(told.verdict, verdict, "{ratio}, {server_cores}: {told:?}");
            // Of users who pause, or come at a rate, it says nothing.
            let mut of_pausing = trials;
            spoil(&mut of_pausing, "jetty", |load| load.littles_law = None);
            let told = of_metric(Metric::ResponseMean, order(), &of_pausing);
            assert_ne!(told.verdict, ClaimVerdict::Confirmed, "{told:?}");
        }
    }
}

/// One that spins uses the machine up whatever its answers cost, which bounds nothing. 250 µs of CPU time for each can't all have been
/// an answer's that takes 200 µs in all of the idle service.
#[test]
fn cpu_time_that_is_spun_away_bounds_no_mean() {
    let of = |idle_us: f64, runtime: record::Runtime| {
        let mut trials = two(10, 1.0 / 1.5);
        for trial in trials.iter_mut().filter(|it| it.stack == "jetty") {
            let TrialResult::Measured(measured) = &mut trial.result else { unreachable!("all are measured") };
            measured.server.cpu_cores = Some(1.6);
            measured.contract.idle_service_time_us = idle_us;
            let group = record::ThreadGroupUse {
                name: "worker-*".into(),
                threads: 2,
                runtime: Some(runtime),
                ..record::ThreadGroupUse::default()
            };
            let signals = record::ServerSignals { groups: vec![group], ..record::ServerSignals::default() };
            measured.server.signals = Some(signals);
            measured.host = Some(record::HostSignals { cores: 2, ..record::HostSignals::default() });
        }
        spoil(&mut trials, "jetty", |load| {
            load.service_time_us = load.response_time_us.clone();
            load.generator_lag_us = times(load.intended, 2_000.0);
        });
        of_metric(Metric::ResponseMean, order(), &trials).verdict
    };
    for (idle_us, runtime, verdict) in [
        (300.0, record::Runtime::Jvm, ClaimVerdict::Confirmed),
        // 1.28 cores may have been answers: 0.64 of one and a half is below 1.
        (200.0, record::Runtime::Jvm, ClaimVerdict::Undecided),
        (100.0, record::Runtime::Jvm, ClaimVerdict::NotMeasured),
        (300.0, record::Runtime::Erlang, ClaimVerdict::NotMeasured),
    ] {
        assert_eq!(of(idle_us, runtime), verdict, "{idle_us} µs, {runtime:?}");
    }
}

/// In the closed model rate and mean time are one thing, so that a service which still got faster has both, with a note.
#[test]
fn times_of_a_service_that_was_not_steady_count_as_its_rate_does() {
    let mut trials = two(10, 1.0 / 1.2);
    for trial in trials.iter_mut().filter(|it| it.stack == "jetty") {
        let TrialResult::Measured(measured) = &mut trial.result else { unreachable!("all are measured") };
        measured.warm_up = Some(record::WarmUp { steady: false, ..record::WarmUp::default() });
    }
    let told = of_metric(Metric::ResponseMean, order(), &trials);
    assert_eq!(told.verdict, ClaimVerdict::Confirmed, "{told:?}");
    assert_eq!(told.notes, ["10 of 10 trials of jetty, 64 connections: not steady"]);
}

/// The blocks in which the client was no limit are those in which the stack was slow: they bound nothing of the others.
#[test]
fn a_few_blocks_without_a_limit_are_no_bound_of_the_others() {
    let mut trials = two(16, 1.0);
    for trial in trials.iter_mut().filter(|it| it.stack == "jetty") {
        let (factor, busy) = if trial.block < 10 { (1.3, 0.95) } else { (0.7, 0.1) };
        spoil(std::slice::from_mut(trial), "jetty", |load| {
            load.goodput_per_s *= factor;
            load.generator.busy_share = busy;
        });
    }
    let told = judged(order(), &trials);
    assert_eq!(told.verdict, ClaimVerdict::Undecided, "{told:?}");
    // Nor do they say that it is like another, or at a level.
    let equal = Statement::Equal { pairs: vec![pair("jetty", "tomcat")], within: 0.5 };
    let told = judged(equal, &trials);
    assert_eq!(told.verdict, ClaimVerdict::Undecided, "{told:?}");
    assert!(told.why.ends_with("so that the ratio is a lower bound, which leaves it open"), "{}", told.why);
    // Of both the client was the limit in most blocks: nothing is known.
    let mut trials = two(16, 1.2);
    for trial in trials.iter_mut().filter(|it| it.stack == "jetty" || it.block >= 6) {
        let stack = trial.stack.clone();
        spoil(std::slice::from_mut(trial), &stack, |load| load.generator.busy_share = 0.95);
    }
    let told = judged(order(), &trials);
    assert_eq!(told.verdict, ClaimVerdict::Undecided, "{told:?}");
}

#[test]
fn a_range_is_held_against_what_a_stack_and_its_twin_are_apart() {
    let mut trials = two(10, 1.0 / 1.5);
    let twins = blocks(10, "tomcat", 1000.0 / 1.4, 64).into_iter();
    trials.extend(twins.map(|twin| Trial { role: record::Role::Twin, ..twin }));
    for stack in ["jetty", "tomcat"] {
        spoil(&mut trials, stack, |load| {
            let mean_us = load.response_time_us.mean.unwrap();
            load.receive_lag_us = times(load.intended / 16, mean_us * 0.2);
            load.service_time_us = load.response_time_us.clone();
        });
    }
    // 1.2 at least, and a stack and its twin are 1.4 apart.
    let told = of_metric(Metric::ResponseMean, order(), &trials);
    assert_eq!(told.verdict, ClaimVerdict::Undecided, "{told:?}");
}

/// Errors at once are no short times, who waits in vain makes no window too short, and late reading makes no answer stay away.
#[test]
fn a_stack_that_answers_nothing_in_half_of_the_blocks_is_not_told_by_the_others() {
    let ways: [fn(&mut record::LoadResult); 2] = [
        |_| {},
        |load| {
            load.response_time_us = times(load.intended, 2e6);
            load.response_time_us.lower_bounds = vec!["p99".into()];
        },
    ];
    for how in ways {
        let mut trials = two(12, 1.2);
        for trial in trials.iter_mut().filter(|it| it.stack == "jetty" && it.block % 2 == 0) {
            spoil(std::slice::from_mut(trial), "jetty", |load| {
                load.goodput_per_s = 0.0;
                load.answered_as_expected = 0;
                how(load);
            });
        }
        let slower = Statement::Order(vec![pair("tomcat", "jetty")]);
        let told = of_metric(Metric::ResponseP99, slower, &trials);
        assert_eq!(told.verdict, ClaimVerdict::Undecided, "{told:?}");
    }
    let mut trials = two(12, 1.0 / 3.0);
    for trial in trials.iter_mut().filter(|it| it.stack == "jetty") {
        let is_bound = trial.block % 2 == 0;
        spoil(std::slice::from_mut(trial), "jetty", |load| {
            let mean_us = load.response_time_us.mean.unwrap();
            load.receive_lag_us = times(load.intended / 16, mean_us * 0.4);
            load.service_time_us = load.response_time_us.clone();
            if is_bound {
                load.response_time_us.lower_bounds = vec!["mean".into()];
            }
        });
    }
    let told = of_metric(Metric::ResponseMean, order(), &trials);
    assert_eq!(told.verdict, ClaimVerdict::Undecided, "{told:?}");
}

#[test]
fn a_stack_that_was_left_out_or_failed_says_so() {
    let absent = Statement::Order(vec![pair("absent", "tomcat")]);
    let told = judged(absent, &two(10, 1.2));
    assert_eq!(told.why, "absent was left out: needs go");
    let mut trials = two(10, 1.2);
    for trial in trials.iter_mut().filter(|it| it.stack == "jetty" && it.block > 2) {
        trial.result = TrialResult::Failed { error: "it died".into() };
    }
    let told = judged(order(), &trials);
    assert_eq!((told.verdict, told.parts[0].blocks), (ClaimVerdict::Undecided, 3));
    assert_eq!(told.notes, ["7 of 10 trials of jetty, 64 connections failed"]);
    let nothing = judged(order(), &[]);
    assert_eq!(nothing.why, "the run has no trial of jetty, 64 connections");
    let stated = judged(Statement::NotTestable { why: "no figures".into() }, &trials);
    assert_eq!((stated.verdict, stated.why.as_str()), (ClaimVerdict::NotTestable, "no figures"));
}

#[test]
fn cells_of_two_rounds_are_told_apart() {
    let mut trials = two(10, 2.0);
    for trial in trials.iter_mut().filter(|it| it.stack == "jetty") {
        trial.round = "sleep".into();
    }
    let a = CellId { round: "sleep".into(), ..cell("jetty", 64) };
    let statement = Statement::Order(vec![CellPair { a, b: cell("tomcat", 64), published: None }]);
    let told = judged(statement, &trials);
    assert_eq!(told.verdict, ClaimVerdict::Confirmed);
    assert_eq!(told.parts[0].what, "jetty (sleep) / tomcat (hello), 64 connections");
}

/// Nearly normal, of mean 0 and variance 1: the sum of twelve numbers from 0 to 1, less 6.
fn noise(seed: u64) -> f64 {
    let unit = |index: u64| (units::Seed(seed).derive(index).0 >> 11) as f64 / (1_u64 << 53) as f64;
    (0..12).map(unit).sum::<f64>() - 6.0
}

/// How many of 150 made-up runs of eight blocks, with 2 % of noise, come to each of confirmed, reversed and tied.
fn verdicts(ratio: f64, statement: &Statement) -> [usize; 3] {
    let mut counts = [0; 3];
    for run in 0..150_u64 {
        let of = |stack: &str, salt: u64, per_s: f64| -> Vec<Trial> {
            let value = |block: u32| per_s * (0.02 * noise(run * 1000 + u64::from(block) * 10 + salt)).exp();
            (0..8).map(|block| at(block, stack, value(block), 64)).collect()
        };
        let trials = [of("jetty", 1, 1000.0 * ratio), of("tomcat", 2, 1000.0)].concat();
        match judged(statement.clone(), &trials).verdict {
            ClaimVerdict::Confirmed => counts[0] += 1,
            ClaimVerdict::Reversed => counts[1] += 1,
            ClaimVerdict::Tied => counts[2] += 1,
            _ => {}
        }
    }
    counts
}

/// Of 150 at a true rate of 5 %, more than 16 happen once in a thousand times.
#[test]
fn what_is_not_so_is_seldom_called_so() {
    let [confirmed, reversed, _] = verdicts(1.0, &order());
    assert!(confirmed + reversed <= 16, "equal stacks: {confirmed} {reversed}");
    let equal = Statement::Equal { pairs: vec![pair("jetty", "tomcat")], within: 0.05 };
    let [confirmed, reversed, _] = verdicts(1.05, &equal);
    assert!(confirmed <= 16 && reversed <= 16, "just at the bound: {confirmed} {reversed}");
    let [confirmed, ..] = verdicts(1.0, &equal);
    let [_, reversed, _] = verdicts(1.12, &equal);
    assert!(confirmed >= 120 && reversed >= 100, "what is so is found: {confirmed} {reversed}");
}

/// Six blocks in which it behaves decide nothing of a stack that brings nothing in the others.
#[test]
fn a_claim_is_not_confirmed_by_the_blocks_in_which_a_stack_behaved() {
    let mut trials = two(12, 1.2);
    for trial in trials.iter_mut().filter(|trial| trial.stack == "jetty" && trial.block % 2 == 0) {
        if let TrialResult::Measured(measured) = &mut trial.result {
            measured.load.goodput_per_s = 0.0;
            measured.load.answered_as_expected = 0;
        }
    }
    let told = judged(order(), &trials);
    assert_eq!(told.verdict, ClaimVerdict::Undecided, "{told:?}");
    assert!(
        told.why.contains("6 of 12 trials of jetty, 64 connections failed or have no figure"),
        "{told:?}"
    );
    let mut trials = two(12, 1.2);
    for trial in trials.iter_mut().filter(|trial| trial.stack == "jetty" && trial.block % 2 == 0) {
        if let TrialResult::Measured(measured) = &mut trial.result {
            measured.load.response_time_us.lower_bounds = vec!["p99".into()];
        }
    }
    let faster = Statement::Order(vec![pair("tomcat", "jetty")]);
    let told = of_metric(Metric::ResponseP99, faster, &trials);
    assert_eq!(told.verdict, ClaimVerdict::Undecided, "{told:?}");
}

/// The order of two stacks with 300 connections each.
fn order_at_300() -> Statement {
    let pair = CellPair { a: cell("jetty", 300), b: cell("tomcat", 300), published: None };
    Statement::Order(vec![pair])
}

fn two_at_300() -> Vec<Trial> {
    [blocks(10, "jetty", 1200.0, 300), blocks(10, "tomcat", 1000.0, 300)].concat()
}

/// 300 requests a second on 50 connections are not 300 connections, though both begin with the same number.
#[test]
fn the_control_of_a_rate_is_no_ceiling_of_as_many_connections() {
    let mut trials = two_at_300();
    let controls = blocks(10, record::CONTROL, 1250.0, 50).into_iter();
    trials.extend(controls.map(|control| Trial {
        role: record::Role::Control,
        load: load_of_label("300/s on 50"),
        ..control
    }));
    let ceiling = |trial: &Trial| explain::ceiling_of(&trials, &record::CellName::of(trial));
    assert_eq!(ceiling(&trials[0]), None);
    let asked_at_that_rate = Trial { load: load_of_label("300/s on 50, fresh"), ..trials[0].clone() };
    assert!(ceiling(&asked_at_that_rate).is_some());
    let told = judged(order_at_300(), &trials);
    assert_eq!(told.verdict, ClaimVerdict::Confirmed, "{told:?}");
}

/// The same trials, with connections that are kept or with one for each request.
fn with_connections(trials: Vec<Trial>, keep_alive: bool) -> Vec<Trial> {
    let with = |mut trial: Trial| {
        if let TrialResult::Measured(measured) = &mut trial.result {
            measured.load.load.keep_alive = keep_alive;
        }
        trial
    };
    trials.into_iter().map(with).collect()
}

/// A connection for each request costs the client more: what it reaches by the one is no ceiling of what is asked by the other.
#[test]
fn a_control_is_a_ceiling_of_what_was_asked_as_it_was() {
    let controls = |per_s: f64, keep_alive: bool| {
        let controls = blocks(10, record::CONTROL, per_s, 64).into_iter();
        let controls = controls.map(|control| Trial { role: record::Role::Control, ..control });
        with_connections(controls.collect(), keep_alive)
    };
    for control_keeps in [true, false] {
        let kept = blocks(10, "jetty", 1200.0, 64);
        let closing = with_connections(blocks(10, "tomcat", 1000.0, 64), false);
        let trials = [kept, closing, controls(1100.0, control_keeps)].concat();
        let is_held_against_it = |trial: &Trial| {
            let TrialResult::Measured(measured) = &trial.result else { panic!("it was measured") };
            let ceiling = explain::ceiling_of(&trials, &record::CellName::of(trial));
            let reasons = explain::audit_trial(measured, ceiling).reasons;
            reasons.iter().any(|it| it.kind == explain::ReasonKind::ClientBound)
        };
        assert_eq!(is_held_against_it(&trials[0]), control_keeps, "of one that keeps connections");
        assert_eq!(is_held_against_it(&trials[10]), !control_keeps, "of one that closes them");
    }
    // Nor is it one of a claim's cells, in their table or elsewhere in their round.
    for (control_keeps, verdict) in [(true, ClaimVerdict::Undecided), (false, ClaimVerdict::Confirmed)] {
        let told = judged(order(), &[two(10, 1.2), controls(1300.0, control_keeps)].concat());
        assert_eq!(told.verdict, verdict, "{told:?}");
    }
}

/// The client is to keep connections, and the server closes each behind its answer: that is a connection for each request, too.
#[test]
fn connections_that_a_server_closes_are_none_that_are_kept() {
    let controls = |keep_alive: bool| {
        let controls = blocks(10, record::CONTROL, 1100.0, 64).into_iter();
        let controls = controls.map(|control| Trial { role: record::Role::Control, ..control });
        with_connections(controls.collect(), keep_alive)
    };
    // Of 96,000 answers.
    for (opened, is_kept) in [(0, true), (960, true), (48_000, true), (48_001, false), (96_000, false)] {
        let mut trials = blocks(10, "tomcat", 1000.0, 64);
        spoil(&mut trials, "tomcat", |load| load.connections.opened_in_window = Some(opened));
        let has_ceiling = |control_keeps: bool| {
            let all = [trials.clone(), controls(control_keeps)].concat();
            explain::ceiling_of(&all, &record::CellName::of(&all[0])).is_some()
        };
        assert_eq!([has_ceiling(true), has_ceiling(false)], [is_kept, !is_kept], "{opened}");
    }
}

#[test]
fn a_trial_that_failed_at_a_rate_is_none_of_as_many_connections() {
    let mut trials = two_at_300();
    let failed = |block| Trial {
        load: load_of_label("300/s on 50"),
        result: TrialResult::Failed { error: "it died".into() },
        ..at(block, "jetty", 1.0, 50)
    };
    trials.extend((10..20).map(failed));
    let told = judged(order_at_300(), &trials);
    assert_eq!((told.verdict, told.notes.as_slice()), (ClaimVerdict::Confirmed, &[][..]), "{told:?}");
}
