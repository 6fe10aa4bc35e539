//! Loads over a socket of this machine.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use crate::common::{ends_with, json, run, text};
use crate::loads::service_did_well;

/// A server at a path that answers every request, and keeps what the first one said.
struct Server {
    folder: tempfile::TempDir,
    path: PathBuf,
}

impl Server {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shop.sock");
        let listener = UnixListener::bind(&path).unwrap();
        let first = folder.path().join("first");
        // Ends with the test process: it blocks in `accept` and holds nothing of value.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let first = first.clone();
                std::thread::spawn(move || serve(stream, &first));
            }
        });
        Self { folder, path }
    }

    /// What it was sent first.
    fn first(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("first")).unwrap()
    }
}

/// Answers requests without a body, one after the other.
fn serve(mut stream: UnixStream, first: &Path) {
    let mut received = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        received.extend_from_slice(&buffer[..count]);
        while let Some(end) = received.windows(4).position(|it| it == b"\r\n\r\n") {
            if !first.exists() {
                std::fs::write(first, &received[..end]).unwrap();
            }
            received.drain(..end + 4);
            if stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello").is_err() {
                return;
            }
        }
    }
}

#[test]
fn both_drivers_load_over_a_socket_with_the_host_of_the_url() {
    let server = Server::start();
    let path = server.path.display().to_string();
    for io in ["epoll", "auto"] {
        let url = "http://shop.test/items";
        let output =
            run(&["hit", url, "--unix-socket", &path, "-n", "200", "-c", "4", "--json", "-q", "--io", io]);
        let result = json(&output);
        assert!(service_did_well(&result), "{result:#}");
        assert_eq!(result["outcomes"]["answered"], 200, "{result:#}");
        assert_eq!(result["via"], format!("the socket {path}").as_str());
    }
    let first = server.first();
    assert!(first.starts_with("GET /items HTTP/1.1\r\nHost: shop.test\r\n"), "{first}");
    let shown =
        text(&run(&["hit", "http://shop.test/", "--unix-socket", &path, "-n", "20", "-c", "2", "-q"]));
    assert!(shown.contains(&format!("\nby way of   the socket {path}\n")), "{shown}");
}

#[test]
fn what_can_be_no_socket_is_told_in_one_error() {
    let server = Server::start();
    let path = server.path.display().to_string();
    let said =
        ends_with(2, &["hit", "http://x/", "--unix-socket", &path, "--resolve", "x:80:127.0.0.1", "-q"]);
    assert!(said.contains("--unix-socket") && said.contains("--resolve"), "{said}");
    let long = format!("/{}", "x".repeat(107));
    let said = ends_with(2, &["hit", "http://x/", "--unix-socket", &long, "-q"]);
    assert!(said.contains("can't be the path of a socket") && said.contains("107 bytes"), "{said}");
    let said = ends_with(3, &["hit", "http://x/", "--unix-socket", "/no/such.sock", "-q"]);
    assert!(said.contains("cannot connect to the socket /no/such.sock"), "{said}");
    let said = ends_with(2, &["hit", "http://x/", "--unix-socket", &path, "--hosts", "a,b", "-q"]);
    assert!(said.contains("--unix-socket is for a load of one machine"), "{said}");
    let said = ends_with(2, &["hit", "http://x/{{uuid}}", "--unix-socket", &path, "-q"]);
    assert!(said.contains("--unix-socket is about requests that are all the same"), "{said}");
}
