//! What stands beside requests: each element is read into the level of its parent, or is done as an iteration or a controller
//! begins.

use std::path::PathBuf;
use std::sync::Arc;

use scenario::{DataSet, DataSharing, Step, Template};

use super::{DataFile, Walk};
use crate::element::Element;
use crate::level::{Cookies, Level};
use crate::names::{self, Kind, Scoped};
use crate::rewriting::Rewriting;
use crate::values::Fields;
use crate::variables::check_variables;
use crate::{assertions, checked, data, extractors, flow, managers, meeting, parameters, sets, timers};

/// What becomes of users for whom nobody comes.
const WAITS_FOR_NOBODY: &str = "Synchronizing Timer without a timeout: who waits where nobody comes any more ends there; in JMeter \
     it waits for ever, or makes its request at the end of the schedule";

/// Where an element goes on in a file of rows.
pub(super) struct Reader<'a> {
    /// Its data set, by number.
    set: usize,
    file: PathBuf,
    /// Who shares its rows.
    mode: String,
    /// The thread group that it stands in; else it is the test plan.
    group: Option<&'a Element>,
}

impl Reader<'_> {
    /// Whether both take rows from one and the same place in a file: JMeter opens a file once for all, once for each group,
    /// or once for each thread.
    fn is_that_of(&self, other: &Self) -> bool {
        let in_one = self.is_in_group_of(other);
        self.file == other.file && self.mode == other.mode && (in_one || self.mode == data::OF_ALL)
    }

    /// Whether the users of one group come by both.
    fn is_in_group_of(&self, other: &Self) -> bool {
        match (self.group, other.group) {
            (Some(one), Some(other)) => std::ptr::eq(one, other),
            _ => true,
        }
    }
}

impl<'a> Walk<'a> {
    /// What applies to all requests below `parent`.
    pub(crate) fn level(&mut self, parent: &'a Element) -> Level<'a> {
        let mut level = Level::default();
        for child in parent.enabled_children() {
            if let Kind::Scoped(scoped) = names::kind(&child.class, &child.gui) {
                self.trail.push(child);
                match self.scoped(scoped, child, &mut level) {
                    Ok(()) => self.ledger.support(),
                    Err(reason) => self.refuse([reason]),
                }
                if child.enabled_children().next().is_some() {
                    self.branch(child);
                }
                self.trail.pop();
            }
        }
        level
    }

    fn scoped(&mut self, scoped: Scoped, element: &'a Element, level: &mut Level<'a>) -> Result<(), String> {
        let fields = Fields::new(&element.properties, self.values);
        match scoped {
            Scoped::Defaults => level.defaults.push(&element.properties),
            Scoped::Headers => level.headers.push(managers::headers(fields)?),
            Scoped::Auth => {
                let (logins, note) = managers::logins(fields)?;
                level.logins.push(logins);
                if let Some(note) = note {
                    self.ledger.note(note);
                }
            }
            Scoped::Cookies => {
                let (kept, own) = managers::cookies(fields)?;
                level.cookies.push(Cookies { place: self.place_with_class(), kept, own });
            }
            Scoped::Cache => self.ledger.note(
                "HTTP Cache Manager: every request is sent whole, as with an empty cache; JMeter would send \
                 conditional requests, or none, for what may be kept"
                    .into(),
            ),
            Scoped::Lookups => {
                if let Some(note) = managers::lookups(fields)? {
                    self.ledger.note(note);
                }
            }
            // They were defined before anything else, as JMeter does.
            Scoped::Variables => check_variables(&element.properties, self.values)?,
            Scoped::Parameters => {
                let values = Arc::new(parameters::values(fields)?);
                if parameters::is_per_iteration(fields)? {
                    self.at_begin(Step::SetByUser(values));
                } else {
                    level.sets.push(values);
                }
            }
            Scoped::Data => self.data_set(fields)?,
            Scoped::Rewriting => {
                let rewriting = Rewriting::new(fields, element.line)?;
                checked::extraction(rewriting.extraction())?;
                self.rewriting(rewriting.clone());
                level.rewritings.push(rewriting);
            }
            Scoped::Timer(timer) => {
                if timer == names::Timer::Shaping {
                    self.check_shaping()?;
                }
                self.paces += u32::from(timer == names::Timer::Throughput);
                let pause = timers::pause(timer, self.paces, fields, self.groups)?;
                level.pauses.push(checked::pause(pause)?);
            }
            Scoped::Meeting => {
                let meeting = meeting::meeting(fields, self.threads_around()?)?;
                if meeting.timeout.is_none() {
                    self.ledger.note(WAITS_FOR_NOBODY.into());
                }
                level.pauses.push(meeting::pause(meeting));
            }
            Scoped::Assertion(kind) => {
                let assertion = assertions::assertion(kind, &element.name, fields)?;
                level.assertions.extend(assertion.map(checked::assertion).transpose()?);
            }
            Scoped::OnError => level.on_error = flow::on_error(fields)?.max(level.on_error),
            Scoped::Variable(variable) => self.set(variable, fields)?,
            Scoped::Extractor(kind) => {
                for extraction in extractors::extractions(kind, fields)? {
                    level.extractions.push(checked::extraction(extraction)?);
                }
            }
        }
        Ok(())
    }

    fn data_set(&mut self, fields: Fields<'_>) -> Result<(), String> {
        let in_group = self.trail.len() > 2;
        let owner = if in_group && self.groups > 1 { data::Owner::OneGroup } else { data::Owner::All };
        let set = data::data_set(self.plan, fields, owner)?;
        let group = self.trail.get(1).copied().filter(|_| in_group);
        let file = set.file.clone();
        let mut reader = Reader { set: self.data.len(), file, mode: data::mode(fields)?, group };
        let before = self.readers.iter().find(|other| other.is_that_of(&reader));
        if let Some((number, in_one)) = before.map(|other| (other.set, other.is_in_group_of(&reader))) {
            let sharing = if in_one { self.data[number].sharing } else { DataSharing::All };
            let read_alike = DataSet { sharing, ..set };
            if (DataSet { sharing, ..self.data[number].clone() }) != read_alike {
                return Err(
                    "another such element reads the same file with other settings, and in JMeter each takes the next \
                     row from where the other left it; give both the same ones, or each a copy of its own"
                        .into(),
                );
            }
            self.check_stages(sharing)?;
            self.data[number] = read_alike;
            reader.set = number;
        } else {
            self.check_stages(set.sharing)?;
            self.data.push(set);
        }
        self.files.push(DataFile::new(reader.file.clone(), &self.place_with_class()));
        self.at_begin(Step::Row(reader.set));
        self.readers.push(reader);
        Ok(())
    }

    /// Has users look for an id, which they begin without.
    fn rewriting(&mut self, rewriting: Rewriting) {
        let known = [&self.plan_rewritings, &self.group.rewritings];
        if known.into_iter().any(|known| known.contains(&rewriting)) {
            return;
        }
        self.variables.push((rewriting.variable.clone(), Template::default()));
        let in_group = self.trail.len() > 2;
        let all = if in_group { &mut self.group.rewritings } else { &mut self.plan_rewritings };
        all.push(rewriting);
    }

    /// Makes sure that no rows go on from one stage to the next, where users begin anew.
    fn check_stages(&self, sharing: DataSharing) -> Result<(), String> {
        if sharing != DataSharing::All || self.stages <= 1 {
            return Ok(());
        }
        Err("its rows go on from one thread group to those after it (setUp, tearDown, Run Thread Groups \
             consecutively); share them within each group, or move it to one"
            .into())
    }

    /// Makes sure that a schedule of requests is that of one group.
    fn check_shaping(&self) -> Result<(), String> {
        if self.trail.len() == 2 && self.groups > 1 {
            return Err("it stands at the test plan, and stops the thread groups one after another, as their requests come \
                        to it; move it into one of them"
                .into());
        }
        if self.group.controllers.contains(&names::Controller::Module) {
            return Err(
                "it stands in what a Module Controller runs, and may have several schedules; move it to the \
                        thread group"
                    .into(),
            );
        }
        Ok(())
    }

    /// A variable that gets a new value with each iteration, or each time that a controller begins.
    fn set(&mut self, variable: names::Variable, fields: Fields<'_>) -> Result<(), String> {
        let is_module = self.group.controllers.contains(&names::Controller::Module);
        if is_module && variable == names::Variable::Counter {
            return Err(
                "it stands in what a Module Controller runs, and may count in several places; move it to the thread \
                 group"
                    .into(),
            );
        }
        let at_plan = self.trail.len() == 2;
        let step = sets::step(variable, fields, at_plan && self.groups > 1)?;
        self.at_begin(step);
        Ok(())
    }

    /// What the element at hand does each time that the controller around it begins, or an iteration where there is none.
    fn at_begin(&mut self, step: Step) {
        let line = self.trail.last().map_or(0, |element| element.line);
        let begin = match self.group.begins.last_mut() {
            Some(begin) => begin,
            None if self.trail.len() > 2 => &mut self.group.begin,
            None => &mut self.plan_begin,
        };
        begin.push((line, step));
    }
}
