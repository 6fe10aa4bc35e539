//! What a log writes before each line of an output: a time, the name of a container or of a pod, or several of these.

/// Names that are told apart. The lines of a log of more are left as they are.
const NAMES_MAX: usize = 8;
/// So many prefixes may stand behind one another: a name, and times.
const DEPTH_MAX: usize = 3;

/// Name and rest of a line. A time names nothing.
type Prefix = fn(&str) -> Option<(&str, &str)>;
/// The kinds of prefixes.
const PREFIXES: [Prefix; 4] = [timed, of_container, of_pod, of_step];

/// The text without the prefixes that all of its lines share in kind: a text for each name, of as many lines as there were, in
/// which those of others are empty. What two containers print at a time is no output of either. None where lines have nothing of
/// the kind in common.
pub(super) fn without_prefixes(text: &str) -> Vec<String> {
    let mut bare = by_name(text);
    for _ in 1..DEPTH_MAX {
        let more: Vec<Vec<String>> = bare.iter().map(|it| by_name(it)).collect();
        let count: usize = more.iter().map(|it| it.len().max(1)).sum();
        if count > NAMES_MAX || more.iter().all(Vec::is_empty) {
            break;
        }
        let parts = bare.into_iter().zip(more);
        bare = parts.flat_map(|(whole, more)| if more.is_empty() { vec![whole] } else { more }).collect();
    }
    bare
}

fn by_name(text: &str) -> Vec<String> {
    PREFIXES.into_iter().find_map(|prefix| parted(text, prefix)).unwrap_or_default()
}

/// `None` where a line has no such prefix, and of more names than are told apart.
fn parted(text: &str, prefix: Prefix) -> Option<Vec<String>> {
    let mut names: Vec<&str> = Vec::new();
    for line in text.lines().map(trimmed) {
        match prefix(line) {
            Some((name, _)) if names.contains(&name) => {}
            Some((name, _)) if names.len() < NAMES_MAX => names.push(name),
            None if is_logs_own(line) => {}
            _ => return None,
        }
    }
    let of_name = |name: &&str| {
        let mut own = String::with_capacity(text.len() / names.len());
        for line in text.lines().map(trimmed) {
            own.push_str(prefix(line).filter(|(of, _)| of == name).map_or("", |(_, rest)| rest));
            own.push('\n');
        }
        own
    };
    (!names.is_empty()).then(|| names.iter().map(of_name).collect())
}

fn trimmed(line: &str) -> &str {
    line.trim_matches(|it: char| it.is_whitespace() || it == '\u{feff}')
}

/// An empty line, or one in which `docker compose up` speaks for itself.
fn is_logs_own(line: &str) -> bool {
    line.is_empty() || line.starts_with("Attaching to ") || line.contains(" exited with code ")
}

/// `2026-01-01T12:00:00.123Z rest`, `[2026-01-01 12:00:00,123] rest`, `12:00:00 rest`.
fn timed(line: &str) -> Option<(&str, &str)> {
    let inner = line.strip_prefix('[');
    let time = inner.unwrap_or(line);
    let behind = behind_time(behind_date(time).unwrap_or(time))?;
    let behind = if inner.is_some() { behind.strip_prefix(']')? } else { behind };
    Some(("", behind_blank(behind)?))
}

/// `wrk-1  | rest`, as `docker compose` has it.
fn of_container(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.split_once('|')?;
    let name = name.trim_end();
    let is_of_name = |it: char| it.is_ascii_alphanumeric() || "-_.".contains(it);
    let is_name = name.starts_with(|it: char| it.is_ascii_alphanumeric()) && name.chars().all(is_of_name);
    is_name.then(|| (name, rest.strip_prefix(' ').unwrap_or(rest)))
}

/// `[pod/wrk-x2k/wrk] rest`, as `kubectl logs --prefix` has it.
fn of_pod(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.strip_prefix('[')?.split_once(']')?;
    let is_name = name.contains('/') && !name.contains(char::is_whitespace);
    Some((name, behind_blank(rest)?)).filter(|_| is_name)
}

/// Job and step before the time, with tabs, as `gh run view --log` has it: one job after another.
fn of_step(line: &str) -> Option<(&str, &str)> {
    let mut parts = line.splitn(3, '\t').skip(2);
    timed(parts.next()?.trim_start_matches('\u{feff}'))
}

fn behind_date(text: &str) -> Option<&str> {
    let rest = behind_digits(text, 4)?;
    let separator = rest.chars().next().filter(|it| "-/.".contains(*it))?;
    let rest = behind_digits(rest.strip_prefix(separator)?, 2)?;
    let rest = behind_digits(rest.strip_prefix(separator)?, 2)?;
    rest.strip_prefix(['T', ' '])
}

/// Behind hours, minutes, seconds, their fraction, and where in the world that is.
fn behind_time(text: &str) -> Option<&str> {
    let rest = behind_digits(text, 2)?.strip_prefix(':')?;
    let rest = behind_digits(rest, 2)?.strip_prefix(':')?;
    let rest = behind_digits(rest, 2)?;
    let fraction = rest.strip_prefix(['.', ',']);
    let rest = fraction.map_or(rest, |it| it.trim_start_matches(|it: char| it.is_ascii_digit()));
    if let Some(behind) = rest.strip_prefix('Z') {
        return Some(behind);
    }
    let offset = rest.strip_prefix(['+', '-']);
    Some(offset.map_or(rest, |it| it.trim_start_matches(|it: char| it.is_ascii_digit() || it == ':')))
}

fn behind_digits(text: &str, count: usize) -> Option<&str> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    (digits == count).then(|| &text[count..])
}

/// Behind the blank that ends a prefix; an empty line has none.
fn behind_blank(text: &str) -> Option<&str> {
    if text.is_empty() { Some(text) } else { text.strip_prefix([' ', '\t']) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_one_that_all_lines_have() {
        for text in
            ["a line", "wrk-1 | a\nb", "12:00:00 a\nwrk-1 | b", "a b | c", "10% | d", "12:00 a", "", "\n"]
        {
            assert!(without_prefixes(text).is_empty(), "{text}");
        }
        for (text, bare) in [
            ("12:00:00 a\n\n12:00:01   b", "a\n\n  b\n"),
            ("2026-01-01T12:00:00.123+08:00 a", "a\n"),
            ("[2026/01/01 12:00:00,123] a\n[2026/01/01 12:00:00,124]", "a\n\n"),
            ("wrk-1  | 12:00:00 a\nwrk-1  |\nwrk-1  | 12:00:01 | b", "a\n\n| b\n"),
            ("[pod/wrk/main] a", "a\n"),
            ("load\trun it\t\u{feff}2026-01-01T12:00:00.1234567Z a", "a\n"),
        ] {
            assert_eq!(without_prefixes(text), [bare], "{text}");
        }
    }

    #[test]
    fn each_name_has_its_own_lines() {
        let text = "Attaching to a-1, b-1\na-1 | one\nb-1 | two\na-1 | three\na-1 exited with code 0\n";
        assert_eq!(without_prefixes(text), ["\none\n\nthree\n\n", "\n\ntwo\n\n\n"]);
        let line = |it: usize| format!("c-{it} | x");
        let lines = |count: usize| (0..count).map(line).collect::<Vec<_>>().join("\n");
        assert_eq!(without_prefixes(&lines(NAMES_MAX)).len(), NAMES_MAX);
        assert!(without_prefixes(&lines(NAMES_MAX + 1)).is_empty());
    }
}
