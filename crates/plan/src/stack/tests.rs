use std::num::NonZeroU64;

use super::*;

const GOOD: &str = r#"title = "Good"
family = "test"
generation = "2019"
description = "A good one."
upstream = "back"
requests_per_connection = 100
[needs]
tools = ["mvn"]
jdk = 17
libraries = ["libx.so.1"]
[parameters]
threads = "200"
[build]
dir = "src"
command = ["make", "{build_dir}/out"]
inputs = ["main.c"]
output = "out"
[run]
command = ["java", "-cp", "{build_dir}", "Main", "{port}", "{upstream}", "{threads}"]
jvm_flags = ["-Xmx{port}m"]
env = { HOME = "{work_dir}" }
[ready]
timeout = "5s"
[[endpoint]]
name = "hello"
path = "/hello"
body = "hello"
wire_bytes = 118
framing = "chunked"
thread = "http-nio-"
upstream_connections_max = 20
[[endpoint]]
name = "sleep"
path = "/sleep"
delay = "100ms"
connection = "close"
[[file]]
template = "app.conf"
name = "renamed.conf"
[[variant]]
name = "threads-400"
description = "More of them."
parameters = { threads = "400" }
requests_per_connection = "unlimited"
intervention = { on = "pool", to = 400, threads = "http-nio-" }
[[variant]]
name = "other"
description = "Something else behind it."
jvm_flags = ["-Xss256k"]
upstream = "back@b"
[[variant.endpoint]]
name = "static"
path = "/output.txt"
"#;

/// A folder of stacks that is gone with this.
struct Stacks(tempfile::TempDir);

impl Stacks {
    fn new(test: &str, stacks: &[(&str, &str)]) -> Self {
        let root = tempfile::Builder::new().prefix(&format!("proofload-plan-{test}-")).tempdir().unwrap();
        for (id, manifest) in stacks {
            let dir = root.path().join(id);
            std::fs::create_dir_all(dir.join("src")).unwrap();
            std::fs::write(dir.join("src/main.c"), "").unwrap();
            std::fs::write(dir.join("app.conf"), "").unwrap();
            std::fs::write(dir.join(MANIFEST), manifest).unwrap();
        }
        Self(root)
    }
}

#[test]
fn a_whole_manifest_is_read() {
    let stacks = Stacks::new("whole", &[("good", GOOD)]);
    let all = StackManifest::load(&stacks.0.path().join("good")).unwrap();
    let stack = &all[0];
    assert_eq!((stack.id.as_str(), stack.generation), ("good", Generation::Of2019));
    let needs = Needs {
        tools: vec!["mvn".to_owned()],
        jdk: Some(17),
        java: Some(17),
        libraries: vec!["libx.so.1".to_owned()],
    };
    assert_eq!((&stack.needs, &*stack.upstreams), (&needs, &["back".to_owned()][..]));
    assert_eq!((stack.requests_per_connection, &stack.variant), (NonZeroU32::new(100), &None));
    let build = stack.build.as_ref().unwrap();
    assert!(build.output.ends_with("good/src/build/out") && stack.build_dir().ends_with("good/src/build"));
    let hello = Endpoint {
        name: "hello".to_owned(),
        path: "/hello".to_owned(),
        status: 200,
        body: Some("hello".to_owned()),
        delay: None,
        connection: ConnectionUse::KeepAlive,
        wire_bytes: Some(Bytes(118)),
        framing: Some(Framing::Chunked),
        thread: Some("http-nio-".to_owned()),
        upstream_connections_max: Some(20),
    };
    assert_eq!(stack.endpoint("hello").unwrap(), &hello);
    let sleep = stack.endpoint("sleep").unwrap();
    assert_eq!((sleep.delay, sleep.connection), (Some(Duration::from_millis(100)), ConnectionUse::Close));
    let when = ReadyWhen::Answers { path: "/hello".to_owned(), status: 200 };
    let ready = Ready { when, timeout: Duration::from_secs(5) };
    assert_eq!(stack.ready, ready);
    assert_eq!(stack.files[0].name, "renamed.conf");
    let error = stack.endpoint("bye").unwrap_err().to_string();
    assert!(error.contains("no endpoint `bye`; choose hello or sleep"), "{error}");
}

#[test]
fn a_variant_is_the_stack_with_other_values() {
    let stacks = Stacks::new("variant", &[("good", GOOD)]);
    let all = StackManifest::load(&stacks.0.path().join("good")).unwrap();
    let ids: Vec<&str> = all.iter().map(|stack| stack.id.as_str()).collect();
    assert_eq!(ids, ["good", "good@threads-400", "good@other"]);
    let (stack, more, other) = (&all[0], &all[1], &all[2]);
    assert_eq!((stack.parameters["threads"].as_str(), more.parameters["threads"].as_str()), ("200", "400"));
    assert_eq!(
        (&more.origin, &more.endpoints, more.requests_per_connection),
        (&stack.origin, &stack.endpoints, None)
    );
    let intervention = Intervention {
        on: InterventionOn::Pool,
        change: LimitChange::To(NonZeroU64::new(400).unwrap()),
        threads: Some("http-nio-".into()),
    };
    let variant = Variant {
        of: "good".into(),
        name: "threads-400".into(),
        description: "More of them.".into(),
        intervention: Some(intervention),
    };
    assert_eq!(more.variant, Some(variant));
    assert_eq!(other.variant.as_ref().unwrap().intervention, None);
    assert_eq!((&*other.upstreams[0], other.run().unwrap().jvm_flags[0].as_str()), ("back@b", "-Xss256k"));
    assert_eq!((other.endpoints.len(), other.ready.path()), (1, Some("/output.txt")));
    assert_eq!(other.requests_per_connection, stack.requests_per_connection);
}

/// The error for [`GOOD`] with its first `from` replaced by `to`.
fn error_of(test: &str, from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    let stacks = Stacks::new(test, &[("bad", &GOOD.replacen(from, to, 1))]);
    StackManifest::load(&stacks.0.path().join("bad")).unwrap_err().to_string()
}

#[test]
fn what_is_declared_must_be_used_and_what_varies_must_be_declared() {
    for (index, (from, to, place, what)) in [
        ("\"{upstream}\", ", "", "5:12", "the stack is not told where its upstream is"),
        ("upstream = \"back\"\n", "", ": ", "{upstream} is used, and no upstream is named"),
        ("\"{threads}\"", "\"200\"", ": ", "the parameter `threads` is used nowhere"),
        ("threads = \"200\"", "port = \"200\"", "12:1", "`port` cannot be the name of a parameter"),
        ("\"200\"", "\"{port}\"", "12:11", "a parameter holds a placeholder"),
        ("= 100", "= 0", "6:27", "this is no number of requests"),
        ("\"unlimited\"", "\"all\"", "44:27", "this is no number of requests"),
        ("{ threads = \"400\" }", "{ treads = \"400\" }", "43:16", "the stack has no parameter `treads`"),
        ("\"400\"", "\"200\"", "41:8", "runs as the stack itself does"),
        ("{ threads = \"400\" }", "{}\nlimits = {}", "41:8", "runs as the stack itself does"),
        ("\"other\"", "\"threads-400\"", "47:8", "a second variant is called `threads-400`"),
        ("\"other\"", "\"O\"", "47:8", "`O` cannot be the name of a variant"),
    ]
    .into_iter()
    .enumerate()
    {
        let error = error_of(&format!("use{index}"), from, to);
        assert!(
            error.contains(&format!("bad/stack.toml:{place}")) || place == ": ",
            "{place} {what}: {error}"
        );
        assert!(error.contains(what), "{what}: {error}");
    }
}

const POOL_TO_400: &str = "{ on = \"pool\", to = 400, threads = \"http-nio-\" }";

#[test]
fn an_intervention_says_one_limit_and_by_how_much() {
    for (index, (to, on, change)) in [
        (
            "{ on = \"pool\", factor = 2 }",
            InterventionOn::Pool,
            LimitChange::Factor(Factor::new(2.0).unwrap()),
        ),
        (
            "{ on = \"upstream-pool\", factor = 0.25 }",
            InterventionOn::UpstreamPool,
            LimitChange::Factor(Factor::new(0.25).unwrap()),
        ),
        (
            "{ on = \"accept-queue\", to = 1000 }",
            InterventionOn::AcceptQueue,
            LimitChange::To(NonZeroU64::new(1000).unwrap()),
        ),
        ("{ on = \"heap\", to = \"256MiB\" }", InterventionOn::Heap, LimitChange::ToBytes(Bytes(256 << 20))),
        ("{ on = \"keep-alive\" }", InterventionOn::KeepAlive, LimitChange::Unsized),
        (
            "{ on = \"keep-alive\", to = 1000 }",
            InterventionOn::KeepAlive,
            LimitChange::To(NonZeroU64::new(1000).unwrap()),
        ),
        ("{ on = \"collector\" }", InterventionOn::Collector, LimitChange::Unsized),
        ("{ on = \"cores\" }", InterventionOn::Cores, LimitChange::Unsized),
    ]
    .into_iter()
    .enumerate()
    {
        let stacks =
            Stacks::new(&format!("intervention{index}"), &[("good", &GOOD.replace(POOL_TO_400, to))]);
        let all = StackManifest::load(&stacks.0.path().join("good")).unwrap();
        let told = all[1].variant.clone().unwrap().intervention;
        assert_eq!(told, Some(Intervention { on, change, threads: None }), "{to}");
        assert!(to.contains(&format!("\"{on}\"")), "{on}");
    }
}

#[test]
fn how_much_larger_a_limit_becomes_follows_from_what_it_was() {
    let of = |change| Intervention { on: InterventionOn::Pool, change, threads: None }.factor_over(200.0);
    assert_eq!(of(LimitChange::Factor(Factor::new(2.0).unwrap())), Some(2.0));
    assert_eq!(of(LimitChange::To(NonZeroU64::new(50).unwrap())), Some(0.25));
    assert_eq!(of(LimitChange::ToBytes(Bytes(800))), Some(4.0));
    assert_eq!(of(LimitChange::Unsized), None);
    let to = Intervention {
        on: InterventionOn::Pool,
        change: LimitChange::To(NonZeroU64::new(4).unwrap()),
        threads: None,
    };
    assert_eq!(to.factor_over(0.0), None);
    assert_eq!([1.0, 0.0, -2.0, f64::NAN, f64::INFINITY].map(Factor::new), [None; 5]);
}

#[test]
fn a_wrong_intervention_is_told_with_its_line() {
    for (index, (to, place, what)) in [
        ("{ on = \"pol\", to = 4 }", "45:23", "unknown value `pol`"),
        ("{ to = 4 }", "45:16", "the key `on` is missing"),
        ("{ on = \"pool\", by = 4 }", "45:31", "unknown key `by`"),
        ("{ on = \"pool\" }", "45:16", "by how much `pool` is changed is not said; add `to`"),
        ("{ on = \"heap\" }", "45:16", "by how much `heap` is changed is not said"),
        ("{ on = \"pool\", factor = 2, to = 4 }", "45:48", "by how much it is changed is said twice"),
        ("{ on = \"pool\", factor = 1 }", "45:40", "1 times as much is no change of a limit"),
        ("{ on = \"pool\", factor = -2 }", "45:40", "-2 times as much is no change of a limit"),
        ("{ on = \"pool\", factor = nan }", "45:40", "no change of a limit"),
        ("{ on = \"pool\", to = 0 }", "45:36", "this is no size of `pool`; write a whole number from 1"),
        ("{ on = \"pool\", to = 1.5 }", "45:36", "this is no size of `pool`"),
        ("{ on = \"pool\", to = -4 }", "45:36", "this is no size of `pool`"),
        ("{ on = \"pool\", to = \"4MiB\" }", "45:36", "this is no size of `pool`"),
        ("{ on = \"heap\", to = 256 }", "45:36", "this is no size of `heap`; write it with its unit"),
        ("{ on = \"heap\", to = \"much\" }", "45:36", "this is no size of `heap`"),
        ("{ on = \"collector\", factor = 2 }", "45:45", "a collector has no size"),
        ("{ on = \"cores\", threads = \"a\" }", "45:42", "`cores` has no threads"),
        ("{ on = \"pool\", to = 4, threads = \" \" }", "45:49", "this is empty"),
    ]
    .into_iter()
    .enumerate()
    {
        let error = error_of(&format!("wrong{index}"), POOL_TO_400, to);
        assert!(error.contains(&format!("bad/stack.toml:{place}: ")), "{place} {what}: {error}");
        assert!(error.contains(what), "{what}: {error}");
    }
}

#[test]
fn a_catalogue_knows_which_variants_change_a_limit() {
    let alone = GOOD.replace("upstream = \"back\"\n", "").replace("\"{upstream}\", ", "");
    let alone = alone.replace("upstream = \"back@b\"\n", "");
    let fewer = "[[variant]]\nname = \"threads-50\"\ndescription = \"Fewer.\"\nparameters = { threads = \"50\" }\n\
                 intervention = { on = \"pool\", factor = 0.25 }\n";
    let stacks = Stacks::new("changes", &[("good", &(alone.clone() + fewer)), ("too", &alone)]);
    let catalogue = Catalogue::load(stacks.0.path()).unwrap();
    let ids = |id, on| -> Vec<&str> {
        catalogue.interventions(id, on).iter().map(|stack| stack.id.as_str()).collect()
    };
    assert_eq!(ids("good", InterventionOn::Pool), ["good@threads-400", "good@threads-50"]);
    assert_eq!(ids("too", InterventionOn::Pool), ["too@threads-400"]);
    assert_eq!(ids("good", InterventionOn::Heap), [""; 0]);
    assert_eq!(ids("good@threads-50", InterventionOn::Pool), [""; 0]);
}

#[test]
fn a_chain_begins_at_its_far_end() {
    let back = GOOD.replace("upstream = \"back\"\n", "").replace("\"{upstream}\", ", "");
    let back = back.split("[[variant]]").next().unwrap();
    let b =
        format!("{back}[[variant]]\nname = \"b\"\ndescription = \"b\"\nparameters = {{ threads = \"1\" }}\n");
    let stacks = Stacks::new("chain", &[("good", GOOD), ("back", &b)]);
    let catalogue = Catalogue::load(stacks.0.path()).unwrap();
    let ids =
        |id| -> Vec<&str> { catalogue.chain(id).unwrap().iter().map(|stack| stack.id.as_str()).collect() };
    assert_eq!((ids("back"), ids("good")), (vec!["back"], vec!["back", "good"]));
    assert_eq!(ids("good@other"), ["back@b", "good@other"]);
    assert_eq!(catalogue.iter().count(), 2);
    let round = Stacks::new("round", &[("back", &GOOD.replace("back@b", "back"))]);
    let broken = |stacks: &Stacks, id: &str| {
        let catalogue = Catalogue::load(stacks.0.path()).unwrap();
        assert_eq!(catalogue.iter().count(), 0, "what has no whole chain can't be used");
        catalogue.get(id).unwrap_err().to_string()
    };
    let error = broken(&round, "back");
    assert!(error.contains("back/stack.toml: `back` stands behind itself; name an upstream"), "{error}");
    let alone = Stacks::new("alone", &[("good", GOOD)]);
    let error = broken(&alone, "good");
    assert!(error.contains("good/stack.toml: there is no stack `back`"), "{error}");
}

/// What stands behind itself is told apart from what is only too far behind.
#[test]
fn a_chain_has_an_end_and_few_stacks() {
    let leaf = GOOD.replace("upstream = \"back\"\n", "").replace("\"{upstream}\", ", "");
    let leaf = leaf.split("[[variant]]").next().unwrap();
    let before = |of: &str| {
        let text = GOOD.split("[[variant]]").next().unwrap();
        text.replace("upstream = \"back\"", &format!("upstream = \"{of}\""))
    };
    let [b, c, d, e] = ["b", "c", "d", "e"].map(before);
    let told = |name: &str, stacks: &[(&str, &str)], id: &str| {
        let catalogue = Catalogue::load(Stacks::new(name, stacks).0.path()).unwrap();
        catalogue.get(id).map(|_| ()).map_err(|error| error.to_string())
    };
    let four = [("a", b.as_str()), ("b", c.as_str()), ("c", d.as_str()), ("d", leaf)];
    assert_eq!(told("four", &four, "a"), Ok(()));
    let five = [("a", b.as_str()), ("b", c.as_str()), ("c", d.as_str()), ("d", e.as_str()), ("e", leaf)];
    let error = told("five", &five, "a").unwrap_err();
    assert!(error.contains("more than 4 stacks stand behind each other from `a` on"), "{error}");
    assert_eq!(told("last-four", &five, "b"), Ok(()));
    let round = [("a", b.as_str()), ("b", c.as_str()), ("c", d.as_str()), ("d", b.as_str())];
    let error = told("in-a-circle", &round, "a").unwrap_err();
    assert!(error.contains("a/stack.toml: `b` stands behind itself, by way of c and d; name"), "{error}");
}

/// A service with a database and a cache: the first is right behind it, and what is behind that comes before it.
#[test]
fn a_stack_may_use_several_others() {
    let leaf = GOOD.replace("upstream = \"back\"\n", "").replace("\"{upstream}\", ", "");
    let leaf = leaf.split("[[variant]]").next().unwrap();
    let in_front = |of: &str, told: &str| {
        let text = GOOD.split("[[variant]]").next().unwrap();
        text.replace("upstream = \"back\"", &format!("upstream = {of}")).replace("\"{upstream}\"", told)
    };
    let several = in_front("[\"db\", \"cache\"]", "\"{upstream.cache}\", \"{upstream}\"");
    let stacks = |name: &str, front: &str, db: &str| {
        Stacks::new(name, &[("front", front), ("db", db), ("cache", leaf), ("disk", leaf)])
    };
    let chain = |stacks: &Stacks| -> Result<Vec<String>, String> {
        let catalogue = Catalogue::load(stacks.0.path()).unwrap();
        let chain = catalogue.chain("front").map_err(|error| error.to_string())?;
        Ok(chain.iter().map(|stack| stack.id.clone()).collect())
    };
    let db = in_front("\"disk\"", "\"{upstream}\"");
    let told = chain(&stacks("several", &several, &db)).unwrap();
    assert_eq!(
        told,
        ["cache", "disk", "db", "front"],
        "it is booted in this order, and the last is in front"
    );
    let db = in_front("\"cache\"", "\"{upstream}\"");
    let error = chain(&stacks("shared", &several, &db)).unwrap_err();
    assert!(error.contains("`cache` stands behind two stacks of one chain"), "{error}");
    for (name, of, told, what) in [
        ("named", "[\"db\", \"cache\"]", "\"{upstream}\"", "is not told where its upstream is"),
        (
            "unknown",
            "[\"db\", \"cache\"]",
            "\"{upstream.kv}\"",
            "{upstream.kv} is used, and no upstream is named so",
        ),
        ("alone", "\"db\"", "\"{upstream.db}\"", "{upstream.db} is used, and there is one upstream"),
        ("none", "[]", "\"{upstream}\"", "these are no stacks to stand behind it"),
        ("twice", "[\"db\", \"db@x\"]", "\"{upstream}\"", "these are no stacks to stand behind it"),
    ] {
        let error = chain(&stacks(name, &in_front(of, told), leaf)).unwrap_err();
        assert!(error.contains(what), "{name}: {error}");
    }
}

#[test]
fn a_variant_is_ready_where_its_stack_says_so() {
    let text = GOOD.replace("timeout = \"5s\"", "path = \"/up\"\ntimeout = \"5s\"");
    let stacks = Stacks::new("ready", &[("good", &text)]);
    let all = StackManifest::load(&stacks.0.path().join("good")).unwrap();
    let paths: Vec<_> = all.iter().map(|stack| stack.ready.path()).collect();
    assert_eq!(paths, [Some("/up"); 3]);
}

#[test]
fn each_mistake_is_told_with_its_line() {
    for (index, (from, to, place, what)) in [
        ("title = \"Good\"", "title = \" \"", "1:9", "this is empty"),
        ("title =", "titel =", "1:1", "unknown key `titel`"),
        ("\"2019\"", "\"2020\"", "3:14", "unknown value `2020`"),
        ("dir = \"src\"", "dir = \"scr\"", "14:7", "the build's folder `scr` cannot be read"),
        ("{build_dir}/out", "{work_dir}", "15:20", "`{work_dir}` is not known when a stack is built"),
        ("[\"main.c\"]", "[\"main.d\"]", "16:11", "there is no `main.d`"),
        ("[\"main.c\"]", "[]", "16:10", "the build has no inputs"),
        (
            "\"java\", \"-cp\"",
            "\"java\", \"-Xmx1g\"",
            "19:20",
            "`-Xmx1g` is a JVM flag; move it to jvm_flags",
        ),
        ("\"java\", \"-cp\"", "\"node\", \"-cp\"", "19:11", "`node` takes no JVM flags"),
        ("Main", "{prot}", "19:42", "`{prot}` is no placeholder; use {port}"),
        ("Main", "--port={port", "19:42", "`{port` has no closing }; close it"),
        ("\"5s\"", "\"5\"", "23:11", "`5` is not a time; unknown unit"),
        ("\"5s\"", "\"0s\"", "23:11", "a timeout of zero; give it a length"),
        (
            "timeout = \"5s\"",
            "accepts_connections = true\nstatus = 200",
            "24:10",
            "is asked for nothing; leave `status` or `accepts_connections` out",
        ),
        ("connections_max = 20", "connections_max = 0", "31:28", "a proxy that holds no connection"),
        ("path = \"/hello\"", "path = \"hello\"", "26:8", "`hello` is not the path of a request"),
        ("path = \"/hello\"", "path = \"/hello#top\"", "26:8", "`/hello#top` is not the path of a request"),
        ("body = \"hello\"", "status = 99", "27:10", "99 is not the status of an answer"),
        ("name = \"sleep\"", "name = \"hello\"", "33:8", "a second endpoint is called `hello`"),
        ("\"close\"", "\"shut\"", "36:14", "unknown value `shut`"),
        ("app.conf", "ap.conf", "38:12", "there is no file `ap.conf`"),
        ("renamed.conf", "../renamed.conf", "39:8", "`../renamed.conf` is no file name"),
        ("renamed.conf", ".", "39:8", "`.` is no file name"),
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
fn what_would_be_lost_without_a_word_is_refused() {
    let second = "[[file]]\ntemplate = \"src/main.c\"\nname = \"renamed.conf\"\n[[variant]]";
    let error = error_of("files", "[[variant]]", second);
    assert!(error.contains("bad/stack.toml: two files are written to `renamed.conf`; give each"), "{error}");
    // It has flags of its own, and its stack has none.
    let node = GOOD.replace("\"java\"", "\"node\"").replace("jvm_flags = [\"-Xmx{port}m\"]\n", "");
    let stacks = Stacks::new("flags", &[("bad", &node)]);
    let error = StackManifest::load(&stacks.0.path().join("bad")).unwrap_err().to_string();
    assert!(error.contains("stack.toml:48:14: `node` takes no JVM flags; leave jvm_flags out"), "{error}");
}

#[test]
fn a_stack_must_be_told_where_to_listen_and_have_something_to_ask() {
    let deaf = "title = \"a\"\nfamily = \"a\"\ngeneration = \"today\"\n[run]\ncommand = [\"a\"]\n";
    let mute = deaf.replace("\"a\"]", "\"{port}\"]");
    let stacks = Stacks::new("deaf", &[("deaf", deaf), ("mute", &mute)]);
    let error = StackManifest::load(&stacks.0.path().join("deaf")).unwrap_err().to_string();
    assert!(error.contains("stack.toml:4:1: the stack is not told where to listen"), "{error}");
    let error = StackManifest::load(&stacks.0.path().join("mute")).unwrap_err().to_string();
    assert!(error.contains("stack.toml: the stack has no endpoint"), "{error}");
}

#[test]
fn limits_are_read_and_a_variant_changes_those_it_names() {
    let limited = GOOD
        .replace("[build]", "[limits]\ncpu = 0.5\nopen_files = 64\n[build]")
        .replace("parameters = { threads = \"400\" }", "limits = { cpu = 2 }");
    let stacks = Stacks::new("limits", &[("good", &limited)]);
    let all = StackManifest::load(&stacks.0.path().join("good")).unwrap();
    let limits = |index: usize| {
        let Limits { cpu, open_files } = all[index].limits;
        (cpu.map(CpuQuota::millicores), open_files.map(NonZeroU32::get))
    };
    assert_eq!((limits(0), limits(1), limits(2)), ((Some(500), Some(64)), (Some(2000), Some(64)), limits(0)));
    assert_eq!(all[0].limits.cpu.unwrap().to_string(), "0.5");
    for (index, (line, place, what)) in [
        ("cpu = 0.001", "14:7", "0.001 is no quota of CPU time; write how many cores' worth"),
        ("cpu = nan", "14:7", "no quota of CPU time"),
        ("cpu = -1", "14:7", "no quota of CPU time"),
        ("open_files = 15", "14:14", "15 is no bound of open files; write a number from 16"),
        ("open_file = 64", "14:1", "unknown key `open_file`"),
    ]
    .into_iter()
    .enumerate()
    {
        let error = error_of(&format!("limit{index}"), "[build]", &format!("[limits]\n{line}\n[build]"));
        assert!(error.contains(&format!("bad/stack.toml:{place}: ")) && error.contains(what), "{error}");
    }
}

#[test]
fn a_catalogue_holds_every_stack_and_helps_with_slips() {
    let alone = GOOD.replace("upstream = \"back\"\n", "").replace("\"{upstream}\", ", "");
    let alone = alone.split("[[variant]]").next().unwrap();
    let stacks =
        Stacks::new("all", &[("gin", alone), ("nginx", alone), ("spring-mvc", alone), ("_builds", "")]);
    std::fs::create_dir_all(stacks.0.path().join("leftover/build")).unwrap();
    let catalogue = Catalogue::load(stacks.0.path()).unwrap();
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

/// A project has no `stack.toml`: its services are in its own file.
#[test]
fn what_is_wrong_with_a_service_is_told_with_the_file_that_it_is_in() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[service.shop]\nupstream = \"back\"\n[service.shop.run]\n\
                command = [\"a\", \"{port}\", \"{upstream}\"]\n\
                [[service.shop.endpoint]]\nname = \"list\"\npath = \"/\"\n";
    let file = Path::new("proofload.toml");
    let services = StackManifest::services(file, text, folder.path()).unwrap();
    assert_eq!(services[0].written_in(), "proofload.toml");
    assert!(services[0].is_service());
    let error = services[0].endpoint("cart").unwrap_err().to_string();
    assert!(error.contains("choose list, or add an [[endpoint]] to proofload.toml"), "{error}");
    let catalogue = Catalogue::with_services(Path::new("/nonexistent"), services).unwrap();
    let error = catalogue.get("shop").unwrap_err().to_string();
    assert!(error.starts_with("proofload.toml: there is no stack `back`"), "{error}");
    assert!(!error.contains(MANIFEST), "{error}");
    let stacks = Stacks::new("own-file", &[("good", GOOD)]);
    let stack = StackManifest::load(&stacks.0.path().join("good")).unwrap().swap_remove(0);
    assert_eq!(stack.written_in(), "its stack.toml");
    assert!(!stack.is_service());
}

#[test]
fn a_folder_name_that_is_no_id_is_refused() {
    let stacks = Stacks::new("id", &[("Bad_Name", GOOD)]);
    let error = Catalogue::load(stacks.0.path()).unwrap().get("Bad_Name").unwrap_err().to_string();
    assert!(error.contains("`Bad_Name` cannot be the id of a stack"), "{error}");
    // What is built of a service goes into a folder of its name.
    for dots in [".", ".."] {
        let (of_service, of_endpoint) =
            (format!("[service.\"{dots}\"]"), format!("[[service.\"{dots}\".endpoint]]"));
        let text = format!("{of_service}\nurl = \"http://a:1\"\n{of_endpoint}\nname = \"a\"\npath = \"/\"\n");
        let read = StackManifest::services(Path::new("x.toml"), &text, Path::new("."));
        let error = read.unwrap_err().to_string();
        assert!(error.contains(&format!("x.toml: `{dots}` cannot be the id of a stack")), "{error}");
    }
}

#[test]
fn a_stack_with_a_mistake_keeps_nobody_from_the_others() {
    let alone = GOOD.replace("upstream = \"back\"\n", "").replace("\"{upstream}\", ", "");
    let alone = alone.split("[[variant]]").next().unwrap();
    let slip = alone.replace("title =", "titel =");
    // `front` is sound itself, and stands before one that is not.
    let front = GOOD.split("[[variant]]").next().unwrap().replace("\"back\"", "\"slip\"");
    let stacks = Stacks::new("broken", &[("sound", alone), ("slip", &slip), ("front", &front)]);
    let catalogue = Catalogue::load(stacks.0.path()).unwrap();
    let ids: Vec<&str> = catalogue.iter().map(|stack| stack.id.as_str()).collect();
    assert_eq!(ids, ["sound"]);
    assert!(catalogue.chain("sound").is_ok());
    let broken: Vec<(&str, String)> = catalogue.broken().map(|(id, error)| (id, error.to_string())).collect();
    let [("front", behind), ("slip", own)] = broken.as_slice() else { panic!("{broken:?}") };
    assert!(own.contains("slip/stack.toml:1:1: unknown key `titel`; did you mean title?"), "{own}");
    assert!(behind.contains("front/stack.toml: ") && behind.contains(own.as_str()), "{behind}");
    assert_eq!(catalogue.get("slip").unwrap_err().to_string(), *own);
    assert_eq!(catalogue.get("slip@any").unwrap_err().to_string(), *own);
    let near = catalogue.get("slop").unwrap_err().to_string();
    assert!(near.contains("no stack `slop`") && near.contains("did you mean slip?"), "{near}");
}

#[test]
fn what_a_stack_speaks_is_http_1_1_without_tls_unless_it_says() {
    let spoken = |keys: &str| {
        let text = GOOD.replacen("jvm_flags = [\"-Xmx{port}m\"]\n", &format!("{keys}\n"), 1);
        let stacks = Stacks::new("spoken", &[("good", &text)]);
        let all = StackManifest::load(&stacks.0.path().join("good"));
        all.map(|all| all[0].spoken.first()).map_err(|error| error.to_string())
    };
    for (keys, is_secured, http2) in [
        ("", false, false),
        ("protocol = \"http/1.1\"", false, false),
        ("scheme = \"https\"", true, false),
        ("scheme = \"https\"\nprotocol = \"h2\"", true, true),
        ("scheme = \"http\"\nprotocol = \"h2c\"", false, true),
    ] {
        assert_eq!(spoken(keys), Ok(Speaks { is_secured, http2 }), "{keys}");
    }
    let error = spoken("protocol = \"h2\"").unwrap_err();
    assert!(error.contains("add scheme = \"https\", or write h2c"), "{error}");
    let error = spoken("scheme = \"https\"\nprotocol = \"h2c\"").unwrap_err();
    assert!(error.contains("h2c is HTTP/2 without TLS"), "{error}");
}

#[test]
fn a_stack_may_speak_several_protocols_of_which_the_first_is_spoken_with_whoever_names_none() {
    let spoken = |keys: &str| {
        let text = GOOD.replacen("jvm_flags = [\"-Xmx{port}m\"]\n", &format!("{keys}\n"), 1);
        let stacks = Stacks::new("several", &[("good", &text)]);
        let all = StackManifest::load(&stacks.0.path().join("good")).map_err(|error| error.to_string())?;
        Ok::<Vec<&str>, String>(all[0].spoken.all().map(|it| it.protocol().name()).collect())
    };
    let https = "scheme = \"https\"\n";
    assert_eq!(spoken(&format!("{https}protocol = [\"h2\", \"http/1.1\"]")), Ok(vec!["h2", "http/1.1"]));
    assert_eq!(spoken("protocol = [\"http/1.1\", \"h2c\"]"), Ok(vec!["http/1.1", "h2c"]));
    for (keys, part) in [
        ("protocol = []", "no protocol is named"),
        ("protocol = [\"h2c\", \"h2c\"]", "a protocol is named twice"),
        ("protocol = [\"http/1.1\", \"h2\"]", "h2 is agreed on within TLS"),
        ("protocol = \"h3\"", "unknown value `h3`"),
        ("protocol = [\"http/1.1\", \"h3\"]", "unknown value `h3`"),
        ("protocol = 2", "a protocol, or a list of them such as [\"h2\", \"http/1.1\"]"),
    ] {
        let error = spoken(keys).unwrap_err();
        assert!(error.contains("good/stack.toml:") && error.contains(part), "{keys}: {error}");
    }
}
