//! What `proofload explain --json` says of a run.

use serde::Deserialize;

/// The version of the format that is read here.
const VERSION: u32 = 1;

#[derive(Debug, Deserialize)]
struct Explained {
    version: u32,
    cells: Vec<Cell>,
}

#[derive(Debug, Deserialize)]
struct Cell {
    stack: String,
    verdicts: Vec<Verdict>,
}

/// One reason, as far as it is looked at here.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Verdict {
    pub(crate) kind: String,
    pub(crate) phrase: String,
    #[serde(default)]
    evidence: Vec<String>,
}

impl Verdict {
    /// Whether it is of the machine that the machine here runs on: true, and nothing that was planted.
    pub(crate) fn is_of_the_hypervisor(&self) -> bool {
        self.kind == "noisy_host" && self.evidence.iter().any(|line| line.contains("the hypervisor took"))
    }
}

/// What is named first of `stack`.
pub(crate) fn first(json: &str, stack: &str) -> Result<Verdict, String> {
    let Explained { version, cells } =
        serde_json::from_str(json).map_err(|error| format!("the explanation is no such JSON: {error}"))?;
    if version != VERSION {
        return Err(format!("the explanation has version {version}, and {VERSION} is read here"));
    }
    let cell = cells.into_iter().find(|cell| cell.stack == stack);
    let cell = cell.ok_or_else(|| format!("the explanation has no cell of {stack}"))?;
    cell.verdicts.into_iter().next().ok_or_else(|| format!("the cell of {stack} has no verdict"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = include_str!("../tests/explained.json");

    #[test]
    fn reads_the_first_verdict_of_the_stack_itself() {
        let verdict = first(SAMPLE, "planted-proxy@slow-backend").unwrap();
        assert_eq!(verdict.kind, "backend_bound");
        assert_eq!(verdict.phrase, "backend target-pool");
        assert_eq!(first(SAMPLE, "target-pool").unwrap().kind, "pool_limit");
    }

    #[test]
    fn a_neighbour_on_the_same_host_is_no_finding() {
        let of = |evidence: &str| {
            let cell = format!(
                r#"{{"stack":"a","verdicts":[{{"kind":"noisy_host","phrase":"","evidence":["{evidence}"]}}]}}"#
            );
            first(&format!(r#"{{"version":1,"cells":[{cell}]}}"#), "a").unwrap().is_of_the_hypervisor()
        };
        assert!(of("the hypervisor took 14 % of the CPU"));
        assert!(!of("other processes used 0.56 of 2 cores"));
    }

    #[test]
    fn says_what_is_missing() {
        let error = |json: &str, stack: &str| first(json, stack).unwrap_err();
        assert!(error(SAMPLE, "gin").contains("no cell of gin"));
        assert!(error(&SAMPLE.replace("\"version\": 1", "\"version\": 2"), "gin").contains("version 2"));
        assert!(error("proofload: no such run", "gin").contains("no such JSON"));
        let none = r#"{"version":1,"cells":[{"stack":"gin","verdicts":[]}]}"#;
        assert!(error(none, "gin").contains("no verdict"));
    }
}
