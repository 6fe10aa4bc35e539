//! What stands beside requests and applies to them: each element is read once, at the place where it stands.
//!
//! JMeter's rule: such an element applies to every request below its parent. For a request that is: what stands
//! right below it, beside it, beside its parent, and so on up to the test plan.

use std::sync::Arc;

use scenario::{Assertion, Extraction, OnError, OwnCookie, Pause, Template, UserValues};

use crate::element::Properties;
use crate::ledger::Place;
use crate::rewriting::Rewriting;

/// What applies to the requests below one element.
#[derive(Default)]
pub(crate) struct Level<'a> {
    /// Settings that requests fall back to.
    pub defaults: Vec<&'a Properties>,
    /// Header fields, a table a manager.
    pub headers: Vec<Vec<(Template, Template)>>,
    /// Names and passwords, a table a manager.
    pub logins: Vec<Vec<Login>>,
    /// What becomes of cookies.
    pub cookies: Vec<Cookies>,
    /// Ids of sessions that go into requests.
    pub rewritings: Vec<Rewriting>,
    /// Variables that are set before each request.
    pub sets: Vec<Arc<UserValues>>,
    /// Pauses before each request.
    pub pauses: Vec<Pause>,
    /// What must be true of each answer.
    pub assertions: Vec<Assertion>,
    /// What is taken from each answer.
    pub extractions: Vec<Extraction>,
    /// What is done after a failure, besides what the group says.
    pub on_error: OnError,
}

/// A name and password for what lies below a URL.
#[derive(Debug, Clone)]
pub(crate) struct Login {
    /// The URL, or nothing for all.
    pub url: String,
    /// Name, colon, password.
    pub credentials: Template,
}

/// A cookie manager.
#[derive(Debug, Clone)]
pub(crate) struct Cookies {
    pub place: Place,
    pub kept: Kept,
    /// Those that it has before a server sets any.
    pub own: Vec<OwnCookie>,
}

/// How long cookies are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    /// They are not.
    Never,
    /// As long as the user lives.
    ForUser,
    /// For one iteration.
    ForIteration,
    /// As long as the group says that a user stays the same.
    AsGroupSays,
}

/// All that applies to a request: levels from the test plan's to its own.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'s, 'a>(pub &'s [Level<'a>]);

impl<'s, 'a> Scope<'s, 'a> {
    /// Defaults, the nearest first: the first that has a setting gives it.
    pub(crate) fn defaults(self) -> impl Iterator<Item = &'a Properties> {
        self.0.iter().rev().flat_map(|level| level.defaults.iter().copied())
    }

    /// Header fields of all managers; of fields with the same name those of the nearest manager.
    pub(crate) fn headers(self) -> Vec<(Template, Template)> {
        let mut merged: Vec<(Template, Template)> = Vec::new();
        for manager in self.0.iter().rev().flat_map(|level| &level.headers) {
            let nearer = merged.len();
            for (name, value) in manager {
                if !merged[..nearer].iter().any(|(known, _)| same_field(known, name)) {
                    merged.push((name.clone(), value.clone()));
                }
            }
        }
        merged
    }

    /// The names and passwords: of several managers JMeter takes the outermost.
    pub(crate) fn logins(self) -> &'s [Login] {
        self.0.iter().rev().flat_map(|level| &level.logins).last().map_or(&[], Vec::as_slice)
    }

    /// What becomes of cookies: of several managers JMeter takes the outermost.
    pub(crate) fn cookies(self) -> Option<&'s Cookies> {
        self.0.iter().rev().flat_map(|level| &level.cookies).last()
    }

    /// All ids of sessions that go into requests, the outermost first.
    pub(crate) fn rewritings(self) -> Vec<Rewriting> {
        self.0.iter().flat_map(|level| level.rewritings.iter().cloned()).collect()
    }

    /// All variables that are set before a request, the outermost first.
    pub(crate) fn sets(self) -> Vec<Arc<UserValues>> {
        self.0.iter().flat_map(|level| level.sets.iter().cloned()).collect()
    }

    /// All pauses; they add up. Where users wait for each other comes first: JMeter sleeps for the sum once all timers were asked.
    pub(crate) fn pauses(self) -> Vec<Pause> {
        let all = self.0.iter().flat_map(|level| level.pauses.iter().cloned());
        let (mut pauses, others): (Vec<Pause>, Vec<Pause>) =
            all.partition(|it| matches!(it, Pause::Meeting(_)));
        pauses.extend(others);
        pauses
    }

    /// All assertions, the outermost first.
    pub(crate) fn assertions(self) -> Vec<Assertion> {
        self.0.iter().flat_map(|level| level.assertions.iter().cloned()).collect()
    }

    /// What is done after a failure: of several actions the one that goes furthest.
    pub(crate) fn on_error(self) -> OnError {
        self.0.iter().map(|level| level.on_error).max().unwrap_or_default()
    }

    /// All extractions, the outermost first.
    pub(crate) fn extractions(self) -> Vec<Extraction> {
        self.0.iter().flat_map(|level| level.extractions.iter().cloned()).collect()
    }
}

/// Whether both name the same header field, in any case.
pub(crate) fn same_field(one: &Template, other: &Template) -> bool {
    match (one.constant(), other.constant()) {
        (Some(one), Some(other)) => one.eq_ignore_ascii_case(other),
        _ => one == other,
    }
}
