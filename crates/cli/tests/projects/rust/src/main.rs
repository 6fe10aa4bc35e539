//! A service of one's own in Rust, with what comes with the language: routes are compared by hand.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};

fn main() -> std::io::Result<()> {
    let port = std::env::var("PORT").unwrap_or_else(|_| "3000".into());
    let listener = TcpListener::bind(format!("127.0.0.1:{port}"))?;
    for stream in listener.incoming() {
        let stream = stream?;
        std::thread::spawn(move || serve(stream));
    }
    Ok(())
}

fn serve(mut stream: TcpStream) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    while let Some(request) = lines.next() {
        let request = request?;
        while lines.next().transpose()?.is_some_and(|header| !header.is_empty()) {}
        let url = request.split(' ').nth(1).unwrap_or_default().to_owned();
        let (status, body) = if url == "/greeting" { ("200 OK", "hello\n") } else { ("404 Not Found", "not here\n") };
        write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len())?;
    }
    Ok(())
}
