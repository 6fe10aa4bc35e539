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

Without --rate it is a closed model: each connection sends when its last answer came. With it, an open
model: requests are due at the rate whatever the server does, and response time counts from then.")]
pub struct Hit {
    /// Where: http://host[:port]/path, or https://
    #[arg(required_unless_present_any = ["curl", "har", "openapi", "scenario", "rbac", "take_over"])]
    pub url: Option<String>,
    /// A curl command, as a browser copies it, instead of a URL
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["url", "har", "openapi", "scenario"])]
    pub curl: Option<String>,
    /// A recording of a browser instead of a URL; its users make all of its requests, again and again
    #[arg(long, value_name = "FILE", conflicts_with_all = ["url", "openapi", "scenario", "machines", "on"])]
    pub har: Option<PathBuf>,
    /// An OpenAPI 3 document with examples instead of a URL; one of its operations at random at a time
    #[arg(long, value_name = "FILE", conflicts_with_all = ["url", "scenario", "machines", "on"])]
    pub openapi: Option<PathBuf>,
    /// A scenario instead of a URL: what users do, step by step (docs/scenarios.md)
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "url", "connections", "duration", "requests", "ramp_up", "requests_per_user", "timeout", "connect_timeout",
        "machines", "on",
    ])]
    pub scenario: Option<PathBuf>,
    /// A server that the variables of --scenario name while it runs: host:port, or https://host:port; may be repeated
    #[arg(long = "host", value_name = "HOST:PORT", requires = "scenario")]
    pub hosts: Vec<String>,
    /// The server to load in place of the one of --har or --openapi: http://host[:port], or https://
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
    /// Requests to make in all; at a rate they take as long as it says, the last one's gap included
    #[arg(short = 'n', long, value_parser = whole::<u64>)]
    pub requests: Option<u64>,
    /// Requests due a second (open model): 2000, 20k, 90/m
    #[arg(short, long)]
    pub rate: Option<Rate>,
    /// Poisson instead of constant arrivals; needs --rate
    #[arg(long)]
    pub poisson: bool,
    /// So many requests at once, as often as makes the rate; needs --rate
    #[arg(long, value_name = "REQUESTS", conflicts_with = "poisson", value_parser = whole::<NonZeroU32>)]
    pub burst: Option<NonZeroU32>,
    /// Requests that may wait for a connection, with --rate
    #[arg(long, value_parser = whole::<u32>)]
    pub backlog: Option<u32>,
    /// Pause between an answer and the next request (closed model)
    #[arg(long)]
    pub think: Option<Duration>,
    /// Start users one after another over so long, each with its own connection (closed model)
    #[arg(long, value_name = "DURATION")]
    pub ramp_up: Option<Duration>,
    /// Requests each user makes; then it leaves (closed model)
    #[arg(long, value_name = "REQUESTS", value_parser = whole::<u32>)]
    pub requests_per_user: Option<u32>,
    /// Load before the measured window, left out of all figures
    #[arg(short, long)]
    pub warm_up: Option<Duration>,
    /// How long an answer may take from the first byte sent [default: 2s]
    #[arg(long)]
    pub timeout: Option<Duration>,
    /// How long a connection attempt may take [default: as --timeout]
    #[arg(long)]
    pub connect_timeout: Option<Duration>,
    /// Close a connection unused for so long [default: never]
    #[arg(long)]
    pub idle_timeout: Option<Duration>,
    /// A fresh connection for each request
    #[arg(long)]
    pub no_keep_alive: bool,
    /// Load threads; auto: the fewest of which none is busy over 70 %, found by pilot loads of a second each [default: 1; with
    /// --on kubernetes, in each pod as many as --cpu]
    #[arg(short, long)]
    pub threads: Option<Threads>,
    /// What carries the load: uring, epoll, or auto: io_uring where the kernel allows it
    #[arg(long, value_name = "IO", default_value = "auto")]
    pub io: IoChoice,
    /// Method [default: GET, or POST with a body]
    #[arg(short, long)]
    pub method: Option<String>,
    /// Header 'Name: value'; may be repeated. With --har and --openapi every request has it
    #[arg(short = 'H', long = "header")]
    pub headers: Vec<String>,
    /// Body of the request: text, or @FILE for what is in a file; text that begins with @ is written with two: @@text
    #[arg(long, value_name = "TEXT|@FILE", conflicts_with = "body_file", allow_hyphen_values = true)]
    pub body: Option<String>,
    /// File with the body of the request, as --body @FILE
    #[arg(long, value_name = "FILE")]
    pub body_file: Option<PathBuf>,
    #[command(flatten)]
    pub request: request::RequestOptions,
    /// The only good status [default: any from 200 to 299; a redirect is none, unless --follow goes there]
    #[arg(long, value_parser = within::<u16>(200..=999))]
    pub expect_status: Option<u16>,
    /// The only good body: text, or @FILE, as in --body [default: any]
    #[arg(long, value_name = "TEXT|@FILE", allow_hyphen_values = true)]
    pub expect_body: Option<String>,
    #[command(flatten)]
    pub http: http::Http,
    /// Seed of all that is random: Poisson arrivals, words in {{…}}, users of --scenario and --openapi
    #[arg(long, default_value = "0")]
    pub seed: Seed,
    /// Print JSON (version 1; docs/records.md) instead of text
    #[arg(long)]
    pub json: bool,
    /// How the result is printed [default: text]
    #[arg(short, long, value_name = "FORM", conflicts_with = "json")]
    pub output: Option<request::Output>,
    /// Write response times as an HdrHistogram interval log
    #[arg(long)]
    pub hlog: Option<PathBuf>,
    /// Write the percentiles of response times as HdrHistogram prints them, in milliseconds (docs/exports.md)
    #[arg(long, value_name = "FILE")]
    pub hgrm: Option<PathBuf>,
    /// Write a row for each request as JMeter does, some 100 bytes, on a thread of its own (docs/exports.md). Rows that come
    /// faster than they can be written are left out, and said
    #[arg(long, value_name = "FILE", conflicts_with_all = ["machines", "on"])]
    pub jtl: Option<PathBuf>,
    /// Keep so many of the first wrong answers as they came, a file each: head, and 16 KiB of all at most. Over HTTP/2 the head
    /// is written out as text
    #[arg(long, value_name = "ANSWERS", value_parser = within::<u32>(1..=1000))]
    pub save_responses: Option<u32>,
    /// The folder for --save-responses, which is empty or new [default: wrong-responses]
    #[arg(long, value_name = "DIR", requires = "save_responses")]
    pub save_responses_dir: Option<PathBuf>,
    /// End the load, with exit code 4, when this holds: errors>5% of the last five seconds, or errors>100 in all; may be
    /// repeated
    #[arg(long, value_name = "CONDITION")]
    pub stop_if: Vec<plan::gate::Condition>,
    /// Show beside the result what an earlier load came to, as --json printed it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "output"])]
    pub compare_to: Option<PathBuf>,
    #[command(flatten)]
    pub gate: gate::Gate,
    #[command(flatten)]
    pub against: gate::AgainstLoads,
    /// Show it in a browser, too, while it goes on: at this address, or at a free port of this machine alone
    #[arg(long, value_name = "ADDR", num_args = 0..=1, require_equals = true, default_missing_value = SERVE_DEFAULT)]
    pub serve: Option<SocketAddr>,
    /// No progress
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
