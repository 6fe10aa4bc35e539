//! The cases. What each server can do is known before it is asked: the comments say how.

mod go;
mod java;
mod node;
mod python;
mod target;

use crate::case::{
    Around::Quiet,
    Case, Endpoint, Load,
    Nature::{Healthy, Planted},
    Server, Size, Target,
};
use crate::program::{Language, Program};
use crate::speaks::Speaks;

/// Every case, by who answers.
pub(crate) fn cases() -> Vec<Case> {
    [target::cases(), node::cases(), python::cases(), go::cases(), java::cases()].concat()
}

fn planted(name: &'static str, expected: &'static [&'static str], sizes: Vec<Size>) -> Case {
    Case { name, nature: Planted, expected, sizes }
}

fn healthy(name: &'static str, expected: &'static [&'static str], sizes: Vec<Size>) -> Case {
    Case { name, nature: Healthy, expected, sizes }
}

fn target(label: &'static str, options: &'static str, load: Load) -> Size {
    sized(label, Server::Target(Target::new(options)), load)
}

fn stack(label: &'static str, id: &'static str, load: Load) -> Size {
    sized(label, Server::Stack(id), load)
}

/// A program of `planted/servers`, which answers one path.
fn program(
    label: &'static str,
    language: Language,
    (file, arguments): (&'static str, &'static str),
    load: Load,
) -> Size {
    sized(
        label,
        Server::Program(Program { language, file, arguments, closes: false, speaks: Speaks::Http }),
        load,
    )
}

fn sized(label: &'static str, server: Server, load: Load) -> Size {
    Size { label, server, load, around: Quiet, computes: false }
}

/// So many users who ask a program as soon as they were answered.
const fn users(connections: u32) -> Load {
    Load::closed(Endpoint::Hello, connections)
}

/// So many requests a second of a program.
const fn at_rate(rate: &'static str) -> Load {
    Load { rate: Some(rate), ..users(64) }
}

/// Of `size`, what neighbours take may be what limits it.
fn computes(size: Size) -> Size {
    Size { computes: true, ..size }
}

/// Of `size`, the target with something more to it.
fn and(mut size: Size, more: impl FnOnce(&mut Target)) -> Size {
    if let Server::Target(target) = &mut size.server {
        more(target);
    }
    size
}

/// Of `size`, a server that speaks something else.
fn speaking(speaks: Speaks, mut size: Size) -> Size {
    match &mut size.server {
        Server::Target(target) => target.speaks = speaks,
        Server::Program(program) => program.speaks = speaks,
        // Its own manifest says what it speaks.
        Server::Stack(_) => {}
    }
    size
}

/// So many users on each of its connections, with HTTP/2.
const fn shared(load: Load, streams: u32) -> Load {
    Load { streams: Some(streams), ..load }
}

fn split(load: Load) -> Load {
    Load { split: true, ..load }
}

fn fresh(load: Load) -> Load {
    Load { fresh: true, ..load }
}

/// A JVM compiles for some seconds.
fn warm(load: Load) -> Load {
    Load { warm_up_s: 6, ..load }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;
    use crate::case::{NOISY_HOST, UNEXPLAINED};

    /// The published schema is made of the code that names them.
    fn kinds() -> BTreeSet<String> {
        let schema: Value = serde_json::from_str(include_str!("../../docs/report.schema.json")).unwrap();
        let variants = schema["$defs"]["VerdictKind"]["oneOf"].as_array().unwrap();
        variants.iter().map(|it| it["const"].as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn every_case_has_a_name_a_size_and_kinds_that_there_are() {
        let (cases, kinds) = (cases(), kinds());
        assert!(kinds.contains(NOISY_HOST) && kinds.contains(UNEXPLAINED));
        let names: BTreeSet<&str> = cases.iter().map(|case| case.name).collect();
        assert_eq!(names.len(), cases.len());
        for case in &cases {
            assert!(!case.sizes.is_empty() && !case.expected.is_empty(), "{}", case.name);
            let labels: BTreeSet<&str> = case.sizes.iter().map(|size| size.label).collect();
            assert_eq!(labels.len(), case.sizes.len(), "{}", case.name);
            for kind in case.expected {
                assert!(kinds.contains(*kind), "{}: no verdict is called {kind}", case.name);
            }
        }
    }

    #[test]
    fn each_language_has_limits_and_healthy_servers_of_two_sizes() {
        for cases in [node::cases(), python::cases(), go::cases(), java::cases()] {
            assert!(cases.iter().any(|case| case.nature == Planted));
            assert!(cases.iter().any(|case| case.nature == Healthy));
            assert!(cases.iter().all(|case| case.sizes.len() >= 2));
        }
    }
}
