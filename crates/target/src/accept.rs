//! Accepting connections.

use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{SocketFlags, accept_with};

use crate::connection::Connection;
use crate::request::Inbox;
use crate::secured::Secured;
use crate::shared::Shared;

/// The pause after an `accept` that failed for want of a resource, which would fail again at once.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// Accepts one; `None` when none waits. `flags` may ask for a non-blocking socket.
pub(crate) fn accept(listener: &TcpListener, shared: &Shared, flags: SocketFlags) -> Option<Connection> {
    loop {
        match accept_with(listener, flags | SocketFlags::CLOEXEC) {
            Ok(socket) => {
                let secured = match shared.config.tls.as_ref().map(Secured::new) {
                    Some(None) => {
                        shared.connection_failed();
                        return None;
                    }
                    secured => secured.flatten().map(Box::new),
                };
                let id = shared.next_connection();
                let stream = Arc::new(TcpStream::from(socket));
                return Some(Connection { stream, id, inbox: Inbox::default(), answers: 0, secured });
            }
            Err(Errno::AGAIN) => return None,
            Err(Errno::INTR | Errno::CONNABORTED) => {}
            Err(_) => {
                shared.connection_failed();
                std::thread::sleep(ACCEPT_PAUSE);
                return None;
            }
        }
    }
}
