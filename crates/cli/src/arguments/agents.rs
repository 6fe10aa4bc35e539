//! The machines that carry a load together, as typed.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::Args;
use lab::agents::{Listening, Member, Processes};
use lab::hosts::{Hosts, Source};
use plan::{PlanError, shell};
use units::whole;

use super::kubernetes::Kubernetes;

/// What stands for the host in a command.
const HOST: &str = "{host}";
/// A name of DNS has 253 bytes at most, and a user stands before it; records take as much.
const NAME_BYTES_MAX: usize = 512;

/// The machines that carry loads together, each reached by a command.
#[derive(Debug, Args)]
pub struct Machines {
    /// Carry the load on these machines, in equal shares and with one result: names for ssh, separated by commas (docs/cluster.md)
    #[arg(long = "hosts", visible_alias = "client", value_name = "HOST,…", value_delimiter = ',')]
    pub machines: Vec<String>,
    /// Use this command instead of ssh; {host} stands for the machine. Its standard input and output must be those of an agent
    /// [default: ssh -T -o BatchMode=yes {host} proofload agent]
    #[arg(long, value_name = "COMMAND", requires = "machines")]
    pub agent_command: Option<String>,
}

/// Options of a load on several machines.
#[derive(Debug, Args)]
pub struct Agents {
    #[command(flatten)]
    pub machines: Machines,
    /// Carry the load with agents that listen (`proofload agent --listen`): their addresses on loopback, or those of tunnels to
    /// them, separated by commas
    #[arg(long = "agents", value_name = "ADDR,…", value_delimiter = ',', conflicts_with_all = [
        "machines", "on", "har", "openapi", "scenario", "jtl",
    ])]
    pub listening: Vec<SocketAddr>,
    /// Keep in this folder what `hit --resume` needs to take over the load if this process is killed; with --agents or --on
    /// kubernetes
    #[arg(long, value_name = "DIR", conflicts_with_all = ["har", "openapi", "scenario"])]
    pub ledger: Option<PathBuf>,
    /// Take over the load whose --ledger is in this folder: it goes on, or its agents report what they kept, for up to ten minutes
    #[arg(long = "resume", value_name = "DIR", conflicts_with_all = [
        "url", "curl", "har", "openapi", "scenario", "hosts", "base", "no_pauses", "connections", "duration", "requests",
        "rate", "poisson", "burst", "backlog", "think", "ramp_up", "requests_per_user", "warm_up", "timeout",
        "connect_timeout", "idle_timeout", "no_keep_alive", "threads", "io", "seed", "method", "headers", "body",
        "body_file", "expect_status", "expect_body", "jtl", "save_responses", "machines", "listening", "ledger", "on",
        "watched", "RequestOptions", "Http", "Tls",
    ])]
    pub take_over: Option<PathBuf>,
}

/// Options of a run whose loads come from other machines.
#[derive(Debug, Args)]
pub struct Clients {
    #[command(flatten)]
    pub machines: Machines,
    /// This machine's address under which --hosts or pods reach the stacks that are booted here; stacks listen on it where their
    /// manifest says {address} [default: 127.0.0.1, for agents on this machine]
    #[arg(long, value_name = "ADDR")]
    pub servers_address: Option<Ipv4Addr>,
    #[command(flatten)]
    pub kubernetes: Kubernetes,
}

impl Clients {
    /// The machines of --hosts, if loads come from those.
    pub fn hosts(&self) -> Result<Option<Hosts>, PlanError> {
        let members = self.machines.members()?;
        if members.is_empty() {
            return match self.servers_address {
                Some(_) if self.kubernetes.on.is_none() => {
                    let what = "--servers-address is where other machines reach the servers, and the loads come from this one";
                    Err(PlanError::new(what, "name those machines with --hosts, or give --on kubernetes"))
                }
                _ => Ok(None),
            };
        }
        let elsewhere = self.machines.elsewhere().map(str::to_owned);
        Ok(Some(self.hosts_of(Box::new(members), elsewhere)))
    }

    /// Machines of that source.
    pub fn hosts_of(&self, source: Box<dyn Source>, elsewhere: Option<String>) -> Hosts {
        let address = self.servers_address.unwrap_or(Ipv4Addr::LOCALHOST);
        Hosts { source, elsewhere, address, version: env!("PROOFLOAD_VERSION") }
    }

    /// The options as they were typed, with a blank before each.
    pub fn typed(&self) -> String {
        let Machines { machines, agent_command } = &self.machines;
        let hosts = Some(machines.join(",")).filter(|it| !it.is_empty());
        let address = self.servers_address.map(|it| it.to_string());
        let all = [("--hosts", &hosts), ("--agent-command", agent_command), ("--servers-address", &address)];
        let typed = all.into_iter().filter_map(|(option, value)| {
            value.as_ref().map(|value| format!(" {option} {}", shell::quoted(value)))
        });
        typed.collect::<String>() + &self.kubernetes.typed()
    }
}

impl Machines {
    /// How each is reached, in their order.
    pub fn members(&self) -> Result<Vec<Member>, PlanError> {
        self.machines.iter().map(|host| self.member(host)).collect()
    }

    /// The first that ssh reaches and that is not this one. Where a command leads to, nobody knows.
    fn elsewhere(&self) -> Option<&str> {
        let mut hosts = self.machines.iter().map(String::as_str);
        if self.agent_command.is_some() { None } else { hosts.find(|host| !is_this_machine(host)) }
    }

    fn member(&self, host: &str) -> Result<Member, PlanError> {
        let is_name = |it: char| !it.is_whitespace() && !it.is_control();
        if host.len() > NAME_BYTES_MAX {
            let what = format!(
                "a name in --hosts has {} bytes, and none has more than {NAME_BYTES_MAX}",
                host.len()
            );
            return Err(PlanError::new(what, "write names as ssh takes them, with commas between them"));
        }
        if host.is_empty() || host.starts_with('-') || !host.chars().all(is_name) {
            let what = format!("`{host}` in --hosts is no name of a machine");
            return Err(PlanError::new(what, "write names as ssh takes them, with commas between them"));
        }
        let command = match &self.agent_command {
            None => {
                ["ssh", "-T", "-o", "BatchMode=yes", host, "proofload", "agent"].map(str::to_owned).into()
            }
            Some(command) if self.machines.len() > 1 && !command.contains(HOST) => {
                let what = format!("the agent's command is the same for all machines: {command}");
                return Err(PlanError::new(what, "write {host} where the machine is named"));
            }
            Some(command) => {
                let command = command.replace(HOST, &shell::quoted(host));
                vec!["sh".to_owned(), "-c".to_owned(), command]
            }
        };
        Ok(Member { name: host.to_owned(), command })
    }
}

/// Whether ssh stays on this machine when it is told this name.
fn is_this_machine(host: &str) -> bool {
    let name = host.rsplit_once('@').map_or(host, |(_, name)| name);
    name == "localhost" || name.parse::<IpAddr>().is_ok_and(|it| it.is_loopback())
}

impl Agents {
    /// The machines, if there are several to carry it.
    pub fn fleet(&self) -> Result<Option<Processes>, PlanError> {
        let members = self.machines.members()?;
        Ok((!members.is_empty()).then(|| Processes::new(members)))
    }

    /// The agents that listen, if there are any to carry it.
    pub fn listening(&self) -> Result<Option<Listening>, PlanError> {
        let all = &self.listening;
        if let Some(elsewhere) = all.iter().find(|it| !it.ip().is_loopback()) {
            let what =
                format!("{elsewhere} in --agents is of another machine, and agents listen on loopback alone");
            let help =
                "reach it through a tunnel: ssh -N -L 7781:127.0.0.1:7780 HOST, and --agents 127.0.0.1:7781";
            return Err(PlanError::new(what, help));
        }
        if let Some(twice) = all.iter().enumerate().find_map(|(at, it)| all[..at].contains(it).then_some(it))
        {
            let what = format!("{twice} is named twice in --agents, and an agent carries one share");
            return Err(PlanError::new(what, "start an agent for each share, each at a port of its own"));
        }
        Ok((!all.is_empty()).then(|| Listening::new(all.clone())))
    }
}

/// `proofload agent`.
#[derive(Debug, Args)]
#[command(after_help = "\
`proofload hit` and `proofload run` start it: with --hosts over ssh or by --agent-command, with --on kubernetes in pods. It
takes its orders from standard input or from a connection, and ends when that ends. See docs/cluster.md.")]
pub struct Agent {
    /// Wait for the conductor on this loopback address instead of using standard input and output; a new connection replaces the
    /// previous one
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<SocketAddr>,
    /// What to call this machine [default: its host name]
    #[arg(long, value_name = "NAME")]
    pub node: Option<String>,
    /// When a load is over, wait for another one; ends when nobody has asked for ten minutes
    #[arg(long, requires = "listen")]
    pub again: bool,
    /// Carry no load, but look at the processes of a container, and use this name for it: `hit --watch pods` puts it into the
    /// server's pods. Ends when nobody has asked for a minute
    #[arg(long, value_name = "NAME", requires = "listen", conflicts_with_all = ["again", "node"])]
    pub watch: Option<String>,
    /// With --watch: the port that is loaded [default: the only port on which a process listens]
    #[arg(long, value_name = "PORT", requires = "watch", value_parser = whole::<u16>)]
    pub server_port: Option<u16>,
    /// With --watch: look only at this process and its descendants
    #[arg(long, value_name = "PID", requires = "watch", value_parser = clap::value_parser!(i32).range(1..))]
    pub children_of: Option<i32>,
}
