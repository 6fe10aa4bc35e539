//! What the names of a pool's threads have in common.

/// Bytes of a thread's name that the kernel keeps.
pub(crate) const KEPT_BYTES: usize = 15;

/// Replaces numbers by `*`, addresses and ports among them: `http-nio-127.0.0.1-8080-exec-12` and `…-exec-3` are both
/// `http-nio-*-exec-*`. A letter and a digit that are a word of their own stay: `C2 CompilerThread0` is
/// `C2 CompilerThread*`.
pub(crate) fn group_name(name: &str) -> String {
    let mut group = String::new();
    let mut rest = name;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(at);
        group.push_str(before);
        let length = number_length(from);
        let (number, after) = from.split_at(length);
        let is_name = length == 1 && is_one_letter_word(&group) && after.starts_with(' ');
        group.push_str(if is_name { number } else { "*" });
        rest = after;
    }
    group.push_str(rest);
    group
}

/// Whether a group's threads are those whose names begin with `begins`, as somebody reads them in a thread dump: the group of
/// `XNIO-1 task-5` is `XNIO-* task-*`, and `XNIO-1 task-` is how its names begin.
pub fn is_group_of(group: &str, begins: &str) -> bool {
    group.starts_with(group_name(begins).as_str())
}

/// Bytes of the number that `text` begins with, or of the address with its port.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut length = 0;
    while is_digit(length)
        || (bytes.get(length).is_some_and(|byte| b".:-".contains(byte)) && is_digit(length + 1))
    {
        length += 1;
    }
    length
}

fn is_one_letter_word(text: &str) -> bool {
    let mut last = text.chars().rev();
    last.next().is_some_and(char::is_alphabetic) && last.next().is_none_or(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_found_by_how_the_names_of_its_threads_begin() {
        for (group, begins) in [
            ("XNIO-* task-*", "XNIO-1 task-"),
            ("http-nio-*-exec-*", "http-nio-"),
            ("qtp*", "qtp"),
            ("pool-*-thread-*", "pool-1-thread"),
            ("G1 Conc#*", "G1 Conc"),
        ] {
            assert!(is_group_of(group, begins), "{group}, {begins}");
        }
        assert!(!is_group_of("XNIO-* I/O-*", "XNIO-1 task-"));
        assert!(!is_group_of("parallel-*", "http-nio-"));
    }

    #[test]
    fn threads_of_a_pool_have_one_name() {
        for (name, group) in [
            ("http-nio-127.0.0.1-8080-exec-12", "http-nio-*-exec-*"),
            ("http-nio-8080-Poller", "http-nio-*-Poller"),
            ("http-nio-127.0.", "http-nio-*."),
            ("pool-1-thread-3", "pool-*-thread-*"),
            ("XNIO-1 task-5", "XNIO-* task-*"),
            ("qtp1848415041-25", "qtp*"),
            ("reactor-http-epoll-3", "reactor-http-epoll-*"),
            ("GC Thread#0", "GC Thread#*"),
            ("G1 Conc#0", "G1 Conc#*"),
            ("C2 CompilerThread0", "C2 CompilerThread*"),
            ("C2 CompilerThre", "C2 CompilerThre"),
            ("event-loop", "event-loop"),
            ("conn-17", "conn-*"),
            ("7", "*"),
            ("", ""),
        ] {
            assert_eq!(group_name(name), group);
        }
    }
}
