//! Arguments and TOML in, validated typed plans out: loads and requests, experiments, stack manifests, claims and
//! gates.
//!
//! It reads files and starts or sends nothing.
//!
//! Invariant: a value of a plan type is valid. After this crate no field is "ignored when …", no unit is
//! guessed, and no later stage reports a usage error.
#![forbid(unsafe_code)]

pub mod arrivals;
pub mod cell_id;
pub mod claims;
pub mod error;
pub mod experiment;
pub mod gate;
pub mod http_version;
pub mod kept_runs;
pub mod load;
pub mod load_id;
pub mod nearest;
pub mod proxy;
pub mod random;
pub mod request;
pub mod sb_template;
pub mod shell;
pub mod stack;
pub mod toml_file;
pub mod version;

pub use arrivals::ArrivalsOf;
pub use cell_id::CellId;
pub use claims::{CellPair, Claim, Level, Metric, Statement, WriteUp};
pub use error::{Place, PlanError};
pub use experiment::{
    Bursts, Cell, Companions, Driver, Drivers, Ends, Experiment, Only, Pace, Placement, Procedure, Processes,
    Role, Round, Until, latency_of,
};
pub use http_version::{CopiedVersion, Http2Arguments, HttpVersion};
pub use kept_runs::KeptRuns;
pub use load::{IoChoice, LoadArguments, LoadPlan, THREADS_MAX, Threads};
pub use load_id::{ArrivalsName, LoadId, NamedLoad};
pub use request::{HttpTarget, RequestArguments, without_user, without_value};
pub use sb_template::SbTemplate;
pub use version::Version;
