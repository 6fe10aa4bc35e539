//! What JMeter's plans say in words of their own, in the scenario's words.

use scenario::{Call, Condition, ConditionError, Piece, Template, TemplateError, call_arguments};

/// The variable that says whether a user's last request succeeded.
const LAST_OK: &str = "JMeterThread.last_sample_ok";
/// Functions whose argument is a script.
const SCRIPTS: [&str; 4] = ["jexl3", "jexl2", "groovy", "javaScript"];

/// Whether the text is a call of a function whose argument is a script.
pub(crate) fn is_script(text: &str) -> bool {
    let after = |name: &&str| text.trim().strip_prefix("${__")?.strip_prefix(*name)?.strip_prefix('(');
    SCRIPTS.iter().find_map(after).is_some()
}

/// Text with `${…}` in it.
pub(crate) fn template(text: &str) -> Result<Template, String> {
    Template::parse(text).map(with_last_ok).map_err(|error| match &error {
        TemplateError::Unknown(unknown) if SCRIPTS.contains(&unknown.name.as_str()) => {
            format!("{error}; scripts are understood as conditions only")
        }
        _ => error.to_string(),
    })
}

/// A condition as [`Condition::parse`] reads it, also as the argument of a function whose argument is a script, with
/// `vars.get("x")` for `${x}` and with [`LAST_OK`] in it.
pub(crate) fn condition(text: &str) -> Result<Condition, ConditionError> {
    let error = |why: String| ConditionError { text: text.to_owned(), why };
    let script = script(text.trim()).map_err(error)?;
    Condition::parse_with(&script, &operand).map(its_last_ok).map_err(|inside| error(inside.why))
}

/// The argument of a function whose argument is a script; any other text as it is.
fn script(text: &str) -> Result<String, String> {
    let after = |name: &&str| text.strip_prefix("${__")?.strip_prefix(*name)?.strip_prefix('(');
    let Some(inside) = SCRIPTS.iter().find_map(after) else { return Ok(text.to_owned()) };
    match call_arguments(inside) {
        Some((arguments, "}")) => match arguments.as_slice() {
            [script] | [script, ""] => Ok(script.replace("\\,", ",")),
            _ => Err("the script has a comma; write it as \\,".to_owned()),
        },
        Some(_) => Err("something stands behind the script".to_owned()),
        None => Err("the script is not closed by )}".to_owned()),
    }
}

/// A variable as scripts name it: `vars.get("x")`, `vars["x"]`.
fn operand(text: &str) -> Result<Option<(Template, &str)>, String> {
    if text.starts_with("last_ok") {
        return Err("`last_ok` has no meaning here".to_owned());
    }
    let begun = |(start, end): (&'static str, &'static str)| Some((text.strip_prefix(start)?, start, end));
    let Some((inside, start, end)) = [("vars.get(", ")"), ("vars[", "]")].into_iter().find_map(begun) else {
        return Ok(None);
    };
    let quoted = || {
        let inside = inside.trim_start();
        let quote = inside.chars().next().filter(|first| ['"', '\''].contains(first))?;
        inside[1..].split_once(quote)
    };
    let (name, after) = quoted().ok_or_else(|| format!("{start} wants a name in quotes"))?;
    if name.contains("${") {
        return Err("vars wants a name without variables".to_owned());
    }
    let after = after.trim_start().strip_prefix(end).ok_or("vars is not closed")?;
    Ok(Some((Template(vec![Piece::Variable(name.to_owned())]), without_conversion(after))))
}

/// Numbers are texts here, so that what turns one into the other does nothing.
fn without_conversion(text: &str) -> &str {
    let conversions = [".toInteger()", ".toLong()", ".toDouble()", ".toString()", " as int", " as Integer"];
    conversions.iter().find_map(|it| text.strip_prefix(it)).unwrap_or(text)
}

fn with_last_ok(template: Template) -> Template {
    let piece = |piece: Piece| match piece {
        Piece::Variable(name) if name == LAST_OK => Piece::LastOk,
        Piece::Call(Call { function, arguments }) => {
            Piece::Call(Call { function, arguments: arguments.into_iter().map(with_last_ok).collect() })
        }
        other => other,
    };
    Template(template.0.into_iter().map(piece).collect())
}

fn its_last_ok(condition: Condition) -> Condition {
    let all = |all: Vec<Condition>| all.into_iter().map(its_last_ok).collect();
    let both = |a, b| (with_last_ok(a), with_last_ok(b));
    match condition {
        Condition::Equal(a, b) => {
            let (a, b) = both(a, b);
            Condition::Equal(a, b)
        }
        Condition::Differ(a, b) => {
            let (a, b) = both(a, b);
            Condition::Differ(a, b)
        }
        Condition::Less(a, b) => {
            let (a, b) = both(a, b);
            Condition::Less(a, b)
        }
        Condition::AtMost(a, b) => {
            let (a, b) = both(a, b);
            Condition::AtMost(a, b)
        }
        Condition::True(text) if text.variable() == Some(LAST_OK) => Condition::LastOk,
        Condition::True(text) => Condition::True(with_last_ok(text)),
        Condition::LastOk => Condition::LastOk,
        Condition::Not(inside) => Condition::Not(Box::new(its_last_ok(*inside))),
        Condition::And(inside) => Condition::And(all(inside)),
        Condition::Or(inside) => Condition::Or(all(inside)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn equal(name: &str, text: &str) -> Condition {
        Condition::Equal(Template(vec![Piece::Variable(name.into())]), Template::text(text))
    }

    #[test]
    fn a_script_is_the_condition_within_it() {
        let less = Condition::parse("${a} < 3").unwrap();
        for (text, is) in [
            (r#""${a}" == "b""#, equal("a", "b")),
            (r#"${__jexl3("${a}" == "b")}"#, equal("a", "b")),
            (r#"${__jexl3("${a}" == "b",)}"#, equal("a", "b")),
            (r#"${__groovy(vars.get("a") == "b")}"#, equal("a", "b")),
            (r#"${__groovy(vars.get('a').equals("b"))}"#, equal("a", "b")),
            (r#"${__jexl3("${a}" == "b\,c")}"#, equal("a", "b,c")),
            (r#"vars["a"] eq "b""#, equal("a", "b")),
            ("vars.get('a') != null", Condition::parse("${a} != null").unwrap()),
            ("vars.get('a').toLong() < 3", less.clone()),
            ("${__javaScript(${a} < 3)}", less.clone()),
            ("${__groovy(vars.get('a') as int < 3)}", less),
        ] {
            assert_eq!(condition(text), Ok(is), "{text}");
        }
    }

    #[test]
    fn the_variable_of_the_last_sample_is_the_scenarios_own() {
        let last_ok = || Template(vec![Piece::LastOk]);
        for (text, is) in [
            ("${JMeterThread.last_sample_ok}", Condition::LastOk),
            ("${__jexl3(${JMeterThread.last_sample_ok})}", Condition::LastOk),
            ("!${JMeterThread.last_sample_ok}", Condition::Not(Box::new(Condition::LastOk))),
            (
                "'${JMeterThread.last_sample_ok}' == 'true' && ${a}",
                Condition::And(vec![
                    Condition::Equal(last_ok(), Template::text("true")),
                    Condition::True(Template(vec![Piece::Variable("a".into())])),
                ]),
            ),
        ] {
            assert_eq!(condition(text), Ok(is), "{text}");
        }
        let pieces = |text: &str| template(text).unwrap().0;
        assert_eq!(pieces("${JMeterThread.last_sample_ok}"), [Piece::LastOk]);
        let upper = pieces("is ${__changeCase(${JMeterThread.last_sample_ok})}");
        assert!(matches!(&upper[1], Piece::Call(call) if call.arguments == [last_ok()]), "{upper:?}");
    }

    #[test]
    fn what_is_no_condition_is_shown_whole() {
        for (text, part) in [
            ("${__jexl3(1 == 1, x)}", "comma"),
            ("${__jexl3(1 == 1)} x", "something stands behind"),
            ("${__jexl3(1 == 1", "not closed"),
            ("${__groovy(props.get('x') == 'y')}", "`props` has no meaning"),
            ("vars.get(a) == 1", "vars.get( wants a name in quotes"),
            ("vars.get('${a}') == 1", "without variables"),
            ("vars.get('a' == 1", "vars is not closed"),
            ("last_ok", "`last_ok` has no meaning"),
        ] {
            let error = condition(text).unwrap_err().to_string();
            assert!(error.contains(part) && error.contains(&format!("`{text}`")), "{text}: {error}");
        }
        let error = template("${__jexl3(1)}").unwrap_err();
        assert!(error.ends_with("; scripts are understood as conditions only"), "{error}");
    }
}
