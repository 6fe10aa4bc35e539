//! Claims held against runs that go on until they are decided.

use explain::{ClaimVerdict, JudgedClaim, SizeVerdict, findable_difference, judge_claim, open_cells};
use plan::{CellId, Claim, Level, Metric, Statement};
use record::{Manifest, Role, Trial};

use crate::claims::{blocks, cell, manifest, pair};

fn looked_at() -> Manifest {
    Manifest { looks: stats::LOOKS.map(|look| look as u32).into(), ..manifest(2) }
}

fn claim(statement: Statement) -> Claim {
    Claim { id: "c".into(), sentence: "S".into(), is_derived: false, metric: Metric::Goodput, statement }
}

fn judged(statement: &Statement, trials: &[Trial]) -> JudgedClaim {
    judge_claim(&claim(statement.clone()), trials, &looked_at())
}

fn three(count: u32, rates: [f64; 3]) -> Vec<Trial> {
    let stacks = ["jetty", "tomcat", "undertow"].iter().zip(rates);
    stacks.flat_map(|(stack, rate)| blocks(count, stack, rate, 64)).collect()
}

#[test]
fn six_blocks_confirm_a_claim_however_many_comparisons_it_has() {
    let order = Statement::Order(vec![pair("jetty", "tomcat"), pair("tomcat", "undertow")]);
    let told = judged(&order, &three(6, [1300.0, 1100.0, 900.0]));
    assert_eq!((told.verdict, told.goes_on), (ClaimVerdict::Confirmed, false), "{told:?}");
    assert_eq!((told.parts[0].blocks, told.parts[0].p), (6, None));
    assert!(told.parts[0].low.unwrap() > 1.1 && told.parts[0].high.unwrap() < 1.3, "{told:?}");
    let five = judged(&order, &three(5, [1300.0, 1100.0, 900.0]));
    assert_eq!((five.verdict, five.goes_on), (ClaimVerdict::Undecided, true));
    assert_eq!(five.why, "5 blocks are too few, it takes 6; 2 of 2 measured comparisons point the same way");
}

/// The client is the limit of one: it is ahead as soon as that shows, and what a bound can't show ends the asking.
#[test]
fn a_bound_is_looked_at_as_a_figure_is() {
    let limited = |count: u32, rates: [f64; 3]| {
        let mut trials = three(count, rates);
        for trial in trials.iter_mut().filter(|it| it.stack == "jetty") {
            if let record::TrialResult::Measured(measured) = &mut trial.result {
                measured.load.generator.busy_share = 0.95;
            }
        }
        trials
    };
    let order = Statement::Order(vec![pair("jetty", "tomcat")]);
    let ahead = [1300.0, 1000.0, 1.0];
    let five = judged(&order, &limited(5, ahead));
    assert_eq!((five.verdict, five.goes_on), (ClaimVerdict::Undecided, true), "{five:?}");
    let six = judged(&order, &limited(6, ahead));
    assert_eq!((six.verdict, six.goes_on), (ClaimVerdict::Confirmed, false), "{six:?}");
    let behind = judged(&order, &limited(8, [800.0, 1000.0, 1.0]));
    assert_eq!((behind.verdict, behind.goes_on), (ClaimVerdict::Undecided, false), "{behind:?}");
}

/// The client was the limit of one trial of twenty: that one is none of those that were seen, and by the last look the others outweigh
/// it.
#[test]
fn a_bound_among_figures_is_outweighed_and_not_left_out() {
    let limited = |count: u32, rates: [f64; 3]| {
        let mut trials = three(count, rates);
        for trial in trials.iter_mut().filter(|it| it.stack == "jetty" && it.block == 0) {
            if let record::TrialResult::Measured(measured) = &mut trial.result {
                measured.load.generator.busy_share = 0.95;
            }
        }
        trials
    };
    let order = Statement::Order(vec![pair("jetty", "tomcat")]);
    let ahead = judged(&order, &limited(6, [1300.0, 1000.0, 1.0]));
    assert_eq!((ahead.verdict, ahead.goes_on), (ClaimVerdict::Confirmed, false), "{ahead:?}");
    let behind = [800.0, 1000.0, 1.0];
    for (count, verdict, goes_on) in [
        (6, ClaimVerdict::Undecided, true),
        (14, ClaimVerdict::Undecided, true),
        (20, ClaimVerdict::Reversed, false),
    ] {
        let told = judged(&order, &limited(count, behind));
        let is = (told.verdict, told.goes_on, told.parts[0].blocks);
        assert_eq!(is, (verdict, goes_on, count as usize), "{told:?}");
    }
    assert!(ahead.notes.iter().any(|it| it.ends_with("only a bound: client-bound")), "{ahead:?}");
}

/// One among eight may be one of twenty, and outweighed; two can't be at any look. So a run goes on in vain where the others point to
/// the side of which these say nothing.
#[test]
fn two_bounds_that_leave_the_other_side_open_go_on_no_further() {
    let order = Statement::Order(vec![pair("jetty", "tomcat")]);
    for (limited, goes_on) in [(1, true), (2, false)] {
        let mut trials = three(8, [800.0, 1000.0, 1.0]);
        for trial in trials.iter_mut().filter(|it| it.stack == "jetty" && it.block < limited) {
            if let record::TrialResult::Measured(measured) = &mut trial.result {
                measured.load.generator.busy_share = 0.95;
            }
        }
        let told = judged(&order, &trials);
        assert_eq!((told.verdict, told.goes_on), (ClaimVerdict::Undecided, goes_on), "{told:?}");
    }
}

/// Of both the client was the limit in so many blocks that no look at more of them can tell the two apart.
#[test]
fn what_bounds_of_both_leave_open_goes_on_no_further() {
    let order = Statement::Order(vec![pair("jetty", "tomcat")]);
    let limited = |blocks: u32| {
        let mut trials = three(6, [1300.0, 1000.0, 1.0]);
        for trial in trials.iter_mut().filter(|it| it.block < blocks) {
            if let record::TrialResult::Measured(measured) = &mut trial.result {
                measured.load.generator.busy_share = 0.95;
            }
        }
        judged(&order, &trials)
    };
    for (blocks, goes_on) in [(1, true), (3, false)] {
        let told = limited(blocks);
        assert_eq!((told.verdict, told.goes_on), (ClaimVerdict::Undecided, goes_on), "{told:?}");
        assert!(!told.why.contains("too few"), "{}", told.why);
    }
}

/// One of the two is the other way round: by six blocks that may be chance, by eight it is not, and the other one is not
/// asked any more.
#[test]
fn a_claim_falls_with_one_comparison_and_takes_more_for_it() {
    let order = Statement::Order(vec![pair("tomcat", "jetty"), pair("tomcat", "undertow")]);
    let six = judged(&order, &three(6, [1300.0, 1100.0, 900.0]));
    assert_eq!((six.verdict, six.goes_on), (ClaimVerdict::Undecided, true));
    assert!(six.why.contains("6 blocks do not decide it; it goes on to 20"), "{}", six.why);
    let eight = judged(&order, &three(8, [1300.0, 1100.0, 900.0]));
    assert_eq!((eight.verdict, eight.goes_on), (ClaimVerdict::Reversed, false));
}

#[test]
fn what_is_surely_near_is_tied_at_once_and_what_is_never_shown_at_the_end() {
    let order = Statement::Order(vec![pair("jetty", "tomcat")]);
    let near = judged(&order, &three(6, [1000.0, 1000.0, 1.0]));
    assert_eq!((near.verdict, near.goes_on), (ClaimVerdict::Tied, false));
    let mut uneven = three(20, [1000.0, 1000.0, 1.0]);
    for trial in uneven.iter_mut().filter(|it| it.stack == "jetty") {
        if let record::TrialResult::Measured(measured) = &mut trial.result {
            measured.load.goodput_per_s *= if trial.block % 2 == 0 { 1.3 } else { 1.0 / 1.3 };
        }
    }
    let open = judged(&order, &uneven);
    assert_eq!((open.goes_on, open.parts[0].blocks), (false, 20), "{open:?}");
    let before: Vec<Trial> = uneven.into_iter().filter(|it| it.block < 14).collect();
    assert!(judged(&order, &before).goes_on);
}

#[test]
fn a_size_is_refuted_or_confirmed_and_goes_on_until_then() {
    let ratio = |ratio: f64| Statement::Ratio { pairs: vec![pair("jetty", "tomcat")], ratio };
    let trials = three(6, [1200.0, 1000.0, 1.0]);
    assert_eq!(judged(&ratio(1.2), &trials).verdict, ClaimVerdict::Confirmed);
    let refuted = judged(&ratio(1.4), &trials);
    assert_eq!((refuted.verdict, refuted.goes_on), (ClaimVerdict::SizeRefuted, false));
    assert_eq!(refuted.why, "the direction holds, and it is surely less than claimed");
    let below = judged(&ratio(1.0 / 1.2), &trials);
    assert_eq!((below.verdict, below.goes_on), (ClaimVerdict::Reversed, false));
    assert_eq!(below.parts[0].size, Some(SizeVerdict::Refuted));
}

#[test]
fn a_level_is_held_by_an_interval_within_its_bounds() {
    let at = |value: f64| Statement::Ceiling {
        levels: vec![Level { cell: cell("tomcat", 64), value, published: None }],
        cores_published: None,
        within: 0.05,
    };
    let mut trials = three(6, [1.0, 1.0, 1.0]);
    for trial in &mut trials {
        if let record::TrialResult::Measured(measured) = &mut trial.result {
            measured.load.goodput_per_s = 1990.0 + f64::from(trial.block);
        }
    }
    assert_eq!(judged(&at(2000.0), &trials).verdict, ClaimVerdict::Confirmed);
    assert_eq!(judged(&at(2500.0), &trials).verdict, ClaimVerdict::Reversed);
}

/// The cells of what is decided take part no longer, unless another claim needs them.
#[test]
fn later_blocks_have_the_cells_of_open_claims() {
    let claims = [
        claim(Statement::Order(vec![pair("jetty", "undertow")])),
        claim(Statement::Order(vec![pair("tomcat", "jetty"), pair("tomcat", "undertow")])),
    ];
    let open = |count: u32| {
        let open = open_cells(&claims, &three(count, [1300.0, 1100.0, 900.0]), &looked_at());
        open.into_iter().map(|it: CellId| it.stack).collect::<Vec<_>>()
    };
    assert_eq!(open(0), ["jetty", "tomcat", "undertow"]);
    assert_eq!(open(6), ["jetty", "tomcat", "undertow"]);
    assert_eq!(open(8), [""; 0]);
    let one = open_cells(&claims[..1], &three(6, [1300.0, 1100.0, 900.0]), &looked_at());
    assert!(one.is_empty());
}

/// More blocks would bring no figure of a stack that is not there or whose trials have none.
#[test]
fn what_is_lost_goes_on_no_further() {
    let order = Statement::Order(vec![pair("absent", "tomcat")]);
    let told = judged(&order, &three(6, [1.0, 1000.0, 1.0]));
    assert_eq!((told.verdict, told.goes_on), (ClaimVerdict::NotMeasured, false), "{told:?}");
    let mut failing = three(6, [1300.0, 1000.0, 1.0]);
    failing[2].result = record::TrialResult::Failed { error: "no".into() };
    let told = judged(&Statement::Order(vec![pair("jetty", "tomcat")]), &failing);
    assert_eq!((told.verdict, told.goes_on), (ClaimVerdict::Undecided, false), "{told:?}");
}

/// A run that goes on by what it sees has no interval of one look alone, also where the figure decides nothing.
#[test]
fn what_is_shown_beside_a_failure_holds_at_all_looks() {
    let order = Statement::Order(vec![pair("jetty", "tomcat")]);
    let rates = [1300.0, 1000.0, 1.0];
    let mut failing = three(9, rates);
    failing[8].result = record::TrialResult::Failed { error: "no".into() };
    let (told, without) = (judged(&order, &failing), judged(&order, &three(8, rates)));
    assert_eq!(told.verdict, ClaimVerdict::Undecided, "{told:?}");
    assert_eq!(without.verdict, ClaimVerdict::Confirmed, "{without:?}");
    let shown = |it: &JudgedClaim| (it.parts[0].low, it.parts[0].high, it.parts[0].blocks);
    assert_eq!(shown(&told), shown(&without));
}

/// One twin stands for all loads of its round.
#[test]
fn the_smallest_difference_is_known_once_a_twin_is() {
    let mut trials = three(6, [1300.0, 1000.0, 1.0]);
    let claim = claim(Statement::Order(vec![pair("jetty", "tomcat")]));
    assert_eq!(findable_difference(&claim, &trials, &looked_at()), None);
    let own = blocks(6, "tomcat", 1000.0, 300);
    let twins = blocks(6, "tomcat", 1000.0, 300).into_iter().map(|mut twin| {
        if let record::TrialResult::Measured(measured) = &mut twin.result {
            measured.load.goodput_per_s *= if twin.block % 2 == 0 { 1.05 } else { 0.95 };
        }
        Trial { role: Role::Twin, ..twin }
    });
    trials.extend(own.into_iter().chain(twins));
    let found = findable_difference(&claim, &trials, &looked_at()).unwrap();
    assert!((0.03..0.08).contains(&found), "{found}");
}
