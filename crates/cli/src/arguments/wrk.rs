//! wrk's command line, read as wrk 4.1 reads it.

use crate::arguments::getopt::Getopt;

/// What wrk prints where its command line is not valid.
pub const USAGE: &str = "\
Usage: wrk <options> <url>                            
  Options:                                            
    -c, --connections <N>  Connections to keep open   
    -d, --duration    <T>  Duration of test           
    -t, --threads     <N>  Number of threads to use   
                                                      
    -s, --script      <S>  Load Lua script file       
    -H, --header      <H>  Add header to request      
        --latency          Print latency statistics   
        --timeout     <T>  Socket/request timeout     
    -v, --version          Print version details      
                                                      
  Numeric arguments may include a SI unit (1k, 1M, 1G)
  Time arguments may include a time unit (2s, 2m, 2h)";

/// wrk's options. `-r` and `-?` are known to it and lead to the usage.
const OPTIONS: Getopt = Getopt {
    program: "wrk",
    long: &[
        ("connections", 'c', true),
        ("duration", 'd', true),
        ("threads", 't', true),
        ("script", 's', true),
        ("header", 'H', true),
        ("latency", 'L', false),
        ("timeout", 'T', true),
        ("help", 'h', false),
        ("version", 'v', false),
    ],
    short_with_value: "tcdsHT",
    short: "Lrv?",
    ours: &[("--verdict", '\u{1}'), ("--json", '\u{2}')],
};

/// `proofload wrk`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches of a command line")]
pub struct Wrk {
    /// Load threads.
    pub threads: u64,
    /// Connections.
    pub connections: u64,
    /// How long to load, seconds.
    pub duration_s: u64,
    /// How long an answer may take, seconds.
    pub timeout_s: u64,
    /// Headers as given.
    pub headers: Vec<String>,
    /// Show percentiles.
    pub latency: bool,
    /// A Lua script, and the arguments behind the URL, which are the script's.
    pub script: Option<String>,
    /// See `script`.
    pub script_arguments: Vec<String>,
    /// The URL as given.
    pub url: String,
    /// Say which program this is.
    pub version: bool,
    /// Ours: say how far the figures can be believed, also where nobody looks.
    pub verdict: bool,
    /// Ours: print JSON instead.
    pub json: bool,
}

/// A command line that wrk does not take: it prints this and its usage, and ends with 1.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Refused {
    /// Say first which program this is.
    pub version: bool,
    /// To standard error, where wrk says more than its usage.
    pub message: Option<String>,
}

/// Reads wrk's arguments, without the program's name.
pub fn parse(arguments: &[String]) -> Result<Wrk, Refused> {
    let mut wrk = Wrk {
        threads: 2,
        connections: 10,
        duration_s: 10,
        timeout_s: 2,
        headers: Vec::new(),
        latency: false,
        script: None,
        script_arguments: Vec::new(),
        url: String::new(),
        version: false,
        verdict: false,
        json: false,
    };
    let (options, free, message) = OPTIONS.split(arguments);
    for (letter, value) in options {
        take(&mut wrk, letter, value).ok_or(Refused { version: wrk.version, message: None })?;
    }
    let refused = Refused { version: wrk.version, message };
    if refused.message.is_some() || wrk.threads == 0 || wrk.duration_s == 0 {
        return Err(refused);
    }
    let mut free = free.into_iter();
    wrk.url = free.next().ok_or(refused)?;
    wrk.script_arguments = free.collect();
    Ok(wrk)
}

/// Takes in an option; `None` where wrk refuses it with no more than its usage.
fn take(wrk: &mut Wrk, letter: char, value: String) -> Option<()> {
    match letter {
        't' => wrk.threads = metric(&value)?,
        'c' => wrk.connections = metric(&value)?,
        'd' => wrk.duration_s = seconds(&value)?,
        'T' => wrk.timeout_s = seconds(&value)?,
        's' => wrk.script = Some(value),
        'H' => wrk.headers.push(value),
        'L' => wrk.latency = true,
        'v' => wrk.version = true,
        '\u{1}' => wrk.verdict = true,
        '\u{2}' => wrk.json = true,
        _ => return None,
    }
    Some(())
}

/// A count with an SI unit: `10k`.
fn metric(text: &str) -> Option<u64> {
    with_unit(text, "", 1000, &["k", "m", "g", "t", "p"])
}

/// A time with a unit, in seconds: `30`, `30s`, `2m`, `1h`.
fn seconds(text: &str) -> Option<u64> {
    with_unit(text, "s", 60, &["m", "h"])
}

/// Digits, and the unit behind them in capitals or not; wrk looks at two letters of it.
fn with_unit(text: &str, base: &str, scale: u64, units: &[&str]) -> Option<u64> {
    let text = text.trim_start();
    let digits = text.find(|char: char| !char.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..digits].parse().ok()?;
    let unit: String = text[digits..].trim_start().chars().take(2).collect();
    let unit = unit.trim_end().to_ascii_lowercase();
    if unit.is_empty() || unit == base {
        return Some(number);
    }
    let step = units.iter().position(|it| *it == unit)?;
    number.checked_mul(scale.checked_pow(step as u32 + 1)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Wrk, Refused> {
        let arguments: Vec<String> = line.split(' ').filter(|it| !it.is_empty()).map(Into::into).collect();
        parse(&arguments)
    }

    #[test]
    fn options_stand_where_they_like_and_values_follow_at_once_or_next() {
        let short = read("-t50 -c300 -d30s -L -T30s -HA:b http://x/").unwrap();
        assert_eq!((short.threads, short.connections, short.duration_s, short.timeout_s), (50, 300, 30, 30));
        assert!(short.latency && short.headers == ["A:b"] && short.url == "http://x/");
        for same in [
            "http://x/ -t 50 -c 300 -d 30 --latency --timeout 30 -H A:b",
            "--threads=50 --connections 300 --duration=30s http://x/ --lat --timeout=30s --header=A:b",
            "-Lt50 --conn 300 --du 30s --ti 30s --he=A:b http://x/",
            "-t50 -c300 -d30s -LT30s -HA:b -- http://x/",
        ] {
            // `--he` fits both --header and --help.
            match read(same) {
                Ok(it) => assert_eq!(it, short, "{same}"),
                Err(refused) => {
                    let message = refused.message.unwrap();
                    let ambiguous = "wrk: option '--he=A:b' is ambiguous; possibilities: '--header' '--help'";
                    assert_eq!(message, ambiguous, "{same}");
                }
            }
        }
        let defaults = read("http://x/ one two --json").unwrap();
        assert_eq!((defaults.threads, defaults.connections, defaults.duration_s), (2, 10, 10));
        assert_eq!((defaults.timeout_s, defaults.script_arguments.len(), defaults.json), (2, 2, true));
    }

    #[test]
    fn numbers_have_wrks_units() {
        for (text, count) in [
            ("10", Some(10)),
            ("2k", Some(2000)),
            ("2K", Some(2000)),
            ("1M", Some(1_000_000)),
            ("3 G", Some(3_000_000_000)),
            ("1.5k", None),
            ("2ki", None),
            ("-1", None),
            ("", None),
            ("99999999999999999999", None),
            ("99999999P", None),
        ] {
            assert_eq!(metric(text), count, "{text}");
        }
        for (text, s) in [
            ("30", Some(30)),
            ("30s", Some(30)),
            ("2m", Some(120)),
            ("1H", Some(3600)),
            ("5ms", None),
            ("2d", None),
            ("1m30s", None),
        ] {
            assert_eq!(seconds(text), s, "{text}");
        }
    }

    #[test]
    fn what_wrk_refuses_is_refused_in_its_words() {
        for (line, message) in [
            ("", None),
            ("-t2", None),
            ("-t0 http://x/", None),
            ("-d0 http://x/", None),
            ("-tx http://x/", None),
            ("--help http://x/", None),
            ("-r http://x/", None),
            ("-? http://x/", None),
            ("-h http://x/", Some("wrk: invalid option -- 'h'")),
            ("-Lx http://x/", Some("wrk: invalid option -- 'x'")),
            ("http://x/ -c", Some("wrk: option requires an argument -- 'c'")),
            ("http://x/ --threads", Some("wrk: option '--threads' requires an argument")),
            ("--latency=1 http://x/", Some("wrk: option '--latency' doesn't allow an argument")),
            ("--rate=5 http://x/", Some("wrk: unrecognized option '--rate=5'")),
            (
                "--t 5 http://x/",
                Some("wrk: option '--t' is ambiguous; possibilities: '--threads' '--timeout'"),
            ),
            ("--ver --verd http://x/", Some("wrk: unrecognized option '--verd'")),
        ] {
            let refused = read(line).unwrap_err();
            assert_eq!(refused.message.as_deref(), message, "{line}");
        }
        assert!(read("-v").unwrap_err().version && read("--ver http://x/").unwrap().version);
    }
}
