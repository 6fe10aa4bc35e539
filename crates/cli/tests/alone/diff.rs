//! Two versions of a small service in Go, with a slowdown planted between them and with none.

use serde_json::Value;

use crate::common::{json, text};
use crate::quiet::measured_alone;
use crate::repository::Repository;

const PROJECT: &str = r#"
title = "digests"
twin = false
control = false
cool_down_max = "0s"

[service.digests]
needs = { tools = ["go"] }

[service.digests.build]
command = ["go", "build", "-o", "{build_dir}/service", "."]
inputs = ["."]
output = "service"

[service.digests.run]
command = ["{build_dir}/service", "127.0.0.1:{port}"]

[service.digests.ready]

[[service.digests.endpoint]]
name = "main"
path = "/"
body = "done"

[load]
connections = 4
warm_up = "500ms"
duration = "1s"

[[round]]
name = "main"
endpoint = "main"
stacks = ["digests"]
"#;

/// A service whose every answer takes so many digests, some 100 us of CPU for each hundred.
fn service(digests: u32, comment: &str) -> String {
    format!(
        "// {comment}\npackage main\n\nimport (\n\t\"crypto/sha256\"\n\t\"log\"\n\t\"net/http\"\n\t\"os\"\n)\n\n\
         func main() {{\n\thttp.HandleFunc(\"/\", func(w http.ResponseWriter, _ *http.Request) {{\n\
         \t\tsum := sha256.Sum256([]byte(\"begin\"))\n\t\tfor i := 0; i < {digests}; i++ {{\n\t\t\tsum = sha256.Sum256(sum[:])\n\t\t}}\n\
         \t\tif sum[0] == 0 && sum[1] == 0 && sum[2] == 0 && sum[3] == 0 {{\n\t\t\tlog.Print(\"rare\")\n\t\t}}\n\
         \t\tw.Write([]byte(\"done\"))\n\t}})\n\tlog.Fatal(http.ListenAndServe(os.Args[1], nil))\n}}\n"
    )
}

fn repository(before: &str, after: &str) -> Repository {
    let repository = Repository::new();
    repository.write("proofload.toml", PROJECT);
    repository.write("go.mod", "module example.org/digests\n\ngo 1.19\n");
    repository.write("main.go", before);
    repository.commit("Digest");
    repository.write("main.go", after);
    repository.commit("Digest otherwise");
    repository
}

fn verdict<'a>(told: &'a Value, figure: &str) -> &'a str {
    let figures = told["services"][0]["figures"].as_array().expect("it has figures");
    let found = figures.iter().find(|it| it["figure"] == figure).expect("it is compared");
    found["verdict"].as_str().expect("it has one")
}

#[test]
#[ignore = "slow: builds a service twice and runs eight blocks"]
fn a_planted_slowdown_is_found_and_fails_the_gate() {
    let repository = repository(&service(10_000, "As it was."), &service(14_000, "Slower."));
    measured_alone(|| {
        let output = repository.run(&["diff", "main~1", "main", "-q", "--json"]);
        if output.status.code() != Some(4) {
            return Err(text(&output));
        }
        let told = json(&output);
        // 10 digests of 14: a loss of some 29 % of goodput.
        let goodput = &told["services"][0]["figures"][0];
        let (low, high) = (goodput["low"].as_f64().unwrap_or(0.0), goodput["high"].as_f64().unwrap_or(9.0));
        let is_found = verdict(&told, "goodput") == "worse" && verdict(&told, "cpu") == "worse";
        if !is_found || low > 0.78 || high < 0.68 {
            return Err(format!("{told:#}"));
        }
        Ok(())
    });
}

#[test]
#[ignore = "slow: builds a service twice and runs eight blocks"]
fn a_change_of_words_is_no_change() {
    let repository = repository(&service(10_000, "As it was."), &service(10_000, "In other words."));
    measured_alone(|| {
        let output = repository.run(&["diff", "main~1", "main", "-q", "--json"]);
        if output.status.code() != Some(0) {
            return Err(text(&output));
        }
        let told = json(&output);
        match verdict(&told, "goodput") {
            "same" | "could_not_tell" => Ok(()),
            _ => Err(format!("{told:#}")),
        }
    });
}
