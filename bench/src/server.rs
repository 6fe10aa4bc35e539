//! What answers, on its own core: the built-in target, afresh for every run, or nginx.

use std::io::{BufRead, BufReader, Read};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::process::{Failure, SERVER_CORE, spawn_on, stop};
use crate::scenario::Server;

/// The first port that is tried; commands in the docs name it.
const PORT_FIRST: u16 = 18_990;
const PORT_LAST: u16 = 18_999;
/// Of nginx, in its folder.
const CERTIFICATE: &str = "certificate.pem";
const KEY: &str = "key.pem";
const START_PATIENCE: Duration = Duration::from_secs(5);

/// A server that runs until it is dropped.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    pub(crate) address: SocketAddrV4,
    stderr: Option<BufReader<ChildStderr>>,
    /// Its configuration, or its log.
    dir: TempDir,
}

impl Drop for Running {
    fn drop(&mut self) {
        stop(&mut self.child);
    }
}

impl Running {
    pub(crate) fn target(proofload: &Path, arguments: &[&str], with_truth: bool) -> Result<Self, Failure> {
        let address = free_address()?;
        let dir = TempDir::new()?;
        let mut command = Command::new(proofload);
        command.args(["target", "--model", "event-loop", "--listen", &address.to_string()]);
        command.args(arguments);
        if with_truth {
            command.arg("--truth").arg(dir.path().join("truth.csv"));
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = spawn_on(SERVER_CORE, &mut command)?;
        let mut stderr = BufReader::new(child.stderr.take().expect("asked for"));
        let mut said = String::new();
        // It says so when it serves, or why it can't and ends.
        stderr.read_line(&mut said)?;
        let running = Self { child, address, stderr: Some(stderr), dir };
        if said.starts_with("serving ") { Ok(running) } else { Err(format!("the target: {said}").into()) }
    }

    pub(crate) fn nginx(program: &Path, server: Server) -> Result<Self, Failure> {
        let address = free_address()?;
        let dir = TempDir::new()?;
        let file = dir.path().join("nginx.conf");
        std::fs::write(&file, nginx_conf(address, dir.path(), server))?;
        if server.is_secured {
            let made = rcgen::generate_simple_self_signed([address.ip().to_string()])
                .map_err(|error| format!("no certificate could be made: {error}"))?;
            std::fs::write(dir.path().join(CERTIFICATE), made.cert.pem())?;
            std::fs::write(dir.path().join(KEY), made.signing_key.serialize_pem())?;
        }
        let mut command = Command::new(program);
        command.arg("-p").arg(dir.path()).arg("-c").arg(&file).arg("-e").arg(dir.path().join("error.log"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = spawn_on(SERVER_CORE, &mut command)?;
        let running = Self { child, address, stderr: None, dir };
        let deadline = Instant::now() + START_PATIENCE;
        while TcpStream::connect(address).is_err() {
            if Instant::now() > deadline {
                let log = std::fs::read_to_string(running.dir.path().join("error.log")).unwrap_or_default();
                return Err(format!("nginx does not answer: {}", log.trim()).into());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(running)
    }

    /// Stops it. The requests it counted, where it counts.
    pub(crate) fn stop(mut self) -> Stopped {
        stop(&mut self.child);
        let mut said = String::new();
        if let Some(mut stderr) = self.stderr.take() {
            // What it could not say is not known.
            let _ = stderr.read_to_string(&mut said);
        }
        Stopped {
            served: served(&said),
            truth: std::fs::read_to_string(self.dir.path().join("truth.csv")).ok(),
        }
    }
}

/// What a server leaves behind.
#[derive(Debug)]
pub(crate) struct Stopped {
    pub(crate) served: Option<u64>,
    /// Its log of requests, where it was to write one.
    pub(crate) truth: Option<String>,
}

/// `served N requests on M connections`.
fn served(said: &str) -> Option<u64> {
    said.lines().find_map(|line| line.strip_prefix("served ")?.split(' ').next()?.parse().ok())
}

/// A port that nobody listens on.
pub(crate) fn free_address() -> Result<SocketAddrV4, Failure> {
    let addresses = (PORT_FIRST..=PORT_LAST).map(|port| SocketAddrV4::new(Ipv4Addr::LOCALHOST, port));
    let free = addresses.into_iter().find(|address| TcpListener::bind(address).is_ok());
    free.ok_or_else(|| format!("no port from {PORT_FIRST} to {PORT_LAST} is free").into())
}

/// One worker, no log, connections that last, and sessions that nobody resumes.
fn nginx_conf(address: SocketAddrV4, dir: &Path, server: Server) -> String {
    let dir = dir.display();
    let http2 = if server.is_http2 { " http2" } else { "" };
    let (ssl, certificate) = if server.is_secured {
        let told = format!(
            "ssl_certificate {dir}/{CERTIFICATE};
        ssl_certificate_key {dir}/{KEY};
        ssl_protocols TLSv1.3;
        ssl_session_cache off;
        ssl_session_tickets off;"
        );
        (" ssl", told)
    } else {
        ("", String::new())
    };
    format!(
        "daemon off;
worker_processes 1;
worker_rlimit_nofile 20000;
pid {dir}/nginx.pid;
error_log {dir}/error.log;
events {{ worker_connections 19000; }}
http {{
    access_log off;
    keepalive_requests 1000000000;
    keepalive_timeout 1h;
    client_body_temp_path {dir}/body;
    proxy_temp_path {dir}/proxy;
    fastcgi_temp_path {dir}/fastcgi;
    uwsgi_temp_path {dir}/uwsgi;
    scgi_temp_path {dir}/scgi;
    server {{
        listen {address}{ssl}{http2} backlog=4096;
        {certificate}
        location / {{ default_type text/plain; return 200 'hello'; }}
    }}
}}
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_targets_own_count() {
        assert_eq!(served("warning\nserved 163213 requests on 20379 connections\n"), Some(163_213));
        assert_eq!(served("serving http://127.0.0.1:1 (event-loop); Ctrl-C ends it\n"), None);
    }
}
