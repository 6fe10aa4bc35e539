use proptest::prelude::*;

use super::*;

fn variable(name: &str) -> Template {
    Template(vec![Piece::Variable(name.into())])
}

fn equal(name: &str, text: &str) -> Condition {
    Condition::Equal(variable(name), Template::text(text))
}

#[test]
fn comparisons_in_common_use() {
    let less = |a: Template, b: Template| Condition::Less(a, b);
    let a = || variable("a");
    let three = || Template::text("3");
    for (text, condition) in [
        (r#""${a}" == "b""#, equal("a", "b")),
        (r"'${a}'=='b'", equal("a", "b")),
        (r#""${a}".equals('b')"#, equal("a", "b")),
        (r#""${a}" eq "b""#, equal("a", "b")),
        (r#""${a}" != "b""#, Condition::Differ(a(), Template::text("b"))),
        ("${a} < 3", less(a(), three())),
        ("${a} > 3", less(three(), a())),
        ("${a} <= 3", Condition::AtMost(a(), three())),
        ("3 <= ${a}", Condition::AtMost(three(), a())),
        ("${a} >= 3", Condition::AtMost(three(), a())),
        ("${a}", Condition::True(a())),
        ("true", Condition::True(Template::text("true"))),
        ("last_ok", Condition::LastOk),
        ("!last_ok", Condition::Not(Box::new(Condition::LastOk))),
        ("${a} != null", Condition::Differ(a(), Template(vec![Piece::Text("${a}".into())]))),
    ] {
        assert_eq!(Condition::parse(text), Ok(condition), "{text}");
    }
}

#[test]
fn and_binds_more_tightly_than_or() {
    let parsed = Condition::parse("${a} == 1 || ${b} == 2 && !(${c} == 3 or ${d})").unwrap();
    let inside = Condition::Or(vec![equal("c", "3"), Condition::True(variable("d"))]);
    let both = Condition::And(vec![equal("b", "2"), Condition::Not(Box::new(inside))]);
    assert_eq!(parsed, Condition::Or(vec![equal("a", "1"), both]));
}

#[test]
fn whatever_else_is_an_error_that_shows_the_text() {
    for (text, part) in [
        ("", "something is missing"),
        ("${a} + 1 < 3", "`+ 1 < 3` has no meaning"),
        ("${a} == b", "`b` has no meaning"),
        ("props.get('x') == 'y'", "`props` has no meaning"),
        ("last_ok == 'true'", "only texts"),
        ("(${a}", "a ) is missing"),
        ("${a} == 'x", "a ' is missing"),
        ("${a", "a } is missing"),
        ("${a} ${b}", "a text does not belong there"),
        ("null", "null is no condition"),
        ("'x' == null", "only a variable can be null"),
        ("(1 < 2) < 3", "only texts"),
        ("${__nothing()} == 1", "no function __nothing"),
        ("vars.get('a') == 1", "`vars` has no meaning"),
    ] {
        let error = Condition::parse(text).unwrap_err().to_string();
        assert!(error.contains(part) && error.contains(&format!("`{text}`")), "{text}: {error}");
    }
    assert!(Condition::parse(&"!".repeat(100)).is_err());
    for endless in ["(", "'a'.equals("] {
        let error = Condition::parse(&endless.repeat(100_000)).unwrap_err();
        assert_eq!(error.why, "it is nested more than 32 deep", "{endless}");
    }
}

fn operand(text: &str) -> Result<Option<(Template, &str)>, String> {
    let Some(rest) = text.strip_prefix("the ") else { return Ok(None) };
    let (name, after) = rest.split_once('!').ok_or("the what?")?;
    Ok(Some((variable(name), after)))
}

#[test]
fn another_languages_values_are_read_where_words_begin() {
    assert_eq!(Condition::parse_with("the a! == 'b'", &operand), Ok(equal("a", "b")));
    assert_eq!(Condition::parse_with("'the a' == 'b'", &operand).map(drop), Ok(()));
    assert_eq!(Condition::parse_with("true", &operand), Ok(Condition::True(Template::text("true"))));
    let error = Condition::parse_with("the a", &operand).unwrap_err().to_string();
    assert!(error.contains("the what?"), "{error}");
}

proptest! {
    #[test]
    fn no_text_is_too_much(text in r#"[${}_()<>=!&|"'a\\ \-0-9.é]{0,40}"#) {
        let _ = Condition::parse(&text);
    }
}
