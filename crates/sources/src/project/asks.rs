//! What a service can be asked: by its OpenAPI document, else by the routes that its sources name.

use std::collections::BTreeMap;

use serde_json::Value;

use super::routes::{self, Path};
use super::{Project, Service, controllers, spring};
use crate::openapi::wants_key;

const DOCUMENTS: [&str; 6] =
    ["openapi.json", "openapi.yaml", "openapi.yml", "swagger.json", "swagger.yaml", "swagger.yml"];
/// The status of a good answer where nothing says otherwise.
const STATUS: u16 = 200;
/// Names of paths by which a service tells that it is up.
const HEALTH: [&str; 6] = ["health", "healthz", "ready", "readyz", "livez", "ping"];
/// Paths to ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Asks {
    /// What is loaded.
    pub(super) path: String,
    /// The status of a good answer to that.
    pub(super) status: u16,
    /// What tells that it is up.
    pub(super) ready: String,
    /// The status of a good answer to that.
    pub(super) ready_status: u16,
    /// What it was told by; `None` where nothing tells, and it is a guess.
    pub(super) told_by: Option<String>,
    /// Whether it may be beneath something that the sources don't show.
    pub(super) is_whole: bool,
    /// Whether it wants a key.
    pub(super) is_guarded: bool,
}

/// What an OpenAPI document names.
#[derive(Default)]
struct Documented {
    paths: Vec<Path>,
    /// Statuses of good answers, where they are not the usual one.
    statuses: BTreeMap<String, u16>,
    /// Whether all that is worth a load wants a key.
    is_guarded: bool,
}

/// What `service` of `project` can be asked with a GET and without parameters.
pub(super) fn of(project: &Project, service: &Service) -> Asks {
    let documents = project.files.iter().filter(|it| {
        let name = it.path.rsplit('/').next().unwrap_or_default();
        DOCUMENTS.contains(&name)
    });
    let documented =
        documents.map(|it| (it.path.clone(), documented(&it.text))).find(|(_, it)| !it.paths.is_empty());
    let of_sources = || {
        let paths = routes(project, service);
        ("the sources".to_owned(), Documented { paths, ..Documented::default() })
    };
    let (told_by, Documented { paths, statuses, is_guarded }) = documented.unwrap_or_else(of_sources);
    let health = paths.iter().find(|it| is_health(&it.text));
    let root = paths.iter().find(|it| it.text == "/");
    let other = |is_whole: bool| paths.iter().find(move |it| it.is_whole == is_whole && !is_health(&it.text));
    let asked = root.or_else(|| other(true)).or_else(|| other(false)).or(health);
    let path = asked.map_or_else(|| "/".into(), |it| it.text.clone());
    let ready = health.filter(|it| it.is_whole).map_or_else(|| path.clone(), |it| it.text.clone());
    let status = |path: &str| statuses.get(path).copied().unwrap_or(STATUS);
    Asks {
        status: status(&path),
        ready_status: status(&ready),
        ready,
        told_by: asked.map(|_| told_by),
        is_whole: asked.is_none_or(|it| it.is_whole),
        is_guarded,
        path,
    }
}

fn is_health(path: &str) -> bool {
    path.split('/').any(|part| HEALTH.contains(&part))
}

fn is_plain(path: &str) -> bool {
    path.bytes().all(|byte| byte.is_ascii_graphic())
        && !path.contains([':', '{', '<', '*', '$', '(', '?', '"'])
}

/// Paths of an OpenAPI document's GET operations: those that answer anybody, where some do.
fn documented(text: &str) -> Documented {
    let Ok(document) = serde_saphyr::from_str::<Value>(text) else {
        return Documented::default();
    };
    let base = base(&document);
    // With words to be filled in nobody knows where they are.
    let (base, is_whole) = if is_plain(base) { (base, true) } else { ("", false) };
    let paths = document.get("paths").and_then(Value::as_object).into_iter().flatten();
    let paths = paths.filter(|(path, item)| {
        let is_path = path.starts_with('/') && is_plain(path);
        is_path && item.get("get").is_some() && !asks_for_more(&document, item)
    });
    let (guarded, open): (Vec<_>, Vec<_>) = paths.partition(|(_, item)| wants_key(&document, &item["get"]));
    let is_guarded = open.iter().all(|(path, _)| is_health(path)) && !guarded.is_empty();
    let taken = if is_guarded { [open, guarded].concat() } else { open };
    let whole = |path: &str| routes::joined(base, path);
    let own_status = |item: &Value| status(item).filter(|it| *it != STATUS);
    let statuses = taken.iter().filter_map(|(path, item)| Some((whole(path), own_status(item)?)));
    Documented {
        statuses: statuses.collect(),
        paths: taken.iter().map(|(path, _)| Path { text: whole(path), is_whole }).collect(),
        is_guarded,
    }
}

/// The status of a good answer to a GET, as a document has it: the lowest, and one that leads elsewhere only where there is no
/// other. `None` where it names none by its number.
fn status(item: &Value) -> Option<u16> {
    let named = item.pointer("/get/responses").and_then(Value::as_object)?;
    if named.keys().any(|it| it.eq_ignore_ascii_case("2XX")) {
        return None;
    }
    let statuses = named.keys().filter_map(|it| it.parse::<u16>().ok());
    statuses.filter(|it| (200..400).contains(it)).min()
}

/// What the paths of a document are beneath: of OpenAPI 2, and of 3.
fn base(document: &Value) -> &str {
    let server = document.pointer("/servers/0/url").and_then(Value::as_str).unwrap_or_default();
    let of_server = server
        .split_once("://")
        .map_or(server, |(_, behind)| behind.find('/').map_or("", |at| &behind[at..]));
    let base = document.get("basePath").and_then(Value::as_str).unwrap_or(of_server);
    if base.starts_with('/') { base } else { "" }
}

/// Whether a GET without parameters would be refused.
fn asks_for_more(document: &Value, item: &Value) -> bool {
    let of = |pointer: &str| item.pointer(pointer).and_then(Value::as_array).into_iter().flatten();
    let named = |it: &Value| document.pointer(it.get("$ref")?.as_str()?.strip_prefix('#')?);
    let is_required =
        |it: &Value| named(it).unwrap_or(it).get("required").and_then(Value::as_bool) == Some(true);
    of("/parameters").chain(of("/get/parameters")).any(is_required)
}

/// Those of the sources in the service's own language: a page beside it asks by the same names.
fn routes(project: &Project, service: &Service) -> Vec<Path> {
    let of_spring = if service.sources.contains(&".java") { spring::of(project) } else { Vec::new() };
    let of_controllers = || Some(controllers::of(project, service.sources)).filter(|it| !it.is_empty());
    let known = Some(of_spring).filter(|it| !it.is_empty()).or_else(of_controllers);
    let paths = known.unwrap_or_else(|| routes::of(project, service.sources));
    paths.into_iter().filter(|it| it.text.starts_with('/') && is_plain(&it.text)).collect()
}
