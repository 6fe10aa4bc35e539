//! The server's pods while a load goes on: what metrics-server tells of them, asked on a thread of its own.

use std::collections::BTreeMap;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::ListParams;
use record::ServerPods;

use crate::cluster::Cluster;
use crate::error::{Error, Role};
use crate::metrics::{NAME_BYTES_MAX, PodMetrics, cpu_limit_cores};
use crate::reasons::short;
use crate::rights;
use crate::samples::{PODS_MAX, Samples, Span};

/// How often it is asked: metrics-server looks at its nodes no oftener.
const ASK_EVERY: Duration = Duration::from_secs(15);

/// Pods that can be watched.
pub struct Watch {
    /// In their namespace.
    cluster: Cluster,
    labels: String,
    /// Their limits of CPU, by name.
    limits: BTreeMap<String, Option<f64>>,
}

impl Watch {
    /// Those with these labels, in another namespace where one is named. It is asked once for all that is asked for later, before
    /// anything is created.
    ///
    /// # Errors
    /// If there are none, or nobody tells of them, or not to us.
    pub fn open(cluster: &Cluster, labels: &str, namespace: Option<&str>) -> Result<Self, Error> {
        let cluster = cluster.within(namespace);
        rights::check(&cluster, &rights::TO_WATCH, Role::Load)?;
        let mut watch = Self { cluster, labels: labels.to_owned(), limits: BTreeMap::new() };
        watch.limits = watch.find()?;
        watch.metrics()?;
        Ok(watch)
    }

    /// Begins to ask.
    ///
    /// # Errors
    /// If the system has no thread for it.
    pub fn begin(self) -> Result<Watching, Error> {
        let (stop, stopped) = mpsc::channel();
        let thread = std::thread::Builder::new().name("server pods".into());
        let thread = thread.spawn(move || self.ask_on(&stopped));
        let thread = thread.map_err(|why| Error::Api(format!("cannot start a thread ({why})")))?;
        Ok(Watching { stop, thread })
    }

    /// The limits of those that there are.
    fn find(&self) -> Result<BTreeMap<String, Option<f64>>, Error> {
        let all: Api<Pod> = self.cluster.api();
        let some = self.of_server().limit(PODS_MAX as u32 + 1);
        let pods = self.cluster.ask(all.list(&some))?.items;
        let (labels, namespace) = (self.labels.clone(), self.cluster.namespace().to_owned());
        if pods.len() > PODS_MAX {
            return Err(Error::ManyServerPods { labels, namespace, most: PODS_MAX });
        }
        let limits: BTreeMap<String, Option<f64>> = pods.iter().filter_map(limit_by_name).collect();
        if limits.is_empty() {
            return Err(Error::NoServerPods { labels, namespace });
        }
        Ok(limits)
    }

    /// What is told of them now.
    fn metrics(&self) -> Result<Vec<PodMetrics>, Error> {
        let all: Api<PodMetrics> = self.cluster.api();
        match self.cluster.ask_raw(all.list(&self.of_server()))? {
            Ok(told) => Ok(told.items),
            // Nobody has registered for it, or who has does not run.
            Err(kube::Error::Api(status)) if matches!(status.code, 404 | 503) => {
                Err(Error::NoMetrics(format!("{}: {}", status.code, short(&status.message))))
            }
            Err(why) => Err(self.cluster.meaning(&why)),
        }
    }

    fn of_server(&self) -> ListParams {
        ListParams::default().labels(&self.labels)
    }

    /// Asks every so often until nobody wants to know any more, and once more at the end of the load.
    fn ask_on(self, stopped: &Receiver<()>) -> (Self, Samples) {
        let mut samples = Samples::default();
        loop {
            let is_over = match stopped.recv_timeout(ASK_EVERY) {
                Err(RecvTimeoutError::Timeout) => false,
                Ok(()) => true,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            match self.metrics() {
                Ok(told) => samples.take(&told, now_s()),
                Err(why) => samples.unanswered(&why.to_string()),
            }
            if is_over {
                break;
            }
        }
        (self, samples)
    }
}

/// Pods that are watched.
pub struct Watching {
    stop: Sender<()>,
    thread: JoinHandle<(Watch, Samples)>,
}

impl Watching {
    /// What is known of the window of a load that is over, which began so long ago and had this length.
    pub fn end(self, begun_ago: Duration, length: Duration) -> ServerPods {
        let begin_s = now_s() - begun_ago.as_secs_f64();
        let window = Span { begin_s, end_s: begin_s + length.as_secs_f64() };
        // Where nobody hears it the thread has panicked, which is seen next.
        let _ = self.stop.send(());
        let (watch, samples) = self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let pods = samples.pods(&watch.limits, &window);
        ServerPods {
            namespace: watch.cluster.namespace().to_owned(),
            not_known: samples.not_known(&pods, &window),
            keep: None,
            labels: watch.labels,
            pods,
        }
    }
}

/// The limit of a pod that has not ended.
fn limit_by_name(pod: &Pod) -> Option<(String, Option<f64>)> {
    let phase = pod.status.as_ref().and_then(|it| it.phase.as_deref());
    let name = pod.metadata.name.clone().filter(|it| it.len() <= NAME_BYTES_MAX)?;
    (!matches!(phase, Some("Succeeded" | "Failed"))).then(|| (name, cpu_limit_cores(pod)))
}

/// Seconds since 1970.
fn now_s() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}
