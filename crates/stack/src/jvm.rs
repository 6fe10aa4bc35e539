//! What a JVM counts of itself, read without asking it.
//!
//! Every HotSpot JVM keeps its performance counters in a memory-mapped file, `/tmp/hsperfdata_<user>/<pid>`, unless
//! started with `-XX:-UsePerfData`. Its format is that of `PerfDataPrologue` and `PerfDataEntry` in HotSpot's
//! `perfMemory.hpp`, version 2.0: a prologue of 32 bytes, then entries of a header of 20 bytes, a name and a value. It is
//! read while it is written; a value of 8 bytes is written at once.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;

use units::Duration;

const MAGIC: [u8; 4] = [0xca, 0xfe, 0xc0, 0xc0];
/// The file is 32 KiB unless a flag says otherwise; a bound in any case.
const BYTES_MAX: u64 = 1 << 20;
/// Ticks that all compiler threads were busy, and how many of them make a second.
const JIT_TICKS: &str = "java.ci.totalTime";
const TICKS_PER_SECOND: &str = "sun.os.hrt.frequency";

/// How long the compilers of the JVM `pid` were busy so far, all threads together. `None` where it is no JVM.
pub(crate) fn jit_busy(pid: i32) -> Option<Duration> {
    let counters = counters(&read(pid)?)?;
    let per_second = u64::try_from(*counters.get(TICKS_PER_SECOND)?).ok().filter(|it| *it > 0)?;
    let ticks = u64::try_from(*counters.get(JIT_TICKS)?).ok()?;
    Some(Duration::from_nanos((u128::from(ticks) * 1_000_000_000 / u128::from(per_second)) as u64))
}

fn read(pid: i32) -> Option<Vec<u8>> {
    let folders = fs::read_dir("/tmp").ok()?.filter_map(Result::ok);
    let of_users = folders.filter(|it| it.file_name().as_encoded_bytes().starts_with(b"hsperfdata_"));
    of_users.into_iter().find_map(|folder| {
        let file = fs::File::open(folder.path().join(pid.to_string())).ok()?;
        let mut bytes = Vec::new();
        file.take(BYTES_MAX).read_to_end(&mut bytes).ok()?;
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
            let name = bytes.get(name_at..)?.split(|byte| *byte == 0).next()?;
            counters.insert(String::from_utf8_lossy(name).into_owned(), long(value_at)?);
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
    fn what_is_cut_off_or_something_else_has_no_counters() {
        let whole = file("java.ci.totalTime", 42);
        for end in 0..whole.len() {
            assert_eq!(counters(&whole[..end]), None, "cut at {end}");
        }
        assert_eq!(counters(&[0; 100]), None);
    }
}
