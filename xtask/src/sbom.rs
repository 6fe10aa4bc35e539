//! What the binary is made of, as a CycloneDX document: every crate that is linked into it, with its version, licence,
//! checksum and what it needs.
//!
//! The same sources make the same bytes: there is no time of day in it, and everything is in order.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use toml::Table;

/// The version of the format.
const SPEC: &str = "1.5";
/// The package whose binary is handed to others.
const BINARY: &str = "proofload";

/// The document of the workspace at `root`, for a target.
pub(crate) fn sbom(root: &Path, triple: &str) -> Result<String, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = ["metadata", "--format-version", "1", "--locked", "--filter-platform", triple];
    let output = Command::new(cargo).args(arguments).current_dir(root).output();
    let output = output.map_err(|error| format!("cargo can't be run ({error})"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let metadata: Value =
        serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))?;
    let lock = root.join("Cargo.lock");
    let lock = std::fs::read_to_string(&lock).map_err(|error| format!("{}: {error}", lock.display()))?;
    let lock: Table = lock.parse().map_err(|error| format!("Cargo.lock: {error}"))?;
    let document = document(&metadata, &checksums(&lock))?;
    serde_json::to_string_pretty(&document).map_err(|error| error.to_string())
}

/// Checksums of crates that come from a registry, by name and version.
type Checksums = BTreeMap<(String, String), String>;

fn checksums(lock: &Table) -> Checksums {
    let packages = lock.get("package").and_then(toml::Value::as_array).into_iter().flatten();
    let of = |package: &toml::Value| {
        let text = |key: &str| package.get(key).and_then(toml::Value::as_str).map(str::to_owned);
        Some(((text("name")?, text("version")?), text("checksum")?))
    };
    packages.filter_map(of).collect()
}

fn document(metadata: &Value, checksums: &Checksums) -> Result<Value, String> {
    let packages: BTreeMap<&str, &Value> =
        entries(&metadata["packages"]).filter_map(|it| Some((it["id"].as_str()?, it))).collect();
    let needs: BTreeMap<&str, Vec<&str>> = entries(&metadata["resolve"]["nodes"])
        .filter_map(|it| Some((it["id"].as_str()?, linked(it))))
        .collect();
    let is_binary = |package: &&&Value| package["name"] == BINARY;
    let binary = packages.values().find(is_binary).ok_or("the workspace has no such binary")?;
    let binary_id = binary["id"].as_str().ok_or("a package has no id")?;
    let reached = reached(binary_id, &needs);
    let reference = |id: &&str| packages.get(*id).map(|package| purl(package));
    let components: BTreeMap<String, Value> = reached
        .iter()
        .filter(|id| **id != binary_id)
        .filter_map(|id| packages.get(id))
        .map(|package| (purl(package), component(package, checksums)))
        .collect();
    let dependencies: BTreeMap<String, BTreeSet<String>> = reached
        .iter()
        .filter_map(|id| {
            let of = needs.get(id).into_iter().flatten().filter_map(reference).collect();
            Some((reference(id)?, of))
        })
        .collect();
    let dependencies: Vec<Value> =
        dependencies.into_iter().map(|(of, on)| json!({ "ref": of, "dependsOn": on })).collect();
    let mut itself = component(binary, checksums);
    itself["type"] = "application".into();
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": SPEC,
        "version": 1,
        "metadata": { "component": itself },
        "components": components.into_values().collect::<Vec<Value>>(),
        "dependencies": dependencies,
    }))
}

fn entries(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

/// The packages that a package has linked: what builds or tests it is in no binary.
fn linked(node: &Value) -> Vec<&str> {
    let is_linked = |need: &&Value| entries(&need["dep_kinds"]).any(|kind| kind["kind"].is_null());
    entries(&node["deps"]).filter(is_linked).filter_map(|need| need["pkg"].as_str()).collect()
}

/// A package and all that it has linked, directly or not.
fn reached<'a>(from: &'a str, needs: &BTreeMap<&'a str, Vec<&'a str>>) -> BTreeSet<&'a str> {
    let (mut reached, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(id) = open.pop() {
        if reached.insert(id) {
            open.extend(needs.get(id).into_iter().flatten());
        }
    }
    reached
}

fn purl(package: &Value) -> String {
    let text = |key: &str| package[key].as_str().unwrap_or_default();
    format!("pkg:cargo/{}@{}", text("name"), text("version"))
}

fn component(package: &Value, checksums: &Checksums) -> Value {
    let text = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
    let mut component = json!({
        "type": "library",
        "bom-ref": purl(package),
        "name": text("name"),
        "version": text("version"),
        "purl": purl(package),
    });
    if let Some(licence) = package["license"].as_str() {
        // As it was written before there were expressions.
        component["licenses"] = json!([{ "expression": licence.replace('/', " OR ") }]);
    }
    if let Some(checksum) = checksums.get(&(text("name"), text("version"))) {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
    }
    if let Some(repository) = package["repository"].as_str() {
        component["externalReferences"] = json!([{ "type": "vcs", "url": repository }]);
    }
    component
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> Value {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("it is in the workspace");
        let text = sbom(root, "x86_64-unknown-linux-gnu").unwrap_or_else(|error| panic!("{error}"));
        serde_json::from_str(&text).expect("it is JSON")
    }

    #[test]
    fn what_is_linked_is_in_it_and_what_only_builds_is_not() {
        let document = own();
        let names: BTreeSet<&str> =
            entries(&document["components"]).filter_map(|it| it["name"].as_str()).collect();
        for linked in ["proofload-engine", "clap", "rustls", "mlua", "serde_json"] {
            assert!(names.contains(linked), "{linked} is not in {names:?}");
        }
        for other in ["proofload", "proptest", "insta", "xtask", "cc"] {
            assert!(!names.contains(other), "{other} is in {names:?}");
        }
        assert_eq!(document["metadata"]["component"]["name"], "proofload");
    }

    /// A crate from a registry can be told from another one of its name, and every one says under what it may be handed on.
    #[test]
    fn every_component_has_a_licence_and_every_strange_one_a_checksum() {
        let document = own();
        for component in entries(&document["components"]) {
            assert!(component["licenses"][0]["expression"].is_string(), "{component}");
            let is_ours = component["name"].as_str().is_some_and(|it| it.starts_with("proofload-"));
            assert_eq!(component["hashes"][0]["content"].is_string(), !is_ours, "{component}");
        }
    }

    #[test]
    fn whatever_is_needed_is_in_it() {
        let document = own();
        let known: BTreeSet<&str> = entries(&document["components"])
            .chain([&document["metadata"]["component"]])
            .filter_map(|it| it["bom-ref"].as_str())
            .collect();
        for dependency in entries(&document["dependencies"]) {
            let of = dependency["ref"].as_str().into_iter();
            for reference in of.chain(entries(&dependency["dependsOn"]).filter_map(Value::as_str)) {
                assert!(known.contains(reference), "{reference}");
            }
        }
        assert_eq!(entries(&document["dependencies"]).count(), known.len());
    }
}
