//! Server-sent events: each client gets the latest of what changes, as fast as it takes it.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use http_body_util::channel::{Channel, Sender};
use tokio::sync::{Notify, watch};
use tokio::time::timeout;

/// A client that takes nothing for so long is dropped.
const PATIENCE: Duration = Duration::from_secs(10);
/// Frames under way to a client, beside what its connection buffers.
const FRAMES: usize = 1;

/// The body of an answer that goes on, and what has it go on until the client leaves or takes nothing for too long; then
/// `dropped` is told, so that its connection is closed.
pub(crate) fn stream(
    latest: watch::Receiver<Bytes>,
    dropped: Arc<Notify>,
) -> (Channel<Bytes, Infallible>, impl Future<Output = ()>) {
    let (sender, body) = Channel::new(FRAMES);
    (body, async move {
        if send_all(latest, sender).await.is_err() {
            dropped.notify_one();
        }
    })
}

/// The client took nothing for too long.
struct TooSlow;

/// Sends what is there, and then each change that is still the latest when the client has taken the one before.
async fn send_all(
    mut latest: watch::Receiver<Bytes>,
    mut sender: Sender<Bytes, Infallible>,
) -> Result<(), TooSlow> {
    latest.mark_changed();
    // It ends with whoever publishes.
    while latest.changed().await.is_ok() {
        let frame = event(&latest.borrow_and_update());
        match timeout(PATIENCE, sender.send_data(frame)).await {
            Ok(Ok(())) => {}
            // It left.
            Ok(Err(_)) => return Ok(()),
            Err(_) => return Err(TooSlow),
        }
    }
    Ok(())
}

/// One event: `data: ` and the JSON, which has no line end in it.
fn event(json: &Bytes) -> Bytes {
    let mut frame = BytesMut::with_capacity(json.len() + 8);
    frame.put_slice(b"data: ");
    frame.put_slice(json);
    frame.put_slice(b"\n\n");
    frame.freeze()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_a_line_and_an_empty_one() {
        assert_eq!(event(&Bytes::from_static(b"{\"a\":1}")), "data: {\"a\":1}\n\n");
    }
}
