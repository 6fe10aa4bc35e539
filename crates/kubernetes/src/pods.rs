//! The pods of a run, from the creation of their Job to its deletion.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{Event, Pod};
use kube::Api;
use kube::api::{DeleteParams, ListParams, PostParams};
use tokio::runtime::Handle;

use crate::cluster::Cluster;
use crate::error::{Error, Role};
use crate::job::{AGENT_PORT, RUN_LABEL, Wanted, job_name};
use crate::reasons::{Gathered, Running, ended};
use crate::rights;
use crate::stream::{Forward, forward};

/// How often it is looked how far the pods are.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How soon an interruption is seen.
const TURN: Duration = Duration::from_millis(50);
/// How long the API server may be away while pods are waited for.
const AWAY_MAX: Duration = Duration::from_secs(20);
/// Warnings that are looked at: those of a namespace of an hour or so.
const WARNINGS_MAX: u32 = 500;
/// How long pods may take to go once their Job is deleted.
const GONE_WITHIN: Duration = Duration::from_secs(10);
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// The pods of a run. They go with it.
pub struct Pods {
    made: Made,
    /// In the order of their shares.
    running: Vec<Running>,
}

impl Pods {
    /// Creates the Job and waits until all of its pods run; `tell` is told how far they are. On an error nothing is left, or
    /// `left` is told what is.
    ///
    /// # Errors
    /// If they can't be had, or are not in time, or `is_interrupted`.
    pub fn start(
        cluster: &Cluster,
        wanted: &Wanted,
        tell: &mut dyn FnMut(&str),
        left: &mut dyn FnMut(&str),
        is_interrupted: &dyn Fn() -> bool,
    ) -> Result<Self, Error> {
        rights::check(cluster, &rights::TO_LOAD, Role::Load)?;
        let job = wanted.job();
        // Whatever becomes of the question, the Job may be there.
        let made = Made {
            cluster: cluster.clone(),
            name: wanted.name(),
            run: wanted.run.clone(),
            deleted: Mutex::default(),
        };
        let jobs: Api<Job> = cluster.api();
        let created = cluster.ask(jobs.create(&PostParams::default(), &job));
        if let Err(why) = &created
            && !matches!(why, Error::Unreachable { .. } | Error::Api(_))
        {
            // It was refused: there is nothing to delete.
            made.deleted().is_tried = true;
        }
        match created.and_then(|_| made.gather(wanted, tell, is_interrupted)) {
            Ok(running) => Ok(Self { made, running }),
            Err(why) => {
                made.delete();
                let words = made.deleted().left.take();
                if let Some(words) = words {
                    left(&words);
                }
                Err(why)
            }
        }
    }

    /// Those of a run that somebody else started, who is gone: the name and the node of each, in the order of their shares
    /// ([`Pods::places`]). Whether they are still there is seen where they are asked for.
    pub fn adopt(cluster: &Cluster, run: &str, pods: &[(String, String)]) -> Self {
        let made = Made {
            cluster: cluster.clone(),
            name: job_name(run),
            run: run.to_owned(),
            deleted: Mutex::default(),
        };
        let running = |(index, (name, node)): (usize, &(String, String))| Running {
            index,
            name: name.clone(),
            node: node.clone(),
        };
        Self { made, running: pods.iter().enumerate().map(running).collect() }
    }

    /// The name and the node of each, in the order of their shares.
    pub fn places(&self) -> Vec<(String, String)> {
        self.running.iter().map(|it| (it.name.clone(), it.node.clone())).collect()
    }

    /// What the agents are called, in the order of their shares.
    pub fn names(&self) -> Vec<String> {
        self.running.iter().map(|it| format!("{} on {}", it.name, it.node)).collect()
    }

    /// Whether all of them still run, as far as the cluster says.
    pub fn all_run(&self) -> bool {
        let Ok(pods) = self.made.cluster.ask(self.made.pods().list(&self.made.of_run())) else { return true };
        let runs = |it: &Running| {
            let mut all = pods.items.iter();
            all.any(|pod| pod.metadata.name.as_ref() == Some(&it.name) && ended(pod).is_none())
        };
        self.running.iter().all(runs)
    }

    /// Deletes all that was made. Streams to it are of no use any more.
    pub fn end(&self) {
        self.made.delete();
    }

    /// What could not be deleted, and how it is, once this has ended.
    pub fn left(&self) -> Option<String> {
        self.made.deleted().left.clone()
    }

    /// Opens a stream to an agent.
    pub(crate) fn forward(&self, agent: usize) -> Result<Forward, String> {
        let (cluster, pods) = (&self.made.cluster, self.made.pods());
        cluster.wait(async { forward(&pods, &self.running[agent].name, AGENT_PORT).await })
    }

    /// The thread that streams are read with.
    pub(crate) const fn handle(&self) -> &Handle {
        self.made.cluster.handle()
    }

    /// Why an agent's pod goes on no more; `None` where it does, or where that can't be known.
    pub(crate) fn ended_words(&self, agent: usize) -> Option<String> {
        let (cluster, pods) = (&self.made.cluster, self.made.pods());
        match cluster.ask_raw(pods.get_opt(&self.running[agent].name)) {
            Ok(Ok(Some(pod))) => ended(&pod),
            Ok(Ok(None)) => Some("is gone: its pod was deleted".to_owned()),
            Ok(Err(_)) | Err(_) => None,
        }
    }
}

/// What was made in the cluster.
struct Made {
    cluster: Cluster,
    /// Of the Job.
    name: String,
    run: String,
    deleted: Mutex<Deleted>,
}

/// What is known of its deletion.
#[derive(Default)]
struct Deleted {
    is_tried: bool,
    /// What is left, in words.
    left: Option<String>,
}

impl Made {
    fn pods(&self) -> Api<Pod> {
        self.cluster.api()
    }

    fn deleted(&self) -> MutexGuard<'_, Deleted> {
        self.deleted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn of_run(&self) -> ListParams {
        ListParams::default().labels(&format!("{RUN_LABEL}={}", self.run))
    }

    /// Waits until all pods run.
    fn gather(
        &self,
        wanted: &Wanted,
        tell: &mut dyn FnMut(&str),
        is_interrupted: &dyn Fn() -> bool,
    ) -> Result<Vec<Running>, Error> {
        let begun = Instant::now();
        let (mut seen_at, mut told) = (begun, String::new());
        loop {
            match self.look(wanted.pods) {
                Ok(gathered) if gathered.is_complete() => return Ok(gathered.running),
                Ok(gathered) => {
                    seen_at = Instant::now();
                    let state = gathered.text();
                    if state != told {
                        tell(&state);
                        told = state;
                    }
                }
                Err(Error::Unreachable { .. } | Error::Api(_)) if seen_at.elapsed() < AWAY_MAX => {}
                Err(why) => return Err(why),
            }
            if begun.elapsed() >= wanted.ready_within {
                let state = if told.is_empty() { "the pods are not known of".to_owned() } else { told };
                return Err(Error::NotReady { state, within: wanted.ready_within });
            }
            let looked = Instant::now();
            while looked.elapsed() < LOOK_EVERY {
                if is_interrupted() {
                    return Err(Error::Interrupted);
                }
                std::thread::sleep(TURN);
            }
        }
    }

    fn look(&self, wanted: u32) -> Result<Gathered, Error> {
        let pods = self.cluster.ask(self.pods().list(&self.of_run()))?.items;
        let look = |warnings: &[Event]| Gathered::look(wanted, &self.name, &pods, warnings);
        match look(&[]) {
            Ok(gathered) if gathered.is_complete() => Ok(gathered),
            // Why it is so may be told in events alone, or better there.
            Ok(_) | Err(Error::Image { .. }) => {
                let warnings = ListParams::default().fields("type=Warning").limit(WARNINGS_MAX);
                let events: Api<Event> = self.cluster.api();
                look(&self.cluster.ask(events.list(&warnings))?.items)
            }
            Err(why) => Err(why),
        }
    }

    /// Deletes the Job and, where they don't go with it, its pods; once.
    fn delete(&self) {
        let mut deleted = self.deleted();
        if deleted.is_tried {
            return;
        }
        deleted.is_tried = true;
        deleted.left = self.delete_all().err().map(|why| {
            let (name, namespace) = (&self.name, self.cluster.namespace());
            format!(
                "the Job {name} in {namespace} could not be deleted: {why}; its agents end by themselves, or delete it: \
                 kubectl delete job {name} -n {namespace}"
            )
        });
    }

    fn delete_all(&self) -> Result<(), String> {
        let jobs: Api<Job> = self.cluster.api();
        let deleted = self.cluster.ask_raw(jobs.delete(&self.name, &DeleteParams::background()));
        match deleted.map_err(|why| why.to_string())? {
            Ok(_) => {}
            Err(kube::Error::Api(status)) if status.is_not_found() => {}
            Err(why) => return Err(self.cluster.meaning(&why).to_string()),
        }
        let begun = Instant::now();
        loop {
            let pods =
                self.cluster.ask(self.pods().list(&self.of_run())).map_err(|why| why.to_string())?.items;
            if pods.is_empty() {
                return Ok(());
            }
            if begun.elapsed() >= GONE_WITHIN {
                // Nobody is there who would say that they have ended: their node is gone.
                return self.delete_by_force(&pods);
            }
            std::thread::sleep(LOOK_AGAIN);
        }
    }

    fn delete_by_force(&self, pods: &[Pod]) -> Result<(), String> {
        let now = DeleteParams::default().grace_period(0);
        for name in pods.iter().filter_map(|it| it.metadata.name.as_deref()) {
            match self.cluster.ask_raw(self.pods().delete(name, &now)).map_err(|why| why.to_string())? {
                Ok(_) => {}
                Err(kube::Error::Api(status)) if status.is_not_found() => {}
                Err(why) => return Err(self.cluster.meaning(&why).to_string()),
            }
        }
        Ok(())
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        self.delete();
    }
}
