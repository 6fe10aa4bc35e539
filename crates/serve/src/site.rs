//! What is served.

use bytes::Bytes;
use tokio::sync::watch;

/// Nothing but what comes from this server, and no script or style within a page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// A report is one file with its own style and script in it. It may load nothing and send nothing anywhere.
const REPORT_POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; \
                             base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    pub(crate) status: u16,
    pub(crate) kind: &'static str,
    pub(crate) policy: &'static str,
    pub(crate) body: Bytes,
}

impl Page {
    /// A page of `kind`, a media type.
    pub fn new(kind: &'static str, body: impl Into<Bytes>) -> Self {
        Self { status: 200, kind, policy: POLICY, body: body.into() }
    }

    /// HTML that brings its own style and script.
    pub fn report(html: String) -> Self {
        Self { policy: REPORT_POLICY, ..Self::new("text/html; charset=utf-8", html) }
    }

    /// JSON.
    pub fn json(json: impl Into<Bytes>) -> Self {
        Self::new("application/json", json)
    }

    /// Says in plain text why there is no page.
    pub fn refused(status: u16, why: &str) -> Self {
        Self { status, ..Self::new("text/plain; charset=utf-8", format!("{why}\n")) }
    }
}

/// Pages that belong together.
pub trait Site: Send + Sync + 'static {
    /// The page at `path`, with what stands behind the question mark; `None` where this site has none there. It may take
    /// its time: others are served meanwhile.
    fn page(&self, path: &str, query: &str) -> Option<Page>;

    /// What is sent to a client of `path` as it changes, as server-sent events; `None` where this site has none there.
    fn events(&self, path: &str) -> Option<watch::Receiver<Bytes>> {
        let _ = path;
        None
    }
}
