//! The machines that carry a load together, as typed.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use lab::agents::{Listening, Member, Processes};
use plan::{PlanError, shell};

/// What stands for the host in a command.
const HOST: &str = "{host}";

/// Options of a load on several machines.
#[derive(Debug, Args)]
pub struct Agents {
    /// Carry the load on these machines, in equal shares and with one result: names for ssh, by commas (docs/cluster.md)
    #[arg(long = "hosts", value_name = "HOST,…", value_delimiter = ',', conflicts_with_all = [
        "har", "openapi", "scenario", "jtl",
    ])]
    pub machines: Vec<String>,
    /// The command whose standard input and output are an agent, in place of ssh: {host} stands for the machine
    /// [default: ssh -T -o BatchMode=yes {host} proofload agent]
    #[arg(long, value_name = "COMMAND", requires = "machines")]
    pub agent_command: Option<String>,
    /// Carry the load by agents that listen (`proofload agent --listen`): their addresses on loopback, or those of tunnels to
    /// them, by commas
    #[arg(long = "agents", value_name = "ADDR,…", value_delimiter = ',', conflicts_with_all = [
        "machines", "har", "openapi", "scenario", "jtl",
    ])]
    pub listening: Vec<SocketAddr>,
    /// Write down in this folder what it takes to take the load over, should this be killed; with --agents or --on kubernetes
    #[arg(long, value_name = "DIR", conflicts_with_all = ["har", "openapi", "scenario"])]
    pub ledger: Option<PathBuf>,
    /// Take over the load whose --ledger is in this folder: it goes on, or its agents tell what they kept, for ten minutes
    #[arg(long = "resume", value_name = "DIR", conflicts_with_all = [
        "url", "curl", "har", "openapi", "scenario", "hosts", "base", "no_pauses", "connections", "duration", "requests",
        "rate", "poisson", "burst", "backlog", "think", "ramp_up", "requests_per_user", "warm_up", "timeout",
        "connect_timeout", "idle_timeout", "no_keep_alive", "threads", "io", "seed", "method", "headers", "body",
        "body_file", "expect_status", "expect_body", "jtl", "save_responses", "machines", "listening", "ledger", "on",
        "RequestOptions", "Http", "Tls",
    ])]
    pub take_over: Option<PathBuf>,
}

impl Agents {
    /// The machines, if there are several to carry it.
    pub fn fleet(&self) -> Result<Option<Processes>, PlanError> {
        if self.machines.is_empty() {
            return Ok(None);
        }
        let members = self.machines.iter().map(|host| self.member(host)).collect::<Result<_, _>>()?;
        Ok(Some(Processes::new(members)))
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

    fn member(&self, host: &str) -> Result<Member, PlanError> {
        let is_name = |it: char| !it.is_whitespace() && !it.is_control();
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

/// `proofload agent`.
#[derive(Debug, Args)]
#[command(after_help = "\
It is started by `proofload hit --hosts`, over ssh or by --agent-command, or in the pods of --on kubernetes, and
does what it is told on its standard input, or on a connection. It ends with that. See docs/cluster.md.")]
pub struct Agent {
    /// Take the conductor's connection at this address of loopback, in place of standard input and output; a new one takes
    /// the place of the one before
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<SocketAddr>,
    /// What to call this machine [default: its host name]
    #[arg(long, value_name = "NAME")]
    pub node: Option<String>,
}
