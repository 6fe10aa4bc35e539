//! The rules of the layout, checked in manifests and sources.
//!
//! Manifests are read as they are written, not as cargo resolves them, so that a violation names the file to
//! mend. Sources are read as text without comments (see [`source`]). Dev-dependencies are free: what tests
//! need does not bind what is shipped.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use crate::modules::{self, Source};
use crate::source;

/// The crates, by folder, in order. One may depend only on those before it.
///
/// Records are explained, reported and shown without what makes them, so `explain`, `report` and `live` stand before
/// `lab`; and a load is made without JMeter's files, so `jmeter` stands behind it.
const ORDER: [&str; 30] = [
    "units",
    "plain",
    "http",
    "h2",
    "engine",
    "stats",
    "tls",
    "plan",
    "agent",
    "scenario",
    "sources",
    "lua",
    "record",
    "sim",
    "driver",
    "target",
    "signals",
    "events",
    "stack",
    "outputs",
    "explain",
    "audit",
    "exports",
    "report",
    "live",
    "lab",
    "jmeter",
    "serve",
    "kubernetes",
    "cli",
];
/// What the compiler holds to `core` and `alloc`.
const NO_STD: [&str; 4] = ["units", "http", "h2", "engine"];
/// The only crate that may hold `unsafe`.
const MAY_BE_UNSAFE: &str = "driver";
/// Clock, bytes and seed are arguments of these.
const PURE: [&str; 18] = [
    "units", "plain", "http", "h2", "engine", "stats", "agent", "scenario", "jmeter", "sources", "sim",
    "events", "outputs", "explain", "audit", "exports", "report", "live",
];
/// The crate of system calls, which pure crates do without.
const SYSTEM_CRATE: &str = "rustix";
/// The crate that is the same whatever a scenario is written in, and words of other tools that are not for its code: who
/// reads their files puts them into the scenario's words.
const NEUTRAL: &str = "scenario";
const WORDS_OF_OTHERS: [&str; 3] = ["jexl", "groovy", "jmeter"];
/// Modules of `std` that pure crates do without; `core::time` has the durations, `core::net` the addresses.
const SYSTEM_MODULES: [&str; 2] = ["net", "time"];

/// A rule that a file breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Violation {
    file: PathBuf,
    rule: String,
}

impl Violation {
    pub(crate) fn new(file: &Path, rule: String) -> Self {
        Self { file: file.to_owned(), rule }
    }

    /// The same with its file as seen from `root`.
    pub(crate) fn relative_to(mut self, root: &Path) -> Self {
        if let Ok(inside) = self.file.strip_prefix(root) {
            self.file = inside.to_owned();
        }
        self
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file.display(), self.rule)
    }
}

/// The crates of this workspace by the name that manifests depend on them with.
type Known = BTreeMap<String, String>;

/// Every broken rule of the workspace at `root`, its file relative to it. A file that can't be read is one, too.
pub(crate) fn check(root: &Path) -> Vec<Violation> {
    let violations = collect(root).unwrap_or_else(|unreadable| vec![unreadable]);
    violations.into_iter().map(|violation| violation.relative_to(root)).collect()
}

fn collect(root: &Path) -> Result<Vec<Violation>, Violation> {
    let known = known_crates(&read_manifest(&root.join("Cargo.toml"))?);
    let mut violations = Vec::new();
    for dir in entries(&root.join("crates"))? {
        let file = dir.join("Cargo.toml");
        if file.is_file() {
            let name = folder_name(&dir);
            let manifest = read_manifest(&file)?;
            let broken = [manifest_rules(&name, &manifest, &known), metadata_rules(&manifest)].concat();
            violations.extend(broken.into_iter().map(|rule| Violation { file: file.clone(), rule }));
            violations.extend(source_violations(&name, &dir)?);
        }
    }
    Ok(violations)
}

/// The rules that the manifest of crate `name` breaks.
fn manifest_rules(name: &str, manifest: &Table, known: &Known) -> Vec<String> {
    let Some(place) = ORDER.iter().position(|other| *other == name) else {
        return vec![format!("crate `{name}` has no place in ORDER (xtask/src/edges.rs); give it one")];
    };
    let mut broken = Vec::new();
    for (key, value) in dependencies(manifest) {
        if PURE.contains(&name) && package_name(key, value) == SYSTEM_CRATE {
            broken.push(format!("`{name}` is pure and may not depend on `{SYSTEM_CRATE}`"));
        }
        let Some(lower) = workspace_crate(key, value, known) else { continue };
        if !ORDER[..place].contains(&lower.as_str()) {
            broken.push(format!(
                "`{name}` may not depend on `{lower}`; edges point down: {}",
                ORDER.join(", ")
            ));
        }
    }
    broken
}

/// What a registry asks of a crate, and a reader of its page: what it is, and under what it may be handed on.
fn metadata_rules(manifest: &Table) -> Vec<String> {
    let package = manifest.get("package").and_then(Value::as_table);
    let text = |key: &str| package.and_then(|it| it.get(key)).and_then(Value::as_str).unwrap_or_default();
    let of_workspace = |key: &str| {
        let value = package.and_then(|it| it.get(key)).and_then(|it| it.get("workspace"));
        value.and_then(Value::as_bool) == Some(true)
    };
    let mut broken = Vec::new();
    if text("description").trim().is_empty() {
        broken.push("say in `description` what the crate is, as ARCHITECTURE.md does".to_owned());
    }
    for key in ["version", "edition", "rust-version", "license", "publish"] {
        if !of_workspace(key) {
            broken.push(format!("take `{key}` from the workspace: {key}.workspace = true"));
        }
    }
    broken
}

/// The rules that the sources of crate `name` in `dir` break.
fn source_violations(name: &str, dir: &Path) -> Result<Vec<Violation>, Violation> {
    let mut violations = Vec::new();
    let mut sources = Vec::new();
    for file in rust_files(&dir.join("src"))? {
        let code = source::without_comments(&read(&file)?);
        let is_root = file.parent() == Some(&dir.join("src"))
            && ["lib.rs", "main.rs"].iter().any(|root| file.ends_with(root));
        let module = module_of(&dir.join("src"), &file);
        let folders = file.strip_prefix(dir).unwrap_or(&file).components().count() - 1;
        let is_test = module.iter().any(|part| part == "tests");
        let outside = if is_test { Vec::new() } else { source::included_from_outside(&code, folders) };
        let outside = outside.into_iter().map(|path| {
            format!("`{path}` is not in the crate, and nobody has it who gets that alone; link it in (ln -s)")
        });
        let broken = source_rules(name, &code, is_root).into_iter().chain(outside);
        violations.extend(broken.map(|rule| Violation { file: file.clone(), rule }));
        sources.push(Source { module, code });
    }
    for circle in modules::circles(&sources) {
        let rule = format!("modules need each other in a circle; put what both need below them: {circle}");
        violations.push(Violation { file: dir.join("src"), rule });
    }
    Ok(violations)
}

/// The module of a file in `src`, from the root on; none of the root itself.
fn module_of(src: &Path, file: &Path) -> Vec<String> {
    let inside = file.strip_prefix(src).unwrap_or(file).with_extension("");
    let mut parts: Vec<String> = inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    let is_root = parts.len() == 1 && ["lib", "main"].contains(&parts[0].as_str());
    if is_root || parts.last().is_some_and(|last| last == "mod") {
        parts.pop();
    }
    parts
}

/// The rules that one source of crate `name` breaks; the root is the file that speaks for the crate.
fn source_rules(name: &str, code: &str, is_root: bool) -> Vec<String> {
    let mut broken = Vec::new();
    if is_root && NO_STD.contains(&name) && !code.contains("#![no_std]") {
        broken.push(format!("`{name}` must say #![no_std]"));
    }
    if is_root && name != MAY_BE_UNSAFE && !code.contains("#![forbid(unsafe_code)]") {
        broken.push(format!("`{name}` must say #![forbid(unsafe_code)]; only `{MAY_BE_UNSAFE}` may not"));
    }
    if name == NEUTRAL {
        let lower = code.to_lowercase();
        for word in WORDS_OF_OTHERS.iter().filter(|word| lower.contains(**word)) {
            broken.push(format!("`{name}` is neutral and may not say `{word}` in its code"));
        }
    }
    if PURE.contains(&name) {
        let used = source::std_modules(code);
        for module in SYSTEM_MODULES.iter().filter(|module| used.contains(module)) {
            broken.push(format!("`{name}` is pure and may not use std::{module}"));
        }
    }
    broken
}

/// Normal and build dependencies, those for one platform only included.
fn dependencies(manifest: &Table) -> Vec<(&String, &Value)> {
    let platforms = manifest.get("target").and_then(Value::as_table);
    let of_platforms = platforms.into_iter().flatten().filter_map(|(_, platform)| platform.as_table());
    let kinds = std::iter::once(manifest).chain(of_platforms).flat_map(|table| {
        ["dependencies", "build-dependencies"].map(|kind| table.get(kind).and_then(Value::as_table))
    });
    kinds.flatten().flatten().collect()
}

/// The folder of the crate of this workspace that a dependency is; `None` for one from elsewhere.
fn workspace_crate(key: &str, value: &Value, known: &Known) -> Option<String> {
    let by_path = value.get("path").and_then(Value::as_str).map(|path| folder_name(Path::new(path)));
    by_path.or_else(|| known.get(package_name(key, value)).cloned())
}

/// A dependency's own name, where it is used under another.
fn package_name<'a>(key: &'a str, value: &'a Value) -> &'a str {
    value.get("package").and_then(Value::as_str).unwrap_or(key)
}

fn known_crates(workspace: &Table) -> Known {
    let shared =
        workspace.get("workspace").and_then(|table| table.get("dependencies")).and_then(Value::as_table);
    let with_path = shared.into_iter().flatten().filter_map(|(key, value)| {
        let path = value.get("path")?.as_str()?;
        Some((key.clone(), folder_name(Path::new(path))))
    });
    with_path.collect()
}

fn folder_name(dir: &Path) -> String {
    dir.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn unreadable(file: &Path, error: &impl fmt::Display) -> Violation {
    Violation::new(file, format!("can't be read: {error}"))
}

pub(crate) fn read(file: &Path) -> Result<String, Violation> {
    fs::read_to_string(file).map_err(|error| unreadable(file, &error))
}

fn read_manifest(file: &Path) -> Result<Table, Violation> {
    read(file)?.parse().map_err(|error| unreadable(file, &error))
}

/// What is in `dir`, sorted.
pub(crate) fn entries(dir: &Path) -> Result<Vec<PathBuf>, Violation> {
    let listed = fs::read_dir(dir).and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
    let mut paths: Vec<PathBuf> = listed.map_err(|error| unreadable(dir, &error))?;
    paths.sort();
    Ok(paths)
}

/// The Rust sources in `dir` and below.
pub(crate) fn rust_files(dir: &Path) -> Result<Vec<PathBuf>, Violation> {
    let mut files = Vec::new();
    for path in entries(dir)? {
        if path.is_dir() {
            files.extend(rust_files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORKSPACE: &str = r#"
        [workspace.dependencies]
        units = { package = "proofload-units", path = "crates/units" }
        engine = { package = "proofload-engine", path = "crates/engine" }
        lab = { package = "proofload-lab", path = "crates/lab" }
        rustix = "1"
    "#;

    fn broken(name: &str, manifest: &str) -> Vec<String> {
        let known = known_crates(&WORKSPACE.parse().unwrap());
        manifest_rules(name, &manifest.parse().unwrap(), &known)
    }

    const PACKAGE: &str = "[package]\ndescription = \"Quantities\"\nversion.workspace = true\n\
        edition.workspace = true\nrust-version.workspace = true\nlicense.workspace = true\n\
        publish.workspace = true\n";

    #[test]
    fn a_crate_says_what_it_is_and_is_licensed_as_all_are() {
        let broken = |text: &str| metadata_rules(&text.parse().unwrap());
        assert!(broken(PACKAGE).is_empty());
        assert_eq!(broken(&PACKAGE.replace("Quantities", " ")).len(), 1);
        let told = broken(&PACKAGE.replace("license.workspace = true", "license = \"MIT\""));
        assert!(told.len() == 1 && told[0].contains("license.workspace"), "{told:?}");
    }

    #[test]
    fn an_edge_that_points_up_is_named_whichever_way_it_is_written() {
        for upward in [
            "[dependencies]\nlab.workspace = true",
            "[dependencies]\nlab = { workspace = true, features = ['x'] }",
            "[dependencies]\nanything = { package = 'proofload-lab', path = '../lab' }",
            "[build-dependencies]\nlab.workspace = true",
            "[target.'cfg(unix)'.dependencies]\nlab.workspace = true",
        ] {
            let rules = broken("engine", upward);
            assert!(
                rules.len() == 1 && rules[0].starts_with("`engine` may not depend on `lab`"),
                "{rules:?}"
            );
        }
        assert_eq!(broken("engine", "[dependencies]\nengine.workspace = true").len(), 1, "on itself");
    }

    #[test]
    fn edges_down_dev_edges_and_other_crates_are_free() {
        assert!(broken("lab", "[dependencies]\nunits.workspace = true\nengine.workspace = true").is_empty());
        assert!(broken("engine", "[dev-dependencies]\nlab.workspace = true").is_empty());
        assert!(broken("engine", "[dependencies]\nlibm = '0.2'").is_empty());
        assert!(broken("lab", "[dependencies]\nrustix.workspace = true").is_empty());
    }

    #[test]
    fn a_view_does_without_the_lab_and_the_lab_without_the_files_of_another_tool() {
        for (name, other) in [("live", "lab"), ("report", "lab"), ("explain", "lab"), ("lab", "jmeter")] {
            assert_eq!(
                broken(name, &format!("[dependencies]\nx = {{ path = '../{other}' }}")).len(),
                1,
                "{name}"
            );
        }
        assert!(broken("lab", "[dependencies]\nx = { path = '../events' }").is_empty());
        assert!(broken("live", "[dependencies]\nx = { path = '../events' }").is_empty());
    }

    #[test]
    fn a_pure_crate_has_no_system_calls_and_a_new_one_needs_a_place() {
        assert_eq!(broken("report", "[dependencies]\nrustix.workspace = true").len(), 1);
        assert_eq!(broken("report", "[dependencies]\nsys = { package = 'rustix', version = '1' }").len(), 1);
        assert_eq!(broken("novel", "").len(), 1);
    }

    #[test]
    fn sources_keep_the_promises_of_their_crate() {
        let good = "#![no_std]\n#![forbid(unsafe_code)]";
        assert!(source_rules("engine", good, true).is_empty());
        assert_eq!(source_rules("engine", "", true).len(), 2);
        assert!(source_rules("engine", "", false).is_empty());
        assert!(source_rules("driver", "", true).is_empty());
        assert_eq!(source_rules("stats", "use std::time::Instant;", false).len(), 1);
        assert!(source_rules("stats", "use core::time::Duration; use std::fmt;", false).is_empty());
        assert!(source_rules("lab", "use std::time::Instant;", false).is_empty());
        assert_eq!(source_rules("scenario", "const SCRIPT: &str = \"${__jexl3(\";", false).len(), 1);
        assert_eq!(source_rules("scenario", "fn from_JMeter() {}", false).len(), 1);
        assert!(source_rules("lab", "fn from_jmeter() {}", false).is_empty());
    }

    #[test]
    fn files_have_modules() {
        let of = |file: &str| module_of(Path::new("src"), &Path::new("src").join(file)).join("::");
        let files = ["lib.rs", "main.rs", "a.rs", "a/b.rs", "a/mod.rs", "a/lib.rs"];
        assert_eq!(files.map(of), ["", "", "a", "a::b", "a", "a::lib"]);
    }

    #[test]
    fn violations_name_their_file() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let file = root.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        write("Cargo.toml", WORKSPACE);
        let upwards = format!("{PACKAGE}[dependencies]\nlab.workspace = true");
        write("crates/stats/Cargo.toml", &upwards);
        write("crates/stats/src/lib.rs", "#![forbid(unsafe_code)]\nmod deep;");
        write("crates/stats/src/deep/mod.rs", "use std::{fmt, net::TcpStream};");
        let named: Vec<_> = check(root.path()).into_iter().map(|violation| violation.file).collect();
        assert_eq!(named, ["crates/stats/Cargo.toml", "crates/stats/src/deep/mod.rs"].map(PathBuf::from));

        write("crates/stats/src/lib.rs", "#![forbid(unsafe_code)]\nmod deep;\nmod other;\nuse deep::X;");
        write("crates/stats/src/deep/mod.rs", "use super::other::Y;");
        write("crates/stats/src/other.rs", "use crate::X;");
        let told: Vec<String> = check(root.path()).iter().map(ToString::to_string).collect();
        assert!(told[1].ends_with("`deep` uses super::other::Y, `other` uses crate::X"), "{told:?}");

        write("crates/stats/Cargo.toml", "[dependencies");
        assert!(check(root.path())[0].to_string().contains("can't be read"));
    }
}
