//! The streams of one load to the agents in pods.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use kube::api::Portforwarder;

use crate::pods::Pods;
use crate::stream::{Broken, Reader, Writer};

/// How long an agent may take until it listens, once its container runs.
const LISTENS_WITHIN: Duration = Duration::from_secs(10);
const OPEN_AGAIN: Duration = Duration::from_millis(100);
/// How long it is waited for the cluster to see that a container has ended.
const SEEN_WITHIN: Duration = Duration::from_secs(1);
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// Port-forwards to the pods of a run, for one load.
pub struct Streams {
    pods: Arc<Pods>,
    forwarders: Mutex<Forwarders>,
}

#[derive(Default)]
struct Forwarders {
    /// The last of each agent.
    last: BTreeMap<usize, Arc<Portforwarder>>,
    /// No other is opened any more.
    is_over: bool,
}

impl Streams {
    /// Of pods to which none is open.
    pub fn new(pods: Arc<Pods>) -> Self {
        Self { pods, forwarders: Mutex::default() }
    }

    /// The pods at their other ends.
    pub const fn pods(&self) -> &Arc<Pods> {
        &self.pods
    }

    /// Opens a stream to an agent, once it listens.
    ///
    /// # Errors
    /// If there is none.
    pub fn open(&self, agent: usize) -> Result<(Reader, Writer), Broken> {
        let is_first = !self.forwarders().last.contains_key(&agent);
        let begun = Instant::now();
        loop {
            if self.forwarders().is_over {
                return Err(Broken::ForGood("is not needed any more".to_owned()));
            }
            let why = match self.pods.forward(agent) {
                Ok(forward) => {
                    self.forwarders().last.insert(agent, forward.forwarder());
                    return Ok(forward.split(self.pods.handle()));
                }
                Err(why) => why,
            };
            if let Some(ended) = self.pods.ended_words(agent) {
                return Err(Broken::ForGood(ended));
            }
            if !is_first || begun.elapsed() >= LISTENS_WITHIN {
                return Err(Broken::ForNow(why));
            }
            std::thread::sleep(OPEN_AGAIN);
        }
    }

    /// What it means that the stream to an agent ended, for this reason.
    pub fn ended(&self, agent: usize, why: String) -> Broken {
        let begun = Instant::now();
        loop {
            if self.forwarders().is_over {
                return Broken::ForGood(why);
            }
            if let Some(ended) = self.pods.ended_words(agent) {
                return Broken::ForGood(ended);
            }
            if begun.elapsed() >= SEEN_WITHIN {
                return Broken::ForNow(why);
            }
            std::thread::sleep(LOOK_AGAIN);
        }
    }

    /// Opens no others.
    pub fn close(&self) {
        self.forwarders().is_over = true;
    }

    /// Ends them, whatever is still said in them, and opens no others.
    pub fn abort(&self) {
        self.close();
        self.forwarders().last.values().for_each(|it| it.abort());
    }

    fn forwarders(&self) -> MutexGuard<'_, Forwarders> {
        self.forwarders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
