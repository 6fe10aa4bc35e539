//! What a user of a service does, step by step: requests that depend on earlier answers, pauses, loops, checks.
//!
//! One model of it, whoever wrote it down: a scenario in TOML, a JMeter plan (`jmeter`), a HAR file, an OpenAPI
//! document. `Session` carries it out for one user, request by request, without a clock and without a socket.
//!
//! Invariants: pure, but for reading data before the start; same scenario, seed and answers, same requests; whatever is
//! not understood is an error before anything is sent, never a step left out.
#![forbid(unsafe_code)]

mod condition;
mod data;
mod file;
mod function;
mod model;
mod multipart;
mod prepared;
mod results;
mod session;
mod template;
mod time_format;
mod world;

pub use condition::{ConditionError, Operand};
pub use function::{Function, UnknownFunction};
pub use model::{
    Assertion, Check, Children, Condition, CookiePolicy, Counter, DataAtEnd, DataSet, DataSharing,
    Extraction, Extractor, Field, FormContent, FormPart, Group, JsonRules, Lacking, List, Meeting, Multipart,
    NumberFormat, OnError, OnceOf, OwnCookie, Pacing, Part, Pause, Pick, Portion, RateRow, RateSchedule,
    RateSpan, RedirectRules, RequestCheck, RequestStep, Scenario, SizeComparison, Stay, Step, TextRules,
    Times, UserValues, Users, arrivals_at_most,
};
pub use prepared::{Prepared, USERS_MAX};
pub use results::{Crowd, Report, StepSample, UserResult, What};
pub use session::{Answer, Ended, Next, Outgoing, Session, Sums, Transaction, Unsent, Verdict, server_of};
pub use template::{Call, Piece, Template, TemplateError, call_arguments};
pub use world::{World, WorldSetup};
