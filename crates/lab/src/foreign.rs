//! Loads made by other programs, the real wrk and the real JMeter, and what they print as a record of ours.
//!
//! What a program can't know stays empty in the record and is named there (`record::ForeignDriver`). Warming up is never
//! theirs: only the measured load is.

mod jmeter;
mod jmx;
mod wrk;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration as StdDuration, Instant as StdInstant};

use driver::monotonic_now;
use plan::stack::StackManifest;
use plan::{Driver, Drivers, LoadPlan};
use record::{
    Connections, Distribution, ForeignDriver, Generator, LOAD_VERSION, LittlesLaw, LoadResult, Outcomes,
};
use signals::{CpuReading, GeneratorUse, Sampled, Sampler, Subject};
use stack::{BuildOptions, Cpus, Program, ProgramEnd, ProgramOptions, Shared, StackError};
use units::{Duration, Instant};

use crate::books::{asked_for, describe};
use crate::error::{LabError, NotMeasured};
use crate::job::Job;
use crate::tools::{self, State};

pub(crate) use self::wrk::times as wrk_times;

/// A run may take this much longer than its load: the program's start, what is under way at its end, and its own sums.
const GRACE: Duration = Duration::from_secs(60);
/// How long a load without a duration may take beside its ramp-up: users who make so many requests each.
const COUNTED_MAX: Duration = Duration::from_secs(2 * 60 * 60);
/// The end of what a program printed that an error shows.
const SHOWN_LINES: usize = 5;
/// What no other program tells of a closed load: its users may be late, and nobody knows.
const NO_DUE_TIMES: &str = "when a request was due, and so response times and lags";
const NO_SECONDS: &str = "what each second was like";
const NO_CONNECTIONS: &str = "how many connections were opened and closed";

/// A program other than our own engine that makes loads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Foreign {
    Wrk,
    Jmeter,
}

impl Foreign {
    /// As a plan names it.
    const fn driver(self) -> Driver {
        match self {
            Self::Wrk => Driver::Wrk,
            Self::Jmeter => Driver::Jmeter,
        }
    }

    /// Its name in texts, which is the one in records.
    const fn name(self) -> &'static str {
        match self {
            Self::Wrk => record::Driver::Wrk.name(),
            Self::Jmeter => record::Driver::Jmeter.name(),
        }
    }
}

/// The other programs that an experiment needs.
#[derive(Debug, Default)]
pub(crate) struct Programs {
    wrk: Option<String>,
    jmeter: Option<StackManifest>,
}

impl Programs {
    /// Looks for all that `drivers` take, before anything is made. JMeter is built from the folder of `stacks`.
    pub(crate) fn find(drivers: &Drivers, stacks: &Path) -> Result<Self, LabError> {
        let missing = |program: Foreign, what: String, install: String| LabError::DriverMissing {
            driver: program.driver().key(),
            what,
            install,
        };
        let mut programs = Self::default();
        if drivers.has(Foreign::Wrk.driver()) {
            programs.wrk = match tools::look_for("wrk") {
                State::Present { version } => Some(version),
                State::Missing => {
                    return Err(missing(Foreign::Wrk, "wrk".into(), stack::install_hint("wrk")));
                }
                State::Broken { reason } => {
                    let what = format!("a wrk that works ({reason})");
                    return Err(missing(Foreign::Wrk, what, stack::install_hint("wrk")));
                }
            };
        }
        if drivers.has(Foreign::Jmeter.driver()) {
            let jmeter = StackManifest::jmeter(stacks)?;
            if let Some(lacks) = stack::missing(&jmeter).into_iter().next() {
                return Err(missing(Foreign::Jmeter, lacks.name, lacks.install));
            }
            programs.jmeter = Some(jmeter);
        }
        Ok(programs)
    }

    /// What has to be built before it can be used.
    pub(crate) fn to_build(&self) -> Option<&StackManifest> {
        self.jmeter.as_ref()
    }

    /// Builds it, if its sources changed.
    pub(crate) fn build(
        &self,
        options: &BuildOptions<'_>,
        waits: &mut dyn FnMut(Option<Shared>),
    ) -> Result<(), StackError> {
        self.jmeter.iter().try_for_each(|jmeter| stack::build(jmeter, options, &mut *waits).map(|_| ()))
    }

    /// Their versions by name.
    pub(crate) fn versions(&self) -> BTreeMap<String, String> {
        let wrk = self.wrk.iter().map(|version| ("wrk".to_owned(), version.clone()));
        let jmeter = self.jmeter.iter().map(|_| ("jmeter".to_owned(), jmeter::VERSION.to_owned()));
        wrk.chain(jmeter).collect()
    }
}

/// One load that another program is to make.
pub(crate) struct Ask<'a> {
    pub(crate) program: Foreign,
    pub(crate) programs: &'a Programs,
    pub(crate) job: Job<'a>,
    pub(crate) proofload_exe: &'a Path,
    /// The trial's own folder.
    pub(crate) dir: &'a Path,
}

/// What came of it.
pub(crate) struct Carried {
    pub(crate) load: LoadResult,
    pub(crate) cpus: Cpus,
    pub(crate) sampled: Sampled,
}

/// A program's command and the files that it reads and writes, in the trial's folder.
struct Prepared {
    command: Vec<String>,
    env: Vec<(&'static str, std::ffi::OsString)>,
    version: String,
    cannot_know: Vec<String>,
    /// Standard output and standard error.
    files: [PathBuf; 2],
}

/// Has the program make the load while `subjects`, these cores of the machine and the program itself are watched. `goes_on` is asked many
/// times a second, and told who used how much of the CPU so far.
pub(crate) fn carry_out(
    ask: &Ask<'_>,
    (subjects, cores): (Vec<Subject>, Option<BTreeSet<usize>>),
    goes_on: &mut dyn FnMut(Option<CpuReading>) -> bool,
) -> Result<Carried, NotMeasured> {
    let name = ask.program.name();
    let failed = |what: String| NotMeasured::Stack(format!("{name} {what}"));
    // Programs run inside of it.
    let dir =
        ask.dir.canonicalize().map_err(|why| LabError::System { what: "use the trial's folder", why })?;
    let prepared = match ask.program {
        Foreign::Jmeter => jmeter::prepare(ask, &dir)?,
        Foreign::Wrk => wrk::prepare(ask, &dir),
    };
    let [out, err] = &prepared.files;
    let env = prepared.env.clone();
    let options = ProgramOptions { proofload_exe: ask.proofload_exe, dir: &dir, out, err, env };
    let cannot_start = |error: std::io::Error| failed(format!("cannot be started ({error})"));
    let mut program = Program::prepare(&prepared.command, &options).map_err(cannot_start)?;
    let sampler = Sampler::start(subjects, Some(program.processes()), cores)
        .map_err(|why| LabError::System { what: "start the sampler", why })?;
    program.go().map_err(cannot_start)?;
    let cpus = cpus_of(&program);
    let bound = bound(ask.job.plan);
    let ended =
        program.wait(StdInstant::now() + std::time::Duration::from(bound), &mut || goes_on(sampler.last()));
    let (ended, at) =
        (ended.map_err(|error| failed(format!("can't be waited for ({error})")))?, monotonic_now());
    let sampled = sampler.finish();
    drop(program);
    match ended {
        ProgramEnd::Interrupted => return Err(NotMeasured::Interrupted),
        ProgramEnd::TooLate => return Err(failed(format!("did not end within {bound}"))),
        ProgramEnd::Itself(status) if !status.success() => {
            return Err(failed(format!("ended with {status}: {}", last_words(&prepared.files))));
        }
        ProgramEnd::Itself(_) => {}
    }
    let read = match ask.program {
        Foreign::Jmeter => jmeter::read(&dir, &ask.job),
        Foreign::Wrk => wrk::read(out, at, &ask.job),
    };
    let mut load = read.map_err(|why| failed(format!("{why}: {}", last_words(&prepared.files))))?;
    let Prepared { command, version, cannot_know, .. } = prepared;
    load.driver = Some(ForeignDriver {
        name: name.into(),
        version,
        command,
        cannot_know,
        cpu_cores: None,
        cores: cpus.count() as u32,
    });
    Ok(Carried { load, cpus, sampled })
}

/// The cores that it runs on, as soon as it does.
fn cpus_of(program: &Program) -> Cpus {
    let deadline = StdInstant::now() + StdDuration::from_secs(1);
    loop {
        let cpus = program.cpus();
        if cpus.count() > 0 || StdInstant::now() >= deadline {
            return cpus;
        }
        std::thread::sleep(StdDuration::from_millis(2));
    }
}

/// Charges the program with what it was seen to use within the window.
pub(crate) fn charge(load: &mut LoadResult, used: GeneratorUse) {
    let (throughput, length_s) = (load.throughput_per_s, load.window.duration_s);
    let Some(driver) = &mut load.driver else { return };
    driver.cpu_cores = used.cpu_cores;
    let Some(cpu_cores) = used.cpu_cores else { return };
    let busy_share = match used.busiest_cores {
        // Its load threads do nothing else, and there are few of them.
        Some(busiest) if driver.name == Foreign::Wrk.name() => busiest,
        // A thread a user: no single one is ever busy, all of them together are.
        _ => cpu_cores / f64::from(driver.cores.max(1)),
    };
    load.generator = Generator { busy_share, cpu_s: cpu_cores * length_s, ..Generator::default() };
    load.cpu_us_per_request = (throughput > 0.0).then(|| cpu_cores * 1e6 / throughput);
}

/// How long a program may take for a load at most.
fn bound(plan: &LoadPlan) -> Duration {
    let ramp_up = match plan.load {
        engine::Load::Closed { start: engine::UserStart::RampUp { span, .. }, .. } => span,
        engine::Load::Closed { .. } | engine::Load::Open { .. } | engine::Load::Scripted { .. } => {
            Duration::ZERO
        }
    };
    let load = plan.stop.duration.min(COUNTED_MAX);
    ramp_up + load + plan.timeouts.request + GRACE
}

/// The end of what it printed, on one line.
fn last_words(files: &[PathBuf; 2]) -> String {
    let texts = files.iter().map(|path| std::fs::read(path).unwrap_or_default());
    let lines: Vec<String> = texts
        .flat_map(|bytes| String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect::<Vec<_>>())
        .filter(|line| !line.trim().is_empty())
        .collect();
    if lines.is_empty() {
        return "it printed nothing".into();
    }
    lines[lines.len().saturating_sub(SHOWN_LINES)..].join(" / ")
}

/// What a program told of a load, in our own terms.
#[derive(Debug, Clone)]
struct Told {
    start: Instant,
    length_s: f64,
    outcomes: Outcomes,
    as_expected: u64,
    received_bytes: f64,
    service: Distribution,
    /// Of all requests done, as Little's law takes it.
    mean_s: Option<f64>,
    statuses: BTreeMap<String, u64>,
    connect_failures: BTreeMap<String, u64>,
    malformations: BTreeMap<String, u64>,
}

impl Told {
    /// As a record, without what was not told. Requests done are all but those that never had a connection.
    fn record(self, job: &Job<'_>, program: Foreign, threads: u32) -> LoadResult {
        let outcomes = &self.outcomes;
        let failed: u64 = outcomes.failures().into_iter().map(|(_, count)| count).sum();
        let intended = outcomes.answered + failed;
        let per_s = |count: f64| if self.length_s > 0.0 { count / self.length_s } else { 0.0 };
        let throughput_per_s = per_s(intended as f64);
        let law = job.plan.saturating_users().zip(self.mean_s).map(|(users, mean_response_s)| {
            let law = stats::LittlesLaw { users: users.into(), throughput_per_s, mean_response_s };
            LittlesLaw::from(law)
        });
        LoadResult {
            version: LOAD_VERSION,
            url: job.url.to_owned(),
            load: describe(job.plan, threads, program.driver().key()),
            request: asked_for(job),
            driver: None,
            window: record::Window { start_monotonic_ns: self.start.as_nanos(), duration_s: self.length_s },
            interrupted: false,
            intended,
            outcomes: self.outcomes,
            answered_as_expected: self.as_expected,
            first_wrong_answer: None,
            statuses: self.statuses,
            connect_failures: self.connect_failures,
            tls_failures: BTreeMap::new(),
            malformations: self.malformations,
            go_aways: BTreeMap::new(),
            goodput_per_s: per_s(self.as_expected as f64),
            throughput_per_s,
            received_bytes_per_s: per_s(self.received_bytes),
            service_time_us: self.service,
            fast_service_time_us: None,
            first_byte_us: None,
            response_time_us: Distribution::default(),
            lag_us: Distribution::default(),
            generator_lag_us: Distribution::default(),
            receive_lag_us: Distribution::default(),
            cpu_us_per_request: None,
            generator: Generator::default(),
            connections: Connections::default(),
            via: None,
            tls: None,
            littles_law: law.filter(|_| intended > 0),
            seconds: Vec::new(),
            steps: Vec::new(),
            agents: Vec::new(),
            server_pods: None,
        }
    }
}

/// A span in whole seconds, no shorter than it.
fn whole_seconds(span: Duration) -> u64 {
    span.as_nanos().div_ceil(Duration::from_secs(1).as_nanos())
}

#[cfg(test)]
mod tests {
    use engine::{Expect, GoodStatus};
    use plan::{HttpTarget, LoadArguments, RequestArguments};

    use super::*;

    /// Gives a job of 300 users for 4 s, changed so, to `look`.
    pub(super) fn with_job<T>(change: impl Fn(&mut LoadArguments), look: impl Fn(&Job<'_>) -> T) -> T {
        let mut arguments = LoadArguments {
            connections: Some(300),
            duration: Some(Duration::from_secs(4)),
            timeout: Some(Duration::from_secs(10)),
            ..LoadArguments::default()
        };
        change(&mut arguments);
        let plan = LoadPlan::new(&arguments).unwrap();
        let url = "http://127.0.0.1:8080/hello?a=b".to_owned();
        let close = arguments.fresh_connections;
        let target =
            HttpTarget::new(&RequestArguments { url, close, ..RequestArguments::default() }).unwrap();
        let (request, expect) = (&target.request, &Expect { status: GoodStatus::Only(200), body: None });
        look(&Job {
            url: &target.url,
            targets: &[],
            request,
            expect,
            plan: &plan,
            socket: None,
            tls: None,
            interval_log: None,
            keep: None,
        })
    }

    #[test]
    fn a_load_has_its_ramp_up_and_some_grace_to_end_in() {
        let bound_of = |change: fn(&mut LoadArguments)| with_job(change, |job| bound(job.plan));
        assert_eq!(bound_of(|_| {}), Duration::from_secs(4 + 10 + 60));
        let counted = bound_of(|it| {
            (it.duration, it.requests_per_user) = (None, Some(9));
            it.ramp_up = Some(Duration::from_secs(50));
        });
        assert_eq!(counted, Duration::from_secs(50 + 7200 + 10 + 60));
    }

    #[test]
    fn a_program_is_charged_with_what_it_used() {
        let told = Told {
            start: Instant::ORIGIN,
            length_s: 4.0,
            outcomes: Outcomes { answered: 4000, ..Outcomes::default() },
            as_expected: 4000,
            received_bytes: 4e5,
            service: Distribution::default(),
            mean_s: Some(0.15),
            statuses: BTreeMap::new(),
            connect_failures: BTreeMap::new(),
            malformations: BTreeMap::new(),
        };
        let mut load = with_job(|_| {}, |job| told.clone().record(job, Foreign::Jmeter, 300));
        assert!((load.littles_law.unwrap().gap - 0.5).abs() < 1e-9, "1000/s of 150 ms keep 150 of 300 busy");
        load.driver = Some(ForeignDriver { name: "JMeter".into(), cores: 2, ..ForeignDriver::default() });
        charge(&mut load, GeneratorUse { cpu_cores: Some(1.5), busiest_cores: Some(0.1) });
        assert!((load.generator.busy_share - 0.75).abs() < 1e-9);
        assert!((load.cpu_us_per_request.unwrap() - 1500.0).abs() < 1e-9);
        load.driver = Some(ForeignDriver { name: "wrk".into(), cores: 2, ..ForeignDriver::default() });
        charge(&mut load, GeneratorUse { cpu_cores: Some(0.9), busiest_cores: Some(0.9) });
        assert!((load.generator.busy_share - 0.9).abs() < 1e-9);
    }
}
