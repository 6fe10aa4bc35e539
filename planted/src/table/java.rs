//! Java: the server of the JDK with a pool that is larger than the load, so that what limits is not its threads.

use super::{at_rate, healthy, planted, program, users, warm};
use crate::case::{Case, Load, Size};
use crate::program::Language::Java;

pub(super) fn cases() -> Vec<Case> {
    [held(), sound()].concat()
}

fn java(label: &'static str, what: (&'static str, &'static str), connections: u32) -> Size {
    // Compiling is a small part of what takes tens of milliseconds.
    program(label, Java(17), what, Load { warm_up_s: 2, ..users(connections) })
}

fn held() -> Vec<Case> {
    vec![
        // Permits/time: 200 and 60 a second.
        planted(
            "Java, a semaphore",
            &["limit_inside"],
            vec![
                java("10 permits of 50 ms", ("Gate", "64 semaphore 10 50"), 40),
                java("6 permits of 100 ms", ("Gate", "100 semaphore 6 100"), 24),
            ],
        ),
        // Handles/time: 250 and 100 a second.
        planted(
            "Java, a pool of connections",
            &["limit_inside"],
            vec![
                java("10 of 40 ms", ("Gate", "100 handles 10 40"), 40),
                java("4 of 40 ms", ("Gate", "50 handles 4 40"), 20),
            ],
        ),
        // 160 and 60 a second.
        planted(
            "Java, a semaphore of virtual threads",
            &["limit_inside"],
            vec![
                virtual_threads("8 permits of 50 ms", "8 50", 32),
                virtual_threads("3 permits of 50 ms", "3 50", 16),
            ],
        ),
        // 1/time: 333 and 100 a second.
        planted(
            "Java, a lock",
            &["serial_section"],
            vec![java("3 ms", ("Gate", "64 lock 1 3"), 24), java("10 ms", ("Gate", "32 lock 1 10"), 16)],
        ),
        planted(
            "Java, rate limiter that delays",
            &["rate_limiter"],
            vec![
                java("500/s", ("Limiter", "100 500 delays"), 64),
                java("150/s", ("Limiter", "64 150 delays"), 32),
            ],
        ),
        // Half of what is asked for is refused, or a third: both names are true, and the same.
        planted(
            "Java, rate limiter that refuses",
            &["rate_limiter", "incorrect_service"],
            vec![
                refusing("300/s of 600/s", "64 300 refuses", "600"),
                refusing("100/s of 150/s", "64 100 refuses", "150"),
            ],
        ),
    ]
}

fn virtual_threads(label: &'static str, arguments: &'static str, connections: u32) -> Size {
    program(label, Java(25), ("VirtualGate", arguments), Load { warm_up_s: 2, ..users(connections) })
}

fn refusing(label: &'static str, arguments: &'static str, rate: &'static str) -> Size {
    program(label, Java(17), ("Limiter", arguments), Load { warm_up_s: 2, ..at_rate(rate) })
}

fn sound() -> Vec<Case> {
    vec![
        healthy(
            "Java, a pool larger than the load",
            &["idle_pace"],
            vec![
                program("50 ms", Java(17), ("Gate", "64 none 1 50"), warm(users(32))),
                program("200 ms", Java(17), ("Gate", "100 none 1 200"), warm(users(64))),
            ],
        ),
        healthy(
            "Java, a heavy tail",
            &["idle_pace"],
            vec![java("60 ms", ("Sleep", "100 tail 60"), 48), java("30 ms", ("Sleep", "64 tail 30"), 24)],
        ),
        healthy(
            "Java, a cache that is warm",
            &["idle_pace"],
            vec![java("20 ms", ("Sleep", "64 cache 20"), 16), java("60 ms", ("Sleep", "100 cache 60"), 32)],
        ),
    ]
}
