//! Gradle's version catalogue: scripts name plugins, libraries and versions by aliases, and one file says what these are.

use std::borrow::Cow;
use std::path::Path;

use plan::toml_file;
use serde_json::Value;

use super::{Project, ProjectFile};

/// Where the catalogue is that scripts call `libs`.
const CATALOGUE: &str = "gradle/libs.versions.toml";
const SCRIPTS: [&str; 2] = ["build.gradle", "build.gradle.kts"];

/// The project with the names themselves in its scripts: `alias("org.springframework.boot")` for
/// `alias(libs.plugins.spring.boot)`.
pub(super) fn written_out(project: &Project) -> Cow<'_, Project> {
    let known = project.text(CATALOGUE).map(aliases).unwrap_or_default();
    if known.is_empty() {
        return Cow::Borrowed(project);
    }
    let file = |it: &ProjectFile| {
        let is_script = it.path.rsplit('/').next().is_some_and(|name| SCRIPTS.contains(&name));
        let text = if is_script { with_names(&it.text, &known) } else { it.text.clone() };
        ProjectFile { path: it.path.clone(), text }
    };
    Cow::Owned(Project {
        folder: project.folder.clone(),
        files: project.files.iter().map(file).collect(),
        around: project.around.clone(),
    })
}

fn with_names(script: &str, known: &[(String, String)]) -> String {
    known.iter().fold(script.to_owned(), |text, (alias, name)| text.replace(alias, name))
}

/// What stands in scripts, and what it stands for. The longest come first: one alias may be how another one begins.
fn aliases(catalogue: &str) -> Vec<(String, String)> {
    // One that is broken names nothing.
    let Ok(tables) = toml_file::parse::<Value>(Path::new(CATALOGUE), catalogue, "Gradle's manual") else {
        return Vec::new();
    };
    let of = |table: &str| tables.get(table).and_then(Value::as_object).into_iter().flatten();
    // As Gradle makes words of them: `spring-boot` is `spring.boot`.
    let dotted = |alias: &str| alias.replace(['-', '_'], ".");
    let quoted = |name: &str| format!("\"{name}\"");
    let plugins = of("plugins").filter_map(|(alias, it)| {
        let id = it.get("id").or(Some(it)).and_then(Value::as_str)?;
        let id = id.split(':').next().unwrap_or(id);
        Some((format!("libs.plugins.{}", dotted(alias)), quoted(id)))
    });
    let libraries = of("libraries")
        .filter_map(|(alias, it)| Some((format!("libs.{}", dotted(alias)), quoted(&library(it)?))));
    let versions = of("versions").filter_map(|(alias, it)| {
        let (called, version) = (format!("libs.versions.{}.get()", dotted(alias)), it.as_str()?);
        Some([(format!("{called}.toInt()"), version.to_owned()), (called, quoted(version))])
    });
    let mut all: Vec<(String, String)> = plugins.chain(libraries).chain(versions.flatten()).collect();
    all.sort_by_key(|(alias, _)| std::cmp::Reverse(alias.len()));
    all
}

/// `group:name` of a library, however that is written.
fn library(it: &Value) -> Option<String> {
    let text = |key: &str| it.get(key).and_then(Value::as_str);
    let of_parts = || Some(format!("{}:{}", text("group")?, text("name")?));
    it.as_str().or_else(|| text("module")).map(str::to_owned).or_else(of_parts)
}
