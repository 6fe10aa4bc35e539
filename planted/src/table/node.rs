//! Node: one thread that answers everybody, and seven more of its name that have nothing to do with it.

use super::{at_rate, computes, healthy, planted, program, users};
use crate::case::{Case, Load, Size};
use crate::program::Language::Node;

pub(super) fn cases() -> Vec<Case> {
    [held(), limited(), sound()].concat()
}

fn node(label: &'static str, what: (&'static str, &'static str), load: Load) -> Size {
    program(label, Node, what, load)
}

fn held() -> Vec<Case> {
    vec![
        // 1/time a second, whoever asks.
        planted(
            "Node, blocked event loop",
            &["blocked_event_loop"],
            vec![
                node("waits for 2 ms", ("blocked", "waits 2"), users(32)),
                computes(node("computes for 3 ms", ("blocked", "computes 3"), users(32))),
            ],
        ),
        // Permits/100 ms: 80 and 70 a second. Seven is also how many threads of one name there are.
        planted(
            "Node, limit inside",
            &["limit_inside"],
            vec![
                node("8 permits", ("gate", "8 100"), users(32)),
                node("7 permits", ("gate", "7 100"), users(28)),
            ],
        ),
        // Processes/time: 80 and 100 a second.
        planted(
            "Node, a pool of processes",
            &["pool_limit"],
            vec![
                node("4 of 50 ms", ("workers", "4 50"), users(32)),
                node("3 of 30 ms", ("workers", "3 30"), users(24)),
            ],
        ),
        // Connections/time: 120 and 100 a second.
        planted(
            "Node, a pool of connections",
            &["limit_inside"],
            vec![
                node("6 of 50 ms", ("downstream", "6 50"), users(32)),
                node("10 of 100 ms", ("downstream", "10 100"), users(40)),
            ],
        ),
        // 400 a second become 1600, and 480 become 1200, after a third of the window.
        planted(
            "Node, a cache that warms",
            &["not_steady"],
            vec![
                node("40 ms to 10 ms", ("cache", "40 10 1200"), Load { window_s: 6, ..users(16) }),
                node("50 ms to 20 ms", ("cache", "50 20 1440"), Load { window_s: 6, ..users(24) }),
            ],
        ),
    ]
}

/// So many a second, whoever asks; and a share of them, which is none.
fn limited() -> Vec<Case> {
    vec![
        planted(
            "Node, rate limiter that delays",
            &["rate_limiter"],
            vec![
                node("500/s", ("limiter", "delays 500"), users(64)),
                node("200/s", ("limiter", "delays 200"), users(32)),
                // One user alone gets 150 a second, too, though 5 ms of work would let 200 through.
                node("150/s of 5 ms each", ("limiter", "delays 150 5"), users(32)),
                // Ten are under way, and nothing lets ten in at a time.
                node("250/s of 40 ms each", ("limiter", "delays 250 40"), users(48)),
            ],
        ),
        // No token is saved: after a pause one comes at once, and those behind it at the rate.
        planted(
            "Node, rate limiter that spaces",
            &["rate_limiter"],
            vec![
                node("300/s", ("limiter", "spaces 300"), users(48)),
                node("120/s", ("limiter", "spaces 120"), users(32)),
            ],
        ),
        // A tenth of the rate ten times a second. Those who wait are let go together, as by so many at a time.
        planted(
            "Node, rate limiter by ticks",
            &["rate_limiter"],
            vec![
                node("100/s", ("limiter", "ticks 100"), users(48)),
                node("300/s", ("limiter", "ticks 300"), users(96)),
            ],
        ),
        // Whoever is refused asks again at once: thousands of refusals a second, and 20 or 50 answers. Both names are true.
        planted(
            "Node, rate limiter that refuses",
            &["rate_limiter", "incorrect_service"],
            vec![
                node("20/s", ("limiter", "refuses 20"), users(16)),
                node("50/s", ("limiter", "refuses 50"), users(32)),
            ],
        ),
        // A share of the requests, and no rate.
        planted(
            "Node, 99 % refused",
            &["incorrect_service"],
            vec![
                node("16 users", ("refuses", "100"), users(16)),
                node("500/s", ("refuses", "100"), at_rate("500")),
            ],
        ),
    ]
}

/// N users get N/time, where nobody waits for anybody, whatever the times are spread like.
fn sound() -> Vec<Case> {
    vec![
        healthy(
            "Node, timers",
            &["idle_pace"],
            vec![
                node("100 ms", ("sleep", "fixed 100"), users(32)),
                node("1 s", ("sleep", "fixed 1000"), Load { window_s: 5, ..users(64) }),
            ],
        ),
        // N/time where each connection is kept, and waits by itself.
        healthy(
            "Node, connections that wait by themselves",
            &["idle_pace"],
            vec![node("100 ms", ("kept", "100"), users(16)), node("50 ms", ("kept", "50"), users(32))],
        ),
        healthy(
            "Node, exponential times",
            &["idle_pace"],
            vec![
                node("50 ms", ("sleep", "exponential 50"), users(32)),
                node("20 ms", ("sleep", "exponential 20"), users(16)),
            ],
        ),
        healthy(
            "Node, a heavy tail",
            &["idle_pace"],
            vec![
                node("60 ms", ("sleep", "tail 60"), users(48)),
                node("30 ms", ("sleep", "tail 30"), users(32)),
            ],
        ),
        healthy(
            "Node, a cache that is warm",
            &["idle_pace"],
            vec![
                node("20 ms", ("sleep", "cache 20"), users(32)),
                node("60 ms", ("sleep", "cache 60"), users(48)),
            ],
        ),
        healthy(
            "Node, a slow downstream",
            &["idle_pace"],
            vec![
                node("100 ms", ("downstream", "0 100"), users(32)),
                node("300 ms", ("downstream", "0 300"), users(64)),
            ],
        ),
        healthy(
            "Node, an open load that is kept",
            &["keeps_rate"],
            vec![
                node("300/s", ("sleep", "fixed 20"), at_rate("300")),
                node("100/s, exponential", ("sleep", "exponential 50"), at_rate("100")),
            ],
        ),
    ]
}
