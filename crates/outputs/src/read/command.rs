//! Command lines of load generators within a text: what was asked for.

use std::borrow::Cow;

use crate::number::{rate, time_ms};
use crate::outline::Line;

/// So many lines more a command may go over, each but the last ending in a backslash.
const COMMAND_LINES_MAX: usize = 16;
/// The letters of options that are read.
const READ: &str = "cdtTRqzmNup%yW";
/// Stands for `--rps` of h2load, which has a long name only.
const RATE_PER_CLIENT: char = '%';

/// What a command asks for. All tools here use the same letters for the same things, save where said; for those that don't
/// there is [`super::call::Call`].
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Asked {
    /// `-t`.
    pub threads: Option<u32>,
    /// `-c`.
    pub connections: Option<u32>,
    /// `-d`, or `-z` of oha, or `-N` of sb, s.
    pub duration_s: Option<f64>,
    /// `-T`, `--timeout`, s.
    pub timeout_s: Option<f64>,
    /// `-R`, or `-q` of oha.
    pub rate_per_s: Option<f64>,
    /// `--rps` of h2load: of each client.
    pub rate_per_client: Option<f64>,
    /// `-m` of h2load.
    pub streams: Option<u32>,
    /// Whether `-m` stands there, be it with a value that can't be read.
    pub names_streams: bool,
    /// `-p` of oha: requests at a time on a connection.
    pub parallel: Option<u32>,
    /// A script, a delay (`-y` of sb), or a connection a request: what goes by between requests is not in their latency.
    pub may_wait: bool,
    /// `-W` of sb: users come one after another, and the time that it says it took has that in it.
    pub warms_up: bool,
    /// The URL.
    pub url: Option<String>,
}

/// The command that begins in line `at`, from 0.
pub(super) fn command_at(lines: &[Line<'_>], at: usize, tools: &[&str]) -> Option<Asked> {
    command(&whole(lines, at)?, tools)
}

/// The line `at`, from 0: a backslash at the end of a line takes the next one in.
pub(super) fn whole<'a>(lines: &[Line<'a>], at: usize) -> Option<Cow<'a, str>> {
    let text = lines.get(at)?.text;
    let Some(first) = text.strip_suffix('\\') else { return Some(Cow::Borrowed(text)) };
    let mut whole = first.to_owned();
    for line in lines.iter().skip(at + 1).take(COMMAND_LINES_MAX) {
        let more = line.text.strip_suffix('\\');
        whole.push(' ');
        whole.push_str(more.unwrap_or(line.text));
        if more.is_none() {
            break;
        }
    }
    Some(Cow::Owned(whole))
}

/// The command in `text` if it calls `tool` with options; a prompt before it is no matter.
pub(super) fn command(text: &str, tools: &[&str]) -> Option<Asked> {
    let mut words = text.split_whitespace().peekable();
    let is_tool = |word: &str| {
        let name = word.rsplit(['/', '$', '>', '`', '\\']).next().unwrap_or(word);
        tools.contains(&name)
    };
    // A prompt has a word or two; a tool that is named later is named in prose.
    (0..4).find_map(|_| words.next().filter(|it| is_tool(it)))?;
    let closes = text.to_lowercase().contains("connection: close");
    let mut asked = Asked { may_wait: closes, ..Asked::default() };
    let mut has_option = false;
    while let Some(word) = words.next() {
        let word = word.trim_matches(['`', '"', '\'']);
        if let Some((_, rest)) = word.split_once("://") {
            asked.url = Some(rest.to_owned());
            continue;
        }
        let Some((name, joined)) = option(word) else { continue };
        has_option = true;
        asked.may_wait |= name == 's';
        if !READ.contains(name) {
            continue;
        }
        let value = joined.or_else(|| words.next_if(|it| !it.starts_with('-'))).unwrap_or_default();
        take(&mut asked, name, value.trim_matches(['`', '"', '\'']));
    }
    has_option.then_some(asked)
}

/// The letter of an option, and its value where that is joined to it.
fn option(word: &str) -> Option<(char, Option<&str>)> {
    if let Some(long) = word.strip_prefix("--") {
        let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
        let letter = match name {
            "threads" => 't',
            "connections" | "clients" | "concurrency" => 'c',
            "duration" => 'd',
            "timeout" => 'T',
            "rate" => 'R',
            "rps" => RATE_PER_CLIENT,
            "script" => 's',
            "max-concurrent-streams" => 'm',
            "numberOfSeconds" => 'N',
            "url" => 'u',
            "delayInMillisecond" => 'y',
            "warmUpPeriod" => 'W',
            _ => '-',
        };
        return Some((letter, value));
    }
    let short = word.strip_prefix('-')?;
    let letter = short.chars().next().filter(char::is_ascii_alphabetic)?;
    Some((letter, Some(&short[1..]).filter(|it| !it.is_empty())))
}

fn take(asked: &mut Asked, name: char, value: &str) {
    if name == 'u' && value.contains("://") {
        asked.url = value.split_once("://").map(|(_, rest)| rest.to_owned());
    }
    let whole = || value.parse::<u32>().ok();
    // A number without a unit is seconds.
    let seconds = || {
        let bare = value.parse::<u32>().ok().map(f64::from);
        bare.or_else(|| time_ms(value).map(|it| it.value / 1e3))
    };
    match name {
        't' => asked.threads = whole(),
        'c' => asked.connections = whole(),
        'd' | 'z' | 'N' => asked.duration_s = seconds(),
        'T' => asked.timeout_s = seconds(),
        'R' | 'q' => asked.rate_per_s = rate(value).map(|it| it.value),
        RATE_PER_CLIENT => asked.rate_per_client = rate(value).map(|it| it.value),
        'm' => (asked.streams, asked.names_streams) = (whole(), true),
        'p' => asked.parallel = whole(),
        'y' => asked.may_wait |= whole() != Some(0),
        'W' => asked.warms_up = whole() != Some(0),
        _ => {}
    }
}

/// The path of a URL, with or without its scheme.
pub fn path_of(url: &str) -> Option<String> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    if rest.is_empty() {
        return None;
    }
    Some(rest.find('/').map_or("/", |at| &rest[at..]).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_with_and_without_a_prompt() {
        let asked =
            command("[root@x wrk]# ./wrk -t50 -c 5000 -d30s -T30 http://h:1/sleep", &["wrk"]).unwrap();
        assert_eq!((asked.threads, asked.connections, asked.timeout_s), (Some(50), Some(5000), Some(30.0)));
        assert_eq!(path_of(&asked.url.unwrap()).as_deref(), Some("/sleep"));
        assert_eq!(command("$wrk -t50 -c300 -d2m", &["wrk"]).unwrap().duration_s, Some(120.0));
        let asked = command(r"C:\Users>sb -u http://localhost:8801 -c 40 -N 60", &["sb"]).unwrap();
        assert_eq!((asked.connections, asked.duration_s), (Some(40), Some(60.0)));
        assert_eq!(path_of(&asked.url.unwrap()).as_deref(), Some("/"));
        assert_eq!(command("we like wrk very much - it is good", &["wrk"]), None);
        assert_eq!(command("./wrk -t50 -c并发 -d30s", &["wrk"]).unwrap().connections, None);
    }
}
