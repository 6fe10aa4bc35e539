//! What runs a program: told by the name of its file, by the libraries that it has mapped, or by its file itself.
//!
//! A process that was started as `uwsgi` or `gunicorn` runs Python as `python3` does. None of this says what holds a server
//! back; it says what its threads can be.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use record::Runtime;

/// Processes of a stack that are looked at; of a server with more than that, all run the same.
const PROCESSES_MAX: usize = 64;
/// How the files of programs are named.
const PROGRAMS: [(&str, Runtime); 11] = [
    ("java", Runtime::Jvm),
    ("node", Runtime::JavaScript),
    ("deno", Runtime::JavaScript),
    ("bun", Runtime::JavaScript),
    ("python", Runtime::Python),
    ("pypy", Runtime::Python),
    ("ruby", Runtime::Ruby),
    ("dotnet", Runtime::DotNet),
    ("beam.smp", Runtime::Erlang),
    ("uwsgi-python", Runtime::Python),
    ("uwsgi_python", Runtime::Python),
];
/// How libraries are named that run programs.
const LIBRARIES: [(&str, Runtime); 6] = [
    ("libjvm.so", Runtime::Jvm),
    ("libnode.so", Runtime::JavaScript),
    ("libpython", Runtime::Python),
    ("libruby", Runtime::Ruby),
    ("libcoreclr.so", Runtime::DotNet),
    ("System.Private.CoreLib", Runtime::DotNet),
];
/// Bytes of `maps` that are read: that of a process with a thousand libraries.
const MAPS_BYTES_MAX: u64 = 1 << 20;
/// Bytes of a program's file in which Go's linker leaves its note.
const HEAD_BYTES: u64 = 64 * 1024;
/// The note: the length of its name, of what it says, its kind, and its name (`debug/buildinfo` and `cmd/internal/buildid`).
const NOTE_NAME_BYTES: [u8; 4] = 4_u32.to_ne_bytes();
const NOTE_KIND_AND_NAME: [u8; 8] = *b"\x04\0\0\0Go\0\0";

/// What runs each of some processes, by their ids.
pub(crate) fn of_processes(pids: &[i32]) -> BTreeMap<i32, Runtime> {
    // Most are of one program.
    let mut known: BTreeMap<PathBuf, Option<Runtime>> = BTreeMap::new();
    let of = |pid: &i32| {
        let program = fs::read_link(format!("/proc/{pid}/exe")).ok()?;
        let runtime = *known.entry(program).or_insert_with_key(|program| of_process(*pid, program));
        Some((*pid, runtime?))
    };
    pids.iter().take(PROCESSES_MAX).filter_map(of).collect()
}

fn of_process(pid: i32, program: &Path) -> Option<Runtime> {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    by_program(&name)
        .or_else(|| by_libraries(&head(&format!("/proc/{pid}/maps"), MAPS_BYTES_MAX)))
        .or_else(|| is_of_go(&head(&format!("/proc/{pid}/exe"), HEAD_BYTES)).then_some(Runtime::Go))
}

/// `python3.11` begins as `python` does, and `nodeagent` is no `node`.
fn by_program(name: &str) -> Option<Runtime> {
    let is_of = |begins: &str| {
        name.strip_prefix(begins).is_some_and(|rest| rest.chars().all(|it| it.is_ascii_digit() || it == '.'))
    };
    PROGRAMS.iter().find(|(begins, _)| is_of(begins)).map(|(_, runtime)| *runtime)
}

fn by_libraries(maps: &[u8]) -> Option<Runtime> {
    let text = String::from_utf8_lossy(maps);
    let files = text.lines().filter_map(|line| line.rsplit_once('/')).map(|(_, file)| file);
    let mut known = files
        .filter_map(|file| LIBRARIES.iter().find(|(begins, _)| file.starts_with(begins)))
        .map(|(_, runtime)| *runtime);
    known.next()
}

fn is_of_go(head: &[u8]) -> bool {
    head.windows(16).any(|bytes| bytes[..4] == NOTE_NAME_BYTES && bytes[8..] == NOTE_KIND_AND_NAME)
}

/// The first bytes of a file; none of one that can't be read.
fn head(path: &str, bytes_max: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Ok(file) = File::open(path) {
        // What was read until an error tells as much as a shorter file.
        let _ = file.take(bytes_max).read_to_end(&mut bytes);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_known_by_their_names_with_any_version() {
        for (name, runtime) in [
            ("python3.11", Some(Runtime::Python)),
            ("python", Some(Runtime::Python)),
            ("node", Some(Runtime::JavaScript)),
            ("ruby2.7", Some(Runtime::Ruby)),
            ("java", Some(Runtime::Jvm)),
            ("beam.smp", Some(Runtime::Erlang)),
            ("nodeagent", None),
            ("javad", None),
            ("nginx", None),
            ("", None),
        ] {
            assert_eq!(by_program(name), runtime, "{name}");
        }
    }

    #[test]
    fn libraries_say_what_a_program_of_another_name_runs() {
        let maps = "55d0-55d1 r-xp 00000000 08:01 77 /usr/bin/uwsgi\n\
            7f00-7f01 r-xp 00000000 08:01 78 /usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0\n";
        assert_eq!(by_libraries(maps.as_bytes()), Some(Runtime::Python));
        assert_eq!(
            by_libraries(b"7f00-7f01 r-xp 00000000 08:01 78 /usr/lib/libc.so.6\n7f02 [stack]\n"),
            None
        );
        assert_eq!(by_libraries(b""), None);
    }

    #[test]
    fn a_note_of_gos_linker_tells_its_programs() {
        let mut head = b"\x7fELF".repeat(100);
        assert!(!is_of_go(&head));
        head.extend(b"\x04\0\0\0\x53\0\0\0\x04\0\0\0Go\0\0abc");
        assert!(is_of_go(&head));
    }

    #[test]
    fn this_process_is_run_by_nothing_and_one_of_python_by_python() {
        let own = std::process::id().cast_signed();
        assert_eq!(of_processes(&[own, -1]), BTreeMap::new());
        let mut child = std::process::Command::new("python3")
            .args(["-c", "import sys; print(flush=True); sys.stdin.read()"])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("this test wants python3 (apt-get install python3)");
        // It has said a line, so it is Python and no shell before it.
        child.stdout.take().unwrap().read_exact(&mut [0]).unwrap();
        let pid = child.id().cast_signed();
        let told = of_processes(&[pid]);
        drop(child.stdin.take());
        child.wait().unwrap();
        assert_eq!(told, [(pid, Runtime::Python)].into());
    }
}
