//! Tables of what is concluded from made-up records.

mod audit;
mod calibration;
mod capacity;
mod claims;
mod reasons;
mod samples;
