//! What is made of a load beside its result, while it goes on.

use events::Moment;

use super::files::Percentiles;
use crate::arguments::Hit;
use crate::exit::Failure;
use crate::gate::LoadGate;

/// A percentile file and a gate, where they were asked for.
pub struct Beside<'a> {
    pub percentiles: Option<Percentiles<'a>>,
    pub gate: Option<LoadGate<'a>>,
}

impl<'a> Beside<'a> {
    /// Before the load, so that nothing is measured for what can't be.
    pub fn open(arguments: &'a Hit) -> Result<Self, Failure> {
        Ok(Self { gate: LoadGate::open(&arguments.gate)?, percentiles: Percentiles::open(arguments)? })
    }

    /// Takes in what a load tells of itself.
    pub fn see(&mut self, moment: &Moment<'_>) {
        if let Some(it) = &mut self.percentiles {
            it.see(moment);
        }
        if let Some(it) = &mut self.gate {
            it.see(moment);
        }
    }
}
