//! What `proofload explain --json` says of a run.

use serde::Deserialize;

/// The version of the format that is read here.
const VERSION: u32 = 1;

#[derive(Debug, Deserialize)]
struct Explained {
    version: u32,
    cells: Vec<Cell>,
    #[serde(default)]
    confirmations: Vec<Tried>,
}

#[derive(Debug, Deserialize)]
struct Cell {
    stack: String,
    verdicts: Vec<Verdict>,
}

/// What became of a verdict that was put to the test.
#[derive(Debug, Deserialize)]
struct Tried {
    stack: String,
    confirmation: Option<Confirmation>,
}

#[derive(Debug, Deserialize)]
struct Confirmation {
    outcome: String,
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
    /// The same as `explain` has it.
    pub(crate) fn of(verdict: &explain::Verdict) -> Self {
        // Its name in JSON is the one that there is.
        let kind = serde_json::to_value(verdict.kind);
        let kind = kind.ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default();
        Self { kind, phrase: verdict.phrase.clone(), evidence: verdict.evidence.clone() }
    }

    /// Whether it is of the machine that the machine here runs on: true, and nothing that was planted.
    pub(crate) fn is_of_the_hypervisor(&self) -> bool {
        self.kind == "noisy_host" && self.evidence.iter().any(|line| line.contains("the hypervisor took"))
    }
}

/// In the place of an outcome: there was nothing to try.
const NOT_TRIED: &str = "not tried";

fn read(json: &str) -> Result<Explained, String> {
    let explained: Explained =
        serde_json::from_str(json).map_err(|error| format!("the explanation is no such JSON: {error}"))?;
    match explained.version {
        VERSION => Ok(explained),
        version => Err(format!("the explanation has version {version}, and {VERSION} is read here")),
    }
}

/// What came of the first verdict of `stack` when it was put to the test, in words.
pub(crate) fn outcome(json: &str, stack: &str) -> Result<String, String> {
    let tried = read(json)?.confirmations.into_iter().find(|tried| tried.stack == stack);
    let tried = tried.ok_or_else(|| format!("the explanation has no test of {stack}"))?;
    Ok(tried.confirmation.map_or_else(|| NOT_TRIED.to_owned(), |it| it.outcome.replace('_', " ")))
}

/// What is named first of `stack`.
pub(crate) fn first(json: &str, stack: &str) -> Result<Verdict, String> {
    let cell = read(json)?.cells.into_iter().find(|cell| cell.stack == stack);
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
    fn tells_what_came_of_a_test() {
        let with =
            |confirmations: &str| format!(r#"{{"version":1,"cells":[],"confirmations":[{confirmations}]}}"#);
        let outcome = |json: &str| outcome(json, "gin");
        let told =
            outcome(&with(r#"{"stack":"gin","confirmation":{"outcome":"could_not_tell","levels":3}}"#));
        assert_eq!(told.unwrap(), "could not tell");
        let why = r#"{"stack":"gin","not_tried":"no variant"}"#;
        assert_eq!(outcome(&with(why)).unwrap(), "not tried");
        assert!(outcome(&with("")).unwrap_err().contains("no test of gin"));
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
