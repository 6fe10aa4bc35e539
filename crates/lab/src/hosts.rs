//! A run whose loads come from other machines: stacks boot and are watched here, and agents load them.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use driver::Control;
use events::Moment;
use plan::stack::{Catalogue, StackManifest};
use plan::{Cell, Driver, Experiment, HttpTarget, PlanError, Role, Threads};
use record::{HostSignals, LoadResult, Measured, Trial, TrialResult};
use stack::{Cpus, Running};

use crate::agents::{self, Asked, Fleet, Member, Processes, Secured};
use crate::carry;
use crate::crew::Crew;
use crate::error::LabError;
use crate::job::Job;
use crate::machine;
use crate::pilot::choose_crew;

/// Where a load of a cell goes while it is not known where.
const SOMEWHERE: (&str, u16) = ("127.0.0.1", 1);

/// Where the machines come from that carry the loads of a run, one load after the other.
pub trait Source {
    /// What they are called in errors and records, in the order of their shares: the same for all loads, and for whoever goes
    /// on with the run.
    fn names(&self) -> Vec<String>;

    /// Sees before a trial that they are there. `tell` is told how far they are where they are waited for, until `control`
    /// is interrupted.
    ///
    /// # Errors
    /// If they can't be had.
    fn make_ready(&self, control: &Control, tell: &mut dyn FnMut(&str)) -> Result<(), LabError>;

    /// One was lost under a load, and may still be about it: the next trial has others.
    fn lost(&self) {}

    /// Those that carry the next load.
    ///
    /// # Errors
    /// If they are not there any more.
    fn fleet(&self) -> Result<Arc<dyn Fleet>, LabError>;
}

/// Machines that are each reached by a command.
impl Source for Vec<Member> {
    fn names(&self) -> Vec<String> {
        self.iter().map(|it| it.name.clone()).collect()
    }

    /// Each is started for its load.
    fn make_ready(&self, _: &Control, _: &mut dyn FnMut(&str)) -> Result<(), LabError> {
        Ok(())
    }

    fn fleet(&self) -> Result<Arc<dyn Fleet>, LabError> {
        Ok(Arc::new(Processes::new(self.clone())))
    }
}

/// The machines that carry the loads of a run.
pub struct Hosts {
    /// How they are had.
    pub source: Box<dyn Source>,
    /// The first of them that is known to be another machine, where one is: what it is called in an error.
    pub elsewhere: Option<String>,
    /// The address of this machine on which stacks are booted, and which all of them reach.
    pub address: Ipv4Addr,
    /// The version of this program, which every agent must have.
    pub version: &'static str,
}

impl Hosts {
    /// Whether they are other machines, so that the servers have the cores of this one for themselves.
    pub(crate) fn are_elsewhere(&self) -> bool {
        self.elsewhere.is_some() || !self.address.is_loopback()
    }

    /// Refuses what they can't carry, or what they would not reach, before anything is booted.
    ///
    /// # Errors
    /// If there is any.
    pub(crate) fn check(&self, experiment: &Experiment, catalogue: &Catalogue) -> Result<(), PlanError> {
        if self.address.is_unspecified() || !machine::has(self.address.into()) {
            let what = format!("{} is no address of this machine", self.address);
            return Err(PlanError::new(what, "give --servers-address one that `ip address` shows"));
        }
        let control = StackManifest::control();
        for cell in experiment.rounds.iter().flat_map(|round| &round.cells) {
            let front = if cell.role == Role::Control { &control } else { catalogue.get(&cell.stack)? };
            self.reach(front, cell.role)?;
            self.can_carry(cell)?;
        }
        Ok(())
    }

    /// What is running already they reach in their own way.
    fn reach(&self, front: &StackManifest, role: Role) -> Result<(), PlanError> {
        let (id, is_loopback) = (&front.id, self.address.is_loopback());
        if front.site().is_some() {
            return Ok(());
        }
        if let Some(host) = self.elsewhere.as_ref().filter(|_| is_loopback) {
            let what = format!("`{id}` is booted on 127.0.0.1 of this machine, which {host} does not reach");
            let or = if role == Role::Control {
                "leave it out: control = false"
            } else {
                "name what is running already by its url"
            };
            let help = format!("give --servers-address, an address of this machine that it reaches, or {or}");
            return Err(PlanError::new(what, help));
        }
        if !is_loopback && !front.is_told_its_address() {
            let what =
                format!("`{id}` is not told on which address to listen, and can't be loaded from elsewhere");
            let help =
                "write {address}:{port} where it is told its port, or start it yourself and name its url";
            return Err(PlanError::new(what, help));
        }
        Ok(())
    }

    fn can_carry(&self, cell: &Cell) -> Result<(), PlanError> {
        if cell.driver != Driver::Proofload {
            let what = format!("{} makes its loads on this machine", cell.driver.name());
            return Err(PlanError::new(what, "leave --hosts or --on out, or have proofload make them"));
        }
        if cell.load.threads == Threads::Auto {
            let what = "the number of threads of several machines is not found out";
            return Err(PlanError::new(
                what,
                "write how many load `threads` each has, or leave --hosts or --on out",
            ));
        }
        let (host, port) = SOMEWHERE;
        let target = cell.target(&format!("{host}:{port}"))?;
        let (request, expect, plan) = (&target.request, &cell.expect(), &cell.load);
        // How a stack is secured is known once it is up, and changes nothing of what each carries.
        let (tls, interval_log, version) = (None, None, self.version);
        let asked = Asked { url: &target.url, host, port, request, expect, plan, tls, interval_log, version };
        asked.check(self.source.names().len()).map_err(|why| {
            let what = format!("{} at {}: {}", cell.stack, plan.label(), why.what);
            PlanError { what, ..why }
        })
    }

    /// Carries out a load on a server at a place that they reach. No agent is left behind: one carries one load.
    fn carry_out(
        &self,
        job: &Job<'_>,
        (host, port): (&str, u16),
        tls: Option<&Secured>,
        control: &Control,
        observe: &mut dyn FnMut(Moment<'_>),
    ) -> Result<LoadResult, LabError> {
        let Job { url, request, expect, plan, interval_log, .. } = *job;
        let version = self.version;
        let asked = Asked { url, host, port, request, expect, plan, tls, interval_log, version };
        let fleet = self.source.fleet()?;
        let load = agents::run(&asked, fleet, None, control, &mut |moment| {
            // What a load is for is told by whoever asks for it: it may be a burst.
            if !matches!(moment, Moment::Load(_)) {
                observe(moment);
            }
        })?;
        match fell_silent(&load) {
            Some(why) if !control.is_interrupted() => {
                self.source.lost();
                Err(LabError::AgentLost(why))
            }
            _ => Ok(load),
        }
    }
}

/// Who makes the loads of a trial.
pub(crate) enum Hands<'a> {
    /// Threads of this process.
    Own(Crew),
    /// Other machines, which reach the server there.
    Of { hosts: &'a Hosts, server: (String, u16), tls: Option<Box<Secured>> },
}

impl<'a> Hands<'a> {
    /// Who makes those that `job` is one of, on the server in `front`, which is asked as `target`.
    pub(crate) fn choose(
        hosts: Option<&'a Hosts>,
        (front, target): (&Running, &HttpTarget),
        job: &Job<'_>,
        control: &Control,
        observe: &mut dyn FnMut(Moment<'_>),
    ) -> Result<Self, LabError> {
        let Some(hosts) = hosts else { return Ok(Self::Own(choose_crew(job, control, observe)?)) };
        hosts.source.make_ready(control, &mut |state| observe(Moment::Gathering(state)))?;
        let addr = front.addr();
        let server = front
            .site()
            .map_or_else(|| (addr.ip().to_string(), addr.port()), |site| (site.host.clone(), site.port));
        let tls = Secured::new(target, job.plan.http, &front.trust())?;
        Ok(Self::Of { hosts, server, tls: tls.map(Box::new) })
    }

    /// Carries out a load to its end, or until `control` interrupts it. With the cores of this machine that the load threads might
    /// run on: those of agents here are their parent's.
    pub(crate) fn carry_out(
        &self,
        job: &Job<'_>,
        control: &Control,
        observe: &mut dyn FnMut(Moment<'_>),
    ) -> Result<(LoadResult, Cpus), LabError> {
        match self {
            Self::Own(crew) => carry::carry_out(job, crew, control, observe),
            Self::Of { hosts, server: (host, port), tls } => {
                let load = hosts.carry_out(job, (host, *port), tls.as_deref(), control, observe)?;
                Ok((load, Cpus::of_this_thread()))
            }
        }
    }

    /// Whether they use none of this machine's cores.
    pub(crate) fn are_elsewhere(&self) -> bool {
        matches!(self, Self::Of { hosts, .. } if hosts.are_elsewhere())
    }

    /// Who of them is among the other processes of this machine, and is not to be told from those.
    pub(crate) fn among_others(&self) -> Option<&'static str> {
        (matches!(self, Self::Of { .. }) && !self.are_elsewhere()).then_some("the agents are among them")
    }
}

/// Takes out of what was seen of this machine what would be of the load threads: they are in other processes.
pub(crate) fn forget_generator(host: &mut HostSignals) {
    host.generator_cores = None;
    host.generator_wait_cores = None;
    host.generator_switches_per_s = None;
    host.generator_throttled_cores = None;
    host.not_known.push("the load threads: agents have them".to_owned());
}

/// Whether a machine did not carry its share to the end, and why.
fn fell_silent(load: &LoadResult) -> Option<String> {
    let of = load.agents.len();
    load.agents.iter().enumerate().find_map(|(number, it)| {
        let who = format!("agent {number} of {of} ({})", it.name);
        let lost = it.lost.as_ref().map(|lost| format!("{who} was lost: it {}", lost.why));
        lost.or_else(|| it.ended_early_s.map(|s| format!("{who} ended its load by itself after {s:.1} s")))
    })
}

/// Why trials that are written down would be mixed with others: the loads of one run come from one place.
pub(crate) fn is_mixed(trials: &[Trial], hosts: Option<&Hosts>) -> Option<String> {
    let address = hosts.map_or(Ipv4Addr::LOCALHOST, |it| it.address);
    let now = hosts.map_or_else(Vec::new, |it| it.source.names());
    let mut measured = trials.iter().filter_map(|trial| match &trial.result {
        TrialResult::Measured(measured) => Some(measured),
        TrialResult::Failed { .. } => None,
    });
    measured.find_map(|measured| {
        let then: Vec<String> = measured.load.agents.iter().map(|it| it.name.clone()).collect();
        if then != now {
            return Some(format!("its loads came from {}, and now would from {}", place(&then), place(&now)));
        }
        let there = booted_on(measured).filter(|there| *there != IpAddr::from(address))?;
        Some(format!("its servers listened on {there}, and now would on {address} (--servers-address)"))
    })
}

fn place(names: &[String]) -> String {
    if names.is_empty() { "this machine".to_owned() } else { names.join(", ") }
}

/// The address that a server was booted on.
fn booted_on(measured: &Measured) -> Option<IpAddr> {
    if measured.server.not_measured.is_some() {
        return None;
    }
    let (_, rest) = measured.load.url.split_once("://")?;
    rest.split([':', '/']).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use plan::Pace;

    use super::*;

    /// A folder of stacks: `told` takes the address, `deaf` does not.
    fn catalogue() -> (tempfile::TempDir, Catalogue) {
        let folder = tempfile::tempdir().unwrap();
        for (id, listen) in [("told", "{address}:{port}"), ("deaf", "127.0.0.1:{port}")] {
            let dir = folder.path().join(id);
            std::fs::create_dir(&dir).unwrap();
            let text = format!(
                "title = \"x\"\nfamily = \"x\"\ngeneration = \"timeless\"\n[run]\ncommand = [\"x\", \"{listen}\"]\n\
                 [[endpoint]]\nname = \"a\"\npath = \"/a\"\n"
            );
            std::fs::write(dir.join("stack.toml"), text).unwrap();
        }
        let catalogue = Catalogue::load(folder.path()).unwrap();
        (folder, catalogue)
    }

    fn hosts(address: Ipv4Addr, elsewhere: Option<&str>, count: usize) -> Hosts {
        let member = |number| Member { name: format!("h{number}"), command: vec!["x".to_owned()] };
        let members: Vec<Member> = (0..count).map(member).collect();
        Hosts { source: Box::new(members), elsewhere: elsewhere.map(str::to_owned), address, version: "1" }
    }

    fn refused(hosts: &Hosts, stack: &str, more: &str, load: &str) -> Option<String> {
        let (_folder, catalogue) = catalogue();
        let text = format!(
            "title = \"t\"\n{more}\n[load]\nconnections = [3]\nduration = \"1s\"\n{load}\n[[round]]\nname = \"r\"\n\
             endpoint = \"a\"\nstacks = [\"{stack}\"]\n"
        );
        let experiment = Experiment::parse(Path::new("x.toml"), &text, &catalogue, Pace::Full).unwrap();
        hosts.check(&experiment, &catalogue).err().map(|why| why.to_string())
    }

    #[test]
    fn what_agents_can_t_carry_is_refused_before_anything_is_booted() {
        let here = |count| hosts(Ipv4Addr::LOCALHOST, None, count);
        assert_eq!(refused(&here(3), "deaf", "", ""), None);
        for (count, more, load, part) in [
            (4, "", "", "deaf at 3 connections: 4 agents cannot share this load"),
            (0, "", "", "a load on 0 machines is none"),
            (2, "driver = \"wrk\"", "", "wrk makes its loads on this machine; leave --hosts or --on out"),
            (2, "", "threads = \"auto\"", "write how many load `threads` each has"),
        ] {
            let told = refused(&here(count), "deaf", more, load).unwrap();
            assert!(told.contains(part), "{told}");
        }
    }

    #[test]
    fn what_agents_would_not_reach_is_refused_with_what_to_do() {
        let elsewhere = hosts(Ipv4Addr::LOCALHOST, Some("load1"), 2);
        let told = refused(&elsewhere, "told", "", "").unwrap();
        assert!(
            told.contains("`told` is booted on 127.0.0.1 of this machine, which load1 does not reach"),
            "{told}"
        );
        let told = elsewhere.reach(&StackManifest::control(), Role::Control).unwrap_err().to_string();
        assert!(told.contains("that it reaches, or leave it out: control = false"), "{told}");
        let nobodys = hosts(Ipv4Addr::new(192, 0, 2, 1), None, 2);
        let told = refused(&nobodys, "told", "", "").unwrap();
        assert!(told.contains("192.0.2.1 is no address of this machine"), "{told}");
        assert!(refused(&hosts(Ipv4Addr::UNSPECIFIED, None, 2), "told", "", "").is_some());
    }

    /// An address of this machine beside loopback, of which a test knows none: what follows from it is asked directly.
    #[test]
    fn a_stack_that_is_not_told_its_address_is_not_loaded_from_elsewhere() {
        let (_folder, catalogue) = catalogue();
        let lab = hosts(Ipv4Addr::new(192, 0, 2, 1), Some("load1"), 2);
        assert!(lab.are_elsewhere());
        assert_eq!(lab.reach(catalogue.get("told").unwrap(), Role::Stack), Ok(()));
        assert_eq!(lab.reach(&StackManifest::control(), Role::Control), Ok(()));
        let told = lab.reach(catalogue.get("deaf").unwrap(), Role::Stack).unwrap_err().to_string();
        assert!(told.contains("`deaf` is not told on which address to listen"), "{told}");
        assert!(told.contains("write {address}:{port} where it is told its port"), "{told}");
    }
}
