//! What a service can be asked: by its OpenAPI document, else by the routes that its sources name.

use std::sync::LazyLock;

use fancy_regex::Regex;
use serde_json::Value;

use super::Project;

const DOCUMENTS: [&str; 6] =
    ["openapi.json", "openapi.yaml", "openapi.yml", "swagger.json", "swagger.yaml", "swagger.yml"];
/// Names of paths by which a service tells that it is up.
const HEALTH: [&str; 6] = ["health", "healthz", "ready", "readyz", "livez", "ping"];
/// Where routes are named in Go, Rust, JavaScript, Python and Java.
static ROUTE: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r#"(?x)
        (?: HandleFunc | Handle | \.GET | \.Get | \.get | \.route | @\w+\.get | @\w+\.route | \#\[get
          | @GetMapping | @RequestMapping )
        \(\s* (?:value\s*=\s*|path\s*=\s*)? \{? \s* ["'`](?:GET\ )?(?<route>/[^"'`\s]*)["'`]
        | (?: \burl | \.path | pathname ) \s* ={2,3} \s* ["'](?<equal>/[^"'\s]*)["']
    "#;
    Regex::new(pattern).expect("the pattern is a constant that is tried by tests")
});
const SOURCES: [&str; 10] = [".go", ".rs", ".js", ".mjs", ".cjs", ".ts", ".py", ".java", ".kt", ".scala"];

/// Paths to ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Asks {
    /// What is loaded.
    pub(super) path: String,
    /// What tells that it is up.
    pub(super) ready: String,
    /// What it was told by; `None` where nothing tells, and it is a guess.
    pub(super) told_by: Option<String>,
}

/// What `project` can be asked with a GET and without parameters.
pub(super) fn of(project: &Project) -> Asks {
    let documents = project.files.iter().filter(|it| {
        let name = it.path.rsplit('/').next().unwrap_or_default();
        DOCUMENTS.contains(&name)
    });
    let documented =
        documents.map(|it| (it.path.clone(), documented(&it.text))).find(|(_, paths)| !paths.is_empty());
    let (told_by, paths) = documented.unwrap_or_else(|| ("the sources".into(), routes(project)));
    let is_health = |path: &&String| HEALTH.iter().any(|it| path.split('/').any(|part| part == *it));
    let health = paths.iter().find(is_health);
    let root = paths.iter().find(|it| *it == "/");
    let asked = root.or_else(|| paths.iter().find(|it| !is_health(it))).or(health);
    let path = asked.cloned().unwrap_or_else(|| "/".into());
    Asks { ready: health.cloned().unwrap_or_else(|| path.clone()), told_by: asked.map(|_| told_by), path }
}

fn is_plain(path: &str) -> bool {
    path.bytes().all(|byte| byte.is_ascii_graphic())
        && !path.contains([':', '{', '<', '*', '$', '(', '?', '"'])
}

/// Paths of an OpenAPI document's GET operations.
fn documented(text: &str) -> Vec<String> {
    let Ok(document) = serde_saphyr::from_str::<Value>(text) else { return Vec::new() };
    let paths = document.get("paths").and_then(Value::as_object).into_iter().flatten();
    paths
        .filter(|(path, item)| item.get("get").is_some() && is_plain(path))
        .map(|(path, _)| path.clone())
        .collect()
}

fn routes(project: &Project) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    for file in project.sources(&SOURCES) {
        for found in ROUTE.captures_iter(&file.text).flatten() {
            let path = found.name("route").or_else(|| found.name("equal")).map_or("", |it| it.as_str());
            if is_plain(path) && paths.iter().all(|it| it != path) {
                paths.push(path.to_owned());
            }
        }
    }
    paths
}
