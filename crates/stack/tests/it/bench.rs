//! A stack of a test's own, and what is looked at of its processes.

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration as StdDuration, Instant};

use plan::stack::{StackManifest, Upstreams};
use stack::{BootOptions, BuildOptions, BuildOutcome, Interrupt, Running, StackError};

use crate::common::standin;

/// A server with a pool of seven.
pub const SERVER: &str = r#"exec "$2" target --listen 127.0.0.1:$1 --model pool --threads 7"#;

/// A stack in a folder of its own, and what its trials leave there.
pub struct Bench {
    pub folder: tempfile::TempDir,
    pub stack: StackManifest,
}

impl Bench {
    /// A stack whose manifest is `sections` after a title.
    pub fn new(sections: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("stacks/mine");
        fs::create_dir_all(&dir).unwrap();
        let text = format!("title = \"Mine\"\nfamily = \"test\"\ngeneration = \"timeless\"\n{sections}");
        fs::write(dir.join("stack.toml"), text).unwrap();
        let stack = StackManifest::load(&dir).unwrap().swap_remove(0);
        Self { folder, stack }
    }

    /// One that runs `script` with `sh`, in which `$1` is the port, `$2` the stand-in.
    pub fn of_script(script: &str, timeout: &str) -> Self {
        Self::new(&format!(
            "[run]\ncommand = [\"sh\", \"-c\", '''{script}''', \"sh\", \"{{port}}\", \"{{proofload}}\"]\n\
            [ready]\ntimeout = \"{timeout}\"\n[[endpoint]]\nname = \"hello\"\npath = \"/hello\"\nbody = \"hello\"\n"
        ))
    }

    pub fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    pub fn build(&self) -> Result<BuildOutcome, StackError> {
        self.build_until(Interrupt::NEVER)
    }

    pub fn build_until(&self, interrupt: Interrupt<'_>) -> Result<BuildOutcome, StackError> {
        let log = self.log();
        let options = BuildOptions { proofload_exe: standin(), log: &log, interrupt };
        stack::build(&self.stack, &options, &mut |_| {})
    }

    pub fn boot(&self) -> Result<Running, StackError> {
        let (work_dir, log) = (self.folder.path().join("work"), self.log());
        let options = BootOptions {
            proofload_exe: standin(),
            work_dir: &work_dir,
            log: &log,
            address: Ipv4Addr::LOCALHOST,
            upstreams: &Upstreams::default(),
            cpus: None,
            interrupt: Interrupt::NEVER,
        };
        stack::boot(&self.stack, &options)
    }
}

/// Whether process `pid` lives.
pub fn lives(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

pub fn wait_until(what: &str, limit: StdDuration, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + limit;
    while !is_so() {
        assert!(Instant::now() < deadline, "{what} took longer than {limit:?}");
        std::thread::sleep(StdDuration::from_millis(10));
    }
}

pub fn refuses(addr: SocketAddr) -> bool {
    TcpStream::connect(addr).is_err()
}

pub fn hammer(addr: SocketAddr, requests: usize) {
    let mut stream = TcpStream::connect(addr).unwrap();
    let mut answer = [0; 1024];
    for _ in 0..requests {
        stream.write_all(b"GET /hello HTTP/1.1\r\n\r\n").unwrap();
        assert!(stream.read(&mut answer).unwrap() > 0);
    }
}

/// The process that wrote its id into `file`, or is about to.
pub fn pid_in(file: &Path) -> i32 {
    wait_until("writing a pid", StdDuration::from_secs(5), || {
        fs::read_to_string(file).is_ok_and(|pid| pid.ends_with('\n'))
    });
    fs::read_to_string(file).unwrap().trim().parse().unwrap()
}

/// What tells a child of a test that it is the one to boot, and where to tell of it.
pub const ROLE: &str = "PROOFLOAD_TEST_PARENT_IN";

/// What a boot left to others, told by the process that made it.
pub struct Told {
    pub addr: SocketAddr,
    pub pids: Vec<i32>,
    /// The folders of their control groups.
    pub groups: Vec<PathBuf>,
}

/// Boots a stack in a child of this process, which runs the test called `name` and nothing else, and kills the child.
/// `None` in the child itself. Whatever is left goes within seconds.
pub fn boot_and_kill_the_parent(name: &str, bench: impl Fn() -> Bench) -> Option<Told> {
    if let Some(folder) = std::env::var_os(ROLE) {
        let bench = bench();
        let running = bench.boot().unwrap();
        let pids: Vec<String> = running.pids().iter().map(ToString::to_string).collect();
        let told = format!("{}\n{}\n", running.addr(), pids.join(" "));
        fs::write(Path::new(&folder).join("told.tmp"), told).unwrap();
        fs::rename(Path::new(&folder).join("told.tmp"), Path::new(&folder).join("told")).unwrap();
        std::thread::sleep(StdDuration::from_secs(60));
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    // Its build is not part of the boot.
    standin();
    let mut parent = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name])
        .env(ROLE, folder.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let told = folder.path().join("told");
    wait_until("the boot", StdDuration::from_secs(60), || told.exists());
    let told = fs::read_to_string(told).unwrap();
    let (addr, pids) = told.trim_end().split_once('\n').unwrap();
    let addr: SocketAddr = addr.parse().unwrap();
    let pids: Vec<i32> = pids.split(' ').map(|pid| pid.parse().unwrap()).collect();
    assert!(!refuses(addr) && !pids.is_empty());
    let groups = groups_of(pids[0]);
    parent.kill().unwrap();
    parent.wait().unwrap();
    Some(Told { addr, pids, groups })
}

/// The folders of the control groups of ours that process `pid` is in, in every hierarchy.
pub fn groups_of(pid: i32) -> Vec<PathBuf> {
    let text = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap();
    let ours =
        text.lines().filter_map(|line| line.splitn(3, ':').nth(2)).filter(|it| it.contains("/proofload-"));
    let paths: Vec<&str> = ours.map(|path| path.trim_start_matches('/')).collect();
    let root = Path::new("/sys/fs/cgroup");
    let mounts = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).chain([root.to_owned()]);
    let dirs = mounts.flat_map(|mount| paths.iter().map(move |path| mount.join(path)).collect::<Vec<_>>());
    dirs.filter(|dir| dir.is_dir()).collect()
}
