//! How far the opening is, for whoever watches.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::num::NonZeroU64;

use driver::{Backend, Control, Route, probe_uring, run_engine};
use engine::Sample;

use crate::common;

const CONNECTIONS: u32 = 8;

/// Answers whatever it reads. It ends with the test process.
pub(crate) fn server() -> Route {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("a bound address");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || {
                let mut bytes = [0; 1024];
                while let Ok(1..) = stream.read(&mut bytes) {
                    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
                }
            });
        }
    });
    Route::new(vec![address], 0).expect("one target")
}

/// On loopback so few are open within a turn of the loop, and counted all the same.
fn counts_them_all(backend: Backend) {
    let mut config = common::config(CONNECTIONS);
    config.stop.requests = NonZeroU64::new(100);
    let control = Control::default();
    let sink = |_: &Sample| {};
    let finished = run_engine::<_, http::Http1>(config, (), server(), sink, &control, None, backend)
        .expect("the IO works");
    assert!(finished.counters.connections_opened >= u64::from(CONNECTIONS));
    assert!(control.connections_tried() >= u64::from(CONNECTIONS), "{}", control.connections_tried());
}

#[test]
fn epoll_counts_all_connections_of_a_short_opening() {
    counts_them_all(Backend::Epoll);
}

#[test]
fn io_uring_counts_all_connections_of_a_short_opening() {
    if let Err(refused) = probe_uring(CONNECTIONS) {
        eprintln!("not tried: {refused}");
        return;
    }
    counts_them_all(Backend::Uring);
}

/// Whoever interrupts a load when all of it has its outcome ends nothing.
#[test]
fn a_load_is_interrupted_by_what_comes_before_its_end() {
    for (at, interrupted) in [(1, true), (10, false)] {
        let mut config = common::config(2);
        config.stop.requests = NonZeroU64::new(10);
        let (control, mut samples) = (Control::default(), 0);
        let sink = |_: &Sample| {
            samples += 1;
            if samples == at {
                control.interrupt();
            }
        };
        let backend = Backend::Epoll;
        let finished = run_engine::<_, http::Http1>(config, (), server(), sink, &control, None, backend)
            .expect("the IO works");
        assert_eq!(finished.interrupted, interrupted, "at sample {at}");
    }
}
