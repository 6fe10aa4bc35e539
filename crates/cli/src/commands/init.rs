//! `proofload init`: a first proofload.toml from what a project's files show.

use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::process::ExitCode;

use plan::{Place, PlanError, shell};
use serde::de::IgnoredAny;
use sources::project::{Draft, KNOWN_BY, Project, ProjectFile, draft, is_of_other_kind};

use crate::arguments::project::Init;
use crate::exit::Failure;
use crate::output::{print, say, write_whole};
use crate::workbench::{PROJECT_FILE, own_name};

/// Files that are looked at, folders within folders, and bytes of each: a project's own sources are well within, and nobody
/// waits for a look at more.
const FILES_MAX: usize = 2_000;
const FOLDERS_MAX: usize = 20_000;
const DEPTH_MAX: usize = 16;
const BYTES_MAX: u64 = 256 << 10;
/// What others made, or what is of others.
const LEFT_OUT: [&str; 10] = [
    "node_modules",
    "target",
    "build",
    "dist",
    "vendor",
    "venv",
    "runs",
    "obj",
    "__pycache__",
    "site-packages",
];
/// What is read; of everything else it is enough that it is there.
const READ: [&str; 16] = [
    "go",
    "rs",
    "js",
    "mjs",
    "cjs",
    "ts",
    "py",
    "java",
    "kt",
    "properties",
    "yml",
    "yaml",
    "json",
    "toml",
    "xml",
    "kts",
];
/// `www` is what Express's generator calls the program.
const READ_BY_NAME: [&str; 7] =
    ["go.mod", "Dockerfile", "Pipfile", "build.gradle", "settings.gradle", "requirements.txt", "www"];
/// What is in folders that are left out, and tells something by being there.
const MARKS: [&str; 3] = [".venv/bin/python", "venv/bin/python", ".mvn/wrapper"];

/// Runs the command.
pub fn run(arguments: &Init) -> Result<ExitCode, Failure> {
    let project = look_around(&arguments.folder)?;
    let draft = draft(&project).map_err(|error| in_what_is_there(error, &project, &arguments.folder))?;
    if arguments.print {
        print(draft.text.trim_end())?;
        return Ok(ExitCode::SUCCESS);
    }
    let file = arguments.folder.join(PROJECT_FILE);
    write(&file, &draft.text, arguments.force)?;
    print(&summary(&draft, &file, &arguments.folder))?;
    Ok(ExitCode::SUCCESS)
}

/// Why nothing was made of `project`: of a file that would say it all, and is broken or says nothing of a service, nobody wants to
/// hear that it should be there.
fn in_what_is_there(error: PlanError, project: &Project, folder: &Path) -> PlanError {
    let first = KNOWN_BY.iter().find_map(|name| project.files.iter().find(|it| it.path == **name));
    let Some(file) = first else { return error.or_in_file(folder) };
    let path = folder.join(&file.path);
    // Of a longer one only the beginning was read.
    let is_whole = (file.text.len() as u64) < BYTES_MAX;
    let is_json = path.extension().is_some_and(|it| it == "json");
    if let Err(error) = serde_json::from_str::<IgnoredAny>(&file.text)
        && is_json
        && is_whole
    {
        let said = error.to_string();
        let what = format!("is no JSON: {}", said.split(" at line ").next().unwrap_or(&said));
        let line_column = Some((error.line().max(1), error.column().max(1)));
        let help = "mend it there, then try again".into();
        return PlanError { place: Some(Place { file: path, line_column }), what, help };
    }
    // One that is whole and says nothing is of several packages, of which one is the service.
    if is_of_other_kind(project) || is_json && is_whole {
        return error.or_in_file(folder);
    }
    let help = "go to the folder of the service itself, or write a proofload.toml by hand: docs/own-service.md has an example";
    PlanError::new("nothing in it says how a service is started", help).in_file(&path)
}

/// What `folder` holds, as far as anybody looks.
fn look_around(folder: &Path) -> Result<Project, Failure> {
    let whole = folder.canonicalize().and_then(|whole| fs::read_dir(&whole).map(|_| whole));
    let whole = whole.map_err(|error| {
        let what = format!("is no folder that can be read ({error})");
        PlanError::new(what, "name the folder of your service").in_file(folder)
    })?;
    let mut files = Vec::new();
    let folders = collect(&whole, "", 0, FOLDERS_MAX, &mut files);
    for mark in MARKS.into_iter().filter(|mark| whole.join(mark).exists()) {
        files.push(ProjectFile { path: mark.into(), text: String::new() });
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    if files.len() >= FILES_MAX || folders >= FOLDERS_MAX {
        say(format_args!(
            "proofload: only {} files in {folders} folders were looked at; go to the folder of the service itself",
            files.len()
        ));
    }
    let folder = whole.file_name().map_or_else(String::new, |it| it.to_string_lossy().into_owned());
    Ok(Project { folder, files })
}

/// Adds the files in a folder, those of the folder itself before those within. What can't be read is as if it were not there.
/// Into how many folders it looked, of which there are `folders_max` at most.
fn collect(
    root: &Path,
    inside: &str,
    depth: usize,
    folders_max: usize,
    files: &mut Vec<ProjectFile>,
) -> usize {
    let Ok(entries) = fs::read_dir(root.join(inside)) else { return 0 };
    let mut looked = 1;
    let mut folders = Vec::new();
    for entry in entries.flatten() {
        if files.len() >= FILES_MAX {
            return looked;
        }
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if inside.is_empty() { name.clone() } else { format!("{inside}/{name}") };
        // A link may lead anywhere.
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => {
                let is_left_out = name.starts_with('.') || LEFT_OUT.contains(&name.as_str());
                folders.extend((!is_left_out).then_some(path));
            }
            Ok(kind) if kind.is_file() => {
                let text = if is_read(&path) { beginning(&root.join(&path)) } else { String::new() };
                files.push(ProjectFile { path, text });
            }
            _ => {}
        }
    }
    folders.sort();
    if depth < DEPTH_MAX {
        for folder in folders {
            if files.len() >= FILES_MAX || looked >= folders_max {
                break;
            }
            looked += collect(root, &folder, depth + 1, folders_max - looked, files);
        }
    }
    looked
}

fn is_read(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = Path::new(name).extension().and_then(|it| it.to_str()).unwrap_or_default();
    // Python's lists of packages take others in: requirements-base.txt, requirements/base.txt.
    let is_list = ending == "txt" && path.contains("requirements");
    READ.contains(&ending) || READ_BY_NAME.contains(&name) || is_list
}

/// As much of a file as is looked at.
fn beginning(path: &Path) -> String {
    let mut bytes = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(BYTES_MAX).read_to_end(&mut bytes));
    read.map_or_else(|_| String::new(), |_| text_of(&bytes))
}

/// The text of a file, by the mark that it may begin with: what a shell of Windows writes is UTF-16, and what an editor of it writes
/// has the mark of UTF-8, which is no part of the text.
fn text_of(bytes: &[u8]) -> String {
    let of_units = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes.chunks_exact(2).map(|it| unit([it[0], it[1]])).collect();
        String::from_utf16_lossy(&units)
    };
    match bytes {
        [0xff, 0xfe, text @ ..] => of_units(text, u16::from_le_bytes),
        [0xfe, 0xff, text @ ..] => of_units(text, u16::from_be_bytes),
        _ => String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)).into_owned(),
    }
}

/// Writes the file; never over one that is there, unless that was asked for.
fn write(file: &Path, text: &str, force: bool) -> Result<(), Failure> {
    if force {
        return write_whole(file, text.as_bytes());
    }
    let created = OpenOptions::new().write(true).create_new(true).open(file);
    created.and_then(|mut it| it.write_all(text.as_bytes())).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => Failure::usage(format!(
            "{} is there already; look at it, or write over it with --force",
            file.display()
        )),
        _ => Failure::system(format!("{} can't be written ({error}); check the folder", file.display())),
    })
}

fn summary(draft: &Draft, file: &Path, folder: &Path) -> String {
    let mut lines = draft.seen.clone();
    lines.extend(draft.unsure.iter().map(|it| format!("CHECK     {it}")));
    let is_here = folder == Path::new(".");
    let go_there = if is_here { String::new() } else { format!("cd {}; ", shell::quoted_path(folder)) };
    let (file, own) = (file.display(), own_name());
    lines.push(format!("\nWritten: {file}. Look at it, then: {go_there}{own} run --quick"));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_packages_are_read_and_other_texts_are_not() {
        for path in ["requirements.txt", "requirements/base.txt", "api/requirements-dev.txt", "a/b.rs"] {
            assert!(is_read(path), "{path}");
        }
        for path in ["notes.txt", "requirements/base.in", "a/requirements"] {
            assert!(!is_read(path), "{path}");
        }
    }

    /// `pip freeze >requirements.txt` in PowerShell, and a package.json of an editor's.
    #[test]
    fn a_text_is_read_by_the_mark_that_it_begins_with() {
        let utf_16 = |unit: fn(u16) -> [u8; 2]| -> Vec<u8> {
            "\u{feff}flask é\r\n".encode_utf16().flat_map(unit).collect()
        };
        assert_eq!(text_of(&utf_16(u16::to_le_bytes)), "flask é\r\n");
        assert_eq!(text_of(&utf_16(u16::to_be_bytes)), "flask é\r\n");
        assert_eq!(text_of(b"\xef\xbb\xbf{}"), "{}");
        assert_eq!(text_of("é".as_bytes()), "é");
        // Of what is cut within a letter, and of other encodings, as much as there is.
        assert_eq!(text_of(b"\xff\xfea\0b"), "a");
        assert_eq!(text_of(b"a\xe9"), "a\u{fffd}");
        assert_eq!(text_of(b""), "");
    }

    #[test]
    fn nothing_is_looked_into_beyond_the_last_file_or_folder() {
        let root = tempfile::tempdir().unwrap();
        for folder in ["a", "b", "c"] {
            fs::create_dir(root.path().join(folder)).unwrap();
        }
        assert_eq!(
            collect(root.path(), "", 0, FOLDERS_MAX, &mut Vec::new()),
            4,
            "itself and the three in it"
        );
        assert_eq!(collect(root.path(), "", 0, 3, &mut Vec::new()), 3);
        for number in 0..FILES_MAX {
            fs::write(root.path().join("a").join(number.to_string()), "").unwrap();
        }
        let mut files = Vec::new();
        assert_eq!(collect(root.path(), "", 0, FOLDERS_MAX, &mut files), 2, "itself and the first in it");
        assert_eq!(files.len(), FILES_MAX);
    }
}
