//! Servers that others run: nginx, and that of Go's library.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::hit2;
use crate::common::wait_until;
use crate::loads::{outcome, service_did_well};

/// A server of another make; ends when dropped.
struct Other(Child);

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a port is free").port()
}

fn start(mut command: Command, port: u16) -> Other {
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let other = Other(child.expect("it is installed: `make setup` does that"));
    wait_until("it listens", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
    other
}

fn nginx(dir: &Path, port: u16) -> Other {
    let conf = format!(
        "daemon off;\nmaster_process off;\npid {0}/pid;\nerror_log {0}/error.log;\nevents {{}}\nhttp {{\n\
         access_log off;\nclient_body_temp_path {0}/b;\nproxy_temp_path {0}/p;\nfastcgi_temp_path {0}/f;\n\
         uwsgi_temp_path {0}/u;\nscgi_temp_path {0}/s;\nserver {{ listen 127.0.0.1:{port} http2;\n\
         location / {{ return 200 hello; }} }} }}\n",
        dir.display()
    );
    std::fs::write(dir.join("nginx.conf"), conf).expect("it can be written");
    let mut command = Command::new("nginx");
    command.arg("-e").arg(dir.join("error.log")).arg("-p").arg(dir).arg("-c").arg(dir.join("nginx.conf"));
    start(command, port)
}

const GO: &str = r#"package main

import (
	"io"
	"net/http"
	"os"
)

func main() {
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	answer := func(to http.ResponseWriter, request *http.Request) {
		io.Copy(io.Discard, request.Body)
		io.WriteString(to, "hello")
	}
	server := http.Server{Addr: os.Args[1], Handler: http.HandlerFunc(answer), Protocols: &protocols}
	server.ListenAndServe()
}
"#;

fn go(dir: &Path, port: u16) -> Other {
    std::fs::write(dir.join("main.go"), GO).expect("it can be written");
    let built = Command::new("go").args(["build", "-o", "server", "main.go"]).current_dir(dir).status();
    assert!(built.expect("go is installed: `make setup` does that").success());
    let mut command = Command::new(dir.join("server"));
    command.arg(format!("127.0.0.1:{port}"));
    start(command, port)
}

#[test]
#[ignore = "slow: starts nginx, and compiles a server of Go's"]
fn nginx_and_go_answer_whatever_is_asked() {
    for server in [nginx, go] {
        let (dir, port) = (tempfile::tempdir().expect("a folder"), free_port());
        let _server = server(dir.path(), port);
        let url = format!("http://127.0.0.1:{port}/");
        for io in ["epoll", "auto"] {
            // nginx ends each connection after 1000 requests.
            let arguments =
                ["-c", "2", "--streams", "32", "-n", "20000", "--expect-body", "hello", "--io", io];
            let result = hit2(&url, &arguments);
            assert!(service_did_well(&result), "{result:#}");
            assert_eq!(outcome(&result, "answered"), 20_000, "{result:#}");
            let arguments = ["-c", "4", "--streams", "8", "--rate", "500", "-d", "1s", "--io", io];
            assert_eq!(hit2(&url, &arguments)["answered_as_expected"], 500);
            let arguments =
                ["-c", "2", "--streams", "4", "-n", "200", "--body", &"x".repeat(100_000), "--io", io];
            assert_eq!(outcome(&hit2(&url, &arguments), "answered"), 200);
        }
    }
}
