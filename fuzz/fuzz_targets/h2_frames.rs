//! Any bytes, any bounds, any cuts: a connection of HTTP/2 does not panic, tells each exchange's end once at most, and
//! comes to the same however the bytes are cut.
//!
//! Run: `cargo +nightly fuzz run h2_frames fuzz/corpus/h2_frames -- -max_total_time=60`. A new find goes to
//! `fuzz/artifacts`; make it a named test in `crates/h2/tests/it`.
#![no_main]

use http::{Limits, Protocol, RequestKind};
use libfuzzer_sys::fuzz_target;

// The tests' own harness.
#[path = "../../crates/h2/tests/it/support.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod support;

use support::{Client, Told, settings};

/// Input bytes that steer; the rest is the wire.
const STEERING_BYTES: usize = 6;
const STREAMS: u32 = 5;

fuzz_target!(|input: &[u8]| {
    let Some((steering, wire)) = input.split_first_chunk::<STEERING_BYTES>() else { return };
    let whole = observe(steering, &[wire]);
    let cuts = usize::from(steering[5]).max(1);
    assert_eq!(observe(steering, &wire.chunks(cuts).collect::<Vec<_>>()), whole, "cut by {cuts}");
    assert_eq!(observe(steering, &wire.chunks(1).collect::<Vec<_>>()), whole, "cut into bytes");
    for place in 0..STREAMS {
        let ends = whole.0.iter().filter(|told| matches!(told, Told::Ended(of, _) | Told::Failed(of, _) if *of == place));
        assert!(ends.count() <= 1, "one end of one request");
    }
});

fn observe(steering: &[u8; STEERING_BYTES], pieces: &[&[u8]]) -> (Vec<Told>, Vec<u8>) {
    let [head, headers, window, greeted, body, _] = *steering;
    let bound = |byte: u8, default: u32| if byte == 0 { default } else { u32::from(byte) };
    let default = Limits::default();
    let limits = Limits {
        head_bytes_max: bound(head, default.head_bytes_max),
        headers_max: bound(headers, default.headers_max.into()) as u16,
        ..default
    };
    let bits = 10 + u32::from(window % 21);
    let asked = h2::Settings { streams: STREAMS, window_bits: bits, connection_window_bits: bits, ..h2::Settings::default() };
    let mut client = Client::new(asked, limits);
    if greeted % 4 > 0 {
        client.feed(&settings(&[]));
        let request = support::request(&vec![b'x'; usize::from(body) * 1000]);
        (0..STREAMS).for_each(|place| {
            let kind = if place == 1 { RequestKind::Head } else { RequestKind::Ordinary };
            client.send(place, kind, &request);
        });
        if greeted % 4 == 2 {
            client.http.cancel(2, &mut client.out);
        }
    }
    pieces.iter().for_each(|piece| client.feed(piece));
    (client.told, client.out)
}
