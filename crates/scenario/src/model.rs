//! The scenario itself: plain data. After parsing every value is valid; nothing in here is "ignored when".

use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;

use http::{InvalidRequest, RequestSpec};
use serde::Deserialize;
use units::{Duration, Rate};

use crate::template::Template;

/// Everything that the users of a load do.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// Its name, for reports.
    pub name: String,
    /// Variables that every user starts with, in the order in which they are set.
    pub variables: Vec<(String, Template)>,
    /// Rows of data that users take from.
    pub data: Vec<DataSet>,
    /// Users of one kind each; they run side by side.
    pub groups: Vec<Group>,
    /// Longest wait for a connection.
    pub connect_timeout: Duration,
    /// Longest wait for an answer.
    pub request_timeout: Duration,
}

impl Scenario {
    /// Users of one kind who go through `steps`, without variables, data and cookies; `timeout` is that of a connection
    /// and that of an answer.
    pub fn of_steps(name: impl Into<String>, users: Users, steps: Vec<Step>, timeout: Duration) -> Self {
        let (on_error, cookies) = (OnError::Continue, CookiePolicy::Ignore);
        Self {
            name: name.into(),
            variables: Vec::new(),
            data: Vec::new(),
            groups: vec![Group { name: "users".into(), users, on_error, cookies, steps }],
            connect_timeout: timeout,
            request_timeout: timeout,
        }
    }
}

/// Users who do the same.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Its name: part of the users' names.
    pub name: String,
    /// How many there are, and when they start and end.
    pub users: Users,
    /// What a user does after a request that failed, an assertion included.
    pub on_error: OnError,
    /// What becomes of cookies that a server sets.
    pub cookies: CookiePolicy,
    /// One iteration.
    pub steps: Vec<Step>,
}

/// How users come and go.
#[derive(Debug, Clone, PartialEq)]
pub enum Users {
    /// So many users, each going through its steps again and again.
    Closed {
        /// How many.
        count: NonZeroU32,
        /// The first starts after `delay`, the last shortly before `delay + ramp_up`.
        ramp_up: Duration,
        /// Before the first starts.
        delay: Duration,
        /// Iterations of each; `None` until the duration is over.
        iterations: Option<NonZeroU64>,
        /// From the first start; `None` until the iterations are made.
        duration: Option<Duration>,
    },
    /// A new user for each arrival, who makes one iteration.
    Open {
        /// Rates of arrival, one span after another.
        spans: Vec<RateSpan>,
        /// Whether gaps are exponential (Poisson) or even.
        poisson: bool,
        /// How many of them are there at one time, at most; who comes beyond that waits. `None`: as many as come, up to a bound.
        seats_max: Option<NonZeroU32>,
    },
}

/// Users of an open group at one time, at most.
const SEATS_OF_OPEN_GROUP_MAX: u32 = 10_000;

impl Users {
    /// How many of them there are at one time, at most.
    pub fn seats(&self) -> u32 {
        match self {
            Self::Closed { count, .. } => count.get(),
            Self::Open { spans, poisson, seats_max } => {
                let expected: f64 = spans.iter().map(RateSpan::arrivals).sum();
                let most = if *poisson { arrivals_at_most(expected) } else { expected };
                let bound = seats_max.map_or(SEATS_OF_OPEN_GROUP_MAX, NonZeroU32::get);
                (most.ceil() as u32).clamp(1, bound)
            }
        }
    }
}

/// How many come in a time in which so many are expected, by gaps of chance (Poisson): more than six standard deviations
/// above that are left to no chance that counts.
pub fn arrivals_at_most(expected: f64) -> f64 {
    expected + 6.0 * expected.sqrt() + 6.0
}

/// A rate of arrival that goes evenly from one value to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateSpan {
    /// At its beginning; `None` is no arrival.
    pub from: Option<Rate>,
    /// At its end.
    pub to: Option<Rate>,
    /// How long it is.
    pub length: Duration,
}

impl RateSpan {
    /// Arrivals expected within it.
    pub fn arrivals(&self) -> f64 {
        let per_s = |rate: Option<Rate>| rate.map_or(0.0, Rate::as_per_sec);
        f64::midpoint(per_s(self.from), per_s(self.to)) * self.length.as_secs_f64()
    }
}

/// What a user does after a request that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnError {
    /// The next step.
    #[default]
    Continue,
    /// The next iteration.
    NextIteration,
    /// It ends.
    StopUser,
    /// All users end once their requests are answered.
    StopLoad,
    /// All users end at once.
    StopNow,
}

/// What becomes of cookies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CookiePolicy {
    /// They are not kept.
    #[default]
    Ignore,
    /// A user keeps them for as long as it lives.
    Keep,
    /// A user keeps them for one iteration.
    KeepForIteration,
}

/// A step of an iteration.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// One request.
    Request(Box<RequestStep>),
    /// Time passes.
    Pause(Pause),
    /// A variable gets a value.
    Set {
        /// The variable.
        name: String,
        /// Its value.
        value: Template,
    },
    /// A variable gets the next number of a counter.
    Count(Counter),
    /// The steps again and again.
    Loop {
        /// How often.
        times: Times,
        /// One turn.
        steps: Vec<Step>,
    },
    /// The steps if the condition holds.
    If {
        /// The condition.
        condition: Condition,
        /// What then.
        steps: Vec<Step>,
    },
    /// The steps for as long as the condition holds, looked at before each turn.
    While {
        /// The condition.
        condition: Condition,
        /// One turn.
        steps: Vec<Step>,
    },
    /// The steps for each value of a list, one after another.
    ForEach {
        /// The list.
        list: List,
        /// One turn.
        steps: Vec<Step>,
    },
    /// The steps once.
    Once {
        /// How often that is.
        of: OnceOf,
        /// What is done once.
        steps: Vec<Step>,
    },
    /// One of the steps.
    OneOf {
        /// How it is chosen.
        pick: Pick,
        /// The steps with their weights, which only [`Pick::Random`] looks at.
        steps: Vec<(NonZeroU32, Step)>,
    },
    /// Steps in a group of their own, without an effect (a simple controller).
    Sequence(Vec<Step>),
    /// Steps that are reported as one, besides their own samples or instead of them.
    Transaction {
        /// Its label.
        name: Template,
        /// Whether pauses within are part of its time.
        with_pauses: bool,
        /// Whether the requests within are reported under it only (JMeter's "generate parent sample").
        parent_only: bool,
        /// Those whose time is taken together.
        steps: Vec<Step>,
    },
}

/// A list in numbered variables, as an extraction of all matches leaves it: up to the first number without a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List {
    /// What the variables' names begin with; the number follows, from 1.
    pub prefix: String,
    /// How many values are passed over at the beginning.
    pub skip: i64,
    /// The number of the last value that is taken; `None` takes all.
    pub last: Option<i64>,
    /// The variable that each value is put into. Behind the last turn it is the first one's again, as in JMeter.
    pub item: String,
    /// The variable that counts the turns, from `skip` on, and is `skip` again behind the last.
    pub index: String,
}

/// How often steps are done that are done once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnceOf {
    /// In the first turn of the innermost loop around them only; without a loop, in the user's first iteration only.
    Loop,
    /// Until the user has gone through them to their end, whatever loops are around them.
    User,
}

/// Numbers one after another, and the first again behind the last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counter {
    /// The variable that each number is put into.
    pub name: String,
    /// The first number.
    pub first: i64,
    /// How much each is above the one before it.
    pub step: i64,
    /// No number but the first is above this.
    pub last: i64,
    /// Whether each user counts by itself; else all count together.
    pub by_user: bool,
}

impl Counter {
    /// The number with this place, from 0. What does not fit is the largest or smallest that does.
    pub fn number(&self, place: u64) -> i64 {
        let (first, step) = (i128::from(self.first), i128::from(self.step));
        let place = match i128::from(self.last) - first {
            ..0 => 0,
            span if step > 0 => i128::from(place) % (span / step + 1),
            _ => i128::from(place),
        };
        (first + step * place).clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }
}

/// How often a loop runs.
#[derive(Debug, Clone, PartialEq)]
pub enum Times {
    /// Until the user ends.
    Forever,
    /// So often; text that turns out to be no number counts as 0, as in JMeter.
    Count(Template),
}

/// Which of several steps is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pick {
    /// One at random, by weight.
    Random,
    /// All, in random order.
    RandomOrder,
    /// The next one each time (interleave).
    InTurn,
}

/// When a branch is taken.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// Two texts are equal.
    Equal(Template, Template),
    /// Two texts differ.
    Differ(Template, Template),
    /// Two numbers: the first is smaller.
    Less(Template, Template),
    /// Two numbers: the first is smaller or they are equal.
    AtMost(Template, Template),
    /// The text is `true`, in any case (JMeter's "interpret condition as variable expression").
    True(Template),
    /// The last request of this user succeeded.
    LastOk,
    /// Not.
    Not(Box<Condition>),
    /// All.
    And(Vec<Condition>),
    /// At least one.
    Or(Vec<Condition>),
}

/// A pause.
#[derive(Debug, Clone, PartialEq)]
pub enum Pause {
    /// So many milliseconds.
    Constant {
        /// Milliseconds.
        ms: Template,
    },
    /// `offset_ms` and evenly up to `range_ms` more.
    Uniform {
        /// Milliseconds at least.
        offset_ms: Template,
        /// Milliseconds more at most.
        range_ms: Template,
    },
    /// Normally distributed, and no less than 0.
    Gaussian {
        /// Mean in milliseconds.
        offset_ms: Template,
        /// Standard deviation in milliseconds.
        deviation_ms: Template,
    },
    /// So long that requests come at this rate: of each user, or of all users of the group together.
    Throughput {
        /// Requests a minute.
        per_minute: Template,
        /// Whether all users of the group share the rate.
        shared: bool,
    },
}

/// Says whether a request can be sent over the protocol that is spoken.
pub type RequestCheck = fn(&RequestSpec<'_>) -> Result<(), InvalidRequest>;

/// A request, what is taken from its answer, and what must be true of it.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestStep {
    /// Its label in results.
    pub name: Template,
    /// The method.
    pub method: Template,
    /// `http://host[:port]/path?query`, whole.
    pub url: Template,
    /// Field names and values.
    pub headers: Vec<(Template, Template)>,
    /// The body.
    pub body: Template,
    /// Fields of a form that are percent-encoded into the query (GET, DELETE, HEAD) or the body (else), after `body`.
    /// The flag says whether name and value still have to be encoded.
    pub form: Vec<(Template, Template, bool)>,
    /// Whether the connection is kept.
    pub keep_alive: bool,
    /// Redirects followed at most; 0 takes them as answers.
    pub redirects_max: u32,
    /// Pauses before it, added up.
    pub pauses: Vec<Pause>,
    /// What is taken from the answer.
    pub extractions: Vec<Extraction>,
    /// What must be true of the answer, besides a status from 200 to 399, which one of them may waive.
    pub assertions: Vec<Assertion>,
}

impl RequestStep {
    /// A request without variables, fields, body, checks and extractions, which takes a redirect as an answer.
    pub fn plain(name: impl Into<String>, method: &str, url: &str) -> Self {
        Self {
            name: Template::text(name),
            method: Template::text(method),
            url: Template::text(url),
            headers: Vec::new(),
            body: Template::default(),
            form: Vec::new(),
            keep_alive: true,
            redirects_max: 0,
            pauses: Vec::new(),
            extractions: Vec::new(),
            assertions: Vec::new(),
        }
    }
}

/// A variable taken from an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Extraction {
    /// The variable. With `pick` "all", `name_1`, `name_2`, … and `name_matchNr` are set.
    pub name: String,
    /// Where it is looked for.
    pub part: Part,
    /// How it is found there.
    pub how: Extractor,
    /// Which match: 1 is the first, 0 one at random, −1 all.
    pub which: i32,
    /// The value where nothing matches; `None` leaves the variable as it was.
    pub default: Option<String>,
}

/// How a value is found.
#[derive(Debug, Clone, PartialEq)]
pub enum Extractor {
    /// A regular expression and a template such as `$1$`.
    Regex {
        /// The expression.
        pattern: String,
        /// What of the match.
        template: String,
    },
    /// A JSONPath.
    Json {
        /// Such as `$.user.id`.
        path: String,
        /// What counts as found.
        rules: JsonRules,
    },
    /// What stands between two texts.
    Boundary {
        /// Text before it.
        left: String,
        /// Text after it.
        right: String,
    },
    /// The value of a header field.
    Header {
        /// The field.
        name: String,
    },
}

/// What a JSONPath comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum JsonRules {
    /// The values as they are found, as in scenarios.
    #[default]
    AsFound,
    /// A list, as JMeter takes it. In an extraction the only value is taken whatever match is asked for, `null` counts as
    /// nothing found, `name_1`, `name_2`, … go each time, and `name_matchNr` says how many there were unless one at random is
    /// asked for. In an assertion a list fits where it does or one of its values, and values have types.
    AsList,
}

/// A part of an answer or its request.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// The body.
    Body,
    /// The head's fields.
    Headers,
    /// The status, as text.
    Status,
    /// The reason phrase.
    Reason,
    /// The URL of the request.
    Url,
    /// The head of the request.
    RequestHeaders,
    /// A variable instead of the answer.
    Variable(String),
}

/// What must be true of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Assertion {
    /// Its name, for the failure message.
    pub name: String,
    /// What is held against what.
    pub check: Check,
    /// Whether the opposite must be true; of several texts, of each by itself, as in JMeter.
    pub negated: bool,
}

/// A check.
#[derive(Debug, Clone, PartialEq)]
pub enum Check {
    /// A part against texts or expressions.
    Text {
        /// Which part.
        part: Part,
        /// How it is compared.
        field: Field,
        /// With what.
        patterns: Vec<Template>,
        /// Whether one match is enough; else all must match.
        any: bool,
        /// Whether a status outside 200 to 399 is not itself a failure (JMeter's "ignore status").
        ignore_status: bool,
    },
    /// The answer took no longer.
    DurationAtMost(Duration),
    /// The answer's size in bytes, body and head.
    Size {
        /// Of which part: body, headers, or both.
        part: Option<Part>,
        /// Bytes.
        bytes: Template,
        /// How the size compares with it.
        comparison: SizeComparison,
    },
    /// A JSONPath exists, and its value is as given, if one is.
    Json {
        /// The path.
        path: String,
        /// The value, as text or, with `regex`, as an expression.
        value: Option<Template>,
        /// Whether `value` is a regular expression.
        regex: bool,
        /// Whether `null` will do as well.
        or_null: bool,
        /// How a list is compared.
        rules: JsonRules,
    },
}

/// How a size compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeComparison {
    /// Equal.
    Equal,
    /// Not equal.
    NotEqual,
    /// Greater.
    Greater,
    /// Less.
    Less,
    /// Greater or equal.
    AtLeast,
    /// Less or equal.
    AtMost,
}

/// How a text is compared with a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// The regular expression is found in it.
    Contains,
    /// The regular expression matches all of it.
    Matches,
    /// It is the text.
    Equals,
    /// The text is in it.
    Substring,
}

/// Rows of data from a file.
#[derive(Debug, Clone, PartialEq)]
pub struct DataSet {
    /// The file, as found.
    pub file: PathBuf,
    /// Its columns' names; empty takes the first line for them.
    pub variables: Vec<String>,
    /// Between fields.
    pub delimiter: char,
    /// Whether fields may be quoted.
    pub quoted: bool,
    /// Whether the first line is left out (where `variables` are given).
    pub skip_first: bool,
    /// What becomes of the variables of fields that a row lacks.
    pub lacking: Lacking,
    /// What happens after the last row.
    pub at_end: DataAtEnd,
    /// Who takes rows in turn.
    pub sharing: DataSharing,
}

/// What becomes of the variables of fields that a row lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lacking {
    /// They are empty.
    Empty,
    /// They stay as they were, which may be without a value, as in JMeter.
    AsBefore,
}

/// What happens after the last row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataAtEnd {
    /// The first again.
    Recycle,
    /// The user ends.
    StopUser,
    /// The variables are `<EOF>`, as in JMeter.
    Eof,
}

/// Who takes rows in turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataSharing {
    /// All users.
    All,
    /// The users of a group.
    Group,
    /// Each user for itself.
    User,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(first: i64, step: i64, last: i64) -> [i64; 5] {
        let counter = Counter { name: String::new(), first, step, last, by_user: false };
        std::array::from_fn(|place| counter.number(place as u64))
    }

    #[test]
    fn a_counter_begins_again_behind_its_end() {
        assert_eq!(numbers(1, 1, 3), [1, 2, 3, 1, 2]);
        assert_eq!(numbers(10, 5, 22), [10, 15, 20, 10, 15]);
        assert_eq!(numbers(7, 1, i64::MAX), [7, 8, 9, 10, 11]);
        assert_eq!(numbers(0, -2, i64::MAX), [0, -2, -4, -6, -8]);
        assert_eq!(numbers(4, 0, 9), [4; 5]);
        assert_eq!(numbers(5, 1, 3), [5; 5], "none is above the last but the first");
        assert_eq!(numbers(i64::MAX - 1, 1, i64::MAX)[1..3], [i64::MAX, i64::MAX - 1]);
        assert_eq!(numbers(i64::MIN, i64::MAX, i64::MAX)[..4], [i64::MIN, -1, i64::MAX - 1, i64::MIN]);
    }
}
