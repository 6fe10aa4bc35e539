//! Records in the forms of other systems.
//!
//! - [`of_load`] and [`of_run`] say what of a record is a metric: families of samples with labels, in one model.
//! - [`text()`] and [`open_metrics`] write them for a scrape or a file, [`remote_write`] and [`otlp`] for a push; whether
//!   a refused push is worth another try is [`next_try`]'s to say.
//! - [`hgrm`] writes a distribution as HdrHistogram's tools do.
//!
//! `docs/exports.md` lists every metric.
//!
//! Invariants: pure: records in, bytes out. A figure that is only a lower bound is never in the family of those that are
//! exact; requests that were not answered are in no bucket but the last; label values are bounded.
#![forbid(unsafe_code)]

mod hgrm;
mod load;
mod model;
mod otlp;
mod remote_write;
mod run;
mod text;
mod times;
mod tries;

pub use hgrm::hgrm;
pub use load::{ExportedLoad, json_name, load_labels, of_load};
pub use model::{
    Buckets, Families, Family, Kind, LABEL_CHARS_MAX, Labels, Metric, Sample, Span, Unit, Value, date_all,
};
pub use otlp::{OTLP_CONTENT_TYPE, PartlyRefused, otlp, partly_refused, proto as otlp_proto};
pub use remote_write::{REMOTE_WRITE_HEADERS, proto as remote_write_proto, remote_write};
pub use run::{ExportedRun, of_run};
pub use text::{OPEN_METRICS_CONTENT_TYPE, TEXT_CONTENT_TYPE, open_metrics, text};
pub use times::{BOUNDS_S, buckets};
pub use tries::{Answered, NextTry, TRIES_MAX, next_try};
