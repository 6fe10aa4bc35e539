//! How often a comparison errs, on made-up experiments.

use crate::common::run;

#[test]
fn quiet_trials_are_told_apart_and_noisy_ones_are_said_not_to_be() {
    let of = |noise: &str| {
        let output = run(&["error-rates", "--stacks", "2", "--noise", noise, "--experiments", "40"]);
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (code, text) = of("0.5%");
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("2 stacks and a twin, 10 to 20 blocks") && text.contains("100.0 %"), "{text}");
    let (code, text) = of("30%");
    assert_eq!(code, Some(4), "{text}");
}

#[test]
fn too_few_blocks_say_how_many_it_takes() {
    let output = run(&["error-rates", "--stacks", "4", "--blocks", "5", "--experiments", "5"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("can't tell 4 rows apart") && text.contains("it takes 8"), "{text}");
}
