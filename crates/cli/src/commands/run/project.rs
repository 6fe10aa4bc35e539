//! Whether a run of a project's services is gone on with where they are.

use std::path::{Path, PathBuf};

use plan::stack::StackManifest;
use plan::{PlanError, shell, toml_file};
use record::Manifest;

use crate::workbench::{Written, own_name};

/// Refuses to go on with the run in `dir`, begun with `manifest`, where the services that it brings along are not of this
/// folder: their builds and commands would be looked for where they are not. Of a run that was renamed that is not known.
pub fn is_here(dir: &Path, manifest: &Manifest, written: &Written) -> Result<(), PlanError> {
    let services = StackManifest::services(&written.file, &written.text, &written.folder)?;
    let started = started(&services);
    // What is whole and is not built can be looked at anywhere.
    let is_needed = manifest.complete != Some(true) || services.iter().any(|it| it.build.is_some());
    let Ok(dir) = dir.canonicalize() else { return Ok(()) };
    let Some(stem) = stem_of(&dir).filter(|_| is_needed && !started.is_empty()) else { return Ok(()) };
    if has(&written.folder, &stem, &started) {
        return Ok(());
    }
    let names = started.join("`, `");
    let what = format!("its services (`{names}`) are those of a project, and this is not its folder");
    let help = match dir.ancestors().skip(1).find(|folder| has(folder, &stem, &started)) {
        Some(folder) => format!(
            "go on there: cd {} && {} run --resume {}",
            shell::quoted_path(folder),
            own_name(),
            shell::quoted_path(&dir)
        ),
        None => format!("go on in the folder in which its {stem}.toml lies"),
    };
    Err(PlanError::new(what, help).in_file(&dir))
}

/// Whether an experiment brings services along that are of another folder than this one, in which it is gone on with then.
pub fn is_elsewhere(written: &Written) -> bool {
    let services = StackManifest::services(&written.file, &written.text, &written.folder);
    let has_services = services.is_ok_and(|all| !started(&all).is_empty());
    has_services && written.folder.canonicalize().ok() != Path::new(".").canonicalize().ok()
}

/// A path from this folder, as it is typed in `folder`.
pub fn seen_from(folder: &Path, path: &Path) -> PathBuf {
    let absolute = || std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    path.strip_prefix(folder).map_or_else(|_| absolute(), Path::to_owned)
}

/// Those that a run starts itself, and so in the folder that their paths are relative to.
fn started(services: &[StackManifest]) -> Vec<&str> {
    let is_started = |it: &&StackManifest| it.site().is_none() && it.variant.is_none();
    services.iter().filter(is_started).map(|it| it.id.as_str()).collect()
}

/// The name of the file that a run was begun with, without its ending, from that of its directory: a date and a time follow it.
fn stem_of(dir: &Path) -> Option<String> {
    let parts: Vec<&str> = dir.file_name()?.to_str()?.split('-').collect();
    let has = |part: &str, digits| part.len() == digits && part.bytes().all(|it| it.is_ascii_digit());
    let at = parts.windows(2).rposition(|pair| has(pair[0], 8) && has(pair[1], 6))?;
    Some(parts[..at].join("-"))
}

/// Whether a file of this name in `folder` has these services. One with a mistake may have them.
fn has(folder: &Path, stem: &str, services: &[&str]) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files = entries.filter(|path| path.file_stem().is_some_and(|it| it == stem) && path.is_file());
    files.any(|file| {
        let Ok(text) = toml_file::read(&file) else { return false };
        match StackManifest::services(&file, &text, folder) {
            Ok(here) => services.iter().all(|id| here.iter().any(|it| it.id == *id)),
            Err(_) => true,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_named_after_its_file() {
        let stem = |name: &str| stem_of(&Path::new("/home/me/runs").join(name));
        assert_eq!(stem("proofload-20260101-120000").as_deref(), Some("proofload"));
        assert_eq!(stem("two-words-20260101-120000-2").as_deref(), Some("two-words"));
        assert_eq!(stem("renamed"), None);
    }

    #[test]
    fn a_path_is_typed_as_it_is_from_the_other_folder() {
        let seen = |folder: &str, path: &str| seen_from(Path::new(folder), Path::new(path));
        assert_eq!(seen("sub", "sub/runs/a"), Path::new("runs/a"));
        assert_eq!(seen("..", "../runs/a"), Path::new("runs/a"));
        assert_eq!(seen("sub", "/runs/a"), Path::new("/runs/a"));
        assert_eq!(seen("sub", "runs/a"), std::env::current_dir().unwrap().join("runs/a"));
    }
}
