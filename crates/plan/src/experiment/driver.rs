//! What carries the measured load of a cell, and which loads each can carry.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use engine::{Load, UserStart};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Duration;

use super::{Cell, Round};
use crate::error::PlanError;
use crate::load::{LoadPlan, Threads};
use crate::stack::Speaks;

/// What made the measured load of a trial.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Driver {
    /// Our own engine.
    #[default]
    Proofload,
    /// wrk.
    Wrk,
    /// JMeter.
    Jmeter,
}

impl Driver {
    /// All of them, our own first.
    pub const ALL: [Self; 3] = [Self::Proofload, Self::Wrk, Self::Jmeter];

    /// What it is called in files and on the command line.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Proofload => "proofload",
            Self::Wrk => "wrk",
            Self::Jmeter => "jmeter",
        }
    }

    /// Its name in texts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Proofload => "proofload",
            Self::Wrk => "wrk",
            Self::Jmeter => "JMeter",
        }
    }

    /// Whether it is our own engine.
    pub const fn is_own(&self) -> bool {
        matches!(self, Self::Proofload)
    }

    /// Whether it can make the measured part of `load`. The warm-up is ours, whatever the driver is.
    pub fn can_carry(self, load: &LoadPlan) -> Result<(), PlanError> {
        match self {
            Self::Proofload => Ok(()),
            Self::Wrk => wrk(load),
            Self::Jmeter => jmeter(load),
        }
    }

    /// Whether it can make all loads of a round.
    pub(super) fn can_carry_all(self, round: &Round) -> Result<(), PlanError> {
        if self != Self::Proofload && !round.latency.is_empty() {
            let what = format!("{} keeps no rate, and `latency` compares answer times at rates", self.key());
            return Err(PlanError::new(what, "leave `latency` out, or name the driver proofload"));
        }
        let speaks = |cell: &&Cell| cell.speaks != Speaks::default();
        if self != Self::Proofload
            && let Some(cell) = round.cells.iter().find(speaks)
        {
            let what = format!(
                "{} is handed plain HTTP/1.1 here, and `{}` speaks something else",
                self.key(),
                cell.stack
            );
            return Err(PlanError::new(what, "leave that stack out, or name the driver proofload"));
        }
        round.cells.iter().try_for_each(|cell| self.can_carry(&cell.load))
    }

    /// An error: what it can't, of which load, and what would help.
    fn cannot(self, load: &LoadPlan, what: &str, help: &str) -> PlanError {
        PlanError::new(format!("{} {what}: `{}` can't be asked of it", self.key(), load.label()), help)
    }

    fn whole(self, name: &str, span: Duration, unit: Duration, unit_name: &str) -> Result<(), PlanError> {
        if span.as_nanos().is_multiple_of(unit.as_nanos()) {
            return Ok(());
        }
        let what = format!("{} takes a {name} in whole {unit_name} only, and {span} is none", self.key());
        Err(PlanError::new(what, format!("give it in whole {unit_name}, as in 2s")))
    }
}

/// What is said where a key of the load is too much for a driver.
const LEAVE_OUT: &str = "leave that key out, or name a driver that can";
const SECOND: Duration = Duration::from_secs(1);
const MILLISECOND: Duration = Duration::from_millis(1);

fn wrk(load: &LoadPlan) -> Result<(), PlanError> {
    let driver = Driver::Wrk;
    let not = |what: &str| Err(driver.cannot(load, what, LEAVE_OUT));
    match load.load {
        Load::Open { .. } => return not("keeps no rate"),
        Load::Scripted { .. } => return not("is not handed scripts"),
        Load::Closed { think, .. } if !think.is_zero() => return not("knows no think time"),
        Load::Closed { start: UserStart::RampUp { .. }, .. } => return not("knows no ramp-up"),
        Load::Closed { .. } => {}
    }
    if load.stop.requests.is_some() {
        return not("counts no requests, it is bounded by a duration");
    }
    if load.timeouts.idle != Duration::MAX || load.timeouts.connect != load.timeouts.request {
        return not("has one timeout, that of an answer");
    }
    driver.whole("duration", load.stop.duration, SECOND, "seconds")?;
    driver.whole("timeout", load.timeouts.request, SECOND, "seconds")?;
    match load.threads {
        Threads::Fixed(threads) if !load.connections.get().is_multiple_of(threads.get()) => {
            let what = format!(
                "wrk gives each of {threads} threads as many connections and drops the rest of {}",
                load.connections
            );
            Err(PlanError::new(what, "give a number of threads that divides the connections"))
        }
        Threads::Fixed(_) | Threads::Auto => Ok(()),
    }
}

fn jmeter(load: &LoadPlan) -> Result<(), PlanError> {
    let driver = Driver::Jmeter;
    let not = |what: &str| Err(driver.cannot(load, what, LEAVE_OUT));
    let Load::Closed { think, start, requests_per_user } = load.load else {
        return not("is driven by a thread group, which keeps no rate");
    };
    if load.stop.requests.is_some() && requests_per_user.is_none() {
        return not("counts the requests of each user, not of all together");
    }
    if load.timeouts.idle != Duration::MAX {
        return not("has no idle timeout");
    }
    if load.stop.duration != Duration::MAX {
        driver.whole("duration", load.stop.duration, SECOND, "seconds")?;
    }
    if let UserStart::RampUp { span, .. } = start {
        driver.whole("ramp-up", span, SECOND, "seconds")?;
    }
    for (name, span) in [
        ("think time", think),
        ("timeout", load.timeouts.request),
        ("connect timeout", load.timeouts.connect),
    ] {
        driver.whole(name, span, MILLISECOND, "milliseconds")?;
    }
    Ok(())
}

/// The drivers that measure each cell, each once: one at least.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drivers(BTreeSet<Driver>);

impl Drivers {
    /// They, our own first.
    pub fn iter(&self) -> impl Iterator<Item = Driver> + '_ {
        self.0.iter().copied()
    }

    /// Whether `driver` is among them.
    pub fn has(&self, driver: Driver) -> bool {
        self.0.contains(&driver)
    }
}

/// Our own alone.
impl Default for Drivers {
    fn default() -> Self {
        Self([Driver::Proofload].into())
    }
}

/// `wrk`, `wrk,jmeter` or `all`.
impl FromStr for Drivers {
    type Err = PlanError;

    fn from_str(text: &str) -> Result<Self, PlanError> {
        if text == "all" {
            return Ok(Self(Driver::ALL.into()));
        }
        let named = text.split(',').map(|name| {
            Driver::ALL.into_iter().find(|driver| driver.key() == name.trim()).ok_or_else(|| {
                let help = "write proofload, wrk or jmeter, several of them with commas, or all";
                PlanError::new(format!("`{}` is no driver", name.trim()), help)
            })
        });
        Ok(Self(named.collect::<Result<_, _>>()?))
    }
}

impl fmt::Display for Drivers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.iter().map(Driver::key).collect();
        f.write_str(&names.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::LoadArguments;

    fn load(change: impl Fn(&mut LoadArguments)) -> LoadPlan {
        let mut arguments = LoadArguments {
            connections: Some(300),
            duration: Some(Duration::from_secs(4)),
            ..LoadArguments::default()
        };
        change(&mut arguments);
        LoadPlan::new(&arguments).unwrap()
    }

    fn refused(driver: Driver, change: impl Fn(&mut LoadArguments)) -> String {
        driver.can_carry(&load(change)).map_or_else(|error| error.to_string(), |()| "carried".into())
    }

    #[test]
    fn a_plain_closed_load_is_carried_by_all() {
        for driver in Driver::ALL {
            assert_eq!(refused(driver, |_| {}), "carried");
        }
    }

    #[test]
    fn what_wrk_cannot_do_is_said_with_the_load() {
        type Change = fn(&mut LoadArguments);
        let cases: [(Change, &str); 8] = [
            (|it| it.rate = "2000".parse().ok(), "wrk keeps no rate: `2000/s on 300` can't be asked of it"),
            (|it| it.think = Some(Duration::from_secs(1)), "no think time"),
            (|it| it.ramp_up = Some(Duration::from_secs(1)), "no ramp-up"),
            (|it| it.requests = Some(9), "counts no requests"),
            (|it| it.requests_per_user = Some(9), "counts no requests"),
            (|it| it.duration = Some(Duration::from_millis(1500)), "a duration in whole seconds"),
            (|it| it.timeout = Some(Duration::from_millis(300)), "a timeout in whole seconds"),
            (|it| it.threads = "7".parse().ok(), "drops the rest of 300"),
        ];
        for (change, part) in cases {
            let error = refused(Driver::Wrk, change);
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn jmeter_has_users_who_come_one_by_one_and_think_and_keeps_no_rate() {
        let carried = |it: &mut LoadArguments| {
            it.ramp_up = Some(Duration::from_secs(50));
            it.requests_per_user = Some(1000);
            it.think = Some(Duration::from_millis(20));
        };
        assert_eq!(refused(Driver::Jmeter, carried), "carried");
        assert!(refused(Driver::Jmeter, |it| it.rate = "20".parse().ok()).contains("keeps no rate"));
        assert!(refused(Driver::Jmeter, |it| it.requests = Some(9)).contains("of each user"));
        let ramp_up = |it: &mut LoadArguments| it.ramp_up = Some(Duration::from_millis(2500));
        assert!(refused(Driver::Jmeter, ramp_up).contains("a ramp-up in whole seconds"));
    }

    #[test]
    fn drivers_are_named_one_by_one_or_all() {
        let read = |text: &str| text.parse::<Drivers>().map(|it| it.to_string());
        assert_eq!(read("wrk").unwrap(), "wrk");
        assert_eq!(read("jmeter, proofload").unwrap(), "proofload,jmeter");
        assert_eq!(read("all").unwrap(), "proofload,wrk,jmeter");
        assert!(read("ab").unwrap_err().to_string().contains("`ab` is no driver"));
        assert!(read("").is_err());
    }
}
