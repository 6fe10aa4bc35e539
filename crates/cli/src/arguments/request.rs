//! What curl has options for, as typed: who asks, cookies, a form, and where the connection goes.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// More of a request than URL, headers and body.
#[derive(Debug, Args)]
pub struct RequestOptions {
    /// User and password for HTTP basic authentication
    #[arg(short = 'u', long, value_name = "USER:PASSWORD", help_heading = "As in curl")]
    pub user: Option<String>,
    /// Cookies to send: 'name=value; other=value'
    #[arg(short = 'b', long, value_name = "COOKIES", help_heading = "As in curl")]
    pub cookie: Option<String>,
    /// A form field: NAME=VALUE, NAME=@FILE to send a file, or NAME=<FILE to send the text in a file; ;type=image/png may follow;
    /// may be repeated
    #[arg(short = 'F', long = "form", value_name = "FIELD", conflicts_with_all = ["body", "body_file"], help_heading = "As in curl")]
    pub form: Vec<String>,
    /// Use the next line of this file as the URL's query, starting again after the last line; like {{line FILE}} in the URL
    #[arg(long, value_name = "FILE", conflicts_with_all = ["har", "openapi", "scenario"])]
    pub query_from_file: Option<String>,
    /// Connect to another place than the URL names; the Host header stays: HOST:PORT:OTHER:PORT, or ::OTHER:PORT for any host and
    /// port; may be repeated
    #[arg(long, value_name = "HOST:PORT:OTHER:PORT", help_heading = "As in curl")]
    pub connect_to: Vec<String>,
    /// Use this address for a host and port instead of resolving the name; may be repeated
    #[arg(long, value_name = "HOST:PORT:ADDRESS", help_heading = "As in curl")]
    pub resolve: Vec<String>,
    /// Connect to this Unix socket, whatever host the URL names; the Host header stays
    #[arg(long, value_name = "PATH", conflicts_with_all = ["connect_to", "resolve"], help_heading = "As in curl")]
    pub unix_socket: Option<PathBuf>,
    /// Use this proxy: http://[user:password@]host:port, which forwards http requests and opens a tunnel for https (CONNECT); or
    /// socks5://… or socks5h://…, where the proxy resolves the host name. The proxy's times are part of the figures
    #[arg(short = 'x', long, value_name = "URL", conflicts_with_all = ["connect_to", "resolve", "unix_socket"], help_heading = "As in curl")]
    pub proxy: Option<String>,
    /// User and password for --proxy
    #[arg(long, value_name = "USER:PASSWORD", requires = "proxy", help_heading = "As in curl")]
    pub proxy_user: Option<String>,
    /// Follow redirects, up to 20: each is a request of its own, and part of the time of its step
    #[arg(short = 'L', long, help_heading = "As in curl")]
    pub follow: bool,
}

impl RequestOptions {
    /// The option by which connections go another way than to an address.
    pub fn way(&self) -> Option<&'static str> {
        let given = [("--unix-socket", self.unix_socket.is_some()), ("--proxy", self.proxy.is_some())];
        given.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
    }

    /// Those of its options that come to a field, each with whether it was given.
    pub fn of_fields(&self) -> [(&'static str, bool); 2] {
        [("--user", self.user.is_some()), ("--cookie", self.cookie.is_some())]
    }

    /// The first of its other options that was given.
    pub fn beyond_fields(&self) -> Option<&'static str> {
        let given = [
            ("--form", !self.form.is_empty()),
            ("--query-from-file", self.query_from_file.is_some()),
            ("--connect-to", !self.connect_to.is_empty()),
            ("--resolve", !self.resolve.is_empty()),
            ("--unix-socket", self.unix_socket.is_some()),
            ("--proxy", self.proxy.is_some()),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
    }
}

/// How a load's result is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// For a person
    Text,
    /// As --json
    Json,
    /// A header line and a row
    Csv,
    /// A summary for a pull request
    Md,
}
