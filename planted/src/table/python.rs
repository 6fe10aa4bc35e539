//! Python: an event loop, forked processes, and threads of which one at a time may run.

use super::{computes, healthy, planted, program, users};
use crate::case::{Case, Load, Server, Size};
use crate::program::Language::Python;

pub(super) fn cases() -> Vec<Case> {
    [held(), sound()].concat()
}

fn python(label: &'static str, what: (&'static str, &'static str), load: Load) -> Size {
    program(label, Python, what, load)
}

/// Processes that each take one connection at a time and close it, as they say.
fn forked(label: &'static str, arguments: &'static str, connections: u32) -> Size {
    let size = python(label, ("processes", arguments), Load { fresh: true, ..users(connections) });
    let Server::Program(program) = size.server else { return size };
    Size { server: Server::Program(crate::program::Program { closes: true, ..program }), ..size }
}

fn held() -> Vec<Case> {
    vec![
        // Processes/time: 30 and 125 a second. No connection waits for anything but a process.
        planted(
            "Python, a pool of processes",
            &["pool_limit"],
            vec![forked("3 of 100 ms", "3 100", 12), forked("5 of 40 ms", "5 40", 20)],
        ),
        // Processes/time: 80 and 200 a second, behind one that has read all requests.
        planted(
            "Python, processes behind a front",
            &["pool_limit"],
            vec![
                python("4 of 50 ms", ("front", "4 50"), users(24)),
                python("6 of 30 ms", ("front", "6 30"), users(32)),
            ],
        ),
        // A bucket that holds the tokens of a second, and one that holds none.
        planted(
            "Python, rate limiter that delays",
            &["rate_limiter"],
            vec![
                python("300/s", ("limiter", "300 300"), users(48)),
                python("100/s, none saved", ("limiter", "100 0"), users(32)),
            ],
        ),
        // One core's worth over all threads: 250 and 100 a second.
        planted(
            "Python, the interpreter's lock",
            &["serial_section"],
            vec![
                computes(python("4 ms", ("threads", "4"), users(16))),
                computes(python("10 ms", ("threads", "10"), users(16))),
            ],
        ),
        planted(
            "Python, blocked event loop",
            &["blocked_event_loop"],
            vec![
                python("waits for 5 ms", ("loop", "blocks 5"), users(32)),
                computes(python("computes for 10 ms", ("loop", "computes 10"), users(16))),
            ],
        ),
        // Permits/time: 100 and 240 a second.
        planted(
            "Python, limit inside",
            &["limit_inside"],
            vec![
                python("5 permits", ("gate", "5 50"), users(20)),
                python("12 permits", ("gate", "12 50"), users(40)),
            ],
        ),
    ]
}

fn sound() -> Vec<Case> {
    vec![
        healthy(
            "Python, asyncio",
            &["idle_pace"],
            vec![
                python("100 ms", ("loop", "sleeps 100"), users(32)),
                python("1 s", ("loop", "sleeps 1000"), Load { window_s: 5, ..users(32) }),
            ],
        ),
        healthy(
            "Python, a heavy tail",
            &["idle_pace"],
            vec![
                python("60 ms", ("sleep", "tail 60"), users(48)),
                python("30 ms", ("sleep", "tail 30"), users(24)),
            ],
        ),
        healthy(
            "Python, a cache that is warm",
            &["idle_pace"],
            vec![
                python("20 ms", ("sleep", "cache 20"), users(16)),
                python("60 ms", ("sleep", "cache 60"), users(32)),
            ],
        ),
    ]
}
