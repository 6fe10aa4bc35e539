//! A stack and what stands behind it, as one: booted in order, watched, stopped in the reverse order.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use plan::stack::{Speaks, StackManifest, Upstreams};
use signals::listener;

use crate::boot::{BootOptions, boot};
use crate::cpus::Cpus;
use crate::error::StackError;
use crate::interrupt::Interrupt;
use crate::running::Running;
use crate::started::{Started, StopReport};

/// What a chain needs beside its manifests.
#[derive(Debug, Clone, Copy)]
pub struct ChainOptions<'a> {
    /// The `proofload` binary.
    pub proofload_exe: &'a Path,
    /// The trial's own folder. `server.log` and `work` in it are those of the stack in front; a stack behind it
    /// has a folder `upstream-<id>` with the same.
    pub dir: &'a Path,
    /// The address of this machine on which those listen that are told `{address}`; others listen on 127.0.0.1.
    pub address: Ipv4Addr,
    /// The cores that all of them are kept on; any of ours without.
    pub cpus: Option<&'a Cpus>,
    /// Ends the waiting for a boot.
    pub interrupt: Interrupt<'a>,
}

/// A stack and those that it uses, directly or by another; at least one. Dropping it kills them all.
#[derive(Debug)]
pub struct Chain {
    /// The stack in front is the first, so that it is the first to be dropped, too.
    front_to_back: Vec<Running>,
}

impl Chain {
    /// Boots `manifests`, as [`plan::stack::Catalogue::chain`] orders them: each when the one behind it is ready.
    /// They must have been built.
    pub fn boot(manifests: &[&StackManifest], options: &ChainOptions<'_>) -> Result<Self, StackError> {
        let mut chain = Self { front_to_back: Vec::new() };
        for (index, manifest) in manifests.iter().enumerate() {
            let dir = if index + 1 == manifests.len() {
                options.dir.to_owned()
            } else {
                upstream_dir(options.dir, &manifest.id)
            };
            let upstreams = chain.upstreams_of(manifest);
            let (work_dir, log) = (dir.join("work"), dir.join("server.log"));
            std::fs::create_dir_all(&dir).map_err(StackError::io(
                "make",
                &dir,
                "choose a writable folder for the run",
            ))?;
            let ChainOptions { proofload_exe, address, cpus, interrupt, .. } = *options;
            let (work_dir, log) = (&work_dir, &log);
            let upstreams = &upstreams;
            let options = BootOptions { proofload_exe, work_dir, log, address, upstreams, cpus, interrupt };
            chain.front_to_back.insert(0, boot(manifest, &options)?);
        }
        assert!(!chain.front_to_back.is_empty(), "a chain has at least one stack");
        Ok(chain)
    }

    /// Where the stacks behind this one listen, of those that are up.
    fn upstreams_of(&self, manifest: &StackManifest) -> Upstreams {
        let of = |id: &String| {
            let running = self.front_to_back.iter().find(|running| running.id() == id)?;
            Some((id.clone(), running.addr()))
        };
        Upstreams(manifest.upstreams.iter().filter_map(of).collect())
    }

    /// The stack that clients talk to.
    pub fn front(&self) -> &Running {
        &self.front_to_back[0]
    }

    /// From now on this is spoken with the stack in front, which offers it.
    pub fn speak(&mut self, speaks: Speaks) {
        self.front_to_back[0].at.speaks = speaks;
    }

    /// The stacks behind it, the next one first.
    pub fn upstreams(&self) -> &[Running] {
        &self.front_to_back[1..]
    }

    /// All of them, the one in front first.
    pub fn all(&self) -> &[Running] {
        &self.front_to_back
    }

    /// The first that has ended, if one has.
    pub fn dead(&self) -> Option<&Running> {
        self.front_to_back.iter().find(|running| !running.is_alive())
    }

    /// How long the compilers of all JVMs among them were busy so far; `None` where there is no JVM.
    pub fn jit_busy(&self) -> Option<units::Duration> {
        self.front_to_back.iter().filter_map(Running::jit_busy).reduce(|sum, it| sum + it)
    }

    /// Lets their threads run on the cores `to` that may run on exactly `from` now.
    pub fn move_threads(&self, from: &Cpus, to: &Cpus) {
        let pids = self.front_to_back.iter().flat_map(Running::pids);
        pids.for_each(|pid| to.take_from(from, pid));
    }

    /// The cores that any of their threads may run on now.
    pub fn cpus(&self) -> Cpus {
        let mut cpus = Cpus::default();
        cpus.extend(self.front_to_back.iter().map(Running::cpus));
        cpus
    }

    /// Connections that are open now to the stack right behind the front; 0 where there is none.
    pub fn upstream_connections(&self) -> u32 {
        self.upstreams().first().map_or(0, |upstream| listener::connections_to(upstream.addr().port()))
    }

    /// Bounds what they printed so far: each goes on behind that. No load may run meanwhile.
    pub fn shorten_logs(&self) {
        let started = self.front_to_back.iter().filter_map(|running| running.started.as_ref());
        started.for_each(Started::shorten_log);
    }

    /// Ends them all, the front first: what is behind it may still be asked until then. The report is the front's,
    /// with the time of all; it was forced if one of them was.
    pub fn stop(self) -> Result<StopReport, StackError> {
        let mut all = StopReport { took: units::Duration::ZERO, forced: false };
        let mut first_error = None;
        for running in self.front_to_back {
            match running.stop() {
                Ok(report) => {
                    all.took += report.took;
                    all.forced |= report.forced;
                }
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        first_error.map_or(Ok(all), Err)
    }
}

/// Where a stack that stands behind another has its log and its files, in the folder of a trial.
fn upstream_dir(dir: &Path, id: &str) -> PathBuf {
    dir.join(format!("upstream-{id}"))
}
