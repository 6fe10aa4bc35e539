//! Wrong answers that are kept as they came.

use std::fs;

use crate::common::{Target, ends_with, run, text};

#[test]
fn the_first_wrong_answers_are_kept_a_file_each() {
    let target = Target::start(&["--error-share", "0.5"]);
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept");
    let kept = kept.to_str().unwrap();
    for io in ["epoll", "auto"] {
        let load = ["hit", &target.url, "-n", "400", "-c", "4", "--io", io];
        let output = run(&[&load[..], &["--save-responses", "3", "--save-responses-dir", kept]].concat());
        let said = text(&output);
        assert_eq!(output.status.code(), Some(4), "{said}");
        assert!(said.contains(&format!("3 wrong answers in {kept}")), "{said}");
        let mut names: Vec<String> =
            fs::read_dir(kept).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        assert_eq!(names, ["0001.http", "0002.http", "0003.http"]);
        for name in names {
            let bytes = fs::read(format!("{kept}/{name}")).unwrap();
            assert!(bytes.starts_with(b"HTTP/1.1 500 "), "{}", String::from_utf8_lossy(&bytes));
            assert!(bytes.windows(4).any(|it| it == b"\r\n\r\n"), "{}", String::from_utf8_lossy(&bytes));
        }
        fs::remove_dir_all(kept).unwrap();
    }
}

#[test]
fn over_http_2_the_head_is_written_out() {
    let target = Target::start(&["--http2", "--error-share", "0.5"]);
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept");
    let kept = kept.to_str().unwrap();
    for io in ["epoll", "auto"] {
        let load = ["hit", &target.url, "--http2-prior-knowledge", "--streams", "4", "-n", "400", "-c", "2"];
        let saved = ["--io", io, "--save-responses", "5", "--save-responses-dir", kept];
        let output = run(&[&load[..], &saved].concat());
        let said = text(&output);
        assert_eq!(output.status.code(), Some(4), "{said}");
        assert!(said.contains(&format!("5 wrong answers in {kept}")), "{said}");
        for number in 1..=5 {
            let answer = fs::read_to_string(format!("{kept}/000{number}.http")).unwrap();
            let (head, body) = answer.split_once("\r\n\r\n").unwrap();
            let mut lines = head.split("\r\n");
            assert_eq!(lines.next(), Some("HTTP/2 500"), "{answer}");
            let length = lines.find_map(|it| it.strip_prefix("content-length: ")).unwrap();
            assert_eq!(length.parse(), Ok(body.len()), "{answer}");
        }
        assert_eq!(fs::read_dir(kept).unwrap().count(), 5);
        fs::remove_dir_all(kept).unwrap();
    }
}

#[test]
fn where_nothing_is_wrong_there_is_no_folder() {
    let target = Target::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept");
    let path = kept.to_str().unwrap();
    run(&[
        "hit",
        &target.url,
        "-n",
        "50",
        "-c",
        "2",
        "-q",
        "--save-responses",
        "3",
        "--save-responses-dir",
        path,
    ]);
    assert!(!kept.exists());
}

#[test]
fn what_cannot_be_kept_is_told_before_the_load() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("x"), "").unwrap();
    let path = folder.path().to_str().unwrap();
    let url = "http://127.0.0.1:1/";
    let said = ends_with(2, &["hit", url, "-q", "--save-responses", "0"]);
    assert!(said.contains("--save-responses"), "{said}");
    let said = ends_with(2, &["hit", url, "-q", "--save-responses-dir", path]);
    assert!(said.contains("--save-responses <ANSWERS>"), "{said}");
    let said = ends_with(2, &["hit", url, "-q", "--save-responses", "1", "--scenario", "x.toml"]);
    assert!(said.contains("--save-responses") || said.contains("cannot be used with"), "{said}");
    let target = Target::start(&[]);
    let said = ends_with(
        2,
        &["hit", &target.url, "-q", "-n", "1", "--save-responses", "1", "--save-responses-dir", path],
    );
    assert!(said.contains("there is something in this folder already"), "{said}");
}

#[test]
fn another_file_that_can_t_be_written_takes_no_answer_with_it() {
    let target = Target::start(&["--error-share", "0.5"]);
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept");
    let load = ["hit", &target.url, "-n", "200", "-c", "2", "-q", "--fail-if", "errors>0"];
    let saved = ["--save-responses", "3", "--save-responses-dir", kept.to_str().unwrap()];
    let said = ends_with(1, &[&load[..], &saved, &["--junit", "/dev/full"]].concat());
    assert!(said.contains("/dev/full can't be written"), "{said}");
    assert_eq!(fs::read_dir(&kept).unwrap().count(), 3);
}

/// Whether no answer was wrong or no load was made.
#[test]
fn folders_that_were_made_for_nothing_go_again() {
    let target = Target::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("a/b");
    let saved = ["--save-responses", "3", "--save-responses-dir", kept.to_str().unwrap()];
    let load = ["hit", &target.url, "-n", "5", "-c", "1", "-q"];
    let cases: [(&[&str], &str); 2] =
        [(&[], "200: 5"), (&["--jtl", "/no/such/folder/x.jtl"], "can't be written")];
    for (more, says) in cases {
        let said = text(&run(&[&load[..], &saved, more].concat()));
        assert!(said.contains(says), "{said}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{said}");
    }
}

#[test]
fn a_gate_s_file_that_can_t_be_is_told_before_the_load() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().to_str().unwrap();
    let target = Target::start(&[]);
    let load = ["hit", &target.url, "-n", "1", "-q", "--fail-if", "errors>0"];
    for (path, why) in [("/no/such/folder/x.xml", "its folder is not there"), (dir, "it is a folder")] {
        for option in ["--junit", "--markdown"] {
            let said = ends_with(1, &[&load[..], &[option, path]].concat());
            assert!(said.contains(&format!("{path} can't be written: {why}")), "{said}");
            assert!(!said.contains("goodput"), "{said}");
        }
    }
}
