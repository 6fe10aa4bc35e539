//! The workspace of npm, pnpm, Yarn or Bun that a package is a member of: its packages are installed there, and those beside it
//! that it takes are built before it.

use serde_json::Value;

use super::{Around, Project, ProjectFile};

/// Where a package says what it is.
pub(super) const PACKAGE: &str = "package.json";
/// Where pnpm has the folders of a workspace.
pub(super) const OF_PNPM: &str = "pnpm-workspace.yaml";
/// Where a package names what it takes, of which nothing is left out in a build.
const TAKEN: [&str; 2] = ["dependencies", "devDependencies"];
/// Packages of a workspace that are looked at, and what names their folders.
const MEMBERS_MAX: usize = 1_000;
const NAMED_MAX: usize = 1_000;
/// As many folders as there are.
const ANY: &str = "**";

/// A workspace, as a member of it sees it.
pub(super) struct Workspace<'a> {
    pub(super) around: &'a Around,
    /// What is in its own package.json.
    pub(super) package: Value,
    /// The packages beside it that it takes, each behind those that it takes itself.
    pub(super) beside: Vec<Member>,
}

/// A package in a folder of a workspace.
pub(super) struct Member {
    /// From the workspace's folder on.
    pub(super) folder: String,
    pub(super) package: Value,
}

impl Member {
    /// Whether it has to be built before others can take it.
    pub(super) fn is_built(&self) -> bool {
        script(&self.package, "build").is_some()
    }
}

impl<'a> Workspace<'a> {
    /// The one that `project`, whose package.json is `package`, is a member of by what that one says.
    pub(super) fn of(project: &'a Project, package: &Value) -> Option<Self> {
        let around = project.around.as_deref()?;
        let of_whole = package_of(&around.whole);
        let folders = folders(&around.whole, &of_whole);
        if !is_named(&folders, &around.member) {
            return None;
        }
        let mut left = members(&around.whole, &folders);
        left.retain(|it| it.folder != around.member);
        let mut beside = Vec::new();
        take(package, &mut left, &mut beside);
        Some(Self { around, package: of_whole, beside })
    }

    /// Whether it has what `package` says to take from it.
    pub(super) fn has_all_of(&self, package: &Value) -> bool {
        let is_it = |it: &Member, name: &str| name_of(&it.package) == Some(name);
        let has = |name: &String| self.beside.iter().any(|it| is_it(it, name));
        of_workspace(package).all(has)
    }
}

/// The packages that one says to take from the workspace that it is in.
pub(super) fn of_workspace(package: &Value) -> impl Iterator<Item = &String> {
    let all = package.get("dependencies").and_then(Value::as_object).into_iter().flatten();
    all.filter(|(_, version)| version.as_str().is_some_and(|it| it.starts_with("workspace:")))
        .map(|(name, _)| name)
}

/// What stands in package.json under the name of a script.
pub(super) fn script<'a>(package: &'a Value, name: &str) -> Option<&'a str> {
    package.get("scripts")?.get(name)?.as_str()
}

/// Whether a folder is that of a workspace.
pub(super) fn is_workspace(project: &Project, package: &Value) -> bool {
    package.get("workspaces").is_some() || project.has(OF_PNPM)
}

/// Whether a folder is that of a workspace, and the folder `member` in it of one of its packages, by what it says.
pub(super) fn has_member(whole: &Project, member: &str) -> bool {
    is_named(&folders(whole, &package_of(whole)), member)
}

/// What is said in the package.json of a folder; nothing where there is none, or it can't be read.
fn package_of(project: &Project) -> Value {
    project.text(PACKAGE).and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

/// The folders of its members, as a workspace names them: `apps/*`.
fn folders(whole: &Project, package: &Value) -> Vec<String> {
    let of_pnpm = whole.text(OF_PNPM).and_then(|text| serde_saphyr::from_str::<Value>(text).ok());
    let named = of_pnpm.as_ref().and_then(|it| it.get("packages")).or_else(|| {
        let named = package.get("workspaces")?;
        // As Yarn had it first, or as all have it now.
        Some(named.get("packages").unwrap_or(named))
    });
    let named = named.and_then(Value::as_array).into_iter().flatten();
    named.filter_map(Value::as_str).map(str::to_owned).take(NAMED_MAX).collect()
}

/// Whether a folder is among those that are named; what begins with `!` is taken out again.
fn is_named(folders: &[String], folder: &str) -> bool {
    let folder = parts(folder);
    folders.iter().fold(false, |is_in, named| match named.strip_prefix('!') {
        Some(out) => is_in && !is_as(&parts(out), &folder),
        None => is_in || is_as(&parts(named), &folder),
    })
}

fn parts(path: &str) -> Vec<&str> {
    path.split('/').filter(|it| !["", "."].contains(it)).collect()
}

fn is_as(named: &[&str], folder: &[&str]) -> bool {
    // How many parts of the folder may be what is named so far, in order.
    let mut counts = vec![0];
    for name in named {
        counts = if *name == ANY {
            counts.first().map_or_else(Vec::new, |least| (*least..=folder.len()).collect())
        } else {
            let is_next = |count: &usize| folder.get(*count).is_some_and(|part| is_part_as(name, part));
            counts.into_iter().filter(is_next).map(|count| count + 1).collect()
        };
    }
    counts.contains(&folder.len())
}

fn is_part_as(named: &str, part: &str) -> bool {
    named.split_once('*').map_or(named == part, |(start, end)| {
        part.len() >= start.len() + end.len() && part.starts_with(start) && part.ends_with(end)
    })
}

fn members(whole: &Project, folders: &[String]) -> Vec<Member> {
    let member = |file: &ProjectFile| {
        let (folder, name) = file.path.rsplit_once('/')?;
        let is_one = name == PACKAGE && is_named(folders, folder);
        let package = is_one.then(|| serde_json::from_str(&file.text).ok())??;
        Some(Member { folder: folder.to_owned(), package })
    };
    whole.files.iter().filter_map(member).take(MEMBERS_MAX).collect()
}

/// Takes what a package takes of those that are left, and before each what that takes.
fn take(package: &Value, left: &mut Vec<Member>, taken: &mut Vec<Member>) {
    let takes = |it: &Member| name_of(&it.package).is_some_and(|name| is_taken(package, name));
    while let Some(at) = left.iter().position(takes) {
        let member = left.remove(at);
        take(&member.package, left, taken);
        taken.push(member);
    }
}

fn name_of(package: &Value) -> Option<&str> {
    package.get("name")?.as_str()
}

fn is_taken(package: &Value, name: &str) -> bool {
    TAKEN.iter().any(|table| package.get(table).is_some_and(|it| it.get(name).is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_named_as_folders_and_by_patterns() {
        let is_one = |named: &[&str], folder: &str| {
            let named: Vec<String> = named.iter().map(|it| (*it).to_owned()).collect();
            is_named(&named, folder)
        };
        for (named, folder, due) in [
            (&["apps/api"][..], "apps/api", true),
            (&["./apps/*"], "apps/api", true),
            (&["apps/*/"], "apps/api", true),
            (&["apps/*"], "apps/api/web", false),
            (&["apps/*"], "apps", false),
            (&["apps/**"], "apps/api/web", true),
            (&["**"], "apps/api", true),
            (&["**/**/api"], "apps/api", true),
            (&["apps/**/api"], "apps/api", true),
            (&["**/a/**/a/b"], "a/a/a/b", true),
            (&["**/a/**/a/b"], "a/b/a", false),
            (&["**/web"], "apps/api", false),
            (&["apps/a*i"], "apps/api", true),
            (&["apps/api*api"], "apps/api", false),
            (&["apps/*", "!apps/api"], "apps/api", false),
            (&["!apps/api", "apps/*"], "apps/api", true),
            (&[], "apps/api", false),
        ] {
            assert_eq!(is_one(named, folder), due, "{named:?} {folder}");
        }
    }

    #[test]
    fn packages_that_take_each_other_are_taken_once() {
        let member = |name: &str, takes: &str| Member {
            folder: name.to_owned(),
            package: serde_json::json!({ "name": name, "dependencies": { takes: "*" } }),
        };
        let mut left = vec![member("a", "b"), member("b", "c"), member("c", "a"), member("d", "a")];
        let mut taken = Vec::new();
        take(&serde_json::json!({ "devDependencies": { "a": "*" } }), &mut left, &mut taken);
        let folders: Vec<&str> = taken.iter().map(|it| it.folder.as_str()).collect();
        assert_eq!(folders, ["c", "b", "a"]);
    }
}
