//! Other generators: how they are asked for a case's load, and what they print of it. Their figures are shown
//! beside the truth of their own run and never judged.

mod figures;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use driver::Control;
use record::{Distribution, PeerMissing};

use super::cases::Case;

/// A run may take this much longer than its load: connecting, and waiting for a frozen server.
const GRACE: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(20);

/// A way of asking another generator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Peer {
    /// Its mean and maximum.
    Wrk,
    /// Its percentiles too, those "corrected" afterwards.
    WrkLatency,
    /// As it is; with `-q` where requests are due at a rate.
    Oha,
    /// `-q` with its correction.
    OhaCorrected,
}

impl Peer {
    pub(super) const ALL: [Self; 4] = [Self::Wrk, Self::WrkLatency, Self::Oha, Self::OhaCorrected];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Wrk => "wrk",
            Self::WrkLatency => "wrk --latency",
            Self::Oha => "oha",
            Self::OhaCorrected => "oha --latency-correction",
        }
    }

    pub(super) const fn program(self) -> &'static str {
        match self {
            Self::Wrk | Self::WrkLatency => "wrk",
            Self::Oha | Self::OhaCorrected => "oha",
        }
    }

    /// The command for the load of `case`, or why it cannot make that.
    pub(super) fn command(self, case: &Case, url: &str) -> Result<Vec<String>, &'static str> {
        let seconds = format!("{}s", case.peer_seconds());
        let connections = case.connections().to_string();
        let rate = case.rate_per_s().map(|rate| rate.to_string());
        let mut words = vec![self.program()];
        match (self, &rate) {
            (Self::Wrk | Self::WrkLatency, Some(_)) => return Err("it keeps no rate"),
            (Self::Wrk, None) => words.extend(["-t1", "--timeout", "10s", "-d", &seconds]),
            (Self::WrkLatency, None) => {
                words.extend(["-t1", "--timeout", "10s", "--latency", "-d", &seconds]);
            }
            (Self::OhaCorrected, None) => return Err("it corrects only where it keeps a rate"),
            (Self::Oha, rate) => {
                words.extend(["--no-tui", "--output-format", "json", "-z", &seconds]);
                words.extend(rate.iter().flat_map(|rate| ["-q", rate]));
            }
            (Self::OhaCorrected, Some(rate)) => {
                words.extend(["--no-tui", "--output-format", "json", "-z", &seconds]);
                words.extend(["--latency-correction", "-q", rate]);
            }
        }
        words.extend(["-c", &connections, url]);
        Ok(words.into_iter().map(ToOwned::to_owned).collect())
    }

    /// What it printed, as figures.
    pub(super) fn figures(self, printed: &str) -> Option<Distribution> {
        match self {
            Self::Wrk | Self::WrkLatency => figures::of_wrk(printed),
            Self::Oha | Self::OhaCorrected => figures::of_oha(printed),
        }
    }
}

/// The programs that are not here.
pub(super) fn missing() -> Vec<PeerMissing> {
    let mut programs: Vec<&str> = Peer::ALL.iter().map(|peer| peer.program()).collect();
    programs.dedup();
    let missing = programs.into_iter().filter(|program| !is_there(program));
    missing.map(|program| PeerMissing { name: program.to_owned(), install: install(program) }).collect()
}

/// oha is in no Debian package, and nothing of the project needs it but this.
fn install(program: &str) -> String {
    match program {
        "oha" => "cargo install oha, and have ~/.cargo/bin on the PATH".to_owned(),
        packaged => stack::install_hint(packaged),
    }
}

fn is_there(program: &str) -> bool {
    std::env::split_paths(&stack::search_path()).any(|folder| folder.join(program).is_file())
}

/// Runs `command` under a supervisor, so that it ends with us, and returns what it printed. The error says why
/// there is nothing.
pub(super) fn run(
    command: &[String],
    length: Duration,
    proofload_exe: &Path,
    dir: &Path,
    interrupt: &Control,
) -> Result<String, String> {
    let (out, err) = (dir.join("peer.out"), dir.join("peer.err"));
    let mut child =
        spawn(command, proofload_exe, &out, &err).map_err(|error| format!("cannot be run ({error})"))?;
    let deadline = Instant::now() + length + GRACE;
    let status = loop {
        match child.0.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if interrupt.is_interrupted() => return Err("it was interrupted".into()),
            Ok(None) if Instant::now() >= deadline => {
                return Err(format!("it did not end within {GRACE:?} more"));
            }
            Ok(None) => std::thread::sleep(POLL),
            Err(error) => return Err(format!("cannot be waited for ({error})")),
        }
    };
    let text = |path: &PathBuf| std::fs::read_to_string(path).unwrap_or_default();
    if status.success() {
        return Ok(text(&out));
    }
    let said = text(&err);
    Err(format!("it ended with {status}: {}", said.lines().last().unwrap_or("and said nothing")))
}

/// A supervisor and what runs under it; all of it ends when this is dropped.
struct Supervised(Child);

impl Drop for Supervised {
    fn drop(&mut self) {
        // The closed pipe is its word to end the tree.
        drop(self.0.stdin.take());
        // An error means that it was waited for already.
        let _ = self.0.wait();
    }
}

fn spawn(command: &[String], proofload_exe: &Path, out: &Path, err: &Path) -> std::io::Result<Supervised> {
    let mut supervisor = Command::new(proofload_exe);
    supervisor.args(["supervise", "--"]).args(command).env("PATH", stack::search_path());
    supervisor.stdin(Stdio::piped()).stdout(File::create(out)?).stderr(File::create(err)?);
    // Ctrl-C of a terminal goes to the whole group; whether the peer ends is for us to say.
    std::os::unix::process::CommandExt::process_group(&mut supervisor, 0);
    let mut child = Supervised(supervisor.spawn()?);
    if let Some(stdin) = child.0.stdin.as_mut() {
        std::io::Write::write_all(stdin, b"g")?;
    }
    Ok(child)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibrate::cases::choose;

    fn case(name: &str) -> Case {
        choose(false, &[name.to_owned()]).unwrap()[0]
    }

    #[test]
    fn each_is_asked_for_the_load_it_can_make() {
        let url = "http://127.0.0.1:1/case";
        let line = |peer: Peer, name: &str| peer.command(&case(name), url).map(|words| words.join(" "));
        assert_eq!(
            line(Peer::WrkLatency, "closed-300").unwrap(),
            "wrk -t1 --timeout 10s --latency -d 4s -c 300 http://127.0.0.1:1/case"
        );
        assert_eq!(
            line(Peer::OhaCorrected, "stall").unwrap(),
            "oha --no-tui --output-format json -z 10s --latency-correction -q 2000 -c 300 http://127.0.0.1:1/case"
        );
        assert!(line(Peer::Oha, "closed-300").unwrap().ends_with("-z 4s -c 300 http://127.0.0.1:1/case"));
        assert_eq!(line(Peer::Wrk, "fixed-5ms"), Err("it keeps no rate"));
        assert!(line(Peer::OhaCorrected, "closed-300").is_err());
    }
}
