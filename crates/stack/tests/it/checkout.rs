//! Versions of a project, out of a real repository.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use stack::{CHECKOUTS_PREFIX, CheckoutError, Interrupt, Repository};
use tempfile::TempDir;

/// A repository with a service in a folder of it, two commits, and a working tree that differs from both.
struct Project(TempDir);

impl Project {
    fn new() -> Self {
        let project = Self(tempfile::tempdir().unwrap());
        project.git(&["init", "-q", "-b", "main"]);
        project.write("services/cart/answer", "first");
        project.write(".gitignore", "*.log\nignored/\n");
        project.commit("Answer first");
        project.write("services/cart/answer", "second");
        project.commit("Answer second");
        project.write("services/cart/answer", "third");
        project.write("services/cart/new", "not known to git");
        project.write("services/cart/noise.log", "ignored");
        project.write("services/cart/.proofload/build/made", "made by a build");
        project.write("services/cart/runs/one/trials.jsonl", "{}");
        project.write("services/cart/ignored/runs/two", "{}");
        project
    }

    fn folder(&self) -> PathBuf {
        self.0.path().join("services/cart")
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn git(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        command.current_dir(self.0.path()).args(["-c", "user.name=t", "-c", "user.email=t@localhost"]);
        let output = command.args(arguments).output().expect("git is there");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "-q", "-m", message]);
    }

    /// All that a user sees of the repository.
    fn seen(&self) -> [String; 4] {
        let status = self.git(&["status", "--porcelain", "--ignored"]);
        let index = self.git(&["ls-files", "--stage"]);
        [status, index, self.git(&["worktree", "list"]), self.git(&["log", "--all", "--format=%s"])]
    }
}

fn scratch() -> TempDir {
    tempfile::Builder::new().prefix(CHECKOUTS_PREFIX).tempdir().unwrap()
}

fn read(folder: &Path, name: &str) -> Option<String> {
    fs::read_to_string(folder.join(name)).ok()
}

#[test]
fn versions_are_checked_out_beside_a_working_tree_that_stays_as_it_is() {
    let (project, scratch) = (Project::new(), scratch());
    let seen = project.seen();
    {
        let repository =
            Repository::around(&project.folder(), scratch.path(), Interrupt::NEVER).expect("it is one");
        let first = repository.revision("HEAD~1").expect("it is there");
        assert_eq!((first.subject.as_str(), first.changed_files), ("Answer first", None));
        let now = repository.working_tree(&project.folder().join("runs")).expect("it can be read");
        assert_eq!((now.name.as_str(), now.changed_files), ("the working tree", Some(2)));
        assert_eq!(now.subject, "Answer second");
        let (before, after) =
            (repository.check_out(&first, "v1").unwrap(), repository.check_out(&now, "v2").unwrap());
        assert_eq!(read(before.project(), "answer").as_deref(), Some("first"));
        assert_eq!(read(after.project(), "answer").as_deref(), Some("third"));
        assert_eq!(read(after.project(), "new").as_deref(), Some("not known to git"));
        for left_out in ["noise.log", "ignored/runs/two", ".proofload/build/made", "runs/one/trials.jsonl"] {
            assert_eq!(read(after.project(), left_out), None, "{left_out}");
        }
        // What a build makes goes with the version.
        fs::write(before.project().join("made"), "by a build").unwrap();
    }
    assert_eq!(project.seen(), seen);
    let left: Vec<String> = fs::read_dir(scratch.path())
        .unwrap()
        .map(|it| it.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with('v'))
        .collect();
    assert_eq!(left, Vec::<String>::new());
}

/// It is as long as before, and as old as the index in which git knows it.
#[test]
fn a_change_in_the_second_of_the_last_commit_is_seen() {
    let (project, scratch) = (Project::new(), scratch());
    // By time and length alone: the other marks of a file can't be set here.
    for (name, value) in [("core.checkStat", "minimal"), ("core.trustctime", "false")] {
        project.git(&["config", name, value]);
    }
    let (answer, index) = (project.folder().join("answer"), project.0.path().join(".git/index"));
    let then = SystemTime::now() - Duration::from_secs(3_600);
    let date = |path: &Path| {
        fs::File::options().write(true).open(path).unwrap().set_modified(then).unwrap();
    };
    date(&answer);
    project.commit("Answer third");
    project.write("services/cart/answer", "fifth");
    date(&answer);
    date(&index);
    let repository = Repository::around(&project.folder(), scratch.path(), Interrupt::NEVER).unwrap();
    let now = repository.working_tree(&project.folder().join("runs")).unwrap();
    assert_eq!(now.changed_files, Some(1));
    let after = repository.check_out(&now, "v1").unwrap();
    assert_eq!(read(after.project(), "answer").as_deref(), Some("fifth"));
}

#[test]
fn what_a_killed_process_left_behind_goes_and_what_is_in_use_stays() {
    let (project, killed, alive) = (Project::new(), scratch(), scratch());
    let listed = || project.git(&["worktree", "list"]).lines().count();
    // As if nothing of the process had been left but its files.
    let dir = killed.path().join("v1");
    fs::write(killed.path().join("lock"), "").unwrap();
    project.git(&["worktree", "add", "--quiet", "--detach", dir.to_str().unwrap(), "HEAD"]);
    let at_work = Repository::around(&project.folder(), alive.path(), Interrupt::NEVER).unwrap();
    assert_eq!((listed(), dir.exists(), killed.path().exists()), (1, false, false));
    let head = at_work.revision("HEAD").unwrap();
    let checkout = at_work.check_out(&head, "v1").unwrap();
    let other = scratch();
    Repository::around(&project.folder(), other.path(), Interrupt::NEVER).unwrap();
    assert!(checkout.project().is_dir());
    assert_eq!(listed(), 2);
    // A folder of somebody else's by the same name, and one with more in it than was made by us.
    for (of_user, has_lock) in [(scratch(), false), (scratch(), true)] {
        let (dir, work) = (of_user.path().join("v1"), of_user.path().join("notes.txt"));
        fs::write(&work, "a day's work").unwrap();
        if has_lock {
            fs::write(of_user.path().join("lock"), "").unwrap();
        }
        project.git(&["worktree", "add", "--quiet", "--detach", dir.to_str().unwrap(), "HEAD"]);
        Repository::around(&project.folder(), other.path(), Interrupt::NEVER).unwrap();
        assert_eq!((dir.exists(), work.exists()), (!has_lock, true));
    }
}

#[test]
fn what_a_user_has_set_for_the_eye_or_for_speed_changes_nothing() {
    let (project, scratch) = (Project::new(), scratch());
    let head = project.git(&["cat-file", "commit", "HEAD"]);
    let (head, _) = head.split_once("\n\n").expect("a message is behind an empty line");
    let signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n none\n -----END PGP SIGNATURE-----";
    let file = scratch.path().join("signed");
    fs::write(&file, format!("{head}\n{signature}\n\nAnswer früher\n")).unwrap();
    let signed = project.git(&["hash-object", "-t", "commit", "-w", file.to_str().unwrap()]);
    // Whoever asks it writes down that it was asked.
    let (watcher, asked) = (scratch.path().join("watcher"), scratch.path().join("asked"));
    fs::write(&watcher, format!("#!/bin/sh\ntouch '{}'\n", asked.display())).unwrap();
    fs::set_permissions(&watcher, fs::Permissions::from_mode(0o755)).unwrap();
    project.write("services/cart/ends", "of lines\r\nby hand\r\n");
    for (name, value) in [
        ("log.showSignature", "true"),
        ("log.date", "relative"),
        ("color.ui", "always"),
        ("core.quotePath", "true"),
        ("diff.noprefix", "true"),
        ("i18n.logOutputEncoding", "ISO-8859-1"),
        // Line ends that would be changed are an error to git.
        ("core.autocrlf", "input"),
        ("core.safecrlf", "true"),
        ("core.fsmonitor", watcher.to_str().unwrap()),
    ] {
        project.git(&["config", name, value]);
    }
    let repository = Repository::around(&project.folder(), scratch.path(), Interrupt::NEVER).unwrap();
    assert_eq!(repository.revision(signed.trim()).unwrap().subject, "Answer früher");
    let now = repository.working_tree(&project.folder().join("runs")).unwrap();
    assert_eq!((now.subject.as_str(), now.changed_files), ("Answer second", Some(3)));
    let after = repository.check_out(&now, "v1").unwrap();
    assert_eq!(read(after.project(), "answer").as_deref(), Some("third"));
    drop(after);
    assert!(!asked.exists(), "what watches a folder may stay when we are gone");
}

#[test]
fn what_is_left_of_a_version_is_told() {
    let (project, scratch) = (Project::new(), scratch());
    let repository = Repository::around(&project.folder(), scratch.path(), Interrupt::NEVER).unwrap();
    let head = repository.revision("HEAD").unwrap();
    let mut whole = repository.check_out(&head, "v1").unwrap();
    assert!(whole.remove().is_ok());
    let mut broken = repository.check_out(&head, "v2").unwrap();
    let known = project.0.path().join(".git/worktrees/v2");
    fs::remove_file(known.join("gitdir")).unwrap();
    let told = broken.remove().unwrap_err().to_string();
    let dir = scratch.path().join("v2");
    assert!(told.contains(dir.to_str().unwrap()) && told.contains("git worktree prune"), "{told}");
    assert!(!dir.exists() && known.exists());
    // As it says.
    project.git(&["worktree", "prune"]);
    assert!(!known.exists());
}

#[test]
fn what_is_no_version_is_told_in_words() {
    let (project, scratch) = (Project::new(), scratch());
    let nowhere = tempfile::tempdir().unwrap();
    let told = Repository::around(nowhere.path(), scratch.path(), Interrupt::NEVER).unwrap_err();
    assert!(matches!(told, CheckoutError::NoRepository { .. }), "{told}");
    let repository = Repository::around(&project.folder(), scratch.path(), Interrupt::NEVER).unwrap();
    for name in ["no-such-branch", "--help", "HEAD:services/cart/answer"] {
        let told = repository.revision(name).unwrap_err();
        assert!(matches!(told, CheckoutError::UnknownRevision { .. }), "{name}: {told}");
        assert!(told.to_string().contains("git fetch"), "{told}");
    }
    project.git(&["checkout", "-q", "--orphan", "empty"]);
    project.git(&["rm", "-rfq", "--cached", "."]);
    project.write("other", "no service here");
    project.git(&["add", "other"]);
    project.git(&["commit", "-q", "-m", "Nothing"]);
    let without = repository.revision("empty").unwrap();
    let told = repository.check_out(&without, "v1").unwrap_err();
    assert!(matches!(told, CheckoutError::NoFolder { .. }), "{told}");
    assert!(!scratch.path().join("v1").exists());
}
