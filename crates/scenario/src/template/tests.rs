use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

fn text(text: &str) -> Piece {
    Piece::Text(text.into())
}

fn variable(name: &str) -> Piece {
    Piece::Variable(name.into())
}

fn call(function: Function, arguments: &[Template]) -> Piece {
    Piece::Call(Call { function, arguments: arguments.to_vec() })
}

#[test]
fn variables_and_calls_are_found_where_they_stand() {
    for (given, pieces) in [
        ("", vec![]),
        ("plain", vec![text("plain")]),
        ("a${b}c", vec![text("a"), variable("b"), text("c")]),
        ("${a}${b c}", vec![variable("a"), variable("b c")]),
        ("${__threadNum}", vec![call(Function::ThreadNum, &[])]),
        ("${__time()}", vec![call(Function::Time, &[])]),
        (
            "${__Random(1,${max},x)}",
            vec![call(
                Function::Random,
                &[Template::text("1"), Template(vec![variable("max")]), Template::text("x")],
            )],
        ),
        (
            "${__V(a_${__threadNum})}",
            vec![call(Function::V, &[Template(vec![text("a_"), call(Function::ThreadNum, &[])])])],
        ),
        // A comma separates arguments even within parentheses, which only keep their own end.
        ("${__urlencode((a))}", vec![call(Function::UrlEncode, &[Template::text("(a)")])]),
    ] {
        assert_eq!(Template::parse(given), Ok(Template(pieces)), "{given}");
    }
}

#[test]
fn backslashes_escape_only_where_there_is_something_to_escape_from() {
    for (given, pieces) in [
        (r"\$\d+\,\\", vec![text(r"\$\d+\,\\")]),
        (r"\$\d\\${a}\,", vec![text(r"$\d\"), variable("a"), text(",")]),
        (r"\${a}", vec![text("${a}")]),
        (r"${__urlencode(a\,b)}", vec![call(Function::UrlEncode, &[Template::text("a,b")])]),
    ] {
        assert_eq!(Template::parse(given), Ok(Template(pieces)), "{given}");
    }
}

#[test]
fn what_is_wrong_is_named() {
    for (given, part) in [
        ("${a", "`${a` has no closing }"),
        ("${__Random(1,2}", "has no closing }"),
        ("x${}", "names no variable"),
        ("${a_${b}}", "__V("),
        ("${__nothing(1)}", "there is no function __nothing"),
        ("${__Random(1)}", "__Random takes 2 to 3 arguments and has 1"),
        ("${__threadNum(1)}", "__threadNum takes 0 arguments and has 1"),
        ("${__UUID()x}", "right after the arguments of __UUID"),
        ("${__Random(1,b)}", "__Random wants a whole number and has `b`"),
        ("${__time(yyyy-QQ)}", "does not know `Q`"),
        ("${__timeShift(${f},,P1D,)}", "__timeShift wants a format without variables"),
        ("${__timeShift(YYYY,,P1D,)}", "does not know `Y`"),
        ("${__timeShift(yyyy,${d},P1D,)}", "__timeShift takes a date without a format alone"),
        ("${__timeShift(yyyy,,P1D,fr,)}", "in English alone"),
    ] {
        let error = Template::parse(given).unwrap_err().to_string();
        assert!(error.contains(part), "{given}: {error}");
    }
    let deep = format!("{}{}", "${__V(".repeat(40), ")}".repeat(40));
    assert_eq!(Template::parse(&deep), Err(TemplateError::TooDeep));
}

#[test]
fn what_is_known_before_the_start_is_filled_in() {
    let variables = BTreeMap::from([("users".to_owned(), "${__P(n)}".to_owned())]);
    let properties = BTreeMap::from([("n".to_owned(), "7".to_owned())]);
    for (given, known) in [
        ("a${__P(n,3)}b", Some("a7b")),
        ("${__P(other,3)}", Some("3")),
        ("${__P(other)}", Some("1")),
        ("${__property(other)}", Some("other")),
        ("${__property(other,,12)}", Some("12")),
        ("${users}", Some("${__P(n)}")),
        ("${host}", None),
        ("${__property(n,x)}", None),
        ("${__UUID}", None),
    ] {
        let resolved = Template::parse(given).unwrap().resolved(&variables, &properties, &mut 1000);
        assert_eq!(resolved.constant(), known, "{given}");
    }
}

proptest! {
    #[test]
    fn no_text_is_too_much(given in r"[${}_(),\\a-c]{0,40}|\PC{0,40}") {
        let _ = Template::parse(&given);
    }

    #[test]
    fn text_without_variables_stays_as_it_is(given in r"[^$]{0,40}") {
        let parsed = Template::parse(&given).unwrap();
        prop_assert_eq!(parsed.constant(), Some(given.as_str()));
    }
}
