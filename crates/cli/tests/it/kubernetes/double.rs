//! A Kubernetes whose pods are child processes, or nothing but what is told of them: as much of its API as a run asks for.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::process::Pid;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use crate::common::proofload;

/// Where agents and watchers listen in their pods, as port-forwards are told.
const AGENT_PORT: u16 = 7780;
const WATCHER_PORT: u16 = 7781;
/// How the pods of the server are asked for, and where metrics-server tells of them.
const OF_SERVER: &str = "labelSelector=app%3Dshop";
const METRICS: &str = "/apis/metrics.k8s.io/v1beta1/namespaces/shop/pods";
/// How often it looks at its nodes, seconds.
const LOOKS_EVERY_S: i64 = 15;

/// What becomes of a pod.
#[derive(Debug, Clone)]
pub enum Fate {
    /// A real agent runs in it.
    Agent,
    /// Something runs in it that says this to whoever connects, and then nothing.
    Says(Vec<u8>),
    /// It has this status for ever.
    Status(Value),
    /// The controller does not create it.
    Missing,
}

/// How the cluster behaves.
#[derive(Debug, Clone, Default)]
pub struct Behaviour {
    /// By share; the last is that of all others, and agents run where there is none.
    pub fates: Vec<Fate>,
    /// What it warned of: of the Job (`""`), or of the pod with this share.
    pub warnings: Vec<(&'static str, &'static str)>,
    /// Verbs and resources that are not allowed: `create jobs`, `get pods/portforward`.
    pub denied: Vec<&'static str>,
    /// What becomes of the Job, in place of its creation: a status and a message.
    pub refusal: Option<(u16, &'static str)>,
    /// What becomes of whoever wants to delete it, in place of that: the same.
    pub keeps: Option<(u16, &'static str)>,
    /// The pods of the server, which have the label `app=shop`, two containers and two cores.
    pub server_pods: Vec<&'static str>,
    /// Whether there is a metrics-server that tells of them.
    pub has_metrics: bool,
    /// The process whose children are those of each of them.
    pub server: Option<u32>,
    /// What becomes of a container that is put into one, in place of looking: its state.
    pub put_into: Option<Value>,
    /// What it says, in place of a watcher.
    pub says: Option<Vec<u8>>,
}

enum Runs {
    Agent(Child, SocketAddr),
    Says(Vec<u8>),
    Nothing(Value),
}

struct Pod {
    index: u64,
    runs: Runs,
}

/// A container in a pod of the server.
struct Watcher {
    /// As it was asked for.
    container: Value,
    runs: Option<(Child, SocketAddr)>,
}

#[derive(Default)]
struct World {
    behaviour: Behaviour,
    jobs: BTreeMap<String, Value>,
    pods: BTreeMap<String, Pod>,
    /// Process ids of all agents that ever ran, watchers among them.
    agents: Vec<Pid>,
    /// By the name of a pod of the server: what was put into it.
    watchers: BTreeMap<String, Watcher>,
    forwards: Vec<TcpStream>,
    asked: Vec<String>,
    is_away: bool,
}

/// Listens on loopback until the process ends.
pub struct Kubernetes {
    world: Arc<Mutex<World>>,
    folder: tempfile::TempDir,
}

impl Kubernetes {
    pub fn start(behaviour: Behaviour) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a port");
        let server = format!("http://{}", listener.local_addr().expect("it is bound"));
        let world = Arc::new(Mutex::new(World { behaviour, ..World::default() }));
        let shared = Arc::clone(&world);
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let world = Arc::clone(&shared);
                std::thread::spawn(move || serve(connection, &world));
            }
        });
        let folder = tempfile::tempdir().expect("a folder can be made");
        let config = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "blue",
            "clusters": [{"name": "c", "cluster": {"server": server}}],
            "users": [{"name": "u", "user": {"token": "secret"}}],
            "contexts": [
                {"name": "blue", "context": {"cluster": "c", "user": "u", "namespace": "shop"}},
                {"name": "green", "context": {"cluster": "c", "user": "u"}},
            ],
        });
        std::fs::write(folder.path().join("config"), config.to_string()).expect("it can be written");
        Self { world, folder }
    }

    pub fn kubeconfig(&self) -> std::path::PathBuf {
        self.folder.path().join("config")
    }

    fn world(&self) -> MutexGuard<'_, World> {
        lock(&self.world)
    }

    /// Every stream breaks, as when the API server is killed.
    pub fn break_streams(&self) {
        for stream in self.world().forwards.drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Nobody answers, as while the API server is started anew.
    pub fn go_away(&self) {
        self.world().is_away = true;
        self.break_streams();
    }

    /// It answers again.
    pub fn come_back(&self) {
        self.world().is_away = false;
    }

    /// The agent with this share is killed.
    pub fn kill_agent(&self, index: u64) {
        let mut world = self.world();
        let pod = world.pods.values_mut().find(|it| it.index == index).expect("there is one");
        let Runs::Agent(child, _) = &mut pod.runs else { panic!("no agent runs there") };
        child.kill().expect("it is ours");
    }

    /// Methods and paths of all that was asked.
    pub fn asked(&self) -> Vec<String> {
        self.world().asked.clone()
    }

    /// The Jobs that were not deleted.
    pub fn jobs(&self) -> Vec<String> {
        self.world().jobs.keys().cloned().collect()
    }

    pub fn agents(&self) -> Vec<Pid> {
        self.world().agents.clone()
    }

    /// Waits for what has ended of what was put into pods.
    pub fn reap(&self) {
        for (child, _) in self.world().watchers.values_mut().filter_map(|it| it.runs.as_mut()) {
            let _ = child.try_wait();
        }
    }

    /// What was put into the pods of the server, by their names.
    pub fn put_into(&self) -> BTreeMap<String, Value> {
        self.world().watchers.iter().map(|(pod, it)| (pod.clone(), it.container.clone())).collect()
    }
}

impl Drop for Kubernetes {
    fn drop(&mut self) {
        let mut world = self.world();
        world.pods.values_mut().for_each(Pod::end);
        for (child, _) in world.watchers.values_mut().filter_map(|it| it.runs.as_mut()) {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn lock(world: &Mutex<World>) -> MutexGuard<'_, World> {
    world.lock().expect("nobody panicked")
}

impl Pod {
    fn start(index: u64, fate: &Fate, job: &Value) -> Option<Self> {
        let runs = match fate {
            Fate::Agent => {
                let (child, address) = start_agent(index, job);
                Runs::Agent(child, address)
            }
            Fate::Says(bytes) => Runs::Says(bytes.clone()),
            Fate::Status(status) => Runs::Nothing(status.clone()),
            Fate::Missing => return None,
        };
        Some(Self { index, runs })
    }

    fn end(&mut self) {
        if let Runs::Agent(child, _) = &mut self.runs {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    fn status(&mut self) -> Value {
        let container = |state: Value| {
            json!({"phase": "Running", "containerStatuses": [{
                "name": "agent", "image": "", "imageID": "", "ready": true, "restartCount": 0, "state": state,
            }]})
        };
        let runs = json!({"running": {"startedAt": "2026-01-01T00:00:00Z"}});
        match &mut self.runs {
            Runs::Nothing(status) => status.clone(),
            Runs::Says(_) => container(runs),
            Runs::Agent(child, _) => match child.try_wait() {
                Ok(Some(status)) => {
                    // A shell tells a signal in the same way.
                    let code = status.code().unwrap_or(137);
                    container(json!({"terminated": {"exitCode": code, "reason": "Error"}}))
                }
                _ => container(runs),
            },
        }
    }

    fn told(&mut self, name: &str, job: &Value) -> Value {
        let index = self.index.to_string();
        json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {
                "name": name, "namespace": "shop",
                "labels": job["spec"]["template"]["metadata"]["labels"],
                "annotations": {"batch.kubernetes.io/job-completion-index": index},
            },
            "spec": {"nodeName": node(self.index), "containers": job["spec"]["template"]["spec"]["containers"]},
            "status": self.status(),
        })
    }
}

/// Three nodes, by turns.
fn node(index: u64) -> String {
    format!("n{}", index % 3)
}

/// As the Job has it, but at a port of its own: here all pods share one loopback.
fn start_agent(index: u64, job: &Value) -> (Child, SocketAddr) {
    let asked = &job["spec"]["template"]["spec"]["containers"][0]["args"];
    let again = asked.as_array().is_some_and(|it| it.contains(&json!("--again")));
    let mut agent = proofload();
    agent.args(["agent", "--listen", "127.0.0.1:0", "--node", &node(index)]);
    listening(agent.args(again.then_some("--again")))
}

/// As it was asked for, but at a port of its own, and of the children of one process: here pods share all processes, too.
fn start_watcher(container: &Value, server: u32) -> (Child, SocketAddr) {
    let asked = container["args"].as_array().expect("it has arguments");
    let texts = asked.iter().map(|it| it.as_str().expect("they are texts"));
    let mut watcher = proofload();
    watcher.args(texts.map(|it| if it.starts_with("127.0.0.1:") { "127.0.0.1:0" } else { it }));
    listening(watcher.args(["--children-of", &server.to_string()]))
}

fn listening(command: &mut Command) -> (Child, SocketAddr) {
    let mut child = command.stderr(Stdio::piped()).spawn().expect("it starts");
    let mut line = String::new();
    let errors = child.stderr.as_mut().expect("it is piped");
    BufReader::new(errors).read_line(&mut line).expect("it says where it listens");
    let address = line.trim().rsplit(' ').next().and_then(|it| it.parse().ok());
    (child, address.unwrap_or_else(|| panic!("no address in {line:?}")))
}

struct Request {
    method: String,
    path: String,
    websocket_key: Option<String>,
    body: Value,
}

fn read(reader: &mut impl BufRead) -> Option<Request> {
    let mut line = String::new();
    if reader.read_line(&mut line).ok()? == 0 {
        return None;
    }
    let mut words = line.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let (mut length, mut websocket_key) = (0, None);
    loop {
        let mut field = String::new();
        reader.read_line(&mut field).ok()?;
        let Some((name, value)) = field.trim().split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().ok()?,
            "sec-websocket-key" => websocket_key = Some(value.trim().to_owned()),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Some(Request { method, path, websocket_key, body })
}

/// Serves one connection of the client, which keeps it, until it becomes a port-forward.
fn serve(stream: TcpStream, world: &Mutex<World>) {
    let Ok(writer) = stream.try_clone() else { return };
    let (mut reader, mut writer) = (BufReader::new(stream), writer);
    while let Some(request) = read(&mut reader) {
        if lock(world).is_away {
            return;
        }
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        lock(world).asked.push(format!("{} {path}", request.method));
        if let (Some(key), Some(pod)) = (&request.websocket_key, path.strip_suffix("/portforward")) {
            let port =
                if query.contains(&format!("ports={WATCHER_PORT}")) { WATCHER_PORT } else { AGENT_PORT };
            return forward(reader, writer, world, key, (pod.rsplit('/').next().unwrap_or_default(), port));
        }
        let (status, answer) = lock(world).answer(&request.method, path, query, &request.body);
        let body = answer.to_string();
        let head = format!(
            "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        if writer.write_all((head + &body).as_bytes()).is_err() {
            return;
        }
    }
}

fn refused(code: u16, message: &str) -> (u16, Value) {
    let status =
        json!({"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": code, "message": message});
    (code, status)
}

fn list(kind: &str, items: &[Value]) -> (u16, Value) {
    (200, json!({"apiVersion": "v1", "kind": kind, "metadata": {"resourceVersion": "1"}, "items": items}))
}

impl World {
    fn answer(&mut self, method: &str, path: &str, query: &str, body: &Value) -> (u16, Value) {
        let name = path.rsplit('/').next().unwrap_or_default();
        match (method, path) {
            ("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews") => (201, self.review(body)),
            ("POST", "/apis/batch/v1/namespaces/shop/jobs") => self.create(body),
            ("DELETE", _) if path.starts_with("/apis/batch/v1/namespaces/shop/jobs/") => self.delete(name),
            ("GET", "/api/v1/namespaces/shop/pods") if query.contains(OF_SERVER) => {
                list("PodList", &self.server_pods())
            }
            ("GET", "/api/v1/namespaces/shop/pods") => list("PodList", &self.pods()),
            ("GET", METRICS) if self.behaviour.has_metrics && query.contains(OF_SERVER) => {
                list("PodMetricsList", &self.metrics())
            }
            ("GET", "/api/v1/namespaces/shop/events") => list("EventList", &self.events()),
            ("PATCH", _) if path.ends_with("/ephemeralcontainers") => self.put(path, body),
            ("GET", _) if path.starts_with("/api/v1/namespaces/shop/pods/") => {
                let pod = self
                    .pods()
                    .into_iter()
                    .chain(self.server_pods())
                    .find(|it| it["metadata"]["name"] == name);
                pod.map_or_else(|| refused(404, "pods not found"), |pod| (200, pod))
            }
            _ => refused(404, "the server could not find the requested resource"),
        }
    }

    fn review(&self, body: &Value) -> Value {
        let asked = &body["spec"]["resourceAttributes"];
        let text = |key: &str| asked[key].as_str().unwrap_or_default().to_owned();
        let resource = [text("resource"), text("subresource")].join("/");
        let group = text("group");
        let of_metrics = if group == "metrics.k8s.io" { ".metrics.k8s.io" } else { "" };
        let right = format!("{} {}{of_metrics}", text("verb"), resource.trim_end_matches('/'));
        let allowed = text("namespace") == "shop" && !self.behaviour.denied.contains(&right.as_str());
        let mut review = body.clone();
        review["status"] = json!({"allowed": allowed});
        review
    }

    fn create(&mut self, job: &Value) -> (u16, Value) {
        if let Some((code, message)) = self.behaviour.refusal {
            return refused(code, message);
        }
        let name = job["metadata"]["name"].as_str().expect("it has a name").to_owned();
        for index in 0..job["spec"]["completions"].as_u64().expect("it says how many") {
            let fates = &self.behaviour.fates;
            let fate = fates.get(index as usize).or(fates.last()).unwrap_or(&Fate::Agent);
            let Some(pod) = Pod::start(index, fate, job) else { continue };
            if let Runs::Agent(child, _) = &pod.runs {
                self.agents.push(Pid::from_child(child));
            }
            self.pods.insert(format!("{name}-{index}-abcde"), pod);
        }
        self.jobs.insert(name, job.clone());
        (201, job.clone())
    }

    fn delete(&mut self, name: &str) -> (u16, Value) {
        if let Some((code, message)) = self.behaviour.keeps {
            return refused(code, message);
        }
        if self.jobs.remove(name).is_none() {
            return refused(404, "jobs not found");
        }
        self.pods.values_mut().for_each(Pod::end);
        self.pods.clear();
        (200, json!({"apiVersion": "v1", "kind": "Status", "status": "Success"}))
    }

    fn pods(&mut self) -> Vec<Value> {
        let job = self.jobs.values().next().cloned().unwrap_or(Value::Null);
        self.pods.iter_mut().map(|(name, pod)| pod.told(name, &job)).collect()
    }

    /// Puts a container into a pod of the server.
    fn put(&mut self, path: &str, body: &Value) -> (u16, Value) {
        let pod = path.rsplit('/').nth(1).expect("it names a pod").to_owned();
        let container = body["spec"]["ephemeralContainers"][0].clone();
        let behaviour = &self.behaviour;
        let looks = behaviour.put_into.is_none() && behaviour.says.is_none();
        let runs = behaviour.server.filter(|_| looks);
        let runs = runs.map(|server| start_watcher(&container, server));
        self.agents.extend(runs.iter().map(|(child, _)| Pid::from_child(child)));
        self.watchers.insert(pod.clone(), Watcher { container, runs });
        let pods = self.server_pods();
        let pod = pods.into_iter().find(|it| it["metadata"]["name"] == pod);
        pod.map_or_else(|| refused(404, "pods not found"), |pod| (200, pod))
    }

    /// How far what was put into a pod is.
    fn put_states(&self, pod: &str) -> Vec<Value> {
        let runs = json!({"running": {"startedAt": "2026-01-01T00:00:00Z"}});
        let state = self.behaviour.put_into.clone().unwrap_or(runs);
        let status = |it: &Watcher| {
            json!({
                "name": it.container["name"], "image": "", "imageID": "", "ready": false, "restartCount": 0,
                "state": state,
            })
        };
        self.watchers.get(pod).map(status).into_iter().collect()
    }

    fn server_pods(&self) -> Vec<Value> {
        let container = |name: &str, cpu: &str| json!({"name": name, "resources": {"limits": {"cpu": cpu}}});
        let pod = |name: &&str| {
            json!({
                "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "shop"},
                "spec": {"containers": [container("shop", "1500m"), container("proxy", "0.5")]},
                "status": {"phase": "Running", "ephemeralContainerStatuses": self.put_states(name)},
            })
        };
        self.behaviour.server_pods.iter().map(pod).collect()
    }

    /// What metrics-server told when it last looked at its nodes.
    fn metrics(&self) -> Vec<Value> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is later");
        let now_s = i64::try_from(now.as_secs()).expect("it is not so late");
        let at = jiff::Timestamp::from_second(now_s - now_s % LOOKS_EVERY_S).expect("it is a time");
        let pod = |name: &&str| {
            json!({
                "metadata": {"name": name, "namespace": "shop"}, "timestamp": at.to_string(),
                "window": format!("{LOOKS_EVERY_S}s"),
                "containers": [
                    {"name": "shop", "usage": {"cpu": "1710m", "memory": "400Mi"}},
                    {"name": "proxy", "usage": {"cpu": "250000000n", "memory": "12288Ki"}},
                ],
            })
        };
        self.behaviour.server_pods.iter().map(pod).collect()
    }

    fn events(&self) -> Vec<Value> {
        let job = self.jobs.keys().next().cloned().unwrap_or_default();
        let named = |of: &str| if of.is_empty() { job.clone() } else { format!("{job}-{of}-abcde") };
        let event = |(of, message): &(&str, &str)| {
            json!({
                "metadata": {"name": "e", "namespace": "shop"}, "type": "Warning", "message": message,
                "involvedObject": {"name": named(of)},
            })
        };
        self.behaviour.warnings.iter().map(event).collect()
    }
}

/// One port over a WebSocket, as the API server does it: binary messages whose first byte says the channel, 0 for data and 1
/// for an error.
fn forward(
    mut reader: BufReader<TcpStream>,
    mut writer: TcpStream,
    world: &Mutex<World>,
    key: &str,
    (name, port): (&str, u16),
) {
    let head = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {}\r\nSec-WebSocket-Protocol: v4.channel.k8s.io\r\n\r\n",
        derive_accept_key(key.as_bytes())
    );
    let _ = writer.set_nodelay(true);
    let mut begin = head.into_bytes();
    for channel in [0, 1] {
        let port = port.to_le_bytes();
        begin.extend(frame(&[channel, port[0], port[1]]));
    }
    let mut world = lock(world);
    let watcher = world.watchers.get(name).and_then(|it| it.runs.as_ref()).filter(|_| port == WATCHER_PORT);
    let says = world.behaviour.says.as_ref().filter(|_| port == WATCHER_PORT);
    let (address, said) = match world.pods.get(name).map(|it| &it.runs) {
        _ if says.is_some() => (None, [&[0][..], says.map_or(&[][..], Vec::as_slice)].concat()),
        _ if watcher.is_some() => (watcher.map(|(_, address)| *address), Vec::new()),
        Some(Runs::Agent(_, address)) => (Some(*address), Vec::new()),
        Some(Runs::Says(bytes)) => (None, [&[0], bytes.as_slice()].concat()),
        Some(Runs::Nothing(_)) | None => return,
    };
    world.forwards.extend(writer.try_clone());
    drop(world);
    if writer.write_all(&begin).is_err() {
        return;
    }
    let Some(address) = address else {
        let _ = writer.write_all(&frame(&said));
        // It says nothing more, for as long as somebody listens.
        let _ = std::io::copy(&mut reader, &mut std::io::sink());
        return;
    };
    let Ok(agent) = TcpStream::connect(address) else {
        let _ = writer.write_all(&frame(b"\x01connect: connection refused"));
        return;
    };
    let _ = agent.set_nodelay(true);
    let (Ok(mut to_agent), mut from_agent) = (agent.try_clone(), agent) else { return };
    std::thread::spawn(move || {
        let mut bytes = vec![0; 32 * 1024];
        while let Ok(count @ 1..) = from_agent.read(&mut bytes) {
            if writer.write_all(&frame(&[&[0], &bytes[..count]].concat())).is_err() {
                break;
            }
        }
        let _ = writer.shutdown(Shutdown::Both);
    });
    while let Some((kind, payload)) = read_frame(&mut reader) {
        // Close is 8, binary is 2.
        if kind == 8 {
            break;
        }
        if kind == 2 && payload.first() == Some(&0) && to_agent.write_all(&payload[1..]).is_err() {
            break;
        }
    }
    let _ = to_agent.shutdown(Shutdown::Both);
}

fn frame(payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x82];
    match payload.len() {
        length @ ..126 => frame.push(length as u8),
        length => {
            frame.push(126);
            frame.extend(u16::try_from(length).expect("it is short").to_be_bytes());
        }
    }
    frame.extend(payload);
    frame
}

fn read_frame(reader: &mut impl Read) -> Option<(u8, Vec<u8>)> {
    let mut head = [0; 2];
    reader.read_exact(&mut head).ok()?;
    let length = match head[1] & 127 {
        126 => {
            let mut length = [0; 2];
            reader.read_exact(&mut length).ok()?;
            usize::from(u16::from_be_bytes(length))
        }
        127 => {
            let mut length = [0; 8];
            reader.read_exact(&mut length).ok()?;
            usize::try_from(u64::from_be_bytes(length)).ok()?
        }
        length => usize::from(length),
    };
    let mut mask = [0; 4];
    reader.read_exact(&mut mask).ok()?;
    let mut payload = vec![0; length];
    reader.read_exact(&mut payload).ok()?;
    payload.iter_mut().zip(mask.iter().cycle()).for_each(|(byte, mask)| *byte ^= mask);
    Some((head[0] & 15, payload))
}
