//! Bodies of several parts.

use super::*;

fn part(name: &str, kind: &str, content: FormContent) -> FormPart {
    FormPart { name: t(name), kind: t(kind), content }
}

fn text(name: &str, value: &str) -> FormPart {
    part(name, "text/plain; charset=UTF-8", FormContent::Text(t(value)))
}

/// What a user sends in two iterations, each time the type and the body with its boundary taken out.
fn sent(parts: Vec<FormPart>, explicit: bool) -> Vec<(String, String)> {
    let step = RequestStep {
        method: t("POST"),
        headers: vec![(t("content-type"), t("text/plain")), (t("X"), t("1"))],
        multipart: Some(Multipart { parts, explicit }),
        ..request_step("a")
    };
    let mut scenario = scenario(2, vec![Step::Request(Box::new(step))]);
    scenario.variables.push(("v".into(), t("ä \\\"")));
    let run = run(scenario, |_| Some(ok("")));
    let taken_out = |outgoing: &&Outgoing| {
        let [(x, _), (name, kind)] = outgoing.headers.as_slice() else { panic!("{:?}", outgoing.headers) };
        assert_eq!((x.as_str(), name.as_str()), ("X", "Content-Type"));
        let boundary = kind.split("boundary=").nth(1).unwrap().split(';').next().unwrap();
        let body = String::from_utf8(outgoing.body.to_vec()).unwrap();
        assert!(boundary.len() == 36 && body.contains(boundary), "{kind}");
        (kind.replace(boundary, "B"), body.replace(boundary, "B"))
    };
    run.sent().iter().map(taken_out).collect()
}

#[test]
fn parts_say_what_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a \"b.txt");
    std::fs::write(&file, "of a file\n").unwrap();
    let parts = vec![
        text("one", "1"),
        text("v", "${v}"),
        text("", "left out"),
        text("${none}", "left out"),
        part("f", "text/csv", FormContent::File(file.clone())),
    ];
    let explicit = "--B\r\nContent-Disposition: form-data; name=\"one\"\r\nContent-Type: text/plain; charset=UTF-8\r\n\
        Content-Transfer-Encoding: 8bit\r\n\r\n1\r\n\
        --B\r\nContent-Disposition: form-data; name=\"v\"\r\nContent-Type: text/plain; charset=UTF-8\r\n\
        Content-Transfer-Encoding: 8bit\r\n\r\nä \\\"\r\n\
        --B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a %22b.txt\"\r\nContent-Type: text/csv\r\n\
        Content-Transfer-Encoding: binary\r\n\r\nof a file\n\r\n\
        --B--\r\n";
    let kind = "multipart/form-data; boundary=B; charset=UTF-8";
    let found = sent(parts.clone(), true);
    assert_eq!(found, [(kind.to_owned(), explicit.to_owned()), (kind.to_owned(), explicit.to_owned())]);
    let as_browsers = "--B\r\nContent-Disposition: form-data; name=\"v\\\\\\\"\"\r\n\r\n1\r\n\
        --B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a %22b.txt\"\r\nContent-Type: text/csv\r\n\r\n\
        of a file\n\r\n\
        --B--\r\n";
    let parts = vec![text("v\\\"", "1"), part("f", "text/csv", FormContent::File(file.clone()))];
    assert_eq!(sent(parts, false)[0].1, as_browsers);
    assert_eq!(sent(Vec::new(), true)[0].1, "--B--\r\n");
}

/// Else as many users as there are would each have a copy of its files.
#[test]
fn a_body_that_is_always_the_same_is_there_once() {
    let same = |value: &str| {
        let multipart = Some(Multipart { parts: vec![text("a", value)], explicit: true });
        let step = RequestStep { method: t("POST"), multipart, ..request_step("a") };
        let run = run(scenario(2, vec![Step::Request(Box::new(step))]), |_| Some(ok("")));
        let bodies: Vec<_> = run.sent().iter().map(|it| Arc::clone(&it.body)).collect();
        (Arc::ptr_eq(&bodies[0], &bodies[1]), bodies[0] == bodies[1])
    };
    assert_eq!(same("1"), (true, true));
    // Each has a boundary of its own.
    assert_eq!(same("${__threadNum}"), (false, false));
}

#[test]
fn files_that_are_too_much_or_not_there_are_errors() {
    let dir = tempfile::tempdir().unwrap();
    let prepared = |files: &[&std::path::Path]| {
        let parts = files.iter().map(|file| part("f", "a/b", FormContent::File(file.to_path_buf())));
        let multipart = Some(Multipart { parts: parts.collect(), explicit: true });
        let step = RequestStep { method: t("POST"), multipart, ..request_step("a") };
        Prepared::new(scenario(1, vec![Step::Request(Box::new(step))])).map(drop).map_err(|it| it.to_string())
    };
    let large = dir.path().join("large");
    std::fs::write(&large, vec![0_u8; 9 << 20]).unwrap();
    assert_eq!(prepared(&[&large]), Ok(()));
    let told = prepared(&[&large, &large]).unwrap_err();
    assert!(told.contains("step `a`: its files come to more than 16 MiB"), "{told}");
    let told = prepared(&[&dir.path().join("none")]).unwrap_err();
    assert!(told.contains("none") && told.contains("cannot be read"), "{told}");
}

/// One file that many requests send, each under another name, is many bodies.
#[test]
fn bodies_are_bounded_all_together() {
    let dir = tempfile::tempdir().unwrap();
    let large = dir.path().join("large");
    std::fs::write(&large, vec![0_u8; 15 << 20]).unwrap();
    let steps = |count: usize| {
        let step = |number: usize| {
            let parts = vec![part(&number.to_string(), "a/b", FormContent::File(large.clone()))];
            let multipart = Some(Multipart { parts, explicit: true });
            Step::Request(Box::new(RequestStep { method: t("POST"), multipart, ..request_step("a") }))
        };
        Prepared::new(scenario(1, (0..count).map(step).collect())).map(drop).map_err(|it| it.to_string())
    };
    assert_eq!(steps(3), Ok(()));
    let told = steps(1000).unwrap_err();
    assert!(told.contains("the bodies of all requests come to more than 256 MiB"), "{told}");
}

/// Each of them may be as long as a text may be; all of them are held at a time.
#[test]
fn parts_are_no_longer_together_than_a_text() {
    let parts = (0..40).map(|number| text(&number.to_string(), "${long}")).collect();
    let step = RequestStep {
        method: t("POST"),
        multipart: Some(Multipart { parts, explicit: true }),
        ..request_step("a")
    };
    let mut scenario = scenario(1, vec![Step::Request(Box::new(step)), request("b")]);
    scenario.variables.push(("long".into(), t(&"x".repeat(1 << 20))));
    let run = run(scenario, |_| Some(ok("")));
    assert_eq!(run.sent().len(), 1, "the other one is sent");
}
