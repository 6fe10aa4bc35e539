//! `proofload init`: a first proofload.toml from what a project's files show.

use std::cell::Cell;
use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::process::ExitCode;

use plan::{Place, PlanError, shell};
use serde::de::IgnoredAny;
use sources::project::{
    Around, Draft, KNOWN_BY, OF_WORKSPACES, Project, ProjectFile, draft, is_of_other_kind, is_workspace_of,
};

use crate::arguments::project::Init;
use crate::exit::Failure;
use crate::output::{print, say, write_whole};
use crate::text::text_of;
use crate::workbench::{PROJECT_FILE, own_name};

/// Files that are looked at, folders within folders, and bytes of each: a project's own sources are well within, and nobody
/// waits for a look at more.
const FILES_MAX: usize = 2_000;
const FOLDERS_MAX: usize = 20_000;
const DEPTH_MAX: usize = 16;
const BYTES_MAX: u64 = 256 << 10;
/// Folders above that may be that of a workspace, its files, and what is read of all of its manifests.
const FOLDERS_ABOVE_MAX: usize = 8;
const FILES_AROUND_MAX: usize = 20_000;
const BYTES_AROUND_MAX: u64 = 64 << 20;
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
    let look = Look::of_project(&whole);
    let folders = look.collect("", 0, FOLDERS_MAX, &mut files);
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
    let own = Project { folder: name_of(&whole), files, around: None };
    Ok(Project { around: around(&whole, &own), ..own })
}

fn name_of(folder: &Path) -> String {
    folder.file_name().map_or_else(String::new, |it| it.to_string_lossy().into_owned())
}

/// The workspace that the folder of `project` lies in: the nearest above it, within its repository.
fn around(whole: &Path, project: &Project) -> Option<Box<Around>> {
    let is_in_repository = |it: &&Path| !it.join(".git").exists();
    let above = whole.ancestors().take(FOLDERS_ABOVE_MAX).take_while(is_in_repository).count();
    let is_one = |it: &&Path| {
        let there = OF_WORKSPACES.into_iter().filter(|name| it.join(name).is_file());
        let file = |name: &str| ProjectFile { path: name.into(), text: beginning(&it.join(name), BYTES_MAX) };
        let top = Project { files: there.map(file).collect(), ..Project::default() };
        is_workspace_of(&top, &way_to(whole, it), project)
    };
    let root = whole.ancestors().skip(1).take(above).find(is_one)?;
    let member = way_to(whole, root);
    let way: Vec<&str> = member.split('/').map(|_| "..").collect();
    let look = Look::of_workspace(root);
    let mut files = Vec::new();
    look.collect("", 0, FOLDERS_MAX, &mut files);
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Some(Box::new(Around {
        way: way.join("/"),
        member,
        whole: Project { folder: name_of(root), files, around: None },
    }))
}

/// The way to `folder` from one around it.
fn way_to(folder: &Path, around: &Path) -> String {
    folder.strip_prefix(around).unwrap_or(folder).to_string_lossy().into_owned()
}

/// A look at what lies in a folder.
struct Look<'a> {
    root: &'a Path,
    files_max: usize,
    /// Of which files it is known what is in them.
    is_read: fn(&str) -> bool,
    /// How much more is read.
    bytes_left: Cell<u64>,
}

impl<'a> Look<'a> {
    fn of_project(root: &'a Path) -> Self {
        let bytes_left = Cell::new(FILES_MAX as u64 * BYTES_MAX);
        Self { root, files_max: FILES_MAX, is_read, bytes_left }
    }

    /// Of what lies around a project, what is in manifests is all that is to be known.
    fn of_workspace(root: &'a Path) -> Self {
        let is_read = |path: &str| path.rsplit('/').next().is_some_and(|name| OF_WORKSPACES.contains(&name));
        Self { root, files_max: FILES_AROUND_MAX, is_read, bytes_left: Cell::new(BYTES_AROUND_MAX) }
    }

    /// Adds the files in a folder, those of the folder itself before those within. What can't be read is as if it were not there.
    /// Into how many folders it looked, of which there are `folders_max` at most.
    fn collect(&self, inside: &str, depth: usize, folders_max: usize, files: &mut Vec<ProjectFile>) -> usize {
        let Ok(entries) = fs::read_dir(self.root.join(inside)) else { return 0 };
        let mut looked = 1;
        let mut folders = Vec::new();
        for entry in entries.flatten() {
            if files.len() >= self.files_max {
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
                    let text = if (self.is_read)(&path) { self.text(&path) } else { String::new() };
                    files.push(ProjectFile { path, text });
                }
                _ => {}
            }
        }
        folders.sort();
        if depth < DEPTH_MAX {
            for folder in folders {
                if files.len() >= self.files_max || looked >= folders_max {
                    break;
                }
                looked += self.collect(&folder, depth + 1, folders_max - looked, files);
            }
        }
        looked
    }

    /// What is in a file, as far as it is read.
    fn text(&self, path: &str) -> String {
        let left = self.bytes_left.get();
        let text = beginning(&self.root.join(path), BYTES_MAX.min(left));
        self.bytes_left.set(left.saturating_sub(text.len() as u64));
        text
    }
}

fn is_read(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = Path::new(name).extension().and_then(|it| it.to_str()).unwrap_or_default();
    // Python's lists of packages take others in: requirements-base.txt, requirements/base.txt.
    let is_list = ending == "txt" && path.contains("requirements");
    READ.contains(&ending) || READ_BY_NAME.contains(&name) || is_list
}

/// As much of a file as is looked at.
fn beginning(path: &Path, bytes_max: u64) -> String {
    let mut bytes = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(bytes_max).read_to_end(&mut bytes));
    read.map_or_else(|_| String::new(), |_| text_of(&bytes))
}

/// Writes the file; never over one that is there, unless that was asked for.
fn write(file: &Path, text: &str, force: bool) -> Result<(), Failure> {
    if force {
        return write_whole(file, text.as_bytes());
    }
    let created = OpenOptions::new().write(true).create_new(true).open(file);
    created.and_then(|mut it| it.write_all(text.as_bytes())).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => Failure::usage(format!(
            "{} is there already; check it, or overwrite it with --force",
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

    #[test]
    fn nothing_is_looked_into_beyond_the_last_file_or_folder() {
        let root = tempfile::tempdir().unwrap();
        for folder in ["a", "b", "c"] {
            fs::create_dir(root.path().join(folder)).unwrap();
        }
        let look = Look::of_project(root.path());
        assert_eq!(look.collect("", 0, FOLDERS_MAX, &mut Vec::new()), 4, "itself and the three in it");
        assert_eq!(look.collect("", 0, 3, &mut Vec::new()), 3);
        for number in 0..FILES_MAX {
            fs::write(root.path().join("a").join(number.to_string()), "").unwrap();
        }
        let mut files = Vec::new();
        assert_eq!(look.collect("", 0, FOLDERS_MAX, &mut files), 2, "itself and the first in it");
        assert_eq!(files.len(), FILES_MAX);
    }

    /// Nobody's memory is filled by a folder of manifests.
    #[test]
    fn no_more_is_read_around_a_project_than_there_is_room_for() {
        let root = tempfile::tempdir().unwrap();
        for folder in ["a", "b", "c"] {
            fs::create_dir(root.path().join(folder)).unwrap();
            fs::write(root.path().join(folder).join("package.json"), "{  }").unwrap();
        }
        let look = Look { bytes_left: Cell::new(6), ..Look::of_workspace(root.path()) };
        let mut files = Vec::new();
        look.collect("", 0, FOLDERS_MAX, &mut files);
        let texts: Vec<&str> = files.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(texts, ["{  }", "{ ", ""]);
    }

    /// What lies above the repository is somebody else's.
    #[test]
    fn the_nearest_workspace_above_is_known_within_the_repository() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        fs::create_dir_all(at("shop/apps/api/src")).unwrap();
        fs::write(at("package.json"), r#"{"workspaces": ["shop/**"]}"#).unwrap();
        fs::write(at("shop/apps/api/package.json"), "{}").unwrap();
        let of = |manifest: &str| {
            let file = ProjectFile { path: manifest.into(), text: "{}".into() };
            let project = Project { files: vec![file], ..Project::default() };
            around(&at("shop/apps/api"), &project)
        };
        let seen = || of("package.json").map(|it| (it.way, it.member));
        assert_eq!(seen(), Some(("../../..".to_owned(), "shop/apps/api".to_owned())));
        fs::write(at("shop/pnpm-workspace.yaml"), "packages: [apps/*]").unwrap();
        fs::write(at("shop/pnpm-lock.yaml"), "locked").unwrap();
        assert_eq!(seen(), Some(("../..".to_owned(), "apps/api".to_owned())));
        // Of what is no manifest it is enough that it is there.
        let there = of("package.json").unwrap();
        let files = there.whole.files.iter().map(|it| (it.path.as_str(), it.text.as_str()));
        let due = [
            ("apps/api/package.json", "{}"),
            ("pnpm-lock.yaml", ""),
            ("pnpm-workspace.yaml", "packages: [apps/*]"),
        ];
        assert_eq!(files.collect::<Vec<_>>(), due);
        // What names other folders, and what is of another language, is around nothing of it.
        fs::write(at("shop/apps/package.json"), r#"{"workspaces": ["web"]}"#).unwrap();
        fs::write(at("shop/apps/Cargo.toml"), "[workspace]\n").unwrap();
        assert_eq!(seen(), Some(("../..".to_owned(), "apps/api".to_owned())));
        assert_eq!(of("Cargo.toml").map(|it| it.way), Some("..".to_owned()));
        assert!(of("go.mod").is_none());
        fs::create_dir(at("shop/.git")).unwrap();
        assert_eq!(seen(), Some(("../..".to_owned(), "apps/api".to_owned())));
        fs::create_dir(at("shop/apps/.git")).unwrap();
        assert_eq!(seen(), None);
    }
}
