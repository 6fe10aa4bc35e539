//! The server's pods while a load goes on, as they are seen from within: a container of ours in each of them looks at the
//! processes of the server's, and tells at the end what they did in the load's window.
//!
//! A pod keeps what was put into it, ended, until it is deleted; so this is done only where it is asked for, and to few.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;
use std::time::Instant as StdInstant;

use agent::Clock;
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::{ListParams, Patch, PatchParams, Portforwarder};
use record::{ContainerUse, PodWithin, ServerPod, ServerPods, check_container};
use serde::de::DeserializeOwned;
use signals::watcher::{ANSWER_BYTES_MAX, Answer, Hello, Question, WATCHER_VERSION};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::time::timeout;
use units::Instant;

use crate::cluster::Cluster;
use crate::error::{Error, Role};
use crate::inside::{Inside, Stage, WATCHER_PORT, stage};
use crate::reasons::short;
use crate::rights;
use crate::stream::{Broken, forward};

/// How long it may take until all of them look: an image may have to be pulled.
pub const LOOKED_AT_WITHIN: Duration = Duration::from_secs(120);
/// Pods that are looked at from within: each keeps a container of ours.
const PODS_MAX: usize = 20;
const LOOK_EVERY: Duration = Duration::from_millis(300);
const ASK_AGAIN: Duration = Duration::from_millis(200);
/// How often it is said that somebody is still there, well within what a watcher waits for it.
const ASK_EVERY: Duration = Duration::from_secs(10);
/// How long all questions of one time may take.
const ANSWERED_WITHIN: Duration = Duration::from_secs(10);
/// How long it is tried to hear what was seen: the API server may be away for a moment.
const TOLD_WITHIN: Duration = Duration::from_secs(20);
/// How often the clock is asked for before a window is.
const CLOCK_QUESTIONS: usize = 16;
/// Reasons that are told of many.
const REASONS_MAX: usize = 3;

/// Pods of a server that can be looked at from within.
pub struct Found {
    /// In their namespace.
    cluster: Cluster,
    labels: String,
    all: Vec<Inside>,
    /// Pods with the labels that do not run.
    others: usize,
}

impl Found {
    /// Those with these labels, in another namespace where one is named, and in each the container that is called so, or the one
    /// that is meant. Nothing is put into them yet.
    ///
    /// # Errors
    /// If there are none, or too many, or we may not.
    pub fn look(
        cluster: &Cluster,
        labels: &str,
        namespace: Option<&str>,
        container: Option<&str>,
    ) -> Result<Self, Error> {
        let cluster = cluster.within(namespace);
        rights::check(&cluster, &rights::TO_WATCH_WITHIN, Role::WatchPods)?;
        let pods: Api<Pod> = cluster.api();
        let some = ListParams::default().labels(labels).limit(PODS_MAX as u32 + 1);
        let pods = cluster.ask(pods.list(&some))?.items;
        let (labels, namespace) = (labels.to_owned(), cluster.namespace().to_owned());
        if pods.len() > PODS_MAX {
            return Err(Error::ManyServerPods { labels, namespace, most: PODS_MAX });
        }
        let running = pods.iter().filter_map(|pod| Inside::of(pod, container).transpose());
        let all: Vec<Inside> = running.collect::<Result<_, Error>>()?;
        match (pods.len(), all.is_empty()) {
            (0, _) => Err(Error::NoServerPods { labels, namespace }),
            (count, true) => Err(Error::NoServerPodRuns { count, labels, namespace }),
            (count, false) => Ok(Self { cluster, labels, others: count - all.len(), all }),
        }
    }

    /// Puts a container of `image` into each, and waits until all of them look. They are told the port that is loaded; `version`
    /// is ours, and `now` shows the clock that the load's window is told by.
    ///
    /// # Errors
    /// If one does not, or `is_interrupted`. Those that do have been told to end.
    pub fn begin(
        self,
        run: &str,
        image: &str,
        port: u16,
        (version, now): (&str, fn() -> Instant),
        is_interrupted: &dyn Fn() -> bool,
    ) -> Result<Looking, Error> {
        let Self { cluster, labels, all, others } = self;
        let name = format!("proofload-watch-{run}");
        let mut looking = Looking { cluster, labels, others, name, all: Vec::new() };
        for inside in all {
            stop_if(is_interrupted)?;
            looking.put(inside, image, port, now)?;
        }
        looking.await_all(version, is_interrupted)?;
        Ok(looking)
    }
}

/// Pods that are looked at. Whoever looks ends when this is dropped.
pub struct Looking {
    cluster: Cluster,
    labels: String,
    others: usize,
    /// Of the container.
    name: String,
    all: Vec<Watched>,
}

/// A pod with a container that looks, and a thread that keeps it awake.
struct Watched {
    one: Arc<One>,
    /// What to ask at the end.
    end: Sender<Window>,
    thread: JoinHandle<Result<PodWithin, String>>,
}

/// A load's window on our clock.
#[derive(Debug, Clone, Copy)]
struct Window {
    start: Instant,
    length: Duration,
}

impl Looking {
    /// Puts a container into a pod.
    fn put(&mut self, inside: Inside, image: &str, port: u16, now: fn() -> Instant) -> Result<(), Error> {
        let patch = Patch::Strategic(inside.patch(&self.name, image, port));
        let (pod, parameters) = (inside.pod.clone(), PatchParams::default());
        let api: Api<Pod> = self.cluster.api();
        let put = self.cluster.ask_raw(api.patch_ephemeral_containers(&pod, &parameters, &patch));
        if let Ok(Err(kube::Error::Api(status))) = &put {
            // It was refused: there is nothing to end.
            let why = format!("the cluster refuses the container that looks ({})", short(&status.message));
            return Err(Error::NotWatched { pod, why });
        }
        // Whatever became of the question, it may be there.
        let (end, ends) = mpsc::channel();
        let one = Arc::new(One { cluster: self.cluster.clone(), name: self.name.clone(), inside, now });
        let of_thread = Arc::clone(&one);
        let thread = std::thread::Builder::new().name("server pod".into());
        let thread = thread.spawn(move || of_thread.until(&ends));
        let thread = thread.map_err(|why| Error::Api(format!("cannot start a thread ({why})")))?;
        self.all.push(Watched { one, end, thread });
        put?.map(drop).map_err(|why| self.cluster.meaning(&why))
    }

    /// Waits until each of them runs and answers.
    fn await_all(&self, version: &str, is_interrupted: &dyn Fn() -> bool) -> Result<(), Error> {
        let begun = StdInstant::now();
        let mut missing: Vec<&One> = self.all.iter().map(|it| &*it.one).collect();
        loop {
            let mut left = Vec::new();
            for one in missing {
                stop_if(is_interrupted)?;
                match one.looks(version) {
                    Ok(()) => {}
                    Err(Broken::ForNow(why)) => left.push((one, why)),
                    Err(Broken::ForGood(why)) => return Err(one.not_watched(&why)),
                }
            }
            let Some((first, why)) = left.first() else { return Ok(()) };
            if begun.elapsed() >= LOOKED_AT_WITHIN {
                let within_s = LOOKED_AT_WITHIN.as_secs();
                return Err(first.not_watched(&format!("after {within_s} s {why}")));
            }
            missing = left.into_iter().map(|(one, _)| one).collect();
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// What was seen in the window of a load that is over.
    pub fn end(mut self, start: Instant, length: Duration) -> ServerPods {
        let window = Window { start, length };
        for watched in &self.all {
            // Where nobody hears it the thread has panicked, which is seen next.
            let _ = watched.end.send(window);
        }
        let (mut pods, mut reasons) = (Vec::new(), Vec::new());
        for Watched { one, thread, end } in std::mem::take(&mut self.all) {
            let told = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            drop(end);
            let within = told.map_err(|why| reasons.push(format!("{}: {}", one.inside.pod, short(&why))));
            pods.push(ServerPod {
                name: one.inside.pod.clone(),
                cpu_limit_cores: one.inside.cpu_limit_cores,
                samples: Vec::new(),
                within: within.ok().map(Box::new),
            });
        }
        ServerPods {
            namespace: self.cluster.namespace().to_owned(),
            labels: std::mem::take(&mut self.labels),
            not_known: not_known(&reasons, self.others),
            keep: Some(self.name.clone()),
            pods,
        }
    }
}

impl Drop for Looking {
    fn drop(&mut self) {
        let silenced = |Watched { end, thread, .. }: Watched| {
            drop(end);
            thread
        };
        // All of them are told before any is waited for.
        let threads: Vec<_> = std::mem::take(&mut self.all).into_iter().map(silenced).collect();
        for thread in threads {
            // A panic in it was printed by it.
            let _ = thread.join();
        }
    }
}

fn stop_if(is_interrupted: &dyn Fn() -> bool) -> Result<(), Error> {
    if is_interrupted() { Err(Error::Interrupted) } else { Ok(()) }
}

/// What is not known of pods, in words.
fn not_known(reasons: &[String], others: usize) -> Option<String> {
    let mut parts = Vec::new();
    if !reasons.is_empty() {
        let (told, more) = reasons.split_at(reasons.len().min(REASONS_MAX));
        let more = if more.is_empty() { String::new() } else { format!("; and {} more", more.len()) };
        parts.push(format!("what was seen: {}{more}", told.join("; ")));
    }
    if others > 0 {
        parts.push(format!("what pods did that were not running when the load began: {others}"));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Whoever looks in one pod, as we speak with it.
struct One {
    cluster: Cluster,
    /// Of the container.
    name: String,
    inside: Inside,
    now: fn() -> Instant,
}

impl One {
    fn not_watched(&self, why: &str) -> Error {
        Error::NotWatched { pod: self.inside.pod.clone(), why: short(why) }
    }

    /// Whether it runs, and sees something.
    fn looks(&self, version: &str) -> Result<(), Broken> {
        match self.stage() {
            Ok(Stage::Runs) => {}
            Ok(Stage::Fails(why)) => return Err(Broken::ForGood(why)),
            Ok(Stage::Waits) => {
                return Err(Broken::ForNow("the container that looks does not run".to_owned()));
            }
            // The API server may be away for a moment.
            Err(why) => return Err(Broken::ForNow(why.to_string())),
        }
        let (hello, _) = self.ask(&[Question::Clock], &mut Clock::default())?;
        if hello.version != version {
            let why = format!("--image is proofload {}, this is {version}", short(&hello.version));
            return Err(Broken::ForGood(why));
        }
        if hello.processes == 0 {
            let container = &self.inside.container;
            let why =
                format!("the processes of its container {container} are not shown to another container");
            return Err(Broken::ForGood(why));
        }
        Ok(())
    }

    fn stage(&self) -> Result<Stage, Error> {
        let api: Api<Pod> = self.cluster.api();
        self.cluster.ask(api.get(&self.inside.pod)).map(|pod| stage(&pod, &self.name))
    }

    /// Keeps it awake until it is asked what was seen; tells it to end then, or where nobody will ask.
    fn until(&self, ends: &Receiver<Window>) -> Result<PodWithin, String> {
        let mut clock = Clock::default();
        loop {
            match ends.recv_timeout(ASK_EVERY) {
                // What is not answered now is asked again: nothing is lost by it.
                Err(RecvTimeoutError::Timeout) => drop(self.ask(&[Question::Clock], &mut clock)),
                Ok(window) => {
                    let told = self.told(&window, &mut clock);
                    self.end();
                    return told;
                }
                Err(RecvTimeoutError::Disconnected) => {
                    self.end();
                    return Err("was not asked".to_owned());
                }
            }
        }
    }

    /// It ends by itself where it does not hear this.
    fn end(&self) {
        let _ = self.ask(&[Question::End], &mut Clock::default());
    }

    fn told(&self, window: &Window, clock: &mut Clock) -> Result<PodWithin, String> {
        let begun = StdInstant::now();
        self.again(begun, || self.ask(&[Question::Clock; CLOCK_QUESTIONS], clock).map(drop))?;
        let bounds = clock.at(window.start).ok_or("does not tell its clock")?;
        let start_ns = bounds.theirs(window.start).as_nanos();
        let length_ns = u64::try_from(window.length.as_nanos()).unwrap_or(u64::MAX);
        let mut seen = self.again(begun, || self.window(start_ns, length_ns))?;
        if self.inside.is_shared {
            seen.not_known.push("which container did it: those of the pod share their processes".to_owned());
        }
        if clock.jumped() {
            seen.not_known
                .push("when it was: the clock of its machine went otherwise than a clock does".to_owned());
        }
        let container = self.inside.container.clone();
        Ok(PodWithin { container, bound_s: bounds.half().as_secs_f64(), seen })
    }

    fn window(&self, start_ns: u64, length_ns: u64) -> Result<ContainerUse, Broken> {
        let asked = Question::Window { start_ns, length_ns };
        let (_, answers) = self.ask(&[asked], &mut Clock::default())?;
        match answers.into_iter().next() {
            Some(Answer::Window { start_ns: start, length_ns: length, seen })
                if (start, length) == (start_ns, length_ns) =>
            {
                check_container(&seen)
                    .map_err(|why| Broken::ForGood(format!("tells what can't be: {why}")))?;
                Ok(*seen)
            }
            _ => Err(Broken::ForGood("tells of another window than was asked for".to_owned())),
        }
    }

    /// Tries it again for a while, and tells why it came to nothing.
    fn again<T>(&self, begun: StdInstant, mut what: impl FnMut() -> Result<T, Broken>) -> Result<T, String> {
        loop {
            match what() {
                Ok(it) => return Ok(it),
                Err(Broken::ForNow(_)) if begun.elapsed() < TOLD_WITHIN => std::thread::sleep(ASK_AGAIN),
                // It may have ended with the server's container, whose processes it saw.
                Err(Broken::ForNow(why)) => {
                    let Ok(Stage::Fails(ended)) = self.stage() else { return Err(why) };
                    return Err(ended);
                }
                Err(Broken::ForGood(why)) => return Err(why),
            }
        }
    }

    /// Asks, on a stream of its own, and adds what is heard of its clock.
    fn ask(&self, questions: &[Question], clock: &mut Clock) -> Result<(Hello, Vec<Answer>), Broken> {
        let asked =
            self.cluster.wait(async { timeout(ANSWERED_WITHIN, self.dialogue(questions, clock)).await });
        let late = || Broken::ForNow(format!("has no answer within {} s", ANSWERED_WITHIN.as_secs()));
        asked.unwrap_or_else(|_| Err(late()))
    }

    async fn dialogue(
        &self,
        questions: &[Question],
        clock: &mut Clock,
    ) -> Result<(Hello, Vec<Answer>), Broken> {
        let pods: Api<Pod> = self.cluster.api();
        let forward = forward(&pods, &self.inside.pod, WATCHER_PORT).await.map_err(Broken::ForNow)?;
        let (first, stream, forwarder) = forward.into_parts();
        let _ends = Aborted(forwarder);
        let mut lines = Lines { stream, read: first };
        let hello: Hello = lines.next().await?;
        if hello.watcher != WATCHER_VERSION {
            let version = hello.watcher;
            let why = format!("speaks version {version} of what a watcher does, this is {WATCHER_VERSION}");
            return Err(Broken::ForGood(why));
        }
        if hello.name != self.name {
            return Err(Broken::ForNow("is looked at by somebody else".to_owned()));
        }
        let mut answers = Vec::with_capacity(questions.len());
        for question in questions {
            let sent = (self.now)();
            lines.say(*question).await?;
            let answer = lines.next().await?;
            if let Answer::Clock(shown_ns) = answer {
                clock.add(sent, Instant::from_nanos(shown_ns), (self.now)());
            }
            answers.push(answer);
        }
        Ok((hello, answers))
    }
}

/// A port-forward that ends with this, whatever becomes of the questions.
struct Aborted(Arc<Portforwarder>);

impl Drop for Aborted {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A stream of lines of JSON, each bounded.
struct Lines {
    stream: DuplexStream,
    /// What was read and is not taken yet.
    read: Vec<u8>,
}

impl Lines {
    async fn say(&mut self, what: Question) -> Result<(), Broken> {
        let mut line = serde_json::to_vec(&what).map_err(|why| Broken::ForGood(why.to_string()))?;
        line.push(b'\n');
        self.stream.write_all(&line).await.map_err(|why| Broken::ForNow(format!("is gone ({why})")))
    }

    async fn next<T: DeserializeOwned>(&mut self) -> Result<T, Broken> {
        let mut looked = 0;
        loop {
            if let Some(length) = self.read[looked..].iter().position(|it| *it == b'\n') {
                let line: Vec<u8> = self.read.drain(..=looked + length).collect();
                return serde_json::from_slice(&line).map_err(|why| {
                    Broken::ForGood(format!("says what no watcher does ({})", short(&why.to_string())))
                });
            }
            looked = self.read.len();
            if looked > ANSWER_BYTES_MAX {
                return Err(Broken::ForGood("says more than a watcher may".to_owned()));
            }
            match self.stream.read_buf(&mut self.read).await {
                Ok(0) => return Err(Broken::ForNow("ended without an answer".to_owned())),
                Ok(_) => {}
                Err(why) => return Err(Broken::ForNow(format!("is gone ({why})"))),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_pods_a_few_reasons_are_told() {
        assert_eq!(not_known(&[], 0), None);
        let reasons: Vec<String> = (0..20).map(|it| format!("shop-{it}: {}", "x".repeat(400))).collect();
        let told = not_known(&reasons, 2).unwrap();
        assert!(told.len() < 2000 && told.contains("; and 17 more; what pods did"), "{told}");
        let one = not_known(&reasons[..1], 0).unwrap();
        assert!(one.starts_with("what was seen: shop-0: ") && !one.contains("more"), "{one}");
    }

    /// Reads what a watcher says.
    fn read<T: DeserializeOwned>(said: &[u8]) -> Result<T, Broken> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (mut theirs, stream) = tokio::io::duplex(ANSWER_BYTES_MAX * 2);
            theirs.write_all(said).await.unwrap();
            drop(theirs);
            Lines { stream, read: Vec::new() }.next().await
        })
    }

    #[test]
    fn what_a_watcher_says_is_bounded_and_may_be_anything() {
        assert_eq!(read(b"{\"clock\":7}\n"), Ok(Answer::Clock(7)));
        assert!(matches!(read::<Answer>(b"{\"clock\":7}"), Err(Broken::ForNow(_))), "it is cut off");
        let hostile = [&b"\""[..], &vec![b'x'; 100_000], b"\"\n"].concat();
        let Err(Broken::ForGood(why)) = read::<Answer>(&hostile) else { panic!("that is no answer") };
        assert!(why.contains("says what no watcher does") && why.len() < 1000, "{why}");
        let endless = vec![b'x'; ANSWER_BYTES_MAX + 1];
        assert_eq!(read::<Answer>(&endless), Err(Broken::ForGood("says more than a watcher may".into())));
    }
}
