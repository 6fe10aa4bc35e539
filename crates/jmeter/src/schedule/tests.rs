use super::*;

fn span(from: f64, to: f64, seconds: u64) -> RateSpan {
    RateSpan { from: Rate::per_sec(from), to: Rate::per_sec(to), length: Duration::from_secs(seconds) }
}

#[test]
fn spans_go_from_the_rate_before_to_the_rate_right_after() {
    for (text, spans) in [
        ("rate(2/sec) random_arrivals(1 min)", vec![span(2.0, 2.0, 60)]),
        ("rate(2/sec) random_arrivals(1 min) rate(3/sec)", vec![span(2.0, 3.0, 60)]),
        (
            "rate(2/sec) random_arrivals(1 min) random_arrivals(2 min) rate(3 per second)",
            vec![span(2.0, 2.0, 60), span(2.0, 3.0, 120)],
        ),
        (
            "rate(1/s) rate(60/min) random_arrivals(90 s) rate(3/s) rate(4/s) random_arrivals(1 min 30 sec)",
            vec![span(1.0, 3.0, 90), span(4.0, 4.0, 90)],
        ),
        (
            "RATE(5/sec) random_arrivals(10 s) pause(5 s) /* again */ random_arrivals(10 s) // end",
            vec![span(5.0, 5.0, 10), span(0.0, 0.0, 5), span(5.0, 5.0, 10)],
        ),
        (
            "pause(2 s) rate(0) random_arrivals(1 h) rate(3600/hour)",
            vec![span(0.0, 0.0, 2), span(0.0, 1.0, 3600)],
        ),
    ] {
        assert_eq!(parse(text), Ok(Schedule { spans, poisson: true }), "{text}");
    }
    assert_eq!(
        parse("rate(.5/sec)even_arrivals(1d)"),
        Ok(Schedule { spans: vec![span(0.5, 0.5, 86_400)], poisson: false })
    );
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    for (text, part) in [
        ("", "nobody arrives"),
        ("rate(0) random_arrivals(1 min)", "nobody arrives"),
        ("rate(5/sec)", "nobody arrives"),
        ("rate(5/sec) arrivals(1 min)", "'arrivals' is none of"),
        ("rate(5)", "'/' or 'per' is expected at character 7"),
        ("rate(5/sec", "')' is expected at character 11"),
        ("rate(5/parsec) random_arrivals(1 s)", "'parsec' is no unit"),
        ("rate(5/sec) random_arrivals(x)", "a number is expected at character 29"),
        ("rate(5/sec) random_arrivals(1 s) even_arrivals(1 s)", "in one schedule"),
        ("rate(5/sec) & random_arrivals(1 s)", "'&' at character 13"),
        ("rate(1.2.3/sec)", "'1.2.3' is no number"),
        ("rate(1/sec) /* random", "no end"),
    ] {
        let error = parse(text).unwrap_err();
        assert!(error.contains(part), "{text}: {error}");
    }
}
