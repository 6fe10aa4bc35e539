//! Go: a goroutine for each connection, on as few threads of the system as will do.

use super::{at_rate, computes, fresh, healthy, planted, program, shared, speaking, users};
use crate::case::{Case, Load, Size};
use crate::program::Language::Go;
use crate::speaks::Speaks;

pub(super) fn cases() -> Vec<Case> {
    [held(), protocols(), sound()].concat()
}

fn go(label: &'static str, what: (&'static str, &'static str), load: Load) -> Size {
    program(label, Go, what, load)
}

fn held() -> Vec<Case> {
    vec![
        // Places/time: 160, 400 and 40 a second, the last in batches of six.
        planted(
            "Go, limit inside",
            &["limit_inside"],
            vec![
                go("channel of 8", ("gate", "8 50"), users(32)),
                go("channel of 20", ("gate", "20 50"), users(64)),
                go("channel of 6 for 150 ms", ("gate", "6 150"), users(24)),
            ],
        ),
        // 1/time: 500 and 333 a second.
        planted(
            "Go, a mutex",
            &["serial_section"],
            vec![
                go("sleeps for 2 ms", ("mutex", "sleeps 2"), users(16)),
                computes(go("computes for 3 ms", ("mutex", "computes 3"), users(16))),
            ],
        ),
        // 1/time of the lock, whatever goes on before it: 250 and 200 a second. A limiter that saves nothing looks the same.
        planted(
            "Go, a mutex within the answer",
            &["serial_section"],
            vec![
                go("4 ms of 40 ms", ("mutex", "sleeps 4 36"), users(48)),
                go("5 ms of 10 ms", ("mutex", "sleeps 5 5"), users(24)),
            ],
        ),
        planted(
            "Go, rate limiter that delays",
            &["rate_limiter"],
            vec![
                go("500/s", ("limiter", "delays 500"), users(64)),
                go("1200/s", ("limiter", "delays 1200"), users(64)),
            ],
        ),
        // Half of what is asked for is refused, or a third: both names are true, and the same.
        planted(
            "Go, rate limiter that refuses",
            &["rate_limiter", "incorrect_service"],
            vec![
                go("500/s of 1000/s", ("limiter", "refuses 500"), at_rate("1000")),
                go("200/s of 300/s", ("limiter", "refuses 200"), at_rate("300")),
            ],
        ),
        // Connections/time: 160 and 150 a second.
        planted(
            "Go, a pool of connections",
            &["limit_inside"],
            vec![
                go("8 of 50 ms", ("downstream", "8 50"), users(40)),
                go("15 of 100 ms", ("downstream", "15 100"), users(60)),
            ],
        ),
        // 480 a second become 1200, and 400 become 2000, after a third of the window.
        planted(
            "Go, a cache that warms",
            &["not_steady"],
            vec![
                go("50 ms to 20 ms", ("cache", "50 20 1440"), Load { window_s: 6, ..users(24) }),
                go("80 ms to 16 ms", ("cache", "80 16 1200"), Load { window_s: 6, ..users(32) }),
            ],
        ),
    ]
}

/// What HTTP/2 and TLS have of their own.
fn protocols() -> Vec<Case> {
    let h2c = |label, what, load| speaking(Speaks::H2c, go(label, what, load));
    let shakes = |label, what| computes(speaking(Speaks::Https, go(label, what, fresh(users(16)))));
    vec![
        // Connections · streams / time: 160 and 150 a second.
        planted(
            "Go, streams of HTTP/2",
            &["stream_limit"],
            vec![
                h2c("4 on each of 2, 50 ms", ("streams", "4 50"), shared(users(2), 16)),
                h2c("15 on one, 100 ms", ("streams", "15 100"), shared(users(1), 45)),
            ],
        ),
        planted(
            "Go, a handshake a request",
            &["tls_handshakes"],
            vec![
                shakes("RSA of 2048 bits", ("handshakes", "2048")),
                shakes("RSA of 3072 bits", ("handshakes", "3072")),
            ],
        ),
        healthy(
            "Go, streams for all users",
            &["idle_pace"],
            vec![
                h2c("16 on each of 2", ("streams", "100 50"), shared(users(2), 16)),
                h2c("40 on one", ("streams", "40 100"), shared(users(1), 40)),
            ],
        ),
    ]
}

fn sound() -> Vec<Case> {
    vec![
        healthy(
            "Go, sleeping goroutines",
            &["idle_pace"],
            vec![
                go("100 ms", ("sleep", "fixed 100"), users(32)),
                go("1 s", ("sleep", "fixed 1000"), Load { window_s: 5, ..users(64) }),
            ],
        ),
        healthy(
            "Go, exponential times",
            &["idle_pace"],
            vec![
                go("20 ms", ("sleep", "exponential 20"), users(32)),
                go("100 ms", ("sleep", "exponential 100"), users(64)),
            ],
        ),
        healthy(
            "Go, a heavy tail",
            &["idle_pace"],
            vec![go("30 ms", ("sleep", "tail 30"), users(48)), go("60 ms", ("sleep", "tail 60"), users(64))],
        ),
        healthy(
            "Go, a cache that is warm",
            &["idle_pace"],
            vec![
                go("20 ms", ("sleep", "cache 20"), users(32)),
                go("60 ms", ("sleep", "cache 60"), users(48)),
            ],
        ),
        healthy(
            "Go, an open load that is kept",
            &["keeps_rate"],
            vec![
                go("500/s", ("sleep", "fixed 10"), at_rate("500")),
                go("200/s, a heavy tail", ("sleep", "tail 30"), at_rate("200")),
            ],
        ),
    ]
}
