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

/// Writes a certificate for this machine and its key.
fn certificate(dir: &Path) {
    let key = rcgen::KeyPair::generate().expect("a key");
    let params = rcgen::CertificateParams::new(vec!["127.0.0.1".to_owned()]).expect("a name");
    let certificate = params.self_signed(&key).expect("a certificate");
    for (name, text) in [("cert.pem", certificate.pem()), ("key.pem", key.serialize_pem())] {
        std::fs::write(dir.join(name), text).expect("it can be written");
    }
}

fn nginx(dir: &Path, port: u16, is_secured: bool) -> Other {
    let (ssl, files) = if is_secured {
        ("ssl ", format!("ssl_certificate {0}/cert.pem; ssl_certificate_key {0}/key.pem;", dir.display()))
    } else {
        ("", String::new())
    };
    let conf = format!(
        "daemon off;\nmaster_process off;\npid {0}/pid;\nerror_log {0}/error.log;\nevents {{}}\nhttp {{\n\
         access_log off;\nclient_body_temp_path {0}/b;\nproxy_temp_path {0}/p;\nfastcgi_temp_path {0}/f;\n\
         uwsgi_temp_path {0}/u;\nscgi_temp_path {0}/s;\nserver {{ listen 127.0.0.1:{port} {ssl}http2; {files}\n\
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
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	answer := func(to http.ResponseWriter, request *http.Request) {
		io.Copy(io.Discard, request.Body)
		io.WriteString(to, "hello")
	}
	server := http.Server{Addr: os.Args[1], Handler: http.HandlerFunc(answer), Protocols: &protocols}
	if os.Args[2] == "https" {
		server.ListenAndServeTLS("cert.pem", "key.pem")
	} else {
		server.ListenAndServe()
	}
}
"#;

fn go(dir: &Path, port: u16, is_secured: bool) -> Other {
    std::fs::write(dir.join("main.go"), GO).expect("it can be written");
    let built = Command::new("go").args(["build", "-o", "server", "main.go"]).current_dir(dir).status();
    assert!(built.expect("go is installed: `make setup` does that").success());
    let mut command = Command::new(dir.join("server"));
    command.arg(format!("127.0.0.1:{port}")).arg(if is_secured { "https" } else { "http" }).current_dir(dir);
    start(command, port)
}

/// Starts a server in a folder, at a port, secured or not.
type Start = fn(&Path, u16, bool) -> Other;

#[test]
#[ignore = "slow: starts nginx, and compiles a server of Go's"]
fn nginx_and_go_answer_whatever_is_asked() {
    let scheme_of = |is_secured| if is_secured { "https" } else { "http" };
    let with = |is_secured| [(nginx as Start, is_secured), (go as Start, is_secured)];
    let secured = if cfg!(feature = "tls") { &[false, true][..] } else { &[false] };
    for (server, is_secured) in secured.iter().flat_map(|it| with(*it)) {
        let (dir, port) = (tempfile::tempdir().expect("a folder"), free_port());
        certificate(dir.path());
        let _server = server(dir.path(), port, is_secured);
        let url = format!("{}://127.0.0.1:{port}/", scheme_of(is_secured));
        let file = dir.path().join("cert.pem").display().to_string();
        let trust = if is_secured { vec!["--cacert", &file] } else { Vec::new() };
        for io in ["epoll", "auto"] {
            let hit = |arguments: &[&str]| hit2(&url, &[arguments, &trust, &["--io", io]].concat());
            // nginx ends each connection after 1000 requests.
            let result = hit(&["-c", "2", "--streams", "32", "-n", "20000", "--expect-body", "hello"]);
            assert!(service_did_well(&result), "{result:#}");
            assert_eq!(outcome(&result, "answered"), 20_000, "{result:#}");
            if is_secured {
                assert_eq!(result["tls"]["agreed"]["alpn"], "h2", "{result:#}");
            }
            let result = hit(&["-c", "4", "--streams", "125", "--rate", "500", "-d", "1s"]);
            assert_eq!(result["answered_as_expected"], 500, "{result:#}");
            let result = hit(&["-c", "2", "--streams", "4", "-n", "200", "--body", &"x".repeat(100_000)]);
            assert_eq!(outcome(&result, "answered"), 200, "{result:#}");
        }
    }
}
