//! `proofload jmeter`, as typed.

use std::path::PathBuf;

use clap::Args;
use units::Seed;

/// Run a JMeter test plan.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches of a command line")]
#[command(after_help = "\
Examples:
  proofload jmeter --check -t plan.jmx                    what share of a plan is supported, and what is not
  proofload jmeter -n -t plan.jmx -l out.jtl              run it, and write its results
  proofload jmeter -n -t plan.jmx -l out.jtl -Jusers=500  the same with a property of the plan
  proofload jmeter -n -t plan.jmx -l out.jtl -e -o report with its Aggregate and Summary reports as CSV

Everything in a plan that is not supported is listed, with its place, before anything is sent (docs/jmeter.md).
Exit codes are JMeter's: 0 if the plan was run, whatever its samples say, else 1.")]
pub struct Jmeter {
    /// Run without a window; accepted and ignored, since there is no window
    #[arg(short, long)]
    pub nongui: bool,
    /// The test plan
    #[arg(short = 't', long = "testfile", value_name = "FILE")]
    pub plan: PathBuf,
    /// Write results to this file, as JMeter's CSV
    #[arg(short = 'l', long = "logfile", value_name = "FILE")]
    pub results: Option<PathBuf>,
    /// Write reports after the run; needs -l and -o
    #[arg(short = 'e', long = "reportatendofloadtests", requires_all = ["results", "output"])]
    pub reports: bool,
    /// Folder for the reports; must be empty or new
    #[arg(short = 'o', long = "reportoutputfolder", value_name = "DIR", requires = "reports")]
    pub output: Option<PathBuf>,
    /// Replace the files that -l and -o name
    #[arg(short = 'f', long = "forceDeleteResultFile")]
    pub force: bool,
    /// A property: the value of ${__P(name)} in the plan; may be repeated; NAME= removes it
    #[arg(short = 'J', long = "jmeterproperty", value_name = "NAME=VALUE")]
    pub properties: Vec<String>,
    /// A properties file; all other properties override it
    #[arg(short = 'p', long = "propfile", value_name = "FILE")]
    pub property_file: Option<PathBuf>,
    /// A properties file with one name=value per line; -J overrides it
    #[arg(short = 'q', long = "addprop", value_name = "FILE")]
    pub property_files: Vec<PathBuf>,
    /// Say what share of the plan is supported, and send nothing
    #[arg(long)]
    pub check: bool,
    /// A server that variables of the plan may name while it runs: host:port, or https://host:port; may be repeated
    #[arg(long = "host", value_name = "HOST:PORT")]
    pub hosts: Vec<String>,
    /// Seed for everything random
    #[arg(long, default_value = "0")]
    pub seed: Seed,
    #[command(flatten)]
    pub others: Others,
}

/// System properties that change what is sent, by how their names begin.
const OF_CONNECTIONS: [&str; 4] = ["http.", "https.", "socksProxy", "javax.net.ssl.keyStore"];

/// What JMeter's command line has besides: scripts give it, and it is known by name, so that each is taken or refused by name.
#[derive(Debug, Args)]
pub struct Others {
    #[arg(short = 'j', long = "jmeterlogfile", hide = true)]
    log: Option<PathBuf>,
    #[arg(short = 'i', long = "jmeterlogconf", hide = true)]
    log_settings: Option<PathBuf>,
    #[arg(short = 'L', long = "loglevel", hide = true)]
    log_levels: Vec<String>,
    #[arg(short = 'd', long = "homedir", hide = true)]
    home: Option<PathBuf>,
    #[arg(short = 'D', long = "systemproperty", hide = true)]
    system_properties: Vec<String>,
    #[arg(short = 'S', long = "systemPropertyFile", hide = true)]
    system_property_files: Vec<PathBuf>,
    #[arg(short = 'G', long = "globalproperty", hide = true)]
    global_properties: Vec<String>,
    #[arg(short = 'r', long = "runremote", hide = true)]
    runs_remote: bool,
    #[arg(short = 'R', long = "remotestart", hide = true)]
    remote_hosts: Option<String>,
    #[arg(short = 'X', long = "remoteexit", hide = true)]
    ends_remote: bool,
    #[arg(short = 'E', long = "proxyScheme", hide = true)]
    proxy_scheme: Option<String>,
    #[arg(short = 'H', long = "proxyHost", hide = true)]
    proxy_host: Option<String>,
    #[arg(short = 'P', long = "proxyPort", hide = true)]
    proxy_port: Option<String>,
    #[arg(short = 'N', long = "nonProxyHosts", hide = true)]
    direct_hosts: Option<String>,
    #[arg(short = 'u', long = "username", hide = true)]
    proxy_name: Option<String>,
    #[arg(short = 'a', long = "password", hide = true)]
    proxy_password: Option<String>,
}

impl Others {
    /// The first that was given of those that change what is sent, or from where: its name, and why it is refused.
    pub fn refused(&self) -> Option<(&'static str, &'static str)> {
        const SYSTEM: &str = "system properties of connections, and files of them, are not looked at";
        const REMOTE: &str = "JMeter's servers are not spoken to, and all users are on this machine";
        const PROXY: &str = "requests go through no proxy";
        let is_of_connections = |given: &String| OF_CONNECTIONS.iter().any(|name| given.starts_with(*name));
        let all = [
            (self.system_properties.iter().any(is_of_connections), "-D (--systemproperty)", SYSTEM),
            (!self.system_property_files.is_empty(), "-S (--systemPropertyFile)", SYSTEM),
            (self.runs_remote, "-r (--runremote)", REMOTE),
            (self.remote_hosts.is_some(), "-R (--remotestart)", REMOTE),
            (self.ends_remote, "-X (--remoteexit)", REMOTE),
            (self.proxy_scheme.is_some(), "-E (--proxyScheme)", PROXY),
            (self.proxy_host.is_some(), "-H (--proxyHost)", PROXY),
            (self.proxy_port.is_some(), "-P (--proxyPort)", PROXY),
            (self.direct_hosts.is_some(), "-N (--nonProxyHosts)", PROXY),
            (self.proxy_name.is_some(), "-u (--username)", PROXY),
            (self.proxy_password.is_some(), "-a (--password)", PROXY),
        ];
        all.into_iter().find_map(|(given, name, why)| given.then_some((name, why)))
    }

    /// Those that were given of the ones that are about JMeter's own process, or its servers'.
    pub fn without_effect(&self) -> Vec<&'static str> {
        let all = [
            (self.log.is_some(), "-j (--jmeterlogfile)"),
            (self.log_settings.is_some(), "-i (--jmeterlogconf)"),
            (!self.log_levels.is_empty(), "-L (--loglevel)"),
            (self.home.is_some(), "-d (--homedir)"),
            (!self.system_properties.is_empty(), "-D (--systemproperty)"),
            (!self.global_properties.is_empty(), "-G (--globalproperty)"),
        ];
        all.into_iter().filter_map(|(given, name)| given.then_some(name)).collect()
    }
}
