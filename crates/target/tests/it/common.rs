//! A client of one connection, and a server of each model to point it at.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use target::{Config, Model, Server, start};

/// An answer, taken apart.
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

/// A connection.
pub struct Client {
    pub stream: BufReader<TcpStream>,
}

impl Client {
    pub fn connect(addr: SocketAddr) -> Self {
        let stream = TcpStream::connect(addr).expect("the server listens");
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        Self { stream: BufReader::new(stream) }
    }

    pub fn send(&mut self, text: &str) {
        self.stream.get_mut().write_all(text.as_bytes()).unwrap();
    }

    pub fn get(&mut self, path: &str) -> Answer {
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: test\r\n\r\n"));
        self.read()
    }

    pub fn read(&mut self) -> Answer {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(self.stream.read_line(&mut head).unwrap() > 0, "closed after {head:?}");
        }
        let status = head[9..12].parse().unwrap();
        let length = head.split_once("Content-Length: ").unwrap().1.split_once("\r\n").unwrap().0;
        let mut body = vec![0; length.parse().unwrap()];
        self.stream.read_exact(&mut body).unwrap();
        Answer { status, head, body }
    }

    pub fn is_closed(&mut self) -> bool {
        self.stream.fill_buf().is_ok_and(<[u8]>::is_empty)
    }
}

/// Checks a server of each model.
pub fn each_model(config: &Config, check: impl Fn(Server)) {
    for (name, model) in Model::ALL {
        println!("model {name}");
        check(start(Config { model, ..config.clone() }).unwrap());
    }
}

/// How long `connections` take for `each` requests to `path`.
pub fn time_load(addr: SocketAddr, path: &str, connections: usize, each: usize) -> Duration {
    let begun = Instant::now();
    thread::scope(|scope| {
        for _ in 0..connections {
            scope.spawn(move || {
                let mut client = Client::connect(addr);
                (0..each).for_each(|_| assert_eq!(client.get(path).status, 200));
            });
        }
    });
    begun.elapsed()
}
