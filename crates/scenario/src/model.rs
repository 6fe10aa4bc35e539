//! The scenario itself: plain data. After parsing every value is valid; nothing in here is "ignored when".

mod children;
mod data;
mod multipart;
mod pause;
mod request;

use std::num::{NonZeroU32, NonZeroU64};
use std::sync::Arc;

use engine::Waits;
use serde::Deserialize;
use units::{Duration, Rate};

pub use self::children::Children;
pub use self::data::{DataAtEnd, DataSet, DataSharing, Lacking, UserValues};
pub use self::multipart::{FormContent, FormPart, Multipart};
pub use self::pause::{Meeting, Pacing, Pause, RateRow, RateSchedule};
pub use self::request::{
    Assertion, Check, Extraction, Extractor, Field, JsonRules, Part, RequestCheck, RequestStep,
    SizeComparison, TextRules,
};
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
    /// Longest wait for a connection, where a request says nothing else.
    pub connect_timeout: Duration,
    /// Longest wait for an answer, where a request says nothing else.
    pub request_timeout: Duration,
    /// How redirects are followed.
    pub redirects: RedirectRules,
}

/// By which rules redirects are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RedirectRules {
    /// Those of RFC 9110: 307 and 308 have the request made again as it was, and after the others everybody asks with GET. One
    /// that does not say where to is an answer.
    #[default]
    Standard,
    /// JMeter's: what follows asks with GET, unless it was HEAD, 307 is followed after these two only, and one that does not say
    /// where to is a failure.
    GetOnly,
}

impl Scenario {
    /// Users of one kind who go through `steps`, without variables, data and cookies; `timeout` is that of a connection
    /// and that of an answer.
    pub fn of_steps(name: impl Into<String>, users: Users, steps: Vec<Step>, timeout: Duration) -> Self {
        let group = Group {
            name: "users".into(),
            users,
            on_error: OnError::Continue,
            cookies: CookiePolicy::Ignore,
            own_cookies: Vec::new(),
            rows: None,
            steps,
        };
        Self {
            name: name.into(),
            variables: Vec::new(),
            data: Vec::new(),
            groups: vec![group],
            connect_timeout: timeout,
            request_timeout: timeout,
            redirects: RedirectRules::Standard,
        }
    }

    /// How long requests wait that say nothing else.
    pub(crate) fn waits(&self) -> Waits {
        Waits { connect: self.connect_timeout, request: self.request_timeout }
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
    /// Cookies that users have from the start, and again where they forget those of a server. Who keeps none has none.
    pub own_cookies: Vec<OwnCookie>,
    /// The data sets, by number, of which a user takes a row at the start of each iteration; `None` is all of them.
    pub rows: Option<Vec<usize>>,
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
    /// Users of whom each comes and goes at a time of its own, and goes through its steps again and again in between.
    Planned {
        /// When they come and go, by the numbers of the users.
        stays: Vec<Stay>,
        /// Iterations of each; `None` until it goes.
        iterations: Option<NonZeroU64>,
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

/// When a user comes and goes, from the start of the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stay {
    /// It comes.
    pub from: Duration,
    /// It begins nothing from here on.
    pub to: Duration,
}

/// Users of an open group at one time, at most.
const SEATS_OF_OPEN_GROUP_MAX: u32 = 10_000;

impl Users {
    /// How many of them there are at one time, at most.
    pub fn seats(&self) -> u32 {
        match self {
            Self::Closed { count, .. } => count.get(),
            Self::Planned { stays, .. } => u32::try_from(stays.len()).unwrap_or(u32::MAX),
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

/// What a user does after a request that failed. Of several that are to be done the last one here is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Deserialize)]
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

/// A cookie that no server set. It does not expire, and a server's with the same name, domain and path takes its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnCookie {
    /// Its name.
    pub name: Template,
    /// Its value, put together anew for each request. One with blanks, commas or the like is sent in quotation marks.
    pub value: Template,
    /// The host that it goes to; blank is none.
    pub domain: Template,
    /// Whether it goes to the hosts below that one as well.
    pub with_subdomains: bool,
    /// The path that it goes to, and to all below; blank is any.
    pub path: Template,
    /// Whether it goes to secured servers alone.
    pub secure: bool,
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
    /// Variables get the values that the user has for them.
    SetByUser(Arc<UserValues>),
    /// A variable gets the next number of a counter.
    Count(Counter),
    /// The variables of the data set of this number get the values of its next row, where there is one for the user.
    Row(usize),
    /// The steps again and again.
    Loop {
        /// How often.
        times: Times,
        /// One turn.
        steps: Vec<Step>,
    },
    /// The steps again and again for so long, which is looked at before each of them (a runtime controller). What is within one of
    /// them is gone through to its end.
    For {
        /// From when they are come to.
        length: Duration,
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
        /// The steps with their weights, which only [`Pick::Random`] and [`Pick::ByShare`] look at.
        steps: Vec<(NonZeroU32, Step)>,
    },
    /// The steps in a part of the times that they are come to (a throughput controller).
    Portion {
        /// Which times.
        of: Portion,
        /// Whether the times of each user are counted by themselves; else those of all together.
        by_user: bool,
        /// What is done in that part.
        steps: Vec<Step>,
    },
    /// One of the steps, or none: JMeter's switch controller.
    Switch {
        /// What says which: a number, from 0, or a name. Nothing, and a number that none of them has, is the first; a name that
        /// none of them has is the last that is called `default`.
        value: Template,
        /// The names of the steps, each at its step's place.
        names: Vec<Template>,
        /// The steps.
        steps: Vec<Step>,
    },
    /// What is left of the iteration is not done, and what [`OnError`] says comes next, as after a request that failed.
    Leave(OnError),
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

/// A part of the times that something is come to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Portion {
    /// The first so many.
    First(u64),
    /// So many percent, as evenly as it goes: after each time the share is as near to it as it can be.
    Percent(f64),
}

impl Portion {
    /// Whether it is done at this time of all, counted from 0. As in JMeter, which does it where
    /// `(100 · done + 50) / (times + 1) < percent` by what was done so far: that follows from the time alone, so that users and
    /// machines who count together need not tell each other what they did.
    pub fn takes(self, time: u64) -> bool {
        match self {
            Self::First(times) => time < times,
            Self::Percent(percent) => {
                let percent = percent.clamp(0.0, 100.0);
                let done = |times: u64| ((percent * times as f64 - 50.0) / 100.0).ceil().max(0.0);
                done(time.saturating_add(1)) > done(time)
            }
        }
    }
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
    /// How each number is written.
    pub format: NumberFormat,
}

/// How a whole number is written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NumberFormat {
    /// What stands before its digits, behind its sign.
    pub before: String,
    /// How many digits there are at least, with zeros before them.
    pub digits: u8,
    /// What stands behind them.
    pub after: String,
}

impl NumberFormat {
    /// The number as it is written.
    pub fn written(&self, number: i64) -> String {
        let Self { before, digits, after } = self;
        let sign = if number < 0 { "-" } else { "" };
        let digits = usize::from(*digits);
        format!("{sign}{before}{:0digits$}{after}", number.unsigned_abs())
    }
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
    /// The one that a user did least often for its weight so far (JMeter's weighted switch controller).
    #[serde(skip)]
    ByShare,
    /// All, in random order.
    RandomOrder,
    /// The next one each time (interleave).
    InTurn,
    /// The one of the last time where that was left before its end, and else the next one, as in JMeter, for which a request
    /// is at its end with its beginning.
    #[serde(skip)]
    InTurnToTheEnd,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(first: i64, step: i64, last: i64) -> [i64; 5] {
        let (name, format) = (String::new(), NumberFormat::default());
        let counter = Counter { name, first, step, last, by_user: false, format };
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

    #[test]
    fn a_number_is_written_by_its_format() {
        let written = |before: &str, digits: u8, after: &str| {
            let format = NumberFormat { before: before.into(), digits, after: after.into() };
            [0, 7, -7, 12345, i64::MIN].map(|number| format.written(number))
        };
        assert_eq!(written("", 0, ""), ["0", "7", "-7", "12345", "-9223372036854775808"]);
        assert_eq!(
            written("u-", 3, "!"),
            ["u-000!", "u-007!", "-u-007!", "u-12345!", "-u-9223372036854775808!"]
        );
    }

    /// What JMeter's throughput controller decides, one time after another, by what it did so far.
    #[test]
    fn a_portion_comes_as_evenly_as_it_can() {
        for percent in [0.0, 0.1, 1.0, 10.0, 33.3, 49.9, 50.0, 66.0, 99.0, 100.0, 250.0, -5.0, f64::NAN] {
            let mut done = 0_u32;
            for time in 0..1000_u32 {
                let is_next = (100.0 * f64::from(done) + 50.0) / f64::from(time + 1) < percent;
                assert_eq!(Portion::Percent(percent).takes(time.into()), is_next, "{percent} {time}");
                done += u32::from(is_next);
            }
        }
        assert_eq!([0, 1, 2, 3].map(|time| Portion::First(2).takes(time)), [true, true, false, false]);
    }
}
