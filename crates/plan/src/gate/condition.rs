//! One condition of a gate: `p99>50ms`.

use std::fmt;
use std::str::FromStr;

use units::{Bytes, Duration, Rate, Share};

use crate::error::PlanError;
use crate::nearest;

/// What conditions look like, for whoever wrote one that does not.
const EXAMPLES: &str = "write it like 'p99>50ms', 'errors>1%' or 'goodput<2000/s'";
const NAMES: &str =
    "p50, p75, p90, p95, p99, p99.9, p99.99, mean, max, goodput, throughput, errors, cpu, memory, boot";

/// What is looked at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Metric {
    /// A percentile of response time.
    Percentile(stats::Percentile),
    /// The mean response time.
    Mean,
    /// The longest response time.
    Max,
    /// Answers as expected, a second.
    Goodput,
    /// Requests done, a second, whatever their outcome.
    Throughput,
    /// Requests that were not answered as expected.
    Errors,
    /// CPU time of the server a request.
    Cpu,
    /// The most memory that the server had resident.
    Memory,
    /// From the server's start to its first good answer.
    Boot,
}

/// Where it becomes too much, or too little.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    /// Of times.
    Time(Duration),
    /// Of rates.
    Rate(Rate),
    /// Of errors, as a share of the requests.
    Share(Share),
    /// Of errors, as a count.
    Count(u64),
    /// Of memory.
    Bytes(Bytes),
}

/// A condition on which a gate fails.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Condition {
    /// What is looked at.
    pub metric: Metric,
    /// Where it becomes too much or too little.
    pub limit: Limit,
    /// Whether the limit itself is still good: `>` and `<`, and not `>=` and `<=`.
    pub spares_limit: bool,
}

impl Metric {
    const NAMED: [(&'static str, Self); 9] = [
        ("mean", Self::Mean),
        ("max", Self::Max),
        ("goodput", Self::Goodput),
        ("throughput", Self::Throughput),
        ("errors", Self::Errors),
        ("cpu", Self::Cpu),
        ("memory", Self::Memory),
        ("boot", Self::Boot),
        // As everybody says who has one rate only.
        ("rate", Self::Goodput),
    ];

    fn named(name: &str) -> Result<Self, PlanError> {
        let percentiles = || stats::PERCENTILES.into_iter().map(|it| (it.name.replace('_', "."), it));
        let lower = name.to_ascii_lowercase();
        if let Some((_, percentile)) = percentiles().find(|(shown, _)| *shown == lower) {
            return Ok(Self::Percentile(percentile));
        }
        if let Some((_, metric)) = Self::NAMED.into_iter().find(|(known, _)| *known == lower) {
            return Ok(metric);
        }
        let shown: Vec<String> = percentiles().map(|it| it.0).collect();
        let known = Self::NAMED.iter().map(|it| it.0).chain(shown.iter().map(String::as_str));
        let help = nearest::help(&lower, known, &format!("there are {NAMES}"));
        Err(PlanError::new(format!("nothing is called `{name}`"), help))
    }

    /// The name that it is shown by.
    pub fn name(&self) -> String {
        if let Self::Percentile(percentile) = self {
            return percentile.name.replace('_', ".");
        }
        let named = Self::NAMED.iter().find(|(_, metric)| metric == self);
        named.map_or_else(String::new, |(name, _)| (*name).to_owned())
    }

    /// Whether less of it is worse.
    pub const fn wants_more(&self) -> bool {
        matches!(self, Self::Goodput | Self::Throughput)
    }

    /// Whether it is a response time.
    pub const fn is_response_time(&self) -> bool {
        matches!(self, Self::Percentile(_) | Self::Mean | Self::Max)
    }

    /// Whether only who started the server knows it.
    pub const fn is_of_server(&self) -> bool {
        matches!(self, Self::Cpu | Self::Memory | Self::Boot)
    }

    fn limit(&self, text: &str) -> Result<Limit, String> {
        let said = |error: units::ParseError| error.to_string();
        match self {
            Self::Percentile(_) | Self::Mean | Self::Max | Self::Cpu | Self::Boot => {
                text.parse().map(Limit::Time).map_err(said)
            }
            Self::Goodput | Self::Throughput => text.parse().map(Limit::Rate).map_err(said),
            Self::Memory => text.parse().map(Limit::Bytes).map_err(said),
            Self::Errors => errors_limit(text),
        }
    }
}

/// A share as `1%`, or a count as `0`. More than 0 % of the requests is more than none of them.
fn errors_limit(text: &str) -> Result<Limit, String> {
    let digits = text.strip_suffix('%').map_or(text, str::trim_end);
    // Digits and points alone: `inf`, `1e-400` and `-0` are numbers as well.
    let is_plain = digits.bytes().all(|it| matches!(it, b'0' | b'.'));
    if is_plain && digits.parse::<f64>().is_ok() {
        return Ok(Limit::Count(0));
    }
    if text.ends_with('%') {
        return text.parse().map(Limit::Share).map_err(|error: units::ParseError| error.to_string());
    }
    let count = text.parse().map(Limit::Count);
    count.map_err(|_| "write a share such as 1%, or a whole number of requests such as 0".to_owned())
}

impl Condition {
    /// Whether it can hold of so many requests, were it that all of them failed.
    pub fn is_within(&self, requests: u64) -> bool {
        let Limit::Count(limit) = self.limit else { return true };
        limit.saturating_add(u64::from(self.spares_limit)) <= requests
    }

    /// An error where it can't hold of so many requests, though all of them failed.
    pub fn can_hold_of(&self, requests_max: u64) -> Result<(), PlanError> {
        if self.is_within(requests_max) {
            return Ok(());
        }
        let requests = if requests_max == 1 { "request" } else { "requests" };
        let what = format!("`{self}` can't hold: there are {requests_max} {requests} at most that can fail");
        Err(PlanError::new(what, "write a lower number, or a share such as 'errors>1%'"))
    }
}

impl FromStr for Condition {
    type Err = PlanError;

    fn from_str(text: &str) -> Result<Self, PlanError> {
        let text = text.trim();
        let sign_at = text.find(['<', '>']).ok_or_else(|| {
            let what = format!("`{text}` compares nothing");
            PlanError::new(what, format!("{EXAMPLES}: what is too much or too little"))
        })?;
        let (name, rest) = text.split_at(sign_at);
        let is_less = rest.starts_with('<');
        let value = rest[1..].strip_prefix('=');
        let (spares_limit, value) = value.map_or((true, &rest[1..]), |value| (false, value));
        let (name, value) = (name.trim(), value.trim());
        if name.is_empty() || value.is_empty() {
            let side = if name.is_empty() { "before" } else { "behind" };
            return Err(PlanError::new(format!("`{text}` has nothing {side} the sign"), EXAMPLES));
        }
        if value.contains(['<', '>', ',', ';', '&', '|']) || value.contains(" and ") || value.contains(" or ")
        {
            let help = "write each by itself, and name the option or the text once for each";
            return Err(PlanError::new(format!("`{text}` is more than one condition"), help));
        }
        let metric = Metric::named(name)?;
        let limit = metric
            .limit(value)
            .map_err(|help| PlanError::new(format!("`{value}` is no limit of {}", metric.name()), help))?;
        let all = Share::percent(100.0).is_some_and(|all| limit == Limit::Share(all));
        if metric == Metric::Errors && !spares_limit && limit == Limit::Count(0) {
            let what = format!("`{text}` would fail every service, also one without an error");
            return Err(PlanError::new(what, "say when it fails: 'errors>0'"));
        }
        if metric == Metric::Errors && spares_limit && all {
            let what = format!("`{text}` would fail none: there are no more errors than requests");
            return Err(PlanError::new(what, "say when it fails: 'errors>=100%'"));
        }
        if is_less != metric.wants_more() {
            let (good, sign) = if is_less { ("low", '>') } else { ("high", '<') };
            let what =
                format!("`{text}` would fail a service whose {} is {good}, which is good", metric.name());
            return Err(PlanError::new(what, format!("say when it fails: '{name}{sign}{value}'")));
        }
        if matches!(limit, Limit::Time(Duration::ZERO) | Limit::Bytes(Bytes(0))) {
            let what = format!("`{text}` would fail every service: {} is always above 0", metric.name());
            return Err(PlanError::new(what, EXAMPLES));
        }
        Ok(Self { metric, limit, spares_limit })
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.metric.wants_more() { '<' } else { '>' };
        let or_equal = if self.spares_limit { "" } else { "=" };
        write!(f, "{} {sign}{or_equal} {}", self.metric.name(), self.limit)
    }
}

/// What is shown reads as the same limit: a run that goes on is told it again, and nobody is to see another one than is asked.
impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(it) if is_rounded(it) => it.in_full().fmt(f),
            Self::Bytes(it) if is_rounded(it) => write!(f, "{}B", it.0),
            Self::Time(it) => it.fmt(f),
            Self::Rate(it) => it.fmt(f),
            Self::Share(it) => it.fmt(f),
            Self::Count(it) => it.fmt(f),
            Self::Bytes(it) => it.fmt(f),
        }
    }
}

/// Whether it reads as another quantity than it is where it is shown in few digits.
fn is_rounded<T: fmt::Display + FromStr + PartialEq>(quantity: &T) -> bool {
    quantity.to_string().parse::<T>().is_ok_and(|read| read != *quantity)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parsed(text: &str) -> Condition {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn conditions_are_read_as_people_write_them() {
        for (text, shown) in [
            ("p99>50ms", "p99 > 50.0ms"),
            (" P99.9 >= 1.5s ", "p99.9 >= 1.50s"),
            ("max>1s", "max > 1.00s"),
            ("mean>20ms", "mean > 20.0ms"),
            ("goodput<2000/s", "goodput < 2000/s"),
            ("rate<20k", "goodput < 20000/s"),
            ("throughput<=90/m", "throughput <= 1.5/s"),
            ("errors>1%", "errors > 1%"),
            ("errors>0", "errors > 0"),
            ("errors>0%", "errors > 0"),
            ("errors>=10", "errors >= 10"),
            ("cpu>50us", "cpu > 50.0us"),
            ("memory>512MiB", "memory > 512.0MiB"),
            ("boot>5s", "boot > 5.00s"),
            // Not as another limit that has fewer digits.
            ("p99>1234ms", "p99 > 1234ms"),
            ("p99>49.96ms", "p99 > 49960us"),
            ("memory>1000000", "memory > 1000000B"),
        ] {
            assert_eq!(parsed(text).to_string(), shown, "{text}");
        }
        assert!(!parsed("errors>=1").spares_limit && parsed("errors>1").spares_limit);
    }

    #[test]
    fn a_mistake_says_what_and_how_to_mend_it() {
        for (text, said) in [
            ("p98>50ms", "nothing is called `p98`; did you mean p90, p95, p99? there are p50,"),
            ("latency>50ms", "nothing is called `latency`; there are p50,"),
            ("p99>50", "`50` is no limit of p99; unknown unit; write one of ns, us, ms, s"),
            ("p99", "`p99` compares nothing; write it like 'p99>50ms'"),
            ("p99=50ms", "compares nothing"),
            (">50ms", "has nothing before the sign"),
            ("p99>", "has nothing behind the sign"),
            ("p99<50ms", "whose p99 is low, which is good; say when it fails: 'p99>50ms'"),
            ("goodput>2000", "whose goodput is high, which is good; say when it fails: 'goodput<2000'"),
            ("p99>50ms,errors>1%", "is more than one condition; write each by itself"),
            ("p99>50ms and errors>1%", "is more than one condition"),
            ("errors>0.05", "`0.05` is no limit of errors; write a share such as 1%"),
            ("errors>..", "`..` is no limit of errors"),
            ("errors>0.0.0%", "`0.0.0%` is no limit of errors"),
            ("errors>200%", "out of range"),
            ("errors>-1%", "can't be negative"),
            ("goodput<0", "above 0"),
            (
                "errors>=0",
                "would fail every service, also one without an error; say when it fails: 'errors>0'",
            ),
            ("errors>=0%", "would fail every service"),
            ("p99>0", "`p99>0` would fail every service: p99 is always above 0; write it like 'p99>50ms'"),
            ("max>=0ms", "would fail every service"),
            ("memory>0", "would fail every service: memory is always above 0"),
            ("errors>100%", "would fail none: there are no more errors than requests"),
            ("", "`` compares nothing"),
        ] {
            let error = text.parse::<Condition>().expect_err(text).to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }

    #[test]
    fn no_more_can_fail_than_there_are() {
        for (text, requests, can_hold) in [
            ("errors>99", 100, true),
            ("errors>=100", 100, true),
            ("errors>100", 100, false),
            ("errors>=101", 100, false),
            ("errors>0", 1, true),
            ("errors>1", 1, false),
            ("errors>18446744073709551615", 5, false),
            ("errors>50%", 1, true),
            ("p99>50ms", 1, true),
        ] {
            assert_eq!(parsed(text).can_hold_of(requests).is_ok(), can_hold, "{text} of {requests}");
        }
        let told = parsed("errors>100").can_hold_of(100).unwrap_err().to_string();
        assert!(told.contains("`errors > 100` can't hold: there are 100 requests at most"), "{told}");
        assert!(told.contains("write a lower number, or a share such as 'errors>1%'"), "{told}");
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,40}") {
            let _ = text.parse::<Condition>();
        }

        #[test]
        fn what_is_shown_means_the_same(metric in 0_usize..4, amount in 1_u64..9_000_000, spares in any::<bool>()) {
            let (name, sign, unit) = [("p99", '>', "us"), ("goodput", '<', "/s"), ("errors", '>', ""), ("memory", '>', "B")][metric];
            let text = format!("{name}{sign}{}{amount}{unit}", if spares { "" } else { "=" });
            let condition = parsed(&text);
            prop_assert_eq!(parsed(&condition.to_string()), condition);
        }
    }
}
