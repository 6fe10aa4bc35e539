//! The calibration server of one run: a process of its own, a stack like any other.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use plan::stack::{StackManifest, Upstreams};
use record::RecordError;
use stack::{BootOptions, Interrupt, Running, boot};

use super::Bench;
use super::cases::{Case, PATH, Spoken};
use super::truth::{self, Logged};
use crate::error::LabError;

const TRUTH: &str = "truth.csv";

/// A server that is up, and ends with this or with us.
pub(super) struct Server {
    running: Running,
    truth: PathBuf,
    scheme: &'static str,
}

impl Server {
    /// Boots the server of `case`; its files go into the new folder `dir`.
    pub(super) fn boot(case: &Case, dir: &Path, bench: &Bench<'_>) -> Result<Self, LabError> {
        // A manifest is a file. It stays with the log where something fails, to be tried by hand.
        let manifest_dir = dir.join(case.name);
        let file = manifest_dir.join("stack.toml");
        let written = std::fs::create_dir_all(&manifest_dir)
            .and_then(|()| std::fs::write(&file, manifest(case, bench.spoken)));
        written.map_err(|error| RecordError::io(&file, "writing", error))?;
        let all = StackManifest::load(&manifest_dir)?;
        let work_dir = dir.join("work");
        let options = BootOptions {
            proofload_exe: bench.proofload_exe,
            work_dir: &work_dir,
            log: &dir.join("server.log"),
            address: Ipv4Addr::LOCALHOST,
            upstreams: &Upstreams::default(),
            cpus: None,
            interrupt: Interrupt::when(bench.interrupt.flag()),
        };
        let scheme = if bench.spoken.tls { "https" } else { "http" };
        Ok(Self { running: boot(&all[0], &options)?, truth: work_dir.join(TRUTH), scheme })
    }

    pub(super) fn addr(&self) -> SocketAddr {
        self.running.addr()
    }

    /// What every request of the case asks for.
    pub(super) fn url(&self) -> String {
        format!("{}://{}{PATH}", self.scheme, self.addr())
    }

    pub(super) fn command(&self) -> Vec<String> {
        self.running.effective_command().to_vec()
    }

    /// Stops it, whereby its log becomes whole, and reads that.
    pub(super) fn stop(self) -> Result<Vec<Logged>, LabError> {
        self.running.stop()?;
        Ok(truth::read(&self.truth)?)
    }
}

/// The server as a stack. What it is told holds neither quotes nor backslashes.
fn manifest(case: &Case, spoken: Spoken) -> String {
    let command: Vec<String> = ["{proofload}", "target", "--listen", "127.0.0.1:{port}"]
        .iter()
        .chain(case.target)
        .copied()
        .chain(spoken.tls.then_some("--tls"))
        .chain(spoken.http2.then_some("--http2"))
        .chain(["--truth", &format!("{{work_dir}}/{TRUTH}")])
        .map(|word| format!("\"{word}\""))
        .collect();
    format!(
        "title = \"Calibration: {}\"\nfamily = \"target\"\ngeneration = \"timeless\"\n[run]\ncommand = [{}]\n\
         [ready]\npath = \"/hello\"\n[[endpoint]]\nname = \"case\"\npath = \"{PATH}\"\n",
        case.server,
        command.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibrate::cases::choose;

    #[test]
    fn every_cases_server_is_a_stack() {
        let dir = tempfile::tempdir().unwrap();
        for case in choose(false, &[], Spoken::default(), 1).unwrap() {
            let folder = dir.path().join(case.name);
            std::fs::create_dir(&folder).unwrap();
            std::fs::write(folder.join("stack.toml"), manifest(&case, Spoken { tls: true, http2: true }))
                .unwrap();
            let all = StackManifest::load(&folder).unwrap();
            assert_eq!(all[0].endpoints[0].path, PATH);
        }
    }
}
