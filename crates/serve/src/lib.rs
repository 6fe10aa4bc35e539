//! Pages for a browser on this machine: a run while it goes on ([`Live`]), and the runs that are recorded ([`Runs`]).
//!
//! A server is one thread of its own. What it serves are [`Site`]s, asked one after another; another page is another
//! site.
//!
//! Invariants: whoever publishes never waits for a client; clients, and what is kept for each, are bounded, and one that
//! takes nothing is dropped; only a client that names this machine by `localhost` or an address is answered, so that no
//! name that somebody else resolves leads here; every page says what it may load, and that is nothing from elsewhere.
#![forbid(unsafe_code)]

mod assets;
mod events;
mod host;
mod latest;
mod live;
mod runs;
mod server;
mod site;

pub use latest::Latest;
pub use live::{Live, Render};
pub use runs::Runs;
pub use server::{ServeError, Server};
pub use site::{Page, Site};
