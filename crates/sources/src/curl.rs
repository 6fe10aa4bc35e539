//! A curl command, as a browser's developer tools copy it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use plan::{CopiedVersion, HttpVersion, PlanError, RequestArguments};
use url::form_urlencoded;

use crate::words;

/// Options that say how curl shows things or what it does once, and change nothing of the request.
const WITHOUT_EFFECT: [&str; 10] =
    ["-s", "--silent", "-S", "--show-error", "-v", "--verbose", "-i", "--include", "-g", "--globoff"];
/// The same, with a value.
const WITHOUT_EFFECT_WITH_VALUE: [&str; 6] = ["-o", "--output", "-w", "--write-out", "-D", "--dump-header"];

/// The request of `command`, which is `curl …` or what follows the word `curl`.
pub fn parse_curl(command: &str) -> Result<RequestArguments, PlanError> {
    let mut words = words::split(command)?.into_iter().peekable();
    words.next_if(|word| word == "curl" || word.ends_with("/curl"));
    let mut curl = Curl::default();
    while let Some(word) = words.next() {
        let Some((option, attached)) = split_option(&word) else {
            curl.take_url(word)?;
            continue;
        };
        let takes_value = !is_flag(&option);
        let value = match (takes_value, attached) {
            (false, _) => String::new(),
            (true, Some(value)) => value,
            (true, None) => words.next().ok_or_else(|| {
                PlanError::new(format!("curl's option {option} lacks its value"), "copy all of the command")
            })?,
        };
        curl.take(&option, value)?;
    }
    curl.finish()
}

/// The option and what is attached to it: `-HA: b` and `-XPOST` as curl takes them. `None` where it is none.
fn split_option(word: &str) -> Option<(String, Option<String>)> {
    if !word.starts_with('-') || word == "-" {
        return None;
    }
    if word.starts_with("--") {
        return Some((word.to_owned(), None));
    }
    let end = word.char_indices().nth(2).map_or(word.len(), |(at, _)| at);
    let (option, attached) = word.split_at(end);
    if attached.is_empty() || is_flag(option) {
        // Flags in one word, such as -sS, are told apart by `take`.
        return Some((if is_flag(option) { word.to_owned() } else { option.to_owned() }, None));
    }
    Some((option.to_owned(), Some(attached.to_owned())))
}

fn is_flag(option: &str) -> bool {
    WITHOUT_EFFECT.contains(&option)
        || matches!(
            option,
            "-k" | "--insecure"
                | "-G"
                | "--get"
                | "-I"
                | "--head"
                | "--compressed"
                | "-L"
                | "--location"
                | "--http1.1"
                | "--http2"
                | "--http2-prior-knowledge"
        )
        || (!option.starts_with("--") && option.chars().nth(2).is_some() && flags_in_one(option).is_some())
}

/// `-sS` as `-s` and `-S`.
fn flags_in_one(word: &str) -> Option<Vec<String>> {
    let flags: Vec<String> = word.chars().skip(1).map(|letter| format!("-{letter}")).collect();
    flags.iter().all(|flag| is_flag(flag)).then_some(flags)
}

#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches of a command line")]
struct Curl {
    url: Option<String>,
    method: Option<String>,
    headers: Vec<String>,
    data: Option<Vec<u8>>,
    is_json: bool,
    to_query: bool,
    head: bool,
    insecure: bool,
    version: Option<CopiedVersion>,
}

impl Curl {
    fn take_url(&mut self, url: String) -> Result<(), PlanError> {
        if let Some(first) = &self.url {
            let what = format!("the curl command has two URLs, {first} and {url}");
            return Err(PlanError::new(what, "copy one request at a time, or use a scenario"));
        }
        self.url = Some(if url.contains("://") { url } else { format!("http://{url}") });
        Ok(())
    }

    fn take(&mut self, option: &str, value: String) -> Result<(), PlanError> {
        match option {
            "--url" => self.take_url(value)?,
            "-k" | "--insecure" => self.insecure = true,
            "--http1.1" => self.version = Some(CopiedVersion::Http1),
            "--http2" => self.version = Some(CopiedVersion::Http2),
            "--http2-prior-knowledge" => self.version = Some(CopiedVersion::Http2PriorKnowledge),
            "-X" | "--request" => self.method = Some(value),
            "-H" | "--header" => self.take_header(value),
            "-A" | "--user-agent" => self.take_header(format!("User-Agent: {value}")),
            "-e" | "--referer" => self.take_header(format!("Referer: {value}")),
            "-b" | "--cookie" => self.take_cookie(&value)?,
            "-u" | "--user" => {
                self.take_header(format!("Authorization: Basic {}", STANDARD.encode(value)));
            }
            "-d" | "--data" | "--data-ascii" | "--data-binary" => self.take_data(option, &value)?,
            "--data-raw" => self.add_data(value.as_bytes()),
            "--data-urlencode" => self.add_encoded(&value)?,
            "--json" => {
                self.is_json = true;
                // Without curl's & between several.
                self.data.get_or_insert_default().extend_from_slice(not_a_file(option, &value)?);
            }
            "-G" | "--get" => self.to_query = true,
            "-I" | "--head" => self.head = true,
            "--compressed" => self.take_header("Accept-Encoding: deflate, gzip, br, zstd".into()),
            // An answer that redirects is an answer; whoever wants it followed writes a scenario.
            "-L" | "--location" => {}
            "-m" | "--max-time" | "--connect-timeout" => {
                let help = "leave it out, and give --timeout or --connect-timeout of hit";
                return Err(PlanError::new(format!("curl's option {option} bounds a request"), help));
            }
            "--unix-socket" | "--abstract-unix-socket" | "-x" | "--proxy" | "--resolve" | "--connect-to" => {
                let what = format!("curl's option {option} says where a connection goes");
                let help =
                    "leave it out, and say that to hit itself: a load goes where its own options send it";
                return Err(PlanError::new(what, help));
            }
            it if WITHOUT_EFFECT.contains(&it) || WITHOUT_EFFECT_WITH_VALUE.contains(&it) => {}
            it => {
                let flags = flags_in_one(it).filter(|_| !it.starts_with("--"));
                let flags = flags.ok_or_else(|| {
                    let what = format!("curl's option {it} is not understood");
                    PlanError::new(what, "leave it out if the request does not depend on it")
                })?;
                for flag in flags {
                    self.take(&flag, String::new())?;
                }
            }
        }
        Ok(())
    }

    fn take_header(&mut self, line: String) {
        // curl computes it, and so do we.
        let is = |name: &str| line.split(':').next().is_some_and(|it| it.trim().eq_ignore_ascii_case(name));
        if !is("content-length") {
            self.headers.push(line);
        }
    }

    fn take_cookie(&mut self, value: &str) -> Result<(), PlanError> {
        if !value.contains('=') {
            let what = format!("curl's option -b {value} names a file of cookies");
            return Err(PlanError::new(what, "write the cookies themselves: -b 'name=value'"));
        }
        self.take_header(format!("Cookie: {value}"));
        Ok(())
    }

    fn take_data(&mut self, option: &str, value: &str) -> Result<(), PlanError> {
        self.add_data(not_a_file(option, value)?);
        Ok(())
    }

    fn add_data(&mut self, data: &[u8]) {
        let all = self.data.get_or_insert_default();
        if !all.is_empty() {
            all.push(b'&');
        }
        all.extend_from_slice(data);
    }

    /// `content`, `=content`, `name=content`.
    fn add_encoded(&mut self, value: &str) -> Result<(), PlanError> {
        // `@file` and `name@file` name one; behind a `=` everything is content.
        if value.find(['=', '@']).is_some_and(|at| value[at..].starts_with('@')) {
            return Err(from_a_file("--data-urlencode", value, "write its content: 'name=content'"));
        }
        let encode = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
        let encoded = match value.split_once('=') {
            Some(("", content)) => encode(content),
            Some((name, content)) => format!("{name}={}", encode(content)),
            None => encode(value),
        };
        self.add_data(encoded.as_bytes());
        Ok(())
    }

    fn has_header(&self, name: &str) -> bool {
        self.headers
            .iter()
            .any(|line| line.split(':').next().is_some_and(|it| it.trim().eq_ignore_ascii_case(name)))
    }

    fn finish(mut self) -> Result<RequestArguments, PlanError> {
        let Some(mut url) = self.url.take() else {
            return Err(PlanError::new("the curl command has no URL", "copy all of it"));
        };
        if self.to_query
            && let Some(data) = self.data.take()
        {
            let joint = if url.contains('?') { '&' } else { '?' };
            url = format!("{url}{joint}{}", String::from_utf8_lossy(&data));
        }
        if self.data.is_some() && !self.has_header("content-type") {
            let of = if self.is_json { "application/json" } else { "application/x-www-form-urlencoded" };
            self.headers.push(format!("Content-Type: {of}"));
        }
        if self.is_json && !self.has_header("accept") {
            self.headers.push("Accept: application/json".into());
        }
        let by_data = if self.data.is_some() { Some("POST".to_owned()) } else { None };
        let method = if self.head { Some("HEAD".to_owned()) } else { by_data };
        Ok(RequestArguments {
            url,
            method: self.method.or(method),
            headers: self.headers,
            body: self.data.unwrap_or_default(),
            close: false,
            insecure: self.insecure,
            version: self.version,
        })
    }
}

/// Takes those headers out of a copied request that `http` has no place for: whoever copied it wrote none of them. What was taken
/// out, a sentence each.
pub fn drop_misplaced(request: &mut RequestArguments, http: HttpVersion) -> Vec<String> {
    let is_misplaced = |line: &String| {
        line.split_once(':').is_some_and(|(name, value)| !http.has_place_for(name.trim(), value.trim()))
    };
    let dropped = request.headers.extract_if(.., |line| is_misplaced(line));
    dropped.map(|line| format!("the header `{line}`: it is of HTTP/1.1 alone")).collect()
}

/// What is sent is in the command: a file named in it may not be the one of the day it was copied.
fn not_a_file<'a>(option: &str, value: &'a str) -> Result<&'a [u8], PlanError> {
    if value.starts_with('@') {
        return Err(from_a_file(option, value, "leave it out, and give --body-file"));
    }
    Ok(value.as_bytes())
}

fn from_a_file(option: &str, value: &str, help: &str) -> PlanError {
    PlanError::new(format!("curl's option {option} {value} takes what it sends from a file"), help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browsers_command_is_the_request_it_copied() {
        let command = "curl 'http://127.0.0.1:8080/api?x=1' \\\n  -H 'Accept: */*' \\\n  -H 'Content-Type: \
                       application/json' \\\n  -b 'sid=1; theme=dark' \\\n  --data-raw '{\"a\":1}' \\\n  --compressed \
                       --insecure";
        let it = parse_curl(command).unwrap();
        assert_eq!(it.url, "http://127.0.0.1:8080/api?x=1");
        assert!(it.insecure);
        assert_eq!(it.method.as_deref(), Some("POST"));
        assert_eq!(it.body, br#"{"a":1}"#);
        assert_eq!(
            it.headers,
            [
                "Accept: */*",
                "Content-Type: application/json",
                "Cookie: sid=1; theme=dark",
                "Accept-Encoding: deflate, gzip, br, zstd"
            ]
        );
    }

    #[test]
    fn options_are_taken_as_curl_takes_them() {
        let of = |command: &str| parse_curl(command).unwrap();
        assert_eq!(of("curl -sS -XPUT localhost:1/a").method.as_deref(), Some("PUT"));
        assert_eq!(of("curl -sS -XPUT localhost:1/a").url, "http://localhost:1/a");
        assert_eq!(of("curl -d a=1 -d b=2 x").body, b"a=1&b=2");
        assert_eq!(of("curl -G -d a=1 --data-urlencode 'q=x y' http://x/?z").url, "http://x/?z&a=1&q=x+y");
        assert_eq!(of("curl --data-urlencode 'to=a@b' x").body, b"to=a%40b");
        assert_eq!(of("curl --data-urlencode '=a@b' x").body, b"a%40b");
        assert_eq!(of("curl --data-raw @a x").body, b"@a");
        assert_eq!(of("curl -I x").method.as_deref(), Some("HEAD"));
        assert_eq!(of("curl -u a:b x").headers, ["Authorization: Basic YTpi"]);
        assert_eq!(
            of("curl --json '{}' x").headers,
            ["Content-Type: application/json", "Accept: application/json"]
        );
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for (command, part) in [
            ("curl", "no URL"),
            ("curl a b", "two URLs"),
            ("curl -F a=b x", "-F"),
            ("curl --frobnicate x", "--frobnicate"),
            // One letter of two bytes is one letter.
            ("curl -é x", "-é is not understood"),
            ("curl -s\u{feff} x", "-s\u{feff} is not understood"),
            ("curl -d @body x", "--body-file"),
            ("curl --json @body x", "--body-file"),
            ("curl --data-urlencode @file x", "name=content"),
            ("curl --data-urlencode name@file x", "name=content"),
            ("curl -G --data-urlencode name@/etc/hostname x", "name=content"),
            ("curl x -H", "lacks its value"),
            ("curl -b jar x", "cookies"),
            ("curl -m 3 x", "--timeout"),
        ] {
            let error = parse_curl(command).unwrap_err().to_string();
            assert!(error.contains(part), "{command}: {error}");
        }
    }
}
