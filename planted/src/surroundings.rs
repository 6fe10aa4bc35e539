//! What goes on beside a run: processes that want the same cores, and a network with few ports.

use std::hint::black_box;
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, getppid, setsid};
use rustix::thread::{CpuSet, sched_setaffinity};
use stack::{Cpus, PhysicalCores};

use crate::case::{Around, Cores};
use crate::process::end;

/// Steps between two looks at the clock and at the parent.
const STEPS: u32 = 1_000_000;
/// The first of the ports that a network of its own has: above those that stacks listen on.
const PORT_FIRST: u16 = 40_000;
/// Loopback up, the ports of clients, and then the command, in the place of this shell.
const FEW_PORTS: &str =
    r#"ip link set lo up && echo "$0" > /proc/sys/net/ipv4/ip_local_port_range && exec "$@""#;

/// The surroundings of one run; with this value they are gone.
#[derive(Debug)]
pub(crate) struct Surroundings {
    hogs: Vec<Child>,
}

impl Surroundings {
    /// Those of `around`, and so many neighbours that may run on any core, for `limit` at most.
    pub(crate) fn make(around: Around, neighbours: u8, own_exe: &Path, limit: Duration) -> io::Result<Self> {
        let mut all = Self { hogs: Vec::new() };
        if let Around::Hogs { each, on } = around {
            let cores = cores(on)?;
            all.add(each as usize * cores.len(), &cores, own_exe, limit)?;
        }
        all.add(neighbours.into(), &cores(Cores::All)?, own_exe, limit)?;
        Ok(all)
    }

    fn add(&mut self, count: usize, cores: &[usize], own_exe: &Path, limit: Duration) -> io::Result<()> {
        let mut set = CpuSet::new();
        for core in cores {
            set.set(*core);
        }
        for _ in 0..count {
            self.hogs.push(hog(own_exe, &set, limit)?);
        }
        Ok(())
    }
}

impl Drop for Surroundings {
    fn drop(&mut self) {
        self.hogs.iter_mut().for_each(end);
    }
}

fn hog(own_exe: &Path, cores: &CpuSet, limit: Duration) -> io::Result<Child> {
    let mut command = Command::new(own_exe);
    command.args(["--hog", &limit.as_secs().to_string()]).stdin(Stdio::null());
    let mut child = command.spawn()?;
    let kept = sched_setaffinity(Pid::from_raw(child.id().cast_signed()), cores);
    if let Err(error) = kept {
        end(&mut child);
        return Err(error.into());
    }
    Ok(child)
}

/// The body of a hog: uses CPU time until the time is up or whoever wanted that is gone. In a session of its own, since a kernel
/// may give each session its share of the cores, and neighbours are of nobody's.
pub(crate) fn be_a_hog(limit: Duration) {
    // A leader of a group can't leave its session, and then it stays.
    let _ = setsid();
    let (parent, deadline) = (getppid(), Instant::now() + limit);
    let mut state = 1u64;
    while getppid() == parent && Instant::now() < deadline {
        for _ in 0..STEPS {
            state = black_box(state.wrapping_mul(3));
        }
    }
}

/// Our cores, divided as `proofload run` does it.
fn cores(which: Cores) -> io::Result<Vec<usize>> {
    let all = Cpus::of_this_thread();
    let split = PhysicalCores::of(&all).split();
    let chosen = match (which, split) {
        (Cores::All, _) => all,
        (Cores::Client, Some((client, _))) => client,
        (Cores::Server, Some((_, server))) => server,
        (Cores::Client | Cores::Server, None) => {
            return Err(io::Error::other("two cores are needed, one for clients and one for servers"));
        }
    };
    Ok(chosen.numbers().into_iter().collect())
}

/// `program`, to be started within `around`.
pub(crate) fn command(around: Around, program: &Path) -> Command {
    let Around::FewPorts(ports) = around else { return Command::new(program) };
    let mut command = Command::new("unshare");
    let range = format!("{PORT_FIRST} {}", PORT_FIRST + ports - 1);
    command.args(["--net", "sh", "-c", FEW_PORTS, &range]).arg(program);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn client_and_server_share_no_core() {
        let (Ok(client), Ok(server)) = (cores(Cores::Client), cores(Cores::Server)) else { return };
        assert!(!client.is_empty() && !server.is_empty());
        assert!(client.iter().all(|core| !server.contains(core)));
        let mut both = [client, server].concat();
        both.sort_unstable();
        assert_eq!(cores(Cores::All).unwrap(), both);
    }

    #[test]
    fn a_network_of_its_own_is_made_before_the_command() {
        let words = |around| -> Vec<String> {
            let command = command(around, Path::new("/proofload"));
            let program = command.get_program().to_string_lossy().into_owned();
            let arguments = command.get_args().map(|word| word.to_string_lossy().into_owned());
            std::iter::once(program).chain(arguments).collect()
        };
        assert_eq!(words(Around::Quiet), ["/proofload"]);
        let few = words(Around::FewPorts(50));
        assert_eq!(
            (few[0].as_str(), few[5].as_str(), few[6].as_str()),
            ("unshare", "40000 40049", "/proofload")
        );
    }
}
