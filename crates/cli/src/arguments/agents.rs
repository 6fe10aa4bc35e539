//! The machines that carry a load together, as typed.

use std::net::SocketAddr;

use clap::Args;
use lab::agents::{Member, Processes};
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
