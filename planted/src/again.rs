//! What today's rules say of what was measured: a record's verdicts made anew of its evidence, without a run.

use std::fmt;

use crate::case::Case;
use crate::experiment::stack_id;
use crate::record::{Line, Lines, NOT_MADE};

/// A record, its verdicts by today's rules.
#[derive(Debug)]
pub(crate) struct Again {
    pub(crate) lines: Lines,
    /// What is another verdict than when it was measured, a line each.
    pub(crate) changes: Vec<String>,
    pub(crate) origin: Origin,
}

/// From when a record is, and how much of it could be looked at again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Origin {
    /// Runs with evidence.
    looked_at: usize,
    /// Runs without: of them it is what was said when they were measured.
    as_said: usize,
    /// Runs that could not be made.
    not_made: usize,
    /// The first day and the last on which there is evidence of.
    days: Option<(String, String)>,
}

/// `recorded` by today's rules; what is of no case that there is stays as it is.
pub(crate) fn again(recorded: &Lines, cases: &[Case]) -> Result<Again, String> {
    let (mut lines, mut changes, mut origin) = (Lines::default(), Vec::new(), Origin::default());
    for line in recorded.iter() {
        origin.add(line);
        let told = told_again(line, cases)?;
        if told.named != line.named {
            let key = &line.key;
            changes.push(format!(
                "{}, {}, {} neighbours, seed {}: {} and not {} any more",
                key.case, key.size, key.neighbours, key.seed, told.named, line.named
            ));
        }
        lines.add(told);
    }
    Ok(Again { lines, changes, origin })
}

/// `line` with the verdict of today, where it has its evidence.
fn told_again(line: &Line, cases: &[Case]) -> Result<Line, String> {
    let case = cases.iter().find(|case| case.name == line.key.case);
    let size = case.and_then(|case| case.size(&line.key.size));
    let Some((evidence, size)) = line.evidence.as_ref().zip(size) else { return Ok(line.clone()) };
    let of_line = |why: String| format!("{}, {}: {why}", line.key.case, line.key.size);
    let verdict = evidence.first(stack_id(&size.server)).map_err(of_line)?;
    Ok(Line { named: verdict.kind, phrase: verdict.phrase, ..line.clone() })
}

impl Origin {
    fn add(&mut self, line: &Line) {
        match &line.evidence {
            Some(evidence) => {
                self.looked_at += 1;
                let Some(day) = evidence.day() else { return };
                let (first, last) = self.days.take().unwrap_or_else(|| (day.to_owned(), day.to_owned()));
                self.days = Some((first.min(day.to_owned()), last.max(day.to_owned())));
            }
            None if line.named == NOT_MADE => self.not_made += 1,
            None => self.as_said += 1,
        }
    }
}

/// In a few short sentences.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { looked_at, as_said, not_made, days } = self;
        let when = match days {
            Some((first, last)) if first == last => format!("on {first}, "),
            Some((first, last)) => format!("from {first} to {last}, "),
            None => String::new(),
        };
        write!(f, "{} runs are on record.", looked_at + as_said + not_made)?;
        write!(f, " With what was measured: {looked_at}")?;
        if *looked_at > 0 {
            write!(f, ", {when}named by today's rules")?;
        }
        write!(f, ".")?;
        if *as_said > 0 {
            write!(f, " Without it: {as_said}, named as they were when they were measured.")?;
        }
        if *not_made > 0 {
            write!(f, " Not made: {not_made}.")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{Evidence, tests::sample};
    use crate::record::Key;
    use crate::table;

    fn line(case: &str, size: &str, named: &str, evidence: Option<Evidence>) -> Line {
        Line {
            key: Key { case: case.into(), size: size.into(), neighbours: 0, seed: 1 },
            named: named.into(),
            phrase: String::new(),
            probe: None,
            binary: String::new(),
            planted: None,
            evidence,
        }
    }

    fn told(lines: &[Line]) -> Again {
        let mut all = Lines::default();
        for line in lines {
            all.add(line.clone());
        }
        again(&all, &table::cases()).unwrap()
    }

    #[test]
    fn what_has_evidence_is_judged_by_todays_rules_and_what_has_none_is_left() {
        let limiter = "Go, rate limiter that delays";
        let seen = line(limiter, "500/s", "serial_section", Some(sample()));
        let said = line(limiter, "1200/s", "serial_section", None);
        let not_made = line("Go, a mutex", "sleeps for 2 ms", NOT_MADE, None);
        let Again { lines, changes, origin } = told(&[seen.clone(), said.clone(), not_made]);
        assert_eq!(lines.get(&seen.key).unwrap().named, "rate_limiter");
        assert_eq!(lines.get(&said.key).unwrap().named, "serial_section");
        assert_eq!(
            changes,
            [format!("{limiter}, 500/s, 0 neighbours, seed 1: rate_limiter and not serial_section any more")]
        );
        assert_eq!(
            origin.to_string(),
            "3 runs are on record. With what was measured: 1, on 2026-11-23, named by today's rules. Without it: 1, named as they were \
             when they were measured. Not made: 1."
        );
    }

    #[test]
    fn evidence_of_another_stack_is_an_error_with_its_case() {
        let mut lines = Lines::default();
        let proxy = "slow backend behind a healthy proxy";
        lines.add(line(proxy, "48 users", "backend_bound", Some(sample())));
        let why = again(&lines, &table::cases()).unwrap_err();
        assert!(why.starts_with(&format!("{proxy}, 48 users: no trial of ")), "{why}");
    }
}
