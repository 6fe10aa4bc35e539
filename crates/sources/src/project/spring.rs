//! The paths that Spring's controllers answer to a GET.

use std::sync::LazyLock;

use fancy_regex::Regex;

use super::routes::{Path, joined};
use super::{Project, java};

/// An annotation that maps a path, and its arguments, if it has some.
static MAPPING: LazyLock<Regex> =
    LazyLock::new(|| regex(r"@(?<name>Get|Request)Mapping\b\s*(?:\((?<arguments>[^)]*)\))?"));
/// The first path among an annotation's arguments; not that of `produces = "…"`.
static PATH: LazyLock<Regex> = LazyLock::new(|| {
    regex(r#"(?:^\s*|\b(?:value|path)\s*=\s*)(?:\{\s*|arrayOf\(\s*|\[\s*)?"(?<path>[^"]*)""#)
});
static CLASS: LazyLock<Regex> = LazyLock::new(|| regex(r"(?m)^[^*/\n@\x22]*\b(?:class|interface)\s+\w"));

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is a constant that is tried by tests")
}

/// The paths of all controllers, beneath the application's own; and its health, where it has Spring's actuator.
pub(super) fn of(project: &Project) -> Vec<Path> {
    let context = java::property(project, "server.servlet.context-path").unwrap_or_default();
    let base = java::property(project, "spring.webflux.base-path").unwrap_or(context);
    let has_actuator = ["pom.xml", "build.gradle", "build.gradle.kts"]
        .iter()
        .any(|it| project.text(it).is_some_and(|text| text.contains("spring-boot-starter-actuator")));
    let is_elsewhere = ["management.server.port", "management.endpoints.web.base-path"]
        .iter()
        .any(|it| java::property(project, it).is_some());
    let health = (has_actuator && !is_elsewhere).then(|| "/actuator/health".to_owned());
    let mapped = project.sources(&[".java", ".kt"]).flat_map(|it| of_file(&it.text));
    mapped.chain(health).map(|path| Path { text: joined(&base, &path), is_whole: true }).collect()
}

fn of_file(text: &str) -> Vec<String> {
    let class = CLASS.find(text).ok().flatten().map_or(0, |it| it.start());
    let mut beneath = String::new();
    let mut paths = Vec::new();
    for found in MAPPING.captures_iter(text).flatten() {
        let arguments = found.name("arguments").map_or("", |it| it.as_str());
        let path = PATH.captures(arguments).ok().flatten();
        let path = path.and_then(|it| Some(it.name("path")?.as_str().to_owned())).unwrap_or_default();
        let path = if path.is_empty() || path.starts_with('/') { path } else { format!("/{path}") };
        let is_of_class = found.get(0).is_some_and(|it| it.start() < class);
        let is_of_get = !arguments.contains("RequestMethod.") || arguments.contains("RequestMethod.GET");
        // A parameter or a header that it wants is not sent.
        let is_plain = !arguments.contains("params") && !arguments.contains("headers");
        if is_of_class {
            beneath = path;
        } else if is_of_get && is_plain {
            paths.push(joined(&beneath, &path));
        }
    }
    paths
}
