//! SuperBenchmarker's command line.

use std::path::PathBuf;

use clap::{ArgAction, Args};
use units::whole;

/// `proofload sb`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches of a command line")]
#[command(
    disable_help_flag = true,
    after_help = "\
Examples:
  proofload sb -u http://127.0.0.1:8080/hello -c 40 -N 60
  proofload sb -u http://127.0.0.1:8080/users -m POST -t template.txt -n 1000
  proofload sb -u http://127.0.0.1:8080/hello -d -h

What sb counts as status 303, every exception and every timeout, stands below the statuses under its own name.
Options that are not supported are refused by name before anything is sent; docs/drop-ins.md lists them."
)]
pub struct Sb {
    /// Target URL to call
    #[arg(short = 'u', long = "url")]
    pub url: String,
    /// Number of concurrent requests
    #[arg(short = 'c', long = "concurrency", default_value_t = 1, value_parser = whole::<u32>)]
    pub concurrency: u32,
    /// Total number of requests
    #[arg(short = 'n', long = "numberOfRequests", default_value_t = 100, value_parser = whole::<u64>)]
    pub requests: u64,
    /// Number of seconds to run the test; with it, -n is ignored
    #[arg(short = 'N', long = "numberOfSeconds", value_parser = whole::<u64>)]
    pub seconds: Option<u64>,
    /// Delay after each answer in milliseconds
    #[arg(short = 'y', long = "delayInMillisecond", default_value_t = 0, value_parser = whole::<u64>)]
    pub delay_ms: u64,
    /// HTTP method to use
    #[arg(short = 'm', long = "method", default_value = "GET")]
    pub method: String,
    /// File with headers and, after an empty line, the body
    #[arg(short = 't', long = "template")]
    pub template: Option<PathBuf>,
    /// Number of seconds of load before the measurement
    #[arg(short = 'W', long = "warmUpPeriod", default_value_t = 0, value_parser = whole::<u64>)]
    pub warm_up_s: u64,
    /// Send a single request, and show its answer
    #[arg(short = 'd', long = "dryRun")]
    pub dry_run: bool,
    /// In a dry run, show the request's body and not the answer's
    #[arg(short = 'q', long = "onlyRequest")]
    pub only_request: bool,
    /// In a dry run, show the headers of request and answer
    #[arg(short = 'h', long = "headers")]
    pub headers: bool,
    /// In a dry run, show method and URL
    #[arg(short = 'v', long = "verbose")]
    pub verbose: bool,
    /// Don't open the reports in a browser; there are none
    #[arg(short = 'B', long = "dontBrowseToReports")]
    pub dont_browse: bool,
    /// Say how far the figures can be trusted, also when the output is not a terminal
    #[arg(long)]
    pub verdict: bool,
    #[command(flatten)]
    pub unsupported: Unsupported,
    /// Display this help
    #[arg(short = '?', long = "help", action = ArgAction::Help)]
    pub help: Option<bool>,
}

/// What sb has and we have not: known by name, so that it can be refused by name.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches of a command line")]
pub struct Unsupported {
    #[arg(short = 'p', long = "plugin", hide = true)]
    plugin: Option<String>,
    #[arg(short = 'l', long = "logfile", hide = true)]
    logfile: Option<String>,
    #[arg(short = 'f', long = "file", hide = true)]
    file: Option<String>,
    #[arg(short = 'a', long = "TSV", hide = true)]
    tsv: bool,
    #[arg(short = 'e', long = "timedField", hide = true)]
    timed_field: Option<String>,
    #[arg(short = 'g', long = "TlsVersion", hide = true)]
    tls_version: Option<String>,
    #[arg(short = 'b', long = "tokeniseBody", hide = true)]
    tokenise_body: bool,
    #[arg(short = 'k', long = "cookies", hide = true)]
    cookies: bool,
    #[arg(short = 'x', long = "useProxy", hide = true)]
    use_proxy: bool,
    #[arg(short = 'z', long = "saveResponses", hide = true)]
    save_responses: bool,
    #[arg(short = 'w', long = "responsesFolder", hide = true)]
    responses_folder: Option<String>,
    #[arg(short = 'C', long = "dontcap", hide = true)]
    dont_cap: bool,
    #[arg(short = 'R', long = "responseRegex", hide = true)]
    response_regex: Option<String>,
    #[arg(short = 'j', long = "jsonCount", hide = true)]
    json_count: Option<String>,
    #[arg(short = 'P', long = "reportSliceSeconds", hide = true)]
    report_slice_s: Option<String>,
    #[arg(short = 'F', long = "reportFolder", hide = true)]
    report_folder: Option<String>,
    #[arg(short = 'U', long = "shuffleData", hide = true)]
    shuffle: bool,
}

impl Unsupported {
    /// The first that was given: its name, and why it is refused.
    pub fn given(&self) -> Option<(&'static str, &'static str)> {
        const VALUES: &str = "every request is the same, so there is nothing to fill in";
        const ANSWERS: &str = "answers are counted and not kept";
        const REPORT: &str = "no report folder is written; the figures are on standard output";
        let all = [
            (self.plugin.is_some(), "-p (--plugin)", "plug-ins are .NET libraries"),
            (self.logfile.is_some(), "-l (--logfile)", "`proofload hit --hlog` logs response times"),
            (self.file.is_some(), "-f (--file)", VALUES),
            (self.tsv, "-a (--TSV)", VALUES),
            (self.timed_field.is_some(), "-e (--timedField)", VALUES),
            (
                self.tls_version.is_some(),
                "-g (--TlsVersion)",
                "client and server agree on the newest version that both speak",
            ),
            (self.tokenise_body, "-b (--tokeniseBody)", VALUES),
            (self.cookies, "-k (--cookies)", "-d -h shows all headers"),
            (self.use_proxy, "-x (--useProxy)", "a proxy would be measured with the server"),
            (self.save_responses, "-z (--saveResponses)", ANSWERS),
            (self.responses_folder.is_some(), "-w (--responsesFolder)", ANSWERS),
            (self.dont_cap, "-C (--dontcap)", "`proofload hit --hlog` logs response times"),
            (self.response_regex.is_some(), "-R (--responseRegex)", ANSWERS),
            (self.json_count.is_some(), "-j (--jsonCount)", ANSWERS),
            (self.report_slice_s.is_some(), "-P (--reportSliceSeconds)", REPORT),
            (self.report_folder.is_some(), "-F (--reportFolder)", REPORT),
            (self.shuffle, "-U (--shuffleData)", VALUES),
        ];
        all.into_iter().find_map(|(given, name, why)| given.then_some((name, why)))
    }
}
