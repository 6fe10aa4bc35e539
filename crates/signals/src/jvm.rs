//! What a JVM counts of itself, read without asking it.
//!
//! Every HotSpot JVM keeps its performance counters in a memory-mapped file, `/tmp/hsperfdata_<user>/<pid>`, unless
//! started with `-XX:-UsePerfData`. Its format is that of `PerfDataPrologue` and `PerfDataEntry` in HotSpot's
//! `perfMemory.hpp`, version 2.0: a prologue of 32 bytes, then entries of a header of 20 bytes, a name and a value. It is
//! read while it is written; a value of 8 bytes is written at once.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use record::JvmReading;
use rustix::fs::{FileType, Mode, OFlags, fstat, open, openat};
use units::Duration;

/// Where JVMs keep a folder a user for them; `java.io.tmpdir` does not change that.
const FOLDERS: &str = "/tmp";
const MAGIC: [u8; 4] = [0xca, 0xfe, 0xc0, 0xc0];
/// The file is 32 KiB unless a flag says otherwise; a bound in any case.
const BYTES_MAX: u64 = 1 << 20;
/// How many of its ticks make a second.
const TICKS_PER_SECOND: &str = "sun.os.hrt.frequency";
/// Ticks that all compiler threads were busy.
const JIT_TICKS: &str = "java.ci.totalTime";
/// Beginnings of the names of what is looked at.
const KEPT: [&str; 5] =
    [TICKS_PER_SECOND, JIT_TICKS, SAFEPOINT_TICKS, "sun.gc.collector.", "sun.gc.generation."];
/// Ticks in safepoints.
const SAFEPOINT_TICKS: &str = "sun.rt.safepointTime";
/// G1 tells each capacity by a few objects' alignments more than there is, so that none is 0: one for each space (`pad_capacity` in
/// HotSpot's `g1MonitoringSupport.hpp`). They are 8 bytes each unless a flag says otherwise, and no space is as small.
const PADDING_BYTES_MAX: u64 = 1024;

/// How long the compilers of the JVM `pid` were busy so far, all threads together. `None` where it is no JVM.
pub fn jit_busy(pid: i32) -> Option<Duration> {
    reading(pid).map(|reading| Duration::from_secs_f64(reading.jit_s))
}

/// What the JVM `pid` counts of itself. `None` where it is no JVM, or keeps no counters.
pub(crate) fn reading(pid: i32) -> Option<JvmReading> {
    interpret(&counters(&read(pid)?)?)
}

/// A collector has its pauses in `sun.gc.collector.<n>`; a generation its spaces in `sun.gc.generation.<n>.space.<m>`.
fn interpret(counters: &BTreeMap<String, i64>) -> Option<JvmReading> {
    let number = |name: &str| counters.get(name).and_then(|it| u64::try_from(*it).ok());
    let per_second = number(TICKS_PER_SECOND).filter(|it| *it > 0)? as f64;
    let sum = |starts: &str, ends: &str| -> u64 {
        let of_kind = counters.iter().filter(|(name, _)| name.starts_with(starts) && name.ends_with(ends));
        of_kind.filter_map(|(_, value)| u64::try_from(*value).ok()).fold(0, u64::saturating_add)
    };
    Some(JvmReading {
        gc_s: sum("sun.gc.collector.", ".time") as f64 / per_second,
        gc_count: sum("sun.gc.collector.", ".invocations"),
        jit_s: number(JIT_TICKS)? as f64 / per_second,
        safepoint_s: number(SAFEPOINT_TICKS).unwrap_or(0) as f64 / per_second,
        heap_used_bytes: sum("sun.gc.generation.", ".used"),
        heap_max_bytes: heap_max_bytes(counters),
    })
}

/// What both generations may have together. G1 gives each of them the whole heap, and so does ZGC: then eden, one of the spaces of
/// the young one, may have as much. In any other heap eden shares its generation with others, also where `-Xmn` made the two equal.
fn heap_max_bytes(counters: &BTreeMap<String, i64>) -> u64 {
    let size = |of: &str| {
        let value = counters.get(format!("sun.gc.generation.{of}.maxCapacity").as_str());
        value.and_then(|it| u64::try_from(*it).ok())
    };
    let (young, old, eden) = (size("0"), size("1"), size("0.space.0"));
    let is_as_young = |other: Option<u64>| {
        young.zip(other).is_some_and(|(young, other)| young.abs_diff(other) <= PADDING_BYTES_MAX)
    };
    let (young, old) = if is_as_young(old) && is_as_young(eden) { (old, None) } else { (young, old) };
    young.unwrap_or(0).saturating_add(old.unwrap_or(0))
}

/// The counters' file of the JVM `pid`, which belongs to the user that it runs as.
fn read(pid: i32) -> Option<Vec<u8>> {
    let user = fs::metadata(format!("/proc/{pid}")).ok()?.uid();
    read_in(Path::new(FOLDERS), pid, user)
}

/// Everybody may make a folder and a file of that name. Taken is the regular file of `user`, in a folder of `user`, and
/// neither through a link; what is opened is not waited for.
fn read_in(folders: &Path, pid: i32, user: u32) -> Option<Vec<u8>> {
    let entries = fs::read_dir(folders).ok()?.filter_map(Result::ok);
    let mut of_users = entries.filter(|it| it.file_name().as_encoded_bytes().starts_with(b"hsperfdata_"));
    of_users.find_map(|entry| {
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let folder = open(entry.path(), flags | OFlags::DIRECTORY, Mode::empty()).ok()?;
        let file = openat(&folder, pid.to_string(), flags, Mode::empty()).ok()?;
        let (of_folder, of_file) = (fstat(&folder).ok()?, fstat(&file).ok()?);
        let is_file = FileType::from_raw_mode(of_file.st_mode).is_file();
        if !is_file || of_folder.st_uid != user || of_file.st_uid != user {
            return None;
        }
        let mut bytes = Vec::new();
        fs::File::from(file).take(BYTES_MAX).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    })
}

/// The counters that are whole numbers, by name. `None` of what is not such a file.
fn counters(bytes: &[u8]) -> Option<BTreeMap<String, i64>> {
    if bytes.get(..4)? != MAGIC {
        return None;
    }
    let little_endian = *bytes.get(4)? == 1;
    let int = |at: usize| -> Option<usize> {
        let raw: [u8; 4] = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
        let value = if little_endian { u32::from_le_bytes(raw) } else { u32::from_be_bytes(raw) };
        usize::try_from(value).ok()
    };
    let long = |at: usize| -> Option<i64> {
        let raw: [u8; 8] = bytes.get(at..at.checked_add(8)?)?.try_into().ok()?;
        Some(if little_endian { i64::from_le_bytes(raw) } else { i64::from_be_bytes(raw) })
    };
    let (mut at, entries) = (int(24)?, int(28)?);
    let mut counters = BTreeMap::new();
    for _ in 0..entries {
        let (length, name_at, vector_length) = (int(at)?, at + int(at + 4)?, int(at + 8)?);
        let (kind, value_at) = (*bytes.get(at + 12)?, at + int(at + 16)?);
        if kind == b'J' && vector_length == 0 {
            let name = bytes.get(name_at..)?;
            let name = &name[..name.iter().position(|byte| *byte == 0)?];
            let value = long(value_at)?;
            // There are some three hundred, and they are read ten times a second.
            if KEPT.iter().any(|kept| name.starts_with(kept.as_bytes())) {
                counters.insert(String::from_utf8_lossy(name).into_owned(), value);
            }
        }
        // An entry of no length would be read for ever.
        at = at.checked_add(length.max(1))?;
    }
    Some(counters)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with one counter, as HotSpot lays it out on a little-endian machine.
    fn file(name: &str, value: i64) -> Vec<u8> {
        let name_bytes = [name.as_bytes(), &[0]].concat();
        let value_at = (20 + name_bytes.len()).next_multiple_of(8);
        let length = value_at + 8;
        let mut bytes = [&MAGIC[..], &[1, 2, 0, 1]].concat();
        bytes.extend([0; 16]);
        for number in [32, 1, length as u32, 20, 0] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend([b'J', 0, 4, 3]);
        bytes.extend((value_at as u32).to_le_bytes());
        bytes.extend(&name_bytes);
        bytes.resize(32 + value_at, 0);
        bytes.extend(value.to_le_bytes());
        bytes
    }

    #[test]
    fn a_counter_is_found_by_its_name() {
        let counters = counters(&file("java.ci.totalTime", 42)).unwrap();
        assert_eq!(counters.into_iter().collect::<Vec<_>>(), [("java.ci.totalTime".into(), 42)]);
    }

    #[test]
    fn times_are_ticks_and_heaps_are_sums_of_spaces() {
        let counters = [
            ("sun.os.hrt.frequency", 1_000),
            ("java.ci.totalTime", 2_500),
            ("sun.gc.collector.0.time", 300),
            ("sun.gc.collector.0.invocations", 7),
            ("sun.gc.collector.1.time", 200),
            ("sun.gc.collector.1.invocations", 1),
            ("sun.rt.safepointTime", 600),
            ("sun.gc.generation.0.maxCapacity", 64 << 20),
            ("sun.gc.generation.1.maxCapacity", 64 << 20),
            ("sun.gc.generation.0.space.0.used", 10),
            ("sun.gc.generation.0.space.0.maxCapacity", 64 << 20),
            ("sun.gc.generation.1.space.0.used", 20),
        ];
        let mut counters: BTreeMap<String, i64> =
            counters.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let reading = interpret(&counters).unwrap();
        assert_eq!((reading.gc_s, reading.gc_count), (0.5, 8));
        assert_eq!((reading.jit_s, reading.safepoint_s), (2.5, 0.6));
        // G1: both generations may have the whole heap. Others share it out.
        assert_eq!((reading.heap_used_bytes, reading.heap_max_bytes), (30, 64 << 20));
        counters.insert("sun.gc.generation.1.maxCapacity".into(), 128 << 20);
        assert_eq!(interpret(&counters).unwrap().heap_max_bytes, 192 << 20);
        counters.remove("sun.os.hrt.frequency");
        assert_eq!(interpret(&counters), None);
    }

    /// Counters as `jcmd PID PerfCounter.print` has them: G1 with a heap of 6028 MiB, each capacity some bytes larger, and the
    /// parallel collector with `-Xmx1g -Xmn512m`, whose generations are equal.
    #[test]
    fn a_heap_is_counted_once_whoever_collects_it() {
        let heap = |young: i64, old: i64, eden: i64| {
            let all = [("0", young), ("1", old), ("0.space.0", eden), ("1.space.0", old)];
            heap_max_bytes(&all.map(|(of, it)| (format!("sun.gc.generation.{of}.maxCapacity"), it)).into())
        };
        let all: i64 = 6028 << 20;
        assert_eq!(heap(all + 24, all + 8, all + 8) >> 20, 6028);
        let half: i64 = 512 << 20;
        assert_eq!(heap(half, half, half - (2 << 19)) >> 20, 1024);
        assert_eq!(heap(half / 2, 3 * half / 2, half / 4) >> 20, 1024);
        assert_eq!(heap_max_bytes(&BTreeMap::new()), 0);
    }

    #[test]
    fn only_the_regular_file_of_the_watched_user_is_taken() {
        let folders = tempfile::tempdir().unwrap();
        let user = fs::metadata(folders.path()).unwrap().uid();
        let of_user = folders.path().join("hsperfdata_user");
        fs::create_dir(&of_user).unwrap();
        fs::write(of_user.join("7"), "counters").unwrap();
        let read = |pid| read_in(folders.path(), pid, user);
        assert_eq!(read(7).unwrap(), b"counters");
        assert_eq!(read_in(folders.path(), 7, user + 1), None, "it is of another user");
        // A pipe is not waited for, a link not followed, neither of a file nor of a folder.
        rustix::fs::mknodat(rustix::fs::CWD, of_user.join("8"), FileType::Fifo, Mode::from(0o600), 0)
            .unwrap();
        std::os::unix::fs::symlink(of_user.join("7"), of_user.join("9")).unwrap();
        fs::create_dir(folders.path().join("elsewhere")).unwrap();
        fs::write(folders.path().join("elsewhere/10"), "counters").unwrap();
        let link = folders.path().join("hsperfdata_link");
        std::os::unix::fs::symlink(folders.path().join("elsewhere"), link).unwrap();
        for pid in [8, 9, 10, 11] {
            assert_eq!(read(pid), None, "{pid}");
        }
    }

    #[test]
    fn what_is_cut_off_or_something_else_has_no_counters() {
        let whole = file("java.ci.totalTime", 42);
        for end in 0..whole.len() {
            assert_eq!(counters(&whole[..end]), None, "cut at {end}");
        }
        assert_eq!(counters(&[0; 100]), None);
    }
}
