//! `proofload agent`: a share of a load, for a conductor at the other end of standard input and output, or of a connection; or a
//! look at the server's processes, from within its pod.

use std::io::{IsTerminal, stdin};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use agent::Leave;
use plan::PlanError;
use signals::ProcessSet;
use signals::watcher::{self, Ended};

use crate::arguments::agents::Agent;
use crate::exit::{self, Failure};
use crate::output::{say, to_program};

/// Serves one conductor to its end.
pub fn run(arguments: &Agent) -> Result<ExitCode, Failure> {
    let (version, node) = (env!("PROOFLOAD_VERSION"), arguments.node.clone());
    let leave = if let Some(address) = arguments.listen {
        let (listener, at) = bind(address)?;
        if let Some(name) = &arguments.watch {
            return watch(arguments, &listener, (name, version));
        }
        let leave = lab::carrier::serve_connections(version, node, listener);
        if arguments.again && leave == Leave::Done {
            return Err(start_anew(arguments, at));
        }
        leave
    } else {
        let Some(output) = to_program().filter(|_| !stdin().is_terminal()) else {
            return Err(Failure::usage(
                "an agent is spoken to by a program; give `proofload hit --hosts` the names of machines",
            ));
        };
        lab::carrier::serve(version, node, stdin(), output)
    };
    match leave {
        Leave::Done => Ok(ExitCode::from(exit::OK)),
        Leave::Orphaned => Ok(ExitCode::from(exit::UNREACHABLE)),
    }
}

/// Looks at processes until whoever asks has heard enough.
fn watch(arguments: &Agent, listener: &TcpListener, called: (&str, &str)) -> Result<ExitCode, Failure> {
    let processes = match arguments.children_of {
        Some(leader) => ProcessSet { leader, cgroup: None },
        None => ProcessSet::of_all(),
    };
    let ended = watcher::serve(listener, called, &processes, arguments.server_port);
    match ended.map_err(|why| Failure::system(format!("cannot look at the processes here ({why})")))? {
        Ended::Told => Ok(ExitCode::from(exit::OK)),
        Ended::Alone => Ok(ExitCode::from(exit::UNREACHABLE)),
    }
}

/// Whoever connects has us load what it likes: nobody does from elsewhere.
fn bind(address: SocketAddr) -> Result<(TcpListener, SocketAddr), Failure> {
    if !address.ip().is_loopback() {
        let what = format!(
            "--listen {address} can be reached from elsewhere, and whoever reaches an agent commands it"
        );
        return Err(PlanError::new(what, "give an address of this machine alone: 127.0.0.1:7780").into());
    }
    let refused = |why| {
        Failure::system(format!(
            "cannot listen on {address} ({why}); stop the process that does, or give another port"
        ))
    };
    let listener = TcpListener::bind(address).map_err(refused)?;
    let at = listener.local_addr().map_err(refused)?;
    say(format_args!("agent: listening on {at}"));
    Ok((listener, at))
}

/// Becomes a new process that listens where this one did. An agent carries one load, and nothing of it is left for the next.
fn start_anew(arguments: &Agent, at: SocketAddr) -> Failure {
    let mut own = Command::new("/proc/self/exe");
    own.args(["agent", "--again", "--listen", &at.to_string()]);
    if let Some(node) = &arguments.node {
        own.args(["--node", node]);
    }
    Failure::system(format!("cannot start anew for another load ({})", own.exec()))
}
