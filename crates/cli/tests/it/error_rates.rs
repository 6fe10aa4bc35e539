//! How often a comparison errs, on made-up experiments.

use crate::common::{proofload, run};
use crate::terminal::Terminal;

#[test]
fn quiet_trials_are_told_apart_and_noisy_ones_are_said_not_to_be() {
    let of = |noise: &str| {
        let output = run(&["error-rates", "--stacks", "2", "--noise", noise, "--experiments", "40"]);
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (code, text) = of("0.5%");
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.contains("2 stacks and a twin, rates, 10 to 20 blocks") && text.contains("100.0 %"),
        "{text}"
    );
    let (code, text) = of("30%");
    assert_eq!(code, Some(4), "{text}");
}

#[test]
fn too_few_blocks_say_how_many_it_takes() {
    let output = run(&["error-rates", "--stacks", "4", "--blocks", "5", "--experiments", "5"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("can't tell 4 rows apart") && text.contains("it takes 8"), "{text}");
}

#[test]
fn stacks_that_fail_and_times_that_are_bounds_have_rates_of_their_own() {
    for (world, part) in [
        (["--failing", "10%"], "every stack fails in 10 %"),
        (["--first-fails", "50%"], "better, but failing, called so:"),
        (["--censored", "15%"], "only a lower bound"),
        (["--queue", "80%"], "behind a queue"),
    ] {
        let output = run(&["error-rates", world[0], world[1], "--stacks", "2", "--experiments", "20"]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains(part), "{text}");
    }
    let output = run(&["error-rates", "--blocks", "4", "--stacks", "2", "--experiments", "20"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("no interval is told of so few blocks"), "{text}");
}

/// The table of `docs/statistics.md` is what the command prints, and nothing in it is worse than it promises.
#[test]
#[ignore = "slow: works error rates out for a core's quarter of a minute"]
fn the_published_table_is_that_of_the_code() {
    let output = run(&["error-rates", "--table"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/statistics.md");
    let docs = std::fs::read_to_string(docs).expect("the page is there");
    let (_, rest) = docs.split_once("<!-- error-rates: begin -->\n").expect("the table has a beginning");
    let (table, _) = rest.split_once("<!-- error-rates: end -->").expect("and an end");
    assert_eq!(table.trim(), String::from_utf8_lossy(&output.stdout).trim());
}

#[test]
fn a_claim_that_is_looked_at_has_rates_of_its_own() {
    let of = |comparisons: &str, effect: &str| {
        let arguments = ["error-rates", "--claim", comparisons, "--effect", effect, "--experiments", "100"];
        String::from_utf8_lossy(&run(&arguments).stdout).into_owned()
    };
    let far = of("4", "50%");
    assert!(
        far.contains("a claim of 4 comparisons, rates, looked at after 6, 8, 10, 14, 20 blocks"),
        "{far}"
    );
    assert!(far.contains("100.0 % of the runs, by 6.0 blocks on average"), "{far}");
    assert_eq!(run(&["error-rates", "--claim", "1", "--blocks", "6"]).status.code(), Some(2));
}

/// Many experiments take a while.
#[test]
fn on_a_terminal_it_says_what_it_is_at() {
    let mut command = proofload();
    command.args(["error-rates", "--stacks", "2", "--experiments", "5"]);
    let mut terminal = Terminal::start(command, 24, 100);
    terminal.end();
    let seen = String::from_utf8_lossy(&terminal.bytes()).into_owned();
    assert!(seen.contains("5 experiments of each kind"), "{seen}");
    assert!(!terminal.text().contains("of each kind"), "it goes when that is over: {}", terminal.text());
}
