//! h2load's command line, read as h2load 1.52 reads it.

use units::Duration;

use crate::arguments::getopt::Getopt;

/// What `--help` prints.
pub const HELP: &str = "\
Usage: proofload h2load [OPTIONS]... URI
Load as h2load does: its command line and its output (docs/drop-ins.md).

  -n, --requests=N                     requests in all [1]
  -c, --clients=N                      connections [1]
  -t, --threads=N                      load threads [1]
  -m, --max-concurrent-streams=N       requests that share a connection at one time [1]
  -D, --duration=DURATION              how long to load, in place of -n
      --warm-up-time=DURATION          load before that, which is not measured
  -T, --connection-active-timeout=D    how long an answer may take, where -n bounds the load [0: for ever]
  -N, --connection-inactivity-timeout=D  how long an answer or a connection may take [0: for ever]
  -r, --rate=N                         connections that begin in each period
      --rate-period=DURATION           the period [1s]
      --rps=N                          requests a second that are due on each connection
  -i, --input-file=FILE                file with the URI, or - for standard input
  -B, --base-uri=URI                   scheme, host and port in place of the URI's
      --connect-to=HOST[:PORT]         where connections go in place of the URI's host
  -d, --data=FILE                      body; makes it a POST
  -H, --header=HEADER                  a header, such as 'accept: */*'
  -p, --no-tls-proto=PROTOCOL          h2c or http/1.1 for an http: URI [h2c]
      --npn-list=LIST, --alpn-list=LIST  h2 or http/1.1 for an https: URI [h2]
      --h1                             HTTP/1.1 for both
  -w, --window-bits=N                  a stream's window: 2^N - 1 bytes [30]
  -W, --connection-window-bits=N       a connection's [30]
      --ciphers=LIST, --tls13-ciphers=LIST, --groups=LIST
      --verdict                        say below it how far the figures can be believed
      --json                           print JSON (version 1; docs/records.md) instead
      --version, -h, --help";

const HELP_LETTER: char = 'h';
const VERSION: char = '\u{1}';
const CIPHERS: char = '\u{2}';
const NPN_LIST: char = '\u{3}';
const RATE_PERIOD: char = '\u{4}';
const H1: char = '\u{5}';
const WARM_UP: char = '\u{6}';
const CONNECT_TO: char = '\u{7}';
const RPS: char = '\u{8}';
const GROUPS: char = '\u{9}';
const TLS13_CIPHERS: char = '\u{a}';
/// Known to it, and refused here by name.
const REFUSED: char = '\u{b}';
const VERDICT: char = '\u{c}';
const JSON: char = '\u{d}';

const OPTIONS: Getopt = Getopt {
    program: "h2load",
    long: &[
        ("requests", 'n', true),
        ("clients", 'c', true),
        ("data", 'd', true),
        ("threads", 't', true),
        ("max-concurrent-streams", 'm', true),
        ("window-bits", 'w', true),
        ("max-frame-size", REFUSED, true),
        ("connection-window-bits", 'W', true),
        ("input-file", 'i', true),
        ("header", 'H', true),
        ("no-tls-proto", 'p', true),
        ("verbose", 'v', false),
        ("help", HELP_LETTER, false),
        ("version", VERSION, false),
        ("ciphers", CIPHERS, true),
        ("rate", 'r', true),
        ("connection-active-timeout", 'T', true),
        ("connection-inactivity-timeout", 'N', true),
        ("duration", 'D', true),
        ("timing-script-file", REFUSED, true),
        ("base-uri", 'B', true),
        ("npn-list", NPN_LIST, true),
        ("alpn-list", NPN_LIST, true),
        ("rate-period", RATE_PERIOD, true),
        ("h1", H1, false),
        ("header-table-size", REFUSED, true),
        ("encoder-header-table-size", REFUSED, true),
        ("warm-up-time", WARM_UP, true),
        ("log-file", REFUSED, true),
        ("connect-to", CONNECT_TO, true),
        ("rps", RPS, true),
        ("groups", GROUPS, true),
        ("tls13-ciphers", TLS13_CIPHERS, true),
        ("no-udp-gso", REFUSED, false),
        ("qlog-file-base", REFUSED, true),
        ("max-udp-payload-size", REFUSED, true),
        ("ktls", REFUSED, false),
    ],
    short_with_value: "WcdmnptwfHirTNDB",
    short: "hv",
    ours: &[("--verdict", VERDICT), ("--json", JSON)],
};

/// `proofload h2load`.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches of a command line")]
pub struct H2load {
    /// Requests in all; none where a duration bounds the load.
    pub requests: u64,
    /// Connections.
    pub clients: u32,
    /// Load threads.
    pub threads: u32,
    /// Requests that share a connection at one time.
    pub streams: u32,
    /// How long to load; none of 0, as with h2load.
    pub duration: Option<Duration>,
    /// Load before it.
    pub warm_up: Duration,
    /// How long answers are waited for once a connection has made its last request; none of 0, as with h2load.
    pub active_timeout: Option<Duration>,
    /// How long an answer may take, or a connection; none of 0.
    pub inactivity_timeout: Option<Duration>,
    /// Connections that begin in each period, and the period.
    pub rate: Option<u32>,
    /// See `rate`.
    pub rate_period: Duration,
    /// Requests a second that are due on each connection; none of 0.
    pub rps: Option<f64>,
    /// URIs as given.
    pub uris: Vec<String>,
    /// A file of them.
    pub input_file: Option<String>,
    /// Scheme, host and port in place of theirs.
    pub base_uri: Option<String>,
    /// Where connections go.
    pub connect_to: Option<(String, Option<u16>)>,
    /// A file with a body.
    pub data: Option<String>,
    /// Names, in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// HTTP/1.1 without TLS, and within.
    pub plain_is_http1: bool,
    /// See `plain_is_http1`.
    pub secured_is_http1: bool,
    /// Windows.
    pub window_bits: u32,
    /// See `window_bits`.
    pub connection_window_bits: u32,
    /// Lists of OpenSSL's names.
    pub ciphers: Option<String>,
    /// See `ciphers`.
    pub tls13_ciphers: Option<String>,
    /// See `ciphers`.
    pub groups: Option<String>,
    /// Ours: say how far the figures can be believed, also where nobody looks.
    pub verdict: bool,
    /// Ours: print JSON instead.
    pub json: bool,
}

/// What a command line asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Asked {
    /// A load.
    Load(Box<H2load>),
    /// [`HELP`].
    Help,
    /// Which program this is.
    Version,
}

/// Reads h2load's arguments, without the program's name; or what it says to standard error before it ends with 1.
pub fn parse(arguments: &[String]) -> Result<Asked, String> {
    let mut load = H2load {
        requests: 1,
        clients: 1,
        threads: 1,
        streams: 1,
        duration: None,
        warm_up: Duration::ZERO,
        active_timeout: None,
        inactivity_timeout: None,
        rate: None,
        rate_period: Duration::from_secs(1),
        rps: None,
        uris: Vec::new(),
        input_file: None,
        base_uri: None,
        connect_to: None,
        data: None,
        headers: Vec::new(),
        plain_is_http1: false,
        secured_is_http1: false,
        window_bits: 30,
        connection_window_bits: 30,
        ciphers: None,
        tls13_ciphers: None,
        groups: None,
        verdict: false,
        json: false,
    };
    let (options, free, message) = OPTIONS.split(arguments);
    for (letter, value) in options {
        match letter {
            HELP_LETTER => return Ok(Asked::Help),
            VERSION => return Ok(Asked::Version),
            _ => take(&mut load, letter, value)?,
        }
    }
    if let Some(message) = message {
        return Err(message);
    }
    load.uris = free;
    check(&load)?;
    Ok(Asked::Load(Box::new(load)))
}

/// Takes in an option.
fn take(load: &mut H2load, letter: char, value: String) -> Result<(), String> {
    let bad = |option: &str| format!("{option}: bad option value: {value}");
    match letter {
        'n' => load.requests = value.parse().map_err(|_| bad("-n"))?,
        'c' => load.clients = value.parse().map_err(|_| bad("-c"))?,
        't' => load.threads = value.parse().map_err(|_| bad("-t"))?,
        'm' => load.streams = value.parse().map_err(|_| bad("-m"))?,
        'w' => load.window_bits = window_bits(letter, &value)?,
        'W' => load.connection_window_bits = window_bits(letter, &value)?,
        'r' => {
            let rate = value.parse().map_err(|_| bad("-r"))?;
            if rate == 0 {
                return Err("-r: the rate at which connections are made must be positive.".into());
            }
            load.rate = Some(rate);
        }
        'T' => {
            let said = || format!("-T: bad value for the conn_active_timeout wait time: {value}");
            load.active_timeout = Some(duration(&value).ok_or_else(said)?).filter(|it| !it.is_zero());
        }
        'N' => {
            let said = || format!("-N: bad value for the conn_inactivity_timeout wait time: {value}");
            load.inactivity_timeout = Some(duration(&value).ok_or_else(said)?).filter(|it| !it.is_zero());
        }
        'D' => {
            let said = || format!("-D: value error {value}");
            load.duration = Some(duration(&value).ok_or_else(said)?).filter(|it| !it.is_zero());
        }
        WARM_UP => {
            load.warm_up = duration(&value).ok_or_else(|| format!("--warm-up-time: value error {value}"))?;
        }
        RATE_PERIOD => {
            load.rate_period =
                duration(&value).ok_or_else(|| format!("--rate-period: value error {value}"))?;
        }
        RPS => {
            let rps = value.parse::<f64>().ok().filter(|rps| (0.0..=1e6).contains(rps));
            let rps = rps.ok_or_else(|| format!("--rps: Invalid value {value}"))?;
            load.rps = Some(rps).filter(|it| *it > 0.0);
        }
        'H' => load.headers.push(header(&value)?),
        'p' => {
            load.plain_is_http1 = match value.to_ascii_lowercase().as_str() {
                "h2c" => false,
                "http/1.1" => true,
                _ => return Err(format!("-p: unsupported protocol {value}")),
            };
        }
        NPN_LIST => load.secured_is_http1 = is_http1(&value)?,
        H1 => (load.plain_is_http1, load.secured_is_http1) = (true, true),
        CONNECT_TO => {
            let said = || format!("--connect-to: Invalid value {value}");
            load.connect_to = Some(host_port(&value).ok_or_else(said)?);
        }
        'i' => load.input_file = Some(value),
        'B' => load.base_uri = Some(value),
        'd' => load.data = Some(value),
        CIPHERS => load.ciphers = Some(value),
        TLS13_CIPHERS => load.tls13_ciphers = Some(value),
        GROUPS => load.groups = Some(value),
        VERDICT => load.verdict = true,
        JSON => load.json = true,
        'v' => {}
        _ => {
            return Err("h2load: HTTP/3, frame and table sizes, timing scripts, log files and kTLS are not spoken here; \
                        leave them out (docs/drop-ins.md)"
                .into());
        }
    }
    Ok(())
}

/// What h2load says of numbers that don't go together.
fn check(load: &H2load) -> Result<(), String> {
    let H2load { requests, clients, threads, streams, duration, rate, .. } = *load;
    let is_timed = duration.is_some();
    let wrong = [
        (load.uris.is_empty() && load.input_file.is_none(), "no URI or input file given"),
        (clients == 0, "-c: the number of clients must be strictly greater than 0."),
        (is_timed && rate.is_some(), "-r, -D: they are mutually exclusive."),
        (
            requests == 0 && !is_timed,
            "-n: the number of requests must be strictly greater than 0 if timing-based test is not being run.",
        ),
        (streams == 0, "-m: the max concurrent streams must be strictly greater than 0."),
        (threads == 0, "-t: the number of threads must be strictly greater than 0."),
        (
            !is_timed && requests < u64::from(clients),
            "-n, -c: the number of requests must be greater than or equal to the clients.",
        ),
        (
            clients < threads,
            "-c, -t: the number of clients must be greater than or equal to the number of threads.",
        ),
        (
            rate.is_some_and(|rate| rate < threads),
            "-r, -t: the connection rate must be greater than or equal to the number of threads.",
        ),
        (
            rate.is_some_and(|rate| rate > clients),
            "-r, -c: the connection rate must be smaller than or equal to the number of clients.",
        ),
    ];
    wrong.into_iter().find(|(is_so, _)| *is_so).map_or(Ok(()), |(_, message)| Err(message.into()))
}

fn window_bits(letter: char, text: &str) -> Result<u32, String> {
    let said = || format!("-{letter}: specify the integer in the range [0, 30], inclusive");
    text.parse().ok().filter(|bits| *bits <= 30).ok_or_else(said)
}

/// An integer with a unit: `10`, `10s`, `500ms`, `2m`, `1h`.
fn duration(text: &str) -> Option<Duration> {
    let digits = text.find(|char: char| !char.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let ms = match unit.to_ascii_lowercase().as_str() {
        "" | "s" => 1000,
        "ms" => 1,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    Some(Duration::from_millis(number.parse::<u64>().ok()?.checked_mul(ms)?))
}

/// A name in lower case, which may begin with a colon, and a value.
fn header(text: &str) -> Result<(String, String), String> {
    let colon = text.char_indices().skip(1).find(|(_, char)| *char == ':').map(|(at, _)| at);
    let (name, value) =
        colon.map(|at| text.split_at(at)).ok_or_else(|| format!("-H: invalid header: {text}"))?;
    let value = value[1..].trim_start();
    match (name, value) {
        (":", _) => Err(format!("-H: invalid header: {text}")),
        (_, "") => Err(format!("-H: invalid header - value missing: {text}")),
        _ => Ok((name.to_ascii_lowercase(), value.to_owned())),
    }
}

/// The first protocol of a list. It is offered alone: none is fallen back to.
fn is_http1(list: &str) -> Result<bool, String> {
    match list.split(',').next().unwrap_or_default() {
        "h2" => Ok(false),
        "http/1.1" => Ok(true),
        other => Err(format!("h2load: `{other}` is not spoken here; give h2 or http/1.1")),
    }
}

/// `host`, `host:port`, `[::1]:port`.
fn host_port(text: &str) -> Option<(String, Option<u16>)> {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port.parse().ok()?)),
        _ => (text, None),
    };
    let host = host.trim_matches(['[', ']']);
    (!host.is_empty()).then(|| (host.to_owned(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<H2load, String> {
        let arguments: Vec<String> = line.split(' ').filter(|it| !it.is_empty()).map(Into::into).collect();
        match parse(&arguments)? {
            Asked::Load(load) => Ok(*load),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_load_is_read_however_it_is_written() {
        let short = read("-n1000 -c10 -m32 -t2 -H a:b http://x/").unwrap();
        assert_eq!((short.requests, short.clients, short.streams, short.threads), (1000, 10, 32, 2));
        assert_eq!(short.headers, [("a".to_owned(), "b".to_owned())]);
        let long =
            read("http://x/ --requests=1000 --clients 10 --max-conc=32 --threads=2 --header=A:b").unwrap();
        assert_eq!(long, short);
        let timed = read("-D 10 --warm-up-time=500ms -c 4 --rps=2.5 --h1 http://x/").unwrap();
        assert_eq!(
            (timed.duration, timed.warm_up),
            (Some(Duration::from_secs(10)), Duration::from_millis(500))
        );
        assert!(timed.plain_is_http1 && timed.secured_is_http1 && timed.rps == Some(2.5));
        let elsewhere = read("--connect-to=[::1]:8443 -H :method:PUT https://x/").unwrap();
        assert_eq!(elsewhere.connect_to, Some(("::1".to_owned(), Some(8443))));
        assert_eq!(elsewhere.headers[0].0, ":method");
        assert_eq!(parse(&["--version".to_owned()]), Ok(Asked::Version));
        let patient = read("-N 0 -T0 http://x/").unwrap();
        assert_eq!((patient.inactivity_timeout, patient.active_timeout), (None, None), "0 is for ever");
        assert_eq!(read("-N 5 http://x/").unwrap().inactivity_timeout, Some(Duration::from_secs(5)));
        let counted = read("-n 5 -D 0 --rps 0 -r 1 http://x/").unwrap();
        assert_eq!((counted.requests, counted.duration, counted.rps), (5, None, None), "0 is as if not said");
    }

    #[test]
    fn what_h2load_refuses_is_refused_in_its_words() {
        const NO_REQUESTS: &str = "-n: the number of requests must be strictly greater than 0 if timing-based test is not being run.";
        for (line, message) in [
            ("", "no URI or input file given"),
            ("-c0 http://x/", "-c: the number of clients must be strictly greater than 0."),
            ("-n x http://x/", "-n: bad option value: x"),
            (
                "-n1 -c2 http://x/",
                "-n, -c: the number of requests must be greater than or equal to the clients.",
            ),
            ("-m0 http://x/", "-m: the max concurrent streams must be strictly greater than 0."),
            ("-w31 http://x/", "-w: specify the integer in the range [0, 30], inclusive"),
            ("-D 1x http://x/", "-D: value error 1x"),
            ("-n 0 -D 0 http://x/", NO_REQUESTS),
            ("--rps=-1 http://x/", "--rps: Invalid value -1"),
            ("-H a http://x/", "-H: invalid header: a"),
            ("-H a: http://x/", "-H: invalid header - value missing: a:"),
            ("-r1 -D1 http://x/", "-r, -D: they are mutually exclusive."),
            ("-q http://x/", "h2load: invalid option -- 'q'"),
            ("http://x/ -n", "h2load: option requires an argument -- 'n'"),
        ] {
            assert_eq!(read(line).unwrap_err(), message, "{line}");
        }
        assert!(read("--log-file=x http://x/").unwrap_err().contains("log files"));
    }
}
