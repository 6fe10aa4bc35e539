//! What is made of a load beside its result, while it goes on.

use events::Moment;
use plan::toml_file;
use record::LoadResult;

use super::files::Percentiles;
use super::stop::Stop;
use crate::arguments::Hit;
use crate::exit::Failure;
use crate::gate::LoadGate;

/// The longest result of a load that is read, bytes: one of a day has some 30 MB of seconds.
const EARLIER_BYTES_MAX: u64 = 64 << 20;

/// A percentile file, a gate, a reason to end and an earlier load, where they were asked for.
pub struct Beside<'a> {
    pub percentiles: Option<Percentiles<'a>>,
    pub gate: Option<LoadGate<'a>>,
    pub stop: Option<Stop>,
    pub earlier: Option<LoadResult>,
}

impl<'a> Beside<'a> {
    /// Before the load, so that nothing is measured for what can't be.
    pub fn open(arguments: &'a Hit) -> Result<Self, Failure> {
        let earlier = arguments.compare_to.as_deref().map(|path| {
            let text = toml_file::read_up_to(path, EARLIER_BYTES_MAX)?;
            LoadResult::from_json(path, &text).map_err(Failure::usage)
        });
        Ok(Self {
            gate: LoadGate::open(&arguments.gate)?,
            stop: Stop::open(&arguments.stop_if)?,
            earlier: earlier.transpose()?,
            percentiles: Percentiles::open(arguments)?,
        })
    }

    /// Takes in what a load tells of itself, and says whether it is to end now.
    #[must_use]
    pub fn see(&mut self, moment: &Moment<'_>) -> bool {
        if let Some(it) = &mut self.percentiles {
            it.see(moment);
        }
        if let Some(it) = &mut self.gate {
            it.see(moment);
        }
        self.stop.as_mut().is_some_and(|it| it.see(moment))
    }
}
