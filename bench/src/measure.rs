//! Runs a scenario: rounds of one run of every client, turned round every other time.

use std::fs::File;
use std::net::SocketAddrV4;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::contestant::{Ask, arguments};
use crate::lag::{self, Lag};
use crate::output::{self, Said};
use crate::peers::Peers;
use crate::process::{Failure, Finished, Interrupt, run_client};
use crate::scenario::{Contestant, Entry, Kind, Metric, Program, Scenario};
use crate::server::{Running, free_address};
use crate::watcher::Watcher;

/// Pause between runs: sockets are closed in it.
const PAUSE: Duration = Duration::from_millis(200);
/// What a run takes beside its seconds, until one has been seen.
const BESIDE_GUESS: Duration = Duration::from_millis(600);
/// Memory that does not count as that of connections: program, libraries, distributions.
pub(crate) const MEMORY_FIXED_BYTES: f64 = 8.0 * 1024.0 * 1024.0;
/// How far a client's count may be from the server's, beside what is under way at the end.
const COUNT_TOLERANCE: f64 = 0.005;

/// How often and how long.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) rounds: u32,
    pub(crate) seconds: u32,
    pub(crate) quick: bool,
}

/// One run of one client.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run {
    said: Said,
    cpu: Duration,
    wall: Duration,
    memory_peak_bytes: u64,
    lag: Option<Lag>,
}

impl Run {
    /// CPU time of the whole process over its requests.
    pub(crate) fn cpu_us_per_request(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.said.requests as f64
    }

    pub(crate) fn requests_per_s(&self) -> f64 {
        self.said.requests as f64 / self.wall.as_secs_f64()
    }

    pub(crate) fn memory_peak_bytes(&self) -> f64 {
        self.memory_peak_bytes as f64
    }

    pub(crate) fn latency_us(&self) -> Option<(f64, f64)> {
        self.said.latency_us
    }

    pub(crate) fn lag(&self) -> Option<Lag> {
        self.lag
    }

    pub(crate) fn metric(&self, metric: Metric, entry: Entry) -> Option<f64> {
        match metric {
            Metric::CpuWhole => Some(self.cpu_us_per_request()),
            Metric::CpuSending => Some(self.said.sending_cpu_us? / self.said.requests as f64),
            Metric::MemoryPerConnection => {
                Some((self.memory_peak_bytes() - MEMORY_FIXED_BYTES) / f64::from(entry.connections))
            }
            Metric::LagP99 => Some(self.lag?.p99_us),
            Metric::SentLagP99 => self.said.lag_p99_us,
        }
    }
}

/// All runs of one row, one a round; a run that failed leaves its place empty.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) entry: Entry,
    /// As one would type it.
    pub(crate) command: String,
    pub(crate) runs: Vec<Option<Run>>,
    /// What to know about it, each thing once.
    pub(crate) notes: Vec<String>,
}

/// A scenario's rows, in the order of its entries.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) rows: Vec<Row>,
}

impl Measured {
    /// The row of `entry`, where it has one.
    pub(crate) fn row(&self, entry: Entry) -> Option<&Row> {
        self.rows.iter().find(|row| row.entry == entry)
    }
}

/// Says how far it is and how long it takes.
#[derive(Debug)]
pub(crate) struct Progress {
    runs_left: u32,
    runs_done: u32,
    rounds: u32,
    seconds: u32,
    spent: Duration,
}

impl Progress {
    pub(crate) fn new(scenarios: &[Scenario], plan: &Plan) -> Self {
        let rows = scenarios.iter().map(|it| it.entries.len() as u32).sum::<u32>();
        let it = Self {
            runs_left: rows * plan.rounds,
            runs_done: 0,
            rounds: plan.rounds,
            seconds: plan.seconds,
            spent: Duration::ZERO,
        };
        eprintln!("bench: {} scenarios, {} runs, about {}", scenarios.len(), it.runs_left, it.left());
        it
    }

    fn left(&self) -> String {
        let guess = Duration::from_secs(self.seconds.into()) + BESIDE_GUESS;
        let each = if self.runs_done == 0 { guess } else { self.spent / self.runs_done };
        let seconds = (each * self.runs_left).as_secs();
        if seconds < 90 { format!("{seconds} s") } else { format!("{} min", seconds.div_ceil(60)) }
    }

    fn ran(&mut self, scenario: &str, round: u32, entry: Entry, took: Duration, what: &str) {
        self.runs_done += 1;
        self.runs_left -= 1;
        self.spent += took;
        let (contestant, connections, left) = (entry.contestant, entry.connections, self.left());
        let round = round + 1;
        eprintln!(
            "bench: {scenario} {round}/{}: {contestant:<21} {connections:>5} connections: {what}; {left} left",
            self.rounds
        );
    }
}

/// Runs all rounds of `scenario`.
pub(crate) fn scenario(
    scenario: &Scenario,
    plan: &Plan,
    peers: &Peers,
    interrupt: &Interrupt,
    progress: &mut Progress,
) -> Result<Measured, Failure> {
    let nginx = match (scenario.server.program, &peers.nginx) {
        (Program::Nginx, Some(program)) => Some(Running::nginx(program, scenario.server)?),
        _ => None,
    };
    let row =
        |entry: &Entry| Row { entry: *entry, command: String::new(), runs: Vec::new(), notes: Vec::new() };
    let mut rows: Vec<Row> = scenario.entries.iter().map(row).collect();
    for round in 0..plan.rounds {
        let mut order: Vec<usize> = (0..rows.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for index in order {
            let began = Instant::now();
            let row = &mut rows[index];
            let outcome = one_run(scenario, plan, peers, interrupt, nginx.as_ref(), row);
            let (run, what) = match outcome {
                Ok(run) => (Some(run), format!("{:.2} µs a request", run.cpu_us_per_request())),
                Err(Failure::Interrupted) => return Err(Failure::Interrupted),
                Err(Failure::Because(why)) => {
                    note(&mut row.notes, format!("a run failed: {why}"));
                    (None, why)
                }
            };
            row.runs.push(run);
            std::thread::sleep(PAUSE);
            progress.ran(scenario.name, round, row.entry, began.elapsed(), &what);
        }
    }
    Ok(Measured { rows })
}

fn one_run(
    scenario: &Scenario,
    plan: &Plan,
    peers: &Peers,
    interrupt: &Interrupt,
    nginx: Option<&Running>,
    row: &mut Row,
) -> Result<Run, Failure> {
    interrupt.check()?;
    let proofload = peers.path(Contestant::Epoll);
    let is_open = matches!(scenario.kind, Kind::Open { .. });
    let target = match scenario.server.target_options() {
        Some(options) => Some(Running::target(&proofload, &options, is_open)?),
        None => None,
    };
    let server = target.as_ref().or(nginx).ok_or("there is no server")?;
    let (kind, page, has_io) = (scenario.kind, free_address()?, peers.has_io);
    let (seconds, scheme) = (plan.seconds, scenario.server.scheme());
    let ask = Ask { kind, seconds, server: server.address, scheme, page, has_io };
    let contestant = row.entry.contestant;
    let arguments = arguments(row.entry, &ask).ok_or("it knows no such load")?;
    row.command = format!("taskset -c 0 {} {}", contestant.program(), typed(&arguments));
    let began = Instant::now();
    let mut command = Command::new(peers.path(contestant));
    let (watcher, terminal) = watcher(contestant, page)?;
    let expected = Duration::from_secs(plan.seconds.into());
    let finished = run_client(command.args(arguments), terminal, expected, interrupt);
    let wall = began.elapsed();
    let seen = watcher.map(Watcher::finish);
    let finished = finished?;
    if seen == Some(0) {
        return Err("whoever watched it saw nothing".into());
    }
    let said = output::read(contestant, &finished.stdout).ok_or_else(|| complaint(&finished))?;
    if said.requests == 0 {
        return Err("it made no request".into());
    }
    if said.failed > 0 {
        let share = said.failed as f64 / said.requests as f64 * 100.0;
        note(&mut row.notes, format!("requests failed, {share:.2} % in the first such run"));
    }
    let stopped = target.map(Running::stop);
    let served = stopped.as_ref().and_then(|it| it.served);
    let under_way = row.entry.connections * kind.streams();
    if let Some(served) = served.filter(|served| !agrees(said.requests, *served, under_way)) {
        note(&mut row.notes, format!("it says {} requests where the server counted {served}", said.requests));
    }
    let truth = stopped.and_then(|it| it.truth);
    let lag = match (scenario.kind, truth) {
        (Kind::Open { rate_per_s }, Some(truth)) => lag::from_truth(&truth, rate_per_s),
        _ => None,
    };
    Ok(Run { said, cpu: finished.cpu, wall, memory_peak_bytes: finished.memory_peak_bytes, lag })
}

/// Who watches a client, and the terminal that it is to draw on.
fn watcher(contestant: Contestant, page: SocketAddrV4) -> Result<(Option<Watcher>, Option<File>), Failure> {
    Ok(match contestant {
        Contestant::Drawn => {
            let (watcher, terminal) = Watcher::terminal()?;
            (Some(watcher), Some(terminal))
        }
        Contestant::Served => (Some(Watcher::browser(page)), None),
        _ => (None, None),
    })
}

/// As one would type them.
fn typed(arguments: &[String]) -> String {
    let quoted = arguments.iter().map(|it| if it.contains(' ') { format!("'{it}'") } else { it.clone() });
    quoted.collect::<Vec<_>>().join(" ")
}

/// Whether a client's count fits the server's: what was under way at the end counts there alone, and so does the one
/// request by which the null client learns the answer's length.
fn agrees(said: u64, served: u64, under_way: u32) -> bool {
    let slack = f64::from(under_way) + 1.0 + served as f64 * COUNT_TOLERANCE;
    said <= served && (served - said) as f64 <= slack
}

fn complaint(finished: &Finished) -> String {
    let said = [&finished.stderr, &finished.stdout];
    let line = said.iter().find_map(|text| text.lines().rfind(|line| !line.trim().is_empty()));
    format!("{} ({})", line.unwrap_or("it said nothing").trim(), finished.status)
}

/// Adds what begins with other words than what is there: figures in it differ from run to run.
fn note(notes: &mut Vec<String>, text: String) {
    let begin = |text: &str| text.split(' ').take(2).map(str::to_owned).collect::<Vec<_>>();
    if notes.iter().all(|old| begin(old) != begin(&text)) {
        notes.push(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_agrees_up_to_what_was_under_way() {
        assert!(agrees(1000, 1000, 64));
        assert!(agrees(936, 1000, 64));
        assert!(!agrees(1001, 1000, 64), "more than there were");
        assert!(!agrees(50_000, 60_000, 64));
    }

    #[test]
    fn the_same_is_noted_once() {
        let mut notes = Vec::new();
        note(&mut notes, "it says 1 requests where the server counted 2".into());
        note(&mut notes, "it says 3 requests where the server counted 4".into());
        note(&mut notes, "a run failed: no".into());
        assert_eq!(notes.len(), 2);
    }
}
