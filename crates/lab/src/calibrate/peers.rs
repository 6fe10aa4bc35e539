//! Other generators: how they are asked for a case's load, and what they print of it. Their figures are shown
//! beside the truth of their own run and never judged.

mod figures;

use std::path::Path;
use std::time::{Duration, Instant};

use driver::Control;
use record::{Distribution, PeerMissing};
use stack::{Program, ProgramEnd, ProgramOptions};

use super::cases::Case;

/// A run may take this much longer than its load: connecting, and waiting for a frozen server.
const GRACE: Duration = Duration::from_secs(20);

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
    let missing = programs.into_iter().filter(|program| stack::find_program(program).is_none());
    missing.map(|program| PeerMissing { name: program.to_owned(), install: install(program) }).collect()
}

/// oha is in no Debian package, and nothing of the project needs it but this.
fn install(program: &str) -> String {
    match program {
        "oha" => "cargo install oha, and have ~/.cargo/bin on the PATH".to_owned(),
        packaged => stack::install_hint(packaged),
    }
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
    let files = ["peer.out", "peer.err"].map(|name| dir.join(name));
    let options = ProgramOptions::in_dir(proofload_exe, dir, &files);
    let mut program = Program::prepare(command, &options)
        .and_then(|mut program| program.go().map(|()| program))
        .map_err(|error| format!("cannot be run ({error})"))?;
    let status = match program.wait(Instant::now() + length + GRACE, || !interrupt.is_interrupted()) {
        Ok(ProgramEnd::Itself(status)) => status,
        Ok(ProgramEnd::Interrupted) => return Err("it was interrupted".into()),
        Ok(ProgramEnd::TooLate) => return Err(format!("it did not end within {GRACE:?} more")),
        Err(error) => return Err(format!("cannot be waited for ({error})")),
    };
    let [out, err] = files.map(|path| std::fs::read_to_string(path).unwrap_or_default());
    if status.success() {
        return Ok(out);
    }
    Err(format!("it ended with {status}: {}", err.lines().last().unwrap_or("and said nothing")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibrate::cases::{Spoken, choose};

    fn case(name: &str) -> Case {
        choose(false, &[name.to_owned()], Spoken::default(), 1).unwrap()[0]
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
