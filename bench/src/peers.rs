//! Which clients and servers are here, in which versions, and how to get the others.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::process::Failure;
use crate::scenario::{Contestant, Entry, Kind, Program, Scenario};

/// needed | package | for | or else | optional; what `make setup` and messages of missing tools read.
const PACKAGES: &str = include_str!("../../scripts/packages.txt");
const PEERS: [Contestant; 5] =
    [Contestant::Wrk, Contestant::Ab, Contestant::H2load, Contestant::Hey, Contestant::Oha];
/// Where servers are, and what `cargo install` makes, beside the PATH.
const FOLDERS: [&str; 3] = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

#[derive(Debug)]
pub(crate) struct Peers {
    /// Where our own binaries are: this one's folder.
    ours: PathBuf,
    found: Vec<(Contestant, PathBuf)>,
    pub(crate) nginx: Option<PathBuf>,
    pub(crate) has_io: bool,
}

impl Peers {
    pub(crate) fn find() -> Result<Self, Failure> {
        let exe = std::env::current_exe()?;
        let ours = exe.parent().map(Path::to_path_buf).unwrap_or_default();
        let found: Vec<(Contestant, PathBuf)> =
            PEERS.into_iter().filter_map(|peer| Some((peer, find(peer.program())?))).collect();
        let peers = Self { ours, found, nginx: find("nginx"), has_io: false };
        for own in [Contestant::Epoll, Contestant::NullEpoll] {
            if !peers.path(own).is_file() {
                let program = own.program();
                return Err(format!("{program} is not beside this program: cargo build --release").into());
            }
        }
        let help = said(Command::new(peers.path(Contestant::Epoll)).args(["hit", "--help"]));
        Ok(Self { has_io: help.contains("--io "), ..peers })
    }

    pub(crate) fn path(&self, contestant: Contestant) -> PathBuf {
        let found = self.found.iter().find(|(peer, _)| *peer == contestant);
        found.map_or_else(|| self.ours.join(contestant.program()), |(_, path)| path.clone())
    }

    fn is_here(&self, contestant: Contestant) -> bool {
        match contestant {
            Contestant::Uring | Contestant::Drawn | Contestant::Served => self.has_io,
            ours if ours.is_ours() => true,
            peer => self.found.iter().any(|(found, _)| *found == peer),
        }
    }

    /// What is not here, and how to get it, a line each.
    pub(crate) fn missing(&self) -> Vec<String> {
        let peers = PEERS.into_iter().filter(|peer| !self.is_here(*peer)).map(Contestant::program);
        let servers = self.nginx.is_none().then_some("nginx");
        let mut lines: Vec<String> =
            peers.chain(servers).map(|it| format!("{it} ({})", install_hint(it))).collect();
        if !self.has_io {
            lines.push("proofload, io_uring (`proofload hit` has no --io)".to_owned());
        }
        lines
    }

    /// `scenario` with those rows and goals for which everything is here; `None`, with a word, if none are left.
    pub(crate) fn what_can_run(&self, mut scenario: Scenario) -> Option<Scenario> {
        let has_server = scenario.server.program != Program::Nginx || self.nginx.is_some();
        let can_run = |entry: &Entry| has_server && self.is_here(entry.contestant);
        scenario.entries.retain(can_run);
        scenario.goals.retain(|goal| can_run(&goal.of) && goal.versus.as_ref().is_none_or(can_run));
        // Of nothing but strangers no figure is asked.
        let has_ours = scenario.entries.iter().any(|entry| entry.contestant.is_ours());
        let can_compare = !matches!(scenario.kind, Kind::Open { .. }) || scenario.entries.len() > 1;
        if has_ours && !can_compare {
            eprintln!("bench: {}: without anybody to compare with", scenario.name);
        }
        if !has_ours {
            eprintln!("bench: {}: left out, something it needs is missing", scenario.name);
        }
        has_ours.then_some(scenario)
    }

    /// Names and versions of what takes part.
    pub(crate) fn versions(&self) -> Vec<String> {
        let version = |program: &Path, option: &str| {
            let text = said(Command::new(program).arg(option));
            version_in(&text)
        };
        let mut all = Vec::new();
        for (peer, path) in &self.found {
            let number = match peer {
                Contestant::Ab => version(path, "-V"),
                Contestant::Wrk => version(path, "-v"),
                // It has no such option; its package knows.
                Contestant::Hey => {
                    version_in(&said(Command::new("dpkg-query").args(["-W", "-f=${Version}", "hey"])))
                }
                _ => version(path, "--version"),
            };
            all.push(format!("{} {}", peer.program(), number.unwrap_or_default()).trim_end().to_owned());
        }
        if let Some(nginx) = &self.nginx {
            all.push(format!("nginx {}", version(nginx, "-v").unwrap_or_default()).trim_end().to_owned());
        }
        all
    }
}

/// What a command prints, on both ways; nothing if it can't be run.
fn said(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output();
    output.map_or_else(
        |_| String::new(),
        |it| String::from_utf8_lossy(&[it.stdout, it.stderr].concat()).into_owned(),
    )
}

/// The first thing like a version: digits and dots, and perhaps more behind them.
fn version_in(text: &str) -> Option<String> {
    let words = text.split(|it: char| it.is_whitespace() || it == '/');
    let is_version = |word: &&str| word.starts_with(|it: char| it.is_ascii_digit()) && word.contains('.');
    words.into_iter().find(is_version).map(str::to_owned)
}

fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(FOLDERS.map(PathBuf::from));
    let cargo = std::env::var_os("HOME").map(|home| Path::new(&home).join(".cargo/bin"));
    folders.chain(cargo).map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// How to get `program`, by the table of packages.
fn install_hint(program: &str) -> String {
    let rows = PACKAGES.lines().filter(|line| !line.starts_with('#'));
    let mut rows = rows.map(|line| line.split('|').map(str::trim).collect::<Vec<_>>());
    match rows.find(|row| row.first() == Some(&program)).as_deref() {
        Some([_, "", _, elsewhere, ..]) => (*elsewhere).to_owned(),
        Some([_, package, ..]) => format!("apt-get install {package}"),
        _ => "put it on the PATH".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_peer_has_its_place_in_the_table_of_packages() {
        assert_eq!(install_hint("ab"), "apt-get install apache2-utils");
        assert_eq!(install_hint("oha"), "cargo install oha --locked");
        for peer in PEERS {
            assert_ne!(install_hint(peer.program()), "put it on the PATH", "{peer}");
        }
    }

    #[test]
    fn finds_versions_where_programs_put_them() {
        for (text, version) in [
            ("wrk debian/4.1.0-3+b2 [epoll] Copyright (C) 2012 Will Glozer\n", "4.1.0-3+b2"),
            ("This is ApacheBench, Version 2.3 <$Revision$>\n", "2.3"),
            ("h2load nghttp2/1.52.0\n", "1.52.0"),
            ("oha 1.16.0\n", "1.16.0"),
            ("nginx version: nginx/1.22.1\n", "1.22.1"),
        ] {
            assert_eq!(version_in(text).as_deref(), Some(version));
        }
    }
}
