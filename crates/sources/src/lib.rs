//! Requests from where people have them: a curl command copied from a browser, a recording of one (HAR), an OpenAPI
//! document with examples, options as curl has them; and from a project's files a first `proofload.toml`.
//!
//! Text in; a [`plan::RequestArguments`] or a [`scenario::Scenario`] out. Invariants: pure; what can't be sent as it
//! stands is an error or a [`Sourced::left_out`] with its reason, never left out silently.
#![forbid(unsafe_code)]

mod along;
mod braces;
mod curl;
mod har;
mod openapi;
mod options;
pub mod project;
mod proxy;
mod step;
mod varied;
mod words;

pub use along::Fields;
pub use curl::{drop_misplaced, parse_curl};
pub use har::parse_har;
pub use openapi::parse_openapi;
pub use options::{Elsewhere, FormField, basic_authorization, multipart};
pub use proxy::{Proxy, Speaks};
pub use step::{Arriving, SourceOptions, Sourced};
pub use varied::{Also, is_varied, varied, with_query_of};
