//! The loads of a run from the pods of a cluster, one after the other.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use driver::Control;
use kubernetes::{Cluster, Pods, Streams, Wanted};
use lab::LabError;
use lab::agents::{Fleet, Open};
use lab::hosts::{Hosts, Source};

use crate::arguments::agents::Clients;
use crate::exit::Failure;
use crate::pods::{self, For, InPods};

/// How long agents may take to leave a load that is over.
const LEAVE_WITHIN: Duration = Duration::from_secs(5);

/// Prints what would be created.
pub fn print_manifest(clients: &Clients) -> Result<ExitCode, Failure> {
    let options = &clients.kubernetes;
    pods::print_manifest(options, &pods::wanted(options, For::Loads)?)
}

/// The machines that loads come from. None is there before a trial asks for them; they go when this is dropped.
pub fn hosts(clients: &Clients) -> Result<Hosts, Failure> {
    let options = &clients.kubernetes;
    let wanted = pods::wanted(options, For::Loads)?;
    let cluster = pods::connect(options).map_err(pods::failure)?;
    let source = PodsOfRun { cluster, wanted, now: Mutex::default(), is_spent: Arc::default() };
    Ok(clients.hosts_of(Box::new(source), Some("a pod".to_owned())))
}

struct PodsOfRun {
    cluster: Cluster,
    wanted: Wanted,
    /// Those that there are.
    now: Mutex<Option<Arc<Pods>>>,
    /// Whether an agent of theirs may still be about a load that is over: it would take no other.
    is_spent: Arc<AtomicBool>,
}

impl PodsOfRun {
    fn now(&self) -> MutexGuard<'_, Option<Arc<Pods>>> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_spent(&self) -> bool {
        self.is_spent.load(Ordering::Relaxed)
    }
}

impl Source for PodsOfRun {
    /// By their shares: pods that take the place of others have other names.
    fn names(&self) -> Vec<String> {
        let (place, namespace, cpu) = (self.cluster.place(), self.cluster.namespace(), &self.wanted.cpu);
        (0..self.wanted.pods).map(|pod| format!("pod {pod} of {place}/{namespace} with cpu {cpu}")).collect()
    }

    fn make_ready(&self, control: &Control, tell: &mut dyn FnMut(&str)) -> Result<(), LabError> {
        let mut now = self.now();
        if let Some(pods) = now.take() {
            if !self.is_spent() && pods.all_run() {
                *now = Some(pods);
                return Ok(());
            }
            pods::end(&pods);
        }
        let wanted = Wanted { run: Wanted::random_run(), ..self.wanted.clone() };
        let pods = pods::start(&self.cluster, &wanted, tell, &|| control.is_interrupted())
            .map_err(|why| LabError::Agents(why.to_string()))?;
        self.is_spent.store(false, Ordering::Relaxed);
        *now = Some(Arc::new(pods));
        Ok(())
    }

    fn lost(&self) {
        self.is_spent.store(true, Ordering::Relaxed);
    }

    fn fleet(&self) -> Result<Arc<dyn Fleet>, LabError> {
        let pods = self.now().clone().filter(|_| !self.is_spent());
        let Some(pods) = pods else {
            return Err(LabError::AgentLost("an agent did not leave the load before".to_owned()));
        };
        let is_spent = Arc::clone(&self.is_spent);
        let at_end = move |streams: &Streams, open: &Open| {
            streams.close();
            if !open.have_ended_within(LEAVE_WITHIN) {
                is_spent.store(true, Ordering::Relaxed);
            }
            streams.abort();
        };
        let (names, streams) = (self.names(), Streams::new(pods));
        Ok(Arc::new(InPods { names, streams, open: Open::default(), at_end }))
    }
}

impl Drop for PodsOfRun {
    fn drop(&mut self) {
        if let Some(pods) = self.now().take() {
            pods::end(&pods);
        }
    }
}
