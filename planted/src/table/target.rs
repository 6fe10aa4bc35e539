//! The calibration server, which plants what its options say, and stacks of the repository.

use super::{and, computes, fresh, healthy, planted, shared, speaking, split, stack, target, warm};
use crate::case::{
    Around::{FewPorts, Hogs},
    Case, Cores,
    Endpoint::{Hello, Sleep},
    Load, Size,
};
use crate::speaks::Speaks::H2c;

/// All of them.
pub(super) fn cases() -> Vec<Case> {
    [
        pools(),
        serial(),
        cpu(),
        connections(),
        streams(),
        jvm(),
        system(),
        surroundings(),
        behaviour(),
        sound(),
    ]
    .concat()
}

/// K/100 ms, here or upstream. Three users for each of the K, so that ten answer times fit into the window.
fn pools() -> Vec<Case> {
    let alone = |connections| Load { with_upstreams: true, window_s: 5, ..Load::closed(Sleep, connections) };
    vec![
        planted(
            "pool of K",
            &["pool_limit"],
            vec![
                target("K = 16", "--model pool --threads 16", Load::closed(Sleep, 48)),
                target("K = 5", "--model pool --threads 5", Load::closed(Sleep, 15)),
                target("K = 60", "--model pool --threads 60", Load::closed(Sleep, 180)),
            ],
        ),
        planted(
            "upstream pool of K",
            &["upstream_pool_limit"],
            vec![
                stack("K = 8", "planted-proxy@maxconn-8", Load::closed(Sleep, 24)),
                stack("K = 32", "planted-proxy@maxconn-32", Load::closed(Sleep, 96)),
            ],
        ),
        planted(
            "slow backend behind a healthy proxy",
            &["backend_bound"],
            vec![
                stack("48 users", "planted-proxy@slow-backend", alone(48)),
                stack("32 users", "planted-proxy@slow-backend", alone(32)),
            ],
        ),
    ]
}

/// One request at a time: 1/section, with hardly any CPU time or with all of one core.
fn serial() -> Vec<Case> {
    vec![
        planted(
            "serial section under a lock",
            &["serial_section"],
            vec![
                target("1 ms", "--model thread-per-connection --serial 1ms", Load::closed(Hello, 16)),
                target("3 ms", "--model thread-per-connection --serial 3ms", Load::closed(Hello, 32)),
                target("3 ms in a pool", "--model pool --threads 32 --serial 3ms", Load::closed(Hello, 24)),
            ],
        ),
        planted(
            "serial section that computes",
            &["serial_section"],
            vec![
                computes(target(
                    "1 ms",
                    "--model thread-per-connection --burn 1ms --burn-serial",
                    Load::closed(Hello, 16),
                )),
                computes(target(
                    "3 ms",
                    "--model pool --threads 16 --burn 3ms --burn-serial",
                    Load::closed(Hello, 16),
                )),
            ],
        ),
        planted(
            "blocked event loop",
            &["blocked_event_loop"],
            vec![
                target("2 ms", "--model event-loop --block-loop 2ms", Load::closed(Hello, 32)),
                target("5 ms", "--model event-loop --block-loop 5ms", Load::closed(Hello, 32)),
                computes(target(
                    "computes for 1 ms",
                    "--model event-loop --burn 1ms",
                    Load::closed(Hello, 32),
                )),
            ],
        ),
    ]
}

/// All the CPU time that the server may have.
fn cpu() -> Vec<Case> {
    let burns = |label, options| computes(target(label, options, split(Load::closed(Hello, 32))));
    let quota = |label, options, limits| {
        and(target(label, options, Load::closed(Hello, 16)), |target| target.limits = limits)
    };
    vec![
        planted(
            "CPU burn",
            &["cpu_bound"],
            vec![
                burns("1 ms", "--model pool --threads 16 --burn 1ms"),
                burns("300 us", "--model pool --threads 16 --burn 300us"),
            ],
        ),
        planted(
            "cgroup CPU quota",
            &["quota_bound"],
            vec![
                quota("0.5 cores", "--model pool --threads 16 --burn 1ms", "cpu = 0.5"),
                quota("0.25 cores", "--model pool --threads 16 --burn 300us", "cpu = 0.25"),
            ],
        ),
    ]
}

/// What becomes of connections. A new one is accepted every pause at most, so that it is their number that limits.
fn connections() -> Vec<Case> {
    let closes =
        |label, options| and(target(label, options, Load::closed(Hello, 32)), |target| target.closes = true);
    let files = |label, limits, connections| {
        let load = Load { timeout_s: 2, ..Load::closed(Sleep, connections) };
        and(target(label, "--model thread-per-connection", load), |target| target.limits = limits)
    };
    let overflow = Load { timeout_s: 5, window_s: 5, ..fresh(Load::closed(Hello, 64)) };
    vec![
        planted(
            "accept queue of 1 with slow accepts",
            &["accept_queue_overflow"],
            vec![
                target("5 ms", "--model thread-per-connection --backlog 1 --accept-pause 5ms", overflow),
                target("20 ms", "--model thread-per-connection --backlog 1 --accept-pause 20ms", overflow),
            ],
        ),
        planted(
            "keep-alive cap",
            &["keep_alive_cap"],
            vec![
                target(
                    "5 requests",
                    "--model thread-per-connection --close-every 5 --accept-pause 2ms",
                    Load::closed(Hello, 32),
                ),
                target(
                    "50 requests",
                    "--model thread-per-connection --close-every 50 --accept-pause 10ms",
                    Load::closed(Hello, 32),
                ),
            ],
        ),
        planted(
            "no keep-alive",
            &["no_keep_alive"],
            vec![
                closes("1 ms", "--model thread-per-connection --close-every 1 --accept-pause 1ms"),
                closes("3 ms", "--model thread-per-connection --close-every 1 --accept-pause 3ms"),
            ],
        ),
        planted(
            "descriptor limit",
            &["descriptor_limit"],
            vec![files("64 files", "open_files = 64", 100), files("128 files", "open_files = 128", 200)],
        ),
        planted(
            "ephemeral ports exhausted",
            &["port_exhaustion"],
            vec![
                Size {
                    around: FewPorts(50),
                    ..target("50 ports", "--model event-loop", fresh(Load::closed(Hello, 100)))
                },
                Size {
                    around: FewPorts(20),
                    ..target("20 ports", "--model event-loop", fresh(Load::closed(Sleep, 64)))
                },
            ],
        ),
    ]
}

/// Streams of HTTP/2. M of them on each of C connections: M·C/100 ms.
fn streams() -> Vec<Case> {
    let h2c = |label, options, connections, users| {
        let load = shared(Load { window_s: 5, ..Load::closed(Sleep, connections) }, users);
        speaking(H2c, target(label, options, load))
    };
    vec![
        planted(
            "streams of HTTP/2",
            &["stream_limit"],
            vec![
                h2c("4 on each of 2", "--model event-loop --http2 --max-concurrent-streams 4", 2, 12),
                h2c("10 on one", "--model event-loop --http2 --max-concurrent-streams 10", 1, 40),
            ],
        ),
        healthy(
            "streams for all users",
            &["idle_pace"],
            vec![
                h2c("32 on each of 2", "--model event-loop --http2", 2, 32),
                h2c("8 on each of 4", "--model event-loop --http2 --max-concurrent-streams 8", 4, 8),
            ],
        ),
    ]
}

/// What only a JVM has.
fn jvm() -> Vec<Case> {
    vec![
        planted(
            "garbage collection in a small heap",
            &["garbage_collection"],
            vec![
                computes(stack("48 MiB", "planted-gc", warm(Load::closed(Hello, 16)))),
                computes(stack("96 MiB", "planted-gc@heap-96m", warm(Load::closed(Hello, 16)))),
            ],
        ),
        // As many at a time as there are processors.
        planted(
            "pinned virtual threads",
            &["pinned_carriers"],
            vec![
                stack("100 ms", "planted-pinned", Load { window_s: 5, ..Load::closed(Sleep, 8) }),
                stack("20 ms", "planted-pinned@sleep-20", Load::closed(Sleep, 12)),
            ],
        ),
    ]
}

/// What the system under the server can do.
fn system() -> Vec<Case> {
    vec![planted(
        "log writes",
        &["log_bound"],
        vec![
            target(
                "4 KiB, synced",
                "--model thread-per-connection --log-bytes 4KiB --log-file {work_dir}/requests.log --log-sync",
                Load::closed(Hello, 16),
            ),
            target(
                "256 KiB, synced",
                "--model thread-per-connection --log-bytes 256KiB --log-file {work_dir}/requests.log --log-sync",
                Load::closed(Hello, 16),
            ),
        ],
    )]
}

/// The server is sound; what is wrong is beside it.
fn surroundings() -> Vec<Case> {
    let with_hogs = |label, load, each, on| {
        let size = target(label, "--model event-loop", load);
        Size { around: Hogs { each, on }, ..size }
    };
    let open = |rate| Load { rate: Some(rate), ..split(Load::closed(Hello, 64)) };
    vec![
        planted(
            "generator starved of CPU",
            &["client_bound"],
            vec![
                with_hogs("closed, 4 hogs", split(Load::closed(Hello, 64)), 4, Cores::Client),
                with_hogs("20,000/s, 4 hogs", open("20k"), 4, Cores::Client),
            ],
        ),
        planted(
            "noisy neighbour",
            &["noisy_host"],
            vec![
                with_hogs("2 hogs on the server's core", split(Load::closed(Hello, 32)), 2, Cores::Server),
                with_hogs("3 hogs a core", Load::closed(Hello, 32), 3, Cores::All),
            ],
        ),
    ]
}

/// What a server does wrong while its rate may look right.
fn behaviour() -> Vec<Case> {
    let cold = Load { warm_up_s: 0, ..Load::closed(Hello, 16) };
    let warms = |label, options| computes(target(label, options, cold));
    let errors = |label, error_share| {
        let size = target(label, "--model pool --threads 16 --fail-fast", Load::closed(Sleep, 32));
        and(size, |target| target.error_share = error_share)
    };
    vec![
        planted(
            "warms up while it is measured",
            &["not_steady"],
            vec![
                warms("2 ms over 6 s", "--model pool --threads 16 --warm-up 6s --warm-up-burn 2ms"),
                warms("5 ms over 4 s", "--model pool --threads 16 --warm-up 4s --warm-up-burn 5ms"),
            ],
        ),
        // 64 MB a second either way.
        planted(
            "memory leak",
            &["memory_growth"],
            vec![
                target("128 KiB at 500/s", "--model event-loop --leak 128KiB", Load::closed(Sleep, 50)),
                target(
                    "32 KiB at 2000/s",
                    "--model event-loop --leak 32KiB",
                    Load { rate: Some("2000"), ..Load::closed(Hello, 32) },
                ),
            ],
        ),
        planted(
            "errors that are faster than answers",
            &["incorrect_service"],
            vec![errors("30 %", 0.3), errors("5 %", 0.05)],
        ),
        // 25 a second for each connection.
        planted(
            "delayed acknowledgement",
            &["delayed_ack"],
            vec![
                target("event loop", "--model event-loop --split-answer", Load::closed(Hello, 16)),
                target("threads", "--model thread-per-connection --split-answer", Load::closed(Hello, 32)),
            ],
        ),
    ]
}

/// Nothing to find. To name a fault here is worse than to find none elsewhere.
fn sound() -> Vec<Case> {
    vec![
        healthy(
            "a pool larger than the load",
            &["idle_pace"],
            vec![
                target("64 threads, 16 users", "--model pool --threads 64", Load::closed(Sleep, 16)),
                target("200 threads, 150 users", "--model pool --threads 200", Load::closed(Sleep, 150)),
            ],
        ),
        healthy(
            "an open load that is kept",
            &["keeps_rate"],
            vec![
                target(
                    "1000/s",
                    "--model event-loop",
                    Load { rate: Some("1000"), ..Load::closed(Hello, 32) },
                ),
                target(
                    "100/s of 160/s",
                    "--model pool --threads 16",
                    Load { rate: Some("100"), ..Load::closed(Sleep, 64) },
                ),
            ],
        ),
        healthy(
            "an event loop at idle pace",
            &["idle_pace"],
            vec![
                target("64 users", "--model event-loop", Load::closed(Sleep, 64)),
                target("500 users", "--model event-loop", Load::closed(Sleep, 500)),
            ],
        ),
        healthy(
            "a machine that is used up",
            &["box_bound", "cpu_bound"],
            vec![computes(target("32 users", "--model thread-per-connection", Load::closed(Hello, 32)))],
        ),
        healthy(
            "a big heap",
            &["keeps_rate"],
            vec![stack(
                "500/s",
                "planted-gc@big-heap",
                warm(Load { rate: Some("500"), ..Load::closed(Hello, 16) }),
            )],
        ),
        healthy(
            "virtual threads that are not pinned",
            &["idle_pace"],
            vec![stack("100 ms", "planted-pinned@unpinned", warm(Load::closed(Sleep, 32)))],
        ),
        healthy(
            "a proxy without a bound",
            &["idle_pace"],
            vec![stack("100 ms", "planted-proxy", Load::closed(Sleep, 48))],
        ),
    ]
}
