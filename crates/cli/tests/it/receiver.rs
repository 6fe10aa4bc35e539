//! A receiver of pushed metrics that answers as it is told to.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A request that came.
#[derive(Debug, Clone)]
pub struct Received {
    /// `POST /path HTTP/1.1`.
    pub line: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Received {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str())
    }
}

/// Listens on loopback until the process ends.
pub struct Receiver {
    pub url: String,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Receiver {
    /// One that answers with `answers` in turn, each a status with what follows it (`503 X\r\nRetry-After: 1`) and a body,
    /// and then with the last for ever. An empty status hangs up.
    pub fn start(answers: &'static [(&'static str, &'static [u8])]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a port");
        let url = format!("http://{}", listener.local_addr().expect("it is bound"));
        let received = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&received);
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                // A sender may close when it likes.
                let _ = connection.and_then(|stream| serve(&stream, answers, &kept));
            }
        });
        Self { url, received }
    }

    /// One that says once that it is busy, then is not there for a moment, and then takes all: it is started anew.
    pub fn restarting() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a port");
        let address = listener.local_addr().expect("it is bound");
        let received = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&received);
        std::thread::spawn(move || {
            let Ok((stream, _)) = listener.accept() else { return };
            // Before it answers: whoever comes back at once finds nobody.
            drop(listener);
            let busy: [(&str, &[u8]); 1] = [("503 Busy\r\nRetry-After: 0\r\nConnection: close", b"")];
            let _ = exchange(&mut BufReader::new(&stream), &stream, &busy, &kept);
            drop(stream);
            std::thread::sleep(Duration::from_millis(200));
            let listener = TcpListener::bind(address).expect("its port is still there");
            for stream in listener.incoming().flatten() {
                let _ = serve(&stream, &[("204 No Content", b"")], &kept);
            }
        });
        Self { url: format!("http://{address}"), received }
    }

    /// What came so far.
    pub fn received(&self) -> Vec<Received> {
        self.received.lock().expect("nobody panicked").clone()
    }
}

fn serve(stream: &TcpStream, answers: &[(&str, &[u8])], kept: &Mutex<Vec<Received>>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    while exchange(&mut reader, stream, answers, kept)? {}
    Ok(())
}

/// Takes one request and answers it; false where none came, or it was to hang up.
fn exchange(
    reader: &mut BufReader<&TcpStream>,
    mut stream: &TcpStream,
    answers: &[(&str, &[u8])],
    kept: &Mutex<Vec<Received>>,
) -> std::io::Result<bool> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(false);
    }
    let mut headers = Vec::new();
    loop {
        let mut field = String::new();
        reader.read_line(&mut field)?;
        let Some((name, value)) = field.trim().split_once(':') else { break };
        headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let mut it = Received { line: line.trim().to_owned(), headers, body: Vec::new() };
    let length = it.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    it.body.resize(length, 0);
    reader.read_exact(&mut it.body)?;
    let number = {
        let mut all = kept.lock().expect("nobody panicked");
        all.push(it);
        all.len()
    };
    let (status, body) = answers[number.min(answers.len()) - 1];
    if status.is_empty() {
        return Ok(false);
    }
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n", body.len())?;
    stream.write_all(body)?;
    Ok(true)
}
