//! A curl command, as a browser's developer tools copy it.

mod globs;
mod refused;

use plan::{CopiedVersion, HttpVersion, PlanError, RequestArguments};
use url::form_urlencoded;

use self::globs::without_globs;
use self::refused::{form_file, from_a_file, not_understood};
use crate::options::{FormField, basic_authorization, multipart};
use crate::varied::file_of_lines;
use crate::words;

/// Options that say how curl shows things or what it does once, and change nothing of the request.
const WITHOUT_EFFECT: &[&str] = &[
    "-s",
    "--silent",
    "-S",
    "--show-error",
    "-v",
    "--verbose",
    "-i",
    "--include",
    "-f",
    "--fail",
    "--fail-with-body",
    "-#",
    "--progress-bar",
    "--no-progress-meter",
    "-N",
    "--no-buffer",
    "-O",
    "--remote-name",
    // What curl does with -u anyway.
    "--basic",
];
/// The same, with a value.
const WITHOUT_EFFECT_WITH_VALUE: &[&str] = &["-o", "--output", "-w", "--write-out", "-D", "--dump-header"];
/// Options without a value that say something of the request.
const FLAGS: &[&str] = &[
    "-k",
    "--insecure",
    "-g",
    "--globoff",
    "-G",
    "--get",
    "-I",
    "--head",
    "--compressed",
    "-L",
    "--location",
    "--http1.1",
    "--http2",
];
/// Options with one.
const WITH_VALUE: &[&str] = &[
    "--url",
    "-X",
    "--request",
    "-H",
    "--header",
    "-A",
    "--user-agent",
    "-e",
    "--referer",
    "-b",
    "--cookie",
    "-u",
    "--user",
    "-d",
    "--data",
    "--data-ascii",
    "--data-binary",
    "--data-raw",
    "--data-urlencode",
    "--json",
    "-F",
    "--form",
    "--form-string",
    "-m",
    "--max-time",
    "--connect-timeout",
    "-x",
    "--proxy",
    "--unix-socket",
    "--abstract-unix-socket",
];

/// The request of `command`, which is `curl …` or what follows the word `curl`.
pub fn parse_curl(command: &str) -> Result<RequestArguments, PlanError> {
    let mut words = words::split(command)?.into_iter().peekable();
    words.next_if(|word| is_curl(word));
    let mut curl = Curl::default();
    while let Some(word) = words.next() {
        let mut next = |option: &str| words.next().ok_or_else(|| refused::lacks_its_value(option));
        if !word.starts_with('-') || word == "-" {
            curl.take_url(word)?;
        } else if !word.starts_with("--") {
            curl.take_letters(&word, next)?;
        } else if is_flag(&word) {
            curl.take(&word, String::new())?;
        } else if takes_value(&word) {
            let value = next(&word)?;
            curl.take(&word, value)?;
        } else {
            return Err(not_understood(&word, &word));
        }
    }
    let request = curl.finish()?;
    match file_of_lines(&request)? {
        Some(file) => Err(refused::lines_of(&file)),
        None => Ok(request),
    }
}

/// Whether a word is the program's name, perhaps behind that of its folder: a URL may end so, too.
fn is_curl(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    !word.contains("://") && (name == "curl" || name.eq_ignore_ascii_case("curl.exe"))
}

fn is_flag(option: &str) -> bool {
    option == "--http2-prior-knowledge" || FLAGS.contains(&option) || WITHOUT_EFFECT.contains(&option)
}

fn takes_value(option: &str) -> bool {
    matches!(option, "--resolve" | "--connect-to")
        || WITH_VALUE.contains(&option)
        || WITHOUT_EFFECT_WITH_VALUE.contains(&option)
}

/// What options come to. Those that curl makes a header of are kept apart: a header that is given as such goes before them.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches of a command line")]
struct Curl {
    url: Option<String>,
    method: Option<String>,
    headers: Vec<String>,
    /// Names, in lower case, of headers that are not to be sent: `-H 'Accept:'`.
    without: Vec<String>,
    user: Option<String>,
    agent: Option<String>,
    referer: Option<String>,
    cookies: Vec<String>,
    data: Option<Vec<u8>>,
    form: Vec<FormField>,
    is_json: bool,
    to_query: bool,
    head: bool,
    compressed: bool,
    /// Braces and brackets of the URL are its own.
    globs_off: bool,
    insecure: bool,
    version: Option<CopiedVersion>,
}

impl Curl {
    fn take_url(&mut self, url: String) -> Result<(), PlanError> {
        if let Some(first) = &self.url {
            return Err(refused::two_urls(first, &url));
        }
        // What stands in a query is no scheme.
        let is_of_scheme = |it: char| it.is_ascii_alphanumeric() || "+-.".contains(it);
        let has_scheme = url.split_once("://").is_some_and(|(scheme, _)| scheme.chars().all(is_of_scheme));
        self.url = Some(if has_scheme { url } else { format!("http://{url}") });
        Ok(())
    }

    /// Options of one letter in one word: flags, and behind them one that takes the rest of the word for its value, or what
    /// `next` gives where there is no rest. `-sSXPOST` is `-s`, `-S` and `-X POST`.
    fn take_letters(
        &mut self,
        word: &str,
        next: impl FnOnce(&str) -> Result<String, PlanError>,
    ) -> Result<(), PlanError> {
        for (at, letter) in word.char_indices().skip(1) {
            let option = format!("-{letter}");
            if is_flag(&option) {
                self.take(&option, String::new())?;
                continue;
            }
            if !takes_value(&option) {
                let shown = if option == word { option.clone() } else { format!("{option} in {word}") };
                return Err(not_understood(&option, &shown));
            }
            let rest = &word[at + letter.len_utf8()..];
            let value = if rest.is_empty() { next(&option)? } else { rest.to_owned() };
            return self.take(&option, value);
        }
        Ok(())
    }

    fn take(&mut self, option: &str, value: String) -> Result<(), PlanError> {
        match option {
            "--url" => self.take_url(value)?,
            "-k" | "--insecure" => self.insecure = true,
            "-g" | "--globoff" => self.globs_off = true,
            "--http1.1" => self.version = Some(CopiedVersion::Http1),
            "--http2" => self.version = Some(CopiedVersion::Http2),
            "--http2-prior-knowledge" => self.version = Some(CopiedVersion::Http2PriorKnowledge),
            "-X" | "--request" => self.method = Some(value),
            "-H" | "--header" => self.take_header(value)?,
            "-A" | "--user-agent" => self.agent = Some(value),
            // What follows a `;auto` is where a redirect came from.
            "-e" | "--referer" => {
                self.referer = Some(value.strip_suffix(";auto").unwrap_or(&value).to_owned());
            }
            "-b" | "--cookie" => self.take_cookie(value)?,
            "-u" | "--user" => self.take_user(value)?,
            "-d" | "--data" | "--data-ascii" | "--data-binary" => self.take_data(option, &value)?,
            "--data-raw" => self.add_data(value.as_bytes()),
            "--data-urlencode" => self.add_encoded(&value)?,
            "-F" | "--form" => self.form.push(FormField::parse(&value, |_| Err(form_file(option, &value)))?),
            "--form-string" => self.form.push(FormField::as_it_stands(&value)?),
            "--json" => {
                self.is_json = true;
                // Without curl's & between several.
                self.data.get_or_insert_default().extend_from_slice(not_a_file(option, &value)?);
            }
            "-G" | "--get" => self.to_query = true,
            "-I" | "--head" => self.head = true,
            "--compressed" => self.compressed = true,
            // An answer that redirects is an answer; whoever wants it followed writes a scenario.
            "-L" | "--location" => {}
            "-m" | "--max-time" | "--connect-timeout" => return Err(refused::bounds_a_request(option)),
            "--unix-socket" | "--abstract-unix-socket" | "-x" | "--proxy" | "--resolve" | "--connect-to" => {
                return Err(refused::says_where_it_goes(option));
            }
            it if WITHOUT_EFFECT.contains(&it) || WITHOUT_EFFECT_WITH_VALUE.contains(&it) => {}
            it => return Err(not_understood(it, it)),
        }
        Ok(())
    }

    /// `Name: value`; `Name:` is one that is not to be sent, and `Name;` one without a value.
    fn take_header(&mut self, line: String) -> Result<(), PlanError> {
        if line.starts_with('@') {
            return Err(from_a_file("-H", &line, "write the headers themselves: -H 'Name: value'"));
        }
        let Some((name, value)) = line.split_once(':') else {
            let without_value = line.trim_end().strip_suffix(';').map(|name| format!("{name}:"));
            self.headers.push(without_value.unwrap_or(line));
            return Ok(());
        };
        if value.trim().is_empty() {
            self.without.push(name.trim().to_ascii_lowercase());
        } else if !name.trim().eq_ignore_ascii_case("content-length") {
            // That one curl computes, and so do we.
            self.headers.push(line);
        }
        Ok(())
    }

    fn take_cookie(&mut self, value: String) -> Result<(), PlanError> {
        // Without any it has curl keep those that are set, of which one request has none.
        if !value.is_empty() && !value.contains('=') {
            return Err(refused::file_of_cookies(&value));
        }
        self.cookies.extend(Some(value).filter(|it| !it.is_empty()));
        Ok(())
    }

    fn take_user(&mut self, value: String) -> Result<(), PlanError> {
        if !value.contains(':') {
            return Err(refused::asks_for_a_password(&value));
        }
        self.user = Some(value);
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
        // `@file` and `name@file` name one; where there is a `=`, everything behind it is content.
        if value.contains('@') && !value.contains('=') {
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

    /// Adds a header that an option makes, unless one of the name is given, or taken out.
    fn add_header(&mut self, line: String) {
        let is_same = |it: &String| name_of(it).eq_ignore_ascii_case(name_of(&line));
        if !self.headers.iter().any(is_same) && !self.without.iter().any(is_same) {
            self.headers.push(line);
        }
    }

    fn add_headers(&mut self) {
        let is_some = |it: &String| !it.is_empty();
        let form = if self.is_json { "application/json" } else { "application/x-www-form-urlencoded" };
        let lines = [
            self.user.take().map(|it| basic_authorization(&it)),
            self.agent.take().filter(is_some).map(|it| format!("User-Agent: {it}")),
            self.referer.take().filter(is_some).map(|it| format!("Referer: {it}")),
            // Servers read one field of them (RFC 6265, section 5.4).
            Some(self.cookies.join("; ")).filter(is_some).map(|it| format!("Cookie: {it}")),
            self.compressed.then(|| "Accept-Encoding: deflate, gzip, br, zstd".to_owned()),
            self.data.is_some().then(|| format!("Content-Type: {form}")),
            self.is_json.then(|| "Accept: application/json".to_owned()),
        ];
        for line in lines.into_iter().flatten() {
            self.add_header(line);
        }
    }

    /// Makes the body of the fields of a form, and the header that says where its parts end.
    fn add_form(&mut self) -> Result<(), PlanError> {
        if self.form.is_empty() {
            return Ok(());
        }
        if self.data.is_some() || self.to_query || self.head {
            return Err(refused::form_beside_others());
        }
        // Of a type that is given as such, curl adds where the parts end.
        let is_type = |line: &String| name_of(line).eq_ignore_ascii_case("content-type");
        let is_form = |line: &String| line.to_ascii_lowercase().contains("multipart/form-data");
        if let Some(line) = self.headers.iter().find(|line| is_type(line) && !is_form(line)) {
            return Err(refused::form_of_another_type(line));
        }
        self.headers.retain(|line| !is_type(line));
        let (header, body) = multipart(&self.form);
        self.add_header(header);
        self.data = Some(body);
        Ok(())
    }

    fn finish(mut self) -> Result<RequestArguments, PlanError> {
        let Some(mut url) = self.url.take() else { return Err(refused::no_url()) };
        if !self.globs_off {
            url = without_globs(&url)?;
        }
        if self.to_query
            && let Some(data) = self.data.take()
        {
            url = with_query(&url, &String::from_utf8_lossy(&data));
        }
        if self.head && self.data.is_some() {
            return Err(refused::head_with_a_body());
        }
        self.add_form()?;
        self.add_headers();
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

/// The name of a header's line.
fn name_of(line: &str) -> &str {
    line.split(':').next().unwrap_or_default().trim()
}

/// `data` behind what the URL has of a query.
fn with_query(url: &str, data: &str) -> String {
    let (before, fragment) = url.find('#').map_or((url, ""), |at| url.split_at(at));
    let joint = match before.split_once('?') {
        None => "?",
        Some((_, query)) if query.is_empty() || query.ends_with('&') => "",
        Some(_) => "&",
    };
    format!("{before}{joint}{data}{fragment}")
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
        assert_eq!(of("curl --data-urlencode 'a@b=c d' x").body, b"a@b=c+d");
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
            ("curl -F a=@b x", "-F a=@b takes what it sends from a file"),
            ("curl --form 'a=<b' x", "by --form of hit itself"),
            ("curl -F a=b -d c x", "-F beside -d"),
            (
                "curl -F a=b -H 'Content-Type: text/plain' x",
                "no `Content-Type: text/plain`; leave that header out",
            ),
            ("curl --cacert a.pem x", "--cacert is not understood; leave it out, and give --cacert"),
            ("curl -sE a.pem x", "-E in -sE is not understood; leave it out, and give --cacert"),
            ("curl -T a x", "--body-file"),
            ("curl a --next b", "one request at a time"),
            ("curl --digest -u a:b x", "give -u alone"),
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
            ("curl x -u ann", "-u ann:PASSWORD"),
            ("curl -H @headers x", "from a file; write the headers themselves"),
            ("curl 'http://x/?{{line /etc/passwd}}'", "from a file, by the word {{line /etc/passwd}}"),
            ("curl x -H 'X-A: {{line a b}}'", "from a file, by the word {{line a b}}"),
            ("curl x -d 'a={{line users.txt}}'", "from a file, by the word {{line users.txt}}"),
            ("curl -I -d a x", "-I and a body"),
            ("curl -sf0 x", "-0 in -sf0 is not understood"),
        ] {
            let error = parse_curl(command).unwrap_err().to_string();
            assert!(error.contains(part), "{command}: {error}");
        }
    }

    #[test]
    fn a_password_in_a_url_is_not_shown() {
        let error = parse_curl("curl http://u:secret@x/ http://v:secret@y/").unwrap_err().to_string();
        assert!(error.contains("two URLs, …@x/ and …@y/") && !error.contains("secret"), "{error}");
    }

    /// What a browser writes beside `--compressed` is what it sent, and curl sends that alone.
    #[test]
    fn a_header_that_is_given_goes_before_what_an_option_makes() {
        let of = |options: &str| parse_curl(&format!("curl {options} http://x/")).unwrap().headers;
        assert_eq!(
            of("--compressed -H 'Accept-Encoding: gzip, deflate'"),
            ["Accept-Encoding: gzip, deflate"]
        );
        assert_eq!(of("-A a -A b -e one -e 'two;auto'"), ["User-Agent: b", "Referer: two"]);
        assert_eq!(of("-A a -H 'user-agent: b' -u a:b -H 'Authorization: Bearer c'").len(), 2);
        assert_eq!(of("-b a=1 -b 'b=2; c=3'"), ["Cookie: a=1; b=2; c=3"]);
        assert_eq!(of("-b a=1 -H 'Cookie: b=2'"), ["Cookie: b=2"]);
        assert_eq!(of("-b '' -b a=1 --basic"), ["Cookie: a=1"]);
        let nothing: [&str; 0] = [];
        assert_eq!(of("-H 'Expect:' -H 'Content-Type:' -H 'Accept-Encoding: ' --compressed -d a"), nothing);
        assert_eq!(of("-H 'X-Empty;'"), ["X-Empty:"]);
    }

    /// Chrome writes brackets so that curl makes one request of them.
    #[test]
    fn brackets_of_a_url_are_its_own() {
        let of = |command: &str| parse_curl(command).unwrap().url;
        assert_eq!(of(r"curl 'http://x/?a\[b\]=1&c=\{2,3\}'"), "http://x/?a[b]=1&c={2,3}");
        assert_eq!(of("curl -g 'http://x/?a=[1-3]'"), "http://x/?a=[1-3]");
        let ours = "http://[::1]:80/{{int 1 3}}?a[b]&{{a,b}}";
        assert_eq!(of(&format!("curl '{ours}'")), ours);
        for (url, part) in [("http://x/[1-30:2]", "[1-30:2]"), ("x/[a-c]", "[a-c]"), ("x/{a,b}/", "{a,b}")] {
            let error = parse_curl(&format!("curl '{url}'")).unwrap_err().to_string();
            assert!(error.contains("several requests") && error.contains(part), "{url}: {error}");
        }
    }

    #[test]
    fn a_url_without_a_scheme_may_have_another_in_its_query() {
        let of = |command: &str| parse_curl(command).unwrap().url;
        assert_eq!(of("curl 'localhost:1/in?to=https://a/b'"), "http://localhost:1/in?to=https://a/b");
        assert_eq!(of("curl 'x?to=https://a/b'"), "http://x?to=https://a/b");
        assert_eq!(of("curl https://x/curl"), "https://x/curl");
        assert_eq!(of("http://x/curl"), "http://x/curl");
        assert_eq!(of("/usr/bin/curl x"), "http://x");
        assert_eq!(of("curl.exe x"), "http://x");
        assert_eq!(of("curl -G -d a=1 'http://x/?#part'"), "http://x/?a=1#part");
    }

    /// As Postman and Insomnia copy one.
    #[test]
    fn a_form_is_sent_in_parts() {
        let of = |options: &str| parse_curl(&format!("curl {options} http://x/")).unwrap();
        let it = of("--location --form 'name=\"O'\\''Hara\"' --form-string 'note=\"@a\";type=b'");
        assert_eq!(it.method.as_deref(), Some("POST"));
        assert_eq!(
            it.headers,
            ["Content-Type: multipart/form-data; boundary=proofload-form-0000000000000000"]
        );
        let body = String::from_utf8(it.body).unwrap();
        assert!(body.contains("name=\"name\"\r\n\r\nO'Hara\r\n"), "{body}");
        assert!(body.contains("name=\"note\"\r\n\r\n\"@a\";type=b\r\n"), "{body}");
        // Without where the parts end it is a type that no server reads.
        let said = of("-X PUT -H 'content-type: multipart/form-data' -F a=b");
        assert_eq!((said.method.as_deref(), said.headers), (Some("PUT"), it.headers));
    }

    #[test]
    fn letters_in_one_word_are_options_and_the_last_may_have_a_value() {
        let of = |command: &str| parse_curl(command).unwrap();
        let it = of("curl -sSfLXPOST -kd a=1 x");
        assert_eq!(
            (it.method.as_deref(), it.body.as_slice(), it.insecure),
            (Some("POST"), &b"a=1"[..], true)
        );
        assert_eq!(of("curl -sX PUT x").method.as_deref(), Some("PUT"));
        assert_eq!(of("curl x -f").method, None);
    }
}
