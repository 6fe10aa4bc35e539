//! Whether stacks do the same work for one endpoint, and where they differ.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use record::{CheckResult, Checked, Contract, EndpointCheck, Role, StackCheck, Trial, TrialResult};

/// Header fields whose values change with time or chance; only their presence is compared.
const VOLATILE: [&str; 5] = ["date", "expires", "last-modified", "etag", "age"];

/// Something in which stacks differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The endpoint; `None` for what concerns connections as such.
    pub endpoint: Option<String>,
    /// In what, such as `bytes on the wire` or `field Date`.
    pub aspect: String,
    /// Each value and the stacks that have it, in the order of the stacks.
    pub values: Vec<(String, Vec<String>)>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(endpoint) = &self.endpoint {
            write!(f, "{endpoint}, ")?;
        }
        let values = self.values.iter().map(|(value, stacks)| format!("{value} ({})", stacks.join(", ")));
        write!(f, "{}: {}", self.aspect, values.collect::<Vec<_>>().join("; "))
    }
}

/// Everything in which stacks differ, endpoint by endpoint. Endpoints that only one of them has are left out, and
/// so are stacks that could not be checked.
pub fn differences(checks: &[StackCheck]) -> Vec<Difference> {
    let checked: Vec<(&str, &Checked)> = checks
        .iter()
        .filter_map(|check| match &check.result {
            CheckResult::Checked(checked) => Some((check.stack.as_str(), checked.as_ref())),
            CheckResult::LeftOut { .. } | CheckResult::Failed { .. } => None,
        })
        .collect();
    let names: BTreeSet<&str> =
        checked.iter().flat_map(|(_, it)| &it.endpoints).map(|endpoint| endpoint.name.as_str()).collect();
    let mut found = Vec::new();
    for name in names {
        let answers = checked
            .iter()
            .filter_map(|(id, it)| Some((*id, it.endpoints.iter().find(|endpoint| endpoint.name == name)?)));
        found.extend(between(name, &answers.collect::<Vec<_>>()));
    }
    found.extend(difference(None, "requests a connection", caps(&checked).into_iter()));
    found
}

/// After how many requests connections close, of stacks of which that is known as far as it takes to tell them apart: one that
/// was tried less often than another closes may be like it.
fn caps<'a>(checked: &[(&'a str, &Checked)]) -> Vec<(&'a str, String)> {
    let Some(largest) = checked.iter().filter_map(|(_, it)| it.requests_per_connection).max() else {
        return Vec::new();
    };
    let told = |it: &Checked| match it.requests_per_connection {
        Some(cap) => Some(cap.to_string()),
        None => (it.requests_tried > largest).then(|| format!("more than {}", it.requests_tried)),
    };
    checked.iter().filter_map(|(id, it)| Some((*id, told(it)?))).collect()
}

/// Everything in which the answers before load differ among the stacks of each round, round by round, by the first measured
/// trial of each. Bodies are not among it: they are held against what was expected during the load.
pub fn differences_within(trials: &[Trial]) -> Vec<(String, Difference)> {
    let mut rounds: Vec<&str> = Vec::new();
    for trial in trials {
        if !rounds.contains(&trial.round.as_str()) {
            rounds.push(&trial.round);
        }
    }
    let of_round = |round: &str| {
        let mut answers: BTreeMap<&str, &Contract> = BTreeMap::new();
        for trial in trials.iter().filter(|it| it.round == round && it.role == Role::Stack) {
            if let TrialResult::Measured(measured) = &trial.result {
                answers.entry(&trial.stack).or_insert(&measured.contract);
            }
        }
        let answers: Vec<(&str, &Contract)> = answers.into_iter().collect();
        contract_differences(None, &answers)
    };
    rounds
        .into_iter()
        .flat_map(|round| of_round(round).into_iter().map(|it| (round.to_owned(), it)))
        .collect()
}

fn between(endpoint: &str, answers: &[(&str, &EndpointCheck)]) -> Vec<Difference> {
    let bodies = answers.iter().map(|(id, it)| (*id, format!("{:?}", it.body)));
    let contracts: Vec<(&str, &Contract)> = answers.iter().map(|(id, it)| (*id, &it.contract)).collect();
    let mut found = contract_differences(Some(endpoint), &contracts);
    // Behind the status, which says why a body is another one.
    let behind = usize::from(found.first().is_some_and(|it| it.aspect == STATUS));
    found.splice(behind..behind, difference(Some(endpoint), "body", bodies));
    found
}

const STATUS: &str = "status";

fn contract_differences(endpoint: Option<&str>, answers: &[(&str, &Contract)]) -> Vec<Difference> {
    type Aspect = (&'static str, fn(&Contract) -> String);
    const ASPECTS: [Aspect; 4] = [
        (STATUS, |answer| answer.status.to_string()),
        ("body framing", |answer| answer.framing.clone()),
        ("bytes on the wire", |answer| answer.wire_bytes.to_string()),
        ("connection", |answer| answer.afterwards.clone()),
    ];
    let of_all = |value: fn(&Contract) -> String| answers.iter().map(move |(id, it)| (*id, value(it)));
    let mut found: Vec<Difference> = ASPECTS
        .into_iter()
        .filter_map(|(aspect, value)| difference(endpoint, aspect, of_all(value)))
        .collect();
    let names: BTreeSet<String> =
        answers.iter().flat_map(|(_, answer)| fields(answer)).map(|(name, _)| name).collect();
    for field in names {
        let values = answers.iter().map(|(id, answer)| (*id, field_value(answer, &field)));
        found.extend(difference(endpoint, &format!("field {field}"), values));
    }
    found
}

/// The fields of an answer's head, names in lower case.
fn fields(answer: &Contract) -> impl Iterator<Item = (String, &str)> {
    let lines = answer.head.lines().skip(1);
    lines.filter_map(|line| line.split_once(':')).map(|(name, value)| (name.to_lowercase(), value.trim()))
}

/// The value of the field in an answer, as far as it can be compared.
fn field_value(answer: &Contract, field: &str) -> String {
    match fields(answer).find(|(name, _)| name == field) {
        None => "absent".to_owned(),
        Some(_) if VOLATILE.contains(&field) => "present".to_owned(),
        Some((_, value)) => value.to_owned(),
    }
}

/// `None` where all values are the same.
fn difference<'a>(
    endpoint: Option<&str>,
    aspect: &str,
    values: impl Iterator<Item = (&'a str, String)>,
) -> Option<Difference> {
    let mut order = Vec::new();
    let mut by_value: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (id, value) in values {
        if !by_value.contains_key(&value) {
            order.push(value.clone());
        }
        by_value.entry(value).or_default().push(id.to_owned());
    }
    let values = order.into_iter().map(|value| (value.clone(), by_value.remove(&value).unwrap_or_default()));
    let values: Vec<_> = values.collect();
    (values.len() > 1).then(|| Difference {
        endpoint: endpoint.map(str::to_owned),
        aspect: aspect.to_owned(),
        values,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(wire_bytes: u64, fields: &str) -> EndpointCheck {
        let head = format!("HTTP/1.1 200 OK\r\n{fields}\r\n");
        let contract = Contract { head, wire_bytes, ..Contract::default() };
        EndpointCheck { name: "hello".into(), path: "/hello".into(), body: "world".into(), contract }
    }

    #[test]
    fn differences_are_told_by_value_and_the_same_is_not_told() {
        let tomcat = answer(118, "Date: now\r\nContent-Type: text/plain\r\n");
        let apr = answer(118, "date: then\r\nContent-Type: text/plain\r\n");
        let netty = answer(83, "content-type: text/plain\r\n");
        let found = between("hello", &[("tomcat", &tomcat), ("apr", &apr), ("netty", &netty)]);
        let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [
                "hello, bytes on the wire: 118 (tomcat, apr); 83 (netty)",
                "hello, field date: present (tomcat, apr); absent (netty)",
            ]
        );
        assert_eq!(between("hello", &[("tomcat", &tomcat), ("apr", &apr)]), []);
    }
}
