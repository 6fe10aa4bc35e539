//! The document of a run in the forms that other programs take: HTML, Markdown, JUnit XML, CSV, JSON.

mod csv;
mod gate;
mod html;
mod junit;
mod load;
mod markdown;
mod versions;

pub use csv::csv;
pub use gate::gate_markdown;
pub use html::html;
pub use junit::{compare_junit, gate_junit, junit};
pub use load::{hit_csv, hit_markdown};
pub use markdown::markdown;
pub use versions::versions_markdown;

use schemars::generate::SchemaSettings;

use crate::page::model::Page;

/// The document as JSON, as `docs/report.schema.json` describes it.
///
/// # Panics
/// Never: it is plain data.
pub fn json(page: &Page) -> String {
    let mut text = serde_json::to_string_pretty(page).expect("a page is plain data");
    text.push('\n');
    text
}

/// The JSON Schema of [`json`].
///
/// # Panics
/// Never: it is plain data.
pub fn schema() -> String {
    // Of what we write: a field that may be null is there all the same.
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let schema = settings.into_generator().into_root_schema_for::<Page>();
    let mut text = serde_json::to_string_pretty(&schema).expect("a schema is plain data");
    text.push('\n');
    text
}
