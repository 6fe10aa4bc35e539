//! The real binary, measured: what it says is held to what must come out, so that nothing else may use the machine. These
//! tests are a binary of their own because cargo runs one after the other, and within it they take turns ([`quiet`]).

#[path = "../it/common.rs"]
#[expect(dead_code, reason = "shared with `it`, which uses all of it")]
mod common;
#[path = "../it/driven.rs"]
mod driven;
#[path = "../it/lab.rs"]
#[expect(dead_code, reason = "shared with `it`, which uses all of it")]
mod lab;
#[path = "../it/loads.rs"]
mod loads;
#[path = "../it/repository.rs"]
#[expect(dead_code, reason = "shared with `it`, which uses all of it")]
mod repository;

mod agents;
mod calibrate;
mod diff;
mod drivers;
mod experiment;
mod explain;
mod gate;
mod hit;
mod procedure;
mod quiet;
#[cfg(not(debug_assertions))]
mod scripted_agents;
