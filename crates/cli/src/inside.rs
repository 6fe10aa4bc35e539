//! Our own stacks, experiments, scenarios and write-ups, which the binary has inside: where there is no checkout they are
//! unpacked into the user's cache, once for each state of them.

use std::path::{Path, PathBuf};

use crate::exit::Failure;
use crate::output::say;

include!(concat!(env!("OUT_DIR"), "/inside.rs"));

/// Where `named` is: there; or, if nothing is there and it is one of ours, in the user's cache. Whoever builds stacks there
/// finds them built the next time.
pub fn path(named: &Path) -> Result<PathBuf, Failure> {
    let is_ours = || FILES.iter().any(|(file, _)| Path::new(file).starts_with(named));
    if named.as_os_str().is_empty() || named.exists() || !is_ours() {
        return Ok(named.to_owned());
    }
    Ok(unpacked()?.join(named))
}

/// The folder that they are unpacked in.
fn unpacked() -> Result<PathBuf, Failure> {
    let cache = cache()?;
    let folder = cache.join(format!("catalogue-{}-{STAMP}", env!("CARGO_PKG_VERSION")));
    let refused = |error: std::io::Error| {
        Failure::system(format!(
            "cannot unpack its own stacks into {} ({error}); make room there, or set XDG_CACHE_HOME",
            cache.display()
        ))
    };
    if folder.is_dir() {
        // Whoever tidies up caches goes by age, and so file by file.
        for (file, bytes) in FILES.iter().filter(|(file, _)| !folder.join(file).is_file()) {
            put(&cache, &folder.join(file), bytes).map_err(refused)?;
        }
        return Ok(folder);
    }
    std::fs::create_dir_all(&cache).map_err(refused)?;
    // Whole or not at all, and nobody else finds half of it.
    let partial = tempfile::Builder::new().prefix("unpacking-").tempdir_in(&cache).map_err(refused)?;
    for (file, bytes) in FILES {
        let file = partial.path().join(file);
        let written = std::fs::create_dir_all(file.parent().unwrap_or(partial.path()));
        written.and_then(|()| std::fs::write(&file, bytes)).map_err(refused)?;
    }
    match std::fs::rename(partial.path(), &folder) {
        // Another one was faster.
        Err(_) if folder.is_dir() => {}
        renamed => {
            renamed.map_err(refused)?;
            say(format_args!("proofload: its own stacks are unpacked to {}", folder.display()));
        }
    }
    Ok(folder)
}

/// Writes a file whole or not at all, by way of the folder `beside`.
fn put(beside: &Path, file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    std::fs::create_dir_all(file.parent().unwrap_or(beside))?;
    let partial = tempfile::Builder::new().prefix("unpacking-").tempdir_in(beside)?;
    let whole = partial.path().join("file");
    std::fs::write(&whole, bytes)?;
    std::fs::rename(whole, file)
}

/// The user's cache, as other programs find it.
fn cache() -> Result<PathBuf, Failure> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|it| it.is_absolute());
    let cache = variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|home| home.join(".cache")));
    let cache = cache.ok_or_else(|| {
        Failure::system(
            "its own stacks are unpacked into a cache, and there is none; set XDG_CACHE_HOME or HOME",
        )
    })?;
    Ok(cache.join("proofload"))
}
