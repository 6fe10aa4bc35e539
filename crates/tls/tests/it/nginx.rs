//! Against nginx, where it is installed: connections that last, tickets, and large answers in many records.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tls::{Settings, Version};

use crate::common::{all_answered, config, fresh, insecure, load, peers};
use crate::openssl::certificate;

/// Ends when dropped.
struct Nginx {
    child: Child,
    address: SocketAddr,
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn start(folder: &Path) -> Option<Nginx> {
    let address = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a free port");
    let dir = folder.display();
    let root = folder.join("www");
    std::fs::create_dir(&root).expect("it is made");
    std::fs::write(root.join("index.html"), "0123456789abcdef".repeat(2500)).expect("it is written");
    let text = format!(
        "daemon off; master_process off; pid {dir}/nginx.pid; error_log {dir}/error.log;
events {{ worker_connections 200; }}
http {{
    access_log off;
    client_body_temp_path {dir}/body; proxy_temp_path {dir}/proxy; fastcgi_temp_path {dir}/fastcgi;
    uwsgi_temp_path {dir}/uwsgi; scgi_temp_path {dir}/scgi;
    server {{
        listen {address} ssl;
        ssl_certificate {dir}/cert.pem; ssl_certificate_key {dir}/key.pem;
        ssl_protocols TLSv1.2 TLSv1.3; ssl_buffer_size 4k;
        root {dir}/www;
    }}
}}
"
    );
    let file = folder.join("nginx.conf");
    std::fs::write(&file, text).expect("it is written");
    let program = ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx"]
        .into_iter()
        .find(|it| Path::new(it).exists())?;
    let child = Command::new(program)
        .arg("-p")
        .arg(folder)
        .arg("-c")
        .arg(&file)
        .arg("-e")
        .arg(folder.join("error.log"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("nginx starts");
    let server = Nginx { child, address };
    let begun = Instant::now();
    while TcpStream::connect(address).is_err() {
        assert!(begun.elapsed() < Duration::from_secs(20), "nginx listens");
        std::thread::sleep(Duration::from_millis(20));
    }
    Some(server)
}

#[test]
fn nginx_is_understood_in_both_versions() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some([own, _]) = certificate(&folder) else { return };
    let Some(server) = start(folder.path()) else {
        eprintln!("not tried: there is no nginx");
        return;
    };
    for (version_max, told) in [(Version::Tls12, "TLS 1.2"), (Version::Tls13, "TLS 1.3")] {
        let settings = Settings { trusted: Some(own.clone().into()), version_max, ..Settings::default() };
        let finished = load(server.address, &peers(&settings), config(4, 200));
        assert!(all_answered(&finished.sink, 200), "{told}: {:?}", finished.sink.0);
        let report = finished.tls.expect("connections were secured");
        let first = report.first().expect("there was one");
        assert_eq!((&*first.version, first.protocol.as_deref()), (told, Some("http/1.1")));
        assert_eq!((report.full, report.resumed, report.others()), (4, 0, 0));

        let resuming = Settings { version_max, resume: true, ..insecure() };
        let finished = load(server.address, &peers(&resuming), fresh(1, 10));
        assert!(all_answered(&finished.sink, 10), "{told}: {:?}", finished.sink.0);
        let report = finished.tls.expect("connections were secured");
        assert_eq!((report.full, report.resumed), (1, 9), "{told}");
    }
}
