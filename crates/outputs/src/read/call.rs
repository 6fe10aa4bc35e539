//! Commands of tools of which each has names of its own for the same options.

use crate::number::go_time_ms;
use crate::outline::Line;
use crate::read::command::{path_of, whole};

/// A prompt has a word or two; a tool that is named later is named in prose.
const PROMPT_WORDS_MAX: usize = 4;
/// Most words of a command that are looked at.
const WORDS_MAX: usize = 256;
/// So many lines above its output a command may stand, where nothing between them tells whose it is.
const LINES_ABOVE_MAX: usize = 8;

/// The words of a command behind the name of its tool.
#[derive(Debug, Default)]
pub(super) struct Call {
    words: Vec<String>,
    /// What stands behind the scheme of a URL, be it before the tool: vegeta is told it by a pipe.
    url: Option<String>,
}

/// The command in line `at`, from 0, if it calls `tool` with options. It may be one of several in a pipe.
pub(super) fn call_at(lines: &[Line<'_>], at: usize, tool: &str) -> Option<Call> {
    // Nearly every line is none, and need not be taken apart.
    if !lines.get(at)?.text.contains(tool) {
        return None;
    }
    let text = whole(lines, at)?;
    let words = text.split('|').find_map(|part| words_behind(part, tool))?;
    let url = text.split_whitespace().rev().find_map(|it| Some(bare(it).split_once("://")?.1.to_owned()));
    Some(Call { words, url })
}

/// The nearest command of `tool` above a line, from 1. Of vegeta it is the one that attacks.
pub(super) fn call_above(lines: &[Line<'_>], line: usize, tool: &str) -> Option<Call> {
    let end = line.saturating_sub(1).min(lines.len());
    let near = (end.saturating_sub(LINES_ABOVE_MAX)..end).rev();
    near.filter_map(|at| call_at(lines, at, tool)).find(|it| tool != "vegeta" || it.begins_with("attack"))
}

fn bare(word: &str) -> &str {
    word.trim_matches(['`', '"', '\''])
}

fn words_behind(part: &str, tool: &str) -> Option<Vec<String>> {
    let mut words = part.split_whitespace().map(bare);
    let is_tool = |word: &str| word.rsplit(['/', '$', '>', '`', '\\']).next() == Some(tool);
    (0..PROMPT_WORDS_MAX).find_map(|_| words.next().filter(|word| is_tool(word)))?;
    let words: Vec<String> = words.take(WORDS_MAX).map(str::to_owned).collect();
    let is_option = |word: &String| {
        let name = word.trim_start_matches('-');
        name.len() < word.len() && name.starts_with(|it: char| it.is_ascii_alphabetic())
    };
    words.iter().any(is_option).then_some(words)
}

impl Call {
    /// Whether the word behind the tool is this one.
    pub fn begins_with(&self, word: &str) -> bool {
        self.words.first().is_some_and(|it| it == word)
    }

    /// The path of its URL.
    pub fn path(&self) -> Option<String> {
        self.url.as_deref().and_then(path_of)
    }

    /// The value of an option, under any of its names: `-c 10`, `-c10`, `--connections=10`. What stands last counts.
    pub fn value(&self, names: &[&str]) -> Option<&str> {
        self.words.iter().enumerate().rev().find_map(|(at, word)| {
            let value = names.iter().find_map(|name| joined(word, name))?;
            if value.is_empty() { self.words.get(at + 1).map(String::as_str) } else { Some(value) }
        })
    }

    /// A whole number.
    pub fn count(&self, names: &[&str]) -> Option<u32> {
        self.value(names)?.parse().ok()
    }

    /// A number that may have a fraction, above zero.
    pub fn rate(&self, names: &[&str]) -> Option<f64> {
        self.value(names)?.parse().ok().filter(|it: &f64| *it > 0.0 && it.is_finite())
    }

    /// A time, s. A number without a unit is seconds.
    pub fn seconds(&self, names: &[&str]) -> Option<f64> {
        let value = self.value(names)?;
        let bare = value.parse::<u32>().ok().map(f64::from);
        bare.or_else(|| go_time_ms(value).map(|it| it.value / 1e3)).filter(|it| *it > 0.0)
    }
}

/// What is joined to the name of an option; empty where the value is the next word.
fn joined<'a>(word: &'a str, name: &str) -> Option<&'a str> {
    let rest = word.strip_prefix(name)?;
    let is_number = name.len() == 2 && rest.starts_with(|it: char| it.is_ascii_digit());
    rest.strip_prefix('=').or_else(|| (rest.is_empty() || is_number).then_some(rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outline::Outline;

    fn call(text: &str, tool: &str) -> Option<Call> {
        call_at(&Outline::new(text).lines, 0, tool)
    }

    #[test]
    fn options_have_their_values_joined_or_behind_them() {
        let found = call("$ ab -k -c100 -n 1000 -H 'Connection: close' http://h:1/x", "ab").unwrap();
        assert_eq!((found.count(&["-c"]), found.count(&["-n"])), (Some(100), Some(1000)));
        assert_eq!(found.url.as_deref(), Some("h:1/x"));
        let found =
            call("./bombardier --connections=5 -d 1m30s -c 7 \\\n --rate 9.5 h", "bombardier").unwrap();
        assert_eq!(found.count(&["-c", "--connections"]), Some(7), "what stands last counts");
        assert_eq!((found.seconds(&["-d"]), found.rate(&["-r", "--rate"])), (Some(90.0), Some(9.5)));
        assert_eq!(found.value(&["-x"]), None);
        // A flag of Go whose name begins with that of another, and an option without its value.
        let found = call("hey -cpus 4 -z 10s -q", "hey").unwrap();
        assert_eq!((found.count(&["-c"]), found.value(&["-q"])), (None, None));
    }

    #[test]
    fn a_command_may_be_one_of_several_in_a_pipe() {
        let text =
            "echo \"GET http://h:1/x\" | vegeta attack -rate=50/1m -duration=5s | tee r.bin | vegeta report";
        let found = call(text, "vegeta").unwrap();
        assert!(found.begins_with("attack"));
        assert_eq!((found.value(&["-rate"]), found.url.as_deref()), (Some("50/1m"), Some("h:1/x")));
        for prose in ["hey, that is fast", "we were glad to call ab -n 1", "hey http://h/", "prehey -c 1"] {
            assert!(call(prose, "hey").is_none() && call(prose, "ab").is_none(), "{prose}");
        }
    }
}
