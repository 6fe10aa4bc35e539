//! A look at a server from within its pod, for somebody elsewhere: the side that looks, and what is said between the two.
//!
//! Lines of JSON over a connection. Whoever connects is told a [`Hello`], asks [`Question`]s, and has an [`Answer`] to each. Whatever
//! runs in the pod can connect: it learns what it could see itself, and can end the look.
//!
//! Invariants: a connection lasts [`ATTENDED_MAX`] at most, whatever is said on it; a question is no longer than
//! [`QUESTION_BYTES_MAX`]; the watcher ends by itself when nobody has asked for [`ALONE_MAX`]; it changes nothing of what it
//! looks at.

use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};

use record::{ContainerUse, Runtime};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;
use serde::{Deserialize, Serialize};
use units::{Duration, Instant};

use crate::clock::now;
use crate::listener;
use crate::process_set::ProcessSet;
use crate::sampler::{Sampled, Sampler, Subject};
use crate::summary::{WholeNames, summarise};

/// Version of what is said.
pub const WATCHER_VERSION: u32 = 1;
/// How long nobody may ask before the watcher ends.
pub const ALONE_MAX: Duration = Duration::from_secs(60);
/// The longest answer, bytes. One has some kilobytes, and more the more groups of threads there are.
pub const ANSWER_BYTES_MAX: usize = 1 << 20;
/// How long it looks: as many readings are kept.
pub const LOOKS_MAX: Duration = Duration::from_secs(1800);
/// The longest question, bytes.
const QUESTION_BYTES_MAX: usize = 256;
/// How long somebody is attended to.
const ATTENDED_MAX: Duration = Duration::from_secs(4);
/// How soon it is seen that nobody asks any more.
const LOOK_UP: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// What a watcher says first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// [`WATCHER_VERSION`] of the one that speaks.
    pub watcher: u32,
    /// What it is called: another one may have been there before.
    pub name: String,
    /// The version of the program.
    pub version: String,
    /// How many processes of the server it sees.
    pub processes: u32,
}

/// What a watcher is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Question {
    /// What its clock shows.
    Clock,
    /// What was seen in a window. Nothing is looked at any more behind that; the first window is the one that is told.
    Window {
        /// Its start on the clock of the watcher, ns.
        start_ns: u64,
        /// How long it is, ns.
        length_ns: u64,
    },
    /// Nothing: it is to end.
    End,
}

/// What it answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// What CLOCK_MONOTONIC shows, ns.
    Clock(u64),
    /// What was seen, and in which window.
    Window {
        /// As it was first asked for.
        start_ns: u64,
        /// The same.
        length_ns: u64,
        /// It.
        seen: Box<ContainerUse>,
    },
    /// It ends.
    Ends,
}

/// Why a watcher ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It was told to.
    Told,
    /// Nobody asked any more.
    Alone,
}

/// Looks at processes for whoever connects to `listener`, until it is told to end or nobody asks. Sockets are looked at on `port`,
/// if somebody listens there; else on the one port that there is, beside our own.
///
/// # Errors
/// If the system has no thread or no socket for it.
pub fn serve(
    listener: &TcpListener,
    (name, version): (&str, &str),
    processes: &ProcessSet,
    port: Option<u16>,
) -> io::Result<Ended> {
    let mut ports = listener::ports();
    ports.remove(&listener.local_addr()?.port());
    let mut watcher = Watcher::start((name, version), processes, port_of_server(port, &ports))?;
    let mut asked = now();
    while now().since(asked) < ALONE_MAX {
        let mut fds = [PollFd::new(listener, PollFlags::IN)];
        match poll(&mut fds, Some(&LOOK_UP)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => continue,
            Ok(_) => {}
            Err(why) => return Err(why.into()),
        }
        let Ok((stream, _)) = listener.accept() else { continue };
        // A connection that breaks is that of somebody who will come back, or not.
        match watcher.attend(&stream) {
            Ok(Some(ended)) => return Ok(ended),
            Ok(None) => asked = now(),
            Err(_) => {}
        }
    }
    Ok(Ended::Alone)
}

/// Which port is the server's: the one that is asked for, or the only one there is.
fn port_of_server(asked: Option<u16>, ports: &BTreeSet<u16>) -> Result<u16, String> {
    if let Some(port) = asked.filter(|it| ports.contains(it)) {
        return Ok(port);
    }
    let mut all = ports.iter();
    match (all.next(), all.next()) {
        (None, _) => Err("its sockets: nobody listens in its network".to_owned()),
        (Some(only), None) => Ok(*only),
        _ => {
            let names: Vec<String> = ports.iter().map(u16::to_string).collect();
            Err(format!("its sockets: which of the ports {} is loaded", names.join(", ")))
        }
    }
}

struct Watcher {
    hello: Hello,
    /// Or why that is not known.
    port: Result<u16, String>,
    /// Until it was asked what was seen.
    sampler: Option<Sampler>,
    told: Option<Answer>,
}

impl Watcher {
    fn start(
        (name, version): (&str, &str),
        processes: &ProcessSet,
        port: Result<u16, String>,
    ) -> io::Result<Self> {
        let count = processes.pids().len() as u32;
        let subject = Subject { processes: processes.clone(), port: *port.as_ref().unwrap_or(&0) };
        let sampler = Some(Sampler::start(vec![subject], None, None)?);
        let hello = Hello {
            watcher: WATCHER_VERSION,
            name: name.to_owned(),
            version: version.to_owned(),
            processes: count,
        };
        Ok(Self { hello, port, sampler, told: None })
    }

    /// Answers on a connection until its end. An error if nothing was asked on it that can be answered.
    fn attend(&mut self, stream: &TcpStream) -> io::Result<Option<Ended>> {
        let until = now() + ATTENDED_MAX;
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(ATTENDED_MAX.into()))?;
        say(stream, &self.hello)?;
        let (mut read, mut is_asked) = (Vec::new(), false);
        loop {
            let line = match next_line(stream, &mut read, until) {
                Ok(line) => line,
                Err(_) if is_asked => return Ok(None),
                Err(why) => return Err(why),
            };
            let answer = match serde_json::from_slice(&line).map_err(io::Error::other)? {
                Question::Clock => Answer::Clock(now().as_nanos()),
                Question::Window { start_ns, length_ns } => self.window(start_ns, length_ns),
                Question::End => {
                    // Who asked may not wait for the answer.
                    let _ = say(stream, &Answer::Ends);
                    return Ok(Some(Ended::Told));
                }
            };
            say(stream, &answer)?;
            is_asked = true;
        }
    }

    /// The same again where it is asked for again: the answer may not have come through.
    fn window(&mut self, start_ns: u64, length_ns: u64) -> Answer {
        let told = self.told.take().unwrap_or_else(|| {
            let sampled = self.sampler.take().map(Sampler::finish).unwrap_or_default();
            let (start, length) = (Instant::from_nanos(start_ns), Duration::from_nanos(length_ns));
            Answer::Window { start_ns, length_ns, seen: Box::new(seen(&sampled, start, length, &self.port)) }
        });
        self.told = Some(told.clone());
        told
    }
}

/// The next line that somebody says until then, without its end.
fn next_line(mut stream: &TcpStream, read: &mut Vec<u8>, until: Instant) -> io::Result<Vec<u8>> {
    let mut bytes = [0; QUESTION_BYTES_MAX];
    loop {
        if let Some(length) = read.iter().position(|it| *it == b'\n') {
            let line = read[..length].to_vec();
            read.drain(..=length);
            return Ok(line);
        }
        let left = until.since(now());
        if left.is_zero() || read.len() > QUESTION_BYTES_MAX {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left.into()))?;
        match stream.read(&mut bytes)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => read.extend_from_slice(&bytes[..count]),
        }
    }
}

fn seen(sampled: &Sampled, start: Instant, length: Duration, port: &Result<u16, String>) -> ContainerUse {
    let summary = summarise(sampled, &WholeNames::new(), start, length, 0);
    let mut not_known: Vec<String> = sampled.not_known.iter().cloned().collect();
    let mut server = summary.servers.into_iter().next().unwrap_or_default();
    if let Err(why) = port {
        not_known.push(why.clone());
        let signals = &mut server.signals;
        (signals.accept_queue, signals.connections) = (None, None);
        (signals.unread, signals.unacknowledged) = (None, None);
    }
    if server.signals.groups.iter().any(|it| it.runtime == Some(Runtime::Jvm)) {
        not_known
            .push("the JVM's collections: its own counts lie in a folder of another container".to_owned());
    }
    if server.cpu_cores.is_none() {
        not_known.push("what it did: not all of the load was watched".to_owned());
    }
    ContainerUse {
        cpu_cores: server.cpu_cores,
        rss_bytes_max: server.rss_bytes_max,
        threads_max: server.threads_max,
        port: port.as_ref().ok().copied(),
        signals: server.signals,
        not_known,
    }
}

fn say(mut stream: &TcpStream, what: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(what)?;
    line.push(b'\n');
    stream.write_all(&line)
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::net::SocketAddr;
    use std::process::{Child, Command};
    use std::thread::JoinHandle;
    use std::time::Duration as StdDuration;

    use rustix::process::{Pid, Signal, kill_process};

    use super::*;

    /// What descends from a shell, busy in a process of its own. It ends when this is dropped.
    struct Busy(Child);

    impl Drop for Busy {
        fn drop(&mut self) {
            let all = crate::process::tree(self.0.id().cast_signed());
            for pid in all.iter().filter_map(|it| Pid::from_raw(it.pid)) {
                let _ = kill_process(pid, Signal::KILL);
            }
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    fn watched() -> (Busy, SocketAddr, JoinHandle<io::Result<Ended>>) {
        let child = Command::new("sh").args(["-c", "(while :; do :; done) & wait"]).spawn().unwrap();
        let processes = ProcessSet { leader: child.id().cast_signed(), cgroup: None };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let thread = std::thread::spawn(move || serve(&listener, ("look", "1.2.3"), &processes, None));
        (Busy(child), at, thread)
    }

    fn ask(at: SocketAddr, questions: &[Question]) -> Vec<serde_json::Value> {
        let stream = TcpStream::connect(at).unwrap();
        let mut lines = BufReader::new(&stream).lines();
        let mut next = || serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        let mut said = vec![next()];
        for question in questions {
            say(&stream, question).unwrap();
            said.push(next());
        }
        said
    }

    #[test]
    fn what_was_seen_in_a_window_is_told_to_whoever_asks() {
        let (busy, at, thread) = watched();
        let before_ns = now().as_nanos();
        let said = ask(at, &[Question::Clock]);
        let hello = serde_json::json!({"watcher": 1, "name": "look", "version": "1.2.3"});
        for (key, value) in hello.as_object().unwrap() {
            assert_eq!(&said[0][key], value, "{said:?}");
        }
        let start_ns = said[1]["clock"].as_u64().unwrap();
        assert!((before_ns..=now().as_nanos()).contains(&start_ns), "{said:?}");
        // Nothing that can be answered: whoever says it is left alone.
        TcpStream::connect(at).unwrap().write_all(&[b'x'; 1000]).unwrap();
        std::thread::sleep(StdDuration::from_millis(600));
        let length_ns = now().as_nanos() - start_ns;
        let said = ask(at, &[Question::Window { start_ns, length_ns }]);
        let again = ask(at, &[Question::Window { start_ns: 1, length_ns: 1 }, Question::End]);
        drop(busy);
        let told = &said[1]["window"];
        assert_eq!((&told["start_ns"], &told["length_ns"]), (&start_ns.into(), &length_ns.into()), "{told}");
        let seen: ContainerUse = serde_json::from_value(told["seen"].clone()).unwrap();
        // The machine may be busy with other tests.
        assert!(seen.cpu_cores.unwrap() > 0.05 && seen.rss_bytes_max > 0, "{seen:?}");
        assert_eq!((record::check_container(&seen), seen.threads_max), (Ok(()), 1), "{seen:?}");
        assert_eq!(again[1], said[1], "the first window is the one that is told");
        assert_eq!(again[2], "ends");
        assert_eq!(thread.join().unwrap().unwrap(), Ended::Told);
    }

    #[test]
    fn the_port_of_the_server_is_the_one_asked_for_or_the_only_one() {
        let port =
            |asked: Option<u16>, ports: &[u16]| port_of_server(asked, &ports.iter().copied().collect());
        assert_eq!(port(Some(80), &[80, 8080]), Ok(80));
        assert_eq!(port(Some(80), &[8080]), Ok(8080), "a service has another port than its pods");
        assert_eq!(port(None, &[8080]), Ok(8080));
        let told = port(Some(80), &[8080, 9090]).unwrap_err();
        assert!(told.contains("8080, 9090"), "{told}");
        assert!(port(None, &[]).is_err());
    }
}
