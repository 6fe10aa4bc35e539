//! What people type: options as in curl, forms of output, completion and manual pages.

use std::fs;
use std::io::Write;
use std::net::TcpListener;

use crate::common::{Target, ends_with, json, run, sent_by, stdout};
use crate::proxy::head_of;

#[test]
fn options_of_curl_make_the_request_that_curl_would() {
    let one = ["-n", "1", "-c", "1", "-q"];
    let with = |options: &[&str]| sent_by(&[&["hit", "{url}"], options, &one].concat());
    let known = with(&["-u", "Aladdin:open sesame", "-b", "a=b; c=d"]);
    assert!(known.contains("\r\nAuthorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n"), "{known}");
    assert!(known.contains("\r\nCookie: a=b; c=d\r\n"), "{known}");
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("cat.txt");
    fs::write(&file, "meow").unwrap();
    let field = format!("pet=@{};type=text/plain", file.display());
    let form = with(&["-F", "name=O'Hara", "-F", &field]);
    assert!(form.starts_with("POST / HTTP/1.1\r\n"), "{form}");
    for part in [
        "Content-Type: multipart/form-data; boundary=",
        "name=\"name\"\r\n\r\nO'Hara\r\n",
        "name=\"pet\"; filename=\"cat.txt\"\r\nContent-Type: text/plain\r\n\r\nmeow\r\n",
    ] {
        assert!(form.contains(part), "{part:?} is not in {form}");
    }
}

#[test]
fn connections_go_where_they_are_sent_and_the_host_stays() {
    let target = Target::start(&[]);
    let port = target.url.rsplit(':').next().unwrap();
    let url = format!("http://shop.invalid:{port}/hello");
    let one = ["-n", "5", "-c", "1", "-q", "--fail-if", "errors>0"];
    let resolve = format!("shop.invalid:{port}:127.0.0.1");
    ends_with(0, &[&["hit", &url, "--resolve", &resolve], &one[..]].concat());
    let elsewhere = format!("shop.invalid:80:127.0.0.1:{port}");
    ends_with(0, &[&["hit", "http://shop.invalid/hello", "--connect-to", &elsewhere], &one[..]].concat());
    for (option, value) in
        [("--connect-to", "nowhere"), ("--resolve", "shop.invalid:80:localhost"), ("-F", "no field")]
    {
        let told = ends_with(2, &["hit", &url, option, value]);
        assert!(told.contains("write ") && !told.contains("panicked"), "{told}");
    }
    // What is said of another place would leave the load where it was not to go.
    for (option, value) in
        [("--connect-to", "shop.invalid:443:127.0.0.1:1"), ("--resolve", "shop.invalid:443:127.0.0.1")]
    {
        let told = ends_with(2, &["hit", &url, option, value]);
        assert!(told.contains(&format!("is about shop.invalid and port {port}")), "{told}");
        let told = ends_with(2, &["hit", &url, option, value, "--follow"]);
        assert!(told.contains(&format!("{option} is about requests that are all the same")), "{told}");
    }
    let told = ends_with(2, &["hit", "--scenario", "x.toml", "--user", "a:b"]);
    assert!(told.contains("--user is about one request"), "{told}");
}

#[test]
fn what_other_tools_take_for_a_url_or_a_cookie_is_told_how_it_is_written_here() {
    for (url, says) in [
        ("localhost:8080/hello", "write http://localhost:8080/hello"),
        ("[::1]:8080", "write http://[::1]:8080"),
        ("shop.invalid/?next=http://x/", "write http://shop.invalid/?next=http://x/"),
        ("http://me:secret@127.0.0.1:1/", "-u USER:PASSWORD"),
        ("me:secret@127.0.0.1:1/", "write it like http://"),
    ] {
        let told = ends_with(2, &["hit", url, "-q"]);
        assert!(told.contains(says) && !told.contains("secret"), "{told}");
    }
    // An @ behind the host is nobody's name, and words in {{…}} are filled in later.
    for url in ["http://127.0.0.1:1/@me?to=a@b", "http://127.0.0.1:1/{{int 1 2}}@me"] {
        ends_with(3, &["hit", url, "-q", "-n", "1"]);
    }
    let told = ends_with(2, &["hit", "http://127.0.0.1:1/", "-L", "--expect-status", "302"]);
    assert!(told.contains("--follow goes where 302 leads"), "{told}");
    let told = ends_with(2, &["hit", "http://127.0.0.1:1/", "-b", "cookies.txt"]);
    assert!(told.contains("files of cookies") && told.contains("name=value"), "{told}");
}

#[test]
fn a_result_is_printed_as_it_is_asked_for() {
    let target = Target::start(&[]);
    let url = format!("{}/hello", target.url);
    let hit = |form: &str| stdout(&run(&["hit", &url, "-n", "2000", "-c", "2", "-q", "-o", form]));
    let csv = hit("csv");
    let lines: Vec<&str> = csv.trim_end().lines().collect();
    assert_eq!(lines.len(), 2, "{csv}");
    assert!(lines[0].starts_with("url,model,load,") && lines[0].contains(",response_p99_us,"), "{csv}");
    assert_eq!(lines[0].split(',').count(), lines[1].split(',').count(), "{csv}");
    // 29,956 requests would know it.
    assert!(lines[1].ends_with("p99_99"), "{csv}");
    let markdown = hit("md");
    assert!(
        markdown.starts_with("## http://127.0.0.1") && markdown.contains("| goodput | failed | p50 |"),
        "{markdown}"
    );
    assert!(hit("json").starts_with("{\n  \"version\": 1"));
    ends_with(2, &["hit", &url, "-o", "json", "--json"]);
}

#[test]
fn shells_and_man_know_the_commands() {
    for (shell, says) in
        [("bash", "complete -F _proofload"), ("zsh", "#compdef proofload"), ("fish", "complete -c proofload")]
    {
        let script = ends_with(0, &["completions", shell]);
        assert!(script.contains(says) && script.contains("fail-if"), "{shell}");
        assert!(!script.contains("supervise"), "{shell} has what is hidden");
    }
    let told = ends_with(2, &["completions", "tcsh"]);
    assert!(told.contains("bash"), "{told}");
    let dir = tempfile::tempdir().unwrap();
    let pages = dir.path().join("man1");
    ends_with(0, &["man", pages.to_str().unwrap()]);
    let page = fs::read_to_string(pages.join("proofload-hit.1")).unwrap();
    assert!(page.contains(".TH proofload-hit 1") && page.contains("fail"), "{page}");
    assert!(pages.join("proofload.1").exists());
}

#[test]
fn the_version_tells_the_commit_where_it_is_known() {
    let version = ends_with(0, &["--version"]);
    let version = version.trim();
    let (number, commit) = version.split_once(" (commit ").unwrap_or((version, "0000000)"));
    assert_eq!(number, concat!("proofload ", env!("CARGO_PKG_VERSION")));
    let commit = commit.strip_suffix(')').expect("it is in parentheses");
    assert!(commit.len() >= 7 && commit.bytes().all(|it| it.is_ascii_hexdigit()), "{version}");
}

#[test]
fn words_in_braces_are_something_else_each_time() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("users.txt");
    fs::write(&file, "alice,1\nbob,2\n").unwrap();
    let user = format!("X-User: {{{{line {}}}}}", file.display());
    let sent =
        sent_by(&["hit", "{url}items?n={{int 7 7}}&id={{uuid}}", "-H", &user, "-n", "1", "-c", "1", "-q"]);
    assert!(sent.starts_with("GET /items?n=7&id="), "{sent}");
    assert!(sent.contains("X-User: alice,1\r\n"), "{sent}");
    let id = sent.split("&id=").nth(1).and_then(|it| it.split(' ').next()).unwrap();
    assert_eq!((id.len(), id.matches('-').count()), (36, 4), "{sent}");
    for (arguments, said) in [
        (&["--warm-up", "1s"][..], "--warm-up is about requests that are all the same"),
        (&["--rate", "10", "--think", "1s"], "with --rate a new user comes for each request"),
        (&["--poisson"], "--rate"),
        (&["-H", "X: {{int 9}}"], "can't be filled in"),
        (&["-H", "X: {{line no-such-file}}"], "no-such-file"),
    ] {
        let told = ends_with(2, &[&["hit", "http://127.0.0.1:1/{{uuid}}"], arguments].concat());
        assert!(told.contains(said), "{arguments:?}: {told}");
    }
}

#[test]
fn queries_come_from_the_lines_of_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("queries.txt");
    fs::write(&file, "q=tea&page=2\nq=milk\n").unwrap();
    let file = file.to_str().unwrap();
    let sent = sent_by(&["hit", "{url}find?size=9", "--query-from-file", file, "-n", "1", "-c", "1", "-q"]);
    assert!(sent.starts_with("GET /find?size=9&q=tea&page=2 HTTP/1.1\r\n"), "{sent}");
    let told = ends_with(2, &["hit", "http://127.0.0.1:1/", "--query-from-file", "no-such-file"]);
    assert!(told.contains("no-such-file"), "{told}");
}

/// Two connections bring 20 answers a second: of 40 requests that come within one, the last waits for another, and it counts.
#[test]
fn words_in_braces_come_at_a_rate_and_count_from_when_they_were_due() {
    let target = Target::start(&["--path", "/=100ms"]);
    let url = format!("{}/?n={{{{int 1 9}}}}", target.url);
    let load = ["--rate", "40", "-d", "1s", "-c", "2", "--timeout", "5s", "-q", "--json"];
    let result = json(&run(&[&["hit", &url][..], &load].concat()));
    assert_eq!(
        (&result["intended"], &result["answered_as_expected"]),
        (&40.into(), &40.into()),
        "{result:#}"
    );
    let max_us = result["response_time_us"]["max"].as_f64().unwrap();
    assert!(max_us > 700_000.0, "{result:#}");
    assert_eq!(
        (&result["load"]["rate_per_s"], &result["load"]["arrivals"]),
        (&40.0.into(), &"constant".into())
    );
    // More than was asked for nobody tried.
    let more = ["hit", &url, "--rate", "40", "-n", "20", "-c", "9", "-q", "--fail-if", "goodput<1000/s"];
    assert_eq!(run(&more).status.code(), Some(5));
    let expecting = ["--expect-status", "404", "-n", "3", "-c", "1", "-q", "--json"];
    let result = json(&run(&[&["hit", &url][..], &expecting].concat()));
    assert_eq!((&result["outcomes"]["answered"], &result["answered_as_expected"]), (&3.into(), &0.into()));
}

/// A server that sends everybody on once.
#[test]
fn a_redirect_is_followed_as_a_request_of_its_own() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/start", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                while let Some(head) = head_of(&mut stream) {
                    let answer: &[u8] = if head.starts_with("GET /end ") {
                        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
                    } else {
                        b"HTTP/1.1 302 Found\r\nLocation: /end\r\nContent-Length: 0\r\n\r\n"
                    };
                    if stream.write_all(answer).is_err() {
                        return;
                    }
                }
            });
        }
    });
    let load = ["hit", &url, "-n", "40", "-c", "1", "-q", "--json"];
    let result = json(&run(&[&load[..], &["-L"]].concat()));
    assert_eq!(result["answered_as_expected"], 40, "{result:#}");
    assert_eq!((&result["statuses"]["302"], &result["statuses"]["200"]), (&20.into(), &20.into()));
    let result = json(&run(&load));
    assert_eq!((&result["answered_as_expected"], &result["statuses"]["302"]), (&0.into(), &40.into()));
    // Words in the URL make no other answer a good one.
    let varied = format!("{url}?n={{{{int 1 9}}}}");
    let result = json(&run(&["hit", &varied, "-n", "40", "-c", "1", "-q", "--json"]));
    assert_eq!((&result["answered_as_expected"], &result["statuses"]["302"]), (&0.into(), &40.into()));
}
