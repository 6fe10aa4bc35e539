//! The command line as typed. Only the form is checked here; `plan` says whether it makes sense.

pub mod agents;
mod audit;
pub mod compare;
pub mod explain;
pub mod export;
pub mod gate;
pub mod getopt;
pub mod h2load;
pub mod history;
mod hit;
pub mod http;
pub mod jmeter;
pub mod kubernetes;
pub mod negative;
mod numbers;
pub mod planted;
pub mod presupposed;
pub mod project;
pub mod replicate;
pub mod report;
pub mod request;
pub mod sb;
pub mod tls;
pub mod view;
pub mod wrk;

use std::net::SocketAddr;
use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};

use clap::{Args, Parser, Subcommand};
use plan::{Drivers, IoChoice, Only, shell};
use target::{Model, PathRule, Stall};
use units::{Bytes, Duration, Seed, Share, whole};

pub use audit::Audit;
pub use hit::Hit;

use self::numbers::{error_share, within};
use crate::exit;

/// Where a page is served if nothing else is said: on this machine alone, at a free port.
const SERVE_DEFAULT: &str = "127.0.0.1:0";

/// Load testing for HTTP servers: starts them, loads them, ranks them, and says what limited each one
#[derive(Debug, Parser)]
#[command(name = "proofload", version = env!("PROOFLOAD_VERSION"), after_help = exit::HELP)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Load one URL and report what it did
    Hit(Box<Hit>),
    /// Run an experiment: boot its stacks, load them in turns, rank them
    Run(Box<Run>),
    /// Write a first proofload.toml for your own service, from the files of its project
    Init(project::Init),
    /// Compare two versions of your own service: build both, measure them in turns, say what changed
    Diff(project::Diff),
    /// Make the report of a recorded run: text, HTML, Markdown, JUnit, CSV or JSON
    Report(report::Report),
    /// Export a recorded run or a load's result: Prometheus, OpenTelemetry, HdrHistogram
    Export(export::Export),
    /// Say what limited each stack of a recorded run, and test that by changing the limit
    Explain(explain::Explain),
    /// Compare two recorded runs and say what changed
    Compare(compare::Compare),
    /// Show one figure over many recorded runs, and where it changed
    History(history::History),
    /// Show recorded runs in a browser
    View(view::View),
    /// Measure again what a published benchmark measured, and say which of its claims hold
    Replicate(replicate::Replicate),
    /// List the stacks and what each needs
    List(List),
    /// Build the stacks that have changed
    Build(Build),
    /// Boot stacks and check their answers, without load
    Check(Check),
    /// Stand in for wrk: same command line, same output, and below it what wrk would not have told
    Wrk(Wrk),
    /// Stand in for h2load: same command line, same output, and below it what h2load would not have told
    H2load(H2load),
    /// Stand in for JMeter: run a test plan, with the same command line, JTL and console output
    Jmeter(Box<jmeter::Jmeter>),
    /// Stand in for SuperBenchmarker: same command line, same output
    Sb(Box<sb::Sb>),
    /// Carry a share of a load that another machine controls: for --hosts, --agents and --on kubernetes
    Agent(agents::Agent),
    /// Start the calibration server: its behaviour is known, and it logs when it really answered each request
    Target(Box<Target>),
    /// Check Proofload's own figures against the calibration server's log of the same requests
    Calibrate(Calibrate),
    /// Say how often a comparison of stacks gives a wrong result, on simulated experiments whose truth is known
    ErrorRates(ErrorRates),
    /// Read the output of load-test tools, and say what can't be true or can't be known from it
    Audit(Audit),
    /// Say what on this machine disturbs measurements, and how to fix it
    Doctor(Doctor),
    /// Print a completion script for bash, zsh or fish
    Completions(project::Completions),
    /// Write manual pages
    Man(project::Man),
    /// Run a command whose whole process tree ends with us
    #[command(hide = true)]
    Supervise(Supervise),
}

/// `proofload wrk`: read by [`wrk::parse`].
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub struct Wrk {
    /// wrk's own arguments, plus --verdict and --json; see docs/drop-ins.md
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<String>,
}

/// `proofload h2load`: read by [`h2load::parse`].
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub struct H2load {
    /// h2load's own arguments, plus --verdict and --json; see docs/drop-ins.md
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<String>,
}

/// `proofload run`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  proofload run                                             the proofload.toml of this folder (proofload init)
  proofload run experiments/quick.toml
  proofload run experiments/gateways.toml --quick
  proofload run experiments/quick.toml --serve              watch it in a browser (docs/live.md)
  proofload run experiments/choose-gateways.toml --dry-run  how many trials, and how long they take
  proofload run experiments/gateways.toml --quick --driver all --only round=api --only connections=300
  proofload run --hosts load1,load2 --servers-address 10.0.0.5  the load comes from two other machines (docs/cluster.md)
  proofload run --on kubernetes --pods 3 --image REF            or from pods of a cluster
  proofload run --resume runs/quick-20260101-120000")]
pub struct Run {
    /// The experiment, a TOML file (docs/experiments.md) [default: the proofload.toml of this folder]
    #[arg(conflicts_with = "resume")]
    pub experiment: Option<PathBuf>,
    /// One block, with the shorter loads of the experiment's [quick] table: a first impression in minutes, no evidence
    #[arg(long, conflicts_with = "resume")]
    pub quick: bool,
    /// What makes the loads: proofload, wrk or jmeter, several separated by commas, or all; each block then measures each cell
    /// with each of them [default: as the experiment says]
    #[arg(long, conflicts_with = "resume")]
    pub driver: Option<Drivers>,
    /// Measure only these cells: round=NAME, stack=ID, connections=NUMBER; may be repeated
    #[arg(long, value_name = "KEY=VALUE", conflicts_with = "resume")]
    pub only: Vec<Only>,
    /// Resume the run in this directory
    #[arg(long, value_name = "DIR")]
    pub resume: Option<PathBuf>,
    /// Measure nothing; say how many trials there would be, and about how long they would take
    #[arg(long = "dry-run", conflicts_with = "resume")]
    pub only_ahead: bool,
    /// Before the first trial, wait at most this long until other processes are quiet [default: do not wait]
    #[arg(long, value_name = "TIME")]
    pub wait_for_quiet: Option<Duration>,
    /// Where run directories are made [default: as [runs] of the experiment says, or runs]
    #[arg(long, value_name = "DIR")]
    pub runs: Option<PathBuf>,
    #[command(flatten)]
    pub stacks: Stacks,
    #[command(flatten)]
    pub gate: gate::Gate,
    #[command(flatten)]
    pub against: gate::AgainstBaseline,
    /// Also show the run in a browser while it goes on: at this address, or at a free port on this machine only
    #[arg(long, value_name = "ADDR", num_args = 0..=1, require_equals = true, default_missing_value = SERVE_DEFAULT)]
    pub serve: Option<SocketAddr>,
    /// Show no progress
    #[arg(short, long)]
    pub quiet: bool,
    #[command(flatten)]
    pub clients: agents::Clients,
}

/// Where the stacks are.
#[derive(Debug, Clone, Args)]
pub struct Stacks {
    /// Folder of the stacks
    #[arg(long = "stacks", default_value = STACKS, value_name = "DIR")]
    pub dir: PathBuf,
}

impl Stacks {
    /// The option as it was typed, with a blank before it; nothing where it was not. It is for a folder from which paths are `seen`
    /// so.
    pub fn typed(&self, seen: &dyn Fn(&Path) -> PathBuf) -> String {
        let (dir, is_default) = (seen(&self.dir), self.dir == Path::new(STACKS));
        // Where there is no such folder they are those that the binary has inside, wherever it is run.
        if is_default && (dir == self.dir || !self.dir.is_dir()) {
            return String::new();
        }
        format!(" --stacks {}", shell::quoted_path(&dir))
    }
}

/// Where the stacks are of whoever does not say.
const STACKS: &str = "stacks";

/// `proofload list`.
#[derive(Debug, Args)]
pub struct List {
    #[command(flatten)]
    pub stacks: Stacks,
    /// Also show their variants
    #[arg(long)]
    pub variants: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// Which stacks a command is about.
#[derive(Debug, Args)]
pub struct Which {
    /// The stacks; STACK@VARIANT is a variant of a stack
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    pub stack: Vec<String>,
    /// All stacks
    #[arg(long)]
    pub all: bool,
    /// With --all: their variants, too
    #[arg(long, requires = "all")]
    pub variants: bool,
}

/// `proofload check`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  proofload check gin
  proofload check tomcat-nio webflux-netty undertow     do they do the same work?
  proofload check --all                                 every stack, in one table

Each stack is built if need be, booted, asked for each of its endpoints, and stopped. One stack is shown with
the heads of its answers; of several it is said where they differ.")]
pub struct Check {
    #[command(flatten)]
    pub which: Which,
    #[command(flatten)]
    pub stacks: Stacks,
    /// Print JSON (version 1; docs/records.md) instead of text
    #[arg(long)]
    pub json: bool,
    /// Show no progress
    #[arg(short, long)]
    pub quiet: bool,
}

/// `proofload build`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  proofload build tomcat-nio zuul
  proofload build --all

What has not changed is not built again. `run` and `check` build what they need by themselves.")]
pub struct Build {
    #[command(flatten)]
    pub which: Which,
    #[command(flatten)]
    pub stacks: Stacks,
    /// Show no progress
    #[arg(short, long)]
    pub quiet: bool,
}

/// `proofload doctor`.
#[derive(Debug, Args)]
pub struct Doctor {
    /// How many connections you want to open
    #[arg(short, long, default_value_t = 1000, value_parser = whole::<u32>)]
    pub connections: u32,
}

/// `proofload calibrate`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches of a command line")]
#[command(after_help = "\
Examples:
  proofload calibrate --quick
  proofload calibrate --peers                           wrk and oha beside it, where they are installed
  proofload calibrate --case stall --case fixed-5ms

Each case boots a server that logs every answer, loads it, and compares percentiles. A figure may be off by 1 %
or 20 us, whichever is larger, or by the machine's own scheduling delay where that is larger still. A case that
is out of bounds is tried again, up to three times in all; the last try counts. It ends with 0 only if every
case is in bounds.")]
pub struct Calibrate {
    /// Only a few short cases: less than half a minute
    #[arg(long)]
    pub quick: bool,
    /// Only this case; may be repeated
    #[arg(long = "case", value_name = "NAME")]
    pub cases: Vec<String>,
    /// Use TLS
    #[arg(long, conflicts_with = "peers")]
    pub tls: bool,
    /// Use HTTP/2 with ten streams per connection; without --tls with prior knowledge. Cases of other models are left out
    #[arg(long, conflicts_with = "peers")]
    pub http2: bool,
    /// Let this many agents carry each load in shares, each in a process of its own (docs/cluster.md)
    #[arg(long, value_name = "N", conflicts_with = "peers", value_parser = within::<u32>(1..=10))]
    pub agents: Option<u32>,
    /// Also run wrk and oha on the same servers; they are shown beside the truth and never judged
    #[arg(long)]
    pub peers: bool,
    /// How to do network I/O: uring, epoll, or auto (io_uring where the kernel allows it)
    #[arg(long, value_name = "IO", default_value = "auto")]
    pub io: IoChoice,
    /// Print JSON (version 1; docs/records.md) instead of text
    #[arg(long)]
    pub json: bool,
    /// Show no progress
    #[arg(short, long)]
    pub quiet: bool,
}

/// `proofload error-rates`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  proofload error-rates
  proofload error-rates --stacks 6 --blocks 20 --blocks-max 30 --noise 4%

Trials of one stack differ by some share from block to block, beside what the block does to all of them: that is
the noise; `proofload report` says what it was in a run. Ends with 4 where equal stacks are called different in
more than 5 % of the experiments, or the difference is found in less than 95 %.")]
pub struct ErrorRates {
    /// How many stacks are compared; a twin of the last one is added, and differences no larger than the twin's don't count
    #[arg(long, default_value_t = 4, value_parser = within::<u8>(2..=50))]
    pub stacks: u8,
    /// Blocks that an experiment has at least [default: 10]
    #[arg(long, value_parser = within::<u8>(1..=100))]
    pub blocks: Option<u8>,
    /// Blocks that an experiment has at most; it goes on until it is precise [default: 20, or the same as --blocks]
    #[arg(long, value_parser = within::<u8>(1..=100))]
    pub blocks_max: Option<u8>,
    /// An experiment is precise when its intervals have at most this half-width
    #[arg(long, default_value = "2%")]
    pub precision: Share,
    /// Standard deviation of a trial within its block
    #[arg(long, default_value = "3%")]
    pub noise: Share,
    /// How much better the first stack is, in the experiments that are to find a difference
    #[arg(long, default_value = "5%")]
    pub effect: Share,
    /// Every stack's trial fails in this share of blocks
    #[arg(long, value_name = "SHARE", group = "world")]
    pub failing: Option<Share>,
    /// The first stack, better where it answers, fails in this share of blocks: it must not be called better
    #[arg(long, value_name = "SHARE", group = "world")]
    pub first_fails: Option<Share>,
    /// For this share of trials, only a lower bound of the 99th percentile is known
    #[arg(long, value_name = "SHARE", group = "world")]
    pub censored: Option<Share>,
    /// Compare 99th percentiles of a queue with Poisson arrivals, where the server is busy for this share of the time
    #[arg(long, value_name = "SHARE", group = "world")]
    pub queue: Option<Share>,
    /// Claims of this many comparisons, looked at after 6, 8, 10, 14 and 20 blocks and decided as early as possible, as
    /// `proofload replicate` does
    #[arg(long, value_name = "COMPARISONS", value_parser = within::<u8>(1..=24),
          conflicts_with_all = ["stacks", "blocks", "blocks_max", "precision", "first_fails", "queue"])]
    pub claim: Option<u8>,
    /// Print the tables of docs/statistics.md
    #[arg(long, conflicts_with_all = ["stacks", "blocks", "blocks_max", "noise", "effect", "world", "claim"])]
    pub table: bool,
    /// Experiments of each kind
    #[arg(long, default_value_t = 1000, value_parser = within::<u32>(1..=100_000))]
    pub experiments: u32,
    /// Seed of the random numbers
    #[arg(long, default_value = "0")]
    pub seed: Seed,
}

/// `proofload target`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  proofload target --listen 127.0.0.1:8080 --model pool --threads 16 --path /sleep=100ms
  proofload target --stall 1s/10s --truth truth.csv
  proofload target --tls --certificate target.pem       then: hit https://127.0.0.1:8080/ --cacert target.pem
  proofload target --path /exp=exp:5ms --path /cache=bimodal:1ms,50ms,0.1 --seed 7
  proofload target --model thread-per-connection --serial 1ms     a lock that lets 1000 requests a second through

Delays are fixed (100ms), exponential with a mean (exp:5ms), or one of two with the share of the second
(bimodal:1ms,50ms,0.1); which request gets which follows from --seed. It serves until Ctrl-C. `/` and
`/hello` answer at once and `/sleep` after 100 ms unless --path says otherwise.")]
pub struct Target {
    /// Address to listen on; with port 0, a free port
    #[arg(long, default_value = "127.0.0.1:8080")]
    pub listen: SocketAddr,
    /// Threading model: single, thread-per-connection, pool or event-loop
    #[arg(long, default_value = "event-loop")]
    pub model: Model,
    /// Threads of the pool, with --model pool [default: 16]
    #[arg(long, value_parser = whole::<NonZeroUsize>)]
    pub threads: Option<NonZeroUsize>,
    /// A path and its delay: /sleep=100ms, /exp=exp:5ms, /two=bimodal:1ms,50ms,0.1; may be repeated
    #[arg(long = "path")]
    pub paths: Vec<PathRule>,
    /// Length of the accept queue
    #[arg(long, default_value_t = 4096, value_parser = whole::<u32>)]
    pub backlog: u32,
    /// Stall for this long in every period of this length: 1s/10s
    #[arg(long)]
    pub stall: Option<Stall>,
    /// Size of an answer's body
    #[arg(long)]
    pub body_bytes: Option<Bytes>,
    /// Close the connection after every so many answers
    #[arg(long, value_parser = whole::<NonZeroU64>)]
    pub close_every: Option<NonZeroU64>,
    /// Share of answers with status 500: 0.1, or 10%
    #[arg(long, default_value_t = 0.0, value_parser = error_share)]
    pub error_share: f64,
    /// Read requests and never answer
    #[arg(long)]
    pub never_answer: bool,
    /// Write a CSV file with the time at which each request arrived and was answered
    #[arg(long, value_name = "FILE")]
    pub truth: Option<PathBuf>,
    /// Seed of the errors and of random delays
    #[arg(long, default_value = "0")]
    pub seed: Seed,
    /// Use TLS 1.2 and 1.3, with a certificate for localhost and the address that is made at the start
    #[arg(long)]
    pub tls: bool,
    /// Also speak HTTP/2: with prior knowledge, and with --tls where the client agrees on it; only with --model event-loop
    #[arg(long)]
    pub http2: bool,
    /// Requests that may be open on one HTTP/2 connection at the same time [default: any number]
    #[arg(long, value_name = "STREAMS", requires = "http2", value_parser = whole::<NonZeroU32>)]
    pub max_concurrent_streams: Option<NonZeroU32>,
    /// Write that certificate to this file, for clients that should trust it (--cacert)
    #[arg(long, value_name = "FILE", requires = "tls")]
    pub certificate: Option<PathBuf>,
    #[command(flatten)]
    pub planted: planted::Planted,
}

/// `proofload supervise`.
#[derive(Debug, Args)]
pub struct Supervise {
    /// The command and its arguments
    #[arg(last = true, required = true)]
    pub command: Vec<String>,
}
