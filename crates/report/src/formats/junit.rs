//! JUnit's XML, which CI servers read: each row of a ranking, each claim and each comparison is a test case.

use std::fmt::Write;

use explain::{ChangeVerdict, ClaimVerdict, RunsCompared};
use quick_xml::escape::escape;
use record::{GateAnswer, GateCell, GateResult, RankedBy};

use crate::figure::{by_driver, plain_line, signed_percent};
use crate::gate::{NOTHING_MEASURED, check_words};
use crate::page::model::{Doubt, Failure, Invalid, Page, Row, Table};
use crate::told::spoils;

/// What became of a case.
enum Came {
    Passed,
    /// The service's fault, or a claim that does not hold.
    Failed {
        kind: &'static str,
        why: String,
    },
    /// It can't be said.
    Skipped(String),
    /// It can't be said, and was to be known: no CI server may take it for passed.
    NotTold(String),
}

struct Case {
    name: String,
    came: Came,
}

struct Suite {
    name: String,
    cases: Vec<Case>,
}

/// A run. A row fails where a trial failed or the service was incorrect, and is skipped where its rate is not the server's, as is a
/// stack of which there is no trial at all; a claim fails where it, or its size, is refuted or tied, and is skipped where that is open.
pub fn junit(page: &Page) -> String {
    let mut suites: Vec<Suite> = page.tables.iter().map(|table| of_table(page, table)).collect();
    suites.extend(not_measured(page));
    if let Some(claims) = &page.claims {
        let cases = claims.claims.iter().map(|claim| Case {
            name: format!("{}: {}", claim.id, claim.sentence),
            came: match claim.verdict {
                ClaimVerdict::Confirmed => Came::Passed,
                ClaimVerdict::Reversed | ClaimVerdict::Tied | ClaimVerdict::SizeRefuted => {
                    Came::Failed { kind: claim.verdict.name(), why: claim.why.clone() }
                }
                ClaimVerdict::SizeUndecided
                | ClaimVerdict::Undecided
                | ClaimVerdict::NotMeasured
                | ClaimVerdict::NotTestable => {
                    Came::Skipped(format!("{}: {}", claim.verdict.name(), claim.why))
                }
            },
        });
        suites.push(Suite { name: format!("claims of {}", claims.title), cases: cases.collect() });
    }
    document(&page.run.title, &suites)
}

/// What came of a gate: a check that could not be told is an error, which is neither passed nor failed.
pub fn gate_junit(name: &str, gate: &GateResult) -> String {
    let mut suites: Vec<Suite> = Vec::new();
    for check in &gate.checks {
        let of_cell = |cell: &GateCell| format!("{}, {}, {}", cell.round, cell.load, cell.stack);
        let suite = check.cell.as_ref().map_or_else(|| name.to_owned(), of_cell);
        let why = || check_words(check);
        let came = match check.answer {
            GateAnswer::Passed => Came::Passed,
            GateAnswer::Failed => Came::Failed { kind: check.answer.name(), why: why() },
            GateAnswer::CouldNotTell => Came::NotTold(why()),
        };
        let case = Case { name: check.fails_if.clone(), came };
        match suites.last_mut().filter(|last| last.name == suite) {
            Some(last) => last.cases.push(case),
            None => suites.push(Suite { name: suite, cases: vec![case] }),
        }
    }
    // A file without a case would be one without a failure.
    if suites.is_empty() && gate.answer != GateAnswer::Passed {
        let case = Case { name: "gate".into(), came: Came::NotTold(NOTHING_MEASURED.into()) };
        suites.push(Suite { name: name.to_owned(), cases: vec![case] });
    }
    document(name, &suites)
}

/// Two runs held against each other: a cell fails where it became worse, is an error where it could not be told whether it did, and
/// is skipped where only one of the two has it.
pub fn compare_junit(compared: &RunsCompared) -> String {
    let cases = compared.cells.iter().map(|cell| {
        let percent = |ratio: f64| format!("{} %", signed_percent((ratio - 1.0) * 100.0, 1));
        let change = cell.ratio.map_or_else(|| "no ratio".to_owned(), percent);
        let ends = cell.low.zip(cell.high).map_or_else(String::new, |(low, high)| {
            format!(" (95 % interval {} to {})", percent(low), percent(high))
        });
        let by: Vec<&str> = cell.worse_by.iter().map(|it| it.name()).collect();
        let by = if by.is_empty() { String::new() } else { format!("{}; ", by.join(", ")) };
        let [failed_a, failed_b] = cell.failed_trials;
        let failed =
            format!("failed trials {failed_a} of {} to {failed_b} of {}", cell.trials[0], cell.trials[1]);
        let failed = if failed_a + failed_b > 0 { format!("; {failed}") } else { String::new() };
        let figure = match cell.ranked_by {
            RankedBy::Goodput => "goodput",
            RankedBy::ResponseP99 => "p99",
        };
        let open = cell.why.as_ref().map_or_else(String::new, |why| format!("{why}; "));
        let why = format!("{by}{open}{figure} {change}{ends}{failed}");
        Case {
            name: format!("{}, {}, {}{}", cell.round, cell.load, cell.stack, by_driver(cell.driver)),
            came: match cell.verdict {
                ChangeVerdict::Worse => Came::Failed { kind: cell.verdict.name(), why },
                ChangeVerdict::CouldNotTell | ChangeVerdict::TooFew => {
                    Came::NotTold(format!("{}: {why}", cell.verdict.name()))
                }
                ChangeVerdict::AllowedLoss | ChangeVerdict::Better | ChangeVerdict::Unchanged => Came::Passed,
            },
        }
    });
    // A cell that only one has is no change, and nobody would miss it without a case.
    let only = |cells: &[String], dir: &str, other: &str| -> Vec<Case> {
        let why = format!("only in {dir}: {other} has no trial of it");
        cells.iter().map(|cell| Case { name: cell.clone(), came: Came::Skipped(why.clone()) }).collect()
    };
    let (a, b) = (&compared.a.dir, &compared.b.dir);
    let cases = cases.chain(only(&compared.only_in_a, a, b)).chain(only(&compared.only_in_b, b, a));
    let name = format!("{} against {}", compared.b.dir, compared.a.dir);
    document(&name, &[Suite { name: name.clone(), cases: cases.collect() }])
}

fn of_table(page: &Page, table: &Table) -> Suite {
    let mut cases: Vec<Case> = table.rows.iter().map(|row| of_row(page, table, row)).collect();
    // A stack of which every trial failed has no row.
    let failures = page.missing.failures.iter().filter(|it| {
        (&it.round, &it.load.id, it.driver) == (&table.round, &table.load, table.driver)
            && table.rows.iter().all(|row| row.stack != it.stack)
    });
    for failure in failures {
        if cases.iter().all(|case| case.name != failure.stack) {
            let came = Came::Failed { kind: "failed", why: failure.error.clone() };
            cases.push(Case { name: failure.stack.clone(), came });
        }
    }
    Suite { name: format!("{}, {}{}", table.round, table.load, by_driver(table.driver)), cases }
}

/// Stacks that were asked for and of which there is no trial: without a case nobody would miss them.
fn not_measured(page: &Page) -> Option<Suite> {
    let (made, planned) = (page.run.trials, page.run.trials_planned as usize);
    let not_reached = if made < planned {
        format!("not reached: the run ended after {made} of {planned} planned trials")
    } else {
        "not reached: the run made no trial of it".to_owned()
    };
    let missing = &page.missing;
    let left_out = missing.left_out.iter().map(|(stack, why)| (stack, format!("left out: {why}")));
    let others = missing.not_reached.iter().filter(|it| !missing.left_out.contains_key(*it));
    let all = left_out.chain(others.map(|stack| (stack, not_reached.clone())));
    let case = |(stack, why): (&String, String)| Case { name: stack.clone(), came: Came::Skipped(why) };
    let cases: Vec<Case> = all.map(case).collect();
    (!cases.is_empty()).then(|| Suite { name: "not measured".into(), cases })
}

fn of_row(page: &Page, table: &Table, row: &Row) -> Case {
    let of_row = |it: &&Failure| {
        (&it.stack, &it.round, &it.load.id) == (&row.stack, &table.round, &table.load)
            && it.driver == table.driver
    };
    let fault = row.doubts.iter().find(|doubt| doubt.kind.is_services_fault());
    // The one for which it is not valid, and not another that its times alone have.
    let is_why = |doubt: &&Doubt| doubt.is_of_most(row.trials) && spoils(doubt.kind) == Invalid::All;
    let measurements = row.doubts.iter().find(is_why);
    let came = if row.failed > 0 {
        let why = page.missing.failures.iter().find(of_row).map(|it| it.error.clone()).unwrap_or_default();
        let (failed, all) = (row.failed, row.failed + row.trials);
        Came::Failed { kind: "failed", why: format!("{failed} of {all} trials failed: {why}") }
    } else if let Some(doubt) = fault {
        Came::Failed { kind: doubt.kind.name(), why: doubt.text.clone() }
    } else if let Some(doubt) = measurements {
        Came::Skipped(format!("{}: {}", doubt.name, doubt.text))
    } else {
        Came::Passed
    };
    // A name that is the same from run to run: servers keep the history of a test by it.
    Case { name: row.stack.clone(), came }
}

fn document(name: &str, suites: &[Suite]) -> String {
    let mut body = String::new();
    let (mut tests, mut failed, mut errors, mut skipped) = (0, 0, 0, 0);
    for suite in suites {
        let of = |is: fn(&Came) -> bool| suite.cases.iter().filter(|case| is(&case.came)).count();
        let (all, bad) = (suite.cases.len(), of(|it| matches!(it, Came::Failed { .. })));
        let not = of(|it| matches!(it, Came::Skipped(_)));
        let not_told = of(|it| matches!(it, Came::NotTold(_)));
        (tests, failed, errors, skipped) = (tests + all, failed + bad, errors + not_told, skipped + not);
        // Writing into a String cannot fail.
        let _ = writeln!(
            body,
            "  <testsuite name=\"{}\" tests=\"{all}\" failures=\"{bad}\" errors=\"{not_told}\" skipped=\"{not}\">",
            attribute(&suite.name)
        );
        for case in &suite.cases {
            body.push_str(&case_xml(&suite.name, case));
        }
        body.push_str("  </testsuite>\n");
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{}\" tests=\"{tests}\" failures=\"{failed}\" \
         errors=\"{errors}\" skipped=\"{skipped}\">\n{body}</testsuites>\n",
        attribute(name)
    )
}

fn case_xml(suite: &str, case: &Case) -> String {
    let head = format!("    <testcase classname=\"{}\" name=\"{}\"", attribute(suite), attribute(&case.name));
    match &case.came {
        Came::Passed => format!("{head}/>\n"),
        Came::Failed { kind, why } => {
            format!(
                "{head}>\n      <failure type=\"{}\" message=\"{}\"/>\n    </testcase>\n",
                attribute(kind),
                attribute(why)
            )
        }
        Came::NotTold(why) => {
            let why = attribute(why);
            format!("{head}>\n      <error type=\"could not tell\" message=\"{why}\"/>\n    </testcase>\n")
        }
        Came::Skipped(why) => {
            format!("{head}>\n      <skipped message=\"{}\"/>\n    </testcase>\n", attribute(why))
        }
    }
}

/// A text as an attribute's value. Control characters, which XML has no way to say, are shown as Rust would.
fn attribute(text: &str) -> String {
    let shown: String =
        plain_line(text).chars().filter(|char| !matches!(char, '\u{fffe}' | '\u{ffff}')).collect();
    escape(shown.as_str()).into_owned()
}
