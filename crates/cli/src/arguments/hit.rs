//! `proofload hit` as typed.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::Args;
use plan::{ArrivalsName, CopiedVersion, IoChoice, LoadArguments, PlanError, Threads};
use units::{Duration, Rate, Seed, whole};

use super::numbers::within;
use super::{SERVE_DEFAULT, agents, gate, http, kubernetes, request, tls};

/// `proofload hit`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches of a command line")]
#[command(after_help = "\
Examples:
  proofload hit http://127.0.0.1:8080/ -c 300 -d 30s
  proofload hit http://127.0.0.1:8080/ --rate 2000 -c 300 -d 30s --json
  proofload hit http://127.0.0.1:8080/ -c 1000 --ramp-up 50s --requests-per-user 1000
  proofload hit http://127.0.0.1:8080/users -m POST -H 'Content-Type: application/json' --body '{}' -n 1000
  proofload hit --curl \"curl 'http://127.0.0.1:8080/' -H 'Accept: */*'\" -c 100
  proofload hit --har shop.har --base http://127.0.0.1:8080 -c 50 -d 30s
  proofload hit --openapi users.yaml --base http://127.0.0.1:8080 -H 'X-Api-Key: secret' -c 50 -d 30s
  proofload hit --scenario scenarios/shop-mix.toml
  proofload hit http://127.0.0.1:8080/ --http2-prior-knowledge -c 8 --streams 32
  proofload hit http://127.0.0.1:8080/ --rate 2000 --hgrm times.hgrm --jtl rows.jtl
  proofload hit https://127.0.0.1:8443/ --cacert target.pem -c 100
  proofload hit http://localhost/items --unix-socket /run/shop.sock -c 100
  proofload hit https://shop.example/items --proxy http://127.0.0.1:3128 --proxy-user me:secret -c 20
  proofload hit http://shop.internal/items --proxy socks5h://127.0.0.1:1080 -c 20
  proofload hit https://127.0.0.1:8443/ -k --no-keep-alive --tls-resume --full-handshakes 10%
  proofload hit http://10.0.0.7:8080/ --rate 100000 -c 3000 -t 4 --hosts load1,load2,load3
  proofload hit http://127.0.0.1:8080/ --json | proofload export - --prometheus hit.prom
  proofload hit http://127.0.0.1:8080/ --rate 500 -d 30s --fail-if 'p99>50ms' --fail-if 'errors>1%' --junit gate.xml
  proofload hit 'http://127.0.0.1:8080/items/{{int 1 100}}?key={{uuid}}' -H 'X-User: {{line users.txt}}' -c 50

Without --rate it is a closed model: each user sends its next request when the last answer has come. With
--rate it is an open model: requests are due at that rate whatever the server does, and response time is
measured from the instant at which a request was due.")]
pub struct Hit {
    /// The URL to load: http://host[:port]/path, or https://
    #[arg(required_unless_present_any = ["curl", "har", "openapi", "scenario", "rbac", "take_over"])]
    pub url: Option<String>,
    /// A curl command, as a browser copies it, instead of a URL
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["url", "har", "openapi", "scenario"])]
    pub curl: Option<String>,
    /// A browser recording (HAR) instead of a URL; each user makes all of its requests, again and again
    #[arg(long, value_name = "FILE", conflicts_with_all = ["url", "openapi", "scenario", "machines", "on"])]
    pub har: Option<PathBuf>,
    /// An OpenAPI 3 document with examples instead of a URL; each request is one of its operations, at random
    #[arg(long, value_name = "FILE", conflicts_with_all = ["url", "scenario", "machines", "on"])]
    pub openapi: Option<PathBuf>,
    /// A scenario file instead of a URL: what users do, step by step (docs/scenarios.md)
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "url", "connections", "duration", "requests", "ramp_up", "requests_per_user", "timeout", "connect_timeout",
        "machines", "on",
    ])]
    pub scenario: Option<PathBuf>,
    /// A server that variables of --scenario may name while it runs: host:port, or https://host:port; may be repeated
    #[arg(long = "host", value_name = "HOST:PORT", requires = "scenario")]
    pub hosts: Vec<String>,
    /// The server to load instead of the one named in --har or --openapi: http://host[:port], or https://
    #[arg(long, value_name = "URL", conflicts_with_all = ["url", "curl", "scenario"])]
    pub base: Option<String>,
    /// Leave out the pauses of --har
    #[arg(long, requires = "har")]
    pub no_pauses: bool,
    /// Connections; in the closed model also the number of users [default: 50]
    #[arg(short, long, value_parser = whole::<u32>)]
    pub connections: Option<u32>,
    /// How long to measure [default: 10s, or until the requests of -n or --requests-per-user are made]
    #[arg(short, long)]
    pub duration: Option<Duration>,
    /// Total number of requests; with --rate they take as long as the rate says, including the gap after the last one
    #[arg(short = 'n', long, value_parser = whole::<u64>)]
    pub requests: Option<u64>,
    /// Requests due per second (open model): 2000, 20k, 90/m
    #[arg(short, long)]
    pub rate: Option<Rate>,
    /// Poisson arrivals instead of constant ones; needs --rate
    #[arg(long)]
    pub poisson: bool,
    /// Requests per burst: this many are due at once, and bursts come as often as the rate requires; needs --rate
    #[arg(long, value_name = "REQUESTS", conflicts_with = "poisson", value_parser = whole::<NonZeroU32>)]
    pub burst: Option<NonZeroU32>,
    /// How many requests may wait for a connection; with --rate
    #[arg(long, value_parser = whole::<u32>)]
    pub backlog: Option<u32>,
    /// Pause between an answer and the next request (closed model)
    #[arg(long)]
    pub think: Option<Duration>,
    /// Start the users one after another over this time, each with its own connection (closed model)
    #[arg(long, value_name = "DURATION")]
    pub ramp_up: Option<Duration>,
    /// Requests that each user makes before it leaves (closed model)
    #[arg(long, value_name = "REQUESTS", value_parser = whole::<u32>)]
    pub requests_per_user: Option<u32>,
    /// How long to load before the measurement begins; left out of all figures
    #[arg(short, long)]
    pub warm_up: Option<Duration>,
    /// How long an answer may take, counted from the first byte sent [default: 2s]
    #[arg(long)]
    pub timeout: Option<Duration>,
    /// How long a connection attempt may take [default: the same as --timeout]
    #[arg(long)]
    pub connect_timeout: Option<Duration>,
    /// Close a connection that was unused for this long [default: never]
    #[arg(long)]
    pub idle_timeout: Option<Duration>,
    /// Open a new connection for each request
    #[arg(long)]
    pub no_keep_alive: bool,
    /// Load threads; auto: as few as keep every thread below 70 % busy, found by pilot loads of a second each [default: 1; with
    /// --on kubernetes, in each pod as many as --cpu]
    #[arg(short, long)]
    pub threads: Option<Threads>,
    /// How to do network I/O: uring, epoll, or auto (io_uring where the kernel allows it)
    #[arg(long, value_name = "IO", default_value = "auto")]
    pub io: IoChoice,
    /// HTTP method [default: GET, or POST with a body]
    #[arg(short, long)]
    pub method: Option<String>,
    /// Header 'Name: value'; may be repeated. With --har and --openapi it is added to every request
    #[arg(short = 'H', long = "header")]
    pub headers: Vec<String>,
    /// Body of the request: text, or @FILE to read it from a file; for text that begins with @, write @@text
    #[arg(long, value_name = "TEXT|@FILE", conflicts_with = "body_file", allow_hyphen_values = true)]
    pub body: Option<String>,
    /// Read the body of the request from this file, as --body @FILE
    #[arg(long, value_name = "FILE")]
    pub body_file: Option<PathBuf>,
    #[command(flatten)]
    pub request: request::RequestOptions,
    /// The only expected status [default: any from 200 to 299; a redirect is not expected, unless --follow is given]
    #[arg(long, value_parser = within::<u16>(200..=999))]
    pub expect_status: Option<u16>,
    /// The only expected body: text, or @FILE, as in --body [default: any]
    #[arg(long, value_name = "TEXT|@FILE", allow_hyphen_values = true)]
    pub expect_body: Option<String>,
    #[command(flatten)]
    pub http: http::Http,
    /// Seed for everything random: Poisson arrivals, values of {{…}}, users of --scenario and --openapi
    #[arg(long, default_value = "0")]
    pub seed: Seed,
    /// Print JSON (version 1; docs/records.md) instead of text
    #[arg(long)]
    pub json: bool,
    /// Format of the printed result [default: text]
    #[arg(short, long, value_name = "FORM", conflicts_with = "json")]
    pub output: Option<request::Output>,
    /// Write response times as an HdrHistogram interval log
    #[arg(long)]
    pub hlog: Option<PathBuf>,
    /// Write the percentiles of response times as HdrHistogram prints them, in milliseconds (docs/exports.md)
    #[arg(long, value_name = "FILE")]
    pub hgrm: Option<PathBuf>,
    /// Write a row for each request in JMeter's format, about 100 bytes, on a separate thread (docs/exports.md). Rows that come
    /// faster than they can be written are left out, and the result says so
    #[arg(long, value_name = "FILE", conflicts_with_all = ["machines", "on"])]
    pub jtl: Option<PathBuf>,
    /// Save this many of the first wrong answers, one file each: the head, and at most 16 KiB in all. Over HTTP/2 the head is
    /// written as text
    #[arg(long, value_name = "ANSWERS", value_parser = within::<u32>(1..=1000))]
    pub save_responses: Option<u32>,
    /// The folder for --save-responses; must be empty or new [default: wrong-responses]
    #[arg(long, value_name = "DIR", requires = "save_responses")]
    pub save_responses_dir: Option<PathBuf>,
    /// End the load, with exit code 4, when this holds: errors>5% of the last five seconds, or errors>100 in all; may be
    /// repeated
    #[arg(long, value_name = "CONDITION")]
    pub stop_if: Vec<plan::gate::Condition>,
    /// Show the result of an earlier load, as --json printed it, beside this one
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "output"])]
    pub compare_to: Option<PathBuf>,
    #[command(flatten)]
    pub gate: gate::Gate,
    #[command(flatten)]
    pub against: gate::AgainstLoads,
    /// Also show the load in a browser while it goes on: at this address, or at a free port on this machine only
    #[arg(long, value_name = "ADDR", num_args = 0..=1, require_equals = true, default_missing_value = SERVE_DEFAULT)]
    pub serve: Option<SocketAddr>,
    /// Show no progress
    #[arg(short, long)]
    pub quiet: bool,
    #[command(flatten)]
    pub tls: tls::Tls,
    #[command(flatten)]
    pub agents: agents::Agents,
    #[command(flatten)]
    pub kubernetes: kubernetes::Kubernetes,
    #[command(flatten)]
    pub watch: kubernetes::Watch,
}

impl Hit {
    /// How its result is printed.
    pub fn output(&self) -> request::Output {
        let default = if self.json { request::Output::Json } else { request::Output::Text };
        self.output.unwrap_or(default)
    }

    /// The load's part of the arguments; of its version also what the request was copied with.
    pub fn load(&self, copied: Option<CopiedVersion>) -> Result<LoadArguments, PlanError> {
        Ok(LoadArguments {
            connections: self.connections,
            threads: self.threads.or_else(|| self.kubernetes.threads(self.connections)),
            rate: self.rate,
            arrivals: match self.burst {
                Some(size) => ArrivalsName::Bursts(size),
                None if self.poisson => ArrivalsName::Poisson,
                None => ArrivalsName::Constant,
            },
            backlog_max: self.backlog,
            think: self.think,
            ramp_up: self.ramp_up,
            requests_per_user: self.requests_per_user,
            duration: self.duration,
            requests: self.requests,
            warm_up: self.warm_up,
            timeout: self.timeout,
            connect_timeout: self.connect_timeout,
            idle_timeout: self.idle_timeout,
            drain: None,
            fresh_connections: self.no_keep_alive,
            seed: Some(self.seed),
            io: self.io,
            http2: self.http.http2(copied)?,
        })
    }
}
