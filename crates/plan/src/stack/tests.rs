use super::*;

const GOOD: &str = r#"title = "Good"
family = "test"
generation = "2019"
description = "A good one."
[needs]
tools = ["java"]
[build]
dir = "src"
command = ["make", "{build_dir}/out"]
inputs = ["main.c"]
output = "out"
[run]
command = ["java", "-cp", "{build_dir}", "Main", "{port}"]
jvm_flags = ["-Xmx{port}m"]
env = { HOME = "{work_dir}" }
[ready]
timeout = "5s"
[[endpoint]]
name = "hello"
path = "/hello"
body = "hello"
[[endpoint]]
name = "sleep"
path = "/sleep"
delay = "100ms"
connection = "close"
[[file]]
template = "app.conf"
name = "renamed.conf"
"#;

/// A folder of stacks that is gone with this.
struct Stacks(PathBuf);

impl Stacks {
    fn new(test: &str, stacks: &[(&str, &str)]) -> Self {
        let root = std::env::temp_dir().join(format!("proofload-plan-{}-{test}", std::process::id()));
        for (id, manifest) in stacks {
            let dir = root.join(id);
            std::fs::create_dir_all(dir.join("src")).unwrap();
            std::fs::write(dir.join("src/main.c"), "").unwrap();
            std::fs::write(dir.join("app.conf"), "").unwrap();
            std::fs::write(dir.join(MANIFEST), manifest).unwrap();
        }
        Self(root)
    }
}

impl Drop for Stacks {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_whole_manifest_is_read() {
    let stacks = Stacks::new("whole", &[("good", GOOD)]);
    let stack = StackManifest::load(&stacks.0.join("good")).unwrap();
    assert_eq!((stack.id.as_str(), stack.generation), ("good", Generation::Of2019));
    let build = stack.build.as_ref().unwrap();
    assert!(build.output.ends_with("good/src/build/out") && stack.build_dir().ends_with("good/src/build"));
    let hello = Endpoint {
        name: "hello".to_owned(),
        path: "/hello".to_owned(),
        status: 200,
        body: Some("hello".to_owned()),
        delay: None,
        connection: ConnectionUse::KeepAlive,
    };
    assert_eq!(stack.endpoint("hello").unwrap(), &hello);
    let sleep = stack.endpoint("sleep").unwrap();
    assert_eq!((sleep.delay, sleep.connection), (Some(Duration::from_millis(100)), ConnectionUse::Close));
    let ready = Ready { path: "/hello".to_owned(), status: 200, timeout: Duration::from_secs(5) };
    assert_eq!(stack.ready, ready);
    assert_eq!(stack.files[0].name, "renamed.conf");
    let error = stack.endpoint("bye").unwrap_err().to_string();
    assert!(error.contains("no endpoint `bye`; choose hello or sleep"), "{error}");
}

#[test]
fn placeholders_are_filled_and_other_braces_stay() {
    let path = Path::new("/somewhere");
    let with =
        Placeholders { port: Some(8080), proofload: path, stack_dir: path, build_dir: path, work_dir: path };
    assert_eq!(
        with.fill("server { listen {port}; root {work_dir}/x; }"),
        "server { listen 8080; root /somewhere/x; }"
    );
}

/// The error for [`GOOD`] with its first `from` replaced by `to`.
fn error_of(test: &str, from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    let stacks = Stacks::new(test, &[("bad", &GOOD.replacen(from, to, 1))]);
    StackManifest::load(&stacks.0.join("bad")).unwrap_err().to_string()
}

#[test]
fn each_mistake_is_told_with_its_line() {
    for (index, (from, to, place, what)) in [
        ("title = \"Good\"", "title = \" \"", "1:9", "this is empty"),
        ("title =", "titel =", "1:1", "unknown field `titel`"),
        ("\"2019\"", "\"2020\"", "3:14", "unknown variant `2020`"),
        ("dir = \"src\"", "dir = \"scr\"", "8:7", "the build's folder `scr` cannot be read"),
        ("{build_dir}/out", "{work_dir}", "9:20", "`{work_dir}` is not known when a stack is built"),
        ("[\"main.c\"]", "[\"main.d\"]", "10:11", "there is no `main.d`"),
        ("[\"main.c\"]", "[]", "10:10", "the build has no inputs"),
        (
            "\"java\", \"-cp\"",
            "\"java\", \"-Xmx1g\"",
            "13:20",
            "`-Xmx1g` is a JVM flag; move it to jvm_flags",
        ),
        ("\"java\", \"-cp\"", "\"node\", \"-cp\"", "13:11", "`node` takes no JVM flags"),
        ("Main", "{prot}", "13:42", "`{prot}` is no placeholder; use {port}"),
        ("\"5s\"", "\"5\"", "17:11", "`5` is not a time; unknown unit"),
        ("path = \"/hello\"", "path = \"hello\"", "20:8", "`hello` is not the path of a request"),
        ("body = \"hello\"", "status = 99", "21:10", "99 is not the status of an answer"),
        ("name = \"sleep\"", "name = \"hello\"", "23:8", "a second endpoint is called `hello`"),
        ("\"close\"", "\"shut\"", "26:14", "unknown variant `shut`"),
        ("app.conf", "ap.conf", "28:12", "there is no file `ap.conf`"),
        ("renamed.conf", "../renamed.conf", "29:8", "`../renamed.conf` is no file name"),
    ]
    .into_iter()
    .enumerate()
    {
        let error = error_of(&format!("bad{index}"), from, to);
        assert!(error.contains(&format!("bad/stack.toml:{place}: ")), "{place} {what}: {error}");
        assert!(error.contains(what), "{what}: {error}");
    }
}

#[test]
fn a_stack_must_be_told_where_to_listen_and_have_something_to_ask() {
    let deaf = "title = \"a\"\nfamily = \"a\"\ngeneration = \"today\"\n[run]\ncommand = [\"a\"]\n";
    let mute = deaf.replace("\"a\"]", "\"{port}\"]");
    let stacks = Stacks::new("deaf", &[("deaf", deaf), ("mute", &mute)]);
    let error = StackManifest::load(&stacks.0.join("deaf")).unwrap_err().to_string();
    assert!(error.contains("stack.toml:4:1: the stack is not told where to listen"), "{error}");
    let error = StackManifest::load(&stacks.0.join("mute")).unwrap_err().to_string();
    assert!(error.contains("stack.toml: the stack has no endpoint"), "{error}");
}

#[test]
fn a_catalogue_holds_every_stack_and_helps_with_slips() {
    let stacks = Stacks::new("all", &[("gin", GOOD), ("nginx", GOOD), ("spring-mvc", GOOD), ("_builds", "")]);
    std::fs::create_dir_all(stacks.0.join("leftover/build")).unwrap();
    let catalogue = Catalogue::load(&stacks.0).unwrap();
    let ids: Vec<&str> = catalogue.iter().map(|stack| stack.id.as_str()).collect();
    assert_eq!(ids, ["gin", "nginx", "spring-mvc"]);
    assert_eq!(catalogue.get("gin").unwrap().id, "gin");
    for (slip, close) in [("ngnix", "nginx?"), ("spring", "spring-mvc?"), ("gni", "gin?")] {
        let error = catalogue.get(slip).unwrap_err().to_string();
        assert!(error.contains(&format!("no stack `{slip}`")) && error.contains(close), "{error}");
    }
    let error = catalogue.get("tomcat").unwrap_err().to_string();
    assert!(!error.contains("did you mean"), "{error}");
    let error = Catalogue::load(Path::new("/nonexistent")).unwrap_err().to_string();
    assert!(error.contains("/nonexistent: cannot be read as a folder of stacks"), "{error}");
}

#[test]
fn a_folder_name_that_is_no_id_is_refused() {
    let stacks = Stacks::new("id", &[("Bad_Name", GOOD)]);
    let error = Catalogue::load(&stacks.0).unwrap_err().to_string();
    assert!(error.contains("`Bad_Name` cannot be the id of a stack"), "{error}");
}
