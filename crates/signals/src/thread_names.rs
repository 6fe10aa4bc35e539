//! The whole names of a JVM's threads, of which the kernel keeps 15 bytes.
//!
//! `http-nio-127.0.0.1-8080-exec-1` and `…-Poller` are both `http-nio-127.0.` to the kernel. The JVM's own `jcmd
//! Thread.print` lists each thread's name and its id in the kernel (`nid`). It stops the JVM for a moment, so it is asked
//! when the load is over.

use std::collections::BTreeMap;
use std::process::Command;

use crate::jvm_events::tools_of;
use crate::tool::output;

/// The names of the threads of the JVM `pid` by their ids. Empty where it is no JVM, or has no `jcmd` beside it.
pub fn java_thread_names(pid: i32) -> BTreeMap<i32, String> {
    let Some(tools) = tools_of(pid) else { return BTreeMap::new() };
    let mut command = Command::new(tools.join("jcmd"));
    command.args([&pid.to_string(), "Thread.print"]);
    output(&mut command).map_or_else(BTreeMap::new, |text| names(&text))
}

/// Lines like `"http-nio-8080-exec-1" #31 daemon prio=5 os_prio=0 cpu=1.2ms elapsed=3.4s tid=0x… nid=0x1f3 waiting …`; the
/// `nid` is hexadecimal until JDK 18 and decimal from 19 on.
fn names(dump: &str) -> BTreeMap<i32, String> {
    dump.lines().filter_map(name_of).collect()
}

fn name_of(line: &str) -> Option<(i32, String)> {
    let (name, rest) = line.strip_prefix('"')?.rsplit_once('"')?;
    let id = rest.split_ascii_whitespace().find_map(|field| field.strip_prefix("nid="))?;
    let id = match id.strip_prefix("0x") {
        Some(digits) => i32::from_str_radix(digits, 16).ok()?,
        None => id.parse().ok()?,
    };
    Some((id, name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_by_the_kernels_id_in_either_notation() {
        let dump = "Full thread dump OpenJDK 64-Bit Server VM\n\n\
            \"http-nio-8080-exec-1\" #31 daemon prio=5 os_prio=0 cpu=1.2ms elapsed=3.4s tid=0x7f nid=0x1f3 waiting\n\
            \tat java.lang.Object.wait(Native Method)\n\
            \"a \"quoted\" one\" #32 [77] prio=5 os_prio=0 cpu=1.2ms elapsed=3.4s tid=0x7f nid=77 runnable\n\
            \"no id\" #33\n";
        let expected = [(0x1f3, "http-nio-8080-exec-1".to_owned()), (77, "a \"quoted\" one".to_owned())];
        assert_eq!(names(dump), expected.into());
    }

    #[test]
    fn what_is_no_jvm_has_no_names() {
        assert_eq!(java_thread_names(std::process::id().cast_signed()), BTreeMap::new());
    }
}
