//! `proofload wrk -s` in a build without Lua: there are no scripts.

use plan::HttpTarget;

use super::{End, Load};
use crate::arguments::wrk::Wrk;

/// A script, which this build can't run.
pub enum Script {}

impl Script {
    /// Refuses the script of `-s`, if there is one.
    pub fn prepare(wrk: &Wrk, _: &HttpTarget) -> Result<Option<Self>, End> {
        let Some(file) = &wrk.script else { return Ok(None) };
        let message = format!(
            "wrk: {file}: this proofload was built without Lua (`make run` does so); run `make build`"
        );
        Err(End { message: Some(message), usage: false })
    }

    /// There is none to run.
    pub fn run(self, _: &Load<'_>) -> Result<(), End> {
        match self {}
    }
}
