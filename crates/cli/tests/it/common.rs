//! The real binary, and the real calibration server to point it at.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// Where nobody listens. A port that was just free may be another test's by the time it is asked; this one is given to
/// nobody who asks for any.
pub const NOBODY: &str = "127.0.0.1:1";

/// The binary under test.
pub fn proofload() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_proofload"));
    command.current_dir(repository()).stdin(Stdio::null());
    command
}

/// The root of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository is there")
}

/// The records that are kept in a folder of the repository, one for each run that was measured; as the repository names them.
pub fn records_of(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(repository().join(folder)).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let is_records = |name: &String| name == "records" || name.starts_with("records-");
    let mut kept: Vec<PathBuf> = names.filter(is_records).map(|name| Path::new(folder).join(name)).collect();
    kept.sort();
    kept
}

/// Runs the binary to its end.
pub fn run(arguments: &[&str]) -> Output {
    proofload().args(arguments).output().expect("the binary starts")
}

/// The same in `folder`.
pub fn run_in(folder: &Path, arguments: &[&str]) -> Output {
    proofload().current_dir(folder).args(arguments).output().expect("the binary starts")
}

/// All that a command said.
pub fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// What a command printed, and its errors.
pub fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// Runs the binary, which must end with `code`, and gives all that it said.
#[track_caller]
pub fn ends_with(code: i32, arguments: &[&str]) -> String {
    let output = run(arguments);
    assert_eq!(output.status.code(), Some(code), "{}", text(&output));
    text(&output)
}

/// Standard output as JSON.
pub fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
}

/// `proofload target` on a free port; ends when dropped.
pub struct Target {
    child: Child,
    /// `http://127.0.0.1:port`.
    pub url: String,
}

impl Target {
    /// Starts one with further arguments.
    pub fn start(arguments: &[&str]) -> Self {
        // An answer that takes a moment leaves the cores to other tests: a load of no rate goes as fast as it can.
        let names_paths = arguments.iter().any(|it| it.starts_with("--path"));
        let moments: &[&str] = if names_paths { &[] } else { &["--path", "/=1ms", "--path", "/hello=1ms"] };
        let mut child = proofload()
            .args(["target", "--listen", "127.0.0.1:0"])
            .args(moments)
            .args(arguments)
            .stderr(Stdio::piped())
            .spawn()
            .expect("the target starts");
        let mut line = String::new();
        let stderr = child.stderr.as_mut().expect("it is piped");
        BufReader::new(stderr).read_line(&mut line).expect("it says where it serves");
        let url = line.split_whitespace().nth(1).unwrap_or_else(|| panic!("no address in {line:?}"));
        Self { child, url: url.to_owned() }
    }

    /// Ends it in good order, so that it writes its truth.
    pub fn stop(mut self) {
        signal(&self.child, Signal::TERM);
        self.child.wait().expect("it ends");
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a signal.
pub fn signal(child: &Child, signal: Signal) {
    let pid = Pid::from_child(child);
    kill_process(pid, signal).expect("the process is ours");
}

/// Waits until `condition` holds; panics with `what` after three minutes, of which a machine that others use may take most.
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(180);
    while !condition() {
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Processes whose command line has `marker` in it.
pub fn processes_with(marker: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").expect("proc is mounted").flatten();
    entries
        .filter(|entry| entry.file_name().to_string_lossy().bytes().all(|byte| byte.is_ascii_digit()))
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .map(|bytes| String::from_utf8_lossy(&bytes).replace('\0', " "))
        .filter(|line| line.contains(marker))
        .collect()
}

/// Standard output as text.
pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("it is text")
}

/// A link to the binary under another name, in a folder that must live as long as it.
pub fn link_named(name: &str, folder: &tempfile::TempDir) -> PathBuf {
    let link = folder.path().join(name);
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_proofload"), &link).expect("the folder is ours");
    link
}

/// What the binary sends first to a server that answers once, whose URL stands for `{url}` in `arguments`.
pub fn sent_by(arguments: &[&str]) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let url = format!("http://{}/", listener.local_addr().expect("it has one"));
    let mut child = proofload()
        .args(arguments.iter().map(|it| it.replace("{url}", &url)))
        .stdout(Stdio::null())
        .spawn()
        .expect("the binary starts");
    // Before the load it is tried whether anybody listens, by a connection that says nothing.
    let request = (0..10).find_map(|_| {
        let (mut stream, _) = listener.accept().expect("it connects");
        let mut request = vec![0; 64 * 1024];
        let length = std::io::Read::read(&mut stream, &mut request).unwrap_or(0);
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
        let _ = std::io::Write::write_all(&mut stream, answer);
        (length > 0).then(|| String::from_utf8_lossy(&request[..length]).into_owned())
    });
    child.wait().expect("it ends");
    request.expect("it sends a request")
}
